/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A peer: one connection to one socket, its items in flight and its unacknowledged completions.
 *
 * Threads: see the header. The two atomics carry no other data, so relaxed order suffices: a worker
 * that reads an old value runs an item of a connection that has ended, or lets one more result
 * grow; both were possible the moment before.
 */
#include "daemon/net/irisd-peer.h"

#include "daemon/base/irisd-text.h"

#include <string.h>

/* Names are for the log; a name from outside is cut and cleaned. */
#define MAX_NAME 64

IrisdPeer *
irisd_peer_new (const IrisdRoute *route)
{
  IrisdPeer *self = g_new0 (IrisdPeer, 1);
  self->refs = 1;
  self->route = *route;
  self->jobs = g_hash_table_new (irisd_request_id_hash, irisd_request_id_equal);
  self->age_link.data = self;
  self->backlog_link.data = self;
  self->stream_link.data = self;
  self->receive_link.data = self;
  g_queue_init (&self->held);
  return self;
}

IrisdPeer *
irisd_peer_ref (IrisdPeer *self)
{
  self->refs++;
  return self;
}

void
irisd_peer_unref (IrisdPeer *self)
{
  if (--self->refs > 0)
    return;
  g_hash_table_unref (self->jobs);
  irisd_unacknowledged_clear (&self->unacked);
  irisd_outbox_clear (&self->outbox);
  g_free (self->name);
  g_free (self->public_key);
  g_free (self);
}

guint64
irisd_peer_get_bytes (IrisdPeer *self)
{
  return atomic_load_explicit (&self->bytes, memory_order_relaxed);
}

gboolean
irisd_peer_is_gone (IrisdPeer *self)
{
  return atomic_load_explicit (&self->gone, memory_order_relaxed);
}

void
irisd_peer_add_bytes (IrisdPeer *self, gint64 change)
{
  atomic_fetch_add_explicit (&self->bytes, (guint64) change, memory_order_relaxed);
}

void
irisd_peer_set_name (IrisdPeer *self, const IrisWireString *name)
{
  g_free (self->name);
  self->name = name->len > 0 ? irisd_text_quote (name->data, (gssize) name->len, MAX_NAME)
                             : g_strdup ("without a name");
}

/* All connections of one process are one client, so that more connections do not bring more turns.
 * Over ipc @address, which ZeroMQ reports, names the process as localhost:UID:GID:PID. Over TCP,
 * and where the process is unknown, each connection is a client. */
void
irisd_peer_set_client (IrisdPeer *self, const char *address)
{
  self->client = self;
  const char *colon = address != NULL && g_str_has_prefix (address, "localhost:")
                          ? strrchr (address, ':')
                          : NULL;
  guint64 pid = 0;
  /* An odd number is the address of no object. */
  if (colon != NULL && g_ascii_string_to_unsigned (colon + 1, 10, 1, G_MAXINT32, &pid, NULL))
    self->client = GSIZE_TO_POINTER ((gsize) pid * 2 + 1);
}

void
irisd_peers_init (IrisdPeers *self)
{
  self->by_route = g_hash_table_new (irisd_route_hash, irisd_route_equal);
  g_queue_init (&self->by_age);
}

void
irisd_peers_clear (IrisdPeers *self)
{
  g_return_if_fail (irisd_peers_get_count (self) == 0);
  g_hash_table_unref (self->by_route);
}

guint
irisd_peers_get_count (IrisdPeers *self)
{
  return g_hash_table_size (self->by_route);
}

IrisdPeer *
irisd_peers_lookup (IrisdPeers *self, const IrisdRoute *route)
{
  return g_hash_table_lookup (self->by_route, route);
}

/* @route must not be in the table. Returns a new peer that the table owns. */
IrisdPeer *
irisd_peers_add (IrisdPeers *self, const IrisdRoute *route)
{
  IrisdPeer *peer = irisd_peer_new (route);
  g_hash_table_insert (self->by_route, &peer->route, peer);
  g_queue_push_tail_link (&self->by_age, &peer->age_link);
  return peer;
}

/* Drops the table's reference. */
void
irisd_peers_remove (IrisdPeers *self, IrisdPeer *peer)
{
  g_hash_table_remove (self->by_route, &peer->route);
  g_queue_unlink (&self->by_age, &peer->age_link);
  irisd_peer_unref (peer);
}

/* Notes that @peer was heard from just now. */
void
irisd_peers_touch (IrisdPeers *self, IrisdPeer *peer)
{
  g_queue_unlink (&self->by_age, &peer->age_link);
  g_queue_push_tail_link (&self->by_age, &peer->age_link);
}

/* Returns the peer that was silent longest, or NULL. */
IrisdPeer *
irisd_peers_get_oldest (IrisdPeers *self)
{
  return g_queue_peek_head (&self->by_age);
}

/* Fills @oldest with up to @n peers of @user, those silent longest first. Returns how many peers
 * the user has. */
guint
irisd_peers_get_of_user (IrisdPeers *self, gint64 user, IrisdPeer **oldest, guint n)
{
  guint count = 0;
  for (GList *link = self->by_age.head; link != NULL; link = link->next)
    {
      IrisdPeer *peer = link->data;
      if (!peer->in_session || peer->uid != user)
        continue;
      if (count < n)
        oldest[count] = peer;
      count++;
    }
  return count;
}
