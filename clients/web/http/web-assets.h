/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The files of the page, which are in the program.
 */
#pragma once

#include "clients/web/http/web-request.h"

G_BEGIN_DECLS

/* The file of @path: / is index.html, others are below /page/. */
void web_assets_reply (WebRequest *request, const char *path);

G_END_DECLS
