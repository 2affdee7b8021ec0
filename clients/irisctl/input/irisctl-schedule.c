/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The options that say when an item runs, how often, and for how long.
 */
#include "clients/irisctl/irisctl.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define MAX_RETRIES 1000000

GOptionEntry *
ctl_schedule_entries (CtlSchedule *schedule)
{
  const GOptionEntry entries[] = {
    { "delay", 0, 0, G_OPTION_ARG_STRING, &schedule->delay,
      "Run when this much time has passed, at the earliest", "TIME" },
    { "at", 0, 0, G_OPTION_ARG_STRING, &schedule->at,
      "Run at this time at the earliest: 18:00, or a date with a time", "WHEN" },
    { "priority", 0, 0, G_OPTION_ARG_INT, &schedule->priority,
      "0 to 9, higher runs first (default: 5)", "N" },
    { "queue", 0, 0, G_OPTION_ARG_STRING, &schedule->queue,
      "Run it in this queue, which irisctl queue makes", "QUEUE" },
    { "after", 0, 0, G_OPTION_ARG_STRING_ARRAY, &schedule->after,
      "Run after the item with this number, or NODE/ITEM; may be repeated", "ITEM" },
    { "after-how", 0, 0, G_OPTION_ARG_STRING, &schedule->after_how,
      "Which of them to wait for: all (default), any, or success (all, without failure)", "HOW" },
    { "retries", 0, 0, G_OPTION_ARG_INT, &schedule->retries,
      "Try again at most so many times if it fails", "N" },
    { "backoff", 0, 0, G_OPTION_ARG_STRING, &schedule->backoff,
      "The pause before the first retry; it doubles each time (default: 1s)", "TIME" },
    { "time-to-run", 0, 0, G_OPTION_ARG_STRING, &schedule->time_to_run,
      "Stop an attempt that runs longer; it counts as failed", "TIME" },
    { "deadline", 0, 0, G_OPTION_ARG_STRING, &schedule->deadline,
      "Fail it if it has not begun this long after irisd accepted it", "TIME" },
    { "wait-for-service", 0, 0, G_OPTION_ARG_NONE, &schedule->wait_for_service,
      "Accept it although irisd does not know the service: it waits for a worker process", NULL },
    { NULL },
  };

  return g_memdup2 (entries, sizeof entries);
}

void
ctl_schedule_clear (CtlSchedule *schedule)
{
  g_free (schedule->delay);
  g_free (schedule->at);
  g_free (schedule->after_how);
  g_free (schedule->backoff);
  g_free (schedule->time_to_run);
  g_free (schedule->deadline);
  g_free (schedule->queue);
  g_strfreev (schedule->after);
}

/* Up to whole milliseconds; a number that was divided by 1000 is multiplied back to itself. */
static guint64
to_ms (double ms)
{
  double nearest = round (ms);

  return (guint64) (fabs (ms - nearest) <= 1e-9 * MAX (ms, 1) ? nearest : ceil (ms));
}

/* A number of seconds, or one with ms, s, m, h or d behind it. */
gboolean
ctl_parse_duration (const char *text, guint64 *ms)
{
  static const struct
  {
    const char *name;
    double ms;
  } units[] = { { "ms", 1 },  { "", 1e3 },    { "s", 1e3 },
                { "m", 6e4 }, { "h", 3.6e6 }, { "d", 8.64e7 } };
  char *end;
  double number;

  if (!g_ascii_isdigit (text[0]) && text[0] != '.')
    return FALSE;
  number = g_ascii_strtod (text, &end);
  for (guint i = 0; i < G_N_ELEMENTS (units); i++)
    if (g_str_equal (units[i].name, end) && number * units[i].ms < 1e18)
      {
        *ms = to_ms (number * units[i].ms);
        return TRUE;
      }

  return FALSE;
}

/* Seconds since 1970 behind an @, or ISO 8601, in local time unless it names a zone. */
gboolean
ctl_parse_time (const char *text, gint64 *ms)
{
  g_autoptr (GTimeZone) local = g_time_zone_new_local ();
  g_autoptr (GDateTime) when = NULL;

  if (text[0] == '@')
    {
      guint64 seconds;

      if (!g_ascii_string_to_unsigned (text + 1, 10, 0, G_MAXINT64 / 1000, &seconds, NULL))
        return FALSE;
      *ms = (gint64) seconds * 1000;
      return TRUE;
    }
  when = g_date_time_new_from_iso8601 (text, local);
  if (when == NULL || g_date_time_to_unix (when) < 0)
    return FALSE;
  *ms = g_date_time_to_unix (when) * 1000 + g_date_time_get_microsecond (when) / 1000;

  return TRUE;
}

/* HH:MM or HH:MM:SS: the next time that a clock here shows it. */
static gboolean
parse_clock (const char *text, GDateTime *now, gint64 *ms)
{
  struct tm shown = { 0 };
  const char *end = strptime (text, "%H:%M:%S", &shown);

  if (end == NULL)
    {
      shown = (struct tm){ 0 };
      end = strptime (text, "%H:%M", &shown);
    }
  if (end == NULL || *end != '\0')
    return FALSE;
  for (int days = 0; days <= 1; days++)
    {
      g_autoptr (GTimeZone) local = g_time_zone_new_local ();
      g_autoptr (GDateTime) day = g_date_time_add_days (now, days);
      g_autoptr (GDateTime) when = g_date_time_new (
          local, g_date_time_get_year (day), g_date_time_get_month (day),
          g_date_time_get_day_of_month (day), shown.tm_hour, shown.tm_min, shown.tm_sec);

      if (when == NULL)
        return FALSE;
      *ms = g_date_time_to_unix (when) * 1000;
      if (g_date_time_compare (when, now) > 0)
        return TRUE;
    }

  return TRUE;
}

/* When --at means, if it is @now. */
gboolean
ctl_parse_at (const char *text, GDateTime *now, gint64 *ms)
{
  return parse_clock (text, now, ms) || ctl_parse_time (text, ms);
}

static gboolean
parse_at (const char *text, gint64 *ms)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();

  return ctl_parse_at (text, now, ms);
}

static const char *const after_names[] = { "all", "any", "success", NULL };

static const struct
{
  const char *name;
  gsize offset;
  void (*set) (IrisRequest *request, guint64 ms);
} durations[] = {
  { "delay", G_STRUCT_OFFSET (CtlSchedule, delay), iris_request_set_delay },
  { "backoff", G_STRUCT_OFFSET (CtlSchedule, backoff), iris_request_set_backoff },
  { "time-to-run", G_STRUCT_OFFSET (CtlSchedule, time_to_run), iris_request_set_time_to_run },
  { "deadline", G_STRUCT_OFFSET (CtlSchedule, deadline), iris_request_set_deadline },
};

/* Checks them, and gives them to the request unless it is NULL. */
static gboolean
each_duration (const CtlSchedule *schedule, IrisRequest *request, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (durations); i++)
    {
      const char *text = G_STRUCT_MEMBER (char *, schedule, durations[i].offset);
      guint64 ms;

      if (text == NULL)
        continue;
      if (!ctl_parse_duration (text, &ms))
        return ctl_refuse (error,
                           "--%s takes a time such as 90, 1.5s, 200ms, 5m, 2h or 1d, not “%s”",
                           durations[i].name, text);
      if (request != NULL)
        durations[i].set (request, ms);
    }

  return TRUE;
}

/* ITEM, or NODE/ITEM. */
static gboolean
parse_item (const char *text, gboolean *away, guint64 *item)
{
  const char *slash = strchr (text, '/');

  *away = slash != NULL;

  return slash != text
         && g_ascii_string_to_unsigned (*away ? slash + 1 : text, 10, 1, G_MAXUINT64, item, NULL);
}

static gboolean
check_after (const CtlSchedule *schedule, GError **error)
{
  guint64 item;
  gboolean away;
  guint how = 0;

  for (guint i = 0; schedule->after != NULL && schedule->after[i] != NULL; i++)
    if (!parse_item (schedule->after[i], &away, &item))
      return ctl_refuse (error, "--after takes the number of an item, or NODE/ITEM, not “%s”",
                         schedule->after[i]);
  if (!ctl_choose ("after-how", schedule->after_how, after_names, &how, error))
    return FALSE;
  if (schedule->after_how != NULL && schedule->after == NULL)
    return ctl_refuse (error, "--after-how needs --after");

  return TRUE;
}

gboolean
ctl_schedule_validate (const CtlSchedule *schedule, GError **error)
{
  gint64 at;

  if (!each_duration (schedule, NULL, error))
    return FALSE;
  if (schedule->at != NULL && !parse_at (schedule->at, &at))
    return ctl_refuse (
        error, "--at takes a time such as 18:00, 2026-12-24T18:00:00 or @1800000000, not “%s”",
        schedule->at);
  if (schedule->priority < -1 || schedule->priority > 9)
    return ctl_refuse (error, "--priority takes 0 to 9, not %d", schedule->priority);
  if (schedule->retries < 0 || schedule->retries > MAX_RETRIES)
    return ctl_refuse (error, "--retries takes 0 to %d, not %d", MAX_RETRIES, schedule->retries);
  if (schedule->backoff != NULL && schedule->retries == 0)
    return ctl_refuse (error, "--backoff needs --retries");

  return check_after (schedule, error);
}

int
ctl_schedule_check (const CtlSchedule *schedule, const char *command)
{
  g_autoptr (GError) error = NULL;
  gint64 at;

  if (!ctl_schedule_validate (schedule, &error))
    return ctl_fail (CTL_USAGE, "%s: %s", command, error->message);
  if (schedule->at != NULL && parse_at (schedule->at, &at) && at < g_get_real_time () / 1000)
    g_printerr ("irisctl: %s: --at %s is in the past: the item runs at once\n", command,
                schedule->at);

  return CTL_OK;
}

static void
apply_after (const CtlSchedule *schedule, IrisRequest *request)
{
  guint n = g_strv_length (schedule->after), n_items = 0;
  g_autofree guint64 *items = g_new (guint64, n);
  g_autoptr (GPtrArray) others = g_ptr_array_new ();
  guint how = 0;

  for (guint i = 0; i < n; i++)
    {
      gboolean away;

      parse_item (schedule->after[i], &away, &items[n_items]);
      if (away)
        g_ptr_array_add (others, schedule->after[i]);
      else
        n_items++;
    }
  ctl_choose ("after-how", schedule->after_how, after_names, &how, NULL);
  iris_request_set_after (request, items, n_items,
                          (IrisRequestAfter) (IRIS_REQUEST_AFTER_ALL + how));
  if (others->len == 0)
    return;
  g_ptr_array_add (others, NULL);
  iris_request_set_after_away (request, (const char *const *) others->pdata);
}

void
ctl_schedule_apply (const CtlSchedule *schedule, IrisRequest *request)
{
  gint64 at;

  each_duration (schedule, request, NULL);
  if (schedule->at != NULL && parse_at (schedule->at, &at))
    iris_request_set_time (request, at);
  iris_request_set_priority (request, schedule->priority);
  iris_request_set_queue (request, schedule->queue);
  iris_request_set_retries (request, (guint) schedule->retries);
  iris_request_set_wait_for_service (request, schedule->wait_for_service);
  if (schedule->after != NULL)
    apply_after (schedule, request);
}
