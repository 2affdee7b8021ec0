#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Several irisd on three nats-servers under each fault, with a ledger of items by id.

    faults.py [--group GROUP] [--long] [--seed N] IRISD IRISCTL SHIM

Each case submits durable items to nodes, makes its fault while they run, and wants each accepted item to have exactly one
end. An item may run more often than once only where a fault explains it: it ran at a node that was killed, stopped or cut
off for longer than its lease, before its end was stored. CK_RUN_CASE selects a case; --long makes faults more often.
"""
import argparse
import mmap
import os
import random
import sys

import network
from items import Items
from nats import ApiError, NatsError, Silence
from nodes import Nodes
from processes import Folder, end_on_signals, pause, wait_until
from servers import Servers
from tap import demand, expect, run

# An item whose node is silent for so long goes to another one.
LEASE_MS = 5000
# Each node's workers; so many of its items may run a second time when it is killed.
WORKERS = 2
# Coroutines that submit at a node, so items of it under way.
WINDOW = 16
options = None


class World:
    """Servers and nodes; more nodes than one submit, and all run items."""

    def __init__(self, folder, networks=None, servers=None, count=3, more='', login=None, limits=None, **cluster):
        self.folder, self.networks = folder, networks
        self.servers = servers or Servers(folder, networks=networks, more=more, login=login)
        self.nodes = Nodes(folder, options.irisd, options.irisctl, self.servers, count, limits=limits, networks=networks,
                           **{'lease-ms': LEASE_MS, **cluster})

    def start(self):
        self.nodes.start()
        return self

    def submit(self, *nodes, script='', window=WINDOW, prefix='', **header):
        """Items without end from these nodes, that any node may run."""
        header = header or {'any-node': True}
        ledgers = [Items(node, prefix + node.name, window=window, script=script, **header) for node in nodes or self.nodes]
        for ledger in ledgers:
            ledger.start()
        return ledgers

    def check(self, ledgers, twice=0):
        """Ends them; nothing may be left in the stream, where it would run again."""
        told = []
        for ledger in ledgers:
            ledger.finish()
            told.append(f'{ledger.home.name}: {ledger.check(twice)}')
        wait_until(lambda: self.nodes.messages('IRIS') == 0, 'the stream of items is empty')
        self.check_ends()
        return '; '.join(told)

    def check_ends(self):
        """The stream of ends has one message for each subject, and never had two."""
        with self.servers.connect() as nats:
            state = nats.api('STREAM.INFO.IRIS_ENDS')['state']
        expect(state.get('num_deleted', 0), 0, 'ends that another end has replaced')
        expect(state['messages'], state.get('num_subjects', 0), 'ends')

    def through(self, fault, twice=0, before=20, after=20, script=''):
        """Items before, during and after a fault."""
        ledgers = self.submit(script=script)
        for ledger in ledgers:
            ledger.wait_for(before)
        fault()
        known = {ledger: len(ledger.ends) for ledger in ledgers}
        for ledger in ledgers:
            ledger.wait_for(known[ledger] + after)
        return self.check(ledgers, twice)


def rounds(short, long):
    return long if options.long else short


# --- servers -------------------------------------------------------------------------------------

def the_streams_leader_is_killed():
    with Folder() as folder:
        world = World(folder).start()

        def fault():
            for _ in range(rounds(1, 10)):
                leader = world.servers.leader('IRIS')
                leader.process.kill()
                wait_until(lambda: world.servers.leader('IRIS') is not leader, 'another server leads')
                world.servers.restart(leader)
        return world.through(fault, twice=WINDOW * rounds(1, 10))


def any_server_is_killed():
    with Folder() as folder:
        world = World(folder).start()

        def fault():
            for number in range(rounds(2, 20)):
                server = world.servers[number % 3]
                server.process.kill()
                world.servers.restart(server)
                world.servers.wait_for_quorum()
        return world.through(fault, twice=WINDOW * rounds(2, 20))


def two_of_three_servers_are_killed():
    with Folder() as folder:
        world = World(folder).start()

        def fault():
            for _ in range(rounds(1, 5)):
                for server in world.servers.all[:2]:
                    server.process.kill()
                # Without a majority irisd takes local work.
                local = Items(world.nodes[2], 'local', count=20)
                local.start()
                local.wait_for(20).finish()
                local.check()
                for server in world.servers.all[:2]:
                    server.start()
                world.servers.wait()
        return world.through(fault, twice=WINDOW * rounds(1, 5))


def all_servers_are_killed():
    with Folder() as folder:
        world = World(folder).start()

        def fault():
            for _ in range(rounds(1, 5)):
                for server in world.servers:
                    server.process.kill()
                for server in world.servers:
                    server.start()
                world.servers.wait()
        return world.through(fault, twice=WINDOW * rounds(1, 5))


def a_server_is_stopped_for_longer_than_a_lease():
    with Folder() as folder:
        world = World(folder).start()

        def fault():
            for _ in range(rounds(1, 5)):
                leader = world.servers.leader('IRIS')
                leader.process.stop()
                pause(LEASE_MS / 1000 * 1.5)
                leader.process.go_on()
                wait_until(leader.healthy, 'it is healthy again')
        return world.through(fault, twice=WINDOW * rounds(1, 5))


# --- nodes ---------------------------------------------------------------------------------------

def an_irisd_is_killed_at_random_moments():
    """Host and home at once: between its commit and the stream's answer, and between an end and its acknowledgement."""
    kills = rounds(8, 100)
    with Folder() as folder:
        world = World(folder).start()
        ledgers = world.submit()
        chance = random.Random(options.seed)
        for number in range(kills):
            ledger = ledgers[chance.randrange(3)]
            ledger.wait_for(len(ledger.ends) + chance.randrange(1, 25))
            node = world.nodes[chance.randrange(3)]
            node.kill()
            pause(chance.random() * 0.2)
            node.start()
        for ledger in ledgers:
            ledger.wait_for(len(ledger.ends) + 10)
        return world.check(ledgers, twice=kills * WORKERS)


def an_irisd_is_stopped_for_longer_than_its_lease():
    """It goes on as if nothing had been: what it ran meanwhile ran elsewhere too, and has one end."""
    with Folder() as folder:
        world = World(folder).start()
        stops = rounds(1, 10)

        def fault():
            for number in range(stops):
                node = world.nodes[1 + number % 2]
                node.process.stop()
                pause(LEASE_MS / 1000 * 1.5)
                node.process.go_on()
        # What it had been given waits there, so more than its workers' items may run twice.
        return world.through(fault, twice=stops * WORKERS * 9, script='sleep 0.05; ')


def a_node_that_dies_with_items_loses_none():
    with Folder() as folder:
        world = World(folder).start()
        ledgers = world.submit(world.nodes[0], script='sleep 0.1; ')
        ledgers[0].wait_for(20)
        world.nodes[2].kill()
        ledgers[0].wait_for(len(ledgers[0].ends) + 60)
        told = world.check(ledgers, twice=WORKERS)
        demand(ledgers[0].nodes['n3'] > 0, 'n3 ran nothing before it died')
        return told


def clocks_are_a_minute_apart():
    with Folder() as folder:
        world = World(folder)
        for node, seconds in zip(world.nodes.all[1:], (60, -60)):
            path = folder.path / f'clock-{node.name}'
            path.write_bytes((seconds * 10**9).to_bytes(8, sys.byteorder, signed=True).ljust(mmap.PAGESIZE, b'\0'))
            node.env.update(LD_PRELOAD=str(options.shim), IRIS_FAULTS=str(path))
        world.start()
        return world.through(lambda: None, before=40, after=40)


# --- networks and disks --------------------------------------------------------------------------

def a_node_and_its_server_are_cut_off():
    """Both ways: the others go on without them, and they alone; afterwards all is one again."""
    network.leave_the_machine()
    with Folder() as folder:
        world = World(folder, [network.Network(folder, number + 1) for number in range(3)]).start()
        cuts = rounds(1, 5)

        def fault():
            for _ in range(cuts):
                world.networks[2].cut(*world.networks[:2])
                alone = Items(world.nodes[2], 'alone', count=20)
                alone.start()
                alone.wait_for(20).finish()
                alone.check()
                others = Items(world.nodes[0], 'others', count=40, **{'any-node': True})
                others.start()
                others.wait_for(40).finish()
                others.check(WORKERS * 9)
                pause(LEASE_MS / 1000)
                world.networks[2].join(*world.networks[:2])
                wait_until(world.servers[2].healthy, 'its server is healthy again')
                world.nodes.wait_for_all()
        return world.through(fault, twice=cuts * WORKERS * 9)


def a_servers_disk_is_full():
    network.leave_the_machine()
    with Folder() as folder:
        servers = Servers(folder, start=False)
        full = servers[1]
        network.small_disk(folder, full.store, 96)
        servers.start()
        world = World(folder, servers=servers).start()

        def fault():
            ballast = network.fill(full.store)
            wait_until(lambda: not full.process.alive() or not full.healthy(), f'{full.name} notices its full disk')
            os.unlink(ballast)
            full.process.kill()
            servers.restart(full)
        told = world.through(fault, twice=WINDOW)
        full.process.kill()
        return told


# --- what is in the streams ----------------------------------------------------------------------

def a_consumer_is_deleted_by_hand():
    with Folder() as folder:
        world = World(folder).start()

        def fault():
            with world.servers.connect() as nats:
                for consumer in ('any', 'n2_soft'):
                    nats.api(f'CONSUMER.DELETE.IRIS.{consumer}', {})
            # Nothing but init makes one, and the check names those that are missing.
            told = world.nodes[0].irisctl('cluster', 'check', status=1)
            for consumer in ('any', 'n2_soft'):
                demand(f'Consumer {consumer} of IRIS is missing' in told, f'the check does not name {consumer}: {told}')
            for node in world.nodes:
                world.nodes.init(node)
        # What a consumer had delivered goes with it, so each item under way may be delivered once more.
        return world.through(fault, twice=WINDOW)


def a_full_stream_makes_irisd_busy():
    """Items for a node that is away: up to the stream's limit there, up to max-away here, and BUSY beyond."""
    with Folder() as folder:
        world = World(folder, **{'stream-items': 20, 'max-away': 60}).start()
        world.nodes[1].kill()
        ledgers = world.submit(world.nodes[0], window=100, node='n2', strict=True)
        wait_until(lambda: ledgers[0].busy > 0 or ledgers[0].error, 'irisd says BUSY')
        demand(len(ledgers[0].accepted) <= 60, f'{len(ledgers[0].accepted)} accepted; max-away is 60')
        wait_until(lambda: world.nodes.messages('IRIS') == 20, 'the stream is full')
        # Local work goes on meanwhile.
        local = Items(world.nodes[0], 'local', count=20)
        local.start()
        local.wait_for(20).finish()
        world.nodes[1].start()
        ledgers[0].wait_for(150)
        told = world.check(ledgers)
        expect(set(ledgers[0].nodes), {'n2'}, 'where strict items ran')
        return told


def what_is_not_ours_becomes_a_dead_letter():
    with Folder() as folder:
        world = World(folder).start()
        letters = [b'not ours', b'IRSC', b'IRSC\x01\x01' + bytes(200), b'']

        def fault():
            with world.servers.connect() as nats:
                for number, letter in enumerate(letters):
                    for subject in ('iris.w.any.soft.-.command', 'iris.w.n2.soft.-.command'):
                        nats.store(subject, letter, msg_id=f'letter-{number}-{subject}')
            wait_until(lambda: world.nodes.messages('IRIS_DEAD') == 2 * len(letters), 'all are dead letters')
        return world.through(fault)


def a_node_with_wrong_credentials_is_refused():
    with Folder() as folder:
        world = World(folder, count=2, login='iris:secret', more='''
accounts {
  IRIS { jetstream: enabled, users: [{ user: iris, password: secret }] }
  SYS { users: [{ user: admin, password: secret }] }
}
system_account: SYS''').start()
        wrong = world.servers[0].url('iris:wrong')
        node = world.nodes.make(2, url=wrong).start()
        wait_until(lambda: 'Authorization Violation' in node.process.text(), 'n3 says why')
        demand(':wrong@' not in node.process.text(), 'the log has the password')
        # It works alone.
        local = Items(node, 'local', count=20)
        local.start()
        local.wait_for(20).finish()
        local.check()
        expect(world.nodes.known_to(world.nodes[0]), {'n1', 'n2'}, 'the nodes')
        return world.through(lambda: None)


GROUPS = {
    'servers': (the_streams_leader_is_killed, any_server_is_killed, two_of_three_servers_are_killed, all_servers_are_killed,
                a_server_is_stopped_for_longer_than_a_lease),
    'nodes': (an_irisd_is_killed_at_random_moments, an_irisd_is_stopped_for_longer_than_its_lease,
              a_node_that_dies_with_items_loses_none, clocks_are_a_minute_apart),
    'networks': (a_node_and_its_server_are_cut_off, a_servers_disk_is_full),
    'streams': (a_consumer_is_deleted_by_hand, a_full_stream_makes_irisd_busy, what_is_not_ours_becomes_a_dead_letter,
                a_node_with_wrong_credentials_is_refused),
}


def main():
    global options
    parser = argparse.ArgumentParser(description='irisd on three nats-servers under faults, with a ledger of items by id')
    parser.add_argument('irisd')
    parser.add_argument('irisctl')
    parser.add_argument('shim', help='shim-faults.so, which sets the clock of an irisd')
    parser.add_argument('--group', choices=GROUPS, help='only these')
    parser.add_argument('--long', action='store_true', help='each fault many times: an hour')
    parser.add_argument('--seed', type=int, default=random.randrange(1 << 30), help='of the random moments')
    options = parser.parse_args()
    end_on_signals()
    print(f'# seed {options.seed}')
    return run([case for name, group in GROUPS.items() if options.group in (None, name) for case in group])


if __name__ == '__main__':
    sys.exit(main())
