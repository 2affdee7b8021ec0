/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The regular files below some directories, one at a time.
 *
 * fts(3) reads one directory at a time, so a million files are never in memory at once. The paths
 * come in the order that they were given in, the entries of a directory in the order of their
 * names' bytes. Symbolic links are followed where they were given, and nowhere else: a walk cannot
 * go in circles. Of what was given, something that is neither a file nor a directory is a failure;
 * found in a directory it is passed over.
 */
#include "irisctl-walk.h"

#include <errno.h>
#include <fts.h>
#include <string.h>

struct _IrisctlWalk
{
  char *const *paths; /* those not begun yet */
  FTS *fts;           /* in the one begun */
  IrisctlWalkFailed failed;
  gpointer user_data;
};

static int
compare_names (const FTSENT **a, const FTSENT **b)
{
  return strcmp ((*a)->fts_name, (*b)->fts_name);
}

/* @paths ends with NULL and outlives the walk. @failed may be NULL. */
IrisctlWalk *
irisctl_walk_new (char *const *paths, IrisctlWalkFailed failed, gpointer user_data)
{
  IrisctlWalk *self = g_new0 (IrisctlWalk, 1);

  self->paths = paths;
  self->failed = failed;
  self->user_data = user_data;
  return self;
}

void
irisctl_walk_free (IrisctlWalk *self)
{
  if (self->fts != NULL)
    fts_close (self->fts);
  g_free (self);
}

static void
fail (IrisctlWalk *self, const char *path, const char *why)
{
  if (self->failed != NULL)
    self->failed (path, why, self->user_data);
}

/* Begins the next path. FALSE if there is none. */
static gboolean
begin_next (IrisctlWalk *self)
{
  char *one[] = { NULL, NULL };

  if (*self->paths == NULL)
    return FALSE;
  one[0] = *self->paths++;
  /* Each path is a walk of its own: fts_open() would sort them, and fails for all if one is empty.
   */
  self->fts = fts_open (one, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, compare_names);
  if (self->fts == NULL)
    fail (self, one[0], g_strerror (errno));
  return TRUE;
}

/* Whether @entry is a file to hand out. */
static gboolean
take (IrisctlWalk *self, FTSENT *entry)
{
  switch (entry->fts_info)
    {
    case FTS_F:
      return TRUE;
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
      fail (self, entry->fts_path, g_strerror (entry->fts_errno));
      return FALSE;
    case FTS_DEFAULT:
    case FTS_SL:
    case FTS_SLNONE:
      if (entry->fts_level == FTS_ROOTLEVEL)
        fail (self, entry->fts_path,
              entry->fts_info == FTS_DEFAULT ? "neither a file nor a directory"
                                             : g_strerror (ENOENT));
      return FALSE;
    default:
      return FALSE;
    }
}

/* The next file, as it would be named on a command line; NULL at the end. Valid until the next
 * call. */
const char *
irisctl_walk_next (IrisctlWalk *self)
{
  for (;;)
    {
      FTSENT *entry;

      if (self->fts == NULL && !begin_next (self))
        return NULL;
      if (self->fts == NULL)
        continue;
      entry = fts_read (self->fts);
      if (entry == NULL)
        {
          fts_close (self->fts);
          self->fts = NULL;
        }
      else if (take (self, entry))
        return entry->fts_path;
    }
}
