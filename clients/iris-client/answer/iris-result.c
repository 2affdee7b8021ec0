/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What came of a work item.
 */
#include "iris-client-answer-private.h"

#include <iris-client/base/iris-client-counted-private.h>

#include <string.h>

gpointer
iris_result_read (const IrisWireMessage *message, GError **error)
{
  IrisResult *self = g_atomic_rc_box_new0 (IrisResult);
  gsize size = message->body.size;
  gsize split = size;

  if (iris_wire_message_has (message, IRIS_WIRE_KEY_STDOUT_LENGTH))
    split = MIN (message->stdout_length, size);
  if (iris_wire_message_has (message, IRIS_WIRE_KEY_CONTENT_TYPE))
    self->content_type = iris_wire_string_dup (&message->content_type);
  self->body = g_bytes_new (message->body.data, size);
  self->output = g_bytes_new_from_bytes (self->body, 0, split);
  self->errors = g_bytes_new_from_bytes (self->body, split, size - split);
  self->home = message->home;
  self->place = message->place;
  self->stolen = message->home >= 0 && message->place >= 0 && message->home != message->place;
  self->worker = message->worker;
  self->exit_status = iris_wire_message_has (message, IRIS_WIRE_KEY_EXIT_STATUS)
                          ? message->exit_status
                          : -1;
  self->signal = message->signal;
  self->truncated = message->truncated;
  self->queue_ns = message->queue_ns;
  self->run_ns = message->run_ns;
  self->bytes = message->bytes;
  self->item = message->item;
  self->attempts = MAX (message->attempts, 1);
  if (message->node.len > 0)
    {
      self->node = iris_wire_string_dup (&message->node);
      self->stolen = FALSE;
    }
  return self;
}

static void
iris_result_clear (IrisResult *self)
{
  g_free (self->content_type);
  g_free (self->node);
  g_bytes_unref (self->output);
  g_bytes_unref (self->errors);
  g_bytes_unref (self->body);
}

/**
 * iris_result_ref:
 *
 * Returns: (transfer full): @self, with a reference more; from any thread
 */
/**
 * iris_result_unref:
 * @self: (transfer full): a result
 *
 * Drops a reference. Safe from any thread.
 */
IRIS_CLIENT_DEFINE_COUNTED (IrisResult, iris_result)

/**
 * iris_result_dup_text:
 *
 * Gets what the service gave back (of a command: its standard output) as text: the bytes up to the
 * first NUL, with what is not UTF-8 replaced.
 *
 * Returns: (transfer full): UTF-8 text
 */
char *
iris_result_dup_text (IrisResult *self)
{
  const char *data;
  gsize size;

  g_return_val_if_fail (self != NULL, NULL);

  data = g_bytes_get_data (self->output, &size);
  return g_utf8_make_valid (data != NULL ? data : "", data != NULL ? strnlen (data, size) : 0);
}
