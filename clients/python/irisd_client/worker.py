# SPDX-License-Identifier: LGPL-2.1-or-later
"""A worker process: serves items that irisd leases it."""
from __future__ import annotations

import asyncio
import collections
import concurrent.futures
import dataclasses
import inspect
import logging
import os
import threading
import time
from typing import Any, Awaitable, Callable, Deque, Dict, List, Optional, Tuple, Union, cast

from . import wire
from .connection import Connection
from .errors import CODES, Disconnected, Failure, IrisdError, WireError

#: Seconds until the first attempt to connect again, and the longest pause between two.
FIRST_PAUSE = 0.1
LAST_PAUSE = 5.0

#: Bytes of one REPORT; a part that is longer goes in several.
MOST_PART = 64 * 1024

_log = logging.getLogger("irisd_client.worker")


@dataclasses.dataclass(frozen=True)
class Reply:
    """A result with its content type."""

    body: Union[bytes, str]
    content_type: Optional[str] = None


Answer = Union[bytes, str, Reply, None]

#: The type, header, body and id of what is sent.
Message = Tuple[str, Dict[str, Any], bytes, bytes]


class Job:
    """An item that is leased to this worker process. Its methods may be called from any thread."""

    def __init__(self, worker: "Worker", lease: wire.Message) -> None:
        self._worker = worker
        self.id = lease.id
        self.service: str = lease.header["service"]
        self.payload: bytes = lease.body
        self.content_type: Optional[str] = lease.header.get("content-type")
        self.args: List[bytes] = lease.header.get("args", [])
        self.path: Optional[bytes] = lease.header.get("path")
        #: The item's span in a distributed trace, as W3C Trace Context has it, and what tracing systems have added.
        self.traceparent: Optional[str] = lease.header.get("traceparent")
        self.tracestate: Optional[str] = lease.header.get("tracestate")
        #: How many times the item was leased, this time included; above 1, some of it may have been done before.
        self.attempt: int = lease.header["attempt"]
        #: Whether the client wants reports of progress.
        self.wants_progress: bool = lease.header.get("progress", False)
        #: Whether the client takes parts of the result as they come.
        self.wants_parts: bool = "parts" in lease.header
        self.lease_ms: int = lease.header["lease-ms"]
        self._until = time.monotonic() + self.lease_ms / 1000  # then irisd gives the item to others
        self._credit: int = lease.header.get("parts", 0)  # bytes of parts that may be sent; of the event loop
        self._pending: Deque[bytes] = collections.deque()
        self._sent = threading.Condition()  # guards what follows
        self._n_pending = 0  # bytes of parts that were not sent yet
        self._waiters: List["asyncio.Future[None]"] = []  # of drain()
        self._stopped = threading.Event()
        self.stop_reason: Optional[str] = None
        self.task: Optional["asyncio.Task[None]"] = None

    @property
    def stopped(self) -> bool:
        """Whether the item is not wanted any more. Stop then; the result is dropped."""
        return self._stopped.is_set()

    def wait_stopped(self, timeout: Optional[float] = None) -> bool:
        """Waits until the item is not wanted any more, at most `timeout` seconds. Returns whether that is so."""
        return self._stopped.wait(timeout)

    def report(self, fraction: Optional[float] = None, note: Optional[str] = None) -> None:
        """Reports progress: a fraction of 1, and a few words."""
        header: Dict[str, Any] = {}
        if fraction is not None:
            header["fraction"] = round(min(max(fraction, 0.0), 1.0) * wire.WHOLE)
        if note is not None:
            header["note"] = note
        if self.wants_progress:
            self._worker._post("REPORT", header, self.id)

    def send_part(self, part: Union[bytes, str]) -> None:
        """Sends a part of the result, if the client wants parts.

        In a thread this waits until the client takes it. In the event loop it returns at once and the part is sent
        later: await drain() there, to be no faster than the client. The client may get the same bytes cut at other
        points.
        """
        data = part.encode() if isinstance(part, str) else bytes(part)
        loop = self._worker._loop
        if not data or not self.wants_parts or self.stopped or loop is None:
            return
        with self._sent:
            self._n_pending += len(data)
        loop.call_soon_threadsafe(self._queue_part, data)
        try:
            inside = asyncio.get_running_loop() is loop
        except RuntimeError:
            inside = False
        if not inside:
            with self._sent:
                self._sent.wait_for(lambda: self._n_pending == 0 or self.stopped)

    async def drain(self) -> None:
        """Waits until all parts have been sent, or the item is not wanted any more."""
        while self._n_pending > 0 and not self.stopped:
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            await waiter

    def _queue_part(self, data: bytes) -> None:
        self._pending.append(data)
        self._flush()

    def _grant(self, n_bytes: int) -> None:
        self._credit += n_bytes
        self._flush()

    def _flush(self) -> None:
        """Sends what credit allows. In the event loop."""
        while self._pending and self._credit > 0 and not self.stopped:
            data = self._pending.popleft()
            size = min(len(data), self._credit, MOST_PART)
            if size < len(data):
                self._pending.appendleft(data[size:])
            if not self._worker._report_part(self.id, data[:size]):
                return  # the connection has gone, and the item with it
            self._credit -= size
            with self._sent:
                self._n_pending -= size
                self._sent.notify_all()
        if self._n_pending == 0 or self.stopped:
            self._wake_waiters()

    def _wake_waiters(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    def extend(self, milliseconds: Optional[int] = None) -> None:
        """Extends the lease to this long from now; at most, and by default, to the length of a lease."""
        self._worker._extend(self, self.lease_ms if milliseconds is None else min(milliseconds, self.lease_ms))

    def _stop(self, reason: str) -> None:
        self.stop_reason = reason
        self._stopped.set()
        with self._sent:
            self._sent.notify_all()
        self._wake_waiters()
        if self.task is not None and self.task is not asyncio.current_task():
            self.task.cancel()


Handler = Callable[[Job], Union[Answer, Awaitable[Answer]]]


class Worker:
    """A worker process: serves services of irisd.

        worker = Worker(capacity=4)

        @worker.service("shout", "the payload in capitals")
        def shout(job):
            return job.payload.upper()

        worker.run()

    A plain function runs in a thread, a coroutine function in the event loop; `capacity` of them run at once. What a
    service returns is the result. If it raises Failure, the item fails or is tried again, as that says; after any other
    exception the item fails.

    While a service runs its lease is extended (`renew_leases`); without that, an item whose
    service takes longer than a lease and does not call Job.extend() is given to another worker process. When irisd goes,
    the worker connects again, and services go on until their leases end: an irisd that was killed knows of the leases of
    persistent items. Other services are stopped then.
    """

    def __init__(self, endpoint: Optional[str] = None, *, name: Optional[str] = None, capacity: Optional[int] = None,
                 place: Optional[int] = None, renew_leases: bool = True) -> None:
        self._endpoint = endpoint
        self._name = name or "irisd_client worker %d" % os.getpid()
        self._capacity = capacity if capacity is not None else (os.cpu_count() or 1)
        if self._capacity < 1:
            raise ValueError("a worker's capacity must be 1 or more")
        self._place = place
        self._renew_leases = renew_leases
        self._services: Dict[str, Tuple[str, Handler]] = {}
        self._jobs: Dict[bytes, Job] = {}
        # Answers that irisd may not have read: no more than leases. Those before the PING, and those after it.
        self._unread: Deque[Message] = collections.deque(maxlen=self._capacity)
        self._recent: Deque[Message] = collections.deque(maxlen=self._capacity)
        self._ping = b""
        self._connection: Optional[Connection] = None
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._changed: Optional[asyncio.Event] = None
        self._stopping = False
        self._threads: Optional[concurrent.futures.ThreadPoolExecutor] = None
        #: Called when irisd knows the services; also after each reconnect.
        self.on_ready: Optional[Callable[[], None]] = None

    def add(self, name: str, handler: Handler, summary: str = "") -> None:
        """Serves `name` by `handler`. Call this before run()."""
        self._services[name] = (summary, handler)

    def service(self, name: str, summary: str = "") -> Callable[[Handler], Handler]:
        """Decorator for add()."""
        def decorate(handler: Handler) -> Handler:
            self.add(name, handler, summary or (inspect.getdoc(handler) or "").split("\n")[0])
            return handler

        return decorate

    def run(self) -> None:
        """Serves until stop() is called, from a signal handler or another thread."""
        asyncio.run(self.serve())

    def stop(self) -> None:
        """Takes no more items, ends those that it has, then run() returns. Any thread may call this."""
        self._stopping = True
        if self._loop is not None:
            try:
                self._loop.call_soon_threadsafe(self._wake)
            except RuntimeError:
                pass  # it has ended already

    def _wake(self) -> None:
        if self._changed is not None:
            self._changed.set()

    async def serve(self) -> None:
        """run() in an event loop."""
        if not self._services:
            raise ValueError("a worker without services: add() some first")
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self._threads = concurrent.futures.ThreadPoolExecutor(self._capacity, "irisd-worker")
        pause = FIRST_PAUSE
        try:
            while not self._stopping:
                try:
                    await self._serve_once()
                    pause = FIRST_PAUSE
                except IrisdError as error:
                    if not isinstance(error, Disconnected) and error.code != CODES["busy"]:
                        raise
                    _log.warning("%s; connecting again", error)
                    await self._sleep(pause)
                    pause = min(pause * 2, LAST_PAUSE)
        finally:
            self._drop_jobs("the worker has ended")
            self._threads.shutdown(wait=True)
            self._loop = None

    async def _sleep(self, seconds: float) -> None:
        """Waits this long, or until something has changed."""
        assert self._changed is not None
        try:
            await asyncio.wait_for(self._changed.wait(), seconds)
        except asyncio.TimeoutError:
            pass
        self._changed.clear()

    async def _ready(self, connection: Connection, capacity: int) -> wire.Message:
        header: Dict[str, Any] = {"capacity": capacity}
        if self._place is not None:
            header["place"] = self._place
        body = wire.encode_services([(name, summary) for name, (summary, _) in self._services.items()])
        return await connection.call("READY", header, body)

    async def _claim(self, connection: Connection) -> None:
        """Asks for the leases of an earlier connection, before it takes more. What is refused comes as an error."""
        await self._ready(connection, 0)
        self._connection = connection
        for job in self._jobs.values():
            left = job.lease_ms if self._renew_leases else max(int((job._until - time.monotonic()) * 1000), 0)
            self._extend_now(job, left)
        for kind, header, body, ident in list(self._unread) + list(self._recent):
            self._send_answer(kind, header, body, ident)

    async def _serve_once(self) -> None:
        """Serves over one connection: until it is lost, or until all has been done."""
        connection = Connection(self._take, self._lost, self._read)
        await connection.open(self._endpoint, self._name)
        try:
            if self._jobs or self._unread or self._recent:
                await self._claim(connection)
            self._connection = connection
            enrolled = await self._ready(connection, self._capacity)
            interval = max(enrolled.header["silence-ms"] / 3000, 0.001)
            if self.on_ready is not None:
                self.on_ready()
            drained = False
            while self._connection is connection:
                if self._stopping and not drained:
                    await self._ready(connection, 0)
                    drained = True
                if drained and not self._jobs:
                    await connection.call("PING")  # what irisd has not read when a connection ends is lost
                    connection.send("BYE")
                    return
                self._breathe(connection, interval)
                await self._sleep(interval)
            raise Disconnected("the connection to irisd is lost")
        finally:
            self._connection = None
            connection.close()

    def _breathe(self, connection: Connection, interval: float) -> None:
        """Sends heartbeats, and asks for more time where it is needed."""
        if connection.silence > max(6 * interval, 10.0):
            connection.lose(Disconnected("irisd does not answer any more"))
            return
        self._unread.extend(self._recent)
        self._recent.clear()
        self._ping = connection.send("PING")

    def _read(self, ident: bytes) -> None:
        """irisd has read what came before a PING."""
        if ident == self._ping:
            self._unread.clear()

    def _drop_jobs(self, reason: str, drops: Callable[[Job], bool] = lambda job: True) -> None:
        jobs = [job for job in self._jobs.values() if drops(job)]
        for job in jobs:
            del self._jobs[job.id]
        for job in jobs:
            job._stop(reason)

    def _drop_late(self) -> None:
        """Stops what has lost its lease while there is no connection."""
        if self._connection is None:
            self._drop_jobs("the connection to irisd is lost, and the lease is over",
                            lambda job: time.monotonic() >= job._until)

    def _lost(self, error: Disconnected) -> None:
        _log.warning("%s", error)
        self._connection = None
        # Only items that are not kept have parts, and they are gone with irisd.
        self._drop_jobs("the connection to irisd is lost", lambda job: job.wants_parts or job.stopped)
        self._ping = b""
        for job in self._jobs.values():
            asyncio.get_running_loop().call_later(max(job._until - time.monotonic(), 0), self._drop_late)
        self._wake()

    # --- leases ------------------------------------------------------------------------------------

    def _take(self, message: wire.Message) -> None:
        if message.type == "LEASE":
            job = Job(self, message)
            self._jobs[job.id] = job
            job.task = asyncio.get_running_loop().create_task(self._work(job))
        elif message.type == "STOP":
            stopped = self._jobs.get(message.id)
            if stopped is not None:
                stopped._stop(message.header["message"])
        elif message.type == "PART":
            granted = self._jobs.get(message.id)
            if granted is not None:
                granted._grant(message.header.get("parts", 0))
        elif message.type == "ERROR":
            # The lease has ended meanwhile: its service may stop.
            stopped = self._jobs.get(message.id)
            if stopped is not None and message.header["code"] == CODES["no-such-lease"]:
                stopped._stop(message.header["message"])
            _log.info("irisd refuses: %s", message.header["message"])

    def _post(self, kind: str, header: Dict[str, Any], ident: bytes) -> None:
        """Sends something about a lease, from any thread."""
        def send() -> None:
            if self._connection is not None and ident in self._jobs:
                self._connection.send(kind, header, b"", ident)

        if self._loop is not None:
            self._loop.call_soon_threadsafe(send)

    def _extend(self, job: Job, milliseconds: int) -> None:
        """Keeps a lease, from any thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._extend_now, job, milliseconds)

    def _extend_now(self, job: Job, milliseconds: int) -> None:
        if self._connection is not None and job.id in self._jobs and not job.stopped:
            self._connection.send("EXTEND", {"lease-ms": milliseconds}, b"", job.id)
            job._until = time.monotonic() + milliseconds / 1000

    def _report_part(self, ident: bytes, data: bytes) -> bool:
        if self._connection is None or ident not in self._jobs:
            return False
        self._connection.send("REPORT", {}, data, ident)
        return True

    async def _run_handler(self, job: Job) -> Answer:
        entry = self._services.get(job.service)
        if entry is None:
            raise Failure("this worker does not serve “%s”" % job.service, again=True)
        handler = entry[1]
        if inspect.iscoroutinefunction(handler):
            return cast(Answer, await handler(job))
        assert self._loop is not None and self._threads is not None
        future = self._loop.run_in_executor(self._threads, handler, job)
        while not future.done():
            # A thread cannot be cancelled: it is waited for, told by job.stopped.
            try:
                await asyncio.shield(future)
            except asyncio.CancelledError:
                if not job.stopped:
                    raise
        result = future.result()
        return await result if inspect.isawaitable(result) else cast(Answer, result)

    async def _renew(self, job: Job) -> None:
        while True:
            await asyncio.sleep(job.lease_ms / 3000)
            self._extend_now(job, job.lease_ms)

    async def _work(self, job: Job) -> None:
        keeper = asyncio.get_running_loop().create_task(self._renew(job)) if self._renew_leases else None
        kind, body = "FAIL", b""
        header: Dict[str, Any] = {}
        try:
            answer = await self._run_handler(job)
            await job.drain()
            kind, header, body = self._describe(answer)
        except asyncio.CancelledError:
            header = {"message": job.stop_reason or "the worker was stopped", "again": not job.stopped}
        except Failure as failure:
            header = {"message": failure.message or "the service failed", "again": failure.again}
            if failure.code is not None:
                header["code"] = failure.code
        except Exception as error:  # whatever a service raises is the item's end, not the worker's
            _log.exception("the service %s failed", job.service)
            header = {"message": "%s: %s" % (type(error).__name__, error)}
        finally:
            if keeper is not None:
                keeper.cancel()
        self._answer(job, kind, header, body)

    @staticmethod
    def _describe(answer: Answer) -> Tuple[str, Dict[str, Any], bytes]:
        reply = answer if isinstance(answer, Reply) else Reply(answer if answer is not None else b"")
        if not isinstance(reply.body, (bytes, bytearray, memoryview, str)):
            raise TypeError("a service returns bytes, text, Reply or None, not %s" % type(answer).__name__)
        body = reply.body.encode() if isinstance(reply.body, str) else bytes(reply.body)
        return "DONE", {} if reply.content_type is None else {"content-type": reply.content_type}, body

    def _answer(self, job: Job, kind: str, header: Dict[str, Any], body: bytes) -> None:
        if self._jobs.pop(job.id, None) is None:
            return  # nothing waits for it any more
        if job.stopped:
            kind, header, body = "FAIL", {"message": job.stop_reason or "the item was stopped"}, b""
        if "message" in header:
            header["message"] = header["message"].replace("\0", "")[:1000]
        self._recent.append((kind, header, body, job.id))
        self._send_answer(kind, header, body, job.id)
        self._wake()

    def _send_answer(self, kind: str, header: Dict[str, Any], body: bytes, ident: bytes) -> None:
        """Sends an answer; what is given without a connection is sent when there is one."""
        if self._connection is None:
            return
        try:
            self._connection.send(kind, header, body, ident)
        except WireError as error:
            self._connection.send("FAIL", {"message": "the result cannot be sent: %s" % error}, b"", ident)
        except IrisdError as error:
            _log.warning("%s", error)
