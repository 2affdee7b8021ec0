/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The entry and the mark of a node as they stand in the bucket.
 *
 * Any client of NATS with the rights of a node may write there, so an entry is checked before it is
 * believed. A reader passes over members that it does not know, and takes the default of those that
 * are missing, but for version and incarnation: so one step of an upgrade can add some, and irisd
 * of both steps read each other.
 */
#include "daemon/cluster/members/irisd-node-entry.h"

#include "daemon/base/irisd-error.h"
#include "daemon/cluster/engine/irisd-engine-parse.h"
#include "daemon/config/irisd-cluster-config.h"
#include "iris/wire/base/iris-wire-json-private.h"

#include <json-glib/json-glib.h>
#include <string.h>

/* The longest text of an entry, and its greatest number: both fit into a reply of irisd's, and the
 * number into a double. */
#define MOST_TEXT   1024
#define MOST_NUMBER (G_GINT64_CONSTANT (1) << 53)

/* Bytes of all names of services that are told: in JSON a byte may become six, and the whole entry
 * has to be one that others read. */
#define MOST_SERVICES (32 * 1024)

static const char *const mark_names[] = {
  [IRISD_MARK_MEMBER] = "member",
  [IRISD_MARK_DRAINED] = "drained",
  [IRISD_MARK_REMOVED] = "removed",
};

/* --- the secret ------------------------------------------------------------------------------- */

/* Returns what its entry has as its signature if its irisd has @secret. */
char *
irisd_node_sign (const IrisdNode *self, GBytes *secret)
{
  gsize size;
  const guchar *key = g_bytes_get_data (secret, &size);
  g_autofree char *text = g_strdup_printf ("iris-node\n%s\n%s", self->name, self->incarnation);
  return g_compute_hmac_for_string (G_CHECKSUM_SHA256, key, size, text, -1);
}

/* An irisd of before that signs no entry may have any secret. */
gboolean
irisd_node_has_other_secret (const IrisdNode *self, GBytes *secret)
{
  g_autofree char *signature = irisd_node_sign (self, secret);
  return self->signature != NULL && *self->signature != '\0'
         && strcmp (self->signature, signature) != 0;
}

/* --- encoding --------------------------------------------------------------------------------- */

static void
add_text (JsonBuilder *builder, const char *name, const char *text)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_string_value (builder, text != NULL ? text : "");
}

static void
add_number (JsonBuilder *builder, const char *name, guint64 number)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_int_value (builder, (gint64) MIN (number, (guint64) MOST_NUMBER));
}

static void
add_texts (JsonBuilder *builder, const char *name, char **texts)
{
  json_builder_set_member_name (builder, name);
  json_builder_begin_array (builder);
  for (guint i = 0; texts != NULL && texts[i] != NULL && i < IRISD_NODE_MOST_TEXTS; i++)
    json_builder_add_string_value (builder, texts[i]);
  json_builder_end_array (builder);
}

/* A list of many processors that are not neighbours may be too long; it is for people. */
static void
add_cpus (JsonBuilder *builder, const char *cpus)
{
  if (cpus != NULL && strlen (cpus) <= MOST_TEXT)
    add_text (builder, "cpus", cpus);
}

/* Workers choose the names. One that is too long would make others refuse the entry, and with it
 * the node. */
static void
add_services (JsonBuilder *builder, char **services)
{
  gsize n_bytes = 0;
  json_builder_set_member_name (builder, "services");
  json_builder_begin_array (builder);
  for (guint i = 0, n = 0; services != NULL && services[i] != NULL && n < IRISD_NODE_MOST_TEXTS;
       i++)
    {
      const gsize length = strlen (services[i]);
      if (length > MOST_TEXT || n_bytes + length > MOST_SERVICES)
        continue;
      n_bytes += length;
      n++;
      json_builder_add_string_value (builder, services[i]);
    }
  json_builder_end_array (builder);
}

static void
add_places (JsonBuilder *builder, const IrisdNode *self)
{
  json_builder_set_member_name (builder, "places");
  json_builder_begin_array (builder);
  for (guint i = 0; i < self->n_places && i < IRISD_NODE_MOST_PLACES; i++)
    {
      json_builder_begin_object (builder);
      add_text (builder, "name", self->places[i].name);
      add_cpus (builder, self->places[i].cpus);
      add_number (builder, "workers", self->places[i].workers);
      add_number (builder, "backlog", self->places[i].backlog);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
}

static void
add_load (JsonBuilder *builder, const IrisdNodeLoad *load)
{
  if (!load->known)
    return;
  json_builder_set_member_name (builder, "load");
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "full");
  json_builder_add_boolean_value (builder, load->full);
  add_number (builder, "pending", load->pending);
  add_number (builder, "begun", load->begun);
  add_number (builder, "run-ns", load->mean_run_ns);
  add_number (builder, "bytes", load->mean_bytes);
  json_builder_end_object (builder);
}

static GBytes *
generate (JsonBuilder *builder)
{
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  json_generator_set_root (generator, root);
  gsize length = 0;
  char *text = json_generator_to_data (generator, &length);
  return g_bytes_new_take (text, length);
}

/* The name is that of the key. */
GBytes *
irisd_node_encode (const IrisdNode *self)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  add_number (builder, "format", self->format);
  add_text (builder, "version", self->version);
  add_text (builder, "incarnation", self->incarnation);
  add_text (builder, "signature", self->signature);
  json_builder_set_member_name (builder, "draining");
  json_builder_add_boolean_value (builder, self->draining);
  add_number (builder, "running", self->running);
  add_number (builder, "backlog", self->backlog);
  add_load (builder, &self->load);
  add_number (builder, "away", self->away);
  add_number (builder, "guests", self->guests);
  add_places (builder, self);
  add_texts (builder, "labels", self->labels);
  add_services (builder, self->services);
  add_texts (builder, "endpoints", self->endpoints);
  json_builder_end_object (builder);
  return generate (builder);
}

GBytes *
irisd_member_mark_encode (IrisdMemberMark mark)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  add_text (builder, "mark", mark_names[mark]);
  json_builder_end_object (builder);
  return generate (builder);
}

/* --- decoding --------------------------------------------------------------------------------- */

static gboolean
refuse (GError **error, const char *member)
{
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_FAILED, "its “%s” is not as it ought to be",
                     member);
}

/* Returns the member if it is a value of that type; NULL without an error if there is none. */
static JsonNode *
find (JsonObject *object, const char *name, GType type, GError **error)
{
  JsonNode *node = json_object_get_member (object, name);
  if (node != NULL && (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != type))
    {
      refuse (error, name);
      return NULL;
    }
  return node;
}

static gboolean
is_text (const char *text)
{
  return strlen (text) <= MOST_TEXT && g_utf8_validate (text, -1, NULL);
}

static gboolean
read_text (JsonObject *object, const char *name, gboolean required, char **text, GError **error)
{
  g_autoptr (GError) local = NULL;
  JsonNode *node = find (object, name, G_TYPE_STRING, &local);
  if (local != NULL || (node == NULL && required)
      || (node != NULL && !is_text (json_node_get_string (node))))
    return refuse (error, name);
  *text = g_strdup (node != NULL ? json_node_get_string (node) : "");
  return TRUE;
}

static gboolean
read_number (JsonObject *object, const char *name, guint64 most, guint64 *number, GError **error)
{
  g_autoptr (GError) local = NULL;
  JsonNode *node = find (object, name, G_TYPE_INT64, &local);
  gint64 value = node != NULL ? json_node_get_int (node) : 0;
  if (local != NULL || value < 0 || (guint64) value > most)
    return refuse (error, name);
  *number = (guint64) value;
  return TRUE;
}

/* Returns NULL without an error if there is no such member. */
static JsonArray *
find_array (JsonObject *object, const char *name, guint most, GError **error)
{
  JsonNode *node = json_object_get_member (object, name);
  if (node == NULL)
    return NULL;
  if (JSON_NODE_HOLDS_ARRAY (node) && json_array_get_length (json_node_get_array (node)) <= most)
    return json_node_get_array (node);
  refuse (error, name);
  return NULL;
}

static gboolean
read_texts (JsonObject *object, const char *name, char ***texts, GError **error)
{
  g_autoptr (GError) local = NULL;
  JsonArray *array = find_array (object, name, IRISD_NODE_MOST_TEXTS, &local);
  if (local != NULL)
    return refuse (error, name);
  const guint n = array != NULL ? json_array_get_length (array) : 0;
  *texts = g_new0 (char *, n + 1);
  for (guint i = 0; i < n; i++)
    {
      JsonNode *node = json_array_get_element (array, i);
      if (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_STRING
          || !is_text (json_node_get_string (node)))
        return refuse (error, name);
      (*texts)[i] = g_strdup (json_node_get_string (node));
    }
  return TRUE;
}

static gboolean
read_place (JsonNode *node, IrisdNodePlace *place, GError **error)
{
  guint64 workers = 0;
  if (!JSON_NODE_HOLDS_OBJECT (node))
    return refuse (error, "places");
  JsonObject *object = json_node_get_object (node);
  if (!read_text (object, "name", TRUE, &place->name, error)
      || !read_text (object, "cpus", FALSE, &place->cpus, error)
      || !read_number (object, "workers", G_MAXINT32, &workers, error)
      || !read_number (object, "backlog", (guint64) MOST_NUMBER, &place->backlog, error))
    return FALSE;
  place->workers = (guint) workers;
  return TRUE;
}

static gboolean
read_places (JsonObject *object, IrisdNode *self, GError **error)
{
  g_autoptr (GError) local = NULL;
  JsonArray *array = find_array (object, "places", IRISD_NODE_MOST_PLACES, &local);
  if (local != NULL)
    return refuse (error, "places");
  irisd_node_set_n_places (self, array != NULL ? json_array_get_length (array) : 0);
  for (guint i = 0; i < self->n_places; i++)
    if (!read_place (json_array_get_element (array, i), &self->places[i], error))
      return FALSE;
  return TRUE;
}

static gboolean
is_incarnation (const char *text)
{
  return strlen (text) == 16 && strspn (text, "0123456789abcdef") == 16;
}

static gboolean
read_boolean (JsonObject *object, const char *name, gboolean *value, GError **error)
{
  g_autoptr (GError) local = NULL;
  JsonNode *node = find (object, name, G_TYPE_BOOLEAN, &local);
  if (local != NULL)
    return refuse (error, name);
  *value = node != NULL && json_node_get_boolean (node);
  return TRUE;
}

static gboolean
read_load (JsonObject *object, IrisdNodeLoad *load, GError **error)
{
  JsonNode *node = json_object_get_member (object, "load");
  if (node == NULL)
    return TRUE;
  if (!JSON_NODE_HOLDS_OBJECT (node))
    return refuse (error, "load");
  object = json_node_get_object (node);
  load->known = TRUE;
  return read_boolean (object, "full", &load->full, error)
         && read_number (object, "pending", (guint64) MOST_NUMBER, &load->pending, error)
         && read_number (object, "begun", (guint64) MOST_NUMBER, &load->begun, error)
         && read_number (object, "run-ns", (guint64) MOST_NUMBER, &load->mean_run_ns, error)
         && read_number (object, "bytes", (guint64) MOST_NUMBER, &load->mean_bytes, error);
}

static gboolean
read_all (JsonObject *object, IrisdNode *self, GError **error)
{
  guint64 format = 0;
  if (!read_number (object, "format", G_MAXINT32, &format, error)
      || !read_text (object, "version", TRUE, &self->version, error)
      || !read_text (object, "incarnation", TRUE, &self->incarnation, error)
      || !read_text (object, "signature", FALSE, &self->signature, error)
      || !read_boolean (object, "draining", &self->draining, error)
      || !read_number (object, "running", (guint64) MOST_NUMBER, &self->running, error)
      || !read_number (object, "backlog", (guint64) MOST_NUMBER, &self->backlog, error)
      || !read_number (object, "away", (guint64) MOST_NUMBER, &self->away, error)
      || !read_number (object, "guests", (guint64) MOST_NUMBER, &self->guests, error)
      || !read_load (object, &self->load, error) || !read_places (object, self, error)
      || !read_texts (object, "labels", &self->labels, error)
      || !read_texts (object, "services", &self->services, error)
      || !read_texts (object, "endpoints", &self->endpoints, error))
    return FALSE;
  self->format = (guint) format;
  irisd_node_sort_services (self);
  return is_incarnation (self->incarnation) || refuse (error, "incarnation");
}

/* Returns the parser, whose root is an object; NULL with an error. */
static JsonParser *
parse (const void *data, gsize length, GError **error)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GError) local = NULL;
  const char *fault;
  if (length > IRISD_NODE_MOST_BYTES)
    irisd_fail (error, IRISD_ERROR, IRISD_ERROR_FAILED,
                "it has %" G_GSIZE_FORMAT " bytes, more than %d", length, IRISD_NODE_MOST_BYTES);
  else if (!g_utf8_validate (data, (gssize) length, NULL))
    irisd_fail (error, IRISD_ERROR, IRISD_ERROR_FAILED, "it is no text");
  else if ((fault = iris_wire_json_fault (data, length)) != NULL)
    irisd_fail (error, IRISD_ERROR, IRISD_ERROR_FAILED, "%s", fault);
  else if (!json_parser_load_from_data (parser, data, (gssize) length, &local)
           || json_parser_get_root (parser) == NULL
           || !JSON_NODE_HOLDS_OBJECT (json_parser_get_root (parser)))
    irisd_fail (error, IRISD_ERROR, IRISD_ERROR_FAILED, "it is no JSON object");
  else
    return g_steal_pointer (&parser);
  return NULL;
}

/* Returns the node whose entry this is; NULL with an error if it is damaged. */
IrisdNode *
irisd_node_decode (const char *name, const void *data, gsize length, GError **error)
{
  g_autoptr (IrisdNode) self = irisd_node_new ();
  if (!irisd_cluster_check_node_name (name, error))
    return NULL;
  g_autoptr (JsonParser) parser = parse (data, length, error);
  if (parser == NULL)
    return NULL;
  self->name = g_strdup (name);
  if (!read_all (json_node_get_object (json_parser_get_root (parser)), self, error))
    return NULL;
  return g_steal_pointer (&self);
}

/* A mark that this irisd does not know is read as none: a later irisd may have written it. */
gboolean
irisd_member_mark_decode (const void *data, gsize length, IrisdMemberMark *mark, GError **error)
{
  g_autofree char *text = NULL;
  g_autoptr (JsonParser) parser = parse (data, length, error);
  if (parser == NULL
      || !read_text (json_node_get_object (json_parser_get_root (parser)), "mark", TRUE, &text,
                     error))
    return FALSE;
  *mark = IRISD_MARK_MEMBER;
  for (guint i = 0; i < G_N_ELEMENTS (mark_names); i++)
    if (g_strcmp0 (mark_names[i], text) == 0)
      *mark = (IrisdMemberMark) i;
  return TRUE;
}
