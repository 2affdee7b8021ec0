/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A plug-in for tests. Its service `hold` occupies a worker: it writes a line into the named pipe
 * at `path`, then waits until the test opens and closes the pipe, or until it is told to stop.
 * `wait` does the same and announces that it waits.
 */
#include "daemon/exec/iris-plugin.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

/* Waits for POLLHUP, which comes when a writer that existed since @fd was opened has closed. The
 * line that this service wrote may still be in the pipe. */
static gboolean
wait_for_writer (IrisPluginItem *item, int fd)
{
  struct pollfd fds[] = {
    { .fd = fd, .events = 0 },
    { .fd = iris_plugin_item_get_stop_fd (item), .events = POLLIN },
  };
  while (!iris_plugin_item_must_stop (item))
    if (poll (fds, 2, -1) > 0 && fds[0].revents != 0)
      return TRUE;
  return FALSE;
}

static void
hold (IrisPluginItem *item)
{
  const char *gate = iris_plugin_item_get_path (item);
  int out = gate != NULL ? open (gate, O_WRONLY | O_CLOEXEC) : -1;
  if (out < 0 || write (out, "\n", 1) != 1)
    {
      iris_plugin_item_fail (item, "hold needs the path of a named pipe with a reader");
      return;
    }
  close (out); /* first, so that the closed writer is not this service */
  int in = open (gate, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (in < 0 || !wait_for_writer (item, in))
    iris_plugin_item_fail (item, "stopped");
  if (in >= 0)
    close (in);
}

static void
hold_and_say_so (IrisPluginItem *item)
{
  iris_plugin_item_begin_waiting (item);
  hold (item);
  iris_plugin_item_end_waiting (item);
}

static gboolean
init (gpointer *data, GError **error)
{
  *data = g_strdup ("hold");
  return TRUE;
}

static void
finish (gpointer data)
{
  g_free (data);
}

static const IrisPluginService services[] = {
  { .name = "hold", .summary = "occupies a worker until its pipe (path) is opened", .run = hold },
  { .name = "wait", .summary = "the same, beside the workers", .run = hold_and_say_so },
  { .name = NULL },
};

static const IrisPlugin plugin = {
  .interface = IRIS_PLUGIN_INTERFACE,
  .name = "hold",
  .services = services,
  .init = init,
  .finish = finish,
};

IRIS_PLUGIN_EXPORT const IrisPlugin *iris_plugin_get (void);

IRIS_PLUGIN_EXPORT const IrisPlugin *
iris_plugin_get (void)
{
  return &plugin;
}
