#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Speed and memory of resched beside perf and trace-cmd, each on its own recording of the same load.

Prints medians of interleaved runs, with the facts of the machine; asserts nothing about time. Environment: BUILD, ROUNDS (5),
EVENTS (1000000, of the short recording)."""
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import time

BUILD = os.environ.get("BUILD", "build")
ROUNDS = int(os.environ.get("ROUNDS", "5"))
EVENTS = int(os.environ.get("EVENTS", "1000000"))
RESCHED = os.path.abspath(os.environ.get("RESCHED", os.path.join(BUILD, "resched")))
LOAD = os.path.abspath(os.environ.get("WAKELOAD", os.path.join(BUILD, "wakeload")))
DIR = os.path.join(BUILD, "bench")


def text(*command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False).stdout


def first(pattern, where):
    found = re.search(pattern, where, re.M)
    return found.group(1).strip() if found else "unknown"


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        cpuinfo = f.read()
    with open("/proc/loadavg", encoding="utf-8") as f:
        load = " ".join(f.read().split()[:3])
    print(f"machine:   {os.cpu_count()} x {first(r'^model name.*: (.*)$', cpuinfo)}, kernel {platform.release()}, load {load}")
    print(f"resched:   {text(RESCHED, '--version').strip()}")
    if shutil.which("perf"):
        print(f"perf:      {text('perf', '--version').strip()}")
    if shutil.which("trace-cmd"):
        print(f"trace-cmd: {first(r'version ([^ ]+)', text('trace-cmd', '--version'))}")


def info(path):
    return json.loads(text(RESCHED, "info", "--json", path))


def record(path, seconds):
    run = subprocess.run([RESCHED, "record", "-q", "--buffer", "32M", "-o", path, "--", LOAD, "-m", "-q", f"{seconds:.1f}"],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if not os.path.exists(path) or run.returncode in (1, 2, 4):
        sys.exit(f"bench: cannot record: {run.stderr.strip()}\nbench: it needs permission to trace; run it as root on a machine that allows it")
    return sum(info(path)["events"].values())


def recordings():
    """A short recording of at least EVENTS events, one four times as long, and perf's own; path and events of each."""
    probe = os.path.join(DIR, "probe.dat")
    rate = record(probe, 2) / 2
    os.unlink(probe)
    seconds = max(2, EVENTS * 1.15 / rate)
    short, long, perf = (os.path.join(DIR, name) for name in ("short.dat", "long.dat", "perf.data"))
    result = {"short": (short, record(short, seconds)), "long": (long, record(long, 4 * seconds))}
    print(f"load:      {os.path.basename(LOAD)} -m, {seconds:.1f} s and {4 * seconds:.1f} s, {rate / 1000:.0f} k events/s")
    if shutil.which("perf"):
        subprocess.run(["perf", "sched", "record", "-q", "-o", perf, "--", LOAD, "-m", "-q", f"{seconds:.1f}"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        samples = re.search(r"SAMPLE events:\s+(\d+)", text("perf", "report", "--stats", "-i", perf))
        if samples:
            result["perf"] = (perf, int(samples.group(1)))
        else:
            print("perf:      could not record, left out")
    for kind, (path, events) in result.items():
        print(f"recording: {kind:6} {events:9,} events, {os.path.getsize(path) / 1e6:.0f} MB")
    return result


def peak_bytes(command):
    """Peak memory, through time(1): a child of this interpreter would inherit the interpreter's own peak."""
    report = os.path.join(DIR, "peak")
    subprocess.run(["/usr/bin/time", "-o", report, "-f", "%M", *command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False)
    with open(report, encoding="utf-8") as f:
        return int(f.read().split()[-1]) * 1024


def run(command):
    """Wall and CPU seconds, and exit status."""
    with open(os.devnull, "w", encoding="utf-8") as null:
        start = time.monotonic()
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=null, stderr=null)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    return wall, usage.ru_utime + usage.ru_stime, child.returncode


def main():
    os.makedirs(DIR, exist_ok=True)
    for path in os.listdir(DIR):
        os.unlink(os.path.join(DIR, path))
    machine()
    have = recordings()
    short, long = have["short"], have["long"]
    rows = [("resched report", [RESCHED, "report", short[0]], short),
            ("resched replay --policy eevdf", [RESCHED, "replay", "--policy", "eevdf", short[0]], short),
            ("resched report, 4 x as long", [RESCHED, "report", long[0]], long)]
    base = None
    if "perf" in have:
        base = "perf sched latency"
        rows += [(base, ["perf", "sched", "latency", "-i", have["perf"][0]], have["perf"]),
                 ("perf sched timehist -s", ["perf", "sched", "timehist", "-s", "-i", have["perf"][0]], have["perf"])]
    if shutil.which("trace-cmd"):
        rows.append(("trace-cmd report --profile", ["trace-cmd", "report", "--profile", "-i", short[0]], short))

    figures = {name: [] for name, _, _ in rows}
    peaks = {name: peak_bytes(command) for name, command, _ in rows}  # also the warm-up
    for _ in range(ROUNDS):
        for name, command, _ in rows:
            figures[name].append(run(command))

    def median(name, column):
        return statistics.median(f[column] for f in figures[name])

    def rate(name):
        return next(recording[1] for n, _, recording in rows if n == name) / median(name, 1)

    print(f"\nmedians of {ROUNDS} interleaved runs; M ev/s is events per second of CPU time (user + system)\n")
    print(f"{'':32} {'events':>10} {'wall s':>8} {'cpu s':>8} {'M ev/s':>8} {'x perf':>8} {'x tcmd':>8} {'peak MB':>8} {'B/event':>8}")
    for name, _, (_, events) in rows:
        against = []
        for other in (base, "trace-cmd report --profile"):
            against.append(f"{rate(name) / rate(other):8.2f}" if other in figures else f"{'-':>8}")
        peak = peaks[name]
        print(f"{name:32} {events:10,} {median(name, 0):8.3f} {median(name, 1):8.3f} {rate(name) / 1e6:8.2f} {against[0]} {against[1]} "
              f"{peak / 1e6:8.1f} {peak / events:8.1f}")
        statuses = sorted({f[2] for f in figures[name]})
        if statuses != [0]:
            print(f"{'':32} exit status {statuses}: do not trust this row")
    print("\nx perf: ratio to perf sched latency; x tcmd: ratio to trace-cmd report --profile. Peak MB of the long recording should be\n"
          "that of the short one: memory does not grow with length once percentiles come from histograms (ADR 0004).")
    for path in (r[0] for r in have.values()):
        os.unlink(path)


main()
