/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Posting later: timers that post a message.
 */
#pragma once

#include <iris/message/port/iris-actor.h>
#include <iris/message/port/iris-port.h>
#include <iris/message/iris-timer.h>

G_BEGIN_DECLS

IRIS_AVAILABLE_IN_ALL IrisTimer *
iris_port_post_after (IrisPort *self, IrisMessage *message, gint64 delay_us);
IRIS_AVAILABLE_IN_ALL IrisTimer *
iris_port_post_every (IrisPort *self, IrisMessage *message, gint64 period_us);
IRIS_AVAILABLE_IN_ALL IrisTimer *
iris_actor_post_after (IrisActor *self, IrisMessage *message, gint64 delay_us);

G_END_DECLS
