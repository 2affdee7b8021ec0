/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The one target that libFuzzer and the plain driver share.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* One input: a byte that picks limits and path, then frames, each a length (two bytes, little
 * endian) and its bytes; the last frame takes the rest. Aborts if the decoder breaks a
 * guarantee. */
int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);
