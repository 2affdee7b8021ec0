/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the compiler calls in front of a plain access of sources that are compiled with
 * -fsanitize=thread, and linked without its runtime.
 *
 * The file that includes this has plain_access (address, size, writes, where) in front of it.
 */
#pragma once

#include <string.h>

#define PLAIN_ACCESS(name, size, writes) \
  void name (void *address);             \
                                         \
  void name (void *address) { plain_access (address, size, writes, __builtin_return_address (0)); }

PLAIN_ACCESS (__tsan_read1, 1, false)
PLAIN_ACCESS (__tsan_read2, 2, false)
PLAIN_ACCESS (__tsan_read4, 4, false)
PLAIN_ACCESS (__tsan_read8, 8, false)
PLAIN_ACCESS (__tsan_read16, 16, false)
PLAIN_ACCESS (__tsan_write1, 1, true)
PLAIN_ACCESS (__tsan_write2, 2, true)
PLAIN_ACCESS (__tsan_write4, 4, true)
PLAIN_ACCESS (__tsan_write8, 8, true)
PLAIN_ACCESS (__tsan_write16, 16, true)
PLAIN_ACCESS (__tsan_unaligned_read2, 2, false)
PLAIN_ACCESS (__tsan_unaligned_read4, 4, false)
PLAIN_ACCESS (__tsan_unaligned_read8, 8, false)
PLAIN_ACCESS (__tsan_unaligned_read16, 16, false)
PLAIN_ACCESS (__tsan_unaligned_write2, 2, true)
PLAIN_ACCESS (__tsan_unaligned_write4, 4, true)
PLAIN_ACCESS (__tsan_unaligned_write8, 8, true)
PLAIN_ACCESS (__tsan_unaligned_write16, 16, true)

void __tsan_init (void);
void __tsan_func_entry (void *caller);
void __tsan_func_exit (void *ignored);
void __tsan_read_range (void *address, long size);
void __tsan_write_range (void *address, long size);
void *__tsan_memcpy (void *to, const void *from, size_t size);
void *__tsan_memset (void *to, int byte, size_t size);
void *__tsan_memmove (void *to, const void *from, size_t size);

void
__tsan_init (void)
{
}

void
__tsan_func_entry (void *caller)
{
}

void
__tsan_func_exit (void *ignored)
{
}

void
__tsan_read_range (void *address, long size)
{
  plain_access (address, (size_t) size, false, __builtin_return_address (0));
}

void
__tsan_write_range (void *address, long size)
{
  plain_access (address, (size_t) size, true, __builtin_return_address (0));
}

void *
__tsan_memcpy (void *to, const void *from, size_t size)
{
  plain_access ((char *) from, size, false, __builtin_return_address (0));
  plain_access (to, size, true, __builtin_return_address (0));

  return memcpy (to, from, size);
}

void *
__tsan_memmove (void *to, const void *from, size_t size)
{
  plain_access ((char *) from, size, false, __builtin_return_address (0));
  plain_access (to, size, true, __builtin_return_address (0));

  return memmove (to, from, size);
}

void *
__tsan_memset (void *to, int byte, size_t size)
{
  plain_access (to, size, true, __builtin_return_address (0));

  return memset (to, byte, size);
}
