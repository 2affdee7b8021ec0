# SPDX-License-Identifier: LGPL-2.1-or-later
"""Several irisd on this machine, each with a folder, a journal and a name of its own: n1, n2, …"""
import json
import os
import secrets
import select
import subprocess
import sys

from nats import ApiError
from processes import PATIENCE_S, patience, wait_until

# Of the states of a node in NODES_REPLY.
HERE = 1
# In the network of a node: what its irisd-web answers, whatever the status.
READYZ = """
import sys, urllib.error, urllib.request
try:
    answer = urllib.request.urlopen(f'http://127.0.0.1:{sys.argv[1]}/readyz', timeout=60)
except urllib.error.HTTPError as error:
    answer = error
sys.stdout.write(answer.read().decode())
"""


class Node:
    """One irisd. It may be killed and started again on what it had."""

    def __init__(self, nodes, name, network=None, url=None, monitor=None, env=None, options=(), **cluster):
        self.nodes, self.name = nodes, name
        folder = nodes.folder
        self.dir, self.journal = folder.path / name / 'run', folder.path / name / 'journal'
        self.dir.mkdir(parents=True)
        self.dir.chmod(0o700)
        self.config = folder.path / name / 'irisd.conf'
        self.inside = network.command if network else []
        self.env = dict(os.environ, LC_ALL='C.UTF-8', XDG_CONFIG_HOME=str(folder.path / name), RIG_NODE=name, **(env or {}))
        # Whether the servers sync can only be read from a monitoring port.
        self.cluster = {'url': url or nodes.servers.urls(), 'node': name, 'secret-file': nodes.secret,
                        'monitor': f'http://{monitor.host}:{monitor.http_port}', **nodes.cluster, **cluster} if monitor else {}
        self.limits, self.options = dict(nodes.limits), list(options)
        self.process = folder.process(name)
        self.write_config()

    def write_config(self):
        groups = {'limits': self.limits, 'access': self.nodes.access, 'cluster': self.cluster}
        self.config.write_text(''.join(
            f'[{group}]\n' + ''.join(f'{key.replace("_", "-")} = {value}\n' for key, value in keys.items()) + '\n'
            for group, keys in groups.items() if keys))

    def spawn(self):
        """Starts it without waiting; returns what tells that it is ready."""
        read, write = os.pipe()
        self.process.spawn([*self.inside, self.nodes.irisd, '--config', str(self.config), '--dir', str(self.dir),
                            '--journal', str(self.journal), '--no-bind', *self.nodes.options, *self.options, '--ready-fd', str(write)],
                           pass_fds=[write], env=self.env)
        os.close(write)
        return read

    def start(self):
        read = self.spawn()
        try:
            if not select.select([read], [], [], patience())[0] or not os.read(read, 4096):
                raise AssertionError(f'{self.name} did not start:\n{self.process.text()[-3000:]}')
        finally:
            os.close(read)
        return self

    def kill(self):
        self.process.kill()

    def restart(self):
        self.process.kill()
        return self.start()

    @property
    def endpoint(self):
        return f'ipc://{self.dir}/front.ipc'

    def irisctl(self, *arguments, status=0, timeout=PATIENCE_S):
        """What irisctl prints; its exit status must be that one, or any if it is None."""
        done = subprocess.run([self.nodes.irisctl, '--dir', str(self.dir), *map(str, arguments)], env=self.env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=patience(timeout))
        if status is not None and done.returncode != status:
            raise AssertionError(f'{self.name}: irisctl {" ".join(map(str, arguments))}: status {done.returncode}\n'
                                 f'{done.stdout}{done.stderr}\nirisd says:\n{self.process.text()[-2000:]}')
        return done.stdout if status == 0 else done.stdout + done.stderr

    def json(self, *arguments, **more):
        return json.loads(self.irisctl(*arguments, '--json', **more))

    def describe(self):
        """What it is doing, in a line."""
        if self.process.stopped or not self.process.alive():
            return f'{self.name}: {"stopped" if self.process.stopped else "does not run"}'
        try:
            status = self.json('status', timeout=10)
        except (AssertionError, subprocess.SubprocessError, ValueError) as error:
            return f'{self.name}: irisctl status: {error}'
        return f'{self.name}: {status.get("commands_running")} commands run, cluster {json.dumps(status.get("cluster"))}'

    def readyz(self):
        """What irisd-web says, which irisd starts with the option --http 127.0.0.1:0."""
        lines = wait_until(lambda: [line for line in self.process.text().splitlines() if 'listening at' in line],
                           f'irisd-web of {self.name} serves')
        port = lines[-1].rstrip('/').rsplit(':', 1)[1]
        return subprocess.run([*self.inside, sys.executable, '-c', READYZ, port], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              text=True, check=True, timeout=patience()).stdout


class Nodes:
    """All of them, with one secret. `servers` is None for nodes without a cluster."""

    def __init__(self, folder, irisd, irisctl, servers=None, count=3, options=('--topology=package:2 core:1 pu:1', '--places=package'),
                 limits=None, networks=None, access=None, **cluster):
        self.access = access or {}
        self.folder, self.irisd, self.irisctl, self.servers = folder, str(irisd), str(irisctl), servers
        self.options, self.limits, self.cluster = list(options), limits or {}, cluster
        self.secret = folder.path / 'secret'
        self.secret.write_text(secrets.token_hex(32) + '\n')
        self.secret.chmod(0o600)
        self.all = [self.make(number, networks[number] if networks else None) for number in range(count)]
        folder.states.append(lambda: [node.describe() for node in self.all])

    def make(self, number, network=None, **more):
        """The irisd that is n1, n2, …; one in a network uses only the server there."""
        server = self.servers[number if network else 0] if self.servers else None
        url = server.url(self.servers.login, self.servers.scheme) if network else None
        return Node(self, f'n{number + 1}', network, **{'url': url, 'monitor': server, **more})

    def add(self, network=None, **more):
        """One more; in a network it has no server beside it, and uses all."""
        self.all.append(self.make(len(self.all), network, **{'url': self.servers.urls(), 'monitor': self.servers[0], **more}))
        return self.all[-1]

    def __iter__(self):
        return iter(self.all)

    def __getitem__(self, number):
        return self.all[number]

    def start(self):
        """All irisd, and the streams of the cluster; until each node knows all."""
        for node in self.all:
            node.start()
        if self.servers:
            # Of each, for it also makes the consumers of the node that is asked.
            for node in self.all:
                self.init(node)
            self.wait_for_all()
        return self

    def init(self, node):
        """irisd may have no connection yet; init says so, and ends with 1."""
        def made():
            return 'the cluster is as it ought to be' in node.irisctl('cluster', 'init', status=None)
        wait_until(made, f'{node.name} inits the cluster')

    def known_to(self, node):
        """The names of the nodes that are there."""
        return {one['name'] for one in node.json('nodes')['nodes'] if one['state'] == HERE}

    def wait_for_all(self):
        names = {node.name for node in self.all}
        for node in self.all:
            wait_until(lambda: names <= self.known_to(node), f'{node.name} knows {", ".join(sorted(names))}')

    def messages(self, stream):
        """How many a stream has; None if there is no such stream."""
        try:
            return self.servers.api('STREAM.INFO.' + stream)['state']['messages']
        except ApiError:
            return None
