/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What guests tell their homes while they run: where they are, how far, and what they write.
 *
 * An item that is over within YOUNG_US tells nothing of itself but its end, so a short one costs no
 * message more; output that its client waits for goes at once.
 *
 * The output of a persistent command is in its result, and a copy of it goes to the home as it
 * comes, for those who follow it there. The copy holds nothing up: irisd copies as far as it was
 * granted, and the home completes it by the result. Streamed output and parts of a result are
 * nowhere else: what the home has not confirmed is kept here, which is no more than the client has
 * granted, and the end of the run waits for it.
 *
 * A run whose home is asked each second and never answers is given up after SILENT answers that did
 * not come: its client's connection is as good as lost.
 */
#include "irisd-guest-output.h"

#include "daemon/cluster/bridge/irisd-run-flow.h"

#include <string.h>

#define YOUNG_US    (G_USEC_PER_SEC / 5)
#define POLL_US     G_USEC_PER_SEC
#define PROGRESS_US (G_USEC_PER_SEC / 10)

/* Questions without an answer, one a second. */
#define SILENT 30

/* Bytes of one message, and of a copy that is on its way. */
#define MOST_PIECE  (64 * 1024)
#define COPY_WINDOW (256 * 1024)

/* What a message has beside a piece: names, header, and headers of NATS. */
#define PIECE_ROOM 2048

#define K(key) IRIS_WIRE_BIT (IRIS_WIRE_KEY_##key)

struct _IrisdGuestOutputs
{
  const IrisdBridgeShared *shared;
  IrisdBridgeLink *link;
  const IrisdGuestOutputFuncs *funcs;
  gpointer user_data;
  GHashTable *runs; /* by item */
  GQueue young;     /* of IrisdGuestOutput; each of them is in one of these two */
  GQueue old;
  GQueue reporting; /* those whose progress is to be told */
  gint64 poll_due;
  GSource *timer;
  IrisdEngineSubscription *words;
  IrisWireEncoder encoder;
};

struct _IrisdGuestOutput
{
  IrisdGuestOutputs *outputs;
  gpointer guest;
  guint8 item[IRIS_WIRE_ID_SIZE];
  guint8 request[IRIS_WIRE_ID_SIZE]; /* of its SUBMIT */
  char *home;
  char *subject;
  guint64 run;
  IrisdGuestOutputKind kind;
  IrisdFlowSender *flow; /* NULL: there is no output to be told */
  guint64 granted;       /* to irisd */
  gint64 old_at;
  gboolean is_old;
  gboolean heard; /* the home knows of the run */
  guint n_silent; /* questions without an answer */
  gboolean finishing;
  gboolean reporting;
  gint64 reported_at;
  gboolean has_fraction;
  guint32 fraction;
  char *note;
  GList link;
  GList report_link;
};

/* Changes @submit, as it goes to irisd, so that the output comes as it is wanted. */
IrisdGuestOutputKind
irisd_guest_output_choose (IrisWireMessage *submit, guint64 *credit)
{
  const gboolean persistent = submit->klass != IRIS_WIRE_CLASS_VOLATILE;
  const gboolean command = submit->service.len == strlen ("command")
                           && memcmp (submit->service.data, "command", submit->service.len) == 0;
  const gboolean keeps = !iris_wire_message_has (submit, IRIS_WIRE_KEY_KEEP_OUTPUT)
                         || submit->keep_output > 0;

  *credit = MAX (submit->stream, submit->parts);
  submit->present &= ~(K (KEEP_OUTPUT) | K (OUTPUT_POLICY));
  if (iris_wire_message_has (submit, IRIS_WIRE_KEY_STREAM)
      || iris_wire_message_has (submit, IRIS_WIRE_KEY_PARTS))
    return IRISD_GUEST_OUTPUT_STREAM;
  if (!persistent || !command || !keeps)
    return IRISD_GUEST_OUTPUT_NONE;
  /* Nothing at first: most commands are over before there is someone to read. */
  iris_wire_message_set_uint (submit, IRIS_WIRE_KEY_STREAM, 0);
  iris_wire_message_set_uint (submit, IRIS_WIRE_KEY_KEEP_OUTPUT, G_MAXUINT32);
  return IRISD_GUEST_OUTPUT_COPY;
}

/* --- messages to the home --------------------------------------------------------------------- */

/* @message is OUTPUT, PART, PROGRESS or PING, without its body. FALSE if it cannot be sent now. */
static gboolean
tell (IrisdGuestOutput *self, const IrisWireMessage *message, const IrisdFlowPiece *piece)
{
  IrisdGuestOutputs *outputs = self->outputs;
  const IrisdBridgeShared *shared = outputs->shared;
  gsize size;
  IrisdWorkMessage told = {
    .kind = IRISD_WORK_MESSAGE_TOLD,
    .type = message->type,
    .made_ms = g_get_real_time () / 1000,
    .tries = (guint32) MIN (self->run, G_MAXUINT32),
    .home = { self->home, strlen (self->home) },
    .node = { shared->node, strlen (shared->node) },
  };

  memcpy (told.item, self->item, sizeof told.item);
  if (!iris_wire_encode (&outputs->encoder, message, NULL))
    return FALSE;
  told.header = outputs->encoder.frames[3];
  if (piece != NULL)
    {
      told.owner = piece->offset;
      told.continues = piece->continues;
      told.body = (IrisWireFrame){ piece->data, piece->size };
    }
  g_autofree guint8 *data = irisd_work_message_encode (&told, shared->secret, &size, NULL);
  return data != NULL
         && irisd_engine_send (shared->engine, self->subject, NULL, NULL, 0, data, size);
}

static void
pump (IrisdGuestOutput *self)
{
  const IrisdFlowPiece *piece;

  while ((piece = irisd_flow_sender_next (self->flow)) != NULL)
    {
      IrisWireMessage message;

      iris_wire_message_init (&message, piece->channel != 0 ? IRIS_WIRE_OUTPUT : IRIS_WIRE_PART,
                              self->item);
      if (piece->channel != 0)
        iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_CHANNEL, piece->channel);
      /* What is lost shows by the next answer to a PING. */
      tell (self, &message, piece);
    }
}

static void
ask (IrisdGuestOutput *self)
{
  IrisWireMessage ping;

  iris_wire_message_init (&ping, IRIS_WIRE_PING, self->item);
  if (tell (self, &ping, NULL))
    self->n_silent++;
}

static void
stop_reporting (IrisdGuestOutput *self)
{
  if (self->reporting)
    g_queue_unlink (&self->outputs->reporting, &self->report_link);
  self->reporting = FALSE;
}

static void
report (IrisdGuestOutput *self, gint64 now)
{
  IrisWireMessage progress;

  iris_wire_message_init (&progress, IRIS_WIRE_PROGRESS, self->item);
  if (self->has_fraction)
    iris_wire_message_set_uint (&progress, IRIS_WIRE_KEY_FRACTION, self->fraction);
  if (self->note != NULL)
    iris_wire_message_set_string (&progress, IRIS_WIRE_KEY_NOTE, self->note, -1);
  tell (self, &progress, NULL);
  self->reported_at = now;
  stop_reporting (self);
}

/* --- the home's words ------------------------------------------------------------------------- */

/* irisd may send so many bytes of the run, from its beginning. */
static void
grant (IrisdGuestOutput *self, guint64 up_to)
{
  IrisWireMessage more;

  if (up_to <= self->granted || self->finishing)
    return;
  iris_wire_message_init (&more, IRIS_WIRE_MORE, NULL);
  irisd_bridge_link_new_id (self->outputs->link, more.request_id);
  iris_wire_message_set_target (&more, self->request);
  iris_wire_message_set_uint (&more, IRIS_WIRE_KEY_GRANT, up_to - self->granted);
  if (irisd_bridge_link_send (self->outputs->link, &more))
    self->granted = up_to;
}

static void
be_unwanted (IrisdGuestOutput *self, IrisdGuestUnwanted why)
{
  IrisdGuestOutputs *outputs = self->outputs;

  if (self->kind == IRISD_GUEST_OUTPUT_STREAM)
    outputs->funcs->unwanted (self->guest, why, outputs->user_data);
}

/* May free @self. */
static void
take_word (IrisdGuestOutput *self, const IrisdWorkMessage *word)
{
  IrisdGuestOutputs *outputs = self->outputs;

  self->n_silent = 0;
  if (word->cancelled)
    be_unwanted (self, IRISD_GUEST_UNWANTED_UNKNOWN);
  else if (word->tries > self->run)
    be_unwanted (self, IRISD_GUEST_UNWANTED_LATER);
  else if (word->tries == self->run)
    {
      self->heard = TRUE;
      if (self->flow == NULL)
        return;
      irisd_flow_sender_take_word (self->flow, word->owner, (guint64) word->begin_ms, word->sure);
      pump (self);
      grant (self, irisd_flow_sender_get_limit (self->flow));
      if (self->finishing && irisd_flow_sender_is_empty (self->flow))
        outputs->funcs->finished (self->guest, outputs->user_data);
    }
}

static void
on_word (IrisdEngine *engine, const IrisdEngineMessage *message, gpointer user_data)
{
  IrisdGuestOutputs *self = user_data;
  IrisdWorkMessage word;

  if (!irisd_work_message_decode (&word, message->data, message->length, self->shared->secret, NULL)
      || word.kind != IRISD_WORK_MESSAGE_WORD || word.node.len != strlen (self->shared->node)
      || memcmp (word.node.data, self->shared->node, word.node.len) != 0)
    return;
  IrisdGuestOutput *run = g_hash_table_lookup (self->runs, word.item);
  if (run != NULL)
    take_word (run, &word);
}

/* --- time ------------------------------------------------------------------------------------- */

static void
hurry (IrisdGuestOutputs *self, gint64 when)
{
  gint64 ready = g_source_get_ready_time (self->timer);

  if (ready < 0 || ready > when)
    g_source_set_ready_time (self->timer, when);
}

static void
grow_old (IrisdGuestOutput *self)
{
  IrisdGuestOutputs *outputs = self->outputs;

  g_queue_unlink (&outputs->young, &self->link);
  g_queue_push_tail_link (&outputs->old, &self->link);
  self->is_old = TRUE;
  ask (self);
  if (self->kind == IRISD_GUEST_OUTPUT_COPY)
    grant (self, COPY_WINDOW);
}

/* May free @self. */
static void
poll_one (IrisdGuestOutput *self)
{
  const gboolean waits = self->flow != NULL
                         && (!irisd_flow_sender_is_empty (self->flow)
                             || irisd_flow_sender_get_sent (self->flow) >= self->granted);

  if (self->kind == IRISD_GUEST_OUTPUT_STREAM && self->n_silent >= SILENT)
    be_unwanted (self, IRISD_GUEST_UNWANTED_SILENT);
  else if (self->kind == IRISD_GUEST_OUTPUT_STREAM || waits || !self->heard)
    ask (self);
}

static gboolean
on_timer (gpointer data)
{
  IrisdGuestOutputs *self = data;
  gint64 now = g_get_monotonic_time ();
  gint64 next = G_MAXINT64;
  IrisdGuestOutput *run;

  while ((run = g_queue_peek_head (&self->young)) != NULL && now >= run->old_at)
    grow_old (run);
  while ((run = g_queue_peek_head (&self->reporting)) != NULL
         && now >= run->reported_at + PROGRESS_US)
    report (run, now);
  if (now >= self->poll_due)
    {
      self->poll_due = now + POLL_US;
      for (GList *link = self->old.head; link != NULL;)
        {
          run = link->data;
          link = link->next;
          poll_one (run);
        }
    }
  if ((run = g_queue_peek_head (&self->young)) != NULL)
    next = MIN (next, run->old_at);
  if ((run = g_queue_peek_head (&self->reporting)) != NULL)
    next = MIN (next, run->reported_at + PROGRESS_US);
  if (self->old.head != NULL)
    next = MIN (next, self->poll_due);
  g_source_set_ready_time (self->timer, next == G_MAXINT64 ? -1 : next);
  return G_SOURCE_CONTINUE;
}

static gboolean
timer_dispatch (GSource *source, GSourceFunc callback, gpointer user_data)
{
  return callback (user_data);
}

/* --- runs ------------------------------------------------------------------------------------- */

static guint
id_hash (gconstpointer id)
{
  guint32 word;

  memcpy (&word, id, sizeof word);
  return word;
}

static gboolean
id_equal (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, IRIS_WIRE_ID_SIZE) == 0;
}

static gsize
get_most (const IrisdBridgeShared *shared)
{
  gsize most = irisd_engine_get_max_payload (shared->engine);

  return most > PIECE_ROOM ? MIN (most - PIECE_ROOM, MOST_PIECE) : MOST_PIECE;
}

/* irisd has the item of @from now, by the SUBMIT @request, for the time @run, and may send @credit
 * bytes of its output. No item has two. */
IrisdGuestOutput *
irisd_guest_output_new (IrisdGuestOutputs *outputs,
                        const IrisdWorkMessage *from,
                        guint64 run,
                        IrisdGuestOutputKind kind,
                        guint64 credit,
                        const guint8 *request,
                        gpointer guest)
{
  IrisdGuestOutput *self = g_new0 (IrisdGuestOutput, 1);

  self->outputs = outputs;
  self->guest = guest;
  memcpy (self->item, from->item, sizeof self->item);
  memcpy (self->request, request, sizeof self->request);
  self->home = iris_wire_string_dup (&from->home);
  self->subject = irisd_subject_for_node (self->home, "told");
  self->run = run;
  self->kind = kind;
  self->granted = credit;
  if (kind != IRISD_GUEST_OUTPUT_NONE)
    self->flow = irisd_flow_sender_new (kind == IRISD_GUEST_OUTPUT_COPY ? COPY_WINDOW : credit,
                                        get_most (outputs->shared));
  self->old_at = g_get_monotonic_time () + YOUNG_US;
  self->link.data = self->report_link.data = self;
  g_queue_push_tail_link (&outputs->young, &self->link);
  g_hash_table_insert (outputs->runs, self->item, self);
  hurry (outputs, self->old_at);
  return self;
}

void
irisd_guest_output_free (IrisdGuestOutput *self)
{
  if (self == NULL)
    return;
  stop_reporting (self);
  g_queue_unlink (self->is_old ? &self->outputs->old : &self->outputs->young, &self->link);
  g_hash_table_remove (self->outputs->runs, self->item);
  g_clear_pointer (&self->flow, irisd_flow_sender_free);
  g_free (self->home);
  g_free (self->subject);
  g_free (self->note);
  g_free (self);
}

/* @message is OUTPUT, PART or PROGRESS of irisd. */
void
irisd_guest_output_take (IrisdGuestOutput *self, const IrisWireMessage *message)
{
  if (message->type != IRIS_WIRE_PROGRESS)
    {
      if (self->flow == NULL)
        return;
      irisd_flow_sender_push (self->flow, message->type == IRIS_WIRE_OUTPUT ? message->channel : 0,
                              message->body.data, message->body.size);
      pump (self);
      return;
    }
  self->has_fraction = iris_wire_message_has (message, IRIS_WIRE_KEY_FRACTION);
  self->fraction = message->fraction;
  g_free (self->note);
  self->note = iris_wire_message_has (message, IRIS_WIRE_KEY_NOTE)
                   ? iris_wire_string_dup (&message->note)
                   : NULL;
  if (!self->reporting)
    g_queue_push_tail_link (&self->outputs->reporting, &self->report_link);
  self->reporting = TRUE;
  hurry (self->outputs, self->reported_at + PROGRESS_US);
}

/* The run writes no more. Returns whether the end may be told now; else `finished` says when. */
gboolean
irisd_guest_output_finish (IrisdGuestOutput *self)
{
  if (self->reporting)
    report (self, g_get_monotonic_time ());
  self->finishing = TRUE;
  return self->kind != IRISD_GUEST_OUTPUT_STREAM || irisd_flow_sender_is_empty (self->flow);
}

IrisdGuestOutputs *
irisd_guest_outputs_new (const IrisdBridgeShared *shared,
                         IrisdBridgeLink *link,
                         const IrisdGuestOutputFuncs *funcs,
                         gpointer user_data)
{
  static GSourceFuncs timer_funcs = { .dispatch = timer_dispatch };
  IrisdGuestOutputs *self = g_new0 (IrisdGuestOutputs, 1);
  g_autofree char *subject = irisd_subject_for_node (shared->node, "word");

  self->shared = shared;
  self->link = link;
  self->funcs = funcs;
  self->user_data = user_data;
  self->runs = g_hash_table_new (id_hash, id_equal);
  iris_wire_encoder_init (&self->encoder, NULL);
  self->timer = g_source_new (&timer_funcs, sizeof (GSource));
  g_source_set_callback (self->timer, on_timer, self, NULL);
  g_source_set_static_name (self->timer, "irisd-guest-output");
  g_source_attach (self->timer, shared->context);
  self->words = irisd_engine_subscribe (shared->engine, subject, on_word, self);
  return self;
}

/* The engine is still there. */
void
irisd_guest_outputs_stop (IrisdGuestOutputs *self)
{
  irisd_engine_unsubscribe (self->words);
  g_source_destroy (self->timer);
}

/* It was stopped, and has no runs. */
void
irisd_guest_outputs_free (IrisdGuestOutputs *self)
{
  g_source_unref (self->timer);
  g_hash_table_unref (self->runs);
  iris_wire_encoder_clear (&self->encoder);
  g_free (self);
}
