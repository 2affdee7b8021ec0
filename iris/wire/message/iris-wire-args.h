/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Lists of strings and of numbers of a message, borrowed from it or for it.
 */
#pragma once

#include <iris/wire/base/iris-wire-bytes.h>

G_BEGIN_DECLS

/**
 * IrisWireArgs:
 * @n: how many strings
 * @strv: (nullable) (array length=n): the strings of a message that is to be encoded
 * @packed: (nullable): of a decoded message: the strings as they lie in the header
 * @packed_size: bytes at @packed
 *
 * A list of strings, borrowed. Read it with #IrisWireArgsIter, set it with
 * iris_wire_message_set_args().
 */
typedef struct
{
  guint n;
  const char *const *strv;
  const guint8 *packed;
  gsize packed_size;
} IrisWireArgs;

/**
 * IrisWireNumbers:
 * @n: how many numbers
 * @values: (nullable) (array length=n): the numbers of a message that is to be encoded
 * @packed: (nullable): of a decoded message: the numbers as they lie in the header
 * @packed_size: bytes at @packed
 *
 * A list of numbers, borrowed. Read it with iris_wire_numbers_read(), set it with
 * iris_wire_message_set_numbers().
 */
typedef struct
{
  guint n;
  const guint64 *values;
  const guint8 *packed;
  gsize packed_size;
} IrisWireNumbers;

/**
 * iris_wire_numbers_read:
 * @self: numbers
 * @values: (out caller-allocates) (array): where to; room for all of them
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_numbers_read (const IrisWireNumbers *self, guint64 *values);

/**
 * IrisWireArgsIter:
 *
 * Walks over #IrisWireArgs without allocating. Live on the stack; nothing to free.
 */
typedef struct
{
  /*< private >*/
  IrisWireArgs args;
  gsize offset;
  guint index;
} IrisWireArgsIter;

/**
 * iris_wire_args_iter_init:
 * @self: (out caller-allocates): an iterator
 * @args: what to walk over; what it borrows from must outlive @self
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_args_iter_init (IrisWireArgsIter *self, const IrisWireArgs *args);

/**
 * iris_wire_args_iter_next:
 * @arg: (out): the next string, borrowed
 *
 * Returns: %FALSE when there is none left
 */
IRIS_AVAILABLE_IN_ALL
gboolean iris_wire_args_iter_next (IrisWireArgsIter *self, IrisWireString *arg);

/**
 * iris_wire_args_dup:
 * @self: arguments
 *
 * Returns: (transfer full) (array zero-terminated=1): copies, to be freed with g_strfreev()
 */
IRIS_AVAILABLE_IN_ALL
char **iris_wire_args_dup (const IrisWireArgs *self);

G_END_DECLS
