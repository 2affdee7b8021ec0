/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * libdex's thread pool as a contender, where pkg-config finds libdex.
 *
 * It takes items from outside only: what a worker of the pool pushes can be lost or run twice (its
 * deque has a capacity that is no power of two), and a benchmark cannot time what does not end.
 *
 * Two things that it lacks are made up for. It cannot wait for what was pushed: the last item
 * opens a gate, for which each item is counted up when it is pushed and down when it has run. It
 * takes half of the processors and offers no setting: while a pool is made, it is told of twice as
 * many processors as it is to use.
 */
#include "bench-contender.h"

#ifdef HAVE_LIBDEX

#include <libdex.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_uint pretended;

/* In place of GLib's, for the whole process; it tells the truth but for a moment. */
__attribute__ ((visibility ("default"))) guint
g_get_num_processors (void)
{
  guint n = atomic_load (&pretended);
  cpu_set_t set;

  if (n == 0 && sched_getaffinity (0, sizeof set, &set) == 0)
    n = (guint) CPU_COUNT (&set);

  return MAX (n, 1);
}

typedef struct
{
  DexScheduler *scheduler;
  BenchFunc func;
  _Atomic guint64 n_left; /* and one for the thread that closes */
  GMutex lock;
  GCond over;
  gboolean is_over;
} Handle;

static void
handle_settle (Handle *self)
{
  if (atomic_fetch_sub_explicit (&self->n_left, 1, memory_order_acq_rel) > 1)
    return;
  g_mutex_lock (&self->lock);
  self->is_over = TRUE;
  g_cond_signal (&self->over);
  g_mutex_unlock (&self->lock);
}

/* There is one pool at a time, so an item need not name its own. */
static Handle *current;

static void
run_item (gpointer data)
{
  current->func (data);
  handle_settle (current);
}

static gpointer
dex_open (const BenchContender *contender, guint workers, BenchFunc func, GError **error)
{
  Handle *self = g_new0 (Handle, 1);

  dex_init ();
  g_mutex_init (&self->lock);
  g_cond_init (&self->over);
  self->func = func;
  atomic_init (&self->n_left, 1);
  atomic_store (&pretended, 2 * workers);
  self->scheduler = dex_thread_pool_scheduler_new ();
  atomic_store (&pretended, 0);
  current = self;

  return self;
}

static void
dex_push (gpointer handle, gpointer data)
{
  Handle *self = handle;

  atomic_fetch_add_explicit (&self->n_left, 1, memory_order_relaxed);
  dex_scheduler_push (self->scheduler, run_item, data);
}

static void
dex_close (gpointer handle)
{
  Handle *self = handle;

  handle_settle (self);
  g_mutex_lock (&self->lock);
  while (!self->is_over)
    g_cond_wait (&self->over, &self->lock);
  g_mutex_unlock (&self->lock);
  dex_unref (self->scheduler);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->over);
  g_free (self);
}

const BenchEngine bench_engine_libdex = {
  .name = "libdex",
  .summary = "libdex's thread pool; items from outside",
  .kind = BENCH_PEER,
  .can = BENCH_CAN_OUTSIDE | BENCH_CAN_WAKE,
  .open = dex_open,
  .push = dex_push,
  .close = dex_close,
};

#endif
