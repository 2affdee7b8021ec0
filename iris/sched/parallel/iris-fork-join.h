/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Fork and join, for divide and conquer inside an item.
 */
#pragma once

#include <iris/queue/deque/iris-fork-stack.h>
#include <iris/sched/iris-scheduler.h>

G_BEGIN_DECLS

/**
 * IrisForkFunc:
 * @fj: the handle for what the function forks
 * @data: (nullable) (closure): what was given with the function
 *
 * A task without a type of its own; see iris_fork_join_fork().
 */
typedef void (*IrisForkFunc) (IrisForkJoin *fj, gpointer data);

/**
 * IrisForkRangeFunc:
 * @fj: the handle for what the function forks
 * @begin: the first index
 * @end: the index after the last
 * @data: (nullable) (closure): what was given with the function
 *
 * Works on a part of a range; see iris_fork_join_for().
 */
typedef void (*IrisForkRangeFunc) (IrisForkJoin *fj, gsize begin, gsize end, gpointer data);

IRIS_AVAILABLE_IN_ALL IrisForkJoin *iris_fork_join_begin (void);
IRIS_AVAILABLE_IN_ALL gboolean iris_fork_join_run (IrisScheduler *scheduler,
                                                   IrisForkFunc func,
                                                   gpointer data);
IRIS_AVAILABLE_IN_ALL IrisForkJoin *
iris_fork_join_fork (IrisForkJoin *fj, IrisForkTask *task, IrisForkFunc func, gpointer data);
IRIS_AVAILABLE_IN_ALL IrisForkJoin *iris_fork_join_join (IrisForkJoin *fj, IrisForkTask *task);
IRIS_AVAILABLE_IN_ALL void iris_fork_join_for (IrisForkJoin *fj,
                                               gsize begin,
                                               gsize end,
                                               gsize grain,
                                               IrisForkRangeFunc func,
                                               gpointer data);

#ifndef __GI_SCANNER__

/**
 * IRIS_FORKABLE_1:
 * @R: the type of the result
 * @name: the name of the function
 * @A: the type of its argument
 *
 * Declares the static function `R name (IrisForkJoin *fj, A a)`, which the program defines, and
 * makes two functions for it. (It is declared inline, so that compilers unroll its recursion as
 * they do that of plain functions; what is forked has its address taken.)
 *
 * ```c
 * void name_fork (IrisForkJoin **fj, IrisForkTask *task, A a);
 * R    name_join (IrisForkJoin **fj, IrisForkTask *task);
 * ```
 *
 * A fork lays the call down, for another worker to take; the join calls the function, or, if
 * a thread took it, waits for its result. Forks are joined in reverse order, by the function that
 * forked them, each before that returns; @fj and @task are variables of that function. Calls in
 * between are given the present @fj. Who forks decides where that ends: a call that works for
 * less than a microsecond is better not forked.
 *
 * ```c
 * IRIS_FORKABLE_1 (guint64, fib, guint);
 *
 * static guint64
 * fib (IrisForkJoin *fj, guint n)
 * {
 *   IrisForkTask left;
 *   guint64 right;
 *
 *   if (n < 20)
 *     return plain_fib (n);
 *   fib_fork (&fj, &left, n - 1);
 *   right = fib (fj, n - 2);
 *   return fib_join (&fj, &left) + right;
 * }
 * ```
 *
 * `IRIS_FORKABLE_2` to `IRIS_FORKABLE_4` are for more arguments, %IRIS_FORK_SIZE bytes together at
 * most; `IRIS_FORKABLE_VOID_1` to `IRIS_FORKABLE_VOID_4` for functions without a result.
 */
#define IRIS_FORKABLE_1(R, name, A)                                                              \
  static inline R name (IrisForkJoin *fj, A a);                                                  \
  IRIS_FORKABLE_RESULT_ (R, name, A a;, (IrisForkJoin * *fj, IrisForkTask * task, A a), x.a = a; \
                         , (fj, x.a))
#define IRIS_FORKABLE_2(R, name, A, B)                                                            \
  static inline R name (IrisForkJoin *fj, A a, B b);                                              \
  IRIS_FORKABLE_RESULT_ (R, name, A a; B b;                                                       \
                         , (IrisForkJoin * *fj, IrisForkTask * task, A a, B b), x.a = a; x.b = b; \
                         , (fj, x.a, x.b))
#define IRIS_FORKABLE_3(R, name, A, B, C)                                                     \
  static inline R name (IrisForkJoin *fj, A a, B b, C c);                                     \
  IRIS_FORKABLE_RESULT_ (R, name, A a; B b; C c;                                              \
                         , (IrisForkJoin * *fj, IrisForkTask * task, A a, B b, C c), x.a = a; \
                         x.b = b; x.c = c;, (fj, x.a, x.b, x.c))
#define IRIS_FORKABLE_4(R, name, A, B, C, D)                                                       \
  static inline R name (IrisForkJoin *fj, A a, B b, C c, D d);                                     \
  IRIS_FORKABLE_RESULT_ (R, name, A a; B b; C c; D d;                                              \
                         , (IrisForkJoin * *fj, IrisForkTask * task, A a, B b, C c, D d), x.a = a; \
                         x.b = b; x.c = c; x.d = d;, (fj, x.a, x.b, x.c, x.d))
#define IRIS_FORKABLE_VOID_1(name, A)                                                       \
  static inline void name (IrisForkJoin *fj, A a);                                          \
  IRIS_FORKABLE_VOID_ (name, A a;, (IrisForkJoin * *fj, IrisForkTask * task, A a), x.a = a; \
                       , (fj, x.a))
#define IRIS_FORKABLE_VOID_2(name, A, B)                                                        \
  static inline void name (IrisForkJoin *fj, A a, B b);                                         \
  IRIS_FORKABLE_VOID_ (name, A a; B b;                                                          \
                       , (IrisForkJoin * *fj, IrisForkTask * task, A a, B b), x.a = a; x.b = b; \
                       , (fj, x.a, x.b))
#define IRIS_FORKABLE_VOID_3(name, A, B, C)                                                 \
  static inline void name (IrisForkJoin *fj, A a, B b, C c);                                \
  IRIS_FORKABLE_VOID_ (name, A a; B b; C c;                                                 \
                       , (IrisForkJoin * *fj, IrisForkTask * task, A a, B b, C c), x.a = a; \
                       x.b = b; x.c = c;, (fj, x.a, x.b, x.c))
#define IRIS_FORKABLE_VOID_4(name, A, B, C, D)                                                   \
  static inline void name (IrisForkJoin *fj, A a, B b, C c, D d);                                \
  IRIS_FORKABLE_VOID_ (name, A a; B b; C c; D d;                                                 \
                       , (IrisForkJoin * *fj, IrisForkTask * task, A a, B b, C c, D d), x.a = a; \
                       x.b = b; x.c = c; x.d = d;, (fj, x.a, x.b, x.c, x.d))

#define IRIS_FORKABLE_RESULT_(R, name, FIELDS, PARAMS, SET, CALL)                               \
  IRIS_FORKABLE_FORK_ (name, FIELDS, PARAMS, SET, R result = name CALL;                         \
                       __builtin_memcpy (slot->words, &result, sizeof result))                  \
  IRIS_FORKABLE_JOIN_ (R, name, CALL, R result;                                                 \
                       __builtin_memcpy (&result, popped.result, sizeof result); return result) \
  G_STATIC_ASSERT (sizeof (R) <= IRIS_FORK_SIZE)

#define IRIS_FORKABLE_VOID_(name, FIELDS, PARAMS, SET, CALL) \
  IRIS_FORKABLE_FORK_ (name, FIELDS, PARAMS, SET, name CALL) \
  IRIS_FORKABLE_JOIN_ (void, name, CALL, return )            \
  G_STATIC_ASSERT (sizeof (name##_arguments_) <= IRIS_FORK_SIZE)

#define IRIS_FORKABLE_FORK_(name, FIELDS, PARAMS, SET, RUN)                    \
  typedef struct                                                               \
  {                                                                            \
    FIELDS                                                                     \
  } name##_arguments_;                                                         \
  G_STATIC_ASSERT (sizeof (name##_arguments_) <= IRIS_FORK_SIZE);              \
                                                                               \
  G_GNUC_UNUSED static void name##_run_ (IrisForkJoin *slot, IrisForkJoin *fj) \
  {                                                                            \
    name##_arguments_ x;                                                       \
                                                                               \
    __builtin_memcpy (&x, slot->words, sizeof x);                              \
    RUN;                                                                       \
  }                                                                            \
                                                                               \
  G_GNUC_UNUSED static inline void name##_fork PARAMS                          \
  {                                                                            \
    name##_arguments_ x;                                                       \
                                                                               \
    SET __builtin_memcpy ((*fj)->words, &x, sizeof x);                         \
    (*fj)->run = name##_run_;                                                  \
    *fj = iris_fork_stack_push (*fj, task);                                    \
  }

#define IRIS_FORKABLE_JOIN_(R, name, CALL, GIVE)                                        \
  G_GNUC_UNUSED static inline R name##_join (IrisForkJoin **handle, IrisForkTask *task) \
  {                                                                                     \
    IrisForkPopped popped = iris_fork_stack_pop (*handle, task);                        \
    IrisForkJoin *fj = popped.fj;                                                       \
    name##_arguments_ x;                                                                \
                                                                                        \
    *handle = fj;                                                                       \
    if (G_UNLIKELY (popped.result != NULL))                                             \
      {                                                                                 \
        GIVE;                                                                           \
      }                                                                                 \
    __builtin_memcpy (&x, fj->words, sizeof x);                                         \
    return name CALL;                                                                   \
  }

#endif

G_END_DECLS
