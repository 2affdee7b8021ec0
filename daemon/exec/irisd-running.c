/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Running items that sleep in a system call, and can be woken to stop.
 *
 * A worker enters before it first checks whether its item should stop, and leaves when the item has
 * ended. A thread that stops an item first sets that in the item, then wakes it here. The lock
 * orders the two: either the waker finds the sleeper, or the worker enters later and sees that it
 * should stop. The descriptor is written under the lock, so it cannot have been closed and reused
 * in between.
 *
 * The lock is a POSIX mutex because ThreadSanitizer knows those.
 */
#include "daemon/exec/irisd-running.h"

#include <sys/eventfd.h>
#include <unistd.h>

void
irisd_running_init (IrisdRunning *self)
{
  pthread_mutex_init (&self->lock, NULL);
  LIST_INIT (&self->sleepers);
}

void
irisd_running_clear (IrisdRunning *self)
{
  pthread_mutex_destroy (&self->lock);
}

/* Returns FALSE if the process has no descriptor left. */
gboolean
irisd_running_enter (IrisdRunning *self, IrisdSleeper *sleeper, IrisdJob *job)
{
  *sleeper = (IrisdSleeper){ .job = job, .fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK) };
  if (sleeper->fd < 0)
    return FALSE;
  pthread_mutex_lock (&self->lock);
  LIST_INSERT_HEAD (&self->sleepers, sleeper, link);
  pthread_mutex_unlock (&self->lock);
  return TRUE;
}

void
irisd_running_leave (IrisdRunning *self, IrisdSleeper *sleeper)
{
  pthread_mutex_lock (&self->lock);
  LIST_REMOVE (sleeper, link);
  pthread_mutex_unlock (&self->lock);
  close (sleeper->fd);
}

static void
wake_matching (IrisdRunning *self, IrisdJob *job)
{
  pthread_mutex_lock (&self->lock);
  IrisdSleeper *sleeper;
  LIST_FOREACH (sleeper, &self->sleepers, link)
  if (job == NULL || sleeper->job == job)
    {
      ssize_t written = write (sleeper->fd, &(guint64){ 1 }, sizeof (guint64));
      (void) written;
    }
  pthread_mutex_unlock (&self->lock);
}

void
irisd_running_wake (IrisdRunning *self, IrisdJob *job)
{
  wake_matching (self, job);
}

void
irisd_running_wake_all (IrisdRunning *self)
{
  wake_matching (self, NULL);
}
