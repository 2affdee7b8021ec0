/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Places: partitions, names, workers, distances.
 */
#include <check.h>
#include <iris/iris.h>
int
main (void)
{
  return 0;
}
