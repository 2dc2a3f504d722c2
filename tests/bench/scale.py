#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""How the cost of a replay grows with the machine: 2, 8, 32, 128 and 512 cpus, four tasks a cpu, under the model's placement.

Makes a recording, a trace.dat, for each size and replays it on a machine of that size. Prints where the time goes, in ns of processor time
an event, on one core: reading the events, rebuilding programs of them, running those, analysing the schedule. No replay can be faster than
its events are read: that is the bound beside the events a second of all together. Asserts nothing.
Environment: BUILD (with bench-phases, see `make bench-scale`), RESCHED, EVENTS (1000000, of each recording)."""
import json
import os
import subprocess
import tempfile

BUILD = os.environ.get("BUILD", "build")
RESCHED = os.path.abspath(os.environ.get("RESCHED", os.path.join(BUILD, "resched")))
EVENTS = int(os.environ.get("EVENTS", "1000000"))
TASKS = 4
PERIOD_NS = 4000000
MACHINES = {2: "vm2", 8: "sockets=1,cores=8", 32: "sockets=2,nodes=2,cores=8,smt=2",
            128: "sockets=2,nodes=2,llc=4,cores=8,smt=2,far=32", 512: "big512"}


def record(out, cpus):
    """Every cpu has four tasks that wake one after another each period; every eighth wakes before the one before it has ended."""
    out.write("# tracer: nop\n#\n")
    rounds = max(2, EVENTS // (cpus * TASKS * 4))
    for r in range(rounds):
        rows = []
        for cpu in range(cpus):
            start = 1000000000 + r * PERIOD_NS + cpu * 701 % 90000
            for k in range(TASKS):
                pid, at = 1000 + cpu * TASKS + k, start + k * 800000
                who = f"comm=t{k} pid={pid} prio=120"
                rows.append((at, cpu, 0, f"sched_waking: {who} target_cpu={cpu:03d}"))
                rows.append((at + 2000, cpu, 0, f"sched_wakeup: {who} target_cpu={cpu:03d}"))
                rows.append((at + 4000, cpu, 0, f"sched_switch: prev_comm=swapper/{cpu} prev_pid=0 prev_prio=120 prev_state=R ==> "
                             f"next_comm=t{k} next_pid={pid} next_prio=120"))
                rows.append((at + 4000 + 300000 + pid * 7919 % 400000, cpu, pid, f"sched_switch: prev_comm=t{k} prev_pid={pid} prev_prio=120 "
                             f"prev_state=S ==> next_comm=swapper/{cpu} next_pid=0 next_prio=120"))
        rows.sort()
        for at, cpu, pid, text in rows:
            comm = "<idle>-0" if not pid else f"t{(pid - 1000) % TASKS}-{pid}"
            out.write(f"{comm:>16} [{cpu:03d}] d..2. {at // 10**9:5d}.{at % 10**9 // 1000:06d}: {text}\n")
    return rounds * cpus * TASKS * 4


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise SystemExit(f"{' '.join(command)}: {result.stderr.strip()[-300:]}")
    return result.stdout


def main():
    print(f"{'':>20} {'ns an event:':>12}\n{'cpus':>5} {'tasks':>6} {'events':>8} {'read':>6} {'rebuild':>8} {'run':>6} {'report':>7} {'all':>6}"
          f" {'of 2 cpus':>9} {'(run)':>7} {'M events/s':>11} {'bound':>6}")
    base = None
    for cpus, machine in MACHINES.items():
        with tempfile.TemporaryDirectory() as tmp:
            text, dat = os.path.join(tmp, "trace.txt"), os.path.join(tmp, "trace.dat")
            with open(text, "w", encoding="utf-8") as out:
                record(out, cpus)
            run(RESCHED, "export", "-q", "--format", "trace.dat", "-o", dat, text)
            got = json.loads(run(os.path.join(BUILD, "bench-phases"), dat, "eevdf", machine))
        ns = {key: got[key + "_s"] * 1e9 / got["events"] for key in ("read", "rebuild", "run", "report")}
        total = sum(ns.values())
        base = base or (total, ns["run"])
        print(f"{cpus:5d} {cpus * TASKS:6d} {got['events']:8d} {ns['read']:6.0f} {ns['rebuild']:8.0f} {ns['run']:6.0f} {ns['report']:7.0f} {total:6.0f}"
              f" {total / base[0]:8.2f}x {ns['run'] / base[1]:6.2f}x {1e3 / total:11.2f} {1e3 / ns['read']:6.1f}", flush=True)


if __name__ == "__main__":
    main()
