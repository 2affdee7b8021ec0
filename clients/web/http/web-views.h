/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is shown of the state: metrics, health, statistics, events and history.
 */
#pragma once

#include "clients/web/http/web-request.h"

G_BEGIN_DECLS

/* Sends each step of the state to the pages. */
void web_views_attach (WebContext *context);
void web_views_detach (WebContext *context);

void web_views_metrics (WebRequest *request);
void web_views_healthz (WebRequest *request);
void web_views_readyz (WebRequest *request);
void web_views_statistics (WebRequest *request);
void web_views_events (WebRequest *request);
void web_views_history (WebRequest *request);

G_END_DECLS
