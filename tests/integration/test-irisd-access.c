/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Users and rights. Only root can act as another user, so tests with one need root; the others are
 * those in which even irisd's owner is refused.
 */
#include "irisd-fixture.h"

#include <sys/stat.h>
#include <unistd.h>

#define NO_ACCESS 65534
#define FRIEND    65533

/* The outcome for the other user. */
enum
{
  WELCOME = 10,
  NO_ANSWER,
  RAN,
  REFUSED,
  OTHER,
  CROWD,
};

/* Opens the way to irisd's directory for others. */
static void
open_way (Irisd *irisd)
{
  g_autofree char *base = g_path_get_dirname (irisd->dir);
  ck_assert_int_eq (chmod (base, 0711), 0);
}

static gboolean
is_root (void)
{
  if (geteuid () == 0)
    return TRUE;
  g_printerr ("# not root: no other user to be\n");
  return FALSE;
}

/* In a process of its own: becomes @uid, says HELLO, and, after WELCOME, submits an item. */
static int
visit (const char *endpoint, uid_t uid, IrisWireMessage *item)
{
  if (setgid (uid) != 0 || setuid (uid) != 0)
    return OTHER;
  g_autoptr (Client) client = client_new (endpoint);
  int patience = item == NULL ? 500 : GIVE_UP_MS;
  zmq_setsockopt (client->socket, ZMQ_RCVTIMEO, &patience, sizeof patience);
  IrisWireMessage hello;
  client_init_message (client, &hello, IRIS_WIRE_HELLO);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MIN, 1);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MAX, 1);
  client_send (client, &hello);
  char byte;
  if (zmq_recv (client->socket, &byte, 1, 0) < 0)
    return NO_ANSWER;
  if (item == NULL)
    return WELCOME;
  for (int more = 1; more != 0;)
    {
      gsize size = sizeof more;
      zmq_getsockopt (client->socket, ZMQ_RCVMORE, &more, &size);
      if (more != 0)
        zmq_recv (client->socket, &byte, 1, 0);
    }
  message_set_id (item, ++client->next_id);
  client_send (client, item);
  const IrisWireMessage *reply = client_receive (client);
  if (reply->type == IRIS_WIRE_RESULT)
    return RAN;
  return reply->type == IRIS_WIRE_ERROR_REPLY && reply->code == IRIS_WIRE_ERROR_NOT_PERMITTED
                 && !reply->ends
             ? REFUSED
             : OTHER;
}

/* In a process of its own: becomes @uid, and says HELLO on more and more connections. Returns CROWD
 * and how many were accepted before one was refused for their number. */
static int
crowd (const char *endpoint, uid_t uid)
{
  if (setgid (uid) != 0 || setuid (uid) != 0)
    return OTHER;
  g_autoptr (GPtrArray) clients = g_ptr_array_new_with_free_func ((GDestroyNotify) client_free);
  for (int n = 0; n < 10; n++)
    {
      Client *client = client_new (endpoint);
      IrisWireMessage hello;
      g_ptr_array_add (clients, client);
      client_init_message (client, &hello, IRIS_WIRE_HELLO);
      iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MIN, 1);
      iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MAX, 1);
      client_send (client, &hello);
      const IrisWireMessage *reply = client_receive (client);
      g_autofree char *limit = iris_wire_string_dup (&reply->limit);
      if (reply->type == IRIS_WIRE_BUSY)
        return strcmp (limit, "max-user-peers") == 0 ? CROWD + n : OTHER;
    }
  return OTHER;
}

static void
make_item (IrisWireMessage *item, const char *service, const char *path)
{
  static const char *const argv[] = { "true", NULL };
  iris_wire_message_init (item, IRIS_WIRE_SUBMIT, NULL);
  iris_wire_message_set_string (item, IRIS_WIRE_KEY_SERVICE, service, -1);
  iris_wire_message_set_boolean (item, IRIS_WIRE_KEY_QUIET, TRUE);
  if (path != NULL)
    iris_wire_message_set_string (item, IRIS_WIRE_KEY_PATH, path, -1);
  else
    iris_wire_message_set_args (item, argv);
}

/* Executes this program again: after a fork ZeroMQ cannot be used. */
static int
visit_as (const char *endpoint, uid_t uid, const char *service, const char *path)
{
  g_autofree char *number = g_strdup_printf ("%u", (guint) uid);
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) visitor = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_SILENCE, &error,
                                                      "/proc/self/exe", "visit", endpoint, number,
                                                      service != NULL ? service : "", path, NULL);
  ck_assert_msg (visitor != NULL && g_subprocess_wait (visitor, NULL, &error), "%s",
                 error != NULL ? error->message : "");
  ck_assert (g_subprocess_get_if_exited (visitor));
  return g_subprocess_get_exit_status (visitor);
}

/* The visitor's arguments. */
static char **visit_words;
static int seen = OTHER;

START_TEST (a_visit)
{
  uid_t uid = (uid_t) g_ascii_strtoull (visit_words[2], NULL, 10);
  IrisWireMessage item;
  if (strcmp (visit_words[3], "crowd") == 0)
    {
      seen = crowd (visit_words[1], uid);
      return;
    }
  if (*visit_words[3] != '\0')
    make_item (&item, visit_words[3], visit_words[4]);
  seen = visit (visit_words[1], uid, *visit_words[3] != '\0' ? &item : NULL);
}
END_TEST

/* Check's assertions, which the client uses, are for tests alone. */
static int
run_visitor (char **words)
{
  Suite *suite = suite_create ("visitor");
  TCase *tcase = tcase_create ("visitor");
  tcase_add_test (tcase, a_visit);
  suite_add_tcase (suite, tcase);
  visit_words = words;
  return core_test_run (suite) == EXIT_SUCCESS ? seen : OTHER;
}

static guint
get_mode (const char *path)
{
  struct stat st;
  ck_assert_int_eq (stat (path, &st), 0);
  return st.st_mode & 07777;
}

START_TEST (the_sockets_are_the_owners_alone)
{
  Irisd *irisd = irisd_start (NULL, ONE_WORKER, NULL);
  ck_assert_uint_eq (get_mode (irisd->dir), 0700);
  ck_assert_uint_eq (get_mode (irisd->front + strlen ("ipc://")), 0600);
  if (is_root ())
    {
      /* Even with an open directory: the ZAP handler refuses too. */
      open_way (irisd);
      ck_assert_int_eq (chmod (irisd->dir, 0711), 0);
      ck_assert_int_eq (chmod (irisd->front + strlen ("ipc://"), 0666), 0);
      ck_assert_int_eq (visit_as (irisd->front, NO_ACCESS, NULL, NULL), NO_ANSWER);
      g_autofree char *log = irisd_read_log (irisd);
      ck_assert_ptr_nonnull (strstr (log, "refused a connection of user 65534"));
    }
  g_autoptr (Client) client = client_hello (irisd->front);
  client_free (g_steal_pointer (&client));
  irisd_finish (irisd);
}
END_TEST

START_TEST (users_that_the_configuration_names_may_compute_and_no_more)
{
  if (!is_root ())
    return;
  Irisd *irisd = irisd_start ("[access]\nusers = 65533; 65532\n", ONE_WORKER, NULL);
  open_way (irisd);
  ck_assert_uint_eq (get_mode (irisd->dir), 0711);
  ck_assert_uint_eq (get_mode (irisd->front + strlen ("ipc://")), 0666);
  g_autofree char *lock = g_build_filename (irisd->dir, "irisd.lock", NULL);
  ck_assert_uint_eq (get_mode (lock), 0600);
  ck_assert_int_eq (visit_as (irisd->front, FRIEND, "echo", NULL), RAN);
  ck_assert_int_eq (visit_as (irisd->front, FRIEND, "command", NULL), REFUSED);
  ck_assert_int_eq (visit_as (irisd->front, FRIEND, "sha256", "/etc/passwd"), REFUSED);
  ck_assert_int_eq (visit_as (irisd->front, NO_ACCESS, NULL, NULL), NO_ANSWER);
  irisd_finish (irisd);
}
END_TEST

START_TEST (each_rule_is_about_one_thing)
{
  if (!is_root ())
    return;
  Irisd *irisd = irisd_start ("[access]\nusers = 65533;65534\ncommands = 65533\nfiles = 65534\n",
                              ONE_WORKER, NULL);
  open_way (irisd);
  ck_assert_int_eq (visit_as (irisd->front, FRIEND, "command", NULL), RAN);
  ck_assert_int_eq (visit_as (irisd->front, NO_ACCESS, "command", NULL), REFUSED);
  ck_assert_int_eq (visit_as (irisd->front, FRIEND, "sha256", "/etc/passwd"), REFUSED);
  ck_assert_int_eq (visit_as (irisd->front, NO_ACCESS, "sha256", "/etc/passwd"), RAN);
  irisd_finish (irisd);
}
END_TEST

START_TEST (one_user_cannot_take_all_connections)
{
  if (!is_root ())
    return;
  Irisd *irisd = irisd_start ("[access]\nusers = 65533\n[limits]\nmax-user-peers = 3\n", ONE_WORKER,
                              NULL);
  open_way (irisd);
  ck_assert_int_eq (visit_as (irisd->front, FRIEND, "crowd", NULL), CROWD + 3);
  g_autoptr (GPtrArray) own = g_ptr_array_new_with_free_func ((GDestroyNotify) client_free);
  for (guint i = 0; i < 5; i++)
    g_ptr_array_add (own, client_hello (irisd->front));
  /* Ended connections of the user no longer count. */
  ck_assert_int_eq (visit_as (irisd->front, FRIEND, "crowd", NULL), CROWD + 3);
  irisd_finish (irisd);
}
END_TEST

START_TEST (not_even_the_owner_if_the_configuration_says_so)
{
  Irisd *irisd = irisd_start ("[access]\ncommands = none\nfiles = none\n", ONE_WORKER, NULL);
  g_autoptr (Client) client = client_hello (irisd->front);
  client_submit_command (client, NULL, (const char *const[]){ "true", NULL });
  assert_error (client_receive (client), IRIS_WIRE_ERROR_NOT_PERMITTED);
  ck_assert (!client->message.ends);
  g_autofree char *reason = iris_wire_string_dup (&client->message.message);
  ck_assert_ptr_nonnull (strstr (reason, "[access] commands"));
  client_submit_path (client, "wordcount", "/etc/passwd");
  assert_error (client_receive (client), IRIS_WIRE_ERROR_NOT_PERMITTED);
  IrisWireMessage item;
  client_init_message (client, &item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "echo", -1);
  iris_wire_message_set_list (&item, IRIS_WIRE_KEY_HOOK, (const char *const[]){ "true", NULL });
  client_send (client, &item);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_NOT_PERMITTED);
  client_submit (client, "wordcount", "a b", 3, IRIS_PLACE_ANY, FALSE);
  client_receive_type (client, IRIS_WIRE_RESULT);
  client_free (g_steal_pointer (&client));
  irisd_finish (irisd);
}
END_TEST

/* ZeroMQ loses the metadata of a message's first frame if it was read before; the user of each
 * message must be known all the same, under any load. */
START_TEST (the_user_is_known_of_every_message)
{
  Irisd *irisd = irisd_start (NULL, ONE_WORKER, NULL);
  g_autoptr (Client) client = client_hello (irisd->front);
  for (guint i = 0; i < 500; i++)
    client_submit_path (client, "sha256", "/dev/null/x");
  for (guint i = 0; i < 500; i++)
    {
      assert_error (client_receive (client), IRIS_WIRE_ERROR_UNREADABLE_FILE);
      ck_assert (client->message.ends); /* it was run */
    }
  client_free (g_steal_pointer (&client));
  irisd_finish (irisd);
}
END_TEST

START_TEST (rules_that_make_no_sense_are_refused)
{
  static const struct
  {
    const char *config;
    const char *words;
  } bad[] = {
    { "[access]\nusers = no-such-user-here\n", "there is no user “no-such-user-here”" },
    { "[access]\ncommands = 65533\n", "is not admitted" },
    { "[access]\ncommands = none;65533\nusers = 65533\n", "stands alone" },
    { "[access]\nuser = 0\n", "there is no key “user” in this group" },
    { "[access]\noperators = 65533\n", "is not admitted" },
    { "[access]\noperators = none\n", "there is no user “none”" },
    { "[access]\nserve = 65533: a\n", "[access] serve names the user 65533" },
    { "[access]\nusers = 65533\nserve = 65533\n", "names no service" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      int status;
      g_autofree char *log = irisd_fail_to_start (bad[i].config, &status);
      ck_assert_int_eq (status, 2);
      ck_assert_msg (strstr (log, bad[i].words) != NULL, "%s", log);
    }
}
END_TEST

int
main (int argc, char **argv)
{
  if (argc > 1)
    return run_visitor (argv + 1);

  Suite *suite = suite_create ("irisd-access");
  TCase *access = tcase_create ("access");
  tcase_add_test (access, the_sockets_are_the_owners_alone);
  tcase_add_test (access, users_that_the_configuration_names_may_compute_and_no_more);
  tcase_add_test (access, each_rule_is_about_one_thing);
  tcase_add_test (access, one_user_cannot_take_all_connections);
  tcase_add_test (access, not_even_the_owner_if_the_configuration_says_so);
  tcase_add_test (access, the_user_is_known_of_every_message);
  tcase_add_test (access, rules_that_make_no_sense_are_refused);
  suite_add_tcase (suite, access);
  return core_test_run (suite);
}
