#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The rig itself, without irisd: partitions between three nats-servers, and a full disk. Root alone can make them."""
import os
import sys
import time

import network
from ledger import check, make_stream, through
from nats import ApiError, Silence
from processes import Folder, end_on_signals, pause, wait_until
from servers import Servers
from tap import run


def an_isolated_leader_promises_nothing():
    network.leave_the_machine()
    with Folder() as folder:
        networks = [network.Network(folder, number + 1) for number in range(3)]
        servers = Servers(folder, networks=networks)
        make_stream(servers)
        leader = servers.leader('WORK')
        position = servers.all.index(leader)
        others = [one for index, one in enumerate(networks) if index != position]

        def fault():
            networks[position].cut(*others)
            # Clients still reach it: it must not acknowledge.
            with servers.connect(leader) as nats:
                end = time.monotonic() + 6
                while time.monotonic() < end:
                    try:
                        ack = nats.store('work.x', b'', msg_id='alone', timeout=2)
                        raise AssertionError(f'{leader.name} acknowledged alone: {ack}')
                    except (Silence, ApiError):
                        pause(0.2)
            networks[position].join(*others)
            wait_until(leader.healthy, f'{leader.name} is healthy again')
        ledger, gap, publisher = through(servers, fault)
        # What the cut leader had taken may be stored afterwards, for it was never refused for good.
        ledger.promised |= {'alone'} & set(ledger.came)
        return check(ledger, gap, publisher)


def a_full_disk_stops_one_server():
    network.leave_the_machine()
    with Folder() as folder:
        servers = Servers(folder, start=False)
        full = servers[1]
        network.small_disk(folder, full.store, 48)
        servers.start()
        make_stream(servers)

        def fault():
            ballast = network.fill(full.store)
            # JetStream notices when it writes.
            wait_until(lambda: not full.process.alive() or not full.healthy(), f'{full.name} notices its full disk')
            os.unlink(ballast)
            full.process.kill()
            servers.restart(full)
        result = check(*through(servers, fault))
        full.process.kill()
        return result


CASES = (an_isolated_leader_promises_nothing, a_full_disk_stops_one_server)

if __name__ == '__main__':
    end_on_signals()
    sys.exit(run(CASES))
