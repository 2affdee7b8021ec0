/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The body of COMPLETIONS: many completions in one message, built one by one and read without
 * copying.
 */
#pragma once

#include <iris/wire/iris-wire-limits.h>
#include <iris/wire/iris-wire-message.h>

G_BEGIN_DECLS

/**
 * IrisWireCompletionsBuilder:
 * @n_completions: how many completions it holds
 *
 * Lives where you like between iris_wire_completions_builder_init() and
 * iris_wire_completions_builder_clear(). One thread at a time.
 */
typedef struct
{
  guint n_completions;

  /*< private >*/
  IrisWireLimits limits;
  GByteArray *bytes;
  guint first_header;
  guint first_body;
  guint first_end;
} IrisWireCompletionsBuilder;

/**
 * iris_wire_completions_builder_init:
 * @self: (out caller-allocates): a builder
 * @limits: (nullable): what the message may cost; copied
 */
IRIS_AVAILABLE_IN_ALL
void
iris_wire_completions_builder_init (IrisWireCompletionsBuilder *self, const IrisWireLimits *limits);

/**
 * iris_wire_completions_builder_add:
 * @completion: RESULT, or ERROR with `ends`; copied
 *
 * Appends a completion. When it does not fit any more (%IRIS_WIRE_ERROR_TOO_LARGE) the builder is
 * as it was: send what it has, reset it, add again. No allocation once the memory has grown.
 *
 * Returns: %TRUE if the completion is in
 */
IRIS_AVAILABLE_IN_ALL
gboolean iris_wire_completions_builder_add (IrisWireCompletionsBuilder *self,
                                            const IrisWireMessage *completion,
                                            GError **error);

/**
 * iris_wire_completions_builder_get_body:
 * @self: a builder with at least one ending
 *
 * The body of the COMPLETIONS message, borrowed until @self is next changed.
 *
 * Returns: bytes that belong to @self
 */
IRIS_AVAILABLE_IN_ALL
IrisWireFrame iris_wire_completions_builder_get_body (IrisWireCompletionsBuilder *self);

/**
 * iris_wire_completions_builder_get_first:
 * @self: a builder with at least one ending
 * @frames: (out caller-allocates) (array fixed-size=5): the frames of the first completion as a
 * message of its own, borrowed until @self is next changed
 *
 * A completion that is alone is better sent so.
 */
IRIS_AVAILABLE_IN_ALL
void
iris_wire_completions_builder_get_first (IrisWireCompletionsBuilder *self, IrisWireFrame *frames);

/**
 * iris_wire_completions_builder_reset:
 *
 * Drops the completions and keeps the memory.
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_completions_builder_reset (IrisWireCompletionsBuilder *self);

/**
 * iris_wire_completions_builder_clear:
 * @self: a builder, or one filled with zeroes
 *
 * Frees the memory.
 */
IRIS_AVAILABLE_IN_ALL
void iris_wire_completions_builder_clear (IrisWireCompletionsBuilder *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (IrisWireCompletionsBuilder, iris_wire_completions_builder_clear)

/**
 * IrisWireCompletionsIter:
 * @n_completions: how many completions there are
 *
 * Walks over the body of COMPLETIONS. Lives on the stack; nothing to free.
 */
typedef struct
{
  guint n_completions;

  /*< private >*/
  IrisWireLimits limits;
  IrisWireFrame body;
  gsize offset;
  guint index;
} IrisWireCompletionsIter;

/**
 * iris_wire_completions_iter_init:
 * @self: (out caller-allocates): an iterator
 * @body: the body of a COMPLETIONS message; what it points to must outlive @self
 * @limits: (nullable): what the message may cost; copied
 *
 * Returns: %TRUE if the completions can be walked over
 */
IRIS_AVAILABLE_IN_ALL
gboolean iris_wire_completions_iter_init (IrisWireCompletionsIter *self,
                                          IrisWireFrame body,
                                          const IrisWireLimits *limits,
                                          GError **error);

/**
 * iris_wire_completions_iter_next:
 * @completion: (out caller-allocates): the next completion, RESULT or ERROR, which borrows from the
 * body
 * @error: return location for what breaks the protocol's rules
 *
 * Returns: %TRUE if there is one; %FALSE at the end, or if @error is set
 */
IRIS_AVAILABLE_IN_ALL
gboolean iris_wire_completions_iter_next (IrisWireCompletionsIter *self,
                                          IrisWireMessage *completion,
                                          GError **error);

G_END_DECLS
