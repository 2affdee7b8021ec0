/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * W3C trace context: reading and writing `traceparent`.
 *
 * Source: W3C Recommendation "Trace Context", 23 November 2021, section 3.2: version, trace-id,
 * parent-id and flags, in lower-case hexadecimal digits, with hyphens between them. All zeroes are
 * invalid, and so is version ff. A later version may have more behind a further hyphen.
 */
#include "iris-wire-traceparent.h"

#include <string.h>

#define VERSION_AT 0
#define TRACE_AT   3
#define SPAN_AT    36
#define FLAGS_AT   53
#define LENGTH     55

static int
digit_value (char digit)
{
  /* Upper case is refused. */
  return digit >= '0' && digit <= '9'   ? digit - '0'
         : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
                                        : -1;
}

static gboolean
read_bytes (const char *text, guint8 *out, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      int high = digit_value (text[2 * i]), low = digit_value (text[2 * i + 1]);

      if (high < 0 || low < 0)
        return FALSE;
      out[i] = (guint8) (high << 4 | low);
    }
  return TRUE;
}

static gboolean
is_zero (const guint8 *bytes, guint n)
{
  guint8 all = 0;

  for (guint i = 0; i < n; i++)
    all |= bytes[i];
  return all == 0;
}

gboolean
iris_wire_traceparent_parse (const char *text, gsize size, IrisWireTraceparent *self)
{
  guint8 version = 0;

  if (size < LENGTH || !read_bytes (text + VERSION_AT, &version, 1) || version == 0xff
      || (size > LENGTH && (version == 0 || text[LENGTH] != '-')))
    return FALSE;
  if (text[TRACE_AT - 1] != '-' || text[SPAN_AT - 1] != '-' || text[FLAGS_AT - 1] != '-'
      || !read_bytes (text + TRACE_AT, self->trace, sizeof self->trace)
      || !read_bytes (text + SPAN_AT, self->span, sizeof self->span)
      || !read_bytes (text + FLAGS_AT, &self->flags, 1))
    return FALSE;
  self->flags &= IRIS_WIRE_TRACE_SAMPLED;
  return !is_zero (self->trace, sizeof self->trace) && !is_zero (self->span, sizeof self->span);
}

static void
write_bytes (GString *text, const guint8 *bytes, guint n)
{
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "%02x", bytes[i]);
}

char *
iris_wire_traceparent_format (const IrisWireTraceparent *self)
{
  GString *text = g_string_new ("00-");

  write_bytes (text, self->trace, sizeof self->trace);
  g_string_append_c (text, '-');
  write_bytes (text, self->span, sizeof self->span);
  g_string_append_c (text, '-');
  write_bytes (text, &self->flags, 1);
  return g_string_free (text, FALSE);
}
