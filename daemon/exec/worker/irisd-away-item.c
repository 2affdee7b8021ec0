/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What an item for another node has beside a leased one: the SUBMIT that the other node gets, and
 * what the bridge tells of its run.
 */
#include "daemon/exec/worker/irisd-away-item.h"

#include <string.h>

/* The keys of a SUBMIT that are about the connection that sent it. */
#define CONNECTION_KEYS \
  (IRIS_WIRE_BIT (IRIS_WIRE_KEY_QUIET) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_SESSION))

static GBytes *
encode (const IrisWireMessage *item, const IrisWireLimits *limits, GError **error)
{
  g_auto (IrisWireEncoder) encoder;
  IrisWireMessage header = *item;
  header.present &= ~CONNECTION_KEYS;
  header.body = (IrisWireFrame){ 0 };
  iris_wire_encoder_init (&encoder, limits);
  if (!iris_wire_encode (&encoder, &header, error))
    return NULL;
  return g_bytes_new (encoder.frames[3].data, encoder.frames[3].size);
}

/* As on the node that runs it, only of commands. */
static guint64
find_keeps (const IrisWireMessage *item)
{
  const char *command = "command"; /* that of irisd-command-runner.c */
  if (item->service.len != strlen (command)
      || memcmp (item->service.data, command, item->service.len) != 0)
    return 0;
  return iris_wire_message_has (item, IRIS_WIRE_KEY_KEEP_OUTPUT) ? item->keep_output : G_MAXUINT64;
}

/* @item has its `cluster-item`. Returns NULL if its header is too large with that. */
IrisdAwayItem *
irisd_away_item_new (const IrisWireMessage *item, const IrisWireLimits *limits, GError **error)
{
  GBytes *header = encode (item, limits, error);
  if (header == NULL)
    return NULL;
  IrisdAwayItem *self = g_new0 (IrisdAwayItem, 1);
  memcpy (self->cluster_item, item->cluster_item, IRIS_WIRE_ID_SIZE);
  self->header = header;
  self->sent_to = iris_wire_message_has (item, IRIS_WIRE_KEY_NODE)
                      ? iris_wire_string_dup (&item->node)
                      : NULL;
  self->streams = iris_wire_message_has (item, IRIS_WIRE_KEY_STREAM);
  self->keeps = find_keeps (item);
  self->keeps_tail = item->output_policy == IRIS_WIRE_OUTPUT_POLICY_TAIL;
  irisd_away_item_reset (self);
  return self;
}

/* @item is its SUBMIT from now on. */
gboolean
irisd_away_item_replace (IrisdAwayItem *self,
                         const IrisWireMessage *item,
                         const IrisWireLimits *limits,
                         GError **error)
{
  GBytes *header = encode (item, limits, error);
  if (header == NULL)
    return FALSE;
  g_bytes_unref (self->header);
  self->header = header;
  return TRUE;
}

static void
end_output (IrisdAwayItem *self)
{
  if (self->kept != NULL)
    irisd_kept_output_end (self->kept);
  self->kept = NULL;
  self->kept_run = 0;
  self->n_kept[0] = self->n_kept[1] = 0;
}

/* The output of a later run takes the place of that of an earlier one. */
static gboolean
begin_output (IrisdAwayItem *self, const IrisdJob *job, guint run)
{
  guint64 most = MIN (self->keeps, job->core->config->limits.keep_output);
  if (self->kept != NULL && self->kept_run == run)
    return TRUE;
  end_output (self);
  if (most == 0 || job->persistent == NULL || job->core->journal == NULL)
    return FALSE;
  self->kept = irisd_outputs_begin (irisd_journal_get_outputs (job->core->journal), job->id, most,
                                    self->keeps_tail ? IRISD_OUTPUT_TAIL
                                                     : IRISD_OUTPUT_HEAD_AND_TAIL);
  self->kept_run = run;
  return self->kept != NULL;
}

/* The bridge tells what a command writes while it runs. @bytes are in @channel. */
void
irisd_away_item_keep_output (IrisdAwayItem *self,
                             const IrisdJob *job,
                             guint run,
                             guint channel,
                             IrisWireFrame bytes)
{
  if (!begin_output (self, job, run))
    return;
  irisd_kept_output_write (self->kept, channel, bytes.data, bytes.size);
  self->n_kept[channel == IRIS_WIRE_CHANNEL_ERRORS] += bytes.size;
}

/* Its result has all that the command has written, also what has not come by itself. */
static void
complete_output (IrisdAwayItem *self, IrisdJob *job, const IrisWireMessage *done)
{
  const guint8 *body = zmq_msg_data (&job->result.body);
  const gsize size = zmq_msg_size (&job->result.body);
  const gsize n_out = job->result.stdout_length >= 0 ? MIN ((gsize) job->result.stdout_length, size)
                                                     : size;
  if (size == 0 || !begin_output (self, job, done->attempts))
    return;
  const gsize out = MIN (self->n_kept[0], n_out), err = MIN (self->n_kept[1], size - n_out);
  irisd_kept_output_write (self->kept, IRIS_WIRE_CHANNEL_OUTPUT, body + out, n_out - out);
  irisd_kept_output_write (self->kept, IRIS_WIRE_CHANNEL_ERRORS, body + n_out + err,
                           size - n_out - err);
}

void
irisd_away_item_free (IrisdAwayItem *self)
{
  if (self == NULL)
    return;
  end_output (self);
  g_bytes_unref (self->header);
  g_free (self->sent_to);
  g_free (self->node);
  g_free (self);
}

/* Forgets the run. */
void
irisd_away_item_reset (IrisdAwayItem *self)
{
  end_output (self);
  g_clear_pointer (&self->node, g_free);
  self->place = IRIS_PLACE_ANY;
  self->worker = -1;
  self->put_off_us = 0;
  self->run_ns = 0;
  self->attempts = 0;
}

/* @end is DONE or FAIL of the bridge; the calling thread has @job. */
void
irisd_away_item_take_end (IrisdAwayItem *self, IrisdJob *job, const IrisWireMessage *end)
{
  IrisdResult *result = &job->result;
  g_free (self->node);
  self->node = iris_wire_message_has (end, IRIS_WIRE_KEY_NODE) ? iris_wire_string_dup (&end->node)
                                                               : NULL;
  self->place = end->place;
  self->worker = end->worker;
  self->run_ns = end->run_ns;
  self->attempts = end->attempts;
  if (iris_wire_message_has (end, IRIS_WIRE_KEY_EXIT_STATUS))
    result->exit_status = end->exit_status;
  result->signal = end->signal;
  if (iris_wire_message_has (end, IRIS_WIRE_KEY_STDOUT_LENGTH))
    result->stdout_length = (gint64) MIN (end->stdout_length, zmq_msg_size (&result->body));
  result->truncated = end->truncated;
  if (iris_wire_message_has (end, IRIS_WIRE_KEY_BYTES))
    result->bytes = end->bytes;
  if (end->type == IRIS_WIRE_DONE)
    complete_output (self, job, end);
  end_output (self);
  /* The bridge has tried it as often as it may. */
  if (job->schedule != NULL)
    job->schedule->given_up = TRUE;
}

/* Sets the keys of @message, RESULT or ERROR, that tell of the run. They borrow from @self. */
void
irisd_away_item_describe_run (const IrisdAwayItem *self, IrisWireMessage *message)
{
  if (self->node != NULL)
    iris_wire_message_set_string (message, IRIS_WIRE_KEY_NODE, self->node, -1);
  if (self->place != IRIS_PLACE_ANY)
    iris_wire_message_set_int (message, IRIS_WIRE_KEY_PLACE, self->place);
  if (self->worker >= 0)
    iris_wire_message_set_int (message, IRIS_WIRE_KEY_WORKER, self->worker);
  if (self->run_ns > 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_RUN_NS, self->run_ns);
  if (self->attempts > 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_ATTEMPTS, self->attempts);
}
