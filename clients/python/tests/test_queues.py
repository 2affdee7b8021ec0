#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Named queues of a private irisd: limit, order, priority, pause, and that no turn is ever lost.

    test_queues.py PATH-OF-irisd [NAME...]

Commands write to a log when they begin and before they end, so it never shows more of them at once than there were.
"""
import asyncio
import os
import signal
import sys
import tempfile
import unittest

from irisd_fixture import PROGRAM, Case, until

from irisd_client import Client, IrisdError

DURABLE = 2
RUN = 'echo "+$0" >> "$1"; echo "-$0" >> "$1"'
WAIT = 'echo "+$0" >> "$1"; while test ! -e "$2"; do sleep 0.01; done; echo "-$0" >> "$1"'
FAIL_ONCE = 'echo "+$0" >> "$1"; test -e "$2" || { touch "$2"; exit 1; }'


class QueueTest(Case):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.journal = os.path.join(self.folder.name, "journal")
        os.mkdir(self.journal, 0o700)
        self.log, self.gate = self.path("log"), self.path("gate")

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def start(self, **limits):
        return self.irisd("--journal=" + self.journal, **limits)

    async def connect(self, irisd):
        client = Client(irisd.endpoint)
        await client.open()
        self.addAsyncCleanup(client.close)
        return client

    async def detach(self, client, script, name, **header):
        """A durable command that nothing waits for. Returns its number."""
        header = {name.replace("_", "-"): value for name, value in header.items()}
        args = ["sh", "-c", script, str(name), self.log, self.gate]
        reply = await client._get().call("SUBMIT", {"service": "command", "class": DURABLE, "detach": True, "args": args, **header})
        return reply.header["item"]

    def open_gate(self):
        with open(self.gate, "w", encoding="ascii"):
            pass

    def read_log(self):
        if not os.path.exists(self.log):
            return []
        with open(self.log, encoding="ascii") as lines:
            return lines.read().split()

    def begun(self):
        return [line[1:] for line in self.read_log() if line[0] == "+"]

    def most_at_once(self):
        running = most = 0
        for line in self.read_log():
            running += 1 if line[0] == "+" else -1
            most = max(most, running)
        return most

    async def one(self, client, name="q"):
        return [queue for queue in await client.queues() if queue["name"] == name][0]

    async def until_counts(self, client, running, waiting, name="q"):
        async def holds():
            queue = await self.one(client, name)
            return (queue["running"], queue["waiting"]) == (running, waiting)
        await until(holds)

    async def until_begun(self, names):
        async def holds():
            return self.begun() == [str(name) for name in names]
        await until(holds)

    async def test_a_queue_of_one_keeps_the_order_over_all_places(self):
        client = await self.connect(self.start())
        self.assertEqual(await client.set_queue("q", limit=1), 1)
        self.assertEqual(await client.set_queue("q", limit=1), 0)
        for i in range(20):
            await self.detach(client, RUN, i, queue="q", hint=i % 2)
        await self.until_counts(client, 0, 0)
        self.assertEqual(self.begun(), [str(i) for i in range(20)])
        self.assertEqual(self.most_at_once(), 1)

    async def test_priority_goes_before_order_and_the_queue_has_one(self):
        client = await self.connect(self.start())
        await client.set_queue("q", limit=1, priority=3, suspended=True)
        for name, more in (("a", {}), ("b", {"priority": 2}), ("c", {"priority": 4}), ("d", {"priority": 3})):
            await self.detach(client, RUN, name, queue="q", **more)
        self.assertEqual(await self.one(client), {"name": "q", "limit": 1, "priority": 3, "suspended": True,
                                                  "running": 0, "waiting": 4})
        await client.set_queue("q", suspended=False)
        await self.until_counts(client, 0, 0)
        self.assertEqual(self.begun(), ["c", "a", "d", "b"])

    async def test_a_limit_holds_under_load_and_no_turn_is_lost(self):
        irisd = self.start()
        clients = [await self.connect(irisd) for _ in range(4)]
        await clients[0].set_queue("q", limit=3)

        async def load(client, n):
            items = [client.start("command", args=["sh", "-c", RUN, "%d/%d" % (n, i), self.log], queue="q", klass=i % 3,
                                  hint=(n + i) % 2) for i in range(15)]
            items[7].cancel()
            return await asyncio.gather(*items, return_exceptions=True)

        ends = sum(await asyncio.gather(*(load(client, n) for n, client in enumerate(clients))), [])
        failed = [end for end in ends if isinstance(end, Exception)]
        self.assertLessEqual(len(failed), 4)
        self.assertTrue(all(error.name == "cancelled" for error in failed), failed)
        await self.until_counts(clients[0], 0, 0)
        self.assertLessEqual(self.most_at_once(), 3)
        self.assertGreaterEqual(len(self.begun()), 56)
        await clients[0].remove_queue("q")
        self.assertEqual(await clients[0].queues(), [])

    async def test_a_paused_queue_begins_nothing_and_others_go_on(self):
        client = await self.connect(self.start())
        await client.set_queue("q", limit=2)
        await self.detach(client, WAIT, "first", queue="q")
        await self.until_begun(["first"])
        await client.set_queue("q", suspended=True)
        for i in range(3):
            await self.detach(client, RUN, i, queue="q")
        await self.until_counts(client, 1, 3)
        await client.submit("echo", b"no queue")
        self.open_gate()
        await self.until_counts(client, 0, 3)
        self.assertEqual(self.begun(), ["first"])
        await client.set_queue("q", suspended=False)
        await self.until_counts(client, 0, 0)

    async def test_a_greater_limit_lets_more_in_at_once(self):
        client = await self.connect(self.start())
        await client.set_queue("q", limit=1)
        for i in range(2):
            await self.detach(client, WAIT, i, queue="q")
        await self.until_begun([0])
        await self.until_counts(client, 1, 1)
        await client.set_queue("q", limit=2)
        await self.until_begun([0, 1])
        self.open_gate()
        await self.until_counts(client, 0, 0)

    async def test_queues_and_their_order_survive_a_kill(self):
        irisd = self.start()
        client = await self.connect(irisd)
        await client.set_queue("q", limit=1, priority=7)
        await client.set_queue("gone")
        await client.remove_queue("gone")
        for i in range(8):
            await self.detach(client, WAIT, i, queue="q", hint=i % 2)
        await self.until_begun([0])
        await client.close()
        irisd.stop(signal.SIGKILL)
        os.unlink(self.log)
        irisd.start()
        client = await self.connect(irisd)
        queues = await client.queues()
        self.assertEqual([(queue["name"], queue["limit"], queue["priority"]) for queue in queues], [("q", 1, 7)])
        await self.until_begun([0])
        await self.until_counts(client, 1, 7)
        self.open_gate()
        await self.until_counts(client, 0, 0)
        self.assertEqual(self.begun(), [str(i) for i in range(8)])
        self.assertEqual(self.most_at_once(), 1)

    async def test_spilled_items_wait_in_their_queue_and_delay_no_others(self):
        irisd = self.start(memory_items=64)
        client = await self.connect(irisd)
        await client.set_queue("q", limit=2, suspended=True)
        for i in range(300):
            await self.detach(client, RUN, i, queue="q", hint=0)
        await self.until_counts(client, 0, 300)
        await self.refused("bad-argument", client.remove_queue("q"))
        await self.detach(client, RUN, "free", hint=0)
        await self.until_begun(["free"])
        await client.close()
        irisd.stop()
        irisd.start()
        client = await self.connect(irisd)
        await self.until_counts(client, 0, 300)
        await client.set_queue("q", suspended=False)
        await self.until_counts(client, 0, 0)
        self.assertLessEqual(self.most_at_once(), 2)
        self.assertEqual(sorted(self.begun()), sorted(["free"] + [str(i) for i in range(300)]))
        await client.remove_queue("q")

    async def test_what_is_cancelled_delayed_or_tried_again_holds_no_turn(self):
        client = await self.connect(self.start())
        await client.set_queue("q", limit=1)
        await self.detach(client, FAIL_ONCE, "fails", queue="q", retries=3, backoff_ms=3600000)
        await self.detach(client, RUN, "delayed", queue="q", delay_ms=3600000)
        self.gate, marker = self.path("gate2"), self.gate
        await self.detach(client, WAIT, "holds", queue="q")
        waits = [await self.detach(client, RUN, i, queue="q") for i in range(3)]
        await self.until_begun(["fails", "holds"])
        self.assertTrue(os.path.exists(marker))
        await client.cancel_item(waits[1])
        await client.suspend(waits[2])
        self.open_gate()
        await self.until_begun(["fails", "holds", 0])
        await self.until_counts(client, 0, 3)
        await client.resume(waits[2])
        await self.until_begun(["fails", "holds", 0, 2])
        await client.kick(state="delayed")
        await self.until_counts(client, 0, 0)
        self.assertEqual(sorted(self.begun()), sorted(["fails", "holds", "0", "2", "fails", "delayed"]))

    async def test_a_buried_item_finds_its_queue_again(self):
        irisd = self.start()
        client = await self.connect(irisd)
        await client.set_queue("q", limit=1)
        item = await self.detach(client, FAIL_ONCE, "a", queue="q", bury=True)

        async def is_buried():
            return [found["item"] async for found in client.items(states=[8])] == [item]
        await until(is_buried)
        await self.until_counts(client, 0, 0)
        await client.remove_queue("q")
        await client.kick(item)
        await self.until_counts(client, 0, 1)
        self.assertTrue((await self.one(client))["suspended"])
        await client.close()
        irisd.stop(signal.SIGKILL)
        irisd.start()
        client = await self.connect(irisd)
        await self.until_counts(client, 0, 1)
        self.assertEqual((await self.one(client))["suspended"], True)
        await client.set_queue("q", suspended=False)
        await self.until_begun(["a", "a"])
        await self.until_counts(client, 0, 0)

    async def test_items_change_queues_and_are_listed_by_them(self):
        client = await self.connect(self.start())
        await client.set_queue("q", suspended=True)
        await client.set_queue("r", suspended=True)
        items = [await self.detach(client, RUN, i, queue="q") for i in range(3)]
        await client.edit(items[1], queue="r")
        self.assertEqual([item["item"] async for item in client.items(queue="q")], [items[0], items[2]])
        self.assertEqual([item["item"] async for item in client.items(queue="r")], [items[1]])
        self.assertEqual([(await self.one(client, name))["waiting"] for name in "qr"], [2, 1])
        await self.refused("bad-argument", client.edit(items[1], queue="s"))
        await client.edit(items[1], queue="")
        await self.until_begun([1])
        again = await client.again(items[0], queue="r")
        self.assertEqual((await self.one(client, "r"))["waiting"], 1)
        await client.cancel_item(again)
        await self.until_counts(client, 0, 0, "r")
        await client.remove_queue("r")

    async def test_a_queue_has_to_exist_and_there_are_not_too_many(self):
        client = await self.connect(self.start(max_queues=1))
        error = await self.refused("bad-argument", client.submit("echo", queue="nope"))
        self.assertIn("irisctl queue nope", str(error))
        with self.assertRaisesRegex(IrisdError, "there is no queue"):
            await client.set_schedule("s", "echo", every=3600, item={"queue": "nope"})
        with self.assertRaisesRegex(IrisdError, "there is no queue"):
            [item async for item in client.items(queue="nope")]
        await self.refused("no-such-item", client.remove_queue("nope"))
        await client.set_queue("one")
        with self.assertRaisesRegex(IrisdError, "max-queues"):
            await client.set_queue("two")
        await client.remove_queue("one")
        await client.set_queue("two")
        for name in ("", "x" * 65, "a\nb"):
            await self.refused("bad-argument", client.set_queue(name))

    async def test_irisd_ends_although_an_item_waits_in_a_paused_queue(self):
        irisd = self.irisd()
        client = await self.connect(irisd)
        await client.set_queue("q", suspended=True)
        item = client.start("echo", b"waits", queue="q", numbered=True)
        await self.until_counts(client, 0, 1)
        irisd.process.send_signal(signal.SIGTERM)
        error = await self.refused("shutting-down", item)
        self.assertIn("send it again", str(error))
        await client.close()
        self.assertEqual(irisd.process.wait(60), 0)


if __name__ == "__main__":
    PROGRAM[:] = [sys.argv.pop(1)]
    unittest.main()
