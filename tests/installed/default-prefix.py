#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What README says of the default prefix works, from `ninja install` to each language. Prints TAP.

    default-prefix.py BUILD-DIR PYTHON PART,... COMPILER...

/usr/local and /etc are covered by empty layers in a mount namespace of the test's own, so the machine is not
changed. Skipped where such a namespace cannot be made: that takes root.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COVERED = ('/usr/local', '/etc')
INSIDE = 'IRIS_TEST_COVERED'

results = []


def report(good, name, why=''):
    results.append(bool(good))
    for line in why.splitlines()[-20:] if not good else ():
        print(f'# {line}')
    print(f'{"ok" if good else "not ok"} {len(results)} - {name}', flush=True)


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


def cover(folder):
    """Puts an empty layer over each folder; returns whether that worked."""
    if run(['mount', '-t', 'tmpfs', 'tmpfs', folder]).returncode != 0:
        return False
    for number, covered in enumerate(COVERED):
        upper, work = folder / f'upper-{number}', folder / f'work-{number}'
        upper.mkdir()
        work.mkdir()
        layers = f'lowerdir={covered},upperdir={upper},workdir={work}'
        if run(['mount', '-t', 'overlay', 'overlay', '-o', layers, covered]).returncode != 0:
            return False
    return True


def says(name, command, wanted, env=None):
    done = run(command, env=env)
    report(wanted in done.stdout, name, done.stdout + done.stderr)


def check(build, python, parts, compiler, folder):
    done = run(['meson', 'install', '-C', build, '--no-rebuild'])
    report(done.returncode == 0, 'it is installed', done.stdout + done.stderr)

    flags = run(['pkg-config', '--cflags', '--libs', 'libiris-1']).stdout.split()
    program = folder / 'hello'
    built = run([*compiler, '-o', program, ROOT / 'doc/examples/hello.c', *flags])
    report(built.returncode == 0, 'a program is compiled', built.stderr)
    says('and finds the library', [program], 'Hello, world')
    says('irisctl runs', ['/usr/local/bin/irisctl', '--version'], 'irisctl')
    if 'vapi' in parts:
        vala = folder / 'vala'
        built = run(['valac', '--pkg', 'libiris-1', '-X', '-w', '-o', vala,
                     ROOT / 'doc/examples/word-count/word-count.vala'])
        report(built.returncode == 0, 'a program in Vala is compiled', built.stderr)
    if 'python' in parts:
        setting = re.search(r'^ *export GI_TYPELIB_PATH=(.*)$', (ROOT / 'README.md').read_text(), re.MULTILINE)
        folder = run(['sh', '-c', f'echo {setting.group(1)}']).stdout.strip()
        env = os.environ | {'GI_TYPELIB_PATH': folder}
        says('Python finds Iris there', [python, '-c',
             'import gi; gi.require_version("Iris", "1"); from gi.repository import Iris; print(Iris.Port)'],
             'Port', env)
        says('Python finds iris_asyncio', [python, '-c', 'import iris_asyncio; print(iris_asyncio.__file__)'],
             '/usr/local', env)
    if 'modules' in parts:
        program = 'import importlib.util as u; print(u.find_spec("irisd_client").origin)'
        says('Python finds irisd_client', [python, '-c', program], '/usr/local')
    print(f'1..{len(results)}')
    return not all(results)


def main():
    if os.environ.get(INSIDE) is None:
        inside = [sys.executable, __file__, *sys.argv[1:]]
        if os.geteuid() != 0 or run(['unshare', '--mount', 'true']).returncode != 0:
            print('1..0 # SKIP a mount namespace cannot be made')
            return 0
        return subprocess.run(['unshare', '--mount', *inside], env=os.environ | {INSIDE: 'yes'},
                              check=False).returncode
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as programs:
        folder = Path(name)
        if not cover(folder):
            print('1..0 # SKIP /usr/local cannot be covered')
            return 0
        # Python writes its cache beside what it imports, which is the installation here.
        os.environ['PYTHONDONTWRITEBYTECODE'] = '1'
        status = check(sys.argv[1], sys.argv[2], sys.argv[3].split(','), sys.argv[4:], Path(programs))
        for covered in COVERED:
            run(['umount', '--lazy', covered])
        run(['umount', '--lazy', folder])
    return status


if __name__ == '__main__':
    sys.exit(main())
