/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The book of leases: who serves what and who waits for it.
 *
 * A trade has one queue of idle posts for each place and one for all, so that both "anybody" and
 * "somebody at that place" are found without a search; and one queue of waiting errands for each
 * place (those that must be done there) and one for all others. The queues are in order: the
 * longest idle first, the oldest errand first.
 */
#include "irisd-lease-private.h"

#include "irisd-policy.h"

static guint
queue_of (IrisdLeases *book, gint place)
{
  return place >= 0 && (guint) place < book->rules.n_places ? (guint) place : book->rules.n_places;
}

/* From now on nothing is leased; no server has anything yet. */
void
irisd_leases_pause (IrisdLeases *self)
{
  self->paused = TRUE;
}

/* Ends irisd_leases_pause(); irisd_leases_employ() has to follow for each server. */
void
irisd_leases_resume (IrisdLeases *self)
{
  self->paused = FALSE;
}

static IrisdTrade *
new_trade (IrisdLeases *book, gint64 space, const char *name)
{
  IrisdTrade *self = g_new0 (IrisdTrade, 1);
  self->space = space;
  self->name = g_strdup (name);
  self->idle = g_new0 (GQueue, book->rules.n_places + 1);
  self->waiting = g_new0 (GQueue, book->rules.n_places + 1);
  g_queue_init (&self->impatient);
  self->alarm = G_MAXINT64;
  g_hash_table_add (book->trades, self);
  return self;
}

/* Frees a trade that neither has a name nor errands any more. */
void
irisd_trade_drop (IrisdLeases *book, IrisdTrade *trade)
{
  if (!trade->forgotten || trade->n_errands > 0)
    return;
  g_free (trade->idle);
  g_free (trade->waiting);
  g_free (trade->name);
  g_free (trade->summary);
  g_free (trade);
}

/* When the first of those that are not patient has waited long enough; they are in that order. */
gint64
irisd_trade_get_first_end (IrisdLeases *book, IrisdTrade *trade)
{
  const IrisdErrand *first = g_queue_peek_head (&trade->impatient);
  return MAX (first->since, trade->unserved_at) + book->rules.wait_us;
}

static gint64
find_alarm (IrisdLeases *book, IrisdTrade *trade)
{
  if (trade->n_posts > 0 || trade->forgotten)
    return G_MAXINT64;
  if (trade->impatient.length > 0)
    return irisd_trade_get_first_end (book, trade);
  return trade->n_patient == 0 && !trade->lasting ? trade->unserved_at + book->rules.wait_us
                                                  : G_MAXINT64;
}

/* To be called after whatever may change it. */
void
irisd_trade_set_alarm (IrisdLeases *book, IrisdTrade *trade)
{
  gint64 alarm = find_alarm (book, trade);
  if (alarm == trade->alarm)
    return;
  if (trade->alarm != G_MAXINT64)
    g_tree_remove (book->by_alarm, trade);
  trade->alarm = alarm;
  if (alarm != G_MAXINT64)
    g_tree_insert (book->by_alarm, trade, trade);
}

static GQueue *
waiting_queue (IrisdLeases *book, IrisdErrand *errand)
{
  guint at = errand->strict ? queue_of (book, errand->place) : book->rules.n_places;
  return &errand->trade->waiting[at];
}

/* Puts an errand where its age belongs: a new one last, one that comes back before younger ones. */
void
irisd_trade_put (IrisdLeases *book, IrisdErrand *errand)
{
  GQueue *queue = waiting_queue (book, errand);
  errand->link = errand->impatient_link = (GList){ .data = errand };
  if (!errand->patient)
    g_queue_push_tail_link (&errand->trade->impatient, &errand->impatient_link);
  irisd_trade_set_alarm (book, errand->trade);
  GList *last = queue->tail;
  if (last == NULL || ((IrisdErrand *) last->data)->order < errand->order)
    {
      g_queue_push_tail_link (queue, &errand->link);
      return;
    }
  GList *younger = queue->head;
  while (((IrisdErrand *) younger->data)->order < errand->order)
    younger = younger->next;
  g_queue_insert_before_link (queue, younger, &errand->link);
}

void
irisd_trade_remove (IrisdLeases *book, IrisdErrand *errand)
{
  g_queue_unlink (waiting_queue (book, errand), &errand->link);
  if (!errand->patient)
    g_queue_unlink (&errand->trade->impatient, &errand->impatient_link);
  irisd_trade_set_alarm (book, errand->trade);
}

/* Who gets an errand: somebody at the place that it names; if that is only a wish, anybody. */
IrisdServer *
irisd_trade_choose (IrisdLeases *book, IrisdTrade *trade, const IrisdErrand *errand)
{
  if (book->paused)
    return NULL;
  guint all = book->rules.n_places;
  guint at = queue_of (book, errand->place);
  GList *first = trade->idle[at].head;
  if (first == NULL && !errand->strict)
    first = trade->idle[all].head;
  return first != NULL ? ((IrisdPost *) first->data)->server : NULL;
}

static IrisdErrand *
older (IrisdErrand *errand, GQueue *queue)
{
  IrisdErrand *head = g_queue_peek_head (queue);
  return head != NULL && (errand == NULL || head->order < errand->order) ? head : errand;
}

/* The oldest errand that a server may do. */
IrisdErrand *
irisd_trade_first_for (IrisdLeases *book, IrisdServer *server)
{
  if (book->paused)
    return NULL;
  IrisdErrand *errand = NULL;
  for (guint i = 0; i < server->n_posts; i++)
    {
      IrisdTrade *trade = server->posts[i]->trade;
      errand = older (errand, &trade->waiting[book->rules.n_places]);
      if (server->place >= 0)
        errand = older (errand, &trade->waiting[server->place]);
    }
  return errand;
}

static void
set_post_idle (IrisdLeases *book, IrisdPost *post, gboolean idle)
{
  GQueue *all = &post->trade->idle[book->rules.n_places];
  GQueue *there = post->server->place >= 0 ? &post->trade->idle[post->server->place] : NULL;
  if (idle)
    {
      g_queue_push_tail_link (all, &post->idle_link);
      if (there != NULL)
        g_queue_push_tail_link (there, &post->place_link);
      return;
    }
  g_queue_unlink (all, &post->idle_link);
  if (there != NULL)
    g_queue_unlink (there, &post->place_link);
}

void
irisd_server_set_idle (IrisdLeases *book, IrisdServer *server, gboolean idle)
{
  if (server->idle == idle)
    return;
  server->idle = idle;
  for (guint i = 0; i < server->n_posts; i++)
    set_post_idle (book, server->posts[i], idle);
}

/* After a lease was given or ended: goes behind all others that are idle, if it has room. */
void
irisd_server_rest (IrisdLeases *book, IrisdServer *server)
{
  irisd_server_set_idle (book, server, FALSE);
  irisd_server_set_idle (book, server, server->leased < server->capacity);
}

static void
begin_unserved (IrisdLeases *book, IrisdTrade *trade, gint64 now)
{
  trade->unserved_at = now;
  irisd_trade_set_alarm (book, trade);
}

static void
close_post (IrisdLeases *book, IrisdPost *post, gint64 now)
{
  IrisdTrade *trade = post->trade;
  g_free (post);
  if (--trade->n_posts == 0)
    begin_unserved (book, trade, now);
}

static void
open_post (IrisdLeases *book, IrisdServer *server, IrisdTrade *trade)
{
  IrisdPost *post = g_new0 (IrisdPost, 1);
  post->server = server;
  post->trade = trade;
  post->wanted = TRUE;
  post->idle_link.data = post;
  post->place_link.data = post;
  server->posts = g_renew (IrisdPost *, server->posts, server->n_posts + 1);
  server->posts[server->n_posts++] = post;
  trade->n_posts++;
  trade->served = TRUE;
  irisd_trade_set_alarm (book, trade);
}

static IrisdPost *
find_post (IrisdServer *server, IrisdTrade *trade)
{
  for (guint i = 0; i < server->n_posts; i++)
    {
      IrisdPost *post = server->posts[i];
      if (post->trade == trade)
        return post;
    }
  return NULL;
}

/* Makes the server, which is not idle, serve these services and no others. */
void
irisd_server_take_posts (IrisdLeases *book,
                         IrisdServer *server,
                         const IrisWireServices *services,
                         gint64 now)
{
  for (guint i = 0; i < server->n_posts; i++)
    server->posts[i]->wanted = FALSE;
  for (guint i = 0; services != NULL && i < services->n_services; i++)
    {
      const IrisWireService *service = &services->services[i];
      gint64 space = irisd_leases_get_space (book, server, service->name);
      IrisdTrade *trade = irisd_leases_find_trade (book, space, service->name);
      if (trade == NULL)
        trade = new_trade (book, space, service->name);
      g_free (trade->summary);
      trade->summary = g_strdup (service->summary);
      IrisdPost *post = find_post (server, trade);
      if (post != NULL)
        post->wanted = TRUE;
      else
        open_post (book, server, trade);
    }
  for (guint i = server->n_posts; i-- > 0;)
    {
      IrisdPost *post = server->posts[i];
      if (post->wanted)
        continue;
      server->posts[i] = server->posts[--server->n_posts];
      close_post (book, post, now);
    }
}

/**
 * irisd_leases_expect:
 * @self: the book
 * @space: the name space that items look for it in first
 * @name: a service
 * @lasting: whether it is known for as long as there is the book
 * @now: the time
 *
 * From now on the service is known, as if its last server had just gone: items wait for the first.
 */
void
irisd_leases_expect (IrisdLeases *self,
                     gint64 space,
                     const char *name,
                     gboolean lasting,
                     gint64 now)
{
  if (irisd_leases_route (self, space, name) != NULL)
    return;
  IrisdTrade *trade = new_trade (self, space, name);
  trade->summary = g_strdup ("");
  trade->lasting = lasting;
  begin_unserved (self, trade, now);
}

/**
 * irisd_leases_has_room_to_expect:
 * @self: the book
 * @space: a name space
 *
 * Services that never had a server are counted apart, so that clients which ask for such names
 * leave room for the services of workers.
 *
 * Returns: whether there are fewer of them in the name space than services may be
 */
gboolean
irisd_leases_has_room_to_expect (IrisdLeases *self, gint64 space)
{
  return irisd_leases_count_trades (self, space, FALSE) < self->rules.max_services;
}

guint
irisd_leases_count_services (IrisdLeases *self)
{
  return g_hash_table_size (self->trades);
}

/**
 * irisd_leases_describe_services:
 * @self: the book
 * @space: the first name space that a client's items look in
 * @out: (array): room for irisd_leases_count_services() of them
 *
 * Returns: how many services such items find
 */
guint
irisd_leases_describe_services (IrisdLeases *self, gint64 space, IrisWireService *out)
{
  GHashTableIter iter;
  gpointer value;
  guint n = 0;
  g_hash_table_iter_init (&iter, self->trades);
  while (g_hash_table_iter_next (&iter, &value, NULL))
    {
      const IrisdTrade *trade = value;
      if (irisd_leases_route (self, space, trade->name) != trade)
        continue;
      out[n].name = g_strdup (trade->name);
      out[n].summary = g_strdup (trade->summary);
      n++;
    }
  return n;
}

static gboolean
is_within (const IrisdServer *server, const IrisdTrade *trade, gint64 view)
{
  return trade->space == IRISD_SPACE_SHARED || irisd_view_reaches (view, server->owner);
}

/**
 * irisd_server_is_within:
 * @server: a server in the book
 * @view: an owner, or %IRISD_VIEW_ALL
 *
 * Returns: whether the owner knows of it: as its own, or because it serves all
 */
gboolean
irisd_server_is_within (const IrisdServer *server, gint64 view)
{
  gboolean within = irisd_view_reaches (view, server->owner);
  for (guint i = 0; i < server->n_posts && !within; i++)
    within = is_within (server, server->posts[i]->trade, view);
  return within;
}

/**
 * irisd_leases_describe_server:
 * @server: a server in the book
 * @view: an owner, or %IRISD_VIEW_ALL
 * @out: (out caller-allocates): what of it the book knows is filled in
 */
void
irisd_leases_describe_server (const IrisdServer *server, gint64 view, IrisWireWorker *out)
{
  out->services = g_new0 (IrisWireService, server->n_posts);
  for (guint i = 0; i < server->n_posts; i++)
    {
      const IrisdTrade *trade = server->posts[i]->trade;
      if (!is_within (server, trade, view))
        continue;
      out->services[out->n_services].name = g_strdup (trade->name);
      out->services[out->n_services++].summary = g_strdup (trade->summary);
    }
  out->n_places = server->place >= 0;
  out->places = g_new0 (guint32, 1);
  out->places[0] = server->place >= 0 ? (guint32) server->place : 0;
  out->capacity = server->capacity;
  out->leased = server->leased;
  out->done = server->done;
  out->failed = server->failed;
  out->lost = server->lost;
}
