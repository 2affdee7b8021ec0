/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A mailbox: many threads post to it, one thread empties it and can sleep on it.
 *
 * Threads: any thread posts and wakes; only the owner takes, prepares and finishes.
 *
 * The list. A poster links its message in front of the head by compare-and-swap; the owner takes
 * the whole list by one exchange and turns it round, so messages come out in the order of their
 * successful swaps. ABA cannot happen, because no thread takes out a single message: a poster's
 * swap compares the head only with the pointer that it has itself written into its message's link,
 * and that link is right whenever that pointer is the head. The swap releases the message's
 * contents, the exchange acquires them.
 *
 * The sleep. The owner sets "asleep", then looks at the list once more, then sleeps; a poster
 * links, then checks whether the owner is asleep. All four are sequentially consistent, so all
 * threads see them in one order, and in it at least one of the two reads comes after the other's
 * write: either the owner sees the message and does not sleep, or the poster sees the sleeper and
 * writes to the descriptor. (Store buffering, the textbook case for that order; fences would
 * suffice, but ThreadSanitizer does not follow fences.) Under load the owner is awake and a post
 * makes no system call. Only the poster that changes asleep to awake writes, so a thousand posts to
 * a sleeper cost one write.
 */
#include "daemon/base/irisd-mailbox.h"

#include "daemon/base/irisd-error.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

gboolean
irisd_mailbox_init (IrisdMailbox *self, GError **error)
{
  atomic_init (&self->head, NULL);
  atomic_init (&self->asleep, FALSE);
  self->fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (self->fd >= 0)
    return TRUE;
  g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED,
               "cannot make an event descriptor: %s; raise the limit on open files (ulimit -n)",
               g_strerror (errno));
  return FALSE;
}

void
irisd_mailbox_clear (IrisdMailbox *self)
{
  if (self->fd >= 0)
    close (self->fd);
  self->fd = -1;
}

/* Makes the owner look at the mailbox: at once if it sleeps, else before it next sleeps. */
void
irisd_mailbox_wake (IrisdMailbox *self)
{
  /* The counter saturates only after 2^64 - 2 wakes; a failed write means that it is readable. */
  ssize_t written = write (self->fd, &(guint64){ 1 }, sizeof (guint64));
  (void) written;
}

/* @message belongs to the owner from here on. */
void
irisd_mailbox_post (IrisdMailbox *self, IrisdMessage *message)
{
  message->next = atomic_load_explicit (&self->head, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit (&self->head, &message->next, message,
                                                 memory_order_seq_cst, memory_order_relaxed))
    ;
  if (atomic_load_explicit (&self->asleep, memory_order_seq_cst)
      && atomic_exchange_explicit (&self->asleep, FALSE, memory_order_seq_cst))
    irisd_mailbox_wake (self);
}

/* Returns all messages, oldest first, linked by `next`, or NULL. */
IrisdMessage *
irisd_mailbox_take (IrisdMailbox *self)
{
  if (atomic_load_explicit (&self->head, memory_order_relaxed) == NULL)
    return NULL;
  IrisdMessage *newest = atomic_exchange_explicit (&self->head, NULL, memory_order_acquire);
  IrisdMessage *oldest = NULL;
  while (newest != NULL)
    {
      IrisdMessage *next = newest->next;
      newest->next = oldest;
      oldest = newest;
      newest = next;
    }
  return oldest;
}

/* The owner is about to sleep on the descriptor. Returns whether it may; if not, there are
 * messages, and it counts as awake. */
gboolean
irisd_mailbox_prepare_sleep (IrisdMailbox *self)
{
  atomic_store_explicit (&self->asleep, TRUE, memory_order_seq_cst);
  if (atomic_load_explicit (&self->head, memory_order_seq_cst) == NULL)
    return TRUE;
  atomic_store_explicit (&self->asleep, FALSE, memory_order_relaxed);
  return FALSE;
}

/* The owner is awake: takes back the wakes that were written. @readable: its descriptor was
 * readable. */
void
irisd_mailbox_finish_sleep (IrisdMailbox *self, gboolean readable)
{
  atomic_store_explicit (&self->asleep, FALSE, memory_order_relaxed);
  if (!readable)
    return;
  guint64 wakes = 0;
  ssize_t n = read (self->fd, &wakes, sizeof wakes);
  (void) n;
}
