/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The pages that read /events.
 */
#pragma once

#include "clients/web/base/web-limits.h"
#include "clients/web/base/web-tokens.h"

#include <libsoup/soup.h>

G_BEGIN_DECLS

typedef struct _WebEvents WebEvents;

WebEvents *web_events_new (WebTokens *tokens, const WebLimits *limits);
void web_events_free (WebEvents *self);

/* Takes the connection of @message. @token_hash is that of a page which may see more than sums,
 * else NULL. */
void
web_events_add (WebEvents *self, SoupServerMessage *message, const char *token_hash, GBytes *first);
guint web_events_count (WebEvents *self);
/* Pages that see sums only, or that see all. */
gboolean web_events_has_pages (WebEvents *self, gboolean all);
/* @sums and @all are NULL where there are no such pages. Disconnects those that read nothing, or
 * whose token has ended. */
void web_events_send (WebEvents *self, GBytes *sums, GBytes *all);

G_END_DECLS
