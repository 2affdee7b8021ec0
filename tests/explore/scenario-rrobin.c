/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The round-robin ring, explored: a thread that goes through the members finds valid memory,
 * members that were there when it came, and none twice.
 */
#include "iris/queue/iris-rrobin-private.h"

#include "explore.h"

static IrisRRobinCore ring;
static unsigned members[3];

static void
setup (void)
{
  iris_rrobin_core_init (&ring, 0);
  iris_rrobin_core_append (&ring, &members[0], 3);
  iris_rrobin_core_append (&ring, &members[1], 3);
}

static void
go_through (void)
{
  const IrisRRobinArray *array = iris_rrobin_core_enter (&ring);
  unsigned seen[3] = { 0 };

  if (array != NULL)
    {
      size_t at = iris_rrobin_core_next (&ring, array);

      for (size_t i = 0; i < array->n; i++)
        {
          unsigned *member = array->members[(at + i) % array->n];
          unsigned which = (unsigned) (member - members);

          explore_assert (which < 3, "there is no such member");
          explore_assert (seen[which]++ == 0, "member %u is met twice", which);
        }
      explore_assert (seen[1] == 1, "a member that was always there is left out");
    }
  iris_rrobin_core_leave (&ring);
}

static void
one_changes (unsigned self)
{
  if (self == 0)
    {
      iris_rrobin_core_append (&ring, &members[2], 3);
      iris_rrobin_core_remove (&ring, &members[0]);
    }
  else
    {
      go_through ();
      go_through ();
    }
}

static void
two_change (unsigned self)
{
  if (self == 0)
    iris_rrobin_core_append (&ring, &members[2], 3);
  else if (self == 1)
    iris_rrobin_core_remove (&ring, &members[0]);
  else
    go_through ();
}

static void
check (void)
{
  const IrisRRobinArray *array = iris_rrobin_core_enter (&ring);

  explore_assert (array != NULL && array->n == 2, "the members are not those that were left");
  iris_rrobin_core_leave (&ring);
  explore_assert (atomic_load_explicit (&ring.n_inside, memory_order_relaxed) == 0,
                  "all are gone, and the ring counts a visitor");
}

static const ExploreScenario scenarios[] = {
  { "rrobin/one-changes", 2, setup, one_changes, check },
  { "rrobin/two-change", 3, setup, two_change, check, .delays = 1 },
};

int
main (int argc, char **argv)
{
  return explore_main (argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
}
