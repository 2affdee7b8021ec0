/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Subjects and item names: what is made is parsed again, and nothing else is.
 */
#include "core-test-run.h"
#include "daemon/cluster/engine/irisd-subjects.h"

#include <string.h>

TEST (names_of_nodes)
{
  static const char *const good[] = { "a", "node-1", "n0", "abcdefghijklmnopqrstuvwxyz012345" };
  static const char *const bad[] = { "",     "any", "A",   "1n",
                                     "-n",   "n.o", "n_o", "n ",
                                     "nöde", "n*",  "n>",  "abcdefghijklmnopqrstuvwxyz0123456" };

  for (guint i = 0; i < G_N_ELEMENTS (good); i++)
    ck_assert_msg (irisd_node_name_is_valid (good[i]), "%s", good[i]);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    ck_assert_msg (!irisd_node_name_is_valid (bad[i]), "%s", bad[i]);
}

TEST (each_name_has_one_token_without_dots_and_wildcards)
{
  for (guint byte = 1; byte < 256; byte++)
    {
      const char name[] = { 'a', (char) byte, '\0' };
      g_autofree char *token = irisd_subject_escape (name);
      g_autofree char *again = irisd_subject_unescape (token);
      ck_assert_str_eq (again, name);
      ck_assert_ptr_null (strpbrk (token, ". *>\r\n\t"));
    }
  g_autofree char *dash = irisd_subject_escape ("-");
  ck_assert_str_eq (dash, "=2D");
}

TEST (other_tokens_are_refused)
{
  static const char *const bad[] = { "",  "=",   "=4",  "=4g", "=2e",    "=00",  "=41",
                                     "-", "a.b", "a b", "é",   "=2D=2D", "a=2Db" };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autofree char *name = irisd_subject_unescape (bad[i]);
      ck_assert_msg (name == NULL, "%s", bad[i]);
    }
}

static void
check_work (const char *node,
            gboolean strict,
            const char *place,
            const char *service,
            const char *subject)
{
  g_autofree char *made = irisd_subject_for_work (node, strict, place, service);
  g_auto (IrisdWorkSubject) work = { 0 };

  ck_assert_str_eq (made, subject);
  ck_assert (irisd_subject_parse_work (made, &work));
  ck_assert_pstr_eq (work.node, node);
  ck_assert_int_eq (work.strict, strict);
  ck_assert_pstr_eq (work.place, place);
  ck_assert_str_eq (work.service, service);
}

TEST (subjects_of_work)
{
  check_work (NULL, FALSE, NULL, "echo", "iris.w.any.soft.-.echo");
  check_work ("n1", FALSE, "p0", "img.scale", "iris.w.n1.soft.p0.img=2Escale");
  check_work ("n1", TRUE, NULL, "a*>", "iris.w.n1.strict.-.a=2A=3E");
  check_work ("n1", TRUE, "-", "x", "iris.w.n1.strict.=2D.x");
}

TEST (subjects_of_items_that_waited)
{
  const char *const id = "0123456789abcdef0123456789abcdef";
  g_autofree char *work = irisd_subject_for_work ("n1", TRUE, NULL, "echo");
  g_autofree char *later = irisd_subject_for_later ("n2", id);
  g_autofree char *due = irisd_subject_for_due (work, id);
  g_autofree char *late = irisd_subject_for_late_work (work, id);
  g_auto (IrisdWorkSubject) parsed = { 0 };

  ck_assert_str_eq (later, "iris.l.n2.0123456789abcdef0123456789abcdef");
  ck_assert_str_eq (due, "iris.due.n1.strict.-.echo.0123456789abcdef0123456789abcdef");
  ck_assert (irisd_subject_parse_work (late, &parsed));
  ck_assert_str_eq (parsed.node, "n1");
  ck_assert_str_eq (parsed.service, "echo");
  ck_assert_str_eq (parsed.item, id);
}

TEST (what_is_due_is_found_wherever_it_goes)
{
  g_autofree char *any = irisd_subject_for_any_due ("00112233445566778899aabbccddeeff");
  g_autofree char *work = irisd_subject_get_work ("iris.due.n2.soft.-.echo.0011");

  ck_assert_str_eq (any, "iris.due.*.*.*.*.00112233445566778899aabbccddeeff");
  ck_assert_str_eq (work, "iris.w.n2.soft.-.echo");
  ck_assert_ptr_null (irisd_subject_get_work ("iris.due.echo"));
  ck_assert_ptr_null (irisd_subject_get_work ("iris.w.n2.soft.-.echo.0011"));
}

TEST (subjects_of_next_runs)
{
  g_autofree char *head = irisd_subject_for_head ("n1", "00112233445566778899aabbccddeeff");
  g_autofree char *heads = irisd_subject_for_head ("n1", NULL);
  g_autofree char *next = irisd_subject_for_next ("n1", "00112233445566778899aabbccddeeff");

  ck_assert_str_eq (head, "iris.l.n1.head.00112233445566778899aabbccddeeff");
  ck_assert_str_eq (heads, "iris.l.n1.head.*");
  ck_assert_str_eq (next, "iris.l.n1.next.00112233445566778899aabbccddeeff");
}

TEST (other_subjects_of_work_are_refused)
{
  static const char *const bad[] = { "",
                                     "iris.w.",
                                     "iris.w.any.soft.-",
                                     "iris.w.any.soft.-.",
                                     "iris.w.any.soft..x",
                                     "iris.w.any.strict.-.x",
                                     "iris.w.any.soft.p0.x",
                                     "iris.w.N1.soft.-.x",
                                     "iris.w.n1.hard.-.x",
                                     "iris.w.n1.soft.-.x.y",
                                     "iris.w.n1.soft.-.x.0123456789ABCDEF0123456789ABCDEF",
                                     "iris.w.n1.soft.-.x.0123456789abcdef0123456789abcdef0",
                                     "iris.w.n1.soft.-.x.0123456789abcdef0123456789abcdef.x",
                                     "iris.e.n1.soft.-.x",
                                     "iris.w.n1.soft.-.=41",
                                     "iris.w.n1.soft.=00.x" };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      IrisdWorkSubject work;
      ck_assert_msg (!irisd_subject_parse_work (bad[i], &work), "%s", bad[i]);
      ck_assert (!work.node && !work.place && !work.service && !work.item);
    }
}

TEST (subjects_of_ends)
{
  g_autofree char *subject = irisd_subject_for_end ("home", "0123456789abcdef0123456789abcdef");

  ck_assert_str_eq (subject, "iris.e.home.0123456789abcdef0123456789abcdef");
}

TEST_MAIN ("subjects", NULL, NULL)
