/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is asked of the servers to go on with a schedule, and what they answer.
 *
 * All is asked of leaders. The head has the same bytes as the copy, so a host can store the copy of
 * another one that was killed before it could.
 */
#include "irisd-chain-request.h"

#include "irisd-away-message.h"
#include "irisd-later.h"

#include "daemon/base/irisd-log.h"
#include "daemon/cluster/engine/irisd-engine-parse.h"

#include <string.h>

/* Questions without an answer, if a right may be missing. */
#define MOST_TRIES 2

void
irisd_chain_request_init (IrisdChainRequest *self,
                          const IrisdBridgeShared *shared,
                          const char *home,
                          const guint8 *chain,
                          guint64 run_ms,
                          IrisdChainRequestFunc go_on)
{
  self->shared = shared;
  self->home = g_strdup (home);
  memcpy (self->chain, chain, IRIS_WIRE_ID_SIZE);
  irisd_chain_step_init (&self->step, run_ms);
  self->go_on = go_on;
}

static void
forget_found (IrisdChainRequest *self)
{
  if (self->has_found)
    irisd_run_chain_clear (&self->found);
  self->has_found = FALSE;
}

void
irisd_chain_request_clear (IrisdChainRequest *self)
{
  forget_found (self);
  g_free (self->home);
  g_free (self->work);
  g_free (self->message);
}

static char *
get_subject (const IrisdChainRequest *self, gboolean head)
{
  char text[IRISD_ITEM_TEXT_SIZE];

  irisd_item_to_text (self->chain, text);
  return head ? irisd_subject_for_head (self->home, text)
              : irisd_subject_for_next (self->home, text);
}

/* The name of the run at `due_ms`. */
static void
get_run (const IrisdChainRequest *self, guint8 *run)
{
  irisd_run_chain_get_run (self->chain, self->step.due_ms, run);
}

/* --- answers ---------------------------------------------------------------------------------- */

/* There is no answer, as to a question that the servers refuse. */
static IrisdChainAnswer
doubt (IrisdChainRequest *self)
{
  IrisdEngine *engine = self->shared->engine;
  static IrisdLogSite site;

  if (irisd_engine_get_trouble (engine) != IRISD_ENGINE_TROUBLE_RIGHT
      || ++self->n_silent < MOST_TRIES)
    return IRISD_CHAIN_SILENT;
  irisd_log_each_minute (&site, IRISD_LOG_WARNING,
                         "a schedule of the node %s makes no runs while that is down: this node "
                         "cannot store the next one: %s",
                         self->home, irisd_engine_get_last_error (engine));
  return IRISD_CHAIN_NEVER;
}

static IrisdChainAnswer
read_answer (IrisdChainRequest *self, JsonObject *reply, const GError *error)
{
  const gboolean answered = reply != NULL || error->domain == IRISD_JETSTREAM_ERROR;

  if (answered)
    self->n_silent = 0;
  if (reply != NULL)
    return IRISD_CHAIN_YES;
  if (g_error_matches (error, IRISD_JETSTREAM_ERROR, IRISD_JETSTREAM_MESSAGE_NOT_FOUND))
    return IRISD_CHAIN_NO;
  if (g_error_matches (error, IRISD_JETSTREAM_ERROR, IRISD_JETSTREAM_STREAM_NOT_FOUND))
    return IRISD_CHAIN_NEVER;
  return answered ? IRISD_CHAIN_SILENT : doubt (self);
}

/* Reads a message that was asked for. Returns its bytes, which are believed by their signature. */
static guint8 *
read_message (IrisdChainRequest *self,
              JsonObject *message,
              gsize *size,
              IrisdWorkMessage *run,
              IrisdRunChain *chain)
{
  const char *data = irisd_json_get_string (message, "data");
  g_autofree guint8 *bytes = data != NULL ? g_base64_decode (data, size) : NULL;

  if (bytes == NULL || !irisd_work_message_decode (run, bytes, *size, self->shared->secret, NULL)
      || !irisd_run_chain_read (chain, run->chain))
    return NULL;
  if (memcmp (chain->id, self->chain, IRIS_WIRE_ID_SIZE) == 0)
    return g_steal_pointer (&bytes);
  irisd_run_chain_clear (chain);
  return NULL;
}

/* A host is to store the copy that belongs to the head. */
static void
take_head (IrisdChainRequest *self, guint8 *bytes, gsize size, const IrisdWorkMessage *run)
{
  IrisWireMessage submit;

  if (self->step.run_ms == 0 || self->step.run_ms == self->found.due_ms
      || !irisd_work_message_open (run, &submit, NULL))
    return;
  g_free (self->work);
  g_free (self->message);
  self->work = irisd_away_make_subject (&submit);
  self->message = g_memdup2 (bytes, size);
  self->size = size;
  self->begin_ms = irisd_run_chain_get_begin (&self->found);
}

static void
on_head (IrisdEngine *engine, JsonObject *reply, const GError *error, gpointer user_data)
{
  IrisdChainRequest *self = user_data;
  JsonObject *message = reply != NULL ? irisd_json_get_object (reply, "message") : NULL;
  const guint64 sequence = message != NULL ? (guint64) irisd_json_get_int (message, "seq") : 0;
  IrisdChainAnswer answer = read_answer (self, reply, error);
  guint64 head_ms = IRISD_CHAIN_EMPTY;
  IrisdWorkMessage run;
  gsize size = 0;

  forget_found (self);
  if (answer == IRISD_CHAIN_YES && sequence == 0)
    answer = IRISD_CHAIN_SILENT;
  if (sequence > 0 && irisd_json_get_string (message, "data") != NULL)
    {
      g_autofree guint8 *bytes = read_message (self, message, &size, &run, &self->found);
      self->has_found = bytes != NULL;
      head_ms = bytes != NULL ? self->found.due_ms : IRISD_CHAIN_DAMAGED;
      if (bytes != NULL)
        take_head (self, bytes, size, &run);
    }
  irisd_chain_request_act (self, irisd_chain_step_head (&self->step, answer, sequence, head_ms));
}

static void
on_copy (IrisdEngine *engine, JsonObject *reply, const GError *error, gpointer user_data)
{
  IrisdChainRequest *self = user_data;
  JsonObject *message = reply != NULL ? irisd_json_get_object (reply, "message") : NULL;
  const guint64 sequence = message != NULL ? (guint64) irisd_json_get_int (message, "seq") : 0;
  IrisdChainAnswer answer = read_answer (self, reply, error);
  guint64 copy_ms = IRISD_CHAIN_DAMAGED;
  g_auto (IrisdRunChain) chain = { 0 };
  IrisdWorkMessage run;
  gsize size = 0;

  if (answer == IRISD_CHAIN_YES && sequence == 0)
    answer = IRISD_CHAIN_SILENT;
  if (sequence > 0)
    {
      g_autofree guint8 *bytes = read_message (self, message, &size, &run, &chain);
      copy_ms = bytes != NULL ? chain.due_ms : IRISD_CHAIN_DAMAGED;
    }
  irisd_chain_request_act (self, irisd_chain_step_copy (&self->step, answer, sequence, copy_ms));
}

static void
on_made (IrisdEngine *engine, JsonObject *reply, const GError *error, gpointer user_data)
{
  IrisdChainRequest *self = user_data;

  irisd_chain_request_act (self,
                           irisd_chain_step_made (&self->step, read_answer (self, reply, error)));
}

static IrisdChainAnswer
read_result (IrisdChainRequest *self, const IrisdPublishResult *result)
{
  static IrisdLogSite site;

  switch (result->status)
    {
    case IRISD_PUBLISH_STORED:
      return IRISD_CHAIN_YES;
    case IRISD_PUBLISH_DUPLICATE:
      return IRISD_CHAIN_BEFORE;
    case IRISD_PUBLISH_WRONG_SEQUENCE:
      return IRISD_CHAIN_NO;
    case IRISD_PUBLISH_REFUSED:
      irisd_log_each_minute (&site, IRISD_LOG_WARNING,
                             "the cluster does not keep the next run of a schedule, which makes "
                             "none while its node is down: %s; see irisctl cluster check",
                             result->text != NULL ? result->text : "no reason given");
      return IRISD_CHAIN_NEVER;
    case IRISD_PUBLISH_NO_QUORUM:
      return doubt (self);
    default:
      return IRISD_CHAIN_SILENT;
    }
}

static void
ignore_reply (IrisdEngine *engine, JsonObject *reply, const GError *error, gpointer user_data)
{
  /* What is left goes with the next one. */
}

/* The stream keeps what a head has replaced. */
static void
purge_heads (IrisdChainRequest *self)
{
  g_autofree char *subject = get_subject (self, TRUE);
  g_autofree char *request = g_strconcat ("$JS.API.STREAM.PURGE.", self->shared->later_stream,
                                          NULL);
  g_autofree char *json = g_strdup_printf ("{\"filter\":\"%s\",\"keep\":1}", subject);

  irisd_engine_request (self->shared->engine, request, json, 0, ignore_reply, NULL);
}

static void
on_put_head (IrisdEngine *engine, const IrisdPublishResult *result, gpointer user_data)
{
  IrisdChainRequest *self = user_data;

  if (result->status == IRISD_PUBLISH_STORED && !self->stopped)
    purge_heads (self);
  irisd_chain_request_act (
      self, irisd_chain_step_put_head (&self->step, read_result (self, result), result->sequence));
}

static void
on_put_copy (IrisdEngine *engine, const IrisdPublishResult *result, gpointer user_data)
{
  IrisdChainRequest *self = user_data;

  irisd_chain_request_act (
      self, irisd_chain_step_put_copy (&self->step, read_result (self, result), result->sequence));
}

static void
on_removed (IrisdEngine *engine, JsonObject *reply, const GError *error, gpointer user_data)
{
  IrisdChainRequest *self = user_data;

  irisd_chain_request_act (
      self, irisd_chain_step_removed (&self->step, read_answer (self, reply, error)));
}

/* --- questions -------------------------------------------------------------------------------- */

static void
ask (IrisdChainRequest *self,
     const char *stream,
     const char *subject,
     IrisdEngineReplyFunc callback)
{
  g_autofree char *request = g_strconcat ("$JS.API.STREAM.MSG.GET.", stream, NULL);
  g_autofree char *json = g_strdup_printf ("{\"last_by_subj\":\"%s\"}", subject);

  irisd_engine_request (self->shared->engine, request, json, 0, callback, self);
}

static void
ask_run (IrisdChainRequest *self, gboolean end)
{
  const IrisdBridgeShared *shared = self->shared;
  guint8 run[IRIS_WIRE_ID_SIZE];
  char text[IRISD_ITEM_TEXT_SIZE];

  get_run (self, run);
  irisd_item_to_text (run, text);
  g_autofree char *subject = end ? irisd_subject_for_end (self->home, text)
                                 : irisd_subject_for_any_due (text);
  ask (self, end ? shared->ends_stream : shared->later_stream, subject, on_made);
}

/* An empty one goes in time: what was due does by then. */
static void
put_head (IrisdChainRequest *self)
{
  const gboolean empty = self->step.wish == IRISD_CHAIN_DROP;
  g_autofree char *subject = get_subject (self, TRUE);
  const IrisdEngineHeader ttl = { "Nats-TTL", IRISD_LATER_TTL };
  const IrisdEnginePublication publication = {
    .subject = subject,
    .headers = &ttl,
    .n_headers = empty,
    .data = empty ? NULL : self->message,
    .length = empty ? 0 : self->size,
    .check_last = TRUE,
    .expected_last = self->step.head,
  };

  irisd_engine_publish (self->shared->engine, &publication, on_put_head, self);
}

static void
put_copy (IrisdChainRequest *self)
{
  const IrisdChainStep *step = &self->step;
  g_autofree char *subject = get_subject (self, FALSE);
  g_autofree char *condition = get_subject (self, step->copy == 0);
  guint8 run[IRIS_WIRE_ID_SIZE];
  char text[IRISD_ITEM_TEXT_SIZE];

  get_run (self, run);
  irisd_item_to_text (run, text);
  g_autofree char *id = g_strdup_printf ("next-%s-%s-%" G_GUINT64_FORMAT, self->home, text,
                                         step->head);
  const IrisdEnginePublication publication = {
    .subject = subject,
    .data = self->message,
    .length = self->size,
    .message_id = id,
  };

  irisd_later_store_next (self->shared, &publication, run, self->work, self->begin_ms, condition,
                          step->copy > 0 ? step->copy : step->head, on_put_copy, self);
}

static void
remove_copy (IrisdChainRequest *self)
{
  g_autofree char *subject = get_subject (self, FALSE);
  g_autofree char *request = g_strconcat ("$JS.API.STREAM.PURGE.", self->shared->later_stream,
                                          NULL);
  g_autofree char *json = g_strdup_printf ("{\"filter\":\"%s\"}", subject);

  irisd_engine_request (self->shared->engine, request, json, 0, on_removed, self);
}

/* Does what the step wants next. May free @self. */
void
irisd_chain_request_act (IrisdChainRequest *self, IrisdChainAction action)
{
  g_autofree char *subject = NULL;

  if (self->stopped)
    return;
  switch (action)
    {
    case IRISD_CHAIN_NOTHING:
      break;
    case IRISD_CHAIN_ASK_HEAD:
    case IRISD_CHAIN_ASK_COPY:
      subject = get_subject (self, action == IRISD_CHAIN_ASK_HEAD);
      ask (self, self->shared->later_stream, subject,
           action == IRISD_CHAIN_ASK_HEAD ? on_head : on_copy);
      break;
    case IRISD_CHAIN_PUT_HEAD:
      put_head (self);
      break;
    case IRISD_CHAIN_ASK_DUE:
    case IRISD_CHAIN_ASK_END:
      ask_run (self, action == IRISD_CHAIN_ASK_END);
      break;
    case IRISD_CHAIN_PUT_COPY:
      put_copy (self);
      break;
    case IRISD_CHAIN_REMOVE:
      remove_copy (self);
      break;
    default:
      self->go_on (self, action);
      break;
    }
}
