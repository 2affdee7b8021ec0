/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests that use the SUBMIT of an item once more: EDIT changes it, AGAIN submits it anew.
 *
 * EDIT goes as a broadcast to the gateway that has the item (see irisd-suspend-requests.c), which
 * suspends the item, asks the journal for its SUBMIT, merges and checks the changes as those of a
 * new item, and has the journal write it. When that is done the job takes the changes, and goes on
 * unless it was suspended before. A second request that would change the item meanwhile is refused.
 *
 * AGAIN asks the journal for the SUBMIT and then takes it as one that the asking connection has
 * sent: its rights and its limits count, and the new item belongs to its user.
 */
#include "daemon/gateway/irisd-edit-requests.h"

#include "daemon/gateway/irisd-away.h"
#include "daemon/exec/worker/irisd-away-item.h"
#include "daemon/gateway/irisd-item-requests.h"
#include "daemon/gateway/irisd-send.h"
#include "daemon/gateway/irisd-submit.h"
#include "daemon/gateway/irisd-suspend-requests.h"
#include "daemon/items/irisd-dependencies.h"
#include "daemon/items/irisd-edit.h"
#include "daemon/items/irisd-persistent.h"
#include "daemon/items/irisd-placement.h"
#include "daemon/items/irisd-suspend.h"
#include "daemon/items/spill/irisd-reload.h"

#include <string.h>

/**
 * IrisdEdit:
 * @home: the gateway of the connection that asks
 * @here: the gateway that has the item
 * @peer: the client that asks; belongs to @home
 * @uid: its user
 * @over_tcp: how it is connected
 * @public_key: (nullable): its key
 * @view: what the request reaches: an owner, or IRISD_VIEW_ALL
 * @type: EDIT or AGAIN
 * @header: the request's header
 * @merged: the header of the SUBMIT with the changes
 * @place: where the edited item is queued
 * @was_suspended: it stays suspended
 * @over: it is on its way home
 * @found: some gateway has the item
 * @n_looks: how often the journal was asked where the item is
 * @error: why it could not be changed
 *
 * An EDIT or AGAIN on its way.
 */
typedef struct
{
  IrisdBroadcast base;
  IrisdGateway *home;
  IrisdGateway *here;
  IrisdPeer *peer;
  gint64 uid;
  gboolean over_tcp;
  char *public_key;
  guint8 request_id[IRIS_WIRE_ID_SIZE];
  gint64 view;
  guint64 item;
  IrisWireType type;
  IrisdBlob header;
  IrisdBlob merged;
  IrisdEditPlace place;
  gboolean was_suspended;
  gboolean over;
  gboolean found;
  guint n_looks;
  GError *error;
} IrisdEdit;

static void
edit_free (IrisdBroadcast *broadcast)
{
  IrisdEdit *self = (IrisdEdit *) broadcast;
  irisd_peer_unref (self->peer);
  g_free (self->public_key);
  g_free (self->header.data);
  g_free (self->merged.data);
  g_clear_error (&self->error);
  g_free (self);
}

/* The strings of @message are those of @header and @body. */
static gboolean
decode (const IrisdEdit *self,
        guint8 type,
        const IrisdBlob *header,
        IrisWireFrame body,
        IrisWireMessage *message,
        GError **error)
{
  const IrisWireFrame frames[IRIS_WIRE_N_FRAMES] = {
    { (const guint8 *) "IRS1", 4 }, { &type, 1 }, { self->request_id, IRIS_WIRE_ID_SIZE },
    { header->data, header->size }, body,
  };
  return iris_wire_decode (frames, IRIS_WIRE_N_FRAMES, &self->home->core->wire_limits, message,
                           error);
}

static gboolean
encode (IrisdGateway *gateway, const IrisWireMessage *message, IrisdBlob *header, GError **error)
{
  if (!iris_wire_encode (&gateway->encoder, message, error))
    return FALSE;
  const IrisWireFrame *frame = &gateway->encoder.frames[3];
  *header = (IrisdBlob){ g_memdup2 (frame->data, frame->size), frame->size };
  return TRUE;
}

static IrisdCaller
get_caller (const IrisdEdit *self)
{
  return (IrisdCaller){ .route = self->peer->route,
                        .peer = self->peer,
                        .over_tcp = self->over_tcp,
                        .uid = self->uid,
                        .public_key = self->public_key };
}

static void
go_home (IrisdEdit *self)
{
  self->over = TRUE;
  irisd_mailbox_post (&self->home->mailbox, &self->base.message);
}

static void
fail (IrisdEdit *self, const char *why)
{
  g_clear_error (&self->error);
  self->error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                             "item %" G_GUINT64_FORMAT " %s", self->item, why);
}

/* --- EDIT, at the gateway that has the item ------------------------------------------------------
 */

/* The item goes on as it is now. Afterwards the job may be spilled. */
static void
let_go (IrisdEdit *self, IrisdJob *job)
{
  job->edited = FALSE;
  if (!self->was_suspended && irisd_job_is (job, IRISD_ITEM_SUSPENDED))
    irisd_suspend_resume (&self->here->items, job);
  go_home (self);
}

static IrisdJob *
find_edited (IrisdEdit *self)
{
  IrisdJob *job = irisd_items_find (&self->here->items, self->item);
  if (job != NULL && job->edited && irisd_job_is (job, IRISD_ITEM_SUSPENDED))
    return job;
  fail (self, "has ended or was set aside while it was to be edited");
  go_home (self);
  return NULL;
}

/* Takes @job, which waits, out of what it waits in. Returns FALSE with an error if it does not
 * wait. */
static gboolean
hold (IrisdEdit *self, IrisdJob *job)
{
  IrisdItems *items = &self->here->items;
  self->was_suspended = irisd_job_is_suspended (job);
  if (job->persistent == NULL)
    fail (self, "is volatile: only a relaxed or durable item can be edited; cancel it, and submit "
                "another");
  else if (job->edited)
    fail (self, "is being edited by another request: ask again");
  else if (irisd_job_is (job, IRISD_ITEM_RUNNING) || irisd_job_is (job, IRISD_ITEM_LEASED)
           || irisd_job_is (job, IRISD_ITEM_STOPPING))
    fail (self, "is running: only an item that waits can be edited; let it end or cancel it, and "
                "submit another");
  else if (self->was_suspended || irisd_suspend_job (items, job, &self->error))
    {
      if (irisd_job_is (job, IRISD_ITEM_SUSPENDED))
        return TRUE;
      if (!self->was_suspended)
        irisd_suspend_resume (items, job);
      fail (self,
            "is about to run: only an item that waits can be edited; ask again when it waits");
    }
  return FALSE;
}

static void
begin (IrisdEdit *self, IrisdJob *job)
{
  self->found = TRUE;
  if (!hold (self, job))
    {
      go_home (self);
      return;
    }
  job->edited = TRUE;
  IrisdJournalRequest *request = irisd_journal_request_new (IRISD_JOURNAL_REQUEST_SUBMISSION,
                                                            self->here->items.mailbox);
  request->view = IRISD_VIEW_ALL;
  request->item = self->item;
  request->broadcast = &self->base;
  irisd_journal_post (self->here->core->journal, request);
}

/* Checks @item as a new one, and finds its place if @edit moves it. */
static gboolean
check (IrisdEdit *self,
       const IrisdJob *job,
       const IrisWireMessage *item,
       const IrisWireMessage *edit,
       GError **error)
{
  const IrisdCaller caller = get_caller (self);
  self->place.changes = (edit->present & IRISD_EDIT_HINT_KEYS) != 0;
  if (irisd_is_away (item) && self->place.changes)
    {
      fail (self, "is for another node, and its place cannot be edited: cancel it, and submit "
                  "another");
      g_propagate_error (error, g_steal_pointer (&self->error));
      return FALSE;
    }
  return irisd_submit_check (self->here, &caller, job->service, item, error)
         && irisd_persistent_check_keep_ms (&self->here->items, item, error)
         && (!self->place.changes
             || irisd_placement_choose_home (&self->here->items, NULL, item, &self->place.home,
                                             &self->place.hinted, error));
}

/* @answer has the item's SUBMIT. Returns a request that has the journal write it with the changes;
 * NULL with an error if they do not fit. */
static IrisdJournalRequest *
plan (IrisdEdit *self, IrisdJob *job, IrisdJournalRequest *answer, GError **error)
{
  const IrisWireFrame body = { zmq_msg_data (&answer->body), zmq_msg_size (&answer->body) };
  IrisWireMessage item, edit;
  if (!decode (self, IRIS_WIRE_SUBMIT, &answer->header, body, &item, error)
      || !decode (self, IRIS_WIRE_EDIT, &self->header, (IrisWireFrame){ 0 }, &edit, error))
    return NULL;
  irisd_edit_merge (&item, &edit);
  if (!check (self, job, &item, &edit, error))
    return NULL;
  if (iris_wire_message_has (&edit, IRIS_WIRE_KEY_DEADLINE_MS))
    irisd_edit_count_deadline (&item, job->persistent->accepted_ms);
  if (iris_wire_message_has (&edit, IRIS_WIRE_KEY_HINT_NAME))
    iris_wire_message_set_int (&item, IRIS_WIRE_KEY_HINT, self->place.home);
  item.body = (IrisWireFrame){ 0 };
  if (!encode (self->here, &item, &self->merged, error))
    return NULL;
  IrisdJournalRequest *request = irisd_journal_request_new (IRISD_JOURNAL_REQUEST_REWRITE,
                                                            self->here->items.mailbox);
  request->persistent = job->persistent;
  request->item = job->id;
  request->state = self->was_suspended ? IRIS_WIRE_STATE_SUSPENDED : IRIS_WIRE_STATE_QUEUED;
  request->header = (IrisdBlob){ g_memdup2 (self->merged.data, self->merged.size),
                                 self->merged.size };
  request->due_ms = irisd_edit_get_due (job, &edit);
  request->keeps = iris_wire_message_has (&edit, IRIS_WIRE_KEY_KEEP_MS);
  request->keep_ms = edit.keep_ms;
  return request;
}

static void
take_submission (IrisdEdit *self, IrisdJournalRequest *answer)
{
  IrisdJob *job = find_edited (self);
  if (job == NULL)
    return;
  IrisdJournalRequest *request = NULL;
  if (answer->error != NULL)
    self->error = g_error_copy (answer->error);
  else
    request = plan (self, job, answer, &self->error);
  if (request == NULL)
    {
      let_go (self, job);
      return;
    }
  request->broadcast = &self->base;
  irisd_journal_post (self->here->core->journal, request);
}

/* The journal has written the edited item, or not. */
static void
take_outcome (IrisdBroadcast *broadcast, const GError *error)
{
  IrisdEdit *self = (IrisdEdit *) broadcast;
  IrisWireMessage item, edit;
  if (self->here == NULL || !self->found)
    {
      self->error = error != NULL && self->error == NULL ? g_error_copy (error) : self->error;
      go_home (self);
      return;
    }
  IrisdJob *job = find_edited (self);
  if (job == NULL)
    return;
  if (error != NULL)
    self->error = g_error_copy (error);
  else if (decode (self, IRIS_WIRE_SUBMIT, &self->merged, (IrisWireFrame){ 0 }, &item, &self->error)
           && decode (self, IRIS_WIRE_EDIT, &self->header, (IrisWireFrame){ 0 }, &edit,
                      &self->error))
    irisd_edit_apply (&self->here->items, job, &item, &edit, &self->place);
  let_go (self, job);
}

/* The item that it waited for was reloaded. */
static void
resume (IrisdBroadcast *broadcast)
{
  IrisdEdit *self = (IrisdEdit *) broadcast;
  IrisdJob *job = irisd_items_find (&self->here->items, self->item);
  if (job != NULL)
    begin (self, job);
  else
    go_home (self);
}

/* --- EDIT, at the gateway that was asked ---------------------------------------------------------
 */

/* The journal says where the item is that no gateway has. Returns whether @self is taken. */
static gboolean
ask_journal (IrisdGateway *gateway, IrisdEdit *self)
{
  IrisdJournalRequest *request = irisd_items_new_request (
      &gateway->items, IRISD_JOURNAL_REQUEST_LOOK, self->peer, self->request_id);
  const gboolean again = self->n_looks++ < IRISD_SUSPEND_MOST_LOOKS;
  request->view = self->view;
  request->item = self->item;
  request->type = IRIS_WIRE_EDIT;
  request->broadcast = again ? &self->base : NULL;
  self->over = FALSE;
  self->peer->n_questions++;
  irisd_journal_post (gateway->core->journal, request);
  return again;
}

/* Returns whether @self is taken, and goes on. */
static gboolean
answer_edit (IrisdGateway *gateway, IrisdEdit *self)
{
  const IrisdCaller caller = get_caller (self);
  self->peer->n_questions--;
  if (irisd_peer_is_gone (self->peer))
    return FALSE;
  if (self->error != NULL)
    irisd_send_refusal (gateway, &caller, self->request_id, self->error);
  else if (self->found)
    irisd_send_changed (gateway, &caller, self->request_id, 1);
  else
    return ask_journal (gateway, self);
  return FALSE;
}

static void
run (IrisdGateway *gateway, IrisdBroadcast *broadcast)
{
  IrisdEdit *self = (IrisdEdit *) broadcast;
  IrisdMailbox *holder;
  if (self->over)
    {
      if (!answer_edit (gateway, self))
        edit_free (broadcast);
      return;
    }
  IrisdJob *job = irisd_dependencies_find_item (&gateway->items, self->item, self->view, &holder);
  self->here = gateway;
  if (job != NULL)
    begin (self, job);
  else if (holder == &gateway->mailbox)
    irisd_reload_for_message (&gateway->items, self->item, &broadcast->message);
  else if (holder != NULL)
    irisd_mailbox_post (holder, &broadcast->message);
  else
    go_home (self);
}

static const IrisdBroadcastClass edit_class = {
  .run = run,
  .resume = resume,
  .refuse = take_outcome,
  .free = edit_free,
};

static IrisdEdit *
edit_new (IrisdGateway *home, const IrisdCaller *caller, const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  IrisdEdit *self = g_new0 (IrisdEdit, 1);
  irisd_broadcast_init (&self->base, &edit_class);
  self->home = home;
  self->peer = irisd_peer_ref (caller->peer);
  self->uid = caller->uid;
  self->over_tcp = caller->over_tcp;
  self->public_key = g_strdup (caller->public_key);
  self->view = irisd_peer_get_view (caller->peer, (IrisWireType) request->type);
  self->item = request->item;
  self->type = (IrisWireType) request->type;
  memcpy (self->request_id, request->request_id, IRIS_WIRE_ID_SIZE);
  if (!encode (home, request, &self->header, &error))
    g_error ("a request that was decoded cannot be encoded: %s", error->message);
  caller->peer->n_questions++;
  return self;
}

void
irisd_edit_requests_edit (IrisdGateway *self,
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
  if (irisd_item_requests_may_ask (self, caller, request)
      && irisd_submit_may_ask (self, caller, request, FALSE))
    irisd_broadcast_run (self, &edit_new (self, caller, request)->base);
}

/* --- AGAIN ---------------------------------------------------------------------------------------
 */

void
irisd_edit_requests_again (IrisdGateway *self,
                           const IrisdCaller *caller,
                           const IrisWireMessage *request)
{
  if (!irisd_item_requests_may_ask (self, caller, request)
      || !irisd_submit_may_ask (self, caller, request, FALSE))
    return;
  IrisdEdit *again = edit_new (self, caller, request);
  IrisdJournalRequest *question = irisd_journal_request_new (IRISD_JOURNAL_REQUEST_SUBMISSION,
                                                             &self->mailbox);
  question->view = again->view;
  question->item = again->item;
  question->broadcast = &again->base;
  irisd_journal_post (self->core->journal, question);
}

/* Makes the SUBMIT of @answer one of the connection that asks. */
static gboolean
make_item (IrisdEdit *self, IrisdJournalRequest *answer, IrisWireMessage *item, GError **error)
{
  const IrisWireFrame body = { zmq_msg_data (&answer->body), zmq_msg_size (&answer->body) };
  IrisWireMessage again;
  if (!decode (self, IRIS_WIRE_SUBMIT, &answer->header, body, item, error)
      || !decode (self, IRIS_WIRE_AGAIN, &self->header, (IrisWireFrame){ 0 }, &again, error))
    return FALSE;
  irisd_placement_unpin_hint (item);
  /* It is another item, also in the cluster. */
  item->present &= ~(IRIS_WIRE_BIT (IRIS_WIRE_KEY_KEY) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_QUIET)
                     | IRIS_WIRE_BIT (IRIS_WIRE_KEY_CLUSTER_ITEM));
  item->key = (IrisWireString){ 0 };
  item->quiet = FALSE;
  iris_wire_message_set_boolean (item, IRIS_WIRE_KEY_DETACH, TRUE);
  irisd_edit_merge (item, &again);
  return TRUE;
}

/* The bridge asks on behalf of a client of another node: for an operator, or for the owner. The new
 * item has the owner of the old one, and is checked as one that the owner submits. */
static void
submit_for_owner (IrisdGateway *gateway,
                  const IrisdCaller *caller,
                  gint64 owner,
                  const IrisWireMessage *item,
                  zmq_msg_t *body)
{
  g_autoptr (GError) error = NULL;
  const IrisdConfig *settings = irisd_core_get_settings (gateway->core);
  const IrisdKey *key = irisd_keys_find_owner (settings->keys, owner);
  IrisWireMessage request;
  IrisdActing acting;
  iris_wire_message_init (&request, IRIS_WIRE_AGAIN, item->request_id);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_FOR_OWNER, (guint64) owner);
  if (key != NULL)
    iris_wire_message_set_string (&request, IRIS_WIRE_KEY_KEY_NAME, key->name, -1);
  if (!irisd_acting_begin (gateway, caller, &request, &acting, &error))
    {
      irisd_send_refusal (gateway, caller, item->request_id, error);
      return;
    }
  irisd_submit_item (gateway, &acting.caller, item, body);
  irisd_acting_end (&acting);
}

static void
submit_again (IrisdGateway *gateway, IrisdEdit *self, IrisdJournalRequest *answer)
{
  const IrisdCaller caller = get_caller (self);
  IrisWireMessage item;
  self->peer->n_questions--;
  if (irisd_peer_is_gone (self->peer))
    return;
  if (answer->error != NULL || !make_item (self, answer, &item, &answer->error))
    irisd_send_refusal (gateway, &caller, self->request_id, answer->error);
  else if (self->peer->bridge)
    submit_for_owner (gateway, &caller, answer->owner, &item, &answer->body);
  else
    irisd_submit_item (gateway, &caller, &item, &answer->body);
}

/* @request is SUBMISSION with the journal's answer. */
void
irisd_edit_requests_take_submission (IrisdGateway *self, IrisdJournalRequest *request)
{
  IrisdEdit *edit = (IrisdEdit *) g_steal_pointer (&request->broadcast);
  if (edit->type == IRIS_WIRE_EDIT)
    {
      take_submission (edit, request);
      return;
    }
  submit_again (self, edit, request);
  edit_free (&edit->base);
}
