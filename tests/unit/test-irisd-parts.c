/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The small parts of irisd that need no socket.
 */
#include "core-test-run.h"
#include "daemon/base/irisd-error.h"
#include "daemon/base/irisd-log.h"
#include "daemon/base/irisd-runtime-dir.h"
#include "daemon/base/irisd-text.h"
#include "daemon/config/irisd-config.h"
#include "daemon/config/irisd-places.h"
#include "daemon/exec/irisd-service.h"
#include "daemon/net/irisd-outbox.h"
#include "daemon/net/irisd-peer.h"
#include "daemon/net/irisd-unacknowledged.h"

#include <check.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *source_root;

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

START_TEST (a_unacked_gives_back_exactly_what_is_named)
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
END_TEST

START_TEST (of_completions_with_one_id_the_oldest_is_acknowledged_first)
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
END_TEST

/* One that is never acknowledged must not make room for all that come after it. */
START_TEST (a_unacked_needs_room_for_what_is_owed_only)
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
END_TEST

static IrisdReply *
make_reply (guint8 number)
{
  const guint8 id[IRIS_WIRE_ID_SIZE] = { number };
  const guint8 type = IRIS_WIRE_PONG, header = 0x80;
  const IrisWireFrame frames[] = {
    { (const guint8 *) "IRS1", 4 }, { &type, 1 }, { id, sizeof id }, { &header, 1 }, { &number, 1 }
  };
  return irisd_reply_new (frames, NULL);
}

START_TEST (an_outbox_keeps_order_and_limit)
{
  void *context = zmq_ctx_new ();
  void *router = zmq_socket (context, ZMQ_ROUTER);
  void *dealer = zmq_socket (context, ZMQ_DEALER);
  int one = 1, none = 0;
  zmq_setsockopt (router, ZMQ_ROUTER_MANDATORY, &one, sizeof one);
  zmq_setsockopt (router, ZMQ_LINGER, &none, sizeof none);
  zmq_setsockopt (dealer, ZMQ_LINGER, &none, sizeof none);
  zmq_setsockopt (dealer, ZMQ_ROUTING_ID, "me", 2);
  ck_assert_int_eq (zmq_bind (router, "inproc://outbox"), 0);

  IrisdOutbox outbox = { 0 };
  IrisdRoute route = { 2, "me" };
  for (guint8 i = 0; i < 5; i++)
    ck_assert (irisd_outbox_push (&outbox, make_reply (i), 5));
  ck_assert (!irisd_outbox_push (&outbox, make_reply (5), 5));
  ck_assert_uint_eq (outbox.count, 5);

  /* No peer of that name is connected yet: nothing goes out, and nothing is lost. */
  ck_assert_int_eq (irisd_outbox_flush (&outbox, router, &route), EHOSTUNREACH);
  ck_assert_uint_eq (outbox.count, 5);

  ck_assert_int_eq (zmq_connect (dealer, "inproc://outbox"), 0);
  ck_assert_int_eq (zmq_send (dealer, "hello", 5, 0), 5);
  char bytes[32];
  ck_assert_int_eq (zmq_recv (router, bytes, sizeof bytes, 0), 2);
  ck_assert_int_eq (zmq_recv (router, bytes, sizeof bytes, 0), 5);
  ck_assert_int_eq (irisd_outbox_flush (&outbox, router, &route), 0);
  ck_assert_uint_eq (outbox.count, 0);
  for (guint8 i = 0; i < 5; i++)
    {
      const int sizes[] = { 4, 1, IRIS_WIRE_ID_SIZE, 1, 1 };
      for (guint frame = 0; frame < G_N_ELEMENTS (sizes); frame++)
        ck_assert_int_eq (zmq_recv (dealer, bytes, sizeof bytes, 0), sizes[frame]);
      ck_assert_int_eq (bytes[0], i);
    }
  ck_assert (irisd_outbox_push (&outbox, make_reply (9), 5));
  irisd_outbox_clear (&outbox);
  zmq_close (router);
  zmq_close (dealer);
  zmq_ctx_term (context);
}
END_TEST

START_TEST (peers_are_found_by_route_and_sorted_by_age)
{
  IrisdPeers peers;
  irisd_peers_init (&peers);
  IrisdRoute routes[3] = { { 1, "a" }, { 2, "ab" }, { 5, "\0\1\2\3\4" } };
  for (guint i = 0; i < 3; i++)
    ck_assert_ptr_null (irisd_peers_lookup (&peers, &routes[i]));
  for (guint i = 0; i < 3; i++)
    irisd_peers_add (&peers, &routes[i]);
  for (guint i = 0; i < 3; i++)
    ck_assert (irisd_route_equal (&irisd_peers_lookup (&peers, &routes[i])->route, &routes[i]));
  irisd_peers_touch (&peers, irisd_peers_lookup (&peers, &routes[0]));
  for (guint i = 1; i <= 3; i++)
    {
      IrisdPeer *oldest = irisd_peers_get_oldest (&peers);
      ck_assert (irisd_route_equal (&oldest->route, &routes[i % 3]));
      irisd_peers_remove (&peers, oldest);
    }
  ck_assert_uint_eq (irisd_peers_get_count (&peers), 0);
  irisd_peers_clear (&peers);
}
END_TEST

START_TEST (a_noisy_place_in_the_log_is_persistent_short)
{
  IrisdLogSite site = { 0 };
  gboolean admitted = FALSE;
  gint64 now = 1000;
  guint through = 0;
  for (guint i = 0; i < 100; i++)
    {
      ck_assert_uint_eq (irisd_log_site_admit (&site, now, &admitted), 0);
      through += admitted;
    }
  ck_assert_uint_eq (through, IRISD_LOG_LINES_PER_SECOND);
  ck_assert_uint_eq (irisd_log_site_admit (&site, now + G_USEC_PER_SEC, &admitted),
                     100 - IRISD_LOG_LINES_PER_SECOND);
  ck_assert (admitted);
}
END_TEST

START_TEST (text_of_pending_connections_is_made_harmless)
{
  const struct
  {
    const char *bytes;
    gssize size;
    const char *quoted;
  } cases[] = {
    { NULL, 0, "" },
    { "plain", 5, "plain" },
    { "a\nb\033[2J", -1, "a?b?[2J" },
    { "längst zu viel", -1, "längst zu…" },
    { "\xff\xfe", 2, "\xef\xbf\xbd\xef\xbf\xbd" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *quoted = irisd_text_quote (cases[i].bytes, cases[i].size, 9);
      ck_assert_str_eq (quoted, cases[i].quoted);
      ck_assert (g_utf8_validate (quoted, -1, NULL));
    }
}
END_TEST

START_TEST (limits_take_numbers_with_units_within_their_range)
{
  IrisdLimits limits;
  irisd_limits_init (&limits);
  ck_assert_uint_eq (limits.max_body, IRIS_WIRE_DEFAULT_MAX_BODY);
  ck_assert (irisd_limits_set (&limits, "max-body", "70000", NULL));
  ck_assert_uint_eq (limits.max_body, 70000);
  ck_assert (irisd_limits_set (&limits, "max-body", "3M", NULL));
  ck_assert_uint_eq (limits.max_body, 3 * 1024 * 1024);

  const char *const bad[][2] = {
    { "max-body", "" },    { "max-body", "-1" },    { "max-body", "1 M" },
    { "max-body", "1MB" }, { "max-body", "1000G" }, { "max-body", "99999999999999999999" },
    { "max-body", "0" },   { "max-bodies", "1M" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) error = NULL;
      ck_assert (!irisd_limits_set (&limits, bad[i][0], bad[i][1], &error));
      ck_assert (g_error_matches (error, IRISD_ERROR, IRISD_ERROR_USAGE));
    }
  ck_assert_uint_eq (limits.max_body, 3 * 1024 * 1024);
}
END_TEST

START_TEST (every_limit_has_a_default_within_its_range_and_a_field_of_its_own)
{
  guint n = 0;
  const IrisdLimitInfo *table = irisd_limits_get_table (&n);
  ck_assert_uint_eq (n * sizeof (guint64), sizeof (IrisdLimits));
  IrisdLimits limits;
  memset (&limits, 0xff, sizeof limits);
  irisd_limits_init (&limits);
  for (guint i = 0; i < n; i++)
    {
      guint64 value = irisd_limits_get (&limits, &table[i]);
      ck_assert_uint_eq (value, table[i].fallback);
      ck_assert_uint_ge (value, table[i].min);
      ck_assert_uint_le (value, table[i].max);
      ck_assert_str_ne (table[i].summary, "");
    }
}
END_TEST

/* As people write it, and with the hyphens of a manual page. */
static char *
describe_limit (const IrisdLimitInfo *info)
{
  const char *units = "KMG";
  guint64 value = info->fallback;
  int unit = -1;
  for (;
       value >= 1024 && value % 1024 == 0 && g_str_has_prefix (info->summary, "bytes") && unit < 2;
       unit++)
    value /= 1024;
  g_auto (GStrv) words = g_strsplit (info->name, "-", -1);
  g_autofree char *name = g_strjoinv ("\\-", words);
  return g_strdup_printf ("\n.BR %s \" (%" G_GUINT64_FORMAT "%.*s)\"\n", name, value, unit >= 0,
                          units + MAX (unit, 0));
}

START_TEST (the_manual_page_gives_every_limit_with_its_default)
{
  g_autofree char *path = g_build_filename (source_root, "doc", "man", "irisd.conf.5", NULL);
  g_autofree char *page = NULL;
  ck_assert (g_file_get_contents (path, &page, NULL, NULL));
  guint n = 0;
  const IrisdLimitInfo *table = irisd_limits_get_table (&n);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *wanted = describe_limit (&table[i]);
      ck_assert_msg (strstr (page, wanted) != NULL, "irisd.conf.5 lacks%s", wanted);
    }
}
END_TEST

START_TEST (the_default_limits_fit_each_other)
{
  g_autoptr (IrisdConfig) config = irisd_config_new ();
  ck_assert (irisd_config_check (config, NULL));
  config->limits.max_output = config->limits.max_body + 1;
  g_autoptr (GError) error = NULL;
  ck_assert (!irisd_config_check (config, &error));
  ck_assert_ptr_nonnull (strstr (error->message, "max-output"));
}
END_TEST

START_TEST (a_steal_policy_is_given_in_words)
{
  const char *text = "[irisd]\nsteal = random+one\n";
  g_autoptr (IrisdConfig) config = irisd_config_new ();
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (2, 1);
  g_autoptr (IrisScheduler) scheduler = NULL;
  g_autoptr (IrisStealPolicy) policy = NULL;
  g_autoptr (GError) error = NULL;
  IrisStealAmount amount;

  ck_assert (irisd_config_load_text (config, "irisd.conf", text, strlen (text), &error));
  scheduler = irisd_places_new_scheduler (config, places);
  g_object_get (scheduler, "steal-policy", &policy, NULL);
  ck_assert_ptr_nonnull (policy);
  g_object_get (policy, "amount", &amount, NULL);
  ck_assert_int_eq (amount, IRIS_STEAL_AMOUNT_ONE);

  ck_assert (!irisd_config_set (config, "steal", "everything", &error));
  ck_assert (g_error_matches (error, IRISD_ERROR, IRISD_ERROR_USAGE));
}
END_TEST

START_TEST (only_loopback_addresses_are_listened_on)
{
  g_autoptr (IrisdConfig) config = irisd_config_new ();
  ck_assert (irisd_config_set (config, "tcp", "127.0.0.1:4700", NULL));
  ck_assert_str_eq (config->tcp_host, "127.0.0.1");
  ck_assert_uint_eq (config->tcp_port, 4700);
  ck_assert (irisd_config_set (config, "tcp", "[::1]:0", NULL));
  ck_assert_str_eq (config->tcp_host, "::1");
  ck_assert_uint_eq (config->tcp_port, 0);
  const char *const bad[] = {
    "",          ":",   ":1",     "127.0.0.1",     "127.0.0.1:", "127.0.0.1:65536",
    "0.0.0.0:1", "*:1", "[::]:1", "example.org:1", "192.0.2.1:1"
  };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) error = NULL;
      ck_assert (!irisd_config_set (config, "tcp", bad[i], &error));
      ck_assert (g_error_matches (error, IRISD_ERROR, IRISD_ERROR_USAGE));
    }
}
END_TEST

START_TEST (a_file_of_the_configuration_is_read_over_the_one_before)
{
  g_autoptr (IrisdConfig) config = irisd_config_new ();
  const char first[] = "[irisd]\nworkers=3\nbind=false\n", second[] = "[irisd]\nworkers=4\n";
  ck_assert (irisd_config_load_text (config, "1", first, strlen (first), NULL));
  ck_assert (irisd_config_load_text (config, "2", second, strlen (second), NULL));
  ck_assert_uint_eq (config->n_workers, 4);
  ck_assert (!config->bind);
  g_auto (GStrv) files = irisd_config_find_files ("/only/this");
  ck_assert_uint_eq (g_strv_length (files), 1);
  ck_assert_str_eq (files[0], "/only/this");
}
END_TEST

START_TEST (a_directory_belongs_to_one_at_a_time)
{
  g_autofree char *base = g_dir_make_tmp ("irisd-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (base, "d", NULL);
  g_autoptr (GError) error = NULL;
  IrisdRuntimeDir *first = irisd_runtime_dir_open (path, "--dir", FALSE, NULL);
  ck_assert_ptr_nonnull (first);
  ck_assert_ptr_null (irisd_runtime_dir_open (path, "--dir", FALSE, &error));
  ck_assert (g_error_matches (error, IRISD_ERROR, IRISD_ERROR_ALREADY_RUNNING));
  g_clear_error (&error);

  g_autofree char *socket = g_build_filename (path, "s", NULL);
  g_autofree char *endpoint = g_strconcat ("ipc://", socket, NULL);
  ck_assert (g_file_set_contents (socket, "", 0, NULL));
  irisd_runtime_dir_add_endpoint (first, endpoint);
  irisd_runtime_dir_add_endpoint (first, "tcp://127.0.0.1:1");
  irisd_runtime_dir_close (first);
  ck_assert (!g_file_test (socket, G_FILE_TEST_EXISTS));

  IrisdRuntimeDir *second = irisd_runtime_dir_open (path, "--dir", FALSE, NULL);
  ck_assert_ptr_nonnull (second);
  irisd_runtime_dir_close (second);
  ck_assert_int_eq (g_rmdir (path), 0);
  ck_assert_int_eq (g_rmdir (base), 0);
}
END_TEST

START_TEST (a_link_is_no_directory)
{
  g_autofree char *base = g_dir_make_tmp ("irisd-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (base, "link", NULL);
  ck_assert_int_eq (symlink (base, path), 0);
  g_autoptr (GError) error = NULL;
  ck_assert_ptr_null (irisd_runtime_dir_open (path, "--dir", FALSE, &error));
  ck_assert (g_error_matches (error, IRISD_ERROR, IRISD_ERROR_FAILED));
  g_unlink (path);
  g_rmdir (base);
}
END_TEST

START_TEST (a_name_belongs_to_one_service)
{
  g_autoptr (IrisdServices) services = irisd_services_new ();
  const IrisdService mine = { .name = "echo", .summary = "mine" };
  ck_assert (irisd_services_add (services, &mine));
  ck_assert (!irisd_services_add (services, &irisd_service_echo));
  const IrisWireString names[] = { { "echo", 4 }, { "ech", 3 }, { "echoo", 5 }, { NULL, 0 } };
  ck_assert_ptr_eq (irisd_services_lookup (services, &names[0]), &mine);
  for (guint i = 1; i < G_N_ELEMENTS (names); i++)
    ck_assert_ptr_null (irisd_services_lookup (services, &names[i]));
}
END_TEST

int
main (int argc, char **argv)
{
  source_root = argc > 1 ? argv[1] : ".";
  Suite *suite = suite_create ("irisd-parts");
  TCase *parts = tcase_create ("parts");
  tcase_add_test (parts, a_unacked_gives_back_exactly_what_is_named);
  tcase_add_test (parts, of_completions_with_one_id_the_oldest_is_acknowledged_first);
  tcase_add_test (parts, a_unacked_needs_room_for_what_is_owed_only);
  tcase_add_test (parts, a_steal_policy_is_given_in_words);
  tcase_add_test (parts, an_outbox_keeps_order_and_limit);
  tcase_add_test (parts, peers_are_found_by_route_and_sorted_by_age);
  tcase_add_test (parts, a_noisy_place_in_the_log_is_persistent_short);
  tcase_add_test (parts, text_of_pending_connections_is_made_harmless);
  tcase_add_test (parts, limits_take_numbers_with_units_within_their_range);
  tcase_add_test (parts, every_limit_has_a_default_within_its_range_and_a_field_of_its_own);
  tcase_add_test (parts, the_manual_page_gives_every_limit_with_its_default);
  tcase_add_test (parts, the_default_limits_fit_each_other);
  tcase_add_test (parts, only_loopback_addresses_are_listened_on);
  tcase_add_test (parts, a_file_of_the_configuration_is_read_over_the_one_before);
  tcase_add_test (parts, a_directory_belongs_to_one_at_a_time);
  tcase_add_test (parts, a_link_is_no_directory);
  tcase_add_test (parts, a_name_belongs_to_one_service);
  suite_add_tcase (suite, parts);
  return core_test_run (suite);
}
