#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""On this machine's own kernel: does a replay with another nice value, slice, affinity or weight come to what the kernel does with it?

usage: live.py [--resched FILE] [--seconds N] [--keep DIR]

Records a load, pinned to one cpu, as it is (twice: how much the machine differs from itself) and with one setting changed, replays the first
recording with that change, and compares. Work is cpu time, so what else runs on the machine shows as a difference between the two plain
recordings. Needs root. A setting that the kernel or the mounts lack is named and left out. The figures are those of fidelity.py; run time is
judged per command."""
import argparse
import ctypes
import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import fidelity

CPU = max(os.sched_getaffinity(0))
OTHER = min(os.sched_getaffinity(0))
SCHED_SETATTR = {"x86_64": 314, "aarch64": 274}.get(platform.machine())
# name: what is changed of the task, and how the replay is told
SETTINGS = {
    "nice of a hog 5": ({"hog0": {"nice": 5}}, ["--task", "hog0:nice=5"]),
    "nice of a hog -5": ({"hog0": {"nice": -5}}, ["--task", "hog0:nice=-5"]),
    "nice of a periodic task 10": ({"per12": {"nice": 10}}, ["--task", "per12:nice=10"]),
    "slice of the hogs 20 ms": ({"hog0": {"slice": 20000000}, "hog1": {"slice": 20000000}}, ["--task", "hog*:slice=20ms"]),
    "slice of a periodic task 0.3 ms": ({"per12": {"slice": 300000}}, ["--task", "per12:slice=300us"]),
    "a hog may use the other cpu only": ({"hog1": {"cpu": OTHER}}, ["--task", "hog1:affinity=%d" % OTHER]),
    "weight of the hogs' cgroup 20": ({"hog0": {"weight": 20}, "hog1": {"weight": 20}}, ["--cgroup", "/lab-live:weight=20"]),
}


class SchedAttr(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("policy", ctypes.c_uint32), ("flags", ctypes.c_uint64), ("nice", ctypes.c_int32),
                ("priority", ctypes.c_uint32), ("runtime", ctypes.c_uint64), ("deadline", ctypes.c_uint64), ("period", ctypes.c_uint64)]


# ---- the load

def work(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def hog(end):
    while time.monotonic() < end:
        work(0.001)


def periodic(end, period, busy):
    at = time.monotonic()
    while at < end:
        at += period
        time.sleep(max(0, at - time.monotonic()))
        work(busy)


def asks(end, out, into):
    while time.monotonic() < end:
        time.sleep(0.004)
        os.write(out, b"?")
        os.read(into, 1)
        work(0.0005)


def answers(out, into):
    while os.read(into, 1):
        work(0.0008)
        os.write(out, b"!")


def cgroup_dir():
    for mount in ("/sys/fs/cgroup/cpu", "/sys/fs/cgroup"):
        if os.path.exists(mount + "/cgroup.procs"):
            return mount + "/lab-live"
    return None


def apply(setting):
    os.sched_setaffinity(0, {setting.get("cpu", CPU)})
    os.setpriority(os.PRIO_PROCESS, 0, setting.get("nice", 0))
    if setting.get("slice"):
        attr = SchedAttr(ctypes.sizeof(SchedAttr), 0, 0, 0, 0, setting["slice"], 0, 0)
        if SCHED_SETATTR is None or ctypes.CDLL(None, use_errno=True).syscall(SCHED_SETATTR, 0, ctypes.byref(attr), 0):
            sys.exit("no slices here")


def load(changes, seconds):
    """Fork the tasks and wait for them."""
    there, back = os.pipe(), os.pipe()
    end = time.monotonic() + seconds
    tasks = {"hog0": lambda: hog(end), "hog1": lambda: hog(end), "per5": lambda: periodic(end, 0.005, 0.0006),
             "per12": lambda: periodic(end, 0.012, 0.002), "asks": lambda: asks(end, there[1], back[0]),
             "answers": lambda: answers(back[1], there[0])}
    group, pids = cgroup_dir(), {}
    for name, run in tasks.items():
        pid = os.fork()
        if not pid:
            with open("/proc/self/comm", "w", encoding="ascii") as f:
                f.write(name)
            if name.startswith("hog") and group and os.path.isdir(group):
                with open(group + "/cgroup.procs", "w", encoding="ascii") as f:
                    f.write(str(os.getpid()))
            apply(changes.get(name, {}))
            time.sleep(0.05)
            run()
            os._exit(0)
        pids[name] = pid
    for name, pid in pids.items():
        if name != "answers":
            os.waitpid(pid, 0)
    os.kill(pids["answers"], signal.SIGKILL)


# ---- recording and judging

def set_weight(weight):
    """Return: whether groups can be used."""
    group = cgroup_dir()
    if not group:
        return False
    os.makedirs(group, exist_ok=True)
    for knob, value in (("cpu.shares", weight * 1024 // 100), ("cpu.weight", weight)):
        if os.path.exists(group + "/" + knob):
            with open(group + "/" + knob, "w", encoding="ascii") as f:
                f.write(str(value))
            return True
    return False


def resched(binary, *args):
    run = subprocess.run([binary, *args], capture_output=True, text=True, timeout=300, check=False)
    if run.returncode not in (0, 3):
        raise RuntimeError("%s: %s" % (args, run.stderr[-300:]))
    return run.stdout


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    here = os.path.dirname(os.path.abspath(__file__))
    p.add_argument("--resched", default=os.environ.get("RESCHED", os.path.join(here, "../../build/resched")))
    p.add_argument("--seconds", type=float, default=4)
    p.add_argument("--keep")
    p.add_argument("--load", help=argparse.SUPPRESS)
    args = p.parse_args()
    if args.load:
        load(json.loads(args.load), args.seconds)
        return 0
    if os.geteuid():
        print("skip live: needs root")
        return 0
    folder = args.keep or tempfile.mkdtemp(prefix="resched-live-")
    os.makedirs(folder, exist_ok=True)
    has_groups = set_weight(100)

    def record(name, changes):
        path = os.path.join(folder, name.replace(" ", "-") + ".dat")
        if os.path.exists(path):
            return path
        # The tasks are there first, so that the snapshot has them as they are.
        with subprocess.Popen([sys.executable, os.path.abspath(__file__), "--seconds", str(args.seconds + 2), "--load", json.dumps(changes)]) as run:
            time.sleep(1)
            resched(args.resched, "record", "-q", "-d", "%gs" % args.seconds, "-o", path)
            if run.wait():
                raise RuntimeError("the load of '%s' failed" % name)
        return path

    def report(*what):
        doc = json.loads(resched(args.resched, *what))
        doc["comms"] = [c for c in doc["comms"] if c["comm"] in ("hog0", "hog1", "per5", "per12", "asks", "answers")]
        return doc

    plain, again = record("plain", {}), record("again", {})
    base = report("report", "--json", "-q", plain)
    rows = [("as it is, recorded again", base, report("report", "--json", "-q", again)),
            ("as it is, replayed", report("replay", "--json", "-q", plain), base)]
    for name, (changes, options) in SETTINGS.items():
        weight = next((c["weight"] for c in changes.values() if "weight" in c), None)
        if (weight and not has_groups) or ("affinity" in str(options) and OTHER == CPU):
            print("%-36s not possible here" % name)
            continue
        if weight:
            set_weight(weight)
        path = record(name, changes)
        set_weight(100)
        rows.append((name, report("replay", "--json", "-q", *options, plain), report("report", "--json", "-q", path)))
    print("Linux %s, %g s each; a/b: median and worst of the commands with 50 wakeups; null: that nothing changes" % (platform.release(), args.seconds))
    for name, predicted, recorded in rows:
        got = fidelity.score(predicted, recorded, base)
        line = "%-36s" % name
        for f in ("p50", "p99", "mean", "null_p50", "null_p99"):
            v = [r[f] for r in got if f in r]
            line += "  %s %.2f/%.2f" % (f, statistics.median(v), max(v)) if v else ""
        of = {c["comm"]: c["runtime_ns"] for c in predicted["comms"]}
        v = [fidelity.error(of.get(c["comm"]), c["runtime_ns"]) for c in recorded["comms"]]
        signs = [r[k] for r in got for k in r if k.startswith("sign_")]
        print("%s  runtime %.3f/%.2f%s" % (line, statistics.median(v), max(v), "  signs %d/%d" % (sum(signs), len(signs)) if signs else ""))
    if not args.keep:
        shutil.rmtree(folder)
    if has_groups:
        os.rmdir(cgroup_dir())
    return 0


if __name__ == "__main__":
    sys.exit(main())
