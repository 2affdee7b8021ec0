/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Many items, one for each line of a file.
 */
#pragma once

#include "irisctl-item.h"

/* What becomes of a line that is not a JSON object. */
typedef enum
{
  CTL_BULK_JSON,     /* it is one */
  CTL_BULK_PAYLOAD,  /* the item's payload */
  CTL_BULK_ARGUMENT, /* stands for {} in the arguments, or comes behind them */
  CTL_BULK_PATH,     /* a file that irisd reads */
} CtlBulkKind;

typedef struct
{
  const char *path; /* "-": standard input */
  CtlBulkKind kind;
  char delimiter;
  const char *key_prefix; /* keys are made of it and the number of the line; NULL: no keys */
  gboolean resume;        /* it is made of what the file holds */
  gboolean keep_going;    /* behind a line that cannot be read, or that irisd refuses */
  int in_flight;          /* items at once */
  CtlItem item;           /* what the lines do not say */
} CtlBulkOptions;

#define CTL_BULK_IN_FLIGHT      1024
#define CTL_BULK_MOST_IN_FLIGHT 1000000

/* Submits all, prints what becomes of them, and returns the exit status. */
int ctl_bulk_submit (Ctl *ctl, const CtlBulkOptions *options);
