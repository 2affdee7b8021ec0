/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The inside of the shared table, for the files that are parts of it.
 */
#pragma once

#include "daemon/exec/worker/irisd-worker-processes.h"

#include <pthread.h>

G_BEGIN_DECLS

struct _IrisdWorkerProcesses
{
  pthread_mutex_t lock;
  IrisdCore *core;
  IrisdLeases *leases;
  GPtrArray *workers;  /* of IrisdWorkerProcess */
  guint8 epoch[8];     /* first half of the leases' ids, which differs between runs of irisd */
  GPtrArray *restored; /* their ids, by number less 1; constant once items are taken */
  GHashTable *restored_by_id; /* the same → their numbers */
  _Atomic gint64 alarm_us;
};

static inline IrisdLeasedItem *
irisd_leased_item_of (IrisdLeaseEntry *entry)
{
  return (IrisdLeasedItem *) (void *) ((char *) entry - G_STRUCT_OFFSET (IrisdLeasedItem, entry));
}

IrisdLeasedItem *irisd_leased_item_ref (IrisdLeasedItem *leased_item);
IrisdWorkerEvent *irisd_worker_event_new (IrisdWorkerEventKind kind);
gint64 irisd_worker_processes_lock (IrisdWorkerProcesses *self);
void irisd_worker_processes_unlock (IrisdWorkerProcesses *self);
void irisd_worker_processes_set_schedule (IrisdWorkerProcesses *self, IrisdJob *job, gint64 space);
void irisd_worker_processes_init_restored (IrisdWorkerProcesses *self);
void irisd_worker_processes_clear_restored (IrisdWorkerProcesses *self);
void irisd_worker_processes_note_lease (IrisdWorkerProcesses *self,
                                        IrisdLeasedItem *leased_item,
                                        gint64 owner,
                                        guint64 lease);
void irisd_worker_processes_note_due (IrisdWorkerProcesses *self,
                                      IrisdLeasedItem *leased_item,
                                      guint64 left_ms);
void irisd_worker_processes_tell_credit (IrisdWorkerProcesses *self,
                                         IrisdLeasedItem *leased_item,
                                         guint64 bytes);
guint64 irisd_worker_processes_read_lease (IrisdWorkerProcesses *self, const guint8 *id);

G_END_DECLS
