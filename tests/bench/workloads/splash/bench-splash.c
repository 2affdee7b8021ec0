/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * SPLASH-2: nine parallel programs, of which the locks' policy alone differs between series.
 *
 * Threads, as in the paper, 4 and 32 of them, and items: a program's parts and critical sections as
 * work items on a scheduler's workers.
 */
#include "tests/bench/workloads/splash/splash.h"
#include "tests/bench/peers/bench-iris.h"
#include "tests/bench/workloads/bench-workload.h"

#define QUICK 0.02 /* of the usual sizes */

#define ROW(name) &splash_##name,

static const SplashProgram *const programs[] = { SPLASH_PROGRAMS (ROW) };

static const struct
{
  const char *name;
  IrisLockPolicy policy;
} policies[] = {
  { "lock:off", IRIS_LOCK_POLICY_OFF },
  { "lock:always", IRIS_LOCK_POLICY_ALWAYS },
  { "lock:adaptive", IRIS_LOCK_POLICY_ADAPTIVE },
};

static const struct
{
  const char *words;
  SplashMode mode;
  guint n;
} teams[] = {
  { "4 threads", SPLASH_THREADS, 4 },
  { "32 threads", SPLASH_THREADS, 32 },
  { "32 items", SPLASH_ITEMS, 32 },
};

/* Its input is there once for all series. */
typedef struct
{
  const SplashProgram *program;
  gpointer self;
} Input;

typedef struct
{
  const Input *input;
  SplashMode mode;
  guint n;
  IrisLockPolicy policy;
  const BenchContender *places; /* the scheduler of the items */
} Load;

static gboolean
run_program (const BenchRun *run, gdouble *samples, GError **error)
{
  const Load *self = run->load;
  g_autoptr (IrisScheduler) scheduler = NULL;

  bench_counts_reset ();
  if (self->mode == SPLASH_ITEMS)
    {
      scheduler = bench_iris_open (self->places, run->workers, error);
      if (scheduler == NULL)
        return FALSE;
    }

  return splash_run (self->input->program, self->input->self, self->n, scheduler, self->policy,
                     samples, error);
}

static void
input_free (gpointer data)
{
  Input *self = data;

  self->program->destroy (self->self);
  g_free (self);
}

/* --only may name programs, policies or both; where it names none of a kind, all of it take part.
 */
static gboolean
is_chosen (const BenchOptions *options, const char *name, gboolean is_program)
{
  gboolean names_kind = FALSE;

  for (char **only = options->only; only != NULL && *only != NULL; only++)
    {
      if (g_str_equal (*only, name))
        return TRUE;
      names_kind |= is_program != g_str_has_prefix (*only, "lock:");
    }

  return !names_kind;
}

static void
add_program (BenchResult *result,
             const BenchOptions *options,
             const Input *input,
             const BenchContender *places)
{
  for (guint i = 0; i < G_N_ELEMENTS (teams); i++)
    {
      g_autofree char *name = g_strdup_printf ("%s, %s", input->program->name, teams[i].words);
      Load load = { input, teams[i].mode, teams[i].n, IRIS_LOCK_POLICY_OFF, places };
      BenchCase what = { .load = name,
                         .workers = load.mode == SPLASH_ITEMS ? options->workers : load.n,
                         .show = BENCH_SHOW_COMPARED,
                         .relation = BENCH_OVERHEAD,
                         .run = run_program,
                         .data = &load,
                         .size = sizeof load };

      for (guint j = 0; j < G_N_ELEMENTS (policies); j++)
        {
          load.policy = policies[j].policy;
          if (is_chosen (options, policies[j].name, FALSE))
            bench_result_add (result, &what, policies[j].name, BENCH_IRIS, NULL);
        }
    }
}

static gboolean
plan (BenchResult *result, const BenchOptions *options, GError **error)
{
  g_autoptr (GString) title = g_string_new ("");
  BenchContender *places = bench_result_own (result, bench_iris_parse ("places", NULL),
                                             (GDestroyNotify) bench_contender_free);
  const char *separator = "";

  places->places = g_strdup (options->places);
  for (guint i = 0; i < G_N_ELEMENTS (programs); i++)
    {
      g_autofree char *size = NULL;
      Input *input;

      if (!is_chosen (options, programs[i]->name, TRUE))
        continue;
      input = bench_result_own (result, g_new (Input, 1), input_free);
      input->program = programs[i];
      input->self = programs[i]->create (options->scale * (options->quick ? QUICK : 1), &size);
      g_string_append_printf (title, "%s%s %s", separator, programs[i]->name, size);
      separator = "; ";
      add_program (result, options, input, places);
    }
  bench_result_set_title (result, "%s", title->str);

  return TRUE;
}

static gboolean
check (const BenchOptions *options, GError **error)
{
  const char *names[G_N_ELEMENTS (programs) + G_N_ELEMENTS (policies) + 1] = { NULL };

  for (guint i = 0; i < G_N_ELEMENTS (programs); i++)
    names[i] = programs[i]->name;
  for (guint i = 0; i < G_N_ELEMENTS (policies); i++)
    names[G_N_ELEMENTS (programs) + i] = policies[i].name;

  return bench_check_chosen (options, "splash", names, error);
}

/* The paper improves cycles by -39 to +10 %; here a series costs more or less than its base. */
#define CYCLES(program)                                                                          \
  {                                                                                              \
    program ", cycles against off, all programs", program ", 32 threads", "lock:always", -10, 39 \
  }
/* Of 4 to 128 threads, least and most. */
#define MISSES(program, low, high)                                         \
  {                                                                        \
    program ", improvement of the L2 miss ratio, %", NULL, NULL, low, high \
  }

static const BenchPublished published[] = {
  CYCLES ("barnes"),
  CYCLES ("cholesky"),
  CYCLES ("fft"),
  CYCLES ("fmm"),
  CYCLES ("lu-cont"),
  CYCLES ("lu-noncont"),
  CYCLES ("radix"),
  CYCLES ("water-nsq"),
  CYCLES ("water-spa"),
  MISSES ("barnes", 2.1, 21.7),
  MISSES ("cholesky", 0.5, 2.4),
  MISSES ("fft", 0, 3.9),
  MISSES ("fmm", -0.7, 2.7),
  MISSES ("lu-cont", -5.6, 4.4),
  MISSES ("lu-noncont", 5.2, 33.5),
  MISSES ("radix", 1.1, 21.6),
  MISSES ("water-nsq", -0.7, 0.5),
  MISSES ("water-spa", -1.2, 5.5),
  { 0 },
};

const BenchWorkload bench_workload_splash = {
  .name = "splash",
  .summary = "nine programs of SPLASH-2, by the policy of locks",
  .suite = BENCH_SUITE_PAPER,
  .plan = plan,
  .check = check,
  .figure =
      &(const BenchFigure){
          .row = "D3",
          .title = "SPLASH-2: improvement of cycles and of L2 miss ratios",
          .source = BENCH_FAST ", section 4.2, table 4 and figure 5",
          .machine = BENCH_FAST_MACHINE,
          .differs =
              "programs written anew; locks and barriers are IrisLock; 4 and 32 threads, and 32 "
              "items, of the published 4 to 128 threads; time by the clock in place of the cycles "
              "of all threads; where an input is smaller than the published one, the title below "
              "has the factor",
          .published = published,
      },
};
