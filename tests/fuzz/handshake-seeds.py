#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Records what clients send before the first message, as inputs of fuzz-handshake.

  handshake-seeds.py >handshake-corpus.txt

An input is a byte that chooses a socket of irisd (odd: CURVE over TCP), then pieces, each a length (two bytes, little
endian) and its bytes, which are sent one after the other. The server's key is the one in fuzz-handshake.c: a recorded
HELLO is answered by WELCOME, and a recorded INITIATE has a cookie of another time.
"""
import base64
import re
import socket
import threading
from pathlib import Path

import zmq

SOURCE = Path(__file__).with_name('fuzz-handshake.c').read_text()
PUBLIC, SECRET, CLIENT, CLIENT_SECRET = (re.search(rf'#define {name} +"(.*)"', SOURCE)[1].replace(r'\"', '"').encode()
                                         for name in ('SERVER_PUBLIC', 'SERVER_SECRET', 'CLIENT_PUBLIC', 'CLIENT_SECRET'))


def record(curve, frames):
    """The pieces that a client sends to a server that lets it in."""
    context = zmq.Context()
    server, client = context.socket(zmq.ROUTER), context.socket(zmq.DEALER)
    if curve:
        server.curve_server, server.curve_secretkey = True, SECRET
        client.curve_serverkey, client.curve_publickey, client.curve_secretkey = PUBLIC, CLIENT, CLIENT_SECRET
    port = server.bind_to_random_port('tcp://127.0.0.1')
    door = socket.create_server(('127.0.0.1', 0))
    pieces = []

    def pump(source, target, keep):
        while data := source.recv(65536):
            if keep:
                pieces.append(data)
            target.sendall(data)

    def stand_between():
        near, _ = door.accept()
        far = socket.create_connection(('127.0.0.1', port))
        threading.Thread(target=pump, args=(far, near, False), daemon=True).start()
        pump(near, far, True)

    threading.Thread(target=stand_between, daemon=True).start()
    client.connect('tcp://127.0.0.1:%d' % door.getsockname()[1])
    client.send_multipart(frames)
    server.recv_multipart()
    context.destroy(0)
    return pieces


def write(which, pieces):
    print(base64.b64encode(bytes([which]) + b''.join(len(piece).to_bytes(2, 'little') + piece for piece in pieces)).decode())


PING = [b'IRS1', b'\x03', b'\x01' * 16, b'\x80', b'']
PLAIN, CURVE = record(False, PING), record(True, PING)
GREETING = b''.join(CURVE)[:64]
for number, pieces in enumerate((PLAIN, CURVE)):
    write(number, pieces)
    write(1 - number, pieces)  # at the wrong door
    write(number, [b''.join(pieces)])
    write(number, [bytes([byte]) for byte in b''.join(pieces)[:300]])
write(1, [GREETING])
write(1, [GREETING, b'\x06' + (1 << 40).to_bytes(8, 'big')])
write(1, [GREETING, b'\x00\xc8' + b''.join(CURVE)[66:]])
write(1, [GREETING[:12] + b'PLAIN'.ljust(20, b'\0') + GREETING[32:], b'\x04\x08\x05HELLO\x01a\x01b'])
write(1, [b'\xff\0\0\0\0\0\0\0\x01\x7f\x01\0', b'\0\0'])  # ZMTP 2
write(1, [b'\x01\0', b'\x05\0IRS1'])                     # ZMTP 1
write(1, [GREETING, b''.join(CURVE)[64:266]])             # up to HELLO; fuzz-handshake.c demands WELCOME for this line
