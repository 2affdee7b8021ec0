/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The ring: a bounded queue for many threads that overflows instead of refusing.
 */
#pragma once

#include <iris/base/iris-version-macros.h>
#include <glib-object.h>

G_BEGIN_DECLS

#define IRIS_TYPE_RING (iris_ring_get_type ())

typedef struct _IrisRing IrisRing;

IRIS_AVAILABLE_IN_ALL GType iris_ring_get_type (void);
IRIS_AVAILABLE_IN_ALL IrisRing *iris_ring_new (guint capacity);
IRIS_AVAILABLE_IN_ALL IrisRing *iris_ring_ref (IrisRing *self);
IRIS_AVAILABLE_IN_ALL void iris_ring_unref (IrisRing *self);
IRIS_AVAILABLE_IN_ALL void iris_ring_push (IrisRing *self, gpointer item);
IRIS_AVAILABLE_IN_ALL gpointer iris_ring_pop (IrisRing *self);
IRIS_AVAILABLE_IN_ALL guint64 iris_ring_get_length (IrisRing *self);
IRIS_AVAILABLE_IN_ALL guint iris_ring_get_capacity (IrisRing *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisRing, iris_ring_unref)

G_END_DECLS
