/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The requests KICK, BURY, and CANCEL of buried items, and their answers.
 *
 * They change items of the same owner or, for operators, of any. The journal knows whether there is
 * such an item and whether it is buried; a waiting item is with one of the gateways, which the
 * journal does not know. So a request goes to the journal first and, for a waiting item, from
 * gateway to gateway then.
 */
#include "daemon/items/irisd-bury.h"

/* The reason of a BURY that gives none. */
#define NO_REASON "it was buried by request"

static gboolean
may_change (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  if (!irisd_item_requests_may_ask (self, caller, request))
    return FALSE;
  if (irisd_gateway_get_phase (self) != IRISD_PHASE_SERVING)
    error = g_error_new_literal (
        IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_SHUTTING_DOWN,
        "cannot change an item: irisd is ending; ask again when it is back");
  else
    return irisd_admission_may_ask (self, caller, request, FALSE);
  irisd_send_refusal (self, caller, request->request_id, error);
  return FALSE;
}

static IrisdJournalRequest *
new_question (IrisdGateway *self,
              IrisdJournalRequestKind kind,
              const IrisdCaller *caller,
              const IrisWireMessage *request)
{
  IrisdJournalRequest *journal_request = irisd_persistent_new_request (self, kind, caller->peer,
                                                                       request->request_id);
  caller->peer->n_questions++;
  journal_request->view = irisd_ownership_get_view (caller, (IrisWireType) request->type);
  journal_request->item = request->item;
  return journal_request;
}

void
irisd_bury_requests_kick (IrisdGateway *self,
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
      irisd_broadcast_run (self, irisd_bury_broadcast_new (self, journal_request));
      irisd_journal_request_free (journal_request);
      return;
    }
  irisd_journal_post (self->core->journal, journal_request);
}

void
irisd_bury_requests_bury (IrisdGateway *self,
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

/* Answers that @count items were changed. */
void
irisd_bury_requests_tell_changed (IrisdGateway *self,
                                  const IrisdCaller *caller,
                                  const guint8 *request_id,
                                  guint count)
{
  IrisWireMessage reply;
  iris_wire_message_init (&reply, IRIS_WIRE_CHANGED, request_id);
  iris_wire_message_set_uint (&reply, IRIS_WIRE_KEY_COUNT, count);
  irisd_send_answer (self, caller, &reply);
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
         || (request->state == IRIS_WIRE_STATE_QUEUED
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
void
irisd_bury_requests_take_kick (IrisdGateway *self, IrisdJournalRequest *request)
{
  if (request->pending && is_elsewhere (request))
    {
      irisd_broadcast_run (self, irisd_bury_broadcast_new (self, request));
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
    irisd_bury_requests_tell_changed (self, &caller, request->request_id,
                                      request->pending ? 0 : request->count);
}

/* @request is a CANCEL with an item's number. */
void
irisd_bury_requests_cancel (IrisdGateway *self,
                            const IrisdCaller *caller,
                            const IrisWireMessage *request)
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

/* @request is CANCEL with the journal's answer. */
void
irisd_bury_requests_take_cancel (IrisdGateway *self, IrisdJournalRequest *request)
{
  const IrisdCaller caller = { .route = request->peer->route, .peer = request->peer };
  if (request->error == NULL && !request->pending)
    irisd_dependencies_note_cancelled (self, request->item);
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
    irisd_cancel_tell_cancelling (self, &caller, request->request_id, TRUE);
}
