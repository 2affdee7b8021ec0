# SPDX-License-Identifier: LGPL-2.1-or-later
"""What was promised and what came, by id: publishers that repeat until the server has acknowledged, and the sum."""
import threading
import time
from collections import Counter

from nats import ApiError, NatsError, Silence
from processes import patience, pause, wait_until
from tap import demand, expect

# A publish without an answer is sent again after so long, with its own id: the plan of irisd, too.
SILENCE_S = 2.0
# JetStream says "ask again": the first publish of this id is still under way.
IN_FLIGHT = 10158
# Publishes go on after a fault within this, far more than an election takes.
LONGEST_GAP_S = 60
WORK = {'name': 'WORK', 'subjects': ['work.>'], 'retention': 'workqueue', 'num_replicas': 3, 'discard': 'new',
        'max_bytes': 1 << 30}
CONSUMER = {'stream_name': 'WORK', 'action': 'create',
            'config': {'name': 'all', 'durable_name': 'all', 'ack_policy': 'explicit', 'ack_wait': 10_000_000_000,
                       'max_ack_pending': 100_000}}


class Publisher(threading.Thread):
    """Keeps a window of messages under way, each with an id, over every fault; notes when each was acknowledged."""

    def __init__(self, servers, subject, prefix, window=64, size=100):
        super().__init__(daemon=True, name=prefix)
        self.servers, self.subject, self.prefix, self.window = servers, subject, prefix, window
        self.body = bytes(size)
        self.acked = {}  # id → time of its PubAck
        self.repeated = 0
        self.error = None
        self.enough = threading.Event()

    def run(self):
        try:
            self._run()
        except Exception as error:  # told by the thread that joins this one
            self.error = error

    def _run(self):
        nats, inbox, out, serial = None, None, {}, 0
        while not self.enough.is_set() or out:
            try:
                if nats is None:
                    nats = self.servers.connect(timeout=SILENCE_S)
                    inbox = nats.new_inbox()
                    for ident in out:
                        out[ident] = 0.0
                while len(out) < self.window and not self.enough.is_set():
                    out[f'{self.prefix}-{serial}'] = 0.0
                    serial += 1
                self._send_due(nats, inbox, out)
                self._take_answers(nats, inbox, out)
            except NatsError:
                if nats:
                    nats.close()
                nats = None
                pause(0.1)
        if nats:
            nats.close()

    def _send_due(self, nats, inbox, out):
        now, frames = time.monotonic(), []
        for ident, sent in out.items():
            if now - sent > SILENCE_S:
                self.repeated += sent > 0
                out[ident] = now
                frames.append(nats.encode(self.subject, self.body, {'Nats-Msg-Id': ident}, f'{inbox}-{ident}'))
        if frames:
            nats._send(b''.join(frames))

    def _take_answers(self, nats, inbox, out):
        queue = nats.waiting[nats.prefix]
        if not queue:
            nats._receive(0.1)
        while queue:
            message = queue.pop(0)
            ident = message.subject[len(inbox) + 1:]
            if ident not in out or not message.subject.startswith(inbox):
                continue
            try:
                nats.pub_ack(self.subject, message)
                self.acked[ident] = time.monotonic()
                del out[ident]
            except Silence:
                # No responders: tried again with the others that are silent.
                out[ident] = time.monotonic() - SILENCE_S + 0.2
            except ApiError as error:
                if error.code not in (503, 429) and error.err_code != IN_FLIGHT:
                    raise
                out[ident] = time.monotonic() - SILENCE_S + 0.2

    def finish(self, limit=60):
        """Takes no new messages, and returns when the last one is acknowledged."""
        self.enough.set()
        self.join(patience(limit))
        if self.error:
            raise self.error
        if self.is_alive():
            raise AssertionError(f'{self.prefix}: what was published got no PubAck within {patience(limit):.0f} s')

    def longest_gap(self, start=0.0):
        times = [start] * (start > 0) + sorted(when for when in self.acked.values() if when >= start)
        return max((after - before for before, after in zip(times, times[1:])), default=0.0)


class Ledger:
    """Ids that were promised against ids that came."""

    def __init__(self):
        self.promised, self.came = set(), Counter()

    def lost(self):
        return sorted(self.promised - self.came.keys())

    def twice(self):
        return sum(count - 1 for count in self.came.values())

    def unasked(self):
        """Came without having been promised: the answer was lost, not the message."""
        return sorted(self.came.keys() - self.promised)

    def drain(self, servers, stream, consumer, limit=60):
        """Takes and acknowledges everything of a consumer until it has nothing left."""
        end, empty, info = time.monotonic() + patience(limit), 0, None
        while empty < 2:
            if time.monotonic() > end:
                raise AssertionError(f'{consumer}: not empty within {patience(limit):.0f} s: {info}')
            try:
                with servers.connect() as nats:
                    while empty < 2 and time.monotonic() < end:
                        found = nats.pull(stream, consumer, 256, wait=1.0)
                        for message in found:
                            self.came[message.headers['Nats-Msg-Id']] += 1
                            nats.publish(message.reply, b'+ACK')
                        if found:
                            empty = 0
                            continue
                        info = nats.api(f'CONSUMER.INFO.{stream}.{consumer}')
                        empty = empty + 1 if not info['num_pending'] and not info['num_ack_pending'] else 0
            except (NatsError, ApiError):
                empty = 0
                pause(0.1)


def make_stream(servers):
    def made():
        try:
            with servers.connect() as nats:
                nats.api('STREAM.CREATE.WORK', WORK)
                nats.api('CONSUMER.CREATE.WORK.all', CONSUMER)
            return True
        except (NatsError, ApiError):
            return False
    wait_until(made, 'the stream is made')


def through(servers, fault):
    """Publishes before, during and after a fault, drains, and returns the ledger and the longest gap."""
    publisher = Publisher(servers, 'work.x', 'p')
    publisher.start()
    wait_until(lambda: len(publisher.acked) > 500 or publisher.error, 'publishes are acknowledged')
    start = time.monotonic()
    fault()
    known = len(publisher.acked)
    wait_until(lambda: len(publisher.acked) > known + 500 or publisher.error, 'publishes go on after the fault')
    publisher.finish()
    ledger = Ledger()
    ledger.promised = set(publisher.acked)
    ledger.drain(servers, 'WORK', 'all')
    return ledger, publisher.longest_gap(start), publisher


def check(ledger, gap, publisher):
    expect(ledger.lost(), [], 'acknowledged and lost')
    expect(ledger.unasked(), [], 'came, but were not published')
    longest = patience(LONGEST_GAP_S)
    demand(gap < longest, f'no publish was acknowledged for {gap:.1f} s; at most {longest:.0f}')
    return (f'{len(publisher.acked)} acknowledged, {len(ledger.lost())} lost, {ledger.twice()} twice, '
            f'{publisher.repeated} sent again, longest gap {gap:.1f} s')
