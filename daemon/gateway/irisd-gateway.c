/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway: the thread that serves one ROUTER socket, of a place or of the front.
 *
 * The thread owns the socket, the peers and everything that irisd-gateway-private.h lists; others
 * only post jobs to its mailbox, wake it, and read its counters. It sleeps in one poll on the
 * socket and the mailbox's descriptor, without a timeout unless an outbox waits or irisd ends. It
 * always reads: a client is bounded by its credit, never by an unread socket.
 *
 * The thread acts upon the phase that it has published in `phase`, not on the core's: once every
 * gateway has published STOPPING, the main thread knows that no gateway queues an item any more and
 * that the scheduler can be shut down. The publication releases the gateway's last queueing, and
 * the main thread's load acquires it.
 */
#include "daemon/exec/command/irisd-command-output.h"
#include "daemon/gateway/irisd-gateway-private.h"
#include "daemon/gateway/irisd-worker-session.h"
#include "daemon/items/irisd-bury.h"
#include "daemon/items/spill/irisd-spilled.h"
#include "daemon/net/irisd-socket.h"

#include <errno.h>
#include <sched.h>

/* Messages of a turn; most are no items (IRISD_ITEMS_PER_TURN). */
#define MESSAGES_PER_TURN 64

/* After waiting for the processor for some time the gateway works for at least this part of that
 * time before it yields again. */
#define PART_OF_AWAY 4

IrisdGateway *
irisd_gateway_new (IrisdCore *core, gint place, void *socket, GError **error)
{
  IrisdGateway *self = g_aligned_alloc0 (1, sizeof *self, 64);
  if (!irisd_mailbox_init (&self->mailbox, error))
    {
      g_aligned_free (self);
      return NULL;
    }
  self->core = core;
  self->place = place;
  self->socket = socket;
  iris_wire_encoder_init (&self->encoder, &core->wire_limits);
  irisd_peers_init (&self->peers);
  g_queue_init (&self->receive_backlog);
  g_queue_init (&self->backlog);
  g_queue_init (&self->worker_processes);
  self->orphans = g_hash_table_new (NULL, NULL);
  self->by_number = g_hash_table_new (g_int64_hash, g_int64_equal);
  self->ended = g_ptr_array_new ();
  irisd_bundles_init (self);
  irisd_timers_init (&self->timers);
  irisd_timers_init (&self->spilled);
  irisd_timers_init (&self->unread);
  irisd_timers_init (&self->deadlines);
  irisd_spilled_flows_init (self);
  self->reloads = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  self->gate_returns = g_new0 (IrisdGateReturns, core->n_places);
  self->typical_ns = g_hash_table_new (NULL, NULL);
  return self;
}

/* Messages left at the end of irisd, which will not be answered. */
static void
drop_messages (IrisdGateway *self)
{
  IrisdMessage *message = irisd_mailbox_take (&self->mailbox);
  while (message != NULL)
    {
      IrisdMessage *next = message->next;
      if (message->kind == IRISD_MESSAGE_BROADCAST)
        {
          IrisdBroadcast *broadcast = irisd_broadcast_from_message (message);
          broadcast->klass->free (broadcast);
        }
      else if (message->kind == IRISD_MESSAGE_WORKER_EVENT)
        irisd_worker_event_free (irisd_worker_event_from_message (message));
      else if (message->kind == IRISD_MESSAGE_JOURNAL_REQUEST)
        irisd_journal_request_free (irisd_journal_request_from_message (message));
      message = next;
    }
}

/* @self was joined or never started; its socket is closed. */
void
irisd_gateway_free (IrisdGateway *self)
{
  if (self == NULL)
    return;
  drop_messages (self);
  irisd_spilled_forget_all (self);
  g_clear_pointer (&self->journal_peer, irisd_peer_unref);
  irisd_mailbox_clear (&self->mailbox);
  iris_wire_encoder_clear (&self->encoder);
  irisd_bundles_clear (self);
  irisd_peers_clear (&self->peers);
  irisd_receive_backlog_clear (self);
  g_hash_table_unref (self->orphans);
  g_hash_table_unref (self->by_number);
  g_ptr_array_unref (self->ended);
  irisd_timers_clear (&self->timers);
  irisd_timers_clear (&self->deadlines);
  g_hash_table_unref (self->typical_ns);
  g_free (self->gate_returns);
  g_aligned_free (self);
}

static guint
receive_frames (IrisdGateway *self, zmq_msg_t *frames)
{
  guint n = 0;
  gboolean more = TRUE;
  while (more)
    {
      zmq_msg_t spare;
      zmq_msg_t *frame = n <= IRIS_WIRE_N_FRAMES ? &frames[n] : &spare;
      zmq_msg_init (frame);
      /* The frames of a message are delivered together, so this does not wait. */
      while (zmq_msg_recv (frame, self->socket, 0) < 0 && errno == EINTR)
        ;
      more = zmq_msg_more (frame);
      if (frame == &spare)
        zmq_msg_close (frame);
      else
        n++;
    }
  return n;
}

/* Returns FALSE when there is nothing to receive. */
static gboolean
receive_message (IrisdGateway *self)
{
  zmq_msg_t route;
  zmq_msg_init (&route);
  if (zmq_msg_recv (&route, self->socket, ZMQ_DONTWAIT) < 0)
    {
      gboolean again = errno == EINTR;
      zmq_msg_close (&route);
      return again;
    }

  zmq_msg_t frames[IRIS_WIRE_N_FRAMES + 1];
  guint n = zmq_msg_more (&route) ? receive_frames (self, frames) : 0;
  irisd_receive_backlog_handle_strays (self);
  irisd_receive_handle (self, &route, frames, n);
  for (guint i = 0; i < n; i++)
    zmq_msg_close (&frames[i]);
  zmq_msg_close (&route);
  return TRUE;
}

/* While one connection has messages, ZeroMQ checks only at every hundredth frame whether another
 * one has some; behind batches that is thousands of items later. A request for events makes it
 * check at once, as it does when it has none. */
static void
event_others (IrisdGateway *self)
{
  int events;
  size_t size = sizeof events;
  zmq_getsockopt (self->socket, ZMQ_EVENTS, &events, &size);
}

static gboolean
receive_some (IrisdGateway *self)
{
  guint n = 0;
  self->turn_items = 0;
  self->turn++;
  if (self->more_to_receive)
    event_others (self);
  self->more_to_receive = TRUE;
  while (self->more_to_receive && n < MESSAGES_PER_TURN && !irisd_gateway_turn_is_over (self))
    {
      self->more_to_receive = receive_message (self);
      n += self->more_to_receive;
    }
  return n > 0;
}

static void
take_message (IrisdGateway *self, IrisdMessage *message)
{
  switch (message->kind)
    {
    case IRISD_MESSAGE_JOB:
      irisd_dispatch_note_return (self, irisd_job_from_message (message));
      irisd_completion_take_back (self, irisd_job_from_message (message));
      break;
    case IRISD_MESSAGE_BROADCAST:
      irisd_broadcast_run (self, irisd_broadcast_from_message (message));
      break;
    case IRISD_MESSAGE_STARTED:
      irisd_dispatch_limit_run (self, message);
      break;
    case IRISD_MESSAGE_DECIDED:
      irisd_dependencies_take_decision (self, message);
      break;
    case IRISD_MESSAGE_OUTPUT:
      irisd_output_send (self, irisd_output_from_message (message));
      break;
    case IRISD_MESSAGE_WORKER_EVENT:
      irisd_worker_session_take_event (self, irisd_worker_event_from_message (message));
      break;
    case IRISD_MESSAGE_JOURNAL_REQUEST:
      irisd_persistent_take_request (self, irisd_journal_request_from_message (message));
      break;
    case IRISD_MESSAGE_PERMIT:
      irisd_dispatch_go_on (self, irisd_permit_get_job (message));
      break;
    case IRISD_MESSAGE_SLOT:
      irisd_dispatch_go_on (self, irisd_job_from_beside (message));
      break;
    case IRISD_MESSAGE_LEFT:
      irisd_dispatch_note_left (self, irisd_job_from_beside (message));
      break;
    }
}

static gboolean
take_messages (IrisdGateway *self)
{
  IrisdMessage *message = irisd_mailbox_take (&self->mailbox);
  gboolean any = message != NULL;
  while (message != NULL)
    {
      IrisdMessage *next = message->next;
      take_message (self, message);
      message = next;
    }
  irisd_dispatch_tell_gates (self);
  return any;
}

/* Messages just received are answered before that. */
static gboolean
go_on_in_line (IrisdGateway *self)
{
  irisd_receive_backlog_handle_strays (self);
  if (self->receive_backlog.length == 0)
    return FALSE;
  take_messages (self);
  return irisd_receive_backlog_go_on (self);
}

static gint64
earlier (gint64 a, gint64 b)
{
  return a == 0 || b < a ? b : a;
}

/* When the worker processes need a check; 0 for never. The front gateway keeps the time of the
 * leases of all gateways. */
static gint64
outside_deadline (IrisdGateway *self)
{
  gint64 until = irisd_worker_watch_get_deadline (self);
  if (self->place == IRISD_FRONT)
    until = MIN (until, irisd_worker_processes_get_alarm (self->core->worker_processes));
  return until != G_MAXINT64 ? until : 0;
}

/* The time until which the thread may sleep; -1 for no limit. */
static long
time_left_ms (IrisdGateway *self)
{
  IrisdPhase phase = irisd_gateway_get_phase (self);
  gint64 until = outside_deadline (self);
  if (self->backlog.length > 0)
    until = earlier (until, self->retry_at_us);
  if (phase == IRISD_PHASE_FLUSHING || (phase == IRISD_PHASE_DRAINING && self->n_parked > 0))
    until = earlier (until, irisd_core_get_deadline (self->core));
  gint64 due_us = irisd_dispatch_get_due_us (self);
  if (due_us > 0)
    until = earlier (until, due_us);
  if (until == 0)
    return -1;
  gint64 left = until - g_get_monotonic_time ();
  return left <= 0 ? 0 : (long) (left / 1000 + 1);
}

static void
sleep_until_something (IrisdGateway *self)
{
  if (!irisd_mailbox_prepare_sleep (&self->mailbox))
    return;
  zmq_pollitem_t items[] = {
    { .socket = self->socket, .events = ZMQ_POLLIN },
    { .fd = self->mailbox.fd, .events = ZMQ_POLLIN },
  };
  int n = zmq_poll (items, G_N_ELEMENTS (items), time_left_ms (self));
  irisd_mailbox_finish_sleep (&self->mailbox, n > 0 && items[1].revents != 0);
}

/* Publishes the core's phase, and wakes the main thread. */
static IrisdPhase
follow_phase (IrisdGateway *self)
{
  IrisdPhase phase = irisd_core_get_phase (self->core);
  if (phase != irisd_gateway_get_phase (self))
    {
      if (irisd_gateway_get_phase (self) == IRISD_PHASE_SERVING)
        irisd_worker_session_end_all (self);
      atomic_store_explicit (&self->phase, phase, memory_order_release);
      irisd_core_wake_main (self->core);
    }
  return phase;
}

static gboolean
is_done (IrisdGateway *self, IrisdPhase phase)
{
  return phase == IRISD_PHASE_FLUSHING
         && ((self->backlog.length == 0 && self->receive_backlog.length == 0)
             || g_get_monotonic_time () >= irisd_core_get_deadline (self->core));
}

static void
check_outside (IrisdGateway *self, gboolean heard_all)
{
  irisd_worker_watch_check (self, heard_all);
  gint64 alarm = self->place == IRISD_FRONT
                     ? irisd_worker_processes_get_alarm (self->core->worker_processes)
                     : G_MAXINT64;
  if (alarm != G_MAXINT64 && g_get_monotonic_time () >= alarm)
    irisd_worker_processes_expire (self->core->worker_processes);
}

/* A client that sends few items waits for threads with little work: ZeroMQ's and its own. A busy
 * gateway would keep its processor until its slice ends, which takes milliseconds, and systems do
 * not always move a thread that waits for a busy processor to an idle one. So after each turn of a
 * flood in which another client has a part the gateway yields. If the other threads take long,
 * because they compute, the gateway does not yield again before it has had its share. */
static void
give_way (IrisdGateway *self)
{
  if (self->light_turns == 0 || !(self->more_to_receive || self->receive_backlog.length > 0))
    return;
  self->light_turns--;
  gint64 before = g_get_monotonic_time ();
  if (before < self->give_again_us)
    return;
  sched_yield ();
  gint64 now = g_get_monotonic_time ();
  self->give_again_us = now + (now - before) / PART_OF_AWAY;
}

static void
serve (IrisdGateway *self)
{
  for (;;)
    {
      IrisdPhase phase = follow_phase (self);
      gboolean any = take_messages (self);
      gboolean received = receive_some (self);
      any |= received;
      any |= go_on_in_line (self);
      check_outside (self, !received);
      irisd_reload_due (self);
      irisd_dispatch_wake_due (self);
      irisd_dispatch_end_waiting (self);
      irisd_completion_end_parked (self);
      irisd_bundles_send (self);
      irisd_send_retry_outboxes (self);
      if (is_done (self, phase))
        return;
      give_way (self);
      if (!any)
        sleep_until_something (self);
    }
}

static void
bind_to_place (IrisdGateway *self)
{
  if (self->place == IRISD_FRONT)
    return;
  IrisPlace *place = self->core->infos[self->place].place;
  g_autoptr (GError) error = NULL;
  if (!iris_place_bind_current_thread (place, iris_place_get_n_workers (place), &error))
    irisd_log (
        IRISD_LOG_WARNING,
        "cannot bind the gateway of place %d to its processors: %s; it runs on any processor",
        self->place, error->message);
}

/* Messages that ZeroMQ has not sent when the phase's time is over are dropped. */
static void
close_socket (IrisdGateway *self)
{
  gint64 left = irisd_core_get_deadline (self->core) - g_get_monotonic_time ();
  int linger = (int) CLAMP (left / 1000, 0, G_MAXINT);
  zmq_setsockopt (self->socket, ZMQ_LINGER, &linger, sizeof linger);
  irisd_socket_close (g_steal_pointer (&self->socket));
}

static gpointer
run_thread (gpointer data)
{
  IrisdGateway *self = data;
  bind_to_place (self);
  serve (self);
  if (self->backlog.length > 0)
    irisd_log (IRISD_LOG_WARNING, "%u clients did not read their last replies in time",
               self->backlog.length);
  while (irisd_peers_get_count (&self->peers) > 0)
    irisd_session_close (self, irisd_peers_get_oldest (&self->peers), FALSE);
  close_socket (self);
  return NULL;
}

/* No other thread uses the gateway's socket any more. */
void
irisd_gateway_start (IrisdGateway *self)
{
  g_autofree char *name = self->place == IRISD_FRONT ? g_strdup ("irisd-front")
                                                     : g_strdup_printf ("irisd-gw-%d", self->place);
  self->thread = g_thread_new (name, run_thread, self);
}

void
irisd_gateway_join (IrisdGateway *self)
{
  if (self->thread != NULL)
    g_thread_join (g_steal_pointer (&self->thread));
}

void
irisd_gateway_wake (IrisdGateway *self)
{
  irisd_mailbox_wake (&self->mailbox);
}

/* Returns the phase that it acts upon. Any thread may call this. */
IrisdPhase
irisd_gateway_get_phase (IrisdGateway *self)
{
  return irisd_gateway_current_phase (self);
}

IrisdMailbox *
irisd_gateway_get_mailbox (IrisdGateway *self)
{
  return &self->mailbox;
}

const IrisdGatewayCounters *
irisd_gateway_get_counters (IrisdGateway *self)
{
  return &self->counters;
}
