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
#include "daemon/gateway/irisd-after-away.h"
#include "daemon/gateway/irisd-ask-requests.h"
#include "daemon/gateway/irisd-gateway.h"

#include "daemon/base/irisd-log.h"
#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/gateway/irisd-change-requests.h"
#include "daemon/gateway/irisd-backup-requests.h"
#include "daemon/gateway/irisd-edit-requests.h"
#include "daemon/gateway/irisd-follow-requests.h"
#include "daemon/gateway/irisd-item-requests.h"
#include "daemon/gateway/irisd-queue-requests.h"
#include "daemon/gateway/irisd-receive.h"
#include "daemon/gateway/irisd-send.h"
#include "daemon/gateway/irisd-session.h"
#include "daemon/gateway/irisd-suspend-requests.h"
#include "daemon/gateway/irisd-submit.h"
#include "daemon/gateway/irisd-trace-requests.h"
#include "daemon/gateway/irisd-worker-session.h"
#include "daemon/items/irisd-dependencies.h"
#include "daemon/items/irisd-dispatch.h"
#include "daemon/items/irisd-permit.h"
#include "daemon/items/irisd-persistent.h"
#include "daemon/items/irisd-restore.h"
#include "daemon/items/spill/irisd-reload.h"
#include "daemon/net/irisd-socket.h"
#include "daemon/net/irisd-unfinished-messages.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>

/* Messages of a turn; most are no items (IRISD_ITEMS_PER_TURN). */
#define MESSAGES_PER_TURN 64

/* After waiting for the processor for some time the gateway works for at least this part of that
 * time before it yields again. */
#define PART_OF_AWAY 4

/* How long a gateway that ends waits for ZeroMQ to learn that connections have ended, which takes
 * some microseconds. A connection that has been replaced may never be learnt of. */
#define MOST_ENDING_US (200 * 1000)

static IrisdGateway *
gateway_of (IrisdItems *items)
{
  return (IrisdGateway *) (void *) ((char *) items - G_STRUCT_OFFSET (IrisdGateway, items));
}

static void
send_completion (IrisdItems *items, IrisdPeer *peer, IrisWireMessage *completion, zmq_msg_t *body)
{
  irisd_send_completion (gateway_of (items), peer, completion, body);
}

static void
tell_accepted (IrisdItems *items,
               IrisdPeer *peer,
               const guint8 *request_id,
               guint count,
               guint64 first_id)
{
  irisd_send_accepted (gateway_of (items), peer, request_id, count, first_id);
}

static void
refuse (IrisdItems *items, IrisdPeer *peer, const guint8 *request_id, const GError *error)
{
  const IrisdCaller caller = { .route = peer->route, .peer = peer };
  irisd_send_refusal (gateway_of (items), &caller, request_id, error);
}

static void
tell_full (IrisdItems *items, IrisdPeer *peer, const guint8 *request_id)
{
  const IrisdCaller caller = { .route = peer->route, .peer = peer };
  IrisWireMessage item;
  iris_wire_message_init (&item, IRIS_WIRE_SUBMIT, request_id);
  irisd_submit_tell_full (gateway_of (items), &caller, &item, IRISD_FULL_PERSISTENT,
                          items->core->config->limits.persistent_items);
}

static gboolean
route_run (IrisdItems *items,
           IrisdPeer *peer,
           const IrisWireMessage *item,
           IrisWireMessage *routed,
           GError **error)
{
  return irisd_submit_route_run (gateway_of (items), peer, item, routed, error);
}

static const IrisdItemsClass items_class = {
  .send_completion = send_completion,
  .tell_accepted = tell_accepted,
  .refuse = refuse,
  .tell_full = tell_full,
  .route_run = route_run,
};

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
  self->taken_fd = -1;
  iris_wire_encoder_init (&self->encoder, &core->wire_limits);
  irisd_peers_init (&self->peers);
  g_queue_init (&self->receive_backlog);
  g_queue_init (&self->backlog);
  g_queue_init (&self->worker_processes);
  self->lose_peer = irisd_session_lose;
  irisd_send_init (self);
  irisd_items_init (&self->items, &items_class, core, place, &self->mailbox, &self->encoder,
                    &self->peers);
  irisd_reload_init (&self->items);
  if (place == IRISD_FRONT && core->journal != NULL
      && (self->schedules = irisd_schedules_new (&self->items, error)) == NULL)
    {
      irisd_gateway_free (self);
      return NULL;
    }
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
      else if (message->kind == IRISD_MESSAGE_TRACE)
        irisd_trace_free (irisd_trace_from_message (message));
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
  irisd_follow_requests_clear (self);
  irisd_ask_requests_clear (self);
  irisd_after_away_clear (self);
  irisd_reload_clear (&self->items);
  g_clear_pointer (&self->schedules, irisd_schedules_free);
  irisd_items_clear (&self->items);
  irisd_mailbox_clear (&self->mailbox);
  iris_wire_encoder_clear (&self->encoder);
  irisd_send_clear (self);
  irisd_peers_clear (&self->peers);
  irisd_receive_clear (self);
  g_aligned_free (self);
}

/* With CURVE only the gateway knows where a message ends (irisd-unfinished-messages.c). */
static void
note_taken (IrisdGateway *self, int fd, guint n_frames, guint64 bytes)
{
  self->taken_fd = fd;
  if (fd >= 0)
    irisd_unfinished_take (fd, n_frames, bytes);
}

static void
note_empty (IrisdGateway *self)
{
  if (self->taken_fd >= 0)
    irisd_unfinished_settle (self->taken_fd);
  self->taken_fd = -1;
}

static guint
receive_frames (IrisdGateway *self, zmq_msg_t *frames)
{
  guint n = 0, n_all = 0;
  guint64 bytes = 0;
  int fd = -1;
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
      bytes += zmq_msg_size (frame);
      n_all++;
      if (!more && self->core->config->server_key != NULL)
        fd = zmq_msg_get (frame, ZMQ_SRCFD);
      if (frame == &spare)
        zmq_msg_close (frame);
      else
        n++;
    }
  note_taken (self, fd, n_all, bytes);
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
      if (!again)
        note_empty (self);
      return again;
    }

  zmq_msg_t frames[IRIS_WIRE_N_FRAMES + 1];
  guint n = zmq_msg_more (&route) ? receive_frames (self, frames) : 0;
  irisd_receive_handle_strays (self);
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

/* The request that waited for a change of a record goes on. */
static void
take_record (IrisdJournalRequest *request)
{
  IrisdBroadcast *broadcast = g_steal_pointer (&request->broadcast);
  broadcast->klass->refuse (broadcast, request->error);
}

/* The answers to requests of connections; the others are about items of this gateway. */
static void
take_answer (IrisdGateway *self, IrisdJournalRequest *request)
{
  switch (request->kind)
    {
    case IRISD_JOURNAL_REQUEST_FETCH:
    case IRISD_JOURNAL_REQUEST_SHOW:
    case IRISD_JOURNAL_REQUEST_LIST:
      irisd_item_requests_take_answer (self, request);
      break;
    case IRISD_JOURNAL_REQUEST_BACKUP:
      irisd_backup_requests_take_answer (self, request);
      break;
    case IRISD_JOURNAL_REQUEST_FOLLOW:
      if (request->peer == NULL)
        irisd_schedules_take_end (self->schedules, request);
      else
        irisd_follow_requests_take_answer (self, request);
      break;
    case IRISD_JOURNAL_REQUEST_RECORD:
      take_record (request);
      break;
    case IRISD_JOURNAL_REQUEST_CANCEL:
    case IRISD_JOURNAL_REQUEST_KICK:
    case IRISD_JOURNAL_REQUEST_BURY_ITEM:
      irisd_change_requests_take_answer (self, request);
      break;
    case IRISD_JOURNAL_REQUEST_SUBMISSION:
      irisd_edit_requests_take_submission (self, request);
      break;
    case IRISD_JOURNAL_REQUEST_LOOK:
      irisd_suspend_requests_take_answer (self, request);
      break;
    default:
      if (request->change != NULL)
        irisd_schedules_take_run (self->schedules, request);
      irisd_persistent_take_request (&self->items, request);
      break;
    }
  irisd_journal_request_free (request);
}

static void
take_message (IrisdGateway *self, IrisdMessage *message)
{
  switch (message->kind)
    {
    case IRISD_MESSAGE_JOB:
      irisd_dispatch_take_job (&self->items, irisd_job_from_message (message));
      break;
    case IRISD_MESSAGE_BROADCAST:
      irisd_broadcast_run (self, irisd_broadcast_from_message (message));
      break;
    case IRISD_MESSAGE_STARTED:
      irisd_dispatch_limit_run (&self->items, message);
      break;
    case IRISD_MESSAGE_DECIDED:
      irisd_dispatch_take_decision (&self->items, message);
      break;
    case IRISD_MESSAGE_OUTPUT:
      irisd_item_requests_send_output (self, irisd_output_from_message (message));
      break;
    case IRISD_MESSAGE_MORE_OUTPUT:
      irisd_follow_requests_take_message (self, message);
      break;
    case IRISD_MESSAGE_WORKER_EVENT:
      irisd_worker_session_take_event (self, irisd_worker_event_from_message (message));
      break;
    case IRISD_MESSAGE_JOURNAL_REQUEST:
      take_answer (self, irisd_journal_request_from_message (message));
      break;
    case IRISD_MESSAGE_PERMIT:
      irisd_dispatch_go_on (&self->items, irisd_permit_get_job (message));
      break;
    case IRISD_MESSAGE_SLOT:
      irisd_dispatch_go_on (&self->items, irisd_job_from_beside (message));
      break;
    case IRISD_MESSAGE_TRACE:
      irisd_trace_requests_take (self, irisd_trace_from_message (message));
      break;
    case IRISD_MESSAGE_CLUSTER: /* for the cluster thread; comes back as a broadcast */
    case IRISD_MESSAGE_LATER:   /* likewise, and does not come back */
    case IRISD_MESSAGE_CHAIN:
      break;
    case IRISD_MESSAGE_LEFT:
      irisd_dispatch_note_left (&self->items, irisd_job_from_beside (message));
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
  irisd_dispatch_tell_gates (&self->items);
  return any;
}

/* Messages just received are answered before that. */
static gboolean
go_on_in_line (IrisdGateway *self)
{
  irisd_receive_handle_strays (self);
  if (self->receive_backlog.length == 0)
    return FALSE;
  take_messages (self);
  return irisd_receive_go_on (self);
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
  if (phase == IRISD_PHASE_FLUSHING || (phase == IRISD_PHASE_DRAINING && self->items.n_parked > 0))
    until = earlier (until, irisd_core_get_deadline (self->core));
  gint64 due_us = irisd_dispatch_get_due_us (&self->items);
  if (due_us > 0)
    until = earlier (until, due_us);
  due_us = irisd_reload_get_due_us (&self->items);
  if (due_us > 0)
    until = earlier (until, due_us);
  due_us = irisd_after_away_get_due_us (self);
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
    { .events = ZMQ_POLLIN },
  };
  if (self->schedules != NULL)
    items[2].fd = irisd_schedules_get_fd (self->schedules);
  int n_items = self->schedules != NULL ? 3 : 2;
  int n = zmq_poll (items, n_items, time_left_ms (self));
  irisd_mailbox_finish_sleep (&self->mailbox, n > 0 && items[1].revents != 0);
  if (n > 0 && items[2].revents != 0)
    irisd_schedules_note_event (self->schedules);
}

/* Publishes the core's phase, and wakes the main thread. */
static IrisdPhase
follow_phase (IrisdGateway *self)
{
  IrisdPhase phase = irisd_core_get_phase (self->core);
  irisd_watchdog_answer (&self->core->watchdog,
                         self->place == IRISD_FRONT ? self->core->n_places : (guint) self->place);
  if (phase != irisd_gateway_get_phase (self))
    {
      if (irisd_gateway_get_phase (self) == IRISD_PHASE_SERVING)
        {
          irisd_worker_session_end_all (self);
          irisd_session_tell_going (self);
        }
      atomic_store_explicit (&self->items.phase, phase, memory_order_release);
      irisd_core_wake_main (self->core);
    }
  return phase;
}

/* Clients that go on later acknowledge what they have at once. An end whose acknowledgement is lost
 * would stay in the journal, because the client does not ask for it again. */
static gboolean
awaits_acknowledgements (IrisdGateway *self)
{
  for (GList *link = self->peers.by_age.head; link != NULL; link = link->next)
    {
      const IrisdPeer *peer = link->data;
      if (peer->resumes && irisd_unacknowledged_has_items (&peer->unacked))
        return TRUE;
    }
  return FALSE;
}

static gboolean
is_done (IrisdGateway *self, IrisdPhase phase)
{
  return phase == IRISD_PHASE_FLUSHING
         && ((self->backlog.length == 0 && self->receive_backlog.length == 0
              && !awaits_acknowledgements (self))
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

/* Ends what may not wait any longer in a phase that has begun. */
static void
end_waiting (IrisdGateway *self, IrisdPhase phase)
{
  IrisdItems *items = &self->items;
  if (phase == self->waited_phase)
    return;
  self->waited_phase = phase;
  if (self->place == IRISD_FRONT)
    irisd_dependencies_give_up_buried (items);
  irisd_reload_put_off (items);
  irisd_dispatch_end_waiting (items, phase);
}

static void
serve (IrisdGateway *self)
{
  for (;;)
    {
      irisd_session_follow_settings (self);
      IrisdPhase phase = follow_phase (self);
      gboolean any = take_messages (self);
      gboolean received = receive_some (self);
      any |= received;
      any |= go_on_in_line (self);
      any |= irisd_follow_requests_go_on (self);
      check_outside (self, !received);
      if (self->schedules != NULL)
        irisd_schedules_run_due (self->schedules);
      irisd_reload_due (&self->items);
      irisd_dispatch_wake_due (&self->items);
      irisd_after_away_wake_due (self);
      end_waiting (self, phase);
      irisd_dispatch_end_parked (&self->items);
      irisd_send_bundles (self);
      irisd_send_retry_outboxes (self);
      irisd_items_publish (&self->items);
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

/* ZeroMQ drops what it has for a connection when it learns that the connection has ended; but if
 * the socket is closed just then, ZeroMQ keeps it for the whole linger time (4.3.4: the session
 * asks its listener to end it, and the listener, which is ending, ignores that). So the socket is
 * closed once ZeroMQ has learnt of each end. A connection that ends later has taken its messages by
 * then, or is slow. */
static void
await_ended_connections (IrisdGateway *self)
{
  gint64 until = MIN (g_get_monotonic_time () + MOST_ENDING_US,
                      irisd_core_get_deadline (self->core));
  while (!irisd_session_lose_ended (self) && g_get_monotonic_time () < until)
    {
      poll (NULL, 0, 1);
      event_others (self); /* for ZeroMQ's messages to this socket */
    }
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
  await_ended_connections (self);
  while (irisd_peers_get_count (&self->peers) > 0)
    irisd_session_close (self, irisd_peers_get_oldest (&self->peers), FALSE);
  close_socket (self);
  irisd_session_leave_settings (self);
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
  return irisd_items_get_phase (&self->items);
}

IrisdMailbox *
irisd_gateway_get_mailbox (IrisdGateway *self)
{
  return &self->mailbox;
}

/* @record and @persistent are of one item that has not ended; @self was not started. */
void
irisd_gateway_restore_item (IrisdGateway *self,
                            const IrisdRecord *record,
                            IrisdPersistentItem *persistent)
{
  irisd_restore_run (&self->items, record, persistent);
}

/* @record is of the journal; @self is the front gateway, and was not started. */
void
irisd_gateway_load_record (IrisdGateway *self, const IrisdNamedRecord *record)
{
  if (record->kind == IRISD_RECORD_QUEUE)
    irisd_queue_requests_load (self, record);
  if (record->kind == IRISD_RECORD_SCHEDULE)
    irisd_schedules_load (self->schedules, record);
}

/* All records are loaded; the journal is started. */
void
irisd_gateway_start_schedules (IrisdGateway *self)
{
  if (self->schedules != NULL)
    irisd_schedules_start (self->schedules);
}
