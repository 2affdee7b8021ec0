/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Socket activation: the front door's socket, which the service manager has bound before irisd was
 * started.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  int fd;         /* -1: none was passed */
  char *endpoint; /* of it, `ipc://…` */
} IrisdActivation;

gboolean irisd_activation_take (IrisdActivation *self, GError **error);
void irisd_activation_clear (IrisdActivation *self);

G_END_DECLS
