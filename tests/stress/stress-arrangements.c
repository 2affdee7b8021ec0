/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Messages through every arrangement of receiver, scheduler and places: none is lost,
 * none comes twice, an exclusive one is alone, and each sender's come in order where that is
 * promised.
 *
 * A message's number is in its `what`; a table has a byte for each, which its handler counts up.
 */
#include <check.h>
#include <iris/iris.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <iris/base/iris-atomic-private.h>

#if defined(IRIS_THREAD_SANITIZER) || defined(IRIS_ADDRESS_SANITIZER)
#define N_ALL 100000
#else
#define N_ALL 2000000
#endif
#define N_POSTERS 4

/* Of the messages, so many are posted by handlers on workers for each one from outside. */
#define N_INNER 3

typedef enum
{
  PLAIN,
  EXCLUSIVE,
  ACTOR,
  COORDINATED, /* one in eight exclusive, the others concurrent */
  BOUNDED,     /* exclusive, and senders wait */
  N_ARRANGEMENTS,
} Arrangement;

static const char *const scheduler_names[] = {
  "default",           "lock-free",      "work-stealing",          "places",
  "places, mailboxes", "places, shared", "places, one worker each"
};

#define N_SCHEDULERS G_N_ELEMENTS (scheduler_names)

static IrisScheduler *
make_scheduler (guint kind)
{
  g_autoptr (IrisPlaces) places = NULL;

  switch (kind)
    {
    case 0:
      return iris_scheduler_new_full (2, 2);
    case 1:
      return iris_lfscheduler_new_full (2, 2);
    case 2:
      return iris_wsscheduler_new_full (2, 2);
    default:
      places = iris_places_new_unbound (2, kind == 6 ? 1 : 2);
      return g_object_new (IRIS_TYPE_PLACE_SCHEDULER, "places", places, "layout",
                           kind == 4   ? IRIS_LAYOUT_MAILBOXES
                           : kind == 5 ? IRIS_LAYOUT_SHARED
                                       : IRIS_LAYOUT_WORKERS,
                           NULL);
    }
}

typedef struct
{
  Arrangement arrangement;
  guint n; /* of all messages */
  IrisPort *port, *concurrent;
  IrisActor *actor;
  _Atomic guint8 *times;
  _Atomic gint n_exclusive, n_concurrent;
  _Atomic guint n_wrong;
  guint plain; /* only touched by exclusive handlers: a sanitizer sees two at once */
} Run;

static Run run;

static void
post (guint number)
{
  IrisMessage *message = iris_message_new ((gint) number);

  if (run.actor != NULL)
    iris_actor_post (run.actor, message);
  else if (run.arrangement == COORDINATED && number % 8 != 0)
    iris_port_post (run.concurrent, message);
  else
    iris_port_post (run.port, message);
}

/* Number k from outside brings k + n_outer, k + 2 n_outer, ... from inside; not where senders wait,
 * which workers must not. */
static void
note (guint number)
{
  guint n_outer = run.arrangement == BOUNDED ? run.n : run.n / (N_INNER + 1);

  if (atomic_fetch_add_explicit (&run.times[number], 1, memory_order_relaxed) != 0)
    atomic_fetch_add (&run.n_wrong, 1);
  if (number < n_outer && n_outer < run.n)
    for (guint i = 1; i <= N_INNER; i++)
      post (number + i * n_outer);
}

static void
handle_exclusive (IrisMessage *message, gpointer data)
{
  if (atomic_fetch_add_explicit (&run.n_exclusive, 1, memory_order_relaxed) != 0
      || atomic_load_explicit (&run.n_concurrent, memory_order_relaxed) != 0)
    atomic_fetch_add (&run.n_wrong, 1);
  run.plain++;
  note ((guint) message->what);
  atomic_fetch_sub_explicit (&run.n_exclusive, 1, memory_order_relaxed);
}

static void
handle_concurrent (IrisMessage *message, gpointer data)
{
  atomic_fetch_add_explicit (&run.n_concurrent, 1, memory_order_relaxed);
  if (atomic_load_explicit (&run.n_exclusive, memory_order_relaxed) != 0)
    atomic_fetch_add (&run.n_wrong, 1);
  note ((guint) message->what);
  atomic_fetch_sub_explicit (&run.n_concurrent, 1, memory_order_relaxed);
}

static void
handle_plain (IrisMessage *message, gpointer data)
{
  note ((guint) message->what);
}

static gpointer
post_share (gpointer data)
{
  guint n_outer = run.arrangement == BOUNDED ? run.n : run.n / (N_INNER + 1);

  for (guint i = GPOINTER_TO_UINT (data); i < n_outer; i += N_POSTERS)
    post (i);

  return NULL;
}

static void
arrange (IrisScheduler *scheduler)
{
  run.port = iris_port_new ();
  run.concurrent = iris_port_new ();
  switch (run.arrangement)
    {
    case PLAIN:
      iris_arbiter_receive (scheduler, run.port, handle_plain, NULL, NULL);
      break;
    case BOUNDED:
      iris_port_set_limit (run.port, 100, IRIS_PORT_FULL_WAIT);
      G_GNUC_FALLTHROUGH;
    case EXCLUSIVE:
      iris_arbiter_receive_exclusive (scheduler, run.port, handle_exclusive, NULL, NULL);
      break;
    case ACTOR:
      run.actor = iris_actor_new (scheduler, handle_exclusive, NULL, NULL);
      break;
    default:
      iris_arbiter_coordinate (
          iris_arbiter_receive (scheduler, run.port, handle_exclusive, NULL, NULL),
          iris_arbiter_receive (scheduler, run.concurrent, handle_concurrent, NULL, NULL), NULL);
    }
}

static guint
how_many (void)
{
  const char *wanted = g_getenv ("IRIS_STRESS_MESSAGES");
  guint64 n = wanted != NULL ? g_ascii_strtoull (wanted, NULL, 10) : 0;

  return n > 0 ? (guint) MIN (n, G_MAXINT) : N_ALL / (N_ARRANGEMENTS * N_SCHEDULERS);
}

START_TEST (no_message_is_lost_or_comes_twice)
{
  g_autoptr (IrisScheduler) scheduler = make_scheduler ((guint) _i % N_SCHEDULERS);
  GThread *threads[N_POSTERS];
  guint n_missing = 0;

  memset (&run, 0, sizeof run);
  run.arrangement = (Arrangement) ((guint) _i / N_SCHEDULERS);
  run.n = how_many () / (N_INNER + 1) * (N_INNER + 1);
  run.times = calloc (run.n, 1);
  ck_assert_ptr_nonnull (run.times);
  arrange (scheduler);
  for (guint i = 0; i < N_POSTERS; i++)
    threads[i] = g_thread_new ("poster", post_share, GUINT_TO_POINTER (i));
  for (guint i = 0; i < N_POSTERS; i++)
    g_thread_join (threads[i]);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  g_clear_pointer (&run.actor, iris_actor_unref);
  g_clear_object (&run.port);
  g_clear_object (&run.concurrent);

  for (guint i = 0; i < run.n; i++)
    n_missing += atomic_load_explicit (&run.times[i], memory_order_relaxed) != 1;
  if (n_missing > 0)
    ck_abort_msg ("%s, arrangement %d: %u of %u messages are not handled once",
                  scheduler_names[(guint) _i % N_SCHEDULERS], (int) run.arrangement, n_missing,
                  run.n);
  ck_assert_uint_eq (atomic_load (&run.n_wrong), 0);
  free ((void *) run.times);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("stress-arrangements");
  TCase *all = tcase_create ("all");
  SRunner *runner;
  int n_failed;

  tcase_set_timeout (all, 500);
  tcase_add_loop_test (all, no_message_is_lost_or_comes_twice, 0, N_ARRANGEMENTS * N_SCHEDULERS);
  suite_add_tcase (suite, all);

  runner = srunner_create (suite);
  srunner_set_fork_status (runner, CK_NOFORK);
  srunner_run_all (runner, CK_ENV);
  n_failed = srunner_ntests_failed (runner);
  srunner_free (runner);

  return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
