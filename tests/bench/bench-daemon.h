/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the workloads of the daemon are made of: private servers, and clients of each that speak its
 * protocol by hand, as many requests ahead as that protocol allows.
 *
 * A client is one connection and belongs to one thread.
 */
#pragma once

#include "bench-result.h"

#include <gio/gio.h>
#include <iris/iris.h>
#include <iris/wire/iris-wire.h>

/* --- servers (bench-daemon-server.c) ---------------------------------------------------------- */

typedef enum
{
  BENCH_SERVER_IRISD,
  BENCH_SERVER_IRISD_SLOW, /* 5 ms are added to each sync of its */
  BENCH_SERVER_IRISD_DEEP, /* takes a million items */
  BENCH_SERVER_BEANSTALKD, /* as it comes: a log that is synced every 50 ms */
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
  char *endpoint; /* of ZeroMQ, the path of a socket, or a port */
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
