/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A watch for ended connections of worker processes and of clients that read a command's output.
 *
 * A ROUTER does not report the end of a connection; but it refuses a message to one that has ended.
 * So all of them are probed when ZeroMQ's monitor has told the ZAP handler that some connection of
 * the socket has ended. The monitor does not say which, and reports it a moment before the ROUTER
 * knows, so they are probed a few times, with pauses that double, for about a second.
 *
 * A connection that is silent but does not end is given up after silence-ms, but not before all its
 * messages have been read: an irisd that was itself stopped for a while reads first and decides
 * then.
 */
#include "daemon/gateway/irisd-worker-session.h"

#define FIRST_PROBE_MS 2
#define LAST_PROBE_MS  512

void
irisd_gateway_note_disconnect (gpointer gateway)
{
  IrisdGateway *self = gateway;
  /* Relaxed: nothing else is told by it, and the wake makes the gateway look after it. */
  atomic_store_explicit (&self->ended_connection, TRUE, memory_order_relaxed);
  irisd_gateway_wake (self);
}

void
irisd_worker_watch_mark_heard (IrisdGateway *self, IrisdPeer *peer)
{
  IrisdWorkerProcess *worker = peer->worker_process;
  if (worker == NULL)
    return;
  atomic_store_explicit (&worker->heard_us, g_get_monotonic_time (), memory_order_relaxed);
  g_queue_unlink (&self->worker_processes, &worker->link);
  g_queue_push_tail_link (&self->worker_processes, &worker->link);
}

static gint64
silence_ends (IrisdGateway *self, IrisdWorkerProcess *worker)
{
  return atomic_load_explicit (&worker->heard_us, memory_order_relaxed)
         + (gint64) self->core->config->limits.silence_ms * 1000;
}

/* Returns when irisd_worker_watch_check() is to be called, in microseconds; G_MAXINT64 for
 * never. */
gint64
irisd_worker_watch_get_deadline (IrisdGateway *self)
{
  IrisdWorkerProcess *worker = g_queue_peek_head (&self->worker_processes);
  gint64 until = worker != NULL ? silence_ends (self, worker) : G_MAXINT64;
  if (worker == NULL && self->stream_readers.length == 0)
    return G_MAXINT64;
  return self->probe_ms > 0 ? MIN (until, self->probe_at_us) : until;
}

/* Returns the worker processes, each with a reference, for loops that may end some. A plain array,
 * because ThreadSanitizer does not see how GLib's pointer arrays go from thread to thread. */
IrisdPeer **
irisd_worker_watch_list (IrisdGateway *self, guint *n)
{
  IrisdPeer **peers = g_new (IrisdPeer *, self->worker_processes.length);
  *n = 0;
  for (GList *link = self->worker_processes.head; link != NULL; link = link->next)
    peers[(*n)++] = irisd_peer_ref (((IrisdWorkerProcess *) link->data)->peer);
  return peers;
}

/* @peer reads the output of a command while it runs. From now on its end is noticed, also if the
 * command writes nothing. */
void
irisd_worker_watch_add_reader (IrisdGateway *self, IrisdPeer *peer)
{
  if (peer->reads_streams)
    return;
  peer->reads_streams = TRUE;
  g_queue_push_tail_link (&self->stream_readers, &peer->stream_link);
}

void
irisd_worker_watch_remove_reader (IrisdGateway *self, IrisdPeer *peer)
{
  if (peer->reads_streams)
    g_queue_unlink (&self->stream_readers, &peer->stream_link);
  peer->reads_streams = FALSE;
}

static IrisdPeer **
list_readers (IrisdGateway *self, guint *n)
{
  IrisdPeer **peers = g_new (IrisdPeer *, self->stream_readers.length);
  *n = 0;
  for (GList *link = self->stream_readers.head; link != NULL; link = link->next)
    peers[(*n)++] = irisd_peer_ref (link->data);
  return peers;
}

/* Takes the references. */
static void
probe (IrisdGateway *self, IrisdPeer **peers, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      if (!irisd_peer_is_gone (peers[i]) && peers[i]->outbox.count == 0
          && !irisd_send_probe (self, peers[i]))
        irisd_session_lose (self, peers[i], "it has gone", FALSE);
      irisd_peer_unref (peers[i]);
    }
}

static void
probe_all (IrisdGateway *self)
{
  guint n = 0;
  g_autofree IrisdPeer **workers = irisd_worker_watch_list (self, &n);
  probe (self, workers, n);
  g_autofree IrisdPeer **readers = list_readers (self, &n);
  probe (self, readers, n);
}

/* Ends peers whose connection has ended or that were silent for too long, if it is time.
 * @heard_all: there is nothing left to receive. */
void
irisd_worker_watch_check (IrisdGateway *self, gboolean heard_all)
{
  if (self->worker_processes.length + self->stream_readers.length == 0)
    return;
  gint64 now = g_get_monotonic_time ();
  if (atomic_exchange_explicit (&self->ended_connection, FALSE, memory_order_relaxed))
    {
      self->probe_ms = FIRST_PROBE_MS;
      self->probe_at_us = now;
    }
  if (self->probe_ms > 0 && now >= self->probe_at_us)
    {
      self->probe_at_us = now + (gint64) self->probe_ms * 1000;
      self->probe_ms = self->probe_ms < LAST_PROBE_MS ? self->probe_ms * 2 : 0;
      probe_all (self);
    }
  IrisdWorkerProcess *worker;
  while (heard_all && (worker = g_queue_peek_head (&self->worker_processes)) != NULL
         && now >= silence_ends (self, worker))
    irisd_session_lose (self, worker->peer, "it is a worker and was silent for silence-ms", TRUE);
}
