/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Threads that start together, and waiting until all sleep: by looking, not by guessing a time.
 *
 * Two witnesses: the contender itself (iris: its statistics count its parked workers), and the
 * kernel, which knows of every thread whether it sleeps. The kernel's word is asked for all
 * contenders alike, since an engine counts a worker as parked a little before it sleeps.
 */
#include "tests/bench/measure/bench-measure.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TASKS "/proc/self/task"
/* A contender that never sleeps is reported, not waited for. What counts is the processor time that
 * its threads take: on a busy machine they may long have no processor, and nothing is wrong with
 * them. */
#define PATIENCE_S 10.0

void
bench_gate_open (BenchGate *self)
{
  g_mutex_lock (&self->lock);
  self->is_over = TRUE;
  g_cond_broadcast (&self->over);
  g_mutex_unlock (&self->lock);
}

void
bench_gate_wait (BenchGate *self)
{
  g_mutex_lock (&self->lock);
  while (!self->is_over)
    g_cond_wait (&self->over, &self->lock);
  g_mutex_unlock (&self->lock);
}

void
bench_gate_init (BenchGate *self)
{
  g_mutex_init (&self->lock);
  g_cond_init (&self->over);
}

void
bench_gate_clear (BenchGate *self)
{
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->over);
}

/* --- threads that produce --------------------------------------------------------------------- */

typedef struct
{
  BenchThreadFunc func;
  gpointer data;
  guint index;
  BenchGate *gate;
} Thread;

static gpointer
thread_main (gpointer data)
{
  Thread *self = data;

  bench_gate_wait (self->gate);
  self->func (self->data, self->index);

  return NULL;
}

gint64
bench_threads_run (guint n, BenchThreadFunc func, gpointer data)
{
  g_autofree Thread *threads = g_new (Thread, n);
  g_autofree GThread **ids = g_new (GThread *, n);
  BenchGate gate = { 0 };
  gint64 begin;

  if (n == 1)
    {
      begin = bench_now ();
      func (data, 0);
      return begin;
    }
  bench_gate_init (&gate);
  for (guint i = 0; i < n; i++)
    {
      threads[i] = (Thread){ func, data, i, &gate };
      ids[i] = g_thread_new ("bench", thread_main, &threads[i]);
    }
  begin = bench_now ();
  bench_gate_open (&gate);
  for (guint i = 0; i < n; i++)
    g_thread_join (ids[i]);
  bench_gate_clear (&gate);

  return begin;
}

/* --- sleep ------------------------------------------------------------------------------------ */

/* The state's letter stands behind the name, which is in parentheses and may hold anything. */
static char
state_of_thread (const char *id)
{
  g_autofree char *path = g_build_filename (TASKS, id, "stat", NULL);
  g_autofree char *text = NULL;
  const char *end;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return 'X';
  end = strrchr (text, ')');

  return end != NULL && end[1] == ' ' ? end[2] : '?';
}

static gboolean
others_sleep (const char *myself, GError **error)
{
  g_autoptr (GDir) dir = g_dir_open (TASKS, 0, error);
  const char *id;

  while (dir != NULL && (id = g_dir_read_name (dir)) != NULL)
    {
      char state;

      if (g_str_equal (id, myself))
        continue;
      state = state_of_thread (id);
      if (state != 'S' && state != 'X')
        return FALSE;
    }

  return dir != NULL;
}

gdouble
bench_time_of_others (void)
{
  struct timespec all, mine;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &all);
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &mine);

  return (gdouble) (all.tv_sec - mine.tv_sec) + (gdouble) (all.tv_nsec - mine.tv_nsec) / 1e9;
}

gboolean
bench_wait_asleep (gboolean (*is_idle) (gpointer handle), gpointer handle, GError **error)
{
  g_autofree char *myself = g_strdup_printf ("%d", (int) gettid ());
  gdouble begin = bench_time_of_others ();

  for (;;)
    {
      g_autoptr (GError) why = NULL;

      if ((is_idle == NULL || is_idle (handle)) && others_sleep (myself, &why))
        return TRUE;
      if (why != NULL)
        {
          g_propagate_prefixed_error (error, g_steal_pointer (&why),
                                      "cannot see which threads sleep: ");
          return FALSE;
        }
      if (bench_time_of_others () - begin > PATIENCE_S)
        {
          g_set_error_literal (error, BENCH_ERROR, BENCH_ERROR_MACHINE,
                               "its threads do not sleep: 10 seconds of processor time went by");
          return FALSE;
        }
      sched_yield ();
    }
}
