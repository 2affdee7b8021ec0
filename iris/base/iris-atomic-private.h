/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * C11 atomics for iris, and the fences that <stdatomic.h> does not have.
 *
 * Every concurrent file of iris takes its atomics from here, so that a checker can put its own
 * in their place by providing another header of this name.
 *
 * The asymmetric fence
 * --------------------
 * Two threads that each store and then look at the other's store need a full fence between the
 * two on both sides (Dekker). When one side is hot and the other is cold, the price can be moved:
 * the hot side orders only the compiler (iris_fence_light()), and the cold side makes the kernel
 * run a full fence on every processor on which a thread of this process is running
 * (iris_fence_heavy(), membarrier(2) with PRIVATE_EXPEDITED). A thread that is not running has
 * passed a full fence in the scheduler of the kernel. Hence, for any pair of a light and a heavy
 * fence, either what precedes the light one is visible after the heavy one, or what precedes the
 * heavy one is visible after the light one: the guarantee of two full fences. Two light fences
 * guarantee nothing to each other.
 *
 * Where the kernel refuses membarrier, both are full fences; the choice is made once, before the
 * first worker starts (iris_fence_init()), and never changed.
 *
 * ThreadSanitizer does not model fences. In its builds a full fence is the bare instruction,
 * which keeps the machine right and adds no happens-before edge that could hide a race: every
 * edge that iris relies on for plain data comes from a release or acquire access.
 */
#pragma once

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two lines, because adjacent-line prefetching makes pairs of lines travel together. */
#define IRIS_CACHE_LINE 64
#define IRIS_CACHE_PAIR 128

#define iris_likely(x)   __builtin_expect (!!(x), 1)
#define iris_unlikely(x) __builtin_expect (!!(x), 0)

#if defined(__SANITIZE_THREAD__)
#define IRIS_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define IRIS_THREAD_SANITIZER 1
#endif
#endif

#if defined(__SANITIZE_ADDRESS__)
#define IRIS_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IRIS_ADDRESS_SANITIZER 1
#endif
#endif

/* A full fence between everything before and everything after it. */
static inline void
iris_fence_full (void)
{
#if defined(IRIS_THREAD_SANITIZER) && defined(__x86_64__)
  __asm__ __volatile__("mfence" ::: "memory");
#elif defined(IRIS_THREAD_SANITIZER) && defined(__aarch64__)
  __asm__ __volatile__("dmb ish" ::: "memory");
#else
  atomic_thread_fence (memory_order_seq_cst);
#endif
}

/* Whether the heavy side pays for both; read-only once iris_fence_init() has run. Hidden, so that
 * it is read without a detour. */
extern __attribute__ ((visibility ("hidden"))) bool iris_fence_is_asymmetric;

void iris_fence_init (void);
void iris_fence_register (void);
void iris_fence_heavy (void);

static inline void
iris_fence_light (void)
{
  if (iris_likely (iris_fence_is_asymmetric))
    atomic_signal_fence (memory_order_seq_cst);
  else
    iris_fence_full ();
}

/* Tells the processor that this is a waiting loop. */
static inline void
iris_cpu_relax (void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause ();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield" ::: "memory");
#else
  atomic_signal_fence (memory_order_seq_cst);
#endif
}

/* A counter with one writer: a plain add that readers on other threads may look at. */
static inline void
iris_counter_add (_Atomic uint64_t *counter, uint64_t n)
{
  atomic_store_explicit (counter, atomic_load_explicit (counter, memory_order_relaxed) + n,
                         memory_order_relaxed);
}

static inline uint64_t
iris_counter_get (const _Atomic uint64_t *counter)
{
  return atomic_load_explicit ((_Atomic uint64_t *) counter, memory_order_relaxed);
}
