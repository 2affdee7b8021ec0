/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The inside of the table of leases with its lock, for the files that are parts of it.
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
  gint64 not_before_us; /* nothing expires before, because irisd stood still */
  GHashTable *nodes;    /* guint64 utf8: by number, the nodes of persistent items for others */
};

#define leased_item_of(pointer) IRISD_CONTAINER (pointer, IrisdLeasedItem, entry)
#define worker_of(pointer)      IRISD_CONTAINER (pointer, IrisdWorkerProcess, base)

gint64 irisd_worker_processes_lock (IrisdWorkerProcesses *self);
void irisd_worker_processes_unlock (IrisdWorkerProcesses *self);
guint64 irisd_worker_processes_read_lease (IrisdWorkerProcesses *self, const guint8 *id);
IrisdWorkerEvent *irisd_worker_event_new (IrisdWorkerEventKind kind);
IrisdLeasedItem *irisd_leased_item_ref (IrisdLeasedItem *leased_item);
IrisdWorkerProcess *irisd_worker_process_ref (IrisdWorkerProcess *worker);

G_END_DECLS
