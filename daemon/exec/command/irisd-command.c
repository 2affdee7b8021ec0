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
 * program waits. Output and completion go through one mailbox, which keeps the order, so output
 * comes first, and the job exists as long as messages about it do. `output_credit` of a job is the
 * number of bytes that may still be read. Only the gateway adds to it and only the runner
 * subtracts, so relaxed order suffices: the runner sees an addition when a write to its descriptor
 * wakes it.
 *
 * A command that epoll cannot watch (the kernel limits watched descriptors per user) is ended, and
 * its item fails. Until its processes are gone it is checked at intervals.
 */
#include "daemon/exec/command/irisd-command.h"

#include "daemon/base/irisd-proc.h"
#include "daemon/base/irisd-text.h"
#include "daemon/exec/command/irisd-command-spawn.h"
#include "daemon/store/irisd-outputs.h"

#include <iris/place/iris-place-private.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHUNK (64 * 1024)

/* How often irisd checks that the client of a command that waits for credit is still connected. */
#define PROBE_US (2 * G_USEC_PER_SEC)

/* How often a command that epoll does not watch is checked, until it has ended. */
#define LOOK_US (20 * 1000)

#define MAX_QUOTED 200 /* characters of a program's name in a message */

struct _IrisdCommand
{
  IrisdJob *job;
  guint attempt; /* in the record of attempts */
  char *cgroup;  /* NULL if it has none */
  pid_t pid;
  int epoll_fd;
  IrisdCommandWatch watches[IRISD_COMMAND_N_FDS];
  GByteArray *out;
  GByteArray *err;
  gsize copied[2];       /* how much of these two was sent, if they are copied */
  IrisdKeptOutput *kept; /* NULL: its output cannot be followed */
  guint64 n_output;      /* bytes written, stored or not */
  guint64 max_output;
  gsize written;
  gint64 time_limit_us; /* monotonic time; 0: none */
  gint64 kill_at_us;    /* 0: it was not asked to end */
  gint64 stopped_us;    /* since when its processes are stopped; 0: they are not */
  gint64 probe_at_us;   /* 0: it does not wait for credit */
  int watch_errno;      /* why epoll cannot watch it; 0: it does */
  gint64 look_at_us;    /* without epoll: when to check it */
  gboolean timed_out;
  gboolean killed;
  gboolean ended; /* was reaped */
  int left[2];    /* bytes in the pipes when it ended */
  int exit_status;
  int signal;
  gint64 ended_ns;
  gboolean truncated;
  gboolean cut; /* it was cancelled after its end, before all output was read */
  GList link;
};

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
      if (n < 0) /* the child does not read the rest */
        break;
      self->written += (gsize) n;
    }
  drop (watch);
}

static void
command_free (IrisdCommand *self)
{
  for (guint i = 0; i < IRISD_COMMAND_N_FDS; i++)
    drop (&self->watches[i]);
  irisd_cgroups_let_go (self->job->core->cgroups, g_steal_pointer (&self->cgroup));
  irisd_attempts_end (self->job->core->attempts, self->attempt);
  if (self->kept != NULL)
    irisd_kept_output_end (self->kept);
  g_clear_pointer (&self->out, g_byte_array_unref);
  g_clear_pointer (&self->err, g_byte_array_unref);
  g_free (self);
}

static gboolean
make_pipe (int ours_and_theirs[2], int ours)
{
  if (pipe2 (ours_and_theirs, O_CLOEXEC) != 0)
    return FALSE;
  fcntl (ours_and_theirs[ours], F_SETFL, O_NONBLOCK);
  return TRUE;
}

/* Makes the pipes; the child's ends go into @theirs. */
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
      feed (self); /* input that fits the pipe need not be watched */
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
                      "cannot enter the command's directory “%s”: %s", directory, why);
    }
  else if (step == IRISD_SPAWN_LIMIT)
    irisd_job_fail (job, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                    "cannot set the limit %s, irisd's own may be lower: %s",
                    job->options->limits[limit].name, why);
  else if (step == IRISD_SPAWN_PROGRAM && (error == ENOENT || error == ENOTDIR))
    irisd_job_fail (
        job, IRIS_WIRE_ERROR_NO_SUCH_COMMAND,
        "cannot run “%s”: there is no such program in irisd's PATH; give its whole path", name);
  else if (step == IRISD_SPAWN_PROGRAM && error != ENOMEM)
    irisd_job_fail (job, IRIS_WIRE_ERROR_NO_SUCH_COMMAND, "cannot run “%s”: %s", name, why);
  else
    irisd_job_fail (job, IRIS_WIRE_ERROR_SERVICE_FAILED, "cannot start “%s”: %s%s", name, why,
                    error == EMFILE ? " (raise irisd's limit with ulimit -n)" : "");
}

/* The attempt is recorded before the process is made, and the process adds itself. Returns the name
 * of the attempt, or NULL if it is not recorded. */
static char *
begin_attempt (IrisdCommand *self, IrisdSpawnPlan *plan)
{
  IrisdCore *core = self->job->core;
  guint64 item = self->job->persistent != NULL ? self->job->id : 0;
  self->attempt = irisd_attempts_begin (core->attempts, item);
  if (self->attempt == IRISD_ATTEMPT_NONE)
    return NULL;
  plan->record_fd = irisd_attempts_get_process_fd (core->attempts, self->attempt, &plan->record_at);
  char *name = irisd_attempts_get_name (core->attempts, self->attempt);
  self->cgroup = irisd_cgroups_make (core->cgroups, name, &plan->cgroup_fd);
  return name;
}

/* The variable that identifies the processes of an attempt. A command that has no variables but its
 * own gets none. */
static char *
make_mark (const IrisdCommandOptions *options, const char *name)
{
  if (name == NULL || (options != NULL && options->clear_environment))
    return NULL;
  return g_strconcat (IRISD_ATTEMPTS_VARIABLE "=", name, NULL);
}

/* Borrows from both. irisd itself may be a command of another irisd, and have its variable. */
static GPtrArray *
join_environment (char *mark, char *const *variables)
{
  GPtrArray *all = g_ptr_array_new ();
  if (mark != NULL)
    g_ptr_array_add (all, mark);
  for (; *variables != NULL; variables++)
    if (mark == NULL || !g_str_has_prefix (*variables, IRISD_ATTEMPTS_VARIABLE "="))
      g_ptr_array_add (all, *variables);
  g_ptr_array_add (all, NULL);
  return all;
}

/* Puts the item's own span in place of what irisd, or the item, has of the kind. A command that has
 * no variables but its own gets none. */
static void
add_trace (GPtrArray *environment, const IrisdJob *job, char **traceparent, char **tracestate)
{
  if (job->trace == NULL || (job->options != NULL && job->options->clear_environment))
    return;
  for (guint i = environment->len - 1; i > 0; i--)
    {
      const char *variable = g_ptr_array_index (environment, i - 1);
      if (g_str_has_prefix (variable, "TRACEPARENT=") || g_str_has_prefix (variable, "TRACESTATE="))
        g_ptr_array_remove_index (environment, i - 1);
    }
  *traceparent = g_strconcat ("TRACEPARENT=", job->trace->traceparent, NULL);
  g_ptr_array_insert (environment, 0, *traceparent);
  if (job->trace->tracestate == NULL)
    return;
  *tracestate = g_strconcat ("TRACESTATE=", job->trace->tracestate, NULL);
  g_ptr_array_insert (environment, 0, *tracestate);
}

static gboolean
spawn (IrisdCommand *self, int null_fd)
{
  IrisdJob *job = self->job;
  cpu_set_t cpus;
  g_auto (GStrv) given = irisd_command_options_make_environment (job->options);
  IrisdSpawnPlan plan = {
    .argv = (const char *const *) job->args,
    .options = job->options,
    .cpus = iris_place_get_cpu_set (job->core->infos[job->place].place, &cpus) ? &cpus : NULL,
    .file_limit = &job->core->file_limit,
    .fds = { -1, -1, -1 },
    .cgroup_fd = -1,
    .record_fd = -1,
  };
  g_autofree char *name = begin_attempt (self, &plan);
  g_autofree char *mark = make_mark (job->options, name);
  g_autoptr (GPtrArray) environment = join_environment (mark, given != NULL ? given : environ);
  g_autofree char *traceparent = NULL, *tracestate = NULL;
  add_trace (environment, job, &traceparent, &tracestate);
  plan.environment = (char *const *) environment->pdata;
  IrisdSpawned spawned = { .step = IRISD_SPAWN_PROCESS };
  gboolean started = FALSE;
  if (open_pipes (self, null_fd, plan.fds))
    started = irisd_command_spawn (&plan, &spawned);
  else
    spawned.error = errno;
  for (int i = 0; i < 3; i++)
    if (plan.fds[i] >= 0 && plan.fds[i] != null_fd)
      close (plan.fds[i]);
  if (plan.cgroup_fd >= 0)
    close (plan.cgroup_fd);
  if (!started)
    fail_to_start (job, spawned.step, spawned.error, spawned.limit);
  self->pid = spawned.pid;
  self->watches[IRISD_COMMAND_END].fd = started ? spawned.pidfd : -1;
  return started;
}

/* Where the output of a persistent command is kept; NULL if it is not to be. */
static IrisdKeptOutput *
begin_output (const IrisdJob *job)
{
  guint64 most = job->core->config->limits.keep_output;
  if (job->persistent == NULL || job->core->journal == NULL)
    return NULL;
  if (job->options != NULL)
    most = MIN (most, job->options->keep_output);
  IrisdOutputPolicy policy = job->options != NULL && job->options->keep_tail
                                 ? IRISD_OUTPUT_TAIL
                                 : IRISD_OUTPUT_HEAD_AND_TAIL;
  return most == 0 ? NULL
                   : irisd_outputs_begin (irisd_journal_get_outputs (job->core->journal), job->id,
                                          most, policy);
}

/* @job has a slot. Returns a command that is not watched yet; NULL if the job has failed. */
IrisdCommand *
irisd_command_start (IrisdJob *job, int null_fd)
{
  const IrisdLimits *limits = &job->core->config->limits;
  IrisdCommand *self = g_new0 (IrisdCommand, 1);
  self->job = job;
  self->attempt = IRISD_ATTEMPT_NONE;
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
      command_free (self);
      return NULL;
    }
  self->kept = begin_output (job);
  self->out = g_byte_array_new ();
  self->err = g_byte_array_new ();
  return self;
}

/* Called under the runner's lock; from here on the command is the runner's. */
void
irisd_command_watch_all (IrisdCommand *self, int epoll_fd)
{
  self->epoll_fd = epoll_fd;
  for (guint i = 0; i < IRISD_COMMAND_N_FDS; i++)
    arm (&self->watches[i]);
}

/* The process group of a living process. */
static pid_t
read_group (pid_t pid)
{
  IrisdProc proc;
  return irisd_proc_read (&proc, pid) && irisd_proc_lives (&proc) ? proc.group : -1;
}

/* @group is the number of a group whose leader was not reaped. Returns a descriptor of another
 * living process in it, or -1. Reads all processes of the machine, so it is for rare events. */
static int
find_in_group (pid_t group)
{
  g_autoptr (GDir) dir = g_dir_open ("/proc", 0, NULL);
  for (const char *name; dir != NULL && (name = g_dir_read_name (dir)) != NULL;)
    {
      pid_t pid = (pid_t) g_ascii_strtoull (name, NULL, 10);
      if (pid <= 0 || pid == group || read_group (pid) != group)
        continue;
      int fd = (int) syscall (SYS_pidfd_open, pid, 0);
      /* If the process is still the same, the descriptor is that process's. */
      if (fd >= 0 && read_group (pid) == group)
        return fd;
      if (fd >= 0)
        close (fd);
    }
  return -1;
}

/* Posts what the command wrote to @channel, copied. With a @size of 0 the gateway only checks
 * whether the client is still there. */
static void
post_output (IrisdJob *job, IrisWireChannel channel, const guint8 *data, gsize size)
{
  IrisdOutput *self = g_malloc (sizeof *self + size);
  self->message = (IrisdMessage){ .kind = IRISD_MESSAGE_OUTPUT };
  self->job = job;
  self->channel = channel;
  self->size = size;
  if (size > 0)
    memcpy (self->data, data, size);
  irisd_mailbox_post (job->mailbox, &self->message);
}

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

/* Sends what there is credit for of an output that is in the result as well. What is left over is
 * the home's to complete by the result, so the command waits for no credit. */
static void
copy_output (IrisdCommand *self)
{
  IrisdJob *job = self->job;
  GByteArray *const all[] = { self->out, self->err };
  if (get_options (self) == NULL || !get_options (self)->copied)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    while (self->copied[i] < all[i]->len)
      {
        guint64 credit = atomic_load_explicit (&job->output_credit, memory_order_relaxed);
        gsize size = MIN (all[i]->len - self->copied[i], (gsize) MIN (credit, IRISD_OUTPUT_CHUNK));
        if (size == 0)
          return;
        atomic_fetch_sub_explicit (&job->output_credit, size, memory_order_relaxed);
        post_output (job, i == 0 ? IRIS_WIRE_CHANNEL_OUTPUT : IRIS_WIRE_CHANNEL_ERRORS,
                     all[i]->data + self->copied[i], size);
        self->copied[i] += size;
      }
}

static void
take_bytes (IrisdCommand *self, IrisdCommandFd which, const guint8 *data, gsize size)
{
  gsize persistent = count_output (self, size);
  if (self->kept != NULL)
    irisd_kept_output_write (self->kept,
                             which == IRISD_COMMAND_OUT ? IRIS_WIRE_CHANNEL_OUTPUT
                                                        : IRIS_WIRE_CHANNEL_ERRORS,
                             data, size);
  if (!is_streamed (self))
    {
      g_byte_array_append (which == IRISD_COMMAND_OUT ? self->out : self->err, data,
                           (guint) persistent);
      copy_output (self);
    }
  else
    {
      atomic_fetch_sub_explicit (&self->job->output_credit, persistent, memory_order_relaxed);
      if (persistent > 0)
        post_output (self->job,
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
  int fd = find_in_group (self->pid);
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

/* Stops its processes because its item is suspended, or continues them; the time limit does not
 * count meanwhile. A frozen control group holds also a process that ignores the signal's group. */
static void
follow_suspension (IrisdCommand *self, gboolean suspended, gint64 now)
{
  if (self->ended || suspended == (self->stopped_us != 0))
    return;
  if (!suspended && self->time_limit_us != 0)
    self->time_limit_us += now - self->stopped_us;
  self->stopped_us = suspended ? now : 0;
  if (self->cgroup == NULL || !irisd_cgroup_freeze (self->cgroup, suspended))
    signal_group (self, suspended ? SIGSTOP : SIGCONT);
}

static void
begin_to_stop (IrisdCommand *self, gint64 now)
{
  follow_suspension (self, FALSE, now);
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
  copy_output (self);
  if (!self->ended && !is_stopping (self))
    {
      follow_suspension (self, !stop && irisd_job_is_suspended (job), now);
      self->timed_out = !stop && self->stopped_us == 0 && self->time_limit_us != 0
                        && now >= self->time_limit_us;
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
      post_output (job, IRIS_WIRE_CHANNEL_OUTPUT, NULL, 0);
    }
}

/* Returns the monotonic time at which it has to be attended, or 0. */
gint64
irisd_command_get_deadline (IrisdCommand *self)
{
  gint64 own = self->ended || self->killed ? 0
               : is_stopping (self)        ? self->kill_at_us
               : self->stopped_us != 0     ? 0
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
  command_free (self);
  irisd_job_end (job);
}
