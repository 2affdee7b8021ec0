/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The statistics pane: what the workers do, as it happens.
 */
#pragma once

#include "canvas.h"
#include "mail.h"
#include "pause-meter.h"

#include <iris/iris.h>

#define TYPE_STATS_PANE (stats_pane_get_type ())
G_DECLARE_FINAL_TYPE (StatsPane, stats_pane, MANDELBROT, STATS_PANE, GtkBox)

/* What is asked for numbers; it must outlive the pane. */
StatsPane *stats_pane_new (Canvas *canvas, Mail *mail, PauseMeter *meter);
void stats_pane_set_scheduler (StatsPane *self, IrisScheduler *scheduler);
/* A picture is begun. */
void stats_pane_begin (StatsPane *self);
/* Takes new numbers a few times a second while there is work, and once after it. */
void stats_pane_watch (StatsPane *self);
/* What it shows is final, until there is work again. */
gboolean stats_pane_rests (StatsPane *self);
/* Asks no more. */
void stats_pane_stop (StatsPane *self);
