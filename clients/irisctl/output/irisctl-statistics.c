/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The statistics of irisd, and what people and programs are told of them.
 */
#include "clients/irisctl/output/irisctl-output.h"

#include <math.h>

/* Bucket i counts what was below 2^(10+i) nanoseconds. */
#define FIRST_BUCKET_BITS 10

IrisWireStatistics *
ctl_statistics_decode (GBytes *body, GError **error)
{
  /* An irisd with many services tells more records than the usual limit of the protocol. */
  IrisWireLimits limits = *iris_wire_limits_default ();
  gsize size;
  const void *data = g_bytes_get_data (body, &size);
  IrisWireStatistics *self;

  limits.max_entries = G_MAXUINT16;
  self = iris_wire_statistics_decode ((IrisWireFrame){ data, size }, &limits, error);
  if (self != NULL && self->n_daemon > 0)
    return self;
  if (self != NULL)
    g_set_error (error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_INTERNAL,
                 "irisd did not tell its own statistics");
  g_clear_pointer (&self, iris_wire_statistics_free);

  return NULL;
}

IrisWireStatistics *
ctl_statistics_get (Ctl *ctl, guint sections, GError **error)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GBytes) body = NULL;

  iris_client_get_encoded_statistics_async (ctl->client, sections | IRIS_WIRE_SECTION_DAEMON,
                                            ctl->cancellable, ctl_take_result, &result);
  body = iris_client_get_encoded_statistics_finish (ctl->client, ctl_wait (&result), error);

  return body != NULL ? ctl_statistics_decode (body, error) : NULL;
}

void
ctl_statistics_count (const IrisWireStatistics *self, CtlCounts *counts)
{
  const IrisWireDaemonStatistics *daemon = &self->daemon[0];

  *counts = (CtlCounts){
    .ended = daemon->accepted > daemon->in_flight ? daemon->accepted - daemon->in_flight : 0,
    .syncs = self->n_journal > 0 ? self->journal[0].syncs : 0,
  };
  for (guint i = 0; i < daemon->n_outcomes; i++)
    counts->failed += daemon->outcomes[i].failed + daemon->outcomes[i].expired;
}

double
ctl_statistics_quantile (const guint64 *now,
                         guint n,
                         const guint64 *before,
                         guint n_before,
                         double q)
{
  guint64 came[IRIS_WIRE_N_BUCKETS], all = 0, below = 0;

  n = MIN (n, IRIS_WIRE_N_BUCKETS);
  for (guint i = 0; i < n; i++)
    {
      const guint64 was = i < n_before ? before[i] : 0;

      came[i] = now[i] > was ? now[i] - was : 0;
      all += came[i];
    }
  for (guint i = 0; i < n && all > 0; i++)
    {
      below += came[i];
      if ((double) below >= q * (double) all)
        return ldexp (1e-9, (int) (FIRST_BUCKET_BITS + i));
    }

  return NAN;
}

char *
ctl_format_short_time (double seconds)
{
  static const struct
  {
    double unit;
    const char *name;
  } units[] = { { 1, "s" }, { 1e-3, "ms" }, { 1e-6, "us" } };
  guint i = 0;

  if (isnan (seconds))
    return g_strdup ("-");
  while (i + 1 < G_N_ELEMENTS (units) && seconds < units[i].unit)
    i++;
  seconds /= units[i].unit;

  return g_strdup_printf ("%.*f%s", seconds < 9.95 ? 1 : 0, seconds, units[i].name);
}

static int
compare_distances (gconstpointer a, gconstpointer b)
{
  const CtlDistance *x = a, *y = b;

  return x->distance < y->distance ? -1 : x->distance > y->distance;
}

static void
add_distance (GArray *sums, guint32 distance, guint64 steals, guint64 items)
{
  CtlDistance one = { distance, steals, items };

  for (guint i = 0; i < sums->len; i++)
    {
      CtlDistance *sum = &g_array_index (sums, CtlDistance, i);

      if (sum->distance != distance)
        continue;
      sum->steals += steals;
      sum->items += items;
      return;
    }
  g_array_append_val (sums, one);
}

GArray *
ctl_statistics_sum_distances (const IrisWireStatistics *self, guint place)
{
  GArray *sums = g_array_new (FALSE, FALSE, sizeof (CtlDistance));

  for (guint i = 0; i < self->n_steals; i++)
    {
      const IrisWireStealStatistics *it = &self->steals[i];

      if (place != CTL_ALL_PLACES && it->place != place)
        continue;
      for (guint j = 0; j < MIN (it->n_steals, it->n_items); j++)
        if (it->items[j] > 0)
          add_distance (sums, j < it->n_distances ? it->distances[j] : 0, it->steals[j],
                        it->items[j]);
    }
  g_array_sort (sums, compare_distances);

  return sums;
}

char *
ctl_format_distances (const GArray *sums)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < sums->len; i++)
    {
      const CtlDistance *it = &g_array_index (sums, CtlDistance, i);

      g_string_append_printf (text, "%s%" G_GUINT64_FORMAT " at distance %u",
                              text->len > 0 ? ", " : "", it->items, it->distance);
    }

  return g_string_free (text, FALSE);
}

void
ctl_json_distances (JsonBuilder *builder, const GArray *sums)
{
  json_builder_set_member_name (builder, "stolen_by_distance");
  json_builder_begin_array (builder);
  for (guint i = 0; i < sums->len; i++)
    {
      const CtlDistance *it = &g_array_index (sums, CtlDistance, i);

      json_builder_begin_object (builder);
      ctl_json_int (builder, "distance", it->distance);
      ctl_json_int (builder, "steals", (gint64) it->steals);
      ctl_json_int (builder, "items", (gint64) it->items);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
}

/* What is not known is null. */
static void
json_seconds (JsonBuilder *builder, const char *name, double seconds)
{
  json_builder_set_member_name (builder, name);
  if (isnan (seconds))
    json_builder_add_null_value (builder);
  else
    json_builder_add_double_value (builder, seconds);
}

void
ctl_json_times (JsonBuilder *builder,
                const char *name,
                const guint64 *buckets,
                guint n,
                guint64 sum_ns)
{
  guint64 count = 0;

  for (guint i = 0; i < n; i++)
    count += buckets[i];
  json_builder_set_member_name (builder, name);
  json_builder_begin_object (builder);
  ctl_json_int (builder, "count", (gint64) count);
  json_seconds (builder, "mean_s", count > 0 ? (double) sum_ns / 1e9 / (double) count : NAN);
  json_seconds (builder, "median_s", ctl_statistics_quantile (buckets, n, NULL, 0, 0.5));
  json_seconds (builder, "p99_s", ctl_statistics_quantile (buckets, n, NULL, 0, 0.99));
  json_builder_end_object (builder);
}
