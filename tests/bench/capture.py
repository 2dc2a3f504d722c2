#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What recording costs: time added to a context switch, throughput taken from a messaging load, bytes, the recorder's own cpu time.

Two loads of `perf bench` (a ping-pong through pipes pinned to one cpu; groups of senders and receivers on all) run beside each
recorder in turn, in interleaved rounds, so that what else the machine does falls on all alike. What a recorder does within a switch
is charged to the tasks that switch: the time added is taken from the cpu time of the load, its best round, so that neighbours count
little. Prints medians else, asserts nothing. Environment: BUILD, ROUNDS (5), LOOPS (100000), MESSAGES (1000)."""

import json
import os
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

BUILD = os.environ.get("BUILD", "build")
ROUNDS = int(os.environ.get("ROUNDS", "5"))
LOOPS = int(os.environ.get("LOOPS", "100000"))
MESSAGES = int(os.environ.get("MESSAGES", "1000"))
RESCHED = os.path.abspath(os.environ.get("RESCHED", os.path.join(BUILD, "resched")))
TICK = os.sysconf("SC_CLK_TCK")

RECORDERS = {	# name: command, %s is the file
    "nothing": None,
    "tracefs": [RESCHED, "record", "-q", "--backend", "tracefs", "-o", "%s"],
    "tracefs minimal": [RESCHED, "record", "-q", "--backend", "tracefs", "--detail", "minimal", "-o", "%s"],
    "bpf": [RESCHED, "record", "-q", "--backend", "bpf", "-o", "%s"],
    "bpf minimal": [RESCHED, "record", "-q", "--backend", "bpf", "--detail", "minimal", "-o", "%s"],
    "bpf precise": [RESCHED, "record", "-q", "--backend", "bpf", "--detail", "precise", "-o", "%s"],
    "truth": [RESCHED, "record", "-q", "--truth", "-o", "%s"],
    "perf sched": ["perf", "sched", "record", "-o", "%s"],
    "trace-cmd": ["trace-cmd", "record", "-q", "-e", "sched", "-C", "mono", "-o", "%s"],
}
LOADS = {
    "ping-pong": ["nice", "-n", "-19", "taskset", "-c", str(os.cpu_count() - 1), "perf", "bench", "-f", "simple", "sched", "pipe", "-l", str(LOOPS)],
    "messaging": ["perf", "bench", "-f", "simple", "sched", "messaging", "-g", "2", "-l", str(MESSAGES)],
}


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def switches():
    with open("/proc/stat", encoding="ascii") as f:
        return int(re.search(r"^ctxt (\d+)", f.read(), re.M).group(1))


def contents(path, name):
    """Events and lost events of a finished file; None where nobody can tell."""
    if name == "perf sched":
        text = subprocess.run(["perf", "report", "--stats", "-i", path], capture_output=True, text=True, errors="replace", check=False).stdout
        found = re.search(r"SAMPLE events:\s+(\d+)", text)
        lost = re.search(r"LOST(?:_SAMPLES)? events:\s+(\d+)", text)
        return (int(found.group(1)), int(lost.group(1)) if lost else 0) if found else None
    done = subprocess.run([RESCHED, "info", "--json", path], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        return None
    about = json.loads(done.stdout)
    return sum(about["events"].values()), about["lost_events"]


def measure(name, load, folder):
    """One round. Return: None when the recorder cannot run here."""
    path = os.path.join(folder, "bench.dat")
    recorder = None
    if RECORDERS[name]:
        command = [word.replace("%s", path) for word in RECORDERS[name]]
        if not shutil.which(command[0]):
            return None
        recorder = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
        time.sleep(1)
        if recorder.poll() is not None:
            return None
    used, switched, started = cpu_seconds(recorder.pid) if recorder else 0, switches(), time.monotonic()
    with tempfile.TemporaryFile("w+", encoding="ascii") as out:
        process = subprocess.Popen(LOADS[load], stdout=out, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall, switched = time.monotonic() - started, switches() - switched
        out.seek(0)
        seconds = float(out.read().split()[0])
    got = {"wall": wall, "seconds": seconds, "switches": switched, "cpu": usage.ru_utime + usage.ru_stime}
    if recorder:
        got["recorder"] = cpu_seconds(recorder.pid) - used
        recorder.send_signal(signal.SIGINT)
        recorder.wait(timeout=120)
        got["bytes"] = os.path.getsize(path)
        got["events"] = contents(path, name)
        os.unlink(path)
    return got


def number(values, digits, scale=1.0):
    values = [v for v in values if v is not None]
    return f"{statistics.median(values) * scale:.{digits}f}" if values else "-"


def table(load, rounds):
    base = [r["seconds"] for r in rounds["nothing"]]
    print(f"\n{load}: {' '.join(LOADS[load])}")
    print(f"  {'':<16} {'time':>8} {'cpu time':>10} {'added a switch':>15} {'loss':>7} {'recorder cpu':>13} {'events':>9} {'lost':>8} {'bytes/event':>12} {'bytes/switch':>13}")
    for name, got in rounds.items():
        if not got:
            print(f"  {name:<16} cannot record here")
            continue
        seconds = [r["seconds"] for r in got]
        best, bare = (min(r["cpu"] for r in rounds[which]) for which in (name, "nothing"))
        added = (best - bare) / (2 * LOOPS) * 1e9 if load == "ping-pong" else None
        # throughput of the round beside the same round's bare load
        loss = statistics.median(1 - b / s for b, s in zip(base, seconds)) * 100
        counts = [r["events"] for r in got if r.get("events")]
        print(f"  {name:<16} {statistics.median(seconds):>6.3f} s {best:>8.3f} s {f'{added:+.0f} ns' if added is not None else '-':>15} {loss:>5.1f} % "
              f"{number([r['recorder'] / r['wall'] if 'recorder' in r else None for r in got], 2, 100):>11} % "
              f"{number([c[0] for c in counts], 0):>9} {number([c[1] for c in counts], 0):>8} "
              f"{number([r['bytes'] / r['events'][0] for r in got if r.get('events') and r['events'][0]], 1):>12} "
              f"{number([r['bytes'] / r['switches'] if 'bytes' in r else None for r in got], 1):>13}")


def main():
    for tool in "perf", "taskset":
        if not shutil.which(tool):
            print(f"skip bench-capture: no {tool}")
            return 0
    with open("/proc/loadavg", encoding="ascii") as f:
        print(f"machine: {os.cpu_count()} cpus, kernel {platform.release()}, load {' '.join(f.read().split()[:3])}; {ROUNDS} interleaved rounds")
    with tempfile.TemporaryDirectory(prefix="resched-bench-") as folder:
        for load in LOADS:
            rounds = {name: [] for name in RECORDERS}
            refused = set()
            for _ in range(ROUNDS):
                for name in RECORDERS:
                    got = None if name in refused else measure(name, load, folder)
                    if got:
                        rounds[name].append(got)
                    else:
                        refused.add(name)
            table(load, rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
