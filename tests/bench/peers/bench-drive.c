/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The general drivers: loads on top of an engine's open, push and close.
 *
 * Items are never copied or allocated here: an item is a pointer to a mark that says what
 * to do, so an engine pays for its own queueing and for nothing else.
 */
#include "tests/bench/peers/bench-contender.h"

#include <stdatomic.h>

void
bench_spray_share (const BenchSpray *spray, guint producer, guint *first, guint *end)
{
  *first = (guint) ((guint64) spray->outer * producer / spray->producers);
  *end = (guint) ((guint64) spray->outer * (producer + 1) / spray->producers);
}

/* --- items, and items that they make ---------------------------------------------------------- */

typedef struct _Spray Spray;

typedef struct
{
  Spray *spray;
  gboolean is_outer;
} Mark;

struct _Spray
{
  const BenchSpray *load;
  const BenchEngine *engine;
  gpointer handle;
  Mark outer;
  Mark leaf;
  atomic_uint n_outer_left;
  BenchGate pushed; /* open when nothing will be pushed any more */
};

static void
spray_run_outer (Spray *self)
{
  bench_count_one ();
  for (guint i = 0; i < self->load->inner; i++)
    self->engine->push (self->handle, &self->leaf);
  if (atomic_fetch_sub_explicit (&self->n_outer_left, 1, memory_order_acq_rel) == 1)
    bench_gate_open (&self->pushed);
}

static void
spray_run (gpointer data)
{
  const Mark *mark = data;

  if (mark->is_outer)
    spray_run_outer (mark->spray);
  else
    bench_item_run ((gpointer) &mark->spray->load->work);
}

static void
spray_produce (gpointer data, guint producer)
{
  Spray *self = data;
  Mark *mark = self->load->inner > 0 ? &self->outer : &self->leaf;
  guint first, end;

  bench_spray_share (self->load, producer, &first, &end);
  for (guint i = first; i < end; i++)
    self->engine->push (self->handle, mark);
}

static gboolean
spray_generally (const BenchContender *self,
                 const BenchSpray *load,
                 guint workers,
                 gdouble *seconds,
                 GError **error)
{
  Spray run = { .load = load, .engine = self->engine };
  gint64 begin;

  run.outer = (Mark){ &run, TRUE };
  run.leaf = (Mark){ &run, FALSE };
  atomic_init (&run.n_outer_left, load->outer);
  run.handle = bench_contender_open (self, workers, spray_run, error);
  if (run.handle == NULL)
    return FALSE;
  bench_gate_init (&run.pushed);

  begin = bench_threads_run (load->producers, spray_produce, &run);
  if (load->inner > 0)
    bench_gate_wait (&run.pushed);
  self->engine->close (run.handle);
  *seconds = bench_seconds_since (begin);
  bench_gate_clear (&run.pushed);

  return TRUE;
}

gboolean
bench_contender_spray (const BenchContender *self,
                       const BenchSpray *spray,
                       guint workers,
                       gdouble *seconds,
                       GError **error)
{
  guint64 leaves = (guint64) spray->outer * MAX (spray->inner, 1);
  guint64 items = (guint64) spray->outer * (spray->inner + 1);
  gboolean good;

  bench_counts_reset ();
  if (self->engine->spray != NULL)
    good = self->engine->spray (self, spray, workers, seconds, error);
  else
    good = spray_generally (self, spray, workers, seconds, error);

  return good && bench_counts_check (items, leaves * spray->work.result, error);
}

/* --- tiles in phases -------------------------------------------------------------------------- */

#define BEGIN G_MAXUINT /* in place of a tile */
#define GROUP 32        /* tiles that are counted together */

typedef struct _Walk Walk;

/* What is left of neighbours, which one thread mostly runs: where tiles are small, threads that all
 * count down one number would be measured, not the contender. */
typedef struct
{
  _Alignas(64) atomic_uint n_left;
} Group;

typedef struct
{
  Walk *walk;
  guint tile;
} Tile;

struct _Walk
{
  const BenchPhases *load;
  const BenchEngine *engine;
  gboolean newest_first;
  gpointer handle;
  Tile *tiles; /* as many as the largest phase has */
  Group *groups;
  guint phase;        /* written by the thread that ends a phase, before it pushes */
  atomic_uint n_left; /* groups */
  BenchGate over;
};

static guint
n_groups (guint n_tiles)
{
  return (n_tiles + GROUP - 1) / GROUP;
}

static void
walk_begin_phase (Walk *self)
{
  guint n;

  if (self->phase == self->load->n_phases)
    {
      if (self->engine->ended != NULL)
        self->engine->ended (self->handle);
      bench_gate_open (&self->over);
      return;
    }
  n = self->load->n_tiles (self->load->problem, self->phase);
  atomic_store_explicit (&self->n_left, n_groups (n), memory_order_relaxed);
  for (guint i = 0; i < n; i += GROUP)
    atomic_store_explicit (&self->groups[i / GROUP].n_left, MIN (n - i, GROUP),
                           memory_order_relaxed);
  /* A thread alone runs them in the order of plain C: caches are filled for that. */
  for (guint i = 0; i < n; i++)
    self->engine->push (self->handle, &self->tiles[self->newest_first ? n - 1 - i : i]);
}

/* Release: what was computed; acquire: what the others have. */
static gboolean
is_last (atomic_uint *n_left)
{
  return atomic_fetch_sub_explicit (n_left, 1, memory_order_acq_rel) == 1;
}

/* The thread that ends the last tile begins the next phase. Only the item that begins the first one
 * is pushed from outside. */
static void
walk_run_tile (gpointer data)
{
  Tile *tile = data;
  Walk *self = tile->walk;

  if (tile->tile == BEGIN)
    {
      walk_begin_phase (self);
      return;
    }
  self->load->tile (self->load->problem, self->phase, tile->tile);
  if (is_last (&self->groups[tile->tile / GROUP].n_left) && is_last (&self->n_left))
    {
      self->phase++;
      walk_begin_phase (self);
    }
}

static void
walk_init (Walk *self)
{
  guint most = 0;

  for (guint i = 0; i < self->load->n_phases; i++)
    most = MAX (most, self->load->n_tiles (self->load->problem, i));
  self->groups = g_aligned_alloc0 (n_groups (most), sizeof (Group), 64);
  self->tiles = g_new (Tile, most);
  for (guint i = 0; i < most; i++)
    self->tiles[i] = (Tile){ self, i };
  bench_gate_init (&self->over);
}

static void
walk_clear (Walk *self)
{
  bench_gate_clear (&self->over);
  g_free (self->tiles);
  g_aligned_free (self->groups);
}

static gboolean
walk_generally (const BenchContender *self,
                const BenchPhases *phases,
                guint workers,
                gdouble *seconds,
                GError **error)
{
  Walk walk = { .load = phases, .engine = self->engine, .newest_first = self->newest_first };
  Tile first = { &walk, BEGIN };
  gint64 begin;

  walk.handle = bench_contender_open (self, workers, walk_run_tile, error);
  if (walk.handle == NULL)
    return FALSE;
  walk_init (&walk);
  begin = bench_now ();
  self->engine->push (walk.handle, &first);
  bench_gate_wait (&walk.over);
  *seconds = bench_seconds_since (begin);
  self->engine->close (walk.handle);
  walk_clear (&walk);

  return TRUE;
}

gboolean
bench_contender_phases (const BenchContender *self,
                        const BenchPhases *phases,
                        guint workers,
                        gdouble *seconds,
                        GError **error)
{
  if (self->engine->phases == NULL)
    return walk_generally (self, phases, workers, seconds, error);

  return self->engine->phases (self, phases, workers, seconds, error);
}
