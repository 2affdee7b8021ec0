/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A run of one of the programs of the workload locks, by threads that sleep while they wait or by
 * work items.
 */
#pragma once

#include "tests/bench/peers/bench-contender.h"
#include "tests/bench/workloads/locks/bench-lock-programs.h"

#include <iris/iris.h>

G_BEGIN_DECLS

typedef enum
{
  BENCH_LOCK_GMUTEX, /* threads */
  BENCH_LOCK_THREADS,
  BENCH_LOCK_ITEMS,
} BenchLockUsers;

typedef struct
{
  const BenchLockProgram *program;
  BenchLockUsers how;
  IrisLockPolicy policy;
  guint n_users;
  guint sections;                  /* of each user */
  gsize bytes;                     /* that a lock protects, where the program leaves it open */
  const BenchContender *contender; /* the scheduler of items */
} BenchLockLoad;

/* For BenchCase.run: seconds, and seconds of processor time of all threads. */
gboolean bench_lock_run (const BenchRun *what, gdouble *samples, GError **error);

G_END_DECLS
