#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""irisd as a service of systemd: against a real one where one can run, and the unit's parts apart. TAP.

    test-irisd-service.py PATH-OF-irisd PATH-OF-irisctl FOLDER-OF-UNITS SOURCE-DIRECTORY
"""
import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import traceback

from service_manager import GIVE_UP_S, CannotRun, StoppedThread, Systemd

IRISD, IRISCTL, UNITS, SOURCE = (pathlib.Path(argument).absolute() for argument in sys.argv[1:5])
ONE_WORKER = ("--topology=package:1 core:1 pu:1", "--no-bind")
# Greatest exposure that systemd-analyze security may find, in tenths.
MOST_EXPOSURE = 20
FRONT = "irisd-front"


class Skipped(Exception):
    """Why something cannot be tested here."""


def expect(found, wanted):
    if found != wanted:
        raise AssertionError("expected %r, found %r" % (wanted, found))


def expect_in(wanted, text):
    if wanted not in text:
        raise AssertionError("expected %r in %r" % (wanted, text))


def run(*words, status=0, **more):
    done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=GIVE_UP_S, check=False, **more)
    text = done.stdout.decode(errors="replace")
    if done.returncode != status:
        raise AssertionError("%s ended with %d: %s" % (" ".join(map(str, words)), done.returncode, text))
    return text


def unit(name, irisd):
    """The text of a unit, with the program at another place."""
    lines = (UNITS / name).read_text(encoding="utf-8").splitlines()
    for i, line in enumerate(lines):
        for key in ("ExecStart=", "ConditionFileIsExecutable="):
            if line.startswith(key):
                program, _, rest = line[len(key):].partition(" ")
                lines[i] = "%s%s %s" % (key, irisd if program.endswith("/irisd") else "/bin/true", rest)
    return "\n".join(lines) + "\n"


class Irisd:
    """An irisd whose service manager is the test."""

    def __init__(self, folder, *options, listen=None, watchdog_us=None, wait=True):
        self.folder = pathlib.Path(folder)
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        path = self.folder / "notify"
        path.unlink(missing_ok=True)
        self.notify.bind(str(path))
        self.notify.settimeout(GIVE_UP_S)
        environment = dict(os.environ, IRIS_RUNTIME_DIR=str(self.folder / "run"), XDG_CONFIG_HOME=str(self.folder),
                           NOTIFY_SOCKET=str(path))
        environment.pop("JOURNAL_STREAM", None)
        if watchdog_us is not None:
            environment["WATCHDOG_USEC"] = str(watchdog_us)
        self.environment = environment
        script, sockets = 'exec "$@"', listen or []
        if sockets:
            environment["LISTEN_FDS"] = str(len(sockets))
            copies = " ".join("%d<&%d" % (3 + i, fd.fileno()) for i, fd in enumerate(sockets))
            script = 'export LISTEN_PID=$$; exec "$@" %s' % copies
        self.log = open(self.folder / "log", "w+b")
        self.process = subprocess.Popen(["sh", "-c", script, "sh", IRISD, *ONE_WORKER, *options], env=environment,
                                        stdin=subprocess.DEVNULL, stderr=self.log, pass_fds=[fd.fileno() for fd in sockets])
        if wait:
            expect_in("READY=1", self.receive())

    def receive(self):
        return self.notify.recv(4096).decode().splitlines()

    def receive_until(self, line):
        while line not in self.receive():
            pass

    def read_log(self):
        return (self.folder / "log").read_text(encoding="utf-8")

    def await_log(self, text):
        while text not in self.read_log():
            if self.process.poll() is not None:
                raise AssertionError("irisd ended: " + self.read_log())

    def irisctl(self, *words, status=0):
        return run(IRISCTL, *words, status=status, env=self.environment)

    def end(self, status=0):
        """`status` is another one if it ends by itself."""
        if status == 0:
            self.process.terminate()
        try:
            expect(self.process.wait(GIVE_UP_S), status)
        finally:
            self.process.kill()
            self.notify.close()
            self.log.close()


@contextlib.contextmanager
def irisd(*options, **more):
    with tempfile.TemporaryDirectory(prefix="iris-") as folder:
        service = Irisd(folder, *options, **more)
        try:
            yield service
        except BaseException as error:
            service.process.kill()
            service.process.wait()
            if isinstance(error, Skipped):
                raise
            print("# " + service.read_log().replace("\n", "\n# "), file=sys.stderr)
            raise
        service.end()


# The unit's parts.

def the_units_are_good(folder):
    if shutil.which("systemd-analyze") is None:
        raise Skipped("no systemd-analyze")
    for name, others in {"irisd.service": ["irisd.socket"], "irisd-web.service": [], "irisd.user.service": ["irisd.user.socket"]}.items():
        target = pathlib.Path(folder) / name.partition(".")[0]
        target.mkdir(exist_ok=True)
        paths = []
        for one in [name, *others]:
            paths.append(target / one.replace(".user.", "."))
            paths[-1].write_text(unit(one, IRISD), encoding="utf-8")
        kind = ["--user"] if ".user." in name else []
        expect(run("systemd-analyze", *kind, "--man=no", "--recursive-errors=no", "verify", *paths,
                   env=dict(os.environ, XDG_RUNTIME_DIR=folder)), "")
    return run("systemd-analyze", "--version").splitlines()[0]


def the_units_are_sandboxed(folder):
    if shutil.which("systemd-analyze") is None:
        raise Skipped("no systemd-analyze")
    levels = []
    for name in ("irisd.service", "irisd-web.service"):
        path = pathlib.Path(folder) / name
        path.write_text(unit(name, IRISD), encoding="utf-8")
        text = run("systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=%d" % MOST_EXPOSURE, path)
        levels.append(text.split("exposure level for ")[1].split(" ")[1])
    return "exposure " + " and ".join(levels)


def the_drop_in_is_good(folder):
    if shutil.which("systemd-analyze") is None:
        raise Skipped("no systemd-analyze")
    path = pathlib.Path(folder) / "irisd.service"
    path.write_text(unit("irisd.service", IRISD) + (SOURCE / "daemon/systemd/commands.conf").read_text(encoding="utf-8"), encoding="utf-8")
    expect(run("systemd-analyze", "--man=no", "--recursive-errors=no", "verify", path), "")


def the_service_manager_hears_of_each_phase(_):
    with irisd() as service:
        service.process.send_signal(1)
        expect(service.receive()[0], "RELOADING=1")
        expect(service.receive()[0], "READY=1")
        service.process.terminate()
        expect(service.receive()[0], "STOPPING=1")


@contextlib.contextmanager
def stopped(pid):
    """Its front gateway makes no progress."""
    thread = StoppedThread(pid, FRONT)
    try:
        thread.stop()
    except OSError as error:
        raise Skipped("no thread can be stopped here: %s" % error) from error
    try:
        yield thread
    finally:
        thread.go_on()


def a_stopped_gateway_is_not_fed(_):
    with irisd(watchdog_us=800000) as service:
        for _ in range(3):
            service.receive_until("WATCHDOG=1")
        with stopped(service.process.pid):
            service.await_log("the gateway of the front door makes no progress")
            service.notify.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    service.receive()
            # Other threads go on; that is not enough.
            service.process.send_signal(1)
            service.notify.settimeout(GIVE_UP_S)
            expect([service.receive()[0], service.receive()[0]], ["RELOADING=1", "READY=1"])
        service.receive_until("WATCHDOG=1")
        service.irisctl("send", "echo", "hello")


def listen(path):
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(str(path))
    server.listen(64)
    return server


def the_front_door_can_be_passed(folder):
    front = pathlib.Path(folder) / "door" / "front.ipc"
    front.parent.mkdir()
    with listen(front) as server:
        # It waits for an irisd that is not there yet.
        client = subprocess.Popen([IRISCTL, "--dir", front.parent, "send", "echo", "hello"], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE)
        for _ in range(2):
            with irisd(listen=[server]) as service:
                if client is not None:
                    expect(client.communicate(timeout=GIVE_UP_S)[0], b"hello")
                    client = None
                expect(run(IRISCTL, "--dir", front.parent, "send", "echo", "a"), "a")
                expect(service.irisctl("send", "echo", "b"), "b")
                # Its places are irisd's own.
                expect_in("place-0.ipc", " ".join(os.listdir(pathlib.Path(service.folder) / "run")))
            expect(front.exists(), True)


def the_passed_socket_can_be_its_own(_):
    with tempfile.TemporaryDirectory(prefix="iris-") as folder:
        home = pathlib.Path(folder) / "run"
        home.mkdir(mode=0o700)
        with listen(home / "front.ipc") as server:
            for _ in range(2):
                service = Irisd(folder, listen=[server])
                try:
                    expect(service.irisctl("send", "echo", "a"), "a")
                finally:
                    service.end()
                expect(sorted(os.listdir(home)), ["front.ipc"])


def a_wrong_socket_is_refused(_):
    with tempfile.TemporaryDirectory(prefix="iris-") as folder, socket.socket() as tcp, \
            listen(os.path.join(folder, "a")) as one, listen(os.path.join(folder, "b")) as other, \
            socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as silent:
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()
        for sockets, why in ([tcp], "ListenStream= with an absolute path"), ([silent], "ListenStream= with an absolute path"), \
                ([one, other], "passed 2 sockets"):
            service = Irisd(folder, listen=sockets, wait=False)
            service.end(status=2)
            expect_in(why, service.read_log())


# A real systemd.

def settings(front_watchdog):
    return {
        "systemd/system/irisd.service.d/test.conf":
            "[Service]\nExecStart=\nExecStart=/run/iris-test/irisd --config /run/iris-test/irisd.conf --dir /run/iris --journal %%S/private/iris "
            "%s\nStandardError=append:/run/iris-test.log\nWatchdogSec=%d\n" % (" ".join('"%s"' % word for word in ONE_WORKER),
                                                                             front_watchdog),
        "iris-test/irisd.conf": "[access]\nusers = root\noperators = root\ncommands = root\n",
    }


@contextlib.contextmanager
def systemd(folder, watchdog_s=30):
    files = {"systemd/system/%s" % name: unit(name, "/run/iris-test/irisd") for name in ("irisd.service", "irisd.socket")}
    files.update(settings(watchdog_s))
    files["iris-test/irisd"] = IRISD
    try:
        manager = Systemd(folder, files)
    except CannotRun as error:
        raise Skipped("no systemd can run here: %s" % error) from error
    try:
        yield manager
        manager.run("systemctl", "stop", "irisd.socket", "irisd.service")
    except Skipped:
        raise
    except BaseException:
        with contextlib.suppress(Exception):
            for words in (["systemctl", "status", "irisd.service", "irisd.socket"], ["cat", "/run/iris-test.log"]):
                print("# " + manager.run("sh", "-c", '"$@" 2>&1 || :', "sh", *words).replace("\n", "\n# "), file=sys.stderr)
        raise
    finally:
        manager.stop()


def version(manager):
    return "systemd %s as process 1 of its own namespaces" % manager.run("systemctl", "--version").split()[1]


def a_client_starts_it_and_its_items_stay(folder):
    with systemd(folder) as manager:
        manager.run("systemctl", "start", "irisd.socket")
        expect(manager.show("irisd.service", "ActiveState"), "inactive")
        door = ["--dir", "/run/irisd"]
        expect(manager.run(IRISCTL, *door, "send", "echo", "hello"), "hello")
        expect(manager.show("irisd.service", "ActiveState"), "active")
        expect_in("Serving; places: 1", manager.show("irisd.service", "StatusText"))
        number = manager.run(IRISCTL, *door, "submit", "--detach", "echo", "kept").split()[0]
        manager.run(IRISCTL, *door, "wait", number)
        before = manager.run("stat", "-Lc", "%u %a", "/var/lib/iris")
        expect(before.split()[1], "700")

        manager.run("systemctl", "restart", "irisd.service")
        expect(manager.run("stat", "-Lc", "%u %a", "/var/lib/iris"), before)
        expect(manager.run(IRISCTL, *door, "result", number), "kept")
        expect(manager.run(IRISCTL, "--dir", "/run/iris", "send", "echo", "again"), "again")
        # A command is in the sandbox, in a control group of its own.
        expect(manager.run(IRISCTL, *door, "run", "--", "sh", "-c", "ls /home; cat /proc/self/cgroup; touch /etc/x", status=1)
               .count("Read-only file system"), 1)
        manager.run("systemctl", "reload", "irisd.service")
        expect(manager.show("irisd.service", "ActiveState"), "active")
        return version(manager)


def a_stuck_gateway_is_restarted(folder):
    with systemd(folder, watchdog_s=8) as manager:
        manager.run("systemctl", "start", "irisd.service")
        before = int(manager.show("irisd.service", "MainPID"))
        with stopped(manager.find(before)) as thread:
            thread.await_end()
        while manager.show("irisd.service", "NRestarts") == "0":
            pass
        manager.run("systemctl", "start", "irisd.service")
        expect(int(manager.show("irisd.service", "MainPID")) != before, True)
        expect(manager.run(IRISCTL, "--dir", "/run/iris", "send", "echo", "back"), "back")
        return version(manager)


# Four clients with a window of durable items each, until irisd was restarted twice. Each result is checked.
PROGRAM = """
import asyncio, subprocess, sys
from irisd_client import Client

async def pipeline(number, restarted, ended):
    async with Client("ipc:///run/irisd/front.ipc") as client:
        async def lane(which):
            count = 0
            while not restarted.is_set():
                text = b"%d.%d.%d" % (number, which, count)
                assert (await client.submit("echo", text, klass=2)).body == text
                count += 1
                ended.append(text)
        await asyncio.gather(*map(lane, range(16)))

async def main():
    restarted, ended = asyncio.Event(), []
    clients = [asyncio.ensure_future(pipeline(number, restarted, ended)) for number in range(4)]
    for _ in range(2):
        before = len(ended)
        while len(ended) < before + 200 and not any(client.done() for client in clients):
            await asyncio.sleep(0)
        await (await asyncio.create_subprocess_exec("systemctl", "restart", "irisd.service")).wait()
    restarted.set()
    await asyncio.gather(*clients)
    assert len(set(ended)) == len(ended)
    print("well")

asyncio.run(main())
"""


def clients_see_a_pause_and_no_error(folder):
    python = "/usr/bin/python3"
    if subprocess.run([python, "-c", "import zmq, msgpack"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        raise Skipped("no pyzmq or msgpack of the system")
    with systemd(folder) as manager:
        manager.run("systemctl", "start", "irisd.socket")
        expect(manager.run("env", "PYTHONPATH=%s" % (SOURCE / "clients/python"), "PYTHONDONTWRITEBYTECODE=1", python, "-c", PROGRAM), "well\n")
        # What was told and acknowledged is kept no longer.
        expect(manager.run(IRISCTL, "--dir", "/run/irisd", "list").count("echo"), 0)
        return version(manager)


TESTS = (the_units_are_good, the_units_are_sandboxed, the_drop_in_is_good, the_service_manager_hears_of_each_phase,
         a_stopped_gateway_is_not_fed, the_front_door_can_be_passed, the_passed_socket_can_be_its_own, a_wrong_socket_is_refused,
         a_client_starts_it_and_its_items_stay, clients_see_a_pause_and_no_error, a_stuck_gateway_is_restarted)


def main():
    wanted = os.environ.get("CK_RUN_CASE")
    tests = [test for test in TESTS if wanted in (None, test.__name__)]
    print("1..%d" % len(tests))
    failed = 0
    for number, test in enumerate(tests, 1):
        name = test.__name__.replace("_", " ")
        try:
            with tempfile.TemporaryDirectory(prefix="iris-") as folder:
                how = test(folder)
            print("ok %d - %s%s" % (number, name, " (%s)" % how if how else ""), flush=True)
        except Skipped as why:
            print("ok %d - %s # SKIP %s" % (number, name, why), flush=True)
        except Exception:
            failed += 1
            print("not ok %d - %s" % (number, name), flush=True)
            print("# " + traceback.format_exc().replace("\n", "\n# "), file=sys.stderr, flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
