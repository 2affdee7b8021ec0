#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Schedules of a private irisd: what is due, what was missed, what overlaps, and what survives.

    test_schedules.py PATH-OF-irisd [NAME...]

Time is not waited for: an irisd that has ended leaves a journal, in which a schedule is made to look older.
"""
import datetime
import os
import signal
import sqlite3
import struct
import sys
import tempfile
import time
import unittest
import zlib
import zoneinfo

from irisd_fixture import PROGRAM, Case, until

from irisd_client import Client, IrisdError

KIND = 1  # a schedule's, in the table of records
MADE, HANDLED = 0, 1  # of the numbers of a state


def put(database, name, body):
    head = struct.pack("<3Q", KIND, len(name), len(body))
    database.execute("UPDATE records SET body = ?, crc = ? WHERE kind = ? AND name = ?",
                     (body, zlib.crc32(head + name + body), KIND, name))


def make_older(journal, seconds):
    """All schedules were made, and looked at last, so long ago. Of an irisd that has ended."""
    then = int((time.time() - seconds) * 1000)
    database = sqlite3.connect(os.path.join(journal, "items.sqlite"))
    with database:
        for name, body in database.execute("SELECT name, body FROM records WHERE kind = ?", (KIND,)).fetchall():
            if name.endswith(b"\0state"):
                numbers = list(struct.unpack("<8Q", body))[:7]  # the last came later: the exit code
                numbers[MADE] = numbers[HANDLED] = then
                put(database, name, struct.pack("<7Q", *numbers))
            else:
                put(database, name, struct.pack("<Q", then) + body[8:])
    database.close()
    return then


class ScheduleTest(Case):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.journal = os.path.join(self.folder.name, "journal")
        os.mkdir(self.journal, 0o700)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    async def client(self, irisd):
        client = Client(irisd.endpoint)
        await client.open()
        self.addAsyncCleanup(client.close)
        return client

    async def restart(self, irisd, client, seconds):
        await client.close()
        irisd.stop()
        then = make_older(self.journal, seconds)
        irisd.start()
        return await self.client(irisd), then

    async def one(self, client, name="s"):
        return (await client.schedules(name))[0]

    async def until_one(self, client, condition, name="s"):
        async def holds():
            return condition(await self.one(client, name))
        await until(holds)

    async def runs_of(self, client, name="s"):
        """The times at which its runs were due."""
        return sorted([int(item["key"].rsplit("/", 1)[1])
                       async for item in client.items(key_prefix="schedule/%s/" % name)])

    async def test_a_schedule_survives_and_its_runs_are_items(self):
        irisd = self.irisd("--journal=" + self.journal)
        client = await self.client(irisd)
        out = self.path("out")
        await client.set_schedule("s", "command", args=["sh", "-c", "echo run >> " + out], every=40)
        before = await self.one(client)
        self.assertEqual((before["runs"], before["last-ms"], before["item"], before["every-ms"]), (0, 0, 0, 40000))
        client, then = await self.restart(irisd, client, 50)
        await self.until_one(client, lambda one: one["runs"] == 1 and one["state"] != 0)
        self.assertTrue(os.path.exists(out))
        self.assertEqual(await self.runs_of(client), [then + 40000])
        after = await self.one(client)
        self.assertEqual((after["runs"], after["next-ms"], after["args"][0]), (1, then + 80000, "sh"))
        irisd.stop(signal.SIGKILL)
        irisd.start()
        client = await self.client(irisd)
        again = await self.one(client)
        self.assertEqual({**again, "state": 0}, {**after, "state": 0})

    async def test_missed_runs_are_made_up_for_once_or_left_out(self):
        irisd = self.irisd("--journal=" + self.journal)
        client = await self.client(irisd)
        for name in ("once", "skip"):
            await client.set_schedule(name, "echo", every=1000, missed=name)
        client, then = await self.restart(irisd, client, 5900)
        await self.until_one(client, lambda one: one["runs"] == 1, "once")
        self.assertEqual(await self.runs_of(client, "once"), [then + 1000000])
        self.assertEqual(await self.runs_of(client, "skip"), [])
        once, skip = [await self.one(client, name) for name in ("once", "skip")]
        self.assertEqual((once["runs"], once["skipped"], once["next-ms"]), (1, 0, then + 6000000))
        self.assertEqual((skip["runs"], skip["skipped"], skip["next-ms"]), (0, 1, then + 6000000))

    async def overlapping(self, overlap):
        """An irisd with a schedule whose runs wait for a file, and of which three are due."""
        irisd = self.irisd("--journal=" + self.journal)
        client = await self.client(irisd)
        await client.set_schedule("s", "command", args=["sh", "-c", "cat " + self.path("gate")], every=15, overlap=overlap)
        os.mkfifo(self.path("gate"))
        return await self.restart(irisd, client, 55)

    def open_gate(self):
        """Lets all runs that have begun end."""
        self.addCleanup(os.close, os.open(self.path("gate"), os.O_RDWR | os.O_NONBLOCK))

    async def let_go(self, client):
        async for item in client.items(key_prefix="schedule/s/"):
            try:
                await client.cancel_item(item["item"])
            except IrisdError:
                pass

    async def test_runs_that_overlap_are_left_out(self):
        client, then = await self.overlapping("skip")
        await self.until_one(client, lambda one: one["skipped"] >= 2)
        self.assertEqual(await self.runs_of(client), [then + 15000])
        await self.let_go(client)

    async def test_runs_that_overlap_run_side_by_side(self):
        client, then = await self.overlapping("allow")
        await self.until_one(client, lambda one: one["runs"] >= 3)
        self.assertEqual(await self.runs_of(client), [then + 15000, then + 30000, then + 45000])
        await self.let_go(client)

    async def test_a_run_that_overlaps_waits_for_the_end_of_the_last(self):
        client, then = await self.overlapping("wait")
        await self.until_one(client, lambda one: one["runs"] == 1 and one["next-ms"] == 0)
        first = await self.one(client)
        self.assertEqual((first["runs"], first["next-ms"]), (1, 0))
        await self.let_go(client)
        await self.until_one(client, lambda one: one["runs"] >= 2)
        second = await self.one(client)
        self.assertEqual(await self.runs_of(client), [then + 15000, then + 30000])
        self.assertEqual((second["skipped"], second["next-ms"] - then) , (0, 60000))
        await self.let_go(client)

    async def test_no_run_is_lost_and_none_comes_twice_when_irisd_is_killed(self):
        irisd = self.irisd("--journal=" + self.journal)
        client = await self.client(irisd)
        await client.set_schedule("s", "echo", every=1, overlap="allow")
        await client.close()
        irisd.stop()
        then = make_older(self.journal, 40)
        for wanted in (1, 9, 25):
            irisd.start()
            client = await self.client(irisd)
            await self.until_one(client, lambda one: one["runs"] >= wanted)
            irisd.stop(signal.SIGKILL)
        irisd.start()
        client = await self.client(irisd)
        await self.until_one(client, lambda one: one["runs"] >= 39)
        await client.set_schedule("s", suspended=True)
        runs = await self.runs_of(client)
        self.assertEqual(runs, [then + 1000 * (n + 1) for n in range(len(runs))])
        self.assertEqual((await self.one(client))["runs"], len(runs))

    async def test_a_schedule_is_removed_while_its_run_goes_on(self):
        irisd = self.irisd("--journal=" + self.journal)
        client = await self.client(irisd)
        gate = self.path("gate")
        os.mkfifo(gate)
        await client.set_schedule("s", "command", args=["cat", gate], every=3600)
        await client.run_schedule("s")
        await self.until_one(client, lambda one: one["item"] != 0)
        item = (await self.one(client))["item"]
        await client.remove_schedule("s")
        with open(gate, "wb") as out:
            out.write(b"to the end")
        self.assertEqual((await client._get().call("FETCH", {"item": item, "wait-ms": 60000})).body, b"to the end")
        self.assertEqual(await client.schedules(), [])
        with self.assertRaisesRegex(IrisdError, "no schedule"):
            await client.remove_schedule("s")
        await client.set_schedule("s", "echo", every=3600)
        self.assertEqual((await self.one(client))["runs"], 0)

    async def test_jitter_is_within_its_bounds_and_stays(self):
        irisd = self.irisd("--journal=" + self.journal)
        client = await self.client(irisd)
        for number in range(40):
            await client.set_schedule("s%02d" % number, "echo", calendar="0 3 1 1 *", zone="UTC", jitter=600)
        before = await client.schedules()
        year = datetime.datetime.now(datetime.timezone.utc).year + 1
        due = int(datetime.datetime(year, 1, 1, 3, tzinfo=datetime.timezone.utc).timestamp()) * 1000
        late = [schedule["next-ms"] - due for schedule in before]
        self.assertTrue(all(0 <= each <= 600000 for each in late), late)
        self.assertGreater(len(set(late)), 30)
        irisd.stop()
        irisd.start()
        self.assertEqual(await (await self.client(irisd)).schedules(), before)

    async def test_a_line_is_due_by_the_clock_of_its_zone(self):
        irisd = self.irisd("--journal=" + self.journal)
        client = await self.client(irisd)
        for zone in ("Europe/Berlin", "America/New_York", "Asia/Kathmandu"):
            for month in (1, 7):  # winter and summer
                await client.set_schedule("s", "echo", calendar="30 2 15 %d *" % month, zone=zone)
                due = datetime.datetime.fromtimestamp((await self.one(client))["next-ms"] / 1000, zoneinfo.ZoneInfo(zone))
                self.assertEqual((due.minute, due.hour, due.day, due.month), (30, 2, 15, month))
                self.assertGreater(due.timestamp(), time.time())

    async def test_a_change_keeps_what_it_does_not_name(self):
        irisd = self.irisd("--journal=" + self.journal)
        client = await self.client(irisd)
        await client.set_schedule("s", "echo", b"x", calendar="0 3 1 1 *", zone="UTC", jitter=60, missed="skip", overlap="wait")
        before = await self.one(client)
        await client.set_schedule("s", suspended=True)
        self.assertEqual(await self.one(client), {**before, "suspended": True, "next-ms": 0})
        await client.set_schedule("s", suspended=False)
        self.assertEqual(await self.one(client), before)
        await client.set_schedule("s", every=7200, overlap="allow")
        after = await self.one(client)
        self.assertEqual((after["calendar"], after["zone"], after["every-ms"], after["overlap"], after["missed"]),
                         ("", "", 7200000, 1, 1))

    async def test_what_makes_no_sense_is_refused_with_the_reason(self):
        irisd = self.irisd("--journal=" + self.journal, max_schedules=1)
        client = await self.client(irisd)
        wrong = [
            ({"calendar": "0 0 30 2 *"}, "never due"), ({"calendar": "0 3 * *"}, "5 fields"),
            ({"calendar": "61 * * * *"}, "minute"), ({"calendar": "0 3 * * *", "zone": "Mars/Base"}, "unknown"),
            ({"every": 0.5}, "every second at most"), ({"every": 5, "zone": "UTC"}, "leave out zone"),
            ({"every": 5, "calendar": "@daily"}, "not both"), ({"every": 5, "jitter": 1e6}, "at most a day"),
            ({"every": 5, "item": {"key": "k"}}, "leave out key"), ({"every": 5, "args": ["x" * 4000] * 17}, "65536"),
            ({}, "no schedule"),
        ]
        for settings, reason in wrong:
            with self.assertRaisesRegex(IrisdError, reason):
                await client.set_schedule("s", "command", **{"args": ["true"], **settings})
        for name in ("", "x" * 201, "a\nb"):
            with self.assertRaisesRegex(IrisdError, "1 to 200 bytes|control"):
                await client.set_schedule(name, "echo", every=5)
        with self.assertRaisesRegex(IrisdError, "no service"):
            await client.set_schedule("s", "nothing-here", every=5)
        await client.set_schedule("s", "echo", every=3600)
        with self.assertRaisesRegex(IrisdError, "max-schedules"):
            await client.set_schedule("t", "echo", every=3600)
        await client.set_schedule("s", "echo", every=7200)

    async def test_without_a_journal_there_are_no_schedules(self):
        client = await self.client(self.irisd())
        with self.assertRaisesRegex(IrisdError, "--journal"):
            await client.set_schedule("s", "echo", every=5)
        with self.assertRaisesRegex(IrisdError, "--journal"):
            await client.schedules()

    async def test_many_are_listed_page_by_page(self):
        irisd = self.irisd("--journal=" + self.journal)
        client = await self.client(irisd)
        names = ["s%04d" % number for number in range(1100)]
        for name in names:
            await client.set_schedule(name, "echo", calendar="0 3 1 1 *")
        self.assertEqual([schedule["name"] for schedule in await client.schedules()], names)


if __name__ == "__main__":
    PROGRAM[:] = [sys.argv.pop(1)]
    unittest.main()
