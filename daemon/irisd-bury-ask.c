/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * KICK, BURY, and CANCEL of what is buried, as they are asked for and answered.
 *
 * They change items of the same owner, or, for operators, of any. The journal knows whether there
 * is such an item and whether it is buried; what waits is with one of the gateways, which the
 * journal does not know. So a request goes to the journal first, and if it is about an item that
 * waits, then round the gateways.
 */
#include "irisd-bury.h"

/* What is said about an item that BURY gives no reason for. */
#define NO_REASON "it was buried by request"

static gboolean
may_change (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  if (!irisd_gateway_may_ask_kept (self, caller, request))
    return FALSE;
  if (irisd_gateway_get_phase (self) != IRISD_PHASE_SERVING)
    error = g_error_new_literal (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_SHUTTING_DOWN,
                                 "irisd is ending: ask again when it is back");
  else
    return irisd_gateway_may_ask (self, caller, request, FALSE);
  irisd_gateway_refuse (self, caller, request->request_id, error);
  return FALSE;
}

static IrisdSlip *
new_question (IrisdGateway *self,
              IrisdSlipKind kind,
              const IrisdCaller *caller,
              const IrisWireMessage *request)
{
  IrisdSlip *slip = irisd_gateway_new_slip (self, kind, caller->peer, request->request_id);
  caller->peer->n_questions++;
  slip->view = irisd_gateway_get_view (caller, (IrisWireType) request->type);
  slip->item = request->item;
  return slip;
}

/**
 * irisd_gateway_kick:
 * @self: the gateway
 * @caller: who
 * @request: a KICK message
 */
void
irisd_gateway_kick (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request)
{
  if (!may_change (self, caller, request))
    return;
  guint most = self->core->wire_limits.max_entries;
  IrisdSlip *slip = new_question (self, IRISD_SLIP_KICK, caller, request);
  slip->state = request->state;
  slip->count = request->count > 0 ? MIN (request->count, most) : most;
  if (request->state == IRIS_WIRE_STATE_DELAYED)
    {
      irisd_gateway_go_round (self, irisd_round_new (self, slip));
      irisd_slip_free (slip);
      return;
    }
  irisd_journal_post (self->core->journal, slip);
}

/**
 * irisd_gateway_inter:
 * @self: the gateway
 * @caller: who
 * @request: a BURY message
 */
void
irisd_gateway_inter (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request)
{
  if (!may_change (self, caller, request))
    return;
  IrisdSlip *slip = new_question (self, IRISD_SLIP_INTER, caller, request);
  slip->sentence = request->sentence.len > 0 ? iris_wire_string_dup (&request->sentence)
                                             : g_strdup (NO_REASON);
  irisd_journal_post (self->core->journal, slip);
}

/**
 * irisd_gateway_tell_changed:
 * @self: the gateway
 * @caller: who asked
 * @request_id: under which id
 * @count: how much was changed
 */
void
irisd_gateway_tell_changed (IrisdGateway *self,
                            const IrisdCaller *caller,
                            const guint8 *request_id,
                            guint count)
{
  IrisWireMessage reply;
  iris_wire_message_init (&reply, IRIS_WIRE_CHANGED, request_id);
  iris_wire_message_set_uint (&reply, IRIS_WIRE_KEY_COUNT, count);
  irisd_gateway_answer (self, caller, &reply);
}

static GError *
explain_refusal (const IrisdSlip *slip)
{
  gboolean runs = slip->state == IRIS_WIRE_STATE_RUNNING || slip->state == IRIS_WIRE_STATE_LEASED;
  if (slip->kind == IRISD_SLIP_KICK)
    return g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                        "item %" G_GUINT64_FORMAT
                        " is %s: only an item that is buried or delayed can be kicked",
                        slip->item, iris_wire_state_name (slip->state));
  return g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                      "item %" G_GUINT64_FORMAT " is %s and cannot be buried: %s", slip->item,
                      iris_wire_state_name (slip->state),
                      runs ? "only what waits can; cancel it, or bury it when it waits again"
                           : "it has ended");
}

/* Whether an item in that state is looked for among what waits. */
static gboolean
is_elsewhere (const IrisdSlip *slip)
{
  return slip->state == IRIS_WIRE_STATE_DELAYED
         || (slip->state == IRIS_WIRE_STATE_QUEUED && slip->kind == IRISD_SLIP_INTER);
}

/* Whether that is already so. */
static gboolean
is_done (const IrisdSlip *slip)
{
  return slip->state
         == (slip->kind == IRISD_SLIP_KICK ? IRIS_WIRE_STATE_QUEUED : IRIS_WIRE_STATE_BURIED);
}

/**
 * irisd_gateway_take_kick:
 * @self: the gateway
 * @slip: KICK or INTER, with what the journal says
 */
void
irisd_gateway_take_kick (IrisdGateway *self, IrisdSlip *slip)
{
  if (slip->pending && is_elsewhere (slip))
    {
      irisd_gateway_go_round (self, irisd_round_new (self, slip));
      return;
    }
  const IrisdCaller caller = { .route = slip->peer->route, .peer = slip->peer };
  slip->peer->n_questions--;
  if (irisd_peer_is_gone (slip->peer))
    return;
  if (slip->pending && !is_done (slip))
    slip->error = explain_refusal (slip);
  if (slip->error != NULL)
    irisd_gateway_refuse (self, &caller, slip->request_id, slip->error);
  else
    irisd_gateway_tell_changed (self, &caller, slip->request_id, slip->pending ? 0 : slip->count);
}

/**
 * irisd_gateway_cancel_buried:
 * @self: the gateway
 * @caller: who
 * @request: a CANCEL message that names an item by its number
 */
void
irisd_gateway_cancel_buried (IrisdGateway *self,
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
  IrisdSlip *slip = new_question (self, IRISD_SLIP_CANCEL, caller, request);
  slip->type = end.type;
  slip->header = (IrisdBlob){ g_memdup2 (header->data, header->size), header->size };
  irisd_journal_post (self->core->journal, slip);
}

/**
 * irisd_gateway_take_cancel:
 * @self: the gateway
 * @slip: CANCEL, with what the journal says
 */
void
irisd_gateway_take_cancel (IrisdGateway *self, IrisdSlip *slip)
{
  const IrisdCaller caller = { .route = slip->peer->route, .peer = slip->peer };
  if (slip->error == NULL && !slip->pending)
    irisd_gateway_note_cancelled (self, slip->item);
  slip->peer->n_questions--;
  if (irisd_peer_is_gone (slip->peer))
    return;
  /* What waits or runs was looked for before; it may have ended, or have been kicked, meanwhile. */
  if (slip->pending)
    slip->error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_FOUND,
                               "item %" G_GUINT64_FORMAT
                               " is %s by now: there is nothing to cancel",
                               slip->item, iris_wire_state_name (slip->state));
  else if (g_error_matches (slip->error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NO_SUCH_ITEM))
    slip->error->code = IRIS_WIRE_ERROR_NOT_FOUND;
  if (slip->error != NULL)
    irisd_gateway_refuse (self, &caller, slip->request_id, slip->error);
  else
    irisd_gateway_tell_cancelling (self, &caller, slip->request_id, TRUE);
}
