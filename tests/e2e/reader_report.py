#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The reader against what `trace-cmd report` prints: every event, field by field, and the counts noted beside each recording.

FULL=1 compares every recording of the shared folder event by event, not only a selection."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from common import SHARED, TOP, build_evdump, failed, result

FULL = os.environ.get("FULL") == "1"


def state_text(text):
    """Letters as evdump writes them: X for x, ? for those without one of ours, in evdump's order."""
    plus = "+" if text.endswith("+") else ""
    letters = {("X" if c == "x" else c if c in "SDTtXZPI" else "R" if c == "R" else "?") for c in text.rstrip("+").split("|")}
    return "|".join(sorted(letters, key="RSDTtXZPI?".index)) + plus


LINE = re.compile(r"^\s*.{1,16}-(\d+)\s+(\d+)(.)(.)(.)\S*\s+(\d+\.\d{9}): (\w+): +(.*)$")
SWITCH = re.compile(r"prev_comm=(.*) prev_pid=(\d+) prev_prio=(-?\d+) prev_state=(\S+) ==> next_comm=(.*) next_pid=(\d+) next_prio=(-?\d+)$")


def report_events(path):
    """(ts, cpu, kind, ctx, fields) of the events that evdump knows, sorted; and the names the switches print."""
    for _ in range(3):  # once in some hundred runs it printed no event of a file that it prints 755 of, and exited with 0
        text = subprocess.run(["trace-cmd", "report", "-l", "-N", "-t", path], capture_output=True, text=True, errors="replace", check=True).stdout
        if any(LINE.match(line) for line in text.splitlines()):
            break
    events, names = [], []
    for line in text.splitlines():
        m = LINE.match(line)
        if not m:
            continue
        waker, cpu, irqs, need, hard, ts, name, rest = m.groups()
        ctx = (1 if hard in "hH" else 0) | (2 if hard in "sH" else 0) | (4 if need in "Nn" else 0) | (8 if irqs == "d" else 0)
        f = dict(re.findall(r"(\w+)=(-?\w+)", rest))
        kind = name[6:]
        if name == "sched_switch":
            s = SWITCH.match(rest)
            if not s:
                raise ValueError("cannot read: " + line)
            fields = (s[2], int(s[3]), s[6], int(s[7]), state_text(s[4]))
            names.append((ts, int(cpu), s[2], s[1], s[6], s[5]))
        elif name in ("sched_waking", "sched_wakeup", "sched_wakeup_new"):
            f = dict(re.findall(r"(\w+)=(-?\d+)", rest[rest.rindex(" pid="):]))
            fields = (f["pid"], int(waker), int(f["prio"]), int(f["target_cpu"]))
        elif name == "sched_migrate_task":
            f = dict(re.findall(r"(\w+)=(-?\d+)", rest[rest.rindex(" pid="):]))
            kind, fields = "migrate", (f["pid"], int(f["prio"]), int(f["orig_cpu"]), int(f["dest_cpu"]))
        elif name == "sched_process_fork":
            kind, fields = "fork", (re.search(r" pid=(\d+) child_comm=", rest)[1], int(f["child_pid"]))
        elif name == "sched_process_exec":
            kind, fields = "exec", (re.search(r" pid=(\d+) old_pid=", rest)[1],)
        elif name == "sched_process_exit":
            kind, fields = "exit", (re.findall(r" pid=(\d+)", rest)[-1],)
        elif name == "sched_stat_runtime":
            s = re.search(r" pid=(\d+) runtime=(\d+) \[ns\](?: vruntime=(\d+))?", rest)
            kind, fields = "runtime", (s[1], int(s[2]), int(s[3] or 0))
        else:
            continue
        events.append((ts, int(cpu), kind, ctx, fields))
    events.sort(key=lambda e: (e[0].zfill(30), e[1]))
    names.sort(key=lambda e: (e[0].zfill(30), e[1]))
    return events, names


def evdump_events(exe, path):
    text = subprocess.run([exe, path], capture_output=True, text=True, errors="replace", check=True).stdout
    events, names, comm, last = [], [], {}, (0, -1)
    for line in text.splitlines():
        ts, cpu, kind, pid, ctx, *rest = line.split(" ", 5)
        rest = rest[0] if rest else ""
        cpu, pid, ctx = int(cpu[4:]), pid[4:], int(ctx[4:], 16) & 15  # without the mark of the recorder
        key = (int(ts.replace(".", "")), cpu)
        if key < last:
            raise ValueError("not in order: " + line)
        last = key
        if kind == "comm":
            comm[pid] = re.match(r"name=(.*) renamed=\d$", rest)[1]
            continue
        f = dict(w.split("=", 1) for w in rest.split()) if rest else {}
        if kind == "switch":
            fields = (pid, int(f["prio"]), f["next"], int(f["next_prio"]), f["state"])
            names.append((ts, cpu, pid, comm.get(pid), f["next"], comm.get(f["next"])))
        elif kind in ("waking", "wakeup", "wakeup_new"):
            fields = (pid, int(f["waker"]), int(f["prio"]), int(f["target"]))
        elif kind == "migrate":
            fields = (pid, int(f["prio"]), int(f["from"]), int(f["to"]))
        elif kind == "fork":
            fields = (pid, int(f["child"]))
        elif kind in ("exec", "exit"):
            fields = (pid,)
        elif kind == "runtime":
            fields = (pid, int(f["runtime"]), int(f["vruntime"]))
        else:
            continue
        events.append((ts, cpu, kind, ctx, fields))
    return events, names


def compare(exe, path, label):
    want, want_names = report_events(path)
    got, got_names = evdump_events(exe, path)
    for i, (w, g) in enumerate(zip(want, got)):
        if w != g:
            result(False, label, "event %d: trace-cmd %s, reader %s" % (i, w, g))
            return
    if len(want) != len(got):
        result(False, label, "trace-cmd has %d events, the reader %d" % (len(want), len(got)))
        return
    for w, g in zip(want_names, got_names):
        for k in (2, 4):
            if w[k] != "0" and w[k + 1] != g[k + 1]:
                result(False, label, "name at %s: trace-cmd %s, reader %s" % (w[0], w, g))
                return
    result(len(want) > 0, label + " (%d events)" % len(want))


def source_of(exe, path):
    run = subprocess.run([exe, "-s", path], capture_output=True, text=True, errors="replace")
    lines = [line.split("=", 1) for line in run.stdout.splitlines()]
    counts = {k[6:]: int(v) for k, v in lines if k.startswith("event.")}
    return run.returncode, counts, [v for k, v in lines if k == "warning"]


def check_counts(exe, folders):
    wrong = []
    for folder in folders:
        with open(os.path.join(folder, "truth.json")) as f:
            truth = json.load(f)["counts"]
        rc, counts, warnings = source_of(exe, os.path.join(folder, "trace.dat"))
        if rc or counts != truth or warnings:
            wrong.append("%s: status %d, %s, not %s; %s" % (folder, rc, counts, truth, warnings))
    result(not wrong, "event counts of %d recordings equal truth.json" % len(folders), "; ".join(wrong[:3]))


def main():
    folders = sorted(os.path.dirname(p) for p in glob.glob(os.path.join(SHARED, "traces", "lab", "*", "truth.json")))
    with tempfile.TemporaryDirectory() as tmp:
        exe = build_evdump(tmp)
        if folders:
            check_counts(exe, folders)
        else:
            print("skip event counts: no shared recordings")
        if not shutil.which("trace-cmd"):
            print("skip events one by one: trace-cmd is not installed")
            return
        some = folders if FULL else folders[::12]
        paths = [os.path.join(f, "trace.dat") for f in some]
        paths += sorted(glob.glob(os.path.join(SHARED, "traces", "public", "*.dat")))
        paths += sorted(glob.glob(os.path.join(TOP, "tests", "data", "*.dat")))
        for path in paths:
            if "no_sched" not in path:
                compare(exe, path, "as trace-cmd report: " + "/".join(path.split("/")[-2:]))


main()
sys.exit(failed())
