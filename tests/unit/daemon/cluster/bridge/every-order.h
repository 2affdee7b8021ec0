/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Goes through every order of events up to a depth: a run asks at each step which of the events
 * that can happen now does, and is repeated until each answer has been given everywhere.
 */
#pragma once

#include <check.h>
#include <glib.h>

/* As ck_assert(), which notes each that holds in a pipe: millions of them take half a minute. */
#define REQUIRE(expr)                     \
  G_STMT_START                            \
  {                                       \
    if (G_UNLIKELY (!(expr)))             \
      ck_abort_msg ("not so: %s", #expr); \
  }                                       \
  G_STMT_END

#define EVERY_ORDER_DEPTH 32

typedef struct
{
  guint chosen[EVERY_ORDER_DEPTH];
  guint among[EVERY_ORDER_DEPTH];
  guint depth; /* choices of this run */
  guint known; /* of which so many were given */
} EveryOrder;

/* 0 to @n - 1. */
static inline guint
every_order_choose (EveryOrder *self, guint n)
{
  guint at = self->depth++;

  g_assert (at < EVERY_ORDER_DEPTH && n > 0);
  if (at >= self->known)
    {
      self->chosen[at] = 0;
      self->among[at] = n;
      self->known = at + 1;
    }
  g_assert (self->among[at] == n);
  return self->chosen[at];
}

/* FALSE once there is no other run. */
static inline gboolean
every_order_next (EveryOrder *self)
{
  while (self->known > 0)
    {
      guint last = self->known - 1;

      if (++self->chosen[last] < self->among[last])
        {
          self->depth = 0;
          return TRUE;
        }
      self->known--;
    }
  return FALSE;
}
