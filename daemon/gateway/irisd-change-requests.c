/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests that change items: CANCEL, KICK and BURY, and their answers.
 *
 * They reach items of the same owner or, for operators, of any. Each gateway alone knows its peers
 * and their jobs, so a request that is about no job of its own connection is a broadcast: it
 * travels from mailbox to mailbox, in the order of the gateways, until one of them has the item or
 * all were asked, and then back to its own gateway, which answers it. A request this rare does not
 * justify a shared table. All gateways know which of them has the item of a number, so a CANCEL by
 * number asks only that one. A burial is answered when the journal has it; until then its journal
 * request holds the broadcast.
 *
 * The journal knows whether there is an item of a number and whether it is buried. So KICK and BURY
 * go to the journal first and, for a waiting item, from gateway to gateway then; a CANCEL goes to
 * the journal last, for an item without a job.
 */
#include "daemon/gateway/irisd-change-requests.h"

#include "daemon/gateway/irisd-item-requests.h"
#include "daemon/gateway/irisd-send.h"
#include "daemon/gateway/irisd-submit.h"
#include "daemon/items/irisd-cancel.h"
#include "daemon/items/irisd-completion.h"
#include "daemon/items/irisd-dependencies.h"
#include "daemon/items/irisd-dispatch.h"
#include "daemon/items/irisd-item-log.h"
#include "daemon/items/spill/irisd-reload.h"

#include <string.h>

/* The reason of a BURY that gives none. */
#define NO_REASON "it was buried by request"

/**
 * IrisdChange:
 * @home: the gateway of the connection that asks
 * @here: the gateway that was asked last
 * @at: the same as an index into the core's
 * @visited: gateways asked so far
 * @over: there is nothing left to look for
 * @type: CANCEL, KICK or BURY
 * @peer: the client that asks; belongs to @home
 * @view: what the request reaches: an owner, or IRISD_VIEW_ALL
 * @item: its number; 0: of a CANCEL, @target; of a KICK, all that are delayed, up to @most
 * @changed: how many items were changed
 * @was_queued: the cancelled item had not begun
 * @error: why none could be changed
 *
 * A request on its way from gateway to gateway.
 */
typedef struct
{
  IrisdBroadcast base;
  IrisdGateway *home;
  IrisdGateway *here;
  guint at;
  guint visited;
  gboolean over;
  IrisWireType type;
  IrisdPeer *peer;
  guint8 request_id[IRIS_WIRE_ID_SIZE];
  guint8 target[IRIS_WIRE_ID_SIZE];
  gint64 view;
  guint64 item;
  guint most;
  char *reason;
  guint changed;
  gboolean was_queued;
  GError *error;
} IrisdChange;

/* @was_queued: the item was queued, not running. */
static void
tell_cancelling (IrisdGateway *self,
                 const IrisdCaller *caller,
                 const guint8 *request_id,
                 gboolean was_queued)
{
  IrisWireMessage reply;
  iris_wire_message_init (&reply, IRIS_WIRE_CANCELLING, request_id);
  iris_wire_message_set_uint (&reply, IRIS_WIRE_KEY_STATE,
                              was_queued ? IRIS_WIRE_STATE_QUEUED : IRIS_WIRE_STATE_RUNNING);
  irisd_send_answer (self, caller, &reply);
}

/* @where says where there is no such item. */
static void
tell_not_found (IrisdGateway *self,
                const IrisdCaller *caller,
                const guint8 *request_id,
                const char *where)
{
  g_autoptr (GError) error = g_error_new (
      IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_FOUND,
      "no item with this request id is in flight on %s: it has ended, or never was", where);
  irisd_send_refusal (self, caller, request_id, error);
}

static void
tell_no_such_number (IrisdGateway *gateway,
                     const IrisdCaller *caller,
                     const guint8 *request_id,
                     guint64 item)
{
  g_autoptr (GError) error = g_error_new (
      IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_FOUND,
      "the item %" G_GUINT64_FORMAT " is not in progress: it has ended, or never was", item);
  irisd_send_refusal (gateway, caller, request_id, error);
}

static gboolean
may_change (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  if (!irisd_item_requests_may_ask (self, caller, request))
    return FALSE;
  if (irisd_items_get_phase (&self->items) != IRISD_PHASE_SERVING)
    error = g_error_new_literal (
        IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_SHUTTING_DOWN,
        "cannot change an item: irisd is ending; ask again when it is back");
  else
    return irisd_submit_may_ask (self, caller, request, FALSE);
  irisd_send_refusal (self, caller, request->request_id, error);
  return FALSE;
}

static IrisdJournalRequest *
new_question (IrisdGateway *self,
              IrisdJournalRequestKind kind,
              const IrisdCaller *caller,
              const IrisWireMessage *request)
{
  IrisdJournalRequest *journal_request = irisd_items_new_request (&self->items, kind, caller->peer,
                                                                  request->request_id);
  caller->peer->n_questions++;
  journal_request->view = irisd_peer_get_view (caller->peer, (IrisWireType) request->type);
  journal_request->item = request->item;
  return journal_request;
}

/* @request is a CANCEL with the number of an item that has no job: it is buried, or has ended. */
static void
cancel_buried (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request)
{
  g_autoptr (GError) why = g_error_new_literal (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_CANCELLED,
                                                "the item was cancelled while it was buried");
  g_autoptr (GError) error = NULL;
  IrisWireMessage end;
  if (!may_change (self, caller, request))
    return;
  iris_wire_message_init (&end, IRIS_WIRE_ERROR_REPLY, NULL);
  iris_wire_message_set_error (&end, why);
  iris_wire_message_set_boolean (&end, IRIS_WIRE_KEY_ENDS, TRUE);
  iris_wire_message_set_uint (&end, IRIS_WIRE_KEY_ITEM, request->item);
  if (!iris_wire_encode (&self->encoder, &end, &error))
    g_error ("cannot encode the end of an item: %s", error->message);
  const IrisWireFrame *header = &self->encoder.frames[3];
  IrisdJournalRequest *journal_request = new_question (self, IRISD_JOURNAL_REQUEST_CANCEL, caller,
                                                       request);
  journal_request->type = end.type;
  journal_request->header = (IrisdBlob){ g_memdup2 (header->data, header->size), header->size };
  irisd_journal_post (self->core->journal, journal_request);
}

/* The item has no job: it is buried, has ended, or never was. */
static void
cancel_without_job (IrisdGateway *gateway,
                    const IrisdCaller *caller,
                    const guint8 *request_id,
                    guint64 item)
{
  IrisWireMessage request;
  if (gateway->core->journal == NULL)
    {
      tell_no_such_number (gateway, caller, request_id, item);
      return;
    }
  iris_wire_message_init (&request, IRIS_WIRE_CANCEL, request_id);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_ITEM, item);
  cancel_buried (gateway, caller, &request);
}

/* --- on the way ------------------------------------------------------------------------------- */

static void
change_free (IrisdBroadcast *broadcast)
{
  IrisdChange *self = (IrisdChange *) broadcast;
  irisd_peer_unref (self->peer);
  g_clear_error (&self->error);
  g_free (self->reason);
  g_free (self);
}

/* With an error, nothing was changed. */
static void
refuse (IrisdBroadcast *broadcast, const GError *error)
{
  IrisdChange *self = (IrisdChange *) broadcast;
  if (error != NULL)
    {
      self->changed = 0;
      self->error = g_error_copy (error);
    }
  self->over = TRUE;
  irisd_mailbox_post (&self->home->mailbox, &self->base.message);
}

static void
answer_cancel (IrisdGateway *gateway, const IrisdChange *self, const IrisdCaller *caller)
{
  if (self->changed > 0)
    tell_cancelling (gateway, caller, self->request_id, self->was_queued);
  else if (self->item != 0)
    cancel_without_job (gateway, caller, self->request_id,
                        self->item); /* it may be buried by now */
  else
    tell_not_found (gateway, caller, self->request_id, "any connection");
}

static void
answer (IrisdGateway *gateway, IrisdChange *self)
{
  const IrisdCaller caller = { .route = self->peer->route, .peer = self->peer };
  if (self->type != IRIS_WIRE_CANCEL)
    self->peer->n_questions--;
  if (irisd_peer_is_gone (self->peer))
    return;
  if (self->error != NULL)
    irisd_send_refusal (gateway, &caller, self->request_id, self->error);
  else if (self->type == IRIS_WIRE_CANCEL)
    answer_cancel (gateway, self, &caller);
  else
    irisd_send_changed (gateway, &caller, self->request_id, self->changed);
}

/* A buried item is the journal's to cancel. */
static gboolean
can_be_cancelled (IrisdJob *job)
{
  return job != NULL && !irisd_item_state_is_burial (irisd_job_get_state (job));
}

static void
cancel_here (IrisdGateway *gateway, IrisdChange *self, IrisdJob *job)
{
  self->over = TRUE;
  if (!can_be_cancelled (job))
    return;
  self->changed = 1;
  self->was_queued = irisd_cancel_job (&gateway->items, job);
}

/* Cancels the target if a peer of this gateway has it. */
static void
cancel_target (IrisdGateway *gateway, IrisdChange *self)
{
  for (GList *link = gateway->peers.by_age.head; link != NULL; link = link->next)
    {
      IrisdJob *job = g_hash_table_lookup (((IrisdPeer *) link->data)->jobs, self->target);
      if (job == NULL || !irisd_view_reaches (self->view, job->owner))
        continue;
      self->over = TRUE;
      self->changed = 1;
      self->was_queued = irisd_cancel_job (&gateway->items, job);
      /* Ending the job may have cost the peer its place in the list. */
      return;
    }
}

/* Returns whether the broadcast goes on with the journal's answer. */
static gboolean
bury_here (IrisdGateway *gateway, IrisdChange *self, IrisdJob *job)
{
  self->over = TRUE;
  if (irisd_item_state_is_over (irisd_job_get_state (job)))
    return FALSE;
  /* What the scheduler has cannot be taken from it, but will not run. */
  irisd_dispatch_withdraw (&gateway->items, job);
  if (irisd_job_advance (job, IRISD_EVENT_BURY))
    {
      self->changed = 1;
      irisd_completion_bury (&gateway->items, job, IRIS_WIRE_ERROR_BURIED, self->reason,
                             &self->base);
      return TRUE;
    }
  self->error = g_error_new (
      IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
      "item %" G_GUINT64_FORMAT
      " runs, or has just ended, and cannot be buried; only a waiting item can",
      self->item);
  return FALSE;
}

static void
kick_all_here (IrisdGateway *gateway, IrisdChange *self)
{
  IrisdItems *items = &gateway->items;
  self->changed += irisd_dispatch_kick_all (items, self->view, self->most - self->changed);
  self->changed += irisd_reload_kick (items, self->view, self->most - self->changed);
  self->over = self->changed >= self->most;
}

/* Changes the item of a number, if this gateway has a job for it. Returns whether the broadcast
 * goes on later. */
static gboolean
change_here (IrisdGateway *gateway, IrisdChange *self)
{
  IrisdMailbox *holder;
  if (self->type == IRIS_WIRE_CANCEL)
    {
      cancel_here (gateway, self,
                   irisd_dependencies_find_item (&gateway->items, self->item, self->view, &holder));
      return FALSE;
    }
  IrisdJob *job = irisd_items_find (&gateway->items, self->item);
  if (job == NULL || !irisd_view_reaches (self->view, job->owner))
    return FALSE;
  if (self->type == IRIS_WIRE_BURY)
    return bury_here (gateway, self, job);
  self->changed = irisd_dispatch_kick (&gateway->items, job);
  self->over = TRUE;
  return FALSE;
}

/* Returns whether the broadcast goes on later. */
static gboolean
look_here (IrisdGateway *gateway, IrisdChange *self)
{
  IrisdMailbox *holder;
  self->visited++;
  self->here = gateway;
  if (self->item == 0)
    {
      if (self->type == IRIS_WIRE_CANCEL)
        cancel_target (gateway, self);
      else
        kick_all_here (gateway, self);
      return FALSE;
    }
  if (irisd_dependencies_find_item (&gateway->items, self->item, self->view, &holder) != NULL
      || holder != &gateway->mailbox)
    return change_here (gateway, self);
  irisd_reload_for_message (&gateway->items, self->item, &self->base.message);
  return TRUE;
}

static void
pass_on (IrisdGateway *gateway, IrisdChange *self)
{
  IrisdCore *core = gateway->core;
  self->over |= self->visited == core->n_gateways;
  if (self->over && gateway == self->home)
    {
      answer (gateway, self);
      change_free (&self->base);
      return;
    }
  self->at = (self->at + 1) % core->n_gateways;
  IrisdGateway *next = self->over ? self->home : core->gateways[self->at];
  irisd_mailbox_post (&next->mailbox, &self->base.message);
}

static void
run (IrisdGateway *gateway, IrisdBroadcast *broadcast)
{
  IrisdChange *self = (IrisdChange *) broadcast;
  if (self->over || !look_here (gateway, self))
    pass_on (gateway, self);
}

static void
resume (IrisdBroadcast *broadcast)
{
  IrisdChange *self = (IrisdChange *) broadcast;
  if (!change_here (self->here, self))
    pass_on (self->here, self);
}

static const IrisdBroadcastClass change_class = {
  .run = run,
  .resume = resume,
  .refuse = refuse,
  .free = change_free,
};

/* Returns a request of @peer that was nowhere yet. */
static IrisdChange *
change_new (IrisdGateway *home, IrisWireType type, IrisdPeer *peer, const guint8 *request_id)
{
  IrisdChange *self = g_new0 (IrisdChange, 1);
  irisd_broadcast_init (&self->base, &change_class);
  self->home = home;
  self->type = type;
  self->peer = irisd_peer_ref (peer);
  memcpy (self->request_id, request_id, IRIS_WIRE_ID_SIZE);
  while (home->core->gateways[self->at] != home)
    self->at++;
  return self;
}

/* --- CANCEL ----------------------------------------------------------------------------------- */

static IrisdChange *
cancel_new (IrisdGateway *home, const IrisdCaller *caller, const IrisWireMessage *request)
{
  IrisdChange *self = change_new (home, IRIS_WIRE_CANCEL, caller->peer, request->request_id);
  memcpy (self->target, request->target, IRIS_WIRE_ID_SIZE);
  self->item = request->item;
  self->view = irisd_peer_get_view (caller->peer, IRIS_WIRE_CANCEL);
  return self;
}

/* Cancels the item of a number, of any connection and gateway. */
static void
cancel_by_number (IrisdGateway *gateway, const IrisdCaller *caller, const IrisWireMessage *request)
{
  IrisdMailbox *holder;
  gint64 view = irisd_peer_get_view (caller->peer, IRIS_WIRE_CANCEL);
  irisd_dependencies_find_item (&gateway->items, request->item, view, &holder);
  if (holder == NULL)
    cancel_without_job (gateway, caller, request->request_id, request->item);
  else if (holder == &gateway->mailbox)
    irisd_broadcast_run (gateway, &cancel_new (gateway, caller, request)->base);
  else
    irisd_mailbox_post (holder, &cancel_new (gateway, caller, request)->base.message);
}

static void
cancel_own (IrisdGateway *self, const IrisdCaller *caller, const guint8 *request_id, IrisdJob *job)
{
  gboolean ours = FALSE;
  gboolean queued = irisd_cancel_begin (&self->items, job, &ours);
  tell_cancelling (self, caller, request_id, queued);
  if (ours)
    irisd_completion_end_cancelled (&self->items, job);
}

void
irisd_change_requests_cancel (IrisdGateway *self,
                              const IrisdCaller *caller,
                              const IrisWireMessage *request)
{
  IrisdJob *job = g_hash_table_lookup (caller->peer->jobs, request->target);
  if (iris_wire_message_has (request, IRIS_WIRE_KEY_ITEM))
    cancel_by_number (self, caller, request);
  else if (job != NULL)
    cancel_own (self, caller, request->request_id, job);
  else if (request->anywhere)
    irisd_broadcast_run (self, &cancel_new (self, caller, request)->base);
  else
    tell_not_found (self, caller, request->request_id, "this connection");
}

/* @request is CANCEL with the journal's answer. */
static void
take_cancel (IrisdGateway *self, IrisdJournalRequest *request)
{
  const IrisdCaller caller = { .route = request->peer->route, .peer = request->peer };
  if (request->error == NULL && !request->pending)
    {
      irisd_item_log_cancelled (request->item, request->peer);
      irisd_dependencies_note_cancelled (&self->items, request->item);
    }
  request->peer->n_questions--;
  if (irisd_peer_is_gone (request->peer))
    return;
  /* Waiting and running items were looked for before; meanwhile it may have ended or been
   * kicked. */
  if (request->pending)
    request->error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_FOUND,
                                  "item %" G_GUINT64_FORMAT
                                  " is %s by now: there is nothing to cancel",
                                  request->item, iris_wire_state_name (request->state));
  else if (g_error_matches (request->error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NO_SUCH_ITEM))
    request->error->code = IRIS_WIRE_ERROR_NOT_FOUND;
  if (request->error != NULL)
    irisd_send_refusal (self, &caller, request->request_id, request->error);
  else
    tell_cancelling (self, &caller, request->request_id, TRUE);
}

/* --- KICK and BURY ---------------------------------------------------------------------------- */

/* Sends @request, a KICK or BURY_ITEM, from gateway to gateway. */
static void
look_for (IrisdGateway *gateway, IrisdJournalRequest *request)
{
  IrisdChange *self = change_new (
      gateway, request->kind == IRISD_JOURNAL_REQUEST_KICK ? IRIS_WIRE_KICK : IRIS_WIRE_BURY,
      request->peer, request->request_id);
  self->view = request->view;
  self->item = request->item;
  self->most = request->count;
  self->reason = g_steal_pointer (&request->reason);
  irisd_broadcast_run (gateway, &self->base);
}

void
irisd_change_requests_kick (IrisdGateway *self,
                            const IrisdCaller *caller,
                            const IrisWireMessage *request)
{
  if (!may_change (self, caller, request))
    return;
  guint most = self->core->wire_limits.max_entries;
  IrisdJournalRequest *journal_request = new_question (self, IRISD_JOURNAL_REQUEST_KICK, caller,
                                                       request);
  journal_request->state = request->state;
  journal_request->count = request->count > 0 ? MIN (request->count, most) : most;
  if (request->state == IRIS_WIRE_STATE_DELAYED)
    {
      look_for (self, journal_request);
      irisd_journal_request_free (journal_request);
      return;
    }
  irisd_journal_post (self->core->journal, journal_request);
}

void
irisd_change_requests_bury (IrisdGateway *self,
                            const IrisdCaller *caller,
                            const IrisWireMessage *request)
{
  if (!may_change (self, caller, request))
    return;
  IrisdJournalRequest *journal_request = new_question (self, IRISD_JOURNAL_REQUEST_BURY_ITEM,
                                                       caller, request);
  journal_request->reason = request->message.len > 0 ? iris_wire_string_dup (&request->message)
                                                     : g_strdup (NO_REASON);
  irisd_journal_post (self->core->journal, journal_request);
}

static GError *
explain_refusal (const IrisdJournalRequest *request)
{
  gboolean runs = request->state == IRIS_WIRE_STATE_RUNNING
                  || request->state == IRIS_WIRE_STATE_LEASED;
  if (request->kind == IRISD_JOURNAL_REQUEST_KICK)
    return g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                        "item %" G_GUINT64_FORMAT
                        " is %s; only an item that is buried or delayed can be kicked",
                        request->item, iris_wire_state_name (request->state));
  return g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                      "item %" G_GUINT64_FORMAT " is %s and cannot be buried: %s", request->item,
                      iris_wire_state_name (request->state),
                      runs ? "only a waiting item can; cancel it, or bury it when it waits again"
                           : "it has ended");
}

/* Whether an item in that state may be waiting at a gateway. */
static gboolean
is_elsewhere (const IrisdJournalRequest *request)
{
  return request->state == IRIS_WIRE_STATE_DELAYED
         || ((request->state == IRIS_WIRE_STATE_QUEUED
              || request->state == IRIS_WIRE_STATE_SUSPENDED)
             && request->kind == IRISD_JOURNAL_REQUEST_BURY_ITEM);
}

/* Whether the item is in the requested state already. */
static gboolean
is_done (const IrisdJournalRequest *request)
{
  return request->state
         == (request->kind == IRISD_JOURNAL_REQUEST_KICK ? IRIS_WIRE_STATE_QUEUED
                                                         : IRIS_WIRE_STATE_BURIED);
}

/* @request is KICK or BURY_ITEM with the journal's answer. */
static void
take_change (IrisdGateway *self, IrisdJournalRequest *request)
{
  if (request->pending && is_elsewhere (request))
    {
      look_for (self, request);
      return;
    }
  const IrisdCaller caller = { .route = request->peer->route, .peer = request->peer };
  request->peer->n_questions--;
  if (irisd_peer_is_gone (request->peer))
    return;
  if (request->pending && !is_done (request))
    request->error = explain_refusal (request);
  if (request->error != NULL)
    irisd_send_refusal (self, &caller, request->request_id, request->error);
  else
    irisd_send_changed (self, &caller, request->request_id, request->pending ? 0 : request->count);
}

/* @request is CANCEL, KICK or BURY_ITEM with the journal's answer. */
void
irisd_change_requests_take_answer (IrisdGateway *self, IrisdJournalRequest *request)
{
  if (request->kind == IRISD_JOURNAL_REQUEST_CANCEL)
    take_cancel (self, request);
  else
    take_change (self, request);
}
