/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * libiris-client's schedules against a real irisd: making, changing, removing, and reading page by
 * page.
 */
#include "irisd-home.h"

#include <iris-client/iris-client.h>

/* More than one answer has room for. */
#define N_SCHEDULES 600

static Home *home;
static Irisd *irisd;
static IrisClient *client;

static void
set_up (void)
{
  home = home_new ();
  irisd = home_start (home, NULL);
  client = iris_client_new (irisd->dir);
}

static void
tear_down (void)
{
  g_clear_object (&client);
  irisd_stop (irisd);
  home_free (home);
}

static void
take_result (GObject *source, GAsyncResult *async, gpointer data)
{
  *(GAsyncResult **) data = g_object_ref (async);
}

static void
wait_for (GAsyncResult **result)
{
  while (*result == NULL)
    g_main_context_iteration (NULL, TRUE);
}

static GVariant *
make_settings (const char *key, GVariant *value)
{
  GVariantDict settings;
  g_variant_dict_init (&settings, NULL);
  g_variant_dict_insert_value (&settings, key, value);
  return g_variant_dict_end (&settings);
}

static gboolean
set_schedule (const char *name, const char *service, GVariant *settings, GError **error)
{
  g_autoptr (IrisRequest) item = service != NULL ? iris_request_new (service) : NULL;
  g_autoptr (GAsyncResult) result = NULL;
  iris_client_set_schedule_async (client, name, item, settings, NULL, take_result, &result);
  wait_for (&result);
  return iris_client_set_schedule_finish (client, result, error);
}

static void
expect_set (const char *name, const char *service, const char *key, GVariant *value)
{
  g_autoptr (GError) error = NULL;
  ck_assert_msg (set_schedule (name, service, make_settings (key, value), &error), "%s",
                 error != NULL ? error->message : "");
}

static void
expect_refusal (const char *name,
                const char *service,
                const char *key,
                GVariant *value,
                IrisClientError code)
{
  g_autoptr (GError) error = NULL;
  ck_assert (!set_schedule (name, service, make_settings (key, value), &error));
  ck_assert_msg (g_error_matches (error, IRIS_CLIENT_ERROR, (int) code), "%d: %s", error->code,
                 error->message);
}

static gboolean
remove_schedule (const char *name, GError **error)
{
  g_autoptr (GAsyncResult) result = NULL;
  iris_client_remove_schedule_async (client, name, NULL, take_result, &result);
  wait_for (&result);
  return iris_client_remove_schedule_finish (client, result, error);
}

static GVariant *
get_schedules (const char *name, GBytes *behind, GBytes **next)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GAsyncResult) result = NULL;
  iris_client_get_schedules_async (client, name, behind, NULL, take_result, &result);
  wait_for (&result);
  GVariant *page = iris_client_get_schedules_finish (client, result, next, &error);
  ck_assert_msg (page != NULL, "%s", error != NULL ? error->message : "");
  ck_assert (g_variant_is_of_type (page, G_VARIANT_TYPE ("aa{sv}")));
  return page;
}

/* What the only schedule of that name has there. */
static GVariant *
look_up (const char *name, const char *key)
{
  g_autoptr (GVariant) page = get_schedules (name, NULL, NULL);
  ck_assert_uint_eq (g_variant_n_children (page), 1);
  g_autoptr (GVariant) schedule = g_variant_get_child_value (page, 0);
  GVariant *value = g_variant_lookup_value (schedule, key, NULL);
  ck_assert_msg (value != NULL, "%s", key);
  return value;
}

static void
assert_has (const char *name, const char *key, const char *wanted)
{
  g_autoptr (GVariant) value = look_up (name, key);
  g_autofree char *text = g_variant_print (value, FALSE);
  ck_assert_str_eq (text, wanted);
}

TEST (a_schedule_is_made_changed_run_and_removed)
{
  expect_set ("s", "echo", "every-ms", g_variant_new_uint64 (3600000));
  assert_has ("s", "name", "'s'");
  assert_has ("s", "service", "'echo'");
  assert_has ("s", "every-ms", "3600000");
  assert_has ("s", "suspended", "false");
  /* What a change does not name stays. */
  expect_set ("s", NULL, "suspended", g_variant_new_boolean (TRUE));
  assert_has ("s", "suspended", "true");
  assert_has ("s", "every-ms", "3600000");
  assert_has ("s", "next-ms", "0");
  expect_set ("s", NULL, "calendar", g_variant_new_string ("0 3 1 1 *"));
  assert_has ("s", "calendar", "'0 3 1 1 *'");
  assert_has ("s", "every-ms", "0");
  assert_has ("s", "service", "'echo'");

  expect_set ("s", NULL, "count", g_variant_new_uint32 (1));
  for (guint32 state = 0; state != IRIS_CLIENT_ITEM_DONE;)
    {
      g_autoptr (GVariant) value = look_up ("s", "state");
      state = g_variant_get_uint32 (value);
    }
  assert_has ("s", "runs", "1");

  g_autoptr (GError) error = NULL;
  ck_assert (remove_schedule ("s", NULL));
  ck_assert (!remove_schedule ("s", &error));
  ck_assert (g_error_matches (error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_NO_SUCH_ITEM));
  g_autoptr (GVariant) none = get_schedules ("s", NULL, NULL);
  ck_assert_uint_eq (g_variant_n_children (none), 0);
}

TEST (what_makes_no_sense_is_refused)
{
  expect_refusal ("s", "echo", "calendar", g_variant_new_string ("0 0 30 2 *"),
                  IRIS_CLIENT_ERROR_BAD_ARGUMENT);
  expect_refusal ("s", "echo", "suspended", g_variant_new_boolean (FALSE),
                  IRIS_CLIENT_ERROR_BAD_ARGUMENT);
  expect_refusal ("", "echo", "every-ms", g_variant_new_uint64 (3600000),
                  IRIS_CLIENT_ERROR_BAD_ARGUMENT);
  expect_refusal ("s", "nothing-here", "every-ms", g_variant_new_uint64 (3600000),
                  IRIS_CLIENT_ERROR_UNKNOWN_SERVICE);
  expect_refusal ("s", NULL, "every-ms", g_variant_new_uint64 (3600000),
                  IRIS_CLIENT_ERROR_BAD_ARGUMENT);
}

TEST (many_are_read_page_by_page)
{
  g_autoptr (GBytes) behind = NULL;
  guint n = 0, n_pages = 0;
  for (guint i = 0; i < N_SCHEDULES; i++)
    {
      g_autofree char *name = g_strdup_printf ("s%04u", i);
      expect_set (name, "echo", "calendar", g_variant_new_string ("0 3 1 1 *"));
    }
  do
    {
      GBytes *next = NULL;
      g_autoptr (GVariant) page = get_schedules (NULL, behind, &next);
      for (gsize i = 0; i < g_variant_n_children (page); i++, n++)
        {
          g_autoptr (GVariant) schedule = g_variant_get_child_value (page, i);
          g_autofree char *wanted = g_strdup_printf ("s%04u", n);
          const char *name = NULL;
          ck_assert (g_variant_lookup (schedule, "name", "&s", &name));
          ck_assert_str_eq (name, wanted);
        }
      n_pages++;
      g_clear_pointer (&behind, g_bytes_unref);
      behind = next;
    }
  while (behind != NULL);
  ck_assert_uint_eq (n, N_SCHEDULES);
  ck_assert_uint_gt (n_pages, 1);
}

TEST (without_a_journal_there_are_no_schedules)
{
  Irisd *other = irisd_start (NULL, TWO_PLACES, NULL);
  g_object_unref (client);
  client = iris_client_new (other->dir);
  expect_refusal ("s", "echo", "every-ms", g_variant_new_uint64 (3600000),
                  IRIS_CLIENT_ERROR_NOT_DURABLE);
  g_clear_object (&client);
  irisd_finish (other);
}

/* The answer is not waited for. */
TEST (a_cancelled_call_ends)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  g_cancellable_cancel (cancellable);
  iris_client_get_schedules_async (client, NULL, NULL, cancellable, take_result, &result);
  wait_for (&result);
  ck_assert_ptr_null (iris_client_get_schedules_finish (client, result, NULL, &error));
  ck_assert (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED));
}

TEST_MAIN ("client-schedules", set_up, tear_down)
