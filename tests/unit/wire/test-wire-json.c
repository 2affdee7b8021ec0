/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The look at JSON text before it is parsed.
 */
#include "core-test-run.h"

#include <iris/wire/base/iris-wire-json-private.h>
#include <string.h>

static const char *
fault_of (const char *text)
{
  return iris_wire_json_fault (text, strlen (text));
}

TEST (one_object_may_be_read)
{
  static const char *const good[] = { "{}",
                                      " \t\r\n{ } \n",
                                      "{\"a\":[{}, [1, true, null, -2.5e3]]}",
                                      "{\"}\":\"]{[/#'\"}",
                                      "{\"a\":\"\\\"}\",\"b\":\"\\\\\"}",
                                      "{\"a\":1",
                                      "{\"a\":\"" };

  for (guint i = 0; i < G_N_ELEMENTS (good); i++)
    ck_assert_msg (fault_of (good[i]) == NULL, "%s: %s", good[i], fault_of (good[i]));
}

TEST (what_is_not_one_object_is_refused)
{
  static const struct
  {
    const char *text, *fault;
  } bad[] = {
    { "", "it is no JSON object" },
    { " ", "it is no JSON object" },
    { "[{}]", "it is no JSON object" },
    { "1{}", "it is no JSON object" },
    { "var a = {}", "it is no JSON object" },
    { "/* { */ {}", "it is no JSON object" },
    { "}", "it is no JSON object" },
    { "{}{}", "something follows the object" },
    { "{\"a\":[]} {\"b\":2}", "something follows the object" },
    { "{},", "something follows the object" },
    { "{}]", "something follows the object" },
    { "{/*\"*/}", "it has a comment or single quotes, which JSON does not know" },
    { "{//\"\n}", "it has a comment or single quotes, which JSON does not know" },
    { "{'\"':1}", "it has a comment or single quotes, which JSON does not know" },
    { "{#\"\n}", "it has a comment or single quotes, which JSON does not know" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    ck_assert_pstr_eq (fault_of (bad[i].text), bad[i].fault);
  ck_assert_pstr_eq (iris_wire_json_fault ("{}\0", 3), "something follows the object");
}

TEST (brackets_lie_only_so_deep)
{
  g_autoptr (GString) deep = g_string_new ("{");

  for (guint i = 1; i < IRIS_WIRE_JSON_MOST_DEPTH; i++)
    g_string_append_c (deep, i % 2 ? '[' : '{');
  ck_assert_ptr_null (fault_of (deep->str));
  g_string_append_c (deep, '[');
  ck_assert_pstr_eq (fault_of (deep->str), "more than 64 brackets lie within each other");
  /* Those that are closed do not count. */
  g_string_assign (deep, "{\"a\":[");
  for (guint i = 0; i < 2 * IRIS_WIRE_JSON_MOST_DEPTH; i++)
    g_string_append (deep, "[{}],");
  g_string_append (deep, "1]}");
  ck_assert_ptr_null (fault_of (deep->str));
}

TEST_MAIN ("wire-json", NULL, NULL)
