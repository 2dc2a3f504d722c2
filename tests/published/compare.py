#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Posted figures of CFS and EEVDF beside those of made-up workloads on a model of the posted machine.

What is compared is the sign of the change where the posting calls it large (10 % and more): absolute times depend on caches, locks
and clocks that the model does not have. Prints a table and asserts nothing but that everything runs.

compare.py [--topology MACHINE] [--quick]"""
import argparse
import csv
import math
import os
import subprocess
import sys
import tempfile

TOP = os.path.abspath(os.environ.get("RESCHED_TOP", os.path.join(os.path.dirname(__file__), "..", "..")))
RESCHED = os.path.abspath(os.environ.get("RESCHED", os.path.join(TOP, os.environ.get("BUILD", "build"), "resched")))
TABLES = os.path.join(os.environ.get("RESCHED_SHARED", os.path.join(TOP, "..", "shared")), "published")
MACHINES = {"NPS1": "zen3-2s-nps1", "NPS2": "zen3-2s-nps2", "NPS4": "zen3-2s-nps4"}
SPIN_NS = 30_000_000
# The nearest to what was posted: tip before the series, and the series itself where the model has its stage.
RULES = {"cfs": ["--policy", "cfs", "--model", "6.1"], "eevdf": ["--policy", "eevdf", "--model", "eevdf-2023-03"]}
FALLBACK = {"cfs": ["--policy", "cfs"], "eevdf": ["--policy", "eevdf", "--model", "6.6"]}


def resched(*words):
    return subprocess.run([RESCHED, *words], capture_output=True, text=True, check=True, timeout=600)


def params_of(row):
    return dict(word.split("=", 1) for word in row["params"].split(";") if "=" in word)


def events(workload, rules):
    with tempfile.NamedTemporaryFile(suffix=".csv") as out:
        resched("export", workload, *rules, "--format", "csv", "-o", out.name)
        with open(out.name, newline="", encoding="ascii") as f:
            yield from csv.DictReader(f)


def percentile(samples, share):
    return sorted(samples)[max(math.ceil(share * len(samples)) - 1, 0)] if samples else 0


def schbench_latency(workload, rules, share):
    """As the tool counts: from the stamp that a messenger takes once for all it wakes, to the end of the spin, less the spin."""
    bursts, woken, samples = {}, {}, []
    for ev in events(workload, rules):
        if ev["comm"] != "schbench-worker":
            continue
        now = int(ev["ts_ns"])
        if ev["event"] == "sched_waking":
            begun, last = bursts.get(ev["waker_pid"], (0, 0))
            begun = now if now - last > SPIN_NS else begun  # a messenger rests for longer than that between two bursts
            bursts[ev["waker_pid"]] = (begun, now)
            woken[ev["pid"]] = begun
        elif ev["event"] == "sched_switch" and not ev["state"].startswith("R"):
            begun = woken.pop(ev["pid"], None)
            if begun is not None:
                samples.append(max(now - begun - SPIN_NS, 1000))
    return percentile(samples, share) / 1000


def hackbench_time(workload, rules):
    first = last = 0
    for ev in events(workload, rules):
        last = int(ev["ts_ns"])
        first = first or last
    return (last - first) / 1e9


def model(benchmark, row, machine, folder, quick):
    params, workload = params_of(row), os.path.join(folder, "w.workload")
    if benchmark == "schbench":
        seconds = 2 if quick else 5
        resched("synth", "schbench-old", f"message-threads={params['messengers']}", f"threads={params['workers']}",
                f"runtime={seconds}", "wake=3300ns", "--topology", machine, "-o", workload)
        return lambda rules: schbench_latency(workload, rules, 0.99)
    loops = 50 if quick else 200
    resched("synth", "hackbench", f"groups={params['groups']}", f"loops={loops}", "pipe", "send=1800ns", "receive=1800ns",
            "--topology", machine, "-o", workload)
    return lambda rules: hackbench_time(workload, rules)


def sign(percent):
    return "=" if abs(percent) < 5 else "+" if percent > 0 else "-"


def rules_there_are():
    try:
        return {name: words for name, words in RULES.items()
                if resched("synth", "hogs", "tasks=1", "duration=1ms", "--topology", "vm2", *words)}
    except subprocess.CalledProcessError:
        return FALLBACK


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--topology", help="another machine than the posted one")
    parser.add_argument("--quick", action="store_true", help="shorter runs, and the first machine alone")
    args = parser.parse_args()
    if not os.path.isdir(TABLES):
        print(f"skip published figures: {TABLES} is not there")
        return
    rules, agree, large = rules_there_are(), 0, 0
    print("rules:", " against ".join(" ".join(words) for words in rules.values()))
    print(f"{'benchmark':10} {'machine':8} {'params':28} {'metric':12} {'posted':>9} {'model cfs':>11} {'model eevdf':>11} {'model':>9}  same sign")
    with tempfile.TemporaryDirectory() as folder:
        for benchmark in ("schbench", "hackbench"):
            with open(os.path.join(TABLES, f"eevdf-2023-03-zen3-{benchmark}.csv"), newline="", encoding="utf-8") as f:
                rows = list(csv.DictReader(f))
            for row in rows:
                if row["topology"] not in MACHINES or (args.quick and row["topology"] != "NPS1"):
                    continue
                try:
                    run = model(benchmark, row, args.topology or MACHINES[row["topology"]], folder, args.quick)
                    cfs, eevdf = run(rules["cfs"]), run(rules["eevdf"])
                except subprocess.CalledProcessError as failed:
                    print(f"not ok published figures: {' '.join(failed.cmd[1:])}: {failed.stderr.strip()}")
                    sys.exit(1)
                posted, ours = float(row["change_percent"]), 100 * (eevdf / cfs - 1) if cfs else 0
                big = row["big"] == "1"
                same = sign(posted) == sign(ours)
                large += big
                agree += big and same
                print(f"{benchmark:10} {row['topology']:8} {row['params']:28} {row['metric']:12} {posted:+8.1f}% {cfs:11.4g} {eevdf:11.4g} "
                      f"{ours:+8.1f}%  {('yes' if same else 'NO') if big else '(small)'}", flush=True)
    print(f"{agree} of {large} large changes have the posted sign")
    print("ok published figures were compared")


if __name__ == "__main__":
    main()
