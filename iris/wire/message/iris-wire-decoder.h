/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames to message.
 */
#pragma once

#include <iris/wire/base/iris-wire-limits.h>
#include <iris/wire/message/iris-wire-message.h>

G_BEGIN_DECLS

/**
 * iris_wire_decode:
 * @frames: (array length=n_frames): the frames, without a routing id before them
 * @n_frames: how many; anything but 5 is an error
 * @limits: (nullable): what the message may cost
 * @out: (out caller-allocates): the message; it borrows from what @frames point to
 *
 * Reads one message of either direction, and believes nothing: it allocates only for @error. irisd
 * must still look whether iris_wire_type_is_request(), a client whether it is not.
 *
 * Whether or not the message is good, @out has the request id if the third frame is 16 bytes (else
 * zeroes), and the type if the second is one byte (else 0): enough to answer. When a limit was
 * exceeded @out has its name in `limit` and its value in `limit_value`.
 *
 * Errors: %IRIS_WIRE_ERROR_MALFORMED, %IRIS_WIRE_ERROR_VERSION (first frame is of another version),
 * %IRIS_WIRE_ERROR_UNKNOWN_TYPE, %IRIS_WIRE_ERROR_TOO_LARGE, %IRIS_WIRE_ERROR_BAD_ARGUMENT (a
 * number out of its range). The sentence names frame, key and limit, and never repeats bytes of the
 * message.
 *
 * Returns: %TRUE if @out is a message that keeps the protocol
 */
IRIS_AVAILABLE_IN_ALL
gboolean iris_wire_decode (const IrisWireFrame *frames,
                           guint n_frames,
                           const IrisWireLimits *limits,
                           IrisWireMessage *out,
                           GError **error);

G_END_DECLS
