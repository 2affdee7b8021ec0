#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows that circles.py can fail: compiles small trees with an upward call, a circle, and a line that is not needed."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import circles

# Each file defines a function of its own name and calls these.
GOOD = {'base/a': [], 'store/b': ['a'], 'store/c': ['a', 'b'], 'exec/part/d': ['b'], 'gateway/e': ['c', 'd'],
        'main': ['e']}


def built(root, calls):
    """Compiles a tree in which each file calls others, as Meson would."""
    objects = root / 'build/daemon/lib.a.p'
    objects.mkdir(parents=True)
    for path, called in calls.items():
        source = root / f'source/daemon/{path}.c'
        source.parent.mkdir(parents=True, exist_ok=True)
        name = path.split('/')[-1]
        source.write_text(''.join(f'void {c} (void);\n' for c in called)
                          + f'void {name} (void);\nvoid\n{name} (void)\n{{\n'
                          + ''.join(f'  {c} ();\n' for c in called) + '}\n')
        subprocess.run([os.environ.get('CC', 'cc').split()[-1], '-c', '-o',
                        objects / (path.replace('/', '_') + '.c.o'), source], check=True)
    return circles.Objects(root / 'build', root / 'source', 'daemon')


def found(calls, known_circles):
    with tempfile.TemporaryDirectory() as name:
        objects = built(Path(name), GOOD | calls)
        return list(circles.upwards(objects)), list(circles.bad_circles(objects, list(known_circles)))


CASES = [
    ('a tree without either is let through', {}, (), 0, 0, ''),
    ('a call upwards is found', {'base/a': ['e']}, (), 1, 1, 'base/a.c needs e of daemon/gateway/e.c'),
    ('a call to what lies above all folders is found', {'gateway/e': ['main']}, (), 1, 1, 'needs main'),
    ('a circle inside a folder is found', {'store/b': ['c']}, (), 0, 1, 'store/b.c needs c of store/c.c; '),
    ('a circle that has a line is let through', {'store/b': ['c']},
     [('planted', 'store/b.c store/c.c')], 0, 0, ''),
    ('a file that joins a known circle is found', {'store/b': ['c'], 'store/f': ['b'], 'base/a': [],
                                                   'store/c': ['b', 'f']},
     [('planted', 'store/b.c store/c.c')], 0, 1, '3 files'),
    ('a circle through two parts of a folder is found', {'exec/g': ['d'], 'exec/part/d': ['g']}, (), 0, 1,
     'through exec, exec/part'),
    ('a line for no circle is told', {}, [('planted', 'store/b.c')], 0, 1, 'take it out'),
]


def main():
    print(f'1..{len(CASES)}')
    bad = 0
    for number, (name, calls, lines, n_upwards, n_circles, part) in enumerate(CASES, 1):
        upwards, in_circles = found(calls, lines)
        good = (len(upwards), len(in_circles)) == (n_upwards, n_circles) \
            and part in ' '.join(upwards + in_circles)
        if not good:
            print(f'# found {upwards + in_circles}')
        print(f'{"ok" if good else "not ok"} {number} - {name}')
        bad += not good
    return bad > 0


if __name__ == '__main__':
    sys.exit(main())
