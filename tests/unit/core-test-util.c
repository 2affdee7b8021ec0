/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the tests of the core share.
 */
#include "core-test-util.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

const CoreTestKind core_test_kinds[] = {
  { "default", 0, 3, IRIS_DEAL_OWN, iris_scheduler_new_full },
  { "lock-free", 0, 3, IRIS_DEAL_OWN, iris_lfscheduler_new_full },
  { "work-stealing", 0, 3, IRIS_DEAL_OWN, iris_wsscheduler_new_full },
  { "work-stealing, one worker", 0, 1, IRIS_DEAL_OWN, iris_wsscheduler_new_full },
  { "1 place of 2", 1, 2, IRIS_DEAL_OWN, NULL },
  { "2 places of 1", 2, 1, IRIS_DEAL_OWN, NULL },
  { "2 places of 1, dealt", 2, 1, IRIS_DEAL_ROUND_ROBIN, NULL },
  { "2 places of 2", 2, 2, IRIS_DEAL_OWN, NULL },
  { "4 places of 1", 4, 1, IRIS_DEAL_OWN, NULL },
  { "4 places of 2, dealt", 4, 2, IRIS_DEAL_ROUND_ROBIN, NULL },
};

const int core_test_n_kinds = G_N_ELEMENTS (core_test_kinds);

IrisScheduler *
core_test_make (const CoreTestKind *kind)
{
  g_autoptr (IrisPlaces) places = NULL;

  if (kind->make != NULL)
    return kind->make (kind->n_workers, kind->n_workers);
  places = iris_places_new_unbound (kind->n_places, kind->n_workers);

  return iris_place_scheduler_new_full (places, kind->deal);
}

IrisScheduler *
core_test_make_class (int i)
{
  g_autoptr (IrisPlaces) places = NULL;

  switch (i)
    {
    case 0:
      return iris_scheduler_new_full (2, 2);
    case 1:
      return iris_lfscheduler_new_full (2, 2);
    case 2:
      return iris_wsscheduler_new_full (2, 2);
    default:
      places = iris_places_new_unbound (2, 2);
      return iris_place_scheduler_new (places);
    }
}

/* Back to 0, for the next test. */
void
core_test_gate_close (CoreTestGate *self)
{
  pthread_mutex_lock (&self->lock);
  self->count = 0;
  pthread_mutex_unlock (&self->lock);
}

void
core_test_gate_add (CoreTestGate *self, guint64 n)
{
  pthread_mutex_lock (&self->lock);
  self->count += n;
  pthread_cond_broadcast (&self->changed);
  pthread_mutex_unlock (&self->lock);
}

void
core_test_gate_wait (CoreTestGate *self, guint64 at_least)
{
  pthread_mutex_lock (&self->lock);
  while (self->count < at_least)
    pthread_cond_wait (&self->changed, &self->lock);
  pthread_mutex_unlock (&self->lock);
}

guint64
core_test_gate_get (CoreTestGate *self)
{
  guint64 count;

  pthread_mutex_lock (&self->lock);
  count = self->count;
  pthread_mutex_unlock (&self->lock);

  return count;
}

static void
watched_is_freed (gpointer gate)
{
  core_test_gate_add (gate, 1);
}

void
core_test_gate_watch (CoreTestGate *self, gpointer object)
{
  /* Data of the object goes last: what its class frees is freed by then. */
  g_object_set_data_full (object, "core-test-gate", self, watched_is_freed);
}

static void
add_up (IrisCounters *sum, const IrisCounters *counters, guint n)
{
  const guint64 *from = (const guint64 *) counters;
  guint64 *to = (guint64 *) sum;
  gsize length = sizeof *sum / sizeof *to;

  for (gsize i = 0; i < n * length; i++)
    to[i % length] += from[i];
}

void
core_test_check_stats (IrisScheduler *scheduler)
{
  g_autoptr (IrisStats) stats = iris_scheduler_get_stats (scheduler);
  IrisCounters places = { 0 }, workers = { 0 };

  ck_assert_uint_eq (stats->n_places, iris_scheduler_get_n_places (scheduler));
  ck_assert_uint_eq (stats->n_workers,
                     iris_scheduler_get_n_workers (scheduler) + stats->active_workers.n_spares);
  add_up (&places, stats->places, stats->n_places);
  add_up (&workers, stats->workers, stats->n_workers);

  ck_assert_uint_eq (stats->total.executed + stats->total.cancelled, stats->total.queued);
  ck_assert_uint_eq (stats->total.stolen_in, stats->total.stolen_out);

  /* What only workers count is the same by place, by worker and in all. */
  ck_assert_uint_eq (places.executed, workers.executed);
  ck_assert_uint_eq (places.executed, stats->total.executed);
  ck_assert_uint_eq (places.queued, workers.queued);
  ck_assert_uint_eq (places.stolen_in, workers.stolen_in);
  ck_assert_uint_eq (places.stolen_in, stats->total.stolen_in);
  ck_assert_uint_eq (places.stolen_inside, workers.stolen_inside);
  ck_assert_uint_eq (places.steals, workers.steals);
  ck_assert_uint_eq (places.cancelled, workers.cancelled);
  ck_assert_uint_eq (places.parks, workers.parks);
  ck_assert_uint_eq (places.wakes, workers.wakes);

  /* What places count of others is in the sum over places. */
  ck_assert_uint_eq (places.stolen_out, stats->total.stolen_out);
  ck_assert_uint_eq (places.hinted, stats->total.hinted);

  ck_assert_uint_le (stats->total.steals, stats->total.steal_tries);
  ck_assert_uint_le (stats->total.steal_fails, stats->total.steal_tries);
  ck_assert_uint_le (stats->total.steals, stats->total.stolen_in + stats->total.stolen_inside);
}

guint64
core_test_proc_status (const char *field)
{
  g_autofree char *text = NULL;
  const char *at;

  ck_assert (g_file_get_contents ("/proc/self/status", &text, NULL, NULL));
  at = strstr (text, field);
  ck_assert_ptr_nonnull (at);

  return g_ascii_strtoull (at + strlen (field) + 1, NULL, 10);
}

static void *
tell_id (void *data)
{
  *(pid_t *) data = (pid_t) syscall (SYS_gettid);

  return NULL;
}

/* ThreadSanitizer adds a thread of its own with the first one, so there must have been one. */
guint64
core_test_count_base_threads (void)
{
  g_autofree char *task = NULL;
  pthread_t thread;
  pid_t id;

  ck_assert_int_eq (pthread_create (&thread, NULL, tell_id, &id), 0);
  ck_assert_int_eq (pthread_join (thread, NULL), 0);
  task = g_strdup_printf ("/proc/self/task/%d", id);
  while (g_file_test (task, G_FILE_TEST_EXISTS))
    sched_yield ();

  return core_test_proc_status ("Threads:");
}

/* The kernel counts a thread for a moment longer than it can be joined. */
void
core_test_wait_for_threads (guint64 n)
{
  while (core_test_proc_status ("Threads:") != n)
    sched_yield ();
}
