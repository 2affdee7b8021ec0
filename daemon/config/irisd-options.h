/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisd's command line.
 */
#pragma once

#include "daemon/config/irisd-config.h"

G_BEGIN_DECLS

typedef struct _IrisdRawOptions IrisdRawOptions;

typedef struct
{
  IrisdRawOptions *raw;  /* as they were given */
  IrisdConfig *config;   /* the files and the command line together */
  char **files;          /* the configuration files that were read */
  int ready_fd;          /* the descriptor for the line `ready`, or -1 */
  char *check_journal;   /* NULL, or only check the journal in this directory */
  gboolean repair;       /* and mend it */
  gboolean check_config; /* only check the configuration */
  gboolean version;      /* only print the version */
} IrisdOptions;

IrisdOptions *irisd_options_parse (int *argc, char ***argv, GError **error);
IrisdConfig *irisd_options_read_again (const IrisdOptions *self, GError **error);
void irisd_options_free (IrisdOptions *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdOptions, irisd_options_free)

G_END_DECLS
