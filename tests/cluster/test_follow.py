#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What an item tells while it runs at another node: output, parts of its result and progress reach its client and those who follow it.

    test_follow.py IRISD IRISCTL [streams|followers]
"""
import asyncio
import collections
import hashlib
import os
import pathlib
import secrets
import subprocess
import sys
import threading

from processes import Folder, end_on_signals, patience, wait_until
from tap import demand, expect, run
from test_bridge import World, submit

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'clients/python'))
from irisd_client import Client, Worker, wire  # noqa: E402
from irisd_client.connection import Connection  # noqa: E402

FOLLOWERS = 100


class Program:
    """irisctl at a node, with what it has printed by now."""

    def __init__(self, node, *arguments):
        self.process = subprocess.Popen([node.nodes.irisctl, '--dir', str(node.dir), *map(str, arguments)], env=node.env,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.words, self.out, self.err = ' '.join(map(str, arguments[:3])), b'', b''
        self.threads = [threading.Thread(target=self.read, args=one, daemon=True) for one in (('stdout', 'out'), ('stderr', 'err'))]
        for thread in self.threads:
            thread.start()

    def read(self, pipe, name):
        while True:
            data = os.read(getattr(self.process, pipe).fileno(), 65536)
            if not data:
                return
            setattr(self, name, getattr(self, name) + data)

    def wait_for(self, text):
        wait_until(lambda: text in self.out or self.process.poll() is not None, f'{text!r} comes')
        demand(text in self.out, f'{text!r} did not come: {self.out[-500:]!r}, {self.err[-500:]!r}')

    def end(self):
        """Its exit status."""
        wait_until(lambda: not any(thread.is_alive() for thread in self.threads), f'irisctl {self.words} ends')
        return self.process.wait(patience())


def streamed_output_comes_while_the_command_runs():
    with Folder() as folder:
        world = World(folder, count=2)
        gate = folder.path / 'gate'
        program = Program(world.nodes[0], 'run', '--node', 'n2', '--strict', '--', 'sh', '-c',
                          f'echo first; echo wrong >&2; while ! test -e {gate}; do sleep 0.02; done; echo last; exit 3')
        program.wait_for(b'first\n')
        demand(b'last' not in program.out, program.out)
        gate.touch()
        expect(program.end(), 3, 'exit status')
        expect(program.out, b'first\nlast\n')
        expect(program.err, b'wrong\n')
        world.check_ends()


def much_output_comes_whole_and_in_order():
    with Folder() as folder:
        world = World(folder, count=2)
        lines = 400000
        program = Program(world.nodes[0], 'run', '--node', 'n2', '--strict', '--', 'seq', '1', str(lines))
        expect(program.end(), 0, 'exit status')
        wanted = ''.join(f'{number}\n' for number in range(1, lines + 1)).encode()
        expect(hashlib.sha256(program.out).hexdigest(), hashlib.sha256(wanted).hexdigest(), f'{len(program.out)} bytes')
        return f'{len(wanted)} bytes'


def parts_and_progress_of_a_worker_process_come():
    with Folder() as folder:
        world = World(folder, count=2)
        known = threading.Event()

        async def talk():
            worker = Worker(world.nodes[1].endpoint, capacity=1)

            @worker.service('grow', 'parts of many sizes')
            def grow(job):
                job.report(0.25, 'begun')
                for number in range(1, 9):
                    job.send_part(bytes([number]) * (number * 20000))
                # A report that would have to wait is not sent, and the end passes it.
                while job.wants_progress and not known.wait(0.1):
                    job.report(0.75, 'parts are out')
                return 'all'
            serving = asyncio.create_task(worker.serve())
            async with Client(world.nodes[1].endpoint) as there, Client(world.nodes[0].endpoint) as client:
                await asyncio.wait_for(there.submit('grow', wait_for_service=True), patience())
                parts, told = [], []

                def progress(fraction, note):
                    told.append((fraction, note))
                    if fraction == 0.75:
                        known.set()
                item = client.submit('grow', node='n2', strict=True, progress=progress,
                                     part=lambda part, attempt: parts.append(part))
                result = await asyncio.wait_for(item, patience())
                serving.cancel()
                return result.body, parts, told
        body, parts, told = asyncio.run(talk())
        expect(body, b'all')
        # The worker's library sends a long part as several.
        demand(b''.join(parts) == b''.join(bytes([number]) * (number * 20000) for number in range(1, 9)), f'{[(part[0], len(part)) for part in parts]}')
        expect(told[-1], (0.75, 'parts are out'))
        world.check_ends()


def a_client_that_goes_stops_its_command_there():
    with Folder() as folder:
        world = World(folder, count=2)
        pid = folder.path / 'pid'
        program = Program(world.nodes[0], 'run', '--node', 'n2', '--strict', '--', 'sh', '-c',
                          f'echo $$ >{pid}.new; mv {pid}.new {pid}; echo here; while :; do echo more; sleep 0.05; done')
        program.wait_for(b'here')
        program.process.kill()
        wait_until(lambda: not pathlib.Path(f'/proc/{pid.read_text().strip()}').exists(), 'the command is gone')
        world.check_ends()


def output_goes_on_when_servers_die():
    with Folder() as folder:
        world = World(folder, count=2)
        wanted = ''.join(f'{number}\n' for number in range(1, 3001)).encode()
        program = Program(world.nodes[0], 'run', '--node', 'n2', '--strict', '--', 'sh', '-c',
                          'i=1; while test $i -le 3000; do echo $i; i=$((i+1)); test $((i % 10)) != 0 || sleep 0.01; done')
        for number in range(3):
            program.wait_for(f'\n{200 + 900 * number}\n'.encode())
            world.servers[number].process.kill()
            world.servers.restart(world.servers[number])
        expect(program.end(), 0, 'exit status')
        demand(program.out == wanted, f'{len(program.out)} bytes, expected {len(wanted)}: {program.out[-200:]}')


def output_begins_anew_when_its_host_dies():
    with Folder() as folder:
        world = World(folder, count=3)
        gate, runs = folder.path / 'gate', folder.path / 'runs'
        program = Program(world.nodes[0], 'run', '--node', 'n2', '--', 'sh', '-c',
                          f'echo run >>{runs}; echo first; while ! test -e {gate}; do sleep 0.02; done; echo last')
        program.wait_for(b'first\n')
        world.nodes[1].kill()
        program.wait_for(b'first\nfirst\n')
        gate.touch()
        expect(program.end(), 0, 'exit status')
        expect(program.out, b'first\nfirst\nlast\n')
        expect(runs.read_text(), 'run\nrun\n')


def followers_at_the_home_see_all_from_the_beginning():
    with Folder() as folder:
        world = World(folder, count=2)
        first, gate = world.nodes[0], folder.path / 'gate'
        number = submit(first, ['sh', '-c', f'echo first; echo wrong >&2; while ! test -e {gate}; do sleep 0.02; done; echo last; seq 1 20000'],
                        node='n2', strict=True, keep_ms=600000)
        early = Program(first, 'follow', number)
        early.wait_for(b'first\n')
        expect(first.json('show', number)['node'], 'n2', 'where it is')
        others = [Program(first, 'follow', number) for _ in range(4)]
        for other in others:
            other.wait_for(b'first\n')
        gate.touch()
        wanted = b'first\nlast\n' + ''.join(f'{line}\n' for line in range(1, 20001)).encode()
        late = Program(first, 'follow', number)
        for program in (early, *others, late):
            expect(program.end(), 0, 'exit status')
            demand(program.out == wanted, f'{len(program.out)} bytes, expected {len(wanted)}: {program.out[-100:]}')
            expect(program.err, b'wrong\n')
        expect(first.irisctl('result', number), wanted.decode())
        world.check_ends()


def a_short_command_is_followed_by_its_result():
    with Folder() as folder:
        world = World(folder, count=2)
        first = world.nodes[0]
        number = submit(first, ['sh', '-c', 'echo out; echo wrong >&2; exit 2'], node='n2', strict=True, keep_ms=600000)
        program = Program(first, 'follow', number)
        program.end()
        expect((program.out, program.err.splitlines()[0]), (b'out\n', b'wrong'))
        again = Program(first, 'follow', number)
        again.end()
        expect(again.out, b'out\n')
        silent = submit(first, ['sh', '-c', 'echo out'], node='n2', strict=True, keep_ms=600000, keep_output=0)
        program = Program(first, 'follow', silent)
        program.end()
        expect(program.out, b'')


def a_follower_sees_a_run_that_begins_anew():
    with Folder() as folder:
        world = World(folder, count=3)
        first, gate = world.nodes[0], folder.path / 'gate'
        number = submit(first, ['sh', '-c', f'echo first; while ! test -e {gate}; do sleep 0.02; done; echo last'], node='n2')
        program = Program(first, 'follow', number)
        program.wait_for(b'first\n')
        world.nodes[1].kill()
        program.wait_for(b'first\nfirst\n')
        gate.touch()
        expect(program.end(), 0, 'exit status')
        expect(program.out, b'first\nfirst\nlast\n')
        demand(b'begins anew' in program.err, program.err)


def an_item_of_another_node_is_followed_and_waited_for():
    with Folder() as folder:
        world = World(folder, count=2)
        first, other, gate = world.nodes[0], world.nodes[1], folder.path / 'gate'
        number = submit(other, ['sh', '-c', f'echo first; echo wrong >&2; while ! test -e {gate}; do sleep 0.02; done; echo last; seq 1 20000'], keep_ms=600000)
        waiting = Program(first, 'wait', '--node', 'n2', number)
        followers = [Program(first, 'follow', '--node', 'n2', number) for _ in range(3)]
        for program in followers:
            program.wait_for(b'first\n')
        expect(waiting.out, b'', 'it waits')
        gate.touch()
        wanted = b'first\nlast\n' + ''.join(f'{line}\n' for line in range(1, 20001)).encode()
        for program in (*followers, Program(first, 'follow', '--node', 'n2', number)):
            expect(program.end(), 0, f'exit status, {program.err}')
            demand(program.out == wanted, f'{len(program.out)} bytes, expected {len(wanted)}: {program.out[-100:]}')
            expect(program.err, b'wrong\n')
        expect(waiting.end(), 0, 'exit status')
        expect(waiting.out, f'{number} done\n'.encode())
        failed = submit(other, ['/no/such/program'], keep_ms=600000)
        expect(first.irisctl('wait', '--node', 'n2', number, failed, status=1).splitlines()[0], f'{number} done')
        demand('there is no persistent item' in first.irisctl('follow', '--node', 'n2', 4711, status=None), 'an unknown item')


def a_follower_of_a_node_that_dies_is_told_so():
    with Folder() as folder:
        world = World(folder, count=2)
        first, other = world.nodes[0], world.nodes[1]
        number = submit(other, ['sh', '-c', 'echo first; exec sleep 1000'])
        programs = [Program(first, 'follow', '--node', 'n2', number), Program(first, 'wait', '--node', 'n2', number)]
        programs[0].wait_for(b'first\n')
        other.kill()
        for program in programs:
            demand(program.end() != 0, 'exit status')
            demand(b'n2 cannot be asked' in program.err, program.err)


def a_hundred_connections_follow_one_item():
    with Folder() as folder:
        world = World(folder, count=2)
        first, other, gate = world.nodes[0], world.nodes[1], folder.path / 'gate'
        number = submit(other, ['sh', '-c', f'echo first; while ! test -e {gate}; do sleep 0.02; done; seq 1 5000'], keep_ms=600000)
        wanted = b'first\n' + ''.join(f'{line}\n' for line in range(1, 5001)).encode()

        def ask(connection):
            connection.send('FOLLOW', {'item': number, 'node': 'n2'}, b'', secrets.token_bytes(16))

        async def talk():
            got, ended, all_ended = collections.Counter(), set(), asyncio.Event()
            begun = asyncio.Event()

            def take(name, message):
                if message.type == 'OUTPUT':
                    got[name] += len(message.body)
                else:
                    ended.add((name, message.type))
                if len(got) == FOLLOWERS:
                    begun.set()
                if len(ended) == FOLLOWERS:
                    all_ended.set()
            connections = []
            for name in range(FOLLOWERS):
                connection = Connection(lambda message, name=name: take(name, message), lambda error: None,
                                        session=secrets.token_hex(wire.SESSION_SIZE // 2).encode())
                await asyncio.wait_for(connection.open(first.endpoint, 'test'), patience())
                ask(connection)
                connections.append(connection)
            await asyncio.wait_for(begun.wait(), patience())
            gate.touch()
            await asyncio.wait_for(all_ended.wait(), patience())
            for connection in connections:
                connection.close()
            return got, ended
        got, ended = asyncio.run(talk())
        expect({kind for _, kind in ended}, {'FOLLOWED'})
        expect(set(got.values()), {len(wanted)}, 'bytes of each')


GROUPS = {
    'streams': (streamed_output_comes_while_the_command_runs, much_output_comes_whole_and_in_order, parts_and_progress_of_a_worker_process_come,
                a_client_that_goes_stops_its_command_there, output_goes_on_when_servers_die, output_begins_anew_when_its_host_dies),
    'followers': (followers_at_the_home_see_all_from_the_beginning, a_short_command_is_followed_by_its_result, a_follower_sees_a_run_that_begins_anew,
                  an_item_of_another_node_is_followed_and_waited_for, a_follower_of_a_node_that_dies_is_told_so, a_hundred_connections_follow_one_item),
}

if __name__ == '__main__':
    end_on_signals()
    sys.exit(run([case for name, cases in GROUPS.items() if name in sys.argv[3:] or not sys.argv[3:] for case in cases]))
