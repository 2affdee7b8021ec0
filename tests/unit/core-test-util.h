/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the tests of the core share: waiting for a condition without a clock, one of each scheduler,
 * and (core-test-run.h) running a suite.
 */
#pragma once

#include "core-test-run.h"

#include <iris/iris.h>
#include <iris/base/iris-atomic-private.h>

#include <pthread.h>

/* Sanitizers make everything ten times slower, so they get fewer items. */
#if defined(IRIS_THREAD_SANITIZER) || defined(IRIS_ADDRESS_SANITIZER)
#define CORE_TEST_FACTOR 20
#else
#define CORE_TEST_FACTOR 1
#endif

/* How many rounds or items of a load of which each shows the same: @n, and under a sanitizer, which
 * reports a mistake that happens once, its part of them. */
#define CORE_TEST_LOAD(n) (((n) + CORE_TEST_FACTOR - 1) / CORE_TEST_FACTOR)

/* A count that threads wait for. */
typedef struct
{
  pthread_mutex_t lock;
  pthread_cond_t changed;
  guint64 count;
} CoreTestGate;

#define CORE_TEST_GATE_INIT                                \
  {                                                        \
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 \
  }

void core_test_gate_close (CoreTestGate *self);
void core_test_gate_add (CoreTestGate *self, guint64 n);
void core_test_gate_wait (CoreTestGate *self, guint64 at_least);
guint64 core_test_gate_get (CoreTestGate *self);

/* Adds 1 when the last reference to an object is gone, on whichever thread. In place of a weak
 * pointer: the gate is static, so a worker that drops the last reference late writes into no frame
 * of the stack that another function has by then. */
void core_test_gate_watch (CoreTestGate *self, gpointer object);

/* The schedulers, by number. */
typedef struct
{
  const char *name;
  guint n_places;  /* 0: not a scheduler of places */
  guint n_workers; /* of each place */
  IrisDeal deal;
  IrisScheduler *(*make) (guint min_threads, guint max_threads);
} CoreTestKind;

extern const CoreTestKind core_test_kinds[];
extern const int core_test_n_kinds;

IrisScheduler *core_test_make (const CoreTestKind *kind);

/* One of each class of scheduler, by number, with two workers: at each of two places if it has
 * some. */
#define CORE_TEST_N_CLASSES 4
IrisScheduler *core_test_make_class (int i);

/* What must hold of the statistics of any scheduler that was shut down. */
void core_test_check_stats (IrisScheduler *scheduler);

/* A number from /proc/self/status. */
guint64 core_test_proc_status (const char *field);

/* For the start of a test of threads: how many there are without any scheduler. */
guint64 core_test_count_base_threads (void);
void core_test_wait_for_threads (guint64 n);
