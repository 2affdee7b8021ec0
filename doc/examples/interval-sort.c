/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Merge sort with intervals: leaves sort their parts, each at a place; a merger comes behind the
 * two that it merges, at the place of the first, where half of its data is in the cache.
 *
 * Called with a file name, it writes a picture of the graph there, for Graphviz.
 */
#include <iris/iris.h>
#include <stdlib.h>
#include <string.h>

#define N_NUMBERS (1 << 18)
#define N_LEAVES  16

typedef struct
{
  int *numbers;
  int *scratch;
  gsize length;
} Part;

static int
compare (const void *a, const void *b)
{
  int x = *(const int *) a, y = *(const int *) b;

  return (x > y) - (x < y);
}

static gboolean
sort_leaf (IrisInterval *interval, gpointer data, GError **error)
{
  Part *part = data;

  qsort (part->numbers, part->length, sizeof *part->numbers, compare);

  return TRUE;
}

/* Both halves are sorted: the edges say so. */
static gboolean
merge_halves (IrisInterval *interval, gpointer data, GError **error)
{
  Part *part = data;
  gsize half = part->length / 2, left = 0, right = half;

  for (gsize i = 0; i < part->length; i++)
    if (right == part->length || (left < half && part->numbers[left] <= part->numbers[right]))
      part->scratch[i] = part->numbers[left++];
    else
      part->scratch[i] = part->numbers[right++];
  memcpy (part->numbers, part->scratch, part->length * sizeof *part->numbers);

  return TRUE;
}

/* The interval that sorts @length numbers, scheduled; leaves are numbered by @leaf. */
static IrisInterval *
sort (IrisIntervalGraph *graph, Part part, guint n_leaves, guint leaf, GPtrArray *all)
{
  guint n_places = iris_scheduler_get_n_places (iris_interval_graph_get_scheduler (graph));
  g_autofree char *name = g_strdup_printf ("%s %u+%u", n_leaves == 1 ? "sort" : "merge", leaf,
                                           n_leaves);
  IrisInterval *self = iris_interval_new (graph, name, n_leaves == 1 ? sort_leaf : merge_halves,
                                          g_memdup2 (&part, sizeof part), g_free);

  iris_interval_set_place (self, (gint) (leaf * n_places / N_LEAVES), IRIS_ITEM_NONE);
  if (n_leaves > 1)
    {
      Part first = { part.numbers, part.scratch, part.length / 2 };
      Part second = { part.numbers + part.length / 2, part.scratch + part.length / 2,
                      part.length - part.length / 2 };
      g_autoptr (GError) error = NULL;

      if (!iris_interval_add_after (self, sort (graph, first, n_leaves / 2, leaf, all), &error)
          || !iris_interval_add_after (
              self, sort (graph, second, n_leaves / 2, leaf + n_leaves / 2, all), &error))
        g_error ("%s", error->message);
    }
  iris_interval_schedule (self);
  g_ptr_array_add (all, self);

  return self;
}

int
main (int argc, char **argv)
{
  g_autoptr (IrisScheduler) scheduler = iris_place_scheduler_new (NULL);
  g_autoptr (IrisIntervalGraph) graph = iris_interval_graph_new (scheduler);
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func ((GDestroyNotify) iris_interval_unref);
  g_autofree int *numbers = g_new (int, N_NUMBERS);
  g_autofree int *scratch = g_new (int, N_NUMBERS);
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < N_NUMBERS; i++)
    numbers[i] = (int) g_rand_int (random);

  if (!iris_interval_wait (sort (graph, (Part){ numbers, scratch, N_NUMBERS }, N_LEAVES, 0, all),
                           &error))
    g_error ("%s", error->message);

  for (guint i = 1; i < N_NUMBERS; i++)
    if (numbers[i - 1] > numbers[i])
      g_error ("number %u is out of order", i);
  g_print ("%u numbers sorted by %u intervals\n", N_NUMBERS, all->len);

  if (argc > 1)
    {
      g_autofree char *dot = iris_interval_graph_to_dot (graph);

      if (!g_file_set_contents (argv[1], dot, -1, &error))
        g_error ("%s", error->message);
    }
}
