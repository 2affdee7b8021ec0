/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The self-test: drives the window through every scheduler, and checks what it shows.
 */
#pragma once

#include "window.h"

/* Called when it is over. */
typedef void (*SelfTestDone) (gboolean passed, gpointer data);

/* Prints TAP. */
void self_test_start (Viewer *viewer, SelfTestDone done, gpointer data);
