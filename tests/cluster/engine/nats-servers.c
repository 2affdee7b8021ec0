/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Servers of NATS on loopback for tests; see nats-servers.h.
 */
#include "nats-servers.h"

#include <arpa/inet.h>
#include <check.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

const char *
nats_servers_get_program (void)
{
  const char *program = g_getenv ("IRIS_NATS_SERVER");

  return program && *program && g_access (program, X_OK) == 0 ? program : NULL;
}

/* The socket's name says to the other tests of this machine whose the port is, until this process
 * ends; free_ports() of processes.py has the same names. */
static gboolean
own_port (guint16 port)
{
  struct sockaddr_un name = { .sun_family = AF_UNIX };
  struct sockaddr_in address = { .sin_family = AF_INET,
                                 .sin_port = htons (port),
                                 .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
  int owner = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int length = g_snprintf (name.sun_path + 1, sizeof name.sun_path - 1, "iris-cluster-port-%u",
                           port);
  socklen_t size = (socklen_t) (offsetof (struct sockaddr_un, sun_path) + 1 + (gsize) length);
  gboolean is_ours = bind (owner, (struct sockaddr *) &name, size) == 0;

  if (is_ours)
    {
      int probe = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      is_ours = bind (probe, (struct sockaddr *) &address, sizeof address) == 0;
      close (probe);
    }
  if (!is_ours)
    close (owner);
  return is_ours;
}

/* The kernel gives none of these to a connection, so a server that is away for a while gets its
 * own back. */
static void
find_ports (guint16 *ports, guint n)
{
  for (guint found = 0; found < n;)
    {
      ports[found] = (guint16) g_random_int_range (10000, 32000);
      found += own_port (ports[found]) ? 1 : 0;
    }
}

static char *
write_config (NatsServers *self, guint i)
{
  g_autofree char *path = g_strdup_printf ("%s/n%u.conf", self->folder, i + 1);
  g_autoptr (GString) text = g_string_new (NULL);

  g_string_append_printf (
      text,
      "server_name: n%u\nlisten: 127.0.0.1:%u\nhttp: 127.0.0.1:%u\n"
      "log_file: \"%s/n%u.log\"\n"
      "jetstream { store_dir: \"%s/n%u\", max_mem: 64M, max_file: 8G, sync_interval: always }\n",
      i + 1, self->ports[i], self->monitor_ports[i], self->folder, i + 1, self->folder, i + 1);
  if (self->n > 1)
    {
      g_string_append_printf (text, "cluster { name: iris, listen: 127.0.0.1:%u, routes: [",
                              self->route_ports[i]);
      for (guint other = 0; other < self->n; other++)
        g_string_append_printf (text, "%s \"nats://127.0.0.1:%u\"", other ? "," : "",
                                self->route_ports[other]);
      g_string_append (text, " ] }\n");
    }
  if (self->more)
    g_string_append (text, self->more);
  ck_assert (g_file_set_contents (path, text->str, -1, NULL));
  return g_steal_pointer (&path);
}

static void
die_with_parent (gpointer data)
{
  prctl (PR_SET_PDEATHSIG, SIGKILL);
}

void
nats_servers_start_one (NatsServers *self, guint i)
{
  g_autofree char *config = write_config (self, i);
  char *arguments[] = { (char *) nats_servers_get_program (), (char *) "-c", config, NULL };
  g_autoptr (GError) error = NULL;

  ck_assert_int_eq (self->pids[i], 0);
  g_spawn_async (NULL, arguments, NULL,
                 G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL
                     | G_SPAWN_STDERR_TO_DEV_NULL,
                 die_with_parent, NULL, &self->pids[i], &error);
  ck_assert_msg (error == NULL, "%s", error ? error->message : "");
}

void
nats_servers_start (NatsServers *self, guint n, const char *more)
{
  guint16 ports[3 * NATS_SERVERS_MAX] = { 0 };

  memset (self, 0, sizeof *self);
  self->n = n;
  self->more = more;
  self->folder = g_dir_make_tmp ("iris-nats-XXXXXX", NULL);
  find_ports (ports, 3 * n);
  for (guint i = 0; i < n; i++)
    {
      self->ports[i] = ports[3 * i];
      self->monitor_ports[i] = ports[3 * i + 1];
      self->route_ports[i] = ports[3 * i + 2];
    }
  for (guint i = 0; i < n; i++)
    nats_servers_start_one (self, i);
}

void
nats_servers_kill (NatsServers *self, guint i, int signal)
{
  kill (self->pids[i], signal);
  waitpid (self->pids[i], NULL, 0);
  self->pids[i] = 0;
}

static void
remove_all (const char *path)
{
  g_autoptr (GDir) dir = g_file_test (path, G_FILE_TEST_IS_SYMLINK) ? NULL
                                                                    : g_dir_open (path, 0, NULL);

  for (const char *name; dir && (name = g_dir_read_name (dir));)
    {
      g_autofree char *inner = g_build_filename (path, name, NULL);
      remove_all (inner);
    }
  g_remove (path);
}

void
nats_servers_stop (NatsServers *self)
{
  for (guint i = 0; i < self->n; i++)
    if (self->pids[i] > 0)
      nats_servers_kill (self, i, SIGKILL);
  if (!g_getenv ("IRIS_NATS_KEEP"))
    remove_all (self->folder);
  g_clear_pointer (&self->folder, g_free);
}

char *
nats_servers_get_url (NatsServers *self)
{
  g_autoptr (GString) url = g_string_new (NULL);

  for (guint i = 0; i < self->n; i++)
    g_string_append_printf (url, "%snats://127.0.0.1:%u", i ? "," : "", self->ports[i]);
  return g_string_free (g_steal_pointer (&url), FALSE);
}

char *
nats_servers_get_monitor (NatsServers *self, guint i)
{
  return g_strdup_printf ("http://127.0.0.1:%u", self->monitor_ports[i]);
}

guint
nats_servers_find (NatsServers *self, const char *name)
{
  guint64 number = 0;

  ck_assert (name && name[0] == 'n'
             && g_ascii_string_to_unsigned (name + 1, 10, 1, self->n, &number, NULL));
  return (guint) number - 1;
}

guint
nats_servers_find_by_url (NatsServers *self, const char *url)
{
  for (guint i = 0; url && i < self->n; i++)
    {
      g_autofree char *end = g_strdup_printf (":%u", self->ports[i]);
      if (g_str_has_suffix (url, end))
        return i;
    }
  ck_abort_msg ("no server is %s", url ? url : "none");
  return 0;
}
