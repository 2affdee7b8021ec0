/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A table of leases with a clock that is made up, workers and items for it.
 */
#pragma once

#include "daemon/exec/worker/irisd-leases.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define LEASE_US 1000
#define WAIT_US  500
#define N_PLACES 2

typedef struct
{
  IrisdWorker base;
  GArray *given; /* leases that it was told of and did not end yet */
  guint stopped;
  IrisWireError why; /* the last stop */
} Worker;

typedef struct
{
  IrisdLeaseEntry entry;
  guint number;
  guint n_ends; /* must become 1, and no more */
  guint n_holds;
  gboolean owes;     /* may not be leased */
  IrisWireError why; /* of the end; 0 if it was done */
  Worker *worker;    /* the holder */
  guint64 lease;
} Item;

extern IrisdLeases *leases;
extern gint64 now;

void set_up (void);
void tear_down (void);
void worker_init (Worker *self);
gboolean try_enroll (Worker *self, gint place, guint capacity, const char *names, GError **error);
void enroll (Worker *self, gint place, guint capacity, const char *names);
void leave (Worker *self);
void item_init (Item *self, guint number);
void add (Item *self, const char *name);
void done (Worker *worker, Item *item);
