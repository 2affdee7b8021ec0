/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Decoding allocates nothing, and encoding nothing once its buffer has grown. The C library's
 * allocator is counted, so this program is not built with a sanitizer, which has an allocator of
 * its own.
 */
#include "core-test-run.h"
#include "wire-test-util.h"

#include <check.h>
#include <stdatomic.h>
#include <stdlib.h>

extern void *__libc_malloc (size_t size);
extern void *__libc_calloc (size_t n, size_t size);
extern void *__libc_realloc (void *block, size_t size);

static _Atomic guint n_allocations;

__attribute__ ((visibility ("default"))) void *
malloc (size_t size)
{
  atomic_fetch_add_explicit (&n_allocations, 1, memory_order_relaxed);
  return __libc_malloc (size);
}

__attribute__ ((visibility ("default"))) void *
calloc (size_t nmemb, size_t size)
{
  atomic_fetch_add_explicit (&n_allocations, 1, memory_order_relaxed);
  return __libc_calloc (nmemb, size);
}

__attribute__ ((visibility ("default"))) void *
realloc (void *ptr, size_t size)
{
  atomic_fetch_add_explicit (&n_allocations, 1, memory_order_relaxed);
  return __libc_realloc (ptr, size);
}

static guint
count (void)
{
  return atomic_load_explicit (&n_allocations, memory_order_relaxed);
}

static void
encode_and_decode (IrisWireEncoder *encoder, const IrisWireMessage *message)
{
  IrisWireMessage got;
  IrisWireArgsIter iter;
  IrisWireString arg;

  if (!iris_wire_encode (encoder, message, NULL))
    return;
  gboolean good = iris_wire_decode (encoder->frames, IRIS_WIRE_N_FRAMES, NULL, &got, NULL);
  iris_wire_args_iter_init (&iter, &got.args);
  while (iris_wire_args_iter_next (&iter, &arg))
    good = good && arg.data != NULL;
  if (!good)
    abort ();
}

TEST (neither_decoding_nor_encoding_again_allocates)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (wire_test_seed ());
  g_autoptr (GPtrArray) arena = g_ptr_array_new_with_free_func (g_free);
  g_auto (IrisWireEncoder) encoder;
  IrisWireMessage messages[200];
  guint before, between, after;

  iris_wire_encoder_init (&encoder, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (messages); i++)
    wire_test_random_message (rand, wire_test_types[i % wire_test_n_types], arena, &messages[i]);
  before = count ();
  for (guint i = 0; i < G_N_ELEMENTS (messages); i++)
    encode_and_decode (&encoder, &messages[i]);
  between = count ();
  for (guint i = 0; i < G_N_ELEMENTS (messages); i++)
    encode_and_decode (&encoder, &messages[i]);
  after = count ();
  /* The buffer had to grow at first, which also shows that the counting works. */
  ck_assert_uint_gt (between, before);
  ck_assert_uint_lt (between, before + 20);
  ck_assert_uint_eq (after, between);
}

TEST (a_batch_is_read_without_allocating)
{
  g_auto (IrisWireBatchBuilder) builder;
  IrisWireBatchIter iter;
  IrisWireMessage item;

  iris_wire_batch_builder_init (&builder, NULL);
  for (guint i = 0; i < 100; i++)
    {
      iris_wire_message_init (&item, IRIS_WIRE_SUBMIT, NULL);
      iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "echo", -1);
      ck_assert (iris_wire_batch_builder_add (&builder, &item, NULL));
    }
  IrisWireFrame body = iris_wire_batch_builder_get_body (&builder);
  guint before = count (), n = 0;
  if (!iris_wire_batch_iter_init (&iter, body, NULL, NULL))
    abort ();
  while (iris_wire_batch_iter_next (&iter, &item, NULL) == IRIS_WIRE_BATCH_ITEM)
    n++;
  guint after = count ();
  ck_assert_uint_eq (n, 100);
  ck_assert_uint_eq (after, before);
}

TEST_MAIN ("wire-alloc", NULL, NULL)
