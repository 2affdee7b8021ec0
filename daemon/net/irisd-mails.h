/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Mails: messages that a connection has sent and that wait until they are handled.
 */
#pragma once

#include <iris/wire/iris-wire.h>
#include <zmq.h>

G_BEGIN_DECLS

/**
 * IrisdMails:
 * @queue: messages, oldest first
 * @bytes: what their frames hold
 *
 * Messages received and not handled yet.
 */
typedef struct
{
  GQueue queue;
  gsize bytes;
} IrisdMails;

/**
 * IrisdMail:
 * @route: the routing id that it came by
 * @frames: the message
 * @n_frames: its frames, at most one more than a message has
 *
 * A waiting message.
 */
typedef struct
{
  GList link;
  zmq_msg_t route;
  zmq_msg_t frames[IRIS_WIRE_N_FRAMES + 1];
  guint n_frames;
} IrisdMail;

IrisdMail *irisd_mail_new (zmq_msg_t *route, zmq_msg_t *frames, guint n_frames);
void irisd_mail_free (IrisdMail *self);

void irisd_mails_push (IrisdMails *self, IrisdMail *mail);
void irisd_mails_put_back (IrisdMails *self, IrisdMail *mail);
IrisdMail *irisd_mails_pop (IrisdMails *self);

G_END_DECLS
