/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Panels of a chart as SVG inside of a page, whose style gives the colours.
 */
#pragma once

#include "tests/bench/report/bench-report.h"

/* Bars, or dots on a logarithmic axis, or lines with their legend: a drawing of its own, and HTML.
 */
void bench_svg_panel (GString *out, const BenchPanel *panel);
/* The same as a part of a drawing, with all in it. Returns its height; its width is this. */
gdouble bench_svg_draw (GString *out, const BenchPanel *panel);
#define BENCH_SVG_WIDTH 400.0
gboolean bench_svg_is_logarithmic (const BenchPanel *panel);

/* A published range and our interval on one axis, which all of a figure share. */
typedef struct
{
  gdouble from, to;
  gboolean is_log;
  gdouble same; /* where there is no difference; NAN: nowhere */
} BenchScale;

void bench_svg_strip (GString *out,
                      const BenchScale *scale,
                      const gdouble published[2],
                      const gdouble ours[3]);

/* With as many digits as matter: "0.12", "12.3", "1234". */
void bench_svg_append_number (GString *out, gdouble value);
void bench_svg_append_text (GString *out, const char *text);
