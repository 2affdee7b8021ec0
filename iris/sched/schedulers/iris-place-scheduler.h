/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Work-stealing places: a scheduler whose workers are grouped by what memory they share.
 */
#pragma once

#include <iris/place/iris-places.h>
#include <iris/queue/iris-deque.h>
#include <iris/sched/steal/iris-layout.h>
#include <iris/sched/iris-scheduler.h>
#include <iris/sched/steal/iris-steal-policy.h>

G_BEGIN_DECLS

#define IRIS_TYPE_PLACE_SCHEDULER (iris_place_scheduler_get_type ())
IRIS_AVAILABLE_IN_ALL
G_DECLARE_DERIVABLE_TYPE (IrisPlaceScheduler,
                          iris_place_scheduler,
                          IRIS,
                          PLACE_SCHEDULER,
                          IrisScheduler)

struct _IrisPlaceSchedulerClass
{
  /*< private >*/
  IrisSchedulerClass parent_class;
  gpointer padding[8];
};

IRIS_AVAILABLE_IN_ALL IrisScheduler *iris_place_scheduler_new (IrisPlaces *places);
IRIS_AVAILABLE_IN_ALL IrisScheduler *
iris_place_scheduler_new_full (IrisPlaces *places, IrisDeal deal);
IRIS_AVAILABLE_IN_ALL IrisPlaces *iris_place_scheduler_get_places (IrisPlaceScheduler *self);

G_END_DECLS
