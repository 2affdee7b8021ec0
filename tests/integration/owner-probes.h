/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Probes: each request, aimed at items of another user.
 */
#pragma once

#include "irisd-home.h"
#include "irisd-visitor.h"

#define OWNER     65533
#define OTHER     65532
#define OPERATOR  65531
#define NO_ACCESS 65534

#define CONFIG "[access]\nusers = 65533;65532;65531\noperators = 65531\n"

/* The outcome of a request. */
#define REACHED 'A' /* it was carried out on the owner's item */
#define HIDDEN  'H' /* it was answered as if the owner's item did not exist */
#define REFUSED 'R' /* it was refused for any item */

/* The owner's items, and the client that probes. */
typedef struct
{
  Irisd *irisd;
  Visitor *owner;
  Client *client; /* the owner's */
  Client *caller;
  guint serial;
} Scene;

/* A request and its expected outcome. */
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
