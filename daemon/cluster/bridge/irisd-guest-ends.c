/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Ends of items of the cluster that run here: made, published as the first of their subjects, with
 * what is too large for a message in the store of large bodies.
 */
#include "irisd-guest-private.h"
#include "irisd-guest-rules.h"
#include "irisd-stored-body.h"

#include "daemon/base/irisd-log.h"

#include <string.h>

#define K(key) IRIS_WIRE_BIT (IRIS_WIRE_KEY_##key)

/* Keys of an end that are about a number or place of this irisd. */
#define HOST_KEYS (K (ITEM) | K (HOME) | K (NODE) | K (ATTEMPTS) | K (ENDS))

/* Ends on the way to the stream whose items make room for others: storing takes milliseconds, so a
 * window that held them too would run dry. Beyond so many the stream does not keep up. */
#define MOST_ENDING 1024

/* Something has changed, by which something may be due earlier. */
void
irisd_guest_hurry (IrisdGuest *self)
{
  irisd_bridge_timer_hurry (self->timer, g_get_monotonic_time () + G_USEC_PER_SEC / 50);
}

char *
irisd_guest_get_end_subject (const IrisdGuestRecord *guest)
{
  g_autofree char *home = iris_wire_string_dup (&guest->message.home);

  return irisd_bridge_end_subject (home, guest->item->item);
}

/* Makes the bytes of an end: @message is RESULT or ERROR. */
static gboolean
encode_end (IrisdGuest *self, IrisdGuestRecord *guest, IrisWireMessage *message)
{
  g_autoptr (GError) error = NULL;
  IrisdWorkMessage end = {
    .kind = IRISD_WORK_MESSAGE_END,
    .type = message->type,
    .owner = guest->message.owner,
    .made_ms = g_get_real_time () / 1000,
    .tries = (guint32) MIN (guest->n_tries, G_MAXUINT32),
    .home = guest->message.home,
    .node = { self->shared->node, strlen (self->shared->node) },
  };

  message->present &= ~HOST_KEYS;
  if (!iris_wire_encode (&self->encoder, message, &error))
    return FALSE;
  memcpy (end.item, guest->item->item, sizeof end.item);
  end.header = self->encoder.frames[3];
  end.body = self->encoder.frames[4];
  g_clear_pointer (&guest->result, g_bytes_unref);
  if (!irisd_bridge_fits (self->shared, irisd_work_message_get_size (&end)))
    {
      guest->result = g_bytes_new (end.body.data, end.body.size);
      end.body = (IrisWireFrame){ 0 };
    }
  g_free (guest->end);
  guest->end = irisd_work_message_encode (&end, self->shared->secret, &guest->end_size, &error);
  return guest->end != NULL;
}

/* The item takes no more room in the window that it came by. */
void
irisd_guest_leave_window (IrisdGuestRecord *guest)
{
  if (guest->lane != NULL && guest->lane->pull != NULL)
    irisd_pull_release (guest->lane->pull, 1);
  guest->lane = NULL;
}

/* It has ended here, and waits for the stream to have its end. */
static void
begin_end (IrisdGuest *self, IrisdGuestRecord *guest)
{
  self->counts.n_ending += !guest->ending;
  guest->ending = TRUE;
  if (self->counts.n_ending <= MOST_ENDING)
    irisd_guest_leave_window (guest);
  irisd_guest_table_end (self->table, guest->item, g_get_monotonic_time ());
}

void
irisd_guest_make_error (IrisdGuest *self,
                        IrisdGuestRecord *guest,
                        IrisWireError code,
                        const char *text)
{
  IrisWireMessage error;

  iris_wire_message_init (&error, IRIS_WIRE_ERROR_REPLY, guest->item->item);
  iris_wire_message_set_uint (&error, IRIS_WIRE_KEY_CODE, code);
  iris_wire_message_set_string (&error, IRIS_WIRE_KEY_ERROR_NAME, iris_wire_error_name (code), -1);
  iris_wire_message_set_string (&error, IRIS_WIRE_KEY_MESSAGE, text, -1);
  /* Its home's name was short enough once, and its text is short. */
  if (!encode_end (self, guest, &error))
    g_warning ("the end of an item cannot be encoded");
}

/* The run is over, and its home has what it has written. */
void
irisd_guest_go_on (IrisdGuest *self, IrisdGuestRecord *guest)
{
  IrisdGuestAfter after = guest->after;

  guest->after = IRISD_GUEST_AFTER_NOTHING;
  g_clear_pointer (&guest->output, irisd_guest_output_free);
  if (after == IRISD_GUEST_AFTER_END)
    begin_end (self, guest);
  else
    irisd_guest_table_retry (self->table, guest->item, guest->after_ms);
}

/* irisd has ended the run. What it has written comes first. */
void
irisd_guest_leave_irisd (IrisdGuest *self,
                         IrisdGuestRecord *guest,
                         IrisdGuestAfter after,
                         guint64 after_ms)
{
  guest->after = after;
  guest->after_ms = after_ms;
  if (guest->output == NULL || irisd_guest_output_finish (guest->output))
    irisd_guest_go_on (self, guest);
}

void
irisd_guest_end_with_error (IrisdGuest *self,
                            IrisdGuestRecord *guest,
                            IrisWireError code,
                            const char *text)
{
  irisd_guest_make_error (self, guest, code, text);
  begin_end (self, guest);
}

/* The mean of about the last eight. */
guint64
irisd_guest_mean (guint64 mean, guint64 value)
{
  return mean == 0 ? value : mean - mean / 8 + value / 8;
}

/* irisd has ended the item. */
void
irisd_guest_end (IrisdGuest *self, IrisdGuestRecord *guest, const IrisWireMessage *completion)
{
  IrisWireMessage message = *completion;

  if (completion->run_ns > 0)
    self->counts.mean_run_ns = irisd_guest_mean (self->counts.mean_run_ns, completion->run_ns);
  if (!encode_end (self, guest, &message))
    irisd_guest_make_error (self, guest, IRIS_WIRE_ERROR_TOO_LARGE,
                            "the result cannot be sent to another node: its header is too large");
  irisd_guest_leave_irisd (self, guest, IRISD_GUEST_AFTER_END, 0);
}

/* --- large bodies, and the stream of ends ------------------------------------------------------
 */

static void
on_published (IrisdEngine *engine, const IrisdPublishResult *result, gpointer user_data)
{
  IrisdGuestRecord *guest = user_data;
  IrisdGuest *self = guest->guest;
  IrisdGuestVerdict verdict = IRISD_GUEST_LATER;

  if (result->status == IRISD_PUBLISH_STORED || result->status == IRISD_PUBLISH_DUPLICATE)
    verdict = IRISD_GUEST_STORED;
  else if (result->status == IRISD_PUBLISH_WRONG_SEQUENCE)
    verdict = IRISD_GUEST_OTHER_END;
  else if (result->status == IRISD_PUBLISH_REFUSED)
    {
      irisd_log (IRISD_LOG_WARNING, "the cluster does not take the end of an item: %s",
                 result->text != NULL ? result->text : "no reason given");
      verdict = IRISD_GUEST_REFUSED;
    }
  if (verdict == IRISD_GUEST_LATER || verdict == IRISD_GUEST_REFUSED)
    self->counts.n_failed++;
  irisd_guest_table_published (self->table, guest->item, verdict, g_get_monotonic_time ());
  irisd_guest_hurry (self);
}

static void
publish_end (IrisdGuest *self, IrisdGuestRecord *guest)
{
  g_autofree char *subject = irisd_guest_get_end_subject (guest);
  const IrisdEnginePublication publication = {
    .subject = subject,
    .data = guest->end,
    .length = guest->end_size,
    .check_last = TRUE,
    .expected_last = 0,
  };

  self->counts.bytes_out += guest->end_size;
  irisd_engine_publish (self->shared->engine, &publication, on_published, guest);
}

/* The result is stored, and the end can refer to it. */
static void
refer_to_result (IrisdGuest *self, IrisdGuestRecord *guest, const IrisdObjectReference *reference)
{
  gsize size;
  guint8 *end = irisd_stored_body_refer (self->shared, guest->end, guest->end_size, reference,
                                         &size);

  g_clear_pointer (&guest->result, g_bytes_unref);
  guest->stored = TRUE;
  guest->reference = *reference;
  g_free (guest->end);
  guest->end = end;
  guest->end_size = size;
}

static void
on_stored (IrisdObjectStatus status,
           const char *why,
           const IrisdObjectReference *reference,
           gpointer user_data)
{
  IrisdGuestRecord *guest = user_data;
  IrisdGuest *self = guest->guest;

  guest->transfer = NULL;
  if (status == IRISD_OBJECT_FULL && !self->told_full)
    irisd_log (IRISD_LOG_WARNING, "%s: results of items of other nodes wait here", why);
  self->told_full = status == IRISD_OBJECT_FULL;
  if (status == IRISD_OBJECT_FULL || status == IRISD_OBJECT_LATER)
    {
      irisd_guest_table_published (self->table, guest->item, IRISD_GUEST_LATER,
                                   g_get_monotonic_time ());
      irisd_guest_hurry (self);
      return;
    }
  if (status == IRISD_OBJECT_DONE)
    refer_to_result (self, guest, reference);
  else
    {
      g_autofree char *text = g_strdup_printf ("the result cannot be stored in the cluster: %s",
                                               why);
      irisd_guest_make_error (self, guest, IRIS_WIRE_ERROR_TOO_LARGE, text);
    }
  publish_end (self, guest);
}

static char *
get_body_owner (const IrisdGuestRecord *guest)
{
  return irisd_stored_body_get_owner (&guest->message.home, guest->item->item);
}

/* The result first, and then the end that refers to it. */
void
irisd_guest_publish_end (IrisdGuestItem *item, gpointer user_data)
{
  IrisdGuest *self = user_data;
  IrisdGuestRecord *guest = item->data;

  if (guest->result == NULL)
    {
      publish_end (self, guest);
      return;
    }
  g_autofree char *owner = get_body_owner (guest);
  g_autofree char *name = irisd_stored_body_get_name (owner, TRUE);
  guest->transfer = irisd_object_store_put (self->shared->bodies, owner, name, IRISD_OBJECT_WHOLE,
                                            guest->result, on_stored, guest);
}

/* No end refers to the result that this node has stored. */
void
irisd_guest_remove_result (IrisdGuest *self, IrisdGuestRecord *guest)
{
  if (!guest->stored)
    return;
  g_autofree char *owner = get_body_owner (guest);
  irisd_stored_body_remove (self->shared, owner, guest->reference.nuid);
  guest->stored = FALSE;
}

static void
on_body (IrisdObjectStatus status, const char *why, GBytes *body, gpointer user_data)
{
  IrisdGuestRecord *guest = user_data;
  IrisdGuest *self = guest->guest;

  guest->transfer = NULL;
  if (status == IRISD_OBJECT_DONE)
    guest->body = g_bytes_ref (body);
  if (status == IRISD_OBJECT_DONE || status == IRISD_OBJECT_LATER)
    irisd_guest_table_fetched (self->table, guest->item, body != NULL, g_get_monotonic_time ());
  else
    {
      g_autofree char *text = g_strdup_printf ("the body of the item cannot be read: %s", why);
      irisd_log (IRISD_LOG_WARNING, "%s", text);
      irisd_guest_end_with_error (self, guest, IRIS_WIRE_ERROR_INTERNAL, text);
    }
  irisd_guest_hurry (self);
}

void
irisd_guest_fetch_body (IrisdGuestItem *item, gpointer user_data)
{
  IrisdGuest *self = user_data;
  IrisdGuestRecord *guest = item->data;

  if (guest->transfer != NULL)
    return;
  g_autofree char *owner = get_body_owner (guest);
  guest->transfer = irisd_object_store_get (self->shared->bodies, owner, &guest->message.reference,
                                            on_body, guest);
}
