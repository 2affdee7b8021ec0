/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One hour of irisd in steps of five seconds, in memory.
 */
#pragma once

#include "clients/web/state/web-state.h"

G_BEGIN_DECLS

typedef struct _WebHistory WebHistory;

/* Fills itself from the steps of @state, which lives longer. */
WebHistory *web_history_new (WebState *state);
void web_history_free (WebHistory *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WebHistory, web_history_free)

void web_history_write (WebHistory *self, GString *text, gboolean with_places);

G_END_DECLS
