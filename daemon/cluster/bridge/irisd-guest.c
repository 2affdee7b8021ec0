/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items of the cluster that run here.
 *
 * A message is believed by its signature alone. One that is no item of this cluster, is damaged, or
 * is in the wrong place goes to the stream of dead letters, with the reason, and never runs: a host
 * runs an item with the rights of the owner that the message names. A message of a later version is
 * given back, since a node with a later irisd can read it.
 *
 * To irisd a guest is a volatile item of its owner: its record is the message in the stream, which
 * is acknowledged when the end is stored. Whatever its home does for it (its key, its class, its
 * times and dependencies, its queue) is not done here again.
 *
 * What is tried again is decided here and not by irisd, because any node may try: the message is
 * given back with a delay. The stream counts deliveries, so a node that crashes by an item counts
 * too.
 */
#include "irisd-guest.h"

#include "daemon/base/irisd-log.h"
#include "daemon/cluster/bridge/irisd-end-words.h"

#include <string.h>

#define LOOK_US (2 * G_USEC_PER_SEC)

/* Deliveries of an item beyond those that its retries allow: for nodes that die while it runs. */
#define CRASHES 4

/* The pause until a message is delivered again that this node cannot deal with. */
#define ELSEWHERE_MS 500

/* A node that does not have the service gives an item back so often, for another one that has it.
 */
#define MOST_ELSEWHERE 3

/* Ends on the way to the stream whose items make room for others: storing takes milliseconds, so a
 * window that held them too would run dry. Beyond so many the stream does not keep up. */
#define MOST_ENDING 1024

#define DEFAULT_BACKOFF_MS 1000
#define MOST_BACKOFF_MS    3600000

#define K(key) IRIS_WIRE_BIT (IRIS_WIRE_KEY_##key)

/* The keys of a SUBMIT that its home deals with, or that are about other items of it. */
#define HOME_KEYS                                                                              \
  (K (CLASS) | K (KEY) | K (KEEP_MS) | K (DETACH) | K (BURY) | K (SESSION) | K (DELAY_MS)      \
   | K (AT_MS) | K (AFTER) | K (AFTER_HOW) | K (RETRIES) | K (BACKOFF_MS) | K (DEADLINE_MS)    \
   | K (QUEUE) | K (KEEP_OUTPUT) | K (OUTPUT_POLICY) | K (HOOK) | K (NEAR_ITEM) | K (PROGRESS) \
   | K (PARTS) | K (STREAM) | K (WAIT_FOR_SERVICE) | K (ANY_NODE) | K (NODE))

#define PLACE_KEYS (K (HINT) | K (HINT_NAME) | K (STRICT))

/* Keys of an end that are about a number or place of this irisd. */
#define HOST_KEYS (K (ITEM) | K (HOME) | K (NODE) | K (ATTEMPTS) | K (ENDS))

struct _IrisdGuest
{
  const IrisdBridgeShared *shared;
  IrisdGuestEndFunc own_end;
  IrisdGuestLaneFunc delivered;
  gpointer user_data;
  guint most_tries;
  IrisdBridgeLink *link;
  IrisdGuestTable *table;
  IrisdEngineSubscription *cancels;
  GSource *timer;
  IrisdEndWords *words;
  GPtrArray *lanes;
  GByteArray *acks; /* request ids of completions that were taken */
  gboolean closing; /* irisd takes no more items, until its end */
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
  gboolean lost;   /* another end was there */
  gboolean ending; /* it counts as one */
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
    .tries = (guint32) MIN (guest->item->n_tries, G_MAXUINT32),
    .home = guest->message.home,
    .node = { self->shared->node, strlen (self->shared->node) },
  };

  message->present &= ~HOST_KEYS;
  if (!iris_wire_encode (&self->encoder, message, &error))
    return FALSE;
  memcpy (end.item, guest->item->item, sizeof end.item);
  end.header = self->encoder.frames[3];
  end.body = self->encoder.frames[4];
  if (!irisd_bridge_fits (self->shared, irisd_work_message_get_size (&end)))
    return FALSE;
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
    {
      g_autofree char *why = g_strdup_printf (
          "the result has %" G_GSIZE_FORMAT " bytes, and the cluster takes %" G_GSIZE_FORMAT
          " at most: raise max_payload of the NATS servers, or have the service write less",
          completion->body.size, irisd_engine_get_max_payload (self->shared->engine));
      make_error (self, guest, IRIS_WIRE_ERROR_TOO_LARGE, why);
    }
  begin_end (self, guest);
}

static guint64
get_backoff_ms (const Guest *guest)
{
  guint64 first = guest->submit.backoff_ms;

  if (!iris_wire_message_has (&guest->submit, IRIS_WIRE_KEY_BACKOFF_MS))
    first = DEFAULT_BACKOFF_MS;
  first = MIN (first, MOST_BACKOFF_MS);
  return MIN (first << MIN (guest->item->n_tries - 1, 12), MOST_BACKOFF_MS);
}

/* Whether another delivery may end otherwise. */
static gboolean
may_try_again (IrisdGuest *self, const Guest *guest, guint code)
{
  guint64 n = guest->item->n_tries;

  if (self->most_tries > 0 && n >= self->most_tries)
    return FALSE;
  if (code == IRIS_WIRE_ERROR_UNKNOWN_SERVICE)
    return n <= MOST_ELSEWHERE && !guest->submit.strict;
  if (code == IRIS_WIRE_ERROR_CANCELLED || code == IRIS_WIRE_ERROR_BAD_ARGUMENT
      || code == IRIS_WIRE_ERROR_NOT_PERMITTED || code == IRIS_WIRE_ERROR_NO_SUCH_PLACE
      || code == IRIS_WIRE_ERROR_TOO_LARGE)
    return FALSE;
  return n <= guest->message.tries;
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
      irisd_guest_table_retry (self->table, guest->item, 0);
    }
  else if (!may_try_again (self, guest, error->code))
    end_guest (self, guest, error);
  else if (error->code == IRIS_WIRE_ERROR_UNKNOWN_SERVICE)
    irisd_guest_table_retry (self->table, guest->item, ELSEWHERE_MS);
  else
    irisd_guest_table_retry (self->table, guest->item, get_backoff_ms (guest));
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
  const Guest *guest = item->data;
  const IrisdWorkMessage *from = &guest->message;
  IrisWireMessage submit = guest->submit;

  /* A place of another node means nothing here, and its order neither. */
  if (!iris_wire_message_has (&submit, IRIS_WIRE_KEY_NODE) || !is_own (self, &submit.node))
    submit.present &= ~PLACE_KEYS;
  else if ((submit.present & (K (HINT) | K (HINT_NAME) | K (NEAR_PATH))) == 0)
    submit.present &= ~K (STRICT); /* strict as to the node */
  submit.present &= ~HOME_KEYS;
  submit.klass = IRIS_WIRE_CLASS_VOLATILE;
  iris_wire_message_set_boolean (&submit, IRIS_WIRE_KEY_QUIET, TRUE);
  iris_wire_message_set_uint (&submit, IRIS_WIRE_KEY_FOR_OWNER, from->owner);
  if (from->key_name.len > 0)
    iris_wire_message_set_string (&submit, IRIS_WIRE_KEY_KEY_NAME, from->key_name.data,
                                  (gssize) from->key_name.len);
  iris_wire_message_set_cluster_item (&submit, item->item);
  irisd_bridge_link_new_id (self->link, submit.request_id);
  memcpy (item->request, submit.request_id, sizeof item->request);
  return irisd_bridge_link_send (self->link, &submit);
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
  irisd_guest_table_published (self->table, guest->item, verdict, g_get_monotonic_time ());
  hurry (self);
}

static void
on_publish (IrisdGuestItem *item, gpointer user_data)
{
  IrisdGuest *self = user_data;
  Guest *guest = item->data;
  g_autofree char *subject = end_subject (guest);
  const IrisdEnginePublication publication = {
    .subject = subject,
    .data = guest->end,
    .length = guest->end_size,
    .check_last = TRUE,
    .expected_last = 0,
  };

  irisd_engine_publish (self->shared->engine, &publication, on_published, guest);
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
  const Guest *guest = item->data;

  if (guest->lost)
    self->counts.n_lost++;
  else
    self->counts.n_done++;
  irisd_engine_ack (self->shared->engine, item->ack);
}

static void
on_give_back (IrisdGuestItem *item, guint64 delay_ms, gpointer user_data)
{
  IrisdGuest *self = user_data;

  self->counts.n_given++;
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
  irisd_engine_kept_free (guest->kept);
  g_free (guest->end);
  g_free (guest);
}

static const IrisdGuestFuncs table_funcs = {
  on_look,        on_submit,    on_stop,  on_publish, on_tell,
  on_acknowledge, on_give_back, on_renew, on_forget,
};

/* --- deliveries ------------------------------------------------------------------------------- */

typedef struct
{
  char *ack;
  char *reason;
} DeadLetter;

static void
dead_letter_free (DeadLetter *self)
{
  g_free (self->ack);
  g_free (self->reason);
  g_free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DeadLetter, dead_letter_free)

static void
on_buried (IrisdEngine *engine, const IrisdPublishResult *result, gpointer user_data)
{
  g_autoptr (DeadLetter) letter = user_data;

  if (result->status == IRISD_PUBLISH_STORED || result->status == IRISD_PUBLISH_DUPLICATE)
    irisd_engine_term (engine, letter->ack, letter->reason);
  else
    irisd_engine_nak (engine, letter->ack, 5000);
}

/* Copies a message that no node can run to the stream of dead letters, and then ends it. */
static void
bury (IrisdGuest *self, const IrisdEngineMessage *message, const char *kind, const char *reason)
{
  g_autofree char *subject = g_strconcat (IRISD_SUBJECT_DEAD, self->shared->node, ".", kind, NULL);
  g_autofree char *id = g_strdup_printf ("dead-%" G_GUINT64_FORMAT, message->sequence);
  const IrisdEngineHeader headers[] = {
    { "Iris-Reason", reason },
    { "Iris-Subject", message->subject },
    { "Iris-Node", self->shared->node },
  };
  const IrisdEnginePublication publication = {
    .subject = subject,
    .headers = headers,
    .n_headers = G_N_ELEMENTS (headers),
    .data = message->data,
    .length = message->length,
    .message_id = id,
  };
  DeadLetter *letter = g_new0 (DeadLetter, 1);

  irisd_log (IRISD_LOG_WARNING,
             "message %" G_GUINT64_FORMAT " of the cluster does not run: %s; it is in the stream "
             "of dead letters",
             message->sequence, reason);
  self->counts.n_dead++;
  letter->ack = g_strdup (message->reply);
  letter->reason = g_strdup (reason);
  irisd_engine_publish (self->shared->engine, &publication, on_buried, letter);
}

static const char *
name_kind (const GError *error)
{
  if (error->domain == IRISD_WORK_MESSAGE_ERROR && error->code == IRISD_WORK_MESSAGE_ERROR_FOREIGN)
    return "foreign";
  if (error->domain == IRISD_WORK_MESSAGE_ERROR && error->code == IRISD_WORK_MESSAGE_ERROR_FORGED)
    return "forged";
  return "damaged";
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

static void
start (IrisdGuest *self, Guest *guest)
{
  const IrisdWorkMessage *message = &guest->message;
  guint64 n = guest->item->n_tries;

  if (message->begin_ms > 0 && g_get_real_time () / 1000 > message->begin_ms)
    end_with_error (self, guest, IRIS_WIRE_ERROR_DEADLINE_PASSED,
                    "the item had not begun by its deadline");
  else if (n > (guint64) message->tries + 1 + CRASHES)
    end_with_error (self, guest, IRIS_WIRE_ERROR_WORKER_LOST,
                    "too many nodes were lost while they had the item; see why, and submit it "
                    "again");
  else
    irisd_guest_table_start (self->table, guest->item, g_get_monotonic_time ());
}

/* A message that leaves the table at once, or never comes into it. */
static void
refuse (IrisdGuestLane *lane, const IrisdEngineMessage *message, const GError *error)
{
  IrisdGuest *self = lane->guest;

  if (g_error_matches (error, IRISD_WORK_MESSAGE_ERROR, IRISD_WORK_MESSAGE_ERROR_NEWER))
    irisd_engine_nak (self->shared->engine, message->reply, 10 * ELSEWHERE_MS);
  else
    bury (self, message, name_kind (error), error->message);
  irisd_pull_release (lane->pull, 1);
}

static void
on_delivered (IrisdPull *pull, const IrisdEngineMessage *message, gpointer user_data)
{
  IrisdGuestLane *lane = user_data;
  IrisdGuest *self = lane->guest;
  g_autoptr (GError) error = NULL;
  Guest guest = { .guest = self, .lane = lane };
  gboolean known;

  self->counts.n_delivered++;
  self->delivered (lane, message->n_pending, self->user_data);
  if (!irisd_bridge_link_is_up (self->link))
    {
      irisd_engine_nak (self->shared->engine, message->reply, ELSEWHERE_MS);
      irisd_pull_release (pull, 1);
      return;
    }
  if (!read_item (self, &guest, message, &error))
    {
      refuse (lane, message, error);
      return;
    }
  guest.item = irisd_guest_table_deliver (self->table, guest.message.item, message->reply,
                                          message->n_delivered, g_get_monotonic_time (), &known);
  if (known)
    {
      irisd_pull_release (pull, 1);
      return;
    }
  self->counts.mean_bytes = mean_of (self->counts.mean_bytes, guest.message.body.size);
  guest.kept = irisd_engine_message_keep (message);
  guest.item->data = g_memdup2 (&guest, sizeof guest);
  start (self, guest.item->data);
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
  if (item == NULL)
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

/* @most_tries: how often the consumers deliver an item; 0 for ever. */
IrisdGuest *
irisd_guest_new (const IrisdBridgeShared *shared,
                 guint most_tries,
                 IrisdGuestEndFunc own_end,
                 IrisdGuestLaneFunc delivered,
                 gpointer user_data)
{
  static GSourceFuncs timer_funcs = { .dispatch = timer_dispatch };
  const IrisdGuestRules rules = { .renew_us = shared->lease_us / 3, .look_us = LOOK_US };
  IrisWireLimits limits = *iris_wire_limits_default ();
  IrisdGuest *self = g_new0 (IrisdGuest, 1);

  self->shared = shared;
  self->most_tries = most_tries;
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
  irisd_bridge_link_say_bye (self->link);
  g_source_destroy (self->timer);
}

/* It was stopped, and the engine is gone. */
void
irisd_guest_free (IrisdGuest *self)
{
  irisd_guest_table_free (self->table);
  g_source_unref (self->timer);
  irisd_end_words_free (self->words);
  irisd_bridge_link_free (self->link);
  iris_wire_encoder_clear (&self->encoder);
  g_ptr_array_unref (self->lanes);
  g_byte_array_unref (self->acks);
  g_free (self);
}
