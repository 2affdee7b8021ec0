/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The options that say which of the persistent items are meant.
 */
#pragma once

#include "clients/irisctl/irisctl.h"

/* The options, and what they say as a query. NULL after printing what is wrong with them. */
GOptionEntry *ctl_filter_entries (CtlFilter *filter);
IrisClientQuery *ctl_filter_make_query (const CtlFilter *filter, const char *command);
gboolean ctl_filter_is_given (const CtlFilter *filter);
gboolean ctl_filter_names_states (const CtlFilter *filter);
void ctl_filter_clear (CtlFilter *filter);

/* Makes a query ask for items that have not ended. */
void ctl_filter_add_open_states (IrisClientQuery *query);

/* Sets of states; bit N: the state N. */
void ctl_filter_add_states (IrisClientQuery *query, guint states);
guint ctl_filter_parse_state (const char *name);
const char *ctl_filter_state_name (IrisClientItemState state);

/* The states that the options name; all if they name none. CTL_USAGE after printing what is wrong.
 */
int ctl_filter_get_states (const CtlFilter *filter, const char *command, guint *states);

/* The next page of a list, waited for; empty at the end, NULL with @error. */
GPtrArray *ctl_filter_next_page (Ctl *ctl, IrisClientQuery *query, GError **error);
