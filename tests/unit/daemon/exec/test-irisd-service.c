/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The table of services.
 */
#include "core-test-run.h"
#include "daemon/exec/irisd-service.h"

#include <check.h>

TEST (a_name_belongs_to_one_service)
{
  g_autoptr (IrisdServices) services = irisd_services_new ();
  const IrisdService mine = { .name = "echo", .summary = "mine" };
  const IrisdService other = { .name = "echo", .summary = "other" };
  ck_assert (irisd_services_add (services, &mine));
  ck_assert (!irisd_services_add (services, &other));
  const IrisWireString names[] = { { "echo", 4 }, { "ech", 3 }, { "echoo", 5 }, { NULL, 0 } };
  ck_assert_ptr_eq (irisd_services_lookup (services, &names[0]), &mine);
  for (guint i = 1; i < G_N_ELEMENTS (names); i++)
    ck_assert_ptr_null (irisd_services_lookup (services, &names[i]));
}

TEST_MAIN ("irisd-service", NULL, NULL)
