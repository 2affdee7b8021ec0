/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * iris-soak: what irisd must survive, in a short form for every test run and a long one.
 *
 * A scenario puts irisd under load, injects a fault, and keeps a history of accepted items. It
 * fails by an assertion; its counts go into the table at the end.
 */
#pragma once

#include "../integration/irisd-home.h"

/**
 * SoakFigures:
 * @accepted: items that a client was told are accepted
 * @ended: those of them whose end came, or was fetched
 * @duplicates: ends or runs of an item beyond the first
 * @allowed: how many of those the scenario allows
 * @peak_kib: the most memory that an irisd of the scenario had
 * @note: a remark
 * @skipped: why it did not run, or %NULL
 *
 * An accepted item that has not ended is lost.
 */
typedef struct
{
  guint64 accepted;
  guint64 ended;
  guint64 duplicates;
  guint64 allowed;
  guint64 peak_kib;
  double seconds;
  char note[120];
  const char *skipped;
  gboolean ran;
  gboolean well;
} SoakFigures;

guint soak_times (guint in_short, guint in_long);
guint soak_random (guint least, guint most);
void soak_note_peak (SoakFigures *figures, Irisd *irisd);
GSubprocess *soak_start_part (const char *part, const char *first, const char *second);
char *soak_read_line (GSubprocess *part);
void soak_kill_part (GSubprocess *part);

/* Parts that run as processes of their own, to be killed. */
void soak_be_client (const char *front);
void soak_be_worker (const char *front, const char *runs);
void soak_be_garbage (const char *front, const char *runs);

void soak_kills (SoakFigures *figures);
void soak_clients (SoakFigures *figures);
void soak_upgrades (SoakFigures *figures);
void soak_workers (SoakFigures *figures);
void soak_disk (SoakFigures *figures);
void soak_sync (SoakFigures *figures);
void soak_reads (SoakFigures *figures);
void soak_clock (SoakFigures *figures);
void soak_descriptors (SoakFigures *figures);
void soak_crowd (SoakFigures *figures);
void soak_thousand (SoakFigures *figures);
void soak_frames (SoakFigures *figures);
void soak_schedules (SoakFigures *figures);
