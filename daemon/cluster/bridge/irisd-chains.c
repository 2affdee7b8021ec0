/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Schedules of this node whose runs go to other nodes.
 *
 * After a start irisd asks first what the cluster has of each schedule: runs that were made without
 * it are not to be made again. It is answered when the servers have, and the nodes are known, so
 * that it can find where runs go.
 *
 * A schedule may have been removed while this node could not tell the servers. So after a start all
 * copies of schedules that it has not told of are removed.
 */
#include "irisd-chains.h"

#include "irisd-chain-request.h"

#include "daemon/base/irisd-log.h"
#include "daemon/cluster/engine/irisd-engine-parse.h"

#include <string.h>

#define PAUSE_US (2 * G_USEC_PER_SEC)

struct _IrisdChains
{
  const IrisdBridgeShared *shared;
  GHashTable *all; /* Chain by the first half of its id */
  GQueue pauses;   /* those that ask again, the first first */
  GSource *timer;
  gboolean ready;   /* the nodes are known */
  gboolean resting; /* copies of other schedules are to be removed */
  gboolean listing; /* they are asked for */
  gboolean stopped;
};

typedef struct
{
  IrisdChainRequest request;
  IrisdChains *chains;
  gint64 key;
  IrisdChainNote *question; /* NULL: nothing was asked */
  gboolean wished;          /* KEEP or DROP */
  gint64 resume_us;
  GList pause;
  gboolean paused;
} Chain;

static void
hurry (IrisdChains *self)
{
  const GList *first = self->pauses.head;

  if (!self->stopped)
    irisd_bridge_timer_set (self->timer,
                            first != NULL ? ((Chain *) first->data)->resume_us : G_MAXINT64);
}

static void
leave_pause (Chain *chain)
{
  if (chain->paused)
    g_queue_unlink (&chain->chains->pauses, &chain->pause);
  chain->paused = FALSE;
}

static void
answer (Chain *chain)
{
  IrisdChainNote *question = g_steal_pointer (&chain->question);

  if (question == NULL)
    return;
  if (chain->request.has_found)
    {
      question->found = chain->request.found;
      question->has_found = TRUE;
      chain->request.has_found = FALSE;
    }
  irisd_chain_note_return (question);
}

static void
chain_free (gpointer data)
{
  Chain *chain = data;

  answer (chain);
  irisd_chain_request_clear (&chain->request);
  g_free (chain);
}

static void
wish (Chain *chain, IrisdChainWish what, guint64 due_ms)
{
  leave_pause (chain);
  irisd_chain_request_act (&chain->request,
                           irisd_chain_step_wish (&chain->request.step, what, due_ms));
}

static void
go_on (IrisdChainRequest *request, IrisdChainAction action)
{
  Chain *chain = (Chain *) request;
  IrisdChains *self = chain->chains;

  if (action == IRISD_CHAIN_PAUSE)
    {
      chain->resume_us = g_get_monotonic_time () + PAUSE_US;
      chain->paused = TRUE;
      chain->pause.data = chain;
      g_queue_push_tail_link (&self->pauses, &chain->pause);
      hurry (self);
      return;
    }
  if (self->ready)
    answer (chain);
  if (chain->wished && request->step.wish == IRISD_CHAIN_DROP)
    g_hash_table_remove (self->all, &chain->key);
}

static Chain *
get_chain (IrisdChains *self, const guint8 *id)
{
  gint64 key;
  Chain *chain;

  memcpy (&key, id, sizeof key);
  chain = g_hash_table_lookup (self->all, &key);
  if (chain != NULL)
    return chain;
  chain = g_new0 (Chain, 1);
  chain->chains = self;
  chain->key = key;
  irisd_chain_request_init (&chain->request, self->shared, self->shared->node, id, 0, go_on);
  g_hash_table_insert (self->all, &chain->key, chain);
  return chain;
}

/* The cluster is to have the copy of the next run. Takes @work, the subject of its work, and
 * @message. */
void
irisd_chains_keep (IrisdChains *self,
                   const IrisdChainNote *note,
                   char *work,
                   guint8 *message,
                   gsize size)
{
  Chain *chain = get_chain (self, note->chain);

  g_free (chain->request.work);
  g_free (chain->request.message);
  chain->request.work = work;
  chain->request.message = message;
  chain->request.size = size;
  chain->request.begin_ms = note->run->due_ms;
  chain->wished = TRUE;
  wish (chain, IRISD_CHAIN_KEEP, note->due_ms);
}

/* There is no next run. */
void
irisd_chains_drop (IrisdChains *self, const guint8 *id)
{
  Chain *chain = get_chain (self, id);

  chain->wished = TRUE;
  wish (chain, IRISD_CHAIN_DROP, 0);
}

/* Takes @note, which is returned with what the cluster has. */
void
irisd_chains_ask (IrisdChains *self, IrisdChainNote *note)
{
  Chain *chain = get_chain (self, note->chain);

  answer (chain);
  chain->question = note;
  wish (chain, IRISD_CHAIN_LOOK, 0);
}

/* --- the others ------------------------------------------------------------------------------- */

static void
drop_other (JsonObject *subjects, const char *subject, JsonNode *node, gpointer user_data)
{
  IrisdChains *self = user_data;
  const char *text = strrchr (subject, '.');
  guint8 id[IRIS_WIRE_ID_SIZE];
  gint64 key;

  if (text == NULL || !irisd_item_from_text (text + 1, strlen (text + 1), id))
    return;
  memcpy (&key, id, sizeof key);
  if (!g_hash_table_contains (self->all, &key))
    irisd_chains_drop (self, id);
}

static void
on_listed (IrisdEngine *engine, JsonObject *reply, const GError *error, gpointer user_data)
{
  IrisdChains *self = user_data;
  JsonObject *state = reply != NULL ? irisd_json_get_object (reply, "state") : NULL;
  JsonObject *subjects = state != NULL ? irisd_json_get_object (state, "subjects") : NULL;

  self->listing = FALSE;
  if (self->stopped)
    return;
  /* Without an answer they are asked for with the next connection. */
  self->resting = state == NULL;
  if (subjects != NULL)
    json_object_foreach_member (subjects, drop_other, self);
}

static void
list_others (IrisdChains *self)
{
  g_autofree char *subject = irisd_subject_for_head (self->shared->node, NULL);
  g_autofree char *json = g_strdup_printf ("{\"subjects_filter\":\"%s\"}", subject);
  g_autofree char *request = g_strconcat ("$JS.API.STREAM.INFO.", self->shared->later_stream, NULL);

  if (!self->resting || self->listing || self->stopped
      || irisd_engine_get_state (self->shared->engine) != IRISD_ENGINE_CONNECTED)
    return;
  self->listing = TRUE;
  irisd_engine_request (self->shared->engine, request, json, 0, on_listed, self);
}

/* irisd has told of all its schedules: the cluster is to have no copies of others. */
void
irisd_chains_drop_others (IrisdChains *self)
{
  self->resting = TRUE;
  list_others (self);
}

void
irisd_chains_follow_engine (IrisdChains *self)
{
  list_others (self);
}

/* The nodes are known: what was asked can be answered. */
void
irisd_chains_set_ready (IrisdChains *self)
{
  GHashTableIter iter;
  gpointer chain;

  if (self->ready)
    return;
  self->ready = TRUE;
  g_hash_table_iter_init (&iter, self->all);
  while (g_hash_table_iter_next (&iter, NULL, &chain))
    if (((Chain *) chain)->request.step.action == IRISD_CHAIN_DONE)
      answer (chain);
}

/* --- runs ------------------------------------------------------------------------------------- */

/* A run is published only when its copy cannot become due any more. */
IrisdChainFound
irisd_chains_find (IrisdChains *self, const guint8 *run)
{
  gint64 key;
  const Chain *chain;

  memcpy (&key, run, sizeof key);
  chain = g_hash_table_lookup (self->all, &key);
  if (chain == NULL)
    return IRISD_CHAIN_OTHER;
  return irisd_chain_step_find (&chain->request.step,
                                irisd_run_chain_get_due (chain->request.chain, run));
}

static gboolean
on_timer (gpointer data)
{
  IrisdChains *self = data;
  const gint64 now = g_get_monotonic_time ();
  GList *first;

  while ((first = self->pauses.head) != NULL && ((Chain *) first->data)->resume_us <= now)
    {
      Chain *chain = first->data;

      leave_pause (chain);
      irisd_chain_request_act (&chain->request, irisd_chain_step_resume (&chain->request.step));
    }
  hurry (self);
  return G_SOURCE_CONTINUE;
}

IrisdChains *
irisd_chains_new (const IrisdBridgeShared *shared)
{
  IrisdChains *self = g_new0 (IrisdChains, 1);

  self->shared = shared;
  self->all = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, chain_free);
  self->timer = irisd_bridge_timer_new (shared->context, "irisd-chains", on_timer, self);
  return self;
}

/* The engine is still there. Copies stay where they are. */
void
irisd_chains_stop (IrisdChains *self)
{
  GHashTableIter iter;
  gpointer chain;

  self->stopped = TRUE;
  g_hash_table_iter_init (&iter, self->all);
  while (g_hash_table_iter_next (&iter, NULL, &chain))
    ((Chain *) chain)->request.stopped = TRUE;
  g_source_destroy (self->timer);
}

/* It was stopped, and the engine is gone. */
void
irisd_chains_free (IrisdChains *self)
{
  g_source_unref (self->timer);
  g_hash_table_unref (self->all);
  g_free (self);
}
