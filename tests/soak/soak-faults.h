/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Commands of the test to the shim between irisd and the C library: a file that both have mapped,
 * named by the variable IRIS_FAULTS.
 */
#pragma once

#include <iris/base/iris-atomic-private.h>

typedef struct
{
  _Atomic int64_t clock_offset_ns; /* is added to the time of day */
  _Atomic int failing_syncs;       /* syncs that fail next */
  _Atomic int failed_syncs;
  _Atomic int failing_reads; /* reads of the journal's files that fail next */
  _Atomic int failed_reads;
} SoakFaults;
