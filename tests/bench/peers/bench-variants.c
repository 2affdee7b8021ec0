/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The schedulers and their settings.
 *
 * What can be set is asked of the types: every enumeration that a scheduler takes at construction
 * is a choice to compare. So a property that the library gains takes part without a change here.
 */
#include "tests/bench/peers/bench-iris.h"

#include <string.h>

#define REFUSED "idempotent"

/* The steal policy is an object; a setting of this name gives its words. Policies are not run
 * through by themselves. */
#define STEAL "steal="

/* Nor is a trace a property: this setting has one from the beginning on. */
#define TRACE "trace=on"

typedef struct
{
  const char *name;
  GType (*type) (void);          /* whose properties are choices; NULL: none */
  const char *const *only_props; /* NULL: all of them */
} Scheduler;

/* Where an item without a hint goes is no question when there is one place. */
static const char *const own_props[] = { "deque", NULL };

static const Scheduler schedulers[] = {
  { "default", NULL, NULL },
  { "lock-free", NULL, NULL },
  { "work-stealing", iris_wsscheduler_get_type, own_props },
  { "places", iris_place_scheduler_get_type, NULL },
  { "main-context", NULL, NULL },
};

guint
bench_iris_n_schedulers (void)
{
  return G_N_ELEMENTS (schedulers);
}

const char *
bench_iris_scheduler_name (guint index)
{
  return schedulers[index].name;
}

gboolean
bench_iris_is_main_context (guint index)
{
  return g_str_equal (schedulers[index].name, "main-context");
}

/* A contender; one thread alone is no match where the number of threads is the question. */
static BenchContender *
iris_contender_new (const char *name, guint index, char **settings)
{
  BenchContender *self = bench_contender_new (name, &bench_engine_iris, index, settings);

  if (bench_iris_is_main_context (index))
    /* Nor is it one where items make items: it runs them in order, so a million of them are alive
     * at once, and the contenders after it inherit a free list that is scattered over all that
     * memory (1 to 2 ns an item for them). */
    self->can &= ~(guint) (BENCH_CAN_PHASES | BENCH_CAN_FIB | BENCH_CAN_INSIDE);
  /* Deques; but what is dealt goes through inboxes. */
  self->newest_first = schedulers[index].type != NULL
                       && !g_strv_contains ((const char *const *) settings, "deal=round-robin");

  return self;
}

/* The choices that a scheduler offers: (element-type GParamSpecEnum). */
static GPtrArray *
find_choices (const Scheduler *scheduler)
{
  GPtrArray *choices = g_ptr_array_new_with_free_func ((GDestroyNotify) g_param_spec_unref);
  g_autoptr (GTypeClass) klass = NULL;
  g_autofree GParamSpec **specs = NULL;
  guint n = 0;

  if (scheduler->type == NULL)
    return choices;
  klass = g_type_class_ref (scheduler->type ());
  specs = g_object_class_list_properties (G_OBJECT_CLASS (klass), &n);
  for (guint i = 0; i < n; i++)
    if (G_IS_PARAM_SPEC_ENUM (specs[i]) && (specs[i]->flags & G_PARAM_CONSTRUCT_ONLY) != 0
        && (scheduler->only_props == NULL
            || g_strv_contains (scheduler->only_props, specs[i]->name)))
      g_ptr_array_add (choices, g_param_spec_ref (specs[i]));

  return choices;
}

/* A contender for a choice of values, of which those that are usual go without saying. */
static BenchContender *
contender_for (guint index, GPtrArray *choices, const guint *values)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_auto (GStrv) settings = NULL;
  g_autofree char *list = NULL, *name = NULL;

  for (guint i = 0; i < choices->len; i++)
    {
      const GParamSpecEnum *choice = g_ptr_array_index (choices, i);
      const GEnumValue *value = &choice->enum_class->values[values[i]];

      if (value->value != choice->default_value)
        {
          g_autofree char *setting = g_strdup_printf ("%s=%s", choice->parent_instance.name,
                                                      value->value_nick);

          g_strv_builder_add (builder, setting);
        }
    }
  settings = g_strv_builder_end (builder);
  list = g_strjoinv (",", settings);
  name = g_strconcat (schedulers[index].name, settings[0] != NULL ? ":" : "", list, NULL);

  return iris_contender_new (name, index, settings);
}

/* The only value that the schedulers refuse: their items run once. */
static gboolean
is_refused (GPtrArray *choices, const guint *values)
{
  for (guint i = 0; i < choices->len; i++)
    {
      const GParamSpecEnum *choice = g_ptr_array_index (choices, i);

      if (g_str_equal (choice->enum_class->values[values[i]].value_nick, REFUSED))
        return TRUE;
    }

  return FALSE;
}

static guint
count_deviations (GPtrArray *choices, const guint *values)
{
  guint n = 0;

  for (guint i = 0; i < choices->len; i++)
    {
      const GParamSpecEnum *choice = g_ptr_array_index (choices, i);

      n += choice->enum_class->values[values[i]].value != choice->default_value;
    }

  return n;
}

/* Counts through all combinations, as a number with a digit for each choice. */
static gboolean
next_combination (GPtrArray *choices, guint *values)
{
  for (guint i = 0; i < choices->len; i++)
    {
      const GParamSpecEnum *choice = g_ptr_array_index (choices, i);

      if (++values[i] < choice->enum_class->n_values)
        return TRUE;
      values[i] = 0;
    }

  return FALSE;
}

void
bench_iris_add_variants (GPtrArray *contenders, const BenchOptions *options, guint index)
{
  static const guint limits[] = { 0, 1, G_MAXUINT };
  g_autoptr (GPtrArray) choices = find_choices (&schedulers[index]);
  g_autofree guint *values = g_new0 (guint, choices->len + 1);
  guint first = contenders->len;

  do
    {
      guint n = count_deviations (choices, values);
      BenchContender *contender;

      if (n > limits[options->variants] || is_refused (choices, values))
        continue;
      contender = contender_for (index, choices, values);
      /* The usual one comes first, whatever its values' numbers are. */
      g_ptr_array_insert (contenders, n == 0 ? (gint) first : -1, contender);
    }
  while (next_combination (choices, values));
}

static gboolean
check_steal (const char *words, GError **error)
{
  g_autoptr (GError) local = NULL;
  g_autoptr (IrisStealPolicy) policy = iris_steal_policy_parse (words, &local);

  if (policy != NULL)
    return TRUE;
  g_set_error_literal (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT, local->message);

  return FALSE;
}

static gboolean
check_setting (guint index, const char *setting, GError **error)
{
  g_autoptr (GPtrArray) choices = find_choices (&schedulers[index]);
  const char *equals = strchr (setting, '=');
  gsize length = equals != NULL ? (gsize) (equals - setting) : 0;

  if (schedulers[index].type != NULL && g_str_has_prefix (setting, STEAL))
    return check_steal (equals + 1, error);
  if (schedulers[index].type != NULL && g_str_equal (setting, TRACE))
    return TRUE;
  for (guint i = 0; equals != NULL && i < choices->len; i++)
    {
      GParamSpecEnum *choice = g_ptr_array_index (choices, i);
      const char *name = choice->parent_instance.name;

      if (strlen (name) == length && strncmp (name, setting, length) == 0
          && g_enum_get_value_by_nick (choice->enum_class, equals + 1) != NULL
          && !g_str_equal (equals + 1, REFUSED))
        return TRUE;
    }
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
               "%s has no setting “%s”; see the contenders in iris-bench --help",
               schedulers[index].name, setting);

  return FALSE;
}

BenchContender *
bench_iris_parse (const char *name, GError **error)
{
  const char *colon = strchr (name, ':');
  g_autofree char *base = colon != NULL ? g_strndup (name, colon - name) : g_strdup (name);
  g_auto (GStrv) settings = g_strsplit (colon != NULL ? colon + 1 : "", ",", -1);

  for (guint i = 0; i < G_N_ELEMENTS (schedulers); i++)
    if (g_str_equal (schedulers[i].name, base))
      {
        for (guint j = 0; settings[j] != NULL; j++)
          if (!check_setting (i, settings[j], error))
            return NULL;

        return iris_contender_new (name, i, settings);
      }
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
               "there is no contender “%s”; see iris-bench --help", name);

  return NULL;
}

IrisPlaces *
bench_iris_places_new (const char *places, guint workers, IrisBind bind, GError **error)
{
  guint64 n = 0;

  /* The library would take a number for a list of one processor. */
  if (places == NULL || !g_ascii_string_to_unsigned (places, 10, 0, G_MAXUINT, &n, NULL))
    return iris_places_new_full (NULL, places, workers, bind, error);
  if (n > 0 && workers % n == 0)
    return iris_places_new_unbound ((guint) n, workers / (guint) n);
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_ARGUMENT,
               "--places %s: %u workers cannot be divided into so many places; choose a number "
               "that divides them, or %s-%s for the processor of that number",
               places, workers, places, places);

  return NULL;
}

/* What was checked before: the name of a property and its value. */
static char *
parse_setting (GTypeClass *klass, const char *setting, GValue *value)
{
  const char *equals = strchr (setting, '=');
  g_autofree char *name = g_strndup (setting, (gsize) (equals - setting));
  GParamSpec *spec;

  if (g_str_has_prefix (setting, STEAL))
    {
      g_value_init (value, IRIS_TYPE_STEAL_POLICY);
      g_value_take_object (value, iris_steal_policy_parse (equals + 1, NULL));
      return g_strdup ("steal-policy");
    }
  spec = g_object_class_find_property (G_OBJECT_CLASS (klass), name);
  g_value_init (value, spec->value_type);
  g_value_set_enum (
      value, g_enum_get_value_by_nick (G_PARAM_SPEC_ENUM (spec)->enum_class, equals + 1)->value);

  return g_steal_pointer (&name);
}

/* The scheduler's type, with its places and the settings; a value's nick becomes its number. */
static IrisScheduler *
scheduler_with_settings (GType type, IrisPlaces *places, char **settings)
{
  g_autoptr (GTypeClass) klass = g_type_class_ref (type);
  guint n_settings = g_strv_length (settings), n = 0;
  g_autofree const char **names = g_new0 (const char *, n_settings + 1);
  g_autofree GValue *values = g_new0 (GValue, n_settings + 1);
  g_autoptr (GPtrArray) owned = g_ptr_array_new_with_free_func (g_free);
  IrisScheduler *scheduler;

  for (guint i = 0; i < n_settings; i++)
    if (!g_str_equal (settings[i], TRACE))
      {
        names[n] = parse_setting (klass, settings[i], &values[n]);
        g_ptr_array_add (owned, (gpointer) names[n++]);
      }
  names[n] = "places";
  g_value_init (&values[n], IRIS_TYPE_PLACES);
  g_value_set_object (&values[n], places);
  scheduler = (IrisScheduler *) g_object_new_with_properties (type, n + 1, names, values);
  for (guint i = 0; i <= n; i++)
    g_value_unset (&values[i]);
  if (g_strv_contains ((const char *const *) settings, TRACE))
    iris_scheduler_trace_start (scheduler, 0, NULL);

  return scheduler;
}

static IrisScheduler *
make (const BenchContender *self, guint workers, GError **error)
{
  GType (*type) (void) = schedulers[self->index].type;
  g_autoptr (IrisPlaces) places = NULL;

  if (self->index == 0)
    return iris_scheduler_new_full (workers, workers);
  if (self->index == 1)
    return iris_lfscheduler_new_full (workers, workers);
  if (type == iris_place_scheduler_get_type)
    places = bench_iris_places_new (self->places, workers, IRIS_BIND_PLACE, error);
  else
    places = iris_places_new_unbound (1, workers);

  return places != NULL ? scheduler_with_settings (type (), places, self->settings) : NULL;
}

IrisScheduler *
bench_iris_open (const BenchContender *self, guint workers, GError **error)
{
  g_autoptr (IrisScheduler) scheduler = make (self, workers, error);

  return scheduler != NULL && bench_iris_start (scheduler, error) ? g_steal_pointer (&scheduler)
                                                                  : NULL;
}
