/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the tests of the wire share: random messages, comparison, hex.
 */
#pragma once

#include <iris/iris.h>
#include <iris/wire/iris-wire.h>

G_BEGIN_DECLS

/* A random message of a type, with every key that it may have present about half of the time. What
 * it borrows lives in `arena`, which owns it. */
void
wire_test_random_message (GRand *rand, guint8 type, GPtrArray *arena, IrisWireMessage *message);

/* NULL if both say the same, else what differs. */
const char *wire_test_difference (const IrisWireMessage *a, const IrisWireMessage *b);

/* Lower-case hex, spaces ignored; NULL if it is not hex. */
GByteArray *wire_test_from_hex (const char *hex);
char *wire_test_to_hex (const guint8 *data, gsize size);

/* The seed of this run, from IRIS_TEST_SEED or a constant: the same input gives the same test. */
guint32 wire_test_seed (void);

static inline IrisWireFrame
wire_test_frame (const GByteArray *bytes)
{
  return (IrisWireFrame){ bytes->data, bytes->len };
}

/* The types that there are. */
extern const guint8 wire_test_types[];
extern const guint wire_test_n_types;

G_END_DECLS
