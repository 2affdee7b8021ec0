/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Limits on how many items of one client, and of one service, run at once.
 */
#pragma once

#include "daemon/config/irisd-fair-rules.h"

#include <stdatomic.h>

G_BEGIN_DECLS

typedef struct _IrisdConcurrencyPair IrisdConcurrencyPair;
typedef struct _IrisdConcurrencyWaiter IrisdConcurrencyWaiter;

/**
 * IrisdConcurrencyWaiter:
 * @next: the next one in a list that irisd_concurrency_limit_leave() gives
 *
 * An item that wants a permit; embed it. All zeroes before its first use.
 */
struct _IrisdConcurrencyWaiter
{
  IrisdConcurrencyWaiter *next;

  /*< private >*/
  IrisdConcurrencyPair *pair; /* NULL: it neither waits nor has a permit */
  GSequenceIter *at;          /* while it waits */
  gint64 rank;
  guint64 number;
  guint8 priority;
};

/* The permits and their waiters. Any thread. */
typedef struct
{
  _Atomic gboolean any; /* some limit is set, or was */
  gint64 aging_us;
  pthread_mutex_t lock; /* POSIX: ThreadSanitizer knows it */
  guint64 client_limit;
  GHashTable *services; /* IrisdFairRule by name, constant */
  GHashTable *clients;  /* accounts by client */
  GHashTable *by_name;  /* accounts of services */
  guint64 n_entered;
  guint64 n_turns;
  _Atomic guint64 n_waiting;
} IrisdConcurrencyLimit;

void irisd_concurrency_limit_init (IrisdConcurrencyLimit *self,
                                   const IrisdFairRule *client,
                                   GHashTable *services,
                                   gint64 aging_us);
IrisdConcurrencyWaiter *irisd_concurrency_limit_change (IrisdConcurrencyLimit *self,
                                                        const IrisdFairRule *client,
                                                        GHashTable *services);
void irisd_concurrency_limit_clear (IrisdConcurrencyLimit *self);
gboolean irisd_concurrency_limit_enter (IrisdConcurrencyLimit *self,
                                        IrisdConcurrencyWaiter *waiter,
                                        gconstpointer client,
                                        const char *service,
                                        guint priority,
                                        gint64 now_us);
gboolean
irisd_concurrency_limit_withdraw (IrisdConcurrencyLimit *self, IrisdConcurrencyWaiter *waiter);
IrisdConcurrencyWaiter *
irisd_concurrency_limit_leave (IrisdConcurrencyLimit *self, IrisdConcurrencyWaiter *waiter);
/* Whether it has to be asked at all. */
static inline gboolean
irisd_concurrency_limit_is_set (IrisdConcurrencyLimit *self)
{
  /* Only a hint to take the lock, which orders everything else. */
  return atomic_load_explicit (&self->any, memory_order_relaxed);
}

guint64 irisd_concurrency_limit_get_n_waiting (IrisdConcurrencyLimit *self);

G_END_DECLS
