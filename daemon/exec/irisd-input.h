/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A service's input, in pieces: the payload, or a file.
 */
#pragma once

#include "daemon/exec/irisd-job.h"

G_BEGIN_DECLS

/* Bytes read at a time; between two reads a service notices that it must stop. */
#define IRISD_INPUT_CHUNK (256 * 1024)

typedef void (*IrisdInputFunc) (const guint8 *data, gsize size, gpointer user_data);

gboolean irisd_input_each (IrisdJob *job, IrisdInputFunc func, gpointer user_data);
gboolean irisd_input_check (const IrisWireMessage *item, GError **error);

G_END_DECLS
