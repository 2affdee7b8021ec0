/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A chain: what the cluster needs to go on with a schedule whose node is down.
 *
 * The cluster keeps one copy of the next run of a schedule. The host that gets it, because the home
 * has not moved it in time, stores the copy of the run after it. What it needs for that is the
 * chain, which comes with the copy: the calendar, the time of the run, and which runs were made
 * without the home since that has stored a copy.
 *
 * A run has one name wherever it is made: the first half of the chain's id, and its second half
 * combined with the time when the run is due.
 */
#pragma once

#include "daemon/base/irisd-calendar.h"

#include <iris/wire/iris-wire.h>

G_BEGIN_DECLS

/* A run that begins later than this was missed. */
#define IRISD_RUN_CHAIN_LATE_MS 60000

/* The latest runs that a chain names. */
#define IRISD_RUN_CHAIN_MOST_HANDED 128

typedef struct
{
  guint8 id[IRIS_WIRE_ID_SIZE];
  guint64 due_ms; /* of the run, before its jitter */
  guint64 every_ms;
  guint64 jitter_ms;
  guint64 n_handed; /* runs that were made without the home */
  char *line;       /* with @every_ms "" */
  char *zone;
  char *name; /* of the schedule; its jitter depends on it */
  guint n_latest;
  guint64
      latest[IRISD_RUN_CHAIN_MOST_HANDED]; /* when the latest of them were due, in their order */
  IrisdCalendar *calendar;
} IrisdRunChain;

void irisd_run_chain_make_id (const char *home,
                              gint64 owner,
                              const char *name,
                              guint64 made_ms,
                              guint8 *id);
void irisd_run_chain_get_run (const guint8 *id, guint64 due_ms, guint8 *run);
guint64 irisd_run_chain_get_due (const guint8 *id, const guint8 *run);

gboolean irisd_run_chain_init (IrisdRunChain *self,
                               const guint8 *id,
                               guint64 due_ms,
                               const IrisWireMessage *schedule,
                               GError **error);
gboolean irisd_run_chain_read (IrisdRunChain *self, IrisWireFrame bytes);
GBytes *irisd_run_chain_pack (const IrisdRunChain *self);
void irisd_run_chain_clear (IrisdRunChain *self);

guint64 irisd_run_chain_get_begin (const IrisdRunChain *self);
gboolean irisd_run_chain_hand_on (IrisdRunChain *self, guint64 now_ms);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (IrisdRunChain, irisd_run_chain_clear)

G_END_DECLS
