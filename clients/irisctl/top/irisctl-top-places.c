/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The places in irisctl top.
 */
#include "clients/irisctl/top/irisctl-top.h"

static double
load_of (const TopData *data,
         const IrisWirePlaceStatistics *now,
         const IrisWirePlaceStatistics *before)
{
  double busy = top_data_rate (data, now->busy_ns, before->busy_ns) / 1e9;

  return now->workers > 0 ? MIN (busy / now->workers, 1) : 0;
}

static const IrisClientPlace *
find_place (const TopData *data, guint id)
{
  for (guint i = 0; data->places != NULL && i < data->places->len; i++)
    {
      const IrisClientPlace *place = g_ptr_array_index (data->places, i);

      if (place->id >= 0 && (guint) place->id == id)
        return place;
    }

  return NULL;
}

/* Of the items since the last answer; of all of them before there are two. */
static double
find_time (const TopData *data,
           const IrisWirePlaceStatistics *now,
           const IrisWirePlaceStatistics *before,
           gboolean delay,
           double q)
{
  const guint64 *was = delay ? before->queue_delay : before->run_time;
  const guint n_was = delay ? before->n_queue_delay : before->n_run_time;
  const guint64 *is = delay ? now->queue_delay : now->run_time;
  const guint n_is = delay ? now->n_queue_delay : now->n_run_time;

  return ctl_statistics_quantile (is, n_is, was, data->before != NULL ? n_was : 0, q);
}

static void
add_details (const TopData *data,
             TopRow *row,
             const IrisWirePlaceStatistics *now,
             const IrisWirePlaceStatistics *before)
{
  const IrisClientPlace *place = find_place (data, now->id);
  g_autoptr (GArray) distances = ctl_statistics_sum_distances (data->now, now->id);

  top_row_add_time (row, find_time (data, now, before, TRUE, 0.99));
  top_row_add_time (row, find_time (data, now, before, FALSE, 0.99));
  top_row_add_rate (row, top_data_rate (data, now->bytes, before->bytes) / 1e6);
  top_row_add_number (row, now->executed);
  top_row_add_number (row, now->failed);
  top_row_add_number (row, now->hinted);
  top_row_add_number (row, now->stolen_in);
  top_row_add_number (row, now->stolen_out);
  top_row_add_text (row, ctl_format_distances (distances));
  top_row_add_number (row, now->steals_tried);
  top_row_add_number (row, now->steals_made);
  top_row_add_number (row, now->parks);
  top_row_add_number (row, now->wakes);
  top_row_add_text (row, g_strdup (place != NULL ? place->memory_nodes : ""));
  top_row_add_text (row, g_strdup (place != NULL && place->bound ? "yes" : "no"));
  top_row_add_text (row, g_strdup (place != NULL ? place->endpoint : ""));
}

static void
add_place (const TopData *data, GPtrArray *rows, guint i)
{
  const IrisWirePlaceStatistics *now = &data->now->places[i];
  const IrisWirePlaceStatistics *before = top_data_place_before (data, i);
  double load = load_of (data, now, before);
  TopRow *row = top_row_new (rows, &top_places, g_strdup (now->name));

  if (now->drained)
    row->colour = CTL_COLOUR_YELLOW;
  else if (load >= 0.005)
    row->colour = CTL_COLOUR_GREEN;
  top_row_add_value (row, now->id, g_strdup_printf ("%u", now->id));
  top_row_add_text (row, g_strdup (now->name));
  top_row_add_text (row, g_strdup (now->cpus));
  top_row_add_text (row, g_strdup (now->drained ? "drained" : "open"));
  top_row_add_value (row, now->active, g_strdup_printf ("%u/%u", now->active, now->workers));
  top_row_add_value (row, load, g_strdup_printf ("%.0f%%", 100 * load));
  top_row_add_number (row, now->backlog);
  top_row_add_rate (row, top_data_rate (data, now->executed, before->executed));
  top_row_add_rate (row, top_data_rate (data, now->stolen_in, before->stolen_in));
  top_row_add_rate (row, top_data_rate (data, now->stolen_out, before->stolen_out));
  top_row_add_time (row, find_time (data, now, before, TRUE, 0.5));
  top_row_add_time (row, find_time (data, now, before, FALSE, 0.5));
  add_details (data, row, now, before);
}

static void
fill (const TopData *data, GPtrArray *rows)
{
  for (guint i = 0; data->now != NULL && i < data->now->n_places; i++)
    add_place (data, rows, i);
}

static const TopColumn columns[] = {
  { "id", TRUE, FALSE },          { "name", FALSE, FALSE },      { "cpus", FALSE, FALSE },
  { "state", FALSE, FALSE },      { "active", TRUE, FALSE },     { "load", TRUE, FALSE },
  { "backlog", TRUE, FALSE },     { "ended/s", TRUE, FALSE },    { "in/s", TRUE, FALSE },
  { "out/s", TRUE, FALSE },       { "wait", TRUE, FALSE },       { "run", TRUE, FALSE },
  { "wait, 99 %", TRUE, TRUE },   { "run, 99 %", TRUE, TRUE },   { "MB/s", TRUE, TRUE },
  { "executed", TRUE, TRUE },     { "failed", TRUE, TRUE },      { "hinted", TRUE, TRUE },
  { "stolen in", TRUE, TRUE },    { "stolen out", TRUE, TRUE },  { "stolen", FALSE, TRUE },
  { "steals tried", TRUE, TRUE }, { "steals made", TRUE, TRUE }, { "parks", TRUE, TRUE },
  { "wakes", TRUE, TRUE },        { "memory", FALSE, TRUE },     { "bound", FALSE, TRUE },
  { "endpoint", FALSE, TRUE },
};

const TopView top_places = {
  .name = "Places",
  .columns = columns,
  .n_columns = G_N_ELEMENTS (columns),
  .empty = "no places",
  .fill = fill,
};
