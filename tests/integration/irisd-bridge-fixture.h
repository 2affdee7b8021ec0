/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An irisd in a cluster that the test describes, and its bridge, which is the test: a worker
 * process of the reserved service, and a client that acts for other owners.
 */
#pragma once

#include "irisd-home.h"

#define CLUSTER "@cluster"
#define NODES   "b:resize c"

extern Home *home;
extern Irisd *irisd;
extern Client *client;
extern Client *bridge;

/* What the test remembers of a LEASE. */
typedef struct
{
  guint8 id[IRIS_WIRE_ID_SIZE];
  guint8 cluster_item[IRIS_WIRE_ID_SIZE];
  guint64 item;
  guint64 owner;
  guint attempt;
  guint retries;
  char header[512];
  IrisWireMessage submit; /* borrows from @header */
} Lease;

Client *open_bridge (const char *endpoint);
void start (const char *config);
void set_up (void);
void hang_up (void);
void tear_down (void);
void fill (IrisWireMessage *item, const char *node, guint klass);
guint64 submit (const char *node, guint klass);
void assert_refused (const IrisWireMessage *item, IrisWireError code);
void take_lease (Lease *self);
gboolean is (const IrisWireString *string, const char *text);
void say_done (const Lease *lease, const char *result);
void say_fail (const Lease *lease, guint code, gboolean again, guint later_ms);
void take_cancellation (void);
void assert_done (const IrisWireMessage *result);
