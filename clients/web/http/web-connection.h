/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A connection to irisd-web: reads the head of its request before libsoup does.
 *
 * libsoup's server bounds neither the time nor the number of its connections, and libsoup 3.2 keeps
 * a connection that the client closes between two requests for ever. So irisd-web accepts
 * connections itself, does the TLS handshake, reads the whole head within `request-ms` and the
 * limits on its size, and only then gives the connection to libsoup, as a stream that begins with
 * the bytes read. Each connection carries one request.
 */
#pragma once

#include "clients/web/base/web-limits.h"

#include <gio/gio.h>

G_BEGIN_DECLS

#define WEB_TYPE_CONNECTION (web_connection_get_type ())
G_DECLARE_FINAL_TYPE (WebConnection, web_connection, WEB, CONNECTION, GIOStream)

/* What came of the head: a status of 0 for a head that is whole, else the HTTP status to answer
 * with and its reason, or a status of 1 if the connection has ended. */
typedef void (*WebConnectionHead) (WebConnection *self,
                                   guint status,
                                   const char *why,
                                   gpointer user_data);

/* @certificate: NULL without TLS. @head is called once, unless the connection is closed before. */
WebConnection *web_connection_new (GSocketConnection *base,
                                   GTlsCertificate *certificate,
                                   const WebLimits *limits,
                                   WebConnectionHead head,
                                   gpointer user_data);
GSocket *web_connection_get_socket (WebConnection *self);
GSocketAddress *web_connection_get_address (WebConnection *self);

G_END_DECLS
