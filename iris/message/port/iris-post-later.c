/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Posting later: timers whose function posts a message.
 */
#include "iris/message/port/iris-port-private.h"
#include "iris/message/iris-timer-private.h"
#include "iris/message/port/iris-post-later.h"

/* A port is not kept by what is yet to come: a periodic timer would keep it for ever. */
typedef struct
{
  GWeakRef port;
  IrisActor *actor; /* instead of a port */
  gboolean again;
  IrisMessage *message;
} Later;

static gboolean
later_post (gpointer data)
{
  Later *self = data;
  g_autoptr (IrisPort) port = NULL;

  if (self->actor != NULL)
    {
      iris_actor_post (self->actor, self->message);
      return FALSE;
    }
  port = g_weak_ref_get (&self->port);
  /* A periodic one would fill a full port's waiting room: it has its next time. */
  if (port != NULL && self->again)
    iris_port_post_or_refuse (port, self->message);
  else if (port != NULL)
    iris_port_post (port, self->message);

  return port != NULL;
}

static void
later_free (gpointer data)
{
  Later *self = data;

  g_weak_ref_clear (&self->port);
  g_clear_pointer (&self->actor, iris_actor_unref);
  iris_message_unref (self->message);
  g_free (self);
}

static Later *
later_new (IrisPort *port, IrisActor *actor, IrisMessage *message, gboolean again)
{
  Later *self = g_new0 (Later, 1);

  g_weak_ref_init (&self->port, port);
  self->actor = actor != NULL ? iris_actor_ref (actor) : NULL;
  self->message = iris_message_keep (message);
  self->again = again;

  return self;
}

/**
 * iris_port_post_after:
 * @message: a message; its reference is taken if it floats, otherwise the caller keeps its own
 * @delay_us: after how many microseconds
 *
 * Posts a message later, not before @delay_us have passed. If the port is gone by then the message
 * is dropped. It must not be changed any more.
 *
 * If the port is full then and lets posters wait (%IRIS_PORT_FULL_WAIT), the message waits outside
 * of its limit, without a thread, and comes in as soon as there is room. No other timer is held up.
 *
 * Returns: (transfer full): a timer, by which it can be cancelled
 */
IrisTimer *
iris_port_post_after (IrisPort *self, IrisMessage *message, gint64 delay_us)
{
  g_return_val_if_fail (IRIS_IS_PORT (self), NULL);
  g_return_val_if_fail (message != NULL, NULL);
  g_return_val_if_fail (delay_us >= 0, NULL);

  return iris_timer_new (delay_us, 0, later_post, later_new (self, NULL, message, FALSE),
                         later_free);
}

/**
 * iris_port_post_every:
 * @message: a message; its reference is taken if it floats, otherwise the caller keeps its own
 * @period_us: the time between two posts in microseconds, at least 1
 *
 * Posts a message again and again, first after @period_us, until the timer is cancelled or the port
 * is gone. Posts that are late are not made up for, nor are those that find the port full: it
 * refuses them, also with %IRIS_PORT_FULL_WAIT. It is the same message each time, and must not be
 * changed.
 *
 * Returns: (transfer full): a timer, by which it can be cancelled
 */
IrisTimer *
iris_port_post_every (IrisPort *self, IrisMessage *message, gint64 period_us)
{
  g_return_val_if_fail (IRIS_IS_PORT (self), NULL);
  g_return_val_if_fail (message != NULL, NULL);
  g_return_val_if_fail (period_us >= 1, NULL);

  return iris_timer_new (period_us, period_us, later_post, later_new (self, NULL, message, TRUE),
                         later_free);
}

/**
 * iris_actor_post_after:
 * @self: an actor; it is kept until the message is posted
 * @message: a message; its reference is taken if it floats, otherwise the caller keeps its own
 * @delay_us: after how many microseconds
 *
 * Posts a message to an actor later, not before @delay_us have passed.
 *
 * Returns: (transfer full): a timer, by which it can be cancelled
 */
IrisTimer *
iris_actor_post_after (IrisActor *self, IrisMessage *message, gint64 delay_us)
{
  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (message != NULL, NULL);
  g_return_val_if_fail (delay_us >= 0, NULL);

  return iris_timer_new (delay_us, 0, later_post, later_new (NULL, self, message, FALSE),
                         later_free);
}
