#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The views over a recording of 10 million events: when the first tasks are shown, how long keys take to be answered while the rest is
read and after it, and memory. The recording is made by the engine (tbench on 8 cpus), so every machine gets the same one.

Keys are pressed as fast as they are answered, all views in turn, at 200x60. Asserts nothing. Environment: BUILD, RESCHED, SECONDS (4,
of recorded time: 2.5 million events each), FILE (another recording)."""
import os
import subprocess
import tempfile

BUILD = os.environ.get("BUILD", "build")
RESCHED = os.path.abspath(os.environ.get("RESCHED", os.path.join(BUILD, "resched")))
KEYS = """Down Down Down 2 w w w d d a s s 3 Down Down PgDn 1 s s s Down Down j j k g g g g 2 Right Right Right . . . , , 4 w w Down 5 . . . , 1
PgDn PgUp End Home / "tb" Enter n n N f "srv" Esc Esc 2 z w w w w w w d d d d 3 ] ] [ 6 Down Down 7 Esc 1
"""


def run(*args):
    subprocess.run([RESCHED, *args], check=True, stdout=subprocess.DEVNULL)


def play(title, script, recording):
    with tempfile.NamedTemporaryFile("w", suffix=".keys") as f:
        f.write(script)
        f.flush()
        p = subprocess.run([RESCHED, "tui", "-v", "--keys", f.name, recording], check=True, stderr=subprocess.PIPE, text=True,
                           env={**os.environ, "COLUMNS": "200", "LINES": "60", "LC_ALL": "C.UTF-8"})
    print(title)
    print("".join("  " + line + "\n" for line in p.stderr.splitlines()))


def main():
    with tempfile.TemporaryDirectory() as d:
        path = os.environ.get("FILE")
        if not path:
            path = os.path.join(d, "big.dat")
            run("synth", "tbench", "-o", os.path.join(d, "w"), "--topology", "sockets=1,cores=8", "clients=12",
                "duration=" + os.environ.get("SECONDS", "4"))
            run("replay", "-q", os.path.join(d, "w"), "-o", path)
        print(subprocess.run([RESCHED, "info", path], check=True, capture_output=True, text=True).stdout)
        play("keys while it is read", "events 1000\n" + KEYS * 4, path)
        play("the same when all is read", "wait\n" + KEYS * 4, path)
        play("keys while it is replayed", "wait\n:replay --policy cfs\n" + KEYS * 8, path)


main()
