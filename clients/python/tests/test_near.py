#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Python package with a private irisd: hints by the past, parts of results, an irisd full of clients.

    test_near.py PATH-OF-irisd [NAME...]
"""
import asyncio
import logging
import os
import sys
import unittest

from irisd_fixture import PROGRAM, Case

import calls_for_test
import irisd_client


class NearTest(Case):
    async def test_items_run_near_places_items_and_paths(self):
        client = await self.client(self.irisd())
        names = [place["name"] for place in await client.places()]
        for place in (1, 0):
            first = await client.submit("echo", hint=names[place], strict=True, numbered=True)
            self.assertEqual((first.place, first.home), (place, place))
            near = await client.submit("echo", near_item=first.item, strict=True)
            self.assertEqual((near.place, near.item), (place, None))
        path = os.path.abspath(__file__)
        first = await client.submit("sha256", path=path)
        near = await client.submit("echo", near_path=path, strict=True)
        self.assertEqual(near.place, first.place)
        self.assertIn(names[1], str(await self.refused("no-such-place", client.submit("echo", hint="l9:9"))))
        await self.refused("not-remembered", client.submit("echo", near_path="/never", strict=True))

    async def test_items_are_kept_apart_by_their_footprints(self):
        client = await self.client(self.irisd())
        for _ in range(4):
            first = client.start("command", args=("sleep", "60"), hint=0, strict=True, footprint=8 << 30)
            kept = await client.submit("command", args=("true",), footprint=1 << 20, keep_apart=True)
            self.assertEqual(kept.place, 1)
            first.cancel()
            with self.assertRaises(irisd_client.IrisdError):
                await first
        with self.assertRaisesRegex(ValueError, "add footprint"):
            client.start("echo", keep_apart=True)
        with self.assertRaises(irisd_client.IrisdError):
            client.start("echo", footprint=-1)


    async def test_an_irisd_alone_knows_no_nodes(self):
        client = await self.client(self.irisd())
        await self.refused("no-cluster", client.submit("echo", node="b"))
        await self.refused("no-cluster", client.submit("echo", any_node=True))
        self.assertIsNone((await client.submit("echo")).node)


class PartsTest(Case):
    async def test_parts_come_in_order_and_before_the_end(self):
        irisd = self.irisd()
        client = await self.client(irisd)
        self.helper(irisd, ("in_parts", "in_parts"), ("in_large_parts", "in_large_parts"))
        parts = []
        asyncio.get_running_loop().set_debug(False)  # it takes a traceback for each part
        result = await client.submit("in_parts", b"20000", part=lambda data, attempt: parts.append((data, attempt)))
        numbers = [line for line in b"".join(data for data, _ in parts).split() if line[:1] != b"."]
        self.assertEqual(numbers, [b"%d" % number for number in range(20000)])
        self.assertEqual({attempt for _, attempt in parts}, {1})
        self.assertEqual(result.body, b"20000")
        parts.clear()
        result = await client.submit("in_large_parts", part=lambda data, attempt: parts.append(data))
        self.assertEqual((b"".join(parts), result.body), (b"x" * (1 << 20) + b"y", b"done"))
        # A client may ignore them.
        self.assertEqual((await client.submit("in_parts", b"100")).body, b"100")

    async def test_parts_go_as_far_as_the_client_grants(self):
        irisd = self.irisd()
        raw = await self.raw(irisd, capacity=2)
        client = await self.client(irisd)
        parts = []
        item = client.start("a", part=lambda data, attempt: parts.append((data, attempt)))
        lease = await raw.receive("LEASE")
        window = lease.header["parts"]
        raw.connection.send("REPORT", {}, b"x" * (window - 1), lease.id)
        raw.connection.send("REPORT", {}, b"yz", lease.id)
        self.assertEqual((await raw.receive("ERROR")).header["error-name"], "too-large")
        granted = await raw.receive("PART")
        self.assertEqual((granted.id, granted.header["parts"]), (lease.id, window - 1))
        raw.connection.send("REPORT", {}, b"yz", lease.id)
        # Another worker begins anew.
        raw.connection.send("FAIL", {"message": "again", "again": True}, b"", lease.id)
        lease = await raw.receive("LEASE")
        self.assertEqual(lease.header["parts"], window - 2)
        raw.connection.send("REPORT", {"fraction": 1}, b"new", lease.id)
        raw.connection.send("DONE", {}, b"", lease.id)
        await item
        self.assertEqual([(len(data), attempt) for data, attempt in parts], [(window - 1, 1), (2, 1), (3, 2)])
        # This request asks for no parts.
        item = client.start("a")
        lease = await raw.receive("LEASE")
        self.assertNotIn("parts", lease.header)
        raw.connection.send("REPORT", {}, b"unasked", lease.id)
        raw.connection.send("DONE", {}, b"end", lease.id)
        self.assertEqual((await item).body, b"end")


class BusyTest(Case):
    async def test_hello_is_sent_again_to_a_busy_irisd(self):
        irisd = self.irisd(max_peers=1)
        first = await self.client(irisd)
        hasty = irisd_client.Client(irisd.endpoint, busy_timeout=0)
        error = await self.refused("busy", hasty.open())
        self.assertGreater(error.retry_after, 0)
        second = irisd_client.Client(irisd.endpoint)
        opening = asyncio.ensure_future(second.open())
        self.addAsyncCleanup(second.close)
        await first.ping()
        await first.close()
        await opening
        self.assertEqual((await second.submit("echo", b"x")).body, b"x")

    async def test_a_worker_waits_for_a_busy_irisd(self):
        irisd = self.irisd(max_peers=1)
        first = await self.client(irisd)
        worker = irisd_client.Worker(irisd.endpoint, capacity=1)
        worker.add("shout", calls_for_test.shout)
        serving = asyncio.ensure_future(worker.serve())
        await first.ping()
        self.assertFalse(serving.done())
        ready = asyncio.Event()
        worker.on_ready = ready.set
        await first.close()
        await ready.wait()
        worker.stop()
        await serving


if __name__ == "__main__":
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # its remarks about a slow machine
    PROGRAM[:] = [sys.argv.pop(1)]
    unittest.main(verbosity=2)
