#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The rules of the house that a machine can check, one TAP case each.

A rule is a function named rule_...; its docstring is what it demands, and it yields a sentence for
each place that breaks it. house-selftest.py plants a violation of each and wants it found.
"""
import re
import subprocess
import sys
from pathlib import Path

# A folder of iris/ may include from itself and from those before it; iris/iris.h, which stands in none, from all.
LAYERS = [
    'base', 'base/tsan', 'base/sync', 'base/memory',
    'queue/deque', 'queue/compare', 'queue', 'queue/stamped',
    'place/topology', 'place',
    'sched/stats', 'sched/trace', 'sched/pool', 'sched/steal', 'sched/compare', 'sched', 'sched/schedulers', 'sched/parallel',
    'message', 'message/port', 'message/service',
    'task/lock', 'task/interval', 'task', 'task/progress',
    'wire/base', 'wire/message', 'wire/body', 'wire',
]
# The same for daemon/, whose calls circles.py checks. What lies in daemon/ itself may include all.
DAEMON_LAYERS = [
    'base', 'config',
    'cluster/engine', 'cluster/policy', 'cluster/members', 'cluster/bridge', 'cluster',
    'net', 'store',
    'exec/attempts', 'exec', 'exec/command', 'exec/worker', 'exec/schedule',
    'items', 'gateway',
]
# And for libiris-client.
CLIENT_LAYERS = ['base', 'answer', 'request', 'connection', 'worker']
# And for irisd-web.
WEB_LAYERS = ['base', 'state', 'export', 'http']
# Where the public headers of libiris and libiris-client are.
LIBRARY_FOLDERS = ('iris/', 'clients/iris-client/')
MAX_FILE_LINES = 1000
MAX_FUNCTION_LINES = 60
# Pronouns that hide what acts, and how many of them a folder may still have. Lower a number when a
# folder has fewer; a folder without a number has none.
PRONOUNS = re.compile(r'\b(no' r'body|who' r'ever|some' r'body|who' r' is)\b', re.IGNORECASE)
PRONOUNS_LEFT = {}

CODE = ('.c', '.h', '.py', '.sh')
AVAILABLE = re.compile(r'^IRIS(?:_CLIENT)?_AVAILABLE_IN_\w+\s+', re.MULTILINE)
SPDX = 'SPDX-License-' 'Identifier: LGPL-2.1-or-later'


class Tree:
    """The project's files: those that git tracks or would track."""

    def __init__(self, root):
        self.root = Path(root)
        listing = subprocess.run(
            ['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'],
            cwd=root, check=True, capture_output=True, text=True).stdout
        self.paths = sorted(p for p in listing.split('\0') if p and (self.root / p).is_file())
        self.texts = {}

    def text(self, path):
        """The text of a file; of one that is not there, none."""
        if path not in self.texts:
            file = self.root / path
            self.texts[path] = file.read_text(errors='replace') if file.is_file() else ''
        return self.texts[path]

    def lines(self, path):
        return enumerate(self.text(path).splitlines(), 1)

    def ending(self, *suffixes):
        return [p for p in self.paths if p.endswith(suffixes)]

    def program_text(self, path):
        """The text of a C file without comments and strings, line for line."""
        def blank(match):
            return '\n' * match.group().count('\n') or ' '
        return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', blank, self.text(path),
                      flags=re.DOTALL)


def is_private(path):
    return path.endswith('-private.h')


def public_headers(tree, *folders):
    """The headers that are installed: of the libraries in these folders, or of all libraries."""
    return [p for p in tree.ending('.h')
            if p.startswith(folders or LIBRARY_FOLDERS) and not is_private(p)]


def available_functions(tree, path):
    """The functions that a header exports: name, whether of a type, the release that added it."""
    text = tree.program_text(path)
    for match in AVAILABLE.finditer(text):
        release = match.group().strip().partition('_AVAILABLE_IN_')[2]
        declaration = text[match.end():].split(';', 1)[0]
        macro = re.match(r'G_DECLARE_\w+\s*\(\s*\w+\s*,\s*(\w+)', declaration)
        if macro:
            yield macro.group(1) + '_get_type', True, release
            continue
        name = re.search(r'(\w+)\s*\(', declaration)
        if name:
            yield name.group(1), False, release


def includes(tree, path):
    """Yields (line, included path) for what a C file includes from this project."""
    for number, line in tree.lines(path):
        match = re.match(r'\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")', line)
        if not match:
            continue
        if match.group(2):
            beside = (Path(path).parent / match.group(2)).as_posix()
            target = beside if (tree.root / beside).exists() else match.group(2)
            target = re.sub(r'[^/]+/\.\./', '', target)
        else:
            target = re.sub(r'^iris-client/', 'clients/iris-client/', match.group(1))
        if target.startswith(('iris/', 'daemon/', 'clients/', 'tests/')):
            yield number, target


def layer_of(path):
    """The layer of a path below iris/, as a number; iris/iris.h stands below them all."""
    folder = path[len('iris/'):].rpartition('/')[0]
    return LAYERS.index(folder) if folder in LAYERS else len(LAYERS)


def may_include(source, target):
    """Says why source may not include target; None if it may."""
    where, what = source.split('/')[0], target.split('/')[0]
    if where == 'tests':
        return None
    if what == 'tests':
        return 'only a test may include from tests/'
    if where == 'iris':
        if what != 'iris':
            return f'iris/ stands above {what}/'
        if layer_of(target) > layer_of(source):
            return f'{Path(source).parent} stands above {Path(target).parent}'
        if is_private(target) and not is_private(source) and source.endswith('.h'):
            return 'an installed header may not need a private one'
    elif where == 'daemon' and what == 'clients':
        return 'the daemon may not use a client'
    elif where == 'clients' and what == 'daemon':
        return 'a client speaks to the daemon by the protocol only'
    elif re.match(r'clients/irisctl/(in|out)put/', source) and target.startswith('clients/irisctl/command/'):
        return 'the commands of irisctl stand below its input and output'
    elif where in ('clients', 'doc') and is_private(target) and what == 'iris' \
            and not target.startswith('iris/wire/'):
        return f'{where}/ may use what is public'
    return None


def rule_layers(tree):
    """a folder includes only from itself and from those above it"""
    for path in tree.ending('.c', '.h'):
        for number, target in includes(tree, path):
            why = may_include(path, target)
            if why:
                yield f'{path}:{number}: includes {target}: {why}'


def rule_layers_known(tree):
    """every folder of iris/ is a layer"""
    for path in tree.ending('.c', '.h'):
        top, _, rest = path.partition('/')
        folder = rest.rpartition('/')[0]
        if top == 'iris' and folder and folder not in LAYERS:
            yield f'{path}: {folder} is none of {", ".join(LAYERS)}'


def rule_daemon_layers(tree):
    """a folder of daemon/, of libiris-client or of irisd-web includes only from itself and from those below it"""
    for top, layers in (('daemon/', DAEMON_LAYERS), ('clients/iris-client/', CLIENT_LAYERS), ('clients/web/', WEB_LAYERS)):
        def layer(path):
            folder = path[len(top):].rpartition('/')[0]
            if folder not in layers:
                folder = folder.split('/')[0]
            return layers.index(folder) if folder in layers else len(layers)
        for path in tree.ending('.c', '.h'):
            for number, target in includes(tree, path) if path.startswith(top) else []:
                if target.startswith(top) and layer(target) > layer(path):
                    yield f'{path}:{number}: includes {target}, which is above it'


def rule_spdx(tree):
    """every file of code names its licence in its first lines"""
    # Of everything else .reuse/dep5 names it.
    for path in tree.paths:
        head = tree.text(path).splitlines()[:5]
        is_code = path.endswith(CODE + ('meson.build', 'meson_options.txt', '.pml')) \
            or (head and head[0].startswith('#!'))
        if is_code and SPDX not in '\n'.join(head):
            yield f'{path}: has no line "{SPDX}"'


def rule_purpose(tree):
    """every C file says its purpose in the comment that opens it"""
    for path in tree.ending('.c', '.h'):
        head = re.match(r'/\*(.*?)\*/', tree.text(path), re.DOTALL)
        words = re.sub(r'[*\s]+', ' ', head.group(1)).replace(SPDX, '').strip() if head else ''
        if len(words) < 10:
            yield f'{path}:1: has no opening comment with its purpose'


def rule_file_length(tree):
    """no file of code is longer than 1,000 lines"""
    for path in tree.ending(*CODE):
        length = len(tree.text(path).splitlines())
        if length > MAX_FILE_LINES:
            yield f'{path}: {length} lines, more than {MAX_FILE_LINES}'


def rule_function_length(tree):
    """no function is longer than 60 lines"""
    for path in tree.ending('.c', '.h'):
        start = None
        for number, line in tree.lines(path):
            if line == '{':
                start = number
            elif line == '}' and start:
                if number - start - 1 > MAX_FUNCTION_LINES:
                    yield f'{path}:{start}: a function of {number - start - 1} lines'
                start = None
            elif line.startswith('}'):
                start = None


def rule_no_marks(tree):
    """no file carries a mark of unfinished work or switched-off code"""
    marks = re.compile(r'\b(TO' r'DO|FIX' r'ME|XX' r'X)\b|^\s*#\s*if\s+0\b')
    for path in tree.ending(*CODE, '.md', 'meson.build'):
        for number, line in tree.lines(path):
            if marks.search(line):
                yield f'{path}:{number}: {line.strip()}'


def rule_plain_english(tree):
    """sentences name what acts, and no folder has more indefinite pronouns than before"""
    found = {}
    for path in tree.paths:
        folder = path.split('/')[0] if '/' in path else ''
        for number, line in tree.lines(path):
            found.setdefault(folder, []).extend([f'{path}:{number}'] * len(PRONOUNS.findall(line)))
    for folder, places in found.items():
        allowed = PRONOUNS_LEFT.get(folder, 0)
        if len(places) > allowed:
            yield (f'{folder or "the root"}: {len(places)} indefinite pronouns, more than {allowed}: '
                   + ', '.join(dict.fromkeys(places[:20])))


def rule_no_volatile(tree):
    """nothing is volatile: what threads share is _Atomic"""
    # These repeat GLib's own prototypes.
    excepted = ['iris/base/tsan/iris-tsan-glib.c']
    for path in tree.ending('.c', '.h'):
        if path in excepted:
            continue
        for number, line in enumerate(tree.program_text(path).splitlines(), 1):
            if re.search(r'\bvolatile\b', line) and not re.search(r'asm(__)?\s+volatile', line):
                yield f'{path}:{number}: {line.strip()}'


def rule_no_sleep(tree):
    """no test sleeps: it waits for the condition"""
    sleep = re.compile(r'\b(g_usleep|usleep|nanosleep|clock_nanosleep|sleep)\s*\(')
    shell = re.compile(r'^\s*sleep\s+[0-9]|time\.sleep\s*\(')
    for path in tree.paths:
        if not path.startswith('tests/') or path.startswith('tests/checks/'):
            continue
        text = tree.program_text(path) if path.endswith(('.c', '.h')) else tree.text(path)
        for number, line in enumerate(text.splitlines(), 1):
            if (sleep if path.endswith(('.c', '.h')) else shell).search(line):
                yield f'{path}:{number}: {line.strip()}'


def rule_no_weak_pointer(tree):
    """no test has a weak pointer, which another thread may clear late: GWeakRef, or core_test_gate_watch()"""
    for path in tree.ending('.c', '.h'):
        if not path.startswith(('tests/', 'doc/examples/')):
            continue
        for number, line in enumerate(tree.program_text(path).splitlines(), 1):
            if re.search(r'\bg_(object_add|set)_weak_pointer\b', line):
                yield f'{path}:{number}: {line.strip()}'


def rule_one_header(tree):
    """iris/iris.h includes every public header but the protocol's, which iris/wire/iris-wire.h includes"""
    for top, others in (('iris/iris.h', 'iris/wire/'), ('iris/wire/iris-wire.h', None)):
        included, ahead = set(), [top]
        while ahead:
            header = ahead.pop()
            included.add(header)
            ahead += [target for _, target in includes(tree, header) if target not in included]
        for path in public_headers(tree, 'iris/' if others else 'iris/wire/'):
            if others and path.startswith(others):
                if path in included:
                    yield f'{top}: includes {path}'
            elif path not in included:
                yield f'{top}: does not include {path}'


def rule_documented(tree):
    """every public function has a gi-docgen comment; with Since: if a release after the first has added it"""
    comments = {}
    for path in tree.ending('.c', '.h'):
        for match in re.finditer(r'/\*\*\n \* (\w+):.*?\*/', tree.text(path), re.DOTALL):
            comments[match.group(1)] = match.group()
    for path in public_headers(tree):
        for name, is_type, release in available_functions(tree, path):
            if is_type or name.endswith('_get_type') or name.endswith('_quark'):
                continue
            if name not in comments:
                yield f'{path}: {name}() has no comment /** ... */'
            elif release != 'ALL' and 'Since: ' not in comments[name]:
                yield f'{path}: the comment of {name}() has no Since:'


def rule_links(tree):
    """every relative link of a page leads somewhere"""
    for path in tree.ending('.md'):
        for number, line in tree.lines(path):
            for target in re.findall(r'\]\(([^)#\s]+)', line):
                if '://' in target or target.startswith('mailto:'):
                    continue
                if not (tree.root / Path(path).parent / target).exists():
                    yield f'{path}:{number}: {target} is not there'


def rule_files(tree):
    """every source file that a page names exists"""
    names = {part for path in tree.paths for part in (path, Path(path).name)}
    for path in tree.ending('.md'):
        for number, line in tree.lines(path):
            for name in re.findall(r'`([\w./-]+\.(?:c|h|py|pml|list))`', line):
                known = name in names if '/' not in name else any(
                    p == name or p.endswith('/' + name) for p in tree.paths)
                if not known and 'NAME' not in name:
                    yield f'{path}:{number}: there is no {name}'


def rule_decisions(tree):
    """doc/decisions/README.md leads to every decision"""
    overview = 'doc/decisions/README.md'
    for path in tree.ending('.md'):
        if path.startswith('doc/decisions/') and path != overview \
                and f']({Path(path).name})' not in tree.text(overview):
            yield f'{overview}: does not mention {Path(path).name}'


def rule_readme_example(tree):
    """the C program in README.md is doc/examples/hello.c"""
    source = re.sub(r'\A/\*.*?\*/\s*', '', tree.text('doc/examples/hello.c'), flags=re.DOTALL)
    blocks = re.findall(r'```c\n(.*?)```', tree.text('README.md'), re.DOTALL)
    if [block.strip() for block in blocks] != [source.strip()]:
        yield 'README.md: its C program and doc/examples/hello.c differ'


def rule_one_picture(tree):
    """the picture in README.md is that of doc/architecture.md"""
    pictures = [re.findall(r'```text\n(.*?)```', tree.text(path), re.DOTALL)
                for path in ('README.md', 'doc/architecture.md')]
    if pictures[0] != pictures[1]:
        yield 'README.md: its picture and that of doc/architecture.md differ'


def rules():
    return [function for name, function in globals().items() if name.startswith('rule_')]


def main():
    tree = Tree(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2])
    wanted = rules()
    print(f'1..{len(wanted)}')
    bad = 0
    for number, rule in enumerate(wanted, 1):
        broken = list(rule(tree))
        for sentence in broken:
            print(f'# {sentence}')
        print(f'{"not ok" if broken else "ok"} {number} - {rule.__doc__}')
        bad += bool(broken)
    return bad > 0


if __name__ == '__main__':
    sys.exit(main())
