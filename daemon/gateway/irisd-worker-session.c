/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's worker processes: their requests, its messages to them, and the watch for their ends.
 *
 * A worker process is a peer that has sent READY. It is checked as strictly as any client, and its
 * errors cost only itself: a message that cannot be read costs its connection, and its leases go to
 * others.
 *
 * The watch is for ended connections of worker processes and of clients that read a command's
 * output. A ROUTER does not report the end of a connection; but it refuses a message to one that
 * has ended. So all of them are probed when ZeroMQ's monitor has told the ZAP handler that some
 * connection of the socket has ended. The monitor does not say which, and reports it a moment
 * before the ROUTER knows, so they are probed a few times, with pauses that double, for about a
 * second.
 *
 * A connection that is silent but does not end is given up after silence-ms. Only time that irisd
 * was awake counts: after a gap (irisd was stopped, or its machine was) its workers' messages lie
 * in the kernel or with ZeroMQ's thread, so each worker gets the whole silence-ms again. A gateway
 * with workers therefore looks several times in that time. And it decides when it has nothing left
 * to read.
 */
#include "daemon/gateway/irisd-worker-session.h"

#include "daemon/base/irisd-text.h"
#include "daemon/gateway/irisd-send.h"

#include <string.h>

/* Characters of an unknown name in a message. */
#define MAX_QUOTED 64

#define FIRST_PROBE_MS 2
#define LAST_PROBE_MS  512

#define LOOKS_PER_SILENCE 4

static void
refuse (IrisdGateway *self,
        const IrisdCaller *caller,
        const IrisWireMessage *request,
        IrisWireError code,
        const char *reason)
{
  g_autoptr (GError) error = g_error_new_literal (IRIS_WIRE_ERROR, code, reason);
  irisd_send_refusal (self, caller, request->request_id, error);
}

static gboolean
check_reserved (const IrisdPeer *peer, const char *name, GError **error)
{
  if (name[0] != IRISD_RESERVED_MARK || (peer->bridge && strcmp (name, IRISD_CLUSTER_SERVICE) == 0))
    return TRUE;
  g_autofree char *quoted = irisd_text_quote (name, -1, MAX_QUOTED);
  g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_PERMITTED,
               "“%s” cannot be served: names that begin with @ are irisd's own; choose another "
               "name",
               quoted);
  return FALSE;
}

static gboolean
check_names (IrisdGateway *self,
             const IrisdPeer *peer,
             const IrisWireServices *services,
             GError **error)
{
  for (guint i = 0; i < services->n_services; i++)
    {
      const char *name = services->services[i].name;
      if (!check_reserved (peer, name, error))
        return FALSE;
      const IrisWireString string = { name, strlen (name) };
      if (string.len > 0 && irisd_services_lookup (self->core->services, &string) == NULL)
        continue;
      g_autofree char *quoted = irisd_text_quote (name, -1, MAX_QUOTED);
      g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                   string.len == 0 ? "a service needs a name%s"
                                   : "“%s” is a service of irisd itself; choose another name",
                   string.len == 0 ? "" : quoted);
      return FALSE;
    }
  return TRUE;
}

/* A key with a list of services serves those alone. */
static gboolean
check_key (IrisdGateway *self,
           const IrisdPeer *peer,
           const IrisWireServices *services,
           GError **error)
{
  if (peer->public_key == NULL)
    return TRUE;
  const IrisdKey *key = irisd_keys_find_owner (irisd_core_get_settings (self->core)->keys,
                                               peer->owner);
  for (guint i = 0; key != NULL && i < services->n_services; i++)
    if (!irisd_key_may_use (key, services->services[i].name))
      {
        g_set_error (
            error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_PERMITTED,
            "the key %s may not serve “%s”; ask irisd's owner to name it (irisctl key allow "
            "--services)",
            key->name, services->services[i].name);
        return FALSE;
      }
  return TRUE;
}

static IrisWireServices *
read_services (IrisdGateway *self,
               const IrisdPeer *peer,
               const IrisWireMessage *ready,
               GError **error)
{
  IrisdCore *core = self->core;
  guint64 limit = irisd_core_get_settings (core)->limits.worker_services;
  g_autoptr (IrisWireServices)
      services = iris_wire_services_decode (ready->body, &core->wire_limits, error);
  if (services == NULL)
    return NULL;
  if (services->n_services > limit)
    {
      g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_TOO_LARGE,
                   "%u services exceed worker-services (%" G_GUINT64_FORMAT
                   "); raise it with [limits] worker-services",
                   services->n_services, limit);
      return NULL;
    }
  return check_names (self, peer, services, error) && check_key (self, peer, services, error)
             ? g_steal_pointer (&services)
             : NULL;
}

static gboolean
read_place (IrisdGateway *self, const IrisWireMessage *ready, gint *place, GError **error)
{
  *place = self->place; /* -1 for the front, which is no place */
  if (!iris_wire_message_has (ready, IRIS_WIRE_KEY_PLACE))
    return TRUE;
  *place = ready->place;
  if (ready->place < (gint) self->core->n_places)
    return TRUE;
  g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NO_SUCH_PLACE,
               "there is no place %d; this irisd has the places 0 to %u", ready->place,
               self->core->n_places - 1);
  return FALSE;
}

static void
answer_enrolled (IrisdGateway *self,
                 const IrisdCaller *caller,
                 const IrisWireMessage *ready,
                 guint n_services)
{
  const IrisdLimits *limits = &self->core->config->limits;
  IrisWireMessage enrolled;
  iris_wire_message_init (&enrolled, IRIS_WIRE_ENROLLED, ready->request_id);
  iris_wire_message_set_uint (&enrolled, IRIS_WIRE_KEY_COUNT, n_services);
  iris_wire_message_set_uint (&enrolled, IRIS_WIRE_KEY_LEASE_MS, limits->lease_ms);
  iris_wire_message_set_uint (&enrolled, IRIS_WIRE_KEY_SILENCE_MS, limits->silence_ms);
  irisd_send_answer (self, caller, &enrolled);
}

static void
enroll (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *ready)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisWireServices) services = NULL;
  IrisdPeer *peer = caller->peer;
  IrisdWorkerProcess *worker = peer->worker_process;
  gint place = IRIS_PLACE_ANY;
  if (!read_place (self, ready, &place, &error)
      || (services = read_services (self, peer, ready, &error)) == NULL)
    {
      irisd_send_refusal (self, caller, ready->request_id, error);
      /* Refusing may have ended the peer. */
      if (peer->worker_process != NULL
          && g_error_matches (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_MALFORMED))
        irisd_gateway_lose_peer (self, peer,
                                 "it is a worker and sent a message that cannot be read", TRUE);
      return;
    }

  if (worker == NULL)
    worker = irisd_worker_process_new (&self->mailbox, peer);
  if (!irisd_worker_processes_enroll (self->core->worker_processes, worker, place, ready->capacity,
                                      services, &error))
    {
      irisd_send_refusal (self, caller, ready->request_id, error);
      if (peer->worker_process == NULL)
        irisd_worker_process_unref (worker);
      return;
    }
  if (peer->worker_process == NULL)
    {
      peer->worker_process = worker;
      g_queue_push_tail_link (&self->worker_processes, &worker->link);
    }
  answer_enrolled (self, caller, ready, services->n_services);
}

/* @peer is a worker process that ends. */
void
irisd_worker_session_dismiss (IrisdGateway *self, IrisdPeer *peer)
{
  IrisdWorkerProcess *worker = g_steal_pointer (&peer->worker_process);
  if (worker == NULL)
    return;
  g_queue_unlink (&self->worker_processes, &worker->link);
  worker->peer = NULL;
  irisd_worker_processes_leave (self->core->worker_processes, worker);
  irisd_worker_process_unref (worker);
}

static gboolean
check_code (const IrisWireMessage *fail)
{
  if (!iris_wire_message_has (fail, IRIS_WIRE_KEY_CODE))
    return TRUE;
  switch (fail->code)
    {
    case IRIS_WIRE_ERROR_BAD_ARGUMENT:
    case IRIS_WIRE_ERROR_UNREADABLE_FILE:
    case IRIS_WIRE_ERROR_SERVICE_FAILED:
    case IRIS_WIRE_ERROR_NOT_PERMITTED:
      return TRUE;
    default:
      return FALSE;
    }
}

/* A refused part does not mean that the lease has ended. */
static gboolean
take_part (IrisdGateway *self,
           const IrisdCaller *caller,
           const IrisWireMessage *report,
           zmq_msg_t *body)
{
  if (report->body.size == 0
      || irisd_worker_processes_part (self->core->worker_processes, caller->peer->worker_process,
                                      report, body))
    return TRUE;
  refuse (self, caller, report, IRIS_WIRE_ERROR_TOO_LARGE,
          "the part is larger than the credit that its lease holds for parts; keep it until PART "
          "says that there is more");
  return FALSE;
}

/* Returns whether there was such a lease. */
static gboolean
take_answer (IrisdWorkerProcesses *worker_processes,
             IrisdWorkerProcess *worker,
             const IrisWireMessage *request,
             zmq_msg_t *body)
{
  switch (request->type)
    {
    case IRIS_WIRE_DONE:
      return irisd_worker_processes_done (worker_processes, worker, request, body);
    case IRIS_WIRE_FAIL:
      return irisd_worker_processes_fail (worker_processes, worker, request);
    case IRIS_WIRE_EXTEND:
      return irisd_worker_processes_extend (worker_processes, worker, request);
    default:
      return irisd_worker_processes_report (worker_processes, worker, request);
    }
}

/* @request is READY, or about a lease; may take @body, its fifth frame. */
void
irisd_worker_session_handle (IrisdGateway *self,
                             const IrisdCaller *caller,
                             const IrisWireMessage *request,
                             zmq_msg_t *body)
{
  IrisdWorkerProcess *worker = caller->peer->worker_process;
  if (request->type == IRIS_WIRE_READY)
    enroll (self, caller, request);
  else if (worker == NULL)
    refuse (self, caller, request, IRIS_WIRE_ERROR_BAD_ARGUMENT,
            "only a worker process has leases; say READY first");
  else if (request->type == IRIS_WIRE_FAIL && !caller->peer->bridge && !check_code (request))
    refuse (self, caller, request, IRIS_WIRE_ERROR_BAD_ARGUMENT,
            "an item cannot fail with that code; give 8, 12, 14 or 17, or none");
  else if (request->type == IRIS_WIRE_REPORT && !take_part (self, caller, request, body))
    return;
  else if (!take_answer (self->core->worker_processes, worker, request, body))
    refuse (self, caller, request, IRIS_WIRE_ERROR_NO_SUCH_LEASE,
            "the lease has ended, or is not this worker's: the item is leased to another, or has "
            "ended");
}

static void
set_trace (IrisWireMessage *lease, const IrisdTraceContext *trace)
{
  if (trace == NULL)
    return;
  iris_wire_message_set_string (lease, IRIS_WIRE_KEY_TRACEPARENT, trace->traceparent, -1);
  if (trace->tracestate != NULL)
    iris_wire_message_set_string (lease, IRIS_WIRE_KEY_TRACESTATE, trace->tracestate, -1);
}

/* What the bridge has to know of an item for another node. */
static void
set_away (IrisdGateway *self, IrisWireMessage *lease, const IrisdWorkerEvent *event)
{
  gsize size;
  const char *header = g_bytes_get_data (event->header, &size);
  const IrisdKey *key = irisd_keys_find_owner (irisd_core_get_settings (self->core)->keys,
                                               event->owner);
  iris_wire_message_set_string (lease, IRIS_WIRE_KEY_HEADER, header, (gssize) size);
  iris_wire_message_set_cluster_item (lease, event->leased_item->away->cluster_item);
  iris_wire_message_set_uint (lease, IRIS_WIRE_KEY_FOR_OWNER, (guint64) event->owner);
  if (key != NULL)
    iris_wire_message_set_string (lease, IRIS_WIRE_KEY_KEY_NAME, key->name, -1);
  if (event->item != 0)
    iris_wire_message_set_uint (lease, IRIS_WIRE_KEY_ITEM, event->item);
  if (event->retries > 0)
    iris_wire_message_set_uint (lease, IRIS_WIRE_KEY_RETRIES, event->retries);
  if (event->deadline_ms > 0)
    iris_wire_message_set_uint (lease, IRIS_WIRE_KEY_DEADLINE_MS, event->deadline_ms);
  if (event->leased_item->away->streams)
    iris_wire_message_set_uint (lease, IRIS_WIRE_KEY_STREAM, event->credit);
}

/* What a worker process has to know of its item. */
static void
set_item (IrisWireMessage *lease, const IrisdLeasedItem *leased_item)
{
  iris_wire_message_set_string (lease, IRIS_WIRE_KEY_SERVICE, leased_item->service, -1);
  if (leased_item->content_type != NULL)
    iris_wire_message_set_string (lease, IRIS_WIRE_KEY_CONTENT_TYPE, leased_item->content_type, -1);
  if (leased_item->args != NULL)
    iris_wire_message_set_args (lease, (const char *const *) leased_item->args);
  if (leased_item->path != NULL)
    iris_wire_message_set_string (lease, IRIS_WIRE_KEY_PATH, leased_item->path, -1);
}

static void
send_lease (IrisdGateway *self, IrisdWorkerEvent *event)
{
  const IrisdLeasedItem *leased_item = event->leased_item;
  IrisdPeer *peer = event->worker->peer;
  guint8 id[IRIS_WIRE_ID_SIZE];
  IrisWireMessage lease;
  irisd_worker_processes_name_lease (self->core->worker_processes, event->lease, id);
  iris_wire_message_init (&lease, IRIS_WIRE_LEASE, id);
  if (event->header == NULL)
    set_item (&lease, leased_item);
  else
    {
      iris_wire_message_set_string (&lease, IRIS_WIRE_KEY_SERVICE, IRISD_CLUSTER_SERVICE, -1);
      set_away (self, &lease, event);
    }
  set_trace (&lease, event->trace);
  if (leased_item->progress)
    iris_wire_message_set_boolean (&lease, IRIS_WIRE_KEY_PROGRESS, TRUE);
  iris_wire_message_set_uint (&lease, IRIS_WIRE_KEY_LEASE_MS, self->core->config->limits.lease_ms);
  iris_wire_message_set_uint (&lease, IRIS_WIRE_KEY_ATTEMPT, event->attempt);
  if (leased_item->parts)
    iris_wire_message_set_uint (&lease, IRIS_WIRE_KEY_PARTS, event->credit);

  /* A header just within max-header may exceed it with the added keys. */
  g_autoptr (GError) error = NULL;
  if (iris_wire_encode (&self->encoder, &lease, &error))
    {
      irisd_send_message (self, &peer->route, peer, &lease, &event->payload);
      return;
    }
  IrisWireMessage fail;
  iris_wire_message_init (&fail, IRIS_WIRE_FAIL, id);
  iris_wire_message_set_uint (&fail, IRIS_WIRE_KEY_CODE, IRIS_WIRE_ERROR_TOO_LARGE);
  iris_wire_message_set_string (&fail, IRIS_WIRE_KEY_MESSAGE, error->message, -1);
  irisd_worker_processes_fail (self->core->worker_processes, event->worker, &fail);
}

static const char *
explain_stop (IrisWireError why)
{
  switch (why)
    {
    case IRIS_WIRE_ERROR_CANCELLED:
      return "the item was cancelled; stop, and answer with FAIL";
    case IRIS_WIRE_ERROR_NO_SUCH_LEASE:
      return "the lease has expired, so the item is given to others; stop, and answer with "
             "FAIL; next time, send EXTEND";
    default:
      return "irisd is ending; end the leased items, and connect again when irisd is back";
    }
}

static void
send_stop (IrisdGateway *self, IrisdPeer *peer, const guint8 *id, IrisWireError why)
{
  g_autoptr (GError) error = g_error_new_literal (IRIS_WIRE_ERROR, (gint) why, explain_stop (why));
  IrisWireMessage stop;
  iris_wire_message_init (&stop, IRIS_WIRE_STOP, id);
  iris_wire_message_set_error (&stop, error);
  irisd_send_message (self, &peer->route, peer, &stop, NULL);
}

static void
pass_report_on (IrisdGateway *self, IrisdWorkerEvent *event)
{
  g_autofree char *note = NULL;
  IrisWireMessage progress;
  iris_wire_message_init (&progress, IRIS_WIRE_PROGRESS, NULL);
  IrisdJob *job = irisd_worker_processes_take_report (self->core->worker_processes,
                                                      event->leased_item, &progress, &note);
  if (job == NULL)
    return;
  memcpy (progress.request_id, job->request_id, IRIS_WIRE_ID_SIZE);
  irisd_send_offer (self, job->peer, &progress);
}

static void
pass_part_on (IrisdGateway *self, IrisdWorkerEvent *event)
{
  IrisdJob *job = event->leased_item->messages_for;
  IrisWireMessage part;
  if (job == NULL || irisd_job_is (job, IRISD_ITEM_SHELL) || irisd_peer_is_gone (job->peer))
    return;
  /* Sending may end the peer, and with it the job. */
  g_autoptr (IrisdPeer) peer = irisd_peer_ref (job->peer);
  iris_wire_message_init (&part, event->channel != 0 ? IRIS_WIRE_OUTPUT : IRIS_WIRE_PART,
                          job->request_id);
  if (event->channel != 0)
    iris_wire_message_set_uint (&part, IRIS_WIRE_KEY_CHANNEL, event->channel);
  else
    iris_wire_message_set_uint (&part, IRIS_WIRE_KEY_ATTEMPT, event->attempt);
  irisd_send_message (self, &peer->route, peer, &part, &event->payload);
}

static void
send_credit (IrisdGateway *self, IrisdPeer *peer, const guint8 *id, guint64 bytes)
{
  IrisWireMessage part;
  iris_wire_message_init (&part, IRIS_WIRE_PART, id);
  iris_wire_message_set_uint (&part, IRIS_WIRE_KEY_PARTS, bytes);
  irisd_send_message (self, &peer->route, peer, &part, NULL);
}

static void
tell_worker (IrisdGateway *self, IrisdWorkerEvent *event)
{
  if (event->worker->peer == NULL)
    return;
  g_autoptr (IrisdPeer) peer = irisd_peer_ref (event->worker->peer);
  if (event->kind == IRISD_WORKER_EVENT_LEASE)
    {
      send_lease (self, event);
      return;
    }
  guint8 id[IRIS_WIRE_ID_SIZE];
  irisd_worker_processes_name_lease (self->core->worker_processes, event->lease, id);
  if (event->kind == IRISD_WORKER_EVENT_GRANT)
    send_credit (self, peer, id, event->credit);
  else
    send_stop (self, peer, id, event->why);
}

void
irisd_worker_session_take_event (IrisdGateway *self, IrisdWorkerEvent *event)
{
  if (event->kind == IRISD_WORKER_EVENT_REPORT)
    pass_report_on (self, event);
  else if (event->kind == IRISD_WORKER_EVENT_PART)
    pass_part_on (self, event);
  else
    tell_worker (self, event);
  irisd_worker_event_free (event);
}

void
irisd_worker_session_answer_workers (IrisdGateway *self,
                                     const IrisdCaller *caller,
                                     const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisWireWorkers) workers = irisd_worker_processes_describe_workers (
      self->core->worker_processes, irisd_peer_get_view (caller->peer, IRIS_WIRE_WORKERS));
  g_autoptr (GBytes) body = iris_wire_workers_encode (workers, &self->core->wire_limits, &error);
  IrisWireMessage reply;
  iris_wire_message_init (&reply, IRIS_WIRE_WORKERS_REPLY, request->request_id);
  irisd_send_answer_bytes (self, caller, &reply, body, error);
}

void
irisd_gateway_note_disconnect (gpointer gateway)
{
  IrisdGateway *self = gateway;
  /* Relaxed: nothing else is told by it, and the wake makes the gateway look after it. */
  atomic_store_explicit (&self->ended_connection, TRUE, memory_order_relaxed);
  irisd_mailbox_wake (&self->mailbox);
}

void
irisd_worker_watch_mark_heard (IrisdGateway *self, IrisdPeer *peer)
{
  IrisdWorkerProcess *worker = peer->worker_process;
  if (worker == NULL)
    return;
  atomic_store_explicit (&worker->heard_us, g_get_monotonic_time (), memory_order_relaxed);
  g_queue_unlink (&self->worker_processes, &worker->link);
  g_queue_push_tail_link (&self->worker_processes, &worker->link);
}

static gint64
get_silence_us (IrisdGateway *self)
{
  return (gint64) self->core->config->limits.silence_ms * 1000;
}

static gint64
silence_ends (IrisdGateway *self, IrisdWorkerProcess *worker)
{
  gint64 heard_us = atomic_load_explicit (&worker->heard_us, memory_order_relaxed);
  return MAX (heard_us, self->watched_since_us) + get_silence_us (self);
}

static void
note_look (IrisdGateway *self, gint64 now)
{
  if (now - self->watched_us > 2 * get_silence_us (self) / LOOKS_PER_SILENCE)
    self->watched_since_us = now;
  self->watched_us = now;
}

/* Returns when irisd_worker_watch_check() is to be called, in microseconds; G_MAXINT64 for
 * never. */
gint64
irisd_worker_watch_get_deadline (IrisdGateway *self)
{
  IrisdWorkerProcess *worker = g_queue_peek_head (&self->worker_processes);
  gint64 until = G_MAXINT64;
  if (worker == NULL && self->stream_readers.length == 0)
    return G_MAXINT64;
  if (worker != NULL)
    until = MIN (silence_ends (self, worker),
                 self->watched_us + get_silence_us (self) / LOOKS_PER_SILENCE);
  return self->probe_ms > 0 ? MIN (until, self->probe_at_us) : until;
}

/* Returns the worker processes, each with a reference, for loops that may end some. A plain array,
 * because ThreadSanitizer does not see how GLib's pointer arrays go from thread to thread. */
static IrisdPeer **
list_workers (IrisdGateway *self, guint *n)
{
  IrisdPeer **peers = g_new (IrisdPeer *, self->worker_processes.length);
  *n = 0;
  for (GList *link = self->worker_processes.head; link != NULL; link = link->next)
    peers[(*n)++] = irisd_peer_ref (((IrisdWorkerProcess *) link->data)->peer);
  return peers;
}

/* @peer reads the output of a command while it runs. From now on its end is noticed, also if the
 * command writes nothing. */
void
irisd_worker_watch_add_reader (IrisdGateway *self, IrisdPeer *peer)
{
  if (peer->reads_streams)
    return;
  peer->reads_streams = TRUE;
  g_queue_push_tail_link (&self->stream_readers, &peer->stream_link);
}

void
irisd_worker_watch_remove_reader (IrisdGateway *self, IrisdPeer *peer)
{
  if (peer->reads_streams)
    g_queue_unlink (&self->stream_readers, &peer->stream_link);
  peer->reads_streams = FALSE;
}

static IrisdPeer **
list_readers (IrisdGateway *self, guint *n)
{
  IrisdPeer **peers = g_new (IrisdPeer *, self->stream_readers.length);
  *n = 0;
  for (GList *link = self->stream_readers.head; link != NULL; link = link->next)
    peers[(*n)++] = irisd_peer_ref (link->data);
  return peers;
}

/* Takes the references. */
static void
probe (IrisdGateway *self, IrisdPeer **peers, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      if (!irisd_peer_is_gone (peers[i]) && peers[i]->outbox.count == 0
          && !irisd_send_probe (self, peers[i]))
        irisd_gateway_lose_peer (self, peers[i], "it has gone", FALSE);
      irisd_peer_unref (peers[i]);
    }
}

static void
probe_all (IrisdGateway *self)
{
  guint n = 0;
  g_autofree IrisdPeer **workers = list_workers (self, &n);
  probe (self, workers, n);
  g_autofree IrisdPeer **readers = list_readers (self, &n);
  probe (self, readers, n);
}

/* Ends peers whose connection has ended or that were silent for too long, if it is time.
 * @heard_all: there is nothing left to receive. */
void
irisd_worker_watch_check (IrisdGateway *self, gboolean heard_all)
{
  if (self->worker_processes.length + self->stream_readers.length == 0)
    return;
  gint64 now = g_get_monotonic_time ();
  note_look (self, now);
  if (atomic_exchange_explicit (&self->ended_connection, FALSE, memory_order_relaxed))
    {
      self->probe_ms = FIRST_PROBE_MS;
      self->probe_at_us = now;
    }
  if (self->probe_ms > 0 && now >= self->probe_at_us)
    {
      self->probe_at_us = now + (gint64) self->probe_ms * 1000;
      self->probe_ms = self->probe_ms < LAST_PROBE_MS ? self->probe_ms * 2 : 0;
      probe_all (self);
    }
  IrisdWorkerProcess *worker;
  while (heard_all && (worker = g_queue_peek_head (&self->worker_processes)) != NULL
         && now >= silence_ends (self, worker))
    irisd_gateway_lose_peer (self, worker->peer, "it is a worker and was silent for silence-ms",
                             TRUE);
}

/* Tells all worker processes that irisd drains. */
void
irisd_worker_session_end_all (IrisdGateway *self)
{
  /* Telling one may end it, which removes it from the list. */
  guint n = 0;
  g_autofree IrisdPeer **peers = list_workers (self, &n);
  for (guint i = 0; i < n; i++)
    {
      send_stop (self, peers[i], NULL, IRIS_WIRE_ERROR_SHUTTING_DOWN);
      irisd_peer_unref (peers[i]);
    }
}
