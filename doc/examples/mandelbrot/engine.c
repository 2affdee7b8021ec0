/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The engine: two kinds of messages, bands and tiles.
 *
 * The main loop posts a band of tiles for each worker, through the port of that worker's place. The
 * worker that handles the band posts each tile, through a port without a hint: so a tile waits in
 * the queue of that worker, and any other worker that draws it has stolen it.
 */
#include "engine.h"

#include "render.h"

#include <sys/resource.h>

enum
{
  WHAT_BAND = 1,
  WHAT_TILE,
};

enum
{
  KIND_DEFAULT,
  KIND_LOCK_FREE,
  KIND_WORK_STEALING,
  KIND_PLACES,
  KIND_PLACES_AFFINITY,
  KIND_PLACES_SHARED,
  KIND_MAIN_CONTEXT,
};

const EngineKind engine_kinds[] = {
  [KIND_DEFAULT] = { "default", "One queue for all", FALSE, TRUE },
  [KIND_LOCK_FREE] = { "lock-free", "Lock-free", FALSE, TRUE },
  [KIND_WORK_STEALING] = { "work-stealing", "Work stealing", FALSE, TRUE },
  [KIND_PLACES] = { "places", "Places", TRUE, TRUE },
  [KIND_PLACES_AFFINITY] = { "places-affinity", "Places with affinity queues", TRUE, TRUE },
  [KIND_PLACES_SHARED] = { "places-shared", "Places with shared deques", TRUE, TRUE },
  [KIND_MAIN_CONTEXT] = { "main-context", "Main loop (slow!)", FALSE, FALSE },
};
const guint n_engine_kinds = G_N_ELEMENTS (engine_kinds);

const char *const engine_levels[] = {
  "auto", "machine", "package", "numa", "l3", "l2", "core", "pu", "synthetic", NULL,
};
const guint n_engine_levels = G_N_ELEMENTS (engine_levels) - 1;

/* For show: two sockets with two caches each, hence four places. */
#define SYNTHETIC_MACHINE "pack:2 l3:2 core:4 pu:2"
#define SYNTHETIC_LEVEL   "l3"

struct _Engine
{
  EngineConfig config;
  Mail *mail;
  IrisScheduler *scheduler;
  guint n_places;
  guint n_bands;
  gint *band_place;      /* (array length=n_bands) */
  IrisPort **band_ports; /* (array length=n_places) */
  IrisReceiver **band_receivers;
  IrisPort *tile_port;
  IrisReceiver *tile_receiver;
};

static void
find_out_origin (Engine *self, Tile *tile)
{
  tile->origin = TILE_OWN;
  /* Where all share one queue, there is nothing to steal. */
  if (self->config.kind == KIND_DEFAULT || self->config.kind == KIND_MAIN_CONTEXT)
    return;

  if (tile->place != tile->dealt_place)
    tile->origin = TILE_STOLEN_FROM_FAR;
  else if (tile->worker != tile->dealt_worker && self->config.kind != KIND_PLACES_SHARED)
    tile->origin = TILE_STOLEN_INSIDE;
}

/* A runtime cannot know which thread the program waits for; the program does. Without this,
 * more workers than processors make the window wait its turn among them. */
static void
be_nice (Engine *self)
{
  static GPrivate is_nice;

  if (g_private_get (&is_nice) != NULL)
    return;
  g_private_set (&is_nice, GINT_TO_POINTER (TRUE));
  /* On Linux, of the calling thread alone. Where that is refused it is only less smooth. */
  if (setpriority (PRIO_PROCESS, 0, self->config.niceness) != 0)
    g_debug ("A worker keeps its priority: %s", g_strerror (errno));
}

/* Handles WHAT_TILE. */
static void
draw_tile (IrisMessage *message, gpointer data)
{
  Engine *self = data;
  Tile *tile = g_value_get_boxed (iris_message_get_data (message));
  IrisWorker *worker = iris_worker_current ();

  if (worker != NULL)
    be_nice (self);
  tile->worker = worker != NULL ? (gint) iris_worker_get_index (worker) : -1;
  tile->place = worker != NULL ? iris_worker_get_place (worker) : 0;
  find_out_origin (self, tile);
  if (!picture_is_stale (tile->picture) && render_tile (tile))
    mail_send (self->mail, tile_ref (tile));
}

/* Handles WHAT_BAND. */
static void
deal_band (IrisMessage *message, gpointer data)
{
  Engine *self = data;
  Band *band = g_value_get_boxed (iris_message_get_data (message));
  IrisWorker *worker = iris_worker_current ();

  for (guint i = 0; i < band->n && !picture_is_stale (band->picture); i++)
    {
      g_autoptr (Tile) tile = tile_new (band->picture, band->first + i);

      tile->dealt_place = band->place;
      tile->dealt_worker = worker != NULL ? (gint) iris_worker_get_index (worker) : -1;
      iris_port_post (self->tile_port, iris_message_new_data (WHAT_TILE, TYPE_TILE, tile));
    }
}

static IrisPlaces *
make_places (const EngineConfig *config, GError **error)
{
  const char *level = engine_levels[config->level];
  g_autoptr (IrisTopology) topology = NULL;

  if (!g_str_equal (level, "synthetic"))
    return iris_places_new_full (NULL, level, config->n_workers, IRIS_BIND_PLACE, error);

  topology = iris_topology_new_synthetic (SYNTHETIC_MACHINE, error);
  if (topology == NULL)
    return NULL;
  return iris_places_new_full (topology, SYNTHETIC_LEVEL, config->n_workers, IRIS_BIND_NONE, error);
}

static IrisScheduler *
make_scheduler (const EngineConfig *config, GError **error)
{
  g_autoptr (IrisPlaces) places = NULL;
  IrisLayout layout = IRIS_LAYOUT_WORKERS;

  switch (config->kind)
    {
    case KIND_DEFAULT:
      return iris_scheduler_new_full (0, config->n_workers);
    case KIND_LOCK_FREE:
      return iris_lfscheduler_new_full (0, config->n_workers);
    case KIND_WORK_STEALING:
      return iris_wsscheduler_new_full (0, config->n_workers);
    case KIND_MAIN_CONTEXT:
      return iris_gmainscheduler_new (NULL);
    case KIND_PLACES_AFFINITY:
      layout = IRIS_LAYOUT_AFFINITY;
      break;
    case KIND_PLACES_SHARED:
      layout = IRIS_LAYOUT_SHARED;
      break;
    default:
      break;
    }

  places = make_places (config, error);
  if (places == NULL)
    return NULL;
  return g_object_new (IRIS_TYPE_PLACE_SCHEDULER, "places", places, "layout", layout, NULL);
}

static Engine *
engine_new (const EngineConfig *config, Mail *mail, GError **error)
{
  g_autoptr (IrisScheduler) scheduler = make_scheduler (config, error);
  g_autoptr (IrisStats) stats = NULL;
  Engine *self;

  if (scheduler == NULL)
    return NULL;

  self = g_new0 (Engine, 1);
  self->config = *config;
  self->mail = mail;
  stats = iris_scheduler_get_stats (scheduler);
  self->n_bands = stats->n_workers;
  self->n_places = stats->n_places;
  self->band_place = g_memdup2 (stats->worker_place, self->n_bands * sizeof *self->band_place);

  self->band_ports = g_new (IrisPort *, self->n_places);
  self->band_receivers = g_new (IrisReceiver *, self->n_places);
  for (guint i = 0; i < self->n_places; i++)
    {
      self->band_ports[i] = iris_port_new ();
      self->band_receivers[i] = iris_receiver_new (scheduler, deal_band, self, NULL);
      iris_receiver_set_place (self->band_receivers[i], (gint) i, IRIS_ITEM_NONE);
      iris_port_set_receiver (self->band_ports[i], self->band_receivers[i]);
    }
  self->tile_port = iris_port_new ();
  self->tile_receiver = iris_receiver_new (scheduler, draw_tile, self, NULL);
  iris_port_set_receiver (self->tile_port, self->tile_receiver);
  self->scheduler = g_steal_pointer (&scheduler);

  return self;
}

/* Waits for the workers: not for the main loop. */
static void
engine_free (Engine *self)
{
  iris_scheduler_shutdown (self->scheduler, IRIS_SHUTDOWN_DRAIN);
  for (guint i = 0; i < self->n_places; i++)
    {
      iris_receiver_destroy (self->band_receivers[i], FALSE);
      g_object_unref (self->band_receivers[i]);
      g_object_unref (self->band_ports[i]);
    }
  iris_receiver_destroy (self->tile_receiver, FALSE);
  g_object_unref (self->tile_receiver);
  g_object_unref (self->tile_port);
  g_object_unref (self->scheduler);
  g_free (self->band_ports);
  g_free (self->band_receivers);
  g_free (self->band_place);
  g_free (self);
}

typedef struct
{
  EngineConfig config;
  Mail *mail;
} Order;

static void
make_engine (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Order *order = data;
  GError *error = NULL;
  Engine *self = engine_new (&order->config, order->mail, &error);

  if (self != NULL)
    g_task_return_pointer (task, self, NULL);
  else
    g_task_return_error (task, error);
}

void
engine_new_async (const EngineConfig *config, Mail *mail, GAsyncReadyCallback ready, gpointer data)
{
  g_autoptr (GTask) task = g_task_new (NULL, NULL, ready, data);
  Order *order = g_new (Order, 1);

  *order = (Order){ *config, mail };
  g_task_set_task_data (task, order, g_free);
  g_task_run_in_thread (task, make_engine);
}

Engine *
engine_new_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}

static void
close_engine (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  engine_free (data);
  g_task_return_boolean (task, TRUE);
}

void
engine_close_async (Engine *self, GAsyncReadyCallback closed, gpointer data)
{
  g_autoptr (GTask) task = g_task_new (NULL, NULL, closed, data);

  g_task_set_task_data (task, self, NULL);
  g_task_run_in_thread (task, close_engine);
}

const EngineConfig *
engine_get_config (Engine *self)
{
  return &self->config;
}

IrisScheduler *
engine_get_scheduler (Engine *self)
{
  return self->scheduler;
}

void
engine_post (Engine *self, Picture *picture)
{
  for (guint i = 0; i < self->n_bands; i++)
    {
      g_autoptr (Band) band = band_new (picture, i, self->n_bands, self->band_place[i]);

      if (band->n > 0)
        iris_port_post (self->band_ports[band->place],
                        iris_message_new_data (WHAT_BAND, TYPE_BAND, band));
    }
}
