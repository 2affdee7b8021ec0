/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The place: a part of the machine that shares memory close by.
 */
#pragma once

#include <iris/base/iris-version-macros.h>
#include <glib-object.h>

G_BEGIN_DECLS

typedef struct _IrisPlace IrisPlace;

#define IRIS_TYPE_PLACE (iris_place_get_type ())

IRIS_AVAILABLE_IN_ALL GType iris_place_get_type (void);
IRIS_AVAILABLE_IN_ALL IrisPlace *iris_place_ref (IrisPlace *self);
IRIS_AVAILABLE_IN_ALL void iris_place_unref (IrisPlace *self);
IRIS_AVAILABLE_IN_ALL guint iris_place_get_id (const IrisPlace *self);
IRIS_AVAILABLE_IN_ALL const char *iris_place_get_name (const IrisPlace *self);
IRIS_AVAILABLE_IN_ALL const char *iris_place_get_cpus (const IrisPlace *self);
IRIS_AVAILABLE_IN_ALL const char *iris_place_get_memory_nodes (const IrisPlace *self);
IRIS_AVAILABLE_IN_ALL guint iris_place_get_n_workers (const IrisPlace *self);
IRIS_AVAILABLE_IN_ALL guint64 iris_place_get_cache_size (const IrisPlace *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_place_is_bound (const IrisPlace *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_place_bind_current_thread (const IrisPlace *self,
                                                               guint worker,
                                                               GError **error);
IRIS_AVAILABLE_IN_ALL gpointer iris_place_alloc (const IrisPlace *self, gsize size);
IRIS_AVAILABLE_IN_ALL gpointer iris_place_alloc_full (const IrisPlace *self,
                                                      gsize size,
                                                      gboolean *bound);
IRIS_AVAILABLE_IN_ALL void iris_place_free (const IrisPlace *self, gpointer memory, gsize size);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisPlace, iris_place_unref)

G_END_DECLS
