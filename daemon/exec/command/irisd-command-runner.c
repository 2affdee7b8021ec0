/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The command runner: the thread that watches all running commands.
 *
 * A worker starts a program and passes it on; the thread sleeps in one epoll on all descriptors of
 * the commands and on an event descriptor, which a cancellation or a grant of credit writes. Then
 * it checks every command: there are about as many as cpus.
 *
 * The lock guards the list and the commands. A worker holds it while it adds a command, the thread
 * while it handles events, both for a few system calls. Each event is of a command in the list:
 * only the thread removes a command, after closing its descriptors, and `armed` shows that an event
 * of the same turn is stale. A command that is over leaves the list under the lock and is finished
 * afterwards, when only the thread uses its memory.
 */
#include "daemon/exec/command/irisd-command-runner.h"

#include "daemon/base/irisd-error.h"
#include "daemon/exec/irisd-command-options.h"
#include "daemon/exec/command/irisd-command-slots.h"
#include "daemon/exec/command/irisd-command.h"
#include "daemon/exec/irisd-job.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define EVENTS_PER_TURN 64

struct _IrisdCommandRunner
{
  pthread_mutex_t lock; /* a POSIX one, because ThreadSanitizer knows those */
  GQueue commands;
  guint64 n_started;
  gboolean stopping;
  int epoll_fd;
  int wake_fd;
  int null_fd;
  GThread *thread;
};

/* The time that the thread may sleep, in milliseconds; -1 for no limit. */
static int
time_left_ms (IrisdCommandRunner *self)
{
  gint64 until = 0;
  for (GList *link = self->commands.head; link != NULL; link = link->next)
    {
      gint64 deadline = irisd_command_get_deadline (link->data);
      if (deadline != 0 && (until == 0 || deadline < until))
        until = deadline;
    }
  if (until == 0)
    return -1;
  return (int) CLAMP ((until - g_get_monotonic_time ()) / 1000 + 1, 0, G_MAXINT);
}

static gboolean
handle_events (IrisdCommandRunner *self, const struct epoll_event *events, int n)
{
  gboolean woken = FALSE;
  for (int i = 0; i < n; i++)
    if (events[i].data.ptr != NULL)
      irisd_command_handle (events[i].data.ptr);
    else
      {
        guint64 wakes;
        ssize_t got = read (self->wake_fd, &wakes, sizeof wakes);
        (void) got;
        woken = TRUE;
      }
  return woken;
}

/* Takes commands that are over out of the list, and those that have left out of their slots. */
static void
sort_out (IrisdCommandRunner *self, GQueue *left, GQueue *over)
{
  for (GList *link = self->commands.head; link != NULL;)
    {
      IrisdCommand *command = link->data;
      link = link->next;
      if (irisd_command_is_over (command))
        {
          g_queue_unlink (&self->commands, irisd_command_get_link (command));
          g_queue_push_tail_link (over, irisd_command_get_link (command));
        }
      else if (irisd_command_has_left (command))
        g_queue_push_tail (left, irisd_command_get_job (command));
    }
}

static void
finish (GQueue *left, GQueue *over)
{
  IrisdJob *job;
  while ((job = g_queue_pop_head (left)) != NULL)
    irisd_command_slots_leave (job->core->slots, job);
  for (GList *link; (link = g_queue_pop_head_link (over)) != NULL;)
    irisd_command_finish (link->data);
}

static gpointer
run_thread (gpointer data)
{
  IrisdCommandRunner *self = data;
  int timeout = -1;
  gboolean stopping = FALSE;
  while (!stopping)
    {
      struct epoll_event events[EVENTS_PER_TURN];
      GQueue left = G_QUEUE_INIT, over = G_QUEUE_INIT;
      int n = epoll_wait (self->epoll_fd, events, EVENTS_PER_TURN, timeout);
      if (n < 0 && errno != EINTR)
        g_error ("cannot watch commands: epoll_wait failed: %s", g_strerror (errno));

      pthread_mutex_lock (&self->lock);
      if (handle_events (self, events, n) || timeout >= 0)
        for (GList *link = self->commands.head; link != NULL; link = link->next)
          irisd_command_attend (link->data);
      sort_out (self, &left, &over);
      timeout = time_left_ms (self);
      stopping = self->stopping;
      pthread_mutex_unlock (&self->lock);
      finish (&left, &over);
    }
  return NULL;
}

/* Returns a descriptor above the standard ones, which stay taken if irisd was started without
 * them. */
static int
open_null (void)
{
  int fd;
  do
    fd = open ("/dev/null", O_RDONLY | O_CLOEXEC);
  while (fd >= 0 && fd <= STDERR_FILENO);
  return fd;
}

static gboolean
open_descriptors (IrisdCommandRunner *self)
{
  struct epoll_event wake = { .events = EPOLLIN, .data.ptr = NULL };
  self->null_fd = open_null ();
  self->epoll_fd = epoll_create1 (EPOLL_CLOEXEC);
  self->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  return self->null_fd >= 0 && self->epoll_fd >= 0 && self->wake_fd >= 0
         && epoll_ctl (self->epoll_fd, EPOLL_CTL_ADD, self->wake_fd, &wake) == 0;
}

/* Returns a runner whose thread waits for commands. */
IrisdCommandRunner *
irisd_command_runner_new (GError **error)
{
  IrisdCommandRunner *self = g_new0 (IrisdCommandRunner, 1);
  self->null_fd = self->epoll_fd = self->wake_fd = -1;
  pthread_mutex_init (&self->lock, NULL);
  g_queue_init (&self->commands);
  if (!open_descriptors (self))
    {
      g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED,
                   "cannot watch commands: %s; raise the limit on open files (ulimit -n), or "
                   "fs.epoll.max_user_watches",
                   g_strerror (errno));
      irisd_command_runner_free (self);
      return NULL;
    }
  self->thread = g_thread_new ("irisd-commands", run_thread, self);
  return self;
}

/* @self has no commands. */
void
irisd_command_runner_free (IrisdCommandRunner *self)
{
  if (self == NULL)
    return;
  if (self->thread != NULL)
    {
      pthread_mutex_lock (&self->lock);
      self->stopping = TRUE;
      pthread_mutex_unlock (&self->lock);
      irisd_command_runner_wake (self);
      g_thread_join (self->thread);
    }
  const int fds[] = { self->null_fd, self->epoll_fd, self->wake_fd };
  for (guint i = 0; i < G_N_ELEMENTS (fds); i++)
    if (fds[i] >= 0)
      close (fds[i]);
  pthread_mutex_destroy (&self->lock);
  g_free (self);
}

/* Tells how many commands run, and how many were started so far. */
void
irisd_command_runner_count (IrisdCommandRunner *self, guint64 *running, guint64 *started)
{
  pthread_mutex_lock (&self->lock);
  *running = self->commands.length;
  *started = self->n_started;
  pthread_mutex_unlock (&self->lock);
}

/* Makes it check all commands: one was cancelled, or has credit, or its client has gone. */
void
irisd_command_runner_wake (IrisdCommandRunner *self)
{
  ssize_t written = write (self->wake_fd, &(guint64){ 1 }, sizeof (guint64));
  (void) written;
}

/* Starts the command of @job, which has a slot, in the calling thread; the runner ends the job.
 * Returns FALSE if it could not be started; then the job has failed and is still the caller's. */
static gboolean
start_command (IrisdCommandRunner *self, IrisdJob *job)
{
  IrisdCommand *command = irisd_command_start (job, self->null_fd);
  if (command == NULL)
    return FALSE;
  irisd_job_leave_worker (job);
  pthread_mutex_lock (&self->lock);
  g_queue_push_tail_link (&self->commands, irisd_command_get_link (command));
  self->n_started++;
  irisd_command_watch_all (command, self->epoll_fd);
  gboolean attend = irisd_command_get_deadline (command) != 0 || irisd_job_must_stop (job)
                    || irisd_job_is_suspended (job);
  pthread_mutex_unlock (&self->lock);
  if (attend)
    irisd_command_runner_wake (self);
  return TRUE;
}

static gboolean
check (const IrisWireMessage *item, GError **error)
{
  if (iris_wire_message_has (item, IRIS_WIRE_KEY_PATH))
    return irisd_fail (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                       "a command takes its input from the payload; leave the path out");
  IrisWireArgsIter iter;
  IrisWireString program;
  iris_wire_args_iter_init (&iter, &item->args);
  if (iris_wire_args_iter_next (&iter, &program) && program.len > 0)
    return irisd_command_options_check (item, error);
  return irisd_fail (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                     "a command needs arguments, the first of which names the program");
}

static gboolean
start (IrisdJob *job)
{
  return start_command (job->core->commands, job);
}

static void
wake (IrisdJob *job)
{
  irisd_command_runner_wake (job->core->commands);
}

static void
leave (IrisdJob *job)
{
  irisd_command_slots_leave (job->core->slots, job);
}

const IrisdService irisd_service_command = {
  .name = "command",
  .summary = "runs a program (args) with the payload as its input; answers output and exit status",
  .output_grows = TRUE,
  .reaches_out = TRUE,
  .takes_options = TRUE,
  .check = check,
  .start = start,
  .wake = wake,
  .leave = leave,
};
