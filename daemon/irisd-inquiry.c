/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An inquiry: a CANCEL for an item of any connection, on its way from gateway to gateway.
 *
 * Each gateway alone knows its peers and their jobs, so the question travels: from mailbox to
 * mailbox, in the order of the gateways, until one of them has the item and cancels it, and then
 * home, where the answer is given. No table is shared for the sake of a question that is rare.
 */
#include "irisd-inquiry.h"

#include <string.h>

struct _IrisdInquiry
{
  IrisdLetter letter;
  IrisdGateway *home;
  guint at;        /* the gateway that is asked: an index into the core's */
  IrisdPeer *peer; /* who asked; belongs to the home gateway */
  guint8 request_id[IRIS_WIRE_ID_SIZE];
  guint8 target[IRIS_WIRE_ID_SIZE];
  gboolean found;
  gboolean was_queued;
};

IrisdInquiry *
irisd_inquiry_from_letter (IrisdLetter *letter)
{
  return (IrisdInquiry *) ((char *) letter - G_STRUCT_OFFSET (IrisdInquiry, letter));
}

void
irisd_inquiry_free (IrisdInquiry *self)
{
  irisd_peer_unref (self->peer);
  g_free (self);
}

/* Cancels the target if one of this gateway's peers has it. */
static void
look_here (IrisdGateway *gateway, IrisdInquiry *self)
{
  for (GList *link = gateway->peers.by_age.head; link != NULL && !self->found; link = link->next)
    {
      IrisdPeer *peer = link->data;
      IrisdJob *job = g_hash_table_lookup (peer->jobs, self->target);
      if (job == NULL)
        continue;
      self->found = TRUE;
      self->was_queued = irisd_gateway_cancel_job (gateway, peer, job);
      /* Ending the job may have cost the peer its place in the list. */
      return;
    }
}

static void
answer (IrisdGateway *gateway, IrisdInquiry *self)
{
  IrisdCaller caller = { .route = self->peer->route, .peer = self->peer };
  if (irisd_peer_is_gone (self->peer))
    return;
  if (self->found)
    irisd_gateway_tell_cancelling (gateway, &caller, self->request_id, self->was_queued);
  else
    irisd_gateway_tell_not_found (gateway, &caller, self->request_id, "any connection");
}

void
irisd_gateway_inquire (IrisdGateway *gateway, IrisdInquiry *self)
{
  IrisdCore *core = gateway->core;
  if (gateway == self->home)
    {
      answer (gateway, self);
      irisd_inquiry_free (self);
      return;
    }
  look_here (gateway, self);
  self->at = (self->at + 1) % core->n_gateways;
  IrisdGateway *next = self->found ? self->home : core->gateways[self->at];
  irisd_mailbox_post (&next->mailbox, &self->letter);
}

void
irisd_gateway_cancel_anywhere (IrisdGateway *gateway,
                               const IrisdCaller *caller,
                               const IrisWireMessage *request)
{
  IrisdCore *core = gateway->core;
  IrisdInquiry *self = g_new0 (IrisdInquiry, 1);
  self->letter.kind = IRISD_LETTER_INQUIRY;
  self->home = gateway;
  self->peer = irisd_peer_ref (caller->peer);
  memcpy (self->request_id, request->request_id, IRIS_WIRE_ID_SIZE);
  memcpy (self->target, request->target, IRIS_WIRE_ID_SIZE);
  while (core->gateways[self->at] != gateway)
    self->at++;

  look_here (gateway, self);
  self->at = (self->at + 1) % core->n_gateways;
  if (self->found || core->gateways[self->at] == gateway)
    irisd_gateway_inquire (gateway, self);
  else
    irisd_mailbox_post (&core->gateways[self->at]->mailbox, &self->letter);
}
