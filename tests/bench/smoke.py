#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every workload of iris-bench runs, in a small size, and says what it ran. TAP.

    smoke.py IRIS-BENCH WORKLOAD|options|csv|chart|compare|diff|page
    smoke.py IRIS-BENCH paper all|ROW...
    smoke.py IRIS-BENCH daemon IRISD

No time is asserted: what is checked is that every contender took part in every load, that samples
and counts are those that were asked for, and that the JSON holds together.
"""
import csv
import html.parser
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

# Under a sanitizer each run takes many times as long: one round, and tables of a few workloads only.
BRIEF = 'IRIS_SMOKE_BRIEF' in os.environ
ROUNDS = 1 if BRIEF else 2
QUICK_ROUNDS = 2  # of `paper --quick'
SMALL = ['--rounds', str(ROUNDS), '--workers', '2', '--scale', '0.002', '--variants', 'one']
BASE = {'default', 'lock-free', 'work-stealing', 'places', 'main-context'}
MANY = BASE - {'main-context'}
GLIB = {'gthreadpool', 'gasyncqueue'}
FORKS = {'fork-join', 'fork-join-for'}
NUMERIC = {'sequential': {'plain'}, '1 worker': MANY | GLIB | FORKS,
           '2 workers': MANY | GLIB | FORKS}
CONTAINERS = {
    'shared': {'gasyncqueue', 'gqueue+gmutex', 'queue', 'lfqueue', 'stack', 'ring'},
    'single-consumer': {'mpsc'},
    'deque': {'chase-lev', 'split', 'abp', 'steal-half', 'locked', 'idempotent'},
}

# In all loads of grain. oneTBB's threads give way a hundred times before they sleep, which on a busy machine takes
# a second a load; external and recursive make the same calls of it in fewer loads.
ONLY = [word for name in sorted(BASE | GLIB) for word in ('--only', name)]

# Placements: what hints may be worth. The loads of the Cache Stress Test.
PLACED = {'best', 'worst', 'ignorant'}
STRESS = [f'{order}, {how}' for order in ('in order', 'linked') for how in ('at once', 'by turns')]
LOCALITY = {
    'cache-latency': {'4 KiB': {'chase', 'stream'}},
    'cache-threads': {load: PLACED | {'random'} for load in STRESS},
    'cache-intervals': {load: PLACED | {'random', 'best, strict', 'worst, strict', 'ignorant, dealt'}
                        for load in STRESS},
    'merge-sort': {'sort': PLACED | {'best, strict', 'worst, strict', 'ignorant, dealt'}},
    'block-matrix': {'product': PLACED | {'best, strict', 'worst, strict', 'ignorant, dealt'}},
}

SECTIONS = ('single_ctr', 'multiple_ctr', 'doubly_list', 'prod_cons', 'affinity', 'mlt_ctr_mlt_lock',
            'multiple_fifo')
LOCKS = {'lock:off', 'lock:always', 'lock:adaptive'}

KERNELS = ('jacobi', 'lud', 'heat')
PAPER = {'overhead', 'steals', 'lock-data', 'no-hints', 'grande', 'splash'}  # of the suite paper
MEASURES = {'steals per task', 'steal rate'}  # in place of contenders
STEALING = ('', ', steals per task', ', steal rate', ', steal overhead')
CROSSED = {f'work-stealing:deque={deque},steal={amount}' for deque in ('split', 'chase-lev')
           for amount in ('one', 'half')}

PROGRAMS = ('barnes', 'cholesky', 'fft', 'fmm', 'lu-cont', 'lu-noncont', 'radix', 'water-nsq', 'water-spa')

# Which contenders must have taken part, at least, by load.
EXPECTED = {
    'recursive': {'items': MANY | GLIB, 'messages': MANY},
    'no-hints': {load: {'work-stealing', 'places', 'places:layout=shared'}
                 for load in ('items that items make', 'items from outside', 'items of 10 µs that items make')},
    'external': {'1 producer': BASE | GLIB, '4 producers': BASE | GLIB},
    'aged': {f'{what}, {when}': who for what, who in (('push', MANY | {'gthreadpool'}), ('messages', MANY))
             for when in ('fresh', 'aged')} | {f'memory {when}': MANY for when in ('before', 'at the peak', 'after')},
    'grain': {f'{side}, {grain} µs': (MANY if side == 'inside' else BASE) | GLIB | ({'plain'} if grain else set())
              for side in ('outside', 'inside') for grain in (0, 1, 10, 100)},
    'imbalance': {'imbalance': MANY | GLIB | {'plain'}},
    'wake': {'median': BASE | GLIB, '99th percentile': BASE | GLIB},
    'round-trip': {f'{n} under way': {'iris-task', 'gtask'} for n in (1, 100)},
    'idle': {'processor use': BASE | GLIB, 'wake-ups': BASE | GLIB},
    'fib': {'call': {'plain'}, '1 worker': MANY | {'fork-join'},
            '2 workers': MANY | {'fork-join'}},
    'jacobi': NUMERIC,
    'lud': NUMERIC,
    'heat': NUMERIC,
    'overhead': {load: {'plain', 'work-stealing', 'work-stealing:deque=chase-lev', 'default'} | FORKS
                       | ({'plain, in tiles'} if load in KERNELS else set())
                 for load in ('tasks of 20 ns', *KERNELS)},
    'steals': {load + measure: CROSSED | ({'fork-join'} if load == 'fib' else FORKS if load in KERNELS else set())
               | ({'plain'} if load in KERNELS and not measure else set())
               for load in (*KERNELS, 'fib', 'recursive') for measure in STEALING}
              | {'correlation with steal overhead': MEASURES},
    'grande': {load: {'plain', 'work-stealing', 'places', '2 places', 'lock-free', 'default'}
               for load in ('crypt A', 'lufact B', 'sor A', 'series A', 'sparsematmult A', 'moldyn A',
                            'montecarlo A', 'raytracer A')},
    'locks': {f'{kind}, {n} {who}{time}': LOCKS | ({'gmutex'} if who == 'threads' else set())
              for kind in SECTIONS for n in (4, 8, 16, 32, 64, 128) for who in ('threads', 'items')
              for time in ('', ', processor time')},
    'lock-data': {f'{size} KiB, {n} {who}{time}': LOCKS | ({'gmutex'} if who == 'threads' else set())
                  for size in (4, 32, 256) for n in (4, 16, 64) for who in ('threads', 'items')
                  for time in ('', ', processor time')},
    'ping-pong': {'actors': MANY | {'gasyncqueue'}, 'ports': MANY},
    'fan-in': {'actors': MANY | {'gasyncqueue'}, 'ports': MANY},
    'ring': {'actors': MANY},
    'coordinate': {'arbiter': MANY | {'gasyncqueue'}, 'exclusive receiver': MANY},
    'queues': {f'{how}, {n} thread{"s" if n > 1 else ""}': who
               for n in (1, 2, 4) for how, who in CONTAINERS.items()} | {'steal': CONTAINERS['deque']},
    'splash': {f'{program}, {team}': {'lock:off', 'lock:always', 'lock:adaptive'}
               for program in PROGRAMS for team in ('4 threads', '32 threads', '32 items')},
}
EXPECTED.update(LOCALITY)
# Of the papers, with contenders of their own; a small --scale makes them quick.
POLICIES = {'default', 'core', 'random', 'one', 'random+one', 'half', 'nothing', 'mailboxes', 'shared'}
REFUSING = {'nothing', 'costly', 'move-cost=2000', 'move-cost=20000'}
BESIDE = {'alone', 'alone, watching', 'beside', 'beside, watching', 'beside, one worker fewer'}
OPEN = {
    'refused': {f'{what}{of}': REFUSING for what, of in (
        ('1 item of nothing', ' at a time'), ('1 item of nothing', ': refused'), ('4 items of 0.2 µs', ' at a time'),
        ('32 items of 0.2 µs', ' at a time'), ('1000 items of 20 µs', ' at a time'))},
    'contention': {'2 items a worker and phase': BESIDE, '64 items a worker and phase': BESIDE},
    'footprint': {f'{n} a worker': {'ignorant', 'declared', 'kept apart'} for n in ('1 array', '2 arrays')},
    'data': {load: {'one thread', 'first touch', 'place memory'} for load in ('sweeps', 'making the data')},
    'sizes': {f'{load}, 16 workers': POLICIES for load in ('recursive', 'fib', 'imbalance', 'stress', 'jacobi')},
    'simulated': {f'{load}, {n}': {'real', 'simulated'} for n in ('1 worker', '2 workers') for load in (
        'recursive, 0.2 µs', 'fib, 0 µs', 'fib, 1 µs', 'imbalance, 10 µs', 'stress, 1 µs', 'jacobi, 1 µs')},
}

# Items of a run where the size is given: (options, {load: items}).
COUNTS = {
    'recursive': (['--outer', '3', '--inner', '5'], {'items': 18, 'messages': 18}),
    'no-hints': (['--outer', '3', '--inner', '5', '--items', '7'],
                 {'items that items make': 18, 'items from outside': 15, 'items of 10 µs that items make': 8}),
    'external': (['--items', '40'], {'1 producer': 40, '4 producers': 40}),
    'aged': (['--items', '2000'], {'push, fresh': 400, 'push, aged': 400, 'memory after': 0}),
    'grain': (['--items', '6'], {'outside, 1 µs': 6, 'inside, 0 µs': 7}),
    'imbalance': (['--items', '4', '--work', '5'], {'imbalance': 5}),
    'wake': (['--items', '3'], {'median': 0}),
    'round-trip': (['--items', '30'], {'1 under way': 30, '100 under way': 30}),
    'idle': (['--seconds', '0.01'], {'wake-ups': 0}),
    'fib': (['--size', '10'], {'1 worker': 88, '2 workers': 88}),
    'jacobi': (['--size', '20', '--steps', '3', '--tile', '8'], {'1 worker': 9}),
    'lud': (['--size', '24', '--tile', '8'], {'2 workers': 1 + 4 + 4 + 1 + 2 + 1 + 1}),
    'heat': (['--size', '7', '--steps', '5', '--tile', '3'], {'2 workers': 15}),
    'overhead': (['--items', '70'], {'tasks of 20 ns': 70}),
    'steals': (['--outer', '3', '--inner', '5'], {'recursive': 18, 'recursive, steal rate': 0}),
    'grande': ([], {'crypt A': 2 * 64, 'sor A': 200 * 14, 'moldyn A': 150 * 16, 'raytracer A': 32}),
    'locks': (['--items', '3000'], {'single_ctr, 4 threads': 3000, 'multiple_fifo, 128 items': 2816,
                                    'affinity, 8 threads': 368}),
    'lock-data': (['--items', '100'], {'32 KiB, 16 threads': 96, '256 KiB, 64 items': 64}),
    'ping-pong': (['--items', '5'], {'actors': 5, 'ports': 5}),
    'fan-in': (['--items', '16'], {'actors': 16, 'ports': 16}),
    'ring': (['--items', '7'], {'actors': 7}),
    'coordinate': (['--items', '8'], {'arbiter': 8, 'exclusive receiver': 8}),
    'splash': ([], {'barnes, 32 items': 0}),
    'queues': (['--items', '30'], {'shared, 2 threads': 60, 'steal': 30, 'deque, 4 threads': 60}),
    'cache-latency': (['--items', '1024'], {'4 KiB': 1024}),
    'cache-threads': (['--places', '2', '--steps', '3'], {'linked, by turns': 48, 'in order, at once': 48}),
    'cache-intervals': (['--places', '2', '--steps', '3'], {'linked, by turns': 48, 'in order, at once': 48}),
    'merge-sort': (['--places', '2', '--items', '1000', '--tile', '7'], {'sort': 1000}),
    'block-matrix': (['--places', '2', '--size', '256', '--tile', '64'], {'product': 64 + 4 + 32}),
}

results = []


def check(good, name, why=''):
    results.append(bool(good))
    for line in str(why).splitlines() if not good else []:
        print(f'# {line}')
    print(f'{"ok" if good else "not ok"} {len(results)} - {name}', flush=True)
    return good


def run(*arguments):
    return subprocess.run([BENCH, *arguments], capture_output=True, text=True, check=False)


def measure(workload, *options):
    """The report of a run as JSON; None, and a failed check, if there is none."""
    done = run(workload, *SMALL, *options, '--json')
    try:
        report = json.loads(done.stdout)
    except ValueError as error:
        check(False, f'{workload} prints JSON', f'{error}\n{done.stdout[:500]}\n{done.stderr}')
        return None
    check(done.returncode == 0 and not done.stderr, f'{workload} ends well and is quiet',
          f'status {done.returncode}\n{done.stderr}')
    return report


def broken_series(series, rounds=ROUNDS):
    """What is wrong with a series; None if nothing is."""
    samples = series['samples']
    if len(samples) != rounds:
        return f'{len(samples)} samples'
    if series['unit'] == 's' and min(samples) <= 0:
        return f'a sample of {min(samples)} s'
    if abs(series['median'] - statistics.median(samples)) > 1e-12 * max(1, abs(series['median'])):
        return f'a median of {series["median"]} for {samples}'
    if (series['min'], series['max']) != (min(samples), max(samples)):
        return 'a range that is not that of its samples'
    if series['items'] and abs(series['ns_per_item'] - series['median'] * 1e9 / series['items']) \
            > 1e-6 * series['ns_per_item']:
        return f'{series["ns_per_item"]} ns for an item'
    return None


def check_result(result, expected):
    name = result['workload']
    found = {}
    for series in result['series']:
        found.setdefault(series['load'], set()).add(series['contender'])
    check(set(expected) <= set(found), f'{name} ran its loads', f'{sorted(found)}')
    missing = {load: sorted(contenders - found.get(load, set()))
               for load, contenders in expected.items() if contenders - found.get(load, set())}
    check(not missing, f'{name}: every contender ran every load', f'missing: {missing}')
    wrong = [f'{s["load"]}, {s["contender"]}: {broken_series(s)}'
             for s in result['series'] if broken_series(s)]
    check(not wrong, f'{name}: its samples are those of its rounds', '\n'.join(wrong))


def test_workload(workload):
    options, counts = COUNTS[workload]
    report = measure(workload, *options, *(ONLY if workload == 'grain' else ()))
    if report is None:
        return
    machine = report['machine']
    check('processors' in machine['description'] and len(machine['load_at_start']) == 3,
          f'{workload} says on which machine, and under what load', machine)
    result, = report['results']
    check_result(result, EXPECTED[workload])
    for load, items in counts.items():
        found = {s['items'] for s in result['series']
                 if s['load'] == load and s['contender'] != 'plain'}
        check(found == {items}, f'{workload}, {load}: {items} items', found)
    if BRIEF and workload not in {'recursive', 'overhead', 'wake'}:
        return
    # The numbers are known to be right by now: of the table, one of iris's own and one peer show all.
    some = {name for who in EXPECTED[workload].values() if not who <= MEASURES | {'plain'}
            for name in (min(who - {'plain'}), *(who & {'gthreadpool'}))}
    done = run(workload, *SMALL, *options, *(word for name in sorted(some) for word in ('--only', name)))
    check(done.returncode == 0 and all(load in done.stdout for load in EXPECTED[workload]),
          f'{workload} prints a table', done.stdout + done.stderr)


def test_compare():
    report = measure('compare', '--no-peers', '--only', 'work-stealing', '--only', 'default')
    if report is None:
        return
    names = {result['workload'] for result in report['results']}
    # Containers, locks and round trips have names of their own, of which none was chosen.
    check(names == set(EXPECTED) - set(LOCALITY) - PAPER - {'queues', 'locks', 'round-trip'},
          'compare runs what the chosen can run',
          sorted(names))
    verdicts = {goal['reached'] for goal in report['goals']}
    check(verdicts <= {'yes', 'NO', 'shown', 'unknown', 'noise'} and len(report['goals']) > 15,
          'compare holds goals against the results', report['goals'])
    known = [goal for goal in report['goals'] if goal['reached'] in ('yes', 'NO')]
    check(any('recursive' in goal['figure'] for goal in known)
          and any('against onetbb' in goal['figure'] and goal['reached'] == 'unknown'
                  for goal in report['goals']),
          'a goal is unknown when who it takes took no part', report['goals'])


# What a row of the papers runs, at least, and how many published figures stand beside it.
ROWS = {'A7': ('recursive', 4), 'B3': ('no-hints', 6), 'B13': ('grande', 16), 'D1': ('lock-data', 9),
        'D2': ('locks', 42), 'B14': ('cache-threads', 11)}


def broken_figure(result, is_counted):
    """What is wrong with the figure of a result; None if nothing is. What is counted, not every machine has."""
    figure = result['figure']
    for name in ('row', 'title', 'source', 'machine', 'differs'):
        if not figure[name]:
            return f'no {name}'
    for published in figure['published']:
        ours = [published[name] for name in ('median_low', 'median', 'median_high')]
        if ours == [None] * 3 and (published['load'] is None or published['counter'] and not is_counted):
            continue
        if None in ours or ours != sorted(ours):
            return f'{published["what"]}: ours is {ours}'
    return None


def test_paper(*chosen):
    """The rows in their quick sizes: every run checks its results."""
    done = run('paper', *chosen, '--quick', '--workers', '2', '--variants', 'none', '--no-peers', '--json')
    if not check(done.returncode == 0 and not done.stderr, 'the rows of the papers run, and their results are right',
                 f'status {done.returncode}\n{done.stdout[:500]}\n{done.stderr}'):
        return
    report = json.loads(done.stdout)
    check(report['quick'] and report['rounds'] == QUICK_ROUNDS and not report['failures'], 'paper is quick when it is told to be')
    wrong = [f'{result["workload"]}: {why}' for result in report['results']
             if (why := broken_figure(result, not report['no_counters']))]
    check(not wrong, 'every figure has a source, and ours beside the published one', '\n'.join(wrong))
    for row in ROWS if chosen == ('all',) else chosen:
        workload, n = ROWS[row]
        found = [result for result in report['results'] if row in result['figure']['row'].split()
                 and result['workload'] == workload]
        check(len(found) == 1 and len(found[0]['figure']['published']) == n, f'row {row} is redone by {workload}')
    wrong = [f'{result["workload"]}, {s["load"]}, {s["contender"]}: {broken}'
             for result in report['results'] for s in result['series']
             if (broken := broken_series(s, QUICK_ROUNDS))]
    check(not wrong, 'samples of the papers are those of their rounds', '\n'.join(wrong))
    done = run('paper', 'b3', 'A7', '--quick', '--workers', '2', '--variants', 'none', '--no-peers')
    check(done.returncode == 0 and 'Vacation!' in done.stdout and 'published' in done.stdout
          and done.stdout.index('recursive:') < done.stdout.index('no-hints:'),
          'rows can be chosen, and print their figures', done.stdout + done.stderr)
    done = run('paper', 'A7', 'B3', '--quick', '--only', 'places', '--places', 'nonsense', '--json')
    failures = json.loads(done.stdout)['failures']
    check(done.returncode == 1 and len(failures) == 2 and all('is no level' in why for why in failures)
          and '2 of the workloads failed' in done.stderr,
          'a workload that cannot run is named in the report, and costs the others nothing', done.stdout + done.stderr)
    done = run('paper', 'A7', 'B3', '--quick', '--only', 'default', '--json')
    check(done.returncode == 0 and [result['workload'] for result in json.loads(done.stdout)['results']] == ['recursive'],
          'of the rows those run that the chosen contenders can run', done.stderr)
    done = run('paper')
    rows = {row for result in report['results'] for row in result['figure']['row'].split()}
    check(done.returncode == 0 and all(row in done.stdout for row in rows), 'paper alone lists the rows', done.stdout)
    wide = [line for line in done.stdout.splitlines() if len(line) > 80]
    check(not wide, 'the list fits into 80 columns', '\n'.join(wide))


# Rows of daemon: the load, and who took part beside irisd, if that program is there.
SERVERS = {
    'durable, 1 client': {'beanstalkd -f0': 'beanstalkd'},
    'durable, 8 clients': {'beanstalkd -f0': 'beanstalkd'},
    'durable, pipelined': {'beanstalkd -f0': 'beanstalkd'},
    'durable, slow disk': {'beanstalkd -f0': 'beanstalkd'},
    'relaxed, pipelined': {'beanstalkd': 'beanstalkd'},
    'echo, median': {'zeromq': 'true'},
    'echo, 99th percentile': {'zeromq': 'true'},
    'volatile, 4 clients': {'gearmand': 'gearmand', 'beanstalkd, no log': 'beanstalkd'},
    'volatile, watched': {'irisd, watched': 'irisd-web'},
    'volatile over TCP, pipelined': {'irisd, encrypted': 'true'},
    'volatile over TCP, no batches': {'irisd, encrypted': 'true'},
    'command': {'posix_spawn': 'true'},
    'command, one at a time': {'posix_spawn': 'true'},
    'flood, 99th percentile': {name: 'true' for name in ('irisd, quiet', 'zeromq', 'zeromq, quiet')},
    'flood of batches, 99th percentile': {'irisd, quiet': 'true'},
    '30 sleeping commands, 99th percentile': {'irisd, quiet': 'true'},
    '1000 sleeping commands, 99th percentile': {'irisd, quiet': 'true'},
}


def find_server(name):
    web = Path(BENCH).resolve().parents[2] / 'clients/web/irisd-web'
    if name == 'irisd-web' and web.is_file():
        return str(web)
    return shutil.which(name) or shutil.which(name, path='/usr/sbin')


def test_daemon(irisd):
    done = run('daemon', *SMALL, '--irisd', irisd, '--json')
    absent = [name for name in ('beanstalkd', 'gearmand', 'irisd-web') if not find_server(name)]
    if not check(done.returncode == 0 and all(f'{name} is not installed' in done.stderr for name in absent)
                 and bool(done.stderr) == bool(absent),
                 'daemon ends well, and names the servers that are not installed', done.stderr):
        return
    report = json.loads(done.stdout)
    daemon, backlog = report['results']
    check_result(daemon, {load: {'irisd'} | {name for name, program in peers.items() if find_server(program)}
                          for load, peers in SERVERS.items()})
    check_result(backlog, {load: {'irisd'} for load in ('memory above the payload', 'start after a kill',
                                                        'the same, behind busy workers', 'start with those')})
    unknown = [goal for goal in report['goals'] if goal['reached'] == 'unknown']
    check(len(report['goals']) == 22 and (absent or not unknown),
          'daemon holds its goals against the results', report['goals'])
    done = run('daemon', *SMALL, '--irisd', irisd, '--no-peers', '--only', 'echo', '--json')
    check(done.returncode == 0 and {(s['load'], s['contender']) for s in json.loads(done.stdout)[
        'results'][0]['series']} == {('echo, median', 'irisd'), ('echo, 99th percentile', 'irisd')},
          'rows and peers can be left out', done.stderr)
    done = run('daemon', *SMALL, '--only', 'sleep')
    check(done.returncode == 2 and 'has no “sleep”; there are durable' in done.stderr,
          'a row that is not there is refused', done.stderr)
    done = run('backlog', *SMALL, '--irisd', irisd)
    check(done.returncode == 0 and not done.stderr, 'the backlog runs by itself as well', done.stderr)
    done = run('daemon', *SMALL, '--only', 'echo', '--irisd', '/bin/false')
    check(done.returncode == 1 and 'irisd did not start' in done.stderr,
          'an irisd that does not start is told', done.stderr)
    test_killed(irisd)


def processes_below(folder):
    """Who was started with a name in it."""
    found = []
    for path in Path('/proc').glob('[0-9]*/cmdline'):
        try:
            if str(folder).encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            pass
    return found


def test_killed(irisd):
    """Nothing stays behind of a benchmark that is told to end while its servers work."""
    for number in (signal.SIGTERM, signal.SIGINT):
        with tempfile.TemporaryDirectory() as folder:
            bench = subprocess.Popen(
                [BENCH, 'daemon', '--rounds', '1000', '--scale', '0.01', '--irisd', irisd, '--no-peers', '--only', 'echo'],
                env={**os.environ, 'TMPDIR': folder}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
            while bench.poll() is None and not list(Path(folder).glob('*/s/front.ipc')):
                os.sched_yield()
            bench.send_signal(number)
            _, said = bench.communicate()
            check(bench.returncode == -number and not os.listdir(folder),
                  f'nothing is left of one that is ended by {number.name}',
                  f'status {bench.returncode}, {os.listdir(folder)}\n{said}')
            # Killed when their parent is, which is told before they are gone.
            while processes_below(folder):
                os.sched_yield()


def test_options():
    def refused(why, *arguments):
        done = run(*arguments)
        good = done.returncode == 2 and why in done.stderr and not done.stdout
        check(good, f'refused: {" ".join(arguments) or "no arguments"}',
              f'status {done.returncode}\n{done.stdout}{done.stderr}')

    refused('name one workload')
    refused('name one workload', 'recursive', 'external')
    refused('there is no workload', 'nonsense')
    refused('no figure “Z9” that is redone here; name “all” or some of A', 'paper', 'A7', 'Z9')
    refused('not “1,,2”', 'recursive', '--workers', '1,,2')
    refused('--quick is for the figures of the papers', 'external', '--quick')
    refused('--workers takes', 'recursive', '--workers', '0')
    refused('--rounds takes', 'recursive', '--rounds', '-1')
    refused('--scale takes', 'recursive', '--scale', '0')
    refused('--variants takes', 'recursive', '--variants', 'some')
    refused('there is no contender', 'recursive', '--only', 'unknown')
    refused('has no setting', 'recursive', '--only', 'places:colour=red')
    refused('has no setting', 'recursive', '--only', 'default:deal=own')
    refused('has no setting', 'recursive', '--only', 'places:deque=idempotent')
    refused('has no “places”; there are lock:off', 'locks', '--only', 'places')
    refused('has no “places”; there are gasyncqueue', 'queues', '--only', 'places')
    refused('has no “places”; there are barnes', 'splash', '--only', 'places')
    refused('has no “gasyncqueue”; there are iris-task', 'round-trip', '--only', 'gasyncqueue')
    refused('steal policy knows no', 'recursive', '--only', 'places:steal=nearest')
    refused('must be a number', 'recursive', '--only', 'places:steal=random+cap=0')
    refused('has no setting', 'recursive', '--only', 'lock-free:steal=random')
    refused('choose 1 for size A', 'grande', '--size', '3')
    refused('has no “onetbb”; there are work-stealing', 'grande', '--only', 'onetbb')
    refused('can run fib', 'fib', '--only', 'gthreadpool')
    refused('exclude each other', 'recursive', '--json', '--csv')
    refused('neither in .svg nor in .png', 'recursive', '--chart', 'x.pdf')
    refused('-o FILE.svg', 'chart', 'x.json')
    refused('“diff” and two', 'diff', 'x.json')
    refused('--counters takes none, hardware or all', 'recursive', '--counters', 'some')
    done = run('recursive', *SMALL, '--only', 'places:deal=round-robin', '--json')
    check(done.returncode == 0 and {s['contender'] for s in json.loads(done.stdout)['results'][0][
        'series']} == {'places:deal=round-robin'}, 'a setting of a scheduler can be chosen',
          done.stderr)
    chosen = {'places:steal=random+one,deque=split', 'work-stealing:steal=half'}
    done = run('recursive', *SMALL, *(o for name in chosen for o in ('--only', name)), '--json')
    check(done.returncode == 0 and {s['contender'] for s in json.loads(done.stdout)['results'][0][
        'series']} == chosen, 'a steal policy can be chosen', done.stderr)
    done = run('--help')
    check(done.returncode == 0 and all(name in done.stdout for name in EXPECTED),
          '--help lists every workload', done.stdout)
    wide = [line for line in done.stdout.splitlines() if len(line) > 80]
    check(not wide, '--help fits into 80 columns', '\n'.join(wide))
    done = run('--version')
    check(done.returncode == 0 and done.stdout.startswith('iris-bench '), '--version', done.stdout)


def test_csv():
    done = run('grain', *SMALL, *ONLY, '--csv')
    rows = list(csv.DictReader(done.stdout.splitlines()))
    check(done.returncode == 0 and {(row['load'], row['contender']) for row in rows}
          >= {(load, name) for load, names in EXPECTED['grain'].items() for name in names},
          'CSV has a line for each load and contender', done.stdout + done.stderr)
    wrong = [row for row in rows if not float(row['min']) <= float(row['median_low']) <= float(row['median'])
             <= float(row['median_high']) <= float(row['max']) or int(row['rounds']) != ROUNDS]
    check(rows and not wrong, 'its statistics hold together', wrong)


def test_chart():
    if shutil.which('gnuplot') is None:
        done = run('recursive', *SMALL, '--chart', 'x.svg')
        check(done.returncode == 1 and 'gnuplot' in done.stderr and not done.stdout,
              'without gnuplot, a chart is refused before anything is measured', done.stderr)
        return
    with tempfile.TemporaryDirectory() as folder:
        svg, again, saved, png = (os.path.join(folder, name) for name in (
            'a.svg', 'b.svg', 'a.json', 'a.png'))
        done = run('grain', *SMALL, *ONLY, '--json', '--chart', svg)
        Path(saved).write_text(done.stdout)
        text = Path(svg).read_text() if os.path.exists(svg) else ''
        names = {s['contender'] for s in json.loads(done.stdout)['results'][0]['series']}
        check(text.startswith('<?xml') and names and all(name in text for name in names),
              'an SVG comes out with every contender in it', done.stderr)
        check(all(words in text for words in ('grain: inside', 'time per item, ns',
                                              'work in an item, µs', 'share of the ideal speed, %')),
              'its axes are labelled, with units')
        done = run('chart', saved, '-o', again)
        check(done.returncode == 0 and Path(again).read_text() == text,
              'the same comes out of the saved JSON', done.stderr)
        done = run('chart', saved, '-o', png)
        check(done.returncode == 0 and Path(png).read_bytes().startswith(b'\x89PNG'),
              'a PNG comes out as well', done.stderr)
        hostile = json.loads(Path(saved).read_text())
        hostile['results'][0]['series'][0]['contender'] = "x'; system('touch planted'); '\n!touch planted"
        Path(saved).write_text(json.dumps(hostile))
        done = run('chart', saved, '-o', again)
        check(done.returncode == 0 and not os.path.exists('planted'),
              'names in a file are not run', done.stderr)
        for what in ('nothing', '[]', '{}', '{"results": [{"series": [{}]}]}',
                     '{"results": [{"series": [[]]}]}', '{"results": [3]}'):
            Path(saved).write_text(what)
            done = run('chart', saved, '-o', again)
            check(done.returncode == 1 and done.stderr.startswith('iris-bench: '),
                  f'not a report: {what}', f'status {done.returncode}\n{done.stderr}')
        done = run('chart', os.path.join(folder, 'none.json'), '-o', again)
        check(done.returncode == 1 and 'none.json' in done.stderr, 'a file that is not there',
              done.stderr)


class Page(html.parser.HTMLParser):
    """What a page refers to, and whether its elements close."""
    EMPTY = {'meta', 'br', 'line', 'rect', 'circle', 'polyline'}

    def __init__(self, text):
        super().__init__()
        self.open, self.wrong, self.links, self.ids, self.texts, self.counts = [], [], [], [], [], {}
        self.feed(text)
        self.close()
        self.wrong += [f'<{name}> stays open' for name in self.open]

    def handle_starttag(self, tag, attrs):
        self.counts[tag] = self.counts.get(tag, 0) + 1
        self.links += [value for name, value in attrs if name in ('href', 'src', 'action', 'data')]
        self.ids += [value for name, value in attrs if name == 'id']
        if tag not in self.EMPTY and not self.get_starttag_text().endswith('/>'):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in self.EMPTY:
            return
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f'</{tag}> at {self.getpos()}')

    def handle_data(self, data):
        self.texts.append(data)


def check_page(text, report, name):
    page = Page(text)
    check(not page.wrong, f'{name}: every element closes', page.wrong[:5])
    check(all(link.startswith('#') and link[1:] in page.ids for link in page.links)
          and not any(word in text for word in ('http:', 'https:', '@import', 'url(', '<script')),
          f'{name} needs no other file', page.links)
    words = ' '.join(page.texts)
    missing = [s['contender'] for result in report['results'] for s in result['series'] if s['contender'] not in words]
    missing += [result['figure']['title'] for result in report['results']
                if 'figure' in result and result['figure']['title'] not in words]
    check(not missing, f'{name} has every figure and contender', missing[:5])
    check(page.counts.get('svg', 0) > 0 and page.counts['table'] == len(report['results'])
          and 'prefers-color-scheme:dark' in text and 'nan' not in words.lower().split(),
          f'{name} has charts and a table for each result', page.counts)


FORMS = ['charts', 'index.html', 'report.json', 'report.md', 'samples.csv']


def drawing_of(path, *words):
    """What is wrong with an SVG file; None if nothing is."""
    try:
        root = xml.etree.ElementTree.parse(path).getroot()
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        return f'{path}: {error}'
    text = ' '.join(root.itertext())
    missing = [word for word in words if word not in text]
    return f'{path} lacks {missing}' if missing or not root.tag.endswith('svg') or 'var(' in text else None


def check_kept(folder, report):
    """What is made to be kept in a repository: Markdown, and the charts that it shows."""
    text = (folder / 'report.md').read_text(encoding='utf-8')
    shown = re.findall(r'\]\((charts/[a-z-]+\.svg)\)', text)
    wrong = [why for name in shown if (why := drawing_of(folder / name))]
    check(shown and not wrong and {f'charts/{result["workload"]}.svg' for result in report['results']} == set(shown),
          'Markdown shows the chart of each workload', '\n'.join(wrong))
    rows = [line for line in text.splitlines() if line.startswith('| ')]
    check(len(rows) >= sum(len(result['series']) for result in report['results']), 'Markdown has every series', len(rows))


def test_summary(folder):
    there = Path(folder, 'one')
    done = run('recursive', '--outer', '3', '--inner', '5', '--rounds', '2', '--variants', 'none', '--report', str(there))
    why = drawing_of(there / 'summary.svg', 'GAsyncQueue and threads', 'iris: work stealing')
    check(done.returncode == 0 and not why, 'a report has a summary in one picture', why or done.stderr)
    again = Path(folder, 'again.svg')
    done = run('chart', str(there / 'report.json'), '--summary', '-o', str(again))
    check(done.returncode == 0 and again.read_text() == (there / 'summary.svg').read_text(),
          'the same summary comes out of the saved JSON', done.stderr)
    done = run('chart', str(there / 'report.json'), '--summary', '-o', str(again) + '.png')
    check(done.returncode == 2 and 'does not end in .svg' in done.stderr, 'a summary is SVG', done.stderr)


def test_page():
    """A report of a sweep: the page, the JSON and a line for each sample."""
    with tempfile.TemporaryDirectory() as folder:
        there = os.path.join(folder, 'a', 'report')
        done = run('paper', 'A7', 'B3', '--quick', '--workers', '1,2', '--variants', 'none', '--counters', 'all',
                   '--report', there)
        if not check(done.returncode == 0 and sorted(os.listdir(there)) == FORMS,
                     'a page is written, with raw samples beside it', done.stdout + done.stderr):
            return
        index, saved, samples = (Path(there) / name for name in ('index.html', 'report.json', 'samples.csv'))
        report = json.loads(saved.read_text())
        check(report['sweep'] == [1, 2] and [result['workers'] for result in report['results']] == [1, 2] * 2,
              'a sweep runs a workload with each number of workers', report['sweep'])
        check_page(index.read_text(), report, 'the page')
        check_kept(Path(there), report)
        test_summary(folder)
        rows = list(csv.DictReader(samples.read_text(encoding='utf-8').splitlines()))
        expected = [repr(sample) for result in report['results'] for s in result['series'] for sample in s['samples']]
        check(len(rows) == len(expected) and all(abs(float(row['sample']) / float(sample) - 1) < 1e-9
                                                 for row, sample in zip(rows, expected)),
              'CSV has every sample', len(rows))
        counted = {name for result in report['results'] for s in result['series'] for name in s.get('counters', {})}
        check(all(len(values) == QUICK_ROUNDS for result in report['results'] for s in result['series']
                  for values in s.get('counters', {}).values())
              and all(rows[0][name] for name in counted), 'what was counted stands beside each sample', counted)
        again = os.path.join(folder, 'again.html')
        done = run('chart', str(saved), '-o', again)
        check(done.returncode == 0 and Path(again).read_text() == index.read_text(),
              'the same page comes out of the saved JSON', done.stderr)
        for name in ('contender', 'load'):
            report['results'][0]['series'][0][name] = '<script>alert("&")</script>'
        report['results'][0]['figure']['title'] = '"><img src="http://x">'
        saved.write_text(json.dumps(report))
        done = run('chart', str(saved), '-o', again)
        text = Path(again).read_text()
        check(done.returncode == 0 and '<script' not in text and '<img' not in text, 'names in a file are escaped')
        saved.write_text('{"results": [3]}')
        done = run('chart', str(saved), '-o', again)
        check(done.returncode == 1 and 'is not what iris-bench' in done.stderr, 'no report makes no page', done.stderr)
        Path(folder, 'file').write_text('')
        done = run('paper', 'A7', '--report', os.path.join(folder, 'file', 'x'))
        check(done.returncode == 2 and 'cannot write a report' in done.stderr and not done.stdout,
              'a folder that cannot be made is refused before anything is measured', done.stderr)


def test_diff():
    """Two reports of which one series differs: the times of its rounds are planted."""
    with tempfile.TemporaryDirectory() as folder:
        files = [os.path.join(folder, name) for name in ('a.json', 'b.json', 'c.json')]
        report = measure('no-hints', '--outer', '3', '--inner', '5', '--items', '7')
        if report is None:
            return
        report['rounds'] = 10
        for file, longer in zip(files, (1, 1, 1.5)):
            for number, series in enumerate(report['results'][0]['series']):
                series['samples'] = [(1 + ((i * 7 + number) % 10) / 500) * (longer if number == 2 else 1)
                                     for i in range(10)]
            Path(file).write_text(json.dumps(report))
        first, same, longer = files
        done = run('diff', first, same)
        check(done.returncode == 0 and '0 of 9 series differ' in done.stdout and '±' in done.stdout,
              'diff of the same sees no difference, and says how much it would not have seen', done.stdout + done.stderr)
        done = run('diff', first, longer)
        check(done.returncode == 3 and '1 of 9 series differ' in done.stdout
              and '50.0 % slower' in done.stdout and 'places:layout=shared' in done.stdout,
              'diff names the series that differs, and its status is 3', done.stdout + done.stderr)
        wide = [line for line in done.stdout.splitlines() if len(line) > 80]
        check(not wide, 'diff fits into 80 columns', '\n'.join(wide))
        done = run('diff', longer, first)
        check(done.returncode == 3 and '33.3 % faster' in done.stdout, 'the other way round it is faster', done.stdout)
        Path(same).write_text('{}')
        done = run('diff', first, same)
        check(done.returncode == 1 and 'the second file is not' in done.stderr, 'no report is refused', done.stderr)
        done = run('diff', first, os.path.join(folder, 'none.json'))
        check(done.returncode == 1 and 'none.json' in done.stderr, 'a file that is not there is named', done.stderr)


def test_open(workload):
    report = measure(workload)
    if report is not None:
        result, = report['results']
        check_result(result, OPEN[workload])


def test_sim():
    machine = 'package:2 l3:2 core:4 pu:1'
    done, again = (run('sim', machine, '--only', 'fib', '--only', 'default', '--only', 'random') for _ in range(2))
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith('fib ')]
    check(done.returncode == 0 and [row[1] for row in rows] == ['default', 'random'],
          'sim shows what was chosen', done.stdout + done.stderr)
    check([row[:-2] for row in rows] == [line.split()[:-2] for line in again.stdout.splitlines()
                                         if line.startswith('fib ')],
          'two simulations are equal', again.stdout)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, 'costs.ini')
        costs = json.loads(run('calibrate', file, '--json').stdout)
        check(costs['access']['measured'] and costs['wake']['value'] > 0 and not costs['line_far']['measured']
              and os.path.exists(file), 'calibrate says what is measured, and what is assumed', costs)
        check(run('sim', machine, '--only', 'fib', '--only', 'default', '--costs', file).returncode == 0,
              'sim takes the costs')
    for why, *arguments in (('is no machine', 'sim', 'nonsense'), ('no policy', 'sim', machine, '--only', 'unknown'),
                            ('cannot read the costs', 'sim', machine, '--costs', '/nonexistent')):
        done = run(*arguments)
        check(done.returncode != 0 and why in done.stderr, f'refused: {" ".join(arguments)}', done.stderr)


def test_nodes():
    loads, ways = ('one', 'even', 'skewed', 'dies', 'bursts'), ('stealing', 'alone', 'central')
    sizes = ['10'] if BRIEF else ['10', '100']
    done, again = (run('nodes', *sizes, '--quick', '--seed', '3') for _ in range(2))
    lines = done.stdout.splitlines()
    rows = [line.split() for line in lines if line.split()[1:2] and line.split()[1] in loads]
    check(done.returncode == 0 and [row[:3] for row in rows] == [[n, load, way] for n in sizes for load in loads
                                                                 for way in ways],
          'nodes shows each load in each way', done.stdout + done.stderr)
    check(lines[:-1] == again.stdout.splitlines()[:-1] and lines[-1].startswith('simulated in'),
          'two simulations of nodes are equal', again.stdout)
    check(not [line for line in lines if len(line) > 80], 'nodes fits into 80 columns')
    chosen = ('nodes', '10', '--quick', '--only', 'one', '--only', 'stealing', '--only', 'alone')
    stealing, alone = json.loads(run(*chosen, '--json').stdout)
    check(stealing['way'] == 'stealing' and stealing['items'] == alone['items'] == 200
          and stealing['last_s'] < alone['last_s'] / 2
          and alone['stolen_rack'] + alone['stolen_zone'] + alone['stolen_far'] == 0
          and stealing['messages_per_item'] > 9, 'stealing spreads what is hinted at one node', (stealing, alone))
    table = list(csv.DictReader(run(*chosen, '--csv').stdout.splitlines()))
    check([row['way'] for row in table] == ['stealing', 'alone']
          and abs(float(table[0]['last_s']) - stealing['last_s']) < 1e-6, 'CSV has the same figures', table)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, 'costs.ini')
        Path(file).write_text('[costs]\nend = 10000\n')
        slow = json.loads(run(*chosen, '--json', '--costs', file).stdout)
        check(slow[0]['last_s'] >= 2 > stealing['last_s'], 'nodes takes the costs of a file', slow)
    for why, *arguments in (('from 2 to', '1'), ('no way “unknown”', '10', '--only', 'unknown'), ('at most', '10', '--work', '1e10'),
                            ('cannot read the costs', '10', '--costs', '/nonexistent'), ('exclude', '10', '--csv', '--json')):
        done = run('nodes', *arguments)
        check(done.returncode != 0 and why in done.stderr, f'refused: nodes {" ".join(arguments)}', done.stderr)


BENCH, what, *others = sys.argv[1:]
{**{name: lambda: test_open(what) for name in OPEN}, 'sim': test_sim, 'nodes': test_nodes, 'compare': test_compare, 'options': test_options,
 'csv': test_csv, 'chart': test_chart, 'paper': lambda: test_paper(*others), 'diff': test_diff, 'page': test_page,
 'daemon': lambda: test_daemon(*others)}.get(what, lambda: test_workload(what))()
print(f'1..{len(results)}')
sys.exit(0 if results and all(results) else 1)
