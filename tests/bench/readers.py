#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Events a second of `resched info` and `resched report` on the same data in every form, beside perf and trace-cmd, all on one cpu;
resched on all cpus; the share of what memory can be read at; and memory on a large file, which is a recording repeated page by page with
later stamps.

Prints best times; asserts nothing about speed. Environment: BUILD, ROUNDS (3), SECONDS (6, of the recording), BIG_GB (2; 0: none),
DIR (BUILD/bench-readers), RECORDING (a trace.dat to take instead of recording one)."""
import os
import shutil
import subprocess
import sys
import time

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(TOP, "tests", "tools"))
import perf_encode as perf  # noqa: E402
from dat6 import Dat6  # noqa: E402

BUILD = os.environ.get("BUILD", "build")
ROUNDS = int(os.environ.get("ROUNDS", "3"))
SECONDS = os.environ.get("SECONDS", "6")
BIG_GB = float(os.environ.get("BIG_GB", "2"))
RESCHED = os.path.abspath(os.environ.get("RESCHED", os.path.join(BUILD, "resched")))
LOAD = os.path.abspath(os.environ.get("WAKELOAD", os.path.join(BUILD, "wakeload")))
DIR = os.environ.get("DIR", os.path.join(BUILD, "bench-readers"))


# A process of its own, as the peak that the kernel tells includes what was there before exec; this one is small.
RUNNER = """
import os, sys, time
began, pid = time.monotonic(), os.fork()
if not pid:
    null = os.open("/dev/null", os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    os.execvp(sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(pid, 0)
print(time.monotonic() - began, usage.ru_maxrss / 1024, status)
"""


def run(command, rounds=ROUNDS):
    """Best seconds, and peak memory in MiB."""
    best, peak = None, 0
    for _ in range(rounds):
        took, rss, status = subprocess.run([sys.executable, "-S", "-E", "-c", RUNNER, *command], capture_output=True, text=True, check=True).stdout.split()
        if int(status) not in (0, 3 << 8):
            return None, 0
        best = float(took) if best is None else min(best, float(took))
        peak = max(peak, float(rss))
    return best, peak


def record():
    path = os.environ.get("RECORDING")
    if path:
        return path
    path = os.path.join(DIR, "v7.dat")
    subprocess.run([RESCHED, "record", "-q", "--backend", "tracefs", "--buffer", "64M", "-o", path, "--", LOAD, "-m", "-q", SECONDS], check=False,
                   stdout=subprocess.DEVNULL)
    if not os.path.exists(path):
        sys.exit("bench: cannot record; run it as root on a machine that allows tracing, or name a trace.dat in RECORDING")
    return path


def forms(source):
    """The same events in every form: name -> path."""
    def at(name):
        return os.path.join(DIR, name)
    out = {"trace.dat v7": source}
    subprocess.run(["trace-cmd", "convert", "-i", source, "-o", at("v6.dat"), "--file-version", "6"], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    out["trace.dat v6"] = at("v6.dat")
    if subprocess.run(["trace-cmd", "convert", "-i", source, "-o", at("zstd.dat"), "--file-version", "7", "--compression", "zstd"], capture_output=True,
                      check=False).returncode == 0:
        out["trace.dat v7, zstd"] = at("zstd.dat")
    dat = Dat6(at("v6.dat"))
    shutil.rmtree(at("pages"), ignore_errors=True)
    dat.write_folder(at("pages"))
    out["pages (folder)"] = at("pages")
    records = []
    for i, s in enumerate(perf.samples(dat)):
        records.append(s[2])
        if i % 20000 == 0:
            records.append(perf.finished_round())
    with open(at("perf.data"), "wb") as f:
        f.write(perf.write(dat, records + [perf.finished_round()]))
    out["perf.data"] = at("perf.data")
    with open(at("trace.txt"), "wb") as f:
        subprocess.run(["trace-cmd", "report", "-N", "-t", source], check=True, stdout=f, stderr=subprocess.DEVNULL)
    out["text"] = at("trace.txt")
    if subprocess.run([RESCHED, "export", source, "--format", "perfetto", "-o", at("trace.pftrace")], capture_output=True).returncode in (0, 3):
        out["perfetto"] = at("trace.pftrace")
    return out, dat


def events_in(path):
    import json
    p = subprocess.run([RESCHED, "info", "--json", "-q", path], capture_output=True, text=True, errors="replace")
    return sum(json.loads(p.stdout)["events"].values())


TRACE_CMD, PERF = [["trace-cmd", "report"]], [["perf", "script", "-i"], ["perf", "sched", "latency", "-i"]]
# No peer reads text: beside it stand those that print it.
PEERS = {"trace.dat v7": TRACE_CMD, "trace.dat v7, zstd": TRACE_CMD, "trace.dat v6": TRACE_CMD, "perf.data": PERF}
ONE_CPU = ["taskset", "-c", str(min(os.sched_getaffinity(0)))] if shutil.which("taskset") else []


def memory_bandwidth():
    """Bytes a second at which this machine reads memory, by summing up more than any cache holds."""
    data, best = b"\2" * (1 << 28), 0
    for _ in range(3):
        began = time.monotonic()
        look_through(data)
        best = max(best, len(data) / (time.monotonic() - began))
    return best


def look_through(data):
    return data.count(b"\1")  # memchr over all of it


def table(files):
    bandwidth = memory_bandwidth()
    print(f"memory is read at {bandwidth / 1e9:.1f} GB/s; times of one cpu, but for those of 'all cpus'")
    print(f"{'form':<18} {'MiB':>7} {'events':>10}  {'command':<26} {'s':>7} {'M events/s':>10} {'MB/s':>7} {'of memory':>9} {'peak MiB':>8}")
    for form, path in files.items():
        size = sum(os.path.getsize(os.path.join(d, f)) for d, _, fs in os.walk(path) for f in fs) if os.path.isdir(path) else os.path.getsize(path)
        nr, speed, fastest = events_in(path), {}, 0
        commands = [(ONE_CPU, [RESCHED, "info"]), (ONE_CPU, [RESCHED, "report"]), ([], [RESCHED, "report"])]
        for where, command in commands + [(ONE_CPU, c) for c in PEERS.get(form, [])]:
            if not shutil.which(command[0]):
                continue
            best, peak = run(where + command + [path])
            label = " ".join([os.path.basename(command[0])] + [c for c in command[1:] if c != "-i"]) + ("" if where else ", all cpus")
            if best is None:
                print(f"{form:<18} {size / 2**20:>7.1f} {nr:>10,}  {label:<26} failed")
                continue
            print(f"{form:<18} {size / 2**20:>7.1f} {nr:>10,}  {label:<26} {best:>7.3f} {nr / best / 1e6:>10.2f} {size / best / 1e6:>7.0f} "
                  f"{size / best / bandwidth * 100:>7.1f} % {peak:>8.0f}", flush=True)
            speed[label] = nr / best
            if command[0] != RESCHED:
                fastest = max(fastest, nr / best)
        if fastest:
            print(f"{form:<18} report is {speed['resched report'] / fastest:.1f} x the fastest of these", flush=True)


def big_file(dat, path, want):
    """A trace.dat v6 of @want bytes: the pages again and again, each time later."""
    return dat.repeat(path, 0, int(want // sum(len(dat.pages(cpu)) for cpu in range(len(dat.cpus)))) + 1)


def main():
    os.makedirs(DIR, exist_ok=True)
    files, dat = forms(record())
    print(f"{os.cpu_count()} cpus, load {os.getloadavg()[0]:.1f}; best of {ROUNDS}")
    table(files)
    if BIG_GB:
        path = big_file(dat, os.path.join(DIR, "big.dat"), BIG_GB * 1e9)
        size, nr = os.path.getsize(path), 0
        for command in ("info", "report"):
            best, peak = run([RESCHED, command, path], 1)
            nr = nr or events_in(path)
            print(f"{size / 1e9:.1f} GB, {nr:,} events, {command}: {best:.1f} s, {nr / best / 1e6:.2f} M events/s, {size / best / 1e6:.0f} MB/s, peak {peak:.0f} MiB", flush=True)
        os.unlink(path)


if __name__ == "__main__":
    sys.exit(main())
