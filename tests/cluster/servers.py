# SPDX-License-Identifier: LGPL-2.1-or-later
"""Three nats-servers with JetStream, on loopback or each in a network of its own (network.py)."""
import contextlib
import datetime
import json
import os
import re
import subprocess
import urllib.error
import urllib.request

from nats import ApiError, Nats, NatsError
from processes import PATIENCE_S, free_ports, patience, wait_until
from tap import Skipped


def program():
    """The nats-server that nats-server.sh found; a case that needs one is skipped without it."""
    path = os.environ.get('IRIS_NATS_SERVER')
    if not path:
        raise Skipped('IRIS_NATS_SERVER names no nats-server; ./test --only cluster gets one')
    return path


class Server:
    """One nats-server: its ports, its store and its process stay the same over restarts of it."""

    def __init__(self, folder, name, host='127.0.0.1', inside=()):
        self.name, self.host, self.inside = name, host, list(inside)
        self.process = folder.process(name)
        self.store = folder.path / (name + '-store')
        self.config = folder.path / (name + '.conf')
        self.store.mkdir()
        # In a network of its own every port is free.
        self.port, self.route_port, self.http_port = (4222, 6222, 8222) if inside else free_ports(3)

    def url(self, login=None, scheme='nats'):
        return f'{scheme}://{login + "@" if login else ""}{self.host}:{self.port}'

    def write_config(self, servers, cluster, sync, more):
        routes = ', '.join(f'"nats://{other.host}:{other.route_port}"' for other in servers if other is not self)
        joined = f'cluster {{ name: {cluster}, listen: "{self.host}:{self.route_port}", routes: [{routes}] }}' if routes else ''
        self.config.write_text(f'''server_name: {self.name}
listen: "{self.host}:{self.port}"
http: "{self.host}:{self.http_port}"
jetstream {{ store_dir: "{self.store}", max_memory_store: 64MB, max_file_store: 64GB{sync} }}
{joined}
{more}
''')

    def start(self):
        self.process.spawn([*self.inside, program(), '--config', str(self.config)])

    def healthy(self):
        if not self.process.alive():
            raise AssertionError(f'{self.name} ended:\n{self.process.text()[-2000:]}')
        try:
            with urllib.request.urlopen(f'http://{self.host}:{self.http_port}/healthz', timeout=2) as answer:
                return json.load(answer).get('status') == 'ok'
        except (urllib.error.URLError, OSError, ValueError):
            return False

    def clock(self):
        """Its time of day, in seconds of 1970."""
        return datetime.datetime.fromisoformat(re.sub(r'\.\d+|Z$', '', self.monitor('varz')['now']) + '+00:00').timestamp()

    def monitor(self, page):
        with urllib.request.urlopen(f'http://{self.host}:{self.http_port}/{page}', timeout=5) as answer:
            return json.load(answer)


class Servers:
    """A cluster of them; `more` is text for every configuration: accounts, users, TLS."""

    def __init__(self, folder, count=3, sync='always', more='', login=None, scheme='nats', context=None, networks=None,
                 start=True):
        self.folder, self.login, self.scheme, self.context = folder, login, scheme, context
        self.name = folder.path.name.replace('_', '-')
        self.all = [Server(folder, f's{number + 1}', *([networks[number].address, networks[number].command]
                                                        if networks else []))
                    for number in range(count)]
        for server in self.all:
            server.write_config(self.all, self.name, f', sync_interval: {sync}' if sync else '', more)
        folder.states.append(self.describe)
        if start:
            self.start()

    def __iter__(self):
        return iter(self.all)

    def __getitem__(self, name):
        return next(server for server in self.all if server.name == name) if isinstance(name, str) else self.all[name]

    def urls(self):
        """As irisd's option --cluster takes them."""
        return ','.join(server.url(self.login, self.scheme) for server in self.all)

    def start(self):
        for server in self.all:
            server.start()
        self.wait()

    def wait(self):
        """Until each says that it is healthy, and a stream of theirs has stored a message."""
        for server in self.all:
            wait_until(server.healthy, f'{server.name} is healthy')
        self.wait_for_quorum()

    def connect(self, server=None, timeout=5.0):
        """To one server, or to the first that answers."""
        if server is not None:
            return Nats(server.url(self.login, self.scheme), timeout, self.context)
        errors = []
        for one in self.all:
            if not one.process.alive() or one.process.stopped:
                continue
            try:
                return Nats(one.url(self.login, self.scheme), patience(min(timeout, 2.0)), self.context)
            except NatsError as error:
                errors.append(str(error))
        raise NatsError('; '.join(errors) or 'no server runs')

    def ask(self, request, what):
        """What request(connection) returns; again while a server is silent or has no leader yet."""
        def asked():
            try:
                with self.connect() as nats:
                    return [request(nats)]
            except (NatsError, ApiError) as error:
                if isinstance(error, ApiError) and error.code not in (500, 503):
                    raise
                return None
        return wait_until(asked, what)[0]

    def api(self, name, body=None):
        """The answer of JetStream's API, which may have done the same before."""
        return self.ask(lambda nats: nats.api(name, body), name)

    def store(self, subject, data, msg_id):
        """A message once, however often it is sent."""
        return self.ask(lambda nats: nats.store(subject, data, msg_id=msg_id), f'{msg_id} is stored')

    def wait_for_quorum(self, limit=PATIENCE_S):
        """A PubAck is the only sign that a majority works."""
        stream = {'name': 'RIG_QUORUM', 'subjects': ['rig.quorum'], 'num_replicas': len(self.all), 'max_msgs': 1}

        def stored():
            try:
                with self.connect() as nats:
                    nats.api('STREAM.CREATE.RIG_QUORUM', stream, timeout=3)
                    nats.store('rig.quorum', b'x')
                    nats.api('STREAM.DELETE.RIG_QUORUM', {}, timeout=3)
                    return True
            except (NatsError, ApiError):
                return False
        wait_until(stored, 'a message is stored on a majority', limit)

    def describe(self):
        """What each does, and where items and their ends are, in lines."""
        lines = [f'{server.name}: ' + ('stopped' if server.process.stopped else 'runs' if server.process.alive() else 'does not run')
                 for server in self.all]

        def tell(name, about, fields):
            leader = about.get('cluster', {}).get('leader')
            lines.append(f'{name}: ' + ', '.join(f'{about.get(field)} {field}' for field in fields) + f', led by {leader}')
        try:
            with self.connect() as nats:
                for stream in ('IRIS', 'IRIS_ENDS'):
                    answer = nats.api('STREAM.INFO.' + stream)
                    tell(stream, {**answer, **answer['state']}, ('messages',))
                for consumer in nats.api('CONSUMER.LIST.IRIS')['consumers']:
                    tell(consumer['name'], consumer, ('num_pending', 'num_ack_pending', 'num_redelivered', 'num_waiting'))
        except (NatsError, ApiError) as error:
            lines.append(str(error))
        return lines

    def leader(self, stream):
        """The server that leads a stream, once there is one."""
        def find():
            try:
                with self.connect() as nats:
                    return nats.stream_leader(stream)
            except (NatsError, ApiError):
                return None
        return self[wait_until(find, f'stream {stream} has a leader')]

    def lead(self, stream, server):
        """Has a stream led by that server."""
        def leads():
            if self.leader(stream) is server:
                return True
            with contextlib.suppress(NatsError, ApiError), self.connect() as nats:
                nats.api(f'STREAM.LEADER.STEPDOWN.{stream}', {'placement': {'preferred': server.name}})
            return False
        wait_until(leads, f'{server.name} leads {stream}')

    @contextlib.contextmanager
    def stopped(self):
        """None answers meanwhile; what was sent to one is read when it goes on."""
        for server in self.all:
            server.process.stop()
        try:
            yield
        finally:
            for server in self.all:
                server.process.go_on()

    def restart(self, server):
        server.start()
        wait_until(server.healthy, f'{server.name} is healthy again')


def make_certificates(folder, host='127.0.0.1'):
    """A CA, a server's certificate and a client's, by openssl: paths by name."""
    path = folder.path / 'tls'
    path.mkdir()
    names = {name: path / name for name in ('ca.pem', 'ca.key', 'server.pem', 'server.key', 'client.pem', 'client.key')}

    def openssl(*arguments):
        subprocess.run(['openssl', *map(str, arguments)], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.PIPE, timeout=patience())
    ecdsa = ('-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes')
    openssl('req', '-x509', *ecdsa, '-days', 1, '-subj', '/CN=rig CA', '-keyout', names['ca.key'], '-out', names['ca.pem'])
    for who in ('server', 'client'):
        request, extra = path / (who + '.csr'), path / (who + '.ext')
        extra.write_text(f'subjectAltName=IP:{host}\n')
        openssl('req', *ecdsa, '-subj', '/CN=' + who, '-keyout', names[who + '.key'], '-out', request)
        openssl('x509', '-req', '-in', request, '-CA', names['ca.pem'], '-CAkey', names['ca.key'], '-CAcreateserial',
                '-days', 1, '-extfile', extra, '-out', names[who + '.pem'])
    return names


def tls_config(names):
    """For `more` of Servers: clients must show a certificate of the CA."""
    return (f'tls {{ cert_file: "{names["server.pem"]}", key_file: "{names["server.key"]}", '
            f'ca_file: "{names["ca.pem"]}", verify: true }}')
