/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What subclasses of the scheduler of places need.
 */
#pragma once

#include "iris/sched/iris-scheduler-private.h"
#include "iris/sched/schedulers/iris-place-scheduler.h"

void iris_place_scheduler_choose_places (IrisPlaceScheduler *self, IrisPlaces *places);
