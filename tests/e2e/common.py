# SPDX-License-Identifier: GPL-2.0-only
"""What the end-to-end tests share: where things are, and one line a verdict. No test of its own."""

import os
import shlex
import subprocess

TOP = os.path.abspath(os.environ.get("RESCHED_TOP") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
SHARED = os.path.abspath(os.environ.get("RESCHED_SHARED") or os.path.join(TOP, "..", "shared"))
BUILD = os.path.join(TOP, os.environ.get("BUILD") or "build")
DATA = os.path.join(TOP, "tests", "data")
RESCHED = os.path.abspath(os.environ.get("RESCHED") or os.path.join(BUILD, "resched"))
RESCHEDD = os.path.abspath(os.environ.get("RESCHEDD") or os.path.join(BUILD, "reschedd"))
WAKELOAD = os.path.abspath(os.environ.get("WAKELOAD") or os.path.join(BUILD, "wakeload"))

_verdicts = []


def result(good, name, *why):
    """One test's verdict; @why is told when it is bad."""
    _verdicts.append(bool(good))
    for line in () if good else why:
        print("#", str(line).strip()[:3000].replace("\n", "\n# "))
    print(("ok " if good else "not ok ") + name, flush=True)


def skip(name, reason):
    print(f"skip {name}: {reason}", flush=True)


def failed():
    """For the exit status: was any verdict bad?"""
    return not all(_verdicts)


def build_evdump(folder):
    """The program that prints every event of a recording, linked against the library as make last did."""
    exe = os.path.join(folder, "evdump")
    with open(os.path.join(BUILD, "flags"), encoding="utf-8") as f:
        libs = f.read().rsplit("|", 1)[1].split()
    subprocess.run(["cc", "-std=gnu11", "-D_GNU_SOURCE", "-Iinclude", *shlex.split(os.environ.get("EVDUMP_CFLAGS", "-O1")), "-o", exe,
                    "tests/tools/evdump.c", os.path.join(BUILD, "libresched.a"), *libs], check=True, cwd=TOP)
    return exe
