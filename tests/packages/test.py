#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""iris as Debian packages, as Python packages, and as a subproject of another program. Prints TAP.

    test.py BUILD-DIR

Works in BUILD-DIR/packages. The clean Debian, in which the packages are installed, tried, upgraded and purged, is
made by mmdebstrap once for each list of needed packages, and kept in $XDG_CACHE_HOME/iris-packages.
"""
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / 'tests/packages'
PACKAGES = {'libiris-1-1', 'libiris-1-dev', 'gir1.2-iris-1', 'irisd', 'iris-tools', 'python3-irisd-client', 'iris-bench',
            'iris-doc'}
# What a download says that reaches no archive, and not that a package is wrong.
NO_MIRROR = re.compile(r'Could not resolve|Temporary failure|Could not connect|Unable to connect|Failed to fetch')
AS_ROOT = os.geteuid() == 0

results = []


def report(good, name, why=''):
    results.append(bool(good))
    for line in why.splitlines()[-40:] if not good else ():
        print(f'# {line[:300]}')
    print(f'{"ok" if good else "not ok"} {len(results)} - {name}', flush=True)
    return good


def skip(name, why):
    results.append(True)
    print(f'ok {len(results)} - {name} # SKIP {why}', flush=True)


def run(command, **more):
    more.setdefault('stdin', subprocess.DEVNULL)
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **more)


# --- the packages --------------------------------------------------------------------------------


def copy_tree(source):
    """What git tracks or would track. At the same path each time, so that the compiler's cache finds it again."""
    shutil.rmtree(source, ignore_errors=True)
    listing = subprocess.run(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], cwd=ROOT, check=True,
                             capture_output=True, text=True).stdout
    for name in filter(None, listing.split('\0')):
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, source / name)


def version_of(source):
    return re.match(r'iris \(([^)]+)\)', (source / 'debian/changelog').read_text()).group(1)


def raise_version(source):
    """A newer release of the same files, which the next build has."""
    changelog = source / 'debian/changelog'
    version = version_of(source) + '+next'
    text = changelog.read_text()
    entry = re.match(r'.*?^ -- [^\n]*\n', text, re.DOTALL | re.MULTILINE).group()
    changelog.write_text(re.sub(r'\([^)]+\)', f'({version})', entry, count=1) + '\n' + text)


def build_packages(source, *options):
    cache = Path('/usr/lib/ccache')
    path = os.environ['PATH'] if not cache.is_dir() else f'{cache}:{os.environ["PATH"]}'
    env = os.environ | {'PATH': path, 'DEB_BUILD_OPTIONS': f'parallel={os.cpu_count()}'}
    # What ./test compiles with is not what Debian does.
    for name in ('CC', 'CXX', 'CFLAGS', 'LDFLAGS', 'DESTDIR', 'TMPDIR'):
        env.pop(name, None)
    return run(['dpkg-buildpackage', '--no-sign', *options], cwd=source, env=env)


def packages_in(folder, version):
    return {path.name.split('_')[0].removesuffix('-dbgsym'): path for path in sorted(folder.glob(f'*_{version}_*.deb'))
            if '-dbgsym_' not in path.name}


def field(package, name):
    return run(['dpkg-deb', '--field', package, name]).stdout.strip()


def check_build(folder, source):
    """Returns the packages of two releases by their names, or None."""
    old = version_of(source)
    done = build_packages(source)
    older = packages_in(folder, old)
    report(old == version_in_meson(), 'debian/changelog has the version of meson.build', old)
    if not report(done.returncode == 0, 'dpkg-buildpackage builds source and packages, each installed file in one of them',
                  done.stdout):
        return None
    report(set(older) == PACKAGES, 'they are the packages that the project has', str(sorted(older)))

    stray = source / 'debian/tmp/usr/bin/in-no-package'
    stray.write_text('')
    done = run(['dh_missing', '--fail-missing'], cwd=source)
    report(done.returncode != 0 and 'in-no-package' in done.stdout, 'a file that is in no package would end the build',
           done.stdout)
    stray.unlink()

    changes = next(iter(folder.glob(f'iris_{old}_*.changes')))
    done = run(['lintian', '--fail-on', 'error,warning', '--suppress-tags', 'bad-distribution-in-changes-file',
                *(['--allow-root'] if AS_ROOT else []), changes])
    report(done.returncode == 0, 'lintian has no error and no warning', done.stdout)

    raise_version(source)
    done = build_packages(source, '--build=binary', '-nc')
    newer = packages_in(folder, version_of(source))
    report(done.returncode == 0 and set(newer) == PACKAGES, 'a newer release is built', done.stdout)
    return older, newer


# --- a clean Debian ------------------------------------------------------------------------------


def needed(packages):
    """What the packages need from Debian."""
    names = set()
    for package in packages.values():
        for relation in ('Depends', 'Pre-Depends', 'Recommends'):
            for clause in re.split(r'\s*,\s*', field(package, relation)):
                name = re.match(r'[\w.+-]*', clause).group()
                if name and name not in PACKAGES:
                    names.add(name)
    return sorted(names)


def clean_debian(packages):
    """Returns the archive of a Debian with what the packages need; without one, None and the reason."""
    names = ','.join(needed(packages))
    with open('/etc/os-release', encoding='utf-8') as file:
        suite = re.search(r'^VERSION_CODENAME=(\w+)$', file.read(), re.MULTILINE).group(1)
    kept = Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache') / 'iris-packages'
    archive = kept / (hashlib.sha256(f'{suite} {names}'.encode()).hexdigest()[:16] + '.tar')
    if archive.exists():
        return archive, ''
    kept.mkdir(parents=True, exist_ok=True)
    unfinished = archive.with_name(f'unfinished-{os.getpid()}.tar')
    done = run(['mmdebstrap', '--variant=minbase', f'--include={names}', suite, unfinished])
    if done.returncode == 0:
        unfinished.rename(archive)
        return archive, ''
    unfinished.unlink(missing_ok=True)
    return None, done.stdout


class Debian:
    """A clean Debian in a folder. Without root, the user is root in it."""

    def __init__(self, archive, folder, releases):
        self.folder = folder
        self.map = [] if AS_ROOT else ['--map-root-user', '--map-auto']
        self.remove()
        folder.mkdir(parents=True)
        done = run(['unshare', *self.map, 'tar', '-C', folder, '-xf', archive, '--exclude=./dev/*'])
        assert done.returncode == 0, done.stdout
        for name, packages in releases.items():
            (folder / 'packages' / name).mkdir(parents=True)
            for package in packages.values():
                shutil.copy(package, folder / 'packages' / name)
        shutil.copy(HERE / 'inside.sh', folder / 'inside.sh')

    def inside(self, *words):
        """Runs inside.sh in it. What it leaves running ends with it."""
        script = 'mount --rbind /dev "$1/dev" && mount -t proc proc "$1/proc" && root=$1 && shift && ' \
            'exec chroot "$root" /inside.sh "$@"'
        return run(['timeout', '300', 'unshare', *self.map, '--mount', '--pid', '--fork', '--kill-child',
                    'sh', '-c', script, 'sh', self.folder, *words])

    def remove(self):
        run(['unshare', *self.map, 'rm', '-rf', self.folder])


def check_life(debian):
    """Installed, tried, upgraded, purged."""
    def step(name, *words):
        done = debian.inside(*words)
        return report(done.returncode == 0, name, done.stdout)

    before = debian.inside('files').stdout.splitlines()
    if not step('the packages are installed with what they depend on', 'install', '/packages/older'):
        return
    step('irisd, irisctl, the Python package, the typelibs and iris-bench do their work', 'try')
    step('irisd begins with the machine, with a configuration that is good; irisd-web and the units of users do not', 'units')
    step('an item is left in a journal', 'leave', '/tmp/journal')
    step('the packages are upgraded', 'install', '/packages/newer')
    step('the newer irisd runs what the older one kept', 'find', '/tmp/journal')
    step('the newer packages work as well', 'try')
    during = debian.inside('files').stdout.splitlines()
    report(len(during) > len(before) + 500, 'they have their files', f'{len(before)} before, {len(during)} now')
    step('the packages are purged', 'purge')
    after = debian.inside('files').stdout.splitlines()
    report(before == after, 'and nothing is left of them', '\n'.join(sorted(set(after) ^ set(before))))


def check_packages(folder, source):
    releases = check_build(folder, source)
    if releases is None:
        return
    older, newer = releases
    archive, why = clean_debian(older)
    if archive is None:
        name = 'a clean Debian is made'
        if NO_MIRROR.search(why):
            skip(name, 'no archive of Debian answers: the packages were built, but not installed')
        else:
            report(False, name, why)
        return
    debian = Debian(archive, folder / 'debian', {'older': older, 'newer': newer})
    check_life(debian)
    debian.remove()


# --- Python --------------------------------------------------------------------------------------


def check_python(folder, source):
    made = folder / 'python'
    shutil.rmtree(made, ignore_errors=True)
    # The wheel is made from the sdist, so what this lacks is missing there.
    done = run(['/usr/bin/python3', '-m', 'build', '--no-isolation', '--outdir', made, source / 'clients/python'])
    if not report(done.returncode == 0, 'the Python package is built as sdist, and as wheel from that', done.stdout):
        return
    modules = {path.relative_to(source / 'clients/python').as_posix()
               for path in (source / 'clients/python/irisd_client').iterdir() if path.is_file()}
    with zipfile.ZipFile(next(made.glob('*.whl'))) as wheel:
        inside = {name for name in wheel.namelist() if '.dist-info/' not in name}
    report(inside == modules, 'the wheel has the modules and nothing else', str(sorted(inside ^ modules)))
    with tarfile.open(next(made.glob('*.tar.gz'))) as archive:
        inside = {name.partition('/')[2] for name in archive.getnames()}
    report(modules | {'README.md', 'pyproject.toml'} <= inside, 'the sdist has them, the page and the description',
           str(sorted(modules - inside)))

    # Of the system it has what the package needs, which is not in the wheel.
    venv = folder / 'python-venv'
    shutil.rmtree(venv, ignore_errors=True)
    done = run(['/usr/bin/python3', '-m', 'venv', '--without-pip', '--system-site-packages', venv])
    python = venv / 'bin/python'
    done.stdout += run([python, '-m', 'installer', next(made.glob('*.whl'))]).stdout
    env = {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}
    program = 'import importlib.metadata as m, irisd_client as i; print(m.version("irisd-client"), i.__file__)'
    tried = run([python, '-c', program], env=env, cwd=made)
    good = re.fullmatch(rf'{re.escape(version_in_meson())} {re.escape(str(venv))}/.*/irisd_client/__init__.py\n', tried.stdout)
    report(good, 'the wheel is installed in a virtual environment, has the version of iris, and is imported',
           done.stdout + tried.stdout)
    # Away from the source, beside which it would find that.
    program = Path(shutil.copy(source / 'clients/python/tests/test_vectors.py', venv))
    done = run([python, program, source / 'tests/vectors/irs1.json'], env=env, cwd=made)
    report(done.returncode == 0 and '\nok 1 ' in done.stdout and 'not ok' not in done.stdout,
           'what is installed reads and writes the conformance vectors', done.stdout)


def version_in_meson():
    return re.search(r"version: '([^']+)'", (ROOT / 'meson.build').read_text()).group(1)


# --- a program with iris inside ------------------------------------------------------------------


def check_subproject(folder):
    version = version_in_meson()
    archive = folder / f'iris_{version}.tar.xz'
    program = folder / 'subproject'
    shutil.rmtree(program, ignore_errors=True)
    shutil.copytree(ROOT / 'tests/subproject', program)
    wrap = program / 'subprojects/iris.wrap.in'
    values = {'VERSION': version, 'URL': archive.as_uri(), 'HASH': hashlib.sha256(archive.read_bytes()).hexdigest()}
    wrap.with_suffix('').write_text(re.sub(r'@(\w+)@', lambda match: values[match.group(1)], wrap.read_text()))
    env = os.environ | {'CC': os.environ.get('CC') or ('ccache gcc' if shutil.which('ccache') else 'gcc')}
    done = run(['meson', 'setup', 'build', '--wrap-mode=forcefallback', '-Dwerror=true'], cwd=program, env=env)
    report(done.returncode == 0 and 'Executing subproject iris' in done.stdout,
           'a program finds iris as a subproject, by its wrap', done.stdout)
    done = run(['meson', 'test', '-C', 'build', '--print-errorlogs'], cwd=program)
    if not report(done.returncode == 0, 'it is compiled with that, and runs', done.stdout):
        return
    done = run([program / 'build/greeter'])
    report(re.fullmatch(r'iris \d+\.\d+ ran 1000 items\n', done.stdout), 'each of its items ran', done.stdout)


def main():
    folder = Path(sys.argv[1]).resolve() / 'packages'
    source = folder / f'iris-{version_in_meson()}'
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        if path.is_file():
            path.unlink()
    copy_tree(source)
    check_packages(folder, source)
    check_python(folder, source)
    check_subproject(folder)
    print(f'1..{len(results)}')
    return not all(results)


if __name__ == '__main__':
    sys.exit(main())
