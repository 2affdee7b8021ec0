/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Who may do what: the users that are let in, and what is done for them with irisd's rights.
 *
 * Without a word in the configuration that is irisd's owner alone. Whom the configuration lets in
 * may have irisd compute, and no more: programs run and files are read with the owner's rights, so
 * each of the two has a list of its own. Nothing is ever done with the rights of another user.
 */
#include "irisd-access.h"

#include "irisd-error.h"

#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

static const char *const rule_names[IRISD_ACCESS_N_RULES] = {
  [IRISD_ACCESS_ENTER] = "users",
  [IRISD_ACCESS_COMMANDS] = "commands",
  [IRISD_ACCESS_FILES] = "files",
};

void
irisd_access_init (IrisdAccess *self)
{
  *self = (IrisdAccess){ 0 };
  for (guint rule = 0; rule < IRISD_ACCESS_N_RULES; rule++)
    self->uids[rule] = g_array_new (FALSE, FALSE, sizeof (uid_t));
}

void
irisd_access_clear (IrisdAccess *self)
{
  for (guint rule = 0; rule < IRISD_ACCESS_N_RULES; rule++)
    g_array_unref (self->uids[rule]);
}

const char *
irisd_access_rule_name (IrisdAccessRule rule)
{
  return rule_names[rule];
}

static gboolean
find_user (const char *name, uid_t *uid, GError **error)
{
  guint64 number;
  if (g_ascii_string_to_unsigned (name, 10, 0, G_MAXUINT32 - 1, &number, NULL))
    {
      *uid = (uid_t) number;
      return TRUE;
    }
  struct passwd entry, *found = NULL;
  char buffer[16384];
  int rc = getpwnam_r (name, &entry, buffer, sizeof buffer, &found);
  if (found != NULL)
    {
      *uid = found->pw_uid;
      return TRUE;
    }
  g_set_error (error, IRISD_ERROR, IRISD_ERROR_USAGE,
               "there is no user “%s”%s%s: write names or numbers with “;” between them", name,
               rc != 0 ? ": " : "", rc != 0 ? g_strerror (rc) : "");
  return FALSE;
}

static gboolean
set_rule (IrisdAccess *self, guint rule, const char *value, GError **error)
{
  g_auto (GStrv) names = g_strsplit (value, ";", -1);
  g_array_set_size (self->uids[rule], 0);
  self->not_even_owner[rule] = FALSE;
  for (guint i = 0; names[i] != NULL; i++)
    {
      const char *name = g_strstrip (names[i]);
      uid_t uid;
      if (*name == '\0')
        continue;
      if (rule != IRISD_ACCESS_ENTER && strcmp (name, "none") == 0)
        {
          self->not_even_owner[rule] = TRUE;
          continue;
        }
      if (!find_user (name, &uid, error))
        return FALSE;
      g_array_append_val (self->uids[rule], uid);
    }
  if (!self->not_even_owner[rule] || self->uids[rule]->len == 0)
    return TRUE;
  g_set_error_literal (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                       "“none” stands alone: it is not even irisd's owner");
  return FALSE;
}

/**
 * irisd_access_set:
 * @self: the rules
 * @key: a key of the group [access]
 * @value: user names or numbers, with `;` between them; for all but `users` also `none`
 * @error: return location for a #GError of the domain %IRISD_ERROR
 *
 * Returns: whether there is such a key and such users
 */
gboolean
irisd_access_set (IrisdAccess *self, const char *key, const char *value, GError **error)
{
  for (guint rule = 0; rule < IRISD_ACCESS_N_RULES; rule++)
    if (strcmp (rule_names[rule], key) == 0)
      return set_rule (self, rule, value, error);
  g_set_error (error, IRISD_ERROR, IRISD_ERROR_USAGE,
               "there is no key “%s” in this group: it has users, commands and files", key);
  return FALSE;
}

static gboolean
lists (const IrisdAccess *self, IrisdAccessRule rule, gint64 uid)
{
  for (guint i = 0; i < self->uids[rule]->len; i++)
    if ((gint64) g_array_index (self->uids[rule], uid_t, i) == uid)
      return TRUE;
  return FALSE;
}

/**
 * irisd_access_check:
 * @self: all rules
 * @error: return location for a #GError of the domain %IRISD_ERROR
 *
 * Returns: whether they go together: who may have something done has to be let in
 */
gboolean
irisd_access_check (const IrisdAccess *self, GError **error)
{
  for (guint rule = 1; rule < IRISD_ACCESS_N_RULES; rule++)
    for (guint i = 0; i < self->uids[rule]->len; i++)
      {
        uid_t uid = g_array_index (self->uids[rule], uid_t, i);
        if (irisd_access_allows (self, IRISD_ACCESS_ENTER, uid))
          continue;
        g_set_error (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                     "[access] %s names the user %u, who is not let in: name that user under users "
                     "as well",
                     rule_names[rule], (guint) uid);
        return FALSE;
      }
  return TRUE;
}

/**
 * irisd_access_is_shared:
 * @self: the rules
 *
 * Returns: whether others than the owner are let in, so that the sockets have to be within reach
 */
gboolean
irisd_access_is_shared (const IrisdAccess *self)
{
  return self->uids[IRISD_ACCESS_ENTER]->len > 0;
}

/**
 * irisd_access_allows:
 * @self: the rules
 * @rule: which of them
 * @uid: a user, or %IRISD_NOBODY
 *
 * Returns: whether it allows @uid what it is about
 */
gboolean
irisd_access_allows (const IrisdAccess *self, IrisdAccessRule rule, gint64 uid)
{
  if (uid == IRISD_NOBODY)
    return FALSE;
  return uid == (gint64) geteuid () ? !self->not_even_owner[rule] : lists (self, rule, uid);
}

/**
 * irisd_access_parse_address:
 * @address: (nullable): what ZeroMQ says of a connection
 *
 * Of one over ipc that is `localhost:UID:GID:PID`, from the kernel.
 *
 * Returns: the user, or %IRISD_NOBODY
 */
gint64
irisd_access_parse_address (const char *address)
{
  if (address == NULL || !g_str_has_prefix (address, "localhost:"))
    return IRISD_NOBODY;
  const char *digits = address + strlen ("localhost:");
  char *end = NULL;
  errno = 0;
  guint64 uid = g_ascii_isdigit (*digits) ? g_ascii_strtoull (digits, &end, 10) : G_MAXUINT64;
  return errno == 0 && uid < G_MAXUINT32 && *end == ':' ? (gint64) uid : IRISD_NOBODY;
}
