/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the header of a message that was put anew says, and where it is put.
 */
#include "core-test-run.h"
#include "daemon/cluster/bridge/irisd-put-anew.h"

#define ITEM "0123456789abcdef0123456789abcdef"

static void
check_text (const char *text, guint64 n_delivered, guint64 n_tries, guint64 copy)
{
  IrisdBefore before;

  irisd_before_from_text (&before, text);
  ck_assert_uint_eq (before.n_delivered, n_delivered);
  ck_assert_uint_eq (before.n_tries, n_tries);
  ck_assert_uint_eq (before.copy, copy);
}

TEST (what_was_before_is_read_as_it_was_written)
{
  const IrisdBefore before = { 7, 3, 4711 };
  g_autofree char *text = irisd_before_to_text (&before);

  check_text (text, 7, 3, 4711);
}

TEST (what_cannot_be_read_is_nothing)
{
  check_text (NULL, 0, 0, 0);
  check_text ("", 0, 0, 0);
  check_text ("many", 0, 0, 0);
  check_text ("5", 5, 0, 0);
  check_text ("5 x", 5, 0, 0);
  check_text ("-1 -1 -1", G_MAXUINT32, G_MAXUINT32, G_MAXUINT64);
  /* There are no more tries than deliveries. */
  check_text ("2 9 1", 2, 2, 1);
}

static void
check_subject (const char *subject, const char *item, const char *expected)
{
  g_autofree char *own = irisd_put_anew_make_subject (subject, item);

  if (expected == NULL)
    ck_assert_ptr_null (own);
  else
    ck_assert_str_eq (own, expected);
}

TEST (an_item_has_one_subject_of_its_own)
{
  check_subject ("iris.w.n2.soft.-.echo", ITEM, "iris.w.n2.soft.-.echo." ITEM);
  check_subject ("iris.w.n2.soft.-.echo." ITEM, ITEM, "iris.w.n2.soft.-.echo." ITEM);
  check_subject ("iris.w.n2.soft.-.echo." ITEM, "17", "iris.w.n2.soft.-.echo." ITEM);
  check_subject ("iris.w.n2.soft.-.echo", NULL, NULL);
  check_subject ("iris.w.n2.soft.-.echo", "17", NULL);
}

TEST_MAIN ("irisd-put-anew", NULL, NULL)
