/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The conformance vectors: written by a second reading of the protocol, checked against the first.
 */
#include "core-test-run.h"
#include "wire-test-util.h"

#include <check.h>
#include <json-glib/json-glib.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

static JsonArray *vectors;

typedef struct
{
  JsonObject *json;
  const char *name;
  guint n_frames;
  GByteArray *bytes[8];
  IrisWireFrame frames[8];
  IrisWireLimits limits;
} Vector;

static void
read_limits (JsonObject *json, IrisWireLimits *limits)
{
  *limits = *iris_wire_limits_default ();
  if (!json_object_has_member (json, "limits"))
    return;
  JsonObject *given = json_object_get_object_member (json, "limits");
  g_autoptr (GList) names = json_object_get_members (given);
  for (GList *at = names; at != NULL; at = at->next)
    {
      gint64 value = json_object_get_int_member (given, at->data);
      if (g_str_equal (at->data, "max-header"))
        limits->max_header = (gsize) value;
      else if (g_str_equal (at->data, "max-body"))
        limits->max_body = (gsize) value;
      else if (g_str_equal (at->data, "max-args"))
        limits->max_args = (guint) value;
      else if (g_str_equal (at->data, "max-batch"))
        limits->max_batch = (guint) value;
      else if (g_str_equal (at->data, "max-entries"))
        limits->max_entries = (guint) value;
      else
        ck_abort_msg ("unknown limit %s", (const char *) at->data);
    }
}

static void
vector_init (Vector *self, guint index)
{
  *self = (Vector){ .json = json_array_get_object_element (vectors, index) };
  self->name = json_object_get_string_member (self->json, "name");
  JsonArray *frames = json_object_get_array_member (self->json, "frames");
  self->n_frames = json_array_get_length (frames);
  ck_assert_uint_le (self->n_frames, G_N_ELEMENTS (self->frames));
  for (guint i = 0; i < self->n_frames; i++)
    {
      self->bytes[i] = wire_test_from_hex (json_array_get_string_element (frames, i));
      ck_assert_ptr_nonnull (self->bytes[i]);
      self->frames[i] = wire_test_frame (self->bytes[i]);
    }
  read_limits (self->json, &self->limits);
}

static void
vector_clear (Vector *self)
{
  for (guint i = 0; i < self->n_frames; i++)
    g_byte_array_unref (self->bytes[i]);
}

static const char *
text_member (JsonObject *json, const char *name)
{
  return json_object_get_string_member_with_default (json, name, "");
}

/* A body's value in JSON, where keys of maps are decimal text, against what msgpack-c reads. */
static gboolean
same_json (JsonNode *json, const msgpack_object *value)
{
  switch (value->type)
    {
    case MSGPACK_OBJECT_BOOLEAN:
      return json_node_get_value_type (json) == G_TYPE_BOOLEAN
             && json_node_get_boolean (json) == value->via.boolean;
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
      return json_node_get_value_type (json) == G_TYPE_INT64
             && json_node_get_int (json) == (gint64) value->via.u64;
    case MSGPACK_OBJECT_STR:
      return json_node_get_value_type (json) == G_TYPE_STRING
             && strlen (json_node_get_string (json)) == value->via.str.size
             && (value->via.str.size == 0
                 || strncmp (json_node_get_string (json), value->via.str.ptr, value->via.str.size)
                        == 0);
    case MSGPACK_OBJECT_ARRAY:
      if (!JSON_NODE_HOLDS_ARRAY (json)
          || json_array_get_length (json_node_get_array (json)) != value->via.array.size)
        return FALSE;
      for (guint32 i = 0; i < value->via.array.size; i++)
        {
          if (!same_json (json_array_get_element (json_node_get_array (json), i),
                          &value->via.array.ptr[i]))
            return FALSE;
        }
      return TRUE;
    case MSGPACK_OBJECT_MAP:
      if (!JSON_NODE_HOLDS_OBJECT (json)
          || json_object_get_size (json_node_get_object (json)) != value->via.map.size)
        return FALSE;
      for (guint32 i = 0; i < value->via.map.size; i++)
        {
          const msgpack_object_kv *pair = &value->via.map.ptr[i];
          g_autofree char *key = g_strdup_printf ("%" G_GUINT64_FORMAT, pair->key.via.u64);
          JsonNode *member = json_object_get_member (json_node_get_object (json), key);
          if (member == NULL || !same_json (member, &pair->val))
            return FALSE;
        }
      return TRUE;
    default:
      return FALSE;
    }
}

/* Reads a structured body and writes it again; NULL with an error if it is refused. */
static GBytes *
rewrite_body (const IrisWireMessage *message, const IrisWireLimits *limits, GError **error)
{
  g_autoptr (IrisWireMap) map = NULL;
  g_autoptr (IrisWireStatus) status = NULL;
  g_autoptr (IrisWireStatistics) statistics = NULL;
  g_autoptr (IrisWireSpans) spans = NULL;
  g_autoptr (IrisWireSchedules) schedules = NULL;
  g_autoptr (IrisWireQueues) queues = NULL;
  g_autoptr (IrisWireNodes) nodes = NULL;
  g_autoptr (IrisWireClientKeys) keys = NULL;
  g_autoptr (IrisWireServices) services = NULL;
  g_autoptr (IrisWireWorkers) workers = NULL;
  g_autoptr (IrisWirePersistentList) persistent = NULL;

  switch (message->type)
    {
    case IRIS_WIRE_MAP_REPLY:
      map = iris_wire_map_decode (message->body, limits, error);
      return map != NULL ? iris_wire_map_encode (map, limits, error) : NULL;
    case IRIS_WIRE_STATUS_REPLY:
      status = iris_wire_status_decode (message->body, limits, error);
      return status != NULL ? iris_wire_status_encode (status, limits, error) : NULL;
    case IRIS_WIRE_STATISTICS_REPLY:
      statistics = iris_wire_statistics_decode (message->body, limits, error);
      return statistics != NULL ? iris_wire_statistics_encode (statistics, limits, error) : NULL;
    case IRIS_WIRE_SCHEDULES_REPLY:
      schedules = iris_wire_schedules_decode (message->body, limits, error);
      return schedules != NULL ? iris_wire_schedules_encode (schedules, limits, error) : NULL;
    case IRIS_WIRE_QUEUES_REPLY:
      queues = iris_wire_queues_decode (message->body, limits, error);
      return queues != NULL ? iris_wire_queues_encode (queues, limits, error) : NULL;
    case IRIS_WIRE_NODES_REPLY:
      nodes = iris_wire_nodes_decode (message->body, limits, error);
      return nodes != NULL ? iris_wire_nodes_encode (nodes, limits, error) : NULL;
    case IRIS_WIRE_SPANS_REPLY:
      spans = iris_wire_spans_decode (message->body, limits, error);
      return spans != NULL ? iris_wire_spans_encode (spans, limits, error) : NULL;
    case IRIS_WIRE_KEYS_REPLY:
      keys = iris_wire_client_keys_decode (message->body, limits, error);
      return keys != NULL ? iris_wire_client_keys_encode (keys, limits, error) : NULL;
    case IRIS_WIRE_WORKERS_REPLY:
      workers = iris_wire_workers_decode (message->body, limits, error);
      return workers != NULL ? iris_wire_workers_encode (workers, limits, error) : NULL;
    case IRIS_WIRE_READY:
    case IRIS_WIRE_SERVICES_REPLY:
      services = iris_wire_services_decode (message->body, limits, error);
      return services != NULL ? iris_wire_services_encode (services, limits, error) : NULL;
    case IRIS_WIRE_LIST_REPLY:
    case IRIS_WIRE_SHOW_REPLY:
      persistent = iris_wire_persistent_list_decode (message->body, limits, error);
      return persistent != NULL ? iris_wire_persistent_list_encode (persistent, limits, error)
                                : NULL;
    default:
      ck_abort_msg ("type 0x%02x has no body with a structure", message->type);
      return NULL;
    }
}

static void
check_value (const Vector *vector, const IrisWireMessage *message)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) again = rewrite_body (message, &vector->limits, &error);
  g_autoptr (GBytes) body = g_bytes_new (message->body.data, message->body.size);
  msgpack_unpacked unpacked;
  size_t offset = 0;

  ck_assert_msg (again != NULL, "%s: %s", vector->name, error != NULL ? error->message : "");
  ck_assert_msg (g_bytes_equal (again, body), "%s: written again it differs", vector->name);
  msgpack_unpacked_init (&unpacked);
  ck_assert_int_eq (msgpack_unpack_next (&unpacked, (const char *) message->body.data,
                                         message->body.size, &offset),
                    MSGPACK_UNPACK_SUCCESS);
  ck_assert_msg (same_json (json_object_get_member (vector->json, "value"), &unpacked.data),
                 "%s: the body is not the value", vector->name);
  msgpack_unpacked_destroy (&unpacked);
}

static void
check_item (const Vector *vector,
            JsonNode *expected,
            IrisWireBatchIter *iter,
            IrisWireBatchBuilder *builder)
{
  g_autoptr (GError) error = NULL;
  IrisWireMessage item;
  IrisWireBatchStep step = iris_wire_batch_iter_next (iter, &item, &error);

  if (JSON_NODE_HOLDS_OBJECT (expected))
    {
      JsonObject *refusal = json_node_get_object (expected);
      g_autofree char *id = wire_test_to_hex (item.request_id, sizeof item.request_id);
      ck_assert_int_eq (step, IRIS_WIRE_BATCH_REFUSED);
      ck_assert_str_eq (iris_wire_error_name ((guint) error->code), text_member (refusal, "code"));
      ck_assert_str_eq (id, text_member (refusal, "id"));
      return;
    }
  g_autofree char *text = iris_wire_message_to_string (&item);
  ck_assert_msg (step == IRIS_WIRE_BATCH_ITEM, "%s: %s", vector->name,
                 error != NULL ? error->message : "end");
  ck_assert_str_eq (text, json_node_get_string (expected));
  ck_assert (iris_wire_batch_builder_add (builder, &item, NULL));
}

static void
check_items (const Vector *vector, const IrisWireMessage *message)
{
  JsonArray *items = json_object_get_array_member (vector->json, "items");
  guint n = json_array_get_length (items);
  g_auto (IrisWireBatchBuilder) builder;
  IrisWireBatchIter iter;
  g_autoptr (GError) error = NULL;

  iris_wire_batch_builder_init (&builder, &vector->limits);
  ck_assert_msg (iris_wire_batch_iter_init (&iter, message->body, &vector->limits, &error),
                 "%s: %s", vector->name, error != NULL ? error->message : "");
  ck_assert_uint_eq (iter.n_items, n);
  for (guint i = 0; i < n; i++)
    check_item (vector, json_array_get_element (items, i), &iter, &builder);
  if (builder.n_items < n)
    return;
  IrisWireFrame again = iris_wire_batch_builder_get_body (&builder);
  ck_assert_uint_eq (again.size, message->body.size);
  ck_assert_mem_eq (again.data, message->body.data, again.size);
}

/* Reads all completions. Returns whether they are good; `texts` says what they are. */
static gboolean
read_completions (const Vector *vector,
                  const IrisWireMessage *message,
                  GPtrArray *texts,
                  GError **error)
{
  g_auto (IrisWireBatchBuilder) builder;
  IrisWireBatchIter iter;
  IrisWireMessage completion;
  GError *problem = NULL;

  iris_wire_batch_builder_init_completions (&builder, &vector->limits);
  if (!iris_wire_batch_iter_init_completions (&iter, message->body, &vector->limits, error))
    return FALSE;
  while (iris_wire_batch_iter_next (&iter, &completion, &problem) == IRIS_WIRE_BATCH_ITEM)
    {
      g_ptr_array_add (texts, iris_wire_message_to_string (&completion));
      ck_assert (iris_wire_batch_builder_add (&builder, &completion, NULL));
    }
  if (problem != NULL)
    {
      g_propagate_error (error, problem);
      return FALSE;
    }
  IrisWireFrame again = iris_wire_batch_builder_get_body (&builder);
  ck_assert_uint_eq (again.size, message->body.size);
  ck_assert_mem_eq (again.data, message->body.data, again.size);
  return TRUE;
}

static void
check_completions (const Vector *vector, const IrisWireMessage *message)
{
  JsonArray *items = json_object_get_array_member (vector->json, "items");
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;

  ck_assert_msg (read_completions (vector, message, texts, &error), "%s: %s", vector->name,
                 error != NULL ? error->message : "");
  ck_assert_uint_eq (texts->len, json_array_get_length (items));
  for (guint i = 0; i < texts->len; i++)
    ck_assert_str_eq (g_ptr_array_index (texts, i), json_array_get_string_element (items, i));
}

static void
check_encoded (const Vector *vector, const IrisWireMessage *message)
{
  g_auto (IrisWireEncoder) encoder;
  gboolean canonical = json_object_get_boolean_member (vector->json, "canonical");
  gboolean same = TRUE;

  iris_wire_encoder_init (&encoder, &vector->limits);
  ck_assert (iris_wire_encode (&encoder, message, NULL));
  for (guint i = 0; i < IRIS_WIRE_N_FRAMES; i++)
    same = same && encoder.frames[i].size == vector->frames[i].size
           && (encoder.frames[i].size == 0
               || memcmp (encoder.frames[i].data, vector->frames[i].data, encoder.frames[i].size)
                      == 0);
  ck_assert_msg (same == canonical, "%s: encoded again it %s", vector->name,
                 same ? "is the same" : "differs");

  IrisWireMessage read;
  g_autofree char *text = iris_wire_message_to_string (message);
  ck_assert (iris_wire_decode (encoder.two_frames, 2, &vector->limits, &read, NULL));
  g_autofree char *text_of_two = iris_wire_message_to_string (&read);
  ck_assert_str_eq (text_of_two, text);
  ck_assert (read.body.data == message->body.data && read.body.size == message->body.size);
}

START_TEST (a_head_that_is_cut_is_refused)
{
  g_auto (IrisWireEncoder) encoder = { 0 };
  IrisWireMessage ping, read;

  iris_wire_encoder_init (&encoder, NULL);
  iris_wire_message_init (&ping, IRIS_WIRE_PING, NULL);
  ck_assert (iris_wire_encode (&encoder, &ping, NULL));
  for (gsize size = encoder.two_frames[0].size; size-- > 0;)
    {
      g_autofree guint8 *cut = g_memdup2 (encoder.two_frames[0].data, size);
      const IrisWireFrame frames[] = { { cut, size }, { NULL, 0 } };
      g_autoptr (GError) error = NULL;

      ck_assert (!iris_wire_decode (frames, 2, NULL, &read, &error));
      ck_assert (g_error_matches (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_MALFORMED));
    }
}
END_TEST

static void
check_valid (const Vector *vector)
{
  g_autoptr (GError) error = NULL;
  IrisWireMessage message;

  ck_assert_uint_eq (vector->n_frames, IRIS_WIRE_N_FRAMES);
  ck_assert_msg (
      iris_wire_decode (vector->frames, vector->n_frames, &vector->limits, &message, &error),
      "%s: %s", vector->name, error != NULL ? error->message : "");
  g_autofree char *text = iris_wire_message_to_string (&message);
  ck_assert_str_eq (text, text_member (vector->json, "text"));
  check_encoded (vector, &message);
  if (message.type == IRIS_WIRE_COMPLETIONS)
    check_completions (vector, &message);
  else if (json_object_has_member (vector->json, "items"))
    check_items (vector, &message);
  if (json_object_has_member (vector->json, "value"))
    check_value (vector, &message);
}

static void
check_invalid (const Vector *vector)
{
  g_autoptr (GError) error = NULL;
  IrisWireMessage message;
  gboolean in_body = g_str_equal (text_member (vector->json, "part"), "body");
  gboolean good = iris_wire_decode (vector->frames, vector->n_frames, &vector->limits, &message,
                                    &error);

  ck_assert_msg (good == in_body, "%s: %s", vector->name,
                 error != NULL ? error->message : "accepted");
  if (in_body && message.type == IRIS_WIRE_BATCH)
    {
      IrisWireBatchIter iter;
      ck_assert (!iris_wire_batch_iter_init (&iter, message.body, &vector->limits, &error));
    }
  else if (in_body && message.type == IRIS_WIRE_COMPLETIONS)
    {
      g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
      ck_assert (!read_completions (vector, &message, texts, &error));
    }
  else if (in_body)
    {
      g_autoptr (GBytes) body = rewrite_body (&message, &vector->limits, &error);
      ck_assert_ptr_null (body);
    }
  ck_assert_msg (error->domain == IRIS_WIRE_ERROR
                     && g_str_equal (iris_wire_error_name ((guint) error->code),
                                     text_member (vector->json, "code")),
                 "%s: %s", vector->name, error->message);
  if (json_object_has_member (vector->json, "limit"))
    {
      g_autofree char *limit = iris_wire_string_dup (&message.limit);
      ck_assert_str_eq (limit, text_member (vector->json, "limit"));
    }
}

START_TEST (each_vector_is_read_as_it_says)
{
  Vector vector;

  vector_init (&vector, (guint) _i);
  if (json_object_get_boolean_member (vector.json, "valid"))
    check_valid (&vector);
  else
    check_invalid (&vector);
  vector_clear (&vector);
}
END_TEST

START_TEST (the_vectors_have_every_type)
{
  gboolean seen[256] = { FALSE };

  for (guint i = 0; i < json_array_get_length (vectors); i++)
    {
      JsonObject *vector = json_array_get_object_element (vectors, i);
      JsonArray *frames = json_object_get_array_member (vector, "frames");
      if (!json_object_get_boolean_member (vector, "valid"))
        continue;
      guint64 type = g_ascii_strtoull (json_array_get_string_element (frames, 1), NULL, 16);
      ck_assert_uint_lt (type, G_N_ELEMENTS (seen));
      seen[type] = TRUE;
    }
  for (guint type = 0; type < 256; type++)
    ck_assert_msg (seen[type] == (iris_wire_type_name (type) != NULL), "type 0x%02x", type);
}
END_TEST

int
main (int argc, char **argv)
{
  g_autofree char *path = g_build_filename (argc > 1 ? argv[1] : ".", "tests", "vectors",
                                            "irs1.json", NULL);
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GError) error = NULL;

  if (!json_parser_load_from_file (parser, path, &error))
    g_error ("%s", error->message);
  vectors = json_object_get_array_member (json_node_get_object (json_parser_get_root (parser)),
                                          "vectors");

  Suite *suite = suite_create ("wire-vectors");
  TCase *tcase = tcase_create ("wire-vectors");
  tcase_add_loop_test (tcase, each_vector_is_read_as_it_says, 0,
                       (int) json_array_get_length (vectors));
  tcase_add_test (tcase, the_vectors_have_every_type);
  tcase_add_test (tcase, a_head_that_is_cut_is_refused);
  suite_add_tcase (suite, tcase);
  return core_test_run (suite);
}
