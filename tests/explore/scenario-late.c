/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The buffer of a full port, explored: the timers' thread leaves messages beside it and never
 * waits, another thread waits for room, a receiver makes room; each message is handled once.
 *
 * PLANT_NO_TOKEN lets the thread that made room send no token for the late message that came in.
 *
 * The port is a count of tokens that are on their way. GLib's lists are not watched.
 */
#include <glib-object.h>

#include "iris/message/port/iris-bounded-buffer-private.h"

#include "explore.h"
#include "items.h"

#undef pthread_cond_init
#define pthread_cond_init(cond, attr) ((void) (cond))
#define pthread_cond_destroy(cond)    ((void) (cond))
#define pthread_cond_signal(cond)     ((void) (cond))
#define pthread_cond_broadcast(cond)  ((void) (cond))
#define pthread_cond_wait(cond, lock) cond_wait (lock)
#undef g_new0
#define g_new0(type, n) ((type *) explore_calloc (n, sizeof (type)))
#define g_free(memory)  explore_free (memory, __func__)
#undef g_weak_ref_init
#define g_weak_ref_init(weak, object) ((void) (object))
#define g_weak_ref_clear(weak)        ((void) (weak))

/* A condition is looked at again and again, which is more than a thread that waits for it needs. */
static inline void
cond_wait (pthread_mutex_t *lock)
{
  pthread_mutex_unlock (lock);
  sched_yield ();
  pthread_mutex_lock (lock);
}

#include "iris/message/port/iris-bounded-buffer.c"

void
iris_message_unref (IrisMessage *message)
{
}

void
iris_message_fail (IrisMessage *message, IrisMessageError code)
{
  explore_fail ("a message fails");
}

#define LIMIT      1
#define N_MESSAGES 4

static IrisMessageReal messages[N_MESSAGES];
static Item *counted[N_MESSAGES];
static IrisBoundedBuffer *buffer;
static _Atomic unsigned n_tokens;  /* on their way */
static _Atomic unsigned n_handled; /* messages */

/* What the double of the port does with tokens: iris_port_send_tokens(). */
static void
send_tokens (void)
{
  while (iris_bounded_buffer_claim_token (buffer) != NULL)
    atomic_fetch_add_explicit (&n_tokens, 1, memory_order_acq_rel);
}

static void
put (unsigned number, IrisPortPatience patience)
{
  IrisPortPut put = iris_bounded_buffer_put (buffer, (IrisMessage *) &messages[number], patience);

  explore_assert (put.accepted, "message %u is refused", number);
  send_tokens ();
}

static void
redeem (void)
{
  bool admitted;
  IrisMessage *message = iris_bounded_buffer_redeem (buffer, &admitted);

  if (message != NULL)
    {
      item_taken (counted[(IrisMessageReal *) message - messages], "the receiver");
      atomic_fetch_add_explicit (&n_handled, 1, memory_order_acq_rel);
    }
#ifndef PLANT_NO_TOKEN
  if (admitted)
    send_tokens ();
#endif
  iris_bounded_buffer_unref (buffer);
}

static void
receive_until (unsigned n)
{
  while (atomic_load_explicit (&n_handled, memory_order_acquire) < n)
    if (atomic_load_explicit (&n_tokens, memory_order_acquire) == 0)
      {
        sched_yield ();
      }
    else
      {
        atomic_fetch_sub_explicit (&n_tokens, 1, memory_order_acq_rel);
        redeem ();
      }
}

static void
setup (void)
{
  items_reset ();
  memset (messages, 0, sizeof messages);
  for (unsigned i = 0; i < N_MESSAGES; i++)
    {
      atomic_init (&messages[i].ref_count, 1);
      atomic_init (&messages[i].posted, 0);
      counted[i] = item_new ();
    }
  atomic_init (&n_tokens, 0);
  atomic_init (&n_handled, 0);
  buffer = iris_bounded_buffer_new (NULL, LIMIT, IRIS_PORT_FULL_WAIT);
  put (0, IRIS_PORT_PATIENCE_WAIT);
}

static void
leave_two (void)
{
  put (1, IRIS_PORT_PATIENCE_LEAVE);
  put (2, IRIS_PORT_PATIENCE_LEAVE);
}

static void
beside_a_receiver (unsigned self)
{
  if (self == 0)
    leave_two ();
  else
    receive_until (3);
}

static void
beside_one_that_waits (unsigned self)
{
  if (self == 0)
    leave_two ();
  else if (self == 1)
    put (3, IRIS_PORT_PATIENCE_WAIT);
  else
    receive_until (4);
}

static void
beside_a_higher_limit (unsigned self)
{
  if (self == 0)
    leave_two ();
  else if (self == 1)
    receive_until (3);
  else if (iris_bounded_buffer_set_limit (buffer, LIMIT + 1, IRIS_PORT_FULL_WAIT))
    send_tokens ();
}

static void
check (void)
{
  explore_assert (buffer->late.length == 0 && buffer->messages.length == 0, "a message is left");
}

static void
check_all (void)
{
  check ();
  items_check_all_taken ();
}

#ifdef PLANT_NO_TOKEN
static const ExploreScenario scenarios[] = {
  { "late/receiver", 2, setup, beside_a_receiver, check, .fails = "circle" },
};
#else
static const ExploreScenario scenarios[] = {
  { "late/receiver", 2, setup, beside_a_receiver, check },
  { "late/one-that-waits", 3, setup, beside_one_that_waits, check_all, .preemptions = 2,
    .delays = 1, .together = 2, .random_runs = 5000 },
  { "late/higher-limit", 3, setup, beside_a_higher_limit, check, .preemptions = 2, .delays = 1,
    .together = 2, .random_runs = 5000 },
};
#endif

int
main (int argc, char **argv)
{
  return explore_main (argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
}
