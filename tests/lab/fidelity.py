#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""How near a free replay comes to what a kernel did, over the lab recordings.

usage: fidelity.py [--lab DIR] [--resched FILE] [--placement recorded|kernel] [-v] self [NAME...]
       fidelity.py ... pairs
       fidelity.py ... results > RESULTS.md    (both, as the page kept beside this file)
       fidelity.py ... host NAME        (the host snapshot made of meta.txt, as JSON)

self:   replay every recording under its own kernel's rules and settings, compare with the recording.
pairs:  replay the default recording of a workload as each other variant of it, compare with what that kernel did;
        beside it what "nothing changes" would have scored.

A figure's error is max(p/r, r/p) - 1 of predicted and recorded; latencies below 20 us count as 20 us; comms with 50 wakeups or
more count. Of whole recordings: involuntary switches; run time of all tasks together; makespan, the time for as many sleeps and ends of
tasks as recording and replay both have. The recordings were made without our recorder, so tasks, features and tunables come from their
meta.txt."""
import argparse, json, os, re, statistics, subprocess, sys, tempfile

FLOOR = 20000
COMM_MIN = 50

def cpus_of(hexmask, n):
    bits = int(hexmask, 16) if re.fullmatch(r'[0-9a-f]+', hexmask or '') else 0
    cpus = [str(i) for i in range(n) if bits >> i & 1]
    return None if not cpus or len(cpus) == n else ','.join(cpus)

def host_of(folder):
    """A resched/host/1 snapshot of what meta.txt says."""
    meta = open(os.path.join(folder, 'meta.txt'), errors='replace').read()
    get = lambda pat, d=None: (re.search(pat, meta, re.M) or [None, d])[1]
    host = {'schema': 'resched/host/1', 'kernel': get(r'^uname: Linux \S+ (\S+)'), 'machine': 'x86_64', 'version': '',
            'hz': int(get(r'^HZ: (\d+)', 250)), 'preempt': 'voluntary', 'autogroup': 0, 'clock': 'mono', 'taken_ns': 0}
    cpus = []
    for m in re.finditer(r'^cpu(\d+) pkg=(-?\d+) die=(-?\d+) core=-?\d+ siblings=(\d+).*?node=(\d+) llc=(.*)$', meta, re.M):
        l3 = re.search(r'L3:([\d,-]+)', m[6]) or re.search(r'L2:([\d,-]+)', m[6])
        first = int(re.match(r'\d+', l3[1])[0]) if l3 else int(m[1])
        cpus.append({'cpu': int(m[1]), 'online': 1, 'isolated': 0, 'core': int(m[4]), 'cluster': -1, 'llc': first,
                     'die': int(m[3]), 'package': int(m[2]), 'node': int(m[5]), 'capacity': 1024})
    before = meta[meta.find('[sched debug before]'):meta.find('[sched debug after]')]
    for m in re.finditer(r'^cpu#(\d+).*?max_idle_balance_cost\s*: (\d+)', before, re.M | re.S):
        if int(m[2]) > 500000:
            cpus[int(m[1])]['newidle_ns'] = int(m[2])
    host['cpus'] = cpus
    host['nodes'] = [{'node': int(m[1]), 'distances': [int(d) for d in m[2].split()]}
                     for m in re.finditer(r'^node(\d+) cpus=\S+ distance=([\d ]+)$', meta, re.M)]
    section = re.search(r'^\[tunables\]\n(.*?)\n\[', meta, re.M | re.S)[1]
    pairs = [l.split(': ', 1) for l in section.splitlines() if ': ' in l and not l.startswith('kernel.')]
    host['features'] = next((v.split() for k, v in pairs if k == 'features'), [])
    host['tunables'] = {k: v.strip() for k, v in pairs if k.endswith('_ns') and v.strip().isdigit()}
    tasks = []
    section = re.search(r'^\[tasks\]\n(.*?)\n\n', meta, re.M | re.S)
    for line in (section[1] if section else '').splitlines():
        f = line.split()
        if line.startswith('#') or len(f) < 9:
            continue
        task = {'pid': int(f[0]), 'tgid': int(f[0]), 'comm': f[1][:15], 'state': 'S', 'policy': int(f[4]), 'nice': int(f[3]),
                'rt_priority': int(f[5]), 'slice_ns': max(0, int(f[6])), 'autogroup': -1, 'autogroup_nice': 0, 'kthread': 0}
        cgroup = f[7].strip('/')
        task['cgroup'] = '/' + cgroup if cgroup not in ('', '-') else '/'
        affinity = cpus_of(f[8], len(cpus))
        if affinity:
            task['affinity'] = affinity
        tasks.append(task)
    host['cgroups'] = []
    for m in re.finditer(r'^/sys/fs/cgroup(/\S*?)/? weight=(\d+) idle=\d+ max=(\S+) (\d+)', meta, re.M):
        host['cgroups'].append({'path': m[1] or '/', 'weight': int(m[2]), 'quota_us': 0 if m[3] == 'max' else int(m[3]),
                                'period_us': int(m[4])})
    host['tasks'] = sorted(tasks, key=lambda t: t['pid'])
    return host

class Lab:
    def __init__(self, args):
        self.args = args
        self.tmp = tempfile.mkdtemp(prefix='resched-lab-')
        self.schedule = os.path.join(self.tmp, 'replay.dat')
        self.reports = {}

    def path(self, name):
        return os.path.join(self.args.lab, name)

    def run(self, command):
        p = subprocess.run([self.args.resched] + command, capture_output=True, text=True, timeout=120)
        if p.returncode:
            raise RuntimeError('%s: exit %d: %s' % (' '.join(command[:2]), p.returncode, p.stderr.strip()[-300:]))
        return json.loads(p.stdout)

    def recorded(self, name):
        if name not in self.reports:
            self.reports[name] = self.run(['report', '--json', self.path(name) + '/trace.dat'])
        return self.reports[name]

    def ends(self, path):
        """When the recording @path began, and when its tasks went to sleep or ended, in order."""
        p = subprocess.run([self.args.resched, 'export', '-q', '--format', 'text', path], capture_output=True, text=True, timeout=120)
        times = [(float(m[1]), m[2]) for m in re.finditer(r'(\d+\.\d+): sched_switch: .*?prev_state=(\S+)', p.stdout)]
        return times[0][0] if times else 0, [t for t, state in times if not state.startswith('R')]

    def makespan_error(self, name):
        """How much longer or shorter the last replay took than the recording @name for as many sleeps as both have."""
        (first, recorded), (_, predicted) = self.ends(self.path(name) + '/trace.dat'), self.ends(self.schedule)
        k = min(len(recorded), len(predicted)) - 1
        return error(predicted[k] - first, recorded[k] - first) if k >= COMM_MIN else None

    def replayed(self, name, as_name):
        """What the model says the recording @name would have been under the kernel and settings of @as_name."""
        host, target = host_of(self.path(name)), host_of(self.path(as_name))
        policy = 'cfs' if target['kernel'].startswith('6.1.') else 'evdf' if as_name.endswith('-evdf') else 'eevdf'
        command = ['replay', '--json', '-q', '--policy', policy, '--placement', self.args.placement]
        if name != as_name:
            host['features'], host['tunables'], host['kernel'] = target['features'], target['tunables'], target['kernel']
        file = os.path.join(self.tmp, name + '.json')
        with open(file, 'w') as out:
            json.dump(host, out)
        if name == as_name:
            if os.path.exists(self.schedule):
                os.unlink(self.schedule)
            command += ['-o', self.schedule]
        return self.run(command + ['--host', file, self.path(name) + '/trace.dat'])

def error(predicted, recorded):
    ratio = (predicted or 1) / (recorded or 1)
    return max(ratio, 1 / ratio) - 1

def floor(value):
    return max(value or 0, FLOOR)

def score(predicted, recorded, base=None):
    """Rows of figures of each comm; with @base also what "nothing changes" errs by and whether the sign is right."""
    rows = []
    of = lambda report: {c['comm']: c for c in report['comms']}
    p, r, b = of(predicted), of(recorded), of(base) if base else {}
    for comm, c in r.items():
        if c['wakeup_latency_ns']['count'] < COMM_MIN:
            continue
        q = p.get(comm)
        row = {'comm': comm, 'wakeups': c['wakeups'], 'run time': error(q and q['runtime_ns'], c['runtime_ns']), 'values': {}}
        for f in ('p50', 'p99', 'mean'):
            x, y = floor(q and q['wakeup_latency_ns'][f]), floor(c['wakeup_latency_ns'][f])
            row[f] = error(x, y)
            row['values'][f] = (None, x, y)
            if comm in b and b[comm]['wakeup_latency_ns']['count']:
                z = floor(b[comm]['wakeup_latency_ns'][f])
                row['null_' + f] = error(z, y)
                row['values'][f] = (z, x, y)
                if max(y / z, z / y) > 1.7:
                    row['sign_' + f] = (y > z) == (x > z)
        rows.append(row)
    return rows

def total(report, key):
    return sum(c[key] for c in report['comms'])

def quantile(values, q):
    values = sorted(values)
    return values[min(len(values) - 1, int(q * len(values)))] if values else 0

class Group:
    """Rows of commands, and figures of whole recordings by name."""
    def __init__(self):
        self.rows, self.whole = [], {}

    def add(self, rows, **figures):
        self.rows += rows
        for name, value in figures.items():
            if value is not None:
                self.whole.setdefault(name, []).append(value)

def summary(title, group):
    rows = group.rows
    if not rows:
        return
    line = '%s: %d comms' % (title, len(rows))
    for f in ('p50', 'p99', 'mean', 'null_p50', 'null_p99'):
        v = [r[f] for r in rows if f in r]
        if v:
            line += '  %s %.3f/%.2f' % (f, statistics.median(v), quantile(v, .9))
    signs = [r[k] for r in rows for k in r if k.startswith('sign_')]
    if signs:
        line += '  signs %d/%d' % (sum(signs), len(signs))
    for name, v in group.whole.items():
        line += '  %s %s' % (name, '%.3f/%.2f' % (statistics.median(v), quantile(v, .9)) if name == 'involuntary' else
                             '%.5f/%.4f' % (statistics.median(v), quantile(v, .9)))
    print(line)

def variants(names):
    """(A, B): the default recording of a workload and another variant of it, on the same topology."""
    pairs = []
    def parts(n):
        kernel, topo, load, variant = n.split('-', 3)
        return kernel, topo, load, variant
    plain = [n for n in names if not re.search(r'-(vr|st|r\d)$', n)]
    for b in plain:
        kb, tb, lb, vb = parts(b)
        for ka in ('k61', 'k612', 'k612evdf'):
            a = '-'.join((ka, tb, lb, 'def'))
            # k612evdf with its defaults is 6.12 again: a repeat, not another setting.
            same = {ka, kb} == {'k612', 'k612evdf'} and vb == 'def'
            if a in plain and a != b and not same and (ka == kb or vb in ('def', 'evdf')):
                pairs.append((a, b))
    return pairs

PAGE = """# How near a replay comes to what the kernels of the lab did

Every recording of the lab is replayed under its own kernel's rules and settings (self), and every default recording as each other
variant of its workload, then compared with what that kernel really did (pairs). Made with

    python3 tests/lab/fidelity.py --guests GUESTS --live LIVE results > tests/lab/RESULTS.md

where GUESTS holds what `tests/lab/guests.py` printed, and LIVE what `tests/lab/live.py` did.

The error of a figure is max(p/r, r/p) - 1 of predicted and recorded, so 0.10 is ten per cent; wakeup latencies below 20 us count as
20 us; commands with 50 wakeups or more count. Two numbers a/b are the median and the 90th percentile over the commands. `null` is what
predicting "nothing changes" would have erred by; `signs` counts the figures that reality moved by more than 1.7 x and how many of them
were moved the right way. The same setting recorded twice differs by 0.15 in the median (90th percentile 0.68), so nothing below that
means much for several cpus or for busy sleepers.

`runtime` is that of all tasks together, `makespan` the time for as many sleeps and ends of tasks as recording and replay both have.

## Why the worst are bad

- hackbench, cyc (cyclictest beside it), stress, as CFS and on several cpus: pipes. Under EEVDF the readers seldom sleep, so the recording does not
  show the wakeups that CFS would have made of every message: 10 us become milliseconds. Nothing of a pipe's content is recorded. All the same load,
  under its own rules too, where it decides which of many messages a sleeper finds; the number of sleeps, and so the makespan, is the pipes' too.
- inter on 6.12 with several cpus, p50: half of the wakeups find an idle cpu (10 us), half a busy one (hundreds of us to milliseconds), so p50 is
  either. The same in most wrong signs of these pairs: reality moved p50 from 20 us to 500 us, or back; p99 and mean are near.
- ipc on 6.12 with several cpus: a lock that is contended in another order. Who holds it without being waited for is not recorded.
- forks on several cpus: children go where the recording had them, on cpus that are busy by then, while others idle; so up to a third less is done.
  Placement by the model, in a block of its own below, does not have that.
- 6.1 to 6.12 and back on several cpus: recorded placement is that of the other kernel; which of several equal tasks shares a cpu with
  which is decided anew. Placement by the model has more of the signs.
- cg on several cpus: weights of groups are shared out by load averages, which are followed and not recorded; not traced further.
- cgq as CFS, p99: of 150 wakeups two waited 3 ms in reality and one 1 ms in the replay; p50 and mean are those of the other 148.
"""

GUESTS = """## New loads

Two loads that the model was not developed with (but for telling arrivals from sleeps, which the first of them taught), recorded by our own recorder
under 6.1 and 6.12 in guests of one cpu (`make lab`), each as it is and with one tunable or feature changed:

```text
%s
```

The worst are `desk` from 6.12 to 6.1 and to a base slice of 12 ms: requests come at irregular instants of a clock, and where their task was late
several came at once without a sleep between; at which instants those were due is not recorded. So a kernel that serves them in time is predicted to
meet bursts (supposed from the programs, not shown by a trial).
"""

LIVE = """## This machine's own kernel

    sudo python3 tests/lab/live.py > LIVE

on the machine of the first session in the README, while other work ran on it; the first row tells how much that disturbs: so nothing below that
means much.

```text
%s
```
"""

def block(args, what, placement):
    """The output of another mode of this program."""
    out = subprocess.run([sys.executable, os.path.abspath(__file__), '--lab', args.lab, '--resched', args.resched, '--placement', placement,
                          what], capture_output=True, text=True).stdout
    lines = out.splitlines()
    groups = [l for l in lines if re.match(r'(k\d|all)\S*.*: \d+ comms', l)]
    return groups, [l.rstrip() for l in lines if l not in groups]

def worst_first(rows):
    """Rows of single recordings, the largest of their two latency errors first."""
    def key(row):
        m = re.search(r'p50 ([\d.]+) p99 ([\d.]+)', row)
        return -max(float(m[1]), float(m[2])) if m else 0
    return sorted(rows, key=key)

def results(args):
    print(PAGE)
    for title, what, placement in (('Self, placement as recorded', 'self', 'recorded'), ('Self, placement by the model', 'self', 'kernel'),
                                   ('Pairs, placement as recorded', 'pairs', 'recorded'),
                                   ('Pairs, placement by the model', 'pairs', 'kernel')):
        groups, rows = block(args, what, placement)
        print('## %s\n\n```text\n%s\n```\n' % (title, '\n'.join(groups)))
        if placement == 'recorded':
            print('The recordings%s, worst first:\n\n```text\n%s\n```\n' % (
                ', as which variant' if what == 'pairs' else '', '\n'.join(worst_first(rows))))
    if args.guests:
        print(GUESTS % open(args.guests).read().rstrip())
    if args.live:
        print(LIVE % open(args.live).read().rstrip())
    return 0

def main():
    p = argparse.ArgumentParser(usage=__doc__)
    here = os.path.dirname(os.path.abspath(__file__))
    p.add_argument('--lab', default=os.path.join(here, '../../../shared/traces/lab'))
    p.add_argument('--resched', default=os.environ.get('RESCHED', os.path.join(here, '../../build/resched')))
    p.add_argument('--placement', default='recorded')
    p.add_argument('--match', default='')
    p.add_argument('--guests', help='results: output of guests.py to put at the end')
    p.add_argument('--live', help='results: output of live.py, likewise')
    p.add_argument('-v', action='store_true')
    p.add_argument('what', choices=('self', 'pairs', 'results', 'host'))
    p.add_argument('names', nargs='*')
    args = p.parse_args()
    if args.what == 'host':
        print(json.dumps(host_of(os.path.join(args.lab, args.names[0])), indent=1))
        return 0
    if args.what == 'results':
        return results(args)
    lab = Lab(args)
    names = sorted(n for n in os.listdir(args.lab) if os.path.exists(os.path.join(args.lab, n, 'trace.dat')))
    if args.what == 'self':
        jobs = [(n, n) for n in (args.names or names)]
    else:
        jobs = variants(names)
    jobs = [j for j in jobs if re.search(args.match, ' '.join(j))]
    groups, failed = {}, 0
    for a, b in jobs:
        try:
            predicted, recorded = lab.replayed(a, b), lab.recorded(b)
            base = lab.recorded(a) if a != b else None
        except Exception as e:
            print('FAILED %s as %s: %s' % (a, b, e))
            failed += 1
            continue
        rows = score(predicted, recorded, base)
        inv = error(total(predicted, 'involuntary') + 1, total(recorded, 'involuntary') + 1)
        whole = {'involuntary': inv}
        if a == b:
            whole.update(runtime=error(total(predicted, 'runtime_ns'), total(recorded, 'runtime_ns')), makespan=lab.makespan_error(a))
        med = lambda f: statistics.median([r[f] for r in rows]) if rows else 0
        print('%-30s %-30s comms %2d  p50 %.3f p99 %.3f mean %.3f  involuntary %6d %6d %.3f%s' % (
            a, b if a != b else '', len(rows), med('p50'), med('p99'), med('mean'), total(predicted, 'involuntary'),
            total(recorded, 'involuntary'), inv, ''.join('  %s %.5f' % (k, whole[k]) for k in ('runtime', 'makespan') if whole.get(k) is not None)))
        if args.v:
            for r in rows:
                print('    %-16s run time %.4f ' % (r['comm'], r['run time']) + ' '.join(
                    '%s %.3f (%s)%s' % (f, r[f], ' '.join('%.0f' % (v / 1e3) for v in r['values'][f] if v is not None),
                                       '' if r.get('sign_' + f, True) else ' WRONG SIGN') for f in ('p50', 'p99', 'mean')))
        cpus = '1 cpu' if '-1c-' in a else 'several'
        for key in (a.split('-')[0] + ('->' + b.split('-')[0] if a != b else '') + ' ' + cpus, 'all ' + cpus, 'all'):
            groups.setdefault(key, Group()).add(rows, **whole)
    for key in sorted(groups, key=lambda k: (k.startswith('all'), k != 'all', k)):
        summary(key, groups[key])
    return 1 if failed else 0

if __name__ == '__main__':
    sys.exit(main())
