#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""resched sweep: rows are what replay says, side by side or one by one; what is there is not run again; what fails is told."""
import csv
import io
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from common import DATA, RESCHED, failed, result

ONE, TWO = os.path.join(DATA, "lab-v7-k612-2c.dat"), os.path.join(DATA, "lab-v7-k61-1c.dat")


def run(*args):
    p = subprocess.run([RESCHED, *args], capture_output=True, text=True, check=False)
    return p.returncode, p.stdout, p.stderr


def launcher(folder):
    """A script that counts what it starts, and fails where the file `fail` says so."""
    path = os.path.join(folder, "launch")
    with open(path, "w", encoding="utf-8") as f:
        f.write("#!/bin/sh\necho x >>%s/count\nif [ -e %s/fail ]; then case \"$*\" in *`cat %s/fail`*) echo 'node is down' >&2; exit 9;; esac; fi\n"
                "exec \"$@\"\n" % (folder, folder, folder))
    os.chmod(path, 0o755)
    return path


def count(folder):
    path = os.path.join(folder, "count")
    nr = os.path.getsize(path) // 2 if os.path.exists(path) else 0
    if nr:
        os.unlink(path)
    return nr


def main():
    with tempfile.TemporaryDirectory() as folder:
        out, launch = os.path.join(folder, "results"), launcher(folder)
        grid = ["--grid", "policy=eevdf,evdf", "--grid", "base_slice_ns=1ms,3ms"]
        sweep = ["sweep", *grid, "-o", out, "--launcher", launch, "--comm", "p*"]

        rc, text, err = run(*sweep, "--json", "-j", "3", ONE, TWO)
        doc = json.loads(text)
        points = list(itertools.product((ONE, TWO), ("eevdf", "evdf"), ("1ms", "3ms")))
        got = [(r["file"], r["values"]["policy"], r["values"]["base_slice_ns"]) for r in doc["rows"]]
        result(rc == 0 and not err and got == points and doc["schema"] == "resched/sweep/1", "a row for each point, in order of the grid", err + str(got))
        wrong = []
        for row in doc["rows"]:
            p = json.loads(run("replay", "--json", "--comm", "p*", "--policy", row["values"]["policy"], "--set",
                               "base_slice_ns=" + row["values"]["base_slice_ns"], row["file"])[1])["totals"]
            want = {"switches": p["switches"], "wakeups": p["wakeups"], "migrations": p["migrations"], "runnable_wait_ns": p["runnable_wait_ns"],
                    "wakeup_latency_p99_ns": p["wakeup_latency_ns"]["p99"], "run_delay_max_ns": p["run_delay_ns"]["max"]}
            wrong += [(row["values"], k, v, row["totals"][k]) for k, v in want.items() if row["totals"][k] != v]
        result(not wrong, "each row is what replay says", str(wrong[:3]))
        result(count(folder) == 8, "each was started once, by the launcher")

        rc, again, err = run(*sweep, "--json", "-j", "1", ONE, TWO)
        result(rc == 0 and again == text and count(folder) == 0 and "8 of 8" in err, "the same sweep again runs nothing and says the same", err)
        rc, more, err = run(*sweep[:4], "base_slice_ns=1ms,3ms,6ms", *sweep[5:], "--csv", ONE, TWO)
        rows = list(csv.DictReader(io.StringIO(more)))
        result(rc == 0 and count(folder) == 4 and len(rows) == 12 and all(r["switches"] for r in rows), "a larger grid runs what is new", err)
        rc, table, _ = run(*sweep, ONE)
        result(rc == 0 and len(table.splitlines()) == 5 and ONE not in table and count(folder) == 0, "a table of one file does not name it", table)

        with open(os.path.join(folder, "fail"), "w", encoding="utf-8") as f:
            f.write("base_slice_ns=9ms")
        nine = ["sweep", "--grid", "base_slice_ns=8ms,9ms", "-o", out, "--launcher", launch]
        rc, text, err = run(*nine, "--json", ONE)
        rows = json.loads(text)["rows"]
        result(rc == 1 and rows[0]["totals"] and not rows[1]["totals"] and rows[1]["failure"] == "node is down" and "row 2" in err,
               "one that fails is told, the others are there", "%d %s %s" % (rc, rows, err))
        os.unlink(os.path.join(folder, "fail"))
        count(folder)
        rc, text, err = run(*nine, "--json", ONE)
        result(rc == 0 and count(folder) == 1 and json.loads(text)["rows"][1]["totals"], "and run again the next time", err)

        slow = os.path.join(folder, "slow")
        with open(slow, "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\nexec sleep 1000\n")
        os.chmod(slow, 0o755)
        left = os.path.join(folder, "left")
        p = subprocess.Popen([RESCHED, "sweep", "--grid", "seed=1,2,3", "-j", "2", "-o", left, "--launcher", slow, ONE], start_new_session=True,
                             stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while time.monotonic() < end and not (os.path.isdir(left) and sum(f.endswith(".part") for f in os.listdir(left)) == 2):
            time.sleep(0.02)
        rc, _, err = run("sweep", "--grid", "seed=1,2,3", "-o", left, ONE)
        result(rc == 1 and "another sweep" in err, "a second sweep in the same folder is refused", err)
        os.killpg(p.pid, signal.SIGINT)
        result(p.wait() == -signal.SIGINT and not any(f.endswith(".json") for f in os.listdir(left)), "what is interrupted leaves no result that is none")
        rc, text, err = run("sweep", "--grid", "seed=1,2,3", "-o", left, "--json", ONE)
        result(rc == 0 and all(r["totals"] for r in json.loads(text)["rows"]) and not any(f.endswith(".part") for f in os.listdir(left)),
               "and goes on the next time", err)

        rc, text, err = run("sweep", "--grid", "topology=sockets=1,cores=2;sockets=2,cores=2", "-o", out, "--json", ONE)
        result(rc == 0 and [r["values"]["topology"] for r in json.loads(text)["rows"]] == ["sockets=1,cores=2", "sockets=2,cores=2"],
               "machines are told apart by a semicolon", err)
        for args, words in ((["sweep", ONE], "--grid"), (["sweep", "--grid", "policy", ONE], "KEY=VALUE"), (["sweep", "--grid", "policy=a,", ONE], "KEY=VALUE"),
                            (["sweep", "--grid", "seed=1", "--grid", "seed=2", ONE], "twice"), (["sweep", "--grid", "seed=1", "-"], "standard input"),
                            (["sweep", "--policy", "cfs", "--policy", "evdf", "--grid", "seed=1", ONE], "grid policy")):
            rc, _, err = run(*args, "-o", out)
            result(rc == 2 and words in err, "bad usage: " + " ".join(args[1:-1] or ["no grid"]), "%d %s" % (rc, err))


main()
sys.exit(failed())
