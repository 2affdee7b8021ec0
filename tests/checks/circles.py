#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""No folder calls one above it, and no files call each other in a circle: checked on the built objects.

usage: circles.py BUILD [SOURCE]

`nm` tells which symbols each object defines and which it needs. One TAP case for each program and rule:

* no call leads upwards between folders, in the order of house.py;
* no files call each other in a circle; one inside a folder needs a line in CIRCLES that says why.

CIRCLES may only shrink: what is not needed fails.
"""
import subprocess
import sys
from pathlib import Path

import house

# The folders of each tree from the bottom up; what lies in the tree itself is above them all. A folder that is not
# in the list, as daemon/store/sqlite, is a part of the one that it lies in.
ORDER = {'iris': house.LAYERS, 'daemon': house.DAEMON_LAYERS, 'clients/iris-client': house.CLIENT_LAYERS,
         'clients/web': house.WEB_LAYERS}

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
    ],
    'clients/iris-client': [
        ("a channel in two files: what it receives makes it send",
         'connection/iris-client-channel-receive.c connection/iris-client-channel.c'),
        ("a lease is answered through its worker, which stops it",
         'worker/iris-lease.c worker/iris-worker-process.c'),
    ],
    'daemon': [
    ],
    'clients/web': [
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


def upwards(objects):
    """Yields a sentence for each call upwards."""
    for caller, callees in sorted(objects.calls.items()):
        for callee, names in sorted(callees.items()):
            if objects.layer(callee) > objects.layer(caller):
                for symbol in names:
                    yield f'{objects.tree}/{caller} needs {symbol} of {objects.tree}/{callee}, which is above it'


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


def bad_circles(objects, known_circles):
    """Yields a sentence for each circle that has no line, and for each file of a line that is in none."""
    graph = {caller: sorted(callees) for caller, callees in objects.calls.items()}
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
        few = [] if objects.n_objects > 1 else [f'there are no objects of {tree}/ in {build}: build it first']
        yield f'no file of {tree}/ calls a folder above its own', few + list(upwards(objects))
        yield f'no files of {tree}/ call each other in a circle', list(bad_circles(objects, CIRCLES.get(tree, [])))


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
