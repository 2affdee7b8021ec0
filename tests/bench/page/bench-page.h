/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A report as one page of HTML that needs no other file: tables, charts, machine and method.
 */
#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* NULL if the report is none. */
char *bench_page_new (JsonNode *report);

gboolean bench_page_save (JsonNode *report, const char *file, GError **error);

/* A folder with all forms of it: index.html, report.md with charts/WORKLOAD.svg, summary.svg where
 * the loads of it were run, report.json, and samples.csv with a line for each sample. */
gboolean bench_page_write (JsonNode *report, const char *folder, GError **error);
/* Before anything is measured: can the folder be written? It is made if it is not there. */
gboolean bench_page_check (const char *folder, GError **error);

/* Colours, light and dark; what is in drawings; and the rest. */
extern const char bench_page_colours[];
extern const char bench_page_drawing[];
extern const char bench_page_style[];
extern const char bench_page_method[];

G_END_DECLS
