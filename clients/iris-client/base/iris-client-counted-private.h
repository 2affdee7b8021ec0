/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Boxed types whose structs are counted: made by g_atomic_rc_box_new0(), read by any thread.
 */
#pragma once

#include <glib-object.h>

G_BEGIN_DECLS

/* Defines NAME_get_type(), NAME_ref(), and NAME_unref(), which ends with NAME_clear(). */
#define IRIS_CLIENT_DEFINE_COUNTED(Type, name)                          \
  G_DEFINE_BOXED_TYPE (Type, name, name##_ref, name##_unref)            \
  Type *name##_ref (Type *self)                                         \
  {                                                                     \
    g_return_val_if_fail (self != NULL, NULL);                          \
                                                                        \
    return g_atomic_rc_box_acquire (self);                              \
  }                                                                     \
  void name##_unref (Type *self)                                        \
  {                                                                     \
    g_return_if_fail (self != NULL);                                    \
                                                                        \
    g_atomic_rc_box_release_full (self, (GDestroyNotify) name##_clear); \
  }

G_END_DECLS
