/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Something that was asked of irisd and is not answered yet.
 */
#include "iris-client-call-private.h"
#include <iris-client/request/iris-request-private.h>

#include <string.h>

IrisClientCall *
iris_client_call_new (const IrisClientCall *what, guint64 serial, gpointer owner)
{
  IrisClientCall *self = g_memdup2 (what, sizeof *what);

  self->serial = serial;
  self->owner = owner;
  self->place = -1;
  self->link.data = self;
  self->watch_link.data = self;
  return self;
}

/* Takes a call that is in no queue and no table any more. @done may do anything; the call is freed
 * after it. */
void
iris_client_call_finish (IrisClientCall *self, const IrisWireMessage *answer, const GError *error)
{
  if (self->done != NULL)
    self->done (self, answer, error);
  g_clear_pointer (&self->request, iris_request_unref);
  g_clear_pointer (&self->query, iris_client_query_unref);
  if (self->output_data.destroy != NULL)
    self->output_data.destroy (self->output_data.data);
  g_free (self->message);
  g_free (self->node);
  g_clear_pointer (&self->settings, g_variant_unref);
  g_clear_pointer (&self->body, g_bytes_unref);
  g_clear_pointer (&self->parts, g_byte_array_unref);
  g_free (self);
}

static void
set_string (IrisWireMessage *message, IrisWireKey key, const char *text)
{
  if (text != NULL)
    iris_wire_message_set_string (message, key, text, -1);
}

static void
set_list (IrisWireMessage *message, IrisWireKey key, char **list)
{
  if (list != NULL)
    iris_wire_message_set_list (message, key, (const char *const *) list);
}

static void
fill_command (const IrisRequest *request, IrisWireMessage *message)
{
  set_string (message, IRIS_WIRE_KEY_DIRECTORY, request->directory);
  set_list (message, IRIS_WIRE_KEY_ENVIRONMENT, request->environment);
  set_list (message, IRIS_WIRE_KEY_LIMITS, request->limits);
  if (request->clear_environment)
    iris_wire_message_set_boolean (message, IRIS_WIRE_KEY_CLEAR_ENVIRONMENT, TRUE);
  if (request->nice > 0)
    iris_wire_message_set_int (message, IRIS_WIRE_KEY_NICE, request->nice);
  if (request->time_limit_ms > 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_TIME_LIMIT_MS, request->time_limit_ms);
  if (request->has_grace)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_GRACE_MS, request->grace_ms);
  if (request->output != NULL)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_STREAM, IRIS_CLIENT_OUTPUT_WINDOW);
  if (request->has_keep_output)
    {
      iris_wire_message_set_uint (message, IRIS_WIRE_KEY_KEEP_OUTPUT, request->keep_output);
      iris_wire_message_set_uint (message, IRIS_WIRE_KEY_OUTPUT_POLICY,
                                  request->keep_tail ? IRIS_WIRE_OUTPUT_POLICY_TAIL
                                                     : IRIS_WIRE_OUTPUT_POLICY_HEAD_AND_TAIL);
    }
}

static void
fill_follow (IrisClientCall *self, IrisWireMessage *message)
{
  iris_wire_message_set_uint (message, IRIS_WIRE_KEY_ITEM, self->item);
  if (self->offset > 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_OFFSET, self->offset);
  iris_wire_message_set_uint (message, IRIS_WIRE_KEY_GRANT, IRIS_CLIENT_OUTPUT_WINDOW);
}

static void
fill_question (IrisClientCall *self, IrisWireMessage *message)
{
  if (self->item > 0 || self->type != IRIS_WIRE_KICK)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_ITEM, self->item);
  if (self->wait_ms > 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_WAIT_MS, self->wait_ms);
  if (self->count > 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_COUNT, self->count);
  if (self->wanted > 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_STATE, self->wanted);
  if (self->whole)
    iris_wire_message_set_boolean (message, IRIS_WIRE_KEY_PAYLOAD, TRUE);
  set_string (message, IRIS_WIRE_KEY_MESSAGE, self->message);
}

static void
fill_change (IrisClientCall *self, IrisWireMessage *message)
{
  iris_wire_message_set_int (message, IRIS_WIRE_KEY_PLACE, self->changed_place);
  if (self->type == IRIS_WIRE_DRAIN)
    iris_wire_message_set_boolean (message, IRIS_WIRE_KEY_DRAINED, self->drained);
  else
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_WORKERS, self->count);
}

static void
fill_schedule (const IrisRequest *request, IrisWireMessage *message)
{
  if (request->delay_ms > 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_DELAY_MS, request->delay_ms);
  if (request->at_ms >= 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_AT_MS, (guint64) request->at_ms);
  if (request->priority >= 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_PRIORITY, (guint64) request->priority);
  set_string (message, IRIS_WIRE_KEY_QUEUE, request->queue);
  if (request->n_after > 0)
    iris_wire_message_set_numbers (message, IRIS_WIRE_KEY_AFTER, request->after, request->n_after);
  set_list (message, IRIS_WIRE_KEY_AFTER_AWAY, request->after_away);
  if (request->after_how != 0 && (request->n_after > 0 || request->after_away != NULL))
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_AFTER_HOW, request->after_how);
  if (request->retries > 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_RETRIES, request->retries);
  if (request->retries > 0 && request->has_backoff)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_BACKOFF_MS, request->backoff_ms);
  if (request->time_to_run_ms > 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_TIME_TO_RUN_MS, request->time_to_run_ms);
  if (request->deadline_ms > 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_DEADLINE_MS, request->deadline_ms);
  set_list (message, IRIS_WIRE_KEY_HOOK, request->hook);
  if (request->wait_for_service)
    iris_wire_message_set_boolean (message, IRIS_WIRE_KEY_WAIT_FOR_SERVICE, TRUE);
}

/* The item keeps its hook, and what it comes after. */
static void
fill_times (const IrisRequest *request, IrisWireMessage *message)
{
  if (request->has_delay)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_DELAY_MS, request->delay_ms);
  if (request->at_ms >= 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_AT_MS, (guint64) request->at_ms);
  if (request->priority >= 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_PRIORITY, (guint64) request->priority);
  set_string (message, IRIS_WIRE_KEY_QUEUE, request->queue);
}

static void
fill_edit (const IrisClientCall *self, IrisWireMessage *message)
{
  const IrisRequest *request = self->request;

  iris_wire_message_set_uint (message, IRIS_WIRE_KEY_ITEM, self->item);
  fill_times (request, message);
  if (self->place >= 0)
    iris_wire_message_set_int (message, IRIS_WIRE_KEY_HINT, self->place);
  if (request->strict)
    iris_wire_message_set_boolean (message, IRIS_WIRE_KEY_STRICT, TRUE);
  if (request->args != NULL)
    iris_wire_message_set_args (message, (const char *const *) request->args);
  if (request->keep_set)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_KEEP_MS, request->keep_ms);
  if (request->bury)
    iris_wire_message_set_boolean (message, IRIS_WIRE_KEY_BURY, TRUE);
  if (request->has_retries)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_RETRIES, request->retries);
  if (request->has_backoff)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_BACKOFF_MS, request->backoff_ms);
  if (request->time_to_run_ms > 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_TIME_TO_RUN_MS, request->time_to_run_ms);
  if (request->deadline_ms > 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_DEADLINE_MS, request->deadline_ms);
  if (request->time_limit_ms > 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_TIME_LIMIT_MS, request->time_limit_ms);
  if (request->has_grace)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_GRACE_MS, request->grace_ms);
}

static void
fill_again (const IrisClientCall *self, IrisWireMessage *message)
{
  iris_wire_message_set_uint (message, IRIS_WIRE_KEY_ITEM, self->item);
  if (self->request == NULL)
    return;
  fill_times (self->request, message);
  set_string (message, IRIS_WIRE_KEY_KEY, self->request->key);
}

/* The place is one of another node, which knows it. */
static void
fill_node (const IrisRequest *request, IrisWireMessage *message)
{
  set_string (message, IRIS_WIRE_KEY_NODE, request->node);
  if (request->any_node)
    iris_wire_message_set_boolean (message, IRIS_WIRE_KEY_ANY_NODE, TRUE);
  set_string (message, IRIS_WIRE_KEY_HINT_NAME, request->place_name);
  if (request->place >= 0)
    iris_wire_message_set_int (message, IRIS_WIRE_KEY_HINT, request->place);
}

static void
fill_submit (IrisClientCall *self, IrisWireMessage *message)
{
  IrisRequest *request = self->request;

  set_string (message, IRIS_WIRE_KEY_SERVICE, request->service);
  set_string (message, IRIS_WIRE_KEY_CONTENT_TYPE, request->content_type);
  set_string (message, IRIS_WIRE_KEY_PATH, request->path);
  if (iris_request_is_for_others (request))
    fill_node (request, message);
  else if (self->place >= 0)
    iris_wire_message_set_int (message, IRIS_WIRE_KEY_HINT, self->place);
  if (request->near_item > 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_NEAR_ITEM, request->near_item);
  set_string (message, IRIS_WIRE_KEY_NEAR_PATH, request->near_path);
  set_string (message, IRIS_WIRE_KEY_TRACEPARENT, request->traceparent);
  set_string (message, IRIS_WIRE_KEY_TRACESTATE, request->tracestate);
  if (request->strict)
    iris_wire_message_set_boolean (message, IRIS_WIRE_KEY_STRICT, TRUE);
  if (request->footprint > 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_FOOTPRINT, request->footprint);
  if (request->keep_apart)
    iris_wire_message_set_boolean (message, IRIS_WIRE_KEY_KEEP_APART, TRUE);
  if (request->args != NULL)
    iris_wire_message_set_args (message, (const char *const *) request->args);
  fill_command (request, message);
  if (request->durability != IRIS_DURABILITY_VOLATILE)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_CLASS, request->durability);
  set_string (message, IRIS_WIRE_KEY_KEY, request->key);
  if (self->session != NULL)
    iris_wire_message_set_string (message, IRIS_WIRE_KEY_SESSION, (const char *) self->session,
                                  IRIS_WIRE_SESSION_SIZE);
  if (request->keep_set)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_KEEP_MS, request->keep_ms);
  if (request->bury)
    iris_wire_message_set_boolean (message, IRIS_WIRE_KEY_BURY, TRUE);
  fill_schedule (request, message);
  if (request->progress != NULL)
    iris_wire_message_set_boolean (message, IRIS_WIRE_KEY_PROGRESS, TRUE);
  if (request->part != NULL)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_PARTS, IRIS_CLIENT_OUTPUT_WINDOW);
  /* How it ends is what counts; being accepted is worth a message only if nothing else comes, or to
   * who asks for it. */
  if (request->detached)
    iris_wire_message_set_boolean (message, IRIS_WIRE_KEY_DETACH, TRUE);
  else if (request->accepted == NULL)
    iris_wire_message_set_boolean (message, IRIS_WIRE_KEY_QUIET, TRUE);
  if (request->payload != NULL)
    {
      gsize size;
      gconstpointer data = g_bytes_get_data (request->payload, &size);

      iris_wire_message_set_body (message, data, size);
    }
}

static void
fill_setting (IrisWireMessage *message, const char *name, GVariant *value)
{
  static const struct
  {
    const char *name;
    IrisWireKey key;
  } keys[] = {
    { "calendar", IRIS_WIRE_KEY_CALENDAR },   { "every-ms", IRIS_WIRE_KEY_EVERY_MS },
    { "zone", IRIS_WIRE_KEY_ZONE },           { "jitter-ms", IRIS_WIRE_KEY_JITTER_MS },
    { "missed", IRIS_WIRE_KEY_MISSED },       { "overlap", IRIS_WIRE_KEY_OVERLAP },
    { "suspended", IRIS_WIRE_KEY_SUSPENDED }, { "remove", IRIS_WIRE_KEY_REMOVE },
    { "count", IRIS_WIRE_KEY_COUNT },         { "queue-limit", IRIS_WIRE_KEY_QUEUE_LIMIT },
    { "priority", IRIS_WIRE_KEY_PRIORITY },
  };

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    if (g_str_equal (keys[i].name, name))
      {
        if (g_variant_is_of_type (value, G_VARIANT_TYPE_STRING))
          set_string (message, keys[i].key, g_variant_get_string (value, NULL));
        else if (g_variant_is_of_type (value, G_VARIANT_TYPE_BOOLEAN))
          iris_wire_message_set_boolean (message, keys[i].key, g_variant_get_boolean (value));
        else if (g_variant_is_of_type (value, G_VARIANT_TYPE_UINT64))
          iris_wire_message_set_uint (message, keys[i].key, g_variant_get_uint64 (value));
        else
          iris_wire_message_set_uint (message, keys[i].key, g_variant_get_uint32 (value));
      }
}

static void
fill_settings (IrisClientCall *self, IrisWireMessage *message)
{
  GVariantIter iter;
  const char *name;
  GVariant *value;

  set_string (message, self->type == IRIS_WIRE_QUEUE ? IRIS_WIRE_KEY_QUEUE : IRIS_WIRE_KEY_SCHEDULE,
              self->message);
  g_variant_iter_init (&iter, self->settings);
  /* The values stay those of the settings, from which the message borrows. */
  while (g_variant_iter_next (&iter, "{&sv}", &name, &value))
    {
      fill_setting (message, name, value);
      g_variant_unref (value);
    }
  if (self->body != NULL)
    {
      gsize size;
      gconstpointer data = g_bytes_get_data (self->body, &size);

      iris_wire_message_set_body (message, data, size);
    }
}

static void
fill_schedules (IrisClientCall *self, IrisWireMessage *message)
{
  set_string (message, IRIS_WIRE_KEY_SCHEDULE, self->message);
  if (self->body != NULL)
    {
      gsize size;
      const char *data = g_bytes_get_data (self->body, &size);

      iris_wire_message_set_string (message, IRIS_WIRE_KEY_KEY, data, (gssize) size);
    }
}

static void
fill_node_change (IrisClientCall *self, IrisWireMessage *message)
{
  set_string (message, IRIS_WIRE_KEY_NODE, self->message);
  iris_wire_message_set_boolean (message,
                                 self->removes ? IRIS_WIRE_KEY_REMOVE : IRIS_WIRE_KEY_DRAINED,
                                 self->removes || self->drained);
}

/* @message borrows from the call. */
void
iris_client_call_fill (IrisClientCall *self, const guint8 *prefix, IrisWireMessage *message)
{
  guint8 id[IRIS_WIRE_ID_SIZE];

  iris_client_id_write (id, prefix, self->serial);
  iris_wire_message_init (message, self->type, id);
  set_string (message, IRIS_WIRE_KEY_NODE, self->node);
  if (self->type == IRIS_WIRE_SUBMIT)
    fill_submit (self, message);
  else if (self->type == IRIS_WIRE_FETCH || self->type == IRIS_WIRE_SHOW
           || self->type == IRIS_WIRE_KICK || self->type == IRIS_WIRE_BURY
           || self->type == IRIS_WIRE_SUSPEND || self->type == IRIS_WIRE_RESUME)
    fill_question (self, message);
  else if (self->type == IRIS_WIRE_SCHEDULE || self->type == IRIS_WIRE_QUEUE)
    fill_settings (self, message);
  else if (self->type == IRIS_WIRE_SCHEDULES)
    fill_schedules (self, message);
  else if (self->type == IRIS_WIRE_EDIT)
    fill_edit (self, message);
  else if (self->type == IRIS_WIRE_AGAIN)
    fill_again (self, message);
  else if (self->type == IRIS_WIRE_FOLLOW)
    fill_follow (self, message);
  else if (self->type == IRIS_WIRE_BACKUP)
    set_string (message, IRIS_WIRE_KEY_PATH, self->message);
  else if (self->type == IRIS_WIRE_NODE)
    fill_node_change (self, message);
  else if (self->type == IRIS_WIRE_LIST)
    iris_client_query_fill (self->query, message);
  else if (self->type == IRIS_WIRE_CANCEL && self->item != 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_ITEM, self->item);
  else if (self->type == IRIS_WIRE_DRAIN || self->type == IRIS_WIRE_SET_WORKERS)
    fill_change (self, message);
  else if (self->type == IRIS_WIRE_SPANS)
    {
      iris_wire_message_set_uint (message, IRIS_WIRE_KEY_OFFSET, self->item);
      if (self->count > 0)
        iris_wire_message_set_uint (message, IRIS_WIRE_KEY_COUNT, self->count);
    }
  else if (self->type == IRIS_WIRE_TRACE)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_WAIT_MS, self->wait_ms);
  else if (self->type == IRIS_WIRE_STATISTICS && self->wanted > 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_SECTIONS, self->wanted);
  else if (self->type == IRIS_WIRE_CANCEL)
    {
      /* Half of an id of ours is random, so it cannot be another client's by accident. */
      iris_wire_message_set_target (message, self->target);
      iris_wire_message_set_boolean (message, IRIS_WIRE_KEY_ANYWHERE, TRUE);
    }
}

void
iris_client_id_write (guint8 *id, const guint8 *prefix, guint64 serial)
{
  guint64 big_endian = GUINT64_TO_BE (serial);

  memcpy (id, prefix, IRIS_CLIENT_ID_PREFIX);
  memcpy (id + IRIS_CLIENT_ID_PREFIX, &big_endian, sizeof big_endian);
}

gboolean
iris_client_id_read (const guint8 *id, const guint8 *prefix, guint64 *serial)
{
  guint64 big_endian;

  memcpy (&big_endian, id + IRIS_CLIENT_ID_PREFIX, sizeof big_endian);
  *serial = GUINT64_FROM_BE (big_endian);
  return memcmp (id, prefix, IRIS_CLIENT_ID_PREFIX) == 0;
}

gboolean
iris_client_id_parse (const char *text, guint8 *id)
{
  if (strlen (text) != 2 * IRIS_WIRE_ID_SIZE)
    return FALSE;
  for (guint i = 0; i < IRIS_WIRE_ID_SIZE; i++)
    {
      int high = g_ascii_xdigit_value (text[2 * i]);
      int low = g_ascii_xdigit_value (text[2 * i + 1]);

      if (high < 0 || low < 0)
        return FALSE;
      id[i] = (guint8) (high << 4 | low);
    }
  return TRUE;
}
