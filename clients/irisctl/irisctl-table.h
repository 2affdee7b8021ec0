/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Aligned columns of text.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _IrisctlTable IrisctlTable;

/* @columns are the headings, separated by “|”; one that begins with “>” is aligned to the right. */
IrisctlTable *irisctl_table_new (const char *columns);
void irisctl_table_free (IrisctlTable *self);
void irisctl_table_add (IrisctlTable *self, const char *text);
void irisctl_table_addf (IrisctlTable *self, const char *format, ...) G_GNUC_PRINTF (2, 3);
void irisctl_table_add_rule (IrisctlTable *self);
char *irisctl_table_format (IrisctlTable *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisctlTable, irisctl_table_free)

G_END_DECLS
