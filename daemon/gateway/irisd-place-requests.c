/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The requests DRAIN and SET_WORKERS, and their answers.
 */
#include "daemon/exec/command/irisd-command-slots.h"
#include "daemon/exec/irisd-place-control.h"
#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/items/irisd-bury.h"

static void
refuse (IrisdGateway *self,
        const IrisdCaller *caller,
        const IrisWireMessage *request,
        const GError *error)
{
  IrisWireMessage reply;
  iris_wire_message_init (&reply, IRIS_WIRE_ERROR_REPLY, request->request_id);
  iris_wire_message_set_error (&reply, error);
  if (g_error_matches (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_TOO_LARGE))
    {
      IrisPlace *place = self->core->infos[request->place].place;
      iris_wire_message_set_string (&reply, IRIS_WIRE_KEY_LIMIT, "workers", -1);
      iris_wire_message_set_uint (&reply, IRIS_WIRE_KEY_LIMIT_VALUE,
                                  iris_place_get_n_workers (place));
    }
  irisd_send_answer (self, caller, &reply);
}

/* The gate of a place was opened. Worker processes, which belong to no place, resume with the
 * last. */
static void
resume_place (IrisdGateway *self, gint place)
{
  irisd_dispatch_fill_gate (self, place);
  irisd_log (IRISD_LOG_INFO, "resumed place %d", place);
  if (!irisd_place_control_is_paused (self->core->place_control))
    irisd_worker_processes_resume (self->core->worker_processes);
}

void
irisd_place_requests_change (IrisdGateway *self,
                             const IrisdCaller *caller,
                             const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  IrisdPlaceControl *place_control = self->core->place_control;
  guint changed = 0;
  gboolean resumed = FALSE;
  if (irisd_gateway_get_phase (self) != IRISD_PHASE_SERVING)
    error = g_error_new_literal (
        IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_SHUTTING_DOWN,
        "cannot change a place: irisd is ending; ask again when it is back");
  else if (request->type == IRIS_WIRE_DRAIN)
    {
      resumed = !request->drained && irisd_place_control_resume (place_control, request->place);
      /* A scheduler without places can be paused, though it cannot drain. */
      if (!resumed || self->core->placed)
        irisd_place_control_drain (place_control, request->place, request->drained, &changed,
                                   &error);
    }
  else
    irisd_place_control_set_workers (place_control, request->place, request->workers, &changed,
                                     &error);
  if (error != NULL)
    {
      refuse (self, caller, request, error);
      return;
    }
  if (request->type == IRIS_WIRE_DRAIN && !request->drained)
    irisd_command_slots_refill (self->core->slots, (guint) request->place);
  if (resumed)
    resume_place (self, request->place);
  irisd_bury_requests_tell_changed (self, caller, request->request_id, resumed ? 1 : changed);
}
