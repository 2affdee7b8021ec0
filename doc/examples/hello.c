/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The program in README.md: one work item on a work-stealing scheduler.
 */

#include <iris/iris.h>

static void
greet (gpointer name)
{
  g_print ("Hello, %s, from a worker!\n", (const char *) name);
}

int
main (void)
{
  g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new ();

  iris_scheduler_queue (scheduler, greet, g_strdup ("world"), g_free);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
}
