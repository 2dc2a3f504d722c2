#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Files as trace-cmd makes them of others, and stamps that its options correct: each against `trace-cmd report`, event by event.

Split and converted recordings, restored ones, a guest's recording with its clock's distance from the host's, the TSC's ticks, offsets."""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from common import TOP, RESCHED, failed, result

sys.path.insert(0, os.path.join(TOP, "tests", "tools"))
from dat6 import Dat6  # noqa: E402


def trace_cmd(*args):
    return subprocess.run(["trace-cmd", *args], capture_output=True, text=True, errors="replace", check=False)


def printed(path):
    """(time, cpu, name) of every event, in order of time and cpu."""
    line = re.compile(r"^.{16,}?-\d+\s+\[(\d+)\]\D*?(\d+\.\d{9}): (\w+):")
    found = [line.match(text) for text in trace_cmd("report", "-t", "-N", path).stdout.splitlines()]
    return sorted((int(m[2].replace(".", "")), int(m[1]), m[3]) for m in found if m)


def read(path):
    p = subprocess.run([RESCHED, "export", "--format", "csv", path], capture_output=True, text=True, errors="replace", check=False)
    rows = [row.split(",")[:3] for row in p.stdout.splitlines()[1:]]
    return [(int(ts), int(cpu), name) for ts, cpu, name in rows if name.startswith("sched_")], p.stderr


def same(path, name, least=100):
    want = [e for e in printed(path) if e[2].startswith("sched_")]
    got, err = read(path)
    wrong = [(w, g) for w, g in zip(want, sorted(got)) if w != g]
    result(not wrong and len(want) == len(got) >= least, name, "%d and %d events; %s %s" % (len(want), len(got), wrong[:2], err[:200]))
    return got


def shift(cpus, flags=0, peer=77, fractions=b""):
    out = struct.pack("<QII", peer, flags, len(cpus))
    for samples in cpus:
        out += struct.pack("<I", len(samples))
        for k, form in ((0, "<q"), (1, "<q"), (2, "<Q")):
            out += b"".join(struct.pack(form, s[k]) for s in samples)
    return out + fractions


def corrected(folder, dat, path):
    plain = read(path)[0]
    one = [(8000000000, 2000000000, 1)]
    three = [(8000000000, 2000000000, 1), (9200000000, 2000300000, 1), (10000000000, 1999900000, 1)]
    many = [(8000000000 + i * 100000000, 1000000000 + i * i * 1000, 1) for i in range(40)]
    scaled = [(8000000000, -500, 3), (9100000000, -600, 5)]
    once = [(8000000000, -500, 3)]
    tsc, offset = (14, struct.pack("<IIQ", 1717986918, 32, 0)), (7, b"5000000000\0")
    cases = {
        "an offset": [offset], "an offset back": [(7, b"-5000\0")], "ticks of the TSC": [tsc],
        "a guest": [(12, shift([one, one]))], "a guest whose cpus differ": [(12, shift([one, [(8000000000, 3000000000, 1)]]))],
        "a guest, several samples": [(12, shift([three, three]))], "a guest, between two samples": [(12, shift([three[:2], three[:2]]))],
        "a guest, interpolated": [(12, shift([three, three], flags=1))], "a guest, many samples": [(12, shift([many, many], flags=1))],
        "a guest, scaled": [(12, shift([scaled, scaled], fractions=struct.pack("<QQQQ", 1, 2, 1, 2)))],
        "a guest, one sample that scales": [(12, shift([once, once]))],
        "a guest, ticks and an offset": [(12, shift([one, one])), tsc, offset],
    }
    for name, options in cases.items():
        out = dat.with_options(os.path.join(folder, "o.dat"), options)
        got = same(out, "stamps as trace-cmd corrects them: " + name)
        if got and got[0][0] == plain[0][0]:
            result(False, name + ": something is corrected")
    bad = {"no samples": shift([[], []]), "cut": shift([one, one])[:-9], "too many": struct.pack("<QII", 77, 0, 1 << 30),
           "samples that are not there": struct.pack("<QIII", 77, 0, 1, 1 << 30)}
    for name, data in bad.items():
        out = dat.with_options(os.path.join(folder, "o.dat"), [(12, data)])
        p = subprocess.run([RESCHED, "info", out], capture_output=True, text=True, check=False)
        result(p.returncode == 3 and "times are the guest's own" in p.stdout + p.stderr and read(out)[0] == plain, "a damaged distance is told: " + name,
               "%d %s" % (p.returncode, p.stderr))


def made(folder, two):
    first, last = printed(two)[0][0], printed(two)[-1][0]
    parts = os.path.join(folder, "split.dat")
    trace_cmd("split", "-i", two, "-o", parts, "%.9f" % ((first + (last - first) // 4) / 1e9), "%.9f" % ((first + (last - first) // 2) / 1e9))
    same(parts + ".1", "trace-cmd split: the part reads as trace-cmd prints it")
    for version, more in (("6", []), ("7", ["--compression", "none"]), ("7", ["--compression", "any"])):
        out = os.path.join(folder, "convert.dat")
        trace_cmd("convert", "-i", two, "-o", out, "--file-version", version, *more)
        same(out, "trace-cmd convert to version %s %s" % (version, " ".join(more)))


def restored(folder, dat, two):
    """The head of a recording and the buffers of its cpus, as a recorder that was killed leaves them, put together by trace-cmd."""
    head = os.path.join(folder, "head.dat")
    with open(head, "wb") as f:
        f.write(dat.raw[:dat.cpus_at])
    cpus = []
    for cpu in range(len(dat.cpus)):
        cpus.append(os.path.join(folder, "trace.dat.cpu%d" % cpu))
        with open(cpus[-1], "wb") as f:
            f.write(dat.pages(cpu))
    out = os.path.join(folder, "restored.dat")
    p = trace_cmd("restore", "-i", head, "-o", out, *cpus)
    if not os.path.exists(out):
        print("skip trace-cmd restore: it made nothing of a head of ours: %s" % p.stderr.strip()[:100])
        return
    got = same(out, "trace-cmd restore: reads as trace-cmd prints it")
    result(got == read(two)[0], "trace-cmd restore: the events are those of the whole")


def main():
    if not shutil.which("trace-cmd"):
        print("skip files of trace-cmd: trace-cmd is not installed")
        return
    with tempfile.TemporaryDirectory() as folder:
        two = os.path.join(folder, "two.dat")
        trace_cmd("convert", "-i", os.path.join(TOP, "tests", "data", "lab-v7-none-k61-2c.dat"), "-o", two, "--file-version", "6")
        if not os.path.exists(two):
            print("skip files of trace-cmd: it cannot convert to version 6")
            return
        dat = Dat6(two)
        made(folder, two)
        restored(folder, dat, two)
        corrected(folder, dat, two)


main()
sys.exit(failed())
