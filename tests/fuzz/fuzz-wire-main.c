/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Drives the fuzz target without libFuzzer: a seeded mutator over the conformance vectors, for
 * every compiler and for the ordinary test run. IRIS_TEST_SEED and IRIS_FUZZ_CASES choose another
 * run.
 */
#include "fuzz-wire.h"

#include "../unit/wire/wire-test-util.h"

#include <iris/base/iris-atomic-private.h>

#include <json-glib/json-glib.h>
#include <stdio.h>
#include <string.h>

/* There is one thread: for ThreadSanitizer a run suffices. */
#ifdef IRIS_THREAD_SANITIZER
#define N_CASES 5000
#else
#define N_CASES 500000
#endif
#define LONGEST 4096

/* Trace contexts, of this version and a later one, which are no frames. */
static const char *const traceparents[] = {
  "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00",
  "cc-12345678901234567890123456789012-1234567890123456-01-what-the-future-brings",
};

static void
append_frame (GByteArray *input, const char *hex)
{
  g_autoptr (GByteArray) frame = wire_test_from_hex (hex);
  guint8 length[2];

  g_assert (frame != NULL);
  length[0] = (guint8) frame->len;
  length[1] = (guint8) (frame->len >> 8);
  g_byte_array_append (input, length, 2);
  g_byte_array_append (input, frame->data, frame->len);
}

/* Each vector as one input: a byte for the limits, then its frames; and its body alone where bodies
 * have structure. */
static GPtrArray *
load_corpus (const char *path)
{
  GPtrArray *corpus = g_ptr_array_new_with_free_func ((GDestroyNotify) g_byte_array_unref);
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GError) error = NULL;

  if (!json_parser_load_from_file (parser, path, &error))
    g_error ("%s", error->message);
  JsonObject *root = json_node_get_object (json_parser_get_root (parser));
  JsonArray *vectors = json_object_get_array_member (root, "vectors");
  for (guint i = 0; i < json_array_get_length (vectors); i++)
    {
      JsonArray *frames = json_object_get_array_member (json_array_get_object_element (vectors, i),
                                                        "frames");
      GByteArray *input = g_byte_array_new ();
      g_byte_array_append (input, (const guint8 *) "", 1);
      for (guint j = 0; j < json_array_get_length (frames); j++)
        append_frame (input, json_array_get_string_element (frames, j));
      g_ptr_array_add (corpus, input);
    }
  for (guint i = 0; i < G_N_ELEMENTS (traceparents); i++)
    {
      GByteArray *input = g_byte_array_new ();
      g_byte_array_append (input, (const guint8 *) "", 1);
      g_byte_array_append (input, (const guint8 *) traceparents[i],
                           (guint) strlen (traceparents[i]));
      g_ptr_array_add (corpus, input);
    }
  return corpus;
}

static void
mutate_once (GRand *rand, GByteArray *input, GPtrArray *corpus)
{
  static const guint8 heads[] = { 0x00, 0x7f, 0x80, 0x8f, 0x90, 0xa0, 0xbf, 0xc0, 0xc1, 0xc4, 0xc6,
                                  0xc9, 0xcf, 0xd3, 0xd9, 0xdb, 0xdc, 0xdd, 0xde, 0xdf, 0xff };
  guint at = (guint) g_rand_int_range (rand, 0, (gint32) MAX (input->len, 1));
  const GByteArray *other = g_ptr_array_index (corpus,
                                               g_rand_int_range (rand, 0, (gint32) corpus->len));

  if (input->len == 0)
    return;
  switch (g_rand_int_range (rand, 0, 6))
    {
    case 0:
      input->data[at] ^= (guint8) (1 << g_rand_int_range (rand, 0, 8));
      break;
    case 1:
      input->data[at] = heads[g_rand_int_range (rand, 0, G_N_ELEMENTS (heads))];
      break;
    case 2:
      input->data[at] = (guint8) g_rand_int (rand);
      break;
    case 3:
      g_byte_array_remove_index (input, at);
      break;
    case 4:
      g_byte_array_set_size (input, at);
      break;
    default:
      g_byte_array_set_size (input, at);
      if (at < other->len)
        g_byte_array_append (input, other->data + at, MIN (other->len - at, LONGEST));
      break;
    }
}

static void
run_case (GRand *rand, GPtrArray *corpus)
{
  const GByteArray *from = g_ptr_array_index (corpus,
                                              g_rand_int_range (rand, 0, (gint32) corpus->len));
  g_autoptr (GByteArray) input = g_byte_array_sized_new (from->len + 1);

  g_byte_array_append (input, from->data, from->len);
  input->data[0] = g_rand_int_range (rand, 0, 3) == 0 ? 1 : 0;
  if (g_rand_int_range (rand, 0, 4) == 0)
    {
      /* The body alone, as its own type or as another: frames 1 to 4 and all five lengths go. */
      gsize skip = 1;
      for (guint i = 0; i < 4 && skip + 2 <= input->len; i++)
        skip += 2 + (gsize) input->data[skip] + ((gsize) input->data[skip + 1] << 8);
      skip = MIN (skip + 2, input->len);
      g_byte_array_remove_range (input, 0, (guint) skip - 1);
      input->data[0] = (guint8) (2 | (g_rand_int (rand) & 0xfd));
    }
  for (gint n = g_rand_int_range (rand, 0, 6); n > 0; n--)
    mutate_once (rand, input, corpus);
  /* A copy of the exact size, so that a read beyond the end is a fault that a sanitizer sees. */
  g_autofree guint8 *exact = g_memdup2 (input->data, input->len);
  LLVMFuzzerTestOneInput (exact, input->len);
}

int
main (int argc, char **argv)
{
  const char *cases = g_getenv ("IRIS_FUZZ_CASES");
  guint64 n_cases = cases != NULL ? g_ascii_strtoull (cases, NULL, 0) : N_CASES;
  guint32 seed = wire_test_seed ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);

  if (argc != 2)
    {
      fprintf (stderr, "usage: %s VECTORS.json\n", argv[0]);
      return 2;
    }
  g_autoptr (GPtrArray) corpus = load_corpus (argv[1]);
  printf ("1..1\n# seed %u, %" G_GUINT64_FORMAT " cases over %u vectors\n", seed, n_cases,
          corpus->len);
  fflush (stdout);
  for (guint64 i = 0; i < n_cases; i++)
    run_case (rand, corpus);
  printf ("ok 1 - mutated vectors break no promise\n");
  return 0;
}
