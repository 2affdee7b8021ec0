/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What all threads of irisd share: configuration, places, scheduler, counters, the phase.
 */
#pragma once

#include "daemon/base/irisd-name-slots.h"
#include "daemon/base/irisd-watchdog.h"
#include "daemon/cluster/members/irisd-members.h"
#include "daemon/config/irisd-config.h"
#include "daemon/config/irisd-fair-rules.h"
#include "daemon/config/irisd-key-use.h"
#include "daemon/config/irisd-settings.h"
#include "daemon/exec/attempts/irisd-cgroup.h"
#include "daemon/exec/attempts/irisd-attempts.h"
#include "daemon/exec/irisd-gate.h"
#include "daemon/exec/irisd-running.h"
#include "daemon/exec/irisd-service.h"
#include "daemon/exec/item/irisd-concurrency-limit.h"
#include "daemon/exec/item/irisd-dependency-graph.h"
#include "daemon/exec/item/irisd-named-queues.h"
#include "daemon/exec/item/irisd-placement-history.h"
#include "daemon/net/irisd-inner-door.h"
#include "daemon/net/irisd-pending-connections.h"
#include "daemon/store/irisd-journal.h"

#include <stdatomic.h>
#include <sys/resource.h>

G_BEGIN_DECLS

/* The front gateway's place. */
#define IRISD_FRONT (-1)

/* The phases of irisd, in order. */
typedef enum
{
  IRISD_PHASE_SERVING,  /* items are taken */
  IRISD_PHASE_DRAINING, /* no new items; accepted ones go on */
  IRISD_PHASE_STOPPING, /* no waiting item begins; commands are killed */
  IRISD_PHASE_FLUSHING, /* every item has ended; outboxes are sent, then the threads end */
} IrisdPhase;

/* Counters of one place. The first line is written by its workers, the second by gateways. */
typedef struct
{
  _Alignas(64) _Atomic guint64 executed;
  _Atomic guint64 bytes;
  _Atomic guint64 moved_in; /* commands that run here because another place had no slot */
  _Atomic guint64 moved_out;
  _Alignas(64) _Atomic guint64 hinted;
  _Atomic guint64 aside;  /* spilled items that wait for their turn */
  _Atomic guint64 beside; /* items that have left their worker and not ended */
} IrisdPlaceCounters;

/* What one worker of the scheduler does. It writes, any thread may read. */
typedef struct
{
  _Alignas(64) _Atomic gboolean runs; /* an item of a service that runs on a worker */
} IrisdWorkerState;

/* The constant facts about a place, in the form in which they are sent. */
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
typedef struct _IrisdHooks IrisdHooks;
typedef struct _IrisdPlugins IrisdPlugins;
typedef struct _IrisdWorkerProcesses IrisdWorkerProcesses;
typedef struct _IrisdPlaceControl IrisdPlaceControl;
typedef struct _IrisdTracer IrisdTracer;
typedef struct _IrisdSpans IrisdSpans;

/* Everything above the atomics is set before the first thread starts and not changed until the last
 * one has ended. */
typedef struct
{
  const IrisdConfig *config; /* of the start; what may change since is in @settings */
  IrisWireLimits wire_limits;
  IrisPlaces *places;
  IrisdPlaceInfo *infos;
  guint n_places;
  IrisScheduler *scheduler;
  IrisdClusterView *cluster;  /* NULL without a cluster */
  IrisdInnerDoor *inner_door; /* likewise */
  gboolean placed;            /* the scheduler's places are these places */
  IrisdServices *services;
  IrisdJournal *journal; /* NULL without a journal */
  IrisdAttempts *attempts;
  IrisdCgroups *cgroups; /* NULL: commands have process groups only */
  IrisdPlugins *plugins;
  IrisdCommandRunner *commands;
  IrisdCommandSlots *slots;
  IrisdHooks *hooks;
  IrisdTracer *tracer;
  IrisdSpans *spans;
  guint64 trace_salt;                           /* of the ids of spans */
  IrisdWorkerProcesses *worker_processes;       /* worker processes and what waits for them */
  IrisdPendingConnections *pending_connections; /* connections without HELLO */
  IrisdGateway **gateways;                      /* one per place, then the front door */
  guint n_gateways;
  IrisdMailbox *front;           /* the front door's */
  IrisdMembersBox *members;      /* the picture of the nodes; NULL without a cluster */
  IrisdMailbox *cluster_mailbox; /* of the cluster thread; likewise */
  gint64 started_us;
  guint64 started_ms;        /* since 1970: the same in each answer */
  struct rlimit file_limit;  /* at irisd's start; commands get it */
  int wake_fd;               /* wakes the main thread */
  IrisdMailbox main_mailbox; /* of RELOAD (irisd-settings-requests.c) */

  IrisdSettings settings;           /* readers: the gateways, then the ZAP handler */
  IrisdGate *gates;                 /* one per place */
  IrisdPlaceControl *place_control; /* which places take items */
  IrisdFairRules rules;
  IrisdKeyUse key_use;
  IrisdConcurrencyLimit concurrency_limit; /* how many items run at once */
  IrisdNamedQueues queues;
  pthread_mutex_t dependencies_lock;
  IrisdDependencyGraph dependencies; /* under its lock */
  IrisdPlacementHistory placement_history;
  IrisdWatchdog watchdog; /* the gateways answer it, each by its index */
  IrisdRunning running;
  IrisdNameSlots service_names; /* of the services whose items are counted */
  IrisdPlaceCounters *counters;
  IrisdWorkerState *workers; /* by index; spare workers beyond the table are not in it */
  guint n_workers;
  _Alignas(64) _Atomic int phase;
  _Atomic gint64 deadline_us;         /* of the phases that have one */
  _Alignas(64) _Atomic guint64 items; /* accepted and not ended, with the spilled ones */
  _Alignas(64) _Atomic guint64
      persistent_in_memory[2]; /* of those: persistent and in memory; and for worker processes */
  _Alignas(64) _Atomic guint64 persistent_spilled; /* of those: persistent and spilled */
  _Alignas(64) _Atomic guint64 bytes;
  _Atomic guint64 away;       /* items for other nodes, in memory */
  _Atomic guint64 peak_bytes; /* the greatest @bytes since memory was last given back */
  _Atomic gboolean burst_over;
  _Alignas(64) _Atomic guint64 next_item;
} IrisdCore;

/* Returns the settings in force, until the calling reader's next turn. */
static inline const IrisdConfig *
irisd_core_get_settings (IrisdCore *self)
{
  return irisd_settings_get (&self->settings);
}

IrisdPhase irisd_core_get_phase (IrisdCore *self);
gint64 irisd_core_get_deadline (IrisdCore *self);
void irisd_core_enter_phase (IrisdCore *self, IrisdPhase phase, guint64 grace_ms);
gboolean irisd_core_begin_item (IrisdCore *self);
void irisd_core_end_item (IrisdCore *self);
guint64 irisd_core_new_item_id (IrisdCore *self);
guint64 irisd_core_new_item_ids (IrisdCore *self, guint n);
guint64 irisd_core_get_items (IrisdCore *self);
void irisd_core_count_in_memory (IrisdCore *self, gboolean for_workers, gint change);
void irisd_core_count_spilled (IrisdCore *self, gint change);
guint64 irisd_core_get_persistent_in_memory (IrisdCore *self, gboolean for_workers);
guint64 irisd_core_get_volatile (IrisdCore *self);
guint64 irisd_core_get_bytes (IrisdCore *self);
void irisd_core_add_bytes (IrisdCore *self, gint64 change);
gboolean irisd_core_take_burst_over (IrisdCore *self);
guint irisd_core_count_running (IrisdCore *self);
void irisd_core_count_run (IrisdCore *self, gint place, guint64 bytes);
void irisd_core_wake_main (IrisdCore *self);
gint64 irisd_now_ns (void);

/* The calling thread is the worker of that index; -1: it is none. */
static inline void
irisd_core_note_runs (IrisdCore *self, gint worker, gboolean runs)
{
  /* Relaxed: only counted. */
  if (worker >= 0 && (guint) worker < self->n_workers)
    atomic_store_explicit (&self->workers[worker].runs, runs, memory_order_relaxed);
}

G_END_DECLS
