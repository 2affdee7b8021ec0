/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Completions that a client has not acknowledged: what is named is given back, and nothing else.
 */
#include "core-test-run.h"
#include "daemon/net/irisd-unacknowledged.h"

#include <check.h>
#include <iris/iris.h>
#include <iris/wire/iris-wire.h>
#include <string.h>

/* A list of unacknowledged completions beside a plain list of what is in it, oldest first. */
typedef struct
{
  IrisdUnacknowledged unacked;
  GArray *owed; /* of guint64: the number of a completion, which is its id, its size and its item */
  GArray *gone;
} Account;

static void
number_to_id (guint64 number, guint8 *id)
{
  memset (id, 0, IRIS_WIRE_ID_SIZE);
  memcpy (id, &number, sizeof number);
}

static void
note_item (guint64 item, gpointer account)
{
  g_array_append_val (((Account *) account)->gone, item);
}

static gint
compare_numbers (gconstpointer a, gconstpointer b)
{
  guint64 left = *(const guint64 *) a, right = *(const guint64 *) b;
  return left < right ? -1 : left > right;
}

/* What went has to be what was named, each once. */
static void
check_gone (Account *account, GArray *named)
{
  g_array_sort (account->gone, compare_numbers);
  g_array_sort (named, compare_numbers);
  ck_assert_uint_eq (account->gone->len, named->len);
  if (named->len > 0)
    ck_assert_mem_eq (account->gone->data, named->data, named->len * sizeof (guint64));
  g_array_set_size (account->gone, 0);
  guint64 sum = 0;
  for (guint i = 0; i < account->owed->len; i++)
    sum += g_array_index (account->owed, guint64, i);
  ck_assert_uint_eq (account->unacked.count, account->owed->len);
  ck_assert_uint_eq (account->unacked.sum, sum);
}

/* Names some completions in an order by chance; a third of the times also one that is not there. */
static void
pay_some (Account *account, GRand *rand)
{
  g_autoptr (GArray) named = g_array_new (FALSE, FALSE, sizeof (guint64));
  g_autoptr (GArray) left = g_array_copy (account->owed);
  guint n = (guint) g_rand_int_range (rand, 0, (gint) MIN (left->len, 8) + 1);
  guint8 ids[9 * IRIS_WIRE_ID_SIZE];
  for (guint i = 0; i < n; i++)
    {
      guint at = (guint) g_rand_int_range (rand, 0, (gint) left->len);
      number_to_id (g_array_index (left, guint64, at), ids + (gsize) i * IRIS_WIRE_ID_SIZE);
      g_array_append_val (named, g_array_index (left, guint64, at));
      g_array_remove_index (left, at);
    }
  gboolean wrong = n > 0 && g_rand_int_range (rand, 0, 3) == 0;
  if (wrong)
    memcpy (ids + (gsize) n * IRIS_WIRE_ID_SIZE, ids, IRIS_WIRE_ID_SIZE);
  const guint8 *pending = irisd_unacknowledged_pay (&account->unacked, ids, n + wrong, note_item,
                                                    account);
  ck_assert_ptr_eq (pending, wrong ? ids + (gsize) n * IRIS_WIRE_ID_SIZE : NULL);
  if (wrong)
    g_array_set_size (named, 0);
  else
    {
      g_array_set_size (account->owed, 0);
      g_array_append_vals (account->owed, left->data, left->len);
    }
  check_gone (account, named);
}

/* Names the last of the oldest completions, or one beside it. */
static void
pay_oldest (Account *account, GRand *rand)
{
  g_autoptr (GArray) named = g_array_new (FALSE, FALSE, sizeof (guint64));
  guint count = (guint) g_rand_int_range (rand, 1, (gint) account->owed->len + 1);
  guint at = count - 1;
  if (g_rand_int_range (rand, 0, 3) == 0)
    at = (guint) g_rand_int_range (rand, 0, (gint) account->owed->len);
  guint8 last[IRIS_WIRE_ID_SIZE];
  number_to_id (g_array_index (account->owed, guint64, at), last);
  gboolean well = irisd_unacknowledged_pay_until (&account->unacked, last, count, note_item,
                                                  account);
  ck_assert_int_eq (well, at == count - 1);
  if (well)
    {
      g_array_append_vals (named, account->owed->data, count);
      g_array_remove_range (account->owed, 0, count);
    }
  check_gone (account, named);
}

TEST (a_unacked_gives_back_exactly_what_is_named)
{
  Account account = { .owed = g_array_new (FALSE, FALSE, sizeof (guint64)),
                      .gone = g_array_new (FALSE, FALSE, sizeof (guint64)) };
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  guint64 pushed = 0;
  for (guint round = 0; round < 5000; round++)
    {
      for (gint n = g_rand_int_range (rand, 0, round % 500 < 250 ? 6 : 12); n > 0; n--)
        {
          guint8 id[IRIS_WIRE_ID_SIZE];
          number_to_id (++pushed, id);
          irisd_unacknowledged_push (&account.unacked, id, pushed, pushed);
          g_array_append_val (account.owed, pushed);
        }
      if (account.owed->len > 0 && g_rand_int_range (rand, 0, 8) == 0)
        pay_oldest (&account, rand);
      else
        pay_some (&account, rand);
    }
  guint8 id[IRIS_WIRE_ID_SIZE];
  number_to_id (pushed + 1, id);
  ck_assert (!irisd_unacknowledged_pay_until (&account.unacked, id, account.unacked.count + 1, NULL,
                                              NULL));
  irisd_unacknowledged_clear (&account.unacked);
  ck_assert_ptr_eq (irisd_unacknowledged_pay (&account.unacked, id, 1, NULL, NULL), id);
  g_array_unref (account.owed);
  g_array_unref (account.gone);
}

TEST (of_completions_with_one_id_the_oldest_is_acknowledged_first)
{
  IrisdUnacknowledged unacked = { 0 };
  guint8 same[IRIS_WIRE_ID_SIZE], other[IRIS_WIRE_ID_SIZE];
  number_to_id (1, same);
  number_to_id (2, other);
  irisd_unacknowledged_push (&unacked, other, 1, 0);
  for (guint i = 1; i < 4; i++)
    irisd_unacknowledged_push (&unacked, same, 10 * i, 0);
  ck_assert_ptr_null (irisd_unacknowledged_pay (&unacked, same, 1, NULL, NULL));
  ck_assert_uint_eq (unacked.sum, 51);
  irisd_unacknowledged_push (&unacked, same, 40, 0);
  ck_assert_ptr_null (irisd_unacknowledged_pay (&unacked, same, 1, NULL, NULL));
  ck_assert_uint_eq (unacked.sum, 71);
  ck_assert (irisd_unacknowledged_pay_until (&unacked, same, 3, NULL, NULL));
  ck_assert_uint_eq (unacked.sum, 0);
  irisd_unacknowledged_clear (&unacked);
}

/* One that is never acknowledged must not make room for all that come after it. */
TEST (a_unacked_needs_room_for_what_is_owed_only)
{
  IrisdUnacknowledged unacked = { 0 };
  guint8 id[IRIS_WIRE_ID_SIZE];
  number_to_id (0, id);
  irisd_unacknowledged_push (&unacked, id, 1, 0);
  guint n_refused = 0;
  for (guint64 i = 1; i < 100000; i++)
    {
      number_to_id (i, id);
      irisd_unacknowledged_push (&unacked, id, 1, 0);
      if (i >= 10)
        number_to_id (i - 9, id);
      if (i >= 10)
        n_refused += irisd_unacknowledged_pay (&unacked, id, 1, NULL, NULL) != NULL;
    }
  ck_assert_uint_eq (n_refused, 0);
  ck_assert_uint_eq (unacked.count, 10);
  ck_assert_uint_le (unacked.capacity, 64);
  irisd_unacknowledged_clear (&unacked);
}

TEST_MAIN ("irisd-unacknowledged", NULL, NULL)
