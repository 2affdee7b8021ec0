/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The service `echo`: the payload comes back.
 */
#include "daemon/exec/irisd-job.h"

static void
run (IrisdJob *job)
{
  job->result.bytes = irisd_job_get_payload (job).size;
  irisd_job_return_payload (job);
}

const IrisdService irisd_service_echo = {
  .name = "echo",
  .summary = "sends the payload back",
  .brief = TRUE,
  .run = run,
};
