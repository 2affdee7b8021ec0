/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Mails: messages that a connection has sent and that wait until they are handled.
 */
#include "daemon/net/irisd-mails.h"

static gsize
mail_size (IrisdMail *self)
{
  gsize size = 0;
  for (guint i = 0; i < self->n_frames; i++)
    size += zmq_msg_size (&self->frames[i]);
  return size;
}

/* Takes @route and @frames. */
IrisdMail *
irisd_mail_new (zmq_msg_t *route, zmq_msg_t *frames, guint n_frames)
{
  IrisdMail *self = g_new0 (IrisdMail, 1);
  self->link.data = self;
  self->n_frames = n_frames;
  zmq_msg_init (&self->route);
  zmq_msg_move (&self->route, route);
  for (guint i = 0; i < n_frames; i++)
    {
      zmq_msg_init (&self->frames[i]);
      zmq_msg_move (&self->frames[i], &frames[i]);
    }
  return self;
}

void
irisd_mail_free (IrisdMail *self)
{
  zmq_msg_close (&self->route);
  for (guint i = 0; i < self->n_frames; i++)
    zmq_msg_close (&self->frames[i]);
  g_free (self);
}

void
irisd_mails_push (IrisdMails *self, IrisdMail *mail)
{
  self->bytes += mail_size (mail);
  g_queue_push_tail_link (&self->queue, &mail->link);
}

/* @mail, which was the first, is the first again. */
void
irisd_mails_put_back (IrisdMails *self, IrisdMail *mail)
{
  self->bytes += mail_size (mail);
  g_queue_push_head_link (&self->queue, &mail->link);
}

/* Returns NULL if there is none. */
IrisdMail *
irisd_mails_pop (IrisdMails *self)
{
  GList *link = g_queue_pop_head_link (&self->queue);
  if (link == NULL)
    return NULL;
  self->bytes -= mail_size (link->data);
  return link->data;
}
