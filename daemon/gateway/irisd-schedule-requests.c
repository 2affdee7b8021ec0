/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests about schedules: SCHEDULE and SCHEDULES.
 *
 * The gateway of the connection judges a request, with the rights of its client, and sends it to
 * the front gateway, which has the schedules. A change goes by the journal on its way home: what is
 * answered survives a restart.
 *
 * A change that names only some keys is laid over the message that would make the schedule.
 */
#include "daemon/gateway/irisd-schedule-requests.h"

#include "daemon/gateway/irisd-item-requests.h"
#include "daemon/gateway/irisd-send.h"
#include "daemon/gateway/irisd-submit.h"

#include <string.h>

/* The most bytes of an item that a schedule submits, with its options. */
#define MOST_BODY 65536

/* Schedules of one answer, and bytes of their arguments. */
#define MOST_LISTED      512
#define LISTED_ARGS_MOST 256

/* The keys that say when a schedule is due, and those that a change may leave out. */
#define WHEN_KEYS                                                              \
  (IRIS_WIRE_BIT (IRIS_WIRE_KEY_CALENDAR) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_ZONE) \
   | IRIS_WIRE_BIT (IRIS_WIRE_KEY_EVERY_MS))

/* A request on its way. */
typedef struct
{
  IrisdBroadcast base;
  IrisdGateway *home; /* the gateway of the connection that asks */
  IrisdPeer *peer;    /* the client that asks; belongs to @home */
  guint8 request_id[IRIS_WIRE_ID_SIZE];
  gint64 owner;
  gboolean sees_all;
  gboolean over; /* it is on its way home */
  char *name;    /* NULL: SCHEDULES of all */
  IrisdBlob header;
  IrisdBlob body;
  guint count;
  GBytes *behind;  /* SCHEDULES: (nullable): the id that the answer begins behind */
  char *next;      /* SCHEDULES: (nullable): where the next answer begins */
  GBytes *made;    /* SCHEDULE: (nullable): the id of the schedule that it has made */
  guint64 made_ms; /* likewise */
  guint changed;
  gboolean lists;
  IrisWireSchedules *list;
  GError *error;
} Order;

static void
order_free (IrisdBroadcast *broadcast)
{
  Order *self = (Order *) broadcast;
  irisd_peer_unref (self->peer);
  g_free (self->name);
  g_free (self->next);
  g_free (self->header.data);
  g_free (self->body.data);
  g_clear_pointer (&self->behind, g_bytes_unref);
  g_clear_pointer (&self->made, g_bytes_unref);
  g_clear_pointer (&self->list, iris_wire_schedules_free);
  g_clear_error (&self->error);
  g_free (self);
}

static void
go_home (Order *self)
{
  self->over = TRUE;
  irisd_mailbox_post (&self->home->mailbox, &self->base.message);
}

static gboolean
fail (Order *self, IrisWireError code, const char *format, ...) G_GNUC_PRINTF (3, 4);

static gboolean
fail (Order *self, IrisWireError code, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  self->error = g_error_new_valist (IRIS_WIRE_ERROR, code, format, args);
  va_end (args);
  return FALSE;
}

/* --- at the front ----------------------------------------------------------------------------- */

/* The own one of that name, or, of one who sees all, the only one. */
static IrisdRecurring *
find_entry (IrisdSchedules *schedules, Order *self)
{
  g_autoptr (GBytes) id = irisd_recurring_make_id (self->owner, self->name, strlen (self->name));
  IrisdRecurring *entry = irisd_schedules_find (schedules, id);
  gboolean several = FALSE;
  /* With an item it is a new one of its own; and looking at all for each of many would take long.
   */
  if (entry == NULL && self->sees_all && self->body.size == 0)
    entry = irisd_schedules_find_foreign (schedules, self->name, &several);
  if (several)
    fail (self, IRIS_WIRE_ERROR_BAD_ARGUMENT,
          "several users have a schedule “%s”: ask as the user whose it is", self->name);
  return entry;
}

/* Fills @merged with what @change says, and what it leaves out from @old. */
static void
lay_over (const IrisWireMessage *old, const IrisWireMessage *change, IrisWireMessage *merged)
{
  gboolean new_times = (change->present & WHEN_KEYS) != 0;
  gboolean new_line = iris_wire_message_has (change, IRIS_WIRE_KEY_CALENDAR)
                      || iris_wire_message_has (change, IRIS_WIRE_KEY_EVERY_MS);
  *merged = *change;
  if (!new_line && iris_wire_message_has (old, IRIS_WIRE_KEY_CALENDAR))
    iris_wire_message_set_string (merged, IRIS_WIRE_KEY_CALENDAR, old->calendar.data,
                                  (gssize) old->calendar.len);
  if (!new_line && iris_wire_message_has (old, IRIS_WIRE_KEY_EVERY_MS))
    iris_wire_message_set_uint (merged, IRIS_WIRE_KEY_EVERY_MS, old->every_ms);
  if (!new_times && iris_wire_message_has (old, IRIS_WIRE_KEY_ZONE))
    iris_wire_message_set_string (merged, IRIS_WIRE_KEY_ZONE, old->zone.data,
                                  (gssize) old->zone.len);
  if (!iris_wire_message_has (change, IRIS_WIRE_KEY_JITTER_MS) && old->jitter_ms > 0)
    iris_wire_message_set_uint (merged, IRIS_WIRE_KEY_JITTER_MS, old->jitter_ms);
  if (!iris_wire_message_has (change, IRIS_WIRE_KEY_MISSED) && old->missed > 0)
    iris_wire_message_set_uint (merged, IRIS_WIRE_KEY_MISSED, old->missed);
  if (!iris_wire_message_has (change, IRIS_WIRE_KEY_OVERLAP) && old->overlap > 0)
    iris_wire_message_set_uint (merged, IRIS_WIRE_KEY_OVERLAP, old->overlap);
  if (!iris_wire_message_has (change, IRIS_WIRE_KEY_SUSPENDED))
    iris_wire_message_set_boolean (merged, IRIS_WIRE_KEY_SUSPENDED, old->suspended);
}

static gboolean
read_header (IrisWireFrame header, IrisWireMessage *message, GError **error)
{
  const guint8 type = IRIS_WIRE_SCHEDULE;
  const guint8 id[IRIS_WIRE_ID_SIZE] = { 0 };
  const IrisWireFrame frames[IRIS_WIRE_N_FRAMES] = {
    { (const guint8 *) "IRS1", 4 }, { &type, 1 }, { id, sizeof id }, header, { NULL, 0 },
  };
  return iris_wire_decode (frames, IRIS_WIRE_N_FRAMES, NULL, message, error);
}

/* Returns what @old becomes, or NULL with the order's error. */
static IrisdRecurring *
change_entry (IrisdGateway *front, Order *self, const IrisdRecurring *old)
{
  IrisWireMessage before, change, merged;
  IrisWireFrame body = { self->body.data, self->body.size };
  if (!irisd_recurring_read (old, &before, &self->error)
      || !read_header ((IrisWireFrame){ self->header.data, self->header.size }, &change,
                       &self->error))
    return NULL;
  lay_over (&before, &change, &merged);
  merged.body = (IrisWireFrame){ 0 };
  if (!irisd_recurring_check (&merged, &self->error)
      || !iris_wire_encode (&front->encoder, &merged, &self->error))
    return NULL;
  if (body.size == 0)
    body = (IrisWireFrame){ old->body.data, old->body.size };
  gboolean new_times = (change.present & WHEN_KEYS) != 0;
  return irisd_recurring_new (old->owner, new_times ? irisd_unix_ms () : old->made_ms,
                              front->encoder.frames[3], body, &self->error);
}

static IrisdRecurring *
make_entry (IrisdGateway *front, Order *self, const IrisWireMessage *message)
{
  guint64 most = irisd_core_get_settings (front->core)->limits.max_schedules;
  if (self->body.size == 0
      || (!iris_wire_message_has (message, IRIS_WIRE_KEY_CALENDAR)
          && !iris_wire_message_has (message, IRIS_WIRE_KEY_EVERY_MS)))
    fail (self, IRIS_WIRE_ERROR_BAD_ARGUMENT,
          "there is no schedule “%s” to change (irisctl schedules lists them); a new one needs an "
          "item to submit, and calendar or every-ms",
          self->name);
  else if (irisd_schedules_get_count (front->schedules) >= most)
    fail (self, IRIS_WIRE_ERROR_BAD_ARGUMENT,
          "irisd has as many schedules as the limit max-schedules (%" G_GUINT64_FORMAT
          ") allows: remove some, or raise the limit in irisd's configuration",
          most);
  else
    {
      IrisdRecurring *entry = irisd_recurring_new (
          self->owner, irisd_unix_ms (), (IrisWireFrame){ self->header.data, self->header.size },
          (IrisWireFrame){ self->body.data, self->body.size }, &self->error);
      if (entry != NULL)
        {
          self->made = g_bytes_ref (entry->id);
          self->made_ms = entry->made_ms;
        }
      return entry;
    }
  return NULL;
}

/* Returns whether the order waits for the journal. */
static gboolean
change (IrisdGateway *front, Order *self)
{
  IrisdSchedules *schedules = front->schedules;
  IrisWireMessage message;
  IrisdRecurring *entry = find_entry (schedules, self);
  if (self->error != NULL
      || !read_header ((IrisWireFrame){ self->header.data, self->header.size }, &message,
                       &self->error))
    return FALSE;
  if (entry == NULL && message.remove)
    return fail (self, IRIS_WIRE_ERROR_NO_SUCH_ITEM,
                 "there is no schedule “%s”: see irisctl schedules", self->name);
  self->changed = 1;
  if (message.remove)
    {
      irisd_schedules_remove (schedules, entry, &self->base);
      return TRUE;
    }
  if (iris_wire_message_has (&message, IRIS_WIRE_KEY_COUNT))
    {
      if (entry == NULL)
        fail (self, IRIS_WIRE_ERROR_NO_SUCH_ITEM,
              "there is no schedule “%s”: see irisctl schedules", self->name);
      else
        irisd_schedules_run_now (schedules, entry, &self->error);
      return FALSE;
    }
  IrisdRecurring *changed = entry != NULL ? change_entry (front, self, entry)
                                          : make_entry (front, self, &message);
  if (changed == NULL)
    return FALSE;
  irisd_schedules_put (schedules, changed, &self->base);
  return TRUE;
}

/* Returns the arguments, of which the rest of many is one `…`. */
static char **
copy_args (const IrisWireMessage *item)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  IrisWireArgsIter iter;
  IrisWireString arg;
  gsize size = 0;
  iris_wire_args_iter_init (&iter, &item->args);
  while (iris_wire_args_iter_next (&iter, &arg))
    {
      g_autofree char *text = iris_wire_string_dup (&arg);
      size += arg.len + 1;
      g_strv_builder_add (builder, size <= LISTED_ARGS_MOST ? text : "…");
      if (size > LISTED_ARGS_MOST)
        break;
    }
  return g_strv_builder_end (builder);
}

/* Tells where the items of a schedule go. */
static void
describe_place (IrisdGateway *self, const IrisWireMessage *item, IrisWireScheduleInfo *info)
{
  const IrisWireString *name = &item->hint_name;
  const char *slash = self->core->cluster != NULL && name->len > 0
                          ? memchr (name->data, '/', name->len)
                          : NULL;
  const gsize n = slash != NULL ? (gsize) (slash - name->data) : 0;
  info->node = slash != NULL ? g_strndup (name->data, n) : iris_wire_string_dup (&item->node);
  info->any_node = item->any_node;
  info->strict = item->strict;
  if (slash != NULL)
    info->place = g_strndup (slash + 1, name->len - n - 1);
  else if (iris_wire_message_has (item, IRIS_WIRE_KEY_HINT_NAME) || item->hint < 0)
    info->place = iris_wire_string_dup (name);
  else
    info->place = g_strdup_printf ("%d", item->hint);
}

static void
describe (IrisdGateway *self, const IrisdRecurring *entry, IrisWireScheduleInfo *info)
{
  IrisWireMessage message, item;
  const IrisdRecurringState *state = &entry->state;
  info->name = g_strdup (entry->name);
  info->owner = (guint64) entry->owner;
  info->jitter_ms = entry->jitter_ms;
  info->missed = entry->missed;
  info->overlap = entry->overlap;
  info->suspended = entry->suspended;
  info->next_ms = entry->waiting || entry->suspended ? 0 : irisd_recurring_get_begin (entry);
  info->last_ms = state->last_ms;
  info->item = state->item;
  info->state = (guint32) state->state;
  info->exit_code = (guint32) state->exit_code;
  info->runs = state->n_runs;
  info->skipped = state->n_skipped;
  if (irisd_recurring_read (entry, &message, NULL))
    {
      info->calendar = iris_wire_string_dup (&message.calendar);
      info->every_ms = message.every_ms;
      info->zone = iris_wire_string_dup (&message.zone);
    }
  if (irisd_recurring_read_item (entry, &item, NULL))
    {
      info->service = iris_wire_string_dup (&item.service);
      info->args = copy_args (&item);
      describe_place (self, &item, info);
    }
}

static void
list (IrisdGateway *front, Order *self)
{
  g_autoptr (GPtrArray) entries = g_ptr_array_new ();
  IrisdRecurring *only = self->name != NULL ? find_entry (front->schedules, self) : NULL;
  GTreeNode *node = self->name == NULL ? irisd_schedules_first (front->schedules, self->behind)
                                       : NULL;
  if (only != NULL)
    g_ptr_array_add (entries, only);
  for (; node != NULL && entries->len < self->count; node = g_tree_node_next (node))
    {
      IrisdRecurring *entry = g_tree_node_value (node);
      if (self->sees_all || entry->owner == self->owner)
        g_ptr_array_add (entries, entry);
    }
  if (node != NULL && entries->len > 0)
    {
      const IrisdRecurring *last = g_ptr_array_index (entries, entries->len - 1);
      self->next = g_strdup_printf ("%" G_GINT64_FORMAT "/%s", last->owner, last->name);
    }
  self->list = iris_wire_schedules_new (entries->len);
  for (guint i = 0; i < entries->len; i++)
    describe (front, g_ptr_array_index (entries, i), &self->list->schedules[i]);
}

/* --- at home ---------------------------------------------------------------------------------- */

static void
answer_list (IrisdGateway *gateway, const IrisdCaller *caller, Order *self)
{
  IrisWireMessage reply;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes)
      body = iris_wire_schedules_encode (self->list, &gateway->core->wire_limits, &error);
  iris_wire_message_init (&reply, IRIS_WIRE_SCHEDULES_REPLY, self->request_id);
  if (self->next != NULL)
    iris_wire_message_set_string (&reply, IRIS_WIRE_KEY_KEY, self->next, -1);
  irisd_send_answer_bytes (gateway, caller, &reply, body, error);
}

static void
answer (IrisdGateway *gateway, Order *self)
{
  const IrisdCaller caller = { .route = self->peer->route, .peer = self->peer };
  self->peer->n_questions--;
  if (irisd_peer_is_gone (self->peer))
    return;
  if (self->error != NULL)
    irisd_send_refusal (gateway, &caller, self->request_id, self->error);
  else if (self->list != NULL)
    answer_list (gateway, &caller, self);
  else
    irisd_send_changed (gateway, &caller, self->request_id, self->changed);
}

/* First at home, then at the front, then at home again. */
static void
run (IrisdGateway *gateway, IrisdBroadcast *broadcast)
{
  Order *self = (Order *) broadcast;
  if (self->over)
    {
      answer (gateway, self);
      order_free (broadcast);
      return;
    }
  gboolean waits = FALSE;
  if (self->lists)
    list (gateway, self);
  else
    waits = change (gateway, self);
  if (!waits)
    go_home (self);
}

/* At the front: the journal has written the change, or could not. */
static void
take_outcome (IrisdBroadcast *broadcast, const GError *error)
{
  Order *self = (Order *) broadcast;
  IrisdGateway *front = self->home->core->gateways[self->home->core->n_gateways - 1];
  if (error != NULL)
    {
      self->error = g_error_copy (error);
      if (self->made != NULL)
        irisd_schedules_forget (front->schedules, self->made, self->made_ms);
    }
  go_home (self);
}

static const IrisdBroadcastClass order_class = {
  .run = run,
  .refuse = take_outcome,
  .free = order_free,
};

static void
send_order (IrisdGateway *self,
            const IrisdCaller *caller,
            const IrisWireMessage *request,
            Order *order)
{
  irisd_broadcast_init (&order->base, &order_class);
  order->home = self;
  order->peer = irisd_peer_ref (caller->peer);
  order->owner = caller->peer->owner;
  order->sees_all = irisd_peer_get_view (caller->peer, (IrisWireType) request->type)
                    == IRISD_VIEW_ALL;
  memcpy (order->request_id, request->request_id, IRIS_WIRE_ID_SIZE);
  caller->peer->n_questions++;
  irisd_mailbox_post (self->core->front, &order->base.message);
}

static gboolean
check_item (IrisdGateway *self,
            const IrisdCaller *caller,
            const IrisWireMessage *request,
            GError **error)
{
  IrisWireBatchIter iter;
  IrisWireMessage item;
  const char *why = NULL;
  if (!iris_wire_batch_iter_init (&iter, request->body, &self->core->wire_limits, error))
    return FALSE;
  IrisWireBatchStep step = iris_wire_batch_iter_next (&iter, &item, error);
  if (step == IRIS_WIRE_BATCH_REFUSED)
    return FALSE;
  if (iter.n_items != 1 || step != IRIS_WIRE_BATCH_ITEM)
    why = "a schedule has exactly one item, which each run submits";
  else if (request->body.size > MOST_BODY)
    why = "the item of a schedule has at most 65536 bytes, with its options: put the rest into a "
          "file";
  else if (item.key.len > 0)
    why = "each run of a schedule has a key of its own: leave out key";
  if (why != NULL)
    {
      g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT, why);
      return FALSE;
    }
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_CLASS, IRIS_WIRE_CLASS_DURABLE);
  return irisd_submit_check_run (self, caller, &item, error);
}

static gboolean
check_journal (IrisdGateway *self, GError **error)
{
  if (self->core->journal != NULL)
    return TRUE;
  g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_DURABLE,
                       "this irisd keeps no schedules: it has no journal; start it with --journal "
                       "DIR");
  return FALSE;
}

void
irisd_schedule_requests_change (IrisdGateway *self,
                                const IrisdCaller *caller,
                                const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  IrisWireMessage header = *request;
  header.body = (IrisWireFrame){ 0 };
  if (!irisd_submit_may_ask (self, caller, request, FALSE))
    return;
  if (!check_journal (self, &error) || !irisd_recurring_check (request, &error)
      || (request->body.size > 0 && !check_item (self, caller, request, &error))
      || !iris_wire_encode (&self->encoder, &header, &error))
    {
      irisd_send_refusal (self, caller, request->request_id, error);
      return;
    }
  const IrisWireFrame *frame = &self->encoder.frames[3];
  Order *order = g_new0 (Order, 1);
  order->name = iris_wire_string_dup (&request->schedule);
  order->header = (IrisdBlob){ g_memdup2 (frame->data, frame->size), frame->size };
  order->body = (IrisdBlob){ g_memdup2 (request->body.data, request->body.size),
                             request->body.size };
  send_order (self, caller, request, order);
}

/* Returns the id of what an answer named; an empty one, from the start, if it makes no sense. */
static GBytes *
read_behind (const IrisWireMessage *request)
{
  g_autofree char *text = iris_wire_string_dup (&request->key);
  char *slash = NULL;
  gint64 owner = g_ascii_strtoll (text, &slash, 10);
  return *slash == '/' ? irisd_recurring_make_id (owner, slash + 1, strlen (slash + 1))
                       : g_bytes_new (NULL, 0);
}

void
irisd_schedule_requests_list (IrisdGateway *self,
                              const IrisdCaller *caller,
                              const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  if (!irisd_submit_may_ask (self, caller, request, FALSE))
    return;
  if (!check_journal (self, &error))
    {
      irisd_send_refusal (self, caller, request->request_id, error);
      return;
    }
  Order *order = g_new0 (Order, 1);
  order->lists = TRUE;
  order->count = MIN (MOST_LISTED, self->core->wire_limits.max_entries);
  if (iris_wire_message_has (request, IRIS_WIRE_KEY_COUNT))
    order->count = CLAMP (request->count, 1, order->count);
  if (iris_wire_message_has (request, IRIS_WIRE_KEY_SCHEDULE))
    order->name = iris_wire_string_dup (&request->schedule);
  if (iris_wire_message_has (request, IRIS_WIRE_KEY_KEY))
    order->behind = read_behind (request);
  send_order (self, caller, request, order);
}
