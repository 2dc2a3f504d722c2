#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Recordings on which perf and trace-cmd err, made into FOLDER; see where_peers_err.sh."""
import os
import re
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import perf_encode as perf  # noqa: E402
from dat6 import Dat6  # noqa: E402

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data")
MS = 10**6


def event_ids(dat):
    return {re.search(rb"name: (\w+)", t)[1].decode(): int(re.search(rb"ID: (\d+)", t)[1]) for _, t in dat.formats}


def main():
    out, dat = sys.argv[1], Dat6(os.path.join(DATA, "lab-v6-k612-1c.dat"))
    ids, whole = event_ids(dat), perf.samples(dat)
    kind = {v: k for k, v in ids.items()}

    def name(sample):
        return kind[struct.unpack_from("<Q", sample[2], 8)[0]]

    def put(file, samples):
        with open(os.path.join(out, file), "wb") as f:
            f.write(perf.write(dat, [s[2] for s in samples] + [perf.finished_round()]))

    put("whole.data", whole)
    put("waking.data", [s for s in whole if name(s) != "sched_wakeup"])

    # two bursts are lost, as small rings lose them
    lossy, n = [], len(whole)
    for i, s in enumerate(whole):
        burst = n * 3 // 10 <= i < n * 4 // 10 or n * 6 // 10 <= i < n * 8 // 10
        if not burst:
            lossy.append(s)
        elif i in (n * 4 // 10 - 1, n * 8 // 10 - 1):
            count = n // 10 if i < n // 2 else n * 2 // 10
            lossy.append((s[0], s[1], perf.lost(ids["sched_switch"], count, s[0], s[1])))
    put("lossy.data", lossy)

    # A task is woken while it still runs (1 s), sleeps at 1.3 s with that waking behind it, and runs again at 1.301 s: it waited 1 ms.
    def comm(text):
        return text.encode().ljust(16, b"\0")

    def common(event, pid):
        return struct.pack("<HBBi", ids[event], 1, 0, pid)

    def switch(ts, prev, state, nxt):
        return (ts, 0, perf.sample(ids["sched_switch"], ts, 0, common("sched_switch", prev[0]) + comm(prev[1]) + struct.pack("<iiq", prev[0], 120, state) +
                                   comm(nxt[1]) + struct.pack("<ii", nxt[0], 120)))

    def wake(event, ts, waker, task):
        return (ts, 0, perf.sample(ids[event], ts, 0, common(event, waker[0]) + comm(task[1]) + struct.pack("<iii", task[0], 120, 0)))

    idle, a, b, s = (0, "swapper/0"), (100, "worker"), (200, "other"), 10**9
    put("raced.data", [switch(s - 500 * MS, idle, 0, a), wake("sched_waking", s, b, a), wake("sched_wakeup", s + 1000, b, a), switch(s + 300 * MS, a, 1, b),
                       switch(s + 301 * MS, b, 1, a), switch(s + 400 * MS, a, 1, idle)])

    raw = open(os.path.join(DATA, "lab-v7-k612-2c.dat"), "rb").read()
    with open(os.path.join(out, "whole.dat"), "wb") as f:
        f.write(raw)
    with open(os.path.join(out, "cut.dat"), "wb") as f:
        f.write(raw[:len(raw) * 9 // 10])
    with open(os.path.join(out, "new.dat"), "wb") as f:
        f.write(open(os.path.join(DATA, "host-6.18.dat"), "rb").read())


if __name__ == "__main__":
    main()
