/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items as JSON: a list of them, and one.
 */
#pragma once

#include "clients/web/http/web-request.h"

G_BEGIN_DECLS

void web_items_list (WebRequest *request);
void web_items_show (WebRequest *request);
/* The item 0 was asked for. */
void web_items_reply_no_item (WebRequest *request);

G_END_DECLS
