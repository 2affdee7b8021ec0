/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a gateway has no room for: the limits on items, and BUSY.
 *
 * Full means full for new items only. Each limit counts what is given up without passing it again:
 *
 * - in-flight-items, in-flight-bytes: what one connection has under way or has not acknowledged;
 *
 * - total-items: items in memory. So many of those that are not kept, as many again of those that
 *   are kept, and as many of kept ones for worker processes, which may be away for long; so no kind
 *   keeps out another;
 *
 * - total-bytes: bytes in memory;
 *
 * - persistent-items: items in the journal, in memory or not.
 *
 * Questions about persistent items, and changes to them, take nothing from that: a connection may
 * have as many of them unanswered as `in-flight-items` says, besides its items. An answer that has
 * a payload counts until it is acknowledged. It is bounded by what its connection owes, which an
 * acknowledgement mends, and by a reserve above `total-bytes` that items cannot take.
 *
 * When a client may come back depends on for how long there has been no room: what was full only
 * just now has room again soon, and what has been full for minutes is not asked for many times a
 * second.
 */
#include "daemon/base/irisd-log.h"
#include "daemon/gateway/irisd-gateway-private.h"

/* The pause that a refused client is asked to make: the least, which is also what its own
 * acknowledgements need, and the most; in between, this part of the time without room. */
#define RETRY_MS      20
#define MOST_RETRY_MS 2000
#define PART_OF_FULL  4

/* Of total-bytes, for answers that have a payload. */
#define PART_FOR_ANSWERS 4

static const char *const names[IRISD_N_FULL] = {
  [IRISD_FULL_VOLATILE] = "total-items",         [IRISD_FULL_IN_MEMORY] = "total-items",
  [IRISD_FULL_WORKER_PROCESSES] = "total-items", [IRISD_FULL_BYTES] = "total-bytes",
  [IRISD_FULL_PERSISTENT] = "persistent-items",
};

static const char *const what[IRISD_N_FULL] = {
  [IRISD_FULL_VOLATILE] = "irisd has as many items under way as it takes",
  [IRISD_FULL_IN_MEMORY] = "irisd has as many persistent items in memory as it takes",
  [IRISD_FULL_WORKER_PROCESSES] =
      "irisd has as many persistent items for worker processes as it takes",
  [IRISD_FULL_BYTES] = "irisd holds as many bytes of payload and results as it takes",
  [IRISD_FULL_PERSISTENT] = "irisd keeps as many items as it may",
};

static const char *const way_out[IRISD_N_FULL] = {
  [IRISD_FULL_VOLATILE] = "send the item again later",
  [IRISD_FULL_IN_MEMORY] = "send the item again later",
  [IRISD_FULL_WORKER_PROCESSES] = "start workers, or cancel what waits for them",
  [IRISD_FULL_BYTES] = "acknowledge what has ended, send again later",
  [IRISD_FULL_PERSISTENT] = "fetch or cancel persistent items",
};

static void
answer_busy (IrisdGateway *self,
             const IrisdCaller *caller,
             const IrisWireMessage *item,
             IrisdFairRefusal limit,
             const char *sentence)
{
  irisd_count (&self->counters.refused, 1);
  g_autoptr (GError) error = g_error_new_literal (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BUSY, sentence);
  IrisWireMessage busy;
  iris_wire_message_init (&busy, IRIS_WIRE_BUSY, item->request_id);
  iris_wire_message_set_error (&busy, error);
  iris_wire_message_set_string (&busy, IRIS_WIRE_KEY_LIMIT, limit.limit, -1);
  iris_wire_message_set_uint (&busy, IRIS_WIRE_KEY_LIMIT_VALUE, limit.value);
  iris_wire_message_set_uint (&busy, IRIS_WIRE_KEY_RETRY_AFTER_MS, limit.retry_ms);
  irisd_send_answer (self, caller, &busy);
}

/**
 * irisd_admission_tell_busy:
 * @self: the gateway
 * @caller: who
 * @item: what is refused
 * @limit: a limit of this connection, or of its client or service
 */
void
irisd_admission_tell_busy (IrisdGateway *self,
                           const IrisdCaller *caller,
                           const IrisWireMessage *item,
                           IrisdFairRefusal limit)
{
  g_autofree char *sentence = g_strdup_printf (
      "the limit %s (%" G_GUINT64_FORMAT
      ") is reached: acknowledge what has ended and send the item again, or raise "
      "the limit in irisd's configuration",
      limit.limit, limit.value);
  answer_busy (self, caller, item, limit, sentence);
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

/**
 * irisd_admission_tell_full:
 * @self: the gateway
 * @caller: who
 * @item: what is refused
 * @full: what is full
 * @value: the limit
 *
 * Refuses what irisd as a whole has no room for, and logs it, at most once a minute for each limit.
 */
void
irisd_admission_tell_full (IrisdGateway *self,
                           const IrisdCaller *caller,
                           const IrisWireMessage *item,
                           IrisdFull full,
                           guint64 value)
{
  static IrisdLogSite sites[IRISD_N_FULL];
  g_autofree char *sentence = g_strdup_printf ("%s, limit %s (%" G_GUINT64_FORMAT
                                               "): %s, or raise the limit in irisd's configuration",
                                               what[full], names[full], value, way_out[full]);
  irisd_log_each_minute (&sites[full], IRISD_LOG_WARNING, "refused an item: %s", sentence);
  answer_busy (self, caller, item,
               (IrisdFairRefusal){ names[full], value, get_retry_ms (self, full) }, sentence);
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

/**
 * irisd_admission_may_ask:
 * @self: the gateway
 * @caller: who
 * @request: a question about persistent items, or a change to them
 * @answer_counts: whether the answer takes a credit until it is acknowledged
 *
 * Returns: whether it is taken; BUSY was answered if not
 */
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

/* An item with a key may be one that is kept already, which the journal knows. */
static gboolean
may_be_persistent (IrisdGateway *self, const IrisWireMessage *item)
{
  guint64 most = self->core->config->limits.persistent_items;
  guint64 now = irisd_journal_get_n_taken (self->core->journal);
  return is_below (self, IRISD_FULL_PERSISTENT, now, most) || item->key.len > 0;
}

/**
 * irisd_admission_has_room:
 * @self: the gateway
 * @caller: who
 * @item: a SUBMIT message
 * @for_workers: whether it is for worker processes
 *
 * Returns: whether there is room for the item; BUSY was answered if not
 */
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
