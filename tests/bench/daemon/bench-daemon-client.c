/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A client of irisd that speaks the protocol itself.
 *
 * Each payload begins with its item's number, and each result is looked at: as many as were sent
 * must come, and their numbers must add up. A client has a ZeroMQ context of its own, as each of
 * several programs would have, and acknowledges as libiris-client does: when a quarter of its
 * credit is used up.
 */
#include "tests/bench/daemon/bench-daemon.h"

#include <errno.h>
#include <string.h>
#include <zmq.h>

#define PATIENCE_MS 60000
#define CREDITS     1024 /* irisd's default; the limit is not changed here */

struct _BenchClient
{
  void *context;
  void *socket;
  IrisWireEncoder encoder;
  IrisWireBatchBuilder batch;
  zmq_msg_t frames[IRIS_WIRE_N_FRAMES];
  IrisWireMessage message; /* the last one, borrowed from the frames */
  guint64 next_id;
  guint owed; /* completions that were not acknowledged, and the last of them */
  guint8 last[IRIS_WIRE_ID_SIZE];
};

/* How far a load is. */
typedef struct
{
  const BenchLoad *load;
  guint8 *payload;
  guint sent;
  guint accepted;
  guint ended;
  guint64 sum_sent, sum_ended;
} Progress;

static gboolean
fail_zmq (GError **error, const char *what)
{
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_MACHINE, "%s: %s", what, zmq_strerror (errno));

  return FALSE;
}

static gboolean
fail_answer (GError **error, const IrisWireMessage *message)
{
  g_autofree char *text = iris_wire_message_to_string (message);

  g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT, "irisd answered: %s", text);

  return FALSE;
}

/* --- messages --------------------------------------------------------------------------------- */

static gboolean
send_frames (BenchClient *self, const IrisWireFrame *frames, guint n, GError **error)
{
  for (guint i = 0; i < n; i++)
    if (zmq_send (self->socket, frames[i].data, frames[i].size, i + 1 < n ? ZMQ_SNDMORE : 0) < 0)
      return fail_zmq (error, "cannot send");

  return TRUE;
}

static gboolean
send_message (BenchClient *self, const IrisWireMessage *message, GError **error)
{
  return iris_wire_encode (&self->encoder, message, error)
         && send_frames (self, self->encoder.two_frames, 2, error);
}

static gboolean
receive (BenchClient *self, GError **error)
{
  IrisWireFrame views[IRIS_WIRE_N_FRAMES];

  for (guint i = 0; i < IRIS_WIRE_N_FRAMES; i++)
    {
      if (zmq_msg_recv (&self->frames[i], self->socket, 0) < 0)
        return fail_zmq (error, "no answer");
      views[i] = (IrisWireFrame){ zmq_msg_data (&self->frames[i]),
                                  zmq_msg_size (&self->frames[i]) };
    }

  return iris_wire_decode (views, IRIS_WIRE_N_FRAMES, NULL, &self->message, error);
}

static void
begin_message (BenchClient *self, IrisWireMessage *message, IrisWireType type)
{
  guint64 id = ++self->next_id;

  iris_wire_message_init (message, type, NULL);
  memcpy (message->request_id, &id, sizeof id);
}

static gboolean
call (BenchClient *self, IrisWireMessage *request, IrisWireType answer, GError **error)
{
  if (!send_message (self, request, error) || !receive (self, error))
    return FALSE;

  return self->message.type == answer || fail_answer (error, &self->message);
}

static gboolean
acknowledge (BenchClient *self, GError **error)
{
  IrisWireMessage ack;

  begin_message (self, &ack, IRIS_WIRE_ACK);
  iris_wire_message_set_target (&ack, self->last);
  iris_wire_message_set_uint (&ack, IRIS_WIRE_KEY_COUNT, self->owed);
  self->owed = 0;

  return send_message (self, &ack, error);
}

/* --- items ------------------------------------------------------------------------------------ */

static void
begin_item (BenchClient *self, Progress *progress, IrisWireMessage *item)
{
  const BenchLoad *load = progress->load;
  guint64 number = ++progress->sent;

  begin_message (self, item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (item, IRIS_WIRE_KEY_SERVICE, load->service, -1);
  if (load->args != NULL)
    iris_wire_message_set_args (item, load->args);
  if (load->klass != IRIS_WIRE_CLASS_VOLATILE)
    iris_wire_message_set_uint (item, IRIS_WIRE_KEY_CLASS, load->klass);
  if (load->detach)
    iris_wire_message_set_boolean (item, IRIS_WIRE_KEY_DETACH, TRUE);
  if (load->delay_ms > 0)
    iris_wire_message_set_uint (item, IRIS_WIRE_KEY_DELAY_MS, load->delay_ms);
  if (load->size >= sizeof number)
    memcpy (progress->payload, &number, sizeof number);
  progress->sum_sent += number;
  iris_wire_message_set_body (item, progress->payload, load->size);
}

/* Volatile items are quiet: their completions say enough. Others are told to be in safety. */
static gboolean
is_quiet (const BenchLoad *load)
{
  return load->klass == IRIS_WIRE_CLASS_VOLATILE;
}

static gboolean
send_one (BenchClient *self, Progress *progress, GError **error)
{
  IrisWireMessage item;

  begin_item (self, progress, &item);
  if (is_quiet (progress->load))
    iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_QUIET, TRUE);

  return send_message (self, &item, error);
}

static gboolean
send_batch (BenchClient *self, Progress *progress, guint n, GError **error)
{
  IrisWireMessage batch, item;
  IrisWireFrame body;

  iris_wire_batch_builder_reset (&self->batch);
  for (guint i = 0; i < n; i++)
    {
      begin_item (self, progress, &item);
      if (!iris_wire_batch_builder_add (&self->batch, &item, error))
        return FALSE;
    }
  begin_message (self, &batch, IRIS_WIRE_BATCH);
  if (is_quiet (progress->load))
    iris_wire_message_set_boolean (&batch, IRIS_WIRE_KEY_QUIET, TRUE);
  body = iris_wire_batch_builder_get_body (&self->batch);
  iris_wire_message_set_body (&batch, body.data, body.size);

  return send_message (self, &batch, error);
}

/* As much as the window allows, but no small change. */
static gboolean
send_some (BenchClient *self, Progress *progress, GError **error)
{
  const BenchLoad *load = progress->load;

  for (;;)
    {
      guint left = load->items - progress->sent, n = MIN (load->batch, left);
      guint ahead = progress->sent + n - (load->detach ? progress->accepted : progress->ended);

      if (n == 0 || ahead > load->window || ahead + self->owed > CREDITS)
        return TRUE;
      if (!(n == 1 ? send_one (self, progress, error) : send_batch (self, progress, n, error)))
        return FALSE;
    }
}

static gboolean
take_result (BenchClient *self, Progress *progress, GError **error)
{
  const BenchLoad *load = progress->load;
  IrisWireFrame body = self->message.body;
  guint64 number = 0;

  if (g_str_equal (load->service, "echo"))
    {
      if (body.size != load->size)
        return fail_answer (error, &self->message);
      memcpy (&number, body.data, MIN (sizeof number, body.size));
      progress->sum_ended += number;
    }
  else if (self->message.exit_status != 0 || self->message.signal != 0)
    return fail_answer (error, &self->message);
  progress->ended++;
  self->owed++;
  memcpy (self->last, self->message.request_id, sizeof self->last);

  /* Persistent items stay until they are acknowledged, so none is left over. */
  return self->owed < CREDITS / 4 && (is_quiet (load) || progress->ended < load->items)
             ? TRUE
             : acknowledge (self, error);
}

/* As many results as there were in a turn of irisd's. */
static gboolean
take_results (BenchClient *self, Progress *progress, GError **error)
{
  IrisWireBatchIter iter;
  GError *problem = NULL;

  if (!iris_wire_batch_iter_init_completions (&iter, self->message.body, NULL, error))
    return FALSE;
  while (iris_wire_batch_iter_next (&iter, &self->message, &problem) == IRIS_WIRE_BATCH_ITEM)
    {
      if (self->message.type != IRIS_WIRE_RESULT)
        return fail_answer (error, &self->message);
      if (!take_result (self, progress, error))
        return FALSE;
    }
  if (problem != NULL)
    g_propagate_error (error, problem);

  return problem == NULL;
}

static gboolean
take_answer (BenchClient *self, Progress *progress, GError **error)
{
  if (!receive (self, error))
    return FALSE;
  switch (self->message.type)
    {
    case IRIS_WIRE_ACCEPTED:
      progress->accepted += self->message.count;
      return TRUE;
    case IRIS_WIRE_RESULT:
      return take_result (self, progress, error);
    case IRIS_WIRE_COMPLETIONS:
      return take_results (self, progress, error);
    case IRIS_WIRE_PONG:
      return TRUE;
    default:
      return fail_answer (error, &self->message);
    }
}

static gboolean
is_done (const Progress *progress)
{
  const BenchLoad *load = progress->load;
  gboolean told = is_quiet (load) || progress->accepted == load->items;

  return told && (load->detach || progress->ended == load->items);
}

/* Sends all items of a load, and waits until all of them have ended; if they are detached, until
 * all are accepted. */
gboolean
bench_client_run (BenchClient *self, const BenchLoad *load, GError **error)
{
  g_autofree guint8 *payload = g_malloc0 (MAX (load->size, 8));
  Progress progress = { .load = load, .payload = payload };

  while (!is_done (&progress))
    if (!send_some (self, &progress, error) || !take_answer (self, &progress, error))
      return FALSE;
  if (load->detach || !g_str_equal (load->service, "echo")
      || progress.sum_sent == progress.sum_ended)
    return TRUE;
  g_set_error_literal (error, BENCH_ERROR, BENCH_ERROR_RESULT,
                       "results that came back are not those of the items");

  return FALSE;
}

/* One item and its result. */
gboolean
bench_client_round_trip (BenchClient *self, const BenchLoad *load, GError **error)
{
  BenchLoad one = *load;

  one.items = one.window = one.batch = 1;

  return bench_client_run (self, &one, error);
}

gboolean
bench_client_count_persistent (BenchClient *self, guint64 *n, GError **error)
{
  g_autoptr (IrisWireStatus) status = NULL;
  IrisWireMessage request;

  begin_message (self, &request, IRIS_WIRE_STATUS);
  if (!call (self, &request, IRIS_WIRE_STATUS_REPLY, error))
    return FALSE;
  status = iris_wire_status_decode (self->message.body, NULL, error);
  if (status == NULL)
    return FALSE;
  *n = status->persistent;

  return TRUE;
}

/* --- connections ------------------------------------------------------------------------------ */

static gboolean
say_hello (BenchClient *self, GError **error)
{
  IrisWireMessage hello;

  begin_message (self, &hello, IRIS_WIRE_HELLO);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MIN, IRIS_WIRE_VERSION);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MAX, IRIS_WIRE_VERSION);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_FEATURES,
                              IRIS_WIRE_FEATURE_COMPLETIONS | IRIS_WIRE_FEATURE_TWO_FRAMES);
  iris_wire_message_set_string (&hello, IRIS_WIRE_KEY_NAME, "iris-bench " IRIS_VERSION, -1);

  return call (self, &hello, IRIS_WIRE_WELCOME, error);
}

/* The keys behind an endpoint: irisd's, then the client's two. */
static gboolean
use_keys (void *socket, char **words)
{
  const int options[] = { ZMQ_CURVE_SERVERKEY, ZMQ_CURVE_PUBLICKEY, ZMQ_CURVE_SECRETKEY };

  for (guint i = 0; i < G_N_ELEMENTS (options) && words[i] != NULL; i++)
    if (zmq_setsockopt (socket, options[i], words[i], strlen (words[i])) != 0)
      return FALSE;

  return TRUE;
}

static void *
open_socket (void *context, const char *endpoint, GError **error)
{
  void *socket = zmq_socket (context, ZMQ_DEALER);
  int none = 0, patience = PATIENCE_MS;
  g_auto (GStrv) words = g_strsplit (endpoint, " ", -1);

  if (socket != NULL && use_keys (socket, words + 1)
      && zmq_setsockopt (socket, ZMQ_LINGER, &none, sizeof none) == 0
      && zmq_setsockopt (socket, ZMQ_RCVTIMEO, &patience, sizeof patience) == 0
      && zmq_setsockopt (socket, ZMQ_SNDTIMEO, &patience, sizeof patience) == 0
      && zmq_setsockopt (socket, ZMQ_SNDHWM, &none, sizeof none) == 0
      && zmq_setsockopt (socket, ZMQ_RCVHWM, &none, sizeof none) == 0
      && zmq_connect (socket, words[0]) == 0)
    return socket;
  fail_zmq (error, words[0]);
  if (socket != NULL)
    zmq_close (socket);

  return NULL;
}

BenchClient *
bench_client_new (const char *endpoint, GError **error)
{
  BenchClient *self = g_new0 (BenchClient, 1);

  iris_wire_encoder_init (&self->encoder, NULL);
  iris_wire_batch_builder_init (&self->batch, NULL);
  for (guint i = 0; i < IRIS_WIRE_N_FRAMES; i++)
    zmq_msg_init (&self->frames[i]);
  self->context = zmq_ctx_new ();
  self->socket = open_socket (self->context, endpoint, error);
  if (self->socket == NULL || !say_hello (self, error))
    g_clear_pointer (&self, bench_client_free);

  return self;
}

void
bench_client_free (BenchClient *self)
{
  for (guint i = 0; i < IRIS_WIRE_N_FRAMES; i++)
    zmq_msg_close (&self->frames[i]);
  if (self->socket != NULL)
    zmq_close (self->socket);
  zmq_ctx_term (self->context);
  iris_wire_batch_builder_clear (&self->batch);
  iris_wire_encoder_clear (&self->encoder);
  g_free (self);
}
