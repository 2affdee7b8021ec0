#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes irs1.json, the conformance vectors of the protocol IRS1.

It shares nothing with the C code: keys, types and msgpack are written down here a second time, so that the unit test that
reads the vectors compares two readings of doc/protocol.md. Run it in this directory after a change of the protocol.
"""
import json

KEYS = {
    1: "version-min", 2: "version-max", 3: "features", 4: "name", 5: "credits", 6: "byte-credits", 7: "max-body",
    8: "socket-place", 9: "max-batch", 10: "service", 11: "hint", 12: "strict", 13: "content-type", 14: "args",
    15: "path", 16: "quiet", 19: "home", 20: "place", 21: "worker", 23: "queue-ns", 24: "run-ns", 25: "bytes",
    26: "exit-status", 27: "signal", 28: "stdout-length", 30: "truncated", 40: "code", 41: "error-name",
    42: "message", 43: "ends", 44: "limit", 45: "limit-value", 46: "retry-after-ms", 50: "count", 51: "target",
    52: "state", 53: "anywhere", 60: "class", 61: "key", 62: "keep-ms", 63: "item", 64: "wait-ms", 65: "detach",
    70: "delay-ms", 71: "at-ms", 72: "priority", 73: "after",
    74: "after-how", 75: "retries", 76: "backoff-ms", 77: "time-to-run-ms", 79: "attempts",
    80: "progress", 81: "fraction", 82: "note", 83: "capacity", 84: "lease-ms", 85: "again", 86: "attempt",
    87: "silence-ms", 88: "deadline-ms", 89: "wait-for-service", 90: "stream", 91: "directory", 92: "environment", 93: "clear-environment", 94: "nice",
    95: "limits", 96: "time-limit-ms", 97: "grace-ms", 98: "channel", 99: "grant",
    100: "bury", 101: "workers", 102: "payload", 103: "drained",
    110: "hint-name", 111: "near-item", 112: "near-path", 113: "parts",
    114: "footprint", 115: "keep-apart",
    120: "states", 121: "key-prefix", 122: "since-ms", 123: "until-ms", 124: "descending",
    54: "queue", 55: "queue-limit", 56: "schedule", 57: "zone", 58: "jitter-ms", 59: "missed", 66: "overlap",
    67: "offset", 68: "keep-output", 69: "output-policy", 78: "hook", 104: "traceparent", 105: "tracestate",
    106: "sections", 107: "key-name", 108: "session", 109: "calendar", 116: "remove", 117: "suspended",
    118: "every-ms", 119: "after-away", 31: "node", 32: "any-node", 33: "for-owner", 34: "header", 35: "cluster-item", 36: "type",
}
BYTES_KEYS = (15, 61, 91, 108, 112, 121)
TYPES = {
    "HELLO": 0x01, "MAP": 0x02, "SUBMIT": 0x03, "BATCH": 0x04, "ACK": 0x05, "CANCEL": 0x06, "STATUS": 0x07,
    "SERVICES": 0x08, "PING": 0x09, "BYE": 0x0A, "FETCH": 0x0B, "LIST": 0x0C, "SHOW": 0x0D,
    "KICK": 0x0E, "BURY": 0x0F, "DRAIN": 0x10, "SET_WORKERS": 0x11, "CHANGED": 0x8E,
    "MORE": 0x25, "PENDING": 0x8B, "LIST_REPLY": 0x8C, "SHOW_REPLY": 0x8D, "WELCOME": 0x81, "MAP_REPLY": 0x82, "ACCEPTED": 0x83,
    "CANCELLING": 0x85, "STATUS_REPLY": 0x86, "SERVICES_REPLY": 0x87, "PONG": 0x89, "RESULT": 0x90, "ERROR": 0x91,
    "READY": 0x20, "DONE": 0x21, "FAIL": 0x22, "EXTEND": 0x23, "REPORT": 0x24, "WORKERS": 0x27, "PROGRESS": 0x94,
    "PART": 0x95, "COMPLETIONS": 0x96,
    "LEASE": 0xA0, "STOP": 0xA1, "ENROLLED": 0xA2, "WORKERS_REPLY": 0xA7,
    "BUSY": 0x92, "OUTPUT": 0x93,
    "STATISTICS": 0x12, "TRACE": 0x13, "SPANS": 0x14, "RELOAD": 0x15, "KEYS": 0x16, "SUSPEND": 0x18, "RESUME": 0x19,
    "EDIT": 0x1A, "AGAIN": 0x1B, "SCHEDULE": 0x1C, "SCHEDULES": 0x1D, "QUEUE": 0x1E, "QUEUES": 0x1F, "FOLLOW": 0x28,
    "BACKUP": 0x29, "STATISTICS_REPLY": 0x97, "TRACE_REPLY": 0x98, "SPANS_REPLY": 0x99, "KEYS_REPLY": 0x9A,
    "ASK": 0xA3, "ANSWER": 0x2A,
    "GOING": 0x9B, "SCHEDULES_REPLY": 0x9C, "QUEUES_REPLY": 0x9D, "FOLLOWED": 0x9E, "NODES": 0x2B, "NODE": 0x2C,
    "CLUSTER_CHECK": 0x2D, "CLUSTER_INIT": 0x2E, "NODES_REPLY": 0x9F,
}


def big(n, width):
    return n.to_bytes(width, "big", signed=n < 0)


def pack(value):
    """The shortest msgpack of a value."""
    if value is None:
        return b"\xc0"
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        if 0 <= value < 0x80:
            return bytes([value])
        if -0x20 <= value < 0:
            return bytes([value & 0xFF])
        for head, width in ((0xCC, 1), (0xCD, 2), (0xCE, 4), (0xCF, 8)):
            if 0 <= value < 1 << 8 * width:
                return bytes([head]) + big(value, width)
        for head, width in ((0xD0, 1), (0xD1, 2), (0xD2, 4), (0xD3, 8)):
            if value >= -(1 << 8 * width - 1):
                return bytes([head]) + big(value, width)
    if isinstance(value, str):
        data = value.encode()
        return sized(len(data), 0xA0, 31, ((0xD9, 1), (0xDA, 2), (0xDB, 4))) + data
    if isinstance(value, bytes):
        return sized(len(value), None, -1, ((0xC4, 1), (0xC5, 2), (0xC6, 4))) + value
    if isinstance(value, list):
        return sized(len(value), 0x90, 15, ((0xDC, 2), (0xDD, 4))) + b"".join(map(pack, value))
    if isinstance(value, dict):
        pairs = b"".join(pack(k) + pack(v) for k, v in value.items())
        return sized(len(value), 0x80, 15, ((0xDE, 2), (0xDF, 4))) + pairs
    raise TypeError(value)


def sized(n, short, most, longer):
    if n <= most:
        return bytes([short | n])
    for head, width in longer:
        if n < 1 << 8 * width:
            return bytes([head]) + big(n, width)
    raise ValueError(n)


def show(value):
    """A value as iris_wire_message_to_string() prints it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(map(show, value)) + "]"
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        text = "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\' else
                       "\\" + chr(b) if chr(b) in '"\\' else
                       {10: "\\n", 9: "\\t", 13: "\\r"}.get(b, "\\%03o" % b) for b in value[:64])
        return '"%s"%s' % (text, "..." if len(value) > 64 else "")
    return str(value)


def text_of(kind, ident, header, body):
    shown = {k: v.hex() if k in (51, 35) else v[:64].hex() + ("..." if len(v) > 64 else "") if k == 34 else show(v) for k, v in sorted(header.items()) if k in KEYS}
    fields = ", ".join("%s: %s" % (KEYS[k], v) for k, v in shown.items())
    return "%s %s {%s} %d bytes" % (kind, ident.hex(), fields, len(body))


def ident(n):
    return n.to_bytes(16, "big")


def plain(value):
    """A body's value in JSON: keys as decimal text."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(v) for v in value]
    return value


vectors = []


def add(name, meaning, frames, **more):
    assert name not in [v["name"] for v in vectors], name
    vectors.append({"name": name, "meaning": meaning, **more, "frames": [f.hex() for f in frames]})


def pack_header(header):
    """What is of the type bytes goes as binary, also the elements of a list of these."""
    def binary(value):
        return value.encode() if isinstance(value, str) else value

    return pack({key: [binary(v) for v in value] if isinstance(value, list) else
                 binary(value) if key in BYTES_KEYS else value for key, value in header.items()})


def frames_of(kind, number, header, body=b""):
    raw = header if isinstance(header, bytes) else pack_header(header)
    return [b"IRS1", bytes([TYPES[kind]]), ident(number), raw, body]


def valid(name, meaning, kind, header, body=b"", number=1, **more):
    add(name, meaning, frames_of(kind, number, header, body), valid=True, canonical=True,
        text=text_of(kind, ident(number), header, body), **more)


def spelled(name, meaning, kind, raw, header, body=b"", number=1):
    """Valid, but not as our encoder would spell it; `header` is what it says."""
    add(name, meaning, frames_of(kind, number, bytes.fromhex(raw), body), valid=True, canonical=False,
        text=text_of(kind, ident(number), header, body))


def invalid(name, meaning, code, frames, **more):
    add(name, meaning, frames, valid=False, code=code, **more)


def bad_header(name, meaning, code, raw, kind="SUBMIT", **more):
    invalid(name, meaning, code, frames_of(kind, 1, bytes.fromhex(raw)), **more)


def array32(items):
    """A batch: our builder writes the list's head in its longest form."""
    return b"\xdd" + big(len(items), 4) + b"".join(items)


def item(number, header, body):
    return b"\x93" + pack(ident(number)) + pack_header(header) + pack(body)


def ending(kind, number, header, body=b""):
    return b"\x94" + pack(ident(number)) + pack(TYPES[kind]) + pack_header(header) + pack(body)


# What clients send.
valid("hello", "opens a connection", "HELLO", {1: 1, 2: 1, 4: "demo 1.0"})
valid("hello-features", "a range of versions, feature bits", "HELLO", {1: 1, 2: 3, 3: 2**63, 4: "demo 1.0"})
valid("hello-completions", "takes many completions in one message", "HELLO", {1: 1, 2: 1, 3: 1})
valid("map", "asks for the places", "MAP", {})
valid("submit-echo", "the smallest item, with a payload", "SUBMIT", {10: "echo"}, b"hello", number=2)
valid("submit-hint", "a soft hint", "SUBMIT", {10: "echo", 11: 1}, b"hello")
valid("submit-strict", "a strict hint, no ACCEPTED wanted", "SUBMIT", {10: "echo", 11: 0, 12: True, 16: True})
valid("submit-no-hint", "no hint, said out loud", "SUBMIT", {10: "echo", 11: -1, 12: False})
valid("submit-hint-name", "a hint by name", "SUBMIT", {10: "echo", 12: True, 110: "l2:1"}, b"hello")
valid("submit-near-item", "near another item", "SUBMIT", {10: "echo", 111: 2**40})
valid("submit-after-away", "after items of other nodes", "SUBMIT", {10: "echo", 74: 3, 119: ["n2/17", "n3/4"]})
valid("submit-near-path", "near a path, which is not UTF-8", "SUBMIT", {10: "echo", 112: b"/tmp/caf\xe9"})
valid("submit-footprint", "the memory that it will touch", "SUBMIT", {10: "echo", 114: 2**30})
valid("submit-keep-apart", "memory that no other item shares", "SUBMIT", {10: "echo", 114: 2**64 - 1, 115: True})
valid("submit-path", "a file instead of a payload", "SUBMIT", {10: "sha256", 15: "/usr/share/common-licenses/GPL-2"})
valid("submit-path-bytes", "a file name that is not UTF-8 travels as binary", "SUBMIT",
      {10: "sha256", 15: b"/tmp/caf\xe9"})
valid("submit-command", "a command; its input is the body", "SUBMIT",
      {10: "command", 13: "text/plain", 14: ["sort", "-r", "", "a \"quoted\"\nline", b"\xff"]}, b"b\na\n")
valid("submit-long", "strings on both sides of msgpack's short form", "SUBMIT", {10: "s" * 31, 13: "c" * 32, 15: "p" * 300})
valid("submit-delay", "runs after a second and a half, and not before a time of day", "SUBMIT",
      {10: "echo", 70: 1500, 71: 1800000000000})
valid("submit-priority", "comes before others; zero is the lowest", "SUBMIT", {10: "echo", 72: 0})
valid("submit-after", "runs after the success of two items, named by their numbers", "SUBMIT",
      {10: "echo", 73: [17, 18446744073709551615], 74: 3})
valid("submit-retries", "is tried again three times, and may run for a minute each time", "SUBMIT",
      {10: "command", 14: ["true"], 75: 3, 76: 250, 77: 60000})
valid("batch", "two items", "BATCH", {},
      array32([item(16, {10: "echo"}, b"one"), item(17, {10: "echo", 11: 1}, b"two")]), number=3,
      items=[text_of("SUBMIT", ident(16), {10: "echo"}, b"one"),
             text_of("SUBMIT", ident(17), {10: "echo", 11: 1}, b"two")])
valid("batch-one-refused", "an item without a service is refused by itself", "BATCH", {16: True},
      array32([item(16, {10: "echo"}, b""), item(17, {}, b""), item(18, {10: "echo", 11: -2}, b"")]), number=3,
      items=[text_of("SUBMIT", ident(16), {10: "echo"}, b""), {"id": ident(17).hex(), "code": "malformed"},
             {"id": ident(18).hex(), "code": "bad-argument"}])
valid("ack", "one ending, whatever came before it", "ACK", {51: ident(2)})
valid("ack-until", "the three oldest completions, of which this one is the last", "ACK", {50: 3, 51: ident(2)})
valid("ack-many", "two completions in any order", "ACK", {}, ident(17) + ident(16))
valid("cancel", "names an item", "CANCEL", {51: ident(2)}, number=4)
valid("cancel-number", "names an item by its number", "CANCEL", {63: 4711}, number=4)
valid("cancel-anywhere", "names an item of any connection", "CANCEL", {51: ident(2), 53: True}, number=4)
valid("status", "asks for the counters", "STATUS", {})
valid("services", "asks for the services", "SERVICES", {})
valid("ping", "asks whether irisd answers", "PING", {})
valid("bye", "closes a connection", "BYE", {}, number=9)
valid("submit-durable", "an item that survives, once, whose end is kept for an hour", "SUBMIT",
      {10: "echo", 60: 2, 61: "order-7", 62: 3600000}, b"hello", number=2)
valid("submit-relaxed", "a detached item with a key that is no text", "SUBMIT", {10: "echo", 60: 1, 61: b"\xff\x01", 65: True})
valid("submit-volatile", "the default class, said out loud", "SUBMIT", {10: "echo", 60: 0, 65: False})
valid("fetch", "asks how an item ended, and waits for it", "FETCH", {63: 7, 64: 2**64 - 1})
valid("fetch-now", "without waiting", "FETCH", {63: 2**40})
valid("list", "all persistent items", "LIST", {})
valid("list-filters", "the newest five of a service that wait or run, whose keys begin so, of a certain hour", "LIST",
      {10: "echo", 50: 5, 60: 2, 120: 6, 121: "night-", 122: 1700000000000, 123: 1700003600000, 124: True})
valid("list-key-bytes", "a prefix that is not UTF-8", "LIST", {121: b"\xff\x01"})
valid("list-page", "at most ten that are done, behind number 7", "LIST", {50: 10, 52: 3, 63: 7})
valid("show", "asks about an item", "SHOW", {63: 7, 64: 1000})
valid("show-payload", "and for what it was submitted with", "SHOW", {63: 7, 102: True})
valid("list-buried", "what is buried", "LIST", {52: 8})
valid("submit-bury", "an item that is buried when it fails for the third time", "SUBMIT",
      {10: "echo", 60: 2, 75: 2, 76: 0, 100: True}, b"hello", number=2)
valid("kick", "a buried or delayed item is to run", "KICK", {63: 7})
valid("kick-buried", "at most ten buried ones are", "KICK", {50: 10, 52: 8})
valid("kick-delayed", "all delayed ones are", "KICK", {52: 6})
valid("bury", "sets an item aside, and says why", "BURY", {42: "the printer is broken", 63: 7})
valid("drain", "a place is to take no more items", "DRAIN", {20: 1, 103: True})
valid("resume", "and is to take some again", "DRAIN", {20: 1, 103: False})
valid("set-workers", "three workers of a place are to take part", "SET_WORKERS", {20: 0, 101: 3})
valid("submit-command-options", "a command with all that can be said of one", "SUBMIT",
      {10: "command", 14: ["make"], 90: 65536, 91: "/srv/caf\u00e9", 92: ["CC=clang", "LANG", "EMPTY="], 93: True, 94: 19,
       95: ["cpu=60", "memory=1073741824", "output=0"], 96: 2**40, 97: 0})
valid("submit-command-directory", "a directory that is not UTF-8; no credit to begin with", "SUBMIT",
      {10: "command", 14: ["pwd"], 90: 0, 91: b"/tmp/caf\xe9", 94: 0})
valid("more", "lets an item send more output", "MORE", {51: ident(2), 99: 131072}, number=5)

valid("hello-bridge", "joins irisd to a cluster", "HELLO", {1: 1, 2: 1, 3: 1 << 10})
valid("submit-node", "an item for another node, and for nothing else", "SUBMIT", {10: "echo", 12: True, 31: "node-b"}, b"hello")
valid("submit-any-node", "an item for the node that takes it first", "SUBMIT", {10: "echo", 32: True})
valid("submit-node-place", "a place of another node", "SUBMIT", {10: "echo", 110: "node-b/l2:1"})
valid("submit-guest", "an item of another node, for its owner", "SUBMIT",
      {10: "echo", 33: 2**33 + 7, 35: bytes(range(16)), 107: "laptop"}, b"hello")
valid("list-node", "the items of another node", "LIST", {31: "node-b"})
valid("cancel-node", "an item of another node, on behalf of its owner", "CANCEL", {31: "node-b", 33: 1000, 63: 7})
valid("answer", "an answer of another node", "ANSWER", {34: pack({50: 1}), 36: 0x8E}, number=7)
valid("done-away", "a command that ran on another node", "DONE",
      {20: 0, 24: 1000, 26: 0, 28: 3, 31: "node-b", 79: 2}, b"one", number=2)
valid("fail-later", "an item that the cluster takes later", "FAIL", {42: "the stream is full", 46: 500, 85: True}, number=2)
valid("report-node", "the node that has the item", "REPORT", {31: "node-b"}, number=2)
valid("report-output", "output of a command that runs on another node", "REPORT", {98: 2}, b"one\n", number=2)
valid("report-attempt", "output of its third run", "REPORT", {86: 3, 98: 1}, b"one\n", number=2)

# What irisd sends.
valid("welcome", "grants credits", "WELCOME",
      {1: 1, 2: 1, 3: 0, 4: "irisd 0.1.0", 5: 1024, 6: 67108864, 7: 16777216, 8: -1, 9: 1024})
PLACES = [
    {0: 0, 1: "l2:0", 2: "0-3,8", 3: "ipc:///run/iris/place-0.ipc", 4: 4, 5: "0", 6: True, 7: [0, 20]},
    {0: 1, 1: "l2:1", 2: "4-7", 3: "ipc:///run/iris/place-1.ipc", 4: 4, 5: "0", 6: True, 7: [20, 0]},
]
valid("map-reply", "two places", "MAP_REPLY", {}, pack(PLACES), value=plain(PLACES))
valid("map-reply-none", "no places", "MAP_REPLY", {}, pack([]), value=[])
valid("accepted", "one item", "ACCEPTED", {50: 1}, number=2)
valid("accepted-kept", "one item that is kept", "ACCEPTED", {50: 1, 63: 7}, number=2)
valid("accepted-item", "one item, and its number", "ACCEPTED", {50: 1, 63: 17}, number=2)
valid("accepted-none", "all items of a batch were refused", "ACCEPTED", {50: 0}, number=3)
valid("cancelling-queued", "the item will not run", "CANCELLING", {52: 1}, number=4)
valid("cancelling-running", "the item was asked to stop", "CANCELLING", {52: 2}, number=4)
STATUS = {
    0: "0.1.0", 1: 4711, 2: 86400000, 3: "place", 4: False, 5: 3, 6: 2, 7: 100000, 8: 99998, 9: 1, 10: 5, 11: 7,
    12: [{0: 0, 1: "l2:0", 2: 50000, 3: 49999, 4: 10, 5: 11, 6: 2**40, 7: 123456789012, 8: 4,
          9: False, 10: 3, 11: 250}],
    20: False, 21: "full", 22: "the journal's disk is full", 23: 12, 24: 1, 110: 8, 120: 9,
}
valid("status-reply", "one place", "STATUS_REPLY", {}, pack(STATUS), value=plain(STATUS))
SERVICES = [{0: "echo", 1: "gives the body back"}, {0: "sha256", 1: "digest of a file or of the body"}]
valid("services-reply", "two services", "SERVICES_REPLY", {}, pack(SERVICES), value=plain(SERVICES))
valid("pong", "yes", "PONG", {})
valid("pending", "the item runs", "PENDING", {52: 2, 63: 7})
valid("pending-leased", "a worker process has the item", "PENDING", {52: 7, 63: 7})
valid("changed", "ten items were kicked", "CHANGED", {50: 10})
KEPT = [
    {0: 7, 1: 1, 2: 1, 3: "echo", 4: "", 5: 5, 6: 0, 7: 1767225600000, 8: 0, 9: 0, 10: 0, 11: "",
     20: 0, 21: 1767229200000, 22: 0, 23: 1, 24: 0, 25: ["--upper", "a b"],
     26: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", 31: "", 32: "node-b", 33: 0},
    {0: 9, 1: 5, 2: 2, 3: "command", 4: "order-7", 5: 0, 6: 1, 7: 1767225600000, 8: 1767225601000, 9: 1767312001000,
     10: 0, 11: "", 20: 1000, 21: 0, 22: 1767225600500, 23: 0, 24: 0, 25: [], 26: "", 31: "", 32: "",
     33: 0},
    {0: 12, 1: 8, 2: 2, 3: "sha256", 4: "", 5: 0, 6: 3, 7: 1767225600000, 8: 0, 9: 0, 10: 12,
     11: "/srv/x: no such file", 20: 2**33 + 7, 21: 0, 22: 0, 23: 4294967295, 24: 2, 25: [], 26: "", 31: "laptop", 32: "",
     33: 0},
    {0: 13, 1: 3, 2: 1, 3: "command", 4: "", 5: 12, 6: 1, 7: 1767225600000, 8: 1767225601000, 9: 1767312001000,
     10: 0, 11: "", 20: 1000, 21: 0, 22: 1767225600500, 23: 0, 24: 0, 25: [], 26: "", 31: "", 32: "", 33: 256 + 9},
]
valid("list-reply", "four items, one of them buried, one killed by a signal", "LIST_REPLY", {}, pack(KEPT), value=plain(KEPT))
valid("list-reply-more", "as many, and more may come behind number 9", "LIST_REPLY", {63: 9}, pack(KEPT), value=plain(KEPT))
valid("list-reply-none", "no items", "LIST_REPLY", {}, pack([]), value=[])
valid("show-reply", "one item", "SHOW_REPLY", {}, pack(KEPT[1:2]), value=plain(KEPT[1:2]))
valid("show-reply-payload", "an item as it was submitted", "SHOW_REPLY", {102: True},
      array32([item(0, {10: "sha256", 15: "/srv/x", 60: 2, 100: True}, b"")]),
      items=[text_of("SUBMIT", ident(0), {10: "sha256", 15: "/srv/x", 60: 2, 100: True}, b"")])
valid("error-buried", "who waited for an item that was buried", "ERROR",
      {40: 29, 41: "buried", 42: "item 12 is buried: /srv/x: no such file", 43: True, 63: 12, 79: 3}, number=2)
valid("lease-away", "an item for other nodes: its SUBMIT, and what that does not say", "LEASE",
      {10: "@cluster", 33: 1000, 34: pack({10: "echo", 31: "node-b"}), 35: bytes(range(16)), 63: 7, 75: 2, 84: 60000, 86: 1,
       88: 1500}, b"hello", number=2)
valid("ask", "a request about another node", "ASK", {31: "node-b", 33: 1000, 34: pack({63: 7}), 36: 0x0D}, number=7)
valid("result-away", "of an item that ran on another node", "RESULT", {20: 0, 31: "node-b"}, b"hello", number=2)
valid("result-kept", "of an item that is kept", "RESULT", {19: 0, 20: 0, 63: 7}, b"hello", number=2)
valid("error-kept", "a persistent item that was cancelled", "ERROR",
      {40: 10, 41: "cancelled", 42: "the item was cancelled before it ran", 43: True, 63: 9}, number=2)
valid("result-echo", "ends an item well", "RESULT", {19: 1, 20: 0, 21: 0, 23: 20480, 24: 1536, 25: 5}, b"hello", number=2)
valid("result-command", "a command that exited; three bytes of output, then two of standard error", "RESULT",
      {13: "application/octet-stream", 19: 0, 20: 0, 21: 3, 23: 2**32, 24: 2**33, 26: 1, 28: 3, 30: False}, b"outer")
valid("result-killed", "a command that a signal killed", "RESULT", {27: 9, 28: 0, 30: True})
valid("result-attempts", "an item with a number, which took three runs", "RESULT",
      {19: 0, 20: 0, 21: 3, 26: 0, 28: 0, 63: 2**40, 79: 3})
valid("error-ran-too-long", "an item that was stopped", "ERROR",
      {19: 0, 20: 0, 40: 24, 41: "ran-too-long", 42: "the item was stopped after its time to run, 1000 ms", 43: True,
       63: 18, 79: 4})
valid("error-refused", "a request that is refused", "ERROR",
      {40: 5, 41: "unknown-service", 42: "there is no service \"ecko\"; ask with SERVICES which there are"})
valid("error-ends", "an accepted item that failed", "ERROR",
      {19: 1, 20: 1, 23: 300, 24: 65536, 40: 10, 41: "cancelled", 42: "the item was cancelled before it was done",
       43: True}, number=2)
valid("error-limit", "a limit of one message", "ERROR",
      {40: 7, 41: "too-large", 42: "SUBMIT: header of 70000 bytes exceeds max-header (65536); raise it with [limits] max-header",
       44: "max-header", 45: 65536})
valid("error-newer", "a code that is not known here is an error all the same", "ERROR",
      {40: 300, 41: "too-new", 42: "a newer code"})
valid("busy", "a limit on what is in flight", "BUSY",
      {40: 16, 41: "busy", 42: "1024 items are in flight", 44: "in-flight-items", 45: 1024, 46: 50}, number=2)
valid("output", "what a command wrote to standard output", "OUTPUT", {98: 1}, b"one\n", number=2)
valid("output-errors", "and to standard error, in bytes of any kind", "OUTPUT", {98: 2}, b"\0\xff", number=2)
valid("error-time-limit", "a command that ran for too long", "ERROR",
      {19: 0, 20: 0, 21: 1, 27: 15, 40: 28, 41: "time-limit", 42: "give it more time", 43: True}, number=2)

# Worker processes.
valid("submit-progress", "an item whose progress is wanted", "SUBMIT", {10: "thumbnail", 80: True}, b"image")
valid("submit-parts", "an item of whose result parts are wanted as they come", "SUBMIT", {10: "thumbnail", 80: True, 113: 262144}, b"image")
valid("error-not-remembered", "a strict item near one that is not remembered", "ERROR",
      {40: 30, 41: "not-remembered", 42: "it is not known where the item 7 was"}, number=2)
valid("submit-deadline", "an item that waits for the first worker of its service, until its deadline", "SUBMIT",
      {10: "thumbnail", 60: 2, 88: 3600000, 89: True}, b"image")
valid("error-deadline-passed", "and fails then", "ERROR",
      {19: 0, 40: 32, 41: "deadline-passed", 42: "the item had not begun by its deadline", 43: True}, number=2)
SERVED = [{0: "thumbnail", 1: "makes a picture small"}, {0: "rotate", 1: ""}]
valid("ready", "serves two services, three items at a time", "READY", {83: 3}, pack(SERVED), value=plain(SERVED))
valid("ready-place", "works at a place", "READY", {20: 1, 83: 1}, pack(SERVED[:1]), value=plain(SERVED[:1]))
valid("ready-pause", "wants no more leases", "READY", {83: 0}, pack([]), value=[])
valid("enrolled", "both services are known now", "ENROLLED", {50: 2, 84: 60000, 87: 10000})
valid("lease", "an item for a worker; the id is the lease's", "LEASE", {10: "thumbnail", 13: "image/png", 14: ["128"], 80: True,
      84: 60000, 86: 1}, b"image", number=2**64 + 5)
valid("lease-again", "an item that another worker lost", "LEASE", {10: "thumbnail", 15: "/tmp/picture", 84: 60000, 86: 2},
      number=2**64 + 6)
valid("done", "the result of a leased item", "DONE", {13: "image/png"}, b"small", number=2**64 + 5)
valid("fail", "it cannot be done", "FAIL", {42: "this is no picture"}, number=2**64 + 5)
valid("fail-again", "another worker may be able to", "FAIL", {40: 14, 42: "the disk is full", 85: True}, number=2**64 + 5)
valid("extend", "needs a minute more", "EXTEND", {84: 60000}, number=2**64 + 5)
valid("report", "half of it is done", "REPORT", {81: 500000, 82: "second pass"}, number=2**64 + 5)
valid("lease-parts", "an item whose client takes parts", "LEASE", {10: "thumbnail", 84: 60000, 86: 1, 113: 262144}, b"image",
      number=2**64 + 5)
valid("report-part", "a third of it is done, and this is it", "REPORT", {81: 333333}, b"\0\xff", number=2**64 + 5)
valid("part", "the client gets it", "PART", {86: 1}, b"\0\xff", number=2)
valid("part-grant", "the worker may send more", "PART", {113: 131072}, number=2**64 + 5)
valid("progress", "the client is told", "PROGRESS", {81: 500000, 82: "second pass"}, number=2)
valid("stop", "the lease has ended", "STOP", {40: 10, 41: "cancelled", 42: "the item was cancelled"}, number=2**64 + 5)
valid("workers", "asks for the worker processes", "WORKERS", {})
WORKERS = [{0: "thumbnailer 2", 1: SERVED, 2: [1], 3: 3, 4: 2, 5: 100, 6: 1, 7: 0, 8: 250},
           {0: "idle", 1: [], 2: [], 3: 0, 4: 0, 5: 0, 6: 0, 7: 0, 8: 9999}]
valid("workers-reply", "one worker at a place, one that pauses", "WORKERS_REPLY", {}, pack(WORKERS), value=plain(WORKERS))
valid("error-key-revoked", "its key is not taken any more", "ERROR", {40: 33, 41: "key-revoked", 42: "the key laptop was revoked"}, number=2)
valid("statistics", "asks for all sections", "STATISTICS", {})
valid("statistics-sections", "asks for places and steals", "STATISTICS", {106: 6})
valid("trace", "asks for a time line of two seconds", "TRACE", {64: 2000})
valid("trace-reply", "its last part", "TRACE_REPLY", {43: True}, b"]")
valid("spans", "asks for items that have ended, from the 100th on", "SPANS", {50: 512, 67: 100})
valid("reload", "has irisd read its configuration again", "RELOAD", {})
valid("changed-message", "what was changed", "CHANGED", {42: "log-level", 50: 1})
valid("keys", "asks for one key", "KEYS", {107: "laptop"})
valid("suspend", "an item stands still", "SUSPEND", {42: "it is too warm", 63: 7})
valid("resume-item", "it goes on", "RESUME", {63: 7})
valid("edit", "an item that waits gets another priority and another time", "EDIT", {63: 7, 71: 1900000000000, 72: 9})
valid("again", "the same once more, in a minute", "AGAIN", {63: 7, 70: 60000})
valid("schedule", "each night, by the time of a town", "SCHEDULE",
      {56: "backup", 57: "Europe/Zurich", 58: 60000, 59: 2, 66: 2, 109: "30 2 * * *"}, b"\x91" + item(0, {10: "command", 14: ["true"]}, b""))
valid("schedule-every", "each five minutes", "SCHEDULE", {56: "look", 118: 300000}, b"\x91" + item(0, {10: "noop"}, b""))
valid("schedule-suspended", "no new runs for now", "SCHEDULE", {56: "backup", 117: True})
valid("schedule-remove", "it is not wanted any more", "SCHEDULE", {56: "backup", 116: True})
valid("schedules", "asks for one schedule", "SCHEDULES", {56: "backup"})
valid("queue", "two at a time", "QUEUE", {54: "films", 55: 2, 72: 3})
valid("queues", "asks for the queues", "QUEUES", {})
valid("follow", "the output of an item, from the beginning", "FOLLOW", {63: 7, 67: 0, 99: 65536})
valid("follow-node", "the output of an item of another node", "FOLLOW", {31: "n2", 63: 7, 67: 4101, 86: 2, 99: 16384})
valid("output-attempt", "a part of kept output, to the bridge", "OUTPUT", {67: 0, 86: 2, 98: 1}, b"line\n")
valid("output-offset", "a part of kept output", "OUTPUT", {67: 4096, 98: 1}, b"line\n")
valid("followed", "that was all of it", "FOLLOWED", {52: 3, 63: 7, 67: 4101})
valid("backup", "the journal, copied", "BACKUP", {15: "/var/backups/iris.db"})
valid("nodes", "asks for the nodes of the cluster", "NODES", {})
valid("node-drain", "a node takes no more items", "NODE", {31: "n2", 103: True})
valid("node-remove", "a node does not come back", "NODE", {31: "n2", 116: True})
valid("cluster-check", "has the streams looked at", "CLUSTER_CHECK", {})
valid("cluster-init", "has the streams made", "CLUSTER_INIT", {})
valid("going", "irisd ends, and another one takes its place", "GOING", {42: "irisd is restarted", 46: 500})
valid("hello-session", "a client that goes on with its session", "HELLO", {1: 1, 2: 1, 3: 4, 108: "0123456789abcdef"})
valid("submit-again", "an item of a session that was perhaps sent before", "SUBMIT", {10: "echo", 60: 2, 108: "0123456789abcdef"}, b"x")
OUTCOME_ROW = {0: 1, 1: 1001, 2: 1002, 3: 1003, 4: 1004, 5: 1005}
DAEMON_ROW = {0: "version", 1: "scheduler", 2: 3, 3: 1003, 4: 1004, 5: True, 6: True, 7: "not-ready", 8: 1008, 9:
    1009, 10: 1010, 11: 1011, 12: 1012, 13: 1013, 14: 1014, 15: 1015, 16: 1016, 17: 1017, 18: 1018, 19: 1019, 20:
    1020, 21: 1021, 22: 1022, 23: 1023, 24: 1024, 25: [0, 2**40], 26: [OUTCOME_ROW]}
PLACE_ROW = {0: 1, 1: "name", 2: "cpus", 3: 4, 4: 5, 5: 6, 6: 7, 7: 8, 8: 9, 9: 10, 10: True, 11: 1011, 12: 1012, 13:
    1013, 14: 1014, 15: 1015, 16: 1016, 17: 1017, 18: 1018, 19: 1019, 20: 1020, 21: [0, 2**40], 22: 1022, 23: 1023,
    24: 1024, 25: [0, 2**40], 26: 1026, 27: [0, 2**40], 28: 1028}
STEAL_ROW = {0: 1, 1: [10, 20], 2: [0, 2**40], 3: [0, 2**40]}
SERVICE_ROW = {0: "name", 1: 1001, 2: 1002, 3: 1003, 4: 1004, 5: 1005, 6: 1006, 7: 1007, 8: 1008, 9: 1009, 10: 1010}
LIMITUSER_ROW = {0: "name", 1: 1001, 2: 1002}
LIMIT_ROW = {0: "name", 1: 1001, 2: True, 3: 1003, 4: 1004, 5: [LIMITUSER_ROW]}
JOURNAL_ROW = {0: "state", 1: "reason", 2: 1002, 3: 1003, 4: 1004, 5: 1005, 6: [0, 2**40], 7: 1007, 8: 1008, 9: 1009,
    10: 1010, 11: 1011, 12: 1012}
PROCESS_ROW = {0: "name", 1: ["resize"], 2: [10, 20], 3: 4, 4: 5, 5: 1005, 6: 1006, 7: 1007, 8: 1008}
CLUSTER_ROW = {0: "n1", 1: 2, 2: 1002, 3: "", 4: "it survives", 5: True, 6: False, 7: 3, 8: 1, 9: 1, 10: 1010, 11: 1011, 12: 1,
               **{key: 1000 + key for key in range(13, 29)}, 29: [1029, 0, 2**33], 30: [1030, 0, 2**33, 1], 31: 1031}
STATISTICS = {0: 1, 1: [DAEMON_ROW], 2: [PLACE_ROW], 3: [STEAL_ROW], 4: [SERVICE_ROW], 5: [LIMIT_ROW], 6:
    [JOURNAL_ROW], 7: [PROCESS_ROW], 8: [CLUSTER_ROW]}
valid("statistics-reply", "all sections", "STATISTICS_REPLY", {}, pack(STATISTICS), value=plain(STATISTICS))
SPANS = [{0: 100, 1: "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01", 2: "b7ad6b7169203331", 3: "a=b", 4: "command", 5: 7, 6: 2,
          7: 10**18, 8: 10**18 + 5, 9: 10**18 + 9, 10: 1, 11: 3, 12: 2, 13: 127, 14: "it failed"}]
valid("spans-reply", "none has ended since", "SPANS_REPLY", {67: 100}, pack([]), value=[])
valid("spans-reply-one", "a command that failed", "SPANS_REPLY", {67: 101}, pack(SPANS), value=plain(SPANS))
KEYS_ROWS = [
    {0: "laptop", 1: "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7", 2: "observe;submit", 3: True, 4: [], 5: 100, 6: 2**33 + 7, 7: 2, 8: 1767225600000},
    {0: "old", 1: "", 2: "work", 3: False, 4: ["command", "echo"], 5: 0, 6: 2**33, 7: 0, 8: 0},
]
valid("keys-reply", "no keys", "KEYS_REPLY", {}, pack([]), value=[])
valid("keys-reply-two", "a key that is in use, and one that was revoked", "KEYS_REPLY", {15: "/etc/iris/keys.d"}, pack(KEYS_ROWS), value=plain(KEYS_ROWS))
valid("schedules-reply", "no schedules", "SCHEDULES_REPLY", {}, pack([]), value=[])
SCHEDULES = [{0: "backup", 1: 1000, 2: "30 2 * * *", 3: 0, 4: "Europe/Zurich", 5: 60000, 6: 2, 7: 2, 8: False, 9: 1700000000000, 10: 1699913600000, 11: 7,
              12: 3, 13: 12, 14: 1, 15: "command", 16: ["backup", "--all"], 17: 3, 18: "b", 19: False, 20: "core:0",
              21: True}]
valid("schedules-reply-one", "one, and there are more", "SCHEDULES_REPLY", {61: b"1000/backup"}, pack(SCHEDULES), value=plain(SCHEDULES))
valid("queues-reply", "no queues", "QUEUES_REPLY", {}, pack([]), value=[])
QUEUES = [{0: "builds", 1: 1, 2: 5, 3: True, 4: 0, 5: 12}, {0: "films", 1: 2, 2: 3, 3: False, 4: 2, 5: 0}]
valid("queues-reply-two", "one that is paused, and one that is full", "QUEUES_REPLY", {}, pack(QUEUES), value=plain(QUEUES))
valid("nodes-reply-none", "no cluster", "NODES_REPLY", {}, pack({0: "", 1: 0, 2: 0, 3: "", 4: "", 5: "", 6: False, 7: []}),
      value=plain({0: "", 1: 0, 2: 0, 3: "", 4: "", 5: "", 6: False, 7: []}))
NODES = {0: "n1", 1: 2, 2: 1700000000000, 3: "", 4: "nats://…@192.0.2.1:4222", 5: "it survives", 6: True, 7: [
    {0: "n1", 1: 1, 2: True, 3: 1700000000000, 4: 20, 5: "0.1.0", 6: "0123456789abcdef", 7: 4, 8: 2, 9: 7, 10: ["rack=r1", "zone=a"],
     11: ["echo"], 12: ["ipc:///run/iris/front.ipc"], 13: [{0: "l3:0", 1: "0-3", 2: 4, 3: 7}],
     14: 5, 15: 2**33, 16: 0},
    {0: "n2", 1: 3, 2: False, 3: 1700000000001, 4: 0, 5: "", 6: "", 7: 0, 8: 0, 9: 0, 10: [], 11: [], 12: [], 13: [], 14: 0, 15: 0, 16: 3}]}
valid("nodes-reply-two", "one that is here, and one that is gone", "NODES_REPLY", {}, pack(NODES), value=plain(NODES))
valid("submit-traced", "an item with a parent, a queue, and its output kept", "SUBMIT",
      {10: "command", 14: ["true"], 54: "films", 68: 65536, 69: 2, 78: ["notify-me"],
       104: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", 105: "a=b"})

# The same said otherwise: all legal spellings are read.
spelled("spelled-map16", "a map's head in 16 bits", "SUBMIT", "de00010aa0", {10: ""})
spelled("spelled-map32", "a map's head in 32 bits", "SUBMIT", "df000000010aa0", {10: ""})
spelled("spelled-key-uint64", "a key in 64 bits", "SUBMIT", "81cf000000000000000aa0", {10: ""})
spelled("spelled-key-int8", "a key in a signed form", "SUBMIT", "81d00aa0", {10: ""})
spelled("spelled-str32", "a string's head in 32 bits", "SUBMIT", "810adb0000000165", {10: "e"})
spelled("spelled-hint-int64", "-1 in 64 bits", "SUBMIT", "820aa00bd3ffffffffffffffff", {10: "", 11: -1})
spelled("spelled-hint-uint64", "a signed value in an unsigned form", "SUBMIT", "820aa00bcf0000000000000003", {10: "", 11: 3})
spelled("spelled-order", "keys in any order", "SUBMIT", "830cc30b010aa165", {10: "e", 11: 1, 12: True})
spelled("spelled-path-text", "bytes that are text may come as a string", "SUBMIT", "820aa00fa161", {10: "", 15: "a"})
spelled("unknown-keys", "unknown keys, of any kind, also twice, also beyond 63", "SUBMIT",
        "860aa165" "11c0" "1193c0c2cb3ff0000000000000" "cd03e8" "82a161c401ff90d40100" "3f" "c703050102ff"
        "cf0000000100000000" "d1ff00", {10: "e"})
spelled("foreign-key", "a key of another type is unknown here", "PING", "8132c0", {})

# What must be refused.
GOOD = frames_of("PING", 1, {})
invalid("frames-4", "a frame is missing", "malformed", GOOD[:4])
invalid("frames-6", "a frame too many", "malformed", GOOD + [b""])
invalid("frames-0", "an empty message", "malformed", [])
invalid("frame-1-other", "another protocol", "malformed", [b"MDPC01"] + GOOD[1:])
invalid("frame-1-empty", "a delimiter, as REQ sockets send", "malformed", [b""] + GOOD[:4])
invalid("frame-1-version", "another version of the framing", "version", [b"IRS2"] + GOOD[1:])
invalid("frame-2-empty", "no type", "malformed", [b"IRS1", b""] + GOOD[2:])
invalid("frame-2-long", "a type of two bytes", "malformed", [b"IRS1", b"\x09\x00"] + GOOD[2:])
invalid("frame-2-unknown", "no such type", "unknown-type", [b"IRS1", b"\x7f"] + GOOD[2:])
invalid("frame-2-zero", "no such type", "unknown-type", [b"IRS1", b"\x00"] + GOOD[2:])
invalid("frame-3-short", "an id of 15 bytes", "malformed", GOOD[:2] + [bytes(15)] + GOOD[3:])
invalid("frame-3-empty", "no id", "malformed", GOOD[:2] + [b""] + GOOD[3:])
invalid("frame-4-empty", "no header; an empty one is 80", "malformed", GOOD[:3] + [b"", b""])
invalid("frame-5-not-empty", "PING has no body", "malformed", GOOD[:4] + [b"x"])
bad_header("header-not-a-map", "an array", "malformed", "90")
bad_header("header-cut", "claims a pair that is not there", "malformed", "820aa0")
bad_header("header-huge-map", "claims four thousand million pairs", "malformed", "dfffffffff0aa0")
bad_header("header-huge-string", "claims four thousand million bytes", "malformed", "810adbffffffff61")
bad_header("header-trailing", "a byte after the map", "malformed", "810aa0c0")
bad_header("header-reserved", "0xc1 is no msgpack", "malformed", "820aa011c1")
bad_header("header-duplicate", "a known key twice", "malformed", "820aa00aa0")
bad_header("header-duplicate-spelled", "a known key twice, spelled differently", "malformed", "820aa0cc0aa0")
bad_header("header-text-key", "keys are numbers", "malformed", "820aa0a773657276696365a0")
bad_header("header-negative-key", "keys are not negative", "malformed", "820aa0ffa0")
bad_header("header-missing", "SUBMIT without a service", "malformed", "80")
bad_header("type-service", "a number for a string", "malformed", "810a01")
bad_header("type-service-binary", "binary for text", "malformed", "810ac40165")
bad_header("type-hint", "a string for a number", "malformed", "820aa00ba131")
bad_header("type-hint-float", "a float for a number", "malformed", "820aa00bcb3ff0000000000000")
bad_header("type-strict", "1 is not true", "malformed", "820aa00c01")
bad_header("type-args", "a string for a list", "malformed", "820aa00ea161")
bad_header("type-args-inner", "a number in a list of strings", "malformed", "820aa00e9101")
bad_header("type-target", "an id of 8 bytes", "malformed", "8133c4080000000000000000", kind="CANCEL")
bad_header("cancel-nothing", "CANCEL of what?", "malformed", "80", kind="CANCEL")
bad_header("cancel-two", "CANCEL of two items", "malformed", "8233c410" + "00" * 16 + "3f07", kind="CANCEL")
bad_header("range-states", "in none of the states", "bad-argument", "817800", kind="LIST")
bad_header("text-utf8", "a string that is not UTF-8", "malformed", "810aa1ff")
bad_header("text-surrogate", "half of a surrogate pair", "malformed", "810aa3eda080")
bad_header("text-overlong", "an overlong form", "malformed", "810aa2c080")
bad_header("text-nul", "a NUL in a string", "malformed", "810aa100")
bad_header("text-nul-raw", "a NUL in a path", "malformed", "820aa00fc403610061")
bad_header("text-utf8-unknown", "also in a key that is passed over", "malformed", "820aa011a1ff")
bad_header("range-hint", "-2 is no place", "bad-argument", "820aa00bfe")
bad_header("range-hint-large", "beyond 31 bits", "bad-argument", "820aa00bce80000000")
bad_header("range-ack", "none of the oldest completions", "bad-argument", "82320033c410" + "00" * 16, kind="ACK")
bad_header("ack-nothing", "ACK of what?", "malformed", "80", kind="ACK")
bad_header("ack-positional", "a count does not say which completions", "malformed", "813202", kind="ACK")
invalid("ack-twice", "named by the header and by the body", "malformed",
        [b"IRS1", b"\x05", ident(1), bytes.fromhex("8133c410" + "00" * 16), ident(2)])
invalid("ack-part", "half a request id", "malformed", [b"IRS1", b"\x05", ident(1), b"\x80", ident(2)[:8]])
bad_header("range-versions", "from 2 to 1", "bad-argument", "8201020201", kind="HELLO")
bad_header("range-version-0", "there is no version 0", "bad-argument", "8201000201", kind="HELLO")
bad_header("range-state", "no such state", "bad-argument", "81340a", kind="CANCELLING")
bad_header("kick-what", "KICK says what", "bad-argument", "80", kind="KICK")
bad_header("kick-both", "KICK says it once", "bad-argument", "8234083f07", kind="KICK")
bad_header("kick-state", "what is done cannot be kicked", "bad-argument", "813403", kind="KICK")
bad_header("bury-missing", "BURY without a number", "malformed", "80", kind="BURY")
bad_header("drain-missing", "DRAIN says whether", "malformed", "811400", kind="DRAIN")
bad_header("range-workers", "at least one worker stays active", "bad-argument", "8214006500", kind="SET_WORKERS")
bad_header("range-class", "no such class", "bad-argument", "820aa03c03")
bad_header("type-key", "a number for bytes", "malformed", "820aa03d01")
bad_header("fetch-missing", "FETCH without a number", "malformed", "80", kind="FETCH")
bad_header("fetch-negative", "a number below zero", "malformed", "813fff", kind="FETCH")
bad_header("pending-missing", "PENDING without a state", "malformed", "813f07", kind="PENDING")
bad_header("range-fraction", "more than all of it", "bad-argument", "8151ce000f4241", kind="REPORT")
bad_header("range-attempt", "attempts are counted from 1", "bad-argument", "830aa154540a5600", kind="LEASE")
bad_header("ready-missing", "READY without a capacity", "malformed", "80", kind="READY")
bad_header("fail-missing", "FAIL without a message", "malformed", "80", kind="FAIL")
bad_header("range-nice", "the greatest niceness is 19", "bad-argument", "820aa05e14")
bad_header("range-nice-negative", "nor less nice than irisd", "bad-argument", "820aa05eff")
bad_header("range-channel", "no such channel", "bad-argument", "816203", kind="OUTPUT")
bad_header("type-environment", "a string for a list", "malformed", "820aa05ca3413d31")
bad_header("type-stream", "true is no number of bytes", "malformed", "820aa05ac3")
bad_header("missing-grant", "MORE of how much?", "malformed", "8133c410" + "00" * 16, kind="MORE")
bad_header("type-node", "a number for a name", "malformed", "820aa01f01")
bad_header("type-header", "text for binary", "malformed", "8222a0240e", kind="ANSWER")
bad_header("type-cluster-item", "an id of 8 bytes", "malformed", "820aa023c4080000000000000000")
bad_header("answer-missing", "ANSWER to what?", "malformed", "812405", kind="ANSWER")
bad_header("type-hint-name", "binary for text", "malformed", "820aa06ec4026c32")
bad_header("type-near-item", "a string for a number", "malformed", "820aa06fa137")
bad_header("type-near-path", "a number for bytes", "malformed", "820aa07001")
bad_header("type-footprint", "a negative number of bytes", "malformed", "820aa072ff")
bad_header("type-keep-apart", "a number for a truth value", "malformed", "820aa07301")
bad_header("type-parts", "true is no number of bytes", "malformed", "820aa071c3")
bad_header("range-part-attempt", "attempts are counted from 1", "bad-argument", "815600", kind="PART")
bad_header("range-priority", "above nine", "bad-argument", "820aa048" "0a")
bad_header("range-after-how", "no such way", "bad-argument", "820aa04a" "04")
bad_header("type-after", "text in a list of numbers", "malformed", "820aa04991a131")
bad_header("limit-after", "three items where two are allowed", "too-large", "820aa04993010203", limit="max-args",
           limits={"max-args": 2})
bad_header("depth", "nine levels", "too-large", "820aa011" + "91" * 7 + "90")
FAILED = {40: 10, 41: "cancelled", 42: "the item was cancelled", 43: True}
valid("completions", "two items have ended, one of them well", "COMPLETIONS", {},
      array32([ending("RESULT", 16, {19: 1, 20: 0, 23: 20480}, b"one"), ending("ERROR", 17, FAILED)]), number=0,
      items=[text_of("RESULT", ident(16), {19: 1, 20: 0, 23: 20480}, b"one"), text_of("ERROR", ident(17), FAILED, b"")])
DONE_ONE = ending("RESULT", 16, {}, b"")
for name, meaning, code, body, more in [
        ("empty", "no completions", "malformed", pack([]), {}),
        ("not-a-list", "a map", "malformed", pack({}), {}),
        ("cut", "the second ending is not there", "malformed", b"\x92" + DONE_ONE, {}),
        ("trailing", "a byte after the list", "malformed", b"\x91" + DONE_ONE + b"\0", {}),
        ("three-parts", "an ending without a type", "malformed", b"\x91" + item(1, {}, b""), {}),
        ("type", "an ending that is none", "malformed", b"\x91" + ending("PONG", 1, {}), {}),
        ("not-the-end", "an error that does not end an item", "malformed",
         b"\x91" + ending("ERROR", 1, {40: 10, 41: "cancelled", 42: "why"}), {}),
        ("error-body", "an error with a body", "malformed", b"\x91" + ending("ERROR", 1, FAILED, b"x"), {}),
        ("short-id", "an id of 15 bytes", "malformed", b"\x91\x94" + pack(bytes(15)) + DONE_ONE[19:], {}),
        ("limit", "three completions where two are allowed", "too-large", b"\x93" + 3 * DONE_ONE, {"limits": {"max-batch": 2}}),
]:
    invalid("completions-" + name, meaning + " (the frames are good, the body is refused)", code,
            frames_of("COMPLETIONS", 0, {}, body), part="body", **more)
bad_header("limit-string", "a service of 4097 bytes", "too-large", "810ada1001" + "73" * 4097, limit="max-string")
bad_header("limit-header", "one byte too many", "too-large", "810aa40000000000", limit="max-header",
           limits={"max-header": 7})
bad_header("limit-args", "three strings where two are allowed", "too-large", "820aa00e93a0a0a0", limit="max-args",
           limits={"max-args": 2})
invalid("limit-body", "one byte too many", "too-large", frames_of("SUBMIT", 1, {10: "echo"}, bytes(9)),
        limit="max-body", limits={"max-body": 8})
ONE = item(16, {10: "echo"}, b"")
for name, meaning, code, body, more in [
        ("empty", "no items", "malformed", pack([]), {}),
        ("not-a-list", "a map", "malformed", pack({}), {}),
        ("cut", "the second item is not there", "malformed", b"\x92" + ONE, {}),
        ("trailing", "a byte after the list", "malformed", b"\x91" + ONE + b"\0", {}),
        ("two-parts", "an item without a body", "malformed", b"\x91\x92" + pack(ident(1)) + pack({10: "echo"}), {}),
        ("text-body", "a string for a body", "malformed", b"\x91" + ONE[:-2] + b"\xa0", {}),
        ("short-id", "an id of 15 bytes", "malformed", b"\x91\x93" + pack(bytes(15)) + ONE[19:], {}),
        ("limit", "three items where two are allowed", "too-large", b"\x93" + 3 * ONE, {"limits": {"max-batch": 2}}),
]:
    invalid("batch-" + name, meaning + " (the frames are good, the body is refused as a whole)", code,
            frames_of("BATCH", 1, {}, body), part="body", **more)
for kind, name, meaning, code, body, more in [
        ("MAP_REPLY", "map-missing", "a place without distances", "malformed",
         pack([{k: v for k, v in PLACES[0].items() if k != 7}]), {}),
        ("MAP_REPLY", "map-range", "an id beyond 32 bits", "bad-argument", pack([{**PLACES[0], 0: 2**32}]), {}),
        ("MAP_REPLY", "map-limit", "two places where one is allowed", "too-large", pack(PLACES),
         {"limits": {"max-entries": 1}}),
        ("STATUS_REPLY", "status-list", "a list for a map", "malformed", pack([STATUS]), {}),
        ("STATUS_REPLY", "status-negative", "a counter below zero", "malformed", pack({**STATUS, 7: -1}), {}),
        ("WORKERS_REPLY", "workers-text", "text for a list", "malformed", pack([{**WORKERS[0], 1: "thumbnail"}]), {}),
        ("LIST_REPLY", "list-missing", "an item without a service", "malformed",
         pack([{k: v for k, v in KEPT[0].items() if k != 3}]), {}),
        ("LIST_REPLY", "list-limit", "two items where one is allowed", "too-large", pack(KEPT[:2]),
         {"limits": {"max-entries": 1}}),
        ("SERVICES_REPLY", "services-cut", "claims two, holds one", "malformed", b"\x92" + pack(SERVICES[0]), {}),
]:
    invalid(name, meaning + " (the frames are good, the body is refused)", code, frames_of(kind, 1, {}, body),
            part="body", **more)

invalid("ready-cut", "a service without a summary (the frames are good, the body is refused)", "malformed",
        frames_of("READY", 1, {83: 1}, pack([{0: "thumbnail"}])), part="body")

ABOUT = ("Messages of the protocol IRS1, frames in hex without a routing id. valid: a decoder must accept it and find what "
         "text says (and value, in a body); canonical: an encoder that writes keys in ascending order and numbers in their "
         "shortest form gives these bytes. Not valid: a decoder must refuse it with that code, under the default limits or "
         "those in limits; part says that it is the body's decoder that refuses.")

if __name__ == "__main__":
    with open("irs1.json", "w", encoding="utf-8") as out:
        json.dump({"licence": "SPDX-License-Identifier: LGPL-2.1-or-later", "about": ABOUT, "vectors": vectors}, out, indent=1)
        out.write("\n")
    print(len(vectors), "vectors")
