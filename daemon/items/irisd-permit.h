/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A job's room among those that run at once.
 */
#pragma once

#include "daemon/base/irisd-mailbox.h"
#include "daemon/items/irisd-concurrency-limit.h"

G_BEGIN_DECLS

typedef struct _IrisdJob IrisdJob;

/**
 * IrisdPermit:
 * @waiter: in the shared room
 * @message: tells the job's gateway that it has come in
 * @job: whose it is
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
