/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Many items, one for each line of a file.
 */
#pragma once

#include "clients/irisctl/input/irisctl-item.h"

/* What becomes of a line that is not a JSON object. */
typedef enum
{
  CTL_LINE_JSON,     /* it is one */
  CTL_LINE_PAYLOAD,  /* the item's payload */
  CTL_LINE_ARGUMENT, /* stands for {} in the arguments, or comes behind them */
  CTL_LINE_PATH,     /* a file that irisd reads */
} CtlLineKind;

typedef struct
{
  const char *path; /* "-": standard input */
  CtlLineKind kind;
  char delimiter;
  const char *key_prefix; /* keys are made of it and the number of the line; NULL: no keys */
  gboolean resume;        /* it is made of what the file holds */
  gboolean keep_going;    /* behind a line that cannot be read, or that irisd refuses */
  int in_flight;          /* items at once */
  CtlItem item;           /* what the lines do not say */
} CtlSubmitManyOptions;

#define CTL_LINE_IN_FLIGHT      1024
#define CTL_LINE_MOST_IN_FLIGHT 1000000

/* Submits all, prints what becomes of them, and returns the exit status. */
int ctl_submit_many (Ctl *ctl, const CtlSubmitManyOptions *options);
