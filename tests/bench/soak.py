#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The daemon under full load: storms of switches, clients that come, ask and die at random, cgroups and tasks that come and go.
soak.py [SECONDS]. Prints what it used and lost; fails when memory or descriptors grow, a trigger is lost, or it dies."""
import collections
import os
import random
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from _reschedd import Daemon, finish	# noqa: E402
from common import WAKELOAD, result, skip	# noqa: E402

CONFIG = """
[recorder]
memory = 160M
keep = 20s
cpu_budget = 25
[snapshots]
before = 2s
after = 500ms
max_count = 10
[socket]
rate = 1000
[watch]
max_cgroups = 64
[trigger wait]
over = 10ms
cooldown = 5s
[trigger jump]
kind = jump
window = 5s
factor = 3
cooldown = 10s
[schedule hourly]
every = 30s
last = 1s
policies = evdf
"""
CHURN = "/sys/fs/cgroup/unified" if os.path.isdir("/sys/fs/cgroup/unified") else "/sys/fs/cgroup"


def process_figures(pid):
    """Resident kB, descriptors, cpu seconds of the daemon."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        rss = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return rss, len(os.listdir(f"/proc/{pid}/fd")), (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def slope(points):
    """Least squares: (x, y) pairs, y per x."""
    n = len(points)
    mean_x, mean_y = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    square = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / square if square else 0


def disturb(daemon, rng, held):
    """One client at random: asks properly, sends junk, or holds on and vanishes later."""
    client = daemon.client()
    client.socket.settimeout(20)
    kind = rng.randrange(7)
    if kind == 0:
        client.ask(rng.choice(["status", "snapshots", "jobs", "metrics", "hello"]))
    elif kind == 1:
        client.send(bytes(rng.randrange(256) for _ in range(rng.randrange(3000))))
    elif kind == 2:
        client.send({"op": "watch", "top": 20})
    elif kind == 3:
        client.send({"op": "whatif", "last_ns": 500000000, "whatif": {"policies": [rng.choice(["evdf", "eevdf", "cfs"])]}})
    elif kind == 4:
        client.send(b'{"v":1,"op":"sta')
    elif kind == 5:
        client.send({"op": "snapshot", "before_ns": 1000000000})
    else:	# one of the oldest: retention is about to remove it
        stored = client.ask("snapshots", last=1000)["snapshots"]
        if stored:
            client.send({"op": "whatif", "snapshot": rng.choice(stored[:3])["number"],
                         "whatif": rng.choice([{"report": "outliers", "policies": ["evdf"]}, {"policies": ["eevdf"]}])})
    if kind >= 2 and len(held) < 12 and rng.random() < 0.7:
        held.append(client)
    else:
        client.close()
    if held and rng.random() < 0.5:
        held.pop(rng.randrange(len(held))).close()


def churn(count):
    """Cgroups that each hold a task for a moment."""
    made = 0
    for i in range(count):
        path = f"{CHURN}/resched-soak-{i}"
        try:
            os.mkdir(path)
        except OSError:
            break
        subprocess.run(["sh", "-c", f"echo $$ >{path}/cgroup.procs; exec true"], stderr=subprocess.DEVNULL, check=False)
        for _ in range(50):
            try:
                os.rmdir(path)
                break
            except OSError:
                time.sleep(0.001)
        made += 1
    return made


def main():
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    if os.geteuid() != 0:
        skip("soak", "recording needs root")
        finish()
    daemon = Daemon(CONFIG, record=True)
    if not daemon.start() or not daemon.status()["recorder"]["recording"]:
        skip("soak", "recording is not possible here: " + daemon.text()[-300:])
        daemon.remove()
        finish()
    rng, held, points, cgroups = random.Random(1), [], [], 0
    began = time.monotonic()
    warm = min(60, seconds / 4)	# until tables and buffers have their size
    loads = []
    next_look, asked, first_cpu = 0, 0, None
    while time.monotonic() - began < seconds and daemon.process.poll() is None:
        now = time.monotonic() - began
        loads = [load for load in loads if load.poll() is None]
        if not loads:	# a storm, then hogs in between, so that waits differ
            loads.append(subprocess.Popen(["nice", WAKELOAD, "-q", *rng.choice([["-m"], ["-m", "-w", "50"], []]), str(min(20, seconds))]))
        disturb(daemon, rng, held)
        asked += 1
        if cgroups < 10000:
            cgroups += churn(rng.randrange(1 + 10000 // seconds * 2))
        if now >= next_look:
            next_look = now + 5
            rss, fds, cpu = process_figures(daemon.process.pid)
            if now >= warm:
                first_cpu = first_cpu if first_cpu is not None else (now, cpu)
                points.append((now, rss, fds - len(held)))
        time.sleep(0.05)
    for client in held:
        client.close()
    for load in loads:
        load.terminate()
        load.wait()
    time.sleep(3)	# what is being taken is stored
    alive = daemon.alive()
    status = daemon.status() if alive else {}
    rss, fds, cpu = process_figures(daemon.process.pid) if alive else (0, 0, 0)
    code = daemon.stop()
    report(daemon, status, points, seconds, asked, cgroups, (cpu - first_cpu[1]) / (time.monotonic() - began - first_cpu[0]) * 100 if first_cpu else 0, fds)
    result(alive and code == 0, "soak: it lived, and ended when asked", daemon.text()[-1000:])
    shutil.rmtree(daemon.dir, ignore_errors=True)
    finish()


def troubles(daemon):
    """Complaints of the log, numbers left out."""
    lines = [re.sub(r"\d+(\.\d+)?", "N", line) for line in daemon.text().splitlines() if re.search("no snapshot|cannot|schedule|what-if|failed", line)]
    return collections.Counter(lines)


def report(daemon, status, points, seconds, asked, cgroups, cpu, fds):
    if not status or len(points) < 3:
        result(False, "soak: figures", daemon.text()[-1000:])
        return
    recorder, firings = status["recorder"], status["firings"]
    half = len(points) // 2
    growth, late = slope([(x, y) for x, y, _ in points]), slope([(x, y) for x, y, _ in points[half:]])
    median = [sorted(y for _, y, _ in part)[len(part) // 2] for part in (points[:half], points[half:])]
    print(f"# {seconds} s, {recorder['events']} events ({recorder['events'] / seconds:.0f} a second), {recorder['lost_events']} lost, backend {recorder['backend']}")
    print(f"# {asked} clients, {cgroups} cgroups made and removed, {status['watch']['cgroups_evicted']} entries of the watch given to others")
    print(f"# RSS {points[0][1]} to {points[-1][1]} kB, slope {growth:+.2f} kB/s, of the second half {late:+.2f}, median of first and second half {median[0]} and {median[1]} kB")
    print(f"# descriptors {points[0][2]} to {points[-1][2]}, at the end {fds}")
    print(f"# cpu {cpu:.1f} % of one, budget {recorder['cpu_budget_percent']} %")
    print(f"# {firings}; {status['triggers']}; store {status['store']}")
    print(f"# what-ifs {status['whatif']}; schedules {status['schedules']}")
    for text, count in troubles(daemon).most_common(20):
        print(f"# {count} times: {text}")
    ends = status["whatif"]
    failures = sum(ends[how] for how in ("failed", "crashed", "too_long", "too_large"))
    told = len(re.findall(r"what-if \d+ (?:failed|crashed|too_long|too_large): ", daemon.text()))
    result(not ends["crashed"] and told == failures, "soak: no worker crashed, and each what-if that failed says why", ends, told,
           *(line for line in daemon.text().splitlines() if " crashed: " in line))
    result(median[1] <= median[0] * 1.05 + 4096, "soak: memory does not grow", median)
    result(fds <= points[0][2] + 8, "soak: no descriptor leaks", points[0], fds)
    taken = firings["fired"] - firings["merged"] - firings["without_snapshot"]
    fired = sum(trigger["fired"] for trigger in status["triggers"])
    result(fired == firings["fired"] and taken >= 1 and not firings["without_snapshot"] and status["store"]["written"] >= taken, "soak: every firing is in a snapshot", firings)
    result(cpu <= recorder["cpu_budget_percent"], "soak: within the cpu budget", f"{cpu:.1f} %")


if __name__ == "__main__":
    main()
