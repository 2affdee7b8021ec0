/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl map: one item for each file.
 *
 * The walk is lazy: the next file is looked up when an item has ended, so what is in memory is
 * bounded by --in-flight, and by AHEAD_MAX results that wait for an earlier file's, since lines
 * come in the walk's order. With a progress bar a second walk counts ahead, while the loop has
 * nothing better to do.
 */
#include "irisctl-map.h"

#include "irisctl-lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How many results may wait for that of an earlier file before no more is sent. */
#define AHEAD_MAX 65536

/* How many files the count ahead looks at in one turn of the loop. */
#define COUNT_STEP 256

/* One file on its way. */
typedef struct
{
  IrisctlMap *map;
  char *path; /* as it will be printed */
  char *text; /* the result, once there is one */
  gboolean done;
} MapFile;

static void
map_file_free (gpointer data)
{
  MapFile *file = data;

  g_free (file->path);
  g_free (file->text);
  g_free (file);
}

/* Something failed that concerns one file only. */
static void
fail_file (IrisctlMap *map, const char *path, const char *why)
{
  map->failed++;
  irisctl_progress_clear_line (map->progress);
  irisctl_complain ("%s: %s", path, why);
}

static void
walk_failed (const char *path, const char *why, gpointer user_data)
{
  fail_file (user_data, path, why);
}

/* Prints what is next in the walk's order, as far as it has ended. */
static void
print_in_order (IrisctlMap *map)
{
  MapFile *file;

  while ((file = g_queue_peek_head (&map->files)) != NULL && file->done)
    {
      g_queue_pop_head (&map->files);
      if (file->text != NULL && map->out != NULL)
        {
          g_autofree char *line = irisctl_line (file->text, file->path);

          irisctl_progress_clear_line (map->out == stdout ? map->progress : NULL);
          if (fputs (line, map->out) == EOF)
            map->write_failed = TRUE;
        }
      map_file_free (file);
    }
}

/* Whether @error ends the whole command: irisd is gone, or takes no such items at all. */
static gboolean
is_fatal (IrisctlMap *map, const GError *error)
{
  int status = irisctl_exit_for (map->irisctl, error);

  return status == IRISCTL_NO_DAEMON || status >= IRISCTL_SIGNALLED
         || (status == IRISCTL_REFUSED
             && !g_error_matches (error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_TOO_LARGE));
}

static void
take_error (IrisctlMap *map, MapFile *file, const GError *error)
{
  irisctl_tally_ended (map->tally, iris_client_error_get_home (error),
                       iris_client_error_get_place (error), 0, 0);
  if (!is_fatal (map, error))
    fail_file (map, file->path, error->message);
  else
    {
      map->failed++;
      if (map->fatal == NULL)
        map->fatal = g_error_copy (error);
    }
}

static void
item_ready (GObject *source, GAsyncResult *result, gpointer user_data)
{
  MapFile *file = user_data;
  IrisctlMap *map = file->map;
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisResult) item = iris_client_submit_finish (IRIS_CLIENT (source), result, &error);

  map->in_flight--;
  map->ended++;
  file->done = TRUE;
  if (item == NULL)
    take_error (map, file, error);
  else
    {
      irisctl_tally_ended (map->tally, item->home, item->place, item->bytes, item->run_ns);
      file->text = g_strchomp (iris_result_dup_text (item));
    }
  print_in_order (map);
}

/* The place that the rule gives to @path; -1 for none. */
static int
hint_for (IrisctlMap *map, const char *path)
{
  guint n = map->places->len;
  g_autofree char *directory = NULL;
  IrisClientPlace *place;

  if (map->options->rule == IRISCTL_HINTS_NONE || n == 0)
    return -1;
  if (map->options->rule == IRISCTL_HINTS_PLACE)
    place = map->only_place;
  else if (map->options->rule == IRISCTL_HINTS_ROUND_ROBIN)
    place = g_ptr_array_index (map->places, map->sent % n);
  else
    {
      directory = g_path_get_dirname (path);
      place = g_ptr_array_index (map->places, g_str_hash (directory) % n);
    }
  return place->id;
}

static void
send_file (IrisctlMap *map, const char *path)
{
  g_autoptr (IrisRequest) request = iris_request_new (map->options->service);
  g_autofree char *absolute = g_canonicalize_filename (path, NULL);
  MapFile *file = g_new0 (MapFile, 1);
  int hint = hint_for (map, path);

  file->map = map;
  file->path = g_strdup (path);
  g_queue_push_tail (&map->files, file);
  iris_request_set_path (request, absolute);
  iris_request_set_place (request, hint);
  iris_request_set_strict (request, map->options->hint.strict);
  irisctl_tally_hinted (map->tally, hint);
  map->in_flight++;
  map->sent++;
  iris_client_submit_async (map->irisctl->client, request, map->irisctl->interrupt, item_ready,
                            file);
  if (map->irisctl->globals.verbose)
    {
      irisctl_progress_clear_line (map->progress);
      irisctl_complain ("item %s %s", iris_request_get_id (request), path);
    }
}

/* Sends as much as may be on its way. FALSE when there is nothing left to send. */
static gboolean
send_more (IrisctlMap *map)
{
  while (map->in_flight < (guint) map->options->in_flight && map->files.length < AHEAD_MAX)
    {
      const char *path;

      if (map->fatal != NULL || map->irisctl->signal != 0)
        return FALSE;
      path = irisctl_walk_next (map->walk);
      if (path == NULL)
        return FALSE;
      send_file (map, path);
    }
  return TRUE;
}

static void
ask_progress (IrisctlProgressState *state, gpointer user_data)
{
  IrisctlMap *map = user_data;

  state->done = map->ended;
  state->total = MAX (map->counted, map->sent);
  state->total_known = map->count_walk == NULL;
  state->failed = map->failed;
  state->bytes = map->tally->total.bytes;
  state->seconds = (double) (g_get_monotonic_time () - map->begin) / G_USEC_PER_SEC;
}

static gboolean
count_ahead (gpointer user_data)
{
  IrisctlMap *map = user_data;

  for (guint i = 0; i < COUNT_STEP; i++)
    {
      if (irisctl_walk_next (map->count_walk) == NULL)
        {
          g_clear_pointer (&map->count_walk, irisctl_walk_free);
          map->count_source = 0;
          return G_SOURCE_REMOVE;
        }
      map->counted++;
    }
  return G_SOURCE_CONTINUE;
}

static void
start_progress (IrisctlMap *map)
{
  map->progress = irisctl_progress_new (ask_progress, map);
  if (map->progress == NULL)
    return;
  map->count_walk = irisctl_walk_new (map->options->paths, NULL, NULL);
  map->count_source = g_idle_add (count_ahead, map);
}

static void
stop_progress (IrisctlMap *map)
{
  if (map->count_source != 0)
    g_source_remove (map->count_source);
  g_clear_pointer (&map->count_walk, irisctl_walk_free);
  g_clear_pointer (&map->progress, irisctl_progress_free);
}

/* Sends the files and waits for them. What to exit with is in the map's fields. */
void
irisctl_map_work (IrisctlMap *map)
{
  gboolean more = TRUE;

  map->begin = g_get_monotonic_time ();
  map->tally = irisctl_tally_new (map->places);
  map->walk = irisctl_walk_new (map->options->paths, walk_failed, map);
  irisctl_catch_signals (map->irisctl);
  start_progress (map);
  while ((more = more && send_more (map)) || map->in_flight > 0)
    g_main_context_iteration (NULL, TRUE);
  print_in_order (map);
  stop_progress (map);
  map->seconds = (double) (g_get_monotonic_time () - map->begin) / G_USEC_PER_SEC;
}

void
irisctl_map_clear (IrisctlMap *map)
{
  g_queue_clear_full (&map->files, map_file_free);
  g_clear_pointer (&map->tally, irisctl_tally_free);
  g_clear_pointer (&map->walk, irisctl_walk_free);
  g_clear_pointer (&map->places, g_ptr_array_unref);
  g_clear_error (&map->fatal);
}
