#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The reader of perf.data against `perf script`: recordings made here in every mode, and the public samples, event by event; and the
figures of `report` on them against tools/waits.py of the shared folder."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from common import BUILD, SHARED, build_evdump, failed, result

LOAD = "for i in 1 2 3; do (for j in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 0.003; done) & done; wait"
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def agrees(name, wrong):
    """@wrong: a line for each difference."""
    result(not wrong, name, *list(wrong)[:8])


def run(*command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)


def text_of(*command):
    done = run(*command)
    if done.returncode:
        raise RuntimeError("%s: %s" % (" ".join(command), done.stderr.decode(errors="replace")[-300:]))
    return done.stdout.decode(errors="replace")


LINE = re.compile(r"^\s*(?P<tid>-?\d+)\s+\[(?P<cpu>\d+)\]\s+(?P<ts>\d+\.\d{9}):\s+(?P<ev>[\w:.-]+?):? +(?P<rest>.*)$")
SWITCH = re.compile(r"prev_comm=(.*) prev_pid=(\d+) prev_prio=(-?\d+) prev_state=(\S+) ==> next_comm=(.*) next_pid=(\d+) next_prio=(-?\d+)$")
PAIR = re.compile(r"(\w+)=(-?\d+)")


def state_text(text):
    """As evdump writes it: X for x, ? for letters without one of ours."""
    plus = "+" if text.endswith("+") else ""
    letters = {("X" if c == "x" else c if c in "RSDTtXZPI" else "?") for c in text.rstrip("+").split("|")}
    return "|".join(sorted(letters, key="RSDTtXZPI?".index)) + plus


def fields_of(name, rest, waker):
    """(kind, fields) of an event that evdump decodes, else None."""
    after = dict(PAIR.findall(rest[rest.rindex(" pid="):])) if " pid=" in rest else {}
    if name == "sched_switch":
        s = SWITCH.match(rest)
        return "switch", (s[2], int(s[3]), s[6], int(s[7]), state_text(s[4]))
    if name in ("sched_waking", "sched_wakeup", "sched_wakeup_new"):
        return name[6:], (after["pid"], waker, int(after["prio"]), int(after["target_cpu"]))
    if name == "sched_migrate_task":
        return "migrate", (after["pid"], int(after["prio"]), int(after["orig_cpu"]), int(after["dest_cpu"]))
    if name == "sched_process_fork":
        return "fork", (re.search(r" pid=(\d+) child_comm=", rest)[1], re.search(r" child_pid=(\d+)$", rest)[1])
    if name == "sched_process_exec":
        return "exec", (re.search(r" pid=(\d+) old_pid=", rest)[1],)
    if name == "sched_process_exit":
        return "exit", (after["pid"],)
    if name == "sched_stat_runtime":
        s = re.search(r" pid=(\d+) runtime=(\d+) \[ns\](?: vruntime=(\d+))?", rest)
        return "runtime", (s[1], s[2], s[3] or "0")
    return None


def script_events(path):
    """(events that evdump decodes, counts by name). A tracepoint says its own pid, so perf's tid is only used where it is the waker."""
    events, counts, names = [], {}, []
    for line in text_of("perf", "script", "--ns", "-F", "tid,cpu,time,event,trace", "-i", path).splitlines():
        m = LINE.match(line)
        if not m:
            continue
        full = m["ev"]
        name = full.split(":")[1] if full.startswith(("sched:", "task:")) else full
        counts[name] = counts.get(name, 0) + 1
        known = fields_of(name, m["rest"], m["tid"])
        if known:
            events.append((m["ts"].zfill(30), int(m["cpu"]), *known))
        if name == "sched_switch":
            s = SWITCH.match(m["rest"])
            names.append((m["ts"].zfill(30), int(m["cpu"]), s[2], s[1], s[6], s[5]))
    events.sort(key=lambda e: e[:2])
    names.sort(key=lambda e: e[:2])
    return events, counts, names


def evdump_events(exe, path, counts):
    """Forks and exits of perf's own records stand in where no tracepoint tells them; they are left out then."""
    events, names, comm, last = [], [], {}, (0, -1)
    for line in text_of(exe, path).splitlines():
        ts, cpu, kind, pid, _, *rest = line.split(" ", 5)
        cpu, pid, rest = int(cpu[4:]), pid[4:], rest[0] if rest else ""
        key = (int(ts.replace(".", "")), cpu)
        if key < last:
            raise RuntimeError("not in order: " + line)
        last = key
        if kind == "comm":
            comm[pid] = re.match(r"name=(.*) renamed=\d$", rest)[1]
            continue
        f = dict(w.split("=", 1) for w in rest.split()) if rest else {}
        if kind == "switch":
            fields = (pid, int(f["prio"]), f["next"], int(f["next_prio"]), f["state"])
            names.append((ts.zfill(30), cpu, pid, comm.get(pid), f["next"], comm.get(f["next"])))
        elif kind in ("waking", "wakeup", "wakeup_new"):
            fields = (pid, f["waker"], int(f["prio"]), int(f["target"]))
        elif kind == "migrate":
            fields = (pid, int(f["prio"]), int(f["from"]), int(f["to"]))
        elif kind == "fork":
            fields = (pid, f["child"])
        elif kind in ("exec", "exit"):
            fields = (pid,)
        elif kind == "runtime":
            fields = (pid, f["runtime"], f["vruntime"])
        else:
            continue
        if kind in ("fork", "exit") and "sched_process_" + kind not in counts:
            continue
        events.append((ts.zfill(30), cpu, kind, fields))
    return events, names


def source_of(exe, path):
    source = {}
    for line in run(exe, "-s", path).stdout.decode(errors="replace").splitlines():
        key, value = line.split("=", 1)
        source.setdefault(key, []).append(value)
    return source


def counts_of(source):
    return {k[6:]: int(v[0]) for k, v in source.items() if k.startswith("event.")}


def plain(counts):
    """Without the modifiers perf prints behind the names of hardware events."""
    return {k.split(":")[0]: v for k, v in counts.items()}


def compare(exe, path):
    want, counts, want_names = script_events(path)
    got, got_names = evdump_events(exe, path, counts)
    source = source_of(exe, path)
    wrong = []
    if plain(counts_of(source)) != plain(counts):
        wrong.append("counts: perf script %s, reader %s" % (counts, counts_of(source)))
    if source["total"] != [str(sum(counts.values()))]:
        wrong.append("total: perf script %d, reader %s" % (sum(counts.values()), source["total"]))
    if len(want) != len(got):
        wrong.append("%d events in perf script, %d in the reader" % (len(want), len(got)))
    # a task that is gone has no pid for perf any more, the payload still has it
    want = [w if "-1" not in w[3] else (*w[:3], tuple(b if a == "-1" else a for a, b in zip(w[3], g[3]))) for w, g in zip(want, got)]
    # perf keeps equal stamps of one cpu in the order of its buffers, as we do
    wrong += ["perf script %s, reader %s" % pair for pair in zip(want, got) if pair[0] != pair[1]][:3]
    for w, g in zip(want_names, got_names):
        for k in (2, 4):
            if w[k] != "0" and w[k + 1] != g[k + 1]:
                wrong.append("name: perf script %s, reader %s" % (w, g))
    return wrong or ([] if want else ["perf script shows no event of the scheduler"])


def report_matches(path, folder):
    """`report` against the reference on what perf script prints, brought into the form of ftrace text."""
    text = os.path.join(folder, "script.txt")
    with open(text, "w", encoding="utf-8") as out:
        for line in text_of("perf", "script", "--ns", "-F", "comm,tid,cpu,time,event,trace", "-i", path).splitlines():
            m = re.match(r"^\s*(.*?)\s+(-?\d+)\s+\[(\d+)\]\s+(\d+\.\d+):\s+(?:\w+:)(\w+):\s+(.*)$", line)
            if m:
                out.write("%s-%s [%s] %s: %s: %s\n" % m.groups())
    import report_waits as waits
    theirs = json.loads(text_of(sys.executable, os.path.join(SHARED, "tools", "waits.py"), text))
    ours = json.loads(text_of(os.path.join(BUILD, "resched"), "report", "--json", path))
    return list(waits.compare(ours, theirs))


def cut_files(exe, whole, folder):
    """Cut anywhere: what is whole is read, the rest is told, and nothing is invented."""
    with open(whole, "rb") as f:
        data = f.read()
    full = int(source_of(exe, whole)["total"][0])
    path = os.path.join(folder, "cut.data")
    wrong, least = [], 0
    for i in range(1, 12):
        with open(path, "wb") as f:
            f.write(data[: len(data) * i // 12 // 8 * 8 + 1 + i % 7])	# inside a record: their sizes are multiples of 8
        done = run(exe, "-s", path)
        text = done.stdout.decode() + done.stderr.decode()
        total = re.search(r"^total=(\d+)", text, re.M)
        if done.returncode != 3 or not re.search("cut|early|damaged|missing", text):
            wrong.append("cut to %d/12: status %d, %s" % (i, done.returncode, text[:200]))
        elif total and not least <= int(total[1]) <= full:
            wrong.append("cut to %d/12: %s events after %d, the whole has %d" % (i, total[1], least, full))
        least = int(total[1]) if total else least
    return wrong or ([] if least > full // 2 else ["almost nothing of a cut pipe was read"])


PUBLIC = {  # what README.md beside them lists: switches, first and last event of perf script
    "simpleperf_offcpu.data": 55, "simpleperf_offcpu.norm.data": 55, "simpleperf_tracepoint.data": 31, "simpleperf_tracepoint.norm.data": 31,
}


def check_public(exe):
    folder = os.path.join(SHARED, "traces", "public")
    if not os.path.isdir(folder):
        print("skip public perf.data: the folder with the public traces is not there")
        return
    for name, switches in PUBLIC.items():
        got = counts_of(source_of(exe, os.path.join(folder, name)))
        agrees("%s: %d switches" % (name, switches), [] if got.get("sched_switch") == switches else [str(got)])
    for name in ("simpleperf_offcpu", "simpleperf_tracepoint"):
        a, b = (text_of(exe, os.path.join(folder, name + end)) for end in (".data", ".norm.data"))
        agrees(name + ": the same events whether formats are a record or a feature", [] if a == b else ["they differ"])
        if shutil.which("perf"):
            agrees(name + ".norm.data equals perf script", compare(exe, os.path.join(folder, name + ".norm.data")))
    for name in ("sleep.data", "sleep.compressed2.pipe.data"):
        source = source_of(exe, os.path.join(folder, name))
        agrees(name + ": opened, told to hold no scheduler event", [] if "no tracepoint" in str(source.get("warning")) else [str(source)])
    for i in range(1, 5):
        done = run(exe, os.path.join(folder, "fuzz_be_%d.data" % i), timeout=20)
        text = done.stderr.decode()
        agrees("fuzz_be_%d.data is refused" % i, [] if done.returncode in (1, 3) and "perf.data" in text else ["%d %s" % (done.returncode, text)])


RECORDINGS = {
    "sched record": ["sched", "record", "-o", "OUT", "--", "sh", "-c", LOAD],
    "record -a": ["record", "-e", "sched:*", "-a", "-o", "OUT", "--", "sh", "-c", LOAD],
    "record -z": ["record", "-z", "-e", "sched:*", "-a", "-o", "OUT", "--", "sh", "-c", LOAD],
    "small rings": ["record", "-m", "4", "-e", "sched:*", "-a", "-o", "OUT", "--", "sh", "-c", LOAD],
    "several events, call chains": ["record", "-e", "sched:sched_switch", "-e", "sched:sched_wakeup", "-e", "cpu-clock", "-g", "-a", "-o", "OUT",
                                    "--", "sh", "-c", LOAD],
    "only wakeup": ["record", "-e", "sched:sched_switch", "-e", "sched:sched_wakeup", "-a", "-o", "OUT", "--", "sh", "-c", LOAD],
    "one task and its children": ["record", "-e", "sched:*", "-o", "OUT", "--", "sh", "-c", LOAD],
    "overwritten rings": ["record", "--overwrite", "-e", "sched:sched_switch,sched:sched_waking", "-a", "-o", "OUT", "--", "sh", "-c", LOAD],
    "mono clock": ["record", "-k", "mono", "-e", "sched:*", "-a", "-o", "OUT", "--", "sh", "-c", LOAD],
    "pipe": ["record", "-e", "sched:*", "-a", "-o", "-", "--", "sh", "-c", LOAD],
    "pipe -z": ["record", "-z", "-e", "sched:*", "-a", "-o", "-", "--", "sh", "-c", LOAD],
}


def record(arguments, path):
    """Return: why it did not work, or None."""
    pipe = "OUT" not in arguments
    with open(path if pipe else os.devnull, "wb") as out:
        done = subprocess.run(["perf"] + [path if a == "OUT" else a for a in arguments], stdout=out, stderr=subprocess.PIPE)
    return None if os.path.exists(path) and os.path.getsize(path) > 2000 else done.stderr.decode(errors="replace").strip()[-200:]


THREADS = """
import threading, time
def work():
    for i in range(600):
        time.sleep(0.002)
for t in [threading.Thread(target=work) for i in range(4)]:
    t.start()
"""


def record_threads(path):
    """A ring buffer for each thread: events of one cpu come out of several."""
    load = subprocess.Popen([sys.executable, "-c", THREADS])
    while load.poll() is None and len(os.listdir("/proc/%d/task" % load.pid)) < 5:
        time.sleep(0.01)
    done = run("perf", "record", "-e", "sched:sched_switch,sched:sched_waking,sched:sched_stat_runtime", "--per-thread", "-p", str(load.pid),
               "-o", path, "--", "sleep", "0.3")
    load.kill()
    load.wait()
    return None if os.path.exists(path) and os.path.getsize(path) > 2000 else done.stderr.decode(errors="replace").strip()[-200:]


def check_live(exe, folder):
    if not shutil.which("perf"):
        print("skip perf.data against perf script: perf is not installed")
        return
    for name, arguments in RECORDINGS.items():
        path = os.path.join(folder, name.replace(" ", "_") + ".data")
        why = record(arguments, path)
        if why:
            print("skip %s equals perf script: perf cannot record here: %s" % (name, why.replace("\n", " ")))
            continue
        source = source_of(exe, path)
        wrong = compare(exe, path)
        if source.get("damaged") != ["0"]:
            wrong.append("a whole file is said to be damaged: %s" % source.get("warning"))
        if name == "mono clock" and source.get("clock") != ["mono"]:
            wrong.append("clock %s" % source.get("clock"))
        if name == "small rings" and source.get("lost") == ["0"] and "LOST" in text_of("perf", "report", "-D", "-i", path):
            wrong.append("losses were not told")
        agrees("%s equals perf script (%s events)" % (name, source["total"][0]), wrong)
        if name in ("sched record", "record -a", "record -z", "only wakeup", "pipe") and os.path.isdir(SHARED) and source["lost"] == ["0"]:
            agrees("report of %s equals waits.py" % name, report_matches(path, folder))
        if name == "pipe":
            agrees("a pipe cut in eleven places", cut_files(exe, path, folder))
            with open(path, "rb") as f:
                same = subprocess.run([exe, "-"], stdin=f, stdout=subprocess.PIPE, check=True).stdout
            agrees("standard input gives the same events", [] if same.decode(errors="replace") == text_of(exe, path) else ["they differ"])
    path = os.path.join(folder, "threads.data")
    why = record_threads(path)
    if why:
        print("skip per thread equals perf script: " + why.replace("\n", " "))
    else:
        agrees("per thread equals perf script", compare(exe, path))


def main():
    with tempfile.TemporaryDirectory() as folder:
        exe = build_evdump(folder)
        check_public(exe)
        check_live(exe, folder)
    return failed()


sys.exit(main())
