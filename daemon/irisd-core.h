/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What all threads of irisd share: configuration, places, scheduler, counters, the phase of life.
 */
#pragma once

#include "irisd-attempts.h"
#include "irisd-cgroup.h"
#include "irisd-config.h"
#include "irisd-fair-gate.h"
#include "irisd-fair-room.h"
#include "irisd-fair-rules.h"
#include "irisd-journal.h"
#include "irisd-near.h"
#include "irisd-running.h"
#include "irisd-service.h"
#include "irisd-waiting-after.h"

#include <stdatomic.h>
#include <sys/resource.h>

G_BEGIN_DECLS

/**
 * IrisdPhase:
 * @IRISD_PHASE_SERVING: items are taken
 * @IRISD_PHASE_DRAINING: no new items; accepted ones go on
 * @IRISD_PHASE_STOPPING: nothing that has not begun will begin; commands are killed
 * @IRISD_PHASE_FLUSHING: every item has ended; what waits in outboxes goes out, then threads end
 *
 * irisd's life; it only ever moves forward.
 */
typedef enum
{
  IRISD_PHASE_SERVING,
  IRISD_PHASE_DRAINING,
  IRISD_PHASE_STOPPING,
  IRISD_PHASE_FLUSHING,
} IrisdPhase;

/**
 * IrisdPlaceCounters:
 *
 * What happened at one place. The first line is written by its workers, the second by gateways.
 */
typedef struct
{
  _Alignas(64) _Atomic guint64 executed;
  _Atomic guint64 bytes;
  _Atomic guint64 moved_in; /* commands that run here because another place had no slot */
  _Atomic guint64 moved_out;
  _Alignas(64) _Atomic guint64 hinted;
  _Atomic guint64 aside;  /* cold items that wait for their turn */
  _Atomic guint64 beside; /* items that have left their worker and not ended */
} IrisdPlaceCounters;

/**
 * IrisdPlaceInfo:
 *
 * What is known about a place from the start, in the form in which it is told.
 */
typedef struct
{
  IrisPlace *place; /* belongs to the core's places */
  char *name;
  char *ipc_endpoint;
  char *tcp_endpoint; /* NULL without --tcp */
} IrisdPlaceInfo;

typedef struct _IrisdGateway IrisdGateway;
typedef struct _IrisdCommandRunner IrisdCommandRunner;
typedef struct _IrisdCommandSlots IrisdCommandSlots;
typedef struct _IrisdPlugins IrisdPlugins;
typedef struct _IrisdOutside IrisdOutside;
typedef struct _IrisdStaff IrisdStaff;

/**
 * IrisdCore:
 *
 * Everything above the atomics is set before the first thread starts and not changed until the last
 * one has ended.
 */
typedef struct
{
  const IrisdConfig *config;
  IrisWireLimits wire_limits;
  IrisPlaces *places;
  IrisdPlaceInfo *infos;
  guint n_places;
  IrisScheduler *scheduler;
  gboolean placed; /* the scheduler's places are these places */
  IrisdServices *services;
  IrisdJournal *journal; /* NULL if no items are kept */
  IrisdAttempts *attempts;
  IrisdCgroups *cgroups; /* NULL: commands have process groups only */
  IrisdPlugins *plugins;
  IrisdCommandRunner *commands;
  IrisdCommandSlots *slots;
  IrisdOutside *outside;     /* worker processes and what waits for them */
  void *zmq;                 /* the ZeroMQ context */
  IrisdStrangers *strangers; /* who has not said HELLO */
  IrisdGateway **gateways;   /* one per place, then the front door */
  guint n_gateways;
  gint64 started_us;
  struct rlimit file_limit; /* as irisd found it; what commands get */
  int wake_fd;              /* wakes the main thread */

  IrisdFairGate *gates; /* one per place */
  IrisdStaff *staff;    /* which places take items */
  IrisdFairRules rules;
  IrisdFairRoom room; /* how many run at once */
  pthread_mutex_t after_lock;
  IrisdAfter after; /* under its lock */
  IrisdNear near;
  IrisdRunning running;
  IrisdPlaceCounters *counters;
  _Alignas(64) _Atomic int phase;
  _Atomic gint64 deadline_us;         /* of the phases that have one */
  _Alignas(64) _Atomic guint64 items; /* under way, cold ones among them */
  _Alignas(
      64) _Atomic guint64 hot_kept[2]; /* of those: kept, and in memory; and for worker processes */
  _Alignas(64) _Atomic guint64 cold_kept; /* of those: kept, and on disk only */
  _Alignas(64) _Atomic guint64 bytes;
  _Atomic guint64 peak_bytes; /* the most that @bytes was since memory was last given back */
  _Atomic gboolean burst_over;
  _Alignas(64) _Atomic guint64 next_item;
} IrisdCore;

IrisdPhase irisd_core_get_phase (IrisdCore *self);
gint64 irisd_core_get_deadline (IrisdCore *self);
void irisd_core_enter_phase (IrisdCore *self, IrisdPhase phase, guint64 grace_ms);
gboolean irisd_core_begin_item (IrisdCore *self);
void irisd_core_end_item (IrisdCore *self);
guint64 irisd_core_new_item_id (IrisdCore *self);
guint64 irisd_core_new_item_ids (IrisdCore *self, guint n);
guint64 irisd_core_get_items (IrisdCore *self);
void irisd_core_count_hot (IrisdCore *self, gboolean outside, gint change);
void irisd_core_count_cold (IrisdCore *self, gint change);
guint64 irisd_core_get_hot_kept (IrisdCore *self, gboolean outside);
guint64 irisd_core_get_volatile (IrisdCore *self);
guint64 irisd_core_get_bytes (IrisdCore *self);
void irisd_core_add_bytes (IrisdCore *self, gint64 change);
gboolean irisd_core_take_burst_over (IrisdCore *self);
void irisd_core_count_run (IrisdCore *self, gint place, guint64 bytes);
void irisd_core_wake_main (IrisdCore *self);
gint64 irisd_now_ns (void);

G_END_DECLS
