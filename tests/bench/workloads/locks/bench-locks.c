/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Locks under contention: the seven programs of S. Sridharan et al., by threads and by items, for 4
 * to 128 of them, with the lock handed on where it is hot, or not, or as measured.
 *
 * The paper counts the cycles of all threads: that is the processor time of a run, which is
 * measured besides the time by the clock. Goals are held against the clock.
 */
#include "tests/bench/peers/bench-iris.h"
#include "tests/bench/workloads/bench-workload.h"
#include "tests/bench/workloads/locks/bench-lock-run.h"

#define SECTIONS 50000
#define QUICK    1024
#define LEAST    4
#define MOST     128

static const struct
{
  const char *name;
  BenchKind kind;
  IrisLockPolicy policy;
} contenders[] = {
  { "lock:off", BENCH_IRIS, IRIS_LOCK_POLICY_OFF },
  { "lock:always", BENCH_IRIS, IRIS_LOCK_POLICY_ALWAYS },
  { "lock:adaptive", BENCH_IRIS, IRIS_LOCK_POLICY_ADAPTIVE },
  { "gmutex", BENCH_PEER, IRIS_LOCK_POLICY_OFF },
};

/* The first contender, "lock:off", is what the others of a load are compared with. */
static void
add_loads (BenchResult *result, const BenchOptions *options, BenchLockLoad load)
{
  gboolean is_items = load.how == BENCH_LOCK_ITEMS;
  g_autofree char *name = g_strdup_printf ("%s, %u %s", load.program->name, load.n_users,
                                           is_items ? "items" : "threads");
  g_autofree char *second = g_strdup_printf ("%s, processor time", name);
  BenchCase what = { .load = name,
                     .second = second,
                     .workers = is_items ? options->workers : load.n_users,
                     .n_items = (guint64) load.sections * load.n_users,
                     .x = load.n_users,
                     .relation = BENCH_OVERHEAD,
                     .run = bench_lock_run,
                     .data = &load,
                     .size = sizeof load };

  for (guint i = 0; i < G_N_ELEMENTS (contenders); i++)
    {
      gboolean is_peer = contenders[i].kind == BENCH_PEER;

      if ((is_items && is_peer)
          || !bench_is_wanted (options, contenders[i].name, contenders[i].kind))
        continue;
      load.policy = contenders[i].policy;
      if (!is_items)
        load.how = is_peer ? BENCH_LOCK_GMUTEX : BENCH_LOCK_THREADS;
      bench_result_add (result, &what, contenders[i].name, contenders[i].kind, NULL);
    }
}

static gboolean
plan (BenchResult *result, const BenchOptions *options, GError **error)
{
  static const BenchLockUsers ways[] = { BENCH_LOCK_THREADS, BENCH_LOCK_ITEMS };
  guint sections = options->quick ? QUICK
                                  : bench_choose (options, options->items, SECTIONS, 2 * MOST);
  BenchContender *places = bench_result_own (result, bench_iris_parse ("places", NULL),
                                             (GDestroyNotify) bench_contender_free);
  const BenchLockProgram *program;

  places->places = g_strdup (options->places);
  bench_result_set_title (result, "%u critical sections, of %u to %u threads or items", sections,
                          LEAST, MOST);
  for (guint how = 0; how < G_N_ELEMENTS (ways); how++)
    for (guint i = 0; (program = bench_lock_program_nth (i)) != NULL; i++)
      for (guint n = LEAST; n <= MOST; n *= 2)
        /* An even number each: the list and the phases go by two. */
        add_loads (result, options,
                   (BenchLockLoad){ program, ways[how], IRIS_LOCK_POLICY_OFF, n,
                                    MAX (sections / program->share / n & ~1u, 2), places });

  return TRUE;
}

static gboolean
check (const BenchOptions *options, GError **error)
{
  const char *names[G_N_ELEMENTS (contenders) + 1] = { NULL };

  for (guint i = 0; i < G_N_ELEMENTS (contenders); i++)
    names[i] = contenders[i].name;

  return bench_check_chosen (options, "locks", names, error);
}

/* Of figure 2 the text gives the range over all numbers of threads. What is saved there is negative
 * here. */
#define SAVED(program, n)                                                                          \
  {                                                                                                \
    program ", " #n " threads: cycles", program ", " #n " threads, processor time", "lock:always", \
        -75, -18                                                                                   \
  }

static const BenchPublished published[] = {
  SAVED ("single_ctr", 4),
  SAVED ("single_ctr", 32),
  SAVED ("single_ctr", 128),
  SAVED ("multiple_ctr", 4),
  SAVED ("multiple_ctr", 32),
  SAVED ("multiple_ctr", 128),
  SAVED ("doubly_list", 4),
  SAVED ("doubly_list", 32),
  SAVED ("doubly_list", 128),
  SAVED ("mlt_ctr_mlt_lock", 4),
  SAVED ("mlt_ctr_mlt_lock", 32),
  SAVED ("mlt_ctr_mlt_lock", 128),
  { NULL },
};

static const BenchFigure figure = {
  .row = "D1 D2 D4",
  .published = published,
};

const BenchWorkload bench_workload_locks = {
  .name = "locks",
  .summary = "seven programs of 4 to 128 threads, and items, that contend for locks",
  .item = "section",
  .x_label = "threads or items",
  .plan = plan,
  .check = check,
  .figure = &figure,
};
