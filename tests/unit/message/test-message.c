/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The message: floating and counted references, its value, its copy.
 */
#include "core-test-util.h"

#include <iris/message/iris-message-private.h>

TEST (a_new_message_floats_until_it_is_sunk)
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

TEST (a_message_without_data_has_none)
{
  g_autoptr (IrisMessage) message = iris_message_ref_sink (iris_message_new (1));

  ck_assert_ptr_null (iris_message_get_data (message));
}

TEST (a_message_carries_a_typed_value)
{
  g_autoptr (IrisMessage)
      message = iris_message_ref_sink (iris_message_new_data (1, G_TYPE_STRING, "hello"));

  ck_assert_str_eq (g_value_get_string (iris_message_get_data (message)), "hello");
}

TEST (setting_data_replaces_what_was_there)
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

TEST (the_last_reference_unsets_the_data)
{
  static CoreTestGate freed = CORE_TEST_GATE_INIT;
  GObject *object = g_object_new (G_TYPE_OBJECT, NULL);
  IrisMessage *message = iris_message_ref_sink (iris_message_new_data (1, G_TYPE_OBJECT, object));

  core_test_gate_watch (&freed, object);
  g_object_unref (object);
  ck_assert_uint_eq (core_test_gate_get (&freed), 0);
  iris_message_unref (message);
  ck_assert_uint_eq (core_test_gate_get (&freed), 1);
}

TEST (a_copy_has_the_data_and_floats)
{
  g_autoptr (IrisMessage)
      message = iris_message_ref_sink (iris_message_new_data (3, G_TYPE_INT64, (gint64) 1 << 40));
  g_autoptr (IrisMessage) copy = iris_message_copy (message);

  ck_assert (((IrisMessageReal *) copy)->floating);
  iris_message_ref_sink (copy);
  ck_assert_int_eq (copy->what, 3);
  ck_assert_int_eq (g_value_get_int64 (iris_message_get_data (copy)), (gint64) 1 << 40);
}

TEST (messages_are_boxed)
{
  IrisMessage *message = iris_message_ref_sink (iris_message_new (1));
  IrisMessage *again = g_boxed_copy (IRIS_TYPE_MESSAGE, message);

  ck_assert_ptr_eq (again, message);
  g_boxed_free (IRIS_TYPE_MESSAGE, again);
  iris_message_unref (message);
}

TEST (a_floating_message_lends_its_item_once)
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

TEST (named_values_are_kept_by_type)
{
  GObject *object = g_object_new (G_TYPE_OBJECT, NULL);
  IrisMessage *message = iris_message_ref_sink (
      iris_message_new_items (1, "int", G_TYPE_INT, -7, "text", G_TYPE_STRING, "hello", NULL));
  GValue value = G_VALUE_INIT;

  ck_assert_uint_eq (iris_message_count_names (message), 2);
  ck_assert (!iris_message_is_empty (message));
  ck_assert_int_eq (iris_message_get_int (message, "int"), -7);
  ck_assert_str_eq (iris_message_get_string (message, "text"), "hello");
  iris_message_set_int64 (message, "int64", (gint64) 1 << 40);
  iris_message_set_double (message, "double", 0.5);
  iris_message_set_float (message, "float", 0.25f);
  iris_message_set_long (message, "long", -1);
  iris_message_set_ulong (message, "ulong", 1);
  iris_message_set_char (message, "char", 'c');
  iris_message_set_uchar (message, "uchar", 200);
  iris_message_set_boolean (message, "boolean", TRUE);
  iris_message_set_object (message, "object", object);
  iris_message_set_pointer (message, "pointer", &value);
  ck_assert_int_eq (iris_message_get_int64 (message, "int64"), (gint64) 1 << 40);
  ck_assert (iris_message_get_double (message, "double") == 0.5);
  ck_assert (iris_message_get_float (message, "float") == 0.25f);
  ck_assert_int_eq (iris_message_get_long (message, "long"), -1);
  ck_assert_uint_eq (iris_message_get_ulong (message, "ulong"), 1);
  ck_assert_int_eq (iris_message_get_char (message, "char"), 'c');
  ck_assert_uint_eq (iris_message_get_uchar (message, "uchar"), 200);
  ck_assert (iris_message_get_boolean (message, "boolean"));
  ck_assert_ptr_eq (iris_message_get_object (message, "object"), object);
  ck_assert_ptr_eq (iris_message_get_pointer (message, "pointer"), &value);

  iris_message_set_int (message, "int", 8);
  ck_assert_int_eq (iris_message_get_int (message, "int"), 8);
  ck_assert (iris_message_get_value (message, "int", &value));
  ck_assert_int_eq (g_value_get_int (&value), 8);
  g_value_unset (&value);
  ck_assert (!iris_message_get_value (message, "absent", &value));
  ck_assert (!iris_message_contains (message, "absent"));
  iris_message_unref (message);
  g_object_unref (object);
}

TEST (a_value_that_is_not_there_is_said_and_is_nothing)
{
  g_autoptr (IrisMessage) message = iris_message_ref_sink (iris_message_new (1));

  ck_assert (iris_message_is_empty (message));
  iris_message_set_string (message, "text", "hello");
  g_test_expect_message ("iris", G_LOG_LEVEL_CRITICAL, "*no value named \"absent\"*");
  ck_assert_int_eq (iris_message_get_int (message, "absent"), 0);
  g_test_assert_expected_messages ();
  g_test_expect_message ("iris", G_LOG_LEVEL_CRITICAL, "*\"text\" is a gchararray, not a gint*");
  ck_assert_int_eq (iris_message_get_int (message, "text"), 0);
  g_test_assert_expected_messages ();
}

TEST (a_posted_message_cannot_be_changed)
{
  g_autoptr (IrisPort) port = iris_port_new ();
  g_autoptr (IrisMessage) message = iris_message_ref_sink (iris_message_new (1));

  iris_port_post (port, message);
  g_test_expect_message ("iris", G_LOG_LEVEL_CRITICAL, "*sealed*");
  iris_message_set_int (message, "int", 1);
  g_test_assert_expected_messages ();
  g_test_expect_message ("iris", G_LOG_LEVEL_CRITICAL, "*sealed*");
  iris_message_set_data (message, NULL);
  g_test_assert_expected_messages ();
  ck_assert (iris_message_is_empty (message));
}

static void
count_up (gpointer data)
{
  ++*(guint *) data;
}

TEST (a_copy_has_all_values_and_shares_owned_pointers)
{
  guint n_freed = 0;
  IrisMessage *message = iris_message_ref_sink (iris_message_new_data (3, G_TYPE_INT, 5)), *copy;

  iris_message_set_string (message, "text", "hello");
  iris_message_set_pointer_full (message, "owned", &n_freed, count_up);
  copy = iris_message_ref_sink (iris_message_copy (message));
  iris_message_unref (message);
  ck_assert_uint_eq (n_freed, 0);
  ck_assert_str_eq (iris_message_get_string (copy, "text"), "hello");
  ck_assert_ptr_eq (iris_message_get_pointer (copy, "owned"), &n_freed);
  ck_assert_int_eq (g_value_get_int (iris_message_get_data (copy)), 5);
  iris_message_unref (copy);
  ck_assert_uint_eq (n_freed, 1);
}

TEST_MAIN ("message", NULL, NULL)
