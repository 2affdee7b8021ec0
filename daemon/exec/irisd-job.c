/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A job: one accepted item on its way through a scheduler and back to its gateway.
 *
 * The gateway makes it and queues it; the scheduler passes it to a worker or, at its shutdown, to
 * the destroy notify; both post it back to the gateway's mailbox exactly once; the gateway frees
 * it. So the gateway may hold a pointer to it all the time. Queueing and posting each release
 * earlier writes, and the other side acquires them.
 *
 * Only the state is changed by both sides. A worker moves QUEUED to RUNNING; a gateway that cancels
 * moves QUEUED to CANCELLED, or RUNNING to STOPPING. The swap that succeeds decides: after QUEUED
 * to CANCELLED the worker touches neither payload nor result, and the gateway may free the payload
 * at once. No thread reads the gateway's writes then, so acquire and release suffice for the swaps.
 *
 * A job that only begins on the worker (a command) belongs to the thread that runs it further,
 * until irisd_job_end() posts it. A message to its gateway before that says that it leaves the
 * worker, because from then on it takes no room at the gate.
 */
#include "daemon/exec/irisd-job.h"

#include "daemon/base/irisd-pool.h"
#include "daemon/exec/irisd-place-control.h"

#include <string.h>

static void run_on_worker (gpointer data);
static void run_abandoned (gpointer data);

static gsize
size_behind (gsize inline_size)
{
  return inline_size > 0 ? inline_size : sizeof (zmq_msg_t);
}

static void
keep_payload (IrisdJob *self, const IrisWireMessage *item, zmq_msg_t *body)
{
  zmq_msg_t *message = irisd_job_get_message (self);
  if (self->inline_size > 0)
    {
      memcpy (self->inline_payload, item->body.data, self->inline_size);
      return;
    }
  zmq_msg_init (message);
  if (body != NULL)
    zmq_msg_move (message, body);
  else if (item->body.size > 0)
    {
      if (zmq_msg_init_size (message, item->body.size) != 0)
        g_error ("cannot take the item: out of memory for a payload of %zu bytes", item->body.size);
      memcpy (zmq_msg_data (message), item->body.data, item->body.size);
    }
}

/* @item is a SUBMIT; the job comes back to @mailbox. @body is the message's fifth frame, taken if
 * the payload is large; NULL in a batch. */
IrisdJob *
irisd_job_new (IrisdCore *core,
               IrisdMailbox *mailbox,
               IrisdPeer *peer,
               const IrisdService *service,
               const IrisWireMessage *item,
               zmq_msg_t *body)
{
  gsize inline_size = item->body.size <= IRISD_INLINE_PAYLOAD ? item->body.size : 0;
  gsize behind = size_behind (inline_size);
  IrisdJob *self = irisd_pool_take (sizeof *self + behind);
  memset (self, 0, sizeof *self);
  iris_item_init (&self->item, run_on_worker, self, run_abandoned);
  iris_item_set_footprint (&self->item, item->footprint);
  self->keep_apart = item->keep_apart;
  irisd_item_word_init (&self->state, IRISD_ITEM_SUBMITTED);
  self->core = core;
  self->mailbox = mailbox;
  self->peer = irisd_peer_ref (peer);
  self->klass = (guint8) item->klass;
  self->lasting = item->klass != IRIS_WIRE_CLASS_VOLATILE;
  if (self->lasting)
    irisd_core_count_in_memory (core, service->for_workers, 1);
  self->service = service;
  self->owner = peer->owner;
  self->client = peer->client;
  memcpy (self->request_id, item->request_id, IRIS_WIRE_ID_SIZE);
  if (iris_wire_message_has (item, IRIS_WIRE_KEY_ARGS))
    self->args = iris_wire_args_dup (&item->args);
  if (iris_wire_message_has (item, IRIS_WIRE_KEY_PATH))
    self->path = iris_wire_string_dup (&item->path);
  if (iris_wire_message_has (item, IRIS_WIRE_KEY_NEAR_PATH))
    self->near_path = iris_wire_string_dup (&item->near_path);
  self->trace = irisd_trace_context_new (item);
  if (service->takes_options)
    self->options = irisd_command_options_new (item);
  atomic_init (&self->suspended, FALSE);
  atomic_init (&self->output_credit, self->options != NULL ? self->options->credit : 0);
  self->slot = -1;
  self->gate = self->left_gate = -1;
  self->charge = item->body.size;
  self->payload_size = item->body.size;
  self->inline_size = inline_size;
  keep_payload (self, item, body);
  zmq_msg_init (&self->result.body);
  self->result.exit_status = -1;
  self->result.stdout_length = -1;
  self->place = IRIS_PLACE_ANY;
  self->worker = -1;
  return self;
}

/* @number is its item's; 0 if no client knows it. Before it is queued. */
void
irisd_job_set_number (IrisdJob *self, guint64 number)
{
  self->id = number;
  if (self->trace != NULL)
    irisd_trace_context_name_span (self->trace, self->core->trace_salt, number);
}

/* It has ended, so its queue may be removed. */
void
irisd_job_leave_queue (IrisdJob *self)
{
  if (self->queue != NULL)
    irisd_named_queues_part (&self->core->queues, g_steal_pointer (&self->queue));
}

/* @self came back or was never queued. For its gateway. */
void
irisd_job_free (IrisdJob *self)
{
  irisd_job_leave_queue (self);
  if (self->service->forget != NULL)
    self->service->forget (self);
  if (self->lasting)
    irisd_core_count_in_memory (self->core, self->service->for_workers, -1);
  if (self->inline_size == 0)
    zmq_msg_close (irisd_job_get_message (self));
  zmq_msg_close (&self->result.body);
  g_clear_error (&self->result.error);
  irisd_schedule_free (self->schedule);
  g_free (self->permit);
  g_free (self->turn);
  g_strfreev (self->args);
  g_free (self->path);
  g_free (self->near_path);
  irisd_command_options_free (self->options);
  irisd_trace_context_free (self->trace);
  irisd_peer_unref (self->peer);
  irisd_pool_give (self, sizeof *self + size_behind (self->inline_size));
}

static void
set_place (IrisdJob *self, gint place)
{
  if (self->core->placed)
    iris_item_set_place (&self->item, place,
                         (self->strict ? IRIS_ITEM_STRICT : 0)
                             | (self->keep_apart ? IRIS_ITEM_KEEP_APART : 0));
}

/* @hinted: a hint chose @home. @strict: it must run there. */
void
irisd_job_set_home (IrisdJob *self, gint home, gboolean hinted, gboolean strict)
{
  self->home = home;
  self->strict = strict;
  self->apart = self->keep_apart && !hinted;
  self->accepted_ns = irisd_now_ns ();
  set_place (self, home);
}

/* Passes a job that is through its gate to the scheduler, which knows what is under way where. It
 * knows nothing of drained places, so while there is one the job goes to its home. */
void
irisd_job_hand_over (IrisdJob *self)
{
  if (self->apart && self->slot < 0 && !irisd_place_control_has_drained (self->core->place_control))
    set_place (self, IRIS_PLACE_ANY);
  iris_scheduler_queue_item (self->core->scheduler, &self->item);
}

/* @self is a job that waits; @place is its home if it is strict. */
void
irisd_job_move (IrisdJob *self, gint place)
{
  set_place (self, place);
}

/* Counts a result before this worker takes the next item of the same peer, so that the peer's
 * unacknowledged bytes exceed its limit by at most one result for each worker. @sign is 1, or -1 to
 * take it back. */
void
irisd_job_charge_result (IrisdJob *self, gint sign)
{
  gint64 size = sign * (gint64) zmq_msg_size (&self->result.body);
  self->charge += (guint64) size;
  if (!self->detached)
    irisd_peer_add_bytes (self->peer, size);
  irisd_core_add_bytes (self->core, size);
}

/* Returns whether it ended with an error, or as a command that was killed or exited with another
 * status than 0. */
gboolean
irisd_job_has_failed (IrisdJob *self)
{
  return self->result.error != NULL || self->result.exit_status > 0 || self->result.signal > 0;
}

/* Makes a job that came back from its run what it was before. */
static void
job_reset (IrisdJob *self)
{
  if (self->service->output_grows)
    irisd_job_charge_result (self, -1);
  g_clear_error (&self->result.error);
  zmq_msg_close (&self->result.body);
  self->result = (IrisdResult){ .exit_status = -1, .stdout_length = -1 };
  zmq_msg_init (&self->result.body);
  self->place = IRIS_PLACE_ANY;
  self->worker = -1;
  self->started_ns = self->left_ns = self->ended_ns = 0;
  if (self->service->renew != NULL)
    self->service->renew (self);
  set_place (self, self->home);
}

IrisdItemState
irisd_job_get_state (IrisdJob *self)
{
  return irisd_item_word_get (&self->state);
}

gboolean
irisd_job_is (IrisdJob *self, IrisdItemState state)
{
  return irisd_item_word_get (&self->state) == state;
}

/* Returns FALSE if the event came too late. */
gboolean
irisd_job_advance (IrisdJob *self, IrisdItemEvent event)
{
  const IrisdItemTransition *transition = irisd_item_word_advance (&self->state, event,
                                                                   self->lasting, self->id);
  if (transition == NULL)
    return FALSE;
  if (transition->action == IRISD_ACTION_RESET)
    job_reset (self);
  else if (transition->action == IRISD_ACTION_NAME_CANCELLED)
    irisd_job_fail_cancelled (self);
  guint told = irisd_item_state_get_told (transition->next);
  /* The entry of an item without a job is the journal's, which sets its state. */
  if (told == 0 || self->persistent == NULL || !irisd_item_state_has_job (transition->next))
    return TRUE;
  if (transition->action == IRISD_ACTION_NOTE_START)
    irisd_persistent_item_note_start (self->persistent, (IrisWireState) told);
  else
    irisd_persistent_item_set_state (self->persistent, (IrisWireState) told);
  return TRUE;
}

/* @self is a new job of an item that only the journal had. */
void
irisd_job_restore (IrisdJob *self)
{
  irisd_item_word_init (&self->state, irisd_item_word_get (&self->persistent->resting));
  irisd_item_word_init (&self->persistent->resting, IRISD_ITEM_STORED);
  irisd_job_advance (self, IRISD_EVENT_RESTORE);
}

/* If the job will not run, because its state was @changed, frees its payload and returns TRUE. */
static gboolean
lose_payload (IrisdJob *self, gboolean changed)
{
  if (!changed || !irisd_job_is (self, IRISD_ITEM_CANCELLED))
    return FALSE;
  /* The journal may be reading it, or it is part of the job. */
  if (self->persistent != NULL || self->inline_size > 0)
    return TRUE;
  zmq_msg_close (irisd_job_get_message (self));
  zmq_msg_init (irisd_job_get_message (self));
  return TRUE;
}

/* @self is a job that its gateway does not have in hand; only its gateway may call this. Returns
 * whether it had not begun to run; it will not, and its payload is freed. */
gboolean
irisd_job_abandon_queued (IrisdJob *self)
{
  return lose_payload (self, irisd_job_advance (self, IRISD_EVENT_ABANDON));
}

/* As irisd_job_abandon_queued(); a job that runs is asked to stop. */
gboolean
irisd_job_cancel (IrisdJob *self)
{
  gboolean changed = irisd_job_advance (self, IRISD_EVENT_CANCEL);
  if (changed && irisd_job_is (self, IRISD_ITEM_STOPPING))
    {
      irisd_running_wake (&self->core->running, self);
      if (self->service->wake != NULL)
        self->service->wake (self);
    }
  return lose_payload (self, changed);
}

/* Returns whether it is persistent, and no connection waits for its end. */
gboolean
irisd_job_is_orphan (IrisdJob *self)
{
  return self->lasting && (self->detached || irisd_peer_is_gone (self->peer));
}

/* Returns whether the job has to wait until its peer has acknowledged more, or until it is resumed.
 * The gateway checks again when the job is back, so the figure may be a moment old. */
static gboolean
must_wait (IrisdJob *self)
{
  if (irisd_job_is_suspended (self))
    return TRUE;
  return self->service->output_grows && !irisd_job_is_orphan (self)
         && irisd_peer_get_bytes (self->peer) > self->core->config->limits.in_flight_bytes;
}

static void
leave_slot (IrisdJob *self)
{
  if (self->service->leave != NULL)
    self->service->leave (self);
}

static void
account_for_run (IrisdJob *self)
{
  if (self->service->output_grows)
    irisd_job_charge_result (self, 1);
  leave_slot (self);
  irisd_core_count_run (self->core, self->place, self->result.bytes);
}

/* Takes a job whose service has run, with its result or error. Accounts for it, gives its slot to
 * the next job, which then sees the client's unacknowledged bytes, and posts it to its gateway. */
void
irisd_job_end (IrisdJob *self)
{
  account_for_run (self);
  irisd_mailbox_post (self->mailbox, &self->message);
}

static gint
worker_place (IrisdJob *self, IrisWorker *worker)
{
  return self->core->placed && worker != NULL ? iris_worker_get_place (worker) : self->home;
}

static void
run_service (IrisdJob *self, gint place)
{
  IrisWorker *worker = iris_worker_current ();
  self->worker = worker != NULL ? (gint) iris_worker_get_index (worker) : -1;
  self->place = self->slot >= 0 ? self->slot : place;
  self->started_ns = irisd_now_ns ();
  if (self->schedule != NULL && self->schedule->time_to_run_us > 0)
    irisd_mailbox_post (self->mailbox, &self->schedule->started);
  if (self->service->start == NULL)
    {
      irisd_core_note_runs (self->core, self->worker, TRUE);
      iris_worker_name_item (self->service->name, self->id);
      self->service->run (self);
      irisd_core_note_runs (self->core, self->worker, FALSE);
    }
  else if (self->service->start (self))
    return; /* the thread that runs it further may have ended it */
  self->ended_ns = irisd_now_ns ();
  irisd_job_end (self);
}

/* From now on @self, which runs, only waits beside the workers: its gateway gives its room at the
 * gate to others. The worker may go on with it. The job itself is posted after the message that is
 * posted here. */
void
irisd_job_leave_worker (IrisdJob *self)
{
  if (self->left_ns != 0)
    return;
  self->left_ns = irisd_now_ns ();
  self->beside.kind = IRISD_MESSAGE_LEFT;
  irisd_mailbox_post (self->mailbox, &self->beside);
}

static void
give_back (IrisdJob *self)
{
  leave_slot (self);
  irisd_mailbox_post (self->mailbox, &self->message);
}

/* An irisd that drains leaves persistent items to the next one. */
static gboolean
may_not_begin (IrisdJob *self)
{
  IrisdPhase phase = irisd_core_get_phase (self->core);
  return phase == IRISD_PHASE_STOPPING || (self->lasting && phase != IRISD_PHASE_SERVING);
}

/* Runs a queued job in the calling thread, unless it was cancelled or has to wait, and posts it to
 * its gateway. A thread that is no worker runs it on behalf of the job's home. */
void
irisd_job_run_here (IrisdJob *self)
{
  gint place = worker_place (self, iris_worker_current ());
  if (must_wait (self))
    {
      set_place (self, self->home);
      irisd_job_advance (self, IRISD_EVENT_HOLD);
      give_back (self);
    }
  else if (!self->lasting && irisd_peer_is_gone (self->peer))
    {
      if (irisd_job_advance (self, IRISD_EVENT_DROP))
        irisd_job_fail (self, IRIS_WIRE_ERROR_CANCELLED,
                        "the item was not run: its client has gone");
      give_back (self);
    }
  else if (may_not_begin (self))
    run_abandoned (self);
  else if (irisd_job_advance (self, IRISD_EVENT_START))
    run_service (self, place);
  else
    give_back (self);
}

/* Runs a brief job, which only its gateway knows, in the gateway's thread. It is not posted. */
void
irisd_job_run_at_once (IrisdJob *self)
{
  irisd_job_advance (self, IRISD_EVENT_RUN_AT_ONCE);
  self->place = self->home;
  self->started_ns = irisd_now_ns ();
  self->service->run (self);
  self->ended_ns = irisd_now_ns ();
  account_for_run (self);
}

static void
run_on_worker (gpointer data)
{
  irisd_job_run_here (data);
}

/* Takes a queued job that will not begin, because irisd ends. For a scheduler that drops items,
 * and for workers. */
static void
run_abandoned (gpointer data)
{
  IrisdJob *self = data;
  if (irisd_job_advance (self, IRISD_EVENT_DROP))
    irisd_job_fail (self, IRIS_WIRE_ERROR_SHUTTING_DOWN,
                    "irisd ended before the item had begun: send it again when irisd is back");
  give_back (self);
}

/* @self is queued and will not begin, because its deadline has passed. */
void
irisd_job_fail_late (IrisdJob *self)
{
  irisd_job_fail (
      self, IRIS_WIRE_ERROR_DEADLINE_PASSED,
      "the item was not run: its deadline (deadline-ms) has passed; send it again with a later "
      "one, or with none");
}

void
irisd_job_fail_cancelled (IrisdJob *self)
{
  irisd_job_fail (self, IRIS_WIRE_ERROR_CANCELLED, "the item was cancelled before it ran");
}

/* Returns its payload, borrowed; of a job for worker processes only before it is queued. */
IrisWireFrame
irisd_job_get_payload (IrisdJob *self)
{
  if (self->inline_size > 0)
    return (IrisWireFrame){ self->inline_payload, self->inline_size };
  zmq_msg_t *message = self->service->get_payload != NULL ? self->service->get_payload (self)
                                                          : irisd_job_get_message (self);
  return (IrisWireFrame){ zmq_msg_data (message), zmq_msg_size (message) };
}

/* Returns whether a running job was cancelled or irisd stops. Long work calls this from time to
 * time. */
gboolean
irisd_job_must_stop (IrisdJob *self)
{
  return irisd_job_is (self, IRISD_ITEM_STOPPING)
         || irisd_core_get_phase (self->core) == IRISD_PHASE_STOPPING;
}

void
irisd_job_fail (IrisdJob *self, IrisWireError code, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_clear_error (&self->result.error);
  self->result.error = g_error_new_valist (IRIS_WIRE_ERROR, code, format, args);
  va_end (args);
}

void
irisd_job_fail_stopped (IrisdJob *self)
{
  if (irisd_core_get_phase (self->core) == IRISD_PHASE_STOPPING)
    irisd_job_fail (
        self, IRIS_WIRE_ERROR_SHUTTING_DOWN,
        "irisd was stopped before the item had ended; send it again when irisd is back");
  else
    irisd_job_fail (self, IRIS_WIRE_ERROR_CANCELLED, "the item was cancelled while it ran");
}

/* Takes @data, memory of g_malloc(); @content_type is a constant. */
void
irisd_job_take_result (IrisdJob *self, gpointer data, gsize size, const char *content_type)
{
  zmq_msg_close (&self->result.body);
  if (zmq_msg_init_data (&self->result.body, data, size, irisd_reply_free_data, NULL) != 0)
    g_error ("cannot hold the result: out of memory");
  self->result.content_type = content_type;
}

/* Makes the payload the result, without a copy if it is large. */
void
irisd_job_return_payload (IrisdJob *self)
{
  if (self->inline_size == 0)
    {
      zmq_msg_move (&self->result.body, irisd_job_get_message (self));
      return;
    }
  zmq_msg_close (&self->result.body);
  if (zmq_msg_init_size (&self->result.body, self->inline_size) != 0)
    g_error ("cannot hold the result: out of memory");
  memcpy (zmq_msg_data (&self->result.body), self->inline_payload, self->inline_size);
}
