/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A peer that speaks ZMTP, the protocol below ZeroMQ, by hand, and stops or ends anywhere, which
 * ZeroMQ itself never does.
 */
#pragma once

#include <glib.h>

int raw_connect (const char *endpoint);
gboolean raw_write (int fd, const void *data, gsize size);
gboolean raw_write_greeting (int fd);
int raw_connect_ready (const char *endpoint);
int raw_try_connect_ready (const char *endpoint);
gboolean raw_write_frame (int fd, const void *data, gsize size, gboolean more);
gboolean raw_write_message (int fd, const char *type, const void *header, gsize size);
gboolean raw_write_hello (int fd);
void raw_wait_until_taken (int fd);
gboolean raw_try_wait_until_taken (int fd);
void raw_wait_for_hang_up (int fd);
void raw_reset (int fd);
