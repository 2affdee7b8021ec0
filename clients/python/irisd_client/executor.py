# SPDX-License-Identifier: LGPL-2.1-or-later
"""A concurrent.futures.Executor whose calls are items of irisd."""
from __future__ import annotations

import asyncio
import concurrent.futures
import os
import subprocess
import sys
import threading
import uuid
from typing import Any, Callable, List, Optional, Set, TypeVar

from . import calls
from .client import Client
from .connection import front_endpoint
from .errors import Disconnected

_T = TypeVar("_T")


class Executor(concurrent.futures.Executor):
    """Runs Python functions in worker processes, by way of irisd.

        with Executor(max_workers=4) as executor:
            print(list(executor.map(math.factorial, range(1000))))

    It starts `max_workers` processes of its own (by default as many as there are cpus) and ends them with itself; or,
    with `service`, it uses those that were started by `python3 -m irisd_client calls SERVICE`, on however many
    terms. As with ProcessPoolExecutor, functions, arguments and results are pickled, so functions must be found in a
    module that workers can import. A call whose worker dies is run again by another one, so it may be run twice.
    """

    def __init__(self, max_workers: Optional[int] = None, *, endpoint: Optional[str] = None,
                 service: Optional[str] = None) -> None:
        if max_workers is not None and max_workers < 1:
            raise ValueError("max_workers must be 1 or more")
        self._endpoint = endpoint or front_endpoint()
        self._service = service or "python-calls-%s" % uuid.uuid4().hex
        self._processes: List["subprocess.Popen[bytes]"] = []
        self._futures: Set["concurrent.futures.Future[Any]"] = set()
        self._lock = threading.Lock()
        self._shut_down = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="irisd-executor", daemon=True)
        self._thread.start()
        self._client = Client(self._endpoint, name="irisd_client executor %d" % os.getpid())
        try:
            asyncio.run_coroutine_threadsafe(self._client.open(), self._loop).result()
            if service is None:
                self._start_workers(max_workers or os.cpu_count() or 1)
        except BaseException:
            self.shutdown()
            raise

    def _start_workers(self, count: int) -> None:
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(path or os.getcwd() for path in sys.path))
        command = [sys.executable, "-m", "irisd_client", "calls", self._service, "--capacity", "1", "--say-ready",
                   "--until-end-of-input", "--endpoint", self._endpoint]
        for _ in range(count):
            self._processes.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment))
        for process in self._processes:
            assert process.stdout is not None
            if process.stdout.readline() != b"ready\n":
                raise Disconnected("a worker process did not start; what it wrote says why")

    async def _call(self, payload: bytes) -> Any:
        result = await self._client.submit(self._service, payload, content_type=calls.CONTENT_TYPE)
        return calls.unpack_result(result.body)

    def submit(self, fn: Callable[..., _T], /, *args: Any, **kwargs: Any) -> "concurrent.futures.Future[_T]":
        with self._lock:
            if self._shut_down:
                raise RuntimeError("the executor was shut down and takes no more calls")
            payload = calls.pack_call(fn, args, kwargs)
            future: "concurrent.futures.Future[_T]" = asyncio.run_coroutine_threadsafe(self._call(payload), self._loop)
            self._futures.add(future)
        future.add_done_callback(self._forget)
        return future

    def _forget(self, future: "concurrent.futures.Future[Any]") -> None:
        with self._lock:
            self._futures.discard(future)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self._lock:
            first, self._shut_down = not self._shut_down, True
            pending = list(self._futures)
        if cancel_futures:
            for future in pending:
                future.cancel()
        if not first:
            return
        if wait:
            concurrent.futures.wait(pending)
            self._finish()
        else:
            threading.Thread(target=self._finish_later, args=(pending,), name="irisd-executor-end").start()

    def _finish_later(self, pending: List["concurrent.futures.Future[Any]"]) -> None:
        concurrent.futures.wait(pending)
        self._finish()

    def _finish(self) -> None:
        asyncio.run_coroutine_threadsafe(self._client.close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        for process in self._processes:  # the end of its input has each of them stop
            assert process.stdin is not None and process.stdout is not None
            process.stdin.close()
        for process in self._processes:
            process.wait()
            assert process.stdout is not None
            process.stdout.close()
