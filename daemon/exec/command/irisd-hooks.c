/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Hooks: commands that irisd runs when items have ended.
 *
 * A hook is no item: it has no place, no slot and no record, and nothing waits for it. A few
 * threads run hooks, one each at a time, because the kernel ends a program with the thread that
 * started it (irisd-command-spawn.c). A hook has a time limit, and then its process group gets
 * SIGTERM and, after a moment, SIGKILL. Beyond MOST_WAITING a hook is dropped, and the log says so:
 * ends come faster than programs can be started.
 *
 * When irisd ends, hooks of the last items still run, for a while: the service manager waits for
 * irisd no longer than it was told to.
 */
#include "daemon/exec/command/irisd-hooks.h"

#include "daemon/base/irisd-log.h"
#include "daemon/exec/command/irisd-command-spawn.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define MOST_RUNNING 4
#define MOST_WAITING 10000

/* From SIGTERM to SIGKILL. */
#define GRACE_MS 1000

struct _IrisdHooks
{
  GThreadPool *pool;
  guint64 limit_ms;
  int null_fd;
  int stop_fd;               /* an eventfd, readable when irisd ends */
  _Atomic gint64 stop_by_us; /* monotonic time by which all have ended; 0: irisd does not end */
};

/* A hook and what it is told. */
typedef struct
{
  guint64 item; /* 0: it has no number */
  char **argv;
  char **environment;
  IrisdCommandOptions options;
} Hook;

static void
hook_free (Hook *self)
{
  g_strfreev (self->argv);
  g_strfreev (self->environment);
  g_free (self->options.directory);
  g_free (self);
}

static void
complain (const Hook *hook, const char *what, const char *why)
{
  static IrisdLogSite site;
  IrisdLogSubject subject = { .item = hook->item };
  irisd_log_limited_about (&site, &subject, IRISD_LOG_WARNING,
                           "the hook of item %" G_GUINT64_FORMAT " (%s) %s%s", hook->item,
                           hook->argv[0], what, why);
}

/* Returns whether the program has ended within that time. */
static gboolean
await_end (int pidfd, gint64 ms)
{
  struct pollfd fd = { .fd = pidfd, .events = POLLIN };
  gint64 until = g_get_monotonic_time () + ms * 1000;
  int n;
  do
    n = poll (&fd, 1, (int) CLAMP ((until - g_get_monotonic_time ()) / 1000, 0, G_MAXINT));
  while (n < 0 || (n == 0 && g_get_monotonic_time () < until));
  return n > 0;
}

/* The same, with the time that a hook has, which is less when irisd ends. */
static gboolean
await_hook (IrisdHooks *self, int pidfd)
{
  struct pollfd fds[] = { { .fd = self->stop_fd, .events = POLLIN },
                          { .fd = pidfd, .events = POLLIN } };
  gint64 until = g_get_monotonic_time () + (gint64) self->limit_ms * 1000;
  gint64 left_us;
  do
    {
      /* Written before the descriptor became readable, after which the program alone is polled. */
      gint64 stop_by_us = atomic_load_explicit (&self->stop_by_us, memory_order_acquire);
      if (stop_by_us != 0)
        {
          until = MIN (until, stop_by_us);
          fds[0].fd = -1;
        }
      left_us = until - g_get_monotonic_time ();
      if (poll (fds, G_N_ELEMENTS (fds), (int) CLAMP (left_us / 1000, 0, G_MAXINT)) < 0)
        fds[1].revents = 0;
    }
  while (fds[1].revents == 0 && left_us > 0);
  return fds[1].revents != 0;
}

static void
watch (IrisdHooks *self, const Hook *hook, const IrisdSpawned *spawned)
{
  int status, signal_number;
  gint64 began_us = g_get_monotonic_time ();
  gboolean late = !await_hook (self, spawned->pidfd);
  gboolean too_long = g_get_monotonic_time () - began_us >= (gint64) self->limit_ms * 1000;
  if (late)
    {
      kill (-spawned->pid, SIGTERM);
      await_end (spawned->pidfd, GRACE_MS);
      /* Before it is reaped its number is still that of its group. */
      kill (-spawned->pid, SIGKILL);
    }
  irisd_command_reap (spawned->pidfd, &status, &signal_number);
  close (spawned->pidfd);
  g_autofree char *end = signal_number > 0
                             ? g_strdup_printf ("was killed by signal %d", signal_number)
                             : g_strdup_printf ("ended with status %d", status);
  if (late)
    complain (hook,
              "was ended: ", too_long ? "it ran for longer than the limit hook-ms" : "irisd ends");
  else if (status != 0)
    complain (hook, end, "");
}

/* On a thread of the pool. */
static void
run (gpointer data, gpointer user_data)
{
  Hook *hook = data;
  IrisdHooks *self = user_data;
  /* It is only compared with the time. */
  gint64 stop_by_us = atomic_load_explicit (&self->stop_by_us, memory_order_relaxed);
  IrisdSpawned spawned = { .step = IRISD_SPAWN_PROCESS };
  IrisdSpawnPlan plan = {
    .argv = (const char *const *) hook->argv,
    .environment = hook->environment,
    .options = &hook->options,
    .fds = { self->null_fd, self->null_fd, self->null_fd },
    .cgroup_fd = -1,
    .record_fd = -1,
  };
  if (stop_by_us != 0 && g_get_monotonic_time () > stop_by_us)
    complain (hook, "was not run: irisd ends", "");
  else if (irisd_command_spawn (&plan, &spawned))
    watch (self, hook, &spawned);
  else
    complain (hook, "cannot be run: ", g_strerror (spawned.error));
  hook_free (hook);
}

IrisdHooks *
irisd_hooks_new (guint64 limit_ms)
{
  IrisdHooks *self = g_new0 (IrisdHooks, 1);
  self->limit_ms = limit_ms;
  self->null_fd = open ("/dev/null", O_RDWR | O_CLOEXEC);
  self->stop_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  self->pool = g_thread_pool_new (run, self, MOST_RUNNING, FALSE, NULL);
  return self;
}

/* irisd ends: no item ends any more. What has not ended after @ms is ended. */
void
irisd_hooks_stop (IrisdHooks *self, guint64 ms)
{
  atomic_store_explicit (&self->stop_by_us, g_get_monotonic_time () + (gint64) ms * 1000,
                         memory_order_release);
  if (self->stop_fd >= 0)
    eventfd_write (self->stop_fd, 1);
}

/* Waits for what irisd_hooks_stop() left. */
void
irisd_hooks_free (IrisdHooks *self)
{
  if (self == NULL)
    return;
  g_thread_pool_free (self->pool, FALSE, TRUE);
  if (self->null_fd >= 0)
    close (self->null_fd);
  if (self->stop_fd >= 0)
    close (self->stop_fd);
  g_free (self);
}

static const char *
name_outcome (const IrisdJob *job, gboolean buried)
{
  if (buried)
    return "buried";
  if (job->result.error == NULL)
    return "done";
  return g_error_matches (job->result.error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_CANCELLED)
             ? "cancelled"
             : "failed";
}

static void
set_number (char ***environment, const char *name, guint64 number)
{
  char text[24];
  g_snprintf (text, sizeof text, "%" G_GUINT64_FORMAT, number);
  *environment = g_environ_setenv (*environment, name, text, TRUE);
}

/* irisd's own variables, and what became of the item. */
static char **
make_environment (const IrisdJob *job, const char *service, gboolean buried)
{
  static const char *const names[] = { "IRIS_ITEM", "IRIS_EXIT_STATUS", "IRIS_SIGNAL",
                                       "IRIS_MESSAGE" };
  const IrisdResult *result = &job->result;
  char **environment = g_get_environ ();
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    environment = g_environ_unsetenv (environment, names[i]);
  if (job->id != 0)
    set_number (&environment, "IRIS_ITEM", job->id);
  if (result->exit_status >= 0)
    set_number (&environment, "IRIS_EXIT_STATUS", (guint64) result->exit_status);
  if (result->signal > 0)
    set_number (&environment, "IRIS_SIGNAL", (guint64) result->signal);
  if (result->error != NULL)
    environment = g_environ_setenv (environment, "IRIS_MESSAGE", result->error->message, TRUE);
  environment = g_environ_setenv (environment, "IRIS_SERVICE", service, TRUE);
  return g_environ_setenv (environment, "IRIS_OUTCOME", name_outcome (job, buried), TRUE);
}

/* @job, of @service, has ended, or is buried. One that was cancelled before it ran has no hook to
 * run, nor has one that is put off. */
void
irisd_hooks_note_end (IrisdHooks *self, const IrisdJob *job, const char *service, gboolean buried)
{
  static IrisdLogSite site;
  const GError *error = job->result.error;
  if (job->schedule == NULL || job->schedule->hook == NULL
      || g_error_matches (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_SHUTTING_DOWN)
      || (g_error_matches (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_CANCELLED)
          && !irisd_job_has_run (job)))
    return;
  if (g_thread_pool_unprocessed (self->pool) >= MOST_WAITING)
    {
      irisd_log_limited (&site, IRISD_LOG_WARNING,
                         "the hook of item %" G_GUINT64_FORMAT
                         " is left out: items end faster than hooks are run",
                         job->id);
      return;
    }
  Hook *hook = g_new0 (Hook, 1);
  hook->item = job->id;
  hook->argv = g_strdupv (job->schedule->hook);
  hook->environment = make_environment (job, service, buried);
  if (job->options != NULL)
    hook->options.directory = g_strdup (job->options->directory);
  g_thread_pool_push (self->pool, hook, NULL);
}
