/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Work-stealing places: the scheduler object around the place queues.
 */
#include "iris/sched/compare/iris-compared-queues-private.h"
#include "iris/sched/schedulers/iris-place-scheduler-private.h"

/**
 * IrisPlaceScheduler:
 *
 * Work-stealing places (LASSI, 2010): workers are grouped into places, an item may name the place
 * at which it should run, and a place that has nothing to do steals from another.
 */

typedef struct
{
  IrisPlaces *places;
  IrisDeal deal;
  IrisLayout layout;
  IrisDequeKind deque;
  IrisStealPolicy *steal_policy; /* NULL: the usual one */
} IrisPlaceSchedulerPrivate;

enum
{
  PROP_PLACES = 1,
  PROP_DEAL,
  PROP_LAYOUT,
  PROP_DEQUE,
  PROP_STEAL_POLICY,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_ENUM_TYPE (IrisLayout,
                    iris_layout,
                    G_DEFINE_ENUM_VALUE (IRIS_LAYOUT_WORKERS, "workers"),
                    G_DEFINE_ENUM_VALUE (IRIS_LAYOUT_AFFINITY, "affinity"),
                    G_DEFINE_ENUM_VALUE (IRIS_LAYOUT_SHARED, "shared"),
                    G_DEFINE_ENUM_VALUE (IRIS_LAYOUT_MAILBOXES, "mailboxes"))
G_DEFINE_ENUM_TYPE (IrisDeal,
                    iris_deal,
                    G_DEFINE_ENUM_VALUE (IRIS_DEAL_OWN, "own"),
                    G_DEFINE_ENUM_VALUE (IRIS_DEAL_ROUND_ROBIN, "round-robin"))
G_DEFINE_TYPE_WITH_PRIVATE (IrisPlaceScheduler, iris_place_scheduler, IRIS_TYPE_SCHEDULER)

/* For the constructed() of a subclass, before that of this class, when no thread has named places.
 */
void
iris_place_scheduler_choose_places (IrisPlaceScheduler *self, IrisPlaces *places)
{
  IrisPlaceSchedulerPrivate *priv = iris_place_scheduler_get_instance_private (self);

  g_assert (priv->places == NULL);
  priv->places = g_object_ref (places);
}

/* What IRIS_DEBUG wants to know of the places. */
static void
tell_places (IrisPlaces *places)
{
  guint n = iris_places_get_n_places (places);

  iris_debug_print ("%u places, one for each %s", n, iris_places_get_level (places));
  for (guint i = 0; i < n; i++)
    {
      IrisPlace *place = iris_places_get_place (places, i);

      iris_debug_print ("place %u, %s: processors %s, %u workers, %s", i,
                        iris_place_get_name (place), iris_place_get_cpus (place),
                        iris_place_get_n_workers (place),
                        iris_place_is_bound (place) ? "bound" : "not bound");
    }
}

static IrisWorkerPool *
make_pool (const IrisPlaceSchedulerPrivate *priv, const IrisStealRules *rules)
{
  IrisPlaceQueues *queues;
  IrisWorkerPool *pool;

  if (priv->layout != IRIS_LAYOUT_WORKERS || priv->deque != IRIS_DEQUE_SPLIT)
    return iris_compared_queues_new_pool (priv->places, priv->deal, priv->layout, priv->deque,
                                          rules);

  queues = iris_place_queues_new (sizeof *queues, priv->places, priv->deal, rules);
  pool = iris_place_queues_make_pool (queues, &iris_place_queues_ops, iris_place_queues_free);
  if (priv->deal == IRIS_DEAL_OWN)
    iris_worker_pool_set_plain (pool);

  return pool;
}

static void
iris_place_scheduler_constructed (GObject *object)
{
  IrisPlaceScheduler *self = IRIS_PLACE_SCHEDULER (object);
  IrisPlaceSchedulerPrivate *priv = iris_place_scheduler_get_instance_private (self);
  IrisStealRules rules;

  G_OBJECT_CLASS (iris_place_scheduler_parent_class)->constructed (object);

  if (priv->places == NULL)
    {
      g_autoptr (GError) error = NULL;

      priv->places = iris_places_new (NULL, NULL, &error);
      if (priv->places == NULL)
        {
          g_warning ("iris: one place for the whole machine, for want of better: %s",
                     error->message);
          priv->places = iris_places_new_unbound (1, iris_scheduler_choose_n_workers (0, 0));
        }
    }
  if (priv->layout == IRIS_LAYOUT_SHARED)
    priv->deque = IRIS_DEQUE_LOCKED;
  if (priv->deque == IRIS_DEQUE_IDEMPOTENT)
    {
      g_critical ("iris: an idempotent deque may run an item twice; the split one is used");
      priv->deque = IRIS_DEQUE_SPLIT;
    }
  iris_steal_policy_get_rules (priv->steal_policy, &rules);
  iris_scheduler_set_pool (IRIS_SCHEDULER (self), make_pool (priv, &rules));
  if (iris_debug_has (IRIS_DEBUG_PLACES))
    tell_places (priv->places);
}

/* The field of a property that is a choice; NULL: it is an object. */
static gint *
get_choice (IrisPlaceSchedulerPrivate *priv, guint id)
{
  return id == PROP_DEAL     ? (gint *) &priv->deal
         : id == PROP_LAYOUT ? (gint *) &priv->layout
         : id == PROP_DEQUE  ? (gint *) &priv->deque
                             : NULL;
}

static void
iris_place_scheduler_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  IrisPlaceSchedulerPrivate *priv = iris_place_scheduler_get_instance_private (
      IRIS_PLACE_SCHEDULER (object));
  const gint *choice = get_choice (priv, id);

  if (choice != NULL)
    g_value_set_enum (value, *choice);
  else if (id == PROP_PLACES)
    g_value_set_object (value, priv->places);
  else
    g_value_set_object (value, priv->steal_policy);
}

static void
iris_place_scheduler_set_property (GObject *object,
                                   guint id,
                                   const GValue *value,
                                   GParamSpec *pspec)
{
  IrisPlaceSchedulerPrivate *priv = iris_place_scheduler_get_instance_private (
      IRIS_PLACE_SCHEDULER (object));
  gint *choice = get_choice (priv, id);

  if (choice != NULL)
    *choice = g_value_get_enum (value);
  else if (id == PROP_PLACES)
    priv->places = g_value_dup_object (value);
  else
    priv->steal_policy = g_value_dup_object (value);
}

static void
iris_place_scheduler_finalize (GObject *object)
{
  IrisPlaceSchedulerPrivate *priv = iris_place_scheduler_get_instance_private (
      IRIS_PLACE_SCHEDULER (object));

  g_clear_object (&priv->places);
  g_clear_object (&priv->steal_policy);

  G_OBJECT_CLASS (iris_place_scheduler_parent_class)->finalize (object);
}

static void
make_steal_policy (void)
{
  /**
   * IrisPlaceScheduler:steal-policy:
   *
   * From whom idle workers take, how much, and what they refuse; %NULL for an [class@StealPolicy]
   * with its usual properties.
   */
  properties[PROP_STEAL_POLICY] = g_param_spec_object (
      "steal-policy", NULL, NULL, IRIS_TYPE_STEAL_POLICY,
      G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);
}

static void
iris_place_scheduler_class_init (IrisPlaceSchedulerClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->constructed = iris_place_scheduler_constructed;
  object_class->get_property = iris_place_scheduler_get_property;
  object_class->set_property = iris_place_scheduler_set_property;
  object_class->finalize = iris_place_scheduler_finalize;

  /**
   * IrisPlaceScheduler:places:
   *
   * The places; %NULL at construction chooses those of this machine by itself.
   */
  properties[PROP_PLACES] = g_param_spec_object ("places", NULL, NULL, IRIS_TYPE_PLACES,
                                                 G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY
                                                     | G_PARAM_STATIC_STRINGS);

  /**
   * IrisPlaceScheduler:deal:
   *
   * Where a worker's items go that have no hint.
   */
  properties[PROP_DEAL] = g_param_spec_enum ("deal", NULL, NULL, IRIS_TYPE_DEAL, IRIS_DEAL_OWN,
                                             G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY
                                                 | G_PARAM_STATIC_STRINGS);

  /**
   * IrisPlaceScheduler:layout:
   *
   * Where items wait.
   */
  properties[PROP_LAYOUT] = g_param_spec_enum (
      "layout", NULL, NULL, IRIS_TYPE_LAYOUT, IRIS_LAYOUT_WORKERS,
      G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);

  /**
   * IrisPlaceScheduler:deque:
   *
   * The deque of each worker. %IRIS_DEQUE_IDEMPOTENT is refused, because it may give out an item
   * twice; the layout %IRIS_LAYOUT_SHARED always has %IRIS_DEQUE_LOCKED.
   */
  properties[PROP_DEQUE] = g_param_spec_enum (
      "deque", NULL, NULL, IRIS_TYPE_DEQUE_KIND, IRIS_DEQUE_SPLIT,
      G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);

  make_steal_policy ();
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
iris_place_scheduler_init (IrisPlaceScheduler *self)
{
}

/**
 * iris_place_scheduler_new:
 * @places: (nullable): the places, or %NULL for those of this machine
 *
 * Returns: (transfer full): a scheduler of work-stealing places
 */
IrisScheduler *
iris_place_scheduler_new (IrisPlaces *places)
{
  return iris_place_scheduler_new_full (places, IRIS_DEAL_OWN);
}

/**
 * iris_place_scheduler_new_full:
 * @places: (nullable): the places, or %NULL for those of this machine
 * @deal: where a worker's items go that have no hint
 *
 * Makes a scheduler of work-stealing places and says how it deals.
 *
 * Returns: (transfer full): a scheduler
 */
IrisScheduler *
iris_place_scheduler_new_full (IrisPlaces *places, IrisDeal deal)
{
  g_return_val_if_fail (places == NULL || IRIS_IS_PLACES (places), NULL);

  return g_object_new (IRIS_TYPE_PLACE_SCHEDULER, "places", places, "deal", deal, NULL);
}

/**
 * iris_place_scheduler_get_places:
 *
 * Returns: (transfer none): its places
 */
IrisPlaces *
iris_place_scheduler_get_places (IrisPlaceScheduler *self)
{
  IrisPlaceSchedulerPrivate *priv = iris_place_scheduler_get_instance_private (self);

  g_return_val_if_fail (IRIS_IS_PLACE_SCHEDULER (self), NULL);

  return priv->places;
}
