/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Messages of which ZeroMQ has received some frames and not the last one: bounds on their memory.
 */
#pragma once

#include "daemon/config/irisd-limits.h"

G_BEGIN_DECLS

/* What ZeroMQ needs for a frame beside its bytes. */
#define IRISD_UNFINISHED_FRAME 128

/* ZeroMQ receives into a buffer of this size. A frame in it keeps all of the buffer, unless it fits
 * ZeroMQ 4's smallest record of a frame (IRISD_UNFINISHED_INLINE). */
#define IRISD_UNFINISHED_BUFFER 8192
#define IRISD_UNFINISHED_INLINE 29

/* The most bytes of a command of the CURVE handshake; real ones have some hundred. */
#define IRISD_UNFINISHED_HANDSHAKE 4096

/* What encryption adds to a frame: name of the command, nonce, authenticator and flags. */
#define IRISD_UNFINISHED_BOX 33

void irisd_unfinished_set_limits (const IrisdLimits *limits);
void irisd_unfinished_enter (int fd);
void irisd_unfinished_listen (const char *endpoint);
void irisd_unfinished_take (int fd, guint n_frames, guint64 bytes);
void irisd_unfinished_settle (int fd);
guint64 irisd_unfinished_get_bytes (void);

G_END_DECLS
