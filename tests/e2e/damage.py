#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Deliberately damaged recordings of every format: what is done to each, and what `resched info` and `resched report` must say.

damage.py          make them, run both commands on each, compare
damage.py --doc    print the table as docs/damaged-inputs.md has it
damage.py --show   print what each really says"""
import gzip
import io
import lzma
import os
import random
import re
import struct
import subprocess
import sys
import tarfile
import tempfile

TOP = os.environ.get("RESCHED_TOP", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
BUILD = os.environ.get("BUILD", "build")
RESCHED = os.environ.get("RESCHED", os.path.join(TOP, BUILD, "resched"))
sys.path.insert(0, os.path.join(TOP, "tests", "tools"))
import perf_encode as perf  # noqa: E402
import perfetto_encode as pf  # noqa: E402
from dat6 import Dat6  # noqa: E402

DATA = os.path.join(TOP, "tests", "data")
V6 = os.path.join(DATA, "lab-v6-k612-1c.dat")
V7 = os.path.join(DATA, "lab-v7-k612-2c.dat")
PLAIN7 = os.path.join(DATA, "lab-v7-none-k61-2c.dat")
PAGE = 4096


def load(path):
    with open(path, "rb") as f:
        return f.read()


def put(raw, at, data):
    return raw[:at] + data + raw[at + len(data):]


# ---- trace.dat version 6

def v6_page(nr, change):
    dat = Dat6(V6)
    at = dat.cpus[0][0] + nr * PAGE
    return put(dat.raw, at, change(dat.raw[at:at + PAGE]))


def commit(page):
    return struct.unpack_from("<Q", page, 8)[0]


def with_lost(page, count):
    n = commit(page) & 0x7ffffff
    if n + 8 > PAGE - 16:
        return put(page, 8, struct.pack("<Q", n | 1 << 31))
    return put(put(page, 8, struct.pack("<Q", n | 3 << 30)), 16 + n, struct.pack("<Q", count))


def v6_format(name, old, new):
    assert len(old) == len(new)
    raw = Dat6(V6).raw
    at = raw.index(b"name: " + name + b"\n")
    at = raw.index(old, at)
    return put(raw, at, new)


def v6_long_record():
    """The second record of page 1 claims to reach far over its page."""
    dat = Dat6(V6)
    at = dat.cpus[0][0] + PAGE + 16
    first = struct.unpack_from("<I", dat.raw, at)[0]
    at += 4 + (first & 31) * 4 if 0 < first & 31 < 29 else 8
    return put(dat.raw, at, struct.pack("<II", 0, 60000))


# ---- trace.dat version 7

def plain7_cpus():
    """Where the pages of each cpu are: runs of pages with stamps near each other, found by their heads."""
    raw = load(PLAIN7)
    pages = [at for at in range(0, len(raw) - PAGE + 1, PAGE) if 0 < struct.unpack_from("<Q", raw, at + 8)[0] & ~(3 << 30) <= PAGE - 16 and
             8 * 10**9 < struct.unpack_from("<Q", raw, at)[0] < 20 * 10**9]
    stamps = [struct.unpack_from("<Q", raw, at)[0] for at in pages]
    split = next(i for i in range(1, len(pages)) if stamps[i] < stamps[i - 1])
    return raw, pages[:split], pages[split:]


def overwritten_ring():
    """The second cpu's first three pages are gone, as a ring buffer in overwrite mode leaves it."""
    raw, _, second = plain7_cpus()
    for i, at in enumerate(second):
        take = second[i + 3] if i + 3 < len(second) else None
        page = raw[take:take + PAGE] if take else put(raw[at:at + PAGE], 8, struct.pack("<Q", 0))
        if i == 0:
            page = with_lost(page, 500)
        raw = put(raw, at, page)
    return raw


def swapped_pages():
    raw, first, _ = plain7_cpus()
    a, b = first[1], first[2]
    return put(put(raw, a, raw[b:b + PAGE]), b, raw[a:a + PAGE])


def v7_chunk(change):
    raw = load(V7)
    frames = [m.start() for m in re.finditer(re.escape(b"\x28\xb5\x2f\xfd"), raw)]
    return change(raw, max(frames, key=lambda at: struct.unpack_from("<I", raw, at - 8)[0]))  # the largest: events of a cpu


# ---- perf.data

def perf_parts():
    dat = Dat6(V6)
    return dat, [s[2] for s in perf.samples(dat)]


def perf_file(change=lambda recs: recs, **how):
    dat, recs = perf_parts()
    return perf.write(dat, list(change(recs)) + [perf.finished_round()], **how)


def perf_no_time():
    dat = Dat6(V6)
    st = perf.SAMPLE_TYPE & ~perf.TIME
    return perf.write(dat, [s[2] for s in perf.samples(dat, st)], sample_type=st)


def perf_zeros():
    raw = perf_file()
    return put(raw, len(raw) // 3, bytes(2000))


# ---- text

def text_lines():
    out = ["# tracer: nop", "#", "# entries-in-buffer/entries-written: 0/0   #P:2", "#"]
    letters = {0: "R", 1: "S", 2: "D", 128: "I", 256: "R+", 16: "X", 32: "Z"}
    for e in pf.read(V7):
        body = " ".join(f"{k}={v}" for k, v in e.fields.items())
        if e.name == "sched_switch":
            body = body.replace(f"prev_state={e.fields['prev_state']} ", f"prev_state={letters.get(int(e.fields['prev_state']), 'D')} ==> ")
        out.append(f"{'task':>16}-{e.pid:<7} [{e.cpu:03}] d..2. {e.ts // 10**9}.{e.ts % 10**9 // 1000:06}: {e.name}: {body}")
    return out


def text(change=lambda lines: lines):
    return ("\n".join(change(text_lines())) + "\n").encode()


def late_line(lines):
    """One line is written 5,000 lines too late."""
    many = lines + [l.replace(" 9.", " 19.").replace(" 10.", " 20.") for l in lines[4:]]
    line = many.pop(10)
    return many[:5500] + [line] + many[5500:]


# ---- perfetto

def events():
    return list(pf.read(V7))


def perfetto(columns=False, **how):
    return b"".join(pf.encode(events(), columns, **how))


def perfetto_bad_inside():
    raw = perfetto()
    return put(raw, len(raw) // 2, b"\xff" * 64)


def perfetto_short_columns():
    """One column of a bundle has fewer values than the others."""
    part = [e for e in events() if e.cpu == 0 and e.name == "sched_switch"][:20]
    whole = pf.compact(part)
    at = whole.rindex(b"\x32")  # switch_next_comm_index, the last column
    n = whole[at + 1]
    short = pf.data(4, pf.data(5, "x") + whole[whole.index(b"\x0a", 3):at] + bytes([0x32, n - 10]) + whole[at + 2:at + 2 + n - 10])
    return b"".join([pf.packet(pf.data(1, pf.number(1, 0) + short))] + pf.encode(events()))


# ---- ring buffer pages

def folder(change=lambda members: members, out=None):
    """A tar of pages and formats."""
    dat = Dat6(V6)
    members = {"events/header_page": dat.header_page, "saved_cmdlines": dat.cmdlines, "per_cpu/cpu0/trace_pipe_raw": dat.pages(0)}
    for system, fmt in dat.formats:
        members[f"events/{system}/{fmt.split(b'name: ')[1].split(chr(10).encode())[0].decode()}/format"] = fmt
    buf = io.BytesIO()
    with tarfile.open(fileobj=buf, mode="w") as tar:
        for name, data in change(members).items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return buf.getvalue()


def without(*names):
    return lambda members: {k: v for k, v in members.items() if not any(n in k for n in names)}


def third_record(page):
    """Where the third record of data of a little endian page is."""
    at, seen = 16, 0
    while True:
        kind = struct.unpack_from("<I", page, at)[0] & 31
        seen += 0 < kind < 29
        if seen == 3:
            return at
        at += 4 + kind * 4 if 0 < kind < 29 else 8


def long_delta(page):
    """A stretch of time, as the ring buffer writes one, in the place of a record of at least 8 bytes; the rest of it is discarded."""
    at = third_record(page)
    size = 4 + (struct.unpack_from("<I", page, at)[0] & 31) * 4
    page = put(page, at, struct.pack("<II", 30, 2280 * 10**9 >> 27))
    return put(page, at + 8, struct.pack("<II", 29 | 1 << 5, size - 8 - 4)) if size >= 16 else page


def odd_id(page):
    return put(page, third_record(page) + 4, struct.pack("<H", 65000))


def cut(raw, part):
    return raw[:int(len(raw) * part)]


D6, D7 = load(V6), load(V7)

# name, what was done, how, exit code of info, of report, words that info or report must say
CASES = [
    # trace.dat v6
    ("v6-magic-cut", "trace.dat v6 cut inside its first bytes", lambda: D6[:7], 3, 3, "cut"),
    ("v6-header-cut", "trace.dat v6 cut in header_page", lambda: D6[:100], 3, 3, "cut or damaged in its page header"),
    ("v6-formats-cut", "trace.dat v6 cut in the event formats", lambda: D6[:3000], 3, 3, "cut or damaged in its event formats"),
    ("v6-table-cut", "trace.dat v6 cut before the table of CPUs", lambda: D6[:Dat6(V6).table_at - 4], 3, 3, "cut or damaged"),
    ("v6-half-page", "trace.dat v6 cut inside a page", lambda: D6[:Dat6(V6).cpus[0][0] + 5 * PAGE + 1000], 3, 3, "file ends early"),
    ("v6-whole-pages", "trace.dat v6 cut at the end of a page", lambda: D6[:Dat6(V6).cpus[0][0] + 5 * PAGE], 3, 3, "file ends early"),
    ("v6-no-pages", "trace.dat v6 cut where the pages begin", lambda: D6[:Dat6(V6).cpus[0][0]], 3, 3, "no event data"),
    ("v6-zero-page", "trace.dat v6, a page of zeros in the middle", lambda: v6_page(3, lambda p: bytes(PAGE)), 0, 0, ""),
    ("v6-page-length", "trace.dat v6, a page that claims 100,000 bytes", lambda: v6_page(3, lambda p: put(p, 8, struct.pack("<Q", 100000))), 3, 3,
     "1 pages of events are damaged"),
    ("v6-page-noise", "trace.dat v6, a page of noise", lambda: v6_page(3, lambda p: random.Random(1).randbytes(PAGE)), 3, 3, "pages of events are damaged"),
    ("v6-record-length", "trace.dat v6, a record that reaches over its page", v6_long_record, 3, 3, "pages of events are damaged"),
    ("v6-clock-back", "trace.dat v6, a page stamped a second too early", lambda: v6_page(3, lambda p: put(p, 0, struct.pack("<Q", struct.unpack_from("<Q", p)[0] - 10**9))),
     3, 3, "damaged time stamps"),
    ("v6-delta", "trace.dat v6, a delta inside a page that became 38 minutes", lambda: v6_page(3, long_delta), 3, 3, "damaged time stamps"),
    ("v6-event-id", "trace.dat v6, one event's id became one that nothing has", lambda: v6_page(3, odd_id), 3, 3, "no format for"),
    ("v6-lost", "trace.dat v6, a page with the kernel's mark of 1,234 lost events", lambda: v6_page(3, lambda p: with_lost(p, 1234)), 0, 0, "lost"),
    ("v6-version", "trace.dat that says version 9", lambda: put(D6, 10, b"9"), 1, 1, "version 9 is newer"),
    ("v6-cpus", "trace.dat v6 that claims 4 billion CPUs", lambda: put(D6, Dat6(V6).cpus_at, b"\xff\xff\xff\xff"), 3, 3, "claims 4294967295 CPUs"),
    ("v6-range", "trace.dat v6 whose CPU lies behind the file", lambda: put(D6, Dat6(V6).table_at, struct.pack("<Q", 1 << 40)), 3, 3, "no event data"),
    ("v6-field-gone", "trace.dat v6, the format of sched_switch lacks next_pid", lambda: v6_format(b"sched_switch", b"next_pid;", b"nxxt_pid;"), 3, 3,
     "format of sched_switch lacks a field"),
    ("v6-format-gone", "trace.dat v6 without the format of sched_switch", lambda: v6_format(b"sched_switch", b"ID: ", b"IX: "), 3, 3, "format cannot be understood"),
    ("v6-print-fmt", "trace.dat v6, the states in sched_switch's print format are damaged", lambda: v6_format(b"sched_switch", b"__print_flags", b"__xxxxx_flags"), 0, 0,
     "task states in the print format"),
    # trace.dat v7
    ("v7-half", "trace.dat v7 (zstd) cut at a half", lambda: cut(D7, .5), 3, 3, ""),
    ("v7-nine-tenths", "trace.dat v7 (zstd) cut at nine tenths", lambda: cut(D7, .9), 3, 3, "file ends early"),
    ("v7-chunk", "trace.dat v7, bytes changed inside a compressed chunk", lambda: v7_chunk(lambda r, at: put(r, at + 60, b"\xff" * 40)), 3, 3, "compressed chunk"),
    ("v7-chunk-size", "trace.dat v7, a chunk that claims 2 GiB", lambda: v7_chunk(lambda r, at: put(r, at - 8, b"\xff\xff\xff\x7f")), 3, 3, "ends early"),
    ("v7-compression", "trace.dat v7 with a compression nobody knows", lambda: D7.replace(b"zstd\0", b"zzzz\0", 1), 1, 1, "zzzz"),
    ("v7-overwritten", "trace.dat v7, one CPU's ring was overwritten: it begins later", overwritten_ring, 0, 0, "buffers begin at different times"),
    ("v7-pages-swapped", "trace.dat v7, two pages of a CPU in the wrong order", swapped_pages, 3, 3, "damaged time stamps"),
    # perf.data
    ("perf-half", "perf.data cut at a half", lambda: cut(perf_file(), .5), 3, 3, "behind the cut"),
    ("perf-killed", "perf.data whose header was never completed (perf was killed)", lambda: perf_file(size=0, with_tracing=False), 3, 3, "perf writes them when it ends"),
    ("perf-no-formats", "perf.data without tracing data", lambda: perf_file(with_tracing=False), 3, 3, "formats of the events"),
    ("perf-record-size", "perf.data, a record that claims 0 bytes", lambda: perf_file(lambda r: r[:300] + [struct.pack("<IHH", 9, 0, 0)] + r[300:]), 3, 3, ""),
    ("perf-record-type", "perf.data, a record of a type nobody knows", lambda: perf_file(lambda r: r[:300] + [perf.record(4000, bytes(24))] + r[300:]), 0, 0, ""),
    ("perf-lost", "perf.data with a LOST record", lambda: perf_file(lambda r: r[:300] + [perf.lost(1, 77, 8 * 10**9 + 2 * 10**7, 0)] + r[300:]), 0, 0, "77"),
    ("perf-no-time", "perf.data whose samples carry no time", perf_no_time, 3, 3, "no time"),
    ("perf-zeros", "perf.data, 2,000 zero bytes among the records", perf_zeros, 3, 3, ""),
    ("perf-attr", "perf.data whose attributes lie behind the file", lambda: put(perf_file(), 24, struct.pack("<Q", 1 << 50)), 3, 3, ""),
    # text
    ("text-cut", "ftrace text cut inside a line", lambda: cut(text(), .5), 3, 3, "the last, is cut"),
    ("text-lost", "ftrace text with a line about lost events", lambda: text(lambda l: l[:500] + ["CPU:1 [LOST 55 EVENTS]"] + l[500:]), 0, 0, "55"),
    ("text-nuls", "ftrace text with a block of NUL bytes", lambda: put(text(), 40000, bytes(500)), 3, 3, "NUL"),
    ("text-noise", "ftrace text with lines of noise", lambda: text(lambda l: l[:300] + ["?" * 80, "sched_switch: what is this"] + l[300:]), 3, 3, "cannot be understood"),
    ("text-late", "ftrace text, a line 5,000 lines too late", lambda: text(late_line), 0, 0, "more than 4096 events late"),
    ("text-mixed", "ftrace text, neighbouring lines exchanged", lambda: text(lambda l: l[:400] + l[401:402] + l[400:401] + l[402:]), 0, 0, "out of order"),
    ("text-ticks", "ftrace text whose stamps are ticks of a counter", lambda: re.sub(rb" (\d+)\.(\d{6}):", rb" \1\2:", text()), 1, 1, "ticks of a counter"),
    ("text-waits-gone", "ftrace text without wakeups", lambda: text(lambda l: [x for x in l if "sched_wak" not in x]), 0, 0, "neither sched_waking nor sched_wakeup"),
    ("html-empty", "HTML without a trace in it", lambda: b"<!DOCTYPE html>\n<html><body>nothing</body></html>\n", 1, 1, "HTML without the trace"),
    # perfetto
    ("perfetto-cut", "Perfetto trace cut at two thirds", lambda: cut(perfetto(), .66), 3, 3, "file ends early"),
    ("perfetto-noise", "Perfetto trace, noise inside a packet", perfetto_bad_inside, 3, 3, "damaged"),
    ("perfetto-zeros", "Perfetto trace, zeros where packets should begin", lambda: put(perfetto(), len(b"".join(pf.encode(events())[:6])), bytes(4096)), 3, 3, "are no packets"),
    ("perfetto-columns", "Perfetto trace, columns of unequal length", perfetto_short_columns, 3, 3, "damaged"),
    ("perfetto-deflate", "Perfetto trace, a compressed packet that is none", lambda: b"".join(pf.pack(pf.encode(events()), "deflate")[:2]) +
     pf.data(1, pf.data(50, b"\x78\x9c" + b"\x55" * 500)), 3, 3, "compressed packets are damaged"),
    ("gzip-perfetto", "a Perfetto trace in gzip, cut", lambda: cut(gzip.compress(perfetto()), .6), 3, 3, "is cut off after"),
    ("gzip-tar", "a tar of pages in gzip, cut", lambda: cut(gzip.compress(folder()), .6), 3, 3, "it is cut before them"),
    ("perfetto-lost", "Perfetto trace, a bundle that says events were lost before it", lambda: perfetto() + pf.packet(pf.data(1, pf.bundle(0, [e._replace(cpu=0, ts=e.ts + 2 * 10**9)
     for e in events()[:50]], False, lost=True))), 0, 0, "lost"),
    ("perfetto-kernel", "Perfetto trace that does not tell the kernel", lambda: perfetto(info=False), 0, 0, "does not tell the kernel"),
    ("perfetto-suspend", "Perfetto trace over a suspend of 30 s", lambda: pf.clocks(10**9, 10**9) + perfetto() + pf.clocks(41 * 10**9, 11 * 10**9), 0, 0, "suspended for 30.000 s"),
    ("perfetto-empty", "Perfetto trace without ftrace events", lambda: pf.marker() + pf.system_info("6.1.0", 4), 0, 1, "no ftrace events"),
    # pages
    ("raw-no-formats", "pages without event formats (tar)", lambda: folder(without("events/")), 1, 1, "no event formats"),
    ("raw-empty-formats", "pages beside format files of no bytes, as tar takes them from tracefs", lambda: folder(lambda m: {k: b"" if k.endswith("format") else v for k, v in m.items()}),
     1, 1, "format files are empty"),
    ("raw-no-pages", "formats without pages (tar)", lambda: folder(without("trace_pipe_raw")), 1, 1, "no ring buffer pages"),
    ("raw-no-switch", "pages beside formats, that of sched_switch not among them", lambda: folder(without("sched_switch")), 0, 1, "there is none of sched_switch"),
    ("raw-no-header", "pages beside formats without header_page", lambda: folder(without("header_page")), 0, 0, "header_page is missing"),
    ("raw-half-page", "the last page is half there", lambda: folder(lambda m: {k: v[:-2000] if "raw" in k else v for k, v in m.items()}), 3, 3, "CPU0 is cut"),
    ("raw-tar-cut", "the tar is cut", lambda: folder(lambda m: {k: m[k] for k in sorted(m)})[:100000], 3, 3, "the tar is cut"),
    # around any
    ("gzip-cut", "a recording in gzip, cut", lambda: cut(gzip.compress(D6), .7), 3, 3, "is cut off after"),
    ("gzip-noise", "a text in gzip, bytes changed inside", lambda: put(gzip.compress(text()), 9000, b"\x00\xff" * 20), 3, 3, "compressed file"),
    ("xz-cut", "a recording in xz, cut", lambda: cut(lzma.compress(D6), .7), 3, 3, "is cut off after"),
    ("nothing", "an empty file", lambda: b"", 1, 1, "is empty"),
    ("noise", "noise", lambda: b"\xee" + random.Random(2).randbytes(5000), 1, 1, "no recording"),
    ("program", "a program", lambda: b"\x7fELF\2\1\1" + bytes(2000), 1, 1, "a program"),
    ("json", "JSON", lambda: b'{"traceEvents": []}\n', 1, 1, "JSON"),
    ("prose", "text that is no trace", lambda: b"It was a dark and stormy night.\n" * 50, 1, 1, "no line of it is an event"),
]


def doc():
    lines = ["# Damaged inputs", "",
             "What `resched info` and `resched report` do with recordings that were damaged on purpose. The recordings are made by",
             "`tests/e2e/damage.py`, which also checks each line of this table (`damage.py --doc` prints it). Exit codes: 0 done, 1 no recording or",
             "nothing to report, 3 damaged, and what could be read was used. Words are part of the message or of a warning; `info` prints",
             "all warnings; other commands tell those of a damaged recording in one line, and with `-v` every recording's, a line each.", "",
             "| input | info | report | says |", "|---|---|---|---|"]
    for _, what, _, info, report, words in CASES:
        lines.append(f"| {what} | {info} | {report} | {words or '(counts are exact)' if info == 0 else words or 'what was lost'} |")
    return "\n".join(lines) + "\n" + UNSEEN


# Of formats without checksums, which are all but gzip, xz and zstd around or inside a recording.
UNSEEN = """
## What cannot be detected

No checksum covers what is in these files, so that damage which leaves a possible recording behind is read as it stands:

- a pid, priority, state, CPU or name inside an event that became another possible one, and an event whose id became that of another event
  with a format as long. A switch that does not leave the task its CPU went to before is the only trace of it, and told for perf.data.
- a time stamp that became another between those around it, or up to 1 ms behind the stamp of the next page: the order may then be wrong.
- a stamp that became too late where nothing later bounds it: in the last page of a CPU and in the last page of a compressed chunk. What
  follows it on that CPU is moved to that time, and told as time that ran backwards.
- a page of zeros, or one whose committed bytes became fewer: it is an empty or shorter page; nothing tells what it held.
- a file that ends, or lacks a part, exactly between two pages (folders and tars of pages), rounds (perf.data in a pipe), packets (Perfetto) or
  lines (text), where nothing says how long it was. Files that tell sizes, trace.dat and perf.data in a file, are told to be cut.
- data of two CPUs, or pages of equal stamps of one CPU, that changed places.
- a loss whose mark was lost with it.
"""


def run(*args):
    p = subprocess.run([RESCHED, *args], capture_output=True, text=True, errors="replace", timeout=60)
    return p.returncode, p.stdout + p.stderr


COMMANDS = (("report",), ("info",), ("replay", "--policy", "eevdf"), ("compare", "--policy", "cfs"), ("validate",), ("outliers",),
            ("explain", "--at", "1ms", "--cpu", "0"), ("export", "--format", "csv", "-o", "/dev/null"))


def one_line(path, command):
    """Whatever is wrong with it is told in one line that names it."""
    p = subprocess.run([RESCHED, command[0], path, *command[1:]], capture_output=True, text=True, errors="replace", timeout=60)
    lines = p.stderr.splitlines()
    good = not lines if p.returncode == 0 else p.returncode in (1, 2, 3) and len(lines) == 1 and path in lines[0]
    if not good:
        print(f"# {command[0]}: exit code {p.returncode}, wanted one line that names the recording, not {lines}")
    return good


def main():
    if sys.argv[1:] == ["--doc"]:
        print(doc(), end="")
        return 0
    failed = False
    with tempfile.TemporaryDirectory() as work:
        for name, what, make, want_info, want_report, words in CASES:
            path = os.path.join(work, name)
            with open(path, "wb") as f:
                f.write(make())
            info, info_text = run("info", path)
            report, report_text = run("report", "-v", path)
            said = info_text + report_text
            good = (info, report) == (want_info, want_report) and words in said and "Sanitizer" not in said
            good &= all([one_line(path, command) for command in COMMANDS])
            failed |= not good
            if sys.argv[1:] == ["--show"] or not good:
                print(f"# {name}: info {info}, report {report}; wanted {want_info}, {want_report} and '{words}'")
                for line in info_text.splitlines():
                    if re.match(r"resched|warnings|  {8}[^0-9]*[a-z]|lost", line) and not re.match(r" +[\d,]+ ", line):
                        print("#    ", line[:230])
                print("#     r:", [x for x in report_text.splitlines() if x.startswith("resched")][:3])
            print(("ok " if good else "not ok ") + "damage/" + name)
    try:
        with open(os.path.join(TOP, "docs", "damaged-inputs.md"), encoding="utf-8") as f:
            same = f.read() == doc()
    except OSError:
        same = False
    print(("ok " if same else "not ok ") + "damage/documented")
    return failed or not same


if __name__ == "__main__":
    sys.exit(main())
