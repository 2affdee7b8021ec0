#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""When and where items run that depend on other nodes: after an item there, and near it.

    test_where.py IRISD IRISCTL
"""
import subprocess
import sys
import threading

from nodes import Nodes
from processes import Folder, end_on_signals, patience, wait_until
from servers import Servers
from tap import demand, expect, run
from test_asks import ASK
from test_bridge import LEASE_MS, LOST_ATTEMPTS, IrisdError, call, fetch, submit


class World:
    def __init__(self, folder, count=2):
        self.folder, self.servers = folder, Servers(folder)
        self.nodes = Nodes(folder, sys.argv[1], sys.argv[2], self.servers, count, **{'lease-ms': LEASE_MS, 'lost-attempts': LOST_ATTEMPTS}).start()
        self.first, self.other = self.nodes[0], self.nodes[1]
        self.gate = folder.path / 'gate'

    def submit_waiting(self, at, **header):
        """A durable item that runs until the gate is there, once it has begun."""
        begun = self.folder.path / f'begun-{threading.get_ident()}-{len(list(self.folder.path.iterdir()))}'
        number = submit(at, ['sh', '-c', f'touch {begun}; while ! test -e {self.gate}; do sleep 0.02; done; echo done'], keep_ms=600000, **header)
        wait_until(begun.exists, 'the item runs')
        return number


class Shell:
    """irisctl that waits for its item; what it prints is read meanwhile."""

    def __init__(self, node, *arguments):
        self.text, self.node = '', node
        self.child = subprocess.Popen([node.nodes.irisctl, '--dir', str(node.dir), '-v', *map(str, arguments)], env=node.env,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.child.stdout:
            self.text += line

    def end(self, status=0):
        wait_until(lambda: not self.reader.is_alive(), f'irisctl ends: {self.text}')
        expect(self.child.wait(patience()), status, self.text)
        return self.text

    @property
    def waits(self):
        return self.child.poll() is None


def an_item_runs_after_one_of_another_node():
    with Folder() as folder:
        world = World(folder)
        number = world.submit_waiting(world.other)
        with world.servers.connect() as nats:
            heard = nats.subscribe(ASK)
            # Two of one owner ask once; the one for n2 and the local one wait alike.
            waiting = [Shell(world.first, 'run', '--after', f'n2/{number}', '--after-how', how, *where, '--', 'echo', 'after')
                       for how, where in (('all', []), ('all', ['--node', 'n2']), ('success', []))]
            for _ in range(6):
                nats.next(heard, patience())
        demand(all(one.waits for one in waiting), 'an item did not wait')
        world.gate.touch()
        for one in waiting:
            demand('after\n' in one.end(), one.text)
        # An own item may be named so, too, and one that has ended is not waited for.
        own = submit(world.first, ['true'], keep_ms=600000)
        demand('after\n' in Shell(world.first, 'run', '--after', f'n1/{own}', '--after', f'n2/{number}', '--', 'echo', 'after').end(), 'n1')


def what_ends_otherwise_there_counts():
    with Folder() as folder:
        world = World(folder)
        failed = submit(world.other, ['sh', '-c', 'exit 7'], keep_ms=600000)
        none = submit(world.other, ['/no/such/program'], keep_ms=600000)
        for number in (failed, none):
            fetch(world.other, number)
            text = Shell(world.first, 'run', '--after', f'n2/{number}', '--after-how', 'success', '--', 'echo', 'ran').end(1)
            demand(f'n2/{number} failed' in text and 'ran\n' not in text, text)
            demand('ran\n' in Shell(world.first, 'run', '--after', f'n2/{number}', '--', 'echo', 'ran').end(), 'after-how all')
        text = Shell(world.first, 'run', '--after', 'n2/4711', '--', 'echo', 'ran').end(1)
        demand('n2/4711' in text and 'no persistent item' in text, text)


def what_cannot_be_waited_for_is_refused():
    with Folder() as folder:
        world = World(folder)

        def refused(**header):
            header = {name.replace('_', '-'): value for name, value in header.items()}
            answer = call(world.first, ('SUBMIT', {'service': 'echo', **header}, b''))[0]
            return answer.name if isinstance(answer, IrisdError) else answer
        expect(refused(after_away=['n9/1']), 'no-such-node')
        for text in ('n2', 'n2/', '/1', 'n2/0', 'n2/x', '7'):
            expect(refused(after_away=[text]), 'bad-argument', text)
        expect(refused(after_away=['n1/4711']), 'unknown-dependency')
        # Its dependency may be forgotten when irisd is started anew.
        expect(refused(**{'class': 2}, after_away=['n2/1']), 'bad-argument')
        expect(refused(after_how=3), 'bad-argument')
        world.first.cluster.clear()
        world.first.write_config()
        world.first.restart()
        expect(refused(after_away=['n2/1']), 'no-cluster')


def a_node_that_is_gone_is_waited_for():
    with Folder() as folder:
        world = World(folder)
        number = world.submit_waiting(world.other)
        waiting = Shell(world.first, 'run', '--after', f'n2/{number}', '--', 'echo', 'after')
        wait_until(lambda: 'accepted' in waiting.text, 'the item is accepted')
        world.other.kill()
        wait_until(lambda: f'n2/{number}' in waiting.text and 'cannot be asked' in waiting.text, 'the client is told why')
        demand('waits for item n2' in world.first.process.text(), 'irisd does not log why')
        demand(waiting.waits, waiting.text)
        world.gate.touch()
        world.other.start()
        demand('after\n' in waiting.end(), waiting.text)


def an_item_that_waits_for_another_node_can_be_cancelled():
    with Folder() as folder:
        world = World(folder)
        number = world.submit_waiting(world.other)
        ran = folder.path / 'ran'
        waiting = Shell(world.first, 'run', '--after', f'n2/{number}', '--', 'touch', str(ran))
        wait_until(lambda: 'accepted' in waiting.text, 'the item is accepted')
        waiting.child.terminate()
        waiting.child.wait(patience())
        wait_until(lambda: 'was cancelled' in world.first.process.text(), 'irisd has cancelled it')
        # irisd does not wait for another node when it ends.
        ending = Shell(world.first, 'run', '--after', f'n2/{number}', '--', 'touch', str(ran))
        wait_until(lambda: 'accepted' in ending.text, 'the item is accepted')
        expect(world.first.process.terminate(), 0, 'the end of irisd')
        ending.child.kill()
        world.first.start()
        world.gate.touch()
        expect(fetch(world.other, number).body, b'done\n')
        demand(not ran.exists(), 'a cancelled item ran')


def an_away_item_is_an_item_of_its_home():
    with Folder() as folder:
        world = World(folder)
        away = world.submit_waiting(world.first, node='n2', strict=True)
        order = folder.path / 'order'
        waiting = [Shell(world.first, 'run', '--after', away, *where, '--', 'sh', '-c', f'echo {name} >>{order}')
                   for name, where in (('local', []), ('away', ['--node', 'n2', '--strict']))]
        for one in waiting:
            wait_until(lambda: 'accepted' in one.text, 'the item is accepted')
        demand(not order.exists(), 'an item did not wait')
        world.gate.touch()
        for one in waiting:
            one.end()
        expect(sorted(order.read_text().split()), ['away', 'local'])
        # An away item that waits for a local one is not in the cluster before.
        world.gate.unlink()
        local = world.submit_waiting(world.first)
        later = Shell(world.first, 'run', '--after', local, '--node', 'n2', '--strict', '--', 'echo', 'later')
        wait_until(lambda: 'accepted' in later.text, 'the item is accepted')
        expect(world.nodes.messages('IRIS'), 0, 'items in the cluster')
        world.gate.touch()
        demand('later\n' in later.end(), later.text)


def an_item_runs_near_one_that_ran_at_another_node():
    with Folder() as folder:
        world = World(folder)
        first = world.first

        def where(**header):
            """The node that an item at n1 runs on, and its number."""
            number = submit(first, ['true'], keep_ms=600000, **header)
            answer = fetch(first, number)
            demand(not isinstance(answer, IrisdError), answer)
            return answer.header.get('node', 'n1'), number

        def is_near(what, **header):
            # An idle node may take a soft one that waits while its node stands still; unknown ones stay at n1 always.
            wait_until(lambda: where(**header)[0] == 'n2', what)
        there = where(node='n2', strict=True)[1]
        is_near('the path is known', node='n2', near_path='/data/a')
        here = where(near_path='/data/b')[1]
        is_near('near an item that ran there', near_item=there)
        is_near('near a path that was worked on there', near_path='/data/a')
        expect(where(near_item=there, strict=True)[0], 'n2', 'strictly')
        expect(where(near_path='/data/a', strict=True)[0], 'n2', 'strictly')
        is_near('before any node', near_item=there, any_node=True)
        expect(where(near_item=here, any_node=True)[0], 'n1', 'near an item that ran here')
        expect(where(near_path='/data/b', any_node=True)[0], 'n1', 'near a path that was worked on here')
        # An item that waits or runs there counts, too, and so does one that the cluster has put there.
        running = world.submit_waiting(first, node='n2', strict=True)
        is_near('near an item that runs there', near_item=running)
        world.gate.touch()
        spread = [where(any_node=True) for _ in range(10)]
        for node, number in spread:
            if node == 'n2':
                expect(where(near_item=number, strict=True)[0], 'n2', 'near an item that the cluster put there')
        # What is not known has no effect, unless it is strict.
        expect(where(near_path='/data/c')[0], 'n1', 'a path that is not known')
        where(near_path='/data/c2', any_node=True)
        refusal = call(first, ('SUBMIT', {'service': 'echo', 'near-path': b'/data/d', 'strict': True}, b''))[0]
        expect(getattr(refusal, 'name', refusal), 'not-remembered')
        # A node that was removed is not known any more.
        world.other.kill()
        wait_until(lambda: 'n2' not in world.nodes.known_to(first), 'n2 is gone')
        first.irisctl('node', 'remove', 'n2')
        wait_until(lambda: where(near_item=there)[0] == 'n1', 'what was there is not known')


CASES = (an_item_runs_after_one_of_another_node, what_ends_otherwise_there_counts, what_cannot_be_waited_for_is_refused,
         a_node_that_is_gone_is_waited_for, an_item_that_waits_for_another_node_can_be_cancelled, an_away_item_is_an_item_of_its_home,
         an_item_runs_near_one_that_ran_at_another_node)

if __name__ == '__main__':
    end_on_signals()
    sys.exit(run(CASES))
