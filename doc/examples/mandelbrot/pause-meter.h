/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The pause meter: for how long the main loop did not answer.
 */
#pragma once

#include <glib.h>

typedef struct _PauseMeter PauseMeter;

/* For the thread's main context. */
PauseMeter *pause_meter_new (void);
void pause_meter_free (PauseMeter *self);
/* While busy, a heartbeat also finds the pauses in which the kernel let the thread wait. */
void pause_meter_set_busy (PauseMeter *self, gboolean busy);

typedef struct
{
  gint64 time;      /* microseconds */
  gint64 computing; /* of these, the ones that the thread ran; in the others it waited */
} Pause;

/* The longest pauses: in the last PAUSE_METER_SECONDS, and ever. */
void pause_meter_get (PauseMeter *self, Pause *lately, Pause *ever);
/* Forgets all. */
void pause_meter_reset (PauseMeter *self);

#define PAUSE_METER_SECONDS 5
