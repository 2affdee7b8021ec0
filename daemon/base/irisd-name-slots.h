/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Name slots: small numbers for names, so that counters of a name can lie in an array.
 */
#pragma once

#include <glib.h>
#include <pthread.h>

G_BEGIN_DECLS

/* How many names get a slot of their own; all later ones share slot 0. */
#define IRISD_MOST_NAME_SLOTS 1000

/* The slot of names that came when the table was full. */
#define IRISD_OTHER_SLOT 0

/* Any thread may use it. */
typedef struct
{
  pthread_mutex_t lock;
  GHashTable *slots; /* by name */
  GPtrArray *names;  /* by slot; the first is NULL */
} IrisdNameSlots;

void irisd_name_slots_init (IrisdNameSlots *self);
void irisd_name_slots_clear (IrisdNameSlots *self);
guint irisd_name_slots_take (IrisdNameSlots *self, const char *name);
guint irisd_name_slots_get_count (IrisdNameSlots *self);
const char *irisd_name_slots_get_name (IrisdNameSlots *self, guint slot);

G_END_DECLS
