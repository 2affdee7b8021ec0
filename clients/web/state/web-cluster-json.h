/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The nodes of the cluster as JSON, as doc/web-interface.md has it.
 */
#pragma once

#include "clients/web/base/web-json.h"
#include "clients/web/state/web-state.h"

G_BEGIN_DECLS

/* The name of an #IrisWireClusterState. */
const char *web_cluster_name_state (guint32 state);
/* Writes the member “cluster” if irisd is configured for one. @all: also what only those see who
 * see items. */
void web_cluster_json_write (WebJson *json, const WebSample *sample, gboolean all);

G_END_DECLS
