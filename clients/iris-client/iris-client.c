/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A program's connection to irisd: its properties, and which channel a call takes.
 *
 * The client asks irisd's front door once for the map of places. From then on a call without a hint
 * goes to the front door, one with a hint to the socket of its place; the connection to a place is
 * made when the first item goes there. Calls that come earlier wait until the map is there.
 *
 * When the front door is lost the map is lost with it. Channels to places are then retired: nothing
 * new goes there, but what they have may still come back. The next call connects again.
 *
 * Everything runs in the thread-default main context of the thread in which the client was made;
 * libzmq's own I/O thread moves the bytes and calls nothing of the program's.
 */
#include "iris-client-private.h"
#include "iris-client-error-private.h"
#include "iris-client-place-private.h"
#include "iris-request-private.h"

#include <string.h>

#define DEFAULT_CONNECT_TIMEOUT_MS 5000
#define DEFAULT_PING_INTERVAL_MS   1000
#define DEFAULT_PING_TIMEOUT_MS    10000
#define DEFAULT_BUSY_TIMEOUT_MS    60000
#define DEFAULT_MAX_OUTSTANDING    1000000

enum
{
  PROP_0,
  PROP_ADDRESS,
  PROP_CONNECTED,
  PROP_CONNECT_TIMEOUT,
  PROP_PING_INTERVAL,
  PROP_PING_TIMEOUT,
  PROP_BUSY_TIMEOUT,
  PROP_MAX_OUTSTANDING,
  PROP_WAIT_FOR_DAEMON,
  PROP_BUSY_REASON,
  PROP_ASKS_ONLY,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

/**
 * IrisClient:
 *
 * A program's connection to irisd.
 *
 * A client belongs to the main context that was the thread's default when it was made: call it
 * from there, and its callbacks come there. It starts no thread of its own, and many calls may be
 * under way at once; those that irisd has no room for wait in the client, in order. Whatever is
 * asked before the client is connected connects it.
 *
 * When irisd vanishes, each call that was sent ends with %IRIS_CLIENT_ERROR_DISCONNECTED (or
 * %IRIS_CLIENT_ERROR_TIMED_OUT if irisd is there and silent): its item may or may not have run.
 * Those that were not sent end with %IRIS_CLIENT_ERROR_NOT_CONNECTED. The next call connects anew.
 */
G_DEFINE_FINAL_TYPE (IrisClient, iris_client, G_TYPE_OBJECT)

static void iris_client_start (IrisClient *self);

/* Ends all calls that wait for the map. */
static void
iris_client_fail_unrouted (IrisClient *self, const GError *error)
{
  GQueue calls = self->unrouted;
  GList *link;

  g_queue_init (&self->unrouted);
  while ((link = g_queue_pop_head_link (&calls)) != NULL)
    iris_client_call_finish (link->data, NULL, error);
}

static void
iris_client_retire_channels (IrisClient *self)
{
  GHashTableIter iter;
  gpointer channel;

  for (guint i = self->retired->len; i > 0; i--)
    if (iris_client_channel_is_idle (g_ptr_array_index (self->retired, i - 1)))
      g_ptr_array_remove_index (self->retired, i - 1);
  g_hash_table_iter_init (&iter, self->channels);
  while (g_hash_table_iter_next (&iter, NULL, &channel))
    {
      g_hash_table_iter_steal (&iter);
      if (iris_client_channel_is_idle (channel))
        iris_client_channel_free (channel);
      else
        g_ptr_array_add (self->retired, channel);
    }
}

static void
iris_client_front_closed (IrisClientChannel *channel, const GError *error, gpointer user_data)
{
  g_autoptr (IrisClient) self = g_object_ref (user_data);
  gboolean was_connected = self->places != NULL;

  g_assert (channel == self->front);
  iris_client_channel_free (g_steal_pointer (&self->front));
  g_clear_pointer (&self->places, g_ptr_array_unref);
  iris_client_retire_channels (self);
  if (was_connected)
    g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_CONNECTED]);
  iris_client_fail_unrouted (self, error);
}

static void
iris_client_place_ready (IrisClientChannel *channel, gpointer user_data)
{
}

static void
iris_client_busy_changed (IrisClientChannel *channel, gpointer user_data)
{
  g_object_notify_by_pspec (user_data, properties[PROP_BUSY_REASON]);
}

static void
iris_client_place_closed (IrisClientChannel *channel, const GError *error, gpointer user_data)
{
  IrisClient *self = user_data;
  GHashTableIter iter;
  gpointer value;

  if (g_ptr_array_remove_fast (self->retired, channel))
    return;
  g_hash_table_iter_init (&iter, self->channels);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    if (value == channel)
      {
        g_hash_table_iter_remove (&iter);
        return;
      }
}

static const IrisClientChannelFuncs place_funcs = {
  .ready = iris_client_place_ready,
  .closed = iris_client_place_closed,
  .busy = iris_client_busy_changed,
};

static IrisClientChannel *
iris_client_channel_to (IrisClient *self, IrisClientPlace *place)
{
  gpointer key = GINT_TO_POINTER (place->id);
  IrisClientChannel *channel = g_hash_table_lookup (self->channels, key);

  if (channel == NULL)
    {
      channel = iris_client_channel_new (place->endpoint, &self->settings, &place_funcs, self);
      g_hash_table_insert (self->channels, key, channel);
    }
  return channel;
}

/* Finds the place that the hint of @call names. */
static IrisClientPlace *
iris_client_place_of (IrisClient *self, IrisClientCall *call, GError **error)
{
  IrisRequest *request = call->request;
  IrisClientPlace *place = iris_client_places_find (self->places, request->place,
                                                    request->place_name);
  g_autofree char *known = NULL;
  g_autofree char *id = NULL;

  if (place != NULL)
    return place;
  known = iris_client_places_describe (self->places);
  id = g_strdup_printf ("%d", request->place);
  g_set_error (error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_NO_SUCH_PLACE,
               "there is no place %s; irisd has %s",
               request->place_name != NULL ? request->place_name : id, known);
  return NULL;
}

/* Gives @call to its channel, or ends it. Only when the map is there. */
static void
iris_client_route (IrisClient *self, IrisClientCall *call)
{
  IrisRequest *request = call->request;
  g_autoptr (GError) error = NULL;
  IrisClientPlace *place;

  if (call->type == IRIS_WIRE_HELLO)
    iris_client_call_finish (call, NULL, NULL);
  else if (request == NULL || (request->place < 0 && request->place_name == NULL))
    iris_client_channel_push (self->front, call);
  else if ((place = iris_client_place_of (self, call, &error)) != NULL)
    {
      call->place = place->id;
      iris_client_channel_push (iris_client_channel_to (self, place), call);
    }
  else
    iris_client_call_finish (call, NULL, error);
}

static void
iris_client_mapped (IrisClientCall *call, const IrisWireMessage *answer, const GError *error)
{
  IrisClient *self = call->owner;
  g_autoptr (IrisWireMap) map = NULL;
  g_autoptr (GError) local = NULL;
  GList *link;

  if (answer == NULL)
    {
      if (error != NULL && self->front != NULL)
        iris_client_channel_fail (self->front, error->code, error->message);
      return;
    }
  map = iris_wire_map_decode (answer->body, NULL, &local);
  if (map == NULL)
    {
      iris_client_channel_fail (self->front, IRIS_CLIENT_ERROR_PROTOCOL, local->message);
      return;
    }
  g_object_ref (self);
  self->places = iris_client_places_new_from_wire (map);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_CONNECTED]);
  while (self->places != NULL && (link = g_queue_pop_head_link (&self->unrouted)) != NULL)
    iris_client_route (self, link->data);
  g_object_unref (self);
}

static void
iris_client_front_ready (IrisClientChannel *channel, gpointer user_data)
{
  IrisClient *self = user_data;

  iris_client_channel_push (
      channel,
      iris_client_call_new (IRIS_WIRE_MAP, self->settings.next_serial++, iris_client_mapped, self));
}

static const IrisClientChannelFuncs front_funcs = {
  .ready = iris_client_front_ready,
  .closed = iris_client_front_closed,
  .busy = iris_client_busy_changed,
};

static void
iris_client_start (IrisClient *self)
{
  if (self->front == NULL)
    self->front = iris_client_channel_new (self->endpoint, &self->settings, &front_funcs, self);
}

static gboolean
iris_client_call_ends_as_cancelled (IrisClientCall *call, gpointer owner)
{
  IrisClient *self = owner;

  if (call->channel != NULL)
    return iris_client_channel_cancel (call->channel, call);
  g_queue_unlink (&self->unrouted, &call->link);
  return TRUE;
}

static void
iris_client_call_cancelled (IrisClientCall *call, gpointer owner)
{
  g_autoptr (GError) error = NULL;

  call->cancelled = TRUE;
  if (!iris_client_call_ends_as_cancelled (call, owner))
    return;
  error = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CANCELLED,
                               call->type == IRIS_WIRE_SUBMIT
                                   ? "the item was cancelled"
                                   : "the answer is not awaited any more");
  iris_client_call_finish (call, NULL, error);
}

/* Takes @call and sends it, connecting first where needed. */
void
iris_client_take_call (IrisClient *self, IrisClientCall *call, GCancellable *cancellable)
{
  if (self->endpoint == NULL)
    {
      iris_client_call_finish (call, NULL, self->endpoint_error);
      return;
    }
  if (cancellable != NULL)
    {
      g_autoptr (GError) error = NULL;

      if (g_cancellable_set_error_if_cancelled (cancellable, &error))
        {
          iris_client_call_finish (call, NULL, error);
          return;
        }
      iris_client_watches_add (self->watches, call, cancellable);
    }
  if (self->places != NULL)
    {
      iris_client_route (self, call);
      return;
    }
  call->state = IRIS_CLIENT_CALL_WAITING;
  g_queue_push_tail_link (&self->unrouted, &call->link);
  iris_client_start (self);
}

static void
iris_client_constructed (GObject *object)
{
  IrisClient *self = IRIS_CLIENT (object);

  G_OBJECT_CLASS (iris_client_parent_class)->constructed (object);
  if (self->address != NULL && strstr (self->address, "://") != NULL)
    self->endpoint = g_strdup (self->address);
  else
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *dir = iris_wire_endpoint_dir (self->address, &error);

      if (dir != NULL)
        self->endpoint = iris_wire_endpoint_front (dir);
      else
        self->endpoint_error = g_error_new_literal (
            IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_NOT_CONNECTED, error->message);
    }
}

static void
iris_client_dispose (GObject *object)
{
  IrisClient *self = IRIS_CLIENT (object);

  /* Every call that a program waits for holds a reference to the client: none is left. */
  g_clear_pointer (&self->front, iris_client_channel_free);
  g_hash_table_remove_all (self->channels);
  g_ptr_array_set_size (self->retired, 0);
  g_clear_pointer (&self->places, g_ptr_array_unref);
  G_OBJECT_CLASS (iris_client_parent_class)->dispose (object);
}

static void
iris_client_finalize (GObject *object)
{
  IrisClient *self = IRIS_CLIENT (object);

  g_free (self->address);
  g_free (self->endpoint);
  g_clear_error (&self->endpoint_error);
  g_hash_table_unref (self->channels);
  g_ptr_array_unref (self->retired);
  iris_client_watches_free (self->watches);
  g_main_context_unref (self->settings.context);
  G_OBJECT_CLASS (iris_client_parent_class)->finalize (object);
}

static guint *
iris_client_uint_of (IrisClient *self, guint prop_id)
{
  switch (prop_id)
    {
    case PROP_CONNECT_TIMEOUT:
      return &self->settings.connect_timeout_ms;
    case PROP_PING_INTERVAL:
      return &self->settings.ping_interval_ms;
    case PROP_PING_TIMEOUT:
      return &self->settings.ping_timeout_ms;
    case PROP_BUSY_TIMEOUT:
      return &self->settings.busy_timeout_ms;
    case PROP_MAX_OUTSTANDING:
      return &self->max_outstanding;
    default:
      return NULL;
    }
}

static void
iris_client_get_property (GObject *object, guint prop_id, GValue *value, GParamSpec *pspec)
{
  IrisClient *self = IRIS_CLIENT (object);
  guint *number = iris_client_uint_of (self, prop_id);

  if (number != NULL)
    g_value_set_uint (value, *number);
  else if (prop_id == PROP_ADDRESS)
    g_value_set_string (value, self->address);
  else if (prop_id == PROP_CONNECTED)
    g_value_set_boolean (value, self->places != NULL);
  else if (prop_id == PROP_WAIT_FOR_DAEMON)
    g_value_set_boolean (value, self->settings.wait_for_daemon);
  else if (prop_id == PROP_ASKS_ONLY)
    g_value_set_boolean (value, self->settings.asks_only);
  else if (prop_id == PROP_BUSY_REASON)
    g_value_set_string (value, iris_client_get_busy_reason (self));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
}

static void
iris_client_set_property (GObject *object, guint prop_id, const GValue *value, GParamSpec *pspec)
{
  IrisClient *self = IRIS_CLIENT (object);
  guint *number = iris_client_uint_of (self, prop_id);

  if (number != NULL)
    *number = g_value_get_uint (value);
  else if (prop_id == PROP_ADDRESS)
    self->address = g_value_dup_string (value);
  else if (prop_id == PROP_WAIT_FOR_DAEMON)
    self->settings.wait_for_daemon = g_value_get_boolean (value);
  else if (prop_id == PROP_ASKS_ONLY)
    self->settings.asks_only = g_value_get_boolean (value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
}

static GParamSpec *
uint_property (const char *name, guint minimum, guint initial)
{
  return g_param_spec_uint (name, NULL, NULL, minimum, G_MAXINT, initial,
                            G_PARAM_READWRITE | G_PARAM_CONSTRUCT | G_PARAM_STATIC_STRINGS);
}

static void
iris_client_describe_limits (void)
{
  /**
   * IrisClient:connect-timeout:
   *
   * Milliseconds within which irisd must have answered HELLO.
   */
  properties[PROP_CONNECT_TIMEOUT] = uint_property ("connect-timeout", 1,
                                                    DEFAULT_CONNECT_TIMEOUT_MS);
  /**
   * IrisClient:ping-interval:
   *
   * Milliseconds of silence, with something unanswered, after which irisd is asked whether it is
   * there.
   */
  properties[PROP_PING_INTERVAL] = uint_property ("ping-interval", 1, DEFAULT_PING_INTERVAL_MS);
  /**
   * IrisClient:ping-timeout:
   *
   * Milliseconds after which an irisd that did not say that it is there is given up.
   */
  properties[PROP_PING_TIMEOUT] = uint_property ("ping-timeout", 1, DEFAULT_PING_TIMEOUT_MS);
  /**
   * IrisClient:busy-timeout:
   *
   * Milliseconds for which what irisd refuses as busy (an item, a request about persistent ones,
   * the HELLO) is sent again, after pauses that are at least what irisd asked for and grow up to
   * two seconds; then it ends with %IRIS_CLIENT_ERROR_BUSY, and so does what has waited behind it
   * for as long. 0 ends it at the first refusal.
   */
  properties[PROP_BUSY_TIMEOUT] = uint_property ("busy-timeout", 0, DEFAULT_BUSY_TIMEOUT_MS);
  /**
   * IrisClient:max-outstanding:
   *
   * How many items may be under way or waiting in the client; beyond it a submit ends at once with
   * %IRIS_CLIENT_ERROR_QUEUE_FULL.
   */
  properties[PROP_MAX_OUTSTANDING] = uint_property ("max-outstanding", 1, DEFAULT_MAX_OUTSTANDING);
}

static void
iris_client_describe_state (void)
{
  /**
   * IrisClient:address:
   *
   * Where irisd is: a ZeroMQ endpoint, a directory with irisd's sockets, or %NULL for the usual
   * directory: `$IRIS_RUNTIME_DIR`, else `$XDG_RUNTIME_DIR/iris`, else for root `/run/iris`.
   */
  properties[PROP_ADDRESS] = g_param_spec_string ("address", NULL, NULL, NULL,
                                                  G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY
                                                      | G_PARAM_STATIC_STRINGS);
  /**
   * IrisClient:connected:
   *
   * Whether irisd has told its places.
   */
  properties[PROP_CONNECTED] = g_param_spec_boolean ("connected", NULL, NULL, FALSE,
                                                     G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  /**
   * IrisClient:wait-for-daemon:
   *
   * Whether to go on trying until the connect timeout where no irisd listens yet. Otherwise such an
   * endpoint counts as dead after a few tries, within half a second.
   */
  properties[PROP_WAIT_FOR_DAEMON] = g_param_spec_boolean (
      "wait-for-daemon", NULL, NULL, FALSE, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
  /**
   * IrisClient:asks-only:
   *
   * Whether the client submits nothing. irisd lets some such clients in when it has as many
   * connections as it takes (`max-peers`), and refuses what they submit. Set it before connecting.
   */
  properties[PROP_ASKS_ONLY] = g_param_spec_boolean ("asks-only", NULL, NULL, FALSE,
                                                     G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
  /**
   * IrisClient:busy-reason:
   *
   * What irisd has no room for at the moment, as a sentence with the limit and its value; %NULL if
   * it takes what the client sends.
   */
  properties[PROP_BUSY_REASON] = g_param_spec_string ("busy-reason", NULL, NULL, NULL,
                                                      G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
}

static void
iris_client_class_init (IrisClientClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->constructed = iris_client_constructed;
  object_class->dispose = iris_client_dispose;
  object_class->finalize = iris_client_finalize;
  object_class->get_property = iris_client_get_property;
  object_class->set_property = iris_client_set_property;

  iris_client_describe_state ();
  iris_client_describe_limits ();
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
iris_client_init (IrisClient *self)
{
  guint32 random[2] = { g_random_int (), g_random_int () };

  memcpy (self->settings.prefix, random, sizeof random);
  self->settings.next_serial = 1;
  self->settings.context = g_main_context_ref_thread_default ();
  self->channels = g_hash_table_new_full (g_direct_hash, g_direct_equal, NULL,
                                          (GDestroyNotify) iris_client_channel_free);
  self->retired = g_ptr_array_new_with_free_func ((GDestroyNotify) iris_client_channel_free);
  self->watches = iris_client_watches_new (self->settings.context, iris_client_call_cancelled,
                                           self);
}

/**
 * iris_client_new:
 * @endpoint_or_dir: (nullable): where irisd is, see [property@IrisClient.Client:address]
 *
 * Makes a client that is not connected yet. It belongs to the thread-default main context.
 *
 * Returns: (transfer full): the client
 */
IrisClient *
iris_client_new (const char *endpoint_or_dir)
{
  return g_object_new (IRIS_TYPE_CLIENT, "address", endpoint_or_dir, NULL);
}
