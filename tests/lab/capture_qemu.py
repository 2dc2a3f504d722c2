#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Does recording work on other kernels? Boots them under QEMU and records with both backends.

usage: capture_qemu.py [--kernels DIR] [--fetch] [--short]

In each guest, of two cpus: a load recorded through tracefs, through BPF, with the kernel's own state, compressed; a recorder killed
hard and its file recovered; a cpu taken offline in the middle; a buffer that is far too small; the daemon while a cpu goes and comes back.
Every file has to open, to hold what
it must, and to tell what was lost. Kernels and --fetch as in domains_qemu.py. --short: no killing and no cpu taken away. Emulation alone (TCG), so it runs anywhere.
Without QEMU or a kernel it prints one line that begins with `skip` and exits with 0. Environment: BUILD, RESCHED, RESCHEDD, WAKELOAD."""
import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import domains_qemu as lab  # noqa: E402

WAKELOAD = os.path.abspath(os.environ.get("WAKELOAD", os.path.join(lab.BUILD, "wakeload")))
RESCHEDD = os.path.abspath(os.environ.get("RESCHEDD", os.path.join(lab.BUILD, "reschedd")))
SECONDS = 800
ACCEL = ["-accel", "tcg,thread=multi", "-cpu", "max"]

INIT = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static void make(const char *dir, const char *type) { mkdir(dir, 0755); mount(type, dir, type, 0, NULL); }
static pid_t start(char *line)
{
	char *argv[32], *word;
	int n = 0;
	pid_t pid = fork();
	if (pid) return pid;
	for (word = strtok(line, " "); word && n < 31; word = strtok(NULL, " ")) argv[n++] = word;
	argv[n] = NULL;
	dup2(1, 2); setsid();
	execv(argv[0], argv);
	_exit(127);
}
static void wait_for(const char *path)
{
	struct timespec t = { 0, 10000000 };
	for (int i = 0; i < 3000 && access(path, F_OK); i++) nanosleep(&t, NULL);
}
static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, text, strlen(text)) < 0) printf("cannot write %s\n", path);
	close(fd);
}
static void end(const char *name, pid_t pid)
{
	int status = 0;
	waitpid(pid, &status, 0);
	printf("\nEND %s %d\n", name, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	fflush(stdout);
}
/* Until what @command prints has @text; its socket is there before the daemon records. */
static void wait_until(const char *command, const char *text)
{
	struct timespec t = { 0, 100000000 };
	for (int i = 0; i < 300; i++, nanosleep(&t, NULL)) {
		char line[512], out[65536];
		int status, old, fd, n;
		snprintf(line, sizeof(line), "%s", command);
		fflush(stdout);
		fd = open("/tmp/said", O_RDWR | O_CREAT | O_TRUNC, 0600);
		old = dup(1);
		dup2(fd, 1);
		waitpid(start(line), &status, 0);
		dup2(old, 1);
		close(old);
		n = pread(fd, out, sizeof(out) - 1, 0);
		close(fd);
		out[n > 0 ? n : 0] = 0;
		if (strstr(out, text)) return;
	}
	printf("%s never said %s\n", command, text);
}
static void step(const char *name, const char *command)
{
	char line[512];
	snprintf(line, sizeof(line), "%s", command);
	printf("\nBEGIN %s\n", name); fflush(stdout);
	end(name, start(line));
}
int main(void)
{
	struct timespec t = { 1, 0 };
	char line[512];
	pid_t pid;
	make("/proc", "proc"); make("/sys", "sysfs"); make("/tmp", "tmpfs"); make("/dev", "devtmpfs"); mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
STEPS
	printf("\nDONE\n"); fflush(stdout); sync(); reboot(RB_POWER_OFF);
	return 0;
}
"""

# name: (recording, what info must tell of it)
PLAIN = {"sched_switch": 300, "sched_waking": 150, "sched_wakeup": 150, "sched_process_exec": 1}
RECORDINGS = {
    "tracefs": ("--backend tracefs", {**PLAIN, "sched_stat_runtime": 300}),
    "bpf": ("--backend bpf", {**PLAIN, "sched_run": 300}),
    "bpf precise": ("--backend bpf --detail precise", {**PLAIN, "sched_stat_runtime": 300}),
    "truth": ("--truth", {**PLAIN, "sched_truth": 1000}),
    "compressed": ("--backend bpf --compress", PLAIN),
}
LONG = "bpf precise", "compressed"
DAEMON_CONF = """[recorder]
memory = 16M
keep = 20s
cpu_budget = 100
[snapshots]
directory = /tmp/store
min_free = 0
[socket]
path = /tmp/c.sock
[trigger none]
over = 600s
"""
CTL = "/resched ctl --socket /tmp/c.sock"
INFO = "/resched info --no-pager --color never /tmp/x.dat"


def steps(short):
    code = []

    def step(name, command):
        code.append(f'\tstep("{name}", "{command}");')

    def start(options):
        code.extend(['\tunlink("/tmp/x.dat");', f'\tsnprintf(line, sizeof(line), "/resched record -o /tmp/x.dat {options}");',
                     '\tpid = start(line); wait_for("/tmp/x.dat"); nanosleep(&t, NULL);'])
    for name, (options, _) in RECORDINGS.items():
        if short and name in LONG:
            continue
        step(name, f"/resched record {options} -o /tmp/x.dat -- /wakeload -q 0.5")
        step(name + " info", INFO)
        step(name + " report", "/resched report --no-pager --color never -n 3 /tmp/x.dat")
    for backend in "tracefs", "bpf":
        step(f"overrun {backend}", f"/resched record --backend {backend} --buffer 8K --detail {'truth' if backend == 'bpf' else 'normal'} -o /tmp/x.dat "
             "-- /wakeload -q -m 0.5")
        step(f"overrun {backend} info", INFO)
        if short:
            continue
        start(f"-q --backend {backend} -d 60 -- /wakeload -q 60")
        code.append('\tkill(-pid, 9); printf("\\nBEGIN killed\\n"); end("killed", pid);')
        step(f"killed {backend} info", INFO)
        step(f"killed {backend} recover", "/resched record --recover /tmp/x.dat")
        step(f"killed {backend} again", INFO)
        code.append(f'\tprintf("\\nBEGIN offline {backend}\\n"); fflush(stdout);')
        start(f"--backend {backend} -d 3")
        code.append('\tput("/sys/devices/system/cpu/cpu1/online", "0");')
        code.append(f'\tend("offline {backend}", pid); put("/sys/devices/system/cpu/cpu1/online", "1");')
        step(f"offline {backend} info", INFO)
    # a cpu that goes and comes back under the daemon: snapshots before, meanwhile and after, and a what-if on the last
    code.append('\tsnprintf(line, sizeof(line), "/reschedd -v -c /reschedd.conf"); pid = start(line); wait_for("/tmp/c.sock");')
    code.append(f'\twait_until("{CTL} status --json", "\\"recording\\":true");')
    for number, (name, online) in enumerate((("before", None), ("offline", "0"), ("online", "1")), 1):
        if online:
            code.append(f'\tput("/sys/devices/system/cpu/cpu1/online", "{online}");')
        step(f"daemon {name} load", "/wakeload -q 0.5")
        step(f"daemon {name}", f"{CTL} snapshot {name} --before 5s --after 100ms")
        step(f"daemon {name} info", f"/resched info --no-pager --color never /tmp/store/snapshot-{number:08}.dat")
    step("daemon whatif", f"{CTL} whatif 3 --policy evdf")
    step("daemon status", f"{CTL} status --json")
    code.append('\tprintf("\\nBEGIN daemon\\n"); fflush(stdout); kill(pid, SIGTERM); end("daemon", pid);')
    return "\n".join(code)


def initramfs(tmp, short=False):
    root = os.path.join(tmp, "root")
    os.makedirs(root)
    with open(os.path.join(tmp, "init.c"), "w", encoding="utf-8") as f:
        f.write(INIT.replace("STEPS", steps(short)))
    subprocess.run([os.environ.get("CC", "cc").split()[-1], "-O1", "-w", "-o", root + "/init", tmp + "/init.c"], check=True)
    with open(os.path.join(root, "reschedd.conf"), "w", encoding="utf-8") as f:
        f.write(DAEMON_CONF)
    for program in lab.RESCHED, RESCHEDD, WAKELOAD, root + "/init":
        if os.path.dirname(program) != root:
            shutil.copy(program, root)
        libraries = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        for path in re.findall(r"(/\S+) \(0x", libraries):
            os.makedirs(root + os.path.dirname(path), exist_ok=True)
            shutil.copy(path, root + path)
    return lab.archive(root, os.path.join(tmp, "initrd"))


def boot(kernel, image):
    command = ["qemu-system-x86_64", *ACCEL, "-nographic", "-no-reboot", "-nodefaults", "-serial", "stdio", "-smp", "2", "-m", "1G",
               "-kernel", kernel, "-initrd", image, "-append", "console=ttyS0 quiet panic=-1 mitigations=off"]
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False, stdin=subprocess.DEVNULL).stdout
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode(errors="replace")


def count(text, event):
    found = re.search(rf"^\s*([\d,]+)\s+{event}\s*$", text, re.M)
    return int(found[1].replace(",", "")) if found else 0


def judge(release, text, short):
    """Return: number of things that are not as they must be; prints each."""
    text = text.replace("\r", "")
    parts = {m[1]: (int(m[3]), m[2]) for m in re.finditer(r"^BEGIN (.*?)\n(.*?)^END \1 (-?\d+)$", text, re.S | re.M)}
    failed = 0

    def check(good, name, *why):
        nonlocal failed
        failed += not good
        print(f"{'ok' if good else 'not ok'} {release}: {name}", flush=True)
        for line in () if good else why:
            print("#", str(line).strip()[:1200].replace("\n", "\n# "))

    def said(name):
        return parts.get(name, (-1, "(did not come so far)"))

    if "\nDONE" not in text:
        check(False, "the guest came to its end", text[-800:])
    for name, (_, wanted) in RECORDINGS.items():
        if short and name in LONG:
            continue
        code, told = said(name)
        info = said(name + " info")
        good = code == 0 and info[0] == 0 and said(name + " report")[0] == 0
        check(good and all(count(info[1], event) >= least for event, least in wanted.items()), f"record {name}", told, info[1])
    for backend in "tracefs", "bpf":
        code, told = said(f"overrun {backend}")
        info = said(f"overrun {backend} info")
        check(code == 0 and "LOST" in told and info[0] == 0 and re.search(r"[1-9][\d,]* lost|lost.*[1-9]", info[1]), f"record {backend}, overrun: told", told, info[1])
        if short:
            continue
        code, told = said(f"killed {backend} info")
        check(code == 3 and "not finished" in told and count(told, "sched_switch") > 100, f"record {backend}, killed: its file can be read", told)
        code, again = said(f"killed {backend} again")
        check(said(f"killed {backend} recover")[0] == 0 and code == 0 and count(again, "sched_switch") == count(told, "sched_switch"),
              f"record {backend}, killed: its file is recovered", said(f"killed {backend} recover")[1], again)
        code, told = said(f"offline {backend}")
        info = said(f"offline {backend} info")
        check(code == 0 and info[0] == 0 and "CPU1 went offline" in told + info[1], f"record {backend}, a cpu goes offline: told", told, info[1])
    for number, name in enumerate(("before", "offline", "online"), 1):
        code, told = said(f"daemon {name}")
        info = said(f"daemon {name} info")
        check(code == 0 and info[0] == 0 and count(info[1], "sched_switch") > 50, f"daemon: snapshot {number}, cpu 1 {name}", told, info[1])
    code, told = said("daemon whatif")
    check(code == 0 and "Wakeup latency" in told, "daemon: a what-if on the last one", told)
    code, told = said("daemon status")
    status = re.search(r"^\{.*", told, re.M | re.S)
    recorder = json.loads(status[0].replace("\n", ""))["status"]["recorder"] if code == 0 and status else {}
    check(recorder.get("recording") and not recorder.get("restarts"), "daemon: it went on recording all the time", told)
    code, told = said("daemon")
    check(code == 0, "daemon: it ends when asked", told)
    return failed


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--kernels", default=os.path.join(lab.BUILD, "kernels"))
    p.add_argument("--fetch", action="store_true")
    p.add_argument("--short", action="store_true")
    args = p.parse_args()
    for tool in ("qemu-system-x86_64", "ldd"):
        if not shutil.which(tool):
            print(f"skip recording in guests: {tool} is not installed")
            return 0
    if args.fetch and not glob.glob(args.kernels + "/vmlinuz-*"):
        lab.fetch(args.kernels)
    kernels = sorted(k for k in glob.glob(args.kernels + "/vmlinuz-*") if os.access(k, os.R_OK))
    if not kernels:
        print(f"skip recording in guests: no vmlinuz-* in {args.kernels}")
        return 0
    failed = 0
    with tempfile.TemporaryDirectory(prefix="resched-guests-") as tmp:
        image = initramfs(tmp, args.short)
        for kernel in kernels:
            text = boot(kernel, image)
            if "Kernel panic" in text and "END" not in text:	# an emulator's hiccup: once more
                text = boot(kernel, image)
            failed += judge(os.path.basename(kernel)[8:], text, args.short)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
