/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Connections that have come in and not said HELLO, or have said BYE since.
 */
#pragma once

#include "irisd-limits.h"

G_BEGIN_DECLS

typedef struct _IrisdStrangers IrisdStrangers;

/**
 * IrisdConnection:
 * @fd: the descriptor of a connection
 * @cookie: what tells it from others that have had that descriptor; 0: nothing is known of it
 */
typedef struct
{
  int fd;
  guint64 cookie;
} IrisdConnection;

guint64 irisd_connection_get_cookie (int fd);
gboolean irisd_connection_is_at (int fd, const char *endpoint);

IrisdStrangers *irisd_strangers_new (const IrisdLimits *limits);
void irisd_strangers_free (IrisdStrangers *self);

/* Any thread. */
IrisdConnection irisd_strangers_greet (IrisdStrangers *self, int fd);
void irisd_strangers_part (IrisdStrangers *self, const IrisdConnection *connection, gint64 now_us);

/* The doorkeeper's. */
void irisd_strangers_enter (IrisdStrangers *self, int fd, const char *endpoint, gint64 now_us);
gint64 irisd_strangers_sweep (IrisdStrangers *self, gint64 now_us);
guint irisd_strangers_get_count (IrisdStrangers *self);
int irisd_strangers_get_wake_fd (IrisdStrangers *self);

G_END_DECLS
