/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The workers and the items of the pool's scenarios; included behind the sources of the pool.
 */
#pragma once

/* Threads: thread i of the scenario is worker i, as soon as it is made. */

static gpointer (*thread_func) (gpointer);
static IrisWorker *started[EXPLORE_MAX_THREADS];
static _Atomic uint32_t is_started[EXPLORE_MAX_THREADS]; /* futexes */
static _Atomic uint32_t ended[EXPLORE_MAX_THREADS];
static unsigned n_threads; /* how many workers the scenario has room for */

/* In setup(). */
static void
threads_reset (unsigned n)
{
  n_threads = n;
  for (unsigned i = 0; i < EXPLORE_MAX_THREADS; i++)
    {
      atomic_init (&is_started[i], 0);
      atomic_init (&ended[i], 0);
    }
}

static GThread *
thread_start (const char *name, gpointer (*func) (gpointer), gpointer data)
{
  IrisWorker *worker = data;

  explore_assert (worker->index < n_threads, "worker %u is made, of %u at most", worker->index,
                  n_threads);
  thread_func = func;
  started[worker->index] = worker;
  atomic_exchange_explicit (&is_started[worker->index], 1, memory_order_acq_rel);
  futex_wake (&is_started[worker->index]);

  return data;
}

static gpointer
thread_join (GThread *thread)
{
  const IrisWorker *worker = (gpointer) thread;

  while (atomic_load_explicit (&ended[worker->index], memory_order_acquire) == 0)
    futex_wait (&ended[worker->index], 0);

  return NULL;
}

static void
be_worker (unsigned self)
{
  while (atomic_load_explicit (&is_started[self], memory_order_acquire) == 0)
    futex_wait (&is_started[self], 0);
  thread_func (started[self]);
  atomic_exchange_explicit (&ended[self], 1, memory_order_acq_rel);
  futex_wake (&ended[self]);
}

/* Work: an item of the runtime beside the one that is counted. */

#define NOTHING   MAX_WORKS
#define MAX_WORKS 3

typedef struct
{
  IrisItem item;
  Item *counted;
  unsigned queues; /* another one, from inside, or NOTHING */
  unsigned needs;  /* blocks until that one was done, or NOTHING */
  unsigned then;   /* queues that one afterwards, and blocks until it was done, or NOTHING */
  bool says_so;    /* that it blocks */
} Work;

static IrisWorkerPoolOps ops;
static IrisWorkerPool *pool;
static Work works[MAX_WORKS];
static _Atomic uint32_t done[MAX_WORKS]; /* futexes */
static unsigned n_works;

static void
work_settle (gpointer data)
{
  Work *work = data;
  unsigned index = (unsigned) (work - works);

  item_taken (work->counted, "the pool");
  atomic_exchange_explicit (&done[index], 1, memory_order_acq_rel);
  futex_wake (&done[index]);
}

static void
work_await (const Work *work, unsigned needed)
{
  if (work->says_so)
    iris_worker_begin_blocking ();
  while (atomic_load_explicit (&done[needed], memory_order_acquire) == 0)
    futex_wait (&done[needed], 0);
  if (work->says_so)
    iris_worker_end_blocking ();
}

static void
work_run (gpointer data)
{
  Work *work = data;

  if (work->queues != NOTHING)
    iris_worker_pool_queue (pool, &works[work->queues].item);
  if (work->needs != NOTHING)
    work_await (work, work->needs);
  if (work->then != NOTHING)
    {
      iris_worker_pool_queue (pool, &works[work->then].item);
      work_await (work, work->then);
    }
  work_settle (work);
}

static void
add (gint place, bool strict, unsigned queues, unsigned needs)
{
  Work *work = &works[n_works];

  work->item = (IrisItem){
    .func = work_run,
    .data = work,
    .notify = work_settle,
    .place = place,
    .flags = strict ? IRIS_ITEM_STRICT : IRIS_ITEM_NONE,
  };
  work->counted = item_new ();
  work->queues = queues;
  work->needs = needs;
  work->then = NOTHING;
  work->says_so = false;
  atomic_init (&done[n_works++], 0);
}

static void
queue (unsigned work)
{
  explore_note ("work %u is queued", work);
  iris_worker_pool_queue (pool, &works[work].item);
}
