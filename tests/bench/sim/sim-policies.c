/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is compared on simulated machines: policies, and loads that fit a number of workers.
 */
#include "tests/bench/sim/sim.h"

#define OWN IRIS_DEAL_OWN

/* Each but the first differs from the first in one or two properties. */
const SimPolicy sim_policies[] = {
  { "default", "auto", IRIS_LAYOUT_WORKERS, IRIS_DEQUE_SPLIT, OWN, "distance" },
  { "core", "core", IRIS_LAYOUT_WORKERS, IRIS_DEQUE_SPLIT, OWN, "distance" },
  { "random", "auto", IRIS_LAYOUT_WORKERS, IRIS_DEQUE_SPLIT, OWN, "random" },
  { "one", "auto", IRIS_LAYOUT_WORKERS, IRIS_DEQUE_SPLIT, OWN, "distance+one" },
  { "random+one", "auto", IRIS_LAYOUT_WORKERS, IRIS_DEQUE_SPLIT, OWN, "random+one" },
  { "half", "auto", IRIS_LAYOUT_WORKERS, IRIS_DEQUE_SPLIT, OWN, "distance+half" },
  { "nothing", "auto", IRIS_LAYOUT_WORKERS, IRIS_DEQUE_SPLIT, OWN, "distance+nothing" },
  { "mailboxes", "auto", IRIS_LAYOUT_AFFINITY, IRIS_DEQUE_SPLIT, OWN, "distance" },
  { "shared", "auto", IRIS_LAYOUT_SHARED, IRIS_DEQUE_LOCKED, OWN, "distance" },
  { NULL },
};

/* NULL if there is none of that name. */
const SimPolicy *
sim_policy_find (const char *name)
{
  for (const SimPolicy *policy = sim_policies; policy->name != NULL; policy++)
    if (g_str_equal (policy->name, name))
      return policy;

  return NULL;
}

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
