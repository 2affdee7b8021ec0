#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows that every rule of house.py can fail: plants a violation of each in a small tree of its own.

The tree keeps every rule, so that each plant must break exactly the rule that it is meant for.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import house

SPDX = f'/* {house.SPDX}\n *\n * The purpose of this file.\n */\n'
MAIN = 'int\nmain (void)\n{\n  return 0;\n}\n'

GOOD = {
    'iris/iris.h': SPDX + '#include <iris/base/iris-low.h>\n#include <iris/sched/iris-high.h>\n',
    'iris/base/iris-low.h': SPDX + 'IRIS_AVAILABLE_IN_ALL\nint iris_low (void);\n',
    'iris/base/iris-low.c': SPDX + '#include <iris/base/iris-low.h>\n'
        '/**\n * iris_low:\n *\n * Low.\n */\nint\niris_low (void)\n{\n}\n',
    'iris/base/iris-low-private.h': SPDX,
    'iris/sched/iris-high.h': SPDX + '#include <iris/base/iris-low.h>\n',
    'iris/wire/iris-wire-private.h': SPDX,
    'daemon/main.c': SPDX + '#include <iris/base/iris-low-private.h>\n' + MAIN,
    'daemon/gateway.h': SPDX,
    'daemon/base/low.h': SPDX,
    'clients/client.h': SPDX,
    'clients/iris-client/base/low.c': SPDX,
    'clients/iris-client/worker/high.h': SPDX,
    'clients/main.c': SPDX + '#include <iris/iris.h>\n#include "client.h"\n'
        '#include <iris/wire/iris-wire-private.h>\n' + MAIN,
    'tests/t.c': SPDX + '#include <daemon/gateway.h>\n' + MAIN,
    'doc/examples/hello.c': SPDX + '\n' + MAIN,
    'README.md': f'<!-- {house.SPDX} -->\n[there](doc/examples/hello.c)\n```c\n{MAIN}```\n',
}

# (the rule that must find it, the file, the text that is added to it)
PLANTS = [
    ('rule_layers', 'iris/base/iris-low.c', '#include <iris/sched/iris-high.h>\n'),
    ('rule_layers', 'iris/base/iris-low.c', '#include "../sched/iris-high.h"\n'),
    ('rule_layers', 'iris/base/iris-low.c', '#include <iris/iris.h>\n'),
    ('rule_layers', 'iris/base/iris-low.c', '#include <daemon/gateway.h>\n'),
    ('rule_layers', 'iris/sched/iris-high.h', '#include <iris/base/iris-low-private.h>\n'),
    ('rule_layers', 'daemon/main.c', '#include <clients/client.h>\n'),
    ('rule_layers', 'daemon/main.c', '#include "../clients/client.h"\n'),
    ('rule_layers', 'clients/irisctl/input/a.c', SPDX + '#include "clients/irisctl/command/b.h"\n'),
    ('rule_layers', 'daemon/main.c', '#  include <tests/t.h>\n'),
    ('rule_layers', 'clients/main.c', '#include <daemon/gateway.h>\n'),
    ('rule_layers', 'clients/main.c', '#include <iris/base/iris-low-private.h>\n'),
    ('rule_layers', 'doc/examples/peek.c', SPDX + '#include <iris/base/iris-low-private.h>\n'),
    ('rule_layers_known', 'iris/attic/iris-old-private.h', SPDX),
    ('rule_daemon_layers', 'daemon/base/low.h', '#include "daemon/net/high.h"\n'),
    ('rule_daemon_layers', 'clients/iris-client/base/low.c', '#include <iris-client/worker/high.h>\n'),
    ('rule_spdx', 'tests/tool.py', 'print()\n'),
    ('rule_spdx', 'tests/tool', '#!/bin/sh\n'),
    ('rule_spdx', 'tests/meson.build', 'option = 1\n'),
    ('rule_purpose', 'tests/bare.h', f'/* {house.SPDX} */\n'),
    ('rule_file_length', 'tests/t.c', '\n' * house.MAX_FILE_LINES),
    ('rule_function_length', 'tests/t.c',
     'void\nlong_one (void)\n{\n' + '  ;\n' * (house.MAX_FUNCTION_LINES + 1) + '}\n'),
    ('rule_no_marks', 'daemon/main.c', '/* TO' 'DO: all of it */\n'),
    ('rule_no_marks', 'daemon/main.c', '#if 0\n#endif\n'),
    ('rule_plain_english', 'README.md', 'No' 'body waits.\n'),
    *[('rule_plain_english', f'{folder}/notes.txt', 'The user who' ' is told.\n' * (left + 1))
      for folder, left in {'other': 0, **house.PRONOUNS_LEFT}.items()],
    ('rule_no_volatile', 'daemon/main.c', 'static volatile int stop;\n'),
    ('rule_no_sleep', 'tests/t.c', 'void\nnap (void)\n{\n  g_usleep (1000);\n}\n'),
    ('rule_no_sleep', 'tests/t.py', f'# {house.SPDX}\ntime.sleep (1)\n'),
    ('rule_no_sleep', 'tests/t.sh', f'# {house.SPDX}\nsleep 1\n'),
    ('rule_no_weak_pointer', 'tests/t.c',
     'void\nlook (GObject *o, gpointer *p)\n{\n  g_object_add_weak_pointer (o, p);\n}\n'),
    ('rule_one_header', 'iris/sched/iris-lost.h', SPDX),
    ('rule_documented', 'iris/base/iris-low.h', 'IRIS_AVAILABLE_IN_ALL\nchar *iris_mute (int);\n'),
    ('rule_documented', 'iris/base/iris-low.h',
        '/**\n * iris_new:\n *\n * New.\n */\nIRIS_AVAILABLE_IN_0_2\nint iris_new (void);\n'),
    ('rule_one_header', 'iris/wire/iris-wire-lost.h', SPDX),
    ('rule_links', 'README.md', '[nowhere](doc/nowhere.md)\n'),
    ('rule_files', 'README.md', 'See `lost.c`.\n'),
    ('rule_files', 'README.md', 'See `tests/hello.c`.\n'),
    ('rule_decisions', 'doc/decisions/0001-lost.md', 'Lost.\n'),
    ('rule_one_picture', 'README.md', '```text\na box\n```\n'),
    ('rule_readme_example', 'doc/examples/hello.c', '/* and more */\n'),
]

# Text that looks like a violation and is none.
INNOCENT = [
    ('daemon/main.c', '/* volatile would be wrong here, and so would sleep (1) */\n'),
    ('daemon/main.c', 'const char *word = "volatile";\n'),
    ('tests/t.c', '/* never sleep (1) in a test */\n'),
    ('tests/t.c', 'struct Table\n{\n' + '  int x;\n' * 70 + '};\n'),
    ('doc/notes.txt', 'Notes.\n'),
    ('README.md', '[elsewhere](https://example.org/page)\n'),
]


def broken_rules(root):
    tree = house.Tree(root)
    return {rule.__name__ for rule in house.rules() if list(rule(tree))}


def write(root, path, text):
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def broken_by(path, added):
    """The rules that the good tree breaks once a text is added to one of its files."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        subprocess.run(['git', 'init', '-q', name], check=True)
        for good, text in GOOD.items():
            write(root, good, text)
        if path:
            write(root, path, GOOD.get(path, '') + added)
        return broken_rules(root)


def main():
    results = [(broken_by(None, ''), set(), 'a tree that keeps every rule breaks none')]
    for rule, path, added in PLANTS:
        plant = max(added.replace(SPDX, '').split('\n'), key=len) or 'what is planted'
        results.append((broken_by(path, added), {rule},
                        f'{rule} finds "{plant}" in {path}'))
    for path, added in INNOCENT:
        results.append((broken_by(path, added), set(),
                        f'no rule minds "{added.splitlines()[0]}" in {path}'))
    unplanted = {rule.__name__ for rule in house.rules()} - {rule for rule, _, _ in PLANTS}
    results.append((unplanted, set(), 'every rule has been seen to fail'))

    print(f'1..{len(results)}')
    bad = 0
    for number, (found, wanted, name) in enumerate(results, 1):
        if found != wanted:
            print(f'# wanted {sorted(wanted)}, found {sorted(found)}')
        print(f'{"ok" if found == wanted else "not ok"} {number} - {name.replace("#", "")}')
        bad += found != wanted
    return bad > 0


if __name__ == '__main__':
    sys.exit(main())
