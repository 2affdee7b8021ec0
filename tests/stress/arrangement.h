/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Arrangements: every scheduler in every form that a program may give it, by number, so that a test
 * of one is a test of all.
 */
#pragma once

#include "core-test-util.h"

typedef enum
{
  ARRANGEMENT_DEFAULT,
  ARRANGEMENT_LOCK_FREE,
  ARRANGEMENT_WORK_STEALING,
  ARRANGEMENT_MAIN_CONTEXT,
  ARRANGEMENT_PLACES,
} ArrangementKind;

typedef struct
{
  ArrangementKind kind;
  /* Of places only. */
  IrisLayout layout;
  IrisDequeKind deque;
  IrisDeal deal;
  bool bound; /* each worker to a cpu of this machine */
} Arrangement;

guint arrangement_count (void);
Arrangement arrangement_get (guint i);

/* What it is called in a report; g_free() it. */
char *arrangement_dup_name (const Arrangement *self);

/* A scheduler that runs, and where it has no threads of its own, a thread that runs it. */
typedef struct
{
  IrisScheduler *scheduler;
  guint n_places; /* 0: hints mean nothing */
  GMainLoop *loop;
  GThread *thread;
} Stage;

void stage_open (Stage *self, const Arrangement *arrangement);
/* Shuts the scheduler down; it must still be freed. */
void stage_end (Stage *self, IrisShutdown how);
void stage_free (Stage *self);

/* How many items each row has: many when the environment has IRIS_SOAK, else @few, and fewer still
 * under a sanitizer. */
guint stage_choose_n (guint few, guint many);
