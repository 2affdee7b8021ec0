/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Several ends in one message: they come out as they went in, and a damaged pack is read as far as
 * it goes.
 */
#include "core-test-run.h"
#include "daemon/cluster/bridge/irisd-end-pack.h"

#include <string.h>

static GPtrArray *found;

static void
take (gconstpointer end, gsize size, gpointer user_data)
{
  g_ptr_array_add (found, g_strndup (end, size));
}

/* What is read of so many bytes, which lie at the end of their memory. */
static guint
read_bytes (gconstpointer message, gsize size)
{
  g_autofree guint8 *copy = g_memdup2 (message, size);

  g_ptr_array_set_size (found, 0);
  irisd_end_pack_read (copy, size, take, NULL);
  return found->len;
}

static void
set_up (void)
{
  found = g_ptr_array_new_with_free_func (g_free);
}

static void
tear_down (void)
{
  g_ptr_array_unref (found);
}

TEST (one_end_is_sent_as_it_is)
{
  g_autoptr (IrisdEndPack) pack = irisd_end_pack_new ();
  gsize size;

  ck_assert (irisd_end_pack_add (pack, "end", 3));
  gconstpointer message = irisd_end_pack_get_message (pack, &size);
  ck_assert_uint_eq (size, 3);
  ck_assert (memcmp (message, "end", 3) == 0);
  ck_assert_uint_eq (read_bytes (message, size), 1);
  ck_assert_str_eq (g_ptr_array_index (found, 0), "end");
}

TEST (ends_come_out_as_they_went_in)
{
  g_autoptr (IrisdEndPack) pack = irisd_end_pack_new ();
  gsize size;

  irisd_end_pack_add (pack, "before", 6);
  irisd_end_pack_clear (pack);
  irisd_end_pack_add (pack, "first", 5);
  irisd_end_pack_add (pack, "", 0);
  irisd_end_pack_add (pack, "IRSP", 4);
  gconstpointer message = irisd_end_pack_get_message (pack, &size);
  ck_assert_uint_eq (read_bytes (message, size), 3);
  ck_assert_str_eq (g_ptr_array_index (found, 0), "first");
  ck_assert_str_eq (g_ptr_array_index (found, 1), "");
  ck_assert_str_eq (g_ptr_array_index (found, 2), "IRSP");
}

TEST (a_damaged_pack_is_read_up_to_the_damage)
{
  g_autoptr (IrisdEndPack) pack = irisd_end_pack_new ();
  gsize size;

  irisd_end_pack_add (pack, "first", 5);
  irisd_end_pack_add (pack, "second", 6);
  const guint8 *message = irisd_end_pack_get_message (pack, &size);
  for (gsize cut = 4; cut < size; cut++)
    ck_assert_uint_eq (read_bytes (message, cut), cut < 4 + 4 + 5 ? 0 : 1);
  g_autofree guint8 *other = g_memdup2 (message, size);
  other[4] = 0xff;
  ck_assert_uint_eq (read_bytes (other, size), 0);
}

TEST (a_pack_has_a_size_and_an_end_any)
{
  g_autoptr (IrisdEndPack) pack = irisd_end_pack_new ();
  g_autofree char *large = g_strnfill (IRISD_END_PACK_MOST, 'x');
  gsize size;

  ck_assert (irisd_end_pack_add (pack, large, IRISD_END_PACK_MOST));
  ck_assert (!irisd_end_pack_add (pack, "more", 4));
  irisd_end_pack_get_message (pack, &size);
  ck_assert_uint_eq (size, IRISD_END_PACK_MOST);
}

TEST_MAIN ("irisd-end-pack", set_up, tear_down)
