#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Memory that runs out, at every allocation in turn (a sample of them, spread; NOMEM_STEP=1: all): each run ends in "out of memory", or with
the same answer where the program could do without, and never in a crash or a smaller answer. What a worker of the daemon meets at its limit."""
import collections
import os
import subprocess
import sys
import tempfile

from common import DATA, RESCHED, TOP, failed, result, skip

STEP = int(os.environ.get("NOMEM_STEP", "47"))	# no divisor of what repeats
COMMANDS = (("report", "--json"), ("compare", "--json", "--policy", "eevdf", "--policy", "evdf", "--policy", "cfs"),
            ("outliers", "--json", "--policy", "evdf", "--top", "20"))
NOMEM = ("out of memory", "Cannot allocate memory")


def run(args, preload, **settings):
    """Neither stdin nor a terminal: the same allocations every time."""
    env = {**os.environ, "LD_PRELOAD": preload, **settings}
    return subprocess.run([RESCHED, *args], stdin=subprocess.DEVNULL, capture_output=True, env=env, timeout=120, check=False)


def sweep(args, strict, preload, folder):
    count = os.path.join(folder, "count")
    good = run(args, preload, FAILALLOC_COUNT=count)
    with open(count, encoding="ascii") as told:
        total = int(told.read())
    for more in ({}, {"FAILALLOC_ALL": "1"}):
        bad, ends = [], collections.Counter()
        for at in range(1, total + 1, STEP):
            done = run(args, preload, FAILALLOC_AT=str(at), **more)
            told = done.stderr.decode(errors="replace")
            if done.returncode < 0:
                end = "crash"
            elif done.returncode == 0 and done.stdout == good.stdout:
                end = "same"
            elif done.returncode == 1 and any(text in told for text in NOMEM):
                end = "told"
            else:
                end = "other"
            ends[end] += 1
            if end == "crash" or (end == "other" and strict):
                bad.append((at, done.returncode, told[-200:]))
        name = " ".join(args[:1] + args[-1:]).replace(DATA + "/", "")
        result(good.returncode == 0 and not bad and ends["told"] > 0,
               f"no memory: {name}, {'all from one on' if more else 'one'} of {total} allocations fail{'' if more else 's'}", dict(ends), bad[:5])


def main():
    linked = subprocess.run(["ldd", RESCHED], capture_output=True, text=True, check=False).stdout
    if "libasan" in linked or "libtsan" in linked or os.environ.get("SAN"):
        skip("no memory", "the sanitizers have an allocator of their own")
        sys.exit(0)
    with tempfile.TemporaryDirectory() as folder:
        preload = os.path.join(folder, "failalloc.so")
        subprocess.run([os.environ.get("CC", "cc").split()[-1], "-O1", "-D_GNU_SOURCE", "-fPIC", "-shared", "-o", preload,
                        os.path.join(TOP, "tests/tools/failalloc.c")], check=True)
        if run(["--version"], preload).returncode:
            skip("no memory", "this C library lets nobody take the place of malloc")
            sys.exit(0)
        for args in COMMANDS:
            sweep([*args, os.path.join(DATA, "lab-v7-k612-2c.dat")], True, preload, folder)
        sweep([*COMMANDS[1], os.path.join(DATA, "lab-v6-k612-1c.dat")], True, preload, folder)
        sweep([*COMMANDS[1], os.path.join(DATA, "mixed-2c.pftrace")], False, preload, folder)	# may be told as damage
    sys.exit(1 if failed() else 0)


main()
