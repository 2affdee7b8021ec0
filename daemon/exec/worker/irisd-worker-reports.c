/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests about worker processes: reports of progress, lists of workers and services, and resume.
 */
#include "daemon/exec/worker/irisd-worker-processes-private.h"

/* Fills @out, a PROGRESS message without keys, with the latest report; @note is what it borrows.
 * For the job's gateway. Returns the job, or NULL if it has ended. */
IrisdJob *
irisd_worker_processes_take_report (IrisdWorkerProcesses *self,
                                    IrisdLeasedItem *leased_item,
                                    IrisWireMessage *out,
                                    char **note)
{
  irisd_worker_processes_lock (self);
  leased_item->report_posted = FALSE;
  IrisdJob *job = leased_item->job;
  if (leased_item->has_fraction)
    iris_wire_message_set_uint (out, IRIS_WIRE_KEY_FRACTION, leased_item->fraction);
  *note = g_strdup (leased_item->note);
  irisd_worker_processes_unlock (self);
  if (*note != NULL)
    iris_wire_message_set_string (out, IRIS_WIRE_KEY_NOTE, *note, -1);
  return job;
}

/* Only the latest report is stored, and only one event is on its way: a worker that reports without
 * end does not fill a mailbox. */
static void
keep_report (IrisdLeasedItem *leased_item, const IrisWireMessage *report)
{
  leased_item->has_fraction = iris_wire_message_has (report, IRIS_WIRE_KEY_FRACTION);
  leased_item->fraction = report->fraction;
  g_free (leased_item->note);
  leased_item->note = iris_wire_message_has (report, IRIS_WIRE_KEY_NOTE)
                          ? iris_wire_string_dup (&report->note)
                          : NULL;
  if (leased_item->report_posted)
    return;
  leased_item->report_posted = TRUE;
  IrisdWorkerEvent *event = irisd_worker_event_new (IRISD_WORKER_EVENT_REPORT);
  event->leased_item = irisd_leased_item_ref (leased_item);
  irisd_mailbox_post (leased_item->job->mailbox, &event->message);
}

/* Returns FALSE if the worker has no such lease. */
gboolean
irisd_worker_processes_report (IrisdWorkerProcesses *self,
                               IrisdWorkerProcess *worker,
                               const IrisWireMessage *report)
{
  irisd_worker_processes_lock (self);
  IrisdLeaseEntry *entry = irisd_leases_find (
      self->leases, &worker->base, irisd_worker_processes_read_lease (self, report->request_id));
  /* A report that is only a part has no progress. */
  gboolean tells = report->body.size == 0 || report->present != 0;
  if (entry != NULL && irisd_leased_item_of (entry)->progress && tells)
    keep_report (irisd_leased_item_of (entry), report);
  irisd_worker_processes_unlock (self);
  return entry != NULL;
}

/* Returns the worker processes that @view, an owner or IRISD_VIEW_ALL, may see. */
IrisWireWorkers *
irisd_worker_processes_describe_workers (IrisdWorkerProcesses *self, gint64 view)
{
  gint64 now = irisd_worker_processes_lock (self);
  IrisWireWorkers *list = iris_wire_workers_new (self->workers->len);
  guint n = 0;
  for (guint i = 0; i < self->workers->len; i++)
    {
      IrisdWorkerProcess *worker = g_ptr_array_index (self->workers, i);
      if (!irisd_worker_is_within (&worker->base, view))
        continue;
      gint64 heard = atomic_load_explicit (&worker->heard_us, memory_order_relaxed);
      list->workers[n].name = g_strdup (worker->name);
      irisd_leases_describe_worker (&worker->base, view, &list->workers[n]);
      list->workers[n++].silent_ms = (guint64) MAX (now - heard, 0) / 1000;
    }
  list->n_workers = n;
  irisd_worker_processes_unlock (self);
  return list;
}

/* Adds the services of worker processes to @list; @space is the name space that the client's items
 * try first. */
void
irisd_worker_processes_add_services (IrisdWorkerProcesses *self,
                                     gint64 space,
                                     IrisWireServices *list)
{
  irisd_worker_processes_lock (self);
  guint n = irisd_leases_count_services (self->leases);
  list->services = g_renew (IrisWireService, list->services, list->n_services + n);
  list->n_services += irisd_leases_describe_services (self->leases, space,
                                                      list->services + list->n_services);
  irisd_worker_processes_unlock (self);
}

/* From now on items are leased; irisd was started paused. */
void
irisd_worker_processes_resume (IrisdWorkerProcesses *self)
{
  gint64 now = irisd_worker_processes_lock (self);
  irisd_leases_resume (self->leases);
  for (guint i = 0; i < self->workers->len; i++)
    {
      IrisdWorkerProcess *worker = g_ptr_array_index (self->workers, i);
      if (worker->base.enrolled)
        irisd_leases_employ (self->leases, &worker->base, now);
    }
  irisd_worker_processes_unlock (self);
}
