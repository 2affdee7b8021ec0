# SPDX-License-Identifier: LGPL-2.1-or-later
"""A private irisd for one test, worker processes for it, and a worker that speaks the protocol by hand."""
import asyncio
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
import irisd_client  # noqa: E402
from irisd_client import wire  # noqa: E402
from irisd_client.connection import Connection  # noqa: E402

PROGRAM = ["irisd"]  # its path, which the tests are given
GIVE_UP = 120.0  # after so many seconds a wait counts as a hang


class Irisd:
    """An irisd of our own, with limits that make a test short."""

    def __init__(self, *options, **limits):
        self.folder = tempfile.TemporaryDirectory(prefix="irisd-py-")
        self.dir = os.path.join(self.folder.name, "run")
        os.mkdir(self.dir, 0o700)
        self.endpoint = "ipc://%s/front.ipc" % self.dir
        self.config = os.path.join(self.folder.name, "irisd.conf")
        self.limit(**limits)
        self.command = [*PROGRAM, "--config", self.config, "--dir", self.dir, "--topology=package:2 core:1 pu:1", "--places=package",
                        *options]
        self.start()

    def limit(self, **limits):
        """The limits from its next start on. A busy machine may be late with a PING, or with the next worker."""
        limits = {"silence_ms": 600000, "worker_wait_ms": 600000, **limits}
        with open(self.config, "w", encoding="ascii") as out:
            out.write("[limits]\n" + "".join("%s=%d\n" % (name.replace("_", "-"), value) for name, value in limits.items()))

    def start(self):
        read, write = os.pipe()
        self.process = subprocess.Popen(self.command + ["--ready-fd", str(write)], pass_fds=[write],
                                        stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read, "rb") as ready:
            words = ready.readline().decode().split()
            assert words, "irisd did not start"
            self.tcp = words[2] if len(words) > 2 else None

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(GIVE_UP)

    def close(self):
        if self.process.poll() is None:
            self.stop()
        self.folder.cleanup()


class Helper:
    """A worker process of calls_for_test's functions."""

    def __init__(self, irisd, *services, capacity=1, extra=()):
        command = [sys.executable, "-m", "irisd_client", "serve", "--endpoint", irisd.endpoint, "--capacity", str(capacity),
                   "--say-ready", *extra, *("%s=calls_for_test:%s" % (name, function) for name, function in services)]
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(HERE.parent), str(HERE)]))
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
        assert self.process.stdout.readline() == b"ready\n", "the worker did not start"

    def kill(self, number=signal.SIGKILL):
        self.process.send_signal(number)
        return self.process.wait(GIVE_UP)

    def close(self):
        if self.process.poll() is None:
            self.kill()
        self.process.stdout.close()


class Raw:
    """A worker that speaks the protocol by hand and does as it is told."""

    def __init__(self):
        self.messages = asyncio.Queue()
        self.lost = asyncio.get_running_loop().create_future()
        self.connection = Connection(self.messages.put_nowait, self.lost.set_result)

    async def open(self, irisd, services=("a",), capacity=1, endpoint=None):
        await self.connection.open(endpoint or irisd.endpoint, "raw")
        return await self.ready(services, capacity)

    async def stay_alive(self, every):
        """Pings as long as the connection stands."""
        while not self.lost.done():
            try:
                self.connection.send("PING")
            except irisd_client.Disconnected:
                return
            await asyncio.sleep(every)

    async def ready(self, services, capacity, **header):
        body = wire.encode_services([(name, "") for name in services])
        return (await self.connection.call("READY", {"capacity": capacity, **header}, body)).header

    async def receive(self, kind):
        """The next message; one that was lost will not get any, and fails at once."""
        coming = asyncio.ensure_future(self.messages.get())
        await asyncio.wait((coming, self.lost), timeout=GIVE_UP, return_when=asyncio.FIRST_COMPLETED)
        if not coming.done():
            coming.cancel()
            raise AssertionError("no %s came: %s" % (kind, self.lost.result() if self.lost.done() else "it takes too long"))
        message = coming.result()
        assert message.type == kind, message
        return message

    def say(self, kind, lease, body=b"", **header):
        self.connection.send(kind, {name.replace("_", "-"): value for name, value in header.items()}, body, lease.id)


async def until(condition):
    """Polls for a condition that no message announces."""
    deadline = time.monotonic() + GIVE_UP
    while not await condition():
        assert time.monotonic() < deadline, "it does not come true"
        await asyncio.sleep(0.005)


class Case(unittest.IsolatedAsyncioTestCase):
    def irisd(self, *options, **limits):
        irisd = Irisd(*options, **limits)
        self.addCleanup(irisd.close)
        return irisd

    def helper(self, irisd, *services, **options):
        helper = Helper(irisd, *services, **options)
        self.addCleanup(helper.close)
        return helper

    async def client(self, irisd, **options):
        client = irisd_client.Client(irisd.endpoint, **options)
        await client.open()
        self.addAsyncCleanup(client.close)
        return client

    async def raw(self, irisd, services=("a",), capacity=1, endpoint=None, ping_every=None):
        raw = Raw()
        await raw.open(irisd, services, capacity, endpoint)
        self.addCleanup(raw.connection.close)
        if ping_every is not None:
            pinger = asyncio.ensure_future(raw.stay_alive(ping_every))
            self.addCleanup(pinger.cancel)
        return raw

    async def refused(self, name, awaitable):
        with self.assertRaises(irisd_client.IrisdError) as caught:
            await awaitable
        self.assertEqual(caught.exception.name, name, caught.exception)
        return caught.exception
