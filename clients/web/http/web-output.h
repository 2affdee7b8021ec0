/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What an item has written, as JSON.
 */
#pragma once

#include "clients/web/http/web-request.h"

G_BEGIN_DECLS

void web_output_show (WebRequest *request);

G_END_DECLS
