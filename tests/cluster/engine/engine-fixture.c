/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What tests of the engine share; see engine-fixture.h.
 */
#include "engine-fixture.h"

#include <string.h>

static gboolean
on_tick (gpointer data)
{
  return G_SOURCE_CONTINUE;
}

void
turn (void)
{
  static guint tick;

  if (!tick)
    tick = g_timeout_add (50, on_tick, NULL);
  g_main_context_iteration (NULL, TRUE);
}

IrisdEngine *
connect_with (const IrisdEngineOptions *options)
{
  g_autoptr (GError) error = NULL;
  IrisdEngine *engine = irisd_engine_new (options, NULL, NULL, &error);

  ck_assert_msg (engine != NULL, "%s", error ? error->message : "");
  return engine;
}

IrisdEngine *
connect_to (const char *url)
{
  const IrisdEngineOptions options = { .url = url, .name = "test" };
  IrisdEngine *engine = connect_with (&options);

  wait_for (irisd_engine_get_state (engine) == IRISD_ENGINE_CONNECTED);
  return engine;
}

static void
on_published (IrisdEngine *engine, const IrisdPublishResult *result, gpointer user_data)
{
  Publishing *publishing = user_data;

  ck_assert (!publishing->done);
  publishing->done = TRUE;
  publishing->result = (Published){ result->status, result->sequence, result->code,
                                    result->maybe_stored };
  ck_assert (result->text || result->status <= IRISD_PUBLISH_DUPLICATE);
}

void
publish_begin (IrisdEngine *engine,
               Publishing *publishing,
               const IrisdEnginePublication *publication)
{
  *publishing = (Publishing){ 0 };
  irisd_engine_publish (engine, publication, on_published, publishing);
}

static Published
publish_one (IrisdEngine *engine, const IrisdEnginePublication *publication)
{
  Publishing publishing;

  publish_begin (engine, &publishing, publication);
  wait_for (publishing.done);
  return publishing.result;
}

Published
publish (IrisdEngine *engine, const char *subject, const char *data, const char *message_id)
{
  return publish_one (engine, &(IrisdEnginePublication){ .subject = subject,
                                                         .data = data,
                                                         .length = strlen (data),
                                                         .message_id = message_id });
}

Published
publish_first (IrisdEngine *engine, const char *subject, const char *data)
{
  return publish_one (
      engine, &(IrisdEnginePublication){
                  .subject = subject, .data = data, .length = strlen (data), .check_last = TRUE });
}

typedef struct
{
  JsonObject *reply;
  gint code;
  gboolean done;
} Requesting;

static void
on_reply (IrisdEngine *engine, JsonObject *reply, const GError *error, gpointer user_data)
{
  Requesting *requesting = user_data;

  ck_assert ((reply == NULL) == (error != NULL));
  requesting->done = TRUE;
  requesting->reply = reply ? json_object_ref (reply) : NULL;
  requesting->code = error ? error->code : -1;
}

JsonObject *
request (IrisdEngine *engine, const char *subject, const char *json, gint *code)
{
  Requesting requesting = { 0 };

  irisd_engine_request (engine, subject, json, 0, on_reply, &requesting);
  wait_for (requesting.done);
  if (code)
    *code = requesting.code;
  return requesting.reply;
}

JsonObject *
request_until_good (IrisdEngine *engine, const char *subject, const char *json)
{
  JsonObject *reply;

  wait_for ((reply = request (engine, subject, json, NULL)) != NULL || (turn (), FALSE));
  return reply;
}

guint64
count_messages (IrisdEngine *engine, const char *stream)
{
  g_autofree char *subject = g_strconcat ("$JS.API.STREAM.INFO.", stream, NULL);
  g_autoptr (JsonObject) reply = request_until_good (engine, subject, NULL);

  return (guint64) irisd_json_get_int (irisd_json_get_object (reply, "state"), "messages");
}

/* NULL during an election. */
static char *
get_leader (IrisdEngine *engine, const char *subject)
{
  g_autoptr (JsonObject) reply = request_until_good (engine, subject, NULL);

  return g_strdup (irisd_json_get_string (irisd_json_get_object (reply, "cluster"), "leader"));
}

char *
find_leader (IrisdEngine *engine, const char *stream)
{
  g_autofree char *subject = g_strconcat ("$JS.API.STREAM.INFO.", stream, NULL);
  char *leader = NULL;

  wait_for ((leader = get_leader (engine, subject)) != NULL);
  return leader;
}

static void
on_made (IrisdEngine *engine,
         const IrisdStreamsReport *report,
         const GError *error,
         gpointer user_data)
{
  gint *state = user_data;

  *state = !error && report->faults->len == 0 ? 1 : -1;
}

void
make_streams (IrisdEngine *engine, const IrisdStreamsOptions *options, const char *node)
{
  gint state = -1;

  wait_for (state == 1 || ({
              if (state == -1)
                {
                  state = 0;
                  irisd_streams_make (engine, options, node, NULL, on_made, &state);
                }
              FALSE;
            }));
}

static void
on_message (IrisdPull *pull, const IrisdEngineMessage *message, gpointer user_data)
{
  Puller *self = user_data;
  guint n_delivered = (guint) message->n_delivered;

  g_ptr_array_add (self->acks, g_strdup (message->reply));
  g_ptr_array_add (self->bodies, g_strndup (message->data, message->length));
  g_array_append_val (self->deliveries, n_delivered);
  self->n_anew += message->counts_anew ? 1 : 0;
  self->backlog = message->n_pending;
}

static void
on_ended (IrisdPull *pull, gpointer user_data)
{
  ((Puller *) user_data)->pull = NULL;
}

Puller *
puller_new_with (IrisdEngine *engine, const IrisdPullOptions *options)
{
  static const IrisdPullEvents events = { .message = on_message, .ended = on_ended };
  Puller *self = g_new0 (Puller, 1);

  self->acks = g_ptr_array_new_with_free_func (g_free);
  self->bodies = g_ptr_array_new_with_free_func (g_free);
  self->deliveries = g_array_new (FALSE, FALSE, sizeof (guint));
  self->pull = irisd_pull_new (engine, options, &events, self);
  return self;
}

Puller *
puller_new (IrisdEngine *engine,
            const char *consumer,
            IrisdPullKind kind,
            guint window,
            guint64 min_pending)
{
  const char *stream = g_str_equal (consumer, "dead") ? "IRIS_DEADADV" : "IRIS";
  const IrisdPullOptions options = { .stream = stream,
                                     .consumer = consumer,
                                     .kind = kind,
                                     .window = window,
                                     .min_pending = min_pending,
                                     .expires_ms = 2000 };

  return puller_new_with (engine, &options);
}

void
puller_free (Puller *self)
{
  g_clear_pointer (&self->pull, irisd_pull_free);
  g_ptr_array_unref (self->acks);
  g_ptr_array_unref (self->bodies);
  g_array_unref (self->deliveries);
  g_free (self);
}
