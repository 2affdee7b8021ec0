/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What irisd-web knows of irisd: its statistics, asked for again and again.
 *
 * One connection serves all pages and scrapes; libiris-client makes it anew at the next call when
 * irisd is gone and back. The steps that pages and the history see are apart from what scrapes ask
 * for, so that rates are over whole steps.
 */
#include "clients/web/state/web-state.h"

#define WATCHED_STEP_MS   1000
#define UNWATCHED_STEP_MS 5000

typedef struct
{
  WebStateAnswer answer;
  gpointer user_data;
} Ask;

typedef struct
{
  WebStateStepped stepped;
  gpointer user_data;
} Listener;

struct _WebState
{
  char *where;
  guint answer_ms;
  IrisClient *client;
  GCancellable *cancellable;
  GArray *asks; /* share the answer that is under way */
  GArray *listeners;
  guint timer;
  gboolean watched;
  gboolean stepping;
  guint64 seq;
  WebSample *now;
  WebSample *before;
  WebSample *halved; /* its nodes are asked for; NULL: none is */
  char *why;
};

static void
web_sample_clear (gpointer data)
{
  WebSample *self = data;

  iris_wire_statistics_free (self->statistics);
  g_clear_pointer (&self->nodes, g_variant_unref);
}

WebSample *
web_sample_ref (WebSample *self)
{
  return g_rc_box_acquire (self);
}

void
web_sample_unref (WebSample *self)
{
  g_rc_box_release_full (self, web_sample_clear);
}

const IrisWireDaemonStatistics *
web_sample_get_daemon (const WebSample *self)
{
  return self != NULL && self->statistics->n_daemon > 0 ? &self->statistics->daemon[0] : NULL;
}

/* Takes @statistics. */
static WebSample *
web_sample_new (IrisWireStatistics *statistics)
{
  WebSample *self = g_rc_box_new0 (WebSample);

  self->statistics = statistics;
  self->at_us = g_get_monotonic_time ();
  self->at_ms = g_get_real_time () / 1000;

  return self;
}

static void
answer_all (WebState *self, WebSample *sample, const GError *error)
{
  g_autoptr (GArray) asks = g_steal_pointer (&self->asks);

  self->asks = g_array_new (FALSE, FALSE, sizeof (Ask));
  for (guint i = 0; i < asks->len; i++)
    {
      Ask *ask = &g_array_index (asks, Ask, i);

      ask->answer (sample, error, ask->user_data);
    }
}

/* An irisd with many services tells more records than the usual limit of the protocol. */
static IrisWireStatistics *
decode (GBytes *body, GError **error)
{
  IrisWireLimits limits = *iris_wire_limits_default ();
  gsize size;
  const void *data = g_bytes_get_data (body, &size);

  limits.max_entries = G_MAXUINT16;

  return iris_wire_statistics_decode ((IrisWireFrame){ data, size }, &limits, error);
}

static void
nodes_came (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (GError) error = NULL;
  GVariant *nodes = iris_client_get_nodes_finish (IRIS_CLIENT (source), result, &error);

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return; /* the state is freed */

  WebState *self = user_data;
  g_autoptr (WebSample) sample = g_steal_pointer (&self->halved);

  /* Without them the statistics are told all the same. */
  sample->nodes = nodes;
  answer_all (self, sample, NULL);
}

static void
statistics_came (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes)
      body = iris_client_get_encoded_statistics_finish (IRIS_CLIENT (source), result, &error);
  IrisWireStatistics *statistics = body != NULL ? decode (body, &error) : NULL;
  g_autoptr (WebSample) sample = NULL;

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return; /* the state is freed */
  if (statistics != NULL)
    sample = web_sample_new (statistics);
  if (statistics != NULL && statistics->n_cluster > 0)
    {
      WebState *self = user_data;

      self->halved = g_steal_pointer (&sample);
      iris_client_get_nodes_async (self->client, self->cancellable, nodes_came, self);
      return;
    }
  answer_all (user_data, sample, error);
}

void
web_state_ask (WebState *self, WebStateAnswer answer, gpointer user_data)
{
  Ask ask = { answer, user_data };

  g_array_append_val (self->asks, ask);
  if (self->asks->len == 1)
    iris_client_get_encoded_statistics_async (self->client, IRIS_WIRE_ALL_SECTIONS,
                                              self->cancellable, statistics_came, self);
}

static gboolean
is_same_run (const WebSample *a, const WebSample *b)
{
  const IrisWireDaemonStatistics *x = web_sample_get_daemon (a);
  const IrisWireDaemonStatistics *y = web_sample_get_daemon (b);

  return x != NULL && y != NULL && x->pid == y->pid && x->started_ms == y->started_ms
         && a->statistics->n_places == b->statistics->n_places;
}

static void
stepped (WebSample *sample, const GError *error, gpointer user_data)
{
  WebState *self = user_data;

  self->stepping = FALSE;
  self->seq++;
  g_clear_pointer (&self->before, web_sample_unref);
  self->before = g_steal_pointer (&self->now);
  if (sample != NULL)
    self->now = web_sample_ref (sample);
  if (!is_same_run (self->before, self->now))
    g_clear_pointer (&self->before, web_sample_unref);
  g_free (self->why);
  self->why = error != NULL ? g_strdup (error->message) : NULL;
  for (guint i = 0; i < self->listeners->len; i++)
    {
      Listener *listener = &g_array_index (self->listeners, Listener, i);

      listener->stepped (self, listener->user_data);
    }
}

static gboolean
step (gpointer user_data)
{
  WebState *self = user_data;

  if (!self->stepping)
    {
      self->stepping = TRUE;
      web_state_ask (self, stepped, self);
    }

  return G_SOURCE_CONTINUE;
}

static void
set_timer (WebState *self)
{
  if (self->timer != 0)
    g_source_remove (self->timer);
  self->timer = g_timeout_add (self->watched ? WATCHED_STEP_MS : UNWATCHED_STEP_MS, step, self);
}

static IrisClient *
new_client (WebState *self)
{
  IrisClient *client = iris_client_new (self->where);

  g_object_set (client, "asks-only", TRUE, "connect-timeout", self->answer_ms, "ping-timeout",
                self->answer_ms, "busy-timeout", self->answer_ms, NULL);

  return client;
}

WebState *
web_state_new (const char *where, const WebLimits *limits)
{
  WebState *self = g_new0 (WebState, 1);

  self->where = g_strdup (where);
  self->answer_ms = limits->answer_ms;
  self->client = new_client (self);
  self->cancellable = g_cancellable_new ();
  self->asks = g_array_new (FALSE, FALSE, sizeof (Ask));
  self->listeners = g_array_new (FALSE, FALSE, sizeof (Listener));
  set_timer (self);
  step (self);

  return self;
}

void
web_state_free (WebState *self)
{
  g_source_remove (self->timer);
  g_cancellable_cancel (self->cancellable);
  g_object_unref (self->cancellable);
  g_array_unref (self->asks);
  g_array_unref (self->listeners);
  g_object_unref (self->client);
  g_clear_pointer (&self->now, web_sample_unref);
  g_clear_pointer (&self->before, web_sample_unref);
  g_clear_pointer (&self->halved, web_sample_unref);
  g_free (self->why);
  g_free (self->where);
  g_free (self);
}

IrisClient *
web_state_get_client (WebState *self)
{
  return self->client;
}

IrisClient *
web_state_new_reader (WebState *self)
{
  IrisClient *client = new_client (self);

  g_object_set (client, "keeps-results", TRUE, NULL);

  return client;
}

void
web_state_add_listener (WebState *self, WebStateStepped func, gpointer user_data)
{
  Listener listener = { func, user_data };

  g_array_append_val (self->listeners, listener);
}

void
web_state_remove_listener (WebState *self, gpointer user_data)
{
  for (guint i = self->listeners->len; i > 0; i--)
    if (g_array_index (self->listeners, Listener, i - 1).user_data == user_data)
      g_array_remove_index (self->listeners, i - 1);
}

void
web_state_set_watched (WebState *self, gboolean watched)
{
  if (self->watched == watched)
    return;
  self->watched = watched;
  set_timer (self);
}

WebSample *
web_state_get_now (WebState *self)
{
  return self->now;
}

WebSample *
web_state_get_before (WebState *self)
{
  return self->before;
}

const char *
web_state_get_why (WebState *self)
{
  return self->why;
}

guint64
web_state_get_seq (WebState *self)
{
  return self->seq;
}

/* A node that is not in its cluster takes items all the same, for itself: it is ready, and says so.
 */
char *
web_state_describe_cluster (const WebSample *sample)
{
  if (web_sample_get_daemon (sample) == NULL || sample->statistics->n_cluster == 0)
    return NULL;
  const IrisWireClusterStatistics *cluster = &sample->statistics->cluster[0];
  if (cluster->state == IRIS_WIRE_CLUSTER_JOINED)
    return NULL;
  const char *why = *cluster->reason != '\0' ? cluster->reason : "it joins just now";
  if (cluster->state != IRIS_WIRE_CLUSTER_ALONE)
    return g_strdup_printf ("node %s is not in its cluster: %s", cluster->node, why);
  g_autoptr (GDateTime) since = g_date_time_new_from_unix_utc ((gint64) cluster->since_ms / 1000);
  g_autofree char *time = since != NULL ? g_date_time_format_iso8601 (since) : g_strdup ("-");
  return g_strdup_printf ("node %s is not in its cluster, but alone since %s: %s", cluster->node,
                          time, why);
}

GPtrArray *
web_state_list_reasons (const WebSample *sample, const char *why)
{
  GPtrArray *reasons = g_ptr_array_new_with_free_func (g_free);
  const IrisWireDaemonStatistics *daemon = web_sample_get_daemon (sample);

  if (daemon == NULL)
    {
      g_ptr_array_add (reasons, g_strdup (why != NULL ? why : "irisd has not answered yet"));
      return reasons;
    }
  if (daemon->draining)
    g_ptr_array_add (reasons, g_strdup ("irisd drains: it takes no more items"));
  for (guint i = 0; i < sample->statistics->n_journal; i++)
    {
      const IrisWireJournalStatistics *journal = &sample->statistics->journal[i];

      if (!g_str_equal (journal->state, "ready") && !g_str_equal (journal->state, "none"))
        g_ptr_array_add (
            reasons, g_strdup_printf ("the journal is %s: %s", journal->state, journal->reason));
    }
  if (!daemon->ready && reasons->len == 0)
    g_ptr_array_add (reasons, g_strdup (*daemon->not_ready != '\0'
                                            ? daemon->not_ready
                                            : "irisd does not take all kinds of items"));

  return reasons;
}
