/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The explorer's own iris-atomic-private.h: every atomic, fence, lock and futex is a switch point.
 *
 * The folder that holds this header is the first that the compiler searches for the tests of
 * tests/explore/, so that the sources of iris compile against it unchanged. It offers what the
 * shipped header offers; a source that needs more than that does not compile here, which is how
 * the two are kept in step.
 *
 * The C library is replaced by macros, after its own headers were read: the memory of the
 * explored code comes from an arena that starts afresh with every interleaving, its locks, its
 * futexes and its thread-specific data are the explorer's.
 */
#pragma once

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "explore-ops.h"

#define IRIS_CACHE_LINE 64
#define IRIS_CACHE_PAIR 128

#define iris_likely(x)   __builtin_expect (!!(x), 1)
#define iris_unlikely(x) __builtin_expect (!!(x), 0)

#if defined(__SANITIZE_ADDRESS__)
#define IRIS_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IRIS_ADDRESS_SANITIZER 1
#endif
#endif

/* clang-format off: one block each, so that what happens can be read in a row. */
#undef atomic_init
#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_exchange_explicit
#undef atomic_compare_exchange_strong_explicit
#undef atomic_compare_exchange_weak_explicit
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub_explicit
#undef atomic_fetch_or_explicit
#undef atomic_fetch_and_explicit
#undef atomic_fetch_xor_explicit
#undef atomic_thread_fence
#undef atomic_signal_fence

/* The type of what @p points to, without its qualifiers. */
#define EXPLORE_VALUE_OF(p) __typeof__ ((void) 0, *(p))

/* The bytes of @value, which is a variable, as a number. */
#define EXPLORE_BITS(value)                                                             \
  __extension__({                                                                       \
    uint64_t explore_bits_ = 0;                                                         \
    _Static_assert(sizeof (value) <= 8, "the explorer knows atomics of up to 8 bytes"); \
    memcpy (&explore_bits_, &(value), sizeof (value));                                  \
    explore_bits_;                                                                      \
  })

#define atomic_init(p, v)                                                       \
  __extension__({                                                               \
    __auto_type explore_ip_ = (p);                                              \
    EXPLORE_VALUE_OF (explore_ip_) explore_iv_ = (v);                           \
    explore_init (explore_ip_, sizeof explore_iv_, EXPLORE_BITS (explore_iv_)); \
  })

#define atomic_load_explicit(p, order)                                                          \
  __extension__({                                                                               \
    __auto_type explore_lp_ = (p);                                                              \
    EXPLORE_VALUE_OF (explore_lp_) explore_lv_;                                                 \
    uint64_t explore_lw_ = explore_load (explore_lp_, sizeof explore_lv_, order, #p, __func__); \
    memcpy (&explore_lv_, &explore_lw_, sizeof explore_lv_);                                    \
    explore_lv_;                                                                                \
  })

#define atomic_store_explicit(p, v, order)                                                 \
  __extension__({                                                                          \
    __auto_type explore_sp_ = (p);                                                         \
    EXPLORE_VALUE_OF (explore_sp_) explore_sv_ = (v);                                      \
    explore_store (explore_sp_, sizeof explore_sv_, EXPLORE_BITS (explore_sv_), order, #p, \
                   __func__);                                                              \
  })

#define EXPLORE_RMW(op, p, v, order)                                                      \
  __extension__({                                                                         \
    __auto_type explore_rp_ = (p);                                                        \
    EXPLORE_VALUE_OF (explore_rp_) explore_rv_ = (EXPLORE_VALUE_OF (explore_rp_)) (v);    \
    uint64_t explore_rw_ = explore_rmw (explore_rp_, sizeof explore_rv_, op,              \
                                        EXPLORE_BITS (explore_rv_), order, #p, __func__); \
    memcpy (&explore_rv_, &explore_rw_, sizeof explore_rv_);                              \
    explore_rv_;                                                                          \
  })

#define atomic_exchange_explicit(p, v, order)  EXPLORE_RMW (EXPLORE_EXCHANGE, p, v, order)
#define atomic_fetch_add_explicit(p, v, order) EXPLORE_RMW (EXPLORE_ADD, p, v, order)
#define atomic_fetch_sub_explicit(p, v, order) EXPLORE_RMW (EXPLORE_SUB, p, v, order)
#define atomic_fetch_or_explicit(p, v, order)  EXPLORE_RMW (EXPLORE_OR, p, v, order)
#define atomic_fetch_and_explicit(p, v, order) EXPLORE_RMW (EXPLORE_AND, p, v, order)
#define atomic_fetch_xor_explicit(p, v, order) EXPLORE_RMW (EXPLORE_XOR, p, v, order)

#define atomic_compare_exchange_strong_explicit(p, e, d, success, failure)                       \
  __extension__({                                                                                \
    __auto_type explore_cp_ = (p);                                                               \
    __auto_type explore_ce_ = (e);                                                               \
    EXPLORE_VALUE_OF (explore_cp_) explore_cd_ = (d);                                            \
    uint64_t explore_cw_ = EXPLORE_BITS (*explore_ce_);                                          \
    bool explore_cs_ = explore_cas (explore_cp_, sizeof explore_cd_, &explore_cw_,               \
                                    EXPLORE_BITS (explore_cd_), success, failure, #p, __func__); \
    if (!explore_cs_)                                                                            \
      memcpy (explore_ce_, &explore_cw_, sizeof explore_cd_);                                    \
    explore_cs_;                                                                                 \
  })
#define atomic_compare_exchange_weak_explicit atomic_compare_exchange_strong_explicit
/* clang-format on */

#define atomic_thread_fence(order) explore_fence (order, __func__)
#define atomic_signal_fence(order) ((void) 0)

/* Not an atomic_thread_fence(): as in the builds for ThreadSanitizer, the fences of iris drain
 * stores and give no happens-before edge, because iris promises that its edges come from the
 * accesses. */
#define iris_fence_full()  explore_fence_full (__func__)
#define iris_fence_heavy() explore_fence_heavy (__func__)
#define iris_fence_light() explore_fence_light (__func__)
#define iris_cpu_relax()   explore_yield (__func__)
#define sched_yield()      explore_yield (__func__)

static inline void
iris_fence_init (void)
{
}

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

#define malloc(size)               explore_malloc (size)
#define calloc(n, size)            explore_calloc (n, size)
#define realloc(memory, size)      explore_realloc (memory, size)
#define aligned_alloc(align, size) explore_aligned_alloc (align, size)
#define free(memory)               explore_free (memory, __func__)

#define syscall(...) explore_syscall (__func__, __VA_ARGS__)

#define pthread_mutex_init(mutex, attr)  explore_mutex_init (mutex)
#define pthread_mutex_destroy(mutex)     ((void) (mutex))
#define pthread_mutex_lock(mutex)        explore_mutex_lock (mutex, #mutex, __func__)
#define pthread_mutex_trylock(mutex)     explore_mutex_trylock (mutex, #mutex, __func__)
#define pthread_mutex_unlock(mutex)      explore_mutex_unlock (mutex, #mutex, __func__)
#define pthread_once(once, func)         explore_once (once, func)
#define pthread_key_create(key, destroy) explore_key_create (key, destroy)
#define pthread_setspecific(key, value)  explore_setspecific (key, value)
#define pthread_getspecific(key)         explore_getspecific (key)
