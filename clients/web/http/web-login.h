/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * /session, /login and /logout.
 */
#pragma once

#include "clients/web/http/web-request.h"

G_BEGIN_DECLS

void web_login_show (WebRequest *request);
void web_login_begin (WebRequest *request);
void web_login_end (WebRequest *request);

G_END_DECLS
