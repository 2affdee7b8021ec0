/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Roles: what a connection may do, of which a key can have several.
 */
#include "daemon/config/irisd-role.h"

#include "daemon/base/irisd-error.h"

#include <string.h>

/* Only those that a key can have. */
static const char *const names[IRISD_N_ROLES] = {
  [IRISD_ROLE_OBSERVE] = "observe",
  [IRISD_ROLE_SUBMIT] = "submit",
  [IRISD_ROLE_WORK] = "work",
  [IRISD_ROLE_CONTROL] = "control",
};

/* Sets @roles from names with `;` between them. Returns whether each is a role that a key can have,
 * and there is one. */
gboolean
irisd_roles_parse (const char *text, IrisdRoles *roles, GError **error)
{
  g_auto (GStrv) words = g_strsplit (text, ";", -1);
  *roles = 0;
  for (guint i = 0; words[i] != NULL; i++)
    {
      const char *word = g_strstrip (words[i]);
      guint role = 0;
      while (role < IRISD_N_ROLES && g_strcmp0 (names[role], word) != 0)
        role++;
      if (role < IRISD_N_ROLES)
        *roles |= IRISD_ROLES (role);
      else if (*word != '\0')
        return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                           "there is no role “%s”; choose observe, submit, work and control, with "
                           "“;” between them",
                           word);
    }
  if (*roles != 0)
    return TRUE;
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                     "no role is given; choose observe, submit, work and control, with “;” between "
                     "them");
}

/* Returns what irisd_roles_parse() takes; empty without a role of a key. */
char *
irisd_roles_to_text (IrisdRoles roles)
{
  GString *text = g_string_new (NULL);
  for (guint role = 0; role < IRISD_N_ROLES; role++)
    if ((roles & IRISD_ROLES (role)) != 0 && names[role] != NULL)
      g_string_append_printf (text, "%s%s", text->len > 0 ? ";" : "", names[role]);
  return g_string_free (text, FALSE);
}
