#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The short form of tests/lab/capture_qemu.py: recording with both backends on real kernels of others than this machine's.
Environment: BUILD, RESCHED, WAKELOAD."""
import os
import sys

lab = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lab/capture_qemu.py")
os.execv(sys.executable, [sys.executable, lab, "--short", "--fetch"])
