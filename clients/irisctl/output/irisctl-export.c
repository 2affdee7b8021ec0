/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Persistent items as lines of JSON, which submit can read: the members are called as its options
 * are.
 */
#include "clients/irisctl/output/irisctl-output.h"

#include <errno.h>
#include <string.h>

typedef enum
{
  AS_IT_IS,
  MILLISECONDS, /* given in seconds */
  WALL_TIME,    /* milliseconds since 1970, given in ISO 8601 */
  PLACE,        /* a number, given as text */
  NUMBER,       /* the same, without a sign */
  TAIL,         /* whether it is the policy that keeps the end alone */
} Form;

/* What the protocol calls it, and what irisctl does. */
static const struct
{
  const char *name;
  const char *member;
  Form form;
} members[] = {
  { "service", "service", AS_IT_IS },
  { "args", "args", AS_IT_IS },
  { "path", "path", AS_IT_IS },
  { "content-type", "content-type", AS_IT_IS },
  { "hint", "place", PLACE },
  { "hint-name", "place", AS_IT_IS },
  { "near-item", "near", NUMBER },
  { "near-path", "near", AS_IT_IS },
  { "node", "node", AS_IT_IS },
  { "any-node", "any-node", AS_IT_IS },
  { "traceparent", "traceparent", AS_IT_IS },
  { "tracestate", "tracestate", AS_IT_IS },
  { "strict", "strict", AS_IT_IS },
  { "footprint", "footprint", NUMBER },
  { "keep-apart", "keep-apart", AS_IT_IS },
  { "class", "class", AS_IT_IS },
  { "key", "key", AS_IT_IS },
  { "keep-ms", "keep", MILLISECONDS },
  { "keep-output", "keep-output", NUMBER },
  { "output-policy", "keep-tail", TAIL },
  { "bury", "bury", AS_IT_IS },
  { "hook", "hook", AS_IT_IS },
  { "delay-ms", "delay", MILLISECONDS },
  { "at-ms", "at", WALL_TIME },
  { "priority", "priority", AS_IT_IS },
  { "queue", "queue", AS_IT_IS },
  { "retries", "retries", AS_IT_IS },
  { "backoff-ms", "backoff", MILLISECONDS },
  { "time-to-run-ms", "time-to-run", MILLISECONDS },
  { "deadline-ms", "deadline", MILLISECONDS },
  { "wait-for-service", "wait-for-service", AS_IT_IS },
  { "directory", "directory", AS_IT_IS },
  { "environment", "env", AS_IT_IS },
  { "clear-environment", "clear-env", AS_IT_IS },
  { "nice", "nice", AS_IT_IS },
  { "limits", "limit", AS_IT_IS },
  { "time-limit-ms", "timeout", MILLISECONDS },
  { "grace-ms", "grace", MILLISECONDS },
};

static gboolean
add_text (JsonBuilder *builder, const char *text, gsize size)
{
  g_autofree char *copy = NULL;

  if (!g_utf8_validate_len (text, size, NULL))
    return FALSE;
  copy = g_strndup (text, size);
  json_builder_add_string_value (builder, copy);
  return TRUE;
}

static gboolean
add_list (JsonBuilder *builder, GVariant *list)
{
  gboolean well = TRUE;

  json_builder_begin_array (builder);
  for (gsize i = 0; i < g_variant_n_children (list); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (list, i);
      const char *text = g_variant_get_bytestring (element);

      well = add_text (builder, text, strlen (text)) && well;
    }
  json_builder_end_array (builder);
  return well;
}

static gboolean
add_as_it_is (JsonBuilder *builder, GVariant *value)
{
  if (g_variant_is_of_type (value, G_VARIANT_TYPE_STRING))
    json_builder_add_string_value (builder, g_variant_get_string (value, NULL));
  else if (g_variant_is_of_type (value, G_VARIANT_TYPE_BOOLEAN))
    json_builder_add_boolean_value (builder, g_variant_get_boolean (value));
  else if (g_variant_is_of_type (value, G_VARIANT_TYPE_INT32))
    json_builder_add_int_value (builder, g_variant_get_int32 (value));
  else if (g_variant_is_of_type (value, G_VARIANT_TYPE_UINT64))
    json_builder_add_int_value (builder, (gint64) g_variant_get_uint64 (value));
  else if (g_variant_is_of_type (value, G_VARIANT_TYPE_BYTESTRING_ARRAY))
    return add_list (builder, value);
  else
    {
      json_builder_add_null_value (builder); /* bytes that are no text */
      return FALSE;
    }
  return TRUE;
}

static void
add_wall_time (JsonBuilder *builder, guint64 ms)
{
  g_autoptr (GDateTime) second = g_date_time_new_from_unix_utc ((gint64) (ms / 1000));
  g_autofree char *text = second != NULL ? g_date_time_format (second, "%FT%T") : g_strdup ("");
  g_autofree char *whole = g_strdup_printf ("%s.%03uZ", text, (guint) (ms % 1000));

  json_builder_add_string_value (builder, whole);
}

static gboolean
add_member (JsonBuilder *builder, GVariant *value, Form form)
{
  g_autofree char *number = NULL;

  switch (form)
    {
    case MILLISECONDS:
      json_builder_add_double_value (builder, (double) g_variant_get_uint64 (value) / 1e3);
      return TRUE;
    case WALL_TIME:
      add_wall_time (builder, g_variant_get_uint64 (value));
      return TRUE;
    case PLACE:
      number = g_strdup_printf ("%d", g_variant_get_int32 (value));
      json_builder_add_string_value (builder, number);
      return TRUE;
    case NUMBER:
      number = g_strdup_printf ("%" G_GUINT64_FORMAT, g_variant_get_uint64 (value));
      json_builder_add_string_value (builder, number);
      return TRUE;
    case TAIL:
      json_builder_add_boolean_value (builder,
                                      g_str_equal (g_variant_get_string (value, NULL), "tail"));
      return TRUE;
    case AS_IT_IS:
    default:
      return add_as_it_is (builder, value);
    }
}

/* NULL if all could be said in JSON, else what could not. */
static const char *
describe (JsonBuilder *builder, GVariant *item)
{
  g_autoptr (GVariant) bytes = g_variant_lookup_value (item, "payload", G_VARIANT_TYPE_BYTESTRING);
  const char *unsaid = NULL;

  json_builder_begin_object (builder);
  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    {
      g_autoptr (GVariant) value = g_variant_lookup_value (item, members[i].name, NULL);

      /* No place is what absent means. */
      if (value == NULL || (members[i].form == PLACE && g_variant_get_int32 (value) < 0))
        continue;
      json_builder_set_member_name (builder, members[i].member);
      if (!add_member (builder, value, members[i].form))
        unsaid = members[i].member;
    }
  if (bytes != NULL && g_variant_get_size (bytes) > 0)
    {
      g_autoptr (GBytes) payload = g_variant_get_data_as_bytes (bytes);

      ctl_json_bytes (builder, "payload", payload);
    }
  json_builder_end_object (builder);
  return unsaid;
}

int
ctl_export_item (Ctl *ctl, guint64 number, FILE *out)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GVariant) item = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autofree char *line = NULL;
  const char *unsaid;

  iris_client_export_item_async (ctl->client, number, ctl->cancellable, ctl_take_result, &result);
  item = iris_client_export_item_finish (ctl->client, ctl_wait (&result), &error);
  if (item == NULL)
    return ctl_fail (ctl_exit_status (error), "item %" G_GUINT64_FORMAT ": %s", number,
                     error->message);
  unsaid = describe (builder, item);
  if (unsaid != NULL)
    return ctl_fail (CTL_FAILED,
                     "item %" G_GUINT64_FORMAT ": its %s is not UTF-8, which JSON has no way to "
                     "say; it is left out",
                     number, unsaid);
  line = ctl_json_to_text (builder, FALSE);
  if (fprintf (out, "%s\n", line) < 0)
    return ctl_fail (CTL_FAILED, "cannot write: %s", g_strerror (errno));

  return CTL_OK;
}
