/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Message to frames, with a header buffer that is used again and again.
 */
#pragma once

#include <iris/wire/base/iris-wire-limits.h>
#include <iris/wire/message/iris-wire-message.h>

G_BEGIN_DECLS

/**
 * IrisWireEncoder:
 * @frames: the five frames of the message that was encoded last
 * @two_frames: the same message in two
 *
 * Lives where you like (on the stack, in a struct) between iris_wire_encoder_init() and
 * iris_wire_encoder_clear(). Must not be moved while its frames are in use. One thread at a time.
 */
typedef struct
{
  IrisWireFrame frames[IRIS_WIRE_N_FRAMES];
  IrisWireFrame two_frames[2];

  /*< private >*/
  IrisWireLimits limits;
  GByteArray *head; /* the first four frames, one behind the other */
} IrisWireEncoder;

/**
 * iris_wire_encoder_init:
 * @self: (out caller-allocates): an encoder
 * @limits: (nullable): what a message may cost; copied
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_encoder_init (IrisWireEncoder *self, const IrisWireLimits *limits);

/**
 * iris_wire_encoder_clear:
 * @self: an encoder, or one filled with zeroes
 *
 * Frees the buffer; frames that were not sent yet are gone with it.
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_encoder_clear (IrisWireEncoder *self);

/**
 * iris_wire_encode:
 * @message: what to encode
 *
 * Fills @self's frames, in both forms. The last is @message's body itself, not a copy; the others
 * belong to @self and hold until it encodes the next message. Keys come in ascending order, numbers
 * in their shortest form: the same message always gives the same bytes. No allocation once the
 * buffer has grown to the size of the headers.
 *
 * Whatever iris_wire_decode() would refuse under the same limits is refused here with the same
 * error.
 *
 * Returns: %TRUE if the frames are good to send
 */
IRIS_AVAILABLE_IN_ALL
gboolean iris_wire_encode (IrisWireEncoder *self, const IrisWireMessage *message, GError **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (IrisWireEncoder, iris_wire_encoder_clear)

G_END_DECLS
