/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The search: which choices are made, and how they are written down.
 *
 * The choices of one interleaving form a path. All paths are walked depth first: what was chosen
 * before is chosen again, and at the last place where something is left the next is taken; behind
 * it the first value is taken everywhere. A random search draws instead. A schedule is the list of
 * all choices that were not the first value:
 *
 *   <step>s<thread>     that thread went on
 *   <step>d1            the store stayed in the buffer
 *   <step>f<thread>:<n> so many of that thread's stores to the word came out first
 *
 * with commas between them; "-" is the empty list.
 */
#include "explore-private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PATH   65536
#define MAX_VALUES 40

typedef struct
{
  ChoiceKind kind;
  unsigned step, of;
  unsigned n, at; /* the at-th of n values */
  unsigned value, first;
} Choice;

static Choice path[MAX_PATH];
static unsigned length, depth;
static uint64_t random_state;

static Choice *orders; /* of a replay */
static unsigned n_orders;

static const char letters[] = "sdf";

static uint32_t
random_below (uint32_t bound)
{
  random_state ^= random_state >> 12;
  random_state ^= random_state << 25;
  random_state ^= random_state >> 27;

  return (uint32_t) ((((random_state * 0x2545f4914f6cdd1dULL) >> 32) * bound) >> 32);
}

/* Rarely something else than the first, so that threads get somewhere. */
static unsigned
choose_at_random (unsigned n)
{
  return random_below (6) == 0 ? random_below (n) : 0;
}

static unsigned
choose_as_told (ChoiceKind kind, unsigned step, unsigned of, const unsigned *values, unsigned n)
{
  for (unsigned i = 0; i < n_orders; i++)
    {
      if (orders[i].kind != kind || orders[i].step != step || orders[i].of != of)
        continue;
      for (unsigned j = 0; j < n; j++)
        if (values[j] == orders[i].value)
          return j;
      explore_fail ("the schedule does not fit: at step %u there is no choice %c%u", step,
                    letters[kind], orders[i].value);
    }

  return 0;
}

static void
check_same (const Choice *choice, ChoiceKind kind, unsigned step, unsigned n)
{
  if (choice->kind == kind && choice->step == step && choice->n == n)
    return;
  fprintf (stderr,
           "explore: %s is not deterministic: the same choices led to another place at step %u "
           "(is there a variable that explore_state() was not told of?)\n",
           explore.scenario->name, step);
  exit (2);
}

unsigned
explore_choose (ChoiceKind kind, unsigned step, unsigned of, const unsigned *values, unsigned n)
{
  Choice *choice = &path[depth];

  if (n == 1 && explore.search != SEARCH_REPLAY)
    return values[0];
  if (depth == MAX_PATH)
    explore_fail ("more than %d choices", MAX_PATH);
  if (depth == length || explore.search != SEARCH_ALL)
    {
      *choice = (Choice){ .kind = kind, .step = step, .of = of, .n = n, .first = values[0] };
      if (explore.search == SEARCH_RANDOM)
        choice->at = choose_at_random (n);
      else if (explore.search == SEARCH_REPLAY)
        choice->at = choose_as_told (kind, step, of, values, n);
      length = depth + 1;
    }
  else
    {
      check_same (choice, kind, step, n);
    }
  depth++;
  choice->value = values[choice->at];

  return choice->value;
}

void
explore_search_begin_run (void)
{
  depth = 0;
}

/* The next run is the first of a search. */
void
explore_search_reset (void)
{
  length = 0;
}

/* After a run of a search for all: moves on. False when there is nothing left. */
bool
explore_search_next (void)
{
  /* A run that failed may have ended early: the choices behind it were of another run. */
  length = depth;
  while (length > 0 && path[length - 1].at + 1 == path[length - 1].n)
    length--;
  if (length == 0)
    return false;
  path[length - 1].at++;

  return true;
}

/* The next run draws its choices from @seed. */
void
explore_search_random (uint64_t seed)
{
  explore.search = SEARCH_RANDOM;
  random_state = (seed + 1) * 0x9e3779b97f4a7c15ULL | 1;
  for (unsigned i = 0; i < 4; i++)
    random_below (2);
}

/* One order of a schedule; returns what is behind it, or NULL when it is none. */
static const char *
parse_order (const char *text, Choice *order)
{
  char *end;
  const char *letter;

  order->step = (unsigned) strtoul (text, &end, 10);
  if (end == text || *end == '\0' || (letter = strchr (letters, *end)) == NULL)
    return NULL;
  order->kind = (ChoiceKind) (letter - letters);
  order->of = 0;
  text = end + 1;
  order->value = (unsigned) strtoul (text, &end, 10);
  if (end == text)
    return NULL;
  if (order->kind == CHOICE_FLUSH)
    {
      if (*end != ':')
        return NULL;
      order->of = order->value;
      text = end + 1;
      order->value = (unsigned) strtoul (text, &end, 10);
      if (end == text)
        return NULL;
    }

  return end;
}

/* The next runs follow @schedule. False when it is no schedule. */
bool
explore_search_replay (const char *schedule)
{
  explore.search = SEARCH_REPLAY;
  free (orders);
  orders = calloc (strlen (schedule) + 1, sizeof *orders);
  n_orders = 0;
  if (orders == NULL)
    return false;
  if (strcmp (schedule, "-") == 0)
    return true;
  for (;;)
    {
      schedule = parse_order (schedule, &orders[n_orders++]);
      if (schedule == NULL)
        return false;
      if (*schedule == '\0')
        return true;
      if (*schedule++ != ',')
        return false;
    }
}

/* The schedule of the last run, to be freed. */
char *
explore_search_print (void)
{
  char *text = NULL;
  size_t size;
  FILE *file = open_memstream (&text, &size);

  if (file == NULL)
    return NULL;
  for (unsigned i = 0, n = 0; i < depth; i++)
    {
      const Choice *choice = &path[i];

      if (choice->value == choice->first)
        continue;
      fprintf (file, "%s%u%c", n++ > 0 ? "," : "", choice->step, letters[choice->kind]);
      if (choice->kind == CHOICE_FLUSH)
        fprintf (file, "%u:", choice->of);
      fprintf (file, "%u", choice->value);
    }
  if (ftell (file) == 0)
    fprintf (file, "-");
  fclose (file);

  return text;
}
