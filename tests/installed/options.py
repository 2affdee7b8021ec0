#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What can be left out of a build, what each choice needs, and what is said when it cannot be had. Prints TAP.

    options.py BUILD-DIR COMPILER...

Configures iris anew for each case, with a pkg-config that does not find what the case is to do without; as many
cases at once as there are processors.
"""
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = {'daemon': 'irisd', 'clients': 'irisctl', 'bench': 'iris-bench', 'tests': 'test-queue'}
# What a build needs only if one of these is in it.
NEEDED_BY = {'libzmq': ('daemon', 'clients', 'bench'), 'sqlite3': ('daemon',), 'zlib': ('daemon',),
             'gmodule-2.0': ('daemon',), 'json-glib-1.0': ('clients', 'bench', 'tests'), 'check': ('tests',)}
# gobject-introspection asks for the C compiler's own flags of these; the bindings are looked at elsewhere.
PLAIN = ('-Dintrospection=disabled', '-Ddemo=disabled')
USES_VERSION = '''
#include <{header}>
#if !{prefix}_CHECK_VERSION (0, 1, 0) || {prefix}_CHECK_VERSION ({prefix}_MAJOR_VERSION, {prefix}_MINOR_VERSION + 1, 0)
#error "the version is wrong"
#endif
{prefix}_AVAILABLE_IN_0_1 int new_function (void);
{prefix}_DEPRECATED_IN_0_1_FOR (new_function) int old_function (void);
int main (void) {{ return {call} (); }}
'''

results = []


def report(good, name, why=''):
    results.append(bool(good))
    for line in why.splitlines()[-20:] if not good else ():
        print(f'# {line}')
    print(f'{"ok" if good else "not ok"} {len(results)} - {name}', flush=True)
    return good


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


class Machine:
    """A machine without some libraries and without some modules of Python."""

    def __init__(self, folder):
        self.folder = folder
        self.pool = ThreadPoolExecutor(os.cpu_count())

    def environment(self, libraries, modules):
        hidden = Path(tempfile.mkdtemp(dir=self.folder))
        pkg_config = hidden / 'pkg-config'
        refused = '|'.join(libraries) or '-'
        pkg_config.write_text('#!/bin/sh\nfor word; do case $word in '
                              f'{refused}) echo "$word is not here" >&2; exit 1 ;; esac; done\n'
                              'exec /usr/bin/pkg-config "$@"\n')
        pkg_config.chmod(0o755)
        for module in modules:
            (hidden / f'{module}.py').write_text('raise ImportError\n')
        return os.environ | {'PKG_CONFIG': str(pkg_config), 'PYTHONPATH': str(hidden), 'CMAKE': '/bin/false'}

    def configure(self, *options, **hidden):
        """Returns a future of how it went, and of the names of what would be built."""
        return self.pool.submit(self.configure_now, *options, **hidden)

    def configure_now(self, *options, libraries=(), modules=()):
        build = tempfile.mkdtemp(dir=self.folder)
        done = run(['meson', 'setup', build, ROOT, *options], env=self.environment(libraries, modules))
        if done.returncode != 0:
            return done, set()
        listing = run(['meson', 'introspect', '--targets', build]).stdout
        return done, {target['name'] for target in json.loads(listing)}


def start_parts(machine):
    """Each part alone, without what only the others need."""
    for chosen in ((), ('daemon',), ('clients',), ('bench',), ('tests',)):
        options = [f'-D{part}={str(part in chosen).lower()}' for part in PROGRAMS]
        missing = [library for library, parts in NEEDED_BY.items() if not set(parts) & set(chosen)]
        yield chosen, missing, machine.configure(*PLAIN, *options, libraries=missing)


def check_parts(cases):
    for chosen, missing, configured in cases:
        done, targets = configured.result()
        built = {part for part, program in PROGRAMS.items() if program in targets}
        report(done.returncode == 0 and built == set(chosen) and 'iris-1' in targets,
               f'libiris{"".join(" and " + part for part in chosen) or " alone"} is configured without '
               f'{", ".join(missing)}', done.stdout + done.stderr + str(sorted(built)))


def start_bindings(machine):
    without = [f'-D{part}=false' for part in ('daemon', 'clients', 'bench')]
    tests = machine.configure('-Ddemo=disabled', *without, modules=['gi'])
    refused = [(option, what, machine.configure(*PLAIN, *without, '-Dtests=false', f'-D{option}=enabled'))
               for option, what in (('vapi', 'Vala bindings'), ('documentation', 'reference'))]
    return tests, refused


def check_bindings(tests, refused):
    done, targets = tests.result()
    report(done.returncode == 0 and 'test-queue' in targets, 'the tests are configured without python3-gi',
           done.stdout + done.stderr)
    for option, what, configured in refused:
        done, _ = configured.result()
        said = done.stdout + done.stderr
        report(done.returncode != 0 and what in said and 'install gobject-introspection' in said,
               f'-D{option}=enabled without introspection is refused with what to do', said)


def check_uninstalled(build, compiler, folder):
    env = os.environ | {'PKG_CONFIG_PATH': f'{build}/meson-uninstalled', 'LD_LIBRARY_PATH': f'{build}/iris'}
    flags = run(['pkg-config', '--cflags', '--libs', 'libiris-1'], env=env)
    program = folder / 'hello'
    done = run([*compiler, '-Wall', '-Werror', '-o', program, ROOT / 'doc/examples/hello.c',
                *flags.stdout.split()], env=env)
    report(done.returncode == 0 and run([program], env=env).stdout == 'Hello, world, from a worker!\n',
           'a program is compiled against the build folder, and runs', flags.stderr + done.stderr)


def check_version(build, compiler, folder):
    """What a program is warned of depends on the versions that it names."""
    for package, prefix, header in (('libiris-1', 'IRIS', 'iris/iris.h'),
                                    ('libiris-client-1', 'IRIS_CLIENT', 'iris-client/iris-client.h')):
        env = os.environ | {'PKG_CONFIG_PATH': f'{build}/meson-uninstalled'}
        flags = run(['pkg-config', '--cflags', package], env=env).stdout.split()
        old = [f'-D{prefix}_VERSION_{which}=G_ENCODE_VERSION(0,0)' for which in ('MIN_REQUIRED', 'MAX_ALLOWED')]
        for call, more, good in (('new_function', [], True), ('old_function', [], False),
                                 ('new_function', old, False), ('old_function', old, True)):
            source = folder / 'version.c'
            source.write_text(USES_VERSION.format(header=header, prefix=prefix, call=call))
            done = run([*compiler, '-Wall', '-Werror', '-c', '-o', folder / 'version.o', source, *flags, *more])
            report((done.returncode == 0) == good and (good or 'version.c' in done.stderr),
                   f'{package}: {call} {"causes no" if good else "causes a"} warning'
                   f'{" in a program for an older release" if more else ""}', done.stderr)


def main():
    build, compiler = Path(sys.argv[1]), sys.argv[2:]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        machine = Machine(folder)
        parts, bindings = list(start_parts(machine)), start_bindings(machine)
        check_uninstalled(build, compiler, folder)
        check_version(build, compiler, folder)
        check_parts(parts)
        check_bindings(*bindings)
    print(f'1..{len(results)}')
    return not all(results)


if __name__ == '__main__':
    sys.exit(main())
