/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The ref() of a public type that counts its references; @add adds one.
 */
#pragma once

#include <glib.h>

#define IRIS_DEFINE_REF(Type, prefix, add)     \
  Type *prefix##_ref (Type *self)              \
  {                                            \
    g_return_val_if_fail (self != NULL, NULL); \
                                               \
    (void) (add);                              \
                                               \
    return self;                               \
  }
