/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items of the journal that become jobs again: after a start, when they are kicked, and when a cold
 * one is called back (irisd-cold.c).
 */
#include "irisd-bury.h"
#include "irisd-cold.h"
#include "irisd-log.h"
#include "irisd-outside.h"

#include <string.h>

/* Fails an item that cannot be read. */
static const IrisdService unknown_service = { .name = "unknown" };

/**
 * irisd_gateway_get_nobody:
 * @self: the gateway
 *
 * Returns: (transfer none): a peer that was never there, for items whose connection did not survive
 *   irisd
 */
IrisdPeer *
irisd_gateway_get_nobody (IrisdGateway *self)
{
  if (self->nobody == NULL)
    {
      const IrisdRoute nowhere = { 0 };
      self->nobody = irisd_peer_new (&nowhere);
      self->nobody->owner = IRISD_OWNER_UNKNOWN; /* its jobs name theirs */
      atomic_store_explicit (&self->nobody->gone, TRUE, memory_order_relaxed);
    }
  return self->nobody;
}

/**
 * irisd_gateway_choose_home_again:
 * @self: the gateway
 * @item: the SUBMIT message that an item is kept as
 * @kept: the item
 *
 * Returns: the place that it is queued at
 */
gint
irisd_gateway_choose_home_again (IrisdGateway *self,
                                 const IrisWireMessage *item,
                                 const IrisdKept *kept)
{
  guint n = self->core->n_places;
  if (item->hint >= 0 && (guint) item->hint < n)
    return item->hint;
  if (kept->home >= 0 && (guint) kept->home < n)
    return kept->home;
  return self->place != IRISD_FRONT ? self->place : 0;
}

/**
 * irisd_gateway_find_service_again:
 * @self: the gateway
 * @owner: whose item it is
 * @item: the SUBMIT message that an item is kept as
 *
 * Worker processes come back later than irisd, so what is none of its own services is waited for.
 *
 * Returns: what runs it
 */
const IrisdService *
irisd_gateway_find_service_again (IrisdGateway *self, gint64 owner, const IrisWireMessage *item)
{
  if (item->service.len == 0)
    return &unknown_service;
  const IrisdService *service = irisd_services_lookup (self->core->services, &item->service);
  if (service != NULL)
    return service;
  irisd_outside_expect (self->core->outside, irisd_gateway_get_space (self, owner), &item->service);
  return &irisd_service_outside;
}

/**
 * irisd_gateway_read_kept:
 * @self: the gateway
 * @number: of an item
 * @header: the header that it is kept with
 * @body: its payload, or nothing if that is not looked at
 * @item: (out caller-allocates): the SUBMIT message; it borrows from both
 *
 * Returns: whether it could be read; else @item names no service
 */
gboolean
irisd_gateway_read_kept (IrisdGateway *self,
                         guint64 number,
                         IrisWireFrame header,
                         IrisWireFrame body,
                         IrisWireMessage *item)
{
  const guint8 type = IRIS_WIRE_SUBMIT;
  const guint8 id[IRIS_WIRE_ID_SIZE] = { 0 };
  const IrisWireFrame frames[IRIS_WIRE_N_FRAMES] = {
    { (const guint8 *) "IRS1", 4 }, { &type, 1 }, { id, sizeof id }, header, body,
  };
  g_autoptr (GError) error = NULL;
  if (iris_wire_decode (frames, IRIS_WIRE_N_FRAMES, &self->core->wire_limits, item, &error))
    return TRUE;
  irisd_log (IRISD_LOG_ERROR, "the kept item %" G_GUINT64_FORMAT " cannot be run again: %s", number,
             error->message);
  iris_wire_message_init (item, IRIS_WIRE_SUBMIT, id);
  return FALSE;
}

/**
 * irisd_gateway_make_again:
 * @self: the gateway
 * @slip: what the journal has of an item
 * @peer: whose it is
 *
 * Returns: (transfer full): its job, which is this gateway's and on no way yet. An item that cannot
 *   be read has one as well, with an error
 */
IrisdJob *
irisd_gateway_make_again (IrisdGateway *self, IrisdSlip *slip, IrisdPeer *peer)
{
  static const guint8 no_id[IRIS_WIRE_ID_SIZE];
  IrisWireMessage item;
  if (slip->error == NULL)
    irisd_gateway_read_kept (
        self, slip->item, (IrisWireFrame){ slip->header.data, slip->header.size },
        (IrisWireFrame){ zmq_msg_data (&slip->body), zmq_msg_size (&slip->body) }, &item);
  else
    iris_wire_message_init (&item, IRIS_WIRE_SUBMIT, no_id);
  const IrisdService *service = irisd_gateway_find_service_again (self, slip->kept->owner, &item);
  IrisdJob *job = irisd_job_new (self->core, &self->mailbox, peer, service, &item, &slip->body);
  if (service == &irisd_service_outside)
    {
      irisd_outside_adopt (job, &item, item.hint);
      job->task->slot = irisd_attempts_take_leased (self->core->attempts, slip->item,
                                                    &job->task->errand.attempts);
    }
  job->kept = slip->kept;
  job->owner = slip->kept->owner;
  job->id = slip->item;
  job->detached = TRUE;
  irisd_job_set_home (job, irisd_gateway_choose_home_again (self, &item, job->kept), item.strict);
  job->bury = item.bury;
  irisd_gateway_settle_terms (self, job, &item);
  irisd_gateway_count_deadline_from (self, job, job->kept->accepted_ms);
  irisd_gateway_register (self, job, NULL, NULL);
  g_hash_table_add (self->orphans, job);
  irisd_gateway_take_number (self, job);
  irisd_core_add_bytes (self->core, (gint64) job->charge);
  if (slip->error != NULL)
    irisd_job_fail (job, slip->error->code, "%s", slip->error->message);
  else if (service == &unknown_service)
    irisd_job_fail (job, IRIS_WIRE_ERROR_INTERNAL, "what was kept of the item cannot be read");
  return job;
}

/* The item goes on with the lease that it had, past all that others wait for: it has waited. Its
 * seat it takes if there is one; that it is taken before others can want it makes it likely. */
static gboolean
restore_lease (IrisdGateway *self, IrisdJob *job, const IrisdLeased *leased)
{
  if (job->task == NULL)
    return FALSE;
  if (!irisd_gateway_take_seat (self, job))
    irisd_gateway_withdraw_seat (self, job);
  job->stage = IRISD_STAGE_HANDED;
  return irisd_outside_restore (self->core->outside, job,
                                irisd_gateway_get_space (self, job->owner), leased);
}

/**
 * irisd_gateway_take_recovered:
 * @self: the gateway
 * @slip: an item of the journal that is to run
 * @leased: (nullable): the lease that it had; the gateway was not started then
 */
void
irisd_gateway_take_recovered (IrisdGateway *self, IrisdSlip *slip, const IrisdLeased *leased)
{
  /* It is kept, and runs when irisd is back. */
  if (!irisd_core_begin_item (self->core))
    return;
  IrisdJob *job = irisd_gateway_make_again (self, slip, irisd_gateway_get_nobody (self));
  IrisdTimes now = irisd_times_now ();
  if (job->terms != NULL)
    irisd_terms_resume (job->terms, slip->kept->attempts, slip->kept->due_ms,
                        &self->core->config->limits, &now);
  irisd_gateway_note_home (self, job);
  irisd_count (&self->counters.accepted, 1);
  if (job->result.error != NULL)
    irisd_gateway_take_back (self, job);
  else if (leased == NULL || !restore_lease (self, job, leased))
    irisd_gateway_advance (self, job);
}

/**
 * irisd_gateway_run_again:
 * @self: a gateway that was not started
 * @record: an item that has not ended
 * @kept: the same
 */
void
irisd_gateway_run_again (IrisdGateway *self, const IrisdRecord *record, IrisdKept *kept)
{
  IrisdLeased leased;
  gboolean is_leased = irisd_attempts_find_leased (self->core->attempts, record->item, &leased)
                       && leased.due_ms != 0;
  if (!is_leased && irisd_gateway_recover_cold (self, record, kept))
    return;
  self->n_recovered++;
  IrisdSlip *slip = irisd_slip_new (IRISD_SLIP_RECOVERED, &self->mailbox);
  slip->item = record->item;
  slip->kept = kept;
  slip->header = (IrisdBlob){ g_memdup2 (record->header.data, record->header.size),
                              record->header.size };
  if (record->body.size > 0)
    {
      zmq_msg_close (&slip->body);
      if (zmq_msg_init_size (&slip->body, record->body.size) != 0)
        g_error ("out of memory for a payload of %zu bytes", record->body.size);
      memcpy (zmq_msg_data (&slip->body), record->body.data, record->body.size);
    }
  if (!is_leased)
    {
      irisd_mailbox_post (&self->mailbox, &slip->letter);
      return;
    }
  irisd_gateway_take_recovered (self, slip, &leased);
  irisd_slip_free (slip);
}
