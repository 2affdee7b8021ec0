/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A work item, before it is sent.
 *
 * A plain counted struct and no GObject: a program may make a million of them. It belongs to one
 * thread at a time; only counting references is safe from several. It has one hint: the one that
 * was set last.
 */
#include "iris-request-private.h"

#include <iris-client/base/iris-client-counted-private.h>
#include <iris/wire/iris-wire.h>

#include <string.h>

/* Bytes of a tracestate that irisd passes on. */
#define MOST_TRACESTATE 512

/**
 * iris_request_new:
 * @service: the service that is to do the work, such as `sha256`
 *
 * Makes a request with an empty payload and no hint.
 *
 * Returns: (transfer full): the request
 */
IrisRequest *
iris_request_new (const char *service)
{
  IrisRequest *self;

  g_return_val_if_fail (service != NULL, NULL);

  self = g_atomic_rc_box_new0 (IrisRequest);
  self->service = g_strdup (service);
  self->place = -1;
  self->at_ms = -1;
  self->priority = -1;
  return self;
}

static void
iris_request_clear_near (IrisRequest *self)
{
  self->near_item = 0;
  g_clear_pointer (&self->near_path, g_free);
}

static void
iris_request_set_data (IrisRequestData *self, gpointer data, GDestroyNotify destroy)
{
  if (self->destroy != NULL)
    self->destroy (self->data);
  *self = (IrisRequestData){ data, destroy };
}

static void
iris_request_clear (IrisRequest *self)
{
  g_free (self->service);
  g_free (self->content_type);
  g_free (self->path);
  g_free (self->traceparent);
  g_free (self->tracestate);
  g_strfreev (self->args);
  g_free (self->directory);
  g_strfreev (self->environment);
  g_strfreev (self->limits);
  g_strfreev (self->hook);
  iris_request_set_data (&self->output_data, NULL, NULL);
  g_clear_pointer (&self->payload, g_bytes_unref);
  g_free (self->place_name);
  g_free (self->node);
  g_free (self->queue);
  g_free (self->key);
  g_free (self->id);
  iris_request_clear_near (self);
  iris_request_set_data (&self->progress_data, NULL, NULL);
  iris_request_set_data (&self->part_data, NULL, NULL);
  g_free (self->after);
  g_strfreev (self->after_away);
  iris_request_set_data (&self->accepted_data, NULL, NULL);
}

/**
 * iris_request_ref:
 *
 * Returns: (transfer full): @self, with a reference more; from any thread
 */
/**
 * iris_request_unref:
 * @self: (transfer full): a request
 *
 * Drops a reference. Safe from any thread.
 */
IRIS_CLIENT_DEFINE_COUNTED (IrisRequest, iris_request)

static void
iris_request_replace (char **field, const char *value)
{
  g_free (*field);
  *field = g_strdup (value);
}

/**
 * iris_request_set_payload:
 * @payload: (nullable): what the service works on; for `command` the standard input
 *
 * Sets the payload. How large it may be is irisd's limit `max-body`.
 */
void
iris_request_set_payload (IrisRequest *self, GBytes *payload)
{
  g_return_if_fail (self != NULL && !self->sealed);

  if (payload != NULL)
    g_bytes_ref (payload);
  g_clear_pointer (&self->payload, g_bytes_unref);
  self->payload = payload;
}

/**
 * iris_request_set_path:
 * @path: (nullable) (type filename): a file for the service to work on instead of a payload
 *
 * Names a file that irisd itself opens. irisd has a working directory of its own, so the path
 * must be absolute.
 */
void
iris_request_set_path (IrisRequest *self, const char *path)
{
  g_return_if_fail (self != NULL && !self->sealed);

  iris_request_replace (&self->path, path);
}

/**
 * iris_request_set_args:
 * @args: (nullable) (array zero-terminated=1): the arguments
 *
 * Sets the arguments of the service. Those of `command` are the program to run and its arguments.
 */
void
iris_request_set_args (IrisRequest *self, const char *const *args)
{
  g_return_if_fail (self != NULL && !self->sealed);

  g_strfreev (self->args);
  self->args = g_strdupv ((char **) args);
}

/**
 * iris_request_set_content_type:
 * @content_type: (nullable): a media type
 *
 * Says what the payload is, for a service that cares.
 */
void
iris_request_set_content_type (IrisRequest *self, const char *content_type)
{
  g_return_if_fail (self != NULL && !self->sealed);

  iris_request_replace (&self->content_type, content_type);
}

/**
 * iris_request_set_place:
 * @place: the id of a place, or -1 for none
 *
 * Sets the hint by id: the item is queued at this place, and may be stolen by an idle one unless
 * it is strict. Without a hint irisd deals items round-robin.
 */
void
iris_request_set_place (IrisRequest *self, int place)
{
  g_return_if_fail (self != NULL && !self->sealed);
  g_return_if_fail (place >= -1);

  self->place = place;
  g_clear_pointer (&self->place_name, g_free);
  iris_request_clear_near (self);
}

/**
 * iris_request_set_place_name:
 * @name: (nullable): the name of a place (`l2:1`), or its id in digits; `NODE/PLACE` for a place of
 *   another node of irisd's cluster
 *
 * Sets the hint by name. It is looked up when the item is sent, so the client need not be
 * connected yet. irisd looks up the node, and the other node its place.
 */
void
iris_request_set_place_name (IrisRequest *self, const char *name)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->place = -1;
  iris_request_replace (&self->place_name, name);
  iris_request_clear_near (self);
}

/**
 * iris_request_set_node:
 * @node: (nullable): the name of a node of irisd's cluster, or %NULL for none
 *
 * Sends the item to another node, where it may be stolen unless it is strict. A place that the
 * request names is one of that node. [struct@IrisClient.Result] tells where it ran.
 *
 * An item for a node fails with %IRIS_CLIENT_ERROR_NO_CLUSTER if irisd is in no cluster, and with
 * %IRIS_CLIENT_ERROR_NO_SUCH_NODE if that has no such node.
 */
void
iris_request_set_node (IrisRequest *self, const char *node)
{
  g_return_if_fail (self != NULL && !self->sealed);

  iris_request_replace (&self->node, node);
}

/**
 * iris_request_set_any_node:
 * @any_node: whether the item may run on any node of irisd's cluster
 *
 * Lets the cluster choose the node. Without it an item stays at this irisd, unless only others have
 * its service. It excludes a node, a place, and strict.
 */
void
iris_request_set_any_node (IrisRequest *self, gboolean any_node)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->any_node = !!any_node;
}

/* Returns whether irisd, and not the client, knows the place that it names. */
gboolean
iris_request_is_for_others (const IrisRequest *self)
{
  return self->node != NULL || self->any_node
         || (self->place_name != NULL && strchr (self->place_name, '/') != NULL);
}

/**
 * iris_request_set_strict:
 * @strict: whether no other place may steal the item
 *
 * A strict item runs at the place that its hint names, however long that takes.
 */
void
iris_request_set_strict (IrisRequest *self, gboolean strict)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->strict = !!strict;
}

/**
 * iris_request_set_near_item:
 * @item: the number of an item, as [method@IrisClient.Request.get_item] gives it, or 0 for none
 *
 * Sets the hint by another item, of this client or of another: the place where that one ran or is
 * queued, because its data is there. irisd remembers the items of the recent past (its limit
 * `remembered-places`); a hint that it cannot follow is none, unless the item is strict, which then
 * fails with %IRIS_CLIENT_ERROR_NOT_REMEMBERED.
 */
void
iris_request_set_near_item (IrisRequest *self, guint64 item)
{
  g_return_if_fail (self != NULL && !self->sealed);

  iris_request_set_place (self, -1);
  self->near_item = item;
}

/**
 * iris_request_set_traceparent:
 * @traceparent: (nullable): the span that sends the item, as W3C Trace Context has it; %NULL for
 * none
 * @tracestate: (nullable): what tracing systems add, or %NULL; needs @traceparent
 *
 * Makes the item a part of a distributed trace: a span below the one that @traceparent names. A
 * worker process gets the item's own span with the lease, a command in its environment as
 * `TRACEPARENT`.
 *
 * Returns: %FALSE, and nothing has changed, if one of them cannot be passed on: @traceparent is
 * none, or @tracestate is longer than 512 bytes
 */
gboolean
iris_request_set_traceparent (IrisRequest *self, const char *traceparent, const char *tracestate)
{
  IrisWireTraceparent read;

  g_return_val_if_fail (self != NULL && !self->sealed, FALSE);

  if (traceparent != NULL
      && !iris_wire_traceparent_parse (traceparent, strlen (traceparent), &read))
    return FALSE;
  if (tracestate != NULL && (traceparent == NULL || strlen (tracestate) > MOST_TRACESTATE))
    return FALSE;
  g_free (self->traceparent);
  g_free (self->tracestate);
  self->traceparent = g_strdup (traceparent);
  self->tracestate = g_strdup (tracestate);
  return TRUE;
}

/**
 * iris_request_set_near_path:
 * @path: (nullable) (type filename): a path, or %NULL for none
 *
 * Sets the hint by a path: the place where it was last worked on, by an item with that path or near
 * it. irisd only compares paths and opens none, so any name will do; give absolute ones, so that
 * others mean the same. irisd remembers those used last (its limit `remembered-paths`); the first
 * item of a path goes anywhere, unless it is strict, which then fails with
 * %IRIS_CLIENT_ERROR_NOT_REMEMBERED.
 */
void
iris_request_set_near_path (IrisRequest *self, const char *path)
{
  g_return_if_fail (self != NULL && !self->sealed);

  iris_request_set_place (self, -1);
  self->near_path = g_strdup (path);
}

/**
 * iris_request_set_footprint:
 * @bytes: how much memory the item will touch, in bytes; 0 for not known
 * @keep_apart: whether it shares that memory with no other item
 *
 * Declares memory, roughly. An idle place steals items with large footprints later. Without a hint,
 * an item that is to be kept apart goes to the place with the least declared memory of items that
 * wait or run. Services of worker processes ignore both.
 *
 * An item that is to be kept apart without a footprint fails with %IRIS_CLIENT_ERROR_BAD_ARGUMENT.
 */
void
iris_request_set_footprint (IrisRequest *self, guint64 bytes, gboolean keep_apart)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->footprint = bytes;
  self->keep_apart = !!keep_apart;
}

/**
 * iris_request_set_durability:
 * @durability: what of the item survives a crash
 *
 * A relaxed or durable item is kept by irisd: it goes on when this program has gone, runs again if
 * irisd was killed while it ran, and its end can be fetched with
 * [method@IrisClient.Client.fetch_async] until it was dealt with or expires. irisd has to keep a
 * journal for that.
 */
void
iris_request_set_durability (IrisRequest *self, IrisDurability durability)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->durability = durability;
}

/**
 * iris_request_set_key:
 * @key: (nullable): 1 to 256 bytes of text
 *
 * Makes a persistent item the same as any other with this key: only the first one runs, the others
 * get its number and its end, as long as that is kept. So an item may be submitted again when it is
 * not known whether it arrived.
 */
void
iris_request_set_key (IrisRequest *self, const char *key)
{
  g_return_if_fail (self != NULL && !self->sealed);

  iris_request_replace (&self->key, key);
}

/**
 * iris_request_set_keep:
 * @milliseconds: how long the end of a persistent item is kept; irisd has a default and a limit
 *
 * Says how long irisd keeps the item's end so that it can be fetched. A volatile item has no
 * use for it.
 */
void
iris_request_set_keep (IrisRequest *self, guint64 milliseconds)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->keep_ms = milliseconds;
  self->keep_set = TRUE;
}

/**
 * iris_request_set_detached:
 * @detached: whether submitting ends when the item is accepted
 *
 * The result of submitting a detached item has nothing but the item's number.
 */
void
iris_request_set_detached (IrisRequest *self, gboolean detached)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->detached = !!detached;
}

/**
 * iris_request_set_bury:
 * @bury: whether the item is set aside when its last try fails
 *
 * A persistent item that is buried does not end, so it does not expire: it waits until it is
 * kicked ([method@IrisClient.Client.kick_async]) or cancelled. Calls that wait for its end fail
 * with %IRIS_CLIENT_ERROR_BURIED.
 */
void
iris_request_set_bury (IrisRequest *self, gboolean bury)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->bury = !!bury;
}

/**
 * iris_request_set_directory:
 * @directory: (nullable) (type filename): an absolute path, or %NULL for irisd's own directory
 *
 * Sets the working directory of the command.
 */
void
iris_request_set_directory (IrisRequest *self, const char *directory)
{
  g_return_if_fail (self != NULL && !self->sealed);

  iris_request_replace (&self->directory, directory);
}

/**
 * iris_request_set_environment:
 * @variables: (nullable) (array zero-terminated=1): `NAME=VALUE` sets a variable, `NAME` takes one
 *   away
 * @clear: whether to begin without irisd's own variables
 *
 * Sets the environment of the command. The program is looked for in irisd's `PATH` all the same.
 */
void
iris_request_set_environment (IrisRequest *self, const char *const *variables, gboolean clear)
{
  g_return_if_fail (self != NULL && !self->sealed);

  g_strfreev (self->environment);
  self->environment = g_strdupv ((char **) variables);
  self->clear_environment = !!clear;
}

/**
 * iris_request_set_nice:
 * @nice: 0 to 19: how much it gives way to other processes, beyond irisd
 *
 * Makes the command nice.
 */
void
iris_request_set_nice (IrisRequest *self, int nice)
{
  g_return_if_fail (self != NULL && !self->sealed);
  g_return_if_fail (nice >= 0 && nice <= 19);

  self->nice = nice;
}

/**
 * iris_request_set_limits:
 * @limits: (nullable) (array zero-terminated=1): each is `cpu=SECONDS`, `memory=BYTES`,
 *   `files=NUMBER`, `file-size=BYTES`, `core=BYTES` or `output=BYTES`
 *
 * Bounds what the command may use. doc/protocol.md says what becomes of one that wants more.
 */
void
iris_request_set_limits (IrisRequest *self, const char *const *limits)
{
  g_return_if_fail (self != NULL && !self->sealed);

  g_strfreev (self->limits);
  self->limits = g_strdupv ((char **) limits);
}

/**
 * iris_request_set_time_limit:
 * @milliseconds: how long it may run, or 0 for as long as it likes
 *
 * Has a command ended that runs for longer; its item then fails with
 * %IRIS_CLIENT_ERROR_TIME_LIMIT.
 */
void
iris_request_set_time_limit (IrisRequest *self, guint64 milliseconds)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->time_limit_ms = milliseconds;
}

/**
 * iris_request_set_grace:
 * @milliseconds: from SIGTERM to SIGKILL, when it is cancelled or its time is over
 *
 * Sets how long the command has to clean up, instead of what irisd's configuration says.
 */
void
iris_request_set_grace (IrisRequest *self, guint64 milliseconds)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->grace_ms = milliseconds;
  self->has_grace = TRUE;
}

/**
 * iris_request_set_hook:
 * @hook: (array zero-terminated=1) (nullable): a program and its arguments
 *
 * Has irisd run a command when the item has ended, with irisd's rights and what became of the item
 * in the environment: `IRIS_ITEM`, `IRIS_SERVICE`, `IRIS_OUTCOME` (`done`, `failed`, `cancelled` or
 * `buried`), and, where there is one, `IRIS_EXIT_STATUS`, `IRIS_SIGNAL` and `IRIS_MESSAGE`. For
 * users that may run commands. It is run at most once for an end, and not for an item that is
 * cancelled before it runs.
 */
void
iris_request_set_hook (IrisRequest *self, const char *const *hook)
{
  g_return_if_fail (self != NULL && !self->sealed);

  g_strfreev (self->hook);
  self->hook = g_strdupv ((char **) hook);
}

/**
 * iris_request_set_keep_output:
 * @bytes: how much of its output is kept; 0 for none
 * @tail_only: whether of a longer output only its end is kept, not also its beginning
 *
 * Sets how much of the output of a persistent command irisd keeps, for
 * [method@IrisClient.Client.follow_async]. Without it, and at most, it is irisd's limit
 * `keep-output`.
 */
void
iris_request_set_keep_output (IrisRequest *self, guint64 bytes, gboolean tail_only)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->keep_output = bytes;
  self->has_keep_output = TRUE;
  self->keep_tail = tail_only;
}

/**
 * iris_request_set_output_func:
 * @func: (nullable) (scope notified) (closure user_data) (destroy destroy): takes the output, in
 *   the client's main context
 * @user_data: for @func
 * @destroy: (nullable): frees @user_data
 *
 * Has the output of the command come while it runs, in the order in which each of its two streams
 * was written. The result then has no body. No more than a quarter of a megabyte is under way.
 */
void
iris_request_set_output_func (IrisRequest *self,
                              IrisRequestOutputFunc func,
                              gpointer user_data,
                              GDestroyNotify destroy)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->output = func;
  iris_request_set_data (&self->output_data, user_data, destroy);
}

/**
 * iris_request_set_progress_func:
 * @func: (nullable) (scope notified) (closure user_data) (destroy destroy): is told, in the
 * client's main context
 * @user_data: for @func
 * @destroy: (nullable): frees @user_data
 *
 * Asks to be told how far the item is, by worker processes that tell so
 * ([method@IrisClient.Lease.report]). Not each report comes: one that is soon out of date may be
 * passed over.
 */
void
iris_request_set_progress_func (IrisRequest *self,
                                IrisRequestProgressFunc func,
                                gpointer user_data,
                                GDestroyNotify destroy)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->progress = func;
  iris_request_set_data (&self->progress_data, user_data, destroy);
}

/**
 * iris_request_set_part_func:
 * @func: (nullable) (scope notified) (closure user_data) (destroy destroy): takes the parts, in the
 *   client's main context
 * @user_data: for @func
 * @destroy: (nullable): frees @user_data
 *
 * Has parts of the result come while a worker process works on the item
 * ([method@IrisClient.Lease.send_part]), in their order and before its end. Whether the result
 * repeats them is up to the service. No more than a quarter of a megabyte is under way. A
 * persistent item cannot have parts.
 */
void
iris_request_set_part_func (IrisRequest *self,
                            IrisRequestPartFunc func,
                            gpointer user_data,
                            GDestroyNotify destroy)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->part = func;
  iris_request_set_data (&self->part_data, user_data, destroy);
}

void
iris_request_tell_accepted (IrisRequest *self, guint64 item)
{
  self->item = item;
  if (self->accepted != NULL)
    self->accepted (self, item, self->accepted_data.data);
}

/**
 * iris_request_set_delay:
 * @delay_ms: milliseconds, counted from when irisd accepts the item; 0 for none
 *
 * Has the item not run before that, by a clock that cannot be set.
 */
void
iris_request_set_delay (IrisRequest *self, guint64 delay_ms)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->delay_ms = delay_ms;
  self->has_delay = TRUE;
}

/**
 * iris_request_set_time:
 * @at_ms: milliseconds since 1970 (UTC), or -1 for none
 *
 * Has the item not run before that time of day. If the clock is set meanwhile, it is the new one
 * that counts. A time that has passed is no hindrance.
 */
void
iris_request_set_time (IrisRequest *self, gint64 at_ms)
{
  g_return_if_fail (self != NULL && !self->sealed);
  g_return_if_fail (at_ms >= -1);

  self->at_ms = at_ms;
}

/**
 * iris_request_set_priority:
 * @priority: 0 to 9, or -1 for the usual one, 5
 *
 * Where irisd has more items than it can run, those of higher priority come first. An item gains a
 * level for each second that it waits (irisd's limit `aging-ms`), so none waits for ever.
 */
void
iris_request_set_priority (IrisRequest *self, int priority)
{
  g_return_if_fail (self != NULL && !self->sealed);
  g_return_if_fail (priority >= -1 && priority <= 9);

  self->priority = priority;
}

/**
 * iris_request_set_queue:
 * @queue: (nullable): the name of a queue of irisd; empty in a change of an item: none
 *
 * Has the item wait in a named queue, which runs only so many of its items at once as
 * [method@IrisClient.Client.set_queue_async] says. An item without a priority has that of the
 * queue. irisd refuses an item with %IRIS_CLIENT_ERROR_BAD_ARGUMENT if there is no such queue.
 */
void
iris_request_set_queue (IrisRequest *self, const char *queue)
{
  g_return_if_fail (self != NULL && !self->sealed);

  iris_request_replace (&self->queue, queue);
}

/**
 * iris_request_set_after:
 * @items: (array length=n_items) (nullable): numbers of items, as
 *   [method@IrisClient.Request.get_item] gives them
 * @n_items: how many
 * @how: for which of them it waits
 *
 * Has the item not run before others have ended, of this client or of another. irisd refuses it if
 * it does not know one of them.
 */
void
iris_request_set_after (IrisRequest *self,
                        const guint64 *items,
                        gsize n_items,
                        IrisRequestAfter how)
{
  g_return_if_fail (self != NULL && !self->sealed);
  g_return_if_fail (items != NULL || n_items == 0);
  g_return_if_fail (how >= IRIS_REQUEST_AFTER_ALL && how <= IRIS_REQUEST_AFTER_SUCCESS);

  g_return_if_fail (n_items <= G_MAXUINT);
  g_free (self->after);
  self->after_how = how;
  self->after = g_memdup2 (items, n_items * sizeof *items);
  self->n_after = (guint) n_items;
}

/**
 * iris_request_set_after_away:
 * @items: (array zero-terminated=1) (nullable): items of other nodes of the cluster, each as
 *   `NODE/ITEM`: the node's name, and the item's number there
 *
 * Has the item not run before these have ended, beside those of
 * [method@IrisClient.Request.set_after], which also tells for which of all of them it waits. They
 * have to be persistent ones. While a node does not answer the item waits; the function of
 * [method@IrisClient.Request.set_progress_func] is told so. If a node has no such item, the item
 * fails.
 */
void
iris_request_set_after_away (IrisRequest *self, const char *const *items)
{
  g_return_if_fail (self != NULL && !self->sealed);

  g_strfreev (self->after_away);
  self->after_away = g_strdupv ((char **) items);
}

/**
 * iris_request_set_retries:
 * @retries: how often at most; 0 for never
 *
 * Has the item tried again when its service fails, when it runs too long, and, of a command, when
 * it exits with another status than 0 or is killed.
 */
void
iris_request_set_retries (IrisRequest *self, guint retries)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->retries = retries;
  self->has_retries = TRUE;
}

/**
 * iris_request_set_backoff:
 * @backoff_ms: milliseconds
 *
 * Sets the pause before the item is tried again for the first time; a second, if this is not
 * called. It doubles each time, and up to half of it is left to chance. Without retries it means
 * nothing.
 */
void
iris_request_set_backoff (IrisRequest *self, guint64 backoff_ms)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->backoff_ms = backoff_ms;
  self->has_backoff = TRUE;
}

/**
 * iris_request_set_time_to_run:
 * @time_to_run_ms: milliseconds; 0 for as long as it likes
 *
 * Has a run of the item stopped after that time, as by cancelling it. It counts as failed.
 */
void
iris_request_set_time_to_run (IrisRequest *self, guint64 time_to_run_ms)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->time_to_run_ms = time_to_run_ms;
}

/**
 * iris_request_set_deadline:
 * @deadline_ms: milliseconds after irisd has accepted it; 0 for none
 *
 * Has the item fail with %IRIS_CLIENT_ERROR_DEADLINE_PASSED if it has not begun by then, whatever
 * it waits for. It is not tried again after its deadline either.
 */
void
iris_request_set_deadline (IrisRequest *self, guint64 deadline_ms)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->deadline_ms = deadline_ms;
}

/**
 * iris_request_set_wait_for_service:
 * @wait_for_service: whether irisd is to take the item although it does not know the service
 *
 * Lets the item wait for the first worker process that serves it. One that irisd keeps waits until
 * its deadline, or for ever without one; another one for as long as irisd's `worker-wait-ms` says.
 */
void
iris_request_set_wait_for_service (IrisRequest *self, gboolean wait_for_service)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->wait_for_service = wait_for_service;
}

/**
 * iris_request_set_accepted_func:
 * @func: (nullable) (scope notified) (closure user_data) (destroy destroy): called in the client's
 *   context when irisd has accepted the item
 * @user_data: for @func
 * @destroy: (nullable): called when @user_data is not needed any more
 *
 * Has irisd say at once that it has accepted the item, and under which number. That costs a
 * message; without it the number comes with the result.
 */
void
iris_request_set_accepted_func (IrisRequest *self,
                                IrisRequestAcceptedFunc func,
                                gpointer user_data,
                                GDestroyNotify destroy)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->accepted = func;
  iris_request_set_data (&self->accepted_data, user_data, destroy);
}

/**
 * iris_request_get_item:
 *
 * Gets the number that irisd gave the item: what [method@IrisClient.Request.set_after] takes.
 *
 * Returns: the number, or 0 if irisd has not told one; see
 *   [method@IrisClient.Request.set_accepted_func]
 */
guint64
iris_request_get_item (IrisRequest *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->item;
}

/**
 * iris_request_get_service:
 *
 * Gets the service that is to work on it.
 *
 * Returns: (transfer none): the name of the service
 */
const char *
iris_request_get_service (IrisRequest *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->service;
}

/**
 * iris_request_get_path:
 *
 * Gets the file that it is about, or %NULL if it is about none.
 *
 * Returns: (transfer none) (nullable) (type filename): the file to work on
 */
const char *
iris_request_get_path (IrisRequest *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->path;
}

/**
 * iris_request_get_id:
 *
 * Gets the id under which the request was last submitted, as 32 hexadecimal digits: what
 * [method@IrisClient.Client.cancel_async] and `irisctl cancel` take.
 *
 * Returns: (transfer none) (nullable): the id, or %NULL if it was not submitted yet
 */
const char *
iris_request_get_id (IrisRequest *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->id;
}

/* From here on the request cannot be changed. */
void
iris_request_seal (IrisRequest *self, const guint8 id[IRIS_REQUEST_ID_SIZE])
{
  static const char digits[] = "0123456789abcdef";

  if (self->id == NULL)
    self->id = g_malloc (2 * IRIS_REQUEST_ID_SIZE + 1);
  for (gsize i = 0; i < IRIS_REQUEST_ID_SIZE; i++)
    {
      self->id[2 * i] = digits[id[i] >> 4];
      self->id[2 * i + 1] = digits[id[i] & 15];
    }
  self->id[2 * IRIS_REQUEST_ID_SIZE] = '\0';
  self->sealed = TRUE;
}
