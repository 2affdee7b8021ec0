/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The containers that are compared, by their public interfaces.
 */
#pragma once

#include <iris/iris.h>

#include "tests/bench/measure/bench-measure.h"

/* Who may call what. */
typedef enum
{
  BENCH_SHARED, /* any thread pushes and pops */
  BENCH_MPSC,   /* any thread pushes, one pops */
} BenchSharing;

typedef struct
{
  const char *name;
  BenchKind kind;
  BenchSharing sharing;
  gpointer (*make) (void);
  void (*unmake) (gpointer self);
  void (*push) (gpointer self, gpointer item);
  gpointer (*pop) (gpointer self); /* NULL: nothing there */
} BenchContainer;

/* NULL behind the last one. */
const BenchContainer *bench_container_nth (guint n);

/* Every kind of deque that the library has, with an owner and threads - 1 thieves. */
void
bench_deques_add (BenchResult *result, const BenchOptions *options, guint threads, guint items);
