/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Reading a report in JSON without trust in the file.
 */
#include "tests/bench/report/bench-json-reader.h"

#include <math.h>

static JsonNode *
member (JsonObject *object, const char *name, JsonNodeType type)
{
  JsonNode *node = object != NULL ? json_object_get_member (object, name) : NULL;

  return node != NULL && json_node_get_node_type (node) == type ? node : NULL;
}

static JsonNode *
element (JsonArray *array, guint index, JsonNodeType type)
{
  JsonNode *node = index < bench_json_length (array) ? json_array_get_element (array, index) : NULL;

  return node != NULL && json_node_get_node_type (node) == type ? node : NULL;
}

static gdouble
number_of (JsonNode *node)
{
  GType type = node != NULL ? json_node_get_value_type (node) : G_TYPE_INVALID;

  return type == G_TYPE_DOUBLE || type == G_TYPE_INT64 ? json_node_get_double (node) : NAN;
}

const char *
bench_json_text (JsonObject *object, const char *name)
{
  JsonNode *node = member (object, name, JSON_NODE_VALUE);

  return node != NULL ? json_node_get_string (node) : NULL;
}

gdouble
bench_json_number (JsonObject *object, const char *name)
{
  return number_of (member (object, name, JSON_NODE_VALUE));
}

gboolean
bench_json_flag (JsonObject *object, const char *name)
{
  JsonNode *node = member (object, name, JSON_NODE_VALUE);

  return node != NULL && json_node_get_boolean (node);
}

JsonObject *
bench_json_object (JsonObject *object, const char *name)
{
  JsonNode *node = member (object, name, JSON_NODE_OBJECT);

  return node != NULL ? json_node_get_object (node) : NULL;
}

JsonArray *
bench_json_array (JsonObject *object, const char *name)
{
  JsonNode *node = member (object, name, JSON_NODE_ARRAY);

  return node != NULL ? json_node_get_array (node) : NULL;
}

guint
bench_json_length (JsonArray *array)
{
  return array != NULL ? json_array_get_length (array) : 0;
}

JsonObject *
bench_json_object_at (JsonArray *array, guint index)
{
  JsonNode *node = element (array, index, JSON_NODE_OBJECT);

  return node != NULL ? json_node_get_object (node) : NULL;
}

const char *
bench_json_text_at (JsonArray *array, guint index)
{
  JsonNode *node = element (array, index, JSON_NODE_VALUE);

  return node != NULL ? json_node_get_string (node) : NULL;
}

gdouble
bench_json_number_at (JsonArray *array, guint index)
{
  return number_of (element (array, index, JSON_NODE_VALUE));
}

JsonObject *
bench_json_report (JsonNode *root)
{
  JsonObject *report = root != NULL && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root)
                                                                     : NULL;

  return bench_json_array (report, "results") != NULL ? report : NULL;
}
