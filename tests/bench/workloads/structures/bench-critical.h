/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Critical sections: what the waiters of the workload locks do with the lock held, and besides.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define BENCH_CRITICAL_LOCKS    8
#define BENCH_CRITICAL_COUNTERS 16
#define BENCH_CRITICAL_NODES    64

typedef struct _BenchNode BenchNode;

struct _BenchNode
{
  BenchNode *next;
  BenchNode *prev;
  guint64 value;
} __attribute__ ((aligned (128)));

/* On lines of its own, like everything that threads share here. */
typedef struct
{
  guint64 value;
} __attribute__ ((aligned (128))) BenchCell;

/* What one lock protects. */
typedef struct
{
  BenchCell done; /* sections */
  BenchCell counters[BENCH_CRITICAL_COUNTERS];
  BenchNode list; /* the head of a ring */
  BenchNode nodes[BENCH_CRITICAL_NODES];
  guint64 put;
  guint64 taken;
  guint length;
} BenchProtected;

/* What one waiter has for itself. */
typedef struct
{
  guint index;
  guint32 random;
  BenchCell own[BENCH_CRITICAL_COUNTERS];
} BenchCustomer;

typedef struct
{
  const char *name;
  guint n_locks;
  void (*section) (BenchProtected *data, BenchCustomer *customer);
  gboolean (*is_good) (const BenchProtected *data);
} BenchCritical;

const BenchCritical *bench_critical_nth (guint n);

/* With a lock for each. */
BenchProtected *bench_protected_new (void);
gboolean bench_protected_check (const BenchProtected *self,
                                const BenchCritical *load,
                                guint64 expected,
                                GError **error);
void bench_protected_free (BenchProtected *self);

void bench_customer_init (BenchCustomer *self, guint index);
/* Outside the lock: work of a random length; then which lock is next. */
guint bench_customer_choose (BenchCustomer *self, const BenchCritical *load);

G_END_DECLS
