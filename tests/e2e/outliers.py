#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""resched outliers: against the report of the same recording, against what can be counted in it, and its options."""
import json
import os
import subprocess

TOP = os.environ.get("RESCHED_TOP") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RESCHED = os.environ.get("RESCHED") or os.path.join(TOP, "build", "resched")
DATA = os.path.join(TOP, "tests", "data")
FILES = ["host-6.18.dat", "lab-v6-k612-1c.dat", "lab-v7-k612-2c.dat", "lab-v7-k61-1c.dat", "lab-v7-none-k61-2c.dat"]
CODES = {"lost_events", "interrupts", "throttled", "idle_exit", "stop_ran", "rt_ran", "higher_rt", "woke_on_busy_cpu", "balanced_late", "migrated",
         "kernel_thread", "higher_weight", "tick_granularity", "long_slice", "not_preempted", "shared_cpu", "not_observed"}


def result(good, name, why=""):
    if not good and why:
        print("#", str(why)[:400])
    print(("ok " if good else "not ok ") + name)


def run(*args):
    return subprocess.run([RESCHED, *args], capture_output=True, text=True, timeout=300, check=False, stdin=subprocess.DEVNULL)


def load(*args):
    p = run(*args)
    return json.loads(p.stdout) if p.returncode == 0 else {}


def against_report(name):
    path = os.path.join(DATA, name)
    found = load("outliers", "--json", "--top", "100000", path)["outliers"]
    report = load("report", "--json", path)
    for kind, key in (("wake", "wakeup_latency_ns"), ("preempted", "preempted_wait_ns")):
        dist = report["totals"][key]
        waits = [o["latency_ns"] for o in found if o["kind"] == kind]
        # a wait of no time is none
        zeros = dist["count"] - len(waits)
        result(0 <= zeros and (zeros == 0 or dist["min"] == 0), f"{name}: every wait of the report is there ({kind})", (dist, len(waits)))
        result(not waits or (max(waits) == dist["max"] and abs(sum(waits) - dist["mean"] * dist["count"]) < 1 + dist["count"]),
               f"{name}: the same longest and the same sum ({kind})", dist)
        tasks = {t["pid"]: t[key]["max"] for t in report["tasks"]}
        worst = {}
        for o in found:
            if o["kind"] == kind:
                worst[o["pid"]] = max(worst.get(o["pid"], 0), o["latency_ns"])
        result(all(tasks.get(pid) == ns for pid, ns in worst.items()), f"{name}: the same longest of every task ({kind})")
    order = [o["latency_ns"] for o in found]
    result(order == sorted(order, reverse=True), f"{name}: the longest first")
    result(all(o["cause"]["code"] in CODES and o["cause"]["text"] for o in found), f"{name}: every wait has a cause")
    covered = [o for o in found if o["moves"] <= 7]
    result(all(sum(b["ns"] for b in o["cause"]["blame"]) + o["cause"]["others_ns"] + o["cause"]["idle_ns"] + o["cause"]["unknown_ns"] ==
               o["latency_ns"] for o in covered), f"{name}: what ran instead adds up to the wait")
    result(all(a["ns"] >= b["ns"] for o in found for a, b in zip(o["cause"]["blame"], o["cause"]["blame"][1:])), f"{name}: blame is sorted")


def under():
    path = os.path.join(DATA, "host-6.18.dat")
    found = load("outliers", "--json", "--top", "200", "--policy", "eevdf", "--policy", "cfs", path)["outliers"]
    wakes = [o for o in found if o["kind"] == "wake"]
    result(all(set(o["under"]) == {"eevdf", "cfs"} for o in found), "every policy named is answered for")
    hits = sum(o["under"]["eevdf"] is not None for o in wakes)
    result(wakes and hits * 2 > len(wakes), f"most wakeups are found in the replayed schedule", f"{hits} of {len(wakes)}")
    one = load("outliers", "--json", "--top", "200", "--policy", "eevdf", path)["outliers"]
    result([o["under"]["eevdf"] for o in one] == [o["under"]["eevdf"] for o in found], "an answer does not depend on what else is asked")


def options():
    path = os.path.join(DATA, "lab-v7-k612-2c.dat")
    every = load("outliers", "--json", "--top", "100000", path)["outliers"]
    result(load("outliers", "--json", "--top", "3", path)["outliers"] == every[:3], "--top")
    over = load("outliers", "--json", "--top", "100000", "--over", "5ms", path)["outliers"]
    result(over == [o for o in every if o["latency_ns"] > 5000000], "--over")
    comm = every[0]["comm"]
    mine = load("outliers", "--json", "--top", "100000", "--comm", comm, path)["outliers"]
    result(mine == [o for o in every if o["comm"] == comm], "--comm")
    cpu = load("outliers", "--json", "--top", "100000", "-C", "1", path)["outliers"]
    result(cpu == [o for o in every if o["cpu"] == 1], "--cpu")
    text = run("outliers", "--top", "2", path)
    result(text.returncode == 0 and every[0]["cause"]["text"] in text.stdout and " 2. " in text.stdout and " 3. " not in text.stdout,
           "the text tells the same causes", text.stdout)
    p = run("outliers", "--top", "2000000", path)
    result(p.returncode == 2 and "at most" in p.stderr, "too many are refused", p.stderr)
    p = run("outliers", "--policy", "o1", path)
    result(p.returncode == 2 and "o1" in p.stderr, "an unknown policy is refused", p.stderr)
    p = run("outliers", "--time", "400s,", path)
    result(p.returncode == 1 and "no wait to show" in p.stderr, "an empty window is an error", p.stderr)


def why():
    path = os.path.join(DATA, "lab-v7-k612-2c.dat")
    found = load("outliers", "--json", "--top", "500", path)["outliers"]
    told = [o["policy"]["code"] for o in found if "policy" in o]
    result(len(told) * 10 > len(found) * 8 and {"not_eligible", "later_deadline", "slice_protection"} <= set(told), "the model says why others were preferred",
           (len(told), len(found)))
    result(all(o["policy"]["ns"] <= o["latency_ns"] and o["policy"]["text"] for o in found if "policy" in o), "for no longer than the wait")
    never = load("outliers", "--json", "--top", "500", "--why", "never", path)["outliers"]
    result(not any("policy" in o for o in never) and [o["cause"] for o in never] == [o["cause"] for o in found],
           "--why never says nothing, and the causes are the same")
    first = run("outliers", "--top", "1", path).stdout
    result(f"policy: {told[0]}: " in first, "the text has it, too", first)
    with open(path, "rb") as f:
        p = subprocess.run([RESCHED, "outliers", "-"], stdin=f, capture_output=True, text=True, timeout=300, check=False)
    result(p.returncode == 0 and "policy: " not in p.stdout, "a recording that cannot be read twice has causes alone", p.stderr)


why()
for f in FILES:
    against_report(f)
under()
options()
