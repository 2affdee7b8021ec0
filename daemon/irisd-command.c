/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A running command: one item's process, fed, read, bounded, and stopped when it has to be.
 *
 * A worker starts it; from irisd_command_watch_all() on it belongs to the runner, under the
 * runner's lock, until it is over. Nothing here waits: epoll tells when there is room in standard
 * input, when there are bytes on standard output or standard error, and when a process has ended (a
 * pidfd). So a child that writes before it reads cannot block both sides, one that closes its
 * output goes on being watched, and a grandchild that keeps the pipes open does not keep the item:
 * when the program itself has ended, what lies in the pipes then is taken and the rest is left to
 * whoever writes it.
 *
 * The program leads a process group of its own, and signals go to the group. Its number is the
 * program's process id, which stays taken as long as the program was not reaped. So while a command
 * is being stopped, a program that has ended is reaped only when nobody of its group lives any
 * more: one member after the other is looked up in /proc and waited for, and all get SIGKILL when
 * the grace is over. A command that ends by itself may leave processes behind, as under a shell.
 *
 * Output that is streamed is read only as far as the client has granted credit; then the pipe fills
 * and the program waits. What was read goes to the gateway's mailbox before the job does, and the
 * mailbox keeps the order.
 */
#include "irisd-command.h"

#include "irisd-command-group.h"
#include "irisd-command-output.h"
#include "irisd-command-spawn.h"
#include "irisd-text.h"

#include <iris/place/iris-place-private.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define CHUNK      (64 * 1024)
#define MAX_QUOTED 200 /* characters of a program's name that a sentence repeats */

/* How often the client of a command that waits for credit is asked whether it is still there. */
#define PROBE_US (2 * G_USEC_PER_SEC)

struct _IrisdCommand
{
  IrisdJob *job;
  pid_t pid;
  int epoll_fd;
  IrisdCommandWatch watches[IRISD_COMMAND_N_FDS];
  GByteArray *out;
  GByteArray *err;
  guint64 n_output; /* bytes that were written, kept or not */
  guint64 max_output;
  gsize written;
  gint64 time_limit_us; /* monotonic time; 0: none */
  gint64 kill_at_us;    /* 0: nobody asked it to end */
  gint64 probe_at_us;   /* 0: it does not wait for credit */
  gboolean timed_out;
  gboolean killed;
  gboolean ended; /* was reaped */
  int left[2];    /* what the pipes held when it ended */
  int exit_status;
  int signal;
  gint64 ended_ns;
  gboolean truncated;
  gboolean cut; /* it was cancelled after it had ended, before all of its output was taken */
  GList link;
};

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
  if (!watch->armed)
    g_error ("a command cannot be watched: %s", g_strerror (errno));
}

static void
disarm (IrisdCommandWatch *watch)
{
  if (watch->armed)
    epoll_ctl (watch->command->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
  watch->armed = FALSE;
}

/* A process that is being started may hold a copy of the descriptor for a moment, so closing it
 * would not be enough to stop watching it. */
static void
drop (IrisdCommandWatch *watch)
{
  disarm (watch);
  if (watch->fd >= 0)
    close (watch->fd);
  watch->fd = -1;
}

static void
feed (IrisdCommand *self)
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
      if (n < 0) /* the child does not want the rest */
        break;
      self->written += (gsize) n;
    }
  drop (watch);
}

/* How many of the bytes that were read count, of those that the item may write. */
static gsize
count_output (IrisdCommand *self, gsize size)
{
  guint64 before = MIN (self->n_output, self->max_output);
  gsize kept = (gsize) MIN (size, self->max_output - before);
  self->n_output += size;
  self->truncated |= kept < size;
  return kept;
}

static void
take_bytes (IrisdCommand *self, IrisdCommandFd which, const guint8 *data, gsize size)
{
  gsize kept = count_output (self, size);
  if (!is_streamed (self))
    g_byte_array_append (which == IRISD_COMMAND_OUT ? self->out : self->err, data, (guint) kept);
  else
    {
      atomic_fetch_sub_explicit (&self->job->output_credit, kept, memory_order_relaxed);
      if (kept > 0)
        irisd_output_post (self->job,
                           which == IRISD_COMMAND_OUT ? IRIS_WIRE_CHANNEL_OUTPUT
                                                      : IRIS_WIRE_CHANNEL_ERRORS,
                           data, kept);
    }
}

/* How much may be read now. Nobody wants the output of a command whose client has gone and that is
 * being ended; it is thrown away, so that the command is not held up at its pipe meanwhile. */
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
          disarm (watch); /* until there is credit: epoll would go on telling */
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

/* The program has ended: what lies in the pipes now is still its output, and not what a process
 * that lives on goes on to write. */
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
  if (!self->ended)
    kill (-self->pid, signal_number);
}

/* Nobody will grant credit for the output of what was cancelled. */
static void
cut_if_stopped (IrisdCommand *self)
{
  if (!self->ended || irisd_command_is_over (self) || !irisd_job_must_stop (self->job))
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

/* Once the program has ended, and again when the member that was waited for has. */
static void
end_if_alone (IrisdCommand *self)
{
  IrisdCommandWatch *end = &self->watches[IRISD_COMMAND_END];
  IrisdCommandWatch *member = &self->watches[IRISD_COMMAND_GROUP];
  if (is_stopping (self) && (member->fd = irisd_command_group_find (self->pid)) >= 0)
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

/**
 * irisd_command_handle:
 * @watch: of a command, where something has happened
 */
void
irisd_command_handle (IrisdCommandWatch *watch)
{
  IrisdCommand *self = watch->command;
  if (!watch->armed) /* an earlier event of the same turn saw to it */
    return;
  switch (watch->which)
    {
    case IRISD_COMMAND_IN:
      feed (self);
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
  /* One that is stopped by job control has to go on to see the signal. */
  signal_group (self, SIGCONT);
}

/**
 * irisd_command_attend:
 * @self: a command
 *
 * Looks at what descriptors do not tell: whether it was cancelled, what time it is, and whether its
 * client has granted credit.
 */
void
irisd_command_attend (IrisdCommand *self)
{
  IrisdJob *job = self->job;
  gint64 now = g_get_monotonic_time ();
  gboolean must_stop = irisd_job_must_stop (job);
  cut_if_stopped (self);
  if (!self->ended && !is_stopping (self))
    {
      self->timed_out = !must_stop && self->time_limit_us != 0 && now >= self->time_limit_us;
      if (must_stop || self->timed_out)
        begin_to_stop (self, now);
    }
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

/**
 * irisd_command_get_deadline:
 * @self: a command
 *
 * Returns: the monotonic time at which it has to be attended, or 0
 */
gint64
irisd_command_get_deadline (IrisdCommand *self)
{
  gint64 own = self->ended || self->killed ? 0
               : is_stopping (self)        ? self->kill_at_us
                                           : self->time_limit_us;
  return own == 0 || (self->probe_at_us != 0 && self->probe_at_us < own) ? self->probe_at_us : own;
}

/**
 * irisd_command_has_left:
 * @self: a command
 *
 * Returns: whether its processes are gone, so that somebody else may run in its place
 */
gboolean
irisd_command_has_left (IrisdCommand *self)
{
  return self->ended;
}

/**
 * irisd_command_is_over:
 * @self: a command
 *
 * Returns: whether its output has been taken as well
 */
gboolean
irisd_command_is_over (IrisdCommand *self)
{
  return self->ended && self->watches[IRISD_COMMAND_OUT].fd < 0
         && self->watches[IRISD_COMMAND_ERR].fd < 0;
}

static void
free_command (IrisdCommand *self)
{
  for (guint i = 0; i < IRISD_COMMAND_N_FDS; i++)
    drop (&self->watches[i]);
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

/**
 * irisd_command_finish:
 * @self: (transfer full): a command that is over
 *
 * Ends its job.
 */
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
                    "the command was ended because it ran for longer than its time limit of "
                    "%" G_GUINT64_FORMAT " ms: give it more time",
                    get_options (self)->time_limit_ms);
  else if (is_stopping (self) || self->cut)
    irisd_job_fail_stopped (job);
  else if (!is_streamed (self))
    take_kept_output (self);
  job->ended_ns = self->ended_ns;
  free_command (self);
  irisd_job_end (job);
}

static gboolean
make_pipe (int ours_and_theirs[2], int ours)
{
  if (pipe2 (ours_and_theirs, O_CLOEXEC) != 0)
    return FALSE;
  fcntl (ours_and_theirs[ours], F_SETFL, O_NONBLOCK);
  return TRUE;
}

/* The pipes; what the child gets of them goes into @theirs. */
static gboolean
open_pipes (IrisdCommand *self, int null_fd, int theirs[3])
{
  int ends[2];
  theirs[0] = null_fd;
  if (irisd_job_get_payload (self->job).size > 0)
    {
      if (!make_pipe (ends, 1))
        return FALSE;
      theirs[0] = ends[0];
      self->watches[IRISD_COMMAND_IN].fd = ends[1];
      feed (self); /* what fits into the pipe need not be watched */
    }
  for (int i = 1; i <= 2; i++)
    {
      if (!make_pipe (ends, 0))
        return FALSE;
      theirs[i] = ends[1];
      self->watches[i].fd = ends[0];
    }
  return TRUE;
}

static void
fail_to_start (IrisdJob *job, IrisdSpawnStep step, int error, guint limit)
{
  g_autofree char *name = irisd_text_quote (job->args[0], -1, MAX_QUOTED);
  const char *why = g_strerror (error);
  if (step == IRISD_SPAWN_DIRECTORY)
    {
      g_autofree char *directory = irisd_text_quote (job->options->directory, -1, MAX_QUOTED);
      irisd_job_fail (job, IRIS_WIRE_ERROR_UNREADABLE_FILE,
                      "“%s” cannot be the command's directory: %s", directory, why);
    }
  else if (step == IRISD_SPAWN_LIMIT)
    irisd_job_fail (job, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                    "the limit %s cannot be set, irisd itself may have no more: %s",
                    job->options->limits[limit].name, why);
  else if (step == IRISD_SPAWN_PROGRAM && (error == ENOENT || error == ENOTDIR))
    irisd_job_fail (job, IRIS_WIRE_ERROR_NO_SUCH_COMMAND,
                    "there is no program “%s” where irisd looks for one (its PATH)", name);
  else if (step == IRISD_SPAWN_PROGRAM && error != ENOMEM)
    irisd_job_fail (job, IRIS_WIRE_ERROR_NO_SUCH_COMMAND, "“%s” cannot be run: %s", name, why);
  else
    irisd_job_fail (job, IRIS_WIRE_ERROR_SERVICE_FAILED, "“%s” could not be started: %s%s", name,
                    why, error == EMFILE ? " (raise irisd's limit with ulimit -n)" : "");
}

static gboolean
spawn (IrisdCommand *self, int null_fd)
{
  IrisdJob *job = self->job;
  cpu_set_t cpus;
  g_auto (GStrv) environment = irisd_command_options_make_environment (job->options);
  IrisdSpawnPlan plan = {
    .argv = (const char *const *) job->args,
    .environment = environment,
    .options = job->options,
    .cpus = iris_place_get_cpu_set (job->core->infos[job->place].place, &cpus) ? &cpus : NULL,
    .file_limit = &job->core->file_limit,
    .fds = { -1, -1, -1 },
  };
  IrisdSpawned spawned = { .step = IRISD_SPAWN_PROCESS };
  gboolean started = FALSE;
  if (open_pipes (self, null_fd, plan.fds))
    started = irisd_command_spawn (&plan, &spawned);
  else
    spawned.error = errno;
  for (int i = 0; i < 3; i++)
    if (plan.fds[i] >= 0 && plan.fds[i] != null_fd)
      close (plan.fds[i]);
  if (!started)
    fail_to_start (job, spawned.step, spawned.error, spawned.limit);
  self->pid = spawned.pid;
  self->watches[IRISD_COMMAND_END].fd = started ? spawned.pidfd : -1;
  return started;
}

/**
 * irisd_command_start:
 * @job: a running job that has a slot
 * @null_fd: a descriptor of /dev/null
 *
 * Starts the program of a job.
 *
 * Returns: (transfer full) (nullable): a command that nobody watches yet; if it is %NULL the job
 *   has failed
 */
IrisdCommand *
irisd_command_start (IrisdJob *job, int null_fd)
{
  const IrisdLimits *limits = &job->core->config->limits;
  IrisdCommand *self = g_new0 (IrisdCommand, 1);
  self->job = job;
  self->link.data = self;
  self->exit_status = -1;
  for (guint i = 0; i < IRISD_COMMAND_N_FDS; i++)
    self->watches[i] = (IrisdCommandWatch){ .command = self, .which = i, .fd = -1 };
  self->max_output = limits->max_output;
  if (job->options != NULL)
    {
      guint64 wanted = job->options->max_output;
      self->max_output = job->options->streamed ? wanted : MIN (wanted, limits->max_output);
      if (job->options->time_limit_ms > 0)
        self->time_limit_us = g_get_monotonic_time () + (gint64) job->options->time_limit_ms * 1000;
    }
  if (!spawn (self, null_fd))
    {
      free_command (self);
      return NULL;
    }
  self->out = g_byte_array_new ();
  self->err = g_byte_array_new ();
  return self;
}

/**
 * irisd_command_watch_all:
 * @self: a command that was started
 * @epoll_fd: the runner's
 *
 * Called under the runner's lock; from here on the command is the runner's.
 */
void
irisd_command_watch_all (IrisdCommand *self, int epoll_fd)
{
  self->epoll_fd = epoll_fd;
  for (guint i = 0; i < IRISD_COMMAND_N_FDS; i++)
    arm (&self->watches[i]);
}
