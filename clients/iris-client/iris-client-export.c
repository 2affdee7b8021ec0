/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A persistent item as it was submitted.
 */
#include "iris-client-private.h"

static GVariant *
dup_string (const IrisWireString *string)
{
  if (g_utf8_validate_len (string->data, string->len, NULL))
    return g_variant_new_take_string (iris_wire_string_dup (string));
  return g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, string->data, string->len, 1);
}

static GVariant *
dup_list (const IrisWireArgs *list)
{
  GVariantBuilder builder;
  IrisWireArgsIter iter;
  IrisWireString string;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("aay"));
  iris_wire_args_iter_init (&iter, list);
  while (iris_wire_args_iter_next (&iter, &string))
    {
      g_autofree char *text = iris_wire_string_dup (&string);

      g_variant_builder_add (&builder, "^ay", text);
    }
  return g_variant_builder_end (&builder);
}

static GVariant *
value_of (const IrisWireMessage *item, IrisWireKey key)
{
  switch ((guint) key)
    {
    case IRIS_WIRE_KEY_SERVICE:
      return dup_string (&item->service);
    case IRIS_WIRE_KEY_CONTENT_TYPE:
      return dup_string (&item->content_type);
    case IRIS_WIRE_KEY_PATH:
      return dup_string (&item->path);
    case IRIS_WIRE_KEY_KEY:
      return dup_string (&item->key);
    case IRIS_WIRE_KEY_DIRECTORY:
      return dup_string (&item->directory);
    case IRIS_WIRE_KEY_HINT_NAME:
      return dup_string (&item->hint_name);
    case IRIS_WIRE_KEY_NEAR_PATH:
      return dup_string (&item->near_path);
    case IRIS_WIRE_KEY_NEAR_ITEM:
      return g_variant_new_uint64 (item->near_item);
    case IRIS_WIRE_KEY_ARGS:
      return dup_list (&item->args);
    case IRIS_WIRE_KEY_ENVIRONMENT:
      return dup_list (&item->environment);
    case IRIS_WIRE_KEY_LIMITS:
      return dup_list (&item->limits);
    case IRIS_WIRE_KEY_HINT:
      return g_variant_new_int32 (item->hint);
    case IRIS_WIRE_KEY_NICE:
      return g_variant_new_int32 (item->nice);
    case IRIS_WIRE_KEY_STRICT:
      return g_variant_new_boolean (item->strict);
    case IRIS_WIRE_KEY_CLEAR_ENVIRONMENT:
      return g_variant_new_boolean (item->clear_environment);
    case IRIS_WIRE_KEY_BURY:
      return g_variant_new_boolean (item->bury);
    case IRIS_WIRE_KEY_CLASS:
      return g_variant_new_string (iris_wire_class_name (item->klass));
    case IRIS_WIRE_KEY_PRIORITY:
      return g_variant_new_uint64 (item->priority);
    case IRIS_WIRE_KEY_RETRIES:
      return g_variant_new_uint64 (item->retries);
    case IRIS_WIRE_KEY_KEEP_MS:
      return g_variant_new_uint64 (item->keep_ms);
    case IRIS_WIRE_KEY_DELAY_MS:
      return g_variant_new_uint64 (item->delay_ms);
    case IRIS_WIRE_KEY_AT_MS:
      return g_variant_new_uint64 (item->at_ms);
    case IRIS_WIRE_KEY_BACKOFF_MS:
      return g_variant_new_uint64 (item->backoff_ms);
    case IRIS_WIRE_KEY_TIME_TO_RUN_MS:
      return g_variant_new_uint64 (item->time_to_run_ms);
    case IRIS_WIRE_KEY_DEADLINE_MS:
      return g_variant_new_uint64 (item->deadline_ms);
    case IRIS_WIRE_KEY_TIME_LIMIT_MS:
      return g_variant_new_uint64 (item->time_limit_ms);
    case IRIS_WIRE_KEY_GRACE_MS:
      return g_variant_new_uint64 (item->grace_ms);
    default:
      return NULL;
    }
}

static GVariant *
item_to_variant (const IrisWireMessage *item)
{
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  for (guint key = 0; key < 128; key++)
    {
      GVariant *value = iris_wire_message_has (item, (IrisWireKey) key)
                            ? value_of (item, (IrisWireKey) key)
                            : NULL;

      if (value != NULL)
        g_variant_dict_insert_value (&dict, iris_wire_key_name (key), value);
    }
  g_variant_dict_insert_value (
      &dict, "payload",
      g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, item->body.data, item->body.size, 1));
  return g_variant_ref_sink (g_variant_dict_end (&dict));
}

static void
export_done (IrisClientCall *call, const IrisWireMessage *answer, const GError *error)
{
  g_autoptr (GTask) task = iris_client_call_take_task (call);
  g_autoptr (GError) local = NULL;
  IrisWireBatchIter iter;
  IrisWireMessage item;

  if (error != NULL)
    iris_client_return_error (task, call, error);
  else if (!iris_wire_batch_iter_init (&iter, answer->body, NULL, &local)
           || iris_wire_batch_iter_next (&iter, &item, &local) != IRIS_WIRE_BATCH_ITEM)
    iris_client_return_unreadable (task, local);
  else
    g_task_return_pointer (task, item_to_variant (&item), (GDestroyNotify) g_variant_unref);
}

/**
 * iris_client_export_item_async:
 * @item: the number of a persistent item that has not ended
 * @cancellable: (nullable): to stop waiting
 * @callback: called when done
 * @user_data: for @callback
 *
 * Asks with what an item was submitted, payload and all: to look at one that is buried, or to
 * submit it elsewhere.
 */
void
iris_client_export_item_async (IrisClient *self,
                               guint64 item,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer user_data)
{
  IrisClientCall *call;

  g_return_if_fail (IRIS_IS_CLIENT (self));
  g_return_if_fail (iris_client_in_context (self));

  call = iris_client_begin_call (self, IRIS_WIRE_SHOW, export_done, iris_client_export_item_async,
                                 cancellable, callback, user_data);
  call->item = item;
  call->whole = TRUE;
  iris_client_take_call (self, call, cancellable);
}

/**
 * iris_client_export_item_finish:
 * @result: what the callback was given
 *
 * The dictionary (`a{sv}`) has the options with which the item was submitted, under the names that
 * the protocol has for it (`service`, `retries`, ...), and its `payload` as bytes. Strings that are
 * not UTF-8, and the elements of lists, are bytes too.
 *
 * Errors: %IRIS_CLIENT_ERROR_NO_SUCH_ITEM, %IRIS_CLIENT_ERROR_BAD_ARGUMENT if it has ended.
 *
 * Returns: (transfer full): a dictionary, or %NULL
 */
GVariant *
iris_client_export_item_finish (IrisClient *self, GAsyncResult *result, GError **error)
{
  return iris_client_finish_pointer (self, result, error);
}
