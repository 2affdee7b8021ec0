/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The layout of stored objects: what tools of NATS read, and references.
 */
#include "core-test-run.h"
#include "daemon/cluster/engine/irisd-engine-parse.h"
#include "daemon/cluster/engine/irisd-object.h"

#include <string.h>

#define OWNER "n1.00112233445566778899aabbccddeeff"

static void
fill (IrisdObjectReference *reference, guint64 size)
{
  reference->size = size;
  for (guint i = 0; i < sizeof reference->digest; i++)
    reference->digest[i] = (guint8) (255 - i);
  irisd_object_make_nuid (reference->nuid);
}

TEST (a_reference_is_read_as_it_was_written)
{
  IrisdObjectReference in, out;
  guint8 bytes[IRISD_OBJECT_REFERENCE_SIZE];

  fill (&in, G_GUINT64_CONSTANT (0x123456789a));
  irisd_object_reference_encode (&in, bytes);
  ck_assert (irisd_object_reference_decode (&out, bytes, sizeof bytes));
  ck_assert_uint_eq (out.size, in.size);
  ck_assert_mem_eq (out.digest, in.digest, sizeof in.digest);
  ck_assert_str_eq (out.nuid, in.nuid);
}

/* Its NUID becomes a part of a subject: by a dot or a wildcard it would be another one. */
TEST (what_is_no_reference_is_not_read)
{
  static const char wrong[] = { '.', '*', '>', ' ', '\0', '\n', '_' };
  IrisdObjectReference in, out;
  guint8 bytes[IRISD_OBJECT_REFERENCE_SIZE];

  fill (&in, 1);
  irisd_object_reference_encode (&in, bytes);
  ck_assert (!irisd_object_reference_decode (&out, bytes, sizeof bytes - 1));
  for (guint i = 0; i < sizeof wrong; i++)
    {
      guint8 before = bytes[sizeof bytes - 1];

      bytes[sizeof bytes - 1] = (guint8) wrong[i];
      ck_assert (!irisd_object_reference_decode (&out, bytes, sizeof bytes));
      bytes[sizeof bytes - 1] = before;
    }
  in.size = 0;
  irisd_object_reference_encode (&in, bytes);
  ck_assert (!irisd_object_reference_decode (&out, bytes, sizeof bytes));
  in.size = G_MAXUINT64;
  irisd_object_reference_encode (&in, bytes);
  ck_assert (!irisd_object_reference_decode (&out, bytes, sizeof bytes));
}

TEST (no_nuid_is_made_twice)
{
  g_autoptr (GHashTable) made = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  char nuid[IRISD_OBJECT_NUID_LENGTH + 1];

  for (guint i = 0; i < 1000; i++)
    {
      irisd_object_make_nuid (nuid);
      ck_assert_uint_eq (strlen (nuid), IRISD_OBJECT_NUID_LENGTH);
      ck_assert (g_hash_table_add (made, g_strdup (nuid)));
    }
}

TEST (chunks_are_counted)
{
  ck_assert_uint_eq (irisd_object_count_chunks (1), 1);
  ck_assert_uint_eq (irisd_object_count_chunks (IRISD_OBJECT_CHUNK), 1);
  ck_assert_uint_eq (irisd_object_count_chunks (IRISD_OBJECT_CHUNK + 1), 2);
  ck_assert_uint_gt (irisd_object_get_cost (IRISD_OBJECT_CHUNK), IRISD_OBJECT_CHUNK);
}

/* The bytes of nats.go: "-" and "_" in base64, with its "=". */
TEST (subjects_are_those_of_the_object_store)
{
  g_autofree char *chunks = irisd_object_get_chunks_subject ("iris_bodies", OWNER, "abc");
  g_autofree char *all = irisd_object_get_chunks_subject ("iris_bodies", OWNER, NULL);
  g_autofree char *meta = irisd_object_get_meta_subject ("iris_bodies", "a?>~");

  ck_assert_str_eq (chunks, "$O.iris_bodies.C." OWNER ".abc");
  ck_assert_str_eq (all, "$O.iris_bodies.C." OWNER ".>");
  ck_assert_str_eq (meta, "$O.iris_bodies.M.YT8-fg==");
}

TEST (the_meta_message_tells_what_tools_look_for)
{
  IrisdObjectReference reference;
  g_autoptr (JsonObject) meta = NULL;

  fill (&reference, 5 * IRISD_OBJECT_CHUNK + 1);
  g_autofree char *nuid = g_strconcat (OWNER ".", reference.nuid, NULL);
  g_autofree char *text = irisd_object_make_meta ("iris_bodies", OWNER, "n1.x.item", &reference,
                                                  1767225600000);
  meta = irisd_engine_parse_reply (text, strlen (text), NULL);
  ck_assert_ptr_nonnull (meta);
  ck_assert_str_eq (irisd_json_get_string (meta, "name"), "n1.x.item");
  ck_assert_str_eq (irisd_json_get_string (meta, "bucket"), "iris_bodies");
  ck_assert_str_eq (irisd_json_get_string (meta, "nuid"), nuid);
  ck_assert_int_eq (irisd_json_get_int (meta, "size"), 5 * IRISD_OBJECT_CHUNK + 1);
  ck_assert_int_eq (irisd_json_get_int (meta, "chunks"), 6);
  ck_assert_str_eq (irisd_json_get_string (meta, "mtime"), "2026-01-01T00:00:00Z");
  ck_assert_str_eq (irisd_json_get_string (meta, "digest"),
                    "SHA-256=__79_Pv6-fj39vX08_Lx8O_u7ezr6uno5-bl5OPi4eA=");
}

TEST_MAIN ("irisd-object", NULL, NULL)
