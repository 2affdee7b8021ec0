#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Mandelbrot viewer, under a display of its own (Xvfb). TAP.

    mandelbrot-test.py MANDELBROT options|self-test|screenshot

What a picture shows is read from its pixels: its size, its colours, and the frames of the workers
that the program says have drawn.
"""
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from pathlib import Path

WIDTH, HEIGHT = 800, 500
MIN_COLOURS = 500
# One worker may draw all of a picture before the kernel lets the other begin: then, another one.
MOST_PICTURES = 5
SCHEDULERS = ['default', 'lock-free', 'work-stealing', 'places', 'places-affinity',
              'places-shared', 'main-context']


def run(*args, display=True):
    env = dict(os.environ, GSK_RENDERER='cairo', GDK_BACKEND='x11', GTK_A11Y='none',
               GSETTINGS_BACKEND='memory', NO_AT_BRIDGE='1')
    for name in ('DISPLAY', 'WAYLAND_DISPLAY', 'DBUS_SESSION_BUS_ADDRESS'):
        env.pop(name, None)
    # A warning of GTK is a mistake of ours.
    env['G_DEBUG'] = 'fatal-criticals'
    # Workers that give way to every other test would never be done.
    args += ('--niceness', '0') if display else ()
    command = ['xvfb-run', '-a', '-s', '-screen 0 1600x1200x24', *args] if display else args
    return subprocess.run(command, capture_output=True, text=True, env=env)


def png(path):
    """Returns (width, height, a Counter of the colours) of a PNG file with 8 bits a channel."""
    data = Path(path).read_bytes()
    assert data[:8] == b'\x89PNG\r\n\x1a\n', 'no PNG'
    at, packed, head = 8, b'', None
    while at < len(data):
        length, kind = struct.unpack('>I4s', data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b'IHDR':
            head = struct.unpack('>IIBBBBB', body)
        elif kind == b'IDAT':
            packed += body
        at += 12 + length
    width, height, depth, colour, _, _, interlaced = head
    assert depth == 8 and colour in (2, 6) and not interlaced, f'unexpected kind of PNG: {head}'
    size = 3 if colour == 2 else 4
    raw, stride = zlib.decompress(packed), width * size
    before, colours = bytearray(stride), Counter()
    for row in range(height):
        start = row * (stride + 1)
        line = unfilter(raw[start], bytearray(raw[start + 1:start + 1 + stride]), before, size)
        colours.update(bytes(line[i:i + 3]) for i in range(0, stride, size))
        before = line
    return width, height, colours


def unfilter(kind, line, before, size):
    for i in range(len(line) if kind else 0):
        left = line[i - size] if i >= size else 0
        above = before[i]
        if kind == 1:
            guess = left
        elif kind == 2:
            guess = above
        elif kind == 3:
            guess = (left + above) // 2
        else:
            corner = before[i - size] if i >= size else 0
            distances = [(abs(above - corner), left), (abs(left - corner), above),
                         (abs(left + above - 2 * corner), corner)]
            guess = min(distances, key=lambda pair: pair[0])[1]
        line[i] = (line[i] + guess) & 255
    return line


class Tap:
    def __init__(self, n):
        self.n, self.failed = 0, False
        print(f'1..{n}')

    def check(self, good, name, *details):
        self.n += 1
        self.failed |= not good
        print(f'{"ok" if good else "not ok"} {self.n} - {name}')
        for detail in [] if good else details:
            print('\n'.join(f'# {line}' for line in str(detail).splitlines()))


def test_options(exe):
    cases = [
        (['--help'], 0, 'stdout', '--self-test'),
        (['--version'], 0, 'stdout', 'iris '),
        (['--scheduler', 'nonsense'], 2, 'stderr', 'work-stealing'),
        (['--places', 'nonsense'], 2, 'stderr', 'synthetic'),
        (['--workers', '0'], 2, 'stderr', 'from 1 to'),
        (['--niceness', '20'], 2, 'stderr', 'from 0 to'),
        (['--depth', '1'], 2, 'stderr', 'from 50 to'),
        (['--size', '640'], 2, 'stderr', 'WIDTHxHEIGHT'),
        (['--self-test', '--screenshot', 'x.png'], 2, 'stderr', 'together'),
        (['--nonsense'], 2, 'stderr', '--help'),
        (['nonsense'], 2, 'stderr', 'too much'),
        ([], 1, 'stderr', 'no display'),
    ]
    tap = Tap(len(cases))
    for args, status, stream, words in cases:
        result = run(exe, *args, display=False)
        said = getattr(result, stream)
        tap.check(result.returncode == status and words in said,
                  f'{" ".join(args) or "no display"}: status {status}, and says “{words}”',
                  f'status {result.returncode}', result.stdout, result.stderr)
    return tap.failed


def test_self(exe):
    result = run(exe, '--self-test', '--size', '640x480', '--depth', '300')
    print(result.stdout, end='')
    print('\n'.join(f'# {line}' for line in result.stderr.splitlines()))
    return result.returncode


def test_screenshot(exe):
    tap = Tap(3 + 4 * len(SCHEDULERS))
    with tempfile.TemporaryDirectory() as folder:
        for scheduler in SCHEDULERS:
            screenshot(tap, exe, scheduler, os.path.join(folder, scheduler + '.png'))
        result = run(exe, '--screenshot', os.path.join(folder, 'missing', 'x.png'))
        tap.check(result.returncode == 1 and 'is there such a folder' in result.stderr,
                  'a screenshot that cannot be written is an error', result.stderr)
        path = os.path.join(folder, 'refused.png')
        result = run(exe, '--screenshot', path, '--scheduler', 'places', '--places', 'synthetic',
                     '--workers', '1')
        tap.check(result.returncode == 1 and 'too few' in result.stderr,
                  'too few workers for the places is an error', result.stderr)
        tap.check(not os.path.exists(path), 'and leaves no screenshot')
    return tap.failed


def screenshot(tap, exe, scheduler, path):
    wanted = 1 if scheduler == 'main-context' else 2
    for _ in range(MOST_PICTURES):
        result = run(exe, '--screenshot', path, '--scheduler', scheduler, '--places', 'machine',
                     '--workers', '2', '--size', f'{WIDTH}x{HEIGHT}', '--depth', '800')
        drew = [line.split() for line in result.stdout.splitlines() if line.startswith('worker ')]
        if result.returncode != 0 or len(drew) >= wanted:
            break
    tap.check(result.returncode == 0 and os.path.exists(path), f'{scheduler}: takes a screenshot',
              f'status {result.returncode}', result.stdout, result.stderr)
    if not os.path.exists(path):
        for _ in range(3):
            tap.check(False, f'{scheduler}: there is a screenshot to look at')
        return

    width, height, colours = png(path)
    tap.check((width, height) == (WIDTH, HEIGHT), f'{scheduler}: of the window\'s size',
              f'{width}x{height}')
    tap.check(len(colours) > MIN_COLOURS, f'{scheduler}: with more than {MIN_COLOURS} colours',
              len(colours))
    seen = [worker for _, worker, colour, n in drew
            if colours[bytes.fromhex(colour[1:])] >= int(n) * 20]
    tap.check(len(drew) == wanted and len(seen) == wanted,
              f'{scheduler}: with the frames of {wanted} worker{"s" if wanted > 1 else ""}',
              result.stdout, f'frames seen: {seen}')


def main():
    exe, what = sys.argv[1:3]
    if what != 'options' and (not shutil.which('xvfb-run') or not shutil.which('xauth')):
        print('1..0 # SKIP there is no xvfb-run: install xvfb and xauth')
        return 0
    tests = {'options': test_options, 'self-test': test_self, 'screenshot': test_screenshot}
    return tests[what](exe)


if __name__ == '__main__':
    sys.exit(main())
