# SPDX-License-Identifier: LGPL-2.1-or-later
"""Processes of the rig: each writes to a log of its own, and none outlives the test, whatever ends that."""
import atexit
import ctypes
import os
import pathlib
import random
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

# Until a condition holds: far more than any of it takes, and more yet on a machine with other work (slowness()).
PATIENCE_S = 90
SHORTEST_POLL_S, LONGEST_POLL_S = 0.01, 0.2
# A wait that does not end is told by the test, before Meson ends that without a word.
MOST_SLOWNESS = 10.0
PR_SET_PDEATHSIG = 1

owned = []  # sockets whose names are ports
libc = ctypes.CDLL(None, use_errno=True)


def wait_until(condition, what, limit=PATIENCE_S):
    """Polls for what no message announces, and returns what the condition returned."""
    begin, again = time.monotonic(), SHORTEST_POLL_S
    while True:
        found = condition()
        if found:
            return found
        waited = time.monotonic() - begin
        if waited > patience(limit):
            raise AssertionError(f'{what}: not within {waited:.0f} s')
        # A poll may be a run of irisctl, so what takes long is looked at less often.
        pause(again)
        again = min(1.2 * again, LONGEST_POLL_S)


def pause(seconds):
    """For a poll, and for a fault that must last so long; never in place of a condition."""
    select.select([], [], [], seconds)


def slowness():
    """How much longer things take here than on a machine without other work; 1 or more."""
    return min(max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)), MOST_SLOWNESS)


def patience(seconds=PATIENCE_S):
    """What a wait may take on this machine that would take at most so long on one without other work."""
    return seconds * slowness()


def free_ports(count, host='127.0.0.1'):
    """Ports that no process has, nor gets while this one lives, also when a server of ours is away for a while.

    The kernel gives none of these to a connection, and a socket's name says to the other tests whose a port is.
    """
    ports = []
    while len(ports) < count:
        port = random.randrange(10000, 32000)
        owner = socket.socket(socket.AF_UNIX)
        try:
            owner.bind(f'\0iris-cluster-port-{port}')
            with socket.socket() as one:
                one.bind((host, port))
        except OSError:
            owner.close()
            continue
        owned.append(owner)
        ports.append(port)
    return ports


def _die_with_parent():
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Process:
    """A program, and what it printed, also over several starts."""

    def __init__(self, name, log):
        self.name, self.log, self.child = name, log, None
        self.stopped = False

    def spawn(self, command, **options):
        with open(self.log, 'ab') as out:
            self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                          preexec_fn=_die_with_parent, **options)
        self.stopped = False

    def alive(self):
        return self.child is not None and self.child.poll() is None

    def text(self):
        return pathlib.Path(self.log).read_text(errors='replace') if os.path.exists(self.log) else ''

    def signal(self, number):
        if self.alive():
            self.child.send_signal(number)

    def stop(self):
        """SIGSTOP: still connected, and silent."""
        self.signal(signal.SIGSTOP)
        self.stopped = True

    def go_on(self):
        self.signal(signal.SIGCONT)
        self.stopped = False

    def kill(self):
        """kill -9; returns when it is gone."""
        self.signal(signal.SIGKILL)
        self.wait('is gone after SIGKILL')

    def terminate(self):
        """SIGTERM, and its exit status."""
        if self.stopped:
            self.go_on()
        self.signal(signal.SIGTERM)
        return self.wait('ends after SIGTERM')

    def wait(self, what):
        try:
            return self.child.wait(patience()) if self.child is not None else None
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f'{self.name} {what}: not within {error.timeout:.0f} s') from error


class Folder:
    """A folder with processes in it: both go at the end, after exceptions and signals too."""

    def __init__(self, prefix='iris-cluster-'):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix=prefix))
        self.processes, self.before_end, self.at_end = [], [], []
        self.states = []  # functions that return lines
        # irisd refuses a folder that others may write to; other accounts pass through to sockets.
        self.path.chmod(0o711)
        atexit.register(self.close)

    def process(self, name):
        process = Process(name, self.path / (name + '.log'))
        self.processes.append(process)
        return process

    def close(self):
        for function in self.before_end:
            function()
        self.before_end = []
        for process in reversed(self.processes):
            process.kill()
        self.processes = []
        for function in reversed(self.at_end):
            function()
        self.at_end = []
        atexit.unregister(self.close)
        shutil.rmtree(self.path, ignore_errors=True)

    def show_logs(self, lines=20):
        """For a person, when a case failed."""
        for process in self.processes:
            for line in process.text().splitlines()[-lines:]:
                print(f'# {process.name}: {line}', file=sys.stderr)

    def show_states(self):
        for function in self.states:
            for line in function():
                print(f'# {line}', file=sys.stderr)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is not None and not issubclass(kind, KeyboardInterrupt):
            self.show_logs()
            self.show_states()
        self.close()


def end_on_signals():
    """SIGTERM and SIGHUP end the test as an exception does, so that what it made is taken away."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda got, _: sys.exit(128 + got))
