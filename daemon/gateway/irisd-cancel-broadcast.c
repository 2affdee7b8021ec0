/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A cancel broadcast: a CANCEL for an item of any connection, on its way from gateway to gateway.
 *
 * Each gateway alone knows its peers and their jobs, so the request travels from mailbox to
 * mailbox, in the order of the gateways, until one of them has the item and cancels it, and then
 * back to its own gateway, which answers it. A request this rare does not justify a shared table.
 */
#include "daemon/gateway/irisd-cancel-broadcast.h"

#include "daemon/items/irisd-bury.h"
#include "daemon/items/spill/irisd-spilled.h"

#include <string.h>

typedef struct
{
  IrisdBroadcast base;
  IrisdGateway *home;
  guint at;        /* the gateway asked now: an index into the core's */
  IrisdPeer *peer; /* the client that asked; belongs to the first gateway */
  guint8 request_id[IRIS_WIRE_ID_SIZE];
  guint8 target[IRIS_WIRE_ID_SIZE];
  guint64 item; /* its number, if the request has that */
  gint64 view;  /* what the request reaches: an owner, or IRISD_VIEW_ALL */
  gboolean found;
  gboolean was_queued;
  GError *error; /* why it could not be looked for */
} IrisdCancelBroadcast;

static const IrisdBroadcastClass cancel_broadcast_class;

static void
cancel_broadcast_free (IrisdBroadcast *broadcast)
{
  IrisdCancelBroadcast *self = (IrisdCancelBroadcast *) broadcast;
  irisd_peer_unref (self->peer);
  g_clear_error (&self->error);
  g_free (self);
}

/* Cancels the target if a peer of this gateway has it. */
static void
look_here (IrisdGateway *gateway, IrisdCancelBroadcast *self)
{
  for (GList *link = gateway->peers.by_age.head; link != NULL && !self->found; link = link->next)
    {
      IrisdPeer *peer = link->data;
      IrisdJob *job = g_hash_table_lookup (peer->jobs, self->target);
      if (job == NULL || !irisd_view_reaches (self->view, job->owner))
        continue;
      self->found = TRUE;
      self->was_queued = irisd_completion_cancel_job (gateway, job);
      /* Ending the job may have cost the peer its place in the list. */
      return;
    }
}

static void
tell_no_such_number (IrisdGateway *gateway,
                     const IrisdCaller *caller,
                     const guint8 *request_id,
                     guint64 item)
{
  g_autoptr (GError) error = g_error_new (
      IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_FOUND,
      "the item %" G_GUINT64_FORMAT " is not in progress: it has ended, or never was", item);
  irisd_send_refusal (gateway, caller, request_id, error);
}

/* The item has no job: it is buried, has ended, or never was. */
static void
cancel_without_job (IrisdGateway *gateway,
                    const IrisdCaller *caller,
                    const IrisWireMessage *request)
{
  if (gateway->core->journal != NULL)
    irisd_bury_requests_cancel (gateway, caller, request);
  else
    tell_no_such_number (gateway, caller, request->request_id, request->item);
}

static void
answer (IrisdGateway *gateway, IrisdCancelBroadcast *self)
{
  IrisdCaller caller = { .route = self->peer->route, .peer = self->peer };
  if (irisd_peer_is_gone (self->peer))
    return;
  if (self->found)
    irisd_cancel_tell_cancelling (gateway, &caller, self->request_id, self->was_queued);
  else if (self->error != NULL)
    irisd_send_refusal (gateway, &caller, self->request_id, self->error);
  else if (self->item != 0)
    {
      /* It may be buried by now, and have no job. */
      IrisWireMessage request;
      iris_wire_message_init (&request, IRIS_WIRE_CANCEL, self->request_id);
      iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_ITEM, self->item);
      cancel_without_job (gateway, &caller, &request);
    }
  else
    irisd_cancel_tell_not_found (gateway, &caller, self->request_id, "any connection");
}

/* A buried item is the journal's to cancel. */
static gboolean
can_be_cancelled (IrisdJob *job)
{
  return job != NULL && !irisd_item_state_is_burial (irisd_job_get_state (job));
}

static void
resume (IrisdGateway *gateway, IrisdBroadcast *broadcast)
{
  IrisdCancelBroadcast *self = (IrisdCancelBroadcast *) broadcast;
  IrisdMailbox *holder;
  IrisdJob *job = irisd_dependencies_find_item (gateway, self->item, self->view, &holder);
  self->found = can_be_cancelled (job);
  if (self->found)
    self->was_queued = irisd_completion_cancel_job (gateway, job);
  irisd_mailbox_post (&self->home->mailbox, &self->base.message);
}

/* The item was here when its gateway was looked up; it may have ended since. */
static void
run_by_number (IrisdGateway *gateway, IrisdCancelBroadcast *self)
{
  IrisdMailbox *holder;
  if (irisd_dependencies_find_item (gateway, self->item, self->view, &holder) == NULL
      && holder == &gateway->mailbox)
    irisd_reload_for_message (gateway, self->item, &self->base.message);
  else
    resume (gateway, &self->base);
}

static void
run (IrisdGateway *gateway, IrisdBroadcast *broadcast)
{
  IrisdCancelBroadcast *self = (IrisdCancelBroadcast *) broadcast;
  IrisdCore *core = gateway->core;
  if (gateway == self->home)
    {
      answer (gateway, self);
      cancel_broadcast_free (broadcast);
      return;
    }
  if (self->item != 0)
    {
      run_by_number (gateway, self);
      return;
    }
  look_here (gateway, self);
  self->at = (self->at + 1) % core->n_gateways;
  IrisdGateway *next = self->found ? self->home : core->gateways[self->at];
  irisd_mailbox_post (&next->mailbox, &self->base.message);
}

static void
refuse (IrisdBroadcast *broadcast, const GError *error)
{
  IrisdCancelBroadcast *self = (IrisdCancelBroadcast *) broadcast;
  self->error = error != NULL ? g_error_copy (error) : NULL;
  irisd_mailbox_post (&self->home->mailbox, &self->base.message);
}

static const IrisdBroadcastClass cancel_broadcast_class = {
  .run = run,
  .resume = resume,
  .refuse = refuse,
  .free = cancel_broadcast_free,
};

static IrisdCancelBroadcast *
broadcast_new (IrisdGateway *gateway, const IrisdCaller *caller, const IrisWireMessage *request)
{
  IrisdCancelBroadcast *self = g_new0 (IrisdCancelBroadcast, 1);
  irisd_broadcast_init (&self->base, &cancel_broadcast_class);
  self->home = gateway;
  self->peer = irisd_peer_ref (caller->peer);
  memcpy (self->request_id, request->request_id, IRIS_WIRE_ID_SIZE);
  memcpy (self->target, request->target, IRIS_WIRE_ID_SIZE);
  self->item = request->item;
  self->view = irisd_ownership_get_view (caller, IRIS_WIRE_CANCEL);
  return self;
}

/* All gateways know which of them has the item of a number, so only that one is asked. */
void
irisd_cancel_broadcast_by_number (IrisdGateway *gateway,
                                  const IrisdCaller *caller,
                                  const IrisWireMessage *request)
{
  IrisdMailbox *holder;
  gint64 view = irisd_ownership_get_view (caller, IRIS_WIRE_CANCEL);
  IrisdJob *job = irisd_dependencies_find_item (gateway, request->item, view, &holder);
  gboolean here = holder == &gateway->mailbox;
  if (here && job == NULL)
    irisd_reload_for_message (gateway, request->item,
                              &broadcast_new (gateway, caller, request)->base.message);
  else if (can_be_cancelled (job))
    {
      /* The end may be that of the connection that asks. */
      g_autoptr (IrisdPeer) peer = irisd_peer_ref (caller->peer);
      gboolean queued = irisd_completion_cancel_job (gateway, job);
      if (!irisd_peer_is_gone (peer))
        irisd_cancel_tell_cancelling (gateway, caller, request->request_id, queued);
    }
  else if (here || holder == NULL)
    cancel_without_job (gateway, caller, request);
  else
    irisd_mailbox_post (holder, &broadcast_new (gateway, caller, request)->base.message);
}

void
irisd_cancel_broadcast_by_request (IrisdGateway *gateway,
                                   const IrisdCaller *caller,
                                   const IrisWireMessage *request)
{
  IrisdCore *core = gateway->core;
  IrisdCancelBroadcast *self = broadcast_new (gateway, caller, request);
  while (core->gateways[self->at] != gateway)
    self->at++;

  look_here (gateway, self);
  self->at = (self->at + 1) % core->n_gateways;
  if (self->found || core->gateways[self->at] == gateway)
    run (gateway, &self->base);
  else
    irisd_mailbox_post (&core->gateways[self->at]->mailbox, &self->base.message);
}
