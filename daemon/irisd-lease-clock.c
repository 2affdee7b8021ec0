/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The book of leases: what ends because it is time, or because irisd ends.
 */
#include "irisd-lease-private.h"

/* Of a service without a server. */
static void
put_off_patient (IrisdLeases *self, IrisdTrade *trade)
{
  for (guint i = 0; i <= self->rules.n_places && trade->n_patient > 0; i++)
    for (GList *link = trade->waiting[i].head; link != NULL && trade->n_patient > 0;)
      {
        IrisdErrand *errand = link->data;
        link = link->next;
        if (!errand->patient)
          continue;
        irisd_trade_remove (self, errand);
        irisd_leases_fail_errand (self, errand, IRIS_WIRE_ERROR_SHUTTING_DOWN);
      }
}

/* A book that drains does not wait for servers to come. */
void
irisd_leases_put_off_unserved (IrisdLeases *self)
{
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, self->trades);
  while (self->draining && g_hash_table_iter_next (&iter, NULL, &value))
    if (((IrisdTrade *) value)->n_posts == 0)
      put_off_patient (self, value);
}

static IrisdTrade *
first_alarm (IrisdLeases *self)
{
  GTreeNode *node = g_tree_node_first (self->by_alarm);
  return node != NULL ? g_tree_node_key (node) : NULL;
}

static IrisdLease *
first_lease (IrisdLeases *self)
{
  GTreeNode *node = g_tree_node_first (self->by_deadline);
  return node != NULL ? g_tree_node_key (node) : NULL;
}

/**
 * irisd_leases_next:
 * @self: the book
 *
 * Returns: when irisd_leases_expire() has something to do; %G_MAXINT64 for never
 */
gint64
irisd_leases_next (IrisdLeases *self)
{
  IrisdLease *lease = first_lease (self);
  IrisdTrade *trade = first_alarm (self);
  gint64 next = lease != NULL ? lease->deadline : G_MAXINT64;
  return trade != NULL ? MIN (next, trade->alarm) : next;
}

/* Fails what has waited long enough for a server; a service that has neither server nor errands is
 * forgotten. */
static void
give_up (IrisdLeases *self, IrisdTrade *trade, gint64 now)
{
  IrisdErrand *errand;
  while ((errand = g_queue_peek_head (&trade->impatient)) != NULL
         && irisd_trade_get_first_end (self, trade) <= now)
    {
      irisd_trade_remove (self, errand);
      irisd_leases_fail_errand (self, errand, IRIS_WIRE_ERROR_NO_WORKER);
    }
  if (errand == NULL && trade->alarm <= now)
    irisd_leases_forget_trade (self, trade);
}

/**
 * irisd_leases_expire:
 * @self: the book
 * @now: the time
 *
 * Ends leases whose time is over, and gives up services without a server.
 */
void
irisd_leases_expire (IrisdLeases *self, gint64 now)
{
  IrisdLease *lease;
  while ((lease = first_lease (self)) != NULL && lease->deadline <= now)
    {
      if (lease->server != NULL)
        lease->server->lost++;
      IrisdErrand *errand = irisd_lease_revoke (self, lease, IRIS_WIRE_ERROR_NO_SUCH_LEASE);
      irisd_leases_lose (self, errand, now);
    }
  IrisdTrade *trade;
  while ((trade = first_alarm (self)) != NULL && trade->alarm <= now)
    give_up (self, trade, now);
}

static gboolean
collect_away (gpointer key, gpointer value, gpointer user_data)
{
  IrisdLease *lease = value;
  if (lease->server == NULL)
    g_ptr_array_add (user_data, lease);
  return FALSE;
}

static void
put_off_away (IrisdLeases *self)
{
  g_autoptr (GPtrArray) leases = g_ptr_array_new ();
  g_tree_foreach (self->by_deadline, collect_away, leases);
  for (guint i = 0; i < leases->len; i++)
    {
      IrisdErrand *errand = irisd_lease_revoke (self, leases->pdata[i],
                                                IRIS_WIRE_ERROR_SHUTTING_DOWN);
      irisd_leases_fail_errand (self, errand, IRIS_WIRE_ERROR_SHUTTING_DOWN);
    }
}

/**
 * irisd_leases_drain:
 * @self: the book
 *
 * Ends the waiting of patient errands whose service has no server, or whose server is away, now and
 * from now on, because irisd is to end.
 */
void
irisd_leases_drain (IrisdLeases *self)
{
  self->draining = TRUE;
  put_off_away (self);
  irisd_leases_put_off_unserved (self);
}

/**
 * irisd_leases_close:
 * @self: the book
 *
 * Ends everything that waits or is leased, and whatever else comes, because irisd ends.
 */
void
irisd_leases_close (IrisdLeases *self)
{
  self->closed = TRUE;
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, self->trades);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      IrisdTrade *trade = value;
      for (guint i = 0; i <= self->rules.n_places; i++)
        while (trade->waiting[i].length > 0)
          {
            IrisdErrand *errand = g_queue_peek_head (&trade->waiting[i]);
            irisd_trade_remove (self, errand);
            irisd_leases_fail_errand (self, errand, IRIS_WIRE_ERROR_SHUTTING_DOWN);
          }
    }
  IrisdLease *lease;
  while ((lease = first_lease (self)) != NULL)
    {
      IrisdErrand *errand = irisd_lease_revoke (self, lease, IRIS_WIRE_ERROR_SHUTTING_DOWN);
      irisd_leases_fail_errand (self, errand, IRIS_WIRE_ERROR_SHUTTING_DOWN);
    }
}
