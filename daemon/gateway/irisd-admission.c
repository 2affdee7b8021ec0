/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Admission: the limits on items and bytes, and the answer BUSY.
 *
 * Full means full for new items only. Each limit has its own count, so items within it do not pass
 * another limit again:
 *
 * - in-flight-items, in-flight-bytes: what one connection has in progress or has not acknowledged;
 *
 * - total-items: items in memory: as many volatile ones, as many persistent ones, and as many
 * persistent ones for worker processes, which may be away for long; so no kind keeps out another;
 *
 * - total-bytes: bytes in memory;
 *
 * - persistent-items: items in the journal, in memory or not.
 *
 * Requests about persistent items have room of their own: a connection may have `in-flight-items`
 * of them unanswered, besides its items. An answer that has a payload counts until it is
 * acknowledged; the connection's unacknowledged bytes bound it, and a reserve above `total-bytes`
 * that items cannot take.
 *
 * The pause before a client tries again depends on how long there has been no room: a short
 * shortage ends soon, and a long one should not be polled many times a second.
 */
#include "daemon/base/irisd-log.h"
#include "daemon/gateway/irisd-gateway-private.h"

/* The pause that a refused client is told to make: the least, also for limits that its own
 * acknowledgements lift, and the most; in between, this part of the time without room. */
#define RETRY_MS      20
#define MOST_RETRY_MS 2000
#define PART_OF_FULL  4

/* Part of total-bytes, for answers that have a payload. */
#define PART_FOR_ANSWERS 4

static const char *const names[IRISD_N_FULL] = {
  [IRISD_FULL_VOLATILE] = "total-items",         [IRISD_FULL_IN_MEMORY] = "total-items",
  [IRISD_FULL_WORKER_PROCESSES] = "total-items", [IRISD_FULL_BYTES] = "total-bytes",
  [IRISD_FULL_PERSISTENT] = "persistent-items",
};

static const char *const what[IRISD_N_FULL] = {
  [IRISD_FULL_VOLATILE] = "irisd has no room for more items in progress",
  [IRISD_FULL_IN_MEMORY] = "irisd has no room for more persistent items in memory",
  [IRISD_FULL_WORKER_PROCESSES] =
      "irisd has no room for more persistent items for worker processes",
  [IRISD_FULL_BYTES] = "irisd has no room for more bytes of payload and results",
  [IRISD_FULL_PERSISTENT] = "the journal has no room for more items",
};

static const char *const way_out[IRISD_N_FULL] = {
  [IRISD_FULL_VOLATILE] = "send the item again later",
  [IRISD_FULL_IN_MEMORY] = "send the item again later",
  [IRISD_FULL_WORKER_PROCESSES] = "start workers, or cancel items that wait for them",
  [IRISD_FULL_BYTES] = "acknowledge ended items, send again later",
  [IRISD_FULL_PERSISTENT] = "fetch or cancel persistent items",
};

static void
answer_busy (IrisdGateway *self,
             const IrisdCaller *caller,
             const IrisWireMessage *item,
             IrisdFairRefusal limit,
             const char *reason)
{
  irisd_count (&self->counters.refused, 1);
  g_autoptr (GError) error = g_error_new_literal (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BUSY, reason);
  IrisWireMessage busy;
  iris_wire_message_init (&busy, IRIS_WIRE_BUSY, item->request_id);
  iris_wire_message_set_error (&busy, error);
  iris_wire_message_set_string (&busy, IRIS_WIRE_KEY_LIMIT, limit.limit, -1);
  iris_wire_message_set_uint (&busy, IRIS_WIRE_KEY_LIMIT_VALUE, limit.value);
  iris_wire_message_set_uint (&busy, IRIS_WIRE_KEY_RETRY_AFTER_MS, limit.retry_ms);
  irisd_send_answer (self, caller, &busy);
}

/* Answers BUSY because of @limit, of this connection, or of its client or service. */
void
irisd_admission_tell_busy (IrisdGateway *self,
                           const IrisdCaller *caller,
                           const IrisWireMessage *item,
                           IrisdFairRefusal limit)
{
  g_autofree char *reason = g_strdup_printf (
      "the limit %s (%" G_GUINT64_FORMAT
      ") is reached; acknowledge ended items and send the item again, or raise "
      "the limit in irisd's configuration",
      limit.limit, limit.value);
  answer_busy (self, caller, item, limit, reason);
}

static guint
get_retry_ms (IrisdGateway *self, IrisdFull full)
{
  gint64 now = g_get_monotonic_time ();
  if (self->full_since_us[full] == 0)
    self->full_since_us[full] = now;
  gint64 full_ms = (now - self->full_since_us[full]) / 1000;
  return (guint) CLAMP (full_ms / PART_OF_FULL, RETRY_MS, MOST_RETRY_MS);
}

/* Refuses @item because irisd as a whole has no room, @full, and logs it at most once a minute for
 * each limit. */
void
irisd_admission_tell_full (IrisdGateway *self,
                           const IrisdCaller *caller,
                           const IrisWireMessage *item,
                           IrisdFull full,
                           guint64 value)
{
  static IrisdLogSite sites[IRISD_N_FULL];
  g_autofree char *reason = g_strdup_printf ("%s, limit %s (%" G_GUINT64_FORMAT
                                             "): %s, or raise the limit in irisd's configuration",
                                             what[full], names[full], value, way_out[full]);
  irisd_log_each_minute (&sites[full], IRISD_LOG_WARNING, "refused an item: %s", reason);
  answer_busy (self, caller, item,
               (IrisdFairRefusal){ names[full], value, get_retry_ms (self, full) }, reason);
}

/* Whether there is room for one more; remembers since when there is none. */
static gboolean
is_below (IrisdGateway *self, IrisdFull full, guint64 count, guint64 most)
{
  if (count >= most)
    return FALSE;
  self->full_since_us[full] = 0;
  return TRUE;
}

static gboolean
has_own_credit (IrisdGateway *self,
                IrisdPeer *peer,
                guint n_items,
                gsize size,
                IrisdFairRefusal *limit)
{
  const IrisdLimits *limits = &self->core->config->limits;
  if (n_items >= limits->in_flight_items)
    *limit = (IrisdFairRefusal){ "in-flight-items", limits->in_flight_items, RETRY_MS };
  else if (irisd_peer_get_bytes (peer) + size > limits->in_flight_bytes)
    *limit = (IrisdFairRefusal){ "in-flight-bytes", limits->in_flight_bytes, RETRY_MS };
  else
    return TRUE;
  return FALSE;
}

/* Returns whether @request, about persistent items, is taken; BUSY was answered if not.
 * @answer_counts: the answer takes a credit until it is acknowledged. */
gboolean
irisd_admission_may_ask (IrisdGateway *self,
                         const IrisdCaller *caller,
                         const IrisWireMessage *request,
                         gboolean answer_counts)
{
  IrisdPeer *peer = caller->peer;
  const IrisdLimits *limits = &self->core->config->limits;
  guint64 most_bytes = limits->total_bytes + limits->total_bytes / PART_FOR_ANSWERS;
  IrisdFairRefusal limit;
  if (!answer_counts)
    {
      if (peer->n_questions < limits->in_flight_items)
        return TRUE;
      limit = (IrisdFairRefusal){ "in-flight-items", limits->in_flight_items, RETRY_MS };
      irisd_admission_tell_busy (self, caller, request, limit);
    }
  else if (!has_own_credit (self, peer, peer->unacked.count + peer->n_fetches, 0, &limit))
    irisd_admission_tell_busy (self, caller, request, limit);
  else if (irisd_core_get_bytes (self->core) > most_bytes)
    irisd_admission_tell_full (self, caller, request, IRISD_FULL_BYTES, limits->total_bytes);
  else
    return TRUE;
  return FALSE;
}

/* Only the journal knows whether an item with a key is a duplicate. */
static gboolean
may_be_persistent (IrisdGateway *self, const IrisWireMessage *item)
{
  guint64 most = self->core->config->limits.persistent_items;
  guint64 now = irisd_journal_get_n_taken (self->core->journal);
  return is_below (self, IRISD_FULL_PERSISTENT, now, most) || item->key.len > 0;
}

/* Returns whether there is room for @item; BUSY was answered if not. */
gboolean
irisd_admission_has_room (IrisdGateway *self,
                          const IrisdCaller *caller,
                          const IrisWireMessage *item,
                          gboolean for_workers)
{
  IrisdCore *core = self->core;
  IrisdPeer *peer = caller->peer;
  const IrisdLimits *limits = &core->config->limits;
  gboolean persistent = irisd_is_persistent (item);
  IrisdFull kind = !persistent   ? IRISD_FULL_VOLATILE
                   : for_workers ? IRISD_FULL_WORKER_PROCESSES
                                 : IRISD_FULL_IN_MEMORY;
  guint64 items = persistent ? irisd_core_get_persistent_in_memory (core, for_workers)
                             : irisd_core_get_volatile (core);
  guint64 bytes = irisd_core_get_bytes (core) + item->body.size;
  guint own = g_hash_table_size (peer->jobs) + peer->unacked.count + peer->n_fetches;
  IrisdFairRefusal limit;
  if (!has_own_credit (self, peer, own, item->body.size, &limit))
    irisd_admission_tell_busy (self, caller, item, limit);
  else if (!is_below (self, kind, items, limits->total_items))
    irisd_admission_tell_full (self, caller, item, kind, limits->total_items);
  else if (!is_below (self, IRISD_FULL_BYTES, bytes, limits->total_bytes + 1))
    irisd_admission_tell_full (self, caller, item, IRISD_FULL_BYTES, limits->total_bytes);
  else if (persistent && !may_be_persistent (self, item))
    irisd_admission_tell_full (self, caller, item, IRISD_FULL_PERSISTENT, limits->persistent_items);
  else
    return TRUE;
  return FALSE;
}
