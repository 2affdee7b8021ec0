/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A child process of one item: fed, read, bounded, and stopped when it has to be.
 *
 * The calling worker waits in one poll() for everything that can happen: room in standard input,
 * bytes on standard output or standard error, the end of the process (a pidfd), and a word from
 * somebody who wants it to stop. So a child that writes before it reads cannot block both sides, a
 * child that closes its output goes on being watched, and a grandchild that keeps the pipes open
 * does not keep the worker: when the process itself has ended, what lies in the pipes is taken and
 * the rest is left to whoever writes it.
 *
 * The child leads a process group of its own, and signals go to the group. The group's number is
 * the child's process id; it is signalled only while the pidfd says that the child has not ended.
 */
#include "irisd-process.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gunixinputstream.h>
#include <gio/gunixoutputstream.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHUNK (64 * 1024)

enum
{
  IN,
  OUT,
  ERR,
  END,
  WAKE,
  N_FDS
};

typedef struct
{
  const IrisdProcessPlan *plan;
  IrisdProcessEnd *end;
  GSubprocess *subprocess;
  pid_t pid;
  struct pollfd fds[N_FDS];
  gsize written;
  gint64 kill_at_us; /* 0: nobody asked it to end */
  gboolean killed;
} Process;

/* What fork has copied and the child needs; nothing in set_up_child() allocates. */
typedef struct
{
  const cpu_set_t *cpus;
  const struct rlimit *file_limit;
  pid_t parent;
} ChildSetup;

/* Runs between fork and exec: only functions that are safe there. */
static void
set_up_child (gpointer data)
{
  const ChildSetup *setup = data;
  setpgid (0, 0);

  /* irisd's threads block the signals that end it; a command must not inherit that. */
  sigset_t none;
  sigemptyset (&none);
  sigprocmask (SIG_SETMASK, &none, NULL);
  signal (SIGPIPE, SIG_DFL);

  if (setup->file_limit != NULL)
    setrlimit (RLIMIT_NOFILE, setup->file_limit);
  if (setup->cpus != NULL)
    sched_setaffinity (0, sizeof *setup->cpus, setup->cpus);

  /* Should irisd be killed, its commands go with it. It may have happened already. */
  prctl (PR_SET_PDEATHSIG, SIGKILL);
  if (getppid () != setup->parent)
    _exit (127);
}

static int
stream_fd (gpointer stream)
{
  if (G_IS_UNIX_OUTPUT_STREAM (stream))
    return g_unix_output_stream_get_fd (stream);
  return g_unix_input_stream_get_fd (stream);
}

static void
watch (Process *self, int slot, int fd, short events)
{
  if (slot <= ERR)
    fcntl (fd, F_SETFL, fcntl (fd, F_GETFL) | O_NONBLOCK);
  self->fds[slot] = (struct pollfd){ .fd = fd, .events = events };
}

static gboolean
start (Process *self, GError **error)
{
  ChildSetup setup = { .cpus = self->plan->cpus,
                       .file_limit = self->plan->file_limit,
                       .parent = getpid () };
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (
      G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE
      | G_SUBPROCESS_FLAGS_STDERR_PIPE);
  g_subprocess_launcher_set_child_setup (launcher, set_up_child, &setup, NULL);
  self->subprocess = g_subprocess_launcher_spawnv (launcher, self->plan->argv, error);
  if (self->subprocess == NULL)
    return FALSE;

  const char *id = g_subprocess_get_identifier (self->subprocess);
  self->pid = id != NULL ? (pid_t) g_ascii_strtoll (id, NULL, 10) : 0;
  watch (self, IN, stream_fd (g_subprocess_get_stdin_pipe (self->subprocess)), POLLOUT);
  watch (self, OUT, stream_fd (g_subprocess_get_stdout_pipe (self->subprocess)), POLLIN);
  watch (self, ERR, stream_fd (g_subprocess_get_stderr_pipe (self->subprocess)), POLLIN);
  watch (self, WAKE, self->plan->wake_fd, POLLIN);

  /* No id, or no such process: it has ended and was reaped already. */
  int pidfd = self->pid > 0 ? (int) syscall (SYS_pidfd_open, self->pid, 0) : -1;
  watch (self, END, pidfd, POLLIN);
  if (pidfd >= 0 || self->pid == 0 || errno == ESRCH)
    return TRUE;

  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno),
               "its end cannot be watched (pidfd_open): %s", g_strerror (errno));
  g_subprocess_force_exit (self->subprocess);
  g_clear_object (&self->subprocess);
  return FALSE;
}

static void
close_input (Process *self)
{
  if (self->fds[IN].fd < 0)
    return;
  self->fds[IN].fd = -1;
  g_output_stream_close (g_subprocess_get_stdin_pipe (self->subprocess), NULL, NULL);
}

static void
feed (Process *self)
{
  while (self->written < self->plan->input_size)
    {
      ssize_t n = write (self->fds[IN].fd, self->plan->input + self->written,
                         MIN (CHUNK, self->plan->input_size - self->written));
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0 && errno == EAGAIN)
        return;
      if (n < 0) /* the child does not want the rest */
        break;
      self->written += (gsize) n;
    }
  close_input (self);
}

static void
keep (Process *self, GByteArray *array, const guint8 *data, gsize size)
{
  gsize room = self->plan->max_output - self->end->out->len - self->end->err->len;
  if (size > room)
    {
      size = room;
      self->end->truncated = TRUE;
    }
  g_byte_array_append (array, data, (guint) size);
}

static void
take_output (Process *self, int slot, GByteArray *array)
{
  guint8 chunk[CHUNK];
  ssize_t n = read (self->fds[slot].fd, chunk, sizeof chunk);
  if (n > 0)
    keep (self, array, chunk, (gsize) n);
  else if (n == 0 || (errno != EINTR && errno != EAGAIN))
    self->fds[slot].fd = -1;
}

/* What lies in the pipe now; not what a process that lives on goes on to write. */
static void
take_rest (Process *self, int slot, GByteArray *array)
{
  int waiting = 0;
  if (self->fds[slot].fd < 0 || ioctl (self->fds[slot].fd, FIONREAD, &waiting) != 0)
    return;
  for (int turns = waiting / CHUNK + 1; turns > 0 && self->fds[slot].fd >= 0; turns--)
    take_output (self, slot, array);
}

static void
signal_group (Process *self, int signal_number)
{
  if (self->fds[END].fd >= 0 && self->pid > 0)
    kill (-self->pid, signal_number);
}

static void
stop_if_told (Process *self)
{
  if (!self->plan->must_stop (self->plan->user_data))
    return;
  gint64 now = g_get_monotonic_time ();
  if (self->kill_at_us == 0)
    {
      self->end->stopped = TRUE;
      self->kill_at_us = now + (gint64) self->plan->kill_grace_ms * 1000;
      signal_group (self, SIGTERM);
      /* One that is stopped by job control has to go on to see the signal. */
      signal_group (self, SIGCONT);
    }
  if (!self->killed
      && (now >= self->kill_at_us || self->plan->must_stop_now (self->plan->user_data)))
    {
      self->killed = TRUE;
      signal_group (self, SIGKILL);
    }
}

static int
time_left_ms (Process *self)
{
  if (self->kill_at_us == 0 || self->killed)
    return -1;
  gint64 left = self->kill_at_us - g_get_monotonic_time ();
  return (int) CLAMP (left / 1000 + 1, 0, G_MAXINT);
}

static void
watch_until_end (Process *self)
{
  while (self->fds[END].fd >= 0)
    {
      stop_if_told (self);
      int n = poll (self->fds, N_FDS, time_left_ms (self));
      if (n < 0 && errno != EINTR)
        g_error ("poll failed: %s", g_strerror (errno));
      if (n <= 0)
        continue;
      if (self->fds[WAKE].revents != 0)
        {
          guint64 wakes;
          ssize_t got = read (self->plan->wake_fd, &wakes, sizeof wakes);
          (void) got;
        }
      if (self->fds[IN].fd >= 0 && self->fds[IN].revents != 0)
        feed (self);
      if (self->fds[OUT].fd >= 0 && self->fds[OUT].revents != 0)
        take_output (self, OUT, self->end->out);
      if (self->fds[ERR].fd >= 0 && self->fds[ERR].revents != 0)
        take_output (self, ERR, self->end->err);
      if (self->fds[END].revents != 0)
        {
          close (self->fds[END].fd);
          self->fds[END].fd = -1;
        }
    }
}

/**
 * irisd_process_run:
 * @plan: what to run
 * @end: (out caller-allocates): what came of it
 * @error: return location for the error of g_subprocess_launcher_spawnv()
 *
 * Runs a process and waits for its end. Any thread may call this.
 *
 * Returns: whether the process could be started
 */
gboolean
irisd_process_run (const IrisdProcessPlan *plan, IrisdProcessEnd *end, GError **error)
{
  *end = (IrisdProcessEnd){ .exit_status = -1 };
  Process self = { .plan = plan, .end = end };
  if (!start (&self, error))
    return FALSE;
  end->out = g_byte_array_new ();
  end->err = g_byte_array_new ();

  watch_until_end (&self);
  take_rest (&self, OUT, end->out);
  take_rest (&self, ERR, end->err);
  close_input (&self);
  g_subprocess_wait (self.subprocess, NULL, NULL);
  if (g_subprocess_get_if_exited (self.subprocess))
    end->exit_status = g_subprocess_get_exit_status (self.subprocess);
  else
    end->signal = g_subprocess_get_term_sig (self.subprocess);
  g_object_unref (self.subprocess);
  return TRUE;
}

void
irisd_process_end_clear (IrisdProcessEnd *end)
{
  g_clear_pointer (&end->out, g_byte_array_unref);
  g_clear_pointer (&end->err, g_byte_array_unref);
}
