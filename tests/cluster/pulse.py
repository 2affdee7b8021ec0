# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether the machine lets the servers work at all: what explains that a lease ran out where no fault was made.

With a hundred other processes on two processors a majority needs seconds to store a message, and so do irisd's
renewals of leases and the ends of items. Those times are faults of the machine: this stores a message again and again, in some
milliseconds as a rule, and notes when it took longer. It also notes when a stream or a consumer of irisd had no leader, as it
is for some seconds after a fault.
"""
import threading
import time

from nats import ApiError, NatsError
from processes import patience, pause

# A lease of the tests is five times as long, and renewed three times.
SLOW_S = 1.0
EACH_S = 0.5
LED = ('STREAM.INFO.IRIS', 'STREAM.INFO.IRIS_ENDS', 'CONSUMER.INFO.IRIS.any')
STREAM = {'name': 'RIG_PULSE', 'subjects': ['rig.pulse'], 'num_replicas': 3, 'max_msgs': 1}


class Pulse(threading.Thread):
    """Writes into `faults` when the servers were slow, until the folder is closed."""

    def __init__(self, folder, servers, faults, led=LED):
        super().__init__(daemon=True, name='pulse')
        self.servers, self.faults, self.led, self.enough = servers, faults, led, threading.Event()
        folder.before_end.append(self.end)
        self.start()

    def end(self):
        self.enough.set()
        self.join(patience())

    def run(self):
        nats = None
        while not self.enough.is_set():
            begin = time.monotonic()
            try:
                if nats is None:
                    nats = self.servers.connect(timeout=2.0)
                    nats.api('STREAM.CREATE.RIG_PULSE', STREAM)
                nats.store('rig.pulse', b'x')
                # Leaders alone answer these.
                for name in self.led:
                    nats.api(name)
            except (NatsError, ApiError):
                if nats:
                    nats.close()
                nats = None
                self.faults.add(begin, time.monotonic())
                pause(0.1)
                continue
            if time.monotonic() - begin > SLOW_S:
                self.faults.add(begin, time.monotonic())
            self.enough.wait(EACH_S)
        if nats:
            nats.close()
