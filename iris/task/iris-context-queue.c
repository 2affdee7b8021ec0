/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The queue of a main context: one source for each context, found by a table.
 */
#include "iris/task/iris-context-queue-private.h"

#include "iris/base/tsan/iris-tsan-private.h"
#include "iris/sched/schedulers/iris-source-items-private.h"

struct _IrisContextQueue
{
  GSource source;
  GMainContext *context; /* unowned: it owns the source */
  IrisSourceItems items;
};

static GMutex lock;
static GHashTable *queues; /* context to queue, both unowned; under the lock */

static gboolean
context_queue_has_items (GSource *source)
{
  return iris_source_items_ready (&((IrisContextQueue *) source)->items);
}

static gboolean
context_queue_prepare (GSource *source, gint *timeout)
{
  *timeout = -1;

  return context_queue_has_items (source);
}

static gboolean
context_queue_dispatch (GSource *source, GSourceFunc callback, gpointer data)
{
  IrisContextQueue *self = (IrisContextQueue *) source;
  IrisItem *item;

  for (guint i = 0;
       i < IRIS_SOURCE_ITEMS_BATCH && (item = iris_source_items_take (&self->items)) != NULL; i++)
    iris_item_run (item);

  return G_SOURCE_CONTINUE;
}

static void
context_queue_finalize (GSource *source)
{
  IrisContextQueue *self = (IrisContextQueue *) source;
  IrisItem *item;

  /* Who drops it is behind the owner's last look, by GLib's count of references. */
  iris_tsan_acquire (self->context);
  g_mutex_lock (&lock);
  if (g_hash_table_lookup (queues, self->context) == self)
    g_hash_table_remove (queues, self->context);
  g_mutex_unlock (&lock);
  while ((item = iris_source_items_take (&self->items)) != NULL)
    iris_item_cancel (item);
}

static GSourceFuncs context_queue_funcs = {
  .prepare = context_queue_prepare,
  .check = context_queue_has_items,
  .dispatch = context_queue_dispatch,
  .finalize = context_queue_finalize,
};

static IrisContextQueue *
context_queue_new (GMainContext *context)
{
  GSource *source = g_source_new (&context_queue_funcs, sizeof (IrisContextQueue));
  IrisContextQueue *self = (IrisContextQueue *) source;

  self->context = context;
  g_source_set_static_name (source, "iris tasks");
  g_source_set_can_recurse (source, TRUE);

  return self;
}

IrisContextQueue *
iris_context_queue_of (GMainContext *context)
{
  IrisContextQueue *self, *made;

  g_mutex_lock (&lock);
  if (queues == NULL)
    queues = g_hash_table_new (NULL, NULL);
  self = g_hash_table_lookup (queues, context);
  g_mutex_unlock (&lock);
  if (self != NULL)
    return self;

  /* Attaching calls into GLib, so not under the lock. Of two that are made at once, one wins. */
  made = context_queue_new (context);
  g_source_attach (&made->source, context);
  g_mutex_lock (&lock);
  self = g_hash_table_lookup (queues, context);
  if (self == NULL)
    g_hash_table_insert (queues, context, self = made);
  g_mutex_unlock (&lock);
  if (self != made)
    g_source_destroy (&made->source);
  g_source_unref (&made->source);

  return self;
}

void
iris_context_queue_push (IrisContextQueue *self, IrisItem *item)
{
  iris_source_items_push (&self->items, self->context, item);
}
