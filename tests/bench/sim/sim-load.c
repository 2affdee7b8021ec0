/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The loads: the same items on simulated and on real workers. Each has a number, and notes that it
 * ran, so that one that was lost or ran twice is found.
 *
 * An item's data is its number and what it needs to know, packed into the pointer: making an item
 * allocates nothing but the item.
 */
#include "tests/bench/sim/sim.h"

#define MAX_FIB 40

struct _SimLoad
{
  SimLoadSpec spec;
  const SimWorld *world;
  guint64 n_items;
  guint8 *ran;            /* by number */
  guint64 sizes[MAX_FIB]; /* items of the tree of fib (i) */
  guint32 *left;          /* jacobi: tiles of each sweep */
};

/* One load runs at a time; its items find it here. */
static SimLoad *now;

static void
begin (guint64 number)
{
  now->ran[number]++;
}

static gpointer
pack (guint64 number, guint value)
{
  return (gpointer) (guintptr) (number << 16 | value);
}

static guint64
number_of (gpointer data)
{
  return (guintptr) data >> 16;
}

static guint
value_of (gpointer data)
{
  return (guintptr) data & 0xffff;
}

static void
queue (IrisCallback func, guint64 number, guint value, gint place)
{
  now->world->queue (now->world->self, func, pack (number, value), place);
}

static void
work (void)
{
  now->world->work (now->world->self, now->spec.grain);
}

/* Where a region is at home: regions that follow each other share a place. */
static gint
place_of (guint region)
{
  if (!now->spec.hints)
    return IRIS_PLACE_ANY;

  return (gint) ((guint64) region * now->world->n_places / now->spec.n_regions);
}

/* --- recursive and imbalance -------------------------------------------------------------------
 */

static void
leaf_run (gpointer data)
{
  begin (number_of (data));
  work ();
}

static void
outer_run (gpointer data)
{
  guint64 number = number_of (data);

  begin (number);
  for (guint i = 0; i < now->spec.each; i++)
    queue (leaf_run, number + 1 + i, 0, IRIS_PLACE_ANY);
  work ();
}

/* --- fib -------------------------------------------------------------------------------------- */

static void
fib_run (gpointer data)
{
  guint64 number = number_of (data);
  guint n = value_of (data);

  begin (number);
  if (n >= 2)
    {
      queue (fib_run, number + 1, n - 1, IRIS_PLACE_ANY);
      queue (fib_run, number + 1 + now->sizes[n - 1], n - 2, IRIS_PLACE_ANY);
    }
  work ();
}

/* --- stress ----------------------------------------------------------------------------------- */

static guint
region_of (guint64 chain)
{
  return (guint) (chain % now->spec.n_regions);
}

/* A chain of items, one after the other, each of which works through the region. */
static void
stress_run (gpointer data)
{
  guint64 number = number_of (data);
  guint region = region_of (number / now->spec.each);

  begin (number);
  now->world->touch (now->world->self, region, FALSE);
  work ();
  if ((number + 1) % now->spec.each != 0)
    queue (stress_run, number + 1, 0, place_of (region));
}

/* --- jacobi ----------------------------------------------------------------------------------- */

static void jacobi_run (gpointer data);

static void
jacobi_queue_sweep (guint64 sweep)
{
  for (guint tile = 0; tile < now->spec.n_regions; tile++)
    queue (jacobi_run, sweep * now->spec.n_regions + tile, 0, place_of (tile));
}

/* The last tile of a sweep makes the next one. */
static void
jacobi_run (gpointer data)
{
  guint64 number = number_of (data), sweep = number / now->spec.n_regions;

  begin (number);
  now->world->touch (now->world->self, (guint) (number % now->spec.n_regions), TRUE);
  work ();
  if (now->world->count_down (now->world->self, &now->left[sweep]) == 0
      && sweep + 1 < now->spec.each)
    jacobi_queue_sweep (sweep + 1);
}

/* --- all -------------------------------------------------------------------------------------- */

const char *
sim_load_name (SimLoadKind kind)
{
  static const char *const names[] = { "recursive", "fib", "imbalance", "stress", "jacobi" };

  return names[kind];
}

static guint64
count_items (SimLoad *self)
{
  const SimLoadSpec *spec = &self->spec;

  self->sizes[0] = self->sizes[1] = 1;
  for (guint i = 2; i < MAX_FIB; i++)
    self->sizes[i] = 1 + self->sizes[i - 1] + self->sizes[i - 2];
  switch (spec->kind)
    {
    case SIM_RECURSIVE:
      return (guint64) spec->n * (spec->each + 1);
    case SIM_FIB:
      return self->sizes[spec->n];
    case SIM_IMBALANCE:
      return (guint64) spec->each + 1;
    case SIM_STRESS:
      return (guint64) spec->n * spec->n_regions * spec->each;
    default:
      return (guint64) spec->n_regions * spec->each;
    }
}

SimLoad *
sim_load_new (const SimLoadSpec *spec)
{
  SimLoad *self = g_new0 (SimLoad, 1);

  g_assert (spec->kind != SIM_FIB || spec->n < MAX_FIB);
  self->spec = *spec;
  self->n_items = count_items (self);
  self->ran = g_new (guint8, self->n_items);
  self->left = g_new (guint32, MAX (spec->each, 1));

  return self;
}

void
sim_load_free (SimLoad *self)
{
  g_free (self->ran);
  g_free (self->left);
  g_free (self);
}

const SimLoadSpec *
sim_load_spec (const SimLoad *self)
{
  return &self->spec;
}

guint64
sim_load_n_items (const SimLoad *self)
{
  return self->n_items;
}

void
sim_load_start (SimLoad *self, const SimWorld *world)
{
  const SimLoadSpec *spec = &self->spec;

  now = self;
  self->world = world;
  memset (self->ran, 0, self->n_items);
  for (guint i = 0; i < spec->each; i++)
    self->left[i] = spec->n_regions;
  switch (spec->kind)
    {
    case SIM_RECURSIVE:
      for (guint i = 0; i < spec->n; i++)
        queue (outer_run, (guint64) i * (spec->each + 1), 0, IRIS_PLACE_ANY);
      break;
    case SIM_FIB:
      queue (fib_run, 0, spec->n, IRIS_PLACE_ANY);
      break;
    case SIM_IMBALANCE:
      queue (outer_run, 0, 0, IRIS_PLACE_ANY);
      break;
    case SIM_STRESS:
      for (guint i = 0; i < spec->n * spec->n_regions; i++)
        queue (stress_run, (guint64) i * spec->each, 0, place_of (region_of (i)));
      break;
    default:
      jacobi_queue_sweep (0);
    }
}

gboolean
sim_load_check (const SimLoad *self, GError **error)
{
  for (guint64 i = 0; i < self->n_items; i++)
    if (self->ran[i] != 1)
      {
        g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT,
                     "item %" G_GUINT64_FORMAT " of %s ran %u times instead of once", i,
                     sim_load_name (self->spec.kind), self->ran[i]);
        return FALSE;
      }

  return TRUE;
}
