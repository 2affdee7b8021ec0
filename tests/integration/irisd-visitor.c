/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Visitors: clients that are other users, each through a process that has become that user.
 *
 * The process passes messages between the test, which is a client like any other, and irisd. After
 * a fork ZeroMQ cannot be used, so the process executes the test's program again.
 */
#include "irisd-visitor.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Polled: the test, irisd, and the events of the connection. */
enum
{
  TEST,
  IRISD,
  EVENTS,
  N_SOCKETS
};

static gboolean
pass_on (void *from, void *to)
{
  int more = 1;
  while (more != 0)
    {
      zmq_msg_t frame;
      zmq_msg_init (&frame);
      if (zmq_msg_recv (&frame, from, 0) < 0)
        return FALSE;
      more = zmq_msg_more (&frame);
      if (zmq_msg_send (&frame, to, more != 0 ? ZMQ_SNDMORE : 0) < 0)
        return FALSE;
    }
  return TRUE;
}

/* Becomes the user and passes messages on until the test ends it; @words come from visitor_new().
 * Returns the exit status: VISITOR_REFUSED if irisd does not admit the user. */
int
visitor_main (char **words)
{
  void *context = zmq_ctx_new ();
  void *sockets[N_SOCKETS];
  zmq_pollitem_t items[N_SOCKETS] = { 0 };
  uid_t uid = (uid_t) g_ascii_strtoull (words[1], NULL, 10);
  for (guint i = 0; i < N_SOCKETS; i++)
    {
      sockets[i] = zmq_socket (context, i == EVENTS ? ZMQ_PAIR : ZMQ_DEALER);
      items[i] = (zmq_pollitem_t){ .socket = sockets[i], .events = ZMQ_POLLIN };
    }
  if (zmq_bind (sockets[TEST], words[3]) != 0 || write (STDOUT_FILENO, "", 1) != 1
      || setgid (uid) != 0 || setuid (uid) != 0)
    return EXIT_FAILURE;
  /* The change of user has reset it. */
  prctl (PR_SET_PDEATHSIG, SIGKILL);
  if (zmq_socket_monitor (sockets[IRISD], "inproc://events", ZMQ_EVENT_HANDSHAKE_FAILED_AUTH) != 0
      || zmq_connect (sockets[EVENTS], "inproc://events") != 0
      || zmq_connect (sockets[IRISD], words[2]) != 0)
    return EXIT_FAILURE;
  for (;;)
    {
      if (zmq_poll (items, N_SOCKETS, -1) < 0)
        return EXIT_FAILURE;
      if (items[EVENTS].revents != 0)
        return VISITOR_REFUSED;
      if ((items[TEST].revents != 0 && !pass_on (sockets[TEST], sockets[IRISD]))
          || (items[IRISD].revents != 0 && !pass_on (sockets[IRISD], sockets[TEST])))
        return EXIT_FAILURE;
    }
}

/* Returns a client of @uid at an endpoint of @irisd; it has not said HELLO. Only root can be
 * another user. */
Visitor *
visitor_new (Irisd *irisd, uid_t uid, const char *endpoint)
{
  static guint n_doors;
  Visitor *self = g_new0 (Visitor, 1);
  g_autofree char *number = g_strdup_printf ("%u", (guint) uid);
  self->door = g_strdup_printf ("ipc://%s.door-%u", irisd->dir, n_doors++);
  g_autoptr (GSubprocessLauncher)
      launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE);
  g_subprocess_launcher_set_child_setup (launcher, die_with_test, NULL, NULL);
  g_autoptr (GError) error = NULL;
  self->process = g_subprocess_launcher_spawn (launcher, &error, "/proc/self/exe", "visit", number,
                                               endpoint, self->door, NULL);
  ck_assert_msg (self->process != NULL, "%s", error != NULL ? error->message : "");
  /* A client that finds no socket tries again only after a tenth of a second. */
  char byte;
  ck_assert_int_eq (
      g_input_stream_read (g_subprocess_get_stdout_pipe (self->process), &byte, 1, NULL, NULL), 1);
  self->client = client_new (self->door);
  return self;
}

void
visitor_free (Visitor *self)
{
  g_subprocess_force_exit (self->process);
  g_subprocess_wait (self->process, NULL, NULL);
  client_free (self->client);
  g_unlink (self->door + strlen ("ipc://"));
  g_object_unref (self->process);
  g_free (self->door);
  g_free (self);
}
