/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Running items that sleep in a system call, and can be woken to stop.
 */
#pragma once

#include <glib.h>
#include <pthread.h>
#include <sys/queue.h>

G_BEGIN_DECLS

typedef struct _IrisdJob IrisdJob;
typedef struct _IrisdSleeper IrisdSleeper;

/* Lives on the stack of the worker. */
struct _IrisdSleeper
{
  IrisdJob *job; /* the item */
  int fd;        /* becomes readable when the item should check whether to stop */

  /*< private >*/
  LIST_ENTRY (_IrisdSleeper) link;
};

/* All sleepers. At most one per worker, so a list suffices. */
typedef struct
{
  pthread_mutex_t lock;
  LIST_HEAD (, _IrisdSleeper) sleepers;
} IrisdRunning;

void irisd_running_init (IrisdRunning *self);
void irisd_running_clear (IrisdRunning *self);
gboolean irisd_running_enter (IrisdRunning *self, IrisdSleeper *sleeper, IrisdJob *job);
void irisd_running_leave (IrisdRunning *self, IrisdSleeper *sleeper);
void irisd_running_wake (IrisdRunning *self, IrisdJob *job);
void irisd_running_wake_all (IrisdRunning *self);

G_END_DECLS
