/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ABA schedules that run the cores that ship, compiled with stamps and without.
 */
#pragma once

#include <stdbool.h>

/* True when every item was taken exactly once and the structure is whole. */
typedef struct
{
  bool (*stack) (void);
  bool (*free_list) (void);
  bool (*queue_pop) (void);
  bool (*queue_push) (void);
} AbaSchedules;

extern const AbaSchedules aba_stamped;
extern const AbaSchedules aba_bare;
