/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The configuration of irisd, from files and the command line.
 */
#pragma once

#include "daemon/config/irisd-limits.h"
#include "daemon/base/irisd-log.h"
#include "daemon/config/irisd-access.h"
#include "daemon/config/irisd-cluster-config.h"
#include "daemon/config/irisd-cluster-view.h"
#include "daemon/config/irisd-fair-rules.h"
#include "daemon/config/irisd-keys.h"

#include <iris/iris.h>

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

typedef struct
{
  char *dir;       /* NULL, or the directory of the sockets */
  char *places;    /* the level at which the machine is divided */
  char *topology;  /* NULL, or an hwloc synthetic description, or the name of an .xml file */
  guint n_workers; /* 0 for as many as fit the places */
  IrisdSchedulerKind scheduler; /* which scheduler runs the items */
  IrisDequeKind deque;          /* of the scheduler `places`, as are the next three */
  IrisLayout layout;            /* where items wait */
  IrisDeal deal;                /* where an item without a hint goes */
  char *steal;               /* NULL, or the steal policy, in words for iris_steal_policy_parse() */
  gboolean bind;             /* whether threads are bound to their places */
  char *tcp_host;            /* NULL, or the address to listen on as well */
  guint16 tcp_port;          /* its port; 0 for one that is free */
  gboolean tcp_trusted;      /* whether items that come over TCP may run programs and read files */
  char *server_key;          /* NULL, or the file with irisd's secret: TCP takes CURVE alone */
  char *keys_dir;            /* NULL for the folder beside that, or the folder of clients' keys */
  IrisdKeys *keys;           /* the clients' keys; none without @server_key */
  char *http;                /* NULL, or where irisd-web is to listen */
  char **http_options;       /* NULL, or further options of irisd-web */
  char *otlp;                /* NULL, or the collector that irisd-web is to send spans to */
  GPtrArray *plugins;        /* plug-ins to load */
  GPtrArray *plugin_dirs;    /* directories of which all plug-ins are loaded */
  gboolean plugins_required; /* whether irisd does not start without every one of them */
  IrisdLogLevel log_level;   /* the least important level that is logged */
  IrisdLogFormat log_format; /* where events are logged, and in which form */
  char *journal;             /* NULL, or the directory of the journal */
  char *cgroup;              /* where commands get control groups: `auto`, `none`, or a directory */
  gboolean paused;           /* whether nothing runs until the places are resumed */
  IrisdLimits limits;        /* all limits */
  IrisdAccess access;        /* the users and their rights */
  IrisdClusterConfig cluster;     /* other nodes */
  IrisdClusterView *cluster_view; /* NULL, or other nodes that a test describes; not owned */
  IrisdFairRule client_rule;      /* what each client may have in flight, and how fast */
  /* utf8 IrisdFairRule: the same for all clients of a service, by name */
  GHashTable *service_rules;
  GHashTable *settings; /* by name, each that was set (IrisdSetting) */
} IrisdConfig;

/* A setting as it was given, and where. Its name is `[group] key`. */
typedef struct
{
  char *text;
  char *origin;
} IrisdSetting;

IrisdConfig *irisd_config_new (void);
void irisd_config_free (IrisdConfig *self);
gboolean irisd_config_set (IrisdConfig *self, const char *key, const char *value, GError **error);
gboolean irisd_config_set_named (IrisdConfig *self,
                                 const char *name,
                                 const char *value,
                                 const char *origin,
                                 GError **error);
const IrisdSetting *irisd_config_get_setting (const IrisdConfig *self, const char *name);
gboolean irisd_config_load_file (IrisdConfig *self, const char *path, GError **error);
gboolean irisd_config_load_text (IrisdConfig *self,
                                 const char *path,
                                 const char *text,
                                 gsize length,
                                 GError **error);
gboolean irisd_config_load_keys (IrisdConfig *self, GError **error);
gboolean irisd_config_check (const IrisdConfig *self, GError **error);
IrisdRoles irisd_config_find_roles (const IrisdConfig *self, gint64 uid);
char **irisd_config_find_files (const char *option);
const char *irisd_config_scheduler_name (IrisdSchedulerKind kind);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdConfig, irisd_config_free)

G_END_DECLS
