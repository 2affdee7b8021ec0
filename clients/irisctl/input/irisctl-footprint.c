/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The options that say how much memory an item will touch.
 */
#include "clients/irisctl/irisctl.h"

#include <errno.h>
#include <string.h>

GOptionEntry *
ctl_footprint_entries (CtlFootprint *footprint)
{
  const GOptionEntry entries[] = {
    { "footprint", 0, 0, G_OPTION_ARG_STRING, &footprint->size,
      "How much memory it will touch, roughly: bytes, or a number with K, M or G", "SIZE" },
    { "keep-apart", 0, 0, G_OPTION_ARG_NONE, &footprint->keep_apart,
      "It shares that memory with no other item: run such items at different places", NULL },
    { NULL },
  };

  return g_memdup2 (entries, sizeof entries);
}

void
ctl_footprint_clear (CtlFootprint *footprint)
{
  g_free (footprint->size);
}

gboolean
ctl_parse_size (const char *text, guint64 *size)
{
  static const char units[] = "KMG";
  guint64 number;
  const char *unit;
  char *end;

  if (!g_ascii_isdigit (text[0]))
    return FALSE;
  errno = 0;
  number = g_ascii_strtoull (text, &end, 10);
  if (errno != 0)
    return FALSE;
  *size = number;
  if (*end == '\0')
    return TRUE;
  unit = strchr (units, *end);

  return unit != NULL && end[1] == '\0'
         && g_uint64_checked_mul (size, number, G_GUINT64_CONSTANT (1) << 10 * (unit - units + 1));
}

gboolean
ctl_footprint_validate (const CtlFootprint *footprint, GError **error)
{
  guint64 size = 0;

  if (footprint->size != NULL && !ctl_parse_size (footprint->size, &size))
    return ctl_refuse (error,
                       "--footprint takes a number of bytes, or one with K, M or G, not “%s”",
                       footprint->size);
  if (footprint->keep_apart && size == 0)
    return ctl_refuse (error,
                       "--keep-apart needs --footprint: how much memory the item will touch");

  return TRUE;
}

void
ctl_footprint_apply (const CtlFootprint *footprint, IrisRequest *request)
{
  guint64 size = 0;

  if (footprint->size != NULL)
    ctl_parse_size (footprint->size, &size);
  iris_request_set_footprint (request, size, footprint->keep_apart);
}
