/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Runs irisctl against a private irisd. One test at a time: the state is global.
 */
#pragma once

#include "irisd-fixture.h"

#include <json-glib/json-glib.h>

extern Irisd *irisd;
extern char *files; /* a directory */

/* The output of one run of irisctl. */
extern char *out, *err;
extern int status;

void set_up (void);
void tear_down (void);
GSubprocess *spawn (const char *const *words);
void collect (GSubprocess *process, const char *input);
void run_words (const char *input, const char *const *words);
JsonNode *json (void);
JsonObject *element (JsonNode *array, guint i);

#define irisctl(...) \
  run_words (NULL, (const char *const[]){ g_getenv ("IRISCTL"), __VA_ARGS__, NULL })
#define irisctl_with_input(input, ...) \
  run_words (input, (const char *const[]){ g_getenv ("IRISCTL"), __VA_ARGS__, NULL })

#define assert_status(wanted) \
  ck_assert_msg (status == (wanted), "exit status %d, not %d: %s", status, (wanted), err)
