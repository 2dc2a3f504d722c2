#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Ring buffer pages beside format files, taken from recordings, give the events of the recordings."""
import os
import shutil
import subprocess
import sys
import tempfile

from common import RESCHED, SHARED, TOP, build_evdump, failed, result

sys.path.insert(0, os.path.join(TOP, "tests", "tools"))
from dat6 import Dat6  # noqa: E402


def dump(evdump, path):
    """Events; our own tasks are known from the snapshot of a recording alone."""
    return subprocess.run([evdump, path], capture_output=True, check=False).stdout.replace(b" ctx=24", b" ctx=8").replace(b" ctx=16", b" ctx=0").splitlines()


def resched(*args):
    p = subprocess.run([RESCHED, *args], capture_output=True, text=True, errors="replace")
    return p.returncode, p.stdout, p.stderr


def tar(folder, out, *how):
    subprocess.run(["tar", "-C", folder, *how, "-cf", out, "."], check=True)
    return out


def same(evdump, work, name, path):
    dat, want = Dat6(path), dump(evdump, path)
    layouts = {"tracefs": {}, "flat": {"cpu_path": "traces/cpu%d", "format_path": "formats/%s.%s"},
               "raw_names": {"cpu_path": "cpu%d/trace_pipe_raw.bin", "format_path": "formats/%s/%s"}}
    for label, paths in layouts.items():
        folder = os.path.join(work, f"{name}-{label}")
        dat.write_folder(folder, **paths)
        result(dump(evdump, folder) == want, f"raw_folder/{name}/{label}")
    folder = os.path.join(work, f"{name}-tracefs")
    result(dump(evdump, tar(folder, folder + ".tar")) == want, f"raw_tar/{name}")
    for how in ("--format=ustar", "--format=posix", "--format=gnu"):
        long = os.path.join(work, "long-" + name + how, "d" * 70, "e" * (30 if how == "--format=ustar" else 90))
        shutil.copytree(folder, long)
        top = os.path.dirname(os.path.dirname(long))
        result(dump(evdump, tar(top, top + ".tar", how)) == want, f"raw_tar/{name}/{how[9:]}")
    result(dump(evdump, tar(folder, folder + ".tgz", "-z")) == want, f"raw_tar/{name}/gzip")
    return folder, want


def damage(evdump, work, folder, want):
    def variant(name, change):
        copy = os.path.join(work, "damaged-" + name)
        shutil.copytree(folder, copy)
        change(copy)
        return copy

    rc, out, err = resched("info", variant("no_formats", lambda d: shutil.rmtree(os.path.join(d, "events"))))
    result(rc == 1 and "no event formats" in err, "raw_no_formats", err)
    rc, out, err = resched("info", variant("no_pages", lambda d: shutil.rmtree(os.path.join(d, "per_cpu"))))
    result(rc == 1 and "no ring buffer pages" in err, "raw_no_pages", err)

    def empty_formats(d):
        for where, _, files in os.walk(os.path.join(d, "events")):
            for f in files:
                os.truncate(os.path.join(where, f), 0)
    rc, out, err = resched("info", variant("empty_formats", empty_formats))
    result(rc == 1 and "format files are empty" in err, "raw_empty_formats", err)
    v = variant("no_header_page", lambda d: os.unlink(os.path.join(d, "events", "header_page")))
    rc, out, err = resched("info", v)
    result(rc == 0 and "header_page is missing" in out and dump(evdump, v) == want, "raw_no_header_page", out)
    v = variant("no_switch", lambda d: shutil.rmtree(os.path.join(d, "events", "sched", "sched_switch")))
    rc, out, err = resched("report", v)
    result(rc == 1 and "no sched_switch" in err, "raw_no_switch_format", err)

    def cut(d):
        path = os.path.join(d, "per_cpu", "cpu0", "trace_pipe_raw")
        os.truncate(path, os.path.getsize(path) - 1000)
    rc, out, err = resched("info", variant("cut", cut))
    result(rc == 3 and "CPU0 is cut" in err, "raw_cut", err)
    path = os.path.join(work, "cut.tar")
    subprocess.run(["tar", "-C", folder, "-cf", path, "events", "per_cpu"], check=True)
    os.truncate(path, os.path.getsize(path) * 3 // 4)
    rc, out, err = resched("info", path)
    result(rc == 3 and "the tar is cut" in err and "CPU0 is cut" in err, "raw_tar_cut", err)
    os.truncate(path, 3000)
    rc, out, err = resched("info", path)
    result(rc == 3 and "holds event formats but no" in err, "raw_tar_cut_early", (rc, err))
    rc, out, err = resched("info", work + "/nothing-here") if os.mkdir(work + "/nothing-here") is None else None
    result(rc == 1 and "holds neither" in err, "raw_empty_folder", err)
    if os.path.isdir("/sys/kernel/tracing/events"):
        rc, out, err = resched("info", "/sys/kernel/tracing")
        result(rc == 1 and "tracing folder itself" in err, "raw_live_tracefs", err)
    else:
        print("skip raw_live_tracefs: no tracefs here")


def main():
    with tempfile.TemporaryDirectory() as work:
        evdump = build_evdump(work)
        folder, want = same(evdump, work, "k612-1c", os.path.join(TOP, "tests", "data", "lab-v6-k612-1c.dat"))
        damage(evdump, work, folder, want)
        for name in ("trace_fifo_multicore", "trace_2014-03_hmp", "schedviz_test"):
            path = os.path.join(SHARED, "traces", "public", name + ".dat")
            if os.path.exists(path):
                same(evdump, work, name, path)
            else:
                print(f"skip raw_folder/{name}: no shared recordings here")
    return failed()


if __name__ == "__main__":
    sys.exit(main())
