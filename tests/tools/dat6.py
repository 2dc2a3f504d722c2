# SPDX-License-Identifier: GPL-2.0-only
"""The parts of a little-endian trace.dat version 6, for tests that take recordings apart."""
import os
import struct


class Dat6:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.raw = f.read()
        assert self.raw[:10] == b"\x17\x08Dtracing" and self.raw[10:12] == b"6\0" and self.raw[12] == 0, path
        self.long, at = self.raw[13], 18
        self.page_bytes = struct.unpack_from("<I", self.raw, 14)[0]
        assert self.raw[at:at + 12] == b"header_page\0"
        self.header_page, at = self._text(at + 12, "<Q")
        assert self.raw[at:at + 13] == b"header_event\0"
        self.header_event, at = self._text(at + 13, "<Q")
        self.formats, at = self._formats(at)
        self.formats = [("ftrace", t) for t in self.formats]
        nr, at = struct.unpack_from("<I", self.raw, at)[0], at + 4
        for _ in range(nr):
            end = self.raw.index(b"\0", at)
            system = self.raw[at:end].decode()
            texts, at = self._formats(end + 1)
            self.formats += [(system, t) for t in texts]
        _, at = self._text(at, "<I")
        _, at = self._text(at, "<I")
        self.cmdlines, at = self._text(at, "<Q")
        self.cpus_at = at
        nr, at = struct.unpack_from("<I", self.raw, at)[0], at + 4
        self.options_at = at
        if self.raw[at:at + 10] == b"options  \0":
            at += 10
            while (option := struct.unpack_from("<H", self.raw, at)[0]) != 0:
                at += 6 + struct.unpack_from("<I", self.raw, at + 2)[0]
                assert option < 0x8000
            at += 2
        assert self.raw[at:at + 10] == b"flyrecord\0"
        self.table_at = at + 10
        self.cpus = [struct.unpack_from("<QQ", self.raw, self.table_at + 16 * i) for i in range(nr)]

    def _text(self, at, size):
        n = struct.unpack_from(size, self.raw, at)[0]
        at += struct.calcsize(size)
        return self.raw[at:at + n], at + n

    def _formats(self, at):
        nr, at = struct.unpack_from("<I", self.raw, at)[0], at + 4
        texts = []
        for _ in range(nr):
            text, at = self._text(at, "<Q")
            texts.append(text)
        return texts, at

    def pages(self, cpu):
        off, size = self.cpus[cpu]
        return self.raw[off:off + size]

    def write_folder(self, folder, cpu_path="per_cpu/cpu%d/trace_pipe_raw", format_path="events/%s/%s/format"):
        """As tracefs has them, with paths to one's liking."""
        def put(name, data):
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as f:
                f.write(data)
        put("events/header_page", self.header_page)
        put("saved_cmdlines", self.cmdlines)
        for system, text in self.formats:
            name = text.split(b"\n", 1)[0].split(b": ")[1].decode()
            put(format_path % (system, name), text)
        for cpu in range(len(self.cpus)):
            put(cpu_path % cpu, self.pages(cpu))

    def records(self, cpu):
        """(ts, data) of every record of a cpu; pages of a 64-bit kernel."""
        pages = self.pages(cpu)
        for at in range(0, len(pages), self.page_bytes):
            ts, commit = struct.unpack_from("<QQ", pages, at)
            p, end = at + 16, at + 16 + (commit & 0x7ffffff)
            while p < end:
                word = struct.unpack_from("<I", pages, p)[0]
                kind, delta = word & 31, word >> 5
                if kind == 29:  # padding
                    if not delta:
                        break
                    p += 4 + struct.unpack_from("<I", pages, p + 4)[0]
                    continue
                if kind == 30:  # time extend
                    ts += delta + (struct.unpack_from("<I", pages, p + 4)[0] << 27)
                    p += 8
                    continue
                if kind == 31:  # time stamp
                    ts = (ts >> 59 << 59) + delta + (struct.unpack_from("<I", pages, p + 4)[0] << 27)
                    p += 8
                    continue
                ts += delta
                size = kind * 4 if kind else struct.unpack_from("<I", pages, p + 4)[0] - 4
                p += 4 if kind else 8
                yield ts, pages[p:p + size]
                p += size

    def stamps(self):
        """Of the pages of all cpus."""
        pages = [self.pages(cpu) for cpu in range(len(self.cpus))]
        return [struct.unpack_from("<Q", p, at)[0] for p in pages for at in range(0, len(p), self.page_bytes)]

    def repeat(self, path, begin, end):
        """A recording of the same pages again and again, each time @self.step ns later, from the @begin-th time on."""
        spans = [bytearray(self.pages(cpu)) for cpu in range(len(self.cpus))]
        stamps = self.stamps()
        self.step = max(stamps) - min(stamps) + 10**9
        head = self.raw[:self.table_at]
        data = -(-(len(head) + 16 * len(spans)) // self.page_bytes) * self.page_bytes
        at, table = data, b""
        for pages in spans:
            table += struct.pack("<QQ", at, len(pages) * (end - begin))
            at += len(pages) * (end - begin)
        with open(path, "wb") as f:
            f.write(head + table + bytes(data - len(head) - len(table)))
            for pages in spans:
                for n in range(begin, end):
                    for i in range(0, len(pages), self.page_bytes):
                        struct.pack_into("<Q", pages, i, struct.unpack_from("<Q", pages, i)[0] + self.step * (begin if n == begin else 1))
                    f.write(pages)
        return path

    def with_options(self, path, options):
        """The recording with further options, (id, bytes) each, as trace-cmd writes them."""
        at = self.table_at - 10 - 2  # of the id 0 that ends them
        assert self.raw[self.options_at:self.options_at + 10] == b"options  \0" and self.raw[at:at + 2] == b"\0\0"
        head = self.raw[:at] + b"".join(struct.pack("<HI", i, len(d)) + d for i, d in options) + b"\0\0flyrecord\0"
        begin = -(-(len(head) + 16 * len(self.cpus)) // self.page_bytes) * self.page_bytes
        table, pages = b"", b""
        for cpu in range(len(self.cpus)):
            table += struct.pack("<QQ", begin + len(pages), self.cpus[cpu][1])
            pages += self.pages(cpu)
        with open(path, "wb") as f:
            f.write(head + table + bytes(begin - len(head) - len(table)) + pages)
        return path
