/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests about named queues: QUEUE and QUEUES.
 *
 * A change holds at once, over all gateways, and is answered when the journal has written it, if
 * there is one. If the journal cannot write it, the queue gets its rules back. Changes go to the
 * journal in the order in which they began to hold, by a lock of their own.
 */
#include "daemon/gateway/irisd-queue-requests.h"

#include "daemon/base/irisd-log.h"
#include "daemon/gateway/irisd-send.h"
#include "daemon/gateway/irisd-submit.h"
#include "daemon/items/irisd-permit.h"

#include <string.h>

/* What the journal has of a queue, besides its name. */
typedef struct
{
  guint32 limit; /* each in the byte order of the least byte first */
  guint32 priority;
  guint32 suspended;
} Record;

/* A change on its way to the journal. */
typedef struct
{
  IrisdBroadcast base;
  IrisdGateway *gateway;
  IrisdPeer *peer;
  guint8 request_id[IRIS_WIRE_ID_SIZE];
  char *name;
  IrisdQueueRules before;
} Change;

static void
change_free (IrisdBroadcast *broadcast)
{
  Change *self = (Change *) broadcast;
  irisd_peer_unref (self->peer);
  g_free (self->name);
  g_free (self);
}

/* Makes the rules hold; @most: how many queues there may be. */
static gboolean
apply (IrisdCore *core,
       const char *name,
       const IrisdQueueRules *rules,
       guint64 most,
       GError **error)
{
  IrisdQueueTurn *next;
  if (!irisd_named_queues_change (&core->queues, name, rules, most, &next, error))
    return FALSE;
  irisd_permit_give_turns (next);
  return TRUE;
}

/* The journal has written the change, or could not. */
static void
take_outcome (IrisdBroadcast *broadcast, const GError *error)
{
  Change *self = (Change *) broadcast;
  const IrisdCaller caller = { .route = self->peer->route, .peer = self->peer };
  /* A new queue stays if items have joined it meanwhile. */
  if (error != NULL)
    apply (self->gateway->core, self->name, &self->before, G_MAXUINT64, NULL);
  self->peer->n_questions--;
  if (!irisd_peer_is_gone (self->peer) && error != NULL)
    irisd_send_refusal (self->gateway, &caller, self->request_id, error);
  else if (!irisd_peer_is_gone (self->peer))
    irisd_send_changed (self->gateway, &caller, self->request_id, 1);
  change_free (broadcast);
}

static const IrisdBroadcastClass change_class = {
  .refuse = take_outcome,
  .free = change_free,
};

static IrisdRecordChange *
make_record (const char *name, const IrisdQueueRules *rules)
{
  const Record body = { GUINT32_TO_LE (rules->limit), GUINT32_TO_LE (rules->priority),
                        GUINT32_TO_LE (rules->suspended) };
  const IrisdNamedRecord record = { .kind = IRISD_RECORD_QUEUE,
                                    .name = (const guint8 *) name,
                                    .name_size = strlen (name),
                                    .body = (const guint8 *) &body,
                                    .body_size = sizeof body };
  return irisd_record_change_new (&record, !rules->exists);
}

static void
write_change (IrisdGateway *self,
              const IrisdCaller *caller,
              const IrisWireMessage *request,
              const char *name,
              const IrisdQueueRules *before,
              const IrisdQueueRules *rules)
{
  Change *change = g_new0 (Change, 1);
  irisd_broadcast_init (&change->base, &change_class);
  change->gateway = self;
  change->peer = irisd_peer_ref (caller->peer);
  change->name = g_strdup (name);
  change->before = *before;
  memcpy (change->request_id, request->request_id, IRIS_WIRE_ID_SIZE);
  caller->peer->n_questions++;
  IrisdJournalRequest *journal_request = irisd_journal_request_new (IRISD_JOURNAL_REQUEST_RECORD,
                                                                    &self->mailbox);
  journal_request->change = make_record (name, rules);
  journal_request->broadcast = &change->base;
  irisd_journal_post (self->core->journal, journal_request);
}

/* Fills @rules with what @request makes of a queue that is like @before. */
static gboolean
merge (const IrisWireMessage *request,
       const char *name,
       const IrisdQueueRules *before,
       IrisdQueueRules *rules,
       GError **error)
{
  *rules = before->exists ? *before : (IrisdQueueRules){ .priority = IRIS_WIRE_DEFAULT_PRIORITY };
  rules->exists = !request->remove;
  if (iris_wire_message_has (request, IRIS_WIRE_KEY_QUEUE_LIMIT))
    rules->limit = request->queue_limit;
  if (iris_wire_message_has (request, IRIS_WIRE_KEY_PRIORITY))
    rules->priority = request->priority;
  if (iris_wire_message_has (request, IRIS_WIRE_KEY_SUSPENDED))
    rules->suspended = request->suspended;
  if (before->exists || !request->remove)
    return TRUE;
  g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NO_SUCH_ITEM,
               "there is no queue “%s” to remove: see irisctl queues", name);
  return FALSE;
}

static gboolean
rules_equal (const IrisdQueueRules *a, const IrisdQueueRules *b)
{
  return a->exists == b->exists && a->limit == b->limit && a->priority == b->priority
         && a->suspended == b->suspended;
}

/* Under the lock for changes. */
static gboolean
change (IrisdGateway *self,
        const IrisdCaller *caller,
        const IrisWireMessage *request,
        const char *name,
        GError **error)
{
  const IrisdQueueRules before = irisd_named_queues_get_rules (&self->core->queues, name);
  IrisdQueueRules rules;
  guint64 most = irisd_core_get_settings (self->core)->limits.max_queues;
  if (!merge (request, name, &before, &rules, error))
    return FALSE;
  gboolean same = rules_equal (&before, &rules);
  if (!same && !apply (self->core, name, &rules, most, error))
    return FALSE;
  if (!same && self->core->journal != NULL)
    write_change (self, caller, request, name, &before, &rules);
  else
    irisd_send_changed (self, caller, request->request_id, !same);
  return TRUE;
}

static gboolean
check (IrisdGateway *self, const IrisWireMessage *request, GError **error)
{
  if (!irisd_named_queues_check_name (&request->queue, error))
    return FALSE;
  if (irisd_items_get_phase (&self->items) == IRISD_PHASE_SERVING)
    return TRUE;
  g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_SHUTTING_DOWN,
                       "cannot change a queue: irisd is ending; ask again when it is back");
  return FALSE;
}

void
irisd_queue_requests_change (IrisdGateway *self,
                             const IrisdCaller *caller,
                             const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  if (!irisd_submit_may_ask (self, caller, request, FALSE))
    return;
  if (check (self, request, &error))
    {
      g_autofree char *name = iris_wire_string_dup (&request->queue);
      pthread_mutex_lock (&self->core->queues.change_lock);
      change (self, caller, request, name, &error);
      pthread_mutex_unlock (&self->core->queues.change_lock);
    }
  if (error != NULL)
    irisd_send_refusal (self, caller, request->request_id, error);
}

void
irisd_queue_requests_list (IrisdGateway *self,
                           const IrisdCaller *caller,
                           const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisWireQueues) list = irisd_named_queues_list (&self->core->queues);
  g_autoptr (GBytes) body = iris_wire_queues_encode (list, &self->core->wire_limits, &error);
  IrisWireMessage reply;
  iris_wire_message_init (&reply, IRIS_WIRE_QUEUES_REPLY, request->request_id);
  irisd_send_answer_bytes (self, caller, &reply, body, error);
}

/* --- at the start ----------------------------------------------------------------------------- */

/* @record is of the journal; no gateway was started. */
void
irisd_queue_requests_load (IrisdGateway *self, const IrisdNamedRecord *record)
{
  const IrisWireString name = { (const char *) record->name, record->name_size };
  g_autofree char *text = iris_wire_string_dup (&name);
  Record body;
  if (record->body_size != sizeof body || !irisd_named_queues_check_name (&name, NULL))
    {
      irisd_log (IRISD_LOG_ERROR,
                 "a queue of the journal cannot be read: make it again, with irisctl queue");
      return;
    }
  memcpy (&body, record->body, sizeof body);
  const IrisdQueueRules rules = { .exists = TRUE,
                                  .limit = GUINT32_FROM_LE (body.limit),
                                  .priority = MIN (GUINT32_FROM_LE (body.priority), 9),
                                  .suspended = body.suspended != 0 };
  apply (self->core, text, &rules, G_MAXUINT64, NULL);
}

/* Goes through all gateways behind the items that the journal had, then opens the queues: the
 * first in line is known then. */
typedef struct
{
  IrisdBroadcast base;
  guint n_visited;
} Opening;

static void
open_queues (IrisdGateway *gateway, IrisdBroadcast *broadcast)
{
  Opening *self = (Opening *) broadcast;
  IrisdCore *core = gateway->core;
  if (++self->n_visited < core->n_gateways)
    {
      irisd_mailbox_post (&core->gateways[self->n_visited]->mailbox, &broadcast->message);
      return;
    }
  irisd_permit_give_turns (irisd_named_queues_open (&core->queues));
  g_free (self);
}

static void
opening_free (IrisdBroadcast *broadcast)
{
  g_free (broadcast);
}

static const IrisdBroadcastClass opening_class = { .run = open_queues, .free = opening_free };

/* The gateways have the items of the journal in their mailboxes, and start now. */
void
irisd_queue_requests_open (IrisdCore *core)
{
  Opening *self = g_new0 (Opening, 1);
  irisd_broadcast_init (&self->base, &opening_class);
  irisd_mailbox_post (&core->gateways[0]->mailbox, &self->base.message);
}
