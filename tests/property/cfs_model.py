#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A second model of CFS (Linux 6.1, one cpu, groups), written from the description of its rules and not from the C code: lists
instead of trees, no shared helpers. Plays a scenario and prints the state after each event.

usage: cfs_model.py < SCENARIO"""
import sys

M = 1 << 64
WEIGHT = [88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904, 3906, 3121, 2501, 1991, 1586,
          1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87, 70, 56, 45, 36, 29, 23, 18, 15]
INVERSE = [48388, 59856, 76040, 92818, 118348, 147320, 184698, 229616, 287308, 360437, 449829, 563644, 704093, 875809, 1099582,
           1376151, 1717300, 2157191, 2708050, 3363326, 4194304, 5237765, 6557202, 8165337, 10153587, 12820798, 15790321, 19976592,
           24970740, 31350126, 39045157, 49367440, 61356676, 76695844, 95443717, 119304647, 148102320, 186737708, 238609294, 286331153]
NICE0 = 1 << 20
NL = 8
knob = {'latency': 6000000, 'min': 750000, 'idle': 750000, 'wakeup': 1000000, 'child_first': 0}
feature = {}


def signed(x):
    x %= M
    return x - M if x >> 63 else x


def left_of(a, b):
    return signed(a - b) < 0


def down(w):
    return max(2, w >> 10) if w else 0


def lazy(w):
    d = down(w)
    return 0xffffffff if d == 0 else 0xffffffff // d


def scale(d, w, inverse):
    f = (down(w) % (1 << 32)) * inverse
    shift = 32
    extra = (f >> 32).bit_length()
    return ((d * (f >> extra)) >> (shift - extra)) % M


def vdelta(e, d):
    return d if e.w == NICE0 else scale(d, NICE0, e.iw or lazy(e.w))


class Queue:
    def __init__(self, owner=None):
        self.owner, self.cur, self.tree = owner, None, []
        self.minv, self.load, self.n, self.ni, self.nh = M - (1 << 20), 0, 0, 0, 0
        self.hint = {'next': None, 'last': None, 'skip': None}

    def first(self):
        return self.tree[0] if self.tree else None

    def insert(self, e):
        at = len(self.tree)
        while at and left_of(e.v, self.tree[at - 1].v):
            at -= 1
        self.tree.insert(at, e)


class Entity:
    def __init__(self, name, home):
        self.name, self.home, self.own = name, home, None
        self.v = self.ran = self.mark = self.stamp = 0
        self.on = False
        self.w, self.iw, self.idle, self.policy = NICE0, 0, False, 'N'


root = Queue()
tasks, groups, order = {}, {}, []
now, runner, resched = 0, None, False


def path(e):
    while e is not None:
        yield e
        e = e.home.owner


def floor(q):
    c = q.cur if q.cur and q.cur.on else None
    x = c.v if c else q.minv
    if q.tree:
        lowest = q.tree[0].v
        x = lowest if not c or left_of(lowest, x) else x
    if left_of(q.minv, x):
        q.minv = x


def charge(q):
    c = q.cur
    if c is None or signed(now - c.stamp) <= 0:
        return
    d = now - c.stamp
    c.stamp = now
    c.ran += d
    c.v = (c.v + vdelta(c, d)) % M
    floor(q)


def group_weight(e):
    """one cpu: the weight stays the shares, but the entity is accounted when it runs"""
    if e.own is not None and e.on and e.home.cur is e:
        charge(e.home)


def slice_of(e):
    q = e.home
    k = (root.nh if feature['ALT_PERIOD'] else q.n) + (not e.on)
    s = k * knob['min'] if k > NL else knob['latency']
    for x in path(e):
        s = scale(s, x.w, lazy(x.home.load + (0 if x.on else x.w)))
    if feature['BASE_SLICE']:
        s = max(s, knob['idle'] if e.idle and not (q.n and q.n == q.ni) else knob['min'])
    return s


def place(q, e, initial):
    x = q.minv
    if initial:
        if feature['START_DEBIT']:
            x += vdelta(e, slice_of(e))
    else:
        t = knob['min'] if e.idle else knob['latency']
        x -= t >> 1 if feature['GENTLE_FAIR_SLEEPERS'] else t
    x %= M
    if left_of(e.v, x):
        e.v = x


def set_hint(which, e):
    for x in path(e):
        if which != 'skip' and (not x.on or x.idle):
            return
        x.home.hint[which] = x


def drop_hints(e):
    for which in ('next', 'last', 'skip'):
        for x in path(e):
            if x.home.hint[which] is not x:
                break
            x.home.hint[which] = None


def enqueue(e, wake):
    first = True
    it = list(path(e))
    while it and not it[0].on:
        x = it.pop(0)
        q = x.home
        w = wake if first else True
        if not w and q.cur is x:
            x.v = (x.v + q.minv) % M
        charge(q)
        if not w and q.cur is not x:
            x.v = (x.v + q.minv) % M
        q.load += x.w
        q.n += 1
        q.ni += x.idle
        if w:
            place(q, x, False)
        if q.cur is not x:
            q.insert(x)
        x.on = True
        q.nh += 1
        first = False
    for x in it:
        group_weight(x)
        x.home.nh += 1


def dequeue(e, sleep, save=False, move=False):
    it = list(path(e))
    s = sleep
    while it:
        x = it.pop(0)
        q = x.home
        charge(q)
        drop_hints(x)
        if q.cur is not x:
            q.tree.remove(x)
        x.on = False
        q.load -= x.w
        q.n -= 1
        q.ni -= x.idle
        if not s:
            x.v = (x.v - q.minv) % M
        if not (save and not move):
            floor(q)
        q.nh -= 1
        if q.n:
            if sleep and it:
                set_hint('next', it[0])
            break
        s = True
    for x in it:
        group_weight(x)
        x.home.nh -= 1


def ahead(c, e):
    d = signed(c.v - e.v)
    return -1 if d <= 0 else 1 if d > vdelta(e, knob['wakeup']) else 0


def wake_test(p, fork):
    global resched
    c = runner
    if c is None:
        resched = True
        return
    if c is p:
        return
    many = c.home.n >= NL
    hinted = many and feature['NEXT_BUDDY'] and not fork
    if hinted:
        set_hint('next', p)
    if resched:
        return
    a = b = None
    if not (c.policy == 'I' and p.policy != 'I'):
        if p.policy != 'N' or not feature['WAKEUP_PREEMPTION']:
            return
        pa, pb = list(path(c)), list(path(p))
        a, b = next((x, y) for x in pa for y in pb if x.home is y.home)
        if a.idle and not b.idle:
            pass
        elif a.idle != b.idle:
            return
        else:
            charge(a.home)
            if ahead(a, b) != 1:
                return
            if not hinted:
                set_hint('next', b)
    else:
        a = c
    resched = True
    if a.on and feature['LAST_BUDDY'] and many and a.own is None:
        set_hint('last', a)


def pick(q, c):
    lowest = q.first()
    if lowest is None or (c and left_of(c.v, lowest.v)):
        lowest = c
    e = lowest
    if q.hint['skip'] is e and e:
        if e is c:
            z = q.first()
        else:
            at = q.tree.index(e) + 1
            z = q.tree[at] if at < len(q.tree) else None
            if z is None or (c and left_of(c.v, z.v)):
                z = c
        if z and ahead(z, lowest) < 1:
            e = z
    for which in ('next', 'last'):
        h = q.hint[which]
        if h and ahead(h, lowest) < 1:
            return h
    return e


def put(x):
    q = x.home
    if x.on:
        charge(q)
        q.insert(x)
    q.cur = None


def set_running(x):
    q = x.home
    drop_hints(x)
    if x.on:
        q.tree.remove(x)
    x.stamp = now
    q.cur = x
    x.mark = x.ran


def schedule():
    global runner, resched
    q, e = root, None
    while q is not None and q.n:
        c = q.cur if q.cur and q.cur.on else None
        if c:
            charge(q)
        e = pick(q, c)
        q = e.own
    if root.n == 0:
        e = None
    resched = False
    if e is runner and (e is None or e.on):
        return
    old = list(path(runner)) if runner else []
    new = list(path(e)) if e else []
    shared = [x for x in old if x in new]
    for x in old:
        if x not in shared:
            put(x)
    for x in new:
        if x not in shared:
            set_running(x)
    runner = e


def tick():
    global resched
    for x in path(runner):
        q = x.home
        charge(q)
        if q.n < 2:
            continue
        s, r = slice_of(x), x.ran - x.mark
        if r > s:
            resched = True
            drop_hints(x)
        elif r >= knob['min']:
            gap = signed(x.v - q.first().v)
            if gap >= 0 and gap > s:
                resched = True


def fork(e):
    global resched
    q = e.home
    if q.cur:
        charge(q)
        e.v = q.cur.v
    place(q, e, True)
    if knob['child_first'] and q.cur and left_of(q.cur.v, e.v):
        q.cur.v, e.v = e.v, q.cur.v
        resched = True
    e.v = (e.v - q.minv) % M
    enqueue(e, False)
    wake_test(e, True)


def change(e, apply, move):
    run, on = runner is e, e.on
    if on:
        dequeue(e, False, True, move)
    if run:
        for x in path(e):
            put(x)
    if not on and move and e.ran:
        place(e.home, e, False)
        e.v = (e.v - e.home.minv) % M
    apply()
    if not on and move and e.ran:
        e.v = (e.v + e.home.minv) % M
    if on:
        enqueue(e, False)
    if run:
        for x in path(e):
            set_running(x)
    return run, on


def play(op, e, words):
    global resched
    if op == 'wake':
        enqueue(e, True)
        wake_test(e, False)
    elif op == 'fork':
        fork(e)
    elif op in ('sleep', 'stop'):
        dequeue(e, True)
        schedule()
    elif op == 'tick':
        tick()
    elif op == 'yield':
        if root.nh != 1:
            drop_hints(runner)
            if runner.policy != 'B':
                charge(runner.home)
            set_hint('skip', runner)
        schedule()
    elif op == 'nice':
        nice, old = int(words[0]), e.nice

        def apply():
            e.nice, e.w, e.iw = nice, WEIGHT[nice + 20] << 10, INVERSE[nice + 20]
        run, on = change(e, apply, False)
        if on and root.n > 1:
            if run:
                resched = resched or nice > old
            elif runner:
                wake_test(e, False)
    elif op == 'move':
        def apply():
            e.home = groups[words[0]].own if words[0] in groups else root
        if change(e, apply, True)[0]:
            resched = True
    if resched:
        schedule()


def show(e):
    if not e.on:
        return e.name
    return '%s[v=%d s=%d%s]' % (e.name, signed(e.v), slice_of(e), ' R' if e.home.cur is e else '')


def show_queue(q):
    h = q.hint
    return '{%d %d %s}' % (signed(q.minv), q.nh, '/'.join(h[k].name if h[k] else '-' for k in ('next', 'last', 'skip')))


def state():
    queues = [root] + [g.own for g in groups.values()]
    return ' '.join([runner.name if runner else 'idle'] + [show_queue(q) for q in queues] +
                    [show(e) for e in list(groups.values()) + [t for t in tasks.values() if t.seen]])


for line in sys.stdin:
    w = line.split()
    if w[0] == 'knob':
        knob[w[1]] = int(w[2])
    elif w[0] == 'feat':
        feature[w[1]] = bool(int(w[2]))
    elif w[0] == 'group':
        g = groups[w[1]] = Entity(w[1], groups[w[3]].own if w[3] in groups else root)
        g.own = Queue(g)
        g.w = int(w[2])
    elif w[0] == 'task':
        t = tasks[w[1]] = Entity(w[1], groups[w[5]].own if len(w) > 5 and w[5] in groups else root)
        t.nice, t.policy, t.idle, t.seen = int(w[2]), w[4], w[4] == 'I', False
        t.w, t.iw = (3 << 10, 1431655765) if t.idle else (WEIGHT[t.nice + 20] << 10, INVERSE[t.nice + 20])
    elif w[0] == 'ev':
        now = int(w[1])
        who = tasks.get(w[3]) if len(w) > 3 else None
        if who:
            who.seen = True
        play(w[2], who, w[4:])
        print(w[1], ' '.join(w[2:]), '->', state())
