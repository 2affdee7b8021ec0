/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the decoder refuses, with which code and which words; every limit at its edge and one
 * beyond.
 */
#include "core-test-run.h"
#include "wire-test-util.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const guint8 id[16] = { 0xa0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

/* Decodes a message of `type` with that header. */
static gboolean
decode_header (guint8 type,
               IrisWireFrame header,
               const IrisWireLimits *limits,
               IrisWireMessage *out,
               GError **error)
{
  IrisWireFrame frames[5] = {
    { (const guint8 *) "IRS1", 4 }, { &type, 1 }, { id, sizeof id }, header, { NULL, 0 }
  };

  return iris_wire_decode (frames, 5, limits, out, error);
}

typedef struct
{
  guint8 type;
  const char *header;
  guint code; /* 0: to be accepted */
  const char *words;
} HeaderCase;

static const HeaderCase header_cases[] = {
  /* The smallest SUBMIT, and every legal way to write its parts. */
  { 0x03, "81 0a a0", 0, NULL },
  { 0x03, "de0001 0a a0", 0, NULL },
  { 0x03, "df00000001 0a a0", 0, NULL },
  { 0x03, "81 cc0a a0", 0, NULL },
  { 0x03, "81 cd000a d900", 0, NULL },
  { 0x03, "81 ce0000000a da0000", 0, NULL },
  { 0x03, "81 cf000000000000000a db00000000", 0, NULL },
  { 0x03, "81 d00a a0", 0, NULL },
  { 0x03, "81 d1000a a0", 0, NULL },
  { 0x03, "81 d20000000a a0", 0, NULL },
  { 0x03, "81 d3000000000000000a a0", 0, NULL },
  { 0x03, "82 0a a0 0b ff", 0, NULL },
  { 0x03, "82 0a a0 0b d0ff", 0, NULL },
  { 0x03, "82 0a a0 0b d3ffffffffffffffff", 0, NULL },
  { 0x03, "82 0a a0 0b cf000000007fffffff", 0, NULL },
  { 0x03, "82 0a a0 0f c40161", 0, NULL },
  { 0x03, "82 0a a0 0f a161", 0, NULL },
  { 0x03, "82 0a a0 0e 92 a161 c401ff", 0, NULL },
  /* Unknown keys are passed over whatever they hold, also twice, also keys of other types. */
  { 0x03, "83 0a a0 11 c0 11 c3", 0, NULL },
  { 0x03, "82 0a a0 11 cb3ff0000000000000", 0, NULL },
  { 0x03, "82 0a a0 11 ca3f800000", 0, NULL },
  { 0x03, "82 0a a0 11 d40100", 0, NULL },
  { 0x03, "82 0a a0 11 c7030100aabb", 0, NULL },
  { 0x03, "82 0a a0 11 82 c0 c0 91 93c0c2c3 d0ff", 0, NULL },
  { 0x03, "82 0a a0 cf00000001 00000000 c0", 0, NULL },
  { 0x03, "82 0a a0 01 c0", 0, NULL },
  { 0x02, "80", 0, NULL },
  /* Not a map, cut off, too long. */
  { 0x03, "", IRIS_WIRE_ERROR_MALFORMED, "ends within a value" },
  { 0x03, "c0", IRIS_WIRE_ERROR_MALFORMED, "should be a map but is nil" },
  { 0x03, "90", IRIS_WIRE_ERROR_MALFORMED, "should be a map but is an array" },
  { 0x03, "c1", IRIS_WIRE_ERROR_MALFORMED, "0xc1" },
  { 0x03, "81", IRIS_WIRE_ERROR_MALFORMED, "ends within" },
  { 0x03, "81 0a", IRIS_WIRE_ERROR_MALFORMED, "ends within" },
  { 0x03, "81 0a a5 6161", IRIS_WIRE_ERROR_MALFORMED, "byte 2 claims more than follows" },
  { 0x03, "81 0a d9", IRIS_WIRE_ERROR_MALFORMED, "ends within" },
  { 0x03, "81 0a dbffffffff 61", IRIS_WIRE_ERROR_MALFORMED, "ends within" },
  { 0x03, "dfffffffff 0a a0", IRIS_WIRE_ERROR_MALFORMED, "ends within" },
  { 0x03, "82 0a a0 11 ddffffffff c0", IRIS_WIRE_ERROR_MALFORMED, "ends within" },
  { 0x03, "82 0a a0 11 cf00", IRIS_WIRE_ERROR_MALFORMED, "ends within" },
  { 0x03, "82 0a a0 11 c9ffffffff01", IRIS_WIRE_ERROR_MALFORMED, "ends within" },
  { 0x03, "82 0a a0 11 d801", IRIS_WIRE_ERROR_MALFORMED, "ends within" },
  { 0x03, "82 0a a0 11 c1", IRIS_WIRE_ERROR_MALFORMED, "0xc1" },
  { 0x03, "81 0a a0 00", IRIS_WIRE_ERROR_MALFORMED, "1 bytes follow after the end" },
  { 0x02, "80 80", IRIS_WIRE_ERROR_MALFORMED, "follow after the end" },
  /* Keys. */
  { 0x03, "80", IRIS_WIRE_ERROR_MALFORMED, "key 10 (service) is missing" },
  { 0x03, "82 0a a0 0a a0", IRIS_WIRE_ERROR_MALFORMED, "key 10 (service) is there twice" },
  { 0x03, "82 0a a0 cc0a a0", IRIS_WIRE_ERROR_MALFORMED, "key 10 (service) is there twice" },
  { 0x03, "82 0a a0 a161 c0", IRIS_WIRE_ERROR_MALFORMED,
    "a key of the header should be an unsigned integer" },
  { 0x03, "82 0a a0 ff c0", IRIS_WIRE_ERROR_MALFORMED, "but is a negative integer" },
  { 0x03, "82 0a a0 c0 c0", IRIS_WIRE_ERROR_MALFORMED, "but is nil" },
  { 0x03, "82 0a a0 ca3f800000 c0", IRIS_WIRE_ERROR_MALFORMED, "but is a float" },
  /* Types of values. */
  { 0x03, "81 0a 01", IRIS_WIRE_ERROR_MALFORMED,
    "key 10 (service) should be a string but is an unsigned integer" },
  { 0x03, "81 0a c40161", IRIS_WIRE_ERROR_MALFORMED,
    "key 10 (service) should be a string but is binary" },
  { 0x03, "82 0a a0 0b a131", IRIS_WIRE_ERROR_MALFORMED,
    "key 11 (hint) should be an integer but is a string" },
  { 0x03, "82 0a a0 0b ca3f800000", IRIS_WIRE_ERROR_MALFORMED, "but is a float" },
  { 0x03, "82 0a a0 0c 01", IRIS_WIRE_ERROR_MALFORMED, "key 12 (strict) should be a boolean" },
  { 0x03, "82 0a a0 0c c0", IRIS_WIRE_ERROR_MALFORMED, "but is nil" },
  { 0x03, "82 0a a0 0e a161", IRIS_WIRE_ERROR_MALFORMED, "key 14 (args) should be an array" },
  { 0x03, "82 0a a0 0e 91 01", IRIS_WIRE_ERROR_MALFORMED,
    "key 14 (args) should be a string or binary" },
  { 0x03, "82 0a a0 0e 91 90", IRIS_WIRE_ERROR_MALFORMED, "key 14 (args)" },
  { 0x03, "82 0a a0 0f 90", IRIS_WIRE_ERROR_MALFORMED,
    "key 15 (path) should be a string or binary" },
  { 0x05, "81 32 ff", IRIS_WIRE_ERROR_MALFORMED, "key 50 (count) should be an unsigned integer" },
  { 0x06, "81 33 c40100", IRIS_WIRE_ERROR_MALFORMED,
    "key 51 (target) should be binary of 16 bytes" },
  { 0x06, "81 33 b0 61616161616161616161616161616161", IRIS_WIRE_ERROR_MALFORMED,
    "key 51 (target)" },
  /* Text. */
  { 0x03, "81 0a a1ff", IRIS_WIRE_ERROR_MALFORMED, "not valid UTF-8" },
  { 0x03, "81 0a a2c328", IRIS_WIRE_ERROR_MALFORMED, "not valid UTF-8" },
  { 0x03, "81 0a a3eda080", IRIS_WIRE_ERROR_MALFORMED, "not valid UTF-8" },
  { 0x03, "81 0a a100", IRIS_WIRE_ERROR_MALFORMED, "NUL" },
  { 0x03, "81 0a aa61616161616161610061", IRIS_WIRE_ERROR_MALFORMED, "NUL" },
  { 0x03, "81 0a aa61616161616161618061", IRIS_WIRE_ERROR_MALFORMED, "UTF-8" },
  { 0x03, "81 0a aa61616100616161616161", IRIS_WIRE_ERROR_MALFORMED, "NUL" },
  { 0x03, "82 0a a0 11 a1ff", IRIS_WIRE_ERROR_MALFORMED, "not valid UTF-8" },
  { 0x03, "82 0a a0 0f c403610061", IRIS_WIRE_ERROR_MALFORMED, "key 15 (path) holds a NUL byte" },
  { 0x03, "82 0a a0 0f a3610061", IRIS_WIRE_ERROR_MALFORMED, "NUL" },
  /* Ranges. */
  { 0x03, "82 0a a0 0b fe", IRIS_WIRE_ERROR_BAD_ARGUMENT,
    "key 11 (hint) must be -1 to 2147483647" },
  { 0x03, "82 0a a0 0b ce80000000", IRIS_WIRE_ERROR_BAD_ARGUMENT, "key 11 (hint) must be" },
  { 0x03, "82 0a a0 0b cfffffffffffffffff", IRIS_WIRE_ERROR_BAD_ARGUMENT, "key 11 (hint) must be" },
  { 0x03, "82 0a a0 0b d38000000000000000", IRIS_WIRE_ERROR_BAD_ARGUMENT, "key 11 (hint) must be" },
  { 0x05, "82 32 00 33 c410 00000000000000000000000000000000", IRIS_WIRE_ERROR_BAD_ARGUMENT,
    "key 50 (count) must be 1 or more" },
  { 0x05, "81 32 02", IRIS_WIRE_ERROR_MALFORMED, "has to name what is acknowledged" },
  { 0x05, "81 32 cf0000000100000000", IRIS_WIRE_ERROR_BAD_ARGUMENT,
    "key 50 (count) must be 0 to 4294967295" },
  { 0x01, "82 01 02 02 01", IRIS_WIRE_ERROR_BAD_ARGUMENT, "must not exceed key 2" },
  { 0x01, "82 01 00 02 01", IRIS_WIRE_ERROR_BAD_ARGUMENT, "key 1 (version-min) must be 1 to" },
  { 0x85, "81 34 0a", IRIS_WIRE_ERROR_BAD_ARGUMENT, "key 52 (state) must be 1 to 9" },
  { 0x0e, "80", IRIS_WIRE_ERROR_BAD_ARGUMENT, "either key 63 (item) or key 52 (state)" },
  { 0x0e, "82 34 08 3f 07", IRIS_WIRE_ERROR_BAD_ARGUMENT, "either key 63 (item) or key 52" },
  { 0x0e, "81 34 03", IRIS_WIRE_ERROR_BAD_ARGUMENT, "must be 6 (delayed) or 8 (buried)" },
};

LOOP_TEST (each_bad_header_is_refused_with_its_code_and_words, 0, G_N_ELEMENTS (header_cases))
{
  const HeaderCase *test = &header_cases[_i];
  g_autoptr (GByteArray) header = wire_test_from_hex (test->header);
  g_autoptr (GError) error = NULL;
  IrisWireMessage out;

  ck_assert_ptr_nonnull (header);
  gboolean good = decode_header (test->type, wire_test_frame (header), NULL, &out, &error);
  ck_assert_msg (good == (test->code == 0), "header %s: %s", test->header,
                 error != NULL ? error->message : "accepted");
  ck_assert_mem_eq (out.request_id, id, sizeof id);
  ck_assert_uint_eq (out.type, test->type);
  if (good)
    return;
  ck_assert_msg (error->domain == IRIS_WIRE_ERROR && error->code == (int) test->code,
                 "header %s: %s", test->header, error->message);
  ck_assert_msg (strstr (error->message, test->words) != NULL, "header %s: \"%s\" lacks \"%s\"",
                 test->header, error->message, test->words);
  ck_assert (out.present == 0);
}

TEST (a_wrong_number_of_frames_is_refused)
{
  IrisWireFrame frames[8] = { { (const guint8 *) "IRS1", 4 },
                              { (const guint8 *) "\x09", 1 },
                              { id, sizeof id },
                              { (const guint8 *) "\x80", 1 },
                              { NULL, 0 },
                              { NULL, 0 } };

  for (guint n = 0; n <= 8; n++)
    {
      g_autoptr (GError) error = NULL;
      IrisWireMessage out;
      gboolean good = iris_wire_decode (frames, n, NULL, &out, &error);
      ck_assert_int_eq (good, n == 5);
      ck_assert (good || g_error_matches (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_MALFORMED));
      /* What an answer needs is there as soon as its frame is. */
      ck_assert_uint_eq (out.request_id[0], n > 2 ? 0xa0 : 0);
      ck_assert_uint_eq (out.type, n > 1 ? 0x09 : 0);
    }
  ck_assert (!iris_wire_decode (NULL, 0, NULL, &(IrisWireMessage){ 0 }, NULL));
}

typedef struct
{
  guint frame;
  const char *bytes;
  gsize size;
  guint code;
} FrameCase;

static const FrameCase frame_cases[] = {
  { 0, "", 0, IRIS_WIRE_ERROR_MALFORMED },
  { 0, "IRS", 3, IRIS_WIRE_ERROR_MALFORMED },
  { 0, "IRS11", 5, IRIS_WIRE_ERROR_MALFORMED },
  { 0, "GET ", 4, IRIS_WIRE_ERROR_MALFORMED },
  { 0, "irs1", 4, IRIS_WIRE_ERROR_MALFORMED },
  { 0, "IRS2", 4, IRIS_WIRE_ERROR_VERSION },
  { 0, "IRS0", 4, IRIS_WIRE_ERROR_VERSION },
  { 0, "IRSx", 4, IRIS_WIRE_ERROR_MALFORMED },
  { 1, "", 0, IRIS_WIRE_ERROR_MALFORMED },
  { 1, "\x09\x09", 2, IRIS_WIRE_ERROR_MALFORMED },
  { 1, "\x00", 1, IRIS_WIRE_ERROR_UNKNOWN_TYPE },
  { 1, "\x3f", 1, IRIS_WIRE_ERROR_UNKNOWN_TYPE },
  { 1, "\x80", 1, IRIS_WIRE_ERROR_UNKNOWN_TYPE },
  { 1, "\xff", 1, IRIS_WIRE_ERROR_UNKNOWN_TYPE },
  { 1, "\x2f", 1, IRIS_WIRE_ERROR_UNKNOWN_TYPE },
  { 1, "\x49", 1, IRIS_WIRE_ERROR_UNKNOWN_TYPE },
  { 2, "", 0, IRIS_WIRE_ERROR_MALFORMED },
  { 2, "fifteen bytes..", 15, IRIS_WIRE_ERROR_MALFORMED },
  { 2, "seventeen bytes..", 17, IRIS_WIRE_ERROR_MALFORMED },
  { 4, "x", 1, IRIS_WIRE_ERROR_MALFORMED },
};

LOOP_TEST (each_bad_frame_is_refused_with_its_code, 0, G_N_ELEMENTS (frame_cases))
{
  const FrameCase *test = &frame_cases[_i];
  IrisWireFrame frames[5] = { { (const guint8 *) "IRS1", 4 },
                              { (const guint8 *) "\x09", 1 },
                              { id, sizeof id },
                              { (const guint8 *) "\x80", 1 },
                              { NULL, 0 } };
  g_autoptr (GError) error = NULL;
  IrisWireMessage out;

  ck_assert (iris_wire_decode (frames, 5, NULL, &out, &error));
  frames[test->frame] = (IrisWireFrame){ (const guint8 *) test->bytes, test->size };
  ck_assert (!iris_wire_decode (frames, 5, NULL, &out, &error));
  ck_assert_msg (g_error_matches (error, IRIS_WIRE_ERROR, (int) test->code), "%s", error->message);
  ck_assert_uint_eq (out.request_id[0], test->frame == 2 ? 0 : 0xa0);
}

/* A message with a string, a list and a body of given sizes. */
static void
make_message (IrisWireMessage *message, GPtrArray *arena, gsize string, guint args, gsize body)
{
  const char **strv = g_new0 (const char *, args + 1);
  char *text = g_strnfill (string, 's');
  char *bytes = g_malloc0 (body + 1);

  for (guint i = 0; i < args; i++)
    strv[i] = "a";
  iris_wire_message_init (message, IRIS_WIRE_SUBMIT, id);
  iris_wire_message_set_string (message, IRIS_WIRE_KEY_SERVICE, text, -1);
  iris_wire_message_set_args (message, strv);
  iris_wire_message_set_body (message, bytes, body);
  g_ptr_array_add (arena, strv);
  g_ptr_array_add (arena, text);
  g_ptr_array_add (arena, bytes);
}

typedef struct
{
  const char *limit;
  gsize offset;
  gboolean is_size;
  guint64 edge; /* the smallest value under which the message passes */
} LimitCase;

#define LIMIT(name, member, is_size, edge)                        \
  {                                                               \
    name, G_STRUCT_OFFSET (IrisWireLimits, member), is_size, edge \
  }

/* The message below has a service of 40 bytes, 9 arguments and a body of 70 bytes; its header is a
 * map head, two keys, 2 + 40 bytes of service, 1 + 9 * 3 bytes of arguments. */
static const LimitCase limit_cases[] = {
  LIMIT ("max-header", max_header, TRUE, 1 + 2 + 42 + 28),
  LIMIT ("max-body", max_body, TRUE, 70),
  LIMIT ("max-string", max_string, TRUE, 40),
  LIMIT ("max-args", max_args, FALSE, 9),
};

static void
set_limit (IrisWireLimits *limits, const LimitCase *test, guint64 value)
{
  *limits = *iris_wire_limits_default ();
  if (test->is_size)
    G_STRUCT_MEMBER (gsize, limits, test->offset) = value;
  else
    G_STRUCT_MEMBER (guint, limits, test->offset) = (guint) value;
}

LOOP_TEST (each_limit_holds_at_its_edge_on_both_sides, 0, G_N_ELEMENTS (limit_cases))
{
  const LimitCase *test = &limit_cases[_i];
  g_autoptr (GPtrArray) arena = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) encode_error = NULL;
  g_autoptr (GError) decode_error = NULL;
  IrisWireLimits edge, below;
  IrisWireMessage message, out;
  g_auto (IrisWireEncoder) good;
  g_auto (IrisWireEncoder) tight;

  set_limit (&edge, test, test->edge);
  set_limit (&below, test, test->edge - 1);
  make_message (&message, arena, 40, 9, 70);
  iris_wire_encoder_init (&good, &edge);
  iris_wire_encoder_init (&tight, &below);
  ck_assert (iris_wire_encode (&good, &message, NULL));
  ck_assert (iris_wire_decode (good.frames, 5, &edge, &out, NULL));

  ck_assert (!iris_wire_encode (&tight, &message, &encode_error));
  ck_assert (g_error_matches (encode_error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_TOO_LARGE));
  ck_assert (!iris_wire_decode (good.frames, 5, &below, &out, &decode_error));
  ck_assert (g_error_matches (decode_error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_TOO_LARGE));

  /* The sentence and the answer both say which limit, how much, and how to raise it. */
  g_autofree char *words = g_strdup_printf ("exceeds %s (%" G_GUINT64_FORMAT
                                            "); raise it with [limits] %s",
                                            test->limit, test->edge - 1, test->limit);
  ck_assert_msg (strstr (decode_error->message, words) != NULL, "%s", decode_error->message);
  ck_assert_msg (strstr (encode_error->message, words) != NULL, "%s", encode_error->message);
  g_autofree char *limit = iris_wire_string_dup (&out.limit);
  ck_assert_str_eq (limit, test->limit);
  ck_assert_uint_eq (out.limit_value, test->edge - 1);
}

/* SUBMIT with an unknown key whose value nests `levels` deep: the value of level 1 is an array. */
static GByteArray *
nested_header (guint levels)
{
  GByteArray *header = wire_test_from_hex ("82 0a a0 11");

  for (guint i = 1; i < levels; i++)
    g_byte_array_append (header, (const guint8 *) "\x91", 1);
  g_byte_array_append (header, (const guint8 *) "\x90", 1);
  return header;
}

TEST (nesting_is_bounded_also_in_values_that_are_passed_over)
{
  static const struct
  {
    guint max_depth;
    guint deepest; /* levels in all, the header's map included */
  } cases[] = {
    { 8, 8 }, { 5, 5 }, { 0, IRIS_WIRE_LEAST_DEPTH }, { G_MAXUINT, IRIS_WIRE_MOST_DEPTH }
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GByteArray) deepest = nested_header (cases[i].deepest - 1);
      g_autoptr (GByteArray) deeper = nested_header (cases[i].deepest);
      g_autoptr (GError) error = NULL;
      IrisWireLimits limits = *iris_wire_limits_default ();
      IrisWireMessage out;

      limits.max_depth = cases[i].max_depth;
      ck_assert (decode_header (0x03, wire_test_frame (deepest), &limits, &out, NULL));
      ck_assert (!decode_header (0x03, wire_test_frame (deeper), &limits, &out, &error));
      ck_assert (g_error_matches (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_TOO_LARGE));
      ck_assert_ptr_nonnull (strstr (error->message, "max-depth"));
    }
}

TEST (a_header_of_nothing_but_nesting_costs_no_stack)
{
  g_autofree guint8 *bytes = g_malloc (65536);
  IrisWireMessage out;
  g_autoptr (GError) error = NULL;

  memset (bytes, 0x91, 65536);
  memcpy (bytes, "\x81\x11", 2);
  ck_assert (!decode_header (0x03, (IrisWireFrame){ bytes, 65536 }, NULL, &out, &error));
  ck_assert (g_error_matches (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_TOO_LARGE));
}

/* What the encoder must not let out. */
TEST (the_encoder_refuses_what_the_decoder_would)
{
  g_auto (IrisWireEncoder) encoder;
  IrisWireMessage message;

#define REFUSED(expected)                                                                  \
  G_STMT_START                                                                             \
  {                                                                                        \
    g_autoptr (GError) refusal = NULL;                                                     \
    ck_assert (!iris_wire_encode (&encoder, &message, &refusal));                          \
    ck_assert_msg (g_error_matches (refusal, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_##expected), \
                   "line %d: %s", __LINE__, refusal->message);                             \
  }                                                                                        \
  G_STMT_END

  iris_wire_encoder_init (&encoder, NULL);
  iris_wire_message_init (&message, (IrisWireType) 0x3f, id);
  REFUSED (UNKNOWN_TYPE);
  iris_wire_message_init (&message, IRIS_WIRE_SUBMIT, id);
  REFUSED (MALFORMED); /* no service */
  iris_wire_message_set_string (&message, IRIS_WIRE_KEY_SERVICE, "caf\xe9", -1);
  REFUSED (MALFORMED); /* not UTF-8 */
  iris_wire_message_set_string (&message, IRIS_WIRE_KEY_SERVICE, "a\0b", 3);
  REFUSED (MALFORMED); /* NUL */
  iris_wire_message_set_string (&message, IRIS_WIRE_KEY_SERVICE, "echo", -1);
  iris_wire_message_set_string (&message, IRIS_WIRE_KEY_PATH, "a\0b", 3);
  REFUSED (MALFORMED); /* NUL in raw bytes */
  iris_wire_message_set_string (&message, IRIS_WIRE_KEY_PATH, "a", -1);
  iris_wire_message_set_int (&message, IRIS_WIRE_KEY_HINT, -2);
  REFUSED (BAD_ARGUMENT);
  iris_wire_message_set_int (&message, IRIS_WIRE_KEY_HINT, 0);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_COUNT, 1);
  REFUSED (MALFORMED); /* not a key of SUBMIT */
  iris_wire_message_init (&message, IRIS_WIRE_ACK, id);
  REFUSED (MALFORMED); /* names nothing */
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_COUNT, 1);
  REFUSED (MALFORMED);
  iris_wire_message_set_target (&message, id);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_COUNT, 0);
  REFUSED (BAD_ARGUMENT);
  iris_wire_message_set_body (&message, id, sizeof id);
  REFUSED (MALFORMED); /* names twice */
  iris_wire_message_init (&message, IRIS_WIRE_ACK, id);
  iris_wire_message_set_body (&message, id, sizeof id - 1);
  REFUSED (MALFORMED);
  iris_wire_message_init (&message, IRIS_WIRE_PING, id);
  iris_wire_message_set_body (&message, "x", 1);
  REFUSED (MALFORMED); /* PING has no body */
  iris_wire_message_init (&message, IRIS_WIRE_SUBMIT, id);
  iris_wire_message_set_string (&message, IRIS_WIRE_KEY_SERVICE, "echo", -1);
  message.args = (IrisWireArgs){ .n = 2, .packed = (const guint8 *) "\xa1x", .packed_size = 2 };
  message.present |= IRIS_WIRE_BIT (IRIS_WIRE_KEY_ARGS);
  REFUSED (MALFORMED); /* the list holds less than it says */
#undef REFUSED

  iris_wire_message_init (&message, IRIS_WIRE_PING, id);
  ck_assert (iris_wire_encode (&encoder, &message, NULL)); /* and is fit for use after all that */
}

TEST_MAIN ("wire-reject", NULL, NULL)
