/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The workloads by name.
 */
#include "bench-workloads.h"

static const BenchWorkload workloads[] = {
  { "recursive", "items, and messages, that each make more of them", bench_recursive },
  { "external", "a million items from outside, by 1 and by 4 producers", bench_external },
  { "grain", "items of 0, 1, 10 and 100 µs, from outside and inside", bench_grain },
  { "imbalance", "2000 items of 200 µs, all made by one worker", bench_imbalance },
  { "wake", "from push to run when all threads sleep", bench_wake },
  { "round-trip", "to a worker and back to a main context, by tasks", bench_round_trip },
  { "idle", "processor use and wake-ups of threads without work", bench_idle },
  { "fib", "a task for each call of a recursive function", bench_fib },
  { "jacobi", "Laplace's equation in a square, against plain C", bench_jacobi },
  { "lud", "LU decomposition in blocks, against plain C", bench_lud },
  { "heat", "heat diffusion in a cube, against plain C", bench_heat },
  { "locks", "critical sections of 2 to 128 waiters, in seven kinds", bench_locks },
  { "ping-pong", "a message back and forth between two actors", bench_ping_pong },
  { "fan-in", "messages from 8 producers to one actor", bench_fan_in },
  { "ring", "a message round a million actors", bench_actor_ring },
  { "coordinate", "exclusive messages of 4 threads through an arbiter", bench_coordinate },
  { "queues", "the containers by themselves, against threads", bench_queues },
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
