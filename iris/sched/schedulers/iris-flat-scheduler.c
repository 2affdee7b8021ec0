/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The schedulers without places: their number of workers.
 */
#include "iris/sched/schedulers/iris-flat-scheduler-private.h"

static void
flat_scheduler_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  g_value_set_uint (value, ((IrisFlatScheduler *) object)->n_workers);
}

static void
flat_scheduler_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  ((IrisFlatScheduler *) object)->n_workers = g_value_get_uint (value);
}

void
iris_flat_scheduler_install_properties (GObjectClass *klass)
{
  klass->get_property = flat_scheduler_get_property;
  klass->set_property = flat_scheduler_set_property;

  /* How many workers are made; 0 at construction for one a processor. */
  g_object_class_install_property (
      klass, 1,
      g_param_spec_uint ("n-workers", NULL, NULL, 0, G_MAXINT, 0,
                         G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS));
}

guint
iris_flat_scheduler_n_workers (IrisFlatScheduler *self)
{
  self->n_workers = iris_scheduler_choose_n_workers (0, self->n_workers);

  return self->n_workers;
}

void
iris_flat_scheduler_set_pool (IrisFlatScheduler *self,
                              const IrisWorkerPoolOps *ops,
                              gpointer owner,
                              GDestroyNotify free_owner)
{
  guint n_workers = iris_flat_scheduler_n_workers (self);

  iris_scheduler_set_pool (&self->parent_instance,
                           iris_worker_pool_new (ops, owner, free_owner, 1, &n_workers));
}
