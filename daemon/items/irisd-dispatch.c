/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's jobs on their way to the scheduler, and back to it when they are tried again.
 *
 * An accepted job passes five stages, each of which may be empty: its dependencies (in a graph that
 * all gateways share, under its lock), its time (this gateway's own), a permit of its client and
 * service, a slot if it is a command, and the gate of its place (which all gateways share, each
 * under its lock). A plain job has only the gate. Then the scheduler has it. A persistent item that
 * waits for its time or for the gate may be spilled and have no job (irisd-spilled.c). A job that
 * failed and may be tried again begins anew, with a pause for its time.
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
#include "daemon/exec/command/irisd-command-slots.h"
#include "daemon/exec/irisd-place-control.h"
#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/gateway/irisd-gateway-private.h"
#include "daemon/items/spill/irisd-spilled.h"

/* Entries that are taken from a gate at once. */
#define NEXT_AT_ONCE 64

/* The time that a run of a service takes until one was measured. */
#define UNKNOWN_RUN_NS (1000 * 1000)

/* A run up to this length is shorter than a message about it to another thread. */
#define BRIEF_NS 2000

/* Bytes of payload that count as one unit of cost. */
#define BYTES_PER_COST (64 * 1024)

/* The weight of a new run in a service's typical time: one in so many. */
#define TYPICAL_WEIGHT 8

static guint64
typical_run_ns (IrisdGateway *self, const IrisdService *service)
{
  gpointer known = g_hash_table_lookup (self->typical_ns, service);
  return known != NULL ? GPOINTER_TO_SIZE (known) : UNKNOWN_RUN_NS;
}

static guint32
cost_of (IrisdGateway *self, const IrisdJob *job)
{
  guint64 cost = 1 + typical_run_ns (self, job->service) / IRISD_COST_NS
                 + job->charge / BYTES_PER_COST;
  return (guint32) MIN (cost, IRISD_FAIR_MOST_COST);
}

/* Returns twice the number of jobs like @job that its gate lets through at once. */
guint64
irisd_dispatch_get_window (IrisdGateway *self, const IrisdJob *job)
{
  return 2 * self->core->gates[job->home].most_cost / cost_of (self, job);
}

/* Learns the typical run of a service. A run that took much longer than those before it may only
 * have been kept off its processor, so it counts as twice as long at most: the figure follows a
 * service that does get slower within some dozens of runs. */
static void
learn (IrisdGateway *self, const IrisdJob *job)
{
  if (!irisd_job_has_run (job))
    return;
  gint64 before = (gint64) typical_run_ns (self, job->service);
  gint64 until_ns = job->left_ns != 0 ? job->left_ns : job->ended_ns;
  gint64 run_ns = MIN (until_ns - job->started_ns, 2 * before + TYPICAL_WEIGHT);
  gint64 now = before + (run_ns - before) / TYPICAL_WEIGHT;
  g_hash_table_insert (self->typical_ns, (gpointer) job->service,
                       GSIZE_TO_POINTER ((gsize) MAX (now, 1)));
}

/* Returns whether a job has a slot, or needs none; otherwise a message comes when it has. */
static gboolean
take_slot (IrisdGateway *self, IrisdJob *job)
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
enter_gate (IrisdGateway *self, IrisdJob *job)
{
  /* Work of worker processes does not occupy a place. */
  if (job->leased_item != NULL)
    {
      irisd_job_advance (job, IRISD_EVENT_OFFER);
      irisd_worker_processes_queue (self->core->worker_processes, job,
                                    irisd_ownership_get_space (self, job->owner));
      return;
    }
  if (!take_slot (self, job))
    return;
  job->fair.cost = cost_of (self, job);
  irisd_job_advance (job, IRISD_EVENT_QUEUE);
  job->gate = job->slot >= 0 ? job->slot : job->home;
  /* Afterwards the job may belong to another thread. */
  gint gate = job->gate;
  gint64 since_us = job->since_us;
  job->since_us = 0;
  if (irisd_gate_enter (&self->core->gates[gate], &job->fair, job->peer->client, since_us))
    {
      if (job->brief && typical_run_ns (self, job->service) <= BRIEF_NS)
        irisd_job_run_here (job);
      else
        irisd_job_hand_over (job);
    }
  irisd_place_control_wake (self->core->place_control, gate);
}

/* Runs a new job, which no other thread knows, in this thread if it has nothing to wait for, its
 * service is brief, and its gate would let it through at once. Returns whether it ran. */
gboolean
irisd_dispatch_run_at_once (IrisdGateway *self, IrisdJob *job)
{
  if (!job->brief || job->schedule != NULL || job->service->output_grows
      || self->core->concurrency_limit.any
      || irisd_core_get_phase (self->core) != IRISD_PHASE_SERVING
      || typical_run_ns (self, job->service) > BRIEF_NS)
    return FALSE;
  job->fair.cost = cost_of (self, job);
  if (!irisd_gate_is_open (&self->core->gates[job->home], &job->fair))
    return FALSE;
  irisd_job_run_at_once (job);
  learn (self, job);
  return TRUE;
}

/* Returns whether the item was spilled, which frees the job. */
static gboolean
wait_for_time (IrisdGateway *self, IrisdJob *job)
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
  irisd_timers_add (&self->timers, &job->schedule->timer, clock, due_us);
  return FALSE;
}

/* Returns whether jobs may not wait for their turn any longer: in a paused irisd that drains they
 * would wait for ever. */
static gboolean
gives_no_turns (IrisdGateway *self, IrisdPhase phase)
{
  return phase >= IRISD_PHASE_STOPPING
         || (phase == IRISD_PHASE_DRAINING
             && irisd_place_control_is_paused (self->core->place_control));
}

/* A draining irisd does not wait for a clock. */
static gboolean
is_completion (IrisdGateway *self, IrisdPhase phase)
{
  return phase != IRISD_PHASE_SERVING;
}

/* Fails a job that its gateway has in hand. */
static void
fail_waiting (IrisdGateway *self, IrisdJob *job)
{
  irisd_job_fail (job, IRIS_WIRE_ERROR_SHUTTING_DOWN,
                  "irisd ended while the item waited: send it again when irisd is back");
  irisd_completion_end_job (self, job);
}

/* Takes a job without open dependencies, and sends it on its way: to wait for its time, to its
 * gate, to the scheduler. */
void
irisd_dispatch_advance (IrisdGateway *self, IrisdJob *job)
{
  IrisdPhase phase = irisd_gateway_current_phase (self);
  if (gives_no_turns (self, phase))
    {
      fail_waiting (self, job);
      return;
    }
  if (irisd_deadline_is_late (job))
    {
      irisd_job_fail_late (job);
      irisd_completion_end_job (self, job);
      return;
    }
  if (irisd_spill_job (self, job) || wait_for_time (self, job))
    return;
  /* A draining irisd does not wait for a clock. */
  if (phase != IRISD_PHASE_SERVING && irisd_job_is (job, IRISD_ITEM_DELAYED)
      && irisd_dispatch_withdraw (self, job))
    fail_waiting (self, job);
}

/* Takes a job that has got its permit or slot and could not be withdrawn any more. Sends it to its
 * gate, unless it was cancelled or given up meanwhile. */
void
irisd_dispatch_go_on (IrisdGateway *self, IrisdJob *job)
{
  const gboolean wanted = irisd_job_advance (job, IRISD_EVENT_PASS);
  if (wanted && !gives_no_turns (self, irisd_gateway_current_phase (self)))
    {
      enter_gate (self, job);
      return;
    }
  irisd_command_slots_leave (self->core->slots, job);
  if (wanted)
    fail_waiting (self, job);
  else
    irisd_completion_take_back (self, job);
}

static gboolean
leave_gate (IrisdGateway *self, IrisdJob *job)
{
  if (!irisd_gate_withdraw (&self->core->gates[job->gate], &job->fair))
    return FALSE;
  irisd_command_slots_leave (self->core->slots, job);
  return TRUE;
}

static gboolean
leave_slots (IrisdGateway *self, IrisdJob *job)
{
  return irisd_command_slots_withdraw (self->core->slots, job);
}

static gboolean
leave_times (IrisdGateway *self, IrisdJob *job)
{
  return irisd_timers_remove (&self->timers, &job->schedule->timer);
}

static gboolean
leave_pause (IrisdGateway *self, IrisdJob *job)
{
  return TRUE;
}

static gboolean
leave_leases (IrisdGateway *self, IrisdJob *job)
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
  gboolean (*leave) (IrisdGateway *self, IrisdJob *job);
  gboolean (*ends) (IrisdGateway *self, IrisdPhase phase);
} stations[IRISD_N_ITEM_STATES] = {
  [IRISD_ITEM_DEPENDENT] = { irisd_dependencies_withdraw, gives_no_turns },
  [IRISD_ITEM_DELAYED] = { leave_times, is_completion },
  [IRISD_ITEM_PAUSED] = { leave_pause, gives_no_turns },
  [IRISD_ITEM_BLOCKED] = { irisd_gateway_unblock },
  [IRISD_ITEM_PERMIT] = { irisd_permit_withdraw, gives_no_turns },
  [IRISD_ITEM_SLOT] = { leave_slots, gives_no_turns },
  [IRISD_ITEM_QUEUED] = { leave_gate, gives_no_turns },
  [IRISD_ITEM_OFFERED] = { leave_leases },
};

/* Returns whether the job waited, and belongs to the caller now; otherwise it will come back. */
gboolean
irisd_dispatch_withdraw (IrisdGateway *self, IrisdJob *job)
{
  IrisdItemState state = irisd_job_get_state (job);
  if (stations[state].leave == NULL || !stations[state].leave (self, job))
    return FALSE;
  return irisd_job_advance (job, IRISD_EVENT_WITHDRAW);
}

/* The gate learns of it with the others of this turn. */
static void
give_room (IrisdGateway *self, IrisdJob *job)
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
irisd_dispatch_note_left (IrisdGateway *self, IrisdJob *job)
{
  job->left_gate = job->gate;
  atomic_fetch_add_explicit (&self->core->counters[job->gate].beside, 1, memory_order_relaxed);
  give_room (self, job);
}

static void
note_end_beside (IrisdGateway *self, IrisdJob *job)
{
  if (job->left_gate >= 0)
    atomic_fetch_sub_explicit (&self->core->counters[job->left_gate].beside, 1,
                               memory_order_relaxed);
  job->left_gate = -1;
}

/* The scheduler gave the job back: returns what it occupied, and learns from its run. */
void
irisd_dispatch_note_return (IrisdGateway *self, IrisdJob *job)
{
  irisd_placement_note_place (self, job);
  irisd_permit_release (self, job);
  irisd_spilled_flow_leave (self, job);
  note_end_beside (self, job);
  give_room (self, job);
  if (job->leased_item == NULL)
    learn (self, job);
  if (job->schedule != NULL)
    irisd_timers_remove (&self->timers, &job->schedule->timer);
}

/* Sends a job that waits for its time on its way, as if its time had come. */
void
irisd_dispatch_kick_delayed (IrisdGateway *self, IrisdJob *job)
{
  if (!irisd_dispatch_withdraw (self, job))
    return;
  job->schedule->delayed = job->schedule->timed = FALSE;
  irisd_dispatch_advance (self, job);
}

static void
fill_room (IrisdGateway *self, IrisdGate *gate)
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
irisd_dispatch_fill_gate (IrisdGateway *self, gint place)
{
  fill_room (self, &self->core->gates[place]);
}

/* Returns the shares of all jobs that came back to their gates, and lets others through. A gateway
 * that stops lets none through: each gateway withdraws its own jobs from the gates. */
void
irisd_dispatch_tell_gates (IrisdGateway *self)
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
      if (irisd_gateway_current_phase (self) < IRISD_PHASE_STOPPING)
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

static IrisdJob *
job_of_waiter (IrisdTimer *timer)
{
  return ((IrisdSchedule *) ((char *) timer - G_STRUCT_OFFSET (IrisdSchedule, timer)))->job;
}

/* Sends jobs on whose time has come, and stops those that have run too long. */
void
irisd_dispatch_wake_due (IrisdGateway *self)
{
  irisd_deadline_end_late (self);
  if (irisd_timers_get_count (&self->timers) == 0)
    return;
  IrisdTimes now = irisd_times_now ();
  IrisdTimer *timer;
  while ((timer = irisd_timers_pop_due (&self->timers, &now)) != NULL)
    {
      IrisdJob *job = job_of_waiter (timer);
      if (!irisd_job_is (job, IRISD_ITEM_DELAYED))
        stop_overrun (job);
      else if (irisd_job_advance (job, IRISD_EVENT_PASS))
        irisd_dispatch_advance (self, job);
    }
}

/* Returns the monotonic time of the next job that is due; 0 if none waits. */
gint64
irisd_dispatch_get_due_us (IrisdGateway *self)
{
  if (irisd_timers_get_count (&self->timers) + irisd_timers_get_count (&self->spilled)
          + irisd_timers_get_count (&self->unread) + irisd_timers_get_count (&self->deadlines)
          + self->half_empty_flows.length
      == 0)
    return 0;
  IrisdTimes now = irisd_times_now ();
  gint64 delay = irisd_timers_get_delay (&self->timers, &now);
  gint64 call = irisd_reload_get_delay (self, &now);
  gint64 deadline = irisd_timers_get_delay (&self->deadlines, &now);
  if (delay < 0 || (call >= 0 && call < delay))
    delay = call;
  if (delay < 0 || (deadline >= 0 && deadline < delay))
    delay = deadline;
  return delay >= 0 ? now.us[IRISD_CLOCK_STEADY] + delay : 0;
}

/* @message says that a job with a time to run has begun. The job itself comes behind this message:
 * its worker posts both, and messages keep their order. */
void
irisd_dispatch_limit_run (IrisdGateway *self, IrisdMessage *message)
{
  IrisdSchedule *schedule = (IrisdSchedule *) ((char *) message
                                               - G_STRUCT_OFFSET (IrisdSchedule, started));
  IrisdJob *job = schedule->job;
  irisd_timers_add (&self->timers, &schedule->timer, IRISD_CLOCK_STEADY,
                    job->started_ns / 1000 + (gint64) schedule->time_to_run_us);
}

/* Returns whether a run failed in a way that another run may mend. */
static gboolean
deserves_another (IrisdGateway *self, IrisdJob *job)
{
  const IrisdSchedule *schedule = job->schedule;
  if (schedule->given_up || schedule->attempts > schedule->retries || irisd_deadline_is_late (job)
      || (!job->lasting && irisd_peer_is_gone (job->peer))
      || irisd_gateway_current_phase (self) != IRISD_PHASE_SERVING)
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
note_retry (IrisdGateway *self, IrisdJob *job, guint64 pause_us)
{
  if (job->persistent == NULL)
    return;
  IrisdJournalRequest *request = irisd_journal_request_new (IRISD_JOURNAL_REQUEST_RETRY,
                                                            &self->mailbox);
  request->persistent = job->persistent;
  request->count = job->schedule->attempts;
  request->due_ms = irisd_unix_ms () + pause_us / 1000;
  irisd_journal_post (self->core->journal, request);
}

/* Returns whether the job failed and will be tried again; then it is on its way. */
gboolean
irisd_dispatch_try_again (IrisdGateway *self, IrisdJob *job)
{
  IrisdSchedule *schedule = job->schedule;
  if (schedule == NULL || !irisd_job_has_run (job))
    return FALSE;
  schedule->attempts++;
  name_overrun (job);
  if (!deserves_another (self, job))
    return FALSE;
  irisd_job_advance (job, IRISD_EVENT_RETRY);
  guint64 pause_us = irisd_timers_backoff_us (schedule->backoff_us,
                                              self->core->config->limits.max_backoff_ms * 1000,
                                              schedule->attempts, g_random_double ());
  schedule->delayed = TRUE;
  schedule->delay_due_us = g_get_monotonic_time () + (gint64) pause_us;
  note_retry (self, job, pause_us);
  irisd_dispatch_advance (self, job);
  return TRUE;
}

static void
collect_if_waiting (IrisdGateway *self, GPtrArray *jobs, IrisdJob *job, IrisdPhase phase)
{
  IrisdItemState state = irisd_job_get_state (job);
  if (stations[state].ends != NULL && stations[state].ends (self, phase))
    g_ptr_array_add (jobs, job);
}

/* Collects the jobs of all peers, and those that outlived theirs, that the scheduler does not have
 * and the phase does not let wait. */
static GPtrArray *
collect_waiting (IrisdGateway *self, IrisdPhase phase)
{
  GPtrArray *jobs = g_ptr_array_new ();
  for (GList *link = self->peers.by_age.head; link != NULL; link = link->next)
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
irisd_dispatch_end_waiting (IrisdGateway *self)
{
  IrisdPhase phase = irisd_gateway_current_phase (self);
  if (phase == self->waited_phase)
    return;
  self->waited_phase = phase;
  if (self->place == IRISD_FRONT)
    irisd_dependencies_give_up_buried (self);
  irisd_spilled_put_off_all (self);
  irisd_spilled_flows_put_off (self, gives_no_turns (self, phase));
  g_autoptr (GPtrArray) jobs = collect_waiting (self, phase);
  g_autoptr (GPtrArray) ours = g_ptr_array_new ();
  /* All are taken out before the first ends: its end may end its peer, which frees other jobs. */
  for (guint i = 0; i < jobs->len; i++)
    if (irisd_dispatch_withdraw (self, g_ptr_array_index (jobs, i)))
      g_ptr_array_add (ours, g_ptr_array_index (jobs, i));
  for (guint i = 0; i < ours->len; i++)
    fail_waiting (self, g_ptr_array_index (ours, i));
}
