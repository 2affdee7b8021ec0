/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which services of worker processes are known, with or without a worker.
 */
#include "irisd-outside-private.h"

#include <string.h>

/**
 * irisd_outside_knows:
 * @self: the shared book
 * @space: the name space that its service is looked for in first
 * @item: a SUBMIT message
 * @patient: whether the item waits however long there is no worker
 *
 * Returns: whether its service is known
 */
gboolean
irisd_outside_knows (IrisdOutside *self,
                     gint64 space,
                     const IrisWireMessage *item,
                     gboolean patient)
{
  g_autofree char *text = iris_wire_string_dup (&item->service);
  gint64 now = irisd_outside_lock (self);
  gboolean known = irisd_leases_knows (self->book, space, text, patient, now);
  irisd_outside_unlock (self);
  return known;
}

/**
 * irisd_outside_await:
 * @self: the shared book
 * @space: the name space that it is looked for in first
 * @name: a service that is not known, and that a client asks to wait for
 * @error: return location for a #GError of the domain %IRIS_WIRE_ERROR
 *
 * Returns: whether it is known now; else there are too many that had no worker yet
 */
gboolean
irisd_outside_await (IrisdOutside *self, gint64 space, const IrisWireString *name, GError **error)
{
  g_autofree char *text = iris_wire_string_dup (name);
  gint64 now = irisd_outside_lock (self);
  gboolean room = irisd_leases_has_room_to_expect (self->book, space);
  if (room)
    irisd_leases_expect (self->book, space, text, FALSE, now);
  irisd_outside_unlock (self);
  if (!room)
    g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_TOO_LARGE,
                 "items wait for more services without a worker than outside-services "
                 "(%" G_GUINT64_FORMAT "): start their workers, or raise it with [limits] "
                 "outside-services",
                 self->core->config->limits.outside_services);
  return room;
}

/**
 * irisd_outside_expect:
 * @self: the shared book
 * @space: the name space that it is looked for in first
 * @name: the service of an item that survived irisd
 *
 * Lets its items wait for a worker process.
 */
void
irisd_outside_expect (IrisdOutside *self, gint64 space, const IrisWireString *name)
{
  g_autofree char *text = iris_wire_string_dup (name);
  gint64 now = irisd_outside_lock (self);
  irisd_leases_expect (self->book, space, text, FALSE, now);
  irisd_outside_unlock (self);
}

/**
 * irisd_outside_expect_configured:
 * @self: the shared book, which no gateway uses yet
 *
 * Makes the services known that have a group in the configuration, and that are not irisd's own.
 */
void
irisd_outside_expect_configured (IrisdOutside *self)
{
  GHashTableIter iter;
  gpointer name;
  g_hash_table_iter_init (&iter, self->core->config->service_rules);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    {
      const IrisWireString service = { name, strlen (name) };
      if (irisd_services_lookup (self->core->services, &service) == NULL)
        irisd_leases_expect (self->book, IRISD_SPACE_SHARED, name, TRUE, g_get_monotonic_time ());
    }
}
