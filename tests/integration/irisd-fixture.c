/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A private irisd for one test.
 */
#include "irisd-fixture.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define READY_FD 3

/* In the child. A test that fails leaves by a jump; its irisd must not stay behind. A shell that
 * starts the tests in the background has them ignore SIGINT and SIGQUIT. */
void
die_with_test (gpointer data)
{
  prctl (PR_SET_PDEATHSIG, SIGKILL);
  for (int number = 1; number < SIGRTMIN; number++)
    signal (number, SIG_DFL);
}

static char *asan_options; /* of the test itself */
static char *shim_variable;

/* Loads @library into each irisd that starts from now on, with an environment variable for it. */
void
shim_load (const char *library, const char *variable, const char *value)
{
  const char *given = g_getenv ("ASAN_OPTIONS");
  asan_options = g_strdup (given != NULL ? given : "");
  shim_variable = g_strdup (variable);
  /* Sanitizers want to be first in the list; that they are behind the shim does no harm. */
  g_autofree char *options = g_strconcat (asan_options, ":verify_asan_link_order=0", NULL);
  g_setenv ("LD_PRELOAD", library, TRUE);
  g_setenv ("ASAN_OPTIONS", options, TRUE);
  g_setenv (variable, value, TRUE);
}

void
shim_unload (void)
{
  g_unsetenv ("LD_PRELOAD");
  g_unsetenv (shim_variable);
  g_setenv ("ASAN_OPTIONS", asan_options, TRUE);
  g_clear_pointer (&asan_options, g_free);
  g_clear_pointer (&shim_variable, g_free);
}

/* Starts irisd in @dir, where its log is the file `log`; @config is the text of its configuration
 * file or NULL. It writes to @ready_fd, which is closed here. */
GSubprocess *
irisd_spawn (const char *dir, const char *config, const char *const *options, int ready_fd)
{
  g_autofree char *config_path = g_strdup_printf ("%s.conf", dir);
  g_autofree char *log_path = g_strdup_printf ("%s.log", dir);
  /* Configuration for a whole program. Two groups of one name are one group. */
  const char *more = g_getenv ("IRISD_TEST_CONFIG");
  g_autofree char *text = g_strconcat (config != NULL ? config : "", more, NULL);
  ck_assert (g_file_set_contents (config_path, text, -1, NULL));

  g_autoptr (GStrvBuilder) argv = g_strv_builder_new ();
  ck_assert_ptr_nonnull (g_getenv ("IRISD"));
  g_strv_builder_add_many (argv, g_getenv ("IRISD"), "--dir", dir, "--config", config_path, NULL);
  if (g_getenv ("IRISD_HOLD_PLUGIN") != NULL)
    g_strv_builder_add_many (argv, "--plugin", g_getenv ("IRISD_HOLD_PLUGIN"), NULL);
  if (ready_fd >= 0)
    g_strv_builder_add_many (argv, "--ready-fd", G_STRINGIFY (READY_FD), NULL);
  g_strv_builder_addv (argv, (const char **) options);
  g_auto (GStrv) words = g_strv_builder_end (argv);

  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_NONE);
  g_subprocess_launcher_set_child_setup (launcher, die_with_test, NULL, NULL);
  g_subprocess_launcher_set_stderr_file_path (launcher, log_path);
  g_subprocess_launcher_set_stdout_file_path (launcher, "/dev/null");
  if (ready_fd >= 0)
    g_subprocess_launcher_take_fd (launcher, ready_fd, READY_FD);
  g_autoptr (GError) error = NULL;
  GSubprocess *process = g_subprocess_launcher_spawnv (launcher, (const char *const *) words,
                                                       &error);
  ck_assert_msg (process != NULL, "cannot start irisd: %s", error != NULL ? error->message : "");
  return process;
}

/* Reads "ready ENDPOINT [ENDPOINT]"; an irisd that fails to start closes the pipe. */
static void
wait_until_ready (Irisd *self, int fd)
{
  char line[1024];
  gsize n = 0;
  while (n < sizeof line - 1 && read (fd, line + n, 1) == 1 && line[n] != '\n')
    n++;
  line[n] = '\0';
  close (fd);
  g_autofree char *log = n == 0 ? irisd_read_log (self) : NULL;
  ck_assert_msg (n > 0, "irisd did not become ready: %s", log);

  g_auto (GStrv) words = g_strsplit (line, " ", -1);
  ck_assert_str_eq (words[0], "ready");
  self->front = g_strdup (words[1]);
  self->tcp = g_strdup (words[2]);
}

static Irisd *
start (const char *dir, const char *config, const char *const *options, int ready_fd)
{
  Irisd *self = g_new0 (Irisd, 1);
  self->dir = g_strdup (dir);
  self->process = irisd_spawn (dir, config, options, ready_fd);
  /* An irisd that has ended has none. */
  const char *pid = g_subprocess_get_identifier (self->process);
  self->pid = pid != NULL ? (pid_t) g_ascii_strtoll (pid, NULL, 10) : 0;
  return self;
}

Irisd *
irisd_start_in (const char *dir, const char *config, const char *const *options)
{
  int ready[2];
  ck_assert_int_eq (pipe2 (ready, O_CLOEXEC), 0);
  Irisd *self = start (dir, config, options, ready[1]);
  wait_until_ready (self, ready[0]);
  return self;
}

/* Starts an irisd in a directory of its own, with options ended by NULL; returns once it is ready.
 * @config is the text of its configuration file or NULL. */
Irisd *
irisd_start (const char *config, ...)
{
  g_autoptr (GPtrArray) options = g_ptr_array_new ();
  va_list args;
  va_start (args, config);
  for (char *option; (option = va_arg (args, char *)) != NULL;)
    g_ptr_array_add (options, option);
  va_end (args);
  g_ptr_array_add (options, NULL);

  g_autofree char *base = g_dir_make_tmp ("irisd-XXXXXX", NULL);
  ck_assert_ptr_nonnull (base);
  g_autofree char *dir = g_build_filename (base, "d", NULL);
  return irisd_start_in (dir, config, (const char *const *) options->pdata);
}

void
irisd_signal (Irisd *self, int signal_number)
{
  g_subprocess_send_signal (self->process, signal_number);
}

/* Stops it by SIGSTOP, until SIGCONT, and waits until all of its threads have stopped: before that
 * it would still answer. */
void
irisd_pause (Irisd *self)
{
  siginfo_t info;
  irisd_signal (self, SIGSTOP);
  ck_assert_int_eq (waitid (P_PID, (id_t) self->pid, &info, WSTOPPED | WNOWAIT), 0);
}

/* Waits for irisd to end. Returns its exit status, or minus the signal that killed it. */
int
irisd_wait (Irisd *self)
{
  struct pollfd end = { .fd = (int) syscall (SYS_pidfd_open, self->pid, 0), .events = POLLIN };
  if (end.fd >= 0)
    {
      /* Only a hang takes that long; the test then fails instead of hanging. */
      if (poll (&end, 1, GIVE_UP_MS) == 0)
        irisd_signal (self, SIGKILL);
      close (end.fd);
    }
  ck_assert (g_subprocess_wait (self->process, NULL, NULL));
  if (g_subprocess_get_if_exited (self->process))
    return g_subprocess_get_exit_status (self->process);
  return -g_subprocess_get_term_sig (self->process);
}

void
irisd_remove_all (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  for (const char *name; dir != NULL && (name = g_dir_read_name (dir)) != NULL;)
    {
      g_autofree char *child = g_build_filename (path, name, NULL);
      if (g_file_test (child, G_FILE_TEST_IS_DIR) && !g_file_test (child, G_FILE_TEST_IS_SYMLINK))
        irisd_remove_all (child);
      else
        g_unlink (child);
    }
  g_rmdir (path);
}

/* Removes the files of an irisd that has ended. */
void
irisd_free (Irisd *self)
{
  g_autofree char *base = g_path_get_dirname (self->dir);
  irisd_remove_all (base);
  irisd_release (self);
}

/* Leaves the files of an irisd that has ended. */
void
irisd_release (Irisd *self)
{
  g_object_unref (self->process);
  g_free (self->dir);
  g_free (self->front);
  g_free (self->tcp);
  g_free (self);
}

/* Ends an irisd that has no items, and asserts that it ends well. */
void
irisd_finish (Irisd *self)
{
  irisd_signal (self, SIGTERM);
  int status = irisd_wait (self);
  if (status != 0)
    {
      /* Too long for an assertion's message if a sanitizer has written to it. */
      g_autofree char *log = irisd_read_log (self);
      g_printerr ("%s", log);
    }
  ck_assert_int_eq (status, 0);
  irisd_free (self);
}

/* Returns the output of an irisd that fails to start with that exit status, or minus a signal. */
char *
irisd_fail_to_start (const char *config, int *status)
{
  g_autofree char *base = g_dir_make_tmp ("irisd-XXXXXX", NULL);
  ck_assert_ptr_nonnull (base);
  g_autofree char *dir = g_build_filename (base, "d", NULL);
  Irisd *self = start (dir, config, (const char *const[]){ ONE_WORKER, NULL }, -1);
  *status = irisd_wait (self);
  char *log = irisd_read_log (self);
  irisd_free (self);
  return log;
}

char *
irisd_read_log (Irisd *self)
{
  g_autofree char *path = g_strdup_printf ("%s.log", self->dir);
  char *text = NULL;
  return g_file_get_contents (path, &text, NULL, NULL) ? text : g_strdup ("(no log)");
}

char *
irisd_place_endpoint (Irisd *self, guint place)
{
  return iris_wire_endpoint_place (self->dir, place);
}

static guint64
read_memory_kib (Irisd *self, const char *what)
{
  g_autofree char *path = g_strdup_printf ("/proc/%ld/status", (long) self->pid);
  g_autofree char *text = NULL;
  ck_assert (g_file_get_contents (path, &text, NULL, NULL));
  const char *line = strstr (text, what);
  ck_assert_ptr_nonnull (line);
  return g_ascii_strtoull (line + strlen (what) + strspn (line + strlen (what), " \t"), NULL, 10);
}

guint64
irisd_get_rss_kib (Irisd *self)
{
  return read_memory_kib (self, "VmRSS:");
}

guint64
irisd_get_peak_rss_kib (Irisd *self)
{
  return read_memory_kib (self, "VmHWM:");
}

char *
gate_new (Irisd *irisd, const char *name)
{
  char *path = g_strdup_printf ("%s.%s", irisd->dir, name);
  ck_assert_int_eq (mkfifo (path, 0600), 0);
  return path;
}

/* Waits for a reader, which then sees the end of the file. */
void
gate_open (const char *gate)
{
  int fd = open (gate, O_WRONLY | O_CLOEXEC);
  ck_assert_int_ge (fd, 0);
  close (fd);
}

/* Waits until a command writes to @gate, as it does once it runs. Returns the reading end. */
int
gate_wait (const char *gate)
{
  int fd = open (gate, O_RDONLY | O_CLOEXEC);
  ck_assert_int_ge (fd, 0);
  char byte;
  ck_assert_int_eq (read (fd, &byte, 1), 1);
  return fd;
}
