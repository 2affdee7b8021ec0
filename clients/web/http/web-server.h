/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The HTTP side of irisd-web: where it listens, its paths, and what it refuses.
 */
#pragma once

#include "clients/web/base/web-limits.h"
#include "clients/web/base/web-tokens.h"
#include "clients/web/state/web-history.h"
#include "clients/web/state/web-metrics.h"
#include "clients/web/state/web-state.h"

G_BEGIN_DECLS

typedef struct
{
  const char *address; /* ADDRESS:PORT */
  const char *tls_certificate;
  const char *tls_key;
  char **hosts; /* nullable */
  WebLimits limits;
  const WebExportCounts *exports; /* nullable */
} WebServerOptions;

typedef struct _WebServer WebServer;

/* Listens. @options, @tokens, @state and @history live as long as the result. */
WebServer *web_server_new (const WebServerOptions *options,
                           WebTokens *tokens,
                           WebState *state,
                           WebHistory *history,
                           GError **error);
void web_server_free (WebServer *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WebServer, web_server_free)

const char *web_server_get_url (WebServer *self);

G_END_DECLS
