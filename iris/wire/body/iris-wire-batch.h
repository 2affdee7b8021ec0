/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The bodies of BATCH and COMPLETIONS: many items, or many completions, in one message. They
 * are built one by one and read without copying.
 */
#pragma once

#include <iris/wire/base/iris-wire-limits.h>
#include <iris/wire/message/iris-wire-message.h>

G_BEGIN_DECLS

/**
 * IrisWireBatchBuilder:
 * @n_items: how many items, or completions, it holds
 *
 * Lives where you like between iris_wire_batch_builder_init() and iris_wire_batch_builder_clear().
 * One thread at a time.
 */
typedef struct
{
  guint n_items;

  /*< private >*/
  IrisWireType type;
  IrisWireLimits limits;
  GByteArray *bytes;
  guint first_header;
  guint first_body;
  guint first_end;
} IrisWireBatchBuilder;

/**
 * iris_wire_batch_builder_init:
 * @self: (out caller-allocates): a builder of a BATCH
 * @limits: (nullable): what the batch may cost; copied
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_batch_builder_init (IrisWireBatchBuilder *self, const IrisWireLimits *limits);

/**
 * iris_wire_batch_builder_init_completions:
 * @self: (out caller-allocates): a builder of a COMPLETIONS
 * @limits: (nullable): what the message may cost; copied
 */
IRIS_AVAILABLE_IN_ALL
void
iris_wire_batch_builder_init_completions (IrisWireBatchBuilder *self, const IrisWireLimits *limits);

/**
 * iris_wire_batch_builder_add:
 * @item: with its own request id: SUBMIT, or for COMPLETIONS a completion: RESULT, or ERROR with
 *   `ends`; copied
 *
 * Appends an item. When it does not fit any more (%IRIS_WIRE_ERROR_TOO_LARGE) the builder is as it
 * was: send what it has, reset it, add again. No allocation once the memory has grown.
 *
 * Returns: %TRUE if the item is in
 */
IRIS_AVAILABLE_IN_ALL
gboolean iris_wire_batch_builder_add (IrisWireBatchBuilder *self,
                                      const IrisWireMessage *item,
                                      GError **error);

/**
 * iris_wire_batch_builder_get_body:
 * @self: a builder with at least one item
 *
 * Returns: the body of the message, which belongs to @self and holds until it is next changed
 */
IRIS_AVAILABLE_IN_ALL
IrisWireFrame iris_wire_batch_builder_get_body (IrisWireBatchBuilder *self);

/**
 * iris_wire_batch_builder_get_first:
 * @self: a builder of a COMPLETIONS with at least one completion
 * @frames: (out caller-allocates) (array fixed-size=5): the frames of the first completion as a
 * message of its own, borrowed until @self is next changed
 *
 * A completion that is alone is better sent so.
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_batch_builder_get_first (IrisWireBatchBuilder *self, IrisWireFrame *frames);

/**
 * iris_wire_batch_builder_reset:
 *
 * Drops the items and keeps the memory.
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_batch_builder_reset (IrisWireBatchBuilder *self);

/**
 * iris_wire_batch_builder_clear:
 * @self: a builder, or one filled with zeroes
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_batch_builder_clear (IrisWireBatchBuilder *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (IrisWireBatchBuilder, iris_wire_batch_builder_clear)

/**
 * IrisWireBatchStep:
 * @IRIS_WIRE_BATCH_END: no item left
 * @IRIS_WIRE_BATCH_ITEM: a good item, or completion
 * @IRIS_WIRE_BATCH_REFUSED: of a BATCH, an item that cannot be taken, to be refused under its own
 *   request id; of a COMPLETIONS, what breaks the protocol's rules: nothing follows
 *
 * What iris_wire_batch_iter_next() found.
 */
typedef enum
{
  IRIS_WIRE_BATCH_END = 0,
  IRIS_WIRE_BATCH_ITEM = 1,
  IRIS_WIRE_BATCH_REFUSED = 2,
} IrisWireBatchStep;

/**
 * IrisWireBatchIter:
 * @n_items: how many items, or completions, there are
 *
 * Walks over the body of a BATCH or a COMPLETIONS. Lives on the stack; nothing to free.
 */
typedef struct
{
  guint n_items;

  /*< private >*/
  IrisWireType type;
  IrisWireLimits limits;
  IrisWireFrame body;
  gsize offset;
  guint index;
} IrisWireBatchIter;

/**
 * iris_wire_batch_iter_init:
 * @self: (out caller-allocates): an iterator
 * @body: the body of a BATCH; what it points to must outlive @self
 * @limits: (nullable): what the batch may cost; copied
 *
 * Checks the whole body's structure first: array, triples, ids, lengths, nesting, the end. So a
 * batch is refused as a whole before any item of it has been taken, or every item in it can be
 * judged by itself.
 *
 * Returns: %TRUE if the items can be walked over
 */
IRIS_AVAILABLE_IN_ALL
gboolean iris_wire_batch_iter_init (IrisWireBatchIter *self,
                                    IrisWireFrame body,
                                    const IrisWireLimits *limits,
                                    GError **error);

/**
 * iris_wire_batch_iter_init_completions:
 * @self: (out caller-allocates): an iterator
 * @body: the body of a COMPLETIONS; what it points to must outlive @self
 * @limits: (nullable): what the message may cost; copied
 *
 * Checks only the head of the body: each completion is checked when its turn comes.
 *
 * Returns: %TRUE if the completions can be walked over
 */
IRIS_AVAILABLE_IN_ALL
gboolean iris_wire_batch_iter_init_completions (IrisWireBatchIter *self,
                                                IrisWireFrame body,
                                                const IrisWireLimits *limits,
                                                GError **error);

/**
 * iris_wire_batch_iter_next:
 * @item: (out caller-allocates): the next item or completion, a message that borrows from the body
 * @error: return location for why the item is refused
 *
 * @error is set if and only if the step is %IRIS_WIRE_BATCH_REFUSED; of a BATCH @item then has its
 * request id, and the walk can go on.
 *
 * Returns: what was found
 */
IRIS_AVAILABLE_IN_ALL
IrisWireBatchStep
iris_wire_batch_iter_next (IrisWireBatchIter *self, IrisWireMessage *item, GError **error);

G_END_DECLS
