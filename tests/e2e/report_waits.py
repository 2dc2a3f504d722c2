#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""`resched report --json` against tools/waits.py of the shared folder, an independent pairing of waits: every figure of totals and comms of
recordings without losses, to the nanosecond, and the event counts of the truth beside each recording.
A spread of the lab recordings by default, all with RESCHED_ALL=1."""
import glob
import json
import os
import shutil
import subprocess
import sys

TOP = os.environ.get("RESCHED_TOP") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.environ.get("RESCHED_SHARED") or os.path.join(TOP, "..", "shared")
RESCHED = os.environ.get("RESCHED") or os.path.join(TOP, "build", "resched")
COUNTS = ("switches", "voluntary", "involuntary", "wakeups", "migrations", "runtime_ns", "runnable_wait_ns")
DISTS = ("wakeup_latency_ns", "preempted_wait_ns", "run_delay_ns")
SPREAD = 12


def output(*command, stdin=None):
    return subprocess.run(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout


def reference(path):
    """What waits.py makes of the text that trace-cmd prints."""
    text = subprocess.Popen(["trace-cmd", "report", "-N", "-t", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    result = json.loads(output(sys.executable, os.path.join(SHARED, "tools", "waits.py"), stdin=text.stdout))
    text.stdout.close()
    text.wait()
    return result


def differences(where, ours, theirs):
    for key in COUNTS:
        if ours[key] != theirs[key]:
            yield f"{where} {key}: {ours[key]}, waits.py has {theirs[key]}"
    for key in DISTS:
        for figure, value in theirs[key].items():
            mine = ours[key][figure]
            if abs(mine - value) > 1e-9 * abs(value) if figure == "mean" else mine != value:
                yield f"{where} {key}.{figure}: {mine}, waits.py has {value}"


def compare(ours, theirs):
    events = {k: v for k, v in theirs["source"]["events"].items() if v}
    if ours["source"]["events"] != events:
        yield f"events: {ours['source']['events']}, waits.py has {events}"
    if ours["source"]["span_ns"] != theirs["source"]["span_ns"]:
        yield f"span: {ours['source']['span_ns']}, waits.py has {theirs['source']['span_ns']}"
    if ours["source"]["wait_source"] != theirs["source"]["wait_source"]:
        yield f"wait source: {ours['source']['wait_source']}, waits.py has {theirs['source']['wait_source']}"
    yield from differences("totals", ours["totals"], theirs["totals"])
    mine = {row["comm"]: row for row in ours["comms"]}
    names = [row["comm"] for row in theirs["comms"]]
    if list(mine) != names:
        yield f"comms: {sorted(set(mine) ^ set(names))} in one only, or another order"
    for row in theirs["comms"]:
        if row["comm"] in mine:
            if mine[row["comm"]]["tasks"] != row["tasks"]:
                yield f"{row['comm']} tasks: {mine[row['comm']]['tasks']}, waits.py has {row['tasks']}"
            yield from differences(row["comm"], mine[row["comm"]], row)


def against_truth(ours, truth):
    counts = {k: v for k, v in truth["counts"].items() if v}
    if ours["source"]["events"] != counts:
        yield f"events: {ours['source']['events']}, the truth is {counts}"
    if ours["source"]["events"]["sched_switch"] != truth["switches"]:
        yield f"sched_switch: {ours['source']['events']['sched_switch']}, the truth is {truth['switches']}"


def sums(ours):
    """What must add up inside one report."""
    for rows in ("tasks", "comms"):
        for key in COUNTS:
            if sum(row[key] for row in ours[rows]) != ours["totals"][key]:
                yield f"{rows} do not sum up to the total of {key}"
    if ours["totals"]["busy_ns"] != sum(cpu["busy_ns"] for cpu in ours["cpus"]):
        yield "cpus do not sum up to busy_ns"


def main():
    if not os.path.isdir(os.path.join(SHARED, "traces", "lab")):
        print("skip report against waits.py: the folder with the lab recordings is not there")
        return 0
    if not shutil.which("trace-cmd"):
        print("skip report against waits.py: trace-cmd is not installed")
        return 0
    paths = sorted(glob.glob(os.path.join(SHARED, "traces", "lab", "*", "trace.dat")))
    if os.environ.get("RESCHED_ALL") != "1":
        paths = paths[:: max(1, len(paths) // SPREAD)][:SPREAD]
    failed = 0
    for path in paths:
        name = os.path.basename(os.path.dirname(path))
        try:
            ours = json.loads(output(RESCHED, "report", "--json", path))
            wrong = list(compare(ours, reference(path))) + list(sums(ours))
            truth = os.path.join(os.path.dirname(path), "truth.json")
            if os.path.exists(truth):
                with open(truth, encoding="utf-8") as f:
                    wrong += against_truth(ours, json.load(f))
        except (subprocess.CalledProcessError, KeyError, ValueError) as e:
            wrong = [repr(e)]
        for line in wrong[:10]:
            print(f"# {line}")
        print(f"{'not ok' if wrong else 'ok'} report equals waits.py on {name}")
        failed += bool(wrong)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
