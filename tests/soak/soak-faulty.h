/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An irisd with the shim between it and the C library.
 */
#pragma once

#include "soak-faults.h"
#include "soak.h"

typedef struct
{
  char *path;
  SoakFaults *faults;
} Faulty;

void faulty_init (Faulty *self, Home *home);
void faulty_clear (Faulty *self);
Irisd *faulty_start (Faulty *self, Home *home, const char *config);
