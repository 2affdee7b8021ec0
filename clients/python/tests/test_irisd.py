#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Python package with a private irisd: client, worker processes, executor.

    test_irisd.py PATH-OF-irisd [NAME...]
"""
import asyncio
import collections
import contextlib
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

from irisd_fixture import GIVE_UP, HERE, PROGRAM, Case, Raw, until

import calls_for_test
import irisd_client
import zmq
from irisd_client import wire
from irisd_client.connection import Connection

SILENCE_MS = 5000  # longer than a machine with much to do keeps a process from its next PING


class ClientTest(Case):
    async def test_items_of_all_kinds_end(self):
        client = await self.client(self.irisd())
        self.assertEqual((await client.submit("echo", "hällo")).body, "hällo".encode())
        result = await client.submit("command", b"b\na\n", args=["sort"], hint=1, strict=True)
        self.assertEqual((result.stdout, result.exit_status, result.place), (b"a\nb\n", 0, 1))
        self.assertIn("no-such", str(await self.refused("unknown-service", client.submit("no-such"))))
        await self.refused("unreadable-file", client.submit("sha256", path="/no/such/file"))
        self.assertEqual([service["name"] for service in await client.services()], ["command", "echo", "sha256", "wordcount"])
        self.assertEqual(len(await client.places()), 2)
        self.assertEqual(await client.workers(), [])
        await client.ping()

    async def test_more_items_than_credit_wait_and_come_in_order(self):
        client = await self.client(self.irisd(in_flight_items=8))
        bodies = [result.body async for result in client.map("echo", (str(n) for n in range(500)))]
        self.assertEqual(bodies, [str(n).encode() for n in range(500)])
        self.assertEqual((await client.status())["refused"], 0)

    async def test_a_busy_irisd_is_asked_again(self):
        irisd = self.irisd(total_items=4, in_flight_items=4)
        clients = [await self.client(irisd) for _ in range(3)]
        results = await asyncio.gather(*(client.submit("echo", str(n)) for n in range(100) for client in clients))
        self.assertEqual(len(results), 300)

    async def test_a_full_irisd_is_not_asked_all_the_time(self):
        irisd = self.irisd(total_items=1, in_flight_items=1)
        first, client = await self.client(irisd), await self.client(irisd)
        blocker = first.start("command", args=["sleep", "1000"])
        while (await first.status())["in-flight"] == 0:
            pass
        items = [client.start("echo", str(n)) for n in range(100)]
        while (await first.status())["refused"] < 4:
            pass
        self.assertIn("total-items (1)", client.busy_reason)
        self.assertLess((await first.status())["refused"], 50)
        blocker.cancel()
        await self.refused("cancelled", blocker)
        self.assertEqual([(await item).body for item in items], [str(n).encode() for n in range(100)])
        self.assertIsNone(client.busy_reason)

    async def test_what_is_cancelled_ends_as_cancelled(self):
        client = await self.client(self.irisd())
        item = client.start("command", args=["cat", "/dev/zero"])
        item.cancel()
        await self.refused("cancelled", item)

    async def test_a_connection_is_closed_with_messages_unread(self):
        raw = Raw()
        await raw.connection.open(self.irisd().endpoint, "hasty")
        said = []
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, context: said.append(context))
        raw.connection.send("PING")
        self.assertTrue(zmq.Socket.shadow(raw.connection._socket.underlying).poll(GIVE_UP * 1000))
        raw.connection.send("BYE")
        raw.connection.close()
        for _ in range(5):
            await asyncio.sleep(0)
        self.assertEqual(said, [])

    async def test_an_irisd_that_goes_fails_what_is_in_flight(self):
        irisd = self.irisd()
        client = await self.client(irisd)
        raw = await self.raw(irisd)
        item = client.start("a")
        await raw.receive("LEASE")
        irisd.stop(signal.SIGKILL)
        irisd.start()
        client._connection.send("PING")
        await self.refused("disconnected", item)

    async def test_an_irisd_that_ends_as_soon_as_it_lets_a_client_in_is_not_taken(self):
        irisd = self.irisd()
        raw_open, losses = Connection.open, [True, True, False]

        async def open_and_lose(connection, *args):
            await raw_open(connection, *args)
            if losses.pop(0):
                connection.lose(irisd_client.Disconnected("lost"))

        with unittest.mock.patch.object(Connection, "open", open_and_lose):
            client = irisd_client.Client(irisd.endpoint)
            for _ in range(2):
                with self.assertRaisesRegex(irisd_client.Disconnected, "was lost"):
                    await client.open()
            await client.close()
            async with client:
                await client.places()


    async def test_the_last_message_is_taken_whoever_wakes_first(self):
        client = await self.client(self.irisd())
        item = client.start("echo", b"last")
        connection = client._connection
        socket = connection._socket
        plain = zmq.Socket.shadow(socket.underlying)
        while not connection._coming.done():
            self.assertTrue(plain.poll(1000 * GIVE_UP))
            socket._handle_events()  # the loop wakes the reader in its next turn only
        connection._take_the_last(socket)  # as if the end of the connection had been seen before
        self.assertTrue(item.done)
        self.assertEqual((await item).body, b"last")


class WorkerTest(Case):
    async def test_a_service_appears_and_disappears(self):
        irisd = self.irisd(worker_wait_ms=50)
        client = await self.client(irisd)
        await self.refused("unknown-service", client.submit("shout", b"a"))
        helper = self.helper(irisd, ("shout", "shout"))
        self.assertEqual((await client.submit("shout", b"hello")).body, b"HELLO")
        self.assertIn({"name": "shout", "summary": "The payload in capitals."}, await client.services())
        self.assertEqual(helper.kill(signal.SIGTERM), 0)

        async def forgotten():
            return all(service["name"] != "shout" for service in await client.services())
        await until(forgotten)
        await self.refused("unknown-service", client.submit("shout", b"a"))
        self.assertEqual(await client.workers(), [])

    async def test_items_wait_for_a_worker_to_come_back(self):
        irisd = self.irisd()
        client = await self.client(irisd)
        first = self.helper(irisd, ("shout", "shout"))
        first.kill()
        item = client.start("shout", b"late")
        self.helper(irisd, ("shout", "shout"))
        self.assertEqual((await item).body, b"LATE")

    async def test_without_a_worker_items_fail_after_a_while(self):
        irisd = self.irisd(worker_wait_ms=1)
        client = await self.client(irisd)
        raw = await self.raw(irisd, capacity=0)
        item = client.start("a")
        raw.connection.send("BYE")
        self.assertIn("worker-wait-ms", str(await self.refused("no-worker", item)))

    async def test_killed_workers_lose_nothing(self):
        """A history: each item that was accepted has exactly one completion, and the right one."""
        irisd = self.irisd(lease_attempts=1000)
        client = await self.client(irisd)
        helpers = [self.helper(irisd, ("square", "slow_square"), capacity=8) for _ in range(3)]
        history = collections.Counter()

        async def one(number):
            body = (await client.submit("square", str(number))).body
            history[number, int(body)] += 1

        items = [asyncio.ensure_future(one(n)) for n in range(200)]
        for kill in range(4):
            async def some():
                return len(history) >= 20 * (kill + 1)
            await until(some)
            helpers[kill % 3].kill()
            helpers[kill % 3] = self.helper(irisd, ("square", "slow_square"), capacity=8)
        await asyncio.wait_for(asyncio.gather(*items), GIVE_UP)
        self.assertEqual(history, {(n, n * n): 1 for n in range(200)})
        status = await client.status()
        self.assertEqual((status["accepted"], status["ended"], status["in-flight"]), (200, 200, 0))

    async def test_too_many_lost_workers_fail_the_item(self):
        irisd = self.irisd(lease_attempts=2)
        client = await self.client(irisd)
        item = None
        for attempt in (1, 2):
            raw = await self.raw(irisd)
            item = item or client.start("a")
            self.assertEqual((await raw.receive("LEASE")).header["attempt"], attempt)
            raw.connection.send("BYE")
        self.assertIn("lease-attempts", str(await self.refused("worker-lost", item)))

    async def test_silent_workers_are_lost(self):
        """Side by side, because most of either is waiting for SILENCE_MS."""
        await asyncio.gather(self.a_silent_worker_is_lost(), self.a_stopped_process_is_silent_and_comes_back())

    async def a_silent_worker_is_lost(self):
        irisd = self.irisd(silence_ms=SILENCE_MS)
        client = await self.client(irisd)
        silent = await self.raw(irisd)
        item = client.start("a", b"x")
        lease = await silent.receive("LEASE")
        other = await self.raw(irisd, ping_every=0.05)
        again = await other.receive("LEASE")
        self.assertEqual((again.header["attempt"], again.body), (2, b"x"))
        silent.say("DONE", lease, b"late")
        other.say("DONE", again, b"well")
        self.assertEqual((await item).body, b"well")
        await asyncio.wait_for(silent.lost, GIVE_UP)  # told that it has to say HELLO again

    async def a_stopped_process_is_silent_and_comes_back(self):
        irisd = self.irisd(silence_ms=SILENCE_MS)
        client = await self.client(irisd)
        helper = self.helper(irisd, ("shout", "shout"))
        helper.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, helper.process.pid, os.WSTOPPED)  # its threads run on for a moment
        item = client.start("shout", b"a")
        other = await self.raw(irisd, ["shout"], ping_every=0.05)
        lease = await other.receive("LEASE")
        self.assertEqual(lease.header["attempt"], 2)
        other.say("DONE", lease, b"by the other")
        self.assertEqual((await item).body, b"by the other")
        other.connection.send("BYE")
        helper.process.send_signal(signal.SIGCONT)
        self.assertEqual((await client.submit("shout", b"a")).body, b"A")

    async def test_an_irisd_that_was_stopped_keeps_its_workers(self):
        for silence_ms in (200, 1000, SILENCE_MS):
            if await self.outlives_stops(silence_ms):
                return
        self.fail("irisd counts the time that it was stopped as its worker's silence")

    async def outlives_stops(self, silence_ms):
        """Whether a worker is kept whenever irisd is stopped for longer than silence-ms. A machine that stalls loses it, too."""
        irisd = self.irisd(silence_ms=silence_ms)
        worker = await self.raw(irisd, ping_every=silence_ms / 10000)
        for _ in range(10):
            irisd.process.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, irisd.process.pid, os.WSTOPPED)  # its threads run on for a moment
            last = worker.connection._last_id

            async def pinged():  # for one and a half times as long as it may be silent
                return worker.connection._last_id >= last + 15
            await until(pinged)
            irisd.process.send_signal(signal.SIGCONT)
            try:
                await worker.connection.call("PING")
            except irisd_client.Disconnected:
                return False
        return True

    async def with_longer_leases(self, outlives, longest=40000):
        """Runs `outlives` until it is true: on a machine that stalls, an extended lease ends as well, if it is short."""
        for lease_ms in (300, 1500, 5000, 7500, 37500):
            if lease_ms <= longest and await outlives(lease_ms):
                return
        self.fail("no extended lease outlives one that is not")

    async def test_an_irisd_that_was_stopped_keeps_leases_that_are_extended(self):
        async def outlives(lease_ms):
            irisd = self.irisd(lease_ms=lease_ms, silence_ms=60000)
            client = await self.client(irisd)
            worker = await self.raw(irisd)
            end = asyncio.ensure_future(client.start("a"))
            lease = await worker.receive("LEASE")
            n_extended = 0

            async def extend():
                nonlocal n_extended
                while not end.done():
                    worker.say("EXTEND", lease)
                    n_extended += 1
                    await asyncio.sleep(lease_ms / 10000)
            extending = asyncio.ensure_future(extend())
            for _ in range(5):
                irisd.process.send_signal(signal.SIGSTOP)
                os.waitid(os.P_PID, irisd.process.pid, os.WSTOPPED)  # its threads run on for a moment
                goal = n_extended + 15  # one and a half leases

                async def extended():
                    return n_extended >= goal
                await until(extended)
                irisd.process.send_signal(signal.SIGCONT)
                await worker.connection.call("PING")
            worker.say("DONE", lease, b"done")
            refused = asyncio.ensure_future(worker.messages.get())
            await asyncio.wait((end, refused), timeout=GIVE_UP, return_when=asyncio.FIRST_COMPLETED)
            extending.cancel()
            refused.cancel()
            if not end.done():  # the lease has ended
                await client.close()
                await asyncio.gather(end, return_exceptions=True)
                return False
            return (await end).body == b"done"
        await self.with_longer_leases(outlives, longest=5000)  # the client does not wait longer for irisd

    async def test_a_lease_ends_unless_it_is_extended(self):
        async def outlives(lease_ms):
            irisd = self.irisd(lease_ms=lease_ms, silence_ms=60000)
            client = await self.client(irisd)
            slow = await self.raw(irisd, capacity=2)
            items = [client.start("a", name) for name in ("extended", "left")]
            extended, left = [await slow.receive("LEASE") for _ in items]
            self.assertEqual(extended.header["lease-ms"], lease_ms)
            while slow.messages.empty():
                slow.say("EXTEND", extended)
                await slow.connection.call("PING")
            stop = await slow.receive("STOP")
            other = await self.raw(irisd)
            again = await other.receive("LEASE")
            if stop.id == extended.id or again.body == b"extended":  # its lease has ended too: the machine stalls
                await client.close()
                await asyncio.gather(*items, return_exceptions=True)
                return False
            self.assertEqual((stop.id, stop.header["error-name"]), (left.id, "no-such-lease"))
            self.assertEqual(again.body, b"left")
            other.say("DONE", again, b"in time")
            self.assertEqual((await items[1]).body, b"in time")
            slow.say("DONE", left, b"late")
            while (refusal := await slow.messages.get()).type == "STOP":
                pass  # of the other lease, if it ends meanwhile
            self.assertEqual((refusal.type, refusal.header["error-name"]), ("ERROR", "no-such-lease"))
            return True
        await self.with_longer_leases(outlives)

    async def test_the_package_extends_by_itself(self):
        async def outlives(lease_ms):
            irisd = self.irisd(lease_ms=lease_ms, lease_attempts=1, silence_ms=60000)
            client = await self.client(irisd)
            worker = irisd_client.Worker(irisd.endpoint, capacity=1)
            begun, gate = asyncio.Event(), asyncio.Event()

            @worker.service("square")
            async def square(job):
                begun.set()
                await gate.wait()
                return str(int(job.payload) ** 2)

            other = await self.raw(irisd, ("left",))
            serving = asyncio.ensure_future(worker.serve())
            item = client.start("square", b"7", wait_for_service=True)
            await begun.wait()
            left = client.start("left")
            await other.receive("LEASE")
            await other.receive("STOP")  # its lease began later, and is over
            gate.set()
            result = (await asyncio.gather(item, return_exceptions=True))[0]
            worker.stop()
            await serving
            await self.refused("worker-lost", left)
            if isinstance(result, irisd_client.IrisdError):
                self.assertEqual(result.name, "worker-lost")
                return False
            self.assertEqual(result.body, b"49")
            return True
        await self.with_longer_leases(outlives)

    async def test_garbage_costs_only_its_sender(self):
        irisd = self.irisd()
        client = await self.client(irisd)
        bad = await self.raw(irisd)
        item = client.start("a", b"x")
        await bad.receive("LEASE")
        good = await self.raw(irisd)
        bad.connection._socket.send_multipart([b"IRS1", b"\x21", bytes(16), b"\xc1", b""])
        lease = await good.receive("LEASE")
        self.assertEqual(lease.header["attempt"], 2)
        good.say("DONE", lease, b"well")
        self.assertEqual((await item).body, b"well")
        self.assertEqual(len(await client.workers()), 1)

    async def test_a_result_that_is_too_large_is_only_refused(self):
        irisd = self.irisd(max_body=100000, in_flight_bytes=100000, max_output=1000)
        client = await self.client(irisd)
        raw = await self.raw(irisd)
        item = client.start("a")
        lease = await raw.receive("LEASE")
        raw.connection.limits = wire.Limits()
        raw.say("DONE", lease, bytes(100001))
        self.assertEqual((await raw.receive("ERROR")).header["limit"], "max-body")
        raw.say("FAIL", lease, message="it was too large")
        self.assertEqual(str(await self.refused("service-failed", item)), "it was too large")

    async def test_capacity_is_respected(self):
        irisd = self.irisd()
        client = await self.client(irisd)
        raw = await self.raw(irisd, capacity=3)
        items = [client.start("a", str(n)) for n in range(6)]
        leases = [await raw.receive("LEASE") for _ in range(3)]
        await client.ping()  # irisd has dealt with all that was sent before
        self.assertEqual((await client.workers())[0]["leased"], 3)
        self.assertTrue(raw.messages.empty())
        for n in range(3):
            raw.say("DONE", leases[n], b"done")
            leases.append(await raw.receive("LEASE"))
        self.assertEqual([lease.body for lease in leases], [b"0", b"1", b"2", b"3", b"4", b"5"])
        for lease in leases[3:]:
            raw.say("DONE", lease, b"done")
        await asyncio.gather(*items)
        worker = (await client.workers())[0]
        self.assertEqual((worker["leased"], worker["done"], worker["capacity"]), (0, 6, 3))

    async def test_two_workers_share(self):
        irisd = self.irisd()
        client = await self.client(irisd)
        workers = [await self.raw(irisd) for _ in range(2)]
        items = [client.start("a") for _ in range(2)]
        for worker in workers:
            worker.say("DONE", await worker.receive("LEASE"))
        await asyncio.gather(*items)

    async def test_a_leased_item_occupies_no_worker_of_irisd(self):
        irisd = self.irisd()
        client = await self.client(irisd)
        raw = await self.raw(irisd, capacity=50)
        items = [client.start("a") for _ in range(50)]
        leases = [await raw.receive("LEASE") for _ in range(50)]
        for place in (0, 1):  # one worker each
            self.assertEqual((await client.submit("echo", b"x", hint=place, strict=True)).body, b"x")
        for lease in leases:
            raw.say("DONE", lease)
        await asyncio.gather(*items)

    async def test_cancelling_reaches_the_worker(self):
        irisd = self.irisd()
        client = await self.client(irisd)
        raw = await self.raw(irisd)
        leased, waiting = client.start("a"), client.start("a")
        lease = await raw.receive("LEASE")
        waiting.cancel()
        await self.refused("cancelled", waiting)
        leased.cancel()
        await self.refused("cancelled", leased)
        stop = await raw.receive("STOP")
        self.assertEqual((stop.id, stop.header["error-name"]), (lease.id, "cancelled"))
        third = client.start("a", b"third")
        await client.ping()
        self.assertEqual((await client.workers())[0]["leased"], 1)  # until the worker has stopped
        raw.say("FAIL", lease, message="stopped")
        lease = await raw.receive("LEASE")
        self.assertEqual(lease.body, b"third")
        raw.say("DONE", lease)
        await third

    async def test_the_package_stops_what_was_cancelled(self):
        irisd = self.irisd()
        client = await self.client(irisd)
        self.helper(irisd, ("wait", "tell_and_wait"), ("shout", "shout"))
        path = os.path.join(irisd.folder.name, "pid")
        os.mkfifo(path)
        item = client.start("wait", path)
        with contextlib.closing(await asyncio.to_thread(open, path, "rb")) as fifo:
            self.assertTrue(await asyncio.to_thread(fifo.readline))
        item.cancel()
        await self.refused("cancelled", item)
        self.assertEqual((await client.submit("shout", b"free again")).body, b"FREE AGAIN")

    async def test_a_client_that_goes_stops_its_items(self):
        irisd = self.irisd()
        client = await self.client(irisd)
        other = await self.client(irisd)
        raw = await self.raw(irisd)
        client.start("a")
        lease = await raw.receive("LEASE")
        await client.close()
        self.assertEqual((await raw.receive("STOP")).id, lease.id)
        raw.say("FAIL", lease, message="stopped")

        async def empty():
            return (await other.status())["in-flight"] == 0
        await until(empty)

    async def test_progress_is_passed_on(self):
        irisd = self.irisd()
        client = await self.client(irisd)
        raw = await self.raw(irisd)
        told = asyncio.Queue()
        item = client.start("a", progress=lambda fraction, note: told.put_nowait((fraction, note)))
        lease = await raw.receive("LEASE")
        self.assertTrue(lease.header["progress"])
        raw.say("REPORT", lease, fraction=250000, note="läuft")
        self.assertEqual(await asyncio.wait_for(told.get(), GIVE_UP), (0.25, "läuft"))
        raw.say("REPORT", lease, note="only words")
        self.assertEqual(await asyncio.wait_for(told.get(), GIVE_UP), (None, "only words"))
        for n in range(5000):  # a flood delays no other request
            raw.say("REPORT", lease, fraction=n)
        raw.say("DONE", lease, b"done")
        self.assertEqual((await item).body, b"done")
        silent = client.start("a")
        lease = await raw.receive("LEASE")
        self.assertNotIn("progress", lease.header)
        raw.say("REPORT", lease, fraction=1)
        raw.say("DONE", lease)
        await silent
        self.assertLessEqual(told.qsize(), 5000)

    async def test_failures_are_told_and_tried_again_where_that_helps(self):
        irisd = self.irisd(lease_attempts=3)
        client = await self.client(irisd)
        raw = await self.raw(irisd)
        item = client.start("a")
        raw.say("FAIL", await raw.receive("LEASE"), message="no such picture", code=12)
        self.assertEqual(str(await self.refused("unreadable-file", item)), "no such picture")
        item = client.start("a")
        for attempt in (1, 2, 3):
            lease = await raw.receive("LEASE")
            self.assertEqual(lease.header["attempt"], attempt)
            raw.say("FAIL", lease, message="attempt %d" % attempt, again=True)
        self.assertEqual(str(await self.refused("service-failed", item)), "attempt 3")
        item = client.start("a")
        lease = await raw.receive("LEASE")
        raw.say("FAIL", lease, message="x", code=16)
        self.assertEqual((await raw.receive("ERROR")).header["error-name"], "bad-argument")
        raw.say("DONE", lease)
        await item

    async def test_what_the_client_sent_reaches_the_worker(self):
        irisd = self.irisd()
        client = await self.client(irisd)
        raw = await self.raw(irisd)
        for size in (0, 10, 5000, 1000000):
            item = client.start("a", bytes(size), args=["one", b"\xff"], content_type="x/y", path="/tmp/z")
            lease = await raw.receive("LEASE")
            self.assertEqual(lease.body, bytes(size))
            self.assertEqual((lease.header["args"], lease.header["content-type"], lease.header["path"]),
                             ([b"one", b"\xff"], "x/y", b"/tmp/z"))
            raw.say("DONE", lease, lease.body, content_type="a/b")
            result = await item
            self.assertEqual((len(result.body), result.content_type), (size, "a/b"))
            self.assertGreater(result.run_ns, 0)

    async def test_a_path_need_not_be_utf8(self):
        irisd = self.irisd()
        client = await self.client(irisd)
        raw = await self.raw(irisd)
        item = client.start("a", args=["\udcff"], path="/tmp/\udcff")
        lease = await raw.receive("LEASE")
        self.assertEqual((lease.header["args"], lease.header["path"]), ([b"\xff"], b"/tmp/\xff"))
        raw.say("DONE", lease)
        await item
        with self.assertRaises(wire.WireError) as caught:
            client.start("\udcff")
        self.assertIn("is not UTF-8", str(caught.exception))

    async def test_an_item_of_a_trace_is_a_span_of_it(self):
        irisd = self.irisd()
        client = await self.client(irisd)
        raw = await self.raw(irisd)
        trace = "0af7651916cd43dd8448eb211c80319c"
        item = client.start("a", traceparent="00-%s-b7ad6b7169203331-01" % trace, tracestate="a=b")
        lease = await raw.receive("LEASE")
        raw.say("DONE", lease)
        await item
        spans, behind = await client.spans()
        self.assertEqual((len(spans), behind), (1, 2))
        self.assertEqual(spans[0]["traceparent"], lease.header["traceparent"])
        self.assertEqual((spans[0]["parent"], spans[0]["tracestate"], spans[0]["service"]), ("b7ad6b7169203331", "a=b", "a"))
        self.assertIn(trace, spans[0]["traceparent"])
        self.assertEqual(await client.spans(behind), ([], behind))

    async def test_hints_lead_to_workers_of_the_place(self):
        irisd = self.irisd()
        client = await self.client(irisd)
        places = await client.places()
        here = await self.raw(irisd, endpoint=places[0]["endpoint"])
        there = await self.raw(irisd, endpoint=places[1]["endpoint"])
        self.assertEqual(sorted(worker["places"] for worker in await client.workers()), [[0], [1]])
        for _ in range(3):
            item = client.start("a", hint=1)
            there.say("DONE", await there.receive("LEASE"))
            self.assertEqual((await item).place, 1)
        busy = client.start("a", hint=1)
        lease = await there.receive("LEASE")
        strict = client.start("a", b"strict", hint=1, strict=True)
        wish = client.start("a", hint=1)
        here.say("DONE", await here.receive("LEASE"))
        await wish
        there.say("DONE", lease)
        lease = await there.receive("LEASE")
        self.assertEqual(lease.body, b"strict")
        there.say("DONE", lease)
        await asyncio.gather(busy, strict)
        await self.refused("no-such-place", here.ready(["a"], 1, place=2))

    async def test_bad_enrolments_are_refused(self):
        irisd = self.irisd(worker_services=2, total_worker_services=3)
        raw = await self.raw(irisd)
        self.assertIn("echo", str(await self.refused("bad-argument", raw.ready(["echo"], 1))))
        await self.refused("bad-argument", raw.ready([""], 1))
        self.assertIn("worker-services", str(await self.refused("too-large", raw.ready(["a", "b", "c"], 1))))
        await raw.ready(["a", "b"], 1)
        other = await self.raw(irisd, ["a"])
        self.assertIn("total-worker-services", str(await self.refused("too-large", other.ready(["c", "d"], 1))))
        client = await self.client(irisd)
        self.assertEqual(sorted(len(worker["services"]) for worker in await client.workers()), [1, 2])
        connection = Connection(lambda message: None, lambda error: None)
        await connection.open(irisd.endpoint, "no worker")
        self.addCleanup(connection.close)
        await self.refused("bad-argument", connection.call("DONE"))

    async def test_serving_over_tcp_is_refused(self):
        irisd = self.irisd("--tcp=127.0.0.1:0")
        connection = Connection(lambda message: None, lambda error: None)
        await connection.open(irisd.tcp, "a guest")
        self.addCleanup(connection.close)
        self.assertIn("tcp-trusted", str(await self.refused("not-permitted", connection.call(
            "READY", {"capacity": 1}, wire.encode_services([("a", "")])))))

    async def test_a_key_lets_in_over_tcp(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        public, secret = (key.decode() for key in zmq.curve_keypair())
        own, own_secret = (key.decode() for key in zmq.curve_keypair())
        server, mine = os.path.join(folder, "server.key"), os.path.join(folder, "mine.key")
        os.mkdir(os.path.join(folder, "keys.d"), 0o700)
        for path, text, mode in ((server, "secret=%s" % secret, 0o600),
                                 (mine, "public=%s\nsecret=%s\nserver=%s" % (own, own_secret, public), 0o600),
                                 (os.path.join(folder, "keys.d", "mine.key"), "public=%s\nowner=8589934592\nroles=submit;work" % own, 0o644),
                                 (os.path.join(folder, "irisd.conf"), "", 0o600)):
            with open(path, "w", encoding="ascii") as out:
                out.write("[key]\n%s\n" % text if text else "[irisd]\ntcp=127.0.0.1:0\nserver-key=%s\n" % server)
            os.chmod(path, mode)
        irisd = self.irisd("--config", os.path.join(folder, "irisd.conf"))
        client = irisd_client.Client("%s?key=%s" % (irisd.tcp, mine))
        await client.open()
        self.addAsyncCleanup(client.close)
        self.assertEqual((await client.submit("echo", "x", hint=1)).body, b"x")
        self.assertIn("submit;work", str(await self.refused("not-permitted", client.reload())))

        operator = await self.client(irisd)
        [key] = await operator.keys()
        self.assertEqual((key["name"], key["public"], key["owner"], key["any-service"]), ("mine", own, 8589934592, True))
        self.assertGreaterEqual(key["connections"], 1)
        with open(os.path.join(folder, "keys.d", "mine.key"), "w", encoding="ascii") as out:
            out.write("[key]\nowner=8589934592\nroles=submit;work\n")
        await operator.reload()
        with self.assertRaisesRegex(irisd_client.Disconnected, "does not let you in"):
            await client.submit("echo", "x")
        with self.assertRaisesRegex(irisd_client.Disconnected, "does not let you in"):
            await irisd_client.Client("%s?key=%s" % (irisd.tcp, mine)).open()
        os.chmod(mine, 0o644)
        with self.assertRaisesRegex(irisd_client.Disconnected, "others may read it"):
            await irisd_client.Client("%s?key=%s" % (irisd.tcp, mine)).open()

    async def test_pausing_keeps_the_service(self):
        irisd = self.irisd()
        client = await self.client(irisd)
        raw = await self.raw(irisd)
        enrolled = await raw.ready(["a"], 0)
        self.assertEqual(enrolled["count"], 1)
        item = client.start("a")
        await client.ping()
        self.assertTrue(raw.messages.empty())
        await raw.ready(["a"], 1)
        raw.say("DONE", await raw.receive("LEASE"))
        await item

    async def test_a_draining_irisd_ends_what_is_leased(self):
        irisd = self.irisd()
        client = await self.client(irisd)
        raw = await self.raw(irisd)
        first, second = client.start("a"), client.start("a")
        lease = await raw.receive("LEASE")
        await client.ping()  # both have been accepted
        irisd.process.terminate()
        self.assertEqual((await raw.receive("STOP")).header["error-name"], "shutting-down")
        raw.say("DONE", lease)
        raw.say("DONE", await raw.receive("LEASE"))
        await asyncio.gather(first, second)
        self.assertEqual(await asyncio.to_thread(irisd.process.wait, GIVE_UP), 0)

    async def test_a_second_signal_ends_at_once(self):
        irisd = self.irisd(stop_grace_ms=60000)  # what the client gets from it is not lost
        client = await self.client(irisd)
        raw = await self.raw(irisd)
        leased, waiting = client.start("a"), client.start("a")
        await raw.receive("LEASE")
        await client.ping()
        irisd.process.terminate()
        await raw.receive("STOP")
        irisd.process.terminate()
        for item in (leased, waiting):
            await self.refused("shutting-down", item)
        await asyncio.to_thread(irisd.process.wait, GIVE_UP)

    async def test_a_worker_finds_a_new_irisd(self):
        irisd = self.irisd(silence_ms=100, lease_attempts=1000)
        self.helper(irisd, ("shout", "shout"))
        irisd.stop()
        irisd.start()
        client = await self.client(irisd)

        async def there():
            return len(await client.workers()) == 1
        await until(there)
        self.assertEqual((await client.submit("shout", b"again")).body, b"AGAIN")

    async def test_handlers_of_all_kinds(self):
        irisd = self.irisd()
        client = await self.client(irisd)
        worker = irisd_client.Worker(irisd.endpoint, capacity=4)
        ready = threading.Event()
        worker.on_ready = ready.set

        @worker.service("later")
        async def later(job):
            """A coroutine."""
            job.report(0.5)
            await asyncio.sleep(0)
            return irisd_client.Reply("<p>", "text/html")

        @worker.service("bad")
        def bad(job):
            raise irisd_client.Failure("this is no picture", code=8) if job.payload else KeyError("x")

        worker.add("nothing", lambda job: None)
        worker.add("number", lambda job: 7)
        thread = threading.Thread(target=worker.run)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(worker.stop)
        await asyncio.to_thread(ready.wait)
        result = await client.submit("later", progress=lambda fraction, note: None)
        self.assertEqual((result.body, result.content_type), (b"<p>", "text/html"))
        self.assertEqual((await client.submit("nothing")).body, b"")
        self.assertIn("this is no picture", str(await self.refused("bad-argument", client.submit("bad", b"x"))))
        with self.assertLogs("irisd_client.worker", "ERROR"):
            self.assertIn("KeyError", str(await self.refused("service-failed", client.submit("bad"))))
            self.assertIn("not int", str(await self.refused("service-failed", client.submit("number"))))
        with self.assertRaises(ValueError):
            await irisd_client.Worker(irisd.endpoint).serve()

    async def test_a_client_with_too_much_unacknowledged_waits(self):
        irisd = self.irisd(in_flight_bytes=65536, max_body=65536, max_output=500)
        client = await self.client(irisd)
        worker = await self.raw(irisd, capacity=2)
        debtor = Raw()
        await debtor.connection.open(irisd.endpoint, "debtor")
        self.addCleanup(debtor.connection.close)
        for n in range(4):
            debtor.connection.send("SUBMIT", {"service": "a", "quiet": True}, str(n).encode())
        owed = []
        for lease in [await worker.receive("LEASE") for _ in range(2)]:
            worker.say("DONE", lease, bytes(60000))
            owed.append((await debtor.receive("RESULT")).id)
        third = await worker.receive("LEASE")  # leased when it owed for one result only
        item = client.start("a", b"of another")
        lease = await worker.receive("LEASE")
        self.assertEqual(lease.body, b"of another")  # no other client waits for it
        worker.say("DONE", lease)
        await item
        self.assertTrue(worker.messages.empty())
        self.assertEqual((await client.status())["in-flight"], 2)
        worker.say("DONE", third)
        await debtor.receive("RESULT")
        debtor.connection.send("ACK", {}, b"".join(reversed(owed)))
        worker.say("DONE", await worker.receive("LEASE"))
        await debtor.receive("RESULT")


class GuideTest(Case):
    async def test_the_page_about_workers_does_what_it_says(self):
        page = (HERE.parents[2] / "doc" / "guide" / "workers.md").read_text(encoding="utf-8")
        worker, client = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
        wanted = re.search(r"\n\nIt prints\n\n((?:    .*\n)+)", page).group(1).replace("    ", "")
        irisd = self.irisd()
        environment = dict(os.environ, PYTHONPATH=str(HERE.parent), IRIS_RUNTIME_DIR=irisd.dir)
        process = subprocess.Popen([sys.executable, "-c", worker], env=environment, stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        asker = await self.client(irisd)

        async def served():
            return len(await asker.workers()) == 1
        await until(served)
        done = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", client], env=environment,
                                       stdout=subprocess.PIPE, timeout=GIVE_UP, check=True)
        self.assertEqual(done.stdout.decode(), wanted)


class ExecutorTest(Case):
    def test_map_over_a_thousand_items(self):
        irisd = self.irisd()
        with irisd_client.Executor(2, endpoint=irisd.endpoint) as executor:
            self.assertEqual(list(executor.map(calls_for_test.square, range(1000))), [n * n for n in range(1000)])
            self.assertTrue(set(executor.map(calls_for_test.process_id, range(20))) - {os.getpid()})
            with self.assertRaises(LookupError) as caught:
                executor.submit(calls_for_test.explode, 3).result(GIVE_UP)
            self.assertIn("nothing at 3", str(caught.exception))
            self.assertIn("calls_for_test.py", str(caught.exception.__cause__))
            with self.assertRaises(Exception):
                executor.submit(lambda: 1)
            processes = list(executor._processes)
        self.assertEqual([process.returncode for process in processes], [0, 0])
        with self.assertRaises(RuntimeError):
            executor.submit(calls_for_test.square, 1)

    def test_a_call_survives_its_worker(self):
        irisd = self.irisd()
        with irisd_client.Executor(2, endpoint=irisd.endpoint) as executor:
            path = os.path.join(irisd.folder.name, "died")
            pid = executor.submit(calls_for_test.die_once, path).result(GIVE_UP)
            self.assertIn(pid, [process.pid for process in executor._processes])
            self.assertTrue(os.path.exists(path))


if __name__ == "__main__":
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # its remarks about a slow machine
    PROGRAM[:] = [sys.argv.pop(1)]
    unittest.main(verbosity=2)
