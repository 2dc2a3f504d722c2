#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What the screens show is what report, outliers, explain and compare print for the same thing; and the program's manners without a terminal."""
import json
import os
import re
import subprocess
import tempfile

from common import DATA, RESCHED, result

HOST = os.path.join(DATA, "host-6.18.dat")
LAB = os.path.join(DATA, "lab-v7-k612-2c.dat")
DIR = tempfile.TemporaryDirectory()


def run(*args, **env):
    return subprocess.run([RESCHED, *args], capture_output=True, text=True, timeout=300, check=False, stdin=subprocess.DEVNULL,
                          env={**os.environ, "LC_ALL": "C.UTF-8", **env})


def load(*args):
    return json.loads(run(*args).stdout)


def screen(keys, *files, size=(200, 60)):
    """The screen after @keys."""
    out, script = os.path.join(DIR.name, "screen"), os.path.join(DIR.name, "keys")
    if os.path.exists(out):
        os.unlink(out)
    with open(script, "w") as f:
        f.write(f"wait\n{keys}\nwait\n:save-screen {out}\n")
    p = run("tui", "--keys", script, *files, COLUMNS=str(size[0]), LINES=str(size[1]))
    if p.returncode or not os.path.exists(out):
        return f"exit {p.returncode}: {p.stderr}"
    with open(out) as f:
        return f.read()


def text(ns):
    """As the library writes times: three digits or more."""
    for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if ns >= size:
            v = ns / size
            return [f"{v:.2f} {unit}", f"{v:.1f} {unit}", f"{v:.0f} {unit}"]
    return [f"{ns} ns"]


def tasks():
    for path in (HOST, LAB):
        shown = screen("", path)
        report = load("report", "--json", path)
        for t in sorted(report["tasks"], key=lambda t: -t["runnable_wait_ns"])[:10]:
            line = next((l for l in shown.splitlines() if re.search(rf"\b{re.escape(t['comm'])} +{t['pid']} ", l)), "")
            want = [t["runtime_ns"], t["runnable_wait_ns"]]
            if t["wakeup_latency_ns"]["count"]:
                want += [t["wakeup_latency_ns"]["p50"], t["wakeup_latency_ns"]["p99"], t["wakeup_latency_ns"]["max"]]
            good = line and all(any(form in line for form in text(ns)) for ns in want if ns)
            good = good and f" {t['switches']} " in line and f" {t['involuntary']} " in line
            result(good, f"tasks: {os.path.basename(path)} {t['comm']}/{t['pid']} as in report", line, want)


def outliers():
    for path in (HOST, LAB):
        shown = screen("3", path)
        found = load("outliers", "--json", "--top", "20", path)["outliers"]
        lines = [l for l in shown.splitlines() if re.match(r" *\d+ +[0-9.]+ [mun]?s ", l)]
        good = all(f"{o['comm']}/{o['pid']}" in l and o["cause"]["code"] in l and any(f in l for f in text(o["latency_ns"]))
                   for o, l in zip(found, lines))
        result(good and len(lines) >= 20, f"outliers: {os.path.basename(path)} the same, in the same order", shown)
        one = screen("3 " + "Down " * 4, path)
        result(found[4]["cause"]["text"] in " ".join(one.split()).replace("  ", " "), f"outliers: {os.path.basename(path)} the same sentence", one)


def policy():
    for path in (HOST, LAB):
        found = load("outliers", "--json", "--top", "500", path)["outliers"]
        for nr, o in list(enumerate(found))[:6]:
            shown = " ".join(screen("3 " + "Down " * nr, path).split())
            want = f"policy {o['policy']['code']}: {o['policy']['text']}" if "policy" in o else "ran instead"
            result(want in shown, f"outliers: {os.path.basename(path)} {nr}: why the policy preferred others as in outliers", want, shown)
    # the same wait in the view of its task
    o = next(o for o in found if o["kind"] == "wake" and "policy" in o)
    waits = [w for w in found if w["pid"] == o["pid"]]
    shown = " ".join(screen(f":pid {o['pid']}\n4 wait l\nwait", LAB).split())
    worst = max(waits, key=lambda w: w["latency_ns"])
    result(f"{worst['policy']['code']}: {worst['policy']['text']}" in shown, "task: why its longest wait was, as in outliers", worst, shown)


def under():
    shown = screen(":replay --policy cfs\nwait\n3 Down Down Down", HOST)
    found = load("outliers", "--json", "--top", "4", "--policy", "cfs", HOST)["outliers"][3]
    ns = found["under"]["cfs"]
    want = [f"{f} under cfs" for f in text(ns)] if ns is not None else ["no such wakeup under cfs"]
    result(found["kind"] == "wake" and any(w in shown for w in want), "outliers: the same wakeup under cfs as outliers --policy cfs", want, shown)


def queue():
    for at in ("40ms", "120ms", "200ms"):
        for path, cpu in ((HOST, 0), (LAB, 0)):
            shown = " ".join(screen(f":goto {at}\n5", path).split())
            told = load("explain", "--json", "--at", at, "--cpu", str(cpu), path)
            why = next((v for k, v in told.items() if k in ("why", "pick_why", "text")), None) or told.get("pick", {}).get("why", "")
            result(why and " ".join(why.split()) in shown, f"queue: {os.path.basename(path)} at {at} as in explain", why, shown, list(told))


def requests():
    """Slice and deadline of what is queued at a moment, as explain has them for every cpu."""
    shown = screen(":goto 250ms\n1 " + "Right " * 15, LAB)
    told = {}
    for cpu in (0, 1):
        told |= {t["pid"]: t for t in load("explain", "--json", "--at", "250ms", "--cpu", str(cpu), LAB)["queue"]}
    for pid, t in told.items():
        line = next((l for l in shown.splitlines() if re.search(rf" {pid} ", l)), "")
        left = t["deadline_ns"] - t["vruntime_ns"] - t["vlag_ns"]
        sign = "-" if left < 0 else "+"
        result(any(f" {f} " in line for f in text(t["slice_ns"])) and any(f"{sign}{f}" in line for f in text(abs(left))),
               f"tasks: slice and deadline of {t['comm']}/{pid} as in explain", line, t)
    result(told and "SLICE" in shown and "DEADLINE" in shown, "tasks: some are queued at the moment", shown)


def whatif():
    shown = screen(":replay --policy cfs\nwait\n6", LAB)
    rows = load("compare", "--json", "--policy", "cfs", LAB)["rows"]
    total = {r["metric"]: r["values"] for r in rows if not r.get("group") or r["group"] in ("all", "total", "totals", "")}
    figures = load("replay", "--json", "--policy", "cfs", LAB)["totals"]
    line = next((l for l in shown.splitlines() if "│wakeup p99" in l), "")
    result(any(f in line for f in text(figures["wakeup_latency_ns"]["p99"])), "what if: wakeup p99 as in replay", line, figures["wakeup_latency_ns"])
    line = next((l for l in shown.splitlines() if "│involuntary" in l), "")
    result(f" {figures['involuntary']} " in line + " ", "what if: involuntary switches as in replay", line, figures["involuntary"], total)


def lag():
    shown = screen("Enter", LAB)
    result("lag, of a replay under the kernel's own rules" in shown and "missed" in shown, "task: lag comes from a replay", shown)
    replayed = load("replay", "--json", LAB)["tasks"]
    report = load("report", "--json", LAB)["tasks"]
    first = max(report, key=lambda t: t["runnable_wait_ns"])
    mine = next(t for t in replayed if t["pid"] == first["pid"])
    most = max(-mine["lag_ns"]["min"], mine["lag_ns"]["max"])
    result(any("+" + f in shown for f in text(most)), "task: the bound of lag as in replay", most, shown)


def manners():
    p = run("tui", HOST)
    result(p.returncode == 2 and "needs a terminal" in p.stderr and "--keys" in p.stderr, "without a terminal it says how", p.stderr)
    p = run("tui", "--keys", "/nowhere/keys", HOST)
    result(p.returncode == 1 and "/nowhere/keys" in p.stderr, "keys that are not there", p.stderr)
    bad = os.path.join(DIR.name, "bad")
    with open(bad, "w") as f:
        f.write("Down\nFrobnicate\n")
    p = run("tui", "--keys", bad, HOST)
    result(p.returncode == 2 and ":2: " in p.stderr, "a word that is no key, with its line", p.stderr)
    result("could not be read" in screen("", "/nowhere/trace.dat"), "a recording that is not there is told on the screen")
    empty = os.path.join(DIR.name, "empty")
    open(empty, "w").close()
    for keys in ("2", "3", "4", "5", "6 r", "7", "[ ] < > Enter Space w s a d m . ,"):
        result(not screen(keys, empty).startswith("exit"), f"an empty recording: {keys}")
    with open(HOST, "rb") as f, open(os.path.join(DIR.name, "cut.dat"), "wb") as g:
        g.write(f.read()[:120000])
    shown = screen("", os.path.join(DIR.name, "cut.dat"))
    result(not shown.startswith("exit"), "a recording that was cut off", shown)
    p = screen(":replay --policy o1\nwait\n>", HOST)
    result("came to no end" in p and "o1" in p, "a replay that cannot be is told", p)
    p = screen(":replay --frob x", HOST)
    result("--frob" in p and "--policy P" in p, "a word that is no option is told", p)


tasks()
outliers()
policy()
under()
queue()
requests()
whatif()
lag()
manners()
