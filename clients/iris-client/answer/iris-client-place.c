/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A place of the machine, as irisd describes it to its clients.
 */
#include "iris-client-answer-private.h"

#include <iris-client/base/iris-client-counted-private.h>

#include <string.h>

/* An error sentence names no more places than fit on a line or two. */
#define DESCRIBE_MAX 16

static void
iris_client_place_clear (IrisClientPlace *self)
{
  g_free (self->name);
  g_free (self->cpus);
  g_free (self->memory_nodes);
  g_free (self->endpoint);
  g_free (self->distances);
}

/**
 * iris_client_place_ref:
 *
 * Returns: (transfer full): @self, with a reference more; from any thread
 */
/**
 * iris_client_place_unref:
 * @self: (transfer full): a place
 *
 * Drops a reference. Safe from any thread.
 */
IRIS_CLIENT_DEFINE_COUNTED (IrisClientPlace, iris_client_place)

static IrisClientPlace *
place_new (const IrisWirePlace *place)
{
  IrisClientPlace *self = g_atomic_rc_box_new0 (IrisClientPlace);

  self->id = (int) place->id;
  self->name = g_strdup (place->name);
  self->cpus = g_strdup (place->cpus);
  self->memory_nodes = g_strdup (place->nodes);
  self->endpoint = g_strdup (place->endpoint);
  self->workers = place->workers;
  self->bound = place->bound;
  self->n_distances = place->n_distances;
  self->distances = g_memdup2 (place->distances, place->n_distances * sizeof (guint));
  return self;
}

gpointer
iris_client_places_read (const IrisWireMessage *answer, GError **error)
{
  g_autoptr (IrisWireMap) map = iris_wire_map_decode (answer->body, NULL, error);
  GPtrArray *places;

  if (map == NULL)
    return NULL;
  places = g_ptr_array_new_full (map->n_places, (GDestroyNotify) iris_client_place_unref);
  for (guint i = 0; i < map->n_places; i++)
    g_ptr_array_add (places, place_new (&map->places[i]));
  return places;
}

static gpointer
copy_place (gconstpointer place, gpointer data)
{
  return iris_client_place_ref ((IrisClientPlace *) place);
}

/* For an array to give away: a binding empties the one that it is given. */
GPtrArray *
iris_client_places_copy (GPtrArray *places)
{
  return g_ptr_array_copy (places, copy_place, NULL);
}

/* @id: -1 to go by @name, which is a name or an id in digits. */
IrisClientPlace *
iris_client_places_find (GPtrArray *places, int id, const char *name)
{
  guint64 number;

  if (name != NULL && g_ascii_string_to_unsigned (name, 10, 0, G_MAXINT, &number, NULL))
    id = (int) number;
  for (guint i = 0; i < places->len; i++)
    {
      IrisClientPlace *place = g_ptr_array_index (places, i);

      if (id >= 0 ? place->id == id : g_strcmp0 (place->name, name) == 0)
        return place;
    }
  return NULL;
}

char *
iris_client_places_describe (GPtrArray *places)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < places->len && i < DESCRIBE_MAX; i++)
    {
      IrisClientPlace *place = g_ptr_array_index (places, i);

      g_string_append_printf (text, "%s%d (%s)", i == 0 ? "" : ", ", place->id, place->name);
    }
  if (places->len > DESCRIBE_MAX)
    g_string_append_printf (text, " and %u more", places->len - DESCRIBE_MAX);
  return g_string_free (text, FALSE);
}
