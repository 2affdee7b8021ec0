/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A Mandelbrot viewer whose tiles are messages: the command line, and what runs without a user.
 */
#include "render.h"
#include "screenshot.h"
#include "self-test.h"
#include "window.h"

#define POLL_MS          20
#define SCREENSHOT_TRIES 500 /* POLL_MS apart, while the window is laid out anew */
#define DEFAULT_WIDTH    1100
#define DEFAULT_HEIGHT   760
#define SMALLEST_SIZE    320
#define LARGEST_SIZE     8192

typedef struct
{
  char *scheduler, *places, *size, *screenshot;
  gint workers, depth, niceness;
  gboolean self_test, version;

  EngineConfig config;
  gint width, height;
  GtkApplication *application;
  Viewer *viewer;
  gint status;
  gint n_tries; /* of taking the screenshot, that are left */
} Program;

static void
quit (Program *self, gint status)
{
  self->status = status;
  viewer_finish (self->viewer);
  gtk_window_destroy (GTK_WINDOW (self->viewer));
}

static void
self_test_done (gboolean passed, gpointer data)
{
  quit (data, passed ? 0 : 1);
}

/* What the picture shows, for scripts. */
static void
print_summary (Program *self)
{
  Canvas *canvas = viewer_get_canvas (self->viewer);
  CanvasProgress progress;
  Pause lately, ever;

  canvas_get_progress (canvas, &progress);
  pause_meter_get (viewer_get_meter (self->viewer), &lately, &ever);
  g_print (
      "tiles %u\nstolen %u\nfrom-afar %u\nseconds %.3f\nlongest-pause-ms %.1f\ncomputing-ms %.1f\n",
      progress.n_tiles, progress.n_stolen_inside + progress.n_stolen_from_far,
      progress.n_stolen_from_far, (double) progress.time / G_USEC_PER_SEC,
      (double) ever.time / 1000, (double) ever.computing / 1000);
  for (gint i = -1; i < ENGINE_MAX_WORKERS; i++)
    {
      guint n = canvas_count_tiles (canvas, i);
      guint8 rgb[3];

      render_worker_colour (i, rgb);
      if (n > 0)
        g_print ("worker %d #%02x%02x%02x %u\n", i, rgb[0], rgb[1], rgb[2], n);
    }
}

static gboolean
take_screenshot (gpointer data)
{
  Program *self = data;
  g_autoptr (GError) error = NULL;

  if (viewer_get_refusal (self->viewer) != NULL)
    {
      g_printerr ("mandelbrot: %s\n", viewer_get_refusal (self->viewer));
      quit (self, 1);
      return G_SOURCE_REMOVE;
    }
  /* When it is at rest, the statistics are as well. */
  if (viewer_is_changing (self->viewer) || !viewer_is_at_rest (self->viewer))
    return G_SOURCE_CONTINUE;

  if (!screenshot_save (GTK_WINDOW (self->viewer), self->screenshot, &error)
      && g_error_matches (error, G_IO_ERROR, G_IO_ERROR_PENDING) && --self->n_tries > 0)
    return G_SOURCE_CONTINUE;
  if (error == NULL)
    print_summary (self);
  else
    g_printerr ("mandelbrot: %s\n", error->message);
  quit (self, error != NULL ? 1 : 0);

  return G_SOURCE_REMOVE;
}

static gboolean
close_requested (GtkWindow *window, Program *self)
{
  gtk_widget_set_visible (GTK_WIDGET (window), FALSE);
  viewer_finish (self->viewer);

  return GDK_EVENT_PROPAGATE;
}

static void
quit_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  gtk_window_close (GTK_WINDOW (((Program *) data)->viewer));
}

static void
activate (GtkApplication *application, Program *self)
{
  static const GActionEntry actions[] = { { "quit", quit_activated } };

  g_action_map_add_action_entries (G_ACTION_MAP (application), actions, G_N_ELEMENTS (actions),
                                   self);
  gtk_application_set_accels_for_action (application, "app.quit",
                                         (const char *[]){ "<Control>q", NULL });
  gtk_application_set_accels_for_action (application, "win.show-help-overlay",
                                         (const char *[]){ "<Control>question", "F1", NULL });
  self->viewer = viewer_new (application, &self->config, (guint) self->depth);
  gtk_window_set_default_size (GTK_WINDOW (self->viewer), self->width, self->height);
  g_signal_connect (self->viewer, "close-request", G_CALLBACK (close_requested), self);
  gtk_window_present (GTK_WINDOW (self->viewer));
  if (self->self_test)
    self_test_start (self->viewer, self_test_done, self);
  else if (self->screenshot != NULL)
    g_timeout_add (POLL_MS, take_screenshot, self);
}

static gboolean
parse_size (const char *text, gint *width, gint *height)
{
  g_auto (GStrv) parts = g_strsplit (text, "x", 3);
  guint64 w, h;

  if (g_strv_length (parts) != 2
      || !g_ascii_string_to_unsigned (parts[0], 10, SMALLEST_SIZE, LARGEST_SIZE, &w, NULL)
      || !g_ascii_string_to_unsigned (parts[1], 10, SMALLEST_SIZE, LARGEST_SIZE, &h, NULL))
    return FALSE;
  *width = (gint) w;
  *height = (gint) h;

  return TRUE;
}

/* Says what is wrong with the options, or NULL. */
static char *
read_options (Program *self)
{
  g_autoptr (GString) kinds = g_string_new (NULL);
  g_autofree char *levels = g_strjoinv (", ", (char **) engine_levels);
  gboolean known = self->scheduler == NULL;

  for (guint i = 0; i < n_engine_kinds; i++)
    {
      g_string_append_printf (kinds, "%s%s", i > 0 ? ", " : "", engine_kinds[i].id);
      if (g_strcmp0 (self->scheduler != NULL ? self->scheduler : "work-stealing",
                     engine_kinds[i].id)
          == 0)
        {
          self->config.kind = i;
          known = TRUE;
        }
    }
  if (!known)
    return g_strdup_printf ("there is no scheduler “%s”: choose among %s", self->scheduler,
                            kinds->str);
  if (self->places != NULL && !g_strv_contains (engine_levels, self->places))
    return g_strdup_printf ("there are no places “%s”: choose among %s", self->places, levels);
  for (guint i = 0; i < n_engine_levels; i++)
    if (g_strcmp0 (self->places, engine_levels[i]) == 0)
      self->config.level = i;
  if (self->workers < 1 || self->workers > ENGINE_MAX_WORKERS)
    return g_strdup_printf ("--workers takes a number from 1 to %d", ENGINE_MAX_WORKERS);
  self->config.n_workers = (guint) self->workers;
  if (self->niceness < 0 || self->niceness > ENGINE_MAX_NICENESS)
    return g_strdup_printf ("--niceness takes a number from 0 to %d", ENGINE_MAX_NICENESS);
  self->config.niceness = self->niceness;
  if (self->depth < PICTURE_MIN_DEPTH || self->depth > PICTURE_MAX_DEPTH)
    return g_strdup_printf ("--depth takes a number from %d to %d", PICTURE_MIN_DEPTH,
                            PICTURE_MAX_DEPTH);
  if (self->size != NULL && !parse_size (self->size, &self->width, &self->height))
    return g_strdup_printf ("--size takes WIDTHxHEIGHT, each from %d to %d, not “%s”",
                            SMALLEST_SIZE, LARGEST_SIZE, self->size);
  if (self->self_test && self->screenshot != NULL)
    return g_strdup ("--self-test and --screenshot do not go together");

  return NULL;
}

static gboolean
parse_command_line (Program *self, gint *argc, char ***argv, GError **error)
{
  const GOptionEntry entries[] = {
    { "scheduler", 's', 0, G_OPTION_ARG_STRING, &self->scheduler,
      "default, lock-free, work-stealing (the one if none is named), places, places-affinity, "
      "places-shared or main-context",
      "NAME" },
    { "workers", 'w', 0, G_OPTION_ARG_INT, &self->workers, "Threads that draw", "N" },
    { "places", 'p', 0, G_OPTION_ARG_STRING, &self->places,
      "auto, machine, package, numa, l3, l2, core, pu or synthetic", "LEVEL" },
    { "depth", 'd', 0, G_OPTION_ARG_INT, &self->depth, "The most iterations at a point", "N" },
    { "niceness", 0, 0, G_OPTION_ARG_INT, &self->niceness,
      "How much the workers give way to the window and to other programs, 0 to 19 (19 if not said)",
      "N" },
    { "size", 0, 0, G_OPTION_ARG_STRING, &self->size, "Size of the window", "WIDTHxHEIGHT" },
    { "screenshot", 0, 0, G_OPTION_ARG_FILENAME, &self->screenshot,
      "Draw one picture, write the window to a PNG file, and end", "FILE" },
    { "self-test", 0, 0, G_OPTION_ARG_NONE, &self->self_test,
      "Try everything, print TAP, and end; the exit status is 0 if all is well", NULL },
    { "version", 0, 0, G_OPTION_ARG_NONE, &self->version, "Print the version and end", NULL },
    { NULL },
  };
  g_autoptr (GOptionContext)
      context = g_option_context_new ("- a Mandelbrot viewer whose tiles are messages");

  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, argc, argv, error))
    return FALSE;
  if (*argc > 1)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "“%s” is too much", (*argv)[1]);
      return FALSE;
    }

  return TRUE;
}

static gint
run (Program *self, char *name)
{
  g_autofree char *wrong = NULL;
  g_autoptr (GtkApplication) application = NULL;

  if (self->version)
    {
      g_print ("mandelbrot, an example of iris %s\n", MANDELBROT_VERSION);
      return 0;
    }
  wrong = read_options (self);
  if (wrong != NULL)
    {
      g_printerr ("mandelbrot: %s\n", wrong);
      return 2;
    }
  if (!gtk_init_check ())
    {
      g_printerr ("mandelbrot: there is no display; set DISPLAY or WAYLAND_DISPLAY, or use "
                  "xvfb-run\n");
      return 1;
    }
  application = gtk_application_new ("org.iris.Mandelbrot", G_APPLICATION_NON_UNIQUE);
  self->application = application;
  g_signal_connect (application, "activate", G_CALLBACK (activate), self);
  self->status = MAX (g_application_run (G_APPLICATION (application), 1, &name), self->status);

  return self->status;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  Program self = {
    .workers = (gint) MIN (g_get_num_processors (), ENGINE_MAX_WORKERS),
    .depth = PICTURE_USUAL_DEPTH,
    .niceness = ENGINE_MAX_NICENESS,
    .width = DEFAULT_WIDTH,
    .height = DEFAULT_HEIGHT,
    .n_tries = SCREENSHOT_TRIES,
  };
  gint status = 2;

  if (parse_command_line (&self, &argc, &argv, &error))
    status = run (&self, argv[0]);
  else
    g_printerr ("mandelbrot: %s; see mandelbrot --help\n", error->message);
  g_free (self.scheduler);
  g_free (self.places);
  g_free (self.size);
  g_free (self.screenshot);

  return status;
}
