#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""`resched record --backend bpf` on this machine, beside tracefs, and its rows of the kernel's own state."""

import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from common import RESCHED, WAKELOAD, failed, result, skip

WAIT = 120	# seconds for one program
EDGE = 0.003	# seconds at the ends of the common window: an event's two time stamps differ by some us
STRAY = 0.001	# part of the events that one side may lack: on some machines either misses a few while the other does not


def run(*args, **more):
    return subprocess.run([RESCHED, *map(str, args)], capture_output=True, text=True, timeout=WAIT, **more)


LINE = re.compile(r".*?-\d+\s+(\d+)(\D\S+)\s+(\d+\.\d+): (\w+):\s+(.*)")
Event = collections.namedtuple("Event", "cpu context ts name text")


def events(path):
    """Events of `trace-cmd report`; None when it complains."""
    done = subprocess.run(["trace-cmd", "report", "-t", "-l", path], capture_output=True, text=True, errors="replace", timeout=WAIT)
    if done.returncode or done.stderr:
        print("# trace-cmd:", done.returncode, done.stderr[:300])
        return None
    found = []
    for line in done.stdout.splitlines():
        m = LINE.match(line)
        if m:
            flags = m.group(2)
            found.append(Event(int(m.group(1)), flags[2:3].lower().strip("."), float(m.group(3)),
                               m.group(4), m.group(5).strip()))
    return found


def info(path):
    done = run("info", path, "--json")
    return json.loads(done.stdout) if done.returncode in (0, 3) else None


def numbers(text):
    return {key: int(value) for key, value in re.findall(r"(\w+)=(-?\d+)", text)}


# ---- both at the same time

def record_both(folder, detail):
    """The same load in two recordings. Return: their files and its pid."""
    paths = [os.path.join(folder, f"{backend}-{detail}.dat") for backend in ("tracefs", "bpf")]
    recorders = [subprocess.Popen([RESCHED, "record", "--backend", backend, "--detail", detail, "--buffer", "32M", "-o", path],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                 for backend, path in zip(("tracefs", "bpf"), paths)]
    for path, recorder in zip(paths, recorders):	# a file appears when its recording has begun
        while not os.path.exists(path) and recorder.poll() is None:
            time.sleep(0.01)
    load = subprocess.Popen([WAKELOAD, "-q", "0.5"])
    load.wait(timeout=WAIT)
    for recorder in recorders:
        recorder.terminate()
    for recorder in recorders:
        err = recorder.communicate(timeout=WAIT)[1]
        if recorder.returncode != 128 + signal.SIGTERM:
            print("#", err)
            return None, load.pid
    return paths, load.pid


def window(both, pid):
    """From the exec of the load to the exit of its first task, the common part. Others may run such loads beside it."""
    begin, end = 0.0, float("inf")
    for found in both:
        execs = [e for e in found if e.name == "sched_process_exec" and f" pid={pid} " in e.text]
        if not execs:
            return None
        exits = [e.ts for e in found if e.name == "sched_process_exit" and f"pid={pid} " in e.text]
        if not exits:
            return None
        begin, end = max(begin, execs[0].ts), min(end, exits[-1])
    return begin, end


def missing(these, those, span, key):
    """Events of @these inside the window that @those have not."""
    inner = collections.Counter(key(e) for e in these if span[0] + EDGE < e.ts < span[1] - EDGE)
    outer = collections.Counter(key(e) for e in those if span[0] - EDGE < e.ts < span[1] + EDGE)
    return inner - outer, sum(inner.values())


def stretches(found, sums):
    """Run times of each task between switch-in and switch-out, in order: by adding up accounting, or as told."""
    since, told = {}, collections.defaultdict(list)
    for e in found:
        if e.name == ("sched_stat_runtime" if sums else "sched_run"):
            n = numbers(e.text)
            if not sums:
                told[n["pid"]].append((e.ts, n["runtime"]))
            elif n["pid"] in since:
                since[n["pid"]] += n["runtime"]
        elif e.name == "sched_switch" and sums:
            prev, following = re.match(r".*:(\d+) \[\d+\] \S+ ==> .*:(\d+) \[\d+\]", e.text).groups()
            if int(prev) in since:
                told[int(prev)].append((e.ts, since.pop(int(prev))))
            since[int(following)] = 0
    return told


def test_both(folder):
    paths, pid = record_both(folder, "normal")
    both = [events(path) for path in paths] if paths else []
    if not both or None in both:
        result(False, "record bpf beside tracefs: trace-cmd reads both without a complaint")
        return
    result(True, "record bpf beside tracefs: trace-cmd reads both without a complaint")
    span = window(both, pid)
    if not span:
        result(False, "record bpf beside tracefs: both have the load")
        return
    # the two have different ways to tell run times
    same = [[e for e in found if e.name not in ("sched_stat_runtime", "sched_run")] for found in both]
    # ftrace of 6.18 itself misses switches away from idle now and then, also in the text of its file "trace"
    same = [[e for e in found if e.name != "sched_switch" or not e.text.startswith("swapper/")] for found in same]

    def key(e):
        return e.cpu, e.name, e.text

    for name, these, those in ("tracefs has, bpf too", *same), ("bpf has, tracefs too", *reversed(same)):
        lost, of = missing(these, those, span, key)
        result(of > 1000 and sum(lost.values()) <= of * STRAY, f"record bpf beside tracefs: every event that {name}", f"{sum(lost.values())} of {of}",
               *list(lost.items())[:10])
    wakings = [[e for e in found if e.name == "sched_waking"] for found in same]
    lost, of = missing(wakings[0], wakings[1], span, lambda e: (e.cpu, e.text, e.context))
    result(of > 100 and sum(lost.values()) <= of * STRAY, "record bpf: wakeups from interrupts are told apart", f"{sum(lost.values())} of {of}", *list(lost.items())[:10])

    sums, told = stretches(both[0], True), stretches(both[1], False)
    wrong, right = [], 0
    for pid in sums.keys() - {0}:
        mine = [(ts, ns) for ts, ns in sums[pid] if span[0] + EDGE < ts < span[1] - EDGE]
        theirs = [(ts, ns) for ts, ns in told.get(pid, []) if span[0] < ts < span[1]]
        values = collections.Counter(ns for _, ns in theirs)
        for _, ns in mine:
            if values[ns] > 0:
                values[ns] -= 1
                right += 1
            else:
                wrong.append((pid, ns))
    result(right > 500 and len(wrong) <= right * STRAY, "record bpf: run time of each stretch is the sum of its accounting", f"{len(wrong)} wrong, {right} right", wrong[:10])


# ---- whole files

def test_whole(folder, *flags):
    name = " ".join(["record --backend bpf", *flags])
    out = os.path.join(folder, "whole.dat")
    done = run("record", "--backend", "bpf", "-o", out, *flags, "--", WAKELOAD, "-q", "0.3")
    found = events(out) if done.returncode == 0 else None
    result(done.returncode == 0 and found, name + ": trace-cmd reads it without a complaint", done.stderr)
    if not found:
        return []
    told = re.search(r"([\d,]+) events", done.stderr)
    about = info(out)
    counts = dict(collections.Counter(e.name for e in found))
    result(told and int(told.group(1)) == len(found), name + ": as many events as it told", done.stderr, len(found))
    result(about and about["events"] == counts, name + ": resched and trace-cmd count alike", about and about["events"], counts)
    result(not any("<...>" in e.text for e in found), name + ": every task has a name", [e for e in found if "<...>" in e.text][:3])
    return found


def test_detail(folder):
    for detail, has, lacks in (("minimal", (), ("sched_run", "sched_stat_runtime", "sched_truth")),
                               ("normal", ("sched_run", "sched_truth_start"), ("sched_stat_runtime",)),
                               ("precise", ("sched_stat_runtime", "sched_truth_start"), ("sched_run",))):
        names = {e.name for e in test_whole(folder, "--detail", detail)}
        result(names and names >= set(has) and not names & set(lacks), f"record --backend bpf --detail {detail}: which run times", names)


def test_dying(folder):
    """Tasks that have told their end and are in no list any more when the recording begins still switch once."""
    out = os.path.join(folder, "dying.dat")
    storm = [subprocess.Popen(["sh", "-c", "while :; do /bin/true; done"]) for _ in range(4)]
    nameless = []
    try:
        for _ in range(8):
            run("record", "--backend", "bpf", "-o", out, "-d", "0.1")
            listing = subprocess.run(["trace-cmd", "report", out], capture_output=True, text=True, errors="replace", timeout=WAIT).stdout
            nameless += [line for line in listing.splitlines() if "<...>" in line] if listing else ["no listing"]
    finally:
        for child in storm:
            child.kill()
            child.wait()
    result(not nameless, "record --backend bpf: a task that was dying when the recording began has a name", *nameless[:3])


def test_filters(folder):
    out = os.path.join(folder, "filter.dat")
    if os.cpu_count() > 1:
        run("record", "--backend", "bpf", "-o", out, "-C", "1", "--", WAKELOAD, "-q", "0.2")
        cpus = {e.cpu for e in events(out) or []}
        result(cpus == {1}, "record --backend bpf -C keeps to the cpus", cpus)
    load = subprocess.Popen([sys.executable, "-c", "import time\nwhile True: time.sleep(0.01)"])
    run("record", "--backend", "bpf", "-o", out, "-d", "1", "-p", load.pid)
    load.kill()
    load.wait()
    found = events(out) or []
    switches = [e for e in found if e.name == "sched_switch"]
    result(switches and all(f":{load.pid} " in e.text for e in switches), "record --backend bpf -p keeps to the task", found[:5])
    done = run("record", "--backend", "bpf", "-o", out, "-d", "1", "-e", "irq")
    result(done.returncode == 2 and "tracefs" in done.stderr, "record --backend bpf -e is refused", done.returncode, done.stderr)


def test_lost(folder):
    out = os.path.join(folder, "lost.dat")
    done = run("record", "--backend", "bpf", "--truth", "-o", out, "--buffer", "64K", "--", WAKELOAD, "-q", "-m", "0.5")
    about = info(out)
    told = re.search(r"LOST (\d+)", done.stderr)
    result(done.returncode == 0 and told and "--buffer" in done.stderr, "record --backend bpf: lost records are told", done.stderr)
    result(about and told and about["lost_events"] == int(told.group(1)), "record --backend bpf: all lost records can be seen in the file",
           about and about["lost_events"], done.stderr)
    done = subprocess.run(["trace-cmd", "report", out], capture_output=True, text=True, errors="replace", timeout=WAIT)
    result("EVENTS DROPPED" in done.stdout, "record --backend bpf: trace-cmd sees where they were lost", done.stderr[:200])


def test_search(place, nobody, program):
    """With CAP_DAC_READ_SEARCH beside, the kernel's own formats and the scheduler's settings are there; still nothing has to be root's."""
    caps, path = "+bpf,+perfmon,+dac_read_search", os.path.join(place, "y.dat")
    done = subprocess.run([*nobody, "--inh-caps", caps, "--ambient-caps", caps, program, "record", "-o", path, "-d", "0.1"], cwd=place,
                          capture_output=True, text=True, timeout=WAIT)
    about = info(path) if done.returncode == 0 else None
    result(about and "backend bpf: " in done.stderr, "record: works with CAP_BPF, CAP_PERFMON and CAP_DAC_READ_SEARCH alone", done.returncode,
           done.stderr)
    if os.path.exists("/sys/kernel/debug/sched/features"):
        result(about and "features" not in about["unknown"] and about["host"]["features"], "record: CAP_DAC_READ_SEARCH gives the scheduler's settings",
               about and about["unknown"])
    if about:
        st = os.stat(path)
        result(st.st_uid == 65534 and st.st_mode & 0o777 == 0o600, "record: the file is the user's alone", st)


def test_backends(folder):
    out = os.path.join(folder, "auto.dat")
    done = run("record", "-o", out, "-d", "0.1")
    result(done.returncode == 0 and "backend bpf: " in done.stderr, "record: auto says what it took and why", done.stderr)
    done = run("record", "-o", out, "-d", "0.1", "-e", "irq")
    result(done.returncode == 4 or "backend tracefs: " in done.stderr, "record -e: auto takes tracefs and says so", done.stderr)
    done = run("record", "-o", out, "-d", "0.1", "--truth")
    result(done.returncode == 0 and "backend bpf: " in done.stderr, "record --truth: auto takes bpf and says so", done.stderr)
    if not shutil.which("setpriv") or os.geteuid() != 0:
        skip("record --backend bpf: not permitted", "needs root and setpriv")
        return
    place = tempfile.mkdtemp(prefix="resched-e2e-", dir="/tmp")
    os.chmod(place, 0o777)
    program = shutil.copy(RESCHED, place)
    nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    done = subprocess.run([*nobody, program, "record", "--backend", "bpf", "-o", "x.dat", "-d", "0.1"], cwd=place, capture_output=True, text=True,
                          timeout=WAIT)
    result(done.returncode == 4 and "CAP_BPF" in done.stderr and "CAP_PERFMON" in done.stderr, "record --backend bpf: missing capabilities are named",
           done.returncode, done.stderr)
    caps = "+bpf,+perfmon"
    done = subprocess.run([*nobody, "--inh-caps", caps, "--ambient-caps", caps, program, "record", "-o", "x.dat", "-d", "0.1"], cwd=place,
                          capture_output=True, text=True, timeout=WAIT)
    result(done.returncode == 0 and "backend bpf: " in done.stderr, "record: auto takes bpf where only it is permitted", done.returncode, done.stderr)
    if done.returncode == 0:
        result(bool(events(os.path.join(place, "x.dat"))), "record: formats of our own where tracefs cannot be read")
    test_search(place, nobody, program)
    shutil.rmtree(place)


# ---- the kernel's own state

def signed(x):
    x &= (1 << 64) - 1
    return x - (1 << 64) if x >> 63 else x


def scaled(weight):
    return max(2, weight >> 10) if weight else 0


def sums(row):
    """Weighted sum of vruntime - z and of weights, current included."""
    w = scaled(row["curr_weight"])
    return row["sum_wv"] + w * signed(row["curr_vruntime"] - row["z"]), row["sum_w"] + w


def test_truth(folder):
    found = test_whole(folder, "--truth")
    rows = [numbers(e.text) for e in found if e.name == "sched_truth"]
    counts = collections.Counter((row["row"], row["level"]) for row in rows)
    fair = [e for e in found if e.name == "sched_waking" and int(re.search(r"prio=(\d+)", e.text).group(1)) >= 100]
    result(rows and counts[2, 0] == len(fair) and counts[0, 0] and counts[1, 0] and counts[3, 0] and counts[5, 0] and
           any(e.name == "sched_truth_start" for e in found),
           "record --truth: rows of every kind, one a waking", counts, len(fair))
    if not rows or not rows[0]["has"] & 8 or not rows[0]["has"] & 1:
        skip("record --truth: V", "this kernel is not EEVDF")
        return
    # read under the queue's lock, so these hold exactly but for what other cpus' wakeups without the lock read (row 2)
    locked = [row for row in rows if row["row"] in (0, 1) and row["level"] == 0]
    bad = [row for row in locked if abs((row["load"] >> 10) - sums(row)[1]) > row["nr"]]
    result(len(bad) * 1000 <= len(locked), "record --truth: the queue's load is the sum of its weights", f"{len(bad)} of {len(locked)}", bad[:2])

    # a task that left the queue: the stored lag is V before it left, less its vruntime
    good, other = 0, []
    for row in locked:
        if row["row"] == 0 and not row["on_rq"] and row["nr"]:
            total, weight = sums(row)
            w = scaled(row["weight"])
            lag = signed(row["z"] + (total + w * signed(row["vruntime"] - row["z"])) // (weight + w) - row["vruntime"])
            if lag == row["vlag"]:
                good += 1
            else:
                other.append((lag, row))
    # others may have left after it in the same schedule, and a lag beyond the limit is cut
    result(good > 100 and len(other) < good / 10, "record --truth: stored lag is V - vruntime, to the ns", f"{good} good, {len(other)} other",
           *other[:3])

    # a woken task is placed so that it has the lag it had left with
    stored, good, other = {}, 0, []
    for row in rows:
        if row["level"] == 0 and row["row"] == 2:
            stored[row["pid"]] = row
        elif row["level"] == 0 and row["row"] == 3:
            before = stored.pop(row["pid"], None)
            if before and not before["on_rq"] and row["nr"] > 1:
                total, weight = sums(row)
                lag = signed(row["z"] + total // weight - row["vruntime"]) if weight else 0
                if abs(lag - before["vlag"]) <= 2000:
                    good += 1
                else:
                    other.append((lag, before["vlag"], row))
    result(good > 100 and len(other) < good / 10, "record --truth: a woken task has the lag it left with", f"{good} good, {len(other)} other", *other[:3])


def main():
    if not os.access(RESCHED, os.X_OK):
        skip("record bpf", f"no program at {RESCHED}")
        return 0
    with tempfile.TemporaryDirectory(prefix="resched-e2e-") as folder:
        first = run("record", "--backend", "bpf", "-o", os.path.join(folder, "first.dat"), "-d", "0.05")
        if first.returncode or not shutil.which("trace-cmd"):
            skip("record bpf on this machine", first.stderr.strip() if first.returncode else "no trace-cmd")
            return failed()
        if run("record", "--backend", "tracefs", "-o", os.path.join(folder, "first.dat"), "-d", "0.05").returncode == 0:
            test_both(folder)
        else:
            skip("record bpf beside tracefs", "tracefs is not permitted")
        test_detail(folder)
        test_whole(folder, "--compress")
        test_dying(folder)
        test_filters(folder)
        test_lost(folder)
        test_backends(folder)
        test_truth(folder)
    return failed()


if __name__ == "__main__":
    sys.exit(main())
