/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Who touches what: words that threads share, and races on plain memory.
 *
 * Words. For each atomic word the threads that read and write it are noted, for the whole search:
 * where no other thread is concerned a switch would change nothing. The word also carries the
 * clocks that an acquire of it learns, for one interleaving: one for each thread that heads a
 * release sequence. As in C11 the sequence goes on with read-modify-writes of any thread and with
 * stores of the same thread. C++20 ends it at the latter; --c20 does as well.
 *
 * Plain memory. The explored sources are compiled with -fsanitize=thread but not linked with its
 * runtime (the Linux kernel's KCSAN does the same): the compiler puts a call in front of each
 * plain access, and the functions that it calls are here. Two accesses to the same byte by two
 * threads, one of them a write, must be ordered by the clocks. Because the explorer goes on only
 * at atomics, plain accesses need no switch points: in a program without such races their order
 * cannot be seen.
 *
 * Source: C. Flanagan, S. Freund, "FastTrack" (PLDI 2009), with whole clocks; F. Mattern (1989).
 */
#include "explore-private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_WORDS  4096 /* powers of two */
#define N_SHADOW 65536

typedef struct
{
  const char *word;
  unsigned run;
  unsigned readers, writers;             /* sets of threads, over all runs */
  unsigned known_readers, known_writers; /* as of the last explore_words_learn() */
  unsigned heads;                        /* the set of threads whose clock below may not be empty */
  Clock released[EXPLORE_MAX_THREADS];   /* by the release sequence that each thread heads */
} Word;

/* Eight bytes of plain memory. */
typedef struct
{
  uintptr_t cell;
  unsigned run;
  uint32_t written[EXPLORE_MAX_THREADS], read[EXPLORE_MAX_THREADS];
  uint8_t written_bytes[EXPLORE_MAX_THREADS], read_bytes[EXPLORE_MAX_THREADS];
} Shadow;

static Word words[N_WORDS];
static Shadow shadow[N_SHADOW];
static unsigned n_words, n_shadow;
static unsigned run;
static bool grew;

/* Neighbours stay neighbours: the few that a scenario touches share pages. */
static size_t
hash (uintptr_t key)
{
  return (size_t) (key ^ key >> 16);
}

static Word *
word_find (const char *word)
{
  static Word *last = words;
  size_t i;

  if (last->word == word && last->run == run)
    return last;
  i = hash ((uintptr_t) word / 4) % N_WORDS;

  while (words[i].word != word && words[i].word != NULL)
    i = (i + 1) % N_WORDS;
  if (words[i].word == NULL)
    {
      if (++n_words == N_WORDS - 1)
        explore_fail ("the scenario has more than %d atomic words", N_WORDS - 2);
      words[i].word = word;
    }
  if (words[i].run != run)
    {
      words[i].run = run;
      words[i].heads = 0;
      memset (words[i].released, 0, sizeof words[i].released);
    }
  last = &words[i];

  return last;
}

void
explore_race_begin_run (void)
{
  run++;
}

void
explore_clock_join (Clock *clock, const Clock *other)
{
  for (unsigned i = 0; i < EXPLORE_MAX_THREADS; i++)
    if (other->at[i] > clock->at[i])
      clock->at[i] = other->at[i];
}

/* What an acquire that reads @word now teaches @learner. */
void
explore_word_acquire (const void *word, Clock *learner)
{
  Word *found = word_find (word);

  for (unsigned heads = found->heads; heads != 0; heads &= heads - 1)
    explore_clock_join (learner, &found->released[__builtin_ctz (heads)]);
}

/* A store by @by has reached memory. */
void
explore_word_stored (const void *word, unsigned by, bool release, const Clock *clock)
{
  static const Clock none;
  Word *found = word_find (word);

  for (unsigned heads = found->heads; heads != 0; heads &= heads - 1)
    {
      unsigned i = (unsigned) __builtin_ctz (heads);

      if (i != by || release || explore.c20)
        {
          found->released[i] = none;
          found->heads &= ~(1u << i);
        }
    }
  explore_clock_join (&found->released[by], clock);
  found->heads |= 1u << by;
}

/* A read-modify-write. */
void
explore_word_changed (const void *word, unsigned by, const Clock *clock)
{
  Word *found = word_find (word);

  explore_clock_join (&found->released[by], clock);
  found->heads |= 1u << by;
}

/* Notes an access; returns whether the order against another thread's accesses is known to matter.
 * The knowledge stays the same between two calls of explore_words_learn(), so that the same choices
 * are offered in each run. */
bool
explore_word_touch (const void *word, unsigned by, bool writes)
{
  Word *found = word_find (word);
  unsigned *set = writes ? &found->writers : &found->readers;
  unsigned bit = 1u << by;
  unsigned others = found->known_writers | (writes ? found->known_readers : 0);

  if (!(*set & bit))
    {
      *set |= bit;
      grew = true;
    }

  return (others & ~bit) != 0;
}

/* Takes note of what was noted. Returns whether that is more than was known before. */
bool
explore_words_learn (void)
{
  bool value = grew;

  grew = false;
  for (unsigned i = 0; i < N_WORDS && value; i++)
    {
      words[i].known_readers = words[i].readers;
      words[i].known_writers = words[i].writers;
    }

  return value;
}

void
explore_words_forget (void)
{
  memset (words, 0, sizeof words);
  n_words = 0;
  grew = false;
}

static Shadow *
shadow_find (uintptr_t cell)
{
  size_t i = hash (cell) % N_SHADOW;

  while (shadow[i].cell != cell && shadow[i].cell != 0)
    i = (i + 1) % N_SHADOW;
  if (shadow[i].cell == 0)
    {
      if (++n_shadow == N_SHADOW - 1)
        explore_fail ("the scenario touches more than %d bytes", 8 * N_SHADOW);
      shadow[i].cell = cell;
    }
  if (shadow[i].run != run)
    {
      memset (&shadow[i], 0, sizeof shadow[i]);
      shadow[i].cell = cell;
      shadow[i].run = run;
    }

  return &shadow[i];
}

/* Where the program is, which the linker says. */
extern char __executable_start;

static void __attribute__ ((noreturn))
report (const char *address, unsigned other, bool wrote, bool writes, void *caller)
{
  explore_fail ("data race: thread %u %s %p, which thread %u %s with nothing between that orders "
                "the two (addr2line 0x%tx)",
                explore.current->index, writes ? "writes" : "reads", (const void *) address, other,
                wrote ? "wrote" : "read", (char *) caller - &__executable_start - 1);
}

/* A thread whose own clock is @clock reads or writes @bytes. */
static void
shadow_note (uint32_t *when, uint8_t *which, uint32_t clock, uint8_t bytes)
{
  *which = *when == clock ? *which | bytes : bytes;
  *when = clock;
}

static void
shadow_access (const char *address, uint8_t bytes, bool writes, void *caller)
{
  Thread *self = explore.current;
  Shadow *found = shadow_find ((uintptr_t) address / 8 + 1);
  uint32_t now = self->clock.at[self->index];
  uint32_t when = writes ? found->written[self->index] : found->read[self->index];
  uint8_t noted = writes ? found->written_bytes[self->index] : found->read_bytes[self->index];

  /* The same access since this thread's last release: an access of another thread in between has
   * been checked against that one, and one before it was looked at then ("same epoch" in
   * FastTrack). */
  if (when == now && (noted & bytes) == bytes)
    return;
  for (unsigned i = 0; i < explore.scenario->n_threads; i++)
    {
      if (i == self->index)
        continue;
      if ((found->written_bytes[i] & bytes) && found->written[i] > self->clock.at[i])
        report (address, i, true, writes, caller);
      if (writes && (found->read_bytes[i] & bytes) && found->read[i] > self->clock.at[i])
        report (address, i, false, writes, caller);
    }
  if (writes)
    shadow_note (&found->written[self->index], &found->written_bytes[self->index], now, bytes);
  else
    shadow_note (&found->read[self->index], &found->read_bytes[self->index], now, bytes);
}

static inline void
plain_access (char *address, size_t size, bool writes, void *caller)
{
  if (!explore.running || explore_is_stack (address) || explore_is_thread_local (address))
    return;
  explore_arena_check (address, "plain code");
  while (size > 0)
    {
      unsigned offset = (uintptr_t) address % 8;
      unsigned n = size < 8 - offset ? (unsigned) size : 8 - offset;

      shadow_access (address, (uint8_t) (((1u << n) - 1) << offset), writes, caller);
      address += n;
      size -= n;
    }
}

#include "explore-plain-accesses.h"
