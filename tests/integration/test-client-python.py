#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""libiris-client, as it is described to other languages, talks to an irisd of the test's own. TAP.

    test-client-python.py IRISD
"""
import gc
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import gi

gi.require_version('IrisClient', '1')
from gi.repository import Gio, GLib, IrisClient  # noqa: E402

client = None


def call(begin, *arguments, cancellable=None):
    """Calls an asynchronous method of the client; returns what it gives, or raises its error."""
    loop, results = GLib.MainLoop(), []

    def done(source, result):
        results.append(result)
        loop.quit()

    getattr(client, begin + '_async')(*arguments, cancellable, done)
    loop.run()
    return getattr(client, begin + '_finish')(results[0])


def fails(code, begin, *arguments, **more):
    """Wants an error of the client's domain; returns it."""
    try:
        call(begin, *arguments, **more)
    except GLib.Error as error:
        assert error.matches(GLib.quark_from_string(error.domain), error.code)
        assert error.domain == 'IrisClientError', error.domain
        assert error.code == code, (error.code, error.message)
        return error
    raise AssertionError(f'no error {code}')


def echo(text, **more):
    request = IrisClient.Request.new('echo')
    request.set_payload(GLib.Bytes.new(text.encode()))
    for name, value in more.items():
        getattr(request, 'set_' + name)(value)
    return request


def it_connects_and_knows_the_places():
    assert not client.is_connected() and not client.get_places()
    assert call('connect')
    assert client.is_connected() and client.get_endpoint().startswith('ipc://')
    places = client.get_places()
    gc.collect()
    assert [place.id for place in places] == list(range(len(places))) and len(places) >= 1
    assert len(client.get_places()) == len(places)
    assert all(place.workers >= 1 and len(place.distances) == len(places) for place in places)


def an_item_is_run_and_its_result_read():
    request = echo('hello', place=0)
    result = call('submit', request)
    assert result.dup_text() == 'hello' and result.body.get_data() == b'hello'
    assert result.home == 0 and result.exit_status == -1 and result.bytes == 5
    assert request.get_service() == 'echo' and len(request.get_id()) == 32
    del request
    gc.collect()
    assert result.body.get_size() == 5


def many_items_are_under_way_at_once():
    loop, texts = GLib.MainLoop(), []

    def done(source, result, number):
        texts.append((number, source.submit_finish(result).dup_text()))
        if len(texts) == 200:
            loop.quit()

    for number in range(200):
        client.submit_async(echo(str(number)), None, done, number)
    gc.collect()
    loop.run()
    assert sorted(texts) == [(number, str(number)) for number in range(200)]


def a_file_is_hashed():
    request = IrisClient.Request.new('sha256')
    request.set_path(__file__)
    wanted = GLib.compute_checksum_for_data(GLib.ChecksumType.SHA256, Path(__file__).read_bytes())
    assert call('submit', request).dup_text() == wanted


def errors_have_a_domain_a_code_and_a_name():
    error = fails(IrisClient.ClientError.UNKNOWN_SERVICE, 'submit', IrisClient.Request.new('no-such-service'))
    assert IrisClient.client_error_get_name(error) == 'unknown-service'
    assert IrisClient.client_error_get_place(error) == -1
    fails(IrisClient.ClientError.NO_SUCH_PLACE, 'submit', echo('x', place=1000))
    fails(IrisClient.ClientError.NOT_FOUND, 'cancel', '0' * 32)


def a_cancelled_call_ends_as_cancelled():
    cancellable = Gio.Cancellable()
    cancellable.cancel()
    try:
        call('submit', echo('x'), cancellable=cancellable)
    except GLib.Error as error:
        assert error.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED)
        return
    raise AssertionError('no error')


def services_and_state_are_told():
    services = call('get_services')
    status = call('get_status')
    gc.collect()
    assert {'echo', 'sha256'} <= {service.name for service in services}
    assert all(service.summary for service in services)
    assert status.ended >= 200 and status.version and not status.draining
    assert len(status.places) == len(client.get_places())


def run(cases):
    print(f'1..{len(cases)}')
    good = True
    for number, case in enumerate(cases, 1):
        try:
            case()
            print(f'ok {number} - {case.__name__}', flush=True)
        except Exception as error:
            good = False
            print(f'# {type(error).__name__}: {error}\nnot ok {number} - {case.__name__}', flush=True)
    return good


def main():
    global client
    cases = [it_connects_and_knows_the_places, an_item_is_run_and_its_result_read,
             many_items_are_under_way_at_once, a_file_is_hashed, errors_have_a_domain_a_code_and_a_name,
             a_cancelled_call_ends_as_cancelled, services_and_state_are_told]
    with tempfile.TemporaryDirectory() as folder:
        ready, ready_write = os.pipe()
        irisd = subprocess.Popen([sys.argv[1], '--dir', folder + '/run', '--ready-fd', str(ready_write)],
                                 pass_fds=[ready_write], stderr=subprocess.DEVNULL)
        os.close(ready_write)
        try:
            if not os.read(ready, 1):
                print('Bail out! irisd does not start')
                return True
            client = IrisClient.Client.new(folder + '/run')
            good = run(cases)
            client = None
        finally:
            irisd.terminate()
            irisd.wait()
    return not good


if __name__ == '__main__':
    sys.exit(main())
