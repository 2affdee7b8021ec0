/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Fair rules: what one client, or all clients of one service, may have in flight, and how fast.
 */
#pragma once

#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>

G_BEGIN_DECLS

/* Limits; 0 for none. */
typedef struct
{
  guint64 items;       /* items in flight */
  guint64 bytes;       /* bytes of payload in flight */
  guint64 rate;        /* items a second, of which as many may come at once */
  guint64 concurrency; /* items that run at once; the others wait (irisd-concurrency-limit.h) */
} IrisdFairRule;

/* Why an item is not taken now. */
typedef struct
{
  const char *limit; /* the name of the limit that is reached */
  guint64 value;     /* its value */
  guint retry_ms;    /* when to try again, in milliseconds */
} IrisdFairRefusal;

/* What of a rule is measured in use. */
typedef enum
{
  IRISD_FAIR_ITEMS,
  IRISD_FAIR_BYTES,
  IRISD_N_FAIR_MEASURES,
} IrisdFairMeasure;

/* How much one client, or the clients of one service, use of their rule. */
typedef struct
{
  char *name; /* owned */
  guint64 used;
  guint64 value;
} IrisdFairUser;

/* The rules and their accounts. Any thread. */
typedef struct
{
  _Atomic gboolean any; /* without rules nothing is counted; never unset */
  pthread_mutex_t lock;
  IrisdFairRule client;
  GHashTable *services;        /* IrisdFairRule by name, constant */
  GHashTable *client_accounts; /* by client */
  guint sweep_at; /* at this number of accounts, those in their initial state are dropped */
  GHashTable *service_accounts; /* by name */
} IrisdFairRules;

void
irisd_fair_rules_init (IrisdFairRules *self, const IrisdFairRule *client, GHashTable *services);
void
irisd_fair_rules_change (IrisdFairRules *self, const IrisdFairRule *client, GHashTable *services);
void irisd_fair_rules_clear (IrisdFairRules *self);
gboolean irisd_fair_rules_admit (IrisdFairRules *self,
                                 gconstpointer client,
                                 const char *service,
                                 guint64 bytes,
                                 gint64 now_us,
                                 IrisdFairRefusal *refusal);
void irisd_fair_rules_release (IrisdFairRules *self,
                               gconstpointer client,
                               const char *service,
                               guint64 bytes,
                               gint64 now_us);
/* Whether there are rules, or were some. */
static inline gboolean
irisd_fair_rules_is_set (IrisdFairRules *self)
{
  /* Only a hint to take the lock, which orders everything else. */
  return atomic_load_explicit (&self->any, memory_order_relaxed);
}

guint irisd_fair_rules_get_count (IrisdFairRules *self);
guint irisd_fair_rules_get_users (IrisdFairRules *self,
                                  gboolean services,
                                  IrisdFairMeasure of,
                                  IrisdFairUser *users,
                                  guint most);
gboolean
irisd_fair_rule_set (IrisdFairRule *self, const char *key, const char *value, GError **error);

G_END_DECLS
