/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The registry of services, filled before the first thread starts and only read from then on.
 */
#include "daemon/exec/irisd-service.h"

#include <string.h>

struct _IrisdServices
{
  GPtrArray *services; /* of const IrisdService, sorted by name */
};

IrisdServices *
irisd_services_new (void)
{
  IrisdServices *self = g_new0 (IrisdServices, 1);
  self->services = g_ptr_array_new ();
  return self;
}

/* Returns a registry of irisd's own services. */
IrisdServices *
irisd_services_new_builtin (void)
{
  IrisdServices *self = irisd_services_new ();
  irisd_services_add (self, &irisd_service_echo);
  irisd_services_add (self, &irisd_service_sha256);
  irisd_services_add (self, &irisd_service_wordcount);
  irisd_services_add (self, &irisd_service_command);
  return self;
}

void
irisd_services_free (IrisdServices *self)
{
  g_ptr_array_unref (self->services);
  g_free (self);
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  const IrisdService *const *left = a;
  const IrisdService *const *right = b;
  return strcmp ((*left)->name, (*right)->name);
}

/* @service must outlive the registry. Returns FALSE if there is one of that name already. */
gboolean
irisd_services_add (IrisdServices *self, const IrisdService *service)
{
  const IrisWireString name = { service->name, strlen (service->name) };
  if (irisd_services_lookup (self, &name) != NULL)
    return FALSE;
  g_ptr_array_add (self->services, (gpointer) service);
  g_ptr_array_sort (self->services, compare_names);
  return TRUE;
}

const IrisdService *
irisd_services_lookup (IrisdServices *self, const IrisWireString *name)
{
  for (guint i = 0; i < self->services->len; i++)
    {
      const IrisdService *service = g_ptr_array_index (self->services, i);
      if (strlen (service->name) == name->len && memcmp (service->name, name->data, name->len) == 0)
        return service;
    }
  return NULL;
}

/* Returns all services, for the body of a SERVICES_REPLY. */
IrisWireServices *
irisd_services_describe (IrisdServices *self)
{
  IrisWireServices *list = iris_wire_services_new (self->services->len);
  for (guint i = 0; i < self->services->len; i++)
    {
      const IrisdService *service = g_ptr_array_index (self->services, i);
      list->services[i].name = g_strdup (service->name);
      list->services[i].summary = g_strdup (service->summary);
    }
  return list;
}

/* Returns all names, for a message. */
char *
irisd_services_list_names (IrisdServices *self)
{
  g_autoptr (GString) names = g_string_new (NULL);
  for (guint i = 0; i < self->services->len; i++)
    {
      const IrisdService *service = g_ptr_array_index (self->services, i);
      g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", service->name);
    }
  return g_string_free (g_steal_pointer (&names), FALSE);
}
