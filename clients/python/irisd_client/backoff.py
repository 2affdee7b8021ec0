# SPDX-License-Identifier: LGPL-2.1-or-later
"""When, and with how much, a client comes back to an irisd that was too busy."""
from __future__ import annotations

import random
from typing import Optional

#: The longest pause in seconds, unless irisd asks for a longer one.
MOST_PAUSE = 2.0

#: A window of more than any credit is none.
MOST_WINDOW = 4096


class Backoff:
    """Backing off, as libiris-client does it.

    After a refusal nothing is sent before irisd said, and with each further one the pause is twice as long; up to half a pause
    comes on top by chance. Then one item may go, with a PING behind it. irisd answers in order, so a PONG without a BUSY
    before it says that the item was taken, and twice as many may go.
    """

    def __init__(self) -> None:
        self.resume_at = 0.0
        self.probe: Optional[bytes] = None  # the id of the PING
        self._pause = 0.0
        self._window = 0  # 0: credit alone decides
        self._sent = 0

    def refused(self, now: float, retry_after: float) -> None:
        """Items were refused. Those that were sent together count once."""
        self.probe = None
        pause = max(retry_after, 0.001)
        if self.resume_at > now:
            self.resume_at = max(self.resume_at, now + pause)
            return
        if self._pause > 0:
            pause = max(pause, min(self._pause * 2, MOST_PAUSE))
        self._pause = pause
        self._window = 1
        self._sent = 0
        self.resume_at = now + pause + random.random() * pause / 2

    def allows(self, now: float) -> bool:
        """Whether another item may go now."""
        return now >= self.resume_at and self.probe is None and (self._window == 0 or self._sent < self._window)

    def note_sent(self) -> None:
        self._sent += 1

    @property
    def wants_probe(self) -> bool:
        """Whether a PING has to follow what was sent; its id becomes `probe`."""
        return self._window > 0 and self._sent > 0 and self.probe is None

    def probed(self, ident: bytes) -> bool:
        """A PING was answered. Returns whether that says that irisd takes items again."""
        if self.probe is None or ident != self.probe:
            return False
        self._window = self._window * 2 if self._window < MOST_WINDOW else 0
        self._pause = 0.0
        self._sent = 0
        self.probe = None
        return True
