#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""reschedd as it is meant to run: it records this machine, a load makes somebody wait, and the snapshot, its cause and the what-if are
found through the socket, the CLI and the views. Needs root and a kernel that may be traced; else it is skipped with the reason."""
import json
import os
import signal
import subprocess
import tempfile
import time

from _reschedd import WAIT, Daemon, finish, wait_for
from common import RESCHED, WAKELOAD, result, skip

SPIKE = """
[recorder]
memory = 16M
keep = 20s
[snapshots]
before = 1s
after = 300ms
[trigger spike]
kind = threshold
over = 4ms
comm = worker
cooldown = 5s
[schedule often]
every = 10s
last = 1s
policies = evdf
"""


def load(seconds):
    return subprocess.Popen([WAKELOAD, "-q", str(seconds)])


def first_snapshot(daemon, explained=False):
    """Number of the first snapshot that was triggered, 0 while there is none."""
    for snapshot in daemon.ask("snapshots", last=1000)["snapshots"]:
        if snapshot["triggers"]:
            if not explained or daemon.ask("show", snapshot=snapshot["number"])["snapshot"].get("outliers"):
                return snapshot["number"]
    return 0


def test_spike(daemon):
    watcher = daemon.client()
    watcher.send({"id": 9, "op": "watch", "top": 3})
    running = load(4)
    number = wait_for(lambda: first_snapshot(daemon, True))
    running.wait()
    result(number, "spike: a snapshot, with its cause", daemon.text()[-1500:])
    if not number:
        return
    shown = daemon.ask("show", snapshot=number)
    snapshot = shown["snapshot"]
    firing = snapshot["triggers"][0]
    result(firing["trigger"] == "spike" and firing["comm"] == "worker" and firing["value_ns"] > 4000000, "spike: the trigger is told", firing)
    begin = firing["at_ns"] - firing["value_ns"]
    result(snapshot["from_ns"] <= begin and snapshot["to_ns"] >= firing["at_ns"] and snapshot["lost_events"] == 0,
           "spike: the window holds the wait, whole", snapshot)
    done = subprocess.run([RESCHED, "outliers", "--json", "--top", "5", shown["file"]], capture_output=True, text=True, timeout=WAIT, check=False)
    own = json.loads(done.stdout)["outliers"] if done.returncode == 0 else []
    result(own and snapshot["outliers"] == own, "spike: its causes are those that resched outliers finds in the file",
           done.stderr, [(a, b) for a, b in zip(own, snapshot["outliers"]) if a != b][:1])
    done = subprocess.run([RESCHED, "outliers", "--json", "--comm", "worker", "--over", "4ms", "--top", "1000", shown["file"]], capture_output=True, text=True,
                          timeout=WAIT, check=False)
    found = [o for o in json.loads(done.stdout)["outliers"] if o["pid"] == firing["pid"] and o["run_ns"] == firing["at_ns"]]
    result(len(found) == 1 and found[0]["latency_ns"] == firing["value_ns"] and found[0]["cause"]["code"],
           "spike: the wait that fired is in the file, as long, with a cause", found)
    done = daemon.ctl("show", number)
    result(done.returncode == 0 and "trigger spike" in done.stdout and snapshot["outliers"][0]["cause"]["code"] in done.stdout, "spike: resched ctl show", done)
    done = daemon.ctl("snapshots")
    result(done.returncode == 0 and "worker" in done.stdout, "spike: resched ctl snapshots", done)
    answer = daemon.ask("whatif", snapshot=number, whatif={"policies": ["evdf"]})
    result(answer["ok"] and answer["report"]["labels"] == ["recorded", "evdf"], "spike: what evdf would have done, through the socket", answer)
    done = daemon.ctl("whatif", number, "--policy", "evdf")
    result(done.returncode == 0 and "worker" in done.stdout and "evdf" in done.stdout, "spike: and through the CLI", done)
    test_views(daemon, shown["file"])
    lines = [watcher.line() for _ in range(8)]
    events = [line["event"] for line in lines]
    result("sample" in events and {"trigger", "snapshot"} <= set(events + [watcher.line()["event"] for _ in range(8)]), "watch: samples, triggers, snapshots", events)
    watcher.close()


def test_views(daemon, file):
    with tempfile.TemporaryDirectory() as folder:
        screen = os.path.join(folder, "screen.txt")
        with open(os.path.join(folder, "keys"), "w", encoding="ascii") as keys:
            keys.write(f"wait\n3\nwait\n:save-screen {screen}\nq\n")
        env = {**os.environ, "TERM": "xterm", "LINES": "40", "COLUMNS": "120", "HOME": folder}
        done = subprocess.run([RESCHED, "tui", "--keys", os.path.join(folder, "keys"), file], capture_output=True, text=True, timeout=WAIT, env=env, check=False)
        text = ""
        if os.path.exists(screen):
            with open(screen, encoding="utf-8") as saved:
                text = saved.read()
        result(done.returncode == 0 and "LATENCY" in text and daemon.alive(), "spike: the views open the snapshot and show its outliers", done, text[:600])


def test_present(daemon):
    running = load(3)
    seen = daemon.status()["recorder"]["events"]
    wait_for(lambda: daemon.status()["recorder"]["events"] > seen + 20000)	# something to replay
    answer = daemon.ask("whatif", last_ns=800000000, whatif={"report": "report", "policies": ["eevdf"]})
    result(answer["ok"] and answer["report"]["schema"] == "resched/report/1", "present: a what-if about the last 0.8 s", str(answer)[:500])
    done = daemon.ctl("snapshot", "by hand", "--before", "500ms", "--after", "300ms")
    result(done.returncode == 0 and "by hand" in done.stdout, "present: a snapshot by hand", done)
    running.wait()
    left = [name for name in os.listdir(daemon.store) if name.startswith("scratch") or ".new" in name]
    result(not left, "present: nothing of the moment is left in the store", left)
    text = daemon.ask("metrics")["text"]
    count = [line for line in text.splitlines() if line.startswith('resched_wakeup_latency_seconds_count{cgroup="(host)"}')]
    result(count and int(count[0].split()[-1]) > 100 and 'resched_triggers_total{trigger="spike"}' in text, "metrics: latencies and triggers", count)
    parts = sum(int(line.split()[-1]) for line in text.splitlines() if line.startswith("resched_wakeup_latency_seconds_count{") and "(host)" not in line)
    result(parts == int(count[0].split()[-1]), "metrics: the cgroups sum up to the host", parts, count)
    points = wait_for(lambda: daemon.ask("series", name="often")["points"])
    result(points and points[0]["columns"] == ["recorded", "evdf"] and "wakeup_latency_p99_ns" in points[0]["totals"], "series: a scheduled what-if left its point", points)
    done = daemon.ctl("series", "often")
    result(done.returncode == 0 and "evdf" in done.stdout, "series: resched ctl prints it", done)


def test_ends(daemon):
    """Ended in the middle of a snapshot: asked to end, it finishes it; killed, nothing that was stored is lost."""
    client = daemon.client()
    client.send({"id": 1, "op": "snapshot", "before_ns": 500000000, "after_ns": 300000000000, "reason": "cut"})
    client.send({"id": 2, "op": "jobs"})	# whose answer comes first: it has both
    client.answer()
    before = len(daemon.ask("snapshots", last=1000)["snapshots"])
    code = daemon.stop()
    answer = client.answer()
    client.close()
    kept = len([name for name in os.listdir(daemon.store) if name.endswith(".dat")])
    result(code == 0 and kept == before + 1 and (answer is None or answer["ok"]), "ends: SIGTERM takes what was asked for up to now", code, kept, before, answer)
    result(daemon.start(), "ends: it starts again", daemon.text()[-500:])
    wait_for(lambda: daemon.status()["recorder"]["kept_ns"] > 0)
    client = daemon.client()
    client.send({"id": 1, "op": "snapshot", "before_ns": 5000000000, "after_ns": 100000000})
    time.sleep(0.25)	# about when it is written
    daemon.stop(signal.SIGKILL)
    client.close()
    good = daemon.start()
    snapshots = {s["number"] for s in daemon.ask("snapshots", last=1000)["snapshots"]} if good else set()
    stale = [name for name in os.listdir(daemon.store) if ".new" in name or name.startswith("scratch")]
    read = all(subprocess.run([RESCHED, "info", f"{daemon.store}/snapshot-{n:08}.dat"], capture_output=True, check=False).returncode == 0 for n in snapshots)
    result(good and len(snapshots) >= kept and read and not stale, "ends: killed while it writes, all that was stored is there and whole", snapshots, stale)


def test_full_disk():
    daemon = Daemon("[recorder]\nmemory = 8M\n[snapshots]\nbefore = 10s", record=True)
    os.makedirs(daemon.store)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", daemon.store], capture_output=True, check=False).returncode:
        skip("full disk", "a small file system cannot be mounted")
        daemon.remove()
        return
    try:
        daemon.start()
        running = load(2)
        running.wait()
        done = daemon.ctl("snapshot", "too large")
        result(done.returncode == 1 and done.stderr.startswith("resched ctl:") and daemon.alive(), "full disk: told, and it lives", done)
        left = [name for name in os.listdir(daemon.store) if name != "lost+found"]
        result(not left and daemon.status()["store"]["failed"] >= 1, "full disk: nothing half is left", left)
        done = daemon.ctl("snapshot", "small", "--before", "1ms")
        result(done.returncode == 0, "full disk: one that fits is taken", done)
    finally:
        daemon.stop()
        subprocess.run(["umount", daemon.store], capture_output=True, check=False)
        daemon.remove()


def main():
    daemon = Daemon(SPIKE, record=True)
    if not daemon.start() or not daemon.status()["recorder"]["recording"]:
        why = daemon.status()["recorder"].get("why", "") if daemon.alive() else daemon.text()
        skip("reschedd on this machine", "it cannot record here: " + why.replace("\n", " ")[:300])
        result(bool(why), "not recording is told with its reason")
        daemon.remove()
        finish()
    instances = "/sys/kernel/tracing/instances"
    before = set(os.listdir(instances)) if os.path.isdir(instances) else set()
    test_spike(daemon)
    test_present(daemon)
    test_ends(daemon)
    result(daemon.stop() == 0, "it ends when asked")
    after = set(os.listdir(instances)) if os.path.isdir(instances) else set()
    result(not [name for name in after - before if f"-{daemon.process.pid}" in name], "nothing is left in the kernel", after - before)
    daemon.remove()
    test_full_disk()
    finish()


if __name__ == "__main__":
    main()
