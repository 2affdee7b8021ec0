/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisd-web as a child of irisd: started, started again, ended.
 *
 * irisd does not depend on it: a thread of its own starts the program, puts its lines into the log,
 * and waits for its end. irisd-web is started again after a pause that doubles up to a minute. Its
 * standard input is a pipe of which irisd has the other end, so it ends with irisd, however that
 * ends (irisd-web --end-with-stdin).
 *
 * The thread sleeps in poll(2). Only irisd_web_process_stop() tells it something, by the eventfd;
 * the rest of @self is the thread's own until it is joined.
 */
#include "daemon/irisd-web-process.h"

#include "daemon/base/irisd-log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM          "irisd-web"
#define FIRST_PAUSE_MS   1000
#define LONGEST_PAUSE_MS 60000
#define TIME_TO_END_MS   2000
#define LONGEST_LINE     1024

struct _IrisdWebProcess
{
  GThread *thread;
  int stop_fd;
  char *path; /* of the program */
  char **args;
  pid_t pid;
  int pid_fd;
  int input;  /* irisd's end of its standard input; -1 while it does not run */
  int output; /* irisd's end of its standard output and error */
  GString *line;
  guint pause_ms;
};

/* Beside irisd itself, as both are installed and built; else where the shell finds it. */
static char *
find_program (void)
{
  g_autofree char *irisd = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *dir = irisd != NULL ? g_path_get_dirname (irisd) : NULL;
  char *beside = dir != NULL ? g_build_filename (dir, PROGRAM, NULL) : NULL;
  if (beside != NULL && g_file_test (beside, G_FILE_TEST_IS_EXECUTABLE))
    return beside;
  g_free (beside);
  char *found = g_find_program_in_path (PROGRAM);
  return found != NULL ? found : g_strdup (PROGRAM);
}

static gboolean
set_up_actions (posix_spawn_file_actions_t *actions, const int *input, const int *output)
{
  return posix_spawn_file_actions_init (actions) == 0
         && posix_spawn_file_actions_adddup2 (actions, input[0], STDIN_FILENO) == 0
         && posix_spawn_file_actions_adddup2 (actions, output[1], STDOUT_FILENO) == 0
         && posix_spawn_file_actions_adddup2 (actions, output[1], STDERR_FILENO) == 0;
}

/* In a group of its own, so that a signal of the terminal reaches irisd alone; with no signal
 * blocked. */
static int
spawn (IrisdWebProcess *self, const int *input, const int *output)
{
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  sigemptyset (&none);
  sigfillset (&all);
  posix_spawnattr_init (&attributes);
  posix_spawnattr_setsigmask (&attributes, &none);
  posix_spawnattr_setsigdefault (&attributes, &all);
  posix_spawnattr_setpgroup (&attributes, 0);
  posix_spawnattr_setflags (&attributes,
                            POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  int rc = set_up_actions (&actions, input, output)
               ? posix_spawn (&self->pid, self->path, &actions, &attributes, self->args, environ)
               : ENOMEM;
  posix_spawn_file_actions_destroy (&actions);
  posix_spawnattr_destroy (&attributes);
  return rc;
}

static gboolean
start_program (IrisdWebProcess *self)
{
  int input[2], output[2];
  if (pipe2 (input, O_CLOEXEC) != 0)
    return FALSE;
  if (pipe2 (output, O_CLOEXEC) != 0)
    {
      close (input[0]);
      close (input[1]);
      return FALSE;
    }
  errno = spawn (self, input, output);
  int error = errno;
  close (input[0]);
  close (output[1]);
  self->input = input[1];
  self->output = output[0];
  self->pid_fd = error == 0 ? (int) syscall (SYS_pidfd_open, self->pid, 0) : -1;
  if (self->pid_fd >= 0)
    return TRUE;
  error = error != 0 ? error : errno;
  close (self->input);
  close (self->output);
  self->input = self->output = -1;
  irisd_log (IRISD_LOG_WARNING,
             "%s cannot be started: %s; install it, or take [irisd] http and otlp away", self->path,
             g_strerror (error));
  return FALSE;
}

static void
log_line (IrisdWebProcess *self)
{
  static IrisdLogSite site;
  if (self->line->len > 0)
    irisd_log_limited (&site, IRISD_LOG_INFO, "%s", self->line->str);
  g_string_truncate (self->line, 0);
}

/* FALSE at the end of its output. */
static gboolean
take_output (IrisdWebProcess *self)
{
  char text[4096];
  ssize_t n = read (self->output, text, sizeof text);
  if (n <= 0)
    return n < 0 && errno == EINTR;
  for (ssize_t i = 0; i < n; i++)
    {
      if (text[i] == '\n' || self->line->len >= LONGEST_LINE)
        log_line (self);
      if (text[i] != '\n')
        g_string_append_c (self->line, g_ascii_iscntrl (text[i]) ? ' ' : text[i]);
    }
  return TRUE;
}

/* TRUE if irisd stops. */
static gboolean
wait_for_end (IrisdWebProcess *self)
{
  struct pollfd fds[] = {
    { .fd = self->stop_fd, .events = POLLIN },
    { .fd = self->pid_fd, .events = POLLIN },
    { .fd = self->output, .events = POLLIN },
  };
  while (fds[1].revents == 0)
    {
      if (poll (fds, G_N_ELEMENTS (fds), -1) < 0)
        continue;
      if (fds[2].revents != 0 && !take_output (self))
        fds[2].fd = -1;
      if (fds[0].revents != 0)
        return TRUE;
    }
  while (fds[2].fd >= 0 && poll (&fds[2], 1, 0) > 0 && take_output (self))
    ;
  return FALSE;
}

/* Closes its standard input, which ends it, and helps after a while. */
static void
end_program (IrisdWebProcess *self)
{
  struct pollfd end = { .fd = self->pid_fd, .events = POLLIN };
  close (self->input);
  self->input = -1;
  if (poll (&end, 1, TIME_TO_END_MS) <= 0)
    kill (self->pid, SIGKILL);
}

static void
clean_up (IrisdWebProcess *self, int *status)
{
  while (waitpid (self->pid, status, 0) < 0 && errno == EINTR)
    ;
  log_line (self);
  close (self->pid_fd);
  close (self->output);
  if (self->input >= 0)
    close (self->input);
  self->pid_fd = self->output = self->input = -1;
}

/* TRUE if irisd stops. */
static gboolean
pause_then_again (IrisdWebProcess *self)
{
  struct pollfd stop = { .fd = self->stop_fd, .events = POLLIN };
  int n = poll (&stop, 1, (int) self->pause_ms);
  self->pause_ms = MIN (2 * self->pause_ms, LONGEST_PAUSE_MS);
  return n > 0;
}

static void
log_end (IrisdWebProcess *self, int status)
{
  if (WIFSIGNALED (status))
    irisd_log (IRISD_LOG_WARNING, PROGRAM " ended by signal %d; it is started again in %u s",
               WTERMSIG (status), self->pause_ms / 1000);
  else
    irisd_log (IRISD_LOG_WARNING, PROGRAM " ended with status %d; it is started again in %u s",
               WEXITSTATUS (status), self->pause_ms / 1000);
}

static gpointer
run (gpointer data)
{
  IrisdWebProcess *self = data;
  gboolean stops = FALSE;
  while (!stops)
    {
      gint64 started = g_get_monotonic_time ();
      if (start_program (self))
        {
          int status = 0;
          stops = wait_for_end (self);
          if (stops)
            end_program (self);
          clean_up (self, &status);
          if (g_get_monotonic_time () - started > (gint64) LONGEST_PAUSE_MS * 1000)
            self->pause_ms = FIRST_PAUSE_MS;
          if (!stops)
            log_end (self, status);
        }
      stops = stops || pause_then_again (self);
    }
  return NULL;
}

IrisdWebProcess *
irisd_web_process_start (const IrisdConfig *config, const char *endpoint)
{
  if (config->http == NULL && config->otlp == NULL)
    return NULL;
  IrisdWebProcess *self = g_new0 (IrisdWebProcess, 1);
  g_autoptr (GPtrArray) args = g_ptr_array_new ();
  self->path = find_program ();
  const char *const own[] = { self->path, "--endpoint", endpoint, "--end-with-stdin" };
  for (guint i = 0; i < G_N_ELEMENTS (own); i++)
    g_ptr_array_add (args, g_strdup (own[i]));
  if (config->http != NULL)
    g_ptr_array_add (args, g_strdup_printf ("--http=%s", config->http));
  if (config->otlp != NULL)
    g_ptr_array_add (args, g_strdup_printf ("--otlp=%s", config->otlp));
  for (guint i = 0; config->http_options != NULL && config->http_options[i] != NULL; i++)
    g_ptr_array_add (args, g_strdup (config->http_options[i]));
  g_ptr_array_add (args, NULL);
  self->args = (char **) g_ptr_array_steal (args, NULL);
  self->pid_fd = self->input = self->output = -1;
  self->line = g_string_new (NULL);
  self->pause_ms = FIRST_PAUSE_MS;
  self->stop_fd = eventfd (0, EFD_CLOEXEC);
  if (self->stop_fd < 0)
    {
      irisd_log (IRISD_LOG_WARNING, PROGRAM " was not started: %s", g_strerror (errno));
      irisd_web_process_stop (self);
      return NULL;
    }
  self->thread = g_thread_new ("web-process", run, self);
  return self;
}

void
irisd_web_process_stop (IrisdWebProcess *self)
{
  guint64 one = 1;
  if (self->thread != NULL && write (self->stop_fd, &one, sizeof one) == sizeof one)
    g_thread_join (self->thread);
  if (self->stop_fd >= 0)
    close (self->stop_fd);
  g_string_free (self->line, TRUE);
  g_strfreev (self->args);
  g_free (self->path);
  g_free (self);
}
