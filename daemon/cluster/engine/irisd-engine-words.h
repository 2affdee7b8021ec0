/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What libnats and the servers say of a connection, in words that say what to do.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  IRISD_ENGINE_TROUBLE_NONE,
  IRISD_ENGINE_TROUBLE_SERVER, /* it does not answer, or no more: waiting may help */
  IRISD_ENGINE_TROUBLE_LOGIN,  /* who this client is */
  IRISD_ENGINE_TROUBLE_RIGHT,  /* what it may do */
  IRISD_ENGINE_TROUBLE_TLS,
  IRISD_ENGINE_TROUBLE_OTHER,
} IrisdEngineTrouble;

IrisdEngineTrouble irisd_engine_explain (const char *raw, char **words);

G_END_DECLS
