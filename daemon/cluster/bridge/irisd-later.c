/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Copies of items of this node that wait for their time.
 *
 * A copy has the subject iris.l.HOME.ITEM and a time. When the time has come, the servers publish
 * it, in the same step, to iris.due.….ITEM, from where it comes into the stream of items. So what
 * there is of an item says what has happened: the one subject, it waits; the other, it has become
 * an item; none, it never was there, or has ended. What is due stays for TTL, unless the host that
 * ends the item removes it.
 */
#include "irisd-later.h"

#include "irisd-away-message.h"

#include "daemon/base/irisd-log.h"

#include <string.h>

#define AGAIN_US (2 * G_USEC_PER_SEC)

/* The end of the year 9999, of which the servers know no later. */
#define MOST_MS G_GUINT64_CONSTANT (253402300799000)

struct _IrisdLater
{
  const IrisdBridgeShared *shared;
  IrisdLaterTable *table;
  GSource *timer;
  IrisWireEncoder encoder;
  gboolean stopped;
  gboolean told; /* the log says that the cluster keeps no copies */
};

/* The owner's data of an IrisdLaterItem. */
typedef struct
{
  IrisdLater *later;
  IrisdLaterItem *item;
  char *work;
  guint8 *message; /* NULL once it is there */
  gsize size;
  guint64 due_ms;
} Copy;

/* --- subjects and messages -------------------------------------------------------------------- */

char *
irisd_later_get_subject (const IrisdBridgeShared *shared, const guint8 *id)
{
  char text[IRISD_ITEM_TEXT_SIZE];

  irisd_item_to_text (id, text);
  return irisd_subject_for_later (shared->node, text);
}

/* @work: the subject of the item's work. */
char *
irisd_later_get_due_subject (const char *work, const guint8 *id)
{
  char text[IRISD_ITEM_TEXT_SIZE];

  irisd_item_to_text (id, text);
  return irisd_subject_for_due (work, text);
}

/* As the servers read it. */
char *
irisd_later_format_time (guint64 ms)
{
  const guint64 least = MIN (ms, MOST_MS);
  g_autoptr (GDateTime) time = g_date_time_new_from_unix_utc ((gint64) (least / 1000));
  g_autofree char *seconds = g_date_time_format (time, "%Y-%m-%dT%H:%M:%S");

  return g_strdup_printf ("%s.%03uZ", seconds, (guint) (least % 1000));
}

static void
store (const IrisdBridgeShared *shared,
       const IrisdEnginePublication *copy,
       const guint8 *id,
       const char *work,
       guint64 due_ms,
       const IrisdEngineHeader *conditions,
       IrisdPublishFunc callback,
       gpointer user_data)
{
  IrisdEnginePublication publication = *copy;
  g_autofree char *due = irisd_later_get_due_subject (work, id);
  g_autofree char *time = irisd_later_format_time (due_ms + IRISD_LATER_GRACE_MS);
  g_autofree char *at = g_strconcat ("@at ", time, NULL);
  const IrisdEngineHeader headers[] = {
    { "Nats-Schedule", at },
    { "Nats-Schedule-Target", due },
    { "Nats-Schedule-TTL", IRISD_LATER_TTL },
    { IRISD_BRIDGE_AGAIN_HEADER, "1" },
    conditions != NULL ? conditions[0] : (IrisdEngineHeader){ 0 },
    conditions != NULL ? conditions[1] : (IrisdEngineHeader){ 0 },
  };

  publication.headers = headers;
  publication.n_headers = G_N_ELEMENTS (headers) - (conditions == NULL ? 2 : 0);
  irisd_engine_publish (shared->engine, &publication, callback, user_data);
}

/* Stores @copy, which has no headers yet, of the run @id of a schedule, which begins at @begin_ms,
 * if the last message of @subject has @sequence; else the result is WRONG_SEQUENCE. */
void
irisd_later_store_next (const IrisdBridgeShared *shared,
                        const IrisdEnginePublication *copy,
                        const guint8 *id,
                        const char *work,
                        guint64 begin_ms,
                        const char *subject,
                        guint64 sequence,
                        IrisdPublishFunc callback,
                        gpointer user_data)
{
  g_autofree char *expected = g_strdup_printf ("%" G_GUINT64_FORMAT, sequence);
  const IrisdEngineHeader conditions[] = {
    { "Nats-Expected-Last-Subject-Sequence", expected },
    { "Nats-Expected-Last-Subject-Sequence-Subject", subject },
  };

  store (shared, copy, id, work, begin_ms, conditions, callback, user_data);
}

/* Has the copy become an item now, which is @message, if it still waits under @sequence; else the
 * result is WRONG_SEQUENCE. */
void
irisd_later_fire (const IrisdBridgeShared *shared,
                  const guint8 *id,
                  const char *work,
                  guint64 sequence,
                  gconstpointer message,
                  gsize size,
                  IrisdPublishFunc callback,
                  gpointer user_data)
{
  g_autofree char *later = irisd_later_get_subject (shared, id);
  g_autofree char *due = irisd_later_get_due_subject (work, id);
  g_autofree char *expected = g_strdup_printf ("%" G_GUINT64_FORMAT, sequence);
  const IrisdEngineHeader headers[] = {
    { "Nats-Expected-Last-Subject-Sequence", expected },
    { "Nats-Expected-Last-Subject-Sequence-Subject", later },
    { "Nats-Scheduler", later },
    { "Nats-Schedule-Next", "purge" },
    { "Nats-TTL", IRISD_LATER_TTL },
    { IRISD_BRIDGE_AGAIN_HEADER, "1" },
  };
  const IrisdEnginePublication publication = {
    .subject = due,
    .headers = headers,
    .n_headers = G_N_ELEMENTS (headers),
    .data = message,
    .length = size,
  };

  irisd_engine_publish (shared->engine, &publication, callback, user_data);
}

static void
purge (const IrisdBridgeShared *shared,
       const char *stream,
       const char *subject,
       IrisdEngineReplyFunc callback,
       gpointer user_data)
{
  g_autofree char *request = g_strconcat ("$JS.API.STREAM.PURGE.", stream, NULL);
  g_autofree char *json = g_strdup_printf ("{\"filter\":\"%s\"}", subject);

  irisd_engine_request (shared->engine, request, json, 0, callback, user_data);
}

static void
ignore_reply (IrisdEngine *engine, JsonObject *reply, const GError *error, gpointer user_data)
{
  /* What is not removed has an end, so it does not run. */
}

/* The item has an end: its copy need not wait, nor be an item. */
void
irisd_later_withdraw (const IrisdBridgeShared *shared, const guint8 *id, const char *work)
{
  char text[IRISD_ITEM_TEXT_SIZE];
  g_autofree char *later = irisd_later_get_subject (shared, id);

  irisd_item_to_text (id, text);
  g_autofree char *late_work = irisd_subject_for_late_work (work, text);
  purge (shared, shared->later_stream, later, ignore_reply, NULL);
  purge (shared, shared->work_stream, late_work, ignore_reply, NULL);
}

/* An item that was due has ended. @sequence: of what is left of it. */
void
irisd_later_remove_copy (const IrisdBridgeShared *shared, guint64 sequence)
{
  g_autofree char *subject = g_strconcat ("$JS.API.STREAM.MSG.DELETE.", shared->later_stream, NULL);
  g_autofree char *json = g_strdup_printf ("{\"seq\":%" G_GUINT64_FORMAT ",\"no_erase\":true}",
                                           sequence);

  irisd_engine_request (shared->engine, subject, json, 0, ignore_reply, NULL);
}

/* --- what the table wants --------------------------------------------------------------------- */

static void
hurry (IrisdLater *self)
{
  const gint64 next = self->stopped ? G_MAXINT64
                                    : irisd_later_table_tick (self->table, g_get_monotonic_time ());

  g_source_set_ready_time (self->timer, next == G_MAXINT64 ? -1 : next);
}

static IrisdLaterVerdict
read_verdict (IrisdLater *self, const IrisdPublishResult *result)
{
  switch (result->status)
    {
    case IRISD_PUBLISH_STORED:
    case IRISD_PUBLISH_DUPLICATE:
      self->told = FALSE;
      return IRISD_LATER_KEPT;
    case IRISD_PUBLISH_WRONG_SEQUENCE:
      return IRISD_LATER_FIRED;
    case IRISD_PUBLISH_REFUSED:
      if (!self->told)
        irisd_log (IRISD_LOG_WARNING,
                   "the cluster keeps no items that wait for their time, so they wait for this "
                   "node: %s; see irisctl cluster check",
                   result->text != NULL ? result->text : "no reason given");
      self->told = TRUE;
      return IRISD_LATER_REFUSED;
    default:
      return IRISD_LATER_SILENT;
    }
}

static void
on_kept (IrisdEngine *engine, const IrisdPublishResult *result, gpointer user_data)
{
  Copy *copy = user_data;
  IrisdLater *self = copy->later;
  const IrisdLaterVerdict verdict = read_verdict (self, result);

  /* It is never published again, unless another one has taken its place. */
  if (verdict != IRISD_LATER_SILENT && !copy->item->changed)
    g_clear_pointer (&copy->message, g_free);
  irisd_later_table_kept (self->table, copy->item, verdict, result->sequence,
                          g_get_monotonic_time ());
  hurry (self);
}

static void
on_keep (IrisdLaterItem *item, gpointer user_data)
{
  IrisdLater *self = user_data;
  const Copy *copy = item->data;
  g_autofree char *later = irisd_later_get_subject (self->shared, item->item);
  const IrisdEnginePublication publication = {
    .subject = later,
    .data = copy->message,
    .length = copy->size,
    .check_last = item->sequence > 0,
    .expected_last = item->sequence,
  };

  store (self->shared, &publication, item->item, copy->work, copy->due_ms, NULL, on_kept,
         item->data);
}

static void
on_purged (IrisdEngine *engine, JsonObject *reply, const GError *error, gpointer user_data)
{
  Copy *copy = user_data;
  IrisdLater *self = copy->later;
  const gboolean none = error != NULL && error->domain == IRISD_JETSTREAM_ERROR
                        && error->code == IRISD_JETSTREAM_STREAM_NOT_FOUND;
  const gboolean removed = reply != NULL && json_object_has_member (reply, "purged")
                           && json_object_get_int_member (reply, "purged") > 0;

  irisd_later_table_purged (self->table, copy->item, error == NULL || none, removed,
                            g_get_monotonic_time ());
  hurry (self);
}

static void
on_purge (IrisdLaterItem *item, gpointer user_data)
{
  IrisdLater *self = user_data;
  g_autofree char *later = irisd_later_get_subject (self->shared, item->item);

  purge (self->shared, self->shared->later_stream, later, on_purged, item->data);
}

static void
on_claimed (IrisdEngine *engine, const IrisdPublishResult *result, gpointer user_data)
{
  Copy *copy = user_data;
  IrisdLater *self = copy->later;
  const gboolean sure = result->status == IRISD_PUBLISH_STORED
                        || result->status == IRISD_PUBLISH_WRONG_SEQUENCE
                        || result->status == IRISD_PUBLISH_REFUSED;

  irisd_later_table_claimed (self->table, copy->item, sure, g_get_monotonic_time ());
  hurry (self);
}

/* The cancel is the item's end, and hosts are told; see irisd-away.c. */
static void
on_claim (IrisdLaterItem *item, gpointer user_data)
{
  IrisdLater *self = user_data;
  const IrisdBridgeShared *shared = self->shared;
  gsize size = 0;
  g_autofree char *subject = irisd_bridge_end_subject (shared->node, item->item);
  g_autofree guint8 *claim = irisd_away_make_claim (shared, &self->encoder, item->item, &size);
  const IrisdEnginePublication publication = {
    .subject = subject,
    .data = claim,
    .length = size,
    .check_last = TRUE,
    .expected_last = 0,
  };

  irisd_engine_publish (shared->engine, &publication, on_claimed, item->data);
  irisd_engine_send (shared->engine, IRISD_BRIDGE_CANCEL_SUBJECT, NULL, NULL, 0, claim, size);
}

static void
on_forget (IrisdLaterItem *item, gpointer user_data)
{
  Copy *copy = item->data;

  if (copy == NULL)
    return;
  g_free (copy->work);
  g_free (copy->message);
  g_free (copy);
}

static const IrisdLaterFuncs table_funcs = { on_keep, on_purge, on_claim, on_forget };

/* --- what irisd wishes ------------------------------------------------------------------------ */

static IrisdLaterItem *
get_item (IrisdLater *self, const guint8 *id)
{
  IrisdLaterItem *item = irisd_later_table_get (self->table, id);

  if (item->data == NULL)
    {
      Copy *copy = g_new0 (Copy, 1);
      copy->later = self;
      copy->item = item;
      item->data = copy;
    }
  return item;
}

static void
wish (IrisdLater *self, IrisdLaterItem *item, IrisdLaterWish what)
{
  irisd_later_table_wish (self->table, item, what, g_get_monotonic_time ());
  hurry (self);
}

/* The cluster is to have a copy, which is due with the item @due_ms. Takes @work, the subject of
 * the item's work, and @message. */
void
irisd_later_keep (IrisdLater *self,
                  const guint8 *id,
                  char *work,
                  guint8 *message,
                  gsize size,
                  guint64 due_ms)
{
  IrisdLaterItem *item = get_item (self, id);
  Copy *copy = item->data;

  g_free (copy->work);
  g_free (copy->message);
  copy->work = work;
  copy->message = message;
  copy->size = size;
  copy->due_ms = due_ms;
  wish (self, item, IRISD_LATER_KEEP);
}

/* It is to have none. */
void
irisd_later_recall (IrisdLater *self, const guint8 *id)
{
  wish (self, get_item (self, id), IRISD_LATER_RECALL);
}

/* The item has ended. */
void
irisd_later_drop (IrisdLater *self, const guint8 *id)
{
  wish (self, get_item (self, id), IRISD_LATER_DROP);
}

/* While it is shut, the servers are asked for nothing. */
void
irisd_later_set_shut (IrisdLater *self, gboolean shut)
{
  irisd_later_table_set_shut (self->table, shut);
  hurry (self);
}

/* The item is leased. */
IrisdLaterFound
irisd_later_take (IrisdLater *self, const guint8 *id, guint64 *sequence)
{
  return irisd_later_table_take (self->table, id, sequence);
}

static gboolean
on_timer (gpointer data)
{
  hurry (data);
  return G_SOURCE_CONTINUE;
}

static gboolean
timer_dispatch (GSource *source, GSourceFunc callback, gpointer user_data)
{
  return callback (user_data);
}

IrisdLater *
irisd_later_new (const IrisdBridgeShared *shared)
{
  static GSourceFuncs timer_funcs = { .dispatch = timer_dispatch };
  IrisdLater *self = g_new0 (IrisdLater, 1);

  self->shared = shared;
  self->table = irisd_later_table_new (AGAIN_US, &table_funcs, self);
  iris_wire_encoder_init (&self->encoder, NULL);
  self->timer = g_source_new (&timer_funcs, sizeof (GSource));
  g_source_set_callback (self->timer, on_timer, self, NULL);
  g_source_set_static_name (self->timer, "irisd-later");
  g_source_attach (self->timer, shared->context);
  return self;
}

/* The engine is still there. Copies stay where they are. */
void
irisd_later_stop (IrisdLater *self)
{
  self->stopped = TRUE;
  g_source_destroy (self->timer);
}

/* It was stopped, and the engine is gone. */
void
irisd_later_free (IrisdLater *self)
{
  g_source_unref (self->timer);
  irisd_later_table_free (self->table);
  iris_wire_encoder_clear (&self->encoder);
  g_free (self);
}
