#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""resched record --rotate: a new file when one is full, the last few kept, each whole by itself, and nothing lost between two."""
import json, os, random, re, signal, subprocess, sys, tempfile, time

from common import RESCHED, WAKELOAD, failed, result, skip


def run(*args):
    return subprocess.run([RESCHED, *args], capture_output=True, text=True, errors="replace", timeout=300)


def info(path):
    done = run("info", path, "--json")
    return json.loads(done.stdout) if done.returncode == 0 else None


def names(folder):
    return sorted(os.listdir(folder))


def test_files(folder, backend, *more):
    """All of them together hold what was recorded."""
    name = " ".join(("record --backend", backend, *more, "--rotate"))
    out = os.path.join(folder, "r.dat")
    done = run("record", "--backend", backend, *more, "--max-size", "2M", "--rotate", "900", "-o", out, "-d", "30", "--", WAKELOAD, "-q", "-m", "2")
    told = re.search(r": (\d+) events in ", done.stderr)
    result(done.returncode == 0 and told and "files were written" in done.stderr, name + " ends well", done.returncode, done.stderr)
    about = [info(os.path.join(folder, n)) for n in names(folder)]
    result(all(a and a["host"] for a in about), name + " makes each file whole, with its host", about)
    result(all(os.stat(os.path.join(folder, n)).st_mode & 0o777 == 0o600 for n in names(folder)), name + " keeps them to their owner")
    result(told and len(about) > 1 and sum(a["total_events"] for a in about if a) == int(told.group(1)), name + " loses nothing between two files",
           done.stderr, [a and a["total_events"] for a in about])
    starts = [a["first_ns"] for a in (info(out), info(out + ".1")) if a]
    result(starts == sorted(starts, reverse=True), name + " has the newest without a number", starts)
    for n in names(folder):
        os.unlink(os.path.join(folder, n))


def test_keep(folder, backend):
    name = f"record --backend {backend} --rotate"
    done = run("record", "--backend", backend, "--max-size", "2M", "--rotate", "3", "-o", os.path.join(folder, "r.dat"), "-d", "30",
               "--", WAKELOAD, "-q", "-m", "3")
    result(done.returncode == 0 and names(folder) == ["r.dat", "r.dat.1", "r.dat.2"], name + " 3 keeps the last three", names(folder), done.stderr)
    for n in names(folder):
        os.unlink(os.path.join(folder, n))


def test_kill(folder, backend, seed):
    """Killed at any moment: what has a name can be read."""
    name = f"record --backend {backend} --rotate, killed"
    out = os.path.join(folder, "k.dat")
    recorder = subprocess.Popen([RESCHED, "record", "--backend", backend, "--max-size", "1M", "--rotate", "4", "-o", out, "-d", "60",
                                 "--", WAKELOAD, "-q", "-m", "60"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    until = time.monotonic() + 60
    while not os.path.exists(out + ".1") and time.monotonic() < until and recorder.poll() is None:
        time.sleep(0.01)
    time.sleep(random.Random(seed).random())
    recorder.send_signal(signal.SIGKILL)
    recorder.wait()
    os.killpg(recorder.pid, signal.SIGKILL)
    left = [n for n in names(folder) if n.startswith("k.dat")]
    codes = [run("report", os.path.join(folder, n)).returncode for n in left]
    result(len(left) >= 2 and all(c in (0, 3) for c in codes), name + " leaves files that can be read", left, codes)
    codes = [run("record", "--recover", os.path.join(folder, n)).returncode for n in left]
    result(all(c == 0 for c in codes), name + " leaves files that can be finished", left, codes)
    for n in left:
        os.unlink(os.path.join(folder, n))


def test_refusals(folder):
    out = os.path.join(folder, "x.dat")
    for words, why in ((("--rotate", "3"), "without --max-size"), (("--max-size", "4M", "--rotate", "1"), "to one file"),
                       (("--max-size", "4M", "--rotate", "3", "--anonymize"), "with --anonymize")):
        done = run("record", *words, "-o", out, "-d", "1")
        result(done.returncode == 2 and "--rotate" in done.stderr and not os.path.exists(out), f"record --rotate {why} is refused", done.returncode, done.stderr)


def main():
    with tempfile.TemporaryDirectory(prefix="resched-rotate-") as folder:
        test_refusals(folder)
        for backend in ("tracefs", "bpf"):
            first = run("record", "--backend", backend, "-o", os.path.join(folder, "first.dat"), "-d", "0.05")
            if first.returncode:
                skip(f"record --backend {backend} --rotate", first.stderr.strip())
                continue
            os.unlink(os.path.join(folder, "first.dat"))
            test_files(folder, backend)
            test_files(folder, backend, "--compress")
            test_keep(folder, backend)
            test_kill(folder, backend, backend)
    return failed()


if __name__ == "__main__":
    sys.exit(main())
