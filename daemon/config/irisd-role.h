/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Roles: what a connection may do, of which a key can have several.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  IRISD_ROLE_GUEST,    /* a client over TCP without a key, unless the configuration trusts those */
  IRISD_ROLE_USER,     /* a user that the configuration admits */
  IRISD_ROLE_OPERATOR, /* irisd's own user, and those under [access] operators */
  IRISD_ROLE_OBSERVE,  /* of a key: sees everything and changes nothing */
  IRISD_ROLE_SUBMIT,   /* of a key: has items of its own */
  IRISD_ROLE_WORK,     /* of a key: runs items, as a worker process */
  IRISD_ROLE_CONTROL,  /* of a key: changes items of all owners, the places and irisd */
  IRISD_N_ROLES
} IrisdRole;

/* A set of roles, a bit each. */
typedef guint8 IrisdRoles;

#define IRISD_ROLES(role) ((IrisdRoles) (1u << (role)))

gboolean irisd_roles_parse (const char *text, IrisdRoles *roles, GError **error);
char *irisd_roles_to_text (IrisdRoles roles);

G_END_DECLS
