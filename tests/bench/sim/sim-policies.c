/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is compared on simulated machines: policies, and loads that fit a number of workers.
 */
#include "tests/bench/sim/sim.h"

const SimPolicy sim_policies[] = {
  { "default", "core", IRIS_LAYOUT_WORKERS, IRIS_DEQUE_SPLIT, IRIS_DEAL_OWN, "distance" },
  { "random", "core", IRIS_LAYOUT_WORKERS, IRIS_DEQUE_SPLIT, IRIS_DEAL_OWN, "random" },
  { "one", "core", IRIS_LAYOUT_WORKERS, IRIS_DEQUE_SPLIT, IRIS_DEAL_OWN, "distance+one" },
  { "random+one", "core", IRIS_LAYOUT_WORKERS, IRIS_DEQUE_SPLIT, IRIS_DEAL_OWN, "random+one" },
  { "half", "core", IRIS_LAYOUT_WORKERS, IRIS_DEQUE_SPLIT, IRIS_DEAL_OWN, "distance+half" },
  { "nothing", "core", IRIS_LAYOUT_WORKERS, IRIS_DEQUE_SPLIT, IRIS_DEAL_OWN, "distance+nothing" },
  { "mailboxes", "core", IRIS_LAYOUT_AFFINITY, IRIS_DEQUE_SPLIT, IRIS_DEAL_OWN, "distance" },
  { "cache", "l3", IRIS_LAYOUT_WORKERS, IRIS_DEQUE_SPLIT, IRIS_DEAL_OWN, "distance" },
  { "cache:shared", "l3", IRIS_LAYOUT_SHARED, IRIS_DEQUE_LOCKED, IRIS_DEAL_OWN, "distance" },
  { NULL },
};

/* About @each items a worker. */
SimLoadSpec
sim_load_for (SimLoadKind kind, guint n_workers, guint each)
{
  switch (kind)
    {
    case SIM_RECURSIVE:
      return (SimLoadSpec){ .kind = kind, .n = n_workers, .each = each, .grain = 5000 };
    case SIM_FIB:
      {
        SimLoadSpec spec = { .kind = kind, .n = 10, .grain = 10000 };

        for (guint64 n = 177; n < (guint64) n_workers * each && spec.n < 30; n = n * 1618 / 1000)
          spec.n++;
        return spec;
      }
    case SIM_IMBALANCE:
      return (SimLoadSpec){ .kind = kind, .each = n_workers * each, .grain = 20000 };
    case SIM_STRESS:
      return (SimLoadSpec){ .kind = kind,
                            .n = 4,
                            .each = MAX (each / 4, 2),
                            .n_regions = n_workers,
                            .region = 400 << 10,
                            .grain = 1000,
                            .hints = TRUE };
    default:
      return (SimLoadSpec){ .kind = kind,
                            .each = MAX (each / 10, 2),
                            .n_regions = 2 * n_workers,
                            .region = 400 << 10,
                            .grain = 1000,
                            .hints = TRUE };
    }
}
