/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Our reader against msgpack-c's: whatever ours accepts, theirs must accept, and both must find the
 * same values. (The reverse does not hold: ours is stricter on purpose.)
 */
#include "core-test-run.h"
#include "wire-test-util.h"

#include "iris/wire/base/iris-wire-reader-private.h"

#include <check.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

#define N_CASES 100000
#define DEPTH   8

static gboolean
same_bytes (const IrisWireToken *token, const char *data, gsize size)
{
  return token->bytes.size == size && (size == 0 || memcmp (token->bytes.data, data, size) == 0);
}

/* Reads one value with our reader and compares it with theirs. */
static gboolean
same_value (IrisWireReader *reader, const msgpack_object *theirs, IrisWireCheck *check)
{
  IrisWireToken token;

  if (!iris_wire_reader_next (reader, &token, check))
    return FALSE;
  switch (theirs->type)
    {
    case MSGPACK_OBJECT_NIL:
      return token.type == IRIS_WIRE_TOKEN_NIL;
    case MSGPACK_OBJECT_BOOLEAN:
      return token.type == IRIS_WIRE_TOKEN_BOOLEAN && token.number == theirs->via.boolean;
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
      return token.type == IRIS_WIRE_TOKEN_UINT && token.number == theirs->via.u64;
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
      return token.type == IRIS_WIRE_TOKEN_NEGATIVE && (gint64) token.number == theirs->via.i64;
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64:
      return token.type == IRIS_WIRE_TOKEN_FLOAT;
    case MSGPACK_OBJECT_STR:
      return token.type == IRIS_WIRE_TOKEN_STRING
             && same_bytes (&token, theirs->via.str.ptr, theirs->via.str.size);
    case MSGPACK_OBJECT_BIN:
      return token.type == IRIS_WIRE_TOKEN_BINARY
             && same_bytes (&token, theirs->via.bin.ptr, theirs->via.bin.size);
    case MSGPACK_OBJECT_EXT:
      /* Ours leaves an extension's kind in front of its bytes. */
      return token.type == IRIS_WIRE_TOKEN_EXTENSION
             && token.bytes.size == theirs->via.ext.size + 1;
    case MSGPACK_OBJECT_ARRAY:
      if (token.type != IRIS_WIRE_TOKEN_ARRAY || token.number != theirs->via.array.size)
        return FALSE;
      for (guint32 i = 0; i < theirs->via.array.size; i++)
        {
          if (!same_value (reader, &theirs->via.array.ptr[i], check))
            return FALSE;
        }
      return TRUE;
    case MSGPACK_OBJECT_MAP:
      if (token.type != IRIS_WIRE_TOKEN_MAP || token.number != theirs->via.map.size)
        return FALSE;
      for (guint32 i = 0; i < theirs->via.map.size; i++)
        {
          if (!same_value (reader, &theirs->via.map.ptr[i].key, check)
              || !same_value (reader, &theirs->via.map.ptr[i].val, check))
            return FALSE;
        }
      return TRUE;
    }
  return FALSE;
}

static gboolean
ours_accepts (const guint8 *data, gsize size)
{
  IrisWireReader reader;
  IrisWireCheck check;

  iris_wire_check_init (&check, NULL, "test", NULL);
  iris_wire_reader_init (&reader, data, size);
  return iris_wire_reader_skip (&reader, DEPTH, &check)
         && iris_wire_reader_finish (&reader, &check);
}

/* Fails the test where the two disagree; returns whether ours accepted. */
static gboolean
compare (const guint8 *data, gsize size)
{
  if (!ours_accepts (data, size))
    return FALSE;

  msgpack_unpacked unpacked;
  size_t offset = 0;
  msgpack_unpacked_init (&unpacked);
  msgpack_unpack_return result = msgpack_unpack_next (&unpacked, (const char *) data, size,
                                                      &offset);
  g_autofree char *hex = wire_test_to_hex (data, size);
  ck_assert_msg (result == MSGPACK_UNPACK_SUCCESS && offset == size, "only ours accepts %s", hex);

  IrisWireReader reader;
  IrisWireCheck check;
  iris_wire_check_init (&check, NULL, "test", NULL);
  iris_wire_reader_init (&reader, data, size);
  ck_assert_msg (same_value (&reader, &unpacked.data, &check), "different values in %s", hex);
  msgpack_unpacked_destroy (&unpacked);
  return TRUE;
}

static void
append_byte (GByteArray *out, guint byte)
{
  guint8 one = (guint8) byte;

  g_byte_array_append (out, &one, 1);
}

/* A random legal value, in any of the spellings that msgpack allows. */
static void
append_value (GRand *rand, GByteArray *out, guint depth)
{
  static const guint8 heads[] = { 0xc0, 0xc2, 0xc3, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf, 0xd0, 0xd1,
                                  0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xc4, 0xc5, 0xc6, 0xc7,
                                  0xc8, 0xc9, 0xd9, 0xda, 0xdb, 0xdc, 0xdd, 0xde, 0xdf };
  static const guint8 fixed[256] = {
    [0xca] = 4, [0xcb] = 8, [0xcc] = 1, [0xcd] = 2, [0xce] = 4, [0xcf] = 8, [0xd0] = 1, [0xd1] = 2,
    [0xd2] = 4, [0xd3] = 8, [0xd4] = 2, [0xd5] = 3, [0xd6] = 5, [0xd7] = 9, [0xd8] = 17
  };
  static const guint8 widths[256] = {
    [0xc4] = 1, [0xc5] = 2, [0xc6] = 4, [0xc7] = 1, [0xc8] = 2, [0xc9] = 4, [0xd9] = 1,
    [0xda] = 2, [0xdb] = 4, [0xdc] = 2, [0xdd] = 4, [0xde] = 2, [0xdf] = 4
  };
  guint n = (guint) g_rand_int_range (rand, 0, 5);
  guint head = g_rand_boolean (rand) ? heads[g_rand_int_range (rand, 0, G_N_ELEMENTS (heads))]
                                     : (guint) g_rand_int_range (rand, 0, 256);

  if (head >= 0x80 && head < 0xa0)
    head = (head & 0xf0) | n;
  else if (head >= 0xa0 && head < 0xc0)
    head = 0xa0 | n;
  gboolean map = (head & 0xf0) == 0x80 || head == 0xde || head == 0xdf;
  gboolean list = map || (head & 0xf0) == 0x90 || head == 0xdc || head == 0xdd;
  if (list && depth == 0)
    head = n = 0;
  append_byte (out, head);
  for (guint i = 1; i < widths[head]; i++)
    append_byte (out, 0);
  if (widths[head] > 0)
    append_byte (out, n);
  if (list && head != 0)
    {
      for (guint i = 0; i < (map ? 2 * n : n); i++)
        append_value (rand, out, depth - 1);
      return;
    }
  guint bytes = fixed[head];
  if (widths[head] > 0 || (head & 0xe0) == 0xa0)
    bytes = n + (head >= 0xc7 && head <= 0xc9 ? 1 : 0);
  gboolean text = (head & 0xe0) == 0xa0 || (head >= 0xd9 && head <= 0xdb);
  for (guint i = 0; i < bytes; i++)
    append_byte (out, (guint) g_rand_int_range (rand, 1, text ? 128 : 256));
}

static void
mutate (GRand *rand, GByteArray *bytes)
{
  guint times = (guint) g_rand_int_range (rand, 1, 4);

  for (guint i = 0; i < times && bytes->len > 0; i++)
    {
      guint at = (guint) g_rand_int_range (rand, 0, (gint32) bytes->len);
      switch (g_rand_int_range (rand, 0, 4))
        {
        case 0:
          bytes->data[at] = (guint8) g_rand_int (rand);
          break;
        case 1:
          bytes->data[at] ^= (guint8) (1 << g_rand_int_range (rand, 0, 8));
          break;
        case 2:
          g_byte_array_remove_index (bytes, at);
          break;
        default:
          g_byte_array_set_size (bytes, at);
          break;
        }
    }
}

TEST (every_legal_value_is_read_as_msgpack_c_reads_it)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (wire_test_seed ());
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  guint accepted = 0;

  for (guint i = 0; i < N_CASES / 4; i++)
    {
      g_byte_array_set_size (bytes, 0);
      append_value (rand, bytes, DEPTH - 1);
      /* The generator may have picked 0xc1, the only head that is not legal, somewhere. */
      gboolean reserved = bytes->len > 0 && memchr (bytes->data, 0xc1, bytes->len) != NULL;
      gboolean good = compare (bytes->data, bytes->len);
      if (!good && !reserved)
        {
          g_autofree char *hex = wire_test_to_hex (bytes->data, bytes->len);
          ck_abort_msg ("refused: %s", hex);
        }
      accepted += good;
    }
  ck_assert_uint_gt (accepted, N_CASES / 8);
}

TEST (what_is_accepted_of_mutated_and_random_input_msgpack_c_accepts_too)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (wire_test_seed () + 1);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  guint accepted = 0;

  for (guint i = 0; i < N_CASES; i++)
    {
      g_byte_array_set_size (bytes, 0);
      if (i % 4 == 0)
        {
          for (gint n = g_rand_int_range (rand, 1, 24); n > 0; n--)
            append_byte (bytes, g_rand_int (rand));
        }
      else
        {
          append_value (rand, bytes, DEPTH - 1);
          mutate (rand, bytes);
        }
      accepted += compare (bytes->data, bytes->len);
    }
  /* The comparison means something only if a good part gets that far, and a good part does not. */
  ck_assert_uint_gt (accepted, N_CASES / 20);
  ck_assert_uint_lt (accepted, N_CASES - N_CASES / 20);
}

TEST (what_the_encoder_writes_msgpack_c_reads)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (wire_test_seed () + 2);
  g_auto (IrisWireEncoder) encoder;

  iris_wire_encoder_init (&encoder, NULL);
  for (guint i = 0; i < 4000; i++)
    {
      g_autoptr (GPtrArray) arena = g_ptr_array_new_with_free_func (g_free);
      IrisWireMessage message;
      wire_test_random_message (rand, wire_test_types[i % wire_test_n_types], arena, &message);
      if (iris_wire_encode (&encoder, &message, NULL))
        ck_assert (compare (encoder.frames[3].data, encoder.frames[3].size));
    }
}

TEST_MAIN ("wire-differential", NULL, NULL)
