#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The features of the scan for an idle cpu act on a machine of 256 cpus: cpus looked at, and where tasks end up.
Environment: BUILD, RESCHED."""
import json
import os
import subprocess
import sys

RESCHED = os.path.abspath(os.environ.get("RESCHED", os.path.join(os.environ.get("BUILD", "build"), "resched")))
failed = 0


def result(good, name, detail=""):
    global failed
    failed += not good
    print(f"{'ok' if good else 'not ok'} {name}{'' if good else f': {detail}'}")


def run(*features):
    words = [w for f in features for w in ("--feature", f)]
    p = subprocess.run([RESCHED, "synth", "--json", "-q", "--policy", "cfs", "--model", "6.1", "--topology", "zen3-2s-nps2", *words, "schbench-old",
                        "message-threads=2", "threads=512", "runtime=0.7"], capture_output=True, text=True, check=True)
    doc = json.loads(p.stdout)
    return doc["schedule"]["idle_probes"] / max(1, doc["schedule"]["idle_scans"]), doc["totals"]


every, all_totals = run("NO_SIS_UTIL")
again, again_totals = run("NO_SIS_UTIL")
filtered, _ = run("NO_SIS_UTIL", "SIS_FILTER")
limited, limited_totals = run("SIS_UTIL")
proportional, _ = run("NO_SIS_UTIL", "SIS_PROP")
result(every > 0 and (every, all_totals) == (again, again_totals), "the same run twice is the same")
result(filtered < every, "SIS_FILTER shortens the scan of a full machine", f"{filtered} of {every}")
result(limited <= every and limited_totals != all_totals, "SIS_UTIL limits it and changes the schedule", f"{limited} of {every}")
result(proportional <= every, "SIS_PROP does not lengthen it", f"{proportional} of {every}")
sys.exit(1 if failed else 0)
