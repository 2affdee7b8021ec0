/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What tests of the engine share: an engine in the main loop of the test, and calls that wait for
 * their callback.
 */
#pragma once

#include "daemon/cluster/engine/irisd-engine-parse.h"
#include "daemon/cluster/engine/irisd-streams.h"
#include "nats-servers.h"

#include <check.h>

G_BEGIN_DECLS

/* Turns the main loop until @condition holds; fails after a minute. */
#define wait_for(condition)                                                           \
  do                                                                                  \
    {                                                                                 \
      gint64 wait_until = g_get_monotonic_time () + 60 * G_USEC_PER_SEC;              \
      while (!(condition))                                                            \
        {                                                                             \
          ck_assert_msg (g_get_monotonic_time () < wait_until, "never: " #condition); \
          turn ();                                                                    \
        }                                                                             \
    }                                                                                 \
  while (0)

/* One turn of the main loop, of 50 ms at the most. */
void turn (void);

IrisdEngine *connect_to (const char *url);
IrisdEngine *connect_with (const IrisdEngineOptions *options);

typedef struct
{
  IrisdPublishStatus status;
  guint64 sequence;
  gint code;
  gboolean maybe_stored;
} Published;

/* Adds one to @n_done for each. */
typedef struct
{
  Published result;
  gboolean done;
} Publishing;

void publish_begin (IrisdEngine *engine,
                    Publishing *publishing,
                    const IrisdEnginePublication *publication);
Published
publish (IrisdEngine *engine, const char *subject, const char *data, const char *message_id);
Published publish_first (IrisdEngine *engine, const char *subject, const char *data);
Published publish_batch (IrisdEngine *engine, const IrisdEnginePublication *publications, guint n);

/* The answer as an object; NULL and the error's code otherwise. */
JsonObject *request (IrisdEngine *engine, const char *subject, const char *json, gint *code);
/* The same, again and again until it succeeds: while there is no leader. */
JsonObject *request_until_good (IrisdEngine *engine, const char *subject, const char *json);
guint64 count_messages (IrisdEngine *engine, const char *stream);
char *find_leader (IrisdEngine *engine, const char *stream);
/* Until they are there; small ones. */
void make_streams (IrisdEngine *engine, const IrisdStreamsOptions *options, const char *node);

/* A puller that remembers the ack subjects. */
typedef struct
{
  IrisdPull *pull;
  GPtrArray *acks;
  GArray *deliveries; /* n_delivered */
  GPtrArray *bodies;
  guint64 backlog;
  guint n_anew; /* of them, from a consumer that was made again */
} Puller;

Puller *puller_new_with (IrisdEngine *engine, const IrisdPullOptions *options);
Puller *puller_new (IrisdEngine *engine,
                    const char *consumer,
                    IrisdPullKind kind,
                    guint window,
                    guint64 min_pending);
void puller_free (Puller *self);

G_END_DECLS
