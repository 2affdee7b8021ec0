/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests that have items wait or go on: SUSPEND and RESUME, and their answers.
 *
 * All gateways know which of them has the item of a number, so a request is a broadcast that goes
 * to that one, and then home, where it is answered. The change of a persistent item goes by the
 * journal on its way home: what is answered survives a restart. A spilled item is reloaded first.
 *
 * Of an item that no gateway has, the journal is asked for its state, to say why it cannot be
 * changed.
 */
#include "daemon/gateway/irisd-suspend-requests.h"

#include "daemon/gateway/irisd-send.h"
#include "daemon/gateway/irisd-submit.h"
#include "daemon/items/irisd-dependencies.h"
#include "daemon/items/irisd-suspend.h"
#include "daemon/items/spill/irisd-reload.h"

#include <string.h>

/**
 * IrisdSuspension:
 * @home: the gateway of the connection that asks
 * @here: the gateway that has it
 * @peer: the client that asks; belongs to @home
 * @view: what the request reaches: an owner, or IRISD_VIEW_ALL
 * @suspends: SUSPEND, not RESUME
 * @reason: (nullable): why
 * @over: it is on its way home
 * @found: some gateway has the item
 * @changed: whether the item was changed
 * @n_looks: how often the journal was asked where the item is
 * @error: why it could not be
 *
 * A SUSPEND or RESUME on its way.
 */
typedef struct
{
  IrisdBroadcast base;
  IrisdGateway *home;
  IrisdGateway *here;
  IrisdPeer *peer;
  guint8 request_id[IRIS_WIRE_ID_SIZE];
  gint64 view;
  guint64 item;
  gboolean suspends;
  char *reason;
  gboolean over;
  gboolean found;
  guint n_looks;
  gboolean changed;
  GError *error;
} IrisdSuspension;

static void
suspension_free (IrisdBroadcast *broadcast)
{
  IrisdSuspension *self = (IrisdSuspension *) broadcast;
  irisd_peer_unref (self->peer);
  g_clear_error (&self->error);
  g_free (self->reason);
  g_free (self);
}

static void
go_home (IrisdSuspension *self)
{
  self->over = TRUE;
  irisd_mailbox_post (&self->home->mailbox, &self->base.message);
}

/* Also the journal's answer, without an error if the change is written. */
static void
take_outcome (IrisdBroadcast *broadcast, const GError *error)
{
  IrisdSuspension *self = (IrisdSuspension *) broadcast;
  if (error != NULL && self->error == NULL)
    self->error = g_error_copy (error);
  go_home (self);
}

/* Changes @job, which the gateway has. */
static void
change (IrisdGateway *gateway, IrisdSuspension *self, IrisdJob *job)
{
  IrisdItems *items = &gateway->items;
  const gboolean kept = job->persistent != NULL;
  self->found = TRUE;
  if (job->edited)
    {
      g_set_error (&self->error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                   "item %" G_GUINT64_FORMAT " is being edited by another request: ask again",
                   job->id);
      go_home (self);
      return;
    }
  if (irisd_job_is_suspended (job) == self->suspends)
    {
      go_home (self);
      return;
    }
  self->changed = TRUE;
  if (!self->suspends)
    {
      /* Afterwards the job may be spilled. */
      if (kept)
        irisd_suspend_keep (items, job, FALSE, NULL, &self->base);
      irisd_suspend_resume (items, job);
    }
  else if (!irisd_suspend_job (items, job, &self->error))
    {
      go_home (self);
      return;
    }
  else if (kept)
    irisd_suspend_keep (items, job, TRUE, self->reason, &self->base);
  if (!kept)
    go_home (self);
}

/* The item that it waited for was reloaded. */
static void
resume (IrisdBroadcast *broadcast)
{
  IrisdSuspension *self = (IrisdSuspension *) broadcast;
  IrisdJob *job = irisd_items_find (&self->here->items, self->item);
  if (job != NULL)
    change (self->here, self, job);
  else
    go_home (self);
}

/* The journal says where the item is that no gateway has. Returns whether @self is taken. */
static gboolean
ask_journal (IrisdGateway *gateway, IrisdSuspension *self)
{
  IrisdJournalRequest *request = irisd_items_new_request (
      &gateway->items, IRISD_JOURNAL_REQUEST_LOOK, self->peer, self->request_id);
  const gboolean again = self->n_looks++ < IRISD_SUSPEND_MOST_LOOKS;
  request->view = self->view;
  request->item = self->item;
  request->type = self->suspends ? IRIS_WIRE_SUSPEND : IRIS_WIRE_RESUME;
  request->broadcast = again ? &self->base : NULL;
  self->over = FALSE;
  self->peer->n_questions++;
  irisd_journal_post (gateway->core->journal, request);
  return again;
}

static void
tell_not_found (IrisdGateway *gateway, const IrisdCaller *caller, const IrisdSuspension *self)
{
  g_autoptr (GError) error = g_error_new (
      IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NO_SUCH_ITEM,
      "the item %" G_GUINT64_FORMAT " is not in progress: it has ended, or never was", self->item);
  irisd_send_refusal (gateway, caller, self->request_id, error);
}

/* Returns whether @self is taken, and goes on. */
static gboolean
answer (IrisdGateway *gateway, IrisdSuspension *self)
{
  const IrisdCaller caller = { .route = self->peer->route, .peer = self->peer };
  self->peer->n_questions--;
  if (irisd_peer_is_gone (self->peer))
    return FALSE;
  if (self->error != NULL)
    irisd_send_refusal (gateway, &caller, self->request_id, self->error);
  else if (self->found)
    irisd_send_changed (gateway, &caller, self->request_id, (guint) self->changed);
  else if (gateway->core->journal != NULL)
    return ask_journal (gateway, self);
  else
    tell_not_found (gateway, &caller, self);
  return FALSE;
}

static void
run (IrisdGateway *gateway, IrisdBroadcast *broadcast)
{
  IrisdSuspension *self = (IrisdSuspension *) broadcast;
  IrisdMailbox *holder;
  if (self->over)
    {
      if (!answer (gateway, self))
        suspension_free (broadcast);
      return;
    }
  IrisdJob *job = irisd_dependencies_find_item (&gateway->items, self->item, self->view, &holder);
  self->here = gateway;
  if (job != NULL)
    change (gateway, self, job);
  else if (holder == &gateway->mailbox)
    irisd_reload_for_message (&gateway->items, self->item, &broadcast->message);
  else if (holder != NULL)
    irisd_mailbox_post (holder, &broadcast->message);
  else
    go_home (self);
}

static const IrisdBroadcastClass suspension_class = {
  .run = run,
  .resume = resume,
  .refuse = take_outcome,
  .free = suspension_free,
};

void
irisd_suspend_requests_handle (IrisdGateway *self,
                               const IrisdCaller *caller,
                               const IrisWireMessage *request)
{
  if (irisd_items_get_phase (&self->items) != IRISD_PHASE_SERVING)
    {
      g_autoptr (GError) error = g_error_new_literal (
          IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_SHUTTING_DOWN,
          "cannot change an item: irisd is ending; ask again when it is back");
      irisd_send_refusal (self, caller, request->request_id, error);
      return;
    }
  if (!irisd_submit_may_ask (self, caller, request, FALSE))
    return;
  IrisdSuspension *suspension = g_new0 (IrisdSuspension, 1);
  irisd_broadcast_init (&suspension->base, &suspension_class);
  suspension->home = self;
  suspension->peer = irisd_peer_ref (caller->peer);
  suspension->view = irisd_peer_get_view (caller->peer, (IrisWireType) request->type);
  suspension->item = request->item;
  suspension->suspends = request->type == IRIS_WIRE_SUSPEND;
  if (iris_wire_message_has (request, IRIS_WIRE_KEY_MESSAGE))
    suspension->reason = iris_wire_string_dup (&request->message);
  memcpy (suspension->request_id, request->request_id, IRIS_WIRE_ID_SIZE);
  caller->peer->n_questions++;
  irisd_broadcast_run (self, &suspension->base);
}

/* Whether an item in that state is about to be with a gateway. */
static gboolean
waits (IrisWireState state)
{
  return state == IRIS_WIRE_STATE_QUEUED || state == IRIS_WIRE_STATE_DELAYED
         || state == IRIS_WIRE_STATE_SUSPENDED;
}

/* @request is LOOK with the journal's answer, of a SUSPEND, RESUME or EDIT. */
void
irisd_suspend_requests_take_answer (IrisdGateway *self, IrisdJournalRequest *request)
{
  if (request->broadcast != NULL && request->error == NULL && waits (request->state)
      && !irisd_peer_is_gone (request->peer))
    {
      irisd_broadcast_run (self, g_steal_pointer (&request->broadcast));
      return;
    }
  const IrisdCaller caller = { .route = request->peer->route, .peer = request->peer };
  request->peer->n_questions--;
  if (irisd_peer_is_gone (request->peer))
    return;
  if (request->error == NULL && request->type == IRIS_WIRE_EDIT)
    request->error = g_error_new (
        IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
        "item %" G_GUINT64_FORMAT " is %s: only an item that waits can be edited; to run it once "
        "more, use AGAIN (irisctl again %" G_GUINT64_FORMAT ")",
        request->item, iris_wire_state_name (request->state), request->item);
  else if (request->error == NULL)
    request->error = g_error_new (
        IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
        "item %" G_GUINT64_FORMAT
        " is %s: only an item that waits can be %s, or a command that runs",
        request->item, iris_wire_state_name (request->state),
        request->type == IRIS_WIRE_SUSPEND ? "paused" : "resumed");
  irisd_send_refusal (self, &caller, request->request_id, request->error);
}
