# SPDX-License-Identifier: LGPL-2.1-or-later
"""Messages of the protocol IRS1: frames to message and back, as doc/protocol.md says, and nothing else.

A message is a type, a request id of 16 bytes, a header (a dict, its keys by their names in the protocol) and a body.
The decoder is strict: what breaks the page's rules raises WireError with the protocol's code.
"""
from __future__ import annotations

import dataclasses
from typing import Any, Dict, FrozenSet, List, Optional, Sequence, Tuple

import msgpack

from .errors import CODES, WireError, malformed, too_large

MAGIC = b"IRS1"
VERSION = 1
#: Of clients that go on after irisd was started anew.
FEATURE_RESUME = 4
#: Bytes of a session, none of them zero.
SESSION_SIZE = 16
FEATURE_COMPLETIONS = 1  # the feature bit of clients that take COMPLETIONS
FEATURE_TWO_FRAMES = 1 << 9  # the feature bit of messages in two frames
FEATURE_BRIDGE = 1 << 10  # the feature bit of what joins irisd to a cluster
ID_SIZE = 16
WHOLE = 1000000  # the value of `fraction` that says that all is done

_U32 = 2**32 - 1
_I31 = 2**31 - 1
_U64 = 2**64 - 1


@dataclasses.dataclass(frozen=True)
class Key:
    """A key of the header: its number, the kind of its value, the range of a number."""

    number: int
    kind: str
    least: int = 0
    most: int = 0


def _u32(number: int, least: int = 0, most: int = _U32) -> Key:
    return Key(number, "uint", least, most)


def _u64(number: int) -> Key:
    return Key(number, "uint", 0, _U64)


def _i32(number: int, least: int = -1, most: int = _I31) -> Key:
    return Key(number, "int", least, most)


KEYS: Dict[str, Key] = {
    "version-min": _u32(1, 1), "version-max": _u32(2, 1), "features": _u64(3), "name": Key(4, "text"),
    "credits": _u32(5, 1), "byte-credits": _u64(6), "max-body": _u64(7), "socket-place": _i32(8),
    "max-batch": _u32(9, 1), "service": Key(10, "text"), "hint": _i32(11), "strict": Key(12, "bool"),
    "content-type": Key(13, "text"), "args": Key(14, "list"), "path": Key(15, "bytes"), "quiet": Key(16, "bool"),
    "home": _i32(19), "place": _i32(20), "worker": _i32(21), "queue-ns": _u64(23), "run-ns": _u64(24),
    "bytes": _u64(25), "exit-status": _i32(26, -2**31), "signal": _i32(27, 0, 128), "stdout-length": _u64(28),
    "truncated": Key(30, "bool"), "code": _u32(40, 1, _I31), "error-name": Key(41, "text"),
    "message": Key(42, "text"), "ends": Key(43, "bool"), "limit": Key(44, "text"), "limit-value": _u64(45),
    "retry-after-ms": _u32(46), "count": _u32(50), "target": Key(51, "id"), "state": _u32(52, 1, 9),
    "anywhere": Key(53, "bool"), "class": _u32(60, 0, 2), "key": Key(61, "bytes"), "keep-ms": _u64(62),
    "item": _u64(63), "wait-ms": _u64(64), "detach": Key(65, "bool"),
    "delay-ms": _u64(70), "at-ms": _u64(71), "priority": _u32(72, 0, 9), "after": Key(73, "numbers"),
    "after-how": _u32(74, 1, 3), "retries": _u32(75), "backoff-ms": _u64(76), "time-to-run-ms": _u64(77),
    "attempts": _u32(79, 1), "progress": Key(80, "bool"), "fraction": _u32(81, 0, WHOLE), "note": Key(82, "text"),
    "capacity": _u32(83), "lease-ms": _u64(84), "again": Key(85, "bool"), "attempt": _u32(86, 1),
    "silence-ms": _u64(87), "deadline-ms": _u64(88), "wait-for-service": Key(89, "bool"),
    "stream": _u64(90), "directory": Key(91, "bytes"), "environment": Key(92, "list"),
    "clear-environment": Key(93, "bool"), "nice": _i32(94, 0, 19), "limits": Key(95, "list"),
    "time-limit-ms": _u64(96), "grace-ms": _u64(97), "channel": _u32(98, 1, 2), "grant": _u64(99),
    "bury": Key(100, "bool"), "workers": _u32(101, 1), "payload": Key(102, "bool"), "drained": Key(103, "bool"),
    "hint-name": Key(110, "text"), "near-item": _u64(111), "near-path": Key(112, "bytes"), "parts": _u64(113),
    "footprint": _u64(114), "keep-apart": Key(115, "bool"),
    "states": _u32(120, 1), "key-prefix": Key(121, "bytes"), "since-ms": _u64(122), "until-ms": _u64(123),
    "descending": Key(124, "bool"),
    "queue": Key(54, "text"), "queue-limit": _u32(55), "schedule": Key(56, "text"), "zone": Key(57, "text"),
    "jitter-ms": _u64(58), "missed": _u32(59, 1, 2), "overlap": _u32(66, 1, 3), "offset": _u64(67),
    "keep-output": _u64(68), "output-policy": _u32(69, 1, 2), "hook": Key(78, "list"),
    "traceparent": Key(104, "text"), "tracestate": Key(105, "text"), "sections": _u32(106),
    "key-name": Key(107, "text"), "session": Key(108, "bytes"), "calendar": Key(109, "text"),
    "remove": Key(116, "bool"), "suspended": Key(117, "bool"), "every-ms": _u64(118), "after-away": Key(119, "list"),
    "node": Key(31, "text"), "any-node": Key(32, "bool"), "for-owner": _u64(33), "header": Key(34, "data"),
    "cluster-item": Key(35, "id"), "type": _u32(36, 1, 255),
}


@dataclasses.dataclass(frozen=True)
class Type:
    """A type of message: its number, the keys that it has, those that it must have, whether it may have a body."""

    number: int
    allowed: FrozenSet[str]
    required: FrozenSet[str]
    body: bool


def _type(number: int, required: str = "", optional: str = "", body: bool = False) -> Type:
    must = frozenset(required.split())
    return Type(number, must | frozenset(optional.split()), must, body)


_VERSIONS = "version-min version-max"
_RUN = "home place worker queue-ns run-ns bytes exit-status signal item attempts node"
_ERROR = "code error-name message"
_OWNER = "for-owner key-name"
_ASKED = "node " + _OWNER
_NEAR = "hint-name near-item near-path"
_MEMORY = "footprint keep-apart"
_KEEP = "class key keep-ms detach bury"
_TERMS = "delay-ms at-ms priority after after-away after-how retries backoff-ms time-to-run-ms deadline-ms wait-for-service"
_TRACE = "traceparent tracestate"
_OUTPUT = "keep-output output-policy hook"
_COMMAND = "stream directory environment clear-environment nice limits time-limit-ms grace-ms"

TYPES: Dict[str, Type] = {
    "HELLO": _type(0x01, _VERSIONS, "features name session"),
    "MAP": _type(0x02),
    "SUBMIT": _type(0x03, "service", "hint strict content-type args path quiet progress parts session any-node cluster-item " + " ".join(("queue", _NEAR, _MEMORY, _KEEP, _TERMS, _TRACE, _OUTPUT, _COMMAND, _ASKED)),
                    True),
    "BATCH": _type(0x04, "", "quiet", True),
    "COMPLETIONS": _type(0x96, body=True),
    "ACK": _type(0x05, "", "target count", True),
    "CANCEL": _type(0x06, "", "target anywhere item " + _ASKED),
    "STATUS": _type(0x07),
    "SERVICES": _type(0x08),
    "PING": _type(0x09),
    "BYE": _type(0x0A),
    "FETCH": _type(0x0B, "item", "wait-ms " + _ASKED),
    "LIST": _type(0x0C, "", "count state item service class states key-prefix since-ms until-ms descending payload queue schedule " + _ASKED),
    "SHOW": _type(0x0D, "item", "wait-ms payload " + _ASKED),
    "KICK": _type(0x0E, "", "item state count " + _ASKED),
    "BURY": _type(0x0F, "item", "message " + _ASKED),
    "DRAIN": _type(0x10, "place drained"),
    "SET_WORKERS": _type(0x11, "place workers"),
    "READY": _type(0x20, "capacity", "place", True),
    "DONE": _type(0x21, "", _RUN + " content-type stdout-length truncated", True),
    "FAIL": _type(0x22, "message", _RUN + " code again retry-after-ms"),
    "EXTEND": _type(0x23, "", "lease-ms"),
    "REPORT": _type(0x24, "", "fraction note node channel attempt", True),
    "MORE": _type(0x25, "target grant"),
    "WORKERS": _type(0x27),
    "WELCOME": _type(0x81, _VERSIONS + " credits byte-credits max-body socket-place", "features name max-batch"),
    "MAP_REPLY": _type(0x82, body=True),
    "ACCEPTED": _type(0x83, "count", "item"),
    "CANCELLING": _type(0x85, "state"),
    "STATUS_REPLY": _type(0x86, body=True),
    "SERVICES_REPLY": _type(0x87, body=True),
    "PONG": _type(0x89),
    "PENDING": _type(0x8B, "state item"),
    "LIST_REPLY": _type(0x8C, "", "item", True),
    "SHOW_REPLY": _type(0x8D, "", "payload", True),
    "CHANGED": _type(0x8E, "count", "message"),
    "RESULT": _type(0x90, "", _RUN + " content-type stdout-length truncated", True),
    "ERROR": _type(0x91, _ERROR, _RUN + " ends limit limit-value"),
    "BUSY": _type(0x92, _ERROR, "limit limit-value retry-after-ms"),
    "OUTPUT": _type(0x93, "channel", "offset attempt", True),
    "PROGRESS": _type(0x94, "", "fraction note"),
    "PART": _type(0x95, "", "attempt parts", True),
    "LEASE": _type(0xA0, "service lease-ms attempt", "content-type args path progress parts stream item cluster-item header retries deadline-ms " + " ".join((_TRACE, _OWNER)), True),
    "ASK": _type(0xA3, "node type header", _OWNER, True),
    "ANSWER": _type(0x2A, "type header", "", True),
    "STOP": _type(0xA1, _ERROR),
    "ENROLLED": _type(0xA2, "count lease-ms silence-ms"),
    "WORKERS_REPLY": _type(0xA7, body=True),
    "STATISTICS": _type(0x12, "", "sections"),
    "TRACE": _type(0x13, "wait-ms"),
    "SPANS": _type(0x14, "", "offset count"),
    "RELOAD": _type(0x15),
    "KEYS": _type(0x16, "", "key-name"),
    "SUSPEND": _type(0x18, "item", "message " + _ASKED),
    "RESUME": _type(0x19, "item", _ASKED),
    "EDIT": _type(0x1A, "item", "hint strict hint-name args delay-ms at-ms priority retries backoff-ms time-to-run-ms deadline-ms queue time-limit-ms grace-ms keep-ms bury " + _ASKED),
    "AGAIN": _type(0x1B, "item", "key delay-ms at-ms priority queue " + _ASKED),
    "SCHEDULE": _type(0x1C, "schedule", "calendar every-ms zone jitter-ms missed overlap suspended remove count", body=True),
    "SCHEDULES": _type(0x1D, "", "schedule count key"),
    "QUEUE": _type(0x1E, "queue", "queue-limit priority suspended remove"),
    "QUEUES": _type(0x1F),
    "FOLLOW": _type(0x28, "item", "offset grant attempt " + _ASKED),
    "BACKUP": _type(0x29, "path"),
    "NODES": _type(0x2B),
    "NODE": _type(0x2C, "node", "drained remove"),
    "CLUSTER_CHECK": _type(0x2D),
    "CLUSTER_INIT": _type(0x2E),
    "STATISTICS_REPLY": _type(0x97, body=True),
    "TRACE_REPLY": _type(0x98, "", "ends", body=True),
    "SPANS_REPLY": _type(0x99, "offset", body=True),
    "KEYS_REPLY": _type(0x9A, "", "path", body=True),
    "GOING": _type(0x9B, "", "retry-after-ms message"),
    "SCHEDULES_REPLY": _type(0x9C, "", "key", body=True),
    "QUEUES_REPLY": _type(0x9D, body=True),
    "NODES_REPLY": _type(0x9F, body=True),
    "FOLLOWED": _type(0x9E, "item", "state offset truncated"),
}
_BY_NUMBER = {spec.number: name for name, spec in TYPES.items()}
_KEY_NAMES = {key.number: name for name, key in KEYS.items()}


@dataclasses.dataclass(frozen=True)
class Limits:
    """What one message may cost; the protocol's defaults."""

    max_header: int = 65536
    max_body: int = 16777216
    max_batch: int = 1024
    max_depth: int = 8
    max_string: int = 4096
    max_args: int = 1024
    max_entries: int = 4096


DEFAULT_LIMITS = Limits()


@dataclasses.dataclass
class Message:
    """One message."""

    type: str
    id: bytes = bytes(ID_SIZE)
    header: Dict[str, Any] = dataclasses.field(default_factory=dict)
    body: bytes = b""


# --- msgpack ---------------------------------------------------------------------------------------


class _Pairs(List[Tuple[Any, Any]]):
    """A map as it was written: a key that comes twice is seen."""


def _walk(value: Any, depth: int, most: int) -> None:
    """Checks what holds for all values, known or not: the levels of nesting and the texts."""
    if isinstance(value, str) and "\0" in value:
        raise malformed("a string holds a NUL character, which no text may")
    if isinstance(value, (list, tuple)):
        if depth > most:
            raise too_large("nesting", depth, "max-depth", most)
        for element in value:
            if isinstance(value, _Pairs):
                _walk(element[0], depth + 1, most)
                _walk(element[1], depth + 1, most)
            else:
                _walk(element, depth + 1, most)


def _unpack(raw: bytes, what: str, limits: Limits) -> Any:
    try:
        value = msgpack.unpackb(raw, raw=False, strict_map_key=False, object_pairs_hook=_Pairs, use_list=True)
    except msgpack.exceptions.StackError:
        raise too_large("nesting", limits.max_depth + 1, "max-depth", limits.max_depth) from None
    except UnicodeDecodeError:
        raise malformed("%s holds a string that is not UTF-8" % what) from None
    except (ValueError, msgpack.exceptions.UnpackException) as error:
        raise malformed("%s is not one msgpack value: %s" % (what, error)) from None
    _walk(value, 1, limits.max_depth)
    return value


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_string(name: str, value: Any, raw: bool, limits: Limits) -> Any:
    if not isinstance(value, (str, bytes) if raw else str):
        raise malformed("key %d (%s) should be a string" % (KEYS[name].number, name))
    # Names of files that are not UTF-8 are strings with surrogates in Python; only bytes may hold them.
    try:
        data = value if isinstance(value, bytes) else value.encode(errors="surrogateescape" if raw else "strict")
    except UnicodeEncodeError:
        raise malformed("key %d (%s) is not UTF-8" % (KEYS[name].number, name)) from None
    if len(data) > limits.max_string:
        raise too_large("key %d (%s)" % (KEYS[name].number, name), len(data), "max-string", limits.max_string)
    if b"\0" in data:
        raise malformed("key %d (%s) holds a NUL byte, which no string may" % (KEYS[name].number, name))
    return data if raw else value


def _check_value(name: str, value: Any, limits: Limits) -> Any:
    key = KEYS[name]
    if key.kind in ("uint", "int"):
        if not _is_int(value) or (key.kind == "uint" and value < 0):
            raise malformed("key %d (%s) should be a number" % (key.number, name))
        if not key.least <= value <= key.most:
            raise WireError(CODES["bad-argument"], "key %d (%s) must be %d to %d" % (key.number, name, key.least, key.most))
    elif key.kind == "bool":
        if not isinstance(value, bool):
            raise malformed("key %d (%s) should be true or false" % (key.number, name))
    elif key.kind == "id":
        if not isinstance(value, bytes) or len(value) != ID_SIZE:
            raise malformed("key %d (%s) should be binary of 16 bytes" % (key.number, name))
    elif key.kind == "data":
        if not isinstance(value, bytes):
            raise malformed("key %d (%s) should be binary" % (key.number, name))
    elif key.kind in ("list", "numbers"):
        if not isinstance(value, list) or isinstance(value, _Pairs):
            raise malformed("key %d (%s) should be an array" % (key.number, name))
        if len(value) > limits.max_args:
            raise too_large("key %d (%s)" % (key.number, name), len(value), "max-args", limits.max_args)
        if key.kind == "list":
            return [_check_string(name, element, True, limits) for element in value]
        if not all(_is_int(element) and 0 <= element <= _U64 for element in value):
            raise malformed("key %d (%s) should be an array of numbers" % (key.number, name))
    else:
        return _check_string(name, value, key.kind == "bytes", limits)
    return value


def _check_rules(kind: str, header: Dict[str, Any]) -> None:
    for name in sorted(TYPES[kind].required - set(header), key=lambda name: KEYS[name].number):
        raise malformed("%s: key %d (%s) is missing" % (kind, KEYS[name].number, name))
    if kind == "HELLO" and header["version-min"] > header["version-max"]:
        raise WireError(CODES["bad-argument"], "HELLO: version-min must not exceed version-max")
    if kind == "CANCEL" and ("target" in header) == ("item" in header):
        raise malformed("CANCEL names one item: by target or by item")
    if kind == "KICK" and ("item" in header) == ("state" in header):
        raise WireError(CODES["bad-argument"], "KICK: name the items by either item or state")
    if kind == "KICK" and header.get("state", 8) not in (6, 8):
        raise WireError(CODES["bad-argument"], "KICK: state must be 6 (delayed) or 8 (buried)")


def _check_ack(header: Dict[str, Any], body: bytes) -> None:
    if ("target" in header) == bool(body) or ("count" in header and "target" not in header):
        raise malformed("ACK names what is acknowledged: by target, with or without count, or by request ids in the body")
    if len(body) % ID_SIZE != 0:
        raise malformed("ACK: frame 5 (body) has %d bytes, which are not whole request ids of 16" % len(body))
    if header.get("count") == 0:
        raise WireError(CODES["bad-argument"], "ACK: count must be 1 or more")


def _read_header(kind: str, value: Any, limits: Limits) -> Dict[str, Any]:
    if not isinstance(value, _Pairs):
        raise malformed("%s: the header should be a map" % kind)
    header: Dict[str, Any] = {}
    for number, element in value:
        if not _is_int(number) or number < 0:
            raise malformed("%s: a key should be an unsigned number" % kind)
        name = _KEY_NAMES.get(number)
        if name is None or name not in TYPES[kind].allowed:
            continue
        if name in header:
            raise malformed("%s: key %d (%s) is there twice" % (kind, number, name))
        header[name] = _check_value(name, element, limits)
    return header


def decode(frames: Sequence[bytes], limits: Limits = DEFAULT_LIMITS) -> Message:
    """Frames, without a routing id, to a message."""
    if len(frames) != 5:
        raise malformed("%d frames instead of 5" % len(frames))
    magic, kind_frame, ident, raw, body = frames
    if magic != MAGIC:
        other = len(magic) == 4 and magic[:3] == b"IRS" and magic[3:].isdigit()
        raise WireError(CODES["version" if other else "malformed"], "frame 1 is not IRS1")
    if len(kind_frame) != 1:
        raise malformed("frame 2 (type) has %d bytes instead of 1" % len(kind_frame))
    if len(ident) != ID_SIZE:
        raise malformed("frame 3 (request id) has %d bytes instead of 16" % len(ident))
    kind = _BY_NUMBER.get(kind_frame[0])
    if kind is None:
        raise WireError(CODES["unknown-type"], "type 0x%02x is not one of IRS1" % kind_frame[0])
    if len(raw) > limits.max_header:
        raise too_large("%s: header" % kind, len(raw), "max-header", limits.max_header)
    header = _read_header(kind, _unpack(raw, "%s: the header" % kind, limits), limits)
    _check_rules(kind, header)
    if len(body) > limits.max_body:
        raise too_large("%s: body" % kind, len(body), "max-body", limits.max_body)
    if body and not TYPES[kind].body:
        raise malformed("%s: frame 5 (body) must be empty" % kind)
    if kind == "ACK":
        _check_ack(header, body)
    return Message(kind, bytes(ident), header, bytes(body))


def pack_header(kind: str, header: Dict[str, Any], limits: Limits = DEFAULT_LIMITS) -> bytes:
    packed = {}
    for name in sorted(header, key=lambda name: KEYS[name].number):
        if name not in TYPES[kind].allowed:
            raise malformed("%s has no key %s; do not set it" % (kind, name))
        value = _check_value(name, header[name], limits)
        packed[KEYS[name].number] = value
    _check_rules(kind, header)
    raw: bytes = msgpack.packb(packed, use_bin_type=True)
    if len(raw) > limits.max_header:
        raise too_large("%s: header" % kind, len(raw), "max-header", limits.max_header)
    return raw


def encode(message: Message, limits: Limits = DEFAULT_LIMITS) -> List[bytes]:
    """A message to frames, which must fit the limits too."""
    raw = pack_header(message.type, message.header, limits)
    if len(message.body) > limits.max_body:
        raise too_large("%s: body" % message.type, len(message.body), "max-body", limits.max_body)
    if message.body and not TYPES[message.type].body:
        raise malformed("%s has no body" % message.type)
    if message.type == "ACK":
        _check_ack(message.header, message.body)
    return [MAGIC, bytes([TYPES[message.type].number]), message.id, raw, message.body]


# --- bodies with a structure of their own ------------------------------------------------------------

# A record: its keys, each with a name and a kind; `[...]` is a list of records, "u32s" and "u64s" ones of numbers.
_SERVICE: Dict[int, Tuple[str, Any]] = {0: ("name", "text"), 1: ("summary", "text")}
_PLACE_STATUS: Dict[int, Tuple[str, Any]] = {
    0: ("id", "u32"), 1: ("name", "text"), 2: ("hinted", "u64"), 3: ("executed", "u64"), 4: ("stolen-in", "u64"),
    5: ("stolen-out", "u64"), 6: ("bytes", "u64"), 7: ("busy-ns", "u64"), 8: ("workers", "u32"),
    9: ("drained", "bool"), 10: ("active", "u32"), 11: ("backlog", "u64"),
}
_PLACE: Dict[int, Tuple[str, Any]] = {
    0: ("id", "u32"), 1: ("name", "text"), 2: ("cpus", "text"), 3: ("endpoint", "text"), 4: ("workers", "u32"),
    5: ("nodes", "text"), 6: ("bound", "bool"), 7: ("distances", "u32s"),
}
_STATUS: Dict[int, Tuple[str, Any]] = {
    0: ("version", "text"), 1: ("pid", "u32"), 2: ("uptime-ms", "u64"), 3: ("scheduler", "text"), 4: ("draining", "bool"),
    5: ("peers", "u64"), 6: ("in-flight", "u64"), 7: ("accepted", "u64"), 8: ("ended", "u64"), 9: ("failed", "u64"),
    10: ("malformed", "u64"), 11: ("refused", "u64"), 12: ("places", [_PLACE_STATUS]), 20: ("ready", "bool"),
    21: ("journal", "text"), 22: ("journal-says", "text"), 23: ("persistent", "u64"), 24: ("damaged", "u64"),
    110: ("held-back", "u64"),
    120: ("persistent-ended", "u64"),
}
_WORKER: Dict[int, Tuple[str, Any]] = {
    0: ("name", "text"), 1: ("services", [_SERVICE]), 2: ("places", "u32s"), 3: ("capacity", "u32"), 4: ("leased", "u32"),
    5: ("done", "u64"), 6: ("failed", "u64"), 7: ("lost", "u64"), 8: ("silent-ms", "u64"),
}
_KEPT: Dict[int, Tuple[str, Any]] = {
    0: ("item", "u64"), 1: ("state", "u32"), 2: ("class", "u32"), 3: ("service", "text"), 4: ("key", "text"),
    5: ("bytes", "u64"), 6: ("attempts", "u32"), 7: ("accepted-ms", "u64"), 8: ("ended-ms", "u64"),
    9: ("expires-ms", "u64"), 10: ("code", "u32"), 11: ("message", "text"), 20: ("owner", "u64"),
    21: ("due-ms", "u64"), 22: ("started-ms", "u64"), 23: ("place", "u32"), 24: ("crashes", "u32"), 25: ("args", "texts"),
    26: ("traceparent", "text"), 31: ("owner-name", "text"), 32: ("node", "text"),
    33: ("exit-code", "u32"),
}
_OUTCOME: Dict[int, Tuple[str, Any]] = {
    0: ("class", "u32"), 1: ("done", "u64"), 2: ("failed", "u64"), 3: ("cancelled", "u64"), 4: ("expired", "u64"),
    5: ("buried", "u64"),
}
_DAEMON: Dict[int, Tuple[str, Any]] = {
    0: ("version", "text"), 1: ("scheduler", "text"), 2: ("pid", "u32"), 3: ("started-ms", "u64"),
    4: ("uptime-ms", "u64"), 5: ("draining", "bool"), 6: ("ready", "bool"), 7: ("not-ready", "text"),
    8: ("connections", "u64"), 9: ("strangers", "u64"), 10: ("accepted", "u64"), 11: ("in-flight", "u64"),
    12: ("held-back", "u64"), 13: ("spilled", "u64"), 14: ("malformed", "u64"), 15: ("busy", "u64"),
    16: ("credits", "u64"), 17: ("credits-used", "u64"), 18: ("byte-credits", "u64"),
    19: ("byte-credits-used", "u64"), 20: ("commands-running", "u64"), 21: ("commands-started", "u64"),
    22: ("memory-bytes", "u64"), 23: ("payload-bytes", "u64"), 24: ("cpu-ns", "u64"), 25: ("states", "u64s"),
    26: ("outcomes", [_OUTCOME]),
}
_CLUSTER: Dict[int, Tuple[str, Any]] = {
    0: ("node", "text"), 1: ("state", "u32"), 2: ("since-ms", "u64"), 3: ("reason", "text"), 4: ("promise", "text"),
    5: ("takes-durable", "bool"), 6: ("draining", "bool"), 7: ("nodes-here", "u32"), 8: ("nodes-draining", "u32"),
    9: ("nodes-gone", "u32"), 10: ("reports", "u64"), 11: ("reports-failed", "u64"), 12: ("connects", "u64"),
    13: ("away", "u64"), 14: ("held", "u64"), 15: ("guests", "u64"), 16: ("published", "u64"),
    17: ("away-ended", "u64"), 18: ("ends-found", "u64"), 19: ("delivered", "u64"), 20: ("redelivered", "u64"),
    21: ("guests-ended", "u64"), 22: ("late-ends", "u64"), 23: ("given-back", "u64"), 24: ("dead-letters", "u64"),
    25: ("failed", "u64"), 26: ("bytes-sent", "u64"), 27: ("bytes-received", "u64"), 28: ("rescued", "u64"),
    29: ("stolen", "u64s"), 30: ("steals-refused", "u64s"), 31: ("steals-lapsed", "u64"),
}
_PLACE_STATISTICS: Dict[int, Tuple[str, Any]] = {
    0: ("id", "u32"), 1: ("name", "text"), 2: ("cpus", "text"), 3: ("package", "u32"), 4: ("numa-node", "u32"),
    5: ("l3", "u32"), 6: ("l2", "u32"), 7: ("core", "u32"), 8: ("workers", "u32"), 9: ("active", "u32"),
    10: ("drained", "bool"), 11: ("hinted", "u64"), 12: ("executed", "u64"), 13: ("failed", "u64"),
    14: ("stolen-in", "u64"), 15: ("stolen-out", "u64"), 16: ("bytes", "u64"), 17: ("busy-ns", "u64"),
    18: ("backlog", "u64"), 19: ("steals-tried", "u64"), 20: ("steals-made", "u64"), 21: ("steals-refused", "u64s"),
    22: ("steals-lapsed", "u64"), 23: ("parks", "u64"), 24: ("wakes", "u64"), 25: ("queue-delay", "u64s"),
    26: ("queue-delay-ns", "u64"), 27: ("run-time", "u64s"), 28: ("run-time-ns", "u64"),
}
_STEALS: Dict[int, Tuple[str, Any]] = {
    0: ("place", "u32"), 1: ("distances", "u32s"), 2: ("steals", "u64s"), 3: ("items", "u64s"),
}
_SERVICE_STATISTICS: Dict[int, Tuple[str, Any]] = {
    0: ("name", "text"), 1: ("waiting", "u64"), 2: ("leased", "u64"), 3: ("done", "u64"), 4: ("failed", "u64"),
    5: ("cancelled", "u64"), 6: ("expired", "u64"), 7: ("buried", "u64"), 8: ("retried", "u64"),
    9: ("run-ns", "u64"), 10: ("queue-ns", "u64"),
}
_LIMIT_USER: Dict[int, Tuple[str, Any]] = {
    0: ("name", "text"), 1: ("used", "u64"), 2: ("value", "u64"),
}
_LIMIT: Dict[int, Tuple[str, Any]] = {
    0: ("name", "text"), 1: ("value", "u64"), 2: ("counted", "bool"), 3: ("used", "u64"), 4: ("busy", "u64"),
    5: ("users", [_LIMIT_USER]),
}
_JOURNAL: Dict[int, Tuple[str, Any]] = {
    0: ("state", "text"), 1: ("reason", "text"), 2: ("items", "u64"), 3: ("ended", "u64"), 4: ("damaged", "u64"),
    5: ("syncs", "u64"), 6: ("sync-time", "u64s"), 7: ("sync-time-ns", "u64"), 8: ("rows", "u64"),
    9: ("bytes", "u64"), 10: ("file-bytes", "u64"), 11: ("log-bytes", "u64"), 12: ("free-bytes", "u64"),
}
_PROCESS: Dict[int, Tuple[str, Any]] = {
    0: ("name", "text"), 1: ("services", "texts"), 2: ("places", "u32s"), 3: ("capacity", "u32"),
    4: ("leases", "u32"), 5: ("done", "u64"), 6: ("failed", "u64"), 7: ("lapsed", "u64"), 8: ("silent-ms", "u64"),
}
_STATISTICS: Dict[int, Tuple[str, Any]] = {
    0: ("sections", "u32"), 1: ("daemon", [_DAEMON]), 2: ("places", [_PLACE_STATISTICS]), 3: ("steals", [_STEALS]),
    4: ("services", [_SERVICE_STATISTICS]), 5: ("limits", [_LIMIT]), 6: ("journal", [_JOURNAL]),
    7: ("processes", [_PROCESS]), 8: ("cluster", [_CLUSTER]),
}
_SPAN: Dict[int, Tuple[str, Any]] = {
    0: ("number", "u64"), 1: ("traceparent", "text"), 2: ("parent", "text"), 3: ("tracestate", "text"),
    4: ("service", "text"), 5: ("item", "u64"), 6: ("class", "u32"), 7: ("accepted-ns", "u64"), 8: ("started-ns", "u64"),
    9: ("ended-ns", "u64"), 10: ("outcome", "u32"), 11: ("place", "u32"), 12: ("attempts", "u32"),
    13: ("exit-status", "u32"), 14: ("message", "text"),
}
_SCHEDULE: Dict[int, Tuple[str, Any]] = {
    0: ("name", "text"), 1: ("owner", "u64"), 2: ("calendar", "text"), 3: ("every-ms", "u64"), 4: ("zone", "text"),
    5: ("jitter-ms", "u64"), 6: ("missed", "u32"), 7: ("overlap", "u32"), 8: ("suspended", "bool"), 9: ("next-ms", "u64"),
    10: ("last-ms", "u64"), 11: ("item", "u64"), 12: ("state", "u32"), 13: ("runs", "u64"), 14: ("skipped", "u64"),
    15: ("service", "text"), 16: ("args", "texts"), 17: ("exit-code", "u32"), 18: ("node", "text"), 19: ("any-node", "bool"),
    20: ("place", "text"), 21: ("strict", "bool"),
}
_QUEUE: Dict[int, Tuple[str, Any]] = {
    0: ("name", "text"), 1: ("limit", "u32"), 2: ("priority", "u32"), 3: ("suspended", "bool"), 4: ("running", "u64"),
    5: ("waiting", "u64"),
}
_KEY: Dict[int, Tuple[str, Any]] = {
    0: ("name", "text"), 1: ("public", "text"), 2: ("roles", "text"), 3: ("any-service", "bool"), 4: ("services", "texts"),
    5: ("rate", "u64"), 6: ("owner", "u64"), 7: ("connections", "u32"), 8: ("seen-ms", "u64"),
}
_NODE_PLACE: Dict[int, Tuple[str, Any]] = {
    0: ("name", "text"), 1: ("cpus", "text"), 2: ("workers", "u32"), 3: ("backlog", "u64"),
}
_NODE: Dict[int, Tuple[str, Any]] = {
    0: ("name", "text"), 1: ("state", "u32"), 2: ("own", "bool"), 3: ("since-ms", "u64"), 4: ("silent-ms", "u64"),
    5: ("version", "text"), 6: ("incarnation", "text"), 7: ("workers", "u32"), 8: ("running", "u64"), 9: ("backlog", "u64"),
    10: ("labels", "texts"), 11: ("services", "texts"), 12: ("endpoints", "texts"), 13: ("places", [_NODE_PLACE]),
    14: ("away", "u64"), 15: ("guests", "u64"), 16: ("distance", "u32"),
}
_NODES: Dict[int, Tuple[str, Any]] = {
    0: ("node", "text"), 1: ("state", "u32"), 2: ("since-ms", "u64"), 3: ("reason", "text"), 4: ("servers", "text"),
    5: ("promise", "text"), 6: ("takes-durable", "bool"), 7: ("nodes", [_NODE]),
}
BODIES: Dict[str, Any] = {
    "MAP_REPLY": [_PLACE], "STATUS_REPLY": _STATUS, "SERVICES_REPLY": [_SERVICE], "WORKERS_REPLY": [_WORKER],
    "READY": [_SERVICE], "LIST_REPLY": [_KEPT], "SHOW_REPLY": [_KEPT],
    "STATISTICS_REPLY": _STATISTICS, "SPANS_REPLY": [_SPAN], "KEYS_REPLY": [_KEY], "SCHEDULES_REPLY": [_SCHEDULE],
    "QUEUES_REPLY": [_QUEUE], "NODES_REPLY": _NODES,
}


def _read_number(name: str, value: Any, most: int) -> int:
    if not _is_int(value):
        raise malformed("%s should be a number" % name)
    if not 0 <= value <= most:
        raise WireError(CODES["bad-argument" if value > most else "malformed"], "%s must be 0 to %d" % (name, most))
    return int(value)


def _read_field(name: str, kind: Any, value: Any, limits: Limits) -> Any:
    if kind == "u32" or kind == "u64":
        return _read_number(name, value, _U32 if kind == "u32" else _U64)
    if kind == "bool":
        if not isinstance(value, bool):
            raise malformed("%s should be true or false" % name)
        return value
    if kind == "text":
        if not isinstance(value, str):
            raise malformed("%s should be a string" % name)
        if len(value.encode()) > limits.max_string:
            raise too_large(name, len(value.encode()), "max-string", limits.max_string)
        return value
    if not isinstance(value, list) or isinstance(value, _Pairs):
        raise malformed("%s should be an array" % name)
    if len(value) > limits.max_entries:
        raise too_large(name, len(value), "max-entries", limits.max_entries)
    if kind == "u32s" or kind == "u64s":
        return [_read_number(name, element, _U32 if kind == "u32s" else _U64) for element in value]
    if kind == "texts":
        return [_read_field(name, "text", element, limits) for element in value]
    return [_read_record(name, kind[0], element, limits) for element in value]


def _read_record(name: str, record: Dict[int, Tuple[str, Any]], value: Any, limits: Limits) -> Dict[str, Any]:
    if not isinstance(value, _Pairs):
        raise malformed("%s should be a map" % name)
    out: Dict[str, Any] = {}
    for key, element in value:
        if not _is_int(key) or key < 0:
            raise malformed("a key of %s should be an unsigned number" % name)
        if key not in record:
            continue
        field, kind = record[key]
        if field in out:
            raise malformed("%s is there twice in %s" % (field, name))
        out[field] = _read_field(field, kind, element, limits)
    for field, _ in record.values():
        if field not in out:
            raise malformed("%s is missing in %s" % (field, name))
    return out


def decode_body(message: Message, limits: Limits = DEFAULT_LIMITS) -> Any:
    """The body of a message of one of the types in BODIES: dicts and lists, keys by their names."""
    kind = BODIES[message.type]
    value = _unpack(message.body, message.type, dataclasses.replace(limits, max_depth=max(limits.max_depth, 8)))
    if isinstance(kind, list):
        return _read_field(message.type, kind, value, limits)
    return _read_record(message.type, kind, value, limits)


def encode_services(services: Sequence[Tuple[str, str]]) -> bytes:
    """The body of READY: names and one line about each."""
    body: bytes = msgpack.packb([{0: name, 1: summary} for name, summary in services], use_bin_type=True)
    return body


@dataclasses.dataclass
class BatchItem:
    """An element of a BATCH: an item, or why it is refused by itself."""

    id: bytes
    message: Optional[Message]
    error: Optional[WireError] = None


def decode_batch(message: Message, limits: Limits = DEFAULT_LIMITS) -> List[BatchItem]:
    """The items of a BATCH; WireError if its structure is bad."""
    value = _unpack(message.body, "BATCH", dataclasses.replace(limits, max_depth=limits.max_depth + 2))
    if not isinstance(value, list) or isinstance(value, _Pairs) or not value:
        raise malformed("BATCH: the body should be an array of items")
    if len(value) > limits.max_batch:
        raise too_large("BATCH", len(value), "max-batch", limits.max_batch)
    items = []
    for element in value:
        if (not isinstance(element, list) or isinstance(element, _Pairs) or len(element) != 3
                or not isinstance(element[0], bytes) or len(element[0]) != ID_SIZE
                or not isinstance(element[1], _Pairs) or not isinstance(element[2], bytes)):
            raise malformed("BATCH: an element should be an id, a header and a payload")
        try:
            header = _read_header("SUBMIT", element[1], limits)
            _check_rules("SUBMIT", header)
            if len(element[2]) > limits.max_body:
                raise too_large("BATCH: payload", len(element[2]), "max-body", limits.max_body)
            items.append(BatchItem(element[0], Message("SUBMIT", element[0], header, element[2])))
        except WireError as error:
            items.append(BatchItem(element[0], None, error))
    return items


def decode_completions(message: Message, limits: Limits = DEFAULT_LIMITS) -> List[Message]:
    """The completions of a COMPLETIONS message: RESULT, and ERROR with `ends`."""
    value = _unpack(message.body, "COMPLETIONS", dataclasses.replace(limits, max_depth=limits.max_depth + 2))
    if not isinstance(value, list) or isinstance(value, _Pairs) or not value:
        raise malformed("COMPLETIONS: the body should be an array of completions")
    if len(value) > limits.max_batch:
        raise too_large("COMPLETIONS", len(value), "max-batch", limits.max_batch)
    completions = []
    for element in value:
        if (not isinstance(element, list) or isinstance(element, _Pairs) or len(element) != 4
                or not isinstance(element[0], bytes) or len(element[0]) != ID_SIZE or not _is_int(element[1])
                or not isinstance(element[2], _Pairs) or not isinstance(element[3], bytes)):
            raise malformed("COMPLETIONS: an element should be an id, a type, a header and a body")
        kind = _BY_NUMBER.get(element[1])
        if kind not in ("RESULT", "ERROR"):
            raise malformed("COMPLETIONS: an element is neither RESULT nor ERROR")
        header = _read_header(kind, element[2], limits)
        _check_rules(kind, header)
        if len(element[3]) > limits.max_body:
            raise too_large("COMPLETIONS: body", len(element[3]), "max-body", limits.max_body)
        if kind == "ERROR" and (element[3] or not header.get("ends")):
            raise malformed("COMPLETIONS: an ERROR has no body, and has `ends`")
        completions.append(Message(kind, element[0], header, element[3]))
    return completions


def encode_batch(items: Sequence[Message], limits: Limits = DEFAULT_LIMITS) -> bytes:
    """The body of a BATCH of SUBMIT messages."""
    packer = msgpack.Packer(use_bin_type=True)
    parts = [packer.pack_array_header(len(items))]
    for item in items:
        parts.append(packer.pack_array_header(3))
        parts.append(packer.pack(item.id))
        parts.append(pack_header("SUBMIT", item.header, limits))
        parts.append(packer.pack(item.body))
    return b"".join(parts)
