/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The configuration of irisd, from files and the command line.
 */
#pragma once

#include "daemon/base/irisd-limits.h"
#include "daemon/base/irisd-log.h"
#include "daemon/config/irisd-access.h"
#include "daemon/config/irisd-fair-rules.h"

G_BEGIN_DECLS

/* The greatest number of workers that may be asked for. */
#define IRISD_MAX_WORKERS 4096

typedef enum
{
  IRISD_SCHEDULER_PLACES,
  IRISD_SCHEDULER_WORKSTEALING,
  IRISD_SCHEDULER_LOCKFREE,
  IRISD_SCHEDULER_DEFAULT,
} IrisdSchedulerKind;

/**
 * IrisdConfig:
 * @dir: (nullable): the directory of the sockets
 * @places: the level at which the machine is divided
 * @topology: (nullable): an hwloc synthetic description, or the name of an .xml file
 * @n_workers: 0 for as many as fit the places
 * @scheduler: which scheduler runs the items
 * @steal: (nullable): the steal policy, in words for iris_steal_policy_parse()
 * @bind: whether threads are bound to their places
 * @tcp_host: (nullable): the loopback address to listen on as well
 * @tcp_port: its port; 0 for one that is free
 * @tcp_trusted: whether items that come over TCP may run programs and read files
 * @plugins: plug-ins to load
 * @plugin_dirs: directories of which all plug-ins are loaded
 * @plugins_required: whether irisd does not start without every one of them
 * @log_level: the least important level that is logged
 * @journal: (nullable): the directory of the journal
 * @cgroup: where commands get control groups: `auto`, `none`, or a directory
 * @paused: whether nothing runs until the places are resumed
 * @limits: all limits
 * @access: the users and their rights
 * @client_rule: what each client may have in flight, and how fast
 * @service_rules: (element-type utf8 IrisdFairRule): the same for all clients of a service, by name
 */
typedef struct
{
  char *dir;
  char *places;
  char *topology;
  guint n_workers;
  IrisdSchedulerKind scheduler;
  char *steal;
  gboolean bind;
  char *tcp_host;
  guint16 tcp_port;
  gboolean tcp_trusted;
  GPtrArray *plugins;
  GPtrArray *plugin_dirs;
  gboolean plugins_required;
  IrisdLogLevel log_level;
  char *journal;
  char *cgroup;
  gboolean paused;
  IrisdLimits limits;
  IrisdAccess access;
  IrisdFairRule client_rule;
  GHashTable *service_rules;
} IrisdConfig;

IrisdConfig *irisd_config_new (void);
void irisd_config_free (IrisdConfig *self);
gboolean irisd_config_set (IrisdConfig *self, const char *key, const char *value, GError **error);
gboolean irisd_config_load_file (IrisdConfig *self, const char *path, GError **error);
gboolean irisd_config_load_text (IrisdConfig *self,
                                 const char *path,
                                 const char *text,
                                 gsize length,
                                 GError **error);
gboolean irisd_config_check (const IrisdConfig *self, GError **error);
char **irisd_config_find_files (const char *option);
const char *irisd_config_scheduler_name (IrisdSchedulerKind kind);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdConfig, irisd_config_free)

G_END_DECLS
