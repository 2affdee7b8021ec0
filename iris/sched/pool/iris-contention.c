/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Contention: the decisions, and the thread that makes them. The design is in
 * iris-contention-private.h.
 */
#include "iris/sched/pool/iris-contention-private.h"

#include "iris/sched/pool/iris-active-workers-private.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void
iris_contention_probe_init (IrisContentionProbe *self, const char *proc)
{
  memset (self, 0, sizeof *self);
  self->proc = proc;
}

/* The start of a small file, ended by a zero; false when there is none. */
static bool
read_start (const char *path, char *text, gsize size)
{
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  gssize n;

  if (fd < 0)
    return false;
  n = read (fd, text, size - 1);
  close (fd);
  if (n <= 0)
    return false;
  text[n] = '\0';

  return true;
}

/* The number at @at, and what is behind it; NULL if there is none. */
static const char *
read_number (const char *at, guint64 *number)
{
  char *end;

  *number = g_ascii_strtoull (at, &end, 10);

  return end != at ? end : NULL;
}

/* The number behind @label. */
static bool
find_number (const char *text, const char *label, guint64 *number)
{
  const char *at = strstr (text, label);

  return at != NULL && read_number (at + strlen (label), number) != NULL;
}

static bool
note_missing (const IrisContentionProbe *self, bool *is_missing, const char *name)
{
  if (!*is_missing)
    g_message ("iris: %s/%s cannot be read: contention is judged without it", self->proc, name);
  *is_missing = true;

  return false;
}

static bool
has_file (const IrisContentionProbe *self, gint tid, const char *name)
{
  char path[128];

  g_snprintf (path, sizeof path, "%s/self/task/%d/%s", self->proc, tid, name);

  return access (path, R_OK) == 0;
}

/* Judges a file by its first reading: one that is missing is not asked for again. But where the
 * calling thread has the file and @now's has it no longer, that worker has ended. */
static bool
note_unread (const IrisContentionProbe *self,
             IrisContentionWatched *now,
             bool *is_missing,
             const char *name)
{
  g_autofree char *text = NULL;

  if (!has_file (self, now->tid, name) && has_file (self, (gint) gettid (), name))
    {
      now->has_ended = true;
      return true;
    }
  text = g_strdup_printf ("self/task/TID/%s", name);

  return note_missing (self, is_missing, text);
}

static bool
read_delay (IrisContentionProbe *self, gint tid, IrisContentionWatched *now)
{
  char path[128], text[128];
  const char *rest = NULL;

  if (self->no_delay)
    return false;
  g_snprintf (path, sizeof path, "%s/self/task/%d/schedstat", self->proc, tid);
  if (read_start (path, text, sizeof text))
    rest = read_number (text, &now->running_ns);
  if (rest == NULL || read_number (rest, &now->waiting_ns) == NULL)
    return note_unread (self, now, &self->no_delay, "schedstat");

  return true;
}

static bool
read_switches (IrisContentionProbe *self, gint tid, IrisContentionWatched *now)
{
  char path[128], text[4096];

  if (self->no_switches)
    return false;
  g_snprintf (path, sizeof path, "%s/self/task/%d/status", self->proc, tid);
  if (!read_start (path, text, sizeof text)
      || !find_number (text, "\nnonvoluntary_ctxt_switches:", &now->n_switches))
    return note_unread (self, now, &self->no_switches, "status");

  return true;
}

static bool
read_pressure (IrisContentionProbe *self, guint64 *pressure_us)
{
  char path[128], text[256];

  if (self->no_pressure)
    return false;
  g_snprintf (path, sizeof path, "%s/pressure/cpu", self->proc);
  if (!read_start (path, text, sizeof text) || !find_number (text, "total=", pressure_us))
    return note_missing (self, &self->no_pressure, "pressure/cpu");

  return true;
}

/* Adds what one thread did since it was last looked at, and remembers what it did in all. A thread
 * that was not looked at before, or that has ended, adds nothing. */
static void
watch (IrisContentionProbe *self,
       IrisContentionWatched *before,
       gint tid,
       IrisContentionSample *sample)
{
  IrisContentionWatched now = { .tid = tid };

  sample->has_delay &= read_delay (self, tid, &now);
  sample->has_switches &= read_switches (self, tid, &now);
  if (now.has_ended)
    now.tid = 0;
  if (now.tid != 0 && before->tid == tid)
    {
      sample->running_ns += now.running_ns - before->running_ns;
      sample->waiting_ns += now.waiting_ns - before->waiting_ns;
      sample->n_switches += now.n_switches - before->n_switches;
    }
  *before = now;
}

/* Of the first IRIS_CONTENTION_MAX_WATCHED threads; a @tid of 0 is one that is not there. False
 * for the first look, which has nothing to compare with. */
bool
iris_contention_probe_look (IrisContentionProbe *self,
                            const gint *tids,
                            guint n_tids,
                            gint64 now_us,
                            IrisContentionSample *sample)
{
  guint64 pressure_us = self->pressure_us;
  bool is_first = self->at_us == 0;

  *sample = (IrisContentionSample){
    .elapsed_ns = (guint64) (now_us - self->at_us) * 1000,
    .has_delay = true,
    .has_switches = true,
  };
  for (guint i = 0; i < MIN (n_tids, IRIS_CONTENTION_MAX_WATCHED); i++)
    if (tids[i] != 0)
      watch (self, &self->watched[i], tids[i], sample);
  sample->has_pressure = read_pressure (self, &pressure_us);
  sample->pressure_ns = (pressure_us - self->pressure_us) * 1000;
  self->pressure_us = pressure_us;
  self->at_us = now_us;

  return !is_first;
}

/* Whether there is nothing that could be judged. */
bool
iris_contention_probe_is_blind (const IrisContentionProbe *self)
{
  return self->no_delay && self->no_switches && self->no_pressure;
}

typedef enum
{
  LEVEL_NEITHER,
  LEVEL_CALM,
  LEVEL_CONTENDED,
} Level;

struct IrisContention
{
  IrisWorkerPool *pool;
  IrisContentionDecider decider;
  IrisContentionProbe probe;
  GThread *thread;
  _Atomic bool idle; /* it sleeps until it is roused */
  GMutex lock;
  GCond roused;
  bool was_roused; /* under the lock */
  bool stops;      /* under the lock */
};

void
iris_contention_decider_init (IrisContentionDecider *self)
{
  *self = (IrisContentionDecider){ .back_after = IRIS_CONTENTION_BACK_AFTER };
}

static Level
get_level (guint64 value, guint64 high, guint64 low)
{
  if (value >= high)
    return LEVEL_CONTENDED;

  return value <= low ? LEVEL_CALM : LEVEL_NEITHER;
}

static Level
judge (const IrisContentionSample *sample, IrisContentionReason *reason)
{
  guint64 wanted_ns = sample->running_ns + sample->waiting_ns;

  *reason = IRIS_CONTENTION_BY_NOTHING;
  if (sample->elapsed_ns == 0)
    return LEVEL_NEITHER;
  if (sample->has_delay)
    {
      if (wanted_ns == 0 || wanted_ns * 1000 < sample->elapsed_ns * IRIS_CONTENTION_MIN_USE)
        return LEVEL_NEITHER;
      *reason = IRIS_CONTENTION_BY_DELAY;
      return get_level (sample->waiting_ns * 1000 / wanted_ns, IRIS_CONTENTION_SHARE_HIGH,
                        IRIS_CONTENTION_SHARE_LOW);
    }
  if (sample->has_switches)
    {
      /* How long the workers ran is not known where the delay is not. */
      *reason = IRIS_CONTENTION_BY_SWITCHES;
      return get_level (sample->n_switches * G_GUINT64_CONSTANT (1000000000) / sample->elapsed_ns,
                        IRIS_CONTENTION_SWITCHES_HIGH, IRIS_CONTENTION_SWITCHES_LOW);
    }
  if (sample->has_pressure)
    {
      *reason = IRIS_CONTENTION_BY_PRESSURE;
      return get_level (sample->pressure_ns * 1000 / sample->elapsed_ns, IRIS_CONTENTION_SHARE_HIGH,
                        IRIS_CONTENTION_SHARE_LOW);
    }

  return LEVEL_NEITHER;
}

static IrisContentionVerdict
decider_conclude (IrisContentionDecider *self,
                  IrisContentionVerdict verdict,
                  IrisContentionReason reason)
{
  if (verdict == IRIS_CONTENTION_BACK)
    {
      self->n_trial = IRIS_CONTENTION_TRIAL;
    }
  else if (self->n_trial > 0)
    {
      self->back_after = MIN (2 * self->back_after, IRIS_CONTENTION_BACK_AFTER_MAX);
      self->n_trial = 0;
    }
  self->n_contended = self->n_calm = 0;
  self->n_dwell = IRIS_CONTENTION_DWELL;
  self->reason = reason;

  return verdict;
}

/* What to do after @sample; @may_take and @may_bring_back say what is possible. */
IrisContentionVerdict
iris_contention_decide (IrisContentionDecider *self,
                        const IrisContentionSample *sample,
                        bool may_take,
                        bool may_bring_back)
{
  IrisContentionReason reason;
  Level level = judge (sample, &reason);

  if (self->n_trial > 0 && --self->n_trial == 0)
    self->back_after = IRIS_CONTENTION_BACK_AFTER;
  if (self->n_dwell > 0)
    {
      self->n_dwell--;
      return IRIS_CONTENTION_STAY;
    }
  self->n_contended = level == LEVEL_CONTENDED ? self->n_contended + 1 : 0;
  self->n_calm = level == LEVEL_CALM ? self->n_calm + 1 : 0;

  if (may_take && self->n_contended >= IRIS_CONTENTION_OUT_AFTER)
    return decider_conclude (self, IRIS_CONTENTION_OUT, reason);
  if (may_bring_back && self->n_calm >= self->back_after)
    return decider_conclude (self, IRIS_CONTENTION_BACK, reason);

  return IRIS_CONTENTION_STAY;
}

/* @proc is where the kernel's files are, and stays so. */
IrisContention *
iris_contention_new (IrisWorkerPool *pool, const char *proc)
{
  IrisContention *self = g_new0 (IrisContention, 1);

  self->pool = pool;
  iris_contention_decider_init (&self->decider);
  iris_contention_probe_init (&self->probe, proc);
  g_mutex_init (&self->lock);
  g_cond_init (&self->roused);

  return self;
}

void
iris_contention_free (IrisContention *self)
{
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->roused);
  g_free (self);
}

/* Under the pool's lock. */
static void
note_decision (IrisContention *self, IrisContentionVerdict verdict)
{
  IrisActiveWorkers *counts = &self->pool->counts;

  if (verdict == IRIS_CONTENTION_BACK && iris_active_workers_unhold_one (self->pool))
    {
      counts->contention_back++;
    }
  else if (verdict == IRIS_CONTENTION_OUT && iris_active_workers_hold_one (self->pool))
    {
      counts->contention_out++;
      counts->contention_by_delay += self->decider.reason == IRIS_CONTENTION_BY_DELAY;
      counts->contention_by_switches += self->decider.reason == IRIS_CONTENTION_BY_SWITCHES;
      counts->contention_by_pressure += self->decider.reason == IRIS_CONTENTION_BY_PRESSURE;
    }
}

static void
contention_sample (IrisContention *self)
{
  IrisWorkerPool *pool = self->pool;
  guint n = MIN (pool->n_workers, IRIS_CONTENTION_MAX_WATCHED);
  gint tids[IRIS_CONTENTION_MAX_WATCHED];
  IrisContentionSample sample;
  IrisContentionVerdict verdict;

  /* Of every part of the pool, if it is too many. */
  for (guint i = 0; i < n; i++)
    tids[i] = atomic_load_explicit (&pool->workers[(guint64) i * pool->n_workers / n].tid,
                                    memory_order_relaxed);
  if (!iris_contention_probe_look (&self->probe, tids, n, g_get_monotonic_time (), &sample))
    return;

  pthread_mutex_lock (&pool->lock);
  pool->counts.contention_samples++;
  verdict = iris_contention_decide (
      &self->decider, &sample,
      iris_active_workers_may_hold (pool)
          && !atomic_load_explicit (&pool->closed, memory_order_relaxed),
      iris_active_workers_holds (pool));
  note_decision (self, verdict);
  pthread_mutex_unlock (&pool->lock);
}

static bool
pool_sleeps (IrisWorkerPool *pool)
{
  uint64_t word = atomic_load_explicit (&pool->parking_lot.word, memory_order_relaxed);

  return iris_parking_lot_n_sleeping (word)
         >= atomic_load_explicit (&pool->parking_lot.n_in, memory_order_relaxed);
}

/* Until a worker has something to do. Under the lock. */
static void
contention_wait_for_work (IrisContention *self)
{
  self->was_roused = false;
  atomic_store_explicit (&self->idle, true, memory_order_relaxed);
  iris_fence_heavy ();
  if (pool_sleeps (self->pool))
    while (!self->was_roused && !self->stops)
      g_cond_wait (&self->roused, &self->lock);
  atomic_store_explicit (&self->idle, false, memory_order_relaxed);
  /* What happened meanwhile is no sample. */
  self->probe.at_us = 0;
}

static gpointer
contention_main (gpointer data)
{
  IrisContention *self = data;

  g_mutex_lock (&self->lock);
  while (!self->stops && !iris_contention_probe_is_blind (&self->probe))
    {
      gint64 until = g_get_monotonic_time ()
                     + IRIS_CONTENTION_INTERVAL_MS * G_TIME_SPAN_MILLISECOND;

      if (pool_sleeps (self->pool))
        contention_wait_for_work (self);
      g_mutex_unlock (&self->lock);
      contention_sample (self);
      g_mutex_lock (&self->lock);
      while (!self->stops && g_cond_wait_until (&self->roused, &self->lock, until))
        ;
    }
  g_mutex_unlock (&self->lock);

  return NULL;
}

/* Once, when the workers start. */
void
iris_contention_start (IrisContention *self)
{
  self->thread = g_thread_new ("iris-contention", contention_main, self);
}

void
iris_contention_stop (IrisContention *self)
{
  g_mutex_lock (&self->lock);
  self->stops = true;
  g_cond_signal (&self->roused);
  g_mutex_unlock (&self->lock);
  g_clear_pointer (&self->thread, g_thread_join);
}

/* By a worker that was asleep. */
void
iris_contention_rouse (IrisContention *self)
{
  iris_fence_light ();
  if (iris_likely (!atomic_load_explicit (&self->idle, memory_order_relaxed)))
    return;
  g_mutex_lock (&self->lock);
  self->was_roused = true;
  g_cond_signal (&self->roused);
  g_mutex_unlock (&self->lock);
}

bool
iris_contention_is_idle (IrisContention *self)
{
  return atomic_load_explicit (&self->idle, memory_order_relaxed);
}
