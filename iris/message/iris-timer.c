/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The timers' thread, and the order in which they are due.
 *
 * All timers and all deadlines of the process share the thread, so what it calls must be short and
 * must not wait for a port, a handler or a scheduler (iris_timers_here).
 *
 * Timers that are due later stand in a balanced tree, by time and then by the order in which they
 * were made; tree, states and the thread's sleep are under one lock, which is held while nothing is
 * called. A timer that is in the tree is held by it.
 *
 * The thread that takes a timer out of the tree, to run it or to cancel it, ends it: so it runs or
 * is cancelled, never both. A periodic timer that was cancelled while its function ran is not put
 * back. The next time of a periodic timer is counted from the last one that was due, so that it
 * does not drift; times that were missed are left out, not made up for.
 */
#include "iris/message/iris-timer-private.h"

#include "iris/base/iris-ref-private.h"
#include "iris/base/iris-atomic-private.h"
#include "iris/sched/pool/iris-worker-pool-private.h"

#include <pthread.h>

struct _IrisTimer
{
  _Atomic gint ref_count;
  gint64 due_us; /* this and what follows: under the lock */
  gint64 period_us;
  guint64 number;
  GSequenceIter *at; /* NULL: not in the tree */
  gboolean ended;
  IrisTimerFunc func;
  gpointer data;
  GDestroyNotify notify;
};

G_DEFINE_BOXED_TYPE (IrisTimer, iris_timer, iris_timer_ref, iris_timer_unref)

__thread bool iris_timers_here;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed; /* the first timer is another one */
static GSequence *tree;        /* NULL: there was no timer yet */
static guint64 n_made;

/**
 * iris_timer_ref:
 *
 * Returns: (transfer full): the timer, with one more reference; any thread may call it
 */
IRIS_DEFINE_REF (IrisTimer,
                 iris_timer,
                 atomic_fetch_add_explicit (&self->ref_count, 1, memory_order_relaxed))

/**
 * iris_timer_unref:
 * @self: (transfer full): a timer
 *
 * Drops a reference. That does not cancel the timer.
 */
void
iris_timer_unref (IrisTimer *self)
{
  g_return_if_fail (self != NULL);

  if (atomic_fetch_sub_explicit (&self->ref_count, 1, memory_order_acq_rel) == 1)
    g_free (self);
}

static gint
compare (gconstpointer a, gconstpointer b, gpointer unused)
{
  const IrisTimer *x = a, *y = b;

  if (x->due_us != y->due_us)
    return x->due_us < y->due_us ? -1 : 1;

  return x->number < y->number ? -1 : x->number > y->number;
}

static gint64
now_us (void)
{
  return g_get_monotonic_time ();
}

/* Under the lock. Takes a reference. */
static void
timer_put (IrisTimer *self)
{
  self->at = g_sequence_insert_sorted (tree, iris_timer_ref (self), compare, NULL);
  if (g_sequence_iter_is_begin (self->at))
    pthread_cond_signal (&changed);
}

/* Under the lock. The reference is the caller's. */
static void
timer_take (IrisTimer *self)
{
  g_sequence_remove (g_steal_pointer (&self->at));
}

static void
timer_settle (IrisTimer *self)
{
  if (self->notify != NULL)
    self->notify (self->data);
  iris_timer_unref (self);
}

/* Sleeps until a timer is due or a nearer one comes; under the lock. */
static void
sleep_until (const IrisTimer *first)
{
  struct timespec until;

  if (first == NULL)
    {
      pthread_cond_wait (&changed, &lock);
      return;
    }
  until.tv_sec = (time_t) (first->due_us / G_USEC_PER_SEC);
  until.tv_nsec = (long) (first->due_us % G_USEC_PER_SEC) * 1000;
  pthread_cond_timedwait (&changed, &lock, &until);
}

/* Under the lock, which is let go meanwhile; @self is out of the tree. */
static void
timer_fire (IrisTimer *self)
{
  gboolean again;

  pthread_mutex_unlock (&lock);
  again = self->func (self->data);
  pthread_mutex_lock (&lock);
  if (again && self->period_us > 0 && !self->ended)
    {
      gint64 late_us = MAX (now_us () - self->due_us, 0);

      self->due_us += (late_us / self->period_us + 1) * self->period_us;
      timer_put (self);
      iris_timer_unref (self);
      return;
    }
  self->ended = TRUE;
  pthread_mutex_unlock (&lock);
  timer_settle (self);
  pthread_mutex_lock (&lock);
}

static gpointer
timers_main (gpointer unused)
{
  iris_timers_here = true;
  iris_scheduler_no_waiting++;
  pthread_mutex_lock (&lock);
  for (;;)
    {
      GSequenceIter *begin = g_sequence_get_begin_iter (tree);
      IrisTimer *first = g_sequence_iter_is_end (begin) ? NULL : g_sequence_get (begin);

      if (first == NULL || first->due_us > now_us ())
        {
          sleep_until (first);
          continue;
        }
      timer_take (first);
      timer_fire (first);
    }

  return NULL;
}

/* Under the lock. g_get_monotonic_time() reads CLOCK_MONOTONIC. */
static void
timers_start (void)
{
  pthread_condattr_t attributes;

  tree = g_sequence_new (NULL);
  pthread_condattr_init (&attributes);
  pthread_condattr_setclock (&attributes, CLOCK_MONOTONIC);
  pthread_cond_init (&changed, &attributes);
  pthread_condattr_destroy (&attributes);
  g_thread_unref (g_thread_new ("iris-timers", timers_main, NULL));
}

IrisTimer *
iris_timer_new (gint64 delay_us,
                gint64 period_us,
                IrisTimerFunc func,
                gpointer data,
                GDestroyNotify notify)
{
  IrisTimer *self = g_new0 (IrisTimer, 1);
  gint64 now = now_us ();

  atomic_init (&self->ref_count, 1);
  self->due_us = delay_us < G_MAXINT64 - now ? now + delay_us : G_MAXINT64;
  self->period_us = period_us;
  self->func = func;
  self->data = data;
  self->notify = notify;

  pthread_mutex_lock (&lock);
  if (tree == NULL)
    timers_start ();
  self->number = n_made++;
  timer_put (self);
  pthread_mutex_unlock (&lock);

  return self;
}

/**
 * iris_timer_cancel:
 *
 * Ends a timer. May be called from any thread, any number of times.
 *
 * Returns: whether that kept it from happening (again); %FALSE if it was over already
 */
gboolean
iris_timer_cancel (IrisTimer *self)
{
  gboolean was_active, taken;

  g_return_val_if_fail (self != NULL, FALSE);

  pthread_mutex_lock (&lock);
  taken = self->at != NULL;
  was_active = taken || (self->period_us > 0 && !self->ended);
  self->ended = TRUE;
  if (taken)
    timer_take (self);
  pthread_mutex_unlock (&lock);
  if (taken)
    timer_settle (self);

  return was_active;
}

/**
 * iris_timer_is_active:
 *
 * Tells whether something is still to happen.
 */
gboolean
iris_timer_is_active (IrisTimer *self)
{
  gboolean active;

  g_return_val_if_fail (self != NULL, FALSE);

  pthread_mutex_lock (&lock);
  active = !self->ended;
  pthread_mutex_unlock (&lock);

  return active;
}
