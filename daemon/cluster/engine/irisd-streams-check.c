/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The streams and consumers of a cluster are checked and made, one request after the other.
 */
#include "daemon/cluster/engine/irisd-engine-parse.h"
#include "daemon/cluster/engine/irisd-engine-private.h"
#include "daemon/cluster/engine/irisd-streams.h"

#include <gio/gio.h>
#include <string.h>

/* A stream of three replicas is made in a second; on busy machines it takes some. */
#define MAKE_MS 20000
/* A monitoring port's answer. */
#define MAX_VARZ  (1 << 20)
#define MONITOR_S 5

/* A stream or a consumer to look at. */
typedef struct
{
  char *name; /* for people */
  char *info; /* subjects of requests */
  char *create;
  char *body; /* of the second */
  JsonObject *config;
  gint missing; /* the error that says that there is none */
} Subject;

typedef struct
{
  IrisdEngine *engine;
  IrisdStreamsOptions options;
  IrisdStreamsReport report;
  IrisdStreamsFunc callback;
  gpointer user_data;
  gboolean make;
  char *stream;
  char *monitor;
  GPtrArray *subjects;
  guint at;
  GSocketConnection *connection;
  GString *varz;
  char buffer[4096];
} Check;

static void go_on (Check *self);

/* ---- What there is to look at ---- */

static void
subject_free (gpointer data)
{
  Subject *subject = data;

  g_free (subject->name);
  g_free (subject->info);
  g_free (subject->create);
  g_free (subject->body);
  json_object_unref (subject->config);
  g_free (subject);
}

static char *
print (JsonObject *object)
{
  g_autoptr (JsonNode) node = json_node_init_object (json_node_alloc (), object);

  return json_to_string (node, FALSE);
}

static void
add_stream (Check *self, IrisdStreamKind kind)
{
  g_autofree char *name = irisd_streams_get_name (&self->options, kind);
  Subject *subject = g_new0 (Subject, 1);

  subject->name = g_strconcat ("Stream ", name, NULL);
  subject->info = g_strconcat ("$JS.API.STREAM.INFO.", name, NULL);
  subject->create = g_strconcat ("$JS.API.STREAM.CREATE.", name, NULL);
  subject->config = irisd_streams_get_config (&self->options, kind);
  subject->body = print (subject->config);
  subject->missing = IRISD_JETSTREAM_STREAM_NOT_FOUND;
  g_ptr_array_add (self->subjects, subject);
}

static void
add_consumer (Check *self, IrisdConsumerKind kind, const char *node)
{
  g_autofree char *stream = irisd_streams_get_name (
      &self->options, kind == IRISD_CONSUMER_DEAD ? IRISD_STREAM_DEADADV : IRISD_STREAM_WORK);
  g_autofree char *name = irisd_streams_get_consumer_name (kind, node);
  g_autoptr (JsonObject) body = json_object_new ();
  Subject *subject = g_new0 (Subject, 1);

  subject->name = g_strconcat ("Consumer ", name, " of ", stream, NULL);
  subject->info = g_strconcat ("$JS.API.CONSUMER.INFO.", stream, ".", name, NULL);
  subject->create = g_strconcat ("$JS.API.CONSUMER.CREATE.", stream, ".", name, NULL);
  subject->config = irisd_streams_get_consumer_config (&self->options, kind, node);
  json_object_set_string_member (body, "stream_name", stream);
  json_object_set_string_member (body, "action", "create");
  json_object_set_object_member (body, "config", json_object_ref (subject->config));
  subject->body = print (body);
  subject->missing = IRISD_JETSTREAM_CONSUMER_NOT_FOUND;
  g_ptr_array_add (self->subjects, subject);
}

/* ---- The end ---- */

static void
finish (Check *self, const GError *error)
{
  if (!error)
    self->report.promise = irisd_streams_describe_promise (&self->options, &self->report.server);
  self->callback (self->engine, &self->report, error, self->user_data);
  irisd_server_facts_clear (&self->report.server);
  g_ptr_array_unref (self->report.faults);
  g_ptr_array_unref (self->report.notices);
  g_ptr_array_unref (self->report.made);
  g_free (self->report.promise);
  g_ptr_array_unref (self->subjects);
  g_clear_object (&self->connection);
  if (self->varz)
    g_string_free (self->varz, TRUE);
  g_free (self->stream);
  g_free (self->monitor);
  g_free (self);
}

static void G_GNUC_PRINTF (2, 3) add_fault (Check *self, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_ptr_array_add (self->report.faults, g_strdup_vprintf (format, arguments));
  va_end (arguments);
}

/* ---- The monitoring port ---- */

static void
end_monitor (Check *self, const char *why)
{
  const char *body = self->varz ? strstr (self->varz->str, "\r\n\r\n") : NULL;

  if (!why && (!body || !irisd_server_facts_read_varz (&self->report.server, body + 4, -1)))
    why = "the answer has no JetStream";
  if (why)
    add_fault (self, "Monitor %s: %s; give the URL of the servers' http_port", self->monitor, why);
  finish (self, NULL);
}

static void
on_varz_read (GObject *stream, GAsyncResult *result, gpointer user_data)
{
  Check *self = user_data;
  g_autoptr (GError) error = NULL;
  gssize n = g_input_stream_read_finish (G_INPUT_STREAM (stream), result, &error);

  if (n > 0 && self->varz->len < MAX_VARZ)
    {
      g_string_append_len (self->varz, self->buffer, n);
      g_input_stream_read_async (G_INPUT_STREAM (stream), self->buffer, sizeof self->buffer,
                                 G_PRIORITY_DEFAULT, NULL, on_varz_read, self);
      return;
    }
  end_monitor (self, n < 0 ? error->message : NULL);
}

static void
on_varz_asked (GObject *stream, GAsyncResult *result, gpointer user_data)
{
  Check *self = user_data;
  g_autoptr (GError) error = NULL;

  if (!g_output_stream_write_all_finish (G_OUTPUT_STREAM (stream), result, NULL, &error))
    end_monitor (self, error->message);
  else
    g_input_stream_read_async (g_io_stream_get_input_stream (G_IO_STREAM (self->connection)),
                               self->buffer, sizeof self->buffer, G_PRIORITY_DEFAULT, NULL,
                               on_varz_read, self);
}

static void
on_monitor (GObject *client, GAsyncResult *result, gpointer user_data)
{
  static const char request[] = "GET /varz HTTP/1.0\r\nHost: monitor\r\n\r\n";
  Check *self = user_data;
  g_autoptr (GError) error = NULL;

  self->connection = g_socket_client_connect_to_uri_finish (G_SOCKET_CLIENT (client), result,
                                                            &error);
  self->varz = g_string_new (NULL);
  if (!self->connection)
    end_monitor (self, error->message);
  else
    g_output_stream_write_all_async (g_io_stream_get_output_stream (G_IO_STREAM (self->connection)),
                                     request, sizeof request - 1, G_PRIORITY_DEFAULT, NULL,
                                     on_varz_asked, self);
}

static void
ask_monitor (Check *self)
{
  g_autoptr (GSocketClient) client = NULL;

  /* GIO calls back in the context that is the thread's default. */
  g_main_context_push_thread_default (self->engine->context);
  client = g_socket_client_new ();
  g_socket_client_set_timeout (client, MONITOR_S);
  /* As the connection to the server itself, which knows no proxies. */
  g_socket_client_set_enable_proxy (client, FALSE);
  g_socket_client_set_tls (client, g_str_has_prefix (self->monitor, "https:"));
  g_socket_client_connect_to_uri_async (client, self->monitor, 8222, NULL, on_monitor, self);
  g_main_context_pop_thread_default (self->engine->context);
}

/* ---- Streams and consumers ---- */

/* A stream that is full is no fault of its configuration, but items wait because of it. */
static void
note_fill (Check *self, JsonObject *reply, JsonObject *config)
{
  static const char *const pairs[][3] = { { "messages", "max_msgs", "items" },
                                          { "bytes", "max_bytes", "bytes" } };
  JsonObject *state = irisd_json_get_object (reply, "state");

  for (guint i = 0; state && i < G_N_ELEMENTS (pairs); i++)
    {
      gint64 used = irisd_json_get_int (state, pairs[i][0]);
      gint64 most = irisd_json_get_int (config, pairs[i][1]);
      if (most <= 0 || used < most - most / 10)
        continue;
      g_ptr_array_add (self->report.notices,
                       g_strdup_printf ("Stream %s has %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
                                        " %s: while it is full, items for other nodes wait at "
                                        "their node",
                                        self->stream, used, most, pairs[i][2]));
    }
}

/* Servers write their version and level into what they tell of a stream. */
static void
note_server (Check *self, JsonObject *reply, JsonObject *config)
{
  JsonObject *metadata = irisd_json_get_object (config, "metadata");
  JsonObject *cluster = irisd_json_get_object (reply, "cluster");
  const char *version = metadata ? irisd_json_get_string (metadata, "_nats.ver") : NULL;
  JsonNode *replicas = cluster ? json_object_get_member (cluster, "replicas") : NULL;
  IrisdServerFacts *facts = &self->report.server;

  if (version && !facts->version)
    facts->version = g_strdup (version);
  if (g_strcmp0 (irisd_json_get_string (config, "name"), self->stream) != 0)
    return;
  note_fill (self, reply, config);
  facts->n_replicas = facts->n_current = 1;
  if (!replicas || !JSON_NODE_HOLDS_ARRAY (replicas))
    return;
  for (guint i = 0; i < json_array_get_length (json_node_get_array (replicas)); i++)
    {
      JsonNode *element = json_array_get_element (json_node_get_array (replicas), i);
      JsonObject *peer = JSON_NODE_HOLDS_OBJECT (element) ? json_node_get_object (element) : NULL;
      JsonNode *current = peer ? json_object_get_member (peer, "current") : NULL;
      facts->n_replicas++;
      facts->n_current += current && JSON_NODE_HOLDS_VALUE (current)
                          && json_node_get_boolean (current);
    }
}

static void
compare (Check *self, const Subject *subject, JsonObject *reply)
{
  JsonObject *config = irisd_json_get_object (reply, "config");
  g_autoptr (GPtrArray) differences = NULL;

  if (!config)
    {
      add_fault (self, "%s: the answer has no configuration", subject->name);
      return;
    }
  note_server (self, reply, config);
  differences = irisd_streams_compare (subject->config, config);
  for (guint i = 0; i < differences->len; i++)
    add_fault (self, "%s: %s; change the one or the other", subject->name,
               (char *) g_ptr_array_index (differences, i));
}

static void
on_made (IrisdEngine *engine, JsonObject *reply, const GError *error, gpointer user_data)
{
  Check *self = user_data;
  Subject *subject = g_ptr_array_index (self->subjects, self->at);

  if (error && error->domain == IRISD_ENGINE_ERROR)
    {
      finish (self, error);
      return;
    }
  if (error)
    add_fault (self, "%s was not made: %s%s", subject->name, error->message,
               error->code == IRISD_JETSTREAM_NOT_CLUSTERED
                   ? "; start the servers as a cluster, or set [cluster] replicas to 1"
                   : "");
  else
    {
      g_ptr_array_add (self->report.made, g_strdup (subject->name));
      compare (self, subject, reply);
    }
  self->at++;
  go_on (self);
}

static void
on_info (IrisdEngine *engine, JsonObject *reply, const GError *error, gpointer user_data)
{
  Check *self = user_data;
  Subject *subject = g_ptr_array_index (self->subjects, self->at);
  gboolean missing = error && error->domain == IRISD_JETSTREAM_ERROR
                     && (error->code == subject->missing
                         || error->code == IRISD_JETSTREAM_STREAM_NOT_FOUND);

  if (error && error->domain == IRISD_ENGINE_ERROR)
    {
      finish (self, error);
      return;
    }
  if (missing && self->make)
    {
      irisd_engine_request (engine, subject->create, subject->body, MAKE_MS, on_made, self);
      return;
    }
  if (missing)
    add_fault (self, "%s is missing; irisctl cluster init makes it", subject->name);
  else if (error && !missing)
    add_fault (self, "%s: %s", subject->name, error->message);
  else if (!error)
    compare (self, subject, reply);
  self->at++;
  go_on (self);
}

static void
check_server (Check *self)
{
  IrisdServerFacts *facts = &self->report.server;

  if (facts->version && irisd_version_compare (facts->version, IRISD_STREAMS_MIN_VERSION) < 0)
    add_fault (self, "The server is version %s: at least %s is needed", facts->version,
               IRISD_STREAMS_MIN_VERSION);
  /* So it is for a moment after a stream was made or a server came back. */
  if (facts->n_current < facts->n_replicas)
    g_ptr_array_add (self->report.notices,
                     g_strdup_printf ("Only %u of %u replicas of %s are current: look at the "
                                      "servers if it stays so",
                                      facts->n_current, facts->n_replicas, self->stream));
}

static void
go_on (Check *self)
{
  if (self->at < self->subjects->len)
    {
      Subject *subject = g_ptr_array_index (self->subjects, self->at);
      irisd_engine_request (self->engine, subject->info, NULL, 0, on_info, self);
      return;
    }
  check_server (self);
  if (self->monitor)
    ask_monitor (self);
  else
    finish (self, NULL);
}

static void
on_account (IrisdEngine *engine, JsonObject *reply, const GError *error, gpointer user_data)
{
  Check *self = user_data;
  JsonObject *api = reply ? irisd_json_get_object (reply, "api") : NULL;

  if (error)
    {
      finish (self, error);
      return;
    }
  self->report.server.api_level = api ? (guint) irisd_json_get_int (api, "level") : 0;
  if (self->report.server.api_level < IRISD_STREAMS_MIN_API_LEVEL)
    {
      /* An older server would drop the fields that it does not know. */
      add_fault (self, "The API level of JetStream is %u: %u is needed, of nats-server %s or newer",
                 self->report.server.api_level, IRISD_STREAMS_MIN_API_LEVEL,
                 IRISD_STREAMS_MIN_VERSION);
      finish (self, NULL);
      return;
    }
  go_on (self);
}

static Check *
check_new (IrisdEngine *engine,
           const IrisdStreamsOptions *options,
           IrisdStreamsFunc callback,
           gpointer user_data)
{
  Check *self = g_new0 (Check, 1);

  self->engine = engine;
  self->options = *options;
  self->stream = irisd_streams_get_name (options, IRISD_STREAM_WORK);
  self->options.stream = self->stream;
  self->report.faults = g_ptr_array_new_with_free_func (g_free);
  self->report.notices = g_ptr_array_new_with_free_func (g_free);
  self->report.made = g_ptr_array_new_with_free_func (g_free);
  self->subjects = g_ptr_array_new_with_free_func (subject_free);
  self->callback = callback;
  self->user_data = user_data;
  return self;
}

static void
begin (IrisdEngine *engine,
       const IrisdStreamsOptions *options,
       const char *node,
       const char *monitor,
       gboolean make,
       IrisdStreamsFunc callback,
       gpointer user_data)
{
  /* The stream of the items has the one of the schedules as its source. */
  static const IrisdStreamKind streams[] = {
    IRISD_STREAM_LATER,   IRISD_STREAM_WORK,  IRISD_STREAM_ENDS,   IRISD_STREAM_DEAD,
    IRISD_STREAM_DEADADV, IRISD_STREAM_NODES, IRISD_STREAM_BODIES,
  };
  Check *self = check_new (engine, options, callback, user_data);

  self->make = make;
  self->monitor = g_strdup (monitor);
  for (guint i = 0; i < G_N_ELEMENTS (streams); i++)
    add_stream (self, streams[i]);
  add_consumer (self, IRISD_CONSUMER_ANY, NULL);
  add_consumer (self, IRISD_CONSUMER_DEAD, NULL);
  if (node)
    {
      add_consumer (self, IRISD_CONSUMER_SOFT, node);
      add_consumer (self, IRISD_CONSUMER_STRICT, node);
    }
  irisd_engine_request (engine, "$JS.API.INFO", NULL, 0, on_account, self);
}

void
irisd_streams_check (IrisdEngine *engine,
                     const IrisdStreamsOptions *options,
                     const char *node,
                     const char *monitor,
                     IrisdStreamsFunc callback,
                     gpointer user_data)
{
  begin (engine, options, node, monitor, FALSE, callback, user_data);
}

void
irisd_streams_make (IrisdEngine *engine,
                    const IrisdStreamsOptions *options,
                    const char *node,
                    const char *monitor,
                    IrisdStreamsFunc callback,
                    gpointer user_data)
{
  begin (engine, options, node, monitor, TRUE, callback, user_data);
}
