/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The plan of a partition: which units become places, and how many workers each gets.
 *
 * Workers are dealt one after the other, each to the unit that would then have the most cpus per
 * worker (the method of D'Hondt), after every unit got one. So equal units differ by at most one
 * worker, larger units get more, and as long as there are no more workers than cpus, no unit has
 * more workers than cpus, except where its one worker is more than its share.
 */
#include <iris/place/topology/iris-cpu-list-private.h>
#include <iris/place/topology/iris-place-error.h>
#include <iris/place/iris-places.h>
#include <iris/place/iris-plan-private.h>

void
iris_plan_free (IrisPlan *plan)
{
  g_clear_pointer (&plan->units, g_ptr_array_unref);
  g_free (plan->workers);
  g_free (plan);
}

/*
 * iris_plan_spread:
 *
 * Deals @n_workers, at least one each, to units of so many @cpus. Returns a new array.
 */
guint *
iris_plan_spread (const guint *cpus, guint n_units, guint n_workers)
{
  guint *workers = g_new (guint, n_units);

  for (guint i = 0; i < n_units; i++)
    workers[i] = 1;

  for (guint dealt = n_units; dealt < n_workers; dealt++)
    {
      guint best = 0;

      for (guint i = 1; i < n_units; i++)
        if ((guint64) cpus[i] * (workers[best] + 1) > (guint64) cpus[best] * (workers[i] + 1))
          best = i;
      workers[best]++;
    }
  return workers;
}

/* Takes @units. */
static IrisPlan *
plan_units (const char *level, GPtrArray *units, guint n_workers)
{
  IrisPlan *plan = g_new (IrisPlan, 1);
  g_autofree guint *cpus = g_new (guint, units->len);

  for (guint i = 0; i < units->len; i++)
    cpus[i] = (guint) hwloc_bitmap_weight (((IrisUnit *) g_ptr_array_index (units, i))->cpus);

  plan->level = level;
  plan->units = units;
  plan->workers = iris_plan_spread (cpus, units->len, n_workers);
  return plan;
}

static guint
largest_place (const IrisPlan *plan)
{
  guint largest = 0;

  for (guint i = 0; i < plan->units->len; i++)
    largest = MAX (largest, plan->workers[i]);
  return largest;
}

static gboolean
check_n_workers (guint n_workers, GError **error)
{
  if (n_workers <= IRIS_PLACES_MAX_WORKERS)
    return TRUE;
  g_set_error (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_TOO_LARGE,
               "%u workers are more than %d (IRIS_PLACES_MAX_WORKERS); ask for fewer.", n_workers,
               IRIS_PLACES_MAX_WORKERS);
  return FALSE;
}

/* Plans places that the caller has settled on: one that gets no worker would be an error of theirs,
 * while a quota too small for all of them is given to none, and leaves one worker each. Takes
 * @units.
 */
static IrisPlan *
plan_fixed (IrisTopology *topology,
            const char *level,
            GPtrArray *units,
            guint n_workers,
            GError **error)
{
  if (n_workers == 0)
    n_workers = MAX (iris_topology_get_default_workers (topology), units->len);

  if (n_workers >= units->len)
    return plan_units (level, units, n_workers);

  g_set_error (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_TOO_FEW_WORKERS,
               "%s makes %u places, and %u %s too few for them; ask for at least %u workers, for a "
               "larger kind of place, or for “auto”.",
               level, units->len, n_workers, n_workers == 1 ? "worker is" : "workers are",
               units->len);
  g_ptr_array_unref (units);
  return NULL;
}

/* Whether @plan is better than @best (NULL: there is none yet) for "auto". */
static gboolean
is_better (const IrisPlan *plan, const IrisPlan *best)
{
  guint size = MAX (largest_place (plan), IRIS_PLAN_AUTO_WORKERS);
  guint best_size;

  if (best == NULL)
    return TRUE;

  /* First come those within the size, then the smaller the better; among equals, few places. */
  best_size = MAX (largest_place (best), IRIS_PLAN_AUTO_WORKERS);
  if (size != best_size)
    return size < best_size;
  return plan->units->len < best->units->len;
}

/* The largest units that give at least two places of at most 16 workers. Levels that leave cpus out
 * are not considered, nor those with more places than workers. The machine as one place is what
 * remains when there is one cpu, one worker, or no level with few enough places. */
static IrisPlan *
plan_auto (IrisTopology *topology, guint n_workers)
{
  IrisPlan *best = NULL;
  gboolean covers;

  if (n_workers == 0)
    n_workers = iris_topology_get_default_workers (topology);

  for (IrisLevel level = IRIS_LEVEL_PACKAGE; level < IRIS_N_LEVELS; level++)
    {
      GPtrArray *units = iris_level_units (topology, level, &covers);
      IrisPlan *plan;

      if (!covers || units->len < 2 || units->len > n_workers)
        {
          g_ptr_array_unref (units);
          continue;
        }

      plan = plan_units (iris_level_get_name (level), units, n_workers);
      if (is_better (plan, best))
        {
          g_clear_pointer (&best, iris_plan_free);
          best = g_steal_pointer (&plan);
        }
      g_clear_pointer (&plan, iris_plan_free);
    }

  if (best == NULL)
    best = plan_units (iris_level_get_name (IRIS_LEVEL_MACHINE),
                       iris_level_units (topology, IRIS_LEVEL_MACHINE, &covers), n_workers);
  return best;
}

static IrisPlan *
plan_level (IrisTopology *topology, const char *name, guint n_workers, GError **error)
{
  g_autofree char *known = iris_level_list (topology);
  IrisLevel level;
  GPtrArray *units;
  gboolean covers;

  if (!iris_level_parse (name, &level))
    {
      g_set_error (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_UNKNOWN_LEVEL,
                   "“%s” is no level; use one of %s, or “auto”, or lists of cpus as in "
                   "“0-3;4-7”.",
                   name, known);
      return NULL;
    }
  if (iris_level_count (topology, level) == 0)
    {
      g_set_error (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_MISSING_LEVEL,
                   "This topology has nothing of the level “%s”; use one of %s, or “auto”.", name,
                   known);
      return NULL;
    }

  units = iris_level_units (topology, level, &covers);
  if (units->len > 0)
    return plan_fixed (topology, iris_level_get_name (level), units, n_workers, error);

  g_set_error (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_MISSING_LEVEL,
               "None of the cpus that may be used belongs to an object of the level “%s”; use "
               "another of %s, or “auto”.",
               name, known);
  g_ptr_array_unref (units);
  return NULL;
}

/*
 * iris_plan_new:
 *
 * Plans places at a level, "auto", or, if @level begins with a digit, of lists of cpus that are
 * divided by semicolons. @n_workers is 0 for as many as fit the cpus and the quota.
 */
IrisPlan *
iris_plan_new (IrisTopology *topology, const char *level, guint n_workers, GError **error)
{
  if (g_ascii_isdigit (*level))
    {
      g_auto (GStrv) cpusets = g_strsplit (level, ";", -1);

      return iris_plan_new_for_cpusets (topology, (const char *const *) cpusets, n_workers, error);
    }
  if (!check_n_workers (n_workers, error))
    return NULL;
  if (strcmp (level, "auto") == 0)
    return plan_auto (topology, n_workers);
  return plan_level (topology, level, n_workers, error);
}

/* Whether @cpus are usable, and none of them is among those @taken by earlier sets. */
static gboolean
check_cpuset (IrisTopology *topology,
              const char *text,
              hwloc_const_bitmap_t cpus,
              hwloc_const_bitmap_t taken,
              GError **error)
{
  hwloc_bitmap_t bad = hwloc_bitmap_alloc ();
  gboolean good = FALSE;

  hwloc_bitmap_andnot (bad, cpus, iris_topology_get_usable (topology));
  if (!hwloc_bitmap_iszero (bad))
    {
      g_autofree char *usable = iris_topology_dup_cpus (topology);
      g_autofree char *missing = iris_cpu_list_format (bad);

      g_set_error (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_CPU_NOT_USABLE,
                   "The cpu set “%s” names %s, but only the cpus %s may be used here.", text,
                   missing, usable);
      goto out;
    }

  hwloc_bitmap_and (bad, cpus, taken);
  if (!hwloc_bitmap_iszero (bad))
    {
      g_autofree char *common = iris_cpu_list_format (bad);

      g_set_error (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_OVERLAP,
                   "The cpu set “%s” shares %s with an earlier one; give every cpu to one place.",
                   text, common);
      goto out;
    }
  good = TRUE;

out:
  hwloc_bitmap_free (bad);
  return good;
}

static gboolean
add_cpusets (IrisTopology *topology,
             const char *const *cpusets,
             GPtrArray *units,
             hwloc_bitmap_t taken,
             GError **error)
{
  for (guint i = 0; cpusets[i] != NULL; i++)
    {
      hwloc_bitmap_t cpus = iris_cpu_list_parse (cpusets[i], error);

      if (cpus == NULL)
        return FALSE;
      g_ptr_array_add (units, iris_unit_new (g_strdup_printf ("cpus:%u", i), cpus));
      if (!check_cpuset (topology, cpusets[i], cpus, taken, error))
        return FALSE;
      hwloc_bitmap_or (taken, taken, cpus);
    }

  if (units->len > 0)
    return TRUE;
  g_set_error_literal (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_EMPTY,
                       "No cpu set is given; give at least one, such as “0-3”.");
  return FALSE;
}

/*
 * iris_plan_new_for_cpusets:
 *
 * Plans one place for every list of cpus. Cpus in no list are left alone.
 */
IrisPlan *
iris_plan_new_for_cpusets (IrisTopology *topology,
                           const char *const *cpusets,
                           guint n_workers,
                           GError **error)
{
  g_autoptr (GPtrArray) units = g_ptr_array_new_with_free_func ((GDestroyNotify) iris_unit_free);
  hwloc_bitmap_t taken = hwloc_bitmap_alloc ();
  gboolean good = check_n_workers (n_workers, error)
                  && add_cpusets (topology, cpusets, units, taken, error);
  guint n_cpus = (guint) hwloc_bitmap_weight (taken);

  hwloc_bitmap_free (taken);
  if (!good)
    return NULL;

  /* Unlike a level, a list may leave cpus out; those need no worker. */
  if (n_workers == 0)
    n_workers = MAX (MIN (iris_topology_get_default_workers (topology), n_cpus), units->len);
  return plan_fixed (topology, "cpus", g_steal_pointer (&units), n_workers, error);
}
