#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Small recordings of what happens between a decision of the scheduler and the event that shows it: timers that had passed, wakings on the way
to sleep, passes of the balancer. A replay under the recorded kernel's rules takes each the same way."""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import RESCHED, result  # noqa: E402

NAMES = {0: "swapper"}
HOST = """{"schema": "resched/host/1", "kernel": "6.12.0", "machine": "x86_64", "version": "", "hz": 250, "preempt": "full", "autogroup": 0,
 "clock": "mono", "taken_ns": 0, "cpus": [%s], "nodes": [], "features": [], "tunables": {"base_slice_ns": "3000000"}, "cgroups": [],
 "tasks": []}""" % ", ".join('{"cpu": %d, "online": 1, "isolated": 0, "core": %d, "cluster": -1, "llc": 0, "die": 0, "package": 0, "node": 0,'
                              ' "capacity": 1024}' % (c, c) for c in range(2))


class Recording:
    """Events at whole microseconds, as the kernel prints them."""
    def __init__(self):
        self.lines = []
        self.curr = {0: 0, 1: 0}

    def put(self, cpu, us, flags, event, body):
        pid = self.curr[cpu]
        self.lines.append((us, "%16s-%-6d [%03d] %s %d.%06d: %s: %s" % (
            "<idle>" if not pid else "t%d" % pid, pid, cpu, flags, 10 + us // 1000000, us % 1000000, event, body)))

    def switch(self, cpu, us, state, pid):
        prev, self.curr[cpu] = self.curr[cpu], pid
        name = lambda p: "t%d" % p if p else "swapper/%d" % cpu
        self.lines.append((us, "%16s-%-6d [%03d] d.... %d.%06d: sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%s ==> "
                           "next_comm=%s next_pid=%d next_prio=120" % (
                               "<idle>" if not prev else name(prev), prev, cpu, 10 + us // 1000000, us % 1000000, name(prev), prev, state,
                               name(pid), pid)))

    def waking(self, cpu, us, pid, to, irq=False, wakeup=True):
        for after, event in ((0, "sched_waking"), (2, "sched_wakeup"))[:2 if wakeup else 1]:
            self.put(cpu, us + after, "d.h.." if irq else "d....", event, "comm=t%d pid=%d prio=120 target_cpu=%03d" % (pid, pid, to))

    def moved(self, cpu, us, pid, src, irq=False):
        self.put(cpu, us, "d.s.." if irq else "d....", "sched_migrate_task", "comm=t%d pid=%d prio=120 orig_cpu=%d dest_cpu=%d" % (
            pid, pid, src, cpu))

    def ran(self, cpu, us, ns, irq=False):
        pid = self.curr[cpu]
        self.put(cpu, us, "d.h.." if irq else "d....", "sched_stat_runtime", "comm=t%d pid=%d runtime=%d [ns]" % (pid, pid, ns))

    def text(self):
        return "# tracer: nop\n" + "\n".join(line for _, line in sorted(self.lines, key=lambda e: e[0])) + "\n"


def resched(*args):
    run = subprocess.run([RESCHED, *args], capture_output=True, text=True, timeout=60, check=False)
    if run.returncode:
        raise RuntimeError("%s: %s" % (args, run.stderr))
    return run.stdout


def switches(text):
    return [(round(float(t) * 1e6), int(cpu), int(prev), int(nxt)) for cpu, t, prev, nxt in re.findall(
        r"\[(\d+)\] \S+ +(\d+\.\d+): sched_switch: .*?prev_pid=(\d+) .*?next_pid=(\d+)", text)]


def judge(tmp, name, recording, more=None):
    """The replay switches where the recording does, to some microseconds."""
    path, out, host = (os.path.join(tmp, n) for n in ("rec.txt", "out.dat", "host.json"))
    with open(path, "w", encoding="ascii") as f:
        f.write(recording.text())
    with open(host, "w", encoding="ascii") as f:
        f.write(HOST)
    if os.path.exists(out):
        os.unlink(out)
    workload = resched("export", "-q", "--format", "workload", "--host", host, path)
    resched("replay", "-q", "--host", host, "-o", out, path)
    wanted, got = switches(recording.text()), switches(resched("export", "-q", "--format", "text", out))
    good = len(wanted) == len(got) and all(w[1:] == g[1:] and abs(w[0] - g[0]) <= 20 for w, g in zip(wanted, got))
    why = "recorded %s\n# replayed %s\n# %s" % (wanted, got, workload.replace("\n", "\n# "))
    result(good and (more is None or more(workload)), name, why)


def passed_timer():
    """Every 10 ms, but some rounds take 12: then its timer fires before it is off the cpu, and it goes on with the next round."""
    r = Recording()
    r.switch(0, 0, "R", 1)
    r.switch(0, 1000, "S", 0)
    for round_ in range(6):
        at = 20000 * round_ + 10000
        r.waking(0, at, 1, 0, irq=True)
        r.switch(0, at + 10, "R", 1)
        r.waking(0, at + 12000, 1, 0, irq=True)     # woken as it runs
        r.switch(0, at + 13000, "S", 0)
    return r


def woken_before_it_slept():
    """Another cpu wakes it while it still runs, and again when it sleeps half a millisecond later."""
    r = Recording()
    r.switch(0, 0, "R", 1)
    r.switch(1, 0, "R", 2)
    for round_ in range(4):
        at = 10000 * (round_ + 1)
        r.waking(1, at, 1, 0, wakeup=False)
        r.switch(0, at + 500, "S", 0)
        r.waking(1, at + 3000, 1, 0)
        r.switch(0, at + 3015, "R", 1)
    r.switch(0, 60000, "S", 0)
    r.switch(1, 60010, "S", 0)
    return r


def woken_on_its_way():
    """It is off its queue already when the other cpu wakes it: it leaves the cpu all the same, and comes back."""
    r = Recording()
    r.switch(0, 0, "R", 1)
    r.switch(1, 0, "R", 2)
    for round_ in range(4):
        at = 10000 * (round_ + 1)
        r.waking(1, at, 1, 0, wakeup=False)
        r.switch(0, at + 16, "D", 0)
        r.put(1, at + 18, "d....", "sched_wakeup", "comm=t1 pid=1 prio=120 target_cpu=000")
        r.switch(0, at + 26, "R", 1)
    r.switch(0, 60000, "S", 0)
    r.switch(1, 60010, "S", 0)
    return r


def pulled_before_the_switch():
    """Cpu 1 takes task 4 before its own switch shows, so cpu 0, which switches in between, runs task 5."""
    r = Recording()
    r.switch(0, 0, "R", 1)
    r.switch(1, 0, "R", 2)
    r.waking(0, 100, 4, 0)
    r.waking(0, 200, 5, 0)
    r.moved(1, 990, 4, 0)
    r.switch(0, 995, "S", 5)
    r.switch(1, 1000, "S", 4)
    r.switch(1, 2000, "S", 0)
    r.switch(0, 2500, "S", 0)
    return r


def moved_after_a_tick():
    """The tick takes the cpu from task 1; while it waits, an idle cpu fetches it in its softirq."""
    r = Recording()
    r.switch(0, 0, "R", 1)
    r.waking(0, 1000, 2, 0)
    r.switch(0, 4000, "R", 2)
    r.moved(1, 5000, 1, 0, irq=True)
    r.switch(1, 5012, "R", 1)
    r.switch(0, 7000, "S", 0)
    r.switch(1, 7500, "S", 0)
    return r


def one_at_a_time():
    """Both are fetched by cpu 1 when it runs empty, the second only when it is done with the first."""
    r = Recording()
    r.switch(0, 0, "R", 1)
    r.switch(1, 0, "R", 2)
    r.waking(0, 100, 4, 0)
    r.waking(0, 200, 5, 0)
    r.moved(1, 490, 4, 0)
    r.switch(1, 500, "S", 4)
    r.moved(1, 990, 5, 0)
    r.switch(1, 1000, "S", 5)
    r.switch(1, 1500, "S", 0)
    r.switch(0, 1800, "S", 0)
    return r


def owed_before():
    """Two kernel threads wake together, and the second runs first each time: it was owed that when the recording began."""
    r = Recording()
    r.switch(0, 0, "R", 1)
    r.ran(0, 995, 995000)
    r.switch(0, 1000, "S", 0)
    for round_ in range(6):
        at = 10000 * (round_ + 1)
        r.waking(0, at, 1, 0, irq=True)
        r.waking(0, at + 4, 2, 0, irq=True)
        r.switch(0, at + 15, "R", 2)
        r.ran(0, at + 20, 10000)
        r.switch(0, at + 25, "S", 1)
        r.ran(0, at + 55, 35000)
        r.switch(0, at + 60, "S", 0)
    return r


def clocks_differ():
    """Task 1 runs on cpu 0 before cpu 1, whose clock is ahead, tells of the waking."""
    r = Recording()
    r.switch(0, 0, "R", 1)
    r.switch(1, 0, "R", 2)
    r.switch(0, 1000, "S", 0)
    for round_ in range(3):
        at = 10000 * (round_ + 1)
        r.switch(0, at, "R", 1)
        r.waking(1, at + 5 + round_, 1, 0)
        r.switch(0, at + 1000, "S", 0)
    r.switch(1, 40000, "S", 0)
    return r


def wakes_and_blocks(after):
    """Task 1 wakes task 2 and blocks @after us later; an interrupt's wakee preempts in 10 us on this machine."""
    r = Recording()
    r.switch(0, 0, "R", 1)
    for round_ in range(5):
        at = 10000 * (round_ + 1)
        r.waking(0, at, 3, 0, irq=True)
        r.switch(0, at + 10, "R", 3)
        r.switch(0, at + 1000, "S", 1)
        r.waking(0, at + 2000, 2, 0)
        r.switch(0, at + 2000 + after, "S", 2)
        r.waking(0, at + 2500, 1, 0, irq=True)
        r.switch(0, at + 2510, "R", 1)
        r.switch(0, at + 4000, "S", 2)
        r.waking(0, at + 4500, 1, 0, irq=True)
        r.switch(0, at + 4510, "R", 1)
        r.switch(0, at + 9000, "R", 2)
        r.switch(0, at + 9500, "S", 1)
    return r


def main():
    with tempfile.TemporaryDirectory(prefix="resched-races-") as tmp:
        judge(tmp, "a timer that had passed is no sleep, and the next sleep keeps its length", passed_timer(),
              lambda w: len(re.findall(r"block \S+ when=\d+ len=7000000", w)) >= 5)
        judge(tmp, "who is woken while it runs sleeps all the same later", woken_before_it_slept(),
              lambda w: len(re.findall(r"block woken by=\d+ when=\d+ len=2500000", w)) >= 4)
        judge(tmp, "who is woken on its way to sleep leaves its cpu and comes back", woken_on_its_way())
        judge(tmp, "a cpu that runs empty takes a task before its switch shows", pulled_before_the_switch())
        judge(tmp, "a preempted task is moved while it waits", moved_after_a_tick())
        judge(tmp, "a cpu that runs empty takes one task at a time", one_at_a_time())
        judge(tmp, "what a sleeper was owed when the recording began is found", owed_before(),
              lambda w: re.search(r"pid=2 .*owed=[1-9]", w))
        path = os.path.join(tmp, "wakes.txt")
        for after, delays in ((6, 5), (16, 0)):
            with open(path, "w", encoding="ascii") as f:
                f.write(wakes_and_blocks(after).text())
            workload = resched("export", "-q", "--format", "workload", path)
            found = len(re.findall(r" wake task=\d+ .*delay=%d001" % after, workload))
            result(found == delays, "who blocks %d us after a waking %s before its wakee preempts" % (after, "does so" if delays else "does not do so"),
                   workload.replace("\n", "\n# "))
        path = os.path.join(tmp, "skew.txt")
        for recording, skew in ((clocks_differ(), 7000), (one_at_a_time(), 0)):
            with open(path, "w", encoding="ascii") as f:
                f.write(recording.text())
            found = json.loads(resched("info", "-q", "--json", "--workload", path))["workload"]["clock_skew_ns"]
            result(found == skew, "clocks of cpus that differ by %d ns are told" % skew, "found %d" % found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
