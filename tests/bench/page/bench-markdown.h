/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A report as Markdown: what a repository shows beside its code.
 */
#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* Its charts are expected as charts/WORKLOAD.svg beside it. NULL if the report is none. */
char *bench_markdown_new (JsonNode *report);

G_END_DECLS
