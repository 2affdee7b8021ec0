/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items of this node that are in the cluster.
 *
 * To irisd the bridge is the only worker process of the service "@cluster". What is to be done with
 * an item next, the table of away items says; this file does it: it writes and reads messages,
 * publishes, looks up, and answers leases.
 *
 * The end of an item is what is stored under its subject in the stream of ends. A host tells it by
 * a message besides, only after it was stored, so both are the same and either is enough.
 *
 * Items that irisd had accepted before this connection may have been published by an irisd that was
 * killed. Their numbers are at most the greatest one in the journal, which is asked for before the
 * first lease. Their ends are looked for first, and only if there is none they are published, with
 * the message id of before.
 */
#include "irisd-away-private.h"

#include "irisd-away-message.h"
#include "irisd-put-anew.h"
#include "irisd-stored-body.h"

#include "daemon/base/irisd-log.h"
#include "daemon/cluster/bridge/irisd-end-pack.h"
#include "daemon/cluster/engine/irisd-engine-parse.h"

#include <string.h>

/* The service that only the bridge serves. */
#define SERVICE "@cluster"

/* Publications that wait for the stream's answer at once. */
#define WINDOW 512

#define FIRST_LOOK_US (2 * G_USEC_PER_SEC)
#define ORPHAN_US     (300 * G_USEC_PER_SEC)

/* So many times the lease of an item in the cluster, it is asked whether the stream still has it.
 */
#define CHECK_LEASES 3

/* Until irisd says how long a lease holds. */
#define FIRST_EXTEND_US (5 * G_USEC_PER_SEC)

/* Something asked of the stream of ends. The item may be gone when the answer comes. */
typedef struct
{
  IrisdAway *away;
  guint8 item[IRIS_WIRE_ID_SIZE];
} Query;

static Query *
query_new (IrisdAway *self, const guint8 *item)
{
  Query *query = g_new (Query, 1);

  query->away = self;
  memcpy (query->item, item, sizeof query->item);
  return query;
}

static gboolean
on_timer (gpointer data)
{
  IrisdAway *self = data;

  irisd_bridge_timer_set (self->timer,
                          irisd_away_table_tick (self->table, g_get_monotonic_time ()));
  return G_SOURCE_CONTINUE;
}

static void
take_end (gconstpointer end, gsize size, gpointer user_data)
{
  irisd_away_take_end (user_data, end, size);
}

static void
on_end_message (IrisdEngine *engine, const IrisdEngineMessage *message, gpointer user_data)
{
  irisd_end_pack_read (message->data, message->length, take_end, user_data);
}

/* --- what the table wants --------------------------------------------------------------------- */

static IrisdAwayVerdict
read_verdict (IrisdAwayRecord *data, const IrisdPublishResult *result)
{
  /* The copy became an item before, or an operator removed it: it is looked for. */
  if (data->copy > 0 && result->status == IRISD_PUBLISH_WRONG_SEQUENCE)
    {
      data->copy = 0;
      data->searched = FALSE;
      data->before = TRUE;
      return IRISD_AWAY_IN_FLIGHT;
    }
  switch (result->status)
    {
    case IRISD_PUBLISH_STORED:
      return IRISD_AWAY_STORED;
    case IRISD_PUBLISH_DUPLICATE:
      return IRISD_AWAY_STORED_BEFORE;
    case IRISD_PUBLISH_FULL:
      return IRISD_AWAY_FULL;
    case IRISD_PUBLISH_RETRY:
      return IRISD_AWAY_IN_FLIGHT;
    case IRISD_PUBLISH_NO_QUORUM:
      return IRISD_AWAY_SILENT;
    default:
      return IRISD_AWAY_REFUSED;
    }
}

static void
note_gate (IrisdAway *self, IrisdAwayGate before)
{
  IrisdAwayGate gate = irisd_away_table_get_gate (self->table);

  if (gate == before)
    return;
  if (gate == IRISD_AWAY_GATE_FULL)
    irisd_log (IRISD_LOG_WARNING, "the cluster's stream is full: items for other nodes wait here");
  else if (gate == IRISD_AWAY_GATE_NO_QUORUM)
    irisd_log (IRISD_LOG_WARNING, "the cluster does not answer: items for other nodes wait here; "
                                  "local items run");
  else
    irisd_log (IRISD_LOG_INFO, "the cluster takes items again");
}

static void
on_published (IrisdEngine *engine, const IrisdPublishResult *result, gpointer user_data)
{
  IrisdAwayRecord *data = user_data;
  IrisdAway *self = data->away;
  const gboolean fired = data->copy > 0;
  IrisdAwayVerdict verdict = read_verdict (data, result);
  IrisdAwayGate before = irisd_away_table_get_gate (self->table);

  if (verdict == IRISD_AWAY_STORED || verdict == IRISD_AWAY_STORED_BEFORE)
    self->counts.n_published++;
  else
    self->counts.n_failed++;
  /* If it is stored it may have ended before the next attempt, of which the stream then knows the
   * id no more. */
  data->before = data->before || result->maybe_stored;
  if (verdict == IRISD_AWAY_STORED)
    g_clear_pointer (&data->message, g_free); /* it is never published again */
  if (verdict == IRISD_AWAY_REFUSED)
    {
      data->refusal = IRIS_WIRE_ERROR_INTERNAL;
      g_free (data->reason);
      data->reason = g_strdup_printf ("the cluster does not take the item: %s; see irisctl "
                                      "cluster check",
                                      result->text != NULL ? result->text : "no reason given");
    }
  /* The sequence of what was due is one of another stream. */
  irisd_away_table_published (self->table, data->item, verdict, fired ? 0 : result->sequence,
                              g_get_monotonic_time ());
  note_gate (self, before);
  irisd_away_hurry (self);
}

/* The same for each attempt, but for one whose message was stored and is gone. */
static char *
make_message_id (const IrisdAway *self, const IrisdAwayRecord *data)
{
  if (data->lost > 0)
    return g_strdup_printf ("lost.%" G_GUINT64_FORMAT "-%s-%s", data->lost, self->shared->node,
                            data->id);
  return g_strdup_printf ("%s-%s", self->shared->node, data->id);
}

static void
publish_message (IrisdAway *self, IrisdAwayRecord *data)
{
  g_autofree char *id = make_message_id (self, data);
  const IrisdEngineHeader again = { IRISD_BRIDGE_AGAIN_HEADER, "1" };
  const IrisdEnginePublication publication = {
    .subject = data->subject,
    .headers = &again,
    .n_headers = data->before || data->searched,
    .data = data->message,
    .length = data->size,
    .message_id = id,
  };

  self->counts.bytes += data->size;
  irisd_engine_publish (self->shared->engine, &publication, on_published, data);
}

/* It is not published now. */
static void
hold_item (IrisdAway *self, IrisdAwayRecord *data, IrisdAwayVerdict verdict)
{
  IrisdAwayGate before = irisd_away_table_get_gate (self->table);

  irisd_away_table_published (self->table, data->item, verdict, 0, g_get_monotonic_time ());
  note_gate (self, before);
  irisd_away_hurry (self);
}

static void
refuse_body (IrisdAway *self, IrisdAwayRecord *data, IrisdObjectStatus status, const char *why)
{
  /* It would keep small ones waiting here. */
  data->put_off = status == IRISD_OBJECT_FULL || status == IRISD_OBJECT_LATER;
  if (data->put_off && !self->told_wait)
    irisd_log (IRISD_LOG_WARNING, "items with large bodies wait here: %s", why);
  self->told_wait = self->told_wait || data->put_off;
  data->refusal = IRIS_WIRE_ERROR_TOO_LARGE;
  g_free (data->reason);
  data->reason = g_strdup_printf ("the item cannot be stored in the cluster: %s", why);
  hold_item (self, data, IRISD_AWAY_REFUSED);
}

static void
on_stored (IrisdObjectStatus status,
           const char *why,
           const IrisdObjectReference *reference,
           gpointer user_data)
{
  IrisdAwayRecord *data = user_data;
  IrisdAway *self = data->away;
  gsize size;

  data->transfer = NULL;
  if (data->item->state != IRISD_AWAY_PUBLISHING)
    {
      /* It was cancelled meanwhile, or has ended. */
      g_autofree char *owner = irisd_away_get_body_owner (self, data->item->item);
      if (status == IRISD_OBJECT_DONE)
        irisd_stored_body_remove (self->shared, owner, reference->nuid);
      hold_item (self, data, IRISD_AWAY_REFUSED);
      return;
    }
  if (status != IRISD_OBJECT_DONE)
    {
      refuse_body (self, data, status, why);
      return;
    }
  guint8 *message = irisd_stored_body_refer (self->shared, data->message, data->size, reference,
                                             &size);
  self->told_wait = FALSE;
  g_clear_pointer (&data->body, g_bytes_unref);
  g_free (data->message);
  data->message = message;
  data->size = size;
  publish_message (self, data);
}

/* Has the copy become an item. */
static void
publish_copy (IrisdAway *self, IrisdAwayRecord *data)
{
  self->counts.bytes += data->size;
  irisd_later_fire (self->shared, data->item->item, data->subject, data->copy, data->message,
                    data->size, on_published, data);
}

/* Asks for the last message of @subject in the stream of what waits: its leader, who knows. */
static void
search (IrisdAway *self, const char *subject, IrisdEngineReplyFunc callback, IrisdAwayRecord *data)
{
  g_autofree char *request = g_strconcat ("$JS.API.STREAM.MSG.GET.", self->shared->later_stream,
                                          NULL);
  g_autofree char *json = g_strdup_printf ("{\"last_by_subj\":\"%s\"}", subject);

  irisd_engine_request (self->shared->engine, request, json, 0, callback, data);
}

/* Reads what a search has found. Returns FALSE if it does not go on. */
static gboolean
read_found (IrisdAwayRecord *data, JsonObject *reply, const GError *error, guint64 *sequence)
{
  const gboolean wanted = data->item->state == IRISD_AWAY_PUBLISHING;
  const gboolean none = error != NULL && error->domain == IRISD_JETSTREAM_ERROR
                        && (error->code == IRISD_JETSTREAM_MESSAGE_NOT_FOUND
                            || error->code == IRISD_JETSTREAM_STREAM_NOT_FOUND);
  JsonObject *message = reply != NULL ? irisd_json_get_object (reply, "message") : NULL;

  *sequence = message != NULL ? (guint64) irisd_json_get_int (message, "seq") : 0;
  if (wanted && (none || *sequence > 0))
    return TRUE;
  /* It was cancelled meanwhile, or has ended; or the servers did not say. */
  hold_item (data->away, data, wanted ? IRISD_AWAY_SILENT : IRISD_AWAY_REFUSED);
  return FALSE;
}

static void
on_due_found (IrisdEngine *engine, JsonObject *reply, const GError *error, gpointer user_data)
{
  IrisdAwayRecord *data = user_data;
  guint64 sequence;

  if (!read_found (data, reply, error, &sequence))
    return;
  data->searched = TRUE;
  if (sequence > 0)
    hold_item (data->away, data, IRISD_AWAY_STORED_BEFORE);
  else
    publish_message (data->away, data);
}

static void
on_run_found (IrisdEngine *engine, JsonObject *reply, const GError *error, gpointer user_data)
{
  IrisdAwayRecord *data = user_data;
  JsonObject *message = reply != NULL ? irisd_json_get_object (reply, "message") : NULL;
  const char *due = message != NULL ? irisd_json_get_string (message, "subject") : NULL;
  char *work = due != NULL ? irisd_subject_get_work (due) : NULL;

  if (work != NULL)
    {
      g_free (data->subject);
      data->subject = work;
    }
  on_due_found (engine, reply, error, user_data);
}

static void
on_copy_found (IrisdEngine *engine, JsonObject *reply, const GError *error, gpointer user_data)
{
  IrisdAwayRecord *data = user_data;

  if (!read_found (data, reply, error, &data->copy))
    return;
  if (data->copy > 0)
    {
      data->searched = TRUE;
      publish_copy (data->away, data);
      return;
    }
  g_autofree char *due = irisd_later_get_due_subject (data->subject, data->item->item);
  search (data->away, due, on_due_found, data);
}

/* The item has waited for its time. While there may be a copy of it, what the servers have decides:
 * one that waits becomes the item, and one that was due is the item. */
static void
publish_timed (IrisdAway *self, IrisdAwayRecord *data)
{
  const guint8 *id = data->item->item;
  const IrisdLaterFound found = data->searched ? IRISD_LATER_WAITED
                                               : irisd_later_take (self->later, id, &data->copy);

  if (found == IRISD_LATER_BUSY)
    {
      hold_item (self, data, IRISD_AWAY_IN_FLIGHT);
      return;
    }
  /* An attempt that fails is made again, in the same way. */
  data->before = data->before || found == IRISD_LATER_UNSURE;
  if (data->copy > 0)
    {
      data->searched = TRUE;
      publish_copy (self, data);
    }
  else if (data->searched || !data->before)
    publish_message (self, data);
  else
    {
      g_autofree char *later = irisd_later_get_subject (self->shared, id);
      search (self, later, on_copy_found, data);
    }
}

/* The item is a run of a schedule. While its copy may become due, it waits; one that was due is the
 * item. */
static void
publish_run (IrisdAway *self, IrisdAwayRecord *data)
{
  const guint8 *id = data->item->item;
  const IrisdChainFound found = data->searched ? IRISD_CHAIN_SURE
                                               : irisd_chains_find (self->chains, id);

  if (found == IRISD_CHAIN_BUSY)
    hold_item (self, data, IRISD_AWAY_IN_FLIGHT);
  else if (found == IRISD_CHAIN_STUCK)
    hold_item (self, data, IRISD_AWAY_SILENT);
  else if (data->searched || (found == IRISD_CHAIN_SURE && !data->before))
    publish_message (self, data);
  else
    {
      /* The copy may have had another way. */
      g_autofree char *due = irisd_subject_for_any_due (data->id);
      search (self, due, on_run_found, data);
    }
}

/* The body first, if it is too large for a message, and then the message that refers to it. */
static void
on_publish (IrisdAwayItem *item, gpointer user_data)
{
  IrisdAway *self = user_data;
  IrisdAwayRecord *data = item->data;

  if (data->timed)
    {
      publish_timed (self, data);
      return;
    }
  if (data->run)
    {
      publish_run (self, data);
      return;
    }
  if (data->body == NULL)
    {
      publish_message (self, data);
      return;
    }
  g_autofree char *owner = irisd_away_get_body_owner (self, item->item);
  g_autofree char *name = irisd_stored_body_get_name (owner, FALSE);
  data->transfer = irisd_object_store_put (self->shared->bodies, owner, name, IRISD_OBJECT_HALF,
                                           data->body, on_stored, data);
}

static void
on_refuse (IrisdAwayItem *item, gpointer user_data)
{
  const IrisdAwayRecord *data = item->data;

  if (!item->leased)
    return;
  if (data->put_off)
    irisd_away_put_off_lease (user_data, item->lease, data->reason);
  else
    irisd_away_fail_lease (user_data, item->lease, data->refusal, data->reason);
}

static void
on_looked (IrisdEngine *engine,
           const IrisdEngineMessage *message,
           const GError *error,
           gpointer user_data)
{
  g_autofree Query *query = user_data;
  IrisdAway *self = query->away;
  IrisdAwayItem *item = irisd_away_table_find (self->table, query->item);

  if (item == NULL)
    return;
  if (message == NULL)
    irisd_away_table_looked (
        self->table, query->item,
        g_error_matches (error, IRISD_ENGINE_ERROR, IRISD_ENGINE_ERROR_NOT_FOUND),
        g_get_monotonic_time ());
  else
    irisd_away_take_found (self, item, message);
  irisd_away_hurry (self);
}

static void
on_look (IrisdAwayItem *item, gpointer user_data)
{
  IrisdAway *self = user_data;
  g_autofree char *subject = irisd_bridge_end_subject (self->shared->node, item->item);

  self->counts.n_looked++;
  irisd_engine_get_last (self->shared->engine, self->shared->ends_stream, subject, on_looked,
                         query_new (self, item->item));
}

static void
on_extend (IrisdAwayItem *item, gpointer user_data)
{
  IrisdAway *self = user_data;
  IrisWireMessage extend;

  iris_wire_message_init (&extend, IRIS_WIRE_EXTEND, item->lease);
  irisd_bridge_link_send (self->link, &extend);
}

static void
on_claimed (IrisdEngine *engine, const IrisdPublishResult *result, gpointer user_data)
{
  g_autofree Query *query = user_data;
  gboolean sure = result->status == IRISD_PUBLISH_STORED
                  || result->status == IRISD_PUBLISH_WRONG_SEQUENCE
                  || result->status == IRISD_PUBLISH_REFUSED;

  irisd_away_table_claimed (query->away->table, query->item, sure, g_get_monotonic_time ());
  irisd_away_hurry (query->away);
}

static void
on_claim (IrisdAwayItem *item, gpointer user_data)
{
  IrisdAway *self = user_data;
  g_autofree char *subject = irisd_bridge_end_subject (self->shared->node, item->item);
  gsize size = 0;
  g_autofree guint8 *claim = irisd_away_make_claim (self->shared, &self->encoder, item->item,
                                                    &size);
  const IrisdEnginePublication publication = {
    .subject = subject,
    .data = claim,
    .length = size,
    .check_last = TRUE,
    .expected_last = 0,
  };

  irisd_engine_publish (self->shared->engine, &publication, on_claimed,
                        query_new (self, item->item));
}

static void
on_withdraw (IrisdAwayItem *item, gpointer user_data)
{
  IrisdAway *self = user_data;
  const IrisdBridgeShared *shared = self->shared;
  const IrisdAwayRecord *data = item->data;
  gsize size = 0;
  g_autofree guint8 *claim = irisd_away_make_claim (shared, &self->encoder, item->item, &size);

  if (item->sequence > 0)
    irisd_put_anew_withdraw (shared, data->subject, data->id, item->sequence);
  if (claim != NULL)
    irisd_engine_send (shared->engine, IRISD_BRIDGE_CANCEL_SUBJECT, NULL, NULL, 0, claim, size);
  if (data->large)
    {
      g_autofree char *owner = irisd_away_get_body_owner (self, item->item);
      irisd_stored_body_remove_all (shared, owner);
    }
  if (data->timed || data->run)
    irisd_later_withdraw (shared, item->item, data->subject);
}

static void
on_forget (IrisdAwayItem *item, gpointer user_data)
{
  IrisdAwayRecord *data = item->data;

  if (data == NULL)
    return;
  g_clear_pointer (&data->transfer, irisd_object_transfer_cancel);
  g_clear_pointer (&data->body, g_bytes_unref);
  g_free (data->end);
  irisd_away_output_free (data->output);
  g_free (data->subject);
  g_free (data->message);
  g_free (data->reason);
  g_free (data);
}

static const IrisdAwayFuncs table_funcs = {
  on_publish,  on_look,   on_extend,        on_refuse,       on_claim,
  on_withdraw, on_forget, irisd_away_check, irisd_away_lose,
};

/* --- leases ----------------------------------------------------------------------------------- */

static void
refuse_item (IrisdAwayRecord *data, IrisWireError code, const char *reason)
{
  data->refusal = code;
  data->reason = g_strdup (reason);
}

/* Whether the cluster may have a copy of the item of @submit, from before its time. */
static gboolean
is_kept_later (const IrisWireMessage *submit)
{
  return submit->klass != IRIS_WIRE_CLASS_VOLATILE && irisd_later_has_time (submit);
}

/* Fills @data with the message of the item that was leased. */
static gboolean
make_message (IrisdAway *self, IrisdAwayRecord *data, const IrisWireMessage *lease)
{
  const IrisdBridgeShared *shared = self->shared;
  g_autoptr (GError) error = NULL;
  IrisWireMessage submit;
  IrisdWorkMessage message;

  if (!irisd_away_read_lease (self, lease, &message, &submit, &error))
    {
      refuse_item (data, IRIS_WIRE_ERROR_BAD_ARGUMENT, error->message);
      return FALSE;
    }
  data->number = lease->item;
  data->large = !irisd_bridge_fits (shared, irisd_work_message_get_size (&message));
  data->timed = !data->large && is_kept_later (&submit);
  data->run = irisd_away_is_run (self, data, &submit);
  if (data->large)
    {
      data->body = g_bytes_new (message.body.data, message.body.size);
      message.body = (IrisWireFrame){ 0 };
    }
  g_free (data->subject);
  data->subject = irisd_away_make_subject (&submit);
  data->message = irisd_work_message_encode (&message, shared->secret, &data->size, &error);
  if (data->message == NULL)
    refuse_item (data, IRIS_WIRE_ERROR_BAD_ARGUMENT, error->message);
  return data->message != NULL;
}

static IrisdAwayRecord *
item_new (IrisdAway *self, IrisdAwayItem *item)
{
  IrisdAwayRecord *data = g_new0 (IrisdAwayRecord, 1);

  data->away = self;
  data->item = item;
  data->output = irisd_away_output_new (self->outputs, item);
  irisd_item_to_text (item->item, data->id);
  return data;
}

static void
take_lease (IrisdAway *self, const IrisWireMessage *lease)
{
  gint64 now = g_get_monotonic_time ();
  gboolean known;

  if (!iris_wire_message_has (lease, IRIS_WIRE_KEY_CLUSTER_ITEM)
      || !iris_wire_message_has (lease, IRIS_WIRE_KEY_HEADER))
    {
      irisd_away_fail_lease (self, lease->request_id, IRIS_WIRE_ERROR_INTERNAL,
                             "the item was not submitted for the cluster");
      return;
    }
  /* A run of a schedule may have been made while this node was down. */
  self->catch_up (self->user_data);
  gboolean before = lease->attempt > 1 || (lease->item > 0 && lease->item <= self->last_item)
                    || irisd_chains_find (self->chains, lease->cluster_item) == IRISD_CHAIN_UNSURE;
  IrisdAwayItem *item = irisd_away_table_lease (self->table, lease->cluster_item, lease->request_id,
                                                before, now, &known);
  if (item == NULL)
    {
      irisd_away_fail_lease (self, lease->request_id, IRIS_WIRE_ERROR_CANCELLED,
                             "the item is being cancelled");
      return;
    }
  if (!known)
    item->data = item_new (self, item);
  IrisdAwayRecord *data = item->data;
  irisd_away_output_lease (data->output, lease);
  /* The cluster may have lost what was published. */
  if (known && (item->state != IRISD_AWAY_LOOKING || data->message != NULL))
    return;
  data->before = data->before || before;
  if (make_message (self, data, lease))
    {
      if (!known)
        irisd_away_table_start (self->table, item, now);
    }
  else
    {
      on_refuse (item, self);
      irisd_away_table_end (self->table, item, now);
    }
  irisd_away_hurry (self);
}

static IrisdAwayOutput *
find_output (const guint8 *id, gpointer user_data)
{
  IrisdAway *self = user_data;
  IrisdAwayItem *item = irisd_away_table_find (self->table, id);
  gboolean wanted = item != NULL && item->state != IRISD_AWAY_CLAIMING
                    && item->state != IRISD_AWAY_GONE;

  return wanted ? ((IrisdAwayRecord *) item->data)->output : NULL;
}

/* The client of an item grants more of its output or parts. */
static void
take_grant (IrisdAway *self, const IrisWireMessage *part)
{
  IrisdAwayItem *item = irisd_away_table_find_lease (self->table, part->request_id);

  if (item != NULL && item->data != NULL)
    irisd_away_output_grant (((IrisdAwayRecord *) item->data)->output, part->parts);
}

/* irisd has taken a lease back. The answer frees the capacity that it took. */
static void
take_stop (IrisdAway *self, const IrisWireMessage *stop)
{
  IrisdAwayItem *item = irisd_away_table_find_lease (self->table, stop->request_id);
  gint64 now = g_get_monotonic_time ();

  if (item == NULL)
    return; /* irisd is ending, or the answer is on its way */
  irisd_away_fail_lease (self, stop->request_id, IRIS_WIRE_ERROR_SERVICE_FAILED, "stopped");
  if (stop->code == IRIS_WIRE_ERROR_CANCELLED)
    irisd_away_table_cancel (self->table, item, now);
  else
    irisd_away_table_unlease (self->table, item, now);
  irisd_away_hurry (self);
}

/* --- the connection --------------------------------------------------------------------------- */

static void
send_ready (IrisdAway *self)
{
  IrisWireService service = { (char *) SERVICE, (char *) "items for other nodes" };
  const IrisWireServices services = { 1, &service };
  g_autoptr (GBytes) body = iris_wire_services_encode (&services, NULL, NULL);
  IrisWireMessage ready;

  iris_wire_message_init (&ready, IRIS_WIRE_READY, NULL);
  irisd_bridge_link_new_id (self->link, ready.request_id);
  iris_wire_message_set_uint (&ready, IRIS_WIRE_KEY_CAPACITY, self->capacity);
  iris_wire_message_set_int (&ready, IRIS_WIRE_KEY_PLACE, -1);
  iris_wire_message_set_body (&ready, g_bytes_get_data (body, NULL), g_bytes_get_size (body));
  irisd_bridge_link_send (self->link, &ready);
}

static void
on_up (const IrisWireMessage *welcome, gpointer user_data)
{
  IrisdAway *self = user_data;
  IrisWireMessage list;

  if (welcome->max_body > 0)
    self->max_body = welcome->max_body;
  if ((welcome->features & IRIS_WIRE_FEATURE_BRIDGE) == 0)
    irisd_log (IRISD_LOG_WARNING, "irisd does not take its own bridge; no items go to other nodes");
  iris_wire_message_init (&list, IRIS_WIRE_LIST, NULL);
  irisd_bridge_link_new_id (self->link, list.request_id);
  iris_wire_message_set_uint (&list, IRIS_WIRE_KEY_COUNT, 1);
  iris_wire_message_set_boolean (&list, IRIS_WIRE_KEY_DESCENDING, TRUE);
  self->listing = irisd_bridge_link_send (self->link, &list);
}

static void
take_list (IrisdAway *self, const IrisWireMessage *reply)
{
  g_autoptr (IrisWirePersistentList)
      list = iris_wire_persistent_list_decode (reply->body, NULL, NULL);

  self->listing = FALSE;
  self->last_item = list != NULL && list->n_items > 0 ? list->items[0].item : 0;
  send_ready (self);
}

/* irisd refuses an answer: its lease is over. */
static void
take_error (IrisdAway *self, const IrisWireMessage *error)
{
  IrisdAwayItem *item = irisd_away_table_find_lease (self->table, error->request_id);

  if (irisd_ended_bodies_take (self->ended, error))
    return;
  if (self->listing)
    {
      /* There is no journal. */
      self->listing = FALSE;
      self->last_item = 0;
      send_ready (self);
    }
  else if (item != NULL && error->code == IRIS_WIRE_ERROR_NO_SUCH_LEASE)
    irisd_away_table_unlease (self->table, item, g_get_monotonic_time ());
  else
    irisd_log (IRISD_LOG_WARNING, "irisd refuses what its own bridge sent: %.*s",
               (int) error->message.len, error->message.data);
}

static void
take_enrolled (IrisdAway *self, const IrisWireMessage *enrolled)
{
  irisd_away_table_set_extend (self->table, (gint64) MAX (enrolled->lease_ms, 3) * 1000 / 3);
  irisd_bridge_link_set_silence (self->link, enrolled->silence_ms);
}

static void
on_message (const IrisWireMessage *message, gpointer user_data)
{
  IrisdAway *self = user_data;

  switch (message->type)
    {
    case IRIS_WIRE_LEASE:
      take_lease (self, message);
      break;
    case IRIS_WIRE_STOP:
      take_stop (self, message);
      break;
    case IRIS_WIRE_PART:
      take_grant (self, message);
      break;
    case IRIS_WIRE_LIST_REPLY:
      take_list (self, message);
      break;
    case IRIS_WIRE_ENROLLED:
      take_enrolled (self, message);
      break;
    case IRIS_WIRE_BUSY:
    case IRIS_WIRE_SHOW_REPLY:
      irisd_ended_bodies_take (self->ended, message);
      break;
    case IRIS_WIRE_ASK:
      self->ask (message, self->user_data);
      break;
    case IRIS_WIRE_ERROR_REPLY:
      take_error (self, message);
      break;
    default:
      break;
    }
}

static void
on_down (const char *why, gpointer user_data)
{
  IrisdAway *self = user_data;

  irisd_away_table_unlease_all (self->table, g_get_monotonic_time ());
  irisd_ended_bodies_forget (self->ended);
  irisd_away_hurry (self);
}

static const IrisdBridgeLinkFuncs link_funcs = { on_up, on_message, on_down, NULL };

/* The state of the connection to NATS may have changed. Messages about ends may have been missed
 * meanwhile. */
void
irisd_away_follow_engine (IrisdAway *self)
{
  gboolean connected = irisd_engine_get_state (self->shared->engine) == IRISD_ENGINE_CONNECTED;

  if (connected && !self->was_connected)
    {
      irisd_chains_follow_engine (self->chains);
      irisd_away_table_look_at_all (self->table, g_get_monotonic_time ());
      irisd_away_table_open (self->table, g_get_monotonic_time ());
      irisd_away_hurry (self);
    }
  self->was_connected = connected;
}

/* Whether items are held here, as at first. Their ends are looked for nevertheless. */
void
irisd_away_set_shut (IrisdAway *self, gboolean shut)
{
  irisd_later_set_shut (self->later, shut);
  irisd_away_table_set_shut (self->table, shut, g_get_monotonic_time ());
  irisd_away_hurry (self);
}

/* @answer is an ANSWER. FALSE if it cannot be sent. */
gboolean
irisd_away_answer (IrisdAway *self, const IrisWireMessage *answer)
{
  return irisd_bridge_link_send (self->link, answer);
}

void
irisd_away_get_counts (const IrisdAway *self, IrisdAwayCounts *counts)
{
  *counts = self->counts;
  counts->n_away = irisd_away_table_get_size (self->table);
  counts->n_held = irisd_away_table_get_held (self->table);
  counts->gate = irisd_away_table_get_gate (self->table);
}

IrisdAway *
irisd_away_new (const IrisdBridgeShared *shared,
                guint64 max_away,
                IrisdAwayAskFunc ask,
                IrisdAwayCatchUpFunc catch_up,
                gpointer user_data)
{
  const IrisdAwayRules rules = {
    .extend_us = FIRST_EXTEND_US,
    .look_us = FIRST_LOOK_US,
    .orphan_us = ORPHAN_US,
    .check_us = CHECK_LEASES * shared->lease_us,
    .window = WINDOW,
  };
  IrisdAway *self = g_new0 (IrisdAway, 1);

  self->shared = shared;
  self->ask = ask;
  self->catch_up = catch_up;
  self->user_data = user_data;
  self->capacity = (guint) CLAMP (max_away, 1, G_MAXUINT32);
  self->table = irisd_away_table_new (&rules, &table_funcs, self);
  iris_wire_encoder_init (&self->encoder, NULL);
  self->timer = irisd_bridge_timer_new (shared->context, "irisd-away", on_timer, self);
  self->ends = irisd_engine_subscribe (shared->engine, shared->end_subject, on_end_message, self);
  self->max_body = IRIS_WIRE_DEFAULT_MAX_BODY;
  self->link = irisd_bridge_link_new (shared->zmq, shared->context, shared->endpoint, shared->token,
                                      "irisd bridge, items of this node", IRIS_WIRE_FEATURE_BRIDGE,
                                      &link_funcs, self);
  self->ended = irisd_ended_bodies_new (shared, self->link);
  self->later = irisd_later_new (shared);
  self->chains = irisd_chains_new (shared);
  self->outputs = irisd_away_outputs_new (shared, self->link, find_output, self);
  return self;
}

/* The engine is still there. Leases end with the connection; items stay where they are. */
void
irisd_away_stop (IrisdAway *self)
{
  if (self->stopped)
    return;
  self->stopped = TRUE;
  irisd_engine_unsubscribe (self->ends);
  irisd_away_outputs_stop (self->outputs);
  irisd_later_stop (self->later);
  irisd_chains_stop (self->chains);
  irisd_bridge_link_say_bye (self->link);
  g_source_destroy (self->timer);
}

/* It was stopped, and the engine is gone. */
void
irisd_away_free (IrisdAway *self)
{
  g_source_unref (self->timer);
  irisd_ended_bodies_free (self->ended);
  irisd_bridge_link_free (self->link);
  irisd_away_table_free (self->table);
  irisd_away_outputs_free (self->outputs);
  irisd_later_free (self->later);
  irisd_chains_free (self->chains);
  iris_wire_encoder_clear (&self->encoder);
  g_free (self);
}
