/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The nodes of the cluster as JSON, as doc/web-interface.md has it.
 */
#include "clients/web/state/web-cluster-json.h"

#include "clients/web/state/web-rates.h"

/* A state goes to each page each second: of a node with many services, places or labels the first
 * are told, and how many there are. */
#define MOST_TEXTS  24
#define MOST_PLACES 64

static const char *const cluster_states[] = {
  [IRIS_WIRE_CLUSTER_NONE] = "none",       [IRIS_WIRE_CLUSTER_JOINING] = "joining",
  [IRIS_WIRE_CLUSTER_JOINED] = "joined",   [IRIS_WIRE_CLUSTER_ALONE] = "alone",
  [IRIS_WIRE_CLUSTER_REFUSED] = "refused",
};

static const char *const node_states[] = {
  [0] = "unknown",
  [IRIS_WIRE_NODE_HERE] = "here",
  [IRIS_WIRE_NODE_DRAINING] = "draining",
  [IRIS_WIRE_NODE_GONE] = "gone",
  [IRIS_WIRE_NODE_REMOVED] = "removed",
};

const char *
web_cluster_name_state (guint32 state)
{
  return state < G_N_ELEMENTS (cluster_states) ? cluster_states[state] : "unknown";
}

static void
write_text (WebJson *json, GVariant *map, const char *key, const char *name)
{
  const char *text = "";

  g_variant_lookup (map, key, "&s", &text);
  web_json_text (json, name, text);
}

static guint64
get_number (GVariant *map, const char *key)
{
  guint64 number = 0;

  g_variant_lookup (map, key, "t", &number);
  return number;
}

static guint32
get_small (GVariant *map, const char *key)
{
  guint32 number = 0;

  g_variant_lookup (map, key, "u", &number);
  return number;
}

static gboolean
get_flag (GVariant *map, const char *key)
{
  gboolean flag = FALSE;

  g_variant_lookup (map, key, "b", &flag);
  return flag;
}

/* The first of @key; returns how many there are. */
static gsize
write_texts (WebJson *json, GVariant *map, const char *key)
{
  g_autofree const char **texts = NULL;
  gsize n = 0;

  web_json_begin (json, key, '[');
  if (g_variant_lookup (map, key, "^a&s", &texts))
    for (; texts[n] != NULL; n++)
      if (n < MOST_TEXTS)
        web_json_text (json, NULL, texts[n]);
  web_json_end (json, ']');
  return n;
}

static void
write_places (WebJson *json, GVariant *node)
{
  g_autoptr (GVariant) places = g_variant_lookup_value (node, "places", G_VARIANT_TYPE ("aa{sv}"));
  gsize n = places != NULL ? g_variant_n_children (places) : 0;

  web_json_begin (json, "places", '[');
  for (gsize i = 0; i < MIN (n, MOST_PLACES); i++)
    {
      g_autoptr (GVariant) place = g_variant_get_child_value (places, i);

      web_json_begin (json, NULL, '{');
      write_text (json, place, "name", "name");
      write_text (json, place, "cpus", "cpus");
      web_json_number (json, "workers", get_small (place, "workers"));
      web_json_number (json, "backlog", get_number (place, "backlog"));
      web_json_end (json, '}');
    }
  web_json_end (json, ']');
  web_json_number (json, "n_places", n);
}

static void
write_node (WebJson *json, GVariant *node, gboolean all)
{
  const guint32 state = get_small (node, "state");

  web_json_begin (json, NULL, '{');
  write_text (json, node, "name", "name");
  web_json_text (json, "state", node_states[state < G_N_ELEMENTS (node_states) ? state : 0]);
  web_json_bool (json, "own", get_flag (node, "own"));
  web_json_number (json, "since_ms", get_number (node, "since-ms"));
  web_json_real (json, "silent_s", (double) get_number (node, "silent-ms") / 1e3);
  write_text (json, node, "version", "version");
  web_json_number (json, "workers", get_small (node, "workers"));
  web_json_number (json, "running", get_number (node, "running"));
  web_json_number (json, "backlog", get_number (node, "backlog"));
  web_json_number (json, "away", get_number (node, "away"));
  web_json_number (json, "guests", get_number (node, "guests"));
  web_json_number (json, "distance", get_small (node, "distance"));
  write_texts (json, node, "labels");
  web_json_number (json, "n_services", write_texts (json, node, "services"));
  if (all)
    write_texts (json, node, "endpoints");
  write_places (json, node);
  web_json_end (json, '}');
}

static void
write_nodes (WebJson *json, GVariant *nodes, gboolean all)
{
  g_autoptr (GVariant) list = g_variant_lookup_value (nodes, "nodes", G_VARIANT_TYPE ("aa{sv}"));

  if (all)
    write_text (json, nodes, "servers", "servers");
  web_json_begin (json, "nodes", '[');
  for (gsize i = 0; list != NULL && i < g_variant_n_children (list); i++)
    {
      g_autoptr (GVariant) node = g_variant_get_child_value (list, i);

      write_node (json, node, all);
    }
  web_json_end (json, ']');
}

static void
write_counts (WebJson *json, const IrisWireClusterStatistics *it)
{
  web_json_number (json, "away", it->away);
  web_json_number (json, "held", it->held);
  web_json_number (json, "guests", it->guests);
  web_json_number (json, "published", it->published);
  web_json_number (json, "away_ended", it->away_ended);
  web_json_number (json, "delivered", it->delivered);
  web_json_number (json, "redelivered", it->redelivered);
  web_json_number (json, "guests_ended", it->guests_ended);
  web_json_number (json, "late_ends", it->late_ends);
  web_json_number (json, "given_back", it->given_back);
  web_json_number (json, "dead_letters", it->dead_letters);
  web_json_number (json, "not_stored", it->failed);
  web_json_number (json, "sent_bytes", it->bytes_sent);
  web_json_number (json, "received_bytes", it->bytes_received);
  web_json_number (json, "rescued", it->rescued);
  web_json_begin (json, "stolen", '[');
  for (guint i = 0; i < it->n_stolen; i++)
    web_json_number (json, NULL, it->stolen[i]);
  web_json_end (json, ']');
  web_json_number (json, "lapsed", it->steals_lapsed);
  web_json_begin (json, "refused", '{');
  for (guint i = 0; i < MIN (it->n_steals_refused, WEB_N_REFUSALS); i++)
    web_json_number (json, web_refusal_names[i], it->steals_refused[i]);
  web_json_end (json, '}');
}

void
web_cluster_json_write (WebJson *json, const WebSample *sample, gboolean all)
{
  if (sample->statistics->n_cluster == 0)
    return;

  const IrisWireClusterStatistics *it = &sample->statistics->cluster[0];

  web_json_begin (json, "cluster", '{');
  web_json_text (json, "node", it->node);
  web_json_text (json, "state", web_cluster_name_state (it->state));
  web_json_number (json, "since_ms", it->since_ms);
  web_json_text (json, "why", it->reason);
  web_json_text (json, "promise", it->promise);
  web_json_bool (json, "takes_durable", it->takes_durable);
  web_json_bool (json, "draining", it->draining);
  write_counts (json, it);
  if (sample->nodes != NULL)
    write_nodes (json, sample->nodes, all);
  web_json_end (json, '}');
}
