/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a worker process is told of an item, and the messages about it between gateways.
 */
#include "daemon/exec/worker/irisd-worker-processes.h"

#include <string.h>

static char *
dup_if_there (const IrisWireMessage *item, IrisWireKey key, const IrisWireString *string)
{
  return iris_wire_message_has (item, key) ? iris_wire_string_dup (string) : NULL;
}

/* The job's payload goes over to the leased item. A small one lies in the job, so it is copied. */
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
    g_error ("out of memory for a payload of %zu bytes", job->inline_size);
  memcpy (zmq_msg_data (&self->payload), job->inline_payload, job->inline_size);
}

/**
 * irisd_worker_processes_adopt:
 * @job: a new job of the service %irisd_service_worker_processes
 * @item: the SUBMIT message that it was made of
 * @place: the place that its hint names, or %IRIS_PLACE_ANY
 *
 * Makes it one that worker processes do.
 */
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

/**
 * irisd_worker_processes_renew:
 * @job: a job that worker processes did, and that is to be done again
 *
 * Makes what they are told of it as it was.
 */
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

/**
 * irisd_worker_processes_forget:
 * @job: a job that worker processes did, and that is freed
 *
 * Its lease is over. If its item has ended there is nothing to be written: an irisd that is killed
 * before the journal has the end still knows who had the item, and is told the end again.
 */
void
irisd_worker_processes_forget (IrisdJob *job)
{
  IrisdLeasedItem *self = job->leased_item;
  if (job->completion && !job->buried)
    irisd_attempts_drop (job->core->attempts, self->slot);
  else
    irisd_attempts_end (job->core->attempts, self->slot);
  self->slot = IRISD_ATTEMPT_NONE;
  self->messages_for = NULL;
  irisd_leased_item_unref (self);
}

/**
 * irisd_leased_item_unref:
 * @self: (transfer full): a leased item
 *
 * Any thread may call this.
 */
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
