/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lock-free stack.
 */
#pragma once

#include <iris/base/iris-version-macros.h>
#include <glib-object.h>

G_BEGIN_DECLS

#define IRIS_TYPE_STACK (iris_stack_get_type ())

typedef struct _IrisStack IrisStack;

IRIS_AVAILABLE_IN_ALL GType iris_stack_get_type (void);
IRIS_AVAILABLE_IN_ALL IrisStack *iris_stack_new (void);
IRIS_AVAILABLE_IN_ALL IrisStack *iris_stack_ref (IrisStack *self);
IRIS_AVAILABLE_IN_ALL void iris_stack_unref (IrisStack *self);
IRIS_AVAILABLE_IN_ALL void iris_stack_push (IrisStack *self, gpointer item);
IRIS_AVAILABLE_IN_ALL gpointer iris_stack_pop (IrisStack *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_stack_is_empty (IrisStack *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisStack, iris_stack_unref)

G_END_DECLS
