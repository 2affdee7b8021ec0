/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a coordinated receiver needs to know of its arbiter.
 */
#pragma once

#include "iris/message/port/iris-coordination-private.h"
#include "iris/message/port/iris-delivery-private.h"
#include "iris/message/port/iris-arbiter.h"

/* Hands a delivery, whose context is a rundown guard of @receiver, to the arbiter. False: it is
 * refused.
 */
gboolean iris_arbiter_submit (IrisArbiter *self,
                              IrisReceiver *receiver,
                              IrisCoordinate kind,
                              IrisItem *item);
