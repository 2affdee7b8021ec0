/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Nodes: their entries as JSON, also damaged ones and those of other versions, and their states
 * over time, by a clock that the test gives.
 */
#include "core-test-run.h"
#include "daemon/cluster/members/irisd-member-table.h"
#include "daemon/cluster/members/irisd-node-entry.h"

#include <check.h>
#include <string.h>

#define INCARNATION "0123456789abcdef"

static IrisdNode *
make_node (const char *name, const char *incarnation)
{
  IrisdNode *node = irisd_node_new ();
  node->name = g_strdup (name);
  node->version = g_strdup ("0.1.0");
  node->incarnation = g_strdup (incarnation);
  node->running = 3;
  node->backlog = 12;
  irisd_node_set_n_places (node, 2);
  for (guint i = 0; i < 2; i++)
    {
      node->places[i].name = g_strdup_printf ("l3:%u", i);
      node->places[i].cpus = g_strdup ("0-3");
      node->places[i].workers = 4;
      node->places[i].backlog = 6;
    }
  node->labels = g_strsplit ("rack=r1 zone=north", " ", -1);
  node->load = (IrisdNodeLoad){ TRUE, TRUE, 7, 8, 9, 10 };
  node->services = g_strsplit ("sha256 echo", " ", -1);
  node->endpoints = g_strsplit ("ipc:///run/iris/front.ipc", " ", -1);
  return node;
}

static IrisdNode *
decode (const char *text, GError **error)
{
  return irisd_node_decode ("n1", text, strlen (text), error);
}

START_TEST (an_entry_is_read_as_it_was_written)
{
  g_autoptr (IrisdNode) node = make_node ("n1", INCARNATION);
  g_autoptr (GError) error = NULL;
  node->draining = TRUE;
  node->away = 7;
  node->guests = 8;
  g_autoptr (GBytes) text = irisd_node_encode (node);
  gsize length;
  gconstpointer data = g_bytes_get_data (text, &length);
  g_autoptr (IrisdNode) read = irisd_node_decode ("n1", data, length, &error);
  ck_assert_msg (read != NULL, "%s", error != NULL ? error->message : "");
  ck_assert_uint_eq (read->format, IRISD_NODE_FORMAT);
  ck_assert_str_eq (read->name, "n1");
  ck_assert_str_eq (read->version, "0.1.0");
  ck_assert_str_eq (read->incarnation, INCARNATION);
  ck_assert (read->draining);
  ck_assert_uint_eq (read->running, 3);
  ck_assert_uint_eq (read->backlog, 12);
  ck_assert_uint_eq (read->away, 7);
  ck_assert_uint_eq (read->guests, 8);
  ck_assert_uint_eq (read->n_places, 2);
  ck_assert_str_eq (read->places[1].name, "l3:1");
  ck_assert_str_eq (read->places[1].cpus, "0-3");
  ck_assert_uint_eq (read->places[1].backlog, 6);
  ck_assert_uint_eq (irisd_node_count_workers (read), 8);
  ck_assert_str_eq (irisd_node_get_label (read, "zone"), "north");
  ck_assert_ptr_null (irisd_node_get_label (read, "zon"));
  ck_assert (read->load.known && read->load.full);
  ck_assert_uint_eq (read->load.pending, 7);
  ck_assert_uint_eq (read->load.begun, 8);
  ck_assert_uint_eq (read->load.mean_run_ns, 9);
  ck_assert_uint_eq (read->load.mean_bytes, 10);
  /* Of the reader, for an older irisd has them in any order. */
  ck_assert (g_strv_equal ((const char *const *) read->services,
                           (const char *const[]){ "echo", "sha256", NULL }));
  ck_assert (
      g_strv_equal ((const char *const *) read->endpoints, (const char *const *) node->endpoints));
}
END_TEST

/* An irisd of the next version tells more, one of the last version tells less. */
START_TEST (entries_of_other_versions_are_read)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisdNode) newer = decode (
      "{\"format\":2,\"version\":\"0.2.0\",\"incarnation\":\"" INCARNATION
      "\",\"weather\":{\"wind\":[1,2.5,null]},\"places\":[{\"name\":\"a\",\"workers\":2,"
      "\"gpus\":1}],\"running\":1}",
      &error);
  ck_assert_msg (newer != NULL, "%s", error != NULL ? error->message : "");
  ck_assert_uint_eq (newer->format, 2);
  ck_assert_uint_eq (irisd_node_count_workers (newer), 2);
  g_autoptr (IrisdNode)
      older = decode ("{\"version\":\"0\",\"incarnation\":\"" INCARNATION "\"}", &error);
  ck_assert_ptr_nonnull (older);
  ck_assert (!older->draining);
  ck_assert (!older->load.known);
  ck_assert_uint_eq (older->n_places, 0);
  ck_assert_uint_eq (older->away, 0);
  ck_assert_uint_eq (g_strv_length (older->services), 0);
}
END_TEST

START_TEST (damaged_entries_are_refused)
{
  static const char *const bad[] = {
    "",
    "{",
    "[]",
    "null",
    "\"text\"",
    "{}",
    "{\"version\":\"0\"}",
    "{\"version\":1,\"incarnation\":\"" INCARNATION "\"}",
    "{\"version\":\"0\",\"incarnation\":\"0123\"}",
    "{\"version\":\"0\",\"incarnation\":\"0123456789ABCDEF\"}",
    "{\"version\":\"0\",\"incarnation\":\"" INCARNATION "\",\"running\":-1}",
    "{\"version\":\"0\",\"incarnation\":\"" INCARNATION "\",\"away\":-1}",
    "{\"version\":\"0\",\"incarnation\":\"" INCARNATION "\",\"guests\":\"1\"}",
    "{\"version\":\"0\",\"incarnation\":\"" INCARNATION "\",\"running\":\"1\"}",
    "{\"version\":\"0\",\"incarnation\":\"" INCARNATION "\",\"backlog\":1e300}",
    "{\"version\":\"0\",\"incarnation\":\"" INCARNATION "\",\"draining\":1}",
    "{\"version\":\"0\",\"incarnation\":\"" INCARNATION "\",\"load\":1}",
    "{\"version\":\"0\",\"incarnation\":\"" INCARNATION "\",\"load\":{\"begun\":-1}}",
    "{\"version\":\"0\",\"incarnation\":\"" INCARNATION "\",\"load\":{\"full\":1}}",
    "{\"version\":\"0\",\"incarnation\":\"" INCARNATION "\",\"places\":{}}",
    "{\"version\":\"0\",\"incarnation\":\"" INCARNATION "\",\"places\":[1]}",
    "{\"version\":\"0\",\"incarnation\":\"" INCARNATION "\",\"places\":[{}]}",
    "{\"version\":\"0\",\"incarnation\":\"" INCARNATION
    "\",\"places\":[{\"name\":\"a\",\"workers\":4294967296}]}",
    "{\"version\":\"0\",\"incarnation\":\"" INCARNATION "\",\"services\":[1]}",
    "{\"version\":\"0\",\"incarnation\":\"" INCARNATION "\",\"services\":\"echo\"}",
  };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) error = NULL;
      ck_assert_msg (decode (bad[i], &error) == NULL, "%s", bad[i]);
      ck_assert_ptr_nonnull (error);
    }
  ck_assert_ptr_null (irisd_node_decode ("N 1", "{}", 2, NULL));
  ck_assert_ptr_null (irisd_node_decode ("n1", "{\"version\":\"\xff\"}", 15, NULL));
}
END_TEST

START_TEST (a_load_that_is_not_known_is_not_told)
{
  g_autoptr (IrisdNode) node = make_node ("n1", INCARNATION);
  node->load.known = FALSE;
  g_autoptr (GBytes) text = irisd_node_encode (node);
  gsize length;
  gconstpointer data = g_bytes_get_data (text, &length);
  g_autoptr (IrisdNode) read = irisd_node_decode ("n1", data, length, NULL);
  ck_assert_ptr_nonnull (read);
  ck_assert (!read->load.known);
}
END_TEST

START_TEST (a_signature_tells_another_secret)
{
  g_autoptr (GBytes) secret = g_bytes_new_static ("a secret", 8);
  g_autoptr (GBytes) other = g_bytes_new_static ("b secret", 8);
  g_autoptr (IrisdNode) node = make_node ("n1", INCARNATION);
  ck_assert (!irisd_node_has_other_secret (node, secret)); /* of an irisd that signs none */
  node->signature = irisd_node_sign (node, secret);
  g_autoptr (GBytes) text = irisd_node_encode (node);
  gsize length;
  gconstpointer data = g_bytes_get_data (text, &length);
  g_autoptr (IrisdNode) read = irisd_node_decode ("n1", data, length, NULL);
  ck_assert (!irisd_node_has_other_secret (read, secret));
  ck_assert (irisd_node_has_other_secret (read, other));
  /* An entry that was copied to another key is not of that node. */
  g_autoptr (IrisdNode) copied = irisd_node_decode ("n2", data, length, NULL);
  ck_assert (irisd_node_has_other_secret (copied, secret));
}
END_TEST

/* Any cut and any changed byte gives an entry or an error, and no crash. */
START_TEST (an_entry_may_be_damaged_anywhere)
{
  g_autoptr (IrisdNode) node = make_node ("n1", INCARNATION);
  g_autoptr (GBytes) text = irisd_node_encode (node);
  gsize length;
  const char *data = g_bytes_get_data (text, &length);
  guint n_refused = 0;
  for (gsize at = 0; at < length; at++)
    {
      g_autofree char *other = g_memdup2 (data, length);
      g_autoptr (IrisdNode) cut = irisd_node_decode ("n1", data, at, NULL);
      ck_assert_ptr_null (cut);
      other[at] = (char) (other[at] ^ 0x55);
      g_autoptr (IrisdNode) changed = irisd_node_decode ("n1", other, length, NULL);
      n_refused += changed == NULL;
    }
  ck_assert_uint_gt (n_refused, 0);
}
END_TEST

START_TEST (too_long_an_entry_is_refused)
{
  g_autoptr (GString) text = g_string_new ("{\"version\":\"0\",\"incarnation\":\"" INCARNATION
                                           "\",\"services\":[\"a\"");
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < IRISD_NODE_MOST_TEXTS; i++)
    g_string_append (text, ",\"a\"");
  g_string_append (text, "]}");
  ck_assert_ptr_null (decode (text->str, &error));
  g_autofree char *spaces = g_strnfill (IRISD_NODE_MOST_BYTES + 1, ' ');
  ck_assert_ptr_null (decode (spaces, NULL));
}
END_TEST

static IrisdNode *
pass_on (const IrisdNode *node)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) text = irisd_node_encode (node);
  gsize length;
  gconstpointer data = g_bytes_get_data (text, &length);
  IrisdNode *read = irisd_node_decode ("n1", data, length, &error);
  ck_assert_msg (read != NULL, "%s", error != NULL ? error->message : "");
  return read;
}

/* A worker may serve what it likes, and a machine have any processors: the node stays one. */
START_TEST (what_is_too_long_for_others_is_left_out)
{
  g_autoptr (IrisdNode) node = make_node ("n1", INCARNATION);
  g_autofree char *longest = g_strnfill (1024, 'l');
  g_autofree char *longer = g_strnfill (1025, 'm');
  g_free (node->places[0].cpus);
  node->places[0].cpus = g_strnfill (4096, '1');
  g_strfreev (node->services);
  node->services = g_new0 (char *, 4);
  node->services[0] = g_strdup ("echo");
  node->services[1] = g_strdup (longer);
  node->services[2] = g_strdup (longest);
  g_autoptr (IrisdNode) read = pass_on (node);
  ck_assert (g_strv_equal ((const char *const *) read->services,
                           (const char *const[]){ "echo", longest, NULL }));
  ck_assert_str_eq (read->places[0].name, "l3:0");
  ck_assert_str_eq (read->places[0].cpus, "");
  ck_assert_str_eq (read->places[1].cpus, "0-3");
}
END_TEST

/* As many and as long ones as the limits of irisd allow, of characters that JSON writes longest. */
START_TEST (an_entry_with_very_many_services_is_read)
{
  g_autoptr (IrisdNode) node = make_node ("n1", INCARNATION);
  g_strfreev (node->services);
  node->services = g_new0 (char *, 2 * IRISD_NODE_MOST_TEXTS + 1);
  for (guint i = 0; i < 2 * IRISD_NODE_MOST_TEXTS; i++)
    {
      g_autofree char *text = g_strnfill (1000, '\001');
      node->services[i] = g_strdup_printf ("%04u%s", i, text);
    }
  g_autoptr (IrisdNode) read = pass_on (node);
  ck_assert_uint_gt (g_strv_length (read->services), 10);
  ck_assert_str_eq (read->services[0], node->services[0]);
}
END_TEST

START_TEST (marks_are_read_as_they_were_written)
{
  IrisdMemberMark mark;
  for (IrisdMemberMark i = IRISD_MARK_MEMBER; i <= IRISD_MARK_REMOVED; i++)
    {
      g_autoptr (GBytes) text = irisd_member_mark_encode (i);
      gsize length;
      gconstpointer data = g_bytes_get_data (text, &length);
      ck_assert (irisd_member_mark_decode (data, length, &mark, NULL));
      ck_assert_int_eq (mark, i);
    }
  const char *later = "{\"mark\":\"lent\"}";
  ck_assert (irisd_member_mark_decode (later, strlen (later), &mark, NULL));
  ck_assert_int_eq (mark, IRISD_MARK_MEMBER);
  ck_assert (!irisd_member_mark_decode ("{}", 2, &mark, NULL));
}
END_TEST

/* --- states over time ------------------------------------------------------------------------- */

static IrisdMoment
at (gint64 ms)
{
  return (IrisdMoment){ ms * 1000, 1700000000000 + (guint64) ms };
}

static void
put (IrisdMemberTable *table, const char *name, gint64 ms)
{
  g_autoptr (IrisdNode) node = make_node (name, INCARNATION);
  irisd_member_table_put (table, node, at (ms));
}

/* 0: not known. */
static IrisdMemberState
state_of (IrisdMemberTable *table, const char *name)
{
  g_autoptr (IrisdMembers) members = irisd_member_table_describe (table);
  const IrisdMember *member = irisd_members_find (members, name);
  return member != NULL ? member->state : 0;
}

START_TEST (a_silent_node_is_gone_after_its_life_and_comes_back)
{
  g_autoptr (IrisdMemberTable) table = irisd_member_table_new ("n1");
  put (table, "n2", 0);
  ck_assert_int_eq (state_of (table, "n2"), IRISD_MEMBER_HERE);
  irisd_member_table_sweep (table, at (IRISD_MEMBER_LIFE_MS));
  ck_assert_int_eq (state_of (table, "n2"), IRISD_MEMBER_HERE);
  irisd_member_table_sweep (table, at (IRISD_MEMBER_LIFE_MS + IRISD_MEMBER_REPORT_MS + 1));
  ck_assert_int_eq (state_of (table, "n2"), IRISD_MEMBER_GONE);
  put (table, "n2", 60000);
  ck_assert_int_eq (state_of (table, "n2"), IRISD_MEMBER_HERE);
  irisd_member_table_lose (table, "n2", at (61000));
  ck_assert_int_eq (state_of (table, "n2"), IRISD_MEMBER_GONE);
  g_autoptr (IrisdMembers) members = irisd_member_table_describe (table);
  ck_assert_uint_eq (irisd_members_find (members, "n2")->since_ms, at (61000).unix_ms);
  ck_assert_uint_eq (irisd_members_find (members, "n2")->seen_ms, at (60000).unix_ms);
}
END_TEST

START_TEST (reports_keep_the_time_since_when_a_node_is_here)
{
  g_autoptr (IrisdMemberTable) table = irisd_member_table_new ("n1");
  for (gint64 ms = 0; ms < 60000; ms += IRISD_MEMBER_REPORT_MS)
    {
      put (table, "n2", ms);
      irisd_member_table_sweep (table, at (ms + IRISD_MEMBER_REPORT_MS));
    }
  g_autoptr (IrisdMembers) members = irisd_member_table_describe (table);
  ck_assert_int_eq (members->members[0].state, IRISD_MEMBER_HERE);
  ck_assert_uint_eq (members->members[0].since_ms, at (0).unix_ms);
}
END_TEST

START_TEST (marks_and_entries_make_the_state)
{
  g_autoptr (IrisdMemberTable) table = irisd_member_table_new ("n2");
  irisd_member_table_mark (table, "n2", IRISD_MARK_MEMBER, at (0));
  ck_assert_int_eq (state_of (table, "n2"), IRISD_MEMBER_GONE);
  put (table, "n2", 0);
  ck_assert_int_eq (state_of (table, "n2"), IRISD_MEMBER_HERE);
  irisd_member_table_mark (table, "n2", IRISD_MARK_DRAINED, at (1));
  ck_assert_int_eq (state_of (table, "n2"), IRISD_MEMBER_DRAINING);
  g_autoptr (IrisdMembers) members = irisd_member_table_describe (table);
  ck_assert (members->own_draining);
  irisd_member_table_mark (table, "n2", IRISD_MARK_MEMBER, at (2));
  ck_assert_int_eq (state_of (table, "n2"), IRISD_MEMBER_HERE);
  irisd_member_table_lose (table, "n2", at (3));
  irisd_member_table_mark (table, "n2", IRISD_MARK_REMOVED, at (3));
  ck_assert_int_eq (state_of (table, "n2"), IRISD_MEMBER_REMOVED);
  put (table, "n2", 4);
  ck_assert_int_eq (state_of (table, "n2"), IRISD_MEMBER_HERE);
}
END_TEST

/* As when its irisd ends in order. */
START_TEST (a_node_that_says_so_is_draining)
{
  g_autoptr (IrisdMemberTable) table = irisd_member_table_new ("n1");
  g_autoptr (IrisdNode) node = make_node ("n2", INCARNATION);
  node->draining = TRUE;
  irisd_member_table_put (table, node, at (0));
  ck_assert_int_eq (state_of (table, "n2"), IRISD_MEMBER_DRAINING);
}
END_TEST

START_TEST (what_a_reload_does_not_find_is_gone_or_forgotten)
{
  g_autoptr (IrisdMemberTable) table = irisd_member_table_new ("n1");
  put (table, "n1", 0);
  put (table, "n2", 0);
  put (table, "n3", 0);
  irisd_member_table_mark (table, "n2", IRISD_MARK_MEMBER, at (0));
  irisd_member_table_begin_reload (table);
  put (table, "n1", 100);
  put (table, "n4", 100);
  irisd_member_table_mark (table, "n2", IRISD_MARK_MEMBER, at (100));
  irisd_member_table_end_reload (table, at (100));
  ck_assert_int_eq (state_of (table, "n1"), IRISD_MEMBER_HERE);
  ck_assert_int_eq (state_of (table, "n2"), IRISD_MEMBER_GONE);
  ck_assert_int_eq (state_of (table, "n3"), 0);
  ck_assert_int_eq (state_of (table, "n4"), IRISD_MEMBER_HERE);
}
END_TEST

/* While there was no majority of servers no node could put its entry. */
START_TEST (a_node_whose_entry_ended_without_servers_may_put_it_again)
{
  g_autoptr (IrisdMemberTable) table = irisd_member_table_new ("n1");
  const gint64 back = 60000, later = back + 2 * IRISD_MEMBER_REPORT_MS;
  put (table, "n1", 0);
  put (table, "n2", 0);
  irisd_member_table_mark (table, "n2", IRISD_MARK_MEMBER, at (0));
  irisd_member_table_excuse (table, at (back));
  irisd_member_table_begin_reload (table);
  irisd_member_table_mark (table, "n2", IRISD_MARK_MEMBER, at (back));
  irisd_member_table_end_reload (table, at (back));
  irisd_member_table_sweep (table, at (later - 1));
  ck_assert_int_eq (state_of (table, "n2"), IRISD_MEMBER_HERE);
  irisd_member_table_begin_reload (table);
  irisd_member_table_mark (table, "n2", IRISD_MARK_MEMBER, at (later));
  irisd_member_table_end_reload (table, at (later));
  ck_assert_int_eq (state_of (table, "n2"), IRISD_MEMBER_GONE);
}
END_TEST

/* A put that the bucket refused is seen by all; it must not bring its node in. */
START_TEST (a_hint_of_another_run_changes_nothing)
{
  g_autoptr (IrisdMemberTable) table = irisd_member_table_new ("n1");
  g_autoptr (IrisdNode) same = make_node ("n2", INCARNATION);
  g_autoptr (IrisdNode) other = make_node ("n2", "fedcba9876543210");
  ck_assert (!irisd_member_table_refresh (table, same, at (0)));
  ck_assert_int_eq (state_of (table, "n2"), 0);
  put (table, "n2", 0);
  ck_assert (irisd_member_table_refresh (table, same, at (10000)));
  ck_assert (!irisd_member_table_refresh (table, other, at (12000)));
  irisd_member_table_sweep (table, at (12000 + IRISD_MEMBER_LIFE_MS));
  ck_assert_int_eq (state_of (table, "n2"), IRISD_MEMBER_HERE);
  irisd_member_table_lose (table, "n2", at (30000));
  ck_assert (!irisd_member_table_refresh (table, same, at (31000)));
}
END_TEST

/* An irisd of before tells only what waits at its places. */
START_TEST (the_policy_sees_what_the_entries_tell)
{
  g_autoptr (IrisdMemberTable) table = irisd_member_table_new ("n1");
  g_autoptr (IrisdNode) node = make_node ("n1", INCARNATION);
  g_autoptr (IrisdNode) old = make_node ("n2", INCARNATION);
  g_autoptr (IrisdNode) ended = make_node ("n3", INCARNATION);
  const IrisdMoment now = { 20 * G_USEC_PER_SEC, 1000 };
  old->load = (IrisdNodeLoad){ .known = FALSE };
  old->running = 100;
  irisd_member_table_put (table, node, now);
  irisd_member_table_put (table, old, now);
  irisd_member_table_put (table, ended, now);
  irisd_member_table_mark (table, "n3", IRISD_MARK_MEMBER, now);
  irisd_member_table_lose (table, "n3", now);
  irisd_member_table_mark (table, "n4", IRISD_MARK_REMOVED, now);
  irisd_member_table_mark (table, "n2", IRISD_MARK_DRAINED, now);
  g_autoptr (IrisdMembers) members = irisd_member_table_describe (table);
  const IrisdNodeMap map = irisd_members_get_map (members);
  const IrisdNodeView *views = map.nodes;
  ck_assert_uint_eq (map.n_nodes, 4);
  ck_assert_str_eq (views[0].name, "n1");
  ck_assert_str_eq (views[0].rack, "r1");
  ck_assert_str_eq (views[0].zone, "north");
  ck_assert_uint_eq (views[0].n_workers, 8);
  ck_assert_uint_eq (views[0].n_idle, 5);
  ck_assert_uint_eq (views[0].backlog, 7);
  ck_assert_uint_eq (views[0].n_begun, 8);
  ck_assert_uint_eq (views[0].mean_run_ns, 9);
  ck_assert_uint_eq (views[0].mean_bytes, 10);
  ck_assert_int_eq (views[0].seen_us, now.us);
  ck_assert (views[0].full && !views[0].draining);
  ck_assert (irisd_node_view_has_service (&views[0], "echo"));
  ck_assert_uint_eq (views[1].backlog, 12);
  ck_assert_uint_eq (views[1].n_idle, 0);
  ck_assert (views[1].draining && !views[1].full);
  ck_assert_int_eq (irisd_node_view_get_standing (&views[2], now.us), IRISD_NODE_GONE);
  ck_assert_int_eq (irisd_node_view_get_standing (&views[3], now.us), IRISD_NODE_REMOVED);
}
END_TEST

START_TEST (members_come_in_the_order_of_their_names)
{
  g_autoptr (IrisdMemberTable) table = irisd_member_table_new ("n1");
  const char *const names[] = { "b", "a-2", "c9", "a" };
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    put (table, names[i], 0);
  g_autoptr (IrisdMembers) members = irisd_member_table_describe (table);
  ck_assert_uint_eq (irisd_members_count (members, IRISD_MEMBER_HERE), 4);
  for (guint i = 1; i < members->n_members; i++)
    ck_assert_int_lt (strcmp (members->members[i - 1].name, members->members[i].name), 0);
  ck_assert_ptr_null (irisd_members_find (members, "z"));
  ck_assert_ptr_nonnull (irisd_members_find (members, "a"));
}
END_TEST

/* --- the box ---------------------------------------------------------------------------------- */

#define N_READERS 3
#define N_LOOKS   2000

typedef struct
{
  IrisdMembersBox box;
} Shared;

static gpointer
look (gpointer data)
{
  Shared *shared = data;
  guint64 last = 0;
  for (guint i = 0; i < N_LOOKS; i++)
    {
      g_autoptr (IrisdMembers) members = irisd_members_box_get (&shared->box);
      ck_assert_uint_ge (members->n_reports, last);
      ck_assert_str_eq (members->own, "n1");
      ck_assert_uint_eq (members->n_members, 1);
      last = members->n_reports;
    }
  return NULL;
}

static IrisdMembers *
make_picture (guint64 number)
{
  IrisdMembers *members = irisd_members_new ("n1", 1);
  members->members[0].name = g_strdup ("n1");
  members->members[0].node = make_node ("n1", INCARNATION);
  members->n_reports = number;
  return members;
}

START_TEST (a_picture_lives_as_long_as_its_readers)
{
  Shared shared;
  GThread *readers[N_READERS];
  irisd_members_box_init (&shared.box, make_picture (0));
  g_autoptr (IrisdMembers) first = irisd_members_box_get (&shared.box);
  for (guint i = 0; i < N_READERS; i++)
    readers[i] = g_thread_new ("reader", look, &shared);
  for (guint64 i = 1; i <= N_LOOKS; i++)
    irisd_members_box_put (&shared.box, make_picture (i));
  for (guint i = 0; i < N_READERS; i++)
    g_thread_join (readers[i]);
  irisd_members_box_clear (&shared.box);
  ck_assert_uint_eq (first->n_reports, 0);
  ck_assert_str_eq (first->members[0].node->name, "n1");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("irisd-members");
  TCase *entries = tcase_create ("entries");
  tcase_add_test (entries, an_entry_is_read_as_it_was_written);
  tcase_add_test (entries, entries_of_other_versions_are_read);
  tcase_add_test (entries, damaged_entries_are_refused);
  tcase_add_test (entries, a_load_that_is_not_known_is_not_told);
  tcase_add_test (entries, a_signature_tells_another_secret);
  tcase_add_test (entries, an_entry_may_be_damaged_anywhere);
  tcase_add_test (entries, too_long_an_entry_is_refused);
  tcase_add_test (entries, what_is_too_long_for_others_is_left_out);
  tcase_add_test (entries, an_entry_with_very_many_services_is_read);
  tcase_add_test (entries, marks_are_read_as_they_were_written);
  suite_add_tcase (suite, entries);
  TCase *states = tcase_create ("states");
  tcase_add_test (states, a_silent_node_is_gone_after_its_life_and_comes_back);
  tcase_add_test (states, reports_keep_the_time_since_when_a_node_is_here);
  tcase_add_test (states, marks_and_entries_make_the_state);
  tcase_add_test (states, a_node_that_says_so_is_draining);
  tcase_add_test (states, what_a_reload_does_not_find_is_gone_or_forgotten);
  tcase_add_test (states, a_node_whose_entry_ended_without_servers_may_put_it_again);
  tcase_add_test (states, a_hint_of_another_run_changes_nothing);
  tcase_add_test (states, the_policy_sees_what_the_entries_tell);
  tcase_add_test (states, members_come_in_the_order_of_their_names);
  suite_add_tcase (suite, states);
  TCase *box = tcase_create ("box");
  tcase_add_test (box, a_picture_lives_as_long_as_its_readers);
  suite_add_tcase (suite, box);
  return core_test_run (suite);
}
