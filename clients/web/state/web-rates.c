/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What happened between two samples: rates, load, quantiles of histograms.
 */
#include "clients/web/state/web-rates.h"

#include <math.h>

/* Bucket i counts what was below 2^(10+i) nanoseconds. */
#define FIRST_BUCKET_BITS 10

/* What the victim has drains sooner than a move; for the memory of its items; too far; apart. */
const char *const web_refusal_names[WEB_N_REFUSALS] = { "backlog", "size", "distance", "apart" };

double
web_rates_interval (const WebSample *before, const WebSample *now)
{
  return before != NULL && now != NULL ? (double) (now->at_us - before->at_us) / 1e6 : 0;
}

double
web_rates_of (guint64 before, guint64 now, double interval_s)
{
  return interval_s > 0 && now > before ? (double) (now - before) / interval_s : 0;
}

double
web_rates_load (const IrisWirePlaceStatistics *before,
                const IrisWirePlaceStatistics *now,
                double interval_s)
{
  if (before == NULL || now->workers == 0)
    return 0;

  return MIN (1, web_rates_of (before->busy_ns, now->busy_ns, interval_s) / 1e9 / now->workers);
}

/* Adds what came in each bucket to @sums; returns how many of all. */
static guint64
add_buckets (guint64 *sums, const guint64 *before, guint n_before, const guint64 *now, guint n_now)
{
  guint64 all = 0;

  for (guint i = 0; i < MIN (n_now, IRIS_WIRE_N_BUCKETS); i++)
    {
      guint64 was = i < n_before ? before[i] : 0;
      guint64 came = now[i] > was ? now[i] - was : 0;

      sums[i] += came;
      all += came;
    }

  return all;
}

static double
find_quantile (const guint64 *sums, guint64 all, double q)
{
  guint64 below = 0;

  if (all == 0)
    return NAN;
  for (guint i = 0; i < IRIS_WIRE_N_BUCKETS; i++)
    {
      below += sums[i];
      if ((double) below >= q * (double) all)
        return ldexp (1e-9, (int) (FIRST_BUCKET_BITS + i));
    }

  return NAN;
}

double
web_rates_quantile (const guint64 *before,
                    guint n_before,
                    const guint64 *now,
                    guint n_now,
                    double q)
{
  guint64 sums[IRIS_WIRE_N_BUCKETS] = { 0 };

  return find_quantile (sums, add_buckets (sums, before, n_before, now, n_now), q);
}

double
web_rates_queue_quantile (const WebSample *before, const WebSample *now, double q)
{
  guint64 sums[IRIS_WIRE_N_BUCKETS] = { 0 };
  guint64 all = 0;

  if (before == NULL || now == NULL)
    return NAN;
  for (guint i = 0; i < now->statistics->n_places; i++)
    {
      const IrisWirePlaceStatistics *was = &before->statistics->places[i];
      const IrisWirePlaceStatistics *is = &now->statistics->places[i];

      all += add_buckets (sums, was->queue_delay, was->n_queue_delay, is->queue_delay,
                          is->n_queue_delay);
    }

  return find_quantile (sums, all, q);
}

void
web_rates_count_ended (const IrisWireDaemonStatistics *daemon, guint64 *ended, guint64 *failed)
{
  *ended = *failed = 0;
  for (guint i = 0; i < daemon->n_outcomes; i++)
    {
      const IrisWireOutcomeStatistics *it = &daemon->outcomes[i];

      *failed += it->failed;
      *ended += it->done + it->failed + it->cancelled + it->expired;
    }
}

guint64
web_rates_count_stolen (const WebSample *sample)
{
  guint64 stolen = 0;

  for (guint i = 0; i < sample->statistics->n_places; i++)
    stolen += sample->statistics->places[i].stolen_in;

  return stolen;
}
