#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Python package reads and writes the conformance vectors as the C library does.

    test_vectors.py PATH-OF-irs1.json
"""
import dataclasses
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from irisd_client import wire  # noqa: E402
from irisd_client.errors import NAMES, WireError  # noqa: E402

SHOWN = 64  # bytes of a string that a text shows


def show(name, value):
    """A value as the vectors' text has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if wire.KEYS[name].kind == "id":
        return value.hex()
    if wire.KEYS[name].kind == "data":
        return value[:SHOWN].hex() + ("..." if len(value) > SHOWN else "")
    if isinstance(value, list):
        return "[" + ", ".join(show(name, element) for element in value) + "]" if value else "[]"
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        escapes = {10: "\\n", 9: "\\t", 13: "\\r", 34: '\\"', 92: "\\\\"}
        text = "".join(escapes.get(b) or (chr(b) if 32 <= b < 127 else "\\%03o" % b) for b in value[:SHOWN])
        return '"%s"%s' % (text, "..." if len(value) > SHOWN else "")
    return str(value)


def text_of(message):
    fields = sorted(message.header.items(), key=lambda pair: wire.KEYS[pair[0]].number)
    shown = ", ".join("%s: %s" % (name, show(name, value)) for name, value in fields)
    return "%s %s {%s} %d bytes" % (message.type, message.id.hex(), shown, len(message.body))


def keyed(kind, value):
    """A body's value with the keys' numbers as text, as the vectors have them."""
    if isinstance(kind, list):
        return [keyed(kind[0], element) for element in value]
    if isinstance(kind, dict):
        return {str(number): keyed(inner, value[name]) for number, (name, inner) in kind.items()}
    return value


def decode_all(vector, limits):
    """The message of a vector, and the body's items or value if it has some."""
    message = wire.decode([bytes.fromhex(frame) for frame in vector["frames"]], limits)
    if message.type == "BATCH" or (message.type == "SHOW_REPLY" and message.header.get("payload")):
        return message, wire.decode_batch(message, limits)
    if message.type == "COMPLETIONS":
        return message, wire.decode_completions(message, limits)
    if message.type in wire.BODIES:
        return message, wire.decode_body(message, limits)
    return message, None


def check_valid(vector, limits):
    message, inner = decode_all(vector, limits)
    assert text_of(message) == vector["text"], text_of(message)
    if vector["canonical"]:
        assert [frame.hex() for frame in wire.encode(message, limits)] == vector["frames"]
    if "value" in vector:
        assert keyed(wire.BODIES[message.type], inner) == vector["value"]
    for item, wanted in zip(inner if "items" in vector else [], vector.get("items", [])):
        if isinstance(wanted, str):
            inner_message = item if isinstance(item, wire.Message) else item.message
            assert text_of(inner_message) == wanted, text_of(inner_message)
        else:
            assert item.id.hex() == wanted["id"] and item.error.name == wanted["code"], item.error
    if "items" in vector:
        assert len(inner) == len(vector["items"])


def check_invalid(vector, limits):
    try:
        decode_all(vector, limits)
    except WireError as error:
        assert error.name == vector["code"], "%s: %s" % (error.name, error)
        if "limit" in vector:
            assert error.limit == vector["limit"], error.limit
        return
    raise AssertionError("it was accepted")


def main():
    vectors = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))["vectors"]
    print("1..%d" % (len(vectors) + 1))
    failed = 0
    for number, vector in enumerate(vectors, 1):
        limits = dataclasses.replace(wire.DEFAULT_LIMITS, **{k.replace("-", "_"): v for k, v in vector.get("limits", {}).items()})
        try:
            (check_valid if vector["valid"] else check_invalid)(vector, limits)
            print("ok %d - %s" % (number, vector["name"]))
        except Exception as error:  # one bad vector must not hide the others
            failed += 1
            print("not ok %d - %s: %s: %s" % (number, vector["name"], type(error).__name__, error))
    # A check that cannot fail is none: what is changed must be noticed.
    planted = dict(vectors[0], text=vectors[0]["text"].replace("demo", "dome"))
    try:
        check_valid(planted, wire.DEFAULT_LIMITS)
        failed += 1
        print("not ok %d - a wrong text is noticed" % (len(vectors) + 1))
    except AssertionError:
        print("ok %d - a wrong text is noticed" % (len(vectors) + 1))
    assert set(NAMES) >= {1, 18, 27}
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
