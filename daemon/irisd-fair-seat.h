/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A job's room among those that run at once.
 */
#pragma once

#include "irisd-fair-room.h"
#include "irisd-mailbox.h"

G_BEGIN_DECLS

typedef struct _IrisdJob IrisdJob;

/**
 * IrisdSeat:
 * @guest: in the shared room
 * @letter: tells the job's gateway that it has come in
 * @job: whose it is
 *
 * Made for a job when it needs one.
 */
typedef struct
{
  IrisdFairGuest guest;
  IrisdLetter letter;
  IrisdJob *job;
} IrisdSeat;

G_END_DECLS
