/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The contenders: iris's schedulers in all their settings, and their peers.
 *
 * An engine is a kind of contender. The least it offers is open, push and close, on which the
 * general drivers of the loads stand; an engine that has a faster way of its own to run a load
 * (a peer's idiom, a direct call) offers that too, and then it is used.
 */
#pragma once

#include "tests/bench/measure/bench-measure.h"

G_BEGIN_DECLS

/* What an engine can run. */
typedef enum
{
  BENCH_CAN_OUTSIDE = 1 << 0, /* items from outside */
  BENCH_CAN_INSIDE = 1 << 1,  /* items that items make */
  BENCH_CAN_PHASES = 1 << 2,  /* tiles in phases; as many threads as are asked for */
  BENCH_CAN_WAKE = 1 << 3,    /* sleeps when idle, wakes for an item */
  BENCH_CAN_FIB = 1 << 4,     /* has a fib of its own */
} BenchCan;

typedef struct _BenchEngine BenchEngine;

/* What stealing came to in one run. Times are of all workers together, asleep excluded. */
typedef struct
{
  gint64 steals;
  gint64 searching_ns; /* without work, looking for some */
  gint64 busy_ns;
} BenchSteals;

struct _BenchContender
{
  char *name; /* "places:layout=shared" */
  const BenchEngine *engine;
  guint can;             /* BenchCan: of what the engine can */
  guint index;           /* which of the engine's contenders */
  char **settings;       /* iris: properties, "name=value"; or NULL */
  char *places;          /* iris: see BenchOptions */
  gboolean newest_first; /* of what an item pushed */
  BenchSteals *steals;   /* iris: written by each run */
};

/*
 * Items from outside, each of which makes items when it runs, or, if it makes none, works itself.
 */
typedef struct
{
  guint producers; /* threads that make the outer items; 1: the calling thread */
  guint outer;     /* of all producers together; divided evenly */
  guint inner;
  BenchWork work; /* of the innermost items */
} BenchSpray;

/*
 * A computation in phases: the tiles of one phase may run at the same time, the next phase starts
 * when all of them are done.
 */
typedef struct
{
  gpointer problem;
  guint n_phases;
  guint (*n_tiles) (gpointer problem, guint phase);
  void (*tile) (gpointer problem, guint phase, guint tile);
} BenchPhases;

struct _BenchEngine
{
  const char *name;
  const char *summary;
  BenchKind kind;
  guint can;

  /* Threads that call func with what is pushed; close() waits for everything that was pushed. */
  gpointer (*open) (const BenchContender *self, guint workers, BenchFunc func, GError **error);
  void (*push) (gpointer handle, gpointer data);
  void (*close) (gpointer handle);
  /* Are all threads waiting for work, as far as the engine itself knows? Or NULL. */
  gboolean (*is_idle) (gpointer handle);

  /* Ways of the engine's own; or NULL. */
  gboolean (*spray) (const BenchContender *self,
                     const BenchSpray *spray,
                     guint workers,
                     gdouble *seconds,
                     GError **error);
  gboolean (*phases) (const BenchContender *self,
                      const BenchPhases *phases,
                      guint workers,
                      gdouble *seconds,
                      GError **error);
  gboolean (*fib) (const BenchContender *self,
                   guint n,
                   guint workers,
                   guint64 *value,
                   gdouble *seconds,
                   GError **error);

  /* Called by the thread that has ended the last phase; or NULL. */
  void (*ended) (gpointer handle);
};

extern const BenchEngine bench_engine_iris;
extern const BenchEngine bench_engine_fork_join;
extern const BenchEngine bench_engine_fork_join_for;
extern const BenchEngine bench_engine_gthreadpool;
extern const BenchEngine bench_engine_gasyncqueue;
#ifdef HAVE_LIBDEX
extern const BenchEngine bench_engine_libdex;
#endif
#ifdef HAVE_TBB
extern const BenchEngine bench_engine_tbb;
extern const BenchEngine bench_engine_tbb_for;
#endif

/* All that can run this and that the user wants: (element-type BenchContender). */
GPtrArray *bench_contenders (const BenchOptions *options, guint can);
gboolean bench_contenders_check (const BenchOptions *options, GError **error);
char *bench_contenders_describe (void);

BenchContender *
bench_contender_new (const char *name, const BenchEngine *engine, guint index, char **settings);
void bench_contender_free (BenchContender *self);

/* A series, or two, for each contender that can run the case, and that @takes; NULL: all. */
void bench_contenders_add (BenchResult *result,
                           const BenchOptions *options,
                           guint can,
                           gboolean (*takes) (const BenchContender *contender),
                           const BenchCase *what);

/* With one worker, where the question is what a contender costs, and with all: what it brings. */
void bench_contenders_add_scaled (BenchResult *result,
                                  const BenchOptions *options,
                                  guint can,
                                  const BenchCase *what,
                                  BenchRelation alone,
                                  BenchRelation together);

/* Threads that call func with what is pushed, asleep by now; to be closed by the engine. */
gpointer
bench_contender_open (const BenchContender *self, guint workers, BenchFunc func, GError **error);

/* Fresh threads, the load, the check; the time from the first push until all of it is done. */
gboolean bench_contender_spray (const BenchContender *self,
                                const BenchSpray *spray,
                                guint workers,
                                gdouble *seconds,
                                GError **error);
gboolean bench_contender_phases (const BenchContender *self,
                                 const BenchPhases *phases,
                                 guint workers,
                                 gdouble *seconds,
                                 GError **error);

/* For engines: the part of the outer items that a producer makes. */
void bench_spray_share (const BenchSpray *spray, guint producer, guint *first, guint *end);

G_END_DECLS
