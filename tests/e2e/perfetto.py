#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Perfetto traces, made here from recordings, against the recordings: every event, and what damage and doubt are told as."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from common import RESCHED, SHARED, TOP, build_evdump, failed, result

sys.path.insert(0, os.path.join(TOP, "tests", "tools"))
import perfetto_encode as pf  # noqa: E402


def run(*args):
    return subprocess.run(args, capture_output=True, text=True, errors="surrogateescape")


def dump(evdump, path):
    return run(evdump, path).stdout.splitlines()


def info(path):
    p = run(RESCHED, "info", "--json", path)
    return p.returncode, json.loads(p.stdout) if p.stdout.startswith("{") else {}, p.stderr


class Case:
    def __init__(self, folder):
        self.folder, self.nr = folder, 0

    def write(self, packets):
        self.nr += 1
        path = os.path.join(self.folder, f"case{self.nr}.pftrace")
        with open(path, "wb") as f:
            f.write(packets if isinstance(packets, bytes) else b"".join(packets))
        return path


def plain(line):
    """Without what columns do not tell: who wakes, and a priority changed while its task ran."""
    words = line.split()
    return " ".join(w for w in words if not w.startswith("waker=") and not (words[2] == "switch" and w.startswith("prio=")))


def first_difference(a, b):
    return next((f"{x} | {y}" for x, y in zip(a, b) if x != y), f"{len(a)} and {len(b)} lines")


def same_events(evdump, case, source, name):
    """All forms of one recording give its events. Columns lack the task before a cpu's first switch and any priority change since."""
    want, events = dump(evdump, source), list(pf.read(source))
    for label, as_columns, how in (("full", False, None), ("columns", True, None), ("deflate", False, "deflate"), ("zstd", True, "zstd")):
        packets = pf.encode(events, as_columns, rounds=16)
        if how == "zstd" and not shutil.which("zstd"):
            print(f"skip perfetto_same/{name}/{label}: zstd is not installed")
            continue
        got = dump(evdump, case.write(pf.pack(packets, how) if how else packets))
        if as_columns:
            firsts = {}
            for line in want:
                words = line.split()
                if words[2] == "switch":
                    firsts.setdefault(words[1], line)
            a = [plain(x) for x in want if x not in firsts.values() and " comm " not in x]
            b = [plain(x) for x in got if " comm " not in x]
            for line in firsts.values():
                stamp = line.split()[0:3]
                b = [x for x in b if x.split()[0:3] != stamp]
            result(a == b, f"perfetto_same/{name}/{label}", first_difference(a, b))
        else:
            result(got == want, f"perfetto_same/{name}/{label}", first_difference(want, got))


def same_report(case, source, name):
    """The same figures, to the byte, but for what is said of the source."""
    def report(path):
        doc = json.loads(run(RESCHED, "report", "--json", path).stdout)
        return {k: v for k, v in doc.items() if k != "source"}, doc["source"]["kernel"]
    want, kernel = report(source)
    got, _ = report(case.write(pf.encode(pf.read(source), release=kernel)))
    result(got == want, f"perfetto_same_report/{name}")


def doubts(evdump, case, source):
    events = list(pf.read(source))
    whole = pf.encode(events, rounds=8)
    raw = b"".join(whole)

    rc, doc, _ = info(case.write(whole))
    result(rc == 0 and doc.get("format") == "perfetto" and doc["kernel"] == "6.12.48" and doc["clock"] == "boot" and
           doc["events"]["sched_switch"] == sum(e.name == "sched_switch" for e in events), "perfetto_info", doc)

    rc, doc, err = info(case.write(raw[:len(raw) * 2 // 3]))
    result(rc == 3 and "file ends early" in err and doc["lost_events"] > 0, "perfetto_cut", err)
    rc, doc, err = info(case.write(raw[:5000] + bytes(4096) + raw[9096:]))
    result(rc == 3 and "are damaged" in err and doc["lost_events"] > 0, "perfetto_zero_page", err)
    rc, doc, err = info(case.write(raw + bytes(4096)))
    result(rc == 3 and sum(doc["events"].values()) == len(events), "perfetto_zero_tail", err)

    lossy = [pf.packet(pf.data(1, pf.bundle(0, events[:50], False))), pf.packet(pf.data(1, pf.bundle(0, [e._replace(cpu=0) for e in events[50:90]], False, lost=True)))]
    lines = dump(evdump, case.write(lossy))
    result(sum(" lost " in x for x in lines) == 1, "perfetto_lost_events")
    late = [pf.packet(pf.data(1, pf.bundle(0, [e for e in events[:200] if e.cpu == 0], False))),
            pf.packet(pf.data(1, pf.bundle(1, [e for e in events[100:200] if e.cpu == 1], False, lost=True)))]
    rc, doc, err = info(case.write(late))
    result(rc == 0 and doc["lost_events"] == 0 and any("buffers begin at different times" in w for w in doc["warnings"]), "perfetto_begins_late", doc)
    dropped = [pf.packet(pf.data(1, pf.bundle(0, events[:50], False))), pf.data(1, pf.data(1, pf.bundle(0, events[50:90], False)) + pf.number(10, 7) + pf.number(42, 1))]
    result(sum(" lost " in x for x in dump(evdump, case.write(dropped))) == 1, "perfetto_dropped_packet")
    rc, doc, err = info(case.write([pf.stats(1, [5, 5])] + whole + [pf.stats(2, [105, 5])]))
    result(rc == 0 and doc["lost_events"] == 100 and any("counted 100 lost" in w for w in doc["warnings"]), "perfetto_overruns", doc)

    rc, doc, err = info(case.write(pf.encode(events, info=False)))
    result(rc == 0 and any("does not tell the kernel" in w for w in doc["warnings"]), "perfetto_no_kernel", doc)
    rc, doc, err = info(case.write([pf.clocks(10**9, 10**9)] + whole + [pf.clocks(8 * 10**9, 2 * 10**9)]))
    result(rc == 0 and any("suspended for 6.000 s" in w for w in doc["warnings"]), "perfetto_suspended", doc)
    rc, doc, err = info(case.write([pf.marker(), pf.system_info("6.1.0", 4)]))
    result(rc == 0 and any("holds no ftrace events" in w for w in doc["warnings"]) and doc["cpus"] == 4, "perfetto_no_ftrace", (rc, doc, err))
    p = run(RESCHED, "report", case.write([pf.marker(), pf.system_info("6.1.0", 4)]))
    result(p.returncode == 1 and "no sched_switch" in p.stderr, "perfetto_no_ftrace_report", p.stderr)

    # a process tree names those whom no event names
    bare = [e._replace(fields={k: v for k, v in e.fields.items() if not k.endswith("comm")}) for e in events if e.name == "sched_switch"][:60]
    pid = next(int(e.fields["next_pid"]) for e in bare if e.fields["next_pid"] != "0")
    lines = dump(evdump, case.write([pf.process_tree(processes=[(pid, "/usr/bin/namedproc")])] + pf.encode(bare)))
    result(any(f"comm pid={pid} " in x and "name=namedproc" in x for x in lines), "perfetto_process_tree")

    # states by kernel: an idle task with bit 0 is of 4.15 to 4.19; 1024 is preempted on kernels before 4.2
    def shifted(e):
        return e._replace(fields={**e.fields, "prev_state": str(1 << (int(e.fields["prev_state"]).bit_length()) if int(e.fields["prev_state"]) < 256 else 256)})
    switches = [e for e in events if e.name == "sched_switch"]
    want = [x for x in dump(evdump, case.write(pf.encode(switches)))]
    got = [x for x in dump(evdump, case.write(pf.encode([shifted(e) for e in switches], release="4.19.113")))]
    sure = [(a, b) for a, b in zip(want, got) if "state=I" not in a]  # 256 is both there: an idle kernel thread and a preempted task
    result(len(want) == len(got) and all(a == b for a, b in sure), "perfetto_states_4.19", first_difference(want, got))
    old = [e._replace(fields={**e.fields, "prev_state": "1024" if e.fields["prev_state"] == "256" else e.fields["prev_state"]}) for e in switches]
    got = dump(evdump, case.write(pf.encode(old, release="3.18.0")))
    keep = [x for x in want if "state=I" not in x]
    result([x for x in got if "state=?" not in x] == keep, "perfetto_states_3.18", first_difference(keep, got))


def export_round_trip(evdump, case, source):
    """What we export reads back as what we read."""
    out = os.path.join(case.folder, "export.pftrace")
    p = run(RESCHED, "export", source, "--format", "perfetto", "-o", out)
    if p.returncode != 0:
        print("skip perfetto_export: this resched does not export to it")
        return
    # switches, wakeups and all else that has a number there; the kernel's own state and run times have none
    def kinds(path):
        return [x for x in dump(evdump, path) if x.split()[2] not in ("comm", "runtime", "other", "truth")]
    a, b = kinds(source), kinds(out)

    def bare(lines):
        return [" ".join(w for w in x.split() if not w.startswith("ctx=")) for x in lines]
    result(bare(a) == bare(b), "perfetto_export_reads_back/" + os.path.basename(source), first_difference(bare(a), bare(b)))


def main():
    if not shutil.which("trace-cmd"):
        print("skip perfetto: trace-cmd is not installed")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        evdump, case = build_evdump(folder), Case(folder)
        data = os.path.join(TOP, "tests", "data")
        for name in ("lab-v7-k612-2c", "lab-v7-k61-1c", "lab-v6-k612-1c"):
            same_events(evdump, case, os.path.join(data, name + ".dat"), name)
            same_report(case, os.path.join(data, name + ".dat"), name)
        doubts(evdump, case, os.path.join(data, "lab-v7-k612-2c.dat"))
        export_round_trip(evdump, case, os.path.join(data, "lab-v7-k612-2c.dat"))
        lab = os.path.join(SHARED, "traces", "lab", "k612-4c-perhog-def")
        dats = [os.path.join(lab, f) for f in sorted(os.listdir(lab)) if f.endswith(".dat")][:1] if os.path.isdir(lab) else []
        for dat in dats:
            same_events(evdump, case, dat, "lab-4c")
    return failed()


if __name__ == "__main__":
    sys.exit(main())
