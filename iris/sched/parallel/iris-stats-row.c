/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A row of statistics: what a place or a worker did, as properties.
 */
#include "iris/sched/parallel/iris-stats-row-private.h"

#include <math.h>
#include <string.h>

/**
 * IrisStatsRow:
 *
 * A place or a worker in an #IrisStatsModel.
 *
 * Beside `index` and `place` it has a property for each member of #IrisCounters, by its name with
 * dashes (`stolen-in`, `searching-ns`), of type #guint64; these count since the scheduler was made.
 * And it has `steal-ratio`, `steal-rate` (per second), `steal-overhead` and `items-per-steal`, of
 * type #gdouble; these tell of the time between the last two refreshes of the model, or, after one,
 * since the scheduler was made. All are read-only, and those that changed notify in a refresh.
 */
struct _IrisStatsRow
{
  GObject parent_instance;

  guint index;
  gint place;
  IrisCounters counters;
  gdouble *measures;
};

/* After these come the counters, and then the measures, in the order of their lists. */
enum
{
  PROP_INDEX = 1,
  PROP_PLACE,
  PROP_COUNTERS,
};

static GParamSpec **properties;

G_DEFINE_FINAL_TYPE (IrisStatsRow, iris_stats_row, G_TYPE_OBJECT)

static void
iris_stats_row_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  IrisStatsRow *self = IRIS_STATS_ROW (object);

  if (id == PROP_INDEX)
    g_value_set_uint (value, self->index);
  else if (id == PROP_PLACE)
    g_value_set_int (value, self->place);
  else if (id < PROP_COUNTERS + iris_n_counter_infos)
    g_value_set_uint64 (
        value, iris_counters_get (&self->counters, &iris_counter_infos[id - PROP_COUNTERS]));
  else
    g_value_set_double (value, self->measures[id - PROP_COUNTERS - iris_n_counter_infos]);
}

static void
iris_stats_row_finalize (GObject *object)
{
  g_free (IRIS_STATS_ROW (object)->measures);

  G_OBJECT_CLASS (iris_stats_row_parent_class)->finalize (object);
}

/* The properties that are made from the lists; those of the counters are described there. */

/**
 * IrisStatsRow:steal-ratio:
 *
 * Steals for each item run, from 0 to 1, between the last two refreshes.
 */

/**
 * IrisStatsRow:steal-rate:
 *
 * Steals in each second, between the last two refreshes.
 */

/**
 * IrisStatsRow:steal-overhead:
 *
 * Searching, as a part of the time awake, from 0 to 1, between the last two refreshes.
 */

/**
 * IrisStatsRow:items-per-steal:
 *
 * Items that a steal took, on average, between the last two refreshes.
 */

/* A member's name as a property's. */
static const char *
property_name (const char *member)
{
  g_autofree char *name = g_strdelimit (g_strdup (member), "_", '-');

  return g_intern_string (name);
}

static void
iris_stats_row_class_init (IrisStatsRowClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY;
  guint n = PROP_COUNTERS + iris_n_counter_infos + iris_n_measure_infos;
  guint id = PROP_COUNTERS;

  object_class->get_property = iris_stats_row_get_property;
  object_class->finalize = iris_stats_row_finalize;

  properties = g_new0 (GParamSpec *, n);

  /**
   * IrisStatsRow:index:
   *
   * The number of the place or of the worker, counted from 0.
   */
  properties[PROP_INDEX] = g_param_spec_uint ("index", NULL, NULL, 0, G_MAXUINT, 0, flags);

  /**
   * IrisStatsRow:place:
   *
   * The place, or the worker's place.
   */
  properties[PROP_PLACE] = g_param_spec_int ("place", NULL, NULL, 0, G_MAXINT, 0, flags);

  for (guint i = 0; i < iris_n_counter_infos; i++)
    properties[id++] = g_param_spec_uint64 (property_name (iris_counter_infos[i].name), NULL, NULL,
                                            0, G_MAXUINT64, 0, flags);
  for (guint i = 0; i < iris_n_measure_infos; i++)
    properties[id++] = g_param_spec_double (property_name (iris_measure_infos[i].name), NULL, NULL,
                                            0, G_MAXDOUBLE, 0, flags);
  g_object_class_install_properties (object_class, n, properties);
}

static void
iris_stats_row_init (IrisStatsRow *self)
{
  self->measures = g_new0 (gdouble, iris_n_measure_infos);
}

IrisStatsRow *
iris_stats_row_new (guint index, gint place)
{
  IrisStatsRow *self = g_object_new (IRIS_TYPE_STATS_ROW, NULL);

  self->index = index;
  self->place = place;

  return self;
}

void
iris_stats_row_update (IrisStatsRow *self,
                       const IrisCounters *counters,
                       const IrisCounters *lately,
                       guint64 span_ns)
{
  IrisCounters before = self->counters;
  guint id = PROP_COUNTERS;

  /* Who hears of one change finds all of them. */
  g_object_freeze_notify (G_OBJECT (self));
  self->counters = *counters;
  for (guint i = 0; i < iris_n_counter_infos; i++, id++)
    if (iris_counters_get (&before, &iris_counter_infos[i])
        != iris_counters_get (counters, &iris_counter_infos[i]))
      g_object_notify_by_pspec (G_OBJECT (self), properties[id]);
  for (guint i = 0; i < iris_n_measure_infos; i++, id++)
    {
      gdouble now = iris_measure_infos[i].get (lately, span_ns);
      gdouble before_it = self->measures[i];

      /* No number at all is the same as none before. */
      if (now != before_it && !(isnan (now) && isnan (before_it)))
        g_object_notify_by_pspec (G_OBJECT (self), properties[id]);
      self->measures[i] = now;
    }
  g_object_thaw_notify (G_OBJECT (self));
}

/**
 * iris_stats_row_get_index:
 *
 * Gets the number of the place or of the worker, counted from 0.
 */
guint
iris_stats_row_get_index (IrisStatsRow *self)
{
  g_return_val_if_fail (IRIS_IS_STATS_ROW (self), 0);

  return self->index;
}

/**
 * iris_stats_row_get_place:
 *
 * Gets the place, or the worker's place.
 */
gint
iris_stats_row_get_place (IrisStatsRow *self)
{
  g_return_val_if_fail (IRIS_IS_STATS_ROW (self), 0);

  return self->place;
}

/**
 * iris_stats_row_get_counters:
 *
 * Returns: (transfer none): all counters, as of the last refresh; valid until the next
 */
const IrisCounters *
iris_stats_row_get_counters (IrisStatsRow *self)
{
  g_return_val_if_fail (IRIS_IS_STATS_ROW (self), NULL);

  return &self->counters;
}
