#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Every file of the fuzz corpus through its target, and each of them damaged in a few hundred ways that are the same every time: no
crash, no finding of the sanitizers, and never more than a second (for small files; and memory within bounds)."""
import glob
import itertools
import os
import random
import shlex
import subprocess
import sys
import tempfile
import time

from common import BUILD, TOP, failed, result

MUTANTS = int(os.environ.get("FUZZ_MUTANTS", "40"))	# of each file


def build(folder, target):
    """Against the instrumented library where there is one."""
    where = os.path.join(BUILD, "san")
    if not os.path.exists(os.path.join(where, "libresched.a")):
        where = BUILD
    with open(os.path.join(where, "flags"), encoding="utf-8") as f:
        compiler, _, libs = f.read().partition("|")
    linker, libs = libs.split("|")
    exe = os.path.join(folder, target)
    sources = ["tests/fuzz/%s.c" % s for s in (target, "trace", "main")]
    sanitizers = [w for w in shlex.split(linker) if w.startswith("-fsanitize") or w.startswith("-fno-sanitize")]
    daemon = []
    if target == "protocol":
        packages = subprocess.run(["pkg-config", "--libs", "inih", "json-c", "libseccomp", "libsystemd"], capture_output=True, text=True, check=True).stdout
        daemon = [os.path.join(where, "daemon.a")]
        libs += " " + packages
    subprocess.run([*itertools.takewhile(lambda word: not word.startswith("-"), compiler.split()), "-std=gnu11", "-D_GNU_SOURCE", "-g", "-O1", *sanitizers, "-Iinclude", "-Isrc", "-Itests/fuzz", "-o", exe,
                    *sources, *daemon, os.path.join(where, "libresched.a"), *libs.split()], check=True, cwd=TOP)
    return exe


def mutants(data, seed):
    """Bytes changed, pieces cut out, doubled or moved, numbers made extreme, the end cut off."""
    rng = random.Random(seed)
    for _ in range(MUTANTS):
        out = bytearray(data)
        for _ in range(rng.choice((1, 1, 2, 8))):
            at, size = rng.randrange(len(out)), rng.randrange(1, 64)
            kind = rng.randrange(6)
            if kind == 0:
                out[at] ^= 1 << rng.randrange(8)
            elif kind == 1:
                out[at:at + 4] = rng.choice((b"\0\0\0\0", b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\x80"))
            elif kind == 2 and len(out) > size + 16:
                del out[at:at + size]
            elif kind == 3:
                out[at:at] = out[at:at + size]
            elif kind == 4 and len(out) > 32:
                del out[rng.randrange(16, len(out)):]
            else:
                out[at:at + size] = bytes(rng.randrange(256) for _ in range(size))
        yield bytes(out)


def go(exe, files):
    begin = time.monotonic()
    p = subprocess.run([exe, *files], capture_output=True, check=False, timeout=600,
                       env=dict(os.environ, ASAN_OPTIONS="max_allocation_size_mb=512:allocator_may_return_null=0", UBSAN_OPTIONS="print_stacktrace=1"))
    last = p.stdout.decode(errors="replace").splitlines()[-1:] or ["?"]
    return p.returncode == 0, "%s: %s" % (last[0], p.stderr.decode(errors="replace")[:600]), time.monotonic() - begin


def main():
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(glob.glob(os.path.join(TOP, "tests/fuzz/*.c"))):
            target = os.path.basename(path)[:-2]
            if target in ("main", "trace"):
                continue
            exe = build(folder, target)
            files = sorted(glob.glob(os.path.join(TOP, "tests/fuzz/corpus", target, "*")))
            good, why, _ = go(exe, files)
            result(good and files, "fuzz corpus of %s (%d files)" % (target, len(files)), why)
            names = []
            for file in files:
                for i, data in enumerate(mutants(open(file, "rb").read(), os.path.basename(file))):
                    names.append(os.path.join(folder, "%s-%d-%s" % (target, i, os.path.basename(file))))
                    with open(names[-1], "wb") as f:
                        f.write(data)
            good, why, seconds = go(exe, names)
            result(good, "%d damaged files for %s" % (len(names), target), why)
            result(seconds < 1 + len(names), "at less than a second each (%s)" % target, "%.0f s" % seconds)
            if good:
                for name in names:
                    os.unlink(name)
    sys.exit(1 if failed() else 0)


main()
