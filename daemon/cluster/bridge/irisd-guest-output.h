/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What guests tell their homes while they run: where they are, how far, and what they write.
 */
#pragma once

#include "daemon/cluster/bridge/irisd-bridge-shared.h"

G_BEGIN_DECLS

typedef struct _IrisdGuestOutputs IrisdGuestOutputs;

/* That of one run of a guest. */
typedef struct _IrisdGuestOutput IrisdGuestOutput;

typedef enum
{
  IRISD_GUEST_OUTPUT_NONE,   /* the run tells where it is, and its progress */
  IRISD_GUEST_OUTPUT_COPY,   /* and its output, which is in its result as well */
  IRISD_GUEST_OUTPUT_STREAM, /* and its output or parts, which are nowhere else */
} IrisdGuestOutputKind;

/* Why the home does not want a run any more. */
typedef enum
{
  IRISD_GUEST_UNWANTED_LATER,   /* a later run has begun */
  IRISD_GUEST_UNWANTED_UNKNOWN, /* the item has ended there, or its client has gone */
  IRISD_GUEST_UNWANTED_SILENT,  /* it does not answer */
} IrisdGuestUnwanted;

/* They may end the run. */
typedef struct
{
  /* the home has all, after irisd_guest_output_finish() */
  void (*finished) (gpointer guest, gpointer user_data);
  /* of a STREAM */
  void (*unwanted) (gpointer guest, IrisdGuestUnwanted why, gpointer user_data);
} IrisdGuestOutputFuncs;

IrisdGuestOutputs *irisd_guest_outputs_new (const IrisdBridgeShared *shared,
                                            IrisdBridgeLink *link,
                                            const IrisdGuestOutputFuncs *funcs,
                                            gpointer user_data);
void irisd_guest_outputs_stop (IrisdGuestOutputs *self);
void irisd_guest_outputs_free (IrisdGuestOutputs *self);

IrisdGuestOutputKind irisd_guest_output_choose (IrisWireMessage *submit, guint64 *credit);
IrisdGuestOutput *irisd_guest_output_new (IrisdGuestOutputs *outputs,
                                          const IrisdWorkMessage *from,
                                          guint64 run,
                                          IrisdGuestOutputKind kind,
                                          guint64 credit,
                                          const guint8 *request,
                                          gpointer guest);
void irisd_guest_output_free (IrisdGuestOutput *self);
void irisd_guest_output_take (IrisdGuestOutput *self, const IrisWireMessage *message);
gboolean irisd_guest_output_finish (IrisdGuestOutput *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdGuestOutputs, irisd_guest_outputs_free)

G_END_DECLS
