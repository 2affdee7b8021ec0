/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The engine: a scheduler, and the ports through which pictures become messages to its workers.
 *
 * An engine is made and taken down on a thread of its own, so that neither reading the machine's
 * topology nor waiting for workers ever holds up the main loop.
 */
#pragma once

#include "mail.h"

#include <gio/gio.h>
#include <iris/iris.h>

typedef struct
{
  const char *id;    /* for the command line */
  const char *title; /* for the window */
  gboolean has_places, has_workers;
} EngineKind;

extern const EngineKind engine_kinds[];
extern const guint n_engine_kinds;

/* The kinds of places to choose from; the last is a machine that is made up. */
extern const char *const engine_levels[];
extern const guint n_engine_levels;

#define ENGINE_MAX_WORKERS 64
/* How much workers give way to the window, the display and all else; as for nice(1). */
#define ENGINE_MAX_NICENESS 19

typedef struct
{
  guint kind;  /* of engine_kinds */
  guint level; /* of engine_levels */
  guint n_workers;
  gint niceness;
} EngineConfig;

typedef struct _Engine Engine;

void
engine_new_async (const EngineConfig *config, Mail *mail, GAsyncReadyCallback ready, gpointer data);
Engine *engine_new_finish (GAsyncResult *result, GError **error);
/* Runs what is left, then calls @closed on the main loop. Stale tiles take no time. */
void engine_close_async (Engine *self, GAsyncReadyCallback closed, gpointer data);

const EngineConfig *engine_get_config (Engine *self);
IrisScheduler *engine_get_scheduler (Engine *self);
void engine_post (Engine *self, Picture *picture);
