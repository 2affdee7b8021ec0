/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Near what a work item should run, before it is sent.
 *
 * An item has one hint: the one that was set last, of a place and what is here.
 */
#include "iris-request-private.h"

/*< private >
 * iris_request_clear_near:
 * @self: a request
 *
 * Forgets what it was to be near.
 */
void
iris_request_clear_near (IrisRequest *self)
{
  self->near_item = 0;
  g_clear_pointer (&self->near_path, g_free);
}

/**
 * iris_request_set_near_item:
 * @self: a request that was not submitted yet
 * @item: the number of an item, as [method@IrisClient.Request.get_item] gives it, or 0 for none
 *
 * Sets the hint by another item, of this client or of another: the place where that one ran or is
 * queued, because its data is there. irisd remembers the items of the recent past (its limit
 * `remembered-places`); a hint that it cannot follow is none, unless the item is strict, which then
 * fails with %IRIS_CLIENT_ERROR_NOT_REMEMBERED.
 *
 * Since: 0.1
 */
void
iris_request_set_near_item (IrisRequest *self, guint64 item)
{
  g_return_if_fail (self != NULL && !self->sealed);

  iris_request_set_place (self, -1);
  self->near_item = item;
}

/**
 * iris_request_set_near_path:
 * @self: a request that was not submitted yet
 * @path: (nullable) (type filename): a path, or %NULL for none
 *
 * Sets the hint by a path: the place where it was last worked on, by an item with that path or near
 * it. irisd only compares paths and opens none, so any name will do; give absolute ones, so that
 * others mean the same. irisd remembers those used last (its limit `remembered-paths`); the first
 * item of a path goes anywhere, unless it is strict, which then fails with
 * %IRIS_CLIENT_ERROR_NOT_REMEMBERED.
 *
 * Since: 0.1
 */
void
iris_request_set_near_path (IrisRequest *self, const char *path)
{
  g_return_if_fail (self != NULL && !self->sealed);

  iris_request_set_place (self, -1);
  self->near_path = g_strdup (path);
}
