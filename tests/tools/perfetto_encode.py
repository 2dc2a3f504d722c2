#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Perfetto traces for tests, made from what `trace-cmd report -R` prints of a trace.dat: an encoder that shares nothing with ours.

perfetto_encode.py FILE.dat OUT [--compact] [--pack deflate|zstd] [--rounds N] [--release R] [--no-info]"""
import argparse
import collections
import re
import subprocess
import sys
import zlib

KINDS = {"sched_switch": 4, "sched_wakeup": 17, "sched_waking": 20, "sched_wakeup_new": 114, "task_rename": 236, "sched_process_exec": 237,
         "sched_process_exit": 238, "sched_process_fork": 239, "sched_pi_setprio": 353, "sched_migrate_task": 491, "print": 3}
FIELDS = {
    "sched_switch": ["prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid", "next_prio"],
    "sched_wakeup": ["comm", "pid", "prio", None, "target_cpu"],
    "sched_migrate_task": ["comm", "pid", "prio", "orig_cpu", "dest_cpu"],
    "sched_process_fork": ["parent_comm", "parent_pid", "child_comm", "child_pid"],
    "sched_process_exec": ["filename", "pid", "old_pid"],
    "sched_process_exit": ["comm", "pid", None, "prio"],
    "sched_pi_setprio": ["comm", "newprio", "oldprio", "pid"],
    "task_rename": ["pid", "oldcomm", "newcomm", "oom_score_adj"],
    "print": ["ip", "buf"],
}
FIELDS["sched_waking"] = FIELDS["sched_wakeup_new"] = FIELDS["sched_wakeup"]

Event = collections.namedtuple("Event", "ts cpu pid flags name fields")
LINE = re.compile(r"^\s*(.*)-(\d+)\s+(\d+)-0x([0-9a-f]+)\s+(\d+)\.(\d{9}): (\w+):\s*(.*)$")


def varint(v):
    v &= (1 << 64) - 1
    out = bytearray()
    while v > 0x7f:
        out.append(v & 0x7f | 0x80)
        v >>= 7
    out.append(v)
    return bytes(out)


def number(field, v):
    return varint(field << 3) + varint(v)


def data(field, b):
    if isinstance(b, str):
        b = b.encode(errors="surrogateescape")
    return varint(field << 3 | 2) + varint(len(b)) + b


def fields_of(text):
    """key=value pairs; a value reaches to the next known-looking key."""
    keys = list(re.finditer(r"(?:^| )(\w+)=", text))
    return {m.group(1): text[m.end():keys[i + 1].start() if i + 1 < len(keys) else len(text)] for i, m in enumerate(keys)}


def read(path):
    text = subprocess.run(["trace-cmd", "report", "-R", "-t", "-l", path], capture_output=True, check=True).stdout
    for line in text.decode(errors="surrogateescape").splitlines():
        m = LINE.match(line)
        if m:
            yield Event(int(m[5]) * 10**9 + int(m[6]), int(m[3]), int(m[2]), int(m[4], 16), m[7], fields_of(m[8]))


def to_number(text):
    return int(text, 16) if text.startswith("0x") else int(text, 10)


def body(ev):
    if ev.name == "sched_stat_runtime":
        out = data(1, ev.name)
        for key, value in ev.fields.items():
            out += data(2, data(1, key) + (data(3, value) if key == "comm" else number(5, to_number(value))))
        return data(327, out)
    out = b""
    for i, key in enumerate(FIELDS[ev.name], 1):
        if key is None or key not in ev.fields:
            continue
        value = ev.fields[key]
        out += data(i, value) if key.endswith("comm") or key in ("filename", "buf") else number(i, to_number(value))
    return data(KINDS[ev.name], out)


def event(ev):
    return data(2, number(1, ev.ts) + number(2, ev.pid) + body(ev) + number(5, ev.flags))


def compact(events):
    names, col = [], collections.defaultdict(bytes)
    last = {"sched_switch": 0, "sched_waking": 0}

    def name(text):
        if text not in names:
            names.append(text)
        return names.index(text)

    for ev in events:
        f, delta = ev.fields, ev.ts - last[ev.name]
        last[ev.name] = ev.ts
        if ev.name == "sched_switch":
            row = [(1, delta), (2, int(f["prev_state"])), (3, int(f["next_pid"])), (4, int(f["next_prio"])), (6, name(f["next_comm"]))]
        else:
            row = [(7, delta), (8, int(f["pid"])), (9, int(f["target_cpu"], 10)), (10, int(f["prio"])), (11, name(f["comm"])), (12, ev.flags)]
        for nr, v in row:
            col[nr] += varint(v)
    return data(4, b"".join(data(5, n) for n in names) + b"".join(data(nr, b) for nr, b in sorted(col.items())))


def bundle(cpu, events, as_columns, lost=False, clock=0):
    out = number(1, cpu)
    if as_columns:
        columns = [e for e in events if e.name in ("sched_switch", "sched_waking")]
        out += b"".join(event(e) for e in events if e not in columns) + (compact(columns) if columns else b"")
    else:
        out += b"".join(event(e) for e in events)
    if lost:
        out += number(3, 1)
    if clock:
        out += number(5, clock)
    return out


def packet(content, sequence=7):
    return data(1, content + number(10, sequence))


def system_info(release, cpus):
    return packet(data(45, data(1, data(1, "Linux") + data(2, "#1 SMP") + data(3, release) + data(4, "x86_64")) + number(8, cpus)))


def process_tree(processes=(), threads=()):
    return packet(data(2, b"".join(data(1, number(1, pid) + data(3, name)) for pid, name in processes) +
                       b"".join(data(2, number(1, tid) + data(2, name)) for tid, name in threads)))


def clocks(boot, mono):
    return packet(data(6, data(1, number(1, 6) + number(2, boot)) + data(1, number(1, 3) + number(2, mono))))


def stats(phase, overruns):
    return packet(data(34, number(1, phase) + b"".join(data(2, number(1, cpu) + number(3, n)) for cpu, n in enumerate(overruns))))


def marker():
    return packet(data(36, bytes.fromhex("82477a76b28d42ba81dc33326d57a079")))


def encode(events, as_columns=False, rounds=8, release="6.12.48", info=True):
    """Packets: cpus lie one after the other, in @rounds rounds."""
    events = list(events)
    cpus = sorted({e.cpu for e in events})
    out = [marker()]
    if info:
        out.append(system_info(release, len(cpus)))
    step = max(1, (len(events) + rounds - 1) // rounds)
    for at in range(0, len(events), step):
        for cpu in cpus:
            part = [e for e in events[at:at + step] if e.cpu == cpu]
            if part:
                out.append(packet(data(1, bundle(cpu, part, as_columns))))
    return out


def pack(packets, how, each=4):
    out = []
    for at in range(0, len(packets), each):
        raw = b"".join(packets[at:at + each])
        if how == "deflate":
            out.append(data(1, data(50, zlib.compress(raw))))
        else:
            packed = subprocess.run(["zstd", "-q", "-c"], input=raw, capture_output=True, check=True).stdout
            out.append(data(1, data(133, packed)))
    return out


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("file")
    ap.add_argument("out")
    ap.add_argument("--compact", action="store_true")
    ap.add_argument("--pack", choices=["deflate", "zstd"])
    ap.add_argument("--rounds", type=int, default=8)
    ap.add_argument("--release", default="6.12.48")
    ap.add_argument("--no-info", action="store_true")
    args = ap.parse_args()
    packets = encode(read(args.file), args.compact, args.rounds, args.release, not args.no_info)
    if args.pack:
        packets = pack(packets, args.pack)
    with open(args.out, "wb") as f:
        f.write(b"".join(packets))


if __name__ == "__main__":
    sys.exit(main())
