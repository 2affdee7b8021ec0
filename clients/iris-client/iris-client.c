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
#include <iris-client/base/iris-client-error-private.h>
#include <iris-client/connection/iris-client-curve-private.h>
#include <iris-client/answer/iris-client-answer-private.h>
#include <iris-client/request/iris-request-private.h>

#include <string.h>

/* A system that starts irisd for its first client accepts the connection long before irisd does. */
#define DEFAULT_CONNECT_TIMEOUT_MS 30000
#define DEFAULT_PING_INTERVAL_MS   1000
#define DEFAULT_PING_TIMEOUT_MS    10000
#define DEFAULT_BUSY_TIMEOUT_MS    60000
#define DEFAULT_RESUME_TIMEOUT_MS  60000
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
  PROP_RESUME_TIMEOUT,
  PROP_MAX_OUTSTANDING,
  PROP_WAIT_FOR_DAEMON,
  PROP_BUSY_REASON,
  PROP_ASKS_ONLY,
  PROP_KEEPS_RESULTS,
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
 * When irisd is started anew, or vanishes and comes back within
 * [property@IrisClient.Client:resume-timeout],
 * the client goes on: persistent items, calls that were not sent, and calls that only ask end a
 * little later, and without an error. A volatile item that irisd had ends with
 * %IRIS_CLIENT_ERROR_DISCONNECTED unless irisd ran it before it ended: it may or may not have run.
 *
 * Without that, each call that was sent ends with %IRIS_CLIENT_ERROR_DISCONNECTED (or, in any case,
 * %IRIS_CLIENT_ERROR_TIMED_OUT if irisd is there and silent), and those that were not sent end with
 * %IRIS_CLIENT_ERROR_NOT_CONNECTED. The next call connects anew.
 */
G_DEFINE_FINAL_TYPE (IrisClient, iris_client, G_TYPE_OBJECT)

static void iris_client_start (IrisClient *self);
static void iris_client_route_all (IrisClient *self);

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
      if (self->settings.resuming
          && ((IrisClientChannel *) channel)->state == IRIS_CLIENT_CHANNEL_CONNECTING)
        iris_client_carry_all (self, channel);
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
  if (iris_client_can_resume (self, channel))
    iris_client_resume (self, iris_client_start);
  else
    iris_client_stop_resuming (self);
  iris_client_channel_free (g_steal_pointer (&self->front));
  g_clear_pointer (&self->places, g_ptr_array_unref);
  iris_client_retire_channels (self);
  if (was_connected)
    g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_CONNECTED]);
  if (!self->settings.resuming)
    iris_client_fail_unrouted (self, error);
}

static void
iris_client_front_carried (IrisClientChannel *channel, IrisClientCall *call, gpointer user_data)
{
  iris_client_carry (user_data, call);
}

/* The front door goes on, or is lost next. */
static void
iris_client_place_carried (IrisClientChannel *channel, IrisClientCall *call, gpointer user_data)
{
  IrisClient *self = user_data;

  iris_client_carry (self, call);
  if (self->front == NULL && self->retry_timer == NULL)
    iris_client_resume (self, iris_client_start);
  else if (self->places == NULL || self->front->going)
    iris_client_note_away (self);
  else
    iris_client_route_all (self);
}

static void
iris_client_going (IrisClientChannel *channel, gpointer user_data)
{
  iris_client_note_away (user_data);
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
  .carried = iris_client_place_carried,
  .going = iris_client_going,
  .busy = iris_client_busy_changed,
};

static IrisClientChannel *
iris_client_channel_to (IrisClient *self, IrisClientPlace *place)
{
  gpointer key = GINT_TO_POINTER (place->id);
  IrisClientChannel *channel = g_hash_table_lookup (self->channels, key);

  if (channel == NULL)
    {
      g_autofree char *endpoint = iris_client_curve_follow (self->endpoint, place->endpoint);

      channel = iris_client_channel_new (endpoint, &self->settings, &place_funcs, self);
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

/* Ends @call, which was sent to an irisd that could be asked for it again; this one cannot. */
static void
iris_client_fail_forgotten (IrisClient *self, IrisClientCall *call)
{
  g_autoptr (GError) error = g_error_new (
      IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_DISCONNECTED,
      "the connection to irisd at %s was lost, and an irisd that cannot go on with it has taken "
      "its "
      "place; the item may or may not have run: submit it again if a second run does no harm",
      self->endpoint);

  iris_client_call_finish (call, NULL, error);
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
  else if (call->session != NULL && !self->front->resumes)
    iris_client_fail_forgotten (self, call);
  else if (request == NULL || (request->place < 0 && request->place_name == NULL)
           || iris_request_is_for_others (request))
    iris_client_channel_push (self->front, call);
  else if ((place = iris_client_place_of (self, call, &error)) != NULL)
    {
      call->place = place->id;
      iris_client_channel_push (iris_client_channel_to (self, place), call);
    }
  else
    iris_client_call_finish (call, NULL, error);
}

/* Sends calls to the channels that are there, as far as irisd is. */
static void
iris_client_route_all (IrisClient *self)
{
  GList *link;

  while (self->places != NULL && !self->front->going
         && (link = g_queue_pop_head_link (&self->unrouted)) != NULL)
    iris_client_route (self, link->data);
}

static void
iris_client_mapped (IrisClientCall *call, const IrisWireMessage *answer, const GError *error)
{
  IrisClient *self = call->owner;
  g_autoptr (GPtrArray) places = NULL;
  g_autoptr (GError) local = NULL;

  if (answer == NULL)
    {
      if (error != NULL && self->front != NULL)
        iris_client_channel_fail (self->front, error->code, error->message);
      return;
    }
  places = iris_client_places_read (answer, &local);
  if (places == NULL)
    {
      iris_client_channel_fail (self->front, IRIS_CLIENT_ERROR_PROTOCOL, local->message);
      return;
    }
  g_object_ref (self);
  self->places = g_steal_pointer (&places);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_CONNECTED]);
  if (self->places != NULL)
    iris_client_note_back (self);
  iris_client_route_all (self);
  g_object_unref (self);
}

static void
iris_client_front_ready (IrisClientChannel *channel, gpointer user_data)
{
  IrisClient *self = user_data;

  iris_client_channel_push (
      channel,
      iris_client_call_new (&(IrisClientCall){ .type = IRIS_WIRE_MAP, .done = iris_client_mapped },
                            self->settings.next_serial++, self));
}

static const IrisClientChannelFuncs front_funcs = {
  .ready = iris_client_front_ready,
  .closed = iris_client_front_closed,
  .carried = iris_client_front_carried,
  .going = iris_client_going,
  .busy = iris_client_busy_changed,
};

/* While irisd is awaited, the client connects when its pause is over. */
static void
iris_client_start (IrisClient *self)
{
  if (self->front == NULL && self->retry_timer == NULL)
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
  if (self->places != NULL && (!self->front->going || call->type != IRIS_WIRE_SUBMIT))
    {
      iris_client_route (self, call);
      return;
    }
  if (self->places != NULL)
    iris_client_note_away (self);
  call->state = IRIS_CLIENT_CALL_WAITING;
  g_queue_push_tail_link (&self->unrouted, &call->link);
  iris_client_start (self);
}

static void
iris_client_constructed (GObject *object)
{
  IrisClient *self = IRIS_CLIENT (object);

  G_OBJECT_CLASS (iris_client_parent_class)->constructed (object);
  self->endpoint = iris_client_link_find_endpoint (self->address, &self->endpoint_error);
}

static void
iris_client_dispose (GObject *object)
{
  IrisClient *self = IRIS_CLIENT (object);

  /* Every call that a program waits for holds a reference to the client: none is left. */
  iris_client_stop_resuming (self);
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
  g_free (self->asked_node);
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
    case PROP_RESUME_TIMEOUT:
      return &self->settings.resume_timeout_ms;
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
  else if (prop_id == PROP_KEEPS_RESULTS)
    g_value_set_boolean (value, self->settings.keeps_results);
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
  else if (prop_id == PROP_KEEPS_RESULTS)
    self->settings.keeps_results = g_value_get_boolean (value);
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
   * IrisClient:resume-timeout:
   *
   * Milliseconds for which the client waits for an irisd that was lost, or says that it ends, to be
   * started anew. Meanwhile calls wait instead of failing: new ones, those that irisd did not have,
   * persistent items, which run once, and what only asks. Then they end with
   * %IRIS_CLIENT_ERROR_NOT_CONNECTED or %IRIS_CLIENT_ERROR_DISCONNECTED. Volatile items that were
   * sent are lost with their irisd and end at once. 0 ends all at once; so does
   * #IrisClient:asks-only. Set it before connecting.
   */
  properties[PROP_RESUME_TIMEOUT] = uint_property ("resume-timeout", 0, DEFAULT_RESUME_TIMEOUT_MS);
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
   * Where irisd is: a ZeroMQ endpoint, with `?key=FILE` behind it to show a key, a directory with
   * irisd's sockets, or %NULL for the usual directory: `$IRIS_RUNTIME_DIR`, else
   * `$XDG_RUNTIME_DIR/iris`, else for root `/run/iris`.
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
   * IrisClient:keeps-results:
   *
   * Whether irisd keeps the results that the client fetches, as it keeps those that were not
   * fetched. They hold credits until the client is freed, so it is for a few of them. Set it before
   * connecting.
   */
  properties[PROP_KEEPS_RESULTS] = g_param_spec_boolean (
      "keeps-results", NULL, NULL, FALSE, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
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
  /* The protocol's strings have no zero byte. */
  for (guint i = 0; i < IRIS_WIRE_SESSION_SIZE; i++)
    self->settings.session[i] = (guint8) g_random_int_range (1, 256);
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

/**
 * iris_client_is_connected:
 *
 * Tells whether the client is connected at this moment.
 *
 * Returns: whether irisd has told its places, and was not lost since
 */
gboolean
iris_client_is_connected (IrisClient *self)
{
  g_return_val_if_fail (IRIS_IS_CLIENT (self), FALSE);

  return self->places != NULL;
}

/**
 * iris_client_get_endpoint:
 *
 * Gets the endpoint to which the client connects.
 *
 * Returns: (transfer none) (nullable): the endpoint of irisd's front door, or %NULL if no directory
 *   was given and the environment names none
 */
const char *
iris_client_get_endpoint (IrisClient *self)
{
  g_return_val_if_fail (IRIS_IS_CLIENT (self), NULL);

  return self->endpoint;
}

/**
 * iris_client_get_places:
 *
 * Gets the places of the machine, as irisd told them when the client was connected.
 *
 * Returns: (transfer container) (element-type IrisClientPlace) (nullable): the places of the
 * machine, or %NULL if the client is not connected
 */
GPtrArray *
iris_client_get_places (IrisClient *self)
{
  g_return_val_if_fail (IRIS_IS_CLIENT (self), NULL);

  return self->places != NULL ? iris_client_places_copy (self->places) : NULL;
}

/**
 * iris_client_get_busy_reason:
 *
 * Tells what irisd has no room for, while it refuses what the client sends.
 *
 * Returns: (transfer none) (nullable): a sentence with the limit and its value; %NULL if irisd
 * takes what is sent
 */
const char *
iris_client_get_busy_reason (IrisClient *self)
{
  GHashTableIter iter;
  gpointer channel;

  g_return_val_if_fail (IRIS_IS_CLIENT (self), NULL);

  if (self->front != NULL && self->front->busy_reason != NULL)
    return self->front->busy_reason;
  g_hash_table_iter_init (&iter, self->channels);
  while (g_hash_table_iter_next (&iter, NULL, &channel))
    if (((IrisClientChannel *) channel)->busy_reason != NULL)
      return ((IrisClientChannel *) channel)->busy_reason;
  return NULL;
}

static void
take_items (GQueue *from, GPtrArray *to)
{
  for (GList *link = from->head, *next; link != NULL; link = next)
    {
      IrisClientCall *call = link->data;

      next = link->next;
      if (call->type != IRIS_WIRE_SUBMIT || call->session != NULL)
        continue;
      g_queue_unlink (from, link);
      g_ptr_array_add (to, call);
    }
}

/**
 * iris_client_withdraw_unsent:
 *
 * Ends all items that irisd does not have, because they wait for credit or for room, with
 * %G_IO_ERROR_CANCELLED. Those that were sent and not refused go on, so that a program that is
 * interrupted can wait for them to be accepted and need not wait for room.
 *
 * Returns: how many items were withdrawn
 */
guint
iris_client_withdraw_unsent (IrisClient *self)
{
  g_autoptr (GPtrArray) calls = g_ptr_array_new ();
  g_autoptr (GError) error = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CANCELLED,
                                                  "the item was withdrawn before irisd took it");
  GHashTableIter iter;
  gpointer channel;

  g_return_val_if_fail (IRIS_IS_CLIENT (self), 0);

  take_items (&self->unrouted, calls);
  if (self->front != NULL)
    take_items (&self->front->waiting, calls);
  g_hash_table_iter_init (&iter, self->channels);
  while (g_hash_table_iter_next (&iter, NULL, &channel))
    take_items (&((IrisClientChannel *) channel)->waiting, calls);
  for (guint i = 0; i < calls->len; i++)
    {
      IrisClientCall *call = g_ptr_array_index (calls, i);

      call->channel = NULL;
      iris_client_call_finish (call, NULL, error);
    }
  return calls->len;
}
