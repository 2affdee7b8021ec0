/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A job's permit to run, by the concurrency limits.
 */
#pragma once

#include "daemon/base/irisd-mailbox.h"
#include "daemon/items/irisd-concurrency-limit.h"

G_BEGIN_DECLS

typedef struct _IrisdJob IrisdJob;

/**
 * IrisdPermit:
 * @waiter: at the concurrency limit
 * @message: tells the job's gateway that the job has its permit
 * @job: the job
 *
 * Made for a job when it needs one.
 */
typedef struct
{
  IrisdConcurrencyWaiter waiter;
  IrisdMessage message;
  IrisdJob *job;
} IrisdPermit;

G_END_DECLS
