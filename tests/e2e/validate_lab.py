#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Shadow mode on recordings of real kernels: agreement is not below what was measured, a wrong setting scores visibly worse, and
explain tells the same story. Recordings of the lab are in the project's shared folder; those in tests/data come with the tree."""
import json, os, subprocess, sys, tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, 'tests', 'lab'))
import fidelity

RESCHED = os.path.join(os.environ.get('BUILD', os.path.join(TOP, 'build')), 'resched')
LAB = os.path.join(os.environ.get('RESCHED_SHARED', os.path.join(TOP, '..', 'shared')), 'traces', 'lab')
failed = 0

def result(good, name, detail=''):
    global failed
    failed += not good
    print(('ok ' if good else 'not ok ') + name + ('' if good else ': %s' % detail))

def resched(*args):
    p = subprocess.run([RESCHED] + list(args), capture_output=True, text=True, timeout=300)
    if p.returncode:
        raise RuntimeError('%s: exit %d: %s' % (' '.join(args), p.returncode, p.stderr.strip()))
    return json.loads(p.stdout)

def shadow(file, mode, *args):
    return resched('validate', '--json', '--shadow-only', '--mode', mode, *args, file)['shadow']

# Least pick agreement by mode b, c, a: measured, rounded down.
FLOORS = {
    'k612-1c-perhog-def': (1, .975, .975), 'k612-1c-inter-def': (1, .995, .98), 'k612-1c-mixed-def': (1, .995, .99),
    'k612-1c-slices-def': (1, .995, .985), 'k612-1c-sch-nortp': (1, .995, .99), 'k612-1c-hback-def': (.995, .995, .985),
    'k612-4c-perhog-def': (1, .98, .97), 'k612evdf-1c-perhog-evdf': (1, .995, .99), 'k61-1c-perhog-def': (1, .995, .995),
    'k61-1c-mixed-def': (1, .99, .99), 'k61-1c-forks-def': (1, .99, .99), 'k61-1c-cyc-def': (1, .995, .995), 'k61-4c-sch-def': (1, .98, .98),
    'k612-8n2-hogs-def': (1, .995, .995), 'k612-2c-forks-def': (.995, .99, .975), 'k612-2c-ipc-nortp': (.995, .92, .94),
    'k61-1c-cgq-def': (1, 1, 1), 'k612-1c-cgq-def': (.995, .995, .99), 'k612-1c-cgq-noddq': (.995, .99, .98),
}

def worst(s):
    return min(s[m + '_agreement'] for m in ('pick', 'preempt', 'tick'))

# A setting that was not in force, and how much worse it must look at least.
WRONG = [
    ('k612-1c-perhog-def', ['--feature', 'NO_RUN_TO_PARITY'], .02), ('k612-1c-perhog-def', ['--set', 'base_slice_ns=3ms'], .1),
    ('k612-1c-hogs-def', ['--policy', 'evdf'], .02), ('k612-1c-slices-def', ['--model', '6.6'], .05),
    ('k612-1c-perhog-def', ['--policy', 'evdf'], .2), ('k61-1c-sch-def', ['--set', 'wakeup_granularity_ns=5ms'], .02),
    ('k61-1c-perhog-def', ['--feature', 'NO_START_DEBIT'], .02),
]

def with_host(tmp, name):
    host = os.path.join(tmp, name + '.json')
    with open(host, 'w') as out:
        json.dump(fidelity.host_of(os.path.join(LAB, name)), out)
    args = ['--host', host]
    if name.endswith('-evdf'):
        args += ['--policy', 'evdf']
    return os.path.join(LAB, name, 'trace.dat'), args

def of_tree():
    for name in ('lab-v7-k612-2c.dat', 'lab-v7-none-k61-2c.dat'):
        file = os.path.join(TOP, 'tests', 'data', name)
        for mode in 'ba':
            s = shadow(file, mode)
            good = s['pick_agreement'] == 1 and s['preempt_agreement'] >= .98 and s['tick_agreement'] >= .98 and s['contested'] > 100
            result(good, 'shadow of %s, mode %s' % (name, mode), '%(contested)d picks, %(pick_agreement).4f' % s)
    s = shadow(os.path.join(TOP, 'tests', 'data', 'lab-v7-k612-2c.dat'), 'b', '--set', 'base_slice_ns=6ms')
    result(s['pick_agreement'] < .95, 'a wrong base slice scores worse', s['pick_agreement'])
    result(0 < len(s['disagreements']) <= 20 and all(d['why'] and d['model'] != d['kernel'] for d in s['disagreements'] if d['kind'] == 'pick'),
           'the first disagreements have a reason each')

def limited(tmp, name, kernel, first, quota_us):
    """A snapshot for one of the tree's recordings of groups: two hogs in /a (cpu.max 20ms/100ms), a hog and a periodic task in /b."""
    file = os.path.join(tmp, '%s-%d.json' % (kernel, quota_us))
    task = {'tgid': 0, 'comm': '', 'state': 'S', 'policy': 0, 'nice': 0, 'rt_priority': 0, 'slice_ns': 0, 'autogroup': -1, 'autogroup_nice': 0,
            'kthread': 0}
    cpu = {'cpu': 0, 'online': 1, 'isolated': 0, 'core': 0, 'cluster': -1, 'llc': 0, 'die': 0, 'package': 0, 'node': 0, 'capacity': 1024}
    with open(file, 'w') as out:
        json.dump({'schema': 'resched/host/1', 'kernel': kernel, 'machine': 'x86_64', 'version': '', 'hz': 250, 'preempt': 'voluntary',
                   'autogroup': 0, 'clock': 'mono', 'taken_ns': 0, 'cpus': [cpu], 'nodes': [], 'features': [], 'tunables': {},
                   'tasks': [dict(task, pid=first + i, cgroup='/' + 'aabb'[i]) for i in range(4)],
                   'cgroups': [{'path': '/a', 'weight': 100, 'quota_us': quota_us, 'period_us': 100000},
                               {'path': '/b', 'weight': 300, 'quota_us': 0, 'period_us': 100000}]}, out)
    return os.path.join(TOP, 'tests', 'data', name), ['--host', file]

def limits_of_tree(tmp):
    """Where the period of a quota begins is not recorded: it is found. Without the quota the model thinks of a group that is not there."""
    for name, kernel, first, floor in (('lab-v7-k61-1c.dat', '6.1.0', 286, 1), ('lab-v6-k612-1c.dat', '6.12.115', 337, .99)):
        file, args = limited(tmp, name, kernel, first, 20000)
        for mode in 'bca':
            s = shadow(file, mode, *args)
            good = s['pick_agreement'] >= floor and s['preempt_agreement'] >= .98 and s['tick_agreement'] >= .98 and s['contested'] > 300
            result(good, 'shadow of %s, whose groups have a quota, mode %s' % (name, mode), '%(contested)d picks, %(pick_agreement).4f' % s)
        for wrong in (0, 30000):
            file, args = limited(tmp, name, kernel, first, wrong)
            s = shadow(file, 'b', *args)
            result(s['pick_agreement'] < .9, 'a quota of %d us scores worse' % wrong, s['pick_agreement'])

def of_lab(tmp):
    for name, floors in FLOORS.items():
        file, args = with_host(tmp, name)
        for mode, floor in zip('bca', floors):
            s = shadow(file, mode, *args)
            result(s['pick_agreement'] >= floor, 'shadow of %s, mode %s' % (name, mode), '%.4f < %.4f' % (s['pick_agreement'], floor))
            if mode == 'b':
                result(s['preempt_agreement'] >= .98 and s['tick_agreement'] >= .98, 'preempt and tick of %s' % name,
                       '%.4f, %.4f' % (s['preempt_agreement'], s['tick_agreement']))
    for name, wrong, gap in WRONG:
        file, args = with_host(tmp, name)
        loss = worst(shadow(file, 'b', *args)) - worst(shadow(file, 'b', *(args + wrong)))
        result(loss > gap, '%s held against %s scores worse' % (name, ' '.join(wrong)), 'only %.4f' % loss)

def explanations(tmp):
    """At the stamp of a switch the queue's running task is the one switched to; and a pick just before gives it."""
    file, args = with_host(tmp, 'k612-1c-perhog-def')
    agree = total = 0
    for ms in range(200, 1800, 100):
        x = resched('explain', '--json', '--at', '%dms' % ms, '--cpu', '0', *args, file)
        running = [t for t in x['queue'] if t['running']]
        if x['running']['pid'] and running:
            total += 1
            agree += running[0]['pid'] == x['running']['pid'] and x['pick']['pid'] in [t['pid'] for t in x['queue']] and x['why'] != ''
    result(total >= 8 and agree == total, 'explain: the running task is the recorded one', '%d of %d' % (agree, total))
    x = resched('explain', '--json', '--at', '1s', '--policy', 'cfs', *args, file)
    result(x['schedule'] == 'free' and x['policy'] == 'cfs', 'explain --policy looks at a replayed schedule', x['schedule'])

def main():
    of_tree()
    with tempfile.TemporaryDirectory(prefix='resched-validate-') as tmp:
        limits_of_tree(tmp)
    if not os.path.isdir(LAB):
        print('skip shadow of the lab: no recordings at $RESCHED_SHARED/traces/lab')
        return failed
    with tempfile.TemporaryDirectory(prefix='resched-validate-') as tmp:
        of_lab(tmp)
        explanations(tmp)
    return failed

if __name__ == '__main__':
    sys.exit(1 if main() else 0)
