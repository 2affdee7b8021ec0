/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's receive backlog: connections with more to read than is read at once.
 *
 * A batch is read some items at a time. Its connection is in the backlog meanwhile, and in each
 * turn the gateway goes on with the batch that has waited longest; between two parts of it the
 * gateway serves all others. Messages of the connection itself that come after its batch wait, so
 * that the order on each connection is unchanged.
 *
 * Waiting messages are bounded by what a client may have in flight. If a client sends more, and so
 * more than its credit, its oldest message is read at once, and refused. When a connection ends,
 * its waiting messages become strays, which are handled before any newer message.
 */
#include "daemon/gateway/irisd-gateway-private.h"

#include <string.h>

struct _IrisdBatch
{
  IrisdCaller caller; /* its address is in the frame */
  guint8 request_id[IRIS_WIRE_ID_SIZE];
  gboolean quiet;
  zmq_msg_t body;
  IrisWireBatchIter iter;
  guint accepted;
  guint64 first_id;
  IrisdPersistentBatch *persistent;
};

/* A waiting message. */
typedef struct
{
  GList link;
  zmq_msg_t route;
  zmq_msg_t frames[IRIS_WIRE_N_FRAMES + 1];
  guint n_frames;
} IrisdMail;

static gsize
mail_size (IrisdMail *self)
{
  gsize size = 0;
  for (guint i = 0; i < self->n_frames; i++)
    size += zmq_msg_size (&self->frames[i]);
  return size;
}

static IrisdMail *
mail_new (zmq_msg_t *route, zmq_msg_t *frames, guint n_frames)
{
  IrisdMail *self = g_new0 (IrisdMail, 1);
  self->link.data = self;
  self->n_frames = n_frames;
  zmq_msg_init (&self->route);
  zmq_msg_move (&self->route, route);
  for (guint i = 0; i < n_frames; i++)
    {
      zmq_msg_init (&self->frames[i]);
      zmq_msg_move (&self->frames[i], &frames[i]);
    }
  return self;
}

static void
mail_free (IrisdMail *self)
{
  zmq_msg_close (&self->route);
  for (guint i = 0; i < self->n_frames; i++)
    zmq_msg_close (&self->frames[i]);
  g_free (self);
}

static void
push_mail (IrisdMails *mails, IrisdMail *mail)
{
  mails->bytes += mail_size (mail);
  g_queue_push_tail_link (&mails->queue, &mail->link);
}

static IrisdMail *
pop_mail (IrisdMails *mails)
{
  GList *link = g_queue_pop_head_link (&mails->queue);
  if (link == NULL)
    return NULL;
  mails->bytes -= mail_size (link->data);
  return link->data;
}

static void
join (IrisdGateway *self, IrisdPeer *peer)
{
  if (peer->in_receive_backlog)
    return;
  peer->in_receive_backlog = TRUE;
  g_queue_push_tail_link (&self->receive_backlog, &peer->receive_link);
}

static void
leave (IrisdGateway *self, IrisdPeer *peer)
{
  if (peer->in_receive_backlog)
    g_queue_unlink (&self->receive_backlog, &peer->receive_link);
  peer->in_receive_backlog = FALSE;
}

/* --- batches ---------------------------------------------------------------------------------- */

/* Takes @body, the fifth frame of @batch. Lets the batch be read when it is its turn. Each item is
 * checked separately, and refused under its own id. */
void
irisd_receive_backlog_submit_batch (IrisdGateway *self,
                                    const IrisdCaller *caller,
                                    const IrisWireMessage *batch,
                                    zmq_msg_t *body)
{
  g_autoptr (GError) error = NULL;
  IrisWireBatchIter iter;
  if (!iris_wire_batch_iter_init (&iter, batch->body, &self->core->wire_limits, &error))
    {
      irisd_count (&self->counters.malformed, 1);
      irisd_send_refusal (self, caller, batch->request_id, error);
      return;
    }

  irisd_gateway_note_items (self, caller->peer, iter.n_items);
  IrisdBatch *reading = g_new0 (IrisdBatch, 1);
  reading->caller = *caller;
  memcpy (reading->request_id, batch->request_id, IRIS_WIRE_ID_SIZE);
  reading->quiet = batch->quiet;
  zmq_msg_init (&reading->body);
  zmq_msg_move (&reading->body, body);
  reading->iter = iter;
  reading->iter.body.data = zmq_msg_data (&reading->body);
  reading->first_id = batch->quiet ? 0 : irisd_core_new_item_ids (self->core, iter.n_items);
  caller->peer->batch = reading;
  join (self, caller->peer);
}

/* Reads until the turn is over. Returns whether that was all. */
static gboolean
read_items (IrisdGateway *self, IrisdBatch *batch)
{
  const IrisdCaller *caller = &batch->caller;
  g_autoptr (GError) error = NULL;
  IrisWireMessage item;
  while (!irisd_peer_is_gone (caller->peer) && !irisd_gateway_turn_is_over (self))
    {
      IrisWireBatchStep step = iris_wire_batch_iter_next (&batch->iter, &item, &error);
      if (step == IRIS_WIRE_BATCH_END)
        return TRUE;
      guint64 id = batch->first_id != 0 ? batch->first_id + batch->accepted : 0;
      self->turn_items++;
      if (step == IRIS_WIRE_BATCH_ITEM)
        batch->accepted += irisd_submit_try_item (self, caller, &item, NULL, id);
      else
        irisd_send_refusal (self, caller, item.request_id, error);
      g_clear_error (&error);
    }
  return irisd_peer_is_gone (caller->peer);
}

/* Answers a batch that was read, or whose peer has ended, and frees it. */
static void
close_batch (IrisdGateway *self, IrisdBatch *batch)
{
  if (batch->persistent != NULL)
    irisd_persistent_batch_close (self, batch->persistent, batch->caller.peer, batch->request_id,
                                  batch->quiet, batch->accepted);
  else if (!batch->quiet)
    irisd_submit_tell_accepted (self, batch->caller.peer, batch->request_id, batch->accepted,
                                batch->first_id);
  zmq_msg_close (&batch->body);
  g_free (batch);
}

/* The peer may end meanwhile, and takes only what it has. */
static void
go_on_with_batch (IrisdGateway *self, IrisdPeer *peer)
{
  IrisdBatch *batch = g_steal_pointer (&peer->batch);
  if (batch == NULL)
    return;
  self->batch = batch->persistent;
  self->batch_size = batch->iter.n_items;
  gboolean done = read_items (self, batch);
  irisd_persistent_done_flush (self);
  done |= irisd_peer_is_gone (peer);
  batch->persistent = g_steal_pointer (&self->batch);
  self->batch_size = 0;
  if (done)
    close_batch (self, batch);
  else
    peer->batch = batch;
}

/* --- mail ------------------------------------------------------------------------------------- */

/* Handles a connection's waiting messages, in order, until a batch is to be read or the turn is
 * over. A BYE and HELLO among them change the peer. */
static void
go_on_with_mail (IrisdGateway *self, const IrisdRoute *route, IrisdMails *mails)
{
  IrisdMail *mail;
  while ((mail = pop_mail (mails)) != NULL)
    {
      IrisdPeer *peer = irisd_peers_lookup (&self->peers, route);
      if (peer != NULL && (peer->batch != NULL || irisd_gateway_turn_is_over (self)))
        {
          g_queue_push_head_link (&mails->queue, &mail->link);
          mails->bytes += mail_size (mail);
          peer->mails = *mails;
          join (self, peer);
          return;
        }
      irisd_receive_handle_mail (self, &mail->route, mail->frames, mail->n_frames);
      mail_free (mail);
    }
}

static void
go_on_with (IrisdGateway *self, IrisdPeer *who)
{
  g_autoptr (IrisdPeer) peer = irisd_peer_ref (who);
  leave (self, peer);
  self->turn_items = 0;
  go_on_with_batch (self, peer);
  if (peer->batch != NULL)
    {
      join (self, peer);
      return;
    }
  IrisdMails mails = peer->mails;
  peer->mails = (IrisdMails){ 0 };
  go_on_with_mail (self, &peer->route, &mails);
}

/* A client within its credit never has: each item takes one, and its payload counts its bytes. */
static gboolean
has_too_much (IrisdGateway *self, IrisdPeer *peer)
{
  const IrisdLimits *limits = &self->core->config->limits;
  return peer->mails.queue.length > limits->in_flight_items
         || peer->mails.bytes > limits->in_flight_bytes;
}

/* Takes a message of @peer, which is in the backlog, with its routing id and frames. It waits until
 * all before it were read. */
void
irisd_receive_backlog_put (IrisdGateway *self,
                           IrisdPeer *peer,
                           zmq_msg_t *route,
                           zmq_msg_t *frames,
                           guint n_frames)
{
  push_mail (&peer->mails, mail_new (route, frames, n_frames));
  G_GNUC_UNUSED g_autoptr (IrisdPeer) keep = irisd_peer_ref (peer);
  while (peer->in_receive_backlog && has_too_much (self, peer))
    go_on_with (self, peer);
}

/* Reads some messages of the first in the backlog. Returns whether there was one. */
gboolean
irisd_receive_backlog_go_on (IrisdGateway *self)
{
  IrisdPeer *peer = g_queue_peek_head (&self->receive_backlog);
  if (peer != NULL)
    go_on_with (self, peer);
  return peer != NULL;
}

/* @peer ends, and is marked as gone. Its batch is not read further; its messages become strays. */
void
irisd_receive_backlog_leave (IrisdGateway *self, IrisdPeer *peer)
{
  leave (self, peer);
  if (peer->batch != NULL)
    close_batch (self, g_steal_pointer (&peer->batch));
  IrisdMail *mail;
  while ((mail = pop_mail (&peer->mails)) != NULL)
    push_mail (&self->strays, mail);
}

/* Handles messages that came before any that comes now. */
void
irisd_receive_backlog_handle_strays (IrisdGateway *self)
{
  IrisdMail *mail;
  while ((mail = pop_mail (&self->strays)) != NULL)
    {
      irisd_receive_handle (self, &mail->route, mail->frames, mail->n_frames);
      mail_free (mail);
    }
}

/* @self has no peers. */
void
irisd_receive_backlog_clear (IrisdGateway *self)
{
  IrisdMail *mail;
  while ((mail = pop_mail (&self->strays)) != NULL)
    mail_free (mail);
}
