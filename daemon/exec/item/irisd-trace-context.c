/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The trace context of an item: the distributed trace that it belongs to, and its span there.
 *
 * The id of a span is computed from the trace, the parent, the item's number and a salt that this
 * irisd keeps over restarts. So an item that is spilled, tried again, or run after a restart is the
 * same span, and nothing has to be stored but the message that brought it.
 */
#include "daemon/exec/item/irisd-trace-context.h"

#include <string.h>

/* Bytes of `tracestate`, the least that W3C has everyone pass on. */
#define MOST_STATE 512

static gboolean
check_state (const IrisWireMessage *item, GError **error)
{
  if (!iris_wire_message_has (item, IRIS_WIRE_KEY_TRACESTATE))
    return TRUE;
  if (!iris_wire_message_has (item, IRIS_WIRE_KEY_TRACEPARENT))
    g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                         "a tracestate means nothing by itself: send a traceparent with it");
  else if (item->tracestate.len > MOST_STATE)
    g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                 "the tracestate has %zu bytes and may have %d: leave out its last entries",
                 (gsize) item->tracestate.len, MOST_STATE);
  else
    return TRUE;
  return FALSE;
}

/* Returns whether what @item says of a trace can be passed on. */
gboolean
irisd_trace_context_check (const IrisWireMessage *item, GError **error)
{
  IrisWireTraceparent parent;
  if (!check_state (item, error))
    return FALSE;
  if (!iris_wire_message_has (item, IRIS_WIRE_KEY_TRACEPARENT)
      || iris_wire_traceparent_parse (item->traceparent.data, item->traceparent.len, &parent))
    return TRUE;
  g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                       "the traceparent cannot be read: give version, trace, span and flags in "
                       "lower-case hexadecimal digits, as in "
                       "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01, or leave it out");
  return FALSE;
}

/* Returns NULL if @item belongs to no trace. */
IrisdTraceContext *
irisd_trace_context_new (const IrisWireMessage *item)
{
  IrisWireTraceparent parent;
  if (!iris_wire_message_has (item, IRIS_WIRE_KEY_TRACEPARENT)
      || !iris_wire_traceparent_parse (item->traceparent.data, item->traceparent.len, &parent))
    return NULL;
  IrisdTraceContext *self = g_new0 (IrisdTraceContext, 1);
  self->own = parent;
  memcpy (self->parent, parent.span, sizeof self->parent);
  if (iris_wire_message_has (item, IRIS_WIRE_KEY_TRACESTATE))
    self->tracestate = iris_wire_string_dup (&item->tracestate);
  return self;
}

/* @self: (nullable) */
IrisdTraceContext *
irisd_trace_context_copy (const IrisdTraceContext *self)
{
  if (self == NULL)
    return NULL;
  IrisdTraceContext *copy = g_memdup2 (self, sizeof *self);
  copy->traceparent = g_strdup (self->traceparent);
  copy->tracestate = g_strdup (self->tracestate);
  return copy;
}

void
irisd_trace_context_free (IrisdTraceContext *self)
{
  if (self == NULL)
    return;
  g_free (self->traceparent);
  g_free (self->tracestate);
  g_free (self);
}

/* The finishing function of a generator of random numbers: each bit of @value changes about half of
 * the result's (G. Steele, D. Lea and C. Flood, "Fast Splittable Pseudorandom Number Generators",
 * OOPSLA 2014, mix64 of their figure 16). */
static guint64
mix (guint64 value)
{
  value = (value ^ (value >> 33)) * G_GUINT64_CONSTANT (0xff51afd7ed558ccd);
  value = (value ^ (value >> 33)) * G_GUINT64_CONSTANT (0xc4ceb9fe1a85ec53);
  return value ^ (value >> 33);
}

/* Gives the item's span its id. @salt: of this irisd; @item: its number. */
void
irisd_trace_context_name_span (IrisdTraceContext *self, guint64 salt, guint64 item)
{
  guint64 words[3];
  memcpy (words, self->own.trace, sizeof self->own.trace);
  memcpy (&words[2], self->parent, sizeof self->parent);
  guint64 id = mix (salt ^ mix (item));
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    id = mix (id ^ words[i]);
  id = GUINT64_TO_BE (id != 0 ? id : 1);
  memcpy (self->own.span, &id, sizeof id);
  g_free (self->traceparent);
  self->traceparent = iris_wire_traceparent_format (&self->own);
}

/* Returns the id of the parent's span, in digits. */
char *
irisd_trace_context_format_parent (const IrisdTraceContext *self)
{
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < sizeof self->parent; i++)
    g_string_append_printf (text, "%02x", self->parent[i]);
  return g_string_free (text, FALSE);
}

/* Returns a number that differs between the irisds of this and other machines. @dir: where its
 * sockets are. */
guint64
irisd_trace_context_make_salt (const char *dir)
{
  g_autofree char *name = g_strconcat (g_get_host_name (), ":", dir, NULL);
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  guint8 digest[32];
  gsize size = sizeof digest;
  guint64 salt;
  g_checksum_update (checksum, (const guchar *) name, -1);
  g_checksum_get_digest (checksum, digest, &size);
  memcpy (&salt, digest, sizeof salt);
  return salt;
}
