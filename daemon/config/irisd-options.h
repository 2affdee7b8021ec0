/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisd's command line.
 */
#pragma once

#include "daemon/config/irisd-config.h"

G_BEGIN_DECLS

/**
 * IrisdOptions:
 * @config: the files and the command line together
 * @files: the configuration files that were read
 * @ready_fd: the descriptor for the line `ready`, or -1
 * @check_journal: (nullable): only check the journal in this directory
 * @check_config: only check the configuration
 * @version: only print the version
 */
typedef struct
{
  IrisdConfig *config;
  char **files;
  int ready_fd;
  char *check_journal;
  gboolean check_config;
  gboolean version;
} IrisdOptions;

IrisdOptions *irisd_options_parse (int *argc, char ***argv, GError **error);
void irisd_options_free (IrisdOptions *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdOptions, irisd_options_free)

G_END_DECLS
