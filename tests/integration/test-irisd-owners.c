/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Ownership: each request of each kind of client against another user's items. Only root can be
 * another user.
 */
#include "owner-probes.h"

#include <sys/stat.h>
#include <unistd.h>

static gboolean
is_root (void)
{
  if (geteuid () == 0)
    return TRUE;
  g_printerr ("# not root: no other user to be\n");
  return FALSE;
}

static void
open_way (Irisd *irisd)
{
  g_autofree char *base = g_path_get_dirname (irisd->dir);
  ck_assert_int_eq (chmod (base, 0711), 0);
}

START_TEST (every_request_that_there_is_has_a_row)
{
  for (guint type = 0; type < 0x80; type++)
    {
      gboolean found = FALSE;
      for (guint i = 0; i < owner_n_rows; i++)
        found |= owner_rows[i].type == type && type != 0;
      ck_assert_msg (found == iris_wire_type_is_request (type), "the request %02x has %s row", type,
                     found ? "a" : "no");
    }
}
END_TEST

static const uid_t users[] = { OWNER, OPERATOR, OTHER, NO_ACCESS };

/* One irisd for all rows, which do not touch each other's items. */
static Home *home;
static Scene scene;

static void
set_up (void)
{
  if (!is_root ())
    return;
  home = home_new ();
  const char *const options[] = { TWO_PLACES, home->option, "--tcp=127.0.0.1:0", NULL };
  scene.irisd = irisd_start_in (home->dir, CONFIG, options);
  open_way (scene.irisd);
  scene.owner = owner_visit (scene.irisd, OWNER, scene.irisd->front);
  scene.client = scene.owner->client;
}

static void
tear_down (void)
{
  if (home == NULL)
    return;
  visitor_free (scene.owner);
  irisd_stop (scene.irisd);
  home_free (home);
}

static void
check_row (guint row, guint who, gboolean over_tcp)
{
  Visitor *caller = owner_visit (scene.irisd, users[who],
                                 over_tcp ? scene.irisd->tcp : scene.irisd->front);
  scene.caller = caller->client;
  scene.serial = row * 100 + over_tcp * 10 + who;
  char expected = owner_rows[row].expected[over_tcp ? 4 : who];
  char seen = owner_rows[row].probe (&scene);
  ck_assert_msg (seen == expected, "%s of user %u over %s: expected %c, seen %c",
                 owner_rows[row].name, (guint) users[who], over_tcp ? "tcp" : "ipc", expected,
                 seen);
  visitor_free (caller);
}

START_TEST (what_belongs_to_a_user_is_reached_by_that_user_and_by_operators)
{
  for (guint who = 0; home != NULL && who < G_N_ELEMENTS (users); who++)
    {
      if (users[who] != NO_ACCESS)
        check_row ((guint) _i, who, FALSE);
      check_row ((guint) _i, who, TRUE);
    }
}
END_TEST

START_TEST (a_user_without_access_is_refused_over_ipc)
{
  if (!is_root ())
    return;
  Irisd *irisd = irisd_start (CONFIG, ONE_WORKER, NULL);
  open_way (irisd);
  Visitor *refused = visitor_new (irisd, NO_ACCESS, irisd->front);
  ck_assert (g_subprocess_wait (refused->process, NULL, NULL));
  ck_assert_int_eq (g_subprocess_get_exit_status (refused->process), VISITOR_REFUSED);
  visitor_free (refused);
  irisd_finish (irisd);
}
END_TEST

/* --- services of worker processes ----------------------------------------------------------------
 */

/* The worker has a lease, and runs the item that the client waits for. */
static void
finish_lease (Client *worker, Client *client)
{
  IrisWireMessage done;
  iris_wire_message_init (&done, IRIS_WIRE_DONE,
                          client_receive_type (worker, IRIS_WIRE_LEASE)->request_id);
  client_send (worker, &done);
  client_receive_type (client, IRIS_WIRE_RESULT);
  client_ack (client, 1);
}

static void
submit_and_serve (Client *client, const char *service, Client *worker)
{
  client_submit (client, service, "x", 1, IRIS_PLACE_ANY, FALSE);
  finish_lease (worker, client);
}

START_TEST (a_user_serves_others_only_what_the_configuration_says)
{
  if (!is_root ())
    return;
  Irisd *irisd = irisd_start (CONFIG "serve = 65532: shared, other\n", ONE_WORKER, NULL);
  open_way (irisd);
  Visitor *owner = owner_visit (irisd, OWNER, irisd->front);
  Visitor *theirs = owner_visit (irisd, OTHER, irisd->front);
  Visitor *mine = owner_visit (irisd, OWNER, irisd->front);

  /* What is not shared is not known to others. */
  client_send_ready (theirs->client, "private", 1);
  client_receive_type (theirs->client, IRIS_WIRE_ENROLLED);
  client_submit (owner->client, "private", "x", 1, IRIS_PLACE_ANY, FALSE);
  assert_error (client_receive (owner->client), IRIS_WIRE_ERROR_UNKNOWN_SERVICE);

  /* What is shared serves others, until they serve themselves. */
  client_send_ready (theirs->client, "shared", 1);
  client_receive_type (theirs->client, IRIS_WIRE_ENROLLED);
  submit_and_serve (owner->client, "shared", theirs->client);
  client_send_ready (mine->client, "shared", 1);
  client_receive_type (mine->client, IRIS_WIRE_ENROLLED);
  submit_and_serve (owner->client, "shared", mine->client);
  visitor_free (mine);
  visitor_free (theirs);
  visitor_free (owner);
  irisd_finish (irisd);
}
END_TEST

/* The worker process that serves all may have left: then one's own runs the waiting items. */
START_TEST (what_waits_for_a_shared_service_is_done_by_a_worker_of_ones_own)
{
  if (!is_root ())
    return;
  Irisd *irisd = irisd_start (CONFIG, ONE_WORKER, NULL);
  open_way (irisd);
  Visitor *owner = owner_visit (irisd, OWNER, irisd->front);
  Visitor *shared = owner_visit (irisd, OPERATOR, irisd->front);
  Visitor *mine = owner_visit (irisd, OWNER, irisd->front);
  client_send_ready (shared->client, "work", 0);
  client_receive_type (shared->client, IRIS_WIRE_ENROLLED);
  client_submit (owner->client, "work", "x", 1, IRIS_PLACE_ANY, FALSE);
  client_call (owner->client, IRIS_WIRE_PING, IRIS_WIRE_PONG);
  owner_say_bye (shared->client);
  client_say_hello (shared->client);
  client_send_ready (mine->client, "work", 1);
  client_receive_type (mine->client, IRIS_WIRE_ENROLLED);
  finish_lease (mine->client, owner->client);
  visitor_free (mine);
  visitor_free (shared);
  visitor_free (owner);
  irisd_finish (irisd);
}
END_TEST

int
main (int argc, char **argv)
{
  if (argc > 1)
    return visitor_main (argv + 1);

  Suite *suite = suite_create ("irisd-owners");
  TCase *owners = tcase_create ("owners");
  TCase *rows = tcase_create ("rows");
  tcase_add_test (rows, every_request_that_there_is_has_a_row);
  tcase_add_unchecked_fixture (rows, set_up, tear_down);
  tcase_add_loop_test (rows, what_belongs_to_a_user_is_reached_by_that_user_and_by_operators, 0,
                       owner_n_rows);
  suite_add_tcase (suite, rows);
  tcase_add_test (owners, a_user_without_access_is_refused_over_ipc);
  tcase_add_test (owners, a_user_serves_others_only_what_the_configuration_says);
  tcase_add_test (owners, what_waits_for_a_shared_service_is_done_by_a_worker_of_ones_own);
  suite_add_tcase (suite, owners);
  return core_test_run (suite);
}
