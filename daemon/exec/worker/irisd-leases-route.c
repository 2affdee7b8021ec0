/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The table of leases: which worker may do whose items.
 *
 * A service is a name in a name space: that of a user, whose workers do that user's items alone, or
 * the shared one, whose workers do the items of all. A user's item goes to the first of the two in
 * which the service is served; if neither is, it waits in the first one that knows the service. So
 * a worker of one user can neither get nor hold up the items of another, unless a rule has it serve
 * all.
 *
 * What waits is moved when that rule would decide otherwise than before: when a service is served
 * for the first time in one name space, or no longer, while items wait in the other.
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

/* Where items that begin their search in @space find the service; NULL if it is not known. */
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

/* Which name space a worker serves a service in. */
gint64
irisd_leases_get_space (IrisdLeases *self, IrisdWorker *worker, const char *name)
{
  if (self->events->shares == NULL || self->events->shares (worker, name, self->user_data))
    return IRISD_SPACE_SHARED;
  return worker->owner;
}

/* How many services of a name space had a worker once, or never. */
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

/* Each name space may have so many: one user cannot use up the services of others. */
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
  g_set_error (
      error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_TOO_LARGE,
      "there would be more services of worker processes than total-worker-services (%u); raise "
      "it with [limits] total-worker-services",
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

/* Moves what waits in a queue that is not served, and belongs elsewhere by now. */
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

/* A user's service was served for the first time: that user's items may wait in the shared one. */
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

/**
 * irisd_leases_reroute:
 * @self: the table
 * @worker: a worker that has changed what it serves, or has gone
 * @now: the time
 *
 * Moves what waits to where it finds its service now.
 */
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
