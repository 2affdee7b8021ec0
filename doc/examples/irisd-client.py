#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A client of irisd from doc/protocol.md alone: sends each argument to a service and prints what comes back.

    irisd-client.py [--service NAME] TEXT...        needs python3-zmq and python3-msgpack
"""
import argparse, os, pathlib, sys
import msgpack, zmq

HELLO, SUBMIT, ACK, BYE = 0x01, 0x03, 0x05, 0x0A
WELCOME, RESULT, ERROR, BUSY = 0x81, 0x90, 0x91, 0x92

def runtime_dir():
    if os.environ.get("IRIS_RUNTIME_DIR"):
        return pathlib.Path(os.environ["IRIS_RUNTIME_DIR"])
    if os.environ.get("XDG_RUNTIME_DIR"):
        return pathlib.Path(os.environ["XDG_RUNTIME_DIR"], "iris")
    return pathlib.Path("/run/iris")

def send(socket, kind, number, header, body=b""):
    socket.send_multipart([b"IRS1", bytes([kind]), number.to_bytes(16, "big"), msgpack.packb(header), body])

def receive(socket):
    if not socket.poll(10000):
        sys.exit("irisd does not answer; is it running?")
    magic, kind, number, header, body = socket.recv_multipart()
    return kind[0], int.from_bytes(number, "big"), msgpack.unpackb(header, strict_map_key=False), body

options = argparse.ArgumentParser()
options.add_argument("--service", default="sha256")
options.add_argument("text", nargs="+")
options = options.parse_args()
socket = zmq.Context.instance().socket(zmq.DEALER)
socket.linger = 1000
socket.connect("ipc://%s/front.ipc" % runtime_dir())
send(socket, HELLO, 0, {1: 1, 2: 1, 4: "irisd-client.py"})
kind, _, welcome, _ = receive(socket)
if kind != WELCOME:
    sys.exit(welcome.get(42, "irisd did not say welcome"))
todo, waiting, failed = list(enumerate(options.text, 1)), {}, 0
while todo or waiting:
    while todo and len(waiting) < welcome[5]:  # no more in flight than irisd grants
        number, text = todo.pop(0)
        waiting[number] = text
        send(socket, SUBMIT, number, {10: options.service, 16: True}, text.encode())
    kind, number, header, body = receive(socket)
    ended = number.to_bytes(16, "big")
    text = waiting.pop(number, "")
    if kind == RESULT:
        print("%s\tplace %s\t%s" % (body.decode(errors="replace"), header.get(20), text))
    elif kind in (ERROR, BUSY):
        print("%s: %s\t%s" % (header[41], header[42], text), file=sys.stderr)
        failed += 1
    if kind == RESULT or header.get(43):  # an item ended: give its credit back
        send(socket, ACK, 0, {51: ended})
send(socket, BYE, 0, {})
sys.exit(1 if failed else 0)
