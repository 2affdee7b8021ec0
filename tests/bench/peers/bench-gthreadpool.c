/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GThreadPool as a contender: an exclusive pool, so its threads run before the first item, and the
 * item itself is what is pushed; nothing is allocated for it here.
 */
#include "tests/bench/peers/bench-contender.h"

static void
call (gpointer data, gpointer func)
{
  ((BenchFunc) func) (data);
}

static gpointer
pool_open (const BenchContender *self, guint workers, BenchFunc func, GError **error)
{
  return g_thread_pool_new (call, (gpointer) func, (gint) workers, TRUE, error);
}

static void
pool_push (gpointer handle, gpointer data)
{
  g_thread_pool_push (handle, data, NULL);
}

static void
pool_close (gpointer handle)
{
  g_thread_pool_free (handle, FALSE, TRUE);
}

const BenchEngine bench_engine_gthreadpool = {
  .name = "gthreadpool",
  .summary = "GThreadPool, exclusive",
  .kind = BENCH_PEER,
  .can = BENCH_CAN_OUTSIDE | BENCH_CAN_INSIDE | BENCH_CAN_PHASES | BENCH_CAN_WAKE,
  .open = pool_open,
  .push = pool_push,
  .close = pool_close,
};
