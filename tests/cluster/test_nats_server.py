#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""nats-server.sh chooses and refuses servers, with doubles of nats-server and Go in its path."""
import atexit
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from processes import patience
from tap import demand, expect, run

SCRIPT = pathlib.Path(__file__).resolve().with_name('nats-server.sh')
RIGHT = next(line.partition('=')[2] for line in SCRIPT.read_text().splitlines() if line.startswith('checksum='))
TOOLS = ('bash', 'cat', 'chmod', 'cut', 'flock', 'head', 'mkdir', 'mktemp', 'mv', 'realpath', 'rm', 'sed', 'sha256sum', 'sort', 'tail', 'timeout')


class Machine:
    """A path with little in it, and a cache of its own."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='iris-nats-'))
        atexit.register(shutil.rmtree, self.folder)
        self.bin = self.folder / 'bin'
        self.bin.mkdir()
        for tool in TOOLS:
            for place in ('/usr/bin', '/bin'):
                if os.path.exists(f'{place}/{tool}'):
                    (self.bin / tool).symlink_to(f'{place}/{tool}')
                    break

    def double(self, name, script, where=None):
        path = (where or self.bin) / name
        path.write_text('#!/bin/bash\n' + script)
        path.chmod(0o755)
        return path

    def server(self, version, name='nats-server', where=None):
        return self.double(name, f'echo "nats-server: v{version}"\n', where)

    def go(self, checksum, version='1.99.0', reached=True):
        """Downloads a module of that checksum, and builds a server from it."""
        source = self.folder / 'source'
        source.mkdir(exist_ok=True)
        return self.double('go', f'''
case "$1 $2" in
  "env GOVERSION") echo go{version} ;;
  "mod download")
    {'' if reached else 'echo "no route to host" >&2; exit 1'}
    [ $# -gt 2 ] || exit 0
    echo '{{'
    echo '	"Sum": "{checksum}",'
    echo '	"Dir": "{source}"'
    echo '}}' ;;
  "build "*)
    while [ "$1" != -o ]; do shift; done
    printf '#!/bin/bash\\necho "nats-server: v2.15.2"\\n' >"$2"
    chmod +x "$2" ;;
esac
''')

    def ask(self, **environment):
        """Status, path and words."""
        done = subprocess.run(['bash', str(SCRIPT), '--cache', str(self.folder / 'cache')], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=patience(),
                              env={'PATH': str(self.bin), 'HOME': str(self.folder), **environment})
        return done.returncode, done.stdout.strip(), done.stderr


def the_one_that_is_named_is_taken(machine):
    machine.server('2.20.0')
    other = machine.server('2.14.0', 'other')
    expect(machine.ask(IRIS_NATS_SERVER=str(other))[:2], (0, str(other)))


def one_that_is_named_and_too_old_is_an_error(machine):
    old = machine.server('2.9.10', 'old')
    status, path, words = machine.ask(IRIS_NATS_SERVER=str(old))
    expect((status, path), (1, ''))
    demand('2.9.10' in words and '2.14' in words, words)


def a_packaged_one_that_is_new_enough_is_taken(machine):
    server = machine.server('2.14.1')
    expect(machine.ask()[:2], (0, str(server)))


def one_is_built_once_beside_a_packaged_one_that_is_too_old(machine):
    machine.server('2.9.10')
    machine.go(RIGHT)
    status, path, words = machine.ask()
    expect(status, 0, words)
    demand('2.9.10' in words and 'minute' in words, words)
    demand(path.startswith(str(machine.folder / 'cache')), path)
    (machine.bin / 'go').unlink()
    expect(machine.ask(), (0, path, words.splitlines()[0] + '\n'), 'the second time')
    expect(list((machine.folder / 'cache').glob('build-*')), [], 'left behind')


def another_checksum_is_not_built(machine):
    machine.go('h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=')
    status, path, words = machine.ask()
    expect((status, path), (1, ''))
    demand('checksum' in words and RIGHT in words, words)


def a_module_that_cannot_be_had_is_told_with_what_to_install(machine):
    machine.go(RIGHT, reached=False)
    status, path, words = machine.ask(GOPROXY='https://192.0.2.1')
    expect((status, path), (3, ''))
    demand('no route to host' in words and 'https://192.0.2.1' in words and 'IRIS_NATS_SERVER' in words.splitlines()[-1], words)


CASES = (the_one_that_is_named_is_taken, one_that_is_named_and_too_old_is_an_error,
         a_packaged_one_that_is_new_enough_is_taken, one_is_built_once_beside_a_packaged_one_that_is_too_old,
         another_checksum_is_not_built, a_module_that_cannot_be_had_is_told_with_what_to_install)

if __name__ == '__main__':
    sys.exit(run(CASES, Machine))
