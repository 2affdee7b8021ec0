/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which contenders there are, and which of them the user wants.
 */
#include "tests/bench/peers/bench-iris.h"

#include <string.h>

/* What is ours, and no scheduler. */
static const BenchEngine *const others[] = { &bench_engine_fork_join, &bench_engine_fork_join_for };

static const BenchEngine *const peers[] = {
  &bench_engine_gthreadpool, &bench_engine_gasyncqueue,
#ifdef HAVE_TBB
  &bench_engine_tbb,         &bench_engine_tbb_for,
#endif
#ifdef HAVE_LIBDEX
  &bench_engine_libdex,
#endif
};

BenchContender *
bench_contender_new (const char *name, const BenchEngine *engine, guint index, char **settings)
{
  BenchContender *self = g_new0 (BenchContender, 1);

  self->name = g_strdup (name);
  self->engine = engine;
  self->can = engine->can;
  self->index = index;
  self->settings = g_strdupv (settings);
  self->steals = g_new0 (BenchSteals, 1);

  return self;
}

void
bench_contender_free (BenchContender *self)
{
  g_free (self->steals);
  g_free (self->places);
  g_strfreev (self->settings);
  g_free (self->name);
  g_free (self);
}

static const BenchEngine *
find_engine (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (peers); i++)
    if (g_str_equal (peers[i]->name, name))
      return peers[i];
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (g_str_equal (others[i]->name, name))
      return others[i];

  return NULL;
}

static BenchContender *
parse (const char *name, GError **error)
{
  const BenchEngine *engine = find_engine (name);

  return engine != NULL ? bench_contender_new (name, engine, 0, NULL)
                        : bench_iris_parse (name, error);
}

gboolean
bench_contenders_check (const BenchOptions *options, GError **error)
{
  for (guint i = 0; options->only != NULL && options->only[i] != NULL; i++)
    {
      BenchContender *contender = parse (options->only[i], error);

      if (contender == NULL)
        return FALSE;
      bench_contender_free (contender);
    }

  return TRUE;
}

static void
add_all (GPtrArray *contenders, const BenchOptions *options)
{
  for (guint i = 0; i < bench_iris_n_schedulers (); i++)
    bench_iris_add_variants (contenders, options, i);
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    g_ptr_array_add (contenders, bench_contender_new (others[i]->name, others[i], 0, NULL));
  for (guint i = 0; options->peers && i < G_N_ELEMENTS (peers); i++)
    g_ptr_array_add (contenders, bench_contender_new (peers[i]->name, peers[i], 0, NULL));
}

GPtrArray *
bench_contenders (const BenchOptions *options, guint can)
{
  GPtrArray *contenders = g_ptr_array_new_with_free_func ((GDestroyNotify) bench_contender_free);

  if (options->only == NULL)
    add_all (contenders, options);
  /* The names were checked before. */
  for (guint i = 0; options->only != NULL && options->only[i] != NULL; i++)
    g_ptr_array_add (contenders, parse (options->only[i], NULL));
  for (guint i = contenders->len; i > 0; i--)
    {
      BenchContender *contender = g_ptr_array_index (contenders, i - 1);

      contender->places = g_strdup (options->places);
      if ((contender->can & can) != can)
        g_ptr_array_remove_index (contenders, i - 1);
    }

  return contenders;
}

void
bench_contenders_add (BenchResult *result,
                      const BenchOptions *options,
                      guint can,
                      gboolean (*takes) (const BenchContender *contender),
                      const BenchCase *what)
{
  g_autoptr (GPtrArray) contenders = bench_contenders (options, can);

  while (contenders->len > 0)
    {
      BenchContender *contender = bench_result_own (result, g_ptr_array_steal_index (contenders, 0),
                                                    (GDestroyNotify) bench_contender_free);

      if (takes == NULL || takes (contender))
        bench_result_add (result, what, contender->name, contender->engine->kind, contender);
    }
}

void
bench_contenders_add_scaled (BenchResult *result,
                             const BenchOptions *options,
                             guint can,
                             const BenchCase *what,
                             BenchRelation alone,
                             BenchRelation together)
{
  BenchCase one = *what;

  for (guint workers = 1; workers <= options->workers; workers += MAX (options->workers - 1, 1))
    {
      g_autofree char *load = g_strdup_printf ("%u worker%s", workers, workers == 1 ? "" : "s");

      one.load = load;
      one.workers = workers;
      one.relation = workers == 1 ? alone : together;
      bench_contenders_add (result, options, can, NULL, &one);
    }
}

gpointer
bench_contender_open (const BenchContender *self, guint workers, BenchFunc func, GError **error)
{
  gpointer handle = self->engine->open (self, workers, func, error);

  if (handle == NULL || bench_wait_asleep (self->engine->is_idle, handle, error))
    return handle;
  self->engine->close (handle);

  return NULL;
}

char *
bench_contenders_describe (void)
{
  GString *text = g_string_new ("Contenders:\n");
  BenchOptions every = { .variants = BENCH_VARIANTS_ONE, .peers = FALSE };
  g_autoptr (GPtrArray) ours = bench_contenders (&every, 0);

  for (guint i = 0; i < ours->len; i++)
    g_string_append_printf (text, "  %s\n",
                            ((const BenchContender *) g_ptr_array_index (ours, i))->name);
  for (guint i = 0; i < G_N_ELEMENTS (peers); i++)
    g_string_append_printf (text, "  %-14s %s\n", peers[i]->name, peers[i]->summary);

  return g_string_free (text, FALSE);
}
