/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Counts the primes below each number on the command line: a task for each number, and one for all
 * of them, which is awaited from the main context.
 *
 * Build it with: cc primes.c $(pkg-config --cflags --libs libiris-1)
 */
#include <iris/iris.h>

static gboolean
is_prime (guint64 number)
{
  for (guint64 divisor = 2; divisor * divisor <= number; divisor++)
    if (number % divisor == 0)
      return FALSE;

  return number >= 2;
}

/* On a worker. The task ends with a number or, for what is no number, with an error. */
static void
count_primes (IrisTask *task, gpointer text)
{
  g_autoptr (GError) error = NULL;
  guint64 limit, count = 0;

  if (!g_ascii_string_to_unsigned (text, 10, 0, G_MAXUINT32, &limit, &error))
    {
      IRIS_TASK_THROW (task, error);
      return;
    }
  for (guint64 number = 2; number < limit; number++)
    count += is_prime (number);
  IRIS_TASK_RETURN_VALUE (task, G_TYPE_UINT64, count);
}

/* In the main context. */
static void
all_counted (GObject *source, GAsyncResult *result, gpointer loop)
{
  g_autoptr (GError) error = NULL;

  if (iris_task_run_finish (IRIS_TASK (source), result, &error))
    g_print ("all counted\n");
  else
    g_print ("not all counted\n");
  g_main_loop_quit (loop);
}

static int
print_counts (GList *tasks, char **texts)
{
  int status = 0;

  for (GList *link = tasks; link != NULL; link = link->next, texts++)
    {
      g_autoptr (GError) error = NULL;
      gint64 count;

      /* The group was over with the first error, others may still count. */
      iris_task_wait (link->data, -1, NULL);
      count = iris_task_propagate_int64 (link->data, &error);
      if (error == NULL)
        g_print ("%" G_GINT64_FORMAT " below %s\n", count, *texts);
      else
        g_print ("not a number: %s\n", *texts);
      status |= error != NULL;
    }

  return status;
}

int
main (int argc, char **argv)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  g_autolist (IrisTask) tasks = NULL;
  g_autoptr (IrisTask) all = NULL;

  for (int i = argc - 1; i > 0; i--)
    tasks = g_list_prepend (tasks, iris_task_new (count_primes, argv[i], NULL));
  all = iris_task_all_of (tasks);
  iris_task_run_async (all, NULL, all_counted, loop);
  for (GList *link = tasks; link != NULL; link = link->next)
    iris_task_run (link->data);
  g_main_loop_run (loop);

  return print_counts (tasks, argv + 1);
}
