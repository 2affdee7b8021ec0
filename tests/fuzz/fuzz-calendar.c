/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Feeds lines and zones to the parser of calendars and checks its guarantees: a refusal has a
 * sentence fit for a reply, and an accepted line has a next time, later ones after that, and no
 * time between. With -Dfuzz=true libFuzzer drives it; else a seeded mutator in main().
 */
#include "daemon/base/irisd-calendar.h"

#include <iris/wire/iris-wire.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NOW_MS G_GINT64_CONSTANT (1795000000000)

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void
check_times (const IrisdCalendar *calendar)
{
  gint64 last = NOW_MS;
  for (guint i = 0; i < 4; i++)
    {
      gint64 next = irisd_calendar_get_next (calendar, NOW_MS, last);
      g_assert (next > last);
      g_assert (irisd_calendar_get_next (calendar, NOW_MS, last + (next - last) / 2) == next);
      g_assert (irisd_calendar_get_next (calendar, NOW_MS, next - 1) == next);
      last = next;
    }
}

/* A line, and the zone behind a newline. */
int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autofree char *line = g_strndup ((const char *) data, size);
  g_autoptr (GError) error = NULL;
  char *zone = strchr (line, '\n');
  if (zone != NULL)
    *zone++ = '\0';
  g_autoptr (IrisdCalendar) calendar = irisd_calendar_new (line, zone, &error);
  if (calendar != NULL)
    check_times (calendar);
  else
    {
      g_assert (g_error_matches (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT));
      g_assert (error->message[0] != '\0');
    }
  return 0;
}

#ifndef IRISD_LIBFUZZER
int
main (void)
{
  static const char *const seeds[] = {
    "*/5 * * * *\nUTC",          "0 4 1-7 * mon\nEurope/Berlin",
    "30 2 29 feb sun\n+05:30",   "@daily\nAustralia/Lord_Howe",
    "0,30 9-17/2 * jan-mar 1-5", "15 14 31 */2 */3\nUTC",
  };
  static const char alphabet[] = "0123456789*/-, @abcdefghijmnoprstuvwxyz\n\t\xff";
  const char *cases = g_getenv ("IRIS_FUZZ_CASES");
  guint64 n_cases = cases != NULL ? g_ascii_strtoull (cases, NULL, 0) : 20000;
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  printf ("1..1\n# %" G_GUINT64_FORMAT " cases\n", n_cases);
  fflush (stdout);
  for (guint64 i = 0; i < n_cases; i++)
    {
      g_autoptr (GString)
          text = g_string_new (seeds[g_rand_int_range (rand, 0, G_N_ELEMENTS (seeds))]);
      for (gint n = g_rand_int_range (rand, 0, 5); n > 0 && text->len > 0; n--)
        {
          gssize at = g_rand_int_range (rand, 0, (gint32) text->len);
          char c = alphabet[g_rand_int_range (rand, 0, sizeof alphabet - 1)];
          switch (g_rand_int_range (rand, 0, 3))
            {
            case 0:
              g_string_erase (text, at, 1);
              break;
            case 1:
              g_string_insert_c (text, at, c);
              break;
            default:
              text->str[at] = c;
            }
        }
      LLVMFuzzerTestOneInput ((const uint8_t *) text->str, text->len);
    }
  printf ("ok 1 - mutated lines break no promise\n");
  return 0;
}
#endif
