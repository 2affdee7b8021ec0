#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Items that irisd keeps and worker processes do, with a private irisd.

    test_persistent.py PATH-OF-irisd [NAME...]
"""
import asyncio
import logging
import os
import signal
import sys
import tempfile
import time
import unittest

from irisd_fixture import GIVE_UP, PROGRAM, Case, until

from irisd_client import Client, Disconnected, IrisdError, Worker, wire
from irisd_client.connection import Connection


def until_read(gate):
    """Waits until a command writes to the gate."""
    with open(gate) as file:
        file.read()


class PersistentTest(Case):
    async def test_a_persistent_item_survives_irisd_and_waits_for_a_worker(self):
        with tempfile.TemporaryDirectory() as journal:
            irisd = self.irisd("--journal=" + journal, lease_ms=100, lease_attempts=1000)
            raw = await self.raw(irisd)
            header = {"service": "a", "class": 2, "key": b"once", "detach": True, "args": ["x"]}
            accepted = (await raw.connection.call("SUBMIT", header, b"body")).header
            lease = await raw.receive("LEASE")
            irisd.stop(signal.SIGKILL)
            irisd.limit(lease_attempts=1000)  # the next lease is long enough for any machine
            irisd.start()
            again = await self.raw(irisd)
            lease = await again.receive("LEASE")
            self.assertEqual((lease.body, lease.header["args"]), (b"body", [b"x"]))
            again.say("DONE", lease, b"done")
            end = await again.connection.call("FETCH", {"item": accepted["item"], "wait-ms": 60000})
            self.assertEqual((end.type, end.body), ("RESULT", b"done"))

    async def test_a_client_sees_a_pause_and_no_error(self):
        with tempfile.TemporaryDirectory() as journal:
            irisd = self.irisd("--journal=" + journal)
            ledger = os.path.join(journal, "ledger")
            numbers = range(60)
            async with Client(irisd.endpoint) as client:
                items = [client.start("command", args=["sh", "-c", "echo %d >> %s; echo %d" % (i, ledger, i)], klass=2)
                         for i in numbers]
                for told in (10, 25, 40):
                    await items[told]
                    await asyncio.get_running_loop().run_in_executor(None, irisd.stop, signal.SIGTERM)
                    later = client.start("echo", b"volatile")
                    irisd.start()
                    self.assertEqual((await later).body, b"volatile")
                for i, item in zip(numbers, items):
                    self.assertEqual((await item).stdout, b"%d\n" % i)
                self.assertEqual([item async for item in client.items()], [])
            with open(ledger) as file:
                self.assertEqual(sorted(map(int, file)), list(numbers))

    async def test_a_volatile_item_is_lost_with_its_irisd_and_a_durable_one_is_not(self):
        with tempfile.TemporaryDirectory() as journal:
            irisd = self.irisd("--journal=" + journal)
            gate = os.path.join(journal, "gate")
            os.mkfifo(gate)
            async with Client(irisd.endpoint) as client:
                lost = client.start("command", args=["sleep", "1000"])
                mark = os.path.join(journal, "mark")
                script = "echo > %s; [ -e %s ] || exec sleep 1000; echo over" % (gate, mark)
                kept = client.start("command", args=["sh", "-c", script], klass=2)
                await asyncio.get_running_loop().run_in_executor(None, until_read, gate)
                irisd.stop(signal.SIGKILL)
                with self.assertRaises(Disconnected):
                    await lost
                with open(mark, "w"):
                    pass
                irisd.start()
                await asyncio.get_running_loop().run_in_executor(None, until_read, gate)
                self.assertEqual((await kept).stdout, b"over\n")

    async def test_an_irisd_that_does_not_come_back_is_told(self):
        with tempfile.TemporaryDirectory() as journal:
            irisd = self.irisd("--journal=" + journal)
            async with Client(irisd.endpoint, resume_timeout=0.05) as client:
                item = client.start("command", args=["sleep", "1000"], klass=2)
                await client.ping()
                irisd.stop(signal.SIGKILL)
                with self.assertRaises(Disconnected):
                    await item
                with self.assertRaises(Disconnected):
                    client.start("echo", b"x")

    async def reader(self, irisd):
        """A connection that is no worker's: a journal may take longer than a worker may be silent."""
        connection = Connection(lambda message: None, lambda error: None)
        await connection.open(irisd.endpoint, "reader")
        self.addCleanup(connection.close)
        return connection

    async def test_output_is_followed_from_the_beginning_and_left(self):
        with tempfile.TemporaryDirectory() as journal:
            irisd = self.irisd("--journal=" + journal)
            reader = await self.reader(irisd)
            gate = os.path.join(journal, "gate")
            os.mkfifo(gate)
            script = "printf one; printf oops >&2; cat %s; seq 1 100000" % gate
            header = {"service": "command", "class": 2, "detach": True, "args": ["sh", "-c", script]}
            item = (await reader.call("SUBMIT", header)).header["item"]
            async with Client(irisd.endpoint) as client:
                async for part in client.follow(item):
                    self.assertEqual((part.data[:1], part.offset), (b"o", 0))
                    break
                parts = []
                async for part in client.follow(item, offset=1):
                    if not parts:
                        with open(gate, "w"):
                            pass
                    parts.append(part)
                self.assertEqual(b"".join(part.data for part in parts if part.is_error)[-3:], b"ops")
                text = b"".join(part.data for part in parts if not part.is_error)
                numbers = b"".join(b"%d\n" % n for n in range(1, 100001))
                self.assertTrue(text.endswith(numbers))
                self.assertEqual(parts[-1].offset + len(parts[-1].data), len("oneoops") + len(numbers))
                with self.assertRaises(IrisdError) as caught:
                    async for part in client.follow(999999):
                        self.fail("there is no such item")
                self.assertEqual(caught.exception.name, "no-such-item")

    async def serve_over_a_crash(self, answer):
        """Kills irisd while a worker has an item; `answer` is told when, and has the service end."""
        with tempfile.TemporaryDirectory() as journal:
            irisd = self.irisd("--journal=" + journal, silence_ms=5000)
            began, end, ready = asyncio.Event(), asyncio.Event(), asyncio.Event()
            worker = Worker(irisd.endpoint, capacity=1)
            runs = []

            @worker.service("slow")
            async def slow(job):
                runs.append(job.attempt)
                began.set()
                await end.wait()
                return b"once"

            worker.on_ready = ready.set
            serving = asyncio.ensure_future(worker.serve())
            await asyncio.wait_for(ready.wait(), GIVE_UP)
            client = await self.reader(irisd)
            header = {"service": "slow", "class": 2, "key": b"once", "detach": True}
            item = (await client.call("SUBMIT", header)).header["item"]
            await asyncio.wait_for(began.wait(), GIVE_UP)
            ready.clear()
            await answer(irisd, worker, end, ready)
            again = await self.reader(irisd)
            result = await again.call("FETCH", {"item": item, "wait-ms": 60000}, timeout=GIVE_UP)
            self.assertEqual((result.type, result.body, runs), ("RESULT", b"once", [1]))
            worker.stop()
            await asyncio.wait_for(serving, GIVE_UP)

    async def test_a_worker_goes_on_with_its_item_when_irisd_was_killed(self):
        async def answer(irisd, _worker, end, ready):
            irisd.stop(signal.SIGKILL)
            irisd.start()
            await asyncio.wait_for(ready.wait(), GIVE_UP)
            end.set()
        await self.serve_over_a_crash(answer)

    async def test_what_irisd_was_killed_before_it_read_is_told_again(self):
        async def answer(irisd, worker, end, _ready):
            async def answered():
                return not worker._jobs
            irisd.process.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, irisd.process.pid, os.WSTOPPED)  # its threads run on for a moment
            end.set()
            await until(answered)
            irisd.stop(signal.SIGKILL)
            irisd.start()
        await self.serve_over_a_crash(answer)

    async def test_a_persistent_item_outlives_its_client_while_a_worker_has_it(self):
        with tempfile.TemporaryDirectory() as journal:
            irisd = self.irisd("--journal=" + journal)
            client = await self.raw(irisd, services=("b",))
            raw = await self.raw(irisd)
            accepted = (await client.connection.call("SUBMIT", {"service": "a", "class": 1, "detach": True}, b"")).header
            lease = await raw.receive("LEASE")
            client.connection.send("BYE")
            raw.say("DONE", lease, b"done")
            end = await raw.connection.call("FETCH", {"item": accepted["item"], "wait-ms": 60000})
            self.assertEqual((end.type, end.body), ("RESULT", b"done"))
            listed = wire.decode_body((await raw.connection.call("LIST", {})))
            self.assertEqual([item["service"] for item in listed], ["a"])

    async def test_items_that_wait_for_workers_keep_out_no_others(self):
        with tempfile.TemporaryDirectory() as journal:
            irisd = self.irisd("--journal=" + journal, total_items=3, in_flight_items=3)
            raw, client = await self.raw(irisd), await self.client(irisd)
            await raw.ready(("a",), 0)
            item = {"service": "a", "class": 1, "detach": True}
            numbers = [(await raw.connection.call("SUBMIT", item)).header["item"] for _ in range(3)]
            with self.assertRaises(IrisdError) as caught:
                await raw.connection.call("SUBMIT", item)
            self.assertEqual((caught.exception.name, caught.exception.limit), ("busy", "total-items"))
            await raw.connection.call("SUBMIT", dict(item, service="echo", **{"delay-ms": 3600000}))
            for number in numbers:
                self.assertFalse(await client.cancel_item(number))

    async def test_persistent_items_are_listed_by_conditions_and_cancelled_by_number(self):
        with tempfile.TemporaryDirectory() as journal:
            irisd = self.irisd("--journal=" + journal)
            raw = await self.raw(irisd)
            client = await self.client(irisd)
            numbers = []
            for key in (b"x-1", b"x-2", b"y-1"):
                header = {"service": "echo", "class": 2, "key": key, "detach": True, "delay-ms": 3600000, "args": ["a b"]}
                numbers.append((await raw.connection.call("SUBMIT", header, b"")).header["item"])

            async def listed(**conditions):
                return [item["item"] async for item in client.items(**conditions)]

            self.assertEqual(await listed(page=1), numbers)
            self.assertEqual(await listed(key_prefix="x-", descending=True), [numbers[1], numbers[0]])
            self.assertEqual(await listed(states=[3, 4]), [])
            self.assertEqual([item["args"] async for item in client.items()], [[]] * 3)
            self.assertEqual([item["args"] async for item in client.items(with_args=True)], [["a b"]] * 3)
            self.assertTrue(all([item["due-ms"] - item["accepted-ms"] >= 3600000 async for item in client.items()]))
            self.assertEqual(await listed(service="echo", klass=2, since_ms=1, states=[6]), numbers)
            self.assertFalse(await client.cancel_item(numbers[0]))
            end = await raw.connection.call("FETCH", {"item": numbers[1], "wait-ms": 0})
            self.assertEqual(end.type, "PENDING")
            with self.assertRaises(IrisdError) as caught:
                await raw.connection.call("FETCH", {"item": numbers[0], "wait-ms": 60000})
            self.assertEqual(caught.exception.name, "cancelled")
            with self.assertRaises(IrisdError):
                await client.cancel_item(4711)

    async def test_a_persistent_item_that_is_cancelled_ends_cancelled(self):
        with tempfile.TemporaryDirectory() as journal:
            irisd = self.irisd("--journal=" + journal)
            raw = await self.raw(irisd, capacity=1)
            number, ends = [], []
            for _ in range(2):
                accepted = await raw.connection.call("SUBMIT", {"service": "a", "class": 2}, b"")
                number.append(accepted.header["item"])
                ends.append(accepted.id)
            lease = await raw.receive("LEASE")
            for target in ends:
                await raw.connection.call("CANCEL", {"target": target})
            await raw.receive("STOP")  # of the one that it had
            for item in number:
                await self.refused("cancelled", raw.connection.call("FETCH", {"item": item, "wait-ms": 60000}))

    async def test_a_persistent_item_that_fails_is_tried_again_by_a_worker(self):
        with tempfile.TemporaryDirectory() as journal:
            irisd = self.irisd("--journal=" + journal)
            raw = await self.raw(irisd)
            header = {"service": "a", "class": 2, "detach": True, "retries": 2, "backoff-ms": 1}
            item = (await raw.connection.call("SUBMIT", header, b"body")).header["item"]
            for _ in range(2):
                raw.say("FAIL", await raw.receive("LEASE"), message="not today")
            lease = await raw.receive("LEASE")
            self.assertEqual(lease.body, b"body")
            raw.say("DONE", lease, b"done")
            end = await raw.connection.call("FETCH", {"item": item, "wait-ms": 60000})
            self.assertEqual((end.body, end.header["attempts"]), (b"done", 3))

    async def test_a_persistent_item_waits_for_its_time_across_two_irisds(self):
        with tempfile.TemporaryDirectory() as journal:
            irisd = self.irisd("--journal=" + journal)
            raw = await self.raw(irisd)
            header = {"service": "a", "class": 2, "detach": True, "at-ms": int(time.time() * 1000) + 1500}
            item = (await raw.connection.call("SUBMIT", header, b"body")).header["item"]
            self.assertEqual(irisd.stop(), 0)  # and does not wait for the clock
            irisd.start()
            again = await self.raw(irisd)
            lease = await again.receive("LEASE")
            self.assertGreaterEqual(int(time.time() * 1000), header["at-ms"])
            again.say("DONE", lease, b"done")
            end = await again.connection.call("FETCH", {"item": item, "wait-ms": 60000})
            self.assertEqual(end.body, b"done")

    async def test_an_item_for_workers_comes_after_a_persistent_one(self):
        with tempfile.TemporaryDirectory() as journal:
            irisd = self.irisd("--journal=" + journal)
            raw = await self.raw(irisd, capacity=2)
            first = (await raw.connection.call("SUBMIT", {"service": "a", "class": 2, "detach": True}, b"1")).header["item"]
            await raw.connection.call("SUBMIT", {"service": "a", "after": [first], "after-how": 3}, b"2")
            await self.refused("bad-argument", raw.connection.call(
                "SUBMIT", {"service": "a", "class": 2, "after": [first]}, b"3"))
            await self.refused("bad-argument", raw.connection.call("SUBMIT", {"service": "a", "time-to-run-ms": 1}, b"4"))
            lease = await raw.receive("LEASE")
            self.assertEqual(lease.body, b"1")
            raw.say("DONE", lease)
            self.assertEqual((await raw.receive("LEASE")).body, b"2")

    async def test_a_failed_item_is_buried_and_kicked(self):
        with tempfile.TemporaryDirectory() as journal:
            irisd = self.irisd("--journal=" + journal)
            raw = await self.raw(irisd)
            client = await self.client(irisd)
            header = {"service": "a", "class": 2, "detach": True, "bury": True, "key": b"k"}
            item = (await raw.connection.call("SUBMIT", header, b"body")).header["item"]
            raw.say("FAIL", await raw.receive("LEASE"), message="not today")
            await self.refused("buried", raw.connection.call("FETCH", {"item": item, "wait-ms": 60000}))
            listed = wire.decode_body((await raw.connection.call("LIST", {"state": 8})))
            self.assertEqual([(found["item"], found["message"], found["attempts"]) for found in listed],
                             [(item, "not today", 1)])
            whole = await raw.connection.call("SHOW", {"item": item, "payload": True})
            [submitted] = wire.decode_batch(whole)
            self.assertEqual((submitted.message.body, submitted.message.header["key"]), (b"body", b"k"))
            self.assertEqual(await client.bury(item), 0)
            self.assertEqual(await client.kick(state="buried", count=5), 1)
            raw.say("DONE", await raw.receive("LEASE"), b"done")
            end = await raw.connection.call("FETCH", {"item": item, "wait-ms": 60000})
            self.assertEqual(end.body, b"done")
            await self.refused("bad-argument", client.kick(item))
            await self.refused("no-such-item", client.bury(item + 1000, "why not"))

    async def test_places_are_drained_and_get_other_numbers_of_workers(self):
        irisd = self.irisd()
        client = await self.client(irisd)
        places = await client.places()
        await self.refused("no-such-place", client.drain(len(places)))
        self.assertEqual(await client.set_workers(0, places[0]["workers"]), 0)
        await self.refused("too-large", client.set_workers(0, places[0]["workers"] + 1))
        self.assertEqual(await client.drain(0), 1)
        self.assertTrue((await client.status())["places"][0]["drained"])
        self.assertEqual(await client.drain(0, False), 1)


if __name__ == "__main__":
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # its remarks about a slow machine
    PROGRAM[:] = [sys.argv.pop(1)]
    unittest.main(verbosity=2)
