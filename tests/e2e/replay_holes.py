#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A recording across a suspend of a day: the replay leaves the hole out and says so, instead of ticking through it; and -o never writes over
its input."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

TOP = os.environ.get("RESCHED_TOP", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
RESCHED = os.environ.get("RESCHED", os.path.join(TOP, "build/resched"))


def check(name, good, why=""):
    print(("ok " if good else "not ok ") + name)
    if not good and why:
        print("# " + why)


def line(cpu, ts, event, body):
    return "          <idle>-0     [%03d] d..2. %d.%06d: %s: %s\n" % (cpu, ts // 1000000, ts % 1000000, event, body)


def switch(ts, prev, state, nxt):
    name = {0: "swapper/0", 10: "hog", 20: "nap"}
    return line(0, ts, "sched_switch", "prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm=%s next_pid=%d next_prio=120" % (
        name[prev], prev, state, name[nxt], nxt))


def recording(day_us):
    """A hog, and a task that wakes every 10 ms for 1 ms; in the middle the machine is away for @day_us."""
    text, at = "# tracer: nop\n#\n", 1000000
    text += switch(at, 0, "R", 10)
    for i in range(100):
        if i == 50:
            at += day_us
        at += 9000
        text += line(0, at, "sched_waking", "comm=nap pid=20 prio=120 target_cpu=000")
        text += line(0, at + 5, "sched_wakeup", "comm=nap pid=20 prio=120 target_cpu=000")
        text += switch(at + 10, 10, "R", 20) + switch(at + 1000, 20, "S", 10)
        at += 1000
    return text


def main():
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "suspend.txt")
        with open(path, "w", encoding="ascii") as out:
            out.write(recording(86400 * 1000000))
        run = subprocess.run([RESCHED, "replay", "--json", "--policy", "eevdf", path], capture_output=True, text=True, timeout=60, check=False)
        doc = json.loads(run.stdout) if run.returncode == 0 else {}
        check("a day without events is not replayed tick by tick", 900e6 < doc.get("totals", {}).get("busy_ns", 0) < 3e9, run.stderr + run.stdout[:200])
        run = subprocess.run([RESCHED, "replay", "--policy", "eevdf", path], capture_output=True, text=True, timeout=60, check=False)
        check("and the report says so", "in which no cpu recorded anything are left out" in run.stdout, run.stdout)

        own = os.path.join(tmp, "own.dat")
        shutil.copy(os.path.join(TOP, "tests/data/lab-v7-k61-1c.dat"), own)
        before = open(own, "rb").read()
        for command in (["replay", "-o", own, own], ["export", "--format", "trace.dat", "-o", own, own]):
            run = subprocess.run([RESCHED] + command, capture_output=True, text=True, timeout=60, check=False)
            check("%s -o refuses to write over its input" % command[0],
                  run.returncode == 2 and "the recording itself" in run.stderr and open(own, "rb").read() == before, run.stderr)
    return 0


sys.exit(main())
