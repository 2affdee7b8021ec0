/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The limits of irisd: name, default and purpose of each.
 */
#include "daemon/config/irisd-limits.h"

#include "daemon/base/irisd-error.h"

#include <errno.h>
#include <string.h>

#define KIB G_GUINT64_CONSTANT (1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define DAY G_GUINT64_CONSTANT (86400000) /* in milliseconds */

#define LIMIT(name, field, fallback, min, max, summary)                     \
  {                                                                         \
    name, G_STRUCT_OFFSET (IrisdLimits, field), fallback, min, max, summary \
  }

/* clang-format off */
static const IrisdLimitInfo limits[] = {
  LIMIT ("max-header", max_header, IRIS_WIRE_DEFAULT_MAX_HEADER, 4 * KIB, 16 * MIB,
         "bytes of a message's header"),
  LIMIT ("max-body", max_body, IRIS_WIRE_DEFAULT_MAX_BODY, 64 * KIB, 1 * GIB,
         "bytes of a message's body"),
  LIMIT ("max-batch", max_batch, IRIS_WIRE_DEFAULT_MAX_BATCH, 1, 65536, "items of one batch"),
  LIMIT ("max-depth", max_depth, IRIS_WIRE_DEFAULT_MAX_DEPTH, IRIS_WIRE_LEAST_DEPTH,
         IRIS_WIRE_MOST_DEPTH, "nested values of a header"),
  LIMIT ("max-string", max_string, IRIS_WIRE_DEFAULT_MAX_STRING, 1 * KIB, 1 * MIB,
         "bytes of one string of a header"),
  LIMIT ("max-args", max_args, IRIS_WIRE_DEFAULT_MAX_ARGS, 1, 65536, "arguments of one item"),
  LIMIT ("max-entries", max_entries, IRIS_WIRE_DEFAULT_MAX_ENTRIES, 64, 65536,
         "places or services in one reply"),
  LIMIT ("in-flight-items", in_flight_items, 1024, 1, 1000000,
         "items of one connection that it has not acknowledged"),
  LIMIT ("in-flight-bytes", in_flight_bytes, 64 * MIB, 1, 64 * GIB,
         "bytes of payload and results of one connection that it has not acknowledged"),
  LIMIT ("total-items", total_items, 262144, 1, 100000000,
         "items of all connections in memory; of kept ones as many again"),
  LIMIT ("total-bytes", total_bytes, 1 * GIB, 1, 1024 * GIB,
         "bytes of payload and results of all connections together"),
  LIMIT ("window-us", window_us, 4000, 0, 10000000,
         "microseconds of work, for each worker, that a place's scheduler is given at once"),
  LIMIT ("aging-ms", aging_ms, 1000, 1, 86400000,
         "milliseconds of waiting that count as one level of priority"),
  LIMIT ("max-delay-ms", max_delay_ms, 366 * DAY, 0, 36600 * DAY,
         "milliseconds that an item may wait for its time, or run"),
  LIMIT ("memory-items", memory_items, 10000, 0, 100000000,
         "persistent items of one socket in memory; of more, those that wait are on disk only"),
  LIMIT ("read-ahead-ms", read_ahead_ms, 1000, 0, 60000,
         "milliseconds before its time that such an item is read back"),
  LIMIT ("max-retries", max_retries, 1000, 0, 1000000, "times that one item is tried again"),
  LIMIT ("max-backoff-ms", max_backoff_ms, 3600000, 0, 86400000,
         "milliseconds from one try of an item to the next"),
  LIMIT ("remembered-items", remembered_items, 65536, 0, 100000000,
         "items that have ended and that others can still come after"),
  LIMIT ("remembered-places", remembered_places, 65536, 0, 100000000,
         "items of which irisd knows where they were, for others that want to be near"),
  LIMIT ("remembered-paths", remembered_paths, 4096, 0, 10000000,
         "paths of which irisd knows where they were worked on, for the same"),
  LIMIT ("max-peers", max_peers, 1024, 1, 1000000, "connections of one socket that said hello"),
  LIMIT ("max-user-peers", max_user_peers, 512, 1, 1000000,
         "of those, connections of one user other than irisd's own"),
  LIMIT ("max-pending-connections", max_pending_connections, 4096, 1, 1000000,
         "connections of all sockets together that have not said hello"),
  LIMIT ("hello-ms", hello_ms, 30000, 100, 86400000,
         "milliseconds in which a connection has to say hello"),
  LIMIT ("unfinished-bytes", unfinished_bytes, 256 * MIB, 1 * MIB, 1024 * GIB,
         "bytes of all connections' messages whose last frame has not come"),
  LIMIT ("outbox-messages", outbox_messages, 4096, 16, 1000000,
         "replies that wait for a connection that does not read"),
  LIMIT ("max-output", max_output, 8 * MIB, 0, 1 * GIB, "bytes of output of one command"),
  LIMIT ("keep-output", keep_output, 1 * MIB, 0, 1 * GIB,
         "bytes of output of one persistent command that are kept for those who follow it"),
  LIMIT ("total-output", total_output, 256 * MIB, 0, 1024 * GIB,
         "bytes of the disk that kept output takes; the longest ended goes first"),
  LIMIT ("commands-per-place", commands_per_place, 0, 0, 65536,
         "commands that run at one place at once; 0 for as many as it has workers"),
  LIMIT ("stream-credit", stream_credit, 1 * MIB, 1, 1 * GIB,
         "bytes of streamed output, or of parts, of one item that its client may have granted"),
  LIMIT ("kill-grace-ms", kill_grace_ms, 2000, 0, 3600000,
         "milliseconds from SIGTERM to SIGKILL for a cancelled command"),
  LIMIT ("hook-ms", hook_ms, 60000, 10, 3600000,
         "milliseconds that a command may run that is run when an item has ended"),
  LIMIT ("handover-ms", handover_ms, 45000, 0, 86400000,
         "milliseconds that an irisd that ends waits for items that run; persistent ones that are "
         "ended then run again after the next start"),
  LIMIT ("drain-grace-ms", drain_grace_ms, 5000, 0, 3600000,
         "milliseconds that results wait for connections that do not read, when irisd ends"),
  LIMIT ("stop-grace-ms", stop_grace_ms, 500, 0, 60000, "the same after a second signal"),
  LIMIT ("max-crashes", max_crashes, 3, 0, 1000000,
         "crashes of irisd while a persistent item runs, after which it is buried; 0 for never"),
  LIMIT ("orphan-ms", orphan_ms, 10000, 0, 3600000,
         "milliseconds that a starting irisd waits for processes of before a crash to end"),
  LIMIT ("lease-ms", lease_ms, 60000, 10, 86400000,
         "milliseconds that a worker process has an item, if it does not ask for more"),
  LIMIT ("lease-attempts", lease_attempts, 5, 1, 1000, "leases of one item to worker processes"),
  LIMIT ("silence-ms", silence_ms, 10000, 10, 3600000,
         "milliseconds after which a silent worker process counts as lost"),
  LIMIT ("worker-wait-ms", worker_wait_ms, 30000, 0, 86400000,
         "milliseconds that volatile items wait for a service without a worker process"),
  LIMIT ("worker-services", worker_services, 64, 1, 4096, "services of one worker process"),
  LIMIT ("total-worker-services", total_worker_services, 1024, 1, 65536,
         "services of all worker processes together"),
  LIMIT ("persistent-items", persistent_items, 4000000, 1, 100000000,
         "items in the journal, those that ended and are not fetched yet among them"),
  LIMIT ("max-schedules", max_schedules, 10000, 0, 10000000, "schedules, of all users together"),
  LIMIT ("max-queues", max_queues, 256, 0, 512, "named queues, of all users together"),
  LIMIT ("keep-ms", keep_ms, 86400000, 0, 365 * DAY,
         "milliseconds that the end of a persistent item is kept, if the item does not say"),
  LIMIT ("max-keep-ms", max_keep_ms, 30 * DAY, 0, 365 * DAY,
         "the most that an item may say"),
  LIMIT ("relaxed-ms", relaxed_ms, 50, 0, 60000,
         "milliseconds after which a relaxed item is on the disk"),
  LIMIT ("journal-reserve", journal_reserve, 8 * MIB, 64 * KIB, 1 * GIB,
         "bytes of the file that is given up when the journal's disk is full"),
};
/* clang-format on */

const IrisdLimitInfo *
irisd_limits_get_table (guint *n_rows)
{
  *n_rows = G_N_ELEMENTS (limits);
  return limits;
}

static guint64 *
field_of (IrisdLimits *self, const IrisdLimitInfo *info)
{
  return (guint64 *) ((char *) self + info->offset);
}

guint64
irisd_limits_get (const IrisdLimits *self, const IrisdLimitInfo *info)
{
  return *field_of ((IrisdLimits *) self, info);
}

void
irisd_limits_init (IrisdLimits *self)
{
  for (guint i = 0; i < G_N_ELEMENTS (limits); i++)
    *field_of (self, &limits[i]) = limits[i].fallback;
}

/* A number, or one with a suffix K, M or G: powers of 1024. */
static gboolean
parse_size (const char *text, guint64 *value)
{
  if (!g_ascii_isdigit (text[0]))
    return FALSE;

  char *end = NULL;
  errno = 0;
  guint64 number = g_ascii_strtoull (text, &end, 10);
  if (errno != 0)
    return FALSE;

  guint64 unit = *end == 'K' ? KIB : *end == 'M' ? MIB : *end == 'G' ? GIB : 1;
  end += unit > 1;
  return *end == '\0' && g_uint64_checked_mul (value, number, unit);
}

/* Sets limit @name from text; K, M and G multiply by powers of 1024. Returns whether there is such
 * a limit and it may have that value. */
gboolean
irisd_limits_set (IrisdLimits *self, const char *name, const char *value, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (limits); i++)
    {
      const IrisdLimitInfo *info = &limits[i];
      if (strcmp (info->name, name) != 0)
        continue;

      guint64 number = 0;
      if (!parse_size (value, &number) || number < info->min || number > info->max)
        return irisd_fail (
            error, IRISD_ERROR, IRISD_ERROR_USAGE,
            "“%s” is no value for the limit %s (%s); give a number from %" G_GUINT64_FORMAT
            " to %" G_GUINT64_FORMAT ", with K, M or G after it if you like",
            value, name, info->summary, info->min, info->max);
      *field_of (self, info) = number;
      return TRUE;
    }
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                     "there is no limit “%s”; irisd.conf(5) lists them all", name);
}

/* Returns the limits that the protocol's encoder and decoder enforce. */
IrisWireLimits
irisd_limits_get_wire (const IrisdLimits *self)
{
  return (IrisWireLimits){
    .max_header = self->max_header,
    .max_body = self->max_body,
    .max_batch = (guint) self->max_batch,
    .max_depth = (guint) self->max_depth,
    .max_string = self->max_string,
    .max_args = (guint) self->max_args,
    .max_entries = (guint) self->max_entries,
  };
}
