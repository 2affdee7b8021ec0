/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A work item that irisd keeps: what is known of it, and with what it was submitted.
 */
#include "iris-client-answer-private.h"

#include <iris-client/base/iris-client-counted-private.h>

static void
iris_client_item_clear (IrisClientItem *self)
{
  g_free (self->state_name);
  g_free (self->durability);
  g_free (self->service);
  g_free (self->key);
  g_free (self->error_name);
  g_free (self->message);
  g_strfreev (self->args);
  g_free (self->traceparent);
  g_free (self->owner_name);
  g_free (self->node);
}

/**
 * iris_client_item_ref:
 *
 * Returns: (transfer full): @self, with a reference more; from any thread
 */
/**
 * iris_client_item_unref:
 * @self: (transfer full): an item
 *
 * Drops a reference. Safe from any thread.
 */
IRIS_CLIENT_DEFINE_COUNTED (IrisClientItem, iris_client_item)

static IrisClientItem *
item_new (const IrisWirePersistentItem *item)
{
  IrisClientItem *self = g_atomic_rc_box_new0 (IrisClientItem);

  self->number = item->item;
  self->state = item->state;
  self->state_name = g_strdup (iris_wire_state_name (item->state));
  self->durability = g_strdup (iris_wire_class_name (item->klass));
  self->service = g_strdup (item->service);
  self->key = g_strdup (item->key);
  self->attempts = item->attempts;
  self->bytes = item->bytes;
  self->accepted_ms = item->accepted_ms;
  self->ended_ms = item->ended_ms;
  self->expires_ms = item->expires_ms;
  self->error_name = g_strdup (item->code != 0 ? iris_wire_error_name (item->code) : "");
  self->message = g_strdup (item->message);
  self->owner = item->owner;
  self->due_ms = item->due_ms;
  self->started_ms = item->started_ms;
  self->place = item->place <= G_MAXINT ? (int) item->place : -1;
  self->crashes = item->crashes;
  self->args = item->args != NULL ? g_strdupv (item->args) : g_new0 (char *, 1);
  self->traceparent = g_strdup (item->traceparent);
  self->owner_name = g_strdup (item->owner_name);
  self->node = g_strdup (item->node);
  if (item->exit_code < IRIS_WIRE_EXIT_SIGNAL)
    self->exit_status = (int) item->exit_code;
  else
    {
      self->exit_status = -1;
      self->signal = (int) (item->exit_code - IRIS_WIRE_EXIT_SIGNAL);
    }
  return self;
}

gpointer
iris_client_items_read (const IrisWireMessage *answer, GError **error)
{
  g_autoptr (IrisWirePersistentList)
      persistent = iris_wire_persistent_list_decode (answer->body, NULL, error);
  GPtrArray *items;

  if (persistent == NULL)
    return NULL;
  items = g_ptr_array_new_full (persistent->n_items, (GDestroyNotify) iris_client_item_unref);
  for (guint i = 0; i < persistent->n_items; i++)
    g_ptr_array_add (items, item_new (&persistent->items[i]));
  return items;
}

gpointer
iris_client_item_read (const IrisWireMessage *answer, GError **error)
{
  g_autoptr (GPtrArray) items = iris_client_items_read (answer, error);

  if (items == NULL)
    return NULL;
  if (items->len == 1)
    return iris_client_item_ref (g_ptr_array_index (items, 0));
  g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_MALFORMED,
                       "it does not hold one item");
  return NULL;
}

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

/* NULL if @key does not say what is kept of the output. */
static GVariant *
kept_of (const IrisWireMessage *item, IrisWireKey key)
{
  if (key == IRIS_WIRE_KEY_KEEP_OUTPUT)
    return g_variant_new_uint64 (item->keep_output);
  if (key == IRIS_WIRE_KEY_OUTPUT_POLICY)
    return g_variant_new_string (item->output_policy == IRIS_WIRE_OUTPUT_POLICY_TAIL ? "tail"
                                                                                     : "head-tail");
  return NULL;
}

/* NULL if @key is no number of milliseconds either. */
static GVariant *
time_of (const IrisWireMessage *item, IrisWireKey key)
{
  switch ((guint) key)
    {
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
      return kept_of (item, key);
    }
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
    case IRIS_WIRE_KEY_TRACEPARENT:
      return dup_string (&item->traceparent);
    case IRIS_WIRE_KEY_TRACESTATE:
      return dup_string (&item->tracestate);
    case IRIS_WIRE_KEY_QUEUE:
      return dup_string (&item->queue);
    case IRIS_WIRE_KEY_NODE:
      return dup_string (&item->node);
    case IRIS_WIRE_KEY_ANY_NODE:
      return g_variant_new_boolean (item->any_node);
    case IRIS_WIRE_KEY_NEAR_ITEM:
      return g_variant_new_uint64 (item->near_item);
    case IRIS_WIRE_KEY_ARGS:
      return dup_list (&item->args);
    case IRIS_WIRE_KEY_ENVIRONMENT:
      return dup_list (&item->environment);
    case IRIS_WIRE_KEY_LIMITS:
      return dup_list (&item->limits);
    case IRIS_WIRE_KEY_HOOK:
      return dup_list (&item->hook);
    case IRIS_WIRE_KEY_HINT:
      return g_variant_new_int32 (item->hint);
    case IRIS_WIRE_KEY_NICE:
      return g_variant_new_int32 (item->nice);
    case IRIS_WIRE_KEY_STRICT:
      return g_variant_new_boolean (item->strict);
    case IRIS_WIRE_KEY_FOOTPRINT:
      return g_variant_new_uint64 (item->footprint);
    case IRIS_WIRE_KEY_KEEP_APART:
      return g_variant_new_boolean (item->keep_apart);
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
    default:
      return time_of (item, key);
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

gpointer
iris_client_exported_item_read (const IrisWireMessage *answer, GError **error)
{
  IrisWireBatchIter iter;
  IrisWireMessage item;

  if (!iris_wire_batch_iter_init (&iter, answer->body, NULL, error)
      || iris_wire_batch_iter_next (&iter, &item, error) != IRIS_WIRE_BATCH_ITEM)
    return NULL;
  return item_to_variant (&item);
}
