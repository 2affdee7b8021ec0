/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A calendar: the times at which a schedule is due, from a cron line and a time zone, or from the
 * time between two of them.
 *
 * A line has the five fields of cron (crontab(5) of Debian and POSIX crontab): minute, hour, day of
 * the month, month, day of the week. If both days are restricted, a day that fits either is due; if
 * one of the two fields begins with *, a day must fit both. A calendar without a line is due each
 * time so much time has passed since the schedule was made, whatever the clocks show.
 *
 * Daylight saving. A time of day that the clocks skip in spring is due at the moment of the change;
 * one that they show twice in autumn is due the first time. A line for every hour of the day
 * follows elapsed time instead: it is due in both hours of autumn, and not in the hour that spring
 * lacks. So a job of once a day runs once on each day, and one of each hour runs once in each hour.
 *
 * Most days have one offset from UTC, and the next time there is arithmetic; only a day near a
 * change asks the zone for each of its times.
 */
#include "daemon/base/irisd-calendar.h"

#include <iris/wire/iris-wire.h>

#include <string.h>

#define DAY_S      86400
#define UNIX_EPOCH 719163 /* 1970-01-01 as a Julian day of GDate */

/* UTC is between 14 hours behind and 12 before a local time. */
#define MOST_AHEAD_S  (14 * 3600)
#define MOST_BEHIND_S (12 * 3600)

/* 29 February is a given day of the week once in 28 years; in 40 if the year 2100 is between. */
#define MOST_DAYS (41 * 366)

/* Later times than this are never due: the end of the year 9999. */
#define END_OF_TIME G_GINT64_CONSTANT (253402300799)

/* The time between two runs. */
#define LEAST_EVERY_MS 1000
#define MOST_EVERY_MS  (G_GUINT64_CONSTANT (10) * 366 * DAY_S * 1000)

struct _IrisdCalendar
{
  GTimeZone *zone;
  gint64 every_ms; /* 0: by the fields */
  guint64 minutes;
  guint32 hours;
  guint32 days;
  guint16 months;
  guint8 weekdays;  /* bit 0 is Sunday */
  gboolean any_day; /* one of the fields for days begins with * */
};

static gboolean fail (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
fail (GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  if (error != NULL && *error == NULL)
    *error = g_error_new_valist (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT, format, args);
  va_end (args);
  return FALSE;
}

/* --- the line --------------------------------------------------------------------------------- */

/* The fields, in their order. Sunday is 0 and 7. */
static const struct
{
  const char *name;
  guint least;
  guint most;
  const char *names[13];
} fields[] = {
  { "minute", 0, 59, { NULL } },
  { "hour", 0, 23, { NULL } },
  { "day of the month", 1, 31, { NULL } },
  { "month",
    1,
    12,
    { "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", NULL } },
  { "day of the week", 0, 7, { "sun", "mon", "tue", "wed", "thu", "fri", "sat", NULL } },
};

enum
{
  MINUTE,
  HOUR,
  DAY,
  MONTH,
  WEEKDAY,
  N_FIELDS,
};

static const struct
{
  const char *name;
  const char *line;
} macros[] = {
  { "@yearly", "0 0 1 1 *" }, { "@annually", "0 0 1 1 *" }, { "@monthly", "0 0 1 * *" },
  { "@weekly", "0 0 * * 0" }, { "@daily", "0 0 * * *" },    { "@midnight", "0 0 * * *" },
  { "@hourly", "0 * * * *" },
};

/* Reads a number, or a name of the field, from @text up to its end. */
static gboolean
read_value (guint field, const char *text, guint *value, GError **error)
{
  guint64 number;
  for (guint i = 0; fields[field].names[i] != NULL; i++)
    if (g_ascii_strcasecmp (fields[field].names[i], text) == 0)
      {
        *value = i + fields[field].least;
        return TRUE;
      }
  if (!g_ascii_string_to_unsigned (text, 10, fields[field].least, fields[field].most, &number,
                                   NULL))
    return fail (error, "the %s “%s” is not %s from %u to %u", fields[field].name, text,
                 fields[field].names[0] != NULL ? "a name, nor a number" : "a number",
                 fields[field].least, fields[field].most);
  *value = (guint) number;
  return TRUE;
}

/* Reads “first-last”, “first” or “*” from @text. */
static gboolean
read_range (guint field, const char *text, guint *first, guint *last, GError **error)
{
  g_auto (GStrv) ends = g_strsplit (text, "-", 2);
  if (g_str_equal (text, "*"))
    {
      *first = fields[field].least;
      *last = field == WEEKDAY ? 6 : fields[field].most;
      return TRUE;
    }
  if (ends[0] == NULL)
    return fail (error, "the %s is empty", fields[field].name);
  if (!read_value (field, ends[0], first, error))
    return FALSE;
  *last = *first;
  if (ends[1] != NULL && !read_value (field, ends[1], last, error))
    return FALSE;
  if (field == WEEKDAY && *last == 0 && *first > 0)
    *last = 7; /* fri-sun */
  if (*last < *first)
    return fail (error, "the %s “%s” ends before it begins", fields[field].name, text);
  return TRUE;
}

/* Reads one part of a list: a range and its step. */
static gboolean
read_part (guint field, const char *text, guint64 *set, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, "/", 2);
  guint64 step = 1;
  guint first, last;
  if (parts[0] == NULL)
    return fail (error, "the %s has an empty part", fields[field].name);
  if (!read_range (field, parts[0], &first, &last, error))
    return FALSE;
  if (parts[1] != NULL
      && !g_ascii_string_to_unsigned (parts[1], 10, 1, fields[field].most, &step, NULL))
    return fail (error, "the step “%s” of the %s is not a number from 1 to %u", parts[1],
                 fields[field].name, fields[field].most);
  if (parts[1] != NULL && parts[0][0] != '*' && strchr (parts[0], '-') == NULL)
    return fail (error, "a step needs a range: write %s-%u/%s for the %s", parts[0],
                 fields[field].most, parts[1], fields[field].name);
  for (guint value = first; value <= last; value += (guint) step)
    *set |= G_GUINT64_CONSTANT (1) << (field == WEEKDAY ? value % 7 : value);
  return TRUE;
}

static gboolean
read_field (guint field, const char *text, guint64 *set, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, ",", -1);
  *set = 0;
  for (guint i = 0; parts[i] != NULL; i++)
    if (!read_part (field, parts[i], set, error))
      return FALSE;
  return TRUE;
}

/* Returns whether some month of the line has one of its days. Each date of the Gregorian calendar
 * falls on each day of the week at some time, so a day of the week excludes no date for ever. */
static gboolean
check_is_due (const IrisdCalendar *self, GError **error)
{
  static const guint8 most[] = { 0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
  guint longest = 0, first = 1;
  if (!self->any_day)
    return TRUE;
  while ((self->days >> first & 1) == 0)
    first++;
  for (guint month = 1; month <= 12; month++)
    if ((self->months >> month & 1) != 0)
      longest = MAX (longest, most[month]);
  if (longest >= first)
    return TRUE;
  return fail (error, "the line is never due: it wants day %u of a month with at most %u days",
               first, longest);
}

static gboolean
read_fields (IrisdCalendar *self, const char *line, GError **error)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new ();
  g_auto (GStrv) words = g_strsplit_set (line, " \t", -1);
  guint64 sets[N_FIELDS];
  for (guint i = 0; words[i] != NULL; i++)
    if (words[i][0] != '\0')
      g_ptr_array_add (texts, words[i]);
  if (texts->len != N_FIELDS)
    return fail (error,
                 "a cron line has 5 fields (minute, hour, day of the month, month, day of the "
                 "week), not %u",
                 texts->len);
  for (guint field = 0; field < N_FIELDS; field++)
    if (!read_field (field, g_ptr_array_index (texts, field), &sets[field], error))
      return FALSE;
  self->minutes = sets[MINUTE];
  self->hours = (guint32) sets[HOUR];
  self->days = (guint32) sets[DAY];
  self->months = (guint16) sets[MONTH];
  self->weekdays = (guint8) sets[WEEKDAY];
  self->any_day = *(const char *) g_ptr_array_index (texts, DAY) == '*'
                  || *(const char *) g_ptr_array_index (texts, WEEKDAY) == '*';
  return check_is_due (self, error);
}

static gboolean
read_line (IrisdCalendar *self, const char *line, GError **error)
{
  if (strlen (line) > IRISD_CALENDAR_MOST_LINE)
    return fail (error, "a cron line has at most %d bytes, not %" G_GSIZE_FORMAT,
                 IRISD_CALENDAR_MOST_LINE, strlen (line));
  if (!g_utf8_validate (line, -1, NULL))
    return fail (error, "a cron line is text, and this is no valid UTF-8");
  if (line[0] != '@')
    return read_fields (self, line, error);
  for (guint i = 0; i < G_N_ELEMENTS (macros); i++)
    if (g_ascii_strcasecmp (macros[i].name, line) == 0)
      return read_fields (self, macros[i].line, error);
  return fail (
      error, "“%s” is unknown: take @hourly, @daily, @weekly, @monthly, @yearly or 5 fields", line);
}

/* GLib opens a file of this name, so it must stay inside the database of zones. */
static gboolean
read_zone (IrisdCalendar *self, const char *zone, GError **error)
{
  gboolean good = strlen (zone) <= IRISD_CALENDAR_MOST_ZONE && zone[0] != '/'
                  && strstr (zone, "..") == NULL;
  for (const char *c = zone; good && *c != '\0'; c++)
    good = g_ascii_isalnum (*c) || strchr ("_+-/:", *c) != NULL;
  if (good)
    self->zone = *zone == '\0' ? g_time_zone_new_local () : g_time_zone_new_identifier (zone);
  if (self->zone == NULL)
    return fail (error,
                 "the time zone “%.*s” is unknown: take a name such as Europe/Berlin or UTC, or "
                 "install tzdata where irisd runs",
                 IRISD_CALENDAR_MOST_ZONE, zone);
  return TRUE;
}

/* @zone: a name of the database of zones, or an offset such as +02:00; empty or NULL: that of
 * irisd. Refuses a line that is never due. */
IrisdCalendar *
irisd_calendar_new (const char *line, const char *zone, GError **error)
{
  g_autoptr (IrisdCalendar) self = g_new0 (IrisdCalendar, 1);
  g_autoptr (GError) why = NULL;
  if (!read_line (self, line, &why))
    {
      g_propagate_prefixed_error (error, g_steal_pointer (&why), "cannot read the cron line: ");
      return NULL;
    }
  if (!read_zone (self, zone != NULL ? zone : "", error))
    return NULL;
  return g_steal_pointer (&self);
}

/* Returns a calendar that is due each @every_ms milliseconds. */
IrisdCalendar *
irisd_calendar_new_every (guint64 every_ms, GError **error)
{
  if (every_ms < LEAST_EVERY_MS || every_ms > MOST_EVERY_MS)
    {
      fail (error,
            "a schedule runs every second at most, and every 10 years at least; not every "
            "%" G_GUINT64_FORMAT " ms",
            every_ms);
      return NULL;
    }
  IrisdCalendar *self = g_new0 (IrisdCalendar, 1);
  self->every_ms = (gint64) every_ms;
  return self;
}

void
irisd_calendar_free (IrisdCalendar *self)
{
  g_clear_pointer (&self->zone, g_time_zone_unref);
  g_free (self);
}

/* --- its times -------------------------------------------------------------------------------- */

static gint64
get_offset (const IrisdCalendar *self, gint64 time_s)
{
  gint interval = g_time_zone_find_interval (self->zone, G_TIME_TYPE_UNIVERSAL, time_s);
  return g_time_zone_get_offset (self->zone, interval);
}

static gint64
floor_day (gint64 time_s)
{
  return time_s >= 0 ? time_s / DAY_S : -((DAY_S - 1 - time_s) / DAY_S);
}

/* Returns whether the line names that day, counted from 1970. */
static gboolean
has_day (const IrisdCalendar *self, gint64 day)
{
  GDate date;
  g_date_clear (&date, 1);
  g_date_set_julian (&date, (guint32) (day + UNIX_EPOCH));
  if ((self->months >> g_date_get_month (&date) & 1) == 0)
    return FALSE;
  gboolean by_day = (self->days >> g_date_get_day (&date) & 1) != 0;
  gboolean by_weekday = (self->weekdays >> (g_date_get_weekday (&date) % 7) & 1) != 0;
  return self->any_day ? by_day && by_weekday : by_day || by_weekday;
}

/* Returns the first time of day of the line, in seconds, from @least on; -1 if there is none. */
static gint64
next_in_day (const IrisdCalendar *self, gint64 least)
{
  gint64 from = (MAX (least, 0) + 59) / 60;
  for (gint64 hour = from / 60; hour < 24; hour++)
    {
      gint64 first = hour == from / 60 ? from % 60 : 0;
      guint64 minutes = self->minutes >> first;
      if ((self->hours >> hour & 1) != 0 && minutes != 0)
        return hour * 3600 + (first + g_bit_nth_lsf ((gulong) minutes, -1)) * 60;
    }
  return -1;
}

/* Returns the first second after @before, up to @after, that has another offset than @before. */
static gint64
find_change (const IrisdCalendar *self, gint64 before, gint64 after)
{
  gint64 offset = get_offset (self, before);
  while (after - before > 1)
    {
      gint64 middle = before + (after - before) / 2;
      if (get_offset (self, middle) == offset)
        before = middle;
      else
        after = middle;
    }
  return after;
}

/* Returns the first time after @after_s at which the clocks show @local, if they do; @late and
 * @early are the offsets around that day. Else -1. */
static gint64
resolve (const IrisdCalendar *self, gint64 local, gint64 late, gint64 early, gint64 after_s)
{
  const gboolean each_hour = self->hours == (1u << 24) - 1;
  gint64 first = local - MAX (late, early), second = local - MIN (late, early);
  gboolean has_first = get_offset (self, first) == local - first;
  gboolean has_second = get_offset (self, second) == local - second;
  if (!has_first && !has_second && !each_hour)
    {
      gint64 change = find_change (self, first, second);
      return change > after_s ? change : -1;
    }
  if (has_first && first > after_s)
    return first;
  if (has_second && second > after_s && (each_hour || !has_first))
    return second;
  return -1;
}

/* Returns the first time of the line after @after_s on that day; -1 if there is none. */
static gint64
next_on_day (const IrisdCalendar *self, gint64 day, gint64 after_s)
{
  gint64 midnight = day * DAY_S;
  gint64 before = get_offset (self, midnight - MOST_AHEAD_S);
  gint64 after = get_offset (self, midnight + DAY_S + MOST_BEHIND_S);
  gint64 best = -1;
  if (before == after)
    {
      gint64 time = next_in_day (self, after_s + 1 - (midnight - before));
      return time >= 0 ? midnight - before + time : -1;
    }
  for (gint64 time = next_in_day (self, 0); time >= 0; time = next_in_day (self, time + 1))
    {
      if (best >= 0 && midnight + time - MAX (before, after) > best)
        break;
      gint64 due = resolve (self, midnight + time, before, after, after_s);
      if (due >= 0 && (best < 0 || due < best))
        best = due;
    }
  return best;
}

static gint64
next_by_fields (const IrisdCalendar *self, gint64 after_s)
{
  gint64 last = MIN (floor_day (after_s) + MOST_DAYS, END_OF_TIME / DAY_S);
  /* The clocks may show the day before for the second time. */
  for (gint64 day = floor_day (after_s + get_offset (self, after_s)) - 1; day <= last; day++)
    {
      gint64 due = has_day (self, day) ? next_on_day (self, day, after_s) : -1;
      if (due >= 0)
        return due;
    }
  return -1;
}

/* Returns the first time after @after_ms at which the schedule is due, in Unix time; -1 if there is
 * none before the year 10000. @start_ms: when the schedule was made, from where a calendar without
 * a line counts. */
gint64
irisd_calendar_get_next (const IrisdCalendar *self, gint64 start_ms, gint64 after_ms)
{
  after_ms = CLAMP (after_ms, 0, END_OF_TIME * 1000);
  start_ms = CLAMP (start_ms, 0, END_OF_TIME * 1000);
  if (self->every_ms == 0)
    {
      gint64 next = next_by_fields (self, after_ms / 1000);
      return next >= 0 ? next * 1000 : -1;
    }
  gint64 past = MAX (after_ms - start_ms, 0) / self->every_ms;
  gint64 next = start_ms + (past + 1) * self->every_ms;
  return next <= END_OF_TIME * 1000 ? next : -1;
}

/* Returns whether irisd_calendar_new_every() made it. */
gboolean
irisd_calendar_is_every (const IrisdCalendar *self)
{
  return self->every_ms > 0;
}

/* Returns the delay, up to @most_ms, of the run of @name that is due at @time_ms. It is the same
 * each time, so that a restart of irisd does not choose again. The mixing is that of SplitMix64 (G.
 * Steele, D. Lea, C. Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014). */
guint64
irisd_calendar_get_jitter (const char *name, gint64 time_ms, guint64 most_ms)
{
  if (most_ms == 0)
    return 0;
  guint64 mixed = (guint64) time_ms * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  for (const char *c = name; *c != '\0'; c++)
    {
      mixed += (guint8) *c + G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
      mixed = (mixed ^ mixed >> 30) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
      mixed = (mixed ^ mixed >> 27) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
      mixed ^= mixed >> 31;
    }
  return most_ms == G_MAXUINT64 ? mixed : mixed % (most_ms + 1);
}
