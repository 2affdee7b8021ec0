/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tally of a map: what each place was hinted, ran and stole.
 */
#pragma once

#include "clients/irisctl/output/irisctl-json.h"
#include <iris-client/iris-client.h>

typedef struct
{
  const char *name; /* the place's; valid as long as the list of places */
  guint64 hinted;
  guint64 executed;
  guint64 stolen_in;
  guint64 stolen_out;
  guint64 bytes;
  guint64 run_ns;
} CtlTallyRow;

typedef struct
{
  CtlTallyRow *rows;
  guint n_rows;
  CtlTallyRow total;
  guint64 failed; /* files without a result */
} CtlTally;

void ctl_tally_init (CtlTally *self, GPtrArray *places);
void ctl_tally_clear (CtlTally *self);
void ctl_tally_hint (CtlTally *self, int place);

/* An item that was queued at @home ran at @place. Ids that are no places are left out. */
void ctl_tally_ran (CtlTally *self, int home, int place, guint64 bytes, guint64 run_ns);

char *ctl_tally_to_string (const CtlTally *self);
void ctl_tally_to_json (const CtlTally *self, JsonBuilder *builder);
