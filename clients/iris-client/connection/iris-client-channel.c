/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A conversation with one of irisd's sockets: its life, its timers, what it sends, how it ends.
 *
 * A channel is made for one connection: it connects, says HELLO, learns its credits (WELCOME),
 * carries calls, and is closed for good by whatever goes wrong. Then the calls that it had are
 * ended with an error that tells apart what was sent (may have run) and what was not.
 *
 * Nothing is sent at the moment it is asked for. Calls are queued and the clock is woken; its next
 * turn sends all that credit allows, several items in a BATCH. So a program that submits a thousand
 * items in a row sends a few messages, and one that waits for each pays one turn of the loop.
 *
 * Control calls go first, since they need no credit. Items go in the order that they were asked
 * for, as long as credit allows; a run of small ones goes as one BATCH. A message that the socket
 * cannot take now stays where it was, and the socket's being writable again wakes the clock.
 *
 * While something is unanswered and irisd silent, PING asks whether it is still there. The loop may
 * have been held up by the program itself, so a deadline only counts if nothing waits to be read.
 *
 * An irisd with the feature `resume` may be started anew: a channel that is lost then hands the
 * calls that may go on to its owner, which gives them to the next channel (iris-client-resume.c).
 *
 * Everything runs in the thread of the client's context. Ending a call runs the program's code,
 * which may drop the client and with it the channel: entry points from sources hold a reference,
 * and look at the state again after each call-out.
 */
#include "iris-client-channel-private.h"
#include <iris-client/base/iris-client-clock-private.h>
#include <iris-client/base/iris-client-error-private.h>
#include <iris-client/base/iris-client-source-private.h>
#include <iris-client/request/iris-request-private.h>

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* How long the goodbye may take to leave when a client is dropped. */
#define LINGER_MS 100

/* Completions are given back after this time even if a quarter of the window has not gathered. */
#define ACK_DELAY_US (10 * G_TIME_SPAN_MILLISECOND)

#define CLIENT_NAME "libiris-client"

/* An item up to this size is worth copying into a batch. */
#define BATCH_ITEM_MAX (8 * 1024)

/* A batch is closed at this size, so that irisd can start on it. */
#define BATCH_MAX (256 * 1024)

static void
iris_client_channel_clear (gpointer data)
{
  IrisClientChannel *self = data;

  g_free (self->endpoint);
  g_free (self->busy_reason);
  g_clear_error (&self->link_error);
  g_hash_table_unref (self->pending);
  iris_wire_encoder_clear (&self->encoder);
  iris_wire_batch_builder_clear (&self->batch);
}

static void
iris_client_channel_release (IrisClientChannel *self)
{
  g_rc_box_release_full (self, iris_client_channel_clear);
}

/* There is something to send or a deadline has changed: let the clock look in the loop's next
 * turn. */
void
iris_client_channel_wake (IrisClientChannel *self)
{
  if (self->state != IRIS_CLIENT_CHANNEL_CLOSED)
    iris_client_clock_wake (self->clock);
}

/* The program is told, and may drop the client: this comes last in what its caller does. */
void
iris_client_channel_set_busy (IrisClientChannel *self, char *reason)
{
  g_autofree char *before = self->busy_reason;

  self->busy_reason = reason;
  if (self->state != IRIS_CLIENT_CHANNEL_CLOSED && g_strcmp0 (before, reason) != 0)
    self->funcs->busy (self, self->user_data);
}

void
iris_client_channel_end_call (IrisClientChannel *self,
                              IrisClientCall *call,
                              const IrisWireMessage *answer,
                              const GError *error)
{
  call->channel = NULL;
  iris_client_call_finish (call, answer, error);
}

static int
compare_serials (gconstpointer a, gconstpointer b)
{
  const IrisClientCall *left = *(IrisClientCall *const *) a;
  const IrisClientCall *right = *(IrisClientCall *const *) b;

  return left->serial < right->serial ? -1 : left->serial > right->serial;
}

static void
take_queue (GQueue *queue, GPtrArray *calls)
{
  GList *link;

  while ((link = g_queue_pop_head_link (queue)) != NULL)
    g_ptr_array_add (calls, link->data);
}

/* Takes every call out of the channel, in the order they were asked for. */
GPtrArray *
iris_client_channel_take_calls (IrisClientChannel *self)
{
  GPtrArray *calls = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer call;

  g_hash_table_iter_init (&iter, self->pending);
  while (g_hash_table_iter_next (&iter, NULL, &call))
    g_ptr_array_add (calls, call);
  g_hash_table_remove_all (self->pending);
  take_queue (&self->control, calls);
  take_queue (&self->waiting, calls);
  g_ptr_array_sort (calls, compare_serials);
  return calls;
}

static void
iris_client_channel_shut (IrisClientChannel *self, int linger_ms)
{
  self->state = IRIS_CLIENT_CHANNEL_CLOSED;
  iris_client_source_clear (&self->clock);
  if (self->link != NULL)
    iris_client_link_close (g_steal_pointer (&self->link), linger_ms);
}

/* Whether @call goes on in the next channel when this one is lost: what irisd does not have, what
 * only asks, and what irisd finds again by its session or key. The places are asked for anew. */
gboolean
iris_client_channel_may_carry (IrisClientChannel *self, IrisClientCall *call)
{
  if (!self->resumes || call->cancelled || call->done == NULL || call->type == IRIS_WIRE_MAP)
    return FALSE;
  if (call->state == IRIS_CLIENT_CALL_WAITING)
    return TRUE;
  switch (call->type)
    {
    case IRIS_WIRE_SUBMIT:
      return iris_client_call_is_persistent (call);
    case IRIS_WIRE_FETCH:
    case IRIS_WIRE_SHOW:
    case IRIS_WIRE_LIST:
    case IRIS_WIRE_STATUS:
    case IRIS_WIRE_SERVICES:
    case IRIS_WIRE_WORKERS:
    case IRIS_WIRE_STATISTICS:
      return TRUE;
    default:
      return FALSE;
    }
}

static void
iris_client_channel_carry (IrisClientChannel *self, IrisClientCall *call)
{
  if (call->state == IRIS_CLIENT_CALL_SENT && call->type == IRIS_WIRE_SUBMIT)
    call->session = self->settings->session;
  call->state = IRIS_CLIENT_CALL_WAITING;
  call->channel = NULL;
  call->batch = 0;
  call->owed = 0;
  call->refused = FALSE;
  self->funcs->carried (self, call, self->user_data);
}

/* irisd has said, or shown, that it ends. */
void
iris_client_channel_note_going (IrisClientChannel *self)
{
  if (self->going || !self->resumes)
    return;
  self->going = TRUE;
  iris_client_channel_wake (self);
  self->funcs->going (self, self->user_data);
}

/* Ends the items that irisd does not have. */
void
iris_client_channel_end_waiting (IrisClientChannel *self, const GError *error)
{
  g_autoptr (GPtrArray) calls = g_ptr_array_new ();

  g_rc_box_acquire (self);
  take_queue (&self->waiting, calls);
  for (guint i = 0; i < calls->len; i++)
    iris_client_channel_end_call (self, g_ptr_array_index (calls, i), NULL, error);
  iris_client_channel_release (self);
}

/* Closes the channel and ends its calls, but not those that go on in the next one. */
void
iris_client_channel_fail (IrisClientChannel *self, int code, const char *why)
{
  gboolean had_been_ready = self->state == IRIS_CLIENT_CHANNEL_READY;
  g_autoptr (GPtrArray) calls = NULL;
  g_autoptr (GError) sent = NULL;
  g_autoptr (GError) unsent = NULL;

  if (self->state == IRIS_CLIENT_CHANNEL_CLOSED)
    return;
  g_rc_box_acquire (self);
  iris_client_channel_shut (self, 0);
  self->lost = code == IRIS_CLIENT_ERROR_DISCONNECTED;
  calls = iris_client_channel_take_calls (self);
  if (had_been_ready)
    {
      sent = g_error_new (
          IRIS_CLIENT_ERROR, code,
          "%s; the item may or may not have run: submit it again if a second run does no harm",
          why);
      unsent = g_error_new (IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_NOT_CONNECTED,
                            "%s before the item was sent; submit it again once irisd is back", why);
    }
  else
    unsent = g_error_new_literal (IRIS_CLIENT_ERROR, code, why);
  /* First the owner, so that what its callers submit from their callbacks takes a new channel. */
  self->funcs->closed (self, unsent, self->user_data);
  for (guint i = 0; i < calls->len; i++)
    {
      IrisClientCall *call = g_ptr_array_index (calls, i);

      if (self->lost && iris_client_channel_may_carry (self, call))
        {
          iris_client_channel_carry (self, call);
          continue;
        }
      iris_client_channel_end_call (
          self, call, NULL, call->state == IRIS_CLIENT_CALL_SENT && sent != NULL ? sent : unsent);
    }
  iris_client_channel_release (self);
}

/* An irisd listens, or may, where the system does not let us look. */
static gboolean
is_closed_to_us (const char *endpoint)
{
  return g_str_has_prefix (endpoint, "ipc://")
         && g_access (endpoint + strlen ("ipc://"), R_OK | W_OK) != 0 && errno == EACCES;
}

static void
fail_not_let_in (IrisClientChannel *self)
{
  g_autofree char *why = g_strdup_printf (
      g_str_has_prefix (self->endpoint, "tcp://")
          ? "irisd at %s does not let you in: it takes keys that its owner has allowed (irisctl "
            "key "
            "allow); name yours with tcp://HOST:PORT?key=FILE"
          : "irisd at %s does not let you in: ask its owner to name you under [access] users",
      self->endpoint);

  iris_client_channel_fail (self, IRIS_CLIENT_ERROR_NOT_PERMITTED, why);
}

static void
fail_unreachable (IrisClientChannel *self)
{
  g_autofree char *why = NULL;

  if (is_closed_to_us (self->endpoint))
    {
      fail_not_let_in (self);
      return;
    }
  if (g_str_has_prefix (self->endpoint, "ipc://"))
    {
      g_autofree char *dir = g_path_get_dirname (self->endpoint + strlen ("ipc://"));

      why = g_strdup_printf ("no irisd answers at %s: start one with `irisd --dir %s`",
                             self->endpoint, dir);
    }
  else
    why = g_strdup_printf ("no irisd answers at %s: start one with `irisd --tcp HOST:PORT`",
                           self->endpoint);
  iris_client_channel_fail (self, IRIS_CLIENT_ERROR_NOT_CONNECTED, why);
}

static void
fail_silent (IrisClientChannel *self, guint timeout_ms)
{
  g_autofree char *why = g_strdup_printf (
      "irisd at %s has not answered for %u ms: it is stopped or overloaded", self->endpoint,
      timeout_ms);

  iris_client_channel_fail (self, IRIS_CLIENT_ERROR_TIMED_OUT, why);
}

/* What only asks is better told at once that irisd is away. */
static gboolean
wants_to_resume (IrisClientChannel *self)
{
  return self->settings->resume_timeout_ms > 0 && !self->settings->asks_only
         && !self->settings->keeps_results;
}

static void
iris_client_channel_lost (IrisClientLinkLoss loss, gpointer user_data)
{
  IrisClientChannel *self = user_data;

  if (self->state == IRIS_CLIENT_CHANNEL_CLOSED)
    return;
  if (loss == IRIS_CLIENT_LINK_REFUSED)
    {
      if (!self->settings->wait_for_daemon && !self->settings->resuming)
        fail_unreachable (self);
    }
  else if (loss == IRIS_CLIENT_LINK_DENIED)
    fail_not_let_in (self);
  else
    {
      /* An irisd that ended before it could answer may come back as any other. */
      if (loss == IRIS_CLIENT_LINK_CLOSED && self->state == IRIS_CLIENT_CHANNEL_CONNECTING)
        self->resumes = wants_to_resume (self);
      gboolean without_key = loss == IRIS_CLIENT_LINK_DROPPED
                             && g_str_has_prefix (self->endpoint, "tcp://")
                             && strchr (self->endpoint, '?') == NULL;
      g_autofree char *why = g_strdup_printf (
          without_key ? "irisd at %s has closed the connection before it stood; if it takes keys, "
                        "name yours with tcp://HOST:PORT?key=FILE"
                      : "the connection to irisd at %s was lost",
          self->endpoint);

      iris_client_channel_fail (self, IRIS_CLIENT_ERROR_DISCONNECTED, why);
    }
}

/* Sends the message that was encoded last. */
static gboolean
iris_client_channel_send_encoded (IrisClientChannel *self)
{
  return self->takes_two_frames
             ? iris_client_link_send (self->link, self->encoder.two_frames, 2)
             : iris_client_link_send (self->link, self->encoder.frames, IRIS_WIRE_N_FRAMES);
}

static gboolean
iris_client_channel_send (IrisClientChannel *self, const IrisWireMessage *message)
{
  return iris_wire_encode (&self->encoder, message, NULL)
         && iris_client_channel_send_encoded (self);
}

/* For ACK, PING and BYE: without an answer, or with one that only shows that irisd lives. @count:
 * for ACK, how many completions; the last one is the last that came. */
static gboolean
iris_client_channel_send_simple (IrisClientChannel *self,
                                 IrisWireType type,
                                 guint count,
                                 guint64 *serial)
{
  IrisWireMessage message;
  guint8 id[IRIS_WIRE_ID_SIZE];
  guint64 number = self->settings->next_serial++;

  iris_client_id_write (id, self->settings->prefix, number);
  iris_wire_message_init (&message, type, id);
  if (type == IRIS_WIRE_ACK)
    {
      guint8 last[IRIS_WIRE_ID_SIZE];

      iris_client_id_write (last, self->settings->prefix, self->last_ended);
      iris_wire_message_set_target (&message, last);
      iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_COUNT, count);
    }
  if (serial != NULL)
    *serial = number;
  return iris_client_channel_send (self, &message);
}

/* Moves the call at the head of @queue to what is unanswered. */
static void
iris_client_channel_mark_sent (IrisClientChannel *self, GQueue *queue, guint64 batch, gint64 now)
{
  IrisClientCall *call = g_queue_pop_head_link (queue)->data;

  /* The silence that PING looks for begins with the first request. */
  if (g_hash_table_size (self->pending) == 0)
    {
      self->ping_at = now + self->settings->ping_interval_ms * G_TIME_SPAN_MILLISECOND;
      self->pong_by = 0;
    }
  call->state = IRIS_CLIENT_CALL_SENT;
  call->batch = batch;
  g_hash_table_insert (self->pending, GSIZE_TO_POINTER (call->serial), call);
  if (iris_client_call_takes_credit (call))
    iris_client_credit_take (&self->credit, call->size);
}

/* Ends the call at the head of @queue, which can never be sent. */
static void
iris_client_channel_refuse (IrisClientChannel *self, GQueue *queue, const GError *why)
{
  g_autoptr (GError)
      error = why->domain == IRIS_WIRE_ERROR
                  ? iris_client_error_new_from_wire ((guint) why->code, why->message, -1, -1)
                  : g_error_copy (why);

  iris_client_channel_end_call (self, g_queue_pop_head_link (queue)->data, NULL, error);
}

/* Sends the call at the head of @queue by itself. Returns FALSE if the socket cannot take it now.
 */
static gboolean
iris_client_channel_send_head (IrisClientChannel *self, GQueue *queue, gint64 now)
{
  IrisClientCall *call = g_queue_peek_head (queue);
  g_autoptr (GError) error = NULL;
  IrisWireMessage message;

  iris_client_call_fill (call, self->settings->prefix, &message);
  if (call->size > self->limits.max_body)
    g_set_error (&error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_TOO_LARGE,
                 "the payload of %" G_GSIZE_FORMAT
                 " bytes is over irisd's limit max-body, %" G_GSIZE_FORMAT
                 " bytes; raise it in irisd's configuration, or send a path",
                 call->size, self->limits.max_body);
  if (error != NULL || !iris_wire_encode (&self->encoder, &message, &error))
    {
      iris_client_channel_refuse (self, queue, error);
      return TRUE;
    }
  if (!iris_client_channel_send_encoded (self))
    return FALSE;
  iris_client_channel_mark_sent (self, queue, 0, now);
  return TRUE;
}

/* Gathers what may go in one batch. Returns how many items that are; fewer than two are none. */
static guint
iris_client_channel_gather (IrisClientChannel *self, guint most)
{
  IrisClientCredit credit = self->credit;

  iris_wire_batch_builder_reset (&self->batch);
  for (GList *link = self->waiting.head;
       link != NULL && self->batch.n_items < MIN (most, self->limits.max_batch); link = link->next)
    {
      IrisClientCall *call = link->data;
      IrisWireMessage item;

      /* A batch tells the number of its first item only. */
      if (call->type != IRIS_WIRE_SUBMIT || call->request->accepted != NULL)
        break;
      if (call->size > BATCH_ITEM_MAX || iris_client_call_is_detached (call)
          || !iris_client_credit_allows (&credit, call->size))
        break;
      iris_client_call_fill (call, self->settings->prefix, &item);
      if (!iris_wire_batch_builder_add (&self->batch, &item, NULL))
        break;
      iris_client_credit_take (&credit, call->size);
      if (iris_wire_batch_builder_get_body (&self->batch).size
          > MIN (BATCH_MAX, self->limits.max_body / 2))
        break;
    }
  return self->batch.n_items > 1 ? self->batch.n_items : 0;
}

static gboolean
iris_client_channel_send_batch (IrisClientChannel *self, guint n_items, gint64 now)
{
  IrisWireFrame body = iris_wire_batch_builder_get_body (&self->batch);
  guint64 serial = self->settings->next_serial++;
  guint8 id[IRIS_WIRE_ID_SIZE];
  IrisWireMessage message;

  iris_client_id_write (id, self->settings->prefix, serial);
  iris_wire_message_init (&message, IRIS_WIRE_BATCH, id);
  iris_wire_message_set_boolean (&message, IRIS_WIRE_KEY_QUIET, TRUE);
  iris_wire_message_set_body (&message, body.data, body.size);
  if (!iris_client_channel_send (self, &message))
    return FALSE;
  for (guint i = 0; i < n_items; i++)
    iris_client_channel_mark_sent (self, &self->waiting, serial, now);
  return TRUE;
}

/* Grants what @call owes. */
static gboolean
iris_client_channel_send_grant (IrisClientChannel *self, IrisClientCall *call)
{
  IrisWireMessage message;
  guint8 id[IRIS_WIRE_ID_SIZE], target[IRIS_WIRE_ID_SIZE];

  iris_client_id_write (id, self->settings->prefix, self->settings->next_serial++);
  iris_client_id_write (target, self->settings->prefix, call->serial);
  iris_wire_message_init (&message, IRIS_WIRE_MORE, id);
  iris_wire_message_set_target (&message, target);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_GRANT, call->owed);
  return iris_client_channel_send (self, &message);
}

/* Lets the item send as much output again as has come, once that is half of what may be under way.
 */
void
iris_client_channel_send_more (IrisClientChannel *self, IrisClientCall *call)
{
  if (call->owed < IRIS_CLIENT_OUTPUT_WINDOW / 2)
    return;
  if (iris_client_channel_send_grant (self, call))
    call->owed = 0;
  else
    self->owes = TRUE;
}

static void
iris_client_channel_send_owed (IrisClientChannel *self)
{
  GHashTableIter iter;
  gpointer call;

  self->owes = FALSE;
  g_hash_table_iter_init (&iter, self->pending);
  while (g_hash_table_iter_next (&iter, NULL, &call))
    iris_client_channel_send_more (self, call);
}

/* Sends the item at the head of those that wait, and perhaps others with it. Returns FALSE if none
 * can be sent now. */
static gboolean
iris_client_channel_send_some (IrisClientChannel *self, gint64 now)
{
  IrisClientCall *head = g_queue_peek_head (&self->waiting);
  guint most = iris_client_backoff_allows (&self->backoff, now);
  guint n_items;

  if (most == 0 || !iris_client_credit_allows (&self->credit, head->size))
    return FALSE;
  n_items = iris_client_channel_gather (self, most);
  if (n_items > 0 ? !iris_client_channel_send_batch (self, n_items, now)
                  : !iris_client_channel_send_head (self, &self->waiting, now))
    return FALSE;
  iris_client_backoff_note_sent (&self->backoff, MAX (n_items, 1));
  return TRUE;
}

/* Sends all that may be sent now. An item that can never be sent ends here, so @self may be closed
 * afterwards. */
static void
iris_client_channel_send_all (IrisClientChannel *self, gint64 now)
{
  while (self->state == IRIS_CLIENT_CHANNEL_READY && !g_queue_is_empty (&self->control))
    if (!iris_client_channel_send_head (self, &self->control, now))
      return;

  if (self->owes)
    iris_client_channel_send_owed (self);
  while (self->state == IRIS_CLIENT_CHANNEL_READY && !self->going
         && !g_queue_is_empty (&self->waiting) && iris_client_channel_send_some (self, now))
    ;
  if (self->state == IRIS_CLIENT_CHANNEL_READY && iris_client_backoff_wants_probe (&self->backoff))
    {
      guint64 serial;

      if (iris_client_channel_send_simple (self, IRIS_WIRE_PING, 0, &serial))
        self->backoff.probe = serial;
    }
}

static void
iris_client_channel_send_hello (IrisClientChannel *self)
{
  IrisWireMessage hello;
  guint8 id[IRIS_WIRE_ID_SIZE];
  guint64 serial = self->settings->next_serial++;

  iris_client_id_write (id, self->settings->prefix, serial);
  iris_wire_message_init (&hello, IRIS_WIRE_HELLO, id);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MIN, IRIS_WIRE_VERSION);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MAX, IRIS_WIRE_VERSION);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_FEATURES,
                              IRIS_WIRE_FEATURE_COMPLETIONS | IRIS_WIRE_FEATURE_TWO_FRAMES
                                  | (self->settings->asks_only ? IRIS_WIRE_FEATURE_ASKS_ONLY : 0)
                                  | (wants_to_resume (self) ? IRIS_WIRE_FEATURE_RESUME : 0));
  if (wants_to_resume (self))
    iris_wire_message_set_string (&hello, IRIS_WIRE_KEY_SESSION,
                                  (const char *) self->settings->session, IRIS_WIRE_SESSION_SIZE);
  iris_wire_message_set_string (&hello, IRIS_WIRE_KEY_NAME, CLIENT_NAME, -1);
  self->takes_two_frames = FALSE;
  if (iris_client_channel_send (self, &hello))
    self->hello_serial = serial;
}

/* Looks whether irisd is alive. Returns FALSE if it is not, and the channel is gone. */
static gboolean
iris_client_channel_check_alive (IrisClientChannel *self, gint64 now)
{
  gint64 interval = self->settings->ping_interval_ms * G_TIME_SPAN_MILLISECOND;

  if (self->heard || g_hash_table_size (self->pending) == 0)
    {
      self->heard = FALSE;
      self->pong_by = 0;
      self->ping_at = now + interval;
      return TRUE;
    }
  if (self->pong_by == 0 && now >= self->ping_at)
    {
      iris_client_channel_send_simple (self, IRIS_WIRE_PING, 0, NULL);
      self->pong_by = now + self->settings->ping_timeout_ms * G_TIME_SPAN_MILLISECOND;
    }
  else if (self->pong_by != 0 && now >= self->pong_by && !iris_client_link_has_input (self->link))
    {
      fail_silent (self, self->settings->ping_timeout_ms);
      return FALSE;
    }
  return TRUE;
}

static void
earliest (gint64 *deadline, gint64 candidate)
{
  if (candidate != 0 && (*deadline == 0 || candidate < *deadline))
    *deadline = candidate;
}

static void
iris_client_channel_set_clock (IrisClientChannel *self)
{
  gint64 deadline = 0;

  if (self->state == IRIS_CLIENT_CHANNEL_CONNECTING)
    {
      deadline = self->connect_by;
      if (self->hello_serial == 0)
        earliest (&deadline, self->backoff.resume_at);
    }
  else
    {
      earliest (&deadline, self->ack_at);
      if (!g_queue_is_empty (&self->waiting))
        earliest (&deadline, self->backoff.resume_at);
      if (g_hash_table_size (self->pending) > 0)
        earliest (&deadline, self->pong_by != 0 ? self->pong_by : self->ping_at);
    }
  iris_client_clock_set_deadline (self->clock, deadline);
}

/* Gives completions back: at a quarter of the window, or a little after the last one. */
static void
iris_client_channel_acknowledge (IrisClientChannel *self, gint64 now)
{
  IrisClientCredit *credit = &self->credit;
  /* An irisd that ends waits for it. */
  gboolean due = iris_client_credit_ack_due (credit) || self->going;

  if (self->settings->keeps_results)
    return;

  if (credit->ended_items > 0 && self->ack_at == 0)
    self->ack_at = now + ACK_DELAY_US;
  if (credit->ended_items > 0 && (due || now >= self->ack_at)
      && iris_client_channel_send_simple (self, IRIS_WIRE_ACK, credit->ended_items, NULL))
    iris_client_credit_ack (credit);
  if (credit->ended_items == 0)
    self->ack_at = 0;
}

static void
iris_client_channel_tick (gpointer user_data)
{
  IrisClientChannel *self = user_data;
  gint64 now = g_get_monotonic_time ();

  g_rc_box_acquire (self);
  if (self->state == IRIS_CLIENT_CHANNEL_CONNECTING)
    {
      if (self->hello_serial == 0 && now >= self->backoff.resume_at)
        {
          self->backoff.resume_at = 0;
          iris_client_channel_send_hello (self);
        }
      if (now >= self->connect_by && !iris_client_link_has_input (self->link))
        {
          if (self->settings->resuming)
            iris_client_channel_fail (self, IRIS_CLIENT_ERROR_DISCONNECTED,
                                      "irisd has not come back yet");
          else if (self->hello_serial == 0)
            fail_unreachable (self);
          else
            fail_silent (self, self->settings->connect_timeout_ms);
        }
    }
  else if (iris_client_channel_check_alive (self, now))
    {
      iris_client_channel_acknowledge (self, now);
      iris_client_channel_send_all (self, now);
    }
  if (self->state != IRIS_CLIENT_CHANNEL_CLOSED)
    iris_client_channel_set_clock (self);
  iris_client_channel_release (self);
}

static void
iris_client_channel_message (const IrisWireFrame *frames, guint n_frames, gpointer user_data)
{
  IrisClientChannel *self = user_data;

  g_rc_box_acquire (self);
  self->heard = TRUE;
  if (self->pong_by != 0)
    iris_client_channel_wake (self);
  iris_client_channel_receive (self, frames, n_frames);
  iris_client_channel_release (self);
}

static void
iris_client_channel_writable (gpointer user_data)
{
  iris_client_channel_wake (user_data);
}

static const IrisClientLinkFuncs link_funcs = {
  .message = iris_client_channel_message,
  .writable = iris_client_channel_writable,
  .lost = iris_client_channel_lost,
};

/* An endpoint that cannot be used is reported like one without a listener: later, to the calls.
 */
static void
iris_client_channel_bad_endpoint (gpointer user_data)
{
  IrisClientChannel *self = user_data;

  iris_client_channel_fail (self, self->link_error->code, self->link_error->message);
}

/* Starts connecting. @settings must outlive the channel. */
IrisClientChannel *
iris_client_channel_new (const char *endpoint,
                         IrisClientSettings *settings,
                         const IrisClientChannelFuncs *funcs,
                         gpointer user_data)
{
  IrisClientChannel *self = g_rc_box_new0 (IrisClientChannel);

  self->endpoint = g_strdup (endpoint);
  self->settings = settings;
  self->funcs = funcs;
  self->user_data = user_data;
  self->pending = g_hash_table_new (g_direct_hash, g_direct_equal);
  self->limits = *iris_wire_limits_default ();
  iris_wire_encoder_init (&self->encoder, NULL);
  iris_wire_batch_builder_init (&self->batch, NULL);
  self->connect_by = g_get_monotonic_time ()
                     + settings->connect_timeout_ms * G_TIME_SPAN_MILLISECOND;
  self->link = iris_client_link_new (endpoint, settings->context, &link_funcs, self,
                                     &self->link_error);
  self->clock = iris_client_clock_new (
      self->link != NULL ? iris_client_channel_tick : iris_client_channel_bad_endpoint, self);
  iris_client_clock_wake (self->clock);
  g_source_attach (self->clock, settings->context);
  return self;
}

/* Sends BYE and ends the channel; its owner has ended its calls. */
void
iris_client_channel_free (IrisClientChannel *self)
{
  if (self->state != IRIS_CLIENT_CHANNEL_CLOSED)
    {
      g_autoptr (GPtrArray) calls = iris_client_channel_take_calls (self);
      gboolean ready = self->state == IRIS_CLIENT_CHANNEL_READY;

      /* The program has handled the completion; irisd would keep it otherwise. */
      if (ready && self->credit.ended_items > 0 && !self->settings->keeps_results)
        iris_client_channel_send_simple (self, IRIS_WIRE_ACK, self->credit.ended_items, NULL);
      if (ready)
        iris_client_channel_send_simple (self, IRIS_WIRE_BYE, 0, NULL);
      iris_client_channel_shut (self, ready ? LINGER_MS : 0);
      for (guint i = 0; i < calls->len; i++)
        iris_client_channel_end_call (self, g_ptr_array_index (calls, i), NULL, NULL);
    }
  iris_client_channel_release (self);
}

gboolean
iris_client_channel_is_idle (IrisClientChannel *self)
{
  return g_hash_table_size (self->pending) == 0 && g_queue_is_empty (&self->waiting)
         && g_queue_is_empty (&self->control);
}

/* Queues a call; it is sent when the channel is ready and credit allows. */
void
iris_client_channel_push (IrisClientChannel *self, IrisClientCall *call)
{
  g_assert (self->state != IRIS_CLIENT_CHANNEL_CLOSED);

  call->channel = self;
  call->state = IRIS_CLIENT_CALL_WAITING;
  call->asked_at = g_get_monotonic_time ();
  g_queue_push_tail_link (call->type == IRIS_WIRE_SUBMIT ? &self->waiting : &self->control,
                          &call->link);
  iris_client_channel_wake (self);
}

/* irisd is asked to end an item that was sent, and the call ends when it does. Any other call is
 * taken out of the channel: TRUE, and the caller has to finish it. */
gboolean
iris_client_channel_cancel (IrisClientChannel *self, IrisClientCall *call)
{
  if (call->state == IRIS_CLIENT_CALL_WAITING)
    {
      /* What irisd was too busy for waits with the items. */
      g_queue_unlink (call->type == IRIS_WIRE_SUBMIT || call->refused ? &self->waiting
                                                                      : &self->control,
                      &call->link);
    }
  else if (call->type == IRIS_WIRE_SUBMIT)
    {
      IrisClientCall *cancel = iris_client_call_new (&(IrisClientCall){ .type = IRIS_WIRE_CANCEL },
                                                     self->settings->next_serial++, NULL);

      iris_client_id_write (cancel->target, self->settings->prefix, call->serial);
      iris_client_channel_push (self, cancel);
      return FALSE;
    }
  else if (call->type == IRIS_WIRE_FOLLOW)
    {
      /* A grant of nothing ends it; if it cannot be sent, credit ends it for irisd as well. */
      call->owed = 0;
      iris_client_channel_send_grant (self, call);
      g_hash_table_remove (self->pending, GSIZE_TO_POINTER (call->serial));
    }
  else if (iris_client_call_takes_credit (call))
    {
      /* Its answer holds a credit, which only a call gives back. */
      IrisClientCall what = { .type = call->type, .whole = call->whole };
      IrisClientCall *shell = iris_client_call_new (&what, call->serial, NULL);

      shell->state = IRIS_CLIENT_CALL_SENT;
      shell->channel = self;
      g_hash_table_insert (self->pending, GSIZE_TO_POINTER (call->serial), shell);
    }
  else
    g_hash_table_remove (self->pending, GSIZE_TO_POINTER (call->serial));
  call->channel = NULL;
  /* The call still holds the client. */
  if (g_queue_is_empty (&self->waiting))
    iris_client_channel_set_busy (self, NULL);
  return TRUE;
}
