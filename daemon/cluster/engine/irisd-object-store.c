/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Bodies that are larger than a message, in the stream of objects; see irisd-object-store.h.
 *
 * A body is put in this order: room is looked for, the chunks are stored, and then what tells of
 * them. The reference is given out last, so it never leads to an object that is not whole. Chunks
 * keep their order because one connection sends them, and each has to be stored: if one is not, the
 * ones behind it would be in the wrong place, so all are removed, and the caller begins again.
 *
 * Room is looked for because a full store would else be written up to its limit by each attempt,
 * and two halves of bodies could keep each other out. The limit of the stream still decides.
 *
 * Invariant: a transfer is in `waiting`, or counted in `n_active`, or `over`; it is freed when it
 * is over and the engine has answered all that it asked.
 */
#include "daemon/cluster/engine/irisd-object-store.h"

#include "daemon/cluster/engine/irisd-engine-parse.h"

#include <string.h>

/* Bodies that go and come at once. */
#define MOST_ACTIVE 4

/* Chunks of one body that are under way. After an answer that did not come it begins with one. */
#define MOST_WINDOW 8

/* Chunks that are asked for at once. */
#define BATCH 8

/* A server may be behind: the next chunk is asked for so often, with a pause. */
#define MOST_EMPTY 40
#define EMPTY_MS   250

struct _IrisdObjectStore
{
  IrisdEngine *engine;
  GMainContext *context;
  char *stream;
  char *bucket;
  GQueue all;     /* transfers */
  GQueue waiting; /* those that have not begun */
  GSource *turn;  /* begins what waits */
  guint n_active;
  guint window;
  guint64 stored; /* bytes of all bodies that were stored so far */
  gboolean stopped;
};

struct _IrisdObjectTransfer
{
  IrisdObjectStore *store;
  char *owner;
  char *subject; /* of the chunks */
  IrisdObjectReference reference;
  gpointer user_data;
  gboolean active;
  gboolean over;      /* the caller knows, or does not want to know */
  guint n_unanswered; /* what the engine has not answered */
  GSource *pause;
  GList link;
  GList waiting_link;

  /* of a put */
  IrisdObjectPutFunc put;
  char *name;
  GBytes *body;
  IrisdObjectShare share;
  GChecksum *checksum;
  gboolean has_room;     /* it was found */
  guint64 stored_before; /* of the store, when it was asked for */
  gsize sent;
  guint64 last; /* the number of the last chunk that was stored */
  gboolean failed;
  IrisdObjectStatus failure;
  char *why;

  /* of a get */
  IrisdObjectGetFunc get;
  GByteArray *found;
  guint64 next;  /* the number from which on the next chunk is looked for */
  gboolean came; /* in this request */
  guint n_empty;
};

static void begin (IrisdObjectTransfer *self);
static void ask_chunks (IrisdObjectTransfer *self);
static void purge (IrisdObjectStore *self, const char *filter);

/* ---- Turns ---- */

static gboolean
on_turn (gpointer data)
{
  IrisdObjectStore *self = data;

  g_source_set_ready_time (self->turn, -1);
  while (self->n_active < MOST_ACTIVE && self->waiting.length > 0 && !self->stopped)
    {
      IrisdObjectTransfer *next = self->waiting.head->data;

      g_queue_unlink (&self->waiting, &next->waiting_link);
      next->active = TRUE;
      self->n_active++;
      begin (next);
    }
  return G_SOURCE_CONTINUE;
}

static gboolean
turn_dispatch (GSource *source, GSourceFunc callback, gpointer user_data)
{
  return callback (user_data);
}

static IrisdObjectTransfer *
transfer_new (IrisdObjectStore *store, const char *owner, const char *nuid, gpointer user_data)
{
  IrisdObjectTransfer *self = g_new0 (IrisdObjectTransfer, 1);

  self->store = store;
  self->owner = g_strdup (owner);
  self->subject = irisd_object_get_chunks_subject (store->bucket, owner, nuid);
  self->user_data = user_data;
  self->link.data = self->waiting_link.data = self;
  g_queue_push_tail_link (&store->all, &self->link);
  g_queue_push_tail_link (&store->waiting, &self->waiting_link);
  if (!store->stopped)
    g_source_set_ready_time (store->turn, 0);
  return self;
}

static void
end_pause (IrisdObjectTransfer *self)
{
  if (self->pause == NULL)
    return;
  g_source_destroy (self->pause);
  g_clear_pointer (&self->pause, g_source_unref);
}

static void
transfer_free (IrisdObjectTransfer *self)
{
  g_queue_unlink (&self->store->all, &self->link);
  end_pause (self);
  g_free (self->owner);
  g_free (self->subject);
  g_free (self->name);
  g_free (self->why);
  g_clear_pointer (&self->body, g_bytes_unref);
  g_clear_pointer (&self->checksum, g_checksum_free);
  g_clear_pointer (&self->found, g_byte_array_unref);
  g_free (self);
}

/* Nothing more is asked for it. Whether it may be freed now, the engine's answers say. */
static void
end (IrisdObjectTransfer *self)
{
  self->over = TRUE;
  end_pause (self);
  if (self->active)
    self->store->n_active--;
  else
    g_queue_unlink (&self->store->waiting, &self->waiting_link);
  self->active = FALSE;
  if (!self->store->stopped)
    g_source_set_ready_time (self->store->turn, 0);
}

/* The engine has answered. Returns whether @self is still of use; it may be gone otherwise. */
static gboolean
take_answer (IrisdObjectTransfer *self)
{
  self->n_unanswered--;
  if (!self->over)
    return TRUE;
  if (self->n_unanswered == 0)
    transfer_free (self);
  return FALSE;
}

/* Does not come from inside of a call of the caller. */
static void
finish (IrisdObjectTransfer *self, IrisdObjectStatus status, const char *why)
{
  end (self);
  if (self->put != NULL)
    {
      if (status != IRISD_OBJECT_DONE && self->sent > 0)
        purge (self->store, self->subject);
      self->put (status, why, &self->reference, self->user_data);
    }
  else
    {
      g_autoptr (GBytes) body = NULL;

      if (status == IRISD_OBJECT_DONE)
        body = g_byte_array_free_to_bytes (g_steal_pointer (&self->found));
      self->get (status, why, body, self->user_data);
    }
  if (self->n_unanswered == 0)
    transfer_free (self);
}

/* ---- Puts ---- */

static void send_chunks (IrisdObjectTransfer *self);

static IrisdObjectStatus
read_status (IrisdPublishStatus status)
{
  switch (status)
    {
    case IRISD_PUBLISH_STORED:
    case IRISD_PUBLISH_DUPLICATE:
      return IRISD_OBJECT_DONE;
    case IRISD_PUBLISH_FULL:
      return IRISD_OBJECT_FULL;
    case IRISD_PUBLISH_RETRY:
    case IRISD_PUBLISH_NO_QUORUM:
      return IRISD_OBJECT_LATER;
    default:
      return IRISD_OBJECT_REFUSED;
    }
}

static void
on_meta (IrisdEngine *engine, const IrisdPublishResult *result, gpointer user_data)
{
  IrisdObjectTransfer *self = user_data;
  IrisdObjectStatus status = read_status (result->status);

  if (!take_answer (self))
    return;
  /* Another object of that name tells the tools of itself; what is told here is the reference. */
  if (result->status == IRISD_PUBLISH_WRONG_SEQUENCE)
    status = IRISD_OBJECT_DONE;
  if (status == IRISD_OBJECT_DONE)
    {
      self->store->window = MIN (self->store->window + 1, MOST_WINDOW);
      self->store->stored += irisd_object_get_cost (self->reference.size);
    }
  finish (self, status, result->text);
}

static void
send_meta (IrisdObjectTransfer *self)
{
  IrisdObjectStore *store = self->store;
  gsize length = IRISD_OBJECT_DIGEST_SIZE;

  g_checksum_get_digest (self->checksum, self->reference.digest, &length);
  g_autofree char *subject = irisd_object_get_meta_subject (store->bucket, self->name);
  g_autofree char *meta = irisd_object_make_meta (store->bucket, self->owner, self->name,
                                                  &self->reference, g_get_real_time () / 1000);
  const IrisdEnginePublication publication = {
    .subject = subject,
    .data = meta,
    .length = strlen (meta),
    .check_last = TRUE,
    .expected_last = 0,
  };
  self->n_unanswered++;
  irisd_engine_publish (store->engine, &publication, on_meta, self);
}

static void
on_chunk (IrisdEngine *engine, const IrisdPublishResult *result, gpointer user_data)
{
  IrisdObjectTransfer *self = user_data;

  if (!take_answer (self))
    return;
  if (result->status == IRISD_PUBLISH_STORED && result->sequence > self->last)
    self->last = result->sequence;
  else if (!self->failed)
    {
      self->failed = TRUE;
      self->failure = result->status == IRISD_PUBLISH_STORED ? IRISD_OBJECT_LATER
                                                             : read_status (result->status);
      self->why = g_strdup (result->text != NULL ? result->text : "chunks came in another order");
      if (self->failure == IRISD_OBJECT_LATER)
        self->store->window = 1;
    }
  if (self->failed && self->n_unanswered == 0)
    finish (self, self->failure, self->why);
  else if (!self->failed)
    send_chunks (self);
}

/* As many as the window allows. */
static void
send_chunks (IrisdObjectTransfer *self)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (self->body, &size);

  while (self->sent < size && self->n_unanswered < self->store->window)
    {
      const IrisdEnginePublication publication = {
        .subject = self->subject,
        .data = data + self->sent,
        .length = MIN (size - self->sent, IRISD_OBJECT_CHUNK),
      };
      g_checksum_update (self->checksum, publication.data, (gssize) publication.length);
      self->sent += publication.length;
      self->n_unanswered++;
      irisd_engine_publish (self->store->engine, &publication, on_chunk, self);
    }
  if (self->sent == size && self->n_unanswered == 0)
    send_meta (self);
}

/* What bodies of this node take that may not be in the answer to the question of @asking: those
 * under way, as if they had stored nothing, and those that were stored meanwhile. */
static guint64
count_promised (IrisdObjectStore *self, const IrisdObjectTransfer *asking)
{
  guint64 promised = self->stored - asking->stored_before;

  for (GList *l = self->all.head; l != NULL; l = l->next)
    {
      const IrisdObjectTransfer *other = l->data;

      if (other->has_room && !other->over)
        promised += irisd_object_get_cost (other->reference.size);
    }
  return promised;
}

static void
judge_room (IrisdObjectTransfer *self, guint64 most, guint64 used)
{
  const guint64 cost = irisd_object_get_cost (self->reference.size);
  const guint64 share = self->share == IRISD_OBJECT_HALF ? most / 2 : most;

  /* What is larger than half of it could wait for ever for the other half to end. */
  if (cost > most / 2)
    {
      g_autofree char *why = g_strdup_printf (
          "it has %" G_GUINT64_FORMAT " bytes, and the store of large bodies takes up to half of "
          "its %" G_GUINT64_FORMAT ": raise [cluster] bodies-bytes and the stream's limit, or "
          "send less",
          self->reference.size, most);
      finish (self, IRISD_OBJECT_TOO_LARGE, why);
    }
  else if (used + count_promised (self->store, self) + cost > share)
    finish (self, IRISD_OBJECT_FULL, "the store of large bodies is full");
  else
    {
      self->has_room = TRUE;
      send_chunks (self);
    }
}

static void
on_room (IrisdEngine *engine, JsonObject *reply, const GError *error, gpointer user_data)
{
  IrisdObjectTransfer *self = user_data;
  JsonObject *config = reply != NULL ? irisd_json_get_object (reply, "config") : NULL;
  JsonObject *state = reply != NULL ? irisd_json_get_object (reply, "state") : NULL;

  if (!take_answer (self))
    return;
  if (g_error_matches (error, IRISD_JETSTREAM_ERROR, IRISD_JETSTREAM_STREAM_NOT_FOUND))
    {
      g_autofree char *why = g_strdup_printf (
          "there is no stream %s: irisctl cluster init makes it", self->store->stream);
      finish (self, IRISD_OBJECT_REFUSED, why);
    }
  else if (config == NULL || state == NULL)
    finish (self, IRISD_OBJECT_LATER, error != NULL ? error->message : "no answer");
  else
    {
      const gint64 most = irisd_json_get_int (config, "max_bytes");

      judge_room (self, most > 0 ? (guint64) most : G_MAXUINT64,
                  (guint64) MAX (irisd_json_get_int (state, "bytes"), 0));
    }
}

static void
look_for_room (IrisdObjectTransfer *self)
{
  g_autofree char *subject = g_strconcat ("$JS.API.STREAM.INFO.", self->store->stream, NULL);

  self->stored_before = self->store->stored;
  self->n_unanswered++;
  irisd_engine_request (self->store->engine, subject, NULL, 0, on_room, self);
}

/* Stores @body. @owner is two tokens of a subject; @name is what tools see. */
IrisdObjectTransfer *
irisd_object_store_put (IrisdObjectStore *self,
                        const char *owner,
                        const char *name,
                        IrisdObjectShare share,
                        GBytes *body,
                        IrisdObjectPutFunc callback,
                        gpointer user_data)
{
  char nuid[IRISD_OBJECT_NUID_LENGTH + 1];
  IrisdObjectTransfer *transfer;

  irisd_object_make_nuid (nuid);
  transfer = transfer_new (self, owner, nuid, user_data);
  memcpy (transfer->reference.nuid, nuid, sizeof nuid);
  transfer->reference.size = g_bytes_get_size (body);
  transfer->put = callback;
  transfer->name = g_strdup (name);
  transfer->share = share;
  transfer->body = g_bytes_ref (body);
  transfer->checksum = g_checksum_new (G_CHECKSUM_SHA256);
  return transfer;
}

/* ---- Gets ---- */

static gboolean
on_pause (gpointer data)
{
  IrisdObjectTransfer *self = data;

  end_pause (self);
  ask_chunks (self);
  return G_SOURCE_REMOVE;
}

static void
ask_after_pause (IrisdObjectTransfer *self)
{
  self->pause = g_timeout_source_new (EMPTY_MS);
  g_source_set_callback (self->pause, on_pause, self, NULL);
  g_source_set_static_name (self->pause, "irisd-object-store");
  g_source_attach (self->pause, self->store->context);
}

static void
check_digest (IrisdObjectTransfer *self)
{
  guint8 digest[IRISD_OBJECT_DIGEST_SIZE];
  gsize length = sizeof digest;

  g_checksum_get_digest (self->checksum, digest, &length);
  if (memcmp (digest, self->reference.digest, sizeof digest) == 0)
    finish (self, IRISD_OBJECT_DONE, NULL);
  else
    finish (self, IRISD_OBJECT_DAMAGED, "its bytes are not those of its digest");
}

/* All that one request found has come. */
static void
take_end (IrisdObjectTransfer *self, const GError *error)
{
  if (self->came)
    self->n_empty = 0;
  if (error != NULL && error->code != IRISD_ENGINE_ERROR_TIMEOUT)
    finish (self, IRISD_OBJECT_LATER, error->message);
  else if (self->found->len == self->reference.size)
    check_digest (self);
  else if (self->came)
    ask_chunks (self);
  else if (++self->n_empty >= MOST_EMPTY)
    finish (self, error != NULL ? IRISD_OBJECT_LATER : IRISD_OBJECT_MISSING,
            error != NULL ? error->message : "it is not in the store of large bodies any more");
  else
    ask_after_pause (self);
}

static void
on_found (IrisdEngine *engine,
          const IrisdEngineMessage *message,
          const GError *error,
          gpointer user_data)
{
  IrisdObjectTransfer *self = user_data;

  if (message == NULL)
    {
      if (take_answer (self))
        take_end (self, error);
      return;
    }
  if (self->over || message->sequence < self->next)
    return;
  self->came = TRUE;
  self->next = message->sequence + 1;
  /* More than it ought to have makes the digest another one. */
  if (message->length <= self->reference.size - self->found->len)
    {
      g_byte_array_append (self->found, message->data, (guint) message->length);
      g_checksum_update (self->checksum, message->data, (gssize) message->length);
    }
}

static void
ask_chunks (IrisdObjectTransfer *self)
{
  self->came = FALSE;
  self->n_unanswered++;
  irisd_engine_get_next_of (self->store->engine, self->store->stream, self->subject, self->next,
                            BATCH, on_found, self);
}

/* Reads an object. Its size is to be checked before, against what the caller may take. */
IrisdObjectTransfer *
irisd_object_store_get (IrisdObjectStore *self,
                        const char *owner,
                        const IrisdObjectReference *reference,
                        IrisdObjectGetFunc callback,
                        gpointer user_data)
{
  IrisdObjectTransfer *transfer = transfer_new (self, owner, reference->nuid, user_data);

  transfer->reference = *reference;
  transfer->get = callback;
  transfer->next = 1;
  transfer->checksum = g_checksum_new (G_CHECKSUM_SHA256);
  return transfer;
}

static void
begin (IrisdObjectTransfer *self)
{
  if (self->put != NULL)
    {
      look_for_room (self);
      return;
    }
  self->found = g_byte_array_sized_new ((guint) MIN (self->reference.size, G_MAXUINT32));
  ask_chunks (self);
}

/* Its callback does not come. What a put has stored so far is removed. */
void
irisd_object_transfer_cancel (IrisdObjectTransfer *self)
{
  if (self->put != NULL && self->sent > 0)
    purge (self->store, self->subject);
  end (self);
  if (self->n_unanswered == 0)
    transfer_free (self);
}

/* ---- Removing ---- */

static void
ignore_reply (IrisdEngine *engine, JsonObject *reply, const GError *error, gpointer user_data)
{
  /* What stays is removed by its age. */
}

static void
purge (IrisdObjectStore *self, const char *filter)
{
  if (self->stopped)
    return;
  g_autofree char *subject = g_strconcat ("$JS.API.STREAM.PURGE.", self->stream, NULL);
  g_autofree char *json = g_strdup_printf ("{\"filter\":\"%s\"}", filter);

  irisd_engine_request (self->engine, subject, json, 0, ignore_reply, NULL);
}

/* Removes the chunks of the object @nuid of @owner, or with NULL of all of them. */
void
irisd_object_store_remove (IrisdObjectStore *self, const char *owner, const char *nuid)
{
  g_autofree char *chunks = irisd_object_get_chunks_subject (self->bucket, owner, nuid);

  purge (self, chunks);
}

/* Removes what tells tools of the object @name. */
void
irisd_object_store_remove_name (IrisdObjectStore *self, const char *name)
{
  g_autofree char *meta = irisd_object_get_meta_subject (self->bucket, name);

  purge (self, meta);
}

/* ---- Life ---- */

IrisdObjectStore *
irisd_object_store_new (IrisdEngine *engine,
                        GMainContext *context,
                        const char *stream,
                        const char *bucket)
{
  static GSourceFuncs turn_funcs = { .dispatch = turn_dispatch };
  IrisdObjectStore *self = g_new0 (IrisdObjectStore, 1);

  self->engine = engine;
  self->context = context;
  self->stream = g_strdup (stream);
  self->bucket = g_strdup (bucket);
  self->window = MOST_WINDOW;
  self->turn = g_source_new (&turn_funcs, sizeof (GSource));
  g_source_set_callback (self->turn, on_turn, self, NULL);
  g_source_set_static_name (self->turn, "irisd-object-store");
  g_source_attach (self->turn, context);
  return self;
}

/* The engine is still there, and is freed next. Nothing begins any more and nothing is removed;
 * what is under way ends with the engine, and may stay without a callback. */
void
irisd_object_store_stop (IrisdObjectStore *self)
{
  if (self->stopped)
    return;
  self->stopped = TRUE;
  g_source_destroy (self->turn);
}

/* It was stopped, and the engine is gone, with all its answers. No callback comes. */
void
irisd_object_store_free (IrisdObjectStore *self)
{
  while (self->all.head != NULL)
    transfer_free (self->all.head->data);
  g_source_unref (self->turn);
  g_free (self->stream);
  g_free (self->bucket);
  g_free (self);
}
