#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What irisd-web refuses and what it bears: bad requests, strangers, slow readers, many pages, tokens, irisd gone and back.

    test-web-server.py irisd irisctl irisd-web SOURCE-DIRECTORY
"""
import base64
import http.client
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import unittest

from web import Machine, Page, Raw, ask, count_descriptors, get, in_time, post, wait_until

PROGRAMS, SOURCE = sys.argv[1:4], pathlib.Path(sys.argv[4])


class WebTest(unittest.TestCase):
    def setUp(self):
        self.machine = Machine(*PROGRAMS)
        self.addCleanup(self.machine.close)


class Requests(WebTest):
    def setUp(self):
        super().setUp()
        self.web = self.machine.start_web('--limit', 'request-line-bytes=200', '--limit', 'header-bytes=2000',
                                          '--limit', 'headers=20', '--limit', 'body-bytes=500')

    def test_paths_and_methods(self):
        self.assertEqual(get(self.web, '/healthz').text, 'ok\n')
        self.assertEqual(get(self.web, '/').status, 200)
        for path in '/nothing', '/page/nothing.js', '/page/../../etc/passwd', '/items/x', '/items/17/nothing':
            with self.subTest(path=path):
                self.assertEqual(get(self.web, path).status, 404)
        answer = ask(self.web, 'DELETE', '/metrics')
        self.assertEqual((answer.status, answer.error, answer.headers['Allow']), (405, 'bad-method', 'GET, HEAD'))
        self.assertEqual(get(self.web, '/login').headers['Allow'], 'POST')
        self.assertEqual(ask(self.web, 'HEAD', '/healthz').body, b'')

    def test_each_answer_forbids_what_a_page_does_not_need(self):
        for path in '/', '/healthz', '/nothing':
            headers = get(self.web, path).headers
            self.assertIn("default-src 'none'", headers['Content-Security-Policy'])
            self.assertEqual(headers['X-Content-Type-Options'], 'nosniff')
            self.assertNotIn('Access-Control-Allow-Origin', headers)

    def test_a_request_that_is_too_large_is_refused_before_it_is_read(self):
        def send(text):
            raw = Raw(self.web)
            raw.send(text)
            answer = raw.read()
            raw.close()
            return answer

        long_path = send('GET /' + 'x' * 500 + ' HTTP/1.1\r\nHost: localhost\r\n\r\n')
        self.assertIn(' 414 ', long_path)
        self.assertIn('limit request-line-bytes', long_path)
        self.assertIn(' 414 ', send('GET /' + 'x' * 500))
        many = send('GET / HTTP/1.1\r\nHost: localhost\r\n' + 'A: b\r\n' * 5000)
        self.assertIn(' 431 ', many)
        self.assertIn('limit headers', many)
        self.assertIn(' 431 ', send('GET / HTTP/1.1\r\nHost: localhost\r\nA: ' + 'x' * 100000))
        self.assertIn(' 431 ', send('GET / HTTP/1.1\r\nHost: localhost\r\nA: ' + 'x' * 2000 + '\r\n\r\n'))
        self.assertIn(' 413 ', send('POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n'))
        self.assertIn(' 411 ', send('POST /login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n'))
        self.assertEqual(get(self.web, '/healthz').status, 200)

    def test_what_is_no_request_is_refused(self):
        for text in '\r\n\r\n', 'nonsense\r\n\r\n', 'GET\r\n\r\n', '\0\0\0\n\n', 'GET / HTTP/1.1\r\n\r\n':
            with self.subTest(text=text):
                raw = Raw(self.web)
                raw.send(text)
                self.assertIn(raw.status(), (400, None))
                raw.close()
        self.assertEqual(get(self.web, '/healthz').status, 200)

    def test_a_foreign_host_or_origin_is_refused(self):
        self.assertEqual(get(self.web, '/healthz', headers={'Host': 'example.org'}).status, 421)
        for host in 'localhost:1', '127.0.0.1', '[::1]:80':
            self.assertEqual(get(self.web, '/healthz', headers={'Host': host}).status, 200)
        for origin in 'http://example.org', 'null', 'https://127.0.0.1:%d' % self.web.port:
            answer = post(self.web, '/login', {'token': 'x'}, headers={'Origin': origin})
            self.assertEqual((answer.status, answer.error), (403, 'not-permitted'))
        own = {'Origin': 'http://127.0.0.1:%d' % self.web.port}
        self.assertEqual(post(self.web, '/login', {'token': 'x'}, headers=own).status, 401)

    def test_a_host_can_be_named(self):
        web = self.machine.start_web('--host', 'example.org')
        self.assertEqual(get(web, '/healthz', headers={'Host': 'example.org'}).status, 200)

    def test_a_body_that_is_no_object_is_refused(self):
        for body in '', '[]', '{', '1', '"x"', '{"token": 1}x', '\xff', '[' * 400:
            with self.subTest(body=body):
                answer = post(self.web, '/login', body.encode('latin1'), headers={'Content-Type': 'application/json'})
                self.assertEqual((answer.status, answer.error), (400, 'bad-request'))
        self.assertEqual(post(self.web, '/login', 'token=x').status, 415)
        self.assertEqual(post(self.web, '/login', {'token': 1}).status, 401)


class Connections(WebTest):
    def test_a_slow_request_is_closed(self):
        web = self.machine.start_web('--limit', 'request-ms=200')
        silent, slow = Raw(web), Raw(web)
        slow.send('GET /healthz HTTP/1.1\r\nHost: local')
        body = Raw(web)
        body.send('POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{')
        for raw in silent, slow, body:
            self.assertIsNone(raw.status())
            raw.close()

    def test_connections_beyond_the_limit_are_closed_and_others_served(self):
        web = self.machine.start_web('--limit', 'connections=10')
        first = [Raw(web) for _ in range(10)]
        more = [Raw(web) for _ in range(20)]
        for raw in more:
            self.assertIsNone(raw.status())
        first[0].send('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
        self.assertEqual(first[0].status(), 200)
        for raw in first + more:
            raw.close()
        answer = []

        def served():
            raw = Raw(web)
            raw.send('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
            answer.append(raw.status())
            raw.close()
            return answer[-1] == 200

        wait_until(served, 'a connection after the others were closed')

    def test_closed_connections_leave_nothing(self):
        web = self.machine.start_web()
        get(web, '/healthz')
        before = count_descriptors(web)
        for text in '', 'GET', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n', 'GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n':
            for _ in range(50):
                raw = Raw(web)
                raw.send(text)
                raw.close()
        wait_until(lambda: count_descriptors(web) <= before, 'the descriptors of closed connections')

    def test_a_reader_of_an_answer_that_sleeps_is_cut_off(self):
        self.machine.start_irisd('--topology', 'package:64 core:1 pu:1', '--places', 'package')
        web = self.machine.start_web('--limit', 'request-ms=200')
        wait_until(lambda: len(in_time(lambda: get(web, '/history?places=1')).json['places']) == 64,
                   'the places of the history')

        def fall_asleep():
            raw = Raw(web, buffer=4096)
            raw.send('GET /history?places=1 HTTP/1.1\r\nHost: localhost\r\n\r\n')
            if not raw.socket.recv(1, socket.MSG_PEEK):
                raise ConnectionResetError
            return raw

        sleepers = [in_time(fall_asleep) for _ in range(5)]
        wait_until(lambda: '\nirisd_web_connections 1\n' in in_time(lambda: get(web, '/metrics')).text,
                   'the end of sleeping readers')
        for raw in sleepers:
            head, _, body = raw.read().partition('\r\n\r\n')
            self.assertNotIn(f'Content-Length: {len(body)}\r\n', head + '\r\n')
            raw.close()


class Tokens(WebTest):
    def login(self, web, token, **headers):
        return post(web, '/login', {'token': token}, headers=headers)

    def test_a_token_is_a_session_until_logout(self):
        token = self.machine.new_token('anna', 'control')
        web = self.machine.start_web()
        self.assertEqual(get(web, '/session').json, {'role': 'sums', 'name': '', 'expires_ms': 0, 'tokens': True})
        answer = self.login(web, token)
        self.assertEqual((answer.status, answer.json['role'], answer.json['name']), (200, 'control', 'anna'))
        cookie = answer.headers['Set-Cookie']
        for part in 'HttpOnly', 'SameSite=Strict', 'Path=/':
            self.assertIn(part, cookie)
        self.assertNotIn(token, cookie)
        mine = {'Cookie': cookie.split(';')[0]}
        self.assertEqual(get(web, '/session', headers=mine).json['role'], 'control')
        # A session's POST wants the browser's word for where it comes from.
        self.assertEqual(post(web, '/logout', {}, headers=mine).status, 403)
        mine['Origin'] = f'http://127.0.0.1:{web.port}'
        answer = post(web, '/logout', {}, headers=mine)
        self.assertEqual((answer.status, answer.json['role']), (200, 'sums'))
        self.assertIn('Max-Age=0', answer.headers['Set-Cookie'])
        self.assertEqual(get(web, '/session', headers=mine).json['role'], 'sums')

    def test_wrong_expired_and_revoked_tokens_are_refused(self):
        token = self.machine.new_token('anna', 'observe')
        old = self.machine.new_token('old', 'observe')
        text = self.machine.tokens.read_text()
        self.assertNotIn(token[5:], text)
        head, tail = text.split('[old]')
        year = tail.split('expires=')[1][:4]
        self.machine.tokens.write_text(head + '[old]' + tail.replace('expires=' + year, 'expires=2020'))
        self.assertIn('expired', self.machine.run_web('--list-tokens').stdout)
        web = self.machine.start_web()
        self.assertEqual(get(web, '/session', token=token).json['role'], 'observe')
        for wrong in old, 'iris_', '', token + 'x', 'x' * 4000:
            with self.subTest(token=wrong[:20]):
                self.assertEqual(get(web, '/session', token=wrong).status, 401)
        cookie = self.login(web, token).headers['Set-Cookie'].split(';')[0]
        page = Page(web, token)
        self.assertEqual(page.next()['role'], 'observe')
        self.assertEqual(self.machine.run_web('--revoke-token', 'anna').returncode, 0)
        self.assertEqual(get(web, '/session', headers={'Cookie': cookie}).json['role'], 'sums')
        while page.next() is not None:
            pass
        page.close()
        self.assertEqual(get(web, '/session', token=token).status, 401)

    def test_too_many_wrong_tokens_have_to_wait(self):
        token = self.machine.new_token('anna', 'observe')
        web = self.machine.start_web()
        # A minute may begin in between.
        statuses = [self.login(web, 'wrong').status for _ in range(21)]
        self.assertIn(429, statuses)
        self.assertEqual(set(statuses), {401, 429})
        self.assertEqual(get(web, '/healthz').status, 200)
        self.assertIn(self.login(web, token).status, (200, 429))

    def test_a_file_that_others_may_write_is_not_used(self):
        token = self.machine.new_token('anna', 'observe')
        self.assertEqual(self.machine.tokens.stat().st_mode & 0o777, 0o600)
        web = self.machine.start_web()
        self.machine.tokens.chmod(0o622)
        self.assertEqual(get(web, '/session', token=token).status, 401)
        self.assertIn('other users may write it', web.text())
        self.assertEqual(self.machine.run_web('--list-tokens').returncode, 1)
        self.machine.tokens.chmod(0o600)
        self.assertEqual(get(web, '/session', token=token).status, 200)

    def test_a_file_with_a_mistake_is_not_used(self):
        web = self.machine.start_web()
        for text in '[x]\nhash=1\n', '[x]\nhash=sha256:%s\nrole=king\nexpires=2030-01-01T00:00:00Z\n' % ('0' * 64), 'x', \
                '[x]\nhash=sha256:%s\nrole=control\nexpires=never\n' % ('0' * 64):
            self.machine.tokens.write_text(text)
            self.machine.tokens.chmod(0o600)
            self.assertEqual(get(web, '/session', token='iris_x').status, 401)
            self.assertEqual(self.machine.run_web('--list-tokens').returncode, 1)

    def test_names_roles_and_days_are_checked(self):
        for args in ('--new-token', 'a]b'), ('--new-token', ''), ('--new-token', 'x', '--role', 'king'), \
                ('--new-token', 'x', '--days', '0'), ('--revoke-token', 'x'), ('--limit', 'pages=0'), ('--limit', 'x=1'), ('x',):
            with self.subTest(args=args):
                self.assertIn(self.machine.run_web(*args).returncode, (1, 2))
        self.machine.new_token('x', 'sums')
        self.assertIn('revoke it first', self.machine.run_web('--new-token', 'x').stdout)

    def test_beyond_loopback_needs_tls_and_a_token(self):
        def refused(*args):
            run = self.machine.run_web('--http', '0.0.0.0:0', *args)
            self.assertEqual(run.returncode, 1)
            return run.stdout

        self.assertIn('--tls-certificate', refused())
        self.assertIn('belong together', refused('--tls-key', 'x'))
        self.assertIn('cannot be used', refused('--tls-key', '/dev/null', '--tls-certificate', '/dev/null'))
        if shutil.which('openssl') is None:
            self.skipTest('there is no openssl to make a certificate')
        pem, key = str(self.machine.dir / 'pem'), str(self.machine.dir / 'key')
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-subj',
                        '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', pem],
                       check=True, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        tls = ('--tls-certificate', pem, '--tls-key', key)
        self.assertIn('has no token', refused(*tls))
        token = self.machine.new_token('anna', 'observe')
        web = self.machine.start_web('--http', '0.0.0.0:0', *tls, '--limit', 'request-ms=2000')
        context = ssl.create_default_context(cafile=pem)
        connections = []

        def ask_tls(path, more=None):
            connection = http.client.HTTPSConnection('127.0.0.1', web.port, context=context, timeout=60)
            connections.append(connection)
            connection.request('GET', path, headers=more or {})
            return connection.getresponse().status

        self.assertEqual(in_time(lambda: ask_tls('/healthz')), 200)
        self.assertEqual(in_time(lambda: ask_tls('/metrics')), 401)
        self.assertEqual(in_time(lambda: ask_tls('/statistics', {'Authorization': f'Bearer {token}'})), 200)
        # Neither plain text nor silence holds it up.
        plain, silent = Raw(web), Raw(web)
        plain.send('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
        self.assertNotIn('200 OK', plain.read())
        self.assertIsNone(silent.status())
        for raw in plain, silent:
            raw.close()
        for connection in connections:
            connection.close()


class Pages(WebTest):
    def test_a_hundred_pages_at_once(self):
        self.machine.start_irisd()
        web = self.machine.start_web()
        pages = [Page(web) for _ in range(100)]
        for page in pages:
            first, second = page.next(), page.next()
            self.assertGreater(second['seq'], first['seq'])
        self.assertEqual(get(web, '/statistics').json['web']['pages'], 100)
        for page in pages:
            page.close()
        wait_until(lambda: get(web, '/statistics').json['web']['pages'] == 0, 'the end of all pages')

    def test_pages_beyond_the_limit_are_refused(self):
        web = self.machine.start_web('--limit', 'pages=3')
        pages = [Page(web) for _ in range(4)]
        self.assertEqual([page.status for page in pages], [200, 200, 200, 503])
        for page in pages:
            page.close()

    def test_a_page_that_sleeps_is_cut_off_and_others_go_on(self):
        self.machine.start_irisd('--topology', 'package:64 core:1 pu:1', '--places', 'package')
        web = self.machine.start_web('--limit', 'slow-reader-ms=1000')
        awake = Page(web)
        asleep = [Page(web, buffer=4096) for _ in range(3)]
        self.assertEqual([page.status for page in asleep], [200, 200, 200])
        # A busy machine may be so slow that the first is cut off before the last is there.
        four = get(web, '/statistics').json['seq']
        awake.wait_for(lambda state: state['seq'] > four and state['web']['pages'] == 1)
        for page in asleep + [awake]:
            page.close()

    def test_irisd_is_killed_and_back(self):
        irisd = self.machine.start_irisd()
        web = self.machine.start_web()
        page = Page(web)
        state = page.wait_for(lambda state: state['connected'])
        self.assertTrue(state['ready'])
        self.assertEqual(state['daemon']['pid'], irisd.child.pid)
        self.assertEqual(get(web, '/readyz').text, 'ready\n')
        irisd.end(signal.SIGKILL)
        state = page.wait_for(lambda state: not state['connected'])
        self.assertNotIn('daemon', state)
        self.assertTrue(state['why'])
        answer = get(web, '/readyz')
        self.assertEqual(answer.status, 503)
        self.assertIn('irisd', answer.text)
        self.assertEqual(get(web, '/healthz').status, 200)
        self.assertIn('\nirisd_up 0\n', get(web, '/metrics').text)
        token = self.machine.new_token('anna', 'observe')
        answer = get(web, '/items', token=token)
        self.assertEqual((answer.status, answer.error), (503, 'not-connected'))
        self.assertIn('Retry-After', answer.headers)
        again = self.machine.start_irisd()
        state = page.wait_for(lambda state: state['connected'])
        self.assertEqual(state['daemon']['pid'], again.child.pid)
        wait_until(lambda: get(web, '/readyz').status == 200, 'irisd to be ready again')
        page.close()


class Items(WebTest):
    def setUp(self):
        super().setUp()
        self.machine.start_irisd('--topology', 'package:2 core:1 pu:1', '--places', 'package')
        self.web = self.machine.start_web()
        self.token = self.machine.new_token('anna', 'control')
        self.observer = self.machine.new_token('otto', 'observe')

    def get(self, path):
        return get(self.web, path, token=self.token).json

    def post(self, path, body):
        return post(self.web, path, body, token=self.token)

    def test_items_are_listed_filtered_searched_and_shown(self):
        waiting = [self.machine.submit('--delay', '1h', '--key', f'word-{i}', 'echo', 'x') for i in range(5)]
        ended = self.machine.submit('--keep', '1h', 'echo', 'other')
        wait_until(lambda: self.get(f'/items/{ended}')['state'] == 'done', 'the end of an item')
        self.assertEqual([item['number'] for item in self.get('/items?state=delayed')['items']], waiting[::-1])
        page = self.get('/items?state=delayed&order=oldest&count=2')
        self.assertEqual([item['number'] for item in page['items']], waiting[:2])
        self.assertTrue(page['more'])
        page = self.get(f'/items?state=delayed&order=oldest&count=2&behind={page["next"]}')
        self.assertEqual([item['number'] for item in page['items']], waiting[2:4])
        self.assertEqual([item['number'] for item in self.get('/items?state=done,failed')['items']], [ended])
        self.assertEqual([item['number'] for item in self.get('/items?search=WORD-3')['items']], [waiting[3]])
        self.assertEqual(self.get('/items?service=none')['items'], [])
        self.assertFalse(self.get('/items?state=delayed')['more'])
        item = self.get(f'/items/{waiting[0]}')
        self.assertEqual((item['service'], item['class'], item['key']), ('echo', 'durable', 'word-0'))
        self.assertEqual([item['number'] for item in self.get('/items?key=word-2')['items']], [waiting[2]])
        for bad in 'state=x', 'count=0', 'count=x', 'behind=-1', 'class=volatile', 'order=x', 'x=1':
            with self.subTest(query=bad):
                self.assertEqual(get(self.web, '/items?' + bad, token=self.token).status, 400)
        self.assertEqual(get(self.web, '/items/99999', token=self.token).status, 404)
        self.assertEqual(get(self.web, '/items/0', token=self.token).status, 404)
        self.assertEqual(get(self.web, '/items').status, 403)

    def test_items_are_cancelled_kicked_and_buried(self):
        one, two = self.machine.submit('--delay', '1h', 'echo', 'x'), self.machine.submit('--delay', '1h', '--keep', '1h', 'echo', 'y')
        for path in f'/items/{one}/cancel', f'/items/{one}/kick', f'/items/{one}/bury', '/places/0/drain', '/places/0/workers':
            self.assertEqual(post(self.web, path, {}, token=self.observer).status, 403)
            self.assertEqual(post(self.web, path, {}).status, 403)
        self.assertEqual(self.post(f'/items/{one}/cancel', {}).json, {'changed': 1, 'was_running': False})
        wait_until(lambda: get(self.web, f'/items/{one}', token=self.token).json.get('state') in ('cancelled', None), 'the cancelling')
        self.assertEqual(self.post(f'/items/{two}/bury', {'reason': 'later'}).json, {'changed': 1})
        item = self.get(f'/items/{two}')
        self.assertEqual((item['state'], item['message']), ('buried', 'later'))
        # The first one takes it back to its delay, which the second one ends.
        for _ in range(2):
            self.assertEqual(self.post(f'/items/{two}/kick', {}).json, {'changed': 1})
        wait_until(lambda: self.get(f'/items/{two}')['state'] == 'done', 'the kicked item')
        self.assertEqual(self.post(f'/items/{two}/kick', {}).status, 409)
        self.assertEqual(self.post('/items/99999/cancel', {}).status, 404)
        self.assertEqual(self.post(f'/items/{two}/bury', {'reason': 1}).status, 400)
        self.web.wait_for('“anna”: cancel item')

    def test_output_is_shown_and_stays(self):
        command = self.machine.submit('--keep', '1h', 'command', 'sh', '-c', 'echo out; echo err >&2; exit 3')
        echo = self.machine.submit('--keep', '1h', 'echo', 'hello')
        waiting = self.machine.submit('--delay', '1h', 'echo', 'x')
        self.machine.irisctl('wait', str(echo))
        wait_until(lambda: self.get(f'/items/{command}')['ended_ms'] > 0, 'the end of a command')
        for _ in range(3):
            output = self.get(f'/items/{command}/output')
            self.assertEqual((output['ended'], output['exit_status'], output['output'], output['errors']), (True, 3, 'out\n', 'err\n'))
            self.assertEqual(self.get(f'/items/{echo}/output?from=0')['output'], 'hello')
        self.assertEqual(self.machine.irisctl('result', str(echo)).strip(), 'hello')
        wait_until(lambda: get(self.web, f'/items/{echo}/output', token=self.token).status == 404, 'a result that was fetched')
        output = self.get(f'/items/{waiting}/output')
        self.assertEqual((output['ended'], output['state'], output['output']), (False, 'delayed', ''))
        self.post(f'/items/{waiting}/cancel', {})
        self.assertEqual(get(self.web, '/items/0/output', token=self.token).status, 404)
        self.assertEqual(get(self.web, f'/items/{command}/output').status, 403)

    def test_output_of_a_running_command_is_told_from_where_it_was_read(self):
        pipe = self.machine.dir / 'pipe'
        os.mkfifo(pipe)
        number = self.machine.submit('command', 'sh', '-c', f'echo warned >&2; cat {pipe}')
        path, told = f'/items/{number}/output', {'output': b'', 'errors': b'', 'next': 0}

        def has(name, what):
            answer = self.get(f'{path}?from={told["next"]}')
            self.assertFalse(answer['ended'])
            for part in 'output', 'errors':
                told[part] += base64.b64decode(answer[part + '_base64']) if part + '_base64' in answer else answer[part].encode()
            if answer['live']:
                self.assertEqual(answer['state'], 'running')
                told['next'] = answer['next']
            return told[name] == what

        wait_until(lambda: has('errors', b'warned\n'), 'what the command wrote to its standard error')
        with open(pipe, 'wb', buffering=0) as written:
            # A character in two parts.
            for part, all_of_it in ((b'one \xce', b'one \xce'), (b'\xb1\n', b'one \xce\xb1\n'), (b'x' * 300000, None)):
                written.write(part)
                wait_until(lambda is_all=all_of_it or b'one \xce\xb1\n' + part: has('output', is_all), 'the output')
            self.assertEqual(told['next'], 7 + 7 + 300000)
            self.assertEqual(self.get(f'{path}?from={told["next"]}')['output'], '')
        self.assertEqual(told['errors'], b'warned\n')
        for bad in '-1', 'x', '', '9' * 30:
            self.assertEqual(get(self.web, f'{path}?from={bad}', token=self.token).status, 400)

    def test_places_are_drained_and_staffed(self):
        self.assertEqual(self.post('/places/1/drain', {'drained': True}).json, {'changed': 1})
        self.assertIn('drained', self.machine.irisctl('places'))
        self.assertEqual(self.post('/places/0/drain', {'drained': True}).status, 409)
        self.assertEqual(self.post('/places/1/drain', {'drained': False}).json, {'changed': 1})
        self.assertEqual(self.post('/places/1/workers', {'workers': 1}).json, {'changed': 0})
        self.assertEqual(self.post('/places/1/workers', {'workers': 99}).status, 409)
        self.assertEqual(self.post('/places/77/drain', {'drained': True}).status, 404)
        self.assertEqual(self.post('/places/99999999999/drain', {'drained': True}).status, 404)
        for body in {}, {'drained': 1}, {'drained': None}:
            self.assertEqual(self.post('/places/1/drain', body).status, 400)
        for body in {}, {'workers': 0}, {'workers': -1}, {'workers': '1'}, {'workers': 1e30}:
            self.assertEqual(self.post('/places/1/workers', body).status, 400)

    def test_history_has_an_hour(self):
        history = get(self.web, '/history?places=1').json
        for ring in history['series'].values():
            self.assertEqual(len(ring), history['points'])
        self.assertEqual(history['step_s'] * history['points'], 3600)


class Help(unittest.TestCase):
    def setUp(self):
        text = subprocess.run([PROGRAMS[2], '--help'], check=True, stdout=subprocess.PIPE, encoding='utf-8').stdout
        self.options = set(re.findall(r'^  (?:-\w, )?(--[a-z-]+)', text, re.M))
        self.limits = dict(re.findall(r'^  ([a-z-]+) +(\d+)  ', text, re.M))

    def test_the_manual_page_and_the_interface_tell_all_options_and_limits(self):
        page = (SOURCE / 'doc/man/irisd-web.1').read_text().replace('\\-', '-')
        self.assertEqual(set(re.findall(r'(?:\.BR? |, " )(--[a-z-]+)(?: =|$)', page, re.M)) | {'--help'}, self.options)
        self.assertEqual(dict(re.findall(r'^\.B ([a-z-]+)\n(\d+): ', page, re.M)), self.limits)
        interface = (SOURCE / 'doc/web-interface.md').read_text()
        self.assertEqual(dict(re.findall(r'^\| `([a-z-]+)` \| (\d+) \| ', interface, re.M)), self.limits)

    def test_bash_and_fish_complete_all_options(self):
        # fish makes its folders in HOME.
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        path = {'PATH': f'{pathlib.Path(PROGRAMS[2]).resolve().parent}:{os.environ["PATH"]}', 'HOME': home.name, 'LC_ALL': 'C.UTF-8'}
        folder = SOURCE / 'clients/web/completion'
        scripts = {'bash': f'source {folder}/irisd-web.bash; COMP_WORDS=(irisd-web --); COMP_CWORD=1; _irisd_web; '
                           'printf "%s\\n" "${COMPREPLY[@]}"',
                   'fish': f'source {folder}/irisd-web.fish; complete -C "irisd-web --"'}
        for shell, script in scripts.items():
            if shutil.which(shell) is None:
                continue
            with self.subTest(shell=shell):
                text = subprocess.run([shell, '-c', script], check=True, env=path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      encoding='utf-8').stdout
                self.assertEqual({line.split()[0].rstrip('=') for line in text.splitlines() if line}, self.options)


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
