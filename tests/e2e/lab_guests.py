#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The short form of tests/lab/guests.py: a load recorded by our own recorder under two real kernels, replayed under their rules.
Environment: BUILD, RESCHED."""
import os
import sys

lab = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lab/guests.py")
os.execv(sys.executable, [sys.executable, lab, "--short", "--fetch"])
