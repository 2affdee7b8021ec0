/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the tests of the wire share.
 */
#include "wire-test-util.h"

#include "iris/wire/message/iris-wire-field-private.h"

#include <string.h>

const guint8 wire_test_types[] = { 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b,
                                   0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16,
                                   0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x21, 0x22,
                                   0x23, 0x24, 0x25, 0x27, 0x28, 0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e,
                                   0x81, 0x82, 0x83, 0x85, 0x86, 0x87, 0x89, 0x8b, 0x8c, 0x8d, 0x8e,
                                   0x90, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a,
                                   0x9b, 0x9c, 0x9d, 0x9e, 0x9f, 0xa0, 0xa1, 0xa2, 0xa3, 0xa7 };
const guint wire_test_n_types = G_N_ELEMENTS (wire_test_types);

guint32
wire_test_seed (void)
{
  const char *text = g_getenv ("IRIS_TEST_SEED");

  return text != NULL ? (guint32) g_ascii_strtoull (text, NULL, 0) : 20260401u;
}

/* Lengths around the places where msgpack changes its spelling, and around the default limit. */
static gsize
random_length (GRand *rand)
{
  static const gsize edges[] = { 0, 1, 7, 8, 9, 31, 32, 33, 255, 256, 257, 4095, 4096 };

  return g_rand_boolean (rand) ? edges[g_rand_int_range (rand, 0, G_N_ELEMENTS (edges))]
                               : (gsize) g_rand_int_range (rand, 0, 40);
}

static IrisWireString
random_string (GRand *rand, gboolean raw, GPtrArray *arena)
{
  gsize len = random_length (rand);
  char *text = g_malloc (len + 1);

  for (gsize i = 0; i < len; i++)
    text[i] = (char) g_rand_int_range (rand, 1, raw && len % 2 == 1 ? 256 : 128);
  if (!raw && len >= 2 && g_rand_boolean (rand))
    memcpy (text + g_rand_int_range (rand, 0, (gint32) len - 1), "\xc3\xa4", 2);
  text[len] = '\0';
  g_ptr_array_add (arena, text);
  return (IrisWireString){ text, len };
}

static guint64
random_uint (GRand *rand, const IrisWireField *field)
{
  guint64 any = (guint64) g_rand_int (rand) << 32 | g_rand_int (rand);
  guint64 least = field->min > 0 ? (guint64) field->min : 0;

  if (g_rand_int_range (rand, 0, 8) == 0)
    return g_rand_boolean (rand) ? least : field->max;
  any >>= g_rand_int_range (rand, 0, 64);
  return CLAMP (any, least, field->max);
}

static gint32
random_int (GRand *rand, const IrisWireField *field)
{
  gint64 any = (gint64) (gint32) g_rand_int (rand) >> g_rand_int_range (rand, 0, 32);

  if (g_rand_int_range (rand, 0, 8) == 0)
    any = g_rand_boolean (rand) ? field->min : (gint64) field->max;
  return (gint32) CLAMP (any, field->min, (gint64) field->max);
}

static void
random_args (GRand *rand, guint key, GPtrArray *arena, IrisWireMessage *message)
{
  guint n = (guint) g_rand_int_range (rand, 0, 5) * (guint) g_rand_int_range (rand, 0, 5);
  const char **strv = g_new0 (const char *, n + 1);

  for (guint i = 0; i < n; i++)
    strv[i] = random_string (rand, TRUE, arena).data;
  g_ptr_array_add (arena, strv);
  iris_wire_message_set_list (message, key, strv);
}

static void
random_numbers (GRand *rand, guint key, GPtrArray *arena, IrisWireMessage *message)
{
  guint n = (guint) g_rand_int_range (rand, 0, 5) * (guint) g_rand_int_range (rand, 0, 5);
  guint64 *values = g_new (guint64, n + 1);

  for (guint i = 0; i < n; i++)
    values[i] = ((guint64) g_rand_int (rand) << 32 | g_rand_int (rand))
                >> g_rand_int_range (rand, 0, 64);
  g_ptr_array_add (arena, values);
  iris_wire_message_set_numbers (message, key, values, n);
}

static void
random_field (GRand *rand, guint key, GPtrArray *arena, IrisWireMessage *message)
{
  const IrisWireField *field = &iris_wire_fields[key];
  guint8 id[IRIS_WIRE_ID_SIZE];
  IrisWireString string;

  switch ((IrisWireKind) field->kind)
    {
    case IRIS_WIRE_KIND_UINT32:
    case IRIS_WIRE_KIND_UINT64:
      iris_wire_message_set_uint (message, key, random_uint (rand, field));
      break;
    case IRIS_WIRE_KIND_INT32:
      iris_wire_message_set_int (message, key, random_int (rand, field));
      break;
    case IRIS_WIRE_KIND_BOOLEAN:
      iris_wire_message_set_boolean (message, key, g_rand_boolean (rand));
      break;
    case IRIS_WIRE_KIND_STRING:
    case IRIS_WIRE_KIND_RAW:
      string = random_string (rand, field->kind == IRIS_WIRE_KIND_RAW, arena);
      iris_wire_message_set_string (message, key, string.data, (gssize) string.len);
      break;
    case IRIS_WIRE_KIND_DATA:
      string = random_string (rand, TRUE, arena);
      iris_wire_message_set_string (message, key, string.data, (gssize) string.len);
      break;
    case IRIS_WIRE_KIND_ID:
      for (guint i = 0; i < sizeof id; i++)
        id[i] = (guint8) g_rand_int (rand);
      if (key == IRIS_WIRE_KEY_TARGET)
        iris_wire_message_set_target (message, id);
      else
        iris_wire_message_set_cluster_item (message, id);
      break;
    case IRIS_WIRE_KIND_ARGS:
      random_args (rand, key, arena, message);
      break;
    case IRIS_WIRE_KIND_NUMBERS:
      random_numbers (rand, key, arena, message);
      break;
    case IRIS_WIRE_KIND_NONE:
      g_assert_not_reached ();
    }
}

void
wire_test_random_message (GRand *rand, guint8 type, GPtrArray *arena, IrisWireMessage *message)
{
  const IrisWireTypeInfo *info = iris_wire_type_info (type);
  guint8 id[IRIS_WIRE_ID_SIZE];

  for (guint i = 0; i < sizeof id; i++)
    id[i] = (guint8) g_rand_int (rand);
  iris_wire_message_init (message, type, id);
  for (IrisWireKeys rest = info->allowed; rest != 0; rest &= rest - 1)
    {
      guint key = iris_wire_keys_first (rest);
      if ((info->required & IRIS_WIRE_BIT (key)) != 0 || g_rand_boolean (rand))
        random_field (rand, key, arena, message);
    }
  if (info->body && g_rand_boolean (rand))
    {
      IrisWireString body = random_string (rand, TRUE, arena);
      iris_wire_message_set_body (message, body.data, body.len);
    }
  if (type == IRIS_WIRE_HELLO && message->version_min > message->version_max)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_VERSION_MAX, message->version_min);
  if (type == IRIS_WIRE_ACK)
    {
      iris_wire_message_set_body (message, NULL, 0);
      iris_wire_message_set_uint (message, IRIS_WIRE_KEY_COUNT, MAX (message->count, 1));
      message->present |= IRIS_WIRE_BIT (IRIS_WIRE_KEY_TARGET);
    }
  if (type == IRIS_WIRE_CANCEL)
    {
      message->present &= ~IRIS_WIRE_BIT (IRIS_WIRE_KEY_ITEM);
      message->item = 0;
      message->present |= IRIS_WIRE_BIT (IRIS_WIRE_KEY_TARGET);
    }
  if (type == IRIS_WIRE_KICK)
    {
      message->present &= ~IRIS_WIRE_BIT (IRIS_WIRE_KEY_ITEM);
      message->item = 0;
      iris_wire_message_set_uint (message, IRIS_WIRE_KEY_STATE, IRIS_WIRE_STATE_BURIED);
    }
}

static gboolean
same_string (const IrisWireString *a, const IrisWireString *b)
{
  return a->len == b->len && (a->len == 0 || memcmp (a->data, b->data, a->len) == 0);
}

static gboolean
same_args (const IrisWireArgs *a, const IrisWireArgs *b)
{
  g_auto (GStrv) left = iris_wire_args_dup (a);
  g_auto (GStrv) right = iris_wire_args_dup (b);

  return a->n == b->n && g_strv_length (left) == a->n
         && g_strv_equal ((const char *const *) left, (const char *const *) right);
}

static gboolean
same_numbers (const IrisWireNumbers *a, const IrisWireNumbers *b)
{
  g_autofree guint64 *left = g_new (guint64, a->n);
  g_autofree guint64 *right = g_new (guint64, b->n);

  iris_wire_numbers_read (a, left);
  iris_wire_numbers_read (b, right);
  return a->n == b->n && (a->n == 0 || memcmp (left, right, a->n * sizeof *left) == 0);
}

static gboolean
same_field (const IrisWireMessage *a, const IrisWireMessage *b, const IrisWireField *field)
{
  static const gsize sizes[] = {
    [IRIS_WIRE_KIND_UINT32] = 4, [IRIS_WIRE_KIND_UINT64] = 8,
    [IRIS_WIRE_KIND_INT32] = 4,  [IRIS_WIRE_KIND_BOOLEAN] = sizeof (gboolean),
    [IRIS_WIRE_KIND_ID] = 16,    [IRIS_WIRE_KIND_ARGS] = 0
  };

  if (field->kind == IRIS_WIRE_KIND_NONE)
    return TRUE;
  if (field->kind == IRIS_WIRE_KIND_STRING || field->kind == IRIS_WIRE_KIND_RAW
      || field->kind == IRIS_WIRE_KIND_DATA)
    return same_string (IRIS_WIRE_CONST_FIELD (a, field, IrisWireString),
                        IRIS_WIRE_CONST_FIELD (b, field, IrisWireString));
  if (field->kind == IRIS_WIRE_KIND_ARGS)
    return same_args (IRIS_WIRE_CONST_FIELD (a, field, IrisWireArgs),
                      IRIS_WIRE_CONST_FIELD (b, field, IrisWireArgs));
  if (field->kind == IRIS_WIRE_KIND_NUMBERS)
    return same_numbers (IRIS_WIRE_CONST_FIELD (a, field, IrisWireNumbers),
                         IRIS_WIRE_CONST_FIELD (b, field, IrisWireNumbers));
  return memcmp (IRIS_WIRE_CONST_FIELD (a, field, char), IRIS_WIRE_CONST_FIELD (b, field, char),
                 sizes[field->kind])
         == 0;
}

const char *
wire_test_difference (const IrisWireMessage *a, const IrisWireMessage *b)
{
  if (a->type != b->type)
    return "type";
  if (memcmp (a->request_id, b->request_id, sizeof a->request_id) != 0)
    return "request id";
  if (a->present != b->present)
    return "presence";
  for (guint key = 0; key < IRIS_WIRE_N_KEYS; key++)
    {
      if (!same_field (a, b, &iris_wire_fields[key]))
        return iris_wire_fields[key].name;
    }
  if (a->body.size != b->body.size
      || (a->body.size > 0 && memcmp (a->body.data, b->body.data, a->body.size) != 0))
    return "body";
  return NULL;
}

GByteArray *
wire_test_from_hex (const char *hex)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();

  for (const char *at = hex; *at != '\0';)
    {
      if (*at == ' ')
        {
          at++;
          continue;
        }
      if (!g_ascii_isxdigit (at[0]) || !g_ascii_isxdigit (at[1]))
        return NULL;
      guint8 byte = (guint8) (g_ascii_xdigit_value (at[0]) << 4 | g_ascii_xdigit_value (at[1]));
      g_byte_array_append (bytes, &byte, 1);
      at += 2;
    }
  return g_steal_pointer (&bytes);
}

char *
wire_test_to_hex (const guint8 *data, gsize size)
{
  GString *hex = g_string_new (NULL);

  for (gsize i = 0; i < size; i++)
    g_string_append_printf (hex, "%02x", data[i]);
  return g_string_free (hex, FALSE);
}
