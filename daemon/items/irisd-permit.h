/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A job's permit to run, by its queue and the concurrency limits.
 */
#pragma once

#include "daemon/items/irisd-items.h"

G_BEGIN_DECLS

/**
 * IrisdPermit:
 * @waiter: at the concurrency limit
 * @turn: in the queue that the item names
 * @in_queue: it waits for its turn, or a message about that is on its way
 * @message: tells the job's gateway that the job has its permit
 * @job: the job
 *
 * Made for a job when it needs one.
 */
struct _IrisdPermit
{
  IrisdConcurrencyWaiter waiter;
  IrisdQueueTurn turn;
  gboolean in_queue;
  IrisdMessage message;
  IrisdJob *job;
};

gboolean irisd_permit_take (IrisdItems *self, IrisdJob *job);
void irisd_permit_take_at_once (IrisdItems *self, IrisdJob *job);
gboolean irisd_permit_continue (IrisdItems *self, IrisdJob *job);
gboolean irisd_permit_is_held (IrisdItems *self, IrisdJob *job);
void irisd_permit_give (IrisdConcurrencyWaiter *next);
void irisd_permit_give_turns (IrisdQueueTurn *next);
void irisd_permit_release (IrisdItems *self, IrisdJob *job);
gboolean irisd_permit_withdraw (IrisdItems *self, IrisdJob *job);
IrisdJob *irisd_permit_get_job (IrisdMessage *queued_message);

G_END_DECLS
