/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Text for terminals of the usual width; widths count characters, not bytes.
 */
#pragma once

#include <glib.h>

#define BENCH_COLUMNS 80

/* @text with spaces behind it. */
char *bench_text_pad (const char *text, guint width);
/* A paragraph: its words behind @head, lines that follow are indented. */
void bench_text_print (const char *text, const char *head, guint indent);
