/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Topologies in files: what is checked of them before and after hwloc reads them.
 *
 * hwloc believes a file, and a file may be broken, cut, or made up.
 */
#include <sys/stat.h>

#include <iris/place/topology/iris-place-error.h>
#include <iris/place/topology/iris-topology-file-private.h>

static gboolean
check_file (const char *path, GError **error)
{
  struct stat st;

  if (stat (path, &st) < 0)
    return TRUE; /* reading it says why */

  if (!S_ISREG (st.st_mode))
    {
      g_set_error (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_BAD_XML,
                   "%s is not a regular file; name one that “lstopo FILE.xml” wrote.", path);
      return FALSE;
    }
  if (st.st_size > IRIS_TOPOLOGY_MAX_XML)
    {
      g_set_error (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_TOO_LARGE,
                   "%s is larger than %d bytes (IRIS_TOPOLOGY_MAX_XML); write it without I/O "
                   "devices, with “lstopo --no-io FILE.xml”.",
                   path, IRIS_TOPOLOGY_MAX_XML);
      return FALSE;
    }
  return TRUE;
}

/* hwloc's own reader, which it uses where libxml is not installed, guesses its way through broken
 * files and leaks what it made of them. GLib's says in which line they break. */
static gboolean
check_xml (const char *path, const char *text, gsize size, GError **error)
{
  static const GMarkupParser parser = { NULL, NULL, NULL, NULL, NULL };
  g_autoptr (GMarkupParseContext) context = g_markup_parse_context_new (&parser, 0, NULL, NULL);
  g_autoptr (GError) broken = NULL;

  if (g_markup_parse_context_parse (context, text, (gssize) size, &broken)
      && g_markup_parse_context_end_parse (context, &broken))
    return TRUE;
  g_set_error (error, IRIS_PLACE_ERROR, IRIS_PLACE_ERROR_BAD_XML,
               "The file %s is not XML (%s); name one that “lstopo FILE.xml” wrote.", path,
               broken->message);
  return FALSE;
}

/*
 * iris_topology_file_read:
 *
 * Reads a file that hwloc may be given. It is read here, so that hwloc neither reads a device nor
 * waits for a pipe.
 */
char *
iris_topology_file_read (const char *path, gsize *size, GError **error)
{
  g_autofree char *text = NULL;

  if (!check_file (path, error) || !g_file_get_contents (path, &text, size, error)
      || !check_xml (path, text, *size, error))
    return NULL;
  return g_steal_pointer (&text);
}

/*
 * iris_topology_file_is_sound:
 *
 * Checks of a loaded topology what the places rely on: every cpu of the machine is one PU, whose
 * cpu set is that cpu.
 */
gboolean
iris_topology_file_is_sound (hwloc_topology_t hwloc)
{
  hwloc_bitmap_t seen = hwloc_bitmap_alloc ();
  int n = hwloc_get_nbobjs_by_type (hwloc, HWLOC_OBJ_PU);
  gboolean sound = TRUE;

  for (int i = 0; i < n && sound; i++)
    {
      hwloc_obj_t pu = hwloc_get_obj_by_type (hwloc, HWLOC_OBJ_PU, (unsigned) i);

      sound = hwloc_bitmap_weight (pu->cpuset) == 1 && hwloc_bitmap_isset (pu->cpuset, pu->os_index)
              && !hwloc_bitmap_isset (seen, pu->os_index);
      hwloc_bitmap_or (seen, seen, pu->cpuset);
    }

  sound = sound && hwloc_bitmap_isequal (seen, hwloc_topology_get_topology_cpuset (hwloc));
  hwloc_bitmap_free (seen);
  return sound;
}
