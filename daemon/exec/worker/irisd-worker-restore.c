/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Leases of persistent items that outlive irisd, and the names of leases.
 *
 * From its first lease until its end is in the journal, a persistent item has a slot in the record
 * of attempts (irisd-attempts.c): its lease, the owner of the worker process, the end of the lease,
 * and how often the item was leased; or, while the item waits to be leased again, only the last.
 * After a crash irisd restores the leases before it reads its first message, so a worker process
 * that connects again finds them. The worker process names its lease by the id that the earlier
 * irisd made; so this irisd retains the ids of restored leases, which have the first numbers. The
 * ids of its own leases begin with its own epoch.
 */
#include "daemon/exec/worker/irisd-worker-processes-private.h"

#include <string.h>

static guint
hash_id (gconstpointer id)
{
  guint words[4];
  memcpy (words, id, sizeof words);
  return words[0] ^ words[1] ^ words[2] ^ words[3];
}

static gboolean
equal_ids (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, IRIS_WIRE_ID_SIZE) == 0;
}

void
irisd_worker_processes_init_restored (IrisdWorkerProcesses *self)
{
  self->restored = g_ptr_array_new_with_free_func (g_free);
  self->restored_by_id = g_hash_table_new (hash_id, equal_ids);
}

void
irisd_worker_processes_clear_restored (IrisdWorkerProcesses *self)
{
  g_hash_table_unref (self->restored_by_id);
  g_ptr_array_unref (self->restored);
}

/* Makes the request id that names the lease. */
void
irisd_worker_processes_name_lease (IrisdWorkerProcesses *self, guint64 lease, guint8 *id)
{
  guint64 number = GUINT64_TO_BE (lease);
  if (lease - 1 < self->restored->len)
    {
      memcpy (id, g_ptr_array_index (self->restored, (guint) lease - 1), IRIS_WIRE_ID_SIZE);
      return;
    }
  memcpy (id, self->epoch, sizeof self->epoch);
  memcpy (id + sizeof self->epoch, &number, sizeof number);
}

/* Returns 0, which is no lease, for an id that names none. */
guint64
irisd_worker_processes_read_lease (IrisdWorkerProcesses *self, const guint8 *id)
{
  guint64 number;
  if (memcmp (id, self->epoch, sizeof self->epoch) != 0)
    return GPOINTER_TO_SIZE (g_hash_table_lookup (self->restored_by_id, id));
  memcpy (&number, id + sizeof self->epoch, sizeof number);
  return GUINT64_FROM_BE (number);
}

/* Records that a persistent item is leased. Under the lock. */
void
irisd_worker_processes_note_lease (IrisdWorkerProcesses *self,
                                   IrisdLeasedItem *leased_item,
                                   gint64 owner,
                                   guint64 lease)
{
  const IrisdCore *core = self->core;
  const guint64 now_ms = irisd_unix_ms ();
  IrisdLeased leased = {
    .item = leased_item->job->persistent->item,
    .due_ms = now_ms + core->config->limits.lease_ms,
    .started_ms = now_ms,
    .owner = owner,
    .attempts = leased_item->entry.attempts,
  };
  irisd_worker_processes_name_lease (self, lease, leased.id);
  leased_item->slot = irisd_attempts_note_leased (core->attempts, leased_item->slot, &leased);
}

/* Records that a lease holds for this long from now on. Under the lock. */
void
irisd_worker_processes_note_due (IrisdWorkerProcesses *self,
                                 IrisdLeasedItem *leased_item,
                                 guint64 left_ms)
{
  irisd_attempts_note_due (self->core->attempts, leased_item->slot, irisd_unix_ms () + left_ms);
}

/* Restores the lease that @job, which was adopted, had when irisd crashed, before the gateways
 * start. The job comes back as a message. */
void
irisd_worker_processes_restore (IrisdWorkerProcesses *self,
                                IrisdJob *job,
                                gint64 space,
                                const IrisdLeased *leased)
{
  IrisdLeasedItem *leased_item = job->leased_item;
  const guint64 now_ms = irisd_unix_ms (), lease_ms = self->core->config->limits.lease_ms;
  const guint64 left_ms = leased->due_ms > now_ms ? MIN (leased->due_ms - now_ms, lease_ms) : 0;
  gint64 now = irisd_worker_processes_lock (self);
  irisd_worker_processes_set_schedule (self, job, space);
  /* From here on the service is known, so the lease has its place. */
  irisd_leases_expect (self->leases, space, leased_item->service, FALSE, now);
  guint64 number = irisd_leases_restore (self->leases, &leased_item->entry, leased_item->service,
                                         leased->owner, (gint64) left_ms * 1000, now);
  guint8 *id = g_memdup2 (leased->id, sizeof leased->id);
  g_ptr_array_add (self->restored, id);
  g_hash_table_insert (self->restored_by_id, id, GSIZE_TO_POINTER ((gsize) number));
  g_warn_if_fail (self->restored->len == number);
  irisd_attempts_note_due (self->core->attempts, leased_item->slot, now_ms + left_ms);
  atomic_store_explicit (&job->persistent->started_ms, leased->started_ms, memory_order_relaxed);
  irisd_job_advance (job, IRISD_EVENT_RESUME);
  job->started_ns = irisd_now_ns ();
  irisd_worker_processes_unlock (self);
}
