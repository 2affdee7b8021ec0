/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Borrowed bytes: a frame, and a string.
 */
#pragma once

#include <iris/base/iris-version-macros.h>

G_BEGIN_DECLS

/**
 * IrisWireFrame:
 * @data: (array length=size) (nullable): the bytes, borrowed
 * @size: how many
 *
 * A run of bytes, borrowed.
 */
typedef struct
{
  const guint8 *data;
  gsize size;
} IrisWireFrame;

/**
 * IrisWireString:
 * @data: (nullable): the bytes, borrowed, not NUL-terminated
 * @len: how many
 *
 * UTF-8 text without NUL; in `path`, `args` and `key` any bytes but NUL.
 */
typedef struct
{
  const char *data;
  gsize len;
} IrisWireString;

/**
 * iris_wire_string_dup:
 *
 * Returns: (transfer full): a copy that ends with a NUL
 */
static inline char *
iris_wire_string_dup (const IrisWireString *self)
{
  return g_strndup (self->data != NULL ? self->data : "", self->len);
}

G_END_DECLS
