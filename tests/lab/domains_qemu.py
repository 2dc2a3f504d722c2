#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Does the model build the domains that a kernel builds? Boots guests of many shapes under QEMU and runs `resched topology` in each.

usage: domains_qemu.py [--kernels DIR] [--fetch] [--short] [--match REGEX]

In the guest `resched topology` reads sysfs, builds the domains and holds them against /proc/schedstat (the cpus of each) and
debugfs (names, flags, parameters); a difference is an error. Emulation alone (TCG), so it runs anywhere; some seconds a guest.
Kernels are vmlinuz-* files of DIR (default: BUILD/kernels); --fetch gets the cloud kernels of the distribution there by
`apt-get download`. --short: two guests only, one that every kernel builds the same way and one with two nodes.
Without QEMU or a kernel it prints one line that begins with `skip` and exits with 0. Environment: BUILD, RESCHED."""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
RESCHED = os.path.abspath(os.environ.get("RESCHED", os.path.join(BUILD, "resched")))
SECONDS = 800       # a guest that has not powered off by then hangs

INIT = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
static void make(const char *dir, const char *type) { mkdir(dir, 0755); mount(type, dir, type, 0, NULL); }
int main(void)
{
	char *const argv[] = { "/resched", "topology", "--no-pager", "--color", "never", NULL };
	int status = 0;
	pid_t pid;
	make("/proc", "proc"); make("/sys", "sysfs"); mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	printf("BEGIN\n"); fflush(stdout);
	pid = fork();
	if (!pid) { dup2(1, 2); execv(argv[0], argv); _exit(127); }
	waitpid(pid, &status, 0);
	printf("END %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1); fflush(stdout);
	if (access("/sys/kernel/debug/sched/domains/cpu0/domain0/name", R_OK) == 0) printf("DEBUGFS\n");
	if (access("/proc/schedstat", R_OK) == 0) printf("SCHEDSTAT\n");
	fflush(stdout); sync(); reboot(RB_POWER_OFF);
	return 0;
}
"""


def nodes(cpus, distances):
    """-numa options: cpu lists a node, and their distances."""
    out = []
    for i, span in enumerate(cpus):
        out += ["-object", f"memory-backend-ram,id=m{i},size=128M", "-numa", f"node,nodeid={i},memdev=m{i}," +
                ",".join(f"cpus={s}" for s in span.split("+"))]
    for i in range(len(cpus)):
        for j in range(len(cpus)):
            if i < j:
                out += ["-numa", f"dist,src={i},dst={j},val={distances(i, j)}"]
    return ["-m", f"{128 * len(cpus)}M"] + out


INTEL = "Skylake-Server-v4"
AMD = "EPYC-v3"
PLAIN = ["-m", "256M"]
GUESTS = {      # name: (cpu model, -smp, other options, kernel arguments)
    "one socket of two cores": (INTEL, "2,sockets=1,cores=2,threads=1", PLAIN, ""),
    "two sockets of one cpu": (INTEL, "2,sockets=2,cores=1,threads=1", PLAIN, ""),
    "one core of two threads": (INTEL, "2,sockets=1,cores=1,threads=2", PLAIN, ""),
    "four cores of two threads": (INTEL, "8,sockets=1,cores=4,threads=2", PLAIN, ""),
    "two sockets, one node": (INTEL, "8,sockets=2,cores=2,threads=2", PLAIN, ""),
    "two sockets, two nodes": (INTEL, "8,sockets=2,cores=2,threads=2", nodes(["0-3", "4-7"], lambda i, j: 21), ""),
    "two sockets, two far nodes": (INTEL, "8,sockets=2,cores=2,threads=2", nodes(["0-3", "4-7"], lambda i, j: 32), ""),
    "two sockets, four nodes": (INTEL, "8,sockets=2,cores=4,threads=1",
                                nodes(["0-1", "2-3", "4-5", "6-7"], lambda i, j: 12 if i // 2 == j // 2 else 32), ""),
    "four nodes in a ring": (INTEL, "4,sockets=4,cores=1,threads=1",
                             nodes(["0", "1", "2", "3"], lambda i, j: 16 if (j - i) % 4 in (1, 3) else 22), ""),
    "amd, two sockets, two nodes": (AMD, "8,sockets=2,cores=2,threads=2", nodes(["0-3", "4-7"], lambda i, j: 32), ""),
    "amd, dies": (AMD, "8,sockets=1,dies=2,cores=4,threads=1", PLAIN, ""),
    "one isolated cpu": (INTEL, "4,sockets=1,cores=4,threads=1", PLAIN, "isolcpus=domain,2"),
    "one cpu": (INTEL, "1,sockets=1,cores=1,threads=1", PLAIN, ""),
}
SHORT = ("four cores of two threads", "two sockets, two nodes")


def skip(why):
    print(f"skip domains of guests: {why}")
    sys.exit(0)


def fetch(folder):
    """The distribution's cloud kernels, unpacked without being installed."""
    names = subprocess.run(["apt-cache", "search", "--names-only", r"^linux-image-6\.[0-9.]+.*-cloud-amd64$"], capture_output=True, text=True,
                           check=False).stdout.split("\n")
    newest = {}
    for name in (n.split()[0] for n in names if n.strip()):
        series = re.match(r"linux-image-(\d+\.\d+)", name)[1]
        key = [int(x) for x in re.findall(r"\d+", name)]
        if series not in newest or key > newest[series][0]:
            newest[series] = (key, name)
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as tmp:
        for _, name in newest.values():
            subprocess.run(["apt-get", "download", "-q", name], cwd=tmp, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        for deb in glob.glob(tmp + "/*.deb"):
            subprocess.run(["dpkg", "-x", deb, tmp + "/x"], check=False)
        for image in glob.glob(tmp + "/x/boot/vmlinuz-*"):
            part = shutil.copy(image, os.path.join(folder, f".part-{os.getpid()}"))	# others may be looking
            os.rename(part, os.path.join(folder, os.path.basename(image)))


def archive(root, path):
    """A cpio archive (newc) of the folder."""
    with open(path, "wb") as out:
        def put(name, mode, data=b""):
            fields = [0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
            head = b"070701" + b"".join(b"%08X" % f for f in fields) + name.encode() + b"\0"
            out.write(head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4))
        for folder, _, files in os.walk(root):
            at = os.path.relpath(folder, root)
            if at != ".":
                put(at, 0o40755)
            for name in files:
                with open(os.path.join(folder, name), "rb") as f:
                    put(os.path.normpath(os.path.join(at, name)), 0o100755, f.read())
        put("TRAILER!!!", 0)
    return path


def initramfs(tmp):
    """The program, what it needs, and an init that runs it once."""
    root = os.path.join(tmp, "root")
    os.makedirs(root)
    with open(os.path.join(tmp, "init.c"), "w", encoding="utf-8") as f:
        f.write(INIT)
    subprocess.run([os.environ.get("CC", "cc").split()[-1], "-O1", "-o", root + "/init", tmp + "/init.c"], check=True)
    shutil.copy(RESCHED, root + "/resched")
    libraries = subprocess.run(["ldd", RESCHED], capture_output=True, text=True, check=True).stdout
    for path in re.findall(r"(/\S+) \(0x", libraries):
        os.makedirs(root + os.path.dirname(path), exist_ok=True)
        shutil.copy(path, root + path)
    return archive(root, os.path.join(tmp, "initrd"))


def boot(kernel, image, guest):
    cpu, smp, options, arguments = guest
    command = ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-nographic", "-no-reboot", "-nodefaults", "-serial", "stdio", "-cpu", cpu,
               "-smp", smp, *options, "-kernel", kernel, "-initrd", image,
               "-append", f"console=ttyS0 quiet panic=-1 sched_verbose mitigations=off {arguments}"]
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return None


def judge(name, run):
    """Return: whether the model and the kernel agree; prints why not."""
    if run is None:
        print(f"not ok {name}: no end after {SECONDS} s")
        return False
    text = run.stdout.replace("\r", "")
    found = re.search(r"BEGIN\n(.*?)END (-?\d+)\n(.*)", text, re.S)
    if not found:
        print(f"not ok {name}: did not get to the program\n{(text or run.stderr)[-800:]}")
        return False
    if found[2] != "0" or "SCHEDSTAT" not in found[3]:
        print(f"not ok {name}: exit {found[2]}\n{found[1]}")
        return False
    print(f"ok {name}{'' if 'DEBUGFS' in found[3] else ' (no domains in debugfs)'}", flush=True)
    return True


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--kernels", default=os.path.join(BUILD, "kernels"))
    p.add_argument("--fetch", action="store_true")
    p.add_argument("--short", action="store_true")
    p.add_argument("--match", default="")
    args = p.parse_args()
    for tool in ("qemu-system-x86_64", "ldd"):
        if not shutil.which(tool):
            skip(f"{tool} is not installed")
    if args.fetch and not glob.glob(args.kernels + "/vmlinuz-*"):
        fetch(args.kernels)
    kernels = sorted(k for k in glob.glob(args.kernels + "/vmlinuz-*") if os.access(k, os.R_OK))
    if not kernels:
        skip(f"no vmlinuz-* in {args.kernels}")
    failed = 0
    with tempfile.TemporaryDirectory(prefix="resched-guests-") as tmp:
        image = initramfs(tmp)
        for kernel in kernels:
            release = os.path.basename(kernel)[8:]
            for name, guest in GUESTS.items():
                if (args.short and name not in SHORT) or not re.search(args.match, name):
                    continue
                run = boot(kernel, image, guest)
                if run and "Kernel panic" in run.stdout and "END" not in run.stdout:    # an emulator's hiccup: once more
                    run = boot(kernel, image, guest)
                failed += not judge(f"{release}: {name}", run)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
