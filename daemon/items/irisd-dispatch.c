/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's jobs on their way to the scheduler, and back to it when they are tried again.
 *
 * An accepted job passes five stages, each of which may be empty: its dependencies (in a graph that
 * all gateways share, under its lock), its time (this gateway's own), its turn in the queue that it
 * names and a permit of its client and service, a slot if it is a command, and the gate of its
 * place (which all gateways share, each under its lock). A plain job has only the gate. Then the
 * scheduler has it. A persistent item that waits for its time or for the gate may be spilled and
 * have no job (irisd-spilled.c). A job that failed and may be tried again begins anew, with a pause
 * for its time.
 *
 * A gate bounds the work that its workers have in hand, so only items that need a worker count
 * there. Items for worker processes never enter a gate. A command enters it with its slot, counts
 * as what its start needs, and leaves when its program runs (IRISD_MESSAGE_LEFT); so does an item
 * of a plug-in that declares that it waits. However many items wait outside the workers, the window
 * is for the others.
 *
 * A waiting job belongs to its gateway, except at the gate, through which another gateway may let
 * it. So irisd_dispatch_withdraw() may fail; the job then comes back from the scheduler, or as a
 * message, like any other.
 *
 * A returned job gives its share of its gate's window back. A gateway returns the shares of all
 * messages of one turn together; the next entries there, of any gateway, fill them.
 */
#include "daemon/items/irisd-dispatch.h"

#include "daemon/exec/command/irisd-command-slots.h"
#include "daemon/exec/irisd-place-control.h"
#include "daemon/exec/worker/irisd-away-later.h"
#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/items/irisd-completion.h"
#include "daemon/items/irisd-item-log.h"
#include "daemon/items/irisd-cost.h"
#include "daemon/items/irisd-dependencies.h"
#include "daemon/items/irisd-permit.h"
#include "daemon/items/irisd-placement.h"
#include "daemon/items/spill/irisd-spilled-flow.h"
#include "daemon/items/spill/irisd-spilled.h"

/* Entries that are taken from a gate at once. */
#define NEXT_AT_ONCE 64

/* A run up to this length is shorter than a message about it to another thread. */
#define BRIEF_NS 2000

/* Returns whether a job has a slot, or needs none; otherwise a message comes when it has. */
static gboolean
take_slot (IrisdItems *self, IrisdJob *job)
{
  if (job->service->start == NULL)
    return TRUE;
  gint64 since_us = job->since_us != 0 ? job->since_us : g_get_monotonic_time ();
  job->since_us = 0;
  if (!irisd_command_slots_enter (self->core->slots, job, since_us))
    {
      irisd_job_advance (job, IRISD_EVENT_ASK_SLOT);
      return FALSE;
    }
  if (job->slot != job->home)
    irisd_job_move (job, job->slot);
  return TRUE;
}

static void
enter_gate (IrisdItems *self, IrisdJob *job)
{
  /* Work of worker processes does not occupy a place. */
  if (job->leased_item != NULL)
    {
      irisd_job_advance (job, IRISD_EVENT_OFFER);
      irisd_worker_processes_queue (self->core->worker_processes, job,
                                    irisd_items_get_space (self, job->owner));
      return;
    }
  if (!take_slot (self, job))
    return;
  job->fair.cost = irisd_cost_of (self, job);
  irisd_job_advance (job, IRISD_EVENT_QUEUE);
  job->gate = job->slot >= 0 ? job->slot : job->home;
  /* Afterwards the job may belong to another thread. */
  gint gate = job->gate;
  gint64 since_us = job->since_us;
  job->since_us = 0;
  if (irisd_gate_enter (&self->core->gates[gate], &job->fair, job->client, since_us))
    {
      if (job->brief && irisd_cost_get_typical_ns (self, job->service) <= BRIEF_NS)
        irisd_job_run_here (job);
      else
        irisd_job_hand_over (job);
    }
  irisd_place_control_wake (self->core->place_control, gate);
}

/* Runs a new job, which no other thread knows, in this thread if it has nothing to wait for, its
 * service is brief, and its gate would let it through at once. Returns whether it ran. */
gboolean
irisd_dispatch_run_at_once (IrisdItems *self, IrisdJob *job)
{
  if (!job->brief || job->queue != NULL || job->schedule != NULL || job->service->output_grows
      || self->core->concurrency_limit.any
      || irisd_core_get_phase (self->core) != IRISD_PHASE_SERVING
      || irisd_cost_get_typical_ns (self, job->service) > BRIEF_NS)
    return FALSE;
  job->fair.cost = irisd_cost_of (self, job);
  if (!irisd_gate_is_open (&self->core->gates[job->home], &job->fair))
    return FALSE;
  irisd_job_run_at_once (job);
  irisd_cost_learn (self, job);
  return TRUE;
}

/* Returns whether the item was spilled, which frees the job. */
static gboolean
wait_for_time (IrisdItems *self, IrisdJob *job)
{
  IrisdClock clock;
  gint64 due_us;
  IrisdTimes now = irisd_times_now ();
  if (job->schedule == NULL || !irisd_schedule_get_due (job->schedule, &now, &clock, &due_us))
    {
      if (irisd_spilled_flow_add (self, job))
        return TRUE;
      if (irisd_permit_take (self, job))
        enter_gate (self, job);
      return FALSE;
    }
  irisd_job_advance (job, IRISD_EVENT_DELAY);
  irisd_count (&self->counters.delayed, 1);
  irisd_timers_add (&self->timers, &job->schedule->timer, clock, due_us);
  irisd_away_later_wait (job);
  return FALSE;
}

/* Returns whether jobs may not wait for their turn any longer: in a paused irisd that drains they
 * would wait for ever. */
gboolean
irisd_dispatch_gives_no_turns (IrisdItems *self, IrisdPhase phase)
{
  return phase >= IRISD_PHASE_STOPPING
         || (phase == IRISD_PHASE_DRAINING
             && irisd_place_control_is_paused (self->core->place_control));
}

/* The same for @job. A persistent one runs after the next start, so a draining irisd gives it no
 * turn. */
static gboolean
gets_no_turn (IrisdItems *self, const IrisdJob *job, IrisdPhase phase)
{
  return irisd_dispatch_gives_no_turns (self, phase)
         || (job->lasting && phase != IRISD_PHASE_SERVING);
}

/* A draining irisd does not wait for a clock. */
static gboolean
is_completion (IrisdItems *self, IrisdPhase phase)
{
  return phase != IRISD_PHASE_SERVING;
}

/* Fails a job that its gateway has in hand. */
static void
fail_waiting (IrisdItems *self, IrisdJob *job)
{
  irisd_job_fail (job, IRIS_WIRE_ERROR_SHUTTING_DOWN,
                  "irisd ended while the item waited: send it again when irisd is back");
  irisd_completion_end_job (self, job);
}

/* Takes a job that a request wants to wait. While it does it occupies nothing that others wait
 * for. */
static void
suspend (IrisdItems *self, IrisdJob *job, IrisdPhase phase)
{
  irisd_permit_release (self, job);
  irisd_spilled_flow_leave (self, job);
  if (is_completion (self, phase))
    fail_waiting (self, job);
  else
    {
      irisd_job_advance (job, IRISD_EVENT_SUSPEND);
      irisd_count (&self->counters.suspended, 1);
      irisd_away_later_recall (job);
    }
}

/* Takes a job without open dependencies, and sends it on its way: to wait for its time, to its
 * gate, to the scheduler. */
void
irisd_dispatch_advance (IrisdItems *self, IrisdJob *job)
{
  IrisdPhase phase = irisd_items_get_phase (self);
  if (gets_no_turn (self, job, phase))
    {
      fail_waiting (self, job);
      return;
    }
  if (irisd_job_is_suspended (job))
    {
      suspend (self, job, phase);
      return;
    }
  if (irisd_items_is_late (job))
    {
      irisd_job_fail_late (job);
      irisd_completion_end_job (self, job);
      return;
    }
  if (irisd_spilled_put_delayed (self, job) || wait_for_time (self, job))
    return;
  /* A draining irisd waits neither for a clock nor for a person. */
  if (phase != IRISD_PHASE_SERVING
      && (irisd_job_is (job, IRISD_ITEM_DELAYED) || irisd_permit_is_held (self, job))
      && irisd_dispatch_withdraw (self, job))
    fail_waiting (self, job);
}

static gboolean
leave_gate (IrisdItems *self, IrisdJob *job)
{
  if (!irisd_gate_withdraw (&self->core->gates[job->gate], &job->fair))
    return FALSE;
  irisd_command_slots_leave (self->core->slots, job);
  return TRUE;
}

static gboolean
leave_slots (IrisdItems *self, IrisdJob *job)
{
  return irisd_command_slots_withdraw (self->core->slots, job);
}

static gboolean
leave_times (IrisdItems *self, IrisdJob *job)
{
  gboolean waited = irisd_timers_remove (&self->timers, &job->schedule->timer);
  irisd_count (&self->counters.delayed, -waited);
  return waited;
}

static gboolean
leave_pause (IrisdItems *self, IrisdJob *job)
{
  return TRUE;
}

static gboolean
leave_suspension (IrisdItems *self, IrisdJob *job)
{
  irisd_count (&self->counters.suspended, -1);
  return TRUE;
}

static gboolean
leave_held (IrisdItems *self, IrisdJob *job)
{
  g_queue_remove (&job->peer->held, job);
  self->n_parked--;
  return TRUE;
}

static gboolean
leave_leases (IrisdItems *self, IrisdJob *job)
{
  return irisd_worker_processes_withdraw_waiting (self->core->worker_processes, job)
         == IRISD_LEASE_ENTRY_WAITED;
}

/* For each state in which an item can wait, the function that takes a job out of it; it returns
 * FALSE if the job is out already and comes back as a message. The state also decides which jobs a
 * draining irisd ends, and which it ends once it gives no turns any more; the leases end their
 * own. */
static const struct
{
  gboolean (*leave) (IrisdItems *self, IrisdJob *job);
  gboolean (*ends) (IrisdItems *self, IrisdPhase phase);
} stations[IRISD_N_ITEM_STATES] = {
  [IRISD_ITEM_DEPENDENT] = { irisd_dependencies_withdraw, irisd_dispatch_gives_no_turns },
  [IRISD_ITEM_DELAYED] = { leave_times, is_completion },
  [IRISD_ITEM_PAUSED] = { leave_pause, irisd_dispatch_gives_no_turns },
  [IRISD_ITEM_SUSPENDED] = { leave_suspension, is_completion },
  [IRISD_ITEM_BLOCKED] = { leave_held },
  [IRISD_ITEM_PERMIT] = { irisd_permit_withdraw, irisd_dispatch_gives_no_turns },
  [IRISD_ITEM_SLOT] = { leave_slots, irisd_dispatch_gives_no_turns },
  [IRISD_ITEM_QUEUED] = { leave_gate, irisd_dispatch_gives_no_turns },
  [IRISD_ITEM_OFFERED] = { leave_leases },
};

/* Returns whether the job waited, and belongs to the caller now; otherwise it will come back. */
gboolean
irisd_dispatch_withdraw (IrisdItems *self, IrisdJob *job)
{
  IrisdItemState state = irisd_job_get_state (job);
  if (stations[state].leave == NULL || !stations[state].leave (self, job))
    return FALSE;
  return irisd_job_advance (job, IRISD_EVENT_WITHDRAW);
}

/* The gate learns of it with the others of this turn. */
static void
give_room (IrisdItems *self, IrisdJob *job)
{
  if (job->gate < 0)
    return;
  IrisdGateReturns *returns = &self->gate_returns[job->gate];
  returns->items++;
  returns->cost += job->fair.cost;
  self->any_gate_returns = TRUE;
  job->gate = -1;
}

/* Gives the job's share of its gate's window to others: it goes on beside the workers, and comes
 * back later. */
void
irisd_dispatch_note_left (IrisdItems *self, IrisdJob *job)
{
  job->left_gate = job->gate;
  if (irisd_job_is_suspended (job) && job->persistent != NULL)
    irisd_persistent_item_set_state (job->persistent, IRIS_WIRE_STATE_SUSPENDED);
  atomic_fetch_add_explicit (&self->core->counters[job->gate].beside, 1, memory_order_relaxed);
  give_room (self, job);
}

static void
note_end_beside (IrisdItems *self, IrisdJob *job)
{
  if (job->left_gate >= 0)
    atomic_fetch_sub_explicit (&self->core->counters[job->left_gate].beside, 1,
                               memory_order_relaxed);
  job->left_gate = -1;
}

static gboolean
owes_too_much (IrisdItems *self, IrisdPeer *peer)
{
  return irisd_peer_get_bytes (peer) > self->core->config->limits.in_flight_bytes;
}

/* A draining irisd waits a limited time for a peer to acknowledge. */
static gboolean
may_wait (IrisdItems *self)
{
  switch (irisd_items_get_phase (self))
    {
    case IRISD_PHASE_SERVING:
      return TRUE;
    case IRISD_PHASE_DRAINING:
      return g_get_monotonic_time () < irisd_core_get_deadline (self->core);
    default:
      return FALSE;
    }
}

/* Takes @job, which came back without having run because its peer owed too much. */
static void
resume_held (IrisdItems *self, IrisdJob *job)
{
  if (!may_wait (self))
    {
      irisd_job_fail (job, IRIS_WIRE_ERROR_SHUTTING_DOWN,
                      "irisd ended while the item waited for earlier results to be acknowledged: "
                      "send it again when irisd is back, and acknowledge results as they come");
      irisd_completion_end_job (self, job);
    }
  else if (irisd_job_is_orphan (job) || !owes_too_much (self, job->peer))
    irisd_dispatch_advance (self, job);
  else
    {
      irisd_job_advance (job, IRISD_EVENT_BLOCK);
      g_queue_push_tail (&job->peer->held, job);
      self->n_parked++;
    }
}

/* @peer has acknowledged completions: its held jobs go on, as far as its limit allows. */
void
irisd_dispatch_advance_held (IrisdItems *self, IrisdPeer *peer)
{
  while (peer->held.length > 0 && !owes_too_much (self, peer) && may_wait (self))
    {
      IrisdJob *job = g_queue_peek_head (&peer->held);
      if (irisd_dispatch_withdraw (self, job))
        irisd_dispatch_advance (self, job);
    }
}

/* @peer has ended, so its held jobs wait for it no longer. */
void
irisd_dispatch_release_held (IrisdItems *self, IrisdPeer *peer)
{
  while (peer->held.length > 0)
    {
      IrisdJob *job = g_queue_peek_head (&peer->held);
      if (irisd_dispatch_withdraw (self, job))
        resume_held (self, job);
    }
}

/* Ends jobs that wait for acknowledgements, if irisd no longer waits for those. */
void
irisd_dispatch_end_parked (IrisdItems *self)
{
  if (self->n_parked == 0 || may_wait (self))
    return;
  g_autoptr (GPtrArray) parked = g_ptr_array_new ();
  for (GList *link = self->peers->by_age.head; link != NULL; link = link->next)
    {
      IrisdPeer *peer = link->data;
      for (GList *job = peer->held.head; job != NULL; job = job->next)
        g_ptr_array_add (parked, job->data);
    }
  /* Ending a job may end its peer, which frees other jobs of the list unless they are taken out. So
   * all are taken out before the first ends. */
  for (guint i = 0; i < parked->len; i++)
    irisd_dispatch_withdraw (self, g_ptr_array_index (parked, i));
  for (guint i = 0; i < parked->len; i++)
    resume_held (self, g_ptr_array_index (parked, i));
}

/* Returns whether a run failed in a way that another run may mend. */
static gboolean
deserves_another (IrisdItems *self, IrisdJob *job)
{
  const IrisdSchedule *schedule = job->schedule;
  if (schedule->given_up || schedule->attempts > schedule->retries || irisd_items_is_late (job)
      || (!job->lasting && irisd_peer_is_gone (job->peer))
      || (!job->lasting && irisd_items_get_phase (self) != IRISD_PHASE_SERVING))
    return FALSE;
  const GError *error = job->result.error;
  return error == NULL
             ? irisd_job_has_failed (job)
             : g_error_matches (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_SERVICE_FAILED)
                   || g_error_matches (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_RAN_TOO_LONG)
                   || g_error_matches (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_TIME_LIMIT);
}

/* A service that was stopped reports that it was cancelled; it does not know why. */
static void
name_overrun (IrisdJob *job)
{
  IrisdSchedule *schedule = job->schedule;
  if (schedule->overran && !schedule->given_up
      && g_error_matches (job->result.error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_CANCELLED))
    irisd_job_fail (job, IRIS_WIRE_ERROR_RAN_TOO_LONG,
                    "the item was stopped: it ran longer than its time to run, %" G_GUINT64_FORMAT
                    " ms; give it more (time-to-run-ms)",
                    schedule->time_to_run_us / 1000);
  schedule->overran = FALSE;
}

/* The journal writes the try, so that neither the tries nor the pause begin anew after a restart.
 * The failed run is over, so it does not matter when this is on the disk. */
static void
note_retry (IrisdItems *self, IrisdJob *job, guint64 pause_us)
{
  if (job->persistent == NULL)
    return;
  IrisdJournalRequest *request = irisd_journal_request_new (IRISD_JOURNAL_REQUEST_RETRY,
                                                            self->mailbox);
  request->persistent = job->persistent;
  request->count = job->schedule->attempts;
  request->due_ms = irisd_unix_ms () + pause_us / 1000;
  irisd_journal_post (self->core->journal, request);
}

/* Returns whether the job failed and will be tried again; then it is on its way. */
static gboolean
try_again (IrisdItems *self, IrisdJob *job)
{
  IrisdSchedule *schedule = job->schedule;
  if (schedule == NULL || !irisd_job_has_run (job))
    return FALSE;
  schedule->attempts++;
  name_overrun (job);
  if (!deserves_another (self, job))
    return FALSE;
  irisd_job_advance (job, IRISD_EVENT_RETRY);
  irisd_item_counters_note_retried (&self->counters, job);
  guint64 pause_us = irisd_timers_backoff_us (
      schedule->backoff_us, irisd_core_get_settings (self->core)->limits.max_backoff_ms * 1000,
      schedule->attempts, g_random_double ());
  schedule->delayed = TRUE;
  schedule->delay_due_us = g_get_monotonic_time () + (gint64) pause_us;
  note_retry (self, job, pause_us);
  irisd_item_log_retried (self, job, pause_us);
  irisd_dispatch_advance (self, job);
  return TRUE;
}

/* The bridge gave an item for another node back, because the cluster takes it later. @stopped: it
 * was cancelled meanwhile. Returns whether the job is on its way; else it ends. */
static gboolean
wait_for_cluster (IrisdItems *self, IrisdJob *job, gboolean stopped)
{
  IrisdAwayItem *away = job->leased_item->away;
  gint64 pause_us = away->put_off_us;
  if (pause_us == 0)
    return FALSE;
  away->put_off_us = 0;
  if (stopped || (!job->lasting && irisd_peer_is_gone (job->peer)))
    {
      irisd_job_fail_cancelled (job);
      return FALSE;
    }
  irisd_job_advance (job, IRISD_EVENT_RETRY);
  if (irisd_items_get_phase (self) != IRISD_PHASE_SERVING)
    {
      fail_waiting (self, job);
      return TRUE;
    }
  if (irisd_job_is_suspended (job))
    {
      irisd_dispatch_advance (self, job);
      return TRUE;
    }
  if (job->schedule == NULL)
    {
      job->schedule = irisd_schedule_new_empty ();
      job->schedule->job = job;
    }
  irisd_job_advance (job, IRISD_EVENT_DELAY);
  irisd_count (&self->counters.delayed, 1);
  irisd_timers_add (&self->timers, &job->schedule->timer, IRISD_CLOCK_STEADY,
                    g_get_monotonic_time () + pause_us);
  return TRUE;
}

static gboolean
is_put_off (const IrisdJob *job)
{
  return job->leased_item != NULL && job->leased_item->away != NULL
         && job->leased_item->away->put_off_us != 0;
}

/* Takes a job that came back from the scheduler. */
static void
take_back (IrisdItems *self, IrisdJob *job)
{
  const gboolean put_off = is_put_off (job);
  const gboolean stopped = put_off && !irisd_job_is (job, IRISD_ITEM_LEASED);
  irisd_job_advance (job, IRISD_EVENT_RETURN);
  switch (irisd_job_get_state (job))
    {
    case IRISD_ITEM_ACCEPTED:
      resume_held (self, job);
      break;
    case IRISD_ITEM_RETURNED:
      if (!(put_off && wait_for_cluster (self, job, stopped)) && !try_again (self, job))
        irisd_completion_end_job (self, job);
      break;
    case IRISD_ITEM_RELEASED:
      irisd_completion_release_job (self, job);
      break;
    default:
      break; /* the journal has not answered yet */
    }
}

/* The scheduler gave the job back: returns what it occupied, and learns from its run. */
static void
note_return (IrisdItems *self, IrisdJob *job)
{
  irisd_placement_note_place (self, job);
  irisd_permit_release (self, job);
  irisd_spilled_flow_leave (self, job);
  note_end_beside (self, job);
  give_room (self, job);
  if (job->leased_item == NULL)
    irisd_cost_learn (self, job);
  if (job->schedule != NULL)
    {
      irisd_timers_remove (&self->timers, &job->schedule->timer);
      job->schedule->run_left_us = 0;
    }
}

/* Takes a job that the scheduler or the worker processes gave back. */
void
irisd_dispatch_take_job (IrisdItems *self, IrisdJob *job)
{
  note_return (self, job);
  take_back (self, job);
}

/* Takes a job that has got its permit or slot and could not be withdrawn any more. Sends it to its
 * gate, unless it was cancelled or given up meanwhile. */
void
irisd_dispatch_go_on (IrisdItems *self, IrisdJob *job)
{
  const gboolean wanted = irisd_job_advance (job, IRISD_EVENT_PASS);
  if (wanted && irisd_job_is_suspended (job))
    {
      irisd_command_slots_leave (self->core->slots, job);
      irisd_dispatch_advance (self, job);
      return;
    }
  if (wanted && !gets_no_turn (self, job, irisd_items_get_phase (self)))
    {
      if (irisd_permit_continue (self, job))
        enter_gate (self, job);
      return;
    }
  irisd_command_slots_leave (self->core->slots, job);
  if (wanted)
    fail_waiting (self, job);
  else
    take_back (self, job);
}

void
irisd_dispatch_take_decision (IrisdItems *self, IrisdMessage *message)
{
  IrisdSchedule *schedule = (IrisdSchedule *) ((char *) message
                                               - G_STRUCT_OFFSET (IrisdSchedule, decided));
  IrisdJob *job = schedule->job;
  if (!irisd_job_advance (job, IRISD_EVENT_PASS))
    take_back (self, job);
  else if (schedule->dependent.verdict == IRISD_VERDICT_GO)
    irisd_dispatch_advance (self, job);
  else if (schedule->dependent.reason != NULL)
    {
      irisd_job_fail (job,
                      schedule->dependent.verdict == IRISD_VERDICT_STUCK
                          ? IRIS_WIRE_ERROR_SHUTTING_DOWN
                          : IRIS_WIRE_ERROR_DEPENDENCY_FAILED,
                      "%s", schedule->dependent.reason);
      irisd_completion_end_job (self, job);
    }
  else if (schedule->dependent.verdict == IRISD_VERDICT_STUCK)
    {
      irisd_job_fail (job, IRIS_WIRE_ERROR_SHUTTING_DOWN,
                      "irisd ended while dependency %" G_GUINT64_FORMAT
                      " was buried: when irisd is back, kick that item, then send this one again",
                      schedule->dependent.blame);
      irisd_completion_end_job (self, job);
    }
  else
    {
      irisd_job_fail (job, IRIS_WIRE_ERROR_DEPENDENCY_FAILED,
                      "the item %" G_GUINT64_FORMAT
                      " failed, and this item runs only after its success (after-how 3): mend what "
                      "failed, then send both again",
                      schedule->dependent.blame);
      irisd_completion_end_job (self, job);
    }
}

/* Sends a job on its way, as if its time had come, if it waits for that. Returns how many did. */
guint
irisd_dispatch_kick (IrisdItems *self, IrisdJob *job)
{
  if (!irisd_job_is (job, IRISD_ITEM_DELAYED))
    return 0;
  if (irisd_dispatch_withdraw (self, job))
    {
      job->schedule->delayed = job->schedule->timed = FALSE;
      irisd_dispatch_advance (self, job);
    }
  return 1;
}

/* The same for at most @most jobs of the gateway within @view. */
guint
irisd_dispatch_kick_all (IrisdItems *self, gint64 view, guint most)
{
  guint n = 0;
  g_autoptr (GPtrArray) delayed = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, self->by_number);
  while (delayed->len < most && g_hash_table_iter_next (&iter, NULL, &value))
    if (irisd_job_is (value, IRISD_ITEM_DELAYED)
        && irisd_view_reaches (view, ((IrisdJob *) value)->owner))
      g_ptr_array_add (delayed, value);
  /* A kicked job may change the table, if irisd ends meanwhile. */
  for (guint i = 0; i < delayed->len; i++)
    n += irisd_dispatch_kick (self, g_ptr_array_index (delayed, i));
  return n;
}

static void
fill_room (IrisdItems *self, IrisdGate *gate)
{
  IrisdFairEntry *entries[NEXT_AT_ONCE];
  guint n;
  do
    {
      n = irisd_gate_next (gate, entries, NEXT_AT_ONCE);
      for (guint i = 0; i < n; i++)
        irisd_job_hand_over (irisd_job_from_fair (entries[i]));
    }
  while (n == NEXT_AT_ONCE);
}

/* Lets waiting jobs, of any gateway, through a gate that was opened. */
void
irisd_dispatch_fill_gate (IrisdItems *self, gint place)
{
  fill_room (self, &self->core->gates[place]);
}

/* Returns the shares of all jobs that came back to their gates, and lets others through. A gateway
 * that stops lets none through: each gateway withdraws its own jobs from the gates. */
void
irisd_dispatch_tell_gates (IrisdItems *self)
{
  if (!self->any_gate_returns)
    return;
  self->any_gate_returns = FALSE;
  for (guint place = 0; place < self->core->n_places; place++)
    {
      IrisdGateReturns *returns = &self->gate_returns[place];
      if (returns->items == 0)
        continue;
      irisd_gate_leave (&self->core->gates[place], returns->items, returns->cost);
      *returns = (IrisdGateReturns){ 0 };
      if (irisd_items_get_phase (self) < IRISD_PHASE_STOPPING)
        fill_room (self, &self->core->gates[place]);
    }
  irisd_place_control_settle (self->core->place_control);
}

/* The job has run as long as it may. */
static void
stop_overrun (IrisdJob *job)
{
  if (!irisd_job_is (job, IRISD_ITEM_RUNNING))
    return;
  job->schedule->overran = TRUE;
  irisd_job_cancel (job);
}

/* Fails waiting jobs that have reached their deadline, but not those that the scheduler or a worker
 * process has, or that are on their way back. */
static void
end_late (IrisdItems *self)
{
  if (irisd_timers_get_count (&self->deadlines) == 0)
    return;
  IrisdTimes now = irisd_times_now ();
  IrisdTimer *timer;
  while ((timer = irisd_timers_pop_due (&self->deadlines, &now)) != NULL)
    {
      IrisdJob *job =
          ((IrisdSchedule *) ((char *) timer - G_STRUCT_OFFSET (IrisdSchedule, deadline)))->job;
      if (!irisd_dispatch_withdraw (self, job))
        continue;
      irisd_job_fail_late (job);
      irisd_completion_end_job (self, job);
    }
}

static IrisdJob *
job_of_waiter (IrisdTimer *timer)
{
  return ((IrisdSchedule *) ((char *) timer - G_STRUCT_OFFSET (IrisdSchedule, timer)))->job;
}

/* Sends jobs on whose time has come, and stops those that have run too long. */
void
irisd_dispatch_wake_due (IrisdItems *self)
{
  end_late (self);
  if (irisd_timers_get_count (&self->timers) == 0)
    return;
  IrisdTimes now = irisd_times_now ();
  IrisdTimer *timer;
  while ((timer = irisd_timers_pop_due (&self->timers, &now)) != NULL)
    {
      IrisdJob *job = job_of_waiter (timer);
      if (!irisd_job_is (job, IRISD_ITEM_DELAYED))
        {
          stop_overrun (job);
          continue;
        }
      irisd_count (&self->counters.delayed, -1);
      if (irisd_job_advance (job, IRISD_EVENT_PASS))
        irisd_dispatch_advance (self, job);
    }
}

/* Returns the monotonic time of the next job that is due; 0 if none waits. */
gint64
irisd_dispatch_get_due_us (IrisdItems *self)
{
  if (irisd_timers_get_count (&self->timers) + irisd_timers_get_count (&self->deadlines) == 0)
    return 0;
  IrisdTimes now = irisd_times_now ();
  gint64 delay = irisd_timers_get_delay (&self->timers, &now);
  gint64 deadline = irisd_timers_get_delay (&self->deadlines, &now);
  if (delay < 0 || (deadline >= 0 && deadline < delay))
    delay = deadline;
  return delay >= 0 ? now.us[IRISD_CLOCK_STEADY] + delay : 0;
}

/* @message says that a job with a time to run has begun. The job itself comes behind this message:
 * its worker posts both, and messages keep their order. */
void
irisd_dispatch_limit_run (IrisdItems *self, IrisdMessage *message)
{
  IrisdSchedule *schedule = (IrisdSchedule *) ((char *) message
                                               - G_STRUCT_OFFSET (IrisdSchedule, started));
  IrisdJob *job = schedule->job;
  if (irisd_job_is_suspended (job))
    {
      schedule->run_left_us = (gint64) schedule->time_to_run_us;
      return;
    }
  irisd_timers_add (&self->timers, &schedule->timer, IRISD_CLOCK_STEADY,
                    job->started_ns / 1000 + (gint64) schedule->time_to_run_us);
}

static void
collect_if_waiting (IrisdItems *self, GPtrArray *jobs, IrisdJob *job, IrisdPhase phase)
{
  IrisdItemState state = irisd_job_get_state (job);
  /* A draining irisd waits for its commands, so it continues those that are stopped. */
  if (state == IRISD_ITEM_RUNNING && irisd_job_is_suspended (job))
    {
      atomic_store_explicit (&job->suspended, FALSE, memory_order_relaxed);
      job->service->wake (job);
    }
  if (stations[state].ends != NULL
      && (stations[state].ends (self, phase) || gets_no_turn (self, job, phase)
          || irisd_permit_is_held (self, job)))
    g_ptr_array_add (jobs, job);
}

/* Collects the jobs of all peers, and those that outlived theirs, that the scheduler does not have
 * and the phase does not let wait. */
static GPtrArray *
collect_waiting (IrisdItems *self, IrisdPhase phase)
{
  GPtrArray *jobs = g_ptr_array_new ();
  for (GList *link = self->peers->by_age.head; link != NULL; link = link->next)
    {
      GHashTableIter iter;
      gpointer value;
      g_hash_table_iter_init (&iter, ((IrisdPeer *) link->data)->jobs);
      while (g_hash_table_iter_next (&iter, NULL, &value))
        collect_if_waiting (self, jobs, value, phase);
    }
  GHashTableIter orphans;
  gpointer orphan;
  g_hash_table_iter_init (&orphans, self->orphans);
  while (g_hash_table_iter_next (&orphans, &orphan, NULL))
    collect_if_waiting (self, jobs, orphan, phase);
  return jobs;
}

/* Ends the jobs that may not wait any longer in the phase that has begun. */
void
irisd_dispatch_end_waiting (IrisdItems *self, IrisdPhase phase)
{
  g_autoptr (GPtrArray) jobs = collect_waiting (self, phase);
  g_autoptr (GPtrArray) ours = g_ptr_array_new ();
  /* All are taken out before the first ends: its end may end its peer, which frees other jobs. */
  for (guint i = 0; i < jobs->len; i++)
    if (irisd_dispatch_withdraw (self, g_ptr_array_index (jobs, i)))
      g_ptr_array_add (ours, g_ptr_array_index (jobs, i));
  for (guint i = 0; i < ours->len; i++)
    fail_waiting (self, g_ptr_array_index (ours, i));
}
