/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A GSource over a ZeroMQ socket.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* How many messages one dispatch may hand over before other sources get their turn. */
#define IRIS_CLIENT_SOURCE_BUDGET 256

/* Takes one message off @socket. Returns FALSE when there was none, or none is wanted now. */
typedef gboolean (*IrisClientSourceFunc) (void *socket, gpointer user_data);

GSource *iris_client_source_new (void *socket,
                                 IrisClientSourceFunc read,
                                 IrisClientSourceFunc write,
                                 gpointer user_data);
void iris_client_source_set_wants_write (GSource *source, gboolean wants_write);

/* Ends a source of any kind, if there is one. */
static inline void
iris_client_source_clear (GSource **source)
{
  if (*source != NULL)
    g_source_destroy (*source);
  g_clear_pointer (source, g_source_unref);
}

G_END_DECLS
