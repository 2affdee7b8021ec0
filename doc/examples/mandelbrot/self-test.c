/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The self-test: a list of steps. Each does something that a user might; when the window has come
 * to rest, every tile must be there, drawn by a worker that exists.
 *
 * With several workers at least two must have drawn. One that is quick may draw a whole picture
 * before the kernel lets another begin: then the picture is drawn again, a bounded number of times.
 * Pauses of the main loop are printed, never judged: they are the machine's as much as ours.
 */
#include "self-test.h"

#define POLL_MS    5
#define STEP_LIMIT (60 * G_TIME_SPAN_SECOND)
#define MOST_DRAWS 50
#define STORM      12 /* changes that are not waited for */

typedef struct SelfTest SelfTest;

typedef struct
{
  const char *name;
  void (*act) (SelfTest *self);
} Step;

struct SelfTest
{
  Viewer *viewer;
  Canvas *canvas;
  SelfTestDone done;
  gpointer data;
  guint step, n_failed;
  guint n_draws, storm;
  gboolean expect_refusal;
  EngineConfig wanted;
  gint64 begun;
};

static void
act_nothing (SelfTest *self)
{
}

static void
act_zoom_in (SelfTest *self)
{
  canvas_zoom (self->canvas, 0.5, 120, 90);
}

static void
act_pan (SelfTest *self)
{
  canvas_pan (self->canvas, 37, -19);
}

static void
act_reset (SelfTest *self)
{
  canvas_reset (self->canvas);
}

static void
act_recolour (SelfTest *self)
{
  canvas_set_palette (self->canvas, 1);
}

static void
act_small_tiles (SelfTest *self)
{
  canvas_set_tile_size (self->canvas, 24);
}

static void
act_depth (SelfTest *self)
{
  canvas_set_depth (self->canvas, 700);
}

static void
act_storm (SelfTest *self)
{
  self->storm = STORM;
}

static void
choose (SelfTest *self, guint kind, const char *level, guint n_workers)
{
  self->wanted.kind = kind;
  self->wanted.n_workers = n_workers;
  for (guint i = 0; i < n_engine_levels; i++)
    if (g_str_equal (engine_levels[i], level))
      self->wanted.level = i;
  viewer_choose (self->viewer, &self->wanted);
}

static guint
kind_by_id (const char *id)
{
  for (guint i = 0; i < n_engine_kinds; i++)
    if (g_str_equal (engine_kinds[i].id, id))
      return i;

  g_error ("No scheduler “%s”", id);
}

static void
act_one_worker (SelfTest *self)
{
  choose (self, kind_by_id ("work-stealing"), "auto", 1);
}

static void
act_synthetic (SelfTest *self)
{
  choose (self, kind_by_id ("places"), "synthetic", 8);
}

/* Fewer workers than places: that must be refused, and the last scheduler goes on. */
static void
act_refused (SelfTest *self)
{
  EngineConfig before = self->wanted;

  choose (self, kind_by_id ("places"), "synthetic", 1);
  self->wanted = before;
  self->expect_refusal = TRUE;
}

static void
act_quick_changes (SelfTest *self)
{
  for (guint kind = 0; kind < n_engine_kinds; kind++)
    choose (self, kind, "machine", 3);
  choose (self, kind_by_id ("lock-free"), "machine", 2);
}

/* After these come the schedulers, one by one. */
static const Step steps[] = {
  { "the first picture", act_nothing },
  { "zoomed in", act_zoom_in },
  { "zoomed in again", act_zoom_in },
  { "panned", act_pan },
  { "recoloured", act_recolour },
  { "in small tiles", act_small_tiles },
  { "deeper", act_depth },
  { "after a storm of changes", act_storm },
  { "the whole set again", act_reset },
  { "one worker", act_one_worker },
  { "places of a synthetic machine", act_synthetic },
  { "a choice that is refused", act_refused },
  { "quick changes of the scheduler", act_quick_changes },
};

static void
report (SelfTest *self, const char *what, const char *wrong)
{
  CanvasProgress progress;
  Pause lately, ever;

  canvas_get_progress (self->canvas, &progress);
  pause_meter_get (viewer_get_meter (self->viewer), &lately, &ever);
  g_print ("%s %u - %s\n", wrong != NULL ? "not ok" : "ok", self->step + 1, what);
  if (wrong != NULL)
    g_print ("# %s\n", wrong);
  g_print ("# %u of %u tiles, %u stolen, %u from afar, %.3f s, longest pause %.1f ms\n",
           progress.n_done, progress.n_tiles, progress.n_stolen_inside + progress.n_stolen_from_far,
           progress.n_stolen_from_far, (double) progress.time / G_USEC_PER_SEC,
           (double) lately.time / 1000);
  self->n_failed += wrong != NULL;
}

/* Returns what is wrong with a picture that is complete, or NULL. */
static const char *
check_picture (SelfTest *self, guint *n_drew)
{
  const EngineConfig *config = viewer_get_config (self->viewer);
  gboolean has_workers = engine_kinds[config->kind].has_workers;
  CanvasProgress progress;
  guint n = 0;

  canvas_get_progress (self->canvas, &progress);
  *n_drew = 0;
  for (gint i = has_workers ? 0 : -1; i < (has_workers ? (gint) config->n_workers : 0); i++)
    {
      guint drew = canvas_count_tiles (self->canvas, i);

      n += drew;
      *n_drew += drew > 0;
    }
  if (progress.n_tiles == 0 || progress.n_done != progress.n_tiles)
    return "not every tile is there";
  if (n != progress.n_tiles)
    return "a tile was drawn by a worker that does not exist";
  if (config->kind != self->wanted.kind || config->n_workers != self->wanted.n_workers)
    return "another scheduler draws than was chosen";
  if (self->expect_refusal != (viewer_get_refusal (self->viewer) != NULL))
    return self->expect_refusal ? "the choice was not refused" : "the choice was refused";
  if (*n_drew > 1 && config->kind == kind_by_id ("default")
      && progress.n_stolen_inside + progress.n_stolen_from_far > 0)
    return "a tile was stolen from a queue that is everybody's";

  return NULL;
}

static const char *
step_name (SelfTest *self)
{
  return self->step < G_N_ELEMENTS (steps) ? steps[self->step].name
                                           : engine_kinds[self->step - G_N_ELEMENTS (steps)].id;
}

static gboolean
step_begin (SelfTest *self)
{
  self->begun = g_get_monotonic_time ();
  self->n_draws = 1;
  self->expect_refusal = FALSE;
  if (self->step < G_N_ELEMENTS (steps))
    steps[self->step].act (self);
  else if (self->step < G_N_ELEMENTS (steps) + n_engine_kinds)
    choose (self, self->step - G_N_ELEMENTS (steps), "machine", 2);
  else
    return FALSE;

  return TRUE;
}

static gboolean
self_test_end (SelfTest *self)
{
  Pause lately, ever;

  pause_meter_get (viewer_get_meter (self->viewer), &lately, &ever);
  g_print ("# longest pause of the main loop: %.1f ms, %.1f ms of it computing\n",
           (double) ever.time / 1000, (double) ever.computing / 1000);
  self->done (self->n_failed == 0, self->data);
  g_free (self);

  return G_SOURCE_REMOVE;
}

static gboolean
self_test_poll (gpointer data)
{
  SelfTest *self = data;
  const char *wrong = NULL;
  guint n_drew = 0;

  if (g_get_monotonic_time () - self->begun > STEP_LIMIT)
    {
      report (self, step_name (self), "it takes too long; nothing more is tried");
      return self_test_end (self);
    }
  if (self->storm > 0)
    {
      self->storm--;
      canvas_zoom (self->canvas, self->storm % 2 == 0 ? 1.5 : .75, 50, 60);
      return G_SOURCE_CONTINUE;
    }
  if (viewer_is_changing (self->viewer) || viewer_get_config (self->viewer) == NULL
      || !canvas_is_complete (self->canvas))
    return G_SOURCE_CONTINUE;

  wrong = check_picture (self, &n_drew);
  if (wrong == NULL && n_drew < 2 && self->wanted.n_workers > 1
      && engine_kinds[self->wanted.kind].has_workers)
    {
      if (self->n_draws++ < MOST_DRAWS)
        {
          canvas_redraw (self->canvas);
          return G_SOURCE_CONTINUE;
        }
      wrong = "one worker draws everything, every time";
    }
  report (self, step_name (self), wrong);
  self->step++;

  return step_begin (self) ? G_SOURCE_CONTINUE : self_test_end (self);
}

void
self_test_start (Viewer *viewer, SelfTestDone done, gpointer data)
{
  SelfTest *self = g_new0 (SelfTest, 1);

  self->viewer = viewer;
  self->canvas = viewer_get_canvas (viewer);
  self->done = done;
  self->data = data;
  g_print ("1..%u\n", (guint) G_N_ELEMENTS (steps) + n_engine_kinds);
  choose (self, kind_by_id ("work-stealing"), "auto", 2);
  step_begin (self);
  g_timeout_add (POLL_MS, self_test_poll, self);
}
