/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How many items of one client, and of one service, run at once; the others wait.
 */
#pragma once

#include "irisd-fair-rules.h"

#include <stdatomic.h>

G_BEGIN_DECLS

typedef struct _IrisdFairPair IrisdFairPair;
typedef struct _IrisdFairGuest IrisdFairGuest;

/**
 * IrisdFairGuest:
 * @next: the next one in a list that irisd_fair_room_leave() gives
 *
 * Something that wants room; embed it. All zeroes is one that is not there.
 */
struct _IrisdFairGuest
{
  IrisdFairGuest *next;

  /*< private >*/
  IrisdFairPair *pair; /* NULL: it neither waits nor has room that counts */
  GSequenceIter *at;   /* while it waits */
  gint64 rank;
  guint64 number;
  guint8 priority;
};

/**
 * IrisdFairRoom:
 *
 * The limits, who has room, and who waits. Any thread.
 */
typedef struct
{
  gboolean any; /* without limits nobody comes here */
  guint64 client_limit;
  GHashTable *services; /* IrisdFairRule by name; not owned */
  gint64 aging_us;
  pthread_mutex_t lock; /* a POSIX one because ThreadSanitizer knows those */
  GHashTable *clients;  /* accounts by client */
  GHashTable *by_name;  /* accounts of services */
  guint64 n_entered;
  guint64 n_turns;
  _Atomic guint64 n_waiting;
} IrisdFairRoom;

void irisd_fair_room_init (IrisdFairRoom *self,
                           const IrisdFairRule *client,
                           GHashTable *services,
                           gint64 aging_us);
void irisd_fair_room_clear (IrisdFairRoom *self);
gboolean irisd_fair_room_enter (IrisdFairRoom *self,
                                IrisdFairGuest *guest,
                                gconstpointer client,
                                const char *service,
                                guint priority,
                                gint64 now_us);
gboolean irisd_fair_room_withdraw (IrisdFairRoom *self, IrisdFairGuest *guest);
IrisdFairGuest *irisd_fair_room_leave (IrisdFairRoom *self, IrisdFairGuest *guest);
guint64 irisd_fair_room_get_n_waiting (IrisdFairRoom *self);

G_END_DECLS
