/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl map: its options, and its work.
 */
#pragma once

#include "irisctl-command.h"
#include "irisctl-progress.h"
#include "irisctl-tally.h"
#include "irisctl-walk.h"

#include <stdio.h>

G_BEGIN_DECLS

/* Which place an item is hinted at. */
typedef enum
{
  IRISCTL_HINTS_NONE,
  IRISCTL_HINTS_ROUND_ROBIN,
  IRISCTL_HINTS_BY_DIRECTORY,
  IRISCTL_HINTS_PLACE, /* all at the one that --place names */
} IrisctlHints;

typedef struct
{
  IrisctlHint hint;
  char *hints;
  char *output;
  gboolean print;
  int in_flight;
  IrisctlHints rule;
  const char *service;
  char *const *paths;
} IrisctlMapOptions;

typedef struct
{
  Irisctl *irisctl;
  const IrisctlMapOptions *options;
  GPtrArray *places;
  IrisClientPlace *only_place;
  FILE *out; /* where lines go; NULL for nowhere */

  IrisctlWalk *walk;
  IrisctlTally *tally;
  IrisctlProgress *progress;
  IrisctlWalk *count_walk;
  guint count_source;
  guint64 counted;
  GQueue files; /* sent and not printed, in the walk's order */
  guint in_flight;
  gint64 begin;

  guint64 sent;
  guint64 ended;
  guint64 failed;
  double seconds;
  gboolean write_failed;
  GError *fatal; /* what ended the command early */
} IrisctlMap;

void irisctl_map_work (IrisctlMap *map);
void irisctl_map_clear (IrisctlMap *map);

G_END_DECLS
