/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What persistent commands write, kept in files within limits, so that it can be followed.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Bytes of one piece of kept output, at most. */
#define IRISD_OUTPUT_PIECE (16 * 1024)

/* What is kept of an output that is longer than its limit. */
typedef enum
{
  IRISD_OUTPUT_HEAD_AND_TAIL, /* its beginning and its end */
  IRISD_OUTPUT_TAIL,          /* its end */
} IrisdOutputPolicy;

typedef struct _IrisdOutputs IrisdOutputs;

/* The output of one attempt, for the thread that writes it. */
typedef struct _IrisdKeptOutput IrisdKeptOutput;

/* Returns whether item @item is there. */
typedef gboolean (*IrisdOutputFilter) (guint64 item, gpointer user_data);

IrisdOutputs *irisd_outputs_new (const char *dir, guint64 most, GError **error);
void irisd_outputs_free (IrisdOutputs *self);
void irisd_outputs_retain (IrisdOutputs *self, IrisdOutputFilter is_there, gpointer user_data);
void irisd_outputs_remove (IrisdOutputs *self, guint64 item);
guint64 irisd_outputs_get_size (IrisdOutputs *self);

/* The output of an attempt takes the place of that of the attempt before. */
IrisdKeptOutput *
irisd_outputs_begin (IrisdOutputs *self, guint64 item, guint64 most, IrisdOutputPolicy policy);
void irisd_kept_output_write (IrisdKeptOutput *self, guint channel, const guint8 *data, gsize size);
void irisd_kept_output_end (IrisdKeptOutput *self);

G_END_DECLS
