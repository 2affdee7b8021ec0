/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The report as tables for people.
 */
#include "tests/bench/report/bench-published.h"
#include "tests/bench/report/bench-report.h"
#include "tests/bench/report/bench-text.h"

#include <math.h>
#include <string.h>

/* Percent, of the median. */
#define MOST_UNCERTAIN 10.0

typedef struct
{
  const char *name;
  gdouble factor;
} Scale;

/* Seconds in the unit in which the largest median is easiest to read. */
static Scale
choose_scale (const BenchResult *result)
{
  gdouble largest = -1;

  for (guint i = 0; i < result->series->len; i++)
    {
      const BenchSeries *series = g_ptr_array_index (result->series, i);

      if (series->unit == BENCH_SECONDS)
        largest = MAX (largest, bench_series_summary (series).median);
    }

  if (largest < 0)
    return (Scale){ "  ", 0 };

  return largest >= 1e-3 ? (Scale){ "ms", 1e3 } : (Scale){ "µs", 1e6 };
}

/* Widths count characters, not bytes. */
static guint
widest (const BenchResult *result, glong least, gboolean loads)
{
  glong width = least;

  for (guint i = 0; i < result->series->len; i++)
    {
      const BenchSeries *series = g_ptr_array_index (result->series, i);

      width = MAX (width, g_utf8_strlen (loads ? series->load : series->contender, -1));
    }

  return (guint) width;
}

static void
print_padded (const char *text, guint width)
{
  g_print ("%s%*s", text, (int) width - (int) g_utf8_strlen (text, -1) + 2, "");
}

static char *
describe_comparison (const BenchSeries *series)
{
  gdouble value = bench_series_compared (series).median;

  /* What it is compared with was nothing. */
  if (!isfinite (value))
    return g_strdup ("");
  switch (series->relation)
    {
    case BENCH_FACTOR:
      return g_strdup_printf ("%.2fx %s", value, series->base->contender);
    case BENCH_OVERHEAD:
      return g_strdup_printf ("%+.1f %% over %s", value, series->base->contender);
    case BENCH_IDEAL:
      return g_strdup_printf ("%.1f %% of the ideal", value);
    case BENCH_EXTRA:
      return g_strdup_printf ("%.2f ns a task over %s", value * 1e9, series->base->contender);
    default:
      return g_strdup ("");
    }
}

static void
print_value (gdouble value, BenchUnit unit, Scale scale)
{
  static const char *const behind[] = { "", " %", "/s", " B" };

  if (unit == BENCH_SECONDS)
    g_print ("%10.3f", value * scale.factor);
  else
    g_print ("%8.2f%s", value, behind[unit]);
}

static void
print_row (const BenchSeries *series, guint load_width, guint contender_width, Scale scale)
{
  BenchSummary summary = bench_series_summary (series);
  gdouble low, high;
  g_autofree char *comparison = describe_comparison (series);
  gdouble per_item = bench_series_per_item (series);

  print_padded (series->load, load_width);
  print_padded (series->contender, contender_width);
  bench_median_interval (series->samples, &low, &high);
  print_value (summary.median, series->unit, scale);
  if (summary.median > 0)
    g_print (" ±%4.1f %%", (high - low) / summary.median * 50);
  else
    g_print ("%8s", "");
  print_value (summary.min, series->unit, scale);
  print_value (summary.max, series->unit, scale);
  if (isnan (per_item))
    g_print ("%16s", "");
  else
    g_print ("%16.2f", per_item * 1e9);
  g_print ("%s%s\n", *comparison != '\0' ? "  " : "", comparison);
}

/* --- figures of papers ------------------------------------------------------------------------ */

static void
print_workload (const BenchWorkload *workload)
{
  const BenchFigure *figure = workload->figure;

  g_autofree char *title = g_strdup_printf ("%s: %s (%s)", figure->row, figure->title,
                                            workload->name);

  g_print ("\n");
  bench_text_print (title, "", 0);
  bench_text_print (figure->source, "", 2);
}

void
bench_figures_print (void)
{
  g_autoptr (GPtrArray) rows = bench_figure_rows ();
  g_autoptr (GPtrArray) printed = g_ptr_array_new ();
  const BenchWorkload *workload;

  g_print ("Rows: tables and figures of the papers (the workload of each)\n");
  for (guint i = 0; i < rows->len; i++)
    for (guint j = 0; (workload = bench_workload_nth (j)) != NULL; j++)
      {
        if (workload->figure == NULL || g_ptr_array_find (printed, workload, NULL)
            || !bench_figure_has_row (workload->figure, g_ptr_array_index (rows, i)))
          continue;
        print_workload (workload);
        g_ptr_array_add (printed, (gpointer) workload);
      }
  g_print ("\niris-bench paper ROW…, or iris-bench paper all, measures them.\n");
}

static void
print_published (const BenchPublished *published, const BenchResult *result)
{
  BenchOurs ours = bench_published_find (published, result);
  g_autofree char *theirs = bench_published_describe (published, &ours);
  g_autofree char *median = bench_ours_describe (&ours, ours.ours.median);
  g_autofree char *best = bench_ours_describe (&ours, ours.ours.best);
  g_autofree char *interval = bench_ours_describe_interval (&ours);

  bench_text_print (published->what, "", 2);
  g_print ("%*s%16s  %12s  %20s  %12s\n", BENCH_COLUMNS - 66, "", theirs, median, interval, best);
}

static void
print_labelled (const char *label, const char *text)
{
  if (text != NULL)
    bench_text_print (text, label, 4);
}

static void
print_figure (const BenchFigure *figure, const BenchResult *result)
{
  g_print ("\n%s: %s\n\n", figure->row, figure->title);
  bench_text_print (figure->source, "", 2);
  print_labelled ("  There: ", figure->machine);
  print_labelled ("  Here: ", figure->differs);
  if (figure->published == NULL)
    return;
  g_print ("\n%*s%16s  %12s  %20s  %12s\n", BENCH_COLUMNS - 66, "", "published", "here", "95 %",
           "best 3");
  for (const BenchPublished *p = figure->published; p->what != NULL; p++)
    print_published (p, result);
}

/* --- counters --------------------------------------------------------------------------------- */

static gboolean
has_counts (const BenchResult *result, BenchCounter counter)
{
  for (guint i = 0; i < result->series->len; i++)
    {
      const BenchSeries *series = g_ptr_array_index (result->series, i);

      if (isfinite (bench_series_estimate_count (series, counter).median))
        return TRUE;
    }

  return FALSE;
}

/* "12.3M" */
static void
print_count (gdouble value, guint width)
{
  static const char *const powers[] = { "", "k", "M", "G", "T" };
  guint power = 0;

  for (; value >= 1e4 && power + 1 < G_N_ELEMENTS (powers); power++)
    value /= 1e3;
  if (isnan (value))
    g_print ("  %*s", (int) width, "-");
  else
    g_print ("  %*.*f%s", (int) (width - strlen (powers[power])), power > 0 ? 1 : 0, value,
             powers[power]);
}

/* Of a run, by the median of the rounds. */
static void
print_counts (const BenchResult *result)
{
  guint load_width = widest (result, 4, TRUE), contender_width = widest (result, 9, FALSE);
  gboolean has[BENCH_N_COUNTERS] = { FALSE }, any = FALSE;

  for (guint c = BENCH_CYCLES; c < BENCH_N_COUNTERS; c++)
    any = (has[c] = has_counts (result, c)) || any;
  if (!any)
    return;
  g_print ("\n");
  print_padded ("load", load_width);
  print_padded ("counted in a run of", contender_width);
  for (guint c = BENCH_CYCLES; c < BENCH_N_COUNTERS; c++)
    if (has[c])
      g_print ("  %10s", bench_counter_label (c));
  g_print ("\n");
  for (guint i = 0; i < result->series->len; i++)
    {
      const BenchSeries *series = g_ptr_array_index (result->series, i);

      if (series->counts == NULL)
        continue;
      print_padded (series->load, load_width);
      print_padded (series->contender, MAX (contender_width, 19));
      for (guint c = BENCH_CYCLES; c < BENCH_N_COUNTERS; c++)
        if (has[c])
          print_count (bench_series_estimate_count (series, c).median,
                       MAX ((guint) strlen (bench_counter_label (c)), 10));
      g_print ("\n");
    }
}

/* --- doubts ----------------------------------------------------------------------------------- */

/* Half the width of the median's interval; of what is 0 it says nothing. */
static gdouble
uncertainty (const BenchSeries *series)
{
  BenchEstimate estimate = bench_series_estimate (series);

  return estimate.median > 0 ? (estimate.high - estimate.low) / estimate.median * 50 : 0;
}

void
bench_report_judge_spread (const BenchReport *self)
{
  guint n_series = 0, n_uncertain = 0;

  for (guint i = 0; i < self->results->len; i++)
    {
      const BenchResult *result = g_ptr_array_index (self->results, i);

      n_series += result->series->len;
      for (guint j = 0; j < result->series->len; j++)
        n_uncertain += uncertainty (g_ptr_array_index (result->series, j)) > MOST_UNCERTAIN;
    }
  if (n_uncertain * 10 > n_series)
    bench_machine_warn (self->machine,
                        "rounds differ much: the medians of %u of %u series are uncertain by more "
                        "than %.0f %%; more --rounds, or a quieter machine, narrow them",
                        n_uncertain, n_series, MOST_UNCERTAIN);
}

/* --- tables ----------------------------------------------------------------------------------- */

static void
print_result (const BenchResult *result)
{
  const BenchWorkload *workload = bench_workload_find (result->name);
  Scale scale = choose_scale (result);
  guint load_width = widest (result, 4, TRUE);
  guint contender_width = widest (result, 9, FALSE);
  g_autofree char *per_item = g_strconcat ("ns/", result->item, NULL);
  const BenchSeries *last = NULL;

  if (workload != NULL && workload->figure != NULL)
    print_figure (workload->figure, result);
  g_print ("\n%s: %s\n\n", result->name, result->title);
  print_padded ("load", load_width);
  print_padded ("contender", contender_width);
  g_print ("%7s %s%8s%8s%s%8s%s  %14s  %s\n", "median", scale.name, "95 %", "min ", scale.name,
           "max ", scale.name, per_item, "against");
  for (guint i = 0; i < result->series->len; i++)
    {
      const BenchSeries *series = g_ptr_array_index (result->series, i);

      if (last != NULL && !g_str_equal (series->load, last->load))
        g_print ("\n");
      print_row (series, load_width, contender_width, scale);
      last = series;
    }
  print_counts (result);
  if (workload != NULL && workload->figure != NULL)
    g_print ("\nmeasured in %.1f s\n", result->seconds);
}

static void
print_goals (GPtrArray *goals)
{
  guint width = 4;

  for (guint i = 0; i < goals->len; i++)
    {
      const BenchGoal *goal = g_ptr_array_index (goals, i);

      width = MAX (width, (guint) g_utf8_strlen (goal->figure, -1));
    }
  g_print ("\nGoals\n\n");
  print_padded ("figure", width);
  g_print ("%-12s  %-8s  %s\n", "goal", "reached", "measured");
  for (guint i = 0; i < goals->len; i++)
    {
      const BenchGoal *goal = g_ptr_array_index (goals, i);

      print_padded (goal->figure, width);
      print_padded (goal->goal, 12);
      print_padded (bench_verdict_name (goal->verdict), 8);
      g_print ("%s\n", goal->measured);
    }
}

static void
print_workers (const GArray *workers)
{
  for (guint i = 0; i < workers->len; i++)
    g_print ("%s%u", i > 0 ? ", " : "", g_array_index (workers, guint, i));
  g_print (" workers");
}

static void
print_machine (const BenchMachine *machine)
{
  g_print ("%s\n", machine->description);
  if (machine->load[0] >= 0)
    g_print ("load at the start %.2f %.2f %.2f\n", machine->load[0], machine->load[1],
             machine->load[2]);
  for (guint i = 0; i < machine->warnings->len; i++)
    print_labelled ("Doubtful: ", g_ptr_array_index (machine->warnings, i));
}

void
bench_report_print (const BenchReport *self)
{
  print_machine (self->machine);
  print_workers (self->workers);
  g_print (", %u rounds in turn after one that warms up\n", self->options->rounds);
  if (self->no_counters != NULL)
    g_print ("no hardware counters: %s\n", self->no_counters);
  if (self->options->quick)
    g_print ("quick sizes, which show that results are right, and nothing of speed\n");
  for (guint i = 0; i < self->failures->len; i++)
    print_labelled ("Not measured: ", g_ptr_array_index (self->failures, i));
  for (guint i = 0; i < self->results->len; i++)
    print_result (g_ptr_array_index (self->results, i));
  if (self->goals != NULL)
    print_goals (self->goals);
}
