#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What users of other tools reported as wrong, as far as it concerns what is read: each a small recording and the right answer.

Cases that have tests of their own are named where they are: waking only (P1), letters of states (P4), cut files (P9), losses (P11) in
where_peers_err.py and damage.py; changed signatures (P12) in test_perf.c; forms (P14) in four_forms.py; byte orders (P27) in test_trace.c."""
import json
import os
import subprocess
import sys
import tempfile

TOP = os.path.abspath(os.environ.get("RESCHED_TOP", os.path.join(os.path.dirname(__file__), "..", "..")))
RESCHED = os.path.join(TOP, os.environ.get("BUILD", "build"), "resched")
DATA = os.path.join(TOP, "tests", "data", "lab-v6-k612-1c.dat")
sys.path.insert(0, os.path.join(TOP, "tests", "tools"))
import perf_encode  # noqa: E402
from dat6 import Dat6  # noqa: E402

failed = False


def result(good, name, why=""):
    global failed
    failed |= not good
    if why and not good:
        print("#", why)
    print(("ok " if good else "not ok ") + name)


class Trace:
    """Lines as the kernel prints them; times in us."""
    def __init__(self, flags="d..2."):
        self.lines, self.flags = [], flags

    def add(self, at, cpu, who, text):
        self.lines.append("%16s [%03d] %s %d.%06d: %s" % (who, cpu, self.flags, at // 10**6, at % 10**6, text))

    def switch(self, at, cpu, prev, state, following, names=None):
        def name(pid):
            return (names or {}).get(pid, "t%d" % pid if pid else "swapper/%d" % cpu)
        self.add(at, cpu, "%s-%d" % (name(prev) if prev else "<idle>", prev),
                 "sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm=%s next_pid=%d next_prio=120" % (
                     name(prev), prev, state, name(following), following))

    def wake(self, at, cpu, pid, target, event="waking", waker=0):
        self.add(at, cpu, "<idle>-0" if not waker else "t%d-%d" % (waker, waker),
                 "sched_%s: comm=t%d pid=%d prio=120 target_cpu=%03d" % (event, pid, pid, target))

    def text(self):
        return "# tracer: nop\n#\n" + "\n".join(self.lines) + "\n"


def run(command, trace, *more):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
        f.write(trace if isinstance(trace, str) else trace.text())
        f.flush()
        p = subprocess.run([RESCHED, command, "--json", *more, f.name], capture_output=True, text=True, check=False)
    return (json.loads(p.stdout) if p.stdout.startswith("{") else {}), p


def report(trace, *more):
    doc, p = run("report", trace, *more)
    if not doc:
        return {"totals": {}, "source": {"warnings": []}}, {}, p
    return doc, {t["pid"]: t for t in doc["tasks"]}, p


def p2_several_wakings():
    t = Trace()
    t.wake(1000, 0, 7, 0)
    t.wake(5000, 0, 7, 0)  # it is queued already: no new wait
    t.switch(6000, 0, 0, "R", 7)
    t.wake(7000, 0, 7, 0)  # it runs: no wait at all
    t.switch(8000, 0, 7, "R+", 8)
    t.switch(9000, 0, 8, "S", 7)
    t.switch(10000, 0, 7, "S", 0)
    _, tasks, _ = report(t)
    w = tasks[7]["wakeup_latency_ns"]
    result((w["count"], w["max"]) == (1, 5000000), "P2: a waking of a queued or running task is no new wait", str(w))


def p3_out_of_order():
    t = Trace()
    t.wake(1000, 0, 7, 1)
    t.switch(1300, 1, 7, "S", 0)
    t.switch(1100, 1, 0, "R", 7)
    t.wake(2000, 0, 8, 0)
    t.switch(2100, 0, 0, "R", 8)
    doc, tasks, _ = report(t)
    result(tasks[7]["wakeup_latency_ns"]["max"] == 100000 and any("out of order" in w for w in doc["source"]["warnings"]),
           "P3: events out of order are put in order, and counted", str(doc["source"]["warnings"]))


def p5_raced():
    t = Trace()
    t.switch(1000, 0, 0, "R", 7)
    t.wake(2000, 1, 7, 0)
    t.switch(3000, 0, 7, "S", 0)
    t.switch(3100, 0, 0, "R", 7)
    t.switch(4000, 0, 7, "S", 0)
    doc, tasks, _ = report(t)
    result(tasks[7]["run_delay_ns"]["max"] == 100000 and tasks[7]["wakeup_latency_ns"]["count"] == 0 and doc["source"].get("wait_source", "sched_waking")
           == "sched_waking", "P5: a waking that raced with going to sleep", str(tasks[7]["run_delay_ns"]))


def p6_names():
    t = Trace()
    t.add(1000, 0, "<...>-7", "sched_waking: comm=real pid=8 prio=120 target_cpu=000")
    t.switch(1500, 0, 7, "S", 8, {7: "<...>", 8: "real"})
    t.switch(2000, 0, 8, "S", 0, {8: "real"})
    _, tasks, _ = report(t)
    result(tasks[8]["comm"] == "real" and tasks[7]["comm"] in (":7", "<...>"), "P6: a name the event carries, else none is made up", str(tasks[7]["comm"]))


def p7_pid_reuse():
    t = Trace()
    t.switch(1000, 0, 0, "R", 7, {7: "first"})
    t.add(1400, 0, "first-7", "sched_process_exit: comm=first pid=7 prio=120")
    t.switch(1500, 0, 7, "X", 0, {7: "first"})
    t.add(2000, 0, "x-9", "sched_process_fork: comm=x pid=9 child_comm=second child_pid=7")
    t.add(2100, 0, "x-9", "sched_wakeup_new: comm=second pid=7 prio=120 target_cpu=000")
    t.switch(2500, 0, 0, "R", 7, {7: "second"})
    t.switch(3000, 0, 7, "S", 0, {7: "second"})
    doc, _, _ = report(t)
    rows = [(x["comm"], x["birth"]) for x in doc["tasks"] if x["pid"] == 7]
    result(rows == [("first", 0), ("second", 1)] and any("used again" in w for w in doc["source"]["warnings"]), "P7: a pid used again is two tasks",
           "%s %s" % (rows, doc["source"]["warnings"]))


def p8_different_begins():
    t = Trace()
    for i in range(400):
        at = 1000 + i * 10000
        t.wake(at, 1, 7, 1)
        t.switch(at + 100, 1, 0, "R", 7)
        t.switch(at + 200, 1, 7, "S", 0)
        if i > 200:
            t.switch(at + 300, 0, 9 if i == 201 else 0, "R", 0 if i == 201 else 9)
            t.switch(at + 400, 0, 0 if i == 201 else 9, "S", 9 if i == 201 else 0)
    doc, tasks, p = report(t)
    result(p.returncode == 0 and tasks[7]["switches"] == 400 and any("begin at different times" in w for w in doc["source"]["warnings"]),
           "P8: buffers that begin at different times are read, and it is told", str(doc["source"]["warnings"]))


# A small process between, as a peak includes what its process was before exec.
PEAK = "import os, sys\npid = os.fork()\nif not pid:\n os.dup2(os.open('/dev/null', 1), 1)\n os.execv(sys.argv[1], sys.argv[1:])\n" \
    "_, status, usage = os.wait4(pid, 0)\nprint(status, usage.ru_maxrss)"


def peak_kib(command, path):
    p = subprocess.run([sys.executable, "-S", "-E", "-c", PEAK, RESCHED, command, "-q", path], capture_output=True, text=True, check=True)
    status, peak = p.stdout.split()
    return int(peak) if status == "0" else None


def p10_memory():
    """The same tasks 40 times as long: what is held is by tasks and cpus, but for 4 bytes a wait of a report."""
    dat = Dat6(DATA)
    with tempfile.TemporaryDirectory() as folder:
        small, large = dat.repeat(os.path.join(folder, "small"), 0, 10), dat.repeat(os.path.join(folder, "large"), 0, 400)
        grown = os.path.getsize(large) - os.path.getsize(small)
        for command, share in (("info", 0.05), ("report", 0.25)):
            few, many = peak_kib(command, small), peak_kib(command, large)
            result(few and many and (many - few) * 1024 < grown * share, "P10: memory of %s does not grow with the recording" % command,
                   "%s and %s KiB, the file is larger by %d KiB" % (few, many, grown >> 10))


def p13_columns():
    for flags in ("", ".", "d.", "d..", "d..2", "d..2.", "d..2..", "d..21.11", "dNH21.11"):
        t = Trace(flags)
        t.wake(1000, 0, 7, 0)
        t.switch(1200, 0, 0, "R", 7)
        t.switch(1300, 0, 7, "S", 0)
        doc, tasks, p = report(t)
        result(p.returncode == 0 and tasks.get(7, {}).get("wakeup_latency_ns", {}).get("max") == 200000, "P13: %d flag characters" % len(flags), p.stderr)


def p15_resolution():
    t = Trace()
    t.wake(1000, 0, 7, 0)
    t.switch(1000, 0, 0, "R", 7)
    t.switch(1300, 0, 7, "S", 0)
    doc, tasks, _ = report(t)
    result(tasks[7]["wakeup_latency_ns"]["max"] == 0 and any("1 us" in w or "us" in w for w in doc["source"]["warnings"]),
           "P15: the resolution of the stamps is told", str(doc["source"]["warnings"]))


def p16_cpu_numbers():
    t = Trace()
    t.wake(1000, 1234, 7, 1234)
    t.switch(1200, 1234, 0, "R", 7)
    t.switch(1300, 1234, 7, "S", 0)
    t.switch(1400, 3, 0, "R", 9)
    t.switch(1500, 3, 9, "S", 0)
    doc, tasks, _ = report(t)
    seen = {c["cpu"] for c in doc["cpus"] if c.get("observed", True)}
    result(tasks[7]["wakeup_latency_ns"]["max"] == 200000 and {3, 1234} <= seen and 2 not in seen, "P16: cpu numbers with holes, beyond 999", str(seen))


def p17_placement():
    t = Trace()
    t.wake(1000, 0, 7, 0)
    t.add(1050, 0, "<idle>-0", "sched_migrate_task: comm=t7 pid=7 prio=120 orig_cpu=0 dest_cpu=1")
    t.switch(1200, 1, 0, "R", 7)
    t.switch(1300, 1, 7, "S", 0)
    _, tasks, _ = report(t)
    result(tasks[7]["migrations"] == 1 and tasks[7]["wakeup_latency_ns"]["max"] == 200000, "P17: a waking is not the placement", str(tasks[7]))


def p18_late():
    t = Trace()
    t.wake(500, 0, 99, 0)
    for i in range(6000):
        t.switch(1000 + i * 20, 0, 0, "R", 7)
        t.switch(1010 + i * 20, 0, 7, "S", 0)
    t.switch(600, 0, 0, "R", 99)  # drained much too late
    doc, tasks, _ = report(t)
    worst = max(x["run_delay_ns"]["max"] for x in doc["tasks"])
    result(any("late" in w for w in doc["source"]["warnings"]) and worst <= 6000 * 20000, "P18: an event far too late is counted", str(doc["source"]["warnings"]))


def p19_swapper():
    t = Trace()
    t.switch(1000, 0, 7, "S", 0)
    t.switch(3000, 0, 0, "R", 7)
    t.switch(4000, 0, 7, "S", 0)
    doc, tasks, _ = report(t)
    result(0 not in tasks and doc["totals"]["idle_ns"] == 2000000, "P19: the idle task is none", str(doc["totals"]))


def p22_no_formats():
    """A perf without libtraceevent records tracepoints, but not what is in them."""
    dat = Dat6(DATA)
    with tempfile.NamedTemporaryFile(suffix=".data") as f:
        f.write(perf_encode.write(dat, [s[2] for s in perf_encode.samples(dat)] + [perf_encode.finished_round()], with_tracing=False))
        f.flush()
        info, report_of = (subprocess.run([RESCHED, c, "-v", f.name], capture_output=True, text=True, check=False) for c in ("info", "report"))
    said = "a perf without libtraceevent does not write them"
    result(said in info.stdout + info.stderr and said in report_of.stderr and report_of.returncode == 3 and not report_of.stdout,
           "P22: what is missing of a recording without event formats is said", report_of.stderr)


def p23_nothing_needed():
    t = Trace()
    t.add(1000, 0, "x-9", "sys_enter: NR 1")
    t.add(2000, 0, "x-9", "sys_exit: NR 1 = 1")
    _, p = run("report", t)
    result(p.returncode == 1 and "sched_switch" in p.stderr and not p.stdout, "P23: without the events needed there is no empty success", p.stderr)


def p24_policy():
    doc, _ = run("info", "# tracer: nop\n#\n" + Trace().text())
    with_kernel = os.path.join(TOP, "tests", "data", "lab-v7-k612-2c.dat")
    text = subprocess.run([RESCHED, "report", with_kernel], capture_output=True, text=True, check=False).stdout
    result("EEVDF" in text and doc is not None, "P24: which scheduler ran is told")


def p28_different_ends():
    t = Trace()
    for i in range(400):
        at = 1000 + i * 10000
        t.switch(at + 100, 1, 0, "R", 7)
        t.switch(at + 200, 1, 7, "S", 0)
        if i < 200:
            t.switch(at + 300, 0, 0, "R", 9)
            if i < 199:
                t.switch(at + 400, 0, 9, "S", 0)
    doc, _, _ = report(t)
    result(any("silent before the end" in w for w in doc["source"]["warnings"]), "P28: a cpu whose buffer ends before the others is told",
           str(doc["source"]["warnings"]))


def odd_names():
    """Spaces, brackets, '=', '==>' in names, and bytes that are no UTF-8."""
    names = ["a b", "x=1", "a ==> b", "[k]", "(sd-pam)", "a:b", "prev_pid=3", "next_comm=z"]
    wrong = []
    for name in names:
        t = Trace()
        t.switch(1000, 0, 0, "R", 7, {7: name})
        t.switch(2000, 0, 7, "S", 0, {7: name})
        _, tasks, p = report(t)
        if tasks.get(7, {}).get("comm") != name:
            wrong.append((name, tasks.get(7, {}).get("comm"), p.stderr))
    result(not wrong, "odd names are read whole", str(wrong))


def main():
    for case in (p2_several_wakings, p3_out_of_order, p5_raced, p6_names, p7_pid_reuse, p8_different_begins, p10_memory, p13_columns, p15_resolution, p16_cpu_numbers,
                 p17_placement, p18_late, p19_swapper, p22_no_formats, p23_nothing_needed, p24_policy,
                 p28_different_ends, odd_names):
        try:
            case()
        except (KeyError, ValueError) as e:
            result(False, case.__name__, repr(e))


main()
sys.exit(failed)
