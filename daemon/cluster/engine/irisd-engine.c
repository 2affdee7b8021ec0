/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An engine in its owner's thread; see irisd-engine.h.
 *
 * One GSource is the whole of it. Before the main loop sleeps, prepare() gives the thread of
 * libnats all commands of this turn at once; dispatch() takes all events at once. So a lock and a
 * wake-up are paid for a turn and not for a message.
 *
 * What waits for an answer has a slot, and a token in the subject of its answer: the number of the
 * slot and how many slots there were before it. All answers come to one subscription, those to
 * publications to another one, which is in batches. A late one finds another number in its slot and
 * is dropped.
 */
#include "daemon/base/irisd-log.h"
#include "daemon/cluster/engine/irisd-engine-parse.h"
#include "daemon/cluster/engine/irisd-engine-private.h"

#include <string.h>

/* Commands that are given before the turn ends. */
#define MANY_COMMANDS 512
/* Bits of a token for the number of its slot. */
#define SLOT_BITS 24
/* Until publications fail among which one had no receiver. */
#define NO_LEADER_MS 250
/* How often the thread is looked at. */
#define LOOK_MS 5000

typedef struct
{
  GSource source;
  IrisdEngine *engine;
} EngineSource;

/* ---- Slots ---- */

static void ring_slot (IrisdEngine *self, IrisdEngineAlarm *alarm);

IrisdSlot *
irisd_slot_new (IrisdEngine *self,
                IrisdSlotAnswerFunc answer_func,
                GCallback callback,
                gpointer user_data)
{
  GList *link = g_queue_pop_head_link (&self->unused);
  IrisdSlot *slot = link ? link->data : NULL;
  guint64 index;

  if (!slot)
    {
      slot = g_new0 (IrisdSlot, 1);
      slot->link.data = slot;
      slot->id = self->slots->len;
      g_ptr_array_add (self->slots, slot);
    }
  index = slot->id & ((1 << SLOT_BITS) - 1);
  slot->id = ++self->n_slots_made << SLOT_BITS | index;
  slot->alarm.ring = ring_slot;
  slot->answer = answer_func;
  slot->callback = callback;
  slot->user_data = user_data;
  slot->list = NULL;
  slot->sent = FALSE;
  slot->size = 0;
  slot->n_given = 0;
  return slot;
}

static void
put_in_list (IrisdSlot *slot, GQueue *list)
{
  if (slot->list)
    g_queue_unlink (slot->list, &slot->link);
  slot->list = list;
  if (list)
    g_queue_push_tail_link (list, &slot->link);
}

static void
stop_waiting (IrisdEngine *self, IrisdSlot *slot)
{
  irisd_timers_remove (&self->timers, &slot->alarm.timer);
  put_in_list (slot, NULL);
}

static void
end_slot (IrisdEngine *self, IrisdSlot *slot)
{
  stop_waiting (self, slot);
  g_clear_pointer (&slot->subject, g_free);
  slot->answer = NULL;
  put_in_list (slot, &self->unused);
}

static void
answer (IrisdEngine *self, IrisdSlot *slot, const IrisdEngineMessage *message, const GError *error)
{
  if (slot->answer (self, slot, message, error) || error)
    end_slot (self, slot);
}

static void
answer_error (IrisdEngine *self, IrisdSlot *slot, IrisdEngineError code)
{
  static const char *const reasons[] = {
    [IRISD_ENGINE_ERROR_OPTIONS] = "an option is wrong",
    [IRISD_ENGINE_ERROR_DISCONNECTED] = "there is no connection",
    [IRISD_ENGINE_ERROR_TIMEOUT] = "no answer in time",
    [IRISD_ENGINE_ERROR_NO_RESPONDERS] = "no subscriber, or no leader",
    [IRISD_ENGINE_ERROR_NOT_FOUND] = "there is no such message",
    [IRISD_ENGINE_ERROR_MALFORMED] =
        "the message is larger than the server takes, or its subject is wrong",
  };
  /* The server tells of a missing permission beside the answers. */
  gboolean with_last = code != IRISD_ENGINE_ERROR_NO_RESPONDERS && self->last_error;
  g_autoptr (GError) error = g_error_new (IRISD_ENGINE_ERROR, code, "%s: %s%s%s%s",
                                          slot->subject ? slot->subject : "NATS", reasons[code],
                                          with_last ? " (last error: " : "",
                                          with_last ? self->last_error : "", with_last ? ")" : "");

  answer (self, slot, NULL, error);
}

static void
ring_slot (IrisdEngine *self, IrisdEngineAlarm *alarm)
{
  answer_error (self, (IrisdSlot *) alarm, IRISD_ENGINE_ERROR_TIMEOUT);
}

void
irisd_slot_get_reply (IrisdEngine *self,
                      const IrisdSlot *slot,
                      const IrisdEngineRoute *route,
                      char *reply,
                      gsize size)
{
  g_assert (self->inbox_length + 2 + IRISD_TOKEN_LENGTH < size);
  memcpy (reply, route->io.subject, self->inbox_length + 2);
  irisd_token_write (slot->id, reply + self->inbox_length + 2);
  reply[self->inbox_length + 2 + IRISD_TOKEN_LENGTH] = '\0';
}

static IrisdSlot *
find_slot (IrisdEngine *self, const char *subject)
{
  guint64 id;
  IrisdSlot *slot;

  if (!subject || strlen (subject) != self->inbox_length + 2 + IRISD_TOKEN_LENGTH
      || !irisd_token_parse (subject + self->inbox_length + 2, &id)
      || (id & ((1 << SLOT_BITS) - 1)) >= self->slots->len)
    return NULL;
  slot = g_ptr_array_index (self->slots, id & ((1 << SLOT_BITS) - 1));
  return slot->id == id && slot->answer && slot->list != &self->failed ? slot : NULL;
}

void
irisd_slot_fail (IrisdEngine *self, IrisdSlot *slot, IrisdEngineError code)
{
  slot->failure = code;
  stop_waiting (self, slot);
  put_in_list (slot, &self->failed);
}

void
irisd_slot_send (IrisdEngine *self, IrisdSlot *slot, natsMsg *message, guint timeout_ms)
{
  gint64 due = g_get_monotonic_time () + (gint64) timeout_ms * 1000;

  if (!message)
    {
      irisd_slot_fail (self, slot, IRISD_ENGINE_ERROR_MALFORMED);
      return;
    }
  if (self->state != IRISD_ENGINE_CONNECTED)
    {
      natsMsg_Destroy (message);
      irisd_slot_fail (self, slot, IRISD_ENGINE_ERROR_DISCONNECTED);
      return;
    }
  slot->sent = TRUE;
  slot->deadline = due;
  if (timeout_ms == IRISD_ENGINE_PUBLISH_MS)
    put_in_list (slot, &self->by_time);
  else
    irisd_engine_set_alarm (self, &slot->alarm, due);
  irisd_engine_put_message (self, message);
}

/* ---- Messages out ---- */

static void
flush (IrisdEngine *self)
{
  if (self->out->len > 0)
    irisd_engine_io_put (self->io, self->out);
}

static void
put_command (IrisdEngine *self, IrisdIoCommandKind kind, gpointer what)
{
  IrisdIoCommand command = { kind, what };

  g_array_append_val (self->out, command);
  if (self->out->len >= MANY_COMMANDS)
    flush (self);
}

void
irisd_engine_put_message (IrisdEngine *self, natsMsg *message)
{
  if (message && self->state == IRISD_ENGINE_CONNECTED)
    put_command (self, IRISD_IO_PUBLISH, message);
  else
    natsMsg_Destroy (message);
}

natsMsg *
irisd_engine_make_message (const char *subject,
                           const char *reply,
                           const IrisdEngineHeader *headers,
                           guint n_headers,
                           gconstpointer data,
                           gsize length)
{
  natsMsg *message = NULL;
  natsStatus status = length > G_MAXINT
                          ? NATS_MAX_PAYLOAD
                          : natsMsg_Create (&message, subject, reply, data, (int) length);

  for (guint i = 0; status == NATS_OK && i < n_headers; i++)
    status = natsMsgHeader_Set (message, headers[i].name, headers[i].value);
  if (status != NATS_OK)
    g_clear_pointer (&message, natsMsg_Destroy);
  return message;
}

/* ---- Messages in ---- */

const char *
irisd_engine_message_get_header (const IrisdEngineMessage *message, const char *name)
{
  const char *value = NULL;

  return natsMsgHeader_Get (message->handle, name, &value) == NATS_OK ? value : NULL;
}

gpointer
irisd_engine_message_keep (const IrisdEngineMessage *message)
{
  gpointer kept = message->handle;

  ((IrisdEngineMessage *) (gpointer) message)->kept = TRUE;
  return kept;
}

void
irisd_engine_kept_free (gpointer kept)
{
  natsMsg_Destroy (kept);
}

static void
receive (IrisdEngineRoute *route, natsMsg *received)
{
  IrisdEngineMessage message = {
    .subject = natsMsg_GetSubject (received),
    .reply = natsMsg_GetReply (received),
    .data = natsMsg_GetData (received),
    .length = (gsize) natsMsg_GetDataLength (received),
    .handle = received,
  };

  route->receive (route, &message);
  if (!message.kept)
    natsMsg_Destroy (received);
}

static void
receive_answer (IrisdEngineRoute *route, IrisdEngineMessage *message)
{
  IrisdEngine *self = route->engine;
  IrisdSlot *slot = find_slot (self, message->subject);

  if (!slot)
    return;
  if (message->length == 0 && natsMsg_IsNoResponders (message->handle))
    answer_error (self, slot, IRISD_ENGINE_ERROR_NO_RESPONDERS);
  else
    answer (self, slot, message, NULL);
}

/* A publication had no receiver: its stream has no leader. libnats does not say which one it was,
 * so all that get no answer soon fail, as if their time had passed. */
static void
hurry_publications (IrisdEngineRoute *route)
{
  IrisdEngine *self = route->engine;
  gint64 soon = g_get_monotonic_time () + NO_LEADER_MS * 1000;

  for (GList *link = self->by_time.tail; link; link = link->prev)
    {
      IrisdSlot *slot = link->data;
      if (slot->deadline <= soon)
        return;
      slot->deadline = soon;
    }
}

/* ---- Routes ---- */

void
irisd_engine_add_route (IrisdEngine *self, IrisdEngineRoute *route, const char *subject)
{
  route->io.subject = g_strdup (subject);
  route->engine = self;
  route->link.data = route;
  g_queue_push_tail_link (&self->routes, &route->link);
  put_command (self, IRISD_IO_SUBSCRIBE, route);
}

void
irisd_engine_end_route (IrisdEngineRoute *route, gboolean drain)
{
  put_command (route->engine, drain ? IRISD_IO_DRAIN : IRISD_IO_UNSUBSCRIBE, route);
}

static void
free_route (IrisdEngineRoute *route)
{
  g_queue_unlink (&route->engine->routes, &route->link);
  g_clear_pointer (&route->io.subject, g_free);
  if (route->free)
    route->free (route);
}

/* ---- State ---- */

void
irisd_engine_set_quorum (IrisdEngine *self, IrisdEngineQuorum quorum)
{
  if (self->quorum == quorum)
    return;
  self->quorum = quorum;
  self->has_changed = TRUE;
}

/* @raw: as libnats, or irisd_engine_io, says it. */
void
irisd_engine_set_error (IrisdEngine *self, char *raw)
{
  irisd_log (IRISD_LOG_DEBUG, "the connection to NATS: %s", raw);
  g_clear_pointer (&self->last_error, g_free);
  self->trouble = irisd_engine_explain (raw, &self->last_error);
  g_free (raw);
  self->has_changed = TRUE;
}

static void
tell_routes (IrisdEngine *self)
{
  GList *next;

  for (GList *link = self->routes.head; link; link = next)
    {
      IrisdEngineRoute *route = link->data;
      next = link->next;
      if (route->connection_changed)
        route->connection_changed (route);
    }
}

static void
note_connected (IrisdEngine *self, char *url)
{
  self->state = IRISD_ENGINE_CONNECTED;
  self->n_connects++;
  self->quorum = IRISD_ENGINE_QUORUM_UNKNOWN;
  g_clear_pointer (&self->last_error, g_free);
  self->trouble = IRISD_ENGINE_TROUBLE_NONE;
  g_free (self->server);
  self->server = url;
  self->has_changed = TRUE;
  tell_routes (self);
}

static void
note_disconnected (IrisdEngine *self, char *why)
{
  self->state = IRISD_ENGINE_DISCONNECTED;
  self->quorum = IRISD_ENGINE_QUORUM_UNKNOWN;
  g_clear_pointer (&self->server, g_free);
  irisd_engine_set_error (self, why);
  for (guint i = 0; i < self->slots->len; i++)
    {
      IrisdSlot *slot = g_ptr_array_index (self->slots, i);
      if (slot->answer && slot->list != &self->failed && slot->list != &self->beyond)
        irisd_slot_fail (self, slot, IRISD_ENGINE_ERROR_DISCONNECTED);
    }
  self->drop_beyond (self);
  tell_routes (self);
}

/* ---- The source ---- */

static void
handle_unsent (IrisdEngine *self, natsMsg *message)
{
  IrisdSlot *slot = find_slot (self, natsMsg_GetReply (message));

  /* Of a batch the first one's slot is the last one's. */
  if (slot)
    irisd_slot_fail (self, slot, IRISD_ENGINE_ERROR_MALFORMED);
  natsMsg_Destroy (message);
}

static void
handle (IrisdEngine *self, IrisdIoEvent *event)
{
  gpointer what = g_steal_pointer (&event->what);

  switch (event->kind)
    {
    case IRISD_IO_MESSAGE:
      receive ((IrisdEngineRoute *) event->route, what);
      return;
    case IRISD_IO_NO_RESPONDERS:
      ((IrisdEngineRoute *) event->route)->no_responders ((IrisdEngineRoute *) event->route);
      return;
    case IRISD_IO_UNSENT:
      handle_unsent (self, what);
      return;
    case IRISD_IO_CONNECTED:
      note_connected (self, what);
      return;
    case IRISD_IO_DISCONNECTED:
      note_disconnected (self, what);
      return;
    case IRISD_IO_FAILED:
      irisd_engine_set_error (self, what);
      return;
    case IRISD_IO_ROUTE_ENDED:
      free_route ((IrisdEngineRoute *) event->route);
      return;
    default:
      g_assert_not_reached ();
    }
}

static void
ring_due (IrisdEngine *self, gint64 now)
{
  const IrisdTimes times = { .us = { [IRISD_CLOCK_STEADY] = now, [IRISD_CLOCK_WALL] = 0 } };
  IrisdTimer *timer;

  while (self->by_time.head && ((IrisdSlot *) self->by_time.head->data)->deadline <= now)
    answer_error (self, self->by_time.head->data, IRISD_ENGINE_ERROR_TIMEOUT);
  while ((timer = irisd_timers_pop_due (&self->timers, &times)))
    {
      IrisdEngineAlarm *alarm = (IrisdEngineAlarm *) timer;
      alarm->ring (self, alarm);
    }
}

static gint64
get_first_due (IrisdEngine *self)
{
  gint64 due = irisd_timers_get_first (&self->timers, IRISD_CLOCK_STEADY);

  if (self->by_time.head)
    due = MIN (due, ((IrisdSlot *) self->by_time.head->data)->deadline);
  return due;
}

static gboolean
is_ready (IrisdEngine *self)
{
  return irisd_engine_io_has_events (self->io) || self->failed.head || self->has_changed;
}

static gboolean
prepare (GSource *source, gint *timeout_ms)
{
  IrisdEngine *self = ((EngineSource *) source)->engine;
  gint64 due = get_first_due (self), now;

  flush (self);
  *timeout_ms = -1;
  if (is_ready (self))
    return TRUE;
  if (due == G_MAXINT64)
    return FALSE;
  now = g_source_get_time (source);
  *timeout_ms = due <= now ? 0 : (gint) MIN ((due - now + 999) / 1000, G_MAXINT);
  return due <= now;
}

static gboolean
check (GSource *source)
{
  IrisdEngine *self = ((EngineSource *) source)->engine;

  return is_ready (self) || get_first_due (self) <= g_source_get_time (source);
}

static gboolean
dispatch (GSource *source, GSourceFunc callback, gpointer user_data)
{
  IrisdEngine *self = ((EngineSource *) source)->engine;
  guint n_failed;

  irisd_engine_io_take (self->io, &self->in);
  for (guint i = 0; i < self->in->len; i++)
    handle (self, &g_array_index (self->in, IrisdIoEvent, i));
  g_array_set_size (self->in, 0);
  ring_due (self, g_get_monotonic_time ());
  /* Those that fail meanwhile have the next turn. */
  for (n_failed = self->failed.length; n_failed > 0 && self->failed.head; n_failed--)
    {
      IrisdSlot *slot = self->failed.head->data;
      answer_error (self, slot, slot->failure);
    }
  self->send_beyond (self);
  if (self->has_changed)
    {
      self->has_changed = FALSE;
      if (self->changed)
        self->changed (self, self->user_data);
    }
  return G_SOURCE_CONTINUE;
}

static GSourceFuncs source_funcs = { .prepare = prepare, .check = check, .dispatch = dispatch };

static void
wake_owner (gpointer user_data)
{
  g_main_context_wakeup (((IrisdEngine *) user_data)->context);
}

/* ---- Made and freed ---- */

static void
look (IrisdEngine *self, IrisdEngineAlarm *alarm)
{
  irisd_engine_io_look (self->io);
  irisd_engine_set_alarm (self, alarm, g_get_monotonic_time () + LOOK_MS * 1000);
}

static void
nothing (IrisdEngine *self)
{
}

static void
make_inbox (IrisdEngine *self, const char *prefix)
{
  g_autofree char *unique = g_uuid_string_random ();
  g_autofree char *subject = NULL;

  unique[8] = '\0';
  self->inbox = g_strdup_printf ("%s.%s%.4s%.4s.", prefix ? prefix : "_INBOX", unique, unique + 9,
                                 unique + 14);
  self->inbox_length = strlen (self->inbox);
  subject = g_strconcat (self->inbox, "R.*", NULL);
  self->inbox_route.receive = receive_answer;
  irisd_engine_add_route (self, &self->inbox_route, subject);
  g_free (subject);
  subject = g_strconcat (self->inbox, "A.*", NULL);
  self->acks_route.io.in_batches = TRUE;
  self->acks_route.receive = receive_answer;
  self->acks_route.no_responders = hurry_publications;
  irisd_engine_add_route (self, &self->acks_route, subject);
}

static void
make_tables (IrisdEngine *self, const IrisdEngineOptions *options)
{
  self->out = g_array_new (FALSE, FALSE, sizeof (IrisdIoCommand));
  self->in = g_array_new (FALSE, FALSE, sizeof (IrisdIoEvent));
  self->slots = g_ptr_array_new_with_free_func (g_free);
  irisd_timers_init (&self->timers);
  self->window = options->window ? options->window : IRISD_ENGINE_WINDOW;
  self->send_beyond = self->drop_beyond = nothing;
  self->looks.ring = look;
  look (self, &self->looks);
}

static void
attach_source (IrisdEngine *self)
{
  self->source = g_source_new (&source_funcs, sizeof (EngineSource));
  ((EngineSource *) self->source)->engine = self;
  g_source_set_static_name (self->source, "irisd-engine");
  g_source_attach (self->source, self->context);
}

IrisdEngine *
irisd_engine_new (const IrisdEngineOptions *options,
                  IrisdEngineChangedFunc changed,
                  gpointer user_data,
                  GError **error)
{
  IrisdEngine *self;

  if (options->inbox_prefix && strlen (options->inbox_prefix) > IRISD_SLOT_REPLY_MAX / 2)
    {
      g_set_error (error, IRISD_ENGINE_ERROR, IRISD_ENGINE_ERROR_OPTIONS,
                   "The inbox's prefix has more than %d bytes", IRISD_SLOT_REPLY_MAX / 2);
      return NULL;
    }
  self = g_new0 (IrisdEngine, 1);
  self->context = g_main_context_ref (options->context ? options->context
                                      : g_main_context_get_thread_default ()
                                          ? g_main_context_get_thread_default ()
                                          : g_main_context_default ());
  self->changed = changed;
  self->user_data = user_data;
  self->io = irisd_engine_io_new (options, wake_owner, self, error);
  if (!self->io)
    {
      g_main_context_unref (self->context);
      g_free (self);
      return NULL;
    }
  make_tables (self, options);
  make_inbox (self, options->inbox_prefix);
  flush (self);
  attach_source (self);
  irisd_engine_io_start (self->io);
  return self;
}

void
irisd_engine_free (IrisdEngine *self)
{
  GList *link;
  guint n_slots;

  flush (self);
  irisd_engine_io_free (self->io);
  self->state = IRISD_ENGINE_DISCONNECTED;
  g_source_destroy (self->source);
  g_source_unref (self->source);
  while ((link = self->routes.head))
    free_route (link->data);
  self->drop_beyond (self);
  n_slots = self->slots->len;
  for (guint i = 0; i < n_slots; i++)
    {
      IrisdSlot *slot = g_ptr_array_index (self->slots, i);
      if (slot->answer)
        answer_error (self, slot, IRISD_ENGINE_ERROR_DISCONNECTED);
    }
  for (guint i = 0; i < self->slots->len; i++)
    end_slot (self, g_ptr_array_index (self->slots, i));
  irisd_engine_set_alarm (self, &self->looks, G_MAXINT64);
  irisd_timers_clear (&self->timers);
  g_ptr_array_unref (self->slots);
  g_array_unref (self->out);
  g_array_unref (self->in);
  g_free (self->inbox);
  g_free (self->last_error);
  g_free (self->server);
  g_main_context_unref (self->context);
  g_free (self);
}

void
irisd_engine_set_alarm (IrisdEngine *self, IrisdEngineAlarm *alarm, gint64 due_us)
{
  irisd_timers_remove (&self->timers, &alarm->timer);
  if (due_us != G_MAXINT64)
    irisd_timers_add (&self->timers, &alarm->timer, IRISD_CLOCK_STEADY, due_us);
}

IrisdEngineState
irisd_engine_get_state (IrisdEngine *self)
{
  return self->state;
}

IrisdEngineQuorum
irisd_engine_get_quorum (IrisdEngine *self)
{
  return self->quorum;
}

const char *
irisd_engine_get_last_error (IrisdEngine *self)
{
  return self->last_error;
}

IrisdEngineTrouble
irisd_engine_get_trouble (IrisdEngine *self)
{
  return self->trouble;
}

const char *
irisd_engine_get_server (IrisdEngine *self)
{
  return self->server;
}

gsize
irisd_engine_get_max_payload (IrisdEngine *self)
{
  return irisd_engine_io_get_max_payload (self->io);
}

guint
irisd_engine_get_n_reconnects (IrisdEngine *self)
{
  return self->n_connects > 0 ? self->n_connects - 1 : 0;
}
