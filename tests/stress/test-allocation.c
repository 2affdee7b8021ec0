/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Without memory: the linker puts the functions below in the place of malloc() and aligned_alloc()
 * for all of iris, so each of its allocations can fail in turn. (GLib's own are GLib's: it ends the
 * program.)
 *
 * What grows while a scheduler runs asks malloc(), and when that fails, items wait elsewhere: none
 * is lost. What a scheduler cannot be without asks for aligned memory; without it the program ends,
 * as with g_malloc(), and says what for.
 */
#include "arrangement.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void *__real_malloc (size_t size);
void *__wrap_malloc (size_t size);
void *__real_aligned_alloc (size_t alignment, size_t size);
void *__wrap_aligned_alloc (size_t alignment, size_t size);

#define NEVER G_MAXINT

/* Allocations are counted from arm() on; those from number first_bad to last_bad fail. */
static _Atomic bool armed;
static _Atomic bool also_aligned;
static _Atomic int n_asked, n_refused;
static int first_bad, last_bad;

static bool
is_refused (void)
{
  int number;

  if (!atomic_load (&armed))
    return false;
  number = atomic_fetch_add (&n_asked, 1);
  if (number < first_bad || number > last_bad)
    return false;
  atomic_fetch_add (&n_refused, 1);

  return true;
}

void *
__wrap_malloc (size_t size)
{
  return is_refused () ? NULL : __real_malloc (size);
}

void *
__wrap_aligned_alloc (size_t alignment, size_t size)
{
  return atomic_load (&also_aligned) && is_refused () ? NULL
                                                      : __real_aligned_alloc (alignment, size);
}

static void
arm (int first, int last, bool aligned)
{
  first_bad = first;
  last_bad = last;
  atomic_store (&n_asked, 0);
  atomic_store (&n_refused, 0);
  atomic_store (&also_aligned, aligned);
  atomic_store (&armed, true);
}

static void
disarm (void)
{
  atomic_store (&armed, false);
}

/* --- a load that makes deques, rings and lists grow ------------------------------------------- */

#define N_ROOTS 4
/* 256 slots double five times; under a sanitizer, where each run takes long, three times. */
#define N_EACH (CORE_TEST_FACTOR > 1 ? 1250 : 5000)
#define N_IDS  (N_ROOTS * (1 + N_EACH))

static IrisScheduler *scheduler;
static guint n_places;
static _Atomic guint8 flags[N_IDS];
static _Atomic int n_twice;

static void
run_inner (gpointer data)
{
  if (atomic_fetch_add (&flags[GPOINTER_TO_UINT (data)], 1) != 0)
    atomic_fetch_add (&n_twice, 1);
}

static void
run_root (gpointer data)
{
  guint root = GPOINTER_TO_UINT (data);

  run_inner (data);
  for (guint i = 0; i < N_EACH; i++)
    {
      gint place = n_places > 0 && i % 3 == 0 ? (gint) (i % n_places) : IRIS_PLACE_ANY;

      iris_scheduler_queue_at (scheduler, place, IRIS_ITEM_NONE, run_inner,
                               GUINT_TO_POINTER (N_ROOTS + root * N_EACH + i), NULL);
    }
}

/* Nothing of Check's in between: it allocates too. */
static void
run_without_memory (const Arrangement *arrangement, int first, int last)
{
  Stage stage;

  memset ((void *) flags, 0, sizeof flags);
  stage_open (&stage, arrangement);
  scheduler = stage.scheduler;
  n_places = stage.n_places;
  arm (first, last, false);
  for (guint i = 0; i < N_ROOTS; i++)
    iris_scheduler_queue (scheduler, run_root, GUINT_TO_POINTER (i), NULL);
  stage_end (&stage, IRIS_SHUTDOWN_DRAIN);
  disarm ();
  stage_free (&stage);
}

static void
expect_all_ran (const Arrangement *arrangement, int first, int last)
{
  g_autofree char *name = arrangement_dup_name (arrangement);

  ck_assert_int_eq (atomic_load (&n_twice), 0);
  for (guint i = 0; i < N_IDS; i++)
    if (atomic_load (&flags[i]) != 1)
      ck_abort_msg ("%s: item %u ran %u times when allocations %d to %d failed", name, i,
                    atomic_load (&flags[i]), first, last);
}

/* Whether this form has something that grows by malloc(), of which a refusal must be seen. */
static bool
grows (const Arrangement *arrangement)
{
  return arrangement->kind == ARRANGEMENT_WORK_STEALING
         || (arrangement->kind == ARRANGEMENT_PLACES && arrangement->deal == IRIS_DEAL_OWN
             && arrangement->deque != IRIS_DEQUE_ABP);
}

START_TEST (no_item_is_lost_whichever_allocation_fails)
{
  Arrangement arrangement = arrangement_get ((guint) _i);
  int n = 0;

  /* Each in turn, until there is none left to fail. */
  do
    {
      run_without_memory (&arrangement, n, n);
      expect_all_ran (&arrangement, n, n);
    }
  while (atomic_load (&n_refused) != 0 && ++n < 40);
  if (grows (&arrangement))
    ck_assert_int_gt (n, 0);

  /* And all from each on. */
  for (int first = 0; first <= n; first += 1 + n / 4)
    {
      run_without_memory (&arrangement, first, NEVER);
      expect_all_ran (&arrangement, first, NEVER);
    }
}
END_TEST

/* --- what a scheduler cannot be without ------------------------------------------------------- */

#define SUCCEEDED 0
#define TOO_FEW   3 /* there was no such allocation any more */

static void
run_nothing (gpointer data)
{
}

static void
handle (IrisMessage *message, gpointer data)
{
}

/* All of a small program. Returns whether an allocation was refused, and it went well all the
 * same. */
static int
be_short_of_memory (const Arrangement *arrangement, int number)
{
  g_autoptr (IrisPort) port = NULL;
  Stage stage;

  arm (number, number, true);
  stage_open (&stage, arrangement);
  port = iris_port_new ();
  iris_arbiter_receive (stage.scheduler, port, handle, NULL, NULL);
  iris_scheduler_queue (stage.scheduler, run_nothing, NULL, NULL);
  iris_port_post (port, iris_message_new (1));
  stage_end (&stage, IRIS_SHUTDOWN_DRAIN);
  disarm ();

  return atomic_load (&n_refused) != 0 ? SUCCEEDED : TOO_FEW;
}

/* Its exit status, or the signal that ended it as a negative number; what it said in @said. */
static int
run_child (const Arrangement *arrangement, int number, char *said, size_t size)
{
  FILE *file = tmpfile ();
  pid_t child;
  int status;
  size_t n;

  ck_assert_ptr_nonnull (file);
  child = fork ();
  if (child == 0)
    {
      alarm (120);
      dup2 (fileno (file), STDERR_FILENO);
      _exit (be_short_of_memory (arrangement, number));
    }
  ck_assert_int_eq (waitpid (child, &status, 0), child);
  rewind (file);
  n = fread (said, 1, size - 1, file);
  said[n] = '\0';
  fclose (file);

  return WIFEXITED (status) ? WEXITSTATUS (status) : -WTERMSIG (status);
}

START_TEST (without_memory_to_begin_with_the_program_ends_and_says_why)
{
  Arrangement arrangement = arrangement_get ((guint) _i);
  g_autofree char *name = arrangement_dup_name (&arrangement);
  int n_ended = 0;
  int status;

  for (int number = 0;; number++)
    {
      char said[4096];

      status = run_child (&arrangement, number, said, sizeof said);
      if (status == TOO_FEW)
        break;
      if (status == SUCCEEDED)
        continue;
      ck_assert_msg (status == -SIGTRAP || status == -SIGABRT, "%s, allocation %d: status %d\n%s",
                     name, number, status, said);
      ck_assert_msg (strstr (said, "out of memory") != NULL, "%s, allocation %d: it said \"%s\"",
                     name, number, said);
      n_ended++;
    }
  ck_assert_int_gt (n_ended, 0);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("allocation");
  /* First, while there is one thread to fork. */
  TCase *begin_case = tcase_create ("begin");
  TCase *growth_case = tcase_create ("growth");
  /* The unbound ones that deal to their own come first. */
  int n = ARRANGEMENT_PLACES + 11;

  tcase_set_timeout (begin_case, 0);
  tcase_set_timeout (growth_case, 0);
  tcase_add_loop_test (begin_case, without_memory_to_begin_with_the_program_ends_and_says_why, 0,
                       n);
  tcase_add_loop_test (growth_case, no_item_is_lost_whichever_allocation_fails, 0, n);
  suite_add_tcase (suite, begin_case);
  suite_add_tcase (suite, growth_case);

  return core_test_run (suite);
}
