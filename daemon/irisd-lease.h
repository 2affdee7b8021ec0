/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The book of leases: which worker processes serve what, which items wait for them, who has which.
 *
 * Pure logic: no thread, no socket, no clock of its own. Every call that depends on the time is
 * told it, in microseconds of any clock that does not go back. Whoever owns a book sees to it that
 * one thread at a time is in it; what is to be done is told by the functions of IrisdLeaseEvents,
 * which must not call back into the book.
 */
#pragma once

#include <iris/iris.h>

G_BEGIN_DECLS

typedef struct _IrisdLeases IrisdLeases;
typedef struct _IrisdLease IrisdLease;
typedef struct _IrisdServer IrisdServer;
typedef struct _IrisdErrand IrisdErrand;
typedef struct _IrisdTrade IrisdTrade;
typedef struct _IrisdPost IrisdPost;

/* The name space of services whose servers do the items of all users. Any other is a user's, and
 * that user's servers do that user's items alone. */
#define IRISD_SPACE_SHARED ((gint64) -1)

/**
 * IrisdErrand:
 *
 * An item for worker processes; embed it. These are set before it is added: @place and @strict, the
 * place that its hint names or %IRIS_PLACE_ANY, and whether no other will do; @patient, whether it
 * waits for a worker however long there is none; @deadline, after which it is not leased any more,
 * or 0; @space, the name space that its service is looked for in first, a user or
 * %IRISD_SPACE_SHARED.
 */
struct _IrisdErrand
{
  gint place;
  gboolean strict;
  gboolean patient;
  gint64 deadline;
  gint64 space;
  guint attempts; /* how often it was leased */

  /*< private >*/
  IrisdTrade *trade;
  IrisdLease *lease; /* NULL while it waits */
  gboolean away;     /* its lease was restored, and its server has not come back */
  guint64 order;
  gint64 since; /* when it began to wait */
  GList link;
  GList impatient_link;
};

/**
 * IrisdServer:
 *
 * A worker process; embed it, and begin with all zeroes. What is public is to be read only.
 */
struct _IrisdServer
{
  gint place;   /* or IRIS_PLACE_ANY */
  gint64 owner; /* set before it enrolls: whose items it may do in any case */
  guint capacity;
  guint leased; /* leases that count against it, those that were stopped too */
  guint64 done;
  guint64 failed;
  guint64 lost;

  /*< private >*/
  IrisdPost **posts; /* what it serves */
  guint n_posts;
  GQueue leases;
  gboolean enrolled;
  gboolean idle;
};

/**
 * IrisdLeaseRules:
 * @lease_us: how long a lease holds
 * @wait_us: how long items that are not patient wait for a service without a server
 * @attempts: how often an item is leased
 * @max_services: how many services there may be
 * @n_places: how many places there are
 */
typedef struct
{
  gint64 lease_us;
  gint64 wait_us;
  guint attempts;
  guint max_services;
  guint n_places;
} IrisdLeaseRules;

/**
 * IrisdLeaseEvents:
 * @may_give: whether the errand may be leased now; if not it leaves the book, by @hold
 * @hold: the errand has left the book without an end
 * @give: the server has a new lease
 * @wait: the errand waits, perhaps again
 * @stop: the server has lost a lease without its doing; why, as an error of the protocol
 * @shares: (nullable): whether the server may do the items of all users; without it all may
 * @fail: the errand has left the book and ends by that error of the protocol
 *
 * What the book wants to be done.
 */
typedef struct
{
  gboolean (*may_give) (IrisdErrand *errand, gpointer user_data);
  void (*hold) (IrisdErrand *errand, gpointer user_data);
  void (*give) (IrisdServer *server, guint64 lease, IrisdErrand *errand, gpointer user_data);
  void (*wait) (IrisdErrand *errand, gpointer user_data);
  void (*stop) (IrisdServer *server, guint64 lease, IrisWireError why, gpointer user_data);
  gboolean (*shares) (IrisdServer *server, const char *service, gpointer user_data);
  void (*fail) (IrisdErrand *errand, IrisWireError why, gpointer user_data);
} IrisdLeaseEvents;

/**
 * IrisdLeaseEnd:
 * @IRISD_LEASE_UNKNOWN: there is no such lease of that server, or it has ended: say so
 * @IRISD_LEASE_STOPPED: the server was told to stop, and has: say nothing
 * @IRISD_LEASE_AGAIN: the errand waits again
 * @IRISD_LEASE_ENDED: the errand has left the book
 *
 * What an answer of a server has led to.
 */
typedef enum
{
  IRISD_LEASE_UNKNOWN,
  IRISD_LEASE_STOPPED,
  IRISD_LEASE_AGAIN,
  IRISD_LEASE_ENDED,
} IrisdLeaseEnd;

/**
 * IrisdErrandState:
 * @IRISD_ERRAND_GONE: it was not in the book
 * @IRISD_ERRAND_WAITED: it waited
 * @IRISD_ERRAND_WAS_LEASED: it was leased; if it is withdrawn the server is told to stop
 *
 * Where an errand was.
 */
typedef enum
{
  IRISD_ERRAND_GONE,
  IRISD_ERRAND_WAITED,
  IRISD_ERRAND_WAS_LEASED,
} IrisdErrandState;

IrisdLeases *
irisd_leases_new (const IrisdLeaseRules *rules, const IrisdLeaseEvents *events, gpointer user_data);
void irisd_leases_free (IrisdLeases *self);

void irisd_leases_pause (IrisdLeases *self);
void irisd_leases_resume (IrisdLeases *self);
void irisd_leases_employ (IrisdLeases *self, IrisdServer *server, gint64 now);
gboolean irisd_leases_enroll (IrisdLeases *self,
                              IrisdServer *server,
                              gint place,
                              guint capacity,
                              const IrisWireServices *services,
                              gint64 now,
                              GError **error);
void irisd_leases_leave (IrisdLeases *self, IrisdServer *server, gint64 now);

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
gboolean irisd_leases_add (IrisdLeases *self, IrisdErrand *errand, const char *name, gint64 now);
guint64 irisd_leases_restore (IrisdLeases *self,
                              IrisdErrand *errand,
                              const char *name,
                              gint64 owner,
                              gint64 left_us,
                              gint64 now);
IrisdErrandState irisd_leases_withdraw (IrisdLeases *self, IrisdErrand *errand, gint64 now);
IrisdErrandState irisd_leases_get_state (const IrisdErrand *errand);

IrisdErrand *irisd_leases_find (IrisdLeases *self, IrisdServer *server, guint64 lease);
IrisdServer *irisd_leases_find_server (const IrisdErrand *errand, guint64 *lease);
IrisdLeaseEnd irisd_leases_done (IrisdLeases *self,
                                 IrisdServer *server,
                                 guint64 lease,
                                 gint64 now,
                                 IrisdErrand **errand);
IrisdLeaseEnd irisd_leases_give_back (IrisdLeases *self,
                                      IrisdServer *server,
                                      guint64 lease,
                                      gboolean again,
                                      gint64 now,
                                      IrisdErrand **errand);
gboolean irisd_leases_extend (IrisdLeases *self,
                              IrisdServer *server,
                              guint64 lease,
                              gint64 more_us,
                              gint64 now);

gint64 irisd_leases_next (IrisdLeases *self);
void irisd_leases_expire (IrisdLeases *self, gint64 now);
void irisd_leases_drain (IrisdLeases *self);
void irisd_leases_close (IrisdLeases *self);

guint irisd_leases_count_services (IrisdLeases *self);
guint irisd_leases_describe_services (IrisdLeases *self, gint64 space, IrisWireService *out);
gboolean irisd_server_is_within (const IrisdServer *server, gint64 view);
void irisd_leases_describe_server (const IrisdServer *server, gint64 view, IrisWireWorker *out);

G_END_DECLS
