/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * When a cron line is due: its fields, days and zones, the hours that spring lacks and autumn
 * repeats, and the lines that are refused.
 */
#include "core-test-run.h"
#include "core-test-util.h"
#include "daemon/base/irisd-calendar.h"

#include <iris/wire/iris-wire.h>

#include <check.h>
#include <stdlib.h>
#include <string.h>

static gint64
parse_time (const char *text)
{
  g_autoptr (GDateTime) time = g_date_time_new_from_iso8601 (text, NULL);
  if (time == NULL)
    ck_abort_msg ("%s is no time", text);
  return g_date_time_to_unix (time);
}

static char *
format_time (gint64 time_s)
{
  g_autoptr (GDateTime) time = g_date_time_new_from_unix_utc (time_s);
  return time != NULL ? g_date_time_format (time, "%Y-%m-%dT%H:%MZ") : g_strdup ("never");
}

/* @expected: the times after @after, with a blank between them. */
static void
check_times (const char *line, const char *zone, const char *after, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisdCalendar) calendar = irisd_calendar_new (line, zone, &error);
  g_autoptr (GString) found = g_string_new (NULL);
  gint64 time_s = parse_time (after);
  if (calendar == NULL)
    ck_abort_msg ("%s: %s", line, error->message);
  for (const char *c = expected; c != NULL; c = strchr (c + 1, ' '))
    {
      gint64 next_ms = irisd_calendar_get_next (calendar, 0, time_s * 1000);
      time_s = next_ms / 1000;
      g_autofree char *text = next_ms >= 0 ? format_time (time_s) : g_strdup ("never");
      g_string_append_printf (found, "%s%s", found->len > 0 ? " " : "", text);
    }
  if (!g_str_equal (found->str, expected))
    ck_abort_msg ("%s in %s after %s: %s, not %s", line, zone, after, found->str, expected);
}

TEST (a_line_is_due_at_the_times_that_its_fields_name)
{
  static const struct
  {
    const char *line;
    const char *after;
    const char *expected;
  } cases[] = {
    { "* * * * *", "2026-11-23T09:59:59Z", "2026-11-23T10:00Z 2026-11-23T10:01Z" },
    { "* * * * *", "2026-11-23T10:00:00Z", "2026-11-23T10:01Z" },
    { "*/20 * * * *", "2026-11-23T23:39:00Z",
      "2026-11-23T23:40Z 2026-11-24T00:00Z 2026-11-24T00:20Z" },
    { "30 4 * * *", "2026-12-31T04:30:00Z", "2027-01-01T04:30Z" },
    { "5,10-12 9 * * *", "2026-11-23T09:06:00Z",
      "2026-11-23T09:10Z 2026-11-23T09:11Z 2026-11-23T09:12Z 2026-11-24T09:05Z" },
    { "10-30/10 9 * * *", "2026-11-23T09:10:30Z", "2026-11-23T09:20Z 2026-11-23T09:30Z" },
    { "0 0 29 feb *", "2026-01-01T00:00:00Z", "2028-02-29T00:00Z 2032-02-29T00:00Z" },
    { "0 0 29 2 *", "2096-03-01T00:00:00Z", "2104-02-29T00:00Z" },
    { "0 0 31 * *", "2026-03-31T00:00:00Z", "2026-05-31T00:00Z 2026-07-31T00:00Z" },
    { "0 12 * JAN-mar Mon-Fri", "2026-03-30T13:00:00Z", "2026-03-31T12:00Z 2027-01-01T12:00Z" },
    { "0 0 * * 7", "2026-11-23T00:00:00Z", "2026-11-29T00:00Z" },
    { "0 0 * * fri-sun", "2026-11-23T00:00:00Z",
      "2026-11-27T00:00Z 2026-11-28T00:00Z 2026-11-29T00:00Z 2026-12-04T00:00Z" },
    { "@hourly", "2026-11-23T00:00:00Z", "2026-11-23T01:00Z" },
    { "@daily", "2026-11-23T00:00:00Z", "2026-11-24T00:00Z" },
    { "@midnight", "2026-11-23T00:00:00Z", "2026-11-24T00:00Z" },
    { "@weekly", "2026-11-23T00:00:00Z", "2026-11-29T00:00Z" },
    { "@Monthly", "2026-11-23T00:00:00Z", "2026-12-01T00:00Z" },
    { "@yearly", "2026-11-23T00:00:00Z", "2027-01-01T00:00Z" },
    { "@annually", "2026-11-23T00:00:00Z", "2027-01-01T00:00Z" },
    { "  0\t1  * * * ", "2026-11-23T00:00:00Z", "2026-11-23T01:00Z" },
    { "0 0 1 1 *", "9999-01-01T00:00:00Z", "never" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check_times (cases[i].line, "UTC", cases[i].after, cases[i].expected);
}

TEST (two_restricted_days_are_either_and_a_star_is_both)
{
  static const struct
  {
    const char *line;
    const char *expected;
  } cases[] = {
    /* 13 November 2026 is a Friday. */
    { "0 0 13 * fri", "2026-11-06T00:00Z 2026-11-13T00:00Z 2026-11-20T00:00Z" },
    { "0 0 15 * fri", "2026-11-06T00:00Z 2026-11-13T00:00Z 2026-11-15T00:00Z" },
    { "0 0 */15 * fri", "2027-01-01T00:00Z 2027-04-16T00:00Z" },
    { "0 0 1-7 * */7", "2026-12-06T00:00Z 2027-01-03T00:00Z" },
    { "0 0 29 2 */7", "2032-02-29T00:00Z 2060-02-29T00:00Z 2088-02-29T00:00Z 2128-02-29T00:00Z" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check_times (cases[i].line, "UTC", "2026-11-01T00:00:00Z", cases[i].expected);
}

/* The clocks of Berlin go from 02:00 to 03:00 on 29 March 2026 at 01:00 UTC, and from 03:00 to
 * 02:00 on 25 October at 01:00 UTC; those of Lord Howe by half an hour; those of Havana at
 * midnight. Samoa had no 30 December 2011. All are past: governments change the rules of years to
 * come. */
TEST (a_day_has_its_run_when_the_clocks_change)
{
  static const struct
  {
    const char *line;
    const char *zone;
    const char *after;
    const char *expected;
  } cases[] = {
    { "30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z",
      "2026-03-28T01:30Z 2026-03-29T01:00Z 2026-03-30T00:30Z" },
    { "*/15 2 * * *", "Europe/Berlin", "2026-03-29T00:00:00Z",
      "2026-03-29T01:00Z 2026-03-30T00:00Z" },
    { "0 3 * * *", "Europe/Berlin", "2026-03-28T03:00:00Z", "2026-03-29T01:00Z 2026-03-30T01:00Z" },
    { "30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z",
      "2026-10-25T00:30Z 2026-10-26T01:30Z" },
    { "30 1-3 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z",
      "2026-10-24T23:30Z 2026-10-25T00:30Z 2026-10-25T02:30Z 2026-10-26T00:30Z" },
    { "30 * * * *", "Europe/Berlin", "2026-10-24T23:45:00Z",
      "2026-10-25T00:30Z 2026-10-25T01:30Z 2026-10-25T02:30Z" },
    { "30 * * * *", "Europe/Berlin", "2026-03-28T23:45:00Z",
      "2026-03-29T00:30Z 2026-03-29T01:30Z 2026-03-29T02:30Z" },
    { "15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z",
      "2026-10-03T15:30Z 2026-10-04T15:15Z" },
    { "0 0 * * *", "America/Havana", "2026-03-07T12:00:00Z",
      "2026-03-08T05:00Z 2026-03-09T04:00Z" },
    { "30 23 * * *", "America/Havana", "2025-11-01T12:00:00Z",
      "2025-11-02T03:30Z 2025-11-03T04:30Z" },
    { "0 12 30 12 *", "Pacific/Apia", "2011-12-01T00:00:00Z",
      "2011-12-30T10:00Z 2012-12-29T22:00Z" },
    { "0 9 * * *", "+05:30", "2026-11-23T00:00:00Z", "2026-11-23T03:30Z" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check_times (cases[i].line, cases[i].zone, cases[i].after, cases[i].expected);
}

TEST (every_counts_from_the_beginning)
{
  g_autoptr (IrisdCalendar) calendar = irisd_calendar_new_every (1500, NULL);
  ck_assert (calendar != NULL);
  ck_assert_int_eq (irisd_calendar_get_next (calendar, 1000, 1000), 2500);
  ck_assert_int_eq (irisd_calendar_get_next (calendar, 1000, 2499), 2500);
  ck_assert_int_eq (irisd_calendar_get_next (calendar, 1000, 2500), 4000);
  ck_assert_int_eq (irisd_calendar_get_next (calendar, 1000, 5), 2500);
  ck_assert_int_eq (irisd_calendar_get_next (calendar, 0, 1500000001), 1500001500);
  ck_assert_int_eq (irisd_calendar_get_next (calendar, 1000, G_MAXINT64), -1);
  ck_assert (irisd_calendar_new_every (999, NULL) == NULL);
  ck_assert (irisd_calendar_new_every (G_MAXUINT64, NULL) == NULL);
}

TEST (what_is_no_line_is_refused_with_its_reason)
{
  static const struct
  {
    const char *line;
    const char *zone;
    const char *why;
  } cases[] = {
    { "", "", "5 fields" },
    { "* * * *", "", "not 4" },
    { "* * * * * *", "", "not 6" },
    { "60 * * * *", "", "the minute “60” is not a number from 0 to 59" },
    { "* 24 * * *", "", "the hour “24”" },
    { "* * 0 * *", "", "the day of the month “0”" },
    { "* * * 13 *", "", "the month “13” is not a name, nor a number from 1 to 12" },
    { "* * * foo *", "", "the month “foo”" },
    { "* * * * 8", "", "the day of the week “8”" },
    { "5-1 * * * *", "", "ends before it begins" },
    { "1,,2 * * * *", "", "empty part" },
    { ", * * * *", "", "empty part" },
    { "-5 * * * *", "", "the minute “” is not" },
    { "5- * * * *", "", "the minute “” is not" },
    { "1-2-3 * * * *", "", "“2-3”" },
    { "*/0 * * * *", "", "the step “0” of the minute" },
    { "*/x * * * *", "", "the step “x”" },
    { "/5 * * * *", "", "the minute is empty" },
    { "5/10 * * * *", "", "write 5-59/10" },
    { "0 0 30 2 *", "", "never due: it wants day 30 of a month with at most 29 days" },
    { "0 0 31 feb,apr,jun *", "", "never due: it wants day 31 of a month with at most 30 days" },
    { "0 0 31 4 */2", "", "never due" },
    { "@reboot", "", "“@reboot” is unknown" },
    { "\xff\xfe * * * *", "", "no valid UTF-8" },
    { "* * * * *", "Europe/Nowhere", "the time zone “Europe/Nowhere” is unknown" },
    { "* * * * *", "../../../etc/passwd", "is unknown" },
    { "* * * * *", "/etc/localtime", "is unknown" },
    { "* * * * *", "Mars", "is unknown" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (IrisdCalendar)
          calendar = irisd_calendar_new (cases[i].line, cases[i].zone, &error);
      if (calendar != NULL)
        ck_abort_msg ("“%s” was taken", cases[i].line);
      ck_assert (g_error_matches (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT));
      if (strstr (error->message, cases[i].why) == NULL)
        ck_abort_msg ("“%s”: “%s” does not say “%s”", cases[i].line, error->message, cases[i].why);
    }
}

TEST (a_line_or_zone_that_is_too_long_is_refused)
{
  g_autofree char *line = g_strnfill (IRISD_CALENDAR_MOST_LINE + 1, '*');
  g_autofree char *zone = g_strnfill (IRISD_CALENDAR_MOST_ZONE + 1, 'a');
  ck_assert (irisd_calendar_new (line, NULL, NULL) == NULL);
  ck_assert (irisd_calendar_new ("* * * * *", zone, NULL) == NULL);
}

static guint64
set_of (const char *field, guint least)
{
  guint64 set = 0;
  g_auto (GStrv) values = g_strsplit (field, ",", -1);
  if (g_str_equal (field, "*"))
    return G_MAXUINT64;
  for (guint i = 0; values[i] != NULL; i++)
    set |= G_GUINT64_CONSTANT (1) << MAX ((guint) g_ascii_strtoull (values[i], NULL, 10), least);
  return set;
}

/* The next minute that matches, by looking at each. */
static gint64
look_for (char *const *texts, gint64 after_s)
{
  for (gint64 time_s = (after_s / 60 + 1) * 60;; time_s += 60)
    {
      g_autoptr (GDateTime) time = g_date_time_new_from_unix_utc (time_s);
      gboolean by_day = set_of (texts[2], 1) >> g_date_time_get_day_of_month (time) & 1;
      gboolean by_weekday = set_of (texts[4], 0) >> (g_date_time_get_day_of_week (time) % 7) & 1;
      gboolean any = texts[2][0] == '*' || texts[4][0] == '*';
      if ((set_of (texts[0], 0) >> g_date_time_get_minute (time) & 1)
          && (set_of (texts[1], 0) >> g_date_time_get_hour (time) & 1)
          && (set_of (texts[3], 1) >> g_date_time_get_month (time) & 1)
          && (any ? by_day && by_weekday : by_day || by_weekday))
        return time_s;
    }
}

static char *
random_field (GRand *rand, gint least, gint end)
{
  GString *field = g_string_new (NULL);
  if (g_rand_int_range (rand, 0, 2) == 0)
    return g_string_free (g_string_append (field, "*"), FALSE);
  for (gint n = g_rand_int_range (rand, 1, 4); n > 0; n--)
    g_string_append_printf (field, "%s%d", field->len > 0 ? "," : "",
                            g_rand_int_range (rand, least, end));
  return g_string_free (field, FALSE);
}

TEST (the_next_time_is_the_first_minute_that_matches)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (20261123);
  for (guint i = 0; i < (guint) CORE_TEST_LOAD (60); i++)
    {
      g_autofree char *minute = random_field (rand, 0, 60), *hour = random_field (rand, 0, 24);
      g_autofree char *day = random_field (rand, 1, 29), *weekday = random_field (rand, 0, 7);
      char *texts[] = { minute, hour, day, (char *) "*", weekday };
      g_autofree char *line = g_strdup_printf ("%s %s %s * %s", minute, hour, day, weekday);
      g_autoptr (IrisdCalendar) calendar = irisd_calendar_new (line, "UTC", NULL);
      gint64 after_s = 1795000000 + g_rand_int_range (rand, 0, 100000000);
      ck_assert (calendar != NULL);
      if (irisd_calendar_get_next (calendar, 0, after_s * 1000) != look_for (texts, after_s) * 1000)
        ck_abort_msg ("%s after %" G_GINT64_FORMAT, line, after_s);
    }
}

TEST (jitter_is_the_same_each_time_and_within_its_bound)
{
  guint64 sum = 0;
  ck_assert_uint_eq (irisd_calendar_get_jitter ("a", 1000, 0), 0);
  for (gint64 time_s = 0; time_s < 1000; time_s++)
    {
      guint64 jitter = irisd_calendar_get_jitter ("backup", time_s * 60, 999);
      ck_assert_uint_le (jitter, 999);
      ck_assert_uint_eq (jitter, irisd_calendar_get_jitter ("backup", time_s * 60, 999));
      sum += jitter;
    }
  /* The mean of 1,000 numbers from 0 to 999 is 500 with a deviation of 9. */
  ck_assert_uint_gt (sum, 440000);
  ck_assert_uint_lt (sum, 560000);
  ck_assert (irisd_calendar_get_jitter ("a", 60, 1u << 30)
             != irisd_calendar_get_jitter ("b", 60, 1u << 30));
}

TEST_MAIN ("irisd-calendar", NULL, NULL)
