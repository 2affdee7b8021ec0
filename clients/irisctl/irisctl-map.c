/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl map: one item for each file below some directories.
 *
 * A bounded number of items is in flight, and results come back in any order; lines are written in
 * the order of the walk. So that one slow file does not make everything behind it pile up, the
 * walk stops while the oldest unfinished file is more than WINDOW files back.
 */
#include "irisctl-json.h"
#include "irisctl-progress.h"
#include "irisctl-tally.h"
#include "irisctl-walk.h"
#include "irisctl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_IN_FLIGHT 256
#define MAX_IN_FLIGHT     1000000
#define WINDOW            65536

typedef enum
{
  HINTS_NONE,
  HINTS_ROUND_ROBIN,
  HINTS_BY_DIRECTORY,
} Hints;

static int in_flight_max = DEFAULT_IN_FLIGHT;
static char *hints_name, *output_path;
static gboolean print_lines;

typedef struct
{
  Ctl *ctl;
  const char *service;
  Hints hints;
  CtlWalk *walk;
  CtlTally tally;
  CtlProgress progress;
  GQueue files; /* of File, in the order of the walk, from the oldest that has no line yet */
  FILE *output; /* NULL: no lines */
  guint64 n_found;
  guint64 n_done;
  guint in_flight;
  gboolean walked;
  int status;
} Map;

typedef struct
{
  Map *map;
  char *path;
  char *text; /* the result, once it is there */
  gboolean done;
  IrisRequest *request;
} File;

static void
file_free (File *self)
{
  g_free (self->path);
  g_free (self->text);
  g_clear_pointer (&self->request, iris_request_unref);
  g_free (self);
}

/* A line as sha256sum writes it and reads it back: a name with a newline or a backslash is
 * escaped, and says so by a backslash in front of the line. */
static void
write_line (FILE *output, const File *file)
{
  if (strpbrk (file->path, "\\\n\r") == NULL)
    {
      fprintf (output, "%s  %s\n", file->text, file->path);
      return;
    }
  fprintf (output, "\\%s  ", file->text);
  for (const char *c = file->path; *c != '\0'; c++)
    if (*c == '\\')
      fputs ("\\\\", output);
    else if (*c == '\n')
      fputs ("\\n", output);
    else if (*c == '\r')
      fputs ("\\r", output);
    else
      fputc (*c, output);
  fputc ('\n', output);
}

static void
map_write_lines (Map *self)
{
  File *file;

  while ((file = g_queue_peek_head (&self->files)) != NULL && file->done)
    {
      g_queue_pop_head (&self->files);
      if (self->output != NULL && file->text != NULL)
        write_line (self->output, file);
      file_free (file);
    }
}

static void
map_fail (Map *self, int status, const char *message)
{
  ctl_progress_end (&self->progress);
  ctl_fail (status, "%s", message);
  self->tally.failed++;
  self->status = MAX (self->status, status);
}

static void
map_note_failure (Map *self, File *file, const GError *error)
{
  g_autofree char *shown = g_filename_display_name (file->path);
  g_autofree char *message = g_strdup_printf ("%s: %s", shown, error->message);

  ctl_tally_ran (&self->tally, iris_client_error_get_home (error),
                 iris_client_error_get_place (error), 0, 0);
  /* Without irisd nothing else will go well: one sentence is enough, not one a file. */
  if (ctl_exit_status (error) != CTL_NO_DAEMON)
    map_fail (self, ctl_exit_status (error), message);
  else
    {
      if (!g_cancellable_is_cancelled (self->ctl->cancellable))
        map_fail (self, CTL_NO_DAEMON, error->message);
      else
        self->tally.failed++;
      g_cancellable_cancel (self->ctl->cancellable);
    }
}

static void
on_result (GObject *source, GAsyncResult *async, gpointer data)
{
  File *file = data;
  Map *self = file->map;
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisResult) result = iris_client_submit_finish (IRIS_CLIENT (source), async, &error);

  if (result != NULL)
    {
      file->text = iris_result_dup_text (result);
      ctl_tally_ran (&self->tally, result->home, result->place, result->bytes, result->run_ns);
    }
  else
    map_note_failure (self, file, error);

  file->done = TRUE;
  self->in_flight--;
  self->n_done++;
  map_write_lines (self);
  ctl_progress_update (&self->progress, self->n_done, self->n_found, self->walked);
}

/* The place for a file, or -1. */
static int
map_choose_place (const Map *self, const char *path)
{
  g_autofree char *directory = NULL;

  switch (self->hints)
    {
    case HINTS_ROUND_ROBIN:
      return (int) (self->n_found % self->tally.n_rows);
    case HINTS_BY_DIRECTORY:
      directory = g_path_get_dirname (path);
      return (int) (g_str_hash (directory) % self->tally.n_rows);
    default:
      return -1;
    }
}

static int
find_place (Ctl *ctl, const char *name)
{
  GPtrArray *places = iris_client_get_places (ctl->client);

  for (guint i = 0; i < places->len; i++)
    {
      const IrisClientPlace *place = g_ptr_array_index (places, i);
      g_autofree char *id = g_strdup_printf ("%d", place->id);

      if (g_str_equal (place->name, name) || g_str_equal (id, name))
        return place->id;
    }

  return -1;
}

static void
map_submit (Map *self, char *path)
{
  File *file = g_new0 (File, 1);
  int place = self->ctl->place != NULL ? find_place (self->ctl, self->ctl->place)
                                       : map_choose_place (self, path);

  file->map = self;
  file->path = path;
  file->request = iris_request_new (self->service);
  iris_request_set_path (file->request, path);
  if (place >= 0)
    iris_request_set_place (file->request, place);
  iris_request_set_strict (file->request, self->ctl->strict && place >= 0);
  ctl_tally_hint (&self->tally, place);
  self->n_found++;
  self->in_flight++;
  g_queue_push_tail (&self->files, file);
  iris_client_submit_async (self->ctl->client, file->request, self->ctl->cancellable, on_result,
                            file);
  if (self->ctl->verbose && iris_request_get_id (file->request) != NULL)
    g_printerr ("irisctl: item %s: %s\n", iris_request_get_id (file->request), path);
}

/* Submits until enough is in flight. */
static void
map_fill (Map *self)
{
  while (!self->walked && self->in_flight < (guint) in_flight_max
         && self->files.length < MAX (WINDOW, (guint) in_flight_max))
    {
      g_autoptr (GError) error = NULL;
      char *path = g_cancellable_is_cancelled (self->ctl->cancellable)
                       ? NULL
                       : ctl_walk_next (self->walk, &error);

      if (path != NULL)
        map_submit (self, path);
      else if (error != NULL)
        map_fail (self, CTL_FAILED, error->message);
      else
        self->walked = TRUE;
    }
}

static void
map_report (Map *self, gdouble seconds)
{
  if (self->ctl->json)
    {
      g_autoptr (JsonBuilder) builder = json_builder_new ();

      json_builder_begin_object (builder);
      ctl_json_string (builder, "service", self->service);
      ctl_json_int (builder, "files", (gint64) self->n_found);
      ctl_json_int (builder, "failed", (gint64) self->tally.failed);
      ctl_json_double (builder, "seconds", seconds);
      ctl_tally_to_json (&self->tally, builder);
      json_builder_end_object (builder);
      ctl_json_print (builder);
    }
  else
    {
      g_autofree char *table = ctl_tally_to_string (&self->tally);

      /* Where lines go to standard output, the table must not get among them. */
      fprintf (self->output == stdout ? stderr : stdout,
               "%s%" G_GUINT64_FORMAT " files, %" G_GUINT64_FORMAT " failed, %.2f s\n", table,
               self->n_found, self->tally.failed, seconds);
    }
}

static int
parse_hints (Hints *hints)
{
  static const char *const names[] = { "none", "round-robin", "by-directory" };

  *hints = HINTS_ROUND_ROBIN;
  for (guint i = 0; hints_name != NULL && i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (hints_name, names[i]))
      {
        *hints = (Hints) i;
        return CTL_OK;
      }

  return hints_name == NULL ? CTL_OK
                            : ctl_fail (CTL_USAGE,
                                        "map: --hints takes none, round-robin or by-directory, "
                                        "not “%s”",
                                        hints_name);
}

static int
check_arguments (Map *self, int argc)
{
  if (argc < 3)
    return ctl_fail (CTL_USAGE, "map takes a service and at least one file or directory; see "
                                "irisctl map --help");
  if (in_flight_max < 1 || in_flight_max > MAX_IN_FLIGHT)
    return ctl_fail (CTL_USAGE, "map: --in-flight takes 1 to %d, not %d", MAX_IN_FLIGHT,
                     in_flight_max);
  if (print_lines && output_path != NULL)
    return ctl_fail (CTL_USAGE, "map: --print and --output exclude each other");
  if (print_lines && self->ctl->json)
    return ctl_fail (CTL_USAGE, "map: --print and --json exclude each other; use --output");

  return parse_hints (&self->hints);
}

static int
map_open_output (Map *self)
{
  if (print_lines)
    self->output = stdout;
  if (output_path == NULL)
    return CTL_OK;
  self->output = fopen (output_path, "we");

  return self->output != NULL ? CTL_OK
                              : ctl_fail (CTL_FAILED, "%s: %s", output_path, g_strerror (errno));
}

/* Whether every line reached its file. */
static gboolean
map_close_output (Map *self)
{
  gboolean good;

  if (self->output == NULL)
    return TRUE;
  good = fflush (self->output) == 0 && !ferror (self->output);
  if (self->output != stdout)
    good &= fclose (self->output) == 0;

  return good;
}

static int
run_map (Ctl *ctl, int argc, char **argv)
{
  Map self = { .ctl = ctl, .service = argc > 1 ? argv[1] : NULL, .files = G_QUEUE_INIT };
  gint64 begin;

  if ((self.status = check_arguments (&self, argc)) != CTL_OK
      || (self.status = ctl_connect (ctl)) != CTL_OK)
    return self.status;
  if (ctl->place != NULL && find_place (ctl, ctl->place) < 0)
    return ctl_fail (CTL_USAGE, "there is no place “%s”; see irisctl places", ctl->place);
  if ((self.status = map_open_output (&self)) != CTL_OK)
    return self.status;

  self.walk = ctl_walk_new ((const char *const *) argv + 2);
  ctl_tally_init (&self.tally, iris_client_get_places (ctl->client));
  ctl_progress_begin (&self.progress);
  begin = g_get_monotonic_time ();
  for (map_fill (&self); self.in_flight > 0; map_fill (&self))
    g_main_context_iteration (NULL, TRUE);
  ctl_progress_end (&self.progress);
  map_report (&self, (g_get_monotonic_time () - begin) / 1e6);

  if (!map_close_output (&self))
    self.status = ctl_fail (CTL_FAILED, "cannot write the lines to %s",
                            output_path != NULL ? output_path : "standard output");
  if (g_cancellable_is_cancelled (ctl->cancellable) && self.status <= CTL_FAILED)
    self.status = ctl_fail (130, "interrupted: the table shows what was done");
  ctl_tally_clear (&self.tally);
  ctl_walk_free (self.walk);

  return self.status;
}

static const GOptionEntry map_entries[] = {
  { "hints", 0, 0, G_OPTION_ARG_STRING, &hints_name,
    "How files are spread: none, round-robin (default), by-directory", "RULE" },
  { "in-flight", 'n', 0, G_OPTION_ARG_INT, &in_flight_max, "At most so many items at once (256)",
    "N" },
  { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output_path,
    "Write a line for each file, as sha256sum does", "FILE" },
  { "print", 0, 0, G_OPTION_ARG_NONE, &print_lines, "Write these lines to standard output", NULL },
  { NULL },
};

const CtlCommand ctl_map = {
  .name = "map",
  .arguments = "SERVICE DIR|FILE…",
  .summary = "send one item for each file, and show which place did what",
  .description =
      "Works on the regular files below the directories, in sorted order; symbolic links\n"
      "below them are left out. --place sends all of them to one place. irisd reads\n"
      "the files, so it must be allowed to.\n\n"
      "Examples:\n  irisctl map sha256 /usr/include\n"
      "  irisctl map sha256 --output SUMS ~/photos && sha256sum -c --quiet SUMS\n"
      "  irisctl map wordcount --hints by-directory --print doc\n",
  .takes_hints = TRUE,
  .entries = map_entries,
  .run = run_map,
};
