/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A host goes on with the schedule of another node that is down.
 *
 * First the next copy, then the run: a host that is killed in between leaves the run in the stream,
 * and the schedule goes on. If it is killed before, the host that gets the run then stores the
 * copy.
 */
#include "irisd-chain-link.h"

#include "irisd-away-message.h"
#include "irisd-chain-request.h"

#include <string.h>

/* Without a leader there is none for the end of the run either. */
#define PAUSE_US (2 * G_USEC_PER_SEC)

struct _IrisdChainLink
{
  IrisdChainRequest request;
  IrisdChainLinkFunc done;
  gpointer user_data;
  guint8 item[IRIS_WIRE_ID_SIZE]; /* the run that was due; next, what the following borrow from */
  guint8 *bytes;
  IrisdWorkMessage run;
  IrisdRunChain chain;
  GSource *timer;
};

static void
finish (IrisdChainLink *self)
{
  self->request.stopped = TRUE;
  self->done (self, self->user_data);
}

/* Makes the message of the next run. Returns when that is due; 0: there is none. */
static guint64
make_next (IrisdChainLink *self)
{
  const guint64 before_ms = irisd_run_chain_get_begin (&self->chain);
  IrisdWorkMessage *run = &self->run;

  if (!irisd_run_chain_hand_on (&self->chain, (guint64) g_get_real_time () / 1000))
    return 0;
  g_autoptr (GBytes) chain = irisd_run_chain_pack (&self->chain);
  self->request.begin_ms = irisd_run_chain_get_begin (&self->chain);
  irisd_run_chain_get_run (self->chain.id, self->chain.due_ms, run->item);
  run->chain = (IrisWireFrame){ g_bytes_get_data (chain, NULL), g_bytes_get_size (chain) };
  run->made_ms = g_get_real_time () / 1000;
  if (run->begin_ms > 0)
    run->begin_ms += (gint64) (self->request.begin_ms - before_ms);
  if (!irisd_bridge_fits (self->request.shared, irisd_work_message_get_size (run)))
    return 0;
  self->request.message = irisd_work_message_encode (run, self->request.shared->secret,
                                                     &self->request.size, NULL);
  return self->request.message != NULL ? self->chain.due_ms : 0;
}

static gboolean
on_timer (gpointer data)
{
  IrisdChainLink *self = data;

  irisd_bridge_timer_set (self->timer, G_MAXINT64);
  irisd_chain_request_act (&self->request, irisd_chain_step_resume (&self->request.step));
  return G_SOURCE_CONTINUE;
}

static void
go_on (IrisdChainRequest *request, IrisdChainAction action)
{
  IrisdChainLink *self = (IrisdChainLink *) request;

  if (action == IRISD_CHAIN_PAUSE)
    irisd_bridge_timer_set (self->timer, g_get_monotonic_time () + PAUSE_US);
  else
    finish (self);
}

/* @message is of a run that became due. Returns NULL if it is none of a schedule. */
IrisdChainLink *
irisd_chain_link_new (const IrisdBridgeShared *shared,
                      gconstpointer message,
                      gsize size,
                      IrisdChainLinkFunc done,
                      gpointer user_data)
{
  IrisdChainLink *self = g_new0 (IrisdChainLink, 1);
  IrisWireMessage submit;

  self->bytes = g_memdup2 (message, size);
  if (!irisd_work_message_decode (&self->run, self->bytes, size, shared->secret, NULL)
      || !irisd_work_message_open (&self->run, &submit, NULL)
      || !irisd_run_chain_read (&self->chain, self->run.chain)
      || irisd_run_chain_get_due (self->chain.id, self->run.item) != self->chain.due_ms)
    {
      irisd_run_chain_clear (&self->chain);
      g_free (self->bytes);
      g_free (self);
      return NULL;
    }
  memcpy (self->item, self->run.item, sizeof self->item);
  g_autofree char *home = iris_wire_string_dup (&self->run.home);
  irisd_chain_request_init (&self->request, shared, home, self->chain.id, self->chain.due_ms,
                            go_on);
  self->request.work = irisd_away_make_subject (&submit);
  self->timer = irisd_bridge_timer_new (shared->context, "irisd-chain-link", on_timer, self);
  self->done = done;
  self->user_data = user_data;
  return self;
}

/* It may be done at once. */
void
irisd_chain_link_begin (IrisdChainLink *self)
{
  const guint64 due_ms = make_next (self);

  if (due_ms == 0)
    finish (self);
  else
    irisd_chain_request_act (&self->request,
                             irisd_chain_step_wish (&self->request.step, IRISD_CHAIN_KEEP, due_ms));
}

const guint8 *
irisd_chain_link_get_item (const IrisdChainLink *self)
{
  return self->item;
}

/* The engine is still there. */
void
irisd_chain_link_stop (IrisdChainLink *self)
{
  self->request.stopped = TRUE;
  g_source_destroy (self->timer);
}

/* Nothing is asked, or the engine is gone. */
void
irisd_chain_link_free (IrisdChainLink *self)
{
  g_source_destroy (self->timer);
  g_source_unref (self->timer);
  irisd_chain_request_clear (&self->request);
  irisd_run_chain_clear (&self->chain);
  g_free (self->bytes);
  g_free (self);
}
