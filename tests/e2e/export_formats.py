#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What `resched export` and `replay -o` write, read by others: Perfetto by a decoder of our own and by protoc, CSV and JSON by Python,
trace.dat by trace-cmd, and everything that resched reads by resched itself."""
import csv
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter

from common import DATA, RESCHED, failed, result

ONE = os.path.join(DATA, "lab-v7-k612-2c.dat")
FILES = [os.path.join(DATA, f) for f in ("host-6.18.dat", "lab-v6-k612-1c.dat", "lab-v7-k61-1c.dat", "lab-v7-k612-2c.dat")]


def run(*args, **kw):
    return subprocess.run([RESCHED, *args], capture_output=True, check=False, **kw)


def export(path, fmt, out, *more):
    p = run("export", "--format", fmt, "-o", out, *more, path)
    return p.returncode, p.stderr.decode(errors="replace")


def info(path):
    return json.loads(run("info", "--json", path).stdout)


def report(path, *more):
    """Without what a file says of itself, and what only the snapshot knows."""
    doc = json.loads(run("report", "--json", *more, path).stdout)
    for key in ("source", "schedule", "cgroups"):
        doc.pop(key, None)
    for task in doc["tasks"]:
        for key in ("tgid", "class", "cgroup"):
            task.pop(key, None)
    return doc


# ---- protobuf, as protobuf.dev describes it

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(number, value) of a message: int, or bytes."""
    at, found = 0, []
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size, "a message ends early"
        else:
            raise AssertionError("wire type %d" % (tag & 7))
        found.append((tag >> 3, value))
    return found


def one(message, number, default=None):
    values = [v for n, v in message if n == number]
    assert len(values) <= 1
    return values[0] if values else default


EVENTS = {4: "sched_switch", 17: "sched_wakeup", 20: "sched_waking", 114: "sched_wakeup_new", 238: "sched_process_exit",
          239: "sched_process_fork", 491: "sched_migrate_task"}


def decode(path):
    """Events as (ts, cpu, number, message), counter values by track, and tracks."""
    events, counters, tracks, release = [], {}, {}, None
    for number, packet in fields(open(path, "rb").read()):
        assert number == 1
        packet = fields(packet)
        for bundle in (fields(v) for n, v in packet if n == 1):
            for event in (fields(v) for n, v in bundle if n == 2):
                body = [(n, v) for n, v in event if n not in (1, 2, 5)]
                assert len(body) == 1
                events.append((one(event, 1), one(bundle, 1), body[0][0], fields(body[0][1])))
        for value in (fields(v) for n, v in packet if n == 11):
            lag = one(value, 30)
            counters.setdefault(one(value, 11), []).append((one(packet, 8), lag - (1 << 64) if lag >> 63 else lag))
        for track in (fields(v) for n, v in packet if n == 60):
            tracks[one(track, 1)] = track
        for system in (fields(v) for n, v in packet if n == 45):
            release = one(fields(one(system, 1)), 3).decode()
    return events, counters, tracks, release


def test_perfetto(folder):
    out = os.path.join(folder, "x.pftrace")
    for path in FILES:
        name = os.path.basename(path)
        rc, text = export(path, "perfetto", out)
        want = info(path)
        events, _, _, release = decode(out)
        counts = Counter(EVENTS[e[2]] for e in events if e[2] in EVENTS)
        why = [k for k in EVENTS.values() if counts[k] != want["events"].get(k, 0)]
        result(rc == 0 and not why, "perfetto of %s has the events" % name, "%s %s" % (why, text))
        last = {}
        order = all(last.get(c, 0) <= t and not last.update({c: t}) for t, c, _, _ in events)
        result(order, "perfetto of %s is in order on every cpu" % name)
        result(release == want["kernel"], "perfetto of %s names the kernel" % name, str(release))
        p = run("export", "--format", "json", path)
        rows = [json.loads(line) for line in p.stdout.splitlines()]
        rows = sorted((r["ts_ns"], r["cpu"], r["pid"], r["next_pid"], r["prio"], r.get("comm", "").encode()) for r in rows if r["event"] == "sched_switch")
        mine = sorted((t, c, one(m, 2), one(m, 6), one(m, 3), b"" if one(m, 2) == 0 else one(m, 1)) for t, c, n, m in events if n == 4)
        result(rows == mine and len(mine) > 100, "perfetto of %s has the fields of its switches" % name)
    if shutil.which("protoc"):
        p = subprocess.run(["protoc", "--decode_raw"], stdin=open(out, "rb"), capture_output=True, check=False)
        result(p.returncode == 0 and p.stdout.count(b"\n    4 {") + p.stdout.count(b"\n      4 {") > 100, "protoc decodes it")
    else:
        print("skip protoc decodes it: no protoc")


def test_counters(folder):
    out = os.path.join(folder, "r.pftrace")
    rc, text = export(ONE, "perfetto", out, "--policy", "eevdf")
    _, counters, tracks, _ = decode(out)
    named = {u: one(t, 2) for u, t in tracks.items()}
    lags = [u for u in counters if named.get(u) == b"lag"]
    threads = [t for t in tracks.values() if one(t, 4) is not None]
    result(rc == 0 and lags and all(u in tracks for u in counters), "a replay has counters of lag", text)
    result(all(one(tracks[u], 5) in tracks for u in lags) and len(threads) >= len(lags), "counters of lag belong to threads")
    result(any(v < 0 for u in lags for _, v in counters[u]) and any(v > 0 for u in lags for _, v in counters[u]), "lags have both signs")
    want = {t["pid"]: t["lag_ns"] for t in json.loads(run("replay", "--json", "--policy", "eevdf", ONE).stdout)["tasks"] if t["lag_ns"]}
    got = {}
    for u in lags:
        pid = one(fields(one(tracks[one(tracks[u], 5)], 4)), 2)
        values = [v for _, v in counters[u]]
        got[pid] = {"min": min(values), "max": max(values)}
    why = [p for p, lag in want.items() if got.get(p) != lag]
    result(not why, "their least and greatest are those of replay --json", str(why))


def test_lines(folder):
    for path in FILES:
        name = os.path.basename(path)
        out = os.path.join(folder, "x.csv")
        rc, text = export(path, "csv", out)
        rows = list(csv.DictReader(open(out, encoding="utf-8", newline="")))
        lines = [json.loads(x) for x in run("export", "--format", "json", path).stdout.splitlines()]
        want = info(path)["events"]
        counts = Counter(r["event"] for r in rows)
        known = [k for k in want if k.startswith("sched_") and k != "sched_run"]
        result(rc == 0 and all(counts[k] == want[k] for k in known), "csv of %s has the events" % name, "%s %s" % (counts, text))
        same = len(rows) == len(lines) and all({k: v for k, v in r.items() if v != ""} == {k: str(v) for k, v in j.items()}
                                               for r, j in zip(rows, lines))
        result(same, "csv and json of %s are the same" % name)


class Page(html.parser.HTMLParser):
    """The cells of the table, and everything that could lead out of the page."""
    def __init__(self):
        super().__init__()
        self.rows, self.leads, self.script, self.inside = [], [], "", ""

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.leads += [k for k in attrs if k in ("src", "href", "action", "data")]
        if tag in ("link", "img", "iframe", "object"):
            self.leads.append(tag)
        self.inside = tag
        if tag == "tr":
            self.rows.append([])
        if tag == "td":
            self.rows[-1].append(attrs["data-v"])

    def handle_data(self, data):
        if self.inside == "script":
            self.script += data


# As much of a browser as the script needs; it prints how much was drawn at first, after zooming in, and with a task chosen.
STAGE = """
let drawn = 0;
const pen = new Proxy({fillRect: () => drawn++}, {get: (o, k) => o[k] || (() => {}), set: () => true});
const canvas = {clientWidth: 1000, style: {}, getContext: () => pen, setPointerCapture: () => {}};
const row = {dataset: {task: '0'}, classList: {toggle: () => {}}};
var document = {getElementById: () => canvas, querySelectorAll: what => what === 'th' ? [] : [row]};
var devicePixelRatio = 1, onresize, matchMedia = () => ({matches: false});
"""
PLAY = """
const told = [drawn]; drawn = 0;
document.onkeydown({key: 'w'}); told.push(drawn); drawn = 0;
canvas.onpointermove({offsetX: 500, offsetY: 5}); row.onclick(); told.push(drawn);
console.log(told.join(' '));
"""


def test_html(folder):
    for path in FILES:
        name, out = os.path.basename(path), os.path.join(folder, "page.html")
        rc, err = export(path, "html", out)
        text = open(out, encoding="utf-8").read()
        page = Page()
        page.feed(text)
        want = json.loads(run("report", "--json", path).stdout)
        rows = {tuple(r[1:]) for r in page.rows[1:]}
        figures = {tuple(str(v) for v in (t["runtime_ns"], t["switches"], t["involuntary"], t["wakeups"], t["migrations"],
                                          t["wakeup_latency_ns"]["p50"], t["wakeup_latency_ns"]["p99"], t["wakeup_latency_ns"]["max"],
                                          t["run_delay_ns"]["sum"] if "sum" in t["run_delay_ns"] else t["runnable_wait_ns"],
                                          t["run_delay_ns"]["max"])) for t in want["tasks"]}
        result(rc == 0 and rows == figures, "html of %s: the table is that of the report" % name, err or str(sorted(rows ^ figures)[:4]))
        result(not page.leads and "://" not in text and "</body></html>" in text, "html of %s: nothing from elsewhere" % name, str(page.leads))
        runs = json.loads(re.search(r"RUNS=(\[.*?\]),WAITS=", text, re.S)[1])
        tasks = json.loads(re.search(r"TASKS=(\[.*?\]),RUNS=", text, re.S)[1])
        ran = Counter()
        for cpu in runs:
            for i in range(0, len(cpu), 3):
                ran[cpu[i]] += round(cpu[i + 2] * 1000)
        total = sum(n for t, n in ran.items() if t >= 0)
        # stretches open at an end are drawn but are no run time of the report
        result(want["totals"]["runtime_ns"] <= total <= want["source"]["span_ns"] * len(runs) and max(ran) < len(tasks),
               "html of %s: the stretches are the run time" % name, "%d, %d" % (total, want["totals"]["runtime_ns"]))
        if shutil.which("node"):
            p = subprocess.run(["node", "-"], input=STAGE + page.script + PLAY, capture_output=True, text=True, check=False)
            drawn = [int(n) for n in p.stdout.split()]
            result(p.returncode == 0 and len(drawn) == 3 and min(drawn) > 0, "html of %s: the script draws, zooms and shows waits" % name,
                   p.stdout + p.stderr[:300])
    odd = os.path.join(folder, "odd.txt")
    with open(odd, "w", encoding="utf-8") as f:
        f.write("# tracer: nop\n")
        for i, (a, pid, b, to) in enumerate((("swapper/0", 0, "</script><b>", 7), ("</script><b>", 7, "a\\\"&", 8), ("a\\\"&", 8, "swapper/0", 0)) * 9):
            f.write("%16s-%d [000] d..2. 1.%06d: sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=S ==> next_comm=%s next_pid=%d "
                    "next_prio=120\n" % ("x", pid, i * 10, a, pid, b, to))
    rc, err = export(odd, "html", out)
    text = open(out, encoding="utf-8").read()
    names = json.loads(re.search(r"TASKS=(\[.*?\]),RUNS=", text, re.S)[1])
    result(rc == 0 and text.count("</script>") == 1 and "<b>" not in text and names == ["</script><b>/7", "a\\\"&/8"], "html: names stay names", err + str(names))


def test_read_back(folder):
    host = os.path.join(folder, "host.json")  # caches and groups are of the machine, and few forms carry it
    for path in FILES:
        with open(host, "w", encoding="utf-8") as f:
            json.dump(info(path)["host"], f)
        for fmt in ("text", "trace.dat", "perfetto"):
            out = os.path.join(folder, "back")
            rc, text = export(path, fmt, out)
            result(rc == 0 and report(out, "--host", host) == report(path, "--host", host), "%s of %s gives the same report" % (fmt, os.path.basename(path)), text)
    first, second = os.path.join(folder, "1"), os.path.join(folder, "2")
    export(ONE, "trace.dat", first)
    export(first, "trace.dat", second)
    result(open(first, "rb").read() == open(second, "rb").read(), "a trace.dat of a trace.dat is the same file")


def test_trace_cmd(folder):
    if not shutil.which("trace-cmd"):
        return print("skip trace-cmd reads what is written: no trace-cmd")
    out = os.path.join(folder, "x.dat")
    for path in FILES:
        export(path, "trace.dat", out)
        p = subprocess.run(["trace-cmd", "report", "-N", out], capture_output=True, check=False)
        counts = Counter(m.group(1).decode() for m in re.finditer(rb"^ *\S.*?\d+\.\d+: (\w+): ", p.stdout, re.M))
        want = {k: v for k, v in info(out)["events"].items()}
        result(p.returncode == 0 and not p.stderr.strip() and counts == want and sum(counts.values()) > 100,
               "trace-cmd reads the trace.dat of %s" % os.path.basename(path), "%s %s %s" % (p.stderr.decode()[:200], counts, want))
        result(b"[FAILED" not in p.stdout and b"CANNOT" not in p.stdout, "every format in it is understood (%s)" % os.path.basename(path))
    return None


def test_replay(folder):
    out = os.path.join(folder, "replayed.dat")
    for policy in ("cfs", "eevdf", "evdf"):
        p = run("replay", "--policy", policy, "--json", "-o", out, ONE)
        doc, again = json.loads(p.stdout), json.loads(run("report", "--json", out).stdout)
        for one_of in (doc["totals"], again["totals"]):  # a file of events does not tell a lag
            one_of.pop("lag_ns", None)
            one_of.pop("deadline_misses", None)
        same = doc["totals"] == again["totals"] and doc["cpus"] == again["cpus"]
        result(p.returncode == 0 and same and again["totals"]["switches"] > 100, "replay --policy %s -o reports again as it did" % policy)
        made = json.loads(run("report", "--json", out).stdout)["schedule"]
        result(made["kind"] == "free" and made["policy"] == policy, "a report of it says that %s made it" % policy, str(made)[:200])
        result(b'"policy":"%s"' % policy.encode() in open(out, "rb").read(), "and says that it is of %s" % policy)
    second = os.path.join(folder, "again.dat")
    export(ONE, "trace.dat", second, "--policy", "evdf")
    result(open(out, "rb").read() == open(second, "rb").read(), "export --policy writes what replay -o writes, to the byte")


def rows_of(*more):
    return [json.loads(x) for x in run("export", "--format", "json", *more, ONE).stdout.splitlines()]


def test_selection():
    rows = rows_of()
    begin = next(r["ts_ns"] for r in rows if r["event"] != "task_name")
    some = [r for r in rows_of("--time", "200ms,300ms") if r["event"] != "task_name"]
    want = [r for r in rows if r["event"] != "task_name" and begin + 200000000 <= r["ts_ns"] < begin + 300000000]
    result(some == want and some, "--time", "%d for %d" % (len(some), len(want)))
    some = [r for r in rows_of("-C", "1") if r["event"] not in ("task_name", "task_rename")]
    want = [r for r in rows if r["event"] not in ("task_name", "task_rename") and r["cpu"] == 1]
    result(some == want and some, "--cpu")
    pid = Counter(r["next_pid"] for r in rows if r.get("next_pid")).most_common(1)[0][0]
    some = [r for r in rows_of("-p", str(pid)) if r["event"] == "sched_switch"]
    want = [r for r in rows if r["event"] == "sched_switch" and pid in (r["pid"], r["next_pid"])]
    result(some == want and some, "--pid")
    comm = next(r["next_comm"] for r in reversed(rows) if r.get("next_comm"))
    some = [r for r in rows_of("--comm", comm) if r["event"] == "sched_switch"]
    want = [r for r in rows if r["event"] == "sched_switch" and comm in (r.get("comm"), r.get("next_comm"))]
    result(some == want and some, "--comm")


def test_errors(folder):
    for code, what, args in (
            (1, "Is a directory", ["-o", folder, ONE]),
            (1, "No such file", ["-o", os.path.join(folder, "no", "x"), ONE]),
            (1, "is a directory", ["--format", "trace.dat", "-o", folder, ONE]),
            (2, "is one of", ["--format", "pdf", ONE]),
            (2, "name a file", ["--format", "trace.dat", ONE]),
            (2, "one --policy", ["--policy", "cfs", "--policy", "evdf", "-o", os.path.join(folder, "x"), ONE]),
            (2, "list of cpus", ["--format", "csv", "-C", "x", ONE]),
            (2, "--time wants", ["--format", "csv", "--time", "3", ONE]),
            (1, "no event that was asked for", ["--format", "csv", "--time", "100s,200s", ONE]),
            (1, "No space left", ["--format", "csv", "-o", "/dev/full", ONE]),
            (1, "recording", ["-o", os.path.join(folder, "x"), __file__])):
        p = run("export", *args)
        text = p.stderr.decode()
        result(p.returncode == code and what in text and text.count("\n") == 1, "export says: %s" % what, "%d %s" % (p.returncode, text))
    result(not [f for f in os.listdir(folder) if f.startswith(".") or f == "x"], "a failure leaves no file", str(os.listdir(folder)))
    keep = os.path.join(folder, "keep.csv")
    with open(keep, "w", encoding="utf-8") as f:
        f.write("precious")
    os.chmod(keep, 0o640)
    run("export", "--format", "csv", "--time", "100s,200s", "-o", keep, ONE)
    result(open(keep, encoding="utf-8").read() == "precious", "a failure leaves what was there")
    run("export", "--format", "csv", "-o", keep, ONE)
    result(open(keep, encoding="utf-8").readline().startswith("ts_ns,") and os.stat(keep).st_mode & 0o777 == 0o640, "success replaces it and keeps its mode")
    cut = os.path.join(folder, "cut.dat")
    with open(cut, "wb") as f:
        f.write(open(ONE, "rb").read()[:os.path.getsize(ONE) * 7 // 10])
    rc, text = export(cut, "text", os.path.join(folder, "cut.txt"))
    result(rc == 3 and os.path.getsize(os.path.join(folder, "cut.txt")) > 1000, "of a damaged recording goes out what can be read", text)
    p = subprocess.run("%s export --format csv %s | head -n 1" % (RESCHED, ONE), shell=True, capture_output=True, check=False)
    result(p.stdout.startswith(b"ts_ns,") and not p.stderr, "a closed pipe is quiet")


def main():
    with tempfile.TemporaryDirectory() as folder:
        test_perfetto(folder)
        test_counters(folder)
        test_lines(folder)
        test_html(folder)
        test_read_back(folder)
        test_trace_cmd(folder)
        test_replay(folder)
        test_selection()
    with tempfile.TemporaryDirectory() as folder:
        test_errors(folder)
    sys.exit(1 if failed() else 0)


main()
