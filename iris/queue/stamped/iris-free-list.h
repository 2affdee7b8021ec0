/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The free list: blocks of one size that any thread may take and give back.
 */
#pragma once

#include <iris/base/iris-version-macros.h>
#include <glib-object.h>

G_BEGIN_DECLS

#define IRIS_TYPE_FREE_LIST (iris_free_list_get_type ())

typedef struct _IrisFreeList IrisFreeList;

IRIS_AVAILABLE_IN_ALL GType iris_free_list_get_type (void);
IRIS_AVAILABLE_IN_ALL IrisFreeList *iris_free_list_new (gsize block_size);
IRIS_AVAILABLE_IN_ALL IrisFreeList *iris_free_list_ref (IrisFreeList *self);
IRIS_AVAILABLE_IN_ALL void iris_free_list_unref (IrisFreeList *self);
IRIS_AVAILABLE_IN_ALL gpointer iris_free_list_get (IrisFreeList *self);
IRIS_AVAILABLE_IN_ALL void iris_free_list_put (IrisFreeList *self, gpointer block);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisFreeList, iris_free_list_unref)

G_END_DECLS
