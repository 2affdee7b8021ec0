/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The steal policy as an object, and as words. What workers do by it is in
 * iris-place-queues-refuse.c.
 */
#include "iris/sched/steal/iris-steal-rules-private.h"

#include <string.h>

enum
{
  PROP_ORDER = 1,
  PROP_AMOUNT,
  PROP_CAP,
  PROP_REFUSE,
  PROP_MOVE_COST,
  PROP_BANDWIDTH,
  PROP_MAX_DELAY,
  N_PROPS
};

/**
 * IrisStealPolicy:
 *
 * From whom an idle worker of [class@PlaceScheduler] takes work, how much of it at once, and when
 * it leaves the work where it is.
 *
 * A policy does not change once it is made, and any number of schedulers may be given the same one;
 * each copies it. Any thread may call any of its functions. Strict items never move, whatever the
 * policy.
 *
 * A steal is counter-productive if the victim's place would have run the items before they are any
 * good to the thief (LASSI, 2010, names this as an open question). With
 * %IRIS_STEAL_REFUSAL_COSTLY an idle worker weighs two times:
 *
 * - how long the backlog of the place lasts: what waits there, times the mean run time of a sample
 *   of the items that its workers ran, divided by its workers that are awake;
 * - what the move costs: [property@StealPolicy:move-cost] for each unit of distance, and the time
 *   to read the declared footprint of an item there (iris_item_set_footprint()) at
 *   [property@StealPolicy:bandwidth], which is less by the factor that the firmware gives for other
 *   memory nodes.
 *
 * If the former is shorter, the worker waits instead, for as long as the move would cost. If the
 * place has not run what it had by then, the worker takes after all: so it never loses more than
 * twice what it would have, had it known (the "ski rental" argument; A. Karlin et al., "Competitive
 * Snoopy Caching", 1988). And whatever happens, no place is refused for longer than
 * [property@StealPolicy:max-delay] at a stretch. Waiting, it sleeps.
 */
struct _IrisStealPolicy
{
  GObject parent_instance;

  guint values[N_PROPS]; /* enumerations and numbers, by property */
};

/**
 * iris_steal_policy_error_quark:
 *
 * Returns: the domain of the errors of steal policies, whose codes are those of
 *   [error@StealPolicyError]
 */
/* The formatter would put spaces into the name. */
/* clang-format off */
G_DEFINE_QUARK (iris-steal-policy-error-quark, iris_steal_policy_error)
/* clang-format on */

/* Without a type of its own the codes would not be known to belong to the domain. */
G_DEFINE_ENUM_TYPE (IrisStealPolicyError,
                    iris_steal_policy_error,
                    G_DEFINE_ENUM_VALUE (IRIS_STEAL_POLICY_ERROR_UNKNOWN, "unknown"),
                    G_DEFINE_ENUM_VALUE (IRIS_STEAL_POLICY_ERROR_VALUE, "value"))

G_DEFINE_ENUM_TYPE (IrisStealOrder,
                    iris_steal_order,
                    G_DEFINE_ENUM_VALUE (IRIS_STEAL_ORDER_DISTANCE, "distance"),
                    G_DEFINE_ENUM_VALUE (IRIS_STEAL_ORDER_RANDOM, "random"))
G_DEFINE_ENUM_TYPE (IrisStealAmount,
                    iris_steal_amount,
                    G_DEFINE_ENUM_VALUE (IRIS_STEAL_AMOUNT_CAPPED, "capped"),
                    G_DEFINE_ENUM_VALUE (IRIS_STEAL_AMOUNT_HALF, "half"),
                    G_DEFINE_ENUM_VALUE (IRIS_STEAL_AMOUNT_ONE, "one"))
G_DEFINE_ENUM_TYPE (IrisStealRefusal,
                    iris_steal_refusal,
                    G_DEFINE_ENUM_VALUE (IRIS_STEAL_REFUSAL_COSTLY, "costly"),
                    G_DEFINE_ENUM_VALUE (IRIS_STEAL_REFUSAL_NOTHING, "nothing"))
G_DEFINE_ENUM_TYPE (IrisStealVerdict,
                    iris_steal_verdict,
                    G_DEFINE_ENUM_VALUE (IRIS_STEAL_VERDICT_TAKEN, "taken"),
                    G_DEFINE_ENUM_VALUE (IRIS_STEAL_VERDICT_EMPTY, "empty"),
                    G_DEFINE_ENUM_VALUE (IRIS_STEAL_VERDICT_LOST, "lost"),
                    G_DEFINE_ENUM_VALUE (IRIS_STEAL_VERDICT_BACKLOG, "backlog"),
                    G_DEFINE_ENUM_VALUE (IRIS_STEAL_VERDICT_SIZE, "size"),
                    G_DEFINE_ENUM_VALUE (IRIS_STEAL_VERDICT_DISTANCE, "distance"),
                    G_DEFINE_ENUM_VALUE (IRIS_STEAL_VERDICT_APART, "apart"))

G_DEFINE_FINAL_TYPE (IrisStealPolicy, iris_steal_policy, G_TYPE_OBJECT)

static GParamSpec *properties[N_PROPS];

static void
iris_steal_policy_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  const guint *values = IRIS_STEAL_POLICY (object)->values;

  if (G_IS_PARAM_SPEC_ENUM (pspec))
    g_value_set_enum (value, (gint) values[id]);
  else
    g_value_set_uint (value, values[id]);
}

static void
iris_steal_policy_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  IRIS_STEAL_POLICY (object)->values[id] = G_IS_PARAM_SPEC_ENUM (pspec)
                                               ? (guint) g_value_get_enum (value)
                                               : g_value_get_uint (value);
}

static const GParamFlags property_flags = G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY
                                          | G_PARAM_STATIC_STRINGS;

static void
make_choices (void)
{
  /**
   * IrisStealPolicy:order:
   *
   * The order in which a worker looks at other places.
   */
  properties[PROP_ORDER] = g_param_spec_enum ("order", NULL, NULL, IRIS_TYPE_STEAL_ORDER,
                                              IRIS_STEAL_ORDER_DISTANCE, property_flags);
  /**
   * IrisStealPolicy:amount:
   *
   * How many items one steal takes.
   */
  properties[PROP_AMOUNT] = g_param_spec_enum ("amount", NULL, NULL, IRIS_TYPE_STEAL_AMOUNT,
                                               IRIS_STEAL_AMOUNT_CAPPED, property_flags);
  /**
   * IrisStealPolicy:refuse:
   *
   * What an idle worker refuses to take from another place.
   */
  properties[PROP_REFUSE] = g_param_spec_enum ("refuse", NULL, NULL, IRIS_TYPE_STEAL_REFUSAL,
                                               IRIS_STEAL_REFUSAL_COSTLY, property_flags);
}

static void
make_numbers (void)
{
  /**
   * IrisStealPolicy:cap:
   *
   * Most items of one steal, with %IRIS_STEAL_AMOUNT_CAPPED.
   */
  properties[PROP_CAP] = g_param_spec_uint ("cap", NULL, NULL, 1, G_MAXINT, IRIS_STEAL_DEFAULT_CAP,
                                            property_flags);
  /**
   * IrisStealPolicy:move-cost:
   *
   * What a steal costs, in nanoseconds for each unit of iris_places_get_distance(). The default is
   * what some five cache lines cost between neighbours, and ten times as much between sockets,
   * whose distance is some twenty.
   */
  properties[PROP_MOVE_COST] = g_param_spec_uint ("move-cost", NULL, NULL, 0, G_MAXINT,
                                                  IRIS_STEAL_DEFAULT_MOVE_COST, property_flags);
  /**
   * IrisStealPolicy:bandwidth:
   *
   * How fast a worker reads memory that is near, in bytes a microsecond (that is, in MB/s). It says
   * what the declared footprint of an item costs that moves.
   */
  properties[PROP_BANDWIDTH] = g_param_spec_uint ("bandwidth", NULL, NULL, 1, G_MAXINT,
                                                  IRIS_STEAL_DEFAULT_BANDWIDTH, property_flags);
  /**
   * IrisStealPolicy:max-delay:
   *
   * For how long a place is refused at a stretch, at most, in microseconds.
   */
  properties[PROP_MAX_DELAY] = g_param_spec_uint ("max-delay", NULL, NULL, 0, G_MAXINT,
                                                  IRIS_STEAL_DEFAULT_MAX_DELAY, property_flags);
}

static void
iris_steal_policy_class_init (IrisStealPolicyClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->get_property = iris_steal_policy_get_property;
  object_class->set_property = iris_steal_policy_set_property;

  make_choices ();
  make_numbers ();
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
iris_steal_policy_init (IrisStealPolicy *self)
{
}

/* Those of @self, or the usual ones if it is NULL. */
void
iris_steal_policy_get_rules (IrisStealPolicy *self, IrisStealRules *rules)
{
  *rules = (IrisStealRules) IRIS_STEAL_RULES_DEFAULT;
  if (self == NULL)
    return;
  rules->order = (IrisStealOrder) self->values[PROP_ORDER];
  rules->amount = (IrisStealAmount) self->values[PROP_AMOUNT];
  rules->cap = self->values[PROP_CAP];
  rules->refuses = self->values[PROP_REFUSE] == IRIS_STEAL_REFUSAL_COSTLY;
  rules->move_ns = self->values[PROP_MOVE_COST];
  rules->bandwidth = self->values[PROP_BANDWIDTH];
  rules->max_delay_ns = self->values[PROP_MAX_DELAY] * (guint64) 1000;
}

/**
 * iris_steal_policy_new:
 * @order: at which places to look first
 * @amount: how many items one steal takes
 * @cap: most items of one steal, with %IRIS_STEAL_AMOUNT_CAPPED; 0 for %IRIS_STEAL_DEFAULT_CAP
 *
 * Makes a policy that refuses what is not worth its move. Other properties are set by
 * g_object_new().
 *
 * Returns: (transfer full): a policy
 */
IrisStealPolicy *
iris_steal_policy_new (IrisStealOrder order, IrisStealAmount amount, guint cap)
{
  g_return_val_if_fail (cap <= G_MAXINT, NULL);

  return g_object_new (IRIS_TYPE_STEAL_POLICY, "order", order, "amount", amount, "cap",
                       cap != 0 ? cap : IRIS_STEAL_DEFAULT_CAP, NULL);
}

/* One word: the name of a value of an enumeration, or NAME=NUMBER. */
static gboolean
set_word (IrisStealPolicy *self, const char *word, GError **error)
{
  const char *equals = strchr (word, '=');
  g_autofree char *key = equals != NULL ? g_strndup (word, (gsize) (equals - word)) : NULL;
  guint64 number;

  for (guint i = 1; i < N_PROPS; i++)
    {
      GParamSpec *spec = properties[i];

      if (key == NULL && G_IS_PARAM_SPEC_ENUM (spec))
        {
          GEnumClass *klass = G_PARAM_SPEC_ENUM (spec)->enum_class;
          const GEnumValue *found = g_enum_get_value_by_nick (klass, word);

          if (found == NULL)
            continue;
          self->values[i] = (guint) found->value;
          return TRUE;
        }
      if (key == NULL || !G_IS_PARAM_SPEC_UINT (spec) || strcmp (key, spec->name) != 0)
        continue;
      if (!g_ascii_string_to_unsigned (equals + 1, 10, G_PARAM_SPEC_UINT (spec)->minimum,
                                       G_PARAM_SPEC_UINT (spec)->maximum, &number, NULL))
        {
          g_set_error (error, IRIS_STEAL_POLICY_ERROR, IRIS_STEAL_POLICY_ERROR_VALUE,
                       "“%s” of a steal policy must be a number from %u to %u, not “%s”", key,
                       G_PARAM_SPEC_UINT (spec)->minimum, G_PARAM_SPEC_UINT (spec)->maximum,
                       equals + 1);
          return FALSE;
        }
      self->values[i] = (guint) number;
      return TRUE;
    }
  g_set_error (error, IRIS_STEAL_POLICY_ERROR, IRIS_STEAL_POLICY_ERROR_UNKNOWN,
               "a steal policy knows no “%s”: join words of distance, random, capped, half, one, "
               "costly, nothing, cap=N, move-cost=NS, bandwidth=MB/S and max-delay=US by “+”",
               word);

  return FALSE;
}

/**
 * iris_steal_policy_parse:
 * @words: words joined by `+`: `distance` or `random`; `capped`, `half` or `one`; `costly` or
 *   `nothing`, for what is refused; `cap=N`, `move-cost=N`, `bandwidth=N` and `max-delay=N`, in the
 *   units of the properties. Words left out have their defaults; of two contradictory words the
 * last one counts.
 *
 * Makes a policy of what a user says; nothing at all is the usual one.
 *
 * Returns: (transfer full): a policy, or %NULL with %IRIS_STEAL_POLICY_ERROR_UNKNOWN or
 *   %IRIS_STEAL_POLICY_ERROR_VALUE
 */
IrisStealPolicy *
iris_steal_policy_parse (const char *words, GError **error)
{
  g_autoptr (IrisStealPolicy) self = NULL;
  g_auto (GStrv) list = NULL;

  g_return_val_if_fail (words != NULL, NULL);

  self = g_object_new (IRIS_TYPE_STEAL_POLICY, NULL);
  list = g_strsplit (words, "+", -1);
  for (guint i = 0; list[i] != NULL; i++)
    if (!set_word (self, list[i], error))
      return NULL;

  return g_steal_pointer (&self);
}
