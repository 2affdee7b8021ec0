/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Messages that no node can run: copied to the stream of dead letters, and then ended.
 */
#include "irisd-dead-letter.h"

#include "daemon/base/irisd-log.h"

typedef struct
{
  char *ack;
  char *reason;
} DeadLetter;

static void
dead_letter_free (DeadLetter *self)
{
  g_free (self->ack);
  g_free (self->reason);
  g_free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DeadLetter, dead_letter_free)

static void
on_buried (IrisdEngine *engine, const IrisdPublishResult *result, gpointer user_data)
{
  g_autoptr (DeadLetter) letter = user_data;

  if (result->status == IRISD_PUBLISH_STORED || result->status == IRISD_PUBLISH_DUPLICATE)
    irisd_engine_term (engine, letter->ack, letter->reason);
  else
    irisd_engine_nak (engine, letter->ack, 5000);
}

static void
on_copied (IrisdEngine *engine, const IrisdPublishResult *result, gpointer user_data)
{
  if (result->status != IRISD_PUBLISH_STORED && result->status != IRISD_PUBLISH_DUPLICATE)
    irisd_log (IRISD_LOG_WARNING, "a dead letter was not stored: %s",
               result->text != NULL ? result->text : "no reason given");
}

static void
publish (const IrisdBridgeShared *shared,
         const IrisdEngineMessage *message,
         const char *kind,
         const char *reason,
         IrisdPublishFunc callback,
         gpointer user_data)
{
  g_autofree char *subject = g_strconcat (IRISD_SUBJECT_DEAD, shared->node, ".", kind, NULL);
  g_autofree char *id = g_strdup_printf ("dead-%" G_GUINT64_FORMAT, message->sequence);
  const IrisdEngineHeader headers[] = {
    { "Iris-Reason", reason },
    { "Iris-Subject", message->subject },
    { "Iris-Node", shared->node },
  };
  const IrisdEnginePublication publication = {
    .subject = subject,
    .headers = headers,
    .n_headers = G_N_ELEMENTS (headers),
    .data = message->data,
    .length = message->length,
    .message_id = id,
  };

  irisd_log (IRISD_LOG_WARNING,
             "message %" G_GUINT64_FORMAT " of the cluster does not run: %s; it is in the stream "
             "of dead letters",
             message->sequence, reason);
  irisd_engine_publish (shared->engine, &publication, callback, user_data);
}

/* Copies a message that no node can run to the stream of dead letters, and then ends it. */
void
irisd_dead_letter_bury (const IrisdBridgeShared *shared,
                        const IrisdEngineMessage *message,
                        const char *kind,
                        const char *reason)
{
  DeadLetter *letter = g_new0 (DeadLetter, 1);

  letter->ack = g_strdup (message->reply);
  letter->reason = g_strdup (reason);
  publish (shared, message, kind, reason, on_buried, letter);
}

/* Copies a message to the stream of dead letters whose item ends by itself. */
void
irisd_dead_letter_copy (const IrisdBridgeShared *shared,
                        const IrisdEngineMessage *message,
                        const char *kind,
                        const char *reason)
{
  publish (shared, message, kind, reason, on_copied, NULL);
}

/* The last token of its subject. */
const char *
irisd_dead_letter_name_kind (const GError *error)
{
  if (error->domain == IRISD_WORK_MESSAGE_ERROR && error->code == IRISD_WORK_MESSAGE_ERROR_FOREIGN)
    return "foreign";
  if (error->domain == IRISD_WORK_MESSAGE_ERROR && error->code == IRISD_WORK_MESSAGE_ERROR_FORGED)
    return "forged";
  return "damaged";
}
