/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A plug-in for cluster-bench.py. Its service `spin` uses as many microseconds of a processor as
 * its argument says, so that it takes longer on a node whose processor time is limited.
 */
#include "daemon/exec/iris-plugin.h"

#include <stdlib.h>
#include <time.h>

static gint64
get_cpu_ns (void)
{
  struct timespec now;
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return (gint64) now.tv_sec * 1000000000 + now.tv_nsec;
}

static void
spin (IrisPluginItem *item)
{
  const char *const *args = iris_plugin_item_get_args (item);
  gint64 end = get_cpu_ns () + 1000 * (args[0] != NULL ? strtol (args[0], NULL, 10) : 0);
  while (get_cpu_ns () < end)
    continue;
}

static const IrisPluginService services[] = {
  { .name = "spin", .summary = "uses processor time: microseconds", .run = spin },
  { .name = NULL },
};

static const IrisPlugin plugin = {
  .interface = IRIS_PLUGIN_INTERFACE,
  .name = "spin",
  .services = services,
};

IRIS_PLUGIN_EXPORT const IrisPlugin *iris_plugin_get (void);

IRIS_PLUGIN_EXPORT const IrisPlugin *
iris_plugin_get (void)
{
  return &plugin;
}
