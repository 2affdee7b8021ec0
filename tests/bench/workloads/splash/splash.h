/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the programs of the SPLASH-2 workload share: the program, the team that runs it, vectors and
 * random numbers.
 *
 * A program is a sequence of phases. All parts of a team run a phase, each its share of the work,
 * and the next phase starts when they have ended. A part is a thread of its own, or a work item on
 * a scheduler. Within a phase the parts meet in critical sections, each under an IrisLock.
 *
 * The end of a phase is a barrier. The library has none, so it is made of IrisLocks of the same
 * policy: parts count themselves under one, and threads sleep at another until the last one
 * releases it; then each hands it to the next. So the threads of the suite's barrier leave its
 * mutex, to which the condition's waiters are moved.
 *
 * Source of the programs' structure: S. C. Woo, M. Ohara, E. Torrie, J. P. Singh, A. Gupta, "The
 * SPLASH-2 Programs: Characterization and Methodological Considerations", ISCA 1995. The programs
 * are written anew from the published algorithms; each names its own source.
 */
#pragma once

#include "tests/bench/measure/bench-measure.h"

#include <iris/iris.h>

#include <math.h>

G_BEGIN_DECLS

/* --- teams ------------------------------------------------------------------------------------ */

typedef enum
{
  SPLASH_THREADS,
  SPLASH_ITEMS,
} SplashMode;

typedef struct _SplashTeam SplashTeam;
typedef struct _SplashTask SplashTask;
typedef void (*SplashFunc) (gpointer data);

/* How many parts there are. */
guint splash_team_size (const SplashTeam *self);

/* What part @part of @team has of @n: from *first on, up to *end. */
void splash_share (const SplashTeam *team, guint part, guint n, guint *first, guint *end);

/* Locks of the team's policy. */
typedef struct _SplashLocks SplashLocks;

SplashLocks *splash_locks_new (const SplashTeam *team, guint n);
void splash_locks_free (SplashLocks *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SplashLocks, splash_locks_free)

/*
 * Runs func (data) with lock @i held, before the phase ends. A thread has run it when the call
 * returns. Items do not wait: func gets a copy of @size bytes of @data when it has the lock.
 * Returns SPLASH_DONE, or the number of the lock under which it is to be called again.
 */
#define SPLASH_DONE (-1)
typedef gint (*SplashSectionFunc) (gpointer data);
void splash_section (SplashTeam *team,
                     SplashLocks *locks,
                     guint i,
                     SplashSectionFunc func,
                     gpointer data,
                     gsize size);

/* Work that is found while a phase runs. It is part of a structure of the program's. */
struct _SplashTask
{
  IrisItem item;
  SplashTeam *team;
  SplashFunc func;
  gpointer data;
  SplashTask *next;
};

/* Lets any part run func (data) before the phase ends; for programs with has_tasks. */
void splash_task_queue (SplashTeam *team, SplashTask *task, SplashFunc func, gpointer data);

/* --- programs --------------------------------------------------------------------------------- */

typedef struct
{
  const char *name;
  gboolean has_tasks; /* a part that has ended runs tasks until there are no more */

  /* The input, of a size that is the usual one, of this program here, times @scale; and @size in
   * words: "1048576 points (1/16)". */
  gpointer (*create) (gdouble scale, char **size);
  void (*destroy) (gpointer self);
  /* Restores the input and makes what depends on the team; not timed. Returns how many phases there
   * are. */
  guint (*start) (gpointer self, SplashTeam *team);
  void (*phase) (gpointer self, SplashTeam *team, guint phase, guint part);
  /* Whether the result is right. Not timed. */
  gboolean (*check) (gpointer self, GError **error);
} SplashProgram;

#define SPLASH_PROGRAMS(ROW) \
  ROW (barnes)               \
  ROW (cholesky)             \
  ROW (fft)                  \
  ROW (fmm)                  \
  ROW (lu_cont)              \
  ROW (lu_noncont)           \
  ROW (radix)                \
  ROW (water_nsq)            \
  ROW (water_spa)

#define SPLASH_PROGRAM_DECLARE(name) extern const SplashProgram splash_##name;
SPLASH_PROGRAMS (SPLASH_PROGRAM_DECLARE)

/* Starts the program, runs it by @n_parts threads, or items on @scheduler, which is shut down, and
 * checks the result. */
gboolean splash_run (const SplashProgram *program,
                     gpointer self,
                     guint n_parts,
                     IrisScheduler *scheduler,
                     IrisLockPolicy policy,
                     gdouble *seconds,
                     GError **error);

/* "as published", or "4 times smaller than published"; for create(). */
char *splash_part_of_published (gdouble n, gdouble published);

/* Sets an error of a wrong result; for check(). Returns FALSE. */
gboolean splash_wrong (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* --- vectors, complex and random numbers ------------------------------------------------------ */

typedef struct
{
  gdouble x, y, z;
} SplashVector;

static inline SplashVector
splash_add (SplashVector a, SplashVector b)
{
  return (SplashVector){ a.x + b.x, a.y + b.y, a.z + b.z };
}

static inline SplashVector
splash_sub (SplashVector a, SplashVector b)
{
  return (SplashVector){ a.x - b.x, a.y - b.y, a.z - b.z };
}

static inline SplashVector
splash_scaled (SplashVector a, gdouble factor)
{
  return (SplashVector){ a.x * factor, a.y * factor, a.z * factor };
}

static inline gdouble
splash_dot (SplashVector a, SplashVector b)
{
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

/* Not C's: its products look for infinities. */
typedef struct
{
  gdouble re, im;
} SplashComplex;

static inline SplashComplex
splash_cadd (SplashComplex a, SplashComplex b)
{
  return (SplashComplex){ a.re + b.re, a.im + b.im };
}

static inline SplashComplex
splash_csub (SplashComplex a, SplashComplex b)
{
  return (SplashComplex){ a.re - b.re, a.im - b.im };
}

static inline SplashComplex
splash_cmul (SplashComplex a, SplashComplex b)
{
  return (SplashComplex){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

static inline SplashComplex
splash_cscaled (SplashComplex a, gdouble factor)
{
  return (SplashComplex){ a.re * factor, a.im * factor };
}

static inline SplashComplex
splash_cinverse (SplashComplex a)
{
  gdouble square = a.re * a.re + a.im * a.im;

  return (SplashComplex){ a.re / square, -a.im / square };
}

/* Uniform in [0, 1); the same numbers for the same start, which is not 0 (xorshift64). */
static inline gdouble
splash_random (guint64 *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;

  return (gdouble) (*state >> 11) / (gdouble) (G_GUINT64_CONSTANT (1) << 53);
}

G_END_DECLS
