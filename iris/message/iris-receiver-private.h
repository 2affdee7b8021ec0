/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a port needs to know of a receiver.
 *
 * Ownership has no cycle: a port holds its receiver through a census (its subject), and gives the
 * reference up when the last message on its way has been handled; a receiver only remembers its
 * port weakly.
 */
#pragma once

#include "iris/base/iris-census-private.h"
#define IRIS_INSIDE
#include "iris/message/iris-port.h"
#include "iris/message/iris-receiver.h"
#undef IRIS_INSIDE

IrisCensus *iris_receiver_attach (IrisReceiver *self, IrisPort *port);
void iris_receiver_deliver (IrisReceiver *self, IrisCensus *census, IrisMessage *face);
void iris_port_remove_receiver (IrisPort *self, IrisReceiver *receiver);
