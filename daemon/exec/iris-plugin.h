/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A plug-in of irisd: a shared library with services.
 *
 * A plug-in includes this header alone, links to nothing of iris, and defines
 *
 *     IRIS_PLUGIN_EXPORT const IrisPlugin *iris_plugin_get (void);
 *
 * The description that it returns must stay as long as the library is loaded. irisd reads its
 * `interface` first, and nothing else if that is another version.
 *
 * Threads: irisd calls iris_plugin_get(), `init` and `finish` from its main thread, `init` before
 * and `finish` after everything else. Workers call `run`, several at a time. An IrisPluginItem
 * belongs to the call that got it.
 *
 * An item whose `run` fails ends with the error `service-failed`; a crash in it crashes irisd: a
 * plug-in is a part of irisd, with all its rights.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * IRIS_PLUGIN_INTERFACE:
 *
 * The version of the interface in this header. A plug-in built against another one is refused.
 *
 * Since: 0.1
 */
#define IRIS_PLUGIN_INTERFACE 1

/**
 * IRIS_PLUGIN_EXPORT:
 *
 * Put it before the definition of iris_plugin_get().
 *
 * Since: 0.1
 */
#define IRIS_PLUGIN_EXPORT __attribute__ ((visibility ("default")))

typedef struct _IrisPlugin IrisPlugin;
typedef struct _IrisPluginItem IrisPluginItem;

/**
 * IrisPluginCalls:
 * @get_payload: the item's payload, which may be empty; borrowed
 * @get_args: (array zero-terminated=1): its arguments; borrowed, never %NULL
 * @get_path: (nullable): the file that it works on; borrowed
 * @get_place: the id of the place that it runs at
 * @must_stop: whether it was cancelled or irisd stops; long work calls it from time to time
 * @get_stop_fd: a descriptor that becomes readable when @must_stop may have become true, for work
 *   that waits in poll(); -1 if irisd has none left. It belongs to irisd
 * @take_result: the item's result: memory of g_malloc(), its length, what it is (a constant such as
 *   `text/plain`, or %NULL)
 * @fail: why there is no result: a sentence for a person, with what to do
 * @begin_waiting: the item is about to wait, for a file, a reply, a lock: a spare worker stands in;
 *   %NULL in an irisd without it
 * @end_waiting: the item computes again; %NULL likewise
 *
 * The calls of a running item. Use the functions below.
 *
 * Since: 0.1
 */
typedef struct
{
  gconstpointer (*get_payload) (IrisPluginItem *item, gsize *size);
  const char *const *(*get_args) (IrisPluginItem *item);
  const char *(*get_path) (IrisPluginItem *item);
  int (*get_place) (IrisPluginItem *item);
  gboolean (*must_stop) (IrisPluginItem *item);
  int (*get_stop_fd) (IrisPluginItem *item);
  void (*take_result) (IrisPluginItem *item, gpointer data, gsize size, const char *content_type);
  void (*fail) (IrisPluginItem *item, const char *reason);
  void (*begin_waiting) (IrisPluginItem *item);
  void (*end_waiting) (IrisPluginItem *item);

  /*< private >*/
  gpointer reserved[6];
} IrisPluginCalls;

/**
 * IrisPluginItem:
 * @calls: its calls
 * @data: as `init` set it
 *
 * An item that a service of a plug-in runs.
 *
 * Since: 0.1
 */
struct _IrisPluginItem
{
  const IrisPluginCalls *calls;
  gpointer data;
};

/**
 * IrisPluginService:
 * @name: how items name it, 1 to 64 bytes of letters, digits, `-`, `_` and `.`
 * @summary: one line for people
 * @flags: see #IrisPluginFlags
 * @run: does the work and ends with @take_result or @fail; without either the result is empty
 *
 * A service. The list of a plug-in ends with one without a name.
 *
 * Since: 0.1
 */
typedef struct
{
  const char *name;
  const char *summary;
  guint flags;
  void (*run) (IrisPluginItem *item);

  /*< private >*/
  gpointer reserved[4];
} IrisPluginService;

/**
 * IrisPluginFlags:
 * @IRIS_PLUGIN_RESULT_GROWS: results may be larger than payloads: while a client has too many bytes
 *   unacknowledged, its items wait
 * @IRIS_PLUGIN_REACHES_OUT: it uses more than the item's payload, so it is not for clients over
 *   TCP, unless irisd's configuration trusts those
 *
 * Properties of a service.
 *
 * Since: 0.1
 */
typedef enum
{
  IRIS_PLUGIN_RESULT_GROWS = 1 << 0,
  IRIS_PLUGIN_REACHES_OUT = 1 << 1,
} IrisPluginFlags;

/**
 * IrisPlugin:
 * @interface: %IRIS_PLUGIN_INTERFACE
 * @name: the plug-in's name, for irisd's log
 * @version: (nullable): its own version
 * @services: its services, ending with one without a name
 * @init: (nullable): makes it ready; %FALSE with an error if it cannot work. Every item gets its
 *   @data
 * @finish: (nullable): frees what @init made
 *
 * A plug-in.
 *
 * Since: 0.1
 */
struct _IrisPlugin
{
  guint interface;
  const char *name;
  const char *version;
  const IrisPluginService *services;
  gboolean (*init) (gpointer *data, GError **error);
  void (*finish) (gpointer data);

  /*< private >*/
  gpointer reserved[4];
};

/**
 * IrisPluginGet:
 *
 * The type of the function `iris_plugin_get`, which every plug-in exports.
 *
 * Returns: (transfer none): its description
 *
 * Since: 0.1
 */
typedef const IrisPlugin *(*IrisPluginGet) (void);

static inline gconstpointer
iris_plugin_item_get_payload (IrisPluginItem *item, gsize *size)
{
  return item->calls->get_payload (item, size);
}

static inline const char *const *
iris_plugin_item_get_args (IrisPluginItem *item)
{
  return item->calls->get_args (item);
}

static inline const char *
iris_plugin_item_get_path (IrisPluginItem *item)
{
  return item->calls->get_path (item);
}

static inline int
iris_plugin_item_get_place (IrisPluginItem *item)
{
  return item->calls->get_place (item);
}

static inline gboolean
iris_plugin_item_must_stop (IrisPluginItem *item)
{
  return item->calls->must_stop (item);
}

static inline int
iris_plugin_item_get_stop_fd (IrisPluginItem *item)
{
  return item->calls->get_stop_fd (item);
}

static inline void
iris_plugin_item_take_result (IrisPluginItem *item,
                              gpointer data,
                              gsize size,
                              const char *content_type)
{
  item->calls->take_result (item, data, size, content_type);
}

static inline void
iris_plugin_item_fail (IrisPluginItem *item, const char *reason)
{
  item->calls->fail (item, reason);
}

static inline void
iris_plugin_item_begin_waiting (IrisPluginItem *item)
{
  if (item->calls->begin_waiting != NULL)
    item->calls->begin_waiting (item);
}

static inline void
iris_plugin_item_end_waiting (IrisPluginItem *item)
{
  if (item->calls->end_waiting != NULL)
    item->calls->end_waiting (item);
}

G_END_DECLS
