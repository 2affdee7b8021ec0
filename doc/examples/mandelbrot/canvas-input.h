/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The canvas's input: dragging, scrolling, keys.
 */
#pragma once

#include "canvas.h"

void canvas_input_attach (Canvas *canvas);
