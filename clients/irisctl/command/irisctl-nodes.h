/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What irisctl nodes and irisctl nodes --watch share.
 */
#pragma once

#include "clients/irisctl/command/irisctl-command.h"
#include "clients/irisctl/output/irisctl-output.h"

/* Asks irisd; the caller's, or NULL with an error. */
GVariant *ctl_nodes_get (Ctl *ctl, GError **error);

/* Why this irisd is in no cluster. */
const char *ctl_nodes_why_none (GVariant *nodes);

/* The nodes in lines as wide as the terminal at most. */
char *ctl_nodes_to_table (const Ctl *ctl, GVariant *nodes);

/* @line: on one line. */
void ctl_nodes_print_json (GVariant *nodes, gboolean line);

int ctl_nodes_watch (Ctl *ctl, double interval_s, int count);
