/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The simulated code, second part: place queues with the deques that are only compared, and in the
 * layouts `shared` and `affinity`. A file of its own, because it compiles iris-place-search.c a
 * second time.
 */
#include "tests/bench/sim/sim-pool.h"

#include "iris/sched/compare/iris-affinity-queues.c"
#include "iris/sched/compare/iris-compared-queues.c"
