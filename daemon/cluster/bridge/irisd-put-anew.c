/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A message of the stream of items, put into the stream anew; see irisd-put-anew.h.
 *
 * The new message has the item's own subject, where its home looks for it when the one that it has
 * published is gone. Two things keep it one message: its id, which the servers remember for two
 * minutes, so what was stored without an answer is not stored twice; and the expectation that the
 * own subject has no message, or the old one.
 */
#include "irisd-put-anew.h"

#include <string.h>

#define HEADER "Iris-Before"

/* Three numbers in this order; what cannot be read is 0. */
void
irisd_before_from_text (IrisdBefore *self, const char *text)
{
  guint64 *const numbers[] = { &self->n_delivered, &self->n_tries, &self->copy };
  char *rest = (char *) text;

  *self = (IrisdBefore){ 0 };
  for (guint i = 0; text != NULL && i < G_N_ELEMENTS (numbers); i++)
    *numbers[i] = g_ascii_strtoull (rest, &rest, 10);
  self->n_delivered = MIN (self->n_delivered, G_MAXUINT32);
  self->n_tries = MIN (self->n_tries, self->n_delivered);
}

char *
irisd_before_to_text (const IrisdBefore *self)
{
  return g_strdup_printf ("%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT,
                          self->n_delivered, self->n_tries, self->copy);
}

/* Returns whether the item of @message may have come before. */
gboolean
irisd_before_read (IrisdBefore *self, const IrisdEngineMessage *message)
{
  const gboolean again = irisd_engine_message_get_header (message, IRISD_BRIDGE_AGAIN_HEADER)
                         != NULL;

  irisd_before_from_text (self, again ? irisd_engine_message_get_header (message, HEADER) : NULL);
  return again;
}

/* Returns the own subject of @item, which is in @subject already or comes to its end, or NULL if
 * there is none. */
char *
irisd_put_anew_make_subject (const char *subject, const char *item)
{
  g_auto (IrisdWorkSubject) parsed = { 0 }, made = { 0 };

  if (irisd_subject_parse_work (subject, &parsed) && parsed.item != NULL)
    return g_strdup (subject);
  if (item == NULL)
    return NULL;
  g_autofree char *own = irisd_subject_for_late_work (subject, item);
  return irisd_subject_parse_work (own, &made) ? g_steal_pointer (&own) : NULL;
}

/* @item: (nullable): its text. */
void
irisd_put_anew (const IrisdBridgeShared *shared,
                const IrisdDelivered *delivered,
                const char *item,
                const IrisdBefore *before,
                IrisdPublishFunc callback,
                gpointer user_data)
{
  g_autofree char *own = irisd_put_anew_make_subject (delivered->subject, item);
  g_autofree char *id = g_strdup_printf ("again-%" G_GUINT64_FORMAT, delivered->sequence);
  g_autofree char *text = irisd_before_to_text (before);
  const IrisdEngineHeader headers[] = { { IRISD_BRIDGE_AGAIN_HEADER, "1" }, { HEADER, text } };
  const IrisdEnginePublication publication = {
    .subject = own != NULL ? own : delivered->subject,
    .headers = headers,
    .n_headers = G_N_ELEMENTS (headers),
    .data = delivered->data,
    .length = delivered->length,
    .message_id = id,
    .check_last = own != NULL,
    .expected_last = own != NULL && strcmp (own, delivered->subject) == 0 ? delivered->sequence : 0,
  };

  irisd_engine_publish (shared->engine, &publication, callback, user_data);
}

/* A message that is being removed. */
typedef struct
{
  const IrisdBridgeShared *shared;
  char *own;
} Withdrawal;

static void
ignore_reply (IrisdEngine *engine, JsonObject *reply, const GError *error, gpointer user_data)
{
  /* What is not removed has an end, so it does not run. */
}

/* A message that is gone has been acknowledged, or a host has put it anew. That one would wait for
 * a node that may be gone. */
static void
on_deleted (IrisdEngine *engine, JsonObject *reply, const GError *error, gpointer user_data)
{
  Withdrawal *self = user_data;

  if (error != NULL && error->domain == IRISD_JETSTREAM_ERROR)
    {
      g_autofree char *request = g_strconcat ("$JS.API.STREAM.PURGE.", self->shared->work_stream,
                                              NULL);
      g_autofree char *json = g_strdup_printf ("{\"filter\":\"%s\"}", self->own);
      irisd_engine_request (self->shared->engine, request, json, 0, ignore_reply, NULL);
    }
  g_free (self->own);
  g_free (self);
}

/* Removes the message of @item, which has an end, was published to @subject and stored under
 * @sequence; or what was put anew of it. */
void
irisd_put_anew_withdraw (const IrisdBridgeShared *shared,
                         const char *subject,
                         const char *item,
                         guint64 sequence)
{
  Withdrawal *self = g_new (Withdrawal, 1);
  g_autofree char *request = g_strconcat ("$JS.API.STREAM.MSG.DELETE.", shared->work_stream, NULL);
  g_autofree char *json = g_strdup_printf ("{\"seq\":%" G_GUINT64_FORMAT ",\"no_erase\":true}",
                                           sequence);

  self->shared = shared;
  self->own = irisd_subject_for_late_work (subject, item);
  irisd_engine_request (shared->engine, request, json, 0, on_deleted, self);
}
