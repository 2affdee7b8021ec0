/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the schedulers without places have in common: one pool, and how many workers it has is a
 * property that is set at construction. No type of its own: a scheduler puts this first in its
 * struct.
 */
#pragma once

#include "iris/sched/iris-scheduler-private.h"

typedef struct
{
  IrisScheduler parent_instance;

  guint n_workers; /* as asked for; from the parent's constructed() on, use the function below */
} IrisFlatScheduler;

/* In class_init: the property "n-workers", and with it the class's get_property and set_property.
 */
void iris_flat_scheduler_install_properties (GObjectClass *klass);

/* In constructed: how many workers it is to have; the property says so from then on. */
guint iris_flat_scheduler_n_workers (IrisFlatScheduler *self);

/* In constructed: makes them. They own @owner. */
void iris_flat_scheduler_set_pool (IrisFlatScheduler *self,
                                   const IrisWorkerPoolOps *ops,
                                   gpointer owner,
                                   GDestroyNotify free_owner);
