/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Lists of cpus as text, in the form that the kernel writes: "0-3,8".
 *
 * The parser is strict because a list comes from people and decides where threads run: hwloc's own
 * reader takes "0-" for "every cpu from 0 on" and passes over what it does not understand.
 */
#include <iris/place/topology/iris-cpu-list-private.h>
#include <iris/place/topology/iris-place-error.h>

static gboolean
parse_cpu (const char **cursor, guint *cpu)
{
  const char *p = *cursor;
  guint value = 0;

  if (!g_ascii_isdigit (*p))
    return FALSE;
  for (; g_ascii_isdigit (*p); p++)
    value = MIN (value * 10 + (guint) (*p - '0'), IRIS_CPU_LIST_MAX_CPU + 1);

  *cursor = p;
  *cpu = value;
  return TRUE;
}

static gboolean
parse_range (const char **cursor, guint *first, guint *last)
{
  if (!parse_cpu (cursor, first))
    return FALSE;
  *last = *first;
  if (**cursor != '-')
    return TRUE;
  (*cursor)++;
  return parse_cpu (cursor, last) && *first <= *last;
}

static gboolean
add_range (hwloc_bitmap_t cpus, guint first, guint last, const char *text, GError **error)
{
  if (last > IRIS_CPU_LIST_MAX_CPU)
    {
      g_set_error (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_TOO_LARGE,
                   "The cpu list “%s” names a cpu above %d (IRIS_CPU_LIST_MAX_CPU); "
                   "name cpus that this machine has.",
                   text, IRIS_CPU_LIST_MAX_CPU);
      return FALSE;
    }

  for (guint cpu = first; cpu <= last; cpu++)
    if (hwloc_bitmap_isset (cpus, cpu))
      {
        g_set_error (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_OVERLAP,
                     "The cpu list “%s” names cpu %u twice; name every cpu once.", text, cpu);
        return FALSE;
      }

  hwloc_bitmap_set_range (cpus, first, (int) last);
  return TRUE;
}

/*
 * iris_cpu_list_parse:
 *
 * Reads a list such as "0-3,8". Nothing but digits, '-' and ',' is taken, ranges ascend, and no cpu
 * is named twice. Returns a bitmap for the caller to free, or NULL with an error.
 */
hwloc_bitmap_t
iris_cpu_list_parse (const char *text, GError **error)
{
  hwloc_bitmap_t cpus = hwloc_bitmap_alloc ();
  const char *cursor = text;
  guint first, last;

  if (*text == '\0')
    {
      g_set_error_literal (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_EMPTY,
                           "A cpu list is empty; write one such as “0-3,8”.");
      goto fail;
    }

  do
    {
      if (!parse_range (&cursor, &first, &last) || (*cursor != ',' && *cursor != '\0'))
        {
          g_set_error (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_BAD_CPU_LIST,
                       "“%s” is not a cpu list at character %u; write one such as “0-3,8”.", text,
                       (guint) (cursor - text) + 1);
          goto fail;
        }
      if (!add_range (cpus, first, last, text, error))
        goto fail;
    }
  while (*cursor++ == ',');

  return cpus;

fail:
  hwloc_bitmap_free (cpus);
  return NULL;
}

/*
 * iris_cpu_list_format:
 *
 * Writes @cpus as a list; the empty set, and no set at all, as the empty string.
 */
char *
iris_cpu_list_format (hwloc_const_bitmap_t cpus)
{
  char *list, *copy;

  if (cpus == NULL || hwloc_bitmap_list_asprintf (&list, cpus) < 0)
    return g_strdup ("");

  copy = g_strdup (list);
  free (list);
  return copy;
}
