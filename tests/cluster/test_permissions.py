#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The rights that the guide gives a node at the servers suffice, and without one of them the node says what is refused.

    test_permissions.py IRISD IRISCTL SOURCE-DIRECTORY
"""
import pathlib
import random
import re
import signal
import subprocess
import sys

from nodes import Nodes
from processes import Folder, end_on_signals, patience, wait_until
from servers import Servers
from tap import demand, expect, run
from test_follow import Program

# More than a message of the servers takes.
LARGE = 3 << 20
LIMITS = {'max-body': 2 * LARGE, 'max-output': 2 * LARGE}
RIG = '{ user: rig, password: rig }'


def rights():
    """The user of the guide, as it stands there, for a node of any name."""
    page = (pathlib.Path(sys.argv[3]) / 'doc/guide/cluster.md').read_text(encoding='utf-8')
    block = re.search(r'^authorization \{\n  users: \[\n(.*?)^  \]\n\}$', page, re.M | re.S).group(1)
    demand(block.count('n1-s3cret') == 1, block)
    return block


def user(name, without=()):
    text = re.sub(r'\bn1\b', name, rights())
    for right in without:
        demand(text.count(f'"{right}"') == 1, right)
        text = re.sub(re.escape(f'"{right}"') + ',?', '', text)
    return text


def start(folder, *users, **cluster):
    servers = Servers(folder, count=1, login='rig:rig', more='authorization { users: [\n' + RIG + '\n' + '\n'.join(users) + '\n] }')
    nodes = Nodes(folder, sys.argv[1], sys.argv[2], servers, count=0, limits=LIMITS, replicas=1, **cluster)
    nodes.all = [nodes.make(number, url=servers[0].url(f'n{number + 1}:n{number + 1}-s3cret')) for number in range(len(users))]
    for node in nodes:
        node.start()
    return nodes


def complaints(nodes):
    return [line for line in nodes.servers[0].process.text().splitlines() if ' Violation - ' in line]


def two_nodes_need_no_other_rights():
    with Folder() as folder:
        nodes = start(folder, user('n1'), user('n2'))
        for node in nodes:
            nodes.init(node)
        nodes.wait_for_all()
        one, two = nodes
        expect(one.json('cluster', 'check')['fault'], [])
        expect(one.irisctl('send', 'echo', 'there', '--node', 'n2', '--strict'), 'there')
        expect(two.irisctl('run', '--any-node', '--', 'echo', 'anywhere'), 'anywhere\n')
        # One that runs is cancelled there.
        number = one.irisctl('submit', '--detach', '--class', 'relaxed', '--node', 'n2', '--strict', 'command', 'sleep', '1000').strip()
        wait_until(lambda: two.json('status')['cluster']['guests'] == 1, 'it is at n2')
        two.irisctl('list', '--node', 'n1')
        one.irisctl('cancel', number)
        wait_until(lambda: two.json('status')['cluster']['guests'] == 0, 'it is cancelled at n2')
        # One that waits for its time becomes an item, and another is removed.
        expect(one.irisctl('submit', '--class', 'relaxed', '--delay', '2s', '--node', 'n2', '--strict', 'echo', 'later'), 'later')
        number = one.irisctl('submit', '--detach', '--class', 'relaxed', '--delay', '1d', '--node', 'n2', '--strict', 'echo', 'never').strip()
        wait_until(lambda: nodes.messages('IRIS_LATER') == 1, 'one waits in the cluster')
        one.irisctl('cancel', number)
        wait_until(lambda: nodes.messages('IRIS_LATER') == 0, 'nothing waits in the cluster')
        # What waits for a node that drains is taken by the other.
        for _ in range(40):
            one.irisctl('submit', '--detach', '--class', 'relaxed', '--node', 'n2', 'command', 'sleep', '0.05')
        one.irisctl('node', 'drain', 'n2')
        one.irisctl('node', 'resume', 'n2')
        # A message that no node can run goes to the dead letters.
        nodes.servers.store('iris.w.n1.soft.-.echo', b'this is no item of iris', 'letter')
        wait_until(lambda: one.json('status')['cluster']['dead_letters'] == 1, 'it is a dead letter')
        two.process.terminate()
        wait_until(lambda: any(node['name'] == 'n2' and node['state'] == 3 for node in one.json('nodes')['nodes']), 'n2 is gone')
        one.irisctl('node', 'remove', 'n2')
        expect(complaints(nodes), [])


def a_schedule_whose_node_is_down_needs_no_other_rights():
    with Folder() as folder:
        nodes = start(folder, user('n1'), user('n2'), **{'durable-without-sync': 'true'})
        for node in nodes:
            nodes.init(node)
        nodes.wait_for_all()
        one, ran = nodes[0], folder.path / 'ran'
        ran.touch()
        one.irisctl('every', '1s', '--name', 'x', '--node', 'n2', '--strict', '--', 'sh', '-c', f'echo x >>{ran}')
        wait_until(lambda: ran.stat().st_size >= 4, 'it runs')
        one.kill()
        size = ran.stat().st_size
        wait_until(lambda: ran.stat().st_size >= size + 6, 'it goes on')
        one.start()
        one.irisctl('schedules', '--remove', 'x')
        # Its head is left, which is empty.
        wait_until(lambda: nodes.messages('IRIS_LATER') == 1 and nodes.messages('IRIS') == 0, 'nothing waits in the cluster')
        expect(complaints(nodes), [])


def what_the_stream_has_lost_needs_no_other_rights():
    with Folder() as folder:
        nodes = start(folder, user('n1'), user('n2'), **{'lease-ms': 1000})
        for node in nodes:
            nodes.init(node)
        nodes.wait_for_all()
        one, two = nodes
        two.kill()
        number = one.irisctl('submit', '--detach', '--class', 'relaxed', '--node', 'n2', '--strict', 'echo', 'again').strip()
        wait_until(lambda: nodes.messages('IRIS') == 1, 'the stream has it')
        nodes.servers.api('STREAM.PURGE.IRIS', {})
        wait_until(lambda: nodes.messages('IRIS') == 1, 'the stream has it again')
        two.start()
        one.irisctl('wait', number)
        expect(one.irisctl('result', number), 'again')
        expect(complaints(nodes), [])


def large_results_output_and_dependencies_need_no_other_rights():
    with Folder() as folder:
        nodes = start(folder, user('n1'), user('n2'))
        for node in nodes:
            nodes.init(node)
        nodes.wait_for_all()
        one, two = nodes
        # Through the store of large bodies there and back, and nothing stays in it.
        body = random.Random(1).randbytes(LARGE)
        data = folder.path / 'body'
        data.write_bytes(body)
        told = subprocess.run([one.nodes.irisctl, '--dir', str(one.dir), 'submit', '--file', str(data), '--class', 'relaxed',
                               '--node', 'n2', '--strict', 'echo'],
                              env=one.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True, timeout=patience()).stdout
        demand(told == body, f'{len(told)} bytes: {told[:100]!r}')
        wait_until(lambda: nodes.messages('OBJ_iris_bodies') == 0, 'nothing is left of the bodies')
        # What a command writes there is told here, and at its own node to another one.
        gate = folder.path / 'gate'
        number = one.irisctl('submit', '--detach', '--class', 'relaxed', '--node', 'n2', '--strict', 'command', 'sh', '-c',
                             f'echo first; while ! test -e {gate}; do sleep 0.02; done; echo last').strip()
        program = Program(two, 'follow', '--node', 'n1', number)
        program.wait_for(b'first\n')
        # An item comes after one of another node.
        after = Program(two, 'run', '--after', f'n1/{number}', '--', 'echo', 'after')
        gate.touch()
        for program, output in ((program, b'first\nlast\n'), (after, b'after\n')):
            expect((program.end(), program.out), (0, output))
        # One that runs there and is interrupted here ends.
        program = Program(one, 'run', '--node', 'n2', '--strict', '--', 'sh', '-c', 'echo here; exec sleep 1000')
        program.wait_for(b'here\n')
        program.process.send_signal(signal.SIGINT)
        program.end()
        wait_until(lambda: two.json('status')['cluster']['guests'] == 0, 'it has ended at n2')
        expect(complaints(nodes), [])


def what_is_refused_is_named():
    with Folder() as folder:
        nodes = start(folder, user('n1', without=['$KV.iris_nodes.n1']))
        node = nodes[0]
        nodes.init(node)
        wait_until(lambda: 'may not publish to "$KV.iris_nodes.n1"; give it that right' in node.json('nodes')['reason'],
                   'the reason has the subject')
        demand('cluster: node n1' in node.irisctl('status') and 'give it that right' in node.irisctl('status'), 'status has it')
        expect(node.irisctl('run', 'echo', 'local'), 'local\n')


def init_without_its_rights_says_which():
    with Folder() as folder:
        nodes = start(folder, user('n1', without=['$JS.API.STREAM.CREATE.*']))

        def words():
            told = nodes[0].irisctl('cluster', 'init', status=None)
            return told + nodes[0].json('nodes')['reason']
        wait_until(lambda: 'may not publish to "$JS.API.STREAM.CREATE.IRIS' in words(), 'the subject is named')


def after_init_its_rights_may_be_taken_away():
    with Folder() as folder:
        nodes = start(folder, user('n1', without=['$JS.API.STREAM.CREATE.*', '$JS.API.CONSUMER.CREATE.*.*']), user('n2'))
        one, two = nodes
        nodes.init(two)
        # Also the consumers of n1 are made by the one that may, once n1 is known.
        wait_until(lambda: len(two.json('nodes')['nodes']) == 2, 'n2 knows n1')
        nodes.init(two)
        nodes.wait_for_all()
        expect(one.json('cluster', 'check')['fault'], [])
        expect(two.irisctl('send', 'echo', 'there', '--node', 'n1', '--strict'), 'there')
        expect(complaints(nodes), [])


if __name__ == '__main__':
    end_on_signals()
    sys.exit(run([two_nodes_need_no_other_rights, a_schedule_whose_node_is_down_needs_no_other_rights, what_the_stream_has_lost_needs_no_other_rights,
                  large_results_output_and_dependencies_need_no_other_rights, what_is_refused_is_named,
                  init_without_its_rights_says_which, after_init_its_rights_may_be_taken_away]))
