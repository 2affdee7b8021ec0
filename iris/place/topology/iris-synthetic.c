/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The size of a synthetic description, before hwloc builds it.
 *
 * "pack:99999 core:99999" is 21 characters and ten billion objects. hwloc builds whatever it is
 * told, so this file multiplies first. It reads only what matters for size: the counts, and the
 * cpu numbers in indexes=; whether the description makes sense is hwloc's to say.
 */
#include <iris/place/topology/iris-cpu-list-private.h>
#include <iris/place/topology/iris-place-error.h>
#include <iris/place/topology/iris-synthetic-private.h>
#include <iris/place/topology/iris-topology-private.h>

static gboolean
too_large (GError **error, const char *what, guint limit, const char *name)
{
  g_set_error (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_TOO_LARGE,
               "The synthetic topology has more than %u %s (%s); describe a smaller machine.",
               limit, what, name);
  return FALSE;
}

/* Signs are refused because strtoul(), with which hwloc reads numbers, takes -1 for the largest. */
static gboolean
check_characters (const char *description, GError **error)
{
  for (const char *p = description; *p != '\0'; p++)
    if (!g_ascii_isalnum (*p) && !g_ascii_isspace (*p) && strchr (":,*=()[]._", *p) == NULL)
      {
        g_set_error (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_BAD_SYNTHETIC,
                     "The synthetic topology has a character at position %u that cannot be part "
                     "of one; write it as in “pack:2 l3:1 core:4 pu:2”.",
                     (guint) (p - description) + 1);
        return FALSE;
      }
  return TRUE;
}

static guint64
read_number (const char **cursor)
{
  char *end;
  /* Base 0, as hwloc reads it, so that 0x10 is not taken for zero. */
  guint64 number = g_ascii_strtoull (*cursor, &end, 0);

  *cursor = end;
  return number;
}

/* Checks the numbers behind "indexes=". Only a list of different numbers is taken: hwloc's other
 * forms ("2*2:1*2", "core:pack") end the program by an assertion if they do not fit the levels, and
 * of an object that is there twice it makes a topology with holes. */
static gboolean
check_indexes (const char *p, GError **error)
{
  size_t length = strcspn (p, " \t\r\n)");
  g_autofree char *list = g_strndup (p, length);
  g_autoptr (GError) why = NULL;
  hwloc_bitmap_t numbers = strchr (list, '-') == NULL ? iris_cpu_list_parse (list, &why) : NULL;
  int last = numbers != NULL ? hwloc_bitmap_last (numbers) : -1;

  hwloc_bitmap_free (numbers);
  if (last >= IRIS_TOPOLOGY_MAX_CPUS
      || g_error_matches (why, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_TOO_LARGE))
    return too_large (error, "cpus, or an index above that", IRIS_TOPOLOGY_MAX_CPUS,
                      "IRIS_TOPOLOGY_MAX_CPUS");
  if (last >= 0)
    return TRUE;
  g_set_error (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_BAD_SYNTHETIC,
               "The synthetic topology has “%s” for indexes; write a list of different numbers, as "
               "in “pu:4(indexes=0,2,1,3)”.",
               list);
  return FALSE;
}

/* Reads from an opening parenthesis to behind the closing one. */
static gboolean
check_attributes (const char **cursor, GError **error)
{
  const char *begin = *cursor;
  const char *end = strchr (begin, ')');
  const char *p = begin;

  *cursor = end != NULL ? end + 1 : begin + strlen (begin);
  while ((p = g_strstr_len (p, *cursor - p, "indexes=")) != NULL)
    {
      p += strlen ("indexes=");
      if (!check_indexes (p, error))
        return FALSE;
    }
  return TRUE;
}

/* A count stands behind a colon, or is a word of its own; the 3 of "l3:2" is neither. */
static gboolean
begins_count (const char *description, const char *p)
{
  return g_ascii_isdigit (*p)
         && (p == description || p[-1] == ':' || p[-1] == ')' || p[-1] == ']'
             || g_ascii_isspace (p[-1]));
}

/*
 * iris_synthetic_check:
 *
 * Whether @description stays within the limits. It may still be no topology.
 */
gboolean
iris_synthetic_check (const char *description, GError **error)
{
  guint64 width = 1, objects = 1;
  const char *p = description;

  if (strlen (description) > IRIS_SYNTHETIC_MAX_LENGTH)
    return too_large (error, "characters", IRIS_SYNTHETIC_MAX_LENGTH, "IRIS_SYNTHETIC_MAX_LENGTH");
  if (!check_characters (description, error))
    return FALSE;

  while (*p != '\0')
    {
      if (*p == '(')
        {
          if (!check_attributes (&p, error))
            return FALSE;
          continue;
        }
      if (begins_count (description, p))
        {
          guint64 count = read_number (&p);

          if (count > IRIS_SYNTHETIC_MAX_ARITY)
            return too_large (error, "objects of a kind side by side", IRIS_SYNTHETIC_MAX_ARITY,
                              "IRIS_SYNTHETIC_MAX_ARITY");
          width *= count;
          objects += width;
        }
      else if (*p++ == '[') /* one memory object under every object of the level before it */
        objects += width;

      if (width > IRIS_TOPOLOGY_MAX_CPUS)
        return too_large (error, "cpus", IRIS_TOPOLOGY_MAX_CPUS, "IRIS_TOPOLOGY_MAX_CPUS");
      if (objects > IRIS_SYNTHETIC_MAX_OBJECTS)
        return too_large (error, "objects", IRIS_SYNTHETIC_MAX_OBJECTS,
                          "IRIS_SYNTHETIC_MAX_OBJECTS");
    }
  return TRUE;
}
