#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The reference is built without a warning, has the guide, and no link in it leads nowhere. Prints TAP.

    test.py LEAST-PAGES PAGE FOLDER-OF-THE-GUIDE GI-DOCGEN ARGUMENT... GIR-FILE

PAGE is one that must be there. The folder is empty if the reference has no guide.
"""
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path


class Page(HTMLParser):
    """The links, the anchors, the words and the headings of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors, self.words = [], set(), []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag in ('a', 'link', 'script', 'img'):
            self.links += [attributes[key] for key in ('href', 'src') if attributes.get(key)]
        self.anchors |= {attributes[key] for key in ('id', 'name') if attributes.get(key)}

    def handle_data(self, data):
        self.words += data.split()


def report(good, number, name, why=()):
    for line in why if not good else ():
        print(f'# {line}')
    print(f'{"ok" if good else "not ok"} {number} - {name}', flush=True)
    return bool(good)


def is_shadow(page, there):
    """Between a constructor and the one that takes its place in other languages: gi-docgen 2023.1 takes
    the other for a function of the type."""
    constructor = there.name.replace('type_func.', 'ctor.', 1)
    return page.name.startswith('ctor.') and there.name.startswith('type_func.') \
        and (there.parent / constructor).is_file()


def broken_links(pages):
    for path, page in pages.items():
        for link in page.links:
            target, _, anchor = link.partition('#')
            if '://' in target or target.startswith(('javascript:', 'data:')):
                continue
            there = path.parent / target if target else path
            if is_shadow(path, there):
                continue
            if not there.is_file():
                yield f'{path.name}: {link} is not there'
            elif anchor and there in pages and anchor not in pages[there].anchors:
                yield f'{path.name}: {link} has no such anchor'


def main():
    least, page, guide, command, gir = int(sys.argv[1]), *sys.argv[2:4], sys.argv[4:-1], sys.argv[-1]
    print(f'1..{5 if guide else 4}')
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        done = subprocess.run([*command, '--fatal-warnings', '--no-namespace-dir', '--output-dir', out, gir],
                              capture_output=True, text=True, check=False)
        said = (done.stdout + done.stderr).splitlines()
        good = report(done.returncode == 0 and not any('WARNING' in line for line in said), 1,
                      'the reference is built without a warning', said)
        pages = {path: Page(path) for path in out.glob('*.html')}
        names = {path.stem for path in pages}
        good &= report(len(pages) >= least and page in names, 2, f'it has {len(pages)} pages')
        broken = list(broken_links(pages))
        good &= report(not broken, 3, 'every link in it leads somewhere', broken[:50])
        books = list(out.glob('*.devhelp2'))
        good &= report(len(books) == 1 and books[0].stem == out.name, 4, 'Devhelp finds it by the name of its folder')
        if guide:
            written = sorted(Path(guide).glob('*.md'))
            missing = [path.name for path in written
                       if path.stem not in names or len(pages[out / (path.stem + '.html')].words) < 100]
            good &= report(written and not missing, 5, 'the whole guide is in it', missing)
    return not good


if __name__ == '__main__':
    sys.exit(main())
