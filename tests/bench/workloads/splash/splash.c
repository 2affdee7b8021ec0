/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Teams of threads and of items, and their critical sections, barriers and tasks.
 *
 * Items: `open` counts the parts, sections and tasks of the phase that have not ended; the one that
 * brings it to 0 queues the parts of the next phase. Threads: `open` counts parts and tasks, for
 * programs with tasks only; a thread without work sleeps until a task is queued or none is open.
 */
#include "tests/bench/workloads/splash/splash.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>

typedef struct
{
  IrisItem item;
  SplashTeam *team;
} Part;

struct _SplashTeam
{
  const SplashProgram *program;
  gpointer self;
  guint n;
  guint n_phases;
  IrisLockPolicy policy;
  IrisScheduler *scheduler; /* items: the one they run on; otherwise NULL */
  Part *parts;              /* items */
  guint phase;              /* items: the present one */
  atomic_uint open;
  SplashLocks *locks; /* LOCK_... */
  guint arrived;      /* under LOCK_BARRIER */
  SplashTask *tasks;  /* under LOCK_TASKS, the newest first */
  /* Threads without a task. */
  GMutex mutex;
  GCond changed;
  guint n_news; /* tasks that were queued, and the end of the last one */
  guint n_sleepers;
};

enum
{
  LOCK_BARRIER,
  LOCK_GATES, /* two, of the phases in turn */
  LOCK_TASKS = LOCK_GATES + 2,
  N_LOCKS,
};

struct _SplashLocks
{
  guint n;
  IrisLock *locks[];
};

guint
splash_team_size (const SplashTeam *self)
{
  return self->n;
}

void
splash_share (const SplashTeam *team, guint part, guint n, guint *first, guint *end)
{
  *first = (guint) ((guint64) n * part / team->n);
  *end = (guint) ((guint64) n * (part + 1) / team->n);
}

/* The only place that says what a lock of a policy is. */
static IrisLock *
splash_lock_init (IrisLockPolicy policy)
{
  IrisLock *lock = iris_lock_new (policy);

  iris_lock_set_thread_policy (lock, policy);

  return lock;
}

SplashLocks *
splash_locks_new (const SplashTeam *team, guint n)
{
  SplashLocks *self = g_malloc (sizeof *self + n * sizeof *self->locks);

  self->n = n;
  for (guint i = 0; i < n; i++)
    self->locks[i] = splash_lock_init (team->policy);

  return self;
}

void
splash_locks_free (SplashLocks *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < self->n; i++)
    iris_lock_unref (self->locks[i]);
  g_free (self);
}

/* --- items ------------------------------------------------------------------------------------ */

static void
queue_phase (SplashTeam *self)
{
  atomic_store_explicit (&self->open, self->n, memory_order_relaxed);
  for (guint i = 0; i < self->n; i++)
    iris_scheduler_queue_item (self->scheduler, &self->parts[i].item);
}

/* Acquire and release: the next phase sees what all of this one wrote. */
static void
end_one (SplashTeam *self)
{
  if (atomic_fetch_sub_explicit (&self->open, 1, memory_order_acq_rel) == 1
      && ++self->phase < self->n_phases)
    queue_phase (self);
}

typedef struct
{
  IrisLockWaiter waiter;
  SplashTeam *team;
  SplashLocks *locks;
  SplashSectionFunc func;
  gdouble data[]; /* aligned for what a program copies */
} Section;

static void
section_run (gpointer data)
{
  Section *self = data;
  SplashTeam *team = self->team;
  gint next = self->func (self->data);

  if (next != SPLASH_DONE)
    {
      iris_lock_acquire_item (self->locks->locks[next], &self->waiter, IRIS_LOCK_NONE);
      return;
    }
  g_free (self);
  end_one (team);
}

static void
section_queue (SplashTeam *team,
               SplashLocks *locks,
               guint i,
               SplashSectionFunc func,
               gconstpointer data,
               gsize size)
{
  Section *self = g_malloc (sizeof *self + size);

  self->team = team;
  self->locks = locks;
  self->func = func;
  memcpy (self->data, data, size);
  /* The caller's own count is open, so the phase does not end meanwhile. */
  atomic_fetch_add_explicit (&team->open, 1, memory_order_relaxed);
  iris_lock_waiter_init (&self->waiter, team->scheduler, section_run, self, NULL);
  iris_lock_acquire_item (locks->locks[i], &self->waiter, IRIS_LOCK_NONE);
}

static gint
arrive (gpointer data)
{
  SplashTeam *self = *(SplashTeam **) data;

  self->arrived = (self->arrived + 1) % self->n;

  return SPLASH_DONE;
}

static void
part_run (gpointer data)
{
  Part *part = data;
  SplashTeam *team = part->team;

  team->program->phase (team->self, team, team->phase, (guint) (part - team->parts));
  splash_section (team, team->locks, LOCK_BARRIER, arrive, &team, sizeof team);
  end_one (team);
}

static void
task_run (gpointer data)
{
  SplashTask *self = data;
  SplashTeam *team = self->team;

  self->func (self->data);
  end_one (team);
}

static gint64
run_items (SplashTeam *self)
{
  gint64 begin = bench_now ();

  queue_phase (self);
  iris_scheduler_shutdown (self->scheduler, IRIS_SHUTDOWN_DRAIN);

  return begin;
}

/* --- threads ---------------------------------------------------------------------------------- */

static IrisLock *
gate_of (const SplashTeam *self, guint phase)
{
  return self->locks->locks[LOCK_GATES + phase % 2];
}

/* The gate of a phase is held while it runs, and threads that have ended wait for it. The last one
 * holds that of the next phase, which is free since all have passed it, and releases this one. */
static void
wait_for_team (SplashTeam *self, guint phase)
{
  IrisLock *lock = self->locks->locks[LOCK_BARRIER];
  gboolean is_last;

  iris_lock_acquire (lock);
  arrive (&self);
  is_last = self->arrived == 0;
  iris_lock_release (lock);
  if (is_last)
    {
      atomic_store_explicit (&self->open, self->n, memory_order_relaxed);
      iris_lock_acquire (gate_of (self, phase + 1));
    }
  else
    iris_lock_acquire (gate_of (self, phase));
  iris_lock_release (gate_of (self, phase));
}

static void
tell (SplashTeam *self, void (*waken) (GCond *cond))
{
  g_mutex_lock (&self->mutex);
  self->n_news++;
  if (self->n_sleepers > 0)
    waken (&self->changed);
  g_mutex_unlock (&self->mutex);
}

static guint
count_news (SplashTeam *self)
{
  guint n;

  g_mutex_lock (&self->mutex);
  n = self->n_news;
  g_mutex_unlock (&self->mutex);

  return n;
}

static void
wait_for_news (SplashTeam *self, guint seen)
{
  g_mutex_lock (&self->mutex);
  self->n_sleepers++;
  while (self->n_news == seen)
    g_cond_wait (&self->changed, &self->mutex);
  self->n_sleepers--;
  g_mutex_unlock (&self->mutex);
}

static SplashTask *
take_task (SplashTeam *self)
{
  IrisLock *lock = self->locks->locks[LOCK_TASKS];
  SplashTask *task;

  iris_lock_acquire (lock);
  task = self->tasks;
  if (task != NULL)
    self->tasks = task->next;
  iris_lock_release (lock);

  return task;
}

static void
close_one (SplashTeam *self)
{
  if (atomic_fetch_sub_explicit (&self->open, 1, memory_order_acq_rel) == 1)
    tell (self, g_cond_broadcast);
}

/* The count of news is read before the look for a task, so none is missed. */
static void
run_tasks (SplashTeam *self)
{
  close_one (self);
  for (;;)
    {
      guint seen = count_news (self);
      SplashTask *task = take_task (self);

      if (task != NULL)
        {
          task->func (task->data);
          close_one (self);
        }
      else if (atomic_load_explicit (&self->open, memory_order_acquire) == 0)
        return;
      else
        wait_for_news (self, seen);
    }
}

static void
thread_run (gpointer data, guint part)
{
  SplashTeam *self = data;

  for (guint phase = 0; phase < self->n_phases; phase++)
    {
      self->program->phase (self->self, self, phase, part);
      if (self->program->has_tasks)
        run_tasks (self);
      wait_for_team (self, phase);
    }
}

static gint64
run_threads (SplashTeam *self)
{
  gint64 begin;

  iris_lock_acquire (gate_of (self, 0));
  begin = bench_threads_run (self->n, thread_run, self);
  iris_lock_release (gate_of (self, self->n_phases));

  return begin;
}

/* --- both ------------------------------------------------------------------------------------- */

void
splash_section (SplashTeam *team,
                SplashLocks *locks,
                guint i,
                SplashSectionFunc func,
                gpointer data,
                gsize size)
{
  gint next = (gint) i;

  if (team->scheduler != NULL)
    {
      section_queue (team, locks, i, func, data, size);
      return;
    }
  while (next != SPLASH_DONE)
    {
      IrisLock *lock = locks->locks[next];

      iris_lock_acquire (lock);
      next = func (data);
      iris_lock_release (lock);
    }
}

void
splash_task_queue (SplashTeam *team, SplashTask *task, SplashFunc func, gpointer data)
{
  IrisLock *lock = team->locks->locks[LOCK_TASKS];

  *task = (SplashTask){ .team = team, .func = func, .data = data };
  atomic_fetch_add_explicit (&team->open, 1, memory_order_relaxed);
  if (team->scheduler != NULL)
    {
      iris_item_init (&task->item, task_run, task, NULL);
      iris_scheduler_queue_item (team->scheduler, &task->item);
      return;
    }
  iris_lock_acquire (lock);
  task->next = team->tasks;
  team->tasks = task;
  iris_lock_release (lock);
  tell (team, g_cond_signal);
}

gboolean
splash_run (const SplashProgram *program,
            gpointer self,
            guint n_parts,
            IrisScheduler *scheduler,
            IrisLockPolicy policy,
            gdouble *seconds,
            GError **error)
{
  SplashTeam team = { program, self, n_parts, .policy = policy, .scheduler = scheduler };
  g_autofree Part *parts = g_new0 (Part, n_parts);
  g_autoptr (SplashLocks) locks = splash_locks_new (&team, N_LOCKS);
  gint64 begin;

  team.parts = parts;
  team.locks = locks;
  atomic_init (&team.open, n_parts);
  g_mutex_init (&team.mutex);
  g_cond_init (&team.changed);
  for (guint i = 0; i < n_parts; i++)
    {
      parts[i].team = &team;
      iris_item_init (&parts[i].item, part_run, &parts[i], NULL);
    }
  team.n_phases = program->start (self, &team);
  begin = scheduler != NULL ? run_items (&team) : run_threads (&team);
  *seconds = bench_seconds_since (begin);
  g_cond_clear (&team.changed);
  g_mutex_clear (&team.mutex);

  return program->check (self, error);
}

char *
splash_part_of_published (gdouble n, gdouble published)
{
  return n == published ? g_strdup ("as published")
                        : g_strdup_printf ("%.4g times smaller than published", published / n);
}

gboolean
splash_wrong (GError **error, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error_literal (error, BENCH_ERROR, BENCH_ERROR_RESULT, text);

  return FALSE;
}
