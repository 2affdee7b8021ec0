/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * For the pool's scenario: the place queues with other deques than the usual one, and in the other
 * layouts. A file of its own, because it compiles iris-place-search.c a second time.
 */
#include <glib-object.h>

#include "iris/sched/compare/iris-affinity-queues.c"
#include "iris/sched/compare/iris-compared-queues.c"
