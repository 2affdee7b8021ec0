/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The configuration of irisd, from files and the command line.
 *
 * A key of the [irisd] group and the long option of the same name go through one function, so that
 * the same checks apply. An unknown key is an error: a misspelt limit that is silently ignored is a
 * limit that does not exist.
 */
#include "daemon/config/irisd-config.h"

#include "daemon/base/irisd-error.h"

#include <gio/gio.h>
#include <iris/iris.h>

#include <string.h>

/* Before the name of a service. */
#define SERVICE_GROUP "service "

static const char *const scheduler_names[] = {
  [IRISD_SCHEDULER_PLACES] = "places",
  [IRISD_SCHEDULER_WORKSTEALING] = "workstealing",
  [IRISD_SCHEDULER_LOCKFREE] = "lockfree",
  [IRISD_SCHEDULER_DEFAULT] = "default",
};

static void
setting_free (gpointer data)
{
  IrisdSetting *setting = data;
  g_free (setting->text);
  g_free (setting->origin);
  g_free (setting);
}

IrisdConfig *
irisd_config_new (void)
{
  IrisdConfig *self = g_new0 (IrisdConfig, 1);
  self->places = g_strdup ("auto");
  self->scheduler = IRISD_SCHEDULER_PLACES;
  self->deque = IRIS_DEQUE_SPLIT;
  self->layout = IRIS_LAYOUT_WORKERS;
  self->deal = IRIS_DEAL_OWN;
  self->bind = TRUE;
  self->cgroup = g_strdup ("auto");
  self->plugins = g_ptr_array_new_with_free_func (g_free);
  self->plugin_dirs = g_ptr_array_new_with_free_func (g_free);
  self->log_level = IRISD_LOG_INFO;
  irisd_limits_init (&self->limits);
  irisd_access_init (&self->access);
  irisd_cluster_config_init (&self->cluster);
  self->service_rules = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->settings = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, setting_free);
  return self;
}

void
irisd_config_free (IrisdConfig *self)
{
  g_free (self->dir);
  g_free (self->places);
  g_free (self->topology);
  g_free (self->steal);
  g_free (self->tcp_host);
  g_free (self->server_key);
  g_free (self->keys_dir);
  g_clear_pointer (&self->keys, irisd_keys_free);
  g_free (self->http);
  g_strfreev (self->http_options);
  g_free (self->otlp);
  g_ptr_array_unref (self->plugins);
  g_ptr_array_unref (self->plugin_dirs);
  irisd_access_clear (&self->access);
  irisd_cluster_config_clear (&self->cluster);
  g_free (self->journal);
  g_free (self->cgroup);
  g_hash_table_unref (self->service_rules);
  g_hash_table_unref (self->settings);
  g_free (self);
}

const char *
irisd_config_scheduler_name (IrisdSchedulerKind kind)
{
  return scheduler_names[kind];
}

static gboolean
set_text (char **field, const char *what, const char *value, GError **error)
{
  if (*value == '\0')
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                       "%s is empty; give it a value or leave it out", what);
  g_free (*field);
  *field = g_strdup (value);
  return TRUE;
}

static gboolean
set_journal (IrisdConfig *self, const char *value, GError **error)
{
  if (strcmp (value, "none") == 0)
    {
      g_clear_pointer (&self->journal, g_free);
      return TRUE;
    }
  if (*value != '\0' && !g_path_is_absolute (value))
    {
      g_autofree char *absolute = g_canonicalize_filename (value, NULL);
      return set_text (&self->journal, "journal", absolute, error);
    }
  return set_text (&self->journal, "journal", value, error);
}

static gboolean
set_workers (IrisdConfig *self, const char *value, GError **error)
{
  guint64 number = 0;
  if (!g_ascii_string_to_unsigned (value, 10, 0, IRISD_MAX_WORKERS, &number, NULL))
    return irisd_fail (
        error, IRISD_ERROR, IRISD_ERROR_USAGE,
        "“%s” is no number of workers; give one from 1 to %d, or 0 for what fits the "
        "machine",
        value, IRISD_MAX_WORKERS);
  self->n_workers = (guint) number;
  return TRUE;
}

static gboolean
set_scheduler (IrisdConfig *self, const char *value, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (scheduler_names); i++)
    if (strcmp (scheduler_names[i], value) == 0)
      {
        self->scheduler = i;
        return TRUE;
      }
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                     "there is no scheduler “%s”; choose places, workstealing, lockfree or default",
                     value);
}

/* As "one, two or three", without the nick @but. */
static char *
list_nicks (const GEnumClass *klass, const char *but)
{
  GString *text = g_string_new (NULL);
  const char *last = NULL;
  for (guint i = 0; i < klass->n_values; i++)
    {
      if (g_strcmp0 (klass->values[i].value_nick, but) == 0)
        continue;
      if (last != NULL)
        g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", last);
      last = klass->values[i].value_nick;
    }
  g_string_append_printf (text, " or %s", last);
  return g_string_free (text, FALSE);
}

/* Sets @field to the value of @type that has this nick, which is not @but. */
static gboolean
set_enum (int *field,
          GType type,
          const char *what,
          const char *but,
          const char *value,
          GError **error)
{
  GEnumClass *klass = g_type_class_ref (type);
  const GEnumValue *found = g_enum_get_value_by_nick (klass, value);
  gboolean good = found != NULL && g_strcmp0 (value, but) != 0;
  if (good)
    *field = found->value;
  else
    {
      g_autofree char *nicks = list_nicks (klass, but);
      g_set_error (error, IRISD_ERROR, IRISD_ERROR_USAGE, "there is no %s “%s”; choose %s", what,
                   value, nicks);
    }
  g_type_class_unref (klass);
  return good;
}

/* An idempotent deque may give out an item twice. */
static gboolean
set_deque (IrisdConfig *self, const char *value, GError **error)
{
  int kind;
  if (!set_enum (&kind, IRIS_TYPE_DEQUE_KIND, "deque", "idempotent", value, error))
    return FALSE;
  self->deque = (IrisDequeKind) kind;
  return TRUE;
}

static gboolean
set_layout (IrisdConfig *self, const char *value, GError **error)
{
  int layout;
  if (!set_enum (&layout, IRIS_TYPE_LAYOUT, "layout", NULL, value, error))
    return FALSE;
  self->layout = (IrisLayout) layout;
  return TRUE;
}

static gboolean
set_deal (IrisdConfig *self, const char *value, GError **error)
{
  int deal;
  if (!set_enum (&deal, IRIS_TYPE_DEAL, "deal", NULL, value, error))
    return FALSE;
  self->deal = (IrisDeal) deal;
  return TRUE;
}

static gboolean
set_steal (IrisdConfig *self, const char *value, GError **error)
{
  g_autoptr (GError) local = NULL;
  g_autoptr (IrisStealPolicy) policy = iris_steal_policy_parse (value, &local);
  if (policy == NULL)
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE, "%s", local->message);
  g_free (self->steal);
  self->steal = g_strdup (value);
  return TRUE;
}

static gboolean
set_boolean (gboolean *field, const char *value, GError **error)
{
  *field = strcmp (value, "true") == 0;
  if (*field || strcmp (value, "false") == 0)
    return TRUE;
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE, "“%s” is neither true nor false",
                     value);
}

static gboolean
set_cgroup (IrisdConfig *self, const char *value, GError **error)
{
  if (strcmp (value, "auto") == 0 || strcmp (value, "none") == 0 || g_path_is_absolute (value))
    return set_text (&self->cgroup, "cgroup", value, error);
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                     "“%s” is neither auto nor none nor the path of a control group", value);
}

/* Adds to the list; a name that the dynamic linker would search for is no path. */
static gboolean
add_paths (GPtrArray *list, const char *value, GError **error)
{
  g_auto (GStrv) paths = g_strsplit (value, ";", -1);
  for (guint i = 0; paths[i] != NULL; i++)
    {
      if (*paths[i] == '\0' && i > 0 && paths[i + 1] == NULL)
        break; /* a semicolon at the end */
      if (!g_path_is_absolute (paths[i]))
        return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                           "“%s” is not absolute; write the path from / on", paths[i]);
      g_ptr_array_add (list, g_strdup (paths[i]));
    }
  return TRUE;
}

static gboolean
set_log_level (IrisdConfig *self, const char *value, GError **error)
{
  if (irisd_log_level_from_name (value, &self->log_level))
    return TRUE;
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                     "there is no log level “%s”; choose error, warning, info or debug", value);
}

static gboolean
set_log_format (IrisdConfig *self, const char *value, GError **error)
{
  if (irisd_log_format_from_name (value, &self->log_format))
    return TRUE;
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                     "there is no log format “%s”; choose auto, lines, json or journal", value);
}

static gboolean
set_tcp (IrisdConfig *self, const char *value, GError **error)
{
  const char *colon = strrchr (value, ':');
  guint64 port = 0;
  if (colon == NULL || colon == value
      || !g_ascii_string_to_unsigned (colon + 1, 10, 0, G_MAXUINT16, &port, NULL))
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                       "“%s” is no address to listen on; write it like 127.0.0.1:4700", value);

  g_autofree char *host = g_strndup (value, colon - value);
  gsize len = strlen (host);
  if (host[0] == '[' && host[len - 1] == ']')
    {
      host[len - 1] = '\0';
      memmove (host, host + 1, len - 1);
    }
  g_autoptr (GInetAddress) address = g_inet_address_new_from_string (host);
  if (address == NULL)
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                       "“%s” is no address in numbers; write it like 127.0.0.1:%u, or 0.0.0.0:%u "
                       "for all of this machine",
                       host, (guint) port, (guint) port);
  g_free (self->tcp_host);
  self->tcp_host = g_steal_pointer (&host);
  self->tcp_port = (guint16) port;
  return TRUE;
}

static gboolean
set_server_key (IrisdConfig *self, const char *value, GError **error)
{
  g_autofree char *absolute = *value != '\0' ? g_canonicalize_filename (value, NULL)
                                             : g_strdup ("");
  return set_text (&self->server_key, "server-key", absolute, error);
}

static gboolean
set_keys_dir (IrisdConfig *self, const char *value, GError **error)
{
  g_autofree char *absolute = *value != '\0' ? g_canonicalize_filename (value, NULL)
                                             : g_strdup ("");
  return set_text (&self->keys_dir, "keys", absolute, error);
}

/* irisd-web judges the address, and says what is missing beyond loopback. */
static gboolean
set_http (IrisdConfig *self, const char *value, GError **error)
{
  const char *colon = strrchr (value, ':');
  if (colon == NULL || colon == value
      || !g_ascii_string_to_unsigned (colon + 1, 10, 0, G_MAXUINT16, NULL, NULL))
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                       "“%s” is no address for irisd-web; write it like 127.0.0.1:4747", value);
  g_free (self->http);
  self->http = g_strdup (value);
  return TRUE;
}

static gboolean
set_http_options (IrisdConfig *self, const char *value, GError **error)
{
  g_autoptr (GError) local = NULL;
  char **words = NULL;
  if (*value != '\0' && !g_shell_parse_argv (value, NULL, &words, &local))
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                       "“%s” cannot be split into options of irisd-web: %s", value, local->message);
  g_strfreev (self->http_options);
  self->http_options = words;
  return TRUE;
}

/* Likewise. */
static gboolean
set_otlp (IrisdConfig *self, const char *value, GError **error)
{
  if (!g_str_has_prefix (value, "http://") && !g_str_has_prefix (value, "https://"))
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                       "“%s” is no address of a collector; write it like http://127.0.0.1:4318",
                       value);
  g_free (self->otlp);
  self->otlp = g_strdup (value);
  return TRUE;
}

#define FIELD(name) G_STRUCT_OFFSET (IrisdConfig, name)

/* A key has a function, or the field of a text, a truth value or a list of paths. */
static const struct
{
  const char *key;
  gboolean (*set) (IrisdConfig *self, const char *value, GError **error);
  gsize text, boolean, paths;
} keys[] = {
  { "dir", .text = FIELD (dir) },
  { "journal", set_journal },
  { "paused", .boolean = FIELD (paused) },
  { "cgroup", set_cgroup },
  { "places", .text = FIELD (places) },
  { "topology", .text = FIELD (topology) },
  { "workers", set_workers },
  { "scheduler", set_scheduler },
  { "deque", set_deque },
  { "layout", set_layout },
  { "deal", set_deal },
  { "steal", set_steal },
  { "bind", .boolean = FIELD (bind) },
  { "log-level", set_log_level },
  { "tcp", set_tcp },
  { "server-key", set_server_key },
  { "keys", set_keys_dir },
  { "tcp-trusted", .boolean = FIELD (tcp_trusted) },
  { "plugins", .paths = FIELD (plugins) },
  { "plugin-dirs", .paths = FIELD (plugin_dirs) },
  { "plugins-required", .boolean = FIELD (plugins_required) },
  { "log-format", set_log_format },
  { "http", set_http },
  { "http-options", set_http_options },
  { "otlp", set_otlp },
};

static gboolean
set_irisd_key (IrisdConfig *self, const char *key, const char *value, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      if (strcmp (keys[i].key, key) != 0)
        continue;
      if (keys[i].set != NULL)
        return keys[i].set (self, value, error);
      if (keys[i].boolean > 0)
        return set_boolean (G_STRUCT_MEMBER_P (self, keys[i].boolean), value, error);
      if (keys[i].paths > 0)
        return add_paths (G_STRUCT_MEMBER (GPtrArray *, self, keys[i].paths), value, error);
      return set_text (G_STRUCT_MEMBER_P (self, keys[i].text), key, value, error);
    }
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                     "there is no key “%s”; irisd.conf(5) lists them all", key);
}

/* The [journal] group has a directory, and the limits about the journal. Returns the name of the
 * setting that @key stands for, or NULL. */
static char *
name_journal_key (const char *key)
{
  static const char *const limits[] = { "keep-ms", "max-keep-ms", "relaxed-ms", "persistent-items",
                                        NULL };
  if (strcmp (key, "dir") == 0)
    return g_strdup ("[irisd] journal");
  if (strcmp (key, "reserve") == 0)
    return g_strdup ("[limits] journal-reserve");
  return g_strv_contains (limits, key) ? g_strconcat ("[limits] ", key, NULL) : NULL;
}

/* GKeyFile does not report the line of a key. Returns 0 if it cannot be found. */
static guint
find_line (const char *text, gsize length, const char *group, const char *key)
{
  g_autofree char *copy = g_strndup (text, length);
  g_auto (GStrv) lines = g_strsplit (copy, "\n", -1);
  g_autofree char *header = g_strdup_printf ("[%s]", group);
  gboolean inside = FALSE;
  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *line = g_strstrip (lines[i]);
      if (line[0] == '[')
        {
          inside = strcmp (line, header) == 0;
          if (inside && key == NULL)
            return i + 1;
        }
      else if (inside && key != NULL && g_str_has_prefix (line, key))
        {
          const char *rest = line + strlen (key);
          while (g_ascii_isspace (*rest))
            rest++;
          if (*rest == '=')
            return i + 1;
        }
    }
  return 0;
}

/* The rule of a group; NULL if the group has none. */
static IrisdFairRule *
find_rule (IrisdConfig *self, const char *group)
{
  if (strcmp (group, "client") == 0)
    return &self->client_rule;
  if (!g_str_has_prefix (group, SERVICE_GROUP) || group[strlen (SERVICE_GROUP)] == '\0')
    return NULL;
  const char *name = group + strlen (SERVICE_GROUP);
  IrisdFairRule *rule = g_hash_table_lookup (self->service_rules, name);
  if (rule == NULL)
    {
      rule = g_new0 (IrisdFairRule, 1);
      g_hash_table_insert (self->service_rules, g_strdup (name), rule);
    }
  return rule;
}

/* Keeps @value of the setting @name, and where it was given. */
static void
note_setting (IrisdConfig *self, const char *name, const char *value, const char *origin)
{
  const IrisdSetting *before = g_hash_table_lookup (self->settings, name);
  gboolean adds = strcmp (name, "[irisd] plugins") == 0
                  || strcmp (name, "[irisd] plugin-dirs") == 0;
  IrisdSetting *setting = g_new0 (IrisdSetting, 1);
  setting->text = adds && before != NULL ? g_strconcat (before->text, ";", value, NULL)
                                         : g_strdup (value);
  setting->origin = g_strdup (origin);
  g_hash_table_replace (self->settings, g_strdup (name), setting);
}

static gboolean
set_in_group (IrisdConfig *self,
              const char *group,
              const char *key,
              const char *value,
              const char *origin,
              GError **error)
{
  IrisdFairRule *rule = find_rule (self, group);
  g_autofree char *name = strcmp (group, "journal") == 0 ? name_journal_key (key)
                                                         : g_strdup_printf ("[%s] %s", group, key);
  if (name == NULL)
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                       "there is no key “%s” in [journal]; irisd.conf(5) lists them all", key);
  const char *own_key = strchr (name, ']') + 2;
  gboolean good = g_str_has_prefix (name, "[limits] ")
                      ? irisd_limits_set (&self->limits, own_key, value, error)
                  : g_str_has_prefix (name, "[irisd] ")
                      ? set_irisd_key (self, own_key, value, error)
                  : g_str_has_prefix (name, "[cluster] ")
                      ? irisd_cluster_config_set (&self->cluster, own_key, value, error)
                  : rule != NULL ? irisd_fair_rule_set (rule, key, value, error)
                                 : irisd_access_set (&self->access, key, value, error);
  if (good)
    note_setting (self, name, value, origin);
  return good;
}

/* Sets @key of the [irisd] group from text, as an option of the command line does. Returns whether
 * there is such a key and it may have that value. */
gboolean
irisd_config_set (IrisdConfig *self, const char *key, const char *value, GError **error)
{
  return set_in_group (self, "irisd", key, value, "the command line", error);
}

/* Sets @name, which is `[group] key` as in `settings`, from text that @origin has. Returns whether
 * it may have that value. */
gboolean
irisd_config_set_named (IrisdConfig *self,
                        const char *name,
                        const char *value,
                        const char *origin,
                        GError **error)
{
  const char *end = strchr (name, ']');
  g_autofree char *group = g_strndup (name + 1, (gsize) (end - name - 1));
  return set_in_group (self, group, end + 2, value, origin, error);
}

/* Returns the setting @name, which is `[group] key`; NULL if it has its default. */
const IrisdSetting *
irisd_config_get_setting (const IrisdConfig *self, const char *name)
{
  return g_hash_table_lookup (self->settings, name);
}

/* A file that is being read. */
typedef struct
{
  const char *path;
  const char *text;
  gsize length;
} File;

static char *
describe_origin (const File *file, const char *group, const char *key)
{
  guint line = find_line (file->text, file->length, group, key);
  return line > 0 ? g_strdup_printf ("%s, line %u", file->path, line) : g_strdup (file->path);
}

static gboolean
load_group (IrisdConfig *self,
            GKeyFile *keys_of,
            const File *file,
            const char *group,
            GError **error)
{
  static const char *const groups[] = { "irisd", "access", "cluster", "journal", "limits", NULL };
  if (!g_strv_contains (groups, group) && find_rule (self, group) == NULL)
    {
      g_autofree char *origin = describe_origin (file, group, NULL);
      return irisd_fail (
          error, IRISD_ERROR, IRISD_ERROR_USAGE,
          "%s, [%s]: there is no such group; irisd knows [irisd], [access], [cluster], [journal], "
          "[limits], [client] and [service NAME]",
          origin, group);
    }
  g_auto (GStrv) names = g_key_file_get_keys (keys_of, group, NULL, NULL);
  for (guint i = 0; names != NULL && names[i] != NULL; i++)
    {
      g_autoptr (GError) local = NULL;
      g_autofree char *value = g_key_file_get_string (keys_of, group, names[i], &local);
      g_autofree char *origin = describe_origin (file, group, names[i]);
      if (value == NULL || !set_in_group (self, group, names[i], value, origin, &local))
        return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE, "%s, [%s] %s: %s", origin, group,
                           names[i], local->message);
    }
  return TRUE;
}

/* GKeyFile does not report the line of a mistake either: it is the last one of the shortest
 * beginning that cannot be read. */
static guint
find_bad_line (const char *text, gsize length)
{
  guint line = 1;
  for (const char *at = text; at < text + length; line++)
    {
      const char *end = memchr (at, '\n', (gsize) (text + length - at));
      at = end != NULL ? end + 1 : text + length;
      g_autoptr (GKeyFile) beginning = g_key_file_new ();
      if (!g_key_file_load_from_data (beginning, text, (gsize) (at - text), G_KEY_FILE_NONE, NULL))
        return line;
    }
  return 1;
}

/* Reads a configuration file's @text; @path is for error messages, which name file, line and key.
 * Returns whether all of it is valid. */
gboolean
irisd_config_load_text (IrisdConfig *self,
                        const char *path,
                        const char *text,
                        gsize length,
                        GError **error)
{
  g_autoptr (GKeyFile) keys_of = g_key_file_new ();
  g_autoptr (GError) local = NULL;
  const File file = { path, text, length };
  if (!g_key_file_load_from_data (keys_of, text, length, G_KEY_FILE_NONE, &local))
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE, "%s, line %u: %s", path,
                       find_bad_line (text, length), local->message);

  g_auto (GStrv) groups = g_key_file_get_groups (keys_of, NULL);
  for (guint i = 0; groups[i] != NULL; i++)
    if (!load_group (self, keys_of, &file, groups[i], error))
      return FALSE;
  return TRUE;
}

/* Reads @path over the present values. Returns whether all of it is valid. */
gboolean
irisd_config_load_file (IrisdConfig *self, const char *path, GError **error)
{
  g_autofree char *text = NULL;
  gsize length = 0;
  g_autoptr (GError) local = NULL;
  if (!g_file_get_contents (path, &text, &length, &local))
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE, "cannot read the configuration: %s",
                       local->message);
  return irisd_config_load_text (self, path, text, length, error);
}

/* Returns the files to read, later ones over earlier ones: @option alone, or those of
 * `/etc/iris/irisd.conf` and `$XDG_CONFIG_HOME/iris/irisd.conf` that exist. */
char **
irisd_config_find_files (const char *option)
{
  g_autoptr (GStrvBuilder) files = g_strv_builder_new ();
  if (option != NULL)
    g_strv_builder_add (files, option);
  else
    {
      g_autofree char *own = g_build_filename (g_get_user_config_dir (), "iris", "irisd.conf",
                                               NULL);
      const char *candidates[] = { IRISD_SYSCONFDIR "/iris/irisd.conf", own };
      for (guint i = 0; i < G_N_ELEMENTS (candidates); i++)
        if (g_file_test (candidates[i], G_FILE_TEST_EXISTS))
          g_strv_builder_add (files, candidates[i]);
    }
  return g_strv_builder_end (files);
}

/* A database row has room for 10^9 bytes, with its header. */
static gboolean
check_journal_bodies (const IrisdConfig *self, GError **error)
{
  const guint64 most = G_GUINT64_CONSTANT (900000000);
  if (self->journal == NULL || self->limits.max_body <= most)
    return TRUE;
  return irisd_fail (
      error, IRISD_ERROR, IRISD_ERROR_USAGE,
      "max-body is too large for the journal: a body there has at most %" G_GUINT64_FORMAT
      " bytes; lower [limits] max-body (%" G_GUINT64_FORMAT ") or do without a journal",
      most, self->limits.max_body);
}

/* Returns where one of two limits was set, with a colon behind it, for an error's message. */
static char *
find_origin (const IrisdConfig *self, const char *lesser, const char *greater)
{
  g_autofree char *first = g_strconcat ("[limits] ", lesser, NULL);
  g_autofree char *second = g_strconcat ("[limits] ", greater, NULL);
  const IrisdSetting *setting = irisd_config_get_setting (self, first);
  if (setting == NULL)
    setting = irisd_config_get_setting (self, second);
  return setting != NULL ? g_strconcat (setting->origin, ": ", NULL) : g_strdup ("");
}

/* A message about a rule begins with the rule's name. */
static gboolean
check_access (const IrisdConfig *self, GError **error)
{
  g_autoptr (GError) local = NULL;
  if (irisd_access_check (&self->access, &local))
    return TRUE;
  const char *space = strchr (local->message, ' ');
  g_autofree char *name = g_strndup (local->message, strcspn (space + 1, " ")
                                                         + (gsize) (space + 1 - local->message));
  const IrisdSetting *setting = irisd_config_get_setting (self, name);
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE, "%s: %s",
                     setting != NULL ? setting->origin : "the configuration", local->message);
}

static const char *
get_origin (const IrisdConfig *self, const char *name)
{
  const IrisdSetting *setting = irisd_config_get_setting (self, name);
  return setting != NULL ? setting->origin : "the configuration";
}

/* Without encryption and keys only this machine may connect. */
static gboolean
check_tcp (const IrisdConfig *self, GError **error)
{
  if (self->server_key != NULL && self->tcp_trusted)
    return irisd_fail (
        error, IRISD_ERROR, IRISD_ERROR_USAGE,
        "%s, [irisd] tcp-trusted: with a server-key each client has the rights of its "
        "key; leave out the one or the other",
        get_origin (self, "[irisd] tcp-trusted"));
  if (self->server_key != NULL || self->tcp_host == NULL)
    return TRUE;
  g_autoptr (GInetAddress) address = g_inet_address_new_from_string (self->tcp_host);
  if (g_inet_address_get_is_loopback (address))
    return TRUE;
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                     "%s, [irisd] tcp: beyond loopback irisd listens with CURVE only; make a key "
                     "with “irisctl key "
                     "new”, name its file under [irisd] server-key, and let clients in with "
                     "“irisctl key allow”; or "
                     "write 127.0.0.1:%u instead of %s",
                     get_origin (self, "[irisd] tcp"), (guint) self->tcp_port, self->tcp_host);
}

/* Reads the files of the clients' keys as they are now. Returns whether they are all good. */
gboolean
irisd_config_load_keys (IrisdConfig *self, GError **error)
{
  g_autofree char *beside = NULL;
  const char *dir = NULL;
  if (self->server_key != NULL)
    {
      g_autofree char *parent = g_path_get_dirname (self->server_key);
      beside = g_build_filename (parent, "keys.d", NULL);
      dir = self->keys_dir != NULL ? self->keys_dir : beside;
    }
  g_clear_pointer (&self->keys, irisd_keys_free);
  self->keys = irisd_keys_load (dir, error);
  return self->keys != NULL;
}

/* Returns whether the limits fit each other: each allowed item can be accepted, and each allowed
 * result sent. */
gboolean
irisd_config_check (const IrisdConfig *self, GError **error)
{
  const IrisdLimits *limits = &self->limits;
  const struct
  {
    const char *lesser_name, *greater_name;
    guint64 lesser, greater;
  } rules[] = {
    { "max-output", "max-body", limits->max_output, limits->max_body },
    { "max-body", "in-flight-bytes", limits->max_body, limits->in_flight_bytes },
    { "in-flight-bytes", "total-bytes", limits->in_flight_bytes, limits->total_bytes },
    { "in-flight-items", "total-items", limits->in_flight_items, limits->total_items },
    { "keep-ms", "max-keep-ms", limits->keep_ms, limits->max_keep_ms },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rules); i++)
    if (rules[i].lesser > rules[i].greater)
      {
        g_autofree char *origin = find_origin (self, rules[i].lesser_name, rules[i].greater_name);
        return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                           "%s[limits] %s (%" G_GUINT64_FORMAT ") is more than %s "
                           "(%" G_GUINT64_FORMAT "); lower the one or raise the other",
                           origin, rules[i].lesser_name, rules[i].lesser, rules[i].greater_name,
                           rules[i].greater);
      }
  return check_access (self, error) && check_journal_bodies (self, error) && check_tcp (self, error)
         && irisd_cluster_config_check (&self->cluster, error);
}

/* Returns the roles of a user, of the owner of a key, or of IRISD_UID_UNKNOWN. */
IrisdRoles
irisd_config_find_roles (const IrisdConfig *self, gint64 uid)
{
  if (irisd_owner_is_key (uid))
    {
      const IrisdKey *key = irisd_keys_find_owner (self->keys, uid);
      return key != NULL ? key->roles : 0;
    }
  if (uid == IRISD_UID_UNKNOWN)
    return IRISD_ROLES (IRISD_ROLE_GUEST);
  return irisd_access_allows (&self->access, IRISD_ACCESS_OPERATE, uid)
             ? IRISD_ROLES (IRISD_ROLE_OPERATOR)
             : IRISD_ROLES (IRISD_ROLE_USER);
}
