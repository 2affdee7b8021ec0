/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which places take items, and how many of their workers take part.
 */
#pragma once

#include "irisd-core.h"

G_BEGIN_DECLS

typedef struct _IrisdStaffPlace IrisdStaffPlace;

/**
 * IrisdStaff:
 *
 * What can be changed about the places while irisd runs. Any thread.
 */
struct _IrisdStaff
{
  _Atomic guint n_drained; /* most of the time none, and then this is all that is looked at */
  _Atomic guint n_paused;  /* the same of places whose gates are closed */

  /*< private >*/
  pthread_mutex_t lock;
  IrisdCore *core;
  IrisdStaffPlace *places;
  gboolean closed;
};

IrisdStaff *irisd_staff_new (IrisdCore *core);
void irisd_staff_free (IrisdStaff *self);
void irisd_staff_close (IrisdStaff *self);

gboolean
irisd_staff_drain (IrisdStaff *self, gint place, gboolean drained, guint *changed, GError **error);
gboolean
irisd_staff_set_workers (IrisdStaff *self, gint place, guint n, guint *changed, GError **error);
gboolean irisd_staff_resume (IrisdStaff *self, gint place);
guint irisd_staff_get_workers (IrisdStaff *self, gint place);

gboolean irisd_staff_place_is_drained (IrisdStaff *self, gint place);
gint irisd_staff_choose_other (IrisdStaff *self, gint place);
void irisd_staff_wake_place (IrisdStaff *self, gint place);
void irisd_staff_settle_all (IrisdStaff *self);

/* Whether a place takes no new items. */
static inline gboolean
irisd_staff_is_drained (IrisdStaff *self, gint place)
{
  return G_UNLIKELY (atomic_load_explicit (&self->n_drained, memory_order_acquire) > 0)
         && irisd_staff_place_is_drained (self, place);
}

/* Whether irisd was started with --paused, and some place has not been resumed. */
static inline gboolean
irisd_staff_is_paused (IrisdStaff *self)
{
  return G_UNLIKELY (atomic_load_explicit (&self->n_paused, memory_order_acquire) > 0);
}

/* A job has come to the gate of a place. */
static inline void
irisd_staff_wake (IrisdStaff *self, gint place)
{
  if (G_UNLIKELY (atomic_load_explicit (&self->n_drained, memory_order_acquire) > 0))
    irisd_staff_wake_place (self, place);
}

/* Jobs have left the gates. */
static inline void
irisd_staff_settle (IrisdStaff *self)
{
  if (G_UNLIKELY (atomic_load_explicit (&self->n_drained, memory_order_acquire) > 0))
    irisd_staff_settle_all (self);
}

G_END_DECLS
