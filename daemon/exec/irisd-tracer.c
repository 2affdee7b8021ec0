/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tracer: the thread that makes a time line of the workers for a client that asked for one.
 *
 * A gateway begins a trace; its thread sleeps until the time is over, has the scheduler write what
 * its workers noted, and posts it to the gateway. Writing takes a tenth of a second and more, in
 * which a gateway could not serve others. There is one trace at a time, because the scheduler has
 * one. The thread is made for a trace and joined when the next one begins, or when irisd ends.
 */
#include "daemon/exec/irisd-tracer.h"

#include <gio/gio.h>
#include <string.h>

/* Events that are kept, of all workers together: some 50 MiB of JSON, when the rings are full. */
#define MOST_EVENTS (512 * 1024)

struct _IrisdTracer
{
  pthread_mutex_t lock; /* a POSIX mutex, because ThreadSanitizer knows those */
  pthread_cond_t changed;
  IrisdCore *core;
  IrisdTrace *trace; /* that is being made */
  gint64 until_us;
  gboolean stopping;
  GThread *thread;
};

IrisdTrace *
irisd_trace_new (IrisdMailbox *home, IrisdPeer *peer, const IrisWireMessage *request)
{
  IrisdTrace *self = g_new0 (IrisdTrace, 1);
  self->message.kind = IRISD_MESSAGE_TRACE;
  self->home = home;
  self->peer = irisd_peer_ref (peer);
  self->wait_ms = request->wait_ms;
  memcpy (self->request_id, request->request_id, IRIS_WIRE_ID_SIZE);
  return self;
}

/* For the gateway's thread, or after its end. */
void
irisd_trace_free (IrisdTrace *self)
{
  irisd_peer_unref (self->peer);
  g_clear_pointer (&self->text, g_bytes_unref);
  g_clear_error (&self->error);
  g_free (self);
}

IrisdTracer *
irisd_tracer_new (IrisdCore *core)
{
  IrisdTracer *self = g_new0 (IrisdTracer, 1);
  pthread_condattr_t attributes;
  pthread_condattr_init (&attributes);
  pthread_condattr_setclock (&attributes, CLOCK_MONOTONIC);
  pthread_cond_init (&self->changed, &attributes);
  pthread_condattr_destroy (&attributes);
  pthread_mutex_init (&self->lock, NULL);
  self->core = core;
  return self;
}

static void
write_trace (IrisdTracer *self, IrisdTrace *trace)
{
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  IrisScheduler *scheduler = self->core->scheduler;
  iris_scheduler_trace_stop (scheduler);
  if (!iris_scheduler_trace_write (scheduler, stream, NULL, &trace->error)
      || !g_output_stream_close (stream, NULL, &trace->error))
    return;
  trace->text = g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (stream));
}

static gpointer
run_thread (gpointer data)
{
  IrisdTracer *self = data;
  pthread_mutex_lock (&self->lock);
  const struct timespec until = { .tv_sec = self->until_us / G_USEC_PER_SEC,
                                  .tv_nsec = self->until_us % G_USEC_PER_SEC * 1000 };
  while (!self->stopping && g_get_monotonic_time () < self->until_us)
    pthread_cond_timedwait (&self->changed, &self->lock, &until);
  IrisdTrace *trace = self->trace;
  pthread_mutex_unlock (&self->lock);

  write_trace (self, trace);
  pthread_mutex_lock (&self->lock);
  self->trace = NULL;
  pthread_mutex_unlock (&self->lock);
  irisd_mailbox_post (trace->home, &trace->message);
  return NULL;
}

/* Returns a code of irisd's for an error of the scheduler's. */
static void
name_failure (GError **error)
{
  if (error != NULL && *error != NULL)
    {
      (*error)->domain = IRIS_WIRE_ERROR;
      (*error)->code = IRIS_WIRE_ERROR_BAD_ARGUMENT;
    }
}

static gboolean
start (IrisdTracer *self, IrisdTrace *trace, GError **error)
{
  const guint n_workers = MAX (iris_scheduler_get_n_workers (self->core->scheduler), 1);
  if (!iris_scheduler_trace_start (self->core->scheduler, MOST_EVENTS / n_workers, error))
    {
      name_failure (error);
      return FALSE;
    }
  self->trace = trace;
  self->until_us = g_get_monotonic_time () + (gint64) trace->wait_ms * 1000;
  self->thread = g_thread_new ("irisd-trace", run_thread, self);
  return TRUE;
}

/* Takes @trace, unless it returns FALSE. It comes back to its gateway as a message, with the time
 * line of @wait_ms from now. */
gboolean
irisd_tracer_begin (IrisdTracer *self, IrisdTrace *trace, GError **error)
{
  pthread_mutex_lock (&self->lock);
  gboolean begun = FALSE;
  if (self->trace != NULL || self->stopping)
    g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BUSY,
                         "cannot begin a trace: another one is being made; ask again when it has "
                         "ended");
  else
    {
      /* It has posted its trace, or is about to, and takes no lock any more. */
      if (self->thread != NULL)
        g_thread_join (g_steal_pointer (&self->thread));
      begun = start (self, trace, error);
    }
  pthread_mutex_unlock (&self->lock);
  return begun;
}

/* Ends a trace before its time. The gateways still exist. */
void
irisd_tracer_stop (IrisdTracer *self)
{
  pthread_mutex_lock (&self->lock);
  self->stopping = TRUE;
  pthread_cond_broadcast (&self->changed);
  pthread_mutex_unlock (&self->lock);
  if (self->thread != NULL)
    g_thread_join (g_steal_pointer (&self->thread));
}

void
irisd_tracer_free (IrisdTracer *self)
{
  if (self == NULL)
    return;
  pthread_cond_destroy (&self->changed);
  pthread_mutex_destroy (&self->lock);
  g_free (self);
}
