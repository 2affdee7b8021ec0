/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Locks under contention: nanoseconds for a critical section, and the work around it, against the
 * number of waiters.
 *
 * Waiters are work items on as many workers as are asked for, or, of a GMutex and of the blocking
 * form of IrisLock, as many threads as there are waiters: that is how either is used.
 */
#include "tests/bench/peers/bench-contender.h"
#include "tests/bench/workloads/structures/bench-critical.h"
#include "tests/bench/peers/bench-iris.h"
#include "tests/bench/measure/bench-result.h"
#include "tests/bench/workloads/bench-workloads.h"

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
  const BenchCritical *load;
  guint waiters;
  guint workers;
  guint sections;
  char *places;
} Trial;

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
  const Trial *trial;
  BenchProtected *data;
  GMutex mutexes[BENCH_CRITICAL_LOCKS];
  IrisLock *locks[BENCH_CRITICAL_LOCKS];
  IrisScheduler *scheduler;
  Session *sessions;
};

static void
trial_free (gpointer data)
{
  Trial *self = data;

  g_free (self->places);
  g_free (self);
}

static inline void
session_section (Session *self)
{
  BenchProtected *data = &self->run->data[self->lock];

  data->done.value++;
  self->run->trial->load->section (data, &self->customer);
}

static void session_hold (gpointer data);

/* Outside: an item of its own, which any worker may take. */
static void
session_go_on (gpointer data)
{
  Session *self = data;

  self->lock = bench_customer_choose (&self->customer, self->run->trial->load);
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
      self->lock = bench_customer_choose (&self->customer, run->trial->load);
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
      self->lock = bench_customer_choose (&self->customer, run->trial->load);
      iris_lock_acquire (run->locks[self->lock]);
      session_section (self);
      iris_lock_release (run->locks[self->lock]);
    }
}

static gboolean
run_items (Run *run, gint64 *begin, GError **error)
{
  const Trial *trial = run->trial;
  BenchContender *contender = bench_iris_parse ("places", error);

  if (contender == NULL)
    return FALSE;
  contender->places = g_strdup (trial->places);
  run->scheduler = bench_iris_open (contender, trial->workers, error);
  bench_contender_free (contender);
  if (run->scheduler == NULL)
    return FALSE;
  bench_iris_start (run->scheduler);
  if (!bench_wait_asleep (NULL, NULL, error))
    return FALSE;

  *begin = bench_now ();
  for (guint i = 0; i < trial->waiters; i++)
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
run_prepare (Run *run, const Trial *trial)
{
  *run = (Run){ .trial = trial, .data = bench_protected_new () };
  run->sessions = aligned_alloc (128, trial->waiters * sizeof *run->sessions);
  if (run->sessions == NULL)
    g_error ("out of memory");
  for (guint i = 0; i < trial->waiters; i++)
    {
      Session *session = &run->sessions[i];

      bench_customer_init (&session->customer, i);
      session->run = run;
      session->left = trial->sections / trial->waiters;
    }
  for (guint i = 0; i < BENCH_CRITICAL_LOCKS; i++)
    {
      g_mutex_init (&run->mutexes[i]);
      run->locks[i] = iris_lock_new (trial->contender->policy);
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
trial_run (gpointer data, gdouble *samples, GError **error)
{
  const Trial *self = data;
  guint64 expected = (guint64) (self->sections / self->waiters) * self->waiters;
  gboolean good = TRUE;
  gint64 begin = 0;
  Run run;

  run_prepare (&run, self);
  bench_counts_reset ();
  if (self->contender->how == HOW_ITEMS)
    good = run_items (&run, &begin, error);
  else
    begin = bench_threads_run (self->waiters,
                               self->contender->how == HOW_GMUTEX ? run_gmutex : run_threads, &run);
  samples[0] = (bench_now () - begin) / 1e9;
  good = good && bench_protected_check (run.data, self->load, expected, error);
  run_clear (&run);

  return good;
}

static gboolean
is_wanted (const BenchOptions *options, const Contender *contender)
{
  if (options->only != NULL)
    return g_strv_contains ((const char *const *) options->only, contender->name);

  return options->peers || contender->kind == BENCH_IRIS;
}

static void
add_trials (BenchResult *result,
            const BenchOptions *options,
            const BenchCritical *load,
            guint waiters,
            guint sections)
{
  g_autofree char *name = g_strdup_printf ("%s, %u waiters", load->name, waiters);
  const BenchSeries *base = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (contenders); i++)
    {
      const Contender *contender = &contenders[i];
      guint workers = contender->how == HOW_ITEMS ? options->workers : waiters;
      BenchSeries *series;
      Trial *trial;

      if (!is_wanted (options, contender))
        continue;
      series = bench_series_new (name, contender->name, contender->kind, workers,
                                 (guint64) (sections / waiters) * waiters);
      series->x = waiters;
      base = base != NULL ? base : series;
      bench_series_compare (series, base, BENCH_FACTOR);
      bench_result_add_series (result, series);
      trial = g_new (Trial, 1);
      *trial = (Trial){ contender, load, waiters, workers, sections, g_strdup (options->places) };
      bench_result_add_trial (result, trial_run, trial, trial_free, series, NULL);
    }
}

gboolean
bench_locks_check (const BenchOptions *options, GError **error)
{
  for (guint i = 0; options->only != NULL && options->only[i] != NULL; i++)
    {
      gboolean found = FALSE;

      for (guint j = 0; j < G_N_ELEMENTS (contenders); j++)
        found = found || g_str_equal (contenders[j].name, options->only[i]);
      if (!found)
        {
          g_set_error (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
                       "there is no contender “%s” of locks; there are gmutex, lock:off, "
                       "lock:always, lock:adaptive and lock:threads",
                       options->only[i]);
          return FALSE;
        }
    }

  return TRUE;
}

BenchResult *
bench_locks (const BenchOptions *options, GError **error)
{
  guint sections = bench_choose (options, options->items, ITEMS, 2 * MAX_WAITERS);
  g_autoptr (BenchResult) result = bench_result_new (
      "locks", options,
      g_strdup_printf ("%u critical sections, of 2 to %u waiters", sections, MAX_WAITERS));
  const BenchCritical *load;

  result->item = "section";
  result->x_label = g_strdup ("waiters");
  for (guint i = 0; (load = bench_critical_nth (i)) != NULL; i++)
    for (guint waiters = 2; waiters <= MAX_WAITERS; waiters *= 2)
      add_trials (result, options, load, waiters, sections);

  return bench_result_measure (result, error) ? g_steal_pointer (&result) : NULL;
}
