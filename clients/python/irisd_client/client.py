# SPDX-License-Identifier: LGPL-2.1-or-later
"""A client of irisd for asyncio."""
from __future__ import annotations

import asyncio
import collections
import dataclasses
import secrets
import time
from types import TracebackType
from typing import Any, AsyncIterator, Callable, Deque, Dict, Generator, Iterable, List, Optional, Sequence, Tuple, Type, Union

from . import wire
from .connection import BUSY_TIMEOUT, Connection, error_of
from .errors import CODES, Disconnected, IrisdError, Refused, too_large
from .backoff import Backoff

#: Seconds between two looks whether irisd is still there, while something is in flight; after three it counts as gone.
PING_INTERVAL = 10.0

Payload = Union[bytes, bytearray, memoryview, str]
ProgressFunction = Callable[[Optional[float], Optional[str]], None]
PartFunction = Callable[[bytes, int], None]

#: Seconds that a backup of a large journal may take.
BACKUP_TIMEOUT = 3600.0

#: Seconds for which a client waits for an irisd that was lost, or ends, to be started anew.
RESUME_TIMEOUT = 60.0

#: The pauses between two tries, in seconds.
FIRST_PAUSE, LAST_PAUSE = 0.02, 1.0

#: Bytes of parts that may be under way to an item.
PARTS_WINDOW = 256 * 1024


@dataclasses.dataclass(frozen=True)
class Result:
    """The result of an item."""

    body: bytes
    content_type: Optional[str] = None
    home: Optional[int] = None
    place: Optional[int] = None
    worker: Optional[int] = None
    queue_ns: Optional[int] = None
    run_ns: Optional[int] = None
    n_bytes: Optional[int] = None
    exit_status: Optional[int] = None
    signal: Optional[int] = None
    stdout_length: Optional[int] = None
    truncated: bool = False
    item: Optional[int] = None  # its number, if it has one
    node: Optional[str] = None  # the other node where it ran, which has the place and the worker

    @property
    def stdout(self) -> bytes:
        """Of a command: its standard output."""
        return self.body if self.stdout_length is None else self.body[:self.stdout_length]

    @property
    def stderr(self) -> bytes:
        """Of a command: its standard error."""
        return b"" if self.stdout_length is None else self.body[self.stdout_length:]


@dataclasses.dataclass(frozen=True)
class Output:
    """A part of what a command wrote."""

    data: bytes
    offset: int  # how much it had written before; 0 again when it is tried again
    is_error: bool  # to standard error


def _result_of(message: wire.Message) -> Result:
    names = {field.name for field in dataclasses.fields(Result)}
    found = {"n_bytes" if name == "bytes" else name.replace("-", "_"): value for name, value in message.header.items()}
    return Result(message.body, **{name: value for name, value in found.items() if name in names})


def _given(header: Dict[str, Any]) -> Dict[str, Any]:
    """Without the keys that were left out."""
    return {name: value for name, value in header.items() if value is not None}


def to_bytes(payload: Payload) -> bytes:
    return payload.encode() if isinstance(payload, str) else bytes(payload)


class Item:
    """An item that was submitted. Await it for its Result."""

    def __init__(self, client: "Client", header: Dict[str, Any], payload: bytes, progress: Optional[ProgressFunction],
                 part: Optional[PartFunction] = None) -> None:
        self._client = client
        self.header = header
        self.payload = payload
        self.progress = progress
        self.part = part
        self.owed = 0  # bytes of parts that were taken and not granted anew
        self.id: Optional[bytes] = None  # while irisd has it
        self.order = 0  # among the client's
        self.sent_as: Optional[bytes] = None  # by which irisd finds what was perhaps sent before
        self.future: "asyncio.Future[Result]" = asyncio.get_running_loop().create_future()

    @property
    def persistent(self) -> bool:
        return bool(self.header.get("class", 0))

    def __await__(self) -> Generator[Any, None, Result]:
        return self._wait().__await__()

    async def _wait(self) -> Result:
        try:
            return await asyncio.shield(self.future)
        except asyncio.CancelledError:
            if not self.future.done():
                self.cancel()
            raise

    @property
    def done(self) -> bool:
        return self.future.done()

    def cancel(self) -> None:
        """Cancels the item: it fails with IrisdError `cancelled`, unless it ends first."""
        self._client._cancel(self)


class Client:
    """A connection to irisd that submits items.

        async with Client() as client:
            result = await client.submit("sha256", b"hello")

    It keeps to the credit that irisd grants: what goes beyond waits here, and what irisd has no room for is sent again, at first
    alone, after pauses that are at least what irisd asks for and grow up to two seconds; `busy_reason` tells what irisd has no room for; open() waits `busy_timeout` seconds at most for an irisd that has as many clients as it takes.
    All of it is for one event loop.
    """

    def __init__(self, endpoint: Optional[str] = None, *, name: str = "irisd_client 0.1",
                 busy_timeout: float = BUSY_TIMEOUT, resume_timeout: float = RESUME_TIMEOUT) -> None:
        self._endpoint = endpoint
        self._resume_timeout = resume_timeout
        self._session = bytes(secrets.choice(range(1, 256)) for _ in range(wire.SESSION_SIZE))
        self._last_id = 0
        self._going = False  # irisd ends: items wait for the next one
        self._welcomed: Optional[Connection] = None  # the last one, for its limits
        self._reconnecting: Optional["asyncio.Task[None]"] = None
        self._busy_timeout = busy_timeout
        self._name = name
        self._connection: Optional[Connection] = None
        self._waiting: Deque[Item] = collections.deque()
        self._in_flight: Dict[bytes, Item] = {}
        self._followed: Dict[bytes, "asyncio.Queue[Union[wire.Message, Disconnected]]"] = {}
        self._backoff = Backoff()
        self._resume: Optional[asyncio.TimerHandle] = None
        self._bytes = 0
        self._unacknowledged: List[bytes] = []
        self._n_items = 0
        self.busy_reason: Optional[str] = None  # while irisd refuses: what it has no room for
        self._pinger: Optional["asyncio.Task[None]"] = None

    async def open(self) -> "Client":
        await self._connect()
        return self

    async def _connect(self) -> None:
        session = self._session if self._resume_timeout > 0 else None
        connection = Connection(self._take, self._lost, self._pong, session, self._last_id)
        await connection.open(self._endpoint, self._name, self._busy_timeout)
        if not connection.is_open:  # irisd let it in, and ended before this task went on
            raise Disconnected("the connection to irisd was lost")
        self._connection = self._welcomed = connection
        self._going = False
        self._backoff = Backoff()
        if self._pinger is not None:
            self._pinger.cancel()
        self._pinger = asyncio.get_running_loop().create_task(self._ping_now_and_then())

    async def _reconnect(self) -> None:
        """Waits for the next irisd, and sends it what waits."""
        until, pause = time.monotonic() + self._resume_timeout, FIRST_PAUSE
        while self._connection is None:
            await asyncio.sleep(pause)
            pause = min(2 * pause, LAST_PAUSE)
            try:
                await asyncio.wait_for(self._connect(), max(0.0, until - time.monotonic()))
            except Refused as error:
                self._give_up(str(error))
                return
            except (Disconnected, asyncio.TimeoutError):
                if time.monotonic() >= until:
                    self._give_up("irisd has ended, and none has come in its place within %g seconds (resume_timeout): start it "
                                  "again; items that were sent may have run" % self._resume_timeout)
                    return
            except IrisdError as error:
                self._give_up("irisd was started anew, and does not let the client in: %s" % error)
                return
        self._reconnecting = None
        if self._welcomed is not None and not self._welcomed.resumes:
            self._fail_sent(Disconnected("irisd was started anew, and cannot tell what became of the item: it may have run"))
        self._pump()

    def _give_up(self, why: str) -> None:
        self._reconnecting = None
        self._fail_all(Disconnected(why))

    def _fail_sent(self, error: Disconnected) -> None:
        for item in [item for item in self._waiting if item.sent_as is not None]:
            self._waiting.remove(item)
            item.future.set_exception(error)
            item.future.exception()

    async def close(self) -> None:
        """Closes the connection. Items that have not ended fail."""
        self._acknowledge()
        connection, self._connection = self._connection, None
        if self._pinger is not None:
            self._pinger.cancel()
        if self._reconnecting is not None:
            self._reconnecting.cancel()
            self._reconnecting = None
        if connection is not None:
            connection.send("BYE")
            connection.close()
        self._fail_all(Disconnected("the client was closed before the item was done"))

    async def __aenter__(self) -> "Client":
        return await self.open()

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        await self.close()

    def _get(self) -> Connection:
        if self._connection is None:
            raise Disconnected("the client is not connected: call open() first, or again")
        return self._connection

    # --- items -------------------------------------------------------------------------------------

    def start(self, service: str, payload: Payload = b"", *, args: Sequence[Union[str, bytes]] = (),
              path: Union[str, bytes, None] = None, hint: Union[int, str, None] = None, strict: bool = False,
              near_item: Optional[int] = None, near_path: Union[str, bytes, None] = None,
              footprint: int = 0, keep_apart: bool = False,
              content_type: Optional[str] = None, progress: Optional[ProgressFunction] = None,
              part: Optional[PartFunction] = None, numbered: bool = False, wait_for_service: bool = False,
              deadline: Optional[float] = None, traceparent: Optional[str] = None,
              tracestate: Optional[str] = None, klass: int = 0, key: Union[str, bytes, None] = None,
              queue: Optional[str] = None, node: Optional[str] = None, any_node: bool = False) -> Item:
        """Submits an item and returns at once.

        `hint` is the number or the name of a place; `near_item` is the number of an item, and `near_path` a path: it runs
        where that one was last. `footprint` says roughly how many bytes of memory the item will touch, and `keep_apart` that
        it shares them with no other item: without a hint it runs where the least memory is declared. Worker processes
        ignore both. With `numbered` the item gets a number, which is in the Result. `progress` is called with a fraction of 1 and a note, either may be None; `part` with parts of the result, as a worker process
        gives them, and a number that grows when another worker has the item, whose parts begin anew.
        With `wait_for_service` the item waits for the first worker of a service that irisd does not know; after
        `deadline` seconds an item that has not begun fails with `deadline-passed`. `traceparent` makes the item a span of a
        distributed trace, as W3C Trace Context has it, and `tracestate` is passed on with it. `klass` is how well it survives
        irisd: 0 volatile, 1 relaxed, 2 durable. Relaxed and durable items go on when irisd is started anew, and run once; volatile
        ones that it had fail. `key` makes two submissions the same persistent item. `queue` is the named queue that it waits in,
        which set_queue() makes. `node` names another node of irisd's cluster, `hint` is then the name of a place there, and
        strict means there only; with `any_node` the cluster chooses.
        """
        if keep_apart and footprint == 0:
            raise ValueError("an item can be kept apart only by the memory that it declares: add footprint, the bytes "
                             "that it will touch, or leave out keep_apart")
        connection = self._welcomed if self._reconnecting is not None and self._welcomed is not None else self._get()
        header = _given({
            "class": klass or None, "key": key, "queue": queue, "service": service, "quiet": not numbered, "wait-for-service": wait_for_service or None,
            "deadline-ms": None if deadline is None else max(1, round(deadline * 1000)),
            "hint-name": hint if isinstance(hint, str) else None, "hint": None if isinstance(hint, str) else hint,
            "near-item": near_item, "near-path": near_path, "strict": strict or None, "content-type": content_type,
            "traceparent": traceparent, "tracestate": tracestate, "footprint": footprint or None, "keep-apart": keep_apart or None,
            "node": node, "any-node": any_node or None,
            "args": list(args) or None, "path": path, "progress": True if progress is not None else None,
            "parts": PARTS_WINDOW if part is not None else None})
        body = to_bytes(payload)
        most = min(connection.welcome["max-body"], connection.welcome["byte-credits"])
        if len(body) > most:
            raise too_large("the payload", len(body), "max-body", most)
        wire.pack_header("SUBMIT", header, connection.limits)
        item = Item(self, header, body, progress, part)
        self._n_items += 1
        item.order = self._n_items
        self._waiting.append(item)
        self._pump()
        return item

    async def submit(self, service: str, payload: Payload = b"", **options: Any) -> Result:
        """Submits an item and waits for its end. The options are those of start(). Raises IrisdError if it fails."""
        return await self.start(service, payload, **options)

    async def map(self, service: str, payloads: Iterable[Payload], **options: Any) -> AsyncIterator[Result]:
        """Submits an item for each payload, and yields the results in their order."""
        items: List[Item] = [self.start(service, payload, **options) for payload in payloads]
        try:
            for item in items:
                yield await item
        finally:
            for item in items:
                if not item.done:
                    item.cancel()

    def _pump(self) -> None:
        """Sends waiting items, as far as credit allows."""
        connection = self._connection
        self._send_some(connection)
        if connection is not None and self._connection is connection and self._backoff.wants_probe:
            self._backoff.probe = connection.send("PING")

    def _send_some(self, connection: Optional[Connection]) -> None:
        while connection is not None and not self._going and self._waiting and self._backoff.allows(time.monotonic()):
            item = self._waiting[0]
            if (len(self._in_flight) + len(self._unacknowledged) >= connection.welcome["credits"]
                    or (self._in_flight and self._bytes + len(item.payload) > connection.welcome["byte-credits"])):
                return
            self._waiting.popleft()
            again = item.sent_as is not None
            item.id = item.sent_as if item.sent_as is not None else connection.next_id()
            item.sent_as = None
            self._in_flight[item.id] = item
            self._bytes += len(item.payload)
            connection.send("SUBMIT", {**item.header, "session": self._session} if again else item.header, item.payload, item.id)
            self._backoff.note_sent()

    def _cancel(self, item: Item) -> None:
        if item.future.done():
            return
        if item.id is not None:
            self._get().send("CANCEL", {"target": item.id})
            return
        if item in self._waiting:
            self._waiting.remove(item)
        item.future.set_exception(IrisdError(CODES["cancelled"], "the item was cancelled before it was sent"))

    def _pong(self, ident: bytes) -> None:
        if self._backoff.probed(ident):
            self.busy_reason = None
            self._pump()

    def _put_off(self, item: Item, message: wire.Message) -> bool:
        """Whether irisd ends and has not run the item, which waits for the next one."""
        if (message.type != "ERROR" or message.header["code"] != CODES["shutting-down"] or self._connection is None
                or not self._connection.resumes):
            return False
        if message.header.get("ends"):
            if not (self._going and item.persistent):
                return False
            item.sent_as = message.id
        self._going = True
        self._wait_in_order(item)
        return True

    def _wait_in_order(self, item: Item) -> None:
        place = next((i for i, other in enumerate(self._waiting) if other.order > item.order), len(self._waiting))
        self._waiting.insert(place, item)

    def _take(self, message: wire.Message) -> None:
        if message.type == "GOING":
            self._going = True
            return
        item = self._in_flight.get(message.id)
        if item is None:
            if message.id in self._followed:
                self._followed[message.id].put_nowait(message)
            return
        if message.type == "PROGRESS":
            if item.progress is not None:
                fraction = message.header.get("fraction")
                item.progress(None if fraction is None else fraction / wire.WHOLE, message.header.get("note"))
            return
        if message.type == "PART":
            self._take_part(item, message)
            return
        if message.type not in ("RESULT", "ERROR", "BUSY"):
            return
        del self._in_flight[message.id]
        self._bytes -= len(item.payload)
        item.id = None
        if message.type == "BUSY":
            self._retry_later(item, message)
            return
        if message.type == "RESULT" or message.header.get("ends"):
            if not self._unacknowledged:
                asyncio.get_running_loop().call_soon(self._acknowledge)
            self._unacknowledged.append(message.id)
        if item.future.done() or self._put_off(item, message):
            pass
        else:
            if message.type == "RESULT":
                item.future.set_result(_result_of(message))
            else:
                item.future.set_exception(error_of(message))
                item.future.exception()  # marked as seen: the item need not be awaited
        self._pump()

    def _take_part(self, item: Item, message: wire.Message) -> None:
        if item.part is not None:
            item.part(message.body, message.header.get("attempt", 1))
        item.owed += len(message.body)
        if item.owed >= PARTS_WINDOW // 2 and self._connection is not None and item.id is not None:
            self._connection.send("MORE", {"target": item.id, "grant": item.owed})
            item.owed = 0

    def _acknowledge(self) -> None:
        ended, self._unacknowledged = self._unacknowledged, []
        if self._connection is not None and ended:
            self._connection.send("ACK", {"target": ended[-1], "count": len(ended)})
            self._pump()

    def _retry_later(self, item: Item, message: wire.Message) -> None:
        now = time.monotonic()
        self._backoff.refused(now, message.header.get("retry-after-ms", 100) / 1000)
        self.busy_reason = message.header["message"]
        self._wait_in_order(item)
        if self._resume is not None:
            self._resume.cancel()
        self._resume = asyncio.get_running_loop().call_later(self._backoff.resume_at - now, self._pump)

    def _lost(self, error: Disconnected) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return  # it was never there: open() fails
        self._last_id = connection.last_id
        if not connection.resumes:
            self._fail_all(error)
            return
        kept = [item for item in self._in_flight.values() if item.persistent and not item.future.done()]
        for item in kept:
            del self._in_flight[item.id or b""]
            item.sent_as, item.id, item.owed = item.id, None, 0
        waiting = sorted([*self._waiting, *kept], key=lambda item: item.order)
        self._waiting.clear()
        self._fail_all(error)
        self._waiting.extend(waiting)
        self._reconnecting = asyncio.get_running_loop().create_task(self._reconnect())

    def _fail_all(self, error: Disconnected) -> None:
        items = [*self._in_flight.values(), *self._waiting]
        if self._resume is not None:
            self._resume.cancel()
        self.busy_reason = None
        self._in_flight.clear()
        self._waiting.clear()
        self._bytes = 0
        self._unacknowledged = []
        for messages in self._followed.values():
            messages.put_nowait(error)
        for item in items:
            if not item.future.done():
                item.future.set_exception(error)
                item.future.exception()

    async def _ping_now_and_then(self) -> None:
        while self._connection is not None:
            await asyncio.sleep(PING_INTERVAL)
            connection = self._connection
            if connection is None or not (self._in_flight or self._followed):
                continue
            if connection.silence > 3 * PING_INTERVAL:
                connection.lose(Disconnected("irisd does not answer any more"))
                return
            connection.send("PING")

    # --- queries -----------------------------------------------------------------------------------

    async def _ask(self, kind: str) -> Any:
        return wire.decode_body(await self._get().call(kind), wire.Limits(max_entries=65536))

    async def places(self) -> List[Dict[str, Any]]:
        """The places, as MAP_REPLY has them."""
        places: List[Dict[str, Any]] = await self._ask("MAP")
        return places

    async def services(self) -> List[Dict[str, str]]:
        """What items can name: `name` and `summary` of each."""
        services: List[Dict[str, str]] = await self._ask("SERVICES")
        return services

    async def status(self) -> Dict[str, Any]:
        """The counters, as STATUS_REPLY has them."""
        status: Dict[str, Any] = await self._ask("STATUS")
        return status

    async def statistics(self, sections: Optional[int] = None) -> Dict[str, Any]:
        """All that irisd counts, as STATISTICS_REPLY has it; `sections` are the bits of the ones that are wanted, all by default."""
        header = {} if sections is None else {"sections": sections}
        reply = await self._get().call("STATISTICS", header)
        statistics: Dict[str, Any] = wire.decode_body(reply, wire.Limits(max_entries=65536))
        return statistics

    async def spans(self, offset: int = 0) -> Tuple[List[Dict[str, Any]], int]:
        """Items that have ended and belong to traces that are recorded, from number `offset` on, and where to go on from."""
        reply = await self._get().call("SPANS", {"offset": offset})
        spans: List[Dict[str, Any]] = wire.decode_body(reply, wire.DEFAULT_LIMITS)
        return spans, reply.header["offset"]

    async def keys(self) -> List[Dict[str, Any]]:
        """The keys of clients over TCP and their use, as KEYS_REPLY has them. For operators."""
        keys: List[Dict[str, Any]] = await self._ask("KEYS")
        return keys

    async def workers(self) -> List[Dict[str, Any]]:
        """The worker processes, as WORKERS_REPLY has them."""
        workers: List[Dict[str, Any]] = await self._ask("WORKERS")
        return workers

    async def items(self, *, states: Iterable[int] = (), service: Optional[str] = None, klass: Optional[int] = None,
                    key_prefix: Union[str, bytes, None] = None, since_ms: int = 0, until_ms: int = 0,
                    descending: bool = False, page: int = 0, with_args: bool = False,
                    queue: Optional[str] = None) -> AsyncIterator[Dict[str, Any]]:
        """Yields the persistent items that meet all conditions, as LIST_REPLY has them.

        A user gets its own items, an operator those of all users, each with its `owner`. `with_args` adds the `args` of
        items that have not ended."""
        found = {"states": sum(1 << state for state in set(states)), "service": service, "class": klass,
                 "key-prefix": key_prefix, "since-ms": since_ms, "until-ms": until_ms, "descending": descending,
                 "count": page, "payload": with_args, "queue": queue}
        header = {name: value for name, value in found.items() if value}
        while True:
            answer = await self._get().call("LIST", header)
            for item in wire.decode_body(answer, wire.Limits(max_entries=65536)):
                yield item
            if "item" not in answer.header:
                return
            header["item"] = answer.header["item"]

    async def follow(self, number: int, offset: int = 0) -> AsyncIterator[Output]:
        """What a persistent command writes, from its beginning or `offset` on, as it comes, until the command ends.

        An offset beyond the end of the part before says that what lies between was not kept. The command waits for none of
        its followers, and leaving the loop does not end it."""
        connection = self._get()
        ident, owed, ended = connection.next_id(), 0, False
        messages: "asyncio.Queue[Union[wire.Message, Disconnected]]" = asyncio.Queue()
        self._followed[ident] = messages
        try:
            connection.send("FOLLOW", _given({"item": number, "offset": offset or None, "grant": PARTS_WINDOW}), b"", ident)
            while True:
                message = await messages.get()
                ended = isinstance(message, Disconnected) or message.type != "OUTPUT"
                if isinstance(message, Disconnected):
                    raise message
                if message.type == "FOLLOWED":
                    return
                if ended:
                    raise error_of(message)
                yield Output(message.body, message.header["offset"], message.header["channel"] == 2)
                owed += len(message.body)
                if owed >= PARTS_WINDOW // 2:
                    connection.send("MORE", {"target": ident, "grant": owed})
                    owed = 0
        finally:
            del self._followed[ident]
            if not ended and self._connection is connection:
                connection.send("MORE", {"target": ident, "grant": 0})

    async def cancel_item(self, number: int) -> bool:
        """Cancels an item by its number; of another user, as an operator only. Returns whether it was running."""
        answer = await self._get().call("CANCEL", {"item": number})
        return bool(answer.header["state"] == 2)

    # --- what can be changed, by irisd's owner ------------------------------------------------------

    async def _change(self, kind: str, header: Dict[str, Any]) -> int:
        count: int = (await self._get().call(kind, header)).header["count"]
        return count

    async def kick(self, item: Optional[int] = None, *, state: Optional[str] = None, count: Optional[int] = None) -> int:
        """Queues a buried or delayed item, or at most `count` in that `state` (`buried`, `delayed`).

        Returns how many were changed: 0 for an item that is queued already. To kick all in a state, call until it returns 0."""
        number = None if state is None else {"delayed": 6, "buried": 8}[state]
        return await self._change("KICK", _given({"item": item, "state": number, "count": count}))

    async def bury(self, item: int, message: Optional[str] = None) -> int:
        """Sets a waiting item aside, with a reason. Returns 0 if it is buried already, else 1."""
        return await self._change("BURY", _given({"item": item, "message": message}))

    async def suspend(self, item: int, message: Optional[str] = None) -> int:
        """Has an item wait until it is resumed, or stops the processes of a command. Returns 0 if it is suspended already, else 1."""
        return await self._change("SUSPEND", _given({"item": item, "message": message}))

    async def resume(self, item: int) -> int:
        """Lets a suspended item go on. Returns 0 if it is not suspended, else 1."""
        return await self._change("RESUME", {"item": item})

    async def edit(self, item: int, **changes: Any) -> None:
        """Changes a persistent item that waits. The changes are named like the keys of EDIT in the protocol, with _ for -: args, priority,
        delay_ms, at_ms, deadline_ms, retries, hint, hint_name, strict, keep_ms, bury and so on. What is not named stays."""
        await self._change("EDIT", {"item": item, **{name.replace("_", "-"): value for name, value in changes.items()}})

    async def again(self, item: int, **changes: Any) -> int:
        """Submits a persistent item once more, also one that has ended, as a new, detached one. The changes are delay_ms, at_ms,
        priority and key, without which it has none. Returns the number of the new item."""
        header = {"item": item, **{name.replace("_", "-"): value for name, value in changes.items()}}
        number: int = (await self._get().call("AGAIN", header)).header["item"]
        return number

    async def drain(self, place: int, drained: bool = True) -> int:
        """Stops a place from taking items, or, with `drained` false, lets it take items again. Returns 0 if that was so, else 1."""
        return await self._change("DRAIN", {"place": place, "drained": drained})

    async def set_workers(self, place: int, workers: int) -> int:
        """Sets how many workers of a place run items, from 1 to as many as it has. Returns 0 if that was so, else 1."""
        return await self._change("SET_WORKERS", {"place": place, "workers": workers})

    async def reload(self) -> List[str]:
        """Has irisd read its configuration and its keys again: returns a line for each setting that changed, or that needs irisd started again."""
        text: str = (await self._get().call("RELOAD")).header.get("message", "")
        return text.splitlines()

    async def backup(self, path: str) -> int:
        """Has irisd copy its journal to a new directory, an absolute path of its machine. Returns how many items it has."""
        count: int = (await self._get().call("BACKUP", {"path": path}, timeout=BACKUP_TIMEOUT)).header["count"]
        return count

    async def set_schedule(self, name: str, service: Optional[str] = None, payload: Payload = b"", *,
                           args: Sequence[Union[str, bytes]] = (), item: Optional[Dict[str, Any]] = None,
                           calendar: Optional[str] = None, every: Optional[float] = None, zone: Optional[str] = None,
                           jitter: Optional[float] = None, missed: Optional[str] = None, overlap: Optional[str] = None,
                           suspended: Optional[bool] = None) -> None:
        """Makes a schedule, or changes the one of that name; what is left out stays as it was, or as irisd has it.

        Each run is a durable item of `service` with `args` and `payload`; `item` is more of its header, by the protocol's
        names, such as `node`. `calendar` is a line as crontab(5) has them, in the time `zone`; or `every` so many seconds. `missed` runs are
        made up for by one (`once`) or left out (`skip`). While a run has not ended the next one is left out (`skip`), waits
        for its end (`wait`), or begins beside it (`allow`).
        """
        header = _given({
            "schedule": name, "calendar": calendar, "every-ms": None if every is None else round(every * 1000), "zone": zone,
            "jitter-ms": None if jitter is None else round(jitter * 1000), "suspended": suspended,
            "missed": None if missed is None else {"skip": 1, "once": 2}[missed],
            "overlap": None if overlap is None else {"allow": 1, "skip": 2, "wait": 3}[overlap]})
        body = b""
        if service is not None:
            submit = dict(item or {}, service=service)
            if args:
                submit["args"] = list(args)
            body = wire.encode_batch([wire.Message("SUBMIT", bytes(15) + b"\x01", submit, to_bytes(payload))])
        await self._get().call("SCHEDULE", header, body)

    async def remove_schedule(self, name: str) -> None:
        """Removes a schedule; items of its runs stay."""
        await self._get().call("SCHEDULE", {"schedule": name, "remove": True})

    async def run_schedule(self, name: str) -> None:
        """Begins a run of a schedule beside those that are due."""
        await self._get().call("SCHEDULE", {"schedule": name, "count": 1})

    async def schedules(self, name: Optional[str] = None) -> List[Dict[str, Any]]:
        """The schedules, as SCHEDULES_REPLY has them, or only the one of that name."""
        found: List[Dict[str, Any]] = []
        header: Dict[str, Any] = {} if name is None else {"schedule": name}
        while True:
            reply = await self._get().call("SCHEDULES", header)
            found += wire.decode_body(reply, wire.DEFAULT_LIMITS)
            if "key" not in reply.header:
                return found
            header["key"] = reply.header["key"]

    async def set_queue(self, name: str, *, limit: Optional[int] = None, priority: Optional[int] = None,
                        suspended: Optional[bool] = None) -> int:
        """Makes a named queue, or changes the one of that name; what is left out stays as it was. For operators.

        At most `limit` of its items run at once, 0 for as many as can; `priority` is that of items that say none. Returns 0
        if nothing had to be changed, else 1."""
        return await self._change("QUEUE", _given({"queue": name, "queue-limit": limit, "priority": priority, "suspended": suspended}))

    async def remove_queue(self, name: str) -> None:
        """Removes a named queue, which must have no items."""
        await self._change("QUEUE", {"queue": name, "remove": True})

    async def queues(self) -> List[Dict[str, Any]]:
        """The named queues, as QUEUES_REPLY has them."""
        queues: List[Dict[str, Any]] = await self._ask("QUEUES")
        return queues

    async def nodes(self) -> Dict[str, Any]:
        """The nodes of the cluster and what this irisd is among them, as NODES_REPLY has them; its `state` is 0 without a cluster."""
        nodes: Dict[str, Any] = await self._ask("NODES")
        return nodes

    async def drain_node(self, node: str, drained: bool = True) -> int:
        """Stops a node of the cluster from taking items of others, or, with `drained` false, lets it take some again. Returns 0 if that was so, else 1."""
        return await self._change("NODE", {"node": node, "drained": drained})

    async def remove_node(self, node: str) -> int:
        """Removes a node that is gone and does not come back. Returns 0 if it was removed before, else 1."""
        return await self._change("NODE", {"node": node, "remove": True})

    async def check_cluster(self, make: bool = False) -> List[str]:
        """Compares the streams of the cluster with what they ought to be, and with `make` makes those that are missing. Returns lines that begin with `made`, `fault`, `server` or `promise`."""
        text: str = (await self._get().call("CLUSTER_INIT" if make else "CLUSTER_CHECK")).header.get("message", "")
        return text.splitlines()

    async def ping(self) -> None:
        await self._get().call("PING")
