/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A plug-in of irisd: two services, one that works on its payload and one that can take long.
 */
#include <iris-plugin.h>

#include <string.h>

/* reverse: the payload's bytes, the last one first. */
static void
reverse (IrisPluginItem *item)
{
  gsize size;
  const char *payload = iris_plugin_item_get_payload (item, &size);
  char *result = g_malloc (size + 1);
  for (gsize i = 0; i < size; i++)
    result[i] = payload[size - 1 - i];
  iris_plugin_item_take_result (item, result, size, "text/plain");
}

/* collatz: how many steps each number of the arguments takes to come down to 1. */
static void
collatz (IrisPluginItem *item)
{
  const char *const *args = iris_plugin_item_get_args (item);
  GString *lines = g_string_new (NULL);
  for (guint i = 0; args[i] != NULL; i++)
    {
      guint64 number, steps = 0;
      if (!g_ascii_string_to_unsigned (args[i], 10, 1, G_MAXUINT32, &number, NULL))
        {
          iris_plugin_item_fail (item, "collatz takes numbers from 1 to 4294967295");
          g_string_free (lines, TRUE);
          return;
        }
      for (; number != 1; steps++)
        number = number % 2 == 0 ? number / 2 : 3 * number + 1;
      g_string_append_printf (lines, "%" G_GUINT64_FORMAT "\n", steps);
      if (iris_plugin_item_must_stop (item))
        {
          iris_plugin_item_fail (item, "stopped");
          g_string_free (lines, TRUE);
          return;
        }
    }
  gsize size = lines->len;
  iris_plugin_item_take_result (item, g_string_free (lines, FALSE), size, "text/plain");
}

static const IrisPluginService services[] = {
  { .name = "reverse", .summary = "the payload, the last byte first", .run = reverse },
  { .name = "collatz",
    .summary = "steps that numbers (args) take to come down to 1",
    .flags = IRIS_PLUGIN_RESULT_GROWS,
    .run = collatz },
  { .name = NULL },
};

static const IrisPlugin plugin = {
  .interface = IRIS_PLUGIN_INTERFACE,
  .name = "example",
  .version = "1.0",
  .services = services,
};

IRIS_PLUGIN_EXPORT const IrisPlugin *iris_plugin_get (void);

IRIS_PLUGIN_EXPORT const IrisPlugin *
iris_plugin_get (void)
{
  return &plugin;
}
