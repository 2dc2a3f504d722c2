#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The interactive views in a real terminal: a private tmux server, real keys, resizes, colours, and an end by every way there is.
Nothing sleeps for a time: every step waits until the screen shows what it must."""
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from common import RESCHED, TOP, failed, result

HOST = os.path.join(TOP, "tests", "data", "host-6.18.dat")
LIMIT = 30


class Terminal:
    """One tmux server with a shell in it."""

    def __init__(self, w, h, **env):
        self.dir = tempfile.mkdtemp()
        self.env = {"PATH": os.environ["PATH"], "HOME": self.dir, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "SHELL": "/bin/sh", "PS1": "READY> ", **env}
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(w), "-y", str(h), "env PS1='READY> ' /bin/sh")
        self.wait("READY>")

    def tmux(self, *args):
        return subprocess.run(["tmux", "-S", os.path.join(self.dir, "socket"), *args], capture_output=True, text=True, timeout=60, check=False,
                              env=self.env).stdout

    def screen(self, *args):
        return self.tmux("capture-pane", "-p", *args)

    def wait(self, pattern, *args):
        """The screen, as soon as it has @pattern; None when it never does."""
        until = time.monotonic() + LIMIT
        while time.monotonic() < until:
            shown = self.screen(*args)
            if re.search(pattern, shown):
                return shown
            select.select([], [], [], 0.02)
        return None

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def line(self, text):
        self.tmux("send-keys", "-l", text)
        self.tmux("send-keys", "Enter")

    def close(self):
        self.tmux("kill-server")
        shutil.rmtree(self.dir, ignore_errors=True)


def below(pid, name=()):
    out = subprocess.run(["pgrep", "-P", pid, *name], capture_output=True, text=True, check=False).stdout.split()
    return out[0] if out else None


def child(term):
    """Pid of the process that draws: the second resched below the shell."""
    pid = term.tmux("display-message", "-p", "#{pane_pid}").strip()
    while pid and not below(pid, ("resched",)):
        pid = below(pid)
    return below(below(pid, ("resched",))) if pid else None


def views(w, h, **env):
    t = Terminal(w, h, **env)
    name = f"{w}x{h}" + (" mono" if env else "")
    t.line(f"{RESCHED} tui {HOST}")
    result(t.wait("40 tasks"), f"{name}: tasks", t.screen())
    t.keys("/")
    t.line("hog-nice5")
    t.keys("Enter")
    result(t.wait(r"hog-nice5/2328  nice 5"), f"{name}: search and Enter", t.screen())
    t.keys("Escape")
    result(t.wait("40 tasks"), f"{name}: Escape", t.screen())
    t.keys("F5")
    result(t.wait("cursor 0.000000000"), f"{name}: F5", t.screen())
    t.keys("]")
    result(t.wait("cursor 0.000288534"), f"{name}: ] goes to the worst wait", t.screen())
    t.keys("w", "w", "w", "m", "Right", "Right", "m")
    result(t.wait("A 0.000288534"), f"{name}: zoom and markers", t.screen())
    t.keys("F7")
    result(t.wait("turns on cpu 0"), f"{name}: F7", t.screen())
    t.keys("e")
    result(t.wait("Of 2 runnable tasks"), f"{name}: the queue at that moment", t.screen())
    t.keys("6", "r")
    result(t.wait(r"%\s"), f"{name}: what if", t.screen())
    t.keys("?")
    result(t.wait("change the policy, model"), f"{name}: help", t.screen())
    colours = re.search(r"\x1b\[[0-9;]*38;5;", t.screen("-e"))
    result(bool(colours) != bool(env), f"{name}: colour", t.screen("-e")[:400])
    t.keys("q", "q")
    result(t.wait(r"READY> \s*$") or t.wait("READY>"), f"{name}: q leaves", t.screen())
    t.line("echo left $?")
    result(t.wait("left 0"), f"{name}: exit status 0", t.screen())
    t.close()


def resizes():
    t = Terminal(100, 30)
    t.line(f"{RESCHED} tui {HOST}")
    t.wait("40 tasks")
    for w, h in ((200, 60), (80, 24), (40, 10), (120, 40), (30, 8), (81, 25), (300, 90), (80, 24)):
        t.tmux("resize-window", "-x", str(w), "-y", str(h))
    result(t.wait("40 tasks"), "a storm of resizes", t.screen())
    t.tmux("resize-window", "-x", "60", "-y", "20")
    result(t.wait("needs 80x24"), "too small is told", t.screen())
    t.tmux("resize-window", "-x", "80", "-y", "24")
    result(t.wait("40 tasks"), "and it comes back", t.screen())
    t.keys("q")
    result(t.wait("READY>"), "and leaves", t.screen())
    t.close()


def ends():
    for name, code in (("TERM", 143), ("HUP", 129), ("SEGV", 139), ("KILL", 137), ("ABRT", 134)):
        t = Terminal(80, 24)
        t.line("stty -a >before")
        t.line(f"{RESCHED} tui {HOST}")
        t.wait("40 tasks")
        pid = child(t)
        if pid:
            os.kill(int(pid), getattr(signal, "SIG" + name))
        t.wait("READY>")
        t.line(f"echo status $?; stty -a >after; cmp before after && echo terminal as it was")
        shown = t.wait("terminal as it was")
        result(pid and shown and f"status {code}" in shown and "1 Tasks" not in shown, f"SIG{name}: the terminal is restored", pid, t.screen())
        t.close()


def suspend():
    t = Terminal(80, 24)
    t.line(f"{RESCHED} tui {HOST}")
    t.wait("40 tasks")
    t.keys("C-z")
    result(t.wait("READY>"), "C-z gives the shell", t.screen())
    t.line("fg")
    result(t.wait("40 tasks"), "fg brings it back", t.screen())
    t.keys("3")
    result(t.wait("CAUSE"), "and it takes keys", t.screen())
    t.keys("q")
    result(t.wait("READY>"), "and leaves", t.screen())
    t.close()


def memory():
    t = Terminal(80, 24)
    t.line(f"{RESCHED} tui {HOST}")
    t.wait("40 tasks")
    t.keys("g", "s")
    result(t.wait("names;"), "grouped by name", t.screen())
    t.keys(":")
    t.line("goto 120ms")
    t.keys("2")
    t.wait("cursor 0.120000000")
    t.keys("q")
    t.wait("READY>")
    t.line(f"clear; {RESCHED} tui {HOST}")
    result(t.wait(r"cursor 0\.000000000"), "the view of the last time comes first", t.screen())
    t.keys("1")
    result(t.wait("names;"), "and its grouping", t.screen())
    t.keys(":", "Up")
    result(t.wait(":goto 120ms"), "and its commands", t.screen())
    t.keys("Escape", "q")
    t.wait("READY>")
    t.close()
    t = Terminal(80, 24, XDG_STATE_HOME="/proc/nowhere")
    t.line(f"{RESCHED} tui {HOST}")
    result(t.wait("40 tasks"), "a place that cannot be is no matter", t.screen())
    t.keys("q")
    result(t.wait("READY>"), "at the end neither", t.screen())
    t.close()


def side_by_side():
    t = Terminal(120, 40)
    t.line(f"{RESCHED} tui {HOST}")
    t.wait("40 tasks")
    t.keys(":")
    t.line("replay --policy cfs")
    t.wait("= cfs")
    t.keys("v")
    for view, shown in (("1", "> cfs"), ("2", r"> cfs[^\n]*\n[ ^]*\^"), ("5", "cfs: cfs 6.1"), ("4", "> cfs: waited"), ("3", "under cfs|counterpart")):
        t.keys(view)
        result(t.wait(shown), f"side by side: view {view}", t.screen())
    t.keys(">")
    t.wait("replayed: cfs")
    t.keys(":")
    t.line("close")
    t.keys("6")
    result(t.wait(r"recorded\s*\n"), ":close forgets a replay", t.screen())
    t.keys("q")
    t.wait("READY>")
    t.close()


def main():
    if not shutil.which("tmux"):
        print("skip views in a terminal: tmux is not installed")
        return 0
    views(80, 24)
    views(200, 60)
    views(80, 24, NO_COLOR="1")
    resizes()
    ends()
    suspend()
    memory()
    side_by_side()
    return failed()


sys.exit(main())
