/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The one ZeroMQ context of the process.
 *
 * libzmq 4.3.4 has a known crash when several contexts come and go in one process, so all clients
 * share one. It is made for the first connection and ended with the last: a program that has no
 * client left has no thread of ours left either. Making and ending are serialised by a lock;
 * sockets are made from the context by any thread, which ZeroMQ allows.
 */
#include "iris-client-link-private.h"

#include <zmq.h>

static GMutex zmq_lock;
static void *zmq_context;
static guint zmq_users;

void *
iris_client_zmq_ref (void)
{
  void *context;

  g_mutex_lock (&zmq_lock);
  if (zmq_users++ == 0)
    zmq_context = zmq_ctx_new ();
  context = zmq_context;
  g_mutex_unlock (&zmq_lock);
  return context;
}

/* To be called once for each iris_client_zmq_ref(), after the sockets have been closed. The last
 * one waits until what their lingering allows has been sent. */
void
iris_client_zmq_unref (void)
{
  g_mutex_lock (&zmq_lock);
  g_assert (zmq_users > 0);
  if (--zmq_users == 0)
    {
      zmq_ctx_term (zmq_context);
      zmq_context = NULL;
    }
  g_mutex_unlock (&zmq_lock);
}
