/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The one header that a program includes.
 */
#pragma once

#define IRIS_INSIDE
#include <iris/base/iris-version-macros.h>
#include <iris/queue/iris-queue.h>
#include <iris/queue/iris-free-list.h>
#include <iris/queue/iris-lfqueue.h>
#include <iris/queue/iris-mpsc.h>
#include <iris/queue/iris-ring.h>
#include <iris/queue/iris-rrobin.h>
#include <iris/queue/iris-stack.h>
#include <iris/queue/iris-deque.h>
#include <iris/place/iris-place-error.h>
#include <iris/place/iris-topology.h>
#include <iris/place/iris-place.h>
#include <iris/place/iris-places.h>
#include <iris/sched/iris-item.h>
#include <iris/sched/iris-worker.h>
#include <iris/sched/iris-steal-policy.h>
#include <iris/sched/iris-stats.h>
#include <iris/sched/iris-stats-model.h>
#include <iris/sched/iris-scheduler.h>
#include <iris/sched/iris-first-touch.h>
#include <iris/sched/iris-gmainscheduler.h>
#include <iris/sched/iris-lfscheduler.h>
#include <iris/sched/iris-place-scheduler.h>
#include <iris/sched/iris-wsscheduler.h>
#include <iris/sched/iris-scheduler-default.h>
#include <iris/sched/iris-work-handle.h>
#include <iris/message/iris-message.h>
#include <iris/message/iris-message-error.h>
#include <iris/message/iris-message-values.h>
#include <iris/message/iris-receiver.h>
#include <iris/message/iris-port-limit.h>
#include <iris/message/iris-port.h>
#include <iris/message/iris-arbiter.h>
#include <iris/message/iris-actor.h>
#include <iris/message/iris-timer.h>
#include <iris/message/iris-request.h>
#include <iris/message/iris-service.h>
#include <iris/wire/iris-wire-limits.h>
#include <iris/wire/iris-wire-error.h>
#include <iris/wire/iris-wire-message.h>
#include <iris/wire/iris-wire-decoder.h>
#include <iris/wire/iris-wire-encoder.h>
#include <iris/wire/iris-wire-batch.h>
#include <iris/wire/iris-wire-map.h>
#include <iris/wire/iris-wire-status.h>
#include <iris/wire/iris-wire-services.h>
#include <iris/wire/iris-wire-endpoint.h>
#undef IRIS_INSIDE
