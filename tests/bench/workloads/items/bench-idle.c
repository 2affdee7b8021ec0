/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Idleness: what a contender costs that has nothing to do.
 *
 * After one item, and once all of its threads sleep, they are left alone for a while. Then the
 * kernel says how much processor time they took, and how often one of them went back to sleep,
 * which it must have been woken for: by a timer, since no other thread is there.
 */
#include "tests/bench/peers/bench-contender.h"
#include "tests/bench/workloads/bench-workload.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#define TASKS   "/proc/self/task"
#define SECONDS 1.0

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
  gdouble used = bench_time_of_others (), passed;
  gint64 begin = bench_now ();

  poll (NULL, 0, (int) (seconds * 1000));
  passed = bench_seconds_since (begin);
  used = bench_time_of_others () - used;
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
run_idle (const BenchRun *run, gdouble *samples, GError **error)
{
  const BenchEngine *engine = run->contender->engine;
  gpointer handle = bench_contender_open (run->contender, run->workers, run_item, error);
  gboolean good;

  if (handle == NULL)
    return FALSE;
  bench_counts_reset ();
  engine->push (handle, &handle);
  good = bench_wait_asleep (engine->is_idle, handle, error)
         && watch (*(const gdouble *) run->load, samples, error);
  engine->close (handle);

  return good && bench_counts_check (1, 0, error);
}

static gboolean
plan (BenchResult *result, const BenchOptions *options, GError **error)
{
  gdouble seconds = options->seconds > 0 ? options->seconds : SECONDS * MIN (options->scale, 1);
  BenchCase what = { .load = "processor use",
                     .second = "wake-ups",
                     .unit = BENCH_PERCENT,
                     .second_unit = BENCH_PER_SECOND,
                     .show = BENCH_SHOW_SAMPLE,
                     .relation = BENCH_NOT_COMPARED,
                     .run = run_idle,
                     .data = &seconds,
                     .size = sizeof seconds };

  bench_result_set_title (result, "left alone for %g s after an item", seconds);
  bench_contenders_add (result, options, BENCH_CAN_WAKE, NULL, &what);

  return TRUE;
}

const BenchWorkload bench_workload_idle = {
  .name = "idle",
  .summary = "processor use and wake-ups of threads without work",
  .max_rounds = 3, /* more would say the same again, slowly */
  .plan = plan,
};
