#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The same events as trace.dat, perf.data, text, Perfetto trace and ring buffer pages give the same report, to the byte, but for what it
says of the file. All are given the same snapshot of the host, which only a trace.dat of ours carries inside."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from common import TOP, SHARED, RESCHED, failed, result

sys.path.insert(0, os.path.join(TOP, "tests", "tools"))
import perf_encode as perf  # noqa: E402
from dat6 import Dat6  # noqa: E402


def run(*args):
    return subprocess.run([RESCHED, *args], capture_output=True, check=False)


def report(path, host):
    """The text behind the block about the source, and the counts that block has."""
    p = run("report", "--json", "-q", "--host", host, path)
    if p.returncode:
        return p.stderr.decode(), {}
    text = p.stdout.decode()
    source = json.loads(text)["source"]
    return text[text.index('\n  "schedule": {'):], {k: source["events"].get(k) for k in ("sched_switch", "sched_waking", "sched_wakeup", "sched_wakeup_new")}


def forms(folder, path):
    dat = Dat6(path)
    out = {name: os.path.join(folder, name) for name in ("perf.data", "text", "perfetto", "pages", "tar")}
    with open(out["perf.data"], "wb") as f:
        records = []
        for i, s in enumerate(perf.samples(dat)):
            records += [s[2]] + ([perf.finished_round()] if i % 1000 == 999 else [])
        f.write(perf.write(dat, records + [perf.finished_round()]))
    for name in ("text", "perfetto"):
        run("export", "--format", name, "-o", out[name], path)
    dat.write_folder(out["pages"])
    subprocess.run(["tar", "-C", out["pages"], "-cf", out["tar"], "."], check=True)
    return out


def main():
    sources = [os.path.join(TOP, "tests", "data", "lab-v6-k612-1c.dat")]
    with tempfile.TemporaryDirectory() as folder:
        more = ["k61-2c-hogs-def", "k612-4c-cg-def", "k612-8n2-sch-def"] if os.path.isdir(os.path.join(SHARED, "traces", "lab")) else []
        sources += [os.path.join(SHARED, "traces", "lab", name, "trace.dat") for name in more] if shutil.which("trace-cmd") else []
        for i, path in enumerate(sources):
            name = path.split(os.sep)[-2] if i else "lab-v6-k612-1c"
            v6 = os.path.join(folder, "%d.dat" % i)
            host = os.path.join(folder, "host.json")
            if i:
                subprocess.run(["trace-cmd", "convert", "-i", path, "-o", v6, "--file-version", "6"], check=True, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
            else:
                shutil.copy(path, v6)
            with open(host, "w", encoding="utf-8") as f:
                json.dump(json.loads(run("info", "--json", path).stdout)["host"], f)
            want, counts = report(v6, host)
            result(counts.get("sched_switch", 0) > 100, name + ": trace.dat is read", want[:200])
            place = os.path.join(folder, str(i))
            os.mkdir(place)
            for form, other in forms(place, v6).items():
                got, have = report(other, host)
                if form == "perf.data":  # the last record is ftrace's own `print`, which perf does not have
                    got, at_end = (re.sub(r'(?m)^  "last_ns": .*\n', "", text, count=1) for text in (got, want))
                else:
                    at_end = want
                at = next((k for k in range(min(len(got), len(at_end))) if got[k] != at_end[k]), 0)
                result(got == at_end and have == counts, "%s: %s gives the same report" % (name, form),
                       "%s: %r, not %r; %s" % (form, got[max(0, at - 60):at + 60], at_end[max(0, at - 60):at + 60], have))


main()
sys.exit(failed())
