/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * DRAIN and STAFF, as they are asked for and answered.
 */
#include "irisd-bury.h"
#include "irisd-command-slots.h"
#include "irisd-outside.h"
#include "irisd-staff.h"

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
  irisd_gateway_answer (self, caller, &reply);
}

/* The gate of a place was opened. Worker processes, which belong to no place, go on with the last.
 */
static void
resume_place (IrisdGateway *self, gint place)
{
  irisd_gateway_fill_gate (self, place);
  irisd_log (IRISD_LOG_INFO, "place %d is no longer paused", place);
  if (!irisd_staff_is_paused (self->core->staff))
    irisd_outside_resume (self->core->outside);
}

/**
 * irisd_gateway_change_place:
 * @self: the gateway
 * @caller: who
 * @request: a DRAIN or STAFF message
 */
void
irisd_gateway_change_place (IrisdGateway *self,
                            const IrisdCaller *caller,
                            const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  IrisdStaff *staff = self->core->staff;
  guint changed = 0;
  gboolean resumed = FALSE;
  if (irisd_gateway_get_phase (self) != IRISD_PHASE_SERVING)
    error = g_error_new_literal (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_SHUTTING_DOWN,
                                 "irisd is ending, and with it its places");
  else if (request->type == IRIS_WIRE_DRAIN)
    {
      resumed = !request->drained && irisd_staff_resume (staff, request->place);
      /* A scheduler without places can be paused, though it cannot drain. */
      if (!resumed || self->core->placed)
        irisd_staff_drain (staff, request->place, request->drained, &changed, &error);
    }
  else
    irisd_staff_set_workers (staff, request->place, request->workers, &changed, &error);
  if (error != NULL)
    {
      refuse (self, caller, request, error);
      return;
    }
  if (request->type == IRIS_WIRE_DRAIN && !request->drained)
    irisd_command_slots_refill (self->core->slots, (guint) request->place);
  if (resumed)
    resume_place (self, request->place);
  irisd_gateway_tell_changed (self, caller, request->request_id, resumed ? 1 : changed);
}
