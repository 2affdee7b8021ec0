/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a configuration that is read again changes, and what it cannot change.
 *
 * A running irisd can change its access, keys, rules and log level, and those limits of which a
 * gateway reads the value each time. The other settings made sockets, threads, tables or files when
 * irisd started. So a setting is changed only if the list below has it. The configuration to apply
 * is made from the settings' texts, each from the new configuration or from the one in force, and
 * is checked as a whole.
 */
#include "daemon/config/irisd-config-diff.h"

#include "daemon/base/irisd-error.h"

#include <string.h>

/* The journal, the commands and the worker processes have copies of the other limits, or read them
 * in threads of their own (irisd-settings.h). */
static const char *const changeable[] = {
  "[irisd] keys",
  "[irisd] log-level",
  "[limits] handover-ms",
  "[limits] drain-grace-ms",
  "[limits] hello-ms",
  "[limits] keep-ms",
  "[limits] max-backoff-ms",
  "[limits] max-delay-ms",
  "[limits] max-keep-ms",
  "[limits] max-peers",
  "[limits] max-pending-connections",
  "[limits] max-retries",
  "[limits] max-user-peers",
  "[limits] outbox-messages",
  "[limits] stop-grace-ms",
  "[limits] stream-credit",
  "[limits] total-bytes",
  "[limits] total-items",
  "[limits] unfinished-bytes",
  "[limits] worker-services",
  NULL,
};

/* Returns whether a running irisd can change the setting @name, which is `[group] key`. */
gboolean
irisd_config_may_change (const char *name)
{
  return g_strv_contains (changeable, name) || g_str_has_prefix (name, "[access] ")
         || g_str_has_prefix (name, "[client] ") || g_str_has_prefix (name, "[service ");
}

/* The mode of the sockets follows from whether other users are admitted at all. */
static gboolean
opens_or_closes (const char *name, const IrisdConfig *now, const IrisdConfig *fresh)
{
  return strcmp (name, "[access] users") == 0
         && irisd_access_is_shared (&now->access) != irisd_access_is_shared (&fresh->access);
}

/* A URL of the cluster may have a password. */
static char *
text_of (const char *name, const IrisdSetting *setting)
{
  if (setting == NULL)
    return g_strdup ("its default");
  if (strcmp (name, "[cluster] url") == 0)
    return irisd_cluster_config_hide_secrets (setting->text);
  return g_strdup (*setting->text != '\0' ? setting->text : "empty");
}

static char *
describe (const char *name, const IrisdSetting *before, const IrisdSetting *after, gboolean changes)
{
  g_autofree char *old = text_of (name, before);
  g_autofree char *new = text_of (name, after);
  if (changes)
    return g_strdup_printf ("%s is %s now; it was %s", name, new, old);
  return g_strdup_printf ("%s stays %s and does not become %s: start irisd again to change it",
                          name, old, new);
}

static gboolean
add_setting (IrisdConfigDiff *self,
             const char *name,
             const IrisdConfig *now,
             const IrisdConfig *fresh,
             GError **error)
{
  const IrisdSetting *before = irisd_config_get_setting (now, name);
  const IrisdSetting *after = irisd_config_get_setting (fresh, name);
  gboolean differs = before == NULL || after == NULL || strcmp (before->text, after->text) != 0;
  gboolean changes = irisd_config_may_change (name) && !opens_or_closes (name, now, fresh);
  const IrisdSetting *chosen = changes ? after : before;
  if (differs)
    g_ptr_array_add (changes ? self->changed : self->kept, describe (name, before, after, changes));
  return chosen == NULL
         || irisd_config_set_named (self->config, name, chosen->text, chosen->origin, error);
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* Both are sets of settings, so the order of the lines is that of their names. */
static GPtrArray *
list_names (const IrisdConfig *now, const IrisdConfig *fresh)
{
  GPtrArray *names = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer name;
  g_hash_table_iter_init (&iter, now->settings);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    g_ptr_array_add (names, name);
  g_hash_table_iter_init (&iter, fresh->settings);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    if (!g_hash_table_contains (now->settings, name))
      g_ptr_array_add (names, name);
  g_ptr_array_sort (names, compare_names);
  return names;
}

/* A group of a service says that there is one, even if it sets nothing. */
static void
add_services (IrisdConfigDiff *self, const IrisdConfig *now, const IrisdConfig *fresh)
{
  GHashTableIter iter;
  gpointer name;
  g_hash_table_iter_init (&iter, fresh->service_rules);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    {
      if (g_hash_table_contains (self->config->service_rules, name))
        continue;
      g_hash_table_insert (self->config->service_rules, g_strdup (name), g_new0 (IrisdFairRule, 1));
      if (!g_hash_table_contains (now->service_rules, name))
        g_ptr_array_add (self->changed,
                         g_strdup_printf ("[service %s] is known now", (char *) name));
    }
}

/* @now is in force, and @fresh was read. Returns NULL if what can be changed of @fresh does not fit
 * what cannot. */
IrisdConfigDiff *
irisd_config_diff_new (const IrisdConfig *now, const IrisdConfig *fresh, GError **error)
{
  g_autoptr (IrisdConfigDiff) self = g_new0 (IrisdConfigDiff, 1);
  g_autoptr (GPtrArray) names = list_names (now, fresh);
  self->config = irisd_config_new ();
  self->changed = g_ptr_array_new_with_free_func (g_free);
  self->kept = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < names->len; i++)
    if (!add_setting (self, g_ptr_array_index (names, i), now, fresh, error))
      return NULL;
  if (!irisd_config_check (self->config, error) || !irisd_config_load_keys (self->config, error))
    return NULL;
  if (now->keys != NULL)
    irisd_keys_compare (now->keys, self->config->keys, self->changed);
  add_services (self, now, fresh);
  return g_steal_pointer (&self);
}

void
irisd_config_diff_free (IrisdConfigDiff *self)
{
  g_clear_pointer (&self->config, irisd_config_free);
  g_clear_pointer (&self->changed, g_ptr_array_unref);
  g_clear_pointer (&self->kept, g_ptr_array_unref);
  g_free (self);
}
