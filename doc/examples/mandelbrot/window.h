/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The window: the canvas, what can be chosen, and the statistics.
 */
#pragma once

#include "canvas.h"
#include "engine.h"
#include "pause-meter.h"

#define TYPE_VIEWER (viewer_get_type ())
G_DECLARE_FINAL_TYPE (Viewer, viewer, MANDELBROT, VIEWER, GtkApplicationWindow)

Viewer *viewer_new (GtkApplication *application, const EngineConfig *config, guint depth);
Canvas *viewer_get_canvas (Viewer *self);
PauseMeter *viewer_get_meter (Viewer *self);

/* Changes the scheduler as if it had been chosen in the window. */
void viewer_choose (Viewer *self, const EngineConfig *config);
/* The configuration that draws now; NULL until the first scheduler is there. */
const EngineConfig *viewer_get_config (Viewer *self);
/* Why the last choice was refused; NULL if it was not. */
const char *viewer_get_refusal (Viewer *self);
/* A scheduler is being made or taken down. */
gboolean viewer_is_changing (Viewer *self);
/* The picture is complete, and the statistics tell of it. */
gboolean viewer_is_at_rest (Viewer *self);
/* Takes everything down and iterates the main loop until that is done. */
void viewer_finish (Viewer *self);
