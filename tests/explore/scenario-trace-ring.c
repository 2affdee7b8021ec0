/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The ring of a trace, explored: a reader that copies while the writer overwrites gets whole
 * events, in a row, and the latest that were there when it began.
 *
 * PLANT_NO_SECOND_LOOK keeps what the reader copied without looking whether it was overwritten
 * meanwhile; PLANT_KEEPS_ONE_MORE also keeps the event whose slot the writer may be filling.
 */
#include "iris/sched/trace/iris-trace-ring-private.h"

#include "explore.h"

#include <string.h>

#define SIZE 2

static union
{
  IrisTraceRing ring;
  char room[sizeof (IrisTraceRing) + SIZE * sizeof (IrisTraceSlot)];
} one;

static void
setup (void)
{
  iris_trace_ring_init (&one.ring, SIZE);
}

/* Event n tells n + 1 twice. */
static void
push (uint64_t n)
{
  iris_trace_ring_push (&one.ring, n + 1, n + 1);
}

#if defined(PLANT_NO_SECOND_LOOK) || defined(PLANT_KEEPS_ONE_MORE)
static uint64_t
take (IrisTraceRing *ring, uint64_t from, IrisTraceEvent *out, uint64_t *first)
{
  uint64_t head = iris_trace_ring_get_head (ring), now;
  uint64_t begin = head > SIZE && head - SIZE > from ? head - SIZE : from;
  uint64_t n = head > begin ? head - begin : 0;

  for (uint64_t i = 0; i < n; i++)
    {
      out[i].when = atomic_load_explicit (&ring->slots[(begin + i) % SIZE].when,
                                          memory_order_acquire);
      out[i].what = atomic_load_explicit (&ring->slots[(begin + i) % SIZE].what,
                                          memory_order_acquire);
    }
  now = iris_trace_ring_get_head (ring);
#ifdef PLANT_KEEPS_ONE_MORE
  if (now > begin + SIZE)
    n = 0;
#endif
  *first = begin;

  return now < head ? 0 : n;
}
#define FAILS "event"
#else
#define take  iris_trace_ring_read
#define FAILS NULL
#endif

static void
read_while_written (uint64_t from)
{
  IrisTraceEvent events[SIZE];
  uint64_t first, seen = iris_trace_ring_get_head (&one.ring), n;

  memset (events, 0, sizeof events);
  n = take (&one.ring, from, events, &first);
  explore_assert (n <= SIZE, "%u events in a ring of %u", (unsigned) n, SIZE);
  explore_assert (first >= from, "the first is %u", (unsigned) first);
  for (uint64_t i = 0; i < n; i++)
    {
      explore_assert (events[i].when == events[i].what, "half an event: %u, %u",
                      (unsigned) events[i].when, (unsigned) events[i].what);
      explore_assert (events[i].when == first + i + 1, "event %u in place of %u",
                      (unsigned) events[i].when, (unsigned) (first + i + 1));
    }
  explore_assert (n == 0 || first + n >= seen, "event %u is missing", (unsigned) seen);
}

static void
read_and_write (unsigned self)
{
  if (self == 0)
    for (uint64_t n = 0; n < 4; n++)
      push (n);
  else
    read_while_written (0);
}

static void
read_from_the_second (unsigned self)
{
  if (self == 0)
    for (uint64_t n = 0; n < 4; n++)
      push (n);
  else
    read_while_written (1);
}

/* Without a writer all is there. */
static void
check (void)
{
  IrisTraceEvent events[SIZE];
  uint64_t first, n;

  n = iris_trace_ring_read (&one.ring, 0, events, &first);

  explore_assert (first == 3 && n == 1, "%u events from %u", (unsigned) n, (unsigned) first);
  explore_assert (events[0].when == 4 && events[0].what == 4, "not the last event");
}

static const ExploreScenario scenarios[] = {
  { "trace-ring/read-and-write", 2, setup, read_and_write, check, .fails = FAILS },
  { "trace-ring/read-from-the-second", 2, setup, read_from_the_second, check, .fails = FAILS },
};

int
main (int argc, char **argv)
{
  return explore_main (argc, argv, scenarios, 2);
}
