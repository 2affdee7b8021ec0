/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests about irisd and its places: MAP, STATUS, SERVICES, DRAIN and SET_WORKERS.
 *
 * STATUS gathers the counters of all threads without stopping one. Stolen items are the scheduler's
 * count, with the commands that moved to a place that had a slot. Hinted and executed items and
 * their bytes are irisd's own counts, updated before an item's completion is sent, so that a client
 * that has all its completions finds all its items in the sums.
 *
 * The time that workers were busy is the scheduler's, whose clocks run while an item does. The sum
 * of the items' times would not measure it: an item of a minute would count as a minute's work in
 * the second in which it ends, and commands and worker processes have no worker at all.
 */
#include "daemon/gateway/irisd-place-requests.h"

#include "daemon/base/irisd-log.h"
#include "daemon/exec/command/irisd-command-slots.h"
#include "daemon/exec/irisd-place-control.h"
#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/gateway/irisd-send.h"
#include "daemon/items/irisd-dispatch.h"

#include <unistd.h>

static void
describe_place (IrisdCore *core, guint id, gboolean over_tcp, IrisWirePlace *out)
{
  const IrisdPlaceInfo *info = &core->infos[id];
  out->id = id;
  out->name = g_strdup (info->name);
  out->cpus = g_strdup (iris_place_get_cpus (info->place));
  out->nodes = g_strdup (iris_place_get_memory_nodes (info->place));
  out->workers = iris_place_get_n_workers (info->place);
  out->bound = iris_place_is_bound (info->place);
  out->endpoint = g_strdup (over_tcp ? info->tcp_endpoint : info->ipc_endpoint);
  out->n_distances = core->n_places;
  out->distances = g_new (guint32, core->n_places);
  for (guint other = 0; other < core->n_places; other++)
    out->distances[other] = iris_places_get_distance (core->places, id, other);
}

/* Returns the body of a MAP_REPLY. @over_tcp: the client needs endpoints over TCP. */
static GBytes *
encode_map (IrisdCore *core, gboolean over_tcp, GError **error)
{
  g_autoptr (IrisWireMap) map = iris_wire_map_new (core->n_places);
  for (guint id = 0; id < core->n_places; id++)
    describe_place (core, id, over_tcp, &map->places[id]);
  return iris_wire_map_encode (map, &core->wire_limits, error);
}

void
irisd_place_requests_answer_map (IrisdGateway *self,
                                 const IrisdCaller *caller,
                                 const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) body = encode_map (self->core, caller->over_tcp, &error);
  IrisWireMessage reply;
  iris_wire_message_init (&reply, IRIS_WIRE_MAP_REPLY, request->request_id);
  irisd_send_answer_bytes (self, caller, &reply, body, error);
}

static guint64
load (const _Atomic guint64 *counter)
{
  return atomic_load_explicit (counter, memory_order_relaxed);
}

static void
add_gateway (IrisWireStatus *status, const IrisdGateway *gateway)
{
  const IrisdGatewayCounters *counters = &gateway->counters;
  const IrisdItemCounters *items = &gateway->items.counters;
  /* In this order, so that no item seems to have ended before it was accepted. */
  guint64 ended = load (&items->ended);
  guint64 accepted = load (&items->accepted);
  status->peers += load (&counters->peers);
  status->accepted += accepted;
  status->ended += ended;
  status->in_flight += accepted - ended;
  status->failed += load (&items->failed);
  status->malformed += load (&counters->malformed);
  status->refused += load (&counters->refused);
}

/* Returns the nanoseconds that the workers of a place were busy. Workers without a place are as
 * busy at one as at the other. */
guint64
irisd_place_requests_get_busy_ns (const IrisdCore *core, guint id, const IrisStats *stats)
{
  guint64 workers = iris_place_get_n_workers (core->infos[id].place);
  guint64 most = workers * (guint64) (g_get_monotonic_time () - core->started_us) * 1000;
  guint64 busy = 0;
  if (core->placed && id < stats->n_places)
    busy = stats->places[id].busy_ns;
  else if (!core->placed && stats->n_workers > 0)
    busy = stats->total.busy_ns / stats->n_workers * workers;
  return MIN (busy, most);
}

/* Returns how many items were queued at a place and have not come back. */
guint64
irisd_place_requests_get_backlog (IrisdCore *core, guint id)
{
  const IrisdPlaceCounters *counters = &core->counters[id];
  return irisd_gate_get_backlog (&core->gates[id])
         + irisd_command_slots_count_waiting (core->slots, id) + load (&counters->beside)
         + load (&counters->aside);
}

static void
fill_place (IrisdCore *core, guint id, const IrisStats *stats, IrisWirePlaceStatus *out)
{
  const IrisdPlaceCounters *counters = &core->counters[id];
  out->id = id;
  out->name = g_strdup (core->infos[id].name);
  out->workers = iris_place_get_n_workers (core->infos[id].place);
  out->hinted = load (&counters->hinted);
  out->executed = load (&counters->executed);
  out->bytes = load (&counters->bytes);
  out->busy_ns = irisd_place_requests_get_busy_ns (core, id, stats);
  out->drained = irisd_place_control_is_drained (core->place_control, (gint) id);
  out->active = irisd_place_control_get_workers (core->place_control, (gint) id);
  out->backlog = irisd_place_requests_get_backlog (core, id);
  if (core->placed && id < stats->n_places)
    {
      out->stolen_in = stats->places[id].stolen_in + load (&counters->moved_in);
      out->stolen_out = stats->places[id].stolen_out + load (&counters->moved_out);
    }
}

static void
add_journal (IrisWireStatus *status, IrisdJournal *journal)
{
  static const char *const names[] = {
    [IRISD_JOURNAL_READY] = "ready",
    [IRISD_JOURNAL_FULL] = "full",
    [IRISD_JOURNAL_FAILED] = "failed",
  };
  IrisdJournalHealth health = journal != NULL ? irisd_journal_get_health (journal)
                                              : IRISD_JOURNAL_READY;
  status->journal = g_strdup (journal != NULL ? names[health] : "none");
  status->ready = !status->draining && health == IRISD_JOURNAL_READY;
  if (journal == NULL)
    return;
  if (health != IRISD_JOURNAL_READY)
    status->journal_says = g_strdup (irisd_journal_get_reason (journal));
  status->persistent = irisd_journal_get_n_persistent (journal);
  status->persistent_ended = irisd_journal_get_n_persistent_ended (journal);
  status->damaged = irisd_journal_get_n_damaged (journal);
}

/* Returns the body of a STATUS_REPLY. */
static GBytes *
encode_status (IrisdCore *core, GError **error)
{
  g_autoptr (IrisStats) stats = iris_scheduler_get_stats (core->scheduler);
  g_autoptr (IrisWireStatus) status = iris_wire_status_new (core->n_places);
  status->version = g_strdup (IRISD_VERSION);
  status->scheduler = g_strdup (irisd_config_scheduler_name (core->config->scheduler));
  status->pid = (guint32) getpid ();
  status->uptime_ms = (guint64) (g_get_monotonic_time () - core->started_us) / 1000;
  status->draining = irisd_core_get_phase (core) != IRISD_PHASE_SERVING;
  status->held_back = irisd_concurrency_limit_get_n_waiting (&core->concurrency_limit);
  add_journal (status, core->journal);
  for (guint i = 0; i < core->n_gateways; i++)
    add_gateway (status, core->gateways[i]);
  for (guint id = 0; id < core->n_places; id++)
    fill_place (core, id, stats, &status->places[id]);
  return iris_wire_status_encode (status, &core->wire_limits, error);
}

void
irisd_place_requests_answer_status (IrisdGateway *self,
                                    const IrisdCaller *caller,
                                    const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) body = encode_status (self->core, &error);
  IrisWireMessage reply;
  iris_wire_message_init (&reply, IRIS_WIRE_STATUS_REPLY, request->request_id);
  irisd_send_answer_bytes (self, caller, &reply, body, error);
}

void
irisd_place_requests_answer_services (IrisdGateway *self,
                                      const IrisdCaller *caller,
                                      const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisWireServices) list = irisd_services_describe (self->core->services);
  irisd_worker_processes_add_services (self->core->worker_processes,
                                       irisd_items_get_space (&self->items, caller->peer->owner),
                                       list);
  g_autoptr (GBytes) body = iris_wire_services_encode (list, &self->core->wire_limits, &error);
  IrisWireMessage reply;
  iris_wire_message_init (&reply, IRIS_WIRE_SERVICES_REPLY, request->request_id);
  irisd_send_answer_bytes (self, caller, &reply, body, error);
}

static void
refuse (IrisdGateway *self,
        const IrisdCaller *caller,
        const IrisWireMessage *request,
        const GError *error)
{
  IrisWireMessage reply;
  iris_wire_message_init (&reply, IRIS_WIRE_ERROR_REPLY, request->request_id);
  iris_wire_message_set_error (&reply, error);
  if (g_error_matches (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_TOO_LARGE))
    {
      IrisPlace *place = self->core->infos[request->place].place;
      iris_wire_message_set_string (&reply, IRIS_WIRE_KEY_LIMIT, "workers", -1);
      iris_wire_message_set_uint (&reply, IRIS_WIRE_KEY_LIMIT_VALUE,
                                  iris_place_get_n_workers (place));
    }
  irisd_send_answer (self, caller, &reply);
}

/* The gate of a place was opened. Worker processes, which belong to no place, resume with the
 * last. */
static void
resume_place (IrisdGateway *self, gint place)
{
  irisd_dispatch_fill_gate (&self->items, place);
  irisd_log (IRISD_LOG_INFO, "resumed place %d", place);
  if (!irisd_place_control_is_paused (self->core->place_control))
    irisd_worker_processes_resume (self->core->worker_processes);
}

void
irisd_place_requests_change (IrisdGateway *self,
                             const IrisdCaller *caller,
                             const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  IrisdPlaceControl *place_control = self->core->place_control;
  guint changed = 0;
  gboolean resumed = FALSE;
  if (irisd_items_get_phase (&self->items) != IRISD_PHASE_SERVING)
    error = g_error_new_literal (
        IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_SHUTTING_DOWN,
        "cannot change a place: irisd is ending; ask again when it is back");
  else if (request->type == IRIS_WIRE_DRAIN)
    {
      resumed = !request->drained && irisd_place_control_resume (place_control, request->place);
      /* A scheduler without places can be paused, though it cannot drain. */
      if (!resumed || self->core->placed)
        irisd_place_control_drain (place_control, request->place, request->drained, &changed,
                                   &error);
    }
  else
    irisd_place_control_set_workers (place_control, request->place, request->workers, &changed,
                                     &error);
  if (error != NULL)
    {
      refuse (self, caller, request, error);
      return;
    }
  if (request->type == IRIS_WIRE_DRAIN && !request->drained)
    irisd_command_slots_refill (self->core->slots, (guint) request->place);
  if (resumed)
    resume_place (self, request->place);
  irisd_send_changed (self, caller, request->request_id, resumed ? 1 : changed);
}
