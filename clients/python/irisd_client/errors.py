# SPDX-License-Identifier: LGPL-2.1-or-later
"""What can go wrong."""
from __future__ import annotations

from typing import Dict, Optional

#: The protocol's codes and their names.
NAMES: Dict[int, str] = {
    1: "malformed", 2: "version", 3: "hello-required", 4: "unknown-type", 5: "unknown-service", 6: "no-such-place",
    7: "too-large", 8: "bad-argument", 9: "not-found", 10: "cancelled", 11: "no-such-command", 12: "unreadable-file",
    13: "shutting-down", 14: "service-failed", 15: "duplicate-id", 16: "busy", 17: "not-permitted", 18: "internal",
    19: "not-durable", 20: "journal-failed", 21: "no-such-item",
    22: "unknown-dependency", 23: "dependency-failed", 24: "ran-too-long",
    25: "no-such-lease", 26: "no-worker", 27: "worker-lost", 28: "time-limit", 29: "buried",
    30: "not-remembered", 32: "deadline-passed", 33: "key-revoked",
    34: "no-cluster", 35: "no-such-node", 36: "node-away",
}
CODES: Dict[str, int] = {name: code for code, name in NAMES.items()}


class IrisdError(Exception):
    """irisd has refused a request or an item has failed. `code` and `name` are the protocol's, the text is for people."""

    def __init__(self, code: int, message: str, name: Optional[str] = None, limit: Optional[str] = None,
                 retry_after: Optional[float] = None) -> None:
        super().__init__(message)
        self.code = code
        self.name = name if name is not None else NAMES.get(code, "unknown")
        self.message = message
        self.limit = limit
        self.retry_after = retry_after  # of `busy`: seconds, when to try again

    def __str__(self) -> str:
        return self.message


class Disconnected(IrisdError):
    """irisd does not answer, or has closed the connection."""

    def __init__(self, message: str) -> None:
        super().__init__(CODES["internal"], message, "disconnected")


class Refused(Disconnected):
    """irisd does not let this user or key in, so a later attempt is no use."""


class Failure(Exception):
    """Raise this in a service: the item fails, with this message, and is not tried again unless `again` is true."""

    def __init__(self, message: str, again: bool = False, code: Optional[int] = None) -> None:
        super().__init__(message)
        self.message = message
        self.again = again
        self.code = code


class WireError(IrisdError):
    """A message that breaks the protocol."""


def malformed(message: str) -> WireError:
    return WireError(CODES["malformed"], message)


def too_large(subject: str, value: int, limit: str, most: int) -> WireError:
    return WireError(CODES["too-large"], "%s of %d exceeds %s (%d)" % (subject, value, limit, most), None, limit)
