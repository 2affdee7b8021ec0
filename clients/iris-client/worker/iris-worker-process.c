/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Serves items of irisd from the main loop of a GLib program.
 *
 * A worker belongs to the thread-default context of its maker, and everything happens there. While
 * it runs it is in one of these states; only the first two can last:
 *
 *   DISCONNECTED  a timer makes the next connection
 *   SERVING       irisd knows the services and leases items
 *   HANDSHAKE     HELLO was sent, WELCOME is waited for
 *   REGISTERING   READY was sent, ENROLLED is waited for
 *
 * When the connection is lost the work on leases goes on: if irisd was killed it knows of them when
 * it is back, and what is answered meanwhile waits until then. The next connection begins with a
 * READY that has no capacity, asks for each lease by EXTEND, and gives the answers that irisd may
 * not have read; then comes the READY that takes more items. What irisd refuses, because the item
 * is another's by now, is stopped, and so is what has not found irisd when its time is over. A
 * lease with parts is stopped at once: only items that are not kept have parts, and they are gone
 * with irisd.
 *
 * Cancelling drains: READY with a capacity of 0, and the end when the last lease was answered.
 */
#include <iris-client/worker/iris-worker-process.h>

#include <iris-client/base/iris-client-error-private.h>
#include <iris-client/base/iris-client-source-private.h>
#include <iris-client/connection/iris-client-link-private.h>
#include "iris-lease-private.h"

#include <string.h>
#include <unistd.h>

#define FIRST_PAUSE_MS 100
#define LAST_PAUSE_MS  5000
#define LINGER_MS      1000

typedef enum
{
  IRIS_WORKER_PROCESS_DISCONNECTED,
  IRIS_WORKER_PROCESS_HANDSHAKE,
  IRIS_WORKER_PROCESS_REGISTERING,
  IRIS_WORKER_PROCESS_SERVING,
} IrisWorkerProcessState;

typedef struct
{
  char *name;
  char *summary;
  IrisWorkerProcessFunc func;
  gpointer user_data;
  GDestroyNotify destroy;
} IrisWorkerProcessService;

struct _IrisWorkerProcess
{
  GObject parent_instance;
  char *address;
  char *name;
  guint capacity;
  int place;
  gboolean renew_leases;

  GMainContext *context;
  GPtrArray *services; /* of IrisWorkerProcessService */
  IrisWorkerProcessState state;
  IrisClientLink *link;
  IrisWireEncoder encoder;
  GQueue outbox;  /* of GBytes: packed messages that wait for the link */
  GQueue answers; /* the same: those that irisd may not have read, no more than leases */
  guint n_pinged; /* how many of those were sent before the PING */
  guint8 ping[IRIS_WIRE_ID_SIZE];
  GHashTable *leases; /* by id; each belongs to its holder */
  GTask *run;
  GSource *cancel_source;
  GSource *timer;
  guint pause_ms;
  guint64 last_id;
  gboolean draining;
  guint8 last_ping[IRIS_WIRE_ID_SIZE]; /* of the PING whose PONG ends it */
};

/**
 * IrisWorkerProcess:
 *
 * A program that does items of irisd: it names services, and is leased the items that name them.
 *
 * A worker belongs to the main context that was the thread's default when it began to run: its
 * handlers are called there, and may answer a lease later. It starts no thread of its own.
 */
G_DEFINE_FINAL_TYPE (IrisWorkerProcess, iris_worker_process, G_TYPE_OBJECT)

static void connect_to_irisd (IrisWorkerProcess *self);

static void
set_timer (IrisWorkerProcess *self, guint ms, GSourceFunc func)
{
  iris_client_source_clear (&self->timer);
  self->timer = g_timeout_source_new (ms);
  g_source_set_callback (self->timer, func, self, NULL);
  g_source_attach (self->timer, self->context);
}

/* The frames of the encoded message in one piece: their sizes, then their bytes. */
static GBytes *
pack (const IrisWireFrame *frames)
{
  gsize sizes[IRIS_WIRE_N_FRAMES], size = sizeof sizes;
  guint8 *data, *at;

  for (guint i = 0; i < IRIS_WIRE_N_FRAMES; i++)
    size += sizes[i] = frames[i].size;
  data = g_malloc (size);
  memcpy (data, sizes, sizeof sizes);
  at = data + sizeof sizes;
  for (guint i = 0; i < IRIS_WIRE_N_FRAMES; at += sizes[i++])
    if (sizes[i] > 0)
      memcpy (at, frames[i].data, sizes[i]);
  return g_bytes_new_take (data, size);
}

static gboolean
send_packed (IrisWorkerProcess *self, GBytes *packed)
{
  const guint8 *data = g_bytes_get_data (packed, NULL);
  gsize sizes[IRIS_WIRE_N_FRAMES];
  IrisWireFrame frames[IRIS_WIRE_N_FRAMES];

  memcpy (sizes, data, sizeof sizes);
  data += sizeof sizes;
  for (guint i = 0; i < IRIS_WIRE_N_FRAMES; data += sizes[i++])
    frames[i] = (IrisWireFrame){ data, sizes[i] };
  return iris_client_link_send (self->link, frames, IRIS_WIRE_N_FRAMES);
}

static void
flush (IrisWorkerProcess *self)
{
  while (self->link != NULL && self->outbox.length > 0)
    {
      if (!send_packed (self, g_queue_peek_head (&self->outbox)))
        return;
      g_bytes_unref (g_queue_pop_head (&self->outbox));
    }
}

static gboolean
send_message (IrisWorkerProcess *self, const IrisWireMessage *message, GError **error)
{
  if (self->link == NULL)
    return TRUE;
  if (!iris_wire_encode (&self->encoder, message, error))
    return FALSE;
  if (self->outbox.length > 0
      || !iris_client_link_send (self->link, self->encoder.frames, IRIS_WIRE_N_FRAMES))
    g_queue_push_tail (&self->outbox, pack (self->encoder.frames));
  return TRUE;
}

/* Whether irisd knows it as a worker, or has been sent READY. */
static gboolean
is_known (IrisWorkerProcess *self)
{
  return self->state >= IRIS_WORKER_PROCESS_REGISTERING;
}

static void
forget_answers (IrisWorkerProcess *self, guint n)
{
  for (guint i = 0; i < n; i++)
    g_bytes_unref (g_queue_pop_head (&self->answers));
  self->n_pinged -= MIN (self->n_pinged, n);
}

/* Sends what ends a lease, and keeps it until irisd has read it: one that is killed before that is
 * told again. An answer that was not read counts against the capacity, so there are no more. */
static gboolean
send_answer (IrisWorkerProcess *self, const IrisWireMessage *message, GError **error)
{
  GBytes *answer;

  if (!iris_wire_encode (&self->encoder, message, error))
    return FALSE;
  answer = pack (self->encoder.frames);
  g_queue_push_tail (&self->answers, answer);
  if (self->answers.length > self->capacity)
    forget_answers (self, 1);
  if (is_known (self) && (self->outbox.length > 0 || !send_packed (self, answer)))
    g_queue_push_tail (&self->outbox, g_bytes_ref (answer));
  return TRUE;
}

static void
init_message (IrisWorkerProcess *self, IrisWireMessage *message, IrisWireType type)
{
  guint8 id[IRIS_WIRE_ID_SIZE] = { 0 };
  guint64 number = ++self->last_id;

  memcpy (id, &number, sizeof number);
  iris_wire_message_init (message, type, id);
}

/* A message without keys. @id: (nullable): where its request id is stored. */
static void
send_simple (IrisWorkerProcess *self, IrisWireType type, guint8 *id)
{
  IrisWireMessage message;

  init_message (self, &message, type);
  send_message (self, &message, NULL);
  if (id != NULL)
    memcpy (id, message.request_id, sizeof message.request_id);
}

/* Its PONG says that irisd has read all answers so far. */
static void
send_ping (IrisWorkerProcess *self)
{
  send_simple (self, IRIS_WIRE_PING, self->ping);
  self->n_pinged = self->answers.length;
}

void
iris_worker_process_say (IrisWorkerProcess *self, IrisWireMessage *message)
{
  g_autoptr (GError) error = NULL;

  if (!send_message (self, message, &error))
    g_warning ("%s cannot be sent: %s", iris_wire_type_name (message->type), error->message);
}

/* Says what does not end a lease, if there is a connection. Returns whether there is. */
gboolean
iris_worker_process_say_of_lease (IrisWorkerProcess *self, IrisWireMessage *message)
{
  if (!is_known (self))
    return FALSE;
  iris_worker_process_say (self, message);
  return TRUE;
}

static void
send_ready (IrisWorkerProcess *self, guint capacity)
{
  g_autoptr (IrisWireServices) services = iris_wire_services_new (self->services->len);
  g_autoptr (GBytes) body = NULL;
  g_autoptr (GError) error = NULL;
  IrisWireMessage message;

  for (guint i = 0; i < self->services->len; i++)
    {
      const IrisWorkerProcessService *service = g_ptr_array_index (self->services, i);

      services->services[i].name = g_strdup (service->name);
      services->services[i].summary = g_strdup (service->summary);
    }
  body = iris_wire_services_encode (services, NULL, &error);
  init_message (self, &message, IRIS_WIRE_READY);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_CAPACITY, capacity);
  if (self->place >= 0)
    iris_wire_message_set_int (&message, IRIS_WIRE_KEY_PLACE, self->place);
  if (body != NULL)
    iris_wire_message_set_body (&message, g_bytes_get_data (body, NULL), g_bytes_get_size (body));
  if (body == NULL || !send_message (self, &message, &error))
    g_warning ("READY cannot be sent: %s", error->message);
}

/* Leases that are not to be held until @until are irisd's again. Stopping one runs the program's
 * code, which may do anything. */
static void
drop_leases (IrisWorkerProcess *self, gint64 until)
{
  g_autoptr (GPtrArray) leases = g_ptr_array_new_with_free_func (g_object_unref);
  GHashTableIter iter;
  gpointer lease;

  g_hash_table_iter_init (&iter, self->leases);
  while (g_hash_table_iter_next (&iter, NULL, &lease))
    {
      if (iris_lease_survives (lease, until))
        continue;
      iris_lease_forget_worker (lease);
      g_ptr_array_add (leases, g_object_ref (lease));
      g_hash_table_iter_remove (&iter);
    }
  for (guint i = 0; i < leases->len; i++)
    iris_lease_stop (g_ptr_array_index (leases, i));
}

static void
clear_messages (GQueue *queue)
{
  while (queue->length > 0)
    g_bytes_unref (g_queue_pop_head (queue));
}

static void
disconnect (IrisWorkerProcess *self)
{
  IrisClientLink *link = g_steal_pointer (&self->link);

  self->state = IRIS_WORKER_PROCESS_DISCONNECTED;
  iris_client_source_clear (&self->timer);
  clear_messages (&self->outbox);
  self->n_pinged = 0;
  if (link != NULL)
    iris_client_link_close (link, LINGER_MS);
}

/* Takes @error. */
static void
finish (IrisWorkerProcess *self, GError *error)
{
  g_autoptr (GTask) run = g_steal_pointer (&self->run);

  if (run == NULL)
    {
      g_clear_error (&error);
      return;
    }
  if (self->state == IRIS_WORKER_PROCESS_SERVING && error == NULL)
    send_simple (self, IRIS_WIRE_BYE, NULL);
  disconnect (self);
  drop_leases (self, G_MAXINT64);
  clear_messages (&self->answers);
  iris_client_source_clear (&self->cancel_source);
  if (error != NULL)
    g_task_return_error (run, error);
  else
    g_task_return_boolean (run, TRUE);
}

/* What irisd has not read when a connection ends is lost, and with it an answer. So the end is a
 * PING, and its PONG says that all has been read. */
static void
finish_if_drained (IrisWorkerProcess *self)
{
  if (!self->draining || g_hash_table_size (self->leases) > 0)
    return;
  if (self->state == IRIS_WORKER_PROCESS_SERVING)
    send_simple (self, IRIS_WIRE_PING, self->last_ping);
  else
    finish (self, NULL);
}

static void
take_pong (IrisWorkerProcess *self, const IrisWireMessage *pong)
{
  if (memcmp (pong->request_id, self->ping, sizeof self->ping) == 0)
    forget_answers (self, self->n_pinged);
  if (self->draining && g_hash_table_size (self->leases) == 0
      && memcmp (pong->request_id, self->last_ping, sizeof self->last_ping) == 0)
    finish (self, NULL);
}

/* Takes no more items, and ends when those that it has were answered. */
static void
drain (IrisWorkerProcess *self)
{
  self->draining = TRUE;
  if (self->state != IRIS_WORKER_PROCESS_SERVING)
    {
      finish (self, NULL);
      return;
    }
  send_ready (self, 0);
  finish_if_drained (self);
}

/* irisd has what is answered, or gets an error that it understands. */
void
iris_worker_process_settle (IrisWorkerProcess *self, IrisLease *lease, IrisWireMessage *message)
{
  g_autoptr (GError) error = NULL;
  IrisWireMessage failure;

  if (!g_hash_table_remove (self->leases, iris_lease_get_id (lease)))
    return;
  if (!send_answer (self, message, &error))
    {
      iris_wire_message_init (&failure, IRIS_WIRE_FAIL, message->request_id);
      iris_wire_message_set_string (&failure, IRIS_WIRE_KEY_MESSAGE, error->message, -1);
      send_answer (self, &failure, NULL);
    }
  finish_if_drained (self);
}

static gboolean
on_reconnect (gpointer data)
{
  g_autoptr (IrisWorkerProcess) self = g_object_ref (data);

  drop_leases (self, g_get_monotonic_time ());
  if (self->run != NULL && self->state == IRIS_WORKER_PROCESS_DISCONNECTED)
    connect_to_irisd (self);
  return G_SOURCE_REMOVE;
}

static void
come_back_later (IrisWorkerProcess *self)
{
  disconnect (self);
  if (self->draining)
    {
      finish (self, NULL);
      return;
    }
  drop_leases (self, g_get_monotonic_time ());
  if (self->run == NULL || self->state != IRIS_WORKER_PROCESS_DISCONNECTED)
    return; /* the program has ended it */
  set_timer (self, self->pause_ms, on_reconnect);
  self->pause_ms = MIN (self->pause_ms * 2, LAST_PAUSE_MS);
}

static gboolean
on_tick (gpointer data)
{
  IrisWorkerProcess *self = data;
  GHashTableIter iter;
  gpointer lease;

  send_ping (self);
  g_hash_table_iter_init (&iter, self->leases);
  while (self->renew_leases && g_hash_table_iter_next (&iter, NULL, &lease))
    if (!g_cancellable_is_cancelled (iris_lease_get_cancellable (lease)))
      iris_lease_extend (lease);
  return G_SOURCE_CONTINUE;
}

/* Before it takes more, it asks for what it has from an earlier connection. */
static void
claim_leases (IrisWorkerProcess *self)
{
  GHashTableIter iter;
  gpointer lease;

  send_ready (self, 0);
  g_hash_table_iter_init (&iter, self->leases);
  while (g_hash_table_iter_next (&iter, NULL, &lease))
    iris_lease_claim (lease, self->renew_leases);
  for (GList *bytes = self->answers.head; bytes != NULL; bytes = bytes->next)
    g_queue_push_tail (&self->outbox, g_bytes_ref (bytes->data));
  flush (self);
}

static void
take_welcome (IrisWorkerProcess *self, const IrisWireMessage *message)
{
  self->encoder.limits.max_body = message->max_body;
  self->state = IRIS_WORKER_PROCESS_REGISTERING;
  if (g_hash_table_size (self->leases) > 0 || self->answers.length > 0)
    claim_leases (self);
  send_ready (self, self->capacity);
}

static void
take_registered (IrisWorkerProcess *self, const IrisWireMessage *message)
{
  guint64 interval = MIN (message->lease_ms, message->silence_ms) / 3;

  if (self->state != IRIS_WORKER_PROCESS_REGISTERING)
    return;
  self->state = IRIS_WORKER_PROCESS_SERVING;
  self->pause_ms = FIRST_PAUSE_MS;
  set_timer (self, (guint) CLAMP (interval, 1, G_MAXINT), on_tick);
  if (self->draining)
    finish_if_drained (self);
}

static const IrisWorkerProcessService *
find_service (IrisWorkerProcess *self, const char *name)
{
  for (guint i = 0; i < self->services->len; i++)
    {
      const IrisWorkerProcessService *service = g_ptr_array_index (self->services, i);

      if (g_str_equal (service->name, name))
        return service;
    }
  return NULL;
}

static void
take_lease (IrisWorkerProcess *self, const IrisWireMessage *message)
{
  g_autoptr (IrisLease) lease = iris_lease_new_from_wire (self, message);
  const IrisWorkerProcessService *service = find_service (self, iris_lease_get_service (lease));

  g_hash_table_insert (self->leases, (gpointer) iris_lease_get_id (lease), lease);
  if (service != NULL)
    service->func (self, lease, service->user_data);
  else
    iris_lease_fail (
        lease, "this worker does not serve the item's service; another worker gets the item", TRUE);
}

/* A grant of parts, or the end of a lease. */
static void
take_word_of_lease (IrisWorkerProcess *self, const IrisWireMessage *message)
{
  IrisLease *lease = g_hash_table_lookup (self->leases, message->request_id);

  if (lease == NULL)
    return;
  g_object_ref (lease);
  if (message->type == IRIS_WIRE_PART)
    iris_lease_grant (lease, message->parts);
  else
    iris_lease_stop (lease);
  g_object_unref (lease);
}

static void
take_error (IrisWorkerProcess *self, const IrisWireMessage *message)
{
  if (message->code == IRIS_WIRE_ERROR_HELLO_REQUIRED || message->type == IRIS_WIRE_BUSY)
    come_back_later (self);
  else if (self->state == IRIS_WORKER_PROCESS_SERVING)
    take_word_of_lease (self, message); /* one that has ended meanwhile */
  else
    {
      g_autofree char *reason = iris_wire_string_dup (&message->message);

      finish (self, iris_client_error_new_from_wire (message->code, reason, -1, -1));
    }
}

static void
take_message (IrisWorkerProcess *self, const IrisWireMessage *message)
{
  switch (message->type)
    {
    case IRIS_WIRE_WELCOME:
      take_welcome (self, message);
      break;
    case IRIS_WIRE_ENROLLED:
      take_registered (self, message);
      break;
    case IRIS_WIRE_LEASE:
      take_lease (self, message);
      break;
    case IRIS_WIRE_STOP:
    case IRIS_WIRE_PART:
      take_word_of_lease (self, message);
      break;
    case IRIS_WIRE_PONG:
      take_pong (self, message);
      break;
    case IRIS_WIRE_ERROR_REPLY:
    case IRIS_WIRE_BUSY:
      take_error (self, message);
      break;
    default:
      break;
    }
}

static void
on_message (const IrisWireFrame *frames, guint n_frames, gpointer user_data)
{
  g_autoptr (IrisWorkerProcess) self = g_object_ref (user_data);
  g_autoptr (GError) error = NULL;
  IrisWireLimits limits = *iris_wire_limits_default ();
  IrisWireMessage message;

  /* What irisd leases was within its limits, whatever those are. */
  limits.max_body = G_MAXSIZE;
  limits.max_header = limits.max_string = G_MAXINT;
  limits.max_args = G_MAXINT;
  if (iris_wire_decode (frames, n_frames, &limits, &message, &error))
    take_message (self, &message);
  else
    come_back_later (self);
}

static void
on_writable (gpointer user_data)
{
  flush (user_data);
}

static void
on_lost (IrisClientLinkLoss loss, gpointer user_data)
{
  g_autoptr (IrisWorkerProcess) self = g_object_ref (user_data);

  come_back_later (self);
}

static const IrisClientLinkFuncs link_funcs = { on_message, on_writable, on_lost };

static void watch_leases (IrisWorkerProcess *self);

static gboolean
on_lapse (gpointer data)
{
  g_autoptr (IrisWorkerProcess) self = g_object_ref (data);

  iris_client_source_clear (&self->timer);
  drop_leases (self, g_get_monotonic_time ());
  if (self->state == IRIS_WORKER_PROCESS_HANDSHAKE)
    watch_leases (self);
  return G_SOURCE_REMOVE;
}

/* An irisd that does not come back does not stop what has lost its lease. */
static void
watch_leases (IrisWorkerProcess *self)
{
  gint64 first = G_MAXINT64;
  GHashTableIter iter;
  gpointer lease;

  g_hash_table_iter_init (&iter, self->leases);
  while (g_hash_table_iter_next (&iter, NULL, &lease))
    first = MIN (first, iris_lease_get_until (lease));
  if (first != G_MAXINT64)
    set_timer (self, (guint) CLAMP ((first - g_get_monotonic_time ()) / 1000 + 1, 1, G_MAXINT),
               on_lapse);
}

/* Makes a connection, which ends in serving, or in the next attempt. */
static void
connect_to_irisd (IrisWorkerProcess *self)
{
  GError *error = NULL;
  g_autofree char *endpoint = iris_client_link_find_endpoint (self->address, &error);
  g_autofree char *name = NULL;
  IrisWireMessage hello;

  iris_client_source_clear (&self->timer);
  if (endpoint != NULL)
    self->link = iris_client_link_new (endpoint, self->context, &link_funcs, self, &error);
  if (self->link == NULL)
    {
      finish (self, error);
      return;
    }
  self->state = IRIS_WORKER_PROCESS_HANDSHAKE;
  name = self->name != NULL
             ? g_strdup (self->name)
             : g_strdup_printf ("%s %d",
                                g_get_prgname () != NULL ? g_get_prgname () : "libiris-client",
                                (int) getpid ());
  init_message (self, &hello, IRIS_WIRE_HELLO);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MIN, IRIS_WIRE_VERSION);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MAX, IRIS_WIRE_VERSION);
  iris_wire_message_set_string (&hello, IRIS_WIRE_KEY_NAME, name, -1);
  iris_worker_process_say (self, &hello);
  watch_leases (self);
}

enum
{
  PROP_ADDRESS = 1,
  PROP_NAME,
  PROP_CAPACITY,
  PROP_PLACE,
  PROP_RENEW_LEASES,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

static void
service_free (gpointer data)
{
  IrisWorkerProcessService *self = data;

  if (self->destroy != NULL)
    self->destroy (self->user_data);
  g_free (self->name);
  g_free (self->summary);
  g_free (self);
}

static guint
id_hash (gconstpointer id)
{
  guint64 number;

  memcpy (&number, (const guint8 *) id + 8, sizeof number);
  return g_int64_hash (&number);
}

static gboolean
id_equal (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, IRIS_WIRE_ID_SIZE) == 0;
}

static void
iris_worker_process_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  IrisWorkerProcess *self = IRIS_WORKER_PROCESS (object);

  switch (id)
    {
    case PROP_ADDRESS:
      self->address = g_value_dup_string (value);
      break;
    case PROP_NAME:
      g_free (self->name);
      self->name = g_value_dup_string (value);
      break;
    case PROP_CAPACITY:
      self->capacity = g_value_get_uint (value);
      break;
    case PROP_PLACE:
      self->place = g_value_get_int (value);
      break;
    case PROP_RENEW_LEASES:
      self->renew_leases = g_value_get_boolean (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
iris_worker_process_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  IrisWorkerProcess *self = IRIS_WORKER_PROCESS (object);

  switch (id)
    {
    case PROP_ADDRESS:
      g_value_set_string (value, self->address);
      break;
    case PROP_NAME:
      g_value_set_string (value, self->name);
      break;
    case PROP_CAPACITY:
      g_value_set_uint (value, self->capacity);
      break;
    case PROP_PLACE:
      g_value_set_int (value, self->place);
      break;
    case PROP_RENEW_LEASES:
      g_value_set_boolean (value, self->renew_leases);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
iris_worker_process_finalize (GObject *object)
{
  IrisWorkerProcess *self = IRIS_WORKER_PROCESS (object);

  /* A running worker is held by its task, so nothing is connected and nothing leased. */
  g_hash_table_unref (self->leases);
  g_ptr_array_unref (self->services);
  iris_wire_encoder_clear (&self->encoder);
  g_main_context_unref (self->context);
  g_free (self->address);
  g_free (self->name);
  G_OBJECT_CLASS (iris_worker_process_parent_class)->finalize (object);
}

static void
iris_worker_process_class_init (IrisWorkerProcessClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;

  object_class->set_property = iris_worker_process_set_property;
  object_class->get_property = iris_worker_process_get_property;
  object_class->finalize = iris_worker_process_finalize;

  /**
   * IrisWorkerProcess:address:
   *
   * Where irisd is: an endpoint, the directory of its sockets, or %NULL for the usual one.
   */
  properties[PROP_ADDRESS] = g_param_spec_string ("address", NULL, NULL, NULL,
                                                  flags | G_PARAM_CONSTRUCT_ONLY);
  /**
   * IrisWorkerProcess:name:
   *
   * As `irisctl workers` shows it; %NULL for the program's name and process id. Set it before the
   * worker runs.
   */
  properties[PROP_NAME] = g_param_spec_string ("name", NULL, NULL, NULL, flags);
  /**
   * IrisWorkerProcess:capacity:
   *
   * How many items it takes at once. Set it before the worker runs.
   */
  properties[PROP_CAPACITY] = g_param_spec_uint ("capacity", NULL, NULL, 1, G_MAXUINT, 1,
                                                 flags | G_PARAM_CONSTRUCT);
  /**
   * IrisWorkerProcess:place:
   *
   * The id of the place that it works at, or -1: then it is that of the socket, if it has one. Set
   * it before the worker runs.
   */
  properties[PROP_PLACE] = g_param_spec_int ("place", NULL, NULL, -1, G_MAXINT, -1,
                                             flags | G_PARAM_CONSTRUCT);
  /**
   * IrisWorkerProcess:renew-leases:
   *
   * Whether leases are extended as long as they are not answered. If not, an item that takes longer
   * than a lease goes to another worker unless [method@IrisClient.Lease.extend] is called in time.
   */
  properties[PROP_RENEW_LEASES] = g_param_spec_boolean ("renew-leases", NULL, NULL, TRUE,
                                                        flags | G_PARAM_CONSTRUCT);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
iris_worker_process_init (IrisWorkerProcess *self)
{
  self->context = g_main_context_ref_thread_default ();
  self->services = g_ptr_array_new_with_free_func (service_free);
  self->leases = g_hash_table_new (id_hash, id_equal);
  self->pause_ms = FIRST_PAUSE_MS;
  iris_wire_encoder_init (&self->encoder, NULL);
  g_queue_init (&self->outbox);
  g_queue_init (&self->answers);
}

/**
 * iris_worker_process_new:
 * @endpoint_or_dir: (nullable): where irisd is, see [property@IrisClient.WorkerProcess:address]
 *
 * Makes a worker that belongs to the thread-default context. It does nothing before it is run.
 *
 * Returns: (transfer full): a worker
 */
IrisWorkerProcess *
iris_worker_process_new (const char *endpoint_or_dir)
{
  return g_object_new (IRIS_TYPE_WORKER_PROCESS, "address", endpoint_or_dir, NULL);
}

/**
 * iris_worker_process_add_service:
 * @self: a worker that does not run
 * @name: how items name it
 * @summary: (nullable): one line for people
 * @func: (scope notified) (closure user_data) (destroy destroy): does the items
 * @user_data: for @func
 * @destroy: (nullable): frees @user_data with the worker
 *
 * Adds a service.
 */
void
iris_worker_process_add_service (IrisWorkerProcess *self,
                                 const char *name,
                                 const char *summary,
                                 IrisWorkerProcessFunc func,
                                 gpointer user_data,
                                 GDestroyNotify destroy)
{
  IrisWorkerProcessService *service;

  g_return_if_fail (IRIS_IS_WORKER_PROCESS (self));
  g_return_if_fail (self->run == NULL);
  g_return_if_fail (name != NULL && *name != '\0');
  g_return_if_fail (func != NULL);
  g_return_if_fail (find_service (self, name) == NULL);

  service = g_new0 (IrisWorkerProcessService, 1);
  service->name = g_strdup (name);
  service->summary = g_strdup (summary);
  service->func = func;
  service->user_data = user_data;
  service->destroy = destroy;
  g_ptr_array_add (self->services, service);
}

static gboolean
on_cancelled (GCancellable *cancellable, gpointer data)
{
  drain (data);
  return G_SOURCE_REMOVE;
}

/**
 * iris_worker_process_run_async:
 * @self: a worker that does not run
 * @cancellable: (nullable): ends it
 * @callback: called when it has ended
 * @user_data: for @callback
 *
 * Serves items until @cancellable is cancelled: then it takes no more, waits until those that it
 * has were answered, and ends well. When there is no irisd, or it goes, the worker waits for one to
 * come.
 */
void
iris_worker_process_run_async (IrisWorkerProcess *self,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer user_data)
{
  g_return_if_fail (IRIS_IS_WORKER_PROCESS (self));
  g_return_if_fail (self->run == NULL);
  g_return_if_fail (self->services->len > 0);

  self->run = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (self->run, iris_worker_process_run_async);
  g_task_set_check_cancellable (self->run, FALSE);
  self->draining = FALSE;
  memset (self->last_ping, 0xff, sizeof self->last_ping);
  self->pause_ms = FIRST_PAUSE_MS;
  if (cancellable != NULL)
    {
      self->cancel_source = g_cancellable_source_new (cancellable);
      g_source_set_callback (self->cancel_source, G_SOURCE_FUNC (on_cancelled), self, NULL);
      g_source_attach (self->cancel_source, self->context);
    }
  connect_to_irisd (self);
}

/**
 * iris_worker_process_run_finish:
 * @error: return location for an error of the domain %IRIS_CLIENT_ERROR
 *
 * Returns: whether it ended because it was cancelled; otherwise irisd refuses it
 */
gboolean
iris_worker_process_run_finish (IrisWorkerProcess *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

/**
 * iris_worker_process_is_serving:
 *
 * Returns: whether irisd knows the worker, and leases it items
 */
gboolean
iris_worker_process_is_serving (IrisWorkerProcess *self)
{
  g_return_val_if_fail (IRIS_IS_WORKER_PROCESS (self), FALSE);

  return self->state == IRIS_WORKER_PROCESS_SERVING && !self->draining;
}
