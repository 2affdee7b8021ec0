/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the streams and consumers of a cluster are, and what they promise; see irisd-streams.h.
 * Pure.
 */
#include "daemon/cluster/engine/irisd-streams.h"
#include "daemon/cluster/engine/irisd-engine-parse.h"

#include "iris/wire/base/iris-wire-json-private.h"

#include <string.h>

#define NS_PER_MS G_GINT64_CONSTANT (1000000)
#define NS_PER_S  G_GINT64_CONSTANT (1000000000)

#define DEFAULT_MAX_ITEMS  1000000
#define DEFAULT_MAX_BYTES  (G_GINT64_CONSTANT (1) << 30)
#define DEFAULT_MAX_BODIES (G_GINT64_CONSTANT (1) << 30)
#define DEFAULT_KEEP_MS    (24 * 3600 * G_GINT64_CONSTANT (1000))
#define DEFAULT_LEASE_MS   60000
/* Each item says how often it may be tried. */
#define DEFAULT_MAX_TRIES   (-1)
#define DEFAULT_MAX_RUNNING 10000
/* Of a stream of dead letters and advisories. */
#define DEAD_AGE_NS    (30 * 24 * 3600 * NS_PER_S)
#define DEAD_MAX_ITEMS 100000
#define DUPLICATES_NS  (120 * NS_PER_S)
#define MARKER_TTL_NS  (5 * NS_PER_S)
/* Pulls that may wait at a consumer. */
#define MAX_WAITING 512

static const char *
get_base (const IrisdStreamsOptions *options)
{
  return options->stream ? options->stream : "IRIS";
}

static gint64
choose (guint64 chosen, gint64 otherwise)
{
  return chosen ? (gint64) MIN (chosen, (guint64) G_MAXINT64) : otherwise;
}

static char *
get_bucket (const IrisdStreamsOptions *options, const char *what)
{
  g_autofree char *lower = g_ascii_strdown (get_base (options), -1);

  return g_strconcat (lower, what, NULL);
}

char *
irisd_streams_get_bodies_bucket (const IrisdStreamsOptions *options)
{
  return get_bucket (options, "_bodies");
}

char *
irisd_streams_get_name (const IrisdStreamsOptions *options, IrisdStreamKind kind)
{
  static const char *const ends[] = { "", "_ENDS", "_LATER", "_DEAD", "_DEADADV" };
  g_autofree char *nodes = get_bucket (options, "_nodes");
  g_autofree char *bodies = irisd_streams_get_bodies_bucket (options);

  if (kind == IRISD_STREAM_NODES)
    return g_strconcat ("KV_", nodes, NULL);
  if (kind == IRISD_STREAM_BODIES)
    return g_strconcat ("OBJ_", bodies, NULL);
  return g_strconcat (get_base (options), ends[kind], NULL);
}

char *
irisd_streams_get_nodes_subject (const IrisdStreamsOptions *options, const char *key)
{
  g_autofree char *bucket = get_bucket (options, "_nodes");

  return g_strconcat ("$KV.", bucket, ".", key, NULL);
}

/* ---- Configurations ---- */

static void
set_subjects (JsonObject *config, const char *first, const char *second)
{
  JsonArray *subjects = json_array_new ();

  json_array_add_string_element (subjects, first);
  if (second)
    json_array_add_string_element (subjects, second);
  json_object_set_array_member (config, "subjects", subjects);
}

/* What is due in the stream of schedules comes as an item. */
static void
set_source (JsonObject *config, const IrisdStreamsOptions *options)
{
  g_autofree char *later = irisd_streams_get_name (options, IRISD_STREAM_LATER);
  JsonArray *sources = json_array_new (), *transforms = json_array_new ();
  JsonObject *source = json_object_new (), *transform = json_object_new ();

  json_object_set_string_member (transform, "src", "iris.due.>");
  json_object_set_string_member (transform, "dest", "iris.w.>");
  json_array_add_object_element (transforms, transform);
  json_object_set_string_member (source, "name", later);
  json_object_set_array_member (source, "subject_transforms", transforms);
  json_array_add_object_element (sources, source);
  json_object_set_array_member (config, "sources", sources);
}

static void
set_work (JsonObject *config, const IrisdStreamsOptions *options)
{
  set_subjects (config, "iris.w.>", NULL);
  json_object_set_string_member (config, "retention", "workqueue");
  json_object_set_string_member (config, "discard", "new");
  json_object_set_int_member (config, "max_msgs", choose (options->max_items, DEFAULT_MAX_ITEMS));
  json_object_set_int_member (config, "max_bytes", choose (options->max_bytes, DEFAULT_MAX_BYTES));
  json_object_set_boolean_member (config, "allow_atomic", TRUE);
  json_object_set_boolean_member (config, "allow_msg_ttl", TRUE);
  json_object_set_boolean_member (config, "allow_direct", TRUE);
  set_source (config, options);
}

static void
set_ends (JsonObject *config, const IrisdStreamsOptions *options)
{
  set_subjects (config, "iris.e.>", NULL);
  json_object_set_string_member (config, "retention", "limits");
  json_object_set_string_member (config, "discard", "new");
  json_object_set_boolean_member (config, "discard_new_per_subject", TRUE);
  json_object_set_int_member (config, "max_msgs_per_subject", 1);
  json_object_set_int_member (config, "max_age",
                              choose (options->keep_ms, DEFAULT_KEEP_MS) * NS_PER_MS);
  json_object_set_boolean_member (config, "allow_direct", TRUE);
}

static void
set_later (JsonObject *config)
{
  set_subjects (config, "iris.l.>", "iris.due.>");
  json_object_set_string_member (config, "retention", "limits");
  json_object_set_string_member (config, "discard", "old");
  json_object_set_boolean_member (config, "allow_msg_schedules", TRUE);
  json_object_set_boolean_member (config, "allow_msg_ttl", TRUE);
  json_object_set_boolean_member (config, "allow_direct", TRUE);
}

static void
set_dead (JsonObject *config, gboolean advisories, const IrisdStreamsOptions *options)
{
  g_autofree char *spent = g_strconcat ("$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.",
                                        get_base (options), ".*", NULL);
  g_autofree char *terminated = g_strconcat ("$JS.EVENT.ADVISORY.CONSUMER.MSG_TERMINATED.",
                                             get_base (options), ".*", NULL);

  if (advisories)
    set_subjects (config, spent, terminated);
  else
    set_subjects (config, "iris.x.>", NULL);
  json_object_set_string_member (config, "retention", advisories ? "workqueue" : "limits");
  json_object_set_string_member (config, "discard", "old");
  json_object_set_int_member (config, "max_age", DEAD_AGE_NS);
  json_object_set_int_member (config, "max_msgs", DEAD_MAX_ITEMS);
  json_object_set_boolean_member (config, "allow_direct", TRUE);
}

static void
set_nodes (JsonObject *config, const IrisdStreamsOptions *options)
{
  g_autofree char *all = irisd_streams_get_nodes_subject (options, ">");

  set_subjects (config, all, NULL);
  json_object_set_string_member (config, "retention", "limits");
  json_object_set_string_member (config, "discard", "new");
  json_object_set_int_member (config, "max_msgs_per_subject", 1);
  json_object_set_boolean_member (config, "allow_msg_ttl", TRUE);
  json_object_set_int_member (config, "subject_delete_marker_ttl", MARKER_TTL_NS);
  json_object_set_boolean_member (config, "allow_direct", TRUE);
  json_object_set_boolean_member (config, "allow_rollup_hdrs", TRUE);
  json_object_set_boolean_member (config, "deny_delete", TRUE);
}

/* As the object store of NATS has it. */
static void
set_bodies (JsonObject *config, const IrisdStreamsOptions *options)
{
  g_autofree char *bucket = irisd_streams_get_bodies_bucket (options);
  g_autofree char *chunks = g_strconcat ("$O.", bucket, ".C.>", NULL);
  g_autofree char *metas = g_strconcat ("$O.", bucket, ".M.>", NULL);

  set_subjects (config, chunks, metas);
  json_object_set_string_member (config, "retention", "limits");
  json_object_set_string_member (config, "discard", "new");
  json_object_set_int_member (config, "max_bytes",
                              choose (options->max_bodies, DEFAULT_MAX_BODIES));
  json_object_set_int_member (config, "max_age",
                              choose (options->keep_ms, DEFAULT_KEEP_MS) * NS_PER_MS);
  json_object_set_boolean_member (config, "allow_direct", TRUE);
  json_object_set_boolean_member (config, "allow_rollup_hdrs", TRUE);
}

JsonObject *
irisd_streams_get_config (const IrisdStreamsOptions *options, IrisdStreamKind kind)
{
  JsonObject *config = json_object_new ();
  g_autofree char *name = irisd_streams_get_name (options, kind);
  gint64 window = DUPLICATES_NS;

  json_object_set_string_member (config, "name", name);
  json_object_set_string_member (config, "storage", "file");
  json_object_set_int_member (config, "num_replicas", options->replicas ? options->replicas : 3);
  switch (kind)
    {
    case IRISD_STREAM_WORK:
      set_work (config, options);
      break;
    case IRISD_STREAM_ENDS:
      set_ends (config, options);
      window = MIN (window, irisd_json_get_int (config, "max_age"));
      break;
    case IRISD_STREAM_LATER:
      set_later (config);
      break;
    case IRISD_STREAM_DEAD:
    case IRISD_STREAM_DEADADV:
      set_dead (config, kind == IRISD_STREAM_DEADADV, options);
      break;
    case IRISD_STREAM_NODES:
      set_nodes (config, options);
      break;
    case IRISD_STREAM_BODIES:
      set_bodies (config, options);
      window = MIN (window, irisd_json_get_int (config, "max_age"));
      break;
    default:
      g_assert_not_reached ();
    }
  json_object_set_int_member (config, "duplicate_window", window);
  return config;
}

char *
irisd_streams_get_consumer_name (IrisdConsumerKind kind, const char *node)
{
  switch (kind)
    {
    case IRISD_CONSUMER_ANY:
      return g_strdup ("any");
    case IRISD_CONSUMER_SOFT:
      return g_strconcat (node, "_soft", NULL);
    case IRISD_CONSUMER_STRICT:
      return g_strconcat (node, "_strict", NULL);
    case IRISD_CONSUMER_DEAD:
      return g_strdup ("dead");
    default:
      g_assert_not_reached ();
    }
}

/* Only the soft one is shared between nodes that take and nodes that steal. */
static void
set_overflow (JsonObject *config)
{
  JsonArray *groups = json_array_new ();

  json_array_add_string_element (groups, IRISD_PULL_GROUP);
  json_object_set_string_member (config, "priority_policy", "overflow");
  json_object_set_array_member (config, "priority_groups", groups);
}

JsonObject *
irisd_streams_get_consumer_config (const IrisdStreamsOptions *options,
                                   IrisdConsumerKind kind,
                                   const char *node)
{
  JsonObject *config = json_object_new ();
  g_autofree char *name = irisd_streams_get_consumer_name (kind, node);
  g_autofree char *filter = NULL;

  json_object_set_string_member (config, "name", name);
  json_object_set_string_member (config, "durable_name", name);
  json_object_set_string_member (config, "ack_policy", "explicit");
  json_object_set_string_member (config, "deliver_policy", "all");
  json_object_set_string_member (config, "replay_policy", "instant");
  json_object_set_int_member (config, "ack_wait",
                              choose (options->lease_ms, DEFAULT_LEASE_MS) * NS_PER_MS);
  json_object_set_int_member (config, "max_ack_pending",
                              choose (options->max_running, DEFAULT_MAX_RUNNING));
  json_object_set_int_member (config, "max_waiting", MAX_WAITING);
  if (kind == IRISD_CONSUMER_DEAD)
    {
      json_object_set_int_member (config, "max_deliver", -1);
      return config;
    }
  filter = kind == IRISD_CONSUMER_ANY    ? g_strdup ("iris.w.any.>")
           : kind == IRISD_CONSUMER_SOFT ? g_strconcat ("iris.w.", node, ".soft.>", NULL)
                                         : g_strconcat ("iris.w.", node, ".strict.>", NULL);
  json_object_set_string_member (config, "filter_subject", filter);
  json_object_set_int_member (config, "max_deliver",
                              choose (options->max_tries, DEFAULT_MAX_TRIES));
  if (kind == IRISD_CONSUMER_SOFT)
    set_overflow (config);
  return config;
}

/* ---- Comparing ---- */

static char *
describe (JsonNode *node)
{
  return node ? json_to_string (node, FALSE) : g_strdup ("missing");
}

/* Servers leave out what is false, 0 or empty. */
static gboolean
is_nothing (JsonNode *node)
{
  if (!node || JSON_NODE_HOLDS_NULL (node))
    return TRUE;
  if (!JSON_NODE_HOLDS_VALUE (node))
    return FALSE;
  if (json_node_get_value_type (node) == G_TYPE_BOOLEAN)
    return !json_node_get_boolean (node);
  return json_node_get_value_type (node) == G_TYPE_INT64 && json_node_get_int (node) == 0;
}

static gboolean matches (JsonNode *wanted, JsonNode *found);

static gboolean
array_matches (JsonArray *wanted, JsonArray *found)
{
  if (json_array_get_length (wanted) != json_array_get_length (found))
    return FALSE;
  for (guint i = 0; i < json_array_get_length (wanted); i++)
    if (!matches (json_array_get_element (wanted, i), json_array_get_element (found, i)))
      return FALSE;
  return TRUE;
}

static gboolean
object_matches (JsonObject *wanted, JsonObject *found)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *value;

  json_object_iter_init (&iter, wanted);
  while (json_object_iter_next (&iter, &name, &value))
    if (!matches (value, json_object_get_member (found, name)))
      return FALSE;
  return TRUE;
}

static gboolean
matches (JsonNode *wanted, JsonNode *found)
{
  if (is_nothing (wanted) || is_nothing (found))
    return is_nothing (wanted) && is_nothing (found);
  if (JSON_NODE_HOLDS_ARRAY (wanted) && JSON_NODE_HOLDS_ARRAY (found))
    return array_matches (json_node_get_array (wanted), json_node_get_array (found));
  if (JSON_NODE_HOLDS_OBJECT (wanted) && JSON_NODE_HOLDS_OBJECT (found))
    return object_matches (json_node_get_object (wanted), json_node_get_object (found));
  return json_node_equal (wanted, found);
}

GPtrArray *
irisd_streams_compare (JsonObject *wanted, JsonObject *found)
{
  GPtrArray *differences = g_ptr_array_new_with_free_func (g_free);
  JsonObjectIter iter;
  const char *name;
  JsonNode *value;

  json_object_iter_init_ordered (&iter, wanted);
  while (json_object_iter_next_ordered (&iter, &name, &value))
    {
      JsonNode *other = json_object_get_member (found, name);
      g_autofree char *is = describe (other), *should = describe (value);
      if (!matches (value, other))
        g_ptr_array_add (differences, g_strdup_printf ("%s is %s, not %s", name, is, should));
    }
  return differences;
}

/* ---- The servers ---- */

void
irisd_server_facts_clear (IrisdServerFacts *facts)
{
  g_clear_pointer (&facts->version, g_free);
}

gboolean
irisd_server_facts_read_varz (IrisdServerFacts *facts, const char *json, gssize length)
{
  g_autoptr (JsonParser) parser = json_parser_new_immutable ();
  JsonNode *root;
  JsonObject *jetstream, *config;
  const char *version;

  if (!g_utf8_validate (json, length, NULL)
      || iris_wire_json_fault (json, length < 0 ? strlen (json) : (gsize) length) != NULL
      || !json_parser_load_from_data (parser, json, length, NULL)
      || !(root = json_parser_get_root (parser)) || !JSON_NODE_HOLDS_OBJECT (root)
      || !(jetstream = irisd_json_get_object (json_node_get_object (root), "jetstream"))
      || !(config = irisd_json_get_object (jetstream, "config")))
    return FALSE;
  version = irisd_json_get_string (json_node_get_object (root), "version");
  if (version && !facts->version)
    facts->version = g_strdup (version);
  facts->sync_interval_ns = irisd_json_get_int (config, "sync_interval");
  if (json_object_has_member (config, "sync_always")
      && json_node_get_boolean (json_object_get_member (config, "sync_always")))
    facts->sync = IRISD_SYNC_ALWAYS;
  else if (facts->sync_interval_ns > 0)
    facts->sync = IRISD_SYNC_LATER;
  else
    return FALSE;
  return TRUE;
}

char *
irisd_streams_describe_promise (const IrisdStreamsOptions *options, const IrisdServerFacts *facts)
{
  guint replicas = facts->n_replicas   ? facts->n_replicas
                   : options->replicas ? options->replicas
                                       : 3;
  guint quorum = replicas / 2 + 1, losable = replicas - quorum;
  g_autofree char *where = replicas == 1
                               ? g_strdup ("1 server")
                               : g_strdup_printf ("at least %u of %u servers", quorum, replicas);
  g_autofree char *loss = losable == 0 ? g_strdup ("the crash of its server")
                                       : g_strdup_printf ("the loss of %u server%s", losable,
                                                          losable > 1 ? "s" : "");
  const char *but = losable == 0 ? ", but not the loss of its disk" : "";

  switch (facts->sync)
    {
    case IRISD_SYNC_ALWAYS:
      return g_strdup_printf ("An accepted item is on the disk of %s: it survives %s, and a power "
                              "failure of all servers%s.",
                              where, loss, but);
    case IRISD_SYNC_LATER:
      return g_strdup_printf (
          "An accepted item is in the memory of %s, and on their disks within %g s: it "
          "survives %s, but not a power failure of %u server%s at once%s.",
          where, (double) facts->sync_interval_ns / (double) NS_PER_S, loss, quorum,
          quorum > 1 ? "s" : "", losable == 0 ? ", nor the loss of its disk" : "");
    case IRISD_SYNC_UNKNOWN:
    default:
      return g_strdup_printf (
          "An accepted item is held by %s: it survives %s%s; a power failure of all "
          "servers only if they have \"sync_interval: always\", which clients "
          "cannot see.",
          where, loss, but);
    }
}
