/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Visitors: clients that are other users, each through a process that has become that user.
 */
#pragma once

#include "irisd-fixture.h"

/* The user is not admitted. */
#define VISITOR_REFUSED 77

typedef struct
{
  Client *client;
  GSubprocess *process;
  char *door; /* endpoint of its process */
} Visitor;

Visitor *visitor_new (Irisd *irisd, uid_t uid, const char *endpoint);
void visitor_free (Visitor *self);
int visitor_main (char **words);
