/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The body of STATISTICS_REPLY.
 */
#include "iris-wire-statistics.h"

#include "iris-wire-record-private.h"

static const IrisWireRecordField outcome_fields[] = {
  IRIS_WIRE_RECORD_FIELD (IrisWireOutcomeStatistics, 0, UINT32, klass, "class"),
  IRIS_WIRE_RECORD_FIELD (IrisWireOutcomeStatistics, 1, UINT64, done, "done"),
  IRIS_WIRE_RECORD_FIELD (IrisWireOutcomeStatistics, 2, UINT64, failed, "failed"),
  IRIS_WIRE_RECORD_FIELD (IrisWireOutcomeStatistics, 3, UINT64, cancelled, "cancelled"),
  IRIS_WIRE_RECORD_FIELD (IrisWireOutcomeStatistics, 4, UINT64, expired, "expired"),
  IRIS_WIRE_RECORD_FIELD (IrisWireOutcomeStatistics, 5, UINT64, buried, "buried"),
};

static const IrisWireRecord outcome_record = IRIS_WIRE_RECORD (IrisWireOutcomeStatistics,
                                                               outcome_fields);

static const IrisWireRecordField daemon_fields[] = {
  IRIS_WIRE_RECORD_FIELD (IrisWireDaemonStatistics, 0, STRING, version, "version"),
  IRIS_WIRE_RECORD_FIELD (IrisWireDaemonStatistics, 1, STRING, scheduler, "scheduler"),
  IRIS_WIRE_RECORD_FIELD (IrisWireDaemonStatistics, 2, UINT32, pid, "pid"),
  IRIS_WIRE_RECORD_FIELD (IrisWireDaemonStatistics, 3, UINT64, started_ms, "started-ms"),
  IRIS_WIRE_RECORD_FIELD (IrisWireDaemonStatistics, 4, UINT64, uptime_ms, "uptime-ms"),
  IRIS_WIRE_RECORD_FIELD (IrisWireDaemonStatistics, 5, BOOLEAN, draining, "draining"),
  IRIS_WIRE_RECORD_FIELD (IrisWireDaemonStatistics, 6, BOOLEAN, ready, "ready"),
  IRIS_WIRE_RECORD_FIELD (IrisWireDaemonStatistics, 7, STRING, not_ready, "not-ready"),
  IRIS_WIRE_RECORD_FIELD (IrisWireDaemonStatistics, 8, UINT64, connections, "connections"),
  IRIS_WIRE_RECORD_FIELD (IrisWireDaemonStatistics, 9, UINT64, strangers, "strangers"),
  IRIS_WIRE_RECORD_FIELD (IrisWireDaemonStatistics, 10, UINT64, accepted, "accepted"),
  IRIS_WIRE_RECORD_FIELD (IrisWireDaemonStatistics, 11, UINT64, in_flight, "in-flight"),
  IRIS_WIRE_RECORD_FIELD (IrisWireDaemonStatistics, 12, UINT64, held_back, "held-back"),
  IRIS_WIRE_RECORD_FIELD (IrisWireDaemonStatistics, 13, UINT64, spilled, "spilled"),
  IRIS_WIRE_RECORD_FIELD (IrisWireDaemonStatistics, 14, UINT64, malformed, "malformed"),
  IRIS_WIRE_RECORD_FIELD (IrisWireDaemonStatistics, 15, UINT64, busy, "busy"),
  IRIS_WIRE_RECORD_FIELD (IrisWireDaemonStatistics, 16, UINT64, credits, "credits"),
  IRIS_WIRE_RECORD_FIELD (IrisWireDaemonStatistics, 17, UINT64, credits_used, "credits-used"),
  IRIS_WIRE_RECORD_FIELD (IrisWireDaemonStatistics, 18, UINT64, byte_credits, "byte-credits"),
  IRIS_WIRE_RECORD_FIELD (IrisWireDaemonStatistics,
                          19,
                          UINT64,
                          byte_credits_used,
                          "byte-credits-used"),
  IRIS_WIRE_RECORD_FIELD (IrisWireDaemonStatistics,
                          20,
                          UINT64,
                          commands_running,
                          "commands-running"),
  IRIS_WIRE_RECORD_FIELD (IrisWireDaemonStatistics,
                          21,
                          UINT64,
                          commands_started,
                          "commands-started"),
  IRIS_WIRE_RECORD_FIELD (IrisWireDaemonStatistics, 22, UINT64, memory_bytes, "memory-bytes"),
  IRIS_WIRE_RECORD_FIELD (IrisWireDaemonStatistics, 23, UINT64, payload_bytes, "payload-bytes"),
  IRIS_WIRE_RECORD_FIELD (IrisWireDaemonStatistics, 24, UINT64, cpu_ns, "cpu-ns"),
  IRIS_WIRE_RECORD_ARRAY (IrisWireDaemonStatistics, 25, NUMBERS64, states, NULL),
  IRIS_WIRE_RECORD_ARRAY (IrisWireDaemonStatistics, 26, LIST, outcomes, &outcome_record),
};

static const IrisWireRecord daemon_record = IRIS_WIRE_RECORD (IrisWireDaemonStatistics,
                                                              daemon_fields);

static const IrisWireRecordField place_fields[] = {
  IRIS_WIRE_RECORD_FIELD (IrisWirePlaceStatistics, 0, UINT32, id, "id"),
  IRIS_WIRE_RECORD_FIELD (IrisWirePlaceStatistics, 1, STRING, name, "name"),
  IRIS_WIRE_RECORD_FIELD (IrisWirePlaceStatistics, 2, STRING, cpus, "cpus"),
  IRIS_WIRE_RECORD_FIELD (IrisWirePlaceStatistics, 3, UINT32, package, "package"),
  IRIS_WIRE_RECORD_FIELD (IrisWirePlaceStatistics, 4, UINT32, numa_node, "numa-node"),
  IRIS_WIRE_RECORD_FIELD (IrisWirePlaceStatistics, 5, UINT32, l3, "l3"),
  IRIS_WIRE_RECORD_FIELD (IrisWirePlaceStatistics, 6, UINT32, l2, "l2"),
  IRIS_WIRE_RECORD_FIELD (IrisWirePlaceStatistics, 7, UINT32, core, "core"),
  IRIS_WIRE_RECORD_FIELD (IrisWirePlaceStatistics, 8, UINT32, workers, "workers"),
  IRIS_WIRE_RECORD_FIELD (IrisWirePlaceStatistics, 9, UINT32, active, "active"),
  IRIS_WIRE_RECORD_FIELD (IrisWirePlaceStatistics, 10, BOOLEAN, drained, "drained"),
  IRIS_WIRE_RECORD_FIELD (IrisWirePlaceStatistics, 11, UINT64, hinted, "hinted"),
  IRIS_WIRE_RECORD_FIELD (IrisWirePlaceStatistics, 12, UINT64, executed, "executed"),
  IRIS_WIRE_RECORD_FIELD (IrisWirePlaceStatistics, 13, UINT64, failed, "failed"),
  IRIS_WIRE_RECORD_FIELD (IrisWirePlaceStatistics, 14, UINT64, stolen_in, "stolen-in"),
  IRIS_WIRE_RECORD_FIELD (IrisWirePlaceStatistics, 15, UINT64, stolen_out, "stolen-out"),
  IRIS_WIRE_RECORD_FIELD (IrisWirePlaceStatistics, 16, UINT64, bytes, "bytes"),
  IRIS_WIRE_RECORD_FIELD (IrisWirePlaceStatistics, 17, UINT64, busy_ns, "busy-ns"),
  IRIS_WIRE_RECORD_FIELD (IrisWirePlaceStatistics, 18, UINT64, backlog, "backlog"),
  IRIS_WIRE_RECORD_FIELD (IrisWirePlaceStatistics, 19, UINT64, steals_tried, "steals-tried"),
  IRIS_WIRE_RECORD_FIELD (IrisWirePlaceStatistics, 20, UINT64, steals_made, "steals-made"),
  IRIS_WIRE_RECORD_ARRAY (IrisWirePlaceStatistics, 21, NUMBERS64, steals_refused, NULL),
  IRIS_WIRE_RECORD_FIELD (IrisWirePlaceStatistics, 22, UINT64, steals_lapsed, "steals-lapsed"),
  IRIS_WIRE_RECORD_FIELD (IrisWirePlaceStatistics, 23, UINT64, parks, "parks"),
  IRIS_WIRE_RECORD_FIELD (IrisWirePlaceStatistics, 24, UINT64, wakes, "wakes"),
  IRIS_WIRE_RECORD_ARRAY (IrisWirePlaceStatistics, 25, NUMBERS64, queue_delay, NULL),
  IRIS_WIRE_RECORD_FIELD (IrisWirePlaceStatistics, 26, UINT64, queue_delay_ns, "queue-delay-ns"),
  IRIS_WIRE_RECORD_ARRAY (IrisWirePlaceStatistics, 27, NUMBERS64, run_time, NULL),
  IRIS_WIRE_RECORD_FIELD (IrisWirePlaceStatistics, 28, UINT64, run_time_ns, "run-time-ns"),
};

static const IrisWireRecord place_record = IRIS_WIRE_RECORD (IrisWirePlaceStatistics, place_fields);

static const IrisWireRecordField steal_fields[] = {
  IRIS_WIRE_RECORD_FIELD (IrisWireStealStatistics, 0, UINT32, place, "place"),
  IRIS_WIRE_RECORD_ARRAY (IrisWireStealStatistics, 1, NUMBERS, distances, NULL),
  IRIS_WIRE_RECORD_ARRAY (IrisWireStealStatistics, 2, NUMBERS64, steals, NULL),
  IRIS_WIRE_RECORD_ARRAY (IrisWireStealStatistics, 3, NUMBERS64, items, NULL),
};

static const IrisWireRecord steal_record = IRIS_WIRE_RECORD (IrisWireStealStatistics, steal_fields);

static const IrisWireRecordField service_fields[] = {
  IRIS_WIRE_RECORD_FIELD (IrisWireServiceStatistics, 0, STRING, name, "name"),
  IRIS_WIRE_RECORD_FIELD (IrisWireServiceStatistics, 1, UINT64, waiting, "waiting"),
  IRIS_WIRE_RECORD_FIELD (IrisWireServiceStatistics, 2, UINT64, leased, "leased"),
  IRIS_WIRE_RECORD_FIELD (IrisWireServiceStatistics, 3, UINT64, done, "done"),
  IRIS_WIRE_RECORD_FIELD (IrisWireServiceStatistics, 4, UINT64, failed, "failed"),
  IRIS_WIRE_RECORD_FIELD (IrisWireServiceStatistics, 5, UINT64, cancelled, "cancelled"),
  IRIS_WIRE_RECORD_FIELD (IrisWireServiceStatistics, 6, UINT64, expired, "expired"),
  IRIS_WIRE_RECORD_FIELD (IrisWireServiceStatistics, 7, UINT64, buried, "buried"),
  IRIS_WIRE_RECORD_FIELD (IrisWireServiceStatistics, 8, UINT64, retried, "retried"),
  IRIS_WIRE_RECORD_FIELD (IrisWireServiceStatistics, 9, UINT64, run_ns, "run-ns"),
  IRIS_WIRE_RECORD_FIELD (IrisWireServiceStatistics, 10, UINT64, queue_ns, "queue-ns"),
};

static const IrisWireRecord service_record = IRIS_WIRE_RECORD (IrisWireServiceStatistics,
                                                               service_fields);

static const IrisWireRecordField limit_user_fields[] = {
  IRIS_WIRE_RECORD_FIELD (IrisWireLimitUser, 0, STRING, name, "name"),
  IRIS_WIRE_RECORD_FIELD (IrisWireLimitUser, 1, UINT64, used, "used"),
  IRIS_WIRE_RECORD_FIELD (IrisWireLimitUser, 2, UINT64, value, "value"),
};

static const IrisWireRecord limit_user_record = IRIS_WIRE_RECORD (IrisWireLimitUser,
                                                                  limit_user_fields);

static const IrisWireRecordField limit_fields[] = {
  IRIS_WIRE_RECORD_FIELD (IrisWireLimitStatistics, 0, STRING, name, "name"),
  IRIS_WIRE_RECORD_FIELD (IrisWireLimitStatistics, 1, UINT64, value, "value"),
  IRIS_WIRE_RECORD_FIELD (IrisWireLimitStatistics, 2, BOOLEAN, counted, "counted"),
  IRIS_WIRE_RECORD_FIELD (IrisWireLimitStatistics, 3, UINT64, used, "used"),
  IRIS_WIRE_RECORD_FIELD (IrisWireLimitStatistics, 4, UINT64, busy, "busy"),
  IRIS_WIRE_RECORD_ARRAY (IrisWireLimitStatistics, 5, LIST, users, &limit_user_record),
};

static const IrisWireRecord limit_record = IRIS_WIRE_RECORD (IrisWireLimitStatistics, limit_fields);

static const IrisWireRecordField journal_fields[] = {
  IRIS_WIRE_RECORD_FIELD (IrisWireJournalStatistics, 0, STRING, state, "state"),
  IRIS_WIRE_RECORD_FIELD (IrisWireJournalStatistics, 1, STRING, reason, "reason"),
  IRIS_WIRE_RECORD_FIELD (IrisWireJournalStatistics, 2, UINT64, items, "items"),
  IRIS_WIRE_RECORD_FIELD (IrisWireJournalStatistics, 3, UINT64, ended, "ended"),
  IRIS_WIRE_RECORD_FIELD (IrisWireJournalStatistics, 4, UINT64, damaged, "damaged"),
  IRIS_WIRE_RECORD_FIELD (IrisWireJournalStatistics, 5, UINT64, syncs, "syncs"),
  IRIS_WIRE_RECORD_ARRAY (IrisWireJournalStatistics, 6, NUMBERS64, sync_time, NULL),
  IRIS_WIRE_RECORD_FIELD (IrisWireJournalStatistics, 7, UINT64, sync_time_ns, "sync-time-ns"),
  IRIS_WIRE_RECORD_FIELD (IrisWireJournalStatistics, 8, UINT64, rows, "rows"),
  IRIS_WIRE_RECORD_FIELD (IrisWireJournalStatistics, 9, UINT64, bytes, "bytes"),
  IRIS_WIRE_RECORD_FIELD (IrisWireJournalStatistics, 10, UINT64, file_bytes, "file-bytes"),
  IRIS_WIRE_RECORD_FIELD (IrisWireJournalStatistics, 11, UINT64, log_bytes, "log-bytes"),
  IRIS_WIRE_RECORD_FIELD (IrisWireJournalStatistics, 12, UINT64, free_bytes, "free-bytes"),
};

static const IrisWireRecord journal_record = IRIS_WIRE_RECORD (IrisWireJournalStatistics,
                                                               journal_fields);

static const IrisWireRecordField process_fields[] = {
  IRIS_WIRE_RECORD_FIELD (IrisWireProcessStatistics, 0, STRING, name, "name"),
  IRIS_WIRE_RECORD_FIELD (IrisWireProcessStatistics, 1, TEXTS, services, "services"),
  IRIS_WIRE_RECORD_ARRAY (IrisWireProcessStatistics, 2, NUMBERS, places, NULL),
  IRIS_WIRE_RECORD_FIELD (IrisWireProcessStatistics, 3, UINT32, capacity, "capacity"),
  IRIS_WIRE_RECORD_FIELD (IrisWireProcessStatistics, 4, UINT32, leases, "leases"),
  IRIS_WIRE_RECORD_FIELD (IrisWireProcessStatistics, 5, UINT64, done, "done"),
  IRIS_WIRE_RECORD_FIELD (IrisWireProcessStatistics, 6, UINT64, failed, "failed"),
  IRIS_WIRE_RECORD_FIELD (IrisWireProcessStatistics, 7, UINT64, lapsed, "lapsed"),
  IRIS_WIRE_RECORD_FIELD (IrisWireProcessStatistics, 8, UINT64, silent_ms, "silent-ms"),
};

static const IrisWireRecord process_record = IRIS_WIRE_RECORD (IrisWireProcessStatistics,
                                                               process_fields);

static const IrisWireRecordField cluster_fields[] = {
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 0, STRING, node, "node"),
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 1, UINT32, state, "state"),
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 2, UINT64, since_ms, "since-ms"),
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 3, STRING, reason, "reason"),
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 4, STRING, promise, "promise"),
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 5, BOOLEAN, takes_durable, "takes-durable"),
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 6, BOOLEAN, draining, "draining"),
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 7, UINT32, nodes_here, "nodes-here"),
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 8, UINT32, nodes_draining, "nodes-draining"),
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 9, UINT32, nodes_gone, "nodes-gone"),
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 10, UINT64, reports, "reports"),
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 11, UINT64, reports_failed, "reports-failed"),
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 12, UINT64, connects, "connects"),
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 13, UINT64, away, "away"),
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 14, UINT64, held, "held"),
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 15, UINT64, guests, "guests"),
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 16, UINT64, published, "published"),
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 17, UINT64, away_ended, "away-ended"),
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 18, UINT64, ends_found, "ends-found"),
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 19, UINT64, delivered, "delivered"),
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 20, UINT64, redelivered, "redelivered"),
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 21, UINT64, guests_ended, "guests-ended"),
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 22, UINT64, late_ends, "late-ends"),
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 23, UINT64, given_back, "given-back"),
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 24, UINT64, dead_letters, "dead-letters"),
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 25, UINT64, failed, "failed"),
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 26, UINT64, bytes_sent, "bytes-sent"),
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 27, UINT64, bytes_received, "bytes-received"),
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 28, UINT64, rescued, "rescued"),
  IRIS_WIRE_RECORD_ARRAY (IrisWireClusterStatistics, 29, NUMBERS64, stolen, NULL),
  IRIS_WIRE_RECORD_ARRAY (IrisWireClusterStatistics, 30, NUMBERS64, steals_refused, NULL),
  IRIS_WIRE_RECORD_FIELD (IrisWireClusterStatistics, 31, UINT64, steals_lapsed, "steals-lapsed"),
};

static const IrisWireRecord cluster_record = IRIS_WIRE_RECORD (IrisWireClusterStatistics,
                                                               cluster_fields);

static const IrisWireRecordField statistics_fields[] = {
  IRIS_WIRE_RECORD_FIELD (IrisWireStatistics, 0, UINT32, sections, "sections"),
  IRIS_WIRE_RECORD_ARRAY (IrisWireStatistics, 1, LIST, daemon, &daemon_record),
  IRIS_WIRE_RECORD_ARRAY (IrisWireStatistics, 2, LIST, places, &place_record),
  IRIS_WIRE_RECORD_ARRAY (IrisWireStatistics, 3, LIST, steals, &steal_record),
  IRIS_WIRE_RECORD_ARRAY (IrisWireStatistics, 4, LIST, services, &service_record),
  IRIS_WIRE_RECORD_ARRAY (IrisWireStatistics, 5, LIST, limits, &limit_record),
  IRIS_WIRE_RECORD_ARRAY (IrisWireStatistics, 6, LIST, journal, &journal_record),
  IRIS_WIRE_RECORD_ARRAY (IrisWireStatistics, 7, LIST, processes, &process_record),
  IRIS_WIRE_RECORD_ARRAY (IrisWireStatistics, 8, LIST, cluster, &cluster_record),
};

static const IrisWireRecord statistics_record = IRIS_WIRE_RECORD (IrisWireStatistics,
                                                                  statistics_fields);

IRIS_WIRE_DEFINE_BODY (IrisWireStatistics, statistics, "STATISTICS_REPLY", statistics_record)

GVariant *
iris_wire_statistics_to_variant (const IrisWireStatistics *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return iris_wire_record_to_variant (&statistics_record, self);
}
