/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The table of leases: the services of worker processes, the items that wait for them, and the
 * leases.
 *
 * Pure logic: no thread, no socket, no clock of its own. Calls that depend on the time take it, in
 * microseconds of any clock that does not go back. The table's owner lets one thread at a time into
 * it. The table acts through the functions of IrisdLeaseEvents, which must not call back into it.
 */
#pragma once

#include <iris/iris.h>
#include <iris/wire/iris-wire.h>

G_BEGIN_DECLS

typedef struct _IrisdLeases IrisdLeases;
typedef struct _IrisdLease IrisdLease;
typedef struct _IrisdWorker IrisdWorker;
typedef struct _IrisdLeaseEntry IrisdLeaseEntry;
typedef struct _IrisdLeaseQueue IrisdLeaseQueue;
typedef struct _IrisdSubscription IrisdSubscription;

/* The name space of services whose workers run the items of all users. Any other is a user's: that
 * user's workers run that user's items alone. */
#define IRISD_SPACE_SHARED ((gint64) -1)

/* An item for worker processes; embed it. Set before it is added: @place and @strict, the place of
 * its hint or IRIS_PLACE_ANY, and whether it must run there; @patient, whether it waits for a
 * worker without a limit; @tireless, whether it may be leased again and again, and is not waited
 * for when irisd ends; @deadline, after which it is not leased any more, or 0; @space, the name
 * space tried first, a user or IRISD_SPACE_SHARED. */
struct _IrisdLeaseEntry
{
  gint place;
  gboolean strict;
  gboolean patient;
  gboolean tireless;
  gint64 deadline;
  gint64 space;
  guint attempts; /* how often it was leased */

  /*< private >*/
  IrisdLeaseQueue *queue;
  IrisdLease *lease; /* NULL while it waits */
  gboolean away;     /* its lease was restored, and its worker has not come back */
  guint64 order;
  gint64 since; /* when it began to wait */
  GList link;
  GList impatient_link;
};

/* A worker process; embed it, and begin with all zeroes. Public members are read-only. */
struct _IrisdWorker
{
  gint place;   /* or IRIS_PLACE_ANY */
  gint64 owner; /* set before it enrolls: the user whose items it may run in any case */
  guint capacity;
  guint leased; /* leases that count against it, stopped ones too */
  guint64 done;
  guint64 failed;
  guint64 lost;

  /*< private >*/
  IrisdSubscription **subscriptions; /* its services */
  guint n_subscriptions;
  GQueue leases;
  gboolean enrolled;
  gboolean idle;
};

typedef struct
{
  gint64 lease_us;    /* how long a lease holds */
  gint64 wait_us;     /* how long items that are not patient wait for a service without a worker */
  guint attempts;     /* how often an item is leased */
  guint max_services; /* how many services there may be */
  guint n_places;     /* how many places there are */
} IrisdLeaseRules;

/* The actions of the table. */
typedef struct
{
  /* whether the item may be leased now; if not it leaves the table, by @hold */
  gboolean (*may_give) (IrisdLeaseEntry *entry, gpointer user_data);
  /* the item has left the table without an end */
  void (*hold) (IrisdLeaseEntry *entry, gpointer user_data);
  /* the worker has a new lease */
  void (*give) (IrisdWorker *worker, guint64 lease, IrisdLeaseEntry *entry, gpointer user_data);
  void (*wait) (IrisdLeaseEntry *entry, gpointer user_data); /* the item waits, perhaps again */
  /* the worker has lost a lease, for that error of the protocol */
  void (*stop) (IrisdWorker *worker, guint64 lease, IrisWireError why, gpointer user_data);
  /* whether the worker may run the items of all users; NULL: each may */
  gboolean (*shares) (IrisdWorker *worker, const char *service, gpointer user_data);
  /* the item has left the table and ends by that error of the protocol */
  void (*fail) (IrisdLeaseEntry *entry, IrisWireError why, gpointer user_data);
} IrisdLeaseEvents;

/* The effect of a worker's answer. */
typedef enum
{
  /* there is no such lease of that worker, or it has ended; answered with an error */
  IRISD_LEASE_UNKNOWN,
  IRISD_LEASE_STOPPED, /* the worker was told to stop, and has; not answered */
  IRISD_LEASE_AGAIN,   /* the item waits again */
  IRISD_LEASE_ENDED,   /* the item has left the table */
} IrisdLeaseEnd;

/* Where an item was. */
typedef enum
{
  IRISD_LEASE_ENTRY_GONE,       /* it was not in the table */
  IRISD_LEASE_ENTRY_WAITED,     /* it waited */
  IRISD_LEASE_ENTRY_WAS_LEASED, /* it was leased; if it is withdrawn the worker is told to stop */
} IrisdLeaseEntryState;

IrisdLeases *
irisd_leases_new (const IrisdLeaseRules *rules, const IrisdLeaseEvents *events, gpointer user_data);
void irisd_leases_free (IrisdLeases *self);

void irisd_leases_pause (IrisdLeases *self);
void irisd_leases_resume (IrisdLeases *self);
void irisd_leases_employ (IrisdLeases *self, IrisdWorker *worker, gint64 now);
gboolean irisd_leases_enroll (IrisdLeases *self,
                              IrisdWorker *worker,
                              gint place,
                              guint capacity,
                              const IrisWireServices *services,
                              gint64 now,
                              GError **error);
void irisd_leases_leave (IrisdLeases *self, IrisdWorker *worker, gint64 now);

gboolean irisd_leases_knows (IrisdLeases *self,
                             gint64 space,
                             const char *name,
                             gboolean patient,
                             gint64 now);
void irisd_leases_expect (IrisdLeases *self,
                          gint64 space,
                          const char *name,
                          gboolean lasting,
                          gint64 now);
gboolean irisd_leases_has_room_to_expect (IrisdLeases *self, gint64 space);
gboolean irisd_leases_add (IrisdLeases *self, IrisdLeaseEntry *entry, const char *name, gint64 now);
guint64 irisd_leases_restore (IrisdLeases *self,
                              IrisdLeaseEntry *entry,
                              const char *name,
                              gint64 owner,
                              gint64 left_us,
                              gint64 now);
IrisdLeaseEntryState irisd_leases_withdraw (IrisdLeases *self, IrisdLeaseEntry *entry, gint64 now);
IrisdLeaseEntryState irisd_leases_get_state (const IrisdLeaseEntry *entry);

IrisdLeaseEntry *irisd_leases_find (IrisdLeases *self, IrisdWorker *worker, guint64 lease);
IrisdWorker *irisd_leases_find_worker (const IrisdLeaseEntry *entry, guint64 *lease);
IrisdLeaseEnd irisd_leases_done (IrisdLeases *self,
                                 IrisdWorker *worker,
                                 guint64 lease,
                                 gint64 now,
                                 IrisdLeaseEntry **entry);
IrisdLeaseEnd irisd_leases_give_back (IrisdLeases *self,
                                      IrisdWorker *worker,
                                      guint64 lease,
                                      gboolean again,
                                      gint64 now,
                                      IrisdLeaseEntry **entry);
gboolean irisd_leases_extend (IrisdLeases *self,
                              IrisdWorker *worker,
                              guint64 lease,
                              gint64 more_us,
                              gint64 now);

gint64 irisd_leases_next (IrisdLeases *self);
void irisd_leases_expire (IrisdLeases *self, gint64 now);
void irisd_leases_drain (IrisdLeases *self);
void irisd_leases_close (IrisdLeases *self);

gboolean irisd_leases_is_entitled (IrisdLeases *self, IrisdWorker *worker);
guint irisd_leases_count_services (IrisdLeases *self);
guint irisd_leases_count_leased (IrisdLeases *self, GHashTable *by_name);
guint irisd_leases_describe_services (IrisdLeases *self, gint64 space, IrisWireService *out);
gboolean irisd_worker_is_within (const IrisdWorker *worker, gint64 view);
void irisd_leases_describe_worker (const IrisdWorker *worker, gint64 view, IrisWireWorker *out);

G_END_DECLS
