/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The protocol IRS1: everything that clients and irisd need to put it on a wire, and nothing of the
 * wire itself.
 *
 * A message is five frames. iris_wire_decode() turns frames into an IrisWireMessage that borrows
 * from them; iris_wire_encode() turns an IrisWireMessage into frames that borrow from it and from
 * the encoder. What lies in the bodies of the larger messages has types of its own:
 * IrisWireBatchBuilder and IrisWireBatchIter, IrisWireMap, IrisWireStatus and IrisWireServices.
 * doc/protocol.md describes the same from outside.
 *
 * Nothing here is shared between threads and nothing locks: a message, an encoder, a builder or an
 * iterator belongs to whoever made it. Functions without such an object may be called from any
 * thread.
 */
#pragma once

#include <iris/wire/iris-wire-batch.h>
#include <iris/wire/iris-wire-decoder.h>
#include <iris/wire/iris-wire-encoder.h>
#include <iris/wire/iris-wire-endpoint.h>
#include <iris/wire/iris-wire-error.h>
#include <iris/wire/iris-wire-limits.h>
#include <iris/wire/iris-wire-map.h>
#include <iris/wire/iris-wire-message.h>
#include <iris/wire/iris-wire-services.h>
#include <iris/wire/iris-wire-status.h>
