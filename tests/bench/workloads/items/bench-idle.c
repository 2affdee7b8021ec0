/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Idleness: what a contender costs that has nothing to do.
 *
 * After one item, and once all of its threads sleep, they are left alone for a while. Then the
 * kernel says how much processor time they took, and how often one of them went back to sleep,
 * which it must have been woken for: by a timer, since no other thread is there.
 */
#include "tests/bench/peers/bench-contender.h"
#include "tests/bench/measure/bench-result.h"
#include "tests/bench/workloads/bench-workloads.h"

#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TASKS   "/proc/self/task"
#define SECONDS 1.0

/* More would say the same again, slowly. */
#define MAX_ROUNDS 3

typedef struct
{
  BenchContender *contender;
  guint workers;
  gdouble seconds;
} Trial;

static gdouble
read_clock (clockid_t clock)
{
  struct timespec now;

  clock_gettime (clock, &now);

  return (gdouble) now.tv_sec + (gdouble) now.tv_nsec / 1e9;
}

/* Processor time of all threads but this one. */
static gdouble
time_of_others (void)
{
  return read_clock (CLOCK_PROCESS_CPUTIME_ID) - read_clock (CLOCK_THREAD_CPUTIME_ID);
}

static guint64
sleeps_of_thread (const char *id)
{
  static const char key[] = "\nvoluntary_ctxt_switches:";
  g_autofree char *path = g_build_filename (TASKS, id, "status", NULL);
  g_autofree char *text = NULL;
  const char *line;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return 0;
  line = strstr (text, key);

  return line != NULL ? g_ascii_strtoull (line + strlen (key), NULL, 10) : 0;
}

/* How often each of the other threads has gone to sleep, by id; NULL and an error if unknown. */
static GHashTable *
sleeps_of_others (GError **error)
{
  g_autofree char *myself = g_strdup_printf ("%d", (int) gettid ());
  g_autoptr (GDir) dir = g_dir_open (TASKS, 0, error);
  GHashTable *sleeps;
  const char *id;

  if (dir == NULL)
    return NULL;
  sleeps = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  while ((id = g_dir_read_name (dir)) != NULL)
    if (!g_str_equal (id, myself))
      {
        guint64 n = sleeps_of_thread (id);

        g_hash_table_insert (sleeps, g_strdup (id), g_memdup2 (&n, sizeof n));
      }

  return sleeps;
}

/* Of threads that were there all the time: one that ends meanwhile, as GLib's spare ones do, is no
 * contender's. */
static guint64
sleeps_between (GHashTable *before, GHashTable *after)
{
  GHashTableIter iter;
  gpointer id, n;
  guint64 sum = 0;

  g_hash_table_iter_init (&iter, after);
  while (g_hash_table_iter_next (&iter, &id, &n))
    {
      const guint64 *was = g_hash_table_lookup (before, id);

      if (was != NULL && *(const guint64 *) n > *was)
        sum += *(const guint64 *) n - *was;
    }

  return sum;
}

static gboolean
watch (gdouble seconds, gdouble *samples, GError **error)
{
  g_autoptr (GHashTable) before = sleeps_of_others (error);
  g_autoptr (GHashTable) after = NULL;
  gdouble used = time_of_others (), passed = read_clock (CLOCK_MONOTONIC);

  poll (NULL, 0, (int) (seconds * 1000));
  passed = read_clock (CLOCK_MONOTONIC) - passed;
  used = time_of_others () - used;
  after = before != NULL ? sleeps_of_others (error) : NULL;
  if (after == NULL)
    return FALSE;
  samples[0] = MAX (used, 0) / passed * 100;
  samples[1] = (gdouble) sleeps_between (before, after) / passed;

  return TRUE;
}

static void
run_item (gpointer data)
{
  bench_count_one ();
}

static gboolean
trial_run (gpointer data, gdouble *samples, GError **error)
{
  Trial *self = data;
  const BenchEngine *engine = self->contender->engine;
  gpointer handle = engine->open (self->contender, self->workers, run_item, error);
  gboolean good;

  if (handle == NULL)
    return FALSE;
  bench_counts_reset ();
  engine->push (handle, self);
  good = bench_wait_asleep (self->contender, handle, error)
         && watch (self->seconds, samples, error);
  engine->close (handle);

  return good && bench_counts_check (1, 0, error);
}

static void
trial_free (gpointer data)
{
  Trial *self = data;

  bench_contender_free (self->contender);
  g_free (self);
}

BenchResult *
bench_idle (const BenchOptions *options, GError **error)
{
  gdouble seconds = options->seconds > 0 ? options->seconds : SECONDS * MIN (options->scale, 1);
  g_autoptr (GPtrArray) contenders = bench_contenders (options, BENCH_CAN_WAKE);
  g_autoptr (BenchResult) result = bench_result_new (
      "idle", options, g_strdup_printf ("left alone for %g s after an item", seconds));

  result->rounds = MIN (result->rounds, MAX_ROUNDS);
  while (contenders->len > 0)
    {
      BenchContender *contender = g_ptr_array_steal_index (contenders, 0);
      BenchKind kind = contender->engine->kind;
      BenchSeries *use = bench_series_new ("processor use", contender->name, kind, options->workers,
                                           0);
      BenchSeries *wakes = bench_series_new ("wake-ups", contender->name, kind, options->workers,
                                             0);
      Trial *trial = g_new (Trial, 1);

      *trial = (Trial){ contender, options->workers, seconds };
      use->unit = BENCH_PERCENT;
      wakes->unit = BENCH_PER_SECOND;
      use->show = wakes->show = BENCH_SHOW_SAMPLE;
      bench_result_add_series (result, use);
      bench_result_add_series (result, wakes);
      bench_result_add_trial (result, trial_run, trial, trial_free, use, wakes);
    }

  return bench_result_measure (result, error) ? g_steal_pointer (&result) : NULL;
}
