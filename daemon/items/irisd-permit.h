/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A job's permit to run, by the concurrency limits.
 */
#pragma once

#include "daemon/items/irisd-items.h"

G_BEGIN_DECLS

/**
 * IrisdPermit:
 * @waiter: at the concurrency limit
 * @message: tells the job's gateway that the job has its permit
 * @job: the job
 *
 * Made for a job when it needs one.
 */
struct _IrisdPermit
{
  IrisdConcurrencyWaiter waiter;
  IrisdMessage message;
  IrisdJob *job;
};

gboolean irisd_permit_take (IrisdItems *self, IrisdJob *job);
void irisd_permit_release (IrisdItems *self, IrisdJob *job);
gboolean irisd_permit_withdraw (IrisdItems *self, IrisdJob *job);
IrisdJob *irisd_permit_get_job (IrisdMessage *queued_message);

G_END_DECLS
