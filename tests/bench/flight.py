#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A flight recorder under full load: is its memory flat, is its last snapshot complete?  flight.py [SECONDS [OPTIONS OF RECORD]]"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import flight as e2e  # noqa: E402

STEP = 10	# seconds between samples
BESIDE = 3	# seconds that a recording to a file runs beside it at the end


def memory_kb(pid):
    with open(f"/proc/{pid}/smaps_rollup") as f:
        text = f.read()
    return tuple(int(re.search(rf"{key}:\s+(\d+)", text)[1]) for key in ("Rss", "Anonymous"))


def slope(samples):
    """KB an hour, least squares."""
    n = len(samples)
    mean_t, mean_v = sum(t for t, _ in samples) / n, sum(v for _, v in samples) / n
    below = sum((t - mean_t) ** 2 for t, _ in samples)
    return 3600 * sum((t - mean_t) * (v - mean_v) for t, v in samples) / below if below else 0


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 600
    folder = tempfile.mkdtemp(prefix="resched-flight-")
    path, whole = os.path.join(folder, "flight.dat"), os.path.join(folder, "whole.dat")
    flight, _ = e2e.start("--ring", "64M", "--trigger", "run_delay > 1000s", "--before", "2s", "-o", path, *sys.argv[2:])
    load = subprocess.Popen([e2e.WAKELOAD, "-m", "-q", str(min(600, seconds + 60))])
    began, samples = time.monotonic(), []
    while time.monotonic() - began < seconds - BESIDE:
        time.sleep(min(STEP, max(0.1, seconds - BESIDE - (time.monotonic() - began))))
        samples.append((time.monotonic() - began, *memory_kb(flight.pid)))
        print("%6.0f s  rss %d KB, of it anonymous %d KB" % samples[-1], flush=True)
    beside, _ = e2e.start("--buffer", "64M", "-o", whole, *sys.argv[2:])
    time.sleep(BESIDE)
    flight.send_signal(signal.SIGUSR2)
    print(e2e.line_within(flight, "SIGUSR2", 60).strip())
    print("after the snapshot: rss %d KB, of it anonymous %d KB" % memory_kb(flight.pid))
    beside.send_signal(signal.SIGINT)
    print(beside.communicate(timeout=e2e.WAIT)[1].strip())
    load.kill()
    print(e2e.end(flight)[1].strip())
    later = [s for s in samples if s[0] > seconds / 10]
    print("slope after the first tenth: rss %.0f KB an hour, anonymous %.0f KB an hour" %
          (slope([(t, r) for t, r, _ in later]), slope([(t, a) for t, _, a in later])))
    inner, outer = e2e.events(os.path.join(folder, "flight.1.dat")), e2e.events(whole)
    first, last = max(inner[0][0], outer[0][0] + 20_000_000), inner[-1][0]
    got, known = e2e.switches(inner, first, last), e2e.switches(outer, 0, 1 << 62)
    print("last snapshot: %.2f s beside the file, %d switches, complete: %s" %
          ((last - first) / 1e9, sum(map(len, got.values())), all(e2e.is_part(got[cpu], known[cpu]) for cpu in got)))
    subprocess.run(["rm", "-r", folder], check=True)


if __name__ == "__main__":
    main()
