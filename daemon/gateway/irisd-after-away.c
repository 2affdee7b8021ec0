/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items that run after items of other nodes.
 *
 * Each such dependency gets a number of this node that no client knows, and is to the graph of
 * dependencies an item like any other. A *watch* asks the other node for its end, on behalf of the
 * owner of the item that waits: by SHOW, or by FETCH if it matters how a command ended. Dependents
 * of one owner share a watch. The bridge makes of it short requests that follow each other, so a
 * node that dies shows after seconds; then the watch asks again after a pause, for as long as an
 * item waits. What it waits for is told by PROGRESS, and logged.
 *
 * A watch is not told that the items which wait for it were cancelled: it looks whether there are
 * any before it asks once more, each ASK_MS at the latest.
 *
 * All of it is volatile, as what waits is: a persistent item cannot come after others.
 */
#include "daemon/gateway/irisd-after-away.h"

#include "daemon/base/irisd-log.h"
#include "daemon/base/irisd-text.h"
#include "daemon/gateway/irisd-ask-requests.h"
#include "daemon/gateway/irisd-away.h"
#include "daemon/gateway/irisd-send.h"
#include "daemon/items/irisd-dependencies.h"

#include <string.h>

/* How long one request waits at the other node. */
#define ASK_MS 30000

/* The pause after an answer that does not help: the first, and the longest. */
#define FIRST_PAUSE_MS 500
#define MOST_PAUSE_MS  10000

/* Characters of what a client has sent in a message. */
#define MAX_QUOTED 64

#define K(key) IRIS_WIRE_BIT (IRIS_WIRE_KEY_##key)

/* The gateway's, made with its first watch. */
struct _IrisdAfterAway
{
  GHashTable *watches; /* by their names */
  GPtrArray *fresh;    /* those that have not asked yet */
  IrisdTimers timers;
};

/* A connection that wants progress of an item that waits. */
typedef struct
{
  IrisdPeer *peer;
  guint8 request_id[IRIS_WIRE_ID_SIZE];
} Listener;

/**
 * Watch:
 * @timer: first, until it asks again
 * @name: owner, dependency, and whether it matters how that ends; the key in the table
 * @text: NODE/ITEM
 * @number: the dependency's in the graph
 * @peer: on whose behalf it asks
 * @pause_ms: before it asks again, if an answer did not help
 * @told: why it does not is in the log
 *
 * An item of another node for which items of this gateway wait.
 */
typedef struct
{
  IrisdTimer timer;
  char *name;
  char *text;
  char *node;
  guint64 item;
  guint64 number;
  gboolean by_success;
  gint64 view;
  IrisdPeer *peer;
  GArray *listeners;
  gint64 pause_ms;
  gboolean told;
} Watch;

static void
clear_listener (gpointer data)
{
  irisd_peer_unref (((Listener *) data)->peer);
}

static void
watch_free (gpointer data)
{
  Watch *self = data;
  g_free (self->name);
  g_free (self->text);
  g_free (self->node);
  irisd_peer_unref (self->peer);
  g_array_unref (self->listeners);
  g_free (self);
}

static struct _IrisdAfterAway *
get (IrisdGateway *self)
{
  if (self->after_away == NULL)
    {
      self->after_away = g_new0 (struct _IrisdAfterAway, 1);
      self->after_away->watches = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, watch_free);
      self->after_away->fresh = g_ptr_array_new ();
      irisd_timers_init (&self->after_away->timers);
    }
  return self->after_away;
}

/* --- what waits is told why ------------------------------------------------------------------- */

static gboolean
listens (const Listener *self)
{
  return !irisd_peer_is_gone (self->peer)
         && g_hash_table_contains (self->peer->jobs, self->request_id);
}

/* Their items have ended otherwise, as by CANCEL. */
static void
drop_listeners (Watch *watch)
{
  for (guint i = watch->listeners->len; i > 0; i--)
    if (!listens (&g_array_index (watch->listeners, Listener, i - 1)))
      g_array_remove_index_fast (watch->listeners, i - 1);
}

static void
tell_listener (IrisdGateway *self, const Listener *listener, const char *note)
{
  IrisWireMessage progress;
  if (!listens (listener))
    return;
  iris_wire_message_init (&progress, IRIS_WIRE_PROGRESS, listener->request_id);
  iris_wire_message_set_string (&progress, IRIS_WIRE_KEY_NOTE, note, -1);
  irisd_send_offer (self, listener->peer, &progress);
}

static void
tell (IrisdGateway *self, Watch *watch, const char *why)
{
  g_autofree char *note = g_strdup_printf ("it waits for item %s: %s", watch->text, why);
  for (guint i = 0; i < watch->listeners->len; i++)
    tell_listener (self, &g_array_index (watch->listeners, Listener, i), note);
  if (!watch->told)
    irisd_log (IRISD_LOG_WARNING, "an item waits for item %s of another node: %s", watch->text,
               why);
  watch->told = TRUE;
}

/* --- asking ----------------------------------------------------------------------------------- */

static void
end (IrisdGateway *self, Watch *watch, IrisdAwayEnd how, const char *reason)
{
  irisd_timers_remove (&self->after_away->timers, &watch->timer);
  irisd_dependencies_end_away (&self->items, watch->number, how, reason);
  g_hash_table_remove (self->after_away->watches, watch->name);
}

static void take_answer (IrisdGateway *self,
                         const IrisWireMessage *answer,
                         const GError *error,
                         gpointer user_data);

static void
ask (IrisdGateway *self, Watch *watch)
{
  IrisWireMessage request;
  iris_wire_message_init (&request, watch->by_success ? IRIS_WIRE_FETCH : IRIS_WIRE_SHOW, NULL);
  iris_wire_message_set_string (&request, IRIS_WIRE_KEY_NODE, watch->node, -1);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_ITEM, watch->item);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_WAIT_MS, ASK_MS);
  irisd_ask_requests_ask_for (self, watch->peer, watch->view, &request, take_answer, watch);
}

/* Asks again, if an item still waits. */
static void
go_on (IrisdGateway *self, Watch *watch)
{
  drop_listeners (watch);
  if (irisd_dependencies_is_awaited (&self->items, watch->number))
    ask (self, watch);
  else
    end (self, watch, IRISD_AWAY_END_UNKNOWN, NULL);
}

/* An answer comes late where irisd ends: what waited has ended before. */
static void
pause_watch (IrisdGateway *self, Watch *watch, const char *why)
{
  if (!irisd_dependencies_is_awaited (&self->items, watch->number))
    {
      end (self, watch, IRISD_AWAY_END_UNKNOWN, NULL);
      return;
    }
  tell (self, watch, why);
  watch->pause_ms = CLAMP (watch->pause_ms * 2, FIRST_PAUSE_MS, MOST_PAUSE_MS);
  irisd_timers_add (&self->after_away->timers, &watch->timer, IRISD_CLOCK_STEADY,
                    g_get_monotonic_time () + watch->pause_ms * 1000);
}

static void
end_failed (IrisdGateway *self, Watch *watch)
{
  g_autofree char *reason = g_strdup_printf (
      "the item %s failed, and this item runs only after its success (after-how 3): mend what "
      "failed, then send both again",
      watch->text);
  end (self, watch, IRISD_AWAY_END_FAILED, reason);
}

static void
end_unknown (IrisdGateway *self, Watch *watch, const char *why)
{
  g_autofree char *reason = g_strdup_printf ("cannot run after item %s: %s", watch->text, why);
  end (self, watch, IRISD_AWAY_END_UNKNOWN, reason);
}

/* Of an item that was shown. */
static void
take_state (IrisdGateway *self, Watch *watch, const IrisWireFrame *body)
{
  g_autoptr (IrisWirePersistentList) list = iris_wire_persistent_list_decode (*body, NULL, NULL);
  switch (list != NULL && list->n_items == 1 ? list->items[0].state : 0)
    {
    case 0:
      end_unknown (self, watch, "what that node tells of it cannot be read");
      break;
    case IRIS_WIRE_STATE_DONE:
      end (self, watch, IRISD_AWAY_END_WELL, NULL);
      break;
    case IRIS_WIRE_STATE_FAILED:
    case IRIS_WIRE_STATE_CANCELLED:
      end_failed (self, watch);
      break;
    case IRIS_WIRE_STATE_BURIED:
      pause_watch (self, watch, "it is buried; kick or cancel it at that node");
      break;
    default:
      go_on (self, watch);
    }
}

static void
take_error (IrisdGateway *self, Watch *watch, const IrisWireMessage *error)
{
  g_autofree char *why = iris_wire_string_dup (&error->message);
  if (error->code == IRIS_WIRE_ERROR_BURIED)
    pause_watch (self, watch, "it is buried; kick or cancel it at that node");
  else if (error->ends)
    end_failed (self, watch);
  else if (error->code == IRIS_WIRE_ERROR_NODE_AWAY || error->code == IRIS_WIRE_ERROR_BUSY
           || error->code == IRIS_WIRE_ERROR_SHUTTING_DOWN
           || error->code == IRIS_WIRE_ERROR_JOURNAL_FAILED)
    pause_watch (self, watch, why);
  else
    end_unknown (self, watch, why);
}

static void
take_answer (IrisdGateway *self,
             const IrisWireMessage *answer,
             const GError *error,
             gpointer user_data)
{
  Watch *watch = user_data;
  if (answer == NULL)
    {
      pause_watch (self, watch, error->message);
      return;
    }
  if (answer->type == IRIS_WIRE_PENDING || answer->type == IRIS_WIRE_SHOW_REPLY)
    {
      watch->pause_ms = 0;
      watch->told = FALSE;
    }
  switch (answer->type)
    {
    case IRIS_WIRE_RESULT:
      if (answer->exit_status > 0 || answer->signal > 0)
        end_failed (self, watch);
      else
        end (self, watch, IRISD_AWAY_END_WELL, NULL);
      break;
    case IRIS_WIRE_SHOW_REPLY:
      take_state (self, watch, &answer->body);
      break;
    case IRIS_WIRE_ERROR_REPLY:
      take_error (self, watch, answer);
      break;
    case IRIS_WIRE_PENDING:
      go_on (self, watch);
      break;
    default:
      pause_watch (self, watch, "that node has too much to do");
    }
}

/* --- items that come ----------------------------------------------------------------------------
 */

static gboolean
parse (const IrisWireString *text, IrisWireString *node, guint64 *item, GError **error)
{
  const char *slash = memchr (text->data, '/', text->len);
  g_autofree char *number = NULL;
  if (slash != NULL)
    {
      *node = (IrisWireString){ text->data, (gsize) (slash - text->data) };
      number = g_strndup (slash + 1, text->len - node->len - 1);
      if (node->len > 0 && g_ascii_string_to_unsigned (number, 10, 1, G_MAXUINT64, item, NULL))
        return TRUE;
    }
  g_autofree char *quoted = irisd_text_quote (text->data, (gssize) text->len, MAX_QUOTED);
  g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
               "an item of another node is named NODE/ITEM, with its number there, not “%s”",
               quoted);
  return FALSE;
}

static void
listen (Watch *watch, const IrisdCaller *caller, const IrisWireMessage *item)
{
  Listener listener = { irisd_peer_ref (caller->peer), { 0 } };
  memcpy (listener.request_id, item->request_id, IRIS_WIRE_ID_SIZE);
  g_array_append_val (watch->listeners, listener);
}

static guint64
find_watch (IrisdGateway *self,
            const IrisdCaller *caller,
            const IrisWireMessage *item,
            const IrisWireString *node,
            guint64 number)
{
  const gboolean by_success = item->after_how == IRIS_WIRE_AFTER_SUCCESS;
  const gint64 view = irisd_peer_get_view (caller->peer, IRIS_WIRE_SUBMIT);
  g_autofree char *name = g_strdup_printf ("%" G_GINT64_FORMAT " %.*s/%" G_GUINT64_FORMAT " %d",
                                           view, (int) node->len, node->data, number, by_success);
  Watch *watch = g_hash_table_lookup (get (self)->watches, name);
  if (watch == NULL)
    {
      watch = g_new0 (Watch, 1);
      watch->node = iris_wire_string_dup (node);
      watch->item = number;
      watch->text = g_strdup_printf ("%s/%" G_GUINT64_FORMAT, watch->node, number);
      watch->number = irisd_dependencies_add_away (&self->items, caller->peer->owner);
      watch->by_success = by_success;
      watch->view = view;
      watch->peer = irisd_peer_ref (caller->peer);
      watch->listeners = g_array_new (FALSE, FALSE, sizeof (Listener));
      g_array_set_clear_func (watch->listeners, clear_listener);
      watch->name = g_steal_pointer (&name);
      g_hash_table_insert (self->after_away->watches, watch->name, watch);
      g_ptr_array_add (self->after_away->fresh, watch);
    }
  if (item->progress)
    listen (watch, caller, item);
  return watch->number;
}

/* Puts the numbers of the items of other nodes that @item names beside those that it has. @numbers
 * gets what @item borrows from here on. irisd_after_away_watch() is to follow when @item is
 * accepted or refused. */
gboolean
irisd_after_away_resolve (IrisdGateway *self,
                          const IrisdCaller *caller,
                          IrisWireMessage *item,
                          guint64 **numbers,
                          GError **error)
{
  const guint n = item->after.n + item->after_away.n;
  IrisWireArgsIter iter;
  IrisWireString text;
  guint at = item->after.n;
  *numbers = g_new0 (guint64, n + 1);
  iris_wire_numbers_read (&item->after, *numbers);
  iris_wire_args_iter_init (&iter, &item->after_away);
  while (iris_wire_args_iter_next (&iter, &text))
    {
      IrisWireString node;
      guint64 number;
      gboolean own;
      if (!parse (&text, &node, &number, error) || !irisd_away_find_node (self, &node, &own, error))
        return FALSE;
      (*numbers)[at++] = own ? number : find_watch (self, caller, item, &node, number);
    }
  item->present &= ~K (AFTER_AWAY);
  item->after_away = (IrisWireArgs){ 0 };
  if (n > 0)
    iris_wire_message_set_numbers (item, IRIS_WIRE_KEY_AFTER, *numbers, n);
  return TRUE;
}

/* Begins with new watches, and ends those that no item waits for. */
void
irisd_after_away_watch (IrisdGateway *self)
{
  if (self->after_away == NULL)
    return;
  for (guint i = 0; i < self->after_away->fresh->len; i++)
    go_on (self, g_ptr_array_index (self->after_away->fresh, i));
  g_ptr_array_set_size (self->after_away->fresh, 0);
}

void
irisd_after_away_wake_due (IrisdGateway *self)
{
  const IrisdTimes now = irisd_times_now ();
  IrisdTimer *timer;
  if (self->after_away == NULL)
    return;
  while ((timer = irisd_timers_pop_due (&self->after_away->timers, &now)) != NULL)
    go_on (self, (Watch *) timer);
}

/* Returns when to wake, by the monotonic clock; 0 for never. */
gint64
irisd_after_away_get_due_us (IrisdGateway *self)
{
  if (self->after_away == NULL || irisd_timers_get_count (&self->after_away->timers) == 0)
    return 0;
  return irisd_timers_get_first (&self->after_away->timers, IRISD_CLOCK_STEADY);
}

/* @self has ended, and answers no more. */
void
irisd_after_away_clear (IrisdGateway *self)
{
  GHashTableIter iter;
  gpointer watch;
  if (self->after_away == NULL)
    return;
  /* A watch may be in its pause. */
  g_hash_table_iter_init (&iter, self->after_away->watches);
  while (g_hash_table_iter_next (&iter, NULL, &watch))
    irisd_timers_remove (&self->after_away->timers, &((Watch *) watch)->timer);
  irisd_timers_clear (&self->after_away->timers);
  g_ptr_array_unref (self->after_away->fresh);
  g_hash_table_unref (self->after_away->watches);
  g_clear_pointer (&self->after_away, g_free);
}
