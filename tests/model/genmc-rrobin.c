/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Driver for a C11 model checker: the round-robin ring. 1: a reader against one that adds and
 * removes. 2: two readers against one that adds, so that each of the three may free. No array is
 * freed while it is read.
 */
#include "genmc.h"

#include <stdlib.h>

/* Memory that is freed is written first: so a reader that is still in it is a data race. Of a freed
 * block the checker itself compares the first address alone. */
static void array_free (void *memory);
#define free(memory) array_free (memory)
#include "iris/queue/iris-rrobin-private.h"
#undef free

static IrisRRobinCore rrobin;
static int one, two;

static void
array_free (void *memory)
{
  IrisRRobinArray *array = memory;

  if (array != NULL)
    array->n = 1;
  free (array);
}

static void *
ask (void *data)
{
  const IrisRRobinArray *array = iris_rrobin_core_enter (&rrobin);
  void *member = array->members[iris_rrobin_core_next (&rrobin, array)];

  (void) data;
  assert (member == &one || member == &two);
  iris_rrobin_core_leave (&rrobin);

  return NULL;
}

static void *
change (void *data)
{
  (void) data;
  assert (iris_rrobin_core_append (&rrobin, &two, SIZE_MAX));
#if SCENARIO == 1
  assert (iris_rrobin_core_remove (&rrobin, &one) == IRIS_RROBIN_REMOVED);
#endif

  return NULL;
}

int
main (void)
{
  iris_rrobin_core_init (&rrobin, UINT64_MAX);
  assert (iris_rrobin_core_append (&rrobin, &one, SIZE_MAX));
#if SCENARIO == 1
  GENMC_RUN (ask, change);
#else
  GENMC_RUN (ask, ask, change);
#endif
  iris_rrobin_core_clear (&rrobin);

  return 0;
}
