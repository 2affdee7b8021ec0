/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * KICK, BURY, and CANCEL of what is buried, as they are asked for and answered.
 *
 * They change items of the same owner, or, for operators, of any. The journal knows whether there
 * is such an item and whether it is buried; what waits is with one of the gateways, which the
 * journal does not know. So a request goes to the journal first, and if it is about an item that
 * waits, then round the gateways.
 */
#include "daemon/items/irisd-bury.h"

/* What is said about an item that BURY gives no reason for. */
#define NO_REASON "it was buried by request"

static gboolean
may_change (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  if (!irisd_item_requests_may_ask (self, caller, request))
    return FALSE;
  if (irisd_gateway_get_phase (self) != IRISD_PHASE_SERVING)
    error = g_error_new_literal (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_SHUTTING_DOWN,
                                 "irisd is ending: ask again when it is back");
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
      irisd_bury_broadcast_run (self, irisd_bury_broadcast_new (self, journal_request));
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
  journal_request->sentence = request->sentence.len > 0 ? iris_wire_string_dup (&request->sentence)
                                                        : g_strdup (NO_REASON);
  irisd_journal_post (self->core->journal, journal_request);
}

/**
 * irisd_bury_requests_tell_changed:
 * @self: the gateway
 * @caller: who asked
 * @request_id: under which id
 * @count: how much was changed
 */
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
                        " is %s: only an item that is buried or delayed can be kicked",
                        request->item, iris_wire_state_name (request->state));
  return g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                      "item %" G_GUINT64_FORMAT " is %s and cannot be buried: %s", request->item,
                      iris_wire_state_name (request->state),
                      runs ? "only what waits can; cancel it, or bury it when it waits again"
                           : "it has ended");
}

/* Whether an item in that state is looked for among what waits. */
static gboolean
is_elsewhere (const IrisdJournalRequest *request)
{
  return request->state == IRIS_WIRE_STATE_DELAYED
         || (request->state == IRIS_WIRE_STATE_QUEUED
             && request->kind == IRISD_JOURNAL_REQUEST_BURY_ITEM);
}

/* Whether that is already so. */
static gboolean
is_done (const IrisdJournalRequest *request)
{
  return request->state
         == (request->kind == IRISD_JOURNAL_REQUEST_KICK ? IRIS_WIRE_STATE_QUEUED
                                                         : IRIS_WIRE_STATE_BURIED);
}

/**
 * irisd_bury_requests_take_kick:
 * @self: the gateway
 * @request: KICK or INTER, with what the journal says
 */
void
irisd_bury_requests_take_kick (IrisdGateway *self, IrisdJournalRequest *request)
{
  if (request->pending && is_elsewhere (request))
    {
      irisd_bury_broadcast_run (self, irisd_bury_broadcast_new (self, request));
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

/**
 * irisd_bury_requests_cancel:
 * @self: the gateway
 * @caller: who
 * @request: a CANCEL message that names an item by its number
 */
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
    g_error ("the end of an item cannot be encoded: %s", error->message);
  const IrisWireFrame *header = &self->encoder.frames[3];
  IrisdJournalRequest *journal_request = new_question (self, IRISD_JOURNAL_REQUEST_CANCEL, caller,
                                                       request);
  journal_request->type = end.type;
  journal_request->header = (IrisdBlob){ g_memdup2 (header->data, header->size), header->size };
  irisd_journal_post (self->core->journal, journal_request);
}

/**
 * irisd_bury_requests_take_cancel:
 * @self: the gateway
 * @request: CANCEL, with what the journal says
 */
void
irisd_bury_requests_take_cancel (IrisdGateway *self, IrisdJournalRequest *request)
{
  const IrisdCaller caller = { .route = request->peer->route, .peer = request->peer };
  if (request->error == NULL && !request->pending)
    irisd_dependencies_note_cancelled (self, request->item);
  request->peer->n_questions--;
  if (irisd_peer_is_gone (request->peer))
    return;
  /* What waits or runs was looked for before; it may have ended, or have been kicked, meanwhile. */
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
    irisd_completion_tell_cancelling (self, &caller, request->request_id, TRUE);
}
