# SPDX-License-Identifier: LGPL-2.1-or-later
"""Awaiting the tasks of libiris in asyncio.

    import iris_asyncio
    from gi.repository import Iris

    async def main():
        # A task of any kind; it is run if it was not.
        result = await iris_asyncio.wait(task)
        # A function of Python, on a worker of iris.
        result = await iris_asyncio.run(function, 1, 2)

Nothing polls, and no thread is started: the worker that ends a task hands the outcome to the event
loop by call_soon_threadsafe(). Cancelling the awaiting coroutine cancels the task, and a task that
is cancelled raises asyncio.CancelledError where it is awaited. Errors are GLib.Error, or what the
function raised. Functions of Python share the interpreter's lock, so they run beside the event loop,
but not faster.
"""
import asyncio

import gi

gi.require_version('Iris', '1')
from gi.repository import GLib, Iris  # noqa: E402  (the version is required first)

__all__ = ['run', 'wait']


def _settle(future, cancelled, error, result):
    """In the event loop. The waiting coroutine may have ended."""
    if future.done():
        return
    if cancelled:
        future.cancel()
    elif error is not None:
        future.set_exception(error)
    else:
        future.set_result(result)


def _outcome(task):
    """Whether a task was cancelled, its error, and its result."""
    if task.get_state() == Iris.TaskState.CANCELLED:
        return True, None, None
    try:
        return False, None, task.propagate()[1]
    except GLib.Error as error:
        return False, error, None


def _over(task, loop, future):
    """On a worker, when the task is over."""
    try:
        loop.call_soon_threadsafe(_settle, future, *_outcome(task))
    except RuntimeError:
        # The loop was closed, and with it all that waited.
        pass


async def wait(task):
    """Runs the task if it was not, and returns its result when it ended well."""
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    task.when_over(_over, loop, future)
    if task.get_state() == Iris.TaskState.CONSTRUCTED:
        task.run()
    try:
        return await future
    except asyncio.CancelledError:
        task.cancel()
        raise


async def run(function, *args):
    """Calls the function on a worker of iris, and returns or raises what it does."""
    outcome = {}

    def work(_task, *_data):
        try:
            outcome['result'] = function(*args)
        except BaseException as error:  # noqa: B902  (it is raised where it is awaited)
            outcome['error'] = error

    await wait(Iris.Task.new(work))
    if 'error' in outcome:
        raise outcome['error']
    return outcome['result']
