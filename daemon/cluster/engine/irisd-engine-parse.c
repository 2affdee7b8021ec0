/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What servers send, parsed; see irisd-engine-parse.h.
 *
 * An answer to a publication has one short form, {"stream":"IRIS","seq":17}, which is read by hand:
 * it comes for each item, and json-glib needs a dozen allocations for it. Every other form goes to
 * json-glib.
 */
#include "daemon/cluster/engine/irisd-engine-parse.h"
#include "daemon/cluster/engine/irisd-engine.h"

#include "iris/wire/base/iris-wire-json-private.h"

#include <string.h>

/* clang-format off */
G_DEFINE_QUARK (irisd-engine-error-quark, irisd_engine_error)
G_DEFINE_QUARK (irisd-jetstream-error-quark, irisd_jetstream_error)
/* clang-format on */

#define ACK_PREFIX "$JS.ACK."

gboolean
irisd_engine_parse_number (const char *text, guint64 *number)
{
  return text && g_ascii_string_to_unsigned (text, 10, 0, G_MAXUINT64, number, NULL);
}

/* Reads digits up to a dot or the end, and moves behind the dot. */
static gboolean
read_token (const char **text, guint64 *number)
{
  const char *c = *text;

  *number = 0;
  if (!g_ascii_isdigit (*c))
    return FALSE;
  for (; g_ascii_isdigit (*c); c++)
    {
      guint64 digit = (guint64) (*c - '0');
      if (*number > (G_MAXUINT64 - digit) / 10)
        return FALSE;
      *number = *number * 10 + digit;
    }
  if (*c != '.' && *c != '\0')
    return FALSE;
  *text = *c == '.' ? c + 1 : c;
  return TRUE;
}

gboolean
irisd_delivery_parse (IrisdDelivery *self, const char *ack_subject)
{
  guint n_tokens = 1, skipped;
  guint64 time;
  const char *text = ack_subject;

  if (!ack_subject || !g_str_has_prefix (ack_subject, ACK_PREFIX))
    return FALSE;
  for (const char *c = ack_subject; *c; c++)
    n_tokens += *c == '.';
  /* 9 tokens; 11 with domain and account hash, or 12 with a random one at the end. */
  if (n_tokens != 9 && n_tokens != 11 && n_tokens != 12)
    return FALSE;
  skipped = n_tokens == 9 ? 4 : 6;
  for (; skipped; text++)
    skipped -= *text == '.';
  if (!read_token (&text, &self->n_delivered) || !read_token (&text, &self->stream_sequence)
      || !read_token (&text, &self->consumer_sequence) || !read_token (&text, &time)
      || !read_token (&text, &self->n_pending))
    return FALSE;
  self->time_ns = (gint64) MIN (time, (guint64) G_MAXINT64);
  return n_tokens == 12 || *text == '\0';
}

/* ---- JSON ---- */

gint64
irisd_json_get_int (JsonObject *object, const char *name)
{
  JsonNode *node = json_object_get_member (object, name);

  return node && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_INT64
             ? json_node_get_int (node)
             : 0;
}

const char *
irisd_json_get_string (JsonObject *object, const char *name)
{
  JsonNode *node = json_object_get_member (object, name);

  return node && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING
             ? json_node_get_string (node)
             : NULL;
}

JsonObject *
irisd_json_get_object (JsonObject *object, const char *name)
{
  JsonNode *node = json_object_get_member (object, name);

  return node && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
}

static JsonObject *
parse_object (const char *data, gsize length)
{
  g_autoptr (JsonParser) parser = json_parser_new_immutable ();
  JsonNode *root;

  /* It is text for json-glib, and C strings end at a NUL. */
  if (length > G_MAXSSIZE || memchr (data, '\0', length)
      || !g_utf8_validate (data, (gssize) length, NULL)
      || iris_wire_json_fault (data, length) != NULL
      || !json_parser_load_from_data (parser, data, (gssize) length, NULL))
    return NULL;
  root = json_parser_get_root (parser);
  return root && JSON_NODE_HOLDS_OBJECT (root) ? json_object_ref (json_node_get_object (root))
                                               : NULL;
}

JsonObject *
irisd_engine_parse_reply (const char *data, gsize length, GError **error)
{
  g_autoptr (JsonObject) reply = length ? parse_object (data, length) : NULL;
  JsonObject *refusal;

  if (!reply)
    {
      g_set_error (error, IRISD_ENGINE_ERROR, IRISD_ENGINE_ERROR_MALFORMED,
                   "The answer of %" G_GSIZE_FORMAT " bytes is no JSON object", length);
      return NULL;
    }
  if ((refusal = irisd_json_get_object (reply, "error")))
    {
      const char *description = irisd_json_get_string (refusal, "description");
      gint64 code = irisd_json_get_int (refusal, "err_code");
      g_set_error (error, IRISD_JETSTREAM_ERROR, (gint) CLAMP (code, 0, G_MAXINT),
                   "JetStream: %s (%" G_GINT64_FORMAT ")", description ? description : "an error",
                   code);
      return NULL;
    }
  return g_steal_pointer (&reply);
}

/* {"stream":"…","seq":N} with an optional "duplicate":true, as servers write it. */
static gboolean
read_short_ack (IrisdPubAck *self, const char *data, gsize length)
{
  static const char head[] = "{\"stream\":\"",
                    middle[] = "\",\"seq\":", twice[] = ",\"duplicate\":true";
  const char *c = data, *end = data + length;

  if (length < sizeof head - 1 || memcmp (c, head, sizeof head - 1) != 0)
    return FALSE;
  c += sizeof head - 1;
  while (c < end && *c != '"' && *c != '\\')
    c++;
  if ((gsize) (end - c) < sizeof middle - 1 || memcmp (c, middle, sizeof middle - 1) != 0)
    return FALSE;
  c += sizeof middle - 1;
  if (c == end || !g_ascii_isdigit (*c))
    return FALSE;
  for (; c < end && g_ascii_isdigit (*c); c++)
    {
      if (self->sequence > (G_MAXINT64 - 9) / 10)
        return FALSE;
      self->sequence = self->sequence * 10 + (guint64) (*c - '0');
    }
  if ((gsize) (end - c) > sizeof twice - 1 && memcmp (c, twice, sizeof twice - 1) == 0)
    {
      self->duplicate = TRUE;
      c += sizeof twice - 1;
    }
  return self->sequence > 0 && end - c == 1 && *c == '}';
}

gboolean
irisd_pub_ack_parse (IrisdPubAck *self, const char *data, gsize length)
{
  g_autoptr (JsonObject) reply = NULL;
  JsonObject *refusal;
  gint64 number;

  *self = (IrisdPubAck){ .stored = TRUE };
  if (read_short_ack (self, data, length))
    return TRUE;
  *self = (IrisdPubAck){ 0 };
  if (length == 0 || !(reply = parse_object (data, length)))
    return FALSE;
  if ((refusal = irisd_json_get_object (reply, "error")))
    {
      self->code = (gint) CLAMP (irisd_json_get_int (refusal, "code"), 0, G_MAXINT);
      self->err_code = (gint) CLAMP (irisd_json_get_int (refusal, "err_code"), 0, G_MAXINT);
      self->description = g_strdup (irisd_json_get_string (refusal, "description"));
      return TRUE;
    }
  number = irisd_json_get_int (reply, "seq");
  if (number <= 0 || !irisd_json_get_string (reply, "stream"))
    return FALSE;
  self->stored = TRUE;
  self->sequence = (guint64) number;
  self->duplicate = json_object_has_member (reply, "duplicate")
                    && json_node_get_boolean (json_object_get_member (reply, "duplicate"));
  return TRUE;
}

void
irisd_pub_ack_clear (IrisdPubAck *self)
{
  g_clear_pointer (&self->description, g_free);
}

/* ---- Headers ---- */

static gboolean
has (const char *text, const char *part)
{
  return text && strstr (text, part);
}

IrisdPullStatus
irisd_pull_status_parse (const char *code, const char *description)
{
  guint64 number;

  if (!irisd_engine_parse_number (code, &number))
    return IRISD_PULL_STATUS_REFUSED;
  switch (number)
    {
    case 100:
      return IRISD_PULL_STATUS_HEARTBEAT;
    case 404:
    case 408:
      return IRISD_PULL_STATUS_EXPIRED;
    case 503:
      return IRISD_PULL_STATUS_NO_LEADER;
    case 409:
      if (has (description, "Batch Completed") || has (description, "Interest Expired"))
        return IRISD_PULL_STATUS_EXPIRED;
      if (has (description, "Exceeded MaxWaiting"))
        return IRISD_PULL_STATUS_CROWDED;
      if (has (description, "Consumer Deleted"))
        return IRISD_PULL_STATUS_GONE;
      if (has (description, "Leadership Change") || has (description, "Server Shutdown"))
        return IRISD_PULL_STATUS_AGAIN;
      return IRISD_PULL_STATUS_REFUSED;
    default:
      return IRISD_PULL_STATUS_REFUSED;
    }
}

gboolean
irisd_engine_parse_time (const char *text, gint64 *time_ns)
{
  g_autoptr (GDateTime) time = text ? g_date_time_new_from_iso8601 (text, NULL) : NULL;
  const char *fraction;
  gint64 nanoseconds = 0, unit = 100000000;

  if (!time)
    return FALSE;
  /* GDateTime keeps microseconds. */
  if ((fraction = strchr (text, '.')))
    for (fraction++; g_ascii_isdigit (*fraction); fraction++, unit /= 10)
      nanoseconds += (*fraction - '0') * unit;
  /* 64 bits of nanoseconds end in the year 2262. */
  return !__builtin_mul_overflow (g_date_time_to_unix (time), G_GINT64_CONSTANT (1000000000),
                                  time_ns)
         && !__builtin_add_overflow (*time_ns, nanoseconds, time_ns);
}

/* ---- Tokens ---- */

static const char letters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

void
irisd_token_write (guint64 number, char *token)
{
  for (gint i = IRISD_TOKEN_LENGTH - 1; i >= 0; i--, number >>= 6)
    token[i] = letters[number & 63];
}

gboolean
irisd_token_parse (const char *token, guint64 *number)
{
  *number = 0;
  for (guint i = 0; i < IRISD_TOKEN_LENGTH; i++)
    {
      char c = token[i];
      guint digit;
      if (g_ascii_isdigit (c))
        digit = (guint) (c - '0');
      else if (g_ascii_isupper (c))
        digit = (guint) (c - 'A') + 10;
      else if (g_ascii_islower (c))
        digit = (guint) (c - 'a') + 36;
      else if (c == '-' || c == '_')
        digit = c == '-' ? 62 : 63;
      else
        return FALSE;
      if (i == 0 && digit > 15)
        return FALSE;
      *number = *number << 6 | digit;
    }
  return token[IRISD_TOKEN_LENGTH] == '\0';
}

gint
irisd_version_compare (const char *a, const char *b)
{
  for (guint part = 0; part < 3; part++)
    {
      char *a_end = NULL, *b_end = NULL;
      guint64 x = g_ascii_isdigit (*a) ? g_ascii_strtoull (a, &a_end, 10) : 0;
      guint64 y = g_ascii_isdigit (*b) ? g_ascii_strtoull (b, &b_end, 10) : 0;
      if (x != y)
        return x < y ? -1 : 1;
      a = a_end && *a_end == '.' ? a_end + 1 : "";
      b = b_end && *b_end == '.' ? b_end + 1 : "";
    }
  return 0;
}
