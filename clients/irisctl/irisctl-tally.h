/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What ran where: the table at the end of irisctl map.
 */
#pragma once

#include "irisctl-json.h"

#include <iris-client/iris-client.h>

G_BEGIN_DECLS

typedef struct
{
  int id;
  char *name;
  guint64 hinted;
  guint64 executed;
  guint64 stolen_in;
  guint64 stolen_out;
  guint64 bytes;
  guint64 run_ns;
} IrisctlTallyRow;

typedef struct
{
  GArray *rows; /* IrisctlTallyRow, by place */
  IrisctlTallyRow total;
} IrisctlTally;

IrisctlTally *irisctl_tally_new (GPtrArray *places);
void irisctl_tally_free (IrisctlTally *self);
void irisctl_tally_hinted (IrisctlTally *self, int place);
void irisctl_tally_ended (IrisctlTally *self, int home, int place, guint64 bytes, guint64 run_ns);
char *irisctl_tally_format (IrisctlTally *self);
void irisctl_tally_as_json (IrisctlTally *self, JsonBuilder *json);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisctlTally, irisctl_tally_free)

G_END_DECLS
