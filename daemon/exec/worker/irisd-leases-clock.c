/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The table of leases: ends of leases and of waiting, because of the time or because irisd ends.
 */
#include "daemon/exec/worker/irisd-leases-private.h"

/* For a service without a worker. */
static void
put_off_patient (IrisdLeases *self, IrisdLeaseQueue *queue)
{
  for (guint i = 0; i <= self->rules.n_places && queue->n_patient > 0; i++)
    for (GList *link = queue->waiting[i].head; link != NULL && queue->n_patient > 0;)
      {
        IrisdLeaseEntry *entry = link->data;
        link = link->next;
        if (!entry->patient)
          continue;
        irisd_lease_queue_remove (self, entry);
        irisd_leases_fail_entry (self, entry, IRIS_WIRE_ERROR_SHUTTING_DOWN);
      }
}

/* A table that drains does not wait for workers. */
void
irisd_leases_put_off_unserved (IrisdLeases *self)
{
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, self->queues);
  while (self->draining && g_hash_table_iter_next (&iter, NULL, &value))
    if (((IrisdLeaseQueue *) value)->n_subscriptions == 0)
      put_off_patient (self, value);
}

static IrisdLeaseQueue *
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

/* Returns when irisd_leases_expire() is to be called; G_MAXINT64 for never. */
gint64
irisd_leases_next (IrisdLeases *self)
{
  IrisdLease *lease = first_lease (self);
  IrisdLeaseQueue *queue = first_alarm (self);
  gint64 next = lease != NULL ? lease->deadline : G_MAXINT64;
  return queue != NULL ? MIN (next, queue->alarm) : next;
}

/* Fails items that have waited long enough for a worker, and drops a service with neither worker
 * nor items. */
static void
give_up (IrisdLeases *self, IrisdLeaseQueue *queue, gint64 now)
{
  IrisdLeaseEntry *entry;
  while ((entry = g_queue_peek_head (&queue->impatient)) != NULL
         && irisd_lease_queue_get_first_end (self, queue) <= now)
    {
      irisd_lease_queue_remove (self, entry);
      irisd_leases_fail_entry (self, entry, IRIS_WIRE_ERROR_NO_WORKER);
    }
  if (entry == NULL && queue->alarm <= now)
    irisd_leases_forget_queue (self, queue);
}

/* Ends expired leases, and drops services without a worker. */
void
irisd_leases_expire (IrisdLeases *self, gint64 now)
{
  IrisdLease *lease;
  while ((lease = first_lease (self)) != NULL && lease->deadline <= now)
    {
      if (lease->worker != NULL)
        lease->worker->lost++;
      IrisdLeaseEntry *entry = irisd_lease_revoke (self, lease, IRIS_WIRE_ERROR_NO_SUCH_LEASE);
      irisd_leases_lose (self, entry, now);
    }
  IrisdLeaseQueue *queue;
  while ((queue = first_alarm (self)) != NULL && queue->alarm <= now)
    give_up (self, queue, now);
}

static gboolean
collect_away (gpointer key, gpointer value, gpointer user_data)
{
  IrisdLease *lease = value;
  if (lease->worker == NULL)
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
      IrisdLeaseEntry *entry = irisd_lease_revoke (self, leases->pdata[i],
                                                   IRIS_WIRE_ERROR_SHUTTING_DOWN);
      irisd_leases_fail_entry (self, entry, IRIS_WIRE_ERROR_SHUTTING_DOWN);
    }
}

/* From now on patient items whose service has no worker, or whose worker is away, no longer wait,
 * because irisd is to end. */
void
irisd_leases_drain (IrisdLeases *self)
{
  self->draining = TRUE;
  put_off_away (self);
  irisd_leases_put_off_unserved (self);
}

/* Ends all waiting and all leases, now and from now on, because irisd ends. */
void
irisd_leases_close (IrisdLeases *self)
{
  self->closed = TRUE;
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, self->queues);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      IrisdLeaseQueue *queue = value;
      for (guint i = 0; i <= self->rules.n_places; i++)
        while (queue->waiting[i].length > 0)
          {
            IrisdLeaseEntry *entry = g_queue_peek_head (&queue->waiting[i]);
            irisd_lease_queue_remove (self, entry);
            irisd_leases_fail_entry (self, entry, IRIS_WIRE_ERROR_SHUTTING_DOWN);
          }
    }
  IrisdLease *lease;
  while ((lease = first_lease (self)) != NULL)
    {
      IrisdLeaseEntry *entry = irisd_lease_revoke (self, lease, IRIS_WIRE_ERROR_SHUTTING_DOWN);
      irisd_leases_fail_entry (self, entry, IRIS_WIRE_ERROR_SHUTTING_DOWN);
    }
}
