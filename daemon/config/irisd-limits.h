/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The limits of irisd: name, default and purpose of each.
 */
#pragma once

#include <iris/iris.h>
#include <iris/wire/iris-wire.h>

G_BEGIN_DECLS

/* One field for each row of the table in irisd-limits.c; the names are those of the [limits] group
 * of a configuration file, with '-' for '_'. */
typedef struct
{
  guint64 max_header;
  guint64 max_body;
  guint64 max_batch;
  guint64 max_depth;
  guint64 max_string;
  guint64 max_args;
  guint64 max_entries;
  guint64 in_flight_items;
  guint64 in_flight_bytes;
  guint64 total_items;
  guint64 total_bytes;
  guint64 window_us;
  guint64 aging_ms;
  guint64 max_delay_ms;
  guint64 memory_items;
  guint64 read_ahead_ms;
  guint64 max_retries;
  guint64 max_backoff_ms;
  guint64 remembered_items;
  guint64 remembered_places;
  guint64 remembered_paths;
  guint64 max_peers;
  guint64 max_user_peers;
  guint64 max_pending_connections;
  guint64 hello_ms;
  guint64 unfinished_bytes;
  guint64 outbox_messages;
  guint64 max_output;
  guint64 keep_output;
  guint64 total_output;
  guint64 commands_per_place;
  guint64 stream_credit;
  guint64 kill_grace_ms;
  guint64 hook_ms;
  guint64 handover_ms;
  guint64 drain_grace_ms;
  guint64 stop_grace_ms;
  guint64 max_crashes;
  guint64 orphan_ms;
  guint64 lease_ms;
  guint64 lease_attempts;
  guint64 silence_ms;
  guint64 worker_wait_ms;
  guint64 worker_services;
  guint64 total_worker_services;
  guint64 persistent_items;
  guint64 max_schedules;
  guint64 max_queues;
  guint64 keep_ms;
  guint64 max_keep_ms;
  guint64 relaxed_ms;
  guint64 journal_reserve;
} IrisdLimits;

typedef struct
{
  const char *name;    /* as written in a configuration file */
  gsize offset;        /* of the field in IrisdLimits */
  guint64 fallback;    /* the default */
  guint64 min;         /* the least value that makes sense */
  guint64 max;         /* the greatest value that is allowed */
  const char *summary; /* one line for people */
} IrisdLimitInfo;

const IrisdLimitInfo *irisd_limits_get_table (guint *n_rows);
void irisd_limits_init (IrisdLimits *self);
guint64 irisd_limits_get (const IrisdLimits *self, const IrisdLimitInfo *info);
gboolean irisd_limits_set (IrisdLimits *self, const char *name, const char *value, GError **error);
IrisWireLimits irisd_limits_get_wire (const IrisdLimits *self);

G_END_DECLS
