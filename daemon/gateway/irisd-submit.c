/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's items on their way in: checked against service, place and credit, and queued.
 */
#include "daemon/base/irisd-text.h"
#include "daemon/gateway/irisd-gateway-private.h"
#include "daemon/gateway/irisd-worker-session.h"

/* Characters of an unknown name in a message. */
#define MAX_QUOTED 64

static const IrisdService *
find_service (IrisdGateway *self,
              const IrisdCaller *caller,
              const IrisWireMessage *item,
              GError **error)
{
  const IrisdService *service = irisd_services_lookup (self->core->services, &item->service);
  gint64 space = irisd_ownership_get_space (self, caller->peer->owner);
  if (service == NULL
      && irisd_worker_processes_knows (self->core->worker_processes, space, item,
                                       irisd_is_persistent (item)))
    return &irisd_service_worker_processes;
  if (service == NULL && item->wait_for_service && item->service.len > 0)
    return irisd_worker_processes_await (self->core->worker_processes, space, &item->service, error)
               ? &irisd_service_worker_processes
               : NULL;
  if (service == NULL)
    {
      g_autofree char *names = irisd_services_list_names (self->core->services);
      g_autofree char *name = irisd_text_quote (item->service.data, (gssize) item->service.len,
                                                MAX_QUOTED);
      g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_UNKNOWN_SERVICE,
                   "there is no service “%s”; this irisd has %s. To have the item wait for a "
                   "worker that serves it, send wait-for-service, or name it in irisd's "
                   "configuration, [service NAME]",
                   name, names);
      return NULL;
    }
  if (service->check != NULL && !service->check (item, error))
    return NULL;
  return service;
}

/* An option that is ignored would be a limit that does not limit. */
static gboolean
check_options (IrisdGateway *self,
               const IrisdService *service,
               const IrisWireMessage *item,
               GError **error)
{
  guint64 most = self->core->config->limits.stream_credit;
  if (!service->takes_options && irisd_command_options_are_given (item))
    g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                 "the service “%s” is part of irisd and not a program; directory, environment, "
                 "limits and streamed output are for the service “command”",
                 service->name);
  else if (MAX (item->stream, item->parts) > most)
    g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                 "the item grants credit for %" G_GUINT64_FORMAT " bytes of output and may hold "
                 "%" G_GUINT64_FORMAT
                 "; grant less and send MORE, or raise stream-credit in irisd's configuration",
                 MAX (item->stream, item->parts), most);
  else
    return TRUE;
  return FALSE;
}

static gboolean
check_rule (IrisdGateway *self, const IrisdCaller *caller, IrisdAccessRule rule, GError **error)
{
  if (irisd_access_allows (&self->core->config->access, rule, caller->uid))
    return TRUE;
  g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_PERMITTED,
               "%s for the user %" G_GINT64_FORMAT
               " with the rights of irisd's owner; ask its owner to name that user under [access] "
               "%s",
               rule == IRISD_ACCESS_COMMANDS ? "programs are not run" : "files are not read",
               caller->uid, irisd_access_rule_name (rule));
  return FALSE;
}

/* All users of the machine can reach a TCP port. Programs run and files are read with irisd's
 * rights, so both are for its owner, which can reach the sockets in the directory. */
static gboolean
check_permission (IrisdGateway *self,
                  const IrisdCaller *caller,
                  const IrisdService *service,
                  const IrisWireMessage *item,
                  GError **error)
{
  gboolean has_path = iris_wire_message_has (item, IRIS_WIRE_KEY_PATH);
  if ((!service->reaches_out && !has_path) || (caller->over_tcp && self->core->config->tcp_trusted))
    return TRUE;
  if (!caller->over_tcp)
    return (!service->reaches_out || check_rule (self, caller, IRISD_ACCESS_COMMANDS, error))
           && (!has_path || check_rule (self, caller, IRISD_ACCESS_FILES, error));
  g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_PERMITTED,
                       "programs are not run and files are not read for clients over TCP; connect "
                       "over ipc, or, if all users of irisd's machine may use its rights, set "
                       "tcp-trusted in its configuration");
  return FALSE;
}

static gboolean
check_free_id (IrisdPeer *peer, const IrisWireMessage *item, GError **error)
{
  if (!g_hash_table_contains (peer->jobs, item->request_id))
    return TRUE;
  g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_DUPLICATE_ID,
                       "an item with this request id is in flight; choose another id");
  return FALSE;
}

/* Sets the priority of @job, and its schedule if @item has one. A delay begins now. */
void
irisd_submit_settle_schedule (IrisdGateway *self, IrisdJob *job, const IrisWireMessage *item)
{
  if ((item->present & IRISD_SCHEDULE_KEYS) != 0)
    {
      IrisdTimes now = irisd_times_now ();
      job->schedule = irisd_schedule_new (item, &self->core->config->limits, &now);
      job->schedule->job = job;
      irisd_deadline_watch (self, job);
    }
  job->fair.priority = iris_wire_message_has (item, IRIS_WIRE_KEY_PRIORITY)
                           ? (guint8) item->priority
                           : IRIS_WIRE_DEFAULT_PRIORITY;
}

/* From now on the peer has it, and it counts. */
static void
enter_item (IrisdGateway *self, IrisdJob *job, gboolean hinted)
{
  IrisdPeer *peer = job->peer;
  gboolean ours = hinted ? job->home == self->place : self->place == IRISD_FRONT;
  job->brief = ours && job->service->brief && job->path == NULL
               && job->payload_size == job->inline_size;
  g_hash_table_insert (peer->jobs, job->request_id, job);
  irisd_peer_add_bytes (peer, (gint64) job->charge);
  if ((job->options != NULL && job->options->streamed)
      || (job->leased_item != NULL && job->leased_item->parts))
    irisd_worker_watch_add_reader (self, peer);
  irisd_core_add_bytes (self->core, (gint64) job->charge);
  if (hinted)
    atomic_fetch_add_explicit (&self->core->counters[job->home].hinted, 1, memory_order_relaxed);
}

/* Returns whether it is accepted by now; a persistent one may have to wait for the journal. */
static gboolean
start_item (IrisdGateway *self,
            const IrisdCaller *caller,
            IrisdJob *job,
            const IrisWireMessage *item,
            guint64 id,
            gboolean hinted)
{
  g_autoptr (GError) error = NULL;
  irisd_submit_settle_schedule (self, job, item);
  if (irisd_is_persistent (item))
    {
      enter_item (self, job, hinted);
      irisd_persistent_keep (self, caller, job, item);
      return FALSE;
    }
  job->id = id != 0 || job->schedule == NULL ? id : irisd_core_new_item_id (self->core);
  if (!irisd_dependencies_register (self, job, item, &error))
    {
      irisd_dependencies_uncount (self, job);
      irisd_deadline_drop (self, job);
      irisd_job_advance (job, IRISD_EVENT_REFUSE);
      irisd_job_free (job);
      irisd_core_end_item (self->core);
      irisd_send_refusal (self, caller, item->request_id, error);
      return FALSE;
    }
  enter_item (self, job, hinted);
  irisd_placement_note_home (self, job);
  irisd_count (&self->counters.accepted, 1);
  irisd_job_advance (job, item->after.n > 0 ? IRISD_EVENT_DEPEND : IRISD_EVENT_ACCEPT);
  if (item->after.n > 0)
    return TRUE;
  if (irisd_dispatch_run_at_once (self, job))
    g_ptr_array_add (self->ended, job);
  else
    irisd_dispatch_advance (self, job);
  return TRUE;
}

/* Applies the rules for clients and services. */
static gboolean
is_admitted (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *item)
{
  IrisdFairRules *rules = &self->core->rules;
  IrisdFairRefusal limit;
  if (!rules->any)
    return TRUE;
  g_autofree char *service = iris_wire_string_dup (&item->service);
  if (irisd_fair_rules_admit (rules, caller->peer->client, service, item->body.size,
                              g_get_monotonic_time (), &limit))
    return TRUE;
  irisd_admission_tell_busy (self, caller, item, limit);
  return FALSE;
}

static gboolean
check_schedule (IrisdGateway *self,
                const IrisdService *service,
                const IrisWireMessage *item,
                GError **error)
{
  if (service != &irisd_service_worker_processes
      || !iris_wire_message_has (item, IRIS_WIRE_KEY_TIME_TO_RUN_MS))
    return irisd_schedule_check (item, &self->core->config->limits, error);
  g_set_error_literal (
      error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
      "a service of worker processes has no time to run: runs are limited by their "
      "leases; leave out time-to-run-ms");
  return FALSE;
}

/* Accepts an item, or answers why not, or lets the journal decide; may take @body, which is NULL in
 * a batch. @id is its number; 0 if it needs none yet. Returns whether it is accepted by now. */
gboolean
irisd_submit_try_item (IrisdGateway *self,
                       const IrisdCaller *caller,
                       const IrisWireMessage *item,
                       zmq_msg_t *body,
                       guint64 id)
{
  g_autoptr (GError) error = NULL;
  gint home = IRIS_PLACE_ANY;
  gboolean hinted = FALSE;
  const IrisdService *service = NULL;
  if (!check_free_id (caller->peer, item, &error)
      || (service = find_service (self, caller, item, &error)) == NULL
      || !check_options (self, service, item, &error)
      || !check_permission (self, caller, service, item, &error)
      || !check_schedule (self, service, item, &error)
      || !irisd_placement_choose_home (self, caller, item, &home, &hinted, &error)
      || !irisd_persistent_check (self, caller, item, &error))
    {
      irisd_send_refusal (self, caller, item->request_id, error);
      return FALSE;
    }
  if (!irisd_admission_has_room (self, caller, item, service == &irisd_service_worker_processes))
    return FALSE;
  if (!irisd_core_begin_item (self->core))
    {
      g_set_error_literal (&error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_SHUTTING_DOWN,
                           "irisd is ending and takes no more items; send it again when irisd is "
                           "back");
      irisd_send_refusal (self, caller, item->request_id, error);
      return FALSE;
    }
  if (!is_admitted (self, caller, item))
    {
      irisd_core_end_item (self->core);
      return FALSE;
    }
  IrisdJob *job = irisd_job_new (self->core, &self->mailbox, caller->peer, service, item, body);
  job->counted = self->core->rules.any;
  if (service == &irisd_service_worker_processes)
    irisd_worker_processes_adopt (job, item, hinted ? home : IRIS_PLACE_ANY);
  irisd_job_set_home (job, home, item->strict);
  return start_item (self, caller, job, item, id, hinted);
}

/* @count items were accepted; @first_id is the number of the first, 0 if the client did not ask for
 * it. */
void
irisd_submit_tell_accepted (IrisdGateway *self,
                            IrisdPeer *peer,
                            const guint8 *request_id,
                            guint count,
                            guint64 first_id)
{
  IrisWireMessage accepted;
  iris_wire_message_init (&accepted, IRIS_WIRE_ACCEPTED, request_id);
  iris_wire_message_set_uint (&accepted, IRIS_WIRE_KEY_COUNT, count);
  if (count > 0 && first_id != 0)
    iris_wire_message_set_uint (&accepted, IRIS_WIRE_KEY_ITEM, first_id);
  irisd_send_message (self, &peer->route, peer, &accepted, NULL);
}

/* May take @body, the fifth frame of @item. */
void
irisd_submit_item (IrisdGateway *self,
                   const IrisdCaller *caller,
                   const IrisWireMessage *item,
                   zmq_msg_t *body)
{
  guint64 id = item->quiet || irisd_is_persistent (item) ? 0 : irisd_core_new_item_id (self->core);
  self->turn_items++;
  irisd_gateway_note_items (self, caller->peer, 1);
  if (irisd_submit_try_item (self, caller, item, body, id) && id != 0)
    irisd_submit_tell_accepted (self, caller->peer, item->request_id, 1, id);
  irisd_persistent_done_flush (self);
}
