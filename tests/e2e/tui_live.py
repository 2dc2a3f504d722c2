#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""resched tui --live: what the machine does now, paused, frozen, replayed and saved. Skipped where recording is not permitted."""
import os
import re
import signal
import subprocess
import sys
import tempfile

from common import BUILD, RESCHED, TOP, result

DIR = tempfile.TemporaryDirectory()


def play(keys, *args):
    """The screens saved as A, B, ... by @keys."""
    script = os.path.join(DIR.name, "keys")
    with open(script, "w") as f:
        f.write(re.sub(r":shot (\w+)", rf":save-screen {DIR.name}/\1", keys))
    p = subprocess.run([RESCHED, "tui", "--keys", script, *args], capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL,
                       env={**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "120", "LINES": "40", "XDG_RUNTIME_DIR": DIR.name})
    shots = {}
    for name in os.listdir(DIR.name):
        if len(name) == 1:
            with open(os.path.join(DIR.name, name)) as f:
                shots[name] = f.read()
            os.unlink(os.path.join(DIR.name, name))
    return p, shots


def views():
    p, s = play("events 3000\n:shot A\n2\n:shot B\n3\n:shot C\n4\n:shot D\n5\n:shot E\n", "--live")
    result(p.returncode == 0 and "following" in s["A"] and re.search(r"\d+ tasks;", s["A"]), "live: tasks", p.stderr, s.get("A"))
    result("cpu 0" in s["B"] and "column" in s["B"], "live: timeline", s["B"])
    result("ran instead" in s["C"] or "no wait was long enough" in s["C"], "live: outliers as they come", s["C"])
    result("F freezes" in s["E"], "live: the queue tells how to ask the model", s["E"])
    p, s = play("events 3000\np\n:shot A\n2 Home\n:shot B\nEnd\n:shot C\np\n:shot D\n", "--live")
    result("paused" in s["A"] and "paused" in s["C"], "live: paused", s["A"])
    result("following" in s["D"], "live: End follows again", s["D"])


def rolls():
    """The index is replaced by a younger one now and then, and tasks keep their names."""
    p, s = play("events 200000\np\nf \"worker\" Enter\n:shot A\n", "--live", "--ring", "1M")
    rows = re.findall(r"^ worker +\d+ fair", s.get("A", ""), re.M)
    result(p.returncode == 0 and len(rows) >= 3, "live: names stay when the index rolls on", p.stderr, s.get("A"))


def frozen():
    saved = os.path.join(DIR.name, "saved.dat")
    p, s = play(f"events 3000\nF wait\n:shot A\n:replay --policy cfs\nwait\n>\n6\n:shot B\n<\n<\n:save {saved}\nwait\n:shot C\n", "--live")
    result(p.returncode == 0 and "frozen" in s["A"] and re.search(r"\d+ events", s["A"]), "live: frozen", p.stderr, s.get("A"))
    result("wakeup p99" in s["B"] and "%" in s["B"] or "=" in s["B"], "live: what is frozen is replayed", s["B"])
    info = subprocess.run([RESCHED, "info", saved], capture_output=True, text=True, timeout=60, check=False)
    result(info.returncode == 0 and "sched_switch" in info.stdout, "live: what is saved is a recording", info.stdout, info.stderr)
    left = [f for f in os.listdir(DIR.name) if f.startswith("resched-live")]
    result(not left, "live: no file is left", left)
    p, s = play("events 100\n:save /nowhere/at/all.dat\nwait\n:shot A\n", "--live")
    result("/nowhere/at/all.dat" in s["A"], "live: a place that cannot be written is told", s["A"])


def beside():
    data = os.path.join(TOP, "tests", "data", "lab-v7-k612-2c.dat")
    p, s = play("wait\n>\n:shot A\np\n:shot B\n", "--live", data)
    result("11 tasks" in s["A"], "live: beside a recording", s["A"])
    result("only what is live" in s["B"], "a recording is not paused", s["B"])
    p = subprocess.Popen([RESCHED, "tui", "--keys", "-", "--live"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    p.stdin.write(b"events 2000000000\n")
    p.stdin.close()
    p.send_signal(signal.SIGTERM)
    result(p.wait(timeout=60) in (143, -15), "live: a signal ends it", p.returncode)


def main():
    probe = subprocess.run([RESCHED, "record", "-q", "-d", "50ms", "-o", os.path.join(DIR.name, "probe.dat")], capture_output=True, text=True, timeout=60,
                           check=False)
    if probe.returncode == 4:
        print("skip resched tui --live: recording is not permitted here:", probe.stderr.strip())
        return
    load = subprocess.Popen([os.path.join(BUILD, "wakeload"), "-q", "100"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        views()
        rolls()
        frozen()
        beside()
    finally:
        load.terminate()
        load.wait()


sys.exit(main())
