/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Private servers: each in a directory of its own, on a socket of its own, gone with the benchmark.
 */
#include "tests/bench/daemon/bench-daemon.h"

#include <arpa/inet.h>
#include <errno.h>
#include <glib-unix.h>
#include <glib/gstdio.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

#define READY_FD    3
#define PATIENCE_US (60 * G_USEC_PER_SEC)

/* Items held back in the queue must not be refused: the row measures memory, not the limits.
 */
static const char deep_config[] = "[limits]\n"
                                  "total-items=4000000\n"
                                  "total-bytes=17179869184\n"
                                  "persistent-items=4000000\n";

typedef struct
{
  const char *name;
  const char *program;
  gboolean is_slow;
} Kind;

static const Kind kinds[BENCH_N_SERVERS] = {
  [BENCH_SERVER_IRISD] = { "irisd", "irisd", FALSE },
  [BENCH_SERVER_IRISD_TCP] = { "irisd", "irisd", FALSE },
  [BENCH_SERVER_IRISD_CURVE] = { "irisd, encrypted", "irisd", FALSE },
  [BENCH_SERVER_IRISD_WATCHED] = { "irisd, watched", "irisd", FALSE },
  [BENCH_SERVER_IRISD_SLOW] = { "irisd", "irisd", TRUE },
  [BENCH_SERVER_IRISD_DEEP] = { "irisd", "irisd", FALSE },
  [BENCH_SERVER_BEANSTALKD] = { "beanstalkd", "beanstalkd", FALSE },
  [BENCH_SERVER_BEANSTALKD_SYNC] = { "beanstalkd -f0", "beanstalkd", FALSE },
  [BENCH_SERVER_BEANSTALKD_SLOW] = { "beanstalkd -f0", "beanstalkd", TRUE },
  [BENCH_SERVER_BEANSTALKD_MEMORY] = { "beanstalkd, no log", "beanstalkd", FALSE },
  [BENCH_SERVER_GEARMAND] = { "gearmand", "gearmand", FALSE },
  [BENCH_SERVER_ZEROMQ] = { "zeromq", NULL, FALSE },
};

const char *
bench_server_name (BenchServerKind kind)
{
  return kinds[kind].name;
}

/* --- what is there ---------------------------------------------------------------------------- */

static char *
own_program (void)
{
  return g_file_read_link ("/proc/self/exe", NULL);
}

/* A file of the build tree, seen from this program; else where it is installed. */
static char *
find_beside (const char *relative, const char *installed)
{
  g_autofree char *self = own_program ();
  g_autofree char *folder = self != NULL ? g_path_get_dirname (self) : g_strdup (".");
  g_autofree char *path = g_build_filename (folder, relative, NULL);

  if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
    return g_steal_pointer (&path);

  return installed != NULL && g_file_test (installed, G_FILE_TEST_IS_REGULAR) ? g_strdup (installed)
                                                                              : NULL;
}

static char *
find_slow_sync (void)
{
  return find_beside ("slow-sync.so", BENCH_LIBDIR "/slow-sync.so");
}

char *
bench_server_find_web (void)
{
  char *path = find_beside ("../../clients/web/irisd-web", NULL);

  if (path == NULL)
    path = find_beside ("irisd-web", NULL);

  return path != NULL ? path : g_find_program_in_path ("irisd-web");
}

static char *
find_program (BenchServerKind kind, const BenchOptions *options)
{
  const char *name = kinds[kind].program;
  g_autofree char *sbin = NULL;
  char *path;

  if (name == NULL)
    return own_program ();
  if (g_str_equal (name, "irisd"))
    {
      if (options->irisd != NULL)
        return g_strdup (options->irisd);
      path = find_beside ("../../daemon/irisd", NULL);
      if (path == NULL)
        path = find_beside ("irisd", NULL);
      return path != NULL ? path : g_find_program_in_path (name);
    }
  path = g_find_program_in_path (name);
  sbin = g_build_filename ("/usr/sbin", name, NULL);

  return path != NULL ? path : g_find_program_in_path (sbin);
}

/* Whether it can be started; @why: what is missing. */
gboolean
bench_server_is_there (BenchServerKind kind, const BenchOptions *options, char **why)
{
  g_autofree char *program = find_program (kind, options);
  g_autofree char *shim = find_slow_sync ();
  g_autofree char *web = bench_server_find_web ();

  if (kind == BENCH_SERVER_IRISD_WATCHED && web == NULL)
    *why = g_strdup ("irisd-web is not installed");
  else if (program == NULL)
    *why = g_strdup_printf ("%s is not installed", kinds[kind].program);
  else if (kinds[kind].is_slow && shim == NULL)
    *why = g_strdup ("slow-sync.so, which slows the disk down, is not there");
  else
    return TRUE;

  return FALSE;
}

/* --- starting --------------------------------------------------------------------------------- */

/* It is not stopped by the terminal before the benchmark either. */
void
bench_server_set_up_child (gpointer data)
{
  prctl (PR_SET_PDEATHSIG, SIGKILL);
  setpgid (0, 0);
  bench_tidy_in_child ();
}

/* A key for irisd and one for all clients. The client's three keys wait in the endpoint until irisd
 * names its port. Returns irisd's configuration. */
static char *
make_keys (BenchServer *self)
{
  char server[41], server_secret[41], client[41], client_secret[41];
  g_autofree char *server_file = g_build_filename (self->dir, "server.key", NULL);
  g_autofree char *folder = g_build_filename (self->dir, "keys.d", NULL);
  g_autofree char *client_file = g_build_filename (folder, "bench.key", NULL);

  zmq_curve_keypair (server, server_secret);
  zmq_curve_keypair (client, client_secret);
  g_autofree char *secret = g_strdup_printf ("[key]\nsecret=%s\n", server_secret);
  g_autofree char *public = g_strdup_printf ("[key]\npublic=%s\nowner=8589934592\nroles=submit\n",
                                             client);
  g_mkdir (folder, 0700);
  g_file_set_contents_full (server_file, secret, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, NULL);
  g_file_set_contents_full (client_file, public, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, NULL);
  g_free (self->keys);
  self->keys = g_strdup_printf (" %s %s %s", server, client, client_secret);

  return g_strdup_printf ("[irisd]\ntcp=127.0.0.1:0\nserver-key=%s\n", server_file);
}

static void
add_irisd (BenchServer *self, GStrvBuilder *argv, const BenchOptions *options)
{
  g_autofree char *config = g_build_filename (self->dir, "irisd.conf", NULL);
  g_autofree char *sockets = g_build_filename (self->dir, "s", NULL);
  g_autofree char *journal = g_build_filename (self->dir, "journal", NULL);
  g_autofree char *workers = g_strdup_printf ("%u", options->workers);
  g_autofree char *text = self->kind == BENCH_SERVER_IRISD_DEEP ? g_strdup (deep_config)
                          : self->kind == BENCH_SERVER_IRISD_TCP
                              ? g_strdup ("[irisd]\ntcp=127.0.0.1:0\n")
                          : self->kind == BENCH_SERVER_IRISD_CURVE ? make_keys (self)
                                                                   : g_strdup ("");

  g_file_set_contents (config, text, -1, NULL);
  g_strv_builder_add_many (argv, "--config", config, "--dir", sockets, "--journal", journal,
                           "--workers", workers, "--ready-fd", G_STRINGIFY (READY_FD), NULL);
  g_free (self->endpoint);
  self->endpoint = g_strdup_printf ("ipc://%s/front.ipc", sockets);
}

static void
add_beanstalkd (BenchServer *self, GStrvBuilder *argv)
{
  g_autofree char *path = g_build_filename (self->dir, "socket", NULL);
  g_autofree char *listen_at = g_strconcat ("unix:", path, NULL);

  g_strv_builder_add_many (argv, "-l", listen_at, NULL);
  if (self->kind != BENCH_SERVER_BEANSTALKD_MEMORY)
    g_strv_builder_add_many (argv, "-b", self->dir, NULL);
  if (self->kind == BENCH_SERVER_BEANSTALKD_SYNC || self->kind == BENCH_SERVER_BEANSTALKD_SLOW)
    g_strv_builder_add (argv, "-f0");
  self->endpoint = g_steal_pointer (&path);
}

/* A port that was free a moment ago; 0 if there is none. */
static guint
find_port (void)
{
  struct sockaddr_in address = { .sin_family = AF_INET,
                                 .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
  socklen_t size = sizeof address;
  int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  gboolean good = fd >= 0 && bind (fd, (struct sockaddr *) &address, size) == 0
                  && getsockname (fd, (struct sockaddr *) &address, &size) == 0;

  if (fd >= 0)
    close (fd);

  return good ? ntohs (address.sin_port) : 0;
}

static void
add_gearmand (BenchServer *self, GStrvBuilder *argv)
{
  g_autofree char *port = g_strdup_printf ("--port=%u", find_port ());
  g_autofree char *log = g_build_filename (self->dir, "log", NULL);
  g_autofree char *log_file = g_strconcat ("--log-file=", log, NULL);

  g_strv_builder_add_many (argv, "--listen=127.0.0.1", port, log_file, NULL);
  self->endpoint = g_strdup (strchr (port, '=') + 1);
}

static char **
build_argv (BenchServer *self, const BenchOptions *options)
{
  g_autoptr (GStrvBuilder) argv = g_strv_builder_new ();
  g_autofree char *program = find_program (self->kind, options);

  g_strv_builder_add (argv, program);
  if (self->kind <= BENCH_SERVER_IRISD_DEEP)
    add_irisd (self, argv, options);
  else if (self->kind <= BENCH_SERVER_BEANSTALKD_MEMORY)
    add_beanstalkd (self, argv);
  else if (self->kind == BENCH_SERVER_GEARMAND)
    add_gearmand (self, argv);
  else
    {
      self->endpoint = g_strdup_printf ("ipc://%s/echo.ipc", self->dir);
      g_strv_builder_add_many (argv, "--child=bare-echo", self->endpoint, NULL);
    }

  return g_strv_builder_end (argv);
}

static char *
log_path (const BenchServer *self)
{
  return g_build_filename (self->dir, "stderr", NULL);
}

static void
fail_to_start (BenchServer *self, GError **error)
{
  g_autofree char *log = log_path (self);
  g_autofree char *text = NULL;

  g_file_get_contents (log, &text, NULL, NULL);
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_MACHINE, "%s did not start; it says: %s",
               bench_server_name (self->kind), text != NULL ? g_strchomp (text) : "nothing");
}

/* irisd says so, with its endpoints: that of TCP comes last. It closes the pipe if it gives up. */
static gboolean
wait_until_told (BenchServer *self, int fd, GError **error)
{
  g_autoptr (GString) line = g_string_new (NULL);
  const char *tcp;
  char c = 0;

  while (c != '\n' && read (fd, &c, 1) == 1)
    g_string_append_c (line, c);
  g_strchomp (line->str);
  tcp = strstr (line->str, "tcp://");
  if (tcp != NULL)
    {
      g_free (self->endpoint);
      self->endpoint = g_strconcat (tcp, self->keys, NULL);
    }
  if (c == '\n' && *line->str != '\0')
    return TRUE;
  fail_to_start (self, error);

  return FALSE;
}

/* Other servers do not say so: they are ready when they accept a connection. */
static gboolean
wait_until_open (BenchServer *self, GError **error)
{
  gint64 begin = g_get_monotonic_time ();

  if (self->kind == BENCH_SERVER_ZEROMQ) /* ZeroMQ's clients wait for it by themselves */
    return TRUE;
  for (;;)
    {
      g_autoptr (BenchStream) stream = bench_stream_new (self->endpoint, NULL);

      if (stream != NULL)
        return TRUE;
      if (g_get_monotonic_time () - begin > PATIENCE_US)
        {
          fail_to_start (self, error);
          return FALSE;
        }
      sched_yield ();
    }
}

/* One that has ended by now has none. */
static pid_t
get_pid (BenchServer *self)
{
  const char *pid = g_subprocess_get_identifier (self->process);

  return pid != NULL ? (pid_t) g_ascii_strtoll (pid, NULL, 10) : 0;
}

static gboolean
spawn (BenchServer *self, const BenchOptions *options, GError **error)
{
  g_auto (GStrv) argv = build_argv (self, options);
  g_autoptr (GSubprocessLauncher)
      launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_SILENCE);
  g_autofree char *log = log_path (self);
  gboolean tells = self->kind <= BENCH_SERVER_IRISD_DEEP, good;
  int fds[2] = { -1, -1 };

  if (tells && !g_unix_open_pipe (fds, FD_CLOEXEC, error))
    return FALSE;
  if (kinds[self->kind].is_slow)
    {
      g_autofree char *shim = find_slow_sync ();

      g_subprocess_launcher_setenv (launcher, "LD_PRELOAD", shim, TRUE);
    }
  g_subprocess_launcher_set_child_setup (launcher, bench_server_set_up_child, NULL, NULL);
  g_subprocess_launcher_set_stderr_file_path (launcher, log);
  if (tells)
    g_subprocess_launcher_take_fd (launcher, fds[1], READY_FD);
  self->process = g_subprocess_launcher_spawnv (launcher, (const char *const *) argv, error);
  g_subprocess_launcher_close (launcher);
  if (self->process != NULL)
    bench_tidy_set_server (self->dir, get_pid (self));
  if (self->process == NULL)
    good = FALSE;
  else
    good = tells ? wait_until_told (self, fds[0], error) : wait_until_open (self, error);
  if (fds[0] >= 0)
    close (fds[0]);

  return good;
}

BenchServer *
bench_server_start (BenchServerKind kind, const BenchOptions *options, GError **error)
{
  BenchServer *self = g_new0 (BenchServer, 1);

  self->kind = kind;
  self->dir = bench_tidy_make_dir ("iris-bench-XXXXXX", error);
  if (self->dir == NULL || !spawn (self, options, error))
    g_clear_pointer (&self, bench_server_free);

  return self;
}

static void
kill_process (BenchServer *self)
{
  if (self->process == NULL)
    return;
  g_subprocess_force_exit (self->process);
  g_subprocess_wait (self->process, NULL, NULL);
  bench_tidy_set_server (self->dir, 0);
  g_clear_object (&self->process);
}

/* Kills irisd where it stands, and starts it in the same directory; @seconds: from there until it
 * lets clients in. */
gboolean
bench_server_kill_and_restart (BenchServer *self,
                               const BenchOptions *options,
                               gdouble *seconds,
                               GError **error)
{
  gint64 begin;
  gboolean good;

  kill_process (self);
  begin = g_get_monotonic_time ();
  good = spawn (self, options, error);
  *seconds = (gdouble) (g_get_monotonic_time () - begin) / G_USEC_PER_SEC;

  return good;
}

/* Of a process, in bytes. */
gboolean
bench_server_get_resident (BenchServer *self, gdouble *bytes, GError **error)
{
  g_autofree char *file = g_strdup_printf ("/proc/%s/status",
                                           g_subprocess_get_identifier (self->process));
  g_autofree char *text = NULL;
  const char *line;

  if (!g_file_get_contents (file, &text, NULL, error))
    return FALSE;
  line = strstr (text, "VmRSS:");
  *bytes = line != NULL ? g_ascii_strtod (line + strlen ("VmRSS:"), NULL) * 1024 : 0;

  return TRUE;
}

void
bench_server_free (BenchServer *self)
{
  kill_process (self);
  if (self->dir != NULL)
    bench_tidy_remove_dir (self->dir);
  g_free (self->dir);
  g_free (self->endpoint);
  g_free (self->keys);
  g_free (self);
}
