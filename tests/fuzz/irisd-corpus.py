#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The inputs of fuzz-irisd: from the conformance vectors, and to and from one text file.

  irisd-corpus.py seeds VECTORS.json DIR   each vector, behind a HELLO, as an input
  irisd-corpus.py pack DIR >irisd-corpus.txt
  irisd-corpus.py unpack irisd-corpus.txt DIR
"""
import base64
import hashlib
import json
import sys
from pathlib import Path

HELLO = 'hello'
# Together these reach what one of them alone does not.
CHAINS = [
    ('submit-durable', 'fetch', 'show', 'list'), ('submit-durable', 'submit-durable', 'cancel', 'status'),
    ('hello-completions', 'batch', 'ack-many', 'ack', 'batch', 'ack-until', 'bye'),
    ('ready', 'submit-echo', 'done', 'report', 'extend', 'fail'), ('batch', 'ack', 'cancel', 'bye'),
    ('submit-after', 'submit-retries', 'submit-delay', 'submit-priority'), ('ready', 'workers', 'bye', 'hello'),
    ('schedule-echo', 'schedules', 'schedule-run', 'look-suspended', 'schedules', 'look-remove', 'schedules-look'),
    ('schedule-echo', 'schedule', 'schedule-every', 'schedule-echo', 'list', 'schedules-look'),
    ('submit-durable', 'suspend-first', 'edit-first', 'resume-first', 'again-first', 'follow-first', 'show'),
    ('submit-delay', 'edit', 'again', 'queue', 'queues', 'suspend', 'resume-item'),
]
# Vectors with other bytes in them: a service that every irisd has, one schedule, and an item that there may be.
LOOK, FIRST = (b'\xa6backup', b'\xa4look'), (b'\x3f\x07', b'\x3f\x01')
VARIANTS = {
    'schedule-echo': ('schedule-every', b'noop', b'echo'),
    'schedule-run': ('schedule-suspended', b'\xa6backup\x75\xc3', b'\xa4look\x32\x01'),
    'look-suspended': ('schedule-suspended', *LOOK), 'look-remove': ('schedule-remove', *LOOK),
    'schedules-look': ('schedules', *LOOK), 'suspend-first': ('suspend', *FIRST), 'edit-first': ('edit', *FIRST),
    'resume-first': ('resume-item', *FIRST), 'again-first': ('again', *FIRST), 'follow-first': ('follow', *FIRST),
}


def message(frames):
    """The bytes of one message of an input."""
    data = [bytes.fromhex(frame) for frame in frames]
    return bytes([len(data) - 1]) + b''.join(len(frame).to_bytes(2, 'little') + frame for frame in data)


def seeds(vectors, folder):
    known = {vector['name']: vector['frames'] for vector in json.loads(Path(vectors).read_text())['vectors']
             if sum(len(frame) for frame in vector['frames']) < 8000 and 1 <= len(vector['frames']) <= 7}
    chains = [(name,) for name in known] + CHAINS
    for name, (vector, old, new) in VARIANTS.items():
        assert any(old.hex() in frame for frame in known[vector]), name
        known[name] = [frame.replace(old.hex(), new.hex()) for frame in known[vector]]
    for number, chain in enumerate(chains):
        names = [HELLO] + [name for name in chain if name in known]
        data = bytes([number % 4]) + b''.join(message(known[name]) for name in names)
        (Path(folder) / f'seed-{number:03}').write_bytes(data)


def pack(folder):
    for path in sorted(Path(folder).iterdir()):
        print(base64.b64encode(path.read_bytes()).decode())


def unpack(file, folder):
    for line in Path(file).read_text().split():
        data = base64.b64decode(line)
        (Path(folder) / hashlib.sha1(data).hexdigest()).write_bytes(data)


def main():
    commands = {'seeds': seeds, 'pack': pack, 'unpack': unpack}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])


main()
