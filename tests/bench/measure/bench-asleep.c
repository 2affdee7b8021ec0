/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Waiting until a contender is idle: by looking, not by guessing a time.
 *
 * Two witnesses: the contender itself (iris: its statistics count its parked workers), and the
 * kernel, which knows of every thread whether it sleeps. The kernel's word is asked for all
 * contenders alike, since an engine counts a worker as parked a little before it sleeps.
 */
#include "tests/bench/peers/bench-contender.h"

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

/* Processor time of all threads but this one. */
static gdouble
time_of_others (void)
{
  struct timespec all, mine;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &all);
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &mine);

  return (gdouble) (all.tv_sec - mine.tv_sec) + (gdouble) (all.tv_nsec - mine.tv_nsec) / 1e9;
}

gboolean
bench_wait_asleep (const BenchContender *self, gpointer handle, GError **error)
{
  g_autofree char *myself = g_strdup_printf ("%d", (int) gettid ());
  gdouble begin = time_of_others ();

  for (;;)
    {
      g_autoptr (GError) why = NULL;

      if ((self == NULL || self->engine->is_idle == NULL || self->engine->is_idle (handle))
          && others_sleep (myself, &why))
        return TRUE;
      if (why != NULL)
        {
          g_propagate_prefixed_error (error, g_steal_pointer (&why),
                                      "cannot see which threads sleep: ");
          return FALSE;
        }
      if (time_of_others () - begin > PATIENCE_S)
        {
          g_set_error_literal (error, BENCH_ERROR, BENCH_ERROR_MACHINE,
                               "its threads do not sleep: 10 seconds of processor time went by");
          return FALSE;
        }
      sched_yield ();
    }
}
