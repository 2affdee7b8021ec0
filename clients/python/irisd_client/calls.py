# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calls of Python functions as items: pickled, as concurrent.futures' processes have them.

Unpickling runs what the pickle says. So calls are served only over irisd's own sockets, which belong to one user.
"""
from __future__ import annotations

import pickle
import traceback
from typing import Any, Callable, Dict, Tuple

from .errors import Failure
from .worker import Job, Reply

CONTENT_TYPE = "application/x-python-pickle"


def pack_call(function: Callable[..., Any], args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> bytes:
    """The payload of a call. Functions travel by name: they must be found in a module that the worker can import."""
    return pickle.dumps((function, args, kwargs))


class RemoteTraceback(Exception):
    """Where in the worker it happened; the cause of the exception that a call raises."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return "\n\n" + self.text


def _pack_exception(error: BaseException) -> bytes:
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    try:
        packed = pickle.dumps((False, error, text))
        pickle.loads(packed)  # some can be written and not read
        return packed
    except Exception:
        return pickle.dumps((False, RuntimeError("%s: %s" % (type(error).__name__, error)), text))


def serve_call(job: Job) -> Reply:
    """The service: runs the call, and gives back what it returned or raised."""
    try:
        function, args, kwargs = pickle.loads(job.payload)
    except Exception as error:
        raise Failure("the call cannot be unpickled here (%s: %s): its function must be in a module that the worker can "
                      "import" % (type(error).__name__, error)) from None
    try:
        packed = pickle.dumps((True, function(*args, **kwargs), None))
    except Exception as error:
        packed = _pack_exception(error)
    return Reply(packed, CONTENT_TYPE)


def unpack_result(body: bytes) -> Any:
    """What a call returned; raises what it raised."""
    well, value, text = pickle.loads(body)
    if well:
        return value
    value.__cause__ = RemoteTraceback(text)
    raise value
