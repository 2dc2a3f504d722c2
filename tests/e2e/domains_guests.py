#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The short form of tests/lab/domains_qemu.py: the domains of two guests, built by real kernels, against the model's.
Environment: BUILD, RESCHED."""
import os
import sys

lab = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lab/domains_qemu.py")
os.execv(sys.executable, [sys.executable, lab, "--short", "--fetch"])
