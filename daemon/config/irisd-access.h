/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Access: which users are admitted, and what irisd does for them with its own rights.
 */
#pragma once

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

/* The user of a connection without one, such as one over TCP. */
#define IRISD_UID_UNKNOWN ((gint64) -1)

/**
 * IrisdAccessRule:
 * @IRISD_ACCESS_ENTER: to connect over ipc
 * @IRISD_ACCESS_COMMANDS: to have programs run
 * @IRISD_ACCESS_FILES: to have files read
 * @IRISD_ACCESS_OPERATE: to see and control the items of all users, and the places
 *
 * The right that a rule gives.
 */
typedef enum
{
  IRISD_ACCESS_ENTER,
  IRISD_ACCESS_COMMANDS,
  IRISD_ACCESS_FILES,
  IRISD_ACCESS_OPERATE,
  IRISD_ACCESS_N_RULES
} IrisdAccessRule;

/**
 * IrisdAccess:
 *
 * The group [access] of the configuration: the users of each rule. Constant once read.
 */
typedef struct
{
  /*< private >*/
  GArray *uids[IRISD_ACCESS_N_RULES]; /* of uid_t, beside the owner */
  gboolean not_even_owner[IRISD_ACCESS_N_RULES];
  GArray *grants; /* users that serve others, with their services */
} IrisdAccess;

void irisd_access_init (IrisdAccess *self);
void irisd_access_clear (IrisdAccess *self);
gboolean irisd_access_set (IrisdAccess *self, const char *key, const char *value, GError **error);
gboolean irisd_access_check (const IrisdAccess *self, GError **error);
gboolean irisd_access_is_shared (const IrisdAccess *self);
gboolean irisd_access_allows (const IrisdAccess *self, IrisdAccessRule rule, gint64 uid);
gboolean irisd_access_may_serve (const IrisdAccess *self, gint64 uid, const char *service);
const char *irisd_access_rule_name (IrisdAccessRule rule);
gint64 irisd_access_parse_address (const char *address);

G_END_DECLS
