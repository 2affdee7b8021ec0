/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Looks at the GCancellables of many calls.
 *
 * Programs hand the same GCancellable to thousands of calls. A source for each of them would make
 * every turn of the loop walk over thousands of sources, so there is one source for each
 * GCancellable and a list of its calls. g_cancellable_cancel() may be called from any thread; the
 * source brings it into the client's.
 */
#include "iris-client-watch-private.h"

struct _IrisClientWatches
{
  GMainContext *context;
  IrisClientWatchFunc func;
  gpointer user_data;
  GHashTable *by_cancellable;
};

typedef struct
{
  IrisClientWatches *watches;
  GCancellable *cancellable;
  GSource *source;
  GQueue calls;
} IrisClientWatch;

static void
iris_client_watch_free (gpointer data)
{
  IrisClientWatch *watch = data;
  GList *link;

  while ((link = g_queue_pop_head_link (&watch->calls)) != NULL)
    ((IrisClientCall *) link->data)->watch = NULL;
  g_source_destroy (watch->source);
  g_source_unref (watch->source);
  g_object_unref (watch->cancellable);
  g_free (watch);
}

static gboolean
iris_client_watch_triggered (GCancellable *cancellable, gpointer user_data)
{
  IrisClientWatch *watch = user_data;
  IrisClientWatches *self = watch->watches;
  IrisClientWatchFunc func = self->func;
  gpointer owner = self->user_data;
  GList *link;

  /* Cancelling a call runs the program's code, which may end others of the list and ask for new
   * ones with the same GCancellable: the list is stolen first, and its head looked up each time. */
  g_hash_table_steal (self->by_cancellable, cancellable);
  while ((link = g_queue_pop_head_link (&watch->calls)) != NULL)
    {
      ((IrisClientCall *) link->data)->watch = NULL;
      func (link->data, owner);
    }
  iris_client_watch_free (watch);
  return G_SOURCE_REMOVE;
}

/* @user_data must stay alive while @func runs. */
IrisClientWatches *
iris_client_watches_new (GMainContext *context, IrisClientWatchFunc func, gpointer user_data)
{
  IrisClientWatches *self = g_new0 (IrisClientWatches, 1);

  self->context = g_main_context_ref (context);
  self->func = func;
  self->user_data = user_data;
  self->by_cancellable = g_hash_table_new_full (g_direct_hash, g_direct_equal, NULL,
                                                iris_client_watch_free);
  return self;
}

void
iris_client_watches_free (IrisClientWatches *self)
{
  g_hash_table_unref (self->by_cancellable);
  g_main_context_unref (self->context);
  g_free (self);
}

void
iris_client_watches_add (IrisClientWatches *self, IrisClientCall *call, GCancellable *cancellable)
{
  IrisClientWatch *watch = g_hash_table_lookup (self->by_cancellable, cancellable);

  if (watch == NULL)
    {
      watch = g_new0 (IrisClientWatch, 1);
      watch->watches = self;
      watch->cancellable = g_object_ref (cancellable);
      watch->source = g_cancellable_source_new (cancellable);
      g_source_set_callback (watch->source, G_SOURCE_FUNC (iris_client_watch_triggered), watch,
                             NULL);
      g_source_attach (watch->source, self->context);
      g_hash_table_insert (self->by_cancellable, cancellable, watch);
    }
  call->watch = watch;
  g_queue_push_tail_link (&watch->calls, &call->watch_link);
}

void
iris_client_watches_remove (IrisClientWatches *self, IrisClientCall *call)
{
  IrisClientWatch *watch = call->watch;

  if (watch == NULL)
    return;
  call->watch = NULL;
  g_queue_unlink (&watch->calls, &call->watch_link);
  if (g_queue_is_empty (&watch->calls)
      && g_hash_table_lookup (self->by_cancellable, watch->cancellable) == watch)
    g_hash_table_remove (self->by_cancellable, watch->cancellable);
}
