/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Conservation: on every scheduler in every form, each item runs once, and its notify too.
 *
 * Half of the items come from outside, from several threads at once; every hundredth of them makes
 * a tree of a hundred others inside. Every item has a byte of its own, in which its runs and its
 * notifies are counted: a sum would not see that one was lost and another ran twice.
 *
 * With IRIS_SOAK in the environment a row has ten million items, and says what it did.
 */
#include "arrangement.h"

#include <sched.h>

#define N_PRODUCERS 3
#define TREE        100 /* a root in so many; its children and grandchildren: so many */
#define N_CHILDREN  10
#define N_EACH      (TREE / N_CHILDREN - 1) /* grandchildren of each child */
#define WINDOW      10000                   /* how far a producer may be ahead of the workers */

#define RUN      ((guint8) 1)
#define NOTIFIED ((guint8) 16)

typedef enum
{
  HINTS_NONE,
  HINTS_MIXED, /* in thirds: none, soft, strict */
} Hints;

/* An item that the test provides; its id is where it lies. */
typedef struct
{
  IrisItem item;
  guint id;
} Embedded;

static struct
{
  Hints hints;
  guint n_places;
  guint n_outer; /* from outside; what comes from inside has the numbers behind */
  guint n_ids;
  _Atomic guint8 *flags;
  _Atomic (IrisScheduler *) scheduler; /* of the moment */
} load;

static bool
is_embedded (guint id)
{
  return id % 5 == 2;
}

static void queue (guint id);
static gint place_of (guint id, IrisItemFlags *flags);

static void
run (guint id)
{
  guint8 before = atomic_fetch_add_explicit (&load.flags[id], RUN, memory_order_relaxed);
  IrisItemFlags flags;
  gint place = place_of (id, &flags);

  if ((before & 15) != 0)
    ck_abort_msg ("item %u ran twice", id);
  if ((flags & IRIS_ITEM_STRICT) && iris_worker_get_place (iris_worker_current ()) != place)
    ck_abort_msg ("item %u, strict to place %d, ran at another one", id, place);
  if (id < load.n_outer && id % TREE == 0)
    for (guint i = 0; i < N_CHILDREN; i++)
      queue (load.n_outer + id / TREE * TREE + i * (1 + N_EACH));
  else if (id >= load.n_outer && id % (1 + N_EACH) == load.n_outer % (1 + N_EACH))
    for (guint i = 1; i <= N_EACH; i++)
      queue (id + i);
}

static void
run_made (gpointer data)
{
  run (GPOINTER_TO_UINT (data));
}

/* An item that was not run was cancelled: by a scheduler that ends while another takes its place.
 * It goes to that one. */
static void
notify_made (gpointer data)
{
  guint id = GPOINTER_TO_UINT (data);

  if ((atomic_load_explicit (&load.flags[id], memory_order_relaxed) & 15) == 0)
    queue (id);
  else if (atomic_fetch_add_explicit (&load.flags[id], NOTIFIED, memory_order_relaxed) != RUN)
    ck_abort_msg ("item %u was notified twice", id);
}

static void
run_embedded (gpointer data)
{
  guint id = ((Embedded *) data)->id;

  g_free (data);
  run (id);
}

static void
notify_embedded (gpointer data)
{
  guint id = ((Embedded *) data)->id;

  g_free (data);
  queue (id);
}

static gint
place_of (guint id, IrisItemFlags *flags)
{
  *flags = IRIS_ITEM_NONE;
  if (load.hints == HINTS_NONE || load.n_places == 0 || id % 3 == 0)
    return IRIS_PLACE_ANY;
  if (id % 3 == 2)
    *flags = IRIS_ITEM_STRICT;

  /* Most at place 0, so that there is something to steal. */
  return (gint) (id / 3 % 8 < 5 ? 0 : id % load.n_places);
}

static void
queue (guint id)
{
  IrisScheduler *scheduler = atomic_load_explicit (&load.scheduler, memory_order_acquire);
  IrisItemFlags flags;
  gint place = place_of (id, &flags);

  if (is_embedded (id))
    {
      Embedded *embedded = g_new (Embedded, 1);

      embedded->id = id;
      iris_item_init (&embedded->item, run_embedded, embedded, notify_embedded);
      iris_item_set_place (&embedded->item, place, flags);
      iris_scheduler_queue_item (scheduler, &embedded->item);
    }
  else
    iris_scheduler_queue_at (scheduler, place, flags, run_made, GUINT_TO_POINTER (id), notify_made);
}

typedef struct
{
  pthread_t thread;
  guint first, end; /* every N_PRODUCERS-th of these */
} Producer;

static void *
produce (void *data)
{
  Producer *self = data;

  for (guint id = self->first; id < self->end; id += N_PRODUCERS)
    {
      queue (id);
      /* So that the backlog, and with it memory, stays bounded. */
      if (id >= self->first + WINDOW)
        while (atomic_load_explicit (&load.flags[id - WINDOW / N_PRODUCERS * N_PRODUCERS],
                                     memory_order_relaxed)
               == 0)
          sched_yield ();
    }

  return NULL;
}

static void
produce_all (guint first, guint end)
{
  Producer producers[N_PRODUCERS];

  for (guint i = 0; i < N_PRODUCERS; i++)
    {
      producers[i].first = first + i;
      producers[i].end = end;
      ck_assert_int_eq (pthread_create (&producers[i].thread, NULL, produce, &producers[i]), 0);
    }
  for (guint i = 0; i < N_PRODUCERS; i++)
    pthread_join (producers[i].thread, NULL);
}

static void
load_begin (guint n, Hints hints)
{
  load.hints = hints;
  /* A whole number of trees. */
  load.n_outer = (n / 2 + TREE - 1) / TREE * TREE;
  load.n_ids = 2 * load.n_outer;
  load.flags = g_malloc0 (load.n_ids);
}

static void
load_check (const char *name)
{
  for (guint id = 0; id < load.n_ids; id++)
    {
      guint8 expected = is_embedded (id) ? RUN : RUN + NOTIFIED;
      guint8 found = atomic_load_explicit (&load.flags[id], memory_order_relaxed);

      if (found != expected)
        ck_abort_msg ("%s: item %u ran %u times and was notified %u times", name, id, found % 16,
                      found / 16);
    }
  g_clear_pointer ((gpointer *) &load.flags, g_free);
}

static void
report (const char *name, const char *what, gint64 since)
{
  if (g_getenv ("IRIS_SOAK") != NULL)
    g_printerr ("%-58s %-14s %9u items, each once, %6.2f s\n", name, what, load.n_ids,
                (double) (g_get_monotonic_time () - since) / G_USEC_PER_SEC);
}

static void
play (guint row, guint n, Hints hints)
{
  Arrangement arrangement = arrangement_get (row);
  g_autofree char *name = arrangement_dup_name (&arrangement);
  gint64 since = g_get_monotonic_time ();
  Stage stage;

  stage_open (&stage, &arrangement);
  load_begin (n, hints);
  load.n_places = stage.n_places;
  atomic_store (&load.scheduler, stage.scheduler);
  produce_all (0, load.n_outer);
  stage_end (&stage, IRIS_SHUTDOWN_DRAIN);
  core_test_check_stats (stage.scheduler);
  stage_free (&stage);
  load_check (name);
  report (name, hints == HINTS_NONE ? "no hints" : "mixed hints", since);
}

START_TEST (each_item_runs_once_without_hints)
{
  play ((guint) _i, stage_choose_n (50000, 10000000), HINTS_NONE);
}
END_TEST

START_TEST (each_item_runs_once_with_hints)
{
  play ((guint) _i, stage_choose_n (50000, 10000000), HINTS_MIXED);
}
END_TEST

/* The workers come and go: schedulers take each other's place under load. Each hands what it did
 * not run to its successor, and ends while that already runs. */
#define N_GENERATIONS 20

static void
play_with_successors (guint row, guint n)
{
  Arrangement arrangement = arrangement_get (row);
  g_autofree char *name = arrangement_dup_name (&arrangement);
  gint64 since = g_get_monotonic_time ();
  Stage stages[N_GENERATIONS];
  guint first = 0, end;

  load_begin (n, HINTS_MIXED);
  for (guint i = 0; i < N_GENERATIONS; i++, first = end)
    {
      stage_open (&stages[i], &arrangement);
      /* The same for all, and read by the predecessor's items. */
      if (i == 0)
        load.n_places = stages[i].n_places;
      atomic_store_explicit (&load.scheduler, stages[i].scheduler, memory_order_release);
      end = (i + 1) == N_GENERATIONS ? load.n_outer
                                     : (guint) ((guint64) load.n_outer * (i + 1) / N_GENERATIONS);
      /* The predecessor still has its backlog, and its items queue here. */
      if (i > 0)
        stage_end (&stages[i - 1], i % 2 == 0 ? IRIS_SHUTDOWN_DRAIN : IRIS_SHUTDOWN_CANCEL);
      produce_all (first, end);
    }
  stage_end (&stages[N_GENERATIONS - 1], IRIS_SHUTDOWN_DRAIN);
  for (guint i = 0; i < N_GENERATIONS; i++)
    {
      core_test_check_stats (stages[i].scheduler);
      stage_free (&stages[i]);
    }
  load_check (name);
  report (name, "come and go", since);
}

static _Atomic bool all_made;

/* Takes workers out and back in, in numbers that do not repeat soon. */
static gpointer
vary_workers (gpointer scheduler)
{
  guint n = iris_scheduler_get_n_workers (scheduler);

  for (guint i = 0; !atomic_load (&all_made); i++)
    {
      iris_scheduler_set_n_active (scheduler, i * 7 % (n + 1));
      sched_yield ();
    }
  iris_scheduler_set_n_active (scheduler, n);

  return NULL;
}

START_TEST (each_item_runs_once_while_workers_are_taken_out_and_back)
{
  Arrangement arrangement = arrangement_get ((guint) _i);
  g_autofree char *name = arrangement_dup_name (&arrangement);
  gint64 since = g_get_monotonic_time ();
  GThread *varying;
  Stage stage;

  stage_open (&stage, &arrangement);
  load_begin (stage_choose_n (25000, 10000000), HINTS_MIXED);
  load.n_places = stage.n_places;
  atomic_store (&load.scheduler, stage.scheduler);
  atomic_store (&all_made, false);
  varying = g_thread_new ("varying", vary_workers, stage.scheduler);
  produce_all (0, load.n_outer);
  atomic_store (&all_made, true);
  g_thread_join (varying);
  stage_end (&stage, IRIS_SHUTDOWN_DRAIN);
  core_test_check_stats (stage.scheduler);
  stage_free (&stage);
  load_check (name);
  report (name, "out and back", since);
}
END_TEST

START_TEST (each_item_runs_once_while_workers_come_and_go)
{
  play_with_successors ((guint) _i, stage_choose_n (25000, 10000000));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("conservation");
  /* So that CK_RUN_CASE can choose. */
  TCase *plain_case = tcase_create ("plain");
  TCase *hints_case = tcase_create ("hints");
  TCase *workers_case = tcase_create ("workers");
  int n = (int) arrangement_count ();

  tcase_set_timeout (plain_case, 0);
  tcase_set_timeout (hints_case, 0);
  tcase_set_timeout (workers_case, 0);
  tcase_add_loop_test (plain_case, each_item_runs_once_without_hints, 0, n);
  /* Where there are places. */
  tcase_add_loop_test (hints_case, each_item_runs_once_with_hints, ARRANGEMENT_PLACES, n);
  tcase_add_loop_test (workers_case, each_item_runs_once_while_workers_come_and_go, 0, n);
  tcase_add_loop_test (workers_case, each_item_runs_once_while_workers_are_taken_out_and_back, 0,
                       n);
  suite_add_tcase (suite, plain_case);
  suite_add_tcase (suite, hints_case);
  suite_add_tcase (suite, workers_case);

  return core_test_run (suite);
}
