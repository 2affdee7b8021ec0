/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An item as the command line or a line of a file describes it.
 */
#include "clients/irisctl/input/irisctl-input.h"

#include <gio/gunixinputstream.h>
#include <string.h>
#include <unistd.h>

typedef enum
{
  MEMBER_TEXT,
  MEMBER_NAME, /* a text, or a number */
  MEMBER_SIZE, /* a text, or a number of bytes */
  MEMBER_TIME, /* a text, or a number of seconds */
  MEMBER_INT,
  MEMBER_SECONDS,
  MEMBER_FLAG,
  MEMBER_LIST,  /* of texts and numbers; or one */
  MEMBER_PAIRS, /* a list of NAME=VALUE; or an object */
} MemberKind;

typedef struct
{
  const char *name;
  MemberKind kind;
  gsize offset;
} Member;

#define MEMBER(name, kind, field)                         \
  {                                                       \
    name, MEMBER_##kind, G_STRUCT_OFFSET (CtlItem, field) \
  }

/* Sorted as the manual page names them. */
static const Member members[] = {
  MEMBER ("service", TEXT, service),
  MEMBER ("payload", TEXT, payload),
  MEMBER ("payload-base64", TEXT, payload_base64),
  MEMBER ("path", TEXT, path),
  MEMBER ("args", LIST, args),
  MEMBER ("content-type", TEXT, content_type),
  MEMBER ("place", TEXT, place),
  MEMBER ("near", NAME, near),
  MEMBER ("node", TEXT, node),
  MEMBER ("any-node", FLAG, any_node),
  MEMBER ("traceparent", TEXT, traceparent),
  MEMBER ("tracestate", TEXT, tracestate),
  MEMBER ("strict", FLAG, strict),
  MEMBER ("footprint", SIZE, footprint.size),
  MEMBER ("keep-apart", FLAG, footprint.keep_apart),
  MEMBER ("class", TEXT, klass),
  MEMBER ("key", TEXT, key),
  MEMBER ("keep", TIME, keep),
  MEMBER ("keep-output", SIZE, keep_output),
  MEMBER ("keep-tail", FLAG, keep_tail),
  MEMBER ("bury", FLAG, bury),
  MEMBER ("hook", LIST, hook),
  MEMBER ("delay", TIME, schedule.delay),
  MEMBER ("at", TEXT, schedule.at),
  MEMBER ("priority", INT, schedule.priority),
  MEMBER ("queue", TEXT, schedule.queue),
  MEMBER ("after", LIST, schedule.after),
  MEMBER ("after-how", TEXT, schedule.after_how),
  MEMBER ("retries", INT, schedule.retries),
  MEMBER ("backoff", TIME, schedule.backoff),
  MEMBER ("time-to-run", TIME, schedule.time_to_run),
  MEMBER ("deadline", TIME, schedule.deadline),
  MEMBER ("wait-for-service", FLAG, schedule.wait_for_service),
  MEMBER ("directory", TEXT, command.directory),
  MEMBER ("env", PAIRS, command.variables),
  MEMBER ("clear-env", FLAG, command.clear_environment),
  MEMBER ("nice", INT, command.nice_by),
  MEMBER ("limit", PAIRS, command.limits),
  MEMBER ("timeout", SECONDS, command.timeout_s),
  MEMBER ("grace", SECONDS, command.grace_s),
};

void
ctl_item_memory_init (CtlItemMemory *self)
{
  self->strings = g_string_chunk_new (1024);
  self->lists = g_ptr_array_new_with_free_func (g_free);
}

void
ctl_item_memory_reset (CtlItemMemory *self)
{
  g_string_chunk_clear (self->strings);
  g_ptr_array_set_size (self->lists, 0);
}

void
ctl_item_memory_clear (CtlItemMemory *self)
{
  g_clear_pointer (&self->strings, g_string_chunk_free);
  g_clear_pointer (&self->lists, g_ptr_array_unref);
}

void
ctl_item_init (CtlItem *self, const Ctl *ctl)
{
  *self = (CtlItem){ .place = ctl->place,
                     .near = ctl->near,
                     .node = ctl->node,
                     .any_node = ctl->any_node,
                     .strict = ctl->strict,
                     .footprint = ctl->footprint,
                     .schedule = ctl->schedule,
                     .command = ctl->command };
  ctl_find_trace (ctl, &self->traceparent, &self->tracestate);
}

gboolean
ctl_item_is_persistent (const CtlItem *self)
{
  return self->klass == NULL || !g_str_equal (self->klass, "volatile");
}

static GType
type_of (JsonNode *node)
{
  return JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_INVALID;
}

/* A text, or a number as text; NULL if it is neither. */
static char *
text_of (JsonNode *node, CtlItemMemory *memory)
{
  GType type = type_of (node);
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  if (type == G_TYPE_STRING)
    return (char *) json_node_get_string (node);
  if (type == G_TYPE_INT64)
    g_snprintf (buffer, sizeof buffer, "%" G_GINT64_FORMAT, json_node_get_int (node));
  else if (type == G_TYPE_DOUBLE)
    g_ascii_formatd (buffer, sizeof buffer, "%.6f", json_node_get_double (node));
  else
    return NULL;

  return g_string_chunk_insert (memory->strings, buffer);
}

/* Room for @n texts and the end. */
static char **
new_list (CtlItemMemory *memory, guint n)
{
  char **list = g_new0 (char *, n + 1);

  g_ptr_array_add (memory->lists, list);

  return list;
}

static char **
read_list (JsonNode *node, CtlItemMemory *memory)
{
  JsonArray *array = JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  guint n = array != NULL ? json_array_get_length (array) : 1;
  char **list = new_list (memory, n);

  for (guint i = 0; i < n; i++)
    {
      list[i] = text_of (array != NULL ? json_array_get_element (array, i) : node, memory);
      if (list[i] == NULL)
        return NULL;
    }

  return list;
}

/* {"A": "x", "B": null} is A=x, B. */
static char **
read_pairs (JsonNode *node, CtlItemMemory *memory)
{
  JsonObject *object;
  JsonObjectIter iter;
  const char *name;
  JsonNode *value;
  char **list;
  guint n = 0;

  if (!JSON_NODE_HOLDS_OBJECT (node))
    return read_list (node, memory);
  object = json_node_get_object (node);
  list = new_list (memory, json_object_get_size (object));
  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &name, &value))
    {
      const char *text = JSON_NODE_HOLDS_NULL (value) ? "" : text_of (value, memory);
      g_autofree char *pair = NULL;

      if (text == NULL)
        return NULL;
      pair = g_strconcat (name, JSON_NODE_HOLDS_NULL (value) ? "" : "=", text, NULL);
      list[n++] = g_string_chunk_insert (memory->strings, pair);
    }

  return list;
}

static gboolean
read_member (CtlItem *self,
             const Member *member,
             JsonNode *node,
             CtlItemMemory *memory,
             GError **error)
{
  static const char *const wanted[] = {
    [MEMBER_TEXT] = "a string",
    [MEMBER_NAME] = "a path, or the number of an item",
    [MEMBER_SIZE] = "a size such as \"64M\", or a number of bytes",
    [MEMBER_TIME] = "a time such as \"5m\", or a number of seconds",
    [MEMBER_INT] = "a whole number",
    [MEMBER_SECONDS] = "a number of seconds",
    [MEMBER_FLAG] = "true or false",
    [MEMBER_LIST] = "an array of strings",
    [MEMBER_PAIRS] = "an object, or an array of strings such as \"NAME=VALUE\"",
  };
  gpointer field = (char *) self + member->offset;
  GType type = type_of (node);
  gboolean good = FALSE;

  switch (member->kind)
    {
    case MEMBER_TEXT:
    case MEMBER_NAME:
    case MEMBER_SIZE:
    case MEMBER_TIME:
      good = (member->kind != MEMBER_TEXT || type == G_TYPE_STRING)
             && (*(char **) field = text_of (node, memory)) != NULL;
      break;
    case MEMBER_INT:
      if ((good = type == G_TYPE_INT64))
        *(int *) field = (int) CLAMP (json_node_get_int (node), G_MININT, G_MAXINT);
      break;
    case MEMBER_SECONDS:
      if ((good = type == G_TYPE_INT64 || type == G_TYPE_DOUBLE))
        *(double *) field = json_node_get_double (node);
      break;
    case MEMBER_FLAG:
      if ((good = type == G_TYPE_BOOLEAN))
        *(gboolean *) field = json_node_get_boolean (node);
      break;
    case MEMBER_LIST:
      good = (*(char ***) field = read_list (node, memory)) != NULL;
      break;
    case MEMBER_PAIRS:
      good = (*(char ***) field = read_pairs (node, memory)) != NULL;
      break;
    }

  return good || ctl_refuse (error, "“%s” has to be %s", member->name, wanted[member->kind]);
}

/* Names with _ for - are as good. */
static gboolean
is_name (const char *name, const char *given)
{
  for (; *name != '\0' && (*name == *given || (*name == '-' && *given == '_')); name++, given++)
    ;

  return *name == '\0' && *given == '\0';
}

static const Member *
find_member (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    if (is_name (members[i].name, name))
      return &members[i];

  return NULL;
}

gboolean
ctl_item_read (CtlItem *self, JsonObject *object, CtlItemMemory *memory, GError **error)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *node;

  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &name, &node))
    {
      const Member *member = find_member (name);

      if (member == NULL)
        return ctl_refuse (error, "an item has no “%s”; irisctl(1) lists what it can have", name);
      if (!read_member (self, member, node, memory, error))
        return FALSE;
    }

  return TRUE;
}

static gboolean
set_kept_output (const CtlItem *self, IrisRequest *request, GError **error)
{
  guint64 size = G_MAXUINT64;

  if (self->keep_output == NULL && !self->keep_tail)
    return TRUE;
  if (!ctl_item_is_persistent (self) || !g_str_equal (self->service, "command"))
    return ctl_refuse (error,
                       "--keep-output and --keep-tail are for persistent items that are commands");
  if (self->keep_output != NULL && !ctl_parse_size (self->keep_output, &size))
    return ctl_refuse (error,
                       "--keep-output takes a number of bytes, or one with K, M or G, not “%s”",
                       self->keep_output);
  iris_request_set_keep_output (request, size, self->keep_tail);

  return TRUE;
}

static gboolean
set_keeping (const CtlItem *self, IrisRequest *request, GError **error)
{
  static const char *const classes[] = { "volatile", "relaxed", "durable", NULL };
  guint durability = IRIS_DURABILITY_DURABLE;
  guint64 keep_ms;

  if (!ctl_choose ("class", self->klass, classes, &durability, error))
    return FALSE;
  if (durability == IRIS_DURABILITY_VOLATILE
      && (self->detach || self->bury || self->key != NULL || self->keep != NULL))
    return ctl_refuse (error, "--detach, --bury, --key and --keep are for persistent items: choose "
                              "the class relaxed or durable");
  iris_request_set_durability (request, (IrisDurability) durability);
  iris_request_set_detached (request, self->detach);
  iris_request_set_bury (request, self->bury);
  iris_request_set_hook (request, (const char *const *) self->hook);
  iris_request_set_key (request, self->key);
  if (self->keep == NULL)
    return TRUE;
  if (!ctl_parse_duration (self->keep, &keep_ms))
    return ctl_refuse (error, "--keep takes a time such as 90, 5m, 2h or 1d, not “%s”", self->keep);
  iris_request_set_keep (request, keep_ms);

  return TRUE;
}

/* GLib passes over what it does not know. */
static gboolean
is_base64 (const char *text)
{
  gsize n = strlen (text);
  gsize n_digits = strspn (text,
                           "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");

  return n % 4 == 0 && n - n_digits <= 2 && strspn (text + n_digits, "=") == n - n_digits;
}

static gboolean
set_payload (const CtlItem *self, IrisRequest *request, GError **error)
{
  if ((self->bytes != NULL) + (self->payload != NULL) + (self->payload_base64 != NULL) > 1)
    return ctl_refuse (
        error,
        "the item has more than one payload: give one of payload, payload-base64 and a file");
  if (self->bytes != NULL)
    iris_request_set_payload (request, self->bytes);
  else if (self->payload != NULL)
    {
      g_autoptr (GBytes) bytes = g_bytes_new (self->payload, strlen (self->payload));

      iris_request_set_payload (request, bytes);
    }
  else if (self->payload_base64 != NULL)
    {
      gsize size;
      guchar *data = g_base64_decode (self->payload_base64, &size);
      g_autoptr (GBytes) bytes = g_bytes_new_take (data, size);

      if (!is_base64 (self->payload_base64))
        return ctl_refuse (error, "“payload-base64” is not base64");
      iris_request_set_payload (request, bytes);
    }

  return TRUE;
}

static gboolean
check (const CtlItem *self, GError **error)
{
  if (self->service == NULL || *self->service == '\0')
    return ctl_refuse (error, "the item names no service: add “service”");
  if (self->place != NULL && self->near != NULL)
    return ctl_refuse (error, "--place and --near exclude each other");
  if (self->any_node && (self->node != NULL || self->place != NULL || self->strict))
    return ctl_refuse (error, "--any-node excludes --node, --place and --strict");
  if (self->strict && self->place == NULL && self->near == NULL && self->node == NULL)
    return ctl_refuse (error, "--strict needs --place, --near or --node");
  if (g_str_equal (self->service, "command") && (self->args == NULL || self->args[0] == NULL))
    return ctl_refuse (error, "the service “command” needs a program: name it in the arguments");

  return ctl_footprint_validate (&self->footprint, error)
         && ctl_schedule_validate (&self->schedule, error)
         && ctl_command_check (&self->command, error);
}

IrisRequest *
ctl_item_make_request (const CtlItem *self, GError **error)
{
  g_autoptr (IrisRequest) request = NULL;

  if (!check (self, error))
    return NULL;
  request = iris_request_new (self->service);
  if (!iris_request_set_traceparent (request, self->traceparent, self->tracestate))
    {
      ctl_refuse (error, "the traceparent or the tracestate cannot be passed on: give version, "
                         "trace, span and flags, as in "
                         "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01, and at most 512 "
                         "bytes of tracestate");
      return NULL;
    }
  if (!set_keeping (self, request, error) || !set_kept_output (self, request, error)
      || !set_payload (self, request, error))
    return NULL;
  if (self->path != NULL)
    {
      g_autofree char *absolute = g_canonicalize_filename (self->path, NULL);

      iris_request_set_path (request, absolute);
    }
  if (self->args != NULL)
    iris_request_set_args (request, (const char *const *) self->args);
  if (self->content_type != NULL)
    iris_request_set_content_type (request, self->content_type);
  ctl_set_hint (request, self->place, self->near, self->strict);
  iris_request_set_node (request, self->node);
  iris_request_set_any_node (request, self->any_node);
  ctl_footprint_apply (&self->footprint, request);
  ctl_schedule_apply (&self->schedule, request);
  ctl_command_apply (&self->command, request);

  return g_steal_pointer (&request);
}

int
ctl_parse_item_number (const char *text, guint64 *number)
{
  if (g_ascii_string_to_unsigned (text, 10, 1, G_MAXUINT64, number, NULL))
    return CTL_OK;

  return ctl_fail (CTL_USAGE, "“%s” is not the number of an item: irisctl list prints the numbers",
                   text);
}

GArray *
ctl_parse_item_numbers (int argc, char **argv)
{
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (guint64));

  for (int i = 1; i < argc; i++)
    {
      guint64 number;

      if (ctl_parse_item_number (argv[i], &number) != CTL_OK)
        return NULL;
      g_array_append_val (numbers, number);
    }

  return g_steal_pointer (&numbers);
}

GBytes *
ctl_read_stdin (GError **error)
{
  g_autoptr (GInputStream) input = g_unix_input_stream_new (STDIN_FILENO, FALSE);
  g_autoptr (GOutputStream) output = g_memory_output_stream_new_resizable ();

  if (g_output_stream_splice (output, input, G_OUTPUT_STREAM_SPLICE_CLOSE_TARGET, NULL, error) < 0)
    return NULL;

  return g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (output));
}

GBytes *
ctl_read_file (const char *path, GError **error)
{
  char *data;
  gsize size;

  return g_file_get_contents (path, &data, &size, error) ? g_bytes_new_take (data, size) : NULL;
}
