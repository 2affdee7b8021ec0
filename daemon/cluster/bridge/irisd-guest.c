/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items of the cluster that run here.
 *
 * A message is believed by its signature alone. One that is no item of this cluster, is damaged, or
 * is in the wrong place goes to the stream of dead letters, with the reason, and never runs: a host
 * runs an item with the rights of the owner that the message names. A message of a later version is
 * given back, since a node with a later irisd can read it. The stream delivers a message only so
 * often, and counts what was given back, so then it is put there anew.
 *
 * To irisd a guest is a volatile item of its owner: its record is the message in the stream, which
 * is acknowledged when the end is stored. Whatever its home does for it (its key, its class, its
 * times and dependencies, its queue) is not done here again.
 *
 * What is tried again is decided here and not by irisd, because any node may try: the message is
 * given back with a delay. The stream counts deliveries, so a node that crashes by an item counts
 * too: an item may be delivered as often as it may be tried, and `lost-attempts` times more. What
 * this node gave back before it ran does not count.
 */
#include "irisd-guest.h"

#include "irisd-dead-letter.h"
#include "irisd-guest-rules.h"
#include "irisd-stored-body.h"
#include "irisd-uncounted.h"

#include "daemon/base/irisd-log.h"
#include "daemon/cluster/bridge/irisd-end-words.h"
#include "daemon/cluster/bridge/irisd-guest-output.h"

#include <string.h>

#define LOOK_US (2 * G_USEC_PER_SEC)

/* Items of which this node remembers what was no try. */
#define MOST_UNCOUNTED 65536

/* The pause until a message is delivered again that this node cannot deal with. */
#define ELSEWHERE_MS 500

/* Ends on the way to the stream whose items make room for others: storing takes milliseconds, so a
 * window that held them too would run dry. Beyond so many the stream does not keep up. */
#define MOST_ENDING 1024

/* How often a message of a later version is given back before it is put into the stream anew, and
 * the pause between. */
#define MOST_GIVEN_BACK 3
#define LATER_MS        (10 * ELSEWHERE_MS)

/* Has a message that was put there anew, so that its end is looked for before it runs. */
#define AGAIN_HEADER "Iris-Again"

#define K(key) IRIS_WIRE_BIT (IRIS_WIRE_KEY_##key)

/* Keys of an end that are about a number or place of this irisd. */
#define HOST_KEYS (K (ITEM) | K (HOME) | K (NODE) | K (ATTEMPTS) | K (ENDS))

/* What irisd takes unless it says so. */
#define FIRST_MAX_BODY IRIS_WIRE_DEFAULT_MAX_BODY

struct _IrisdGuest
{
  const IrisdBridgeShared *shared;
  IrisdGuestEndFunc own_end;
  IrisdGuestLaneFunc delivered;
  gpointer user_data;
  guint lost_attempts;
  IrisdUncounted *uncounted;
  IrisdBridgeLink *link;
  IrisdGuestTable *table;
  IrisdGuestOutputs *outputs;
  IrisdEngineSubscription *cancels;
  GSource *timer;
  IrisdEndWords *words;
  GPtrArray *lanes;
  GByteArray *acks;   /* request ids of completions that were taken */
  gboolean closing;   /* irisd takes no more items, until its end */
  guint64 max_body;   /* that irisd takes */
  gboolean told_full; /* the log says that results wait for room */
  gboolean stopped;
  IrisWireEncoder encoder;
  IrisdGuestCounts counts;
};

struct _IrisdGuestLane
{
  IrisdGuest *guest;
  IrisdPull *pull; /* NULL once it is closed */
  IrisdPullKind kind;
  guint window;
};

/* What follows when the home has all that the run has written. */
typedef enum
{
  AFTER_NOTHING, /* it still runs */
  AFTER_END,
  AFTER_RETRY,
} After;

/* The owner's data of an IrisdGuestItem. */
typedef struct
{
  IrisdGuest *guest;
  IrisdGuestItem *item;
  IrisdGuestLane *lane; /* NULL once it is closed */
  gpointer kept;        /* what the following borrow from */
  IrisdWorkMessage message;
  IrisWireMessage submit;
  guint8 *end; /* NULL until it has ended */
  gsize end_size;
  guint64 n_tries; /* deliveries that may have run, this one included */
  gboolean lost;   /* another end was there */
  gboolean ending; /* it counts as one */
  GBytes *body;    /* of the item, if it was not in the message */
  GBytes *result;  /* of the end, if that is too large for a message, until it is stored */
  gboolean stored; /* it is: */
  IrisdObjectReference reference;
  IrisdObjectTransfer *transfer; /* of the body or the result, while it is under way */
  IrisdGuestOutput *output;      /* NULL while irisd does not have it */
  After after;
  guint64 after_ms; /* of a retry */
} Guest;

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

static void
set_timer (IrisdGuest *self, gint64 when)
{
  g_source_set_ready_time (self->timer, when == G_MAXINT64 ? -1 : when);
}

/* Something has changed, by which something may be due earlier. */
static void
hurry (IrisdGuest *self)
{
  gint64 ready = g_source_get_ready_time (self->timer);
  gint64 soon = g_get_monotonic_time () + G_USEC_PER_SEC / 50;

  if (ready < 0 || ready > soon)
    set_timer (self, soon);
}

static gboolean
on_timer (gpointer data)
{
  IrisdGuest *self = data;

  set_timer (self, irisd_guest_table_tick (self->table, g_get_monotonic_time ()));
  return G_SOURCE_CONTINUE;
}

static gboolean
timer_dispatch (GSource *source, GSourceFunc callback, gpointer user_data)
{
  return callback (user_data);
}

/* --- ends ------------------------------------------------------------------------------------- */

/* Makes the bytes of an end: @message is RESULT or ERROR. */
static gboolean
encode_end (IrisdGuest *self, Guest *guest, IrisWireMessage *message)
{
  g_autoptr (GError) error = NULL;
  IrisdWorkMessage end = {
    .kind = IRISD_WORK_MESSAGE_END,
    .type = message->type,
    .owner = guest->message.owner,
    .made_ms = g_get_real_time () / 1000,
    .tries = (guint32) MIN (guest->n_tries, G_MAXUINT32),
    .home = guest->message.home,
    .node = { self->shared->node, strlen (self->shared->node) },
  };

  message->present &= ~HOST_KEYS;
  if (!iris_wire_encode (&self->encoder, message, &error))
    return FALSE;
  memcpy (end.item, guest->item->item, sizeof end.item);
  end.header = self->encoder.frames[3];
  end.body = self->encoder.frames[4];
  g_clear_pointer (&guest->result, g_bytes_unref);
  if (!irisd_bridge_fits (self->shared, irisd_work_message_get_size (&end)))
    {
      guest->result = g_bytes_new (end.body.data, end.body.size);
      end.body = (IrisWireFrame){ 0 };
    }
  g_free (guest->end);
  guest->end = irisd_work_message_encode (&end, self->shared->secret, &guest->end_size, &error);
  return guest->end != NULL;
}

/* The item takes no more room in the window that it came by. */
static void
leave_window (Guest *guest)
{
  if (guest->lane != NULL && guest->lane->pull != NULL)
    irisd_pull_release (guest->lane->pull, 1);
  guest->lane = NULL;
}

/* It has ended here, and waits for the stream to have its end. */
static void
begin_end (IrisdGuest *self, Guest *guest)
{
  self->counts.n_ending += !guest->ending;
  guest->ending = TRUE;
  if (self->counts.n_ending <= MOST_ENDING)
    leave_window (guest);
  irisd_guest_table_end (self->table, guest->item, g_get_monotonic_time ());
}

static void
make_error (IrisdGuest *self, Guest *guest, IrisWireError code, const char *text)
{
  IrisWireMessage error;

  iris_wire_message_init (&error, IRIS_WIRE_ERROR_REPLY, guest->item->item);
  iris_wire_message_set_uint (&error, IRIS_WIRE_KEY_CODE, code);
  iris_wire_message_set_string (&error, IRIS_WIRE_KEY_ERROR_NAME, iris_wire_error_name (code), -1);
  iris_wire_message_set_string (&error, IRIS_WIRE_KEY_MESSAGE, text, -1);
  /* Its home's name was short enough once, and its text is short. */
  if (!encode_end (self, guest, &error))
    g_warning ("the end of an item cannot be encoded");
}

/* The run is over, and its home has what it has written. */
static void
go_on (IrisdGuest *self, Guest *guest)
{
  After after = guest->after;

  guest->after = AFTER_NOTHING;
  g_clear_pointer (&guest->output, irisd_guest_output_free);
  if (after == AFTER_END)
    begin_end (self, guest);
  else
    irisd_guest_table_retry (self->table, guest->item, guest->after_ms);
}

/* irisd has ended the run. What it has written comes first. */
static void
leave_irisd (IrisdGuest *self, Guest *guest, After after, guint64 after_ms)
{
  guest->after = after;
  guest->after_ms = after_ms;
  if (guest->output == NULL || irisd_guest_output_finish (guest->output))
    go_on (self, guest);
}

static void
end_with_error (IrisdGuest *self, Guest *guest, IrisWireError code, const char *text)
{
  make_error (self, guest, code, text);
  begin_end (self, guest);
}

/* The mean of about the last eight. */
static guint64
mean_of (guint64 mean, guint64 value)
{
  return mean == 0 ? value : mean - mean / 8 + value / 8;
}

/* irisd has ended the item. */
static void
end_guest (IrisdGuest *self, Guest *guest, const IrisWireMessage *completion)
{
  IrisWireMessage message = *completion;

  if (completion->run_ns > 0)
    self->counts.mean_run_ns = mean_of (self->counts.mean_run_ns, completion->run_ns);
  if (!encode_end (self, guest, &message))
    make_error (self, guest, IRIS_WIRE_ERROR_TOO_LARGE,
                "the result cannot be sent to another node: its header is too large");
  leave_irisd (self, guest, AFTER_END, 0);
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

static void
take_failure (IrisdGuest *self, Guest *guest, const IrisWireMessage *error)
{
  if (error->code == IRIS_WIRE_ERROR_SHUTTING_DOWN)
    {
      self->closing = TRUE;
      set_windows (self);
      irisd_uncounted_add (self->uncounted, guest->item->item);
      irisd_guest_table_retry (self->table, guest->item, 0);
    }
  else if (!irisd_guest_may_try_again (&guest->message, &guest->submit, guest->item->n_tries,
                                       guest->n_tries, error->code))
    end_guest (self, guest, error);
  else if (error->code == IRIS_WIRE_ERROR_UNKNOWN_SERVICE)
    {
      irisd_uncounted_add (self->uncounted, guest->item->item);
      irisd_guest_table_retry (self->table, guest->item, ELSEWHERE_MS);
    }
  else
    leave_irisd (self, guest, AFTER_RETRY,
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
      Guest *guest = item->data;

      /* It may be ours, of which the answer was lost, or another node's. Either way it is told. */
      guest->lost = guest->end == NULL || guest->end_size != message->length
                    || memcmp (guest->end, message->data, message->length) != 0;
      g_free (guest->end);
      guest->end = g_memdup2 (message->data, message->length);
      guest->end_size = message->length;
    }
  irisd_guest_table_looked (self->table, query->item, message != NULL, message != NULL || none,
                            g_get_monotonic_time ());
  hurry (self);
}

static char *
end_subject (const Guest *guest)
{
  g_autofree char *home = iris_wire_string_dup (&guest->message.home);

  return irisd_bridge_end_subject (home, guest->item->item);
}

static void
on_look (IrisdGuestItem *item, gpointer user_data)
{
  IrisdGuest *self = user_data;
  g_autofree char *subject = end_subject (item->data);

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
  Guest *guest = item->data;
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
on_published (IrisdEngine *engine, const IrisdPublishResult *result, gpointer user_data)
{
  Guest *guest = user_data;
  IrisdGuest *self = guest->guest;
  IrisdGuestVerdict verdict = IRISD_GUEST_LATER;

  if (result->status == IRISD_PUBLISH_STORED || result->status == IRISD_PUBLISH_DUPLICATE)
    verdict = IRISD_GUEST_STORED;
  else if (result->status == IRISD_PUBLISH_WRONG_SEQUENCE)
    verdict = IRISD_GUEST_OTHER_END;
  else if (result->status == IRISD_PUBLISH_REFUSED)
    {
      irisd_log (IRISD_LOG_WARNING, "the cluster does not take the end of an item: %s",
                 result->text != NULL ? result->text : "no reason given");
      verdict = IRISD_GUEST_REFUSED;
    }
  if (verdict == IRISD_GUEST_LATER || verdict == IRISD_GUEST_REFUSED)
    self->counts.n_failed++;
  irisd_guest_table_published (self->table, guest->item, verdict, g_get_monotonic_time ());
  hurry (self);
}

static void
publish_end (IrisdGuest *self, Guest *guest)
{
  g_autofree char *subject = end_subject (guest);
  const IrisdEnginePublication publication = {
    .subject = subject,
    .data = guest->end,
    .length = guest->end_size,
    .check_last = TRUE,
    .expected_last = 0,
  };

  self->counts.bytes_out += guest->end_size;
  irisd_engine_publish (self->shared->engine, &publication, on_published, guest);
}

/* The result is stored, and the end can refer to it. */
static void
refer_to_result (IrisdGuest *self, Guest *guest, const IrisdObjectReference *reference)
{
  gsize size;
  guint8 *end = irisd_stored_body_refer (self->shared, guest->end, guest->end_size, reference,
                                         &size);

  g_clear_pointer (&guest->result, g_bytes_unref);
  guest->stored = TRUE;
  guest->reference = *reference;
  g_free (guest->end);
  guest->end = end;
  guest->end_size = size;
}

static void
on_stored (IrisdObjectStatus status,
           const char *why,
           const IrisdObjectReference *reference,
           gpointer user_data)
{
  Guest *guest = user_data;
  IrisdGuest *self = guest->guest;

  guest->transfer = NULL;
  if (status == IRISD_OBJECT_FULL && !self->told_full)
    irisd_log (IRISD_LOG_WARNING, "%s: results of items of other nodes wait here", why);
  self->told_full = status == IRISD_OBJECT_FULL;
  if (status == IRISD_OBJECT_FULL || status == IRISD_OBJECT_LATER)
    {
      irisd_guest_table_published (self->table, guest->item, IRISD_GUEST_LATER,
                                   g_get_monotonic_time ());
      hurry (self);
      return;
    }
  if (status == IRISD_OBJECT_DONE)
    refer_to_result (self, guest, reference);
  else
    {
      g_autofree char *text = g_strdup_printf ("the result cannot be stored in the cluster: %s",
                                               why);
      make_error (self, guest, IRIS_WIRE_ERROR_TOO_LARGE, text);
    }
  publish_end (self, guest);
}

static char *
get_body_owner (const Guest *guest)
{
  return irisd_stored_body_get_owner (&guest->message.home, guest->item->item);
}

/* The result first, and then the end that refers to it. */
static void
on_publish (IrisdGuestItem *item, gpointer user_data)
{
  IrisdGuest *self = user_data;
  Guest *guest = item->data;

  if (guest->result == NULL)
    {
      publish_end (self, guest);
      return;
    }
  g_autofree char *owner = get_body_owner (guest);
  g_autofree char *name = irisd_stored_body_get_name (owner, TRUE);
  guest->transfer = irisd_object_store_put (self->shared->bodies, owner, name, IRISD_OBJECT_WHOLE,
                                            guest->result, on_stored, guest);
}

/* No end refers to the result that this node has stored. */
static void
remove_result (IrisdGuest *self, Guest *guest)
{
  if (!guest->stored)
    return;
  g_autofree char *owner = get_body_owner (guest);
  irisd_stored_body_remove (self->shared, owner, guest->reference.nuid);
  guest->stored = FALSE;
}

static void
on_body (IrisdObjectStatus status, const char *why, GBytes *body, gpointer user_data)
{
  Guest *guest = user_data;
  IrisdGuest *self = guest->guest;

  guest->transfer = NULL;
  if (status == IRISD_OBJECT_DONE)
    guest->body = g_bytes_ref (body);
  if (status == IRISD_OBJECT_DONE || status == IRISD_OBJECT_LATER)
    irisd_guest_table_fetched (self->table, guest->item, body != NULL, g_get_monotonic_time ());
  else
    {
      g_autofree char *text = g_strdup_printf ("the body of the item cannot be read: %s", why);
      irisd_log (IRISD_LOG_WARNING, "%s", text);
      end_with_error (self, guest, IRIS_WIRE_ERROR_INTERNAL, text);
    }
  hurry (self);
}

static void
on_fetch (IrisdGuestItem *item, gpointer user_data)
{
  IrisdGuest *self = user_data;
  Guest *guest = item->data;

  if (guest->transfer != NULL)
    return;
  g_autofree char *owner = get_body_owner (guest);
  guest->transfer = irisd_object_store_get (self->shared->bodies, owner, &guest->message.reference,
                                            on_body, guest);
}

static void
on_tell (IrisdGuestItem *item, gpointer user_data)
{
  IrisdGuest *self = user_data;
  const Guest *guest = item->data;

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
on_acknowledge (IrisdGuestItem *item, gpointer user_data)
{
  IrisdGuest *self = user_data;
  Guest *guest = item->data;

  if (guest->lost)
    {
      self->counts.n_lost++;
      remove_result (self, guest);
    }
  else
    self->counts.n_done++;
  irisd_uncounted_forget (self->uncounted, item->item);
  irisd_engine_ack (self->shared->engine, item->ack);
}

static void
on_give_back (IrisdGuestItem *item, guint64 delay_ms, gpointer user_data)
{
  IrisdGuest *self = user_data;

  self->counts.n_given++;
  remove_result (self, item->data);
  irisd_engine_nak (self->shared->engine, item->ack, delay_ms);
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
  Guest *guest = item->data;

  if (guest == NULL)
    return;
  leave_window (guest);
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
  on_look, on_fetch,       on_submit,    on_stop,  on_publish,
  on_tell, on_acknowledge, on_give_back, on_renew, on_forget,
};

/* --- what runs write -------------------------------------------------------------------------- */

static void
on_finished (gpointer data, gpointer user_data)
{
  go_on (user_data, data);
}

/* Its output is not wanted. As when the connection of a client is lost, the run ends with it. */
static void
on_unwanted (gpointer data, IrisdGuestUnwanted why, gpointer user_data)
{
  IrisdGuest *self = user_data;
  Guest *guest = data;

  if (guest->after == AFTER_NOTHING)
    on_stop (guest->item, self);
  if (why == IRISD_GUEST_UNWANTED_LATER)
    {
      irisd_guest_table_drop (self->table, guest->item);
      return;
    }
  if (guest->after != AFTER_END && why == IRISD_GUEST_UNWANTED_UNKNOWN)
    make_error (self, guest, IRIS_WIRE_ERROR_CANCELLED,
                "its client does not want its output any more, so it was cancelled");
  else if (why == IRISD_GUEST_UNWANTED_SILENT)
    make_error (self, guest, IRIS_WIRE_ERROR_WORKER_LOST,
                "the node that it was submitted at was silent for so long that its output could "
                "not be told; see that the nodes reach each other, and submit it again");
  guest->after = AFTER_END;
  go_on (self, guest);
}

static const IrisdGuestOutputFuncs output_funcs = { on_finished, on_unwanted };

static void
take_output (IrisdGuest *self, const IrisWireMessage *message)
{
  IrisdGuestItem *item = irisd_guest_table_find_request (self->table, message->request_id);

  if (item != NULL && ((Guest *) item->data)->output != NULL)
    irisd_guest_output_take (((Guest *) item->data)->output, message);
}

/* --- deliveries ------------------------------------------------------------------------------- */

static void
on_put_anew (IrisdEngine *engine, const IrisdPublishResult *result, gpointer user_data)
{
  g_autofree char *ack = user_data;

  if (result->status == IRISD_PUBLISH_STORED || result->status == IRISD_PUBLISH_DUPLICATE)
    irisd_engine_ack (engine, ack);
  else
    irisd_engine_nak (engine, ack, LATER_MS);
}

/* A message of a later version. */
static void
leave_to_others (IrisdGuest *self, const IrisdEngineMessage *message)
{
  g_autofree char *id = g_strdup_printf ("again-%" G_GUINT64_FORMAT, message->sequence);
  const IrisdEngineHeader headers[] = { { AGAIN_HEADER, "1" } };
  const IrisdEnginePublication publication = {
    .subject = message->subject,
    .headers = headers,
    .n_headers = G_N_ELEMENTS (headers),
    .data = message->data,
    .length = message->length,
    .message_id = id,
  };

  self->counts.n_given++;
  if (message->n_delivered < MOST_GIVEN_BACK)
    irisd_engine_nak (self->shared->engine, message->reply, LATER_MS);
  else
    irisd_engine_publish (self->shared->engine, &publication, on_put_anew,
                          g_strdup (message->reply));
}

/* A signed item may have been published once more to another subject. It must not run on another
 * node than the one that its home has ordered. */
static gboolean
is_in_place (const Guest *guest, const char *subject, GError **error)
{
  const IrisWireMessage *submit = &guest->submit;
  g_auto (IrisdWorkSubject) parsed = { 0 };

  if (irisd_subject_parse_work (subject, &parsed))
    {
      gboolean bound = submit->strict && submit->node.len > 0;
      gboolean same = parsed.node != NULL && strlen (parsed.node) == submit->node.len
                      && memcmp (parsed.node, submit->node.data, submit->node.len) == 0;

      if (parsed.strict == bound && (!bound || same))
        return TRUE;
    }
  g_set_error (error, IRISD_WORK_MESSAGE_ERROR, IRISD_WORK_MESSAGE_ERROR_FORGED,
               "it was not sent to %s", subject);
  return FALSE;
}

/* Reads what was delivered into @guest. */
static gboolean
read_item (IrisdGuest *self, Guest *guest, const IrisdEngineMessage *message, GError **error)
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
is_poison (IrisdGuest *self, const Guest *guest)
{
  return guest->n_tries > (guint64) guest->message.tries + 1 + self->lost_attempts;
}

static void
end_poison (IrisdGuest *self, Guest *guest, const IrisdEngineMessage *delivered)
{
  g_autofree char *why = g_strdup_printf (
      "too many nodes were lost while they had the item: beyond its %u retries it may be tried %u "
      "times; see why, and submit it again, or raise [cluster] lost-attempts",
      guest->message.tries, self->lost_attempts);

  self->counts.n_dead++;
  irisd_dead_letter_copy (self->shared, delivered, "lost", why);
  end_with_error (self, guest, IRIS_WIRE_ERROR_WORKER_LOST, why);
}

static void
start (IrisdGuest *self, Guest *guest, const IrisdEngineMessage *delivered)
{
  const IrisdWorkMessage *message = &guest->message;

  if (message->begin_ms > 0 && g_get_real_time () / 1000 > message->begin_ms)
    end_with_error (self, guest, IRIS_WIRE_ERROR_DEADLINE_PASSED,
                    "the item had not begun by its deadline");
  else if (is_poison (self, guest))
    end_poison (self, guest, delivered);
  else if (message->stored && message->reference.size > self->max_body)
    {
      g_autofree char *why = g_strdup_printf (
          "the item has %" G_GUINT64_FORMAT " bytes, and the node %s takes %" G_GUINT64_FORMAT
          ": raise [limits] max-body there, or send less",
          message->reference.size, self->shared->node, self->max_body);
      end_with_error (self, guest, IRIS_WIRE_ERROR_TOO_LARGE, why);
    }
  else
    {
      guest->item->wants_body = message->stored;
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

static void
on_delivered (IrisdPull *pull, const IrisdEngineMessage *message, gpointer user_data)
{
  IrisdGuestLane *lane = user_data;
  IrisdGuest *self = lane->guest;
  g_autoptr (GError) error = NULL;
  Guest guest = { .guest = self, .lane = lane };
  const gboolean again = irisd_engine_message_get_header (message, AGAIN_HEADER) != NULL;
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
      irisd_uncounted_add (self->uncounted, guest.message.item);
      irisd_engine_nak (self->shared->engine, message->reply, ELSEWHERE_MS);
      irisd_pull_release (pull, 1);
      return;
    }
  guest.item = irisd_guest_table_deliver (self->table, guest.message.item, message->reply,
                                          message->n_delivered + again, g_get_monotonic_time (),
                                          &known);
  if (known)
    {
      irisd_pull_release (pull, 1);
      return;
    }
  self->counts.mean_bytes = mean_of (self->counts.mean_bytes, guest.message.body.size);
  guest.n_tries = irisd_uncounted_count_tries (self->uncounted, guest.message.item,
                                               message->n_delivered);
  guest.kept = irisd_engine_message_keep (message);
  guest.item->unsure = message->counts_anew;
  guest.item->data = g_memdup2 (&guest, sizeof guest);
  start (self, guest.item->data, message);
  hurry (self);
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
  hurry (self);
}

/* --- the connection to irisd ------------------------------------------------------------------ */

static void
take_completion (IrisdGuest *self, const IrisWireMessage *message)
{
  IrisdGuestItem *item = irisd_guest_table_find_request (self->table, message->request_id);

  if (message->type == IRIS_WIRE_RESULT || message->ends)
    g_byte_array_append (self->acks, message->request_id, IRIS_WIRE_ID_SIZE);
  if (item == NULL || ((Guest *) item->data)->after != AFTER_NOTHING)
    return; /* it was given back, or the answer is to a CANCEL that came too late */
  if (message->type == IRIS_WIRE_RESULT)
    end_guest (self, item->data, message);
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
  hurry (self);
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
  irisd_guest_table_give_all_back (self->table);
}

static const IrisdBridgeLinkFuncs link_funcs = { on_up, on_message, on_down, on_drained };

/* --- lanes ------------------------------------------------------------------------------------ */

/* Pulls from a consumer of the work stream, from now on. */
IrisdGuestLane *
irisd_guest_open (IrisdGuest *self,
                  const char *consumer,
                  IrisdPullKind kind,
                  guint window,
                  guint64 min_pending)
{
  static const IrisdPullEvents events = { on_delivered, NULL };
  IrisdGuestLane *lane = g_new0 (IrisdGuestLane, 1);
  const IrisdPullOptions options = {
    .stream = self->shared->work_stream,
    .consumer = consumer,
    .kind = kind,
    .window = irisd_bridge_link_is_up (self->link) && !self->closing ? window : 0,
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

static void
leave_lane (IrisdGuest *self, IrisdGuestLane *lane)
{
  g_autoptr (GPtrArray) items = irisd_guest_table_list (self->table);

  for (guint i = 0; i < items->len; i++)
    {
      Guest *guest = ((IrisdGuestItem *) g_ptr_array_index (items, i))->data;

      if (guest != NULL && guest->lane == lane)
        guest->lane = NULL;
    }
}

/* What it has delivered goes on. */
void
irisd_guest_lane_close (IrisdGuestLane *self)
{
  leave_lane (self->guest, self);
  g_clear_pointer (&self->pull, irisd_pull_free);
  g_ptr_array_remove (self->guest->lanes, self);
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
                 guint lost_attempts,
                 IrisdGuestEndFunc own_end,
                 IrisdGuestLaneFunc delivered,
                 gpointer user_data)
{
  static GSourceFuncs timer_funcs = { .dispatch = timer_dispatch };
  const IrisdGuestRules rules = { .renew_us = shared->lease_us / 3, .look_us = LOOK_US };
  IrisWireLimits limits = *iris_wire_limits_default ();
  IrisdGuest *self = g_new0 (IrisdGuest, 1);

  self->shared = shared;
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
  self->timer = g_source_new (&timer_funcs, sizeof (GSource));
  g_source_set_callback (self->timer, on_timer, self, NULL);
  g_source_set_static_name (self->timer, "irisd-guest");
  g_source_attach (self->timer, shared->context);
  self->words = irisd_end_words_new (shared);
  self->cancels = irisd_engine_subscribe (shared->engine, IRISD_BRIDGE_CANCEL_SUBJECT, on_cancel,
                                          self);
  self->link = irisd_bridge_link_new (
      shared->zmq, shared->context, shared->endpoint, "irisd bridge, items of other nodes",
      IRIS_WIRE_FEATURE_BRIDGE | IRIS_WIRE_FEATURE_COMPLETIONS, &link_funcs, self);
  self->outputs = irisd_guest_outputs_new (shared, self->link, &output_funcs, self);
  return self;
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
  irisd_guest_table_give_all_back (self->table);
  irisd_end_words_stop (self->words);
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
  irisd_guest_outputs_free (self->outputs);
  irisd_uncounted_free (self->uncounted);
  g_source_unref (self->timer);
  irisd_end_words_free (self->words);
  irisd_bridge_link_free (self->link);
  iris_wire_encoder_clear (&self->encoder);
  g_ptr_array_unref (self->lanes);
  g_byte_array_unref (self->acks);
  g_free (self);
}
