/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A daemon for tests of the client: it answers by the protocol from the test's own main loop, and
 * does what the test tells it to.
 */
#pragma once

#include <iris-client/iris-client.h>
#include <iris/iris.h>
#include <iris/wire/iris-wire.h>
#include <check.h>

typedef struct _FakeDaemon FakeDaemon;

/* One socket: the front door, or a place. */
typedef struct
{
  FakeDaemon *daemon;
  int place; /* -1 for the front door */
  char *endpoint;
  void *socket;
  GSource *source;
} FakeDoor;

/* An item that was taken and not answered yet. */
typedef struct
{
  FakeDoor *door;
  GBytes *peer;
  guint8 id[IRIS_WIRE_ID_SIZE];
  char *service;
  int place;
  gboolean strict;
  GBytes *body;
} FakeItem;

struct _FakeDaemon
{
  char *dir;
  guint n_places;
  GPtrArray *doors;
  GQueue items; /* FakeItem, while @hold */

  /* What it is told to do. */
  guint credits;
  guint64 byte_credits;
  guint max_batch;
  gboolean hold;      /* keep items until fake_daemon_release() */
  gboolean mute;      /* read, but answer nothing */
  guint busy;         /* refuse this many items as busy */
  guint refuse_hello; /* answer HELLO with this error code */
  gboolean nonsense;  /* answer HELLO with frames that are no message */

  /* What it has seen. */
  guint n_messages[256]; /* by type */
  guint n_items;
  guint n_acknowledged;
  guint in_flight; /* accepted, and not acknowledged */
  guint most_in_flight;
  guint n_at_place[8]; /* items that came through a place's own socket */
  guint last_batch;
};

FakeDaemon *fake_daemon_new (guint n_places);
void fake_daemon_free (FakeDaemon *self);
void fake_daemon_open (FakeDaemon *self);
void fake_daemon_vanish (FakeDaemon *self);
void fake_daemon_leave (FakeDaemon *self);
void fake_daemon_release (FakeDaemon *self, guint n);

/* What became of a call: filled in by outcome_ready (). */
typedef struct
{
  gboolean done;
  guint order; /* the how manieth to be done, from 1 */
  IrisResult *result;
  GError *error;
} Outcome;

void outcome_ready (GObject *client, GAsyncResult *result, gpointer data);
void outcome_clear (Outcome *outcome);
void outcome_restart (void);
void connect_now (IrisClient *client, GError **error);
void
submit_echo (IrisClient *client, const char *text, GCancellable *cancellable, Outcome *outcome);
int run_suite (const char *name, const TTest *const *tests, guint n_tests);

/* Runs the main loop until @condition, which is looked at after each turn. */
#define RUN_UNTIL(condition)                 \
  do                                         \
    while (!(condition))                     \
      g_main_context_iteration (NULL, TRUE); \
  while (0)
