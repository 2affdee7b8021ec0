/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What items of this node tell while they run at another one: it goes to irisd as REPORT.
 *
 * What a host tells is believed by its signature. Bytes are taken in their order and within the
 * credit of the item's client, so irisd never refuses a REPORT. Output that no client has asked
 * for is the copy of a persistent command's, for those who follow it; of it WINDOW bytes may be on
 * their way.
 *
 * A host is told how far its run has come in after a pause of WORD_US, so that many small pieces
 * cost one word; at once, when it has told much, asks, or has told what does not fit.
 */
#include "irisd-away-output.h"

#include "daemon/cluster/bridge/irisd-run-flow.h"

#include <string.h>

#define WORD_US (G_USEC_PER_SEC / 200)

/* Bytes that may come without a word. */
#define UNCONFIRMED (16 * 1024)

/* Of a copy, the same at both ends. */
#define WINDOW (256 * 1024)

struct _IrisdAwayOutputs
{
  const IrisdBridgeShared *shared;
  IrisdBridgeLink *link;
  IrisdAwayOutputFindFunc find;
  gpointer user_data;
  GQueue owed; /* of IrisdAwayOutput: their hosts are to be told how far they are */
  GSource *timer;
  IrisdEngineSubscription *told;
  IrisWireEncoder encoder;
};

struct _IrisdAwayOutput
{
  IrisdAwayOutputs *outputs;
  const IrisdAwayItem *item;
  IrisdFlowReceiver flow;
  gboolean copies;   /* there is no client's credit */
  char *node;        /* of the run; NULL: none is known */
  GByteArray *part;  /* the beginning of a part of a result, or NULL */
  guint64 confirmed; /* of @flow.received */
  guint64 gap_told;  /* where bytes are missing, of which the host knows; G_MAXUINT64: nowhere */
  gboolean owes;
  GList link;
};

/* --- to the host ------------------------------------------------------------------------------ */

static void
send_word (IrisdAwayOutputs *self, IrisdWorkMessage *word, const IrisWireString *node)
{
  const IrisdBridgeShared *shared = self->shared;
  g_autofree char *name = iris_wire_string_dup (node);
  g_autofree char *subject = irisd_subject_for_node (name, "word");
  IrisWireMessage pong;
  gsize size;

  iris_wire_message_init (&pong, IRIS_WIRE_PONG, NULL);
  if (!iris_wire_encode (&self->encoder, &pong, NULL))
    return;
  word->kind = IRISD_WORK_MESSAGE_WORD;
  word->type = IRIS_WIRE_PONG;
  word->made_ms = g_get_real_time () / 1000;
  word->home = (IrisWireString){ shared->node, strlen (shared->node) };
  word->node = *node;
  word->header = self->encoder.frames[3];
  g_autofree guint8 *data = irisd_work_message_encode (word, shared->secret, &size, NULL);
  if (data != NULL)
    irisd_engine_send (shared->engine, subject, NULL, NULL, 0, data, size);
}

static void
owe_nothing (IrisdAwayOutput *self)
{
  if (self->owes)
    g_queue_unlink (&self->outputs->owed, &self->link);
  self->owes = FALSE;
}

static void
confirm (IrisdAwayOutput *self, gboolean sure)
{
  owe_nothing (self);
  if (self->node == NULL)
    return;
  const IrisWireString node = { self->node, strlen (self->node) };
  IrisdWorkMessage word = {
    .sure = sure,
    .owner = self->flow.received,
    .begin_ms = (gint64) MIN (irisd_flow_receiver_get_limit (&self->flow), G_MAXINT64),
    .tries = (guint32) self->flow.run,
  };
  memcpy (word.item, self->item->item, sizeof word.item);
  self->confirmed = self->flow.received;
  send_word (self->outputs, &word, &node);
}

static void
confirm_soon (IrisdAwayOutput *self)
{
  IrisdAwayOutputs *outputs = self->outputs;

  if (self->flow.received - self->confirmed >= UNCONFIRMED)
    {
      confirm (self, FALSE);
      return;
    }
  if (self->owes)
    return;
  self->owes = TRUE;
  self->link.data = self;
  if (outputs->owed.head == NULL)
    g_source_set_ready_time (outputs->timer, g_get_monotonic_time () + WORD_US);
  g_queue_push_tail_link (&outputs->owed, &self->link);
}

/* The host of @told has a run that does not count: a later one has begun, or the same one
 * elsewhere.
 * @output: NULL if the item is not known at all. */
static void
refuse_run (IrisdAwayOutputs *self, const IrisdWorkMessage *told, const IrisdAwayOutput *output)
{
  IrisdWorkMessage word = {
    .cancelled = output == NULL,
    .tries = output != NULL ? (guint32) MAX (output->flow.run, told->tries + 1) : 0,
  };

  memcpy (word.item, told->item, sizeof word.item);
  send_word (self, &word, &told->node);
}

static gboolean
on_timer (gpointer data)
{
  IrisdAwayOutputs *self = data;
  IrisdAwayOutput *output;

  g_source_set_ready_time (self->timer, -1);
  while ((output = g_queue_peek_head (&self->owed)) != NULL)
    confirm (output, FALSE);
  return G_SOURCE_CONTINUE;
}

static gboolean
timer_dispatch (GSource *source, GSourceFunc callback, gpointer user_data)
{
  return callback (user_data);
}

/* --- to irisd --------------------------------------------------------------------------------- */

static void
begin_report (const IrisdAwayOutput *self, IrisWireMessage *report)
{
  iris_wire_message_init (report, IRIS_WIRE_REPORT, self->item->lease);
  iris_wire_message_set_uint (report, IRIS_WIRE_KEY_ATTEMPT, MIN (self->flow.run, G_MAXUINT32));
}

static void
report_node (IrisdAwayOutput *self)
{
  IrisWireMessage report;

  begin_report (self, &report);
  iris_wire_message_set_string (&report, IRIS_WIRE_KEY_NODE, self->node, -1);
  irisd_bridge_link_send (self->outputs->link, &report);
}

static void
report_progress (IrisdAwayOutput *self, const IrisWireMessage *progress)
{
  IrisWireMessage report;

  begin_report (self, &report);
  if (iris_wire_message_has (progress, IRIS_WIRE_KEY_FRACTION))
    iris_wire_message_set_uint (&report, IRIS_WIRE_KEY_FRACTION, progress->fraction);
  if (iris_wire_message_has (progress, IRIS_WIRE_KEY_NOTE))
    iris_wire_message_set_string (&report, IRIS_WIRE_KEY_NOTE, progress->note.data,
                                  (gssize) progress->note.len);
  irisd_bridge_link_send (self->outputs->link, &report);
}

static void
report_bytes (IrisdAwayOutput *self, guint channel, const guint8 *data, gsize size)
{
  IrisWireMessage report;

  begin_report (self, &report);
  if (channel != 0)
    iris_wire_message_set_uint (&report, IRIS_WIRE_KEY_CHANNEL, channel);
  iris_wire_message_set_body (&report, data, size);
  irisd_bridge_link_send (self->outputs->link, &report);
}

/* A part may have come in several pieces. */
static void
take_part (IrisdAwayOutput *self, const IrisWireFrame *body, gboolean continues)
{
  if (self->part == NULL && !continues)
    {
      report_bytes (self, 0, body->data, body->size);
      return;
    }
  if (self->part == NULL)
    self->part = g_byte_array_new ();
  g_byte_array_append (self->part, body->data, (guint) body->size);
  if (continues)
    return;
  report_bytes (self, 0, self->part->data, self->part->len);
  g_clear_pointer (&self->part, g_byte_array_unref);
}

static void
take_bytes (IrisdAwayOutput *self, const IrisdWorkMessage *told, const IrisWireMessage *message)
{
  switch (irisd_flow_receiver_take (&self->flow, told->owner, told->body.size))
    {
    case IRISD_FLOW_TAKEN:
      self->gap_told = G_MAXUINT64;
      if (message->type == IRIS_WIRE_OUTPUT)
        report_bytes (self, message->channel, told->body.data, told->body.size);
      else
        take_part (self, &told->body, told->continues);
      if (self->copies)
        self->flow.credit = WINDOW;
      confirm_soon (self);
      break;
    case IRISD_FLOW_GAP:
      /* Once: what is on its way behind the gap will not fit either. */
      if (self->gap_told != self->flow.received)
        confirm (self, TRUE);
      self->gap_told = self->flow.received;
      break;
    case IRISD_FLOW_KNOWN:
    case IRISD_FLOW_FULL:
    default:
      confirm_soon (self);
      break;
    }
}

static void
begin_run (IrisdAwayOutput *self, const IrisdWorkMessage *told)
{
  g_free (self->node);
  self->node = iris_wire_string_dup (&told->node);
  self->confirmed = 0;
  self->gap_told = G_MAXUINT64;
  g_clear_pointer (&self->part, g_byte_array_unref);
}

static gboolean
is_same_node (const IrisdAwayOutput *self, const IrisWireString *node)
{
  return self->node != NULL && strlen (self->node) == node->len
         && memcmp (self->node, node->data, node->len) == 0;
}

static void
take (IrisdAwayOutputs *outputs, const IrisdWorkMessage *told, const IrisWireMessage *message)
{
  IrisdAwayOutput *self = outputs->find (told->item, outputs->user_data);
  gboolean anew = FALSE;

  /* irisd leases it again soon; until then there is no one to tell. */
  if (self != NULL && !self->item->leased)
    return;
  if (self == NULL || (told->tries == self->flow.run && !is_same_node (self, &told->node))
      || !irisd_flow_receiver_see_run (&self->flow, told->tries, &anew))
    {
      refuse_run (outputs, told, self);
      return;
    }
  if (anew)
    begin_run (self, told);
  if (anew)
    report_node (self);
  if (message->type == IRIS_WIRE_PING)
    confirm (self, TRUE);
  else if (message->type == IRIS_WIRE_PROGRESS)
    report_progress (self, message);
  else
    take_bytes (self, told, message);
}

static void
on_told (IrisdEngine *engine, const IrisdEngineMessage *message, gpointer user_data)
{
  IrisdAwayOutputs *self = user_data;
  IrisdWorkMessage told;
  IrisWireMessage opened;

  if (irisd_work_message_decode (&told, message->data, message->length, self->shared->secret, NULL)
      && irisd_work_message_open (&told, &opened, NULL) && told.kind == IRISD_WORK_MESSAGE_TOLD
      && told.home.len == strlen (self->shared->node)
      && memcmp (told.home.data, self->shared->node, told.home.len) == 0 && told.node.len > 0
      && told.tries > 0)
    take (self, &told, &opened);
}

/* --- items ------------------------------------------------------------------------------------ */

/* irisd_away_output_lease() follows. @item outlives it. */
IrisdAwayOutput *
irisd_away_output_new (IrisdAwayOutputs *outputs, const IrisdAwayItem *item)
{
  IrisdAwayOutput *self = g_new0 (IrisdAwayOutput, 1);

  self->outputs = outputs;
  self->item = item;
  self->gap_told = G_MAXUINT64;
  return self;
}

void
irisd_away_output_free (IrisdAwayOutput *self)
{
  if (self == NULL)
    return;
  owe_nothing (self);
  g_clear_pointer (&self->part, g_byte_array_unref);
  g_free (self->node);
  g_free (self);
}

/* irisd has leased it, for the first time or anew. */
void
irisd_away_output_lease (IrisdAwayOutput *self, const IrisWireMessage *lease)
{
  self->copies = !iris_wire_message_has (lease, IRIS_WIRE_KEY_STREAM)
                 && !iris_wire_message_has (lease, IRIS_WIRE_KEY_PARTS);
  self->flow.credit = self->copies ? WINDOW : MAX (lease->stream, lease->parts);
  if (self->node != NULL)
    report_node (self);
  confirm (self, TRUE);
}

/* Its client has granted more. */
void
irisd_away_output_grant (IrisdAwayOutput *self, guint64 bytes)
{
  if (self->copies)
    return;
  self->flow.credit += bytes;
  confirm_soon (self);
}

IrisdAwayOutputs *
irisd_away_outputs_new (const IrisdBridgeShared *shared,
                        IrisdBridgeLink *link,
                        IrisdAwayOutputFindFunc find,
                        gpointer user_data)
{
  static GSourceFuncs timer_funcs = { .dispatch = timer_dispatch };
  IrisdAwayOutputs *self = g_new0 (IrisdAwayOutputs, 1);
  g_autofree char *subject = irisd_subject_for_node (shared->node, "told");

  self->shared = shared;
  self->link = link;
  self->find = find;
  self->user_data = user_data;
  iris_wire_encoder_init (&self->encoder, NULL);
  self->timer = g_source_new (&timer_funcs, sizeof (GSource));
  g_source_set_callback (self->timer, on_timer, self, NULL);
  g_source_set_static_name (self->timer, "irisd-away-output");
  g_source_attach (self->timer, shared->context);
  self->told = irisd_engine_subscribe (shared->engine, subject, on_told, self);
  return self;
}

/* The engine is still there. */
void
irisd_away_outputs_stop (IrisdAwayOutputs *self)
{
  irisd_engine_unsubscribe (self->told);
  g_source_destroy (self->timer);
}

/* It was stopped, and has no items. */
void
irisd_away_outputs_free (IrisdAwayOutputs *self)
{
  g_source_unref (self->timer);
  iris_wire_encoder_clear (&self->encoder);
  g_free (self);
}
