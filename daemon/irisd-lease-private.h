/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The inside of the book of leases, for the files that are parts of it.
 */
#pragma once

#include "irisd-lease.h"

G_BEGIN_DECLS

/* A service in a name space; it has servers, or had some until a short while ago. */
struct _IrisdTrade
{
  gint64 space;
  char *name;
  char *summary;
  guint n_posts;      /* how many serve it */
  GQueue *idle;       /* of IrisdPost: by place; the last one has all of them. Longest idle first */
  GQueue *waiting;    /* of IrisdErrand: strict ones by place; the last one has all others */
  GQueue impatient;   /* those of them that are not patient, by when they began to wait */
  guint n_errands;    /* that wait or are leased */
  guint n_patient;    /* of those, the patient ones */
  gboolean lasting;   /* the configuration names it, so it is never forgotten */
  gboolean served;    /* it had a server once, and counts for max_services */
  gint64 unserved_at; /* when it lost its last server, or became known without one */
  gint64 alarm;       /* when there is something to give up, G_MAXINT64 for never */
  gboolean forgotten; /* is no longer known by its name */
};

/* A server at a trade. */
struct _IrisdPost
{
  IrisdServer *server;
  IrisdTrade *trade;
  GList idle_link;
  GList place_link;
  gboolean wanted; /* the present READY names it */
};

struct _IrisdLease
{
  guint64 number;
  IrisdServer *server; /* NULL while that of a restored lease is away */
  gint64 owner;        /* of a restored lease: who may claim it */
  IrisdErrand *errand; /* NULL once it was stopped */
  gint64 deadline;
  GList link; /* of its server */
};

struct _IrisdLeases
{
  IrisdLeaseRules rules;
  const IrisdLeaseEvents *events;
  gpointer user_data;
  GHashTable *trades;    /* a set of IrisdTrade, by name space and name */
  GHashTable *by_number; /* leases */
  GTree *by_deadline;    /* leases that have an errand */
  GTree *by_alarm;       /* trades that have one */
  guint64 last_order;
  guint64 last_number;
  gboolean draining;
  gboolean closed;
  gboolean paused; /* nothing is leased */
};

/* irisd-lease.c */
void irisd_leases_fail_errand (IrisdLeases *self, IrisdErrand *errand, IrisWireError why);
void irisd_leases_forget_trade (IrisdLeases *self, IrisdTrade *trade);
void irisd_leases_lose (IrisdLeases *self, IrisdErrand *errand, gint64 now);
IrisdErrand *irisd_lease_strip (IrisdLeases *self, IrisdLease *lease);
IrisdErrand *irisd_lease_revoke (IrisdLeases *self, IrisdLease *lease, IrisWireError why);

/* irisd-lease-clock.c */
void irisd_leases_put_off_unserved (IrisdLeases *self);
void irisd_leases_place (IrisdLeases *self, IrisdErrand *errand, gint64 now);

/* irisd-lease-route.c */
guint irisd_trade_hash (gconstpointer trade);
gboolean irisd_trade_equal (gconstpointer a, gconstpointer b);
IrisdTrade *irisd_leases_find_trade (IrisdLeases *self, gint64 space, const char *name);
guint irisd_leases_count_trades (IrisdLeases *self, gint64 space, gboolean served);
IrisdTrade *irisd_leases_route (IrisdLeases *self, gint64 space, const char *name);
gint64 irisd_leases_get_space (IrisdLeases *self, IrisdServer *server, const char *name);
gboolean irisd_leases_check_services (IrisdLeases *self,
                                      IrisdServer *server,
                                      const IrisWireServices *services,
                                      GError **error);
void irisd_leases_reroute (IrisdLeases *self, IrisdServer *server, gint64 now);

/* irisd-lease-trade.c */
void irisd_trade_drop (IrisdLeases *book, IrisdTrade *trade);
void irisd_trade_set_alarm (IrisdLeases *book, IrisdTrade *trade);
gint64 irisd_trade_get_first_end (IrisdLeases *book, IrisdTrade *trade);
void irisd_trade_put (IrisdLeases *book, IrisdErrand *errand);
void irisd_trade_remove (IrisdLeases *book, IrisdErrand *errand);
IrisdServer *irisd_trade_choose (IrisdLeases *book, IrisdTrade *trade, const IrisdErrand *errand);
IrisdErrand *irisd_trade_first_for (IrisdLeases *book, IrisdServer *server);
void irisd_server_rest (IrisdLeases *book, IrisdServer *server);
void irisd_server_set_idle (IrisdLeases *book, IrisdServer *server, gboolean idle);
void irisd_server_take_posts (IrisdLeases *book,
                              IrisdServer *server,
                              const IrisWireServices *services,
                              gint64 now);

G_END_DECLS
