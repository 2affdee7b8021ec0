/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Refusing: an idle worker leaves the backlog of another place alone if that drains sooner than
 * the move costs.
 *
 * Who may call what: the workers of the pool, with themselves as @self.
 *
 * The rule
 * --------
 * A thief of place H looks at place V. It expects the backlog of V to last
 *
 *     items that wait at V × mean run time of V's items / workers of V that are awake
 *
 * and the move to cost, with d the distance,
 *
 *     move cost × d  +  declared bytes of an item there / bandwidth × max (1, d / 10)
 *
 * (10 is what firmware says of local memory.) If nothing is known of run times, if no worker of V
 * is awake, or if the former is no less than the latter, it steals. Otherwise it refuses, for now.
 *
 * A forecast, not a judgement
 * ---------------------------
 * An expectation may be wrong: the one worker of V may be in an item that takes a second, or waits
 * for the very item that was refused. So a refusal is a forecast: by a deadline, which is the cost
 * of the move from now, V has begun as many items as it has waiting now. While the deadline is not
 * reached, thieves refuse. If V makes it, the next refusal is a new forecast. If it does not,
 * thieves steal until it has. So waiting costs at most what the move costs, and both together at
 * most twice what the better of the two would have (ski rental).
 *
 * V may make its forecasts by other items than those that wait longest: one worker of it runs a
 * chain of its own while another is stuck with something on its deque. Hence the second bound: from
 * the first refusal on, V is refused for the policy's max-delay at most, unless it is seen empty or
 * something of it is stolen meanwhile.
 *
 * Nothing is lost, no worker spins
 * -----------------------------
 * Refused work stays in the source, and every worker that meets it and refuses comes back: it finds
 * (has_work()) that all it sees is refused, and backs off (iris-parking-lot-private.h) for
 * IRIS_BACKOFF_MAX_NS at most, then looks again. It sleeps for good only if it sees nothing at all.
 * So "every worker sleeps for good" still means that every source was seen empty, and the argument
 * of the parking lot holds unchanged. Whether V's workers are awake, asleep or stuck is never
 * relied upon; a V that has none awake is not refused in the first place, and an item that comes to
 * V wakes a sleeper of V before any other.
 *
 * The bound: while a worker of another place is idle, an item at V that may move waits, for being
 * refused, for max-delay + IRIS_BACKOFF_MAX_NS + the time to be scheduled, at most; and if V stands
 * still, for the cost of the move in place of max-delay. Let F be the time of the first refusal
 * since V was last seen empty or stolen from. F is set once, by the first that refuses, and V is
 * not seen empty while the item waits, because lengths are read by positions and the item has one.
 * After F + max-delay no judgement refuses, so the next look of any idle worker takes something,
 * in the order in which it would have without refusing.
 *
 * Orders: all words are advice, read and written relaxed. The worst that a stale one does is to
 * refuse anew, or to steal early. It cannot go on refusing: a thief that overwrites a forecast has
 * read one that was fulfilled, and does so once before it reads again; the new target lies above
 * what V has begun, so readers find it unfulfilled until V moves.
 *
 * Keeping apart
 * -------------
 * An item that is to be kept apart waits in inboxes only. If H has one in flight, running or
 * waiting, it leaves the inbox of a V alone that has one waiting, by the same forecast and bounds,
 * with the cost of its size as the time until the deadline.
 *
 * Source: Th. Weibel (LASSI, 2010) asks for it (counter-productive steals); A. Karlin, M. Manasse,
 * L. Rudolph, D. Sleator, "Competitive Snoopy Caching" (Algorithmica 3, 1988) for waiting as long
 * as the remedy costs.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"

/* What is forecast of a place; shared by all thieves. */
typedef struct
{
  alignas (IRIS_CACHE_PAIR) _Atomic uint64_t target; /* items that it will have begun */
  _Atomic uint64_t deadline;                         /* in nanoseconds */
  _Atomic uint64_t since;                            /* when it was first refused; 0: it is not */
} IrisForecast;
