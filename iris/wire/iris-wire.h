/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The frames of irisd's protocol, for programs that speak it themselves.
 */
#pragma once

#ifndef IRIS_INSIDE
#define IRIS_INSIDE
#define IRIS_WIRE_UNDO_INSIDE
#endif
#include <iris/wire/base/iris-wire-bytes.h>
#include <iris/wire/base/iris-wire-limits.h>
#include <iris/wire/base/iris-wire-error.h>
#include <iris/wire/base/iris-wire-traceparent.h>
#include <iris/wire/message/iris-wire-args.h>
#include <iris/wire/message/iris-wire-keys.h>
#include <iris/wire/message/iris-wire-message.h>
#include <iris/wire/message/iris-wire-decoder.h>
#include <iris/wire/message/iris-wire-encoder.h>
#include <iris/wire/body/iris-wire-batch.h>
#include <iris/wire/body/iris-wire-client-keys.h>
#include <iris/wire/body/iris-wire-map.h>
#include <iris/wire/body/iris-wire-nodes.h>
#include <iris/wire/body/iris-wire-persistent-list.h>
#include <iris/wire/body/iris-wire-spans.h>
#include <iris/wire/body/iris-wire-statistics.h>
#include <iris/wire/body/iris-wire-status.h>
#include <iris/wire/body/iris-wire-queues.h>
#include <iris/wire/body/iris-wire-schedules.h>
#include <iris/wire/body/iris-wire-services.h>
#include <iris/wire/iris-wire-endpoint.h>
#ifdef IRIS_WIRE_UNDO_INSIDE
#undef IRIS_INSIDE
#undef IRIS_WIRE_UNDO_INSIDE
#endif
