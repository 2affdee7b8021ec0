/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Divide and conquer: sorts by halves, in parallel, and adds up what was sorted.
 */
#include <iris/iris.h>
#include <stdlib.h>

#define N       200000
#define CUT_OFF 2000 /* shorter parts are sorted by one worker */

static int
compare (const void *a, const void *b)
{
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  return (x > y) - (x < y);
}

/* Declares sort() and makes sort_fork() and sort_join() of it. */
IRIS_FORKABLE_VOID_3 (sort, guint32 *, guint32 *, gsize);

static void
merge (const guint32 *from, gsize middle, gsize n, guint32 *to)
{
  gsize a = 0, b = middle;

  for (gsize i = 0; i < n; i++)
    to[i] = b == n || (a < middle && from[a] <= from[b]) ? from[a++] : from[b++];
}

static void
sort (IrisForkJoin *fj, guint32 *numbers, guint32 *room, gsize n)
{
  gsize middle = n / 2;
  IrisForkTask task;

  if (n <= CUT_OFF)
    {
      qsort (numbers, n, sizeof *numbers, compare);
      return;
    }
  sort_fork (&fj, &task, numbers, room, middle);
  sort (fj, numbers + middle, room + middle, n - middle);
  sort_join (&fj, &task);
  merge (numbers, middle, n, room);
  for (gsize i = 0; i < n; i++)
    numbers[i] = room[i];
}

static void
check (IrisForkJoin *fj, gsize begin, gsize end, gpointer data)
{
  const guint32 *numbers = data;

  for (gsize i = MAX (begin, 1); i < end; i++)
    if (numbers[i - 1] > numbers[i])
      g_error ("%" G_GSIZE_FORMAT " is out of order", i);
}

static void
sort_and_check (IrisForkJoin *fj, gpointer data)
{
  guint32 *numbers = data;

  sort (fj, numbers, numbers + N, N);
  iris_fork_join_for (fj, 0, N, 10000, check, numbers);
}

int
main (void)
{
  g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new ();
  g_autofree guint32 *numbers = g_new (guint32, 2 * N);

  for (gsize i = 0; i < N; i++)
    numbers[i] = g_random_int ();
  if (!iris_fork_join_run (scheduler, sort_and_check, numbers))
    return EXIT_FAILURE;
  g_print ("%d numbers, from %u to %u\n", N, numbers[0], numbers[N - 1]);

  return EXIT_SUCCESS;
}
