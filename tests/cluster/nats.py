# SPDX-License-Identifier: LGPL-2.1-or-later
"""NATS and JetStream for the rig, in plain Python: the text protocol over a socket, and JSON requests.

Debian has no client of NATS for Python, and the tests need twenty requests of it: this file is smaller than a dependency.
One thread uses a connection. Nothing is sent again here: what the rig says about lost messages must not depend on a client
that repairs them.
"""
import base64
import json
import os
import select
import socket
import ssl
import time

NO_RESPONDERS = 503


class NatsError(Exception):
    """The connection is lost, or the server refused it."""


class Silence(NatsError):
    """No answer within the time."""


class ApiError(NatsError):
    """JetStream answered with an error."""

    def __init__(self, subject, error):
        super().__init__(f'{subject}: {error.get("description")} ({error.get("err_code")})')
        self.code = error.get('code')
        self.err_code = error.get('err_code')


class Message:
    """What arrived: headers are those of the message, status that of a message of the server (503, 404, 409)."""

    def __init__(self, subject, reply, raw_headers, data):
        self.subject, self.reply, self.data = subject, reply, data
        lines = raw_headers.decode('utf-8', 'replace').split('\r\n') if raw_headers else ['']
        words = lines[0].split(' ', 2)
        self.status = int(words[1]) if len(words) > 1 and words[1].isdigit() else None
        self.reason = words[2] if len(words) > 2 else ''
        self.headers = dict(line.split(':', 1) for line in lines[1:] if ':' in line)
        self.headers = {name: value.strip() for name, value in self.headers.items()}

    def json(self):
        return json.loads(self.data)


class Nats:
    """A connection to one server: nats://[USER:PASSWORD@]HOST:PORT or tls://…"""

    def __init__(self, url, timeout=5.0, context=None, name='rig'):
        self.url, self.timeout = url, timeout
        self.buffer = b''
        self.inbox = '_INBOX.' + base64.b32encode(os.urandom(10)).decode()
        self.count = 0
        self.waiting = {}  # subscription → messages that were not asked for yet
        self.subjects = {}  # number of a subscription → its subject
        scheme, _, rest = url.partition('://')
        login, _, address = rest.rpartition('@')
        host, _, port = address.rpartition(':')
        try:
            self.socket = socket.create_connection((host, int(port)), timeout)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            verb, self.info = self._greeting()
            if scheme == 'tls' or self.info.get('tls_required'):
                self.socket = (context or ssl.create_default_context()).wrap_socket(self.socket, server_hostname=host)
            options = {'verbose': False, 'pedantic': False, 'headers': True, 'no_responders': True, 'name': name,
                       'lang': 'rig', 'version': '1', 'protocol': 1}
            if login:
                options['user'], _, options['pass'] = login.partition(':')
            self._send(f'CONNECT {json.dumps(options)}\r\nPING\r\n'.encode())
            self.pongs = 0
            self._until(lambda: self.pongs, timeout)
            self.prefix = self.subscribe(self.inbox + '.*')
        except (OSError, ssl.SSLError) as error:
            self.close()
            raise NatsError(f'{address}: {error}') from error

    def _greeting(self):
        while b'\r\n' not in self.buffer:
            data = self.socket.recv(65536)
            if not data:
                raise NatsError(f'{self.url}: closed')
            self.buffer += data
        line, _, self.buffer = self.buffer.partition(b'\r\n')
        verb, _, text = line.partition(b' ')
        return verb, json.loads(text)

    def close(self):
        if hasattr(self, 'socket'):
            self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # --- the text protocol --------------------------------------------------------------------------

    def _send(self, data):
        try:
            self.socket.settimeout(self.timeout)
            self.socket.sendall(data)
        except OSError as error:
            raise NatsError(f'{self.url}: {error}') from error

    def _receive(self, timeout):
        """Takes what the socket has, for at most so many seconds; says whether anything came."""
        try:
            pending = isinstance(self.socket, ssl.SSLSocket) and self.socket.pending()
            if not pending and not select.select([self.socket], [], [], max(timeout, 0))[0]:
                return False
            data = self.socket.recv(1 << 18)
        except OSError as error:
            raise NatsError(f'{self.url}: {error}') from error
        if not data:
            raise NatsError(f'{self.url}: the server closed the connection')
        self.buffer += data
        while self._take():
            pass
        return True

    def _take(self):
        """Takes one operation out of the buffer."""
        line, end, rest = self.buffer.partition(b'\r\n')
        if not end:
            return False
        words = line.split()
        verb = words[0].upper()
        if verb in (b'MSG', b'HMSG'):
            size, head = int(words[-1]), int(words[-2]) if verb == b'HMSG' else 0
            if len(rest) < size + 2:
                return False
            n_numbers = 2 if verb == b'HMSG' else 1
            reply = words[3].decode() if len(words) == 4 + n_numbers else None
            message = Message(words[1].decode(), reply, rest[:head], rest[head:size])
            if int(words[2]) in self.waiting:
                self.waiting[int(words[2])].append(message)
            rest = rest[size + 2:]
        elif verb == b'PING':
            self._send(b'PONG\r\n')
        elif verb == b'PONG':
            self.pongs += 1
        elif verb == b'-ERR':
            text = line[5:].decode().strip("'")
            # Said of one subject; the connection goes on, and the request gets no answer.
            if not text.lower().startswith('permissions violation'):
                raise NatsError(f'{self.url}: {text}')
            self.violation = text
        self.buffer = rest
        return True

    def _until(self, condition, timeout, what='answer'):
        end = time.monotonic() + timeout
        while True:
            found = condition()
            if found:
                return found
            left = end - time.monotonic()
            if left <= 0 or not self._receive(left):
                found = condition()
                if found:
                    return found
                if time.monotonic() >= end:
                    raise Silence(f'{self.url}: no {what} within {timeout:g} s')

    def subscribe(self, subject):
        self.count += 1
        number = self.count
        self.subjects[number] = subject
        self.waiting[number] = []
        self._send(f'SUB {subject} {number}\r\n'.encode())
        return number

    def unsubscribe(self, number):
        self._send(f'UNSUB {number}\r\n'.encode())
        self.waiting.pop(number, None)

    def next(self, subscription, timeout=None):
        queue = self.waiting[subscription]
        self._until(lambda: queue, self.timeout if timeout is None else timeout, f'message of {self.subjects[subscription]}')
        return queue.pop(0)

    def encode(self, subject, data=b'', headers=None, reply=''):
        """The bytes of one publish, so that many can go out in one write."""
        if isinstance(data, str):
            data = data.encode()
        if not headers:
            return f'PUB {subject} {reply} {len(data)}\r\n'.encode() + data + b'\r\n'
        head = ('NATS/1.0\r\n' + ''.join(f'{name}: {value}\r\n' for name, value in headers.items()) + '\r\n').encode()
        return f'HPUB {subject} {reply} {len(head)} {len(head) + len(data)}\r\n'.encode() + head + data + b'\r\n'

    def publish(self, subject, data=b'', headers=None, reply=''):
        self._send(self.encode(subject, data, headers, reply))

    def new_inbox(self):
        self.count += 1
        return f'{self.inbox}.{self.count}'

    def answer(self, inbox, timeout, what='answer'):
        """The message that came to one inbox; those to others stay."""
        queue = self.waiting[self.prefix]

        def find():
            return next((message for message in queue if message.subject == inbox), None)
        message = self._until(find, timeout, what)
        queue.remove(message)
        return message

    def request(self, subject, data=b'', headers=None, timeout=None):
        inbox = self.new_inbox()
        self.publish(subject, data, headers, inbox)
        return self.answer(inbox, self.timeout if timeout is None else timeout, f'answer of {subject}')

    # --- JetStream ----------------------------------------------------------------------------------

    def api(self, name, body=None, timeout=None):
        """A request of JetStream's API; its errors are raised."""
        subject = '$JS.API.' + name
        message = self.request(subject, json.dumps(body) if body is not None else b'', timeout=timeout)
        if message.status:
            raise Silence(f'{subject}: {message.status} {message.reason}')
        answer = message.json()
        if 'error' in answer:
            raise ApiError(subject, answer['error'])
        return answer

    def store(self, subject, data=b'', msg_id=None, timeout=2.0, **headers):
        """Publishes to a stream and returns the PubAck: stored on a majority. Raises Silence or ApiError."""
        if msg_id is not None:
            headers['Nats-Msg-Id'] = msg_id
        message = self.request(subject, data, headers, timeout)
        return self.pub_ack(subject, message)

    @staticmethod
    def pub_ack(subject, message):
        if message.status:
            raise Silence(f'{subject}: {message.status} {message.reason}')
        answer = message.json()
        if 'error' in answer:
            raise ApiError(subject, answer['error'])
        return answer

    def direct_get(self, stream, subject, timeout=2.0):
        """The last message of a subject, or None."""
        message = self.request(f'$JS.API.DIRECT.GET.{stream}.{subject}', timeout=timeout)
        if message.status == 404:
            return None
        if message.status:
            raise Silence(f'{stream}: {message.status} {message.reason}')
        return message

    def pull(self, stream, consumer, batch=64, wait=2.0, **more):
        """Messages of a consumer: up to a batch, those that come within the time."""
        body = {'batch': batch, 'expires': int(wait * 1e9), **more}
        # What comes has the subject that it was published to, so it is known by its subscription.
        inbox = '_INBOX.' + base64.b32encode(os.urandom(10)).decode()
        number = self.subscribe(inbox)
        self.publish(f'$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}', json.dumps(body), reply=inbox)
        end, found = time.monotonic() + wait + 0.5, []
        try:
            while len(found) < batch:
                message = self.next(number, end - time.monotonic())
                if message.status in (404, 408, 409, NO_RESPONDERS):
                    break
                if message.status is None:
                    found.append(message)
        except Silence:
            pass
        finally:
            self.unsubscribe(number)
        return found

    def ack(self, message, timeout=2.0):
        """Acknowledges a message and waits until the server has it."""
        self.request(message.reply, b'+ACK', timeout=timeout)

    def stream_leader(self, stream):
        """The name of the server that leads a stream, or None."""
        return self.api(f'STREAM.INFO.{stream}').get('cluster', {}).get('leader')
