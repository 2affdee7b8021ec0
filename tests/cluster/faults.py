#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Several irisd on three nats-servers under each fault, with a ledger of items by id.

    faults.py [--group GROUP] [--long] [--seed N] [--web IRISD-WEB] [--clock SHIFT-CLOCK]
              IRISD IRISCTL SHIM

Each case submits durable items to nodes, makes its fault while they run, and wants each accepted item to have exactly one
end. An item may run more often than once only where a fault explains it, which happened before its end was told: it ran at a
node that was killed, stopped or cut off for longer than its lease, or no server could store its end. CK_RUN_CASE selects a
case; --long makes faults more often.
"""
import argparse
import base64
import contextlib
import mmap
import os
import pathlib
import random
import subprocess
import sys

import network
from items import Faults, Items
from nats import ApiError
from nodes import Nodes
from processes import Folder, end_on_signals, patience, pause, wait_until
from pulse import Pulse
from servers import Servers
from tap import Skipped, demand, expect, run

# An item whose node is silent for so long goes to another one.
LEASE_MS = 5000
# On a machine with much other work leases run out where no node dies; no item is to end by that.
LOST_ATTEMPTS = 1000
# Each node's workers.
WORKERS = 2
# Coroutines that submit at a node, so items of it under way.
WINDOW = 16
options = None


class World:
    """Servers and nodes; more nodes than one submit, and all run items."""

    def __init__(self, folder, networks=None, servers=None, count=3, more='', login=None, limits=None, **cluster):
        self.folder, self.networks, self.faults = folder, networks, Faults()
        self.servers = servers or Servers(folder, networks=networks, more=more, login=login)
        self.nodes = Nodes(folder, options.irisd, options.irisctl, self.servers, count, limits=limits, networks=networks,
                           **{'lease-ms': LEASE_MS, 'lost-attempts': LOST_ATTEMPTS, **cluster})

    def start(self):
        self.nodes.start()
        Pulse(self.folder, self.servers, self.faults)
        return self

    def submit(self, *nodes, script='', window=WINDOW, prefix='', **header):
        """Items without end from these nodes, that any node may run."""
        header = header or {'any-node': True}
        ledgers = [Items(node, prefix + node.name, window=window, script=script, **header) for node in nodes or self.nodes]
        for ledger in ledgers:
            ledger.start()
        return ledgers

    def check(self, ledgers):
        """Ends them; nothing may be left in the stream, where it would run again."""
        told = []
        for ledger in ledgers:
            ledger.finish()
            told.append(f'{ledger.home.name}: {ledger.check(self.faults)}')
        wait_until(lambda: self.nodes.messages('IRIS') == 0, 'the stream of items is empty')
        self.check_ends()
        return '; '.join(told)

    def local(self, node, prefix='local'):
        """Items of its own, at this node: they run whatever is the matter with the others."""
        local = Items(node, prefix, count=20)
        local.start()
        local.wait_for(20).finish()
        local.check()

    def check_ends(self):
        """The stream of ends has one message for each subject, and never had two."""
        state = self.servers.api('STREAM.INFO.IRIS_ENDS')['state']
        expect(state.get('num_deleted', 0), 0, 'ends that another end has replaced')
        expect(state['messages'], state.get('num_subjects', 0), 'ends')

    def through(self, fault, before=20, after=20, script=''):
        """Items before, during and after a fault."""
        ledgers = self.submit(script=script)
        for ledger in ledgers:
            ledger.wait_for(before)
        fault()
        known = {ledger: len(ledger.ends) for ledger in ledgers}
        for ledger in ledgers:
            ledger.wait_for(known[ledger] + after)
        return self.check(ledgers)


def rounds(short, long):
    return long if options.long else short


def shift_clock(server, seconds):
    """Of what it is started with from now on."""
    if not options.clock:
        raise Skipped('shift-clock was not built')
    command = [options.clock, str(seconds)]
    done = subprocess.run([*command, 'true'], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=patience())
    if done.returncode == 77:
        raise Skipped(done.stdout.strip())
    server.inside += command


def web():
    """For a node that tells of itself over HTTP, too, if irisd-web was built."""
    if not options.web:
        return {}
    folder = pathlib.Path(options.web).resolve().parent
    return {'options': ['--http', '127.0.0.1:0'], 'env': {'PATH': f'{folder}:{os.environ["PATH"]}'}}


# --- servers -------------------------------------------------------------------------------------

def the_streams_leader_is_killed():
    with Folder() as folder:
        world = World(folder).start()

        def fault():
            for _ in range(rounds(1, 10)):
                leader = world.servers.leader('IRIS')
                with world.faults.during():
                    leader.process.kill()
                    wait_until(lambda: world.servers.leader('IRIS') is not leader, 'another server leads')
                    world.servers.restart(leader)
        return world.through(fault)


def any_server_is_killed():
    with Folder() as folder:
        world = World(folder).start()

        def fault():
            for number in range(rounds(2, 20)):
                server = world.servers[number % 3]
                with world.faults.during():
                    server.process.kill()
                    world.servers.restart(server)
                    world.servers.wait_for_quorum()
        return world.through(fault)


def two_of_three_servers_are_killed():
    with Folder() as folder:
        world = World(folder).start()

        def fault():
            for number in range(rounds(1, 5)):
                with world.faults.during():
                    for server in world.servers.all[:2]:
                        server.process.kill()
                    # Without a majority irisd takes local work.
                    world.local(world.nodes[2], f'local{number}')
                    for server in world.servers.all[:2]:
                        server.start()
                    world.servers.wait()
        return world.through(fault)


def all_servers_are_killed():
    with Folder() as folder:
        world = World(folder).start()

        def fault():
            for _ in range(rounds(1, 5)):
                with world.faults.during():
                    for server in world.servers:
                        server.process.kill()
                    for server in world.servers:
                        server.start()
                    world.servers.wait()
        return world.through(fault)


def a_server_is_stopped_for_longer_than_a_lease():
    with Folder() as folder:
        world = World(folder).start()

        def fault():
            for _ in range(rounds(1, 5)):
                leader = world.servers.leader('IRIS')
                with world.faults.during():
                    leader.process.stop()
                    pause(LEASE_MS / 1000 * 1.5)
                    leader.process.go_on()
                    wait_until(leader.healthy, 'it is healthy again')
        return world.through(fault)


# --- nodes ---------------------------------------------------------------------------------------

def an_irisd_is_killed_at_random_moments():
    """Host and home at once."""
    kills = rounds(8, 100)
    with Folder() as folder:
        world = World(folder).start()
        ledgers = world.submit()
        chance = random.Random(options.seed)
        for _ in range(kills):
            ledger = ledgers[chance.randrange(3)]
            ledger.wait_for(len(ledger.ends) + chance.randrange(1, 25))
            node = world.nodes[chance.randrange(3)]
            with world.faults.during(node):
                node.kill()
                pause(chance.random() * 0.2)
                node.start()
        for ledger in ledgers:
            ledger.wait_for(len(ledger.ends) + 10)
        return world.check(ledgers)


def a_home_is_killed_between_its_commit_and_the_streams_answer():
    """Its journal has the items, and it was never told whether the stream has them: each runs once all the same."""
    count = 12
    with Folder() as folder:
        world = World(folder).start()
        home, told = world.nodes[0], []
        for number in range(rounds(1, 20)):
            # One that has just started takes no items for nodes before it knows them.
            world.nodes.wait_for_all()
            ledger = Items(home, f'x{number}', count=count, window=count, node='n2')
            with world.servers.stopped():
                ledger.start()
                wait_until(lambda: len(ledger.accepted) == count or ledger.error, 'the items are accepted')
                expect(ledger.ends, {}, 'ends while no server answers')
                # What was written to a server's socket by now is stored later, and what was not is not.
                home.kill()
            home.start()
            told.append(ledger.wait_for(count).finish().check())
        world.check([])
        return '; '.join(told)


def a_host_is_killed_between_an_end_and_its_acknowledgement():
    """The end was sent, and the item never acknowledged. It is delivered again, and its end is found, if that was stored."""
    with Folder() as folder:
        world = World(folder).start()
        host, told = world.nodes[1], []
        for number in range(rounds(1, 20)):
            gate = folder.path / f'gate{number}'
            ledger = Items(world.nodes[0], f'x{number}', count=WORKERS, script=f'while ! test -e {gate}; do sleep 0.02; done; ',
                           node='n2', strict=True)
            ledger.start()
            wait_until(lambda: host.json('status')['commands_running'] == WORKERS or ledger.error, 'the items run at n2')
            ended = host.json('status')['ended']
            with world.faults.during(host):
                with world.servers.stopped():
                    gate.touch()
                    wait_until(lambda: host.json('status')['ended'] == ended + WORKERS, 'the items have ended there')
                    expect(ledger.ends, {}, 'ends that were told')
                    host.kill()
                host.start()
            ledger.wait_for(WORKERS).finish()
            told.append(ledger.check(world.faults))
        world.check([])
        return '; '.join(told)


def an_irisd_is_stopped_for_longer_than_its_lease():
    """It goes on as if nothing had been: what it ran meanwhile ran elsewhere too, and has one end."""
    with Folder() as folder:
        world = World(folder).start()

        def fault():
            for number in range(rounds(1, 10)):
                node = world.nodes[1 + number % 2]
                with world.faults.during(node):
                    node.process.stop()
                    pause(LEASE_MS / 1000 * 1.5)
                    node.process.go_on()
        return world.through(fault, script='sleep 0.05; ')


def a_node_that_dies_with_items_loses_none():
    with Folder() as folder:
        world = World(folder).start()
        ledgers = world.submit(world.nodes[0], script='sleep 0.1; ')
        wait_until(lambda: ledgers[0].nodes['n3'] > 0 or ledgers[0].error, 'items run at n3')
        with world.faults.during(world.nodes[2]):
            world.nodes[2].kill()
            ledgers[0].wait_for(len(ledgers[0].ends) + 60)
        return world.check(ledgers)


def clocks_are_a_minute_apart():
    with Folder() as folder:
        world = World(folder)
        for node, seconds in zip(world.nodes.all[1:], (60, -60)):
            path = folder.path / f'clock-{node.name}'
            path.write_bytes((seconds * 10**9).to_bytes(8, sys.byteorder, signed=True).ljust(mmap.PAGESIZE, b'\0'))
            node.env.update(LD_PRELOAD=str(options.shim), IRIS_FAULTS=str(path))
        world.start()
        return world.through(lambda: None, before=40, after=40)


def clocks_of_servers_are_a_minute_apart():
    """Entries of nodes live for 15 s by the clock of the server that leads, and so do ids that are known."""
    with Folder() as folder:
        servers = Servers(folder, start=False)
        before, behind = servers[0], servers[1]
        shift_clock(before, 60)
        servers.start()
        world = World(folder, servers=servers).start()
        ahead = before.clock() - behind.clock()
        demand(50 < ahead < 70, f'the clock of s1 is {ahead:.0f} s ahead')

        def fault():
            for _ in range(rounds(1, 10)):
                for leader in (before, behind):
                    # A message that its old leader had not passed on yet is published again.
                    with world.faults.during():
                        for stream in ('KV_iris_nodes', 'IRIS', 'IRIS_ENDS'):
                            world.servers.lead(stream, leader)
                    known = len(ledgers[0].ends)
                    ledgers[0].wait_for(known + 40)
                    world.nodes.wait_for_all()
        ledgers = world.submit()
        for ledger in ledgers:
            ledger.wait_for(20)
        fault()
        return world.check(ledgers)


# --- networks and disks --------------------------------------------------------------------------

def a_node_and_its_server_are_cut_off():
    """Both ways: the others go on without them, and they alone; afterwards all is one again."""
    network.leave_the_machine()
    with Folder() as folder:
        world = World(folder, [network.Network(folder, number + 1) for number in range(3)]).start()

        def fault():
            for number in range(rounds(1, 6)):
                # First the leader is cut off, then one that follows.
                world.servers.lead('IRIS', world.servers[2 - number % 2])
                # Its server may lead, and then what others ran may have had no end in time.
                with world.faults.during():
                    world.networks[2].cut(*world.networks[:2])
                    world.local(world.nodes[2], f'alone{number}')
                    others = Items(world.nodes[0], f'others{number}', count=40, **{'any-node': True})
                    others.start()
                    others.wait_for(40).finish()
                    others.check(world.faults)
                    pause(LEASE_MS / 1000)
                    world.networks[2].join(*world.networks[:2])
                    wait_until(world.servers[2].healthy, 'its server is healthy again')
                    world.nodes.wait_for_all()
        return world.through(fault)


def an_irisd_is_cut_off_from_all_servers():
    """It runs what is its own, spools what is for others up to a limit, says BUSY beyond, and says that it is alone."""
    network.leave_the_machine()
    away = 40
    with Folder() as folder:
        networks = [network.Network(folder, number + 1) for number in range(4)]
        world = World(folder, servers=Servers(folder, networks=networks[:3]), count=2, **{'max-away': away})
        node = world.nodes.add(networks[3], **web())
        world.start()
        told = []
        for number in range(rounds(1, 5)):
            strict = world.submit(node, prefix=f'strict{number}-', window=2 * away, node='n1', strict=True)[0]
            strict.wait_for(20)
            with world.faults.during(node):
                networks[3].cut(*networks[:3])
                wait_until(lambda: node.json('status')['cluster']['state'] == 'alone', 'its status says that it is alone')
                demand(not options.web or 'not in its cluster' in node.readyz(), 'readyz does not say that it is alone')
                busy = strict.busy
                wait_until(lambda: strict.busy > busy or strict.error, 'it says BUSY')
                under_way = len(set(strict.accepted) - set(strict.ends))
                demand(under_way <= away, f'{under_way} items are under way; max-away is {away}')
                world.local(node, f'local{number}')
                # Until what it was running for others is given to them.
                pause(LEASE_MS / 1000)
                networks[3].join(*networks[:3])
                wait_until(lambda: node.json('status')['cluster']['state'] == 'joined', 'it joins again')
            strict.wait_for(len(strict.ends) + away)
            told.append(world.check([strict]))
            expect(set(strict.nodes), {'n1'}, 'where strict items ran')
            demand(not options.web or 'not in its cluster' not in node.readyz(), 'readyz says that it is alone')
        return '; '.join(told)


def a_servers_disk_is_full():
    network.leave_the_machine()
    with Folder() as folder:
        servers = Servers(folder, start=False)
        full = servers[1]
        network.small_disk(folder, full.store, 96)
        servers.start()
        world = World(folder, servers=servers).start()

        def fault():
            with world.faults.during():
                ballast = network.fill(full.store)
                wait_until(lambda: not full.process.alive() or not full.healthy(), f'{full.name} notices its full disk')
                os.unlink(ballast)
                full.process.kill()
                servers.restart(full)
        told = world.through(fault)
        full.process.kill()
        return told


# --- what is in the streams ----------------------------------------------------------------------

def a_consumer_is_deleted_by_hand():
    with Folder() as folder:
        world = World(folder).start()

        def fault():
            # What a consumer had delivered goes with it, so each item under way may be delivered once more.
            with world.faults.during():
                for consumer in ('any', 'n2_soft'):
                    # Perhaps without an answer the first time.
                    with contextlib.suppress(ApiError):
                        world.servers.api(f'CONSUMER.DELETE.IRIS.{consumer}', {})
                # Nothing but init makes one, and the check names those that are missing.
                told = world.nodes[0].irisctl('cluster', 'check', status=1)
                for consumer in ('any', 'n2_soft'):
                    demand(f'Consumer {consumer} of IRIS is missing' in told, f'the check does not name {consumer}: {told}')
                for node in world.nodes:
                    world.nodes.init(node)
        return world.through(fault)


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
        world.local(world.nodes[0])
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
            for number, letter in enumerate(letters):
                for subject in ('iris.w.any.soft.-.command', 'iris.w.n2.soft.-.command'):
                    world.servers.store(subject, letter, f'letter-{number}-{subject}')
            wait_until(lambda: world.nodes.messages('IRIS_DEAD') == 2 * len(letters), 'all are dead letters')
        return world.through(fault)


def a_damaged_item_becomes_a_dead_letter():
    """An item of ours: cut short, with one bit changed, or on the subject of another node."""
    with Folder() as folder:
        world = World(folder).start()
        world.nodes[1].process.stop()
        ledger = world.submit(world.nodes[0], window=1, node='n2', strict=True)[0]
        wait_until(lambda: world.nodes.messages('IRIS'), 'the item is in the stream')
        message = world.servers.api('STREAM.MSG.GET.IRIS', {'last_by_subj': 'iris.w.n2.strict.>'})['message']
        good, subject = base64.b64decode(message['data']), message['subject']
        letters = [(subject, good[:length]) for length in (1, len(good) // 2, len(good) - 1)]
        for byte in range(0, len(good), max(1, len(good) // 16)):
            letters.append((subject, good[:byte] + bytes([good[byte] ^ 1]) + good[byte + 1:]))
        letters.append((subject.replace('.n2.strict.', '.n3.strict.'), good))
        for number, (where, letter) in enumerate(letters):
            world.servers.store(where, letter, f'letter-{number}')
        world.nodes[1].process.go_on()
        wait_until(lambda: world.nodes.messages('IRIS_DEAD') == len(letters), 'all are dead letters')
        ledger.wait_for(10)
        told = world.check([ledger])
        expect(set(ledger.nodes), {'n2'}, 'where strict items ran')
        return f'{len(letters)} letters; {told}'


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
        wait_until(lambda: 'do not accept its user' in node.process.text(), 'n3 says why')
        demand(':wrong@' not in node.process.text(), 'the log has the password')
        # It works alone.
        world.local(node)
        expect(world.nodes.known_to(world.nodes[0]), {'n1', 'n2'}, 'the nodes')
        return world.through(lambda: None)


GROUPS = {
    'servers': (the_streams_leader_is_killed, any_server_is_killed, two_of_three_servers_are_killed, all_servers_are_killed,
                a_server_is_stopped_for_longer_than_a_lease),
    'nodes': (an_irisd_is_killed_at_random_moments, a_home_is_killed_between_its_commit_and_the_streams_answer,
              a_host_is_killed_between_an_end_and_its_acknowledgement, an_irisd_is_stopped_for_longer_than_its_lease,
              a_node_that_dies_with_items_loses_none, clocks_are_a_minute_apart, clocks_of_servers_are_a_minute_apart),
    'networks': (a_node_and_its_server_are_cut_off, an_irisd_is_cut_off_from_all_servers, a_servers_disk_is_full),
    'streams': (a_consumer_is_deleted_by_hand, a_full_stream_makes_irisd_busy, what_is_not_ours_becomes_a_dead_letter,
                a_damaged_item_becomes_a_dead_letter, a_node_with_wrong_credentials_is_refused),
}


def main():
    global options
    parser = argparse.ArgumentParser(description='irisd on three nats-servers under faults, with a ledger of items by id')
    parser.add_argument('irisd')
    parser.add_argument('irisctl')
    parser.add_argument('shim', help='shim-faults.so, which sets the clock of an irisd')
    parser.add_argument('--web', help='irisd-web, which tells over HTTP whether an irisd is ready')
    parser.add_argument('--clock', help='shift-clock, which sets the clock of a server')
    parser.add_argument('--group', choices=GROUPS, help='only these')
    parser.add_argument('--long', action='store_true', help='each fault many times: an hour')
    parser.add_argument('--seed', type=int, default=random.randrange(1 << 30), help='of the random moments')
    options = parser.parse_args()
    end_on_signals()
    print(f'# seed {options.seed}')
    return run([case for name, group in GROUPS.items() if options.group in (None, name) for case in group])


if __name__ == '__main__':
    sys.exit(main())
