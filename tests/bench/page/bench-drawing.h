/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Charts of a report as SVG files that stand alone, light or dark as the reader has it.
 */
#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* All charts of a workload, in two columns; NULL if the report has none. */
char *bench_drawing_new (JsonNode *report, const char *workload);

/* One chart of what a scheduler is worth: the same few loads on GAsyncQueue, on pools, and on
 * iris's schedulers. NULL if the report has none of them. */
char *bench_drawing_summary (JsonNode *report);

G_END_DECLS
