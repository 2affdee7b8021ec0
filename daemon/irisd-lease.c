/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The book of leases: which worker processes serve what, which items wait for them, who has which.
 *
 * An errand is in the book from irisd_leases_add() until it was withdrawn, done, given back for
 * good, held or failed, and each of these happens once: so whoever owns it learns exactly once that
 * it has left. While it is in the book it either waits in one queue of its trade or has one lease.
 * A lease that loses its errand is only a debt of its server: it counts against the server's
 * capacity until the server has answered, and whatever it answers changes nothing else.
 *
 * A lease that another book has given can be restored, with a number of this one. It has no server
 * until a server of the same owner names it, which claims it; afterwards it is as any other. If its
 * time ends first the errand goes to other servers.
 *
 * Invariant, after each call: no errand waits that an idle server may do. It holds because it is
 * looked for an errand whenever a server gets room or a new post, and for a server whenever an
 * errand begins to wait.
 */
#include "irisd-lease-private.h"

#include <string.h>

static gint
compare_deadlines (gconstpointer a, gconstpointer b)
{
  const IrisdLease *left = a, *right = b;
  if (left->deadline != right->deadline)
    return left->deadline < right->deadline ? -1 : 1;
  return left->number < right->number ? -1 : left->number > right->number;
}

static gint
compare_alarms (gconstpointer a, gconstpointer b)
{
  const IrisdTrade *left = a, *right = b;
  if (left->alarm != right->alarm)
    return left->alarm < right->alarm ? -1 : 1;
  if (left->space != right->space)
    return left->space < right->space ? -1 : 1;
  return strcmp (left->name, right->name);
}

/**
 * irisd_leases_new:
 * @rules: the limits; copied
 * @events: what is to be done; a constant
 * @user_data: for @events
 *
 * Returns: (transfer full): an empty book
 */
IrisdLeases *
irisd_leases_new (const IrisdLeaseRules *rules, const IrisdLeaseEvents *events, gpointer user_data)
{
  IrisdLeases *self = g_new0 (IrisdLeases, 1);
  self->rules = *rules;
  self->events = events;
  self->user_data = user_data;
  self->trades = g_hash_table_new (irisd_trade_hash, irisd_trade_equal);
  self->by_number = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, g_free);
  self->by_deadline = g_tree_new (compare_deadlines);
  self->by_alarm = g_tree_new (compare_alarms);
  return self;
}

/* Forgets a trade's name; it is freed with its last errand. */
void
irisd_leases_forget_trade (IrisdLeases *self, IrisdTrade *trade)
{
  g_hash_table_remove (self->trades, trade);
  trade->forgotten = TRUE;
  irisd_trade_set_alarm (self, trade);
  irisd_trade_drop (self, trade);
}

/**
 * irisd_leases_free:
 * @self: (transfer full): a book without servers and errands
 */
void
irisd_leases_free (IrisdLeases *self)
{
  g_autoptr (GList) trades = g_hash_table_get_values (self->trades);
  for (GList *link = trades; link != NULL; link = link->next)
    {
      g_warn_if_fail (((IrisdTrade *) link->data)->n_posts == 0);
      irisd_leases_forget_trade (self, link->data);
    }
  g_tree_unref (self->by_alarm);
  g_hash_table_unref (self->trades);
  g_hash_table_unref (self->by_number);
  g_tree_unref (self->by_deadline);
  g_free (self);
}

/* The errand is no longer in the book. */
static void
let_go (IrisdLeases *self, IrisdErrand *errand)
{
  IrisdTrade *trade = errand->trade;
  errand->trade = NULL;
  errand->lease = NULL;
  trade->n_errands--;
  trade->n_patient -= errand->patient;
  irisd_trade_set_alarm (self, trade);
  irisd_trade_drop (self, trade);
}

void
irisd_leases_fail_errand (IrisdLeases *self, IrisdErrand *errand, IrisWireError why)
{
  let_go (self, errand);
  self->events->fail (errand, why, self->user_data);
}

/* A lease without a server. */
static IrisdLease *
new_lease (IrisdLeases *self, IrisdErrand *errand, gint64 deadline)
{
  IrisdLease *lease = g_new0 (IrisdLease, 1);
  lease->number = ++self->last_number;
  lease->errand = errand;
  lease->deadline = deadline;
  lease->link.data = lease;
  g_hash_table_insert (self->by_number, &lease->number, lease);
  g_tree_insert (self->by_deadline, lease, lease);
  errand->lease = lease;
  return lease;
}

static void
set_server (IrisdLeases *self, IrisdLease *lease, IrisdServer *server)
{
  lease->server = server;
  g_queue_push_tail_link (&server->leases, &lease->link);
  server->leased++;
  irisd_server_rest (self, server);
}

static void
give (IrisdLeases *self, IrisdServer *server, IrisdErrand *errand, gint64 now)
{
  IrisdLease *lease = new_lease (self, errand, now + self->rules.lease_us);
  errand->attempts++;
  set_server (self, lease, server);
  self->events->give (server, lease->number, errand, self->user_data);
}

/* Whether a waiting errand may be leased; if not it is gone. */
static gboolean
may_give (IrisdLeases *self, IrisdErrand *errand)
{
  if (self->events->may_give (errand, self->user_data))
    return TRUE;
  irisd_trade_remove (self, errand);
  let_go (self, errand);
  self->events->hold (errand, self->user_data);
  return FALSE;
}

/* Gives a server what waits, as long as it has room. */
static void
employ (IrisdLeases *self, IrisdServer *server, gint64 now)
{
  IrisdErrand *errand;
  while (server->leased < server->capacity
         && (errand = irisd_trade_first_for (self, server)) != NULL)
    {
      if (!may_give (self, errand))
        continue;
      irisd_trade_remove (self, errand);
      give (self, server, errand, now);
    }
}

/* An errand begins to wait, or does not have to. */
void
irisd_leases_place (IrisdLeases *self, IrisdErrand *errand, gint64 now)
{
  errand->lease = NULL;
  errand->away = FALSE;
  if (self->closed)
    {
      irisd_leases_fail_errand (self, errand, IRIS_WIRE_ERROR_SHUTTING_DOWN);
      return;
    }
  if (errand->deadline != 0 && errand->deadline <= now)
    {
      irisd_leases_fail_errand (self, errand, IRIS_WIRE_ERROR_DEADLINE_PASSED);
      return;
    }
  if (errand->trade->forgotten)
    {
      irisd_leases_fail_errand (self, errand, IRIS_WIRE_ERROR_NO_WORKER);
      return;
    }
  if (self->draining && errand->patient && errand->trade->n_posts == 0)
    {
      irisd_leases_fail_errand (self, errand, IRIS_WIRE_ERROR_SHUTTING_DOWN);
      return;
    }
  errand->since = now;
  irisd_trade_put (self, errand);
  IrisdServer *server = irisd_trade_choose (self, errand->trade, errand);
  self->events->wait (errand, self->user_data);
  if (server == NULL || !may_give (self, errand))
    return;
  irisd_trade_remove (self, errand);
  give (self, server, errand, now);
}

/* The lease ended without an answer. */
void
irisd_leases_lose (IrisdLeases *self, IrisdErrand *errand, gint64 now)
{
  if (errand->attempts >= self->rules.attempts)
    irisd_leases_fail_errand (self, errand, IRIS_WIRE_ERROR_WORKER_LOST);
  else
    irisd_leases_place (self, errand, now);
}

/* Takes its errand from a lease. */
IrisdErrand *
irisd_lease_strip (IrisdLeases *self, IrisdLease *lease)
{
  IrisdErrand *errand = lease->errand;
  if (errand == NULL)
    return NULL;
  g_tree_remove (self->by_deadline, lease);
  lease->errand = NULL;
  errand->lease = NULL;
  return errand;
}

/* Takes its errand from a lease, and tells the server why; one that is away is told when it asks.
 */
IrisdErrand *
irisd_lease_revoke (IrisdLeases *self, IrisdLease *lease, IrisWireError why)
{
  IrisdErrand *errand = irisd_lease_strip (self, lease);
  if (lease->server != NULL)
    self->events->stop (lease->server, lease->number, why, self->user_data);
  else
    g_hash_table_remove (self->by_number, &lease->number);
  return errand;
}

/* The server owes nothing for this lease any more. */
static void
close_lease (IrisdLeases *self, IrisdLease *lease)
{
  IrisdServer *server = lease->server;
  g_queue_unlink (&server->leases, &lease->link);
  g_hash_table_remove (self->by_number, &lease->number);
  server->leased--;
}

/**
 * irisd_leases_enroll:
 * @self: the book
 * @server: a new server, or one that says anew what it does
 * @place: where it works, or %IRIS_PLACE_ANY
 * @capacity: how many leases it will hold
 * @services: what it serves; names are not empty
 * @now: the time
 * @error: return location for a #GError of the domain %IRIS_WIRE_ERROR
 *
 * Returns: %FALSE if there would be too many services; nothing has changed then
 */
gboolean
irisd_leases_enroll (IrisdLeases *self,
                     IrisdServer *server,
                     gint place,
                     guint capacity,
                     const IrisWireServices *services,
                     gint64 now,
                     GError **error)
{
  if (!irisd_leases_check_services (self, server, services, error))
    return FALSE;
  server->enrolled = TRUE;
  irisd_server_set_idle (self, server, FALSE);
  server->place = place >= 0 && (guint) place < self->rules.n_places ? place : IRIS_PLACE_ANY;
  server->capacity = capacity;
  irisd_server_take_posts (self, server, services, now);
  irisd_server_rest (self, server);
  employ (self, server, now);
  irisd_leases_reroute (self, server, now);
  irisd_leases_put_off_unserved (self);
  return TRUE;
}

/**
 * irisd_leases_leave:
 * @self: the book
 * @server: a server that has gone; it may be freed afterwards
 * @now: the time
 *
 * What it had leased is given to others.
 */
void
irisd_leases_leave (IrisdLeases *self, IrisdServer *server, gint64 now)
{
  if (!server->enrolled)
    return;
  irisd_server_set_idle (self, server, FALSE);
  server->capacity = 0;
  irisd_server_take_posts (self, server, NULL, now);
  irisd_leases_reroute (self, server, now);
  irisd_leases_put_off_unserved (self);
  while (server->leases.length > 0)
    {
      /* The youngest first, so that the oldest ends up at the head of its queue. */
      IrisdLease *lease = g_queue_peek_tail (&server->leases);
      IrisdErrand *errand = irisd_lease_strip (self, lease);
      close_lease (self, lease);
      if (errand != NULL)
        irisd_leases_lose (self, errand, now);
    }
  g_clear_pointer (&server->posts, g_free);
  server->enrolled = FALSE;
  irisd_leases_reroute (self, server, now);
}

static gboolean
is_known (IrisdLeases *self, const IrisdTrade *trade, gboolean patient, gint64 now)
{
  return trade != NULL
         && (patient || trade->lasting || trade->n_posts > 0
             || now < trade->unserved_at + self->rules.wait_us);
}

/**
 * irisd_leases_knows:
 * @self: the book
 * @space: the first name space that it is looked for in
 * @name: a service
 * @patient: whether it is asked for an item that waits however long there is no server
 * @now: the time
 *
 * Returns: whether the service is known. One that only patient items wait for, because it had no
 *   server for too long, is not known to others
 */
gboolean
irisd_leases_knows (IrisdLeases *self, gint64 space, const char *name, gboolean patient, gint64 now)
{
  return is_known (self, irisd_leases_find_trade (self, space, name), patient, now)
         || is_known (self, irisd_leases_find_trade (self, IRISD_SPACE_SHARED, name), patient, now);
}

static gboolean
enter (IrisdLeases *self, IrisdErrand *errand, const char *name)
{
  IrisdTrade *trade = irisd_leases_route (self, errand->space, name);
  if (trade == NULL)
    return FALSE;
  trade->n_errands++;
  trade->n_patient += errand->patient;
  errand->trade = trade;
  errand->order = ++self->last_order;
  return TRUE;
}

/**
 * irisd_leases_add:
 * @self: the book
 * @errand: what to do; has to outlive its stay in the book
 * @name: the service
 * @now: the time
 *
 * Returns: %FALSE if nobody knows the service; the errand is not in the book then
 */
gboolean
irisd_leases_add (IrisdLeases *self, IrisdErrand *errand, const char *name, gint64 now)
{
  if (!enter (self, errand, name))
    return FALSE;
  irisd_leases_place (self, errand, now);
  return TRUE;
}

/**
 * irisd_leases_restore:
 * @self: the book
 * @errand: what was leased when another book was lost, with how often it was
 * @name: the service
 * @owner: of the server that has it
 * @left_us: for how long; at most as long as a new lease
 * @now: the time
 *
 * Returns: the number that the lease has here; 0 if the service is not known: the errand is not in
 *   the book then
 */
guint64
irisd_leases_restore (IrisdLeases *self,
                      IrisdErrand *errand,
                      const char *name,
                      gint64 owner,
                      gint64 left_us,
                      gint64 now)
{
  if (!enter (self, errand, name))
    return 0;
  IrisdLease *lease = new_lease (self, errand, now + CLAMP (left_us, 0, self->rules.lease_us));
  lease->owner = owner;
  errand->away = TRUE;
  irisd_trade_set_alarm (self, errand->trade);
  return lease->number;
}

/**
 * irisd_leases_get_state:
 * @errand: an errand
 *
 * Returns: where it is now
 */
IrisdErrandState
irisd_leases_get_state (const IrisdErrand *errand)
{
  if (errand->trade == NULL)
    return IRISD_ERRAND_GONE;
  return errand->lease == NULL ? IRISD_ERRAND_WAITED : IRISD_ERRAND_WAS_LEASED;
}

/**
 * irisd_leases_withdraw:
 * @self: the book
 * @errand: an errand
 * @now: the time
 *
 * Takes it out of the book, without an end.
 *
 * Returns: where it was
 */
IrisdErrandState
irisd_leases_withdraw (IrisdLeases *self, IrisdErrand *errand, gint64 now)
{
  IrisdErrandState state = irisd_leases_get_state (errand);
  IrisdLease *lease = errand->lease;
  if (state == IRISD_ERRAND_GONE)
    return state;
  if (lease == NULL)
    irisd_trade_remove (self, errand);
  else
    irisd_lease_revoke (self, lease, IRIS_WIRE_ERROR_CANCELLED);
  let_go (self, errand);
  return state;
}

static IrisdLease *
find_lease (IrisdLeases *self, IrisdServer *server, guint64 number)
{
  IrisdLease *lease = g_hash_table_lookup (self->by_number, &number);
  if (lease != NULL && lease->server == NULL && lease->owner == server->owner && server->enrolled)
    {
      lease->errand->away = FALSE;
      set_server (self, lease, server);
    }
  return lease != NULL && lease->server == server ? lease : NULL;
}

/**
 * irisd_leases_find:
 * @self: the book
 * @server: a server
 * @lease: the number of a lease
 *
 * Returns: (nullable): the errand, if the server has that lease
 */
IrisdErrand *
irisd_leases_find (IrisdLeases *self, IrisdServer *server, guint64 lease)
{
  IrisdLease *found = find_lease (self, server, lease);
  return found != NULL ? found->errand : NULL;
}

/**
 * irisd_leases_find_server:
 * @errand: an errand in a book
 * @lease: (out): the number of its lease
 *
 * Returns: (nullable): who has it
 */
IrisdServer *
irisd_leases_find_server (const IrisdErrand *errand, guint64 *lease)
{
  if (errand->lease == NULL)
    return NULL;
  *lease = errand->lease->number;
  return errand->lease->server;
}

/* Ends a lease that the server has answered, and employs it anew. */
static IrisdErrand *
settle (IrisdLeases *self, IrisdLease *lease)
{
  IrisdErrand *errand = irisd_lease_strip (self, lease);
  close_lease (self, lease);
  return errand;
}

/* A server that may have room now gets what waits. */
void
irisd_leases_employ (IrisdLeases *self, IrisdServer *server, gint64 now)
{
  irisd_server_rest (self, server);
  employ (self, server, now);
}

/**
 * irisd_leases_done:
 * @self: the book
 * @server: who says so
 * @lease: the number of a lease
 * @now: the time
 * @errand: (out): what is done, if it ended
 *
 * Returns: %IRISD_LEASE_ENDED, and the errand has left the book, or %IRISD_LEASE_UNKNOWN
 */
IrisdLeaseEnd
irisd_leases_done (IrisdLeases *self,
                   IrisdServer *server,
                   guint64 lease,
                   gint64 now,
                   IrisdErrand **errand)
{
  IrisdLease *found = find_lease (self, server, lease);
  *errand = NULL;
  if (found == NULL)
    return IRISD_LEASE_UNKNOWN;
  *errand = settle (self, found);
  if (*errand != NULL)
    {
      server->done++;
      let_go (self, *errand);
    }
  irisd_leases_employ (self, server, now);
  return *errand != NULL ? IRISD_LEASE_ENDED : IRISD_LEASE_UNKNOWN;
}

/**
 * irisd_leases_give_back:
 * @self: the book
 * @server: who could not do it
 * @lease: the number of a lease
 * @again: whether it is worth another try
 * @now: the time
 * @errand: (out): what has failed, if it ended
 *
 * Returns: what came of it
 */
IrisdLeaseEnd
irisd_leases_give_back (IrisdLeases *self,
                        IrisdServer *server,
                        guint64 lease,
                        gboolean again,
                        gint64 now,
                        IrisdErrand **errand)
{
  IrisdLease *found = find_lease (self, server, lease);
  *errand = NULL;
  if (found == NULL)
    return IRISD_LEASE_UNKNOWN;
  IrisdErrand *settled = settle (self, found);
  IrisdLeaseEnd end = IRISD_LEASE_STOPPED;
  if (settled != NULL)
    {
      server->failed++;
      end = again && settled->attempts < self->rules.attempts ? IRISD_LEASE_AGAIN
                                                              : IRISD_LEASE_ENDED;
    }
  if (end == IRISD_LEASE_ENDED)
    {
      let_go (self, settled);
      *errand = settled;
    }
  else if (end == IRISD_LEASE_AGAIN)
    irisd_leases_place (self, settled, now); /* the server is not idle yet: others first */
  irisd_leases_employ (self, server, now);
  return end;
}

/**
 * irisd_leases_extend:
 * @self: the book
 * @server: a server
 * @lease: the number of a lease
 * @more_us: from now on; at most as long as a new lease
 * @now: the time
 *
 * Returns: %FALSE if the server has no such lease
 */
gboolean
irisd_leases_extend (IrisdLeases *self,
                     IrisdServer *server,
                     guint64 lease,
                     gint64 more_us,
                     gint64 now)
{
  IrisdLease *found = find_lease (self, server, lease);
  if (found == NULL || found->errand == NULL)
    return FALSE;
  g_tree_remove (self->by_deadline, found);
  found->deadline = now + CLAMP (more_us, 0, self->rules.lease_us);
  g_tree_insert (self->by_deadline, found, found);
  return TRUE;
}
