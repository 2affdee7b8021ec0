/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is told about items of worker processes: how far they are, who serves what, that they go on.
 */
#include "irisd-outside-private.h"

/**
 * irisd_outside_take_report:
 * @self: the shared book
 * @task: what a notice says there is a report of
 * @out: a PROGRESS message without keys; filled in
 * @note: (out) (transfer full): what @out borrows
 *
 * Only the gateway of the job may call this.
 *
 * Returns: (transfer none) (nullable): the job, if it has not ended
 */
IrisdJob *
irisd_outside_take_report (IrisdOutside *self, IrisdTask *task, IrisWireMessage *out, char **note)
{
  irisd_outside_lock (self);
  task->report_posted = FALSE;
  IrisdJob *job = task->job;
  if (task->has_fraction)
    iris_wire_message_set_uint (out, IRIS_WIRE_KEY_FRACTION, task->fraction);
  *note = g_strdup (task->note);
  irisd_outside_unlock (self);
  if (*note != NULL)
    iris_wire_message_set_string (out, IRIS_WIRE_KEY_NOTE, *note, -1);
  return job;
}

/* Only the latest report is kept, and only one notice is on its way: a worker that reports without
 * end fills nobody's mailbox. */
static void
keep_report (IrisdTask *task, const IrisWireMessage *report)
{
  task->has_fraction = iris_wire_message_has (report, IRIS_WIRE_KEY_FRACTION);
  task->fraction = report->fraction;
  g_free (task->note);
  task->note = iris_wire_message_has (report, IRIS_WIRE_KEY_NOTE)
                   ? iris_wire_string_dup (&report->note)
                   : NULL;
  if (task->report_posted)
    return;
  task->report_posted = TRUE;
  IrisdNotice *notice = irisd_notice_new (IRISD_NOTICE_REPORT);
  notice->task = irisd_task_ref (task);
  irisd_mailbox_post (task->job->mailbox, &notice->letter);
}

/**
 * irisd_outside_report:
 * @self: the shared book
 * @worker: who tells
 * @report: a REPORT message
 *
 * Returns: %FALSE if it has no such lease
 */
gboolean
irisd_outside_report (IrisdOutside *self, IrisdOutsideWorker *worker, const IrisWireMessage *report)
{
  irisd_outside_lock (self);
  IrisdErrand *errand = irisd_leases_find (self->book, &worker->server,
                                           irisd_outside_read_lease (self, report->request_id));
  /* A report that is only a part says nothing about how far the item is. */
  gboolean tells = report->body.size == 0 || report->present != 0;
  if (errand != NULL && irisd_task_of (errand)->progress && tells)
    keep_report (irisd_task_of (errand), report);
  irisd_outside_unlock (self);
  return errand != NULL;
}

/**
 * irisd_outside_describe_workers:
 * @self: the shared book
 * @view: an owner, or %IRISD_VIEW_ALL
 *
 * Returns: (transfer full): the worker processes that the owner knows of
 */
IrisWireWorkers *
irisd_outside_describe_workers (IrisdOutside *self, gint64 view)
{
  gint64 now = irisd_outside_lock (self);
  IrisWireWorkers *list = iris_wire_workers_new (self->workers->len);
  guint n = 0;
  for (guint i = 0; i < self->workers->len; i++)
    {
      IrisdOutsideWorker *worker = g_ptr_array_index (self->workers, i);
      if (!irisd_server_is_within (&worker->server, view))
        continue;
      gint64 heard = atomic_load_explicit (&worker->heard_us, memory_order_relaxed);
      list->workers[n].name = g_strdup (worker->name);
      irisd_leases_describe_server (&worker->server, view, &list->workers[n]);
      list->workers[n++].silent_ms = (guint64) MAX (now - heard, 0) / 1000;
    }
  list->n_workers = n;
  irisd_outside_unlock (self);
  return list;
}

/**
 * irisd_outside_add_services:
 * @self: the shared book
 * @space: the first name space that the client's items look in
 * @list: services, to which those of worker processes are added
 */
void
irisd_outside_add_services (IrisdOutside *self, gint64 space, IrisWireServices *list)
{
  irisd_outside_lock (self);
  guint n = irisd_leases_count_services (self->book);
  list->services = g_renew (IrisWireService, list->services, list->n_services + n);
  list->n_services += irisd_leases_describe_services (self->book, space,
                                                      list->services + list->n_services);
  irisd_outside_unlock (self);
}

/**
 * irisd_outside_resume:
 * @self: the shared book of an irisd that was started paused
 *
 * From now on items are leased.
 */
void
irisd_outside_resume (IrisdOutside *self)
{
  gint64 now = irisd_outside_lock (self);
  irisd_leases_resume (self->book);
  for (guint i = 0; i < self->workers->len; i++)
    {
      IrisdOutsideWorker *worker = g_ptr_array_index (self->workers, i);
      if (worker->server.enrolled)
        irisd_leases_employ (self->book, &worker->server, now);
    }
  irisd_outside_unlock (self);
}
