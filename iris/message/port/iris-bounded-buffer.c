/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The buffer of a bounded port. The design is in iris-bounded-buffer-private.h.
 */
#include "iris/message/port/iris-bounded-buffer-private.h"

#include "iris/message/iris-message-private.h"

IrisBoundedBuffer *
iris_bounded_buffer_new (gpointer port, guint limit, IrisPortFull when_full)
{
  IrisBoundedBuffer *self = g_new0 (IrisBoundedBuffer, 1);

  atomic_init (&self->ref_count, 1);
  pthread_mutex_init (&self->lock, NULL);
  pthread_cond_init (&self->room, NULL);
  g_weak_ref_init (&self->port, port);
  g_queue_init (&self->messages);
  g_queue_init (&self->late);
  self->limit = limit;
  self->when_full = when_full;

  return self;
}

void
iris_bounded_buffer_unref (IrisBoundedBuffer *self)
{
  if (atomic_fetch_sub_explicit (&self->ref_count, 1, memory_order_acq_rel) != 1)
    return;

  g_queue_clear_full (&self->messages, (GDestroyNotify) iris_message_unref);
  g_weak_ref_clear (&self->port);
  pthread_cond_destroy (&self->room);
  pthread_mutex_destroy (&self->lock);
  g_free (self);
}

/* The port is gone, and its reference given up: what has no token will never be handled. Newest
 * first, which are the late ones. */
void
iris_bounded_buffer_close (IrisBoundedBuffer *self)
{
  GQueue orphans = G_QUEUE_INIT;
  IrisMessage *message;

  pthread_mutex_lock (&self->lock);
  self->gone = true;
  while (self->late.length > 0)
    g_queue_push_tail (&orphans, g_queue_pop_tail (&self->late));
  while (self->messages.length > self->n_tokens)
    g_queue_push_tail (&orphans, g_queue_pop_tail (&self->messages));
  pthread_cond_broadcast (&self->room);
  pthread_mutex_unlock (&self->lock);

  while ((message = g_queue_pop_tail (&orphans)) != NULL)
    {
      iris_message_fail (message, IRIS_MESSAGE_ERROR_PORT_GONE);
      iris_message_unref (message);
    }
  iris_bounded_buffer_unref (self);
}

static void
buffer_wait (IrisBoundedBuffer *self)
{
  self->counts.waited++;
  self->n_waiters++;
  while (self->messages.length >= self->limit && self->when_full == IRIS_PORT_FULL_WAIT
         && !self->gone)
    pthread_cond_wait (&self->room, &self->lock);
  self->n_waiters--;
}

/* Under the lock. Takes the reference. */
static void
buffer_push (IrisBoundedBuffer *self, IrisMessage *message)
{
  g_queue_push_tail (&self->messages, message);
  self->counts.most_held = MAX (self->counts.most_held, self->messages.length);
}

/* Under the lock: late messages come in as far as there is room. Whether one did. */
static bool
buffer_admit_late (IrisBoundedBuffer *self)
{
  bool did = false;

  for (; self->late.length > 0 && self->messages.length < self->limit; did = true)
    buffer_push (self, g_queue_pop_head (&self->late));

  return did;
}

/* Whether a late message has come in, which has no token yet. */
bool
iris_bounded_buffer_set_limit (IrisBoundedBuffer *self, guint limit, IrisPortFull when_full)
{
  bool admitted;

  pthread_mutex_lock (&self->lock);
  self->limit = limit;
  self->when_full = when_full;
  admitted = buffer_admit_late (self);
  pthread_cond_broadcast (&self->room);
  pthread_mutex_unlock (&self->lock);

  return admitted;
}

/* Takes a reference to @message if it is accepted. */
IrisPortPut
iris_bounded_buffer_put (IrisBoundedBuffer *self, IrisMessage *message, IrisPortPatience patience)
{
  IrisPortPut put = { .accepted = true };
  bool waits;

  pthread_mutex_lock (&self->lock);
  self->counts.posted++;
  waits = self->messages.length >= self->limit && self->when_full == IRIS_PORT_FULL_WAIT;
  if (waits && patience == IRIS_PORT_PATIENCE_LEAVE)
    {
      self->counts.waited++;
      g_queue_push_tail (&self->late, iris_message_keep (message));
      pthread_mutex_unlock (&self->lock);
      return put;
    }
  if (waits && patience == IRIS_PORT_PATIENCE_WAIT)
    buffer_wait (self);
  if (self->messages.length >= self->limit)
    {
      if (self->when_full == IRIS_PORT_FULL_DROP_OLDEST)
        {
          put.dropped = g_queue_pop_head (&self->messages);
          self->counts.dropped++;
        }
      else
        {
          put.accepted = false;
          self->counts.refused++;
        }
    }
  if (put.accepted)
    buffer_push (self, iris_message_keep (message));
  put.limit = self->limit;
  put.when_full = self->when_full;
  pthread_mutex_unlock (&self->lock);

  return put;
}

/* A token with a reference to the buffer, or NULL when there is one for each message. */
IrisBoundedBuffer *
iris_bounded_buffer_claim_token (IrisBoundedBuffer *self)
{
  bool claimed;

  pthread_mutex_lock (&self->lock);
  claimed = self->n_tokens < self->messages.length;
  if (claimed)
    self->n_tokens++;
  pthread_mutex_unlock (&self->lock);
  if (!claimed)
    return NULL;
  atomic_fetch_add_explicit (&self->ref_count, 1, memory_order_relaxed);

  return self;
}

/* A token that was not used. */
void
iris_bounded_buffer_return_token (IrisBoundedBuffer *self)
{
  pthread_mutex_lock (&self->lock);
  self->n_tokens--;
  pthread_mutex_unlock (&self->lock);
  iris_bounded_buffer_unref (self);
}

/* The message for a token, with its reference; NULL if it was dropped. The buffer is kept. Says
 * whether a late message has come in, which has no token yet. */
IrisMessage *
iris_bounded_buffer_redeem (IrisBoundedBuffer *self, bool *admitted)
{
  IrisMessage *message;

  pthread_mutex_lock (&self->lock);
  message = g_queue_pop_head (&self->messages);
  self->n_tokens--;
  *admitted = buffer_admit_late (self);
  if (self->n_waiters > 0 && !*admitted)
    pthread_cond_signal (&self->room);
  pthread_mutex_unlock (&self->lock);

  return message;
}
