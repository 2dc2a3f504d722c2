#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""`resched record --ring`: into memory, with snapshots; beside a recording to a file, which knows what is to be in them."""

import collections
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from common import RESCHED, WAKELOAD, failed, result, skip

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import record_select  # noqa: E402

WAIT = 120	# seconds for one program


def run(*args, **more):
    return subprocess.run([RESCHED, *map(str, args)], capture_output=True, text=True, timeout=WAIT, **more)


def info(path):
    done = run("info", path, "--json")
    return json.loads(done.stdout) if done.returncode == 0 else None


LINE = re.compile(r".*?-\d+\s+\[(\d+)\].*? (\d+)\.(\d+): (\w+):\s+(.*)")


def events(path):
    """(ns, cpu, name, text) of `trace-cmd report`; None when it complains."""
    done = subprocess.run(["trace-cmd", "report", "-t", path], capture_output=True, text=True, errors="replace", timeout=WAIT)
    if done.returncode or done.stderr:
        print("# trace-cmd:", done.returncode, done.stderr[:300])
        return None
    found = []
    for line in done.stdout.splitlines():
        m = LINE.match(line)
        if m:
            found.append((int(m[2]) * 10**9 + int(m[3]), int(m[1]), m[4], m[5].strip()))
    return found


def start(*args):
    """A flight recorder that has begun."""
    child = subprocess.Popen([RESCHED, "record", *map(str, args)], stderr=subprocess.PIPE, text=True)
    return child, child.stderr.readline()


def end(child):
    child.send_signal(signal.SIGINT)
    text = child.communicate(timeout=WAIT)[1]
    return child.returncode, text


def line_within(child, pattern, seconds=30):
    """The next line of its output that matches."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        line = child.stderr.readline()
        if not line or re.search(pattern, line):
            return line
    return ""


# ---- complete: beside a recording to a file of the same backend

def switches(found, first, last):
    """Switches in a window by cpu, as who came after whom: two recordings stamp the same one some us apart."""
    chains = collections.defaultdict(list)
    for ns, cpu, name, text in found:
        m = re.match(r".*:(\d+) \[.*==> .*:(\d+) \[", text)
        if name == "sched_switch" and first <= ns <= last and m:
            chains[cpu].append(m.groups())
    return chains


def is_part(inner, outer):
    """Is the one list a stretch of the other, without a gap?"""
    if not inner:
        return True
    starts = [i for i, x in enumerate(outer) if x == inner[0]]
    return any(outer[i:i + len(inner)] == inner for i in starts)


def test_complete(folder, backend):
    name = f"record --ring --backend {backend}"
    whole, path = os.path.join(folder, f"whole-{backend}.dat"), os.path.join(folder, f"flight-{backend}.dat")
    beside, _ = start("--backend", backend, "--buffer", "32M", "-o", whole)
    flight, told = start("--backend", backend, "--buffer", "32M", "--ring", "64M", "--before", "400ms", "-o", path)
    result("memory" in told and "USR2" in told, f"{name}: says what it does and how to ask", told)
    load = subprocess.Popen([WAKELOAD, "-q", "2.5"])
    time.sleep(1)
    asked = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    flight.send_signal(signal.SIGUSR2)
    line = line_within(flight, "SIGUSR2")
    load.wait()
    rc, text = end(flight)
    beside.send_signal(signal.SIGINT)
    beside.communicate(timeout=WAIT)
    result(rc == 130 and f"{path}: end" in text, f"{name}: ends with a snapshot", rc, text)
    one = os.path.join(folder, f"flight-{backend}.1.dat")
    result(os.path.exists(one) and "none lost" in line, f"{name}: SIGUSR2 takes one", line)
    result(all(os.stat(p).st_mode & 0o777 == 0o600 for p in (one, path)), f"{name}: snapshots are private")
    inner, outer, last = events(one), events(whole), events(path)
    result(inner is not None and last is not None, f"{name}: trace-cmd reads snapshots")
    if not inner or not outer or not last:
        return
    span = inner[-1][0] - inner[0][0]
    result(abs(span - 400_000_000) < 200_000_000 and inner[-1][0] > asked - 200_000_000, f"{name}: the window is what was asked for", span)
    got, all_of_it = switches(inner, inner[0][0], inner[-1][0]), switches(outer, 0, 1 << 62)
    bad = [cpu for cpu in got if not is_part(got[cpu], all_of_it[cpu])]
    result(sum(map(len, got.values())) > 100 and not bad, f"{name}: no switch of the window is missing", bad)
    both = {e for e in last if inner[0][0] <= e[0] <= inner[-1][0]}
    result(both == set(inner), f"{name}: a later snapshot holds the same events again", len(both), len(inner))
    facts = info(one)
    result(facts and facts["lost_events"] == 0 and not facts["warnings"] and facts["host"]["tasks"], f"{name}: has a host snapshot inside", facts and facts["warnings"])


# ---- bounded

def rss_kb(pid):
    with open(f"/proc/{pid}/smaps_rollup") as f:
        return int(re.search(r"Anonymous:\s+(\d+)", f.read())[1])


def test_bounded(folder):
    path = os.path.join(folder, "bounded.dat")
    flight, _ = start("--ring", "4M", "-o", path)
    load = subprocess.Popen([WAKELOAD, "-m", "-q", "60"])
    seen = []
    for _ in range(12):
        time.sleep(0.25)
        seen.append(rss_kb(flight.pid))
        if len(seen) % 4 == 0:
            flight.send_signal(signal.SIGUSR2)
            line_within(flight, "SIGUSR2")
    load.kill()
    load.wait()
    rc, text = end(flight)
    turns = int(re.search(r"(\d+) events in", text.splitlines()[-1])[1]) * 40 / (4 << 20)
    result(rc == 130 and turns > 5, "record --ring: the ring turned many times", text, turns)
    # 4 MiB, as much again while a snapshot is written, and what the recorder itself needs: steady from the first turn on
    result(max(seen) < seen[1] + 6144, "record --ring: memory is flat over many turns of the ring", seen)
    sizes = [os.stat(os.path.join(folder, f)).st_size for f in os.listdir(folder) if f.startswith("bounded")]
    result(len(sizes) == 4 and max(sizes) < 6 << 20, "record --ring: snapshots hold what the memory held", sizes)
    kept = info(path)
    result(kept is not None and kept["lost_events"] == 0, "record --ring: what was dropped is no loss", kept and kept["lost_events"])


def test_keep(folder):
    path = os.path.join(folder, "keep.dat")
    done = run("record", "--keep", "300ms", "-o", path, "--", WAKELOAD, "-q", "2")
    kept = info(path)
    # chunks of memory are dropped as a whole, so that a bit more is kept
    result(done.returncode == 0 and kept and 250_000_000 < kept["span_ns"] < 1_500_000_000, "record --keep: holds the last part only", done.stderr, kept)
    result(run("record", "--ring", "16M", "-o", path, "--", "sh", "-c", "exit 7").returncode == 7, "record --ring: the command's exit status")
    compressed = os.path.join(folder, "packed.dat")
    done = run("record", "--ring", "16M", "--compress", "-o", compressed, "--", WAKELOAD, "-q", "0.5")
    packed = info(compressed)
    result(done.returncode == 0 and packed and packed["lost_events"] == 0 and events(compressed), "record --ring --compress: snapshots are compressed",
           done.stderr)


# ---- changes of the host

def test_changes(folder):
    """What changes of the host is in the snapshots of the time in which it did."""
    path = os.path.join(folder, "changes.dat")
    task = subprocess.Popen(["sleep", "600"], start_new_session=True)
    flight, _ = start("--ring", "16M", "--before", "20s", "-o", path)
    os.setpriority(os.PRIO_PROCESS, task.pid, 7)
    row, taken = None, 0
    until = time.monotonic() + 60
    while not row and time.monotonic() < until:     # it looks every two seconds or more
        flight.send_signal(signal.SIGUSR2)
        if not line_within(flight, "SIGUSR2"):
            break
        taken += 1
        facts = info(os.path.join(folder, f"changes.{taken}.dat")) or {"host": {}}
        row = next((r for r in facts["host"].get("changes", []) if r.get("pid") == task.pid and r["what"] == "nice"), None)
    end(flight)
    task.kill()
    task.wait()
    result(row and (row["from"], row["to"]) == ("0", "7") and row["after_ns"] < row["until_ns"], "record --ring: a snapshot has the changes of its time", row, taken)


# ---- triggers

def test_triggers(folder):
    path = os.path.join(folder, "trigger.dat")
    done = run("record", "--ring", "64M", "--trigger", "run_delay comm=hog* > 1ms", "--before", "150ms", "--after", "80ms", "--max-snapshots", "2",
               "-o", path, "--", "sh", "-c", f"sleep 0.5; exec {WAKELOAD} -q 20")
    lines = re.findall(r"trigger\.(\d)\.dat: run_delay .* hog", done.stderr)
    result(lines == ["1", "2"] and not os.path.exists(path), "record --trigger: two snapshots of waits, then the end", done.returncode, done.stderr)
    two = os.path.join(folder, "trigger.2.dat")
    found = events(two) if os.path.exists(two) else None
    if found:
        m = re.search(r"trigger\.2\.dat: run_delay ([\d.]+) ms: (\S+)\[(\d+)\] on cpu (\d+)", done.stderr)
        ms, pid, cpu = float(m[1]), int(m[3]), int(m[4])
        waits = run("report", two, "--json", "-p", pid)
        longest = max((t["run_delay_ns"]["max"] for t in json.loads(waits.stdout)["tasks"]), default=0) / 1e6
        result(longest >= ms * 0.99, "record --trigger: the wait is in its snapshot", longest, ms)
        ends = [e[0] for e in found if e[1] == cpu and e[2] == "sched_switch" and re.search(rf"==> .*:{pid} \[", e[3])]
        result(any(found[0][0] + 140e6 < at and at + 70e6 < found[-1][0] for at in ends), "record --trigger: with the time before and after",
               [(at - found[0][0], found[-1][0] - at) for at in ends], ms)
    done = run("record", "--trigger", "exec comm=true", "--before", "50ms", "--after", "50ms", "--max-snapshots", "1", "-o", path,
               "--", "sh", "-c", "sleep 0.5; true; /bin/true; sleep 20")
    result("trigger.3.dat: exec: true[" in done.stderr, "record --trigger exec: a program that starts", done.stderr)
    for rule, word in (("run_dely > 1ms", "cannot be read"), ("run_delay > 1", "cannot be read"), ("exec comm=a > 1ms", "cannot be read"),
                       ("psi_cpu comm=x > 1ms", "cannot be read"), ("run_delay 5ms", "cannot be read")):
        done = run("record", "--trigger", rule, "-o", path, "true")
        result(done.returncode == 2 and word in done.stderr, f"record --trigger '{rule}': refused", done.returncode, done.stderr)
    done = run("record", "--trigger", "psi_cpu > 20ms/2s", "--max-snapshots", "1", "--after", "10ms", "-o", path, "--", WAKELOAD, "-q", "15")
    if "psi" in done.stderr and "boot it" in done.stderr or "may not watch" in done.stderr or "refuses" in done.stderr:
        skip("record --trigger psi_cpu", done.stderr.strip().splitlines()[-1])
    else:
        result("psi_cpu: tasks waited" in done.stderr, "record --trigger psi_cpu: pressure", done.stderr)


# ---- keys

def read_until(fd, text, seconds=30):
    seen, until = "", time.monotonic() + seconds
    while text not in seen and time.monotonic() < until:
        if select.select([fd], [], [], 0.2)[0]:
            try:
                seen += os.read(fd, 4096).decode(errors="replace")
            except OSError:	# the other end is closed
                break
    return seen


def test_keys(folder):
    path = os.path.join(folder, "keys.dat")
    pid, fd = pty.fork()
    if not pid:
        os.execv(RESCHED, [RESCHED, "record", "--ring", "8M", "-o", path])
    told = read_until(fd, "key s")
    os.write(fd, b"s")
    told += read_until(fd, "keys.1.dat: key;")
    os.write(fd, b"q")
    told += read_until(fd, "cpu time")
    rc = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(fd)
    result(rc == 130 and "keys.1.dat: key;" in told and "keys.dat: end;" in told, "record --ring: keys on a terminal", rc, told)


# ---- selection

def test_cgroup(folder):
    name, path = "record --ring --cgroup", os.path.join(folder, "cgroup.dat")
    made = record_select.make_cgroup()
    if not made:
        return skip(name, "no cgroup can be made here")
    inside, later, other = (record_select.sleeper(comm, folder) for comm in ("fl-in", "fl-later", "fl-out"))
    try:
        record_select.join(made[0], inside)
        flight, _ = start("--ring", "8M", "--cgroup", made[1], "-o", path)
        record_select.join(made[0], later)
        time.sleep(2)
        rc, text = end(flight)
    finally:
        for process in inside, later, other:
            record_select.end(process)
        for _ in range(100):
            try:
                os.rmdir(made[0])
                break
            except OSError:
                time.sleep(0.05)
    pairs = record_select.switched(path)[0]
    pids = {pid for pair in pairs for pid in pair}
    result(rc == 130 and inside.pid in pids, f"{name}: follows its tasks", rc, text, pids)
    result(later.pid in pids, f"{name}: follows who joins", later.pid, pids)
    result(not any(set(pair) == {0, other.pid} for pair in pairs), f"{name}: leaves others out", other.pid)


# ---- what goes wrong

def test_failures(folder):
    done = run("record", "--ring", "16M", "-o", os.path.join(folder, "no/such/x.dat"), "true")
    result(done.returncode == 1 and "no/such" in done.stderr, "record --ring: a folder that is not there is told at once", done.stderr)
    result(run("record", "--ring", "4K", "true").returncode == 2, "record --ring: too small")
    small = os.path.join(folder, "small")
    os.mkdir(small)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", small], capture_output=True).returncode:
        return skip("record --ring: full disk", "may not mount")
    try:
        path = os.path.join(small, "x.dat")
        flight, _ = start("--ring", "16M", "-o", path)
        subprocess.run([WAKELOAD, "-q", "1"], check=True)
        flight.send_signal(signal.SIGUSR2)
        line = line_within(flight, "snapshot")
        result("no space" in line and os.listdir(small) == [], "record --ring: a full disk is told and leaves nothing", line, os.listdir(small))
        subprocess.run(["mount", "-o", "remount,size=64m", small], check=True)
        flight.send_signal(signal.SIGUSR2)
        line = line_within(flight, "SIGUSR2")
        rc, text = end(flight)
        kept = info(path)
        result("none lost" in line and kept and rc == 1, "record --ring: goes on after a full disk", line, rc, text)
    finally:
        subprocess.run(["umount", small], check=True)


def main():
    if os.geteuid():
        skip("record --ring", "needs root")
        return 0
    folder = tempfile.mkdtemp(prefix="resched-flight-")
    try:
        probe = run("record", "--ring", "8M", "-o", os.path.join(folder, "probe.dat"), "true")
        if probe.returncode == 4:
            skip("record --ring", probe.stderr.strip())
            return 0
        test_keep(folder)
        test_bounded(folder)
        test_changes(folder)
        test_triggers(folder)
        test_keys(folder)
        test_cgroup(folder)
        test_failures(folder)
        if not shutil.which("trace-cmd"):
            skip("record --ring: complete", "trace-cmd is not installed")
        else:
            for backend in ("tracefs", "bpf"):
                done = run("record", "--ring", "8M", "--backend", backend, "-o", os.path.join(folder, "probe.dat"), "true")
                if done.returncode:
                    skip(f"record --ring --backend {backend}", done.stderr.strip())
                else:
                    test_complete(folder, backend)
    finally:
        shutil.rmtree(folder)
    return failed()


if __name__ == "__main__":
    sys.exit(main())
