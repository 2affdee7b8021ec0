/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Lets malloc() fail in the cores that are included behind this header.
 */
#pragma once

#include <stdlib.h>

/* How many allocations succeed from now on; -1: all. */
static int inject_n_good = -1;

static inline void *
inject_malloc (size_t size)
{
  if (inject_n_good == 0)
    return NULL;
  if (inject_n_good > 0)
    inject_n_good--;

  return malloc (size);
}

#define malloc(size) inject_malloc (size)
