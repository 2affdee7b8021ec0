/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The service `sha256`: the digest of a file or of the payload, in hexadecimal.
 */
#include "daemon/exec/irisd-input.h"

#include <string.h>

static void
update (const guint8 *data, gsize size, gpointer checksum)
{
  g_checksum_update (checksum, data, (gssize) size);
}

static void
run (IrisdJob *job)
{
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  if (!irisd_input_each (job, update, checksum))
    return;
  char *digest = g_strdup (g_checksum_get_string (checksum));
  irisd_job_take_result (job, digest, strlen (digest), "text/plain");
}

const IrisdService irisd_service_sha256 = {
  .name = "sha256",
  .summary = "SHA-256 of a file (path) or of the payload, in hexadecimal",
  .check = irisd_input_check,
  .brief = TRUE,
  .run = run,
};
