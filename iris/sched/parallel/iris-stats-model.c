/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Statistics as a list: a row for each place or worker of a scheduler.
 */
#include "iris/sched/parallel/iris-stats-row-private.h"

/**
 * IrisStatsModel:
 *
 * The statistics of a scheduler as a #GListModel of #IrisStatsRow, for a list or a table.
 *
 * The numbers are those of the last iris_stats_model_refresh(); the model has no timer of its own,
 * so its owner decides when, and what it costs. Like every #GListModel it belongs to one thread;
 * the scheduler's workers do not notice it.
 *
 * It holds a reference to its scheduler.
 */
struct _IrisStatsModel
{
  GObject parent_instance;

  IrisScheduler *scheduler;
  IrisStatsOf of;
  IrisStats *last; /* of the last refresh */
  GPtrArray *rows;
};

enum
{
  PROP_SCHEDULER = 1,
  PROP_OF,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

static GType
stats_model_get_item_type (GListModel *model)
{
  return IRIS_TYPE_STATS_ROW;
}

static guint
stats_model_get_n_items (GListModel *model)
{
  return IRIS_STATS_MODEL (model)->rows->len;
}

static gpointer
stats_model_get_item (GListModel *model, guint position)
{
  GPtrArray *rows = IRIS_STATS_MODEL (model)->rows;

  return position < rows->len ? g_object_ref (g_ptr_array_index (rows, position)) : NULL;
}

static void
stats_model_be_list (GListModelInterface *iface)
{
  iface->get_item_type = stats_model_get_item_type;
  iface->get_n_items = stats_model_get_n_items;
  iface->get_item = stats_model_get_item;
}

G_DEFINE_ENUM_TYPE (IrisStatsOf,
                    iris_stats_of,
                    G_DEFINE_ENUM_VALUE (IRIS_STATS_OF_PLACES, "places"),
                    G_DEFINE_ENUM_VALUE (IRIS_STATS_OF_WORKERS, "workers"))
G_DEFINE_FINAL_TYPE_WITH_CODE (IrisStatsModel,
                               iris_stats_model,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, stats_model_be_list))

static void
iris_stats_model_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  IrisStatsModel *self = IRIS_STATS_MODEL (object);

  switch (id)
    {
    case PROP_SCHEDULER:
      g_value_set_object (value, self->scheduler);
      break;
    case PROP_OF:
      g_value_set_enum (value, (gint) self->of);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
iris_stats_model_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  IrisStatsModel *self = IRIS_STATS_MODEL (object);

  switch (id)
    {
    case PROP_SCHEDULER:
      self->scheduler = g_value_dup_object (value);
      break;
    case PROP_OF:
      self->of = (IrisStatsOf) g_value_get_enum (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
iris_stats_model_constructed (GObject *object)
{
  G_OBJECT_CLASS (iris_stats_model_parent_class)->constructed (object);

  iris_stats_model_refresh (IRIS_STATS_MODEL (object));
}

static void
iris_stats_model_finalize (GObject *object)
{
  IrisStatsModel *self = IRIS_STATS_MODEL (object);

  g_ptr_array_unref (self->rows);
  g_clear_pointer (&self->last, iris_stats_free);
  g_clear_object (&self->scheduler);

  G_OBJECT_CLASS (iris_stats_model_parent_class)->finalize (object);
}

static void
iris_stats_model_class_init (IrisStatsModelClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GParamFlags flags = G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS;

  object_class->constructed = iris_stats_model_constructed;
  object_class->get_property = iris_stats_model_get_property;
  object_class->set_property = iris_stats_model_set_property;
  object_class->finalize = iris_stats_model_finalize;

  /**
   * IrisStatsModel:scheduler:
   *
   * Whose statistics they are.
   */
  properties[PROP_SCHEDULER] = g_param_spec_object ("scheduler", NULL, NULL, IRIS_TYPE_SCHEDULER,
                                                    flags);

  /**
   * IrisStatsModel:of:
   *
   * What the rows are.
   */
  properties[PROP_OF] = g_param_spec_enum ("of", NULL, NULL, IRIS_TYPE_STATS_OF,
                                           IRIS_STATS_OF_PLACES, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
iris_stats_model_init (IrisStatsModel *self)
{
  self->rows = g_ptr_array_new_with_free_func (g_object_unref);
}

/**
 * iris_stats_model_new:
 * @of: what the rows are
 *
 * Returns: (transfer full): a list of the statistics of a scheduler, refreshed once
 */
IrisStatsModel *
iris_stats_model_new (IrisScheduler *scheduler, IrisStatsOf of)
{
  g_return_val_if_fail (IRIS_IS_SCHEDULER (scheduler), NULL);

  return g_object_new (IRIS_TYPE_STATS_MODEL, "scheduler", scheduler, "of", of, NULL);
}

/* Adds the rows that are missing; a scheduler does not lose places or workers. */
static void
stats_model_grow (IrisStatsModel *self, const IrisStats *stats)
{
  gboolean places = self->of == IRIS_STATS_OF_PLACES;
  guint n = places ? stats->n_places : stats->n_workers;

  for (guint i = self->rows->len; i < n; i++)
    g_ptr_array_add (self->rows,
                     iris_stats_row_new (i, places ? (gint) i : stats->worker_place[i]));
}

/**
 * iris_stats_model_refresh:
 *
 * Takes a snapshot and puts it into the rows, each of which notifies what changed.
 */
void
iris_stats_model_refresh (IrisStatsModel *self)
{
  g_autoptr (IrisStats) stats = NULL;
  g_autoptr (IrisStats) lately = NULL;
  guint n_before;

  g_return_if_fail (IRIS_IS_STATS_MODEL (self));
  g_return_if_fail (self->scheduler != NULL);

  stats = iris_scheduler_get_stats (self->scheduler);
  lately = self->last != NULL ? iris_stats_diff (self->last, stats) : iris_stats_copy (stats);
  n_before = self->rows->len;
  stats_model_grow (self, stats);
  for (guint i = 0; i < self->rows->len; i++)
    {
      gboolean places = self->of == IRIS_STATS_OF_PLACES;

      iris_stats_row_update (
          g_ptr_array_index (self->rows, i), places ? &stats->places[i] : &stats->workers[i],
          places ? &lately->places[i] : &lately->workers[i], iris_stats_get_span (lately));
    }
  g_clear_pointer (&self->last, iris_stats_free);
  self->last = g_steal_pointer (&stats);
  if (self->rows->len > n_before)
    g_list_model_items_changed (G_LIST_MODEL (self), n_before, 0, self->rows->len - n_before);
}
