/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The state as JSON, as doc/web-interface.md has it.
 */
#pragma once

#include "clients/web/state/web-state.h"

G_BEGIN_DECLS

/* @all: also worker processes and the names of clients. @more is appended to the object: members,
 * without a comma. */
void web_state_json_write (GString *text, WebState *state, gboolean all, const char *more);

G_END_DECLS
