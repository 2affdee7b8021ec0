/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Each request, aimed at what another user owns.
 */
#pragma once

#include "irisd-home.h"
#include "irisd-visitor.h"

#define OWNER    65533
#define OTHER    65532
#define OPERATOR 65531
#define STRANGER 65534

#define CONFIG "[access]\nusers = 65533;65532;65531\noperators = 65531\n"

/* What a request came to. */
#define REACHED 'A' /* it was done, for the owner's thing */
#define HIDDEN  'H' /* it was answered as if the owner's thing did not exist */
#define REFUSED 'R' /* it was refused whatever it is about */

/* The owner's things, and who asks. */
typedef struct
{
  Irisd *irisd;
  Visitor *owner;
  Client *client; /* the owner's */
  Client *caller;
  guint serial;
} Scene;

/* A request, and what it comes to. */
typedef struct
{
  guint type; /* 0: not a request of its own */
  const char *name;
  char (*probe) (Scene *scene);
  const char *expected; /* of the owner, an operator and another user over ipc; of all over TCP */
} OwnerRow;

extern const OwnerRow owner_rows[];
extern const guint owner_n_rows;

Visitor *owner_visit (Irisd *irisd, uid_t uid, const char *endpoint);
void owner_say_bye (Client *client);
