/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items of this node that the cluster has lost.
 *
 * A host acknowledges an item only after an end of it was stored, so an item that is out has its
 * message in the stream, or an end. One that has neither was lost: its message was deleted by hand,
 * a server came back without its disk, or a node has a defect. No host would ever have it again.
 * The home therefore asks for the message of each item now and then, looks for its end if the
 * message is gone, and if there is none twice in a row, gives the lease back with a warning. irisd
 * leases the item again, and it is published again.
 *
 * What was published may have been put into the stream anew by a host. It then has a subject of its
 * own, as what has waited for its time has, of which there may be something left where it waited:
 * that is removed after the acknowledgement, and counts as the message.
 *
 * Why an item that has ended does not run once more by this:
 *
 * * The places are asked in the order in which a message goes through them, and the end comes last.
 *   A host puts a message anew before it acknowledges the old one, and stores an end before it
 *   acknowledges at all. So when no place has it, its end is already there, if there is one.
 * * All answers are the leaders'. "There is none" may be wrong from one that has just become it and
 *   is behind; so it must be said twice, in checks that are `check_us` apart. A failed answer is
 *   none.
 * * The end is looked for once more before the item is published, as for each that was leased
 *   before; and by the host before it runs, because the message says so in its header. A claim is
 *   an end, so a cancelled item does not run either.
 * * An end is found for as long as the stream of ends keeps it, which is days. An item whose home
 *   was away for longer could have run again before, by the same look after a restart.
 *
 * So twice runs only an item that has no end: one whose message was deleted while a host runs it,
 * or that a host has got anew from a stream that had lost it. As each that runs on two nodes, it
 * ends once, by the compare-and-set on its end.
 */
#include "irisd-away-private.h"

#include "daemon/base/irisd-log.h"

#include <string.h>

typedef enum
{
  BY_SEQUENCE, /* where it was published */
  BY_SUBJECT,  /* where a host put it anew, or where it came to when it was due */
  DUE,         /* where it waited for its time */
  END,
} Place;

typedef struct
{
  IrisdAway *away;
  guint8 item[IRIS_WIRE_ID_SIZE];
  guint64 sequence;
  Place place;
} Check;

static void ask (Check *check);

/* NULL if it has ended, or was published again. */
static IrisdAwayItem *
find_item (const Check *check)
{
  IrisdAwayItem *item = irisd_away_table_find (check->away->table, check->item);

  return item != NULL && item->state == IRISD_AWAY_OUT && item->sequence == check->sequence ? item
                                                                                            : NULL;
}

static void
on_end_looked (IrisdEngine *engine,
               const IrisdEngineMessage *message,
               const GError *error,
               gpointer user_data)
{
  g_autofree Check *check = user_data;
  IrisdAwayItem *item = find_item (check);

  if (item == NULL)
    return;
  if (message != NULL)
    irisd_away_take_found (check->away, item, message);
  else if (g_error_matches (error, IRISD_ENGINE_ERROR, IRISD_ENGINE_ERROR_NOT_FOUND))
    irisd_away_table_checked (check->away->table, item, FALSE, g_get_monotonic_time ());
  irisd_away_hurry (check->away);
}

static gboolean
is_none (const Check *check, const GError *error)
{
  /* A cluster may be without the stream of what waits. */
  return g_error_matches (error, IRISD_JETSTREAM_ERROR, IRISD_JETSTREAM_MESSAGE_NOT_FOUND)
         || (check->place == DUE
             && g_error_matches (error, IRISD_JETSTREAM_ERROR, IRISD_JETSTREAM_STREAM_NOT_FOUND));
}

static void
on_asked (IrisdEngine *engine, JsonObject *reply, const GError *error, gpointer user_data)
{
  Check *check = user_data;
  IrisdAwayItem *item = find_item (check);

  if (item != NULL && reply == NULL && is_none (check, error))
    {
      check->place++;
      ask (check);
      return;
    }
  if (item != NULL && reply != NULL)
    irisd_away_table_checked (check->away->table, item, TRUE, g_get_monotonic_time ());
  g_free (check);
}

static void
ask_leader (Check *check, const char *stream, const char *json)
{
  g_autofree char *request = g_strconcat ("$JS.API.STREAM.MSG.GET.", stream, NULL);

  irisd_engine_request (check->away->shared->engine, request, json, 0, on_asked, check);
}

/* Asks the next place. The item is OUT. */
static void
ask (Check *check)
{
  const IrisdBridgeShared *shared = check->away->shared;
  const IrisdAwayItem *item = irisd_away_table_find (check->away->table, check->item);
  const IrisdAwayRecord *data = item->data;
  g_autofree char *subject = NULL;
  g_autofree char *json = NULL;

  switch (check->place)
    {
    case BY_SEQUENCE:
      json = g_strdup_printf ("{\"seq\":%" G_GUINT64_FORMAT "}", check->sequence);
      ask_leader (check, shared->work_stream, json);
      break;
    case BY_SUBJECT:
      subject = irisd_subject_for_late_work (data->subject, data->id);
      json = g_strdup_printf ("{\"last_by_subj\":\"%s\"}", subject);
      ask_leader (check, shared->work_stream, json);
      break;
    case DUE:
      subject = irisd_subject_for_due (data->subject, data->id);
      json = g_strdup_printf ("{\"last_by_subj\":\"%s\"}", subject);
      ask_leader (check, shared->later_stream, json);
      break;
    case END:
      subject = irisd_subject_for_end (shared->node, data->id);
      irisd_engine_get_last (shared->engine, shared->ends_stream, subject, on_end_looked, check);
      break;
    }
}

/* Whether the stream still has the item. */
void
irisd_away_check (IrisdAwayItem *item, gpointer user_data)
{
  Check *check = g_new0 (Check, 1);

  check->away = user_data;
  check->sequence = item->sequence;
  check->place = item->sequence > 0 ? BY_SEQUENCE : BY_SUBJECT;
  memcpy (check->item, item->item, sizeof check->item);
  ask (check);
}

/* It has neither message nor end. */
void
irisd_away_lose (IrisdAwayItem *item, gpointer user_data)
{
  IrisdAway *self = user_data;
  IrisdAwayRecord *data = item->data;
  IrisWireMessage fail;
  g_autofree char *why = g_strdup_printf (
      "the cluster has lost the item %s of this node, which has neither message nor end, so it is "
      "published again: see whether messages of the stream %s are deleted, or a server lost its "
      "disk",
      data->id, self->shared->work_stream);

  irisd_log (IRISD_LOG_WARNING, "%s", why);
  /* The stream remembers the id of the message for a while. */
  data->lost = item->sequence;
  data->before = TRUE;
  data->searched = FALSE;
  iris_wire_message_init (&fail, IRIS_WIRE_FAIL, item->lease);
  iris_wire_message_set_string (&fail, IRIS_WIRE_KEY_MESSAGE, why, -1);
  iris_wire_message_set_boolean (&fail, IRIS_WIRE_KEY_AGAIN, TRUE);
  irisd_bridge_link_send (self->link, &fail);
}
