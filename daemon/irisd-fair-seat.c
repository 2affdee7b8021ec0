/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's jobs and the limits on how many run at once.
 *
 * The stage before the gate: a job that has no room waits in the shared room and goes on when that
 * lets it in. Whoever makes room may be another gateway; it tells the job's own one by a letter, so
 * only that one ever touches the job. From then on the room is the job's until it comes back from
 * the scheduler or the worker processes, or ends otherwise; so at most as many run as may, and what
 * waits is in nobody's way.
 *
 * Between coming in and the letter's arrival a job cannot be withdrawn any more. Whoever cancels it
 * in between is told so, as of one that the scheduler has, and the letter brings it back.
 */
#include "irisd-fair-seat.h"
#include "irisd-gateway-private.h"
#include "irisd-outside.h"

static const char *
service_of (const IrisdJob *job)
{
  return job->task != NULL ? job->task->service : job->service->name;
}

/**
 * irisd_gateway_take_seat:
 * @self: the gateway
 * @job: a job that is about to go on to its gate
 *
 * Returns: whether it may; else it waits, and a letter comes when it may
 */
gboolean
irisd_gateway_take_seat (IrisdGateway *self, IrisdJob *job)
{
  IrisdFairRoom *room = &self->core->room;
  if (!room->any)
    return TRUE;
  if (job->seat == NULL)
    {
      job->seat = g_new0 (IrisdSeat, 1);
      job->seat->letter.kind = IRISD_LETTER_SEAT;
      job->seat->job = job;
    }
  job->stage = IRISD_STAGE_ROOM;
  return irisd_fair_room_enter (room, &job->seat->guest, job->peer->client, service_of (job),
                                job->fair.priority,
                                job->since_us != 0 ? job->since_us : g_get_monotonic_time ());
}

static IrisdSeat *
seat_of (IrisdFairGuest *guest)
{
  return (IrisdSeat *) (void *) ((char *) guest - G_STRUCT_OFFSET (IrisdSeat, guest));
}

/**
 * irisd_gateway_leave_seat:
 * @self: the gateway
 * @job: a job that is not under way any more; it may have left before
 *
 * Gives its room to others.
 */
void
irisd_gateway_leave_seat (IrisdGateway *self, IrisdJob *job)
{
  if (job->seat == NULL)
    return;
  IrisdFairGuest *next = irisd_fair_room_leave (&self->core->room, &job->seat->guest);
  while (next != NULL)
    {
      IrisdSeat *seat = seat_of (next);
      next = next->next; /* once it is posted it may be gone */
      irisd_mailbox_post (seat->job->mailbox, &seat->letter);
    }
}

/**
 * irisd_gateway_withdraw_seat:
 * @self: the gateway
 * @job: a job of it in that stage
 *
 * Returns: whether it waited, and is nobody else's now; otherwise its letter is on the way
 */
gboolean
irisd_gateway_withdraw_seat (IrisdGateway *self, IrisdJob *job)
{
  return irisd_fair_room_withdraw (&self->core->room, &job->seat->guest);
}

/**
 * irisd_seat_get_job:
 * @letter: of a seat
 *
 * Returns: (transfer none): the job that has it now
 */
IrisdJob *
irisd_seat_get_job (IrisdLetter *letter)
{
  return ((IrisdSeat *) (void *) ((char *) letter - G_STRUCT_OFFSET (IrisdSeat, letter)))->job;
}
