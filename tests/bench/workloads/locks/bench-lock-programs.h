/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The seven programs of the workload locks: what each of their threads, or items, does while it has
 * a lock, and what it waits for besides.
 */
#pragma once

#include <glib.h>
#include <semaphore.h>

G_BEGIN_DECLS

/* What threads share here is on lines of its own. */
#define BENCH_PADDED __attribute__ ((aligned (128)))

typedef struct _BenchUser BenchUser;
typedef struct _BenchShared BenchShared;

/* What a user does after a section, out of the lock. */
typedef enum
{
  BENCH_GO_ON,
  BENCH_WAIT,    /* nothing was done: it tries again when another user wakes it */
  BENCH_BARRIER, /* it goes on when all users have come here */
} BenchAfter;

/* A thread, or a chain of items. */
struct _BenchUser
{
  guint index;
  guint lock; /* the one that it takes, by its index */
  guint phase;
  guint left; /* sections to do */
  guint32 random;
  gpointer node;   /* doubly_list: the one that it took out */
  BenchUser *next; /* in a line of users that wait */
  BenchUser *wake; /* by its last section */
  sem_t woken;     /* of a thread */
} BENCH_PADDED;

typedef struct
{
  const char *name;
  gboolean many_locks;
  guint share; /* of the sections of the others: its users sleep more */
  BenchAfter (*section) (BenchShared *shared, BenchUser *user);
  gboolean (*is_good) (const BenchShared *shared);
} BenchLockProgram;

/* The seven of the paper. */
const BenchLockProgram *bench_lock_program_nth (guint n);
/* One lock, and data behind it of which each section changes every line. */
extern const BenchLockProgram bench_lock_program_data;
/* Of a program with many locks: several users each, 8 at most. */
guint bench_lock_program_n_locks (const BenchLockProgram *self, guint n_users);

/* @bytes: of the data; 0 but for that program. */
BenchShared *bench_shared_new (const BenchLockProgram *program, guint n_users, gsize bytes);
gboolean bench_shared_check (const BenchShared *self, guint64 expected, GError **error);
void bench_shared_free (BenchShared *self);

void bench_user_init (BenchUser *self, const BenchShared *shared, guint index, guint sections);
void bench_user_clear (BenchUser *self);
/* Without a lock: work of a random length. */
void bench_user_work (BenchUser *self);
/* With its lock held; afterwards `wake` is another user that is to be woken, or NULL. */
BenchAfter bench_user_section (BenchUser *self, BenchShared *shared);

G_END_DECLS
