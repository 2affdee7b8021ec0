/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Acknowledgements that are sent together; see the header.
 */
#include "irisd-late-acks.h"

struct _IrisdLateAcks
{
  IrisdLateAckFunc send;
  gpointer user_data;
  GPtrArray *subjects; /* in the order of irisd_late_acks_add() */
  gint64 due;          /* of the first */
};

IrisdLateAcks *
irisd_late_acks_new (IrisdLateAckFunc send, gpointer user_data)
{
  IrisdLateAcks *self = g_new0 (IrisdLateAcks, 1);

  self->send = send;
  self->user_data = user_data;
  self->subjects = g_ptr_array_new_with_free_func (g_free);
  return self;
}

/* @ack_subject is copied. */
void
irisd_late_acks_add (IrisdLateAcks *self, const char *ack_subject, gint64 now)
{
  if (self->subjects->len == 0)
    self->due = now + IRISD_LATE_ACKS_US;
  g_ptr_array_add (self->subjects, g_strdup (ack_subject));
  if (self->subjects->len >= IRISD_LATE_ACKS_MOST)
    irisd_late_acks_send (self);
}

/* Sends all that wait. */
void
irisd_late_acks_send (IrisdLateAcks *self)
{
  for (guint i = 0; i < self->subjects->len; i++)
    self->send (g_ptr_array_index (self->subjects, i), self->user_data);
  g_ptr_array_set_size (self->subjects, 0);
}

/* Sends all if that is due. Returns when to call it next, or G_MAXINT64. */
gint64
irisd_late_acks_tick (IrisdLateAcks *self, gint64 now)
{
  if (self->subjects->len > 0 && self->due <= now)
    irisd_late_acks_send (self);
  return self->subjects->len > 0 ? self->due : G_MAXINT64;
}

/* What waits is not sent. */
void
irisd_late_acks_free (IrisdLateAcks *self)
{
  g_ptr_array_unref (self->subjects);
  g_free (self);
}
