/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A leased item: the part of an item that a worker process receives, and its events between
 * gateways.
 */
#include "daemon/exec/worker/irisd-worker-processes.h"

#include <string.h>

static char *
dup_if_there (const IrisWireMessage *item, IrisWireKey key, const IrisWireString *string)
{
  return iris_wire_message_has (item, key) ? iris_wire_string_dup (string) : NULL;
}

/* Moves the job's payload to the leased item. A small one is a part of the job, so it is copied. */
static void
take_payload (IrisdLeasedItem *self, IrisdJob *job)
{
  zmq_msg_init (&self->payload);
  if (job->inline_size == 0)
    {
      zmq_msg_move (&self->payload, irisd_job_get_message (job));
      return;
    }
  if (zmq_msg_init_size (&self->payload, job->inline_size) != 0)
    g_error ("cannot lease the item: out of memory for a payload of %zu bytes", job->inline_size);
  memcpy (zmq_msg_data (&self->payload), job->inline_payload, job->inline_size);
}

/* Makes @job, new and of the service irisd_service_worker_processes, one that worker processes run.
 * @place is the place of @item's hint, or IRIS_PLACE_ANY. */
void
irisd_worker_processes_adopt (IrisdJob *job, const IrisWireMessage *item, gint place)
{
  IrisdLeasedItem *self = g_new0 (IrisdLeasedItem, 1);
  atomic_init (&self->refs, 1);
  self->entry.place = place;
  self->entry.strict = item->strict;
  self->service = iris_wire_string_dup (&item->service);
  self->content_type = dup_if_there (item, IRIS_WIRE_KEY_CONTENT_TYPE, &item->content_type);
  self->args = g_steal_pointer (&job->args);
  self->path = g_steal_pointer (&job->path);
  self->progress = item->progress;
  self->parts = iris_wire_message_has (item, IRIS_WIRE_KEY_PARTS);
  self->waits = item->wait_for_service;
  self->slot = IRISD_ATTEMPT_NONE;
  self->messages_for = job;
  atomic_store_explicit (&job->output_credit, item->parts, memory_order_relaxed);
  job->result.bytes = item->body.size;
  take_payload (self, job);
  job->leased_item = self;
}

/* Resets the leased item of a job that is to run again. */
void
irisd_worker_processes_renew (IrisdJob *job)
{
  IrisdLeasedItem *self = job->leased_item;
  g_clear_pointer (&self->result_type, g_free);
  self->entry.attempts = 0;
  irisd_attempts_end (job->core->attempts, self->slot);
  self->slot = IRISD_ATTEMPT_NONE;
  job->result.bytes = zmq_msg_size (&self->payload);
}

/* @job is freed, and its lease ends. If its item has ended, nothing is written: an irisd that is
 * killed before the journal has the end still knows the lease, and the worker process sends the end
 * again. */
void
irisd_worker_processes_forget (IrisdJob *job)
{
  IrisdLeasedItem *self = job->leased_item;
  if (irisd_job_is (job, IRISD_ITEM_RELEASED)
      || g_error_matches (job->result.error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_JOURNAL_FAILED))
    irisd_attempts_drop (job->core->attempts, self->slot);
  else
    irisd_attempts_end (job->core->attempts, self->slot);
  self->slot = IRISD_ATTEMPT_NONE;
  self->messages_for = NULL;
  irisd_leased_item_unref (self);
}

/* Any thread may call this. */
void
irisd_leased_item_unref (IrisdLeasedItem *self)
{
  if (atomic_fetch_sub_explicit (&self->refs, 1, memory_order_acq_rel) > 1)
    return;
  zmq_msg_close (&self->payload);
  g_free (self->service);
  g_free (self->content_type);
  g_strfreev (self->args);
  g_free (self->path);
  g_free (self->result_type);
  g_free (self->note);
  g_free (self);
}

void
irisd_worker_event_free (IrisdWorkerEvent *self)
{
  zmq_msg_close (&self->payload);
  if (self->worker != NULL)
    irisd_worker_process_unref (self->worker);
  if (self->leased_item != NULL)
    irisd_leased_item_unref (self->leased_item);
  g_free (self);
}
