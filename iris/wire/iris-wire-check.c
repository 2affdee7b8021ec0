/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How encoder and decoder refuse.
 */
#include "iris-wire-check-private.h"

#include <string.h>

void
iris_wire_check_init (IrisWireCheck *self,
                      const IrisWireLimits *limits,
                      const char *what,
                      GError **error)
{
  self->limits = limits != NULL ? limits : iris_wire_limits_default ();
  self->what = what;
  self->index = -1;
  self->limit = NULL;
  self->limit_value = 0;
  self->error = error;
}

void
iris_wire_refuse (IrisWireCheck *self, IrisWireError code, const char *format, ...)
{
  if (self->error == NULL)
    return;

  va_list args;
  va_start (args, format);
  g_autofree char *reason = g_strdup_vprintf (format, args);
  va_end (args);

  if (self->index >= 0)
    g_set_error (self->error, IRIS_WIRE_ERROR, code, "%s, element %" G_GINT64_FORMAT ": %s",
                 self->what, self->index, reason);
  else
    g_set_error (self->error, IRIS_WIRE_ERROR, code, "%s: %s", self->what, reason);
}

void
iris_wire_refuse_limit (IrisWireCheck *self,
                        const char *subject,
                        guint64 size,
                        const char *unit,
                        const char *limit,
                        guint64 value)
{
  self->limit = limit;
  self->limit_value = value;
  iris_wire_refuse (self, IRIS_WIRE_ERROR_TOO_LARGE,
                    "%s of %" G_GUINT64_FORMAT " %s exceeds %s (%" G_GUINT64_FORMAT
                    "); raise it with [limits] %s",
                    subject, size, unit, limit, value, limit);
}

/* Valid UTF-8 without NUL. Most strings are short and plain ASCII: eight bytes a step. */
gboolean
iris_wire_is_text (const char *data, gsize len)
{
  const guint64 high = G_GUINT64_CONSTANT (0x8080808080808080);
  const guint64 ones = G_GUINT64_CONSTANT (0x0101010101010101);

  while (len >= 8)
    {
      guint64 word;
      memcpy (&word, data, 8);
      /* A high bit in the word, or one that a borrow out of a zero byte sets. */
      if (((word | (word - ones)) & high) != 0)
        return g_utf8_validate_len (data, len, NULL);
      data += 8;
      len -= 8;
    }
  for (gsize i = 0; i < len; i++)
    {
      if ((guint8) (data[i] - 1) >= 0x7f)
        return g_utf8_validate_len (data, len, NULL);
    }
  return TRUE;
}

gboolean
iris_wire_check_length (IrisWireCheck *self, guint key, const char *name, gsize len)
{
  gsize most = MIN (self->limits->max_string, (gsize) IRIS_WIRE_MOST_BYTES);

  if (G_LIKELY (len <= most))
    return TRUE;
  g_autofree char *subject = g_strdup_printf ("key %u (%s)", key, name);
  return iris_wire_fail_limit (self, subject, len, "bytes", "max-string", most);
}

gboolean
iris_wire_check_string (IrisWireCheck *self,
                        guint key,
                        const char *name,
                        const IrisWireString *string,
                        gboolean raw)
{
  if (!iris_wire_check_length (self, key, name, string->len))
    return FALSE;
  if (raw)
    {
      if (G_UNLIKELY (string->len > 0 && memchr (string->data, 0, string->len) != NULL))
        return iris_wire_fail (self, IRIS_WIRE_ERROR_MALFORMED,
                               "key %u (%s) holds a NUL byte, which no string may", key, name);
    }
  else if (G_UNLIKELY (!iris_wire_is_text (string->data, string->len)))
    {
      return iris_wire_fail (self, IRIS_WIRE_ERROR_MALFORMED,
                             "key %u (%s) is not valid UTF-8 without NUL bytes", key, name);
    }
  return TRUE;
}

guint
iris_wire_depth (const IrisWireLimits *limits)
{
  return CLAMP (limits->max_depth, IRIS_WIRE_LEAST_DEPTH, IRIS_WIRE_MOST_DEPTH);
}

void
iris_wire_check_leave_refused (const IrisWireCheck *self, IrisWireMessage *message)
{
  guint8 id[IRIS_WIRE_ID_SIZE];

  memcpy (id, message->request_id, sizeof id);
  iris_wire_message_init (message, message->type, id);
  if (self->limit == NULL)
    return;
  iris_wire_message_set_string (message, IRIS_WIRE_KEY_LIMIT, self->limit, -1);
  iris_wire_message_set_uint (message, IRIS_WIRE_KEY_LIMIT_VALUE, self->limit_value);
}
