# SPDX-License-Identifier: GPL-2.0-only
"""A daemon of one's own for a test: folder, configuration, socket, and the client's side of the protocol."""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from common import RESCHED, RESCHEDD, failed

WAIT = 60	# seconds for any one thing


def wait_for(what, seconds=WAIT):
    """The first true value of what(); None when none came in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = what()
        if value:
            return value
        time.sleep(0.05)
    return None


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(WAIT)
        self.socket.connect(path)
        self.lines = self.socket.makefile("rb")

    def send(self, data):
        self.socket.sendall(data if isinstance(data, bytes) else (json.dumps({"v": 1, **data}) + "\n").encode())

    def line(self):
        """The next line; None at the end of the connection."""
        try:
            text = self.lines.readline()
        except (ConnectionError, TimeoutError):
            return None
        return json.loads(text) if text else None

    def answer(self, events=None):
        while True:
            line = self.line()
            if line is None or "ok" in line:
                return line
            if events is not None:
                events.append(line)

    def ask(self, op, events=None, **members):
        self.send({"id": 1, "op": op, **members})
        return self.answer(events)

    def close(self):
        self.lines.close()
        self.socket.close()


class Daemon:
    """Started by start(), ended by stop(). Its folder is one that others may enter, for tests with other users."""

    def __init__(self, config="", record=False, store=None):
        self.dir = tempfile.mkdtemp(prefix="resched-e2e-", dir="/tmp")
        os.chmod(self.dir, 0o755)
        self.path = self.dir + "/run/c.sock"
        self.store = store or self.dir + "/store"
        self.config = self.dir + "/reschedd.conf"
        self.log = self.dir + "/log"
        self.process = None
        self.write_config(config, record)

    def write_config(self, more, record=False):
        """Sections may be given in @more again: keys of the same section are put together."""
        sections = {"recorder": [f"enabled = {'yes' if record else 'no'}"], "snapshots": [f"directory = {self.store}", "min_free = 0"],
                    "socket": [f"path = {self.path}"]}
        current = None
        for line in more.splitlines():
            line = line.strip()
            if line.startswith("["):
                current = line[1:-1]
                sections.setdefault(current, [])
            elif line:
                key = line.split("=")[0].strip()
                sections[current] = [old for old in sections[current] if old.split("=")[0].strip() != key] + [line]
        if record and not any(name.startswith("trigger") for name in sections):     # the built-in one fires on a loaded machine
            sections["trigger none"] = ["over = 600s"]
        with open(self.config, "w", encoding="utf-8") as out:
            for name, lines in sections.items():
                out.write(f"[{name}]\n" + "".join(line + "\n" for line in lines))

    def start(self, env=None, command=()):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([*command, RESCHEDD, "-v", "-c", self.config], stdout=log, stderr=log, env={**os.environ, **(env or {})})
        return bool(wait_for(self.answers))

    def answers(self):
        if self.process.poll() is not None:
            return False
        try:
            client = Client(self.path)
        except OSError:
            return False
        answer = client.ask("hello")
        client.close()
        return answer and answer["ok"]

    def client(self):
        return Client(self.path)

    def ask(self, op, events=None, **members):
        client = self.client()
        answer = client.ask(op, events, **members)
        client.close()
        return answer

    def status(self):
        return self.ask("status")["status"]

    def alive(self):
        return self.process.poll() is None and self.answers()

    def ctl(self, *args):
        return subprocess.run([RESCHED, "ctl", "--socket", self.path, *map(str, args)], capture_output=True, text=True, timeout=WAIT, check=False)

    def text(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()

    def stop(self, how=signal.SIGTERM):
        """Its exit status; None when it would not end."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(WAIT)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                return None
        return self.process.returncode if self.process else None

    def remove(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


def finish():
    sys.exit(1 if failed() else 0)
