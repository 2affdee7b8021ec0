#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The rig itself, without irisd: what it reports of three nats-servers under each fault that it can make."""
import pathlib
import ssl
import sys

from ledger import CONSUMER, WORK, Ledger, check, make_stream, through
from nats import Nats, NatsError
from processes import Folder, end_on_signals, wait_until
from servers import Servers, make_certificates, tls_config
from tap import Skipped, demand, expect, run


def a_killed_leader_loses_nothing():
    with Folder() as folder:
        servers = Servers(folder)
        make_stream(servers)
        return check(*through(servers, lambda: servers.leader('WORK').process.kill()))


def all_killed_lose_nothing():
    with Folder() as folder:
        servers = Servers(folder)
        make_stream(servers)

        def fault():
            for server in servers:
                server.process.kill()
            for server in servers:
                server.start()
            servers.wait()
        return check(*through(servers, fault))


def a_stopped_server_is_missed_and_comes_back():
    with Folder() as folder:
        servers = Servers(folder)
        make_stream(servers)
        leader = servers.leader('WORK')

        def fault():
            leader.process.stop()
            wait_until(lambda: servers.leader('WORK') is not leader, 'another server leads')
            leader.process.go_on()
            wait_until(leader.healthy, 'the stopped server is healthy again')
        return check(*through(servers, fault))


def a_lost_message_is_reported():
    """The ledger can fail: a message that is taken away behind its back is missed."""
    with Folder() as folder:
        servers = Servers(folder, count=1)
        with servers.connect() as nats:
            nats.api('STREAM.CREATE.WORK', dict(WORK, num_replicas=1))
            nats.api('CONSUMER.CREATE.WORK.all', CONSUMER)
            ledger = Ledger()
            for number in range(3):
                ack = nats.store('work.x', b'', msg_id=str(number))
                ledger.promised.add(str(number))
                if number == 1:
                    nats.api('STREAM.MSG.DELETE.WORK', {'seq': ack['seq'], 'no_erase': True})
            expect(nats.store('work.x', b'', msg_id='0').get('duplicate'), True, 'a known id')
            ledger.drain(servers, 'WORK', 'all')
        expect(ledger.lost(), ['1'])
        expect(ledger.twice(), 0)


def wrong_credentials_are_refused():
    with Folder() as folder:
        servers = Servers(folder, login='iris:secret', more='''
accounts {
  IRIS { jetstream: enabled, users: [{ user: iris, password: secret }] }
  SYS { users: [{ user: admin, password: secret }] }
}
system_account: SYS''')
        for login in ('iris:wrong', None):
            try:
                Nats(servers[0].url(login)).close()
                raise AssertionError(f'{login} was let in')
            except NatsError as error:
                demand('Authorization Violation' in str(error), str(error))


def a_client_without_a_certificate_is_refused():
    with Folder() as folder:
        names = make_certificates(folder)
        context = ssl.create_default_context(cafile=names['ca.pem'])
        try:
            context.load_cert_chain(names['client.pem'], names['client.key'])
            servers = Servers(folder, count=1, scheme='tls', context=context, more=tls_config(names))
        except FileNotFoundError as error:
            raise Skipped(f'no openssl: {error}') from error
        bare = ssl.create_default_context(cafile=names['ca.pem'])
        try:
            with Nats(servers[0].url(scheme='tls'), context=bare) as nats:
                nats.api('INFO')
            raise AssertionError('it was let in')
        except NatsError:
            pass


def nothing_of_a_rig_is_left():
    """After an exception: no process, no folder."""
    try:
        with Folder() as folder:
            servers = Servers(folder, count=1)
            pid, path = servers[0].process.child.pid, folder.path
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    demand(not pathlib.Path(f'/proc/{pid}').exists(), 'the server runs on')
    demand(not path.exists(), 'the folder is there')


CASES = (a_killed_leader_loses_nothing, all_killed_lose_nothing, a_stopped_server_is_missed_and_comes_back,
         a_lost_message_is_reported, wrong_credentials_are_refused, a_client_without_a_certificate_is_refused,
         nothing_of_a_rig_is_left)

if __name__ == '__main__':
    end_on_signals()
    sys.exit(run(CASES))
