/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Locks under contention, by threads and by items, with the lock handed on where it is hot, or not,
 * or as measured: the seven programs of S. Sridharan et al., for 4 to 128 of them (locks), and one
 * lock with data behind it, by the size of the data (lock-data).
 *
 * The paper counts the cycles of all threads: that is the processor time of a run, which is
 * measured besides the time by the clock. Goals are held against the clock.
 */
#include "tests/bench/peers/bench-iris.h"
#include "tests/bench/workloads/bench-workload.h"
#include "tests/bench/workloads/locks/bench-lock-run.h"

#include <math.h>

/* The least that the paper has; its programs go on to 16 million. */
#define SECTIONS 200000
#define QUICK    1024
#define LEAST    4
#define MOST     128

/* Of lock-data: what a run changes in all, and what the lock protects. */
#define CHANGED       ((guint64) 4 << 30)
#define QUICK_CHANGED ((guint64) 4 << 20)
#define SMALL         ((gsize) 4 << 10)
#define LARGE         ((gsize) 256 << 10)

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
add_load (BenchResult *result, const BenchOptions *options, BenchLockLoad load, const char *name)
{
  g_autofree char *second = g_strdup_printf ("%s, processor time", name);
  gboolean is_items = load.how == BENCH_LOCK_ITEMS;
  BenchCase what = { .load = name,
                     .second = second,
                     .workers = is_items ? options->workers : load.n_users,
                     .n_items = (guint64) load.sections * load.n_users,
                     .x = load.bytes > 0 ? (gdouble) load.bytes / 1024 : load.n_users,
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

static const struct
{
  BenchLockUsers how;
  const char *name;
} users[] = { { BENCH_LOCK_THREADS, "threads" }, { BENCH_LOCK_ITEMS, "items" } };

/* The scheduler of the items. */
static const BenchContender *
own_places (BenchResult *result, const BenchOptions *options)
{
  BenchContender *places = bench_result_own (result, bench_iris_parse ("places", NULL),
                                             (GDestroyNotify) bench_contender_free);

  places->places = g_strdup (options->places);

  return places;
}

static void
add_program (BenchResult *result,
             const BenchOptions *options,
             BenchLockLoad load,
             const char *users_name,
             guint sections)
{
  for (load.n_users = LEAST; load.n_users <= MOST; load.n_users *= 2)
    {
      g_autofree char *name = g_strdup_printf ("%s, %u %s", load.program->name, load.n_users,
                                               users_name);

      /* An even number each: the list and the phases go by two. */
      load.sections = MAX (sections / load.program->share / load.n_users & ~1u, 2);
      add_load (result, options, load, name);
    }
}

static gboolean
plan (BenchResult *result, const BenchOptions *options, GError **error)
{
  const BenchContender *places = own_places (result, options);
  guint sections = options->quick ? QUICK
                                  : bench_choose (options, options->items, SECTIONS, 2 * MOST);
  const BenchLockProgram *program;

  bench_result_set_title (result, "%u critical sections, of %u to %u threads or items", sections,
                          LEAST, MOST);
  for (guint i = 0; i < G_N_ELEMENTS (users); i++)
    for (guint j = 0; (program = bench_lock_program_nth (j)) != NULL; j++)
      add_program (result, options,
                   (BenchLockLoad){ .program = program, .how = users[i].how, .contender = places },
                   users[i].name, sections);

  return TRUE;
}

static gboolean
plan_data (BenchResult *result, const BenchOptions *options, GError **error)
{
  const BenchContender *places = own_places (result, options);
  guint64 changed = options->quick ? QUICK_CHANGED : (guint64) (CHANGED * options->scale);

  bench_result_set_title (result, "%" G_GUINT64_FORMAT " MiB changed under one lock, in lines",
                          changed >> 20);
  for (guint i = 0; i < G_N_ELEMENTS (users); i++)
    for (guint n = LEAST; n <= MOST; n *= 4)
      for (gsize bytes = SMALL; bytes <= LARGE; bytes *= 8)
        {
          guint64 sections = options->items > 0 ? options->items : changed / bytes;
          BenchLockLoad load = { .program = &bench_lock_program_data,
                                 .how = users[i].how,
                                 .n_users = n,
                                 .sections = (guint) MAX (sections / n, 1),
                                 .bytes = bytes,
                                 .contender = places };
          g_autofree char *name = g_strdup_printf ("%" G_GSIZE_FORMAT " KiB, %u %s", bytes >> 10, n,
                                                   users[i].name);

          add_load (result, options, load, name);
        }

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

/* What is saved there is negative here. */
#define CYCLES(program, n, low, high)                                                              \
  {                                                                                                \
    program ", " #n " threads: cycles", program ", " #n " threads, processor time", "lock:always", \
        low, high                                                                                  \
  }
#define NOT_SAVED(program, n)                                               \
  {                                                                         \
    program ", " #n " threads: cycles, no improvement",                     \
        program ", " #n " threads, processor time", "lock:always", NAN, NAN \
  }
/* The text gives one range for all numbers of threads. */
#define SAVED(program)                                                                          \
  CYCLES (program, 4, -75, -18), CYCLES (program, 8, -75, -18), CYCLES (program, 16, -75, -18), \
      CYCLES (program, 32, -75, -18), CYCLES (program, 64, -75, -18),                           \
      CYCLES (program, 128, -75, -18)
/* Table 3: the most and the least over all numbers of threads. It does not say
 * which of the two rows of affinity is that of L2. */
#define L2(program, most, least)                                         \
  {                                                                      \
    program ": L2 miss ratio, 4 to 128 threads", NULL, NULL, most, least \
  }

static const BenchPublished published[] = {
  SAVED ("single_ctr"),
  SAVED ("multiple_ctr"),
  SAVED ("doubly_list"),
  SAVED ("mlt_ctr_mlt_lock"),
  CYCLES ("affinity", 4, -75, -18),
  CYCLES ("affinity", 8, -75, -18),
  CYCLES ("affinity", 16, -75, -18),
  CYCLES ("affinity", 32, -75, -18),
  CYCLES ("affinity", 64, -75, -18),
  CYCLES ("affinity", 128, -50.9, -50.9),
  NOT_SAVED ("prod_cons", 4),
  NOT_SAVED ("multiple_fifo", 32),
  NOT_SAVED ("multiple_fifo", 64),
  NOT_SAVED ("multiple_fifo", 128),
  L2 ("single_ctr", -34.8, -10.5),
  L2 ("multiple_ctr", -36.4, -9.1),
  L2 ("doubly_list", -42.0, -15.2),
  L2 ("prod_cons", -40.2, -8.3),
  { "affinity: miss ratio, first row, 4 to 128 threads", NULL, NULL, -54.4, -4.4 },
  { "affinity: miss ratio, second row, 4 to 128 threads", NULL, NULL, -98.9, -83.5 },
  L2 ("mlt_ctr_mlt_lock", -59.4, -30.5),
  L2 ("multiple_fifo", -34.0, -6.0),
  { NULL },
};

static const BenchFigure figure = {
  .row = "D2 D4",
  .title = "Microbenchmarks: CPU cycles, L2 miss ratio",
  .source = BENCH_FAST ", sections 3.2.1 and 4.1, figure 2 and table 3",
  .machine = BENCH_FAST_MACHINE,
  .differs =
      "the lock's releaser sets the affinity of the thread, not the kernel its mark; the lock "
      "spins before it sleeps; cycles are processor time; 200,000 sections in all, of affinity, "
      "which has a barrier behind each, 25,000, where the paper has 200,000 to 16 million "
      "iterations",
  .published = published,
};

/* "10 to 90 % for applications that operate on significant amounts of data". */
#define CHANGED_DATA(kib, n)                                                             \
  {                                                                                      \
    "cycles, " #kib " KiB, " #n " threads", #kib " KiB, " #n " threads, processor time", \
        "lock:always", -90, -10                                                          \
  }

static const BenchPublished data_published[] = {
  CHANGED_DATA (4, 4),    CHANGED_DATA (32, 4),
  CHANGED_DATA (256, 4),  CHANGED_DATA (4, 16),
  CHANGED_DATA (32, 16),  CHANGED_DATA (256, 16),
  CHANGED_DATA (4, 64),   CHANGED_DATA (32, 64),
  CHANGED_DATA (256, 64), { NULL },
};

static const BenchFigure data_figure = {
  .row = "D1",
  .title = "Lock-hot scheduling: cycles, by the data behind the lock",
  .source = BENCH_FAST ", abstract and section 2.3",
  .machine = BENCH_FAST_MACHINE,
  .differs =
      "one program that changes data of a given size; the paper gives the range of its seven",
  .published = data_published,
};

const BenchWorkload bench_workload_locks = {
  .name = "locks",
  .summary = "seven programs of 4 to 128 threads, or items, and locks",
  .item = "section",
  .x_label = "how many at the same time",
  .plan = plan,
  .check = check,
  .figure = &figure,
};

const BenchWorkload bench_workload_lock_data = {
  .name = "lock-data",
  .summary = "one lock with 4 to 256 KiB behind it",
  .suite = BENCH_SUITE_PAPER,
  .item = "section",
  .x_label = "KiB",
  .plan = plan_data,
  .check = check,
  .figure = &data_figure,
};
