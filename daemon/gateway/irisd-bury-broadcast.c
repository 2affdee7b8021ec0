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

struct _IrisdBuryBroadcast
{
  IrisdMessage message;
  IrisdGateway *home;
  guint at;      /* the gateway asked now: an index into the core's */
  guint visited; /* gateways asked so far */
  IrisdPeer *peer;
  guint8 request_id[IRIS_WIRE_ID_SIZE];
  gboolean burial;
  gint64 view;  /* an owner, or IRISD_VIEW_ALL */
  guint64 item; /* 0: all that are delayed, up to @most */
  guint most;
  char *sentence;
  guint changed;
  gboolean over; /* there is nothing left to look for */
  GError *error;
};

IrisdBuryBroadcast *
irisd_bury_broadcast_from_message (IrisdMessage *message)
{
  return (IrisdBuryBroadcast *) ((char *) message - G_STRUCT_OFFSET (IrisdBuryBroadcast, message));
}

/* @gateway is where it begins and ends; @request is KICK or BURY. Returns a broadcast that was at
 * no gateway yet. */
IrisdBuryBroadcast *
irisd_bury_broadcast_new (IrisdGateway *gateway, IrisdJournalRequest *request)
{
  IrisdCore *core = gateway->core;
  IrisdBuryBroadcast *self = g_new0 (IrisdBuryBroadcast, 1);
  self->message.kind = IRISD_MESSAGE_BURY_BROADCAST;
  self->home = gateway;
  self->peer = irisd_peer_ref (request->peer);
  memcpy (self->request_id, request->request_id, IRIS_WIRE_ID_SIZE);
  self->burial = request->kind == IRISD_JOURNAL_REQUEST_BURY_ITEM;
  self->view = request->view;
  self->item = request->item;
  self->most = request->count;
  self->sentence = g_steal_pointer (&request->sentence);
  while (core->gateways[self->at] != gateway)
    self->at++;
  return self;
}

void
irisd_bury_broadcast_free (IrisdBuryBroadcast *self)
{
  irisd_peer_unref (self->peer);
  g_clear_error (&self->error);
  g_free (self->sentence);
  g_free (self);
}

/* Nothing was changed, because of @error. */
void
irisd_bury_broadcast_fail (IrisdBuryBroadcast *self, const GError *error)
{
  self->changed = 0;
  self->error = g_error_copy (error);
}

/* The journal has answered the burial of @broadcast. */
void
irisd_bury_broadcast_send_home (IrisdBuryBroadcast *broadcast)
{
  broadcast->over = TRUE;
  irisd_mailbox_post (&broadcast->home->mailbox, &broadcast->message);
}

/* Takes a waiting job out of its queue; a job that the scheduler has is only marked. */
static gboolean
take_out (IrisdGateway *gateway, IrisdJob *job)
{
  if (job->parked)
    {
      irisd_completion_unpark (gateway, job);
      return TRUE;
    }
  if (irisd_dispatch_withdraw (gateway, job))
    return TRUE;
  if (job->leased_item != NULL)
    return irisd_worker_processes_withdraw_waiting (gateway->core->worker_processes, job)
           == IRISD_LEASE_ENTRY_WAITED;
  job->away = irisd_job_cancel_queued (job);
  return job->away;
}

/* Returns whether the broadcast goes on with the journal's answer. */
static gboolean
bury_here (IrisdGateway *gateway, IrisdBuryBroadcast *self, IrisdJob *job)
{
  self->over = TRUE;
  if (job->buried || job->settled || job->completion)
    return FALSE;
  if (take_out (gateway, job))
    {
      self->changed = 1;
      irisd_bury_job (gateway, job, IRIS_WIRE_ERROR_BURIED, self->sentence, self);
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
  if (job->stage != IRISD_STAGE_TIME)
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
    if (((IrisdJob *) value)->stage == IRISD_STAGE_TIME
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
  irisd_reload_for_message (gateway, self->item, &self->message);
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
      irisd_bury_broadcast_free (self);
      return;
    }
  self->at = (self->at + 1) % core->n_gateways;
  IrisdGateway *next = self->over ? self->home : core->gateways[self->at];
  irisd_mailbox_post (&next->mailbox, &self->message);
}

/* @self has come to @gateway. */
void
irisd_bury_broadcast_run (IrisdGateway *gateway, IrisdBuryBroadcast *self)
{
  if (self->over || self->visited == gateway->core->n_gateways || !look_here (gateway, self))
    pass_on (gateway, self);
}

/* The item of @self was spilled here, and is not any more. */
void
irisd_bury_broadcast_resume (IrisdGateway *gateway, IrisdBuryBroadcast *self)
{
  if (!look_for_job (gateway, self))
    pass_on (gateway, self);
}
