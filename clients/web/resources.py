#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The list of the page's files for glib-compile-resources.

usage: resources.py FOLDER
"""
import sys
from pathlib import Path
from xml.sax.saxutils import escape


def main():
    folder = Path(sys.argv[1])
    files = sorted(p.relative_to(folder).as_posix() for p in folder.rglob('*')
                   if p.is_file() and p.suffix in ('.css', '.html', '.js', '.json', '.png', '.svg'))
    print('<?xml version="1.0" encoding="UTF-8"?>\n<gresources>\n  <gresource prefix="/org/iris/web/page">')
    for name in files:
        print(f'    <file>{escape(name)}</file>')
    print('  </gresource>\n</gresources>')


if __name__ == '__main__':
    main()
