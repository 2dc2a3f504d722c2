#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Play a scenario with groups on the slow reference model of EEVDF (6.12, one cpu) and print the state after each event.

usage: oracle_groups.py FOLDER_OF_hier.py < SCENARIO"""
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from eevdf_model import PRIO, WM, SE, s64
import hier

h = hier.Hier()
h.zero = 0
tasks, groups = {}, {}


def entity(name, weight, inv, pol, slice_ns, parent):
    e = SE()
    e.name, e.weight, e.inv, e.pol = name, weight, inv, pol
    e.slice, e.custom = slice_ns or h.base, bool(slice_ns)
    e.v = e.dl = e.vlag = e.rel = e.exec_start = e.sum = e.prev_sum = 0
    e.on_rq = e.delayed = e.clamped = e.seen = False
    if parent:
        e.grp = parent
    return e


def schedule():
    prev = h.curr
    while True:
        nxt = h.pick()
        if nxt is None or not nxt.delayed:
            break
        h.deq_ent(nxt, True, True)
    if nxt is not prev or (prev is not None and not prev.on_rq):
        if prev is not None and nxt is not None:
            h.swap(prev, nxt)
        elif prev is not None:
            h.put_prev(prev)
        elif nxt is not None:
            h.set_next(nxt)
    h.resched = False


def change(e, apply, check):
    """dequeue, put, apply(), enqueue, set; @check: whether a waiting task then asks for the cpu"""
    run, on = h.curr is e, e.on_rq
    if on:
        h.deq_ent(e, False)
    if run:
        h.put_prev(e)
    apply()
    if on:
        h.enq(e)
    if run:
        h.set_next(e, False)
    if on and check and h.root.nr != 1:
        if run:
            h.resched |= check > 0
        elif h.curr is not None:
            h.preempt_check(e)
    return run


def do_nice(e, nice):
    def apply():
        h.root.reweight(e, PRIO[nice + 20] << 10, WM[nice + 20])
    up = nice > e.nice
    e.nice = nice
    change(e, apply, 1 if up else -1)


def do_slice(e, ns):
    def apply():
        e.custom, e.slice = bool(ns), min(max(ns, 100000), 100000000) if ns else h.base
    change(e, apply, 0)


def do_move(e, group):
    def apply():
        e.grp = group
    if change(e, apply, 0):
        h.resched = True


def do_yield():
    c = h.curr
    q = h.qof(c)
    if sum(t.on_rq for t in tasks.values()) == 1:
        return
    h.clear(q, c)
    q.upd_curr()
    if q.elig(c):
        c.v = c.dl
        q.upd_dl(c)


def wake(e, fork):
    if e.on_rq:
        h.requeue(e)
    else:
        h.enq(e, fork)
    h.preempt_check(e, fork)


def play(op, e, words):
    if op in ('wake', 'fork'):
        wake(e, op == 'fork')
    elif op in ('sleep', 'stop'):
        h.deq(e, True, special=op == 'stop')
        schedule()
    elif op == 'tick':
        h.upd_curr()
    elif op == 'yield':
        do_yield()
        schedule()
    elif op == 'nice':
        do_nice(e, int(words[0]))
    elif op == 'slice':
        do_slice(e, int(words[0]))
    elif op == 'move':
        do_move(e, groups.get(words[0]))
    if h.resched:
        schedule()


def show(e):
    if not e.on_rq:
        return '%s(vlag=%d)' % (e.name, e.vlag)
    q = h.qof(e)
    return '%s[v=%d d=%d%s%s %d%s]' % (e.name, s64(e.v), s64(e.dl), ' E' if q.elig(e) else ' -', ' D' if e.delayed else '',
                                       e.slice, ' R' if q.curr is e else '')


def state():
    c = h.curr
    text = '%s%s V=%d' % (c.name if c else 'idle', ' P' if c and h.prot(c) else '', s64(h.peekV()))
    return ' '.join([text] + [show(e) for e in list(groups.values()) + [t for t in tasks.values() if t.seen]])


for line in sys.stdin:
    w = line.split()
    if w[0] == 'hz':
        h.hz = int(w[1])
    elif w[0] == 'base':
        h.base = int(w[1])
    elif w[0] == 'feat':
        h.feat[w[1]] = int(w[2])
    elif w[0] == 'group':
        g = entity(w[1], int(w[2]), 0, 'N', 0, groups.get(w[3]))
        g.myq = hier.Q(h, g)
        groups[w[1]] = g
    elif w[0] == 'task':
        idle = w[4] == 'I'
        nice = int(w[2])
        e = entity(w[1], 3 << 10 if idle else PRIO[nice + 20] << 10, 1431655765 if idle else WM[nice + 20], w[4], int(w[3]),
                   groups.get(w[5]))
        e.nice = nice
        tasks[w[1]] = e
    elif w[0] == 'ev':
        h.now = int(w[1])
        e = tasks.get(w[3]) if len(w) > 3 else None
        if e:
            e.seen = True
        play(w[2], e, w[4:])
        print(w[1], ' '.join(w[2:]), '->', state())
