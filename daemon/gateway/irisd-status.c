/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisd's counters, gathered from all threads without stopping one.
 *
 * Stolen items are the scheduler's count, with the commands that moved to a place that had a slot.
 * Hinted and executed items and their bytes are irisd's own counts, updated before an item's
 * completion is sent, so that a client that has all its completions finds all its items in the
 * sums.
 *
 * The time that workers were busy is the scheduler's, whose clocks run while an item does. The sum
 * of the items' times would not measure it: an item of a minute would count as a minute's work in
 * the second in which it ends, and commands and worker processes have no worker at all.
 */
#include "daemon/exec/command/irisd-command-slots.h"
#include "daemon/exec/irisd-place-control.h"
#include "daemon/gateway/irisd-gateway-private.h"

#include <unistd.h>

static guint64
load (const _Atomic guint64 *counter)
{
  return atomic_load_explicit (counter, memory_order_relaxed);
}

static void
add_gateway (IrisWireStatus *status, const IrisdGatewayCounters *counters)
{
  /* In this order, so that no item seems to have ended before it was accepted. */
  guint64 ended = load (&counters->ended);
  guint64 accepted = load (&counters->accepted);
  status->peers += load (&counters->peers);
  status->accepted += accepted;
  status->ended += ended;
  status->in_flight += accepted - ended;
  status->failed += load (&counters->failed);
  status->malformed += load (&counters->malformed);
  status->refused += load (&counters->refused);
}

/* Nanoseconds that the workers of a place were busy. Workers without a place are as busy at one as
 * at the other. */
static guint64
busy_ns (const IrisdCore *core, guint id, const IrisStats *stats, guint64 workers)
{
  guint64 most = workers * (guint64) (g_get_monotonic_time () - core->started_us) * 1000;
  guint64 busy = 0;
  if (core->placed && id < stats->n_places)
    busy = stats->places[id].busy_ns;
  else if (!core->placed && stats->n_workers > 0)
    busy = stats->total.busy_ns / stats->n_workers * workers;
  return MIN (busy, most);
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
  out->busy_ns = busy_ns (core, id, stats, out->workers);
  out->drained = irisd_place_control_is_drained (core->place_control, (gint) id);
  out->active = irisd_place_control_get_workers (core->place_control, (gint) id);
  out->backlog = irisd_gate_get_backlog (&core->gates[id])
                 + irisd_command_slots_count_waiting (core->slots, id) + load (&counters->beside)
                 + load (&counters->aside);
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
GBytes *
irisd_status_encode (IrisdCore *core, GError **error)
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
    add_gateway (status, irisd_gateway_get_counters (core->gateways[i]));
  for (guint id = 0; id < core->n_places; id++)
    fill_place (core, id, stats, &status->places[id]);
  return iris_wire_status_encode (status, &core->wire_limits, error);
}
