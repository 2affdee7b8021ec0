/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Runs of schedules that came here because their home has not made them in time.
 */
#include "irisd-guest-private.h"

/* The schedule goes on. Unless it was ended or cancelled meanwhile, the run begins now. */
static void
on_linked (IrisdChainLink *link, gpointer user_data)
{
  IrisdGuest *self = user_data;
  IrisdGuestItem *item = irisd_guest_table_find (self->table, irisd_chain_link_get_item (link));
  IrisdGuestRecord *guest = item != NULL ? item->data : NULL;

  if (guest != NULL && guest->link == link)
    {
      guest->link = NULL;
      if (item->state == IRISD_GUEST_WAITING)
        irisd_guest_table_start (self->table, item, g_get_monotonic_time ());
      irisd_guest_hurry (self);
    }
  g_queue_remove (&self->links, link);
  irisd_chain_link_free (link);
}

/* If @guest is a run that its home has not made in time, the schedule is to go on before it runs.
 * That of a node that was removed ends. */
IrisdChainLink *
irisd_guest_make_link (IrisdGuest *self,
                       const IrisdGuestRecord *guest,
                       const IrisdEngineMessage *message)
{
  g_autofree char *home = iris_wire_string_dup (&guest->message.home);
  const IrisdMember *member = self->members != NULL ? irisd_members_find (self->members, home)
                                                    : NULL;
  IrisdChainLink *link = NULL;

  if (guest->copy > 0 && guest->message.chain.size > 0
      && (member == NULL || member->state != IRISD_MEMBER_REMOVED))
    link = irisd_chain_link_new (self->shared, message->data, message->length, on_linked, self);
  if (link != NULL)
    g_queue_push_tail (&self->links, link);
  return link;
}
