#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Play a scenario on the slow reference model of EEVDF and print the state after each event.

usage: oracle_eevdf.py FOLDER_OF_eevdf_model.py < SCENARIO"""
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import eevdf_model


def play(sim, line):
    word = line.split()
    sim.run([line])
    if word[0] == 'task':
        sim.tasks[word[1]].niceval = int(word[2])
    elif word[0] == 'ev':
        print(' '.join(sim.out[-1].split()))
        sim.out.clear()


sim = eevdf_model.Sim()
for line in sys.stdin:
    try:
        play(sim, line)
    except AssertionError as impossible:  # the event does not fit the state any more
        print('stopped at', line.strip(), impossible)
        sys.exit(1)
