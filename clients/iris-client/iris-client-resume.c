/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A client whose irisd was lost, or ends, and may be started anew: what waits, for how long, and
 * when the client connects again.
 *
 * irisd is away from the message that it ends, or from the loss of the front door's connection,
 * until the next irisd has told its places. Meanwhile calls wait among those that have no channel:
 * new ones, those that irisd did not have, and those that the next irisd can be asked for again.
 * Persistent items go again with their session, by which irisd finds those that it has. The others
 * have ended with an error by then.
 *
 * After `resume-timeout` the calls that wait end with an error. A connection that is lost soon
 * after it stood does not count as one: the time goes on, and the pauses grow.
 */
#include "iris-client-private.h"
#include <iris-client/base/iris-client-error-private.h>

#define FIRST_PAUSE_MS 20
#define LAST_PAUSE_MS  1000

/* A connection that lasted as long was one. */
#define LASTING_US G_USEC_PER_SEC

static void
clear_source (GSource **source)
{
  if (*source == NULL)
    return;
  g_source_destroy (*source);
  g_clear_pointer (source, g_source_unref);
}

static void
set_timer (IrisClient *self, GSource **source, guint ms, GSourceFunc function)
{
  clear_source (source);
  *source = g_timeout_source_new (ms);
  g_source_set_callback (*source, function, self, NULL);
  g_source_attach (*source, self->settings.context);
}

void
iris_client_stop_resuming (IrisClient *self)
{
  self->settings.resuming = FALSE;
  clear_source (&self->away_timer);
  clear_source (&self->retry_timer);
  if (self->holds_zmq)
    iris_client_zmq_unref ();
  self->holds_zmq = FALSE;
}

/* Whether the client goes on after @channel was lost. */
gboolean
iris_client_can_resume (IrisClient *self, const IrisClientChannel *channel)
{
  return channel->lost && (channel->resumes || self->settings.resuming);
}

/* Those that were sent may have run. */
void
iris_client_fail_unrouted (IrisClient *self, const GError *error)
{
  GQueue calls = self->unrouted;
  g_autoptr (GError) sent = g_error_new (
      IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_DISCONNECTED,
      "%s; the item may or may not have run: submit it again if a second run does no harm",
      error->message);
  GList *link;

  g_queue_init (&self->unrouted);
  while ((link = g_queue_pop_head_link (&calls)) != NULL)
    {
      IrisClientCall *call = link->data;

      iris_client_call_finish (call, NULL, call->session != NULL ? sent : error);
    }
}

static gboolean
on_away_for_long (gpointer user_data)
{
  g_autoptr (IrisClient) self = g_object_ref (user_data);
  g_autoptr (GError) error = g_error_new (
      IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_NOT_CONNECTED,
      "irisd at %s has ended, and none has come in its place within %u ms (resume-timeout); start "
      "it again",
      self->endpoint, self->settings.resume_timeout_ms);

  iris_client_stop_resuming (self);
  self->away_by = 0;
  if (self->places == NULL && self->front != NULL)
    iris_client_channel_free (g_steal_pointer (&self->front));
  else if (self->front != NULL)
    iris_client_channel_end_waiting (self->front, error);
  iris_client_fail_unrouted (self, error);
  return G_SOURCE_REMOVE;
}

/* irisd is away from now on, if it was not. */
void
iris_client_note_away (IrisClient *self)
{
  gint64 now = g_get_monotonic_time ();

  if (self->away_timer != NULL)
    return;
  if (self->away_by == 0 || now - self->mapped_us >= LASTING_US)
    {
      self->away_by = now + self->settings.resume_timeout_ms * G_TIME_SPAN_MILLISECOND;
      self->pause_ms = 0;
    }
  set_timer (self, &self->away_timer, (guint) (MAX (self->away_by - now, 0) / 1000),
             on_away_for_long);
}

static gboolean
on_retry (gpointer user_data)
{
  IrisClient *self = user_data;

  clear_source (&self->retry_timer);
  self->connect (self);
  return G_SOURCE_REMOVE;
}

/* The front door's connection was lost: after a pause the client has no retry timer any more, and
 * @connect connects it again. */
void
iris_client_resume (IrisClient *self, IrisClientConnectFunc connect)
{
  iris_client_note_away (self);
  self->settings.resuming = TRUE;
  /* Between two links there may be no other. */
  if (!self->holds_zmq)
    iris_client_zmq_ref ();
  self->holds_zmq = TRUE;
  self->pause_ms = CLAMP (2 * self->pause_ms, FIRST_PAUSE_MS, LAST_PAUSE_MS);
  self->connect = connect;
  set_timer (self, &self->retry_timer, self->pause_ms, on_retry);
}

/* irisd has told its places. */
void
iris_client_note_back (IrisClient *self)
{
  self->mapped_us = g_get_monotonic_time ();
  if (!self->front->going)
    iris_client_stop_resuming (self);
  self->settings.resuming = FALSE;
}

/* Takes @call, of a channel that was lost, to where it waits for the next one, in the order that
 * the calls were asked for. */
void
iris_client_carry (IrisClient *self, IrisClientCall *call)
{
  GList *before = self->unrouted.tail;

  while (before != NULL && ((IrisClientCall *) before->data)->serial > call->serial)
    before = before->prev;
  if (before != NULL)
    g_queue_insert_after_link (&self->unrouted, before, &call->link);
  else
    g_queue_push_head_link (&self->unrouted, &call->link);
}

/* Takes the calls of a channel that never stood. */
void
iris_client_carry_all (IrisClient *self, IrisClientChannel *channel)
{
  g_autoptr (GPtrArray) calls = iris_client_channel_take_calls (channel);

  for (guint i = 0; i < calls->len; i++)
    {
      IrisClientCall *call = g_ptr_array_index (calls, i);

      call->channel = NULL;
      iris_client_carry (self, call);
    }
}
