/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Messages that go through encoder and decoder come out as they were; names, printing and
 * endpoints.
 */
#include "core-test-run.h"
#include "wire-test-util.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

TEST (every_type_and_key_survives_a_round_trip)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (wire_test_seed ());
  g_auto (IrisWireEncoder) encoder;
  IrisWireKeys seen = 0;

  iris_wire_encoder_init (&encoder, NULL);
  for (guint round = 0; round < 400; round++)
    {
      for (guint i = 0; i < wire_test_n_types; i++)
        {
          g_autoptr (GPtrArray) arena = g_ptr_array_new_with_free_func (g_free);
          g_autoptr (GError) error = NULL;
          IrisWireMessage sent, got;
          wire_test_random_message (rand, wire_test_types[i], arena, &sent);
          gboolean encoded = iris_wire_encode (&encoder, &sent, &error);
          /* Many long arguments may exceed the header; then that is what must be said. */
          if (!encoded && g_error_matches (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_TOO_LARGE))
            {
              ck_assert_ptr_nonnull (strstr (error->message, "max-header"));
              continue;
            }
          ck_assert_msg (encoded, "%s", error != NULL ? error->message : "");
          ck_assert_msg (iris_wire_decode (encoder.frames, 5, NULL, &got, &error), "%s",
                         error != NULL ? error->message : "");
          ck_assert_ptr_null (wire_test_difference (&sent, &got));
          seen |= got.present;
        }
    }
  for (guint key = 0; key < 64; key++)
    ck_assert_int_eq ((seen >> key & 1) != 0, iris_wire_key_name (key) != NULL);
}

TEST (the_same_message_always_gives_the_same_bytes)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (wire_test_seed ());
  g_autoptr (GPtrArray) arena = g_ptr_array_new_with_free_func (g_free);
  g_auto (IrisWireEncoder) once;
  g_auto (IrisWireEncoder) again;

  iris_wire_encoder_init (&once, NULL);
  iris_wire_encoder_init (&again, NULL);
  for (guint i = 0; i < wire_test_n_types; i++)
    {
      IrisWireMessage sent, got;
      wire_test_random_message (rand, wire_test_types[i], arena, &sent);
      ck_assert (iris_wire_encode (&once, &sent, NULL));
      ck_assert (iris_wire_decode (once.frames, 5, NULL, &got, NULL));
      /* Encoding what was decoded, straight out of the borrowed frames. */
      ck_assert (iris_wire_encode (&again, &got, NULL));
      ck_assert_mem_eq (once.frames[1].data, again.frames[1].data, 1);
      ck_assert_mem_eq (once.frames[2].data, again.frames[2].data, IRIS_WIRE_ID_SIZE);
      ck_assert_uint_eq (once.frames[3].size, again.frames[3].size);
      ck_assert_mem_eq (once.frames[3].data, again.frames[3].data, once.frames[3].size);
    }
}

TEST (a_decoded_message_points_into_the_frames)
{
  g_auto (IrisWireEncoder) encoder;
  IrisWireMessage sent, got;

  iris_wire_encoder_init (&encoder, NULL);
  iris_wire_message_init (&sent, IRIS_WIRE_SUBMIT, NULL);
  iris_wire_message_set_string (&sent, IRIS_WIRE_KEY_SERVICE, "wordcount", -1);
  iris_wire_message_set_body (&sent, "abc", 3);
  ck_assert (iris_wire_encode (&encoder, &sent, NULL));
  ck_assert (iris_wire_decode (encoder.frames, 5, NULL, &got, NULL));
  const guint8 *service = (const guint8 *) got.service.data;
  ck_assert (service > encoder.frames[3].data
             && service < encoder.frames[3].data + encoder.frames[3].size);
  ck_assert_ptr_eq (got.body.data, sent.body.data);
}

TEST (absent_keys_have_their_defaults)
{
  IrisWireMessage message;

  memset (&message, 0x5a, sizeof message);
  iris_wire_message_init (&message, IRIS_WIRE_SUBMIT, NULL);
  ck_assert_int_eq (message.hint, -1);
  ck_assert_int_eq (message.home, -1);
  ck_assert_int_eq (message.place, -1);
  ck_assert_int_eq (message.worker, -1);
  ck_assert_int_eq (message.socket_place, -1);
  ck_assert (message.present == 0);
  ck_assert_uint_eq (message.args.n, 0);
  ck_assert_uint_eq (message.service.len, 0);
  ck_assert_uint_eq (message.body.size, 0);
}

TEST (file_names_that_are_not_utf8_arrive_unchanged)
{
  static const char *const argv[] = { "cat", "caf\xe9", "", "\xff\xfe", NULL };
  g_auto (IrisWireEncoder) encoder;
  IrisWireMessage sent, got;

  iris_wire_encoder_init (&encoder, NULL);
  iris_wire_message_init (&sent, IRIS_WIRE_SUBMIT, NULL);
  iris_wire_message_set_string (&sent, IRIS_WIRE_KEY_SERVICE, "command", -1);
  iris_wire_message_set_string (&sent, IRIS_WIRE_KEY_PATH, "/tmp/caf\xe9", -1);
  iris_wire_message_set_args (&sent, argv);
  ck_assert (iris_wire_encode (&encoder, &sent, NULL));
  ck_assert (iris_wire_decode (encoder.frames, 5, NULL, &got, NULL));
  g_auto (GStrv) args = iris_wire_args_dup (&got.args);
  g_autofree char *path = iris_wire_string_dup (&got.path);
  ck_assert (g_strv_equal ((const char *const *) args, argv));
  ck_assert_str_eq (path, "/tmp/caf\xe9");
}

TEST (an_error_travels_with_code_name_and_message)
{
  g_autoptr (GError)
      error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NO_SUCH_PLACE, "there is no place 7");
  g_auto (IrisWireEncoder) encoder;
  IrisWireMessage sent, got;

  iris_wire_encoder_init (&encoder, NULL);
  iris_wire_message_init (&sent, IRIS_WIRE_ERROR_REPLY, NULL);
  iris_wire_message_set_error (&sent, error);
  ck_assert (iris_wire_encode (&encoder, &sent, NULL));
  ck_assert (iris_wire_decode (encoder.frames, 5, NULL, &got, NULL));
  ck_assert_int_eq (strncmp (got.error_name.data, "no-such-place", got.error_name.len), 0);
  g_autoptr (GError) back = iris_wire_message_to_error (&got);
  ck_assert (g_error_matches (back, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NO_SUCH_PLACE));
  ck_assert_str_eq (back->message, error->message);
}

TEST (a_foreign_error_becomes_internal_and_a_long_message_is_cut_between_characters)
{
  g_autoptr (GString) text = g_string_new ("x");
  g_auto (IrisWireEncoder) encoder;
  IrisWireMessage message;

  for (guint i = 0; i < 3000; i++)
    g_string_append (text, "ä");
  g_autoptr (GError) error = g_error_new_literal (G_MARKUP_ERROR, 3, text->str);
  iris_wire_encoder_init (&encoder, NULL);
  iris_wire_message_init (&message, IRIS_WIRE_ERROR_REPLY, NULL);
  iris_wire_message_set_error (&message, error);
  ck_assert_uint_eq (message.code, IRIS_WIRE_ERROR_INTERNAL);
  ck_assert_uint_eq (message.message.len, 1023);
  ck_assert (iris_wire_encode (&encoder, &message, NULL));
}

TEST (each_code_has_a_name_of_its_own)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint code = 1; code <= IRIS_WIRE_N_ERRORS; code++)
    {
      /* A number that has no meaning yet is one that this version does not know. */
      const char *name = iris_wire_error_name (code);
      ck_assert (g_hash_table_add (names, (gpointer) name) || g_str_equal (name, "unknown"));
      ck_assert_uint_gt (strlen (iris_wire_error_message (code)), 10);
    }
  ck_assert_str_eq (iris_wire_error_name (IRIS_WIRE_N_ERRORS + 1), "unknown");
}

TEST (types_have_names_and_a_direction)
{
  guint n = 0;

  for (guint type = 0; type < 1024; type++)
    {
      if (iris_wire_type_name (type) == NULL)
        {
          ck_assert (!iris_wire_type_is_request (type));
          continue;
        }
      ck_assert_uint_eq (wire_test_types[n++], type);
      ck_assert_int_eq (iris_wire_type_is_request (type), type < 0x80);
    }
  ck_assert_uint_eq (n, wire_test_n_types);
}

TEST (a_message_prints_as_one_line)
{
  static const guint8 id[16] = { 1, 2, 3, [15] = 0xff };
  static const char *const argv[] = { "ls", "a\nb", NULL };
  IrisWireMessage message;

  iris_wire_message_init (&message, IRIS_WIRE_SUBMIT, id);
  iris_wire_message_set_string (&message, IRIS_WIRE_KEY_SERVICE, "command", -1);
  iris_wire_message_set_int (&message, IRIS_WIRE_KEY_HINT, 2);
  iris_wire_message_set_boolean (&message, IRIS_WIRE_KEY_STRICT, TRUE);
  iris_wire_message_set_args (&message, argv);
  g_autofree char *text = iris_wire_message_to_string (&message);
  ck_assert_str_eq (text, "SUBMIT 010203000000000000000000000000ff {service: \"command\", hint: 2, "
                          "strict: true, args: [\"ls\", \"a\\nb\"]} 0 bytes");
  message.type = 0x33;
  message.present = 0;
  g_autofree char *unknown = iris_wire_message_to_string (&message);
  ck_assert (g_str_has_prefix (unknown, "type 0x33 0102"));
}

TEST (the_directory_of_the_sockets_is_found_in_the_documented_order)
{
  g_autoptr (GError) error = NULL;

  g_setenv ("IRIS_RUNTIME_DIR", "/own", TRUE);
  g_setenv ("XDG_RUNTIME_DIR", "/xdg", TRUE);
  g_autofree char *named = iris_wire_endpoint_dir ("/named/", NULL);
  ck_assert_str_eq (named, "/named");
  g_autofree char *own = iris_wire_endpoint_dir ("", NULL);
  ck_assert_str_eq (own, "/own");
  g_unsetenv ("IRIS_RUNTIME_DIR");
  g_autofree char *xdg = iris_wire_endpoint_dir (NULL, NULL);
  ck_assert_str_eq (xdg, "/xdg/iris");

  g_autofree char *longest = g_strnfill (92, 'd');
  longest[0] = '/';
  g_autofree char *fits = iris_wire_endpoint_dir (longest, NULL);
  ck_assert_str_eq (fits, longest);
  g_autofree char *longer = g_strconcat (longest, "d", NULL);
  ck_assert_ptr_null (iris_wire_endpoint_dir (longer, &error));
  ck_assert (g_error_matches (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT));

  g_autofree char *front = iris_wire_endpoint_front ("/d");
  g_autofree char *place = iris_wire_endpoint_place ("/d", 12);
  ck_assert_str_eq (front, "ipc:///d/front.ipc");
  ck_assert_str_eq (place, "ipc:///d/place-12.ipc");
}

TEST_MAIN ("wire-message", NULL, NULL)
