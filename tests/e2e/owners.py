#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Whose tasks are whose, from cgroups and command lines; and recordings that do not tell.
Environment: BUILD, RESCHED."""
import json
import os
import subprocess
import sys
import tempfile

from common import DATA, RESCHED, failed, result, skip

HOST = os.path.join(DATA, "host-6.18.dat")
ID = "0123456789abcdef" * 4
PLACES = {f"/system.slice/docker-{ID}.scope": ("docker:0123456789ab", f"docker-{ID}.scope"),
          f"/kubepods/burstable/pod7/{ID}": ("kubernetes:0123456789ab", "-"),
          "/system.slice/nginx.service": ("host", "nginx.service"),
          "/": ("host", "-")}
SECRET = "zq-secret-thing"


def run(*args):
    return subprocess.run([RESCHED, *args], capture_output=True, text=True, errors="replace", timeout=120, check=False)


def load(*args):
    done = run(*args)
    return json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr}


def groups(tmp):
    """A snapshot whose tasks are spread over containers and units."""
    host = load("info", "--json", "-q", HOST)["host"]
    for i, task in enumerate(host["tasks"]):
        task["cgroup"] = list(PLACES)[i % len(PLACES)]
    path = os.path.join(tmp, "host.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(host, f)
    report = load("report", "--json", "-q", "--host", path, HOST)
    for key, which in (("containers", 0), ("units", 1)):
        want = {}
        for task in report["tasks"]:
            if task["cgroup"]:
                name = PLACES[task["cgroup"]][which]
                want[name] = want.get(name, 0) + task["switches"]
        got = {row[key[:-1]]: row["switches"] for row in report[key]}
        result(got == want and len(want) > 2, f"report --json: {key} sum up their tasks", got, want)
        table = run("report", "-q", "--by", key[:-1], "--host", path, HOST).stdout
        result(all(name[:20] in table for name in want) and key[:-1] in table, f"report --by {key[:-1]}", table)
        rows = run("report", "--csv", "--by", key[:-1], "--host", path, HOST).stdout.splitlines()
        result(rows[0].startswith(key[:-1] + ",tasks,") and len(rows) == len(want) + 1, f"report --csv --by {key[:-1]}", *rows[:3])
    named = [t for t in report["tasks"] if t["cgroup"]]
    result(all((t.get("container") or "host", t.get("unit") or "-") == PLACES[t["cgroup"]] for t in named) and named,
           "report --json: a task tells its container and unit")
    return path


def without_names(report):
    """What must not change with the names."""
    return [{k: v for k, v in task.items() if k not in ("comm", "cgroup", "container", "unit")} for task in report["tasks"]]


def export(tmp, host):
    coded, again = os.path.join(tmp, "coded.dat"), os.path.join(tmp, "again.dat")
    for out in (coded, again):
        done = run("export", "--format", "trace.dat", "--anonymize", "--host", host, "-o", out, HOST)
        result(done.returncode == 0, "export --anonymize", done.stderr)
    with open(coded, "rb") as a, open(again, "rb") as b:
        content = a.read()
        result(content == b.read(), "the same codes, to the byte, in every run")
    plain, other = load("report", "--json", "-q", "--host", host, HOST), load("report", "--json", "-q", coded)
    names = {t["comm"] for t in plain["tasks"]}
    distinct = {"wakeload", "messenger", "hog-nice5", "tokio-rt-worker", "memfd:sealed-91", "python3"}     # no part of anything else
    result(distinct <= names and not [n for n in distinct if n.encode() in content], "no name of a task is left in the bytes")
    kernels = {t["comm"] for t in load("info", "--json", "-q", HOST)["host"]["tasks"] if t["kthread"]}
    left = {n for n in names & {t["comm"] for t in other["tasks"]} if n not in kernels and not n.startswith("kworker/")}
    result(left <= {"resched"}, "nor in a report, but for the kernel's own and ours", left)
    result(ID.encode() not in content and b"nginx" not in content, "no name of a cgroup either")
    result(without_names(plain) == without_names(other), "every figure of every task is what it was")
    codes = {}
    for a, b in zip(plain["tasks"], other["tasks"]):
        codes.setdefault(a["comm"], set()).add(b["comm"])
    result(all(len(c) == 1 for c in codes.values()) and len({next(iter(c)) for c in codes.values()}) == len(codes),
           "a name has one code, a code one name", codes)
    text = run("export", "--format", "text", "--anonymize", HOST).stdout
    result(" t1" in text and "wakeload" not in text, "text is coded as well", text[:300])
    done = run("export", "--format", "workload", "--anonymize", HOST)
    result(done.returncode == 2 and "--anonymize" in done.stderr, "a workload is not: bad usage", done.stderr)


def record(tmp):
    out = os.path.join(tmp, "live.dat")
    done = run("record", "-q", "-o", out, "--", "sh", "-c", f"exec -a {SECRET} sleep 0.2 || exec sleep 0.2", SECRET)
    if done.returncode == 4:
        skip("recording with command lines", done.stderr.strip())
        return
    host = load("info", "--json", "-q", out)["host"]
    mine = [t.get("cmdline") for t in host["tasks"] if t["pid"] == os.getpid()]
    result(mine and mine[0] and "owners.py" in mine[0], "the snapshot has command lines", mine)
    result(not [t for t in host["tasks"] if t.get("cmdline") and (t["pid"] != t["tgid"] or t["kthread"] or len(t["cmdline"]) > 255)],
           "of processes only, and not without bounds")
    done = run("record", "-q", "--anonymize", "-o", out, "--", "bash", "-c", f"exec -a {SECRET} sleep 0.2")
    with open(out, "rb") as f:
        content = f.read()
    result(done.returncode == 0 and b"sleep" not in content and SECRET.encode() not in content and b"owners.py" not in content,
           "record --anonymize leaves no name", done.stderr)
    result(load("report", "--json", "-q", out).get("tasks"), "and a recording that can be read")
    result(os.stat(out).st_mode & 0o777 == 0o600, "for its owner only")
    done = run("record", "--anonymize", "-e", "irq", "-o", out, "--", "true")
    result(done.returncode == 2 and "-e" in done.stderr, "record --anonymize -e irq: bad usage", done.stderr)


def main():
    with tempfile.TemporaryDirectory(prefix="resched-owners-") as tmp:
        host = groups(tmp)
        export(tmp, host)
        record(tmp)
    sys.exit(1 if failed() else 0)


if __name__ == "__main__":
    main()
