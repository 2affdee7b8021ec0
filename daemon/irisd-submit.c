/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's items on their way in: judged against service, place and credit, and queued.
 */
#include "irisd-gateway-private.h"
#include "irisd-text.h"

/* When a refused client may try again. Its own acknowledgements free its credit sooner. */
#define RETRY_AFTER_MS 20

/* Characters of a strange name that a sentence repeats. */
#define MAX_QUOTED 64

static gboolean
is_over_limit (IrisdGateway *self, IrisdPeer *peer, gsize size, IrisdFairRefusal *limit)
{
  const IrisdLimits *limits = &self->core->config->limits;
  if (g_hash_table_size (peer->jobs) + peer->unacked.count >= limits->in_flight_items)
    *limit = (IrisdFairRefusal){ "in-flight-items", limits->in_flight_items, RETRY_AFTER_MS };
  else if (irisd_peer_get_bytes (peer) + size > limits->in_flight_bytes)
    *limit = (IrisdFairRefusal){ "in-flight-bytes", limits->in_flight_bytes, RETRY_AFTER_MS };
  else if (irisd_core_get_items (self->core) >= limits->total_items)
    *limit = (IrisdFairRefusal){ "total-items", limits->total_items, RETRY_AFTER_MS };
  else if (irisd_core_get_bytes (self->core) + size > limits->total_bytes)
    *limit = (IrisdFairRefusal){ "total-bytes", limits->total_bytes, RETRY_AFTER_MS };
  else
    return FALSE;
  return TRUE;
}

static void
answer_busy (IrisdGateway *self,
             const IrisdCaller *caller,
             const IrisWireMessage *item,
             IrisdFairRefusal limit)
{
  irisd_count (&self->counters.refused, 1);
  g_autoptr (GError) error = g_error_new (
      IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BUSY,
      "the limit %s (%" G_GUINT64_FORMAT
      ") is reached: acknowledge what has ended and send the item again, or raise "
      "the limit in irisd's configuration",
      limit.limit, limit.value);
  IrisWireMessage busy;
  iris_wire_message_init (&busy, IRIS_WIRE_BUSY, item->request_id);
  iris_wire_message_set_error (&busy, error);
  iris_wire_message_set_string (&busy, IRIS_WIRE_KEY_LIMIT, limit.limit, -1);
  iris_wire_message_set_uint (&busy, IRIS_WIRE_KEY_LIMIT_VALUE, limit.value);
  iris_wire_message_set_uint (&busy, IRIS_WIRE_KEY_RETRY_AFTER_MS, limit.retry_ms);
  irisd_gateway_answer (self, caller, &busy);
}

static const IrisdService *
find_service (IrisdGateway *self, const IrisWireMessage *item, GError **error)
{
  const IrisdService *service = irisd_services_lookup (self->core->services, &item->service);
  if (service == NULL)
    {
      g_autofree char *names = irisd_services_list_names (self->core->services);
      g_autofree char *name = irisd_text_quote (item->service.data, (gssize) item->service.len,
                                                MAX_QUOTED);
      g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_UNKNOWN_SERVICE,
                   "there is no service “%s”: this irisd has %s", name, names);
      return NULL;
    }
  if (service->check != NULL && !service->check (item, error))
    return NULL;
  return service;
}

/* Where an item goes: where its hint says; else to the place whose socket it came by; else to the
 * place whose turn it is. */
static gboolean
choose_home (IrisdGateway *self,
             const IrisWireMessage *item,
             gint *home,
             gboolean *hinted,
             GError **error)
{
  IrisdCore *core = self->core;
  gboolean named = iris_wire_message_has (item, IRIS_WIRE_KEY_HINT) && item->hint != IRIS_PLACE_ANY;
  *hinted = named || self->place != IRISD_FRONT;
  if (named && (item->hint < 0 || (guint) item->hint >= core->n_places))
    {
      g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NO_SUCH_PLACE,
                   "there is no place %d: this irisd has the places 0 to %u", item->hint,
                   core->n_places - 1);
      return FALSE;
    }
  if (item->strict && !*hinted)
    {
      g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                           "a strict item has to name its place");
      return FALSE;
    }
  if (item->strict && !core->placed && core->n_places > 1)
    {
      g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                   "the scheduler “%s” knows no places, so it cannot be strict about one: start "
                   "irisd with --scheduler places",
                   irisd_config_scheduler_name (core->config->scheduler));
      return FALSE;
    }
  *home = named ? item->hint : self->place != IRISD_FRONT ? self->place : irisd_front_deal (self);
  return TRUE;
}

/* Everybody on the machine can reach a TCP port. Programs run and files are read with irisd's
 * rights, so both are for its owner, who can reach the sockets in the directory. */
static gboolean
check_permission (IrisdGateway *self,
                  const IrisdCaller *caller,
                  const IrisdService *service,
                  const IrisWireMessage *item,
                  GError **error)
{
  gboolean reaches_out = service->reaches_out || iris_wire_message_has (item, IRIS_WIRE_KEY_PATH);
  if (!caller->over_tcp || !reaches_out || self->core->config->tcp_trusted)
    return TRUE;
  g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_PERMITTED,
                       "programs are not run and files are not read for clients over TCP: connect "
                       "over ipc, or, if everybody on irisd's machine may use its rights, set "
                       "tcp-trusted in its configuration");
  return FALSE;
}

static gboolean
check_free_id (IrisdPeer *peer, const IrisWireMessage *item, GError **error)
{
  if (!g_hash_table_contains (peer->jobs, item->request_id))
    return TRUE;
  g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_DUPLICATE_ID,
                       "an item with this request id is in flight: choose another id");
  return FALSE;
}

/* Gives the job its terms and its id. */
static gboolean
settle_terms (IrisdGateway *self,
              IrisdJob *job,
              const IrisWireMessage *item,
              guint64 id,
              GError **error)
{
  if ((item->present & IRISD_TERMS_KEYS) != 0)
    {
      IrisdTimes now = irisd_times_now ();
      job->terms = irisd_terms_new (item, &self->core->config->limits, &now);
      job->terms->job = job;
    }
  job->fair.priority = iris_wire_message_has (item, IRIS_WIRE_KEY_PRIORITY)
                           ? (guint8) item->priority
                           : IRIS_WIRE_DEFAULT_PRIORITY;
  job->id = id != 0 || job->terms == NULL ? id : irisd_core_new_item_id (self->core);
  return irisd_gateway_register (self, job, item, error);
}

static void
start_item (IrisdGateway *self, IrisdJob *job, gint home, gboolean hinted)
{
  IrisdPeer *peer = job->peer;
  g_hash_table_insert (peer->jobs, job->request_id, job);
  irisd_peer_add_bytes (peer, (gint64) job->charge);
  irisd_core_add_bytes (self->core, (gint64) job->charge);
  irisd_count (&self->counters.accepted, 1);
  if (hinted)
    atomic_fetch_add_explicit (&self->core->counters[home].hinted, 1, memory_order_relaxed);
  if (job->stage != IRISD_STAGE_AFTER)
    irisd_gateway_advance (self, job);
}

/* Accepts an item, or answers why not. Its id is 0 if nobody asks for it. */
static gboolean
try_item (IrisdGateway *self,
          const IrisdCaller *caller,
          const IrisWireMessage *item,
          zmq_msg_t *body,
          guint64 id)
{
  g_autoptr (GError) error = NULL;
  IrisdFairRefusal limit;
  gint home = IRIS_PLACE_ANY;
  gboolean hinted = FALSE;
  const IrisdService *service = NULL;
  if (!check_free_id (caller->peer, item, &error)
      || (service = find_service (self, item, &error)) == NULL
      || !check_permission (self, caller, service, item, &error)
      || !irisd_terms_check (item, &self->core->config->limits, &error)
      || !choose_home (self, item, &home, &hinted, &error))
    {
      irisd_gateway_refuse (self, caller, item->request_id, error);
      return FALSE;
    }
  if (is_over_limit (self, caller->peer, item->body.size, &limit))
    {
      answer_busy (self, caller, item, limit);
      return FALSE;
    }
  if (!irisd_core_begin_item (self->core))
    {
      g_set_error_literal (&error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_SHUTTING_DOWN,
                           "irisd is ending and takes no more items: send it again when irisd is "
                           "back");
      irisd_gateway_refuse (self, caller, item->request_id, error);
      return FALSE;
    }
  if (self->core->rules.any
      && !irisd_fair_rules_admit (&self->core->rules, caller->peer->client, service->name,
                                  item->body.size, g_get_monotonic_time (), &limit))
    {
      irisd_core_end_item (self->core);
      answer_busy (self, caller, item, limit);
      return FALSE;
    }
  IrisdJob *job = irisd_job_new (self->core, &self->mailbox, caller->peer, service, item, body);
  irisd_job_set_home (job, home, item->strict);
  if (!settle_terms (self, job, item, id, &error))
    {
      if (self->core->rules.any)
        irisd_fair_rules_release (&self->core->rules, caller->peer->client, service->name,
                                  job->payload_size, g_get_monotonic_time ());
      irisd_job_free (job);
      irisd_core_end_item (self->core);
      irisd_gateway_refuse (self, caller, item->request_id, error);
      return FALSE;
    }
  start_item (self, job, home, hinted);
  return TRUE;
}

static void
answer_accepted (IrisdGateway *self,
                 const IrisdCaller *caller,
                 const guint8 *request_id,
                 guint count,
                 guint64 first_id)
{
  IrisWireMessage accepted;
  iris_wire_message_init (&accepted, IRIS_WIRE_ACCEPTED, request_id);
  iris_wire_message_set_uint (&accepted, IRIS_WIRE_KEY_COUNT, count);
  if (count > 0 && first_id != 0)
    iris_wire_message_set_uint (&accepted, IRIS_WIRE_KEY_ITEM, first_id);
  irisd_gateway_answer (self, caller, &accepted);
}

/**
 * irisd_gateway_submit:
 * @self: the gateway
 * @caller: who
 * @item: a SUBMIT message
 * @body: its fifth frame, which may be taken
 */
void
irisd_gateway_submit (IrisdGateway *self,
                      const IrisdCaller *caller,
                      const IrisWireMessage *item,
                      zmq_msg_t *body)
{
  guint64 id = item->quiet ? 0 : irisd_core_new_item_id (self->core);
  if (try_item (self, caller, item, body, id) && id != 0)
    answer_accepted (self, caller, item->request_id, 1, id);
}

/**
 * irisd_gateway_submit_batch:
 * @self: the gateway
 * @caller: who
 * @batch: a BATCH message
 *
 * Each item is judged by itself, and refused under its own id.
 */
void
irisd_gateway_submit_batch (IrisdGateway *self,
                            const IrisdCaller *caller,
                            const IrisWireMessage *batch)
{
  g_autoptr (GError) error = NULL;
  IrisWireBatchIter iter;
  if (!iris_wire_batch_iter_init (&iter, batch->body, &self->core->wire_limits, &error))
    {
      irisd_count (&self->counters.malformed, 1);
      irisd_gateway_refuse (self, caller, batch->request_id, error);
      return;
    }

  guint accepted = 0;
  guint64 first_id = batch->quiet ? 0 : irisd_core_new_item_ids (self->core, iter.n_items);
  IrisWireMessage item;
  IrisWireBatchStep step;
  while (!irisd_peer_is_gone (caller->peer)
         && (step = iris_wire_batch_iter_next (&iter, &item, &error)) != IRIS_WIRE_BATCH_END)
    {
      if (step == IRIS_WIRE_BATCH_ITEM)
        accepted += try_item (self, caller, &item, NULL, first_id != 0 ? first_id + accepted : 0);
      else
        irisd_gateway_refuse (self, caller, item.request_id, error);
      g_clear_error (&error);
    }
  if (!batch->quiet)
    answer_accepted (self, caller, batch->request_id, accepted, first_id);
}
