/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An item as a text for an editor, and what the editor has made of it.
 *
 * A line for each value: its name, a colon, and the value. Lines that begin with # do not count. A
 * value counts only if its line differs from what it was, so what stays as it is is not sent: a
 * delay would begin anew.
 */
#include "clients/irisctl/command/irisctl-command.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* How a value is written. */
typedef enum
{
  FORM_WORDS, /* as a shell reads them */
  FORM_TIME,
  FORM_CLOCK,
  FORM_NUMBER,
  FORM_TEXT,
  FORM_PLACE,
} Form;

static const struct
{
  const char *name; /* of the protocol */
  const char *line; /* of the text, and of the option */
  Form form;
} values[] = {
  { "args", "args", FORM_WORDS },
  { "priority", "priority", FORM_NUMBER },
  { "queue", "queue", FORM_TEXT },
  { "delay-ms", "delay", FORM_TIME },
  { "at-ms", "at", FORM_CLOCK },
  { "deadline-ms", "deadline", FORM_TIME },
  { "hint", "place", FORM_PLACE },
  { "retries", "retries", FORM_NUMBER },
  { "backoff-ms", "backoff", FORM_TIME },
  { "time-to-run-ms", "time-to-run", FORM_TIME },
  { "time-limit-ms", "timeout", FORM_TIME },
  { "grace-ms", "grace", FORM_TIME },
  { "keep-ms", "keep", FORM_TIME },
};

static char *
quote_words (GVariant *value)
{
  g_autofree const char **words = g_variant_is_of_type (value, G_VARIANT_TYPE_STRING_ARRAY)
                                      ? g_variant_get_strv (value, NULL)
                                      : g_variant_get_bytestring_array (value, NULL);
  GString *text = g_string_new (NULL);

  for (guint i = 0; words[i] != NULL; i++)
    {
      g_autofree char *quoted = g_shell_quote (words[i]);
      gboolean plain =
          words[i][0] != '\0'
          && words[i][strspn (words[i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                        "0123456789_-./=:,+@%")]
                 == '\0';

      g_string_append_printf (text, "%s%s", i > 0 ? " " : "", plain ? words[i] : quoted);
    }
  return g_string_free (text, FALSE);
}

static char *
write_value (GVariant *value, Form form)
{
  guint64 number;

  if (form == FORM_WORDS)
    return quote_words (value);
  if (form == FORM_TEXT)
    return g_variant_dup_string (value, NULL);
  if (form == FORM_PLACE)
    return g_variant_get_int32 (value) < 0 ? g_strdup ("")
                                           : g_strdup_printf ("%d", g_variant_get_int32 (value));
  number = g_variant_is_of_type (value, G_VARIANT_TYPE_UINT64) ? g_variant_get_uint64 (value)
                                                               : g_variant_get_uint32 (value);
  if (form == FORM_CLOCK)
    {
      g_autoptr (GDateTime) when = g_date_time_new_from_unix_local ((gint64) (number / 1000));

      return g_date_time_format (when, "%Y-%m-%dT%H:%M:%S");
    }
  if (form == FORM_TIME)
    return number % 1000 == 0 ? g_strdup_printf ("%" G_GUINT64_FORMAT "s", number / 1000)
                              : g_strdup_printf ("%" G_GUINT64_FORMAT "ms", number);
  return g_strdup_printf ("%" G_GUINT64_FORMAT, number);
}

/* @item: what iris_client_export_item_finish() gives. Returns its text. A value with a line break
 * cannot be shown; it stays. */
char *
ctl_edit_form_write (guint64 number, GVariant *item)
{
  GString *text = g_string_new (NULL);
  const char *service = "";

  g_variant_lookup (item, "service", "&s", &service);
  g_string_append_printf (
      text,
      "# Item %" G_GUINT64_FORMAT " of the service “%s”.\n"
      "# Only lines that you change count; an empty value cannot be set, so to run the item now "
      "write a delay of 0.\n"
      "# A delay and a deadline count from now. Times: 90, 5m, 2h, 1d. Save nothing to change "
      "nothing.\n",
      number, service);
  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    {
      g_autoptr (GVariant) value = g_variant_lookup_value (item, values[i].name, NULL);
      g_autofree char *written = value != NULL ? write_value (value, values[i].form)
                                               : g_strdup ("");

      if (strchr (written, '\n') == NULL)
        g_string_append_printf (text, "%s: %s\n", values[i].line, written);
    }
  return g_string_free (text, FALSE);
}

/* The values by name. NULL after printing what is wrong. */
static GHashTable *
read_lines (const char *text)
{
  g_autoptr (GHashTable) found = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *line = g_strstrip (lines[i]);
      char *colon = strchr (line, ':');
      gboolean known = FALSE;

      if (*line == '\0' || *line == '#')
        continue;
      for (guint v = 0; v < G_N_ELEMENTS (values) && colon != NULL; v++)
        known |= strlen (values[v].line) == (gsize) (colon - line)
                 && g_str_has_prefix (line, values[v].line);
      if (!known)
        {
          ctl_fail (CTL_USAGE,
                    "edit: line %u, “%s”, is not one of the values with a colon; nothing was "
                    "changed",
                    i + 1, line);
          return NULL;
        }
      g_hash_table_insert (found, g_strndup (line, (gsize) (colon - line)),
                           g_strdup (g_strstrip (colon + 1)));
    }
  return g_steal_pointer (&found);
}

/* What @after says differently than @before, by name. NULL after printing what is wrong. */
GHashTable *
ctl_edit_form_compare (const char *before, const char *after)
{
  g_autoptr (GHashTable) old = read_lines (before);
  g_autoptr (GHashTable) new = old != NULL ? read_lines (after) : NULL;
  GHashTableIter iter;
  gpointer name, value;

  if (new == NULL)
    return NULL;
  g_hash_table_iter_init (&iter, new);
  while (g_hash_table_iter_next (&iter, &name, &value))
    {
      const char *was = g_hash_table_lookup (old, name);

      if (g_strcmp0 (was, value) == 0)
        g_hash_table_iter_remove (&iter);
      else if (*(const char *) value == '\0')
        {
          ctl_fail (CTL_USAGE,
                    "edit: “%s” is empty; a value is replaced by another one, and stays if its "
                    "line is left as it is; nothing was changed",
                    (const char *) name);
          return NULL;
        }
    }
  return g_steal_pointer (&new);
}

/* As crontab(1) has it. */
static int
run_editor (const char *path)
{
  const char *editor = g_getenv ("VISUAL") != NULL   ? g_getenv ("VISUAL")
                       : g_getenv ("EDITOR") != NULL ? g_getenv ("EDITOR")
                                                     : "vi";
  g_autofree char *script = g_strconcat (editor, " \"$1\"", NULL);
  const char *const argv[] = { "sh", "-c", script, "sh", path, NULL };
  g_autoptr (GError) error = NULL;
  int status;

  if (!g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_CHILD_INHERITS_STDIN,
                     NULL, NULL, NULL, NULL, &status, &error))
    return ctl_fail (CTL_FAILED, "edit: cannot start the editor: %s", error->message);
  if (!WIFEXITED (status) || WEXITSTATUS (status) != 0)
    return ctl_fail (CTL_FAILED,
                     "edit: the editor “%s” failed; nothing was changed. Name another "
                     "one in the environment variable EDITOR",
                     editor);

  return CTL_OK;
}

/* Has the user's editor change @text. */
int
ctl_edit_form_show (const char *text, char **edited)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp ("irisctl-edit-XXXXXX.txt", &path, &error);
  int status = CTL_OK;

  if (fd < 0)
    return ctl_fail (CTL_FAILED, "edit: %s", error->message);
  close (fd);
  if (!g_file_set_contents (path, text, -1, &error))
    status = ctl_fail (CTL_FAILED, "edit: %s", error->message);
  if (status == CTL_OK)
    status = run_editor (path);
  if (status == CTL_OK && !g_file_get_contents (path, edited, NULL, &error))
    status = ctl_fail (CTL_FAILED, "edit: %s", error->message);
  g_unlink (path);

  return status;
}
