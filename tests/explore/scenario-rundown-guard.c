/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The rundown guard, explored: a subject is done with once, when it was withdrawn and no thread
 * is inside; also when its memory serves the next rundown guard while a visitor is late.
 *
 * PLANT_NO_SECOND_LOOK lets visitors in without looking at the published pointer again,
 * PLANT_NO_HEAVY_FENCE lets the owner close without the fence that light ones rely on, and
 * PLANT_RELAXED_CLOSING without the release that hands the subject over.
 */
#include "iris/base/iris-atomic-private.h"

#ifdef PLANT_NO_HEAVY_FENCE
#undef iris_fence_heavy
#define iris_fence_heavy() ((void) 0)
#endif

#include "iris/base/sync/iris-rundown-guard.c"
#include "iris/base/sync/iris-thread-slot.c"

#include "explore.h"

#define MAX_SUBJECTS 2

typedef struct
{
  unsigned n_inside;
  bool is_done;
  unsigned contents; /* watched: what users do with it must happen before it is done with */
} Subject;

static Subject subjects[MAX_SUBJECTS];
static unsigned n_subjects;

static void
subjects_reset (void)
{
  memset (subjects, 0, sizeof subjects);
  n_subjects = 0;
}

EXPLORE_UNWATCHED static Subject *
subject_new (void)
{
  return &subjects[n_subjects++];
}

EXPLORE_UNWATCHED static void
subject_note_entered (Subject *subject)
{
  explore_assert (subject != NULL && !subject->is_done, "a visitor was let in too late");
  subject->n_inside++;
}

EXPLORE_UNWATCHED static void
subject_note_leaves (Subject *subject)
{
  explore_assert (!subject->is_done, "a subject was done with while a visitor was inside");
  subject->n_inside--;
}

EXPLORE_UNWATCHED static void
subject_note_done (Subject *subject)
{
  explore_note ("subject %d is done with", (int) (subject - subjects));
  explore_assert (!subject->is_done, "a subject is done with twice");
  explore_assert (subject->n_inside == 0, "a subject is done with while a visitor is inside");
  subject->is_done = true;
}

static void
subject_done (void *data)
{
  Subject *subject = data;

  subject_note_done (subject);
  subject->contents++;
}

static void
subjects_check_all_done (void)
{
  for (unsigned i = 0; i < n_subjects; i++)
    explore_assert (subjects[i].is_done, "no visitor is inside, and a subject is not done with");
}

static unsigned
subject_read (const Subject *subject)
{
  return subject->contents;
}

static _Atomic (IrisRundownGuard *) published;

static IrisRundownGuard *
enter (void)
{
#ifdef PLANT_NO_SECOND_LOOK
  IrisRundownGuard *guard = atomic_load_explicit (&published, memory_order_acquire);

  if (guard != NULL)
    iris_rundown_guard_count (guard->stripes, true);
#else
  IrisRundownGuard *guard = iris_rundown_guard_enter (&published);
#endif
  if (guard != NULL)
    subject_note_entered (guard->subject);

  return guard;
}

static void
leave (IrisRundownGuard *guard)
{
  explore_assert (subject_read (guard->subject) == 0, "a subject is read too late");
  subject_note_leaves (guard->subject);
  iris_rundown_guard_leave (guard);
}

static void
setup (void)
{
  subjects_reset ();
  atomic_init (&published, iris_rundown_guard_new (subject_new (), subject_done));
}

static void
visit (void)
{
  IrisRundownGuard *guard = enter ();

  if (guard != NULL)
    leave (guard);
}

static void
close_guard (IrisRundownGuard *guard)
{
#ifdef PLANT_RELAXED_CLOSING
  iris_fence_heavy ();
  atomic_store_explicit (&guard->closing, true, memory_order_relaxed);
  iris_fence_heavy ();
  iris_rundown_guard_settle (guard);
#else
  iris_rundown_guard_close (guard);
#endif
}

/* As ports do it, under their lock. What the owner did with the subject until then happens before
 * it is done with, on whichever thread. */
static void
replace (IrisRundownGuard *by)
{
  IrisRundownGuard *old = atomic_load_explicit (&published, memory_order_relaxed);

  explore_assert (subject_read (old->subject) == 0, "the owner's subject is done with");
  atomic_store_explicit (&published, by, memory_order_release);
  close_guard (old);
}

static void
check (void)
{
  subjects_check_all_done ();
}

static void
one_visitor (unsigned self)
{
  if (self == 0)
    visit ();
  else
    replace (NULL);
}

static void
two_visitors (unsigned self)
{
  if (self < 2)
    visit ();
  else
    replace (NULL);
}

/* The second rundown guard is the first one's memory, unless a visitor was inside. */
static void
reuse (unsigned self)
{
  if (self == 0)
    {
      visit ();
    }
  else
    {
      replace (NULL);
      atomic_store_explicit (&published, iris_rundown_guard_new (subject_new (), subject_done),
                             memory_order_release);
      replace (NULL);
    }
}

static void
replace_at_once (unsigned self)
{
  if (self == 0)
    {
      visit ();
      visit ();
    }
  else
    {
      replace (iris_rundown_guard_new (subject_new (), subject_done));
      replace (NULL);
    }
}

/* One goes in, another comes out for it, as a message's handler does. */
static _Atomic (IrisRundownGuard *) handed_on;

static void
setup_other_thread (void)
{
  setup ();
  atomic_init (&handed_on, NULL);
}

static void
leave_on_another_thread (unsigned self)
{
  IrisRundownGuard *guard;

  if (self == 0)
    {
      guard = enter ();
      atomic_store_explicit (&handed_on, guard, memory_order_release);
    }
  else if (self == 1)
    {
      guard = atomic_exchange_explicit (&handed_on, NULL, memory_order_acquire);
      if (guard != NULL)
        leave (guard);
    }
  else
    {
      replace (NULL);
    }
}

static void
check_other_thread (void)
{
  IrisRundownGuard *guard = atomic_load_explicit (&handed_on, memory_order_relaxed);

  if (guard != NULL)
    leave (guard);
  check ();
}

#if defined(PLANT_RELAXED_CLOSING)
#define FAILS       "race"
#define N_SCENARIOS 1
#elif defined(PLANT_NO_SECOND_LOOK) || defined(PLANT_NO_HEAVY_FENCE)
#define FAILS       "" /* the subject is done with under a visitor, or its rundown guard is */
#define N_SCENARIOS 1
#else
#define FAILS       NULL
#define N_SCENARIOS (sizeof scenarios / sizeof scenarios[0])
#endif

static const ExploreScenario scenarios[] = {
  { "rundown-guard/one-visitor", 2, setup, one_visitor, check, .fails = FAILS },
  { "rundown-guard/two-visitors", 3, setup, two_visitors, check, .delays = 1, .together = 3 },
  { "rundown-guard/reuse", 2, setup, reuse, check },
  { "rundown-guard/replace-at-once", 2, setup, replace_at_once, check, .delays = 1 },
  { "rundown-guard/leave-on-another-thread", 3, setup_other_thread, leave_on_another_thread,
    check_other_thread, .delays = 1, .together = 3 },
};

int
main (int argc, char **argv)
{
  explore_state (&idle_guards, sizeof idle_guards);
  explore_state (&slots_taken, sizeof slots_taken);
  explore_state (&exit_key, sizeof exit_key);
  explore_state (&exit_key_once, sizeof exit_key_once);
  explore_state (&have_exit_key, sizeof have_exit_key);
  explore_thread_local (&iris_thread_slot_plus_one, sizeof iris_thread_slot_plus_one);

  return explore_main (argc, argv, scenarios, N_SCENARIOS);
}
