/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The controls: what can be chosen in the window.
 */
#pragma once

#include "canvas.h"
#include "engine.h"

#define TYPE_CONTROLS (controls_get_type ())
G_DECLARE_FINAL_TYPE (Controls, controls, MANDELBROT, CONTROLS, GtkGrid)

/* Emits "engine-changed" when another scheduler, level or number of workers was chosen. */
Controls *controls_new (Canvas *canvas, const EngineConfig *config);
void controls_get_config (Controls *self, EngineConfig *config);
/* Shows a configuration; says so by "engine-changed" if it is another. */
void controls_set_config (Controls *self, const EngineConfig *config);
