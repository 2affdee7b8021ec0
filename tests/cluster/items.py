# SPDX-License-Identifier: LGPL-2.1-or-later
"""Durable items over every fault, with a ledger by id: what irisd has accepted, how each ended, and how often each ran.

An item is a command that appends its id to a file, so that runs are counted where they happen. Its client is away from
irisd as often as it must be: it submits under the id as key until irisd has accepted it, and asks for the end until it
comes. It is written with irisd_client, but without what that repairs by itself.
"""
import asyncio
import os
import pathlib
import secrets
import sys
import threading
import time
from collections import Counter

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'clients/python'))
from irisd_client import Disconnected, IrisdError, wire  # noqa: E402
from irisd_client.connection import Connection  # noqa: E402

from processes import wait_until  # noqa: E402
from tap import demand, expect  # noqa: E402

DURABLE = 2


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
        self.nodes = Counter()  # where each ran, as its end tells
        self.busy = 0
        self.enough = threading.Event()
        self.error = None
        self.serial = 0
        self.connection = None

    # --- for the thread that tests ----------------------------------------------------------------

    def wait_for(self, ended, patience=120):
        wait_until(lambda: len(self.ends) >= ended or self.error or not self.is_alive(), f'{ended} items of {self.prefix} end', patience)
        self.check_error()
        return self

    def check_error(self):
        if self.error:
            raise AssertionError(f'{self.prefix}: {self.error!r}') from self.error

    def finish(self, patience=180):
        """Takes no new items, and returns when each that was accepted has ended."""
        self.enough.set()
        self.join(patience)
        self.check_error()
        if self.is_alive():
            waiting = sorted(set(self.accepted) - set(self.ends))
            raise AssertionError(f'{self.prefix}: {len(waiting)} accepted items have no end within {patience} s, such as '
                                 f'{[(ident, self.accepted[ident]) for ident in waiting[:3]]}')
        return self

    def runs(self):
        return Counter(self.runs_file.read_text().split())

    def check(self, twice=0):
        """Nothing lost, each with one end that is its own, and at most so many runs beyond the first."""
        runs = self.runs()
        expect(sorted(set(self.accepted) - set(self.ends)), [], 'accepted, and lost')
        expect({ident: end for ident, end in self.ends.items() if end != ident}, {}, 'ended otherwise')
        expect(sorted(set(self.ends) - set(runs)), [], 'ended, and never ran')
        more = sum(count - 1 for count in runs.values())
        demand(more <= twice, f'{more} runs too many, of which {twice} are explained: {[one for one in runs.items() if one[1] > 1][:5]}')
        return f'{len(self.accepted)} accepted, 0 lost, {more} ran again, ' + ', '.join(
            f'{count} at {node}' for node, count in sorted(self.nodes.items()))

    # --- the client -------------------------------------------------------------------------------

    def run(self):
        try:
            asyncio.run(self._all())
        except Exception as error:  # told by the thread that joins this one
            self.error = error

    async def _all(self):
        self.gate = asyncio.Lock()
        await asyncio.gather(*(self._some() for _ in range(self.window)))
        if self.connection:
            self.connection.close()

    async def _some(self):
        while not self.enough.is_set() and (self.count is None or self.serial < self.count):
            ident = f'{self.prefix}-{self.serial}'
            self.serial += 1
            await self._one(ident)

    async def _connect(self):
        async with self.gate:
            while self.connection is None or not self.connection.is_open:
                connection = Connection(lambda message: None, lambda error: None, session=secrets.token_hex(wire.SESSION_SIZE // 2).encode())
                try:
                    await asyncio.wait_for(connection.open(self.home.endpoint, 'rig'), 5)
                    self.connection = connection
                except (Disconnected, IrisdError, asyncio.TimeoutError):
                    connection.close()
                    await asyncio.sleep(0.05)
            return self.connection

    async def _one(self, ident):
        args = ['sh', '-c', f'{self.script}echo {ident} >>{self.runs_file}; echo {ident}']
        submit = {'service': 'command', 'class': DURABLE, 'detach': True, 'key': ident, 'args': args, **self.header}
        while ident not in self.ends:
            connection = await self._connect()
            if ident not in self.accepted and self.enough.is_set():
                return
            fetched = None
            try:
                if ident not in self.accepted:
                    self.accepted[ident] = (await connection.call('SUBMIT', submit)).header['item']
                fetched = (connection.last_id + 1).to_bytes(wire.ID_SIZE, 'big')
                answer = await connection.call('FETCH', {'item': self.accepted[ident], 'wait-ms': 10000})
                if answer.type != 'RESULT':
                    continue
                self.nodes[answer.header.get('node', self.home.name)] += 1
                self.ends[ident] = answer.body.decode().strip()
            except (Disconnected, asyncio.TimeoutError):
                connection.close()
                continue
            except IrisdError as error:
                if error.name in ('busy', 'shutting-down'):
                    self.busy += error.name == 'busy'
                    await asyncio.sleep(error.retry_after or 0.1)
                    continue
                if fetched is None:
                    raise
                self.ends[ident] = f'{error.name}: {error}'
            if connection.is_open:
                connection.send('ACK', {'target': fetched, 'count': 1})
