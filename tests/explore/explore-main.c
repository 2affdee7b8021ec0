/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The explorer's command line: searches, and reports in TAP.
 */
#include "explore-private.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_PREEMPTIONS 3
#define DEFAULT_DELAYS      2
#define DEFAULT_RANDOM_RUNS 20000
#define DEFAULT_MAX_RUNS    3000000
#define LEARNING_RUNS       500

typedef struct
{
  const char *scenario;
  const char *schedule;
  Model model;
  bool list, trace, have_seed;
  uint64_t seed;
  unsigned preemptions, delays, together, random_runs, max_runs;
} Options;

/* How a search went. */
typedef struct
{
  uint64_t n_runs; /* of the last, widest bound */
  uint64_t n_random;
  bool exhausted;
  bool found;
  bool by_seed;
  uint64_t seed;
  char *schedule;
  char message[sizeof explore.message];
} Result;

static const char usage[] =
    "usage: %s [OPTION]...\n"
    "  -l, --list            name the scenarios\n"
    "  -s, --scenario NAME   this one only\n"
    "  -r, --schedule TEXT   run one interleaving, as a report wrote it, and trace it\n"
    "      --seed N          the seed of the first random interleaving; with --scenario and "
    "without\n"
    "                        a number of random runs: run that one, and trace it\n"
    "  -n, --random N        so many random interleavings\n"
    "  -p, --preemptions N   all interleavings with at most so many preemptions\n"
    "  -d, --delays N        and at most so many delayed stores\n"
    "      --together N      and at most so many of both\n"
    "  -m, --model NAME      sc, tso or pso\n"
    "      --c20             release sequences as in C++20, which is stricter than C11\n"
    "      --max-runs N      give up on `all' behind so many\n";

static void
found (Result *result)
{
  result->found = true;
  result->schedule = explore_search_print ();
  memcpy (result->message, explore.message, sizeof result->message);
}

/* All interleavings within the bound that is set. Words that threads turn out to share make it
 * start again, because what was run before took no notice of them. */
static void
search_bound (Result *result, unsigned max_runs)
{
  do
    {
      explore_words_learn ();
      explore_search_reset ();
      result->n_runs = 0;
      do
        {
          if (result->n_runs == max_runs)
            return;
          result->n_runs++;
          if (!explore_run ())
            {
              found (result);
              return;
            }
        }
      while (explore_search_next ());
    }
  while (explore_words_learn ());
  result->exhausted = true;
}

/* Finds out which words threads share, at random, so that the search seldom has to start again.
 * What fails here is found again in a simpler form. */
static void
learn (void)
{
  explore_words_forget ();
  for (unsigned i = 0; i < LEARNING_RUNS; i++)
    {
      explore_search_random (i);
      explore_run ();
    }
}

/* With fewer preemptions first, so that a bug is found in its simplest form. */
static void
search_all (Result *result, const Options *options)
{
  const ExploreScenario *scenario = explore.scenario;
  unsigned preemptions = scenario->preemptions ? scenario->preemptions : DEFAULT_PREEMPTIONS;
  unsigned delays = scenario->delays ? scenario->delays : DEFAULT_DELAYS;

  if (options->preemptions != UINT32_MAX)
    preemptions = options->preemptions;
  if (options->delays != UINT32_MAX)
    delays = options->delays;
  if (explore.model == MODEL_SC)
    delays = 0;

  /* With bounds on the command line, that of the scenario for both is not the caller's. */
  explore.max_together = options->together;
  if (scenario->together != 0 && options->together == UINT32_MAX
      && options->preemptions == UINT32_MAX && options->delays == UINT32_MAX)
    explore.max_together = scenario->together;

  learn ();
  explore.search = SEARCH_ALL;
  for (unsigned bound = 0; bound <= preemptions || bound <= delays; bound++)
    {
      explore.max_preemptions = bound < preemptions ? bound : preemptions;
      explore.max_delays = bound < delays ? bound : delays;
      result->exhausted = false;
      search_bound (result, options->max_runs);
      if (result->found || !result->exhausted)
        return;
    }
}

static void
search_random (Result *result, const Options *options)
{
  unsigned n = explore.scenario->random_runs ? explore.scenario->random_runs : DEFAULT_RANDOM_RUNS;

  if (options->random_runs != UINT32_MAX)
    n = options->random_runs;
  for (unsigned i = 0; i < n && !result->found; i++)
    {
      explore_search_random (options->seed + i);
      result->n_random++;
      if (!explore_run ())
        {
          result->by_seed = true;
          result->seed = options->seed + i;
          found (result);
        }
    }
}

/* Runs what was found once more, with every step printed. Returns whether it fails alike. */
static bool
replay (const Result *result)
{
  if (!explore_search_replay (result->schedule))
    return false;
  explore.tracing = true;
  explore_run ();
  explore.tracing = false;

  return explore.failed && strcmp (explore.message, result->message) == 0;
}

static const char *
model_name (void)
{
  static const char *const names[] = { "sc", "tso", "pso" };

  return names[explore.model];
}

static void
report_counts (const Result *result, const Options *options)
{
  printf ("#   %s %llu interleavings with up to %u preemptions and %u delayed stores",
          result->exhausted ? "all" : "the first", (unsigned long long) result->n_runs,
          explore.max_preemptions, explore.max_delays);
  if (explore.max_together != UINT32_MAX)
    printf (", %u together", explore.max_together);
  printf (" (%s)", model_name ());
  if (result->n_random > 0)
    printf (", %llu random ones from seed %llu", (unsigned long long) result->n_random,
            (unsigned long long) options->seed);
  printf ("\n");
}

static bool
report_failure (const Result *result, const char *program)
{
  bool again;

  printf ("#   %s\n", result->message);
  if (result->by_seed)
    printf ("#   seed %llu\n", (unsigned long long) result->seed);
  printf ("#   replay: %s --model %s --scenario %s --schedule %s\n", program, model_name (),
          explore.scenario->name, result->schedule);
  again = replay (result);
  printf ("#   the schedule %s\n",
          again ? "leads to the same failure again" : "does NOT lead to the same failure again");

  return again;
}

/* One line of TAP. Returns whether it is good. */
static bool
run_scenario (const Options *options, unsigned number, const char *program)
{
  const ExploreScenario *scenario = explore.scenario;
  Result result = { 0 };
  bool good, replays = false;

  search_all (&result, options);
  if (!result.found)
    search_random (&result, options);
  report_counts (&result, options);
  if (result.found)
    replays = report_failure (&result, program);

  if (scenario->fails == NULL)
    good = !result.found;
  else
    good = result.found && replays && strstr (result.message, scenario->fails) != NULL;
  if (scenario->fails != NULL && !result.found)
    printf ("#   the planted bug was not found\n");
  else if (scenario->fails != NULL && !good)
    printf ("#   expected: %s\n", scenario->fails);
  printf ("%sok %u - %s%s\n", good ? "" : "not ", number, scenario->fails ? "finds " : "",
          scenario->name);
  fflush (stdout);
  free (result.schedule);

  return good;
}

/* Runs one interleaving with a trace. Returns the exit status. */
static int
run_one (const Options *options)
{
  char *schedule;
  bool good;

  if (options->schedule == NULL)
    {
      explore_search_random (options->seed);
    }
  else if (!explore_search_replay (options->schedule))
    {
      fprintf (stderr, "explore: this is no schedule: %s\n", options->schedule);
      return 2;
    }
  explore.tracing = true;
  good = explore_run ();
  schedule = explore_search_print ();
  printf ("# schedule %s\n1..1\n%sok 1 - %s%s%s\n", schedule, good ? "" : "not ",
          explore.scenario->name, good ? "" : ": ", good ? "" : explore.message);
  free (schedule);

  return good ? 0 : 1;
}

static unsigned
parse_number (const char *text)
{
  char *end;
  unsigned long value = strtoul (text, &end, 10);

  if (*text == '\0' || *end != '\0' || value >= UINT32_MAX)
    {
      fprintf (stderr, "explore: this is no number: %s\n", text);
      exit (2);
    }

  return (unsigned) value;
}

static Model
parse_model (const char *text)
{
  if (strcmp (text, "sc") == 0)
    return MODEL_SC;
  if (strcmp (text, "tso") == 0)
    return MODEL_TSO;
  if (strcmp (text, "pso") == 0)
    return MODEL_PSO;
  fprintf (stderr, "explore: the model is sc, tso or pso, not %s\n", text);
  exit (2);
}

static void
parse_option (Options *options, int option, const char *program)
{
  switch (option)
    {
    case 'l':
      options->list = true;
      break;
    case 's':
      options->scenario = optarg;
      break;
    case 'r':
      options->schedule = optarg;
      break;
    case 'e':
      options->seed = strtoull (optarg, NULL, 10);
      options->have_seed = true;
      break;
    case 'n':
      options->random_runs = parse_number (optarg);
      break;
    case 'p':
      options->preemptions = parse_number (optarg);
      break;
    case 'd':
      options->delays = parse_number (optarg);
      break;
    case 't':
      options->together = parse_number (optarg);
      break;
    case 'm':
      options->model = parse_model (optarg);
      break;
    case '2':
      explore.c20 = true;
      break;
    case 'x':
      options->max_runs = parse_number (optarg);
      break;
    default:
      fprintf (stderr, usage, program);
      exit (2);
    }
}

static Options
parse (int argc, char **argv)
{
  static const struct option known[] = {
    { "list", no_argument, NULL, 'l' },           { "scenario", required_argument, NULL, 's' },
    { "schedule", required_argument, NULL, 'r' }, { "seed", required_argument, NULL, 'e' },
    { "random", required_argument, NULL, 'n' },   { "preemptions", required_argument, NULL, 'p' },
    { "delays", required_argument, NULL, 'd' },   { "together", required_argument, NULL, 't' },
    { "model", required_argument, NULL, 'm' },    { "c20", no_argument, NULL, '2' },
    { "max-runs", required_argument, NULL, 'x' }, { NULL, 0, NULL, 0 },
  };
  Options options = {
    .model = MODEL_TSO,
    .seed = 1,
    .preemptions = UINT32_MAX,
    .delays = UINT32_MAX,
    .together = UINT32_MAX,
    .random_runs = UINT32_MAX,
    .max_runs = DEFAULT_MAX_RUNS,
  };
  int option;

  while ((option = getopt_long (argc, argv, "ls:r:n:p:d:m:", known, NULL)) != -1)
    parse_option (&options, option, argv[0]);

  return options;
}

int
explore_main (int argc, char **argv, const ExploreScenario *scenarios, unsigned n_scenarios)
{
  Options options = parse (argc, argv);
  bool one = options.scenario != NULL
             && (options.schedule != NULL
                 || (options.have_seed && options.random_runs == UINT32_MAX));
  unsigned number = 0;
  bool good = true;

  explore.model = options.model;
  for (unsigned i = 0; i < n_scenarios; i++)
    {
      explore.scenario = &scenarios[i];
      if (options.list)
        printf ("%s\n", scenarios[i].name);
      if (options.list
          || (options.scenario != NULL && strcmp (options.scenario, scenarios[i].name) != 0))
        continue;
      if (one)
        return run_one (&options);
      good &= run_scenario (&options, ++number, argv[0]);
    }
  if (!options.list && number == 0)
    {
      fprintf (stderr, "explore: no scenario %s here; --list names them\n", options.scenario);
      return 2;
    }
  if (!options.list)
    printf ("1..%u\n", number);

  return good ? 0 : 1;
}
