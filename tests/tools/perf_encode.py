#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""perf.data with tracepoint samples, for tests, made of the records and formats of a trace.dat version 6.

perf_encode.py FILE.dat OUT"""
import os
import re
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dat6 import Dat6  # noqa: E402

TID, TIME, CPU, RAW, IDENTIFIER = 1 << 1, 1 << 2, 1 << 7, 1 << 10, 1 << 16
SAMPLE_TYPE = TID | TIME | CPU | RAW | IDENTIFIER
ATTR_BYTES = 128


def text(b, size="<Q"):
    return struct.pack(size, len(b)) + b


def tracing_data(dat, formats):
    systems = sorted({s for s, _ in formats})
    out = b"\x17\x08Dtracing" + b"0.6\0" + bytes([0, 8]) + struct.pack("<I", 4096)
    out += b"header_page\0" + text(dat.header_page) + b"header_event\0" + text(dat.header_event) + struct.pack("<I", 0)
    out += struct.pack("<I", len(systems))
    for system in systems:
        own = [t for s, t in formats if s == system]
        out += system.encode() + b"\0" + struct.pack("<I", len(own)) + b"".join(text(t) for t in own)
    return out + struct.pack("<IIQ", 0, 0, 0)


def attr(config, sample_type=SAMPLE_TYPE):
    out = struct.pack("<IIQQQQQ", 2, ATTR_BYTES, config, 1, sample_type, 0, 1 << 18 | 1 << 10)
    return out + bytes(ATTR_BYTES - len(out))


def record(kind, body, misc=0):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def sample(ident, ts, cpu, data, sample_type=SAMPLE_TYPE):
    pid = struct.unpack_from("<i", data, 4)[0]
    raw = struct.pack("<I", len(data)) + data
    raw += bytes(-len(raw) % 8)
    raw = struct.pack("<I", len(raw) - 4) + raw[4:]
    body = struct.pack("<Q", ident) + struct.pack("<ii", pid, pid)
    if sample_type & TIME:
        body += struct.pack("<Q", ts)
    return record(9, body + struct.pack("<II", cpu, 0) + raw)


def lost(ident, count, ts, cpu):
    return record(2, struct.pack("<QQ", ident, count) + struct.pack("<iiQIIQ", 0, 0, ts, cpu, 0, ident))


def finished_round():
    return record(68, b"")


def samples(dat, sample_type=SAMPLE_TYPE):
    """(ts, cpu, record) of everything that has a format, in order of time."""
    ids = {int(re.search(rb"ID: (\d+)", t)[1]) for s, t in dat.formats if s != "ftrace"}
    out = []
    for cpu in range(len(dat.cpus)):
        for ts, data in dat.records(cpu):
            event = struct.unpack_from("<H", data)[0]
            if event in ids:
                out.append((ts, cpu, sample(event, ts, cpu, data, sample_type)))
    return sorted(out, key=lambda s: s[:2])


def write(dat, records, with_tracing=True, size=None, sample_type=SAMPLE_TYPE):
    formats = [f for f in dat.formats if f[0] != "ftrace"]
    configs = sorted(int(re.search(rb"ID: (\d+)", t)[1]) for _, t in formats)
    data = b"".join(records)
    ids_at = 104
    attrs_at = ids_at + 8 * len(configs)
    data_at = attrs_at + len(configs) * (ATTR_BYTES + 16)
    ids = b"".join(struct.pack("<Q", c) for c in configs)
    attrs = b"".join(attr(c, sample_type) + struct.pack("<QQ", ids_at + 8 * i, 8) for i, c in enumerate(configs))
    tracing = tracing_data(dat, formats)
    features = (1 << 1) if with_tracing else 0
    head = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, ATTR_BYTES + 16, attrs_at, len(attrs), data_at, len(data) if size is None else size, 0, 0)
    head += struct.pack("<QQQQ", features, 0, 0, 0)
    tail = struct.pack("<QQ", data_at + len(data) + 16, len(tracing)) + tracing if with_tracing else b""
    return head + ids + attrs + data + tail


def main():
    dat = Dat6(sys.argv[1])
    with open(sys.argv[2], "wb") as f:
        f.write(write(dat, [s[2] for s in samples(dat)] + [finished_round()]))


if __name__ == "__main__":
    sys.exit(main())
