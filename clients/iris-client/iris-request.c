/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A work item, before it is sent.
 *
 * A plain counted struct and no GObject: a program may make a million of them. It belongs to one
 * thread at a time; only counting references is safe from several.
 */
#include "iris-request-private.h"

#include <string.h>

G_DEFINE_BOXED_TYPE (IrisRequest, iris_request, iris_request_ref, iris_request_unref)

/**
 * iris_request_new:
 * @service: the service that is to do the work, such as `sha256`
 *
 * Makes a request with an empty payload and no hint.
 *
 * Returns: (transfer full): the request
 *
 * Since: 0.1
 */
IrisRequest *
iris_request_new (const char *service)
{
  IrisRequest *self;

  g_return_val_if_fail (service != NULL, NULL);

  self = g_atomic_rc_box_new0 (IrisRequest);
  self->service = g_strdup (service);
  self->place = -1;
  self->at_ms = -1;
  self->priority = -1;
  return self;
}

/**
 * iris_request_ref:
 * @self: a request
 *
 * Adds a reference. Safe from any thread.
 *
 * Returns: (transfer full): @self
 *
 * Since: 0.1
 */
IrisRequest *
iris_request_ref (IrisRequest *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return g_atomic_rc_box_acquire (self);
}

static void
iris_request_clear (gpointer data)
{
  IrisRequest *self = data;

  g_free (self->service);
  g_free (self->content_type);
  g_free (self->path);
  g_strfreev (self->args);
  g_free (self->directory);
  g_strfreev (self->environment);
  g_strfreev (self->limits);
  if (self->output_destroy != NULL)
    self->output_destroy (self->output_data);
  g_clear_pointer (&self->payload, g_bytes_unref);
  g_free (self->place_name);
  g_free (self->key);
  g_free (self->id);
  iris_request_clear_near (self);
  iris_request_clear_progress (self);
  iris_request_clear_schedule (self);
}

/**
 * iris_request_unref:
 * @self: (transfer full): a request
 *
 * Drops a reference. Safe from any thread.
 *
 * Since: 0.1
 */
void
iris_request_unref (IrisRequest *self)
{
  g_return_if_fail (self != NULL);

  g_atomic_rc_box_release_full (self, iris_request_clear);
}

static void
iris_request_replace (char **field, const char *value)
{
  g_free (*field);
  *field = g_strdup (value);
}

/**
 * iris_request_set_payload:
 * @self: a request that was not submitted yet
 * @payload: (nullable): what the service works on; for `command` the standard input
 *
 * Sets the payload. How large it may be is irisd's limit `max-body`.
 *
 * Since: 0.1
 */
void
iris_request_set_payload (IrisRequest *self, GBytes *payload)
{
  g_return_if_fail (self != NULL && !self->sealed);

  if (payload != NULL)
    g_bytes_ref (payload);
  g_clear_pointer (&self->payload, g_bytes_unref);
  self->payload = payload;
}

/**
 * iris_request_set_path:
 * @self: a request that was not submitted yet
 * @path: (nullable) (type filename): a file for the service to work on instead of a payload
 *
 * Names a file that irisd itself opens. irisd has a working directory of its own, so the path
 * must be absolute.
 *
 * Since: 0.1
 */
void
iris_request_set_path (IrisRequest *self, const char *path)
{
  g_return_if_fail (self != NULL && !self->sealed);

  iris_request_replace (&self->path, path);
}

/**
 * iris_request_set_args:
 * @self: a request that was not submitted yet
 * @args: (nullable) (array zero-terminated=1): the arguments
 *
 * Sets the arguments of the service. Those of `command` are the program to run and its arguments.
 *
 * Since: 0.1
 */
void
iris_request_set_args (IrisRequest *self, const char *const *args)
{
  g_return_if_fail (self != NULL && !self->sealed);

  g_strfreev (self->args);
  self->args = g_strdupv ((char **) args);
}

/**
 * iris_request_set_content_type:
 * @self: a request that was not submitted yet
 * @content_type: (nullable): a media type
 *
 * Says what the payload is, for a service that cares.
 *
 * Since: 0.1
 */
void
iris_request_set_content_type (IrisRequest *self, const char *content_type)
{
  g_return_if_fail (self != NULL && !self->sealed);

  iris_request_replace (&self->content_type, content_type);
}

/**
 * iris_request_set_place:
 * @self: a request that was not submitted yet
 * @place: the id of a place, or -1 for none
 *
 * Sets the hint by id: the item is queued at this place, and may be stolen by an idle one unless
 * it is strict. Without a hint irisd deals items round-robin.
 *
 * Since: 0.1
 */
void
iris_request_set_place (IrisRequest *self, int place)
{
  g_return_if_fail (self != NULL && !self->sealed);
  g_return_if_fail (place >= -1);

  self->place = place;
  g_clear_pointer (&self->place_name, g_free);
  iris_request_clear_near (self);
}

/**
 * iris_request_set_place_name:
 * @self: a request that was not submitted yet
 * @name: (nullable): the name of a place (`l2:1`), or its id in digits
 *
 * Sets the hint by name. It is looked up when the item is sent, so the client need not be
 * connected yet.
 *
 * Since: 0.1
 */
void
iris_request_set_place_name (IrisRequest *self, const char *name)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->place = -1;
  iris_request_replace (&self->place_name, name);
  iris_request_clear_near (self);
}

/**
 * iris_request_set_strict:
 * @self: a request that was not submitted yet
 * @strict: whether no other place may steal the item
 *
 * A strict item runs at the place that its hint names, however long that takes.
 *
 * Since: 0.1
 */
void
iris_request_set_strict (IrisRequest *self, gboolean strict)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->strict = !!strict;
}

/**
 * iris_request_set_durability:
 * @self: a request that was not submitted yet
 * @durability: what of the item survives a crash
 *
 * A relaxed or durable item is kept by irisd: it goes on when this program has gone, runs again if
 * irisd was killed while it ran, and its end can be fetched with
 * [method@IrisClient.Client.fetch_async] until it was dealt with or expires. irisd has to keep a
 * journal for that.
 *
 * Since: 0.1
 */
void
iris_request_set_durability (IrisRequest *self, IrisDurability durability)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->durability = durability;
}

/**
 * iris_request_set_key:
 * @self: a request that was not submitted yet
 * @key: (nullable): 1 to 256 bytes of text
 *
 * Makes a persistent item the same as any other with this key: only the first one runs, the others
 * get its number and its end, as long as that is kept. So an item may be submitted again when it is
 * not known whether it arrived.
 *
 * Since: 0.1
 */
void
iris_request_set_key (IrisRequest *self, const char *key)
{
  g_return_if_fail (self != NULL && !self->sealed);

  iris_request_replace (&self->key, key);
}

/**
 * iris_request_set_keep:
 * @self: a request that was not submitted yet
 * @milliseconds: how long the end of a persistent item is kept; irisd has a default and a limit
 *
 * Says how long irisd keeps the item's end for those who fetch it. Items that are not kept have no
 * use for it.
 *
 * Since: 0.1
 */
void
iris_request_set_keep (IrisRequest *self, guint64 milliseconds)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->keep_ms = milliseconds;
  self->keep_set = TRUE;
}

/**
 * iris_request_set_detached:
 * @self: a request that was not submitted yet
 * @detached: whether submitting ends when the item is accepted
 *
 * The result of submitting a detached item has nothing but the item's number.
 *
 * Since: 0.1
 */
void
iris_request_set_detached (IrisRequest *self, gboolean detached)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->detached = !!detached;
}

/**
 * iris_request_set_bury:
 * @self: a request that was not submitted yet
 * @bury: whether the item is set aside when its last try fails
 *
 * A persistent item that is buried does not end, so it does not expire: it waits until somebody has
 * looked at it and kicked it ([method@IrisClient.Client.kick_async]) or cancelled it. Whoever waits
 * for its end gets %IRIS_CLIENT_ERROR_BURIED.
 *
 * Since: 0.1
 */
void
iris_request_set_bury (IrisRequest *self, gboolean bury)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->bury = !!bury;
}

/**
 * iris_request_get_service:
 * @self: a request
 *
 * Gets the service that is to work on it.
 *
 * Returns: (transfer none): the name of the service
 *
 * Since: 0.1
 */
const char *
iris_request_get_service (IrisRequest *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->service;
}

/**
 * iris_request_get_path:
 * @self: a request
 *
 * Gets the file that it is about, or %NULL if it is about none.
 *
 * Returns: (transfer none) (nullable) (type filename): the file to work on
 *
 * Since: 0.1
 */
const char *
iris_request_get_path (IrisRequest *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->path;
}

/**
 * iris_request_get_id:
 * @self: a request
 *
 * Gets the id under which the request was last submitted, as 32 hexadecimal digits: what
 * [method@IrisClient.Client.cancel_async] and `irisctl cancel` take.
 *
 * Returns: (transfer none) (nullable): the id, or %NULL if it was not submitted yet
 *
 * Since: 0.1
 */
const char *
iris_request_get_id (IrisRequest *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->id;
}

/*< private >
 * iris_request_seal:
 * @self: a request
 * @id: the id that it is being submitted under
 *
 * From here on the request cannot be changed.
 */
void
iris_request_seal (IrisRequest *self, const guint8 id[IRIS_REQUEST_ID_SIZE])
{
  static const char digits[] = "0123456789abcdef";

  if (self->id == NULL)
    self->id = g_malloc (2 * IRIS_REQUEST_ID_SIZE + 1);
  for (gsize i = 0; i < IRIS_REQUEST_ID_SIZE; i++)
    {
      self->id[2 * i] = digits[id[i] >> 4];
      self->id[2 * i + 1] = digits[id[i] & 15];
    }
  self->id[2 * IRIS_REQUEST_ID_SIZE] = '\0';
  self->sealed = TRUE;
}
