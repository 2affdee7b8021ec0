/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How threads and items run the programs of the workload locks.
 *
 * A thread is one user and sleeps in the lock, on its semaphore and at the barrier. An item's user
 * is two items in turn: the work outside, which any worker may take, and the waiter that runs with
 * the lock held; where a thread would sleep, nothing of the user's is queued.
 */
#include "tests/bench/workloads/locks/bench-lock-run.h"
#include "tests/bench/peers/bench-iris.h"

#include <pthread.h>
#include <stdlib.h>

#define MAX_LOCKS 8

typedef struct _Run Run;

typedef struct
{
  BenchUser user; /* the first, so that one leads to the other */
  Run *run;
  IrisLockWaiter waiter;
  IrisItem item;
} BENCH_PADDED Session;

struct _Run
{
  const BenchLockLoad *load;
  BenchShared *shared;
  Session *sessions;
  GMutex mutexes[MAX_LOCKS];
  IrisLock *locks[MAX_LOCKS];
  IrisScheduler *scheduler;
  pthread_barrier_t barrier; /* of threads */
  gint n_arrived;            /* of items */
};

/* --- threads ---------------------------------------------------------------------------------- */

static BenchAfter
hold_lock (Run *run, BenchUser *user)
{
  BenchAfter after;

  if (run->load->how == BENCH_LOCK_GMUTEX)
    g_mutex_lock (&run->mutexes[user->lock]);
  else
    iris_lock_acquire (run->locks[user->lock]);
  after = bench_user_section (user, run->shared);
  if (run->load->how == BENCH_LOCK_GMUTEX)
    g_mutex_unlock (&run->mutexes[user->lock]);
  else
    iris_lock_release (run->locks[user->lock]);

  return after;
}

static void
run_thread (gpointer data, guint index)
{
  Run *run = data;
  BenchUser *user = &run->sessions[index].user;

  while (user->left > 0)
    {
      BenchAfter after;

      bench_user_work (user);
      while ((after = hold_lock (run, user)) == BENCH_WAIT)
        while (sem_wait (&user->woken) != 0)
          ;
      if (user->wake != NULL)
        sem_post (&user->wake->woken);
      if (after == BENCH_BARRIER)
        pthread_barrier_wait (&run->barrier);
    }
}

/* --- items ------------------------------------------------------------------------------------ */

static void
session_ask (Session *self)
{
  iris_lock_acquire_item (self->run->locks[self->user.lock], &self->waiter, IRIS_LOCK_NONE);
}

static void
session_work (gpointer data)
{
  Session *self = data;

  bench_user_work (&self->user);
  session_ask (self);
}

static void
session_go_on (Session *self)
{
  if (self->user.left > 0)
    iris_scheduler_queue_item (self->run->scheduler, &self->item);
}

/* The last one to come sends all on. */
static void
session_meet (Session *self)
{
  Run *run = self->run;
  guint n = run->load->n_users;

  if (g_atomic_int_add (&run->n_arrived, 1) + 1 < (gint) n)
    return;
  g_atomic_int_set (&run->n_arrived, 0);
  for (guint i = 0; i < n; i++)
    session_go_on (&run->sessions[i]);
}

/* With the lock held. As soon as it is queued again, another worker may run it: nothing of the user
 * is looked at behind that. */
static void
session_hold (gpointer data)
{
  Session *self = data;
  BenchAfter after = bench_user_section (&self->user, self->run->shared);

  if (self->user.wake != NULL)
    session_ask ((Session *) self->user.wake);
  if (after == BENCH_GO_ON)
    session_go_on (self);
  else if (after == BENCH_BARRIER)
    session_meet (self);
}

static gboolean
run_items (Run *run, guint workers, gint64 *begin, GError **error)
{
  run->scheduler = bench_iris_open (run->load->contender, workers, error);
  if (run->scheduler == NULL)
    return FALSE;

  *begin = bench_now ();
  for (guint i = 0; i < run->load->n_users; i++)
    {
      Session *session = &run->sessions[i];

      iris_lock_waiter_init (&session->waiter, run->scheduler, session_hold, session, NULL);
      iris_item_init (&session->item, session_work, session, NULL);
    }
  /* Only now: the first one may wake the others. */
  for (guint i = 0; i < run->load->n_users; i++)
    iris_scheduler_queue_item (run->scheduler, &run->sessions[i].item);
  iris_scheduler_shutdown (run->scheduler, IRIS_SHUTDOWN_DRAIN);

  return TRUE;
}

/* --- a run ------------------------------------------------------------------------------------ */

static void
run_init (Run *run, const BenchLockLoad *load)
{
  *run = (Run){ .load = load,
                .shared = bench_shared_new (load->program, load->n_users, load->bytes) };
  run->sessions = aligned_alloc (128, load->n_users * sizeof *run->sessions);
  if (run->sessions == NULL)
    g_error ("out of memory");
  for (guint i = 0; i < load->n_users; i++)
    {
      bench_user_init (&run->sessions[i].user, run->shared, i, load->sections);
      run->sessions[i].run = run;
    }
  for (guint i = 0; i < MAX_LOCKS; i++)
    {
      g_mutex_init (&run->mutexes[i]);
      run->locks[i] = iris_lock_new (load->policy);
      iris_lock_set_thread_policy (run->locks[i], load->policy);
    }
  pthread_barrier_init (&run->barrier, NULL, load->n_users);
}

static void
run_clear (Run *run)
{
  pthread_barrier_destroy (&run->barrier);
  for (guint i = 0; i < MAX_LOCKS; i++)
    {
      g_mutex_clear (&run->mutexes[i]);
      iris_lock_unref (run->locks[i]);
    }
  for (guint i = 0; i < run->load->n_users; i++)
    bench_user_clear (&run->sessions[i].user);
  g_clear_object (&run->scheduler);
  bench_shared_free (run->shared);
  free (run->sessions);
}

gboolean
bench_lock_run (const BenchRun *what, gdouble *samples, GError **error)
{
  const BenchLockLoad *load = what->load;
  gboolean good = TRUE;
  gdouble spent;
  gint64 begin = 0;
  Run run;

  run_init (&run, load);
  spent = bench_time_of_others ();
  if (load->how == BENCH_LOCK_ITEMS)
    good = run_items (&run, what->workers, &begin, error);
  else
    begin = bench_threads_run (load->n_users, run_thread, &run);
  samples[0] = bench_seconds_since (begin);
  samples[1] = bench_time_of_others () - spent;
  good = good && bench_shared_check (run.shared, (guint64) load->sections * load->n_users, error);
  run_clear (&run);

  return good;
}
