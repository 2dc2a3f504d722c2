#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Text against the recordings it was printed from: the same events and the same report. Counts of published texts.

FULL=1 takes every recording of the shared folder, not only a selection."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from common import RESCHED, SHARED, TOP, build_evdump, failed, result, skip

FULL = os.environ.get("FULL") == "1"
SELECTION = ["k61-1c-cyc-def", "k61-1c-cycm19-def", "k61-1c-forks-def-vr", "k61-2c-hogs-def", "k61-4c-sch-def", "k61-4s2-inter-def",
             "k612-1c-cgq-def", "k612-1c-perhog-def-st", "k612-1c-stress-def", "k612-2c-aff-def", "k612-2c-hback-def", "k612-4c-cg-def",
             "k612-4s2-forks-def", "k612-8n2-sch-def", "k612evdf-1c-mixed-def"]


def run(*args, **kw):
    return subprocess.run(args, capture_output=True, check=False, **kw)


def events(evdump, path):
    p = run(evdump, path)
    return p.stdout.splitlines(), p.returncode


def source(evdump, path):
    p = run(evdump, "-s", path, text=True, errors="replace")
    pairs = [line.partition("=")[::2] for line in p.stdout.splitlines()]
    src = {k: v for k, v in pairs if k != "warning"}
    src["warnings"] = [v for k, v in pairs if k == "warning"]
    return src


def report(path, stdin=None):
    """What `resched report` says but for the source, and for the names that a text does not tell."""
    p = run(RESCHED, "report", "--json", path, stdin=stdin)
    if p.returncode not in (0, 3):
        return {"error": p.stderr.decode(errors="replace")}
    doc = json.loads(p.stdout)
    doc.pop("source")
    for key in ("policy", "model"):
        doc["schedule"].pop(key, None)
    for key in ("migrations_by_distance", "llcs"):  # a text does not tell the machine
        doc["totals"].pop(key, None)
    return doc


def first_difference(a, b):
    for i, (x, y) in enumerate(zip(a, b)):
        if x != y:
            return "event %d: %r, text: %r" % (i, x, y)
    return "%d events, text: %d" % (len(a), len(b)) if len(a) != len(b) else ""


def published(evdump):
    facts = os.path.join(SHARED, "traces", "public", "facts.json")
    if not os.path.exists(facts):
        return skip("published texts", "no %s" % facts)
    for fact in json.load(open(facts, encoding="utf-8")):
        name = fact["file"]
        if not name.endswith((".txt", ".html", ".systrace")):
            continue
        src = source(evdump, os.path.join(os.path.dirname(facts), name))
        why = [k for k, n in fact["counts"].items() if int(src.get("event." + k, 0)) != n]
        if fact["cpus_in_header"] and int(src["cpus"]) != fact["cpus_in_header"]:
            why.append("cpus")
        if int(src.get("total", 0)) != fact["all_event_lines"]:
            why.append("total %s for %s" % (src.get("total"), fact["all_event_lines"]))
        if int(src.get("damaged", 9)) != (name == "trace_idle_unsorted.txt"):	# its last line is cut
            why.append("damaged")
        result(not why, "published " + name, "differs in: " + ", ".join(why) if why else "")


def readback(evdump, folder):
    if not shutil.which("trace-cmd"):
        return skip("trace-cmd text", "no trace-cmd")
    lab = os.path.join(SHARED, "traces", "lab")
    if os.path.isdir(lab):
        names = sorted(os.path.basename(d) for d in glob.glob(lab + "/*") if os.path.isdir(d)) if FULL else SELECTION
        files = [(n, os.path.join(lab, n, "trace.dat")) for n in names]
    else:
        files = [(os.path.basename(f), f) for f in sorted(glob.glob(TOP + "/tests/data/lab-*.dat"))]
    text = os.path.join(folder, "text")
    for name, path in files:
        with open(text, "wb") as out:
            subprocess.run(["trace-cmd", "report", "-N", "-t", "-l", path], stdout=out, stderr=subprocess.DEVNULL, check=True)
        want, got = events(evdump, path)[0], events(evdump, text)[0]
        why = first_difference(want, got)
        if not why and report(path) != report(text):
            why = "the reports differ"
        result(not why and len(want) > 100, "trace-cmd report -N -t -l of %s reads back" % name, why)
    return coarse(evdump, folder, files[0][1])


def shape(lines):
    """Events without their stamps and flags."""
    return [b" ".join(w for w in line.split()[1:] if not w.startswith(b"ctx=")) for line in lines]


def own_letters(lines):
    """trace-cmd's own form tells R+ as R and mixes up the letters of the dead and parked."""
    return [re.sub(rb"state=[XZP]$", b"state=*", line.replace(b"state=R+", b"state=R")) for line in lines]


def coarse(evdump, folder, path):
    """Other flags of trace-cmd: stamps in us, no flags, its own formats, numbers for states; all on one cpu, so that order is kept."""
    text = os.path.join(folder, "text")
    want = shape(events(evdump, path)[0])
    for flags in (["-N"], ["-N", "-l"], ["-N", "--ts-diff"], [], ["-R"]):
        with open(text, "wb") as out:
            subprocess.run(["trace-cmd", "report", *flags, path], stdout=out, stderr=subprocess.DEVNULL, check=True)
        got = shape(events(evdump, text)[0])
        same = own_letters if not flags else list
        why = first_difference(same(want), same(got))
        result(not why, "trace-cmd report %s reads back" % " ".join(flags or ["(no flags)"]), why)


def packed(evdump, folder):
    """gzip, xz and zstd around text and recordings, from a file and from standard input."""
    dat = os.path.join(TOP, "tests", "data", "lab-v7-k61-1c.dat")
    text = os.path.join(TOP, "..", "nonexistent")
    if shutil.which("trace-cmd"):
        text = os.path.join(folder, "packed.txt")
        with open(text, "wb") as out:
            subprocess.run(["trace-cmd", "report", "-N", "-t", "-l", dat], stdout=out, stderr=subprocess.DEVNULL, check=True)
    want = report(dat)
    for tool in ("gzip", "xz", "zstd"):
        if not shutil.which(tool):
            skip("packed with " + tool, "no " + tool)
            continue
        for path in (dat, text):
            if not os.path.exists(path):
                continue
            out = os.path.join(folder, "packed")
            with open(out, "wb") as f:
                subprocess.run([tool, "-c", path], stdout=f, check=True)
            kind = "text" if path == text else "recording"
            fmt = source(evdump, out)["format"]
            good = report(out) == want and fmt.endswith("(%s)" % tool)
            with open(out, "rb") as f:
                good = good and report("-", stdin=f) == want
            result(good, "%s packed with %s" % (kind, tool), "" if good else fmt)
            with open(out, "rb") as f:
                data = f.read()
            with open(out, "wb") as f:
                f.write(data[:len(data) * 3 // 4])
            p = run(RESCHED, "report", "--json", out)
            result(p.returncode == 3 and b"cut off" in p.stdout + p.stderr, "cut %s packed with %s is told" % (kind, tool),
                   "" if p.returncode == 3 else "exit %d %s" % (p.returncode, p.stderr.decode()))


def live_ftrace(evdump, folder):
    """What the kernel prints of its buffer, and the same buffer taken out by trace-cmd."""
    top = "/sys/kernel/tracing/instances"
    name = "resched-text-%d" % os.getpid()
    inst = os.path.join(top, name)
    if os.geteuid() or not os.path.isdir(top) or not shutil.which("trace-cmd"):
        return skip("text of the running kernel", "needs root, tracefs and trace-cmd")
    text, dat = os.path.join(folder, "live.txt"), os.path.join(folder, "live.dat")

    def write(path, value):
        with open(os.path.join(inst, path), "w", encoding="utf-8") as f:
            f.write(value)

    os.mkdir(inst)
    try:
        for event in ("sched/sched_switch", "sched/sched_waking", "sched/sched_wakeup", "sched/sched_wakeup_new", "sched/sched_migrate_task",
                      "sched/sched_process_fork", "sched/sched_process_exec", "sched/sched_process_exit", "task/task_rename"):
            write("events/%s/enable" % event, "1")
        for _ in range(20):
            run("true")
        time.sleep(0.1)
        write("tracing_on", "0")
        try:  # a mark in the main buffer, which is taken out too, is not the recording
            with open(os.path.join(os.path.dirname(top), "trace_marker"), "w", encoding="utf-8") as f:
                f.write("resched: a mark of a test\n")
        except OSError:  # the main buffer is switched off
            pass
        for option in ("", "record-tgid", "irq-info"):
            if option:
                write("options/" + option, "0" if option == "irq-info" else "1")
            with open(os.path.join(inst, "trace"), "rb") as f, open(text + option, "wb") as out:
                shutil.copyfileobj(f, out)
        taken = run("trace-cmd", "extract", "-B", name, "-o", dat, cwd=folder)
    finally:
        if os.path.isdir(inst):
            os.rmdir(inst)
    want = shape(events(evdump, dat)[0])
    for option in ("", "record-tgid", "irq-info"):
        why = first_difference(want, shape(events(evdump, text + option)[0]))
        good = not why and len(want) > 100
        result(good, "text of the running kernel %s reads back" % option, "" if good else "%s; of %d; %s %s" % (why, len(want), taken.stderr[-300:],
                                                                                                     source(evdump, dat)["warnings"]))
    return None


def live_perf(evdump, folder):
    data, text = os.path.join(folder, "perf.data"), os.path.join(folder, "perf.txt")
    if os.geteuid() or not shutil.which("perf"):
        return skip("perf script", "needs root and perf")
    p = run("perf", "sched", "record", "-o", data, "--", "sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do /bin/true; done", text=True)
    if p.returncode:
        return skip("perf script", "perf sched record: " + p.stderr.strip().splitlines()[-1])
    for flags in (["--ns"], ["--ns", "-F", "comm,pid,tid,cpu,time,event,trace"], []):
        with open(text, "wb") as out:
            subprocess.run(["perf", "script", "-i", data, *flags], stdout=out, stderr=subprocess.DEVNULL, check=True)
        with open(text, "rb") as f:
            lines = sum(b" sched:" in line for line in f)
        src = source(evdump, text)
        good = src["format"] == "perf script text" and int(src["total"]) == lines > 50 and src["damaged"] == "0"
        result(good, "perf script %s: every line is read" % " ".join(flags), "" if good else str(src))
        if not flags:
            continue
        # perf.data tells names, forks and exits in records of its own, which perf script does not print
        sched = re.compile(rb"cpu=\d+ (switch|waking|wakeup|wakeup_new|migrate|runtime) ")
        want, got = ([e for e in shape(events(evdump, f)[0]) if sched.match(e)] for f in (data, text))
        why = first_difference(want, got)
        reports = [report(f) for f in (data, text)]
        for r in reports:
            r.pop("first_ns", None)
            r.pop("last_ns", None)
        if not why and reports[0] != reports[1]:
            why = "the reports differ"
        result(not why, "perf script %s reads as its perf.data" % " ".join(flags), why)
    return None


def speed(evdump, folder):
    """Printed, not judged."""
    text = os.path.join(folder, "speed.txt")
    line = "          <idle>-0     [%03d] d..2. %5d.%06d: sched_switch: prev_comm=swapper/2 prev_pid=0 prev_prio=120 prev_state=R ==> " \
           "next_comm=AudioOutputDevi next_pid=%d next_prio=120\n"
    with open(text, "w", encoding="utf-8") as f:
        for i in range(400000):
            f.write(line % (i & 3, i // 1000, i % 1000, 1000 + i % 97))
    p = run(evdump, "-b", text, text=True)
    print("# %d bytes of text: %s" % (os.path.getsize(text), p.stdout.strip()))


def main():
    with tempfile.TemporaryDirectory() as folder:
        evdump = build_evdump(folder)
        published(evdump)
        readback(evdump, folder)
        packed(evdump, folder)
        live_ftrace(evdump, folder)
        live_perf(evdump, folder)
        speed(evdump, folder)
    sys.exit(failed())


if __name__ == "__main__":
    main()
