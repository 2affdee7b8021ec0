/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl map: one item for each file below some directories.
 *
 * A bounded number of items is in flight, and results come back in any order; lines are written in
 * the order of the walk. So that one slow file does not make everything behind it pile up, the
 * walk stops while the oldest unfinished file is more than WINDOW files back.
 */
#include "clients/irisctl/output/irisctl-output.h"
#include "clients/irisctl/input/irisctl-input.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_IN_FLIGHT 256
#define MAX_IN_FLIGHT     1000000
#define WINDOW            65536

#define PROGRESS_INTERVAL_US (100 * 1000)

/* How many files the look ahead counts in one turn of the main loop. */
#define COUNT_STEP 256

typedef enum
{
  HINTS_NONE,
  HINTS_ROUND_ROBIN,
  HINTS_BY_DIRECTORY,
  HINTS_NEAR, /* where the file was last worked on */
} Hints;

static int in_flight_max = DEFAULT_IN_FLIGHT;
static char *hints_name, *output_path;
static gboolean print_lines;

typedef struct
{
  Ctl *ctl;
  const char *service;
  Hints hints;
  int only_place; /* of --place, or -1 */
  GPtrArray *places;
  CtlWalk *walk;
  CtlWalk *count_walk; /* looks ahead for the progress bar; NULL once it has seen all */
  guint count_source;
  guint64 n_counted;
  CtlTally tally;
  CtlProgress progress;
  gint64 next_progress; /* when to draw it, monotonic microseconds */
  GQueue files; /* of File, in the order of the walk, from the oldest that has no line yet */
  FILE *output; /* NULL: no lines */
  guint64 n_found;
  guint64 n_done;
  guint in_flight;
  gboolean walked;
  gboolean stopped; /* nothing more is sent */
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

/* Whether no file after this one can go better: one sentence is enough then, not one a file. */
static gboolean
is_fatal (const GError *error)
{
  int status = ctl_exit_status (error);

  return status == CTL_NO_DAEMON || status == CTL_REFUSED
         || g_error_matches (error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_UNKNOWN_SERVICE)
         || g_error_matches (error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_NO_SUCH_PLACE);
}

static void
map_note_failure (Map *self, File *file, const GError *error)
{
  g_autofree char *shown = g_filename_display_name (file->path);
  g_autofree char *message = g_strdup_printf ("%s: %s", shown, error->message);

  ctl_tally_ran (&self->tally, iris_client_error_get_home (error),
                 iris_client_error_get_place (error), 0, 0);
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED)
      || (is_fatal (error) && self->stopped))
    self->tally.failed++;
  else
    map_fail (self, ctl_exit_status (error), is_fatal (error) ? error->message : message);
  self->stopped |= is_fatal (error);
}

static void
map_show_progress (Map *self)
{
  gint64 now = g_get_monotonic_time ();
  double seconds = (double) (now - self->progress.begin) / G_USEC_PER_SEC;
  guint64 total = MAX (self->n_found, self->n_counted);
  g_autofree char *text = NULL;

  if (!self->progress.shown || now < self->next_progress)
    return;
  self->next_progress = now + PROGRESS_INTERVAL_US;
  text = g_strdup_printf ("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT "%s files, %.0f/s",
                          self->n_done, total, self->count_walk == NULL ? "" : "+",
                          seconds > 0 ? (double) self->n_done / seconds : 0);
  ctl_progress_show (&self->progress, total > 0 ? (double) self->n_done / (double) total : 0, text);
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
      if (result->node != NULL)
        ctl_tally_ran_away (&self->tally, result->node, result->place, result->bytes,
                            result->run_ns);
      else
        ctl_tally_ran (&self->tally, result->home, result->place, result->bytes, result->run_ns);
    }
  else
    map_note_failure (self, file, error);

  file->done = TRUE;
  self->in_flight--;
  self->n_done++;
  map_write_lines (self);
  map_show_progress (self);
}

/* Finds out how many files there are, while the main loop has nothing better to do. */
static gboolean
map_count_ahead (gpointer data)
{
  Map *self = data;

  for (guint i = 0; i < COUNT_STEP; i++)
    {
      g_autofree char *path = ctl_walk_next (self->count_walk, NULL);

      self->n_counted += path != NULL;
      if (path == NULL && ctl_walk_is_done (self->count_walk))
        {
          g_clear_pointer (&self->count_walk, ctl_walk_free);
          self->count_source = 0;
          return G_SOURCE_REMOVE;
        }
    }

  return G_SOURCE_CONTINUE;
}

/* irisd, and not its client, knows the place. */
static gboolean
map_is_for_others (const Map *self)
{
  const char *place = self->ctl->place;

  return self->ctl->node != NULL || self->ctl->any_node
         || (place != NULL && strchr (place, '/') != NULL);
}

/* The place for a file, or -1. */
static int
map_choose_place (const Map *self, const char *path)
{
  g_autofree char *directory = NULL;

  if (map_is_for_others (self))
    return -1;
  if (self->only_place >= 0)
    return self->only_place;
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

static void
map_submit (Map *self, char *path)
{
  File *file = g_new0 (File, 1);
  int place = map_choose_place (self, path);
  g_autofree char *absolute = g_canonicalize_filename (path, NULL);

  file->map = self;
  file->path = path;
  file->request = iris_request_new (self->service);
  iris_request_set_path (file->request, absolute);
  if (map_is_for_others (self))
    {
      iris_request_set_place_name (file->request, self->ctl->place);
      iris_request_set_node (file->request, self->ctl->node);
      iris_request_set_any_node (file->request, self->ctl->any_node);
    }
  else if (place >= 0)
    iris_request_set_place (file->request, place);
  else if (self->hints == HINTS_NEAR && self->only_place < 0)
    iris_request_set_near_path (file->request, absolute);
  ctl_footprint_apply (&self->ctl->footprint, file->request);
  ctl_schedule_apply (&self->ctl->schedule, file->request);
  iris_request_set_strict (file->request,
                           self->ctl->strict && (place >= 0 || map_is_for_others (self)));
  ctl_set_trace (self->ctl, file->request);
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
      gboolean stop = self->stopped || g_cancellable_is_cancelled (self->ctl->cancellable);
      char *path = stop ? NULL : ctl_walk_next (self->walk, &error);

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
      g_autofree char *files = ctl_count (self->n_found, "file");

      /* Where lines go to standard output, the table must not get among them. */
      fprintf (self->output == stdout ? stderr : stdout,
               "%s%s, %" G_GUINT64_FORMAT " failed, %.2f s\n", table, files, self->tally.failed,
               seconds);
    }
}

static int
check_options (Map *self)
{
  static const char *const names[] = { "none", "round-robin", "by-directory", "near", NULL };
  guint hints = HINTS_ROUND_ROBIN;
  g_autoptr (GError) error = NULL;

  if (in_flight_max < 1 || in_flight_max > MAX_IN_FLIGHT)
    return ctl_fail (CTL_USAGE, "map: --in-flight takes 1 to %d, not %d", MAX_IN_FLIGHT,
                     in_flight_max);
  if (print_lines && output_path != NULL)
    return ctl_fail (CTL_USAGE, "map: --print and --output exclude each other");
  if (print_lines && self->ctl->json)
    return ctl_fail (CTL_USAGE, "map: --print and --json exclude each other; use --output");

  if (!ctl_choose ("hints", hints_name, names, &hints, &error))
    return ctl_fail (CTL_USAGE, "map: %s", error->message);
  self->hints = (Hints) hints;

  return CTL_OK;
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

static void
map_begin (Map *self, const char *const *roots)
{
  self->walk = ctl_walk_new (roots);
  ctl_tally_init (&self->tally, self->places);
  ctl_progress_begin (&self->progress);
  self->next_progress = self->progress.begin + PROGRESS_INTERVAL_US;
  if (!self->progress.shown)
    return;
  self->count_walk = ctl_walk_new (roots);
  self->count_source = g_idle_add (map_count_ahead, self);
}

static void
map_end (Map *self)
{
  if (self->count_source != 0)
    g_source_remove (self->count_source);
  g_clear_pointer (&self->count_walk, ctl_walk_free);
  g_clear_pointer (&self->walk, ctl_walk_free);
  ctl_tally_clear (&self->tally);
  g_clear_pointer (&self->places, g_ptr_array_unref);
}

/* What is wrong with the command line but can be known only by irisd's places. */
static int
map_check_places (Map *self)
{
  const char *place = self->ctl->place;

  self->only_place = -1;
  if (map_is_for_others (self))
    return CTL_OK;
  self->only_place = place != NULL ? ctl_find_place (self->ctl, place) : -1;
  if (place != NULL && self->only_place < 0)
    return CTL_USAGE;
  if (self->ctl->strict && place == NULL && self->hints == HINTS_NONE)
    return ctl_fail (CTL_USAGE, "map: --strict needs --place, or --hints other than none");

  return CTL_OK;
}

static int
map_work (Map *self, const char *const *roots)
{
  Ctl *ctl = self->ctl;
  gint64 begin = g_get_monotonic_time ();

  map_begin (self, roots);
  for (map_fill (self); self->in_flight > 0; map_fill (self))
    g_main_context_iteration (NULL, TRUE);
  ctl_progress_end (&self->progress);
  map_report (self, (gdouble) (g_get_monotonic_time () - begin) / G_USEC_PER_SEC);

  if (!map_close_output (self))
    self->status = ctl_fail (CTL_FAILED, "cannot write the lines to %s",
                             output_path != NULL ? output_path : "standard output");
  if (g_cancellable_is_cancelled (ctl->cancellable) && self->status <= CTL_FAILED)
    self->status = ctl_fail (CTL_INTERRUPTED, "interrupted: the table shows what was done");

  return self->status;
}

static int
run_map (Ctl *ctl, int argc, char **argv)
{
  Map self = { .ctl = ctl, .service = argv[1], .files = G_QUEUE_INIT };

  if ((self.status = check_options (&self)) != CTL_OK
      || (self.status = ctl_connect (ctl)) != CTL_OK)
    return self.status;

  self.places = iris_client_get_places (ctl->client);
  if ((self.status = map_check_places (&self)) == CTL_OK
      && (self.status = map_open_output (&self)) == CTL_OK)
    map_work (&self, (const char *const *) argv + 2);
  map_end (&self);

  return self.status;
}

static const GOptionEntry map_entries[] = {
  { "hints", 0, 0, G_OPTION_ARG_STRING, &hints_name,
    "How files are spread over places: none, round-robin (default), by-directory, near", "RULE" },
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
  .description = "Works on the regular files below the directories, in sorted order; symbolic\n"
                 "links below them are left out. --place sends all of them to one place. irisd\n"
                 "reads the files, so it must be allowed to.\n\n"
                 "Examples:\n"
                 "  irisctl map sha256 /usr/include\n"
                 "  irisctl map sha256 --output SUMS ~/photos && sha256sum -c --quiet SUMS\n"
                 "  irisctl map wordcount --hints by-directory --print doc\n",
  .takes_hints = TRUE,
  .takes_schedule = TRUE,
  .operand = CTL_OPERAND_FILE,
  .least = 2,
  .most = CTL_ANY,
  .takes = "a service and at least one file or directory",
  .entries = map_entries,
  .run = run_map,
};
