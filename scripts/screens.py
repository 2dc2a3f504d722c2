#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The screens in README.md, between its two markers: taken from recordings in tests/data at 80x24. Without an argument they are written,
with --check compared. Lines without text are left out, and of long lists the end. Environment: BUILD, RESCHED."""
import os
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.environ.get("BUILD", "build")
RESCHED = os.path.abspath(os.environ.get("RESCHED", os.path.join(BUILD, "resched")))
README = os.path.join(TOP, "README.md")
BEGIN, END = "<!-- scripts/screens.py begins -->\n", "<!-- scripts/screens.py ends -->\n"

# What it shows, the recording, keys, and which lines of the screen: its first, and as many of each part as are kept.
SCREENS = [
    ("**Tasks**: who waits how long, how its latencies are spread; more columns to the right, any of them sorts, `f` filters as you type.",
     "host-6.18.dat", "wait", [(0, 9), (21, 22), (23, 24)]),
    ("**Timeline**: a lane for each CPU and chosen task, from the whole recording to single nanoseconds, two markers, wakeup arrows.",
     "lab-v7-k612-2c.dat", "wait\n3 Enter w w m Right Right Right Right Right Right m", [(2, 8), (18, 22)]),
    ("**Outliers**: the worst waits, the cause, who ran instead and why the policy preferred them, what a what-if makes of the same wakeup.",
     "lab-v7-k612-2c.dat", "wait\n3 u wait / \"p9.1\" Enter\nwait", [(2, 6), (13, 23)]),
    ("**Task**: lag with its bounds, when it was eligible, missed deadlines (`!`); every wait, who woke it, who ran instead, why.",
     "lab-v7-k612-2c.dat", "wait\nEnter wait Down Down Down", [(2, 23)]),
    ("**Queue**: a run queue at a moment on the axis of virtual time: V, vruntimes, deadlines (`]`), the pick and its reason; `,` and `.` step.",
     "lab-v7-k612-2c.dat", "wait\n:goto 463ms\n5 wait", [(2, 23)]),
    ("**What if**: replayed in the background; `v` shows recorded and replayed side by side in every view, here the timeline.",
     "lab-v7-k612-2c.dat", "wait\n6 Down Down Down Down Enter \"-5\" Enter r wait", [(2, 17)]),
    (None, "lab-v7-k612-2c.dat", "wait\n:replay --policy cfs\nwait\nv 2\n:goto 250ms\nw w w w w", [(2, 12)]),
]


def screen(recording, keys):
    with tempfile.TemporaryDirectory() as d:
        script, out = os.path.join(d, "keys"), os.path.join(d, "screen")
        with open(script, "w", encoding="utf-8") as f:
            f.write(f"{keys}\nwait\n:save-screen {out}\n")
        subprocess.run([RESCHED, "tui", "--keys", script, recording], check=True, stdin=subprocess.DEVNULL, cwd=os.path.join(TOP, "tests", "data"),
                       env={**os.environ, "COLUMNS": "80", "LINES": "24", "LC_ALL": "C.UTF-8"}, timeout=120)
        with open(out, encoding="utf-8") as f:
            return f.read().split("\n")


def section():
    text = BEGIN
    for about, recording, keys, parts in SCREENS:
        lines = screen(recording, keys)
        if about:
            text += f"\n{about}\n"
        text += "\n"
        for begin, end in parts:
            text += "".join("    " + line + "\n" for line in lines[begin:end] if line.strip())
    return text + END


def main():
    with open(README, encoding="utf-8") as f:
        readme = f.read()
    if BEGIN not in readme or END not in readme:
        sys.exit(f"screens.py: README.md lacks the line '{BEGIN.strip()}' or '{END.strip()}'")
    before, rest = readme.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    new = before + section() + after
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if new == readme else "screens.py: README.md shows other screens than there are: run scripts/screens.py")
    with open(README, "w", encoding="utf-8") as f:
        f.write(new)


main()
