#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Every machine that others published figures of has a preset, with its cpus, caches, nodes and scheduling domains.

What the list marks as assumed, inferred or not stated is compared as well where it has a number: the presets assume the same."""
import csv
import json
import os
import re
import subprocess
import sys

from common import RESCHED, SHARED, failed, result, skip

LIST = os.path.join(SHARED, "published/machines.csv")
PRESETS = {("zen3", "NPS1"): "zen3-2s-nps1", ("zen3", "NPS2"): "zen3-2s-nps2", ("zen3", "NPS4"): "zen3-2s-nps4"}


def number(text):
    found = re.search(r"\d+", text)
    return int(found[0]) if found else None


def cpus_of(text):
    cpus = set()
    for part in filter(None, re.split(r"[,\s]+", text)):
        first, _, last = part.partition("-")
        cpus |= set(range(int(first), int(last or first) + 1))
    return cpus


def published_nodes(text):
    """'assumed 0:0-119; 1:120-239' as sets of cpus."""
    return {int(n): cpus_of(cpus) for n, cpus in re.findall(r"(\d+):([\d,-]+)", text)}


def levels(text):
    """'SMT 2; MC 16; DIE 128' as (name, weight); None where nothing exact is told."""
    if "assumed" in text:
        return None
    return [(name, int(weight)) for name, weight in re.findall(r"(\w+) (\d+)", text)]


def domains(preset):
    out = json.loads(subprocess.run([RESCHED, "topology", "--json", "--model", "6.1", "-C", "0", preset], capture_output=True, text=True,
                                    check=True).stdout)
    return out["cpus"], out["domains"]


def check(row, preset):
    cpus, by_cpu = domains(preset)
    name = "%s, %s as %s" % (row["machine"], row["topology"], preset)
    result(len(cpus) == number(row["cpus"]), "cpus of " + name, len(cpus))
    llcs = {}
    nodes = {}
    for c in cpus:
        llcs.setdefault(c["llc"], set()).add(c["cpu"])
        nodes.setdefault(c["node"], set()).add(c["cpu"])
    result(len(llcs) == number(row["llc_count"]), "last-level caches of " + name, len(llcs))
    result({len(x) for x in llcs.values()} == {number(row["llc_cpus"])}, "cpus of a last-level cache of " + name, sorted(map(len, llcs.values())))
    told = published_nodes(row["node_cpus"])
    result(nodes == told, "nodes of " + name, "%d, told %d" % (len(nodes), len(told)))
    want = levels(row["domain_sizes"])
    if not want:
        return
    # A node within a package is the level NODE; reports of the time called it DIE.
    got = [("DIE" if d["name"] in ("PKG", "NODE") else d["name"], d["weight"]) for d in by_cpu[0]["levels"]]
    result(got == want, "domains of " + name, "%s, told %s" % (got, want))


def main():
    if not os.path.exists(LIST):
        skip("topology_published", "no list of published machines beside the project")
        return 0
    listed = subprocess.run([RESCHED, "topology", "--list"], capture_output=True, text=True, check=True).stdout
    with open(LIST, encoding="utf-8") as f:
        rows = [row for row in csv.DictReader(f) if number(row["cpus"])]
    for row in rows:
        preset = PRESETS.get((row["machine"], row["topology"]), row["machine"])
        known = re.search(r"^%s\b" % re.escape(preset), listed, re.M)
        result(known, "a preset for %s, %s" % (row["machine"], row["topology"]))
        if known:
            check(row, preset)
    result(len(rows) >= 9, "the list has its machines", len(rows))
    return failed()


sys.exit(main())
