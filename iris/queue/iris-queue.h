/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The abstract queue: what every queue that threads may wait at can do.
 */
#pragma once

#include <iris/base/iris-version-macros.h>
#include <glib-object.h>

G_BEGIN_DECLS

#define IRIS_TYPE_QUEUE (iris_queue_get_type ())
IRIS_AVAILABLE_IN_ALL
G_DECLARE_DERIVABLE_TYPE (IrisQueue, iris_queue, IRIS, QUEUE, GObject)

/**
 * IrisQueueClass:
 * @push: see [method@Queue.push]
 * @pop: see [method@Queue.pop]; unless it is overridden, @timed_pop without a limit
 * @try_pop: see [method@Queue.try_pop]; unless it is overridden, @timed_pop with a timeout of 0
 * @timed_pop: see [method@Queue.timed_pop]
 * @try_pop_or_close: see [method@Queue.try_pop_or_close]; unless it is overridden,
 *   @timed_pop_or_close with a timeout of 0
 * @timed_pop_or_close: see [method@Queue.timed_pop_or_close]
 * @close: see [method@Queue.close]
 * @get_length: see [method@Queue.get_length]
 * @is_closed: see [method@Queue.is_closed]
 *
 * What a queue implements. Every function may be called by any thread at any time.
 */
struct _IrisQueueClass
{
  GObjectClass parent_class;

  gboolean (*push) (IrisQueue *self, gpointer item);
  gpointer (*pop) (IrisQueue *self);
  gpointer (*try_pop) (IrisQueue *self);
  gpointer (*timed_pop) (IrisQueue *self, gint64 timeout);
  gpointer (*try_pop_or_close) (IrisQueue *self);
  gpointer (*timed_pop_or_close) (IrisQueue *self, gint64 timeout);
  void (*close) (IrisQueue *self);
  guint (*get_length) (IrisQueue *self);
  gboolean (*is_closed) (IrisQueue *self);

  /*< private >*/
  gpointer padding[7];
};

IRIS_AVAILABLE_IN_ALL IrisQueue *iris_queue_new (void);
IRIS_AVAILABLE_IN_ALL gboolean iris_queue_push (IrisQueue *self, gpointer item);
IRIS_AVAILABLE_IN_ALL gpointer iris_queue_pop (IrisQueue *self);
IRIS_AVAILABLE_IN_ALL gpointer iris_queue_try_pop (IrisQueue *self);
IRIS_AVAILABLE_IN_ALL gpointer iris_queue_timed_pop (IrisQueue *self, gint64 timeout);
IRIS_AVAILABLE_IN_ALL gpointer iris_queue_try_pop_or_close (IrisQueue *self);
IRIS_AVAILABLE_IN_ALL gpointer iris_queue_timed_pop_or_close (IrisQueue *self, gint64 timeout);
IRIS_AVAILABLE_IN_ALL void iris_queue_close (IrisQueue *self);
IRIS_AVAILABLE_IN_ALL guint iris_queue_get_length (IrisQueue *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_queue_is_closed (IrisQueue *self);

G_END_DECLS
