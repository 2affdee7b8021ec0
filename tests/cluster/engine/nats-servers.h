/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Servers of NATS on loopback for tests, with their stores in a folder that goes with them.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define NATS_SERVERS_MAX 3

typedef struct
{
  char *folder;
  guint n;
  const char *more; /* lines for each configuration, or NULL */
  guint16 ports[NATS_SERVERS_MAX];
  guint16 monitor_ports[NATS_SERVERS_MAX];
  guint16 route_ports[NATS_SERVERS_MAX];
  GPid pids[NATS_SERVERS_MAX]; /* 0: not running */
} NatsServers;

/* The program, or NULL: then tests are skipped. */
const char *nats_servers_get_program (void);
void nats_servers_start (NatsServers *self, guint n, const char *more);
void nats_servers_stop (NatsServers *self);
void nats_servers_start_one (NatsServers *self, guint i);
/* Kills and reaps. */
void nats_servers_kill (NatsServers *self, guint i, int signal);
char *nats_servers_get_url (NatsServers *self);
char *nats_servers_get_monitor (NatsServers *self, guint i);
/* The server of that name ("n1"…), or of that port. */
guint nats_servers_find (NatsServers *self, const char *name);
guint nats_servers_find_by_url (NatsServers *self, const char *url);

G_END_DECLS
