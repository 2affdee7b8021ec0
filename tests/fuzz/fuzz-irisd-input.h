/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The form of an input of the fuzzer of irisd, for the fuzzer and for programs that repeat its
 * inputs.
 */
#pragma once

#include <iris/iris.h>
#include <iris/wire/iris-wire.h>

#define FUZZ_MOST_MESSAGES 8
#define FUZZ_MOST_FRAMES   7

/**
 * FuzzMessage:
 * @n: how many frames it has, at least one
 * @frames: borrowed from the input
 */
typedef struct
{
  guint n;
  IrisWireFrame frames[FUZZ_MOST_FRAMES];
} FuzzMessage;

/**
 * fuzz_irisd_split:
 * @data: an input: a byte that chooses a socket; then messages, each a byte that says how many
 *   frames it has, and the frames, each a length (two bytes, little endian) and its bytes
 * @size: its size
 * @messages: (array length=FUZZ_MOST_MESSAGES): filled with the messages
 *
 * Missing bytes shorten the last frame; every input is valid.
 *
 * Returns: how many messages
 */
static inline guint
fuzz_irisd_split (const guint8 *data, gsize size, FuzzMessage *messages)
{
  guint n = 0;
  gsize at = 1;
  while (at < size && n < FUZZ_MOST_MESSAGES)
    {
      FuzzMessage *message = &messages[n++];
      message->n = 1 + data[at++] % FUZZ_MOST_FRAMES;
      for (guint i = 0; i < message->n; i++)
        {
          gsize length = at + 2 <= size ? (gsize) data[at] | (gsize) data[at + 1] << 8 : 0;
          at = MIN (at + 2, size);
          length = MIN (length, size - at);
          message->frames[i] = (IrisWireFrame){ data + at, length };
          at += length;
        }
    }
  return n;
}
