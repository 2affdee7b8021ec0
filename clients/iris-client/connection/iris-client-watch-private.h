/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Looks at the GCancellables of many calls.
 */
#pragma once

#include "iris-client-call-private.h"

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _IrisClientWatches IrisClientWatches;

/* Called for each call of a GCancellable that was triggered, which is watched no more. */
typedef void (*IrisClientWatchFunc) (IrisClientCall *call, gpointer user_data);

IrisClientWatches *
iris_client_watches_new (GMainContext *context, IrisClientWatchFunc func, gpointer user_data);
void iris_client_watches_free (IrisClientWatches *self);
void
iris_client_watches_add (IrisClientWatches *self, IrisClientCall *call, GCancellable *cancellable);
void iris_client_watches_remove (IrisClientWatches *self, IrisClientCall *call);

G_END_DECLS
