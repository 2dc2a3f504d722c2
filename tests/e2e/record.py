#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""`resched record` on this machine: whole files however it ends, nothing left behind, one clear line when it cannot.

Needs root and tracefs; without them only the refusals are tested, and the rest is skipped with the reason."""
import collections
import json
import os
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

from common import RESCHED, WAKELOAD, failed, result, skip

TRACING = "/sys/kernel/tracing"
INSTANCES = TRACING + "/instances"
WAIT = 60	# seconds for one program
KILLS = int(os.environ.get("KILLS", "12"))
FULL_DISKS = int(os.environ.get("FULL_DISKS", "2"))


def run(*args, **more):
    if args[0] == "record":	# through tracefs: record_bpf.py has the other backend
        args = ("record", "--backend", "tracefs", *args[1:])
    return subprocess.run([RESCHED, *map(str, args)], capture_output=True, text=True, timeout=WAIT, **more)


def one_line(done):
    """Errors are one line on standard error that names the program."""
    lines = [line for line in done.stderr.splitlines() if line]
    return len(lines) == 1 and lines[0].startswith("resched")


def refused(name, code, words, *args, **more):
    done = run("record", *args, **more)
    good = done.returncode == code and one_line(done) and all(word in done.stderr for word in words) and not done.stdout
    result(good, name, f"exit {done.returncode}, wanted {code}", done.stderr)


def report_lines(path):
    """Lines of `trace-cmd report`, None when it complains."""
    done = subprocess.run(["trace-cmd", "report", path], capture_output=True, text=True, errors="replace", timeout=WAIT)
    if done.returncode or done.stderr:
        print("# trace-cmd:", done.returncode, done.stderr[:300])
        return None
    return [line for line in done.stdout.splitlines() if re.search(r"\[\d+\]", line)]


def event_counts(lines):
    return collections.Counter(re.search(r"\[\d+\]\s+\S+\s+(\w+):", line).group(1) for line in lines)


def info(path):
    done = run("info", path, "--json")
    return json.loads(done.stdout) if done.returncode in (0, 3) else None


def left_behind(folder, *pids):
    files = [name for name in os.listdir(folder) if "resched-" in name or re.search(r"\.\d+-", name)]
    instances = [name for name in os.listdir(INSTANCES) if name in [f"resched-{pid}" for pid in pids]]
    return files + instances


def start(folder, *args):
    return subprocess.Popen([RESCHED, "record", "--backend", "tracefs", *map(str, args)], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_until_tracing(process):
    """The instance of a recorder is there and on."""
    path = f"{INSTANCES}/resched-{process.pid}/tracing_on"
    for _ in range(500):
        try:
            with open(path, encoding="ascii") as on:
                if on.read().strip() == "1":
                    return True
        except OSError:
            pass
        if process.poll() is not None:
            return False
        time.sleep(0.02)
    return False


# ---- what needs no permission

def test_usage(folder):
    out = os.path.join(folder, "u.dat")
    refused("record: detail truth through tracefs is refused", 2, ["truth", "bpf"], "-o", out, "-d", "1", "--detail", "truth",
            "--backend", "tracefs")
    refused("record: a bad cpu list", 2, ["9-3"], "-o", out, "-d", "1", "-C", "9-3")
    refused("record: a cpu that is not there", 2, ["8000"], "-o", out, "-d", "1", "-C", "8000")
    result(not os.path.exists(out), "record: no file after a refusal")


def test_not_permitted(folder):
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        skip("record: not permitted", "needs root to become somebody else")
        return
    # a copy, for the build may lie where nobody else may look
    place = tempfile.mkdtemp(prefix="resched-e2e-", dir="/tmp")
    os.chmod(place, 0o777)
    program = shutil.copy(RESCHED, place)
    done = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", program, "record", "-o", "x.dat", "-d", "1"],
                          cwd=place, capture_output=True, text=True, timeout=WAIT)
    result(done.returncode == 4 and one_line(done) and TRACING in done.stderr and "mount" in done.stderr,
           "record: not permitted says what is missing", done.returncode, done.stderr)
    result(os.listdir(place) == ["resched"], "record: not permitted leaves no file", os.listdir(place))
    shutil.rmtree(place)


# ---- what does

def test_whole(folder, *flags):
    name = "record" + "".join(" " + flag for flag in flags)
    out = os.path.join(folder, "whole.dat")
    done = run("record", "-o", out, *flags, "--", WAKELOAD, "-q", "0.4")
    lines = report_lines(out) if done.returncode == 0 else None
    result(done.returncode == 0 and lines is not None, name + ": trace-cmd reads it without a complaint", done.stderr)
    if lines is None:
        return
    result(stat.S_IMODE(os.stat(out).st_mode) == 0o600, name + ": only its owner may read it")
    told = re.search(r"([\d,]+) events", done.stderr)
    result(told and int(told.group(1).replace(",", "")) == len(lines), name + ": as many events as it told", done.stderr, len(lines))
    about = info(out)
    mine = {event: count for event, count in about["events"].items() if count} if about else None
    result(mine == dict(event_counts(lines)), name + ": resched and trace-cmd count alike", mine, event_counts(lines))
    wanted = {"sched_switch", "sched_waking", "sched_wakeup", "sched_wakeup_new", "sched_process_fork", "sched_process_exec",
              "sched_process_exit", "task_rename"}
    result(wanted <= set(mine or ()), name + ": every kind of event", mine)
    for task in "messenger", "worker", "ping", "pong", "periodic", "hog", "hog-nice5":
        if not any(task in line for line in lines):
            result(False, name + ": every task of the load", task)
            break
    else:
        result(True, name + ": every task of the load")
    for what in "--stat", "--summary":
        tool = ["trace-cmd", "report", "--stat", out] if what == "--stat" else ["trace-cmd", "dump", "--summary", out]
        quiet = subprocess.run(tool, capture_output=True, text=True, errors="replace", timeout=WAIT)
        result(quiet.returncode == 0 and not quiet.stderr, f"{name}: trace-cmd {what}", quiet.stderr)


def test_snapshot(folder):
    out = os.path.join(folder, "host.dat")
    run("record", "-o", out, "-d", "0.1")
    host = (info(out) or {}).get("host") or {}
    result(host.get("kernel") == os.uname().release, "record: the snapshot is inside", str(host)[:200])
    raw = open(out, "rb").read()
    node = os.uname().nodename.encode()
    result(len(node) < 5 or node not in raw, "record: the name of the host is not")


def test_detail(folder):
    out = os.path.join(folder, "minimal.dat")
    run("record", "-o", out, "--detail", "minimal", "--", WAKELOAD, "-q", "0.1")
    counts = event_counts(report_lines(out) or [])
    result(counts["sched_switch"] > 10 and not counts["sched_stat_runtime"], "record --detail minimal leaves run times out", counts)


def test_extra(folder):
    out = os.path.join(folder, "extra.dat")
    run("record", "-o", out, "-e", "irq", "-e", "timer:hrtimer_expire_entry", "--", WAKELOAD, "-q", "0.2")
    counts = event_counts(report_lines(out) or [])
    result(counts["hrtimer_expire_entry"] and counts["softirq_entry"] and not counts["timer_start"], "record -e adds events", counts)
    read = run("export", "--format", "csv", out).stdout.splitlines()
    names = ["irq_handler_entry", "irq_handler_exit", "softirq_entry", "softirq_exit"]
    told = {name: sum(f",{name}," in line for line in read) for name in names}
    result(all(told[name] == counts[name] for name in names), "record -e irq: every interrupt is read back", (told, counts))
    for text in "nosuch", "sched:nosuch", "../sched", "ftrace", "sched:", ":sched_switch", "":
        refused(f"record -e '{text}' is refused", 2, [text], "-o", out, "-d", "1", "-e", text)


def test_filters(folder):
    out = os.path.join(folder, "filter.dat")
    if os.cpu_count() > 1:
        run("record", "-o", out, "-C", "1", "--", WAKELOAD, "-q", "0.2")
        cpus = {re.search(r"\[(\d+)\]", line).group(1) for line in report_lines(out) or []}
        result(cpus == {"001"}, "record -C keeps to the cpus", cpus)
    load = subprocess.Popen([sys.executable, "-c", "import time\nwhile True: time.sleep(0.01)"])	# one thread, no children
    run("record", "-o", out, "-d", "1", "-p", load.pid)
    load.kill()
    load.wait()
    lines = report_lines(out) or []
    result(lines and all(str(load.pid) in line for line in lines), "record -p keeps to the task", *lines[:3])
    refused("record -p of a task that is not there", 2, ["4194303"], "-o", out, "-d", "1", "-p", "4194303")


def test_command(folder):
    out = os.path.join(folder, "command.dat")
    result(run("record", "-o", out, "--", "sh", "-c", "exit 7").returncode == 7, "record: the command's status is passed on")
    done = run("record", "-o", out, "--", "sh", "-c", "kill -USR1 $$")
    result(done.returncode == 128 + signal.SIGUSR1, "record: a command's signal is passed on", done.returncode)
    started = time.monotonic()
    done = run("record", "-o", out, "-d", "0.3", "--", "sleep", "30")
    result(done.returncode == 0 and time.monotonic() - started < 20, "record -d ends a command that lasts longer", done.returncode, done.stderr)
    before = open(out, "rb").read()
    refused("record: a command that is not there", 1, ["no-such-command"], "-o", out, "--", "no-such-command")
    result(open(out, "rb").read() == before, "record: an older file survives a failure")


def test_signals(folder):
    for number in signal.SIGTERM, signal.SIGINT:
        name = f"record: {number.name}"
        process = start(folder, "-o", f"{number.name}.dat", "--", WAKELOAD, "-q", "30")
        if not wait_until_tracing(process):
            process.kill()
            result(False, name + " ends it", process.communicate()[1])
            continue
        time.sleep(0.2)
        process.send_signal(number)
        _, err = process.communicate(timeout=WAIT)
        lines = report_lines(os.path.join(folder, f"{number.name}.dat"))
        result(process.returncode == 128 + number and lines, name + " leaves a whole file", process.returncode, err)
        result(not left_behind(folder, process.pid), name + " leaves nothing else", left_behind(folder, process.pid))


def test_killed(folder):
    process = start(folder, "-o", "killed.dat", "-d", "30")
    tracing = wait_until_tracing(process)
    process.kill()
    process.communicate()
    done = run("record", "-o", os.path.join(folder, "next.dat"), "-d", "0.1")
    result(tracing and done.returncode == 0 and not left_behind(folder, process.pid), "record: the next one clears up after a killed one", done.stderr,
           left_behind(folder, process.pid))


def kill_at(folder, moment, *flags):
    """A recorder of a busy load, killed hard with all that it started. Return: its pid."""
    process = subprocess.Popen([RESCHED, "record", "-q", *flags, "-o", "kill.dat", "--", WAKELOAD, "-q", "-m", "0.5"], cwd=folder,
                               start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(moment)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return process.pid


def test_kills(folder):
    """Whenever it is killed, what had been written can be read, and made whole. KILLS=200 for a long run."""
    path = os.path.join(folder, "kill.dat")
    choice, kinds, bad, pids = random.Random(7), collections.Counter(), [], []
    for i in range(KILLS):
        backend, flag = choice.choice(("tracefs", "bpf")), choice.choice(([], ["--compress"]))
        if os.path.exists(path):
            os.unlink(path)
        pids.append(kill_at(folder, choice.uniform(0, 1), "--backend", backend, *flag))
        if not os.path.exists(path):	# before it recorded, or this backend is not for here
            kinds["none"] += 1
            continue
        about = info(path)
        told = about and any("not finished" in line for line in about["warnings"])
        count = sum(about["events"].values()) if about else None
        done = run("record", "--recover", path)
        lines = report_lines(path)
        after = info(path)
        if not about or done.returncode or lines is None or len(lines) != count or not after or sum(after["events"].values()) != count or \
                any("not finished" in line for line in after["warnings"]):
            bad.append((i, backend, flag, done.stderr, count, lines and len(lines), after and after["warnings"]))
        kinds["cut" if told else "whole"] += 1
    result(not bad, f"record: killed at {KILLS} random moments, each file can be read and recovered", *bad[:3])
    result(kinds["cut"] > KILLS // 10, "record: most of them were cut", kinds)
    run("record", "-o", os.path.join(folder, "next.dat"), "-d", "0.1")
    result(not left_behind(folder, *pids), "record: nothing is left of them", left_behind(folder, *pids))


def test_recover(folder):
    path = os.path.join(folder, "run.dat")
    process = start(folder, "-o", "run.dat", "-d", "30")
    tracing = wait_until_tracing(process)
    time.sleep(0.3)
    done = run("record", "--recover", path)
    result(tracing and done.returncode == 1 and "still being recorded" in done.stderr, "record --recover leaves a running one alone", done.stderr)
    done = run("report", path)
    result(done.returncode in (1, 3) and "not finished" in done.stderr, "report: a running recording can be looked at", done.returncode, done.stderr)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=WAIT)
    before = open(path, "rb").read()
    done = run("record", "--recover", path)
    result(done.returncode == 0 and open(path, "rb").read() == before, "record --recover leaves a finished file as it is", done.stderr)
    text = os.path.join(folder, "text")
    with open(text, "w", encoding="ascii") as file:
        file.write("no recording\n")
    done = run("record", "--recover", text)
    result(done.returncode == 1 and one_line(done), "record --recover of something else is refused", done.stderr)


def test_replaced(folder):
    """A file that takes the name meanwhile does not get the recording lost."""
    path = os.path.join(folder, "name.dat")
    process = start(folder, "-o", "name.dat", "-d", "30")
    tracing = wait_until_tracing(process)
    for _ in range(500):
        if os.path.exists(path):
            break
        time.sleep(0.02)
    os.unlink(path)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=WAIT)
    result(tracing and report_lines(path), "record: a name that was removed meanwhile is given again")


def test_two_at_once(folder):
    first, second = (start(folder, "-o", f"two{i}.dat", "-d", "0.6") for i in (1, 2))
    first.communicate(timeout=WAIT)
    second.communicate(timeout=WAIT)
    lines = [report_lines(os.path.join(folder, f"two{i}.dat")) for i in (1, 2)]
    result(first.returncode == 0 and second.returncode == 0 and all(lines), "record: two at once do not disturb each other")
    result(not left_behind(folder, first.pid, second.pid), "record: two at once leave nothing", left_behind(folder, first.pid, second.pid))


def test_lost(folder):
    out = os.path.join(folder, "lost.dat")
    done = run("record", "-o", out, "--buffer", "8K", "--", WAKELOAD, "-q", "-m", "0.3")
    about = info(out)
    result(done.returncode == 0 and "lost" in done.stderr.lower() and "--buffer" in done.stderr, "record: lost events are told", done.stderr)
    result(about and about["lost_events"] > 0, "record: lost events can be seen in the file", about and about["lost_events"])


def test_outputs(folder):
    refused("record -o of a directory", 1, [folder, "directory"], "-o", folder, "-d", "1")
    refused("record -o into nowhere", 1, ["/no/such/folder"], "-o", "/no/such/folder/x.dat", "-d", "1")
    refused("record -o of a device", 1, ["/dev/null"], "-o", "/dev/null", "-d", "1")
    target, link = os.path.join(folder, "target.dat"), os.path.join(folder, "link.dat")
    open(target, "w", encoding="ascii").close()
    os.chmod(target, 0o640)
    os.symlink("target.dat", link)
    run("record", "-o", link, "-d", "0.1")
    result(os.path.islink(link) and report_lines(target) and stat.S_IMODE(os.stat(target).st_mode) == 0o640,
           "record: a link and the mode of an older file are kept", oct(os.stat(target).st_mode))


def test_full_disk(folder, size_kb, *flags):
    disk = os.path.join(folder, "disk")
    os.makedirs(disk, exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size_kb}k", "none", disk], capture_output=True, check=False).returncode:
        skip("record: full disk", "cannot mount a tmpfs")
        return
    name = "record" + "".join(" " + flag for flag in flags) + f": full disk of {size_kb} KiB"
    try:
        out = os.path.join(disk, "full.dat")
        done = run("record", *flags, "-o", out, "-d", "20", "--", WAKELOAD, "-q", "-m", "20")
        result(done.returncode == 1 and one_line(done) and "No space left" in done.stderr, name + " is told", done.returncode, done.stderr)
        lines = report_lines(out)
        told = re.search(r"(\d+) events", done.stderr)
        result(lines and told and len(lines) == int(told.group(1)), name + " leaves a whole file with what was told",
               done.stderr, lines and len(lines))
        result(os.listdir(disk) == ["full.dat"], name + " leaves nothing else", os.listdir(disk))
        with open(os.path.join(disk, "rest"), "wb") as rest:
            try:
                rest.write(b"x" * (4 << 20))
            except OSError:
                pass
        refused(name + " from the start", 1, ["no space left"], "-o", os.path.join(disk, "none.dat"), "-d", "5")
    finally:
        subprocess.run(["umount", disk], check=False)


def test_others_untouched(before):
    now = top_level()
    result(now == before, "record: the top level of tracefs is as before", before, now)


def top_level():
    values = {}
    for name in "tracing_on", "trace_clock", "current_tracer", "set_event", "buffer_size_kb", "tracing_cpumask", "set_event_pid":
        try:
            with open(f"{TRACING}/{name}", encoding="ascii") as file:
                values[name] = file.read()
        except OSError:
            values[name] = None
    return values


def main():
    if not os.access(RESCHED, os.X_OK):
        skip("record", f"no program at {RESCHED}")
        return 0
    with tempfile.TemporaryDirectory(prefix="resched-e2e-") as folder:
        test_usage(folder)
        test_not_permitted(folder)
        first = run("record", "-o", os.path.join(folder, "first.dat"), "-d", "0.05")
        if first.returncode == 4 or not shutil.which("trace-cmd"):
            skip("record on this machine", first.stderr.strip() if first.returncode == 4 else "no trace-cmd")
            return failed()
        before = top_level()
        test_whole(folder)
        test_whole(folder, "--compress")
        test_snapshot(folder)
        test_detail(folder)
        test_extra(folder)
        test_filters(folder)
        test_command(folder)
        test_signals(folder)
        test_killed(folder)
        test_kills(folder)
        test_recover(folder)
        test_replaced(folder)
        test_two_at_once(folder)
        test_lost(folder)
        test_outputs(folder)
        test_full_disk(folder, 2048)
        test_full_disk(folder, 2048, "--compress")
        sizes = random.Random(7)
        for _ in range(FULL_DISKS):
            test_full_disk(folder, sizes.randrange(1800, 12000), *sizes.choice(([], ["--compress"])))
        test_others_untouched(before)
    return failed()


if __name__ == "__main__":
    sys.exit(main())
