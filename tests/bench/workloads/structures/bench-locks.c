/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Locks under contention: nanoseconds for a critical section, and the work around it, against the
 * number of waiters.
 *
 * Waiters are work items on as many workers as are asked for, or, of a GMutex and of the blocking
 * form of IrisLock, as many threads as there are waiters: that is how either is used.
 */
#include "tests/bench/workloads/structures/bench-critical.h"
#include "tests/bench/peers/bench-iris.h"
#include "tests/bench/workloads/bench-workload.h"

#include <stdlib.h>

#define ITEMS       100000
#define MAX_WAITERS 128

typedef enum
{
  HOW_GMUTEX,
  HOW_THREADS, /* IrisLock, blocking */
  HOW_ITEMS,
} How;

typedef struct
{
  const char *name;
  BenchKind kind;
  How how;
  IrisLockPolicy policy;
} Contender;

static const Contender contenders[] = {
  { "gmutex", BENCH_PEER, HOW_GMUTEX, IRIS_LOCK_POLICY_OFF },
  { "lock:off", BENCH_IRIS, HOW_ITEMS, IRIS_LOCK_POLICY_OFF },
  { "lock:always", BENCH_IRIS, HOW_ITEMS, IRIS_LOCK_POLICY_ALWAYS },
  { "lock:adaptive", BENCH_IRIS, HOW_ITEMS, IRIS_LOCK_POLICY_ADAPTIVE },
  { "lock:threads", BENCH_IRIS, HOW_THREADS, IRIS_LOCK_POLICY_OFF },
};

typedef struct
{
  const Contender *contender;
  const BenchCritical *critical;
  guint waiters;
  guint sections;
  const BenchContender *places; /* the scheduler of the items */
} Load;

typedef struct _Run Run;

typedef struct
{
  BenchCustomer customer;
  IrisLockWaiter waiter;
  IrisItem item;
  Run *run;
  guint left;
  guint lock; /* the one it has or waits for */
} __attribute__ ((aligned (128))) Session;

struct _Run
{
  const Load *load;
  BenchProtected *data;
  GMutex mutexes[BENCH_CRITICAL_LOCKS];
  IrisLock *locks[BENCH_CRITICAL_LOCKS];
  IrisScheduler *scheduler;
  Session *sessions;
};

static inline void
session_section (Session *self)
{
  BenchProtected *data = &self->run->data[self->lock];

  data->done.value++;
  self->run->load->critical->section (data, &self->customer);
}

static void session_hold (gpointer data);

/* Outside: an item of its own, which any worker may take. */
static void
session_go_on (gpointer data)
{
  Session *self = data;

  self->lock = bench_customer_choose (&self->customer, self->run->load->critical);
  iris_lock_acquire_item (self->run->locks[self->lock], &self->waiter, IRIS_LOCK_NONE);
}

static void
session_hold (gpointer data)
{
  Session *self = data;

  session_section (self);
  if (--self->left > 0)
    iris_scheduler_queue_item (self->run->scheduler, &self->item);
}

static void
run_gmutex (gpointer data, guint index)
{
  Run *run = data;
  Session *self = &run->sessions[index];

  for (; self->left > 0; self->left--)
    {
      self->lock = bench_customer_choose (&self->customer, run->load->critical);
      g_mutex_lock (&run->mutexes[self->lock]);
      session_section (self);
      g_mutex_unlock (&run->mutexes[self->lock]);
    }
}

static void
run_threads (gpointer data, guint index)
{
  Run *run = data;
  Session *self = &run->sessions[index];

  for (; self->left > 0; self->left--)
    {
      self->lock = bench_customer_choose (&self->customer, run->load->critical);
      iris_lock_acquire (run->locks[self->lock]);
      session_section (self);
      iris_lock_release (run->locks[self->lock]);
    }
}

static gboolean
run_items (Run *run, guint workers, gint64 *begin, GError **error)
{
  run->scheduler = bench_iris_open (run->load->places, workers, error);
  if (run->scheduler == NULL)
    return FALSE;

  *begin = bench_now ();
  for (guint i = 0; i < run->load->waiters; i++)
    {
      Session *session = &run->sessions[i];

      iris_lock_waiter_init (&session->waiter, run->scheduler, session_hold, session, NULL);
      iris_item_init (&session->item, session_go_on, session, NULL);
      iris_scheduler_queue_item (run->scheduler, &session->item);
    }
  iris_scheduler_shutdown (run->scheduler, IRIS_SHUTDOWN_DRAIN);

  return TRUE;
}

static void
run_prepare (Run *run, const Load *load)
{
  *run = (Run){ .load = load, .data = bench_protected_new () };
  run->sessions = aligned_alloc (128, load->waiters * sizeof *run->sessions);
  if (run->sessions == NULL)
    g_error ("out of memory");
  for (guint i = 0; i < load->waiters; i++)
    {
      Session *session = &run->sessions[i];

      bench_customer_init (&session->customer, i);
      session->run = run;
      session->left = load->sections / load->waiters;
    }
  for (guint i = 0; i < BENCH_CRITICAL_LOCKS; i++)
    {
      g_mutex_init (&run->mutexes[i]);
      run->locks[i] = iris_lock_new (load->contender->policy);
    }
}

static void
run_clear (Run *run)
{
  for (guint i = 0; i < BENCH_CRITICAL_LOCKS; i++)
    {
      g_mutex_clear (&run->mutexes[i]);
      iris_lock_unref (run->locks[i]);
    }
  g_clear_object (&run->scheduler);
  bench_protected_free (run->data);
  free (run->sessions);
}

static gboolean
run_locks (const BenchRun *what, gdouble *samples, GError **error)
{
  const Load *self = what->load;
  guint64 expected = (guint64) (self->sections / self->waiters) * self->waiters;
  gboolean good = TRUE;
  gint64 begin = 0;
  Run run;

  run_prepare (&run, self);
  bench_counts_reset ();
  if (self->contender->how == HOW_ITEMS)
    good = run_items (&run, what->workers, &begin, error);
  else
    begin = bench_threads_run (self->waiters,
                               self->contender->how == HOW_GMUTEX ? run_gmutex : run_threads, &run);
  samples[0] = bench_seconds_since (begin);
  good = good && bench_protected_check (run.data, self->critical, expected, error);
  run_clear (&run);

  return good;
}

static void
add_loads (BenchResult *result, const BenchOptions *options, Load load)
{
  g_autofree char *name = g_strdup_printf ("%s, %u waiters", load.critical->name, load.waiters);
  BenchCase what = { .load = name,
                     .n_items = (guint64) (load.sections / load.waiters) * load.waiters,
                     .x = load.waiters,
                     .run = run_locks,
                     .data = &load,
                     .size = sizeof load };

  for (guint i = 0; i < G_N_ELEMENTS (contenders); i++)
    {
      load.contender = &contenders[i];
      what.workers = contenders[i].how == HOW_ITEMS ? options->workers : load.waiters;
      if (bench_is_wanted (options, contenders[i].name, contenders[i].kind))
        bench_result_add (result, &what, contenders[i].name, contenders[i].kind, NULL);
    }
}

static gboolean
plan (BenchResult *result, const BenchOptions *options, GError **error)
{
  guint sections = bench_choose (options, options->items, ITEMS, 2 * MAX_WAITERS);
  BenchContender *places = bench_result_own (result, bench_iris_parse ("places", NULL),
                                             (GDestroyNotify) bench_contender_free);
  const BenchCritical *critical;

  places->places = g_strdup (options->places);
  bench_result_set_title (result, "%u critical sections, of 2 to %u waiters", sections,
                          MAX_WAITERS);
  for (guint i = 0; (critical = bench_critical_nth (i)) != NULL; i++)
    for (guint waiters = 2; waiters <= MAX_WAITERS; waiters *= 2)
      add_loads (result, options, (Load){ NULL, critical, waiters, sections, places });

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

const BenchWorkload bench_workload_locks = {
  .name = "locks",
  .summary = "critical sections of 2 to 128 waiters, in seven kinds",
  .item = "section",
  .x_label = "waiters",
  .plan = plan,
  .check = check,
};
