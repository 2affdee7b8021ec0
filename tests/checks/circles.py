#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""No folder calls one above it, and no files call each other in a circle: checked on the built objects.

usage: circles.py BUILD [SOURCE]

`nm` tells which symbols each object defines and which it needs. One TAP case for each program and rule:

* no call leads upwards between folders, in the order of house.py;
* no files call each other in a circle; one inside a folder needs a line in CIRCLES that says why.

UPWARDS lists what is known to be needed of above. Both lists may only shrink: what is not needed fails.
"""
import subprocess
import sys
from pathlib import Path

import house

# The folders of each tree from the bottom up; what lies in the tree itself is above them all. A folder that is not
# in the list, as daemon/exec/command, is a part of the one that it lies in.
ORDER = {'iris': house.LAYERS, 'daemon': house.DAEMON_LAYERS}

# What is known to be needed of above: by file, the symbols.
UPWARDS = {
    'daemon': {
        'exec/irisd-job.c': 'irisd_schedule_free',
        'items/irisd-completion.c': 'irisd_send_completion',
        'items/irisd-persistent-batch.c': 'irisd_submit_tell_accepted',
        'items/irisd-persistent-done.c': 'irisd_send_refusal',
        'items/irisd-persistent.c':
            'irisd_admission_tell_full irisd_bury_requests_take_cancel irisd_bury_requests_take_kick '
            'irisd_item_requests_await_end irisd_item_requests_take_answer irisd_send_refusal',
        'items/irisd-restore.c': 'irisd_submit_settle_schedule',
    },
}

# Circles that are known: why each is there, and its files. What comes into one or leaves one is told.
CIRCLES = {
    'iris': [
        ("a port, its receiver and its arbiter drive each other: a message goes down, its turn comes back",
         'message/port/iris-arbiter.c message/port/iris-port.c message/port/iris-receiver.c'),
        ("places make their places, and a place measures among its siblings",
         'place/iris-place.c place/iris-places.c'),
        ("the pool of workers in three files",
         'sched/pool/iris-active-workers.c sched/pool/iris-contention.c sched/pool/iris-worker.c'),
        ("intervals and their graph",
         'task/interval/iris-interval-graph.c task/interval/iris-interval.c'),
        ("a process and its watches",
         'task/iris-process-watch.c task/iris-process.c'),
        ("a task, its handlers, its result, its dependencies, and what waits for it",
         'task/iris-task-gio.c task/iris-task-graph.c task/iris-task-handlers.c task/iris-task-result.c '
         'task/iris-task.c'),
        ("the table of fields describes messages, whose checks name the field",
         'wire/iris-wire-check.c wire/iris-wire-field.c wire/iris-wire-message.c'),
    ],
    'daemon': [
        ("what runs an item ends its job, and a job that is cancelled tells what runs it",
         'exec/command/irisd-command-runner.c exec/command/irisd-command-start.c '
         'exec/command/irisd-command.c exec/irisd-job.c exec/worker/irisd-leased-item.c '
         'exec/worker/irisd-worker-processes.c exec/worker/irisd-worker-restore.c'),
        ("the table of leases in four files",
         'exec/worker/irisd-lease-queue.c exec/worker/irisd-leases-clock.c '
         'exec/worker/irisd-leases-route.c exec/worker/irisd-leases.c'),
        ("a gateway is still one struct, whose parts answer through each other",
         'gateway/irisd-acknowledge.c gateway/irisd-admission.c gateway/irisd-bundle.c '
         'gateway/irisd-bury-broadcast.c gateway/irisd-bury-requests.c gateway/irisd-cancel-broadcast.c '
         'gateway/irisd-cancel.c gateway/irisd-gateway.c gateway/irisd-item-requests.c '
         'gateway/irisd-output.c gateway/irisd-place-requests.c gateway/irisd-receive-backlog.c '
         'gateway/irisd-receive.c gateway/irisd-send.c gateway/irisd-session.c gateway/irisd-status.c '
         'gateway/irisd-submit.c gateway/irisd-worker-session.c gateway/irisd-worker-watch.c'),
        ("an item's states, of which each file has some",
         'items/irisd-bury.c items/irisd-completion.c items/irisd-deadline.c items/irisd-dependencies.c '
         'items/irisd-dispatch.c items/irisd-persistent-done.c items/irisd-persistent.c '
         'items/irisd-restore.c items/spill/irisd-reload.c items/spill/irisd-spilled-flow.c '
         'items/spill/irisd-spilled.c'),
        ("the journal's thread in five files",
         'store/irisd-journal-bury.c store/irisd-journal-capacity.c store/irisd-journal-commit.c '
         'store/irisd-journal-queries.c store/irisd-journal.c'),
        ("a store that is damaged is read by its pages, and written into a new store",
         'store/sqlite/irisd-sqlite-pages.c store/sqlite/irisd-sqlite-salvage.c '
         'store/sqlite/irisd-sqlite-scan.c store/sqlite/irisd-sqlite-schema.c '
         'store/sqlite/irisd-sqlite-walk.c store/sqlite/irisd-sqlite.c'),
    ],
}


class Objects:
    """The calls between the files of a tree, as the objects show them."""

    def __init__(self, build, source, tree):
        self.tree = tree
        self.calls = {}
        files = {}
        for path in sorted((Path(source) / tree).rglob('*.c')):
            name = path.relative_to(Path(source) / tree).as_posix()
            files[name.replace('/', '_') + '.o'] = name
        needs, definers = {}, {}
        for path in sorted((Path(build) / tree).glob('*.a.p/*.o')):
            if path.name not in files:
                continue
            name = files[path.name]
            for symbol, defined in symbols(path):
                if defined:
                    definers[symbol] = name
                else:
                    needs.setdefault(name, set()).add(symbol)
        self.n_objects = len(set(definers.values()) | set(needs))
        for caller, wanted in needs.items():
            for symbol in sorted(wanted):
                callee = definers.get(symbol, caller)
                if callee != caller:
                    self.calls.setdefault(caller, {}).setdefault(callee, []).append(symbol)

    def layer(self, name):
        order = ORDER[self.tree]
        folder = name.rpartition('/')[0]
        if folder not in order:
            folder = folder.split('/')[0]
        return order.index(folder) if folder in order else len(order)


def symbols(path):
    """Yields each global symbol of an object file, and whether the object defines it."""
    listing = subprocess.run(['nm', '--format=posix', path], check=True, capture_output=True, text=True).stdout
    for line in listing.splitlines():
        name, kind = line.split()[:2]
        if kind == 'U' or kind.isupper():
            yield name, kind != 'U'


def upwards(objects, known):
    """Yields a sentence for each call upwards that is not known, and for each known one that is none."""
    used = set()
    for caller, callees in sorted(objects.calls.items()):
        for callee, names in sorted(callees.items()):
            if objects.layer(callee) <= objects.layer(caller):
                continue
            for symbol in names:
                used.add((caller, symbol))
                if (caller, symbol) not in known:
                    yield f'{objects.tree}/{caller} needs {symbol} of {objects.tree}/{callee}, which is above it'
    for caller, symbol in sorted(set(known) - used):
        yield f'{objects.tree}/{caller} does not need {symbol} of above: take it out of UPWARDS'


def graph_without(objects, known):
    """Who calls whom, but for the calls upwards that are known."""
    return {caller: sorted(callee for callee, names in callees.items()
                           if any((caller, symbol) not in known for symbol in names))
            for caller, callees in objects.calls.items()}


def circles(graph):
    """The sets of files that reach each other (Tarjan's strongly connected components), without a stack of calls."""
    index, low, on_stack, stack, found = {}, {}, set(), [], []
    for root in sorted(graph):
        if root in index:
            continue
        work = [(root, iter(graph[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, rest = work[-1]
            following = next(rest, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    part = set()
                    while node not in part:
                        part.add(stack.pop())
                    on_stack -= part
                    if len(part) > 1:
                        found.append(sorted(part))
            elif following not in index:
                index[following] = low[following] = len(index)
                stack.append(following)
                on_stack.add(following)
                work.append((following, iter(graph.get(following, []))))
            elif following in on_stack:
                low[node] = min(low[node], index[following])
    return sorted(found)


def way_back(graph, members, start):
    """The shortest way from a file through others of its circle back to itself."""
    inside, came_from, line = set(members), {}, [start]
    for node in line:
        for following in graph.get(node, []):
            if following == start:
                way = [start]
                while node != start:
                    way.insert(1, node)
                    node = came_from[node]
                return way + [start]
            if following in inside and following not in came_from:
                came_from[following] = node
                line.append(following)
    return [start]


def describe(objects, graph, members):
    """The shortest way round a circle, with a call for each step."""
    way = min((way_back(graph, members, start) for start in members), key=len)
    steps = [f'{a} needs {objects.calls[a][b][0]} of {b}' for a, b in zip(way, way[1:])]
    return f'{len(members)} files of {objects.tree}/ in a circle, such as: ' + '; '.join(steps)


def bad_circles(objects, known_calls, known_circles):
    """Yields a sentence for each circle that has no line, and for each file of a line that is in none."""
    graph = graph_without(objects, known_calls)
    found = circles(graph)
    for members in found:
        folders = sorted({Path(name).parent.as_posix() for name in members})
        if not any(set(members) <= set(files.split()) for _, files in known_circles):
            yield f'through {", ".join(folders)}: {describe(objects, graph, members)}'
    in_one = {name for members in found for name in members}
    for name in sorted({name for _, files in known_circles for name in files.split()} - in_one):
        yield f'{objects.tree}/{name} is in no circle: take it out of CIRCLES'


def cases(build, source):
    """Yields the name of each case and what breaks it."""
    for tree in ORDER:
        objects = Objects(build, source, tree)
        known = {(caller, symbol) for caller, names in UPWARDS.get(tree, {}).items() for symbol in names.split()}
        few = [] if objects.n_objects > 1 else [f'there are no objects of {tree}/ in {build}: build it first']
        yield f'no file of {tree}/ calls a folder above its own', few + list(upwards(objects, known))
        yield f'no files of {tree}/ call each other in a circle', list(bad_circles(objects, known, CIRCLES.get(tree, [])))


def main():
    build = sys.argv[1]
    source = sys.argv[2] if len(sys.argv) > 2 else '.'
    results = list(cases(build, source))
    print(f'1..{len(results)}')
    for number, (name, broken) in enumerate(results, 1):
        for sentence in broken:
            print(f'# {sentence}')
        print(f'{"not ok" if broken else "ok"} {number} - {name}')
    return any(broken for _, broken in results)


if __name__ == '__main__':
    sys.exit(main())
