/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The message: floating and counted references, its value, its copy.
 */
#include <check.h>
#include <iris/iris.h>
#include <stdlib.h>

#include <iris/message/iris-message-private.h>

START_TEST (a_new_message_floats_until_it_is_sunk)
{
  IrisMessage *message = iris_message_new (7);
  IrisMessageReal *real = (IrisMessageReal *) message;

  ck_assert_int_eq (message->what, 7);
  ck_assert (real->floating);
  ck_assert_ptr_eq (iris_message_ref_sink (message), message);
  ck_assert (!real->floating);
  ck_assert_int_eq (atomic_load (&real->ref_count), 1);
  iris_message_ref_sink (message);
  ck_assert_int_eq (atomic_load (&real->ref_count), 2);
  iris_message_unref (message);
  iris_message_unref (message);
}
END_TEST

START_TEST (a_message_without_data_has_none)
{
  g_autoptr (IrisMessage) message = iris_message_ref_sink (iris_message_new (1));

  ck_assert_ptr_null (iris_message_get_data (message));
}
END_TEST

START_TEST (a_message_carries_a_typed_value)
{
  g_autoptr (IrisMessage)
      message = iris_message_ref_sink (iris_message_new_data (1, G_TYPE_STRING, "hello"));

  ck_assert_str_eq (g_value_get_string (iris_message_get_data (message)), "hello");
}
END_TEST

START_TEST (setting_data_replaces_what_was_there)
{
  g_autoptr (IrisMessage)
      message = iris_message_ref_sink (iris_message_new_data (1, G_TYPE_STRING, "hello"));
  GValue value = G_VALUE_INIT;

  g_value_init (&value, G_TYPE_INT);
  g_value_set_int (&value, 42);
  iris_message_set_data (message, &value);
  ck_assert_int_eq (g_value_get_int (iris_message_get_data (message)), 42);
  iris_message_set_data (message, NULL);
  ck_assert_ptr_null (iris_message_get_data (message));
}
END_TEST

START_TEST (the_last_reference_unsets_the_data)
{
  GObject *object = g_object_new (G_TYPE_OBJECT, NULL);
  IrisMessage *message = iris_message_ref_sink (iris_message_new_data (1, G_TYPE_OBJECT, object));

  g_object_add_weak_pointer (object, (gpointer *) &object);
  g_object_unref (object);
  ck_assert_ptr_nonnull (object);
  iris_message_unref (message);
  ck_assert_ptr_null (object);
}
END_TEST

START_TEST (a_copy_has_the_data_and_floats)
{
  g_autoptr (IrisMessage)
      message = iris_message_ref_sink (iris_message_new_data (3, G_TYPE_INT64, (gint64) 1 << 40));
  g_autoptr (IrisMessage) copy = iris_message_copy (message);

  ck_assert (((IrisMessageReal *) copy)->floating);
  iris_message_ref_sink (copy);
  ck_assert_int_eq (copy->what, 3);
  ck_assert_int_eq (g_value_get_int64 (iris_message_get_data (copy)), (gint64) 1 << 40);
}
END_TEST

START_TEST (messages_are_boxed)
{
  IrisMessage *message = iris_message_ref_sink (iris_message_new (1));
  IrisMessage *again = g_boxed_copy (IRIS_TYPE_MESSAGE, message);

  ck_assert_ptr_eq (again, message);
  g_boxed_free (IRIS_TYPE_MESSAGE, again);
  iris_message_unref (message);
}
END_TEST

START_TEST (a_floating_message_lends_its_item_once)
{
  IrisMessageReal *message = (IrisMessageReal *) iris_message_new (1);

  ck_assert (iris_message_take (message));
  ck_assert (!iris_message_take (message));
  iris_message_leave_item (message);
  ck_assert (iris_message_take (message));
  ck_assert_int_eq (atomic_load (&message->ref_count), 3);
  for (guint i = 0; i < 3; i++)
    iris_message_unref (&message->face);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("message");
  TCase *all = tcase_create ("all");
  SRunner *runner;
  int n_failed;

  tcase_add_test (all, a_new_message_floats_until_it_is_sunk);
  tcase_add_test (all, a_message_without_data_has_none);
  tcase_add_test (all, a_message_carries_a_typed_value);
  tcase_add_test (all, setting_data_replaces_what_was_there);
  tcase_add_test (all, the_last_reference_unsets_the_data);
  tcase_add_test (all, a_copy_has_the_data_and_floats);
  tcase_add_test (all, messages_are_boxed);
  tcase_add_test (all, a_floating_message_lends_its_item_once);
  suite_add_tcase (suite, all);

  runner = srunner_create (suite);
  srunner_set_fork_status (runner, CK_NOFORK);
  srunner_run_all (runner, CK_ENV);
  n_failed = srunner_ntests_failed (runner);
  srunner_free (runner);

  return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
