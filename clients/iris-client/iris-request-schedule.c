/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * When a work item runs, how often, and for how long.
 */
#include "iris-request-private.h"

/*< private >
 * iris_request_clear_schedule:
 * @self: a request that nobody uses any more
 */
void
iris_request_clear_schedule (IrisRequest *self)
{
  g_free (self->after);
  if (self->accepted_destroy != NULL)
    self->accepted_destroy (self->accepted_data);
}

/*< private >
 * iris_request_tell_accepted:
 * @self: a request
 * @item: the number of its item
 *
 * Notes that it was accepted, and tells whoever wants to know.
 */
void
iris_request_tell_accepted (IrisRequest *self, guint64 item)
{
  self->item = item;
  if (self->accepted != NULL)
    self->accepted (self, item, self->accepted_data);
}

/**
 * iris_request_set_delay:
 * @self: a request that was not submitted yet
 * @delay_ms: milliseconds, counted from when irisd accepts the item; 0 for none
 *
 * Has the item not run before that. The clock is one that nobody sets.
 *
 * Since: 0.1
 */
void
iris_request_set_delay (IrisRequest *self, guint64 delay_ms)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->delay_ms = delay_ms;
}

/**
 * iris_request_set_time:
 * @self: a request that was not submitted yet
 * @at_ms: milliseconds since 1970 (UTC), or -1 for none
 *
 * Has the item not run before that time of day. If the clock is set meanwhile, it is the new one
 * that counts. A time that has passed is no hindrance.
 *
 * Since: 0.1
 */
void
iris_request_set_time (IrisRequest *self, gint64 at_ms)
{
  g_return_if_fail (self != NULL && !self->sealed);
  g_return_if_fail (at_ms >= -1);

  self->at_ms = at_ms;
}

/**
 * iris_request_set_priority:
 * @self: a request that was not submitted yet
 * @priority: 0 to 9, or -1 for the usual one, 5
 *
 * Where irisd has more items than it can run, those of higher priority come first. An item gains a
 * level for each second that it waits (irisd's limit `aging-ms`), so none waits for ever.
 *
 * Since: 0.1
 */
void
iris_request_set_priority (IrisRequest *self, int priority)
{
  g_return_if_fail (self != NULL && !self->sealed);
  g_return_if_fail (priority >= -1 && priority <= 9);

  self->priority = priority;
}

/**
 * iris_request_set_after:
 * @self: a request that was not submitted yet
 * @items: (array length=n_items) (nullable): numbers of items, as
 *   [method@IrisClient.Request.get_item] gives them
 * @n_items: how many
 * @how: for which of them it waits
 *
 * Has the item not run before others have ended, of this client or of another. irisd refuses it if
 * it does not know one of them.
 *
 * Since: 0.1
 */
void
iris_request_set_after (IrisRequest *self,
                        const guint64 *items,
                        gsize n_items,
                        IrisRequestAfter how)
{
  g_return_if_fail (self != NULL && !self->sealed);
  g_return_if_fail (items != NULL || n_items == 0);
  g_return_if_fail (how >= IRIS_REQUEST_AFTER_ALL && how <= IRIS_REQUEST_AFTER_SUCCESS);

  g_return_if_fail (n_items <= G_MAXUINT);
  g_free (self->after);
  self->after_how = how;
  self->after = g_memdup2 (items, n_items * sizeof *items);
  self->n_after = (guint) n_items;
}

/**
 * iris_request_set_retries:
 * @self: a request that was not submitted yet
 * @retries: how often at most; 0 for never
 *
 * Has the item tried again when its service fails, when it runs too long, and, of a command, when
 * it exits with another status than 0 or is killed.
 *
 * Since: 0.1
 */
void
iris_request_set_retries (IrisRequest *self, guint retries)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->retries = retries;
}

/**
 * iris_request_set_backoff:
 * @self: a request that was not submitted yet
 * @backoff_ms: milliseconds
 *
 * Sets the pause before the item is tried again for the first time; a second, if this is not
 * called. It doubles each time, and up to half of it is left to chance. Without retries it means
 * nothing.
 *
 * Since: 0.1
 */
void
iris_request_set_backoff (IrisRequest *self, guint64 backoff_ms)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->backoff_ms = backoff_ms;
  self->has_backoff = TRUE;
}

/**
 * iris_request_set_time_to_run:
 * @self: a request that was not submitted yet
 * @time_to_run_ms: milliseconds; 0 for as long as it likes
 *
 * Has a run of the item stopped after that time, as by cancelling it. It counts as failed.
 *
 * Since: 0.1
 */
void
iris_request_set_time_to_run (IrisRequest *self, guint64 time_to_run_ms)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->time_to_run_ms = time_to_run_ms;
}

/**
 * iris_request_set_deadline:
 * @self: a request that was not submitted yet
 * @deadline_ms: milliseconds after irisd has accepted it; 0 for none
 *
 * Has the item fail with %IRIS_CLIENT_ERROR_DEADLINE_PASSED if it has not begun by then, whatever
 * it waits for. It is not tried again after its deadline either.
 *
 * Since: 0.1
 */
void
iris_request_set_deadline (IrisRequest *self, guint64 deadline_ms)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->deadline_ms = deadline_ms;
}

/**
 * iris_request_set_wait_for_service:
 * @self: a request that was not submitted yet
 * @wait_for_service: whether irisd is to take the item although it does not know the service
 *
 * Lets the item wait for the first worker process that serves it. One that irisd keeps waits until
 * its deadline, or for ever without one; another one for as long as irisd's `worker-wait-ms` says.
 *
 * Since: 0.1
 */
void
iris_request_set_wait_for_service (IrisRequest *self, gboolean wait_for_service)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->wait_for_service = wait_for_service;
}

/**
 * iris_request_set_accepted_func:
 * @self: a request that was not submitted yet
 * @func: (nullable) (scope notified) (closure user_data) (destroy destroy): called in the client's
 *   context when irisd has accepted the item
 * @user_data: for @func
 * @destroy: (nullable): called when @user_data is not needed any more
 *
 * Has irisd say at once that it has accepted the item, and under which number. That costs a
 * message; who does not ask learns the number from the result at the earliest.
 *
 * Since: 0.1
 */
void
iris_request_set_accepted_func (IrisRequest *self,
                                IrisRequestAcceptedFunc func,
                                gpointer user_data,
                                GDestroyNotify destroy)
{
  g_return_if_fail (self != NULL && !self->sealed);

  if (self->accepted_destroy != NULL)
    self->accepted_destroy (self->accepted_data);
  self->accepted = func;
  self->accepted_data = user_data;
  self->accepted_destroy = destroy;
}

/**
 * iris_request_get_item:
 * @self: a request
 *
 * Gets the number that irisd gave the item: what [method@IrisClient.Request.set_after] takes.
 *
 * Returns: the number, or 0 if irisd has not told one; see
 *   [method@IrisClient.Request.set_accepted_func]
 *
 * Since: 0.1
 */
guint64
iris_request_get_item (IrisRequest *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->item;
}
