/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An item that irisd has leased to this process.
 *
 * A lease is answered once: by iris_lease_done(), by iris_lease_fail(), or, when its
 * last reference is dropped, by a failure that says so; nothing accepted is forgotten. All of it
 * belongs to the context of its worker. The cancellable may be looked at from anywhere.
 */
#include "iris-lease-private.h"

#include <string.h>

/* Bytes of one REPORT; a longer one goes in several. */
#define MOST_PART (64 * 1024)

struct _IrisLease
{
  GObject parent_instance;
  IrisWorkerProcess *worker; /* NULL once it was answered or the connection is lost */
  guint8 id[IRIS_WIRE_ID_SIZE];
  char *service;
  char *content_type;
  char *traceparent;
  char *tracestate;
  char **args;
  char *path;
  GBytes *payload;
  guint attempt;
  gint64 lease_us;
  gint64 until; /* when irisd gives the item to others, unless it hears of it, on the monotonic
                   clock */
  gboolean progress;
  gboolean parts;
  guint64 credit;      /* bytes of parts that may be sent */
  GByteArray *pending; /* parts that wait for it */
  gboolean finishing;  /* it is answered once they are sent; until then it keeps itself */
  GBytes *body;        /* and that is the answer */
  char *body_type;
  GCancellable *cancellable;
};

/**
 * IrisLease:
 *
 * An item that irisd has given to this process for a while.
 *
 * It is answered once: by [method@Lease.done] or [method@Lease.fail], or, when its last
 * reference is dropped, by a failure that says so. Until then it counts against the worker's
 * capacity. All but its cancellable belongs to the main context of the worker.
 */
G_DEFINE_FINAL_TYPE (IrisLease, iris_lease, G_TYPE_OBJECT)

static void
iris_lease_dispose (GObject *object)
{
  IrisLease *self = IRIS_LEASE (object);

  if (self->worker != NULL)
    iris_lease_fail (self,
                     "the service freed the lease without an answer; have it call "
                     "iris_lease_done() or iris_lease_fail()",
                     FALSE);
  G_OBJECT_CLASS (iris_lease_parent_class)->dispose (object);
}

static void
iris_lease_finalize (GObject *object)
{
  IrisLease *self = IRIS_LEASE (object);

  g_free (self->service);
  g_free (self->content_type);
  g_free (self->traceparent);
  g_free (self->tracestate);
  g_strfreev (self->args);
  g_free (self->path);
  g_bytes_unref (self->payload);
  g_byte_array_unref (self->pending);
  g_clear_pointer (&self->body, g_bytes_unref);
  g_free (self->body_type);
  g_object_unref (self->cancellable);
  G_OBJECT_CLASS (iris_lease_parent_class)->finalize (object);
}

static void
iris_lease_class_init (IrisLeaseClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = iris_lease_dispose;
  G_OBJECT_CLASS (klass)->finalize = iris_lease_finalize;
}

static void
iris_lease_init (IrisLease *self)
{
  self->cancellable = g_cancellable_new ();
  self->pending = g_byte_array_new ();
}

/* @worker is not owned. */
IrisLease *
iris_lease_new_from_wire (IrisWorkerProcess *worker, const IrisWireMessage *message)
{
  IrisLease *self = g_object_new (IRIS_TYPE_LEASE, NULL);

  self->worker = worker;
  memcpy (self->id, message->request_id, sizeof self->id);
  self->service = iris_wire_string_dup (&message->service);
  if (iris_wire_message_has (message, IRIS_WIRE_KEY_CONTENT_TYPE))
    self->content_type = iris_wire_string_dup (&message->content_type);
  if (iris_wire_message_has (message, IRIS_WIRE_KEY_PATH))
    self->path = iris_wire_string_dup (&message->path);
  if (iris_wire_message_has (message, IRIS_WIRE_KEY_TRACEPARENT))
    self->traceparent = iris_wire_string_dup (&message->traceparent);
  if (iris_wire_message_has (message, IRIS_WIRE_KEY_TRACESTATE))
    self->tracestate = iris_wire_string_dup (&message->tracestate);
  self->args = iris_wire_args_dup (&message->args);
  self->payload = g_bytes_new (message->body.data, message->body.size);
  self->attempt = message->attempt;
  self->lease_us = (gint64) MIN (message->lease_ms, G_MAXINT64 / 4000) * 1000;
  self->until = g_get_monotonic_time () + self->lease_us;
  self->progress = message->progress;
  self->parts = iris_wire_message_has (message, IRIS_WIRE_KEY_PARTS);
  self->credit = message->parts;
  return self;
}

const guint8 *
iris_lease_get_id (IrisLease *self)
{
  return self->id;
}

static void
iris_lease_settle (IrisLease *self, IrisWireMessage *message)
{
  IrisWorkerProcess *worker = g_steal_pointer (&self->worker);

  if (worker != NULL)
    iris_worker_process_settle (worker, self, message);
}

static void
iris_lease_send_done (IrisLease *self, GBytes *body, const char *content_type)
{
  IrisWireMessage message;
  gsize size = 0;

  iris_wire_message_init (&message, IRIS_WIRE_DONE, self->id);
  if (content_type != NULL)
    iris_wire_message_set_string (&message, IRIS_WIRE_KEY_CONTENT_TYPE, content_type, -1);
  if (body != NULL)
    {
      gconstpointer data = g_bytes_get_data (body, &size);
      iris_wire_message_set_body (&message, data, size);
    }
  iris_lease_settle (self, &message);
}

/* Answers, if that only waited for parts to be sent. */
static void
iris_lease_finish_if_sent (IrisLease *self)
{
  if (!self->finishing || self->pending->len > 0)
    return;
  self->finishing = FALSE;
  if (g_cancellable_is_cancelled (self->cancellable))
    iris_lease_fail (self, "the item was stopped", FALSE);
  else
    iris_lease_send_done (self, self->body, self->body_type);
  g_object_unref (self);
}

/* Sends what there is credit for. */
static void
iris_lease_flush (IrisLease *self)
{
  while (self->pending->len > 0 && self->credit > 0 && self->worker != NULL)
    {
      guint size = (guint) MIN (MIN (self->credit, self->pending->len), MOST_PART);
      IrisWireMessage message;

      iris_wire_message_init (&message, IRIS_WIRE_REPORT, self->id);
      iris_wire_message_set_body (&message, self->pending->data, size);
      iris_worker_process_say (self->worker, &message);
      self->credit -= size;
      g_byte_array_remove_range (self->pending, 0, size);
    }
}

void
iris_lease_grant (IrisLease *self, guint64 bytes)
{
  self->credit += bytes;
  iris_lease_flush (self);
  iris_lease_finish_if_sent (self);
}

void
iris_lease_stop (IrisLease *self)
{
  g_cancellable_cancel (self->cancellable);
  /* Its parts are not wanted any more, so it need not wait for credit. */
  g_byte_array_set_size (self->pending, 0);
  iris_lease_finish_if_sent (self);
}

/* Whether irisd, if it was killed and is back, knows of the lease at that time of the monotonic
 * clock. The connection is lost. */
gboolean
iris_lease_survives (IrisLease *self, gint64 until)
{
  return self->until > until && !self->parts && !g_cancellable_is_cancelled (self->cancellable);
}

gint64
iris_lease_get_until (IrisLease *self)
{
  return self->until;
}

/* Asks irisd for a lease of an earlier connection: that it is lost comes as an error. @anew: for as
 * long as a new one, and not only for what is left. */
void
iris_lease_claim (IrisLease *self, gboolean anew)
{
  gint64 left = MAX (self->until - g_get_monotonic_time (), 0) / 1000;
  IrisWireMessage message;

  if (anew)
    {
      iris_lease_extend (self);
      return;
    }
  iris_wire_message_init (&message, IRIS_WIRE_EXTEND, self->id);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_LEASE_MS, (guint64) left);
  iris_worker_process_say_of_lease (self->worker, &message);
}

/* The connection is lost, or the worker goes. */
void
iris_lease_forget_worker (IrisLease *self)
{
  self->worker = NULL;
  g_byte_array_set_size (self->pending, 0);
}

/**
 * iris_lease_get_service:
 *
 * Returns: (transfer none): the service that the item names
 */
const char *
iris_lease_get_service (IrisLease *self)
{
  g_return_val_if_fail (IRIS_IS_LEASE (self), NULL);

  return self->service;
}

/**
 * iris_lease_get_payload:
 *
 * Returns: (transfer none): what the item brings along
 */
GBytes *
iris_lease_get_payload (IrisLease *self)
{
  g_return_val_if_fail (IRIS_IS_LEASE (self), NULL);

  return self->payload;
}

/**
 * iris_lease_get_content_type:
 *
 * Returns: (transfer none) (nullable): what the payload is, if the client said so
 */
const char *
iris_lease_get_content_type (IrisLease *self)
{
  g_return_val_if_fail (IRIS_IS_LEASE (self), NULL);

  return self->content_type;
}

/**
 * iris_lease_get_args:
 *
 * Returns: (transfer none) (array zero-terminated=1): the item's arguments; any bytes but NUL
 */
const char *const *
iris_lease_get_args (IrisLease *self)
{
  g_return_val_if_fail (IRIS_IS_LEASE (self), NULL);

  return (const char *const *) self->args;
}

/**
 * iris_lease_get_traceparent:
 *
 * The item's span in a distributed trace, as W3C Trace Context has it. What the worker does for the
 * item, and the requests that it makes, belong below it.
 *
 * Returns: (transfer none) (nullable): the text, or %NULL if the item belongs to no trace
 */
const char *
iris_lease_get_traceparent (IrisLease *self)
{
  g_return_val_if_fail (IRIS_IS_LEASE (self), NULL);

  return self->traceparent;
}

/**
 * iris_lease_get_tracestate:
 *
 * Returns: (transfer none) (nullable): what tracing systems have added, to be passed on with
 *   [method@IrisClient.Lease.get_traceparent]
 */
const char *
iris_lease_get_tracestate (IrisLease *self)
{
  g_return_val_if_fail (IRIS_IS_LEASE (self), NULL);

  return self->tracestate;
}

/**
 * iris_lease_get_path:
 *
 * Returns: (transfer none) (nullable) (type filename): the file that the client names to be worked
 *   on instead of the payload
 */
const char *
iris_lease_get_path (IrisLease *self)
{
  g_return_val_if_fail (IRIS_IS_LEASE (self), NULL);

  return self->path;
}

/**
 * iris_lease_get_attempt:
 *
 * Tells the how manieth time the item is leased; above 1 some of it may have been done.
 */
guint
iris_lease_get_attempt (IrisLease *self)
{
  g_return_val_if_fail (IRIS_IS_LEASE (self), 0);

  return self->attempt;
}

/**
 * iris_lease_wants_progress:
 *
 * Tells whether the client wants to be told how far the item is.
 */
gboolean
iris_lease_wants_progress (IrisLease *self)
{
  g_return_val_if_fail (IRIS_IS_LEASE (self), FALSE);

  return self->progress;
}

/**
 * iris_lease_get_cancellable:
 *
 * It is cancelled when the item is not wanted any more: its client has cancelled it or has gone, or
 * its time is over, also because irisd does not come back before; or irisd is back and knows
 * nothing of it. Stop then, and answer all the same: until then it counts against the worker's
 * capacity. What is answered is dropped.
 *
 * Returns: (transfer none): what to hand on to GIO, or to ask now and then, from any thread
 */
GCancellable *
iris_lease_get_cancellable (IrisLease *self)
{
  g_return_val_if_fail (IRIS_IS_LEASE (self), NULL);

  return self->cancellable;
}

/**
 * iris_lease_report:
 * @fraction: how much is done, from 0 to 1; below 0 if that is not known
 * @note: (nullable): for a person: what is being done
 *
 * Tells the client how far the item is, if it wants to know.
 */
void
iris_lease_report (IrisLease *self, double fraction, const char *note)
{
  IrisWireMessage message;

  g_return_if_fail (IRIS_IS_LEASE (self));
  g_return_if_fail (note == NULL || g_utf8_validate (note, -1, NULL));

  if (self->worker == NULL || !self->progress)
    return;
  iris_wire_message_init (&message, IRIS_WIRE_REPORT, self->id);
  if (fraction >= 0)
    iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_FRACTION,
                                (guint64) (MIN (fraction, 1.0) * IRIS_WIRE_WHOLE));
  if (note != NULL)
    iris_wire_message_set_string (&message, IRIS_WIRE_KEY_NOTE, note, -1);
  iris_worker_process_say_of_lease (self->worker, &message);
}

/**
 * iris_lease_wants_parts:
 *
 * Tells whether the client takes parts of the result as they come.
 */
gboolean
iris_lease_wants_parts (IrisLease *self)
{
  g_return_val_if_fail (IRIS_IS_LEASE (self), FALSE);

  return self->parts;
}

/**
 * iris_lease_send_part:
 * @part: a part of the result
 *
 * Sends a part of the result to the client, if it wants parts. What it has not granted credit for
 * waits here; [method@IrisClient.Lease.get_pending] tells how much that is, so that a service
 * that is faster than the client can wait. Parts are bytes in a row: the client may get them cut
 * otherwise.
 */
void
iris_lease_send_part (IrisLease *self, GBytes *part)
{
  gsize size;
  gconstpointer data;

  g_return_if_fail (IRIS_IS_LEASE (self));
  g_return_if_fail (part != NULL);
  g_return_if_fail (!self->finishing);

  if (self->worker == NULL || !self->parts || g_cancellable_is_cancelled (self->cancellable))
    return;
  data = g_bytes_get_data (part, &size);
  g_return_if_fail (size <= G_MAXUINT - self->pending->len);
  if (size == 0)
    return;
  g_byte_array_append (self->pending, data, (guint) size);
  iris_lease_flush (self);
}

/**
 * iris_lease_get_pending:
 *
 * Tells how many bytes of parts wait until the client has taken what came before.
 *
 * Returns: bytes
 */
guint64
iris_lease_get_pending (IrisLease *self)
{
  g_return_val_if_fail (IRIS_IS_LEASE (self), 0);

  return self->pending->len;
}

/**
 * iris_lease_extend:
 *
 * Keeps it for the length of a lease from now on. Only workers that do not do that by themselves
 * have to: see [property@IrisClient.WorkerProcess:renew-leases].
 */
void
iris_lease_extend (IrisLease *self)
{
  IrisWireMessage message;

  g_return_if_fail (IRIS_IS_LEASE (self));

  if (self->worker == NULL)
    return;
  iris_wire_message_init (&message, IRIS_WIRE_EXTEND, self->id);
  if (iris_worker_process_say_of_lease (self->worker, &message))
    self->until = g_get_monotonic_time () + self->lease_us;
}

/**
 * iris_lease_done:
 * @body: (nullable): the result; %NULL for an empty one
 * @content_type: (nullable): what it is
 *
 * Ends the item well; after the parts that wait for credit, if there are some.
 */
void
iris_lease_done (IrisLease *self, GBytes *body, const char *content_type)
{
  g_return_if_fail (IRIS_IS_LEASE (self));
  g_return_if_fail (!self->finishing);

  if (g_cancellable_is_cancelled (self->cancellable))
    {
      iris_lease_fail (self, "the item was stopped", FALSE);
      return;
    }
  if (self->worker == NULL || self->pending->len == 0)
    {
      iris_lease_send_done (self, body, content_type);
      return;
    }
  self->finishing = TRUE;
  self->body = body != NULL ? g_bytes_ref (body) : NULL;
  self->body_type = g_strdup (content_type);
  g_object_ref (self);
}

/**
 * iris_lease_fail:
 * @reason: for a person: what went wrong and what to do next
 * @again: whether another attempt, here or elsewhere, may succeed
 *
 * Ends the item badly, or has it tried again.
 */
void
iris_lease_fail (IrisLease *self, const char *reason, gboolean again)
{
  IrisWireMessage message;

  g_return_if_fail (IRIS_IS_LEASE (self));
  g_return_if_fail (reason != NULL && g_utf8_validate (reason, -1, NULL));
  g_return_if_fail (!self->finishing);

  iris_wire_message_init (&message, IRIS_WIRE_FAIL, self->id);
  iris_wire_message_set_string (&message, IRIS_WIRE_KEY_MESSAGE, reason, -1);
  if (again)
    iris_wire_message_set_boolean (&message, IRIS_WIRE_KEY_AGAIN, TRUE);
  iris_lease_settle (self, &message);
}
