/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Walking directories: the regular files below them, one at a time, in a fixed order.
 *
 * Depth first, with the names of one directory a level in memory, so that a million files below
 * many directories take little.
 */
#include "clients/irisctl/input/irisctl-input.h"

#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

/* A directory that is being walked. */
typedef struct
{
  char *path; /* NULL: the roots */
  GPtrArray *names;
  guint next;
} Level;

struct _CtlWalk
{
  GQueue levels; /* the innermost first */
};

static void
level_free (gpointer data)
{
  Level *self = data;

  g_free (self->path);
  g_ptr_array_unref (self->names);
  g_free (self);
}

CtlWalk *
ctl_walk_new (const char *const *roots)
{
  CtlWalk *self = g_new0 (CtlWalk, 1);
  Level *level = g_new0 (Level, 1);

  level->names = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; roots[i] != NULL; i++)
    g_ptr_array_add (level->names, g_strdup (roots[i]));
  g_queue_init (&self->levels);
  g_queue_push_head (&self->levels, level);

  return self;
}

void
ctl_walk_free (CtlWalk *self)
{
  g_queue_clear_full (&self->levels, level_free);
  g_free (self);
}

static void
set_error (GError **error, const char *path)
{
  int saved = errno;
  g_autofree char *shown = g_filename_display_name (path);

  g_set_error (error, G_IO_ERROR, (gint) g_io_error_from_errno (saved), "%s: %s", shown,
               g_strerror (saved));
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static gboolean
walk_enter (CtlWalk *self, const char *path, GError **error)
{
  g_autoptr (GDir) dir = NULL;
  Level *level;
  const char *name;

  errno = 0;
  dir = g_dir_open (path, 0, NULL);
  if (dir == NULL)
    {
      set_error (error, path);
      return FALSE;
    }
  level = g_new0 (Level, 1);
  level->path = g_strdup (path);
  level->names = g_ptr_array_new_with_free_func (g_free);
  while ((name = g_dir_read_name (dir)) != NULL)
    g_ptr_array_add (level->names, g_strdup (name));
  g_ptr_array_sort (level->names, compare_names);
  g_queue_push_head (&self->levels, level);

  return TRUE;
}

/* The path of the next name of any kind; leaves levels that are done. */
static char *
walk_step (CtlWalk *self, gboolean *is_root)
{
  Level *level;

  while ((level = g_queue_peek_head (&self->levels)) != NULL && level->next == level->names->len)
    level_free (g_queue_pop_head (&self->levels));
  if (level == NULL)
    return NULL;

  *is_root = level->path == NULL;
  if (*is_root)
    return g_strdup (g_ptr_array_index (level->names, level->next++));

  return g_build_filename (level->path, g_ptr_array_index (level->names, level->next++), NULL);
}

gboolean
ctl_walk_is_done (CtlWalk *self)
{
  return g_queue_is_empty (&self->levels);
}

char *
ctl_walk_next (CtlWalk *self, GError **error)
{
  gboolean is_root;
  char *path;

  while ((path = walk_step (self, &is_root)) != NULL)
    {
      GStatBuf info;

      if ((is_root ? g_stat (path, &info) : g_lstat (path, &info)) != 0)
        set_error (error, path);
      else if (S_ISREG (info.st_mode))
        return path;
      else if (is_root && !S_ISDIR (info.st_mode))
        {
          errno = EINVAL;
          set_error (error, path);
        }
      else if (!S_ISDIR (info.st_mode) || walk_enter (self, path, error))
        {
          g_free (path);
          continue;
        }
      g_free (path);
      return NULL;
    }

  return NULL;
}
