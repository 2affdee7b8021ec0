/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How far places are from each other.
 *
 * Two measures are joined. Places that share a memory node are as far apart as the smallest object
 * that holds both is large: 1 if it is of the smallest kind that holds two places at all, 2 for the
 * next kind, and so on. Places of different memory nodes are as far apart as the latency matrix
 * says, if hwloc has a complete one; the firmware's values are 10 for local memory and more for the
 * rest, so that these numbers lie above the others, and where they do not, all are raised until
 * they do. Without a matrix the first measure does for all.
 *
 * A full table of 8192 places would take 256 MiB. Kept is, per place, the chain of objects that
 * hold it, and a table of memory nodes; a distance is then found in as many steps as the tree is
 * deep.
 */
#include <iris/place/iris-distance-private.h>

#define NO_OBJECT (-1)

struct _IrisDistances
{
  guint n_places;
  guint n_depths;
  int *chains;     /* [place][depth]: the object of that depth that holds the place */
  guint *by_depth; /* distance of two places whose nearest common object has that depth */
  guint *class_of; /* [place]: places of one class have the same memory nodes */
  guint n_classes;
  guint *between; /* [class][class]: distance, 0: share memory; NULL: there is no matrix */
};

/* A latency matrix of memory nodes, with the row of every node. */
typedef struct
{
  hwloc_topology_t hwloc;
  struct hwloc_distances_s *distances;
  GHashTable *rows; /* os index + 1 → row + 1 */
} Matrix;

static int
chain_at (const IrisDistances *self, guint place, guint depth)
{
  return self->chains[place * self->n_depths + depth];
}

/* Depth of the nearest object that holds both; the machine, depth 0, holds all. */
static guint
common_depth (const IrisDistances *self, guint a, guint b)
{
  for (guint depth = self->n_depths - 1; depth > 0; depth--)
    if (chain_at (self, a, depth) != NO_OBJECT
        && chain_at (self, a, depth) == chain_at (self, b, depth))
      return depth;
  return 0;
}

static void
fill_chains (IrisDistances *self, hwloc_topology_t hwloc, GPtrArray *cpusets)
{
  for (guint i = 0; i < self->n_places * self->n_depths; i++)
    self->chains[i] = NO_OBJECT;

  for (guint i = 0; i < self->n_places; i++)
    for (hwloc_obj_t object = hwloc_get_obj_covering_cpuset (hwloc, g_ptr_array_index (cpusets, i));
         object != NULL; object = object->parent)
      self->chains[i * self->n_depths + (guint) object->depth] = (int) object->logical_index;
}

/* Whether some two places have their nearest common object at @depth. It is enough to compare every
 * place of an object with the first one of it: if all of them met that one further down, they met
 * each other there. */
static gboolean
places_meet_at (const IrisDistances *self, hwloc_topology_t hwloc, guint depth)
{
  guint n_objects = hwloc_get_nbobjs_by_depth (hwloc, (int) depth);
  g_autofree guint *first = g_new0 (guint, n_objects); /* place + 1 */

  for (guint i = 0; i < self->n_places; i++)
    {
      int object = chain_at (self, i, depth);

      if (object == NO_OBJECT)
        continue;
      if (first[object] == 0)
        first[object] = i + 1;
      else if (common_depth (self, first[object] - 1, i) == depth)
        return TRUE;
    }
  return FALSE;
}

static void
rank_depths (IrisDistances *self, hwloc_topology_t hwloc)
{
  guint rank = 0;

  for (guint depth = self->n_depths; depth-- > 0;)
    {
      if (places_meet_at (self, hwloc, depth))
        rank++;
      self->by_depth[depth] = rank;
    }
}

static gboolean
matrix_open (Matrix *matrix, hwloc_topology_t hwloc)
{
  unsigned n = 1;

  if (hwloc_distances_get_by_type (hwloc, HWLOC_OBJ_NUMANODE, &n, &matrix->distances,
                                   HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0)
          < 0
      || n == 0)
    return FALSE;

  matrix->hwloc = hwloc;
  matrix->rows = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < matrix->distances->nbobjs; i++)
    g_hash_table_insert (matrix->rows, GUINT_TO_POINTER (matrix->distances->objs[i]->os_index + 1),
                         GUINT_TO_POINTER (i + 1));
  return TRUE;
}

static void
matrix_close (Matrix *matrix)
{
  hwloc_distances_release (matrix->hwloc, matrix->distances);
  g_hash_table_unref (matrix->rows);
}

/* Latency between two memory nodes, the larger of both ways; 0 if it is not known. */
static guint64
matrix_get (const Matrix *matrix, guint a, guint b)
{
  guint row = GPOINTER_TO_UINT (g_hash_table_lookup (matrix->rows, GUINT_TO_POINTER (a + 1)));
  guint column = GPOINTER_TO_UINT (g_hash_table_lookup (matrix->rows, GUINT_TO_POINTER (b + 1)));
  const guint64 *values = matrix->distances->values;
  guint n = matrix->distances->nbobjs;

  if (row == 0 || column == 0)
    return 0;
  return MAX (values[(row - 1) * n + column - 1], values[(column - 1) * n + row - 1]);
}

/* Latency between two sets of nodes: that of the two nearest. 0 if one is not known. */
static guint
matrix_get_sets (const Matrix *matrix, hwloc_const_bitmap_t a, hwloc_const_bitmap_t b)
{
  guint64 nearest = IRIS_DISTANCE_MAX;

  if (hwloc_bitmap_iszero (a) || hwloc_bitmap_iszero (b))
    return 0;

  for (int i = hwloc_bitmap_first (a); i >= 0; i = hwloc_bitmap_next (a, i))
    for (int j = hwloc_bitmap_first (b); j >= 0; j = hwloc_bitmap_next (b, j))
      nearest = MIN (nearest, matrix_get (matrix, (guint) i, (guint) j));
  return (guint) nearest;
}

/* Sorts the places by their memory nodes; returns the nodes of every class. */
static GPtrArray *
classify (IrisDistances *self, hwloc_topology_t hwloc, GPtrArray *cpusets)
{
  GPtrArray *classes = g_ptr_array_new_with_free_func ((GDestroyNotify) hwloc_bitmap_free);

  for (guint i = 0; i < self->n_places; i++)
    {
      hwloc_bitmap_t nodes = hwloc_bitmap_alloc ();
      guint c = 0;

      hwloc_cpuset_to_nodeset (hwloc, g_ptr_array_index (cpusets, i), nodes);
      while (c < classes->len && !hwloc_bitmap_isequal (nodes, g_ptr_array_index (classes, c)))
        c++;
      self->class_of[i] = c;
      if (c == classes->len)
        g_ptr_array_add (classes, nodes);
      else
        hwloc_bitmap_free (nodes);
    }

  self->n_classes = classes->len;
  return classes;
}

/* Fills @between from @matrix; FALSE if it lacks a value. */
static gboolean
fill_between (const Matrix *matrix, GPtrArray *classes, guint *between, guint *smallest)
{
  guint n = classes->len;

  *smallest = IRIS_DISTANCE_MAX;
  for (guint a = 0; a < n; a++)
    for (guint b = 0; b < a; b++)
      {
        hwloc_const_bitmap_t first = g_ptr_array_index (classes, a);
        hwloc_const_bitmap_t second = g_ptr_array_index (classes, b);
        guint value;

        if (hwloc_bitmap_intersects (first, second))
          continue;
        value = matrix_get_sets (matrix, first, second);
        if (value == 0)
          return FALSE;
        between[a * n + b] = between[b * n + a] = value;
        *smallest = MIN (*smallest, value);
      }
  return TRUE;
}

static void
read_matrix (IrisDistances *self, hwloc_topology_t hwloc, GPtrArray *cpusets)
{
  g_autoptr (GPtrArray) classes = NULL;
  g_autofree guint *between = NULL;
  guint smallest, farthest = self->by_depth[0];
  gboolean complete;
  Matrix matrix;

  if (!matrix_open (&matrix, hwloc))
    return;
  classes = classify (self, hwloc, cpusets);
  between = g_new0 (guint, (gsize) self->n_classes * self->n_classes);
  complete = fill_between (&matrix, classes, between, &smallest);
  matrix_close (&matrix);
  if (!complete)
    return;

  /* Other memory is farther than anything that shares memory, in whatever unit it was measured. */
  for (guint i = 0; smallest <= farthest && i < self->n_classes * self->n_classes; i++)
    if (between[i] > 0)
      between[i] += farthest + 1 - smallest;
  self->between = g_steal_pointer (&between);
}

/*
 * iris_distances_new:
 *
 * Measures the places whose cpus are @cpusets: disjoint, each within the topology and not empty.
 * What is returned does not refer to @hwloc.
 */
IrisDistances *
iris_distances_new (hwloc_topology_t hwloc, GPtrArray *cpusets)
{
  IrisDistances *self = g_new0 (IrisDistances, 1);

  self->n_places = cpusets->len;
  self->n_depths = (guint) hwloc_topology_get_depth (hwloc);
  self->chains = g_new (int, self->n_places * self->n_depths);
  self->by_depth = g_new (guint, self->n_depths);
  self->class_of = g_new0 (guint, self->n_places);

  fill_chains (self, hwloc, cpusets);
  rank_depths (self, hwloc);
  read_matrix (self, hwloc, cpusets);
  return self;
}

void
iris_distances_free (IrisDistances *self)
{
  g_free (self->chains);
  g_free (self->by_depth);
  g_free (self->class_of);
  g_free (self->between);
  g_free (self);
}

/*
 * iris_distances_get:
 *
 * 0 of a place to itself, otherwise at least 1, and the same both ways.
 */
guint
iris_distances_get (const IrisDistances *self, guint a, guint b)
{
  guint latency = 0;

  if (a == b)
    return 0;
  if (self->between != NULL)
    latency = self->between[self->class_of[a] * self->n_classes + self->class_of[b]];
  return latency > 0 ? latency : self->by_depth[common_depth (self, a, b)];
}
