/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Delivery into a main context: one source for each context, found by a table.
 */
#include "iris/task/iris-delivery-private.h"

#include "iris/base/iris-handback-private.h"

/* How many items run before other sources have their turn. */
#define BATCH 64

struct _IrisDelivery
{
  GSource source;
  GMainContext *context;     /* unowned: it owns the source */
  IrisHandback queued;       /* from anyone */
  IrisHandbackNode *pending; /* the context's owner's: oldest first */
};

static GMutex lock;
static GHashTable *deliveries; /* context to delivery, both unowned; under the lock */

static gboolean
delivery_has_items (GSource *source)
{
  IrisDelivery *self = (IrisDelivery *) source;

  return self->pending != NULL || !iris_handback_is_empty (&self->queued);
}

static gboolean
delivery_prepare (GSource *source, gint *timeout)
{
  *timeout = -1;

  return delivery_has_items (source);
}

static IrisItem *
delivery_take (IrisDelivery *self)
{
  IrisHandbackNode *node;

  if (self->pending == NULL)
    self->pending = iris_handback_reverse (iris_handback_take_all (&self->queued));
  node = self->pending;
  if (node == NULL)
    return NULL;
  self->pending = node->next;

  return (IrisItem *) ((guint8 *) node - G_STRUCT_OFFSET (IrisItem, next));
}

/* Takes one at a time, so an item may iterate the context itself. */
static gboolean
delivery_dispatch (GSource *source, GSourceFunc callback, gpointer data)
{
  IrisItem *item;

  for (guint i = 0; i < BATCH && (item = delivery_take ((IrisDelivery *) source)) != NULL; i++)
    iris_item_run (item);

  return G_SOURCE_CONTINUE;
}

static void
delivery_finalize (GSource *source)
{
  IrisDelivery *self = (IrisDelivery *) source;
  IrisItem *item;

  g_mutex_lock (&lock);
  if (g_hash_table_lookup (deliveries, self->context) == self)
    g_hash_table_remove (deliveries, self->context);
  g_mutex_unlock (&lock);
  while ((item = delivery_take (self)) != NULL)
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
  GMainContext *context = self->context;

  if (iris_handback_push (&self->queued, (IrisHandbackNode *) &item->next))
    g_main_context_wakeup (context);
}
