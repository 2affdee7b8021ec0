#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Nodes join, see each other, drain, leave, die and come back, with real nats-servers.

    test_members.py IRISD IRISCTL

IRIS_CLUSTER_LONG adds the cases that wait for the life of an entry to end.
"""
import os
import sys
import time

from items import Faults
from nodes import Nodes
from processes import Folder, end_on_signals, patience, pause, wait_until
from pulse import Pulse
from servers import Servers
from tap import Skipped, demand, expect, run

STATES = {1: 'here', 2: 'draining', 3: 'gone', 4: 'removed'}
OWN_STATES = ['none', 'joining', 'joined', 'alone', 'refused']
# Of an entry, which is put again much sooner.
LIFE_S, REPORT_S = 15, 3
IDLE_S = 10


def long_case():
    if not os.environ.get('IRIS_CLUSTER_LONG'):
        raise Skipped('IRIS_CLUSTER_LONG is not set: it waits for an entry to end')


def states(node):
    return {one['name']: STATES[one['state']] for one in node.json('nodes')['nodes']}


def own_state(node):
    return OWN_STATES[node.json('nodes')['state']]


def wait_for_states(node, wanted):
    wait_until(lambda: wanted.items() <= states(node).items(), f'{node.name} sees {wanted}')


def leave(node):
    """Ends a node in order: it takes away its entry, and the others need not wait for the end of that."""
    with node.nodes.servers.connect() as nats:
        heard = nats.subscribe(f'$KV.iris_nodes.{node.name}')
        # The server knows of that when it answers.
        nats.api('INFO')
        expect(node.process.terminate(), 0, f'the end of {node.name}')
        while nats.next(heard, patience()).headers.get('KV-Operation') != 'DEL':
            pass


def start_all(folder, servers=1, count=3, **cluster):
    """All nodes joined; each makes its own consumers."""
    nodes = Nodes(folder, sys.argv[1], sys.argv[2], Servers(folder, count=servers), count=count, replicas=servers, **cluster)
    for node in nodes:
        node.start()
    for node in nodes:
        nodes.init(node)
    for node in nodes:
        wait_for_states(node, {other.name: 'here' for other in nodes})
    return nodes


def nodes_join_and_see_each_other():
    with Folder() as folder:
        nodes = start_all(folder, labels='rack=r1,zone=north')
        one = next(node for node in nodes[0].json('nodes')['nodes'] if node['name'] == 'n2')
        expect(one['labels'], ['rack=r1', 'zone=north'])
        expect([place['workers'] for place in one['places']], [1, 1])
        demand('echo' in one['services'], one)
        demand(one['endpoints'] == [nodes[1].endpoint], one)
        demand(all(len(line.rstrip()) <= 80 for line in nodes[0].irisctl('nodes').splitlines()), 'at most 80 columns')
        expect(nodes[0].json('cluster', 'check')['fault'], [])
        status = nodes[0].json('status')['cluster']
        expect((status['node'], status['state'], status['nodes_here']), ('n1', 'joined', 3))
        demand('joined' in nodes[0].irisctl('status'), 'status')


def an_idle_node_costs_little():
    with Folder() as folder:
        nodes = start_all(folder)
        ticks = os.sysconf('SC_CLK_TCK')

        def used(node):
            fields = open(f'/proc/{node.process.child.pid}/stat').read().rpartition(') ')[2].split()
            return (int(fields[11]) + int(fields[12])) / ticks
        pause(2)
        before, begin = [used(node) for node in nodes], time.monotonic()
        pause(IDLE_S)
        seconds = time.monotonic() - begin
        return 'cpu of each node: ' + ', '.join(f'{100 * (used(node) - was) / seconds:.2f} %' for node, was in zip(nodes, before))


def a_second_node_of_a_name_is_refused_by_name():
    with Folder() as folder:
        nodes = start_all(folder, count=1)
        (folder.path / 'second').mkdir()
        second = nodes.make(1, node='n1')
        second.start()
        wait_until(lambda: own_state(second) == 'refused', 'the second is refused')
        reason = second.json('nodes')['reason']
        demand(' n1, at ' + nodes[0].endpoint in reason and '[cluster] node' in reason, reason)
        demand(reason in second.process.text(), 'it is logged')
        expect(own_state(nodes[0]), 'joined')
        # It goes on with local work.
        second.irisctl('run', 'echo', 'x')


def a_refused_node_takes_no_items_of_its_name():
    with Folder() as folder:
        nodes = start_all(folder, count=2)
        second = nodes.make(2, node='n2').start()
        wait_until(lambda: own_state(second) == 'refused', 'the second is refused')
        for strict in (['--strict'], []):
            ran = {nodes[0].irisctl('run', '--node', 'n2', *strict, '--', 'sh', '-c', 'tr "\\0" " " </proc/$PPID/cmdline')
                   for _ in range(20)}
            demand(all(str(second.dir) not in one for one in ran), ran)
        # Its own items for others wait until it has a name.
        item = second.irisctl('submit', '--class', 'relaxed', '--detach', '--node', 'n1', '--strict', 'echo', 'x').strip()
        leave(nodes[1])
        wait_until(lambda: own_state(second) == 'joined', 'the second gets the name')
        expect(second.irisctl('wait', item), f'{item} done\n')


def a_command_that_runs_does_not_wait():
    with Folder() as folder:
        nodes = start_all(folder, count=2)
        fifo = folder.path / 'fifo'
        os.mkfifo(fifo)
        nodes[0].irisctl('submit', '--class', 'relaxed', '--detach', '--node', 'n2', '--strict', 'command', 'cat', fifo)

        def told():
            return [(one['running'], one['backlog']) for one in nodes[0].json('nodes')['nodes'] if one['name'] == 'n2']
        # Nothing else is there that could run.
        wait_until(lambda: told() == [(1, 0)], 'n2 runs it')
        wait_until(lambda: 'at worker processes: 0; in the cluster: 1;' in nodes[0].irisctl('status'), 'its home says where it is')
        fifo.write_text('x')


def a_full_stream_is_noticed():
    with Folder() as folder:
        nodes = start_all(folder, count=2, **{'stream-items': 10})
        expect(nodes[0].json('cluster', 'check')['notice'], [])
        leave(nodes[1])
        wait_for_states(nodes[0], {'n2': 'gone'})
        for _ in range(12):
            nodes[0].irisctl('submit', '--class', 'relaxed', '--detach', '--node', 'n2', '--strict', 'echo', 'x')
        wait_until(lambda: 'has 10 of 10 items' in nodes[0].irisctl('cluster', 'check'), 'check says so')


def a_node_with_another_secret_stays_out():
    with Folder() as folder:
        nodes = start_all(folder, count=2)
        other = folder.path / 'other-secret'
        other.write_text('0123456789abcdef' * 4 + '\n')
        other.chmod(0o600)
        third = nodes.make(2, **{'secret-file': other}).start()
        wait_until(lambda: own_state(third) == 'refused', 'the third is refused')
        reason = third.json('nodes')['reason']
        demand('secret-file' in reason and 'n1' in reason and 'n2' in reason, reason)
        demand('n3' not in states(nodes[0]), 'the others do not know it')
        third.irisctl('submit', '--class', 'relaxed', '--detach', '--any-node', '--delay', '1h', 'echo', 'x')
        # It sets aside none of their items.
        for _ in range(20):
            expect(nodes[0].irisctl('run', '--any-node', '--', 'echo', 'x'), 'x\n')
        expect(nodes.messages('IRIS_DEAD'), 0)
        expect(third.irisctl('run', 'echo', 'local'), 'local\n')
        expect(nodes.messages('IRIS_LATER'), 0, 'copies of its items')
        third.process.terminate()
        third.cluster['secret-file'] = nodes.secret
        third.write_config()
        third.start()
        wait_until(lambda: own_state(third) == 'joined', 'it joins with their secret')
        wait_until(lambda: nodes.messages('IRIS_LATER') == 1, 'the copy that it held back is stored')


def a_drained_node_says_so_and_stays_so():
    with Folder() as folder:
        nodes = start_all(folder, count=2)
        nodes[0].irisctl('node', 'drain', 'n2')
        demand('already' in nodes[0].irisctl('node', 'drain', 'n2'), 'the asked node knows at once')
        for node in nodes:
            wait_for_states(node, {'n2': 'draining', 'n1': 'here'})
        demand('already' in nodes[1].irisctl('node', 'drain', 'n2'), 'the second time')
        leave(nodes[1])
        wait_for_states(nodes[0], {'n2': 'gone'})
        nodes[1].start()
        wait_for_states(nodes[0], {'n2': 'draining'})
        nodes[1].irisctl('node', 'resume', 'n2')
        for node in nodes:
            wait_for_states(node, {'n2': 'here', 'n1': 'here'})


def a_node_that_is_gone_is_removed_and_may_come_back():
    with Folder() as folder:
        nodes = start_all(folder, count=2)
        words = nodes[0].irisctl('node', 'remove', 'n2', status=None)
        demand('it is here' in words, words)
        words = nodes[0].irisctl('node', 'drain', 'n9', status=None)
        demand('no node “n9”' in words, words)
        leave(nodes[1])
        wait_for_states(nodes[0], {'n2': 'gone'})
        nodes[0].irisctl('node', 'remove', 'n2')
        wait_for_states(nodes[0], {'n2': 'removed'})
        # Also an irisd that was not there before knows it.
        nodes[0].process.terminate()
        nodes[0].start()
        wait_for_states(nodes[0], {'n2': 'removed', 'n1': 'here'})
        nodes[1].start()
        for node in nodes:
            wait_for_states(node, {'n2': 'here', 'n1': 'here'})


def a_node_ends_while_no_server_answers():
    with Folder() as folder:
        nodes = Nodes(folder, sys.argv[1], sys.argv[2], Servers(folder, count=1), count=1, replicas=1)
        # What is used after it was freed is not what it was.
        nodes[0].env['MALLOC_PERTURB_'] = '165'
        nodes[0].start()
        nodes.init(nodes[0])
        wait_for_states(nodes[0], {'n1': 'here'})
        with nodes.servers.stopped():
            expect(nodes[0].process.terminate(), 0, 'the end of irisd')


def without_servers_a_node_works_alone_and_joins_later():
    with Folder() as folder:
        servers = Servers(folder, count=1, start=False)
        nodes = Nodes(folder, sys.argv[1], sys.argv[2], servers, count=1, replicas=1)
        node = nodes[0].start()
        wait_until(lambda: 'cannot join' in node.json('nodes')['reason'], 'it says why')
        expect(own_state(node), 'joining')
        expect(node.irisctl('run', 'echo', 'local'), 'local\n')
        words = node.irisctl('cluster', 'init', status=None)
        demand('no connection' in words, words)
        servers.start()
        wait_until(lambda: 'irisctl cluster init' in node.json('nodes')['reason'], 'it says what is missing')
        words = node.irisctl('cluster', 'check', status=1)
        demand('is missing' in words and 'promise' not in words, words)
        node.irisctl('cluster', 'init')
        wait_until(lambda: own_state(node) == 'joined', 'it joins')
        servers[0].process.kill()
        wait_until(lambda: own_state(node) == 'alone', 'it is alone')
        expect(states(node), {'n1': 'here'})
        demand('alone' in node.irisctl('status'), 'status says so')
        expect(node.irisctl('run', 'echo', 'local'), 'local\n')
        servers.restart(servers[0])
        wait_until(lambda: own_state(node) == 'joined', 'it joins again')


def wrong_credentials_are_refused_and_named():
    with Folder() as folder:
        servers = Servers(folder, count=1, more='authorization { user: me, password: right }', login='me:right')
        nodes = Nodes(folder, sys.argv[1], sys.argv[2], servers, count=1, replicas=1)
        nodes[0].cluster['url'] = servers[0].url('me:wrong-word')
        nodes[0].write_config()
        node = nodes[0].start()
        wait_until(lambda: own_state(node) == 'refused', 'it is refused')
        reason = node.json('nodes')['reason']
        demand('do not accept its user' in reason and '[cluster] url' in reason and 'Violation' not in reason, reason)
        everything = node.process.text() + node.irisctl('nodes', '--json') + node.irisctl('status')
        demand('wrong-word' not in everything, 'no message has the password')
        expect(node.irisctl('run', 'echo', 'local'), 'local\n')


def a_killed_leader_expires_no_node():
    with Folder() as folder:
        nodes, silences = start_all(folder, servers=3), Faults()
        Pulse(folder, nodes.servers, silences, led=['STREAM.INFO.KV_iris_nodes'])
        nodes.servers.leader('KV_iris_nodes').process.kill()
        end = time.monotonic() + LIFE_S + 5
        seen = set()
        while time.monotonic() < end:
            for node in nodes:
                seen |= set(states(node).values())
            pause(0.3)
        for node in nodes:
            wait_until(lambda: own_state(node) == 'joined', f'{node.name} is joined again')
        # On a busy machine servers may need longer for another leader than an entry lives.
        if silences.longest() < LIFE_S - 2 * REPORT_S:
            expect(seen, {'here'})
        return f'without a leader for {silences.longest():.1f} s'


def a_killed_node_is_gone_after_its_life():
    long_case()
    with Folder() as folder:
        nodes = start_all(folder, count=2)
        nodes[1].kill()
        begin = time.monotonic()
        wait_for_states(nodes[0], {'n2': 'gone'})
        seconds = time.monotonic() - begin
        demand(seconds > LIFE_S - 4, f'only {seconds:.1f} s')
        # The second start waits for nothing: the entry of the first has ended.
        nodes[1].start()
        wait_for_states(nodes[0], {'n2': 'here'})
        return f'gone after {seconds:.1f} s'


def a_killed_node_comes_back_when_its_old_entry_has_ended():
    long_case()
    with Folder() as folder:
        nodes = start_all(folder, count=2)
        nodes[1].restart()
        begin = time.monotonic()
        wait_until(lambda: own_state(nodes[1]) != 'joined', 'it waits')
        expect(own_state(nodes[1]), 'joining')
        demand('last run' in nodes[1].json('nodes')['reason'], nodes[1].json('nodes')['reason'])
        wait_until(lambda: own_state(nodes[1]) == 'joined', 'it joins')
        return f'joined after {time.monotonic() - begin:.1f} s'


if __name__ == '__main__':
    end_on_signals()
    sys.exit(run([
        nodes_join_and_see_each_other,
        a_second_node_of_a_name_is_refused_by_name,
        a_refused_node_takes_no_items_of_its_name,
        a_node_with_another_secret_stays_out,
        a_command_that_runs_does_not_wait,
        a_full_stream_is_noticed,
        a_drained_node_says_so_and_stays_so,
        a_node_that_is_gone_is_removed_and_may_come_back,
        a_node_ends_while_no_server_answers,
        without_servers_a_node_works_alone_and_joins_later,
        wrong_credentials_are_refused_and_named,
        a_killed_leader_expires_no_node,
        an_idle_node_costs_little,
        a_killed_node_is_gone_after_its_life,
        a_killed_node_comes_back_when_its_old_entry_has_ended,
    ]))
