/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The pending request: making it, its deadline, and settling it once.
 */
#include "iris/message/iris-pending-private.h"

#include "iris/message/iris-message-private.h"
#include "iris/message/iris-timer-private.h"

IrisPending *
iris_pending_new (IrisPendingFunc func, gpointer data, GDestroyNotify notify)
{
  IrisPending *self = g_new0 (IrisPending, 1);

  atomic_init (&self->ref_count, 1);
  atomic_init (&self->settled, false);
  self->func = func;
  self->data = data;
  self->notify = notify;

  return self;
}

IrisPending *
iris_pending_ref (IrisPending *self)
{
  atomic_fetch_add_explicit (&self->ref_count, 1, memory_order_relaxed);

  return self;
}

void
iris_pending_unref (IrisPending *self)
{
  if (atomic_fetch_sub_explicit (&self->ref_count, 1, memory_order_acq_rel) != 1)
    return;

  if (self->notify != NULL)
    self->notify (self->data);
  g_clear_pointer (&self->timer, iris_timer_unref);
  g_free (self);
}

/* Any thread that holds the request. TRUE: this one was the first. */
gboolean
iris_pending_settle (IrisPending *self, IrisMessage *reply, IrisMessageError code)
{
  /* A look first: a request is settled a second time when its message is freed. Sequentially
   * consistent because of `connected`, see iris_port_request_async(). */
  if (atomic_load_explicit (&self->settled, memory_order_acquire)
      || atomic_exchange_explicit (&self->settled, true, memory_order_seq_cst))
    return FALSE;

  self->func (reply, code, self->data);
  if (self->timer != NULL)
    iris_timer_cancel (self->timer);

  return TRUE;
}

/* Not by way of iris_pending_settle(): `timer` may not be set yet, and needs no cancelling. */
static gboolean
deadline_passed (gpointer data)
{
  IrisPending *self = data;

  if (!atomic_exchange_explicit (&self->settled, true, memory_order_seq_cst))
    self->func (NULL, IRIS_MESSAGE_ERROR_TIMED_OUT, self->data);

  return FALSE;
}

/* Before the request is known to any other thread. Less than 0: there is no deadline. */
void
iris_pending_set_deadline (IrisPending *self, gint64 timeout_us)
{
  if (timeout_us >= 0)
    self->timer = iris_timer_new (timeout_us, 0, deadline_passed, iris_pending_ref (self),
                                  (GDestroyNotify) iris_pending_unref);
}

void
iris_message_set_request (IrisMessage *message, IrisPending *request)
{
  iris_message_need_more ((IrisMessageReal *) message)->request = iris_pending_ref (request);
}

IrisPending *
iris_message_get_request (IrisMessage *message)
{
  IrisMessageMore *more = ((IrisMessageReal *) message)->more;

  return more != NULL ? more->request : NULL;
}

void
iris_message_fail (IrisMessage *message, IrisMessageError code)
{
  IrisPending *request = iris_message_get_request (message);

  if (request != NULL)
    iris_pending_settle (request, NULL, code);
}
