/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items of the cluster that run here.
 *
 * A message is believed by its signature alone. One that is no item of this cluster, is damaged, or
 * is in the wrong place goes to the stream of dead letters, with the reason, and never runs: a host
 * runs an item with the rights of the owner that the message names. A message of a later version is
 * given back, since a node with a later irisd can read it. The stream counts that as deliveries, so
 * after some it is put into the stream anew.
 *
 * To irisd a guest is a volatile item of its owner: its record is the message in the stream, which
 * is acknowledged when the end is stored. Whatever its home does for it (its key, its class, its
 * times and dependencies, its queue) is not done here again.
 *
 * What is tried again is decided here and not by irisd, because any node may try: the message is
 * given back with a delay. The stream counts deliveries, so a node that crashes by an item counts
 * too: an item may be delivered as often as it may be tried, and `lost-attempts` times more. What
 * this node gave back before it ran does not count.
 *
 * An irisd that ends in order uses up no tries. It withdraws all pulls; what does not end before it
 * does is put into the stream anew (irisd-put-anew.h), once no pull brings anything any more. Only
 * what the servers do not take is given back by a nak, or comes again after its lease.
 */
#include "irisd-guest-private.h"

#include "irisd-dead-letter.h"
#include "irisd-guest-rules.h"
#include "irisd-later.h"
#include "irisd-stored-body.h"

#include "daemon/base/irisd-log.h"

#include <string.h>

#define LOOK_US (2 * G_USEC_PER_SEC)

/* Items of which this node remembers what was no try. */
#define MOST_UNCOUNTED 65536

/* The pause until a message is delivered again that this node cannot deal with. */
#define ELSEWHERE_MS 500

/* How often a message of a later version is given back before it is put into the stream anew, and
 * the pause between. */
#define MOST_GIVEN_BACK 3
#define LATER_MS        (10 * ELSEWHERE_MS)

/* With no more than these, acknowledgements do not wait for others. */
#define FEW_GUESTS 8

/* What irisd takes unless it says so. */
#define FIRST_MAX_BODY IRIS_WIRE_DEFAULT_MAX_BODY

/* Something asked of a stream. The item may be gone when the answer comes. */
typedef struct
{
  IrisdGuest *guest;
  guint8 item[IRIS_WIRE_ID_SIZE];
} Query;

static Query *
query_new (IrisdGuest *self, const guint8 *item)
{
  Query *query = g_new (Query, 1);

  query->guest = self;
  memcpy (query->item, item, sizeof query->item);
  return query;
}

static gboolean
on_timer (gpointer data)
{
  IrisdGuest *self = data;
  const gint64 now = g_get_monotonic_time ();
  const gint64 next = irisd_guest_table_tick (self->table, now);

  irisd_bridge_timer_set (self->timer, MIN (next, irisd_late_acks_tick (self->late, now)));
  return G_SOURCE_CONTINUE;
}

static void
set_windows (IrisdGuest *self)
{
  gboolean up = irisd_bridge_link_is_up (self->link) && !self->closing;

  for (guint i = 0; i < self->lanes->len; i++)
    {
      IrisdGuestLane *lane = g_ptr_array_index (self->lanes, i);

      irisd_pull_set_window (lane->pull, up ? lane->window : 0);
    }
}

/* irisd ends. What the item wrote was of no use. */
static void
leave (IrisdGuest *self, IrisdGuestRecord *guest)
{
  g_clear_pointer (&guest->output, irisd_guest_output_free);
  irisd_guest_table_leave (self->table, guest->item);
}

static void
take_failure (IrisdGuest *self, IrisdGuestRecord *guest, const IrisWireMessage *error)
{
  if (error->code == IRIS_WIRE_ERROR_SHUTTING_DOWN)
    {
      self->closing = TRUE;
      set_windows (self);
      leave (self, guest);
    }
  else if (!irisd_guest_may_try_again (&guest->message, &guest->submit, guest->item->n_tries,
                                       guest->n_tries, error->code))
    irisd_guest_end (self, guest, error);
  else if (error->code == IRIS_WIRE_ERROR_UNKNOWN_SERVICE)
    {
      irisd_uncounted_add (self->uncounted, guest->item->item, guest->item->sequence);
      irisd_guest_table_retry (self->table, guest->item, ELSEWHERE_MS);
    }
  else
    irisd_guest_leave_irisd (self, guest, IRISD_GUEST_AFTER_RETRY,
                             irisd_guest_get_backoff_ms (&guest->submit, guest->n_tries));
}

/* --- what the table wants --------------------------------------------------------------------- */

static void
on_looked (IrisdEngine *engine,
           const IrisdEngineMessage *message,
           const GError *error,
           gpointer user_data)
{
  g_autofree Query *query = user_data;
  IrisdGuest *self = query->guest;
  gboolean none = message == NULL
                  && g_error_matches (error, IRISD_ENGINE_ERROR, IRISD_ENGINE_ERROR_NOT_FOUND);
  IrisdGuestItem *item = irisd_guest_table_find (self->table, query->item);

  if (item == NULL)
    return;
  if (message != NULL && (item->state == IRISD_GUEST_LOOKING || item->state == IRISD_GUEST_READING))
    {
      IrisdGuestRecord *guest = item->data;

      /* It may be ours, of which the answer was lost, or another node's. Either way it is told. */
      guest->lost = guest->end == NULL || guest->end_size != message->length
                    || memcmp (guest->end, message->data, message->length) != 0;
      g_free (guest->end);
      guest->end = g_memdup2 (message->data, message->length);
      guest->end_size = message->length;
    }
  irisd_guest_table_looked (self->table, query->item, message != NULL, message != NULL || none,
                            g_get_monotonic_time ());
  irisd_guest_hurry (self);
}

static void
on_look (IrisdGuestItem *item, gpointer user_data)
{
  IrisdGuest *self = user_data;
  g_autofree char *subject = irisd_guest_get_end_subject (item->data);

  irisd_engine_get_last (self->shared->engine, self->shared->ends_stream, subject, on_looked,
                         query_new (self, item->item));
}

static gboolean
is_own (const IrisdGuest *self, const IrisWireString *name)
{
  return name->len == strlen (self->shared->node)
         && memcmp (name->data, self->shared->node, name->len) == 0;
}

static gboolean
on_submit (IrisdGuestItem *item, gpointer user_data)
{
  IrisdGuest *self = user_data;
  IrisdGuestRecord *guest = item->data;
  IrisWireMessage wanted = guest->submit, submit;
  guint64 credit;
  IrisdGuestOutputKind kind = irisd_guest_output_choose (&wanted, &credit);

  irisd_guest_make_submit (&guest->message, &wanted, self->shared->node, &submit);
  if (guest->body != NULL)
    iris_wire_message_set_body (&submit, g_bytes_get_data (guest->body, NULL),
                                g_bytes_get_size (guest->body));
  irisd_bridge_link_new_id (self->link, submit.request_id);
  memcpy (item->request, submit.request_id, sizeof item->request);
  g_clear_pointer (&guest->output, irisd_guest_output_free);
  if (!irisd_bridge_link_send (self->link, &submit))
    return FALSE;
  guest->output = irisd_guest_output_new (self->outputs, &guest->message, item->n_tries, kind,
                                          credit, item->request, guest);
  return TRUE;
}

static void
on_stop (IrisdGuestItem *item, gpointer user_data)
{
  IrisdGuest *self = user_data;
  IrisWireMessage cancel;

  iris_wire_message_init (&cancel, IRIS_WIRE_CANCEL, NULL);
  irisd_bridge_link_new_id (self->link, cancel.request_id);
  iris_wire_message_set_target (&cancel, item->request);
  irisd_bridge_link_send (self->link, &cancel);
}

static void
on_tell (IrisdGuestItem *item, gpointer user_data)
{
  IrisdGuest *self = user_data;
  const IrisdGuestRecord *guest = item->data;

  if (guest->end == NULL)
    return;
  if (is_own (self, &guest->message.home))
    self->own_end (guest->end, guest->end_size, self->user_data);
  else
    {
      g_autofree char *home = iris_wire_string_dup (&guest->message.home);
      irisd_end_words_add (self->words, home, guest->end, guest->end_size);
    }
}

static void
send_ack (const char *ack_subject, gpointer user_data)
{
  irisd_engine_ack (((IrisdGuest *) user_data)->shared->engine, ack_subject);
}

static void
on_acknowledge (IrisdGuestItem *item, gpointer user_data)
{
  IrisdGuest *self = user_data;
  IrisdGuestRecord *guest = item->data;

  if (guest->lost)
    {
      self->counts.n_lost++;
      irisd_guest_remove_result (self, guest);
    }
  else
    self->counts.n_done++;
  irisd_uncounted_forget (self->uncounted, item->item);
  irisd_late_acks_add (self->late, item->ack, g_get_monotonic_time ());
  if (irisd_guest_table_get_size (self->table) <= FEW_GUESTS)
    irisd_late_acks_send (self->late);
  irisd_guest_hurry (self);
  if (guest->copy > 0)
    irisd_later_remove_copy (self->shared, guest->copy);
}

static void
on_give_back (IrisdGuestItem *item, guint64 delay_ms, gpointer user_data)
{
  IrisdGuest *self = user_data;

  self->counts.n_given++;
  irisd_guest_remove_result (self, item->data);
  irisd_engine_nak (self->shared->engine, item->ack, delay_ms);
}

static void
on_published_anew (IrisdEngine *engine, const IrisdPublishResult *result, gpointer user_data)
{
  IrisdGuestRecord *guest = user_data;
  IrisdGuest *self = guest->guest;
  /* WRONG_SEQUENCE is no proof that there is another one: it may only be under way. */
  IrisdGuestVerdict verdict = IRISD_GUEST_REFUSED;

  if (result->status == IRISD_PUBLISH_STORED || result->status == IRISD_PUBLISH_DUPLICATE)
    verdict = IRISD_GUEST_STORED;
  else if (result->status == IRISD_PUBLISH_RETRY || result->status == IRISD_PUBLISH_NO_QUORUM)
    verdict = IRISD_GUEST_LATER;
  else
    irisd_log (IRISD_LOG_WARNING,
               "the cluster does not take an item back, so it counts as tried once more: %s",
               result->text != NULL ? result->text : "no reason given");
  irisd_guest_table_put_anew (self->table, guest->item, verdict, g_get_monotonic_time ());
  irisd_guest_hurry (self);
}

static void
on_put_anew (IrisdGuestItem *item, gpointer user_data)
{
  IrisdGuest *self = user_data;
  IrisdGuestRecord *guest = item->data;
  const IrisdBefore before = { item->n_tries, guest->n_tries - 1, guest->copy };
  char text[IRISD_ITEM_TEXT_SIZE];

  g_clear_pointer (&guest->transfer, irisd_object_transfer_cancel);
  irisd_item_to_text (item->item, text);
  irisd_put_anew (self->shared, &guest->delivered, text, &before, on_published_anew, guest);
}

static void
on_hand_over (IrisdGuestItem *item, gpointer user_data)
{
  IrisdGuest *self = user_data;

  self->counts.n_given++;
  irisd_uncounted_forget (self->uncounted, item->item);
  irisd_engine_ack (self->shared->engine, item->ack);
}

static void
on_renew (IrisdGuestItem *item, gpointer user_data)
{
  IrisdGuest *self = user_data;

  irisd_engine_wpi (self->shared->engine, item->ack);
}

static void
on_forget (IrisdGuestItem *item, gpointer user_data)
{
  IrisdGuestRecord *guest = item->data;

  if (guest == NULL)
    return;
  irisd_guest_leave_window (guest);
  guest->guest->counts.n_ending -= guest->ending;
  irisd_guest_output_free (guest->output);
  irisd_engine_kept_free (guest->kept);
  g_clear_pointer (&guest->transfer, irisd_object_transfer_cancel);
  g_clear_pointer (&guest->body, g_bytes_unref);
  g_clear_pointer (&guest->result, g_bytes_unref);
  g_free (guest->end);
  g_free (guest);
}

static const IrisdGuestFuncs table_funcs = {
  on_look,
  irisd_guest_fetch_body,
  on_submit,
  on_stop,
  irisd_guest_publish_end,
  on_tell,
  on_acknowledge,
  on_put_anew,
  on_hand_over,
  on_give_back,
  on_renew,
  on_forget,
};

/* --- what runs write -------------------------------------------------------------------------- */

static void
on_finished (gpointer data, gpointer user_data)
{
  irisd_guest_go_on (user_data, data);
}

/* Its output is not wanted. As when the connection of a client is lost, the run ends with it. */
static void
on_unwanted (gpointer data, IrisdGuestUnwanted why, gpointer user_data)
{
  IrisdGuest *self = user_data;
  IrisdGuestRecord *guest = data;

  if (guest->after == IRISD_GUEST_AFTER_NOTHING)
    on_stop (guest->item, self);
  if (why == IRISD_GUEST_UNWANTED_LATER)
    {
      irisd_guest_table_drop (self->table, guest->item);
      return;
    }
  if (guest->after != IRISD_GUEST_AFTER_END && why == IRISD_GUEST_UNWANTED_UNKNOWN)
    irisd_guest_make_error (self, guest, IRIS_WIRE_ERROR_CANCELLED,
                            "its client does not want its output any more, so it was cancelled");
  else if (why == IRISD_GUEST_UNWANTED_SILENT)
    irisd_guest_make_error (
        self, guest, IRIS_WIRE_ERROR_WORKER_LOST,
        "the node that it was submitted at was silent for so long that its output could "
        "not be told; see that the nodes reach each other, and submit it again");
  guest->after = IRISD_GUEST_AFTER_END;
  irisd_guest_go_on (self, guest);
}

static const IrisdGuestOutputFuncs output_funcs = { on_finished, on_unwanted };

static void
take_output (IrisdGuest *self, const IrisWireMessage *message)
{
  IrisdGuestItem *item = irisd_guest_table_find_request (self->table, message->request_id);

  if (item != NULL && ((IrisdGuestRecord *) item->data)->output != NULL)
    irisd_guest_output_take (((IrisdGuestRecord *) item->data)->output, message);
}

/* --- deliveries ------------------------------------------------------------------------------- */

static void
on_left (IrisdEngine *engine, const IrisdPublishResult *result, gpointer user_data)
{
  g_autofree char *ack = user_data;

  if (result->status == IRISD_PUBLISH_STORED || result->status == IRISD_PUBLISH_DUPLICATE)
    irisd_engine_ack (engine, ack);
  else
    irisd_engine_nak (engine, ack, LATER_MS);
}

static IrisdDelivered
get_delivered (const IrisdEngineMessage *message)
{
  return (IrisdDelivered){ message->subject, message->data, message->length, message->sequence };
}

/* A message of a later version, which no node could try that cannot read it. The name of its item
 * is the end of its id: what cannot be read does not say it. */
static void
leave_to_others (IrisdGuest *self, const IrisdEngineMessage *message)
{
  const char *id = irisd_engine_message_get_header (message, "Nats-Msg-Id");
  const char *item = id != NULL ? strrchr (id, '-') : NULL;
  const IrisdDelivered delivered = get_delivered (message);
  IrisdBefore before;

  self->counts.n_given++;
  if (message->n_delivered < MOST_GIVEN_BACK)
    {
      irisd_engine_nak (self->shared->engine, message->reply, LATER_MS);
      return;
    }
  irisd_before_read (&before, message);
  before.n_delivered += message->n_delivered;
  irisd_put_anew (self->shared, &delivered, item != NULL ? item + 1 : NULL, &before, on_left,
                  g_strdup (message->reply));
}

/* A signed item may have been published once more to another subject. It must not run on another
 * node than the one that its home has ordered. */
static gboolean
is_in_place (const IrisdGuestRecord *guest, const char *subject, GError **error)
{
  const IrisWireMessage *submit = &guest->submit;
  g_auto (IrisdWorkSubject) parsed = { 0 };
  char item[IRISD_ITEM_TEXT_SIZE];

  if (irisd_subject_parse_work (subject, &parsed))
    {
      gboolean bound = submit->strict && submit->node.len > 0;
      gboolean same = parsed.node != NULL && strlen (parsed.node) == submit->node.len
                      && memcmp (parsed.node, submit->node.data, submit->node.len) == 0;

      irisd_item_to_text (guest->message.item, item);
      if (parsed.strict == bound && (!bound || same)
          && (parsed.item == NULL || strcmp (parsed.item, item) == 0))
        return TRUE;
    }
  g_set_error (error, IRISD_WORK_MESSAGE_ERROR, IRISD_WORK_MESSAGE_ERROR_FORGED,
               "it was not sent to %s", subject);
  return FALSE;
}

/* Reads what was delivered into @guest. */
static gboolean
read_item (IrisdGuest *self,
           IrisdGuestRecord *guest,
           const IrisdEngineMessage *message,
           GError **error)
{
  if (!irisd_work_message_decode (&guest->message, message->data, message->length,
                                  self->shared->secret, error)
      || !irisd_work_message_open (&guest->message, &guest->submit, error))
    return FALSE;
  if (guest->message.kind == IRISD_WORK_MESSAGE_ITEM)
    return is_in_place (guest, message->subject, error);
  g_set_error_literal (error, IRISD_WORK_MESSAGE_ERROR, IRISD_WORK_MESSAGE_ERROR_FOREIGN,
                       "it is no item");
  return FALSE;
}

/* Whether nodes were lost with the item again and again. */
static gboolean
is_poison (IrisdGuest *self, const IrisdGuestRecord *guest)
{
  return guest->n_tries > (guint64) guest->message.tries + 1 + self->lost_attempts;
}

static void
end_poison (IrisdGuest *self, IrisdGuestRecord *guest, const IrisdEngineMessage *delivered)
{
  g_autofree char *why = g_strdup_printf (
      "too many nodes were lost while they had the item: beyond its %u retries it may be tried %u "
      "times; see why, and submit it again, or raise [cluster] lost-attempts",
      guest->message.tries, self->lost_attempts);

  self->counts.n_dead++;
  irisd_dead_letter_copy (self->shared, delivered, "lost", why);
  irisd_guest_end_with_error (self, guest, IRIS_WIRE_ERROR_WORKER_LOST, why);
}

static void
start (IrisdGuest *self, IrisdGuestRecord *guest, const IrisdEngineMessage *delivered)
{
  const IrisdWorkMessage *message = &guest->message;

  if (message->begin_ms > 0 && g_get_real_time () / 1000 > message->begin_ms)
    irisd_guest_end_with_error (self, guest, IRIS_WIRE_ERROR_DEADLINE_PASSED,
                                "the item had not begun by its deadline");
  else if (is_poison (self, guest))
    end_poison (self, guest, delivered);
  else if (message->stored && message->reference.size > self->max_body)
    {
      g_autofree char *why = g_strdup_printf (
          "the item has %" G_GUINT64_FORMAT " bytes, and the node %s takes %" G_GUINT64_FORMAT
          ": raise [limits] max-body there, or send less",
          message->reference.size, self->shared->node, self->max_body);
      irisd_guest_end_with_error (self, guest, IRIS_WIRE_ERROR_TOO_LARGE, why);
    }
  else
    {
      guest->item->wants_body = message->stored;
      if (guest->link == NULL)
        irisd_guest_table_start (self->table, guest->item, g_get_monotonic_time ());
    }
}

/* A message that leaves the table at once, or never comes into it. */
static void
refuse (IrisdGuestLane *lane, const IrisdEngineMessage *message, const GError *error)
{
  IrisdGuest *self = lane->guest;

  if (g_error_matches (error, IRISD_WORK_MESSAGE_ERROR, IRISD_WORK_MESSAGE_ERROR_NEWER))
    leave_to_others (self, message);
  else
    {
      self->counts.n_dead++;
      irisd_dead_letter_bury (self->shared, message, irisd_dead_letter_name_kind (error),
                              error->message);
    }
  irisd_pull_release (lane->pull, 1);
}

/* What was due comes from the stream of schedules, which keeps it until it is removed. Returns its
 * sequence there, or 0. */
static guint64
find_copy (const IrisdGuest *self, const IrisdEngineMessage *message)
{
  const char *source = irisd_engine_message_get_header (message, "Nats-Stream-Source");
  const gsize n = strlen (self->shared->later_stream);

  if (source == NULL || strncmp (source, self->shared->later_stream, n) != 0 || source[n] != ' ')
    return 0;
  return g_ascii_strtoull (source + n + 1, NULL, 10);
}

/* The item is here by another message: one of the two is left of a crash between their storing and
 * acknowledging. It has no end yet, so neither is surplus. */
static void
leave_for_later (IrisdGuest *self, const IrisdEngineMessage *message, const guint8 *item)
{
  irisd_uncounted_add (self->uncounted, item, message->sequence);
  irisd_engine_nak (self->shared->engine, message->reply, (guint64) self->shared->lease_us / 1000);
}

static void
on_delivered (IrisdPull *pull, const IrisdEngineMessage *message, gpointer user_data)
{
  IrisdGuestLane *lane = user_data;
  IrisdGuest *self = lane->guest;
  g_autoptr (GError) error = NULL;
  IrisdGuestRecord guest = { .guest = self, .lane = lane };
  IrisdBefore before;
  const gboolean again = irisd_before_read (&before, message);
  gboolean known;

  self->counts.n_delivered++;
  self->counts.n_again += message->n_delivered > 1;
  self->counts.bytes_in += message->length;
  self->delivered (lane, message->n_pending, self->user_data);
  if (!read_item (self, &guest, message, &error))
    {
      refuse (lane, message, error);
      return;
    }
  if (!irisd_bridge_link_is_up (self->link))
    {
      irisd_uncounted_add (self->uncounted, guest.message.item, message->sequence);
      irisd_engine_nak (self->shared->engine, message->reply, ELSEWHERE_MS);
      irisd_pull_release (pull, 1);
      return;
    }
  guest.item = irisd_guest_table_deliver (
      self->table, guest.message.item, message->reply, message->sequence,
      message->n_delivered + MAX (before.n_delivered, (guint64) again), g_get_monotonic_time (),
      &known);
  if (known)
    {
      if (guest.item->sequence != message->sequence)
        leave_for_later (self, message, guest.message.item);
      irisd_pull_release (pull, 1);
      return;
    }
  self->counts.mean_bytes = irisd_guest_mean (self->counts.mean_bytes, guest.message.body.size);
  guest.n_tries = before.n_tries
                  + irisd_uncounted_count_tries (self->uncounted, guest.message.item,
                                                 message->sequence, message->n_delivered);
  guest.copy = before.copy > 0 ? before.copy : find_copy (self, message);
  guest.delivered = get_delivered (message);
  guest.link = irisd_guest_make_link (self, &guest, message);
  IrisdChainLink *link = guest.link;
  guest.kept = irisd_engine_message_keep (message);
  guest.item->unsure = message->counts_anew;
  guest.item->data = g_memdup2 (&guest, sizeof guest);
  start (self, guest.item->data, message);
  if (link != NULL)
    irisd_chain_link_begin (link);
  irisd_guest_hurry (self);
}

static void
on_cancel (IrisdEngine *engine, const IrisdEngineMessage *message, gpointer user_data)
{
  IrisdGuest *self = user_data;
  IrisdWorkMessage end;

  if (!irisd_work_message_decode (&end, message->data, message->length, self->shared->secret, NULL)
      || end.kind != IRISD_WORK_MESSAGE_END || !end.cancelled)
    return;
  IrisdGuestItem *item = irisd_guest_table_find (self->table, end.item);
  if (item != NULL)
    irisd_guest_table_cancel (self->table, item, g_get_monotonic_time ());
  irisd_guest_hurry (self);
}

/* --- the connection to irisd ------------------------------------------------------------------ */

static void
take_completion (IrisdGuest *self, const IrisWireMessage *message)
{
  IrisdGuestItem *item = irisd_guest_table_find_request (self->table, message->request_id);

  if (message->type == IRIS_WIRE_RESULT || message->ends)
    g_byte_array_append (self->acks, message->request_id, IRIS_WIRE_ID_SIZE);
  if (item == NULL || ((IrisdGuestRecord *) item->data)->after != IRISD_GUEST_AFTER_NOTHING)
    return; /* it was given back, or the answer is to a CANCEL that came too late */
  if (message->type == IRIS_WIRE_RESULT)
    irisd_guest_end (self, item->data, message);
  else
    take_failure (self, item->data, message);
}

static void
take_completions (IrisdGuest *self, const IrisWireMessage *message)
{
  IrisWireLimits limits = *iris_wire_limits_default ();
  IrisWireBatchIter iter;
  IrisWireMessage completion;

  limits.max_body = G_MAXSIZE;
  limits.max_header = limits.max_string = G_MAXINT;
  limits.max_args = limits.max_batch = G_MAXINT;
  if (!iris_wire_batch_iter_init_completions (&iter, message->body, &limits, NULL))
    return;
  while (iris_wire_batch_iter_next (&iter, &completion, NULL) == IRIS_WIRE_BATCH_ITEM)
    take_completion (self, &completion);
}

static void
take_busy (IrisdGuest *self, const IrisWireMessage *busy)
{
  IrisdGuestItem *item = irisd_guest_table_find_request (self->table, busy->request_id);

  if (item != NULL)
    irisd_guest_table_busy (self->table, item, busy->retry_after_ms, g_get_monotonic_time ());
  irisd_guest_hurry (self);
}

static void
on_message (const IrisWireMessage *message, gpointer user_data)
{
  IrisdGuest *self = user_data;

  switch (message->type)
    {
    case IRIS_WIRE_RESULT:
    case IRIS_WIRE_ERROR_REPLY:
      take_completion (self, message);
      break;
    case IRIS_WIRE_COMPLETIONS:
      take_completions (self, message);
      break;
    case IRIS_WIRE_BUSY:
      take_busy (self, message);
      break;
    case IRIS_WIRE_OUTPUT:
    case IRIS_WIRE_PART:
    case IRIS_WIRE_PROGRESS:
      take_output (self, message);
      break;
    default:
      break;
    }
}

/* While many short items are in hand, the next completions are read together. */
static void
gather (IrisdGuest *self)
{
  const guint n_guests = irisd_guest_table_get_size (self->table);
  const guint n_in_hand = n_guests - MIN (self->counts.n_ending, n_guests);
  gint64 rest_us = irisd_guest_get_rest_us (n_in_hand, self->counts.mean_run_ns, self->n_workers);

  if (rest_us > 0)
    irisd_bridge_link_rest (self->link, g_get_monotonic_time () + rest_us);
}

/* Frees the credits of all completions that were read at once by one ACK. */
static void
on_drained (gpointer user_data)
{
  IrisdGuest *self = user_data;
  IrisWireMessage ack;

  if (self->acks->len == 0)
    return;
  iris_wire_message_init (&ack, IRIS_WIRE_ACK, NULL);
  iris_wire_message_set_body (&ack, self->acks->data, self->acks->len);
  irisd_bridge_link_send (self->link, &ack);
  g_byte_array_set_size (self->acks, 0);
  gather (self);
}

static void
on_up (const IrisWireMessage *welcome, gpointer user_data)
{
  IrisdGuest *self = user_data;

  if (welcome->max_body > 0)
    self->max_body = welcome->max_body;
  set_windows (self);
}

static void
on_down (const char *why, gpointer user_data)
{
  IrisdGuest *self = user_data;

  g_byte_array_set_size (self->acks, 0);
  set_windows (self);
  irisd_guest_table_give_all_back (self->table, FALSE);
}

static const IrisdBridgeLinkFuncs link_funcs = { on_up, on_message, on_down, on_drained };

/* --- lanes ------------------------------------------------------------------------------------ */

static void
leave_lane (IrisdGuest *self, IrisdGuestLane *lane)
{
  g_autoptr (GPtrArray) items = irisd_guest_table_list (self->table);

  for (guint i = 0; i < items->len; i++)
    {
      IrisdGuestRecord *guest = ((IrisdGuestItem *) g_ptr_array_index (items, i))->data;

      if (guest != NULL && guest->lane == lane)
        guest->lane = NULL;
    }
}

/* irisd ends: once no lane brings anything any more, what has come can go. */
static void
follow_lanes (IrisdGuest *self)
{
  if (self->closed && self->lanes->len == 0)
    irisd_guest_table_close (self->table);
}

static void
on_lane_ended (IrisdPull *pull, gpointer user_data)
{
  IrisdGuestLane *lane = user_data;
  IrisdGuest *self = lane->guest;

  lane->pull = NULL;
  leave_lane (self, lane);
  g_ptr_array_remove (self->lanes, lane);
  follow_lanes (self);
}

/* Pulls from a consumer of the work stream, from now on. */
IrisdGuestLane *
irisd_guest_open (IrisdGuest *self,
                  const char *consumer,
                  IrisdPullKind kind,
                  guint window,
                  guint64 min_pending)
{
  static const IrisdPullEvents events = { on_delivered, NULL, on_lane_ended };
  IrisdGuestLane *lane = g_new0 (IrisdGuestLane, 1);
  const IrisdPullOptions options = {
    .stream = self->shared->work_stream,
    .consumer = consumer,
    .kind = kind,
    .window = irisd_bridge_link_is_up (self->link) && !self->closing ? window : 0,
    .least = self->n_workers,
    .min_pending = min_pending,
  };

  lane->guest = self;
  lane->kind = kind;
  lane->window = window;
  lane->pull = irisd_pull_new (self->shared->engine, &options, &events, lane);
  g_ptr_array_add (self->lanes, lane);
  return lane;
}

void
irisd_guest_lane_set (IrisdGuestLane *self, guint window, guint64 min_pending)
{
  if (window != self->window)
    {
      self->window = window;
      if (irisd_bridge_link_is_up (self->guest->link) && !self->guest->closing)
        irisd_pull_set_window (self->pull, window);
    }
  if (min_pending > 0)
    irisd_pull_set_min_pending (self->pull, min_pending);
}

/* So many are to be under way besides those that it has brought. */
void
irisd_guest_lane_ask (IrisdGuestLane *self, guint n, guint64 min_pending)
{
  irisd_guest_lane_set (self, irisd_pull_get_n_held (self->pull) + n, min_pending);
}

/* Nothing is asked for, and nothing is under way. */
gboolean
irisd_guest_lane_is_over (const IrisdGuestLane *self)
{
  return self->window == 0 && irisd_pull_get_n_asked (self->pull) == 0;
}

IrisdPullKind
irisd_guest_lane_get_kind (const IrisdGuestLane *self)
{
  return self->kind;
}

/* What the consumer had left when it was last heard of. */
guint64
irisd_guest_lane_get_backlog (const IrisdGuestLane *self)
{
  return irisd_pull_get_backlog (self->pull);
}

/* What it has delivered goes on. */
void
irisd_guest_lane_close (IrisdGuestLane *self)
{
  leave_lane (self->guest, self);
  g_clear_pointer (&self->pull, irisd_pull_free);
  g_ptr_array_remove (self->guest->lanes, self);
}

/* What it has asked for may still come, and runs; then it closes by itself. @self is not used any
 * more. */
void
irisd_guest_lane_withdraw (IrisdGuestLane *self)
{
  self->withdrawn = TRUE;
  irisd_pull_withdraw (self->pull);
}

/* irisd ends, and its lanes were or are withdrawn here. Nothing is opened any more. */
void
irisd_guest_close (IrisdGuest *self)
{
  if (self->closed)
    return;
  self->closing = self->closed = TRUE;
  for (guint i = 0; i < self->lanes->len; i++)
    {
      IrisdGuestLane *lane = g_ptr_array_index (self->lanes, i);

      if (!lane->withdrawn)
        irisd_guest_lane_withdraw (lane);
    }
  follow_lanes (self);
}

/* It was closed, and all that it had is gone. */
gboolean
irisd_guest_is_empty (const IrisdGuest *self)
{
  return self->closed && self->lanes->len == 0 && irisd_guest_table_get_size (self->table) == 0;
}

void
irisd_guest_get_counts (const IrisdGuest *self, IrisdGuestCounts *counts)
{
  *counts = self->counts;
  counts->n_guests = irisd_guest_table_get_size (self->table);
}

/* @lost_attempts: how often an item is delivered beyond its first try and its retries. */
IrisdGuest *
irisd_guest_new (const IrisdBridgeShared *shared,
                 guint n_workers,
                 guint lost_attempts,
                 IrisdGuestEndFunc own_end,
                 IrisdGuestLaneFunc delivered,
                 gpointer user_data)
{
  const IrisdGuestRules rules = { .renew_us = shared->lease_us / 3, .look_us = LOOK_US };
  IrisWireLimits limits = *iris_wire_limits_default ();
  IrisdGuest *self = g_new0 (IrisdGuest, 1);

  self->shared = shared;
  self->n_workers = n_workers;
  self->lost_attempts = lost_attempts;
  self->uncounted = irisd_uncounted_new (MOST_UNCOUNTED);
  self->max_body = FIRST_MAX_BODY;
  self->own_end = own_end;
  self->delivered = delivered;
  self->user_data = user_data;
  self->table = irisd_guest_table_new (&rules, &table_funcs, self);
  self->lanes = g_ptr_array_new_with_free_func (g_free);
  self->acks = g_byte_array_new ();
  limits.max_body = IRIS_WIRE_MOST_BYTES;
  iris_wire_encoder_init (&self->encoder, &limits);
  self->timer = irisd_bridge_timer_new (shared->context, "irisd-guest", on_timer, self);
  self->words = irisd_end_words_new (shared);
  self->late = irisd_late_acks_new (send_ack, self);
  self->cancels = irisd_engine_subscribe (shared->engine, IRISD_BRIDGE_CANCEL_SUBJECT, on_cancel,
                                          self);
  self->link = irisd_bridge_link_new (shared->zmq, shared->context, shared->endpoint, shared->token,
                                      "irisd bridge, items of other nodes",
                                      IRIS_WIRE_FEATURE_BRIDGE | IRIS_WIRE_FEATURE_COMPLETIONS,
                                      &link_funcs, self);
  self->outputs = irisd_guest_outputs_new (shared, self->link, &output_funcs, self);
  return self;
}

/* Another picture of the nodes. */
void
irisd_guest_set_members (IrisdGuest *self, IrisdMembers *members)
{
  irisd_members_ref (members);
  g_clear_pointer (&self->members, irisd_members_unref);
  self->members = members;
}

/* The engine is still there: what runs here is given to other nodes. */
void
irisd_guest_stop (IrisdGuest *self)
{
  if (self->stopped)
    return;
  self->stopped = TRUE;
  while (self->lanes->len > 0)
    irisd_guest_lane_close (g_ptr_array_index (self->lanes, 0));
  irisd_guest_table_give_all_back (self->table, TRUE);
  for (GList *l = self->links.head; l != NULL; l = l->next)
    irisd_chain_link_stop (l->data);
  irisd_end_words_stop (self->words);
  irisd_late_acks_send (self->late);
  irisd_engine_unsubscribe (self->cancels);
  irisd_guest_outputs_stop (self->outputs);
  irisd_bridge_link_say_bye (self->link);
  g_source_destroy (self->timer);
}

/* It was stopped, and the engine is gone. */
void
irisd_guest_free (IrisdGuest *self)
{
  irisd_guest_table_free (self->table);
  g_queue_clear_full (&self->links, (GDestroyNotify) irisd_chain_link_free);
  g_clear_pointer (&self->members, irisd_members_unref);
  irisd_guest_outputs_free (self->outputs);
  irisd_uncounted_free (self->uncounted);
  g_source_unref (self->timer);
  irisd_end_words_free (self->words);
  irisd_late_acks_free (self->late);
  irisd_bridge_link_free (self->link);
  iris_wire_encoder_clear (&self->encoder);
  g_ptr_array_unref (self->lanes);
  g_byte_array_unref (self->acks);
  g_free (self);
}
