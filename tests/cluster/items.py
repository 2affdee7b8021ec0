# SPDX-License-Identifier: LGPL-2.1-or-later
"""Durable items over every fault, with a ledger by id: what irisd has accepted, how each ended, and how often each ran.

An item is a command that appends its id to a file, so that runs are counted where they happen. Its client is away from
irisd as often as it must be: it submits under the id as key until irisd has accepted it, and asks for the end until it
comes. It is written with irisd_client, but without what that repairs by itself.

A run beyond the first has to be explained, item by item: by a fault that fell between the item's submission and its told
end, at a node where it ran.
"""
import asyncio
import contextlib
import pathlib
import secrets
import sys
import threading
import time
from collections import Counter

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'clients/python'))
from irisd_client import Disconnected, IrisdError, wire  # noqa: E402
from irisd_client.backoff import Backoff  # noqa: E402
from irisd_client.client import FIRST_PAUSE, LAST_PAUSE  # noqa: E402
from irisd_client.connection import Connection  # noqa: E402

from processes import wait_until  # noqa: E402
from tap import demand, expect  # noqa: E402

DURABLE = 2
# Of a fault: whatever node.
ANY_NODE = None


class Faults:
    """When there was a fault, which nodes it hit, and how many more runs of one item it explains."""

    def __init__(self):
        self.all = []

    @contextlib.contextmanager
    def during(self, *nodes, runs=1):
        """A fault at these nodes, or at servers if none is named."""
        fault = self.add(time.monotonic(), float('inf'), {node.name for node in nodes} or ANY_NODE, runs)
        yield
        fault[1] = time.monotonic()

    def add(self, begin, end, nodes=ANY_NODE, runs=1):
        self.all.append([begin, end, nodes, runs])
        return self.all[-1]

    def longest(self):
        """Of one, in seconds; those that follow each other at once are one."""
        longest, begun, until = 0.0, 0.0, 0.0
        for begin, end, _, _ in sorted(self.all, key=lambda fault: fault[:2]):
            begun, until = (begin, end) if begin - until > 1 else (begun, max(until, end))
            longest = max(longest, until - begun)
        return longest

    def explained(self, begun, ended, ran_at):
        """How many more runs of an item that was under way for so long and ran at these nodes."""
        return sum(runs for begin, end, nodes, runs in self.all
                   if begin <= ended and end >= begun and (nodes is ANY_NODE or nodes & ran_at))


class Items(threading.Thread):
    """Items submitted to one node, their home. `header` is what each SUBMIT has beside: any-node, node, strict."""

    def __init__(self, home, prefix, /, count=None, window=16, script='', **header):
        super().__init__(daemon=True, name=prefix)
        self.home, self.prefix, self.count, self.window = home, prefix, count, window
        self.header = {name.replace('_', '-'): value for name, value in header.items()}
        self.script = script
        self.runs_file = home.nodes.folder.path / f'runs-{prefix}'
        self.runs_file.touch()
        self.accepted, self.ends = {}, {}
        self.begun, self.ended = {}, {}  # when each was submitted first, and its end was told
        self.nodes = Counter()  # where each ran, as its end tells
        self.busy = 0
        self.enough = threading.Event()
        self.error = None
        self.serial = 0
        self.connection = None

    # --- for the thread that tests ----------------------------------------------------------------

    def wait_for(self, ended, limit=120):
        wait_until(lambda: len(self.ends) >= ended or self.error or not self.is_alive(), f'{ended} items of {self.prefix} end', limit)
        self.check_error()
        return self

    def check_error(self):
        if self.error:
            raise AssertionError(f'{self.prefix}: {self.error!r}') from self.error

    def finish(self, limit=180):
        """Takes no new items, and returns when each that was accepted has ended."""
        self.enough.set()
        try:
            wait_until(lambda: not self.is_alive(), f'accepted items of {self.prefix} end', limit)
        except AssertionError as error:
            waiting = sorted(set(self.accepted) - set(self.ends))
            raise AssertionError(f'{error}: {len(waiting)} do not, such as '
                                 f'{[(ident, self.accepted[ident]) for ident in waiting[:3]]}') from error
        self.check_error()
        return self

    def runs(self):
        """Where each ran, as often as it did."""
        runs = {}
        for line in self.runs_file.read_text().splitlines():
            ident, node = line.split()
            runs.setdefault(ident, []).append(node)
        return runs

    def check(self, faults=None):
        """Nothing lost, each with one end that is its own, and no run beyond the first but those that faults explain."""
        runs = self.runs()
        expect(sorted(set(self.accepted) - set(self.ends)), [], 'accepted, and lost')
        expect({ident: end for ident, end in self.ends.items() if end != ident}, {}, 'ended otherwise')
        expect(sorted(set(self.ends) - set(runs)), [], 'ended, and never ran')
        again = {ident: where for ident, where in runs.items() if len(where) > 1}
        unexplained = {ident: where for ident, where in again.items() if len(where) - 1 > self.explained(ident, where, faults)}
        expect(unexplained, {}, 'runs too many, where nothing explains them')
        return f'{len(self.accepted)} accepted, 0 lost, {sum(map(len, again.values())) - len(again)} ran again, ' + ', '.join(
            f'{count} at {node}' for node, count in sorted(self.nodes.items()))

    def explained(self, ident, where, faults):
        if faults is None or ident not in self.begun:
            return 0
        return faults.explained(self.begun[ident], self.ended.get(ident, float('inf')), set(where))

    # --- the client -------------------------------------------------------------------------------

    def run(self):
        try:
            asyncio.run(self._all())
        except Exception as error:  # told by the thread that joins this one
            self.error = error

    async def _all(self):
        self.gate, self.backoff = asyncio.Lock(), Backoff()
        await asyncio.gather(*(self._some() for _ in range(self.window)))
        if self.connection:
            self.connection.close()

    async def _some(self):
        while not self.enough.is_set() and (self.count is None or self.serial < self.count):
            ident = f'{self.prefix}-{self.serial}'
            self.serial += 1
            await self._one(ident)

    async def _connect(self):
        """No message tells that irisd listens again, so this asks it, as often as Client does."""
        async with self.gate:
            again = FIRST_PAUSE
            while self.connection is None or not self.connection.is_open:
                connection = Connection(lambda message: None, lambda error: None, session=secrets.token_hex(wire.SESSION_SIZE // 2).encode())
                try:
                    await asyncio.wait_for(connection.open(self.home.endpoint, 'rig'), 5)
                    self.connection = connection
                except (Disconnected, IrisdError, asyncio.TimeoutError):
                    connection.close()
                    await asyncio.sleep(again)
                    again = min(2 * again, LAST_PAUSE)
            return self.connection

    async def _hold_back(self, error):
        """BUSY says from when on irisd wants to be asked again: nothing else could be waited for, and nothing goes before."""
        now = time.monotonic()
        self.busy += error.name == 'busy'
        self.backoff.refused(now, error.retry_after or FIRST_PAUSE)
        await asyncio.sleep(self.backoff.resume_at - now)

    async def _one(self, ident):
        args = ['sh', '-c', f'{self.script}echo {ident} $RIG_NODE >>{self.runs_file}; echo {ident}']
        submit = {'service': 'command', 'class': DURABLE, 'detach': True, 'key': ident, 'args': args, **self.header}
        while ident not in self.ends:
            connection = await self._connect()
            if ident not in self.accepted and self.enough.is_set():
                return
            fetched = None
            try:
                if ident not in self.accepted:
                    self.begun.setdefault(ident, time.monotonic())
                    self.accepted[ident] = (await connection.call('SUBMIT', submit)).header['item']
                    self.backoff = Backoff()
                fetched = (connection.last_id + 1).to_bytes(wire.ID_SIZE, 'big')
                answer = await connection.call('FETCH', {'item': self.accepted[ident], 'wait-ms': 10000})
                if answer.type != 'RESULT':
                    continue
                self.nodes[answer.header.get('node', self.home.name)] += 1
                self.ended[ident] = time.monotonic()
                self.ends[ident] = answer.body.decode().strip()
            except (Disconnected, asyncio.TimeoutError):
                connection.close()
                continue
            except IrisdError as error:
                if error.name in ('busy', 'shutting-down'):
                    await self._hold_back(error)
                    continue
                if fetched is None:
                    raise
                self.ends[ident] = f'{error.name}: {error}'
            if connection.is_open:
                connection.send('ACK', {'target': fetched, 'count': 1})
