# SPDX-License-Identifier: LGPL-2.1-or-later
"""One connection to irisd: HELLO, requests and their answers, and heartbeats."""
from __future__ import annotations

import asyncio
import configparser
import os
import pathlib
import time
from typing import Any, Callable, Dict, List, Optional, cast

import zmq
import zmq.asyncio
from zmq.utils.monitor import parse_monitor_message

from . import wire
from .errors import CODES, Disconnected, IrisdError, Refused, WireError

#: Seconds that irisd may take to answer HELLO or a request.
ANSWER_TIMEOUT = 30.0
#: Seconds for which HELLO is said again to an irisd that has as many clients as it takes.
BUSY_TIMEOUT = 60.0
#: Seconds that what is left to be sent may take when a connection is closed.
LINGER_MS = 1000
# What is read of irisd, whose own limits are for others.
_TAKEN = wire.Limits(max_body=2**40, max_string=2**20, max_entries=65536, max_batch=65536)
# Of each HELLO.
_FEATURES = wire.FEATURE_COMPLETIONS | wire.FEATURE_TWO_FRAMES


def runtime_dir(directory: Optional[str] = None) -> pathlib.Path:
    """Where irisd's sockets are, as doc/protocol.md says."""
    if directory:
        return pathlib.Path(directory)
    if os.environ.get("IRIS_RUNTIME_DIR"):
        return pathlib.Path(os.environ["IRIS_RUNTIME_DIR"])
    if os.environ.get("XDG_RUNTIME_DIR"):
        return pathlib.Path(os.environ["XDG_RUNTIME_DIR"], "iris")
    if os.geteuid() == 0:
        return pathlib.Path("/run/iris")
    raise Disconnected("neither IRIS_RUNTIME_DIR nor XDG_RUNTIME_DIR says where irisd is: set one, or give an endpoint")


def front_endpoint(directory: Optional[str] = None) -> str:
    """irisd's endpoint."""
    return "ipc://%s/front.ipc" % runtime_dir(directory)


def _use_key(socket: Any, endpoint: str) -> str:
    """Gives the socket the key that `tcp://HOST:PORT?key=FILE` names; returns the endpoint without it."""
    plain, _, name = endpoint.partition("?key=")
    if not name:
        return endpoint
    path = pathlib.Path(name)
    if "/" not in name:
        config = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
        path = pathlib.Path(config, "iris", "keys", name if name.endswith(".key") else name + ".key")
    file = configparser.ConfigParser(delimiters=("=",), comment_prefixes=("#",), interpolation=None, strict=False)
    try:
        if path.stat().st_mode & 0o077:
            raise Disconnected("cannot use the key file %s: others may read it; take that from them (chmod 600)" % path)
        file.read_string(path.read_text())
        key = file["key"]
        socket.curve_publickey = key["public"].strip().encode()
        socket.curve_secretkey = key["secret"].strip().encode()
        socket.curve_serverkey = key["server"].strip().encode()
    except OSError as error:
        raise Disconnected("cannot use the key file %s: %s; irisctl key new makes one" % (path, error)) from None
    except (configparser.Error, KeyError, UnicodeDecodeError, zmq.ZMQError) as error:
        raise Disconnected("cannot use the key file %s: it needs public, secret and server in its group [key]: %s" % (path, error)) from None
    return plain


def _way_in(endpoint: str) -> str:
    if endpoint.startswith("tcp:"):
        return "it takes keys that its owner has allowed (irisctl key allow); name yours with tcp://HOST:PORT?key=FILE"
    return "ask its owner to name you under [access] users"


def error_of(message: wire.Message) -> IrisdError:
    """The error of an ERROR, BUSY or STOP."""
    header = message.header
    retry = header.get("retry-after-ms")
    return IrisdError(header["code"], header["message"], header["error-name"], header.get("limit"),
                      None if retry is None else retry / 1000)


class _Socket(zmq.asyncio.Socket):
    """pyzmq looks for events again after each send, in a later turn of the loop; it may be closed by then."""

    def _handle_events(self, fd: Any = 0, events: int = 0) -> None:
        if not self.closed:
            cast(Any, super())._handle_events(fd, events)


class Connection:
    """A DEALER socket that said HELLO. It belongs to one event loop.

    `on_message` gets what answers no request: completions, leases and the like. `on_lost` is called once when irisd does
    not answer any more, or has closed the connection; `on_pong` with the id of each PING that was answered. With a `session`
    irisd is asked to go on with it, and the end of the connection is noticed at once; `last_id` is the last id of the
    session's connection before.
    """

    def __init__(self, on_message: Callable[[wire.Message], None], on_lost: Callable[[Disconnected], None],
                 on_pong: Optional[Callable[[bytes], None]] = None, session: Optional[bytes] = None, last_id: int = 0) -> None:
        self._session = session
        self._on_message = on_message
        self._on_pong = on_pong
        self._on_lost = on_lost
        self._socket: Optional[zmq.asyncio.Socket] = None
        self._reader: Optional["asyncio.Task[None]"] = None
        self._coming: Optional["asyncio.Future[List[bytes]]"] = None  # the next message, until it is taken
        self._requests: Dict[bytes, "asyncio.Future[wire.Message]"] = {}
        self._last_id = last_id
        self._monitor: Optional["asyncio.Task[None]"] = None
        self._heard = 0.0
        self.limits = wire.DEFAULT_LIMITS
        self.welcome: Dict[str, Any] = {}

    async def _send_hello(self, name: str, busy_timeout: float) -> wire.Message:
        """Says HELLO; if irisd has as many clients as it takes, again for so many seconds."""
        until = time.monotonic() + busy_timeout
        while True:
            try:
                hello = {"version-min": wire.VERSION, "version-max": wire.VERSION,
                                                "features": _FEATURES, "name": name}
                if self._session is not None:
                    hello.update({"features": _FEATURES | wire.FEATURE_RESUME, "session": self._session})
                return await self.call("HELLO", hello)
            except IrisdError as error:
                if error.code != CODES["busy"] or time.monotonic() >= until:
                    raise
                await asyncio.sleep(error.retry_after or 0.1)

    async def open(self, endpoint: Optional[str], name: str, busy_timeout: float = BUSY_TIMEOUT) -> None:
        """Connects and says HELLO. Raises IrisdError if irisd does not welcome us, Disconnected if it does not answer."""
        self.welcome = {}
        endpoint = endpoint or front_endpoint()
        socket = _Socket(zmq.asyncio.Context.instance(), zmq.DEALER)
        socket.setsockopt(zmq.LINGER, LINGER_MS)
        socket.setsockopt(zmq.SNDHWM, 0)  # what bounds us is irisd's credit
        socket.setsockopt(zmq.RCVHWM, 0)
        self._socket = socket
        lost = zmq.EVENT_DISCONNECTED if self._session is not None else 0
        monitor = cast(zmq.asyncio.Socket, socket.get_monitor_socket(zmq.EVENT_HANDSHAKE_FAILED_AUTH | lost))
        self._monitor = asyncio.get_running_loop().create_task(self._watch(socket, monitor, endpoint))
        try:
            socket.connect(_use_key(socket, endpoint))
        except Disconnected:
            self.close()
            raise
        except zmq.ZMQError as error:
            self.close()
            raise Disconnected("cannot connect to %s: %s; is irisd running? (systemctl --user status irisd)" % (endpoint, error)) from None
        self._heard = time.monotonic()
        self._reader = asyncio.get_running_loop().create_task(self._read())
        try:
            answer = await self._send_hello(name, busy_timeout)
        except BaseException:
            self.close()
            raise
        self.welcome = answer.header
        self.limits = wire.Limits(max_body=answer.header["max-body"],
                                  max_batch=answer.header.get("max-batch", wire.DEFAULT_LIMITS.max_batch))

    @property
    def resumes(self) -> bool:
        """Whether irisd goes on with the session when it was started anew."""
        return bool(self.welcome.get("features", 0) & wire.FEATURE_RESUME)

    @property
    def is_open(self) -> bool:
        return self._socket is not None

    @property
    def last_id(self) -> int:
        return self._last_id

    async def _watch(self, socket: zmq.asyncio.Socket, monitor: zmq.asyncio.Socket, endpoint: str) -> None:
        """ZeroMQ would connect again by itself, to an irisd that knows nothing of this conversation, or that refuses it."""
        try:
            event = parse_monitor_message(await monitor.recv_multipart())["event"]
            if event == zmq.EVENT_HANDSHAKE_FAILED_AUTH:
                self.lose(Refused("irisd at %s does not let you in: %s" % (endpoint, _way_in(endpoint))))
                return
            self._take_the_last(socket)
            self.lose(Disconnected("the connection to irisd was lost"))
        except zmq.ZMQError as error:
            self.lose(Disconnected("the connection failed: %s" % error))
        finally:
            monitor.close()

    def _take_the_last(self, socket: zmq.asyncio.Socket) -> None:
        """Takes what had come before irisd closed the connection, also a message that the reader is about to be woken for."""
        if self._coming is not None and self._coming.done():
            self._take_coming()
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.cancel()
        plain: "zmq.Socket[bytes]" = zmq.Socket.shadow(socket.underlying)
        try:
            while self._socket is socket:
                self._take_frames(plain.recv_multipart(zmq.NOBLOCK))
        except zmq.Again:
            pass

    def next_id(self) -> bytes:
        self._last_id += 1
        return self._last_id.to_bytes(wire.ID_SIZE, "big")

    def send(self, kind: str, header: Optional[Dict[str, Any]] = None, body: bytes = b"", ident: Optional[bytes] = None) -> bytes:
        """Sends a message, and returns its id. WireError if it is beyond the limits; nothing was sent then."""
        ident = ident if ident is not None else self.next_id()
        frames = wire.encode(wire.Message(kind, ident, header or {}, body), self.limits)
        if self._socket is None:
            raise Disconnected("the connection is closed: open it again")
        if self.welcome.get("features", 0) & wire.FEATURE_TWO_FRAMES:
            frames = [b"".join(frames[:-1]), frames[-1]]
        self._socket.send_multipart(frames)  # there is always room, so this is done at once
        return ident

    async def call(self, kind: str, header: Optional[Dict[str, Any]] = None, body: bytes = b"",
                   timeout: float = ANSWER_TIMEOUT) -> wire.Message:
        """Asks, and returns the answer. IrisdError if that is ERROR or BUSY."""
        ident = self.next_id()
        answer: "asyncio.Future[wire.Message]" = asyncio.get_running_loop().create_future()
        self._requests[ident] = answer
        try:
            self.send(kind, header, body, ident)
            return await asyncio.wait_for(answer, timeout)
        except asyncio.TimeoutError:
            raise Disconnected("irisd does not answer %s: is it running? (systemctl --user status irisd)" % kind) from None
        finally:
            self._requests.pop(ident, None)

    @property
    def silence(self) -> float:
        """Seconds since irisd was heard."""
        return time.monotonic() - self._heard

    def lose(self, error: Disconnected) -> None:
        """Drops the connection."""
        if self._socket is None:
            return
        self.close(error)
        self._on_lost(error)

    def close(self, error: Optional[Disconnected] = None) -> None:
        """Closes the connection: sent messages go out, requests under way fail."""
        socket, self._socket = self._socket, None
        reader, self._reader = self._reader, None
        if reader is not None and reader is not _current_task():
            reader.cancel()
        for request in list(self._requests.values()):
            if not request.done():
                request.set_exception(error or Disconnected("the connection was closed"))
        if socket is not None:
            if self._monitor is not None:
                if self._monitor is not _current_task():
                    self._monitor.cancel()
                socket.disable_monitor()
            socket.close()

    async def _read(self) -> None:
        while self._socket is not None:
            try:
                coming = cast("asyncio.Future[List[bytes]]", self._socket.recv_multipart())
                self._coming = coming
                await coming
                self._take_coming()
            except zmq.ZMQError as error:
                self.lose(Disconnected("the connection failed: %s" % error))

    def _take_coming(self) -> None:
        coming, self._coming = self._coming, None
        if coming is not None:
            self._take_frames(coming.result())

    def _take_frames(self, frames: List[bytes]) -> None:
        self._heard = time.monotonic()
        try:
            message = wire.decode(frames, _TAKEN)
            for part in wire.decode_completions(message, _TAKEN) if message.type == "COMPLETIONS" else [message]:
                self._take(part)
        except WireError as error:
            if error.code != CODES["unknown-type"]:  # something newer, which we did not ask for
                self.lose(Disconnected("irisd sent what cannot be read: %s" % error))

    def _take(self, message: wire.Message) -> None:
        request = self._requests.get(message.id)
        if message.type == "ERROR" and message.header["code"] == CODES["hello-required"]:
            self.lose(Disconnected("irisd was started anew, or has dropped this connection"))
        elif request is not None and not request.done():
            if message.type in ("ERROR", "BUSY"):
                request.set_exception(error_of(message))
            else:
                request.set_result(message)
        elif message.type != "PONG":
            self._on_message(message)
        elif self._on_pong is not None:
            self._on_pong(message.id)


def _current_task() -> Optional["asyncio.Task[Any]"]:
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None
