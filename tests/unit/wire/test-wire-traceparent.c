/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * traceparent of W3C's Trace Context: what is read, what is refused.
 */
#include "core-test-run.h"

#include <iris/wire/iris-wire.h>
#include <string.h>

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define SPAN  "b7ad6b7169203331"

static gboolean
parse (const char *text, IrisWireTraceparent *out)
{
  return iris_wire_traceparent_parse (text, strlen (text), out);
}

/* The recommendation's own examples. */
TEST (what_is_read_is_written_again)
{
  static const char *const texts[] = { "00-" TRACE "-" SPAN "-01", "00-" TRACE "-" SPAN "-00",
                                       "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" };
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      IrisWireTraceparent parent;
      ck_assert (parse (texts[i], &parent));
      g_autofree char *again = iris_wire_traceparent_format (&parent);
      ck_assert_str_eq (again, texts[i]);
      ck_assert_int_eq (parent.flags, texts[i][54] - '0');
    }
}

TEST (only_the_flag_that_is_known_is_kept)
{
  IrisWireTraceparent parent;
  ck_assert (parse ("00-" TRACE "-" SPAN "-ff", &parent));
  ck_assert_uint_eq (parent.flags, IRIS_WIRE_TRACE_SAMPLED);
}

TEST (a_later_version_may_have_more)
{
  IrisWireTraceparent parent;
  ck_assert (parse ("cc-" TRACE "-" SPAN "-01", &parent));
  ck_assert (parse ("cc-" TRACE "-" SPAN "-01-what-the-future-will-be-like", &parent));
  ck_assert (!parse ("cc-" TRACE "-" SPAN "-01.what-the-future-will-be-like", &parent));
  ck_assert (!parse ("00-" TRACE "-" SPAN "-01-what-the-future-will-be-like", &parent));
}

TEST (what_is_none_is_refused)
{
  static const char *const texts[] = {
    "",
    "00",
    "00-" TRACE "-" SPAN "-0",
    "00-" TRACE "-" SPAN "-011",
    "ff-" TRACE "-" SPAN "-01",
    "0x-" TRACE "-" SPAN "-01",
    "00-" TRACE "-" SPAN "-0x",
    "00-00000000000000000000000000000000-" SPAN "-01",
    "00-" TRACE "-0000000000000000-01",
    "00-0AF7651916CD43DD8448EB211C80319C-" SPAN "-01",
    "00-" TRACE "-B7AD6B7169203331-01",
    "00." TRACE "-" SPAN "-01",
    "00-" TRACE "." SPAN "-01",
    "00-" TRACE "-" SPAN ".01",
    " 00-" TRACE "-" SPAN "-01",
    "00-" TRACE "-" SPAN "-01 ",
  };
  IrisWireTraceparent parent;
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    ck_assert_msg (!parse (texts[i], &parent), "“%s” is taken", texts[i]);
}

/* Each cut of a good one is refused, and nothing behind the end is read. */
TEST (no_byte_behind_the_end_is_read)
{
  static const char good[] = "00-" TRACE "-" SPAN "-01";
  for (gsize n = 0; n < strlen (good); n++)
    {
      g_autofree char *cut = g_memdup2 (good, n);
      IrisWireTraceparent parent;
      ck_assert (!iris_wire_traceparent_parse (cut, n, &parent));
    }
}

TEST_MAIN ("wire-traceparent", NULL, NULL)
