/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A running command: one item's process, with its input, output, limits and end.
 *
 * A worker starts it; from irisd_command_watch_all() on it belongs to the runner, under the
 * runner's lock, until it is over. Nothing here waits: epoll tells when there is room in standard
 * input, when there are bytes on standard output or standard error, and when a process has ended (a
 * pidfd). So a child that writes before it reads cannot block both sides, one that closes its
 * output is still watched, and a grandchild that holds the pipes open does not delay the item: when
 * the program itself has ended, the bytes in the pipes are read and later ones are not.
 *
 * The program leads a process group of its own, and signals go to the group. Its number is the
 * program's process id, which stays taken as long as the program was not reaped. So while a command
 * is being stopped, a program that has ended is reaped only when no process of its group lives: one
 * member after the other is looked up in /proc and waited for, and all get SIGKILL when the grace
 * is over. With a control group (irisd-cgroup.c) the same goes for all that is in it. A command
 * that ends by itself may leave processes behind, as under a shell.
 *
 * Streamed output is read only as far as the client has granted credit; then the pipe fills and the
 * program waits. The output goes to the gateway's mailbox before the job, and the mailbox keeps the
 * order.
 *
 * A command that epoll cannot watch (the kernel limits watched descriptors per user) is ended, and
 * its item fails. Until its processes are gone it is checked at intervals.
 */
#include "daemon/exec/command/irisd-command-group.h"
#include "daemon/exec/command/irisd-command-output.h"
#include "daemon/exec/command/irisd-command-private.h"
#include "daemon/exec/command/irisd-command-spawn.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define CHUNK (64 * 1024)

/* How often irisd checks that the client of a command that waits for credit is still connected. */
#define PROBE_US (2 * G_USEC_PER_SEC)

/* How often a command that epoll does not watch is checked, until it has ended. */
#define LOOK_US (20 * 1000)

GList *
irisd_command_get_link (IrisdCommand *self)
{
  return &self->link;
}

IrisdJob *
irisd_command_get_job (IrisdCommand *self)
{
  return self->job;
}

static const IrisdCommandOptions *
get_options (IrisdCommand *self)
{
  return self->job->options;
}

static gboolean
is_streamed (IrisdCommand *self)
{
  return get_options (self) != NULL && get_options (self)->streamed;
}

static void
arm (IrisdCommandWatch *watch)
{
  if (watch->armed || watch->fd < 0)
    return;
  struct epoll_event event = {
    .events = watch->which == IRISD_COMMAND_IN ? EPOLLOUT : EPOLLIN,
    .data.ptr = watch,
  };
  watch->armed = epoll_ctl (watch->command->epoll_fd, EPOLL_CTL_ADD, watch->fd, &event) == 0;
  if (!watch->armed && watch->command->watch_errno == 0)
    {
      watch->command->watch_errno = errno;
      watch->command->look_at_us = g_get_monotonic_time ();
    }
}

static void
disarm (IrisdCommandWatch *watch)
{
  if (watch->armed)
    epoll_ctl (watch->command->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
  watch->armed = FALSE;
}

/* A process that is being started may hold a copy of the descriptor for a moment, so closing it
 * would not end the watch. */
static void
drop (IrisdCommandWatch *watch)
{
  disarm (watch);
  if (watch->fd >= 0)
    close (watch->fd);
  watch->fd = -1;
}

/* Writes input to a command whose standard input takes some. */
void
irisd_command_feed (IrisdCommand *self)
{
  IrisdCommandWatch *watch = &self->watches[IRISD_COMMAND_IN];
  const IrisWireFrame input = irisd_job_get_payload (self->job);
  while (self->written < input.size)
    {
      ssize_t n = write (watch->fd, input.data + self->written,
                         MIN (CHUNK, input.size - self->written));
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0 && errno == EAGAIN)
        return;
      if (n < 0) /* the child does not read the rest */
        break;
      self->written += (gsize) n;
    }
  drop (watch);
}

/* How many of the bytes read fit the item's limit of output. */
static gsize
count_output (IrisdCommand *self, gsize size)
{
  guint64 before = MIN (self->n_output, self->max_output);
  gsize persistent = (gsize) MIN (size, self->max_output - before);
  self->n_output += size;
  self->truncated |= persistent < size;
  return persistent;
}

static void
take_bytes (IrisdCommand *self, IrisdCommandFd which, const guint8 *data, gsize size)
{
  gsize persistent = count_output (self, size);
  if (!is_streamed (self))
    g_byte_array_append (which == IRISD_COMMAND_OUT ? self->out : self->err, data,
                         (guint) persistent);
  else
    {
      atomic_fetch_sub_explicit (&self->job->output_credit, persistent, memory_order_relaxed);
      if (persistent > 0)
        irisd_output_post (self->job,
                           which == IRISD_COMMAND_OUT ? IRIS_WIRE_CHANNEL_OUTPUT
                                                      : IRIS_WIRE_CHANNEL_ERRORS,
                           data, persistent);
    }
}

/* How much may be read now. The output of a command that is being ended and whose client has gone
 * is read and dropped, so that the command does not block at its pipe. */
static gsize
allowance (IrisdCommand *self)
{
  if (!is_streamed (self))
    return CHUNK;
  if (irisd_peer_is_gone (self->job->peer))
    return IRISD_OUTPUT_CHUNK;
  guint64 credit = atomic_load_explicit (&self->job->output_credit, memory_order_relaxed);
  return (gsize) MIN (credit, IRISD_OUTPUT_CHUNK);
}

static void
take_output (IrisdCommand *self, IrisdCommandFd which)
{
  IrisdCommandWatch *watch = &self->watches[which];
  guint8 chunk[CHUNK];
  gsize size = allowance (self);
  int *left = self->ended ? &self->left[which - IRISD_COMMAND_OUT] : NULL;
  if (left != NULL)
    size = MIN (size, (gsize) *left);
  if (size == 0)
    {
      if (left != NULL && *left == 0)
        drop (watch);
      else
        {
          disarm (watch); /* until there is credit, epoll would report it again and again */
          if (self->probe_at_us == 0)
            self->probe_at_us = g_get_monotonic_time () + PROBE_US;
        }
      return;
    }
  ssize_t n = read (watch->fd, chunk, size);
  if (n > 0)
    {
      take_bytes (self, which, chunk, (gsize) n);
      if (left != NULL)
        *left -= (int) n;
    }
  if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN) || (left != NULL && *left == 0))
    drop (watch);
}

/* The program has ended: the bytes in the pipes now are its output; later ones are of a process
 * that lives on. */
static void
take_rest (IrisdCommand *self)
{
  for (guint i = 0; i < 2; i++)
    {
      IrisdCommandWatch *watch = &self->watches[IRISD_COMMAND_OUT + i];
      if (watch->fd < 0 || ioctl (watch->fd, FIONREAD, &self->left[i]) != 0)
        self->left[i] = 0;
      if (self->left[i] == 0)
        drop (watch);
      while (watch->fd >= 0 && allowance (self) > 0)
        take_output (self, watch->which);
    }
}

static void
signal_group (IrisdCommand *self, int signal_number)
{
  if (self->ended)
    return;
  kill (-self->pid, signal_number);
  if (self->cgroup != NULL && signal_number == SIGKILL)
    irisd_cgroup_kill (self->cgroup);
  else if (self->cgroup != NULL)
    irisd_cgroup_signal (self->cgroup, signal_number, self->pid);
}

/* A descriptor of another living process that the command has started, or -1. */
static int
find_other (IrisdCommand *self)
{
  int fd = irisd_command_group_find (self->pid);
  if (fd < 0 && self->cgroup != NULL)
    fd = irisd_cgroup_find (self->cgroup);
  return fd;
}

/* Whether it is to be ended for another reason than its time limit. */
static gboolean
must_stop (IrisdCommand *self)
{
  return self->watch_errno != 0 || irisd_job_must_stop (self->job);
}

/* A cancelled item gets no more credit for its output. */
static void
cut_if_stopped (IrisdCommand *self)
{
  if (!self->ended || irisd_command_is_over (self) || !must_stop (self))
    return;
  drop (&self->watches[IRISD_COMMAND_OUT]);
  drop (&self->watches[IRISD_COMMAND_ERR]);
  self->cut = TRUE;
}

static gboolean
is_stopping (IrisdCommand *self)
{
  return self->kill_at_us != 0;
}

static guint64
get_grace_ms (IrisdCommand *self)
{
  const IrisdCommandOptions *options = get_options (self);
  return options != NULL && options->has_grace ? options->grace_ms
                                               : self->job->core->config->limits.kill_grace_ms;
}

static void
begin_to_stop (IrisdCommand *self, gint64 now)
{
  self->kill_at_us = now + (gint64) get_grace_ms (self) * 1000;
  signal_group (self, SIGTERM);
  /* A process stopped by job control must continue to see the signal. */
  signal_group (self, SIGCONT);
}

/* Called when the program has ended, and again when the watched member has. It may have ended
 * because irisd stops: the kernel kills it when the thread that started it ends
 * (irisd-command-spawn.c), which may be noticed before the order to stop it. Then the others of its
 * group are stopped too. */
static void
end_if_alone (IrisdCommand *self)
{
  IrisdCommandWatch *end = &self->watches[IRISD_COMMAND_END];
  IrisdCommandWatch *member = &self->watches[IRISD_COMMAND_GROUP];
  if (!is_stopping (self) && must_stop (self))
    begin_to_stop (self, g_get_monotonic_time ());
  if (is_stopping (self) && (member->fd = find_other (self)) >= 0)
    {
      arm (member);
      return;
    }
  irisd_command_reap (end->fd, &self->exit_status, &self->signal);
  self->ended = TRUE;
  self->ended_ns = irisd_now_ns ();
  drop (end);
  drop (&self->watches[IRISD_COMMAND_IN]);
  take_rest (self);
  cut_if_stopped (self);
}

/* Something has happened at a descriptor of a command. */
void
irisd_command_handle (IrisdCommandWatch *watch)
{
  IrisdCommand *self = watch->command;
  if (!watch->armed) /* handled by an earlier event of the same turn */
    return;
  switch (watch->which)
    {
    case IRISD_COMMAND_IN:
      irisd_command_feed (self);
      break;
    case IRISD_COMMAND_OUT:
    case IRISD_COMMAND_ERR:
      take_output (self, watch->which);
      break;
    case IRISD_COMMAND_END:
      disarm (watch); /* it stays readable until the process is reaped */
      end_if_alone (self);
      break;
    case IRISD_COMMAND_GROUP:
    default:
      drop (watch);
      end_if_alone (self);
      break;
    }
}

/* Does what epoll would cause for a command that is being ended. */
static void
look_after (IrisdCommand *self, gint64 now)
{
  IrisdCommandWatch *end = &self->watches[IRISD_COMMAND_END];
  struct pollfd program = { .fd = end->fd, .events = POLLIN };
  if (self->ended || now < self->look_at_us)
    return;
  self->look_at_us = now + LOOK_US;
  if (poll (&program, 1, 0) <= 0)
    return;
  disarm (end);
  drop (&self->watches[IRISD_COMMAND_GROUP]);
  end_if_alone (self);
}

/* Checks what descriptors do not report: a cancellation, the time, and new credit. */
void
irisd_command_attend (IrisdCommand *self)
{
  IrisdJob *job = self->job;
  gint64 now = g_get_monotonic_time ();
  gboolean stop = must_stop (self);
  cut_if_stopped (self);
  if (!self->ended && !is_stopping (self))
    {
      self->timed_out = !stop && self->time_limit_us != 0 && now >= self->time_limit_us;
      if (stop || self->timed_out)
        begin_to_stop (self, now);
    }
  if (self->watch_errno != 0)
    look_after (self, now);
  if (!self->ended && is_stopping (self) && !self->killed
      && (now >= self->kill_at_us || irisd_core_get_phase (job->core) == IRISD_PHASE_STOPPING))
    {
      self->killed = TRUE;
      signal_group (self, SIGKILL);
    }
  if (allowance (self) > 0)
    {
      self->probe_at_us = 0;
      arm (&self->watches[IRISD_COMMAND_OUT]);
      arm (&self->watches[IRISD_COMMAND_ERR]);
    }
  else if (self->probe_at_us != 0 && now >= self->probe_at_us)
    {
      self->probe_at_us = now + PROBE_US;
      irisd_output_post (job, IRIS_WIRE_CHANNEL_OUTPUT, NULL, 0);
    }
}

/* Returns the monotonic time at which it has to be attended, or 0. */
gint64
irisd_command_get_deadline (IrisdCommand *self)
{
  gint64 own = self->ended || self->killed ? 0
               : is_stopping (self)        ? self->kill_at_us
                                           : self->time_limit_us;
  if (self->watch_errno != 0 && !irisd_command_is_over (self))
    return self->look_at_us;
  return own == 0 || (self->probe_at_us != 0 && self->probe_at_us < own) ? self->probe_at_us : own;
}

/* Returns whether its processes have ended, so that another command may use its slot. */
gboolean
irisd_command_has_left (IrisdCommand *self)
{
  return self->ended;
}

/* Returns whether its output has been read as well. */
gboolean
irisd_command_is_over (IrisdCommand *self)
{
  return self->ended && self->watches[IRISD_COMMAND_OUT].fd < 0
         && self->watches[IRISD_COMMAND_ERR].fd < 0;
}

void
irisd_command_free (IrisdCommand *self)
{
  for (guint i = 0; i < IRISD_COMMAND_N_FDS; i++)
    drop (&self->watches[i]);
  irisd_cgroups_let_go (self->job->core->cgroups, g_steal_pointer (&self->cgroup));
  irisd_attempts_end (self->job->core->attempts, self->attempt);
  g_clear_pointer (&self->out, g_byte_array_unref);
  g_clear_pointer (&self->err, g_byte_array_unref);
  g_free (self);
}

static void
take_kept_output (IrisdCommand *self)
{
  IrisdJob *job = self->job;
  job->result.stdout_length = self->out->len;
  g_byte_array_append (self->out, self->err->data, self->err->len);
  gsize size = self->out->len;
  irisd_job_take_result (job, g_byte_array_free (g_steal_pointer (&self->out), FALSE), size,
                         "application/octet-stream");
}

/* @self is over. Ends its job. */
void
irisd_command_finish (IrisdCommand *self)
{
  IrisdJob *job = self->job;
  IrisdResult *result = &job->result;
  result->bytes = irisd_job_get_payload (job).size + self->n_output;
  result->exit_status = self->exit_status;
  result->signal = self->signal;
  result->truncated = self->truncated;
  if (self->timed_out)
    irisd_job_fail (job, IRIS_WIRE_ERROR_TIME_LIMIT,
                    "the command was ended: it ran for longer than its time limit of "
                    "%" G_GUINT64_FORMAT " ms; give it more time",
                    get_options (self)->time_limit_ms);
  else if (self->watch_errno != 0 && !irisd_job_must_stop (job))
    irisd_job_fail (job, IRIS_WIRE_ERROR_SERVICE_FAILED,
                    "the command was ended: irisd could not watch it: %s%s",
                    g_strerror (self->watch_errno),
                    self->watch_errno == ENOSPC ? " (raise fs.epoll.max_user_watches)" : "");
  else if (is_stopping (self) || self->cut)
    irisd_job_fail_stopped (job);
  else if (!is_streamed (self))
    take_kept_output (self);
  job->ended_ns = self->ended_ns;
  irisd_command_free (self);
  irisd_job_end (job);
}

/* Called under the runner's lock; from here on the command is the runner's. */
void
irisd_command_watch_all (IrisdCommand *self, int epoll_fd)
{
  self->epoll_fd = epoll_fd;
  for (guint i = 0; i < IRISD_COMMAND_N_FDS; i++)
    arm (&self->watches[i]);
}
