/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Jobs on their way to the scheduler, and back from it.
 */
#pragma once

#include "daemon/items/irisd-items.h"

G_BEGIN_DECLS

gboolean irisd_dispatch_run_at_once (IrisdItems *self, IrisdJob *job);
void irisd_dispatch_advance (IrisdItems *self, IrisdJob *job);
void irisd_dispatch_advance_held (IrisdItems *self, IrisdPeer *peer);
void irisd_dispatch_release_held (IrisdItems *self, IrisdPeer *peer);
gboolean irisd_dispatch_withdraw (IrisdItems *self, IrisdJob *job);
guint irisd_dispatch_kick (IrisdItems *self, IrisdJob *job);
guint irisd_dispatch_kick_all (IrisdItems *self, gint64 view, guint most);

/* Messages. */
void irisd_dispatch_take_job (IrisdItems *self, IrisdJob *job);
void irisd_dispatch_take_decision (IrisdItems *self, IrisdMessage *queued_message);
void irisd_dispatch_go_on (IrisdItems *self, IrisdJob *job);
void irisd_dispatch_note_left (IrisdItems *self, IrisdJob *job);
void irisd_dispatch_limit_run (IrisdItems *self, IrisdMessage *queued_message);

/* What a turn of the gateway does. */
void irisd_dispatch_fill_gate (IrisdItems *self, gint place);
void irisd_dispatch_tell_gates (IrisdItems *self);
void irisd_dispatch_wake_due (IrisdItems *self);
gint64 irisd_dispatch_get_due_us (IrisdItems *self);
gboolean irisd_dispatch_gives_no_turns (IrisdItems *self, IrisdPhase phase);
void irisd_dispatch_end_waiting (IrisdItems *self, IrisdPhase phase);
void irisd_dispatch_end_parked (IrisdItems *self);

G_END_DECLS
