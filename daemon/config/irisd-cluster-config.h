/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The group [cluster] of the configuration: how irisd reaches NATS, and what it is there.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The longest name of a node. */
#define IRISD_MOST_NODE_NAME 32

/* Bytes that a secret of the cluster has at least. */
#define IRISD_LEAST_SECRET 32

typedef struct
{
  char *url;         /* NULL: no cluster; else URLs of NATS servers with commas between them */
  char *node;        /* NULL for the host's name, or the name of this node */
  char *secret_file; /* NULL, or the file with the secret by which nodes know each other's items */
  char *credentials; /* NULL, or a file of NATS with an account's credentials */
  char *tls_ca;      /* NULL for the system's, or the file of the servers' authority */
  char *tls_cert;    /* NULL, or the file of the client's certificate */
  char *tls_key;     /* its key */
  char *monitor;     /* NULL, or the http URL of a server's monitoring port */
  char *stream;      /* the name of the stream of items; the others begin with it */
  guint replicas;    /* of each stream */
  guint64 stream_items; /* of the cluster, that wait or run; 0: a million */
  guint64 stream_bytes; /* of those; 0: 1 GiB */
  guint64 bodies_bytes; /* of bodies that are larger than a message; 0: 1 GiB */
  /* whether durable items go to other nodes although the servers promise less than a synced
   * majority */
  gboolean durable_without_sync;
  GHashTable *labels;    /* utf8 utf8: where the node is, by kind: rack, zone */
  guint steal_threshold; /* waiting items of a node from which others steal; 0: irisd chooses */
  guint pull_window;     /* items that are asked for ahead, for each worker */
  guint lost_attempts;   /* deliveries of an item beyond its tries, for nodes that were lost */
  guint64 lease_ms;      /* an item whose node is silent for so long goes to another one */
  guint64 join_ms;       /* after so long without the cluster a new irisd says that it is alone */
  guint64 max_away;      /* items of this node that other nodes may have, or that wait for them */
} IrisdClusterConfig;

void irisd_cluster_config_init (IrisdClusterConfig *self);
void irisd_cluster_config_clear (IrisdClusterConfig *self);
gboolean irisd_cluster_config_set (IrisdClusterConfig *self,
                                   const char *key,
                                   const char *value,
                                   GError **error);
gboolean irisd_cluster_config_check (const IrisdClusterConfig *self, GError **error);
char *irisd_cluster_config_get_node (const IrisdClusterConfig *self);
char *irisd_cluster_config_hide_secrets (const char *url);
char *irisd_cluster_config_scrub (const IrisdClusterConfig *self, const char *text);
char **irisd_cluster_config_list_labels (const IrisdClusterConfig *self);
GBytes *irisd_cluster_config_load_secret (const IrisdClusterConfig *self, GError **error);
gboolean irisd_cluster_check_node_name (const char *name, GError **error);

G_END_DECLS
