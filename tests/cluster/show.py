#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows several nodes at work (./run --nodes N): hashes files over all of them, kills one in the middle, checks each digest.

    show.py IRISD IRISCTL NODES DIR...
"""
import asyncio
import hashlib
import os
import pathlib
import sys
import textwrap
from collections import Counter

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'clients/python'))
from irisd_client import Client, IrisdError  # noqa: E402

from nodes import Nodes  # noqa: E402
from processes import Folder, end_on_signals  # noqa: E402
from servers import Servers  # noqa: E402

# Items of a node that has died are delivered to another one after this.
LEASE_MS = 5000
# Items at once; irisd says when it is too much.
WINDOW = 256


class Failed(Exception):
    """A sentence for the person at the terminal."""


def say(*words):
    print(*words, flush=True)


def files_below(directories):
    """The regular files, as ./run without nodes takes them: symbolic links are left out."""
    found = []
    for directory in directories:
        for folder, _, names in os.walk(directory):
            found += [path for path in (os.path.join(folder, name) for name in names)
                      if os.path.isfile(path) and not os.path.islink(path)]
    return sorted(found)


async def hash_all(nodes, files, killed):
    """Digest and (node, place) of each file; in the middle a node is killed."""
    results, waiting, half = {}, iter(files), len(files) // 2

    async def some(client):
        for path in waiting:
            results[path] = await client.submit('sha256', path=path, any_node=True)
            if len(results) == half:
                say(f'{half} of {len(files)} files are hashed: kill -9 of {killed.name}, process {killed.process.child.pid}.')
                killed.kill()
                say(f'What it had in hand goes to the others when its lease of {LEASE_MS // 1000} s is over ...')

    async with Client(nodes[0].endpoint) as client:
        await asyncio.gather(*(some(client) for _ in range(WINDOW)))
    return results


def show_table(nodes, results, killed):
    ran = Counter((result.node or nodes[0].name, result.place) for result in results.values())
    say(f'\n{"node":<8}{"place":<12}{"files":>8}')
    for node in nodes:
        for (name, place), count in sorted((one for one in ran.items() if one[0][0] == node.name), key=str):
            label = nodes.places[place] if place is not None and place in nodes.places else str(place)
            say(f'{name:<8}{label:<12}{count:>8}{"  until it was killed" if node is killed else ""}')
    say()
    return {name for name, _ in ran}


def check(files, results):
    wrong = [path for path in files
             if path not in results or results[path].body.decode() != hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()]
    for path in wrong[:10]:
        say(f'{path}: {results[path].body.decode() if path in results else "no digest"}')
    if wrong:
        raise Failed(f'{len(wrong)} of {len(files)} digests are not right.')


def show(folder, irisd, irisctl, count, directories):
    files = files_below(directories)
    if len(files) < 100:
        raise Failed(f'{len(files)} files are too few to show anything; name a larger directory.')
    say('Starting three nats-servers, which sync what they store before they answer ...')
    servers = Servers(folder)
    say(f'Starting {count} irisd, n1 to n{count}, each with two places ...')
    nodes = Nodes(folder, irisd, irisctl, servers, count, **{'lease-ms': LEASE_MS}).start()
    nodes.places = {place['id']: place['name'] for place in nodes[0].json('places')}
    say('\nirisctl cluster check')
    for line in nodes[0].irisctl('cluster', 'check').splitlines():
        say(textwrap.fill(line, 76, initial_indent='  ', subsequent_indent='    '))
    say('\nirisctl nodes')
    say(textwrap.indent(nodes[0].irisctl('nodes').rstrip(), '  '))
    say(f'\nHashing {len(files)} files below {" ".join(directories)}.')
    say('All are submitted to n1, for any node.')
    results = asyncio.run(hash_all(nodes, files, nodes.all[-1]))
    took_part = show_table(nodes, results, nodes.all[-1])
    check(files, results)
    if len(took_part) < count:
        raise Failed(f'only {", ".join(sorted(took_part))} took part.')
    say(f'All is well: {len(files)} files on {count} nodes, of which one was killed;\neach digest is that of the file.')
    say('How to join machines: doc/guide/cluster.md')


def main():
    irisd, irisctl, count, *directories = sys.argv[1:]
    end_on_signals()
    with Folder('iris-nodes-') as folder:
        try:
            show(folder, irisd, irisctl, int(count), directories)
            return 0
        except SystemExit as ended:  # a signal, after which the logs tell nothing
            return ended.code
        except (Failed, IrisdError, AssertionError, OSError) as error:
            say(f'This did not go well: {error}')
            folder.show_logs(10)
            return 1


if __name__ == '__main__':
    sys.exit(main())
