/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The services in irisctl top, with the sums of the worker processes that serve each.
 */
#include "clients/irisctl/top/irisctl-top.h"

#include <math.h>

typedef struct
{
  guint workers, capacity;
  guint64 lost;
  GString *names;
} Sum;

/* A worker process that serves several services counts for each: it does not say which of them its
 * items were for. */
static void
sum_workers (const TopData *data, const char *service, Sum *sum)
{
  for (guint i = 0; data->now != NULL && i < data->now->n_processes; i++)
    {
      const IrisWireProcessStatistics *worker = &data->now->processes[i];

      if (!g_strv_contains ((const char *const *) worker->services, service))
        continue;
      sum->workers++;
      sum->capacity += worker->capacity;
      sum->lost += worker->lapsed;
      g_string_append_printf (sum->names, "%s%s", sum->names->len > 0 ? " " : "", worker->name);
    }
}

/* Zeroes, if irisd has not had an item for it yet. */
static const IrisWireServiceStatistics *
find_statistics (const IrisWireStatistics *all, const char *service)
{
  static const IrisWireServiceStatistics none = { 0 };

  for (guint i = 0; all != NULL && i < all->n_services; i++)
    if (g_str_equal (all->services[i].name, service))
      return &all->services[i];

  return &none;
}

/* The mean of the items that ended since the last answer. */
static double
find_mean (guint64 now_ns, guint64 before_ns, guint64 count)
{
  return count > 0 && now_ns >= before_ns ? (double) (now_ns - before_ns) / 1e9 / (double) count
                                          : NAN;
}

static void
add_service (const TopData *data, GPtrArray *rows, const IrisClientService *service)
{
  TopRow *row = top_row_new (rows, &top_services, g_strdup (service->name));
  const IrisWireServiceStatistics *now = find_statistics (data->now, service->name);
  const IrisWireServiceStatistics *before = find_statistics (data->before, service->name);
  const guint64 ended = now->done + now->failed, was = before->done + before->failed;
  const guint64 count = ended > was ? ended - was : 0;
  Sum sum = { .names = g_string_new (NULL) };

  sum_workers (data, service->name, &sum);
  if (now->leased > 0)
    row->colour = CTL_COLOUR_GREEN;
  top_row_add_text (row, g_strdup (service->name));
  top_row_add_number (row, sum.workers);
  top_row_add_number (row, now->waiting);
  top_row_add_number (row, now->leased);
  top_row_add_number (row, now->done);
  top_row_add_number (row, now->failed);
  top_row_add_rate (row, top_data_rate (data, ended, was));
  top_row_add_time (row, find_mean (now->queue_ns, before->queue_ns, count));
  top_row_add_time (row, find_mean (now->run_ns, before->run_ns, count));
  top_row_add_text (row, g_strdup (service->summary));
  top_row_add_number (row, sum.capacity);
  top_row_add_number (row, sum.lost);
  top_row_add_number (row, now->cancelled);
  top_row_add_number (row, now->expired);
  top_row_add_number (row, now->buried);
  top_row_add_number (row, now->retried);
  top_row_add_text (row, g_string_free (sum.names, FALSE));
}

static void
fill (const TopData *data, GPtrArray *rows)
{
  for (guint i = 0; data->services != NULL && i < data->services->len; i++)
    add_service (data, rows, g_ptr_array_index (data->services, i));
}

static const TopColumn columns[] = {
  { "service", FALSE, FALSE },
  { "workers", TRUE, FALSE },
  { "waiting", TRUE, FALSE },
  { "leased", TRUE, FALSE },
  { "done", TRUE, FALSE },
  { "failed", TRUE, FALSE },
  { "ended/s", TRUE, FALSE },
  { "wait", TRUE, FALSE },
  { "run", TRUE, FALSE },
  { "what it does", FALSE, FALSE },
  { "capacity", TRUE, TRUE },
  { "lost", TRUE, TRUE },
  { "cancelled", TRUE, TRUE },
  { "expired", TRUE, TRUE },
  { "buried", TRUE, TRUE },
  { "retried", TRUE, TRUE },
  { "worker processes", FALSE, TRUE },
};

const TopView top_services = {
  .name = "Services",
  .columns = columns,
  .n_columns = G_N_ELEMENTS (columns),
  .empty = "no services",
  .fill = fill,
};
