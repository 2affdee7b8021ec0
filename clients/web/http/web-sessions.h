/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sessions of pages: a cookie that stands for a token, so that the page keeps no token.
 */
#pragma once

#include "clients/web/base/web-tokens.h"

G_BEGIN_DECLS

typedef struct _WebSessions WebSessions;

WebSessions *web_sessions_new (WebTokens *tokens, guint most);
void web_sessions_free (WebSessions *self);

/* The id of a new session, for its cookie; the oldest session ends if there are too many. */
const char *web_sessions_begin (WebSessions *self, const WebToken *token);
void web_sessions_end (WebSessions *self, const char *id);
/* NULL if the session has ended, or its token. */
const WebToken *web_sessions_find (WebSessions *self, const char *id);

/* Failed logins: FALSE if the address had too many in this minute. */
gboolean web_sessions_may_try (WebSessions *self, const char *address);
void web_sessions_note_failure (WebSessions *self, const char *address);

G_END_DECLS
