/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * All connections to irisd-web: where it listens, how many there are, and how long each may take.
 */
#pragma once

#include "clients/web/base/web-limits.h"
#include "clients/web/http/web-stream.h"

#include <libsoup/soup.h>

G_BEGIN_DECLS

typedef struct _WebConnections WebConnections;

/* Gives connections with a whole head to @server; @limits lives as long. @certificate: NULL without
 * TLS. */
WebConnections *
web_connections_new (SoupServer *server, const WebLimits *limits, GTlsCertificate *certificate);
void web_connections_free (WebConnections *self);
/* The address in use: that of a free port if @address has port 0. */
GSocketAddress *
web_connections_listen (WebConnections *self, GSocketAddress *address, GError **error);
guint web_connections_count (WebConnections *self);
/* Takes the connection of @message from libsoup; it still counts, and has no limit on its time. */
WebStream *
web_connections_take (SoupServerMessage *message, WebStreamClosed closed, gpointer user_data);
/* Takes it, answers with an error, and closes it: nothing more of the request is read. */
void web_connections_refuse (WebConnections *self,
                             SoupServerMessage *message,
                             guint status,
                             const char *name,
                             const char *text);

G_END_DECLS
