/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The MPSC queue: many senders, one owner.
 */
#pragma once

#include <iris/base/iris-version-macros.h>
#include <glib-object.h>

G_BEGIN_DECLS

#define IRIS_TYPE_MPSC (iris_mpsc_get_type ())

typedef struct _IrisMpsc IrisMpsc;

IRIS_AVAILABLE_IN_ALL GType iris_mpsc_get_type (void);
IRIS_AVAILABLE_IN_ALL IrisMpsc *iris_mpsc_new (void);
IRIS_AVAILABLE_IN_ALL IrisMpsc *iris_mpsc_ref (IrisMpsc *self);
IRIS_AVAILABLE_IN_ALL void iris_mpsc_unref (IrisMpsc *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_mpsc_push (IrisMpsc *self, gpointer item);
IRIS_AVAILABLE_IN_ALL gpointer iris_mpsc_pop (IrisMpsc *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_mpsc_rest (IrisMpsc *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_mpsc_is_empty (IrisMpsc *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisMpsc, iris_mpsc_unref)

G_END_DECLS
