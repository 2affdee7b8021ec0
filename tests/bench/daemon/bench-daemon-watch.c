/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An irisd that is watched: irisd-web beside it, scraped each second, and its state read by pages.
 */
#include "tests/bench/daemon/bench-daemon.h"

#include <errno.h>
#include <glib-unix.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define N_PAGES   10
#define SCRAPE_MS 1000
#define PATIENCE  60 /* seconds */

struct _BenchWatch
{
  GSubprocess *web;
  GInputStream *output; /* of irisd-web, which must not find it closed */
  guint16 port;
  GSocketConnection *pages[N_PAGES];
  GThread *thread;
  int stop;
  GError *error; /* of the thread, until it is joined */
};

/* A connection with a request sent. */
static GSocketConnection *
request (BenchWatch *self, const char *path, GError **error)
{
  g_autoptr (GSocketClient) client = g_socket_client_new ();
  g_autoptr (GSocketConnection) connection = NULL;
  g_autofree char *text = g_strdup_printf (
      "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);

  g_socket_client_set_timeout (client, PATIENCE);
  connection = g_socket_client_connect_to_host (client, "127.0.0.1", self->port, NULL, error);
  if (connection == NULL
      || !g_output_stream_write_all (g_io_stream_get_output_stream (G_IO_STREAM (connection)), text,
                                     strlen (text), NULL, NULL, error))
    return NULL;

  return g_steal_pointer (&connection);
}

/* What is there, and waits for the first of it; 0 at the end, -1 for an error. */
static gssize
read_some (GSocketConnection *connection, char *buffer, gsize size, GError **error)
{
  return g_input_stream_read (g_io_stream_get_input_stream (G_IO_STREAM (connection)), buffer, size,
                              NULL, error);
}

static gboolean
begins_well (const char *answer, gssize size, const char *path, GError **error)
{
  static const char well[] = "HTTP/1.1 200";

  if (size >= (gssize) strlen (well) && strncmp (answer, well, strlen (well)) == 0)
    return TRUE;
  if (error == NULL || *error == NULL)
    g_set_error (error, BENCH_ERROR, BENCH_ERROR_MACHINE, "irisd-web did not answer %s well", path);

  return FALSE;
}

static gboolean
scrape (BenchWatch *self, GError **error)
{
  g_autoptr (GSocketConnection) connection = request (self, "/metrics", error);
  g_autofree char *buffer = g_malloc (1 << 16);
  gssize n;

  if (connection == NULL)
    return FALSE;
  n = read_some (connection, buffer, 1 << 16, error);
  if (!begins_well (buffer, n, "/metrics", error))
    return FALSE;
  while (n > 0)
    n = read_some (connection, buffer, 1 << 16, error);

  return n == 0;
}

static gboolean
read_pages (BenchWatch *self, struct pollfd *fds, GError **error)
{
  char buffer[16384];

  for (guint i = 0; i < N_PAGES; i++)
    {
      gssize n = fds[i].revents != 0 ? read_some (self->pages[i], buffer, sizeof buffer, error) : 1;

      if (n > 0)
        continue;
      if (n == 0)
        g_set_error_literal (error, BENCH_ERROR, BENCH_ERROR_MACHINE, "irisd-web closed a page");
      return FALSE;
    }

  return TRUE;
}

static gpointer
watch (gpointer data)
{
  BenchWatch *self = data;
  struct pollfd fds[N_PAGES + 1];
  gint64 next = g_get_monotonic_time ();

  for (guint i = 0; i < N_PAGES; i++)
    fds[i].fd = g_socket_get_fd (g_socket_connection_get_socket (self->pages[i]));
  fds[N_PAGES].fd = self->stop;
  for (guint i = 0; i <= N_PAGES; i++)
    fds[i].events = POLLIN;
  for (;;)
    {
      gint64 left = (next - g_get_monotonic_time ()) / 1000;
      int n = poll (fds, N_PAGES + 1, (int) MAX (left, 0));

      if (n < 0 && errno != EINTR)
        {
          g_set_error (&self->error, BENCH_ERROR, BENCH_ERROR_MACHINE, "poll: %s",
                       g_strerror (errno));
          return NULL;
        }
      if (n > 0 && fds[N_PAGES].revents != 0)
        return NULL;
      if (n > 0 && !read_pages (self, fds, &self->error))
        return NULL;
      if (g_get_monotonic_time () < next)
        continue;
      next += SCRAPE_MS * 1000;
      if (!scrape (self, &self->error))
        return NULL;
    }
}

/* irisd-web names its port when it listens. */
static gboolean
wait_for_port (BenchWatch *self, GError **error)
{
  g_autoptr (GDataInputStream) lines = g_data_input_stream_new (self->output);

  g_filter_input_stream_set_close_base_stream (G_FILTER_INPUT_STREAM (lines), FALSE);
  for (;;)
    {
      g_autofree char *line = g_data_input_stream_read_line (lines, NULL, NULL, error);
      const char *colon = line != NULL ? strrchr (line, ':') : NULL;

      if (line == NULL)
        {
          if (error != NULL && *error == NULL)
            g_set_error_literal (error, BENCH_ERROR, BENCH_ERROR_MACHINE,
                                 "irisd-web did not start");
          return FALSE;
        }
      if (strstr (line, "listening at") == NULL || colon == NULL)
        continue;
      self->port = (guint16) g_ascii_strtoull (colon + 1, NULL, 10);
      return TRUE;
    }
}

static gboolean
open_pages (BenchWatch *self, GError **error)
{
  char buffer[16384];

  for (guint i = 0; i < N_PAGES; i++)
    {
      self->pages[i] = request (self, "/events", error);
      if (self->pages[i] == NULL
          || !begins_well (buffer, read_some (self->pages[i], buffer, sizeof buffer, error),
                           "/events", error))
        return FALSE;
    }

  return TRUE;
}

/* Beside the irisd at @endpoint, until bench_watch_stop(). */
BenchWatch *
bench_watch_start (const char *endpoint, GError **error)
{
  BenchWatch *self = g_new0 (BenchWatch, 1);
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (
      G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_MERGE);
  g_autofree char *program = bench_server_find_web ();

  self->stop = eventfd (0, EFD_CLOEXEC);
  g_subprocess_launcher_set_child_setup (launcher, bench_server_set_up_child, NULL, NULL);
  self->web = g_subprocess_launcher_spawn (launcher, error, program, "--http", "127.0.0.1:0",
                                           "--tokens", "/dev/null", "--endpoint", endpoint, NULL);
  if (self->web != NULL)
    self->output = g_subprocess_get_stdout_pipe (self->web);
  if (self->web == NULL || !wait_for_port (self, error) || !open_pages (self, error))
    {
      bench_watch_stop (self, NULL);
      return NULL;
    }
  self->thread = g_thread_new ("watch", watch, self);

  return self;
}

/* FALSE if it was not watched all the time. */
gboolean
bench_watch_stop (BenchWatch *self, GError **error)
{
  gboolean good;

  if (self->thread != NULL)
    {
      eventfd_write (self->stop, 1);
      g_thread_join (self->thread);
    }
  good = self->error == NULL;
  if (!good)
    g_propagate_error (error, self->error);
  for (guint i = 0; i < N_PAGES; i++)
    g_clear_object (&self->pages[i]);
  if (self->web != NULL)
    {
      g_subprocess_force_exit (self->web);
      g_subprocess_wait (self->web, NULL, NULL);
      g_object_unref (self->web);
    }
  close (self->stop);
  g_free (self);

  return good;
}
