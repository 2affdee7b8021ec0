#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints where this Python looks for modules below a prefix, or else the folder that is given.

    module-dir.py PREFIX OTHERWISE
"""
import site
import sys
from pathlib import Path


def main():
    prefix, otherwise = Path(sys.argv[1]), sys.argv[2]
    below = [Path(folder) for folder in site.getsitepackages() if Path(folder).is_relative_to(prefix)]
    # /usr/local is below /usr, but a prefix of its own.
    folders = [folder for folder in below if folder.relative_to(prefix).parts[0].startswith('lib')]
    print(folders[0] if folders else otherwise)


if __name__ == '__main__':
    main()
