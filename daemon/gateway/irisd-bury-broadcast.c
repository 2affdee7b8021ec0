/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A bury broadcast: a KICK or BURY of waiting items, on its way from gateway to gateway.
 *
 * Each gateway alone knows its jobs, so the request travels as a CANCEL does
 * (irisd-cancel-broadcast.c): from mailbox to mailbox, in the order of the gateways, until one has
 * the item or all were asked, and then back to its own gateway, which answers it. A burial is
 * answered when the journal has it; until then its journal request holds the broadcast.
 */
#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/items/irisd-bury.h"
#include "daemon/items/spill/irisd-spilled.h"

#include <string.h>

typedef struct
{
  IrisdBroadcast base;
  IrisdGateway *home;
  guint at;      /* the gateway asked now: an index into the core's */
  guint visited; /* gateways asked so far */
  IrisdPeer *peer;
  guint8 request_id[IRIS_WIRE_ID_SIZE];
  gboolean burial;
  gint64 view;  /* an owner, or IRISD_VIEW_ALL */
  guint64 item; /* 0: all that are delayed, up to @most */
  guint most;
  char *reason;
  guint changed;
  gboolean over; /* there is nothing left to look for */
  GError *error;
} IrisdBuryBroadcast;

static const IrisdBroadcastClass bury_broadcast_class;

/**
 * irisd_bury_broadcast_new:
 * @gateway: where it begins and ends
 * @request: KICK or INTER
 *
 * Returns: (transfer full): a broadcast that no gateway has had yet
 */
IrisdBroadcast *
irisd_bury_broadcast_new (IrisdGateway *gateway, IrisdJournalRequest *request)
{
  IrisdCore *core = gateway->core;
  IrisdBuryBroadcast *self = g_new0 (IrisdBuryBroadcast, 1);
  irisd_broadcast_init (&self->base, &bury_broadcast_class);
  self->home = gateway;
  self->peer = irisd_peer_ref (request->peer);
  memcpy (self->request_id, request->request_id, IRIS_WIRE_ID_SIZE);
  self->burial = request->kind == IRISD_JOURNAL_REQUEST_BURY_ITEM;
  self->view = request->view;
  self->item = request->item;
  self->most = request->count;
  self->reason = g_steal_pointer (&request->reason);
  while (core->gateways[self->at] != gateway)
    self->at++;
  return &self->base;
}

static void
bury_broadcast_free (IrisdBroadcast *broadcast)
{
  IrisdBuryBroadcast *self = (IrisdBuryBroadcast *) broadcast;
  irisd_peer_unref (self->peer);
  g_clear_error (&self->error);
  g_free (self->reason);
  g_free (self);
}

/* With an error, nothing was changed. */
static void
refuse (IrisdBroadcast *broadcast, const GError *error)
{
  IrisdBuryBroadcast *self = (IrisdBuryBroadcast *) broadcast;
  if (error != NULL)
    {
      self->changed = 0;
      self->error = g_error_copy (error);
    }
  self->over = TRUE;
  irisd_mailbox_post (&self->home->mailbox, &self->base.message);
}

/* Returns whether the broadcast goes on with the journal's answer. */
static gboolean
bury_here (IrisdGateway *gateway, IrisdBuryBroadcast *self, IrisdJob *job)
{
  self->over = TRUE;
  if (irisd_item_state_is_over (irisd_job_get_state (job)))
    return FALSE;
  /* What the scheduler has cannot be taken from it, but will not run. */
  irisd_dispatch_withdraw (gateway, job);
  if (irisd_job_advance (job, IRISD_EVENT_BURY))
    {
      self->changed = 1;
      irisd_bury_job (gateway, job, IRIS_WIRE_ERROR_BURIED, self->reason, &self->base);
      return TRUE;
    }
  self->error = g_error_new (
      IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
      "item %" G_GUINT64_FORMAT
      " runs, or has just ended, and cannot be buried; only a waiting item can",
      self->item);
  return FALSE;
}

static void
kick_here (IrisdGateway *gateway, IrisdBuryBroadcast *self, IrisdJob *job)
{
  if (!irisd_job_is (job, IRISD_ITEM_DELAYED))
    return;
  irisd_dispatch_kick_delayed (gateway, job);
  self->changed++;
}

/* A kicked job may change the table, if irisd ends meanwhile. */
static void
kick_all_here (IrisdGateway *gateway, IrisdBuryBroadcast *self)
{
  g_autoptr (GPtrArray) delayed = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, gateway->by_number);
  while (self->changed + delayed->len < self->most && g_hash_table_iter_next (&iter, NULL, &value))
    if (irisd_job_is (value, IRISD_ITEM_DELAYED)
        && irisd_view_reaches (self->view, ((IrisdJob *) value)->owner))
      g_ptr_array_add (delayed, value);
  for (guint i = 0; i < delayed->len; i++)
    kick_here (gateway, self, g_ptr_array_index (delayed, i));
  self->changed += irisd_reload_kick (gateway, self->view, self->most - self->changed);
  self->over = self->changed >= self->most;
}

static gboolean
look_for_job (IrisdGateway *gateway, IrisdBuryBroadcast *self)
{
  IrisdJob *job = g_hash_table_lookup (gateway->by_number, &self->item);
  if (job == NULL || !irisd_view_reaches (self->view, job->owner))
    return FALSE;
  if (self->burial)
    return bury_here (gateway, self, job);
  kick_here (gateway, self, job);
  self->over = TRUE;
  return FALSE;
}

/* Returns whether the broadcast goes on later. */
static gboolean
look_here (IrisdGateway *gateway, IrisdBuryBroadcast *self)
{
  IrisdMailbox *holder;
  self->visited++;
  if (self->item == 0)
    {
      kick_all_here (gateway, self);
      return FALSE;
    }
  if (irisd_dependencies_find_item (gateway, self->item, self->view, &holder) != NULL
      || holder != &gateway->mailbox)
    return look_for_job (gateway, self);
  irisd_reload_for_message (gateway, self->item, &self->base.message);
  return TRUE;
}

static void
answer (IrisdGateway *gateway, IrisdBuryBroadcast *self)
{
  const IrisdCaller caller = { .route = self->peer->route, .peer = self->peer };
  self->peer->n_questions--;
  if (irisd_peer_is_gone (self->peer))
    return;
  if (self->error != NULL)
    irisd_send_refusal (gateway, &caller, self->request_id, self->error);
  else
    irisd_bury_requests_tell_changed (gateway, &caller, self->request_id, self->changed);
}

static void
pass_on (IrisdGateway *gateway, IrisdBuryBroadcast *self)
{
  IrisdCore *core = gateway->core;
  self->over |= self->visited == core->n_gateways;
  if (self->over && gateway == self->home)
    {
      answer (gateway, self);
      bury_broadcast_free (&self->base);
      return;
    }
  self->at = (self->at + 1) % core->n_gateways;
  IrisdGateway *next = self->over ? self->home : core->gateways[self->at];
  irisd_mailbox_post (&next->mailbox, &self->base.message);
}

static void
run (IrisdGateway *gateway, IrisdBroadcast *broadcast)
{
  IrisdBuryBroadcast *self = (IrisdBuryBroadcast *) broadcast;
  if (self->over || self->visited == gateway->core->n_gateways || !look_here (gateway, self))
    pass_on (gateway, self);
}

static void
resume (IrisdGateway *gateway, IrisdBroadcast *broadcast)
{
  IrisdBuryBroadcast *self = (IrisdBuryBroadcast *) broadcast;
  if (!look_for_job (gateway, self))
    pass_on (gateway, self);
}

static const IrisdBroadcastClass bury_broadcast_class = {
  .run = run,
  .resume = resume,
  .refuse = refuse,
  .free = bury_broadcast_free,
};
