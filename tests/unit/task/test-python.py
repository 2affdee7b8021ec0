#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is described to other languages holds when Python uses it. Prints TAP."""
import gc
import sys
import threading
import weakref

import gi

gi.require_version('Iris', '1')
from gi.repository import Gio, GLib, GObject, Iris  # noqa: E402


class Something:
    """An object whose end can be seen."""


def receive(count, handler, *data):
    """Has messages handled one at a time; returns the port, and a function that waits for `count` of them."""
    scheduler, port = Iris.WSScheduler.new_full(1, 2), Iris.Port.new()
    done = threading.Semaphore(0)

    def handle(message, *data):
        handler(message, *data)
        done.release()

    Iris.Arbiter.receive_exclusive(scheduler, port, handle, *data)

    def wait():
        for _ in range(count):
            assert done.acquire(timeout=60)
        scheduler.shutdown(Iris.Shutdown.DRAIN)

    return port, wait


def a_message_belongs_to_python_and_to_the_port():
    seen = []
    port, wait = receive(1000, lambda message: seen.append((message.what, message.get_string('name'))))
    for i in range(1000):
        message = Iris.Message.new(i)
        message.set_string('name', f'message {i}')
        port.post(message)
        assert message.get_string('name') == f'message {i}'
        del message
    gc.collect()
    wait()
    assert seen == [(i, f'message {i}') for i in range(1000)]


def a_message_that_a_handler_keeps_lives_on():
    kept = []
    port, wait = receive(100, kept.append)
    for i in range(100):
        message = Iris.Message.new(i)
        message.set_string('name', f'message {i}')
        port.post(message)
        del message
    wait()
    gc.collect()
    assert [message.get_string('name') for message in kept] == [f'message {i}' for i in range(100)]


def a_copy_of_a_message_can_be_changed_and_posted():
    seen = []
    port, wait = receive(2, lambda message: seen.append(message.get_int('n')))
    first = Iris.Message.new(1)
    first.set_int('n', 1)
    second = first.copy()
    second.set_int('n', 2)
    port.post(first)
    port.post(second)
    wait()
    assert seen == [1, 2]


def data_is_any_value():
    message = Iris.Message.new(1)
    assert message.get_data() is None
    message.set_data(GObject.Value(GObject.TYPE_STRING, 'text'))
    assert message.get_data() == 'text'


def an_item_gets_its_data_and_lets_go_of_it():
    scheduler, something, seen = Iris.WSScheduler.new(), Something(), []
    gone = weakref.ref(something)
    scheduler.queue(lambda data: seen.append(type(data)), something)
    del something
    scheduler.shutdown(Iris.Shutdown.DRAIN)
    GLib.MainContext.default().iteration(False)
    gc.collect()
    assert seen == [Something], seen
    assert gone() is None


def a_worker_says_where_it_is():
    scheduler, seen = Iris.PlaceScheduler.new(Iris.Places.new_unbound(2, 1)), []
    for place in (0, 1):
        scheduler.queue_at(place, Iris.ItemFlags.STRICT, lambda *_: seen.append(Iris.worker_current().get_place()))
    scheduler.shutdown(Iris.Shutdown.DRAIN)
    assert sorted(seen) == [0, 1]
    assert Iris.worker_current() is None


def an_error_has_the_domain_and_the_code_of_its_enumeration():
    first, second = Iris.Task.new(), Iris.Task.new()
    first.try_add_dependency(second)
    try:
        second.try_add_dependency(first)
    except GLib.Error as error:
        assert error.domain == 'iris-task-error-quark'
        assert error.matches(Iris.Task.error_quark() if hasattr(Iris.Task, 'error_quark')
                             else GLib.quark_from_string(error.domain), Iris.TaskError.CYCLE)
        return
    raise AssertionError('a cycle was allowed')


def run_and_wait(function):
    """The task, when it is over; functions of Python get the task, and data if there is some."""
    task = Iris.Task.new(function)
    task.run()
    try:
        task.wait(-1)
    except GLib.Error:
        pass
    return task


def throw(task):
    task.set_fatal_error(GLib.Error.new_literal(Gio.io_error_quark(), 'busy', Gio.IOErrorEnum.BUSY))


def raises(domain, code, function):
    try:
        function()
    except GLib.Error as error:
        return error.matches(domain, code)
    return False


def a_task_without_a_result_has_none():
    task = run_and_wait(lambda task: None)
    assert task.propagate() == (True, None), task.propagate()
    assert task.get_result() is None
    assert not task.has_result()
    refused = GLib.quark_from_string('iris-task-error-quark'), Iris.TaskError.RESULT
    assert raises(*refused, task.propagate_int64)


def a_result_can_be_had_by_its_type():
    results = {'propagate_int64': 7, 'propagate_double': 1.5, 'propagate_string': 'seven', 'propagate_boolean': True,
               'propagate_object': Gio.Cancellable(), 'propagate_variant': GLib.Variant('i', 7)}
    for name, result in results.items():
        value = GObject.Value(GObject.TYPE_VARIANT, result) if name == 'propagate_variant' else result
        task = run_and_wait(lambda task, value=value: task.set_result(value))
        assert getattr(task, name)() == result, name
        assert task.propagate() == (True, result), name
    refused = GLib.quark_from_string('iris-task-error-quark'), Iris.TaskError.RESULT
    assert raises(*refused, run_and_wait(lambda task: task.set_result('7')).propagate_int64)


def the_error_of_a_task_is_raised_or_asked_for():
    busy = Gio.io_error_quark(), Gio.IOErrorEnum.BUSY
    task = run_and_wait(throw)
    for name in ('propagate', 'propagate_int64', 'propagate_string'):
        assert raises(*busy, getattr(task, name)), name
    assert task.get_fatal_error().matches(*busy)
    assert run_and_wait(lambda task: None).get_fatal_error() is None


def an_errback_catches_the_error():
    caught = []
    task = Iris.Task.new(throw)
    task.add_errback(lambda task: caught.append(task.catch_fatal_error()))
    task.add_callback(lambda task: caught.append(task.catch_fatal_error()))
    task.run()
    assert task.wait(-1)
    assert caught[0].message == 'busy' and caught[1] is None


def handlers_run_on_a_worker_or_in_the_main_context():
    loop, seen = GLib.MainLoop(), []
    plain, here = Iris.Task.new(lambda task: None), Iris.Task.new(lambda task: None)
    plain.add_callback(lambda task: seen.append(Iris.worker_current() is not None))
    plain.run()
    plain.wait(-1)
    here.set_main_context(None)
    here.add_callback(lambda task: seen.append(threading.current_thread() is threading.main_thread()))
    here.run_async(None, lambda source, result: (seen.append(source.run_finish(result)), loop.quit()))
    loop.run()
    assert seen == [True, True, True], seen


def tasks_that_share_a_cancellable_are_cancelled_one_by_one():
    shared = Gio.Cancellable()
    first, second = Iris.Task.new(), Iris.Task.new()
    first.set_cancellable(shared)
    second.set_cancellable(shared)
    first.cancel()
    assert first.is_cancelled() and not second.is_cancelled()
    shared.cancel()
    assert second.is_cancelled()


def a_task_that_was_run_may_be_dropped():
    done = threading.Semaphore(0)
    for _ in range(100):
        Iris.Task.new(lambda task: done.release()).run()
    gc.collect()
    for _ in range(100):
        assert done.acquire(timeout=60)


def a_port_says_how_much_it_refused():
    port = Iris.Port.new()
    port.set_limit(2, Iris.PortFull.FAIL)
    for i in range(2):
        assert port.try_post(Iris.Message.new(i))
    try:
        port.try_post(Iris.Message.new(2))
    except GLib.Error as error:
        assert error.domain == 'iris-message-error-quark'
    limited, counts = port.get_counts()
    assert limited and (counts.posted, counts.refused, counts.held) == (3, 1, 2)


def statistics_are_numbers():
    scheduler = Iris.WSScheduler.new()
    for _ in range(10):
        scheduler.queue(lambda *_: None)
    scheduler.shutdown(Iris.Shutdown.DRAIN)
    stats = scheduler.get_stats()
    assert stats.total.executed == 10
    assert '10' in stats.to_string()


def main():
    cases = [value for name, value in globals().items()
             if callable(value) and getattr(value, '__module__', '') == __name__
             and name not in ('main', 'raises', 'receive', 'run_and_wait', 'throw', 'Something')]
    print(f'1..{len(cases)}')
    good = True
    for number, case in enumerate(cases, 1):
        try:
            case()
            print(f'ok {number} - {case.__name__}', flush=True)
        except Exception as error:
            good = False
            print(f'# {type(error).__name__}: {error}\nnot ok {number} - {case.__name__}', flush=True)
    return not good


if __name__ == '__main__':
    sys.exit(main())
