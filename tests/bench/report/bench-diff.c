/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What really differs between two reports, and how much is noise.
 *
 * A series differs if the interval of the ratio of its medians does not hold 1, and if the ranks of
 * its rounds say so too once the number of series is considered: of hundreds of intervals of 95 %
 * some miss by chance. Of all differences that are named one in twenty may be wrong.
 */
#include "tests/bench/report/bench-diff.h"
#include "tests/bench/measure/bench-measure.h"
#include "tests/bench/report/bench-json-reader.h"
#include "tests/bench/report/bench-text.h"

#include <math.h>

#define WRONG 0.05 /* of the differences, at most */

/* With fewer rounds on both sides even the clearest order may be chance. */
#define LEAST_ROUNDS 5

typedef struct
{
  char *name;
  gboolean is_time;
  GArray *samples;
} Side;

static void
side_free (gpointer data)
{
  Side *self = data;

  g_free (self->name);
  g_array_unref (self->samples);
  g_free (self);
}

static void
difference_free (gpointer data)
{
  BenchDifference *self = data;

  g_free (self->name);
  g_free (self);
}

/* --- reading ---------------------------------------------------------------------------------- */

static GArray *
read_samples (JsonObject *series)
{
  JsonArray *array = bench_json_array (series, "samples");
  GArray *samples = g_array_new (FALSE, FALSE, sizeof (gdouble));

  for (guint i = 0; i < bench_json_length (array); i++)
    {
      gdouble value = bench_json_number_at (array, i);

      if (isfinite (value))
        g_array_append_val (samples, value);
    }

  return samples;
}

/* The number of workers is part of the name where a sweep has several. */
static gboolean
read_series (GHashTable *sides,
             GPtrArray *order,
             JsonObject *result,
             JsonObject *series,
             gboolean is_sweep)
{
  const char *workload = bench_json_text (result, "workload");
  const char *load = bench_json_text (series, "load");
  const char *contender = bench_json_text (series, "contender");
  Side *self;

  if (workload == NULL || load == NULL || contender == NULL)
    return FALSE;
  self = g_new0 (Side, 1);
  self->samples = read_samples (series);
  self->is_time = g_strcmp0 (bench_json_text (series, "unit"), "s") == 0;
  if (is_sweep)
    self->name = g_strdup_printf ("%s, %s, %s, %.0f workers", workload, load, contender,
                                  bench_json_number (result, "workers"));
  else
    self->name = g_strdup_printf ("%s, %s, %s", workload, load, contender);
  /* The first of a name stands for all. */
  if (g_hash_table_contains (sides, self->name))
    side_free (self);
  else
    {
      g_hash_table_insert (sides, self->name, self);
      g_ptr_array_add (order, self->name);
    }

  return TRUE;
}

/* All series of a report by their names; @order has these in the order of the report. */
static GHashTable *
read_sides (JsonNode *root, GPtrArray *order)
{
  g_autoptr (GHashTable) sides = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, side_free);
  JsonObject *report = bench_json_report (root);
  JsonArray *results = bench_json_array (report, "results");
  gboolean is_sweep = bench_json_length (bench_json_array (report, "sweep")) > 1;

  if (report == NULL)
    return NULL;
  for (guint i = 0; i < bench_json_length (results); i++)
    {
      JsonObject *result = bench_json_object_at (results, i);
      JsonArray *series = bench_json_array (result, "series");

      for (guint j = 0; j < bench_json_length (series); j++)
        if (!read_series (sides, order, result, bench_json_object_at (series, j), is_sweep))
          return NULL;
    }

  return g_steal_pointer (&sides);
}

/* --- comparing -------------------------------------------------------------------------------- */

static BenchDifference *
compare (const Side *a, const Side *b)
{
  BenchDifference *self = g_new0 (BenchDifference, 1);
  g_autoptr (GArray) base = g_array_copy (a->samples), other = g_array_copy (b->samples);
  gdouble from = bench_quantile (base, 0.5), to = bench_quantile (other, 0.5);

  self->name = g_strdup (a->name);
  self->is_time = a->is_time;
  self->chance = bench_rank_test (a->samples, b->samples);
  bench_ratio_interval (a->samples, b->samples, &self->low, &self->high);
  self->ratio = to / from;
  /* Nothing, as an idle contender takes, and still nothing. */
  if (from <= 0 && to <= 0)
    self->ratio = self->low = self->high = 1;

  return self;
}

/* How far the near end of the interval is from no difference, as a factor. */
static gdouble
importance (const BenchDifference *self)
{
  gdouble near = self->ratio > 1 ? self->low : 1 / self->high;

  return isnan (near) ? INFINITY : near;
}

static int
compare_importance (gconstpointer a, gconstpointer b)
{
  const BenchDifference *x = *(const BenchDifference *const *) a;
  const BenchDifference *y = *(const BenchDifference *const *) b;

  if (x->differs != y->differs)
    return x->differs ? -1 : 1;

  return importance (x) > importance (y) ? -1 : importance (x) < importance (y);
}

static void
judge (BenchDiff *self)
{
  g_autoptr (GArray) chances = g_array_new (FALSE, FALSE, sizeof (gdouble));
  gdouble most;

  for (guint i = 0; i < self->rows->len; i++)
    g_array_append_val (chances, ((BenchDifference *) g_ptr_array_index (self->rows, i))->chance);
  most = bench_discoveries (chances, WRONG);
  for (guint i = 0; i < self->rows->len; i++)
    {
      BenchDifference *row = g_ptr_array_index (self->rows, i);

      row->differs = row->chance <= most && !(row->low <= 1 && row->high >= 1);
      self->n_different += row->differs;
    }
  g_ptr_array_sort (self->rows, compare_importance);
}

static void note (BenchDiff *self, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
note (BenchDiff *self, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_ptr_array_add (self->notes, g_strdup_vprintf (format, args));
  va_end (args);
}

static void
note_machines (BenchDiff *self, JsonObject *const reports[2])
{
  const char *names[2] = { NULL };

  for (guint i = 0; i < 2; i++)
    {
      JsonObject *machine = bench_json_object (reports[i], "machine");
      JsonArray *warnings = bench_json_array (machine, "warnings");
      gdouble rounds = bench_json_number (reports[i], "rounds");
      const char *name = i == 0 ? "first" : "second";

      names[i] = bench_json_text (machine, "description");
      for (guint j = 0; j < bench_json_length (warnings); j++)
        note (self, "doubtful in the %s: %s", name, bench_json_text_at (warnings, j));
      if (rounds < LEAST_ROUNDS)
        note (self, "the %s has %.0f rounds, too few to tell a difference from chance; %d will do",
              name, rounds, LEAST_ROUNDS);
      if (bench_json_flag (reports[i], "quick"))
        note (self, "the %s has quick sizes, which say nothing of speed", name);
    }
  if (g_strcmp0 (names[0], names[1]) != 0)
    note (self, "the machines differ (%s; %s), so this compares them as well",
          names[0] != NULL ? names[0] : "unknown", names[1] != NULL ? names[1] : "unknown");
}

BenchDiff *
bench_diff_new (JsonNode *a, JsonNode *b, GError **error)
{
  g_autoptr (GPtrArray) in_first = g_ptr_array_new (), in_second = g_ptr_array_new ();
  g_autoptr (GHashTable) first = read_sides (a, in_first), second = read_sides (b, in_second);
  GPtrArray *const orders[2] = { in_first, in_second };
  GHashTable *const others[2] = { second, first };
  JsonObject *const reports[2] = { bench_json_report (a), bench_json_report (b) };
  BenchDiff *self;

  if (first == NULL || second == NULL)
    {
      g_set_error (error, BENCH_ERROR, BENCH_ERROR_MACHINE,
                   "the %s file is not what iris-bench --json prints; nothing was compared",
                   first == NULL ? "first" : "second");
      return NULL;
    }
  self = g_new0 (BenchDiff, 1);
  self->rows = g_ptr_array_new_with_free_func (difference_free);
  self->notes = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < 2; i++)
    {
      self->only[i] = g_ptr_array_new_with_free_func (g_free);
      for (guint j = 0; j < orders[i]->len; j++)
        {
          const char *name = g_ptr_array_index (orders[i], j);
          const Side *other = g_hash_table_lookup (others[i], name);

          if (other == NULL)
            g_ptr_array_add (self->only[i], g_strdup (name));
          else if (i == 0)
            g_ptr_array_add (self->rows, compare (g_hash_table_lookup (first, name), other));
        }
    }
  note_machines (self, reports);
  judge (self);

  return self;
}

void
bench_diff_free (BenchDiff *self)
{
  g_ptr_array_unref (self->rows);
  g_ptr_array_unref (self->only[0]);
  g_ptr_array_unref (self->only[1]);
  g_ptr_array_unref (self->notes);
  g_free (self);
}

/* --- printing --------------------------------------------------------------------------------- */

/* What differs by less than double is easier to read in percent. */
static char *
describe_ratio (const BenchDifference *self)
{
  const char *more = self->is_time ? "slower" : "more", *less = self->is_time ? "faster" : "less";

  if (!isfinite (self->ratio))
    return g_strdup ("from nothing");
  if (self->ratio >= 2)
    return g_strdup_printf ("%.2fx %s (%.2f to %.2f)", self->ratio, more, self->low, self->high);
  if (self->ratio > 1)
    return g_strdup_printf ("%.1f %% %s (%.1f to %.1f)", (self->ratio - 1) * 100, more,
                            (self->low - 1) * 100, (self->high - 1) * 100);
  if (self->ratio > 0.5)
    return g_strdup_printf ("%.1f %% %s (%.1f to %.1f)", (1 - self->ratio) * 100, less,
                            (1 - self->high) * 100, (1 - self->low) * 100);

  return g_strdup_printf ("%.2fx %s (%.2f to %.2f)", 1 / self->ratio, less, 1 / self->high,
                          1 / self->low);
}

/* Half of the interval. */
static char *
describe_noise (const BenchDifference *self)
{
  gdouble noise = (self->high - self->low) / 2 * 100;

  return isfinite (noise) ? g_strdup_printf ("±%.1f %%", noise) : g_strdup ("unknown");
}

static void
print_rows (const BenchDiff *self, gboolean differs, guint width)
{
  for (guint i = 0; i < self->rows->len; i++)
    {
      const BenchDifference *row = g_ptr_array_index (self->rows, i);
      g_autofree char *text = NULL, *head = NULL;

      if (row->differs != differs)
        continue;
      text = differs ? describe_ratio (row) : describe_noise (row);
      head = bench_text_pad (text, width);
      bench_text_print (row->name, head, width + 4);
    }
}

static void
print_names (const char *label, const GPtrArray *names)
{
  if (names->len == 0)
    return;
  g_print ("\n%s (%u)\n\n", label, names->len);
  for (guint i = 0; i < names->len; i++)
    bench_text_print (g_ptr_array_index (names, i), "", 2);
}

void
bench_diff_print (const BenchDiff *self)
{
  guint n_same = self->rows->len - self->n_different;

  for (guint i = 0; i < self->notes->len; i++)
    bench_text_print (g_ptr_array_index (self->notes, i), "Note: ", 6);
  if (self->notes->len > 0)
    g_print ("\n");
  g_print ("%u of %u series differ; the second against the first, with 95 %%\n", self->n_different,
           self->rows->len);
  if (self->n_different > 0)
    g_print ("\n");
  print_rows (self, TRUE, 30);
  if (n_same > 0)
    g_print ("\nNo difference seen (%u), but for as much as this\n\n", n_same);
  print_rows (self, FALSE, 9);
  print_names ("Only in the first", self->only[0]);
  print_names ("Only in the second", self->only[1]);
}
