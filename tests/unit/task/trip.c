/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The steps of a journey, and its ends.
 */
#include "trip.h"

Trip *trip;

void
trip_step (void)
{
  if (trip->n++ == trip->at)
    trip->end (trip);
}

void
trip_run_all (void)
{
  trip_step ();
  while (step_scheduler_step (trip->scheduler))
    trip_step ();
}

void
trip_freed (gpointer data)
{
  atomic_fetch_add (&trip->n_freed, 1);
}

/* For what has a notify. */
gpointer
trip_made (void)
{
  trip->n_made++;

  return trip;
}

IrisMessage *
trip_message (gint what)
{
  IrisMessage *message = iris_message_new (what);

  iris_message_set_pointer_full (message, "data", trip_made (), trip_freed);

  return message;
}

/* --- the ends --------------------------------------------------------------------------------- */

void
end_not_at_all (Trip *self)
{
}

void
end_shut_down (Trip *self)
{
  iris_scheduler_shutdown (self->scheduler, IRIS_SHUTDOWN_CANCEL);
}

void
end_drop_ports (Trip *self)
{
  for (guint i = 0; i < 3; i++)
    g_clear_object (&self->ports[i]);
}

void
end_destroy_receivers (Trip *self)
{
  for (guint i = 0; i < 3; i++)
    if (self->receivers[i] != NULL)
      iris_receiver_destroy (self->receivers[i], TRUE);
}

void
end_destroy_first (Trip *self)
{
  iris_receiver_destroy (self->receivers[0], TRUE);
}

void
end_pause (Trip *self)
{
  for (guint i = 0; i < 3; i++)
    if (self->ports[i] != NULL)
      iris_port_pause (self->ports[i]);
}

void
end_cancel_call (Trip *self)
{
  g_cancellable_cancel (self->cancellable);
}

void
end_cancel_first_interval (Trip *self)
{
  iris_interval_cancel (self->intervals[0]);
}

void
end_cancel_second_interval (Trip *self)
{
  iris_interval_cancel (self->intervals[1]);
}

void
end_cancel_child (Trip *self)
{
  iris_interval_cancel (self->intervals[2]);
}

void
end_cancel_intervals (Trip *self)
{
  for (guint i = 4; i > 0; i--)
    iris_interval_cancel (self->intervals[i - 1]);
}

void
end_give_actor_up (Trip *self)
{
  g_clear_pointer (&self->actor, iris_actor_unref);
}

void
end_cancel_timer (Trip *self)
{
  if (self->timer != NULL)
    iris_timer_cancel (self->timer);
}

void
end_drop_timer (Trip *self)
{
  g_clear_pointer (&self->timer, iris_timer_unref);
}

void
end_stop_service (Trip *self)
{
  iris_service_stop (self->service);
}

void
end_drop_service (Trip *self)
{
  g_clear_object (&self->service);
}

void
end_cancel_head (Trip *self)
{
  iris_process_cancel (self->processes[0]);
}

void
end_cancel_tail (Trip *self)
{
  iris_process_cancel (self->processes[1]);
}
