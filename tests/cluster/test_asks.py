#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Requests about items of another node: they reach what their user owns there, and none waits for a node that is gone.

    test_asks.py IRISD IRISCTL
"""
import hashlib
import hmac
import json
import os
import pathlib
import secrets
import subprocess
import sys
import threading

from nats import Silence
from nodes import Nodes
from processes import Folder, end_on_signals, patience, wait_until
from servers import Servers
from tap import Skipped, demand, expect, run
from test_bridge import LEASE_MS, IrisdError, call, submit

OWNER, STRANGER = 65533, 65532
# Longer than any test waits: a request that ends before has not waited for its time.
FOR_EVER_MS = 3600000
ASK = 'iris.n.n2.ask'
SIGNATURE = 32
CREDIT = 4


class World:
    def __init__(self, folder, **more):
        self.folder, self.servers = folder, Servers(folder)
        self.nodes = Nodes(folder, sys.argv[1], sys.argv[2], self.servers, 2, **{'lease-ms': LEASE_MS}, **more).start()
        self.first, self.other = self.nodes[0], self.nodes[1]
        self.gate = folder.path / 'gate'

    def submit_waiting(self):
        """An item at n2 that runs until the gate is there."""
        begun = self.folder.path / secrets.token_hex(4)
        number = submit(self.other, ['sh', '-c', f'touch {begun}; while ! test -e {self.gate}; do sleep 0.02; done; echo done'])
        wait_until(begun.exists, 'the item runs')
        return number


def ask(node, kind, node_asked='n2', **header):
    header = {name.replace('_', '-'): value for name, value in header.items()}
    return call(node, (kind, {'node': node_asked, **header}, b''))[0]


def name_of(answer):
    return answer.name if isinstance(answer, IrisdError) else answer.type


def as_user(uid, node, *arguments):
    """irisctl of another user: its exit status, and what it prints."""
    done = subprocess.run([pathlib.Path(node.nodes.irisctl).resolve(), '--dir', str(node.dir), *map(str, arguments)], env=node.env, user=uid, group=uid,
                          extra_groups=[], cwd='/', stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=patience())
    return done.returncode, done.stdout


def open_to_all(folder):
    """Users are a matter of root alone, and have to reach the sockets and irisctl."""
    if os.getuid() != 0:
        raise Skipped('only root can be other users')
    folder.path.chmod(0o755)
    for node in ('n1', 'n2'):
        (folder.path / node).mkdir(exist_ok=True)
        (folder.path / node).chmod(0o755)


def a_user_reaches_items_at_another_node():
    with Folder() as folder:
        world = World(folder, limits={'in-flight-items': CREDIT})
        first = world.first
        number = submit(world.other, ['echo', 'there'], keep_ms=600000)
        # What is told is acknowledged, or the bridge at n2 would have no credit left; and nothing is deleted by that.
        for _ in range(3 * CREDIT):
            expect(first.irisctl('result', number, '--node', 'n2'), 'there\n')
        expect(world.other.irisctl('result', number), 'there\n', 'at n2')
        waiting = world.submit_waiting()
        demand(waiting in [item['item'] for item in first.json('list', '--node', 'n2')], 'list')
        demand('running' in first.irisctl('show', waiting, '--node', 'n2'), 'show')
        first.irisctl('cancel', waiting, '--node', 'n2')
        expect(name_of(call(world.other, ('FETCH', {'item': waiting, 'wait-ms': 50000}, b''))[0]), 'cancelled')
        expect(name_of(ask(first, 'SHOW', item=4711)), 'no-such-item')
        again = ask(first, 'AGAIN', item=waiting)
        demand(not isinstance(again, IrisdError), again)
        expect(name_of(ask(first, 'CANCEL', item=again.header['item'])), 'CANCELLING')


def another_user_does_not():
    with Folder() as folder:
        open_to_all(folder)
        world = World(folder, access={'users': f'{OWNER};{STRANGER}', 'commands': OWNER})
        status, text = as_user(OWNER, world.other, 'submit', '--detach', '--keep', 600, 'echo', 'mine')
        expect(status, 0, text)
        number = int(''.join(c for c in text if c.isdigit()))
        for command in ('show', 'result', 'cancel', 'bury', 'pause', 'resume'):
            status, text = as_user(STRANGER, world.first, command, number, '--node', 'n2')
            demand(status != 0 and 'there is no persistent item' in text, f'{command}: {status}, {text}')
        expect(json.loads(as_user(STRANGER, world.first, 'list', '--node', 'n2', '--json')[1]), [])
        expect(len(json.loads(as_user(OWNER, world.first, 'list', '--node', 'n2', '--json')[1])), 1)
        status, text = as_user(OWNER, world.first, 'show', number, '--node', 'n2')
        demand(status == 0 and 'echo' in text, text)
        expect(as_user(OWNER, world.first, 'result', number, '--node', 'n2'), (0, 'mine'))


class Background(threading.Thread):
    """A request whose answer is looked at later."""

    def __init__(self, *arguments, **header):
        super().__init__(daemon=True)
        self.arguments, self.header, self.answer = arguments, header, None
        self.start()

    def run(self):
        self.answer = ask(*self.arguments, **self.header)

    def end(self):
        wait_until(lambda: self.answer is not None, f'{self.arguments[1]} {self.header} is answered')
        return self.answer


def a_client_waits_for_the_end_of_an_item_there():
    with Folder() as folder:
        world = World(folder)
        number = world.submit_waiting()
        with world.servers.connect() as nats:
            heard = nats.subscribe(ASK)
            waiting = [Background(world.first, kind, item=number, wait_ms=FOR_EVER_MS) for kind in ('FETCH', 'SHOW')]
            for _ in range(6):
                nats.next(heard, patience())
        demand(all(one.is_alive() for one in waiting), 'the requests wait no longer than one message')
        world.gate.touch()
        expect(waiting[0].end().body, b'done\n')
        expect(name_of(waiting[1].end()), 'SHOW_REPLY')
        unended = world.submit_waiting() if world.gate.unlink() is None else None
        expect(name_of(ask(world.first, 'FETCH', item=unended, wait_ms=10)), 'PENDING')
        expect(name_of(ask(world.first, 'FETCH', item=unended)), 'PENDING')


def a_node_that_dies_is_not_waited_for():
    with Folder() as folder:
        world = World(folder)
        number = world.submit_waiting()
        with world.servers.connect() as nats:
            heard = nats.subscribe(ASK)
            waiting = Background(world.first, 'FETCH', item=number, wait_ms=FOR_EVER_MS)
            nats.next(heard, patience())
        world.other.kill()
        expect(name_of(waiting.end()), 'node-away')
        expect(name_of(ask(world.first, 'SHOW', item=number)), 'node-away')
        demand('cannot be asked' in world.first.irisctl('list', '--node', 'n2', status=None), 'irisctl does not say why')
        expect(name_of(ask(world.first, 'SHOW', 'n9', item=number)), 'no-such-node')
        world.other.start()
        wait_until(lambda: name_of(ask(world.first, 'SHOW', item=number)) == 'SHOW_REPLY', 'n2 answers again')


def a_node_that_hangs_is_not_waited_for():
    with Folder() as folder:
        world = World(folder)
        number = world.submit_waiting()
        world.other.process.stop()
        expect(name_of(ask(world.first, 'CANCEL', item=number)), 'node-away')
        expect(name_of(ask(world.first, 'FETCH', item=number, wait_ms=FOR_EVER_MS)), 'node-away')
        world.other.process.go_on()
        wait_until(lambda: not isinstance(ask(world.first, 'LIST'), IrisdError), 'n2 answers again')


def without_servers_there_is_an_error():
    with Folder() as folder:
        world = World(folder)
        number = world.submit_waiting()
        for server in world.servers:
            server.process.kill()
        expect(name_of(ask(world.first, 'SHOW', item=number)), 'node-away')
        expect(name_of(ask(world.first, 'FETCH', item=number, wait_ms=FOR_EVER_MS)), 'node-away')


def a_node_with_another_secret_is_told_apart():
    with Folder() as folder:
        world = World(folder)
        number = world.submit_waiting()
        other = folder.path / 'other-secret'
        other.write_text(secrets.token_hex(32) + '\n')
        other.chmod(0o600)
        world.other.kill()
        world.other.cluster['secret-file'] = other
        world.other.write_config()
        world.other.start()
        wait_until(lambda: 'secret' in str(ask(world.first, 'CANCEL', item=number)), 'the secrets are told to differ')
        expect(name_of(ask(world.first, 'CANCEL', item=number)), 'node-away')
        shown = call(world.other, ('SHOW', {'item': number}, b''))[0]
        demand(not isinstance(shown, IrisdError), shown)
        demand(name_of(call(world.other, ('FETCH', {'item': number}, b''))[0]) == 'PENDING', 'the item was cancelled')


def what_was_recorded_changes_nothing_again():
    with Folder() as folder:
        world = World(folder)
        number = world.submit_waiting()

        def count():
            return len(call(world.other, ('LIST', {}, b''))[0].body)
        with world.servers.connect() as nats:
            heard = nats.subscribe(ASK)
            demand(not isinstance(ask(world.first, 'AGAIN', item=number), IrisdError), 'AGAIN')
            recorded = nats.next(heard, patience()).data
            before = count()
            # The same once more; with another time, but the old signature; and with another secret's.
            later = recorded[:32] + bytes(8) + recorded[40:]
            forged = later[:-SIGNATURE] + hmac.new(b'x' * 32, later[:-SIGNATURE], hashlib.sha256).digest()
            try:
                demand(not nats.request(ASK, recorded, timeout=1).data, 'a recorded request was answered')
            except Silence:
                pass
            for letter in (later, forged, recorded[:-1], recorded[:59], b'', b'x'):
                demand(nats.request(ASK, letter, timeout=patience()).data[:4] == b'IRSC', 'a request that is not believed is answered so')
            # Signed well, but made long ago, and then before this irisd has begun.
            old = later[:-SIGNATURE]
            secret = world.nodes.secret.read_bytes().strip()
            answer = nats.request(ASK, old + hmac.new(secret, old, hashlib.sha256).digest(), timeout=patience()).data
            demand(b'clock' in answer, answer)
            expect(count(), before, 'items at n2')
            world.other.restart()
            wait_until(lambda: not isinstance(ask(world.first, 'LIST'), IrisdError), 'n2 answers again')
            before = count()
            demand(b'just begun' in nats.request(ASK, recorded, timeout=patience()).data, 'recorded before it began')
            expect(count(), before, 'items at n2')


def an_item_is_shown_with_the_node_that_it_waits_for_or_runs_at():
    with Folder() as folder:
        world = World(folder)
        world.other.kill()
        waiting = submit(world.first, ['sh', '-c', f'while ! test -e {world.gate}; do sleep 0.02; done'], node='n2', strict=True)
        wait_until(lambda: 'where     it waits for the node n2' in world.first.irisctl('show', waiting), 'the item waits')
        demand('node      n2\n' in world.first.irisctl('show', waiting), 'the node is not named')
        demand(' n2/ ' in world.first.irisctl('list'), 'the list does not name the node')
        world.other.start()
        wait_until(lambda: 'where     it runs at the node n2' in world.first.irisctl('show', waiting), 'the item runs')
        world.gate.touch()


CASES = (a_user_reaches_items_at_another_node, an_item_is_shown_with_the_node_that_it_waits_for_or_runs_at, another_user_does_not, a_client_waits_for_the_end_of_an_item_there,
         a_node_that_dies_is_not_waited_for, a_node_that_hangs_is_not_waited_for, without_servers_there_is_an_error,
         a_node_with_another_secret_is_told_apart, what_was_recorded_changes_nothing_again)

if __name__ == '__main__':
    end_on_signals()
    sys.exit(run(CASES))
