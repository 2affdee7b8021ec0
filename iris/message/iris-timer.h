/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The timer: posts a message later, once or again and again.
 */
#pragma once

#include <iris/message/port/iris-actor.h>
#include <iris/message/port/iris-port.h>

G_BEGIN_DECLS

#define IRIS_TYPE_TIMER (iris_timer_get_type ())

/**
 * IrisTimer:
 *
 * Something that happens at a time. All timers of a process share one thread, which exists once
 * there was a timer, and sleeps until the next one is due; without timers it sleeps for good.
 *
 * Since: 0.1
 */
typedef struct _IrisTimer IrisTimer;

IRIS_AVAILABLE_IN_ALL
GType iris_timer_get_type (void);
IRIS_AVAILABLE_IN_ALL
IrisTimer *iris_timer_ref (IrisTimer *self);
IRIS_AVAILABLE_IN_ALL
void iris_timer_unref (IrisTimer *self);
IRIS_AVAILABLE_IN_ALL
gboolean iris_timer_cancel (IrisTimer *self);
IRIS_AVAILABLE_IN_ALL
gboolean iris_timer_is_active (IrisTimer *self);
IRIS_AVAILABLE_IN_ALL
IrisTimer *iris_port_post_after (IrisPort *self, IrisMessage *message, gint64 delay_us);
IRIS_AVAILABLE_IN_ALL
IrisTimer *iris_port_post_every (IrisPort *self, IrisMessage *message, gint64 period_us);
IRIS_AVAILABLE_IN_ALL
IrisTimer *iris_actor_post_after (IrisActor *self, IrisMessage *message, gint64 delay_us);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisTimer, iris_timer_unref)

G_END_DECLS
