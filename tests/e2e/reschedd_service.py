#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""reschedd without a recorder: protocol, rights, limits, workers, store, systemd. What others send and leave does it no harm."""
import gzip
import json
import lzma
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import zlib

from _reschedd import WAIT, Daemon, finish, wait_for
from common import RESCHED, RESCHEDD, TOP, result, skip

DATA = os.path.join(TOP, "tests/data/lab-v7-k612-2c.dat")
ROOT = os.geteuid() == 0


def code(answer):
    return answer and answer.get("error", {}).get("code")


def snapshot_file(daemon, number, data):
    os.makedirs(daemon.store, exist_ok=True)
    with open(f"{daemon.store}/snapshot-{number:08}.dat", "wb") as out:
        out.write(data)


# ---- configuration

def test_config():
    def check(*args):
        return subprocess.run([RESCHEDD, "--check-config", *args], capture_output=True, text=True, timeout=WAIT, check=False)

    done = check("-c", os.path.join(TOP, "packaging/reschedd.conf"))
    result(done.returncode == 0 and "no mistake" in done.stdout, "config: the example has no mistake", done)
    with tempfile.NamedTemporaryFile("w") as bad:
        bad.write("[recorder]\nmemory = lots\n[trigger x]\nover = 1ms\nunder = 2ms\n")
        bad.flush()
        done = check("-c", bad.name)
        result(done.returncode == 2 and len(done.stderr.splitlines()) == 2 and f"{bad.name}:2: memory" in done.stderr and ":5: " in done.stderr,
               "config: every mistake is told with its line", done)
    with open(os.path.join(TOP, "man/reschedd.conf.5"), encoding="utf-8") as page:
        manual = page.read()
    keys = subprocess.run([RESCHEDD, "--list-keys"], capture_output=True, text=True, check=True).stdout.splitlines()
    missing = [line for line in keys if f".It Cm {line.split(chr(9))[1]}\n" not in manual.split(f".Ss [{line.split(chr(9))[0]}]")[-1].split(".Ss ")[0]]
    result(len(keys) > 40 and not missing, "config: every key is in the manual, in its section", missing)


# ---- protocol

def test_protocol(daemon):
    client = daemon.client()
    hello = client.ask("hello")
    result(hello["ok"] and hello["protocol"] == 1 and hello["right"] == "control", "protocol: hello", hello)
    cases = ((b'{"v":2,"op":"status"}\n', "version"), (b'{"op":"status"}\n', "version"), (b'{"v":1,"op":"nothing"}\n', "bad_request"),
             (b'{"v":1,"op":7}\n', "bad_request"), (b"[]\n", "malformed"), (b"hello\n", "malformed"), (b'{"v":1,"op":"status"\n', "malformed"),
             (b'{"v":1,"op":"status"} {}\n', "malformed"), (b"\0\n", "malformed"), (b'{"v":1,"op":"sta\xfftus"}\n', "malformed"),
             (b"[" * 1000 + b"\n", "malformed"), (b'{"v":1,"id":[1],"op":"status"}\n', "bad_request"), (b'{"v":1,"op":"show"}\n', "bad_request"),
             (b'{"v":1,"op":"show","snapshot":-1}\n', "bad_request"), (b'{"v":1,"op":"show","snapshot":99999}\n', "not_found"),
             (b'{"v":1,"op":"whatif","snapshot":99999,"whatif":{}}\n', "not_found"), (b'{"v":1,"op":"cancel","job":5}\n', "not_found"),
             (b'{"v":1,"op":"series","name":"../../etc/passwd"}\n', "not_found"), (b'{"v":1,"op":"snapshot"}\n', "failed"))
    for data, want in cases:
        client.send(data)
        answer = client.answer()
        result(code(answer) == want, f"protocol: {data[:40]!r} is {want}", answer)
    client.send(b'\n\n{"v":1,"id":"a","op":"jobs"}\n{"v":1,"id":2,"op":"jobs"}\n{"v":1,')
    first, second = client.answer(), client.answer()
    client.send(b'"id":3,"op":"jobs"}\n')
    result([first["id"], second["id"], client.answer()["id"]] == ["a", 2, 3], "protocol: several requests at once, and one in two parts")
    client.close()
    client = daemon.client()
    try:
        client.send(b'{"v":1,"op":"' + b"x" * 200000)
    except OSError:
        pass	# it may be closed before all is sent
    result(code(client.answer()) in ("too_long", None) and client.line() is None, "protocol: a request that is too long ends the connection")
    client.close()


def test_fuzz(daemon):
    """Requests with bytes and members changed at random: each gets answers or an end, and the daemon lives."""
    rng = random.Random(9)
    seeds = [b'{"v":1,"id":1,"op":"whatif","snapshot":1,"whatif":{"policies":["evdf"],"set":["hz=1000"],"seed":4}}', b'{"v":1,"op":"snapshots","last":3}',
             b'{"v":1,"op":"watch","top":5}', b'{"v":1,"op":"metrics"}', b'{"v":1,"op":"series","name":"x","last":4}', b'{"v":1,"op":"unwatch"}']
    junk = [b"null", b"-1", b"1e999", b"9" * 40, b'"\\u0000"', b"{}", b"[]", b"true", b'"' + b"A" * 600 + b'"', b"\xff\xfe", b"{" * 40]
    for _ in range(40):
        client = daemon.client()
        client.socket.settimeout(2)
        try:
            for _ in range(25):
                text = bytearray(rng.choice(seeds))
                for _ in range(rng.randrange(4)):
                    at = rng.randrange(len(text))
                    kind = rng.randrange(4)
                    if kind == 0:
                        text[at] = rng.randrange(256)
                    elif kind == 1:
                        del text[at:at + rng.randrange(12)]
                        text = text or bytearray(b" ")
                    elif kind == 2:
                        text[at:at] = rng.choice(junk)
                    else:
                        text = re.sub(rb":[^,}]+", lambda m: b":" + rng.choice(junk), bytes(text), count=rng.randrange(1, 4))
                        text = bytearray(text)
                client.socket.sendall(bytes(text) + b"\n")
            if rng.random() < 0.5:
                client.socket.recv(65536)
        except OSError:
            pass
        client.close()
    result(daemon.alive(), "fuzz: 1000 requests changed at random", daemon.text()[-500:])


# ---- clients that are no good

def test_clients(daemon):
    slow = daemon.client()
    slow.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    try:
        slow.socket.settimeout(5)
        for _ in range(20000):
            slow.send({"op": "metrics"})
    except OSError:
        pass
    result(daemon.alive(), "clients: one that asks and never reads holds up nobody")
    slow.close()
    many = []
    for _ in range(40):
        try:
            many.append(daemon.client())
        except OSError:
            break
    refusals = []
    for client in many:
        client.socket.settimeout(0.05)
        try:
            text = client.socket.recv(4096)
        except TimeoutError:
            continue
        refusals.append(text)
    result(refusals and all(b'"busy"' in text for text in refusals), "clients: more than max_clients are told so", refusals)
    for client in many:
        client.close()
    result(bool(wait_for(daemon.alive)), "clients: room again when they are gone")
    for _ in range(50):	# gone before the answer, or in the middle of a request
        client = daemon.client()
        client.send(b'{"v":1,"op":"status"}\n{"v":1,"op":"sta')
        client.close()
    result(daemon.alive() and wait_for(lambda: daemon.status()["clients"]["connected"] == 1), "clients: those that vanish are forgotten")


def test_rights(daemon):
    if not ROOT or not shutil.which("setpriv"):
        skip("rights: other users", "needs root to become somebody else")
        return

    def ask_as(args, *requests):
        """What a client of another identity gets, whole."""
        program = ("import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.settimeout(20)\ns.connect(sys.argv[1])\n"
                   "for r in sys.argv[2:]:\n try:\n  s.sendall(r.encode() + b'\\n')\n except OSError:\n  pass\n"
                   "s.shutdown(socket.SHUT_WR) if len(sys.argv) < 3 else None\nn = 0\n"
                   "while True:\n try:\n  d = s.recv(65536)\n except OSError:\n  break\n"
                   " if not d:\n  break\n sys.stdout.write(d.decode())\n n += d.count(b'\\n')\n if n >= len(sys.argv) - 2:\n  break\n")
        done = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", *args, "/usr/bin/python3", "-c", program, daemon.path, *requests],
                              capture_output=True, text=True, timeout=WAIT, check=False)
        return [json.loads(line) for line in done.stdout.splitlines()]

    status, snapshot = '{"v":1,"id":5,"op":"status"}', '{"v":1,"id":6,"op":"snapshot"}'
    lines = ask_as(["--clear-groups"], status, snapshot)
    result(len(lines) == 1 and code(lines[0]) == "denied" and "status" not in lines[0], "rights: nobody gets a refusal and nothing else", lines)
    lines = ask_as(["--groups", "1"], status, snapshot, '{"v":1,"id":7,"op":"whatif","last_ns":1000000,"whatif":{}}', '{"v":1,"id":8,"op":"delete","snapshot":1}')
    result(len(lines) == 4 and lines[0]["ok"] and [code(line) for line in lines[1:]] == ["denied"] * 3, "rights: the reading group reads only", lines)
    lines = ask_as(["--groups", "2"], snapshot)
    result(len(lines) == 1 and code(lines[0]) == "failed", "rights: the controlling group controls", lines)
    result(daemon.status()["clients"]["denied"] >= 1, "rights: refusals are counted")


# ---- workers

def test_whatif(daemon):
    events = []
    answer = daemon.ask("whatif", events, snapshot=1, whatif={"policies": ["evdf"]})
    result(answer and answer["ok"] and answer["report"]["schema"] == "resched/compare/1" and answer["report"]["labels"] == ["recorded", "evdf"],
           "what-if: a report", answer)
    result(events and events[0]["event"] == "accepted", "what-if: accepted first", events)
    direct = subprocess.run([RESCHED, "compare", "--json", "--policy", "evdf", DATA], capture_output=True, text=True, timeout=WAIT, check=True)
    result(answer["report"]["rows"] == json.loads(direct.stdout)["rows"], "what-if: the same figures as resched compare")
    done = daemon.ctl("whatif", 1, "--policy", "evdf")
    result(done.returncode == 0 and "Wakeup latency" in done.stdout and "evdf" in done.stdout, "what-if: resched ctl prints it", done)
    done = daemon.ctl("whatif", 1, "--report", "outliers", "--top", 1, "--policy", "evdf", "--json")
    result(done.returncode == 0 and len(json.loads(done.stdout)["outliers"]) == 1, "what-if: outliers", done)
    done = daemon.ctl("whatif", 1, "--policy", "evdf", "--set", "nonsense=1")
    result(done.returncode == 1 and "nonsense" in done.stderr, "what-if: what the model does not know is told", done)
    done = daemon.ctl("whatif", 1, "--policy", "best")
    result(done.returncode == 2 and "best" in done.stderr, "what-if: an unknown policy is bad usage", done)
    done = daemon.ctl("whatif", 1, "--topology", "/etc/passwd")
    result(done.returncode == 1 and "root:" not in done.stderr, "what-if: a worker opens no file", done)


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes([n]))


def packed_packets(trace):
    """A Perfetto trace as one packet that holds all the others compressed: TracePacket.compressed_packets is field 50."""
    packed = zlib.compress(trace)
    packet = varint(50 << 3 | 2) + varint(len(packed)) + packed
    return varint(1 << 3 | 2) + varint(len(packet)) + packet


def test_packed(daemon):
    """A worker may make no file, and unpacks all the same."""
    with open(os.path.join(TOP, "tests/data/mixed-2c.pftrace"), "rb") as source:
        pftrace = source.read()
    with open(DATA, "rb") as source:
        dat = source.read()
    cases = (("trace.dat in xz", lzma.compress(dat), DATA), ("trace.dat in gzip", gzip.compress(dat), DATA),
             ("perfetto", pftrace, os.path.join(TOP, "tests/data/mixed-2c.pftrace")),
             ("perfetto in gzip", gzip.compress(pftrace), os.path.join(TOP, "tests/data/mixed-2c.pftrace")),
             ("perfetto with packed packets, in xz", lzma.compress(packed_packets(pftrace)), os.path.join(TOP, "tests/data/mixed-2c.pftrace")))
    daemon.stop()
    for number, (_, data, _) in enumerate(cases, 20):
        snapshot_file(daemon, number, data)
    daemon.start()
    for number, (name, _, plain) in enumerate(cases, 20):
        answer = daemon.ask("whatif", snapshot=number, whatif={"policies": ["evdf"]})
        direct = subprocess.run([RESCHED, "compare", "--json", "--policy", "evdf", plain], capture_output=True, text=True, timeout=WAIT, check=False)
        result(answer and answer["ok"] and answer["report"]["rows"] == json.loads(direct.stdout)["rows"], f"packed: {name} is read", str(answer)[:500])


def test_hostile(daemon):
    """Damaged recordings cost the what-if at most."""
    for number in range(2, 12):
        answer = daemon.ask("whatif", snapshot=number, whatif={"policies": ["eevdf"]})
        good = answer and (answer["ok"] or code(answer) in ("failed", "crashed", "too_long", "too_large"))
        result(good, f"hostile: snapshot {number} is {'read' if answer and answer['ok'] else code(answer)}", answer)
    result(daemon.alive(), "hostile: the daemon lives")


def running_pid(daemon):
    jobs = daemon.ask("jobs")["jobs"]
    return next((job["pid"] for job in jobs if job["pid"]), 0)


def test_crash(daemon):
    """A worker that is made to crash: stopped as soon as it is there, then killed as a fault would."""
    work = {"policies": ["eevdf", "evdf", "cfs", "eevdf", "evdf", "cfs", "eevdf", "evdf"]}
    client = daemon.client()
    client.send({"id": 1, "op": "whatif", "snapshot": 12, "whatif": work})
    pid = wait_for(lambda: running_pid(daemon))
    if pid:
        os.kill(pid, signal.SIGSEGV)
    answer = client.answer()
    result(code(answer) == "crashed" and "signal 11" in answer["error"]["text"], "crash: who asked is told", answer)
    result(daemon.ask("whatif", snapshot=1, whatif={"policies": ["evdf"]})["ok"] and daemon.status()["whatif"]["crashed"] == 1,
           "crash: the next what-if runs")
    client.send({"id": 2, "op": "whatif", "snapshot": 12, "whatif": work})

    def confined():
        """Its status once it has closed the door behind itself; False when it was over before."""
        try:
            with open(f"/proc/{running_pid(daemon)}/status", encoding="ascii") as status:
                text = status.read()
        except OSError:
            return False
        return text if "\nSeccomp:\t2" in text else False
    text = wait_for(confined)
    want = "\nUid:\t65534" if ROOT else "\nUid:"
    result(text and "\nNoNewPrivs:\t1" in text and "\nCapEff:\t0000000000000000" in text and want in text, "worker: no privileges, seccomp on", text)
    os.kill(running_pid(daemon), signal.SIGSEGV)
    answer = client.answer()
    places = re.findall(r" \+0x[0-9a-f]+", answer["error"]["text"]) if code(answer) == "crashed" else []
    if os.environ.get("SAN"):
        skip("crash: where", "the sanitizers tell of faults themselves")
    else:
        result(places and daemon.text().count(answer["error"]["text"]) == 1, "crash: a fault tells where, to who asked and in the log", answer)
    client.send({"id": 3, "op": "whatif", "snapshot": 12, "whatif": work})
    wait_for(lambda: running_pid(daemon))
    client.close()	# nobody waits for it any longer
    result(wait_for(lambda: daemon.status()["whatif"]["running"] == 0) and daemon.alive(), "worker: ends when who asked is gone")


def test_retired(daemon):
    """What is removed while a what-if waits for its turn is read all the same; what was removed before is no crash."""
    work = {"policies": ["eevdf", "evdf", "cfs", "eevdf", "evdf", "cfs", "eevdf", "evdf"]}
    first, second, third = daemon.client(), daemon.client(), daemon.client()
    first.send({"id": 1, "op": "whatif", "snapshot": 12, "whatif": work})
    pid = wait_for(lambda: running_pid(daemon))
    os.kill(pid, signal.SIGSTOP)	# the only worker: the others wait
    second.send({"id": 2, "op": "whatif", "snapshot": 13, "whatif": {"policies": ["evdf"]}})
    third.send({"id": 3, "op": "whatif", "snapshot": 13, "whatif": {"policies": ["evdf"]}})
    accepted = [second.line(), third.line()]
    gone = daemon.ask("delete", snapshot=13)
    result([line["event"] for line in accepted] == ["accepted"] * 2 and gone["ok"] and not os.path.exists(daemon.store + "/snapshot-00000013.dat"),
           "retired: a snapshot is removed while what-ifs wait for it", accepted, gone)
    cancelled = daemon.status()["whatif"]["cancelled"]
    third.close()
    os.kill(pid, signal.SIGCONT)
    first.close()
    answer = second.answer()
    result(answer and answer["ok"] and answer["report"]["labels"] == ["recorded", "evdf"], "retired: it is read all the same", str(answer)[:500])
    result(wait_for(lambda: daemon.status()["whatif"]["cancelled"] == cancelled + 2), "retired: nobody's what-ifs are cancelled", daemon.status()["whatif"])
    second.close()
    os.unlink(daemon.store + "/snapshot-00000014.dat")	# by somebody else
    answer = daemon.ask("whatif", snapshot=14, whatif={"policies": ["evdf"]})
    result(code(answer) == "failed" and "cannot be opened" in answer["error"]["text"] and daemon.alive(), "retired: a recording that is gone is told", answer)
    result("what-if" not in answer["error"]["text"] and daemon.status()["whatif"]["waiting"] == 0, "retired: nothing is left waiting")


def test_limits(daemon, big):
    daemon.stop()
    snapshot_file(daemon, 1, big)
    policies = ["eevdf", "evdf", "cfs", "eevdf", "evdf", "cfs", "eevdf", "evdf"]
    cases = (*((f"memory = {megabytes}M", ("failed",), {"policies": policies}) for megabytes in (16, 20, 25, 32)), ("cpu_time = 1s", ("too_long",), {"policies": policies}),
             ("wall_time = 1s", ("too_long",), {"policies": policies}), ("report_size = 64K", ("too_large",), {"report": "outliers", "top": 1000}))
    for line, want, whatif in cases:
        if line.startswith("memory") and os.environ.get("SAN"):
            skip("limits: memory", "the sanitizers reserve more than any limit")
            continue
        daemon.write_config("[whatif]\n" + line)
        daemon.start()
        answer = daemon.ask("whatif", snapshot=1, whatif=whatif)
        result(code(answer) in want and daemon.alive(), f"limits: {line}: {code(answer)}", str(answer)[:300])
        daemon.stop()


# ---- the store, ends, systemd

def test_store():
    daemon = Daemon(store="/dev/null/store")
    result(daemon.start() and not daemon.status()["store"]["usable"], "store: one that cannot be is told, and all else works", daemon.text())
    result("cannot make the store" in daemon.text(), "store: the log says so", daemon.text())
    second = subprocess.run([RESCHEDD, "-c", daemon.config], capture_output=True, text=True, timeout=WAIT, check=False)
    result(second.returncode == 1 and "another reschedd" in second.stderr and daemon.alive(), "a second daemon on the same socket is refused", second)
    daemon.stop(signal.SIGKILL)
    result(os.path.exists(daemon.path) and daemon.start(), "a socket left by a daemon that was killed is replaced", daemon.text())
    result(daemon.stop() == 0 and not os.path.exists(daemon.path), "SIGTERM: status 0, and no socket left")
    daemon.remove()


def test_reload(daemon):
    daemon.write_config("[metrics]\ntextfile = " + daemon.dir + "/m.prom\ninterval = 1s\n[trigger new]\nover = 77ms")
    daemon.process.send_signal(signal.SIGHUP)
    names = wait_for(lambda: [t["trigger"] for t in daemon.status()["triggers"]] == ["new"])
    result(names, "reload: another trigger after SIGHUP", daemon.text())
    result(wait_for(lambda: os.path.exists(daemon.dir + "/m.prom")), "reload: the metrics are written")
    daemon.write_config("[trigger new]\nover = never")
    done = daemon.ctl("reload")
    result(done.returncode == 0 and wait_for(lambda: "stays as it was" in daemon.text()) and daemon.status()["triggers"][0]["trigger"] == "new",
           "reload: a file with mistakes changes nothing", daemon.text())
    answer = daemon.ask("metrics")
    text = answer["text"]
    bad = [line for line in text.splitlines() if not re.fullmatch(r'# (HELP|TYPE) resched_\w+ .+|resched_\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? [0-9.e+-]+', line)]
    types = dict(re.findall(r"# TYPE (\w+) (\w+)", text))
    wrong = [name for name, kind in types.items() if (kind == "counter") != name.endswith("_total")]
    result(not bad and not wrong and "resched_wakeup_latency_seconds_bucket" in text, "metrics: well formed, counters end in _total", bad, wrong)


def test_systemd():
    with tempfile.TemporaryDirectory(prefix="resched-e2e-") as folder:
        unit = os.path.join(folder, "reschedd.service")
        os.makedirs(folder + "/sbin")
        shutil.copy(RESCHEDD, folder + "/sbin/reschedd")
        with open(os.path.join(TOP, "packaging/reschedd.service.in"), encoding="utf-8") as source, open(unit, "w", encoding="utf-8") as out:
            out.write(source.read().replace("@PREFIX@", folder))
        shutil.copy(os.path.join(TOP, "packaging/reschedd.socket"), folder)
        if not shutil.which("systemd-analyze"):
            skip("systemd: verify", "systemd-analyze is not installed")
        else:
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit, folder + "/reschedd.socket"], capture_output=True, text=True, timeout=WAIT, check=False)
            result(done.returncode == 0 and not done.stderr, "systemd: the units pass systemd-analyze verify", done)
            done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager", unit], capture_output=True, text=True, timeout=WAIT, check=False)
            found = re.search(r"exposure level for reschedd.service: ([\d.]+)", done.stdout)
            result(found and float(found.group(1)) <= 4, f"systemd: exposure level {found and found.group(1)}, at most 4", done.stdout[-300:], done.stderr)
    daemon = Daemon()
    notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notify.bind(daemon.dir + "/notify")
    notify.settimeout(WAIT)
    daemon.start({"NOTIFY_SOCKET": daemon.dir + "/notify", "WATCHDOG_USEC": "600000", "JOURNAL_STREAM": "8:1"})
    lines = "\n".join(notify.recv(4096).decode() for _ in range(3))
    result("READY=1" in lines and "WATCHDOG=1" in lines, "systemd: tells that it is ready, and that it lives", lines)
    daemon.process.send_signal(signal.SIGHUP)
    reloading = wait_for(lambda: "RELOADING=1" in notify.recv(4096).decode())
    told = wait_for(lambda: re.search(r"^<6>configuration read again", daemon.text(), re.M))
    result(reloading and told, "systemd: reloading, priorities for the journal", daemon.text())
    daemon.stop()
    if shutil.which("systemd-socket-activate"):
        daemon.write_config("[socket]\npath = /nonexistent/never/made.sock")
        os.makedirs(daemon.dir + "/run", exist_ok=True)
        daemon.path = daemon.dir + "/run/activated.sock"
        good = daemon.start(command=("systemd-socket-activate", "-l", daemon.path))
        result(good, "systemd: a socket that was passed is served", daemon.text())
    else:
        skip("systemd: a socket that was passed", "systemd-socket-activate is not installed")
    daemon.remove()


def hostile_files(data):
    rng = random.Random(4)
    yield b""
    yield b"\0" * 100000
    yield data[:len(data) // 2]
    yield data[:3000]
    yield bytes(rng.randrange(256) for _ in range(20000))
    for seed in range(5):
        changed = bytearray(data)
        rng = random.Random(seed)
        for _ in range(40):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        yield bytes(changed)


def main():
    test_config()
    with open(DATA, "rb") as source:
        data = source.read()
    daemon = Daemon("[socket]\nmax_clients = 32\nrate = 10000\nread_group = daemon\ncontrol_group = bin")
    snapshot_file(daemon, 1, data)
    for number, text in enumerate(hostile_files(data), 2):
        snapshot_file(daemon, number, text)
    made = daemon.dir + "/big"	# seconds of work for a worker
    subprocess.run([RESCHED, "synth", "schbench", "-o", made, "runtime=300", "threads=8", "--topology", "sockets=1,cores=2"], capture_output=True, timeout=WAIT, check=True)
    subprocess.run([RESCHED, "replay", made, "--placement", "recorded", "-o", made + ".dat"], capture_output=True, timeout=WAIT, check=True)
    with open(made + ".dat", "rb") as source:
        big = source.read()
    snapshot_file(daemon, 12, big)
    snapshot_file(daemon, 13, data)
    snapshot_file(daemon, 14, data)
    result(daemon.start(), "it starts without a recorder", daemon.text())
    test_protocol(daemon)
    test_rights(daemon)
    test_whatif(daemon)
    test_packed(daemon)
    test_hostile(daemon)
    test_crash(daemon)
    test_retired(daemon)
    test_fuzz(daemon)
    test_clients(daemon)
    test_reload(daemon)
    test_limits(daemon, big)
    daemon.remove()
    test_store()
    test_systemd()
    finish()


if __name__ == "__main__":
    main()
