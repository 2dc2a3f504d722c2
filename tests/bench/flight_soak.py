#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The flight recorder under full load for a long time: is its memory flat, and is what it keeps complete?

flight_soak.py [SECONDS]. A load that keeps all cpus busy, a ring of 64 MiB, a snapshot every minute and at the end. Each has to hold its window
without a hole: no lost event, and on each cpu the task that every switch takes off is the one that the switch before it put there. Prints
what it used; fails when memory grows or a snapshot is not whole."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from common import RESCHED, WAKELOAD, failed, result, skip  # noqa: E402

RING = "64M"
SWITCH = re.compile(r"\[(\d+)\].*? ([\d.]+): sched_switch: .*?prev_pid=(\d+) .*?next_pid=(\d+) ")


def memory_kb(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as f:
        return int(re.search(r"Anonymous:\s+(\d+)", f.read())[1])


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def check(path):
    """Switches, seconds, cpus, and holes of a snapshot: those of tasks that are ever told to leave a cpu. Some hosts hide a few altogether,
    from the kernel's own trace as well."""
    runs, switches, holes, leaves, first, last = {}, 0, [], set(), None, None
    with subprocess.Popen([RESCHED, "export", "--format", "text", path, "-o", "-"], stdout=subprocess.PIPE, text=True, errors="replace") as text:
        for line in text.stdout:
            m = SWITCH.search(line)
            if not m:
                continue
            cpu, prev, following = int(m[1]), int(m[3]), int(m[4])
            leaves.add(prev)
            if runs.get(cpu, prev) != prev:
                holes.append(runs[cpu])
            runs[cpu] = following
            switches += 1
            last = float(m[2])
            first = last if first is None else first
    return switches, last - first if switches else 0.0, len(runs), sum(pid in leaves for pid in holes), text.returncode


def snapshot(recorder, log, seen):
    """Ask for one, and wait until it is told. Return: its file."""
    recorder.send_signal(signal.SIGUSR2)
    for _ in range(1200):
        with open(log, encoding="utf-8") as f:
            told = [line for line in f if "SIGUSR2" in line]
        if len(told) > seen:
            return told[-1]
        time.sleep(0.1)
    return ""


def main():
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    if os.geteuid():
        skip("flight soak", "recording needs root")
        return 0
    with tempfile.TemporaryDirectory(prefix="resched-flight-") as folder:
        path, log = os.path.join(folder, "soak.dat"), os.path.join(folder, "log")
        with open(log, "w", encoding="utf-8") as to:
            recorder = subprocess.Popen([RESCHED, "record", "--ring", RING, "--before", "5s", "-o", path], stdin=subprocess.DEVNULL,
                                        stdout=to, stderr=to)
        load = subprocess.Popen([WAKELOAD, "-m", "-q", str(seconds + 60)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        begin, memory, asked, whole = time.monotonic(), [], 0, []
        while time.monotonic() - begin < seconds and recorder.poll() is None:
            time.sleep(5)
            memory.append(memory_kb(recorder.pid))
            if time.monotonic() - begin > 60 * (asked + 1):
                result(snapshot(recorder, log, asked), "flight soak: a snapshot is taken when asked for")
                asked += 1
                made = [os.path.join(folder, name) for name in os.listdir(folder) if re.fullmatch(r"soak\.\d+\.dat", name)]
                whole += [check(name) for name in made]
                for name in made:
                    os.unlink(name)
        used = cpu_seconds(recorder.pid) / (time.monotonic() - begin)
        recorder.send_signal(signal.SIGINT)
        code = recorder.wait(timeout=300)
        load.kill()
        load.wait()
        with open(log, encoding="utf-8") as f:
            told = f.read()
        whole.append(check(path))
        result(code == 130 and "LOST" not in told, "flight soak: it ended when asked, and lost nothing", code, told[-1000:])
        for switches, span, cpus, holes, rc in whole:
            print(f"  a snapshot: {switches:,} switches in {span:.2f} s on {cpus} cpus, {holes} holes")
            result(switches and not holes and not rc, "flight soak: a snapshot is complete", switches, span, holes, rc)
        settled = memory[len(memory) // 4:] or memory
        print(f"  {seconds} s; anonymous memory {min(settled) / 1024:.1f} to {max(settled) / 1024:.1f} MiB, at the end {memory[-1] / 1024:.1f}; "
              f"{100 * used:.1f} % of one cpu")
        half = len(settled) // 2
        result(max(settled[half:]) <= max(settled[:half]) * 1.05 + 4096, "flight soak: memory does not grow", settled[::12])
        print(told.splitlines()[-1] if told else "")
    return failed()


if __name__ == "__main__":
    sys.exit(main())
