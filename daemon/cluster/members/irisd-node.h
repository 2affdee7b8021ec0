/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a node of the cluster tells the others about itself: its entry.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The format of entries that this irisd writes. A reader passes over what it does not know, so a
 * new member needs no new format. */
#define IRISD_NODE_FORMAT 1

/* What an entry may have at most; a longer one is damaged. */
#define IRISD_NODE_MOST_BYTES  (256 * 1024)
#define IRISD_NODE_MOST_PLACES 1024
#define IRISD_NODE_MOST_TEXTS  1024

typedef struct
{
  char *name;
  char *cpus;
  guint workers;
  guint64 backlog; /* items that wait there */
} IrisdNodePlace;

/* What this irisd itself does at the moment, with all of its items. */
typedef struct
{
  guint64 running;
  guint64 backlog; /* that came and have not come back: also what runs */
  guint64 memory_used, memory_limit;
  gboolean disk_full;
  gboolean ending; /* it takes no more items, until its end */
} IrisdHostLoad;

/* What the policy of the others needs besides what runs and waits. */
typedef struct
{
  gboolean known;      /* FALSE in an entry of an older irisd: all else is 0 */
  gboolean full;       /* its memory or disk is at a limit */
  guint64 pending;     /* items that are softly hinted at it, and that it has not pulled */
  guint64 begun;       /* items of the cluster that it has begun since it started */
  guint64 mean_run_ns; /* of these; 0: not known, also below */
  guint64 mean_bytes;  /* of their bodies */
} IrisdNodeLoad;

/* Constant once it is made; reference-counted. */
typedef struct
{
  guint format;
  char *name;
  char *version;     /* of its irisd */
  char *incarnation; /* other than that of each other run of irisd; 16 hexadecimal digits */
  char *signature;   /* by the secret of its cluster; empty: of an irisd that signs no entries */
  gboolean draining; /* it takes no items of others */
  guint64 running;   /* items that run */
  guint64 backlog;   /* items that wait, of all places */
  IrisdNodeLoad load;
  guint64 away;   /* items of this node that the cluster has */
  guint64 guests; /* items of the cluster that are here */
  guint n_places;
  IrisdNodePlace *places;
  char **labels;    /* as kind=value, in order */
  char **services;  /* that its workers and worker processes serve, for all users; sorted */
  char **endpoints; /* of its front door */
} IrisdNode;

IrisdNode *irisd_node_new (void);
IrisdNode *irisd_node_ref (IrisdNode *self);
void irisd_node_unref (IrisdNode *self);
void irisd_node_set_n_places (IrisdNode *self, guint n);
void irisd_node_sort_services (IrisdNode *self);
guint irisd_node_count_workers (const IrisdNode *self);
const char *irisd_node_get_label (const IrisdNode *self, const char *kind);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdNode, irisd_node_unref)

G_END_DECLS
