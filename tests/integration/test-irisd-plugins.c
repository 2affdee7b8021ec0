/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Plug-ins: the example of the manual, and those that cannot be used.
 */
#include "irisd-fixture.h"

#include <glib/gstdio.h>
#include <sys/stat.h>

static char *dir; /* where this test's plug-ins are */

static void
set_up (void)
{
  dir = g_dir_make_tmp ("irisd-plugins-XXXXXX", NULL);
  ck_assert_ptr_nonnull (dir);
}

static char *
in_dir (const char *name)
{
  return g_build_filename (dir, name, NULL);
}

static void
tear_down (void)
{
  g_autoptr (GDir) listing = g_dir_open (dir, 0, NULL);
  for (const char *name; (name = g_dir_read_name (listing)) != NULL;)
    {
      g_autofree char *path = in_dir (name);
      g_unlink (path);
    }
  g_rmdir (dir);
  g_clear_pointer (&dir, g_free);
}

/* Puts a plug-in that was built for the tests into the directory. */
static void
put (const char *variable, const char *name, int mode)
{
  g_autofree char *path = in_dir (name);
  g_autofree char *data = NULL;
  gsize size;
  ck_assert_ptr_nonnull (g_getenv (variable));
  ck_assert (g_file_get_contents (g_getenv (variable), &data, &size, NULL));
  ck_assert (g_file_set_contents (path, data, (gssize) size, NULL));
  ck_assert_int_eq (g_chmod (path, mode), 0);
}

static Irisd *
start (const char *more)
{
  g_autofree char *config = g_strdup_printf ("[irisd]\nplugin-dirs = %s\n%s", dir, more);
  return irisd_start (config, ONE_WORKER, NULL);
}

static const IrisWireMessage *
submit (Client *client, const char *service, const char *const *args, const char *payload)
{
  IrisWireMessage item;
  client_init_message (client, &item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, service, -1);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_QUIET, TRUE);
  if (args != NULL)
    iris_wire_message_set_args (&item, args);
  iris_wire_message_set_body (&item, payload, strlen (payload));
  client_send (client, &item);
  return client_receive (client);
}

static gboolean
has_service (Client *client, const char *name)
{
  const IrisWireMessage *reply = client_call (client, IRIS_WIRE_SERVICES, IRIS_WIRE_SERVICES_REPLY);
  g_autoptr (IrisWireServices) list = iris_wire_services_decode (reply->body, NULL, NULL);
  ck_assert_ptr_nonnull (list);
  for (guint i = 0; i < list->n_services; i++)
    if (g_str_equal (list->services[i].name, name))
      return TRUE;
  return FALSE;
}

TEST (the_example_serves)
{
  put ("IRISD_EXAMPLE_PLUGIN", "example.so", 0600);
  g_autofree char *note = in_dir ("README");
  ck_assert (g_file_set_contents (note, "not a plug-in", -1, NULL));
  Irisd *irisd = start ("plugins-required = true\n");
  g_autoptr (Client) client = client_hello (irisd->front);
  ck_assert (has_service (client, "reverse") && has_service (client, "collatz"));

  ck_assert (message_body_is (submit (client, "reverse", NULL, "desserts"), "stressed"));
  ck_assert_uint_eq (client->message.bytes, 8);
  ck_assert (message_body_is (submit (client, "reverse", NULL, ""), ""));
  ck_assert (message_body_is (
      submit (client, "collatz", (const char *const[]){ "1", "27", NULL }, ""), "0\n111\n"));
  ck_assert_int_eq (strncmp (client->message.content_type.data, "text/plain", 10), 0);
  assert_error (submit (client, "collatz", (const char *const[]){ "0", NULL }, ""),
                IRIS_WIRE_ERROR_SERVICE_FAILED);
  ck_assert (client->message.ends);
  g_autofree char *log = irisd_read_log (irisd);
  ck_assert_ptr_nonnull (strstr (log, "loaded the plug-in example 1.0 from"));
  client_free (g_steal_pointer (&client));
  irisd_finish (irisd);
}

TEST (a_running_item_of_a_plugin_can_be_cancelled)
{
  Irisd *irisd = start ("");
  g_autoptr (Client) client = client_hello (irisd->front);
  g_autofree char *gate = gate_new (irisd, "gate");
  client_cancel (client, client_occupy (client, gate, 0));
  ck_assert_uint_eq (client_receive_type (client, IRIS_WIRE_CANCELLING)->state,
                     IRIS_WIRE_STATE_RUNNING);
  assert_error (client_receive_completion (client), IRIS_WIRE_ERROR_CANCELLED);
  client_free (g_steal_pointer (&client));
  irisd_finish (irisd);
}

static const struct
{
  const char *variable;
  const char *words;
} bad[] = {
  { "IRISD_BAD_PLUGIN_1", "was built for version 2 of the interface" },
  { "IRISD_BAD_PLUGIN_2", "its init failed: there is no flux capacitor" },
  { "IRISD_BAD_PLUGIN_3", "its init failed: it did not say why" },
  { "IRISD_BAD_PLUGIN_4", "the name of one of its services is not made of" },
  { "IRISD_BAD_PLUGIN_5", "it brings two services “bad”" },
  { "IRISD_BAD_PLUGIN_6", "there is a service “echo” already" },
  { "IRISD_BAD_PLUGIN_7", "it brings no service" },
};

/* With a good one after it, which is loaded all the same. */
LOOP_TEST (a_bad_plugin_is_reported_and_irisd_goes_on, 0, G_N_ELEMENTS (bad))
{
  put (bad[_i].variable, "a.so", 0600);
  put ("IRISD_EXAMPLE_PLUGIN", "b.so", 0600);
  Irisd *irisd = start ("");
  g_autoptr (Client) client = client_hello (irisd->front);
  ck_assert (!has_service (client, "bad"));
  ck_assert (has_service (client, "echo") && has_service (client, "reverse"));
  g_autofree char *log = irisd_read_log (irisd);
  ck_assert_msg (strstr (log, "a.so: ") != NULL && strstr (log, bad[_i].words) != NULL, "%s", log);
  client_free (g_steal_pointer (&client));
  irisd_finish (irisd);
}

/* Returns the output of an irisd that fails to start. */
static char *
fail_to_start (const char *config)
{
  int status;
  char *log = irisd_fail_to_start (config, &status);
  ck_assert_int_ne (status, 0);
  return log;
}

TEST (irisd_does_not_start_without_a_plugin_that_is_required)
{
  put ("IRISD_BAD_PLUGIN_2", "a.so", 0600);
  g_autofree char *config = g_strdup_printf ("[irisd]\nplugin-dirs = %s\nplugins-required = true\n",
                                             dir);
  g_autofree char *log = fail_to_start (config);
  ck_assert_msg (strstr (log, "plugins-required: ") != NULL
                     && strstr (log, "there is no flux capacitor") != NULL,
                 "%s", log);

  g_autofree char *log2 = fail_to_start (
      "[irisd]\nplugins = /no/such/plugin.so\nplugins-required = true\n");
  ck_assert_msg (strstr (log2, "cannot use the plug-in /no/such/plugin.so") != NULL, "%s", log2);
  g_autofree char *log3 = fail_to_start ("[irisd]\nplugins = plugin.so\n");
  ck_assert_msg (strstr (log3, "is not absolute") != NULL, "%s", log3);
}

TEST (a_plugin_that_another_user_can_write_is_not_loaded)
{
  put ("IRISD_EXAMPLE_PLUGIN", "example.so", 0622);
  Irisd *irisd = start ("");
  g_autoptr (Client) client = client_hello (irisd->front);
  ck_assert (!has_service (client, "reverse"));
  g_autofree char *log = irisd_read_log (irisd);
  ck_assert_ptr_nonnull (strstr (log, "another user can write it"));
  client_free (g_steal_pointer (&client));
  irisd_finish (irisd);
}

TEST (what_is_no_plugin_is_said_to_be_none)
{
  g_autofree char *text = in_dir ("text.so");
  ck_assert (g_file_set_contents (text, "no library", -1, NULL));
  ck_assert_int_eq (g_chmod (text, 0600), 0);
  Irisd *irisd = start ("");
  g_autofree char *log = irisd_read_log (irisd);
  ck_assert_ptr_nonnull (strstr (log, "it cannot be loaded: "));
  irisd_finish (irisd);
}

TEST_MAIN ("irisd-plugins", set_up, tear_down)
