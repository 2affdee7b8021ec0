/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The book of leases: which server may do whose items.
 *
 * A service is a name in a name space: that of a user, whose servers do that user's items alone, or
 * the shared one, whose servers do the items of all. A user's item goes to the first of the two in
 * which the service is served; if neither is, it waits in the first one that knows the service. So
 * a server of one user can neither get nor hold up the items of another, unless a rule has it serve
 * all.
 *
 * What waits is moved when that rule would decide otherwise than before: when a service is served
 * for the first time in one name space, or no longer, while items wait in the other.
 */
#include "irisd-lease-private.h"

#include <string.h>

guint
irisd_trade_hash (gconstpointer trade)
{
  const IrisdTrade *self = trade;
  return g_str_hash (self->name) * 31 + (guint) self->space;
}

gboolean
irisd_trade_equal (gconstpointer a, gconstpointer b)
{
  const IrisdTrade *left = a, *right = b;
  return left->space == right->space && strcmp (left->name, right->name) == 0;
}

IrisdTrade *
irisd_leases_find_trade (IrisdLeases *self, gint64 space, const char *name)
{
  const IrisdTrade key = { .space = space, .name = (char *) name };
  return g_hash_table_lookup (self->trades, &key);
}

/* Where items that begin their search in @space find the service; NULL if it is not known. */
IrisdTrade *
irisd_leases_route (IrisdLeases *self, gint64 space, const char *name)
{
  IrisdTrade *shared = irisd_leases_find_trade (self, IRISD_SPACE_SHARED, name);
  if (space == IRISD_SPACE_SHARED)
    return shared;
  IrisdTrade *own = irisd_leases_find_trade (self, space, name);
  if (own == NULL || (own->n_posts == 0 && shared != NULL && shared->n_posts > 0))
    return shared;
  return own;
}

/* Which name space a server serves a service in. */
gint64
irisd_leases_get_space (IrisdLeases *self, IrisdServer *server, const char *name)
{
  if (self->events->shares == NULL || self->events->shares (server, name, self->user_data))
    return IRISD_SPACE_SHARED;
  return server->owner;
}

/* How many services of a name space had a server once, or never. */
guint
irisd_leases_count_trades (IrisdLeases *self, gint64 space, gboolean served)
{
  GHashTableIter iter;
  gpointer value;
  guint n = 0;
  g_hash_table_iter_init (&iter, self->trades);
  while (g_hash_table_iter_next (&iter, &value, NULL))
    {
      const IrisdTrade *trade = value;
      n += trade->space == space && trade->served == served;
    }
  return n;
}

/* Each name space may have so many: one user cannot use up the services of others. */
gboolean
irisd_leases_check_services (IrisdLeases *self,
                             IrisdServer *server,
                             const IrisWireServices *services,
                             GError **error)
{
  guint n_shared = irisd_leases_count_trades (self, IRISD_SPACE_SHARED, TRUE);
  guint n_own = irisd_leases_count_trades (self, server->owner, TRUE);
  for (guint i = 0; i < services->n_services; i++)
    {
      const char *name = services->services[i].name;
      gint64 space = irisd_leases_get_space (self, server, name);
      const IrisdTrade *trade = irisd_leases_find_trade (self, space, name);
      if (trade != NULL && trade->served)
        continue;
      if (space == IRISD_SPACE_SHARED)
        n_shared++;
      else
        n_own++;
    }
  if (MAX (n_shared, n_own) <= self->rules.max_services)
    return TRUE;
  g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_TOO_LARGE,
               "there would be more services of worker processes than outside-services (%u); raise "
               "it with [limits] outside-services",
               self->rules.max_services);
  return FALSE;
}

static void
move_errand (IrisdLeases *self, IrisdErrand *errand, IrisdTrade *to, gint64 now)
{
  IrisdTrade *from = errand->trade;
  irisd_trade_remove (self, errand);
  from->n_errands--;
  from->n_patient -= errand->patient;
  irisd_trade_set_alarm (self, from);
  errand->trade = to;
  to->n_errands++;
  to->n_patient += errand->patient;
  irisd_leases_place (self, errand, now);
}

/* Moves what waits in a trade that is not served, and belongs elsewhere by now. */
static void
reroute_trade (IrisdLeases *self, IrisdTrade *from, gint64 now)
{
  for (guint i = 0; i <= self->rules.n_places; i++)
    for (GList *link = from->waiting[i].head, *next; link != NULL; link = next)
      {
        IrisdErrand *errand = link->data;
        IrisdTrade *to = irisd_leases_route (self, errand->space, from->name);
        next = link->next;
        if (to != from)
          move_errand (self, errand, to, now);
      }
}

/* A user's service was served for the first time: that user's items may wait in the shared one. */
static void
pull_own (IrisdLeases *self, IrisdServer *server, gint64 now)
{
  for (guint i = 0; i < server->n_posts; i++)
    {
      const IrisdTrade *own = server->posts[i]->trade;
      IrisdTrade *shared = irisd_leases_find_trade (self, IRISD_SPACE_SHARED, own->name);
      if (own->n_posts == 1 && shared != NULL && shared != own && shared->n_posts == 0)
        reroute_trade (self, shared, now);
    }
}

/**
 * irisd_leases_reroute:
 * @self: the book
 * @server: a server that has changed what it serves, or has gone
 * @now: the time
 *
 * Moves what waits to where it finds its service now.
 */
void
irisd_leases_reroute (IrisdLeases *self, IrisdServer *server, gint64 now)
{
  pull_own (self, server, now);
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, self->trades);
  while (g_hash_table_iter_next (&iter, &value, NULL))
    {
      IrisdTrade *trade = value;
      if (trade->n_posts == 0 && trade->n_errands > 0 && trade->space != IRISD_SPACE_SHARED
          && irisd_leases_route (self, trade->space, trade->name) != trade)
        reroute_trade (self, trade, now);
    }
}
