/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The synchronisation of GLib's main contexts, told to ThreadSanitizer: the second half of
 * iris-tsan-glib.c, which says why and how. Empty in every other build.
 *
 * The edges that are claimed here:
 *
 * - attach happens before dispatch: GSource, idle, timeout, g_main_context_invoke;
 * - one owner of a GMainContext after the other: acquire and release, functions of a GSource;
 * - quit happens before run returns: GMainLoop.
 */
#include "iris/base/tsan/iris-tsan-next-private.h"

#ifdef IRIS_THREAD_SANITIZER

#include <pthread.h>
#include <stdlib.h>

/* Found by the dynamic linker, whatever the default visibility is. */
#pragma GCC visibility push(default)

/*
 * The callback of a source, fetched by get() in the dispatching thread just before it is called:
 * the place to make the edge, whatever the callback's signature is.
 */
typedef struct
{
  _Atomic guint refs;
  GSourceFunc func;
  gpointer data;
  GDestroyNotify notify;
} SourceCall;

static void
source_call_ref (gpointer data)
{
  SourceCall *call = data;

  iris_tsan_acquire (call);
  atomic_fetch_add_explicit (&call->refs, 1, memory_order_relaxed);
}

static void
source_call_unref (gpointer data)
{
  SourceCall *call = data;

  iris_tsan_acquire (call);
  if (atomic_fetch_sub_explicit (&call->refs, 1, memory_order_acq_rel) > 1)
    return;
  if (call->notify)
    call->notify (call->data);
  free (call);
}

static void
source_call_get (gpointer data, GSource *source, GSourceFunc *func, gpointer *func_data)
{
  SourceCall *call = data;

  iris_tsan_acquire (source);
  *func = call->func;
  *func_data = call->data;
}

void
g_source_set_callback (GSource *source, GSourceFunc func, gpointer data, GDestroyNotify notify)
{
  static GSourceCallbackFuncs funcs = { source_call_ref, source_call_unref, source_call_get };
  SourceCall *call = malloc (sizeof *call);

  atomic_init (&call->refs, 1);
  call->func = func;
  call->data = data;
  call->notify = notify;
  iris_tsan_release (call);
  iris_tsan_release (source);
  g_source_set_callback_indirect (source, call, &funcs);
}

guint
g_source_attach (GSource *source, GMainContext *context)
{
  iris_tsan_release (source);
  return NEXT (g_source_attach) (source, context);
}

void
g_source_set_ready_time (GSource *source, gint64 ready_time)
{
  iris_tsan_release (source);
  NEXT (g_source_set_ready_time) (source, ready_time);
}

/*
 * Only the owner of a context calls the functions of its sources, and GLib passes the ownership on
 * under a lock; so they are ordered, whichever threads iterate the context. Iterating takes the
 * ownership inside GLib, where it is not seen. Hence each kind of source that is made outside of
 * GLib itself gets functions that tell of it and call the original ones. They are never freed: a
 * kind is a static table.
 */
typedef struct _Kind Kind;
struct _Kind
{
  GSourceFuncs funcs; /* first: what the source points at */
  const GSourceFuncs *original;
  Kind *next;
};

/* Behind what was done with the context, and with the source until it was attached. */
static GMainContext *
owner_begins (GSource *source)
{
  GMainContext *context = g_source_get_context (source);

  iris_tsan_acquire (context);
  iris_tsan_acquire (source);

  return context;
}

static gboolean
owner_prepare (GSource *source, gint *timeout)
{
  GMainContext *context = owner_begins (source);
  gboolean ready;

  ready = ((Kind *) source->source_funcs)->original->prepare (source, timeout);
  iris_tsan_release (context);

  return ready;
}

static gboolean
owner_check (GSource *source)
{
  GMainContext *context = owner_begins (source);
  gboolean ready;

  ready = ((Kind *) source->source_funcs)->original->check (source);
  iris_tsan_release (context);

  return ready;
}

static gboolean
owner_dispatch (GSource *source, GSourceFunc func, gpointer data)
{
  GMainContext *context = owner_begins (source);
  gboolean stays;

  stays = ((Kind *) source->source_funcs)->original->dispatch (source, func, data);
  iris_tsan_release (context);

  return stays;
}

static Kind *
kind_of (const GSourceFuncs *original)
{
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static Kind *kinds;
  Kind *kind;

  pthread_mutex_lock (&lock);
  for (kind = kinds; kind != NULL && kind->original != original;)
    kind = kind->next;
  if (kind == NULL)
    {
      kind = g_new (Kind, 1);
      kind->funcs = *original;
      if (original->prepare != NULL)
        kind->funcs.prepare = owner_prepare;
      if (original->check != NULL)
        kind->funcs.check = owner_check;
      kind->funcs.dispatch = owner_dispatch;
      kind->original = original;
      kind->next = kinds;
      kinds = kind;
    }
  pthread_mutex_unlock (&lock);

  return kind;
}

GSource *
g_source_new (GSourceFuncs *source_funcs, guint struct_size)
{
  return NEXT (g_source_new) (&kind_of (source_funcs)->funcs, struct_size);
}

gboolean
g_main_context_acquire (GMainContext *context)
{
  gboolean acquired = NEXT (g_main_context_acquire) (context);

  if (acquired)
    iris_tsan_acquire (context ? context : g_main_context_default ());
  return acquired;
}

void
g_main_context_release (GMainContext *context)
{
  iris_tsan_release (context ? context : g_main_context_default ());
  NEXT (g_main_context_release) (context);
}

static guint
add_source (GSource *source,
            GMainContext *context,
            gint priority,
            GSourceFunc func,
            gpointer data,
            GDestroyNotify notify)
{
  guint id;

  g_source_set_priority (source, priority);
  g_source_set_callback (source, func, data, notify);
  id = g_source_attach (source, context);
  g_source_unref (source);
  return id;
}

guint
g_idle_add_full (gint priority, GSourceFunc func, gpointer data, GDestroyNotify notify)
{
  return add_source (g_idle_source_new (), NULL, priority, func, data, notify);
}

guint
g_idle_add (GSourceFunc func, gpointer data)
{
  return g_idle_add_full (G_PRIORITY_DEFAULT_IDLE, func, data, NULL);
}

guint
g_timeout_add_full (gint priority,
                    guint interval,
                    GSourceFunc func,
                    gpointer data,
                    GDestroyNotify notify)
{
  return add_source (g_timeout_source_new (interval), NULL, priority, func, data, notify);
}

guint
g_timeout_add (guint interval, GSourceFunc func, gpointer data)
{
  return g_timeout_add_full (G_PRIORITY_DEFAULT, interval, func, data, NULL);
}

/* As GLib documents it: at once in the thread that owns the context or may, as a source elsewhere.
 */
void
g_main_context_invoke_full (GMainContext *context,
                            gint priority,
                            GSourceFunc func,
                            gpointer data,
                            GDestroyNotify notify)
{
  GMainContext *here = g_main_context_get_thread_default ();
  gboolean owner, acquired = FALSE;

  context = context ? context : g_main_context_default ();
  here = here ? here : g_main_context_default ();
  owner = g_main_context_is_owner (context);
  if (!owner && here == context)
    acquired = g_main_context_acquire (context);
  if (!owner && !acquired)
    {
      add_source (g_idle_source_new (), context, priority, func, data, notify);
      return;
    }

  while (func (data))
    ;
  if (acquired)
    g_main_context_release (context);
  if (notify)
    notify (data);
}

void
g_main_context_invoke (GMainContext *context, GSourceFunc func, gpointer data)
{
  g_main_context_invoke_full (context, G_PRIORITY_DEFAULT, func, data, NULL);
}

void
g_main_loop_run (GMainLoop *loop)
{
  NEXT (g_main_loop_run) (loop);
  iris_tsan_acquire (loop);
}

void
g_main_loop_quit (GMainLoop *loop)
{
  iris_tsan_release (loop);
  NEXT (g_main_loop_quit) (loop);
}

#pragma GCC visibility pop

#endif
