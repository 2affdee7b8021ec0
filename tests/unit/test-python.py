#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is described to other languages holds when Python uses it. Prints TAP."""
import gc
import sys
import threading
import weakref

import gi

gi.require_version('Iris', '1')
from gi.repository import GLib, GObject, Iris  # noqa: E402


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
             and name not in ('main', 'receive', 'Something')]
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
