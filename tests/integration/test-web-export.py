#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""irisd-web --otlp: spans of items reach a collector that takes them, refuses them, is slow, or is dead for a while.

    test-web-export.py irisd irisctl irisd-web
"""
import collections
import http.server
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import unittest

from web import PATIENCE_S, Machine, get, wait_until

PROGRAMS = sys.argv[1:4]
TRACE = '0af7651916cd43dd8448eb211c80319c'
PARENT = 'b7ad6b7169203331'
QUICK = ('--limit', 'otlp-interval-ms=20', '--limit', 'otlp-pause-ms=20')


class Collector:
    """Takes what it is sent, and answers as the test wants: each of `answers` once, then 200."""

    def __init__(self, held=None, context=None, silent=False):
        self.requests = []
        self.answers = collections.deque()
        self.release = threading.Event()
        if not silent:
            self.release.set()
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length']))
                if not collector.release.wait(PATIENCE_S):
                    return
                status, text, headers = collector.answers.popleft() if collector.answers else (200, '{}', {})
                collector.requests.append((self.path, dict(self.headers), json.loads(body), status))
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header('Content-Length', str(len(text)))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass

        if held is None:
            held = hold_port()
        port = held.getsockname()[1]
        self.server = Server(held.getsockname(), Handler, bind_and_activate=False)
        self.server.socket.close()
        self.server.socket = held
        self.server.server_activate()
        if context is not None:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f'{"http" if context is None else "https"}://127.0.0.1:{port}'
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={'poll_interval': 0.02})
        self.thread.start()

    def spans(self, status=200):
        return [span for _, _, body, answered in list(self.requests) if answered == status
                for resource in body['resourceSpans'] for scope in resource['scopeSpans'] for span in scope['spans']]

    def wait_for(self, count, status=200):
        wait_until(lambda: len(self.spans(status)) >= count, f'{count} spans')
        return self.spans(status)

    def close(self):
        self.release.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def attributes(span):
    return {entry['key']: next(iter(entry['value'].values())) for entry in span['attributes']}


def metrics(web):
    return {words[0]: float(words[1]) for words in map(str.split, get(web, '/metrics').text.splitlines())
            if len(words) == 2}


def counts(web):
    found = metrics(web)
    return tuple(found[f'irisd_web_otlp_{name}'] for name in ('sent_spans_total', 'dropped_spans_total', 'queued_spans'))


def hold_port():
    """A port that no other program gets, and that refuses connections until a collector listens at it."""
    held = socket.socket()
    held.bind(('127.0.0.1', 0))
    return held


class Export(unittest.TestCase):
    def setUp(self):
        self.machine = Machine(*PROGRAMS)
        self.addCleanup(self.machine.close)

    def collect(self, **more):
        collector = Collector(**more)
        self.addCleanup(collector.close)
        return collector

    def start(self, url, *args):
        self.machine.start_irisd()
        return self.machine.start_web('--otlp', url, *QUICK, *args)

    def send(self, verb, *args, flags='01', check=True):
        """An item of a trace, waited for."""
        return subprocess.run([PROGRAMS[1], verb, '--traceparent', f'00-{TRACE}-{PARENT}-{flags}', *args], env=self.machine.env,
                              check=check, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              encoding='utf-8')

    def echo(self, count=1):
        for _ in range(count):
            self.send('submit', 'echo', 'x')

    def test_a_span_tells_the_item(self):
        collector = self.collect()
        web = self.start(collector.url)
        self.send('submit', 'echo', 'not recorded', flags='00')
        own = self.send('run', '--', 'sh', '-c', 'echo $TRACEPARENT; exit 3', check=False).stdout.strip()
        self.echo()
        command, echo = collector.wait_for(2)
        path, headers, body, _ = collector.requests[0]
        self.assertEqual((path, headers['Content-Type']), ('/v1/traces', 'application/json'))
        self.assertIn({'key': 'service.name', 'value': {'stringValue': 'irisd'}}, body['resourceSpans'][0]['resource']['attributes'])
        self.assertEqual(own, f'00-{TRACE}-{command["spanId"]}-01')
        self.assertEqual((command['traceId'], command['parentSpanId'], command['name']), (TRACE, PARENT, 'command'))
        self.assertEqual(command['status'], {'code': 2, 'message': 'exit status 3'})
        told = attributes(command)
        self.assertEqual((told['iris.outcome'], told['process.exit.code'], told['iris.service']), ('done', '3', 'command'))
        times = [int(command[name]) for name in ('startTimeUnixNano', 'endTimeUnixNano')]
        began = int(command['events'][0]['timeUnixNano'])
        self.assertTrue(times[0] <= began <= times[1], (times, began))
        self.assertEqual(int(told['iris.queue_delay_ns']), began - times[0])
        told = attributes(echo)
        self.assertEqual((told['iris.outcome'], told['iris.class'], told['iris.place'], told['iris.attempts']),
                         ('done', 'durable', '0', '0'))
        self.assertGreater(int(told['iris.item']), 0)
        self.assertNotIn('status', echo)
        self.assertNotEqual(echo['spanId'], command['spanId'])
        wait_until(lambda: counts(web) == (2, 0, 0), 'the counters')

    def test_what_may_be_tried_again_is(self):
        collector = self.collect()
        collector.answers.extend([(503, '', {}), (429, '', {'Retry-After': '1'}), (502, '', {'Retry-After': 'Mon'})])
        web = self.start(collector.url)
        self.echo()
        self.assertEqual(len(collector.wait_for(1)), 1)
        self.assertEqual([status for *_, status in collector.requests], [503, 429, 502, 200])
        web.wait_for('does not take spans: it answers 503')
        web.wait_for('takes spans again; 0 were dropped')
        self.assertEqual((counts(web), metrics(web)['irisd_web_otlp_failed_requests_total']), ((1, 0, 0), 3))

    def test_what_is_refused_is_dropped_and_counted(self):
        collector = self.collect()
        partial = json.dumps({'partialSuccess': {'rejectedSpans': '1', 'errorMessage': 'too old'}})
        # No redirect is followed: the headers are for this collector.
        collector.answers.extend([(400, 'bad', {}), (307, '', {'Location': collector.url}), (200, partial, {}),
                                  (200, '[1, {"partialSuccess"', {}), (200, '{"partialSuccess": {"rejectedSpans": []}}', {})])
        web = self.start(collector.url)
        for number, (sent, dropped) in enumerate([(0, 1), (0, 2), (0, 3), (1, 3), (2, 3), (3, 3)]):
            self.echo()
            wait_until(lambda number=number: len(collector.requests) == number + 1, 'the request')
            wait_until(lambda sent=sent, dropped=dropped: counts(web) == (sent, dropped, 0), f'{sent} sent, {dropped} dropped')
        web.wait_for('does not take spans: it answers 400')
        web.wait_for('takes spans again')

    def test_a_dead_collector_costs_irisd_nothing_and_is_found_again(self):
        held = hold_port()
        web = self.start(f'http://127.0.0.1:{held.getsockname()[1]}', '--limit', 'otlp-spans=3')
        self.echo(7)
        web.wait_for('does not take spans: ')
        wait_until(lambda: counts(web) == (0, 0, 3), 'a full queue')
        self.assertEqual(get(web, '/readyz').text, 'ready\n')
        collector = self.collect(held=held)
        spans = collector.wait_for(7)
        self.assertEqual(len({span['spanId'] for span in spans}), 7)
        wait_until(lambda: counts(web) == (7, 0, 0), 'the counters')
        web.wait_for('takes spans again')

    def test_a_slow_collector_is_given_up_each_time(self):
        collector = self.collect(silent=True)
        web = self.start(collector.url, '--limit', 'otlp-answer-ms=50')
        self.echo()
        web.wait_for('does not take spans: it did not answer in time')
        wait_until(lambda: metrics(web)['irisd_web_otlp_failed_requests_total'] >= 2, 'two attempts')
        self.assertIn('irisd', self.machine.irisctl('status'))
        # It ends at once all the same.
        self.assertEqual(web.end(), 0)

    def test_spans_of_another_irisd_come_from_its_first_on(self):
        collector = self.collect()
        irisd = self.machine.start_irisd()
        self.machine.start_web('--otlp', collector.url, *QUICK)
        self.echo(2)
        collector.wait_for(2)
        irisd.end()
        self.machine.start_irisd()
        self.echo(3)
        self.assertEqual(len({span['spanId'] for span in collector.wait_for(5)}), 5)

    def test_what_irisd_overwrote_is_counted(self):
        held = hold_port()
        web = self.start(f'http://127.0.0.1:{held.getsockname()[1]}', '--limit', 'otlp-spans=512')
        self.echo()
        wait_until(lambda: counts(web)[2] == 1, 'a span that waits')
        # irisd keeps 4,096 beside the 512 of the queue. The client takes the trace from the environment.
        many = 5000
        env = dict(self.machine.env, TRACEPARENT=f'00-{TRACE}-{PARENT}-01')
        subprocess.run([PROGRAMS[1], 'submit', '--lines', '-', 'echo'], env=env, check=True, stdout=subprocess.DEVNULL,
                       input='x\n' * many, encoding='utf-8')
        wait_until(lambda: counts(web)[2] == 512, 'a full queue')
        collector = self.collect(held=held)
        wait_until(lambda: sum(counts(web)[:2]) == many + 1, 'all to be sent or counted')
        sent, dropped, _ = counts(web)
        self.assertGreaterEqual(dropped, many + 1 - 512 - 4096)
        self.assertEqual(len({span['spanId'] for span in collector.spans()}), sent)

    def test_headers_and_certificates(self):
        if shutil.which('openssl') is None:
            self.skipTest('there is no openssl to make a certificate')
        pem, key, headers = (self.machine.dir / name for name in ('pem', 'key', 'headers'))
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-subj',
                        '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', str(key), '-out', str(pem)],
                       check=True, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem, key)
        collector = self.collect(context=context)
        headers.write_text('# a secret\nAuthorization: Bearer one\n\nX-Scope: a b\n')
        headers.chmod(0o600)
        web = self.start(collector.url)
        self.echo()
        web.wait_for('does not take spans: ')
        self.assertEqual((web.end(), collector.requests), (0, []))
        self.machine.start_web('--otlp', collector.url + '/other', '--otlp-ca', str(pem), '--otlp-headers', str(headers), *QUICK)
        collector.wait_for(1)
        path, sent, *_ = collector.requests[0]
        self.assertEqual((path, sent['Authorization'], sent['X-Scope']), ('/other', 'Bearer one', 'a b'))
        headers.write_text('Authorization: Bearer two\n')
        self.echo()
        collector.wait_for(2)
        self.assertEqual(collector.requests[1][1]['Authorization'], 'Bearer two')

    def test_mistakes_are_told_at_the_start(self):
        headers = self.machine.dir / 'headers'

        def refused(*args, status=1):
            done = self.machine.run_web('--dir', str(self.machine.dir), *args)
            self.assertEqual(done.returncode, status, done.stdout)
            return done.stdout

        self.assertIn('need --otlp', refused('--otlp-headers', str(headers), status=2))
        for url in ('here', 'ftp://127.0.0.1', 'http://', 'http:///x'):
            self.assertIn('is no address of a collector', refused('--otlp', url))
        self.assertIn('No such file', refused('--otlp', 'http://127.0.0.1:1', '--otlp-headers', str(headers)))
        self.assertIn(f'{headers}: ', refused('--otlp', 'https://127.0.0.1:1', '--otlp-ca', str(headers)))
        headers.write_text('Authorization: x')
        headers.chmod(0o644)
        self.assertIn('chmod 600', refused('--otlp', 'http://127.0.0.1:1', '--otlp-headers', str(headers)))
        headers.chmod(0o600)
        self.assertIn('use https://', refused('--otlp', 'http://192.0.2.1', '--otlp-headers', str(headers)))
        for text in ('Authorization', ': x', 'A b: c', 'Content-Length: 3', 'Host: x', 'A: b\x07c'):
            headers.write_text(text)
            self.assertIn('line 1 is no header', refused('--otlp', 'http://127.0.0.1:1', '--otlp-headers', str(headers)))

    def test_irisd_starts_it_without_a_page(self):
        collector = self.collect()
        self.machine.env['PATH'] = f'{pathlib.Path(PROGRAMS[2]).resolve().parent}:{os.environ["PATH"]}'
        config = self.machine.dir / 'irisd.conf'
        config.write_text(f'[irisd]\notlp={collector.url}\nhttp-options=--limit otlp-interval-ms=20\n')
        irisd = self.machine.start_irisd('--config', str(config))
        self.assertIn(collector.url + '/v1/traces', irisd.wait_for('spans go to'))
        self.echo()
        collector.wait_for(1)
        self.assertNotIn('listening at', irisd.text())
        self.assertEqual(irisd.end(), 0)
        config.write_text('[irisd]\notlp=nowhere\n')
        irisd = self.machine.start([PROGRAMS[0], '--config', str(config), '--check-config'])
        irisd.child.wait()
        self.assertIn('is no address of a collector', irisd.text())


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
