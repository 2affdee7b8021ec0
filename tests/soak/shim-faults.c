/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A shim between irisd and the C library (LD_PRELOAD): fails a sync, or a read of the journal, on
 * request, and sets the time of day back or forth. The monotonic clock is unchanged. A timer that
 * is to tell when the clock is set does so, once, by a read or when it is set anew.
 */
#include "soak-faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__ ((visibility ("default")))

#define NS_A_SECOND 1000000000

/* A timer by the time of day is looked at so often, since the kernel knows another time. */
#define TICK_NS 5000000

static SoakFaults *faults;

/* The timer that tells when the clock is set, and what the clock was when it told last. */
static _Atomic int timer_fd = -1;
static _Atomic int64_t timer_offset_ns;

__attribute__ ((constructor)) static void
map_faults (void)
{
  const char *path = getenv ("IRIS_FAULTS");
  int fd = path != NULL ? open (path, O_RDWR | O_CLOEXEC) : -1;
  if (fd < 0)
    return;
  void *memory = mmap (NULL, sizeof *faults, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory != MAP_FAILED)
    faults = memory;
  close (fd);
}

static int
take_fault (_Atomic int *failing, _Atomic int *failed)
{
  int left = atomic_load_explicit (failing, memory_order_relaxed);
  while (left > 0)
    if (atomic_compare_exchange_weak_explicit (failing, &left, left - 1, memory_order_relaxed,
                                               memory_order_relaxed))
      {
        atomic_fetch_add_explicit (failed, 1, memory_order_relaxed);
        errno = EIO;
        return 1;
      }
  return 0;
}

static int
must_fail (void)
{
  return faults != NULL && take_fault (&faults->failing_syncs, &faults->failed_syncs);
}

static int
is_journal (int fd)
{
  char link[64], path[4096];
  snprintf (link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink (link, path, sizeof path - 1);
  path[n > 0 ? n : 0] = '\0';
  return strstr (path, "/items.sqlite") != NULL;
}

static int
must_fail_read (int fd)
{
  return faults != NULL && atomic_load_explicit (&faults->failing_reads, memory_order_relaxed) > 0
         && is_journal (fd) && take_fault (&faults->failing_reads, &faults->failed_reads);
}

EXPORT int
fsync (int fd)
{
  static int (*real) (int);
  if (real == NULL)
    real = (int (*) (int)) dlsym (RTLD_NEXT, "fsync");
  return must_fail () ? -1 : real (fd);
}

EXPORT int
fdatasync (int fd)
{
  static int (*real) (int);
  if (real == NULL)
    real = (int (*) (int)) dlsym (RTLD_NEXT, "fdatasync");
  return must_fail () ? -1 : real (fd);
}

/* A build of SQLite uses one of these two. */
EXPORT ssize_t
pread64 (int fd, void *data, size_t size, off64_t at)
{
  static ssize_t (*real) (int, void *, size_t, off64_t);
  if (real == NULL)
    real = (ssize_t (*) (int, void *, size_t, off64_t)) dlsym (RTLD_NEXT, "pread64");
  return must_fail_read (fd) ? -1 : real (fd, data, size, at);
}

static int
take_setting (void)
{
  int64_t now = atomic_load_explicit (&faults->clock_offset_ns, memory_order_relaxed);
  if (atomic_exchange_explicit (&timer_offset_ns, now, memory_order_relaxed) == now)
    return 0;
  errno = ECANCELED;
  return 1;
}

EXPORT ssize_t
read (int fd, void *data, size_t size)
{
  static ssize_t (*real) (int, void *, size_t);
  if (real == NULL)
    real = (ssize_t (*) (int, void *, size_t)) dlsym (RTLD_NEXT, "read");
  if (must_fail_read (fd))
    return -1;
  ssize_t n = real (fd, data, size);
  return n >= 0 && faults != NULL && fd == atomic_load_explicit (&timer_fd, memory_order_relaxed)
                 && take_setting ()
             ? -1
             : n;
}

EXPORT int
timerfd_settime (int fd, int flags, const struct itimerspec *when, struct itimerspec *old)
{
  static int (*real) (int, int, const struct itimerspec *, struct itimerspec *);
  const struct itimerspec tick = { { 0, TICK_NS }, { 0, TICK_NS } };
  if (real == NULL)
    real = (int (*) (int, int, const struct itimerspec *, struct itimerspec *)) dlsym (
        RTLD_NEXT, "timerfd_settime");
  if (faults == NULL || (flags & TFD_TIMER_CANCEL_ON_SET) == 0)
    return real (fd, flags, when, old);
  int is_new = atomic_exchange_explicit (&timer_fd, fd, memory_order_relaxed) != fd;
  int rc = real (fd, 0, &tick, old);
  return rc == 0 && take_setting () && !is_new ? -1 : rc;
}

EXPORT int
clock_gettime (clockid_t clock, struct timespec *now)
{
  static int (*real) (clockid_t, struct timespec *);
  if (real == NULL)
    real = (int (*) (clockid_t, struct timespec *)) dlsym (RTLD_NEXT, "clock_gettime");
  int rc = real (clock, now);
  if (rc != 0 || faults == NULL || clock != CLOCK_REALTIME)
    return rc;
  int64_t ns = now->tv_nsec
               + atomic_load_explicit (&faults->clock_offset_ns, memory_order_relaxed)
                     % NS_A_SECOND;
  now->tv_sec += (time_t) (atomic_load_explicit (&faults->clock_offset_ns, memory_order_relaxed)
                           / NS_A_SECOND);
  now->tv_sec += ns < 0 ? -1 : ns / NS_A_SECOND;
  now->tv_nsec = ns < 0 ? ns + NS_A_SECOND : ns % NS_A_SECOND;
  return 0;
}

EXPORT int
gettimeofday (struct timeval *restrict now, void *restrict zone)
{
  struct timespec precise;
  int rc = clock_gettime (CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return rc;
}

EXPORT time_t
time (time_t *now)
{
  struct timespec precise;
  clock_gettime (CLOCK_REALTIME, &precise);
  if (now != NULL)
    *now = precise.tv_sec;
  return precise.tv_sec;
}
