#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What `resched record` leaves out (names, cgroups), where it stops (size, space, a share of a cpu), what it gives up (capabilities)
and what it tells of a host that changed meanwhile. Needs root; each backend that cannot record here is skipped."""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

from common import RESCHED, WAKELOAD, failed, result, skip

WAIT = 120


def run(*args, **more):
    return subprocess.run([RESCHED, *map(str, args)], capture_output=True, text=True, timeout=WAIT, **more)


def info(path):
    done = run("info", path, "--json")
    return json.loads(done.stdout) if done.returncode in (0, 3) and done.stdout else None


def switched(path):
    """Pairs of pids of every sched_switch, and the name of each pid."""
    done = run("export", "--format", "text", path, "-o", "-")
    pairs, names = [], {}
    for m in re.finditer(r"sched_switch: prev_comm=(.*?) prev_pid=(\d+) .*? next_comm=(.*?) next_pid=(\d+) ", done.stdout):
        pairs.append((int(m.group(2)), int(m.group(4))))
        names[int(m.group(2))], names[int(m.group(4))] = m.group(1), m.group(3)
    return pairs, names


def sleeper(name, folder):
    """A program of that name that wakes up often."""
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\nwhile :; do sleep 0.01; done\n")
    os.chmod(path, 0o755)
    return subprocess.Popen([path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


def end(process):
    os.killpg(process.pid, 9)
    process.wait()


def test_comm(folder, backend):
    name = f"record --backend {backend} --comm"
    out = os.path.join(folder, "comm.dat")
    early, other = sleeper("rs-early", folder), sleeper("xx-other", folder)
    time.sleep(0.2)
    recorder = subprocess.Popen([RESCHED, "record", "-q", "--backend", backend, "--comm", "rs-[e-l]*", "-d", "1.5", "-o", out],
                                stderr=subprocess.PIPE, text=True)
    for _ in range(500):	# it appears when recording begins
        if os.path.exists(out) or recorder.poll() is not None:
            break
        time.sleep(0.01)
    late = sleeper("rs-late", folder)
    err = recorder.communicate(timeout=WAIT)[1]
    for process in early, other, late:
        end(process)
    pairs, names = switched(out)
    pids = {pid for pid, comm in names.items() if comm == "sleep"} | {early.pid, late.pid}
    result(recorder.returncode == 0 and any(early.pid in pair for pair in pairs), name + " follows a task of that name", err, pairs[:5])
    result(any(comm == "sleep" for comm in names.values()), name + " follows what it forks", names)
    result(not any(other.pid in pair and not pids & set(pair) for pair in pairs), name + " leaves others out")
    if backend == "bpf":
        result(any(late.pid in pair for pair in pairs), name + " follows who takes such a name later", late.pid, names)
    done = run("record", "--backend", backend, "--comm", "no-such-name", "-d", "0.1", "-o", out)
    if backend == "tracefs":
        result(done.returncode == 2 and "no-such-name" in done.stderr, name + " of nobody is refused", done.stderr)
    else:
        about = info(out)
        result(done.returncode == 0 and about and about["events"].get("sched_switch", 0) == 0, name + " of nobody waits for one", about and about["events"])


TREE = """import subprocess, sys, threading, time
def work():
    while True:
        time.sleep(0.01)
thread = threading.Thread(target=work, daemon=True)
thread.start()
print(thread.native_id, flush=True)
sys.stdin.readline()
child = subprocess.Popen([sys.executable, "-c", "import time\\nwhile True: time.sleep(0.01)"], stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
work()
"""


def test_process(folder, backend):
    """All threads of a process and what it forks later; a thread alone is itself."""
    name = f"record --backend {backend} -p"
    for lead in (True, False):
        out = os.path.join(folder, "process.dat")
        task = subprocess.Popen([sys.executable, "-c", TREE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
        thread = int(task.stdout.readline())
        recorder = subprocess.Popen([RESCHED, "record", "-q", "--backend", backend, "-p", str(task.pid if lead else thread), "-o", out],
                                    stderr=subprocess.PIPE, text=True)
        for _ in range(500):	# it appears when recording begins
            if os.path.exists(out) or recorder.poll() is not None:
                break
            time.sleep(0.01)
        print(file=task.stdin, flush=True)
        child = int(task.stdout.readline())	# told once it has run
        time.sleep(0.2)
        recorder.terminate()
        err = recorder.communicate(timeout=WAIT)[1]
        pairs = switched(out)[0]
        seen = {pid for pair in pairs for pid in pair}
        end(task)
        if lead:
            result({task.pid, thread, child} <= seen, f"{name}: a process with all its threads and its children", seen, err)
        else:
            result(pairs and all(thread in pair for pair in pairs), f"{name}: a thread is itself alone", pairs[:5], (task.pid, thread, child), err)
        os.unlink(out)


def make_cgroup():
    """A cgroup of our own, in any hierarchy. Return: its folder and its path there; None."""
    for mount in "/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/cpu":
        path = f"/resched-test-{os.getpid()}"
        if not os.path.exists(mount + "/cgroup.procs"):
            continue
        try:
            os.mkdir(mount + path)
        except OSError:
            continue
        return mount + path, path
    return None


def join(folder, process):
    with open(folder + "/cgroup.procs", "w", encoding="ascii") as procs:
        procs.write(str(process.pid))


def test_cgroup(folder, backend):
    name = f"record --backend {backend} --cgroup"
    out = os.path.join(folder, "cgroup.dat")
    done = run("record", "--backend", backend, "--cgroup", "/no/such/group", "-d", "0.1", "-o", out)
    result(done.returncode == 2 and "/no/such/group" in done.stderr, name + " of none is refused", done.stderr)
    made = make_cgroup()
    if not made:
        skip(name, "no cgroup can be made here")
        return
    inside, later, other = (sleeper(comm, folder) for comm in ("cg-in", "cg-later", "cg-out"))
    try:
        join(made[0], inside)
        recorder = subprocess.Popen([RESCHED, "record", "-q", "--backend", backend, "--cgroup", made[1], "-d", "2.5", "-o", out],
                                    stderr=subprocess.PIPE, text=True)
        for _ in range(500):
            if os.path.exists(out) or recorder.poll() is not None:
                break
            time.sleep(0.01)
        join(made[0], later)
        err = recorder.communicate(timeout=WAIT)[1]
    finally:
        for process in inside, later, other:
            end(process)
        for _ in range(100):
            try:
                os.rmdir(made[0])
                break
            except OSError:
                time.sleep(0.05)
    pairs, names = switched(out)
    seen = {pid for pair in pairs for pid in pair}
    result(recorder.returncode == 0 and inside.pid in seen, name + " follows its tasks", err, names)
    result(later.pid in seen, name + " follows who joins", later.pid, names)
    result(not any(set(pair) == {0, other.pid} for pair in pairs), name + " leaves others out")


def test_size(folder, backend):
    name = f"record --backend {backend} --max-size"
    out = os.path.join(folder, "size.dat")
    done = run("record", "--backend", backend, "--max-size", "2M", "-o", out, "-d", "20", "--", WAKELOAD, "-q", "-m", "20")
    about = info(out)
    result(done.returncode in (0, 128 + 15) and "--max-size" in done.stderr and os.path.getsize(out) <= 2 << 20 and about and sum(about["events"].values()) > 1000,
           name + " stops in time with a whole file", done.returncode, done.stderr, os.path.getsize(out))
    done = run("record", "--backend", backend, "--max-size", "10K", "-o", out, "-d", "1")
    result(done.returncode == 2 and "too small" in done.stderr, name + " that holds nothing is refused", done.stderr)


def test_space(folder, backend):
    out = os.path.join(folder, "space.dat")
    done = run("record", "--backend", backend, "--min-free", "900000G", "-o", out, "-d", "20")
    result(done.returncode == 1 and "No space left" in done.stderr and info(out), f"record --backend {backend} --min-free stops with a whole file", done.stderr)


def test_budget(folder, backend):
    name = f"record --backend {backend} --cpu-budget"
    out = os.path.join(folder, "budget.dat")
    done = run("record", "--backend", backend, "--cpu-budget", "0.01%", "-o", out, "-d", "30", "--", WAKELOAD, "-q", "-m", "30")
    result("to stay within 0.01 % of a cpu" in done.stderr and "even the least costs more" in done.stderr and info(out),
           name + " leaves out what is optional, then stops, and says so", done.returncode, done.stderr)
    for text in "0", "-1%", "200%", "x":
        done = run("record", "--cpu-budget", text, "-o", out, "-d", "1")
        result(done.returncode == 2, f"record --cpu-budget {text} is refused", done.stderr)


def test_caps(folder, backend):
    out = os.path.join(folder, "caps.dat")
    recorder = subprocess.Popen([RESCHED, "record", "-q", "--backend", backend, "-d", "30", "-o", out], stderr=subprocess.PIPE, text=True)
    for _ in range(500):
        if os.path.exists(out) or recorder.poll() is not None:
            break
        time.sleep(0.01)
    caps = {}
    for _ in range(100):	# the file appears just before
        caps = {}
        for tid in os.listdir(f"/proc/{recorder.pid}/task"):
            with open(f"/proc/{recorder.pid}/task/{tid}/status", encoding="ascii", errors="replace") as file:
                caps[tid] = int(re.search(r"^CapPrm:\s+(\w+)", file.read(), re.M).group(1), 16)
        if not any(value & ~(1 << 5) for value in caps.values()):
            break
        time.sleep(0.02)
    recorder.terminate()
    err = recorder.communicate(timeout=WAIT)[1]
    result(len(caps) > 1 and not any(value & ~(1 << 5) for value in caps.values()), f"record --backend {backend} gives its capabilities up",
           {tid: hex(value) for tid, value in caps.items()}, err)
    result(recorder.returncode == 128 + 15 and info(out), f"record --backend {backend} ends well without them", recorder.returncode, err)


def test_changes(folder, backend):
    out = os.path.join(folder, "changes.dat")
    task = sleeper("changing", folder)
    recorder = subprocess.Popen([RESCHED, "record", "--backend", backend, "-d", "1.5", "-o", out], stderr=subprocess.PIPE, text=True)
    for _ in range(500):
        if os.path.exists(out) or recorder.poll() is not None:
            break
        time.sleep(0.01)
    os.setpriority(os.PRIO_PROCESS, task.pid, 7)
    os.sched_setaffinity(task.pid, {0})
    late = subprocess.Popen(["sleep", "4242"], stdout=subprocess.DEVNULL, start_new_session=True)
    err = recorder.communicate(timeout=WAIT)[1]
    end(task)
    end(late)
    rows = {(row.get("pid"), row["what"]): row for row in ((info(out) or {}).get("host") or {}).get("changes", [])}
    nice = rows.get((task.pid, "nice"), {})
    result(nice.get("from") == "0" and nice.get("to") == "7" and nice["after_ns"] < nice["until_ns"],
           f"record --backend {backend}: a change has a row with its time", rows)
    result(rows.get((late.pid, "cmdline"), {}).get("to") == "sleep 4242", f"record --backend {backend}: the command line of a program started meanwhile",
           rows)
    warnings = "\n".join((info(out) or {}).get("warnings", []))
    result(f"nice of 1 task changed during the recording (pid {task.pid} 'changing': {os.getpriority(os.PRIO_PROCESS, 0)} to 7)" in err + warnings and "nice of" in warnings,
           f"record --backend {backend}: a change of nice is told and kept in the file", err, warnings)
    result(os.cpu_count() == 1 or "affinity of 1 task changed" in warnings, f"record --backend {backend}: a change of affinity too", warnings)


def test_changes_coded(folder, backend):
    """Changes are kept by --anonymize, but for what they would give away."""
    out = os.path.join(folder, "coded.dat")
    task = sleeper("changing", folder)
    recorder = subprocess.Popen([RESCHED, "record", "-q", "--anonymize", "--backend", backend, "-d", "1.5", "-o", out], stderr=subprocess.PIPE, text=True)
    for _ in range(500):
        if os.path.exists(out) or recorder.poll() is not None:
            break
        time.sleep(0.01)
    os.setpriority(os.PRIO_PROCESS, task.pid, 7)
    late = subprocess.Popen(["sleep", "4242"], stdout=subprocess.DEVNULL, start_new_session=True)
    recorder.communicate(timeout=WAIT)
    end(task)
    end(late)
    whats = {(row.get("pid"), row["what"]) for row in ((info(out) or {}).get("host") or {}).get("changes", [])}
    with open(out, "rb") as file:
        raw = file.read()
    result((task.pid, "nice") in whats and all(what != "cmdline" for _, what in whats) and b"sleep 4242" not in raw,
           f"record --backend {backend} --anonymize: changes are kept without command lines", whats)


def test_slow(folder, backend):
    name = f"record --backend {backend} --slower-than"
    out = os.path.join(folder, "slow.dat")
    if backend == "tracefs":
        done = run("record", "--backend", backend, "--slower-than", "5ms", "-o", out, "-d", "1")
        result(done.returncode == 2 and "bpf" in done.stderr, name + " is refused", done.stderr)
        return
    done = run("record", "--backend", backend, "--slower-than", "1000s", "-o", out, "--", WAKELOAD, "-q", "0.3")
    about = info(out)
    result(done.returncode == 0 and about and not about["events"].get("sched_switch") and about["events"].get("sched_process_fork"),
           name + " leaves out what is fast", done.stderr, about and about["events"])
    result(about and any("only wakeups slower than" in line for line in about["warnings"]), name + " is told by the file", about and about["warnings"])
    done = run("record", "--backend", backend, "--slower-than", "200us", "-o", out, "--", WAKELOAD, "-q", "0.5")
    told = json.loads(run("report", "--json", out).stdout or "{}")
    waits = told.get("totals", {}).get("wakeup_latency_ns", {})
    result(done.returncode == 0 and waits.get("count", 0) > 0 and waits.get("max", 0) >= 200000, name + " keeps what is slow", done.stderr, waits)


def main():
    if not os.access(RESCHED, os.X_OK):
        skip("record selections", f"no program at {RESCHED}")
        return 0
    with tempfile.TemporaryDirectory(prefix="resched-e2e-") as folder:
        for backend in "tracefs", "bpf":
            first = run("record", "--backend", backend, "-o", os.path.join(folder, "first.dat"), "-d", "0.05")
            if first.returncode:
                skip(f"record selections, {backend}", first.stderr.strip())
                continue
            for test in test_comm, test_process, test_cgroup, test_size, test_space, test_budget, test_caps, test_changes, test_changes_coded, test_slow:
                for name in os.listdir(folder):	# each waits for its file to appear
                    if name.endswith(".dat"):
                        os.unlink(os.path.join(folder, name))
                test(folder, backend)
    return failed()


if __name__ == "__main__":
    sys.exit(main())
