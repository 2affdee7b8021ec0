/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is told of a work item before it ends: how far it is, and parts of its result.
 */
#include "iris-request-private.h"

/*< private >
 * iris_request_clear_progress:
 * @self: a request that nobody uses any more
 */
void
iris_request_clear_progress (IrisRequest *self)
{
  if (self->progress_destroy != NULL)
    self->progress_destroy (self->progress_data);
  if (self->part_destroy != NULL)
    self->part_destroy (self->part_data);
}

/**
 * iris_request_set_progress_func:
 * @self: a request that was not submitted yet
 * @func: (nullable) (scope notified) (closure user_data) (destroy destroy): is told, in the
 * client's main context
 * @user_data: for @func
 * @destroy: (nullable): frees @user_data
 *
 * Asks to be told how far the item is, by worker processes that tell so
 * ([method@IrisClient.Lease.report]). Not each report comes: one that is soon out of date may be
 * passed over.
 *
 * Since: 0.1
 */
void
iris_request_set_progress_func (IrisRequest *self,
                                IrisRequestProgressFunc func,
                                gpointer user_data,
                                GDestroyNotify destroy)
{
  g_return_if_fail (self != NULL && !self->sealed);

  if (self->progress_destroy != NULL)
    self->progress_destroy (self->progress_data);
  self->progress = func;
  self->progress_data = user_data;
  self->progress_destroy = destroy;
}

/**
 * iris_request_set_part_func:
 * @self: a request that was not submitted yet
 * @func: (nullable) (scope notified) (closure user_data) (destroy destroy): takes the parts, in the
 *   client's main context
 * @user_data: for @func
 * @destroy: (nullable): frees @user_data
 *
 * Has parts of the result come while a worker process works on the item
 * ([method@IrisClient.Lease.send_part]), in their order and before its end. Whether the result
 * repeats them is up to the service. No more than a quarter of a megabyte is under way. A
 * persistent item cannot have parts.
 *
 * Since: 0.1
 */
void
iris_request_set_part_func (IrisRequest *self,
                            IrisRequestPartFunc func,
                            gpointer user_data,
                            GDestroyNotify destroy)
{
  g_return_if_fail (self != NULL && !self->sealed);

  if (self->part_destroy != NULL)
    self->part_destroy (self->part_data);
  self->part = func;
  self->part_data = user_data;
  self->part_destroy = destroy;
}
