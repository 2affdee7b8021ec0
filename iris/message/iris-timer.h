/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The timer: posts a message later, once or again and again.
 */
#pragma once

#include <iris/base/iris-version-macros.h>
#include <glib-object.h>

G_BEGIN_DECLS

#define IRIS_TYPE_TIMER (iris_timer_get_type ())

/**
 * IrisTimer:
 *
 * Something that happens at a time. All timers of a process share one thread, which exists once
 * there was a timer, and sleeps until the next one is due; without timers it sleeps for good.
 */
typedef struct _IrisTimer IrisTimer;

IRIS_AVAILABLE_IN_ALL GType iris_timer_get_type (void);
IRIS_AVAILABLE_IN_ALL IrisTimer *iris_timer_ref (IrisTimer *self);
IRIS_AVAILABLE_IN_ALL void iris_timer_unref (IrisTimer *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_timer_cancel (IrisTimer *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_timer_is_active (IrisTimer *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisTimer, iris_timer_unref)

G_END_DECLS
