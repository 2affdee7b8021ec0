/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl nodes, node, cluster: the nodes of the cluster, whether they take items, and its streams.
 */
#include "clients/irisctl/command/irisctl-nodes.h"

#include <string.h>

/* Columns of the name, and of the labels; with them the table is narrower than 80. */
#define NAME_COLUMNS   18
#define LABELS_COLUMNS 16

#define LEAST_INTERVAL_S 0.05

static gboolean watches;
static double interval_s = 1;
static int count;

/* --- nodes ------------------------------------------------------------------------------------ */

static char *
format_age (guint64 ms)
{
  guint64 s = ms / 1000;

  if (s < 120)
    return g_strdup_printf ("%" G_GUINT64_FORMAT " s", s);
  if (s < 2 * 3600)
    return g_strdup_printf ("%" G_GUINT64_FORMAT " min", s / 60);
  if (s < 2 * 86400)
    return g_strdup_printf ("%" G_GUINT64_FORMAT " h", s / 3600);
  return g_strdup_printf ("%" G_GUINT64_FORMAT " d", s / 86400);
}

static char *
format_since (guint64 since_ms)
{
  guint64 now_ms = (guint64) g_get_real_time () / 1000;

  return since_ms == 0 ? g_strdup ("-") : format_age (now_ms > since_ms ? now_ms - since_ms : 0);
}

static char *
format_state (guint32 state, gboolean own)
{
  static const struct
  {
    CtlColour colour;
    const char *name;
  } states[] = {
    [IRIS_WIRE_NODE_HERE] = { CTL_COLOUR_GREEN, "here" },
    [IRIS_WIRE_NODE_DRAINING] = { CTL_COLOUR_YELLOW, "draining" },
    [IRIS_WIRE_NODE_GONE] = { CTL_COLOUR_RED, "gone" },
    [IRIS_WIRE_NODE_REMOVED] = { CTL_COLOUR_FAINT, "removed" },
  };
  const char *name = state < G_N_ELEMENTS (states) ? states[state].name : NULL;

  if (name == NULL)
    return g_strdup ("unknown");
  return ctl_table_colour (states[state].colour, g_strconcat (name, own ? " (own)" : "", NULL));
}

static const char *
name_distance (guint32 distance)
{
  static const char *const names[] = {
    [IRIS_WIRE_NODE_SELF] = "-",
    [IRIS_WIRE_NODE_SAME_RACK] = "rack",
    [IRIS_WIRE_NODE_SAME_ZONE] = "zone",
    [IRIS_WIRE_NODE_FAR] = "far",
  };

  return distance < G_N_ELEMENTS (names) ? names[distance] : "far";
}

static char *
join_texts (GVariant *node, const char *name)
{
  g_autofree const char **texts = NULL;

  if (!g_variant_lookup (node, name, "^a&s", &texts))
    return g_strdup ("");
  return g_strjoinv (" ", (char **) texts);
}

static void
add_row (const Ctl *ctl, CtlTable *table, GVariant *node)
{
  g_autofree char *labels = join_texts (node, "labels");
  g_autoptr (GVariant) places = g_variant_lookup_value (node, "places", NULL);
  const char *name = "", *version = "";
  guint32 state = 0, workers = 0, distance = IRIS_WIRE_NODE_FAR;
  guint64 since_ms = 0, silent_ms = 0, running = 0, backlog = 0, away = 0, guests = 0;
  gboolean own = FALSE;

  g_variant_lookup (node, "name", "&s", &name);
  g_variant_lookup (node, "version", "&s", &version);
  g_variant_lookup (node, "state", "u", &state);
  g_variant_lookup (node, "workers", "u", &workers);
  g_variant_lookup (node, "since-ms", "t", &since_ms);
  g_variant_lookup (node, "silent-ms", "t", &silent_ms);
  g_variant_lookup (node, "running", "t", &running);
  g_variant_lookup (node, "backlog", "t", &backlog);
  g_variant_lookup (node, "away", "t", &away);
  g_variant_lookup (node, "guests", "t", &guests);
  g_variant_lookup (node, "distance", "u", &distance);
  g_variant_lookup (node, "own", "b", &own);
  ctl_table_add (table, ctl_terminal_cut (name, ctl->verbose ? 0 : NAME_COLUMNS),
                 format_state (state, own), format_since (since_ms),
                 ctl_number (places != NULL ? g_variant_n_children (places) : 0),
                 ctl_number (workers), ctl_number (running), ctl_number (backlog),
                 ctl_terminal_cut (labels, ctl->verbose ? 0 : LABELS_COLUMNS), g_strdup (version),
                 format_age (silent_ms), ctl_number (away), ctl_number (guests),
                 g_strdup (name_distance (distance)), join_texts (node, "services"),
                 join_texts (node, "endpoints"));
}

const char *
ctl_nodes_why_none (GVariant *nodes)
{
  const char *reason = "";

  /* An irisd that was built without clusters says so. */
  g_variant_lookup (nodes, "reason", "&s", &reason);
  return *reason != '\0' ? reason
                         : "its configuration names no NATS server; see [cluster] in irisd.conf(5)";
}

/* On standard error: standard output has one line for each node. */
static void
tell_own_state (GVariant *nodes, guint32 state)
{
  const char *reason = "";

  g_variant_lookup (nodes, "reason", "&s", &reason);
  if (state == IRIS_WIRE_CLUSTER_NONE)
    g_printerr ("irisctl: this irisd is in no cluster: %s\n", ctl_nodes_why_none (nodes));
  else if (state == IRIS_WIRE_CLUSTER_ALONE)
    {
      guint64 since_ms = 0;

      g_variant_lookup (nodes, "since-ms", "t", &since_ms);
      g_autofree char *time = ctl_format_time (since_ms);
      g_printerr ("irisctl: this node is not in the cluster, but alone since %s: %s\n", time,
                  reason);
    }
  else if (state != IRIS_WIRE_CLUSTER_JOINED)
    g_printerr ("irisctl: this node is not in the cluster: %s\n",
                *reason != '\0' ? reason : "it joins just now");
}

static CtlTable *
make_table (const Ctl *ctl, GVariant *nodes)
{
  static const char *const headings[] = { "node",      "state",     ">for",       ">places",
                                          ">workers",  ">running",  ">waiting",   "labels",
                                          "+version",  "+>silent",  "+>away",     "+>guests",
                                          "+distance", "+services", "+endpoints", NULL };
  CtlTable *table = ctl_table_new (headings, ctl->verbose);
  g_autoptr (GVariant) list = g_variant_lookup_value (nodes, "nodes", G_VARIANT_TYPE ("aa{sv}"));
  gsize n = list != NULL ? g_variant_n_children (list) : 0;

  ctl_table_fit_terminal (table);
  ctl_table_set_sparse (table);
  for (gsize i = 0; i < n; i++)
    {
      g_autoptr (GVariant) node = g_variant_get_child_value (list, i);

      add_row (ctl, table, node);
    }
  return table;
}

char *
ctl_nodes_to_table (const Ctl *ctl, GVariant *nodes)
{
  g_autoptr (CtlTable) table = make_table (ctl, nodes);

  return ctl_table_to_string (table);
}

static void
print_nodes (const Ctl *ctl, GVariant *nodes)
{
  g_autoptr (GVariant) list = g_variant_lookup_value (nodes, "nodes", G_VARIANT_TYPE ("aa{sv}"));
  g_autoptr (CtlTable) table = make_table (ctl, nodes);

  if ((list != NULL && g_variant_n_children (list) > 0)
      || !ctl_terminal_print_instead ("no nodes are known"))
    ctl_table_flush (table);
}

void
ctl_nodes_print_json (GVariant *nodes, gboolean line)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  GVariantIter iter;
  const char *name;
  GVariant *value;

  json_builder_begin_object (builder);
  g_variant_iter_init (&iter, nodes);
  while (g_variant_iter_next (&iter, "{&sv}", &name, &value))
    {
      json_builder_set_member_name (builder, name);
      json_builder_add_value (builder, json_gvariant_serialize (value));
      g_variant_unref (value);
    }
  json_builder_end_object (builder);
  if (line)
    ctl_json_print_line (builder);
  else
    ctl_json_print (builder);
}

GVariant *
ctl_nodes_get (Ctl *ctl, GError **error)
{
  g_autoptr (GAsyncResult) result = NULL;

  iris_client_get_nodes_async (ctl->client, ctl->cancellable, ctl_take_result, &result);
  return iris_client_get_nodes_finish (ctl->client, ctl_wait (&result), error);
}

static int
run_nodes (Ctl *ctl, int argc, char **argv)
{
  g_autoptr (GVariant) nodes = NULL;
  g_autoptr (GError) error = NULL;
  guint32 state = 0;
  int status;

  if (!(interval_s >= LEAST_INTERVAL_S && interval_s <= CTL_MAX_WAIT_S))
    return ctl_fail (CTL_USAGE, "nodes: --interval takes %g to %d seconds, not %g",
                     LEAST_INTERVAL_S, CTL_MAX_WAIT_S, interval_s);
  if (count < 0)
    return ctl_fail (CTL_USAGE, "nodes: --count takes a number of looks, not %d", count);
  if (!watches && (count > 0 || interval_s != 1))
    return ctl_fail (CTL_USAGE, "nodes: --interval and --count need --watch");
  status = ctl_connect (ctl);
  if (status != CTL_OK)
    return status;
  if (watches)
    return ctl_nodes_watch (ctl, interval_s, count);
  nodes = ctl_nodes_get (ctl, &error);
  if (nodes == NULL)
    return ctl_fail_with (error);
  if (ctl->json)
    {
      ctl_nodes_print_json (nodes, FALSE);
      return CTL_OK;
    }
  g_variant_lookup (nodes, "state", "u", &state);
  if (state != IRIS_WIRE_CLUSTER_NONE)
    print_nodes (ctl, nodes);
  tell_own_state (nodes, state);

  return CTL_OK;
}

static const GOptionEntry nodes_entries[] = {
  { "watch", 0, 0, G_OPTION_ARG_NONE, &watches, "Look again and again", NULL },
  { "interval", 'i', 0, G_OPTION_ARG_DOUBLE, &interval_s,
    "With --watch: the time between two looks (default: 1)", "SECONDS" },
  { "count", 'n', 0, G_OPTION_ARG_INT, &count,
    "With --watch: end after so many looks (default: with the key q, or Ctrl-C)", "N" },
  { NULL },
};

const CtlCommand ctl_nodes = {
  .name = "nodes",
  .arguments = "",
  .summary = "list the nodes of the cluster",
  .description =
      "As this irisd sees them. A node that is here tells the others of itself every few\n"
      "seconds; one that is draining takes no items of others; one that is gone was here and\n"
      "is silent. For: how long it has been in that state. With --verbose there are more\n"
      "columns: the version of its irisd, how long ago it told of itself, its items that the\n"
      "cluster has, items of the cluster that it has, its distance from this node by the labels\n"
      "rack and zone, its services and endpoints.\n\n"
      "With --watch a terminal shows one picture that is drawn anew, until the key q is\n"
      "pressed; otherwise there is a line for each look.\n\n"
      "Examples:\n"
      "  irisctl nodes\n"
      "  irisctl nodes --watch\n"
      "  irisctl nodes --json | jq -r '.nodes[] | select(.state == 1) | .name'\n",
  .least = 0,
  .most = 0,
  .takes = "no arguments",
  .asks_only = TRUE,
  .entries = nodes_entries,
  .run = run_nodes,
};

/* --- node ------------------------------------------------------------------------------------- */

static int
run_node (Ctl *ctl, int argc, char **argv)
{
  static const char *const verbs[] = { "drain", "resume", "remove", NULL };
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;
  const gboolean removes = g_str_equal (argv[1], "remove");
  gboolean changed = FALSE, good;
  int status;

  if (!g_strv_contains (verbs, argv[1]))
    return ctl_fail (
        CTL_USAGE, "node takes drain, resume or remove, and the name of a node, not “%s”", argv[1]);
  status = ctl_connect (ctl);
  if (status != CTL_OK)
    return status;
  if (removes)
    {
      iris_client_remove_node_async (ctl->client, argv[2], ctl->cancellable, ctl_take_result,
                                     &result);
      good = iris_client_remove_node_finish (ctl->client, ctl_wait (&result), &changed, &error);
    }
  else
    {
      iris_client_drain_node_async (ctl->client, argv[2], g_str_equal (argv[1], "drain"),
                                    ctl->cancellable, ctl_take_result, &result);
      good = iris_client_drain_node_finish (ctl->client, ctl_wait (&result), &changed, &error);
    }
  if (!good)
    return ctl_fail_with (error);
  if (ctl->json)
    ctl_json_print_int ("changed", changed);
  else if (!changed)
    g_print ("node %s %s already\n", argv[2],
             removes                          ? "is removed"
             : g_str_equal (argv[1], "drain") ? "is drained"
                                              : "takes items");
  else
    g_print ("%s node %s\n",
             removes                          ? "removed"
             : g_str_equal (argv[1], "drain") ? "drained"
                                              : "resumed",
             argv[2]);

  return CTL_OK;
}

const CtlCommand ctl_node = {
  .name = "node",
  .arguments = "drain|resume|remove NODE",
  .summary = "have a node take no items, or remove one that is gone",
  .description =
      "A drained node takes no more items of the cluster, also when its irisd is started\n"
      "again, until it is resumed; items for it go elsewhere unless they are strict. A node\n"
      "that is gone and does not come back is removed; one that is here cannot be, nor one\n"
      "for which strict items wait. For operators.\n\n"
      "Examples:\n"
      "  irisctl node drain n2\n"
      "  irisctl node resume n2\n"
      "  irisctl node remove n3\n",
  .operand = CTL_OPERAND_NODE,
  .least = 2,
  .most = 2,
  .takes = "drain, resume or remove, and the name of a node",
  .asks_only = TRUE,
  .run = run_node,
};

/* --- cluster ---------------------------------------------------------------------------------- */

static void
print_report_json (const char *text, guint n_faults)
{
  static const char *const kinds[] = { "made", "fault", "notice", "server", "promise" };
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  json_builder_begin_object (builder);
  ctl_json_bool (builder, "good", n_faults == 0);
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      json_builder_set_member_name (builder, kinds[i]);
      json_builder_begin_array (builder);
      for (char **line = lines; *line != NULL; line++)
        if (g_str_has_prefix (*line, kinds[i]))
          json_builder_add_string_value (builder, *line + strlen (kinds[i])
                                                      + strspn (*line + strlen (kinds[i]), ": "));
      json_builder_end_array (builder);
    }
  json_builder_end_object (builder);
  ctl_json_print (builder);
}

static guint
count_faults (const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  guint n = 0;

  for (char **line = lines; *line != NULL; line++)
    n += g_str_has_prefix (*line, "fault: ");
  return n;
}

static int
run_cluster (Ctl *ctl, int argc, char **argv)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;
  const gboolean init = g_str_equal (argv[1], "init");
  int status;

  if (!init && !g_str_equal (argv[1], "check"))
    return ctl_fail (CTL_USAGE, "cluster takes init or check, not “%s”", argv[1]);
  status = ctl_connect (ctl);
  if (status != CTL_OK)
    return status;
  iris_client_check_cluster_async (ctl->client, init, ctl->cancellable, ctl_take_result, &result);
  g_autofree char *text = iris_client_check_cluster_finish (ctl->client, ctl_wait (&result),
                                                            &error);
  if (text == NULL)
    return ctl_fail_with (error);
  guint n_faults = count_faults (text);
  if (ctl->json)
    print_report_json (text, n_faults);
  else
    g_print ("%s%s", text, n_faults > 0 ? "" : "the cluster is as it ought to be\n");

  return n_faults == 0 ? CTL_OK : CTL_FAILED;
}

const CtlCommand ctl_cluster = {
  .name = "cluster",
  .arguments = "init|check",
  .summary = "make or check the streams of the cluster",
  .description =
      "irisd compares the streams and consumers at the NATS servers with what they ought to\n"
      "be. check changes nothing; init makes those that are missing. What is there and\n"
      "differs is a fault that a person has to deal with: a change could have items run\n"
      "twice. The exit status is 1 if there is a fault. init is needed once for a cluster,\n"
      "and once at each new node, whose consumers it makes. For operators.\n\n"
      "Examples:\n"
      "  irisctl cluster init\n"
      "  irisctl cluster check --json\n",
  .operand = CTL_OPERAND_CLUSTER,
  .least = 1,
  .most = 1,
  .takes = "init or check",
  .asks_only = TRUE,
  .run = run_cluster,
};
