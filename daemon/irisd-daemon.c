/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The daemon: assembles the parts, waits for signals, takes the parts apart.
 *
 * All of it runs in the main thread. The order matters: the lock before the sockets, the sockets
 * (and with them the umask) before any other thread, also of a plug-in, the scheduler before the
 * gateways. At the end: the items, the gateways, the scheduler, the ZeroMQ context, and the lock
 * last.
 */
#include "daemon/irisd-daemon.h"

#include "daemon/base/irisd-error.h"
#include "daemon/base/irisd-readiness.h"
#include "daemon/cluster/irisd-cluster.h"
#include "daemon/config/irisd-config-diff.h"
#include "daemon/config/irisd-places.h"
#include "daemon/exec/command/irisd-command-runner.h"
#include "daemon/exec/command/irisd-command-slots.h"
#include "daemon/exec/command/irisd-hooks.h"
#include "daemon/exec/irisd-place-control.h"
#include "daemon/exec/irisd-plugin.h"
#include "daemon/exec/irisd-tracer.h"
#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/gateway/irisd-cluster-requests.h"
#include "daemon/gateway/irisd-gateway.h"
#include "daemon/gateway/irisd-queue-requests.h"
#include "daemon/gateway/irisd-settings-requests.h"
#include "daemon/items/irisd-permit.h"
#include "daemon/items/irisd-spans.h"
#include "daemon/net/irisd-accept.h"
#include "daemon/net/irisd-activation.h"
#include "daemon/net/irisd-socket.h"
#include "daemon/net/irisd-unfinished-messages.h"
#include "daemon/net/irisd-zap-handler.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <zmq.h>

/* Gateways per I/O thread of ZeroMQ, and the most such threads. */
#define GATEWAYS_PER_IO_THREAD 4
#define MAX_IO_THREADS         8

/* From the end of a burst until memory is given back; the last messages are freed meanwhile. */
#define TRIM_AFTER_US G_USEC_PER_SEC

/* What ending takes beside waiting. */
#define ENDING_MS 10000

/* Descriptors that the threads open when they start. */
#define MORE_DESCRIPTORS 8

struct _IrisdDaemon
{
  IrisdCore core; /* first, because of its members' alignment */
  IrisdRuntimeDir *dir;
  IrisdRuntimeDir *journal_dir;
  IrisdActivation activation;
  void *context;
  IrisdZapHandler *zap_handler;
  void **sockets; /* the front's, then the places'; the gateways' once those are started */
  char *front_endpoint;
  char *front_tcp_endpoint;
  IrisdCluster *cluster; /* NULL without one */
  int signal_fd;
  IrisdReadFunc read; /* NULL, or reads the configuration again */
  gpointer read_data;
  gint64 trim_us;    /* when memory is given back; 0: not at all */
  gint64 give_up_us; /* until when items that run are waited for; 0: without a limit */
};

/* Signals that end irisd; those that would end it at once if it did not wait for them. */
static void
fill_signals (sigset_t *signals)
{
  static const int all[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2 };
  sigemptyset (signals);
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    sigaddset (signals, all[i]);
}

/* Call this before there is a second thread: new threads inherit the mask, and the signals that end
 * irisd are then delivered only where irisd waits for them. */
gboolean
irisd_daemon_block_signals (GError **error)
{
  sigset_t signals;
  fill_signals (&signals);
  int result = pthread_sigmask (SIG_BLOCK, &signals, NULL);
  /* A command that does not read its input must not end irisd. */
  signal (SIGPIPE, SIG_IGN);
  if (result == 0)
    return TRUE;
  g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED, "cannot block signals: %s",
               g_strerror (result));
  return FALSE;
}

/* Every connection takes a descriptor. */
static void
raise_file_limit (IrisdCore *core)
{
  if (getrlimit (RLIMIT_NOFILE, &core->file_limit) != 0)
    core->file_limit = (struct rlimit){ .rlim_cur = 1024, .rlim_max = 1024 };
  struct rlimit raised = core->file_limit;
  raised.rlim_cur = raised.rlim_max;
  setrlimit (RLIMIT_NOFILE, &raised);
}

static gboolean
open_descriptors (IrisdDaemon *self, GError **error)
{
  sigset_t signals;
  fill_signals (&signals);
  self->signal_fd = signalfd (-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  self->core.wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (self->signal_fd >= 0 && self->core.wake_fd >= 0)
    return irisd_accept_init (error);
  g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED,
               "cannot make a descriptor: %s; raise the limit on open files (ulimit -n)",
               g_strerror (errno));
  return FALSE;
}

static gboolean
open_dir (IrisdDaemon *self, GError **error)
{
  g_autoptr (GError) local = NULL;
  g_autofree char *path = iris_wire_endpoint_dir (self->core.config->dir, &local);
  if (path == NULL)
    {
      g_set_error_literal (error, IRISD_ERROR, IRISD_ERROR_USAGE, local->message);
      return FALSE;
    }
  self->core.trace_salt = irisd_trace_context_make_salt (path);
  self->dir = irisd_runtime_dir_open (path, "--dir",
                                      irisd_access_is_shared (&self->core.config->access), error);
  return self->dir != NULL;
}

/* The window of a place: work for its workers until its gateways look again; of long items, one for
 * each worker to run and one to follow. */
static void
open_gate (IrisdCore *core, guint place)
{
  const IrisdLimits *limits = &core->config->limits;
  guint64 n_workers = MAX (iris_place_get_n_workers (core->infos[place].place), 1);
  irisd_gate_init (&core->gates[place], n_workers * limits->window_us * 1000 / IRISD_COST_NS,
                   n_workers * 2, (gint64) limits->aging_ms * 1000);
}

static void
describe_places (IrisdDaemon *self)
{
  IrisdCore *core = &self->core;
  const char *dir = irisd_runtime_dir_get_path (self->dir);
  core->n_places = iris_places_get_n_places (core->places);
  core->infos = g_new0 (IrisdPlaceInfo, core->n_places);
  core->counters = g_aligned_alloc0 (core->n_places, sizeof *core->counters, 64);
  core->gates = g_aligned_alloc0 (core->n_places, sizeof *core->gates, 64);
  self->front_endpoint = iris_wire_endpoint_front (dir);
  for (guint id = 0; id < core->n_places; id++)
    {
      IrisdPlaceInfo *info = &core->infos[id];
      info->place = iris_places_get_place (core->places, id);
      info->name = g_strdup (iris_place_get_name (info->place));
      info->ipc_endpoint = iris_wire_endpoint_place (dir, id);
      open_gate (core, id);
    }
}

static gboolean
listen_on_tcp (IrisdDaemon *self, GError **error)
{
  IrisdCore *core = &self->core;
  if (core->config->tcp_host == NULL)
    return TRUE;
  /* Listeners take the options of the moment when they are bound: those of ipc have no keys. */
  g_autofree char *secret = NULL;
  if (core->config->server_key != NULL
      && (secret = irisd_keys_load_secret (core->config->server_key, error)) == NULL)
    return FALSE;
  for (guint i = 0; secret != NULL && i <= core->n_places; i++)
    if (!irisd_socket_use_curve (self->sockets[i], secret, error))
      return FALSE;
  g_auto (GStrv) endpoints = irisd_socket_bind_tcp (
      self->sockets, core->n_places + 1, core->config->tcp_host, core->config->tcp_port, error);
  if (endpoints == NULL)
    return FALSE;
  self->front_tcp_endpoint = g_strdup (endpoints[0]);
  for (guint id = 0; id < core->n_places; id++)
    core->infos[id].tcp_endpoint = g_strdup (endpoints[id + 1]);
  return TRUE;
}

/* A socket of the service manager is the front door in place of irisd's own if it has its name, and
 * else another way to it. */
static gboolean
bind_ipc (IrisdDaemon *self, guint i, GError **error)
{
  const IrisdCore *core = &self->core;
  const IrisdActivation *passed = &self->activation;
  const char *endpoint = i == 0 ? self->front_endpoint : core->infos[i - 1].ipc_endpoint;
  gboolean is_passed = i == 0 && passed->fd >= 0;
  if (is_passed && !irisd_socket_bind_fd (self->sockets[i], passed->fd, passed->endpoint, error))
    return FALSE;
  return (is_passed && strcmp (passed->endpoint, endpoint) == 0)
         || irisd_socket_bind_ipc (self->sockets[i], self->dir, endpoint,
                                   irisd_access_is_shared (&core->config->access), error);
}

static gboolean
open_sockets (IrisdDaemon *self, GError **error)
{
  IrisdCore *core = &self->core;
  guint n = core->n_places + 1;
  self->context = zmq_ctx_new ();
  zmq_ctx_set (self->context, ZMQ_IO_THREADS,
               CLAMP (n / GATEWAYS_PER_IO_THREAD, 1, MAX_IO_THREADS));
  self->zap_handler = irisd_zap_handler_new (self->context, &core->settings, n, error);
  if (self->zap_handler == NULL)
    return FALSE;
  core->pending_connections = irisd_zap_handler_get_pending_connections (self->zap_handler);
  self->sockets = g_new0 (void *, n);
  for (guint i = 0; i < n; i++)
    {
      self->sockets[i] = irisd_socket_new (self->context, &core->config->limits, error);
      if (self->sockets[i] == NULL
          || !irisd_zap_handler_watch (self->zap_handler, self->sockets[i], error)
          || !bind_ipc (self, i, error))
        return FALSE;
    }
  if (core->config->cluster.url != NULL
      && (core->inner_door = irisd_inner_door_new (self->sockets[0], error)) == NULL)
    return FALSE;
  return listen_on_tcp (self, error);
}

/* The front is served first, and is last in the list: a place's gateway has its place's id as its
 * index. */
static gboolean
make_gateways (IrisdDaemon *self, GError **error)
{
  IrisdCore *core = &self->core;
  core->gateways = g_new0 (IrisdGateway *, core->n_places + 1);
  for (guint i = 0; i <= core->n_places; i++)
    {
      gboolean front = i == core->n_places;
      gint place = front ? IRISD_FRONT : (gint) i;
      core->gateways[i] = irisd_gateway_new (core, place, self->sockets[front ? 0 : i + 1], error);
      if (core->gateways[i] == NULL)
        return FALSE;
      core->front = irisd_gateway_get_mailbox (core->gateways[i]);
      core->n_gateways++;
      irisd_zap_handler_tell (self->zap_handler, front ? 0 : i + 1, irisd_gateway_note_disconnect,
                              core->gateways[i]);
    }
  return TRUE;
}

/* The directory is locked before it is read. */
static gboolean
open_journal (IrisdDaemon *self, GError **error)
{
  IrisdCore *core = &self->core;
  const char *path = core->config->journal;
  atomic_init (&core->next_item, 1);
  if (path == NULL)
    return TRUE;
  self->journal_dir = irisd_runtime_dir_open (path, "--journal", FALSE, error);
  if (self->journal_dir == NULL)
    return FALSE;
  IrisdStore *store = irisd_store_open_sqlite (path, error);
  if (store == NULL)
    return FALSE;
  core->journal = irisd_journal_new (path, store, &core->config->limits, error);
  return core->journal != NULL;
}

/* Before the journal is read, because the processes of a crashed irisd end before its items are
 * tried again. The record is in a locked directory. */
static gboolean
open_attempts (IrisdDaemon *self, GError **error)
{
  IrisdCore *core = &self->core;
  IrisdRuntimeDir *dir = self->journal_dir != NULL ? self->journal_dir : self->dir;
  g_autoptr (GError) local = NULL;
  core->attempts = irisd_attempts_open (irisd_runtime_dir_get_path (dir), self->journal_dir != NULL,
                                        error);
  if (core->attempts == NULL)
    return FALSE;
  irisd_attempts_end_orphans (core->attempts, core->config->limits.orphan_ms);
  core->cgroups = irisd_cgroups_new (core->config->cgroup, &local);
  if (local != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }
  if (core->cgroups != NULL)
    irisd_log (IRISD_LOG_INFO, "each command has a control group of its own in %s",
               irisd_cgroups_get_path (core->cgroups));
  return TRUE;
}

static void
run_again (const IrisdRecord *record, IrisdPersistentItem *persistent, gpointer user_data)
{
  IrisdCore *core = user_data;
  gboolean known = record->home >= 0 && (guint) record->home < core->n_places;
  if (record->state == IRIS_WIRE_STATE_BURIED)
    {
      irisd_dependency_graph_add (&core->dependencies, record->item, NULL, persistent->owner);
      irisd_dependency_graph_bury (&core->dependencies, record->item);
      return;
    }
  irisd_gateway_restore_item (core->gateways[known ? record->home : 0], record, persistent);
}

static gboolean
find_run (guint64 item, pid_t *stuck, gpointer user_data)
{
  const IrisdAttempt *attempt = irisd_attempts_find (user_data, item);
  *stuck = attempt != NULL && attempt->stuck ? attempt->pid : 0;
  return attempt != NULL;
}

/* Services with a group in the configuration that irisd does not run itself are known for good. */
static void
expect_configured (IrisdCore *core, GHashTable *service_rules)
{
  GHashTableIter iter;
  gpointer name;
  g_hash_table_iter_init (&iter, service_rules);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    {
      const IrisWireString service = { name, strlen (name) };
      if (irisd_services_lookup (core->services, &service) == NULL)
        irisd_worker_processes_expect (core->worker_processes, IRISD_SPACE_SHARED, name, TRUE);
    }
}

static void
load_record (const IrisdNamedRecord *record, gpointer user_data)
{
  IrisdCore *core = user_data;
  irisd_gateway_load_record (core->gateways[core->n_gateways - 1], record);
}

static gboolean
recover (IrisdDaemon *self, GError **error)
{
  IrisdCore *core = &self->core;
  /* First, because services of recovered items are not known for good. */
  expect_configured (core, core->config->service_rules);
  if (core->cluster != NULL)
    irisd_worker_processes_expect (core->worker_processes, IRISD_SPACE_SHARED,
                                   IRISD_CLUSTER_SERVICE, TRUE);
  if (core->journal != NULL)
    {
      irisd_journal_blame (core->journal, find_run, core->attempts);
      if (!irisd_journal_recover (core->journal, run_again, core, error)
          || !irisd_journal_load_records (core->journal, load_record, core, error))
        return FALSE;
      atomic_init (&core->next_item, irisd_journal_get_next_item (core->journal));
    }
  /* All that was found is in the journal by now. */
  irisd_attempts_renew (core->attempts, irisd_cgroups_get_path (core->cgroups));
  return TRUE;
}

/* With room for as many spare workers as there are workers. */
static void
make_worker_states (IrisdCore *core)
{
  for (guint id = 0; id < core->n_places; id++)
    core->n_workers += 2 * iris_place_get_n_workers (core->infos[id].place);
  core->workers = g_aligned_alloc0 (core->n_workers, sizeof *core->workers,
                                    _Alignof(IrisdWorkerState));
}

static void
describe_node (IrisdNode *node, gpointer user_data)
{
  IrisdDaemon *self = user_data;
  g_autofree char *endpoints = irisd_daemon_get_endpoints (self);
  irisd_cluster_requests_describe_node (node, &self->core);
  node->endpoints = g_strsplit (endpoints, " ", -1);
}

static void
measure_load (IrisdHostLoad *load, gpointer user_data)
{
  irisd_cluster_requests_measure (load, &((IrisdDaemon *) user_data)->core);
}

/* Before anything is recovered: items for other nodes may be in the journal. */
static void
init_cluster (IrisdDaemon *self)
{
  const IrisdClusterConfig *config = &self->core.config->cluster;
  self->core.cluster = self->core.config->cluster_view;
  if (config->url == NULL)
    return;
  g_autofree char *node = irisd_cluster_config_get_node (config);
  self->core.cluster = irisd_cluster_view_new (node, config->max_away);
}

/* Nothing of it exists without a cluster. */
static gboolean
open_cluster (IrisdDaemon *self, GError **error)
{
  IrisdCore *core = &self->core;
  const IrisdClusterHost host = {
    .describe = describe_node,
    .measure = measure_load,
    .user_data = self,
    .zmq = self->context,
    .endpoint = IRISD_INNER_ENDPOINT,
    .token = core->inner_door != NULL ? irisd_inner_door_get_token (core->inner_door) : NULL,
    .view = core->cluster,
  };
  if (core->config->cluster.url == NULL)
    return TRUE;
  self->cluster = irisd_cluster_new (&core->config->cluster, &host, error);
  if (self->cluster == NULL)
    return FALSE;
  core->members = irisd_cluster_get_members (self->cluster);
  core->cluster_mailbox = irisd_cluster_get_mailbox (self->cluster);
  return TRUE;
}

static void
start_threads (IrisdDaemon *self)
{
  IrisdCore *core = &self->core;
  core->slots = irisd_command_slots_new (core);
  core->hooks = irisd_hooks_new (core->config->limits.hook_ms);
  core->scheduler = irisd_places_new_scheduler (core->config, core->places);
  core->placed = core->config->scheduler == IRISD_SCHEDULER_PLACES;
  make_worker_states (core);
  core->place_control = irisd_place_control_new (core);
  core->tracer = irisd_tracer_new (core);
  core->started_us = g_get_monotonic_time ();
  core->started_ms = (guint64) g_get_real_time () / 1000;
  if (core->config->paused)
    irisd_log (IRISD_LOG_INFO,
               "started paused: items are taken and none is run until irisctl drain all "
               "--resume");
  if (core->journal != NULL)
    {
      irisd_journal_start (core->journal);
      irisd_gateway_start_schedules (core->gateways[core->n_gateways - 1]);
    }
  irisd_queue_requests_open (core);
  irisd_zap_handler_start (self->zap_handler);
  for (guint i = 0; i < core->n_gateways; i++)
    irisd_gateway_start (core->gateways[i]);
  irisd_cluster_start (self->cluster);
  g_clear_pointer (&self->sockets, g_free);
}

/* What needs nothing of the system. */
static void
init_core (IrisdCore *core, const IrisdConfig *config)
{
  core->wake_fd = core->main_mailbox.fd = -1;
  core->config = config;
  core->wire_limits = irisd_limits_get_wire (&config->limits);
  irisd_running_init (&core->running);
  irisd_name_slots_init (&core->service_names);
  core->spans = irisd_spans_new ();
  irisd_fair_rules_init (&core->rules, &config->client_rule, config->service_rules);
  irisd_key_use_init (&core->key_use);
  irisd_concurrency_limit_init (&core->concurrency_limit, &config->client_rule,
                                config->service_rules, (gint64) config->limits.aging_ms * 1000);
  irisd_named_queues_init (&core->queues);
  pthread_mutex_init (&core->dependencies_lock, NULL);
  irisd_dependency_graph_init (&core->dependencies, (guint) config->limits.remembered_items);
  irisd_placement_history_init (&core->placement_history, (guint) config->limits.remembered_places,
                                (guint) config->limits.remembered_paths);
  atomic_init (&core->next_item, 1);
}

/**
 * irisd_daemon_new:
 * @config: the configuration; has to outlive the daemon
 * @error: return location for a #GError of the domain %IRISD_ERROR, whose code is an exit status
 *
 * Returns: (transfer full): a daemon that accepts connections
 */
IrisdDaemon *
irisd_daemon_new (const IrisdConfig *config, GError **error)
{
  g_autoptr (IrisdDaemon) self = g_aligned_alloc0 (1, sizeof *self, 64);
  IrisdCore *core = &self->core;
  self->signal_fd = -1;
  init_core (core, config);
  init_cluster (self);
  raise_file_limit (core);
  if (!irisd_mailbox_init (&core->main_mailbox, error))
    return NULL;

  /* The settings in force are a configuration of their own. */
  g_autoptr (IrisdConfigDiff) first = irisd_config_diff_new (config, config, error);
  core->places = first != NULL ? irisd_places_new (config, error) : NULL;
  if (core->places != NULL)
    irisd_settings_init (&core->settings, g_steal_pointer (&first->config),
                         iris_places_get_n_places (core->places) + 2);
  if (core->places == NULL || !irisd_activation_take (&self->activation, error)
      || !open_descriptors (self, error) || !open_dir (self, error))
    return NULL;
  describe_places (self);
  irisd_watchdog_init (&core->watchdog, core->n_places + 1, irisd_watchdog_get_wanted_us (),
                       g_get_monotonic_time ());
  core->services = irisd_services_new_builtin ();
  irisd_services_add (core->services, &irisd_service_command);
  core->worker_processes = irisd_worker_processes_new (core);
  if (!open_journal (self, error) || !open_attempts (self, error) || !open_sockets (self, error)
      || (core->plugins = irisd_plugins_load (config, core->services, error)) == NULL
      || !make_gateways (self, error) || (core->commands = irisd_command_runner_new (error)) == NULL
      || !open_cluster (self, error) || !recover (self, error)
      || !irisd_accept_check_room (MORE_DESCRIPTORS, error))
    return NULL;
  start_threads (self);
  return g_steal_pointer (&self);
}

static void
free_places (IrisdCore *core)
{
  for (guint id = 0; id < core->n_places; id++)
    {
      g_free (core->infos[id].name);
      g_free (core->infos[id].ipc_endpoint);
      g_free (core->infos[id].tcp_endpoint);
      irisd_gate_clear (&core->gates[id]);
    }
  g_free (core->infos);
  g_aligned_free (core->counters);
  g_aligned_free (core->workers);
  g_aligned_free (core->gates);
  g_clear_object (&core->places);
}

static void
close_descriptors (IrisdDaemon *self)
{
  if (self->signal_fd >= 0)
    close (self->signal_fd);
  if (self->core.wake_fd >= 0)
    close (self->core.wake_fd);
}

/* @self ran to its end, or did not start. */
void
irisd_daemon_free (IrisdDaemon *self)
{
  IrisdCore *core = &self->core;
  /* Before the gateways: it answers requests to them. */
  g_clear_pointer (&self->cluster, irisd_cluster_free);
  irisd_zap_handler_stop (self->zap_handler);
  /* Before the gateways: it may still be about to wake the gateway that has sent the last
   * completion.
   */
  irisd_command_runner_free (core->commands);
  irisd_hooks_free (core->hooks);
  if (core->tracer != NULL)
    irisd_tracer_stop (core->tracer);
  if (core->journal != NULL)
    irisd_journal_stop (core->journal);
  irisd_settings_requests_drop (irisd_mailbox_take (&core->main_mailbox));
  irisd_mailbox_clear (&core->main_mailbox);
  for (guint i = 0; i < core->n_gateways; i++)
    irisd_gateway_free (core->gateways[i]);
  irisd_journal_free (core->journal);
  g_free (core->gateways);
  g_clear_pointer (&core->worker_processes, irisd_worker_processes_free);
  for (guint i = 0; self->sockets != NULL && i <= core->n_places; i++)
    irisd_socket_close (self->sockets[i]);
  g_free (self->sockets);
  irisd_zap_handler_free (self->zap_handler);
  if (self->context != NULL)
    while (zmq_ctx_term (self->context) != 0 && errno == EINTR)
      ;
  if (core->cluster != core->config->cluster_view)
    g_clear_pointer (&core->cluster, irisd_cluster_view_free);
  g_clear_object (&core->scheduler);
  irisd_place_control_free (core->place_control);
  irisd_tracer_free (core->tracer);
  irisd_command_slots_free (core->slots);
  g_clear_pointer (&core->services, irisd_services_free);
  irisd_plugins_free (core->plugins);
  irisd_attempts_close (core->attempts);
  irisd_cgroups_free (core->cgroups);
  g_clear_pointer (&self->dir, irisd_runtime_dir_close);
  g_clear_pointer (&self->journal_dir, irisd_runtime_dir_close);
  if (core->places != NULL)
    irisd_settings_clear (&core->settings);
  free_places (core);
  irisd_watchdog_clear (&core->watchdog);
  irisd_activation_clear (&self->activation);
  irisd_running_clear (&core->running);
  irisd_name_slots_clear (&core->service_names);
  irisd_spans_free (core->spans);
  irisd_dependency_graph_clear (&core->dependencies);
  irisd_placement_history_clear (&core->placement_history);
  irisd_fair_rules_clear (&core->rules);
  irisd_key_use_clear (&core->key_use);
  irisd_concurrency_limit_clear (&core->concurrency_limit);
  irisd_named_queues_clear (&core->queues);
  pthread_mutex_destroy (&core->dependencies_lock);
  irisd_inner_door_free (self->core.inner_door);
  g_free (self->front_endpoint);
  g_free (self->front_tcp_endpoint);
  close_descriptors (self);
  irisd_accept_clear ();
  g_aligned_free (self);
}

/* @read reads the configuration for a reload; until this is called a reload is an error. */
void
irisd_daemon_set_read (IrisdDaemon *self, IrisdReadFunc read, gpointer user_data)
{
  self->read = read;
  self->read_data = user_data;
}

/* Returns the front's endpoints, with a space between them. */
char *
irisd_daemon_get_endpoints (IrisdDaemon *self)
{
  const char *passed = self->activation.endpoint;
  g_autoptr (GString) text = g_string_new (self->front_endpoint);
  if (self->front_tcp_endpoint != NULL)
    g_string_append_printf (text, " %s", self->front_tcp_endpoint);
  if (passed != NULL && strcmp (passed, self->front_endpoint) != 0)
    g_string_append_printf (text, " %s", passed);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
enter_phase (IrisdDaemon *self, IrisdPhase phase, guint64 grace_ms)
{
  irisd_core_enter_phase (&self->core, phase, grace_ms);
  for (guint i = 0; i < self->core.n_gateways; i++)
    irisd_gateway_wake (self->core.gateways[i]);
}

/* Until memory is given back, the watchdog looks, or items are waited for no longer. */
static int
get_timeout (IrisdDaemon *self)
{
  const IrisdWatchdog *watchdog = &self->core.watchdog;
  gint64 next_us = self->trim_us > 0 ? self->trim_us : G_MAXINT64;
  if (self->give_up_us > 0)
    next_us = MIN (next_us, self->give_up_us);
  if (watchdog->period_us > 0)
    next_us = MIN (next_us, watchdog->due_us);
  gint64 left_us = next_us - g_get_monotonic_time ();
  return next_us == G_MAXINT64 ? -1 : (int) CLAMP (left_us / 1000 + 1, 0, G_MAXINT);
}

/* @state: (nullable): what else to tell the service manager. */
static void
tell_status (IrisdDaemon *self, const char *state)
{
  IrisdCore *core = &self->core;
  irisd_notify_status (state, "%s; places: %u, items that have not ended: %" G_GUINT64_FORMAT,
                       irisd_core_get_phase (core) == IRISD_PHASE_SERVING ? "Serving" : "Draining",
                       core->n_places, irisd_core_get_items (core));
}

/* Tells the service manager that irisd is alive, if all gateways make progress. */
static void
feed_watchdog (IrisdDaemon *self)
{
  static IrisdLogSite site;
  IrisdCore *core = &self->core;
  guint stuck = 0;
  switch (irisd_watchdog_look (&core->watchdog, g_get_monotonic_time (), &stuck))
    {
    case IRISD_WATCHDOG_EARLY:
      break;
    case IRISD_WATCHDOG_ALIVE:
      tell_status (self, "WATCHDOG=1");
      for (guint i = 0; i < core->n_gateways; i++)
        irisd_gateway_wake (core->gateways[i]);
      break;
    case IRISD_WATCHDOG_STUCK:
      irisd_log_each_minute (&site, IRISD_LOG_ERROR,
                             "the gateway of %s makes no progress; the service manager ends irisd "
                             "if that lasts (WatchdogSec=)",
                             stuck == core->n_places ? "the front door" : core->infos[stuck].name);
      break;
    }
}

/* Once, a while after a burst: the C library holds freed memory, in an arena for each thread, and
 * returns it only on request. The main thread does it, because it takes a while. */
static void
give_memory_back (IrisdDaemon *self)
{
  gint64 now = g_get_monotonic_time ();
  if (irisd_core_take_burst_over (&self->core))
    self->trim_us = now + TRIM_AFTER_US;
  if (self->trim_us == 0 || now < self->trim_us)
    return;
  self->trim_us = 0;
#ifdef __GLIBC__
  malloc_trim (0);
#endif
}

/* What has a copy of a setting gets the new one; the gateways and the ZAP handler read theirs at
 * their next turn. Takes @config. */
static void
apply_settings (IrisdDaemon *self, IrisdConfig *config)
{
  IrisdCore *core = &self->core;
  irisd_settings_publish (&core->settings, config);
  irisd_log_set_level (config->log_level);
  irisd_pending_connections_set_limits (core->pending_connections, &config->limits);
  irisd_unfinished_set_limits (&config->limits);
  expect_configured (core, config->service_rules);
  irisd_fair_rules_change (&core->rules, &config->client_rule, config->service_rules);
  irisd_permit_give (irisd_concurrency_limit_change (&core->concurrency_limit, &config->client_rule,
                                                     config->service_rules));
  for (guint i = 0; i < core->n_gateways; i++)
    irisd_gateway_wake (core->gateways[i]);
  irisd_zap_handler_wake (self->zap_handler);
}

static void
log_lines (const GPtrArray *lines, IrisdLogLevel level)
{
  for (guint i = 0; i < lines->len; i++)
    irisd_log (level, "%s", (const char *) g_ptr_array_index (lines, i));
}

/* Reads the configuration again and applies what can be changed of it: all of that, or nothing if
 * there is a mistake. Returns what it did. */
static IrisdConfigDiff *
reload_settings (IrisdDaemon *self, GError **error)
{
  g_autoptr (IrisdConfig) fresh = NULL;
  if (self->read != NULL)
    fresh = self->read (self->read_data, error);
  else
    irisd_fail (error, IRISD_ERROR, IRISD_ERROR_FAILED,
                "this irisd was started without configuration files");
  if (fresh == NULL)
    return NULL;
  const IrisdConfig *now = irisd_core_get_settings (&self->core);
  IrisdConfigDiff *diff = irisd_config_diff_new (now, fresh, error);
  if (diff == NULL)
    return NULL;
  /* In the more talkative of the two levels. */
  irisd_log_set_level (MAX (now->log_level, diff->config->log_level));
  log_lines (diff->changed, IRISD_LOG_INFO);
  log_lines (diff->kept, IRISD_LOG_WARNING);
  irisd_log (IRISD_LOG_INFO, "read the configuration again: %u settings changed, %u did not",
             diff->changed->len, diff->kept->len);
  apply_settings (self, g_steal_pointer (&diff->config));
  return diff;
}

static void
add_lines (GString *text, const GPtrArray *lines)
{
  for (guint i = 0; i < lines->len; i++)
    g_string_append_printf (text, "%s%s", text->len > 0 ? "\n" : "",
                            (const char *) g_ptr_array_index (lines, i));
}

/* For a signal, or for @requests, a list of RELOADs, which are answered. */
static void
reload (IrisdDaemon *self, IrisdMessage *requests)
{
  g_autoptr (GError) error = NULL;
  irisd_notify_reloading ();
  g_autoptr (IrisdConfigDiff) diff = reload_settings (self, &error);
  if (diff == NULL)
    irisd_log (IRISD_LOG_ERROR, "the configuration stays as it was: %s", error->message);
  tell_status (self, "READY=1");
  g_autoptr (GString) text = g_string_new (NULL);
  if (diff != NULL)
    {
      add_lines (text, diff->changed);
      add_lines (text, diff->kept);
    }
  while (requests != NULL)
    {
      IrisdMessage *next = requests->next; /* once it is answered it may be gone */
      irisd_settings_requests_answer (requests, diff != NULL ? diff->changed->len : 0, text->str,
                                      error);
      requests = next;
    }
}

static void
take_requests (IrisdDaemon *self)
{
  IrisdMessage *requests = irisd_mailbox_take (&self->core.main_mailbox);
  if (requests != NULL)
    reload (self, requests);
}

/* Returns whether a signal that ends irisd has come. */
static gboolean
take_signal (IrisdDaemon *self)
{
  static IrisdLogSite site;
  struct signalfd_siginfo info;
  if (read (self->signal_fd, &info, sizeof info) != sizeof info)
    return FALSE;
  if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT)
    return TRUE;
  if (info.ssi_signo == SIGHUP)
    reload (self, NULL);
  else
    irisd_log_limited (&site, IRISD_LOG_WARNING,
                       "ignored the signal %s: irisd has no use for it; SIGTERM drains",
                       info.ssi_signo == SIGUSR1 ? "SIGUSR1" : "SIGUSR2");
  return FALSE;
}

/* Waits until a condition holds; a change of the condition wakes the main thread. Returns FALSE if
 * `interruptible` is set and a signal came first, or the time to give up. */
static gboolean
wait_until (IrisdDaemon *self, gboolean (*condition) (IrisdDaemon *self), gboolean interruptible)
{
  struct pollfd fds[] = {
    { .fd = self->core.wake_fd, .events = POLLIN },
    { .fd = interruptible ? self->signal_fd : -1, .events = POLLIN },
  };
  while (!condition (self))
    {
      int n_ready = poll (fds, G_N_ELEMENTS (fds), get_timeout (self));
      give_memory_back (self);
      feed_watchdog (self);
      irisd_settings_collect (&self->core.settings);
      take_requests (self);
      if (n_ready < 0)
        continue;
      if (interruptible && take_signal (self))
        return FALSE;
      if (self->give_up_us > 0 && g_get_monotonic_time () >= self->give_up_us)
        return FALSE;
      guint64 wakes;
      ssize_t n = read (self->core.wake_fd, &wakes, sizeof wakes);
      (void) n;
    }
  return TRUE;
}

static gboolean
never (IrisdDaemon *self)
{
  return FALSE;
}

static gboolean
has_no_items (IrisdDaemon *self)
{
  return irisd_core_get_items (&self->core) == 0;
}

static gboolean
all_gateways_stop (IrisdDaemon *self)
{
  for (guint i = 0; i < self->core.n_gateways; i++)
    if (irisd_gateway_get_phase (self->core.gateways[i]) < IRISD_PHASE_STOPPING)
      return FALSE;
  return TRUE;
}

/* Ends accepted items. No gateway queues an item after it has seen the phase, so the scheduler can
 * be shut down; it gives back items that have not begun, and the gateways end those. */
static void
stop_now (IrisdDaemon *self)
{
  enter_phase (self, IRISD_PHASE_STOPPING, 0);
  irisd_running_wake_all (&self->core.running);
  irisd_command_runner_wake (self->core.commands);
  wait_until (self, all_gateways_stop, FALSE);
  irisd_place_control_close (self->core.place_control);
  iris_scheduler_shutdown (self->core.scheduler, IRIS_SHUTDOWN_CANCEL);
  irisd_worker_processes_close (self->core.worker_processes);
  wait_until (self, has_no_items, FALSE);
}

/* Those in force, as a signal may change them. */
static const IrisdLimits *
get_limits (IrisdDaemon *self)
{
  return &irisd_core_get_settings (&self->core)->limits;
}

/* Takes no more items, and waits for those that run; persistent ones that wait stay in the journal
 * for the next irisd. Returns whether all have ended; if not, @gave_up says whether time was the
 * reason, and not a signal. */
static gboolean
hand_over (IrisdDaemon *self, gboolean *gave_up)
{
  const IrisdLimits *limits = get_limits (self);
  guint64 patience_ms = limits->handover_ms;
  g_autofree char *stopping = g_strdup_printf (
      "STOPPING=1\nEXTEND_TIMEOUT_USEC=%" G_GUINT64_FORMAT,
      (patience_ms + 2 * limits->drain_grace_ms + ENDING_MS) * 1000);
  irisd_log (IRISD_LOG_INFO,
             "draining: %" G_GUINT64_FORMAT " items to go; those that run are waited for, "
             "%" G_GUINT64_FORMAT " ms at most; a second signal stops now",
             irisd_core_get_items (&self->core), patience_ms);
  enter_phase (self, IRISD_PHASE_DRAINING, limits->drain_grace_ms);
  tell_status (self, stopping);
  /* The other nodes are told that this one ends. */
  irisd_cluster_wake (self->cluster);
  irisd_worker_processes_drain (self->core.worker_processes);
  /* Items of a paused irisd would not go on. */
  if (irisd_place_control_is_paused (self->core.place_control))
    irisd_worker_processes_close (self->core.worker_processes);
  self->give_up_us = g_get_monotonic_time () + (gint64) patience_ms * 1000;
  gboolean drained = wait_until (self, has_no_items, TRUE);
  *gave_up = !drained && g_get_monotonic_time () >= self->give_up_us;
  self->give_up_us = 0;
  return drained;
}

/* Serves until a signal, finishes the accepted items that cannot wait, and ends; a second signal
 * ends items at once. Returns the exit status. */
int
irisd_daemon_run (IrisdDaemon *self)
{
  gboolean gave_up;
  tell_status (self, "READY=1");
  wait_until (self, never, TRUE);

  gboolean drained = hand_over (self, &gave_up);
  if (!drained)
    {
      irisd_log (IRISD_LOG_WARNING,
                 "stopping%s: %" G_GUINT64_FORMAT
                 " items are ended; persistent ones run again after the next start",
                 gave_up ? ", as handover-ms is over" : "", irisd_core_get_items (&self->core));
      stop_now (self);
    }

  guint64 grace_ms = drained || gave_up ? get_limits (self)->drain_grace_ms
                                        : get_limits (self)->stop_grace_ms;
  irisd_cluster_stop (self->cluster);
  enter_phase (self, IRISD_PHASE_FLUSHING, grace_ms);
  for (guint i = 0; i < self->core.n_gateways; i++)
    irisd_gateway_join (self->core.gateways[i]);
  irisd_place_control_close (self->core.place_control);
  if (drained)
    iris_scheduler_shutdown (self->core.scheduler, IRIS_SHUTDOWN_DRAIN);
  irisd_hooks_stop (self->core.hooks, grace_ms);
  /* Every connection has ended, and with it every byte that was charged. */
  if (irisd_core_get_bytes (&self->core) != 0)
    g_critical ("the bytes in memory do not add up to 0 at the end: %" G_GUINT64_FORMAT
                " bytes are left",
                irisd_core_get_bytes (&self->core));
  return drained || gave_up ? 0 : IRISD_EXIT_STOPPED;
}
