/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The table of leases: which worker may run which user's items.
 *
 * A service is a name in a name space: that of a user, whose workers run that user's items alone,
 * or the shared one, whose workers run the items of all. A user's item goes to the first of the two
 * in which the service has a worker; if neither has, it waits in the first one that knows the
 * service. So a worker of one user can neither get nor delay the items of another, unless a rule
 * lets it serve all.
 *
 * Waiting items are moved when that rule gives another result: when a service gets its first worker
 * in one name space, or loses its last, while items wait in the other.
 */
#include "daemon/exec/worker/irisd-leases-private.h"

#include <string.h>

guint
irisd_lease_queue_hash (gconstpointer queue)
{
  const IrisdLeaseQueue *self = queue;
  return g_str_hash (self->name) * 31 + (guint) self->space;
}

gboolean
irisd_lease_queue_equal (gconstpointer a, gconstpointer b)
{
  const IrisdLeaseQueue *left = a, *right = b;
  return left->space == right->space && strcmp (left->name, right->name) == 0;
}

IrisdLeaseQueue *
irisd_leases_find_queue (IrisdLeases *self, gint64 space, const char *name)
{
  const IrisdLeaseQueue key = { .space = space, .name = (char *) name };
  return g_hash_table_lookup (self->queues, &key);
}

/* The queue for items that try @space first; NULL if the service is not known. */
IrisdLeaseQueue *
irisd_leases_route (IrisdLeases *self, gint64 space, const char *name)
{
  IrisdLeaseQueue *shared = irisd_leases_find_queue (self, IRISD_SPACE_SHARED, name);
  if (space == IRISD_SPACE_SHARED)
    return shared;
  IrisdLeaseQueue *own = irisd_leases_find_queue (self, space, name);
  if (own == NULL || (own->n_subscriptions == 0 && shared != NULL && shared->n_subscriptions > 0))
    return shared;
  return own;
}

/* The name space in which a worker serves a service. */
gint64
irisd_leases_get_space (IrisdLeases *self, IrisdWorker *worker, const char *name)
{
  if (self->events->shares == NULL || self->events->shares (worker, name, self->user_data))
    return IRISD_SPACE_SHARED;
  return worker->owner;
}

/* How many services of a name space had a worker once, or never had one. */
guint
irisd_leases_count_queues (IrisdLeases *self, gint64 space, gboolean served)
{
  GHashTableIter iter;
  gpointer value;
  guint n = 0;
  g_hash_table_iter_init (&iter, self->queues);
  while (g_hash_table_iter_next (&iter, &value, NULL))
    {
      const IrisdLeaseQueue *queue = value;
      n += queue->space == space && queue->served == served;
    }
  return n;
}

/* The limit is per name space, so one user cannot use up the services of others. */
gboolean
irisd_leases_check_services (IrisdLeases *self,
                             IrisdWorker *worker,
                             const IrisWireServices *services,
                             GError **error)
{
  guint n_shared = irisd_leases_count_queues (self, IRISD_SPACE_SHARED, TRUE);
  guint n_own = irisd_leases_count_queues (self, worker->owner, TRUE);
  for (guint i = 0; i < services->n_services; i++)
    {
      const char *name = services->services[i].name;
      gint64 space = irisd_leases_get_space (self, worker, name);
      const IrisdLeaseQueue *queue = irisd_leases_find_queue (self, space, name);
      if (queue != NULL && queue->served)
        continue;
      if (space == IRISD_SPACE_SHARED)
        n_shared++;
      else
        n_own++;
    }
  if (MAX (n_shared, n_own) <= self->rules.max_services)
    return TRUE;
  g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_TOO_LARGE,
               "cannot serve the service: more services of worker processes than "
               "total-worker-services (%u); raise that limit",
               self->rules.max_services);
  return FALSE;
}

static void
move_entry (IrisdLeases *self, IrisdLeaseEntry *entry, IrisdLeaseQueue *to, gint64 now)
{
  IrisdLeaseQueue *from = entry->queue;
  irisd_lease_queue_remove (self, entry);
  from->n_entries--;
  from->n_patient -= entry->patient;
  irisd_lease_queue_set_alarm (self, from);
  entry->queue = to;
  to->n_entries++;
  to->n_patient += entry->patient;
  irisd_leases_place (self, entry, now);
}

/* Moves the items of a queue that has no worker to the queue where they belong now. */
static void
reroute_queue (IrisdLeases *self, IrisdLeaseQueue *from, gint64 now)
{
  for (guint i = 0; i <= self->rules.n_places; i++)
    for (GList *link = from->waiting[i].head, *next; link != NULL; link = next)
      {
        IrisdLeaseEntry *entry = link->data;
        IrisdLeaseQueue *to = irisd_leases_route (self, entry->space, from->name);
        next = link->next;
        if (to != from)
          move_entry (self, entry, to, now);
      }
}

/* A user's service got its first worker; items of that user may wait in the shared one. */
static void
pull_own (IrisdLeases *self, IrisdWorker *worker, gint64 now)
{
  for (guint i = 0; i < worker->n_subscriptions; i++)
    {
      const IrisdLeaseQueue *own = worker->subscriptions[i]->queue;
      IrisdLeaseQueue *shared = irisd_leases_find_queue (self, IRISD_SPACE_SHARED, own->name);
      if (own->n_subscriptions == 1 && shared != NULL && shared != own
          && shared->n_subscriptions == 0)
        reroute_queue (self, shared, now);
    }
}

/* Moves waiting items to where they find their service now. @worker has changed its services, or
 * has left. */
void
irisd_leases_reroute (IrisdLeases *self, IrisdWorker *worker, gint64 now)
{
  pull_own (self, worker, now);
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, self->queues);
  while (g_hash_table_iter_next (&iter, &value, NULL))
    {
      IrisdLeaseQueue *queue = value;
      if (queue->n_subscriptions == 0 && queue->n_entries > 0 && queue->space != IRISD_SPACE_SHARED
          && irisd_leases_route (self, queue->space, queue->name) != queue)
        reroute_queue (self, queue, now);
    }
}
