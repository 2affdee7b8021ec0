/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The registry of services, filled before the first thread starts and only read from then on; and
 * irisd's own services that need no file of their own: `echo`, `sha256` and `wordcount`.
 */
#include "daemon/exec/irisd-service.h"

#include "daemon/exec/irisd-input.h"
#include "daemon/exec/irisd-job.h"

#include <string.h>

static void
run_echo (IrisdJob *job)
{
  job->result.bytes = irisd_job_get_payload (job).size;
  irisd_job_return_payload (job);
}

static const IrisdService service_echo = {
  .name = "echo",
  .summary = "sends the payload back",
  .brief = TRUE,
  .run = run_echo,
};

static void
update (const guint8 *data, gsize size, gpointer checksum)
{
  g_checksum_update (checksum, data, (gssize) size);
}

static void
run_sha256 (IrisdJob *job)
{
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  if (!irisd_input_each (job, update, checksum))
    return;
  char *digest = g_strdup (g_checksum_get_string (checksum));
  irisd_job_take_result (job, digest, strlen (digest), "text/plain");
}

static const IrisdService service_sha256 = {
  .name = "sha256",
  .summary = "SHA-256 of a file (path) or of the payload, in hexadecimal",
  .check = irisd_input_check,
  .brief = TRUE,
  .run = run_sha256,
};

/* A line is a newline character; a word is a longest run of bytes that are not white space of the C
 * locale. That is what wc(1) counts under LC_ALL=C. */
typedef struct
{
  guint64 lines;
  guint64 words;
  guint64 bytes;
  gboolean in_word;
} Counts;

static inline gboolean
is_space (guint8 byte)
{
  return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static void
count (const guint8 *data, gsize size, gpointer user_data)
{
  Counts *counts = user_data;
  gboolean in_word = counts->in_word;
  for (gsize i = 0; i < size; i++)
    {
      gboolean space = is_space (data[i]);
      counts->lines += data[i] == '\n';
      counts->words += !space && !in_word;
      in_word = !space;
    }
  counts->in_word = in_word;
  counts->bytes += size;
}

static void
run_wordcount (IrisdJob *job)
{
  Counts counts = { 0 };
  if (!irisd_input_each (job, count, &counts))
    return;
  char *text = g_strdup_printf ("%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT,
                                counts.lines, counts.words, counts.bytes);
  irisd_job_take_result (job, text, strlen (text), "text/plain");
}

static const IrisdService service_wordcount = {
  .name = "wordcount",
  .summary = "lines, words and bytes of a file (path) or of the payload",
  .check = irisd_input_check,
  .brief = TRUE,
  .run = run_wordcount,
};

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

/* Returns a registry of the services in this file. */
IrisdServices *
irisd_services_new_builtin (void)
{
  IrisdServices *self = irisd_services_new ();
  irisd_services_add (self, &service_echo);
  irisd_services_add (self, &service_sha256);
  irisd_services_add (self, &service_wordcount);
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
