# SPDX-License-Identifier: LGPL-2.1-or-later
"""irisd, irisd-web and requests to it, for the tests test-web-*.py."""
import http.client
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time

# Until a condition holds: far more than any of it takes, also under a sanitizer.
PATIENCE_S = 120


def wait_until(condition, what):
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f'{what}: not within {PATIENCE_S} s')
        select.select([], [], [], 0.02)


def in_time(ask_it):
    """What it returns. A busy machine may take longer than irisd-web's limit for a request; then it is called again."""
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            return ask_it()
        except (OSError, http.client.HTTPException):
            if time.monotonic() > end:
                raise


class Process:
    """A program with the lines that it prints."""

    def __init__(self, args, env):
        self.output = tempfile.TemporaryFile()
        self.child = subprocess.Popen(args, env=env, stdin=subprocess.DEVNULL, stdout=self.output, stderr=self.output)

    def text(self):
        return os.pread(self.output.fileno(), 1 << 24, 0).decode('utf-8', 'replace')

    def wait_for(self, words):
        def found():
            if self.child.poll() is not None and words not in self.text():
                raise AssertionError(f'{self.child.args[0]} ended:\n{self.text()}')
            return words in self.text()

        wait_until(found, f'“{words}” from {self.child.args[0]}')
        return next(line for line in self.text().splitlines() if words in line)

    def end(self, how=signal.SIGTERM):
        if self.child.poll() is None:
            self.child.send_signal(how)
        status = self.child.wait(PATIENCE_S)
        self.output.close()
        return status


class Machine:
    """A directory with irisd, irisctl and irisd-web in it."""

    def __init__(self, irisd, irisctl, irisd_web):
        self.programs = {'irisd': irisd, 'irisctl': irisctl, 'irisd-web': irisd_web}
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix='iris-web-'))
        self.tokens = self.dir / 'tokens'
        self.env = dict(os.environ, IRIS_RUNTIME_DIR=str(self.dir / 'run'), XDG_CONFIG_HOME=str(self.dir / 'config'),
                        LC_ALL='C.UTF-8')
        self.processes = []
        self.refusing = []

    def close(self):
        for refusing in self.refusing:
            refusing.close()
        for process in reversed(self.processes):
            if not process.output.closed:
                process.end(signal.SIGKILL)
        shutil.rmtree(self.dir)

    def start(self, args):
        process = Process(args, self.env)
        self.processes.append(process)
        return process

    def start_irisd(self, *args):
        irisd = self.start([self.programs['irisd'], '--journal', str(self.dir / 'journal'), '--no-bind', *args])
        irisd.wait_for('serving at')
        return irisd

    def start_irisd_alone(self, *args, join_ms=86400000):
        """irisd of a cluster whose servers are not there: their port is taken, and refuses. It says for that long that it is joining."""
        refusing = socket.socket()
        refusing.bind(('127.0.0.1', 0))
        self.refusing.append(refusing)
        secret, config = self.dir / 'secret', self.dir / 'irisd.conf'
        secret.write_text('0123456789abcdef0123456789abcdef')
        secret.chmod(0o600)
        config.write_text(f'[cluster]\nurl = nats://anna:sesame@127.0.0.1:{refusing.getsockname()[1]}\nnode = n1\n'
                          f'secret-file = {secret}\njoin-ms = {join_ms}\n')
        config.chmod(0o600)
        irisd = self.start_irisd('--config', str(config), *args)
        irisd.wait_for('local work goes on')
        return irisd

    def start_web(self, *args):
        web = self.start([self.programs['irisd-web'], '--http', '127.0.0.1:0', '--tokens', str(self.tokens), *args])
        line = web.wait_for('listening at')
        web.port = int(line.rstrip('/').rsplit(':', 1)[1])
        web.url = line.split()[-1]
        return web

    def irisctl(self, *args):
        return subprocess.run([self.programs['irisctl'], *args], env=self.env, check=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, encoding='utf-8').stdout

    def submit(self, *args):
        """The number of a durable item."""
        return int(self.irisctl('submit', '--class', 'durable', '--detach', *args).split()[-1])

    def run_web(self, *args):
        return subprocess.run([self.programs['irisd-web'], '--tokens', str(self.tokens), *args], env=self.env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              encoding='utf-8', timeout=PATIENCE_S)

    def new_token(self, name, role):
        return self.run_web('--new-token', name, '--role', role).stdout.strip()


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def text(self):
        return self.body.decode('utf-8')

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        return self.json['error']['name']


def ask(web, method, path, headers=(), body=None, token=None):
    connection = http.client.HTTPConnection('127.0.0.1', web.port, timeout=PATIENCE_S)
    sent = dict(headers)
    if token is not None:
        sent['Authorization'] = f'Bearer {token}'
    if body is not None and not isinstance(body, (str, bytes)):
        body = json.dumps(body)
        sent.setdefault('Content-Type', 'application/json')
    try:
        connection.request(method, path, body=body, headers=sent)
        return Answer(connection.getresponse())
    finally:
        connection.close()


def get(web, path, **more):
    return ask(web, 'GET', path, **more)


def post(web, path, body, **more):
    return ask(web, 'POST', path, body=body, **more)


class Raw:
    """A connection for requests that no library would send."""

    def __init__(self, web, buffer=None):
        self.socket = socket.socket()
        self.socket.settimeout(PATIENCE_S)
        if buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.socket.connect(('127.0.0.1', web.port))

    def send(self, text):
        """What the peer takes of it: it may close meanwhile."""
        try:
            self.socket.sendall(text.encode())
        except (BrokenPipeError, ConnectionResetError):
            pass

    def read(self):
        """All until the end."""
        text = b''
        try:
            while piece := self.socket.recv(65536):
                text += piece
        except ConnectionResetError:
            pass
        return text.decode('utf-8', 'replace')

    def status(self):
        text = self.read()
        return int(text.split()[1]) if text else None

    def close(self):
        self.socket.close()


class Page:
    """A reader of /events."""

    def __init__(self, web, token=None, buffer=None):
        self.raw = Raw(web, buffer)
        bearer = f'Authorization: Bearer {token}\r\n' if token else ''
        self.raw.send(f'GET /events HTTP/1.1\r\nHost: localhost\r\n{bearer}\r\n')
        self.file = self.raw.socket.makefile('rb')
        self.status = int(self.file.readline().split()[1])
        while self.file.readline().strip():
            pass

    def next(self):
        """The next state, or None at the end."""
        while line := self.file.readline():
            if line.startswith(b'data: '):
                return json.loads(line[len(b'data: '):])
        return None

    def wait_for(self, condition):
        while state := self.next():
            if condition(state):
                return state
        raise AssertionError('the page was disconnected')

    def close(self):
        self.file.close()
        self.raw.close()


def count_descriptors(process):
    return len(os.listdir(f'/proc/{process.child.pid}/fd'))
