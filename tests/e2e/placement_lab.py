#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The lab's recordings of several cpus: the model puts tasks where the kernel put them, and moves about as many when it runs freely.

One recording has tens of moves, and the kernel draws a lot before it pulls (NI_RANDOM): single ones differ by more than a tenth from run
to run, of the model as of the kernel. So a sum over many is held. Not in it: `sch`, whose messenger answers whoever asked first, which a
replay does not, so that cpus run empty ten times as often; and `forks`, which move a quarter to a third less than recorded."""
import json
import os
import subprocess
import sys
import tempfile

from common import RESCHED, SHARED, failed, result, skip

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(TOP, "tests/lab"))
import fidelity  # noqa: E402

LAB = os.path.join(SHARED, "traces/lab")
# Least agreement of placement in 100ths: measured, rounded down.
AGREE = {"k61-4s2-inter-def": 99, "k61-4c-light-def": 99, "k612-4c-light-def": 99, "k612-8n2-inter-def": 96, "k612-4s2-ipc-def": 97,
         "k612-4t-perhog-def": 99, "k612-2c-forks-def": 91, "k612-4c-forks-def": 87, "k612-4s2-forks-def": 91}
MOVES = ("k61-4s2-inter-def", "k61-4c-light-def", "k612-4c-light-def", "k612-4t-light-def", "k612-8n2-inter-def", "k612-4s2-ipc-def",
         "k612-4c-ipc-def", "k612-2c-inter-bs12")


def resched(tmp, name, *args):
    host = os.path.join(tmp, name + ".json")
    with open(host, "w", encoding="utf-8") as out:
        json.dump(fidelity.host_of(os.path.join(LAB, name)), out)
    run = subprocess.run([RESCHED, *args, "--json", "--host", host, os.path.join(LAB, name, "trace.dat")], capture_output=True, text=True,
                         timeout=300, check=True)
    return json.loads(run.stdout)


def moves(tmp, name):
    """Recorded and replayed, of three seeds the mean."""
    policy = "cfs" if name.startswith("k61-") else "eevdf"
    replayed = 0
    for seed in range(3):
        out = resched(tmp, name, "replay", "-q", "--policy", policy, "--placement", "kernel", "--seed", str(seed))
        replayed += out["totals"]["migrations"] / 3
    return resched(tmp, name, "report")["totals"]["migrations"], replayed


def main():
    if not os.path.isdir(LAB):
        skip("placement_lab", "no lab recordings beside the project")
        return 0
    with tempfile.TemporaryDirectory(prefix="resched-placement-") as tmp:
        for name, least in AGREE.items():
            got = resched(tmp, name, "validate", "--shadow-only")["placement"]
            result(got["agree"] * 100 >= least * got["wakeups"], "placement of %s" % name, "%d of %d" % (got["agree"], got["wakeups"]))
        both = [moves(tmp, name) for name in MOVES]
        recorded, replayed = (sum(x) for x in zip(*both))
        result(abs(replayed - recorded) <= recorded / 10, "migrations of free replays are within a tenth, all together",
               "%d recorded, %.0f replayed" % (recorded, replayed))
    return failed()


sys.exit(main())
