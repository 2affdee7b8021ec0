/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Schedules of irisd: making, changing, removing and listing them.
 */
#include "iris-client-private.h"

#include <iris-client/connection/iris-client-call-private.h>

#include <string.h>

/* A place of this irisd is looked up for each run, and not by the client. */
static void
set_place (const IrisRequest *item, IrisWireMessage *message)
{
  guint64 id;

  if (item->place_name == NULL && item->place >= 0)
    iris_wire_message_set_int (message, IRIS_WIRE_KEY_HINT, item->place);
  else if (item->place_name != NULL
           && g_ascii_string_to_unsigned (item->place_name, 10, 0, G_MAXINT32, &id, NULL))
    iris_wire_message_set_int (message, IRIS_WIRE_KEY_HINT, (gint) id);
  else if (item->place_name != NULL)
    iris_wire_message_set_string (message, IRIS_WIRE_KEY_HINT_NAME, item->place_name, -1);
}

/* The body of a SCHEDULE that submits @item, or NULL with @error. */
static GBytes *
pack_item (IrisRequest *item, GError **error)
{
  const guint8 prefix[IRIS_CLIENT_ID_PREFIX] = { 0 };
  IrisClientCall call = { .type = IRIS_WIRE_SUBMIT, .serial = 1, .place = -1, .request = item };
  IrisWireBatchBuilder builder;
  IrisWireMessage message;
  GBytes *body = NULL;

  iris_client_call_fill (&call, prefix, &message);
  if (!iris_request_is_for_others (item))
    set_place (item, &message);
  iris_wire_batch_builder_init (&builder, NULL);
  if (iris_wire_batch_builder_add (&builder, &message, error))
    {
      IrisWireFrame frame = iris_wire_batch_builder_get_body (&builder);

      body = g_bytes_new (frame.data, frame.size);
    }
  iris_wire_batch_builder_clear (&builder);
  return body;
}

/**
 * iris_client_set_schedule_async:
 * @name: the name of a schedule, of 1 to 200 bytes
 * @item: (nullable): what each run submits, as a durable item; %NULL: as it was
 * @settings: (nullable): the keys of SCHEDULE in doc/protocol.md that are to be set, by their
 * names, an "a{sv}": "calendar" and "zone" ("s"), "every-ms" and "jitter-ms" ("t"), "missed",
 * "overlap" and "count" ("u"), "suspended" ("b"); a floating reference is consumed
 *
 * Makes a schedule, or changes the one of that name: what is left out stays. "count" begins a run
 * at once instead.
 */
void
iris_client_set_schedule_async (IrisClient *self,
                                const char *name,
                                IrisRequest *item,
                                GVariant *settings,
                                GCancellable *cancellable,
                                GAsyncReadyCallback callback,
                                gpointer user_data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) body = NULL;

  g_return_if_fail (name != NULL);
  g_return_if_fail (settings == NULL || g_variant_is_of_type (settings, G_VARIANT_TYPE_VARDICT));

  g_autoptr (GVariant)
      owned = g_variant_ref_sink (settings != NULL ? settings : g_variant_new ("a{sv}", NULL));
  if (item != NULL && (body = pack_item (item, &error)) == NULL)
    {
      g_task_report_error (self, callback, user_data, iris_client_set_schedule_async,
                           g_steal_pointer (&error));
      return;
    }
  iris_client_ask (self,
                   &(IrisClientCall){ .type = IRIS_WIRE_SCHEDULE,
                                      .done = iris_client_number_done,
                                      .message = g_strdup (name),
                                      .settings = g_steal_pointer (&owned),
                                      .body = g_steal_pointer (&body) },
                   iris_client_set_schedule_async, cancellable, callback, user_data);
}

/**
 * iris_client_set_schedule_finish:
 *
 * Errors: %IRIS_CLIENT_ERROR_BAD_ARGUMENT for a line or zone that cannot be read, a line that is
 * never due, or too many schedules, %IRIS_CLIENT_ERROR_NOT_DURABLE if irisd has no journal,
 * %IRIS_CLIENT_ERROR_JOURNAL_FAILED, %IRIS_CLIENT_ERROR_NOT_PERMITTED.
 *
 * Returns: whether it is on the disk
 */
gboolean
iris_client_set_schedule_finish (IrisClient *self, GAsyncResult *result, GError **error)
{
  return iris_client_finish_number (self, result, NULL, error);
}

/**
 * iris_client_remove_schedule_async:
 * @name: the name of a schedule
 *
 * Removes a schedule; the items of its runs stay.
 */
void
iris_client_remove_schedule_async (IrisClient *self,
                                   const char *name,
                                   GCancellable *cancellable,
                                   GAsyncReadyCallback callback,
                                   gpointer user_data)
{
  GVariantDict settings;

  g_variant_dict_init (&settings, NULL);
  g_variant_dict_insert (&settings, "remove", "b", TRUE);
  iris_client_set_schedule_async (self, name, NULL, g_variant_dict_end (&settings), cancellable,
                                  callback, user_data);
}

/**
 * iris_client_remove_schedule_finish:
 *
 * Errors: %IRIS_CLIENT_ERROR_NO_SUCH_ITEM if there is no such schedule.
 *
 * Returns: whether it is removed
 */
gboolean
iris_client_remove_schedule_finish (IrisClient *self, GAsyncResult *result, GError **error)
{
  return iris_client_finish_number (self, result, NULL, error);
}

/**
 * iris_client_get_schedules_async:
 * @name: (nullable): the name of the only one that is wanted; %NULL for all
 * @behind: (nullable): what iris_client_get_schedules_finish() gave, to go on from there
 *
 * Asks for schedules.
 */
void
iris_client_get_schedules_async (IrisClient *self,
                                 const char *name,
                                 GBytes *behind,
                                 GCancellable *cancellable,
                                 GAsyncReadyCallback callback,
                                 gpointer user_data)
{
  iris_client_ask (self,
                   &(IrisClientCall){ .type = IRIS_WIRE_SCHEDULES,
                                      .message = g_strdup (name),
                                      .body = behind != NULL ? g_bytes_ref (behind) : NULL,
                                      .done = iris_client_value_done,
                                      .read = iris_client_schedules_read,
                                      .destroy = (GDestroyNotify) g_variant_unref },
                   iris_client_get_schedules_async, cancellable, callback, user_data);
}

/**
 * iris_client_get_schedules_finish:
 * @next: (out) (optional) (nullable) (transfer full): where to go on from; %NULL at the end
 *
 * The schedules in the order of their owners and names, by the names that doc/protocol.md gives to
 * the parts of SCHEDULES_REPLY: an array of dictionaries, "aa{sv}".
 *
 * Returns: (transfer full): the schedules, or %NULL
 */
GVariant *
iris_client_get_schedules_finish (IrisClient *self,
                                  GAsyncResult *result,
                                  GBytes **next,
                                  GError **error)
{
  g_autoptr (GVariant) both = iris_client_finish_pointer (self, result, error);
  g_autoptr (GVariant) behind = NULL;
  GVariant *schedules = NULL;
  gsize size;
  gconstpointer data;

  if (both == NULL)
    return NULL;
  g_variant_get (both, "(@ay@aa{sv})", &behind, &schedules);
  data = g_variant_get_fixed_array (behind, &size, 1);
  if (next != NULL)
    *next = size > 0 ? g_bytes_new (data, size) : NULL;
  return schedules;
}
