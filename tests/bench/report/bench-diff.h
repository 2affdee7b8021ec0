/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What really differs between two reports, and how much is noise.
 */
#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* A series that both have. */
typedef struct
{
  char *name; /* workload, load, contender */
  gboolean is_time;
  gdouble ratio; /* of the medians, the second's to the first's */
  gdouble low;   /* where it lies with a confidence of 95 % */
  gdouble high;
  gdouble chance; /* how likely they differ as much if there is no difference */
  gboolean differs;
} BenchDifference;

typedef struct
{
  GPtrArray *rows; /* of BenchDifference: what differs, most first, then what does not */
  guint n_different;
  GPtrArray *only[2]; /* of char *: series that one of them has */
  GPtrArray *notes;   /* of char *: what else differs, and what is doubtful */
} BenchDiff;

/* NULL, and why, if one of them is not what iris-bench --json prints. */
BenchDiff *bench_diff_new (JsonNode *a, JsonNode *b, GError **error);
void bench_diff_free (BenchDiff *self);
void bench_diff_print (const BenchDiff *self);

G_END_DECLS
