/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The workloads by name.
 */
#include "tests/bench/workloads/bench-workloads.h"

static const BenchWorkload workloads[] = {
  { "recursive", "items, and messages, that each make more of them", bench_recursive, FALSE },
  { "external", "a million items from outside, by 1 and by 4 producers", bench_external, FALSE },
  { "grain", "items of 0, 1, 10 and 100 µs, from outside and inside", bench_grain, FALSE },
  { "imbalance", "2000 items of 200 µs, all made by one worker", bench_imbalance, FALSE },
  { "wake", "from push to run when all threads sleep", bench_wake, FALSE },
  { "round-trip", "to a worker and back to a main context, by tasks", bench_round_trip, FALSE },
  { "idle", "processor use and wake-ups of threads without work", bench_idle, FALSE },
  { "fib", "a task for each call of a recursive function", bench_fib, FALSE },
  { "jacobi", "Laplace's equation in a square, against plain C", bench_jacobi, FALSE },
  { "lud", "LU decomposition in blocks, against plain C", bench_lud, FALSE },
  { "heat", "heat diffusion in a cube, against plain C", bench_heat, FALSE },
  { "locks", "critical sections of 2 to 128 waiters, in seven kinds", bench_locks, FALSE },
  { "ping-pong", "a message back and forth between two actors", bench_ping_pong, FALSE },
  { "fan-in", "messages from 8 producers to one actor", bench_fan_in, FALSE },
  { "ring", "a message round a million actors", bench_actor_ring, FALSE },
  { "coordinate", "exclusive messages of 4 threads through an arbiter", bench_coordinate, FALSE },
  { "queues", "the containers by themselves, against threads", bench_queues, FALSE },
  { "daemon", "irisd beside beanstalkd, gearmand and bare ZeroMQ; and backlog", bench_daemon,
    TRUE },
  { "backlog", "a million items that wait in irisd, and are found again", bench_backlog, TRUE },
};

const BenchWorkload *
bench_workload_nth (guint n)
{
  return n < G_N_ELEMENTS (workloads) ? &workloads[n] : NULL;
}

const BenchWorkload *
bench_workload_find (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (workloads); i++)
    if (g_str_equal (workloads[i].name, name))
      return &workloads[i];

  return NULL;
}
