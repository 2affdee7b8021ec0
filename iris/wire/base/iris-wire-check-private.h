/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How encoder and decoder refuse: the same rules, the same sentences.
 */
#pragma once

#include "iris-wire-bytes.h"
#include "iris-wire-error.h"
#include "iris-wire-limits.h"

G_BEGIN_DECLS

/* What is being checked. `what` is a constant text that sentences begin with ("SUBMIT"); `index`
 * counts elements of a list and is -1 outside one. After a limit was exceeded, `limit` and
 * `limit_value` say which. */
typedef struct
{
  const IrisWireLimits *limits;
  const char *what;
  gint64 index;
  const char *limit;
  guint64 limit_value;
  GError **error;
} IrisWireCheck;

void iris_wire_check_init (IrisWireCheck *self,
                           const IrisWireLimits *limits,
                           const char *what,
                           GError **error);

/* Sets the error. */
void iris_wire_refuse (IrisWireCheck *self, IrisWireError code, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
void iris_wire_refuse_limit (IrisWireCheck *self,
                             const char *subject,
                             guint64 size,
                             const char *unit,
                             const char *limit,
                             guint64 value);

/* The same as an expression that is FALSE, so that a caller can return it (and compilers see that
 * it does). */
#define iris_wire_fail(...)       (iris_wire_refuse (__VA_ARGS__), FALSE)
#define iris_wire_fail_limit(...) (iris_wire_refuse_limit (__VA_ARGS__), FALSE)

/* The length of a string of a key. */
gboolean iris_wire_check_length (IrisWireCheck *self, guint key, const char *name, gsize len);

/* A string of a key: its length, and, unless `raw`, that it is text. No string may hold NUL. */
gboolean iris_wire_check_string (IrisWireCheck *self,
                                 guint key,
                                 const char *name,
                                 const IrisWireString *string,
                                 gboolean raw);

gboolean iris_wire_is_text (const char *data, gsize len);
guint iris_wire_depth (const IrisWireLimits *limits);

G_END_DECLS
