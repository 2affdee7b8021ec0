/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A round: a KICK or BURY of items that wait, on its way from gateway to gateway.
 *
 * Each gateway alone knows its jobs, so the request travels as a CANCEL does (irisd-inquiry.c):
 * from mailbox to mailbox, in the order of the gateways, until the item was found or there is no
 * gateway left, and then home, where it is answered. A burial is answered when the journal has it;
 * until then its slip holds the round.
 */
#include "irisd-bury.h"
#include "irisd-cold.h"
#include "irisd-outside.h"

#include <string.h>

struct _IrisdRound
{
  IrisdLetter letter;
  IrisdGateway *home;
  guint at;      /* the gateway that is asked: an index into the core's */
  guint visited; /* how many were */
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

IrisdRound *
irisd_round_from_letter (IrisdLetter *letter)
{
  return (IrisdRound *) ((char *) letter - G_STRUCT_OFFSET (IrisdRound, letter));
}

/**
 * irisd_round_new:
 * @gateway: where it begins and ends
 * @slip: KICK or INTER
 *
 * Returns: (transfer full): a round that was nowhere yet
 */
IrisdRound *
irisd_round_new (IrisdGateway *gateway, IrisdSlip *slip)
{
  IrisdCore *core = gateway->core;
  IrisdRound *self = g_new0 (IrisdRound, 1);
  self->letter.kind = IRISD_LETTER_ROUND;
  self->home = gateway;
  self->peer = irisd_peer_ref (slip->peer);
  memcpy (self->request_id, slip->request_id, IRIS_WIRE_ID_SIZE);
  self->burial = slip->kind == IRISD_SLIP_INTER;
  self->view = slip->view;
  self->item = slip->item;
  self->most = slip->count;
  self->sentence = g_steal_pointer (&slip->sentence);
  while (core->gateways[self->at] != gateway)
    self->at++;
  return self;
}

void
irisd_round_free (IrisdRound *self)
{
  irisd_peer_unref (self->peer);
  g_clear_error (&self->error);
  g_free (self->sentence);
  g_free (self);
}

/**
 * irisd_round_fail:
 * @self: a round
 * @error: why nothing was changed
 */
void
irisd_round_fail (IrisdRound *self, const GError *error)
{
  self->changed = 0;
  self->error = g_error_copy (error);
}

/**
 * irisd_gateway_send_home:
 * @round: (transfer full): one whose burial the journal has answered
 */
void
irisd_gateway_send_home (IrisdRound *round)
{
  round->over = TRUE;
  irisd_mailbox_post (&round->home->mailbox, &round->letter);
}

/* Takes a job that waits from wherever it does; what the scheduler has is only marked. */
static gboolean
take_out (IrisdGateway *gateway, IrisdJob *job)
{
  if (job->parked)
    {
      irisd_gateway_unpark (gateway, job);
      return TRUE;
    }
  if (irisd_gateway_withdraw (gateway, job))
    return TRUE;
  if (job->task != NULL)
    return irisd_outside_withdraw_waiting (gateway->core->outside, job) == IRISD_ERRAND_WAITED;
  job->away = irisd_job_cancel_queued (job);
  return job->away;
}

/* Returns whether the round goes on with the journal's answer. */
static gboolean
bury_here (IrisdGateway *gateway, IrisdRound *self, IrisdJob *job)
{
  self->over = TRUE;
  if (job->buried || job->settled || job->ending)
    return FALSE;
  if (take_out (gateway, job))
    {
      self->changed = 1;
      irisd_gateway_bury (gateway, job, IRIS_WIRE_ERROR_BURIED, self->sentence, self);
      return TRUE;
    }
  self->error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                             "item %" G_GUINT64_FORMAT
                             " runs, or has just ended, and cannot be buried: only what waits can",
                             self->item);
  return FALSE;
}

static void
kick_here (IrisdGateway *gateway, IrisdRound *self, IrisdJob *job)
{
  if (job->stage != IRISD_STAGE_TIME)
    return;
  irisd_gateway_kick_delayed (gateway, job);
  self->changed++;
}

/* A job that is kicked may change the table, if irisd ends meanwhile. */
static void
kick_all_here (IrisdGateway *gateway, IrisdRound *self)
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
  self->changed += irisd_gateway_kick_cold (gateway, self->view, self->most - self->changed);
  self->over = self->changed >= self->most;
}

static gboolean
look_for_job (IrisdGateway *gateway, IrisdRound *self)
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

/* Returns whether the round goes on later. */
static gboolean
look_here (IrisdGateway *gateway, IrisdRound *self)
{
  IrisdMailbox *holder;
  self->visited++;
  if (self->item == 0)
    {
      kick_all_here (gateway, self);
      return FALSE;
    }
  if (irisd_gateway_find_item (gateway, self->item, self->view, &holder) != NULL
      || holder != &gateway->mailbox)
    return look_for_job (gateway, self);
  irisd_gateway_call_back (gateway, self->item, &self->letter);
  return TRUE;
}

static void
answer (IrisdGateway *gateway, IrisdRound *self)
{
  const IrisdCaller caller = { .route = self->peer->route, .peer = self->peer };
  self->peer->n_questions--;
  if (irisd_peer_is_gone (self->peer))
    return;
  if (self->error != NULL)
    irisd_gateway_refuse (gateway, &caller, self->request_id, self->error);
  else
    irisd_gateway_tell_changed (gateway, &caller, self->request_id, self->changed);
}

static void
pass_on (IrisdGateway *gateway, IrisdRound *self)
{
  IrisdCore *core = gateway->core;
  self->over |= self->visited == core->n_gateways;
  if (self->over && gateway == self->home)
    {
      answer (gateway, self);
      irisd_round_free (self);
      return;
    }
  self->at = (self->at + 1) % core->n_gateways;
  IrisdGateway *next = self->over ? self->home : core->gateways[self->at];
  irisd_mailbox_post (&next->mailbox, &self->letter);
}

/**
 * irisd_gateway_go_round:
 * @gateway: the gateway
 * @self: (transfer full): a round that has come to it
 */
void
irisd_gateway_go_round (IrisdGateway *gateway, IrisdRound *self)
{
  if (self->over || self->visited == gateway->core->n_gateways || !look_here (gateway, self))
    pass_on (gateway, self);
}

/**
 * irisd_gateway_resume_round:
 * @gateway: the gateway
 * @self: (transfer full): a round whose item was cold here, and is not any more
 */
void
irisd_gateway_resume_round (IrisdGateway *gateway, IrisdRound *self)
{
  if (!look_for_job (gateway, self))
    pass_on (gateway, self);
}
