#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What several nodes cost, beside libnats alone on the same servers: three nats-servers and three irisd on this machine.

    cluster-bench.py BUILD [--only cycles,latency,local,idle,imbalance] [--rounds N] [--nats-server PATH]

What is compared runs in turn, in short rounds; a ratio is one of neighbours, and the table has the median of the ratios
with the least and the greatest. doc/guide/cluster.md tells more.
"""
import argparse
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / 'tests/cluster'))
from nodes import Nodes  # noqa: E402
from processes import Folder, end_on_signals, pause, wait_until  # noqa: E402
from servers import Servers  # noqa: E402

# Two workers of one place, on however many processors there are.
OPTIONS = ['--topology=package:1 core:2 pu:1', '--places=package']
QUOTA, PERIOD_US = 0.6, 10000


class Groups:
    """Control groups that limit each irisd to a part of a processor: of version 2 where it has cpu.max, else of version 1."""

    def __init__(self):
        self.made = []
        two, one = pathlib.Path('/sys/fs/cgroup/cgroup.controllers'), pathlib.Path('/sys/fs/cgroup/cpu')
        self.version = 2 if two.exists() and 'cpu' in two.read_text().split() else 1 if one.is_dir() else 0
        self.root = pathlib.Path('/sys/fs/cgroup') if self.version == 2 else one

    def make(self, name, pid):
        group = self.root / f'iris-bench-{os.getpid()}-{name}'
        group.mkdir()
        self.made.append((group, pid))
        if self.version == 2:
            (group / 'cpu.max').write_text(f'{int(QUOTA * PERIOD_US)} {PERIOD_US}\n')
        else:
            (group / 'cpu.cfs_period_us').write_text(f'{PERIOD_US}\n')
            (group / 'cpu.cfs_quota_us').write_text(f'{int(QUOTA * PERIOD_US)}\n')
        (group / 'cgroup.procs').write_text(f'{pid}\n')

    def remove(self):
        for group, pid in self.made:
            try:
                (self.root / 'cgroup.procs').write_text(f'{pid}\n')
            except OSError:
                pass  # it has ended
            group.rmdir()
        self.made = []


class Bench:
    def __init__(self, folder, build):
        self.folder, self.build, self.round = folder, build, 0
        irisd, irisctl = build / 'daemon/irisd', build / 'clients/irisctl/irisctl'
        options = [*OPTIONS, f'--plugin={build / "tests/bench/cluster/spin.so"}']
        self.servers = Servers(folder)
        self.nodes = Nodes(folder, irisd, irisctl, self.servers, 3, options=options).start()
        alone = Folder()
        folder.at_end.append(alone.close)
        self.alone = Nodes(alone, irisd, irisctl, None, 1, options=options).start()
        self.make_plain_streams()

    # --- the streams of libnats alone, as those of irisd

    def make_plain_streams(self):
        with self.servers.connect() as nats:
            for ours, plain, subject in (('IRIS', 'BENCH_WORK', 'bench.w'), ('IRIS_ENDS', 'BENCH_ENDS', 'bench.e.>')):
                config = nats.api('STREAM.INFO.' + ours)['config']
                config.pop('sources', None)
                nats.api('STREAM.CREATE.' + plain, {**config, 'name': plain, 'subjects': [subject]})
            name = next(one for one in nats.api('CONSUMER.NAMES.IRIS')['consumers'] if 'any' in one)
            config = nats.api(f'CONSUMER.INFO.IRIS.{name}')['config']
            config.update(name='taker', durable_name='taker', filter_subject='bench.w')
            config.pop('filter_subjects', None)
            nats.api('CONSUMER.CREATE.BENCH_WORK.taker.bench.w', {'stream_name': 'BENCH_WORK', 'config': config})

    def sizes(self):
        """Of an item and of an end, as irisd sends them: a round is run to see."""
        def state(stream):
            with self.servers.connect() as nats:
                return nats.api('STREAM.INFO.' + stream)['state']
        before = state('IRIS_ENDS')
        self.iris('--items=200', '--any-node')
        after = state('IRIS_ENDS')
        end = (after['bytes'] - before['bytes']) // (after['messages'] - before['messages'])
        # Of what the stream counts, the rest is subject and headers. An item is about as large as its end.
        return max(100, end - 120)

    # --- legs

    def load(self, *arguments):
        done = subprocess.run([str(self.build / 'tests/bench/cluster/cluster-load'), *map(str, arguments)],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True, timeout=300)
        return float(done.stdout)

    def iris(self, *arguments, node=None):
        return self.load('iris', (node or self.nodes[0]).dir, *arguments)

    def plain(self, *arguments):
        self.round += 1
        return self.load('plain', self.servers.urls(), '--work-stream=BENCH_WORK', '--ends-stream=BENCH_ENDS', '--consumer=taker',
                         '--work-subject=bench.w', f'--ends-subject=bench.e.{self.round}', f'--item-bytes={self.size}',
                         f'--end-bytes={self.size}', *arguments)


class Table:
    def __init__(self):
        self.rows = []

    def add(self, what, goal, unit, pairs, ratios, reached):
        """pairs: what it is of, and its figures."""
        for name, values in pairs:
            self.rows.append((what, name, f'{statistics.median(values):.4g}', f'{min(values):.4g} to {max(values):.4g}', unit, ''))
            what = ''
        name, values = ratios
        middle = statistics.median(values)
        self.rows.append(('', name, f'{middle:.3g}', f'{min(values):.3g} to {max(values):.3g}', '',
                          f'{goal}: {"reached" if reached(middle) else "missed"}'))

    def show(self):
        rows = [('what', 'of', 'median', 'spread', 'unit', 'goal'), *self.rows]
        widths = [max(len(row[i]) for row in rows) for i in range(6)]
        for row in rows:
            print('  '.join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip(), flush=True)


def in_turn(rounds, first, second):
    """The figures of both, of which each begins in half of the rounds; without the first round."""
    a, b = [], []
    for number in range(rounds + 1):
        if number % 2:
            y = second()
            x = first()
        else:
            x = first()
            y = second()
        if number:
            a.append(x)
            b.append(y)
    return a, b


def cycles(bench, table, rounds, _):
    iris, plain = in_turn(rounds, lambda: bench.iris('--items=4000', '--any-node'), lambda: bench.plain('--items=4000'))
    table.add('life cycles', 'at least 0.7', '/s', [('libnats', plain), ('irisd', iris)],
              ('irisd / libnats', [x / y for x, y in zip(iris, plain)]), lambda ratio: ratio >= 0.7)
    durable = [bench.iris('--items=4000', '--any-node', '--durable') for _ in range(max(2, rounds // 3))]
    table.rows.append(('', 'irisd, durable', f'{statistics.median(durable):.4g}', f'{min(durable):.4g} to {max(durable):.4g}', '/s', ''))


def latency(bench, table, rounds, _):
    iris, plain = in_turn(rounds, lambda: bench.iris('--items=150', '--any-node', '--single') / 1000,
                          lambda: bench.plain('--items=150', '--single') / 1000)
    table.add('one item at a time', 'at most 1.5 ms', 'ms', [('libnats', plain), ('irisd', iris)],
              ('irisd - libnats, ms', [x - y for x, y in zip(iris, plain)]), lambda more: more <= 1.5)


def local(bench, table, rounds, _):
    """In each round two new processes, as one may have its memory better placed than the other, and short turns of the two, as
    they differ by less than the machine does from one second to the next."""
    inside, alone, ratios = [], [], []
    for _ in range(rounds):
        for node in (bench.nodes[0], bench.alone[0]):
            node.process.terminate()
            node.start()
        bench.nodes.wait_for_all()
        done = subprocess.run([str(bench.build / 'tests/bench/cluster/cluster-load'), 'iris', str(bench.nodes[0].dir), '--items=1000',
                               '--turns=110', f'--beside={bench.alone[0].dir}'],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True, timeout=600)
        pairs = [tuple(map(float, line.split())) for line in done.stdout.splitlines()][10:]
        inside.append(statistics.median(one for one, _ in pairs))
        alone.append(statistics.median(one for _, one in pairs))
        ratios.append(statistics.median(one / other for one, other in pairs))
    table.add('local items', '0.98 or more', '/s', [('without a cluster', alone), ('in a cluster', inside)],
              ('in / without', ratios), lambda ratio: ratio >= 0.98)


def used_s(pid):
    fields = pathlib.Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def idle(bench, table, rounds, _):
    pids = [node.process.child.pid for node in [*bench.nodes, bench.alone[0]]]
    pause(2)
    begin, before = time.monotonic(), [used_s(pid) for pid in pids]
    pause(20)
    took = time.monotonic() - begin
    parts = [100 * (used_s(pid) - was) / took for pid, was in zip(pids, before)]
    table.add('idle, 20 s', 'at most 1 %', '% of a processor', [('without a cluster', parts[3:])],
              ('a node, %', parts[:3]), lambda part: part <= 1)


def imbalance(bench, table, rounds, groups):
    if not groups.version:
        table.rows.append(('imbalance', 'not measured: no control groups of cpu', '', '', '', ''))
        return
    try:
        for node in bench.nodes:
            groups.make(node.name, node.process.child.pid)
    except OSError as error:
        table.rows.append(('imbalance', f'not measured: {error}', '', '', '', ''))
        groups.remove()
        return

    parts = {'servers': [server.process.child.pid for server in bench.servers],
             'nodes': [node.process.child.pid for node in bench.nodes]}
    used = {(way, part): [] for way in ('all at n2', 'with stealing') for part in parts}

    def seconds(way, *how):
        before = {part: sum(map(used_s, pids)) for part, pids in parts.items()}
        took = 2000 / bench.iris('--items=2000', '--node=n2', '--service=spin', '--arg=1000', *how)
        for part, pids in parts.items():
            used[way, part].append(sum(map(used_s, pids)) - before[part])
        return took
    stolen, kept = in_turn(rounds, lambda: seconds('with stealing'), lambda: seconds('all at n2', '--strict'))
    groups.remove()
    table.add(f'imbalance (cgroup v{groups.version})', 'at least 2.4', 's', [('all at n2', kept), ('with stealing', stolen)],
              ('times as fast', [y / x for x, y in zip(stolen, kept)]), lambda ratio: ratio >= 2.4)
    for (way, part), values in used.items():
        table.rows.append(('', f'processor time, {way}: {part}', f'{statistics.median(values):.3g}',
                           f'{min(values):.3g} to {max(values):.3g}', 's', ''))


PARTS = {function.__name__: function for function in (cycles, latency, local, idle, imbalance)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('build', type=pathlib.Path)
    parser.add_argument('--only', default=','.join(PARTS))
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--nats-server')
    options = parser.parse_args()
    end_on_signals()
    if options.nats_server:
        os.environ['IRIS_NATS_SERVER'] = options.nats_server
    table, groups, begin = Table(), Groups(), time.monotonic()
    with Folder() as folder:
        folder.at_end.append(groups.remove)
        bench = Bench(folder, options.build.resolve())
        bench.size = bench.sizes()
        for name in options.only.split(','):
            # What the last part left has ended.
            wait_until(lambda: bench.nodes.messages('IRIS') == 0, 'the stream of items is empty')
            PARTS[name](bench, table, options.rounds, groups)
    print(f'three nats-servers, R3, each message synced; three irisd; {os.cpu_count()} processors, {platform.machine()}, '
          f'Linux {platform.release()}; {options.rounds} rounds in turn; messages of {bench.size} bytes; '
          f'{time.monotonic() - begin:.0f} s; load {os.getloadavg()[0]:.1f} at the end\n')
    table.show()


if __name__ == '__main__':
    main()
