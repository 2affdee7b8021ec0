/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * CANCEL requests and their answers.
 */
#include "daemon/gateway/irisd-cancel-broadcast.h"

/* @was_queued: the item was queued, not running. */
void
irisd_cancel_tell_cancelling (IrisdGateway *self,
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
void
irisd_cancel_tell_not_found (IrisdGateway *self,
                             const IrisdCaller *caller,
                             const guint8 *request_id,
                             const char *where)
{
  g_autoptr (GError) error = g_error_new (
      IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_FOUND,
      "no item with this request id is in flight on %s: it has ended, or never was", where);
  irisd_send_refusal (self, caller, request_id, error);
}

void
irisd_cancel_request (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request)
{
  if (iris_wire_message_has (request, IRIS_WIRE_KEY_ITEM))
    {
      irisd_cancel_broadcast_by_number (self, caller, request);
      return;
    }
  IrisdJob *job = g_hash_table_lookup (caller->peer->jobs, request->target);
  if (job == NULL && request->anywhere)
    {
      irisd_cancel_broadcast_by_request (self, caller, request);
      return;
    }
  if (job == NULL)
    {
      irisd_cancel_tell_not_found (self, caller, request->request_id, "this connection");
      return;
    }
  gboolean ours = FALSE;
  gboolean queued = irisd_completion_begin_cancel (self, job, &ours);
  irisd_cancel_tell_cancelling (self, caller, request->request_id, queued);
  if (ours)
    irisd_completion_end_cancelled (self, job);
}
