/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The body of STATISTICS_REPLY: all that irisd counts, for monitoring.
 *
 * Counters grow from 0 when irisd is started. A histogram has %IRIS_WIRE_N_BUCKETS numbers: how
 * many were below 1024 ns, from there to below 2048 ns, and so on by powers of two; the last one
 * has no upper end.
 */
#pragma once

#include <iris/wire/base/iris-wire-limits.h>
#include <iris/wire/message/iris-wire-message.h>

G_BEGIN_DECLS

/**
 * IRIS_WIRE_N_BUCKETS:
 *
 * The numbers of a histogram. Bucket i counts what was below 2^(10+i) nanoseconds and not below the
 * one before it.
 */
#define IRIS_WIRE_N_BUCKETS 32

/**
 * IrisWireSection:
 * @IRIS_WIRE_SECTION_DAEMON: irisd as a whole
 * @IRIS_WIRE_SECTION_PLACES: each place
 * @IRIS_WIRE_SECTION_STEALS: which place stole from which
 * @IRIS_WIRE_SECTION_SERVICES: each service
 * @IRIS_WIRE_SECTION_LIMITS: each limit
 * @IRIS_WIRE_SECTION_JOURNAL: the journal
 * @IRIS_WIRE_SECTION_PROCESSES: the worker processes
 * @IRIS_WIRE_SECTION_CLUSTER: this node in the cluster
 *
 * The sections of the statistics: bits of key 106.
 */
typedef enum /*< flags >*/
{
  IRIS_WIRE_SECTION_DAEMON = 1 << 0,
  IRIS_WIRE_SECTION_PLACES = 1 << 1,
  IRIS_WIRE_SECTION_STEALS = 1 << 2,
  IRIS_WIRE_SECTION_SERVICES = 1 << 3,
  IRIS_WIRE_SECTION_LIMITS = 1 << 4,
  IRIS_WIRE_SECTION_JOURNAL = 1 << 5,
  IRIS_WIRE_SECTION_PROCESSES = 1 << 6,
  IRIS_WIRE_SECTION_CLUSTER = 1 << 7,
} IrisWireSection;

/**
 * IRIS_WIRE_ALL_SECTIONS:
 *
 * All of them.
 */
#define IRIS_WIRE_ALL_SECTIONS 0xff

/**
 * IrisWireOutcomeStatistics:
 * @klass: key 0, 0 volatile, 1 relaxed, 2 durable
 * @done: key 1, well
 * @failed: key 2, with an error
 * @cancelled: key 3, cancelled
 * @expired: key 4, with `deadline-passed`
 * @buried: key 5, how often one was buried
 *
 * How items of a class have ended.
 */
typedef struct
{
  guint32 klass;
  guint64 done;
  guint64 failed;
  guint64 cancelled;
  guint64 expired;
  guint64 buried;
} IrisWireOutcomeStatistics;

/**
 * IrisWireDaemonStatistics:
 * @version: key 0, of irisd; owned
 * @scheduler: key 1, its name; owned
 * @pid: key 2, its process
 * @started_ms: key 3, when it was started, Unix time in milliseconds
 * @uptime_ms: key 4, milliseconds since then
 * @draining: key 5, it takes no more items
 * @ready: key 6, it takes all kinds of items
 * @not_ready: key 7, why it does not, or empty; owned
 * @connections: key 8, connections that said HELLO
 * @strangers: key 9, connections that have not said it yet
 * @accepted: key 10, items accepted
 * @in_flight: key 11, items accepted and not ended
 * @held_back: key 12, items that wait for a permit of their client or service
 * @spilled: key 13, items that only the journal holds
 * @malformed: key 14, messages that did not parse
 * @busy: key 15, requests answered with BUSY
 * @credits: key 16, items that the connections may have in flight
 * @credits_used: key 17, items that they have
 * @byte_credits: key 18, bytes that the connections may have in flight
 * @byte_credits_used: key 19, bytes that they have
 * @commands_running: key 20, commands that run
 * @commands_started: key 21, commands that were started
 * @memory_bytes: key 22, memory of irisd, resident
 * @payload_bytes: key 23, bytes of payloads and results that it holds
 * @cpu_ns: key 24, processor time of irisd, in nanoseconds
 * @n_states: length of @states
 * @states: (array length=n_states): key 25, items in each state, by its number; owned
 * @n_outcomes: length of @outcomes
 * @outcomes: (array length=n_outcomes): key 26, of items that have ended, by class; owned
 *
 * What irisd is and does as a whole.
 */
typedef struct
{
  char *version;
  char *scheduler;
  guint32 pid;
  guint64 started_ms;
  guint64 uptime_ms;
  gboolean draining;
  gboolean ready;
  char *not_ready;
  guint64 connections;
  guint64 strangers;
  guint64 accepted;
  guint64 in_flight;
  guint64 held_back;
  guint64 spilled;
  guint64 malformed;
  guint64 busy;
  guint64 credits;
  guint64 credits_used;
  guint64 byte_credits;
  guint64 byte_credits_used;
  guint64 commands_running;
  guint64 commands_started;
  guint64 memory_bytes;
  guint64 payload_bytes;
  guint64 cpu_ns;
  guint n_states;
  guint64 *states;
  guint n_outcomes;
  IrisWireOutcomeStatistics *outcomes;
} IrisWireDaemonStatistics;

/**
 * IrisWirePlaceStatistics:
 * @id: key 0, its number
 * @name: key 1, its name; owned
 * @cpus: key 2, its processors, such as `0-3,8`; owned
 * @package: key 3, the package that it is in; 4294967295: more than one, or not known
 * @numa_node: key 4, likewise
 * @l3: key 5, likewise
 * @l2: key 6, likewise
 * @core: key 7, likewise
 * @workers: key 8, its workers
 * @active: key 9, how many of them are to take part
 * @drained: key 10, it takes no more items
 * @hinted: key 11, items whose hint named it
 * @executed: key 12, items that ran there
 * @failed: key 13, of these, items that failed
 * @stolen_in: key 14, items that it stole from other places
 * @stolen_out: key 15, items that other places stole from it
 * @bytes: key 16, bytes that its services worked on
 * @busy_ns: key 17, nanoseconds that its workers spent on items
 * @backlog: key 18, items that were queued there and have not come back
 * @steals_tried: key 19, looks into another place for work
 * @steals_made: key 20, looks that found some
 * @n_steals_refused: length of @steals_refused
 * @steals_refused: (array length=n_steals_refused): key 21, victims that were left alone: what they
 * had drains sooner than any move; for the memory that their items declare; because they are far;
 * because an item is to be kept apart; owned
 * @steals_lapsed: key 22, steals from a place that had been refused before, because it did not get
 * on as expected
 * @parks: key 23, how often a worker slept
 * @wakes: key 24, how often one was woken
 * @n_queue_delay: length of @queue_delay
 * @queue_delay: (array length=n_queue_delay): key 25, a histogram: from being accepted to being
 * run; owned
 * @queue_delay_ns: key 26, the sum of it, in nanoseconds
 * @n_run_time: length of @run_time
 * @run_time: (array length=n_run_time): key 27, a histogram: of running; owned
 * @run_time_ns: key 28, the sum of it, in nanoseconds
 *
 * What one place is and did.
 */
typedef struct
{
  guint32 id;
  char *name;
  char *cpus;
  guint32 package;
  guint32 numa_node;
  guint32 l3;
  guint32 l2;
  guint32 core;
  guint32 workers;
  guint32 active;
  gboolean drained;
  guint64 hinted;
  guint64 executed;
  guint64 failed;
  guint64 stolen_in;
  guint64 stolen_out;
  guint64 bytes;
  guint64 busy_ns;
  guint64 backlog;
  guint64 steals_tried;
  guint64 steals_made;
  guint n_steals_refused;
  guint64 *steals_refused;
  guint64 steals_lapsed;
  guint64 parks;
  guint64 wakes;
  guint n_queue_delay;
  guint64 *queue_delay;
  guint64 queue_delay_ns;
  guint n_run_time;
  guint64 *run_time;
  guint64 run_time_ns;
} IrisWirePlaceStatistics;

/**
 * IrisWireStealStatistics:
 * @place: key 0, which
 * @n_distances: length of @distances
 * @distances: (array length=n_distances): key 1, to every place, in order of id; empty if not
 * known; owned
 * @n_steals: length of @steals
 * @steals: (array length=n_steals): key 2, looks that found work, by place; owned
 * @n_items: length of @items
 * @items: (array length=n_items): key 3, items that were taken, by place; owned
 *
 * What one place stole, by the place that it stole from.
 */
typedef struct
{
  guint32 place;
  guint n_distances;
  guint32 *distances;
  guint n_steals;
  guint64 *steals;
  guint n_items;
  guint64 *items;
} IrisWireStealStatistics;

/**
 * IrisWireServiceStatistics:
 * @name: key 0, its name; `other` for all beyond the 1,000 that are counted singly, and for
 * those that SERVICES does not tell the client; owned
 * @waiting: key 1, items that wait, or that a worker of irisd runs
 * @leased: key 2, items that worker processes have
 * @done: key 3, items that ended well
 * @failed: key 4, with an error
 * @cancelled: key 5, cancelled
 * @expired: key 6, with `deadline-passed`
 * @buried: key 7, how often one was buried
 * @retried: key 8, how often one was tried again
 * @run_ns: key 9, nanoseconds of running
 * @queue_ns: key 10, nanoseconds from being accepted to being run
 *
 * What one service did.
 */
typedef struct
{
  char *name;
  guint64 waiting;
  guint64 leased;
  guint64 done;
  guint64 failed;
  guint64 cancelled;
  guint64 expired;
  guint64 buried;
  guint64 retried;
  guint64 run_ns;
  guint64 queue_ns;
} IrisWireServiceStatistics;

/**
 * IrisWireLimitUser:
 * @name: key 0, the client, service or user; owned
 * @used: key 1, how much of it
 * @value: key 2, of how much
 *
 * One user of a limit.
 */
typedef struct
{
  char *name;
  guint64 used;
  guint64 value;
} IrisWireLimitUser;

/**
 * IrisWireLimitStatistics:
 * @name: key 0, its name, as in irisd.conf(5); owned
 * @value: key 1, its value; 0: none
 * @counted: key 2, `used` is known
 * @used: key 3, how much of it is used; of a limit of each client, service or socket, by the one
 * nearest to it
 * @busy: key 4, requests that it refused with BUSY
 * @n_users: length of @users
 * @users: (array length=n_users): key 5, those nearest to it, to operators only; owned
 *
 * One limit.
 */
typedef struct
{
  char *name;
  guint64 value;
  gboolean counted;
  guint64 used;
  guint64 busy;
  guint n_users;
  IrisWireLimitUser *users;
} IrisWireLimitStatistics;

/**
 * IrisWireJournalStatistics:
 * @state: key 0, `none`, `ready`, `full` or `failed`; owned
 * @reason: key 1, why it is not ready, or empty; owned
 * @items: key 2, items in it
 * @ended: key 3, of these, items that have ended
 * @damaged: key 4, items that it had lost when irisd was started, at least
 * @syncs: key 5, commits that were synced
 * @n_sync_time: length of @sync_time
 * @sync_time: (array length=n_sync_time): key 6, a histogram: of a sync; owned
 * @sync_time_ns: key 7, the sum of it, in nanoseconds
 * @rows: key 8, rows written
 * @bytes: key 9, bytes of them
 * @file_bytes: key 10, size of the database
 * @log_bytes: key 11, size of its log
 * @free_bytes: key 12, free space of its disk
 *
 * What the journal did.
 */
typedef struct
{
  char *state;
  char *reason;
  guint64 items;
  guint64 ended;
  guint64 damaged;
  guint64 syncs;
  guint n_sync_time;
  guint64 *sync_time;
  guint64 sync_time_ns;
  guint64 rows;
  guint64 bytes;
  guint64 file_bytes;
  guint64 log_bytes;
  guint64 free_bytes;
} IrisWireJournalStatistics;

/**
 * IrisWireProcessStatistics:
 * @name: key 0, from HELLO; owned
 * @services: key 1, their names; owned
 * @n_places: length of @places
 * @places: (array length=n_places): key 2, the place that it works at, or nothing; owned
 * @capacity: key 3, leases that it takes at once
 * @leases: key 4, leases that it holds
 * @done: key 5, leases that it ended with DONE
 * @failed: key 6, with FAIL
 * @lapsed: key 7, leases that it let run out
 * @silent_ms: key 8, milliseconds since it was heard
 *
 * One worker process.
 */
typedef struct
{
  char *name;
  char **services;
  guint n_places;
  guint32 *places;
  guint32 capacity;
  guint32 leases;
  guint64 done;
  guint64 failed;
  guint64 lapsed;
  guint64 silent_ms;
} IrisWireProcessStatistics;

/**
 * IrisWireClusterStatistics:
 * @node: key 0, the name of this node; owned
 * @state: key 1, an #IrisWireClusterState
 * @since_ms: key 2, when it came into that state, Unix time in milliseconds
 * @reason: key 3, why it is not joined, or empty; owned
 * @promise: key 4, what the cluster promises of a durable item, or empty; owned
 * @takes_durable: key 5, durable items may go to other nodes
 * @draining: key 6, this node takes no items of others
 * @nodes_here: key 7, nodes that take items, with this one
 * @nodes_draining: key 8, nodes that are here and take none
 * @nodes_gone: key 9, nodes that were here and are silent
 * @reports: key 10, how often this node told the others of itself
 * @reports_failed: key 11, how often that failed
 * @connects: key 12, how often it connected to a server of NATS
 * @away: key 13, items of this node that the cluster has, and that have not ended
 * @held: key 14, of these, those that the servers have not stored yet
 * @guests: key 15, items of the cluster that are here, and not answered
 * @published: key 16, items that the servers have stored for this node
 * @away_ended: key 17, items that were away and have ended
 * @ends_found: key 18, of these, those whose end was not told in time and was looked for
 * @delivered: key 19, items of the cluster that were given to this node
 * @redelivered: key 20, of these, those that had been given to a node before
 * @guests_ended: key 21, items whose end this node has stored
 * @late_ends: key 22, items that ran here although another end was stored first
 * @given_back: key 23, items that this node gave back
 * @dead_letters: key 24, messages that no node can run, which this node copied to the dead letters
 * @failed: key 25, items and ends that the servers did not store: no answer, or refused
 * @bytes_sent: key 26, bytes of items and ends that this node sent
 * @bytes_received: key 27, bytes of items that this node was given
 * @rescued: key 28, items that this node took from nodes that were gone or drained
 * @n_stolen: length of @stolen
 * @stolen: (array length=n_stolen): key 29, items that this node took from others, by distance:
 * rack, zone, further; owned
 * @n_steals_refused: length of @steals_refused
 * @steals_refused: (array length=n_steals_refused): key 30, looks at nodes that were left alone,
 * with the reasons of #IrisWirePlaceStatistics; owned
 * @steals_lapsed: key 31, nodes that were taken from although that was refused before, because they
 * did not get on as expected
 *
 * This node in the cluster.
 */
typedef struct
{
  char *node;
  guint32 state;
  guint64 since_ms;
  char *reason;
  char *promise;
  gboolean takes_durable;
  gboolean draining;
  guint32 nodes_here;
  guint32 nodes_draining;
  guint32 nodes_gone;
  guint64 reports;
  guint64 reports_failed;
  guint64 connects;
  guint64 away;
  guint64 held;
  guint64 guests;
  guint64 published;
  guint64 away_ended;
  guint64 ends_found;
  guint64 delivered;
  guint64 redelivered;
  guint64 guests_ended;
  guint64 late_ends;
  guint64 given_back;
  guint64 dead_letters;
  guint64 failed;
  guint64 bytes_sent;
  guint64 bytes_received;
  guint64 rescued;
  guint n_stolen;
  guint64 *stolen;
  guint n_steals_refused;
  guint64 *steals_refused;
  guint64 steals_lapsed;
} IrisWireClusterStatistics;

/**
 * IrisWireStatistics:
 * @sections: key 0, those that are told: bit 0 daemon, 1 places, 2 steals, 3 services, 4 limits, 5
 * journal, 6 processes, 7 cluster
 * @n_daemon: length of @daemon
 * @daemon: (array length=n_daemon): key 1, one map: irisd as a whole; owned
 * @n_places: length of @places
 * @places: (array length=n_places): key 2, one map a place, in order of id; owned
 * @n_steals: length of @steals
 * @steals: (array length=n_steals): key 3, one map a place, in order of id; owned
 * @n_services: length of @services
 * @services: (array length=n_services): key 4, one map a service; owned
 * @n_limits: length of @limits
 * @limits: (array length=n_limits): key 5, one map a limit; owned
 * @n_journal: length of @journal
 * @journal: (array length=n_journal): key 6, one map: the journal; owned
 * @n_processes: length of @processes
 * @processes: (array length=n_processes): key 7, one map a worker process; owned
 * @n_cluster: length of @cluster
 * @cluster: (array length=n_cluster): key 8, one map, if irisd is configured for a cluster; owned
 *
 * The statistics; sections that were not asked for are empty.
 */
typedef struct
{
  guint32 sections;
  guint n_daemon;
  IrisWireDaemonStatistics *daemon;
  guint n_places;
  IrisWirePlaceStatistics *places;
  guint n_steals;
  IrisWireStealStatistics *steals;
  guint n_services;
  IrisWireServiceStatistics *services;
  guint n_limits;
  IrisWireLimitStatistics *limits;
  guint n_journal;
  IrisWireJournalStatistics *journal;
  guint n_processes;
  IrisWireProcessStatistics *processes;
  guint n_cluster;
  IrisWireClusterStatistics *cluster;
} IrisWireStatistics;

/**
 * iris_wire_statistics_new:
 * @n: 0
 *
 * Returns: (transfer full): statistics without sections; fill them with memory of g_malloc()
 */
IRIS_AVAILABLE_IN_ALL
IrisWireStatistics *iris_wire_statistics_new (guint n);

/**
 * iris_wire_statistics_free:
 * @self: (transfer full) (nullable): freed, with all that it owns
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_statistics_free (IrisWireStatistics *self);

/**
 * iris_wire_statistics_encode:
 *
 * Returns: (transfer full): the body, or %NULL
 */
IRIS_AVAILABLE_IN_ALL
GBytes *iris_wire_statistics_encode (const IrisWireStatistics *self,
                                     const IrisWireLimits *limits,
                                     GError **error);

/**
 * iris_wire_statistics_decode:
 * @body: the body of a STATISTICS_REPLY
 *
 * Returns: (transfer full): the statistics, which borrow nothing, or %NULL
 */
IRIS_AVAILABLE_IN_ALL
IrisWireStatistics *
iris_wire_statistics_decode (IrisWireFrame body, const IrisWireLimits *limits, GError **error);

/**
 * iris_wire_statistics_to_variant:
 *
 * The same by the names of the protocol, for programs that show or store all there is: a
 * dictionary "a{sv}" whose lists are arrays of dictionaries.
 *
 * Returns: (transfer none): a floating value
 */
IRIS_AVAILABLE_IN_ALL
GVariant *iris_wire_statistics_to_variant (const IrisWireStatistics *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisWireStatistics, iris_wire_statistics_free)

G_END_DECLS
