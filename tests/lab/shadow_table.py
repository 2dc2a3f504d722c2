#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Does the model decide as the kernels of the lab did? resched validate over all recordings, in three modes, as one table.

usage: shadow_table.py [--lab DIR] [--resched FILE] [--modes bca] [--match REGEX] [--markdown] [--option=OPT]...

Each recording is held against its own kernel's rules and settings (meta.txt). Columns: contested picks; agreement of picks by mode;
in mode b also of preemptions and ticks. The last lines give median, least and the share that reaches the goals."""
import argparse, json, os, re, statistics, subprocess, sys, tempfile
import fidelity

def validate(args, tmp, name, mode):
    folder = os.path.join(args.lab, name)
    host = os.path.join(tmp, name + '.json')
    if not os.path.exists(host):
        with open(host, 'w') as out:
            json.dump(fidelity.host_of(folder), out)
    command = [args.resched, 'validate', '--json', '--mode', mode, '--shadow-only', '--host', host] + args.option
    if name.endswith('-evdf'):      # recorded with the eligibility test switched off
        command += ['--policy', 'evdf']
    p = subprocess.run(command + [os.path.join(folder, 'trace.dat')], capture_output=True, text=True, timeout=600)
    if p.returncode:
        raise RuntimeError('%s, mode %s: exit %d: %s' % (name, mode, p.returncode, p.stderr.strip()[-300:]))
    return json.loads(p.stdout)['shadow']

def group_of(name):
    kernel, topology, load = name.split('-')[:3]
    if load.startswith('cg'):
        return 'groups'
    return '%s %s' % (kernel, '1 cpu' if topology == '1c' else 'several cpus')

def summary(values, goal):
    return '%.4f / %.4f / %d of %d' % (statistics.median(values), min(values), sum(v >= goal for v in values), len(values))

def main():
    here = os.path.dirname(os.path.abspath(__file__))
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument('--lab', default=os.path.join(here, '../../../shared/traces/lab'))
    p.add_argument('--resched', default=os.environ.get('RESCHED', os.path.join(here, '../../build/resched')))
    p.add_argument('--modes', default='bca')
    p.add_argument('--match', default='')
    p.add_argument('--markdown', action='store_true')
    p.add_argument('--option', action='append', default=[])
    args = p.parse_args()
    goals = {'b': .995, 'c': .995, 'a': .985}
    names = sorted(n for n in os.listdir(args.lab) if os.path.exists(os.path.join(args.lab, n, 'trace.dat')))
    heads = ['recording', 'contested'] + list(args.modes) + ['preempt', 'tick']
    row = (lambda cells: '| ' + ' | '.join(cells) + ' |') if args.markdown else (
        lambda cells: '%-28s %9s ' % (cells[0], cells[1]) + ' '.join('%8s' % c for c in cells[2:]))
    print(row(heads))
    if args.markdown:
        print('|' + ' --- |' * len(heads))
    groups, failed = {}, 0
    with tempfile.TemporaryDirectory(prefix='resched-shadow-') as tmp:
        for name in names:
            if not re.search(args.match, name):
                continue
            try:
                results = {mode: validate(args, tmp, name, mode) for mode in args.modes}
            except RuntimeError as e:
                print('FAILED', e)
                failed += 1
                continue
            first = results[args.modes[0]]
            cells = [name, str(first['contested'])] + ['%.4f' % results[m]['pick_agreement'] for m in args.modes]
            print(row(cells + ['%.4f' % first['preempt_agreement'], '%.4f' % first['tick_agreement']]), flush=True)
            for mode in args.modes:
                groups.setdefault(group_of(name), {}).setdefault(mode, []).append(results[mode]['pick_agreement'])
            groups[group_of(name)].setdefault('preempt', []).append(first['preempt_agreement'])
            groups[group_of(name)].setdefault('tick', []).append(first['tick_agreement'])
    print()
    print(row(['median / least / reach goal', ''] + list(args.modes) + ['preempt', 'tick']))
    if args.markdown:
        print('|' + ' --- |' * len(heads))
    for group in sorted(groups):
        cells = [summary(groups[group][m], goals[m]) for m in args.modes] + [summary(groups[group][m], .98) for m in ('preempt', 'tick')]
        print(row([group, ''] + cells))
    return 1 if failed else 0

if __name__ == '__main__':
    sys.exit(main())
