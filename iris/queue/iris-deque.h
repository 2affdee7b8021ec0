/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The deque: one thread's own list of work, from which other threads steal.
 */
#pragma once

#include <iris/base/iris-version-macros.h>
#include <iris/queue/iris-deque-kind.h>
#include <glib-object.h>

G_BEGIN_DECLS

#define IRIS_TYPE_DEQUE_KIND (iris_deque_kind_get_type ())
IRIS_AVAILABLE_IN_ALL GType iris_deque_kind_get_type (void) G_GNUC_CONST;

typedef struct _IrisDeque IrisDeque;

IRIS_AVAILABLE_IN_ALL IrisDeque *iris_deque_new (IrisDequeKind kind);
IRIS_AVAILABLE_IN_ALL void iris_deque_free (IrisDeque *self);
IRIS_AVAILABLE_IN_ALL IrisDequeKind iris_deque_get_kind (IrisDeque *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_deque_push (IrisDeque *self, gpointer item);
IRIS_AVAILABLE_IN_ALL gpointer iris_deque_take (IrisDeque *self);
IRIS_AVAILABLE_IN_ALL gpointer iris_deque_take_oldest (IrisDeque *self);
IRIS_AVAILABLE_IN_ALL guint iris_deque_steal (IrisDeque *self, gpointer *items, guint max);
IRIS_AVAILABLE_IN_ALL guint64 iris_deque_expose (IrisDeque *self, guint64 n);
IRIS_AVAILABLE_IN_ALL guint64 iris_deque_get_length (IrisDeque *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisDeque, iris_deque_free)

G_END_DECLS
