/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tasks under load: each waiter is told once, nothing is held afterwards, and a chain of
 * processes neither loses nor repeats a message, while others cancel.
 */
#include "core-test-util.h"

#define N_ROUNDS (4000 / CORE_TEST_FACTOR)
#define N_ITEMS  (100000 / CORE_TEST_FACTOR)

static CoreTestGate freed = CORE_TEST_GATE_INIT;
static CoreTestGate told = CORE_TEST_GATE_INIT;
static _Atomic guint64 sum;

static void
count_freed (gpointer data)
{
  core_test_gate_add (&freed, 1);
}

static void
work (IrisTask *task, gpointer data)
{
  if (GPOINTER_TO_UINT (data) % 7 == 3)
    IRIS_TASK_THROW_NEW (task, G_IO_ERROR, G_IO_ERROR_BUSY, "busy");
  if (GPOINTER_TO_UINT (data) % 5 == 2)
    IRIS_TASK_RETURN_TASK_NEW (task, work, NULL, count_freed);
}

static void
count_told (IrisTask *task, gpointer data)
{
  ck_assert (iris_task_state_is_over (iris_task_get_state (task)));
  core_test_gate_add (&told, 1);
}

typedef struct
{
  GQueue tasks; /* to be cancelled */
  GMutex lock;
  GCond more;
  gboolean over;
} Canceller;

static gpointer
cancel_all (gpointer data)
{
  Canceller *self = data;
  IrisTask *task;

  g_mutex_lock (&self->lock);
  for (;;)
    {
      while ((task = g_queue_pop_head (&self->tasks)) == NULL && !self->over)
        g_cond_wait (&self->more, &self->lock);
      if (task == NULL)
        break;
      g_mutex_unlock (&self->lock);
      iris_task_cancel (task);
      g_object_unref (task);
      g_mutex_lock (&self->lock);
    }
  g_mutex_unlock (&self->lock);

  return NULL;
}

static void
give (Canceller *self, IrisTask *task)
{
  g_mutex_lock (&self->lock);
  g_queue_push_tail (&self->tasks, g_object_ref (task));
  g_cond_signal (&self->more);
  g_mutex_unlock (&self->lock);
}

/* A diamond with groups, in which some fail, some return tasks, and some are cancelled. */
TEST (every_end_is_told_once_and_everything_is_freed)
{
  Canceller canceller = { .over = FALSE };
  GThread *thread = g_thread_new ("canceller", cancel_all, &canceller);
  guint64 n_told = 0;

  for (guint i = 0; i < N_ROUNDS; i++)
    {
      IrisTask *tasks[6];

      for (guint j = 0; j < 4; j++)
        tasks[j] = iris_task_new (work, GUINT_TO_POINTER (i + j), count_freed);
      iris_task_add_dependency (tasks[1], tasks[0]);
      iris_task_add_dependency (tasks[2], tasks[0]);
      iris_task_add_dependency (tasks[3], tasks[1]);
      iris_task_add_dependency (tasks[3], tasks[2]);
      tasks[4] = iris_task_vany_of (tasks[1], tasks[2], NULL);
      tasks[5] = iris_task_vall_of (tasks[0], tasks[3], NULL);
      for (guint j = 0; j < 6; j++)
        iris_task_when_over (tasks[j], count_told, NULL, NULL);
      for (guint j = 6; j > 0; j--)
        iris_task_run (tasks[j - 1]);
      if (i % 3 == 0)
        give (&canceller, tasks[i % 6]);
      for (guint j = 0; j < 6; j++)
        g_object_unref (tasks[j]);
      n_told += 6;
      /* No more under way than fits. */
      if (n_told > 6000)
        core_test_gate_wait (&told, n_told - 6000);
    }
  core_test_gate_wait (&told, n_told);
  g_mutex_lock (&canceller.lock);
  canceller.over = TRUE;
  g_cond_signal (&canceller.more);
  g_mutex_unlock (&canceller.lock);
  g_thread_join (thread);
  core_test_gate_wait (&freed, 4 * (guint64) N_ROUNDS);
}

static void
hand_on (IrisProcess *process, IrisMessage *message, gpointer data)
{
  iris_process_forward (process, message);
}

static void
add_up (IrisProcess *process, IrisMessage *message, gpointer data)
{
  atomic_fetch_add_explicit (&sum, (guint64) message->what, memory_order_relaxed);
}

TEST (a_chain_of_processes_keeps_every_message)
{
  IrisProcess *chain[4];
  guint64 expected = (guint64) N_ITEMS * (N_ITEMS + 1) / 2;

  for (guint i = 0; i < G_N_ELEMENTS (chain); i++)
    {
      chain[i] = iris_process_new (i < 3 ? hand_on : add_up, NULL, NULL);
      iris_process_set_queue_limit (chain[i], 10);
      if (i > 0)
        iris_process_connect (chain[i - 1], chain[i]);
    }
  iris_process_run (chain[0]);
  for (int i = 1; i <= N_ITEMS; i++)
    iris_process_enqueue (chain[0], iris_message_new (i));
  iris_process_close (chain[0]);
  ck_assert (iris_task_wait (IRIS_TASK (chain[3]), -1, NULL));
  ck_assert_uint_eq (atomic_load (&sum), expected);
  for (guint i = 0; i < G_N_ELEMENTS (chain); i++)
    g_object_unref (chain[i]);
}

TEST (chains_end_however_they_are_cancelled)
{
  for (guint i = 0; i < N_ROUNDS / 4; i++)
    {
      IrisProcess *head = iris_process_new (hand_on, NULL, NULL);
      IrisProcess *tail = iris_process_new (add_up, NULL, NULL);

      iris_process_set_queue_limit (tail, 2);
      iris_process_connect (head, tail);
      iris_process_run (head);
      for (guint j = 0; j < i % 50; j++)
        iris_process_enqueue (head, iris_message_new (1));
      iris_process_cancel (i % 2 == 0 ? head : tail);
      ck_assert (!iris_task_wait (IRIS_TASK (head), -1, NULL));
      ck_assert (!iris_task_wait (IRIS_TASK (tail), -1, NULL));
      g_object_unref (head);
      g_object_unref (tail);
    }
}

TEST_MAIN ("tasks", NULL, NULL)
