/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Place control: which places take items, and how many of their workers are active.
 */
#pragma once

#include "daemon/exec/irisd-core.h"

G_BEGIN_DECLS

typedef struct _IrisdControlledPlace IrisdControlledPlace;

/* Changes of the places while irisd runs. Any thread. */
struct _IrisdPlaceControl
{
  _Atomic guint n_drained; /* mostly 0, and then nothing else is read */
  _Atomic guint n_paused;  /* the same of places whose gates are closed */

  /*< private >*/
  pthread_mutex_t lock;
  IrisdCore *core;
  IrisdControlledPlace *places;
  gboolean closed;
};

IrisdPlaceControl *irisd_place_control_new (IrisdCore *core);
void irisd_place_control_free (IrisdPlaceControl *self);
void irisd_place_control_close (IrisdPlaceControl *self);

gboolean irisd_place_control_drain (IrisdPlaceControl *self,
                                    gint place,
                                    gboolean drained,
                                    guint *changed,
                                    GError **error);
gboolean irisd_place_control_set_workers (IrisdPlaceControl *self,
                                          gint place,
                                          guint n,
                                          guint *changed,
                                          GError **error);
gboolean irisd_place_control_resume (IrisdPlaceControl *self, gint place);
guint irisd_place_control_get_workers (IrisdPlaceControl *self, gint place);

gboolean irisd_place_control_place_is_drained (IrisdPlaceControl *self, gint place);
gint irisd_place_control_choose_other (IrisdPlaceControl *self, gint place);
void irisd_place_control_wake_place (IrisdPlaceControl *self, gint place);
void irisd_place_control_settle_all (IrisdPlaceControl *self);

/* Whether a place takes no new items. */
static inline gboolean
irisd_place_control_is_drained (IrisdPlaceControl *self, gint place)
{
  return G_UNLIKELY (atomic_load_explicit (&self->n_drained, memory_order_acquire) > 0)
         && irisd_place_control_place_is_drained (self, place);
}

static inline gboolean
irisd_place_control_has_drained (IrisdPlaceControl *self)
{
  return G_UNLIKELY (atomic_load_explicit (&self->n_drained, memory_order_acquire) > 0);
}

/* Whether irisd was started with --paused, and some place has not been resumed. */
static inline gboolean
irisd_place_control_is_paused (IrisdPlaceControl *self)
{
  return G_UNLIKELY (atomic_load_explicit (&self->n_paused, memory_order_acquire) > 0);
}

/* A job has come to the gate of a place. */
static inline void
irisd_place_control_wake (IrisdPlaceControl *self, gint place)
{
  if (G_UNLIKELY (atomic_load_explicit (&self->n_drained, memory_order_acquire) > 0))
    irisd_place_control_wake_place (self, place);
}

/* Jobs have left the gates. */
static inline void
irisd_place_control_settle (IrisdPlaceControl *self)
{
  if (G_UNLIKELY (atomic_load_explicit (&self->n_drained, memory_order_acquire) > 0))
    irisd_place_control_settle_all (self);
}

G_END_DECLS
