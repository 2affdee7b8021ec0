/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Contention with other processes: what is decided about a series of samples, what is read of the
 * kernel's files, and that a pool gives way to real competitors.
 */
#include "core-test-util.h"

#include <iris/sched/pool/iris-contention-private.h>
#include <iris/sched/pool/iris-active-workers-private.h>
#include <iris/sched/iris-scheduler-private.h>

#include <glib/gstdio.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS                 G_GUINT64_CONSTANT (1000000)
#define SAMPLES_IN_AN_HOUR (3600 * 1000 / IRIS_CONTENTION_INTERVAL_MS)

/* One worker that ran and waited for so many of 100 ms. */
static IrisContentionSample
delay_sample (guint running_ms, guint waiting_ms)
{
  return (IrisContentionSample){
    .elapsed_ns = 100 * MS,
    .running_ns = running_ms * MS,
    .waiting_ns = waiting_ms * MS,
    .has_delay = true,
    .has_switches = true,
    .has_pressure = true,
  };
}

/* The verdict of the last of @n equal samples; those before it decide nothing. */
static IrisContentionVerdict
feed (IrisContentionDecider *decider, IrisContentionSample sample, guint n)
{
  for (guint i = 1; i < n; i++)
    ck_assert_int_eq (iris_contention_decide (decider, &sample, true, true), IRIS_CONTENTION_STAY);

  return iris_contention_decide (decider, &sample, true, true);
}

START_TEST (a_row_of_contended_samples_takes_one_out_and_a_longer_calm_one_brings_it_back)
{
  IrisContentionDecider decider;

  iris_contention_decider_init (&decider);
  ck_assert_int_eq (feed (&decider, delay_sample (50, 50), IRIS_CONTENTION_OUT_AFTER),
                    IRIS_CONTENTION_OUT);
  ck_assert_int_eq (decider.reason, IRIS_CONTENTION_BY_DELAY);
  ck_assert_int_eq (
      feed (&decider, delay_sample (100, 0), IRIS_CONTENTION_DWELL + IRIS_CONTENTION_BACK_AFTER),
      IRIS_CONTENTION_BACK);
}
END_TEST

START_TEST (a_series_that_flaps_decides_nothing)
{
  IrisContentionDecider decider;

  iris_contention_decider_init (&decider);
  for (int i = 0; i < SAMPLES_IN_AN_HOUR; i++)
    {
      bool contended = _i == 0 ? i % 2 == 0 : i % 7 < IRIS_CONTENTION_OUT_AFTER - 1;
      IrisContentionSample sample = contended ? delay_sample (50, 50) : delay_sample (100, 0);

      ck_assert_int_eq (iris_contention_decide (&decider, &sample, true, true),
                        IRIS_CONTENTION_STAY);
    }
  /* What is neither contended nor calm is no reason for anything. */
  feed (&decider, delay_sample (85, 15), SAMPLES_IN_AN_HOUR);
}
END_TEST

START_TEST (workers_that_hardly_run_are_not_judged)
{
  IrisContentionDecider decider;

  iris_contention_decider_init (&decider);
  ck_assert_int_eq (feed (&decider, delay_sample (1, 8), 1000), IRIS_CONTENTION_STAY);
  ck_assert_int_eq (feed (&decider, delay_sample (8, 0), 1000), IRIS_CONTENTION_STAY);
}
END_TEST

START_TEST (under_a_competitor_that_stays_decisions_become_rare)
{
  IrisContentionDecider decider;
  guint n_out = 0, n_decisions = 0;
  int waited = 0;

  /* With all workers in they wait, with one out they do not: the worst there is for flapping. */
  iris_contention_decider_init (&decider);
  for (int i = 0; i < SAMPLES_IN_AN_HOUR; i++)
    {
      IrisContentionSample sample = n_out == 0 ? delay_sample (60, 40) : delay_sample (100, 0);
      IrisContentionVerdict verdict = iris_contention_decide (&decider, &sample, n_out == 0,
                                                              n_out == 1);

      n_decisions += verdict != IRIS_CONTENTION_STAY;
      if (verdict != IRIS_CONTENTION_STAY)
        n_out = verdict == IRIS_CONTENTION_OUT;
    }
  ck_assert_uint_ge (n_decisions, 10);
  ck_assert_uint_le (n_decisions, 2 * SAMPLES_IN_AN_HOUR / IRIS_CONTENTION_BACK_AFTER_MAX + 20);

  /* It goes, and the worker comes back; after that the controller is as quick as at first. */
  for (IrisContentionSample calm = delay_sample (100, 0); n_out == 1; waited++)
    n_out = iris_contention_decide (&decider, &calm, false, true) != IRIS_CONTENTION_BACK;
  ck_assert_int_le (waited, IRIS_CONTENTION_BACK_AFTER_MAX + IRIS_CONTENTION_DWELL);
  feed (&decider, delay_sample (100, 0), IRIS_CONTENTION_TRIAL);
  ck_assert_uint_eq (decider.back_after, IRIS_CONTENTION_BACK_AFTER);
}
END_TEST

START_TEST (what_is_not_possible_is_not_decided)
{
  IrisContentionDecider decider;
  IrisContentionSample contended = delay_sample (50, 50), calm = delay_sample (100, 0);

  iris_contention_decider_init (&decider);
  for (int i = 0; i < 1000; i++)
    ck_assert_int_eq (iris_contention_decide (&decider, &contended, false, true),
                      IRIS_CONTENTION_STAY);
  for (int i = 0; i < 1000; i++)
    ck_assert_int_eq (iris_contention_decide (&decider, &calm, true, false), IRIS_CONTENTION_STAY);
}
END_TEST

START_TEST (without_a_measure_the_next_one_is_judged)
{
  IrisContentionDecider decider;
  IrisContentionSample sample = delay_sample (0, 0);

  iris_contention_decider_init (&decider);
  sample.has_delay = false;
  sample.n_switches = 50;
  ck_assert_int_eq (feed (&decider, sample, IRIS_CONTENTION_OUT_AFTER), IRIS_CONTENTION_OUT);
  ck_assert_int_eq (decider.reason, IRIS_CONTENTION_BY_SWITCHES);
  sample.n_switches = 0;
  sample.pressure_ns = 90 * MS;
  ck_assert_int_eq (feed (&decider, sample, IRIS_CONTENTION_DWELL + IRIS_CONTENTION_BACK_AFTER),
                    IRIS_CONTENTION_BACK);

  sample.has_switches = false;
  ck_assert_int_eq (feed (&decider, sample, IRIS_CONTENTION_DWELL + IRIS_CONTENTION_OUT_AFTER),
                    IRIS_CONTENTION_OUT);
  ck_assert_int_eq (decider.reason, IRIS_CONTENTION_BY_PRESSURE);
  sample.pressure_ns = 0;
  ck_assert_int_eq (feed (&decider, sample, IRIS_CONTENTION_DWELL + 2 * IRIS_CONTENTION_BACK_AFTER),
                    IRIS_CONTENTION_BACK);

  sample.has_pressure = false;
  sample.pressure_ns = 90 * MS;
  ck_assert_int_eq (feed (&decider, sample, 1000), IRIS_CONTENTION_STAY);
}
END_TEST

static void
run_nothing (gpointer data)
{
}

/* A tree of files as the kernel's. */

static char *proc;

static void
write_file (const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (proc, name, NULL);
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *other = g_strconcat (path, ".new", NULL);

  ck_assert_int_eq (g_mkdir_with_parents (folder, 0700), 0);
  /* Whole at any time, as the kernel's are. */
  ck_assert (g_file_set_contents (other, text, -1, NULL));
  ck_assert_int_eq (g_rename (other, path), 0);
}

static void
write_delay (gint tid, guint64 running_ns, guint64 waiting_ns)
{
  g_autofree char *name = g_strdup_printf ("self/task/%d/schedstat", tid);
  g_autofree char *text = g_strdup_printf ("%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " 17\n",
                                           running_ns, waiting_ns);

  write_file (name, text);
}

static void
write_switches (gint tid, guint64 n)
{
  g_autofree char *name = g_strdup_printf ("self/task/%d/status", tid);
  g_autofree char *text = g_strdup_printf ("Name:\tx\nvoluntary_ctxt_switches:\t99\n"
                                           "nonvoluntary_ctxt_switches:\t%" G_GUINT64_FORMAT "\n",
                                           n);

  write_file (name, text);
}

static void
write_pressure (guint64 total_us)
{
  g_autofree char *text = g_strdup_printf (
      "some avg10=0.00 avg60=0.00 avg300=0.00 total=%" G_GUINT64_FORMAT "\n"
      "full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n",
      total_us);

  write_file ("pressure/cpu", text);
}

static void
remove_tree (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *child = g_build_filename (path, name, NULL);

      remove_tree (child);
    }
  g_remove (path);
}

static int n_messages;

static void
count_message (const char *domain, GLogLevelFlags level, const char *text, gpointer data)
{
  n_messages++;
}

static void
make_tree (void)
{
  proc = g_dir_make_tmp ("iris-contention-XXXXXX", NULL);
  ck_assert_ptr_nonnull (proc);
  n_messages = 0;
  g_log_set_default_handler (count_message, NULL);
}

static void
drop_tree (void)
{
  g_log_set_default_handler (g_log_default_handler, NULL);
  remove_tree (proc);
  g_clear_pointer (&proc, g_free);
}

START_TEST (the_probe_gives_what_happened_since_the_last_look)
{
  IrisContentionProbe probe;
  IrisContentionSample sample;
  const gint tids[] = { 11, 0, 12 };

  write_delay (11, 1000, 100);
  write_switches (11, 5);
  write_pressure (1000);
  write_delay (12, 2000, 200);
  write_switches (12, 6);
  iris_contention_probe_init (&probe, proc);
  ck_assert (!iris_contention_probe_look (&probe, tids, 3, 1000000, &sample));

  write_delay (11, 1500, 110);
  write_switches (11, 8);
  write_pressure (1003);
  write_delay (12, 2600, 220);
  write_switches (12, 10);
  ck_assert (iris_contention_probe_look (&probe, tids, 3, 1000100, &sample));
  ck_assert (sample.has_delay && sample.has_switches && sample.has_pressure);
  ck_assert_uint_eq (sample.elapsed_ns, 100000);
  ck_assert_uint_eq (sample.running_ns, 1100);
  ck_assert_uint_eq (sample.waiting_ns, 30);
  ck_assert_uint_eq (sample.n_switches, 7);
  ck_assert_uint_eq (sample.pressure_ns, 3000);
  ck_assert_int_eq (n_messages, 0);
}
END_TEST

START_TEST (a_worker_that_has_ended_is_left_out_without_a_message)
{
  const gint own = (gint) gettid ();
  g_autofree char *gone = g_build_filename (proc, "self/task/12", NULL);
  const gint tids[] = { 11, 12 };
  IrisContentionProbe probe;
  IrisContentionSample sample;

  for (gint tid = 11; tid <= 12; tid++)
    {
      write_delay (tid, 1000, 100);
      write_switches (tid, 5);
    }
  write_delay (own, 1, 1);
  write_switches (own, 1);
  write_pressure (1000);
  iris_contention_probe_init (&probe, proc);
  iris_contention_probe_look (&probe, tids, 2, 1000000, &sample);

  remove_tree (gone);
  write_delay (11, 1500, 110);
  write_switches (11, 8);
  ck_assert (iris_contention_probe_look (&probe, tids, 2, 1000100, &sample));
  ck_assert_int_eq (n_messages, 0);
  ck_assert (sample.has_delay && sample.has_switches);
  ck_assert_uint_eq (sample.running_ns, 500);
  ck_assert_uint_eq (sample.waiting_ns, 10);
  ck_assert_uint_eq (sample.n_switches, 3);

  /* Nor is another thread with its number taken for it. */
  write_delay (12, 9000, 900);
  write_switches (12, 90);
  ck_assert (iris_contention_probe_look (&probe, tids, 2, 1000200, &sample));
  ck_assert_uint_eq (sample.running_ns, 0);
}
END_TEST

START_TEST (a_worker_that_has_ended_has_no_number)
{
  g_autoptr (IrisScheduler) scheduler = core_test_make (&core_test_kinds[_i]);
  IrisWorkerPool *pool = iris_scheduler_get_pool (scheduler);
  guint n;

  iris_scheduler_queue (scheduler, run_nothing, NULL, NULL);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  n = iris_worker_pool_count_workers (pool);
  for (guint i = 0; i < n; i++)
    ck_assert_int_eq (atomic_load (&iris_worker_pool_get_worker (pool, i)->tid), 0);
}
END_TEST

START_TEST (a_missing_file_is_named_once_and_the_rest_is_used)
{
  IrisContentionProbe probe;
  IrisContentionSample sample;
  const gint tids[] = { 11 };

  write_switches (11, 5);
  iris_contention_probe_init (&probe, proc);
  iris_contention_probe_look (&probe, tids, 1, 1000000, &sample);
  ck_assert_int_eq (n_messages, 2);
  write_switches (11, 9);
  ck_assert (iris_contention_probe_look (&probe, tids, 1, 1000100, &sample));
  ck_assert_int_eq (n_messages, 2);
  ck_assert (!sample.has_delay && sample.has_switches && !sample.has_pressure);
  ck_assert_uint_eq (sample.n_switches, 4);
  ck_assert (!iris_contention_probe_is_blind (&probe));

  remove_tree (proc);
  iris_contention_probe_look (&probe, tids, 1, 1000200, &sample);
  ck_assert_int_eq (n_messages, 3);
  ck_assert (iris_contention_probe_is_blind (&probe));
}
END_TEST

/* A pool that is busy as long as it is told to. */

#define N_WORKERS 3

static _Atomic bool busy;

static void
keep_busy (gpointer data)
{
  for (int i = 0; i < 1000; i++)
    iris_cpu_relax ();
  if (atomic_load_explicit (&busy, memory_order_relaxed))
    iris_scheduler_queue (data, keep_busy, data, NULL);
}

static void
make_busy (IrisScheduler *scheduler)
{
  atomic_store (&busy, true);
  for (int i = 0; i < 4 * N_WORKERS; i++)
    iris_scheduler_queue (scheduler, keep_busy, scheduler, NULL);
}

static IrisActiveWorkers
get_active_workers (IrisScheduler *scheduler)
{
  g_autoptr (IrisStats) stats = iris_scheduler_get_stats (scheduler);

  return stats->active_workers;
}

/* Every look of the controller finds that the workers ran for @running_ns more, and waited. */
static void
write_next (IrisWorkerPool *pool, guint64 running_ns, guint64 waiting_ns)
{
  static guint64 total_running_ns, total_waiting_ns;

  total_running_ns += running_ns;
  total_waiting_ns += waiting_ns;
  for (guint i = 0; i < pool->n_workers; i++)
    {
      gint tid = atomic_load (&pool->workers[i].tid);

      if (tid != 0)
        {
          write_delay (tid, total_running_ns, total_waiting_ns);
          write_switches (tid, 0);
        }
    }
  write_pressure (0);
}

/* Sleeping workers, whose threads are known. */
static void
start_without_work (IrisWorkerPool *pool)
{
  guint n_confirmed;

  iris_worker_pool_start (pool);
  do
    {
      sched_yield ();
      pthread_mutex_lock (&pool->parking_lot.lock);
      n_confirmed = pool->parking_lot.n_confirmed;
      pthread_mutex_unlock (&pool->parking_lot.lock);
    }
  while (n_confirmed < pool->n_workers);
}

START_TEST (the_controller_takes_workers_out_and_brings_all_back_and_sleeps_with_them)
{
  g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new_full (N_WORKERS, N_WORKERS);
  IrisWorkerPool *pool = iris_scheduler_get_pool (scheduler);
  IrisContention *contention = iris_contention_new (pool, proc);
  IrisActiveWorkers active_workers;
  guint64 n_samples;

  /* Its files are there before it looks. */
  start_without_work (pool);
  write_next (pool, 1, 0);
  pool->contention = contention;
  iris_contention_start (contention);
  make_busy (scheduler);

  while (get_active_workers (scheduler).contention_out < N_WORKERS - 1)
    write_next (pool, 500 * MS, 500 * MS);
  while (get_active_workers (scheduler).n_active > 1)
    sched_yield ();
  do
    {
      write_next (pool, 1000 * MS, 0);
      active_workers = get_active_workers (scheduler);
    }
  while (active_workers.contention_back < active_workers.contention_out);
  ck_assert_uint_eq (active_workers.contention_out, active_workers.contention_by_delay);
  ck_assert_uint_eq (active_workers.n_active, N_WORKERS);
  ck_assert_uint_eq (iris_scheduler_get_n_active (scheduler), N_WORKERS);

  /* Without work it sleeps, until there is some. */
  atomic_store (&busy, false);
  while (!iris_contention_is_idle (contention))
    sched_yield ();
  n_samples = get_active_workers (scheduler).contention_samples;
  make_busy (scheduler);
  while (get_active_workers (scheduler).contention_samples == n_samples)
    sched_yield ();
  atomic_store (&busy, false);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
}
END_TEST

/* Real competitors: processes that do nothing but run. */

static GArray *competitors;

static void
start_competitors (guint n)
{
  competitors = g_array_new (FALSE, FALSE, sizeof (pid_t));
  for (guint i = 0; i < n; i++)
    {
      pid_t pid = fork ();

      ck_assert_int_ge (pid, 0);
      if (pid == 0)
        {
          prctl (PR_SET_PDEATHSIG, SIGKILL);
          for (;;)
            iris_cpu_relax ();
        }
      g_array_append_val (competitors, pid);
    }
}

static void
end_competitors (void)
{
  for (guint i = 0; competitors != NULL && i < competitors->len; i++)
    {
      pid_t pid = g_array_index (competitors, pid_t, i);

      kill (pid, SIGKILL);
      waitpid (pid, NULL, 0);
    }
  g_clear_pointer (&competitors, g_array_unref);
}

/* That a worker comes back is shown with made-up files: whether a machine becomes calm is not ours
 * to say. */
START_TEST (a_pool_gives_way_to_real_competitors)
{
  g_autoptr (IrisScheduler) scheduler = NULL;

  if (!g_file_test ("/proc/self/schedstat", G_FILE_TEST_EXISTS))
    return;
  start_competitors (2 * g_get_num_processors ());
  scheduler = g_object_new (IRIS_TYPE_WSSCHEDULER, "contention", TRUE, NULL);
  if (iris_scheduler_get_n_workers (scheduler) < 2)
    return;
  make_busy (scheduler);
  while (get_active_workers (scheduler).contention_out == 0)
    sched_yield ();
  ck_assert_uint_gt (get_active_workers (scheduler).contention_by_delay, 0);
  end_competitors ();
  atomic_store (&busy, false);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
}
END_TEST

START_TEST (it_is_off_unless_asked_for)
{
  g_autoptr (IrisScheduler) by_default = iris_wsscheduler_new_full (2, 2);
  g_autoptr (IrisScheduler) asked = NULL, overridden = NULL;
  gboolean contention;

  ck_assert_ptr_null (iris_scheduler_get_pool (by_default)->contention);
  asked = g_object_new (IRIS_TYPE_WSSCHEDULER, "contention", TRUE, NULL);
  ck_assert_ptr_nonnull (iris_scheduler_get_pool (asked)->contention);
  setenv ("IRIS_CONTENTION", "off", 1);
  overridden = g_object_new (IRIS_TYPE_WSSCHEDULER, "contention", TRUE, NULL);
  unsetenv ("IRIS_CONTENTION");
  ck_assert_ptr_null (iris_scheduler_get_pool (overridden)->contention);
  g_object_get (overridden, "contention", &contention, NULL);
  ck_assert (!contention);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("contention");
  TCase *all = tcase_create ("all"), *files = tcase_create ("files"), *real = tcase_create ("real");

  tcase_set_timeout (all, 0);
  tcase_add_test (all,
                  a_row_of_contended_samples_takes_one_out_and_a_longer_calm_one_brings_it_back);
  tcase_add_loop_test (all, a_series_that_flaps_decides_nothing, 0, 2);
  tcase_add_test (all, workers_that_hardly_run_are_not_judged);
  tcase_add_test (all, under_a_competitor_that_stays_decisions_become_rare);
  tcase_add_test (all, what_is_not_possible_is_not_decided);
  tcase_add_test (all, without_a_measure_the_next_one_is_judged);
  tcase_add_test (all, it_is_off_unless_asked_for);
  suite_add_tcase (suite, all);

  tcase_set_timeout (files, 0);
  tcase_add_checked_fixture (files, make_tree, drop_tree);
  tcase_add_test (files, the_probe_gives_what_happened_since_the_last_look);
  tcase_add_test (files, a_worker_that_has_ended_is_left_out_without_a_message);
  tcase_add_loop_test (files, a_worker_that_has_ended_has_no_number, 0, core_test_n_kinds);
  tcase_add_test (files, a_missing_file_is_named_once_and_the_rest_is_used);
  tcase_add_test (files, the_controller_takes_workers_out_and_brings_all_back_and_sleeps_with_them);
  suite_add_tcase (suite, files);

  tcase_set_timeout (real, 0);
  tcase_add_checked_fixture (real, NULL, end_competitors);
  tcase_add_test (real, a_pool_gives_way_to_real_competitors);
  suite_add_tcase (suite, real);

  return core_test_run (suite);
}
