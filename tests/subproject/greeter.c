/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A program of others, which gets libiris as a subproject of its build: it counts the items that
 * ran.
 */
#include <iris/iris.h>

#define N_ITEMS 1000

static void
count (gpointer counter)
{
  g_atomic_int_inc ((gint *) counter);
}

int
main (void)
{
  g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new ();
  gint n_run = 0;

  for (guint i = 0; i < N_ITEMS; i++)
    iris_scheduler_queue (scheduler, count, &n_run, NULL);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  g_print ("iris %d.%d ran %d items\n", IRIS_MAJOR_VERSION, IRIS_MINOR_VERSION,
           g_atomic_int_get (&n_run));
  return g_atomic_int_get (&n_run) == N_ITEMS ? 0 : 1;
}
