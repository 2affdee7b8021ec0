#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tasks in asyncio, through PyGObject. Prints TAP.

    test-asyncio.py FOLDER-OF-iris_asyncio.py
"""
import asyncio
import gc
import sys
import threading
import weakref

sys.path.insert(0, sys.argv[1])
import iris_asyncio  # noqa: E402
from gi.repository import Gio, GLib, Iris  # noqa: E402


async def a_function_runs_on_a_worker_and_its_result_comes_back():
    here = threading.get_ident()
    there = await iris_asyncio.run(threading.get_ident)
    assert here != there
    assert await iris_asyncio.run(lambda a, b: a + b, 3, 4) == 7


async def what_a_function_raises_is_raised():
    try:
        await iris_asyncio.run(lambda: 1 // 0)
    except ZeroDivisionError:
        return
    raise AssertionError('nothing was raised')


async def many_are_under_way_at_once():
    results = await asyncio.gather(*(iris_asyncio.run(lambda n=n: n * n) for n in range(500)))
    assert results == [n * n for n in range(500)]


async def an_error_of_a_task_is_a_glib_error():
    def work(task, *_):
        task.set_fatal_error(GLib.Error.new_literal(Gio.io_error_quark(), 'busy',
                                                    Gio.IOErrorEnum.BUSY))

    try:
        await iris_asyncio.wait(Iris.Task.new(work))
    except GLib.Error as error:
        assert error.matches(Gio.io_error_quark(), Gio.IOErrorEnum.BUSY)
        return
    raise AssertionError('nothing was raised')


async def a_task_that_is_over_can_be_awaited():
    task = Iris.Task.new(lambda *_: None)
    await iris_asyncio.wait(task)
    await iris_asyncio.wait(task)
    assert task.has_succeeded()


async def the_result_of_a_task_is_returned():
    task = Iris.Task.new(lambda task, *_: task.set_result(7))
    assert await iris_asyncio.wait(task) == 7
    assert await iris_asyncio.wait(Iris.Task.new(lambda *_: None)) is None


async def callbacks_of_python_are_called():
    told = []
    task = Iris.Task.new(lambda *_: told.append('work'))
    task.add_callback(lambda *_: told.append('callback'))
    await iris_asyncio.wait(task)
    assert told == ['work', 'callback'], told


async def cancelling_the_coroutine_cancels_the_task():
    first = Iris.Task.new(lambda *_: None)
    task = Iris.Task.new(lambda *_: None)
    task.add_dependency(first)
    waiting = asyncio.ensure_future(iris_asyncio.wait(task))
    while task.get_state() != Iris.TaskState.WAITING:
        await asyncio.sleep(0)
    waiting.cancel()
    try:
        await waiting
    except asyncio.CancelledError:
        assert task.is_cancelled()
        return
    raise AssertionError('it went on')


async def a_cancelled_task_cancels_the_task_that_awaits_it():
    first = Iris.Task.new(lambda *_: None)
    task = Iris.Task.new(lambda *_: None)
    task.add_dependency(first)
    waiting = asyncio.ensure_future(iris_asyncio.wait(task))
    while task.get_state() != Iris.TaskState.WAITING:
        await asyncio.sleep(0)
    first.cancel()
    try:
        await waiting
    except asyncio.CancelledError:
        return
    raise AssertionError('it went on')


async def nothing_is_held_afterwards():
    class Payload:
        pass

    payload = Payload()
    held = weakref.ref(payload)
    await iris_asyncio.run(lambda payload: None, payload)
    del payload
    # The worker lets go of the task a moment after it has told its end.
    while held() is not None:
        gc.collect()
        await asyncio.sleep(0)


def main():
    cases = [case for name, case in globals().items() if asyncio.iscoroutinefunction(case)]
    bad = 0
    print(f'1..{len(cases)}')
    for number, case in enumerate(cases, 1):
        try:
            asyncio.run(case())
            print(f'ok {number} - {case.__name__}', flush=True)
        except Exception as error:  # noqa: B902  (a case that fails must not end the others)
            bad += 1
            print(f'# {error!r}\nnot ok {number} - {case.__name__}', flush=True)
    return bad > 0


if __name__ == '__main__':
    sys.exit(main())
