#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The command line as scripts see it: exit codes, where messages go, options, gates, damaged input, full disks, closed pipes, terminals."""
import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile

from common import RESCHED, RESCHEDD, TOP, failed, result

V7 = os.path.join(TOP, "tests", "data", "lab-v7-k612-2c.dat")
V6 = os.path.join(TOP, "tests", "data", "lab-v6-k612-1c.dat")


def run(*args, **kw):
    kw.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([RESCHED, *args], capture_output="stdout" not in kw, timeout=120, check=False,
                          **({"stderr": subprocess.PIPE} if "stdout" in kw else {}), **kw)


def check(name, args, code, out=None, err=None, **kw):
    """@out and @err: patterns that must be found; None for @out: nothing may be printed there, for @err likewise."""
    p = run(*args, **kw)
    stdout, stderr = (p.stdout or b"").decode(errors="replace"), p.stderr.decode(errors="replace")
    good = p.returncode == code
    good &= bool(re.search(out, stdout)) if out else not stdout
    good &= bool(re.search(err, stderr)) if err else not stderr
    good &= not err or all(line.startswith("resched") for line in stderr.splitlines()) or "usage:" in stderr
    result(good, name, f"resched {' '.join(args)}: exit {p.returncode}, wanted {code}", stdout[-300:], stderr[-300:])
    return stdout


def usage():
    check("no command is bad usage", [], 2, None, "usage: resched COMMAND")
    check("an unknown command is bad usage", ["frobnicate"], 2, None, "no command 'frobnicate'")
    check("--version", ["--version"], 0, r"^resched \d+\.\d+\.\d+\n$")
    check("version", ["version"], 0, r"^resched \d")
    for form in (["--help"], ["-h"], ["help"], ["help", "help"]):
        check("resched " + " ".join(form), form, 0, "(?s)record.*compare.*topology")
    for cmd in ("record", "info", "report", "replay", "compare", "sweep", "outliers", "tui", "ctl", "policies", "topology"):
        check(f"{cmd} --help", [cmd, "--help"], 0, f"usage: resched {cmd}")
        check(f"help {cmd}", ["help", cmd], 0, f"usage: resched {cmd}")
    check("an unknown option", ["report", "--frob", V7], 2, None, "no option --frob")
    check("an unknown letter", ["report", "-Z", V7], 2, None, "no option -Z")
    check("a missing value", ["report", "--comm"], 2, None, "--comm wants a value")
    check("a value too many", ["report", "--json=1", V7], 2, None, "--json takes no value")
    check("a bad choice", ["report", "--by", "colour", V7], 2, None, r"--by is one of comm\|task\|cpu\|cgroup\|container\|unit")
    check("a bad number", ["report", "-n", "-3", V7], 2, None, "wants a number")
    check("a bad pid", ["report", "-p", "1,x", V7], 2, None, "thread ids")
    check("a bad cpu list", ["report", "-C", "3-1", V7], 2, None, "list of cpus")
    check("a cpu that is not there", ["report", "-C", "99", V7], 2, None, "the recording has no cpu 99; it has 0-1")
    check("one cpu of several that is not there", ["report", "-C", "0-2", V7], 2, None, "no cpu 2; it has 0-1")
    check("a bad window", ["report", "--time", "5s", V7], 2, None, "--time wants FROM,TO")
    check("an empty window", ["report", "--time", "500s,", V7], 2, None, "no event lies within")
    check("a bad sort key", ["report", "-s", "speed", V7], 2, None, "no sort key 'speed'")
    check("two recordings for report", ["report", V7, V6], 2, None, "one too many")
    check("a recording given twice", ["report", "-i", V7, V6], 2, None, "given twice")
    check("two forms of output", ["report", "--json", "--csv", V7], 2, None, "exclude each other")
    check("a bad rule", ["report", "--fail-if", "latency is bad", V7], 2, None, "cannot read 'latency is bad'")
    check("an unknown policy", ["replay", "--policy", "o1", V7], 2, None, "o1")
    check("an unknown feature", ["replay", "--policy", "eevdf", "--feature", "FROB", V7], 2, None, "FROB")
    check("an unknown tunable", ["compare", "--set", "frob_ns=3", V7], 2, None, "frob_ns")
    check("an unknown policy to list", ["policies", "o1"], 2, None, "known are .*eevdf")
    check("no time to record", ["record", "-d", "0"], 2, None, "give a time above 0")
    check("no time at all in another unit", ["record", "--duration=0ms", "true"], 2, None, "give a time above 0")
    check("--over 0 is every wait", ["outliers", "--over", "0", V7], 0, ".")
    check("a buffer without room", ["record", "--buffer", "0", "true"], 2, None, "give a size above 0")
    for backend in ("bpf", "tracefs"):
        for size in ("2G", "1048577K", "9000000000G"):
            check(f"{backend}: a buffer of {size}", ["record", "--backend", backend, "--buffer", size, "true"], 2, None, "--buffer [0-9]+K or less")
    for args in (["record", "-o", "-", "true"], ["replay", "-o", "-", V7], ["export", "--format", "trace.dat", "-o", "-", V7]):
        check(f"{args[0]}: a recording as a stream", args, 2, None, "trace.dat cannot go to standard output")
    check("a host snapshot that is none", ["report", "--host", V7, V7], 1, None, "host snapshot")
    check("a backend that cannot", ["record", "--backend", "tracefs", "--truth"], 2, None, "needs the bpf backend")
    for args, code, pattern in ((["--version"], 0, "^reschedd "), (["--help"], 0, "^usage: reschedd"), (["-x"], 2, "^$")):
        p = subprocess.run([RESCHEDD, *args], capture_output=True, text=True, check=False)
        result(p.returncode == code and re.search(pattern, p.stdout), f"reschedd {args[0]}", p)
    dump = run("help", "--dump-options").stdout.decode().splitlines()
    result(len(dump) > 50 and all(line.count("\t") == 3 for line in dump), "help --dump-options has four fields a line")


def input_forms(tmp):
    whole = check("report FILE", ["report", V7], 0, "wakeup latency")
    result(whole == check("report -i FILE", ["report", "-i", V7], 0, "all"), "-i is the same as the last word")
    shutil.copy(V7, os.path.join(tmp, "trace.dat"))
    check("trace.dat is read when no file is named", ["report"], 0, "^trace.dat: ", cwd=tmp)
    with open(V7, "rb") as f:
        p = run("report", "--json", "-", stdin=f)
    result(p.returncode == 0 and json.loads(p.stdout)["totals"] == json.loads(run("report", "--json", V7).stdout)["totals"],
           "standard input is read as -", p.stderr)
    check("no such file", ["report", tmp + "/none"], 1, None, "No such file")
    check("a directory", ["report", tmp], 1, None, "no recording: the folder holds neither")
    check("no recording", ["report", sys.executable], 1, None, ".")
    open(tmp + "/empty", "wb").close()
    check("an empty file", ["report", tmp + "/empty"], 1, None, "empty")
    check("trace.dat is missed", ["info"], 1, None, "trace.dat", cwd="/")


def damaged(tmp):
    """Cut in the middle of the data: what could be read is reported, what was lost told, never an empty success."""
    for path in (V6, V7):
        with open(path, "rb") as f:
            data = f.read()
        cut = os.path.join(tmp, "cut.dat")
        for share in (0.97, 0.8):
            with open(cut, "wb") as f:
                f.write(data[: int(len(data) * share)])
            p = run("report", "--json", cut)
            name = f"{os.path.basename(path)} cut at {share}"
            if p.returncode == 3:
                doc = json.loads(p.stdout)
                result(doc["source"]["damaged"] and doc["source"]["warnings"] and doc["totals"]["switches"] > 0 and p.stderr,
                       name + " is reported with exit 3", p.stderr)
            else:
                result(p.returncode == 1 and not p.stdout and p.stderr, name + " is refused with a reason", p.returncode, p.stderr)
            for command in (["info"], ["compare", "--policy", "eevdf"]):
                p2 = run(*command, cut)
                result(p2.returncode in (1, 3) and p2.stderr, f"{name}: {command[0]} says so too", p2.returncode, p2.stderr)
        for command in ("report", "info", "replay", "compare", "topology"):
            with open(cut, "wb") as f:
                f.write(data[:100])
            check(f"{command} of a stump", [command, cut], 3, None, "resched " + command)


def outputs():
    doc = json.loads(run("report", "--json", V7).stdout)
    result(doc["schema"] == "resched/report/1" and doc["schedule"]["kind"] == "recorded", "report --json")
    for args, schema in ((["info"], "info"), (["info", "--workload"], "info"), (["replay", "--policy", "cfs"], "report"),
                         (["compare"], "compare"), (["policies"], "policies")):
        words = args + ([] if args == ["policies"] else [V7])
        p = run(*words, "--json")
        result(p.returncode == 0 and json.loads(p.stdout)["schema"] == f"resched/{schema}/1", " ".join(args) + " --json", p.stderr)
    p = run("compare", "--json", V7)
    columns = [c["policy"] if c["kind"] != "recorded" else "recorded" for c in json.loads(p.stdout)["columns"]]
    result(columns == ["recorded", "eevdf", "evdf", "cfs"], "compare without --policy has the recording and three policies", columns)
    result(p.stdout == run("compare", "--json", V7).stdout, "the same comparison is the same bytes")
    p = run("compare", "--json", "--policy", "cfs", "--policy", "eevdf", "--feature", "NO_RUN_TO_PARITY", V7)
    if p.returncode == 0:
        columns = json.loads(p.stdout)["columns"]
        result([c["policy"] for c in columns[1:]] == ["cfs", "eevdf"] and "NO_RUN_TO_PARITY" in columns[2]["features"] and
               "NO_RUN_TO_PARITY" not in columns[1]["features"], "a feature of one policy leaves the other alone")
    else:
        result(False, "a feature of one policy leaves the other alone", p.stderr)
    p = run("compare", "--json", V7, V6)
    result(p.returncode == 0 and len(json.loads(p.stdout)["columns"]) == 2, "compare of two recordings", p.stderr)
    p = run("replay", "--json", "--policy", "evdf", V7)
    result(json.loads(p.stdout)["schedule"]["kind"] == "free" and json.loads(p.stdout)["schedule"]["policy"] == "evdf", "replay says what it ran")
    check("report --csv", ["report", "--csv", V7], 0, r"\Acomm,tasks,runtime_ns,")
    for by in ("comm", "task", "cpu", "cgroup"):
        check(f"report --by {by}", ["report", "--by", by, V7], 0, ".")
    check("report --style perf", ["report", "--style", "perf", V7], 0, r"Task +\|   Runtime ms  \| Switches \| Avg delay ms")
    check("report --style schbench", ["report", "--style", "schbench", V7], 0, r"\* 99\.0th: ")
    check("policies NAME", ["policies", "eevdf"], 0, "RUN_TO_PARITY")
    check("topology of this machine", ["topology"], 0, "cpus online")


def selection():
    whole = json.loads(run("report", "--json", V7).stdout)
    busiest = max(whole["tasks"], key=lambda t: t["runtime_ns"])
    doc = json.loads(run("report", "--json", "-p", str(busiest["pid"]), V7).stdout)
    result([t["pid"] for t in doc["tasks"]] == [busiest["pid"]] and doc["totals"]["runtime_ns"] == busiest["runtime_ns"], "--pid")
    doc = json.loads(run("report", "--json", "--comm", busiest["comm"][:1] + "*", V7).stdout)
    result(doc["tasks"] and all(t["comm"][0] == busiest["comm"][0] for t in doc["tasks"]), "--comm")
    doc = json.loads(run("report", "--json", "-C", "1", V7).stdout)
    result([c["cpu"] for c in doc["cpus"]] == [1] and 0 < doc["totals"]["switches"] < whole["totals"]["switches"], "--cpu")
    span, first = whole["source"]["span_ns"], whole["source"]["first_ns"]
    halves = [json.loads(run("report", "--json", "--time", w, V7).stdout) for w in (f",{span // 2}ns", f"{span // 2 + 1}ns,")]
    result(sum(h["totals"]["switches"] for h in halves) == whole["totals"]["switches"], "--time splits a recording")
    stamp = (first + span // 2) / 1e9
    p = run("report", "--json", "--time", f"{stamp:.9f},", V7)
    result(0 < json.loads(p.stdout)["totals"]["switches"] < whole["totals"]["switches"], "--time takes stamps of the recording", p.stderr)


def gates():
    check("a gate that holds is exit 5", ["report", "--fail-if", "p99 wakeup_latency > 1ns", V7], 5, ".", "holds: all tasks has")
    check("a gate that does not hold", ["report", "--fail-if", "p99 wakeup_latency > 100s", V7], 0, ".")
    check("a gate on a count", ["report", "--fail-if", "switches comm=* >= 1", V7], 5, ".", "holds: ")
    check("a gate that matches nothing", ["report", "--fail-if", "max run_delay comm=nobody > 1s", V7], 1, ".", "nothing matches")
    check("a gate on what has no samples", ["report", "--comm", "nobody", "--fail-if", "p99 wakeup_latency < 1s", V7], 1, ".", "has no samples")
    check("a gate on the number of samples", ["report", "--comm", "nobody", "--fail-if", "count wakeup_latency < 1", V7], 5, ".", "holds: ")
    check("a gate against what has no samples", ["compare", "--comm", "nobody", "--policy", "cfs", "--fail-if", "p99 run_delay > 5%", V7], 1,
          ".", "has no samples")
    check("per cent need a comparison", ["report", "--fail-if", "p99 run_delay > 5%", V7], 2, ".", "per cent need a comparison")
    check("a gate on a comparison", ["compare", "--policy", "cfs", "--fail-if", "switches policy=cfs > -100%", V7], 5, ".", "cfs: all tasks has")
    check("the last word of several gates", ["report", "--fail-if", "switches > 1", "--fail-if", "switches > 999999999", V7], 5, ".", "holds")


def bad_outputs():
    with open("/dev/full", "w", encoding="ascii") as full:
        for args in (["report", V7], ["report", "--json", V7], ["compare", V7], ["info", V7], ["policies"], ["--version"], ["help"]):
            p = run(*args, stdout=full)
            result(p.returncode == 1 and b"No space left" in p.stderr, f"a full disk fails {args[0]}", p.returncode, p.stderr)
    for args in (["report", "--csv", V7], ["policies", "--json"], ["--version"]):
        read, write = os.pipe()
        os.close(read)
        p = run(*args, stdout=write)
        os.close(write)
        result(p.returncode == 0 and not p.stderr, f"a closed pipe is quiet for {args[0]}", p.returncode, p.stderr)


def on_terminal(args, env):
    """Output of a command whose standard output is a terminal."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(RESCHED, [RESCHED, *args], {**os.environ, **env})
    data = b""
    while select.select([fd], [], [], 30)[0]:
        try:
            part = os.read(fd, 65536)
        except OSError:
            break
        if not part:
            break
        data += part
    os.close(fd)
    return data, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def terminals():
    plain = {"PAGER": "cat", "NO_COLOR": ""}
    result(b"\033[1m" in on_terminal(["report", V7], plain)[0], "colour on a terminal")
    result(b"\033[" not in on_terminal(["report", V7], {**plain, "NO_COLOR": "1"})[0], "NO_COLOR is honoured")
    result(b"\033[" not in on_terminal(["report", "--color", "never", V7], plain)[0], "--color never")
    result(b"\033[1m" in run("report", "--color", "always", V7).stdout, "--color always in a pipe")
    result(b"\033[" not in run("report", V7).stdout, "no colour in a pipe")
    data, code = on_terminal(["report", V7], {"PAGER": "sed s/^/PAGED:/"})
    result(b"PAGED:" in data and code == 0, "a pager on a terminal", data[-200:])
    data, code = on_terminal(["report", "--no-pager", V7], {"PAGER": "sed s/^/PAGED:/"})
    result(b"PAGED:" not in data and code == 0, "--no-pager", data[-200:])
    data, code = on_terminal(["report", V7], {"PAGER": "head -n 1"})
    result(code == 0 and b"cannot write" not in data, "a pager that ends early is quiet", data[-200:])
    data, code = on_terminal(["report", V7], {"PAGER": "/no/such/pager"})
    result(code == 0, "a pager that is not there is no failure of the report", code)


def main():
    if not os.path.exists(V7):
        print("skip command line: no recording in tests/data")
        return 0
    with tempfile.TemporaryDirectory() as tmp:
        usage()
        input_forms(tmp)
        damaged(tmp)
    outputs()
    selection()
    gates()
    bad_outputs()
    terminals()
    return failed()


sys.exit(main())
