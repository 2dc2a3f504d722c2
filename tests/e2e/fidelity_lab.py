#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A free replay of the lab's recordings under their own rules comes as near as the project promises (docs: tests/lab/RESULTS.md)."""
import os
import re
import subprocess
import sys

TOP = os.environ.get("RESCHED_TOP", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
LAB = os.path.join(os.environ.get("RESCHED_SHARED", os.path.join(TOP, "../shared")), "traces/lab")
ONE = {"p50": 0.03, "p99": 0.05, "mean": 0.05, "involuntary": 0.03, "runtime": 0.001, "makespan": 0.01}  # medians over commands and recordings
SEVERAL = {"p50": 0.10, "p99": 0.15, "mean": 0.15, "involuntary": 0.03, "runtime": 0.001, "makespan": 0.01}
NEWEST = {"p50": 0.10, "p99": 0.15, "mean": 0.15}


def judge(title, match, limits):
    run = subprocess.run([sys.executable, os.path.join(TOP, "tests/lab/fidelity.py"), "--lab", LAB, "--match=" + match, "self"],
                         capture_output=True, text=True, timeout=300, check=False)
    lines = run.stdout.splitlines()
    failed = [line for line in lines if line.startswith("FAILED")]
    print("not ok every %s recording replays\n# %s" % (title, failed[0]) if failed else "ok every %s recording replays" % title)
    for group, bounds in limits.items():
        summary = next((line for line in lines if line.startswith(group + ": ")), "")
        for figure, limit in bounds.items():
            found = re.search(r"\b%s ([\d.]+)/([\d.]+)" % figure, summary)
            good = found and float(found[1]) <= limit
            print("%s %s self-replay, %s: median error of %s is at most %g" % ("ok" if good else "not ok", title, group, figure, limit))
            if not good:
                print("# %s" % summary)


def main():
    if not os.path.isdir(LAB):
        print("skip fidelity_lab: no lab recordings beside the project")
        return 0
    judge("one-cpu", "-1c-", {"all": ONE})
    judge("multi-cpu", "-(2c|2t|4c|4t|4s2|8n2)-", {"all": SEVERAL, "k612 several": NEWEST})
    return 0


sys.exit(main())
