/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Pulls: messages of a consumer; see irisd-engine.h.
 *
 * libnats has no groups in its requests, so they are made here. A request asks for some messages
 * and waits at the server until it has given them or has expired. The account is a number: how many
 * messages are asked for and have not come. A message has the subject that it was published to, so
 * it does not tell its request; a status has the subject of its request, and how many messages did
 * not come.
 *
 * Silence is the sign of a dead leader, so each request demands heartbeats; two missed ones end all
 * requests, which then count as older than the first of the present.
 */
#include "daemon/base/irisd-mailbox.h"
#include "daemon/cluster/engine/irisd-engine-parse.h"
#include "daemon/cluster/engine/irisd-engine-private.h"

#include <string.h>

#define EXPIRES_MS       30000
#define THIEF_EXPIRES_MS 5000
#define HEARTBEAT_MS     5000
#define FIRST_DELAY_MS   100
#define MOST_DELAY_MS    2000
/* What was asked for before a pull was withdrawn has come, if nothing came for so long. */
#define QUIET_US (G_USEC_PER_SEC / 10)
/* Requests whose size is remembered, for statuses that do not tell it. */
#define N_SIZES 16

/* A consumer has delivered no more than so many messages that it has not settled: max_ack_pending.
 * They are the oldest of the stream, so the consumer that takes its place delivers them first. */
#define MOST_UNSETTLED 10000

struct _IrisdPull
{
  IrisdEngineRoute route;
  IrisdEngineAlarm alarm; /* to ask again, or that all is silent */
  IrisdPullOptions options;
  char *next; /* the subject of requests */
  IrisdPullEvents events;
  gpointer user_data;
  gboolean stopped;
  gboolean withdrawn; /* asks for nothing any more */
  gboolean ending;    /* the route ends */

  guint window;
  guint64 min_pending;
  guint n_held;
  guint n_asked;        /* for, and did not come */
  guint64 n_requests;   /* made so far */
  guint64 first_valid;  /* of these */
  guint sizes[N_SIZES]; /* of the last ones */
  gint64 heard_at;
  gint64 retry_at; /* no request before */
  guint delay_ms;

  guint64 consumer_sequence; /* of the last delivery */
  gboolean counts_anew;      /* the consumer was made again since this pull is there */

  IrisdPullState state;
  char *reason;
  guint64 backlog;
};

static void
set_state (IrisdPull *self, IrisdPullState state, const char *code, const char *reason)
{
  g_autofree char *text = reason || code
                              ? g_strdup_printf ("%s%s%s", code ? code : "",
                                                 code && reason ? " " : "", reason ? reason : "")
                              : NULL;

  if (self->state == state && g_strcmp0 (self->reason, text) == 0)
    return;
  self->state = state;
  g_free (self->reason);
  self->reason = g_steal_pointer (&text);
  if (self->events.changed && !self->stopped)
    self->events.changed (self, self->user_data);
}

static gint64
get_silence_us (IrisdPull *self)
{
  return ((gint64) self->options.heartbeat_ms * 2 + 500) * 1000;
}

static void
set_alarm (IrisdPull *self)
{
  gint64 due = G_MAXINT64;

  if (self->withdrawn)
    due = self->stopped || self->ending ? G_MAXINT64 : self->heard_at + QUIET_US;
  else if (!self->stopped && self->retry_at > 0)
    due = self->retry_at;
  else if (!self->stopped && self->n_asked > 0)
    due = self->heard_at + get_silence_us (self);
  irisd_engine_set_alarm (self->route.engine, &self->alarm, due);
}

/* Forgets all requests; what still comes of them is taken. */
static void
forget_requests (IrisdPull *self)
{
  self->n_asked = 0;
  self->first_valid = self->n_requests + 1;
}

/* ---- Requests ---- */

static void
send_request (IrisdPull *self, guint batch)
{
  IrisdEngine *engine = self->route.engine;
  g_autoptr (GString) json = g_string_new (NULL);
  char reply[IRISD_SLOT_REPLY_MAX];
  gsize length = strlen (self->route.io.subject) - 1;

  g_string_printf (json, "{\"batch\":%u,\"expires\":%u000000,\"idle_heartbeat\":%u000000", batch,
                   self->options.expires_ms, self->options.heartbeat_ms);
  if (self->options.kind != IRISD_PULL_PLAIN)
    g_string_append (json, ",\"group\":\"" IRISD_PULL_GROUP "\"");
  if (self->options.kind == IRISD_PULL_THIEF && self->min_pending > 0)
    g_string_append_printf (json, ",\"min_pending\":%" G_GUINT64_FORMAT, self->min_pending);
  g_string_append_c (json, '}');

  self->n_requests++;
  self->sizes[self->n_requests % N_SIZES] = batch;
  memcpy (reply, self->route.io.subject, length);
  irisd_token_write (self->n_requests, reply + length);
  reply[length + IRISD_TOKEN_LENGTH] = '\0';
  self->n_asked += batch;
  irisd_engine_put_message (
      engine, irisd_engine_make_message (self->next, reply, NULL, 0, json->str, json->len));
}

static gboolean
is_worth_asking (const IrisdPull *self, guint missing)
{
  if (missing * 2 >= self->window)
    return TRUE;
  return self->n_asked == 0 && (missing * 4 >= self->window || self->n_held < self->options.least);
}

static void
ask (IrisdPull *self)
{
  guint taken = self->n_held + self->n_asked, missing;

  if (self->stopped || self->withdrawn || self->retry_at > 0
      || irisd_engine_get_state (self->route.engine) != IRISD_ENGINE_CONNECTED)
    return;
  missing = taken < self->window ? self->window - taken : 0;
  if (missing > 0 && is_worth_asking (self, missing))
    {
      if (self->n_asked == 0)
        {
          self->heard_at = g_get_monotonic_time ();
          send_request (self, missing);
          set_alarm (self);
        }
      else
        send_request (self, missing);
    }
  if (self->n_asked == 0)
    set_state (self, IRISD_PULL_IDLE, NULL, NULL);
  else if (self->state == IRISD_PULL_IDLE)
    set_state (self, IRISD_PULL_WAITING, NULL, NULL);
}

static void
ask_later (IrisdPull *self, IrisdPullState state, guint delay_ms, const char *code, const char *why)
{
  self->retry_at = g_get_monotonic_time () + (gint64) delay_ms * 1000;
  set_alarm (self);
  set_state (self, state, code, why);
}

static void
end_route (IrisdPull *self)
{
  if (!self->ending)
    irisd_engine_end_route (&self->route, TRUE);
  self->ending = TRUE;
  set_alarm (self);
}

static void
ring (IrisdEngine *engine, IrisdEngineAlarm *alarm)
{
  IrisdPull *self = IRISD_CONTAINER (alarm, IrisdPull, alarm);
  gint64 now = g_get_monotonic_time ();

  if (self->withdrawn)
    end_route (self);
  else if (self->retry_at > 0 && self->retry_at <= now)
    {
      self->retry_at = 0;
      ask (self);
    }
  else if (self->n_asked > 0 && now - self->heard_at >= get_silence_us (self))
    {
      forget_requests (self);
      set_state (self, IRISD_PULL_TROUBLE, NULL, "no heartbeat of the consumer's leader");
      ask (self);
    }
  set_alarm (self);
}

/* ---- Answers ---- */

/* A request has ended without all of its messages. */
static void
end_request (IrisdPull *self, const IrisdEngineMessage *message)
{
  gsize length = strlen (self->route.io.subject) - 1;
  guint64 number, missing;

  if (strlen (message->subject) != length + IRISD_TOKEN_LENGTH
      || !irisd_token_parse (message->subject + length, &number) || number < self->first_valid
      || number > self->n_requests)
    return;
  if (!irisd_engine_parse_number (
          irisd_engine_message_get_header (message, "Nats-Pending-Messages"), &missing))
    missing = self->n_requests - number < N_SIZES ? self->sizes[number % N_SIZES] : 0;
  self->n_asked -= (guint) MIN (missing, self->n_asked);
}

static guint
get_next_delay (IrisdPull *self)
{
  guint delay_ms = self->delay_ms;

  self->delay_ms = MIN (delay_ms * 2, MOST_DELAY_MS);
  return delay_ms;
}

/* The leader has gone, and all requests with it. */
static void
trouble (IrisdPull *self, const char *code, const char *why)
{
  forget_requests (self);
  ask_later (self, IRISD_PULL_TROUBLE, get_next_delay (self), code,
             why ? why : "no such consumer, or it has no leader");
}

static void
receive_status (IrisdPull *self, const IrisdEngineMessage *message, const char *code)
{
  const char *why = irisd_engine_message_get_header (message, "Description");
  IrisdPullStatus status = irisd_pull_status_parse (code, why);

  if (!self->withdrawn)
    self->heard_at = g_get_monotonic_time ();
  if (status == IRISD_PULL_STATUS_HEARTBEAT)
    {
      self->delay_ms = FIRST_DELAY_MS;
      /* An owner's request waits because there is nothing. */
      if (self->options.kind != IRISD_PULL_THIEF)
        self->backlog = 0;
      set_state (self, IRISD_PULL_WAITING, NULL, NULL);
      return;
    }
  end_request (self, message);
  if (self->withdrawn)
    {
      if (self->n_asked == 0)
        end_route (self);
      return;
    }
  switch (status)
    {
    case IRISD_PULL_STATUS_EXPIRED:
      ask (self);
      return;
    case IRISD_PULL_STATUS_AGAIN:
    case IRISD_PULL_STATUS_NO_LEADER:
      trouble (self, code, why);
      return;
    case IRISD_PULL_STATUS_GONE:
      self->counts_anew = TRUE;
      forget_requests (self);
      ask_later (self, IRISD_PULL_GONE, MOST_DELAY_MS, code, why);
      return;
    case IRISD_PULL_STATUS_CROWDED:
    case IRISD_PULL_STATUS_REFUSED:
    default:
      ask_later (self, IRISD_PULL_TROUBLE, MOST_DELAY_MS, code, why);
    }
}

static void
receive_delivery (IrisdPull *self, IrisdEngineMessage *message, const IrisdDelivery *delivery)
{
  message->sequence = delivery->stream_sequence;
  message->time_ns = delivery->time_ns;
  message->n_delivered = delivery->n_delivered;
  message->n_pending = delivery->n_pending;
  /* Also one that was deleted and made again while nothing was asked for. */
  if (delivery->consumer_sequence <= self->consumer_sequence)
    self->counts_anew = TRUE;
  self->consumer_sequence = delivery->consumer_sequence;
  message->counts_anew = self->counts_anew && delivery->consumer_sequence <= MOST_UNSETTLED;
  self->backlog = delivery->n_pending;
  self->heard_at = g_get_monotonic_time ();
  self->delay_ms = FIRST_DELAY_MS;
  self->n_asked -= self->n_asked > 0;
  self->n_held++;
  if (self->state != IRISD_PULL_WAITING)
    set_state (self, IRISD_PULL_WAITING, NULL, NULL);
  self->events.message (self, message, self->user_data);
  if (!self->withdrawn)
    ask (self);
  else if (self->n_asked == 0)
    end_route (self);
  else
    set_alarm (self);
}

static void
receive (IrisdEngineRoute *route, IrisdEngineMessage *message)
{
  IrisdPull *self = (IrisdPull *) route;
  const char *status = message->length == 0 ? irisd_engine_message_get_header (message, "Status")
                                            : NULL;
  IrisdDelivery delivery;

  if (irisd_delivery_parse (&delivery, message->reply))
    {
      /* Given back at once: it would else wait for the end of its lease. */
      if (self->stopped)
        irisd_engine_nak (route->engine, message->reply, 0);
      else
        receive_delivery (self, message, &delivery);
    }
  else if (status && !self->stopped)
    receive_status (self, message, status);
}

static void
no_responders (IrisdEngineRoute *route)
{
  IrisdPull *self = (IrisdPull *) route;

  if (self->stopped || self->withdrawn)
    return;
  self->heard_at = g_get_monotonic_time ();
  trouble (self, "503", NULL);
}

static void
connection_changed (IrisdEngineRoute *route)
{
  IrisdPull *self = (IrisdPull *) route;

  if (self->stopped)
    return;
  forget_requests (self);
  if (self->withdrawn)
    {
      end_route (self);
      return;
    }
  self->retry_at = 0;
  self->delay_ms = FIRST_DELAY_MS;
  set_state (self, IRISD_PULL_IDLE, NULL, NULL);
  ask (self);
  set_alarm (self);
}

/* ---- Made and freed ---- */

static void
free_pull (IrisdEngineRoute *route)
{
  IrisdPull *self = (IrisdPull *) route;

  irisd_engine_set_alarm (route->engine, &self->alarm, G_MAXINT64);
  if (self->withdrawn && !self->stopped && self->events.ended)
    self->events.ended (self, self->user_data);
  g_free (self->next);
  g_free (self->reason);
  g_free (self);
}

static void
set_times (IrisdPullOptions *options)
{
  if (options->expires_ms == 0)
    options->expires_ms = options->kind == IRISD_PULL_THIEF ? THIEF_EXPIRES_MS : EXPIRES_MS;
  if (options->heartbeat_ms == 0)
    options->heartbeat_ms = HEARTBEAT_MS;
  /* Two must fit into the time of a request, else the server refuses it. */
  options->heartbeat_ms = MIN (options->heartbeat_ms, options->expires_ms * 2 / 5);
}

IrisdPull *
irisd_pull_new (IrisdEngine *engine,
                const IrisdPullOptions *options,
                const IrisdPullEvents *events,
                gpointer user_data)
{
  IrisdPull *self = g_new0 (IrisdPull, 1);
  g_autofree char *subject = g_strdup_printf ("%sP%u.*", engine->inbox, ++engine->n_pulls);

  self->route.io.in_batches = TRUE;
  self->route.receive = receive;
  self->route.no_responders = no_responders;
  self->route.connection_changed = connection_changed;
  self->route.free = free_pull;
  self->alarm.ring = ring;
  self->options = *options;
  set_times (&self->options);
  self->next = g_strconcat ("$JS.API.CONSUMER.MSG.NEXT.", options->stream, ".", options->consumer,
                            NULL);
  self->options.stream = self->options.consumer = NULL;
  self->events = *events;
  self->user_data = user_data;
  self->window = options->window;
  self->min_pending = options->min_pending;
  self->first_valid = 1;
  self->delay_ms = FIRST_DELAY_MS;
  irisd_engine_add_route (engine, &self->route, subject);
  ask (self);
  return self;
}

void
irisd_pull_free (IrisdPull *self)
{
  self->stopped = TRUE;
  set_alarm (self);
  end_route (self);
}

void
irisd_pull_withdraw (IrisdPull *self)
{
  self->withdrawn = TRUE;
  self->window = 0;
  self->heard_at = g_get_monotonic_time ();
  if (self->n_asked == 0)
    end_route (self);
  else
    set_alarm (self);
}

void
irisd_pull_set_window (IrisdPull *self, guint window)
{
  self->window = window;
  ask (self);
}

void
irisd_pull_release (IrisdPull *self, guint n)
{
  g_return_if_fail (n <= self->n_held);
  self->n_held -= n;
  ask (self);
}

void
irisd_pull_set_min_pending (IrisdPull *self, guint64 min_pending)
{
  self->min_pending = min_pending;
}

guint
irisd_pull_get_n_held (IrisdPull *self)
{
  return self->n_held;
}

guint
irisd_pull_get_n_asked (IrisdPull *self)
{
  return self->n_asked;
}

guint64
irisd_pull_get_backlog (IrisdPull *self)
{
  return self->backlog;
}

IrisdPullState
irisd_pull_get_state (IrisdPull *self)
{
  return self->state;
}

const char *
irisd_pull_get_reason (IrisdPull *self)
{
  return self->reason;
}
