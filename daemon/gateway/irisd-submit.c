/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's items on their way in: SUBMIT and BATCH, checked against service, place, limits and
 * credit, and queued.
 *
 * A batch is read some items at a time (irisd-receive.c).
 *
 * Admission: the limits on items and bytes, and the answer BUSY. Full means full for new items
 * only. Each limit has its own count, so items within it do not pass another limit again:
 *
 * - in-flight-items, in-flight-bytes: what one connection has in progress or has not acknowledged;
 *
 * - total-items: items in memory: as many volatile ones, as many persistent ones, and as many
 * persistent ones for worker processes, which may be away for long; so no kind keeps out another;
 *
 * - total-bytes: bytes in memory;
 *
 * - persistent-items: items in the journal, in memory or not.
 *
 * Requests about persistent items have room of their own: a connection may have `in-flight-items`
 * of them unanswered, besides its items. An answer that has a payload counts until it is
 * acknowledged; the connection's unacknowledged bytes bound it, and a reserve above `total-bytes`
 * that items cannot take.
 *
 * The pause before a client tries again depends on how long there has been no room: a short
 * shortage ends soon, and a long one should not be polled many times a second.
 */
#include "daemon/gateway/irisd-submit.h"

#include "daemon/base/irisd-log.h"
#include "daemon/base/irisd-text.h"
#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/gateway/irisd-after-away.h"
#include "daemon/gateway/irisd-away.h"
#include "daemon/gateway/irisd-send.h"
#include "daemon/gateway/irisd-worker-session.h"
#include "daemon/items/irisd-dependencies.h"
#include "daemon/items/irisd-dispatch.h"
#include "daemon/items/irisd-item-log.h"
#include "daemon/items/irisd-persistent.h"
#include "daemon/items/irisd-placement.h"

#include <string.h>

/* Characters of an unknown name in a message. */
#define MAX_QUOTED 64

/* The pause that a refused client is told to make: the least, also for limits that its own
 * acknowledgements lift, and the most; in between, this part of the time without room. */
#define RETRY_MS      20
#define MOST_RETRY_MS 2000
#define PART_OF_FULL  4

/* Other nodes take longer. */
#define AWAY_RETRY_MS 200

/* Part of total-bytes, for answers that have a payload. */
#define PART_FOR_ANSWERS 4

struct _IrisdBatch
{
  IrisdCaller caller; /* its address is in the frame */
  guint8 request_id[IRIS_WIRE_ID_SIZE];
  gboolean quiet;
  zmq_msg_t body;
  IrisWireBatchIter iter;
  guint accepted;
  guint64 first_id;
  IrisdPersistentBatch *persistent;
};

static const char *const limit_names[IRISD_N_FULL] = {
  [IRISD_FULL_VOLATILE] = "total-items",         [IRISD_FULL_IN_MEMORY] = "total-items",
  [IRISD_FULL_WORKER_PROCESSES] = "total-items", [IRISD_FULL_BYTES] = "total-bytes",
  [IRISD_FULL_PERSISTENT] = "persistent-items",
};

static const char *const what[IRISD_N_FULL] = {
  [IRISD_FULL_VOLATILE] = "irisd has no room for more items in progress",
  [IRISD_FULL_IN_MEMORY] = "irisd has no room for more persistent items in memory",
  [IRISD_FULL_WORKER_PROCESSES] =
      "irisd has no room for more persistent items for worker processes",
  [IRISD_FULL_BYTES] = "irisd has no room for more bytes of payload and results",
  [IRISD_FULL_PERSISTENT] = "the journal has no room for more items",
};

static const char *const way_out[IRISD_N_FULL] = {
  [IRISD_FULL_VOLATILE] = "send the item again later",
  [IRISD_FULL_IN_MEMORY] = "send the item again later",
  [IRISD_FULL_WORKER_PROCESSES] = "start workers, or cancel items that wait for them",
  [IRISD_FULL_BYTES] = "acknowledge ended items, send again later",
  [IRISD_FULL_PERSISTENT] = "fetch or cancel persistent items",
};

static void
answer_busy (IrisdGateway *self,
             const IrisdCaller *caller,
             const IrisWireMessage *item,
             IrisdFairRefusal limit,
             const char *reason)
{
  irisd_gateway_count_busy (self, limit.limit);
  g_autoptr (GError) error = g_error_new_literal (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BUSY, reason);
  IrisWireMessage busy;
  iris_wire_message_init (&busy, IRIS_WIRE_BUSY, item->request_id);
  iris_wire_message_set_error (&busy, error);
  iris_wire_message_set_string (&busy, IRIS_WIRE_KEY_LIMIT, limit.limit, -1);
  iris_wire_message_set_uint (&busy, IRIS_WIRE_KEY_LIMIT_VALUE, limit.value);
  iris_wire_message_set_uint (&busy, IRIS_WIRE_KEY_RETRY_AFTER_MS, limit.retry_ms);
  irisd_send_answer (self, caller, &busy);
}

/* Answers BUSY because of @limit, of this connection, or of its client or service. */
static void
tell_busy (IrisdGateway *self,
           const IrisdCaller *caller,
           const IrisWireMessage *item,
           IrisdFairRefusal limit)
{
  const gboolean away = strcmp (limit.limit, "max-away") == 0;
  g_autofree char *reason = g_strdup_printf (
      "the limit %s (%" G_GUINT64_FORMAT ") is reached; %s and send the item again, or raise "
      "the limit in irisd's configuration",
      limit.limit, limit.value,
      away ? "wait until items have ended at other nodes" : "acknowledge ended items");
  answer_busy (self, caller, item, limit, reason);
}

static guint
get_retry_ms (IrisdGateway *self, IrisdFull full)
{
  gint64 now = g_get_monotonic_time ();
  if (self->full_since_us[full] == 0)
    self->full_since_us[full] = now;
  gint64 full_ms = (now - self->full_since_us[full]) / 1000;
  return (guint) CLAMP (full_ms / PART_OF_FULL, RETRY_MS, MOST_RETRY_MS);
}

/* Refuses @item because irisd as a whole has no room, @full, and logs it at most once a minute for
 * each limit. */
void
irisd_submit_tell_full (IrisdGateway *self,
                        const IrisdCaller *caller,
                        const IrisWireMessage *item,
                        IrisdFull full,
                        guint64 value)
{
  static IrisdLogSite sites[IRISD_N_FULL];
  g_autofree char *reason = g_strdup_printf ("%s, limit %s (%" G_GUINT64_FORMAT
                                             "): %s, or raise the limit in irisd's configuration",
                                             what[full], limit_names[full], value, way_out[full]);
  irisd_log_each_minute (&sites[full], IRISD_LOG_WARNING, "refused an item: %s", reason);
  answer_busy (self, caller, item,
               (IrisdFairRefusal){ limit_names[full], value, get_retry_ms (self, full) }, reason);
}

/* Whether there is room for one more; remembers since when there is none. */
static gboolean
is_below (IrisdGateway *self, IrisdFull full, guint64 count, guint64 most)
{
  if (count >= most)
    return FALSE;
  self->full_since_us[full] = 0;
  return TRUE;
}

static gboolean
has_own_credit (IrisdGateway *self,
                IrisdPeer *peer,
                guint n_items,
                gsize size,
                IrisdFairRefusal *limit)
{
  const IrisdLimits *limits = &self->core->config->limits;
  if (n_items >= limits->in_flight_items)
    *limit = (IrisdFairRefusal){ "in-flight-items", limits->in_flight_items, RETRY_MS };
  else if (irisd_peer_get_bytes (peer) + size > limits->in_flight_bytes)
    *limit = (IrisdFairRefusal){ "in-flight-bytes", limits->in_flight_bytes, RETRY_MS };
  else
    return TRUE;
  return FALSE;
}

/* Returns whether @request, about persistent items, is taken; BUSY was answered if not.
 * @answer_counts: the answer takes a credit until it is acknowledged. */
gboolean
irisd_submit_may_ask (IrisdGateway *self,
                      const IrisdCaller *caller,
                      const IrisWireMessage *request,
                      gboolean answer_counts)
{
  IrisdPeer *peer = caller->peer;
  const IrisdLimits *limits = &irisd_core_get_settings (self->core)->limits;
  guint64 most_bytes = limits->total_bytes + limits->total_bytes / PART_FOR_ANSWERS;
  IrisdFairRefusal limit;
  if (!answer_counts)
    {
      if (peer->n_questions < limits->in_flight_items)
        return TRUE;
      limit = (IrisdFairRefusal){ "in-flight-items", limits->in_flight_items, RETRY_MS };
      tell_busy (self, caller, request, limit);
    }
  else if (!has_own_credit (self, peer, peer->unacked.count + peer->n_fetches, 0, &limit))
    tell_busy (self, caller, request, limit);
  else if (irisd_core_get_bytes (self->core) > most_bytes)
    irisd_submit_tell_full (self, caller, request, IRISD_FULL_BYTES, limits->total_bytes);
  else
    return TRUE;
  return FALSE;
}

/* Only the journal knows whether an item with a key, or one that is sent again, is a duplicate. */
static gboolean
may_be_persistent (IrisdGateway *self, const IrisWireMessage *item)
{
  guint64 most = self->core->config->limits.persistent_items;
  guint64 now = irisd_journal_get_n_taken (self->core->journal);
  return is_below (self, IRISD_FULL_PERSISTENT, now, most) || item->key.len > 0
         || item->session.len > 0;
}

/* Items that were found at the start count, and are not refused. */
static gboolean
may_go_away (IrisdGateway *self, IrisdFairRefusal *limit)
{
  const guint64 most = irisd_cluster_view_get_max_away (self->core->cluster);
  *limit = (IrisdFairRefusal){ "max-away", most, AWAY_RETRY_MS };
  return atomic_load_explicit (&self->core->away, memory_order_relaxed) < most;
}

/* Returns whether there is room for @item; BUSY was answered if not. */
static gboolean
has_room (IrisdGateway *self,
          const IrisdCaller *caller,
          const IrisWireMessage *item,
          gboolean for_workers)
{
  IrisdCore *core = self->core;
  IrisdPeer *peer = caller->peer;
  const IrisdLimits *limits = &irisd_core_get_settings (core)->limits;
  gboolean persistent = irisd_is_persistent (item);
  IrisdFull kind = !persistent   ? IRISD_FULL_VOLATILE
                   : for_workers ? IRISD_FULL_WORKER_PROCESSES
                                 : IRISD_FULL_IN_MEMORY;
  guint64 items = persistent ? irisd_core_get_persistent_in_memory (core, for_workers)
                             : irisd_core_get_volatile (core);
  guint64 bytes = irisd_core_get_bytes (core) + item->body.size;
  guint own = g_hash_table_size (peer->jobs) + peer->unacked.count + peer->n_fetches;
  IrisdFairRefusal limit;
  if (!has_own_credit (self, peer, own, item->body.size, &limit))
    tell_busy (self, caller, item, limit);
  else if (irisd_is_away (item) && !may_go_away (self, &limit))
    tell_busy (self, caller, item, limit);
  else if (!is_below (self, kind, items, limits->total_items))
    irisd_submit_tell_full (self, caller, item, kind, limits->total_items);
  else if (!is_below (self, IRISD_FULL_BYTES, bytes, limits->total_bytes + 1))
    irisd_submit_tell_full (self, caller, item, IRISD_FULL_BYTES, limits->total_bytes);
  else if (persistent && !may_be_persistent (self, item))
    irisd_submit_tell_full (self, caller, item, IRISD_FULL_PERSISTENT, limits->persistent_items);
  else
    return TRUE;
  return FALSE;
}

/* Another node has the service, and this one does not. */
static const IrisdService service_elsewhere = { .name = "elsewhere" };

/* Returns the service of @item, which is for this node, or &service_elsewhere. */
static const IrisdService *
find_service (IrisdGateway *self,
              const IrisdCaller *caller,
              const IrisWireMessage *item,
              GError **error)
{
  const IrisdService *service = irisd_services_lookup (self->core->services, &item->service);
  gint64 space = irisd_items_get_space (&self->items, caller->peer->owner);
  if (service == NULL && item->service.len > 0 && item->service.data[0] == IRISD_RESERVED_MARK)
    {
      g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_PERMITTED,
                           "services whose names begin with @ are irisd's own, and take no items "
                           "of clients");
      return NULL;
    }
  if (service == NULL
      && irisd_worker_processes_knows (self->core->worker_processes, space, item,
                                       irisd_is_persistent (item)))
    return &irisd_service_worker_processes;
  if (service == NULL && irisd_away_has_service (self, item))
    return &service_elsewhere;
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
                   "worker that serves it, send it with wait-for-service, or name the service in "
                   "irisd's configuration, [service NAME]",
                   name, names);
      return NULL;
    }
  return service;
}

/* An option that is ignored would be a limit that does not limit. */
static gboolean
check_options (IrisdGateway *self,
               const IrisdService *service,
               const IrisWireMessage *item,
               GError **error)
{
  guint64 most = irisd_core_get_settings (self->core)->limits.stream_credit;
  if (!service->takes_options && !irisd_is_away (item) && irisd_command_options_are_given (item))
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
  if (irisd_access_allows (&irisd_core_get_settings (self->core)->access, rule, caller->uid))
    return TRUE;
  g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_PERMITTED,
               "%s for the user %" G_GINT64_FORMAT
               " with the rights of irisd's owner; ask its owner to name that user under [access] "
               "%s",
               rule == IRISD_ACCESS_COMMANDS ? "programs are not run" : "files are not read",
               caller->uid, irisd_access_rule_name (rule));
  return FALSE;
}

/* A command runs with irisd's rights, so a key needs it in its list by name. */
static gboolean
check_key (IrisdGateway *self,
           const IrisdCaller *caller,
           const IrisdService *service,
           const IrisWireMessage *item,
           GError **error)
{
  const IrisdConfig *settings = irisd_core_get_settings (self->core);
  const IrisdKey *key = irisd_keys_find_owner (settings->keys, caller->uid);
  g_autofree char *name = iris_wire_string_dup (&item->service);
  gboolean named = key != NULL && key->services != NULL
                   && g_strv_contains ((const char *const *) key->services, name);
  if (key == NULL || (service->reaches_out && !named) || !irisd_key_may_use (key, name))
    {
      g_autofree char *quoted = irisd_text_quote (name, -1, MAX_QUOTED);
      g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_PERMITTED,
                   "this key may not use the service “%s”; ask irisd's owner to name it (irisctl "
                   "key allow --services)",
                   quoted);
      return FALSE;
    }
  if (iris_wire_message_has (item, IRIS_WIRE_KEY_HOOK)
      && (key->services == NULL
          || !g_strv_contains ((const char *const *) key->services, "command")))
    {
      g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_PERMITTED,
                           "a hook is a command, and this key may not use the service “command”; "
                           "ask irisd's owner to name it (irisctl key allow --services)");
      return FALSE;
    }
  if (!iris_wire_message_has (item, IRIS_WIRE_KEY_PATH))
    return TRUE;
  g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_PERMITTED,
                       "files of irisd's machine are not read for keys; send the content");
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
  gboolean runs_program = service->reaches_out || iris_wire_message_has (item, IRIS_WIRE_KEY_HOOK);
  if (caller->public_key != NULL)
    return check_key (self, caller, service, item, error);
  if ((!runs_program && !has_path) || (caller->over_tcp && self->core->config->tcp_trusted))
    return TRUE;
  if (!caller->over_tcp)
    return (!runs_program || check_rule (self, caller, IRISD_ACCESS_COMMANDS, error))
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

/* From now on the peer has it, and it counts. */
static void
enter_item (IrisdGateway *self, IrisdJob *job, gboolean hinted)
{
  IrisdPeer *peer = job->peer;
  gboolean ours = hinted ? job->home == self->place : self->place == IRISD_FRONT;
  job->brief = ours && job->service->brief && job->path == NULL && !job->apart
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
  irisd_items_settle_schedule (&self->items, job, item);
  if (irisd_is_persistent (item))
    {
      enter_item (self, job, hinted);
      irisd_persistent_keep (&self->items, job, item);
      return FALSE;
    }
  const gboolean nameless = id == 0 && job->schedule == NULL && job->trace == NULL
                            && job->queue == NULL;
  irisd_job_set_number (job, id != 0 || nameless ? id : irisd_core_new_item_id (self->core));
  if (!irisd_dependencies_register (&self->items, job, item, &error))
    {
      irisd_dependencies_uncount (&self->items, job);
      irisd_items_drop_deadline (&self->items, job);
      irisd_job_advance (job, IRISD_EVENT_REFUSE);
      irisd_job_free (job);
      irisd_core_end_item (self->core);
      irisd_send_refusal (self, caller, item->request_id, error);
      return FALSE;
    }
  enter_item (self, job, hinted);
  irisd_placement_note_home (&self->items, job);
  irisd_item_log_accepted (&self->items, job);
  irisd_item_counters_note_accepted (&self->items.counters, job);
  irisd_job_advance (job, item->after.n > 0 ? IRISD_EVENT_DEPEND : IRISD_EVENT_ACCEPT);
  if (item->after.n > 0)
    return TRUE;
  if (irisd_dispatch_run_at_once (&self->items, job))
    g_ptr_array_add (self->items.ended, job);
  else
    irisd_dispatch_advance (&self->items, job);
  return TRUE;
}

static gboolean
is_within_rate (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *item)
{
  const IrisdConfig *settings = irisd_core_get_settings (self->core);
  const IrisdKey *key = irisd_keys_find_owner (settings->keys, caller->uid);
  IrisdFairRefusal limit = { "key-rate", key != NULL ? key->rate : 0, 0 };
  if (irisd_key_use_admit (&self->core->key_use, caller->uid, limit.value, g_get_monotonic_time (),
                           &limit.retry_ms))
    return TRUE;
  tell_busy (self, caller, item, limit);
  return FALSE;
}

/* Applies the rules for keys, clients and services. */
static gboolean
is_admitted (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *item)
{
  IrisdFairRules *rules = &self->core->rules;
  IrisdFairRefusal limit;
  if (caller->public_key != NULL && !is_within_rate (self, caller, item))
    return FALSE;
  if (!irisd_fair_rules_is_set (rules))
    return TRUE;
  g_autofree char *service = iris_wire_string_dup (&item->service);
  if (irisd_fair_rules_admit (rules, caller->peer->client, service, item->body.size,
                              g_get_monotonic_time (), &limit))
    return TRUE;
  tell_busy (self, caller, item, limit);
  return FALSE;
}

static gboolean
check_schedule (IrisdGateway *self,
                const IrisdService *service,
                const IrisWireMessage *item,
                GError **error)
{
  if (service != &irisd_service_worker_processes || irisd_is_away (item)
      || !iris_wire_message_has (item, IRIS_WIRE_KEY_TIME_TO_RUN_MS))
    return irisd_schedule_check (item, &irisd_core_get_settings (self->core)->limits, error);
  g_set_error_literal (
      error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
      "a service of worker processes has no time to run: runs are limited by their "
      "leases; leave out time-to-run-ms");
  return FALSE;
}

static gboolean
check_queue (IrisdGateway *self, const IrisWireMessage *item, GError **error)
{
  return item->queue.len == 0
         || irisd_named_queues_find (&self->core->queues, &item->queue, error) != 0;
}

/* Returns whether @caller may have @service work on @item, whose keys fit it. */
gboolean
irisd_submit_check (IrisdGateway *self,
                    const IrisdCaller *caller,
                    const IrisdService *service,
                    const IrisWireMessage *item,
                    GError **error)
{
  /* The node where it runs has its own rules besides. */
  const IrisdService *known = irisd_is_away (item)
                                  ? irisd_services_lookup (self->core->services, &item->service)
                                  : NULL;
  return (service->check == NULL || service->check (item, error))
         && check_options (self, service, item, error)
         && check_permission (self, caller, known != NULL ? known : service, item, error)
         && check_schedule (self, service, item, error) && check_queue (self, item, error)
         && irisd_trace_context_check (item, error);
}

/* Returns the service of @item, which may become one for another node. Then @item is a copy of what
 * the client sent. */
static const IrisdService *
route (IrisdGateway *self,
       const IrisdCaller *caller,
       const IrisWireMessage **item,
       IrisWireMessage *copy,
       GError **error)
{
  if (irisd_is_away (*item))
    return &irisd_service_worker_processes;
  const IrisdService *service = find_service (self, caller, *item, error);
  if (service != &service_elsewhere)
    return service;
  *copy = **item;
  *item = copy;
  return irisd_away_route_to_any (self, copy, error) ? &irisd_service_worker_processes : NULL;
}

/* A place without a node is one of this node; what an item is to be near may be elsewhere. */
static gboolean
concerns_cluster (IrisdGateway *self, const IrisWireMessage *item)
{
  const IrisWireKeys keys = item->present;
  if ((keys & IRISD_CLUSTER_KEYS & ~IRISD_PLACE_KEYS) != 0)
    return TRUE;
  if (self->core->cluster == NULL)
    return FALSE;
  return (keys & IRISD_PLACE_KEYS & ~IRIS_WIRE_BIT (IRIS_WIRE_KEY_HINT_NAME)) != 0
         || (item->hint_name.len > 0
             && memchr (item->hint_name.data, '/', item->hint_name.len) != NULL);
}

static gboolean
route_by_wish (IrisdGateway *self,
               const IrisdCaller *caller,
               const IrisWireMessage *item,
               IrisWireMessage *routed,
               GError **error)
{
  *routed = *item;
  return (item->present & IRISD_CLUSTER_KEYS) == 0 || !concerns_cluster (self, item)
         || irisd_away_route (self, caller, item, routed, error);
}

/* Returns whether a run of a schedule with @item would be taken now, apart from limits. */
gboolean
irisd_submit_check_run (IrisdGateway *self,
                        const IrisdCaller *caller,
                        const IrisWireMessage *item,
                        GError **error)
{
  gint home = IRIS_PLACE_ANY;
  gboolean hinted = FALSE;
  IrisWireMessage routed, copy;
  const IrisWireMessage *run = &routed;
  const IrisdService *service = NULL;
  if (!route_by_wish (self, caller, item, &routed, error)
      || (service = route (self, caller, &run, &copy, error)) == NULL
      || !irisd_submit_check (self, caller, service, run, error)
      || !irisd_placement_choose_home (&self->items, caller->peer, run, &home, &hinted, error)
      || !irisd_persistent_check (&self->items, caller->peer, run, error))
    return FALSE;
  g_autoptr (IrisdAwayItem) away = NULL;
  return !irisd_is_away (run)
         || (away = irisd_away_item_new (run, &self->core->wire_limits, error)) != NULL;
}

/* Sets @routed to what a run of a schedule with @item submits now, for another node or for this
 * one, as if @peer did. A service of this node that is unknown by now is one that will come. */
gboolean
irisd_submit_route_run (IrisdGateway *self,
                        IrisdPeer *peer,
                        const IrisWireMessage *item,
                        IrisWireMessage *routed,
                        GError **error)
{
  const IrisdCaller caller = { .peer = peer, .uid = peer->owner };
  if (!route_by_wish (self, &caller, item, routed, error))
    return FALSE;
  if (irisd_is_away (routed) || !irisd_away_has_service (self, routed)
      || irisd_services_lookup (self->core->services, &routed->service) != NULL
      || irisd_worker_processes_knows (self->core->worker_processes,
                                       irisd_items_get_space (&self->items, peer->owner), routed,
                                       TRUE))
    return TRUE;
  return irisd_away_route_to_any (self, routed, error);
}

/* Accepts an item that was routed, or answers why not, or lets the journal decide; may take @body,
 * which is NULL in a batch. @id is its number; 0 if it needs none yet. Returns whether it is
 * accepted by now. */
static gboolean
take_item (IrisdGateway *self,
           const IrisdCaller *caller,
           const IrisWireMessage *item,
           zmq_msg_t *body,
           guint64 id)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisdAwayItem) away = NULL;
  gint home = IRIS_PLACE_ANY;
  gboolean hinted = FALSE;
  const IrisdService *service = NULL;
  IrisWireMessage copy;
  if (!check_free_id (caller->peer, item, &error)
      || (service = route (self, caller, &item, &copy, &error)) == NULL
      || !irisd_submit_check (self, caller, service, item, &error)
      || !irisd_placement_choose_home (&self->items, caller->peer, item, &home, &hinted, &error)
      || !irisd_persistent_check (&self->items, caller->peer, item, &error)
      || (irisd_is_away (item)
          && (away = irisd_away_item_new (item, &self->core->wire_limits, &error)) == NULL))
    {
      irisd_send_refusal (self, caller, item->request_id, error);
      return FALSE;
    }
  if (!has_room (self, caller, item, service == &irisd_service_worker_processes))
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
  if (item->queue.len > 0)
    job->queue = irisd_named_queues_join_stored (&self->core->queues, &item->queue);
  if (service == &irisd_service_worker_processes)
    irisd_worker_processes_adopt (job, item, hinted ? home : IRIS_PLACE_ANY);
  if (away != NULL)
    irisd_worker_processes_send_away (job, item, g_steal_pointer (&away));
  irisd_job_set_home (job, home, hinted, item->strict);
  return start_item (self, caller, job, item, id, hinted);
}

/* The same of an item that may come after items of other nodes. */
static gboolean
take_dependent (IrisdGateway *self,
                const IrisdCaller *caller,
                IrisWireMessage *item,
                zmq_msg_t *body,
                guint64 id)
{
  g_autoptr (GError) error = NULL;
  g_autofree guint64 *numbers = NULL;
  if (irisd_is_persistent (item) || !iris_wire_message_has (item, IRIS_WIRE_KEY_AFTER_AWAY))
    return take_item (self, caller, item, body, id);
  gboolean accepted = FALSE;
  if (irisd_after_away_resolve (self, caller, item, &numbers, &error))
    accepted = take_item (self, caller, item, body, id);
  else
    irisd_send_refusal (self, caller, item->request_id, error);
  irisd_after_away_watch (self);
  return accepted;
}

/* The same of an item that may be for another node, or come from one. */
static gboolean
take_cluster_item (IrisdGateway *self,
                   const IrisdCaller *caller,
                   const IrisWireMessage *item,
                   zmq_msg_t *body,
                   guint64 id)
{
  g_autoptr (GError) error = NULL;
  IrisWireMessage routed;
  IrisdActing acting;
  IrisdFairRefusal limit;
  const gboolean foreign = iris_wire_message_has (item, IRIS_WIRE_KEY_FOR_OWNER);
  if (!irisd_away_route (self, caller, item, &routed, &error) && !foreign
      && g_error_matches (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BUSY)
      && !may_go_away (self, &limit))
    {
      /* So it is answered when the cluster is known, too. */
      tell_busy (self, caller, item, limit);
      return FALSE;
    }
  if (error != NULL || (foreign && !irisd_acting_begin (self, caller, &routed, &acting, &error)))
    {
      irisd_send_refusal (self, caller, item->request_id, error);
      return FALSE;
    }
  gboolean accepted = take_dependent (self, foreign ? &acting.caller : caller, &routed, body, id);
  if (foreign)
    irisd_acting_end (&acting);
  return accepted;
}

static gboolean
try_item (IrisdGateway *self,
          const IrisdCaller *caller,
          const IrisWireMessage *item,
          zmq_msg_t *body,
          guint64 id)
{
  return G_UNLIKELY ((item->present & IRISD_CLUSTER_KEYS) != 0) && concerns_cluster (self, item)
             ? take_cluster_item (self, caller, item, body, id)
             : take_item (self, caller, item, body, id);
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
  if (try_item (self, caller, item, body, id) && id != 0)
    irisd_send_accepted (self, caller->peer, item->request_id, 1, id);
  irisd_persistent_flush (&self->items);
}

/* Takes @body, the fifth frame of @batch. Returns whether its items are to be read, some in each
 * turn: each is checked separately, and refused under its own id. */
gboolean
irisd_submit_begin_batch (IrisdGateway *self,
                          const IrisdCaller *caller,
                          const IrisWireMessage *batch,
                          zmq_msg_t *body)
{
  g_autoptr (GError) error = NULL;
  IrisWireBatchIter iter;
  if (!iris_wire_batch_iter_init (&iter, batch->body, &self->core->wire_limits, &error))
    {
      irisd_count (&self->counters.malformed, 1);
      irisd_send_refusal (self, caller, batch->request_id, error);
      return FALSE;
    }

  irisd_gateway_note_items (self, caller->peer, iter.n_items);
  IrisdBatch *reading = g_new0 (IrisdBatch, 1);
  reading->caller = *caller;
  memcpy (reading->request_id, batch->request_id, IRIS_WIRE_ID_SIZE);
  reading->quiet = batch->quiet;
  zmq_msg_init (&reading->body);
  zmq_msg_move (&reading->body, body);
  reading->iter = iter;
  reading->iter.body.data = zmq_msg_data (&reading->body);
  reading->first_id = batch->quiet ? 0 : irisd_core_new_item_ids (self->core, iter.n_items);
  caller->peer->batch = reading;
  return TRUE;
}

/* Reads until the turn is over. Returns whether that was all. */
static gboolean
read_items (IrisdGateway *self, IrisdBatch *batch)
{
  const IrisdCaller *caller = &batch->caller;
  g_autoptr (GError) error = NULL;
  IrisWireMessage item;
  while (!irisd_peer_is_gone (caller->peer) && !irisd_gateway_turn_is_over (self))
    {
      IrisWireBatchStep step = iris_wire_batch_iter_next (&batch->iter, &item, &error);
      if (step == IRIS_WIRE_BATCH_END)
        return TRUE;
      guint64 id = batch->first_id != 0 ? batch->first_id + batch->accepted : 0;
      self->turn_items++;
      if (step == IRIS_WIRE_BATCH_ITEM)
        batch->accepted += try_item (self, caller, &item, NULL, id);
      else
        irisd_send_refusal (self, caller, item.request_id, error);
      g_clear_error (&error);
    }
  return irisd_peer_is_gone (caller->peer);
}

/* Answers a batch that was read, or whose peer has ended, and frees it. */
static void
close_batch (IrisdGateway *self, IrisdBatch *batch)
{
  if (batch->persistent != NULL)
    irisd_persistent_batch_close (&self->items, batch->persistent, batch->caller.peer,
                                  batch->request_id, batch->quiet, batch->accepted);
  else if (!batch->quiet)
    irisd_send_accepted (self, batch->caller.peer, batch->request_id, batch->accepted,
                         batch->first_id);
  zmq_msg_close (&batch->body);
  g_free (batch);
}

/* Reads items of the batch of @peer, if it has one, until the turn is over. The peer may end
 * meanwhile, and takes only what it has. */
void
irisd_submit_read_batch (IrisdGateway *self, IrisdPeer *peer)
{
  IrisdBatch *batch = g_steal_pointer (&peer->batch);
  if (batch == NULL)
    return;
  irisd_persistent_batch_resume (&self->items, batch->persistent, batch->iter.n_items);
  gboolean done = read_items (self, batch);
  batch->persistent = irisd_persistent_batch_pause (&self->items);
  done |= irisd_peer_is_gone (peer);
  if (done)
    close_batch (self, batch);
  else
    peer->batch = batch;
}

/* @peer ends, and is marked as gone: its batch is not read further. */
void
irisd_submit_end_batch (IrisdGateway *self, IrisdPeer *peer)
{
  if (peer->batch != NULL)
    close_batch (self, g_steal_pointer (&peer->batch));
}
