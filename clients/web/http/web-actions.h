/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a page can change: items are cancelled, kicked and buried, places are drained and staffed.
 */
#pragma once

#include "clients/web/http/web-request.h"

G_BEGIN_DECLS

void web_actions_cancel (WebRequest *request);
void web_actions_kick (WebRequest *request);
void web_actions_bury (WebRequest *request);
void web_actions_drain (WebRequest *request);
void web_actions_workers (WebRequest *request);

G_END_DECLS
