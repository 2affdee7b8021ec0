/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The inside of the table of leases, for the files that are parts of it.
 */
#pragma once

#include "daemon/exec/worker/irisd-leases.h"

G_BEGIN_DECLS

/* A service in a name space; it has workers, or had some until a short time ago. */
struct _IrisdLeaseQueue
{
  gint64 space;
  char *name;
  char *summary;
  guint n_subscriptions; /* workers that serve it */
  GQueue *idle;       /* of IrisdSubscription: by place; the last one has all. Longest idle first */
  GQueue *waiting;    /* of IrisdLeaseEntry: strict ones by place; the last one has all others */
  GQueue impatient;   /* those that are not patient, by when they began to wait */
  guint n_entries;    /* waiting or leased */
  guint n_patient;    /* of those, the patient ones */
  gboolean lasting;   /* named by the configuration, so never dropped */
  gboolean served;    /* had a worker once, and counts for max_services */
  gint64 unserved_at; /* when it lost its last worker, or became known without one */
  gint64 alarm;       /* when it or an item of it is to be dropped, G_MAXINT64 for never */
  gboolean forgotten; /* no longer found by its name */
};

/* A worker's subscription to a queue. */
struct _IrisdSubscription
{
  IrisdWorker *worker;
  IrisdLeaseQueue *queue;
  GList idle_link;
  GList place_link;
  gboolean wanted; /* the present READY names it */
};

struct _IrisdLease
{
  guint64 number;
  IrisdWorker *worker;    /* NULL while the worker of a restored lease is away */
  gint64 owner;           /* of a restored lease: the user whose worker may claim it */
  IrisdLeaseEntry *entry; /* NULL once it was stopped */
  gint64 deadline;
  GList link; /* of its worker */
};

struct _IrisdLeases
{
  IrisdLeaseRules rules;
  const IrisdLeaseEvents *events;
  gpointer user_data;
  GHashTable *queues;    /* a set of IrisdLeaseQueue, by name space and name */
  GHashTable *by_number; /* leases */
  GTree *by_deadline;    /* leases that have an item */
  GTree *by_alarm;       /* queues that have one */
  guint64 last_order;
  guint64 last_number;
  gboolean draining;
  gboolean closed;
  gboolean paused; /* nothing is leased */
};

/* irisd-lease-queue.c */
IrisdLeaseQueue *irisd_leases_find_queue (IrisdLeases *self, gint64 space, const char *name);
IrisdLeaseQueue *irisd_leases_route (IrisdLeases *self, gint64 space, const char *name);
gboolean irisd_leases_check_services (IrisdLeases *self,
                                      IrisdWorker *worker,
                                      const IrisWireServices *services,
                                      GError **error);
guint irisd_lease_queue_hash (gconstpointer queue);
gboolean irisd_lease_queue_equal (gconstpointer a, gconstpointer b);
void irisd_lease_queue_drop (IrisdLeases *leases, IrisdLeaseQueue *queue);
void irisd_lease_queue_set_alarm (IrisdLeases *leases, IrisdLeaseQueue *queue);
gint64 irisd_lease_queue_get_first_end (IrisdLeases *leases, IrisdLeaseQueue *queue);
void irisd_lease_queue_put (IrisdLeases *leases, IrisdLeaseEntry *entry);
void irisd_lease_queue_remove (IrisdLeases *leases, IrisdLeaseEntry *entry);
IrisdWorker *irisd_lease_queue_choose (IrisdLeases *leases,
                                       IrisdLeaseQueue *queue,
                                       const IrisdLeaseEntry *entry);
IrisdLeaseEntry *irisd_lease_queue_first_for (IrisdLeases *leases, IrisdWorker *worker);
void irisd_worker_rest (IrisdLeases *leases, IrisdWorker *worker);
void irisd_worker_set_idle (IrisdLeases *leases, IrisdWorker *worker, gboolean idle);
void irisd_worker_subscribe (IrisdLeases *leases,
                             IrisdWorker *worker,
                             const IrisWireServices *services,
                             gint64 now);

G_END_DECLS
