#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What reschedd hands over of the present: a file with each 'recent' of the protocol, and the views that live on it. Needs a kernel that
may be traced; else it is skipped with the reason."""
import os
import re
import socket
import subprocess
import tempfile

from _reschedd import WAIT, Daemon, finish, wait_for
from common import RESCHED, WAKELOAD, result, skip

DIR = tempfile.TemporaryDirectory()


def play(keys, *args):
    script = os.path.join(DIR.name, "keys")
    with open(script, "w", encoding="ascii") as f:
        f.write(re.sub(r":shot (\w+)", rf":save-screen {DIR.name}/\1", keys))
    p = subprocess.run([RESCHED, "tui", "--keys", script, "--live", *args], capture_output=True, text=True, timeout=WAIT * 2, check=False,
                       stdin=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "120", "LINES": "40", "XDG_RUNTIME_DIR": DIR.name})
    shots = {}
    for name in os.listdir(DIR.name):
        if len(name) == 1:
            with open(os.path.join(DIR.name, name), encoding="utf-8") as f:
                shots[name] = f.read()
            os.unlink(os.path.join(DIR.name, name))
    return p, shots


def recent(client, **members):
    """The answer and the file that came with it."""
    client.send({"id": 1, "op": "recent", **members})
    data, fds = b"", []
    while not data.endswith(b"\n"):
        got, more, _, _ = socket.recv_fds(client.socket, 65536, 2)
        if not got:
            break
        data += got
        fds += more
    return data.decode(), fds


def test_protocol(daemon):
    client = daemon.client()
    answer, fds = recent(client, last_ns=500000000)
    result('"ok":true' in answer and len(fds) == 1, "recent: an answer with a file", answer, fds)
    if not fds:
        return
    copy = os.path.join(DIR.name, "recent.dat")
    with open(copy, "wb") as out, open(fds[0], "rb") as got:
        result(os.fstat(fds[0]).st_nlink == 0, "recent: the file has no name any more")
        out.write(got.read())
    info = subprocess.run([RESCHED, "info", copy], capture_output=True, text=True, timeout=WAIT, check=False)
    result(info.returncode == 0 and "sched_switch" in info.stdout, "recent: it is a recording", info.stdout, info.stderr)
    until = int(re.search(r'"to_ns":(\d+)', answer).group(1))
    answer, fds = recent(client, from_ns=until + 1)
    after = int((re.search(r'"from_ns":(\d+)', answer) or [0, 0])[1])
    result(len(fds) == 1 and after > until, "recent: the next one begins where that one ended", answer, until)
    for fd in fds:
        os.close(fd)
    answer, fds = recent(client, last_ns=3600000000000)
    result("bad_request" in answer and not fds, "recent: more than a minute is refused", answer)
    client.send(b"".join(b'{"v":1,"id":%d,"op":"recent"}\n' % i for i in (2, 3)))
    lines = [client.line(), client.line()]
    result(lines[0] and not lines[0]["ok"] and lines[0]["error"]["code"] == "busy" and lines[1]["ok"], "recent: one at a time for a connection", lines)
    client.close()
    left = wait_for(lambda: not [name for name in os.listdir(daemon.store) if name.startswith("scratch")])
    result(left, "recent: nothing is left in the store", os.listdir(daemon.store))


def test_views(daemon):
    saved = os.path.join(DIR.name, "saved.dat")
    p, s = play(f"events 6000\n:shot A\n2\n:shot B\n1 f \"worker\" Enter\n:shot C\np\n:shot D\n:save {saved}\nwait\n:shot E\n", "--socket", daemon.path)
    result(p.returncode == 0 and "live of reschedd" in s.get("A", "") and "following" in s["A"], "views: what the daemon records", p.stderr, s.get("A"))
    result("cpu 0" in s.get("B", ""), "views: timeline", s.get("B"))
    result(re.search(r"^.?worker +\d+ +fair", s.get("C", ""), re.M), "views: tasks keep their names over parts", s.get("C"))
    result("paused" in s.get("D", ""), "views: paused", s.get("D"))
    info = subprocess.run([RESCHED, "info", saved], capture_output=True, text=True, timeout=WAIT, check=False)
    result(info.returncode == 0 and "sched_switch" in info.stdout and re.search(r"\d+ events", s.get("E", "")), "views: saved, and read again", info.stderr, s.get("E"))
    result(not [f for f in os.listdir(DIR.name) if f.startswith("resched-live") or f.endswith(".new")], "views: no file is left", os.listdir(DIR.name))
    p, s = play("wait\n:shot A\n", "--socket", "/nowhere/control.sock")
    result("/nowhere/control.sock" in s.get("A", "") and p.returncode == 0, "views: a socket that is not there is told", p.stderr, s.get("A"))


def test_end(daemon):
    """The daemon goes while it is looked at."""
    script = os.path.join(DIR.name, "end")
    out = os.path.join(DIR.name, "screen")
    os.mkfifo(script)
    p = subprocess.Popen([RESCHED, "tui", "--keys", script, "--live", "--socket", daemon.path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True, env={**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "120", "LINES": "40"})
    with open(script, "w", encoding="ascii") as f:
        f.write(f"events 1000\n:save-screen {out}1\nevents 2000000000\n:save-screen {out}2\n")
    seen = wait_for(lambda: os.path.exists(out + "1"))
    daemon.stop()
    p.wait(timeout=WAIT)
    shown = ""
    if os.path.exists(out + "2"):
        with open(out + "2", encoding="utf-8") as f:
            shown = f.read()
    result(seen and p.returncode == 0 and "reschedd: no answer" in shown, "views: the end of the daemon is told", p.returncode, shown)


def main():
    daemon = Daemon("[recorder]\nmemory = 16M\n", record=True)
    if not daemon.start() or not daemon.status()["recorder"]["recording"]:
        skip("views of what reschedd records", "it cannot record here: " + (daemon.status()["recorder"].get("why", "") if daemon.alive() else daemon.text())[:300])
        daemon.remove()
        finish()
    load = subprocess.Popen([WAKELOAD, "-q", "100"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: daemon.status()["recorder"]["kept_ns"] > 600000000)
        test_protocol(daemon)
        test_views(daemon)
        test_end(daemon)
    finally:
        load.terminate()
        load.wait()
        daemon.stop()
        daemon.remove()
    finish()


if __name__ == "__main__":
    main()
