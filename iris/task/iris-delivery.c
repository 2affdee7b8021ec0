/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Delivery into a main context: one source for each context, found by a table.
 */
#include "iris/task/iris-delivery-private.h"

#include "iris/base/iris-tsan-private.h"
#include "iris/sched/iris-source-items-private.h"

struct _IrisDelivery
{
  GSource source;
  GMainContext *context; /* unowned: it owns the source */
  IrisSourceItems items;
};

static GMutex lock;
static GHashTable *deliveries; /* context to delivery, both unowned; under the lock */

static gboolean
delivery_has_items (GSource *source)
{
  return iris_source_items_ready (&((IrisDelivery *) source)->items);
}

static gboolean
delivery_prepare (GSource *source, gint *timeout)
{
  *timeout = -1;

  return delivery_has_items (source);
}

static gboolean
delivery_dispatch (GSource *source, GSourceFunc callback, gpointer data)
{
  IrisDelivery *self = (IrisDelivery *) source;
  IrisItem *item;

  for (guint i = 0;
       i < IRIS_SOURCE_ITEMS_BATCH && (item = iris_source_items_take (&self->items)) != NULL; i++)
    iris_item_run (item);

  return G_SOURCE_CONTINUE;
}

static void
delivery_finalize (GSource *source)
{
  IrisDelivery *self = (IrisDelivery *) source;
  IrisItem *item;

  /* Who drops it is behind the owner's last look, by GLib's count of references. */
  iris_tsan_acquire (self->context);
  g_mutex_lock (&lock);
  if (g_hash_table_lookup (deliveries, self->context) == self)
    g_hash_table_remove (deliveries, self->context);
  g_mutex_unlock (&lock);
  while ((item = iris_source_items_take (&self->items)) != NULL)
    iris_item_cancel (item);
}

static GSourceFuncs delivery_funcs = {
  .prepare = delivery_prepare,
  .check = delivery_has_items,
  .dispatch = delivery_dispatch,
  .finalize = delivery_finalize,
};

static IrisDelivery *
delivery_new (GMainContext *context)
{
  GSource *source = g_source_new (&delivery_funcs, sizeof (IrisDelivery));
  IrisDelivery *self = (IrisDelivery *) source;

  self->context = context;
  g_source_set_static_name (source, "iris tasks");
  g_source_set_can_recurse (source, TRUE);

  return self;
}

IrisDelivery *
iris_delivery_of (GMainContext *context)
{
  IrisDelivery *self, *made;

  g_mutex_lock (&lock);
  if (deliveries == NULL)
    deliveries = g_hash_table_new (NULL, NULL);
  self = g_hash_table_lookup (deliveries, context);
  g_mutex_unlock (&lock);
  if (self != NULL)
    return self;

  /* Attaching calls into GLib, so not under the lock. Of two that are made at once, one wins. */
  made = delivery_new (context);
  g_source_attach (&made->source, context);
  g_mutex_lock (&lock);
  self = g_hash_table_lookup (deliveries, context);
  if (self == NULL)
    g_hash_table_insert (deliveries, context, self = made);
  g_mutex_unlock (&lock);
  if (self != made)
    g_source_destroy (&made->source);
  g_source_unref (&made->source);

  return self;
}

void
iris_delivery_push (IrisDelivery *self, IrisItem *item)
{
  iris_source_items_push (&self->items, self->context, item);
}
