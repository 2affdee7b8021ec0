/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The thread of an engine that alone talks to libnats; see irisd-engine-io.h.
 *
 * Why a thread: libnats writes in the caller's thread, and waits there if the socket is full; with
 * an event loop it does not, but over TLS it still waits in a read and in a write for the rest of a
 * record (natsSock_Read, natsSock_Write), with the lock of the connection held. So its event loop
 * is this thread, which may wait, and the owner meets it only under a lock that is held for the
 * length of a copy.
 *
 * Why no reconnect of libnats: it ends by itself after two authorization errors, and buffers what
 * is sent meanwhile. Here each connection is new, the routes are subscribed again, and the owner
 * knows what had no answer.
 *
 * Deliveries come through synchronous subscriptions, which are emptied after each read: no thread
 * of libnats is between, and there is a lock for a read and not for a message. These keep "no
 * responders" to themselves: natsSubscription_NextMsg() says that one came, and not for which
 * request. Of a pull and of publications that is enough. The answers to other requests come through
 * libnats' one thread for deliveries.
 *
 * Shared, under the lock: commands, events, asleep, stopping, closed. The callbacks of libnats
 * (attach, read, write, detach, error, closed) come from this thread, its timer (a PING makes it
 * want to write) and its thread for errors; the last one posts "closed" behind all errors of a
 * connection, and the thread waits for that before it destroys the connection.
 */
#include "daemon/cluster/engine/irisd-engine-io.h"

#include "daemon/config/irisd-cluster-config.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECT_MS    2000
#define DRAIN_LOOK_MS 20
/* libnats pings; a connection without any byte for so long is dead. */
#define PING_MS    5000
#define SILENCE_US (G_USEC_PER_SEC * 15)
/* Between rounds of all servers. */
#define FIRST_DELAY_MS 100
#define MOST_DELAY_MS  2000
/* The most servers to know: those of the configuration and those that servers tell. */
#define MAX_SERVERS 64

struct _IrisdEngineIo
{
  void (*ready) (gpointer user_data);
  gpointer user_data;
  natsOptions *options;
  GPtrArray *servers; /* URLs */
  GThread *thread;
  int wake_fd;

  GMutex lock;
  GCond closed_cond;
  GArray *commands;
  GArray *events;
  gboolean asleep;
  gboolean stopping;
  gboolean closed; /* libnats has told the last error of the connection */
  guint n_live;    /* subscriptions that it may still call back for */
  int fd;          /* of the connection, or -1 */
  gint64 read_at;  /* when bytes came last */

  _Atomic gsize n_events; /* also read without the lock */
  _Atomic gsize max_payload;
  _Atomic gboolean wants_write;

  /* of the thread, which sets it before libnats has threads */
  GThread *own;
  natsConnection *connection;
  GPtrArray *routes;
  guint n_ending; /* of these */
  GArray *doing;  /* commands, as they were taken */
  GArray *fresh;  /* events, not yet given */
  guint at;       /* of servers */
};

static void
wake (IrisdEngineIo *self)
{
  guint64 one = 1;

  while (write (self->wake_fd, &one, sizeof one) < 0 && errno == EINTR)
    ;
}

/* ---- Events ---- */

void
irisd_io_event_clear (IrisdIoEvent *event)
{
  if (event->kind == IRISD_IO_MESSAGE || event->kind == IRISD_IO_UNSENT)
    natsMsg_Destroy (event->what);
  else
    g_free (event->what);
  event->what = NULL;
}

static void
post (IrisdEngineIo *self, const IrisdIoEvent *events, guint n_events)
{
  gboolean first;

  g_mutex_lock (&self->lock);
  first = self->events->len == 0;
  g_array_append_vals (self->events, events, n_events);
  atomic_store_explicit (&self->n_events, self->events->len, memory_order_release);
  g_mutex_unlock (&self->lock);
  if (first)
    self->ready (self->user_data);
}

static void
post_text (IrisdEngineIo *self, IrisdIoEventKind kind, char *text)
{
  IrisdIoEvent event = { .kind = kind, .what = text };

  post (self, &event, 1);
}

static void
give_fresh (IrisdEngineIo *self)
{
  if (self->fresh->len > 0)
    post (self, (IrisdIoEvent *) (gpointer) self->fresh->data, self->fresh->len);
  g_array_set_size (self->fresh, 0);
}

static void
add_fresh (IrisdEngineIo *self, IrisdIoEventKind kind, IrisdIoRoute *route, gpointer what)
{
  IrisdIoEvent event = { kind, route, what };

  g_array_append_val (self->fresh, event);
}

static char *
describe_error (natsStatus status)
{
  const char *detail = nats_GetLastError (NULL);

  return detail && *detail ? g_strdup_printf ("%s: %s", natsStatus_GetText (status), detail)
                           : g_strdup (natsStatus_GetText (status));
}

/* ---- Callbacks of libnats ---- */

static natsStatus
attach (void **data, void *loop, natsConnection *connection, natsSock socket)
{
  IrisdEngineIo *self = loop;

  g_mutex_lock (&self->lock);
  self->fd = (int) socket;
  g_mutex_unlock (&self->lock);
  *data = self;
  return NATS_OK;
}

/* When reading ends, libnats is about to close the socket: in another thread than this one only if
 * it gives up. The shutdown ends a wait of this thread inside of a TLS record. */
static natsStatus
want_read (void *data, bool add)
{
  IrisdEngineIo *self = data;

  g_mutex_lock (&self->lock);
  if (!add && self->fd >= 0)
    {
      shutdown (self->fd, SHUT_RDWR);
      self->fd = -1;
    }
  g_mutex_unlock (&self->lock);
  return NATS_OK;
}

static natsStatus
want_write (void *data, bool add)
{
  IrisdEngineIo *self = data;

  atomic_store_explicit (&self->wants_write, add, memory_order_release);
  if (add && g_thread_self () != self->own)
    wake (self);
  return NATS_OK;
}

static natsStatus
detach (void *data)
{
  return NATS_OK;
}

static void
on_error (natsConnection *connection, natsSubscription *subscription, natsStatus status, void *data)
{
  const char *detail = NULL;

  natsConnection_GetLastError (connection, &detail);
  post_text (data, IRISD_IO_FAILED,
             g_strdup_printf ("%s%s%s", natsStatus_GetText (status), detail && *detail ? ": " : "",
                              detail ? detail : ""));
}

static void
on_closed (natsConnection *connection, void *data)
{
  IrisdEngineIo *self = data;

  g_mutex_lock (&self->lock);
  self->closed = TRUE;
  g_cond_signal (&self->closed_cond);
  g_mutex_unlock (&self->lock);
}

/* ---- Routes ---- */

static void
on_message (natsConnection *connection,
            natsSubscription *subscription,
            natsMsg *message,
            void *data)
{
  IrisdIoRoute *route = data;
  IrisdIoEvent event = { IRISD_IO_MESSAGE, route, message };

  post (route->io, &event, 1);
}

static void
on_complete (void *data)
{
  IrisdIoRoute *route = data;
  IrisdEngineIo *self = route->io;

  g_mutex_lock (&self->lock);
  route->n_live--;
  self->n_live--;
  g_cond_signal (&self->closed_cond);
  /* Under the lock: behind it the engine may be gone. */
  wake (self);
  g_mutex_unlock (&self->lock);
}

static natsStatus
subscribe_in_batches (IrisdEngineIo *self, IrisdIoRoute *route)
{
  natsStatus status = natsConnection_SubscribeSync (&route->subscription, self->connection,
                                                    route->subject);

  return status == NATS_OK ? natsSubscription_SetPendingLimits (route->subscription, -1, -1)
                           : status;
}

static natsStatus
subscribe_singly (IrisdEngineIo *self, IrisdIoRoute *route)
{
  natsStatus status;

  /* It is counted first: it may end at any time. */
  g_mutex_lock (&self->lock);
  route->n_live++;
  self->n_live++;
  g_mutex_unlock (&self->lock);
  status = natsConnection_Subscribe (&route->subscription, self->connection, route->subject,
                                     on_message, route);
  if (status == NATS_OK)
    status = natsSubscription_SetOnCompleteCB (route->subscription, on_complete, route);
  if (status == NATS_OK)
    return natsSubscription_SetPendingLimits (route->subscription, -1, -1);
  g_clear_pointer (&route->subscription, natsSubscription_Destroy);
  g_mutex_lock (&self->lock);
  route->n_live--;
  self->n_live--;
  g_mutex_unlock (&self->lock);
  return status;
}

static void
subscribe (IrisdEngineIo *self, IrisdIoRoute *route)
{
  natsStatus status = route->in_batches ? subscribe_in_batches (self, route)
                                        : subscribe_singly (self, route);

  /* Without a connection it is subscribed with the next one. */
  if (status != NATS_OK)
    add_fresh (
        self, IRISD_IO_FAILED, NULL,
        g_strdup_printf ("Subscribing to %s: %s", route->subject, natsStatus_GetText (status)));
}

/* All messages of a route; of one that is drained until libnats has. A synchronous subscription
 * stays valid after that. */
static void
empty_route (IrisdEngineIo *self, IrisdIoRoute *route)
{
  const gboolean drained = route->ending
                           && natsSubscription_DrainCompletionStatus (route->subscription)
                                  != NATS_ILLEGAL_STATE;
  uint64_t n_waiting = 0;

  natsSubscription_QueuedMsgs (route->subscription, &n_waiting);
  while (n_waiting > 0 || route->ending)
    {
      natsMsg *message = NULL;
      natsStatus status = natsSubscription_NextMsg (&message, route->subscription, 0);
      if (status == NATS_OK)
        add_fresh (self, IRISD_IO_MESSAGE, route, message);
      else if (status == NATS_NO_RESPONDERS)
        add_fresh (self, IRISD_IO_NO_RESPONDERS, route, NULL);
      else
        break;
      n_waiting -= n_waiting > 0;
    }
  if (drained || (route->ending && !natsSubscription_IsValid (route->subscription)))
    g_clear_pointer (&route->subscription, natsSubscription_Destroy);
}

static void
empty_routes (IrisdEngineIo *self)
{
  for (guint i = 0; i < self->routes->len; i++)
    {
      IrisdIoRoute *route = g_ptr_array_index (self->routes, i);
      if (route->in_batches && route->subscription)
        empty_route (self, route);
    }
  give_fresh (self);
}

/* Gives back the routes that have ended and that libnats is through with. */
static void
sweep_routes (IrisdEngineIo *self)
{
  for (guint i = self->n_ending > 0 ? self->routes->len : 0; i-- > 0;)
    {
      IrisdIoRoute *route = g_ptr_array_index (self->routes, i);
      guint n_live;

      g_mutex_lock (&self->lock);
      n_live = route->n_live;
      g_mutex_unlock (&self->lock);
      if (!route->ending || n_live > 0 || (route->in_batches && route->subscription))
        continue;
      g_clear_pointer (&route->subscription, natsSubscription_Destroy);
      g_ptr_array_remove_index_fast (self->routes, i);
      self->n_ending--;
      add_fresh (self, IRISD_IO_ROUTE_ENDED, route, NULL);
    }
}

static void
end_route (IrisdEngineIo *self, IrisdIoRoute *route, gboolean drain)
{
  route->ending = TRUE;
  self->n_ending++;
  if (!route->subscription)
    return;
  if (!drain || natsSubscription_DrainTimeout (route->subscription, CONNECT_MS) != NATS_OK)
    g_clear_pointer (&route->subscription, natsSubscription_Destroy);
}

/* ---- Commands ---- */

static void
publish (IrisdEngineIo *self, natsMsg *message)
{
  natsStatus status = self->connection ? natsConnection_PublishMsg (self->connection, message)
                                       : NATS_CONNECTION_CLOSED;

  /* Without a connection the owner hears that, and does not need to hear it of each message. */
  if (status == NATS_OK || status == NATS_CONNECTION_CLOSED)
    natsMsg_Destroy (message);
  else
    add_fresh (self, IRISD_IO_UNSENT, NULL, message);
}

static void
obey (IrisdEngineIo *self, const IrisdIoCommand *command)
{
  IrisdIoRoute *route = command->what;

  switch (command->kind)
    {
    case IRISD_IO_PUBLISH:
      publish (self, command->what);
      return;
    case IRISD_IO_SUBSCRIBE:
      route->io = self;
      g_ptr_array_add (self->routes, route);
      if (self->connection)
        subscribe (self, route);
      return;
    case IRISD_IO_UNSUBSCRIBE:
    case IRISD_IO_DRAIN:
      end_route (self, route, command->kind == IRISD_IO_DRAIN);
      return;
    default:
      g_assert_not_reached ();
    }
}

/* Returns FALSE if the thread is to end. */
static gboolean
obey_all (IrisdEngineIo *self)
{
  gboolean go_on;
  GArray *taken;

  g_mutex_lock (&self->lock);
  self->asleep = FALSE;
  go_on = !self->stopping;
  taken = self->commands;
  self->commands = self->doing;
  self->doing = taken;
  g_mutex_unlock (&self->lock);
  for (guint i = 0; i < taken->len; i++)
    obey (self, &g_array_index (taken, IrisdIoCommand, i));
  g_array_set_size (taken, 0);
  sweep_routes (self);
  give_fresh (self);
  return go_on;
}

/* Sleeps until the socket, a command, a wish to write or the time. Returns whether the socket has
 * bytes. */
static gboolean
sleep_for (IrisdEngineIo *self, int timeout_ms)
{
  struct pollfd polled[2] = { { .fd = self->wake_fd, .events = POLLIN },
                              { .fd = -1, .events = POLLIN } };
  guint64 count;

  g_mutex_lock (&self->lock);
  self->asleep = self->commands->len == 0 && !self->stopping;
  if (!self->asleep)
    timeout_ms = 0;
  polled[1].fd = self->fd;
  g_mutex_unlock (&self->lock);
  if (atomic_load_explicit (&self->wants_write, memory_order_acquire))
    polled[1].events |= POLLOUT;
  poll (polled, 2, timeout_ms);
  if (polled[0].revents)
    while (read (self->wake_fd, &count, sizeof count) < 0 && errno == EINTR)
      ;
  return (polled[1].revents & ~POLLOUT) != 0;
}

/* ---- The connection ---- */

static gboolean
knows_server (IrisdEngineIo *self, const char *url)
{
  return g_ptr_array_find_with_equal_func (self->servers, url, g_str_equal, NULL);
}

/* Servers tell of the others of their cluster, without the name and password of a URL. */
static void
learn_servers (IrisdEngineIo *self)
{
  char **servers = NULL;
  int n_servers = 0;

  if (natsConnection_GetDiscoveredServers (self->connection, &servers, &n_servers) != NATS_OK)
    return;
  for (int i = 0; i < n_servers; i++)
    {
      if (self->servers->len < MAX_SERVERS && !knows_server (self, servers[i]))
        g_ptr_array_add (self->servers, g_strdup (servers[i]));
      free (servers[i]);
    }
  free (servers);
}

static gboolean
connect_next (IrisdEngineIo *self)
{
  const char *url = g_ptr_array_index (self->servers, self->at % self->servers->len);
  char used[256] = "";
  natsStatus status;

  self->at++;
  self->closed = FALSE;
  atomic_store_explicit (&self->wants_write, FALSE, memory_order_relaxed);
  status = natsOptions_SetURL (self->options, url);
  if (status == NATS_OK)
    status = natsConnection_Connect (&self->connection, self->options);
  if (status != NATS_OK)
    {
      g_autofree char *why = describe_error (status);
      g_autofree char *shown = irisd_cluster_config_hide_secrets (url);
      post_text (self, IRISD_IO_FAILED, g_strdup_printf ("Connecting to %s: %s", shown, why));
      self->connection = NULL;
      return FALSE;
    }
  learn_servers (self);
  atomic_store_explicit (&self->max_payload,
                         (gsize) MAX (natsConnection_GetMaxPayload (self->connection), 0),
                         memory_order_relaxed);
  for (guint i = 0; i < self->routes->len; i++)
    {
      IrisdIoRoute *route = g_ptr_array_index (self->routes, i);
      if (!route->ending)
        subscribe (self, route);
    }
  natsConnection_GetConnectedUrl (self->connection, used, sizeof used);
  add_fresh (self, IRISD_IO_CONNECTED, NULL, g_strdup (used));
  give_fresh (self);
  return TRUE;
}

static void
disconnect (IrisdEngineIo *self, const char *why)
{
  /* It may be a text of the connection. */
  char *copy = g_strdup (why);

  natsConnection_Close (self->connection);
  for (guint i = 0; i < self->routes->len; i++)
    {
      IrisdIoRoute *route = g_ptr_array_index (self->routes, i);
      g_clear_pointer (&route->subscription, natsSubscription_Destroy);
    }
  g_mutex_lock (&self->lock);
  while (!self->closed || self->n_live > 0)
    g_cond_wait (&self->closed_cond, &self->lock);
  self->fd = -1;
  g_mutex_unlock (&self->lock);
  g_clear_pointer (&self->connection, natsConnection_Destroy);
  add_fresh (self, IRISD_IO_DISCONNECTED, NULL, copy);
  give_fresh (self);
}

static gboolean
is_silent (IrisdEngineIo *self)
{
  gint64 now = g_get_monotonic_time ();
  gboolean silent;

  g_mutex_lock (&self->lock);
  silent = now - self->read_at > SILENCE_US;
  g_mutex_unlock (&self->lock);
  return silent;
}

static void
note_read (IrisdEngineIo *self)
{
  gint64 now = g_get_monotonic_time ();

  g_mutex_lock (&self->lock);
  self->read_at = now;
  g_mutex_unlock (&self->lock);
}

/* Works until the connection or the engine ends. */
static void
serve (IrisdEngineIo *self)
{
  const char *why = NULL;

  note_read (self);
  for (;;)
    {
      gboolean go_on = obey_all (self);
      if (atomic_load_explicit (&self->wants_write, memory_order_acquire))
        natsConnection_ProcessWriteEvent (self->connection);
      if (!go_on)
        break;
      /* The end of a drain wakes nothing. */
      if (sleep_for (self, self->n_ending > 0 ? DRAIN_LOOK_MS : 1000))
        {
          note_read (self);
          natsConnection_ProcessReadEvent (self->connection);
        }
      empty_routes (self);
      if (natsConnection_IsClosed (self->connection))
        {
          natsConnection_GetLastError (self->connection, &why);
          break;
        }
      if (is_silent (self))
        {
          why = "the server is silent";
          break;
        }
    }
  disconnect (self, why && *why ? why : "the connection was closed");
}

static gpointer
run (gpointer data)
{
  IrisdEngineIo *self = data;
  guint delay_ms = FIRST_DELAY_MS, n_failures = 0;

  self->own = g_thread_self ();
  while (obey_all (self))
    {
      if (connect_next (self))
        {
          serve (self);
          delay_ms = FIRST_DELAY_MS;
          n_failures = 0;
        }
      else if (++n_failures % self->servers->len == 0)
        {
          gint64 until;
          delay_ms = MIN (delay_ms * 2, MOST_DELAY_MS);
          until = g_get_monotonic_time ()
                  + g_random_int_range ((gint32) delay_ms / 2, (gint32) delay_ms) * 1000;
          while (obey_all (self) && g_get_monotonic_time () < until)
            sleep_for (self, (int) ((until - g_get_monotonic_time ()) / 1000) + 1);
        }
    }
  nats_ReleaseThreadMemory ();
  return NULL;
}

/* ---- Made and freed ---- */

/* The user of the first URL is the user of all servers. */
static natsStatus
set_user (natsOptions *options, const char *url)
{
  g_autoptr (GUri) uri = g_uri_parse (url, G_URI_FLAGS_HAS_PASSWORD, NULL);

  if (!uri || !g_uri_get_user (uri) || !g_uri_get_password (uri))
    return NATS_OK;
  return natsOptions_SetUserInfo (options, g_uri_get_user (uri), g_uri_get_password (uri));
}

static natsStatus
set_identity (natsOptions *nats, const IrisdEngineOptions *options, const char *url)
{
  natsStatus status = set_user (nats, url);

  if (status == NATS_OK && options->credentials)
    status = natsOptions_SetUserCredentialsFromFiles (nats, options->credentials, NULL);
  if (status == NATS_OK && options->nkey)
    status = natsOptions_SetNKeyFromSeed (nats, options->nkey, options->nkey_seed);
  if (status == NATS_OK && (options->tls_ca || options->tls_cert))
    status = natsOptions_SetSecure (nats, true);
  if (status == NATS_OK && options->tls_ca)
    status = natsOptions_LoadCATrustedCertificates (nats, options->tls_ca);
  if (status == NATS_OK && options->tls_cert)
    status = natsOptions_LoadCertificatesChain (nats, options->tls_cert, options->tls_key);
  if (status == NATS_OK && options->name)
    status = natsOptions_SetName (nats, options->name);
  return status;
}

static natsStatus
set_behaviour (IrisdEngineIo *self, natsOptions *nats)
{
  natsStatus status = natsOptions_SetAllowReconnect (nats, false);

  if (status == NATS_OK)
    status = natsOptions_SetTimeout (nats, CONNECT_MS);
  if (status == NATS_OK)
    status = natsOptions_SetPingInterval (nats, PING_MS);
  if (status == NATS_OK)
    /* This thread looks for silence: libnats would close the connection from its timer's thread. */
    status = natsOptions_SetMaxPingsOut (nats, G_MAXINT / 2);
  if (status == NATS_OK)
    /* With an event loop this writes nothing: it asks for a turn to write. */
    status = natsOptions_SetSendAsap (nats, true);
  if (status == NATS_OK)
    /* One thread for all subscriptions, and not one for each. */
    status = natsOptions_UseGlobalMessageDelivery (nats, true);
  if (status == NATS_OK)
    status = natsOptions_SetIOBufSize (nats, 64 * 1024);
  if (status == NATS_OK)
    status = natsOptions_SetEventLoop (nats, self, attach, want_read, want_write, detach);
  if (status == NATS_OK)
    status = natsOptions_SetErrorHandler (nats, on_error, self);
  if (status == NATS_OK)
    status = natsOptions_SetClosedCB (nats, on_closed, self);
  return status;
}

static gboolean
read_urls (IrisdEngineIo *self, const char *urls, GError **error)
{
  g_auto (GStrv) list = g_strsplit (urls ? urls : "", ",", MAX_SERVERS);

  for (char **url = list; *url; url++)
    if (*g_strstrip (*url) && !knows_server (self, *url))
      g_ptr_array_add (self->servers, g_strdup (*url));
  if (self->servers->len == 0)
    {
      g_set_error (error, IRISD_ENGINE_ERROR, IRISD_ENGINE_ERROR_OPTIONS,
                   "The URL of the cluster is empty: write one as nats://host:4222");
      return FALSE;
    }
  /* Not all nodes begin at the first server. */
  self->at = (guint) g_random_int_range (0, (gint32) self->servers->len);
  return TRUE;
}

static gboolean
make_options (IrisdEngineIo *self, const IrisdEngineOptions *options, GError **error)
{
  natsStatus status;

  if (!read_urls (self, options->url, error))
    return FALSE;
  if (!options->nkey != !options->nkey_seed || !options->tls_cert != !options->tls_key)
    {
      g_set_error (
          error, IRISD_ENGINE_ERROR, IRISD_ENGINE_ERROR_OPTIONS,
          "A key and its other half are needed: nkey with its seed, certificate with its key");
      return FALSE;
    }
  status = natsOptions_Create (&self->options);
  if (status == NATS_OK)
    status = set_behaviour (self, self->options);
  if (status == NATS_OK)
    status = set_identity (self->options, options, g_ptr_array_index (self->servers, 0));
  for (guint i = 0; status == NATS_OK && i < self->servers->len; i++)
    status = natsOptions_SetURL (self->options, g_ptr_array_index (self->servers, i));
  if (status != NATS_OK)
    {
      g_autofree char *why = describe_error (status);
      g_set_error (error, IRISD_ENGINE_ERROR, IRISD_ENGINE_ERROR_OPTIONS,
                   "An option of the connection to NATS is wrong: %s", why);
      return FALSE;
    }
  return TRUE;
}

IrisdEngineIo *
irisd_engine_io_new (const IrisdEngineOptions *options,
                     void (*ready) (gpointer user_data),
                     gpointer user_data,
                     GError **error)
{
  IrisdEngineIo *self = g_new0 (IrisdEngineIo, 1);

  self->ready = ready;
  self->user_data = user_data;
  self->servers = g_ptr_array_new_with_free_func (g_free);
  self->routes = g_ptr_array_new ();
  self->commands = g_array_new (FALSE, FALSE, sizeof (IrisdIoCommand));
  self->doing = g_array_new (FALSE, FALSE, sizeof (IrisdIoCommand));
  self->events = g_array_new (FALSE, FALSE, sizeof (IrisdIoEvent));
  self->fresh = g_array_new (FALSE, FALSE, sizeof (IrisdIoEvent));
  g_mutex_init (&self->lock);
  g_cond_init (&self->closed_cond);
  self->fd = -1;
  self->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (self->wake_fd < 0)
    {
      g_set_error (error, IRISD_ENGINE_ERROR, IRISD_ENGINE_ERROR_OPTIONS,
                   "The engine needs a descriptor: %s", g_strerror (errno));
      irisd_engine_io_free (self);
      return NULL;
    }
  if (!make_options (self, options, error))
    {
      irisd_engine_io_free (self);
      return NULL;
    }
  return self;
}

void
irisd_engine_io_start (IrisdEngineIo *self)
{
  self->thread = g_thread_new ("irisd-nats", run, self);
}

void
irisd_engine_io_free (IrisdEngineIo *self)
{
  if (self->thread)
    {
      g_mutex_lock (&self->lock);
      self->stopping = TRUE;
      g_mutex_unlock (&self->lock);
      wake (self);
      g_thread_join (self->thread);
    }
  for (guint i = 0; i < self->events->len; i++)
    irisd_io_event_clear (&g_array_index (self->events, IrisdIoEvent, i));
  for (guint i = 0; i < self->commands->len; i++)
    {
      IrisdIoCommand *command = &g_array_index (self->commands, IrisdIoCommand, i);
      if (command->kind == IRISD_IO_PUBLISH)
        natsMsg_Destroy (command->what);
    }
  g_clear_pointer (&self->options, natsOptions_Destroy);
  if (self->wake_fd >= 0)
    close (self->wake_fd);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->closed_cond);
  g_array_unref (self->commands);
  g_array_unref (self->doing);
  g_array_unref (self->events);
  g_array_unref (self->fresh);
  g_ptr_array_unref (self->routes);
  g_ptr_array_unref (self->servers);
  g_free (self);
}

/* ---- The owner's side ---- */

void
irisd_engine_io_put (IrisdEngineIo *self, GArray *commands)
{
  gboolean asleep;

  g_mutex_lock (&self->lock);
  asleep = self->asleep;
  self->asleep = FALSE;
  g_array_append_vals (self->commands, commands->data, commands->len);
  g_mutex_unlock (&self->lock);
  g_array_set_size (commands, 0);
  if (asleep)
    wake (self);
}

void
irisd_engine_io_look (IrisdEngineIo *self)
{
  gint64 now = g_get_monotonic_time ();

  g_mutex_lock (&self->lock);
  if (self->fd >= 0 && now - self->read_at > SILENCE_US * 2)
    shutdown (self->fd, SHUT_RDWR);
  g_mutex_unlock (&self->lock);
}

gboolean
irisd_engine_io_has_events (IrisdEngineIo *self)
{
  return atomic_load_explicit (&self->n_events, memory_order_acquire) > 0;
}

void
irisd_engine_io_take (IrisdEngineIo *self, GArray **events)
{
  GArray *taken;

  g_mutex_lock (&self->lock);
  taken = self->events;
  self->events = *events;
  atomic_store_explicit (&self->n_events, 0, memory_order_relaxed);
  g_mutex_unlock (&self->lock);
  *events = taken;
}

gsize
irisd_engine_io_get_max_payload (IrisdEngineIo *self)
{
  return atomic_load_explicit (&self->max_payload, memory_order_relaxed);
}
