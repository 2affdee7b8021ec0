#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is installed is what tests/installed/files says, and is enough for a program. Prints TAP.

    test.py BUILD-DIR PART,... PYTHON PYTHON-DIR COMPILER...

Installs into an empty folder, with everything built before. The parts are those of the list. PYTHON and
PYTHON-DIR are the Python that can use the typelibs and where its modules go, or empty.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests/checks'))
import house  # noqa: E402

results = []


def report(good, name, why=()):
    results.append(bool(good))
    for line in why if not good else ():
        print(f'# {line}')
    print(f'{"ok" if good else "not ok"} {len(results)} - {name}', flush=True)
    return good


def folders(build):
    """The folders of the installation, by the names that the list uses."""
    listing = subprocess.run(['meson', 'introspect', '--buildoptions', build], check=True,
                             capture_output=True, text=True).stdout
    options = {option['name']: option['value'] for option in json.loads(listing)}
    prefix = Path(options['prefix'])
    names = ('bindir', 'libdir', 'libexecdir', 'datadir', 'mandir', 'includedir')
    return {'prefix': str(prefix)} | {name: str(prefix / options[name]) for name in names}


def expected(parts, where):
    """What the list says of these parts, and every public header."""
    for line in (ROOT / 'tests/installed/files').read_text().splitlines():
        if line and not line.startswith('#'):
            part, path = line.split(None, 1)
            if part in parts:
                yield path.format(**where)
    for header in house.public_headers(house.Tree(ROOT)) + ['iris/iris.h']:
        library, kept = ('libiris-1', header) if header.startswith('iris/') else \
            ('libiris-client-1', header.removeprefix('clients/'))
        if library == 'libiris-client-1' and 'clients' not in parts:
            continue
        yield f'{where["includedir"]}/{library}/{kept}'


def found(root, where):
    """All files; of a reference its first page and its book alone, its own test looks at the others."""
    files = {'/' + path.relative_to(root).as_posix() for path in root.rglob('*')
             if path.is_file() or path.is_symlink()}
    references = tuple(f'{where["datadir"]}/doc/{library}/' for library in ('libiris-1', 'libiris-client-1'))
    return {file for file in files
            if not file.startswith(references) or file.endswith(('/index.html', '.devhelp2'))}


def relocate(root, where):
    """Lets the installed files for pkg-config name the folder in which they are."""
    for path in (root / where['libdir'].lstrip('/') / 'pkgconfig').glob('*.pc'):
        path.write_text(re.sub(r'^prefix=.*$', 'prefix=' + str(root) + where['prefix'],
                               path.read_text(), flags=re.MULTILINE))


def environment(root, where):
    libraries = str(root) + where['libdir']
    more = {'PKG_CONFIG_PATH': libraries + '/pkgconfig', 'LD_LIBRARY_PATH': libraries,
            'GI_TYPELIB_PATH': libraries + '/girepository-1.0'}
    return os.environ | more


def run(command, env, **more):
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False, **more)


def compile_program(package, source, compiler, folder, env):
    """Compiles with what pkg-config says of one package, and nothing else. Returns the program."""
    flags = run(['pkg-config', '--cflags', '--libs', package], env)
    program = folder / Path(source).stem
    done = run([*compiler, '-Wall', '-Werror', '-o', program, ROOT / source, *flags.stdout.split()], env)
    report(flags.returncode == 0 and done.returncode == 0,
           f'{Path(source).name} is compiled with what pkg-config says of {package} alone',
           (flags.stderr + done.stderr).splitlines())
    return program


def run_installed_test(path, root, where, env):
    """Runs a test as gnome-desktop-testing-runner would, were it installed where it says."""
    command = re.search(r'^Exec=(.*)$', path.read_text(), re.MULTILINE).group(1).split()
    inside = where['libexecdir'] + '/installed-tests'
    command = [str(root) + word if word.startswith(inside) else word for word in command]
    done = run(command, env, timeout=200)
    lines = done.stdout.splitlines()
    good = done.returncode == 0 and any(line.startswith('ok') for line in lines) \
        and not any(line.startswith('not ok') for line in lines)
    report(good, f'the installed test {path.stem} passes', (done.stdout + done.stderr).splitlines())


def main():
    build, parts, python, pythondir, compiler = sys.argv[1], sys.argv[2].split(','), *sys.argv[3:5], sys.argv[5:]
    pythondir = pythondir.rstrip('/')
    where = folders(build) | {'pythondir': pythondir}
    with tempfile.TemporaryDirectory() as folder:
        root, programs = Path(folder) / 'root', Path(folder) / 'programs'
        programs.mkdir()
        done = run(['meson', 'install', '-C', build, '--no-rebuild', '--quiet', '--destdir', root], os.environ)
        report(done.returncode == 0, 'it is installed', (done.stdout + done.stderr).splitlines())
        wanted, there = set(expected(parts, where)), found(root, where)
        report(wanted <= there, 'nothing of what the list says is missing', sorted(wanted - there))
        report(there <= wanted, 'nothing is installed that the list does not say', sorted(there - wanted))

        relocate(root, where)
        env = environment(root, where)
        hello = compile_program('libiris-1', 'doc/examples/hello.c', compiler, programs, env)
        done = run([hello], env)
        report(done.stdout == 'Hello, world, from a worker!\n', 'and it runs', (done.stdout + done.stderr).splitlines())
        if 'clients' in parts:
            compile_program('libiris-client-1', 'doc/examples/client-hash.c', compiler, programs, env)
        if 'python' in parts:
            program = 'import asyncio, iris_asyncio as i; print(asyncio.run(i.run(lambda: 6 * 7)), i.__file__)'
            done = run([python, '-c', program], env | {'PYTHONPATH': str(root) + pythondir})
            report(done.stdout == f'42 {root}{pythondir}/iris_asyncio.py\n', 'iris_asyncio is imported and runs a function',
                   (done.stdout + done.stderr).splitlines())
        if 'modules' in parts:
            # What it needs may be missing where it is only looked at.
            program = 'import irisd_client as i; print(i.Client.__name__, i.__file__)'
            done = run([python, '-c', program], env | {'PYTHONPATH': str(root) + pythondir})
            report(done.stdout == f'Client {root}{pythondir}/irisd_client/__init__.py\n'
                   or "No module named 'zmq'" in done.stderr or "No module named 'msgpack'" in done.stderr,
                   'irisd_client is imported', (done.stdout + done.stderr).splitlines())
        for part, package, source in (('vapi', 'libiris-1', 'word-count/word-count.vala'),
                                      ('vapi-client', 'libiris-client-1', 'client-hash.vala')):
            if part in parts:
                done = run(['valac', '--vapidir', str(root) + where['datadir'] + '/vala/vapi', '--pkg', package,
                            '-X', '-w', '-o', programs / package, ROOT / 'doc/examples' / source], env)
                report(done.returncode == 0, f'{Path(source).name} is compiled with the installed vapi',
                       (done.stdout + done.stderr).splitlines())
        tests = sorted((root / where['datadir'].lstrip('/') / 'installed-tests').rglob('*.test'))
        if 'installed-tests' in parts:
            report(len(tests) >= 6, f'{len(tests)} tests are installed')
        for path in tests:
            run_installed_test(path, root, where, env)
    print(f'1..{len(results)}')
    return not all(results)


if __name__ == '__main__':
    sys.exit(main())
