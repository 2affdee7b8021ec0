/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What IRIS_DEBUG asks for.
 */
#include "iris/base/iris-debug-private.h"

#include "iris/base/iris-mark-private.h"

#include <glib.h>

unsigned iris_debug_keys;

static const GDebugKey keys[] = {
  { "places", IRIS_DEBUG_PLACES }, { "scheduler", IRIS_DEBUG_SCHEDULER },
  { "steal", IRIS_DEBUG_STEAL },   { "park", IRIS_DEBUG_PARK },
  { "stats", IRIS_DEBUG_STATS },   { "exact", IRIS_DEBUG_EXACT },
};

/* GLib passes over what it does not know; a key that does nothing is a mistake worth telling. */
static void
warn_of_unknown (const char *value)
{
  g_auto (GStrv) words = g_strsplit_set (value, ":;, \t", -1);

  for (guint i = 0; words[i] != NULL; i++)
    {
      gboolean known = *words[i] == '\0' || g_ascii_strcasecmp (words[i], "all") == 0
                       || g_ascii_strcasecmp (words[i], "help") == 0;

      for (guint j = 0; j < G_N_ELEMENTS (keys) && !known; j++)
        known = g_ascii_strcasecmp (words[i], keys[j].key) == 0;
      if (!known)
        iris_debug_print ("IRIS_DEBUG knows no \"%s\"; IRIS_DEBUG=help lists what it knows",
                          words[i]);
    }
}

void
iris_debug_init (void)
{
  static gsize done;
  const char *value;

  if (!g_once_init_enter (&done))
    return;
  value = g_getenv ("IRIS_DEBUG");
  if (value != NULL)
    {
      iris_debug_keys = g_parse_debug_string (value, keys, G_N_ELEMENTS (keys));
      warn_of_unknown (value);
    }
  iris_mark_init ();
  g_once_init_leave (&done, 1);
}

void
iris_debug_print (const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  g_printerr ("iris: %s\n", text);
}
