/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the cluster's thread is told of the schedules of irisd whose runs go to other nodes.
 *
 * The cluster keeps a copy of the next run of each, which becomes due if this node is down then,
 * and with it what other nodes need to go on.
 */
#include "daemon/items/schedule/irisd-schedule-chain.h"

#include "daemon/cluster/members/irisd-chain-note.h"
#include "daemon/exec/worker/irisd-away-item.h"

#include <string.h>

/* The keys of a SUBMIT by which it may be for another node. */
#define WISHES                                               \
  (IRISD_AWAY_KEYS | IRIS_WIRE_BIT (IRIS_WIRE_KEY_NEAR_ITEM) \
   | IRIS_WIRE_BIT (IRIS_WIRE_KEY_NEAR_PATH))

/* The turns of a queue are this node's to give. */
static gboolean
may_go_away (const IrisWireMessage *item)
{
  const IrisWireString *place = &item->hint_name;
  const gboolean elsewhere = place->len > 0 && memchr (place->data, '/', place->len) != NULL;
  return ((item->present & WISHES) != 0 || elsewhere) && item->queue.len == 0;
}

/* @entry is new, or its times have changed. */
void
irisd_schedule_chain_init (IrisdCore *core, IrisdRecurring *entry)
{
  IrisWireMessage item;
  entry->chained = core->cluster_mailbox != NULL && core->cluster != NULL
                   && irisd_recurring_read_item (entry, &item, NULL) && may_go_away (&item);
  if (entry->chained)
    irisd_run_chain_make_id (irisd_cluster_view_get_own (core->cluster), entry->owner, entry->name,
                             entry->made_ms, entry->chain);
}

/* The run has the same name at each node that makes it. */
void
irisd_schedule_chain_name (const IrisdRecurring *entry, guint64 due_ms, IrisWireMessage *run)
{
  guint8 name[IRIS_WIRE_ID_SIZE];
  irisd_run_chain_get_run (entry->chain, due_ms, name);
  iris_wire_message_set_cluster_item (run, name);
}

static void
post (IrisdCore *core, IrisdChainNote *note)
{
  irisd_mailbox_post (core->cluster_mailbox, &note->message);
}

static GBytes *
pack_chain (const IrisdRecurring *entry, guint64 due_ms)
{
  IrisWireMessage schedule;
  g_auto (IrisdRunChain) chain = { 0 };
  if (!irisd_recurring_read (entry, &schedule, NULL)
      || !irisd_run_chain_init (&chain, entry->chain, due_ms, &schedule, NULL))
    return NULL;
  return irisd_run_chain_pack (&chain);
}

static IrisdLaterNote *
make_run (IrisdCore *core, const IrisdRecurring *entry, guint64 due_ms, const IrisWireMessage *run)
{
  g_autoptr (IrisdAwayItem) away = irisd_away_item_new (run, &core->wire_limits, NULL);
  const IrisdKey *key = irisd_keys_find_owner (irisd_core_get_settings (core)->keys, entry->owner);
  if (away == NULL)
    return NULL;
  IrisdLaterNote *note = irisd_later_note_new (IRISD_LATER_NOTE_KEEP, run->cluster_item);
  note->due_ms = irisd_recurring_get_begin_of (entry, due_ms);
  note->header = g_bytes_ref (away->header);
  zmq_msg_close (&note->body);
  zmq_msg_init_size (&note->body, run->body.size);
  if (run->body.size > 0)
    memcpy (zmq_msg_data (&note->body), run->body.data, run->body.size);
  note->owner = entry->owner;
  note->key_name = key != NULL ? g_strdup (key->name) : NULL;
  note->retries = run->retries;
  note->deadline_ms = run->deadline_ms;
  return note;
}

/* @run is for another node: the cluster is to have a copy of it, which is the run at @due_ms. FALSE
 * if it cannot be sent. */
gboolean
irisd_schedule_chain_keep (IrisdCore *core,
                           IrisdRecurring *entry,
                           guint64 due_ms,
                           IrisWireMessage *run)
{
  g_autoptr (GBytes) packed = pack_chain (entry, due_ms);
  irisd_schedule_chain_name (entry, due_ms, run);
  IrisdLaterNote *later = packed != NULL ? make_run (core, entry, due_ms, run) : NULL;
  if (later == NULL)
    return FALSE;
  IrisdChainNote *note = g_new (IrisdChainNote, 1);
  irisd_chain_note_init (note, IRISD_CHAIN_NOTE_KEEP, entry->chain);
  note->due_ms = due_ms;
  note->packed = g_steal_pointer (&packed);
  note->run = later;
  entry->kept_ms = due_ms;
  post (core, note);
  return TRUE;
}

/* The cluster is to have none. */
void
irisd_schedule_chain_drop (IrisdCore *core, IrisdRecurring *entry)
{
  if (!entry->chained || entry->kept_ms == 0)
    return;
  IrisdChainNote *note = g_new (IrisdChainNote, 1);
  irisd_chain_note_init (note, IRISD_CHAIN_NOTE_DROP, entry->chain);
  entry->kept_ms = 0;
  post (core, note);
}

/* The cluster's thread was told of all schedules. */
void
irisd_schedule_chain_rest (IrisdCore *core)
{
  if (core->cluster_mailbox == NULL)
    return;
  IrisdChainNote *note = g_new (IrisdChainNote, 1);
  irisd_chain_note_init (note, IRISD_CHAIN_NOTE_REST, NULL);
  post (core, note);
}
