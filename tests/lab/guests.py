#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Record loads in guests under real kernels and settings, and hold the replays against them.

usage: guests.py [--kernels DIR] [--fetch] [--short] [--keep DIR] [--match REGEX]

Guests have one cpu and a clock that counts instructions (QEMU, -icount), so a run takes the same time anywhere and is deterministic.
The recorder is our own; the loads (guest_load.c) are no part of the recordings the model was developed with. Every recording carries the
kernel's own state, which the model has to follow (shadow). It is replayed under its own rules, every default one as each variant of its
load, and compared with what that kernel did (fidelity.py explains the figures). --keep: recordings go to DIR, and those already there are
used. --short: the default settings only, judged by shadow and self-replay. Kernels as for domains_qemu.py.
Without QEMU or a kernel it prints one line that begins with `skip` and exits with 0. Environment: BUILD, RESCHED."""
import argparse
import glob
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import domains_qemu
import fidelity

HERE = os.path.dirname(os.path.abspath(__file__))
LOADS = ("desk", "frames")
VARIANTS = {
    "6.1": {"def": "", "lat24": "lab.latency_ns=24000000", "wg5": "lab.wakeup_granularity_ns=5000000", "nogfs": "lab.feature=NO_GENTLE_FAIR_SLEEPERS"},
    "6.12": {"def": "", "bs12": "lab.base_slice_ns=12000000", "nortp": "lab.feature=NO_RUN_TO_PARITY", "noddq": "lab.feature=NO_DELAY_DEQUEUE",
             "nolag": "lab.feature=NO_PLACE_LAG"},
}
# Medians over commands; the goals of one-cpu self-replay and of counterfactuals.
# What the model must reach beside the kernel's own decisions and state.
AGREEMENT, LAG_NS = 0.98, 5000
LIMITS = {"self": {"p50": 0.03, "p99": 0.05}, "pairs": {"p50": 0.10, "p99": 0.15}}


def skip(why):
    print(f"skip guests: {why}")
    sys.exit(0)


def initramfs(tmp):
    root = os.path.join(tmp, "root")
    os.makedirs(root)
    subprocess.run([os.environ.get("CC", "cc").split()[-1], "-O1", "-o", root + "/init", HERE + "/guest_load.c"], check=True)
    shutil.copy(domains_qemu.RESCHED, root + "/resched")
    libraries = subprocess.run(["ldd", domains_qemu.RESCHED], capture_output=True, text=True, check=True).stdout
    for path in re.findall(r"(/\S+) \(0x", libraries):
        os.makedirs(root + os.path.dirname(path), exist_ok=True)
        shutil.copy(path, root + path)
    return domains_qemu.archive(root, os.path.join(tmp, "initrd"))


def record(kernel, image, load, setting, out):
    """Return: "" or why there is no recording."""
    part = out + ".part"
    command = ["qemu-system-x86_64", "-accel", "tcg,thread=single", "-icount", "shift=1,sleep=off", "-nographic", "-no-reboot", "-nodefaults",
               "-serial", "stdio", "-serial", "file:" + part, "-cpu", domains_qemu.INTEL, "-smp", "1", "-m", "256M", "-kernel", kernel,
               "-initrd", image, "-append", f"console=ttyS0 quiet panic=-1 mitigations=off tsc=reliable lab.load={load} {setting}"]
    try:
        run = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=domains_qemu.SECONDS, check=False,
                             stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return f"no end after {domains_qemu.SECONDS} s"
    text = run.stdout.replace("\r", "")
    if "END 0\n" not in text or "SENT" not in text or "SETTING FAILED" in text:
        return (text or run.stderr)[-500:]
    os.replace(part, out)
    return ""


def resched(*args):
    run = subprocess.run([domains_qemu.RESCHED, *args], capture_output=True, text=True, timeout=120, check=False)
    if run.returncode not in (0, 3):
        raise RuntimeError(f"{args}: {run.stderr[-300:]}")
    return json.loads(run.stdout)


def replayed(a, b, tmp):
    """Recording @a as the kernel and settings of @b."""
    host, target = (resched("info", "--json", "-q", f)["host"] for f in (a, b))
    policy = "cfs" if target["kernel"].startswith("6.1.") else "eevdf"
    command = ["replay", "--json", "-q", "--policy", policy]
    if a != b:
        host["features"], host["tunables"], host["kernel"] = target["features"], target["tunables"], target["kernel"]
        with open(tmp + "/host.json", "w", encoding="utf-8") as f:
            json.dump(host, f)
        command += ["--host", tmp + "/host.json"]
    return resched(*command, a)


def shadow(files):
    """Print how far the model, following each of @files, decides as the kernel did and has its state. Return: how many miss the goal."""
    failed = 0
    for f in files:
        got = resched("validate", "--shadow-only", "--json", "-q", f)["shadow"]
        asked = {k: got[k + "_agreement"] for k in ("pick", "preempt", "tick")}
        lag = got["state"]["lag_error_ns"]["p99"]
        good = min(asked.values()) >= AGREEMENT and lag <= LAG_NS
        failed += not good
        print(f"{'ok' if good else 'not ok'} guests, shadow of {os.path.basename(f)[:-4]}: " + " ".join(f"{k} {v:.4f}" for k, v in asked.items())
              + f", lag p99 {lag} ns, {got['state']['exact']} of {got['state']['samples']} states exact")
    return failed


def score(title, pairs, tmp):
    """Print a row for each of @pairs of recordings and the medians. Return: the medians."""
    rows, group = [], fidelity.Group()
    for a, b in pairs:
        recorded = resched("report", "--json", "-q", b)
        predicted = replayed(a, b, tmp)
        base = resched("report", "--json", "-q", a) if a != b else None
        got = [r for r in fidelity.score(predicted, recorded, base) if not re.match(r"kworker|rcu|ksoftirqd", r["comm"])]
        rows += got
        figures = {"involuntary": fidelity.error(fidelity.total(predicted, "involuntary") + 1, fidelity.total(recorded, "involuntary") + 1)}
        if a == b:
            figures["runtime"] = fidelity.error(fidelity.total(predicted, "runtime_ns"), fidelity.total(recorded, "runtime_ns"))
        group.add(got, **figures)
        names = [os.path.basename(n)[:-4] for n in (a, b)]
        print("%-20s %-20s comms %2d  p50 %.3f p99 %.3f  involuntary %6d %6d" % (
            names[0], names[1] if a != b else "", len(got), statistics.median([r["p50"] for r in got] or [0]),
            statistics.median([r["p99"] for r in got] or [0]), fidelity.total(predicted, "involuntary"), fidelity.total(recorded, "involuntary")))
    fidelity.summary(title, group)
    return {f: statistics.median([r[f] for r in rows]) for f in ("p50", "p99")} if rows else None


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--kernels", default=os.path.join(domains_qemu.BUILD, "kernels"))
    p.add_argument("--fetch", action="store_true")
    p.add_argument("--short", action="store_true")
    p.add_argument("--keep")
    p.add_argument("--match", default="")
    args = p.parse_args()
    for tool in ("qemu-system-x86_64", "ldd"):
        if not shutil.which(tool):
            skip(f"{tool} is not installed")
    if args.fetch and not glob.glob(args.kernels + "/vmlinuz-*"):
        domains_qemu.fetch(args.kernels)
    kernels = {series: next(iter(sorted(glob.glob(f"{args.kernels}/vmlinuz-{series}.*"))), None) for series in VARIANTS}
    if not any(kernels.values()):
        skip(f"no vmlinuz-6.1.* or vmlinuz-6.12.* in {args.kernels}")
    files, failed = {}, 0
    with tempfile.TemporaryDirectory(prefix="resched-guests-") as tmp:
        folder = args.keep or tmp
        os.makedirs(folder, exist_ok=True)
        image = initramfs(tmp)
        for series, kernel in kernels.items():
            for load in LOADS:
                for variant, setting in VARIANTS[series].items():
                    name = f"{series}-{load}-{variant}"
                    if not kernel or (args.short and variant != "def") or not re.search(args.match, name):
                        continue
                    out = os.path.join(folder, name + ".dat")
                    why = "" if os.path.exists(out) else record(kernel, image, load, setting, out)
                    if why:
                        print(f"not ok recording {name}\n# {why}")
                        failed += 1
                        continue
                    files[series, load, variant] = out
        failed += shadow(files.values())
        pairs = [(files[s, l, "def"], f) for (s2, l2, v), f in files.items() for s, l in {(k[0], k[1]) for k in files}
                 if l == l2 and (s, l, "def") in files and files[s, l, "def"] != f and (s == s2 or v == "def")]
        for what, jobs in (("self", [(f, f) for f in files.values()]), ("pairs", sorted(pairs))):
            medians = score(what, jobs, tmp)
            for figure, limit in LIMITS[what].items():
                if medians and args.short and what == "pairs":     # one load says nothing of medians over many
                    print(f"# {what}: {figure} {medians[figure]:.3f}")
                elif medians:
                    good = medians[figure] <= limit
                    failed += not good
                    print(f"{'ok' if good else 'not ok'} guests, {what}: median error of {figure} {medians[figure]:.3f} is at most {limit:.2f}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
