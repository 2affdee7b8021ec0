/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A chart: panels of bars or of lines, without the drawing of them.
 */
#pragma once

#include <glib.h>

typedef struct
{
  char *name; /* of the contender */
  char *kind; /* "iris", "peer", "plain" */
  gdouble x;  /* of a line */
  gdouble value;
  gdouble low; /* the middle half of the rounds is from here */
  gdouble high;
} BenchPoint;

/* Bars: a point each. Lines: points of one name belong together, in order of x. */
typedef struct
{
  char *title;
  char *value_label; /* with its unit */
  char *x_label;     /* lines; NULL: bars */
  gboolean is_time;  /* so a logarithmic axis may be best */
  GArray *points;    /* of BenchPoint */
} BenchPanel;

typedef struct
{
  char *title;
  char *subtitle;
  GPtrArray *panels;
} BenchChart;

/* The picture, as "svg" or "png". */
GBytes *bench_gnuplot_draw (const BenchChart *chart, const char *format, GError **error);
/* Is it there? */
gboolean bench_gnuplot_check (GError **error);
