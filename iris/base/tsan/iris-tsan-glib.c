/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GLib's synchronisation, told to ThreadSanitizer. Empty in every other build.
 *
 * A distribution's GLib is not instrumented: its GMutex is a futex that the sanitizer never sees,
 * and so are its queues, its main contexts and its reference counts. Two remedies are common and
 * both are wrong here: to suppress reports that mention GLib (a callback that GLib calls has GLib
 * in its stack, so our own races would go too), or to suppress files of ours.
 *
 * Instead this file defines the functions themselves. The definitions stand before GLib's in the
 * order of symbol lookup, so our code, libgobject and libgio call these; each tells the sanitizer
 * about the edge and calls the original (RTLD_NEXT). What GLib calls inside itself stays unseen,
 * hence functions that end in such a call (g_idle_add(), say) are made here from public parts.
 * What is left, memory that GLib passes about among its own threads, is for the suppression file
 * tests/checks/tsan.supp: it names libraries (called_from_lib), never a file of ours. Main contexts
 * are in iris-tsan-context.c.
 *
 * Every edge that is claimed here is one that GLib documents or cannot work without:
 *
 * - lock and unlock: mutex, recursive mutex, read-write lock, condition, bit;
 * - push happens before pop: GAsyncQueue, GThreadPool;
 * - initialised happens before use: g_once, g_once_init_leave, a type's class_init;
 * - every unref happens before the free: GObject, GBytes, ...
 *
 * G_SLICE=always-malloc must be set (the test environment does): the slice allocator of GLib 2.74
 * hands memory from thread to thread, which the sanitizer must see as free and malloc.
 */
#include "iris/base/tsan/iris-tsan-next-private.h"

#ifdef IRIS_THREAD_SANITIZER

#include <gio/gio.h>
#include <pthread.h>
#include <sanitizer/tsan_interface.h>
#include <stdlib.h>

/* Found by the dynamic linker, whatever the default visibility is. */
#pragma GCC visibility push(default)

/* --- locks --- */

#define LOCK(name, Type, flags)              \
  void name (Type *lock)                     \
  {                                          \
    __tsan_mutex_pre_lock (lock, flags);     \
    NEXT (name) (lock);                      \
    __tsan_mutex_post_lock (lock, flags, 0); \
  }

#define TRYLOCK(name, Type, flags)                                                      \
  gboolean name (Type *lock)                                                            \
  {                                                                                     \
    unsigned how = (flags) | __tsan_mutex_try_lock;                                     \
    gboolean taken;                                                                     \
    __tsan_mutex_pre_lock (lock, how);                                                  \
    taken = NEXT (name) (lock);                                                         \
    __tsan_mutex_post_lock (lock, taken ? how : how | __tsan_mutex_try_lock_failed, 0); \
    return taken;                                                                       \
  }

#define UNLOCK(name, Type, flags)           \
  void name (Type *lock)                    \
  {                                         \
    __tsan_mutex_pre_unlock (lock, flags);  \
    NEXT (name) (lock);                     \
    __tsan_mutex_post_unlock (lock, flags); \
  }

#define CLEAR(name, Type)           \
  void name (Type *lock)            \
  {                                 \
    __tsan_mutex_destroy (lock, 0); \
    NEXT (name) (lock);             \
  }

LOCK (g_mutex_lock, GMutex, 0)
TRYLOCK (g_mutex_trylock, GMutex, 0)
UNLOCK (g_mutex_unlock, GMutex, 0)
CLEAR (g_mutex_clear, GMutex)

LOCK (g_rec_mutex_lock, GRecMutex, __tsan_mutex_write_reentrant)
TRYLOCK (g_rec_mutex_trylock, GRecMutex, __tsan_mutex_write_reentrant)
UNLOCK (g_rec_mutex_unlock, GRecMutex, __tsan_mutex_write_reentrant)
CLEAR (g_rec_mutex_clear, GRecMutex)

LOCK (g_rw_lock_writer_lock, GRWLock, 0)
TRYLOCK (g_rw_lock_writer_trylock, GRWLock, 0)
UNLOCK (g_rw_lock_writer_unlock, GRWLock, 0)
LOCK (g_rw_lock_reader_lock, GRWLock, __tsan_mutex_read_lock)
TRYLOCK (g_rw_lock_reader_trylock, GRWLock, __tsan_mutex_read_lock)
UNLOCK (g_rw_lock_reader_unlock, GRWLock, __tsan_mutex_read_lock)
CLEAR (g_rw_lock_clear, GRWLock)

void
g_cond_wait (GCond *cond, GMutex *mutex)
{
  __tsan_mutex_pre_unlock (mutex, 0);
  __tsan_mutex_post_unlock (mutex, 0);
  NEXT (g_cond_wait) (cond, mutex);
  __tsan_mutex_pre_lock (mutex, 0);
  __tsan_mutex_post_lock (mutex, 0, 0);
}

gboolean
g_cond_wait_until (GCond *cond, GMutex *mutex, gint64 end_time)
{
  gboolean signalled;

  __tsan_mutex_pre_unlock (mutex, 0);
  __tsan_mutex_post_unlock (mutex, 0);
  signalled = NEXT (g_cond_wait_until) (cond, mutex, end_time);
  __tsan_mutex_pre_lock (mutex, 0);
  __tsan_mutex_post_lock (mutex, 0, 0);
  return signalled;
}

void
g_bit_lock (volatile gint *address, gint bit)
{
  NEXT (g_bit_lock) (address, bit);
  iris_tsan_acquire (address);
}

void
g_bit_unlock (volatile gint *address, gint bit)
{
  iris_tsan_release (address);
  NEXT (g_bit_unlock) (address, bit);
}

/* --- initialised once --- */

/* Readers use an atomic load of the same address, which is inline and therefore seen. */
#undef g_once_init_leave
void
g_once_init_leave (volatile void *location, gsize result)
{
  iris_tsan_release (location);
  NEXT (g_once_init_leave) (location, result);
}

typedef struct
{
  GOnce *once;
  GThreadFunc func;
  gpointer arg;
} OnceCall;

static gpointer
once_call (gpointer data)
{
  OnceCall *call = data;
  gpointer result = call->func (call->arg);

  iris_tsan_release (call->once);
  return result;
}

gpointer
g_once_impl (GOnce *once, GThreadFunc func, gpointer arg)
{
  OnceCall call = { once, func, arg };
  gpointer result = NEXT (g_once_impl) (once, once_call, &call);

  iris_tsan_acquire (once);
  return result;
}

/*
 * A class is initialised by whichever thread is first, under a lock of libgobject. A lock that is
 * seen goes around it, but only the first time a thread uses a type, lest every object made orders
 * the threads that make them.
 */
gpointer
g_type_class_ref (GType type)
{
  static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  static _Thread_local GType seen[256];
  GType *slot = &seen[(type >> 4) % G_N_ELEMENTS (seen)];
  gpointer klass;

  if (*slot == type)
    return NEXT (g_type_class_ref) (type);

  pthread_mutex_lock (&lock);
  klass = NEXT (g_type_class_ref) (type);
  pthread_mutex_unlock (&lock);
  *slot = type;
  return klass;
}

gpointer
g_object_new (GType type, const gchar *first_property, ...)
{
  gpointer klass = g_type_class_ref (type);
  gpointer object;
  va_list arguments;

  va_start (arguments, first_property);
  object = g_object_new_valist (type, first_property, arguments);
  va_end (arguments);
  g_type_class_unref (klass);
  return object;
}

GObject *
g_object_new_with_properties (GType type, guint n, const char *names[], const GValue values[])
{
  gpointer klass = g_type_class_ref (type);
  GObject *object = NEXT (g_object_new_with_properties) (type, n, names, values);

  g_type_class_unref (klass);
  return object;
}

/* --- queues and pools --- */

#define PUSH(name)                              \
  void name (GAsyncQueue *queue, gpointer data) \
  {                                             \
    iris_tsan_release (queue);                  \
    NEXT (name) (queue, data);                  \
  }

#define POP(name)                        \
  gpointer name (GAsyncQueue *queue)     \
  {                                      \
    gpointer data = NEXT (name) (queue); \
    iris_tsan_acquire (queue);           \
    return data;                         \
  }

/* The lock is given away while it waits. */
#define WAITING_POP(name)            \
  gpointer name (GAsyncQueue *queue) \
  {                                  \
    gpointer data;                   \
    iris_tsan_release (queue);       \
    data = NEXT (name) (queue);      \
    iris_tsan_acquire (queue);       \
    return data;                     \
  }

#define TIMEOUT_POP(name)                          \
  gpointer name (GAsyncQueue *queue, guint64 wait) \
  {                                                \
    gpointer data = NEXT (name) (queue, wait);     \
    iris_tsan_acquire (queue);                     \
    return data;                                   \
  }

PUSH (g_async_queue_push)
PUSH (g_async_queue_push_unlocked)
PUSH (g_async_queue_push_front)
PUSH (g_async_queue_push_front_unlocked)
POP (g_async_queue_pop)
WAITING_POP (g_async_queue_pop_unlocked)
POP (g_async_queue_try_pop)
POP (g_async_queue_try_pop_unlocked)
TIMEOUT_POP (g_async_queue_timeout_pop)
TIMEOUT_POP (g_async_queue_timeout_pop_unlocked)

/* Not as locks: g_async_queue_pop_unlocked() gives the lock away while it waits. */
void
g_async_queue_lock (GAsyncQueue *queue)
{
  NEXT (g_async_queue_lock) (queue);
  iris_tsan_acquire (queue);
}

void
g_async_queue_unlock (GAsyncQueue *queue)
{
  iris_tsan_release (queue);
  NEXT (g_async_queue_unlock) (queue);
}

typedef struct
{
  GFunc func;
  gpointer user_data;
} PoolCall;

static void
pool_call (gpointer data, gpointer user_data)
{
  PoolCall *call = user_data;

  iris_tsan_acquire (call);
  call->func (data, call->user_data);
  iris_tsan_release (call);
}

/* The PoolCall lives as long as the process: a pool's last thread may outlive the pool. */
GThreadPool *
g_thread_pool_new_full (GFunc func,
                        gpointer user_data,
                        GDestroyNotify item_free,
                        gint max_threads,
                        gboolean exclusive,
                        GError **error)
{
  PoolCall *call = malloc (sizeof *call);

  call->func = func;
  call->user_data = user_data;
  return NEXT (g_thread_pool_new_full) (pool_call, call, item_free, max_threads, exclusive, error);
}

GThreadPool *
g_thread_pool_new (GFunc func,
                   gpointer user_data,
                   gint max_threads,
                   gboolean exclusive,
                   GError **error)
{
  return g_thread_pool_new_full (func, user_data, NULL, max_threads, exclusive, error);
}

gboolean
g_thread_pool_push (GThreadPool *pool, gpointer data, GError **error)
{
  iris_tsan_release (pool->user_data);
  return NEXT (g_thread_pool_push) (pool, data, error);
}

void
g_thread_pool_free (GThreadPool *pool, gboolean immediate, gboolean wait)
{
  gpointer call = pool->user_data;

  NEXT (g_thread_pool_free) (pool, immediate, wait);
  if (wait)
    iris_tsan_acquire (call);
}

/* --- reference counts --- */

/*
 * What any thread did before dropping a reference happens before the last one frees. A count that
 * is hidden leaves a gap: a thread that drops its reference between the acquire and the call of the
 * last one is missed. What iris frees itself when a count has gone takes its edge there, below.
 */
#define UNREF(name, Type)       \
  void name (Type object)       \
  {                             \
    iris_tsan_release (object); \
    iris_tsan_acquire (object); \
    NEXT (name) (object);       \
  }

UNREF (g_bytes_unref, GBytes *)
UNREF (g_ptr_array_unref, GPtrArray *)
UNREF (g_array_unref, GArray *)
UNREF (g_byte_array_unref, GByteArray *)
UNREF (g_hash_table_unref, GHashTable *)
UNREF (g_async_queue_unref, GAsyncQueue *)
UNREF (g_main_loop_unref, GMainLoop *)
UNREF (g_main_context_unref, GMainContext *)
UNREF (g_source_unref, GSource *)
UNREF (g_variant_unref, GVariant *)
UNREF (g_key_file_unref, GKeyFile *)

/* Bytes are what threads share, and they free by a function of iris: there each drop has been. */
typedef struct
{
  GBytes *bytes;
  GDestroyNotify free_func;
  gpointer data;
} BytesCall;

static void
bytes_call (gpointer data)
{
  BytesCall *call = data;

  iris_tsan_acquire (call);
  iris_tsan_acquire (call->bytes);
  call->free_func (call->data);
  free (call);
}

GBytes *
g_bytes_new_with_free_func (gconstpointer bytes,
                            gsize size,
                            GDestroyNotify free_func,
                            gpointer data)
{
  BytesCall *call;

  if (free_func == NULL)
    return NEXT (g_bytes_new_with_free_func) (bytes, size, free_func, data);
  call = malloc (sizeof *call);
  call->free_func = free_func;
  call->data = data;
  call->bytes = NEXT (g_bytes_new_with_free_func) (bytes, size, bytes_call, call);
  iris_tsan_release (call);
  return call->bytes;
}

/* The function that the present release of a box ends with, for the time until it is called. */
static _Thread_local GDestroyNotify box_clear;

static void
box_call (gpointer box)
{
  GDestroyNotify clear = box_clear;

  iris_tsan_acquire (box);
  if (clear)
    clear (box);
}

void
g_atomic_rc_box_release_full (gpointer box, GDestroyNotify clear)
{
  iris_tsan_release (box);
  box_clear = clear;
  NEXT (g_atomic_rc_box_release_full) (box, box_call);
}

void
g_atomic_rc_box_release (gpointer box)
{
  g_atomic_rc_box_release_full (box, NULL);
}

/*
 * An object's count can be seen, so its edge can stand where it is: what others did is acquired
 * once this thread is the only holder. (Acquired sooner, it would miss one that drops its reference
 * between here and the call.) What a thread does with a reference that it gets from a weak one and
 * drops, all between the look at the count and the call, is still missed. A reference that is not
 * the last is dropped here; there are no toggle references in our programs, which the original
 * would tell of it.
 */
void
g_object_unref (gpointer object)
{
  gint *count = (gint *) &((GObject *) object)->ref_count;
  gint held;

  iris_tsan_release (object);
  while ((held = g_atomic_int_get (count)) > 1)
    if (g_atomic_int_compare_and_exchange (count, held, held - 1))
      return;
  iris_tsan_acquire (object);
  NEXT (g_object_unref) (object);
}

#undef g_atomic_ref_count_dec
gboolean
g_atomic_ref_count_dec (gatomicrefcount *count)
{
  gboolean last;

  iris_tsan_release (count);
  last = NEXT (g_atomic_ref_count_dec) (count);
  if (last)
    iris_tsan_acquire (count);
  return last;
}

void
g_weak_ref_set (GWeakRef *weak_ref, gpointer object)
{
  iris_tsan_release (weak_ref);
  NEXT (g_weak_ref_set) (weak_ref, object);
}

gpointer
g_weak_ref_get (GWeakRef *weak_ref)
{
  gpointer object = NEXT (g_weak_ref_get) (weak_ref);

  iris_tsan_acquire (weak_ref);
  return object;
}

void
g_cancellable_cancel (GCancellable *cancellable)
{
  if (cancellable)
    iris_tsan_release (cancellable);
  NEXT (g_cancellable_cancel) (cancellable);
}

gboolean
g_cancellable_is_cancelled (GCancellable *cancellable)
{
  gboolean cancelled = NEXT (g_cancellable_is_cancelled) (cancellable);

  if (cancelled)
    iris_tsan_acquire (cancellable);
  return cancelled;
}

/* --- memory --- */

/* As in GLib since 2.46; here so that a free that races with a use of ours is found. */
void
g_free (gpointer memory)
{
  free (memory);
}

#pragma GCC visibility pop

#endif
