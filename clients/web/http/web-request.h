/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A request that irisd-web answers, and what its handlers share.
 */
#pragma once

#include "clients/web/base/web-limits.h"
#include "clients/web/http/web-connections.h"
#include "clients/web/http/web-events.h"
#include "clients/web/http/web-sessions.h"
#include "clients/web/state/web-history.h"
#include "clients/web/state/web-metrics.h"
#include "clients/web/state/web-state.h"

#include <json-glib/json-glib.h>
#include <libsoup/soup.h>

G_BEGIN_DECLS

typedef struct
{
  const WebLimits *limits;
  WebTokens *tokens;
  WebSessions *sessions;
  WebConnections *connections;
  WebEvents *events;
  WebState *state;
  WebHistory *history;
  const WebExportCounts *exports; /* nullable */
  guint waiting;                  /* requests that wait for irisd */
  guint64 requests;
  gboolean loopback;
  gboolean tls;
} WebContext;

typedef struct
{
  WebContext *context;
  SoupServerMessage *message;
  GHashTable *query; /* nullable */
  guint64 number;    /* of the path, if it has one */
  WebRole role;
  char *user;       /* the token's name, or empty */
  char *token_hash; /* nullable */
  gint64 expires_ms;
  gboolean by_cookie;
  gboolean waits;
} WebRequest;

WebRequest *web_request_new (WebContext *context, SoupServerMessage *message, GHashTable *query);
/* Frees one that does not wait. */
void web_request_unref_unless_waiting (WebRequest *self);

/* Finds the role of the request's token or session. FALSE if it has a token that is not valid: that
 * is answered. */
gboolean web_request_find_role (WebRequest *self);
/* FALSE if a POST may come from another site, or is not JSON: that is answered. */
gboolean web_request_check_post (WebRequest *self);
/* The object that the body is. NULL if it is none: that is answered. */
JsonNode *web_request_read_body (WebRequest *self);
/* The session's id in the cookie, or NULL. */
char *web_request_dup_session (WebRequest *self);
/* FALSE if the query has a name that is not in the list: that is answered. */
gboolean web_request_check_query (WebRequest *self, const char *const *names);

/* Keeps the request until web_request_finish(). FALSE if too many wait: that is answered. */
gboolean web_request_wait (WebRequest *self);
/* Sends the answer that is set by then, and frees the request. */
void web_request_finish (WebRequest *self);
/* The answer to a call that irisd refused or could not be asked; then web_request_finish(). */
void web_request_finish_error (WebRequest *self, const char *what, const GError *error);

G_END_DECLS
