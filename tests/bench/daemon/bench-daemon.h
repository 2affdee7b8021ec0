/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the workloads of the daemon are made of: private servers, clients that speak each protocol
 * by hand, as many requests ahead as that protocol allows, floods, and what is tidied up behind
 * them.
 *
 * A client is one connection and belongs to one thread.
 */
#pragma once

#include "tests/bench/measure/bench-measure.h"

#include <gio/gio.h>
#include <iris/iris.h>
#include <iris/wire/iris-wire.h>
#include <sys/types.h>

/* --- daemon ----------------------------------------------------------------------------------- */

/* Whether the rows that were chosen are those of these workloads. */
gboolean bench_daemon_check (const BenchOptions *options, GError **error);

/* --- servers (bench-daemon-server.c) ---------------------------------------------------------- */

typedef enum
{
  BENCH_SERVER_IRISD,
  BENCH_SERVER_IRISD_TCP,     /* over loopback */
  BENCH_SERVER_IRISD_CURVE,   /* the same, encrypted */
  BENCH_SERVER_IRISD_WATCHED, /* by irisd-web, a scraper and pages */
  BENCH_SERVER_IRISD_SLOW,    /* 5 ms are added to each sync of its */
  BENCH_SERVER_IRISD_DEEP,    /* takes a million items */
  BENCH_SERVER_BEANSTALKD,    /* as it comes: a log that is synced every 50 ms */
  BENCH_SERVER_BEANSTALKD_SYNC,
  BENCH_SERVER_BEANSTALKD_SLOW,
  BENCH_SERVER_BEANSTALKD_MEMORY,
  BENCH_SERVER_GEARMAND,
  BENCH_SERVER_ZEROMQ, /* an echo without anything behind it */
  BENCH_N_SERVERS,
} BenchServerKind;

typedef struct
{
  BenchServerKind kind;
  GSubprocess *process;
  char *dir;      /* all that it writes is in there */
  char *endpoint; /* of ZeroMQ, the path of a socket, or a port; with CURVE three keys behind it */
  char *keys;     /* those, for CURVE */
} BenchServer;

const char *bench_server_name (BenchServerKind kind);
gboolean bench_server_is_there (BenchServerKind kind, const BenchOptions *options, char **why);
BenchServer *bench_server_start (BenchServerKind kind, const BenchOptions *options, GError **error);
gboolean bench_server_kill_and_restart (BenchServer *self,
                                        const BenchOptions *options,
                                        gdouble *seconds,
                                        GError **error);
gboolean bench_server_get_resident (BenchServer *self, gdouble *bytes, GError **error);
void bench_server_free (BenchServer *self);
/* NULL: irisd-web is not there. */
char *bench_server_find_web (void);
/* In a child, before its program: it must not outlive the benchmark. */
void bench_server_set_up_child (gpointer data);

/* --- watching (bench-daemon-watch.c) ---------------------------------------------------------- */

typedef struct _BenchWatch BenchWatch;

BenchWatch *bench_watch_start (const char *endpoint, GError **error);
gboolean bench_watch_stop (BenchWatch *self, GError **error);

/* --- loads ------------------------------------------------------------------------------------ */

typedef struct
{
  const char *service;
  const char *const *args; /* NULL: none */
  IrisWireClass klass;
  guint64 delay_ms;
  gboolean detach;
  gsize size;   /* bytes of payload; 8 at least where results are checked */
  guint items;  /* of one client */
  guint window; /* requests that a client is ahead */
  guint batch;  /* items that it sends at once */
} BenchLoad;

/* --- clients ---------------------------------------------------------------------------------- */

typedef struct _BenchClient BenchClient;

BenchClient *bench_client_new (const char *endpoint, GError **error);
gboolean bench_client_run (BenchClient *self, const BenchLoad *load, GError **error);
gboolean bench_client_round_trip (BenchClient *self, const BenchLoad *load, GError **error);
gboolean bench_client_count_persistent (BenchClient *self, guint64 *n, GError **error);
void bench_client_free (BenchClient *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (BenchClient, bench_client_free)

/* Replies come in the order of requests, over a socket of the system. */
typedef struct _BenchStream BenchStream;

BenchStream *bench_stream_new (const char *endpoint, GError **error);
void bench_stream_free (BenchStream *self);
void bench_stream_put (BenchStream *self, gconstpointer data, gsize size);
gboolean bench_stream_flush (BenchStream *self, GError **error);
gboolean bench_stream_is_readable (BenchStream *self, guint timeout_ms);
const guint8 *bench_stream_read (BenchStream *self, gsize size, GError **error);
const char *bench_stream_read_line (BenchStream *self, GError **error);

gboolean bench_beanstalk_run (BenchStream *self, const BenchLoad *load, GError **error);
gboolean bench_gearman_submit (BenchStream *self, const BenchLoad *load, GError **error);

/* Works until all workers together have done so many jobs. */
typedef struct
{
  guint64 jobs;
  _Atomic guint64 done;
  _Atomic gint64 end_ns;   /* when the last one was */
  _Atomic gboolean failed; /* a worker cannot go on: all give up */
} BenchGearmanWork;

gboolean bench_gearman_work (BenchStream *self,
                             BenchGearmanWork *work,
                             const BenchLoad *load,
                             GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (BenchStream, bench_stream_free)

/* --- daemon bare ------------------------------------------------------------------------------ */

typedef struct _BenchBare BenchBare;

/* The other side, in a process of its own; returns an exit status when it cannot go on. */
int bench_bare_echo (const char *endpoint);

BenchBare *bench_bare_new (const char *endpoint, GError **error);
gboolean bench_bare_round_trip (BenchBare *self, gsize size, GError **error);
void bench_bare_free (BenchBare *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (BenchBare, bench_bare_free)

/* --- daemon flood ----------------------------------------------------------------------------- */

/* A program of its own, "flood", "sleepers" or "bare-echo": iris-bench runs itself. The exit status
 * when it cannot go on. @n: items that it sends at once, or commands that it keeps in flight. */
int bench_daemon_child (const char *what, const char *endpoint, guint n);

/* NULL if it did not begin. */
GSubprocess *bench_flood_start (const char *what, const char *endpoint, guint n, GError **error);
/* Whether it went on to the end. */
gboolean bench_flood_stop (GSubprocess *self, GError **error);

/* --- tidy ------------------------------------------------------------------------------------- */

/* Before there are other threads: from now on SIGHUP, SIGINT and SIGTERM tidy up, then end us. */
void bench_tidy_begin (void);

/* In a child, behind fork(): signals do there what they are used to. */
void bench_tidy_in_child (void);

char *bench_tidy_make_dir (const char *template, GError **error);
void bench_tidy_set_server (const char *dir, pid_t pid);
void bench_tidy_remove_dir (const char *dir);
