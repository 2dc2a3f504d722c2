#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""--time of a large recording reads a part of it and gives what reading all gives: a window of a recording of many rounds, against the
same window of a recording of some of these rounds, which is read whole."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from common import RESCHED, TOP, failed, result

sys.path.insert(0, os.path.join(TOP, "tests", "tools"))
from dat6 import Dat6  # noqa: E402

ROUNDS, AT = 400, 200


def run(command, path, *more):
    p = subprocess.run([RESCHED, command, *more, path], capture_output=True, check=False)
    return p.returncode, p.stdout


def report(path, window):
    rc, out = run("report", path, "--json", "--time", window)
    return json.loads(out) if rc == 0 else {"source": {}, "error": rc}


def strip(doc):
    """What depends on more than a second before the window: who has slept or waited since, how often a pid was used."""
    doc.pop("cgroups", None)
    doc["tasks"] = [t for t in doc.get("tasks", []) if t["switches"]]
    for row in doc["tasks"] + [doc.get("totals", {})] + doc.pop("comms", []):
        for key in ("unresolved", "sleep_ns", "birth"):
            row.pop(key, None)


def same(whole, part, window, label):
    want, got = report(part, window), report(whole, window)
    for doc in (want, got):
        strip(doc)
    source, few = got.pop("source"), want.pop("source")
    differ = [k for k in want if want[k] != got.get(k)]
    differ += [(t["pid"], k, t[k], u[k]) for t, u in zip(want["tasks"], got["tasks"]) for k in t if t[k] != u[k]][:5]
    result(not differ and got["totals"]["switches"] > 0, "%s: the report of a window" % label, "differs in %s: %s %s" % (
        differ, want["totals"], got.get("totals")))
    result(source.get("read_from_ns") and source["total_events"] <= few["total_events"] and any("for the window" in w for w in source["warnings"]),
           "%s: a part is read, and it says so" % label, str(source))
    text = [run("export", path, "--format", "csv", "--time", window) for path in (part, whole)]
    result(text[0] == text[1] and text[0][1].count(b"\n") > 100, "%s: the export of a window" % label)
    text = [json.loads(run("outliers", path, "--json", "--top", "5", "--time", window)[1])["outliers"] for path in (part, whole)]
    result(text[0] == text[1] and text[0], "%s: the outliers of a window" % label)


def main():
    dat = Dat6(os.path.join(TOP, "tests", "data", "lab-v6-k612-1c.dat"))
    with tempfile.TemporaryDirectory() as folder:
        whole, part = (os.path.join(folder, name) for name in ("whole.dat", "part.dat"))
        dat.repeat(part, AT - 3, AT + 3)
        dat.repeat(whole, 0, ROUNDS)
        first = min(dat.stamps())
        at = first + AT * dat.step
        window = "%.9f,%.9f" % ((at + 300000000) / 1e9, (at + 700000000) / 1e9)
        same(whole, part, window, "trace.dat v6")
        begin = json.loads(run("info", part, "--json")[1])["first_ns"] - (AT - 3) * dat.step
        relative = "%dns,%dns" % (at + 300000000 - begin, at + 700000000 - begin)
        a, b = report(whole, window), report(whole, relative)
        result(a == b and "error" not in a, "a window counts from the beginning of the recording, not of what is read", relative)
        last = report(whole, "%.9f," % ((first + (ROUNDS - 1) * dat.step) / 1e9))
        result(last.get("totals", {}).get("switches", 0) > 100, "a window without an end goes to the end", str(last)[:200])
        rc, _ = run("report", whole, "--time", "9999999,99999999")
        result(rc == 2, "a window behind the end is told", "exit %d" % rc)
        if not shutil.which("trace-cmd"):
            print("skip compressed: trace-cmd is not installed")
            return
        packed = os.path.join(folder, "packed.dat")
        subprocess.run(["trace-cmd", "convert", "-i", whole, "-o", packed, "--file-version", "7", "--compression", "zstd"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        same(packed, part, window, "trace.dat v7, compressed")


main()
sys.exit(failed())
